"""Composites the pictures of parallel programs: many renderers, one picture.

    import manganese

    with manganese.Job() as job, job.compositor() as compositor:
        merged = compositor.composite(color, depth)   # arrays of this process's picture
        if merged is not None:                        # on rank 0
            show(merged.color)

The processes are started by `mgn run -np`, mpiexec or srun. A program with mpi4py may pass a
communicator instead: `manganese.Job(MPI.COMM_WORLD)`.
"""

from __future__ import annotations

import contextlib
import socket
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy

from ._native import DifferentError, Error, LateError, LostError
from . import _native

__all__ = [
    "Compositor",
    "DifferentError",
    "Error",
    "Job",
    "LateError",
    "LostError",
    "Merged",
    "Tile",
    "front_to_back",
]


class Merged(NamedTuple):
    """Merged pixels.

    `color` and `depth` have the shape of the pictures, where this process gets the whole one.
    Otherwise they are lists of pixels, and `first` is the number of the first pixel, counted row
    by row. `depth` is None for pictures without depth.
    """

    color: numpy.ndarray
    depth: numpy.ndarray | None
    first: int


class Tile(NamedTuple):
    """A part of a large picture, such as one screen of a wall, and the rank that gets it.

    `x` and `y` are the column and the row of the large picture where it begins.
    """

    x: int
    y: int
    width: int
    height: int
    to: int


class Job:
    """The processes that composite together, and this one's place among them.

    Without an argument, the environment tells the rank and the size (`mgn run -np`, mpiexec, srun,
    or MGN_RANK and MGN_SIZE). With a communicator of mpi4py, its processes are the job; MPI serves
    to find each other, and pictures do not go through it.
    """

    def __init__(self, comm: Any = None) -> None:
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
        """Makes a compositor of all processes, which all of them have to call.

        A process may keep the others waiting for `timeout` seconds, here and in each composition.
        """
        return Compositor(self._native.compositor(timeout), self.rank, self.size)

    def leave(self) -> None:
        """Leaves the job. Its compositors cannot be used any more."""
        self._native.leave()

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


class Compositor:
    """Merges one picture of each process of a job, frame by frame."""

    def __init__(self, native: _native.Compositor, rank: int, size: int) -> None:
        self._native: _native.Compositor | None = native
        self._rank = rank
        self._size = size
        self._is_drawing = False

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
        """Merges this process's picture with those of the others, which all have to call this.

        `color` has the shape (height, width, 4) and the type uint8, float16 or float32: red, green,
        blue and alpha. `depth` has the shape (height, width) and the type float32, or uint32 as
        GL_UNSIGNED_INT reads a depth buffer. Both must not change during the call.

        `operation` is "nearest" (the smallest depth; the default with depths), "over" (colours
        premultiplied with alpha, the first picture in front; the default without), "max", "min" or
        "add". `order` lists the ranks whose pictures are merged, front to back; the others have
        nothing to show, and their arrays only tell size and type. `schedule` is direct,
        binary-swap, 2-3-swap, radix-K or tree-K; the library chooses by default.

        The rank `to` gets the merged picture, and the others get None. With `to=None` every process
        gets a part.

        Raises DifferentError if another process composites something else, LostError if one has
        ended, LateError if one has not come in time, and ValueError for wrong arguments. A process
        that gets no pixels may be some frames ahead of the others, and learns in a later call that
        one of these has failed.
        """
        return self._composite(
            color, depth, operation=operation, to=to, order=order, schedule=schedule, at=(0, 0)
        )

    def _composite(
        self,
        color: numpy.ndarray,
        depth: numpy.ndarray | None = None,
        *,
        operation: str | None = None,
        to: int | None = 0,
        order: Sequence[int] | None = None,
        schedule: str | None = None,
        at: tuple[int, int],
    ) -> Merged | None:
        native = self._ready()
        color = numpy.asarray(color)
        if color.ndim != 3 or color.shape[2] != 4:
            raise ValueError(f"colours have the shape {color.shape}, not (height, width, 4)")
        shape = color.shape[:2]
        if depth is not None:
            depth = numpy.asarray(depth)
            if depth.shape != shape:
                raise ValueError(f"depths have the shape {depth.shape}, and colours {color.shape}")
        if to is not None and to < 0:
            raise ValueError(f"to is {to}: it is a rank, or None")
        merged = native.composite(
            width=shape[1],
            height=shape[0],
            color_type=color.dtype.name,
            depth_type=None if depth is None else depth.dtype.name,
            color=_bytes(color),
            depth=None if depth is None else _bytes(depth),
            operation=operation or ("over" if depth is None else "nearest"),
            schedule=schedule,
            order=None if order is None else list(order),
            to=to,
            at=at,
        )
        if merged is None:
            return None
        first, color_bytes, depth_bytes = merged
        new_color = numpy.frombuffer(color_bytes, color.dtype).reshape(-1, 4)
        new_depth = None if depth is None else numpy.frombuffer(depth_bytes, depth.dtype)
        if to is not None:
            new_color = new_color.reshape(color.shape)
            new_depth = None if new_depth is None else new_depth.reshape(shape)
        return Merged(new_color, new_depth, first)

    def draw(
        self,
        function: Callable[..., object],
        shape: tuple[int, int],
        color: Any = numpy.uint8,
        depth: Any = None,
        **terms: Any,
    ) -> Merged | None:
        """Has `function` draw this process's picture, and composites it.

        `shape` is (height, width). `function(color)` gets an array of zeros of the type `color`;
        with a type of depths it is `function(color, depth)`, and all depths are the largest that
        there is. `terms` are those of `composite`. If `function` raises an exception, the caller
        gets it, the other processes get LostError, and every process must close its compositor.
        """
        picture = _blank(shape, color, depth)
        with self._or_give_up():
            self._call(function, *picture)
        return self.composite(*picture, **terms)

    def draw_tiles(
        self,
        function: Callable[..., object],
        shape: tuple[int, int],
        tiles: Sequence[Tile],
        color: Any = numpy.uint8,
        depth: Any = None,
        **terms: Any,
    ) -> list[tuple[Tile, Merged]]:
        """Has `function` draw a large picture tile by tile, and composites each tile.

        `shape` is (height, width) of the large picture, which no process needs memory for. All
        processes give the same tiles, which may overlap. `function(tile, color)` draws this
        process's share of a tile, or `function(tile, color, depth)` with a type of depths, as for
        `draw`. It is not called where `order` leaves this process out.

        Returns the tiles that are for this process, without those of width or height 0. `terms` are
        those of `composite`, except `to`, which each tile has. Wrong `tiles` and names of `terms`
        raise ValueError or TypeError before anything is drawn. After any later exception, close
        this compositor; the other processes get an error, too.
        """
        height, width = shape
        for tile in tiles:
            if min(tile[:4]) < 0 or tile.x + tile.width > width or tile.y + tile.height > height:
                raise ValueError(f"{tile} is not within a picture of {width} by {height} pixels")
            if not 0 <= tile.to < self._size:
                raise ValueError(f"{tile} is for a rank that the job of {self._size} does not have")
        unknown = terms.keys() - {"operation", "order", "schedule"}
        if unknown:
            raise TypeError(f"draw_tiles has no argument {unknown.pop()!r}")
        order = terms.get("order")
        draws = order is None or self._rank in order
        shown = []
        with self._or_give_up():
            for tile in tiles:
                picture = _blank((tile.height, tile.width), color, depth)
                if draws:
                    self._call(function, tile, *picture)
                merged = self._composite(*picture, to=tile.to, at=(tile.x, tile.y), **terms)
                if merged is not None:
                    shown.append((tile, merged))
        return shown

    @contextlib.contextmanager
    def _or_give_up(self) -> Iterator[None]:
        """Tells the other processes of an exception: this one composites no more."""
        native = self._ready()
        try:
            yield
        except BaseException:
            native.give_up()
            raise

    def _ready(self) -> _native.Compositor:
        if self._native is None:
            raise ValueError("the compositor is closed")
        if self._is_drawing:
            raise RuntimeError("a function that draws for a compositor must not use it")
        return self._native

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        self._ready()
        self._is_drawing = True
        try:
            function(*arguments)
        finally:
            self._is_drawing = False

    def close(self) -> None:
        """Frees the compositor's memory. Arrays that it has returned stay valid."""
        self._native = None

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
    """The ranks of boxes of data from front to back: the `order` for blending them.

    Each brick is `(rank, min, max)`: a box with faces along the axes, by the corners with the
    smallest and the largest coordinates. A rank may have several bricks. `eye` is the position of
    the eye in the same coordinates. For a parallel projection, pass `direction` instead: from the
    eye into the scene. Ranks without bricks are left out, because they have nothing to show.

    Raises ValueError if there is no such order: bricks of different ranks overlap, or several
    ranks hide each other in turn.
    """
    if (eye is None) == (direction is None):
        raise ValueError("pass either eye or direction")
    seen = [float(number) for number in (direction if eye is None else eye)]
    if len(seen) != 3:
        raise ValueError(f"eye or direction has {len(seen)} coordinates, not 3")
    corners = []
    for rank, smallest, largest in bricks:
        if len(smallest) != 3 or len(largest) != 3:
            raise ValueError(f"a corner of a brick of rank {rank} has not 3 coordinates")
        corners.append((rank, [float(at) for at in smallest], [float(at) for at in largest]))
    return _native.front_to_back((seen[0], seen[1], seen[2]), eye is None, corners)

def _blank(shape: tuple[int, int], color: Any, depth: Any) -> list[numpy.ndarray]:
    """A picture that shows nothing: colours, and depths if they have a type."""
    picture = [numpy.zeros((*shape, 4), color)]
    if depth is not None:
        kind = numpy.dtype(depth)
        farthest = numpy.inf if kind.kind == "f" else numpy.iinfo(kind).max
        picture.append(numpy.full(shape, farthest, kind))
    return picture


def _bytes(array: numpy.ndarray) -> numpy.ndarray:
    if not array.dtype.isnative:
        raise ValueError(f"{array.dtype} is not in this machine's byte order")
    return numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)
