/* glArrayElement: primitives that restart, every type of array, and arrays in memory and in
 * buffers. */
#include "conform.h"

#define COUNT 24
#define RESTART 9

static GLfloat places[COUNT][2];
static GLubyte colors[COUNT][4];

static void fill(void)
{
    for (int i = 0; i < COUNT; i++) {
        float rgb[3];
        hue((float)i / COUNT, rgb);
        places[i][0] = -0.95f + 1.9f * (float)(i / 2) / (COUNT / 2 - 1);
        places[i][1] = i % 2 ? 0.8f : -0.8f;
        for (int c = 0; c < 3; c++)
            colors[i][c] = (GLubyte)(255 * rgb[c]);
        colors[i][3] = 255;
    }
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
}

static void strip(GLenum mode, int restart)
{
    glBegin(mode);
    for (int i = 0; i < COUNT; i++) {
        glArrayElement(i);
        if (i % 7 == 6)
            glArrayElement(restart);
    }
    glEnd();
    errors("a strip");
}

static void in_cells(int restart)
{
    static const GLenum modes[] = {GL_TRIANGLE_STRIP, GL_LINE_LOOP, GL_TRIANGLE_FAN, GL_QUADS, GL_POLYGON, GL_POINTS};
    for (int m = 0; m < 6; m++) {
        cell(m % 3, m / 3, 3, 2);
        strip(modes[m], restart);
    }
}

/* The vertices are in the program's memory (0), all in buffers (1), or only the colours are in a
 * buffer (2). */
static void place_arrays(int where)
{
    fill();
    if (where == 1)
        make_buffer(GL_ARRAY_BUFFER, sizeof places, places);
    glVertexPointer(2, GL_FLOAT, 0, where == 1 ? NULL : places);
    if (where)
        make_buffer(GL_ARRAY_BUFFER, sizeof colors, colors);
    glColorPointer(4, GL_UNSIGNED_BYTE, 0, where ? NULL : colors);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
}

static void restarts(int where, int restart)
{
    if (!need_extension("GL_NV_primitive_restart"))
        return;
    place_arrays(where);
    glEnableClientState(GL_PRIMITIVE_RESTART_NV);
    glPrimitiveRestartIndexNV((GLuint)restart);
    in_cells(restart);
}

static void restart_in_memory(void)
{
    restarts(0, 0xffff);
}

static void restart_in_buffers(void)
{
    restarts(1, 0xffff);
}

static void restart_in_both(void)
{
    restarts(2, -1);
}

/* The restart index is also the number of an element. */
static void restart_of_an_element(void)
{
    restarts(0, RESTART);
}

/* OpenGL's own switch has the same effect. The switch with fixed indices does not apply to
 * glArrayElement. */
static void other_switches(void)
{
    if (!need_version(3, 1))
        return;
    place_arrays(0);
    glEnable(GL_PRIMITIVE_RESTART);
    glPrimitiveRestartIndex(RESTART);
    cell(0, 0, 2, 2);
    strip(GL_TRIANGLE_STRIP, RESTART);
    glDisable(GL_PRIMITIVE_RESTART);
    cell(1, 0, 2, 2);
    strip(GL_TRIANGLE_STRIP, RESTART);
    if (has_extension("GL_ARB_ES3_compatibility")) {
        glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
        cell(0, 1, 2, 2);
        strip(GL_TRIANGLE_STRIP, RESTART);
    }
}

static void restart_outside(void)
{
    if (!need_extension("GL_NV_primitive_restart"))
        return;
    no_picture();
    place_arrays(0);
    glEnableClientState(GL_PRIMITIVE_RESTART_NV);
    glPrimitiveRestartIndexNV(RESTART);
    glArrayElement(RESTART);
    errors("outside of a primitive");
}

static void restart_in_a_list(void)
{
    if (!need_extension("GL_NV_primitive_restart"))
        return;
    place_arrays(0);
    glEnableClientState(GL_PRIMITIVE_RESTART_NV);
    glPrimitiveRestartIndexNV(RESTART);
    glNewList(1, GL_COMPILE);
    strip(GL_TRIANGLE_STRIP, RESTART);
    glEndList();
    glDisableClientState(GL_PRIMITIVE_RESTART_NV);
    cell(0, 0, 2, 1);
    glCallList(1);
    cell(1, 0, 2, 1);
    strip(GL_TRIANGLE_STRIP, RESTART);
}

/* Memory for the elements of each type. Each test logs the current value of generic attribute 3
 * after an element. */
static GLubyte memory[64];

static void log_generic(const char *what)
{
    float values[4];
    glGetVertexAttribfv(3, GL_CURRENT_VERTEX_ATTRIB, values);
    note_floats(what, values, 4);
    errors(what);
}

static void fill_memory(void)
{
    for (int i = 0; i < 64; i++)
        memory[i] = (GLubyte)(17 * i + 3);
}

static void types(void)
{
    static const struct {
        const char *name;
        GLenum type;
    } all[] = {{"byte", GL_BYTE},           {"unsigned byte", GL_UNSIGNED_BYTE}, {"short", GL_SHORT},
               {"unsigned short", GL_UNSIGNED_SHORT}, {"int", GL_INT},           {"unsigned int", GL_UNSIGNED_INT},
               {"half float", GL_HALF_FLOAT}, {"fixed", GL_FIXED}};
    no_picture();
    if (!need_version(3, 0))
        return;
    fill_memory();
    glEnableVertexAttribArray(3);
    for (int i = 0; i < 8; i++) {
        for (int size = 1; size <= 4; size++) {
            for (int normalized = 0; normalized < 2; normalized++) {
                glVertexAttrib4f(3, 0, 0, 0, 1);
                glVertexAttribPointer(3, size, all[i].type, (GLboolean)normalized, 0, memory);
                glArrayElement(1);
                note("%s %d %d", all[i].name, size, normalized);
                log_generic("is");
            }
        }
    }
    for (int size = 1; size <= 4; size++) {
        static const GLdouble doubles[] = {0, 0, 0, 0, 1.5, -2.25, 3.125, 4.0625};
        static const GLfloat floats[] = {0, 0, 0, 0, 1.5f, -2.25f, 3.125f, 4.0625f};
        glVertexAttrib4f(3, 0, 0, 0, 1);
        glVertexAttribPointer(3, size, GL_DOUBLE, GL_FALSE, 32, doubles);
        glArrayElement(1);
        log_generic("doubles");
        glVertexAttrib4f(3, 0, 0, 0, 1);
        glVertexAttribPointer(3, size, GL_FLOAT, GL_TRUE, 16, floats);
        glArrayElement(1);
        log_generic("floats");
    }
    if (has_extension("GL_EXT_vertex_array_bgra")) {
        glVertexAttribPointer(3, GL_BGRA, GL_UNSIGNED_BYTE, GL_TRUE, 0, memory);
        glArrayElement(1);
        log_generic("blue first");
    }
    if (has_extension("GL_ARB_vertex_type_2_10_10_10_rev")) {
        glVertexAttribPointer(3, 4, GL_UNSIGNED_INT_2_10_10_10_REV, GL_TRUE, 0, memory);
        glArrayElement(1);
        log_generic("packed");
        glVertexAttribPointer(3, 4, GL_UNSIGNED_INT_2_10_10_10_REV, GL_FALSE, 0, memory);
        glArrayElement(1);
        log_generic("packed, not normalized");
    }
}

static void integers(void)
{
    static const GLenum all[] = {GL_BYTE, GL_UNSIGNED_BYTE, GL_SHORT, GL_UNSIGNED_SHORT, GL_INT, GL_UNSIGNED_INT};
    no_picture();
    if (!need_version(3, 0))
        return;
    fill_memory();
    glEnableVertexAttribArray(3);
    for (int i = 0; i < 6; i++) {
        for (int size = 1; size <= 4; size++) {
            GLint values[4];
            glVertexAttribIPointer(3, size, all[i], 0, memory);
            glArrayElement(1);
            glGetVertexAttribIiv(3, GL_CURRENT_VERTEX_ATTRIB, values);
            note("type %d", i);
            note_ints("integers", values, 4);
            errors("integers");
        }
    }
}

/* Integers as attributes of vertices, including the position. */
static void drawn_integers(void)
{
    if (!need_version(3, 0))
        return;
    static GLint corners[COUNT][2];
    static GLuint tints[COUNT];
    for (int i = 0; i < COUNT; i++) {
        corners[i][0] = i / 2;
        corners[i][1] = i % 2;
        tints[i] = (GLuint)i * 1234567u;
    }
    GLuint program = build_program("#version 130\nin ivec2 corner; in uint tint; flat out uint color;\n"
                                   "void main() { color = tint; gl_Position = vec4(vec2(corner) * vec2(0.16, 1.6) - vec2(0.9, 0.8), 0.0, 1.0); }",
                                   "#version 130\nflat in uint color; out vec4 result;\n"
                                   "void main() { result = vec4(float(color & 255u), float(color >> 8 & 255u), float(color >> 16 & 255u), 255.0) / 255.0; }");
    glUseProgram(program);
    GLint corner = glGetAttribLocation(program, "corner"), tint = glGetAttribLocation(program, "tint");
    glVertexAttribIPointer((GLuint)corner, 2, GL_INT, 0, corners);
    glVertexAttribIPointer((GLuint)tint, 1, GL_UNSIGNED_INT, 0, tints);
    glEnableVertexAttribArray((GLuint)corner);
    glEnableVertexAttribArray((GLuint)tint);
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < COUNT; i++)
        glArrayElement(i);
    glEnd();
    errors("integers");
}

/* Indexed draws of vertices in buffers, compiled into a list. The indices are in the program's
 * memory or in a buffer. */
static void listed_draws(void)
{
    static const GLenum types[] = {GL_UNSIGNED_BYTE, GL_UNSIGNED_SHORT, GL_UNSIGNED_INT};
    static const GLint numbers[8] = {0, 1, 2, 3, RESTART + 1, RESTART + 2, RESTART + 3, RESTART + 4};
    GLubyte small[8];
    GLushort middle[8];
    GLuint large[8];
    const void *memory[] = {small, middle, large};
    GLsizei counts[2] = {4, 4};
    for (int i = 0; i < 8; i++) {
        small[i] = (GLubyte)numbers[i];
        middle[i] = (GLushort)numbers[i];
        large[i] = (GLuint)numbers[i];
    }
    place_arrays(1);
    GLuint list = glGenLists(1);
    for (int in_buffer = 0; in_buffer < 2; in_buffer++)
        for (int t = 0; t < 3; t++) {
            size_t size = (size_t)1 << t;
            if (in_buffer)
                make_buffer(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(8 * size), memory[t]);
            const char *indices = in_buffer ? NULL : memory[t];
            const void *halves[2] = {indices, indices + 4 * size};
            if (in_buffer)
                halves[1] = (const void *)(4 * size);
            cell(t, in_buffer, 3, 2);
            glNewList(list, GL_COMPILE);
            glDrawElements(GL_TRIANGLE_STRIP, 4, types[t], halves[0]);
            glDrawRangeElements(GL_LINE_STRIP, 0, COUNT, 8, types[t], halves[0]);
            glDrawElementsBaseVertex(GL_TRIANGLE_STRIP, 4, types[t], halves[1], 4);
            glDrawElementsBaseVertex(GL_TRIANGLE_STRIP, 4, types[t], halves[1], -6);
            glMultiDrawElements(GL_POINTS, counts, types[t], halves, 2);
            glEndList();
            errors("compiled");
            glCallList(list);
            errors("called");
            glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
        }
}

CONFORM("array_elements", COMPAT, {"restart_in_memory", restart_in_memory}, {"restart_in_buffers", restart_in_buffers},
        {"restart_in_both", restart_in_both}, {"restart_of_an_element", restart_of_an_element}, {"other_switches", other_switches},
        {"restart_outside", restart_outside}, {"restart_in_a_list", restart_in_a_list}, {"types", types}, {"integers", integers},
        {"drawn_integers", drawn_integers},
        {"listed_draws", listed_draws})
