"""Several processes draw one picture: each draws some of eight balls, with their depths. The
picture is the same for any number of processes. Rank 0 writes it as a PPM file; with --window, it
also shows it until the user closes the window.

usage: mpiexec -n 4 python3 balls.py FILE [--mpi] [--window]

With --mpi the processes find each other by mpi4py.
"""

import sys
import time

import manganese
import numpy

SHAPE = HEIGHT, WIDTH = 480, 640
BALLS = 8
RADIUS = 90.0


def draw_ball(ball: int, color: numpy.ndarray, depth: numpy.ndarray) -> None:
    angle = ball * 2 * numpy.pi / BALLS
    centre = 320 + 140 * numpy.cos(angle), 240 + 60 * numpy.sin(angle)
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    squared = ((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / RADIUS**2
    height = numpy.sqrt(numpy.clip(1 - squared, 0, None))
    distance = (300 + 100 * numpy.sin(angle) - RADIUS * height).astype(numpy.float32)
    is_nearer = (squared < 1) & (distance < depth)
    depth[is_nearer] = distance[is_nearer]
    light = (0.2 + 0.8 * height)[is_nearer]
    for channel in range(3):
        color[is_nearer, channel] = light * ((ball + 1) * (channel + 3) * 40 % 256)
    color[is_nearer, 3] = 255


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument not in ("--mpi", "--window")]
    if len(arguments) != 1:
        sys.exit(__doc__)
    comm = None
    if "--mpi" in sys.argv:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    with manganese.Job(comm) as job, job.compositor() as compositor:

        def draw(color: numpy.ndarray, depth: numpy.ndarray) -> None:
            for ball in range(job.rank, BALLS, job.size):
                draw_ball(ball, color, depth)

        outlet = None
        if job.rank == 0 and "--window" in sys.argv:
            outlet = manganese.Outlet.window("Balls")
            compositor.attach(outlet)
        merged = compositor.draw(draw, SHAPE, depth=numpy.float32)
        if merged is not None:
            with open(arguments[0], "wb") as file:
                file.write(b"P6 %d %d 255\n" % (WIDTH, HEIGHT))
                file.write(merged.color[:, :, :3].tobytes())
        while outlet is not None and not outlet.is_closed:
            time.sleep(0.05)


if __name__ == "__main__":
    main()
