/* Uniforms of every type, set in every way and read back. */
#include "conform.h"

static const char plain_vertex[] = "#version 130\nvoid main() { gl_Position = gl_Vertex; }";
static GLuint program;

static GLint at(const char *name)
{
    GLint location = glGetUniformLocation(program, name);
    if (location < 0)
        note("%s has no location", name);
    return location;
}

static void use(const char *fragment)
{
    program = build_program(plain_vertex, fragment);
    glUseProgram(program);
}

static void note_uniform(const char *name, int count)
{
    GLfloat floats[16] = {0};
    GLint ints[16] = {0};
    glGetUniformfv(program, at(name), floats);
    glGetUniformiv(program, at(name), ints);
    note_floats(name, floats, count);
    note_ints(name, ints, count);
}

static void floats(void)
{
    use("#version 130\nuniform float a; uniform vec2 b; uniform vec3 c; uniform vec4 d; uniform vec2 e[3]; uniform float f[5];\n"
        "void main() { gl_FragColor = vec4(a, b.y, c.z, 1.0) * 0.5 + d * 0.1 + vec4(e[0] + e[1], e[2]) * 0.2 + vec4(f[0] + f[1], f[2], f[3], f[4]) * 0.1; }");
    glUniform1f(at("a"), 0.25f);
    glUniform2f(at("b"), 0.5f, 0.75f);
    glUniform3f(at("c"), 0.1f, 0.2f, 0.3f);
    glUniform4f(at("d"), 0.9f, 0.8f, 0.7f, 0.6f);
    glUniform2fv(at("e"), 3, (const GLfloat[]){0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f});
    glUniform1fv(at("f"), 5, (const GLfloat[]){1, 2, 3, 4, 5});
    glUniform2fv(at("e[1]"), 1, (const GLfloat[]){0.9f, 0.1f});
    glUniform1fv(at("f[3]"), 2, (const GLfloat[]){0.4f, 0.5f});
    glUniform1fv(at("f[1]"), 100, (const GLfloat[100]){0.6f, 0.7f}); /* more than there are */
    note_uniform("a", 1);
    note_uniform("b", 2);
    note_uniform("c", 3);
    note_uniform("d", 4);
    note_uniform("e", 2);
    note_uniform("e[1]", 2);
    note_uniform("f[4]", 1);
    square(0.9f);
    glUniform1fv(at("a"), 1, (const GLfloat[]){1.5f});
    glUniform3fv(at("c"), 1, (const GLfloat[]){1, 2, 3});
    glUniform4fv(at("d"), 1, (const GLfloat[]){4, 3, 2, 1});
    note_uniform("c", 3);
    square(0.5f);
    errors("floats");
}

static void integers(void)
{
    use("#version 130\nuniform int a; uniform ivec2 b; uniform ivec3 c; uniform ivec4 d; uniform uint e; uniform uvec3 f[2]; uniform bool g; uniform bvec4 h;\n"
        "void main() { gl_FragColor = vec4(float(a) + float(b.x), float(c.y + d.w), float(e + f[1].z), 1.0) / 20.0\n"
        "+ (g ? vec4(0.2) : vec4(0.0)) + (h.y ? vec4(0.1, 0.0, 0.0, 0.0) : vec4(0.0)) + (h.w ? vec4(0.0, 0.2, 0.0, 0.0) : vec4(0.0)); }");
    glUniform1i(at("a"), 3);
    glUniform2i(at("b"), 4, -5);
    glUniform3iv(at("c"), 1, (const GLint[]){6, 7, 8});
    glUniform4i(at("d"), 1, 2, 3, 4);
    glUniform1ui(at("e"), 5);
    glUniform3uiv(at("f"), 2, (const GLuint[]){1, 2, 3, 4, 5, 4000000000u});
    glUniform3ui(at("f[1]"), 4, 5, 6);
    glUniform1i(at("g"), 77);
    glUniform4f(at("h"), 0, 0.5f, 0, -1);
    GLuint unsigned_values[4] = {0};
    glGetUniformuiv(program, at("f"), unsigned_values);
    note("f = %u %u %u", unsigned_values[0], unsigned_values[1], unsigned_values[2]);
    note_uniform("a", 1);
    note_uniform("b", 2);
    note_uniform("c", 3);
    note_uniform("d", 4);
    note_uniform("e", 1);
    note_uniform("g", 1);
    note_uniform("h", 4);
    square(0.9f);
    glUniform1f(at("a"), 1);
    errors("a float for an int");
    glUniform2i(at("a"), 1, 2);
    errors("two for one");
    glUniform1iv(at("a"), 2, (const GLint[]){1, 2});
    errors("an array for one");
    glUniform1i(at("e"), 1);
    errors("signed for unsigned");
}

static void matrices(void)
{
    static const GLfloat values[32] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f, 1,    1.1f, 1.2f, 1.3f, 1.4f, 1.5f, 1.6f,
                                       1.7f, 1.8f, 1.9f, 2,    2.1f, 2.2f, 2.3f, 2.4f, 2.5f, 2.6f, 2.7f, 2.8f, 2.9f, 3,    3.1f, 3.2f};
    use("#version 130\nuniform mat2 a; uniform mat3 b; uniform mat4 c[2]; uniform mat2x3 d; uniform mat3x2 e; uniform mat2x4 f; uniform mat4x2 g;\n"
        "uniform mat3x4 h; uniform mat4x3 i;\n"
        "void main() { vec4 v = vec4(a[1], a[0]) + vec4(b[2], b[0].y) + c[1][3] + c[0][2] + vec4(d[1], 0.0) + vec4(e[2], e[0]) + f[1]\n"
        "+ vec4(g[3], g[1]) + h[2] + vec4(i[3], i[0].z); gl_FragColor = vec4(v.rgb * 0.07, 1.0); }");
    for (int transpose = 0; transpose < 2; transpose++) {
        GLboolean t = (GLboolean)transpose;
        glUniformMatrix2fv(at("a"), 1, t, values);
        glUniformMatrix3fv(at("b"), 1, t, values);
        glUniformMatrix4fv(at("c"), 2, t, values);
        glUniformMatrix2x3fv(at("d"), 1, t, values);
        glUniformMatrix3x2fv(at("e"), 1, t, values);
        glUniformMatrix2x4fv(at("f"), 1, t, values);
        glUniformMatrix4x2fv(at("g"), 1, t, values);
        glUniformMatrix3x4fv(at("h"), 1, t, values);
        glUniformMatrix4x3fv(at("i"), 1, t, values);
        note_uniform("a", 4);
        note_uniform("b", 9);
        note_uniform("c[1]", 16);
        note_uniform("d", 6);
        note_uniform("e", 6);
        note_uniform("f", 8);
        note_uniform("g", 8);
        note_uniform("h", 12);
        note_uniform("i", 12);
        square(0.9f - 0.4f * (float)transpose);
    }
    errors("matrices");
    glUniformMatrix3fv(at("a"), 1, 0, values);
    errors("another size");
    glUniform4fv(at("c"), 1, values);
    errors("a vector for a matrix");
}

static void doubles(void)
{
    if (!need_extension("GL_ARB_gpu_shader_fp64"))
        return;
    use("#version 150 compatibility\n#extension GL_ARB_gpu_shader_fp64 : enable\n"
        "uniform double a; uniform dvec3 b[2]; uniform dmat3 c;\n"
        "void main() { gl_FragColor = vec4(float(a), float(b[1].y), float(c[2][0]), 1.0); }");
    glUniform1d(at("a"), 0.3);
    glUniform3dv(at("b"), 2, (const GLdouble[]){0.1, 0.2, 0.3, 0.4, 0.5, 0.6});
    glUniformMatrix3dv(at("c"), 1, GL_TRUE, (const GLdouble[]){1, 2, 0.9, 4, 5, 6, 7, 8, 9});
    GLdouble values[9];
    glGetUniformdv(program, at("b[1]"), values);
    note("b[1] = %.17g %.17g %.17g", values[0], values[1], values[2]);
    glGetUniformdv(program, at("c"), values);
    note("c = %.17g %.17g %.17g", values[0], values[3], values[8]);
    square(0.9f);
    errors("doubles");
}

static void structures(void)
{
    use("#version 130\nstruct light { vec3 color; float power[2]; }; uniform light lights[3]; uniform struct { vec4 base; } material;\n"
        "void main() { vec3 sum = material.base.rgb; for (int i = 0; i < 3; i++) sum += lights[i].color * (lights[i].power[0] + lights[i].power[1]);\n"
        "gl_FragColor = vec4(sum, 1.0); }");
    static const char *const names[] = {"lights[0].color", "lights[1].color", "lights[2].color", "lights[1].power", "lights[1].power[1]",
                                        "material.base", "lights", "lights[3].color", "lights[0].power[5]", "nothing"};
    for (int i = 0; i < 10; i++)
        note("%s is there: %d", names[i], glGetUniformLocation(program, names[i]) >= 0);
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "lights[%d].color", i);
        glUniform3f(at(name), i == 0, i == 1, i == 2);
        snprintf(name, sizeof name, "lights[%d].power", i);
        glUniform1fv(at(name), 2, (const GLfloat[]){0.1f * (float)i, 0.2f});
    }
    glUniform4f(at("material.base"), 0.2f, 0.3f, 0.1f, 1);
    note_uniform("lights[2].power[1]", 1);
    square(0.9f);
    errors("structures");
}

/* Uniforms belong to programs. They stay when another program is used, and are lost when their
 * program is linked again. */
static void several_programs(void)
{
    GLuint programs[3];
    for (int i = 0; i < 3; i++) {
        programs[i] = build_program("void main() { gl_Position = gl_Vertex; }", "uniform vec4 tint; void main() { gl_FragColor = tint; }");
        glUseProgram(programs[i]);
        glUniform4f(glGetUniformLocation(programs[i], "tint"), i == 0, i == 1, i == 2, 1);
    }
    for (int i = 0; i < 3; i++) {
        glUseProgram(programs[2 - i]);
        glViewport(i * 85, 0, 85, SIZE);
        square(0.8f);
    }
    glLinkProgram(programs[0]);
    square(0.3f);
    if (has_version(4, 1)) {
        glProgramUniform4f(programs[1], glGetUniformLocation(programs[1], "tint"), 1, 1, 0, 1);
        glUseProgram(programs[1]);
        square(0.2f);
    }
    errors("several programs");
    glUniform1f(-1, 5);
    errors("location -1");
    glUniform1f(1000, 5);
    errors("location 1000");
    glUseProgram(0);
    glUniform1f(0, 5);
    errors("no program");
    glUseProgram(999);
    errors("program 999");
    BOUND(GL_CURRENT_PROGRAM, 0);
    note("program 2 is a program: %d, shader: %d", glIsProgram(programs[1]), glIsShader(programs[1]));
    glUseProgram(programs[1]);
    glDeleteProgram(programs[1]);
    note("deleted but in use: %d", glIsProgram(programs[1]));
    glUseProgram(0);
    note("no longer in use: %d", glIsProgram(programs[1]));
}

static void samplers(void)
{
    GLuint names[3];
    unsigned char image[16 * 16 * 4];
    use("#version 130\nuniform sampler2D images[2]; uniform sampler2D last;\n"
        "void main() { vec2 p = gl_FragCoord.xy / 256.0; gl_FragColor = p.x < 0.33 ? texture(images[0], p * 4.0)\n"
        ": p.x < 0.66 ? texture(images[1], p * 4.0) : texture(last, p * 4.0); }");
    glGenTextures(3, names);
    for (int i = 0; i < 3; i++) {
        checkerboard(image, 16, 16, 1 << (i + 1));
        glActiveTexture(GL_TEXTURE0 + 5 - (GLenum)i);
        glBindTexture(GL_TEXTURE_2D, names[i]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    }
    glUniform1iv(at("images"), 2, (const GLint[]){5, 4});
    glUniform1i(at("last"), 3);
    note_uniform("images[1]", 1);
    square(1);
    glUniform1i(at("last"), 1000);
    errors("unit 1000");
    glUniform1f(at("last"), 1);
    errors("a float for a sampler");
}

CONFORM("glsl_uniforms", COMPAT, {"floats", floats}, {"integers", integers}, {"matrices", matrices}, {"doubles", doubles}, {"structures", structures},
        {"several_programs", several_programs}, {"samplers", samplers})
