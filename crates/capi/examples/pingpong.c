/* Two processes send a message to and fro. How long one way takes is printed, a line a length.
 *
 * usage: pingpong [ROUNDS] */
#include "check.h"

#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    static char data[1 << 20], back[1 << 20];
    CHECK(mgn_init());
    int rank = CHECK(mgn_rank());
    if (CHECK(mgn_size()) != 2 || rounds < 1) {
        fprintf(stderr, "pingpong needs two processes, and a round\n");
        return 1;
    }
    mgn_conn conn;
    CHECK(mgn_open(NULL, 1 - rank, 10000, &conn));
    for (size_t length = 1; length <= sizeof data; length *= 32) {
        double start = now();
        for (int round = 0; round < rounds; round++) {
            mgn_status status;
            if (rank == 0) {
                memset(data, round, length);
                CHECK(mgn_send(conn, data, length));
            }
            CHECK(mgn_recv(conn, back, sizeof back, &status));
            if (status.length != length || back[0] != (char)round || back[length - 1] != (char)round) {
                fprintf(stderr, "round %d of %zu bytes is damaged\n", round, length);
                return 1;
            }
            if (rank == 1)
                CHECK(mgn_send(conn, back, length));
        }
        if (rank == 0)
            printf("%7zu bytes: %8.2f us\n", length, (now() - start) / rounds / 2);
    }
    CHECK(mgn_finalize());
    return 0;
}
