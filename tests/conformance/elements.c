/* glDrawElements and its relatives, with indices of all types, in memory and in buffers. */
#include "conform.h"

#define COLUMNS 16
#define ROWS 12

static GLfloat positions[ROWS * COLUMNS][2];
static GLubyte colors[ROWS * COLUMNS][4];
static GLuint indices[(ROWS - 1) * (COLUMNS - 1) * 6];
static const int index_count = (ROWS - 1) * (COLUMNS - 1) * 6;

static void grid(void)
{
    int count = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        float rgb[3];
        positions[i][0] = -0.9f + 1.8f * (float)(i % COLUMNS) / (COLUMNS - 1);
        positions[i][1] = -0.9f + 1.8f * (float)(i / COLUMNS) / (ROWS - 1);
        hue((float)(i * 7 % 50) / 50, rgb);
        for (int c = 0; c < 3; c++)
            colors[i][c] = (GLubyte)(rgb[c] * 255);
        colors[i][3] = 255;
    }
    for (int y = 0; y < ROWS - 1; y++) {
        for (int x = 0; x < COLUMNS - 1; x++) {
            GLuint a = (GLuint)(y * COLUMNS + x), b = a + 1, c = a + COLUMNS, d = c + 1;
            const GLuint six[6] = {a, b, c, b, d, c};
            memcpy(indices + count, six, sizeof six);
            count += 6;
        }
    }
    glVertexPointer(2, GL_FLOAT, 0, positions);
    glColorPointer(4, GL_UNSIGNED_BYTE, 0, colors);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
}

static void types(void)
{
    static GLubyte bytes[(ROWS - 1) * (COLUMNS - 1) * 6];
    static GLushort shorts[(ROWS - 1) * (COLUMNS - 1) * 6];
    grid();
    for (int i = 0; i < index_count; i++)
        bytes[i] = (GLubyte)(shorts[i] = (GLushort)indices[i]);
    glViewport(0, 0, 128, 128);
    glDrawElements(GL_TRIANGLES, index_count, GL_UNSIGNED_BYTE, bytes);
    glViewport(128, 0, 128, 128);
    glDrawElements(GL_TRIANGLES, index_count / 2, GL_UNSIGNED_SHORT, shorts);
    glViewport(0, 128, 128, 128);
    glDrawElements(GL_LINE_STRIP, index_count, GL_UNSIGNED_INT, indices);
    glViewport(128, 128, 128, 128);
    glDrawRangeElements(GL_QUADS, 0, ROWS * COLUMNS - 1, index_count / 8, GL_UNSIGNED_INT, indices + 40);
    errors("types");
    glDrawElements(GL_TRIANGLES, -3, GL_UNSIGNED_INT, indices);
    errors("negative count");
    glDrawElements(GL_TRIANGLES, 3, GL_INT, indices);
    errors("signed indices");
    glDrawElements(GL_TRIANGLES, 3, GL_FLOAT, indices);
    errors("float indices");
    glDrawRangeElements(GL_TRIANGLES, 5, 2, 3, GL_UNSIGNED_INT, indices);
    errors("empty range");
    FLOATS(GL_CURRENT_COLOR, 4);
}

/* Indices in a buffer with arrays in memory, and the reverse. */
static void buffers(void)
{
    GLuint names[3];
    grid();
    glGenBuffers(3, names);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, names[0]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices, GL_STATIC_DRAW);
    glViewport(0, 0, 128, 128);
    glDrawElements(GL_TRIANGLES, index_count, GL_UNSIGNED_INT, (void *)0);
    glViewport(128, 0, 128, 128);
    glDrawElements(GL_TRIANGLES, 300, GL_UNSIGNED_INT, (void *)(4 * 120));
    glBindBuffer(GL_ARRAY_BUFFER, names[1]);
    glBufferData(GL_ARRAY_BUFFER, sizeof positions, positions, GL_STATIC_DRAW);
    glVertexPointer(2, GL_FLOAT, 0, (void *)0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    memset(positions, 0, sizeof positions);
    glViewport(0, 128, 128, 128);
    glDrawElements(GL_TRIANGLES, index_count, GL_UNSIGNED_INT, (void *)0); /* positions in a buffer, colours in memory */
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    glBindBuffer(GL_ARRAY_BUFFER, names[2]);
    glBufferData(GL_ARRAY_BUFFER, sizeof colors, colors, GL_STATIC_DRAW);
    glColorPointer(4, GL_UNSIGNED_BYTE, 0, (void *)0);
    glViewport(128, 128, 128, 128);
    glDrawElements(GL_TRIANGLES, index_count, GL_UNSIGNED_INT, indices);
    BOUND(GL_VERTEX_ARRAY_BUFFER_BINDING, names[1]);
    BOUND(GL_COLOR_ARRAY_BUFFER_BINDING, names[2]);
    BOUND(GL_ELEMENT_ARRAY_BUFFER_BINDING, 0);
    errors("buffers");
}

static void base_vertex(void)
{
    if (!need_version(3, 2))
        return;
    grid();
    static const GLushort quad[] = {0, 1, COLUMNS + 1, COLUMNS};
    for (int i = 0; i < ROWS * (COLUMNS - 1) - COLUMNS; i += 2)
        glDrawElementsBaseVertex(GL_QUADS, 4, GL_UNSIGNED_SHORT, (void *)quad, i);
    glViewport(20, 20, 60, 60);
    glDrawRangeElementsBaseVertex(GL_QUADS, 0, COLUMNS + 1, 4, GL_UNSIGNED_SHORT, (void *)quad, 33);
    glDrawElementsInstancedBaseVertex(GL_QUADS, 4, GL_UNSIGNED_SHORT, (void *)quad, 2, 70);
    errors("base vertex");
}

static void restart(void)
{
    static const GLushort shorts[] = {0, 16, 1, 17, 2, 18, 999, 40, 56, 41, 57, 42, 58, 999, 999, 100, 116, 101, 999, 120, 121};
    static const GLubyte bytes[] = {10, 26, 11, 27, 255, 60, 76, 61, 77, 62};
    if (!need_version(3, 1))
        return;
    grid();
    glEnable(GL_PRIMITIVE_RESTART);
    glPrimitiveRestartIndex(999);
    INTS(GL_PRIMITIVE_RESTART_INDEX, 1);
    glDrawElements(GL_TRIANGLE_STRIP, sizeof shorts / 2, GL_UNSIGNED_SHORT, shorts);
    glViewport(128, 0, 128, 128);
    glDrawElements(GL_LINE_LOOP, sizeof shorts / 2, GL_UNSIGNED_SHORT, shorts);
    glPrimitiveRestartIndex(255);
    glViewport(0, 128, 128, 128);
    glDrawElements(GL_TRIANGLE_STRIP, sizeof bytes, GL_UNSIGNED_BYTE, bytes);
    glDisable(GL_PRIMITIVE_RESTART);
    if (has_version(4, 3)) {
        glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
        glViewport(128, 128, 128, 128);
        glDrawElements(GL_TRIANGLE_FAN, sizeof bytes, GL_UNSIGNED_BYTE, bytes);
        glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    }
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffer);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof shorts, shorts, GL_STATIC_DRAW);
    glEnable(GL_PRIMITIVE_RESTART);
    glPrimitiveRestartIndex(999);
    glViewport(64, 64, 128, 128);
    glDrawElements(GL_LINE_STRIP, sizeof shorts / 2, GL_UNSIGNED_SHORT, (void *)0);
    errors("restart");
}

static void multi(void)
{
    static const GLint first[] = {0, 20, 60, 90, 150};
    static const GLsizei count[] = {6, 12, 0, 9, 16};
    grid();
    glMultiDrawArrays(GL_TRIANGLE_STRIP, first, count, 5);
    const GLvoid *starts[] = {indices, indices + 60, indices + 200, indices + 500};
    const GLsizei counts[] = {30, 60, 0, 90};
    glViewport(128, 0, 128, 128);
    glMultiDrawElements(GL_TRIANGLES, counts, GL_UNSIGNED_INT, starts, 4);
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffer);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices, GL_STATIC_DRAW);
    const GLvoid *offsets[] = {(void *)0, (void *)1200, (void *)2400, (void *)3600};
    glViewport(0, 128, 128, 128);
    glMultiDrawElements(GL_TRIANGLES, counts, GL_UNSIGNED_INT, offsets, 4);
    if (has_version(3, 2)) {
        static const GLint bases[] = {0, 16, 32, -3};
        glViewport(128, 128, 128, 128);
        glMultiDrawElementsBaseVertex(GL_TRIANGLES, (GLsizei *)counts, GL_UNSIGNED_INT, (const void **)offsets, 4, (GLint *)bases);
    }
    errors("multi");
    glMultiDrawArrays(GL_TRIANGLES, first, count, -1);
    errors("negative number");
    glMultiDrawArrays(GL_TRIANGLES, first, (const GLsizei[]){3, -1, 3, 3, 3}, 5);
    errors("a negative count");
}

static void modes(void)
{
    if (!need_extension("GL_IBM_multimode_draw_arrays"))
        return no_picture();
    PFNGLMULTIMODEDRAWARRAYSIBMPROC draw_arrays = (PFNGLMULTIMODEDRAWARRAYSIBMPROC)glXGetProcAddress((const GLubyte *)"glMultiModeDrawArraysIBM");
    PFNGLMULTIMODEDRAWELEMENTSIBMPROC draw_elements =
        (PFNGLMULTIMODEDRAWELEMENTSIBMPROC)glXGetProcAddress((const GLubyte *)"glMultiModeDrawElementsIBM");
    static const GLint first[] = {0, 20, 60, 90};
    static const GLsizei count[] = {6, 12, -1, 9};
    static const struct {
        char padding[3];
        GLenum mode;
    } __attribute__((packed)) odd[] = {{"", GL_TRIANGLES}, {"", GL_LINE_STRIP}, {"", GL_POINTS}, {"", GL_TRIANGLE_FAN}};
    static const GLenum tight[] = {GL_LINES, GL_TRIANGLES, GL_LINES, 77};
    grid();
    glPointSize(3);
    draw_arrays((const GLenum *)((const char *)odd + 3), first, count, 4, sizeof *odd);
    errors("arrays");
    glViewport(128, 128, 128, 128);
    const GLvoid *starts[] = {indices, indices + 60, indices + 200, indices + 500};
    draw_elements(tight, (const GLsizei[]){30, 60, 0, 90}, GL_UNSIGNED_INT, starts, 4, sizeof *tight);
    errors("elements, the last of no mode");
    draw_arrays(tight, first, count, -1, sizeof *tight);
    errors("a negative number");
}

static void long_arrays(void)
{
    enum { many = 300000 };
    GLfloat(*points)[5] = malloc(sizeof(GLfloat[5]) * many);
    GLuint *order = malloc(sizeof(GLuint) * many);
    for (int i = 0; i < many; i++) {
        float part = (float)i / many;
        points[i][0] = -0.95f + 1.9f * (float)(i % 600) / 600;
        points[i][1] = -0.95f + 1.9f * part;
        points[i][2] = part;
        points[i][3] = (float)(i % 600) / 600;
        points[i][4] = 1 - part;
        order[i] = (GLuint)(many - 1 - i);
    }
    glVertexPointer(2, GL_FLOAT, 20, points);
    glColorPointer(3, GL_FLOAT, 20, &points[0][2]);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
    glDrawArrays(GL_POINTS, 0, many / 2);
    glDrawElements(GL_LINES, many / 2, GL_UNSIGNED_INT, order);
    free(points);
    free(order);
    errors("long arrays");
}

/* The number of each draw among several draws, with indices in memory and in a buffer, directly and
 * from a display list. */
static void draw_ids(void)
{
    if (!need_extension("GL_ARB_shader_draw_parameters"))
        return;
    GLsizei counts[4] = {60, 0, 120, 90};
    const GLint bases[4] = {0, 3, COLUMNS, 2};
    grid();
    GLuint program = build_program("#version 140\n#extension GL_ARB_shader_draw_parameters: require\nin vec2 corner; flat out int draw;\n"
                                   "void main() { draw = gl_DrawIDARB; gl_Position = vec4(corner, 0.0, 1.0); }",
                                   "#version 140\nflat in int draw; out vec4 color;\n"
                                   "void main() { color = vec4(draw == 0, draw == 2, draw == 3, 1.0); }");
    glUseProgram(program);
    make_buffer(GL_ARRAY_BUFFER, sizeof positions, positions);
    GLuint corner = (GLuint)glGetAttribLocation(program, "corner");
    glVertexAttribPointer(corner, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(corner);
    glDisableClientState(GL_VERTEX_ARRAY);
    glDisableClientState(GL_COLOR_ARRAY);
    GLuint list = glGenLists(1);
    for (int in_buffer = 0; in_buffer < 2; in_buffer++) {
        if (in_buffer)
            make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices);
        const char *first = in_buffer ? NULL : (const char *)indices;
        const void *parts[4] = {first, NULL, first + 400 * sizeof *indices, first + 700 * sizeof *indices};
        if (!in_buffer)
            parts[1] = indices;
        cell(0, in_buffer, 3, 2);
        glMultiDrawElements(GL_TRIANGLES, counts, GL_UNSIGNED_INT, parts, 4);
        errors("several");
        cell(1, in_buffer, 3, 2);
        glMultiDrawElementsBaseVertex(GL_TRIANGLES, counts, GL_UNSIGNED_INT, parts, 4, bases);
        errors("several with base vertices");
        cell(2, in_buffer, 3, 2);
        glNewList(list, GL_COMPILE);
        glMultiDrawElements(GL_TRIANGLES, counts, GL_UNSIGNED_INT, parts, 4);
        glEndList();
        glCallList(list);
        errors("in a list");
        GLint bound;
        glGetIntegerv(GL_ELEMENT_ARRAY_BUFFER_BINDING, &bound);
        note("a buffer is bound: %d", bound != 0);
    }
}

CONFORM("elements", COMPAT, {"types", types}, {"buffers", buffers}, {"base_vertex", base_vertex}, {"restart", restart}, {"multi", multi}, {"modes", modes},
        {"long_arrays", long_arrays}, {"draw_ids", draw_ids})
