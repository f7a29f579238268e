/* GL_ARB_direct_state_access: vertex array objects by name. */
#include "conform.h"

static const char vertex_source[] = "#version 330\nlayout(location = 0) in vec2 place; layout(location = 3) in vec4 tint; layout(location = 5) in ivec2 shift;\n"
                                    "out vec4 shade;\n"
                                    "void main() { shade = tint; gl_Position = vec4(place + vec2(shift) * 0.25, 0.0, 1.0); }";
static const char fragment_source[] = "#version 330\nin vec4 shade; out vec4 color; void main() { color = shade; }";

static bool start(void)
{
    return need_extension("GL_ARB_direct_state_access");
}

static void attributes(const char *what, GLuint array, GLuint index)
{
    static const GLenum names[] = {GL_VERTEX_ATTRIB_ARRAY_ENABLED, GL_VERTEX_ATTRIB_ARRAY_SIZE,    GL_VERTEX_ATTRIB_ARRAY_STRIDE,
                                   GL_VERTEX_ATTRIB_ARRAY_TYPE,    GL_VERTEX_ATTRIB_ARRAY_NORMALIZED, GL_VERTEX_ATTRIB_ARRAY_INTEGER,
                                   GL_VERTEX_ATTRIB_ARRAY_LONG,    GL_VERTEX_ATTRIB_ARRAY_DIVISOR, GL_VERTEX_ATTRIB_RELATIVE_OFFSET,
                                   GL_VERTEX_ATTRIB_BINDING,       GL_VERTEX_BINDING_OFFSET,       GL_VERTEX_BINDING_STRIDE,
                                   GL_VERTEX_BINDING_DIVISOR};
    GLint values[13];
    for (int i = 0; i < 13; i++) {
        values[i] = -7;
        glGetVertexArrayIndexediv(array, index, names[i], &values[i]);
    }
    GLint64 offset = -7;
    glGetVertexArrayIndexed64iv(array, index, GL_VERTEX_BINDING_OFFSET, &offset);
    note("%s %u, offset %d", what, index, (int)offset);
    note_ints(what, values, 13);
}

static void is_buffer_of(const char *what, GLuint array, GLuint index, GLuint buffer)
{
    GLint value = -7;
    glGetVertexArrayIndexediv(array, index, GL_VERTEX_BINDING_BUFFER, &value);
    note("%s: its buffer %d", what, value == (GLint)buffer);
}

static void elements_are(const char *what, GLuint array, GLuint buffer)
{
    GLint value = -7;
    glGetVertexArrayiv(array, GL_ELEMENT_ARRAY_BUFFER_BINDING, &value);
    note("%s: its elements %d", what, value == (GLint)buffer);
}

struct corner {
    GLfloat place[2];
    GLubyte tint[4];
    GLshort shift[2];
};

static const struct corner corners[] = {{{-0.9f, -0.9f}, {255, 0, 0, 255}, {0, 0}}, {{0.4f, -0.9f}, {0, 255, 0, 255}, {1, 0}},
                                        {{-0.9f, 0.4f}, {0, 0, 255, 255}, {0, 1}},  {{0.4f, 0.4f}, {255, 255, 0, 255}, {1, 1}}};
static const GLushort order[] = {0, 1, 2, 2, 1, 3, 0, 3};

static void drawn(void)
{
    if (!start())
        return;
    GLuint array, other, buffers[3], program = build_program(vertex_source, fragment_source);
    glCreateVertexArrays(1, &array);
    glGenVertexArrays(1, &other);
    note("is array: %d, only named: %d", glIsVertexArray(array), glIsVertexArray(other));
    attributes("fresh", array, 3);
    glCreateBuffers(3, buffers);
    glNamedBufferData(buffers[0], sizeof corners, corners, GL_STATIC_DRAW);
    glNamedBufferData(buffers[1], sizeof order, order, GL_STATIC_DRAW);
    glNamedBufferData(buffers[2], 32, (const GLubyte[32]){255, 255, 255, 255, 0, 255, 255, 255, 128, 0, 255, 255}, GL_STATIC_DRAW);
    BOUND(GL_VERTEX_ARRAY_BINDING, 0);
    glBindVertexArray(other);
    glVertexArrayVertexBuffer(array, 2, buffers[0], 0, sizeof(struct corner));
    glVertexArrayAttribFormat(array, 0, 2, GL_FLOAT, GL_FALSE, offsetof(struct corner, place));
    glVertexArrayAttribFormat(array, 3, 4, GL_UNSIGNED_BYTE, GL_TRUE, offsetof(struct corner, tint));
    glVertexArrayAttribIFormat(array, 5, 2, GL_SHORT, offsetof(struct corner, shift));
    glVertexArrayAttribBinding(array, 0, 2);
    glVertexArrayAttribBinding(array, 3, 2);
    glVertexArrayAttribBinding(array, 5, 2);
    glEnableVertexArrayAttrib(array, 0);
    glEnableVertexArrayAttrib(array, 3);
    glEnableVertexArrayAttrib(array, 5);
    glVertexArrayElementBuffer(array, buffers[1]);
    BOUND(GL_VERTEX_ARRAY_BINDING, other);
    BOUND(GL_ELEMENT_ARRAY_BUFFER_BINDING, 0);
    BOUND(GL_ARRAY_BUFFER_BINDING, 0);
    attributes("set", array, 0);
    attributes("set", array, 2);
    attributes("set", array, 3);
    attributes("set", array, 5);
    is_buffer_of("set", array, 2, buffers[0]);
    is_buffer_of("set", array, 3, 0);
    elements_are("set", array, buffers[1]);
    elements_are("other", other, 0);
    GLint enabled = -1;
    glGetVertexAttribiv(3, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &enabled);
    note("the bound one's: %d", enabled);
    glBindVertexArray(array);
    BOUND(GL_ELEMENT_ARRAY_BUFFER_BINDING, buffers[1]);
    glGetVertexAttribiv(3, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &enabled);
    note("the bound one's: %d", enabled);
    glUseProgram(program);
    cell(0, 0, 2, 2);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, NULL);
    glDisableVertexArrayAttrib(array, 5);
    cell(1, 0, 2, 2);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, NULL);
    /* Many buffers are set at once, with one tint per instance. */
    const GLuint many[] = {buffers[2], buffers[0]};
    const GLintptr offsets[] = {4, 0};
    const GLsizei strides[] = {4, sizeof(struct corner)};
    glVertexArrayVertexBuffers(array, 7, 2, many, offsets, strides);
    glVertexArrayAttribBinding(array, 0, 8);
    glVertexArrayAttribBinding(array, 3, 7);
    glVertexArrayAttribFormat(array, 3, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0);
    glVertexArrayBindingDivisor(array, 7, 1);
    attributes("many", array, 7);
    attributes("many", array, 3);
    is_buffer_of("many", array, 7, buffers[2]);
    cell(0, 1, 2, 2);
    glDrawElementsInstanced(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, NULL, 1);
    glDrawElementsInstancedBaseInstance(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, (void *)6, 1, 1);
    glVertexArrayVertexBuffers(array, 7, 1, NULL, NULL, NULL);
    attributes("none", array, 7);
    is_buffer_of("none", array, 7, 0);
    glVertexArrayVertexBuffer(array, 7, buffers[2], 8, 0);
    glVertexArrayBindingDivisor(array, 7, 0);
    glVertexArrayElementBuffer(array, 0);
    elements_are("none", array, 0);
    BOUND(GL_ELEMENT_ARRAY_BUFFER_BINDING, 0);
    cell(1, 1, 2, 2);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    errors("drawn");
    glDeleteVertexArrays(1, &array);
    note("is array: %d", glIsVertexArray(array));
    glEnableVertexArrayAttrib(array, 0);
    errors("deleted");
}

/* In the compatibility profile, 0 is the name of the default vertex array. */
static void default_array(void)
{
    if (!start())
        return;
    GLuint buffer, array;
    glCreateBuffers(1, &buffer);
    glCreateVertexArrays(1, &array);
    glNamedBufferData(buffer, sizeof corners, corners, GL_STATIC_DRAW);
    glBindVertexArray(array);
    glVertexArrayVertexBuffer(0, 1, buffer, 0, sizeof(struct corner));
    glVertexArrayAttribBinding(0, 0, 1);
    glVertexArrayAttribFormat(0, 0, 2, GL_FLOAT, GL_FALSE, 0);
    glEnableVertexArrayAttrib(0, 0);
    attributes("default", 0, 0);
    is_buffer_of("default", 0, 1, buffer);
    elements_are("default", 0, 0);
    errors("default");
    glBindVertexArray(0);
    glColor3f(1, 0.5f, 0);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    errors("drawn");
}

static void refused(void)
{
    if (!start())
        return;
    no_picture();
    GLuint array, named, buffer, only;
    GLint value = -7;
    GLint64 wide = -7;
    glCreateVertexArrays(1, &array);
    glGenVertexArrays(1, &named);
    glCreateBuffers(1, &buffer);
    glGenBuffers(1, &only);
    const GLuint wrong[] = {named, 4000};
    for (int i = 0; i < 2; i++) {
        note("name %d", i);
        glEnableVertexArrayAttrib(wrong[i], 0);
        errors("enable");
        glDisableVertexArrayAttrib(wrong[i], 99);
        errors("disable");
        glVertexArrayElementBuffer(wrong[i], buffer);
        errors("elements");
        glVertexArrayVertexBuffer(wrong[i], 0, buffer, 0, 4);
        errors("buffer");
        glVertexArrayVertexBuffers(wrong[i], 0, 1, &buffer, &(GLintptr){0}, &(GLsizei){4});
        errors("buffers");
        glVertexArrayAttribFormat(wrong[i], 0, 2, GL_FLOAT, GL_FALSE, 0);
        errors("format");
        glVertexArrayAttribBinding(wrong[i], 0, 0);
        errors("binding");
        glVertexArrayBindingDivisor(wrong[i], 0, 0);
        errors("divisor");
        glGetVertexArrayiv(wrong[i], GL_ELEMENT_ARRAY_BUFFER_BINDING, &value);
        errors("get");
        glGetVertexArrayIndexediv(wrong[i], 0, GL_VERTEX_ATTRIB_ARRAY_SIZE, &value);
        errors("get indexed");
        glGetVertexArrayIndexed64iv(wrong[i], 0, GL_VERTEX_BINDING_OFFSET, &wide);
        errors("get indexed 64");
        note("is array %d", glIsVertexArray(wrong[i]));
    }
    glEnableVertexArrayAttrib(array, 16);
    errors("attribute 16");
    glVertexArrayElementBuffer(array, only);
    errors("elements that are only a name");
    glVertexArrayElementBuffer(array, 4000);
    errors("elements of no buffer");
    glVertexArrayVertexBuffer(array, 16, buffer, 0, 4);
    errors("binding 16");
    glVertexArrayVertexBuffer(array, 0, buffer, -1, 4);
    errors("negative offset");
    glVertexArrayVertexBuffer(array, 0, buffer, 0, -4);
    errors("negative stride");
    glVertexArrayVertexBuffer(array, 0, buffer, 0, 1 << 20);
    errors("long stride");
    glVertexArrayVertexBuffer(array, 0, only, 0, 4);
    errors("a buffer that is only a name");
    note("it is a buffer now: %d", glIsBuffer(only));
    glNamedBufferData(only, 4, NULL, GL_STATIC_DRAW);
    errors("and takes data");
    GLuint second;
    glGenBuffers(1, &second);
    const GLuint many[] = {buffer, second, 0, buffer};
    const GLintptr offsets[] = {0, 0, 0, -4};
    const GLsizei strides[] = {4, 4, 4, 4};
    glVertexArrayVertexBuffers(array, 4, 4, many, offsets, strides);
    errors("one that is only a name, one with a negative offset");
    for (GLuint i = 4; i < 8; i++)
        is_buffer_of("of many", array, i, i == 4 ? buffer : 0);
    glVertexArrayVertexBuffers(array, 14, 4, many, offsets, strides);
    errors("too many");
    glVertexArrayVertexBuffers(array, 4, -1, many, offsets, strides);
    errors("-1 of them");
    glVertexArrayAttribFormat(array, 16, 2, GL_FLOAT, GL_FALSE, 0);
    errors("format of 16");
    glVertexArrayAttribFormat(array, 0, 5, GL_FLOAT, GL_FALSE, 0);
    errors("five components");
    glVertexArrayAttribFormat(array, 0, 2, GL_RGBA, GL_FALSE, 0);
    errors("no type");
    glVertexArrayAttribFormat(array, 0, 2, GL_FLOAT, GL_FALSE, 4096);
    errors("far offset");
    glVertexArrayAttribFormat(array, 0, GL_BGRA, GL_FLOAT, GL_TRUE, 0);
    errors("BGRA of floats");
    glVertexArrayAttribFormat(array, 0, GL_BGRA, GL_UNSIGNED_BYTE, GL_FALSE, 0);
    errors("BGRA of integers");
    glVertexArrayAttribFormat(array, 0, 3, GL_INT_2_10_10_10_REV, GL_TRUE, 0);
    errors("three packed");
    glVertexArrayAttribIFormat(array, 0, 3, GL_FLOAT, 0);
    errors("integers that are floats");
    glVertexArrayAttribLFormat(array, 0, 3, GL_FLOAT, 0);
    errors("doubles that are floats");
    attributes("unchanged", array, 0);
    glVertexArrayAttribBinding(array, 16, 0);
    errors("binding of 16");
    glVertexArrayAttribBinding(array, 0, 16);
    errors("binding to 16");
    glVertexArrayBindingDivisor(array, 16, 0);
    errors("divisor of 16");
    glGetVertexArrayiv(array, GL_VERTEX_ARRAY_BINDING, &value);
    errors("get");
    glGetVertexArrayIndexediv(array, 16, GL_VERTEX_ATTRIB_ARRAY_SIZE, &value);
    errors("get of 16");
    note("value %d", value);
    value = -7;
    glGetVertexArrayIndexediv(array, 0, GL_CURRENT_VERTEX_ATTRIB, &value);
    errors("get a current value");
    note("value %d", value);
    glGetVertexArrayIndexed64iv(array, 0, GL_VERTEX_BINDING_STRIDE, &wide);
    errors("get a stride of 64 bits");
    glGetVertexArrayIndexed64iv(array, 16, GL_VERTEX_BINDING_OFFSET, &wide);
    errors("get offset 16");
    glCreateVertexArrays(-1, &named);
    errors("create -1");
    glBegin(GL_POINTS);
    glEnableVertexArrayAttrib(array, 1);
    glVertexArrayAttribFormat(array, 1, 2, GL_FLOAT, GL_FALSE, 0);
    glVertexArrayVertexBuffer(array, 1, buffer, 0, 8);
    glVertexArrayElementBuffer(array, buffer);
    value = -7;
    glGetVertexArrayiv(array, GL_ELEMENT_ARRAY_BUFFER_BINDING, &value);
    GLint inside = value;
    glEnd();
    errors("between glBegin and glEnd");
    note("inside %d", inside);
    attributes("unchanged", array, 1);
    elements_are("unchanged", array, 0);
}

CONFORM("dsa_vertex_arrays", COMPAT, {"drawn", drawn}, {"default_array", default_array}, {"refused", refused})
