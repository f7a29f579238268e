/* Every process sends a block to every one, itself, too. All sends and receives are under way at once. */
#include "check.h"

#include <string.h>

#define LENGTH 100000

int main(void)
{
    CHECK(mgn_init());
    int rank = CHECK(mgn_rank()), size = CHECK(mgn_size());
    mgn_request requests[2 * size];
    char *out = malloc((size_t)size * LENGTH), *in = malloc((size_t)size * LENGTH);
    if (!out || !in)
        return 1;
    for (int other = 0; other < size; other++) {
        mgn_conn conn;
        CHECK(mgn_open(NULL, other, 10000, &conn));
        memset(out + other * LENGTH, 16 * rank + other, LENGTH);
        struct iovec from = {out + other * LENGTH, LENGTH}, to = {in + other * LENGTH, LENGTH};
        CHECK(mgn_irecv(conn, 1, 0, &to, 1, &requests[other]));
        CHECK(mgn_isend(conn, 1, &from, 1, MGN_SYNC, &requests[size + other]));
    }
    for (;;) {
        size_t index;
        CHECK(mgn_waitany(requests, 2 * size, 10000, &index, NULL));
        if (index == (size_t)(2 * size))
            break;
    }
    for (int other = 0; other < size; other++)
        for (int at = 0; at < LENGTH; at++)
            if (in[other * LENGTH + at] != (char)(16 * other + rank)) {
                fprintf(stderr, "byte %d from %d is wrong\n", at, other);
                return 1;
            }
    printf("rank %d of %d: all is right\n", rank, size);
    free(in);
    free(out);
    CHECK(mgn_finalize());
    return 0;
}
