/* On how many hosts the processes of a job are, as their compositor sees it. */
#include "../examples/check.h"

int main(void)
{
    mgn_compositor compositor;
    CHECK(mgn_init());
    CHECK(mgn_compositor_open(20000, &compositor));
    printf("%d\n", CHECK(mgn_compositor_hosts(compositor)));
    CHECK(mgn_compositor_close(compositor));
    CHECK(mgn_finalize());
    return 0;
}
