/* Composites with IceT in the same way as `mgn bench composite`. The last process gets the merged
 * picture and shows nothing. The other processes write new pictures in each frame. Prints a line
 * for each size: the seconds for its FRAMES.
 *
 * With "sparse", each process draws a rectangle of half the width and height.
 *
 * icet over|nearest STRATEGY SINGLE-IMAGE-STRATEGY dense|sparse WIDTH HEIGHT FRAMES [WIDTH HEIGHT
 * FRAMES]... */

#include <IceT.h>
#include <IceTMPI.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int named(const char *name, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i])) return i;
    fprintf(stderr, "%s: not understood\n", name);
    exit(2);
}

/* Returns the seconds, or a negative number after an error. */
static double run(int width, int height, int is_nearest, int is_sparse, int frames) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    icetResetTiles();
    icetAddTile(0, 0, width, height, size - 1);
    size_t pixels = (size_t)width * height;
    unsigned char *color_from = calloc(pixels, 4), *color = calloc(pixels, 4);
    float *depth_from = malloc(pixels * 4), *depth = malloc(pixels * 4);
    for (size_t at = 0; at < pixels; at++) {
        uint64_t value = (at % 65521 * 2654435761u >> 8) + rank * 977;
        unsigned alpha = value % 256;
        int is_display = rank == size - 1;
        if (!is_display) {
            color_from[at * 4] = alpha / 2;
            color_from[at * 4 + 1] = alpha / 3;
            color_from[at * 4 + 2] = alpha / 5;
            color_from[at * 4 + 3] = alpha;
        }
        depth_from[at] = is_display ? 1 : (value % 4093) / 4096.0f;
    }
    static const float background[4];
    IceTInt covered[4] = {0, 0, width, height};
    if (is_sparse) {
        covered[0] = rank % 3 * width / 4;
        covered[1] = rank / 3 * height / 4;
        covered[2] = rank < size - 1 ? width / 2 : 0;
        covered[3] = rank < size - 1 ? height / 2 : 0;
    }
    double start = 0;
    int failed = 0;
    for (int frame = -3; frame < frames && !failed; frame++) {
        if (frame == 0) start = MPI_Wtime();
        for (int row = covered[1]; row < covered[1] + covered[3]; row++) {
            size_t at = (size_t)row * width + covered[0];
            memcpy(color + 4 * at, color_from + 4 * at, covered[2] * 4);
            if (is_nearest) memcpy(depth + at, depth_from + at, covered[2] * 4);
        }
        icetCompositeImage(color, is_nearest ? depth : NULL, covered, NULL, NULL, background);
        failed = icetGetError() != ICET_NO_ERROR;
    }
    double seconds = failed ? -1 : MPI_Wtime() - start;
    free(color_from);
    free(color);
    free(depth_from);
    free(depth);
    return seconds;
}

int main(int argc, char **argv) {
    static const char *const strategies[] = {"direct", "sequential", "split", "reduce", "vtree"};
    static const char *const singles[] = {"automatic", "bswap", "tree", "radixk", "radixkr", "folding"};
    static const char *const operations[] = {"over", "nearest"};
    static const char *const shares[] = {"dense", "sparse"};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 8 || (argc - 5) % 3) {
        fprintf(stderr, "usage: icet over|nearest STRATEGY SINGLE-IMAGE-STRATEGY dense|sparse WIDTH HEIGHT FRAMES...\n");
        return 2;
    }
    int is_nearest = named(argv[1], operations, 2), is_sparse = named(argv[4], shares, 2);
    IceTCommunicator comm = icetCreateMPICommunicator(MPI_COMM_WORLD);
    IceTContext context = icetCreateContext(comm);
    icetDestroyMPICommunicator(comm);
    icetDiagnostics(ICET_DIAG_ERRORS | ICET_DIAG_ALL_NODES);
    icetStrategy(ICET_STRATEGY_DIRECT + named(argv[2], strategies, 5));
    icetSingleImageStrategy(ICET_SINGLE_IMAGE_STRATEGY_AUTOMATIC + named(argv[3], singles, 6));
    icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_UBYTE);
    icetSetDepthFormat(is_nearest ? ICET_IMAGE_DEPTH_FLOAT : ICET_IMAGE_DEPTH_NONE);
    icetCompositeMode(is_nearest ? ICET_COMPOSITE_MODE_Z_BUFFER : ICET_COMPOSITE_MODE_BLEND);
    icetDisable(ICET_COMPOSITE_ONE_BUFFER);
    int *order = malloc(size * sizeof *order);
    for (int i = 0; i < size; i++) order[i] = i;
    if (!is_nearest) {
        icetEnable(ICET_ORDERED_COMPOSITE);
        icetCompositeOrder(order);
    }
    for (char **one = argv + 5; *one; one += 3) {
        double seconds = run(atoi(one[0]), atoi(one[1]), is_nearest, is_sparse, atoi(one[2]));
        if (seconds < 0) return 3;
        if (rank == size - 1) printf("%.9f\n", seconds);
    }
    icetDestroyContext(context);
    MPI_Finalize();
    return 0;
}
