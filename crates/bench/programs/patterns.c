/* Patterns of messages between all MPI processes, measured in the same way as
 * `src/suites/pattern.rs` measures Manganese's messages. Prints the seconds of one step for each
 * pattern and size: `PATTERN SIZE SECONDS`. In a step, each process sends and receives the messages
 * of the pattern. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, DATA = 1 };

static int rank, all;
static int to[MOST], from[MOST], to_count, from_count;
static char *out[MOST], *in[MOST];

/* Chooses the ranks that this process sends to, and the ranks that it receives from. */
static void choose(const char *pattern, unsigned seed)
{
    to_count = from_count = 0;
    if (strcmp(pattern, "all-to-all") == 0) {
        for (int other = 0; other < all; other++)
            if (other != rank)
                to[to_count++] = from[from_count++] = other;
    } else if (strcmp(pattern, "ring") == 0) {
        to[to_count++] = (rank + 1) % all;
        from[from_count++] = (rank + all - 1) % all;
    } else if (strcmp(pattern, "hot-spot") == 0) {
        if (rank > 0)
            to[to_count++] = 0;
        for (int other = 1; rank == 0 && other < all; other++)
            from[from_count++] = other;
    } else {
        int order[MOST], place = 0;
        for (int i = 0; i < all; i++)
            order[i] = i;
        srand(seed);
        for (int i = all - 1; i > 0; i--) {
            int j = rand() % (i + 1), other = order[i];
            order[i] = order[j];
            order[j] = other;
        }
        while (order[place] != rank)
            place++;
        if ((place ^ 1) < all)
            to[to_count++] = from[from_count++] = order[place ^ 1];
    }
}

static double steps(long count, int size)
{
    MPI_Request requests[2 * MOST];
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    while (count--) {
        int used = 0;
        for (int i = 0; i < from_count; i++)
            MPI_Irecv(in[i], size, MPI_CHAR, from[i], DATA, MPI_COMM_WORLD, &requests[used++]);
        for (int i = 0; i < to_count; i++)
            MPI_Isend(out[i], size, MPI_CHAR, to[i], DATA, MPI_COMM_WORLD, &requests[used++]);
        for (int i = 0; i < used; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    double took = MPI_Wtime() - begun, longest;
    MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

int main(int argc, char **argv)
{
    static const char *patterns[] = {"all-to-all", "ring", "random-pairs", "hot-spot"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (argc < 4 || all > MOST) {
        fprintf(stderr, "usage: patterns SIZE,... SECONDS SEED, with at most %d processes\n", MOST);
        return 2;
    }
    double seconds = atof(argv[2]);
    for (char *one = strtok(argv[1], ","); one; one = strtok(NULL, ",")) {
        int size = atoi(one);
        for (int i = 0; i < all; i++) {
            out[i] = calloc(size, 1);
            in[i] = calloc(size, 1);
            memset(out[i], 1, size);
            memset(in[i], 1, size);
        }
        for (int i = 0; i < 4; i++) {
            choose(patterns[i], atoi(argv[3]));
            long count = 1;
            double took;
            /* The first step touches new memory. */
            steps(1, size);
            while ((took = steps(count, size)) < seconds)
                count *= 2;
            if (rank == 0)
                printf("%s %d %.9f\n", patterns[i], size, took / count);
        }
        for (int i = 0; i < all; i++) {
            free(out[i]);
            free(in[i]);
        }
    }
    MPI_Finalize();
    return 0;
}
