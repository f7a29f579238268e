/* Scales, biases and maps for pixels, in every direction of transfer. */
#include "conform.h"

static void reset(void)
{
    static const GLenum scales[] = {GL_RED_SCALE, GL_GREEN_SCALE, GL_BLUE_SCALE, GL_ALPHA_SCALE, GL_DEPTH_SCALE};
    static const GLenum biases[] = {GL_RED_BIAS, GL_GREEN_BIAS, GL_BLUE_BIAS, GL_ALPHA_BIAS, GL_DEPTH_BIAS};
    for (int i = 0; i < 5; i++) {
        glPixelTransferf(scales[i], 1);
        glPixelTransferf(biases[i], 0);
    }
    glPixelTransferi(GL_MAP_COLOR, 0);
    glPixelTransferi(GL_MAP_STENCIL, 0);
    glPixelTransferi(GL_INDEX_SHIFT, 0);
    glPixelTransferi(GL_INDEX_OFFSET, 0);
}

/* Sets one of several changes of colours. */
static void change(int way)
{
    GLfloat curve[16];
    for (int i = 0; i < 16; i++)
        curve[i] = (float)(i * i) / 225;
    reset();
    if (way & 1) {
        glPixelTransferf(GL_RED_SCALE, 0.5f);
        glPixelTransferf(GL_GREEN_BIAS, 0.25f);
        glPixelTransferf(GL_BLUE_SCALE, -1);
        glPixelTransferf(GL_BLUE_BIAS, 1);
        glPixelTransferf(GL_ALPHA_SCALE, 0.75f);
    }
    if (way & 2) {
        glPixelMapfv(GL_PIXEL_MAP_R_TO_R, 16, curve);
        glPixelMapuiv(GL_PIXEL_MAP_G_TO_G, 2, (const GLuint[]){0xFFFFFFFF, 0});
        glPixelMapusv(GL_PIXEL_MAP_B_TO_B, 4, (const GLushort[]){0, 65535, 0, 65535});
        glPixelMapfv(GL_PIXEL_MAP_A_TO_A, 1, (const GLfloat[]){0.5f});
        glPixelTransferi(GL_MAP_COLOR, GL_TRUE);
    }
}

static void drawing(void)
{
    unsigned char image[40 * 40 * 4];
    checkerboard(image, 40, 40, 10);
    pixel_projection();
    for (int way = 0; way < 4; way++) {
        change(way);
        glRasterPos2i(10 + 60 * way, 10);
        glDrawPixels(40, 40, GL_RGBA, GL_UNSIGNED_BYTE, image);
        reset();
        glRasterPos2i(10 + 60 * way, 70);
        glDrawPixels(40, 40, GL_RGBA, GL_UNSIGNED_BYTE, image);
        change(way);
        glRasterPos2i(10 + 60 * way, 130);
        glCopyPixels(10 + 60 * way, 70, 40, 40, GL_COLOR);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 40, 40, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 5, 5, 20, 20, GL_BGRA, GL_UNSIGNED_BYTE, image);
        reset();
        glEnable(GL_TEXTURE_2D);
        glPushMatrix();
        glTranslatef(30 + 60 * (float)way, 215, 0);
        square(20);
        glPopMatrix();
        glDisable(GL_TEXTURE_2D);
    }
    errors("drawing");
}

static void reading(void)
{
    unsigned char image[40 * 40 * 4];
    GLfloat floats[40 * 40 * 4];
    checkerboard(image, 40, 40, 10);
    pixel_projection();
    glWindowPos2i(0, 0);
    glDrawPixels(40, 40, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 40, 40, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    for (int way = 0; way < 4; way++) {
        change(way);
        memset(image, 0x77, sizeof image);
        glReadPixels(0, 0, 40, 40, GL_RGBA, GL_UNSIGNED_BYTE, image);
        note_bytes("read", image, sizeof image);
        glReadPixels(0, 0, 40, 40, GL_RGBA, GL_FLOAT, floats);
        note_bytes("read as floats", floats, sizeof floats);
        glReadPixels(0, 0, 40, 40, GL_LUMINANCE, GL_UNSIGNED_BYTE, image);
        note_bytes("read as luminance", image, 40 * 40);
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
        note_bytes("texture", image, sizeof image);
    }
    reset();
    errors("reading");
}

static void depth_and_stencil(void)
{
    GLfloat depths[64];
    GLubyte stencils[64], indices[64];
    pixel_projection();
    for (int i = 0; i < 64; i++) {
        depths[i] = (float)i / 63;
        indices[i] = (GLubyte)i;
    }
    glPixelTransferf(GL_DEPTH_SCALE, 0.5f);
    glPixelTransferf(GL_DEPTH_BIAS, 0.25f);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    glWindowPos2i(0, 0);
    glDrawPixels(64, 1, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
    glReadPixels(0, 0, 64, 1, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
    note_floats("depths", depths, 64);
    glPixelTransferi(GL_INDEX_SHIFT, 1);
    glPixelTransferi(GL_INDEX_OFFSET, 5);
    glWindowPos2i(0, 4);
    glDrawPixels(64, 1, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, indices);
    glReadPixels(0, 4, 64, 1, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, stencils);
    note_bytes("stencils", stencils, 64);
    reset();
    glPixelMapfv(GL_PIXEL_MAP_S_TO_S, 4, (const GLfloat[]){9, 8, 7, 6});
    glPixelTransferi(GL_MAP_STENCIL, 1);
    glWindowPos2i(0, 8);
    glDrawPixels(64, 1, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, indices);
    glReadPixels(0, 8, 64, 1, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, stencils);
    note_bytes("mapped stencils", stencils, 64);
    reset();
    glDisable(GL_DEPTH_TEST);
    errors("depth and stencil");
}

static void gets(void)
{
    static const GLenum maps[] = {GL_PIXEL_MAP_I_TO_I, GL_PIXEL_MAP_S_TO_S, GL_PIXEL_MAP_I_TO_R, GL_PIXEL_MAP_I_TO_A, GL_PIXEL_MAP_R_TO_R,
                                  GL_PIXEL_MAP_A_TO_A};
    static const GLenum sizes[] = {GL_PIXEL_MAP_I_TO_I_SIZE, GL_PIXEL_MAP_S_TO_S_SIZE, GL_PIXEL_MAP_I_TO_R_SIZE, GL_PIXEL_MAP_I_TO_A_SIZE,
                                   GL_PIXEL_MAP_R_TO_R_SIZE, GL_PIXEL_MAP_A_TO_A_SIZE};
    GLfloat floats[256];
    GLuint uints[256];
    GLushort ushorts[256];
    no_picture();
    INTS(GL_MAX_PIXEL_MAP_TABLE, 1);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 6; i++) {
            GLint size = 0;
            glGetIntegerv(sizes[i], &size);
            glGetPixelMapfv(maps[i], floats);
            glGetPixelMapuiv(maps[i], uints);
            glGetPixelMapusv(maps[i], ushorts);
            note("size %d: %.9g %u %u", size, (double)floats[size - 1], uints[size - 1], ushorts[size - 1]);
        }
        for (int i = 0; i < 6; i++)
            glPixelMapfv(maps[i], 4, (const GLfloat[]){0.1f, 2, 0.3f, 0.75f});
    }
    change(3);
    FLOATS(GL_RED_SCALE, 1);
    FLOATS(GL_GREEN_BIAS, 1);
    FLOATS(GL_BLUE_BIAS, 1);
    BOOLS(GL_MAP_COLOR, 1);
    INTS(GL_INDEX_SHIFT, 1);
    FLOATS(GL_DEPTH_SCALE, 1);
    reset();
    errors("gets");
    glPixelMapfv(GL_PIXEL_MAP_I_TO_R, 3, floats);
    errors("a size that is no power of two");
    glPixelMapfv(GL_PIXEL_MAP_R_TO_R, 0, floats);
    errors("no size");
    glPixelMapfv(GL_RED_SCALE, 2, floats);
    errors("map");
    glPixelTransferf(GL_ZOOM_X, 1);
    errors("parameter");
}

/* Maps and a stipple pattern in a display list. */
static void from_a_list(void)
{
    GLubyte stipple[128];
    GLfloat map[4] = {0, 0.9f, 0.3f, 1};
    GLushort short_map[2] = {0, 65535};
    unsigned char image[32 * 32 * 4];
    for (int i = 0; i < 128; i++)
        stipple[i] = (GLubyte)(i * 11);
    glNewList(1, GL_COMPILE);
    glPolygonStipple(stipple);
    glPixelMapfv(GL_PIXEL_MAP_R_TO_R, 4, map);
    glPixelMapusv(GL_PIXEL_MAP_G_TO_G, 2, short_map);
    glPixelTransferi(GL_MAP_COLOR, GL_TRUE);
    glPixelTransferf(GL_BLUE_SCALE, 0.5f);
    glEnable(GL_POLYGON_STIPPLE);
    glEndList();
    memset(stipple, 0, sizeof stipple);
    memset(map, 0, sizeof map);
    memset(short_map, 0, sizeof short_map);
    glCallList(1);
    square(0.9f);
    glDisable(GL_POLYGON_STIPPLE);
    checkerboard(image, 32, 32, 4);
    glRasterPos2f(-0.5f, -0.5f);
    glPixelZoom(3, 3);
    glDrawPixels(32, 32, GL_RGBA, GL_UNSIGNED_BYTE, image);
    GLfloat back[4];
    glGetPixelMapfv(GL_PIXEL_MAP_R_TO_R, back);
    note_floats("red map", back, 4);
    GLubyte pattern[128];
    glGetPolygonStipple(pattern);
    note_bytes("stipple", pattern, sizeof pattern);
    glPixelTransferi(GL_MAP_COLOR, GL_FALSE);
    glPixelTransferf(GL_BLUE_SCALE, 1);
}

CONFORM("pixel_transfer", COMPAT, {"drawing", drawing}, {"reading", reading}, {"depth_and_stencil", depth_and_stencil}, {"gets", gets},
        {"from_a_list", from_a_list})
