/* Messages between two MPI processes, measured as `messages.rs` measures Manganese's: see there for what the tests are. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { WINDOW = 64, DATA = 1, ACK = 2, CONTROL = 3 };

static int rank, window;
static long size;
static double compute;
static char *out[WINDOW], *in[WINDOW];
static volatile unsigned long sink;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void spin(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        ;
}

static void read_all(const char *bytes)
{
    unsigned long sum = 0;
    for (long at = 0; at + 8 <= size; at += 8)
        sum += *(const unsigned long *)(bytes + at);
    sink = sum;
}

static void ack(void)
{
    char byte = 0;
    if (rank == 0)
        MPI_Recv(&byte, 1, MPI_CHAR, 1, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&byte, 1, MPI_CHAR, 0, ACK, MPI_COMM_WORLD);
}

static void latency(long count)
{
    while (count--) {
        if (rank == 0) {
            MPI_Send(out[0], size, MPI_CHAR, 1, DATA, MPI_COMM_WORLD);
            MPI_Recv(in[0], size, MPI_CHAR, 1, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in[0], size, MPI_CHAR, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out[0], size, MPI_CHAR, 0, DATA, MPI_COMM_WORLD);
        }
    }
}

static void stream(long count, int both, int fresh)
{
    MPI_Request requests[2 * WINDOW];
    while (count--) {
        int begun = 0;
        if (both || rank == 1) {
            for (int i = 0; i < window; i++)
                MPI_Irecv(in[i], size, MPI_CHAR, !rank, DATA, MPI_COMM_WORLD, &requests[begun++]);
        }
        if (both || rank == 0) {
            for (int i = 0; i < window; i++) {
                if (fresh)
                    memset(out[i], (int)count, size);
                MPI_Isend(out[i], size, MPI_CHAR, !rank, DATA, MPI_COMM_WORLD, &requests[begun++]);
            }
        }
        for (int i = 0; i < begun; i++) {
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            if (fresh && rank == 1)
                read_all(in[i]);
        }
        ack();
    }
}

static double waited;

static void overlap(long count)
{
    while (count--) {
        MPI_Request requests[2];
        MPI_Irecv(in[0], size, MPI_CHAR, !rank, DATA, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out[0], size, MPI_CHAR, !rank, DATA, MPI_COMM_WORLD, &requests[1]);
        spin(compute);
        double start = now();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        waited += now() - start;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 4) {
        fprintf(stderr, "usage: messages TEST SIZE SECONDS [COMPUTE]\n");
        return 2;
    }
    const char *test = argv[1];
    size = atol(argv[2]);
    double seconds = atof(argv[3]);
    compute = argc > 4 ? atof(argv[4]) : 0;
    window = size > 4 << 20 ? 2 : size > 64 << 10 ? 8 : WINDOW;
    for (int i = 0; i < window; i++) {
        out[i] = calloc(size + 1, 1);
        in[i] = calloc(size + 1, 1);
        memset(out[i], 1, size + 1);
        memset(in[i], 1, size + 1);
    }
    double start = now(), best = 1e9, waits = 1e9, begun;
    long count = 1;
    do {
        MPI_Bcast(&count, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        if (count == 0)
            break;
        waited = 0;
        begun = now();
        if (strcmp(test, "latency") == 0)
            latency(count);
        else if (strcmp(test, "overlap") == 0)
            overlap(count);
        else
            stream(count, strcmp(test, "both") == 0, strcmp(test, "fresh") == 0);
        double took = now() - begun;
        if (rank == 0) {
            if (took < .02)
                count *= 2;
            else if (took / count < best) {
                best = took / count;
                waits = waited / count;
            }
            if (now() - start > seconds)
                count = 0;
        }
    } while (1);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6, all;
    MPI_Reduce(&cpu, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9f window %d waited %.9f cpu %.3f\n", best, window, waits, all);
    MPI_Finalize();
    return 0;
}
