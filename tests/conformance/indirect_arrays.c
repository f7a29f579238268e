/* Indirect draws with arrays in the program's memory, in buffers, or in both, and with attributes
 * that share a binding point. */
#include "conform.h"

struct arrays_command {
    GLuint count, instances, first, base_instance;
};
struct elements_command {
    GLuint count, instances, first;
    GLint base_vertex;
    GLuint base_instance;
};

static const struct arrays_command arrays[] = {{4, 1, 4, 0}, {4, 1, 8, 0}, {0, 1, 0, 0}, {4, 2, 12, 1}};
static const struct elements_command elements[] = {{4, 1, 0, 4, 0}, {4, 1, 4, 8, 0}, {4, 2, 0, 12, 1}};
static const GLuint order[] = {0, 1, 2, 3, 3, 2, 1, 0};
static GLfloat places[20][2];

/* The number of the vertex determines its colour. */
static const char vertex[] = "#version 140\nin vec4 place; in float moved; flat out vec3 color;\n"
                             "void main() { color = vec3(gl_VertexID % 3, gl_VertexID % 5, gl_VertexID % 7) / vec3(2.0, 4.0, 6.0);\n"
                             "gl_Position = place + vec4(0.2 * moved * float(gl_InstanceID)); gl_Position.w = 1.0; }";
static const char fragment[] = "#version 140\nflat in vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }";

static bool ready(void)
{
    if (!need_extension("GL_ARB_draw_indirect") || !need_extension("GL_ARB_multi_draw_indirect") || !need_extension("GL_ARB_base_instance"))
        return false;
    for (int i = 0; i < 20; i++) {
        places[i][0] = -0.9f + 0.45f * (float)(i / 4) + (i % 4 == 1 || i % 4 == 2 ? 0.35f : 0);
        places[i][1] = i % 4 < 2 ? -0.8f : 0.6f;
    }
    GLuint program = build_program(vertex, fragment);
    glUseProgram(program);
    GLint place = glGetAttribLocation(program, "place"), moved = glGetAttribLocation(program, "moved");
    glVertexAttrib1f((GLuint)moved, 1);
    glVertexAttribPointer((GLuint)place, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray((GLuint)place);
    return true;
}

static void arguments_in_buffers(void)
{
    if (!ready())
        return no_picture();
    make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order);
    make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof arrays, arrays);
    cell(0, 0, 2, 3);
    glDrawArraysIndirect(GL_TRIANGLE_FAN, (void *)16);
    errors("arrays");
    cell(1, 0, 2, 3);
    glMultiDrawArraysIndirect(GL_TRIANGLE_FAN, NULL, 4, 0);
    errors("many arrays");
    cell(0, 1, 2, 3);
    glMultiDrawArraysIndirect(GL_TRIANGLE_FAN, (void *)16, 2, 32);
    errors("every other");
    glDrawArraysIndirect(GL_TRIANGLE_FAN, (void *)(sizeof arrays - 12));
    errors("beyond");
    glDrawArraysIndirect(77, NULL);
    errors("no mode");
    glDrawArraysIndirect(GL_TRIANGLE_FAN, (void *)2);
    errors("a crooked offset");
    make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof elements, elements);
    cell(1, 1, 2, 3);
    glDrawElementsIndirect(GL_TRIANGLE_FAN, GL_UNSIGNED_INT, (void *)20);
    errors("elements");
    cell(0, 2, 2, 3);
    glMultiDrawElementsIndirect(GL_TRIANGLE_FAN, GL_UNSIGNED_INT, NULL, 3, 0);
    errors("many elements");
    glDrawElementsIndirect(GL_TRIANGLE_FAN, GL_FLOAT, NULL);
    errors("no type");
    if (has_extension("GL_ARB_indirect_parameters")) {
        static const GLuint counts[] = {2, 100};
        make_buffer(GL_PARAMETER_BUFFER_ARB, sizeof counts, counts);
        cell(1, 2, 2, 3);
        glMultiDrawElementsIndirectCountARB(GL_TRIANGLE_FAN, GL_UNSIGNED_INT, 0, 0, 3, 0);
        errors("counted");
        glMultiDrawElementsIndirectCountARB(GL_TRIANGLE_FAN, GL_UNSIGNED_INT, 0, 8, 3, 0);
        errors("no count");
        make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof arrays, arrays);
        glMultiDrawArraysIndirectCountARB(GL_LINE_LOOP, 0, 4, 4, 0);
        errors("the maximum number of draws");
    }
}

static void all_in_memory(void)
{
    if (!ready())
        return no_picture();
    make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order);
    cell(0, 0, 2, 1);
    glMultiDrawArraysIndirect(GL_TRIANGLE_FAN, arrays, 4, 0);
    errors("arrays");
    cell(1, 0, 2, 1);
    glMultiDrawElementsIndirect(GL_TRIANGLE_FAN, GL_UNSIGNED_INT, elements, 3, 0);
    errors("elements");
}

/* An attribute with a null pointer gets its buffer from the binding point of another attribute, and
 * keeps its format. */
static void shared_binding(void)
{
    static const GLfloat corners[4][3] = {{-1, 1, 0}, {1, 1, 0}, {-1, -1, 0}, {1, -1, 0}};
    static const struct arrays_command strip = {4, 1, 0, 0};
    static const char colored[] = "#version 140\nin vec4 place; in vec4 tint; out vec4 color; void main() { gl_Position = place; color = tint; }";
    static const char smooth[] = "#version 140\nin vec4 color; out vec4 result; void main() { result = color; }";
    GLuint array;
    if (!need_extension("GL_ARB_draw_indirect") || !need_extension("GL_ARB_vertex_attrib_binding"))
        return no_picture();
    GLuint program = build_program(colored, smooth);
    glUseProgram(program);
    GLuint place = (GLuint)glGetAttribLocation(program, "place"), tint = (GLuint)glGetAttribLocation(program, "tint");
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof strip, &strip);
    make_buffer(GL_ARRAY_BUFFER, sizeof corners, corners);
    glEnableVertexAttribArray(place);
    glEnableVertexAttribArray(tint);
    glVertexAttribPointer(place, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(tint, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glVertexAttribBinding(place, place);
    glVertexAttribBinding(tint, place);
    cell(0, 0, 2, 1);
    glDrawArraysIndirect(GL_TRIANGLE_STRIP, NULL);
    cell(1, 0, 2, 1);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    errors("shared");
}

/* Display lists do not record any of these draws. */
static void in_lists(void)
{
    if (!ready())
        return no_picture();
    make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order);
    for (int mode = 0; mode < 2; mode++) {
        glNewList(1, mode ? GL_COMPILE_AND_EXECUTE : GL_COMPILE);
        glDrawArraysInstanced(GL_TRIANGLE_FAN, 4, 4, 2);
        errors("glDrawArraysInstanced");
        glDrawArraysInstancedBaseInstance(GL_TRIANGLE_FAN, 4, 4, 2, 1);
        errors("glDrawArraysInstancedBaseInstance");
        glDrawElementsInstanced(GL_TRIANGLE_FAN, 4, GL_UNSIGNED_INT, NULL, 2);
        errors("glDrawElementsInstanced");
        glDrawElementsInstancedBaseVertex(GL_TRIANGLE_FAN, 4, GL_UNSIGNED_INT, NULL, 2, 4);
        errors("glDrawElementsInstancedBaseVertex");
        glDrawElementsInstancedBaseInstance(GL_TRIANGLE_FAN, 4, GL_UNSIGNED_INT, NULL, 2, 1);
        errors("glDrawElementsInstancedBaseInstance");
        glDrawElementsInstancedBaseVertexBaseInstance(GL_TRIANGLE_FAN, 4, GL_UNSIGNED_INT, NULL, 2, 4, 1);
        errors("glDrawElementsInstancedBaseVertexBaseInstance");
        glDrawArraysIndirect(GL_TRIANGLE_FAN, arrays);
        errors("glDrawArraysIndirect");
        glDrawElementsIndirect(GL_TRIANGLE_FAN, GL_UNSIGNED_INT, elements);
        errors("glDrawElementsIndirect");
        glMultiDrawArraysIndirect(GL_TRIANGLE_FAN, arrays, 2, 0);
        errors("glMultiDrawArraysIndirect");
        glMultiDrawElementsIndirect(GL_TRIANGLE_FAN, GL_UNSIGNED_INT, elements, 2, 0);
        errors("glMultiDrawElementsIndirect");
        glEndList();
        glCallList(1);
        errors("glCallList");
    }
}

CONFORM("indirect_arrays", COMPAT, {"arguments_in_buffers", arguments_in_buffers}, {"all_in_memory", all_in_memory},
        {"shared_binding", shared_binding}, {"in_lists", in_lists})
