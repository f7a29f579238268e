/* Arrays of the core profile that are enabled without a buffer, and arrays that get their buffer
 * from a binding point. */
#include "conform.h"

static const GLfloat corners[4][3] = {{-0.9f, 0.9f, 0}, {0.9f, 0.8f, 0}, {-0.8f, -0.9f, 0}, {0.9f, -0.9f, 0}};
static const GLubyte order[4] = {0, 1, 2, 3};

static void start(void)
{
    GLuint array;
    GLuint program = build_program("#version 150\nin vec3 place; in vec4 tint; out vec4 color; void main() { gl_Position = vec4(place, 1.0); color = tint; }",
                                   "#version 150\nin vec4 color; out vec4 result; void main() { result = vec4(color.rgb, 1.0) + vec4(0.1); }");
    glBindAttribLocation(program, 0, "place");
    glBindAttribLocation(program, 1, "tint");
    glLinkProgram(program);
    glUseProgram(program);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    make_buffer(GL_ARRAY_BUFFER, sizeof corners, corners);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order);
    errors("start");
}

static void draw_all(void)
{
    cell(0, 0, 2, 2);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    errors("glDrawArrays");
    cell(1, 0, 2, 2);
    glDrawElements(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_BYTE, NULL);
    errors("glDrawElements");
    cell(0, 1, 2, 2);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, 2);
    errors("glDrawArraysInstanced");
    cell(1, 1, 2, 2);
    glMultiDrawArrays(GL_TRIANGLE_STRIP, (const GLint[]){0}, (const GLsizei[]){4}, 1);
    errors("glMultiDrawArrays");
}

/* An attribute that is enabled and was never given an array. */
static void never_given(void)
{
    start();
    glEnableVertexAttribArray(1);
    draw_all();
}

/* Arrays with a null pointer, and without a buffer. */
static void without_buffer(void)
{
    start();
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, 16, NULL);
    glEnableVertexAttribArray(1);
    draw_all();
}

/* The array had a buffer before. */
static void no_longer(void)
{
    start();
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(1);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    GLint buffer = -1;
    glGetVertexAttribiv(1, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, &buffer);
    note("buffer %d", buffer);
    draw_all();
}

static void memory(void)
{
    start();
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, corners);
    errors("an array in memory");
    glBindVertexArray(0);
    glEnableVertexAttribArray(1);
    errors("the default object");
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    errors("a draw of the default object");
}

static void shared_binding(void)
{
    start();
    if (!need_extension("GL_ARB_vertex_attrib_binding"))
        return no_picture();
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(1);
    glVertexAttribBinding(1, 0);
    draw_all();
}

CONFORM("core_arrays", CORE, {"never_given", never_given}, {"without_buffer", without_buffer}, {"no_longer", no_longer}, {"memory", memory},
        {"shared_binding", shared_binding})
