/* Joins its job, leaves it, and tries to join it again. */
#include "../examples/check.h"

int main(void)
{
    CHECK(mgn_init());
    int rank = CHECK(mgn_rank());
    CHECK(mgn_finalize());
    int result = mgn_init();
    printf("%d: %s\n", rank, result == MGN_OK ? "joined again" : mgn_last_error());
    if (result == MGN_OK)
        CHECK(mgn_finalize());
    return 0;
}
