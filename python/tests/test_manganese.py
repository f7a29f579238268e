"""Run by `make test-python`: python3 -m unittest discover python/tests."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
import uuid

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


def run(size: int, program: str, timeout: float = 10.0) -> list[tuple[int, str]]:
    """Runs `program` as a job. Returns the status and the output of each rank."""
    environment = os.environ | {"MGN_SIZE": str(size), "MGN_JOB": f"test-{uuid.uuid4().hex}"}
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
            "brick of rank 4 has not 3": {"bricks": [(4, [0, 0], [1, 1, 1])], "eye": (0, 0, 9)},
        }.items():
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                order(**({"bricks": bricks} | arguments))

    def test_a_closed_compositor_is_an_error(self) -> None:
        with self.job.compositor() as compositor:
            pass
        with self.assertRaisesRegex(ValueError, "closed"):
            compositor.composite(self.picture)


if __name__ == "__main__":
    unittest.main()
