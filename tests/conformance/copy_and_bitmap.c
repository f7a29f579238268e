/* glCopyPixels, glBitmap and the raster position. */
#include "conform.h"

static void background(void)
{
    pixel_projection();
    for (int i = 0; i < 10; i++) {
        color_of(i);
        glRecti(10 + 6 * i, 10 + 8 * i, 90 - 3 * i, 100 - 2 * i);
    }
}

static void copies(void)
{
    background();
    glRasterPos2i(120, 20);
    glCopyPixels(10, 10, 80, 60, GL_COLOR);
    glRasterPos2i(120, 120);
    glPixelZoom(1.5f, 1.25f);
    glCopyPixels(10, 10, 80, 90, GL_COLOR);
    glPixelZoom(-1, 1);
    glRasterPos2i(100, 140);
    glCopyPixels(10, 10, 80, 90, GL_COLOR);
    glPixelZoom(1, 1);
    glRasterPos2i(30, 40);
    glCopyPixels(10, 10, 60, 60, GL_COLOR); /* onto itself */
    glRasterPos2i(200, 200);
    glCopyPixels(-20, -20, 70, 70, GL_COLOR); /* from outside too */
    errors("copies");
    glCopyPixels(0, 0, -1, 5, GL_COLOR);
    errors("negative width");
    glCopyPixels(0, 0, 1, 5, GL_RGBA);
    errors("type");
}

static void depth_and_stencil_copies(void)
{
    pixel_projection();
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_STENCIL_TEST);
    glDepthFunc(GL_ALWAYS);
    glStencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE);
    for (int i = 0; i < 10; i++) {
        glStencilFunc(GL_ALWAYS, i, 0xFF);
        glPushMatrix();
        glTranslatef(0, 0, -0.9f + 0.18f * (float)i);
        color_of(i);
        glRecti(10 + 6 * i, 10 + 8 * i, 90 - 3 * i, 100 - 2 * i);
        glPopMatrix();
    }
    glDisable(GL_STENCIL_TEST);
    glRasterPos2i(130, 10);
    glCopyPixels(0, 0, 100, 110, GL_DEPTH);
    glDisable(GL_DEPTH_TEST);
    glRasterPos2i(10, 130);
    glCopyPixels(0, 0, 100, 110, GL_STENCIL);
    GLfloat depth[4];
    GLubyte stencil[4];
    for (int i = 0; i < 4; i++) {
        glReadPixels(150 + 12 * i, 50, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT, &depth[i]);
        glReadPixels(30 + 12 * i, 170, 1, 1, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, &stencil[i]);
    }
    note_floats("depths", depth, 4);
    note_bytes("stencils", stencil, 4);
    errors("depth and stencil copies");
}

static const GLubyte glyph[] = {0x18, 0x3C, 0x66, 0xC3, 0xFF, 0xC3, 0xC3, 0xC3, 0x81, 0x81};

static void bitmaps(void)
{
    pixel_projection();
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (int i = 0; i < 200; i++) {
        color_of(i);
        if (i % 20 == 0)
            glRasterPos2f(10.25f, 10.75f + 20 * (float)(i / 20));
        glBitmap(8, 10, (float)(i % 3), (float)(i % 2), 11.5f, 0.25f * (float)(i % 4), glyph);
    }
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);
    FLOATS(GL_CURRENT_RASTER_COLOR, 4);
    glBitmap(0, 0, 0, 0, 5, 6, NULL); /* only moves */
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);
    glBitmap(-1, 0, 0, 0, 5, 6, NULL);
    errors("negative width");
}

static void bitmap_unpacking(void)
{
    unsigned char memory[8192];
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (unsigned char)(i * i * 31 + i * 7);
    pixel_projection();
    for (int i = 0; i < 48; i++) {
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1 << i % 4);
        glPixelStorei(GL_UNPACK_LSB_FIRST, i / 4 % 2);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, i % 3 ? 50 + i : 0);
        glPixelStorei(GL_UNPACK_SKIP_ROWS, i % 5);
        glPixelStorei(GL_UNPACK_SKIP_PIXELS, i % 13);
        color_of(i);
        glRasterPos2i(2 + 32 * (i % 8), 2 + 42 * (i / 8));
        glBitmap(27, 37, 0, 0, 0, 0, memory);
    }
    errors("bitmap unpacking");
}

static void raster_position(void)
{
    glMatrixMode(GL_PROJECTION);
    glFrustum(-1, 1, -1, 1, 1, 10);
    glMatrixMode(GL_MODELVIEW);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnable(GL_COLOR_MATERIAL);
    glEnable(GL_TEXTURE_GEN_S);
    glEnable(GL_TEXTURE_2D);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (int i = 0; i < 10; i++) {
        color_of(i);
        glNormal3f((float)i / 10, 0, 1);
        glTexCoord2f((float)i, 2);
        glRasterPos4f(-3 + 0.7f * (float)i, -2 + 0.4f * (float)i, -3, 1);
        FLOATS(GL_CURRENT_RASTER_POSITION, 4);
        FLOATS(GL_CURRENT_RASTER_COLOR, 4);
        FLOATS(GL_CURRENT_RASTER_TEXTURE_COORDS, 4);
        FLOATS(GL_CURRENT_RASTER_DISTANCE, 1);
        BOOLS(GL_CURRENT_RASTER_POSITION_VALID, 1);
        INTS(GL_CURRENT_RASTER_POSITION, 4);
        glDisable(GL_TEXTURE_2D);
        glBitmap(8, 10, 0, 0, 0, 0, glyph);
        glEnable(GL_TEXTURE_2D);
    }
    errors("raster position");
}

CONFORM("copy_and_bitmap", COMPAT, {"copies", copies}, {"depth_and_stencil_copies", depth_and_stencil_copies}, {"bitmaps", bitmaps},
        {"bitmap_unpacking", bitmap_unpacking}, {"raster_position", raster_position})
