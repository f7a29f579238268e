/* Calls that are invalid, and what they give: an error, and nothing else. One process. */

#include "processes.h"

static int failures;

#define ERROR(wanted, call)                                                                                     \
    do {                                                                                                        \
        call;                                                                                                   \
        IceTEnum is = icetGetError();                                                                           \
        if (is != (wanted)) {                                                                                   \
            printf("line %d: %s: error %x instead of %x\n", __LINE__, #call, is, (unsigned)(wanted));           \
            failures++;                                                                                         \
        }                                                                                                       \
    } while (0)

#define CHECK(what)                                                     \
    do {                                                                \
        if (!(what)) {                                                  \
            printf("line %d: not so: %s\n", __LINE__, #what);           \
            failures++;                                                 \
        }                                                               \
    } while (0)

static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
static const float background[4] = {0.1f, 0.2f, 0.3f, 0.4f};
static IceTContext context;
static int drawn;

static void draw_twice(const IceTDouble *projection, const IceTDouble *modelview, const IceTFloat *color, const IceTInt *viewport,
                       IceTImage result) {
    drawn++;
    CHECK(projection[0] == 0.8 && projection[12] == -0.2 && modelview[0] == 1 && color[3] == 0.4f);
    CHECK(viewport[0] == 0 && viewport[1] == 0 && viewport[2] == 8 && viewport[3] == 4);
    CHECK(icetImageGetWidth(result) == 10 && icetImageGetHeight(result) == 4 && icetImageGetNumPixels(result) == 40);
    ERROR(ICET_INVALID_OPERATION, icetDrawFrame(identity, identity, background));
    ERROR(ICET_INVALID_OPERATION, icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_FLOAT));
    memset(icetImageGetColorub(result), 7, 40 * 4);
    for (int i = 0; i < 40; i++) icetImageGetDepthf(result)[i] = i % 2 ? 0.5f : 1;
}

static void draw_and_leave(const IceTDouble *projection, const IceTDouble *modelview, const IceTFloat *color, const IceTInt *viewport,
                           IceTImage result) {
    (void)projection, (void)modelview, (void)color, (void)viewport, (void)result;
    icetDestroyContext(context);
}

int main(int argc, char **argv) {
    int rank, size, i;
    double d;
    float f[4];
    void *pointer;
    IceTBoolean b;
    IceTEnum e;
    begin(&argc, &argv, &rank, &size);
    CHECK(icetGetContext() == NULL);
    ERROR(ICET_INVALID_OPERATION, icetGetIntegerv(ICET_RANK, &i));
    ERROR(ICET_INVALID_OPERATION, icetResetTiles());
    ERROR(ICET_INVALID_VALUE, icetCreateContext(NULL));
    IceTCommunicator comm = communicator();
    context = icetCreateContext(comm);
    end_communicator(comm);
    CHECK(context && icetGetContext() == context);
    icetDiagnostics(ICET_DIAG_OFF);

    ERROR(ICET_NO_ERROR, icetGetIntegerv(ICET_NUM_PROCESSES, &i));
    CHECK(i == size);
    ERROR(ICET_NO_ERROR, icetGetDoublev(ICET_NUM_PROCESSES, &d));
    CHECK(d == size);
    ERROR(ICET_NO_ERROR, icetGetBooleanv(ICET_FLOATING_VIEWPORT, &b));
    CHECK(b == 1);
    ERROR(ICET_NO_ERROR, icetGetFloatv(ICET_BACKGROUND_COLOR, f));
    ERROR(ICET_INVALID_ENUM, icetGetIntegerv(0x1ff, &i));
    ERROR(ICET_INVALID_ENUM, icetGetIntegerv(0x5000, &i));
    ERROR(ICET_INVALID_ENUM, icetGetIntegerv(0xffffffff, &i));
    ERROR(ICET_INVALID_VALUE, icetGetIntegerv(ICET_RANK, NULL));
    ERROR(ICET_BAD_CAST, icetGetIntegerv(ICET_DRAW_FUNCTION, &i));
    ERROR(ICET_BAD_CAST, icetGetEnumv(ICET_TOTAL_DRAW_TIME, &e));
    ERROR(ICET_BAD_CAST, icetGetPointerv(ICET_RANK, &pointer));
    ERROR(ICET_INVALID_VALUE, icetEnable(ICET_RANK));
    ERROR(ICET_INVALID_VALUE, icetIsEnabled(ICET_RANK));
    ERROR(ICET_NO_ERROR, icetEnable(ICET_ORDERED_COMPOSITE));
    CHECK(icetIsEnabled(ICET_ORDERED_COMPOSITE));
    ERROR(ICET_INVALID_ENUM, icetStrategy(77));
    ERROR(ICET_INVALID_ENUM, CHECK(icetGetStrategyName() == NULL));
    ERROR(ICET_INVALID_ENUM, icetSingleImageStrategy(77));
    ERROR(ICET_INVALID_ENUM, icetCompositeMode(5));
    ERROR(ICET_INVALID_ENUM, icetSetColorFormat(5));
    ERROR(ICET_INVALID_ENUM, icetSetDepthFormat(5));

    ERROR(ICET_INVALID_OPERATION, icetDrawFrame(identity, identity, background));
    icetDrawCallback(draw_twice);
    ERROR(ICET_INVALID_ENUM, icetDrawFrame(identity, identity, background));
    icetStrategy(ICET_STRATEGY_SEQUENTIAL);
    ERROR(ICET_NO_ERROR, CHECK(!strcmp(icetGetStrategyName(), "Sequential")));
    ERROR(ICET_INVALID_OPERATION, icetDrawFrame(identity, identity, background));

    ERROR(ICET_INVALID_VALUE, icetAddTile(0, 0, 0, 5, 0));
    ERROR(ICET_INVALID_VALUE, icetAddTile(0, 0, 5, -5, 0));
    ERROR(ICET_INVALID_VALUE, icetAddTile(0, 0, 1 << 20, 1 << 20, 0));
    ERROR(ICET_INVALID_VALUE, icetAddTile(2147483647, 0, 5, 5, 0));
    ERROR(ICET_INVALID_VALUE, icetAddTile(0, 0, 5, 5, size));
    ERROR(ICET_NO_ERROR, CHECK(icetAddTile(0, 0, 8, 4, 0) == 0));
    ERROR(ICET_INVALID_VALUE, CHECK(icetAddTile(8, 0, 8, 4, 0) == -1));
    icetGetIntegerv(ICET_NUM_TILES, &i);
    CHECK(i == 1);
    ERROR(ICET_INVALID_VALUE, icetPhysicalRenderSize(4, 4));
    ERROR(ICET_INVALID_VALUE, icetDrawFrame(identity, identity, background));
    ERROR(ICET_INVALID_VALUE, icetPhysicalRenderSize(-4, 4));
    ERROR(ICET_NO_ERROR, icetPhysicalRenderSize(10, 4));

    int twice[] = {0, 0}, far[] = {9, 1}, other = 1;
    ERROR(ICET_INVALID_VALUE, icetCompositeOrder(size == 1 ? far : twice));
    ERROR(ICET_INVALID_VALUE, icetCompositeOrder(NULL));
    ERROR(ICET_INVALID_VALUE, icetDataReplicationGroup(1, &other));
    ERROR(ICET_INVALID_VALUE, icetDataReplicationGroup(-1, &rank));
    ERROR(ICET_INVALID_VALUE, icetDataReplicationGroup(1, NULL));
    ERROR(ICET_NO_ERROR, icetDataReplicationGroup(1, &rank));
    ERROR(ICET_NO_ERROR, icetDataReplicationGroupColor(rank));
    float vertices[6] = {0};
    ERROR(ICET_INVALID_ENUM, icetBoundingVertices(3, ICET_POINTER, 0, 2, vertices));
    ERROR(ICET_INVALID_VALUE, icetBoundingVertices(7, ICET_FLOAT, 0, 2, vertices));
    ERROR(ICET_INVALID_VALUE, icetBoundingVertices(3, ICET_FLOAT, 0, -2, vertices));
    ERROR(ICET_INVALID_VALUE, icetBoundingVertices(3, ICET_FLOAT, 0, 2, NULL));
    ERROR(ICET_NO_ERROR, icetBoundingVertices(3, ICET_FLOAT, 0, 2, vertices));
    ERROR(ICET_NO_ERROR, icetBoundingVertices(0, ICET_VOID, 0, 0, NULL));

    ERROR(ICET_INVALID_VALUE, icetDrawFrame(NULL, identity, background));
    ERROR(ICET_NO_ERROR, icetDisable(ICET_COMPOSITE_ONE_BUFFER));
    IceTImage image;
    /* The program draws into a window that is larger than the tile. */
    ERROR(ICET_NO_ERROR, image = icetDrawFrame(identity, identity, background));
    CHECK(drawn == 1 && icetImageGetWidth(image) == 8 && icetImageGetHeight(image) == 4);
    CHECK(icetImageGetColorub(image)[0] == 25 && icetImageGetColorub(image)[4] == 7 && icetImageGetDepthf(image)[1] == 0.5f);
    icetGetDoublev(ICET_TOTAL_DRAW_TIME, &d);
    CHECK(d > 0);

    icetPhysicalRenderSize(8, 4);
    icetDrawCallback(NULL);
    ERROR(ICET_INVALID_OPERATION, icetDrawFrame(identity, identity, background));
    unsigned char color[8 * 4 * 4] = {0};
    float depth[8 * 4];
    for (i = 0; i < 8 * 4; i++) depth[i] = i % 2 ? 0.5f : 1;
    ERROR(ICET_INVALID_VALUE, icetCompositeImage(NULL, depth, NULL, identity, identity, background));
    ERROR(ICET_INVALID_VALUE, icetCompositeImage(color, NULL, NULL, identity, identity, background));
    ERROR(ICET_INVALID_VALUE, icetCompositeImage(color + 1, depth, NULL, identity, identity, background));
    ERROR(ICET_NO_ERROR, image = icetCompositeImage(color, depth, NULL, NULL, NULL, background));
    CHECK(icetImageGetWidth(image) == 8 && icetImageGetHeight(image) == 4);
    CHECK(icetImageGetColorub(image)[0] == 25 && icetImageGetColorub(image)[3] == 102 && icetImageGetColorub(image)[4] == 0);
    ERROR(ICET_INVALID_OPERATION, CHECK(icetImageGetColorf(image) == NULL));
    float floats[8 * 4 * 4] = {0};
    ERROR(ICET_NO_ERROR, icetImageCopyColorf(image, floats, ICET_IMAGE_COLOR_RGB_FLOAT));
    CHECK(floats[0] > 0.09f && floats[0] < 0.1f && floats[3] == 0);
    ERROR(ICET_INVALID_ENUM, icetImageCopyColorf(image, floats, ICET_IMAGE_COLOR_RGBA_UBYTE));
    ERROR(ICET_INVALID_VALUE, icetImageCopyColorub(image, NULL, ICET_IMAGE_COLOR_RGBA_UBYTE));
    ERROR(ICET_NO_ERROR, icetImageCopyDepthf(image, floats, ICET_IMAGE_DEPTH_FLOAT));
    CHECK(floats[0] == 1 && floats[1] == 0.5f);
    IceTImage wrong = {(void *)0x1234};
    ERROR(ICET_INVALID_VALUE, CHECK(icetImageGetWidth(wrong) == 0));
    ERROR(ICET_INVALID_VALUE, CHECK(icetImageGetColorub(wrong) == NULL));
    CHECK(icetImageIsNull(icetImageNull()) && !icetImageIsNull(image));
    ERROR(ICET_NO_ERROR, CHECK(icetImageGetWidth(icetImageNull()) == 0));
    ERROR(ICET_INVALID_OPERATION, CHECK(icetImageGetColorub(icetImageNull()) == NULL));
    ERROR(ICET_INVALID_OPERATION, icetImageCopyColorub(icetImageNull(), color, ICET_IMAGE_COLOR_RGBA_UBYTE));

    icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
    ERROR(ICET_INVALID_OPERATION, icetCompositeImage(color, NULL, NULL, NULL, NULL, background));
    icetCompositeMode(ICET_COMPOSITE_MODE_BLEND);
    ERROR(ICET_NO_ERROR, image = icetCompositeImage(color, NULL, NULL, NULL, NULL, background));
    CHECK(icetImageGetDepthFormat(image) == ICET_IMAGE_DEPTH_NONE);
    icetSetColorFormat(ICET_IMAGE_COLOR_RGB_FLOAT);
    ERROR(ICET_INVALID_OPERATION, icetCompositeImage(floats, NULL, NULL, NULL, NULL, background));
    icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_UBYTE);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_FLOAT);
    ERROR(ICET_INVALID_OPERATION, icetCompositeImage(color, depth, NULL, NULL, NULL, background));
    icetCompositeMode(ICET_COMPOSITE_MODE_Z_BUFFER);

    /* Another context has the same settings, and ends alone. */
    comm = communicator();
    IceTContext second = icetCreateContext(comm);
    end_communicator(comm);
    ERROR(ICET_NO_ERROR, icetCopyState(second, context));
    icetGetIntegerv(ICET_NUM_TILES, &i);
    CHECK(i == 1 && icetGetContext() == second);
    ERROR(ICET_INVALID_VALUE, icetCopyState(second, (IceTContext)0x77));
    ERROR(ICET_INVALID_VALUE, icetSetContext((IceTContext)0x77));
    ERROR(ICET_NO_ERROR, icetDestroyContext(second));
    CHECK(icetGetContext() == NULL);
    ERROR(ICET_INVALID_VALUE, icetDestroyContext(second));
    ERROR(ICET_NO_ERROR, icetSetContext(context));
    CHECK(icetImageGetWidth(image) == 8);

    /* The program ends its context while it draws. */
    icetDiagnostics(ICET_DIAG_OFF);
    icetDrawCallback(draw_and_leave);
    ERROR(ICET_INVALID_OPERATION, image = icetDrawFrame(identity, identity, background));
    CHECK(icetImageIsNull(image) && icetGetContext() == NULL);
    ERROR(ICET_INVALID_OPERATION, icetGetIntegerv(ICET_RANK, &i));
    end();
    return failures != 0;
}
