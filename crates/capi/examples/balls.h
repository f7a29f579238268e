/* The scene of the compositing examples: eight balls, a share of them in each process. */
#include "check.h"

#define WIDTH 640
#define HEIGHT 480
#define BALLS 8

/* Draws one ball into `part` of the picture, row by row. The ball is a smooth bump instead of a
 * sphere, which would need a square root. */
static void draw_ball(int ball, int frame, const mgn_rectangle *part, unsigned char (*color)[4], float *depth)
{
    static const int places[BALLS][3] = {
        {460, 240, 300}, {419, 282, 370}, {320, 300, 400}, {221, 282, 370},
        {180, 240, 300}, {221, 198, 230}, {320, 180, 200}, {419, 198, 230},
    };
    const float radius = 90;
    float x = places[ball][0] + frame % 50, y = places[ball][1], z = places[ball][2];
    int width = (int)part->width, height = (int)part->height;
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < width; column++) {
            float dx = ((int)part->column + column - x) / radius, dy = ((int)part->row + row - y) / radius;
            float bulge = 1 - dx * dx - dy * dy, distance = z - radius * bulge;
            int pixel = row * width + column;
            if (bulge <= 0 || distance >= depth[pixel])
                continue;
            float light = 0.2f + 0.8f * bulge;
            depth[pixel] = distance;
            for (int channel = 0; channel < 3; channel++)
                color[pixel][channel] = (unsigned char)(light * ((ball + 1) * (channel + 3) * 40 % 256));
            color[pixel][3] = 255;
        }
    }
}

/* The balls of process `rank` on a grey ground, which is farther away than all of them. */
static void draw_share(int rank, int size, int frame, const mgn_rectangle *part, void *colors, void *depths)
{
    unsigned char (*color)[4] = colors;
    float *depth = depths;
    for (uint32_t pixel = 0; pixel < part->width * part->height; pixel++) {
        for (int channel = 0; channel < 4; channel++)
            color[pixel][channel] = 40;
        depth[pixel] = 1e9f;
    }
    for (int ball = rank; ball < BALLS; ball += size)
        draw_ball(ball, frame, part, color, depth);
}

/* As a PPM file. Gives 0, or 1 and a message. */
static int write_picture(const char *path, uint32_t width, uint32_t height, const unsigned char *pixels)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file, "P6 %u %u 255\n", width, height);
    for (uint32_t pixel = 0; pixel < width * height; pixel++)
        fwrite(pixels + 4 * pixel, 3, 1, file);
    if (fclose(file) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}
