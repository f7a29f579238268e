/* Composites pictures of its own through IceT's interface, as the words of its command line say,
 * and writes what each process gets: OUT.RANK.FRAME, a line of text and then colours and depths.
 * Words: NAME=VALUE, as in `parse` below. */

#include "processes.h"

#include <dirent.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct {
    const char *out;
    const char *mode;
    const char *color;
    const char *depth;
    const char *strategy;
    const char *single;
    const char *order;
    const char *via;
    const char *fill;
    const char *content;
    int width, height, columns, rows, frames, correct, one, collect, interlace, valid[4], seed;
    int replicate, float_view, empty, die, stop, stop_for, other, again, change, memory, when, refuse;
    double bounds;
    float background[4];
} o = {"", "z", "ub", "f", "sequential", "automatic", "none", "image", "dense", "random", 64, 48, 1, 1, 1,
       0, 1, 1, 1, {0, 0, -1, -1}, 1, 0, 1, 0, -1, -1, 20, -1, 0, 0, 0, 1, -1, 0, {0, 0, 0, 0}};

static int rank, size;

static void parse(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value) {
            fprintf(stderr, "%s: not NAME=VALUE\n", argv[i]);
            exit(2);
        }
        *value++ = 0;
        const char *name = argv[i];
        struct { const char *name; const char **text; int *number; } all[] = {
            {"out", &o.out, 0}, {"mode", &o.mode, 0}, {"color", &o.color, 0}, {"depth", &o.depth, 0},
            {"strategy", &o.strategy, 0}, {"single", &o.single, 0}, {"order", &o.order, 0}, {"via", &o.via, 0},
            {"fill", &o.fill, 0}, {"content", &o.content, 0},
            {"width", 0, &o.width}, {"height", 0, &o.height}, {"columns", 0, &o.columns}, {"rows", 0, &o.rows},
            {"frames", 0, &o.frames}, {"correct", 0, &o.correct}, {"one", 0, &o.one}, {"collect", 0, &o.collect},
            {"interlace", 0, &o.interlace}, {"seed", 0, &o.seed}, {"replicate", 0, &o.replicate},
            {"floating", 0, &o.float_view}, {"empty", 0, &o.empty}, {"die", 0, &o.die}, {"stop", 0, &o.stop}, {"stop_for", 0, &o.stop_for},
            {"other", 0, &o.other}, {"again", 0, &o.again}, {"change", 0, &o.change}, {"memory", 0, &o.memory},
            {"when", 0, &o.when}, {"refuse", 0, &o.refuse},
        };
        int known = 0;
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            if (strcmp(all[k].name, name)) continue;
            known = 1;
            if (all[k].text) *all[k].text = value;
            else *all[k].number = atoi(value);
        }
        if (!strcmp(name, "valid")) known = sscanf(value, "%d,%d,%d,%d", o.valid, o.valid + 1, o.valid + 2, o.valid + 3) == 4;
        if (!strcmp(name, "background")) known = sscanf(value, "%f,%f,%f,%f", o.background, o.background + 1, o.background + 2, o.background + 3) == 4;
        if (!strcmp(name, "bounds")) known = sscanf(value, "%lf", &o.bounds) == 1;
        if (!known) {
            fprintf(stderr, "%s=%s: not understood\n", name, value);
            exit(2);
        }
    }
}

static uint32_t hash(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    uint32_t h = (uint32_t)o.seed * 2654435761u;
    uint32_t all[] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        h ^= all[i] + 0x9e3779b9u + (h << 6) + (h >> 2);
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h ^= h >> 16;
    }
    return h;
}

/* Ranks with the same data: the first one that has it. */
static int data_of(int who) { return o.replicate ? who / o.replicate * o.replicate : who; }

/* The pixel that a rank's data shows at a place of the whole display. Colours are premultiplied. */
static int pixel(int who, int frame, int x, int y, float rgba[4], float *depth) {
    int width = o.width * o.columns, height = o.height * o.rows;
    uint32_t h = hash(who, frame, x, y);
    int shown = 1, blend = !strcmp(o.mode, "blend");
    if (!strcmp(o.content, "random")) shown = h % 8 != 0;
    if (!strcmp(o.content, "part")) shown = (x * 2 / width + y * 2 / height * 2) % 4 == who % 4;
    if (!strcmp(o.content, "odd")) shown = who % 2 != 0 && h % 4 != 0;
    if (!strcmp(o.content, "nothing")) shown = 0;
    uint32_t g = hash(h, 1, 2, 3);
    float alpha = (float)(1 + (g >> 24) % 255) / 255;
    for (int i = 0; i < 3; i++) rgba[i] = shown ? alpha * (float)(g >> (8 * i) & 255) / 255 : blend ? 0 : o.background[i];
    rgba[3] = shown ? alpha : blend ? 0 : o.background[3];
    if (strcmp(o.mode, "blend") && shown) rgba[3] = 1;
    *depth = shown ? (float)(h >> 8) / 16777216.0f : 1;
    /* Many pixels as far as those of others. */
    if (!strcmp(o.content, "ties") && shown) *depth = (float)(h >> 8 & 3) / 8;
    if (!strcmp(o.content, "strange") && shown) {
        float all[] = {NAN, -INFINITY, INFINITY, 2, 1, 0, -1, 0.5f};
        *depth = all[h >> 8 & 7];
    }
    if (!strcmp(o.content, "glow") && h % 4 == 1) rgba[3] = 0;
    return shown;
}

static IceTEnum color_format(void) {
    if (!strcmp(o.color, "ub")) return ICET_IMAGE_COLOR_RGBA_UBYTE;
    if (!strcmp(o.color, "f")) return ICET_IMAGE_COLOR_RGBA_FLOAT;
    if (!strcmp(o.color, "rgb")) return ICET_IMAGE_COLOR_RGB_FLOAT;
    return ICET_IMAGE_COLOR_NONE;
}

static void fill(unsigned char *ub, float *f, int channels, float *depth, int frame, int left, int bottom, int width, int height,
                 int stride) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float rgba[4], d;
            pixel(data_of(rank), frame, left + x, bottom + y, rgba, &d);
            size_t at = (size_t)y * stride + x;
            for (int i = 0; i < 4; i++) {
                if (ub) ub[at * 4 + i] = (unsigned char)lrintf(rgba[i] * 255);
                if (f && i < channels) f[at * channels + i] = rgba[i];
            }
            if (depth) depth[at] = d;
        }
}

static int frame_now, draws;

static void draw(const IceTDouble *projection, const IceTDouble *modelview, const IceTFloat *background, const IceTInt *viewport,
                 IceTImage result) {
    (void)modelview, (void)background;
    draws++;
    /* Where the tile lies in the display follows from the projection: the display is -1 to 1 in
     * both directions. */
    int width = icetImageGetWidth(result), height = icetImageGetHeight(result);
    double left = (-1 - projection[12]) / projection[0], bottom = (-1 - projection[13]) / projection[5];
    int x = (int)lrint((left + 1) / 2 * o.width * o.columns), y = (int)lrint((bottom + 1) / 2 * o.height * o.rows);
    unsigned char *ub = color_format() == ICET_IMAGE_COLOR_RGBA_UBYTE ? icetImageGetColorub(result) : NULL;
    float *f = color_format() == ICET_IMAGE_COLOR_RGBA_FLOAT || color_format() == ICET_IMAGE_COLOR_RGB_FLOAT ? icetImageGetColorf(result) : NULL;
    int channels = color_format() == ICET_IMAGE_COLOR_RGB_FLOAT ? 3 : 4;
    float *depth = strcmp(o.depth, "none") ? icetImageGetDepthf(result) : NULL;
    /* Nothing outside of the viewport counts. */
    size_t pixels = (size_t)width * height;
    if (ub) memset(ub, 0x55, pixels * 4);
    for (size_t i = 0; f && i < pixels * channels; i++) f[i] = 0.5f;
    for (size_t i = 0; depth && i < pixels; i++) depth[i] = 0;
    size_t at = (size_t)viewport[1] * width + viewport[0];
    fill(ub ? ub + at * 4 : NULL, f ? f + at * channels : NULL, channels, depth ? depth + at : NULL, frame_now, x + viewport[0],
         y + viewport[1], viewport[2], viewport[3], width);
}

static void write_result(IceTImage image, int frame) {
    char name[4096];
    snprintf(name, sizeof name, "%s.%d.%d", o.out, rank, frame);
    FILE *file = fopen(name, "wb");
    if (!file) {
        perror(name);
        exit(3);
    }
    int shown, tile, offset, number;
    icetGetIntegerv(ICET_TILE_DISPLAYED, &shown);
    icetGetIntegerv(ICET_VALID_PIXELS_TILE, &tile);
    icetGetIntegerv(ICET_VALID_PIXELS_OFFSET, &offset);
    icetGetIntegerv(ICET_VALID_PIXELS_NUM, &number);
    int has_result = o.collect ? shown >= 0 : number > 0;
    IceTEnum color = icetImageGetColorFormat(image), depth = icetImageGetDepthFormat(image);
    if (!has_result) {
        fprintf(file, "tile %d none\n", shown);
        fclose(file);
        return;
    }
    int width = icetImageGetWidth(image), height = icetImageGetHeight(image);
    fprintf(file, "tile %d valid %d %d %d %dx%d color %x depth %x\n", shown, tile, offset, number, width, height, color, depth);
    /* Those of all ranks make the picture. */
    size_t first = o.collect ? 0 : offset, count = o.collect ? (size_t)icetImageGetNumPixels(image) : (size_t)number;
    if (color == ICET_IMAGE_COLOR_RGBA_UBYTE) fwrite(icetImageGetColorcub(image) + first * 4, 4, count, file);
    if (color == ICET_IMAGE_COLOR_RGBA_FLOAT) fwrite(icetImageGetColorcf(image) + first * 4, 16, count, file);
    if (color == ICET_IMAGE_COLOR_RGB_FLOAT) fwrite(icetImageGetColorcf(image) + first * 3, 12, count, file);
    if (depth == ICET_IMAGE_DEPTH_FLOAT) fwrite(icetImageGetDepthcf(image) + first, 4, count, file);
    fclose(file);
}

/* The same by arithmetic in doubles: what blending should give, for one tile's pixel. */
static void check_blend(IceTImage image, const int *order, int frame) {
    if (!image.opaque_internals || icetImageGetColorFormat(image) == ICET_IMAGE_COLOR_NONE) return;
    int shown;
    icetGetIntegerv(ICET_TILE_DISPLAYED, &shown);
    if (shown < 0) return;
    double worst = 0;
    int is_ub = icetImageGetColorFormat(image) == ICET_IMAGE_COLOR_RGBA_UBYTE;
    /* Bytes go with the background's bytes, and some strategies blend it in any case. */
    int is_under = o.correct || !strcmp(o.strategy, "sequential") || !strcmp(o.strategy, "reduce");
    double background[4];
    for (int i = 0; i < 4; i++) background[i] = is_ub ? (int)(o.background[i] * 255) / 255.0 : o.background[i];
    int left = shown % o.columns * o.width, bottom = shown / o.columns * o.height;
    for (int y = 0; y < o.height; y++)
        for (int x = 0; x < o.width; x++) {
            double sum[4] = {0}, through = 1;
            for (int k = 0; k < size; k++) {
                float rgba[4], d;
                int who = data_of(order ? order[k] : k);
                /* One of several ranks with the same data shows it. They are neighbours in the order. */
                if (k && data_of(order ? order[k - 1] : k - 1) == who) continue;
                if (!pixel(who, frame, left + x, bottom + y, rgba, &d)) continue;
                double alpha = is_ub ? lrintf(rgba[3] * 255) / 255.0 : rgba[3];
                if (alpha == 0) continue;
                for (int i = 0; i < 4; i++) sum[i] += through * (is_ub ? lrintf(rgba[i] * 255) / 255.0 : rgba[i]);
                through *= 1 - alpha;
            }
            if (is_under || through == 1)
                for (int i = 0; i < 4; i++) sum[i] += through * background[i];
            for (int i = 0; i < 4; i++) {
                size_t at = ((size_t)y * o.width + x) * 4 + i;
                double have = is_ub ? icetImageGetColorcub(image)[at] / 255.0 : icetImageGetColorcf(image)[at];
                double off = fabs(have - sum[i]) * 255;
                if (off > worst) worst = off;
            }
        }
    printf("rank %d frame %d: off by %.4f of 255 from blending in doubles\n", rank, frame, worst);
}

/* How many pieces of memory this process shares: one for its counters, one for pictures that it draws, and so on. */
static int pieces_of_memory(void) {
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[300], to[300] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        count += readlink(path, to, sizeof to - 1) > 0 && strstr(to, "mgn-composite") != NULL;
    }
    closedir(folder);
    return count;
}

/* How many pages of memory this process has touched for the first time. */
static long pages(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    parse(argc, argv);
    IceTCommunicator comm = communicator();
    IceTContext context = icetCreateContext(comm);
    end_communicator(comm);
    icetDiagnostics(ICET_DIAG_WARNINGS | ICET_DIAG_ALL_NODES);
    icetResetTiles();
    for (int t = 0; t < o.columns * o.rows; t++)
        icetAddTile(t % o.columns * o.width, t / o.columns * o.height, o.width, o.height, t < size ? t : -1);
    IceTEnum strategy = ICET_STRATEGY_SEQUENTIAL;
    const char *names[] = {"direct", "sequential", "split", "reduce", "vtree"};
    for (int i = 0; i < 5; i++)
        if (!strcmp(names[i], o.strategy)) strategy = ICET_STRATEGY_DIRECT + i;
    icetStrategy(strategy);
    const char *singles[] = {"automatic", "bswap", "tree", "radixk", "radixkr", "folding"};
    for (int i = 0; i < 6; i++)
        if (!strcmp(singles[i], o.single)) icetSingleImageStrategy(ICET_SINGLE_IMAGE_STRATEGY_AUTOMATIC + i);
    icetSetColorFormat(color_format());
    icetSetDepthFormat(strcmp(o.depth, "none") ? ICET_IMAGE_DEPTH_FLOAT : ICET_IMAGE_DEPTH_NONE);
    icetCompositeMode(strcmp(o.mode, "blend") ? ICET_COMPOSITE_MODE_Z_BUFFER : ICET_COMPOSITE_MODE_BLEND);
    int order[512];
    for (int i = 0; i < size; i++) order[i] = strcmp(o.order, "reverse") ? i : size - 1 - i;
    if (!strcmp(o.order, "mixed"))
        for (int i = 0; i < size; i++) order[i] = (i * 3 + 1) % size;
    int is_ordered = strcmp(o.order, "none") != 0;
    if (is_ordered) {
        icetEnable(ICET_ORDERED_COMPOSITE);
        icetCompositeOrder(order);
    }
    (o.correct ? icetEnable : icetDisable)(ICET_CORRECT_COLORED_BACKGROUND);
    (o.one ? icetEnable : icetDisable)(ICET_COMPOSITE_ONE_BUFFER);
    (o.collect ? icetEnable : icetDisable)(ICET_COLLECT_IMAGES);
    (o.interlace ? icetEnable : icetDisable)(ICET_INTERLACE_IMAGES);
    (o.float_view ? icetEnable : icetDisable)(ICET_FLOATING_VIEWPORT);
    (o.empty ? icetEnable : icetDisable)(ICET_RENDER_EMPTY_IMAGES);
    if (o.replicate) icetDataReplicationGroupColor(rank / o.replicate);
    icetDrawCallback(draw);
    /* Each rank's share is a stripe, in the middle of the display. */
    int data = data_of(rank);
    if (o.bounds > 0) icetBoundingBoxd(-o.bounds + 2 * o.bounds * data / size, -o.bounds + 2 * o.bounds * (data + 1) / size, -o.bounds, o.bounds, -1, 1);
    IceTDouble identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    int width = o.width * o.columns, height = o.height * o.rows;
    IceTImage image = icetImageNull();
    long first_pages = 0;
    for (frame_now = 0; frame_now < o.frames; frame_now++) {
        if (frame_now == 1) first_pages = pages();
        if (o.die == rank && frame_now == o.when) _exit(9);
        if (o.stop == rank && frame_now == o.when) {
            sleep(o.stop_for);
            break;
        }
        /* A process that has been told another size. */
        if (o.other == rank && frame_now == o.when) {
            icetResetTiles();
            icetAddTile(0, 0, o.width / 2, o.height, 0);
        }
        /* A process that has no tiles from now on, so that its frames are errors. */
        if (o.refuse == rank && frame_now == o.when) icetResetTiles();
        /* From the second frame on, pieces stay where they are, and there is no background. */
        if (o.change == 1 && frame_now == 1) {
            icetDisable(ICET_COLLECT_IMAGES);
            memset(o.background, 0, sizeof o.background);
            o.collect = 0;
        }
        /* From the second frame on, pictures have depths, and so need more memory. */
        if (o.change == 2 && frame_now == 1) {
            icetSetDepthFormat(ICET_IMAGE_DEPTH_FLOAT);
            icetCompositeMode(ICET_COMPOSITE_MODE_Z_BUFFER);
            o.depth = "f", o.mode = "z";
        }
        if (!strcmp(o.via, "draw")) {
            image = icetDrawFrame(identity, identity, o.background);
        } else {
            size_t pixels = (size_t)width * height;
            unsigned char *ub = malloc(pixels * 4);
            float *f = malloc(pixels * 16), *depth = malloc(pixels * 4);
            int channels = !strcmp(o.color, "rgb") ? 3 : 4;
            fill(ub, f, channels, depth, frame_now, 0, 0, width, height, width);
            /* The first process shows its last result, from where it lies (1) or copied (2). */
            void *bytes = ub;
            if (o.again && frame_now && !rank) {
                bytes = icetImageGetColorub(image);
                if (o.again == 2) bytes = memcpy(ub, bytes, pixels * 4);
            }
            int has_valid = o.valid[2] >= 0;
            image = icetCompositeImage(!strcmp(o.color, "ub") ? bytes : !strcmp(o.color, "none") ? NULL : (void *)f,
                                       strcmp(o.depth, "none") ? depth : NULL, has_valid ? o.valid : NULL,
                                       !strcmp(o.via, "matrices") ? identity : NULL, !strcmp(o.via, "matrices") ? identity : NULL, o.background);
            memset(ub, 0xAA, pixels * 4);
            free(ub);
            free(f);
            free(depth);
        }
        IceTEnum error = icetGetError();
        if (error != ICET_NO_ERROR) {
            printf("rank %d frame %d: error %x\n", rank, frame_now, error);
            continue;
        }
        if (*o.out) write_result(image, frame_now);
        if (!strcmp(o.mode, "blend") && o.collect) check_blend(image, is_ordered ? order : NULL, frame_now);
    }
    if (o.memory) printf("rank %d: %d draws, %d pieces of memory, %ld new pages\n", rank, draws, pieces_of_memory(), pages() - first_pages);
    double total = -1;
    icetGetDoublev(ICET_TOTAL_DRAW_TIME, &total);
    if (!(total >= 0)) printf("rank %d: no time\n", rank);
    icetDestroyContext(context);
    end();
    return 0;
}
