"""Run by `make test-python`: python3 -m unittest discover python/tests."""

import contextlib
import importlib.util
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest
import uuid
import zlib
from collections.abc import Iterator

import manganese
import numpy

BEFORE = """
import sys
import manganese
import numpy

job = manganese.Job()
compositor = job.compositor(timeout=TIMEOUT)
rank, size = job.rank, job.size
"""


def run(
    size: int, program: str, timeout: float = 10.0, **settings: str
) -> list[tuple[int, str]]:
    """Runs `program` as a job. Returns the status and the output of each rank."""
    environment = os.environ | settings | {"MGN_SIZE": str(size), "MGN_JOB": f"test-{uuid.uuid4().hex}"}
    code = BEFORE.replace("TIMEOUT", str(timeout)) + textwrap.dedent(program)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env=environment | {"MGN_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(size)
    ]
    try:
        outputs = [process.communicate(timeout=60)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(process.returncode, output) for process, output in zip(processes, outputs)]


class Jobs(unittest.TestCase):
    def expect(self, size: int, program: str) -> None:
        for rank, (status, output) in enumerate(run(size, program)):
            self.assertEqual(status, 0, f"rank {rank}: {output}")

    def test_the_nearest_pixel_wins(self) -> None:
        self.expect(
            3,
            """
            color = numpy.full((5, 7, 4), 10 * (rank + 1), numpy.uint8)
            depth = numpy.roll(numpy.arange(35, dtype=numpy.float32), 11 * rank).reshape(5, 7)
            merged = compositor.composite(color, depth)
            assert (merged is not None) == (rank == 0)
            if rank == 0:
                all_depths = numpy.stack(
                    [numpy.roll(numpy.arange(35), 11 * other).reshape(5, 7) for other in range(size)]
                )
                assert (merged.depth == all_depths.min(axis=0)).all()
                assert (merged.color[..., 0] == 10 * (all_depths.argmin(axis=0) + 1)).all()
                merged.color[0, 0, 0] = 1  # The arrays are the program's own.
            """,
        )

    def test_an_interrupt_ends_waits_for_others(self) -> None:
        self.expect(
            2,
            """
            import os, signal, threading
            # Processes in the background may have been started without a handler.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            def interrupt():
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            if rank == 0:
                for wait in [
                    lambda: job.barrier(number=7, timeout=600),
                    lambda: job.compositor(timeout=600),
                    lambda: job.barrier(timeout=600),
                ]:
                    try:
                        interrupt()
                        wait()
                        assert False, "nobody else has come"
                    except KeyboardInterrupt:
                        pass
            # The other one has come here at once.
            with job.barrier(number=1, timeout=600) as barrier:
                if rank == 0:
                    barrier.arrive(0)
                    try:
                        interrupt()
                        barrier.wait()
                        assert False, "the other one has not arrived"
                    except KeyboardInterrupt:
                        pass
                    # It has arrived, and may wait again.
                    with job.barrier(number=2, timeout=600):
                        barrier.wait(timeout=600)
                else:
                    with job.barrier(number=2, timeout=600):
                        barrier(0, timeout=600)
            """,
        )

    def test_an_interrupt_ends_leaving(self) -> None:
        self.expect(
            2,
            """
            import os, signal, threading
            signal.signal(signal.SIGINT, signal.default_int_handler)
            until_the_end = job.barrier(number=2)
            barrier = job.barrier("star", number=1)
            other = barrier(os.getpid() if rank == 1 else 0, timeout=60)
            if rank == 0:
                # A stopped process does not answer.
                os.kill(other, signal.SIGSTOP)
                try:
                    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
                    barrier.leave(timeout=60)
                    assert False, "the other one has not answered"
                except KeyboardInterrupt:
                    pass
                finally:
                    os.kill(other, signal.SIGCONT)
                barrier.leave(timeout=60)
            until_the_end(timeout=60)
            if rank == 1:
                assert barrier(5, timeout=60) == 5
                assert barrier.lost == []
            """,
        )

    def test_a_rank_joins_an_open_barrier(self) -> None:
        self.expect(
            3,
            """
            everybody = job.barrier(number=1)
            if rank < 2:
                barrier = job.barrier("star", number=5, ranks=[0, 1])
                everybody()
            else:
                everybody()
                for wrong, words in [
                    (lambda: job.join_barrier(5, []), "name at least one"),
                    (lambda: job.join_barrier(5, [2]), "rank 2 is this process"),
                    (lambda: job.join_barrier(5, [0], kind="udp"), "of kind udp"),
                ]:
                    try:
                        wrong()
                        assert False, words
                    except ValueError as error:
                        assert words in str(error), error
                try:
                    job.join_barrier(6, [0], timeout=0.2)
                    assert False, "nobody has barrier 6 open"
                except manganese.LateError as error:
                    assert "rank 0 has not answered for 200ms" in str(error), error
                barrier = job.join_barrier(5, [1, 0])
                assert barrier.kind == "star"
                assert barrier.members == [0, 1, 2]
            # The others pass alone until the third has joined.
            while barrier(1 << rank, timeout=60) != 7:
                pass
            assert barrier.members == [0, 1, 2]
            # Nobody closes it before the others have checked.
            barrier(0, timeout=60)
            barrier.close()
            """,
        )

    def test_barriers_combine_numbers_and_go_on_without_lost_members(self) -> None:
        self.expect(
            3,
            """
            for number, kind in enumerate(["auto", "star", "tree-2", "dissemination", "udp"]):
                with job.barrier(kind, combine="max", number=number) as barrier:
                    assert barrier.kind == ("shm" if kind == "auto" else kind)
                    assert barrier.members == [0, 1, 2]
                    for epoch in range(20):
                        assert barrier(rank + epoch, timeout=10) == epoch + 2
                    assert barrier.arrive(rank) == 20
                    try:
                        barrier.arrive(rank)
                        assert False
                    except RuntimeError:
                        pass
                    assert barrier.wait(timeout=10) == 2
                    if rank == 1:
                        continue
                    try:
                        barrier(0)
                        assert False
                    except manganese.LostError as error:
                        assert "1" in str(error), error
                    assert barrier.lost == [1]
                    if rank == 0:
                        try:
                            barrier(rank, timeout=0.01)
                            assert False
                        except manganese.LateError as error:
                            assert "2" in str(error), error
                        assert barrier.wait() == 2
                        barrier.leave()
                    else:
                        import time
                        time.sleep(0.1)
                        assert barrier(2, timeout=10) == 2
                        assert barrier(7, timeout=10) == 7
            """,
        )

    def test_layers_are_blended_in_the_order_that_is_given(self) -> None:
        self.expect(
            2,
            """
            for order in ([0, 1], [1, 0]):
                color = numpy.zeros((4, 4, 4), numpy.float32)
                color[..., rank] = color[..., 3] = 0.5
                merged = compositor.composite(color, order=order, to=1)
                if rank == 1:
                    front, back = order
                    assert (merged.color[..., front] == 0.5).all(), merged.color
                    assert (merged.color[..., back] == 0.25).all()
                    assert (merged.color[..., 3] == 0.75).all()
            """,
        )

    def test_every_process_gets_a_part(self) -> None:
        self.expect(
            2,
            """
            color = numpy.full((64, 64, 4), rank + 1, numpy.float16)
            merged = compositor.composite(color, operation="add", to=None)
            assert merged.color.shape == (2048, 4) and merged.first == 2048 * rank
            assert (merged.color == 3).all() and merged.color.dtype == numpy.float16
            """,
        )

    def test_views_are_taken_as_they_look(self) -> None:
        self.expect(
            2,
            """
            whole = numpy.arange(16 * 16 * 4, dtype=numpy.uint8).reshape(16, 16, 4)
            view = whole[::-2, 3:9]
            merged = compositor.composite(view, operation="max")
            assert rank != 0 or (merged.color == view).all()
            """,
        )

    def test_pictures_of_different_sizes_are_an_error(self) -> None:
        program = """
            try:
                # A process that gets no picture may be some frames ahead.
                for _ in range(9):
                    compositor.composite(numpy.zeros((8 + rank, 8, 4), numpy.uint8))
            except manganese.Error as error:
                print(type(error).__name__, error)
                sys.exit(3)
            """
        ended = run(2, program)
        self.assertEqual([status for status, _ in ended], [3, 3], ended)
        self.assertTrue(any("DifferentError" in output for _, output in ended), ended)

    def test_a_function_that_raises_is_an_error_for_all(self) -> None:
        program = """
            def draw(color):
                if rank == 1:
                    raise ZeroDivisionError("no luck")
            try:
                compositor.draw(draw, (8, 8))
            except manganese.Error as error:
                print(type(error).__name__, error)
                sys.exit(3)
            """
        (first, said), (second, trace) = run(2, program)
        self.assertEqual(first, 3, said)
        self.assertIn("LostError", said)
        self.assertIn("rank 1", said)
        self.assertEqual(second, 1)
        self.assertIn("no luck", trace)

    def test_large_pictures_are_drawn_in_tiles(self) -> None:
        self.expect(
            3,
            """
            y, x = numpy.mgrid[0:40, 0:60]

            def whole(rank):
                color = numpy.stack([x, y, 0 * x + rank, 0 * x + 255], axis=-1).astype(numpy.uint8)
                return color, ((7 * x + 11 * y + 13 * rank) % 31).astype(numpy.float32)

            def draw(tile, color, depth):
                place = slice(tile.y, tile.y + tile.height), slice(tile.x, tile.x + tile.width)
                mine = whole(rank)
                color[:], depth[:] = mine[0][place], mine[1][place]

            tiles = [
                manganese.Tile(0, 0, 30, 40, to=1),
                manganese.Tile(30, 0, 30, 20, to=2),
                manganese.Tile(25, 15, 35, 25, to=1),
            ]
            for _ in range(3):
                shown = compositor.draw_tiles(draw, (40, 60), tiles, depth=numpy.float32)
            assert [tile for tile, _ in shown] == [tile for tile in tiles if tile.to == rank]
            everybody = [whole(other) for other in range(size)]
            depths = numpy.stack([depth for _, depth in everybody])
            nearest = depths.argmin(axis=0)
            for tile, merged in shown:
                place = slice(tile.y, tile.y + tile.height), slice(tile.x, tile.x + tile.width)
                assert (merged.depth == depths.min(axis=0)[place]).all()
                assert (merged.color[..., 2] == nearest[place]).all()
                assert (merged.color[..., 0] == x[place]).all()
            """,
        )

    def test_a_forked_process_leaves_nothing(self) -> None:
        self.expect(
            2,
            """
            import os
            color = numpy.full((40, 50, 4), 9, numpy.uint8)
            depth = numpy.full((40, 50), rank, numpy.float32)
            for frame in range(3):
                compositor.composite(color, depth)
                if rank == 1 and frame == 0:
                    child = os.fork()
                    if child == 0:
                        del compositor
                        os._exit(0)
                    assert os.waitpid(child, 0) == (child, 0)
            """,
        )

    def test_wrong_tiles_are_named(self) -> None:
        self.expect(
            1,
            """
            for tile in [(0, 0, 9, 8, 0), (-1, 0, 2, 2, 0), (0, 0, 2, 2, 1)]:
                try:
                    compositor.draw_tiles(sys.exit, (8, 8), [manganese.Tile(*tile)])
                except ValueError as error:
                    assert "Tile(x=" in str(error)
                else:
                    sys.exit("nothing was raised")
            """,
        )

    def test_a_function_that_draws_must_not_composite(self) -> None:
        self.expect(
            1,
            """
            def draw(color):
                compositor.composite(color)
            try:
                compositor.draw(draw, (8, 8))
            except RuntimeError as error:
                assert "must not use it" in str(error)
            else:
                sys.exit("nothing was raised")
            """,
        )


    def test_functions_may_draw_a_rectangle(self) -> None:
        self.expect(
            3,
            """
            def draw(color, depth):
                # Only the rectangle counts.
                color[...] = 10 * (rank + 1)
                depth[...] = rank
                return [(0, 0, 0, 0), (1, 2, 3, 2), (2, 1, 3, numpy.int64(4))][rank]

            for schedule in (None, "binary-swap"):
                merged = compositor.draw(draw, (5, 7), depth=numpy.float32, schedule=schedule)
                if rank == 0:
                    wanted = numpy.zeros((5, 7))
                    wanted[1:5, 2:5] = 30
                    wanted[2:4, 1:4] = 20
                    assert (merged.color[..., 0] == wanted).all(), merged.color[..., 0]
                    assert (numpy.isinf(merged.depth) == (wanted == 0)).all()

            def draw_tile(tile, color):
                color[...] = rank + 1
                return (rank, 0, 1, 1)

            shown = compositor.draw_tiles(draw_tile, (5, 7), [manganese.Tile(1, 1, 4, 3, to=0)])
            for _, merged in shown:
                assert (merged.color[0, :, 0] == [1, 2, 3, 0]).all() and not merged.color[1:].any()

            picture = manganese._Picture((5, 7), numpy.dtype(numpy.uint8), None)
            for wrong in ((0, 0, 8, 5), (-1, 0, 1, 1)):
                try:
                    picture.covered(wrong)
                except ValueError:
                    continue
                raise AssertionError(wrong)
            # Functions may return anything else, as those that return nothing do.
            for other in (None, 5, (1, 2, 3), ("x", 0, 0, 0), [0, 0, 1, 1]):
                assert picture.covered(other) is None, other
            """,
        )

    def test_arrays_lie_in_the_memory_that_others_read(self) -> None:
        self.expect(
            3,
            """
            def draw(color, depth):
                assert color.shape == (5, 7, 4) and depth.dtype == numpy.float32
                assert not color.any() and numpy.isinf(depth).all()
                assert not color.flags.owndata and color.flags.writeable
                seen.append(color.ctypes.data)
                color[...] = 10 * (rank + 1)
                depth.flat = numpy.roll(numpy.arange(35), 11 * rank)

            seen = []
            for order in (None, [2, 0], [1]):
                merged = compositor.draw(draw, (5, 7), depth=numpy.float32, order=order, to=1)
                assert (merged is not None) == (rank == 1)
                if rank == 1:
                    ranks = order or [0, 1, 2]
                    all_depths = numpy.stack([numpy.roll(numpy.arange(35), 11 * r) for r in ranks])
                    nearest = numpy.array(ranks)[all_depths.argmin(axis=0)].reshape(5, 7)
                    assert (merged.color[..., 0] == 10 * (nearest + 1)).all(), order
                    assert (merged.depth.ravel() == all_depths.min(axis=0)).all()
            # A mapping that all processes share, as the kernel sees it.
            with open("/proc/self/maps") as maps:
                ranges = [line.split() for line in maps]
            for place in seen:
                kinds = [
                    fields[1]
                    for fields in ranges
                    if int(fields[0].split("-")[0], 16) <= place < int(fields[0].split("-")[1], 16)
                ]
                assert kinds == ["rw-s"], kinds
            """,
        )

    def test_a_function_that_keeps_an_array_is_told(self) -> None:
        program = """
            kept = []
            def draw(color):
                color[...] = rank + 1
                if rank == 1:
                    kept.append(color[KEPT])
            try:
                compositor.draw(draw, (8, 8))
            except (BufferError, manganese.Error) as error:
                print(type(error).__name__, error)
            for _ in range(3):
                try:
                    compositor.draw(lambda color: None, (800, 800))
                except manganese.Error:
                    pass
                else:
                    sys.exit("the compositor works")
            compositor.close()
            # The memory is still there.
            assert rank == 0 or (kept[0] == 2).all()
            """
        for part in ("...", "2:, ::3"):
            (first, said), (second, told) = run(2, program.replace("KEPT", part))
            self.assertEqual((first, second), (0, 0), said + told)
            self.assertIn("LostError", said)
            self.assertIn("BufferError", told)
            self.assertIn("keep a copy", told)

    def test_arrays_in_cycles_are_not_kept(self) -> None:
        self.expect(
            1,
            """
            def draw(color):
                color[...] = 7
                cycle = [color]
                cycle.append(cycle)
            for _ in range(3):
                assert (compositor.draw(draw, (8, 8)).color == 7).all()
            """,
        )

    def test_the_memory_of_a_drawn_picture_gives_no_more_arrays(self) -> None:
        self.expect(
            1,
            """
            def draw(color):
                base = color
                while isinstance(base, numpy.ndarray):
                    base = base.base
                memories.append(base.obj)
            memories = []
            compositor.draw(draw, (8, 8))
            try:
                memoryview(memories[0])
            except BufferError as error:
                assert "drawn before" in str(error)
            else:
                sys.exit("there is an array")
            """,
        )

    def test_hosts_are_counted(self) -> None:
        self.expect(2, "assert compositor.hosts == 1")

    def test_composited_pictures_go_to_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.expect(
                3,
                f"""
                y, x = numpy.mgrid[0:23, 0:37]

                def pixels(frame):
                    channels = [5 * x, 7 * y, x * y + 11 * frame, 0 * x + 255]
                    return numpy.stack(channels, axis=-1).astype(numpy.uint8)

                def part(frame):
                    return pixels(frame) * (x % size == rank)[..., None].astype(numpy.uint8)

                if rank < 2:
                    outlet = manganese.Outlet.files(f"{folder}/{{rank}}", every=2 - rank)
                    compositor.attach(outlet, bottom_up=rank == 0)
                for frame in (1, 2, 3, 4):
                    compositor.composite(part(frame))
                def draw(color):
                    color[...] = part(5)
                compositor.draw(draw, (23, 37), to=1)
                compositor.composite(part(6), to=None)
                tiles = [
                    manganese.Tile(4, 2, 6, 5, to=1),
                    manganese.Tile(0, 0, 9, 8, to=0),
                    manganese.Tile(12, 6, 5, 4, to=1),
                ]
                def draw_tile(tile, color):
                    place = slice(tile.y, tile.y + tile.height), slice(tile.x, tile.x + tile.width)
                    color[...] = part(7)[place]
                compositor.draw_tiles(draw_tile, (23, 37), tiles)
                compositor.attach(None)
                compositor.composite(part(8), to=1)
                """,
            )
            y, x = numpy.mgrid[0:23, 0:37]

            def pixels(frame: int) -> numpy.ndarray:
                return numpy.stack([5 * x, 7 * y, x * y + 11 * frame], axis=-1).astype(numpy.uint8)

            first, second = (pathlib.Path(folder) / str(rank) for rank in range(2))
            names = [sorted(path.name for path in place.iterdir()) for place in (first, second)]
            self.assertEqual(names[0], ["frame-000002.png", "frame-000004.png"])
            self.assertEqual(names[1], ["frame-000001.png", "frame-000002.png"])
            for frame in (2, 4):
                shown = png(first / f"frame-{frame:06}.png")
                self.assertTrue((shown == pixels(frame)[::-1]).all())
            self.assertTrue((png(second / "frame-000001.png") == pixels(5)).all())
            wanted = numpy.zeros_like(pixels(7))
            for place in (numpy.s_[2:7, 4:10], numpy.s_[6:10, 12:17]):
                wanted[place] = pixels(7)[place]
            self.assertTrue((png(second / "frame-000002.png") == wanted[2:10, 4:17]).all())

    def test_a_thread_may_attach_an_outlet_while_another_composites(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.expect(
            1,
            f"""
            import threading

            outlet = manganese.Outlet.files({folder.name!r})
            compositor.attach(outlet)

            def composite() -> None:
                for _ in range(20):
                    compositor.composite(numpy.zeros((200, 200, 4), numpy.uint8))

            thread = threading.Thread(target=composite)
            thread.start()
            while thread.is_alive():
                compositor.attach(outlet)
            """,
        )

    def test_an_attached_outlet_stays_open(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.expect(
                1,
                f"""
                import gc
                compositor.attach(manganese.Outlet.files({folder!r}))
                gc.collect()
                compositor.composite(numpy.zeros((2, 2, 4), numpy.uint8))
                """,
            )
            self.assertEqual(os.listdir(folder), ["frame-000001.png"])

    def test_a_window_shows_pictures(self) -> None:
        if shutil.which("Xvfb") is None:
            self.skipTest("Xvfb is not installed")
        program = """
            picture = numpy.random.default_rng(1).integers(0, 256, (23, 37, 4), numpy.uint8)
            outlet = manganese.Outlet.window("a picture")
            compositor.attach(outlet, bottom_up=True)
            compositor.composite(picture, operation="max")
            assert not outlet.is_closed

            def screen():
                # The X server's file has the format of xwd: a head, colours, and rows of BGRX.
                file = numpy.fromfile(SCREEN, numpy.uint8)
                head = file[:100].view(">u4")
                start, stride = int(head[0] + 12 * head[19]), int(head[12])
                return file[start:].reshape(-1, stride)[:24, : 38 * 4].reshape(24, 38, 4)[..., :3]

            wanted = numpy.zeros((24, 38, 3), numpy.uint8)
            wanted[:23, :37] = picture[::-1, :, 2::-1]
            assert (screen() == wanted).all()
            outlet.close()
            assert not screen().any()
            try:
                manganese.Outlet.window("a picture", display=":9999")
            except manganese.OutletError as error:
                assert ":9999" in str(error)
            else:
                sys.exit("there is a window")
            """
        with x_server() as (display, screen):
            program = program.replace("SCREEN", repr(screen))
            for rank, (status, output) in enumerate(run(1, program, DISPLAY=display)):
                self.assertEqual(status, 0, f"rank {rank}: {output}")


    def test_a_viewer_shows_pictures(self) -> None:
        mgn = os.environ.get("MGN")
        if mgn is None:
            self.skipTest("MGN does not name the mgn command")
        feeds = f"unix:@mgn-python-{uuid.uuid4().hex}"
        program = f"""
            picture = numpy.full((23, 37, 4), 200, numpy.uint8)
            outlet = manganese.Outlet.viewer({feeds!r})
            compositor.attach(outlet)
            for _ in range(100_000):
                compositor.composite(picture, operation="max")
                if sys.stdin in select.select([sys.stdin], [], [], 0.02)[0]:
                    break
            assert not outlet.is_closed
            outlet.close()
            """
        code = "import select\n" + BEFORE.replace("TIMEOUT", "10.0") + textwrap.dedent(program)
        environment = os.environ | {"MGN_RANK": "0", "MGN_SIZE": "1", "MGN_JOB": "viewed"}
        with contextlib.ExitStack() as stack:
            viewer = subprocess.Popen(
                [mgn, "viewer", "--wall", "1x1", "--feeds", feeds], stdout=subprocess.PIPE, text=True
            )
            stack.callback(viewer.wait)
            stack.callback(viewer.terminate)
            stack.enter_context(viewer.stdout)
            url = viewer.stdout.readline().strip()
            shower = subprocess.Popen(
                [sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE, text=True
            )
            stack.callback(shower.kill)
            size, jpeg = picture_of_page(url)
            self.assertEqual(size, (37, 23))
            self.assertEqual(jpeg[:2], b"\xff\xd8")
            shower.communicate("\n", timeout=60)
            self.assertEqual(shower.returncode, 0)


def picture_of_page(url: str) -> tuple[tuple[int, int], bytes]:
    """The size and the JPEG file of the first picture of a viewer's page, as its WebSocket gets it."""
    host, token = url.removeprefix("http://").split("/#token=")
    name, port = host.rsplit(":", 1)
    with socket.create_connection((name, int(port)), timeout=60) as connection:
        stream = connection.makefile("rwb")
        head = [
            "GET /watch HTTP/1.1",
            f"Host: {host}",
            f"Origin: http://{host}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            f"Sec-WebSocket-Protocol: manganese-viewer, {token}",
        ]
        stream.write("\r\n".join([*head, "", ""]).encode())
        stream.flush()
        status = stream.readline()
        assert b" 101 " in status, status
        while stream.readline() != b"\r\n":
            pass
        view = b'{"view":{"widths":[37],"quality":80}}'
        # A text message of a client, whose mask is zero.
        stream.write(bytes([0x81, 0x80 | len(view), 0, 0, 0, 0]) + view)
        stream.flush()
        while True:
            kind, length = stream.read(2)
            if length == 126:
                (length,) = struct.unpack(">H", stream.read(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", stream.read(8))
            message = stream.read(length)
            if kind == 0x82:
                # A number of pictures, then the heads and files of each.
                size, (length,) = struct.unpack_from("<2I", message, 16), struct.unpack_from("<I", message, 32)
                return size, message[36 : 36 + length]


@contextlib.contextmanager
def x_server() -> Iterator[tuple[str, str]]:
    """An X server: its name, and the file in which its screen can be seen."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = os.pipe()
        command = ["Xvfb", "-noreset", "-displayfd", str(theirs), "-screen", "0", "320x200x24"]
        server = subprocess.Popen(
            [*command, "-nolisten", "tcp", "-fbdir", folder],
            pass_fds=[theirs],
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        try:
            with open(ours) as told:
                number = told.readline().strip()
            yield f":{number}", f"{folder}/Xvfb_screen0"
        finally:
            server.terminate()
            server.wait(timeout=60)


def png(path: pathlib.Path) -> numpy.ndarray:
    """The red, green and blue of a PNG file."""
    data, at, chunks = path.read_bytes(), 8, {}
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunks[kind] = chunks.get(kind, b"") + data[at + 8 : at + 8 + length]
        at += 12 + length
    width, height, *form = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert form == [8, 2, 0, 0, 0], form
    rows = numpy.frombuffer(zlib.decompress(chunks[b"IDAT"]), numpy.uint8)
    rows = rows.reshape(height, 1 + 3 * width)
    picture = numpy.zeros((height + 1, 3 * width + 3), int)
    for y, (kind, *row) in enumerate(rows.tolist(), start=1):
        for x, value in enumerate(row, start=3):
            left, above, corner = picture[y, x - 3], picture[y - 1, x], picture[y - 1, x - 3]
            nearest = min((left, above, corner), key=lambda it: abs(left + above - corner - it))
            guess = [0, left, above, (left + above) // 2, nearest][kind]
            picture[y, x] = (value + guess) % 256
    return picture[1:, 3:].reshape(height, width, 3).astype(numpy.uint8)


class Examples(unittest.TestCase):
    """The pictures of one process are those of several, however these were started."""

    BALLS = pathlib.Path(__file__).parent.parent / "examples" / "balls.py"

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.alone = self.picture([], [])

    def picture(self, launcher: list[str], options: list[str]) -> bytes:
        file = self.folder / "balls.ppm"
        command = [*launcher, sys.executable, str(self.BALLS), *options, str(file)]
        environment = os.environ | {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
        done = subprocess.run(
            command, env=environment, cwd=self.folder, capture_output=True, text=True, timeout=60
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        picture = file.read_bytes()
        file.unlink()
        return picture

    def launcher(self, *names: str) -> list[str]:
        found = next(filter(None, map(shutil.which, names)), None)
        if found is None:
            self.skipTest(f"{names[0]} is not installed")
        return [found, *(["--oversubscribe"] if "openmpi" in found else []), "-n", "3"]

    def test_open_mpi_starts_them(self) -> None:
        self.assertEqual(self.picture(self.launcher("mpirun.openmpi"), []), self.alone)

    def test_mpich_starts_them(self) -> None:
        self.assertEqual(self.picture(self.launcher("mpiexec.hydra"), []), self.alone)

    def test_mgn_run_starts_them(self) -> None:
        mgn = os.environ.get("MGN")
        if mgn is None:
            self.skipTest("MGN does not name the mgn command")
        self.assertEqual(self.picture([mgn, "run", "-np", "3", "--"], []), self.alone)

    def test_mpi4py_finds_them(self) -> None:
        if importlib.util.find_spec("mpi4py") is None:
            self.skipTest("mpi4py is not installed")
        self.assertEqual(self.picture(self.launcher("mpirun.openmpi"), ["--mpi"]), self.alone)


class Arguments(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.job = manganese.Job()
        cls.compositor = cls.job.compositor()
        cls.picture = numpy.zeros((4, 6, 4), numpy.uint8)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.job.leave()

    def refused(self, words: str, *arguments: object, **terms: object) -> None:
        with self.assertRaisesRegex(ValueError, words):
            self.compositor.composite(*arguments, **terms)

    def test_wrong_arguments_are_named(self) -> None:
        self.refused(r"shape \(4, 6\)", self.picture[..., 0])
        self.refused("depths have the shape", self.picture, numpy.zeros((6, 4), numpy.float32))
        self.refused("int16", self.picture.astype(numpy.int16))
        self.refused("float64", self.picture, numpy.zeros((4, 6)))
        self.refused("byte order", self.picture.astype(">f4"))
        self.refused("no operation", self.picture, operation="under")
        self.refused("no schedule", self.picture, schedule="radix-1")
        self.refused("no rank 1", self.picture, to=1)
        self.refused("to is -1", self.picture, to=-1)
        self.refused("names a rank twice", self.picture, order=[0, 0])
        self.refused("depth", self.picture, operation="nearest")

    def test_wrong_arguments_of_outlets_are_named(self) -> None:
        files = manganese.Outlet.files
        with tempfile.TemporaryDirectory() as folder:
            for words, make in [
                ("bmp", lambda: files(folder, format="bmp")),
                ("every is 0", lambda: files(folder, every=0)),
                ("first is 0", lambda: files(folder).number(0, 2)),
                ("step is -1", lambda: files(folder).number(1, -1)),
                ("nowhere", lambda: manganese.Outlet.viewer("nowhere")),
                ("tile is -1", lambda: manganese.Outlet.viewer(tile=-1)),
                (r"shape \(4, 6\)", lambda: files(folder).show(self.picture[..., 0])),
                ("Rgba32f", lambda: files(folder).show(self.picture.astype(numpy.float32))),
                ("int16", lambda: files(folder).show(self.picture.astype(numpy.int16))),
                ("0 by 6", lambda: files(folder).show(self.picture.reshape(6, -1, 4)[:, :0])),
            ]:
                with self.assertRaisesRegex(ValueError, words):
                    make()
            self.assertEqual(os.listdir(folder), [])
            with self.assertRaisesRegex(manganese.OutletError, "null/no"):
                files("/dev/null/no")
            gone = pathlib.Path(folder) / "gone"
            with files(gone, format="jpeg") as outlet:
                outlet.number(2, 3)
                outlet.show(self.picture)
                outlet.show(self.picture)
                names = ["frame-000002.jpg", "frame-000005.jpg"]
                self.assertEqual(sorted(os.listdir(gone)), names)
                with self.assertRaisesRegex(ValueError, "from 8 to"):
                    outlet.number(7, 1)
                shutil.rmtree(gone)
                for _ in range(2):
                    with self.assertRaisesRegex(manganese.OutletError, "gone"):
                        outlet.show(self.picture)
                self.compositor.attach(outlet)
                with self.assertRaisesRegex(manganese.OutletError, "gone"):
                    self.compositor.composite(self.picture)
            with self.assertRaisesRegex(ValueError, "the outlet is closed"):
                outlet.show(self.picture)
            with self.assertRaisesRegex(ValueError, "the outlet is closed"):
                self.compositor.attach(outlet)
            self.assertIsNotNone(self.compositor.composite(self.picture))

    def test_one_process_alone_gets_its_own_picture(self) -> None:
        picture = numpy.arange(96, dtype=numpy.uint8).reshape(4, 6, 4)
        merged = self.compositor.composite(picture)
        self.assertTrue((merged.color == picture).all())
        self.assertIsNone(merged.depth)

    def test_bricks_are_ordered_by_what_hides_what(self) -> None:
        near, far = ([0, 0, 0], [1, 1, 1]), ([0, 0, 1], [1, 1, 5])
        bricks = [(3, *far), (1, *near)]
        order = manganese.front_to_back
        self.assertEqual(order(bricks, eye=(0.5, 0.5, -1)), [1, 3])
        self.assertEqual(order(bricks, eye=(0.5, 0.5, 9)), [3, 1])
        self.assertEqual(order(bricks, direction=(0, 0, -1)), [3, 1])
        self.assertEqual(order([], direction=(0, 0, -1)), [])
        for words, arguments in {
            "either eye or direction": {},
            "2 coordinates": {"eye": (0, 0)},
            "eye's coordinates": {"eye": (0, 0, float("nan"))},
            "overlap": {"bricks": [(0, *near), (1, [0, 0, 0], [2, 2, 2])], "eye": (0, 0, 9)},
            "brick 0 has a corner": {"bricks": [(0, [2, 0, 0], [1, 1, 1])], "eye": (0, 0, 9)},
            "brick of rank 4 does not have 3": {"bricks": [(4, [0, 0], [1, 1, 1])], "eye": (0, 0, 9)},
        }.items():
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                order(**({"bricks": bricks} | arguments))

    def test_wrong_arguments_of_barriers_are_named(self) -> None:
        for words, arguments in {
            "did you mean dissemination": {"kind": "diseminaton"},
            "must be any, all, min or max": {"combine": "sum"},
            "cannot have rank 9": {"ranks": [0, 9], "number": 3},
            "named twice": {"ranks": [0, 0], "number": 3},
            "no network interface nothing0": {"kind": "udp", "interface": "nothing0"},
            "timeout is -1": {"timeout": -1},
            "number is 70000": {"number": 70000},
            "needs a number": {"ranks": [0]},
        }.items():
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                self.job.barrier(**arguments)
        barrier = self.job.barrier()
        with self.assertRaisesRegex(RuntimeError, "has not arrived"):
            barrier.wait()
        self.assertEqual(barrier(5), 5)
        barrier.close()
        with self.assertRaisesRegex(RuntimeError, "closed"):
            barrier(5)
        with self.job.barrier() as another:
            self.assertEqual(another(6), 6)
        with self.job.barrier(number=4) as numbered:
            self.assertEqual(numbered(7), 7)
        with self.assertRaisesRegex(ValueError, "barrier 4 was open in this process before"):
            self.job.barrier(number=4)

    def test_a_closed_compositor_is_an_error(self) -> None:
        with self.job.compositor() as compositor:
            pass
        with self.assertRaisesRegex(ValueError, "closed"):
            compositor.composite(self.picture)


if __name__ == "__main__":
    unittest.main()
