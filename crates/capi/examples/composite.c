/* Several processes draw one picture: each draws some of eight balls, with their depths, and the
 * library takes the nearest ball for each pixel. The picture is the same for any number of
 * processes. Rank 0 writes it as a PPM file.
 *
 * usage: composite FILE [FRAMES] */
#include "check.h"

#include <string.h>

#define WIDTH 640
#define HEIGHT 480
#define BALLS 8

/* Round, without the square root of a real one. */
static void draw_ball(int ball, int frame, unsigned char (*color)[4], float *depth)
{
    static const int places[BALLS][3] = {
        {460, 240, 300}, {419, 282, 370}, {320, 300, 400}, {221, 282, 370},
        {180, 240, 300}, {221, 198, 230}, {320, 180, 200}, {419, 198, 230},
    };
    const float radius = 90;
    float x = places[ball][0] + frame % 50, y = places[ball][1], z = places[ball][2];
    for (int row = 0; row < HEIGHT; row++) {
        for (int column = 0; column < WIDTH; column++) {
            float dx = (column - x) / radius, dy = (row - y) / radius;
            float height = 1 - dx * dx - dy * dy, distance = z - radius * height;
            int pixel = row * WIDTH + column;
            if (height <= 0 || distance >= depth[pixel])
                continue;
            float light = 0.2f + 0.8f * height;
            depth[pixel] = distance;
            for (int channel = 0; channel < 3; channel++)
                color[pixel][channel] = (unsigned char)(light * ((ball + 1) * (channel + 3) * 40 % 256));
            color[pixel][3] = 255;
        }
    }
}

static int write_picture(const char *path, const unsigned char *pixels)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file, "P6 %d %d 255\n", WIDTH, HEIGHT);
    for (int pixel = 0; pixel < WIDTH * HEIGHT; pixel++)
        fwrite(pixels + 4 * pixel, 3, 1, file);
    if (fclose(file) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

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
    for (int frame = 0; frame < frames; frame++) {
        void *memory[2];
        CHECK(mgn_composite_draw(compositor, &composition, &memory[0], &memory[1]));
        unsigned char (*color)[4] = memory[0];
        float *depth = memory[1];
        memset(color, 40, WIDTH * HEIGHT * sizeof *color);
        for (int pixel = 0; pixel < WIDTH * HEIGHT; pixel++)
            depth[pixel] = 1e9f;
        for (int ball = rank; ball < BALLS; ball += size)
            draw_ball(ball, frame, color, depth);
        mgn_merged merged;
        CHECK(mgn_composite_drawn(compositor, &composition, NULL, &merged));
        if (rank == 0 && frame == frames - 1)
            failed = write_picture(argv[1], merged.color);
    }
    CHECK(mgn_compositor_close(compositor));
    CHECK(mgn_finalize());
    return failed;
}
