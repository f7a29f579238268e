/* Pixel state of the client: saved and restored, with buffers that are mapped or too short, and for
 * maps and patterns. */
#include "conform.h"

#define IMAGE (51 * 60 * 4)

static unsigned char back[IMAGE];

static void note_buffer(const char *what)
{
    memset(back, 0, sizeof back);
    glGetBufferSubData(GL_PIXEL_PACK_BUFFER, 0, sizeof back, back);
    note_bytes(what, back, sizeof back);
}

static void saved(void)
{
    GLuint buffers[3];
    glGenBuffers(3, buffers);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 2);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffers[0]);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[2]);
    glPushClientAttrib(GL_CLIENT_PIXEL_STORE_BIT);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 8);
    glPixelStorei(GL_PACK_ROW_LENGTH, 8);
    glPixelStorei(GL_PACK_INVERT_MESA, 1);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffers[1]);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers[1]);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[1]);
    glPopClientAttrib();
    INTS(GL_UNPACK_ALIGNMENT, 1);
    INTS(GL_PACK_ROW_LENGTH, 1);
    INTS(GL_PACK_INVERT_MESA, 1);
    INTS(GL_PIXEL_UNPACK_BUFFER_BINDING, 1);
    INTS(GL_PIXEL_PACK_BUFFER_BINDING, 1);
    INTS(GL_ARRAY_BUFFER_BINDING, 1);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 3);
    errors("alignment of three");
    glPixelStorei(GL_PACK_SKIP_ROWS, -1);
    errors("rows before the first");
    glPixelStorei(GL_TEXTURE_2D, 1);
    errors("no parameter");
    glPixelStoref(GL_PACK_SKIP_ROWS, 2.6f);
    INTS(GL_PACK_SKIP_ROWS, 1);
}

static void mapped(void)
{
    GLuint buffers[2], texture;
    glGenBuffers(2, buffers);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffers[0]);
    glBufferData(GL_PIXEL_UNPACK_BUFFER, 100000, NULL, GL_STATIC_DRAW);
    unsigned char *bytes = glMapBuffer(GL_PIXEL_UNPACK_BUFFER, GL_WRITE_ONLY);
    for (int i = 0; i < 100000; i++)
        bytes[i] = (unsigned char)(i * 7);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, 51, 60, 0, GL_RGB, GL_UNSIGNED_BYTE, (void *)8);
    errors("an image in a mapped buffer");
    glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, 51, 60, 0, GL_RGB, GL_UNSIGNED_BYTE, (void *)8);
    errors("and no longer mapped");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, 510, 600, 0, GL_RGB, GL_UNSIGNED_BYTE, (void *)8);
    errors("beyond the buffer");
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
    note_bytes("image", back, sizeof back);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, 51, 60, 0, GL_RGB, GL_UNSIGNED_BYTE, back);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
    note_bytes("image of memory", back, sizeof back);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers[1]);
    glBufferData(GL_PIXEL_PACK_BUFFER, 51 * 64 * 4, NULL, GL_STATIC_READ);
    glPixelStorei(GL_PACK_SKIP_ROWS, 2);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, (void *)16);
    note_buffer("into a buffer");
    glReadPixels(0, 0, 20, 20, GL_RGBA, GL_UNSIGNED_BYTE, (void *)64);
    note_buffer("and over it");
    glMapBuffer(GL_PIXEL_PACK_BUFFER, GL_READ_ONLY);
    glReadPixels(0, 0, 20, 20, GL_RGBA, GL_UNSIGNED_BYTE, (void *)64);
    errors("into a mapped buffer");
}

static void maps_and_patterns(void)
{
    static const GLfloat map[4] = {0, 0.5f, 0.25f, 1};
    GLushort values[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    GLubyte pattern[128], read[128];
    GLuint buffer;
    glPixelMapfv(GL_PIXEL_MAP_G_TO_G, 4, map);
    glGetPixelMapusv(GL_PIXEL_MAP_G_TO_G, values);
    note_bytes("four", values, sizeof values);
    glGetPixelMapusv(GL_PIXEL_MAP_R_TO_R, values);
    note_bytes("one", values, sizeof values);
    glGetPixelMapusv(GL_RED, values);
    errors("no map");
    glPixelMapfv(GL_PIXEL_MAP_I_TO_R, 3, map);
    errors("three indices");
    for (int i = 0; i < 128; i++)
        pattern[i] = (GLubyte)(i * 5);
    glPixelStorei(GL_UNPACK_LSB_FIRST, 1);
    glPolygonStipple(pattern);
    glGetPolygonStipple(read);
    note_bytes("pattern", read, sizeof read);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    glBufferData(GL_PIXEL_PACK_BUFFER, IMAGE, NULL, GL_STATIC_READ);
    glGetPolygonStipple((void *)4);
    glGetPixelMapfv(GL_PIXEL_MAP_G_TO_G, (void *)200);
    note_buffer("into a buffer");
    errors("maps and patterns");
}

CONFORM("pixel_state", COMPAT, {"saved", saved}, {"mapped", mapped}, {"maps_and_patterns", maps_and_patterns})
