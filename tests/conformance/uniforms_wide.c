/* Uniforms of all types and sizes, including doubles and 64-bit integers, set by glUniform* and
 * glProgramUniform*, read back, and read by shaders. */
#include "conform.h"

#define VERTEX "#version 400\nvoid main() { vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0; gl_Position = vec4(at * 0.9, 0.0, 1.0); }"

static GLint at(GLuint program, const char *name)
{
    return glGetUniformLocation(program, name);
}

static void note_doubles(const char *what, const GLdouble *values, int count)
{
    char text[1024] = "";
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %.17g", values[i]);
    note("%s =%s", what, text);
}

static void note_uniform_doubles(GLuint program, const char *name)
{
    GLdouble values[17];
    for (int i = 0; i < 17; i++)
        values[i] = 777;
    glGetUniformdv(program, at(program, name), values);
    note_doubles(name, values, 17);
    GLfloat floats[17];
    for (int i = 0; i < 17; i++)
        floats[i] = 777;
    glGetUniformfv(program, at(program, name), floats);
    note_floats(name, floats, 17);
    errors(name);
}

static const char doubles_source[] =
    "#version 400\nuniform double one; uniform dvec2 two; uniform dvec3 three; uniform dvec4 four; uniform double many[3]; uniform dvec3 vectors[2];\n"
    "uniform dmat2 m2; uniform dmat3 m3; uniform dmat4 m4; uniform dmat2x3 m23; uniform dmat2x4 m24; uniform dmat3x2 m32; uniform dmat3x4 m34;\n"
    "uniform dmat4x2 m42; uniform dmat4x3 m43; out vec4 result;\n"
    "void main() { double sum = one + dot(two, two) + three.x + four.w + many[0] + many[2] + vectors[1].y + m2[1].x + m3[2].y + m4[3].z + m23[1].z + "
    "m24[1].w + m32[2].x + m34[2].w + m42[3].y + m43[3].z; result = vec4(fract(sum * 0.01), fract(sum), fract(sum * 1e6), 1.0); }";

static void doubles(void)
{
    if (!need_extension("GL_ARB_gpu_shader_fp64"))
        return no_picture();
    GLuint program = build_program(VERTEX, doubles_source);
    static const char *const names[] = {"one", "two", "three", "four", "many", "many[1]", "many[2]", "vectors", "vectors[1]", "m2", "m3", "m4",
                                        "m23", "m24", "m32", "m34", "m42", "m43"};
    GLdouble v[48];
    for (int i = 0; i < 48; i++)
        v[i] = 1.0 / (i + 3) + i;
    glUseProgram(program);
    glUniform1d(at(program, "one"), 1.0 / 3.0);
    glUniform2d(at(program, "two"), 0.1, 0.2);
    glUniform3d(at(program, "three"), 1e-300, 2, 1e300);
    glUniform4d(at(program, "four"), 1, 2, 3, 4.000000001);
    glUniform1dv(at(program, "many"), 3, v);
    glUniform3dv(at(program, "vectors"), 2, v + 4);
    glUniformMatrix2dv(at(program, "m2"), 1, GL_FALSE, v);
    glUniformMatrix3dv(at(program, "m3"), 1, GL_TRUE, v);
    glUniformMatrix4dv(at(program, "m4"), 1, GL_TRUE, v);
    glUniformMatrix2x3dv(at(program, "m23"), 1, GL_TRUE, v);
    glUniformMatrix2x4dv(at(program, "m24"), 1, GL_FALSE, v);
    glUniformMatrix3x2dv(at(program, "m32"), 1, GL_TRUE, v);
    glUniformMatrix3x4dv(at(program, "m34"), 1, GL_FALSE, v);
    glUniformMatrix4x2dv(at(program, "m42"), 1, GL_TRUE, v);
    glUniformMatrix4x3dv(at(program, "m43"), 1, GL_FALSE, v);
    errors("glUniform");
    for (int i = 0; i < 18; i++)
        note_uniform_doubles(program, names[i]);
    cell(0, 0, 2, 1);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glUseProgram(0);
    glProgramUniform1d(program, at(program, "one"), 2.0 / 3.0);
    glProgramUniform2d(program, at(program, "two"), 0.3, 0.4);
    glProgramUniform3d(program, at(program, "three"), 1, 2, 3);
    glProgramUniform4d(program, at(program, "four"), 5, 6, 7, 8);
    glProgramUniform1dv(program, at(program, "many[1]"), 2, v + 9);
    glProgramUniform2dv(program, at(program, "two"), 1, v + 9);
    glProgramUniform3dv(program, at(program, "vectors[1]"), 1, v + 2);
    glProgramUniform4dv(program, at(program, "four"), 1, v + 11);
    glProgramUniformMatrix2dv(program, at(program, "m2"), 1, GL_TRUE, v + 1);
    glProgramUniformMatrix3dv(program, at(program, "m3"), 1, GL_FALSE, v + 1);
    glProgramUniformMatrix4dv(program, at(program, "m4"), 1, GL_FALSE, v + 1);
    glProgramUniformMatrix2x3dv(program, at(program, "m23"), 1, GL_FALSE, v + 1);
    glProgramUniformMatrix2x4dv(program, at(program, "m24"), 1, GL_TRUE, v + 1);
    glProgramUniformMatrix3x2dv(program, at(program, "m32"), 1, GL_FALSE, v + 1);
    glProgramUniformMatrix3x4dv(program, at(program, "m34"), 1, GL_TRUE, v + 1);
    glProgramUniformMatrix4x2dv(program, at(program, "m42"), 1, GL_FALSE, v + 1);
    glProgramUniformMatrix4x3dv(program, at(program, "m43"), 1, GL_TRUE, v + 1);
    errors("glProgramUniform");
    for (int i = 0; i < 18; i++)
        note_uniform_doubles(program, names[i]);
    GLdouble few[2] = {-1, -1};
    if (has_extension("GL_ARB_robustness")) {
        glGetnUniformdvARB(program, at(program, "two"), 16, few);
        note_doubles("enough room", few, 2);
        glGetnUniformdvARB(program, at(program, "three"), 16, few);
        errors("not enough room");
    }
    glUseProgram(program);
    cell(1, 0, 2, 1);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glUniform1f(at(program, "one"), 1);
    errors("a float to a double");
    glUniform2d(at(program, "one"), 1, 2);
    errors("two to one");
    glUniform1dv(at(program, "one"), 2, v);
    errors("an array to one");
    glUniform1dv(at(program, "many"), 77, v);
    errors("too many");
    glUniform1dv(at(program, "one"), -1, v);
    errors("negative count");
    glUniform1d(-1, 3);
    errors("an invalid location");
    glUniform1d(7777, 3);
    errors("at no location");
    glUniformMatrix2dv(at(program, "m3"), 1, GL_FALSE, v);
    errors("another matrix");
    glProgramUniform1d(7777, 0, 3);
    errors("no program");
    glUniform1dv(at(program, "many"), 0, NULL);
    errors("zero values");
}

static const char plain_source[] =
    "#version 400\nuniform float f; uniform vec2 f2; uniform vec3 f3; uniform vec4 f4; uniform int i; uniform ivec2 i2; uniform ivec3 i3; uniform ivec4 i4;\n"
    "uniform uint u; uniform uvec2 u2; uniform uvec3 u3; uniform uvec4 u4; uniform bool b; uniform bvec3 b3; uniform float list[4]; uniform ivec2 pairs[3];\n"
    "uniform mat2 m2; uniform mat3 m3; uniform mat4 m4; uniform mat2x3 m23; uniform mat3x2 m32; uniform mat2x4 m24; uniform mat4x2 m42; uniform mat3x4 m34;\n"
    "uniform mat4x3 m43; uniform sampler2D image; uniform struct { float a; vec3 b[2]; } thing[2]; out vec4 result;\n"
    "void main() { float s = f + f2.x + f3.y + f4.z + float(i + i2.x + i3.y + i4.z) + float(u + u2.x + u3.y + u4.w) + float(b) + float(b3.y) + list[3] + "
    "float(pairs[2].y) + m2[1].x + m3[2].z + m4[3].w + m23[1].z + m32[2].y + m24[1].w + m42[3].x + m34[2].w + m43[3].z + thing[1].b[1].y + thing[0].a; "
    "result = vec4(fract(s), fract(s * 10.0), fract(s * 0.1), 1.0) + texture(image, vec2(0.5)) * 0.1; }";

static void program_uniforms(void)
{
    if (!need_extension("GL_ARB_separate_shader_objects"))
        return no_picture();
    GLuint program = build_program(VERTEX, plain_source);
    GLfloat v[32];
    GLint n[32];
    GLuint w[32];
    for (int i = 0; i < 32; i++) {
        v[i] = 0.37f * (float)i + 0.1f;
        n[i] = 3 * i - 7;
        w[i] = 0x80000000u + 5u * (GLuint)i;
    }
#define SET(kind, name, ...) glProgramUniform##kind(program, at(program, name), __VA_ARGS__)
    SET(1f, "f", 0.25f);
    SET(2f, "f2", 1, 2);
    SET(3f, "f3", 1, 2, 3);
    SET(4f, "f4", 1, 2, 3, 4);
    SET(1i, "i", -5);
    SET(2i, "i2", 1, -2);
    SET(3i, "i3", 1, 2, -3);
    SET(4i, "i4", 1, 2, 3, -4);
    SET(1ui, "u", 0xfffffff0u);
    SET(2ui, "u2", 1, 2);
    SET(3ui, "u3", 1, 2, 3);
    SET(4ui, "u4", 1, 2, 3, 4);
    SET(1i, "b", 7);
    SET(3f, "b3", 0, 0.5f, -1);
    SET(1i, "image", 3);
    SET(1fv, "list", 4, v);
    SET(2iv, "pairs[1]", 2, n);
    SET(Matrix2fv, "m2", 1, GL_TRUE, v);
    SET(Matrix3fv, "m3", 1, GL_FALSE, v);
    SET(Matrix4fv, "m4", 1, GL_TRUE, v);
    SET(Matrix2x3fv, "m23", 1, GL_TRUE, v);
    SET(Matrix3x2fv, "m32", 1, GL_FALSE, v);
    SET(Matrix2x4fv, "m24", 1, GL_TRUE, v);
    SET(Matrix4x2fv, "m42", 1, GL_FALSE, v);
    SET(Matrix3x4fv, "m34", 1, GL_TRUE, v);
    SET(Matrix4x3fv, "m43", 1, GL_FALSE, v);
    SET(1f, "thing[0].a", 3.5f);
    SET(3fv, "thing[1].b", 2, v);
    errors("set");
    static const char *const names[] = {"f", "f2", "f3", "f4", "i", "i2", "i3", "i4", "u", "u2", "u3", "u4", "b", "b3", "image", "list[2]", "pairs[1]",
                                        "pairs[2]", "m2", "m3", "m4", "m23", "m32", "m24", "m42", "m34", "m43", "thing[0].a", "thing[1].b[1]"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        GLfloat floats[17];
        GLint ints[17];
        GLuint words[17];
        for (int i = 0; i < 17; i++) {
            floats[i] = 777;
            ints[i] = 777;
            words[i] = 777;
        }
        glGetUniformfv(program, at(program, names[k]), floats);
        glGetUniformiv(program, at(program, names[k]), ints);
        glGetUniformuiv(program, at(program, names[k]), words);
        note_floats(names[k], floats, 17);
        note_ints(names[k], ints, 17);
        note_ints(names[k], (const int *)words, 17);
    }
    errors("read");
    SET(1fv, "f", 1, v + 5);
    SET(2fv, "f2", 1, v + 5);
    SET(3fv, "f3", 1, v + 5);
    SET(4fv, "f4", 1, v + 5);
    SET(1iv, "i", 1, n + 5);
    SET(3iv, "i3", 1, n + 5);
    SET(4iv, "i4", 1, n + 5);
    SET(1uiv, "u", 1, w + 5);
    SET(2uiv, "u2", 1, w + 5);
    SET(3uiv, "u3", 1, w + 5);
    SET(4uiv, "u4", 1, w + 5);
    GLuint words[5] = {777, 777, 777, 777, 777};
    glGetUniformuiv(program, at(program, "u4"), words);
    note_ints("u4", (const int *)words, 5);
    glUseProgram(program);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    errors("drawn");
    SET(1f, "i", 1);
    errors("a float to an int");
    SET(1ui, "i", 1);
    errors("unsigned to signed");
    SET(1i, "image", 1000);
    errors("no such unit");
    SET(1f, "image", 1);
    errors("a float to a sampler");
    SET(Matrix2fv, "m23", 1, GL_FALSE, v);
    errors("another matrix");
    SET(Matrix2fv, "m2", 2, GL_FALSE, v);
    errors("two matrices");
    glProgramUniform1f(7777, 0, 1);
    errors("no program");
    glProgramUniform1f(program, 7777, 1);
    errors("no location");
    GLuint unlinked = glCreateProgram();
    glProgramUniform1f(unlinked, 0, 1);
    errors("not linked");
    glProgramUniform1f(glCreateShader(GL_VERTEX_SHADER), 0, 1);
    errors("a shader");
    glGetUniformfv(unlinked, 0, v);
    errors("read, not linked");
    glGetUniformfv(program, -1, v);
    errors("read an invalid location");
}

static void integers(void)
{
    if (!need_extension("GL_ARB_gpu_shader_int64"))
        return no_picture();
    GLuint program = build_program(
        VERTEX, "#version 400\n#extension GL_ARB_gpu_shader_int64 : require\nuniform int64_t one; uniform i64vec2 two; uniform i64vec3 three; uniform i64vec4 four;\n"
                "uniform uint64_t uone; uniform u64vec2 utwo; uniform u64vec3 uthree; uniform u64vec4 ufour; uniform int64_t list[3]; out vec4 result;\n"
                "void main() { int64_t s = one + two.y + three.z + four.w + list[2]; uint64_t t = uone + utwo.y + uthree.z + ufour.w;\n"
                "result = vec4(float(int(s >> 30) & 255) / 255.0, float(uint(t >> 40) & 255u) / 255.0, float(int(s) & 255) / 255.0, 1.0); }");
    GLint64 n[8];
    GLuint64 w[8];
    for (int i = 0; i < 8; i++) {
        n[i] = (GLint64)i * -12345678901LL;
        w[i] = UINT64_C(0xf000000000000000) + (GLuint64)i;
    }
    static const char *const names[] = {"one", "two", "three", "four", "uone", "utwo", "uthree", "ufour", "list", "list[1]"};
    for (int turn = 0; turn < 3; turn++) {
        if (turn == 0) {
            glUseProgram(program);
            glUniform1i64ARB(at(program, "one"), -1);
            glUniform2i64ARB(at(program, "two"), 1LL << 40, 2);
            glUniform3i64ARB(at(program, "three"), 3, 4, -(1LL << 50));
            glUniform4i64ARB(at(program, "four"), 5, 6, 7, 1LL << 33);
            glUniform1ui64ARB(at(program, "uone"), UINT64_MAX);
            glUniform2ui64ARB(at(program, "utwo"), 1, UINT64_C(1) << 63);
            glUniform3ui64ARB(at(program, "uthree"), 1, 2, 3);
            glUniform4ui64ARB(at(program, "ufour"), 1, 2, 3, UINT64_C(7) << 45);
        } else if (turn == 1) {
            glUniform1i64vARB(at(program, "list"), 3, n);
            glUniform2i64vARB(at(program, "two"), 1, n + 1);
            glUniform3i64vARB(at(program, "three"), 1, n + 2);
            glUniform4i64vARB(at(program, "four"), 1, n + 3);
            glUniform1ui64vARB(at(program, "uone"), 1, w);
            glUniform2ui64vARB(at(program, "utwo"), 1, w + 1);
            glUniform3ui64vARB(at(program, "uthree"), 1, w + 2);
            glUniform4ui64vARB(at(program, "ufour"), 1, w + 3);
        } else {
            glUseProgram(0);
            glProgramUniform1i64ARB(program, at(program, "one"), 9);
            glProgramUniform2i64ARB(program, at(program, "two"), 9, 8);
            glProgramUniform3i64ARB(program, at(program, "three"), 9, 8, 7);
            glProgramUniform4i64vARB(program, at(program, "four"), 1, n + 4);
            glProgramUniform1i64vARB(program, at(program, "list[1]"), 2, n + 4);
            glProgramUniform1ui64ARB(program, at(program, "uone"), 9);
            glProgramUniform2ui64vARB(program, at(program, "utwo"), 1, w + 4);
            glProgramUniform3ui64vARB(program, at(program, "uthree"), 1, w + 4);
            glProgramUniform4ui64ARB(program, at(program, "ufour"), 1, 2, 3, 4);
            glUseProgram(program);
        }
        errors("set");
        for (int k = 0; k < 10; k++) {
            GLint64 values[6] = {7, 7, 7, 7, 7, 7};
            GLuint64 unsigned_values[6] = {7, 7, 7, 7, 7, 7};
            glGetUniformi64vARB(program, at(program, names[k]), values);
            glGetUniformui64vARB(program, at(program, names[k]), unsigned_values);
            note_bytes(names[k], values, sizeof values);
            note_bytes(names[k], unsigned_values, sizeof unsigned_values);
            GLint narrow[5] = {7, 7, 7, 7, 7};
            glGetUniformiv(program, at(program, names[k]), narrow);
            note_ints(names[k], narrow, 5);
        }
        errors("read");
        cell(turn, 0, 3, 1);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }
    if (has_extension("GL_AMD_gpu_shader_int64")) {
        void (*get)(GLuint, GLint, GLint64 *) = (void (*)(GLuint, GLint, GLint64 *))glXGetProcAddressARB((const GLubyte *)"glGetUniformi64vNV");
        GLint64 value = 7;
        get(program, at(program, "one"), &value);
        note_bytes("one", &value, sizeof value);
    }
    GLint64 few[2] = {-1, -1};
    glGetnUniformi64vARB(program, at(program, "two"), 16, few);
    note_bytes("enough room", few, 16);
    glGetnUniformi64vARB(program, at(program, "three"), 16, few);
    errors("not enough room");
    glUniform1i(at(program, "one"), 1);
    errors("narrow to wide");
    glUniform1i64ARB(at(program, "uone"), 1);
    errors("signed to unsigned");
    glGetUniformi64vARB(7777, 0, few);
    errors("no program");
    glGetUniformi64vARB(program, 7777, few);
    errors("no location");
}

CONFORM("uniforms_wide", COMPAT, {"doubles", doubles}, {"program_uniforms", program_uniforms}, {"integers", integers})
