/* On how many hosts the processes of a job are, as their compositor sees it. They composite by depth
 * and by blending, and the process that gets a picture compares it with arithmetic in doubles. */
#include "../examples/check.h"

#include <math.h>

#define WIDTH 320
#define HEIGHT 200
#define PIXELS (WIDTH * HEIGHT)

static unsigned hash(unsigned rank, unsigned at)
{
    unsigned h = (rank * 2654435761u ^ at) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

/* What a rank shows at a place: colours that are premultiplied, and a depth. */
static void pixel(unsigned rank, unsigned at, unsigned char rgba[4], float *depth)
{
    unsigned h = hash(rank, at);
    rgba[3] = h >> 24;
    for (int i = 0; i < 3; i++)
        rgba[i] = (h >> 8 * i & 255) * rgba[3] / 255;
    *depth = (hash(rank + 100, at) >> 8) / 16777216.0f;
}

static void compare(const mgn_merged *merged, int is_depth)
{
    const unsigned char *color = merged->color;
    const float *depth = merged->depth;
    for (unsigned at = 0; at < PIXELS; at++) {
        double wanted[4] = {0}, through = 1;
        float nearest = INFINITY;
        for (int rank = 0; rank < mgn_size(); rank++) {
            unsigned char rgba[4];
            float own;
            pixel(rank, at, rgba, &own);
            if (is_depth && own >= nearest)
                continue;
            nearest = own;
            for (int i = 0; i < 4; i++)
                wanted[i] = is_depth ? rgba[i] : wanted[i] + through * rgba[i];
            through *= 1 - rgba[3] / 255.0;
        }
        int is_right = !is_depth || depth[at] == nearest;
        for (int i = 0; i < 4; i++) {
            double off = fabs(color[4 * at + i] - wanted[i]);
            is_right = is_right && (is_depth ? off == 0 : off < 1);
        }
        if (!is_right) {
            fprintf(stderr, "pixel %u is wrong, by %s\n", at, is_depth ? "depth" : "blending");
            exit(1);
        }
    }
}

int main(void)
{
    static unsigned char color[PIXELS][4];
    static float depth[PIXELS];
    mgn_compositor compositor;
    CHECK(mgn_init());
    CHECK(mgn_compositor_open(20000, &compositor));
    for (unsigned at = 0; at < PIXELS; at++)
        pixel(mgn_rank(), at, color[at], &depth[at]);
    const char *schedules[] = {NULL, "direct", "binary-swap", "tree-2"};
    for (int number = 0; number < 16; number++) {
        int is_depth = number % 2;
        mgn_composition composition = {
            .width = WIDTH,
            .height = HEIGHT,
            .depth = is_depth ? MGN_DEPTH_FLOAT : MGN_DEPTH_NONE,
            .operation = is_depth ? MGN_NEAREST : MGN_OVER,
            .to = number / 2 % 2 ? mgn_size() - 1 : 0,
            .schedule = schedules[number / 4],
        };
        mgn_merged merged;
        CHECK(mgn_composite(compositor, &composition, color, is_depth ? depth : NULL, &merged));
        if (merged.pixels != (mgn_rank() == composition.to ? PIXELS : 0)) {
            fprintf(stderr, "%d pixels came\n", (int)merged.pixels);
            return 1;
        }
        if (merged.pixels)
            compare(&merged, is_depth);
    }
    printf("%d\n", CHECK(mgn_compositor_hosts(compositor)));
    CHECK(mgn_compositor_close(compositor));
    CHECK(mgn_finalize());
    return 0;
}
