/* glDrawPixels in all formats and types, zoomed, clipped, and with unpack parameters. */
#include "conform.h"

static unsigned char memory[1 << 16];

static void fill_memory(bool floats)
{
    uint32_t state = 4242;
    for (size_t i = 0; i < sizeof memory; i++) {
        state = state * 1664525u + 1013904223u;
        memory[i] = (unsigned char)(state >> 24);
    }
    for (size_t i = 0; floats && i < sizeof memory / 4; i++) {
        state = state * 1664525u + 1013904223u;
        float value = (float)(state >> 16) / 65536 * 1.4f - 0.2f;
        memcpy(memory + 4 * i, &value, 4);
    }
}

static void formats(void)
{
    static const GLenum formats[] = {GL_RED, GL_GREEN, GL_BLUE, GL_ALPHA, GL_RGB, GL_BGR, GL_RGBA, GL_BGRA, GL_LUMINANCE, GL_LUMINANCE_ALPHA};
    static const GLenum types[] = {GL_UNSIGNED_BYTE, GL_BYTE, GL_UNSIGNED_SHORT, GL_SHORT, GL_UNSIGNED_INT, GL_INT, GL_FLOAT};
    pixel_projection();
    for (int t = 0; t < 7; t++) {
        fill_memory(types[t] == GL_FLOAT);
        for (int f = 0; f < 10; f++) {
            glRasterPos2i(2 + 25 * f, 4 + 36 * t);
            glDrawPixels(21, 30, formats[f], types[t], memory);
        }
    }
    errors("formats");
}

static void packed(void)
{
    static const GLenum kinds[][2] = {{GL_RGB, GL_UNSIGNED_BYTE_3_3_2},        {GL_RGB, GL_UNSIGNED_BYTE_2_3_3_REV},
                                      {GL_RGB, GL_UNSIGNED_SHORT_5_6_5},       {GL_RGB, GL_UNSIGNED_SHORT_5_6_5_REV},
                                      {GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4},    {GL_BGRA, GL_UNSIGNED_SHORT_4_4_4_4_REV},
                                      {GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1},    {GL_BGRA, GL_UNSIGNED_SHORT_1_5_5_5_REV},
                                      {GL_RGBA, GL_UNSIGNED_INT_8_8_8_8},      {GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV},
                                      {GL_RGBA, GL_UNSIGNED_INT_10_10_10_2},   {GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV}};
    pixel_projection();
    fill_memory(false);
    for (int i = 0; i < 12; i++) {
        glRasterPos2i(4 + 62 * (i % 4), 4 + 80 * (i / 4));
        glDrawPixels(50, 70, kinds[i][0], kinds[i][1], memory);
    }
    errors("packed");
    glDrawPixels(5, 5, GL_RGB, GL_UNSIGNED_SHORT_4_4_4_4, memory);
    errors("three of four");
    glDrawPixels(-5, 5, GL_RGB, GL_UNSIGNED_BYTE, memory);
    errors("negative width");
    glDrawPixels(5, 5, GL_RGBA8, GL_UNSIGNED_BYTE, memory);
    errors("format");
}

static void unpacking(void)
{
    pixel_projection();
    fill_memory(false);
    for (int i = 0; i < 48; i++) {
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1 << i % 4);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, i % 3 ? 40 + i : 0);
        glPixelStorei(GL_UNPACK_SKIP_ROWS, i % 5);
        glPixelStorei(GL_UNPACK_SKIP_PIXELS, i % 7);
        glRasterPos2i(2 + 32 * (i % 8), 2 + 42 * (i / 8));
        glDrawPixels(27, 35, i % 2 ? GL_RGB : GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, memory);
    }
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 0);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 0);
    glPixelStorei(GL_UNPACK_SWAP_BYTES, 1);
    glRasterPos2i(100, 100);
    glDrawPixels(27, 35, GL_RGB, GL_UNSIGNED_SHORT, memory);
    errors("unpacking");
}

static void zoom(void)
{
    unsigned char image[20 * 16 * 4];
    checkerboard(image, 20, 16, 4);
    pixel_projection();
    for (int i = 0; i < 9; i++) {
        static const float zooms[][2] = {{1, 1}, {2, 2}, {3.5f, 1.5f}, {0.5f, 0.5f}, {-2, 2}, {2, -2}, {-1.7f, -1.3f}, {0, 1}, {4.4f, 0.25f}};
        glPixelZoom(zooms[i][0], zooms[i][1]);
        glRasterPos2f(40 + 85 * (float)(i % 3), 30.5f + 80 * (float)(i / 3));
        glDrawPixels(20, 16, GL_RGBA, GL_UNSIGNED_BYTE, image);
        FLOATS(GL_ZOOM_X, 1);
        FLOATS(GL_ZOOM_Y, 1);
    }
}

static void clipped(void)
{
    unsigned char image[64 * 64 * 4];
    checkerboard(image, 64, 64, 9);
    pixel_projection();
    glWindowPos2i(-20, -30);
    glDrawPixels(64, 64, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glWindowPos2i(220, 230);
    glDrawPixels(64, 64, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glRasterPos2i(-5, 100); /* outside: the position is invalid, nothing is drawn */
    glDrawPixels(64, 64, GL_RGBA, GL_UNSIGNED_BYTE, image);
    BOOLS(GL_CURRENT_RASTER_POSITION_VALID, 1);
    glEnable(GL_SCISSOR_TEST);
    glScissor(90, 90, 40, 50);
    glRasterPos2i(80, 80);
    glDrawPixels(64, 64, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glScissor(0, 0, SIZE, SIZE);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glRasterPos2i(160, 100);
    glDrawPixels(64, 64, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glRasterPos2i(170, 20);
    glColorMask(1, 0, 1, 1);
    glDrawPixels(64, 64, GL_RGBA, GL_UNSIGNED_BYTE, image);
    errors("clipped");
}

static void depth_and_stencil(void)
{
    GLfloat depths[32 * 32];
    GLushort shorts[32 * 32];
    GLubyte stencils[32 * 32];
    for (int i = 0; i < 32 * 32; i++) {
        depths[i] = (float)(i % 32) / 31;
        shorts[i] = (GLushort)(i * 63);
        stencils[i] = (GLubyte)(i / 8);
    }
    pixel_projection();
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    glPixelZoom(3, 3);
    glColorMask(0, 0, 0, 0);
    glRasterPos2i(10, 10);
    glDrawPixels(32, 32, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
    glRasterPos2i(130, 10);
    glDrawPixels(32, 32, GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT, shorts);
    glStencilMask(0x3F);
    glRasterPos2i(10, 130);
    glDrawPixels(32, 32, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, stencils);
    glColorMask(1, 1, 1, 1);
    glDepthFunc(GL_LESS);
    glDepthMask(0);
    glColor3f(1, 0.5f, 0);
    glRecti(0, 0, SIZE, 120);
    glEnable(GL_STENCIL_TEST);
    glDisable(GL_DEPTH_TEST);
    for (int i = 0; i < 8; i++) {
        glStencilFunc(GL_EQUAL, i * 8, 0x38);
        color_of(i);
        glRecti(0, 120, SIZE, SIZE);
    }
    errors("depth and stencil");
}

/* Maps convert indices to colours. Indices of type GL_BITMAP are left out, because Mesa draws
 * random bits for them. */
static void indices(void)
{
    static const GLenum types[] = {GL_UNSIGNED_BYTE, GL_BYTE, GL_UNSIGNED_SHORT, GL_SHORT, GL_UNSIGNED_INT, GL_INT, GL_FLOAT};
    GLfloat ramp[16], back[16];
    pixel_projection();
    for (int i = 0; i < 16; i++) {
        ramp[i] = (float)i / 15;
        back[15 - i] = ramp[i];
    }
    glPixelMapfv(GL_PIXEL_MAP_I_TO_R, 16, ramp);
    glPixelMapfv(GL_PIXEL_MAP_I_TO_G, 16, back);
    glPixelMapfv(GL_PIXEL_MAP_I_TO_B, 2, back);
    glPixelMapfv(GL_PIXEL_MAP_I_TO_A, 1, ramp);
    for (int i = 0; i < 7; i++) {
        fill_memory(types[i] == GL_FLOAT);
        glPixelTransferi(GL_INDEX_SHIFT, i % 3 - 1);
        glPixelTransferi(GL_INDEX_OFFSET, i);
        glRasterPos2i(4 + 62 * (i % 4), 10 + 120 * (i / 4));
        /* Mesa assumes that rows of indices have no padding, so they must not have any. */
        glDrawPixels(52, 100, GL_COLOR_INDEX, types[i], memory);
    }
    errors("indices");
}

/* A picture that is larger than any message. */
static void large(void)
{
    enum { width = 250, height = 1200 };
    unsigned char *image = malloc((size_t)width * height * 4);
    checkerboard(image, width, height, 13);
    pixel_projection();
    glPixelZoom(1, 0.2f);
    glRasterPos2i(3, 8);
    glDrawPixels(width, height, GL_RGBA, GL_UNSIGNED_BYTE, image);
    free(image);
    errors("large");
}

CONFORM("draw_pixels", COMPAT, {"formats", formats}, {"packed", packed}, {"unpacking", unpacking}, {"zoom", zoom}, {"clipped", clipped},
        {"depth_and_stencil", depth_and_stencil}, {"indices", indices}, {"large", large})
