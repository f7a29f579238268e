/* Indirect draws: one, many, with a count from a buffer, from the program's memory, and with
 * errors. */
#include "conform.h"

struct arrays_command {
    GLuint count, instances, first, base_instance;
};
struct elements_command {
    GLuint count, instances, first;
    GLint base_vertex;
    GLuint base_instance;
};

static const struct arrays_command arrays[] = {{3, 1, 0, 0}, {4, 2, 3, 1}, {0, 5, 0, 0}, {3, 3, 7, 2}, {5, 0, 0, 0}, {6, 1, 10, 3}};
static const struct elements_command elements[] = {{3, 1, 0, 0, 0}, {4, 2, 2, 3, 1}, {3, 3, 0, 6, 2}, {6, 1, 1, 9, 3}};
static const GLushort order[] = {0, 2, 1, 3, 2, 4, 5, 6};

static GLuint program;

static void scenery(void)
{
    static GLfloat places[32][2], tints[8][3];
    for (int i = 0; i < 32; i++) {
        places[i][0] = -0.9f + 1.7f * random_float();
        places[i][1] = -0.9f + 1.7f * random_float();
    }
    for (int i = 0; i < 8; i++)
        hue((float)i / 8, tints[i]);
    program = build_program("#version 330\nlayout(location = 0) in vec2 place; layout(location = 1) in vec3 tint; flat out vec3 color;\n"
                            "void main() { gl_Position = vec4(place + 0.05 * float(gl_InstanceID), 0.0, 1.0); color = tint; }",
                            "#version 330\nflat in vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }");
    glUseProgram(program);
    make_buffer(GL_ARRAY_BUFFER, sizeof places, places);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    make_buffer(GL_ARRAY_BUFFER, sizeof tints, tints);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(1);
    glVertexAttribDivisor(1, 1);
    make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order);
}

static bool ready(void)
{
    return need_extension("GL_ARB_draw_indirect") && need_extension("GL_ARB_multi_draw_indirect") && need_extension("GL_ARB_base_instance");
}

static void from_buffers(void)
{
    if (!ready())
        return no_picture();
    scenery();
    GLuint buffer = make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof arrays, arrays);
    BOUND(GL_DRAW_INDIRECT_BUFFER_BINDING, buffer);
    cell(0, 0, 3, 2);
    glDrawArraysIndirect(GL_TRIANGLES, NULL);
    glDrawArraysIndirect(GL_TRIANGLE_STRIP, (void *)16);
    errors("arrays");
    cell(1, 0, 3, 2);
    glMultiDrawArraysIndirect(GL_TRIANGLE_FAN, NULL, 6, 0);
    errors("many arrays");
    cell(2, 0, 3, 2);
    glMultiDrawArraysIndirect(GL_LINE_STRIP, (void *)16, 3, 32);
    errors("every other");
    make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof elements, elements);
    cell(0, 1, 3, 2);
    glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, NULL);
    glDrawElementsIndirect(GL_TRIANGLE_STRIP, GL_UNSIGNED_SHORT, (void *)20);
    errors("elements");
    cell(1, 1, 3, 2);
    glMultiDrawElementsIndirect(GL_TRIANGLE_FAN, GL_UNSIGNED_SHORT, NULL, 4, 0);
    errors("many elements");
    cell(2, 1, 3, 2);
    glMultiDrawElementsIndirect(GL_LINE_LOOP, GL_UNSIGNED_SHORT, (void *)20, 2, 40);
    errors("every other");
}

/* In the compatibility profile, commands and vertices may be in the program's memory. */
static void from_memory(void)
{
    if (!ready())
        return no_picture();
    scenery();
    cell(0, 0, 3, 2);
    glDrawArraysIndirect(GL_TRIANGLES, &arrays[0]);
    glDrawArraysIndirect(GL_TRIANGLE_STRIP, &arrays[1]);
    errors("arrays");
    cell(1, 0, 3, 2);
    glMultiDrawArraysIndirect(GL_TRIANGLE_FAN, arrays, 2, 0);
    glMultiDrawArraysIndirect(GL_TRIANGLE_FAN, &arrays[3], 3, 0);
    errors("many arrays");
    cell(2, 0, 3, 2);
    glMultiDrawArraysIndirect(GL_LINE_STRIP, &arrays[1], 3, 32);
    errors("every other");
    cell(0, 1, 3, 2);
    glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, &elements[0]);
    glDrawElementsIndirect(GL_TRIANGLE_STRIP, GL_UNSIGNED_SHORT, &elements[1]);
    errors("elements");
    cell(1, 1, 3, 2);
    glMultiDrawElementsIndirect(GL_TRIANGLE_FAN, GL_UNSIGNED_SHORT, elements, 4, 0);
    errors("many elements");
    cell(2, 1, 3, 2);
    glMultiDrawElementsIndirect(GL_LINE_LOOP, GL_UNSIGNED_SHORT, &elements[1], 2, 40);
    errors("every other");
}

/* One of the commands draws nothing. */
static void empty_in_memory(void)
{
    if (!ready())
        return no_picture();
    scenery();
    glMultiDrawArraysIndirect(GL_TRIANGLE_FAN, arrays, 6, 0);
    errors("arrays");
}

static void counted(void)
{
    if (!ready() || !need_extension("GL_ARB_indirect_parameters"))
        return no_picture();
    scenery();
    static const GLuint counts[] = {2, 6, 100, 0};
    GLuint buffer = make_buffer(GL_PARAMETER_BUFFER_ARB, sizeof counts, counts);
    BOUND(GL_PARAMETER_BUFFER_BINDING_ARB, buffer);
    make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof arrays, arrays);
    for (int i = 0; i < 4; i++) {
        cell(i, 0, 4, 2);
        glMultiDrawArraysIndirectCountARB(GL_TRIANGLE_FAN, 0, i * 4, 4, 0);
        errors("arrays");
    }
    make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof elements, elements);
    for (int i = 0; i < 4; i++) {
        cell(i, 1, 4, 2);
        glMultiDrawElementsIndirectCountARB(GL_TRIANGLE_FAN, GL_UNSIGNED_SHORT, 0, i * 4, 3, 0);
        errors("elements");
    }
    glMultiDrawArraysIndirectCountARB(GL_TRIANGLES, 0, 2, 1, 0);
    errors("a crooked offset");
    glMultiDrawArraysIndirectCountARB(GL_TRIANGLES, 0, 16, 1, 0);
    errors("beyond the counts");
    glMultiDrawArraysIndirectCountARB(GL_TRIANGLES, 0, 0, 1000, 0);
    errors("beyond the commands");
    glMultiDrawArraysIndirectCountARB(GL_TRIANGLES, 0, 0, -1, 0);
    errors("negative count");
    glMultiDrawArraysIndirectCountARB(GL_TRIANGLES, 0, 0, 1, 3);
    errors("a crooked stride");
    glMultiDrawElementsIndirectCountARB(GL_TRIANGLES, GL_FLOAT, 0, 0, 1, 0);
    errors("no type");
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, 0);
    glMultiDrawArraysIndirectCountARB(GL_TRIANGLES, 0, 0, 1, 0);
    errors("no commands");
    glBindBuffer(GL_PARAMETER_BUFFER_ARB, 0);
    glMultiDrawArraysIndirectCountARB(GL_TRIANGLES, 0, 0, 1, 0);
    errors("no counts");
}

static void wrong(void)
{
    no_picture();
    if (!ready())
        return;
    scenery();
    make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof arrays, arrays);
    glDrawArraysIndirect(77, NULL);
    errors("no mode");
    glDrawArraysIndirect(GL_TRIANGLES, (void *)2);
    errors("a crooked offset");
    glDrawArraysIndirect(GL_TRIANGLES, (void *)(sizeof arrays - 12));
    errors("beyond");
    glMultiDrawArraysIndirect(GL_TRIANGLES, NULL, 7, 0);
    errors("too many");
    glMultiDrawArraysIndirect(GL_TRIANGLES, NULL, -1, 0);
    errors("negative count");
    glMultiDrawArraysIndirect(GL_TRIANGLES, NULL, 2, 6);
    errors("a crooked stride");
    glMultiDrawArraysIndirect(GL_TRIANGLES, NULL, 0, 0);
    errors("zero draws");
    glDrawElementsIndirect(GL_TRIANGLES, GL_FLOAT, NULL);
    errors("no type");
    glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, (void *)(sizeof arrays - 16));
    errors("beyond");
    glMultiDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, NULL, 2, 5);
    errors("a crooked stride");
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, NULL);
    errors("no indices");
    glMultiDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, NULL, 2, 0);
    errors("no indices for many");
    void *map = glMapBuffer(GL_DRAW_INDIRECT_BUFFER, GL_WRITE_ONLY);
    glDrawArraysIndirect(GL_TRIANGLES, NULL);
    errors(map ? "mapped" : "not mapped");
    glUnmapBuffer(GL_DRAW_INDIRECT_BUFFER);
    glUseProgram(0);
    glDrawArraysIndirect(GL_POINTS, NULL);
    errors("no program");
    GLuint array;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glDrawArraysIndirect(GL_POINTS, NULL);
    errors("another vertex array object");
    glBegin(GL_POINTS);
    glDrawArraysIndirect(GL_POINTS, NULL);
    glEnd();
    errors("inside");
}

CONFORM("indirect_draws", COMPAT, {"from_buffers", from_buffers}, {"from_memory", from_memory}, {"empty_in_memory", empty_in_memory}, {"counted", counted}, {"wrong", wrong})
