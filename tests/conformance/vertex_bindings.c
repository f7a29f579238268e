/* Vertex formats that are separate from buffers, 64-bit attributes, primitive restart, provoking
 * vertices, and errors. */
#include "conform.h"

#define FRAGMENT "#version 330\nflat in vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }"

static void bindings(void)
{
    if (!need_extension("GL_ARB_vertex_attrib_binding"))
        return no_picture();
    static const struct {
        GLshort place[2];
        GLubyte tint[4];
        GLint number;
    } vertices[] = {{{-29000, -29000}, {255, 0, 0, 255}, 1}, {{0, -29000}, {0, 255, 0, 255}, 2}, {{-15000, 0}, {0, 0, 255, 255}, 3},
                    {{5000, 5000}, {255, 255, 0, 255}, 4},   {{29000, 6000}, {0, 255, 255, 255}, 5}, {{15000, 29000}, {255, 0, 255, 255}, 6}};
    static const GLfloat shifts[][2] = {{0, 0}, {0.05f, 0.3f}, {0.3f, 0.05f}};
    INTS(GL_MAX_VERTEX_ATTRIB_BINDINGS, 1);
    INTS(GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET, 1);
    GLuint array, buffer = make_buffer(GL_ARRAY_BUFFER, sizeof vertices, vertices), more = make_buffer(GL_ARRAY_BUFFER, sizeof shifts, shifts);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glUseProgram(build_program("#version 330\nlayout(location = 0) in vec2 place; layout(location = 3) in vec4 tint; layout(location = 5) in int number; layout(location = 6) in vec2 shift;\n"
                               "flat out vec3 color; void main() { gl_Position = vec4(place + shift, 0.0, 1.0); color = tint.rgb * (0.4 + 0.1 * float(number)); }",
                               FRAGMENT));
    glBindVertexBuffer(2, buffer, 0, 12);
    glBindVertexBuffer(7, more, 0, 8);
    glVertexBindingDivisor(7, 1);
    glVertexAttribFormat(0, 2, GL_SHORT, GL_TRUE, 0);
    glVertexAttribFormat(3, 4, GL_UNSIGNED_BYTE, GL_TRUE, 4);
    glVertexAttribIFormat(5, 1, GL_INT, 8);
    glVertexAttribFormat(6, 2, GL_FLOAT, GL_FALSE, 0);
    for (GLuint a = 0; a < 7; a++) {
        if (a == 0 || a == 3 || a >= 5) {
            glVertexAttribBinding(a, a == 6 ? 7 : 2);
            glEnableVertexAttribArray(a);
        }
    }
    glDrawArraysInstanced(GL_TRIANGLES, 0, 6, 3);
    errors("drawn");
    static const GLenum asked[] = {GL_VERTEX_ATTRIB_BINDING,     GL_VERTEX_ATTRIB_RELATIVE_OFFSET,   GL_VERTEX_ATTRIB_ARRAY_SIZE,    GL_VERTEX_ATTRIB_ARRAY_TYPE,
                                   GL_VERTEX_ATTRIB_ARRAY_STRIDE, GL_VERTEX_ATTRIB_ARRAY_NORMALIZED, GL_VERTEX_ATTRIB_ARRAY_INTEGER, GL_VERTEX_ATTRIB_ARRAY_DIVISOR,
                                   GL_VERTEX_ATTRIB_ARRAY_LONG};
    for (GLuint a = 0; a < 7; a++) {
        GLint values[9];
        for (int i = 0; i < 9; i++) {
            values[i] = -7;
            glGetVertexAttribiv(a, asked[i], &values[i]);
        }
        note_ints("attribute", values, 9);
    }
    errors("asked");
    static const GLenum of_bindings[] = {GL_VERTEX_BINDING_OFFSET, GL_VERTEX_BINDING_STRIDE, GL_VERTEX_BINDING_DIVISOR};
    for (GLuint b = 0; b < 8; b++) {
        GLint values[3] = {-7, -7, -7}, bound = -7;
        for (int i = 0; i < 3; i++)
            glGetIntegeri_v(of_bindings[i], b, &values[i]);
        glGetIntegeri_v(GL_VERTEX_BINDING_BUFFER, b, &bound);
        note_ints("binding", values, 3);
        note("bound %d %d", bound == (GLint)buffer, bound == (GLint)more);
    }
    errors("bindings");
    glVertexAttribFormat(0, 5, GL_FLOAT, GL_FALSE, 0);
    errors("five components");
    glVertexAttribFormat(0, GL_BGRA, GL_FLOAT, GL_TRUE, 0);
    errors("float BGRA");
    glVertexAttribFormat(0, GL_BGRA, GL_UNSIGNED_BYTE, GL_FALSE, 0);
    errors("BGRA not normalised");
    glVertexAttribFormat(0, 2, GL_INT_2_10_10_10_REV, GL_FALSE, 0);
    errors("two packed");
    glVertexAttribFormat(0, 2, GL_FLOAT, GL_FALSE, 5000);
    errors("too far");
    glVertexAttribFormat(99, 2, GL_FLOAT, GL_FALSE, 0);
    errors("no such attribute");
    glVertexAttribIFormat(0, 2, GL_FLOAT, 0);
    errors("float integers");
    glVertexAttribBinding(0, 99);
    errors("no such binding");
    glVertexBindingDivisor(99, 1);
    errors("no such binding to divide");
    glBindVertexBuffer(0, buffer, -1, 8);
    errors("a negative offset");
    glBindVertexBuffer(0, buffer, 0, -1);
    errors("a negative stride");
    glBindVertexBuffer(0, buffer, 0, 5000);
    errors("a wide stride");
    glBindVertexBuffer(0, 7777, 0, 8);
    errors("no such buffer");
}

static void doubles(void)
{
    if (!need_extension("GL_ARB_vertex_attrib_64bit"))
        return no_picture();
    static const GLdouble places[][3] = {{-0.9, -0.9, 1.0 / 3}, {0.9, -0.8, 1e-300}, {-0.7, 0.9, 1e300}, {0.8, 0.9, 2}};
    GLuint program = STAGES(.vertex = "#version 420\nlayout(location = 1) in dvec2 place; layout(location = 2) in double extra; layout(location = 4) in dmat2 turn; out dvec2 seen; out double more;\n"
                                      "flat out vec3 color; void main() { seen = turn * place; more = extra; gl_Position = vec4(place, 0.0, 1.0); color = vec3(0.9, 0.4, fract(extra)); }",
                            .fragment = FRAGMENT, .captured = (const char *const[]){"seen", "more"}, .captured_count = 2, .capture_mode = GL_INTERLEAVED_ATTRIBS);
    glUseProgram(program);
    make_buffer(GL_ARRAY_BUFFER, sizeof places, places);
    glVertexAttribLPointer(1, 2, GL_DOUBLE, 24, NULL);
    glVertexAttribLPointer(2, 1, GL_DOUBLE, 24, (void *)16);
    glEnableVertexAttribArray(1);
    glEnableVertexAttribArray(2);
    glVertexAttribL2d(4, 1, 0.1);
    glVertexAttribL2dv(5, (const GLdouble[]){-1e-10, 2});
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 256, NULL));
    glBeginTransformFeedback(GL_TRIANGLES);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glEndTransformFeedback();
    note_buffer_ints("seen", GL_TRANSFORM_FEEDBACK_BUFFER, 18);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    /* From the program's memory. */
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribLPointer(1, 2, GL_DOUBLE, 24, places);
    glBeginTransformFeedback(GL_TRIANGLES);
    glDrawArrays(GL_TRIANGLES, 1, 3);
    glEndTransformFeedback();
    note_buffer_ints("seen", GL_TRANSFORM_FEEDBACK_BUFFER, 18);
    GLdouble value[4] = {-7, -7, -7, -7};
    glGetVertexAttribLdv(5, GL_CURRENT_VERTEX_ATTRIB, value);
    note("current %.17g %.17g %.17g %.17g", value[0], value[1], value[2], value[3]);
    GLint is_long = -7;
    glGetVertexAttribiv(1, GL_VERTEX_ATTRIB_ARRAY_LONG, &is_long);
    note("long %d", is_long);
    errors("drawn");
    glVertexAttribLPointer(1, 2, GL_FLOAT, 24, NULL);
    errors("floats");
    glVertexAttribLPointer(1, 5, GL_DOUBLE, 24, NULL);
    errors("five");
    glVertexAttribLPointer(99, 2, GL_DOUBLE, 24, NULL);
    errors("no such attribute");
    glVertexAttribL1d(99, 1);
    errors("no such value");
    glGetVertexAttribLdv(99, GL_CURRENT_VERTEX_ATTRIB, value);
    errors("query of an invalid attribute");
    if (has_extension("GL_ARB_vertex_attrib_binding")) {
        glVertexAttribLFormat(1, 2, GL_FLOAT, 0);
        errors("a format of floats");
        glVertexAttribLFormat(1, 2, GL_DOUBLE, 8);
        errors("a format");
    }
}

static void restart(void)
{
    if (!need_version(3, 2))
        return no_picture();
    glUseProgram(build_program("#version 330\nflat out vec3 color; void main() { gl_Position = vec4(vec2(gl_VertexID % 8, gl_VertexID / 8) * 0.25 - 0.9, 0.0, 1.0); "
                               "color = fract(vec3(0.13, 0.29, 0.41) * float(gl_VertexID + 1)); }",
                               FRAGMENT));
    static const GLubyte bytes[] = {0, 1, 8, 9, 255, 2, 3, 10, 11, 50, 4, 5, 12};
    static const GLushort shorts[] = {16, 17, 24, 25, 0xffff, 18, 19, 26, 27, 50, 20, 21, 28};
    static const GLuint words[] = {32, 33, 40, 41, 0xffffffffu, 34, 35, 42, 43, 50, 36, 37, 44};
    GLuint array;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    static const GLenum modes[] = {GL_TRIANGLE_STRIP, GL_LINE_LOOP, GL_TRIANGLE_FAN};
    for (int m = 0; m < 3; m++) {
        for (int kind = 0; kind < 3; kind++) {
            glDisable(GL_PRIMITIVE_RESTART);
            glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
            if (kind == 1 && has_extension("GL_ARB_ES3_compatibility"))
                glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
            if (kind != 1) {
                glEnable(GL_PRIMITIVE_RESTART);
                glPrimitiveRestartIndex(kind ? 50 : 255);
            }
            cell(m, kind, 3, 3);
            make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof bytes, bytes);
            glDrawElements(modes[m], 13, GL_UNSIGNED_BYTE, NULL);
            make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof shorts, shorts);
            glDrawElements(modes[m], kind == 0 ? 4 : 13, GL_UNSIGNED_SHORT, NULL);
            make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof words, words);
            glDrawElements(modes[m], kind == 0 ? 4 : 13, GL_UNSIGNED_INT, NULL);
            /* From memory. */
            glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
            if (kind == 1)
                glDrawElementsBaseVertex(modes[m], 13, GL_UNSIGNED_SHORT, shorts, 24);
            INTS(GL_PRIMITIVE_RESTART_INDEX, 1);
            ENABLED(GL_PRIMITIVE_RESTART);
            ENABLED(GL_PRIMITIVE_RESTART_FIXED_INDEX);
            errors("drawn");
        }
    }
    glDisable(GL_PRIMITIVE_RESTART);
    glPrimitiveRestartIndex(50);
    INTS(GL_PRIMITIVE_RESTART_INDEX, 1);
    static const GLenum conventions[] = {GL_FIRST_VERTEX_CONVENTION, GL_LAST_VERTEX_CONVENTION};
    for (int c = 0; c < 2; c++) {
        glProvokingVertex(conventions[c]);
        INTS(GL_PROVOKING_VERTEX, 1);
        BOOLS(GL_QUADS_FOLLOW_PROVOKING_VERTEX_CONVENTION, 1);
        cell(4 + c, 5, 6, 6);
        for (GLenum mode = GL_LINES; mode <= GL_TRIANGLE_STRIP_ADJACENCY; mode++)
            glDrawArrays(mode, (GLint)mode * 4, 8);
    }
    glProvokingVertex(GL_FLAT);
    errors("no such convention");
}

/* A pointer query returns the pointer of the last pointer command, even after later bindings and
 * formats. */
static void note_pointers(const char *what)
{
    static const GLenum fixed[] = {GL_VERTEX_ARRAY_POINTER, GL_COLOR_ARRAY_POINTER, GL_TEXTURE_COORD_ARRAY_POINTER};
    note("-- %s", what);
    for (GLuint a = 0; a < 4; a++) {
        GLint values[6];
        void *pointer = (void *)1;
        static const GLenum asked[] = {GL_VERTEX_ATTRIB_ARRAY_SIZE, GL_VERTEX_ATTRIB_ARRAY_TYPE, GL_VERTEX_ATTRIB_ARRAY_STRIDE, GL_VERTEX_ATTRIB_BINDING, GL_VERTEX_ATTRIB_RELATIVE_OFFSET,
                                       GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING};
        glGetVertexAttribPointerv(a, GL_VERTEX_ATTRIB_ARRAY_POINTER, &pointer);
        for (int i = 0; i < 6; i++)
            glGetVertexAttribiv(a, asked[i], &values[i]);
        values[5] = values[5] != 0;
        note("attribute %u at %d", a, (int)(intptr_t)pointer);
        note_ints("with", values, 6);
        GLint64 offset = -7;
        GLint stride = -7;
        glGetInteger64i_v(GL_VERTEX_BINDING_OFFSET, a, &offset);
        glGetIntegeri_v(GL_VERTEX_BINDING_STRIDE, a, &stride);
        note("binding at %d, %d apart", (int)offset, stride);
    }
    for (int i = 0; i < 3; i++) {
        void *pointer = (void *)1;
        glGetPointerv(fixed[i], &pointer);
        note("fixed at %d", (int)(intptr_t)pointer);
    }
    INTS(GL_VERTEX_ARRAY_STRIDE, 1);
    errors("asked");
}

static void pointers(void)
{
    no_picture();
    if (!need_extension("GL_ARB_vertex_attrib_binding"))
        return;
    GLuint array, buffer[2] = {make_buffer(GL_ARRAY_BUFFER, 512, NULL), make_buffer(GL_ARRAY_BUFFER, 512, NULL)};
    note_pointers("at first");
    glBindVertexBuffer(1, buffer[0], 32, 16);
    glVertexAttribFormat(1, 2, GL_FLOAT, GL_FALSE, 8);
    note_pointers("bound and formatted");
    glVertexAttribPointer(1, 3, GL_SHORT, GL_FALSE, 12, (void *)64);
    glVertexPointer(2, GL_FLOAT, 24, (void *)48);
    glColorPointer(4, GL_UNSIGNED_BYTE, 0, (void *)80);
    note_pointers("pointed");
    glBindVertexBuffer(1, buffer[1], 96, 20);
    note_pointers("bound again");
    glVertexAttribBinding(1, 2);
    glBindVertexBuffer(2, buffer[0], 128, 4);
    note_pointers("another binding");
    glVertexAttribFormat(1, 4, GL_BYTE, GL_TRUE, 40);
    note_pointers("another format");
    glBindVertexBuffer(2, 0, 7, 8);
    note_pointers("nothing bound");
    glVertexAttribDivisor(1, 3);
    note_pointers("a divisor");
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    note_pointers("another object");
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, (void *)16);
    glBindVertexBuffers(0, 2, buffer, (const GLintptr[]){4, 8}, (const GLsizei[]){16, 32});
    note_pointers("several bound");
    glDeleteBuffers(2, buffer);
    note_pointers("deleted");
    glBindVertexArray(0);
    note_pointers("the first object");
    if (has_extension("GL_ARB_direct_state_access")) {
        glVertexArrayVertexBuffer(array, 0, make_buffer(GL_COPY_WRITE_BUFFER, 64, NULL), 12, 8);
        glVertexArrayAttribFormat(array, 0, 1, GL_FLOAT, GL_FALSE, 3);
        glBindVertexArray(array);
        note_pointers("by name");
    }
    if (has_extension("GL_EXT_direct_state_access")) {
        void *pointer = (void *)1;
        glVertexArrayVertexAttribOffsetEXT(array, make_buffer(GL_COPY_WRITE_BUFFER, 64, NULL), 2, 2, GL_FLOAT, GL_FALSE, 0, 24);
        glGetVertexArrayPointeri_vEXT(array, 2, GL_VERTEX_ATTRIB_ARRAY_POINTER, &pointer);
        note("by name, at %d", (int)(intptr_t)pointer);
        note_pointers("by name");
    }
}

CONFORM("vertex_bindings", COMPAT, {"pointers", pointers}, {"bindings", bindings}, {"doubles", doubles}, {"restart", restart})
