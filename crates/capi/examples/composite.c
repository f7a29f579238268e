/* Several processes draw one picture: each draws some of eight balls, with their depths, and the
 * library takes the nearest ball for each pixel. The picture is the same for any number of
 * processes. Rank 0 writes the last frame as a PPM file, or shows all frames in a window until the
 * user closes it; or all processes in turn have the library write the frames as PNG files.
 *
 * usage: composite FILE [FRAMES]
 *        composite --save FOLDER [FRAMES]
 *        composite --window [FRAMES] */
#include "balls.h"

#include <string.h>

/* Whether all processes draw another frame: rank 0 tells the others if its window was closed. */
static int goes_on(int rank, int size, const mgn_conn *conns, mgn_outlet outlet)
{
    char is_closed = 0;
    if (rank > 0) {
        CHECK(mgn_recv(conns[0], &is_closed, 1, NULL));
        return !is_closed;
    }
    if (outlet)
        is_closed = CHECK(mgn_outlet_is_closed(outlet)) == 1;
    for (int other = 1; other < size; other++)
        CHECK(mgn_send(conns[other], &is_closed, 1));
    return !is_closed;
}

int main(int argc, char **argv)
{
    const char *file = NULL, *folder = NULL;
    int next = 1, has_window = argc > next && !strcmp(argv[next], "--window");
    if (has_window)
        next++;
    else if (argc > next + 1 && !strcmp(argv[next], "--save"))
        folder = argv[next + 1], next += 2;
    else if (argc > next)
        file = argv[next++];
    int frames = argc > next ? atoi(argv[next]) : 1;
    if (next == 1 || frames < 1) {
        fprintf(stderr, "usage: composite FILE [FRAMES]\n"
                        "       composite --save FOLDER [FRAMES]\n"
                        "       composite --window [FRAMES]\n");
        return 1;
    }
    CHECK(mgn_init());
    int rank = CHECK(mgn_rank()), size = CHECK(mgn_size()), failed = 0;
    mgn_conn *conns = calloc(size, sizeof *conns);
    if (!conns) {
        perror("calloc");
        return 1;
    }
    for (int other = 0; other < size; other++)
        CHECK(mgn_open(NULL, other, 10000, &conns[other]));
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
    /* A rank that gets pictures has an outlet, and the library shows them there. */
    mgn_outlet outlet = 0;
    if (folder) {
        /* Each rank writes every size-th frame, and encodes it while the others draw. */
        CHECK(mgn_outlet_files(folder, "png", 1, &outlet));
        CHECK(mgn_outlet_number(outlet, rank + 1, size));
    }
    if (rank == 0 && has_window)
        CHECK(mgn_outlet_window(NULL, "Balls", &outlet));
    CHECK(mgn_compositor_attach(compositor, outlet, MGN_TOP_DOWN));
    mgn_rectangle whole = {.width = WIDTH, .height = HEIGHT};
    for (int frame = 0; frame < frames && goes_on(rank, size, conns, outlet); frame++) {
        if (folder)
            composition.to = frame % size;
        void *memory[2];
        CHECK(mgn_composite_draw(compositor, &composition, &memory[0], &memory[1]));
        draw_share(rank, size, frame, &whole, memory[0], memory[1]);
        mgn_merged merged;
        CHECK(mgn_composite_drawn(compositor, &composition, NULL, &merged));
        if (rank == 0 && file && frame == frames - 1)
            failed = write_picture(file, WIDTH, HEIGHT, merged.color);
    }
    if (outlet)
        CHECK(mgn_outlet_close(outlet));
    CHECK(mgn_compositor_close(compositor));
    CHECK(mgn_finalize());
    free(conns);
    return failed;
}
