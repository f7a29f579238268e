/* Composited pictures go to outlets by themselves, in a job of three. The pictures hold the column,
 * the row and the frame of each pixel; each rank draws every third column.
 *
 * usage: outlets FOLDER */
#include "../examples/check.h"

#include <string.h>
#include <unistd.h>

#define WIDTH 37
#define HEIGHT 23
#define SIZE 3

typedef unsigned char pixel[4];

static int rank;
static mgn_compositor compositor;

static void require(int is_so, const char *what)
{
    if (!is_so) {
        fprintf(stderr, "rank %d: %s\n", rank, what);
        exit(1);
    }
}

/* This rank's columns; the others are transparent. */
static void draw_part(pixel *to, const mgn_rectangle *place, int frame)
{
    for (uint32_t row = 0; row < place->height; row++) {
        for (uint32_t column = 0; column < place->width; column++, to++) {
            uint32_t x = place->column + column, y = place->row + row;
            pixel color = {(unsigned char)(5 * x), (unsigned char)(7 * y), (unsigned char)(x * y + 11 * frame), 255};
            memset(*to, 0, sizeof *to);
            if ((int)(x % SIZE) == rank)
                memcpy(*to, color, sizeof *to);
        }
    }
}

static int composite(int to, int frame, mgn_merged *merged)
{
    mgn_composition composition = {.width = WIDTH, .height = HEIGHT, .to = to};
    mgn_rectangle whole = {.width = WIDTH, .height = HEIGHT};
    static pixel picture[WIDTH * HEIGHT];
    if (frame % 2) {
        draw_part(picture, &whole, frame);
        return mgn_composite(compositor, &composition, picture, NULL, merged);
    }
    void *color, *depth;
    CHECK(mgn_composite_draw(compositor, &composition, &color, &depth));
    draw_part(color, &whole, frame);
    return mgn_composite_drawn(compositor, &composition, NULL, merged);
}

static int draw_tile(void *frame, uint32_t tile, const mgn_rectangle *place, void *color, void *depth,
                     mgn_rectangle *covered)
{
    (void)tile, (void)depth, (void)covered;
    draw_part(color, place, *(int *)frame);
    return 0;
}

int main(int argc, char **argv)
{
    require(argc == 2, "usage: outlets FOLDER");
    char folder[4096], lost[4200];
    mgn_outlet outlet = 0;
    mgn_merged merged;
    CHECK(mgn_init());
    rank = CHECK(mgn_rank());
    snprintf(folder, sizeof folder, "%s/rank-%d", argv[1], rank);
    CHECK(mgn_compositor_open(20000, &compositor));
    CHECK(mgn_outlet_files(folder, NULL, rank == 0 ? 2 : 1, &outlet));
    CHECK(mgn_compositor_attach(compositor, outlet, rank == 0 ? MGN_BOTTOM_UP : MGN_TOP_DOWN));

    /* Rank 0 writes the second and the fourth of these. */
    for (int frame = 1; frame <= 4; frame++)
        CHECK(composite(0, frame, &merged));
    /* The first of rank 1. */
    CHECK(composite(1, 5, &merged));
    /* Parts are no pictures. */
    CHECK(composite(-1, 6, &merged));

    /* Two tiles of rank 1 beside each other, one lower than the other; none of rank 2. */
    mgn_tile tiles[] = {
        {{.column = 4, .row = 2, .width = 6, .height = 5}, 1},
        {{.column = 0, .row = 0, .width = 9, .height = 8}, 0},
        {{.column = 12, .row = 6, .width = 5, .height = 4}, 1},
        {{.column = 0, .row = 0, .width = 0, .height = 3}, 2},
    };
    mgn_composition large = {.width = WIDTH, .height = HEIGHT};
    int frame = 7;
    CHECK(mgn_composite_tiles(compositor, &large, tiles, 4, draw_tile, NULL, &frame));

    /* Rank 2 loses its folder: its pictures are composited, and not shown. */
    snprintf(lost, sizeof lost, "%s-lost", folder);
    if (rank == 2)
        require(rename(folder, lost) == 0, "the folder has not moved");
    for (frame = 8; frame < 10; frame++) {
        merged.pixels = 0;
        int result = composite(2, frame, &merged);
        require(result == (rank == 2 ? MGN_ERR_OUTLET : MGN_OK), "another result");
        require(merged.pixels == (rank == 2 ? WIDTH * HEIGHT : 0), "another picture");
    }
    large.to = 2;
    int shown = mgn_composite_tiles(compositor, &large, NULL, 0, draw_tile, NULL, &frame);
    require(shown == (rank == 2 ? MGN_ERR_OUTLET : MGN_OK), "another result for tiles");
    CHECK(mgn_compositor_attach(compositor, 0, MGN_TOP_DOWN));
    CHECK(composite(2, 10, &merged));
    CHECK(mgn_outlet_close(outlet));
    CHECK(mgn_compositor_close(compositor));
    CHECK(mgn_finalize());
    return 0;
}
