/* Subroutines: the list of them, the chosen ones, events that reset the choice, and errors. */
#include "conform.h"

#define VERTEX "#version 400\nvoid main() { vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0; gl_Position = vec4(at * 0.9, 0.0, 1.0); }"

static const char fragment[] =
    "#version 400\nsubroutine vec3 tone(float x); subroutine float shape(vec2 at);\n"
    "subroutine uniform tone first; subroutine uniform tone several[3]; subroutine uniform shape form; out vec4 result;\n"
    "subroutine(tone) vec3 red(float x) { return vec3(x, 0.0, 0.1); }\nsubroutine(tone) vec3 green(float x) { return vec3(0.1, x, 0.0); }\n"
    "subroutine(tone) vec3 blue(float x) { return vec3(0.0, 0.2, x); }\nsubroutine(shape) float flat_one(vec2 at) { return 0.7; }\n"
    "subroutine(shape) float slope(vec2 at) { return at.x / 256.0; }\n"
    "void main() { float x = form(gl_FragCoord.xy); vec3 sum = first(x) * 0.4; for (int i = 0; i < 3; i++) sum += several[i](x) * 0.2; "
    "result = vec4(sum, 1.0); }";

static bool ready(void)
{
    return need_extension("GL_ARB_shader_subroutine");
}

static void note_chosen(GLint count)
{
    for (GLint i = 0; i < count; i++) {
        GLuint chosen = 99;
        glGetUniformSubroutineuiv(GL_FRAGMENT_SHADER, i, &chosen);
        note("chosen at %d: %u", i, chosen);
    }
    errors("chosen");
}

static void chosen(void)
{
    if (!ready())
        return no_picture();
    GLuint program = STAGES(.vertex = VERTEX, .fragment = fragment);
    static const GLenum asked[] = {GL_ACTIVE_SUBROUTINES, GL_ACTIVE_SUBROUTINE_UNIFORMS, GL_ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS,
                                   GL_ACTIVE_SUBROUTINE_MAX_LENGTH, GL_ACTIVE_SUBROUTINE_UNIFORM_MAX_LENGTH};
    GLint values[5];
    for (int i = 0; i < 5; i++)
        glGetProgramStageiv(program, GL_FRAGMENT_SHADER, asked[i], &values[i]);
    note_ints("fragment", values, 5);
    GLint locations = values[2], uniforms = values[1], routines = values[0];
    for (int i = 0; i < 5; i++)
        glGetProgramStageiv(program, GL_VERTEX_SHADER, asked[i], &values[i]);
    note_ints("vertex", values, 5);
    for (GLint i = 0; i <= routines; i++) {
        char name[32] = "";
        GLsizei length = -1;
        glGetActiveSubroutineName(program, GL_FRAGMENT_SHADER, (GLuint)i, sizeof name, &length, name);
        note("subroutine %d: %s, %d long, again %d", i, name, length, (int)glGetSubroutineIndex(program, GL_FRAGMENT_SHADER, name));
        errors("name");
    }
    for (GLint i = 0; i <= uniforms; i++) {
        char name[32] = "";
        GLsizei length = -1;
        GLint size = -1, count = -1, name_length = -1, compatible[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
        glGetActiveSubroutineUniformName(program, GL_FRAGMENT_SHADER, (GLuint)i, sizeof name, &length, name);
        glGetActiveSubroutineUniformiv(program, GL_FRAGMENT_SHADER, (GLuint)i, GL_UNIFORM_SIZE, &size);
        glGetActiveSubroutineUniformiv(program, GL_FRAGMENT_SHADER, (GLuint)i, GL_UNIFORM_NAME_LENGTH, &name_length);
        glGetActiveSubroutineUniformiv(program, GL_FRAGMENT_SHADER, (GLuint)i, GL_NUM_COMPATIBLE_SUBROUTINES, &count);
        glGetActiveSubroutineUniformiv(program, GL_FRAGMENT_SHADER, (GLuint)i, GL_COMPATIBLE_SUBROUTINES, compatible);
        note("uniform %d: %s, %d long, %d, size %d, at %d", i, name, length, name_length, size,
             glGetSubroutineUniformLocation(program, GL_FRAGMENT_SHADER, name));
        note_ints("compatible", compatible, 8);
        note("%d of them", count);
        errors("uniform");
    }
    glUseProgram(program);
    note_chosen(locations);
    GLuint choice[8] = {0};
    static const char *const tones[] = {"red", "green", "blue"};
    GLint first = glGetSubroutineUniformLocation(program, GL_FRAGMENT_SHADER, "first");
    GLint several = glGetSubroutineUniformLocation(program, GL_FRAGMENT_SHADER, "several[1]");
    GLint form = glGetSubroutineUniformLocation(program, GL_FRAGMENT_SHADER, "form");
    note("at %d %d %d", first, several, form);
    for (GLint i = 0; i < locations; i++)
        choice[i] = glGetSubroutineIndex(program, GL_FRAGMENT_SHADER, tones[i % 3]);
    choice[form] = glGetSubroutineIndex(program, GL_FRAGMENT_SHADER, "flat_one");
    glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, locations, choice);
    errors("glUniformSubroutinesuiv");
    note_chosen(locations);
    cell(0, 0, 2, 2);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    choice[form] = glGetSubroutineIndex(program, GL_FRAGMENT_SHADER, "slope");
    choice[several] = choice[first];
    glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, locations, choice);
    cell(1, 0, 2, 2);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    /* The choice is reset when a program is used, even if it is the same program. */
    glUseProgram(program);
    note_chosen(locations);
    cell(0, 1, 2, 2);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, locations, choice);
    glUseProgram(0);
    glUseProgram(program);
    note_chosen(locations);
    cell(1, 1, 2, 2);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    INTS(GL_MAX_SUBROUTINES, 1);
    INTS(GL_MAX_SUBROUTINE_UNIFORM_LOCATIONS, 1);
}

static void wrong(void)
{
    no_picture();
    if (!ready())
        return;
    GLuint program = STAGES(.vertex = VERTEX, .fragment = fragment), value = 99, choice[8] = {0};
    GLint number = -1, locations = 0;
    glGetProgramStageiv(program, GL_FRAGMENT_SHADER, GL_ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS, &locations);
    glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, locations, choice);
    errors("no program");
    glGetUniformSubroutineuiv(GL_FRAGMENT_SHADER, 0, &value);
    errors("asked of no program");
    note("value %u", value);
    glUseProgram(program);
    glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, locations - 1, choice);
    errors("too few");
    glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, locations + 1, choice);
    errors("too many");
    glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, -1, choice);
    errors("negative count");
    choice[1] = 1000;
    glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, locations, choice);
    errors("no such subroutine");
    for (int i = 0; i < 8; i++)
        choice[i] = 0;
    glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, locations, choice);
    errors("of another type");
    glUniformSubroutinesuiv(77, locations, choice);
    errors("no such stage");
    glUniformSubroutinesuiv(GL_GEOMETRY_SHADER, 1, choice);
    errors("no such stage in it");
    value = 99;
    glGetUniformSubroutineuiv(GL_FRAGMENT_SHADER, 1000, &value);
    errors("asked of no location");
    note("value %u", value);
    value = 99;
    glGetUniformSubroutineuiv(77, 0, &value);
    errors("asked of no stage");
    note("value %u", value);
    glGetProgramStageiv(program, 77, GL_ACTIVE_SUBROUTINES, &number);
    errors("no stage");
    glGetProgramStageiv(program, GL_FRAGMENT_SHADER, 77, &number);
    errors("no name");
    number = -1;
    glGetProgramStageiv(program, GL_GEOMETRY_SHADER, GL_ACTIVE_SUBROUTINES, &number);
    note("%d", number);
    errors("not in it");
    glGetProgramStageiv(7777, GL_GEOMETRY_SHADER, GL_ACTIVE_SUBROUTINES, &number);
    errors("not a program");
    note("%d", (int)glGetSubroutineIndex(program, GL_FRAGMENT_SHADER, "nothing"));
    note("%d", glGetSubroutineUniformLocation(program, GL_FRAGMENT_SHADER, "nothing"));
    note("%d", (int)glGetSubroutineIndex(program, GL_GEOMETRY_SHADER, "red"));
    note("%d", glGetSubroutineUniformLocation(program, GL_GEOMETRY_SHADER, "first"));
    errors("no such names");
    note("%d", (int)glGetSubroutineIndex(7777, GL_FRAGMENT_SHADER, "red"));
    note("%d", glGetSubroutineUniformLocation(7777, GL_FRAGMENT_SHADER, "first"));
    errors("no such programs");
    glGetActiveSubroutineUniformiv(program, GL_FRAGMENT_SHADER, 0, 77, &number);
    errors("no such name");
    glGetActiveSubroutineUniformiv(program, GL_FRAGMENT_SHADER, 77, GL_UNIFORM_SIZE, &number);
    errors("no such index");
    char name[4];
    GLsizei length = -1;
    glGetActiveSubroutineName(program, GL_FRAGMENT_SHADER, 0, -1, &length, name);
    errors("a negative size");
    glGetActiveSubroutineName(program, GL_FRAGMENT_SHADER, 1, sizeof name, &length, name);
    note("cut: %s %d", name, length);
}

CONFORM("subroutines", COMPAT, {"chosen", chosen}, {"wrong", wrong})
