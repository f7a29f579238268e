/* Client vertex arrays of all types, sizes and strides, and glInterleavedArrays. */
#include "conform.h"

/* Writes `value` as a component of `type`. Normalised types scale it by their largest value. */
static size_t put(unsigned char *at, GLenum type, double value, bool normalized)
{
    switch (type) {
    case GL_BYTE: *(GLbyte *)at = (GLbyte)(normalized ? value * 127 : value); return 1;
    case GL_UNSIGNED_BYTE: *at = (GLubyte)(normalized ? value * 255 : value); return 1;
    case GL_SHORT: memcpy(at, &(GLshort){(GLshort)(normalized ? value * 32767 : value)}, 2); return 2;
    case GL_UNSIGNED_SHORT: memcpy(at, &(GLushort){(GLushort)(normalized ? value * 65535 : value)}, 2); return 2;
    case GL_INT: memcpy(at, &(GLint){(GLint)(normalized ? value * 2147483647 : value)}, 4); return 4;
    case GL_UNSIGNED_INT: memcpy(at, &(GLuint){(GLuint)(normalized ? value * 4294967295u : value)}, 4); return 4;
    case GL_FLOAT: memcpy(at, &(GLfloat){(GLfloat)value}, 4); return 4;
    default: memcpy(at, &value, 8); return 8;
    }
}

/* Builds `count` elements of `size` components, `stride` bytes apart (0: without gaps). */
static unsigned char *build(GLenum type, int size, int stride, int count, bool normalized, double (*value)(int element, int component))
{
    unsigned char *data = calloc((size_t)count + 1, (size_t)(stride ? stride : size * 8)), *at = data;
    for (int i = 0; i < count; i++) {
        unsigned char *start = at;
        for (int c = 0; c < size; c++)
            at += put(at, type, value(i, c), normalized);
        if (stride)
            at = start + stride;
    }
    return data;
}

/* The four corners of squares in pixels, with z = 0 and w = 1. */
static double corner(int element, int component)
{
    int right = element % 4 == 1 || element % 4 == 2, top = element % 4 >= 2;
    return component == 0 ? 4 + 30 * (element / 4) + 24 * right : component == 1 ? 4 + 20 * top : component == 3;
}

static double shade(int element, int component)
{
    float rgb[3];
    hue((float)(element % 8) / 8, rgb);
    return component < 3 ? (double)rgb[component] : 0.5 + (double)(element % 4) / 6;
}

static void vertex_types(void)
{
    static const GLenum types[] = {GL_SHORT, GL_INT, GL_FLOAT, GL_DOUBLE};
    int row = 0;
    pixel_projection();
    glEnableClientState(GL_VERTEX_ARRAY);
    for (int t = 0; t < 4; t++) {
        for (int size = 2; size <= 4; size++, row++) {
            int stride = row % 3 == 2 ? 40 : 0;
            unsigned char *data = build(types[t], size, stride, 32, false, corner);
            glVertexPointer(size, types[t], stride, data);
            color_of(row);
            glPushMatrix();
            glTranslatef(0, 20.0f * (float)row, 0);
            glScalef(1, 0.7f, 1);
            glDrawArrays(GL_QUADS, 4 * (row % 2), 32 - 4 * (row % 2));
            glPopMatrix();
            free(data);
        }
    }
    errors("vertex types");
}

static void color_types(void)
{
    static const GLenum types[] = {GL_BYTE, GL_UNSIGNED_BYTE, GL_SHORT, GL_UNSIGNED_SHORT, GL_INT, GL_UNSIGNED_INT, GL_FLOAT, GL_DOUBLE};
    unsigned char *vertices = build(GL_FLOAT, 2, 0, 32, false, corner);
    int row = 0;
    pixel_projection();
    glVertexPointer(2, GL_FLOAT, 0, vertices);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
    for (int t = 0; t < 8; t++) {
        for (int size = 3; size <= 4; size++, row++) {
            int stride = row % 4 == 1 ? 36 : 0;
            unsigned char *data = build(types[t], size, stride, 32, true, shade);
            glColorPointer(size, types[t], stride, data);
            glPushMatrix();
            glTranslatef(0, 15.5f * (float)row, 0);
            glScalef(1, 0.6f, 1);
            glDrawArrays(GL_QUADS, 0, 32);
            glPopMatrix();
            free(data);
        }
    }
    FLOATS(GL_CURRENT_COLOR, 4);
    if (has_extension("GL_ARB_vertex_array_bgra")) {
        unsigned char *data = build(GL_UNSIGNED_BYTE, 4, 0, 32, true, shade);
        glColorPointer(GL_BGRA, GL_UNSIGNED_BYTE, 0, data);
        glTranslatef(0, 200, 0);
        glDrawArrays(GL_QUADS, 0, 32);
        free(data);
    }
    free(vertices);
    errors("colour types");
}

static void normals_and_more(void)
{
    static const GLenum types[] = {GL_BYTE, GL_SHORT, GL_INT, GL_FLOAT, GL_DOUBLE};
    static const GLenum fog_types[] = {GL_FLOAT, GL_DOUBLE};
    unsigned char *vertices = build(GL_FLOAT, 2, 0, 32, false, corner);
    pixel_projection();
    glVertexPointer(2, GL_FLOAT, 0, vertices);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnableClientState(GL_NORMAL_ARRAY);
    for (int t = 0; t < 5; t++) {
        unsigned char *data = build(types[t], 3, t % 2 * 32, 32, true, shade);
        glNormalPointer(types[t], t % 2 * 32, data);
        glDrawArrays(GL_QUADS, 0, 32);
        glTranslatef(0, 25, 0);
        free(data);
    }
    glDisableClientState(GL_NORMAL_ARRAY);
    glDisable(GL_LIGHTING);
    glEnable(GL_COLOR_SUM);
    glColor3f(0.2f, 0, 0);
    glEnableClientState(GL_SECONDARY_COLOR_ARRAY);
    for (int t = 0; t < 3; t++) {
        static const GLenum secondary[] = {GL_UNSIGNED_BYTE, GL_FLOAT, GL_SHORT};
        unsigned char *data = build(secondary[t], 3, 0, 32, true, shade);
        glSecondaryColorPointer(3, secondary[t], 0, data);
        glDrawArrays(GL_QUADS, 0, 32);
        glTranslatef(0, 25, 0);
        free(data);
    }
    glDisableClientState(GL_SECONDARY_COLOR_ARRAY);
    glEnable(GL_FOG);
    glFogi(GL_FOG_MODE, GL_LINEAR);
    glFogi(GL_FOG_COORD_SRC, GL_FOG_COORD);
    glFogfv(GL_FOG_COLOR, (const float[]){0, 0.4f, 1, 1});
    glEnableClientState(GL_FOG_COORD_ARRAY);
    for (int t = 0; t < 2; t++) {
        unsigned char *data = build(fog_types[t], 1, t * 24, 32, false, shade);
        glFogCoordPointer(fog_types[t], t * 24, data);
        glDrawArrays(GL_QUADS, 0, 32);
        glTranslatef(0, 25, 0);
        free(data);
    }
    free(vertices);
    errors("normals and more");
}

static double texture_place(int element, int component)
{
    int right = element % 4 == 1 || element % 4 == 2, top = element % 4 >= 2;
    return component == 0 ? right * (1 + element / 8) : component == 1 ? top : component == 3;
}

static void texture_coordinates(void)
{
    static const GLenum types[] = {GL_SHORT, GL_INT, GL_FLOAT, GL_DOUBLE};
    unsigned char *vertices = build(GL_FLOAT, 2, 0, 32, false, corner), *data[8];
    unsigned char image[16 * 16 * 4];
    checkerboard(image, 16, 16, 4);
    pixel_projection();
    glVertexPointer(2, GL_FLOAT, 0, vertices);
    glEnableClientState(GL_VERTEX_ARRAY);
    for (GLenum unit = 0; unit < 2; unit++) {
        glActiveTexture(GL_TEXTURE0 + unit);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, unit ? GL_ADD : GL_MODULATE);
        glEnable(GL_TEXTURE_2D);
    }
    for (int row = 0; row < 8; row++) {
        int size = 1 + row % 4;
        data[row] = build(types[row % 4], size, row >= 4 ? 44 : 0, 32, false, texture_place);
        glClientActiveTexture(GL_TEXTURE0 + (GLenum)row % 2);
        glTexCoordPointer(size, types[row % 4], row >= 4 ? 44 : 0, data[row]);
        glEnableClientState(GL_TEXTURE_COORD_ARRAY);
        INTS(GL_TEXTURE_COORD_ARRAY_SIZE, 1);
        glDrawArrays(GL_QUADS, 0, 32);
        glTranslatef(0, 31, 0);
    }
    for (int row = 0; row < 8; row++)
        free(data[row]);
    free(vertices);
    errors("texture coordinates");
}

static void edge_flags(void)
{
    GLboolean flags[32 * 3];
    unsigned char *vertices = build(GL_FLOAT, 2, 0, 32, false, corner);
    for (int i = 0; i < 32 * 3; i++)
        flags[i] = i % 5 != 0;
    pixel_projection();
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    glVertexPointer(2, GL_FLOAT, 0, vertices);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_EDGE_FLAG_ARRAY);
    for (int i = 0; i < 3; i++) {
        glEdgeFlagPointer(i, flags);
        glDrawArrays(GL_QUADS, 0, 32);
        glTranslatef(0, 40, 0);
    }
    free(vertices);
    errors("edge flags");
}

static void generic(void)
{
    static const GLenum types[] = {GL_BYTE, GL_UNSIGNED_BYTE, GL_SHORT, GL_UNSIGNED_SHORT, GL_INT, GL_UNSIGNED_INT, GL_FLOAT, GL_DOUBLE};
    if (!need_version(2, 0))
        return;
    unsigned char *vertices = build(GL_FLOAT, 2, 0, 32, false, corner);
    GLuint program = build_program("attribute vec4 tint; varying vec4 color;\n"
                                   "void main() { gl_Position = gl_ModelViewProjectionMatrix * gl_Vertex; color = tint; }",
                                   "varying vec4 color; void main() { gl_FragColor = color; }");
    GLuint tint = (GLuint)glGetAttribLocation(program, "tint");
    int row = 0;
    pixel_projection();
    glUseProgram(program);
    glVertexPointer(2, GL_FLOAT, 0, vertices);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableVertexAttribArray(tint);
    for (int t = 0; t < 8; t++) {
        for (int normalized = 0; normalized < 2; normalized++, row++) {
            int size = 1 + row % 4;
            unsigned char *data = build(types[t], size, row % 5 == 3 ? 52 : 0, 32, normalized, shade);
            glVertexAttribPointer(tint, size, types[t], (GLboolean)normalized, row % 5 == 3 ? 52 : 0, data);
            glPushMatrix();
            glTranslatef(0, 15.5f * (float)row, 0);
            glScalef(1, 0.6f, 1);
            glDrawArrays(GL_QUADS, 0, 32);
            glPopMatrix();
            free(data);
        }
    }
    free(vertices);
    errors("generic");
}

static void interleaved(void)
{
    static const GLenum formats[] = {GL_V2F, GL_V3F, GL_C4UB_V2F, GL_C4UB_V3F, GL_C3F_V3F, GL_N3F_V3F, GL_C4F_N3F_V3F, GL_T2F_V3F, GL_T4F_V4F,
                                     GL_T2F_C4UB_V3F, GL_T2F_C3F_V3F, GL_T2F_N3F_V3F, GL_T2F_C4F_N3F_V3F, GL_T4F_C4F_N3F_V4F};
    static const char *const layouts[] = {"V2", "V3", "BV2", "BV3", "C3V3", "N3V3", "C4N3V3", "T2V3", "T4V4", "T2BV3", "T2C3V3", "T2N3V3", "T2C4N3V3",
                                          "T4C4N3V4"};
    pixel_projection();
    for (int f = 0; f < 14; f++) {
        unsigned char data[40 * 100] = {0}, *at = data;
        int extra = f % 3 == 2 ? 8 : 0, size = 0;
        for (int i = 0; i < 32; i++) {
            unsigned char *start = at;
            for (const char *part = layouts[f]; *part; part++) {
                if (*part == 'B') {
                    for (int c = 0; c < 4; c++)
                        at += put(at, GL_UNSIGNED_BYTE, shade(i, c), true);
                    continue;
                }
                int count = part[1] - '0';
                for (int c = 0; c < count; c++)
                    at += put(at, GL_FLOAT, *part == 'V' ? corner(i, c) : *part == 'T' ? texture_place(i, c) : shade(i, c), false);
                part++;
            }
            size = (int)(at - start);
            at += extra;
        }
        glColor3f(1, 1, 1);
        glInterleavedArrays(formats[f], extra ? size + extra : 0, data);
        ENABLED(GL_COLOR_ARRAY);
        ENABLED(GL_NORMAL_ARRAY);
        ENABLED(GL_TEXTURE_COORD_ARRAY);
        INTS(GL_VERTEX_ARRAY_SIZE, 1);
        INTS(GL_VERTEX_ARRAY_STRIDE, 1);
        INTS(GL_COLOR_ARRAY_TYPE, 1);
        glPushMatrix();
        glTranslatef(0, 17.5f * (float)f, 0);
        glScalef(1, 0.65f, 1);
        glDrawArrays(GL_QUADS, 0, 32);
        glPopMatrix();
    }
    errors("interleaved");
    glInterleavedArrays(GL_V2F, -1, NULL);
    errors("negative stride");
    glInterleavedArrays(GL_RGBA, 0, NULL);
    errors("format");
}

static void wrong(void)
{
    GLfloat data[8] = {0};
    GLvoid *pointer = NULL;
    no_picture();
    glVertexPointer(1, GL_FLOAT, 0, data);
    errors("one coordinate");
    glVertexPointer(3, GL_UNSIGNED_BYTE, 0, data);
    errors("positions of bytes");
    glColorPointer(2, GL_FLOAT, 0, data);
    errors("colour of two");
    glNormalPointer(GL_UNSIGNED_SHORT, 0, data);
    errors("unsigned normals");
    glTexCoordPointer(5, GL_FLOAT, 0, data);
    errors("five coordinates");
    glVertexPointer(2, GL_FLOAT, -4, data);
    errors("negative stride");
    glEnableClientState(GL_TEXTURE_2D);
    errors("state");
    glVertexAttribPointer(100, 2, GL_FLOAT, 0, 0, data);
    errors("attribute 100");
    glVertexPointer(3, GL_SHORT, 12, data);
    glGetPointerv(GL_VERTEX_ARRAY_POINTER, &pointer);
    note("pointer is the given one: %d", pointer == data);
    INTS(GL_VERTEX_ARRAY_TYPE, 1);
    glDrawArrays(GL_TRIANGLES, 0, -1);
    errors("negative count");
    glDrawArrays(GL_TRIANGLES, -1, 3);
    errors("negative first");
    glDrawArrays(GL_TRIANGLES + 100, 0, 3);
    errors("primitive");
    glDrawArrays(GL_TRIANGLES, 0, 3); /* no vertex array: nothing is drawn */
    errors("no vertices");
}

CONFORM("arrays", COMPAT, {"vertex_types", vertex_types}, {"color_types", color_types}, {"normals_and_more", normals_and_more},
        {"texture_coordinates", texture_coordinates}, {"edge_flags", edge_flags}, {"generic", generic}, {"interleaved", interleaved}, {"wrong", wrong})
