// A program of MPI that also uses barriers of the library. Each kind of barrier carries the largest
// of the ranks' numbers, and messages of MPI are under way between the barriers.

#include <manganese.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void check(int result, const char *call)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", call, mgn_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"auto", "shm", "udp", "tree"};
    int rank, size, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    char job[65] = "";
    if (rank == 0)
        snprintf(job, sizeof job, "mpi-%ld-%ld", (long)getpid(), (long)time(NULL));
    MPI_Bcast(job, sizeof job, MPI_CHAR, 0, MPI_COMM_WORLD);
    const char *hosts[] = {"here", "here"};
    if (size != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    check(mgn_init_as(job, rank, size, hosts), "mgn_init_as");

    for (uint32_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        mgn_barrier_options options;
        memset(&options, 0, sizeof options);
        options.kind = kinds[kind];
        options.combine = MGN_COMBINE_MAX;
        options.number = kind;
        mgn_barrier barrier;
        check(mgn_barrier_open(&options, 60000, &barrier), "mgn_barrier_open");
        for (int pass = 0; pass < 50; pass++) {
            uint64_t combined = 0, own = (uint64_t)(1000 * pass + (rank + pass) % size);
            check(mgn_barrier_pass(barrier, own, 60000, &combined), "mgn_barrier_pass");
            int from = -1, to = (rank + 1) % size;
            MPI_Sendrecv(&rank, 1, MPI_INT, to, pass, &from, 1, MPI_INT, (rank + size - 1) % size,
                         pass, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (combined != (uint64_t)(1000 * pass + size - 1) || from != (rank + size - 1) % size) {
                fprintf(stderr, "%s: wrong at pass %d\n", kinds[kind], pass);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
        check(mgn_barrier_close(barrier), "mgn_barrier_close");
    }
    printf("rank %d: all is right\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    check(mgn_finalize(), "mgn_finalize");
    MPI_Finalize();
    return 0;
}
