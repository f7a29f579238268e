/* Pixel buffer objects, in both directions and for every command that moves pixels. */
#include "conform.h"

static unsigned char image[64 * 64 * 4];

static GLuint filled(GLenum target, const void *data, size_t size)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(target, buffer);
    glBufferData(target, (GLsizeiptr)size, data, GL_STREAM_DRAW);
    return buffer;
}

static void note_buffer(const char *what, size_t size)
{
    unsigned char *back = malloc(size);
    glGetBufferSubData(GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)size, back);
    note_bytes(what, back, size);
    free(back);
}

static void drawing(void)
{
    checkerboard(image, 64, 64, 7);
    filled(GL_PIXEL_UNPACK_BUFFER, image, sizeof image);
    pixel_projection();
    glRasterPos2i(10, 10);
    glDrawPixels(60, 60, GL_RGBA, GL_UNSIGNED_BYTE, (void *)0);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 64);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 4);
    glRasterPos2i(80, 10);
    glDrawPixels(60, 60, GL_RGBA, GL_UNSIGNED_BYTE, (void *)16);
    glPixelStorei(GL_UNPACK_SWAP_BYTES, 1);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 0);
    glRasterPos2i(150, 10);
    glDrawPixels(60, 60, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV, (void *)0);
    glPixelStorei(GL_UNPACK_SWAP_BYTES, 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glColor3f(1, 1, 0);
    glRasterPos2i(10, 100);
    glBitmap(60, 60, 0, 0, 0, 0, (void *)5);
    errors("drawing");
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glRasterPos2i(80, 100);
    glDrawPixels(64, 64, GL_RGBA, GL_UNSIGNED_BYTE, (void *)4);
    errors("beyond the end");
    glDrawPixels(8, 8, GL_RGBA, GL_UNSIGNED_INT, (void *)2);
    errors("not aligned");
    glMapBuffer(GL_PIXEL_UNPACK_BUFFER, GL_READ_ONLY);
    glDrawPixels(8, 8, GL_RGBA, GL_UNSIGNED_BYTE, (void *)0);
    errors("mapped");
    glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glRasterPos2i(150, 100);
    glDrawPixels(60, 60, GL_RGBA, GL_UNSIGNED_BYTE, image);
}

static void textures(void)
{
    checkerboard(image, 64, 64, 7);
    filled(GL_PIXEL_UNPACK_BUFFER, image, sizeof image);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 60, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, (void *)0);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 10, 12, 30, 20, GL_BGRA, GL_UNSIGNED_BYTE, (void *)400);
    glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, 64, 0, GL_RGB, GL_UNSIGNED_BYTE, (void *)12);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, (void *)64);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glEnable(GL_TEXTURE_2D);
    glViewport(0, 0, SIZE, SIZE / 2);
    square(0.9f);
    glDisable(GL_TEXTURE_2D);
    glEnable(GL_TEXTURE_1D);
    glTexParameteri(GL_TEXTURE_1D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glViewport(0, SIZE / 2, SIZE / 2, SIZE / 2);
    square(0.9f);
    glDisable(GL_TEXTURE_1D);
    glEnable(GL_TEXTURE_3D);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glViewport(SIZE / 2, SIZE / 2, SIZE / 2, SIZE / 2);
    square(0.9f);
    errors("textures");
}

static void reading(void)
{
    checkerboard(image, 64, 64, 7);
    pixel_projection();
    glWindowPos2i(0, 0);
    glDrawPixels(64, 64, GL_RGBA, GL_UNSIGNED_BYTE, image);
    memset(image, 0x77, sizeof image);
    GLuint buffer = filled(GL_PIXEL_PACK_BUFFER, image, sizeof image);
    glReadPixels(3, 4, 50, 40, GL_RGBA, GL_UNSIGNED_BYTE, (void *)8);
    note_buffer("read", sizeof image);
    glPixelStorei(GL_PACK_ROW_LENGTH, 60);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 3);
    glPixelStorei(GL_PACK_ALIGNMENT, 8);
    glReadPixels(0, 0, 40, 40, GL_RGB, GL_UNSIGNED_BYTE, (void *)1);
    note_buffer("read with packing", sizeof image);
    glReadPixels(0, 0, 10, 10, GL_DEPTH_COMPONENT, GL_FLOAT, (void *)16);
    note_buffer("depth", sizeof image);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_BGRA, GL_UNSIGNED_BYTE, (void *)100);
    note_buffer("texture", sizeof image);
    glGetPolygonStipple((void *)0);
    note_buffer("stipple", sizeof image);
    errors("reading");
    glReadPixels(0, 0, 64, 64, GL_RGBA, GL_FLOAT, (void *)0);
    errors("beyond the end");
    unsigned char *mapped = glMapBuffer(GL_PIXEL_PACK_BUFFER, GL_READ_ONLY);
    note_bytes("mapped", mapped, 256);
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, (void *)0);
    errors("while mapped");
    glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
    BOUND(GL_PIXEL_PACK_BUFFER_BINDING, buffer);
}

/* Copies from the framebuffer into a buffer, and from the buffer into a texture and the
 * framebuffer. No pixels pass through the program. */
static void round_trip(void)
{
    GLuint buffer = filled(GL_PIXEL_PACK_BUFFER, NULL, 128 * 128 * 4);
    for (int i = 0; i < 9; i++) {
        color_of(i);
        glRectf(-1 + 0.11f * (float)i, -1, -0.95f + 0.11f * (float)i, -0.1f * (float)i);
    }
    glReadPixels(0, 0, 128, 128, GL_RGBA, GL_UNSIGNED_BYTE, (void *)0);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
    glWindowPos2i(128, 0);
    glDrawPixels(128, 128, GL_BGRA, GL_UNSIGNED_BYTE, (void *)0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, 128, 128, 0, GL_RGBA, GL_UNSIGNED_BYTE, (void *)0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glEnable(GL_TEXTURE_2D);
    glColor3f(1, 1, 1);
    glViewport(0, SIZE / 2, SIZE, SIZE / 2);
    square(0.9f);
    errors("round trip");
}

static void lists_and_maps(void)
{
    GLfloat map[4] = {1, 0.5f, 0.25f, 0};
    unsigned char back[16];
    checkerboard(image, 64, 64, 7);
    filled(GL_PIXEL_UNPACK_BUFFER, map, sizeof map);
    glPixelMapfv(GL_PIXEL_MAP_R_TO_R, 4, (void *)0);
    filled(GL_PIXEL_UNPACK_BUFFER, image, sizeof image);
    glPolygonStipple((void *)77);
    glNewList(1, GL_COMPILE);
    glDrawPixels(30, 30, GL_RGBA, GL_UNSIGNED_BYTE, (void *)256);
    glEndList();
    glBufferSubData(GL_PIXEL_UNPACK_BUFFER, 0, 4096, image + 4096);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    pixel_projection();
    glRasterPos2i(20, 20);
    glCallList(1);
    glEnable(GL_POLYGON_STIPPLE);
    glRecti(100, 20, 200, 200);
    glGetPixelMapfv(GL_PIXEL_MAP_R_TO_R, map);
    note_floats("map", map, 4);
    memset(back, 0x77, sizeof back);
    filled(GL_PIXEL_PACK_BUFFER, back, sizeof back);
    glGetPixelMapusv(GL_PIXEL_MAP_R_TO_R, (void *)4);
    note_buffer("map as shorts", sizeof back);
    errors("lists and maps");
}

CONFORM("pixel_buffers", COMPAT, {"drawing", drawing}, {"textures", textures}, {"reading", reading}, {"round_trip", round_trip},
        {"lists_and_maps", lists_and_maps})
