/* Shows a picture to a viewer until a line comes. Its upper half is red, and its lower half blue.
 *
 * usage: viewing ADDRESS */
#include "../examples/check.h"

#include <poll.h>
#include <string.h>

#define WIDTH 96
#define HEIGHT 64

int main(int argc, char **argv)
{
    static unsigned char pixels[WIDTH * HEIGHT][4];
    if (argc < 2)
        return 1;
    mgn_outlet outlet;
    CHECK(mgn_init());
    if (mgn_outlet_viewer("nowhere", NULL, 0, &outlet) != MGN_ERR_ARGUMENT
        || mgn_outlet_viewer(argv[1], NULL, 65536, &outlet) != MGN_ERR_ARGUMENT
        || mgn_outlet_viewer("tls:localhost:9", "/nonexistent/token", 0, &outlet) != MGN_ERR_OUTLET) {
        fprintf(stderr, "%s\n", mgn_last_error());
        return 1;
    }
    CHECK(mgn_outlet_viewer(argv[1], NULL, 0, &outlet));
    for (int n = 0; n < WIDTH * HEIGHT; n++) {
        unsigned char upper[4] = {230, 20, 20, 255}, lower[4] = {20, 20, 230, 255};
        /* The lowest row is the first one. */
        memcpy(pixels[n], n < WIDTH * HEIGHT / 2 ? lower : upper, 4);
    }
    mgn_picture picture = {.width = WIDTH, .height = HEIGHT, .direction = MGN_BOTTOM_UP, .pixels = pixels};
    struct pollfd input = {.fd = 0, .events = POLLIN};
    do
        CHECK(mgn_outlet_show(outlet, &picture));
    while (poll(&input, 1, 20) == 0);
    if (CHECK(mgn_outlet_is_closed(outlet)))
        return 1;
    CHECK(mgn_outlet_close(outlet));
    CHECK(mgn_finalize());
    return 0;
}
