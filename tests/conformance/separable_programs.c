/* Programs with a single stage, combined in pipelines. */
#include "conform.h"

static const char vertex_source[] = "#version 330\n#extension GL_ARB_separate_shader_objects : enable\nlayout(location = 0) in vec2 place;\n"
                                    "layout(location = 1) out vec3 shade; out gl_PerVertex { vec4 gl_Position; };\nuniform vec2 shift; uniform float scale;\n"
                                    "void main() { gl_Position = vec4(place * scale + shift, 0.0, 1.0); shade = vec3(place * 0.5 + 0.5, 0.5); }";
static const char *const fragment_parts[] = {"#version 330\n#extension GL_ARB_separate_shader_objects : enable\n", "layout(location = 1) in vec3 shade;\n",
                                             "uniform vec4 tint; out vec4 color; void main() { color = vec4(shade, 1.0) * tint; }"};
static const GLfloat corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};

static void note_program(const char *what, GLuint program)
{
    GLint linked = -1, separable = -1, shaders = -1, length = -1;
    char log[1024] = "";
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    glGetProgramiv(program, GL_PROGRAM_SEPARABLE, &separable);
    glGetProgramiv(program, GL_ATTACHED_SHADERS, &shaders);
    glGetProgramiv(program, GL_INFO_LOG_LENGTH, &length);
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    note("%s: program %d, linked %d, separable %d, %d shaders, log of %d: %s", what, glIsProgram(program), linked, separable, shaders, length, log);
    errors(what);
}

static void geometry(void)
{
    GLuint array, buffer;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
}

static void pipelines(void)
{
    if (!need_extension("GL_ARB_separate_shader_objects"))
        return no_picture();
    const char *text = vertex_source;
    GLuint vertex = glCreateShaderProgramv(GL_VERTEX_SHADER, 1, &text), fragment = glCreateShaderProgramv(GL_FRAGMENT_SHADER, 3, fragment_parts), pipeline;
    note_program("vertex", vertex);
    note_program("fragment", fragment);
    glGenProgramPipelines(1, &pipeline);
    note("is %d", glIsProgramPipeline(pipeline));
    glBindProgramPipeline(pipeline);
    note("is %d", glIsProgramPipeline(pipeline));
    glUseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, vertex);
    glUseProgramStages(pipeline, GL_FRAGMENT_SHADER_BIT, fragment);
    errors("stages");
    GLint value = -1;
    glGetProgramPipelineiv(pipeline, GL_VERTEX_SHADER, &value);
    note("vertex %d", value == (GLint)vertex);
    glGetProgramPipelineiv(pipeline, GL_FRAGMENT_SHADER, &value);
    note("fragment %d", value == (GLint)fragment);
    glGetProgramPipelineiv(pipeline, GL_GEOMETRY_SHADER, &value);
    note("geometry %d", value);
    GLint shift = glGetUniformLocation(vertex, "shift"), scale = glGetUniformLocation(vertex, "scale"), tint = glGetUniformLocation(fragment, "tint");
    geometry();
    for (int i = 0; i < 9; i++) {
        glProgramUniform2f(vertex, shift, (float)(i % 3 - 1) * 0.66f, (float)(i / 3 - 1) * 0.66f);
        glProgramUniform1f(vertex, scale, 0.3f);
        if (i % 2) {
            glActiveShaderProgram(pipeline, fragment);
            glUniform4f(tint, 1, (float)i / 9, 0.5f, 1);
        } else {
            glProgramUniform4f(fragment, tint, (float)i / 9, 1, 0.2f, 1);
        }
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }
    errors("draws");
    glGetProgramPipelineiv(pipeline, GL_ACTIVE_PROGRAM, &value);
    note("active %d", value == (GLint)fragment);
    glValidateProgramPipeline(pipeline);
    glGetProgramPipelineiv(pipeline, GL_VALIDATE_STATUS, &value);
    note("valid %d", value);
    GLfloat read[4] = {0};
    glGetUniformfv(fragment, tint, read);
    note_floats("tint", read, 4);
    glDeleteProgramPipelines(1, &pipeline);
    glGetIntegerv(GL_PROGRAM_PIPELINE_BINDING, &value);
    note("bound %d", value);
    errors("end");
}

static void mistakes(void)
{
    no_picture();
    if (!need_extension("GL_ARB_separate_shader_objects"))
        return;
    const char *text = vertex_source, *broken = "#version 330\nvoid main() { nothing }", *unlinked = "#version 330\nvoid helper();\nvoid main() { helper(); }";
    note("%d", glCreateShaderProgramv(GL_TEXTURE_2D, 1, &text));
    errors("no stage");
    note("%d", glCreateShaderProgramv(GL_VERTEX_SHADER, -1, &text));
    errors("a negative count");
    GLuint none = glCreateShaderProgramv(GL_VERTEX_SHADER, 0, &text);
    errors("no strings");
    note_program("no strings", none);
    GLuint bad = glCreateShaderProgramv(GL_VERTEX_SHADER, 1, &broken);
    errors("broken");
    note_program("broken", bad);
    GLuint loose = glCreateShaderProgramv(GL_VERTEX_SHADER, 1, &unlinked);
    errors("unlinked");
    note_program("unlinked", loose);
    GLuint vertex = glCreateShaderProgramv(GL_VERTEX_SHADER, 1, &text), whole, pipeline, unused;
    whole = build_program("#version 330\nin vec2 p; void main() { gl_Position = vec4(p, 0, 1); }", "#version 330\nout vec4 c; void main() { c = vec4(1); }");
    glGenProgramPipelines(1, &pipeline);
    glGenProgramPipelines(1, &unused);
    glBindProgramPipeline(pipeline);
    glUseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, whole);
    errors("not separable");
    glUseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, bad);
    errors("not linked");
    glUseProgramStages(pipeline, 0x80, vertex);
    errors("no stage");
    glUseProgramStages(pipeline + 1000, GL_VERTEX_SHADER_BIT, vertex);
    errors("no pipeline");
    glUseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, vertex + 1000);
    errors("no program");
    glUseProgramStages(unused, GL_ALL_SHADER_BITS, vertex);
    errors("all stages of an unused pipeline");
    GLint value = -1;
    glGetProgramPipelineiv(unused, GL_VERTEX_SHADER, &value);
    note("vertex %d", value == (GLint)vertex);
    glActiveShaderProgram(pipeline, bad);
    errors("active but not linked");
    glBindProgramPipeline(pipeline + 1000);
    errors("no pipeline");
    glProgramUniform1f(vertex, 1000, 1);
    errors("no location");
    glProgramUniform2f(vertex, glGetUniformLocation(vertex, "scale"), 1, 1);
    errors("wrong type");
    glProgramUniform1f(bad, 0, 1);
    errors("of a program that is not linked");
    glProgramParameteri(whole, GL_PROGRAM_SEPARABLE, 2);
    errors("parameter");
    glProgramParameteri(whole, GL_PROGRAM_SEPARABLE, GL_TRUE);
    glLinkProgram(whole);
    errors("made separable");
    note_program("whole", whole);
    glDeleteProgram(vertex);
    note("still %d", glIsProgram(vertex));
    errors("end");
}

CONFORM("separable_programs", COMPAT, {"pipelines", pipelines}, {"mistakes", mistakes})
