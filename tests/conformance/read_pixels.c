/* glReadPixels in all formats and types, under every pack parameter, inside and outside of the window. */
#include "conform.h"

static unsigned char memory[1 << 18];

static void background(void)
{
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 40; i++) {
        glColor4f((float)i / 40, 1 - (float)i / 40, (float)(i % 7) / 7, (float)(i % 5) / 4);
        glVertex3f(-1 + (float)(i / 2) * 0.105f, i % 2 ? 1 : -1, (float)i / 40 - 0.5f);
    }
    glEnd();
}

static void read(const char *what, GLint x, GLint y, GLsizei width, GLsizei height, GLenum format, GLenum type, size_t size)
{
    memset(memory, 0x77, size);
    glReadPixels(x, y, width, height, format, type, memory);
    note_bytes(what, memory, size);
}

static void formats(void)
{
    static const GLenum formats[] = {GL_RED, GL_GREEN, GL_BLUE, GL_ALPHA, GL_RGB, GL_BGR, GL_RGBA, GL_BGRA, GL_LUMINANCE, GL_LUMINANCE_ALPHA};
    static const GLenum types[] = {GL_UNSIGNED_BYTE, GL_BYTE, GL_UNSIGNED_SHORT, GL_SHORT, GL_UNSIGNED_INT, GL_INT, GL_FLOAT};
    static const GLenum packed[][2] = {{GL_RGB, GL_UNSIGNED_BYTE_3_3_2},       {GL_RGB, GL_UNSIGNED_SHORT_5_6_5},
                                       {GL_RGB, GL_UNSIGNED_SHORT_5_6_5_REV},  {GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4},
                                       {GL_BGRA, GL_UNSIGNED_SHORT_1_5_5_5_REV}, {GL_RGBA, GL_UNSIGNED_INT_8_8_8_8},
                                       {GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV}, {GL_RGBA, GL_UNSIGNED_INT_10_10_10_2}};
    background();
    for (int f = 0; f < 10; f++) {
        for (int t = 0; t < 7; t++) {
            char what[40];
            snprintf(what, sizeof what, "format %04x type %04x", formats[f], types[t]);
            read(what, 20, 30, 17, 13, formats[f], types[t], 17 * 13 * 16);
        }
    }
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        read("packed", 20, 30, 17, 13, packed[i][0], packed[i][1], 17 * 13 * 4);
    errors("formats");
    read("three of four", 0, 0, 2, 2, GL_RGB, GL_UNSIGNED_SHORT_4_4_4_4, 64);
    errors("three of four");
    read("negative", 0, 0, -2, 2, GL_RGB, GL_UNSIGNED_BYTE, 64);
    errors("negative width");
    read("type", 0, 0, 2, 2, GL_RGBA, GL_BITMAP, 64);
    errors("bitmap of colours");
}

static void packing(void)
{
    background();
    for (int i = 0; i < 96; i++) {
        glPixelStorei(GL_PACK_ALIGNMENT, 1 << i % 4);
        glPixelStorei(GL_PACK_ROW_LENGTH, i % 3 == 1 ? 25 : i % 3 == 2 ? 10 : 0);
        glPixelStorei(GL_PACK_SKIP_ROWS, i % 5 == 2 ? 3 : 0);
        glPixelStorei(GL_PACK_SKIP_PIXELS, i % 7 == 3 ? 2 : 0);
        glPixelStorei(GL_PACK_SWAP_BYTES, i / 24 % 2);
        read("packing", 40, 50, 19, 11, i % 2 ? GL_RGB : GL_BGRA, i / 48 ? GL_UNSIGNED_SHORT : GL_UNSIGNED_BYTE, 6000);
    }
    errors("packing");
}

/* Outside of the window, the memory may change or not. Only pixels inside the window are
 * compared. */
static void edges(void)
{
    static const int boxes[][4] = {{-5, -5, 12, 12}, {250, 250, 12, 12}, {-5, 100, 300, 3}, {100, -5, 3, 300}};
    background();
    for (int i = 0; i < 4; i++) {
        int width = boxes[i][2], height = boxes[i][3];
        uint64_t sum = 0;
        memset(memory, 0, (size_t)(width * height * 4));
        glReadPixels(boxes[i][0], boxes[i][1], width, height, GL_RGBA, GL_UNSIGNED_BYTE, memory);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                if (boxes[i][0] + x >= 0 && boxes[i][0] + x < SIZE && boxes[i][1] + y >= 0 && boxes[i][1] + y < SIZE)
                    for (int c = 0; c < 4; c++)
                        sum = sum * 31 + memory[(y * width + x) * 4 + c];
        note("inside: %016llx", (unsigned long long)sum);
    }
    read("nothing", 10, 10, 0, 5, GL_RGBA, GL_UNSIGNED_BYTE, 16);
    errors("edges");
}

static void depth_and_stencil(void)
{
    static const GLenum types[] = {GL_UNSIGNED_BYTE, GL_UNSIGNED_SHORT, GL_UNSIGNED_INT, GL_FLOAT, GL_SHORT, GL_INT};
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_ALWAYS, 0xA5, 0xFF);
    glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
    background();
    for (int i = 0; i < 6; i++) {
        read("depth", 60, 70, 15, 9, GL_DEPTH_COMPONENT, types[i], 15 * 9 * 4 + 64);
        read("stencil", 245, 70, 11, 9, GL_STENCIL_INDEX, types[i], 15 * 9 * 4 + 64);
    }
    if (has_version(3, 0))
        read("both", 60, 70, 15, 9, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, 15 * 9 * 4);
    errors("depth and stencil");
}

/* Reads many single pixels between draws. */
static void many_small(void)
{
    uint32_t sum = 0;
    background();
    for (int i = 0; i < 2000; i++) {
        unsigned char pixel[4];
        glReadPixels(i * 7 % SIZE, i * 13 % SIZE, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
        sum = sum * 31 + pixel[0] + 3u * pixel[1] + 7u * pixel[2] + 11u * pixel[3];
    }
    note("sum %08x", sum);
}

static void from_front(void)
{
    glDrawBuffer(GL_FRONT);
    glClear(GL_COLOR_BUFFER_BIT);
    background();
    glDrawBuffer(GL_BACK);
    glReadBuffer(GL_FRONT);
    INTS(GL_READ_BUFFER, 1);
    read("front", 0, 0, 64, 64, GL_RGB, GL_UNSIGNED_BYTE, 64 * 64 * 3);
    glReadBuffer(GL_BACK);
    read("back", 0, 0, 64, 64, GL_RGB, GL_UNSIGNED_BYTE, 64 * 64 * 3);
    errors("front");
    glReadBuffer(GL_AUX0);
    errors("an auxiliary buffer");
    glReadBuffer(GL_RIGHT);
    errors("the right eye");
    glReadBuffer(GL_FRONT_AND_BACK);
    errors("both");
}

/* Reads the same small regions repeatedly, in several layouts. */
static void note_small(const char *when)
{
    static const struct {
        int x, y, width, height;
        GLenum format, type;
    } regions[] = {{3, 5, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE},  {4, 5, 2, 3, GL_RGBA, GL_UNSIGNED_BYTE},  {120, 120, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE},
                   {0, 0, 7, 5, GL_RGB, GL_UNSIGNED_BYTE},   {9, 9, 3, 2, GL_RGB, GL_UNSIGNED_BYTE},   {10, 8, 3, 2, GL_RGB, GL_UNSIGNED_BYTE},
                   {5, 6, 4, 4, GL_BGRA, GL_UNSIGNED_SHORT}, {6, 6, 3, 3, GL_BGRA, GL_UNSIGNED_SHORT}, {2, 3, 5, 1, GL_RGBA, GL_FLOAT},
                   {3, 3, 4, 1, GL_RGBA, GL_FLOAT},          {8, 1, 2, 9, GL_RED, GL_UNSIGNED_BYTE},   {9, 2, 1, 8, GL_RED, GL_UNSIGNED_BYTE}};
    uint32_t sum = 0;
    for (size_t i = 0; i < 3 * sizeof regions / sizeof *regions; i++) {
        unsigned char pixels[8192];
        size_t r = i % (sizeof regions / sizeof *regions);
        memset(pixels, 0x5a, sizeof pixels);
        glPixelStorei(GL_PACK_ALIGNMENT, 1 << i % 4);
        glPixelStorei(GL_PACK_SWAP_BYTES, i % 3 == 1);
        glPixelStorei(GL_PACK_ROW_LENGTH, i % 5 ? 20 : 0);
        glPixelStorei(GL_PACK_SKIP_PIXELS, (GLint)i % 4);
        glPixelStorei(GL_PACK_SKIP_ROWS, (GLint)i % 3);
        glReadPixels(regions[r].x, regions[r].y, regions[r].width, regions[r].height, regions[r].format, regions[r].type, pixels);
        for (size_t b = 0; b < sizeof pixels; b++)
            sum = sum * 31 + pixels[b];
    }
    for (GLenum p = GL_PACK_SWAP_BYTES; p <= GL_PACK_ALIGNMENT; p++)
        glPixelStorei(p, p == GL_PACK_ALIGNMENT ? 4 : 0);
    note("%s: %08x", when, sum);
    errors(when);
}

/* All changes of the contents show in the next read, even if the read itself is the same. */
static void again_and_again(void)
{
    background();
    note_small("at first");
    note_small("again");
    glColor3f(1, 0.5f, 0);
    glRectf(-1, -1, -0.9f, -0.9f);
    note_small("a rectangle");
    glBegin(GL_QUADS);
    glColor3f(0, 1, 0.5f);
    glVertex2f(-1, -1);
    glVertex2f(-0.95f, -1);
    glVertex2f(-0.95f, -0.95f);
    glVertex2f(-1, -0.95f);
    glEnd();
    note_small("a quad");
    glPixelTransferf(GL_RED_SCALE, 0.5f);
    note_small("red is halved");
    glPixelTransferf(GL_RED_SCALE, 1);
    note_small("red is as it was");
    glRasterPos2f(-1, -1);
    glCopyPixels(100, 100, 20, 20, GL_COLOR);
    note_small("copied");
    GLuint framebuffer, texture, list = glGenLists(1);
    unsigned char squares[64 * 64 * 4];
    checkerboard(squares, 64, 64, 3);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, squares);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    unsigned char pixel[4];
    for (int i = 0; i < 5; i++) {
        glReadPixels(3 + i, 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
        note("%d %d %d", pixel[0], pixel[1], pixel[2]);
    }
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 16, 16, GL_BGRA, GL_UNSIGNED_BYTE, squares);
    glReadPixels(3, 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note("replaced: %d %d %d", pixel[0], pixel[1], pixel[2]);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    note_small("of the window again");
    glNewList(list, GL_COMPILE);
    glColor3f(0.3f, 0.3f, 1);
    glRectf(-0.99f, -0.99f, -0.9f, -0.9f);
    glEndList();
    note_small("a list is made");
    glCallList(list);
    note_small("and called");
    /* Reads into a buffer, and then into memory. */
    GLuint buffer = make_buffer(GL_PIXEL_PACK_BUFFER, 1024, NULL);
    glReadPixels(3, 5, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, (void *)16);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    note_small("after a buffer");
    glDeleteBuffers(1, &buffer);
    glReadBuffer(GL_FRONT);
    glClearColor(0.1f, 0.7f, 0.3f, 1);
    glDrawBuffer(GL_FRONT);
    glClear(GL_COLOR_BUFFER_BIT);
    note_small("of the front");
    glDrawBuffer(GL_BACK);
    glReadBuffer(GL_BACK);
    note_small("of the back");
    /* Another context draws into the same window. */
    GLXContext mine = glXGetCurrentContext(), other = create_context(main_window.config, NULL, (const int[]){None});
    glXMakeCurrent(display, main_window.id, other);
    glClearColor(0.9f, 0.1f, 0.6f, 1);
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 6, 6);
    glClear(GL_COLOR_BUFFER_BIT);
    glXMakeCurrent(display, main_window.id, mine);
    note_small("another context");
    glXDestroyContext(display, other);
    /* Each read raises its own errors. */
    for (int i = 0; i < 4; i++) {
        glReadPixels(3, 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
        glReadPixels(3, 3, 1, 1, GL_RGBA, 0x1234, pixel);
        errors("no type");
        glReadPixels(3, 3, -1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
        errors("no width");
    }
}

CONFORM("read_pixels", COMPAT, {"again_and_again", again_and_again}, {"formats", formats}, {"packing", packing}, {"edges", edges}, {"depth_and_stencil", depth_and_stencil},
        {"many_small", many_small}, {"from_front", from_front})
