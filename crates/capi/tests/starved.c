/* A receive that is stuck behind messages that the program does not receive. MGN_ENVELOPES says how many may wait. */
#include "../examples/check.h"

#define PATIENCE 20000
#define MANY 20

int main(void)
{
    mgn_conn conn;
    mgn_request requests[MANY], hopeless;
    mgn_status status;
    char byte = 7;
    struct iovec piece = {&byte, 1};
    CHECK(mgn_init());
    CHECK(mgn_open(NULL, 1 - mgn_rank(), PATIENCE, &conn));
    if (mgn_rank() == 0) {
        for (int i = 0; i < MANY; i++)
            CHECK(mgn_isend(conn, 1, &piece, 1, 0, &requests[i]));
        for (int i = 0; i < MANY; i++)
            CHECK(mgn_wait(&requests[i], PATIENCE, NULL));
        CHECK(mgn_recv(conn, &byte, 1, &status));
    } else {
        CHECK(mgn_irecv(conn, 2, 0, &piece, 1, &hopeless));
        int result = mgn_wait(&hopeless, PATIENCE, &status);
        printf("%s: %s\n", mgn_strerror(result), mgn_last_error());
        for (int i = 0; i < MANY; i++) {
            CHECK(mgn_irecv(conn, 1, 0, &piece, 1, &hopeless));
            CHECK(mgn_wait(&hopeless, PATIENCE, &status));
        }
        CHECK(mgn_send(conn, &byte, 1));
    }
    CHECK(mgn_finalize());
    return 0;
}
