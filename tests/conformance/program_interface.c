/* Queries of programs: every interface, every property, names and locations; and binaries. */
#include "conform.h"

#define HEAD "#version 430\n"

static GLuint rich_program(void)
{
    static const char *const captured[] = {"far", "gl_SkipComponents1", "near", "gl_NextBuffer", "gl_Position"};
    return STAGES(.vertex = HEAD "layout(location = 2) in vec4 place; in mat3 turn; in uint number; out vec3 far; out float near; uniform mat4 view; uniform struct { "
                                 "vec2 a; float b[3]; } thing[2]; layout(std140, binding = 3) uniform Block { vec3 one; mat2x3 two[2]; int three; } block[2];\n"
                                 "layout(location = 40) uniform float fixed_place; subroutine float kind(float x); subroutine(kind) float twice(float x) { return x * 2.0; }\n"
                                 "subroutine(kind) float half_of(float x) { return x * 0.5; } subroutine uniform kind change[2];\n"
                                 "void main() { gl_Position = view * place + vec4(turn[1] * float(number), thing[1].a.x + thing[0].b[2] + fixed_place); "
                                 "far = block[0].one + block[1].two[1][0] + float(block[0].three); near = change[0](place.x) + change[1](2.0); }",
                  .fragment = HEAD "in vec3 far; in float near; layout(location = 1) out vec4 color; out ivec2 second; uniform sampler2DShadow image; uniform vec4 tint;\n"
                                   "layout(std430, binding = 2) buffer Store { uint count; vec4 list[]; } store; layout(binding = 1, offset = 8) uniform atomic_uint hits;\n"
                                   "layout(binding = 1, offset = 4) uniform atomic_uint misses[1];\n"
                                   "void main() { atomicCounterIncrement(hits); atomicCounterIncrement(misses[0]); store.list[store.count] = tint; "
                                   "color = vec4(far, near) + texture(image, far); second = ivec2(1); }",
                  .captured = captured, .captured_count = 5, .capture_mode = GL_INTERLEAVED_ATTRIBS);
}

static const GLenum properties[] = {GL_NAME_LENGTH, GL_TYPE, GL_ARRAY_SIZE, GL_OFFSET, GL_BLOCK_INDEX, GL_ARRAY_STRIDE, GL_MATRIX_STRIDE, GL_IS_ROW_MAJOR,
                                    GL_ATOMIC_COUNTER_BUFFER_INDEX, GL_BUFFER_BINDING, GL_BUFFER_DATA_SIZE, GL_NUM_ACTIVE_VARIABLES,
                                    GL_REFERENCED_BY_VERTEX_SHADER, GL_REFERENCED_BY_TESS_CONTROL_SHADER, GL_REFERENCED_BY_TESS_EVALUATION_SHADER,
                                    GL_REFERENCED_BY_GEOMETRY_SHADER, GL_REFERENCED_BY_FRAGMENT_SHADER, GL_REFERENCED_BY_COMPUTE_SHADER,
                                    GL_TOP_LEVEL_ARRAY_SIZE, GL_TOP_LEVEL_ARRAY_STRIDE, GL_LOCATION, GL_LOCATION_INDEX, GL_IS_PER_PATCH,
                                    GL_NUM_COMPATIBLE_SUBROUTINES, GL_LOCATION_COMPONENT, GL_TRANSFORM_FEEDBACK_BUFFER_INDEX,
                                    GL_TRANSFORM_FEEDBACK_BUFFER_STRIDE};
#define PROPERTIES (sizeof properties / sizeof *properties)

static const GLenum interfaces[] = {GL_UNIFORM, GL_UNIFORM_BLOCK, GL_PROGRAM_INPUT, GL_PROGRAM_OUTPUT, GL_BUFFER_VARIABLE, GL_SHADER_STORAGE_BLOCK,
                                    GL_ATOMIC_COUNTER_BUFFER, GL_VERTEX_SUBROUTINE, GL_FRAGMENT_SUBROUTINE, GL_VERTEX_SUBROUTINE_UNIFORM,
                                    GL_FRAGMENT_SUBROUTINE_UNIFORM, GL_TRANSFORM_FEEDBACK_VARYING, GL_TRANSFORM_FEEDBACK_BUFFER, GL_COMPUTE_SUBROUTINE, 0x7777};

static void resources(void)
{
    no_picture();
    if (!need_extension("GL_ARB_program_interface_query") || !need_extension("GL_ARB_shader_subroutine"))
        return;
    GLuint program = rich_program();
    for (size_t n = 0; n < sizeof interfaces / sizeof *interfaces; n++) {
        GLenum of = interfaces[n];
        static const GLenum about[] = {GL_ACTIVE_RESOURCES, GL_MAX_NAME_LENGTH, GL_MAX_NUM_ACTIVE_VARIABLES, GL_MAX_NUM_COMPATIBLE_SUBROUTINES};
        GLint values[4] = {-7, -7, -7, -7};
        char name[96];
        for (int i = 0; i < 4; i++) {
            glGetProgramInterfaceiv(program, of, about[i], &values[i]);
            errors("about");
        }
        snprintf(name, sizeof name, "interface %x", of);
        note_ints(name, values, 4);
        for (GLint r = 0; r <= values[0] && r < 30; r++) {
            GLsizei length = -7;
            strcpy(name, "(none)");
            glGetProgramResourceName(program, of, (GLuint)r, sizeof name, &length, name);
            errors("name");
            note("resource %d: %s, %d long, again %d, at %d, index %d", r, name, length, (int)glGetProgramResourceIndex(program, of, name),
                 glGetProgramResourceLocation(program, of, name), glGetProgramResourceLocationIndex(program, of, name));
            errors("where");
            for (size_t p = 0; p < PROPERTIES; p++) {
                GLint value = -7;
                GLsizei count = -7;
                glGetProgramResourceiv(program, of, (GLuint)r, 1, &properties[p], 1, &count, &value);
                GLenum error = glGetError();
                note("%x: %d, %d of them, %s", properties[p], value, count, error_name(error));
            }
            static const GLenum lists[] = {GL_ACTIVE_VARIABLES, GL_COMPATIBLE_SUBROUTINES};
            for (int l = 0; l < 2; l++) {
                GLint list[8] = {-7, -7, -7, -7, -7, -7, -7, -7};
                GLsizei count = -7;
                glGetProgramResourceiv(program, of, (GLuint)r, 1, &lists[l], 8, &count, list);
                note_ints("list", list, 8);
                note("%d", count);
                glGetError();
            }
        }
    }
    /* Queries several properties with too little room for all of them. */
    GLint several[6] = {-7, -7, -7, -7, -7, -7};
    GLsizei count = -7;
    glGetProgramResourceiv(program, GL_UNIFORM, 0, 4, properties, 3, &count, several);
    note_ints("several", several, 6);
    note("%d", count);
    glGetProgramResourceiv(program, GL_UNIFORM, 0, 4, properties, 6, NULL, several);
    note_ints("several", several, 6);
    errors("several");
    glGetProgramResourceiv(program, GL_UNIFORM, 0, 0, properties, 6, &count, several);
    errors("no properties");
    glGetProgramResourceiv(program, GL_UNIFORM, 0, 1, properties, -1, &count, several);
    errors("a negative room");
    glGetProgramResourceiv(program, GL_UNIFORM, 0, 1, (GLenum[]){77}, 1, &count, several);
    errors("no such property");
    glGetProgramResourceiv(7777, GL_UNIFORM, 0, 1, properties, 1, &count, several);
    errors("no such program");
    char name[4];
    glGetProgramResourceName(program, GL_UNIFORM, 0, -1, &count, name);
    errors("a negative length");
    glGetProgramResourceName(program, GL_UNIFORM, 0, 3, &count, name);
    note("%s %d", name, count);
    note("%d", glGetProgramResourceLocation(7777, GL_UNIFORM, "view"));
    errors("no such program");
    note("%d", glGetProgramResourceLocation(program, GL_UNIFORM_BLOCK, "Block"));
    errors("no locations");
    note("%d", glGetFragDataIndex(program, "color"));
    note("%d", glGetFragDataLocation(program, "color"));
    errors("fragment data");
}

/* The older queries. */
static void older(void)
{
    no_picture();
    if (!need_extension("GL_ARB_program_interface_query"))
        return;
    GLuint program = rich_program();
    GLint uniforms = 0, counters = 0;
    glGetProgramiv(program, GL_ACTIVE_UNIFORMS, &uniforms);
    glGetProgramiv(program, GL_ACTIVE_ATOMIC_COUNTER_BUFFERS, &counters);
    static const GLenum asked[] = {GL_UNIFORM_TYPE, GL_UNIFORM_SIZE, GL_UNIFORM_NAME_LENGTH, GL_UNIFORM_BLOCK_INDEX, GL_UNIFORM_OFFSET, GL_UNIFORM_ARRAY_STRIDE,
                                   GL_UNIFORM_MATRIX_STRIDE, GL_UNIFORM_IS_ROW_MAJOR, GL_UNIFORM_ATOMIC_COUNTER_BUFFER_INDEX};
    GLuint indices[64];
    for (GLuint i = 0; i < 64; i++)
        indices[i] = i;
    for (int a = 0; a < 9; a++) {
        GLint values[64];
        glGetActiveUniformsiv(program, uniforms, indices, asked[a], values);
        note_ints("uniforms", values, uniforms);
    }
    static const GLenum of_counter[] = {GL_ATOMIC_COUNTER_BUFFER_BINDING, GL_ATOMIC_COUNTER_BUFFER_DATA_SIZE, GL_ATOMIC_COUNTER_BUFFER_ACTIVE_ATOMIC_COUNTERS,
                                        GL_ATOMIC_COUNTER_BUFFER_ACTIVE_ATOMIC_COUNTER_INDICES, GL_ATOMIC_COUNTER_BUFFER_REFERENCED_BY_VERTEX_SHADER,
                                        GL_ATOMIC_COUNTER_BUFFER_REFERENCED_BY_FRAGMENT_SHADER};
    for (int c = 0; c < counters; c++) {
        for (int a = 0; a < 6; a++) {
            GLint values[4] = {-7, -7, -7, -7};
            glGetActiveAtomicCounterBufferiv(program, (GLuint)c, of_counter[a], values);
            note_ints("counters", values, 4);
        }
    }
    errors("asked");
    glGetActiveUniformsiv(program, 1, (GLuint[]){1000}, GL_UNIFORM_TYPE, &uniforms);
    errors("no such uniform");
    glGetActiveUniformsiv(program, 1, indices, 77, &uniforms);
    errors("no such question");
    glGetActiveUniformsiv(program, -1, indices, GL_UNIFORM_TYPE, &uniforms);
    errors("negative count");
}

static void binaries(void)
{
    if (!need_extension("GL_ARB_get_program_binary"))
        return no_picture();
    GLint formats = -1, list[8] = {-7, -7, -7, -7, -7, -7, -7, -7}, length = -1, linked = -1;
    glGetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    glGetIntegerv(GL_PROGRAM_BINARY_FORMATS, list);
    note("%d formats", formats);
    note_ints("formats", list, 8);
    INTS(GL_NUM_SHADER_BINARY_FORMATS, 1);
    GLuint program = build_program("#version 150\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) - 0.5, 0.0, 1.0); }",
                                   "#version 150\nuniform vec4 tint; out vec4 c; void main() { c = tint; }");
    glProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
    glGetProgramiv(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, &linked);
    note("hint %d", linked);
    glGetProgramiv(program, GL_PROGRAM_BINARY_LENGTH, &length);
    note("some bytes %d", length > 0);
    errors("asked");
    GLenum format = 77;
    GLsizei written = -7;
    char *binary = malloc((size_t)length + 16);
    glGetProgramBinary(program, length, &written, &format, binary);
    note("all written %d, of a format listed %d", written == length, (GLint)format == list[0]);
    errors("taken");
    GLuint again = glCreateProgram();
    glProgramBinary(again, format, binary, written);
    glGetProgramiv(again, GL_LINK_STATUS, &linked);
    note("linked %d", linked);
    errors("given");
    glUseProgram(again);
    glUniform4f(glGetUniformLocation(again, "tint"), 0.2f, 0.9f, 0.4f, 1);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    errors("drawn");
    glGetProgramBinary(program, 3, &written, &format, binary);
    note("written %d", written);
    errors("too little room");
    glGetProgramBinary(program, -1, &written, &format, binary);
    errors("less than no room");
    glGetProgramBinary(glCreateProgram(), length, &written, &format, binary);
    errors("not linked");
    glProgramBinary(again, 77, binary, length);
    errors("no such format");
    glGetProgramiv(again, GL_LINK_STATUS, &linked);
    note("linked %d", linked);
    binary[0] ^= 0x55;
    glProgramBinary(again, format, binary, length);
    glGetProgramiv(again, GL_LINK_STATUS, &linked);
    note("spoiled: linked %d", linked);
    errors("spoiled");
    glProgramBinary(again, format, binary, -1);
    errors("a negative length");
    glProgramBinary(7777, format, binary, length);
    errors("no such program");
    glProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, 2);
    errors("neither true nor false");
    free(binary);
    GLint range[2] = {-7, -7}, precision = -7;
    glGetShaderPrecisionFormat(GL_FRAGMENT_SHADER, GL_MEDIUM_FLOAT, range, &precision);
    note("%d to %d, %d", range[0], range[1], precision);
    glReleaseShaderCompiler();
    glShaderBinary(0, NULL, 77, NULL, 0);
    errors("no such shader binary");
}

CONFORM("program_interface", COMPAT, {"resources", resources}, {"older", older}, {"binaries", binaries})
