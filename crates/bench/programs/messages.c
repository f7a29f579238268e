/* Messages between two MPI processes, measured as `src/messages/` measures Manganese's: see there for what the tests are. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { WINDOW = 64, DATA = 1, ACK = 2, CONTROL = 3 };

static int rank, window;
static long size;
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

static void overlap(long count, double compute)
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

/* What rank 0 asks of the other one: how often, computing for how long. */
struct order {
    long count;
    double compute;
};

static void obey(const char *test, struct order order)
{
    waited = 0;
    if (strcmp(test, "latency") == 0)
        latency(order.count);
    else if (strcmp(test, "overlap") == 0)
        overlap(order.count, order.compute);
    else
        stream(order.count, strcmp(test, "both") == 0, strcmp(test, "fresh") == 0);
}

struct best {
    double took, waited;
};

/* Seconds of the best repetitions, and of them those spent waiting. */
static struct best lead(const char *test, double seconds, double compute)
{
    struct best best = {1e9, 0};
    struct order order = {1, compute};
    double start = now();
    while (best.took == 1e9 || now() - start < seconds) {
        MPI_Bcast(&order, sizeof order, MPI_CHAR, 0, MPI_COMM_WORLD);
        double begun = now();
        obey(test, order);
        double took = now() - begun;
        if (took < (seconds < .08 ? seconds / 4 : .02))
            order.count *= 2;
        else if (took / order.count < best.took)
            best = (struct best){took / order.count, waited / order.count};
    }
    return best;
}

static void follow(const char *test)
{
    for (struct order order;;) {
        MPI_Bcast(&order, sizeof order, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (order.count == 0)
            return;
        obey(test, order);
    }
}

/* Tells rank 0 the CPU seconds of all processes so far. */
static void gather_cpu(double *all)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    MPI_Gather(&cpu, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void report(const char *test, double seconds)
{
    static const double times[] = {.5, 2, 4, 10};
    double figures[6];
    int count = 0;
    if (strcmp(test, "overlap") == 0) {
        double part = seconds / 6, transfer = lead(test, part, 0).took;
        figures[count++] = transfer;
        for (int i = 0; i < 4; i++)
            figures[count++] = lead(test, part, times[i] * transfer).waited;
        figures[count++] = lead(test, part, 1e-3).took;
    } else {
        figures[count++] = lead(test, seconds, 0).took;
    }
    struct order end = {0, 0};
    MPI_Bcast(&end, sizeof end, MPI_CHAR, 0, MPI_COMM_WORLD);
    double cpu[2];
    gather_cpu(cpu);
    printf("window %d cpu %.3f %.3f seconds", window, cpu[0], cpu[1]);
    for (int i = 0; i < count; i++)
        printf(" %.9f", figures[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 4) {
        fprintf(stderr, "usage: messages TEST SIZE SECONDS\n");
        return 2;
    }
    const char *test = argv[1];
    size = atol(argv[2]);
    double seconds = atof(argv[3]);
    window = strcmp(test, "latency") == 0 || strcmp(test, "overlap") == 0 ? 1 : size > 4 << 20 ? 2 : size > 64 << 10 ? 8 : WINDOW;
    for (int i = 0; i < window; i++) {
        out[i] = calloc(size + 1, 1);
        in[i] = calloc(size + 1, 1);
        memset(out[i], 1, size + 1);
        memset(in[i], 1, size + 1);
    }
    if (rank == 0)
        report(test, seconds);
    else {
        follow(test);
        gather_cpu(NULL);
    }
    MPI_Finalize();
    return 0;
}
