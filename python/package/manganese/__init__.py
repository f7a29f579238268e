"""Composites the pictures of parallel programs: many renderers, one picture.

    import manganese

    with manganese.Job() as job, job.compositor() as compositor:
        merged = compositor.composite(color, depth)   # arrays of this process's picture
        if merged is not None:                        # on rank 0
            save(merged.color)

The processes are started by `mgn run -np`, mpiexec or srun. A program with mpi4py may pass a
communicator instead: `manganese.Job(MPI.COMM_WORLD)`.
"""

from __future__ import annotations

import operator
import os
import socket
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from ._native import DifferentError, Error, LateError, LostError, OutletError
from . import _native

if TYPE_CHECKING:
    from collections.abc import Buffer  # Since Python 3.12.

__all__ = [
    "Barrier",
    "Compositor",
    "DifferentError",
    "Error",
    "Job",
    "LateError",
    "LostError",
    "Merged",
    "Outlet",
    "OutletError",
    "Tile",
    "front_to_back",
]


class Merged(NamedTuple):
    """Merged pixels.

    If this process gets the whole picture, `color` and `depth` have its shape. Otherwise they are
    lists of pixels, and `first` is the index of the first pixel, counted row by row from 0. `depth`
    is None for pictures without depth.
    """

    color: numpy.ndarray
    depth: numpy.ndarray | None
    first: int


class Tile(NamedTuple):
    """A part of a large picture, such as one screen of a wall, and the rank that gets it.

    `x` and `y` are the column and the row at which the tile begins in the large picture.
    """

    x: int
    y: int
    width: int
    height: int
    to: int


class Job:
    """A job: the processes that work together, and the rank of this process among them.

    Without an argument, the rank and the size come from the environment (`mgn run -np`, mpiexec,
    srun, or MGN_RANK and MGN_SIZE). With a communicator of mpi4py, its processes are the job. They
    use MPI only to find each other; pictures do not travel through MPI.
    """

    def __init__(self, comm: Any = None) -> None:
        self._next = 65535
        if comm is None:
            self._native = _native.Job.find()
            return
        rank = comm.Get_rank()
        name, secret = comm.bcast((f"py-{uuid.uuid4().hex}", _native.new_secret()))
        hosts = comm.allgather(socket.gethostname())
        self._native = _native.Job.among(name, rank, hosts, secret)

    @property
    def rank(self) -> int:
        return self._native.rank

    @property
    def size(self) -> int:
        return self._native.size

    def compositor(self, timeout: float = 30.0) -> Compositor:
        """Creates a compositor of all processes. All of them have to call this.

        A process may keep the others waiting for up to `timeout` seconds, here and in each
        composition.
        """
        return Compositor(self._native.compositor(timeout), self.rank, self.size)

    def barrier(
        self,
        kind: str = "auto",
        *,
        combine: str = "any",
        number: int | None = None,
        ranks: Sequence[int] | None = None,
        interface: str | None = None,
        timeout: float = 30.0,
    ) -> Barrier:
        """Opens a barrier. All its members have to call this with the same arguments.

        `kind` is "shm", "star", "tree", "tree-N" with N children for each member, "dissemination",
        "hierarchical", "udp", "wired", or "auto": shared memory if all members are on one host,
        dissemination if each is on a host of its own, and otherwise hierarchical. `combine` says
        how the members' numbers are combined: "any" or "all" bits, "min" or "max". "wired" carries
        no numbers: it ignores `combine`, and the combined number is 0. `ranks` are the members: by
        default, all ranks of the job. No two barriers of a job may have the same `number`, even one
        after the other. If you give no number, a barrier of all ranks gets the next one, from 65535
        down; all ranks must open these barriers in the same order. `interface` is the network
        interface for the datagrams of "udp", or the lines of "wired", such as "gpiochip0:17,27,22".
        Only `interface` and `timeout` may differ from member to member.

        The call waits for the other members for up to `timeout` seconds. After an interrupt, it
        goes on in the background until then, and may still meet the other members: end the job
        instead of opening the barrier again.
        """
        is_automatic = number is None
        if is_automatic and ranks is not None:
            raise ValueError("a barrier of some ranks needs a number: pass number=")
        number = self._next if number is None else number
        described = (kind, combine, number, None if ranks is None else list(ranks), interface)
        barrier = Barrier(self._native.barrier(described, timeout))
        # Only now: all ranks that fail try the same number again.
        self._next -= is_automatic
        return barrier

    def join_barrier(
        self,
        number: int,
        members: Sequence[int],
        *,
        kind: str = "auto",
        combine: str = "any",
        timeout: float = 30.0,
    ) -> Barrier:
        """Joins the barrier `number`, which other ranks have open.

        `members` are ranks to ask. At least one of them must stay until this process is admitted,
        for which the call waits for up to `timeout` seconds. From then on, the others wait for this
        process, too. The barrier must be of kind "star", "tree", "tree-N" or "dissemination":
        `kind` is the same, or "auto" for any of these. `combine` is that of the members. A rank
        that was a member before cannot join again.
        """
        described = (kind, combine, number, list(members), None)
        return Barrier(self._native.join_barrier(described, timeout))

    def leave(self) -> None:
        """Leaves the job. Close its barriers first; its compositors cannot be used any more."""
        self._native.leave()

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


class Barrier:
    """A barrier among processes of a job: no member passes it before all have arrived.

    If a member ends, or closes the barrier without leaving it, one pass fails for all others with
    LostError, and the attribute `lost` of the barrier contains the lost ranks. The next pass is
    without them.
    """

    def __init__(self, native: _native.Barrier) -> None:
        self._native = native
        self.lost: list[int] = []

    @property
    def kind(self) -> str:
        """The kind that was opened. It is never "auto"."""
        return self._native.kind()

    @property
    def members(self) -> list[int]:
        """The ranks that are members, as far as this process knows."""
        return self._native.members()

    def __call__(self, number: int = 0, timeout: float | None = None) -> int:
        """Arrives, waits for the others, and returns the combined numbers.

        After LateError, call `wait` to wait for longer.
        """
        return self._passed(number, timeout)

    def arrive(self, number: int = 0) -> int:
        """Arrives without waiting, and returns the number of this pass, the epoch.

        The process may work before it calls `wait`; the other members learn of the arrival in the
        meantime.
        """
        return self._native.arrive(number)

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the others after `arrive`, and returns the combined numbers."""
        return self._passed(None, timeout)

    def _passed(self, number: int | None, timeout: float | None) -> int:
        combined, lost, text = self._native.wait(number, timeout)
        if lost:
            self.lost = lost
            raise LostError(text)
        return combined

    def leave(self, timeout: float = 30.0) -> None:
        """Leaves the barrier, so that the others go on and no pass fails."""
        self._native.leave(timeout)

    def close(self) -> None:
        """Closes the barrier. A process that has not left it is lost to the others."""
        self._native.close()

    def __enter__(self) -> Barrier:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Outlet:
    """A destination for a series of pictures: a window, image files, or a viewer.

    `show` shows an array, and `Compositor.attach` shows all pictures that this process gets from a
    compositor. OutletError means that the outlet cannot be opened, or has failed.
    """

    def __init__(self, native: _native.Outlet) -> None:
        self._native = native

    @classmethod
    def files(cls, folder: str | os.PathLike[str], format: str = "png", every: int = 1) -> Outlet:
        """Writes pictures to `folder`, which is created if missing: frame-000001.png and so on.

        `format` is png or jpeg. If `every` is N, only pictures whose number is a multiple of N are
        written. The numbers count all pictures, unless `number` changes them.
        """
        if every < 1:
            raise ValueError(f"every is {every}: use 1 for all pictures, 2 for every second one")
        return cls(_native.Outlet.files(folder, format, every))

    @classmethod
    def window(cls, title: str, display: str | None = None) -> Outlet:
        """Shows pictures in a window of the X server `display`; by default, the one of DISPLAY.

        The window opens with the first picture, and has the size of the latest one.
        """
        return cls(_native.Outlet.window(title, display))

    @classmethod
    def viewer(
        cls,
        address: str | None = None,
        *,
        token_file: str | os.PathLike[str] | None = None,
        tile: int = 0,
    ) -> Outlet:
        """Sends pictures to `mgn viewer`, which shows them in browsers as a tile of its wall.

        `address` is that of `mgn viewer --feeds`, by default unix:@manganese-viewer. A tcp: or tls:
        address needs `token_file`, the file of a token with the role server; by default, the one
        that MGN_TOKEN_FILE names. Tiles are counted from 0.

        The viewer need not run yet, and may be restarted. It gets the newest picture while a page
        shows the tile, so some pictures may never be seen. Processes that show tiles of one wall
        must show the same number of pictures. Width and height are at most 16384 pixels.
        """
        if not 0 <= tile < 1 << 16:
            raise ValueError(f"tile is {tile}, and no wall has such a tile")
        return cls(_native.Outlet.viewer(address, token_file, tile))

    def number(self, first: int, step: int) -> None:
        """Numbers the next pictures `first`, `first` + `step`, `first` + 2 * `step` and so on.

        So the processes of a job can write its pictures in turn, each encoding one while the others
        draw: every process calls `outlet.number(job.rank + 1, job.size)`, and passes
        `to=frame % job.size` to the compositor. `first` must be larger than the numbers so far.
        """
        if not (0 < first < 1 << 63 and 0 < step < 1 << 63):
            raise ValueError(f"first is {first} and step is {step}: both must be at least 1")
        self._native.number(first, step)

    def show(self, color: numpy.ndarray, *, bottom_up: bool = False) -> None:
        """Shows a picture of the shape (height, width, 4) and the type uint8.

        With `bottom_up`, the first row is the lowest, as in pictures of glReadPixels. Alpha is
        ignored: premultiplied colours appear on black.
        """
        color = numpy.asarray(color)
        height, width = _shape(color)
        self._native.show(width, height, color.dtype.name, _bytes(color), bottom_up)

    @property
    def is_closed(self) -> bool:
        """Whether the user has closed the window. Further pictures are dropped without an error.

        It is also true if the X server has ended; further pictures then raise OutletError.

        A closed window disappears when the program reads this, or with the next picture.
        """
        return self._native.is_closed()

    def close(self) -> None:
        """Closes the outlet, and its window. Files remain."""
        self._native.close()

    def __enter__(self) -> Outlet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Compositor:
    """Merges one picture of each process of a job, frame by frame."""

    def __init__(self, native: _native.Compositor, rank: int, size: int) -> None:
        self._native: _native.Compositor | None = native
        self._rank = rank
        self._size = size
        self._is_drawing = False
        # The native part keeps no outlet open.
        self._outlet: Outlet | None = None

    @property
    def hosts(self) -> int:
        """The number of hosts of the processes. Processes that share memory are on one host."""
        return self._ready().hosts()

    def attach(self, outlet: Outlet | None, *, bottom_up: bool = False) -> None:
        """Shows in `outlet` each whole picture that this process gets. None ends this.

        `draw_tiles` shows the tiles of this process as one picture: the smallest rectangle around
        them, black where there is no tile. `bottom_up` has the same meaning as in `Outlet.show`. If
        a picture was composited but cannot be shown, methods raise OutletError instead of returning
        it, and the compositor stays usable; attach None to go on without an outlet. After the
        outlet is closed, nothing is shown.
        """
        self._ready().attach(None if outlet is None else outlet._native, bottom_up)
        self._outlet = outlet

    def composite(
        self,
        color: numpy.ndarray,
        depth: numpy.ndarray | None = None,
        *,
        operation: str | None = None,
        to: int | None = 0,
        order: Sequence[int] | None = None,
        schedule: str | None = None,
    ) -> Merged | None:
        """Merges the pictures of all processes. All of them have to call this.

        `color` has the shape (height, width, 4) and the type uint8, float16 or float32: red, green,
        blue and alpha. `depth` has the shape (height, width) and the type float32, or uint32, as
        glReadPixels returns depths for GL_UNSIGNED_INT. Neither array may change during the call.

        `operation` is "nearest" (takes the pixel with the smallest depth; the default with depths),
        "over" (blends colours that are premultiplied with alpha, the first picture in front; the
        default without depths), "max", "min" or "add". `order` lists the ranks whose pictures are
        merged, front to back. The pictures of other ranks are not used; their arrays only determine
        size and type. `schedule` is direct, binary-swap, 2-3-swap, radix-K or tree-K; the library
        chooses by default.

        The rank `to` gets the merged picture, and the others get None. With `to=None` every process
        gets a part.

        Raises DifferentError if another process composites something else, LostError if a process
        has ended, LateError if one has not called this in time, and ValueError for wrong arguments.
        A process that gets no pixels may be some frames ahead of the others. It then gets the error
        of an earlier frame in a later call.
        """
        native = self._ready()
        color = numpy.asarray(color)
        shape = _shape(color)
        if depth is not None:
            depth = numpy.asarray(depth)
            if depth.shape != shape:
                raise ValueError(f"depths have the shape {depth.shape}, and colours {color.shape}")
        picture = _Picture(shape, color.dtype, None if depth is None else depth.dtype)
        merged = native.composite(
            picture.agreed(operation, to, order, schedule),
            _bytes(color),
            None if depth is None else _bytes(depth),
        )
        return None if merged is None else picture.merged(merged, is_whole=to is not None)

    def draw(
        self,
        function: Callable[..., object],
        shape: tuple[int, int],
        color: Any = numpy.uint8,
        depth: Any = None,
        *,
        operation: str | None = None,
        to: int | None = 0,
        order: Sequence[int] | None = None,
        schedule: str | None = None,
    ) -> Merged | None:
        """Calls `function` to draw this process's picture, and composites it.

        `shape` is (height, width). `function(color)` gets an array of zeros of the type `color`. If
        you pass a type `depth`, it is `function(color, depth)`, and all depths have the largest
        value. The arrays are in memory that the other processes of this host read, so nothing is
        copied for them. They are valid only until the function returns: if it keeps an array, or a
        view of one, BufferError is raised.

        If it returns a tuple (x, y, width, height), it has drawn only this rectangle: columns and
        rows of the arrays from `[y, x]` on. Outside of it, the picture shows nothing and costs
        nothing. Return (0, 0, 0, 0) if there is nothing to show.

        The other arguments are those of `composite`. If `function` raises an exception, the caller
        gets it, the other processes get LostError, and every process must close its compositor.
        """
        native = self._ready()
        picture = _Picture(shape, numpy.dtype(color), None if depth is None else numpy.dtype(depth))

        def draw(*memory: Buffer) -> _Covered:
            return picture.covered(self._call(function, *picture.arrays(*memory)))

        merged = native.draw(picture.agreed(operation, to, order, schedule), draw)
        return None if merged is None else picture.merged(merged, is_whole=to is not None)

    def draw_tiles(
        self,
        function: Callable[..., object],
        shape: tuple[int, int],
        tiles: Sequence[Tile],
        color: Any = numpy.uint8,
        depth: Any = None,
        *,
        operation: str | None = None,
        order: Sequence[int] | None = None,
        schedule: str | None = None,
    ) -> list[tuple[Tile, Merged]]:
        """Calls `function` to draw a large picture tile by tile, and composites each tile.

        `shape` is (height, width) of the large picture; no process needs memory for all of it. All
        processes must pass the same tiles, which may overlap. `function(tile, color)`, or
        `function(tile, color, depth)` if you pass a type `depth`, draws this process's share of a
        tile into arrays like those of `draw`, and may return a rectangle of these. It is not called
        if `order` leaves this process out.

        Returns the tiles that are for this process, without those of width or height 0. The other
        arguments are those of `composite`. Wrong `tiles` raise ValueError before anything is drawn.
        After any later exception but OutletError, close this compositor; the other processes get an
        error, too.
        """
        native = self._ready()
        height, width = shape
        for tile in tiles:
            if min(tile[:4]) < 0 or tile.x + tile.width > width or tile.y + tile.height > height:
                raise ValueError(f"{tile} is not within a picture of {width} by {height} pixels")
            if not 0 <= tile.to < self._size:
                raise ValueError(f"{tile} is for a rank that the job of {self._size} does not have")
        color_type, depth_type = numpy.dtype(color), None if depth is None else numpy.dtype(depth)
        pictures = [_Picture((tile.height, tile.width), color_type, depth_type) for tile in tiles]

        def draw(number: int, *memory: Buffer) -> _Covered:
            picture = pictures[number]
            return picture.covered(self._call(function, tiles[number], *picture.arrays(*memory)))

        large = _Picture(shape, color_type, depth_type)
        agreed = large.agreed(operation, 0, order, schedule)
        here = native.draw_tiles(agreed, [tuple(tile) for tile in tiles], draw)
        return [
            (tiles[number], pictures[number].merged((0, *pixels), is_whole=True))
            for number, *pixels in here
            if tiles[number].width and tiles[number].height
        ]

    def _ready(self) -> _native.Compositor:
        if self._native is None:
            raise ValueError("the compositor is closed")
        if self._is_drawing:
            raise RuntimeError("a function that draws for a compositor must not use it")
        return self._native

    def _call(self, function: Callable[..., object], *arguments: object) -> object:
        self._is_drawing = True
        try:
            return function(*arguments)
        finally:
            self._is_drawing = False

    def close(self) -> None:
        """Frees the compositor's memory. Arrays that it has returned stay valid."""
        self._native = self._outlet = None

    def __enter__(self) -> Compositor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def front_to_back(
    bricks: Sequence[tuple[int, Sequence[float], Sequence[float]]],
    *,
    eye: Sequence[float] | None = None,
    direction: Sequence[float] | None = None,
) -> list[int]:
    """Computes the ranks of boxes of data from front to back: the `order` for blending them.

    Each brick is `(rank, min, max)`: an axis-aligned box, given by the corners with the smallest
    and the largest coordinates. A rank may have several bricks. `eye` is the position of the eye in
    the same coordinates. For a parallel projection, pass `direction` instead: from the eye into the
    scene. Ranks without bricks are left out, because they have nothing to show.

    Raises ValueError if there is no such order: bricks of different ranks overlap, or ranks hide
    each other in a cycle.
    """
    if (eye is None) == (direction is None):
        raise ValueError("pass either eye or direction")
    seen = [float(number) for number in (direction if eye is None else eye)]
    if len(seen) != 3:
        raise ValueError(f"eye or direction has {len(seen)} coordinates, not 3")
    corners = []
    for rank, smallest, largest in bricks:
        if len(smallest) != 3 or len(largest) != 3:
            raise ValueError(f"a corner of a brick of rank {rank} does not have 3 coordinates")
        corners.append((rank, [float(at) for at in smallest], [float(at) for at in largest]))
    return _native.front_to_back((seen[0], seen[1], seen[2]), eye is None, corners)


# The rectangle that a function has drawn, or None for all.
_Covered = tuple[int, int, int, int] | None


class _Picture(NamedTuple):
    """The shape (height, width) of a picture, and the types of its colours and its depths."""

    shape: tuple[int, int]
    color: numpy.dtype
    depth: numpy.dtype | None

    def covered(self, returned: object) -> _Covered:
        """The rectangle that a function which draws has returned: a tuple of four integers. Any
        other value means that the function has drawn everything."""
        if not isinstance(returned, tuple) or len(returned) != 4:
            return None
        if not all(hasattr(number, "__index__") for number in returned):
            return None
        x, y, width, height = (operator.index(number) for number in returned)
        if min(x, y, width, height) < 0 or x + width > self.shape[1] or y + height > self.shape[0]:
            raise ValueError(f"{returned} is not within a picture of the shape {self.shape}")
        return x, y, width, height

    def agreed(
        self,
        operation: str | None,
        to: int | None,
        order: Sequence[int] | None,
        schedule: str | None,
    ) -> _native.Agreed:
        """The terms that all processes must agree on."""
        if to is not None and to < 0:
            raise ValueError(f"to is {to}: it is a rank, or None")
        for kind in (self.color, self.depth):
            if kind is not None and not kind.isnative:
                raise ValueError(f"{kind} is not in this machine's byte order")
        height, width = self.shape
        return {
            "width": width,
            "height": height,
            "color_type": self.color.name,
            "depth_type": None if self.depth is None else self.depth.name,
            "operation": operation or ("over" if self.depth is None else "nearest"),
            "schedule": schedule,
            "order": None if order is None else list(order),
            "to": to,
        }

    def arrays(self, color: Buffer, depth: Buffer) -> list[numpy.ndarray]:
        """Colours in the compositor's memory, and depths if there are any."""

        def array(memory: Buffer, shape: tuple[int, ...], kind: numpy.dtype) -> numpy.ndarray:
            # The array keeps the memoryview, and that the buffer: so it is known while it is used.
            return numpy.asarray(memoryview(memory)).view(kind).reshape(shape)

        arrays = [array(color, (*self.shape, 4), self.color)]
        if self.depth is not None:
            arrays.append(array(depth, self.shape, self.depth))
        return arrays

    def merged(self, pixels: tuple[int, bytearray, bytearray], *, is_whole: bool) -> Merged:
        first, color, depth = pixels
        new_color = numpy.frombuffer(color, self.color).reshape(-1, 4)
        new_depth = None if self.depth is None else numpy.frombuffer(depth, self.depth)
        if is_whole:
            new_color = new_color.reshape(*self.shape, 4)
            new_depth = None if new_depth is None else new_depth.reshape(self.shape)
        return Merged(new_color, new_depth, first)


def _shape(color: numpy.ndarray) -> tuple[int, int]:
    """The height and width of a picture."""
    if color.ndim != 3 or color.shape[2] != 4:
        raise ValueError(f"colours have the shape {color.shape}, not (height, width, 4)")
    return color.shape[:2]


def _bytes(array: numpy.ndarray) -> numpy.ndarray:
    return numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)
