/* GL_ARB_shading_language_include: named strings, shaders that include them, and errors. */
#include "conform.h"

static void put(const char *name, const char *text)
{
    glNamedStringARB(GL_SHADER_INCLUDE_ARB, -1, name, -1, text);
    errors(name);
}

static void note_string(const char *name, int length)
{
    GLint size = -7, type = -7, written = -7;
    char text[64] = "untouched";
    note("%s is %d", name, glIsNamedStringARB(length, name));
    glGetNamedStringivARB(length, name, GL_NAMED_STRING_LENGTH_ARB, &size);
    glGetNamedStringivARB(length, name, GL_NAMED_STRING_TYPE_ARB, &type);
    glGetNamedStringARB(length, name, sizeof text, &written, text);
    note("%d long, %x, written %d: %s", size, type, written, text);
    errors("asked");
}

static void strings(void)
{
    no_picture();
    if (!need_extension("GL_ARB_shading_language_include"))
        return;
    put("/lib/colors", "vec3 tone() { return vec3(0.9, 0.5, 0.1); }");
    put("/lib/deep/er", "float x = 1.0;");
    note_string("/lib/colors", -1);
    note_string("/lib/deep/er", -1);
    note_string("/lib/deep/er and more", 12);
    note_string("/lib/deep", -1);
    note_string("/lib/./deep/../colors", -1);
    note_string("//lib//colors", -1);
    put("/lib/colors", "another");
    note_string("/lib/colors", -1);
    glNamedStringARB(GL_SHADER_INCLUDE_ARB, 4, "/cut off", 3, "text too long");
    errors("cut");
    note_string("/cut", -1);
    char text[8] = "1234567";
    GLint written = -7;
    glGetNamedStringARB(-1, "/lib/colors", 4, &written, text);
    note("%s %d", text, written);
    errors("little room");
    glDeleteNamedStringARB(-1, "/lib/colors");
    errors("deleted");
    note_string("/lib/colors", -1);
    glDeleteNamedStringARB(-1, "/lib/colors");
    errors("deleted twice");
    put("relative", "x");
    put("", "x");
    put("/", "x");
    put("/ends/", "x");
    put("/bad\"name", "x");
    put("/empty", "");
    note_string("/empty", -1);
    glNamedStringARB(GL_VERTEX_SHADER, -1, "/x", -1, "x");
    errors("no such type");
    glNamedStringARB(GL_SHADER_INCLUDE_ARB, -1, NULL, -1, "x");
    errors("no name");
    glNamedStringARB(GL_SHADER_INCLUDE_ARB, -1, "/x", -1, NULL);
    errors("no string");
    note("%d", glIsNamedStringARB(-1, NULL));
    errors("query of a null name");
    glDeleteNamedStringARB(-1, NULL);
    errors("deletion of a null name");
    glGetNamedStringivARB(-1, "/empty", 77, &written);
    errors("no such question");
}

static void shaders(void)
{
    if (!need_extension("GL_ARB_shading_language_include"))
        return no_picture();
    put("/lib/tone.glsl", "#include \"part/red.glsl\"\nvec3 tone() { return vec3(red(), 0.5, 0.1); }\n");
    put("/lib/part/red.glsl", "float red() { return 0.8; }\n");
    put("/other/part/red.glsl", "float red() { return 0.2; }\n");
    put("/lib/vertex", "vec4 corner() { return vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 1.6 - 0.8, 0.0, 1.0); }\n");
    static const char *const sources[] = {
        "#version 150\n#extension GL_ARB_shading_language_include : require\n#include \"/lib/vertex\"\nvoid main() { gl_Position = corner(); }",
        "#version 150\n#extension GL_ARB_shading_language_include : require\n#include </lib/tone.glsl>\nout vec4 c; void main() { c = vec4(tone(), 1.0); }",
        "#version 150\n#extension GL_ARB_shading_language_include : require\n#include \"tone.glsl\"\nout vec4 c; void main() { c = vec4(tone(), 1.0); }",
        "#version 150\n#extension GL_ARB_shading_language_include : require\n#include \"/nowhere\"\nvoid main() { }",
        "#version 150\n#include \"/lib/vertex\"\nvoid main() { gl_Position = corner(); }"};
    static const char *const paths[] = {"/other", "/lib/", "/library"};
    static const GLint lengths[] = {-1, 4, 4};
    GLuint made[5];
    for (int i = 0; i < 5; i++) {
        char log[512] = "";
        GLint done = -1;
        made[i] = glCreateShader(i == 0 || i > 2 ? GL_VERTEX_SHADER : GL_FRAGMENT_SHADER);
        glShaderSource(made[i], 1, &sources[i], NULL);
        if (i == 1)
            glCompileShader(made[i]);
        else
            glCompileShaderIncludeARB(made[i], 3, paths, i == 2 ? lengths : NULL);
        glGetShaderiv(made[i], GL_COMPILE_STATUS, &done);
        glGetShaderInfoLog(made[i], sizeof log, NULL, log);
        note("compiled %d: %s", done, log);
        errors("compiled");
    }
    for (int i = 1; i < 3; i++) {
        GLuint program = glCreateProgram();
        glAttachShader(program, made[0]);
        glAttachShader(program, made[i]);
        glLinkProgram(program);
        glUseProgram(program);
        cell(i - 1, 0, 2, 1);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        errors("drawn");
    }
    glCompileShaderIncludeARB(made[0], 0, NULL, NULL);
    errors("no paths");
    glCompileShaderIncludeARB(made[0], 2, NULL, NULL);
    errors("null paths");
    static const char *const bad[] = {"relative"};
    glCompileShaderIncludeARB(made[0], 1, bad, NULL);
    errors("a relative path");
    glCompileShaderIncludeARB(7777, 1, paths, NULL);
    errors("no such shader");
}

CONFORM("shader_includes", COMPAT, {"strings", strings}, {"shaders", shaders})
