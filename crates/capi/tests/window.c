/* Pictures in a window until the user closes it. Says on standard output when each picture can be
 * seen, and goes on when a line comes. The pictures hold the column, the row and the frame.
 *
 * usage: window TITLE [lost]
 *
 * With "lost", the X server ends after the first picture, which is an error of the next ones. */
#include "../examples/check.h"

#include <unistd.h>

#define WIDTH 37
#define HEIGHT 23

/* Each picture is a column wider than the last one. */
static void draw(unsigned char (*to)[4], int width, int frame, int direction)
{
    for (int row = 0; row < HEIGHT; row++) {
        int y = direction == MGN_BOTTOM_UP ? HEIGHT - 1 - row : row;
        for (int x = 0; x < width; x++, to++) {
            (*to)[0] = (unsigned char)(5 * x);
            (*to)[1] = (unsigned char)(7 * y);
            (*to)[2] = (unsigned char)(x * y + 11 * frame);
            (*to)[3] = 255;
        }
    }
}

static void say(const char *what)
{
    char line[8];
    puts(what);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        exit(1);
}

int main(int argc, char **argv)
{
    static unsigned char pixels[(WIDTH + 9) * HEIGHT][4];
    if (argc < 2)
        return 1;
    mgn_outlet outlet;
    CHECK(mgn_init());
    CHECK(mgn_outlet_window(NULL, argv[1], &outlet));
    for (int frame = 1; frame <= 3; frame++) {
        int direction = frame % 2 ? MGN_TOP_DOWN : MGN_BOTTOM_UP, width = WIDTH + frame;
        draw(pixels, width, frame, direction);
        mgn_picture picture = {.width = (uint32_t)width, .height = HEIGHT, .direction = direction, .pixels = pixels};
        if (frame > 1 && argc > 2) {
            int is_gone = mgn_outlet_is_closed(outlet) == 1;
            say(is_gone && mgn_outlet_show(outlet, &picture) == MGN_ERR_OUTLET ? "lost" : "shown");
            continue;
        }
        CHECK(mgn_outlet_show(outlet, &picture));
        say("shown");
    }
    if (argc > 2) {
        CHECK(mgn_outlet_close(outlet));
        CHECK(mgn_finalize());
        return 0;
    }
    /* The user closes it, and the next composited picture raises no error. */
    mgn_compositor compositor;
    mgn_merged merged;
    mgn_composition composition = {.width = WIDTH, .height = HEIGHT};
    CHECK(mgn_compositor_open(1000, &compositor));
    CHECK(mgn_compositor_attach(compositor, outlet, MGN_TOP_DOWN));
    for (int tries = 0; !CHECK(mgn_outlet_is_closed(outlet)) && tries < 3000; tries++)
        usleep(10000);
    CHECK(mgn_composite(compositor, &composition, pixels, NULL, &merged));
    say(CHECK(mgn_outlet_is_closed(outlet)) ? "closed" : "open");
    CHECK(mgn_outlet_close(outlet));
    CHECK(mgn_finalize());
    return 0;
}
