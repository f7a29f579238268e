/* Tessellation: domains, spacings, default levels, control shaders that change the number of
 * vertices, queries, and errors. */
#include "conform.h"

#define VERTEX "#version 400\nin vec2 place; void main() { gl_Position = vec4(place, 0.0, 1.0); }"
#define FRAGMENT "#version 400\nin vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }"
#define CONTROL                                                                                                                                       \
    "#version 400\nlayout(vertices = %d) out; uniform vec4 outer; uniform vec2 inner; void main() {\n"                                               \
    "gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;\n"                                                                     \
    "gl_TessLevelOuter[0] = outer.x; gl_TessLevelOuter[1] = outer.y; gl_TessLevelOuter[2] = outer.z; gl_TessLevelOuter[3] = outer.w;\n"               \
    "gl_TessLevelInner[0] = inner.x; gl_TessLevelInner[1] = inner.y; }"

static void corners(void)
{
    static const GLfloat places[] = {-0.9f, -0.9f, 0.9f, -0.8f, -0.8f, 0.9f, 0.85f, 0.8f, 0.1f, 0.1f, -0.5f, 0.3f, 0.2f, -0.6f};
    make_buffer(GL_ARRAY_BUFFER, sizeof places, places);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
}

static const char *const place_in[] = {
    "gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position + gl_TessCoord.z * gl_in[2].gl_Position",
    "mix(mix(gl_in[0].gl_Position, gl_in[1].gl_Position, gl_TessCoord.x), mix(gl_in[2].gl_Position, gl_in[3].gl_Position, gl_TessCoord.x), gl_TessCoord.y)",
    "mix(mix(gl_in[0].gl_Position, gl_in[1].gl_Position, gl_TessCoord.x), mix(gl_in[2].gl_Position, gl_in[3].gl_Position, gl_TessCoord.x), gl_TessCoord.y)"};
static const char *const domains[] = {"triangles", "quads", "isolines"};
static const int patch_sizes[] = {3, 4, 4};

static void evaluation(char *to, size_t size, int domain, const char *spacing, const char *more)
{
    snprintf(to, size,
             "#version 400\nlayout(%s, %s%s) in; out vec3 color; void main() { gl_Position = %s;\n"
             "color = gl_TessCoord * 0.8 + vec3(0.1, 0.2, 0.15 * float(gl_PrimitiveID)); gl_PointSize = 1.0; }",
             domains[domain], spacing, more, place_in[domain]);
}

static void domains_and_spacings(void)
{
    if (!need_extension("GL_ARB_tessellation_shader"))
        return no_picture();
    static const char *const spacings[] = {"equal_spacing", "fractional_even_spacing", "fractional_odd_spacing"};
    static const GLfloat levels[][6] = {{1, 1, 1, 1, 1, 1}, {3, 4.3f, 5, 6.7f, 3.4f, 2}, {8, 9, 10.5f, 11, 7, 12}};
    corners();
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    for (int d = 0; d < 3; d++) {
        glPatchParameteri(GL_PATCH_VERTICES, patch_sizes[d]);
        for (int s = 0; s < 3; s++) {
            char control[1024], eval[1024];
            snprintf(control, sizeof control, CONTROL, patch_sizes[d]);
            evaluation(eval, sizeof eval, d, spacings[s], d == 2 ? "" : s == 1 ? ", cw" : s == 2 ? ", point_mode" : ", ccw");
            GLuint program = STAGES(.vertex = VERTEX, .control = control, .evaluation = eval, .fragment = FRAGMENT);
            glUseProgram(program);
            static const GLenum names[] = {GL_TESS_CONTROL_OUTPUT_VERTICES, GL_TESS_GEN_MODE, GL_TESS_GEN_SPACING, GL_TESS_GEN_VERTEX_ORDER,
                                           GL_TESS_GEN_POINT_MODE};
            GLint values[5];
            for (int i = 0; i < 5; i++)
                glGetProgramiv(program, names[i], &values[i]);
            note_ints(domains[d], values, 5);
            for (int l = 0; l < 3; l++) {
                glUniform4fv(glGetUniformLocation(program, "outer"), 1, levels[l]);
                glUniform2fv(glGetUniformLocation(program, "inner"), 1, levels[l] + 4);
                cell(d * 3 + s, l, 9, 3);
                glDrawArrays(GL_PATCHES, 0, patch_sizes[d]);
            }
            errors(spacings[s]);
        }
    }
}

/* Without a control shader, the levels come from the context. */
static void defaults(void)
{
    if (!need_extension("GL_ARB_tessellation_shader"))
        return no_picture();
    corners();
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    INTS(GL_PATCH_VERTICES, 1);
    FLOATS(GL_PATCH_DEFAULT_OUTER_LEVEL, 4);
    FLOATS(GL_PATCH_DEFAULT_INNER_LEVEL, 2);
    for (int d = 0; d < 3; d++) {
        char eval[1024];
        evaluation(eval, sizeof eval, d, "equal_spacing", "");
        glUseProgram(STAGES(.vertex = VERTEX, .evaluation = eval, .fragment = FRAGMENT));
        for (int l = 0; l < 3; l++) {
            const GLfloat outer[] = {2 + (float)l, 3, 4 + (float)l * 2, 5}, inner[] = {1 + 2 * (float)l, 2.5f};
            glPatchParameteri(GL_PATCH_VERTICES, patch_sizes[d]);
            glPatchParameterfv(GL_PATCH_DEFAULT_OUTER_LEVEL, outer);
            glPatchParameterfv(GL_PATCH_DEFAULT_INNER_LEVEL, inner);
            cell(d, l, 3, 3);
            glDrawArrays(GL_PATCHES, l, patch_sizes[d]);
        }
    }
    INTS(GL_PATCH_VERTICES, 1);
    FLOATS(GL_PATCH_DEFAULT_OUTER_LEVEL, 4);
    FLOATS(GL_PATCH_DEFAULT_INNER_LEVEL, 2);
    INTS(GL_PATCH_DEFAULT_OUTER_LEVEL, 4);
    DOUBLES(GL_PATCH_DEFAULT_INNER_LEVEL, 2);
    BOOLS(GL_PATCH_DEFAULT_INNER_LEVEL, 2);
    errors("defaults");
}

/* Control shaders that change the size of patches, per-patch values, and a geometry shader after
 * them. */
static void stages(void)
{
    if (!need_extension("GL_ARB_tessellation_shader"))
        return no_picture();
    corners();
    glPatchParameteri(GL_PATCH_VERTICES, 2);
    GLuint program = STAGES(
        .vertex = VERTEX,
        .control = "#version 400\nlayout(vertices = 5) out; patch out vec3 tone; out float along[]; void main() {\n"
                   "float t = float(gl_InvocationID) / 4.0; gl_out[gl_InvocationID].gl_Position = mix(gl_in[0].gl_Position, gl_in[1].gl_Position, t)"
                   " + vec4(0.0, t * (1.0 - t), 0.0, 0.0); along[gl_InvocationID] = t; barrier();\n"
                   "if (gl_InvocationID == 0) { tone = vec3(0.3 * float(gl_PrimitiveID), 0.5, 1.0 - 0.2 * float(gl_PatchVerticesIn));\n"
                   "gl_TessLevelOuter[0] = 2.0; gl_TessLevelOuter[1] = 4.0; } }",
        .evaluation = "#version 400\nlayout(isolines) in; patch in vec3 tone; in float along[]; out vec3 mixed; void main() {\n"
                      "int i = int(gl_TessCoord.x * 4.0); gl_Position = gl_in[i].gl_Position + vec4(0.0, gl_TessCoord.y * 0.3, 0.0, 0.0);\n"
                      "mixed = tone * along[i] + vec3(0.1); }",
        .geometry = "#version 400\nlayout(lines) in; layout(triangle_strip, max_vertices = 4) out; in vec3 mixed[]; out vec3 color; void main() {\n"
                    "for (int i = 0; i < 2; i++) for (int k = 0; k < 2; k++) { gl_Position = gl_in[i].gl_Position + vec4(0.0, 0.05 * float(k), 0.0, 0.0); "
                    "color = mixed[i]; EmitVertex(); } }",
        .fragment = FRAGMENT);
    glUseProgram(program);
    glDrawArrays(GL_PATCHES, 0, 6);
    static const GLushort order[] = {0, 3, 0xffff, 1, 2};
    glEnable(GL_PRIMITIVE_RESTART);
    glPrimitiveRestartIndex(0xffff);
    INTS(GL_PRIMITIVE_RESTART_FOR_PATCHES_SUPPORTED, 1);
    errors("restart for patches");
    glDrawElements(GL_PATCHES, 5, GL_UNSIGNED_SHORT, order);
    errors("stages");
    INTS(GL_MAX_PATCH_VERTICES, 1);
    INTS(GL_MAX_TESS_GEN_LEVEL, 1);
    INTS(GL_MAX_TESS_CONTROL_UNIFORM_COMPONENTS, 1);
    INTS(GL_MAX_TESS_EVALUATION_OUTPUT_COMPONENTS, 1);
    INTS(GL_MAX_TESS_PATCH_COMPONENTS, 1);
    errors("limits");
}

static void wrong(void)
{
    no_picture();
    if (!need_extension("GL_ARB_tessellation_shader"))
        return;
    corners();
    glPatchParameteri(GL_PATCH_VERTICES, 0);
    errors("no vertices");
    glPatchParameteri(GL_PATCH_VERTICES, -3);
    errors("fewer than no vertices");
    glPatchParameteri(GL_PATCH_VERTICES, 100);
    errors("too many vertices");
    glPatchParameteri(GL_PATCH_DEFAULT_OUTER_LEVEL, 3);
    errors("not an integer");
    const GLfloat level[4] = {-1, 0, 1e10f, 3};
    glPatchParameterfv(GL_PATCH_VERTICES, level);
    errors("not floats");
    glPatchParameterfv(GL_PATCH_DEFAULT_OUTER_LEVEL, level);
    errors("strange levels");
    FLOATS(GL_PATCH_DEFAULT_OUTER_LEVEL, 4);
    INTS(GL_PATCH_VERTICES, 1);
    glDrawArrays(GL_PATCHES, 0, 3);
    errors("patches without a program");
    char eval[1024];
    evaluation(eval, sizeof eval, 0, "equal_spacing", "");
    GLuint program = STAGES(.vertex = VERTEX, .evaluation = eval, .fragment = FRAGMENT);
    glUseProgram(program);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    errors("no patches");
    glBegin(GL_TRIANGLES);
    glEnd();
    errors("glBegin");
    glBegin(GL_PATCHES);
    errors("glBegin of patches");
    glPatchParameteri(GL_PATCH_VERTICES, 3);
    glEnd();
    errors("in glBegin");
    GLint value = -1;
    glGetProgramiv(program, GL_TESS_CONTROL_OUTPUT_VERTICES, &value);
    errors("no control shader");
    glUseProgram(0);
    program = STAGES(.vertex = VERTEX, .fragment = "#version 400\nout vec4 result; void main() { result = vec4(1.0); }");
    glGetProgramiv(program, GL_TESS_GEN_MODE, &value);
    errors("no evaluation shader");
    glUseProgram(program);
    glDrawArrays(GL_PATCHES, 0, 3);
    errors("patches without a tessellation shader");
    /* A control shader without an evaluation shader. */
    char control[1024];
    snprintf(control, sizeof control, CONTROL, 3);
    program = STAGES(.vertex = VERTEX, .control = control, .fragment = "#version 400\nout vec4 result; void main() { result = vec4(1.0); }");
    glUseProgram(program);
    errors("half of it");
    glDrawArrays(GL_PATCHES, 0, 3);
    errors("drawn with half of it");
}

CONFORM("tessellation", COMPAT, {"domains_and_spacings", domains_and_spacings}, {"defaults", defaults}, {"stages", stages}, {"wrong", wrong})
