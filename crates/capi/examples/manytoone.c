/* Every process sends lines of its own to rank 0, which takes them as they come, from any process. */
#include "check.h"

#include <string.h>

#define LINES 5

static void collect(int size)
{
    int seen[size];
    memset(seen, 0, sizeof seen);
    for (int left = (size - 1) * LINES; left > 0; left--) {
        /* Where the message lies: nothing is copied. */
        mgn_message message;
        mgn_status status;
        const void *data;
        CHECK(mgn_take(MGN_ANY, 7, 0, 10000, &data, &status, &message));
        int from = CHECK(mgn_rank_of(status.conn));
        printf("from %d: %.*s\n", from, (int)status.length, (const char *)data);
        seen[from]++;
        CHECK(mgn_release(message));
    }
    for (int rank = 1; rank < size; rank++)
        if (seen[rank] != LINES) {
            fprintf(stderr, "%d lines from %d\n", seen[rank], rank);
            exit(1);
        }
}

int main(void)
{
    CHECK(mgn_init());
    int rank = CHECK(mgn_rank()), size = CHECK(mgn_size());
    if (rank == 0) {
        collect(size);
    } else {
        mgn_conn root;
        CHECK(mgn_open(NULL, 0, 10000, &root));
        for (int line = 0; line < LINES; line++) {
            char number[16];
            snprintf(number, sizeof number, "%d", line);
            /* One message of two pieces. */
            struct iovec pieces[] = {{"line ", 5}, {number, strlen(number)}};
            mgn_request request;
            CHECK(mgn_isend(root, 7, pieces, 2, MGN_SYNC, &request));
            CHECK(mgn_wait(&request, 10000, NULL));
        }
    }
    CHECK(mgn_finalize());
    return 0;
}
