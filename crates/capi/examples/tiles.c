/* A wall of tiles side by side, one for each process. Each process draws its share of every tile,
 * and writes the tile that it gets as PREFIX-RANK.ppm. Together the tiles are the first picture of
 * composite.c.
 *
 * usage: tiles PREFIX */
#include "balls.h"

typedef struct {
    int rank, size, failed;
    const char *prefix;
} process;

/* Called for each tile, with the tile's place in the picture. */
static int draw(void *context, uint32_t tile, const mgn_rectangle *place, void *color, void *depth,
                mgn_rectangle *covered)
{
    const process *me = context;
    (void)tile;
    (void)covered; /* it stays as it is: the whole tile */
    draw_share(me->rank, me->size, 0, place, color, depth);
    return 0;
}

/* Called for the tiles of this process. */
static int show(void *context, uint32_t tile, const mgn_rectangle *place, const mgn_merged *merged)
{
    process *me = context;
    char path[4096];
    snprintf(path, sizeof path, "%s-%u.ppm", me->prefix, tile);
    me->failed = write_picture(path, place->width, place->height, merged->color);
    return me->failed;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: tiles PREFIX\n");
        return 1;
    }
    CHECK(mgn_init());
    process me = {.rank = CHECK(mgn_rank()), .size = CHECK(mgn_size()), .prefix = argv[1]};
    mgn_compositor compositor;
    CHECK(mgn_compositor_open(10000, &compositor));
    mgn_composition composition = {
        .width = WIDTH,
        .height = HEIGHT,
        .color = MGN_RGBA8,
        .depth = MGN_DEPTH_FLOAT,
        .operation = MGN_NEAREST,
    };
    mgn_tile *tiles = calloc(me.size, sizeof *tiles);
    if (!tiles) {
        perror("calloc");
        return 1;
    }
    for (int rank = 0; rank < me.size; rank++) {
        uint32_t start = WIDTH * rank / me.size, end = WIDTH * (rank + 1) / me.size;
        tiles[rank].place = (mgn_rectangle){.column = start, .width = end - start, .height = HEIGHT};
        tiles[rank].to = rank;
    }
    CHECK(mgn_composite_tiles(compositor, &composition, tiles, me.size, draw, show, &me));
    free(tiles);
    CHECK(mgn_compositor_close(compositor));
    CHECK(mgn_finalize());
    return me.failed;
}
