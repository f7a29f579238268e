/* Calls with more elements than a uniform has. The existing elements are set, and the other values
 * are not even read. */
#include "conform.h"

#include <limits.h>
#include <sys/mman.h>

#define VERTEX "#version 120\nattribute vec4 at; void main() { gl_Position = gl_Vertex; }"
#define FRAGMENT                                                                                                                                      \
    "#version 120\nuniform float one; uniform float many[4]; uniform vec3 vectors[3]; uniform mat4 matrix; uniform mat4 matrices[2]; uniform int number; " \
    "uniform int numbers[3];\n"                                                                                                                       \
    "void main() { gl_FragColor = vec4(one + many[0] + many[3], vectors[2].y, matrix[3].z + matrices[1][2].x, float(number + numbers[2]) * 0.1); }"

static GLuint program;

static GLint at(const char *name)
{
    return glGetUniformLocation(program, name);
}

static void tell(const char *name, int count)
{
    GLfloat values[16] = {0};
    glGetUniformfv(program, at(name), values);
    note_floats(name, values, count);
}

/* Returns the last bytes before memory that is not mapped. */
static void *at_the_end_of_memory(size_t size)
{
    const size_t page = 4096, whole = 4 * page;
    char *base = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || munmap(base + whole, page) != 0)
        fail("cannot map memory");
    return base + whole - size;
}

static void counts(void)
{
    static const int too_many[] = {2, 5, 1024, 100000, INT_MAX};
    program = build_program(VERTEX, FRAGMENT);
    glUseProgram(program);
    float *values = at_the_end_of_memory(4 * 16 * sizeof *values);
    GLint *numbers = at_the_end_of_memory(4 * sizeof *numbers);
    for (int i = 0; i < (int)(sizeof too_many / sizeof *too_many); i++) {
        int count = too_many[i];
        for (int v = 0; v < 64; v++)
            values[v] = (float)(v + 100 * i);
        for (int v = 0; v < 4; v++)
            numbers[v] = v + 10 * i;
        note("%d elements", count);
        glUniform1fv(at("one"), count, values);
        errors("no array");
        tell("one", 1);
        glUniform1fv(at("many"), count, values);
        errors("floats");
        tell("many[0]", 1);
        tell("many[1]", 1);
        glUniform1fv(at("many[2]"), count, values);
        errors("floats from the third on");
        tell("many[2]", 1);
        tell("many[3]", 1);
        glUniform3fv(at("vectors"), count, values);
        errors("vectors");
        tell("vectors[1]", 3);
        glUniformMatrix4fv(at("matrix"), count, GL_FALSE, values);
        errors("no array of matrices");
        tell("matrix", 16);
        glUniformMatrix4fv(at("matrices"), count, GL_TRUE, values);
        errors("matrices");
        tell("matrices[1]", 16);
        glUniform1iv(at("number"), count, numbers);
        errors("no array of integers");
        tell("number", 1);
        glUniform1iv(at("numbers"), count, numbers);
        errors("integers");
        tell("numbers[1]", 1);
        glUniform4fv(-1, count, values);
        errors("an invalid location");
    }
    glUniformMatrix4fv(at("matrices"), -1, GL_FALSE, values);
    errors("negative count");
    color_of(1);
    square(0.7f);
}

static void of_programs(void)
{
    if (!need_extension("GL_ARB_separate_shader_objects"))
        return no_picture();
    program = build_program(VERTEX, FRAGMENT);
    float *values = at_the_end_of_memory(2 * 16 * sizeof *values);
    GLint *numbers = at_the_end_of_memory(3 * sizeof *numbers);
    for (int v = 0; v < 32; v++)
        values[v] = 0.01f * (float)v;
    for (int v = 0; v < 3; v++)
        numbers[v] = v;
    glProgramUniform1fv(program, at("one"), INT_MAX, values);
    errors("no array");
    glProgramUniform1fv(program, at("many"), INT_MAX, values);
    errors("floats");
    tell("many[3]", 1);
    glProgramUniformMatrix4fv(program, at("matrices"), INT_MAX, GL_FALSE, values);
    errors("matrices");
    tell("matrices[1]", 16);
    glProgramUniform1iv(program, at("numbers"), INT_MAX, numbers);
    errors("integers");
    tell("numbers[2]", 1);
    glUseProgram(program);
    square(0.7f);
}

CONFORM("uniform_counts", COMPAT, {"counts", counts}, {"of_programs", of_programs})
