/* All processes pass a barrier some thousand times, and rank 0 says how long that took. In a part
 * of the passes a process works between its arrival and its wait.
 *
 * usage: barrier [KIND [PASSES]] */
#include "check.h"

#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(int argc, char **argv)
{
    int passes = argc > 2 ? atoi(argv[2]) : 1000;
    CHECK(mgn_init());
    int rank = CHECK(mgn_rank()), size = CHECK(mgn_size());
    mgn_barrier barrier;
    mgn_barrier_options options = {
        .kind = argc > 1 ? argv[1] : NULL,
        .combine = MGN_COMBINE_MAX,
    };
    CHECK(mgn_barrier_open(&options, 10000, &barrier));
    double start = now();
    for (int pass = 0; pass < passes; pass++) {
        uint64_t largest;
        CHECK(mgn_barrier_pass(barrier, pass + rank, 10000, &largest));
        if (largest != (uint64_t)(pass + size - 1)) {
            fprintf(stderr, "pass %d gave %llu\n", pass, (unsigned long long)largest);
            return 1;
        }
    }
    double took = now() - start;
    for (int pass = 0; pass < 10; pass++) {
        CHECK(mgn_barrier_arrive(barrier, rank));
        /* Work that the others need not wait for. */
        CHECK(mgn_barrier_wait(barrier, 10000, NULL));
    }
    if (rank == 0)
        printf("%d processes: %.2f us for each pass\n", size, 1e6 * took / passes);
    CHECK(mgn_barrier_close(barrier));
    CHECK(mgn_finalize());
    return 0;
}
