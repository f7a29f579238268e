/* Uniform blocks: layouts, bindings, ranges, and queries of programs. */
#include "conform.h"

static const char vertex_source[] = "#version 330\nlayout(location = 0) in vec2 place; uniform frame { vec2 shift; float scale; };\n"
                                    "void main() { gl_Position = vec4(place * scale + shift, 0.0, 1.0); }";
static const char fragment_source[] = "#version 330\nlayout(std140) uniform paint { vec3 base; float strength; mat2 mix_of; vec4 colors[3]; int which; };\n"
                                      "uniform plain { vec4 extra; } named; out vec4 color;\n"
                                      "void main() { color = vec4(base * strength, 1.0) + colors[which] + vec4(mix_of[1], 0.0, 0.0) + named.extra; }";

static const GLfloat corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};

static GLuint start(void)
{
    GLuint array, buffer, program = build_program(vertex_source, fragment_source);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    glUseProgram(program);
    return program;
}

struct paint {
    GLfloat base[3], strength, matrix[2][4], colors[3][4];
    GLint which, padding[3];
};

static struct paint paint_of(int index)
{
    struct paint paint = {.base = {0.3f, 0.1f, 0}, .strength = (float)index / 4, .which = index % 3, .matrix = {{0}, {0.1f * (float)index, 0}}};
    for (int i = 0; i < 3; i++)
        paint.colors[i][i] = 0.8f;
    return paint;
}

static void ranges(void)
{
    GLuint program = start(), buffer, small;
    GLint alignment = 0, sizes[2] = {0};
    glGetIntegerv(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, &alignment);
    note("alignment %d", alignment);
    GLuint indices[3] = {glGetUniformBlockIndex(program, "paint"), glGetUniformBlockIndex(program, "plain"), glGetUniformBlockIndex(program, "frame")};
    note("missing: %d", glGetUniformBlockIndex(program, "named") == GL_INVALID_INDEX);
    for (GLuint i = 0; i < 3; i++)
        glUniformBlockBinding(program, indices[i], 2 + i);
    int step = ((int)sizeof(struct paint) + alignment - 1) / alignment * alignment;
    unsigned char *memory = calloc(8, (size_t)step);
    for (int i = 0; i < 8; i++) {
        struct paint paint = paint_of(i);
        memcpy(memory + i * step, &paint, sizeof paint);
    }
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_UNIFORM_BUFFER, buffer);
    glBufferData(GL_UNIFORM_BUFFER, 8 * step, memory, GL_STATIC_DRAW);
    free(memory);
    glGetActiveUniformBlockiv(program, indices[1], GL_UNIFORM_BLOCK_DATA_SIZE, &sizes[0]);
    glGetActiveUniformBlockiv(program, indices[2], GL_UNIFORM_BLOCK_DATA_SIZE, &sizes[1]);
    note_ints("sizes", sizes, 2);
    glGenBuffers(1, &small);
    glBindBufferBase(GL_UNIFORM_BUFFER, 3, small);
    glBufferData(GL_UNIFORM_BUFFER, 256, (const GLfloat[64]){0, 0, 0.2f, 0}, GL_STATIC_DRAW);
    for (int i = 0; i < 8; i++) {
        GLuint frame;
        const GLfloat place[64] = {-0.7f + 0.45f * (float)(i % 4), -0.4f + 0.8f * (float)(i / 4), 0.2f};
        glGenBuffers(1, &frame);
        glBindBuffer(GL_UNIFORM_BUFFER, frame);
        glBufferData(GL_UNIFORM_BUFFER, sizeof place, place, GL_STREAM_DRAW);
        glBindBufferBase(GL_UNIFORM_BUFFER, 4, frame);
        glBindBufferRange(GL_UNIFORM_BUFFER, 2, buffer, i * step, sizeof(struct paint));
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }
    GLint64 range[2] = {-1, -1};
    GLint bound = -1;
    glGetInteger64i_v(GL_UNIFORM_BUFFER_START, 2, &range[0]);
    glGetInteger64i_v(GL_UNIFORM_BUFFER_SIZE, 2, &range[1]);
    glGetIntegeri_v(GL_UNIFORM_BUFFER_BINDING, 2, &bound);
    note("range from %d steps, size %d, is the buffer: %d", (int)range[0] / step, (int)range[1], bound == (GLint)buffer);
    errors("ranges");
    glBindBufferRange(GL_UNIFORM_BUFFER, 2, buffer, 1, 16);
    errors("not aligned");
    glBindBufferRange(GL_UNIFORM_BUFFER, 2, buffer, 0, 0);
    errors("empty");
    glBindBufferBase(GL_UNIFORM_BUFFER, 10000, buffer);
    errors("binding 10000");
    glUniformBlockBinding(program, 100, 1);
    errors("block 100");
}

static void introspection(void)
{
    static const char *const names[] = {"base", "strength", "mix_of", "colors", "which", "plain.extra", "shift", "scale", "nothing"};
    GLuint program = start(), indices[9];
    GLint count = -1, longest = -1;
    no_picture();
    glGetProgramiv(program, GL_ACTIVE_UNIFORM_BLOCKS, &count);
    glGetProgramiv(program, GL_ACTIVE_UNIFORM_BLOCK_MAX_NAME_LENGTH, &longest);
    note("%d blocks, longest name %d", count, longest);
    glGetUniformIndices(program, 9, (const GLchar *const *)names, indices);
    for (int i = 0; i < 9; i++) {
        static const GLenum properties[] = {GL_UNIFORM_TYPE, GL_UNIFORM_SIZE, GL_UNIFORM_NAME_LENGTH, GL_UNIFORM_OFFSET, GL_UNIFORM_ARRAY_STRIDE,
                                            GL_UNIFORM_MATRIX_STRIDE, GL_UNIFORM_IS_ROW_MAJOR};
        if (indices[i] == GL_INVALID_INDEX) {
            note("%s does not exist", names[i]);
            continue;
        }
        GLint values[7];
        for (int p = 0; p < 7; p++)
            glGetActiveUniformsiv(program, 1, &indices[i], properties[p], &values[p]);
        note_ints(names[i], values, 7);
        char name[64];
        glGetActiveUniformName(program, indices[i], sizeof name, NULL, name);
        note("name %s, location %d", name, glGetUniformLocation(program, name));
    }
    /* A call that is refused does not change the indices. */
    GLuint unlinked = glCreateProgram(), shader = glCreateShader(GL_VERTEX_SHADER);
    const struct {
        const char *what;
        GLuint program;
        GLsizei count;
    } refused[] = {{"no program", 7777, 3}, {"an unlinked program", unlinked, 3}, {"a shader", shader, 3}, {"fewer than none", program, -1}};
    for (int i = 0; i < 4; i++) {
        GLuint kept[] = {77, 78, 79};
        glGetUniformIndices(refused[i].program, refused[i].count, (const GLchar *const *)names, kept);
        errors(refused[i].what);
        note_ints(refused[i].what, (const GLint *)kept, 3);
    }
    GLuint block = glGetUniformBlockIndex(program, "paint");
    static const GLenum properties[] = {GL_UNIFORM_BLOCK_BINDING, GL_UNIFORM_BLOCK_DATA_SIZE, GL_UNIFORM_BLOCK_NAME_LENGTH,
                                        GL_UNIFORM_BLOCK_ACTIVE_UNIFORMS, GL_UNIFORM_BLOCK_REFERENCED_BY_VERTEX_SHADER,
                                        GL_UNIFORM_BLOCK_REFERENCED_BY_FRAGMENT_SHADER};
    for (int p = 0; p < 6; p++) {
        GLint value = -1;
        glGetActiveUniformBlockiv(program, block, properties[p], &value);
        note("%04x: %d", properties[p], value);
    }
    GLint members[5];
    glGetActiveUniformBlockiv(program, block, GL_UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES, members);
    int found = 0;
    for (int m = 0; m < 5; m++)
        for (int i = 0; i < 5; i++)
            found += members[m] == (GLint)indices[i];
    note("%d of its 5 members are known", found);
    char name[64];
    glGetActiveUniformBlockName(program, block, sizeof name, NULL, name);
    note("name %s", name);
    INTS(GL_MAX_UNIFORM_BUFFER_BINDINGS, 1);
    INTS(GL_MAX_COMBINED_UNIFORM_BLOCKS, 1);
    INTS(GL_MAX_UNIFORM_BLOCK_SIZE, 1);
    errors("introspection");
}

CONFORM("uniform_blocks", CORE, {"ranges", ranges}, {"introspection", introspection})
