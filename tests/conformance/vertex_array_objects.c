/* Vertex array objects in the core profile: their contents, and deletion of the objects that they
 * use. */
#include "conform.h"

static const char vertex_source[] = "#version 330\nlayout(location = 0) in vec2 place; layout(location = 3) in vec3 tint; out vec3 color;\n"
                                    "uniform vec2 shift; void main() { gl_Position = vec4(place + shift, 0.0, 1.0); color = tint; }";
static const char fragment_source[] = "#version 330\nin vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }";

static GLuint buffer_of(GLenum target, const void *data, size_t size)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(target, buffer);
    glBufferData(target, (GLsizeiptr)size, data, GL_STATIC_DRAW);
    return buffer;
}

static const GLfloat triangle[] = {0, 0, 0.3f, 0, 0, 0.3f}, quad[] = {0, 0, 0.3f, 0, 0, 0.3f, 0.3f, 0.3f};
static const GLfloat reds[] = {1, 0, 0, 1, 0.5f, 0, 1, 0, 0.5f, 1, 1, 0}, blues[] = {0, 0, 1, 0, 0.5f, 1, 0.5f, 0, 1, 0, 1, 1};
static GLint shift;

static void start(void)
{
    GLuint program = build_program(vertex_source, fragment_source);
    glUseProgram(program);
    shift = glGetUniformLocation(program, "shift");
}

static void objects(void)
{
    GLuint arrays[3];
    start();
    glGenVertexArrays(3, arrays);
    note("is a vertex array: %d", glIsVertexArray(arrays[0]));
    for (int i = 0; i < 3; i++) {
        glBindVertexArray(arrays[i]);
        buffer_of(GL_ARRAY_BUFFER, i == 1 ? quad : triangle, i == 1 ? sizeof quad : sizeof triangle);
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
        glEnableVertexAttribArray(0);
        buffer_of(GL_ARRAY_BUFFER, i ? blues : reds, sizeof reds);
        glVertexAttribPointer(3, 3, GL_FLOAT, GL_FALSE, 0, NULL);
        if (i < 2)
            glEnableVertexAttribArray(3);
        buffer_of(GL_ELEMENT_ARRAY_BUFFER, i == 1 ? (const GLubyte[]){0, 1, 2, 3} : (const GLubyte[]){2, 1, 0, 0}, 4);
    }
    note("is a vertex array: %d", glIsVertexArray(arrays[0]));
    glVertexAttrib3f(3, 0.3f, 0.9f, 0.3f);
    for (int i = 0; i < 12; i++) {
        glBindVertexArray(arrays[i % 3]);
        glUniform2f(shift, -0.9f + 0.45f * (float)(i % 4), -0.9f + 0.5f * (float)(i / 4));
        if (i % 2)
            glDrawElements(i % 3 == 1 ? GL_TRIANGLE_STRIP : GL_TRIANGLES, i % 3 == 1 ? 4 : 3, GL_UNSIGNED_BYTE, NULL);
        else
            glDrawArrays(i % 3 == 1 ? GL_TRIANGLE_STRIP : GL_TRIANGLES, 0, i % 3 == 1 ? 4 : 3);
        GLint enabled = -1;
        glGetVertexAttribiv(3, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &enabled);
        note("attribute 3 enabled: %d", enabled);
        BOUND(GL_VERTEX_ARRAY_BINDING, arrays[i % 3]);
    }
    errors("objects");
    glBindVertexArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    errors("no vertex array");
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    errors("pointer without a vertex array");
    glBindVertexArray(9999);
    errors("a name of the program's own");
    glBindVertexArray(arrays[0]);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, triangle);
    errors("client memory");
}

/* A deleted buffer stays in vertex arrays that are not bound, and is detached from the bound
 * one. */
static void deleted_buffers(void)
{
    GLuint arrays[2], places = 0, tints = 0;
    start();
    glGenVertexArrays(2, arrays);
    for (int i = 0; i < 2; i++) {
        glBindVertexArray(arrays[i]);
        if (i == 0) {
            places = buffer_of(GL_ARRAY_BUFFER, triangle, sizeof triangle);
            tints = buffer_of(GL_ARRAY_BUFFER, reds, sizeof reds);
        }
        glBindBuffer(GL_ARRAY_BUFFER, places);
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
        glBindBuffer(GL_ARRAY_BUFFER, tints);
        glVertexAttribPointer(3, 3, GL_FLOAT, GL_FALSE, 0, NULL);
        glEnableVertexAttribArray(0);
        glEnableVertexAttribArray(3);
    }
    glDeleteBuffers(1, &tints);
    BOUND(GL_ARRAY_BUFFER_BINDING, 0);
    GLint bound = -1;
    glGetVertexAttribiv(3, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, &bound);
    note("bound here: %d", bound != 0);
    glBindVertexArray(arrays[0]);
    glGetVertexAttribiv(3, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, &bound);
    note("bound there: %d", bound == (GLint)tints);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glDeleteVertexArrays(1, &arrays[0]);
    BOUND(GL_VERTEX_ARRAY_BINDING, 0);
    errors("deleted buffers");
}

static void separate_format(void)
{
    GLuint array, first, second;
    if (!need_extension("GL_ARB_vertex_attrib_binding"))
        return;
    start();
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    first = buffer_of(GL_ARRAY_BUFFER, quad, sizeof quad);
    second = buffer_of(GL_ARRAY_BUFFER, reds, sizeof reds);
    glVertexAttribFormat(0, 2, GL_FLOAT, GL_FALSE, 0);
    glVertexAttribBinding(0, 5);
    glVertexAttribFormat(3, 3, GL_FLOAT, GL_FALSE, 0);
    glVertexAttribBinding(3, 6);
    glBindVertexBuffer(5, first, 0, 8);
    glBindVertexBuffer(6, second, 0, 12);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(3);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glVertexBindingDivisor(6, 1);
    glUniform2f(shift, -0.5f, -0.5f);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, 2);
    GLint values[3] = {-1, -1, -1};
    glGetVertexAttribiv(3, GL_VERTEX_ATTRIB_BINDING, &values[0]);
    glGetIntegeri_v(GL_VERTEX_BINDING_STRIDE, 6, &values[1]);
    glGetIntegeri_v(GL_VERTEX_BINDING_DIVISOR, 6, &values[2]);
    note_ints("binding, stride, divisor", values, 3);
    errors("separate format");
}

static void integer_attributes(void)
{
    GLuint array;
    GLint types[] = {1, -2, 3, -4};
    GLfloat places[8];
    GLuint program = build_program("#version 330\nlayout(location = 0) in vec2 place; layout(location = 1) in ivec2 a; layout(location = 2) in uvec2 b;\n"
                                   "flat out vec4 color; void main() { gl_Position = vec4(place, 0.0, 1.0);\n"
                                   "color = vec4(a.x > 0 ? 1.0 : 0.3, a.x == -4 ? 1.0 : 0.0, float(b.y) / 255.0, 1.0); }",
                                   "#version 330\nflat in vec4 color; out vec4 result; void main() { result = color; }");
    glUseProgram(program);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    for (int i = 0; i < 4; i++) {
        places[2 * i] = -0.8f + 0.5f * (float)i;
        places[2 * i + 1] = 0;
    }
    buffer_of(GL_ARRAY_BUFFER, places, sizeof places);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    buffer_of(GL_ARRAY_BUFFER, types, sizeof types);
    glVertexAttribIPointer(1, 1, GL_INT, 0, NULL);
    buffer_of(GL_ARRAY_BUFFER, (const GLubyte[]){0, 10, 0, 100, 0, 200, 0, 255}, 8);
    glVertexAttribIPointer(2, 2, GL_UNSIGNED_BYTE, 0, NULL);
    for (GLuint i = 0; i < 3; i++)
        glEnableVertexAttribArray(i);
    glPointSize(40);
    glDrawArrays(GL_POINTS, 0, 4);
    GLint integer = -1;
    glGetVertexAttribiv(1, GL_VERTEX_ATTRIB_ARRAY_INTEGER, &integer);
    note("integer: %d", integer);
    errors("integer attributes");
}

CONFORM("vertex_array_objects", CORE, {"objects", objects}, {"deleted_buffers", deleted_buffers}, {"separate_format", separate_format},
        {"integer_attributes", integer_attributes})
