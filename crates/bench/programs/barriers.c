/* A barrier of all MPI processes, measured in the same way as `src/barrier` measures Manganese's
 * barriers. Prints the seconds of a barrier in each batch, on one line. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 2000, TRIES = 3, MOST = 100000 };

static double found[MOST];

int main(int argc, char **argv)
{
    int rank, used = 0, tries = 0;
    long next = 1;
    double begun = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 2) {
        fprintf(stderr, "usage: barriers SECONDS\n");
        return 2;
    }
    double seconds = atof(argv[1]);
    for (;;) {
        long length = next;
        MPI_Bcast(&length, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        if (length == 0)
            break;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (long i = 0; i < length; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        double end = MPI_Wtime();
        next = length;
        if (begun < 0) {
            tries = end - start < seconds / BATCHES ? 0 : tries + 1;
            if (tries == 0)
                next = 2 * length;
            if (tries < TRIES)
                continue;
        }
        if (begun < 0)
            begun = start;
        found[used++] = (end - start) / length;
        if (end - begun >= seconds || used == MOST)
            next = 0;
    }
    for (int i = 0; rank == 0 && i < used; i++)
        printf("%.12f ", found[i]);
    if (rank == 0)
        printf("\n");
    MPI_Finalize();
    return 0;
}
