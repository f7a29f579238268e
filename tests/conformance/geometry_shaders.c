/* Geometry shaders: every kind of input and output primitive, invocations, layers, queries, and
 * errors. */
#include "conform.h"

#define VERTEX "#version 150\nin vec4 place; out vec3 tint; void main() { gl_Position = place; tint = fract(place.xyx * 3.7 + 0.3); }"
#define FRAGMENT "#version 150\nin vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }"

static GLuint use(const char *geometry)
{
    GLuint program = STAGES(.vertex = VERTEX, .geometry = geometry, .fragment = FRAGMENT);
    glUseProgram(program);
    return program;
}

static void ring(int count)
{
    static GLfloat places[64][2];
    for (int i = 0; i < count; i++) {
        places[i][0] = -0.9f + 1.8f * (float)(i / 2) / (float)((count + 1) / 2) + 0.05f * (float)(i % 3);
        places[i][1] = (i % 2 ? 0.7f : -0.7f) + 0.2f * (float)(i % 5) / 5;
    }
    make_buffer(GL_ARRAY_BUFFER, sizeof places, places);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
}

static const struct {
    const char *name, *in;
    int vertices;
    GLenum modes[4];
} inputs[] = {{"points", "points", 1, {GL_POINTS}},
              {"lines", "lines", 2, {GL_LINES, GL_LINE_STRIP, GL_LINE_LOOP}},
              {"triangles", "triangles", 3, {GL_TRIANGLES, GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN}},
              {"lines_adjacency", "lines_adjacency", 4, {GL_LINES_ADJACENCY, GL_LINE_STRIP_ADJACENCY}},
              {"triangles_adjacency", "triangles_adjacency", 6, {GL_TRIANGLES_ADJACENCY, GL_TRIANGLE_STRIP_ADJACENCY}}};
static const char *const outputs[] = {"points", "line_strip", "triangle_strip"};

/* Each kind of input with each kind of output, drawn with all modes that match the input. */
static void primitives(void)
{
    if (!need_version(3, 2))
        return no_picture();
    ring(25);
    for (int i = 0; i < 5; i++) {
        for (int o = 0; o < 3; o++) {
            char source[1024];
            snprintf(source, sizeof source,
                     "#version 150\nlayout(%s) in; layout(%s, max_vertices = 24) out; in vec3 tint[]; out vec3 color;\n"
                     "void main() { for (int k = 0; k < 3; k++) { for (int i = 0; i < %d; i++) { gl_Position = gl_in[i].gl_Position * vec4(0.9, 0.9, 1.0, 1.0)"
                     " + vec4(vec2(k, i) * 0.03, 0.0, 0.0); color = tint[i] * float(gl_PrimitiveIDIn + 1) / 8.0; gl_PointSize = 1.0; EmitVertex(); } "
                     "EndPrimitive(); } }",
                     inputs[i].in, outputs[o], inputs[i].vertices);
            GLuint program = use(source);
            GLint values[3] = {-1, -1, -1};
            glGetProgramiv(program, GL_GEOMETRY_INPUT_TYPE, &values[0]);
            glGetProgramiv(program, GL_GEOMETRY_OUTPUT_TYPE, &values[1]);
            glGetProgramiv(program, GL_GEOMETRY_VERTICES_OUT, &values[2]);
            note_ints(inputs[i].name, values, 3);
            cell(i, o, 5, 3);
            for (int m = 0; m < 4; m++)
                if (m == 0 || inputs[i].modes[m])
                    glDrawArrays(inputs[i].modes[m], m * 2, 25 - m * 5);
            errors(outputs[o]);
        }
    }
}

static void invocations(void)
{
    if (!need_extension("GL_ARB_gpu_shader5"))
        return no_picture();
    ring(9);
    GLuint program = use("#version 400\nlayout(triangles, invocations = 7) in; layout(triangle_strip, max_vertices = 3) out; in vec3 tint[]; out vec3 color;\n"
                         "void main() { for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position * vec4(vec2(1.0 - 0.12 * gl_InvocationID), 1.0, 1.0);\n"
                         "color = tint[i] * (0.3 + 0.1 * gl_InvocationID); EmitVertex(); } EndPrimitive(); }");
    GLint count = -1;
    glGetProgramiv(program, GL_GEOMETRY_SHADER_INVOCATIONS, &count);
    note("invocations %d", count);
    INTS(GL_MAX_GEOMETRY_SHADER_INVOCATIONS, 1);
    INTS(GL_MAX_GEOMETRY_OUTPUT_VERTICES, 1);
    INTS(GL_MAX_GEOMETRY_TOTAL_OUTPUT_COMPONENTS, 1);
    INTS(GL_MAX_GEOMETRY_INPUT_COMPONENTS, 1);
    INTS(GL_MAX_GEOMETRY_OUTPUT_COMPONENTS, 1);
    INTS(GL_MAX_GEOMETRY_TEXTURE_IMAGE_UNITS, 1);
    INTS(GL_MAX_GEOMETRY_UNIFORM_COMPONENTS, 1);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 9, 2);
    /* The number of a primitive, which the geometry shader passes on. */
    program = STAGES(.vertex = VERTEX,
                     .geometry = "#version 150\nlayout(triangles) in; layout(triangle_strip, max_vertices = 3) out; in vec3 tint[]; out vec3 color;\n"
                                 "void main() { for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position * 0.3 + vec4(0.0, 0.0, 0.0, 0.7);\n"
                                 "gl_PrimitiveID = 5 - gl_PrimitiveIDIn; color = vec3(0.0); EmitVertex(); } }",
                     .fragment = "#version 150\nin vec3 color; out vec4 result; void main() { result = vec4(color + fract(vec3(1, 3, 5) * 0.17 * gl_PrimitiveID), 1.0); }");
    glUseProgram(program);
    glDrawArrays(GL_TRIANGLES, 0, 9);
    /* Vertices from the program's memory, through a loop of indices. */
    static const GLfloat corners[] = {-1, -1, -0.5f, -1, -1, -0.5f, -0.5f, -0.6f};
    static const GLubyte order[] = {0, 1, 2, 3, 1, 2};
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, order);
    errors("from memory");
    glBegin(GL_TRIANGLES);
    glVertexAttrib2f(0, 0.5f, 0.5f);
    glVertexAttrib2f(0, 1, 0.5f);
    glVertexAttrib2f(0, 0.5f, 1);
    glEnd();
    errors("from glBegin");
}

static void layers(void)
{
    no_picture();
    if (!need_version(3, 2))
        return;
    static const struct {
        const char *name;
        GLenum target;
        int layers;
    } kinds[] = {{"array", GL_TEXTURE_2D_ARRAY, 5}, {"cube", GL_TEXTURE_CUBE_MAP, 6}, {"3d", GL_TEXTURE_3D, 4}, {"1d array", GL_TEXTURE_1D_ARRAY, 3},
                 {"cube array", GL_TEXTURE_CUBE_MAP_ARRAY, 12}};
    ring(9);
    for (int k = 0; k < 5; k++) {
        char source[1024];
        snprintf(source, sizeof source,
                 "#version 150\nlayout(triangles) in; layout(triangle_strip, max_vertices = 36) out; in vec3 tint[]; out vec3 color;\n"
                 "void main() { for (int l = 0; l < %d; l++) { for (int i = 0; i < 3; i++) { gl_Layer = l; gl_Position = gl_in[i].gl_Position + "
                 "vec4(0.1 * float(l) - 0.2, 0.0, 0.0, 0.0); color = fract(tint[i] + vec3(0.2 * float(l))); EmitVertex(); } EndPrimitive(); } }",
                 kinds[k].layers);
        use(source);
        GLuint texture, framebuffer;
        glGenTextures(1, &texture);
        glGenFramebuffers(1, &framebuffer);
        glBindTexture(kinds[k].target, texture);
        if (kinds[k].target == GL_TEXTURE_CUBE_MAP)
            glTexStorage2D(GL_TEXTURE_CUBE_MAP, 1, GL_RGBA8, 16, 16);
        else if (kinds[k].target == GL_TEXTURE_1D_ARRAY)
            glTexStorage2D(GL_TEXTURE_1D_ARRAY, 1, GL_RGBA8, 16, 3);
        else
            glTexStorage3D(kinds[k].target, 1, GL_RGBA8, 16, 16, kinds[k].layers);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0);
        GLint layered = -1, name = -1;
        glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_LAYERED, &layered);
        glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &name);
        note("%s: %04x, layered %d, is it %d", kinds[k].name, glCheckFramebufferStatus(GL_FRAMEBUFFER), layered, name == (GLint)texture);
        glViewport(0, 0, 16, kinds[k].target == GL_TEXTURE_1D_ARRAY ? 1 : 16);
        glClearColor(0.1f, 0.2f, 0.3f, 0.4f);
        glClear(GL_COLOR_BUFFER_BIT);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 9);
        unsigned char pixels[12 * 16 * 16 * 4] = {0};
        if (kinds[k].target == GL_TEXTURE_CUBE_MAP)
            for (GLuint f = 0; f < 6; f++)
                glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + f, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels + f * 1024);
        else
            glGetTexImage(kinds[k].target, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        note_bytes(kinds[k].name, pixels, sizeof pixels);
        errors(kinds[k].name);
        /* A single layer of the texture. */
        if (kinds[k].target != GL_TEXTURE_CUBE_MAP) {
            glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0, 2);
            glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_LAYERED, &layered);
            glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER, &name);
            note("layered %d, layer %d", layered, name);
        }
        glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 3);
        note("no such level: %04x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
        errors("no such level");
        glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, -1);
        errors("a negative level");
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
    }
}

static void wrong(void)
{
    no_picture();
    if (!need_version(3, 2))
        return;
    ring(9);
    GLuint program = use("#version 150\nlayout(triangles) in; layout(points, max_vertices = 3) out; in vec3 tint[]; out vec3 color;\n"
                         "void main() { color = tint[0]; gl_Position = gl_in[0].gl_Position; EmitVertex(); }");
    static const GLenum modes[] = {GL_POINTS, GL_LINES, GL_LINES_ADJACENCY, GL_TRIANGLES_ADJACENCY, GL_QUADS, GL_POLYGON, GL_PATCHES, 77};
    for (int i = 0; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof name, "mode %x", modes[i]);
        glDrawArrays(modes[i], 0, 6);
        errors(name);
    }
    glBegin(GL_QUADS);
    glEnd();
    errors("glBegin");
    GLint value = -1;
    glUseProgram(0);
    GLuint plain = build_program(VERTEX, "#version 150\nin vec3 tint; out vec4 result; void main() { result = vec4(tint, 1.0); }");
    glGetProgramiv(plain, GL_GEOMETRY_VERTICES_OUT, &value);
    errors("of a program without");
    glGetProgramiv(program, GL_GEOMETRY_INPUT_TYPE, &value);
    errors("of a program with");
    glProgramParameteri(program, GL_GEOMETRY_VERTICES_OUT, 3);
    errors("a parameter of the ARB");
    glProgramParameteri(program, GL_PROGRAM_SEPARABLE, 7);
    errors("neither true nor false");
    glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, 0, 0);
    errors("of the default framebuffer");
    glFramebufferTexture(77, GL_COLOR_ATTACHMENT0, 0, 0);
    errors("no framebuffer");
    /* A geometry shader without a vertex shader, and one with incomplete layouts. */
    program = STAGES(.geometry = "#version 150\nlayout(points) in; layout(points, max_vertices = 1) out; void main() { EmitVertex(); }");
    glUseProgram(program);
    errors("alone");
    program = STAGES(.vertex = "#version 150\nvoid main() { gl_Position = vec4(0.0); }", .geometry = "#version 150\nvoid main() { EmitVertex(); }",
                     .fragment = "#version 150\nout vec4 c; void main() { c = vec4(1.0); }");
    glUseProgram(program);
    errors("no layout");
}

CONFORM("geometry_shaders", COMPAT, {"primitives", primitives}, {"invocations", invocations}, {"layers", layers}, {"wrong", wrong})
