/* Several processes draw one picture: each draws some of eight balls, with their depths, and the
 * library takes the nearest ball for each pixel. The picture is the same for any number of
 * processes. Rank 0 writes it as a PPM file.
 *
 * usage: composite FILE [FRAMES] */
#include "balls.h"

int main(int argc, char **argv)
{
    int frames = argc > 2 ? atoi(argv[2]) : 1;
    if (argc < 2 || frames < 1) {
        fprintf(stderr, "usage: composite FILE [FRAMES]\n");
        return 1;
    }
    CHECK(mgn_init());
    int rank = CHECK(mgn_rank()), size = CHECK(mgn_size()), failed = 0;
    mgn_compositor compositor;
    CHECK(mgn_compositor_open(10000, &compositor));
    mgn_composition composition = {
        .width = WIDTH,
        .height = HEIGHT,
        .color = MGN_RGBA8,
        .depth = MGN_DEPTH_FLOAT,
        .operation = MGN_NEAREST,
        .to = 0,
    };
    mgn_rectangle whole = {.width = WIDTH, .height = HEIGHT};
    for (int frame = 0; frame < frames; frame++) {
        void *memory[2];
        CHECK(mgn_composite_draw(compositor, &composition, &memory[0], &memory[1]));
        draw_share(rank, size, frame, &whole, memory[0], memory[1]);
        mgn_merged merged;
        CHECK(mgn_composite_drawn(compositor, &composition, NULL, &merged));
        if (rank == 0 && frame == frames - 1)
            failed = write_picture(argv[1], WIDTH, HEIGHT, merged.color);
    }
    CHECK(mgn_compositor_close(compositor));
    CHECK(mgn_finalize());
    return failed;
}
