/* Queries of linked programs, and sources that fail to compile or to link. */
#include "conform.h"

static const char vertex_source[] = "#version 150 compatibility\n"
                                    "in vec4 place; in vec2 offsets[2]; in mat3 turn; in int number; uniform mat4 view; uniform vec3 lights[4];\n"
                                    "struct pair { float a; vec2 b; }; uniform pair pairs[2]; out vec3 normal;\n"
                                    "void main() { gl_Position = view * place + vec4(offsets[1], 0.0, float(number)); normal = turn * lights[3] + pairs[1].a; }\n";
static const char fragment_source[] = "#version 150 compatibility\nin vec3 normal; uniform sampler2D image; uniform float used; uniform float unused;\n"
                                      "void main() { gl_FragColor = texture(image, normal.xy) * used; }\n";

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void log_variables(GLuint program, bool uniforms)
{
    GLint count = 0, longest = 0;
    char lines[64][120];
    glGetProgramiv(program, uniforms ? GL_ACTIVE_UNIFORMS : GL_ACTIVE_ATTRIBUTES, &count);
    glGetProgramiv(program, uniforms ? GL_ACTIVE_UNIFORM_MAX_LENGTH : GL_ACTIVE_ATTRIBUTE_MAX_LENGTH, &longest);
    note("%d variables, longest name %d", count, longest);
    for (GLint i = 0; i < count && i < 64; i++) {
        char name[64];
        GLsizei length = -1;
        GLint size = -1;
        GLenum type = 0;
        if (uniforms)
            glGetActiveUniform(program, (GLuint)i, sizeof name, &length, &size, &type, name);
        else
            glGetActiveAttrib(program, (GLuint)i, sizeof name, &length, &size, &type, name);
        snprintf(lines[i], sizeof lines[i], "%s: length %d, size %d, type %04x", name, length, size, type);
    }
    qsort(lines, (size_t)count, sizeof *lines, by_name); /* the order is the driver's own */
    for (GLint i = 0; i < count && i < 64; i++)
        note("  %s", lines[i]);
}

static GLuint shader_of(GLenum type, const char *source)
{
    GLuint shader = glCreateShader(type);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    return shader;
}

static void log_program(GLuint program)
{
    static const GLenum names[] = {GL_LINK_STATUS, GL_DELETE_STATUS, GL_VALIDATE_STATUS, GL_ATTACHED_SHADERS, GL_INFO_LOG_LENGTH};
    GLint values[5];
    char text[2048] = "";
    for (int i = 0; i < 5; i++)
        glGetProgramiv(program, names[i], &values[i]);
    note_ints("linked, deleted, valid, shaders, log length", values, 5);
    glGetProgramInfoLog(program, sizeof text, NULL, text);
    note("log: %s", text);
}

static void variables(void)
{
    no_picture();
    GLuint program = glCreateProgram(), shaders[2] = {shader_of(GL_VERTEX_SHADER, vertex_source), shader_of(GL_FRAGMENT_SHADER, fragment_source)};
    log_program(program);
    for (int i = 0; i < 2; i++)
        glAttachShader(program, shaders[i]);
    glBindAttribLocation(program, 3, "place");
    glBindAttribLocation(program, 6, "offsets");
    glBindAttribLocation(program, 9, "turn");
    glLinkProgram(program);
    log_program(program);
    log_variables(program, true);
    log_variables(program, false);
    static const char *const attributes[] = {"place", "offsets", "offsets[0]", "turn", "missing", "gl_Vertex"};
    for (int i = 0; i < 6; i++)
        note("attribute %s: %d", attributes[i], glGetAttribLocation(program, attributes[i]));
    note("uniforms: unused %d, missing %d", glGetUniformLocation(program, "unused"), glGetUniformLocation(program, "missing"));
    glBindAttribLocation(program, 1, "place");
    note("bound but not linked: %d", glGetAttribLocation(program, "place"));
    glLinkProgram(program);
    note("linked: %d", glGetAttribLocation(program, "place"));
    glValidateProgram(program);
    GLuint found[4] = {0};
    GLsizei count = 0;
    glGetAttachedShaders(program, 4, &count, found);
    note("%d shaders attached, the first is one of them: %d", count, found[0] == shaders[0] || found[0] == shaders[1]);
    glDetachShader(program, shaders[0]);
    glGetAttachedShaders(program, 4, &count, found);
    note("%d shaders attached", count);
    errors("variables");
    glDetachShader(program, shaders[0]);
    errors("detached twice");
    glGetActiveUniform(program, 100, 10, NULL, &(GLint){0}, &(GLenum){0}, (char[10]){0});
    errors("uniform 100");
    glBindAttribLocation(program, 1, "gl_Something");
    errors("a reserved name");
    glBindAttribLocation(program, 1000, "place");
    errors("attribute 1000");
}

static void shaders(void)
{
    static const GLenum names[] = {GL_SHADER_TYPE, GL_DELETE_STATUS, GL_COMPILE_STATUS, GL_INFO_LOG_LENGTH, GL_SHADER_SOURCE_LENGTH};
    static const char *const parts[3] = {"void main() ", "{ gl_Position", " = gl_Vertex; } this is not read"};
    static const GLint lengths[3] = {-1, 13, 15};
    no_picture();
    GLuint shader = glCreateShader(GL_VERTEX_SHADER);
    glShaderSource(shader, 3, parts, lengths);
    for (int round = 0; round < 2; round++) {
        GLint values[5];
        for (int i = 0; i < 5; i++)
            glGetShaderiv(shader, names[i], &values[i]);
        note_ints("type, deleted, compiled, log length, source length", values, 5);
        glCompileShader(shader);
    }
    char source[200];
    GLsizei length = -1;
    glGetShaderSource(shader, sizeof source, &length, source);
    note("source of %d: %s", length, source);
    glGetShaderSource(shader, 8, &length, source);
    note("source of %d: %s", length, source);
    GLuint program = glCreateProgram();
    glAttachShader(program, shader);
    glDeleteShader(shader);
    note("deleted but attached: %d", glIsShader(shader));
    glDeleteProgram(program);
    note("no longer attached: %d", glIsShader(shader));
    errors("shaders");
    note("no shader: %u", glCreateShader(GL_TRIANGLES));
    errors("type");
    glCompileShader(999);
    errors("shader 999");
    glAttachShader(program, shader);
    errors("deleted");
    shader = glCreateShader(GL_FRAGMENT_SHADER);
    program = glCreateProgram();
    glAttachShader(program, shader);
    glAttachShader(program, shader);
    errors("attached twice");
    glCompileShader(program);
    errors("a program as a shader");
    glLinkProgram(shader);
    errors("a shader as a program");
    glShaderSource(shader, -1, parts, NULL);
    errors("negative number");
}

/* The text of a log comes from the compiler, which is the same on both sides. But the text may list
 * the features of the context, and then it differs. */
static void log_compile(const char *what, GLenum type, const char *source)
{
    GLuint shader = shader_of(type, source);
    GLint compiled = -1, length = -1;
    char text[2048] = "";
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    glGetShaderiv(shader, GL_INFO_LOG_LENGTH, &length);
    glGetShaderInfoLog(shader, sizeof text, NULL, text);
    note("%s: compiled %d, log of %d: %s", what, compiled, length, text);
    memset(text, 'x', 20);
    glGetShaderInfoLog(shader, 5, &length, text);
    note("first of it: %d, %.4s", length, text);
}

static void compile_errors(void)
{
    no_picture();
    log_compile("fine", GL_VERTEX_SHADER, "void main() { gl_Position = vec4(0.0); }");
    log_compile("no semicolon", GL_VERTEX_SHADER, "void main() { gl_Position = vec4(0.0) }");
    log_compile("undeclared", GL_FRAGMENT_SHADER, "void main() { gl_FragColor = nothing; }");
    log_compile("types", GL_FRAGMENT_SHADER, "#version 130\nvoid main() { vec3 a = vec4(1.0); gl_FragColor = a; }");
    log_compile("an unknown extension", GL_FRAGMENT_SHADER, "#extension GL_NO_such_thing : require\nvoid main() { }");
    log_compile("a warning", GL_FRAGMENT_SHADER, "#extension GL_NO_such_thing : warn\nvoid main() { gl_FragColor = vec4(1.0); }");
    log_compile("empty", GL_FRAGMENT_SHADER, "");
    errors("compile errors");
}

static void log_link(const char *what, const char *vertex, const char *fragment)
{
    GLuint program = glCreateProgram();
    if (vertex)
        glAttachShader(program, shader_of(GL_VERTEX_SHADER, vertex));
    if (fragment)
        glAttachShader(program, shader_of(GL_FRAGMENT_SHADER, fragment));
    glLinkProgram(program);
    note("%s", what);
    log_program(program);
    glUseProgram(program);
    errors("use");
    BOUND(GL_CURRENT_PROGRAM, program);
    note("attribute %d, uniform %d", glGetAttribLocation(program, "place") >= 0, glGetUniformLocation(program, "tint") >= 0);
    errors("locations");
    glUseProgram(0);
}

static void link_errors(void)
{
    static const char good[] = "#version 130\nin vec4 place; out vec3 v; void main() { gl_Position = place; v = place.xyz; }";
    no_picture();
    log_link("fine", good, "#version 130\nin vec3 v; uniform vec4 tint; void main() { gl_FragColor = tint + v.xyzz; }");
    log_link("nothing", NULL, NULL);
    log_link("different types", good, "#version 130\nin vec4 v; void main() { gl_FragColor = v; }");
    log_link("missing output", good, "#version 130\nin vec3 w; void main() { gl_FragColor = w.xyzz; }");
    log_link("uniforms differ", "#version 130\nuniform vec3 tint; void main() { gl_Position = tint.xyzz; }",
             "#version 130\nuniform vec4 tint; void main() { gl_FragColor = tint; }");
    log_link("no main", "#version 130\nvoid f() { }", "#version 130\nvoid main() { gl_FragColor = vec4(1.0); }");
    log_link("not compiled", "this does not compile", "#version 130\nvoid main() { gl_FragColor = vec4(1.0); }");
}

/* A failed link does not change the program that is in use. */
static void failed_relink(void)
{
    GLuint program = build_program("void main() { gl_Position = gl_Vertex; }", "void main() { gl_FragColor = vec4(0.2, 0.9, 0.4, 1.0); }");
    glUseProgram(program);
    glAttachShader(program, shader_of(GL_FRAGMENT_SHADER, "nonsense"));
    glLinkProgram(program);
    square(0.8f);
    log_program(program);
    errors("failed relink");
}

static void log_resources(void)
{
    static const GLenum interfaces[] = {GL_UNIFORM, GL_PROGRAM_INPUT, GL_PROGRAM_OUTPUT, GL_UNIFORM_BLOCK};
    no_picture();
    if (!need_extension("GL_ARB_program_interface_query"))
        return;
    GLuint program = build_program(vertex_source, fragment_source);
    for (int i = 0; i < 4; i++) {
        GLint count = -1, longest = -1;
        glGetProgramInterfaceiv(program, interfaces[i], GL_ACTIVE_RESOURCES, &count);
        glGetProgramInterfaceiv(program, interfaces[i], GL_MAX_NAME_LENGTH, &longest);
        note("interface %04x: %d resources, longest name %d", interfaces[i], count, longest);
    }
    note("view is a uniform: %d", glGetProgramResourceIndex(program, GL_UNIFORM, "view") != GL_INVALID_INDEX);
    GLuint index = glGetProgramResourceIndex(program, GL_UNIFORM, "lights[0]");
    static const GLenum properties[] = {GL_TYPE, GL_ARRAY_SIZE, GL_NAME_LENGTH, GL_BLOCK_INDEX};
    GLint values[4] = {0};
    glGetProgramResourceiv(program, GL_UNIFORM, index, 4, properties, 4, NULL, values);
    note_ints("type, size, name length, block", values, 4);
    note("location of lights[2] found: %d", glGetProgramResourceLocation(program, GL_UNIFORM, "lights[2]") >= 0);
    errors("resources");
}

CONFORM("glsl_interface", COMPAT, {"variables", variables}, {"shaders", shaders}, {"compile_errors", compile_errors}, {"link_errors", link_errors},
        {"failed_relink", failed_relink}, {"resources", log_resources})
