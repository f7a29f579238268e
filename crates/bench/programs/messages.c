/* Messages between two MPI processes, measured in the same way as `src/net/` measures Manganese's
 * messages. The tests are described there. */
#include <math.h>
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

/* If the test does not use the contents, all messages share one buffer on each side, as in other
 * benchmarks. */
static void stream(long count, int both, int fresh)
{
    MPI_Request requests[2 * WINDOW];
    while (count--) {
        int begun = 0;
        if (both || rank == 1) {
            for (int i = 0; i < window; i++)
                MPI_Irecv(in[fresh ? i : 0], size, MPI_CHAR, !rank, DATA, MPI_COMM_WORLD, &requests[begun++]);
        }
        if (both || rank == 0) {
            for (int i = 0; i < window; i++) {
                if (fresh)
                    memset(out[i], (int)count, size);
                MPI_Isend(out[fresh ? i : 0], size, MPI_CHAR, !rank, DATA, MPI_COMM_WORLD, &requests[begun++]);
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
        MPI_Status statuses[2];
        MPI_Irecv(in[0], size, MPI_CHAR, !rank, DATA, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out[0], size, MPI_CHAR, !rank, DATA, MPI_COMM_WORLD, &requests[1]);
        spin(compute);
        double start = now();
        MPI_Waitall(2, requests, statuses);
        waited += now() - start;
    }
}

/* Rank 0's order to the other process: the number of repetitions, and the computing time. */
struct order {
    long count;
    double compute;
};

/* Whether the test has only one message in flight in each direction. */
static int is_single(const char *test)
{
    return strcmp(test, "overlap") == 0 || strcmp(test, "sweep") == 0 || strcmp(test, "exchange") == 0;
}

static void obey(const char *test, struct order order)
{
    waited = 0;
    if (strcmp(test, "latency") == 0)
        latency(order.count);
    else if (is_single(test))
        overlap(order.count, order.compute);
    else
        stream(order.count, strcmp(test, "both") == 0, strcmp(test, "fresh") == 0);
}

struct best {
    double took, waited;
};

/* The seconds of the fastest repetitions, and the waiting time in them. Groups that are too short
 * to be measured are warm-up. */
static struct best lead(const char *test, double seconds, double compute)
{
    struct best best = {1e9, 0};
    struct order order = {1, compute};
    double spent = 0, least = seconds / 8 < .02 ? seconds / 8 : .02;
    for (int counted = 0; spent < seconds || counted < 3;) {
        MPI_Bcast(&order, sizeof order, MPI_CHAR, 0, MPI_COMM_WORLD);
        double begun = now();
        obey(test, order);
        double took = now() - begun;
        if (took < least) {
            order.count *= 2;
            continue;
        }
        spent += took;
        counted++;
        if (took / order.count < best.took)
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

/* Sends the CPU seconds of all processes so far to rank 0. */
static void gather_cpu(double *all)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    MPI_Gather(&cpu, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static int compare(const void *one, const void *other)
{
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

/* Percentiles of individual repetitions, each of which takes about `each` seconds. All of them
 * together take about `seconds`. A percentile with too few repetitions is not a number. */
static void timed(const char *test, double seconds, double each, double *percentiles)
{
    static double times[2000];
    static const double shares[] = {.5, .9, .99, .999, 1};
    int count = seconds / each + 1 < 2000 ? seconds / each + 1 : 2000;
    struct order order = {count, 0}, once = {1, 0};
    MPI_Bcast(&order, sizeof order, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        double begun = now();
        obey(test, once);
        times[i] = now() - begun;
    }
    qsort(times, count, sizeof *times, compare);
    for (int i = 0; i < 5; i++) {
        int rank = ceil(shares[i] * count - 1e-9);
        percentiles[i] = rank < count || shares[i] == 1 ? times[rank - 1] : NAN;
    }
}

/* Measures messages of one size, and prints the result. */
static void report(const char *test, double seconds)
{
    static double before[2];
    static const double times[] = {.5, 2, 4, 10};
    static const double sweep[] = {1e-5, 3e-5, 1e-4, 3e-4, 5e-4, 1e-3, 2e-3, 5e-3};
    double figures[17];
    int count = 0;
    if (strcmp(test, "overlap") == 0) {
        double part = seconds / 5, transfer = lead(test, part, 0).took;
        figures[count++] = transfer;
        for (int i = 0; i < 4; i++)
            figures[count++] = lead(test, part, times[i] * transfer).waited;
    } else if (strcmp(test, "sweep") == 0) {
        figures[count++] = lead(test, seconds / 9, 0).took;
        for (int i = 0; i < 8; i++) {
            struct best best = lead(test, seconds / 9, sweep[i]);
            figures[count++] = best.took;
            figures[count++] = best.waited;
        }
    } else {
        figures[count++] = lead(test, seconds, 0).took;
    }
    double percentiles[5];
    int is_timed = strcmp(test, "latency") == 0 || strcmp(test, "exchange") == 0;
    if (is_timed)
        timed(test, seconds, figures[0], percentiles);
    struct order end = {0, 0};
    MPI_Bcast(&end, sizeof end, MPI_CHAR, 0, MPI_COMM_WORLD);
    double cpu[2];
    gather_cpu(cpu);
    printf("window %d cpu %.4f %.4f seconds", window, cpu[0] - before[0], cpu[1] - before[1]);
    for (int i = 0; i < count; i++)
        printf(" %.9f", figures[i]);
    printf(" percentiles");
    for (int i = 0; is_timed && i < 5; i++)
        printf(" %.9f", percentiles[i]);
    printf("\n");
    memcpy(before, cpu, sizeof before);
}

/* Makes the buffers for sending and receiving messages of this size. */
static void prepare(const char *test, long wanted)
{
    for (int i = 0; i < window; i++) {
        free(out[i]);
        free(in[i]);
    }
    size = wanted;
    window = is_single(test) || strcmp(test, "latency") == 0 ? 1 : size > 4 << 20 ? 2 : size > 64 << 10 ? 8 : WINDOW;
    for (int i = 0; i < window; i++) {
        out[i] = malloc(size + 1);
        in[i] = malloc(size + 1);
        memset(out[i], 1, size + 1);
        memset(in[i], 1, size + 1);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 4) {
        fprintf(stderr, "usage: messages TEST SIZE,... SECONDS\n");
        return 2;
    }
    for (char *one = strtok(argv[2], ","); one; one = strtok(NULL, ",")) {
        prepare(argv[1], atol(one));
        if (rank == 0)
            report(argv[1], atof(argv[3]));
        else {
            follow(argv[1]);
            gather_cpu(NULL);
        }
    }
    MPI_Finalize();
    return 0;
}
