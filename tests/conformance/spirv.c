/* GL_ARB_gl_spirv and GL_ARB_spirv_extensions: shaders in SPIR-V. */
#include "conform.h"

/* glslangValidator -G -g0 -Os of:
 *     #version 450
 *     layout(location = 0) in vec2 place;
 *     layout(location = 3) in vec3 tint;
 *     layout(location = 0) out vec3 color;
 *     layout(location = 5) uniform vec4 shift;
 *     layout(constant_id = 7) const float SCALE = 1.0;
 *     layout(constant_id = 9) const bool SWAP = false;
 *     void main() { gl_Position = vec4((SWAP ? place.yx : place) * SCALE + shift.xy, shift.z, 1.0); color = tint; }
 */
static const uint32_t vertex_words[] = {
    0x7230203, 0x10000, 0x8000b, 0x39, 0x0, 0x20011, 0x1, 0x6000b, 0x1, 0x4c534c47, 0x6474732e, 0x3035342e, 0x0, 0x3000e, 0x0, 0x1, 0x9000f, 0x0,
    0x4, 0x6e69616d, 0x0, 0xd, 0x18, 0x31, 0x33, 0x50048, 0xb, 0x0, 0xb, 0x0, 0x50048, 0xb, 0x1, 0xb, 0x1, 0x50048, 0xb, 0x2, 0xb, 0x3, 0x50048,
    0xb, 0x3, 0xb, 0x4, 0x30047, 0xb, 0x2, 0x40047, 0x11, 0x1, 0x9, 0x40047, 0x18, 0x1e, 0x0, 0x40047, 0x1e, 0x1, 0x7, 0x40047, 0x21, 0x1e, 0x5,
    0x40047, 0x31, 0x1e, 0x0, 0x40047, 0x33, 0x1e, 0x3, 0x20013, 0x2, 0x30021, 0x3, 0x2, 0x30016, 0x6, 0x20, 0x40017, 0x7, 0x6, 0x4, 0x40015, 0x8,
    0x20, 0x0, 0x4002b, 0x8, 0x9, 0x1, 0x4001c, 0xa, 0x6, 0x9, 0x6001e, 0xb, 0x7, 0x6, 0xa, 0xa, 0x40020, 0xc, 0x3, 0xb, 0x4003b, 0xc, 0xd, 0x3,
    0x40015, 0xe, 0x20, 0x1, 0x4002b, 0xe, 0xf, 0x0, 0x20014, 0x10, 0x30031, 0x10, 0x11, 0x40017, 0x12, 0x6, 0x2, 0x40020, 0x17, 0x1, 0x12, 0x4003b,
    0x17, 0x18, 0x1, 0x40032, 0x6, 0x1e, 0x3f800000, 0x40020, 0x20, 0x0, 0x7, 0x4003b, 0x20, 0x21, 0x0, 0x4002b, 0x8, 0x25, 0x2, 0x40020, 0x26, 0x0,
    0x6, 0x4002b, 0x6, 0x29, 0x3f800000, 0x40020, 0x2d, 0x3, 0x7, 0x40017, 0x2f, 0x6, 0x3, 0x40020, 0x30, 0x3, 0x2f, 0x4003b, 0x30, 0x31, 0x3,
    0x40020, 0x32, 0x1, 0x2f, 0x4003b, 0x32, 0x33, 0x1, 0x50036, 0x2, 0x4, 0x0, 0x3, 0x200f8, 0x5, 0x300f7, 0x16, 0x0, 0x400fa, 0x11, 0x15, 0x1b,
    0x200f8, 0x15, 0x4003d, 0x12, 0x19, 0x18, 0x7004f, 0x12, 0x1a, 0x19, 0x19, 0x1, 0x0, 0x200f9, 0x16, 0x200f8, 0x1b, 0x4003d, 0x12, 0x1c, 0x18,
    0x200f9, 0x16, 0x200f8, 0x16, 0x700f5, 0x12, 0x38, 0x1a, 0x15, 0x1c, 0x1b, 0x5008e, 0x12, 0x1f, 0x38, 0x1e, 0x4003d, 0x7, 0x22, 0x21, 0x7004f,
    0x12, 0x23, 0x22, 0x22, 0x0, 0x1, 0x50081, 0x12, 0x24, 0x1f, 0x23, 0x50041, 0x26, 0x27, 0x21, 0x25, 0x4003d, 0x6, 0x28, 0x27, 0x50051, 0x6,
    0x2a, 0x24, 0x0, 0x50051, 0x6, 0x2b, 0x24, 0x1, 0x70050, 0x7, 0x2c, 0x2a, 0x2b, 0x28, 0x29, 0x50041, 0x2d, 0x2e, 0xd, 0xf, 0x3003e, 0x2e, 0x2c,
    0x4003d, 0x2f, 0x34, 0x33, 0x3003e, 0x31, 0x34, 0x100fd, 0x10038,
};

/* The same of:
 *     #version 450
 *     layout(location = 0) in vec3 color;
 *     layout(location = 0) out vec4 result;
 *     layout(constant_id = 2) const int STEPS = 4;
 *     layout(location = 8) uniform float light;
 *     void main() { result = vec4(floor(color * float(STEPS)) / float(STEPS) * light, 1.0); }
 */
static const uint32_t fragment_words[] = {
    0x7230203, 0x10000, 0x8000b, 0x1f, 0x0, 0x20011, 0x1, 0x6000b, 0x1, 0x4c534c47, 0x6474732e, 0x3035342e, 0x0, 0x3000e, 0x0, 0x1, 0x7000f, 0x4,
    0x4, 0x6e69616d, 0x0, 0x9, 0xc, 0x30010, 0x4, 0x8, 0x40047, 0x9, 0x1e, 0x0, 0x40047, 0xc, 0x1e, 0x0, 0x40047, 0xf, 0x1, 0x2, 0x40047, 0x17,
    0x1e, 0x8, 0x20013, 0x2, 0x30021, 0x3, 0x2, 0x30016, 0x6, 0x20, 0x40017, 0x7, 0x6, 0x4, 0x40020, 0x8, 0x3, 0x7, 0x4003b, 0x8, 0x9, 0x3, 0x40017,
    0xa, 0x6, 0x3, 0x40020, 0xb, 0x1, 0xa, 0x4003b, 0xb, 0xc, 0x1, 0x40015, 0xe, 0x20, 0x1, 0x40032, 0xe, 0xf, 0x4, 0x40020, 0x16, 0x0, 0x6,
    0x4003b, 0x16, 0x17, 0x0, 0x4002b, 0x6, 0x1a, 0x3f800000, 0x50036, 0x2, 0x4, 0x0, 0x3, 0x200f8, 0x5, 0x4003d, 0xa, 0xd, 0xc, 0x4006f, 0x6, 0x10,
    0xf, 0x5008e, 0xa, 0x11, 0xd, 0x10, 0x6000c, 0xa, 0x12, 0x1, 0x8, 0x11, 0x60050, 0xa, 0x14, 0x10, 0x10, 0x10, 0x50088, 0xa, 0x15, 0x12, 0x14,
    0x4003d, 0x6, 0x18, 0x17, 0x5008e, 0xa, 0x19, 0x15, 0x18, 0x50051, 0x6, 0x1b, 0x19, 0x0, 0x50051, 0x6, 0x1c, 0x19, 0x1, 0x50051, 0x6, 0x1d,
    0x19, 0x2, 0x70050, 0x7, 0x1e, 0x1b, 0x1c, 0x1d, 0x1a, 0x3003e, 0x9, 0x1e, 0x100fd, 0x10038,
};

static GLint status(GLuint shader, GLenum pname)
{
    GLint value = -7;
    glGetShaderiv(shader, pname, &value);
    return value;
}

static GLuint shader(GLenum kind, const uint32_t *words, size_t bytes, int count, const GLuint *ids, const GLuint *values)
{
    GLuint name = glCreateShader(kind);
    glShaderBinary(1, &name, GL_SHADER_BINARY_FORMAT_SPIR_V_ARB, words, (GLsizei)bytes);
    note("binary: %d, compiled: %d", status(name, GL_SPIR_V_BINARY_ARB), status(name, GL_COMPILE_STATUS));
    glSpecializeShaderARB(name, "main", (GLuint)count, ids, values);
    note("binary: %d, compiled: %d", status(name, GL_SPIR_V_BINARY_ARB), status(name, GL_COMPILE_STATUS));
    errors("shader");
    return name;
}

#define VERTEX(count, ids, values) shader(GL_VERTEX_SHADER, vertex_words, sizeof vertex_words, count, ids, values)
#define FRAGMENT(count, ids, values) shader(GL_FRAGMENT_SHADER, fragment_words, sizeof fragment_words, count, ids, values)

static GLuint linked(GLuint vertex, GLuint fragment)
{
    GLint done = -1;
    GLuint program = glCreateProgram();
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &done);
    note("linked: %d", done);
    errors("program");
    return program;
}

static bool start(void)
{
    glClear(GL_COLOR_BUFFER_BIT);
    return need_extension("GL_ARB_gl_spirv");
}

static void triangle(void)
{
    static const GLfloat corners[] = {-0.8f, -0.8f, 1, 0, 0, 0.8f, -0.6f, 0, 1, 0, 0, 0.8f, 0, 0, 1};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 20, corners);
    glVertexAttribPointer(3, 3, GL_FLOAT, GL_FALSE, 20, corners + 2);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(3);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void specialized(void)
{
    if (!start())
        return;
    const GLfloat sizes[4] = {1, 0.75f, 0.5f, 1.1f};
    const GLuint vertex_ids[2] = {9, 7}, fragment_id = 2;
    for (GLuint i = 0; i < 4; i++) {
        GLuint values[2] = {i & 1, 0}, steps = 2 + 5 * i;
        memcpy(values + 1, sizes + i, 4);
        GLuint program = linked(VERTEX(i == 0 ? 0 : 2, vertex_ids, values), FRAGMENT(i == 0 ? 0 : 1, &fragment_id, &steps));
        cell((int)i % 2, (int)i / 2, 2, 2);
        glUseProgram(program);
        glUniform4f(5, 0.05f * (float)i, 0.1f, 0, 0);
        glUniform1f(8, 1 - 0.15f * (float)i);
        triangle();
        GLfloat back[4] = {0};
        glGetUniformfv(program, 5, back);
        note_floats("shift", back, 4);
        errors("triangle");
    }
}

static void immediate(void)
{
    if (!start())
        return;
    glUseProgram(linked(VERTEX(0, NULL, NULL), FRAGMENT(0, NULL, NULL)));
    glUniform4f(5, 0, 0, 0, 0);
    glUniform1f(8, 1);
    glBegin(GL_TRIANGLE_FAN);
    for (int i = 0; i < 12; i++) {
        float color[3];
        hue((float)i / 12, color);
        glVertexAttrib3fv(3, color);
        glVertexAttrib2f(0, i < 6 ? -0.9f + 0.3f * (float)i : 0.9f - 0.3f * (float)(i - 6), i < 6 ? -0.5f - 0.05f * (float)i : 0.7f);
    }
    glEnd();
    errors("immediate");
}

static void queries(void)
{
    if (!start())
        return;
    GLint count = 0, formats[64], found = 0;
    glGetIntegerv(GL_NUM_SHADER_BINARY_FORMATS, &count);
    glGetIntegerv(GL_SHADER_BINARY_FORMATS, formats);
    for (int i = 0; i < count && i < 64; i++)
        found += formats[i] == GL_SHADER_BINARY_FORMAT_SPIR_V_ARB;
    note("formats: %d, SPIR-V: %d", count, found);
    if (has_extension("GL_ARB_spirv_extensions")) {
        glGetIntegerv(GL_NUM_SPIR_V_EXTENSIONS, &count);
        note("extensions: %d", count);
        for (int i = 0; i < count; i++)
            note("%s", (const char *)glGetStringi(GL_SPIR_V_EXTENSIONS, (GLuint)i));
        note("one more: %d", glGetStringi(GL_SPIR_V_EXTENSIONS, (GLuint)count) == NULL);
        errors("one more");
    }
    GLuint program = linked(VERTEX(0, NULL, NULL), FRAGMENT(0, NULL, NULL));
    GLint uniforms = -1, attributes = -1;
    glGetProgramiv(program, GL_ACTIVE_UNIFORMS, &uniforms);
    glGetProgramiv(program, GL_ACTIVE_ATTRIBUTES, &attributes);
    note("uniforms %d, attributes %d", uniforms, attributes);
    note("location: %d %d", glGetUniformLocation(program, "shift"), glGetAttribLocation(program, "place"));
    errors("queries");
    no_picture();
}

static void mistakes(void)
{
    if (!start())
        return;
    const GLuint id = 77, value = 1;
    GLuint vertex = glCreateShader(GL_VERTEX_SHADER), fragment = glCreateShader(GL_FRAGMENT_SHADER);
    glSpecializeShaderARB(vertex, "main", 0, NULL, NULL);
    errors("shader without a binary");
    glShaderBinary(1, &vertex, 0x7777, vertex_words, sizeof vertex_words);
    errors("format");
    glShaderBinary(-1, &vertex, GL_SHADER_BINARY_FORMAT_SPIR_V_ARB, vertex_words, sizeof vertex_words);
    errors("negative count");
    glShaderBinary(1, (const GLuint[]){99999}, GL_SHADER_BINARY_FORMAT_SPIR_V_ARB, vertex_words, sizeof vertex_words);
    errors("no shader");
    glShaderBinary(1, &vertex, GL_SHADER_BINARY_FORMAT_SPIR_V_ARB, vertex_words, sizeof vertex_words);
    errors("binary");
    glCompileShader(vertex);
    errors("compile");
    glSpecializeShaderARB(vertex, "other", 0, NULL, NULL);
    errors("entry point");
    glSpecializeShaderARB(vertex, "main", 1, &id, &value);
    errors("constant");
    glSpecializeShaderARB(99999, "main", 0, NULL, NULL);
    errors("specialize no shader");
    glSpecializeShaderARB(vertex, "main", 0, NULL, NULL);
    errors("specialize");
    glSpecializeShaderARB(vertex, "main", 0, NULL, NULL);
    errors("again");
    const char *source = "#version 330\nout vec4 c; void main() { c = vec4(1); }";
    glShaderSource(fragment, 1, &source, NULL);
    glCompileShader(fragment);
    linked(vertex, fragment);
    glShaderSource(vertex, 1, (const char *const[]){"#version 330\nvoid main() { gl_Position = vec4(0); }"}, NULL);
    note("binary: %d, compiled: %d", status(vertex, GL_SPIR_V_BINARY_ARB), status(vertex, GL_COMPILE_STATUS));
    glCompileShader(vertex);
    note("binary: %d, compiled: %d", status(vertex, GL_SPIR_V_BINARY_ARB), status(vertex, GL_COMPILE_STATUS));
    linked(vertex, fragment);
    errors("GLSL again");
    no_picture();
}

CONFORM("spirv", COMPAT, {"specialized", specialized}, {"immediate", immediate}, {"queries", queries}, {"mistakes", mistakes})
