/* Shaders that write to storage buffers, atomic counters and images. Later draws, copies, maps and
 * reads see the results. */
#include "conform.h"

static const char *const needed[] = {"GL_ARB_compute_shader", "GL_ARB_shader_storage_buffer_object", "GL_ARB_shader_image_load_store",
                                     "GL_ARB_shader_atomic_counters"};

#define HEAD                                                                                                                                          \
    "#version 330\n#extension GL_ARB_compute_shader : enable\n#extension GL_ARB_shader_storage_buffer_object : enable\n"                               \
    "#extension GL_ARB_shader_image_load_store : enable\n#extension GL_ARB_shader_atomic_counters : enable\n"                                          \
    "#extension GL_ARB_shading_language_420pack : enable\n#extension GL_ARB_shader_image_size : enable\n"

static bool ready(void)
{
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!need_extension(needed[i]))
            return false;
    return true;
}

static GLuint compute(const char *body)
{
    char source[4096], log[2048] = "";
    const char *text = source;
    snprintf(source, sizeof source, "%slayout(local_size_x = 8) in;\n%s", HEAD, body);
    GLuint shader = glCreateShader(GL_COMPUTE_SHADER), program = glCreateProgram();
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glLinkProgram(program);
    GLint linked;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked) {
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
        note("not linked: %s", log);
    }
    glDeleteShader(shader);
    return program;
}

static GLuint new_buffer(GLenum target, GLsizeiptr size, const void *data)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(target, buffer);
    glBufferData(target, size, data, GL_DYNAMIC_COPY);
    return buffer;
}

static void note_words(const char *what, GLenum target, int count)
{
    GLuint words[64] = {0};
    glGetBufferSubData(target, 0, (GLsizeiptr)((size_t)count * sizeof *words), words);
    note_ints(what, (const int *)words, count);
}

static void storage_buffers(void)
{
    no_picture();
    if (!ready())
        return;
    GLuint program = compute("layout(std430, binding = 1) buffer numbers { uint n[]; };\nuniform uint step;\n"
                             "void main() { n[gl_GlobalInvocationID.x] = n[gl_GlobalInvocationID.x] * step + gl_WorkGroupID.x; }");
    GLuint first[32];
    for (GLuint i = 0; i < 32; i++)
        first[i] = i;
    GLuint buffer = new_buffer(GL_SHADER_STORAGE_BUFFER, sizeof first, first);
    /* If the client keeps a copy, it is outdated from here on. */
    GLuint *map = glMapBuffer(GL_SHADER_STORAGE_BUFFER, GL_READ_ONLY);
    note("mapped %u", map[5]);
    glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, buffer);
    glUseProgram(program);
    for (int i = 1; i < 4; i++) {
        glUniform1ui(glGetUniformLocation(program, "step"), (GLuint)i);
        glDispatchCompute(4, 1, 1);
        glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
        note_words("numbers", GL_SHADER_STORAGE_BUFFER, 32);
    }
    map = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 16, 64, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
    note_ints("mapped", (const int *)map, 16);
    map[3] = 1000;
    glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
    glDispatchCompute(4, 1, 1);
    note_words("after", GL_SHADER_STORAGE_BUFFER, 32);
    GLint64 start = -1, size = -1;
    glGetInteger64i_v(GL_SHADER_STORAGE_BUFFER_START, 1, &start);
    glGetInteger64i_v(GL_SHADER_STORAGE_BUFFER_SIZE, 1, &size);
    note("range %d %d", (int)start, (int)size);
    GLint group[3];
    glGetProgramiv(program, GL_COMPUTE_WORK_GROUP_SIZE, group);
    note_ints("group", group, 3);
    GLuint index = glGetProgramResourceIndex(program, GL_SHADER_STORAGE_BLOCK, "numbers");
    const GLenum props[] = {GL_BUFFER_BINDING, GL_BUFFER_DATA_SIZE, GL_NUM_ACTIVE_VARIABLES};
    GLint values[3] = {-1, -1, -1};
    glGetProgramResourceiv(program, GL_SHADER_STORAGE_BLOCK, index, 3, props, 3, NULL, values);
    note_ints("block", values, 3);
    glShaderStorageBlockBinding(program, index, 3);
    glGetProgramResourceiv(program, GL_SHADER_STORAGE_BLOCK, index, 1, props, 1, NULL, values);
    note("bound to %d", values[0]);
    errors("end");
    glDispatchCompute(100000, 1, 1);
    errors("too many groups");
    glDispatchComputeIndirect(2);
    errors("an odd offset");
    glDispatchComputeIndirect(0);
    errors("no indirect buffer");
    glUseProgram(0);
    glDispatchCompute(1, 1, 1);
    errors("no program");
    glShaderStorageBlockBinding(program, 77, 0);
    errors("no block");
    glMemoryBarrier(0x10000000);
    errors("no barrier");
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 10000, buffer);
    errors("no binding");
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, buffer, 3, 8);
    errors("not aligned");
}

/* Draws use values that a shader has written: indices, vertices, and their number. */
static void drawn(void)
{
    if (!ready() || !need_extension("GL_ARB_draw_indirect"))
        return no_picture();
    pixel_projection();
    GLuint program = compute("layout(std430, binding = 0) buffer places { vec2 place[]; };\nlayout(std430, binding = 1) buffer order { uint index[]; };\n"
                             "layout(std430, binding = 2) buffer commands { uint command[]; };\n"
                             "void main() { uint i = gl_GlobalInvocationID.x;\n"
                             "place[i] = vec2(128.0) + float(20u + 3u * i) * vec2(i % 2u, 1u - i % 2u);\n"
                             "index[i] = 31u - i; if (i == 0u) { command[0] = 30u; command[1] = 1u; command[2] = 1u; command[3] = 0u; command[4] = 0u; "
                             "command[5] = 2u; command[6] = 1u; command[7] = 1u; } }");
    static const GLushort made_up[32] = {0};
    GLuint places = new_buffer(GL_ARRAY_BUFFER, 32 * 8, NULL), order = new_buffer(GL_ELEMENT_ARRAY_BUFFER, 32 * 4, made_up);
    GLuint commands = new_buffer(GL_DRAW_INDIRECT_BUFFER, 32, NULL);
    /* Because of a draw with arrays in the program's memory, the client reads the indices and keeps
     * them. */
    static const GLfloat corners[] = {10, 10, 50, 10, 10, 50};
    static const GLuint triangle[] = {0, 1, 2};
    glBufferSubData(GL_ELEMENT_ARRAY_BUFFER, 0, sizeof triangle, triangle);
    glEnableClientState(GL_VERTEX_ARRAY);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexPointer(2, GL_FLOAT, 0, corners);
    color_of(1);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_INT, NULL);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, places);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, order);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 2, commands);
    glUseProgram(program);
    glDispatchCompute(4, 1, 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glUseProgram(0);
    static GLfloat wide[64];
    for (int i = 0; i < 32; i++) {
        wide[2 * i] = 200 + (float)(i % 5) * 10;
        wide[2 * i + 1] = 10 + (float)i * 5;
    }
    glVertexPointer(2, GL_FLOAT, 0, wide);
    color_of(2);
    glDrawElements(GL_LINE_STRIP, 32, GL_UNSIGNED_INT, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, places);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    color_of(3);
    glDrawElementsIndirect(GL_LINE_STRIP, GL_UNSIGNED_INT, NULL);
    glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, commands);
    glUseProgram(program);
    glDispatchComputeIndirect(20);
    errors("dispatch");
    glUseProgram(0);
    note_words("command", GL_DRAW_INDIRECT_BUFFER, 8);
    errors("end");
}

static void counters(void)
{
    no_picture();
    if (!ready())
        return;
    GLuint program = build_program("#version 330\nlayout(location = 0) in vec2 place; void main() { gl_Position = vec4(place, 0.0, 1.0); }",
                                   HEAD "layout(binding = 2, offset = 4) uniform atomic_uint all; layout(binding = 2) uniform atomic_uint left;\n"
                                        "out vec4 color; void main() { atomicCounterIncrement(all); if (gl_FragCoord.x < 100.0) atomicCounterIncrement(left);\n"
                                        "color = vec4(1.0); }");
    static const GLuint zeros[4] = {0, 0, 7, 8};
    GLuint buffer = new_buffer(GL_ATOMIC_COUNTER_BUFFER, sizeof zeros, zeros);
    glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 2, buffer);
    glUseProgram(program);
    /* glBegin is not used here, because Mesa delays its vertices until after the read. */
    static const GLfloat corners[] = {-1, -1, 1, -1, -1, 1};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    GLint count = -1, binding = -1, size = -1;
    glGetProgramiv(program, GL_ACTIVE_ATOMIC_COUNTER_BUFFERS, &count);
    glGetActiveAtomicCounterBufferiv(program, 0, GL_ATOMIC_COUNTER_BUFFER_BINDING, &binding);
    glGetActiveAtomicCounterBufferiv(program, 0, GL_ATOMIC_COUNTER_BUFFER_DATA_SIZE, &size);
    note("%d buffers, at %d, of %d", count, binding, size);
    for (int i = 0; i < 3; i++) {
        glDrawArrays(GL_TRIANGLES, 0, 3);
        glMemoryBarrier(GL_ATOMIC_COUNTER_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
        note_words("counted", GL_ATOMIC_COUNTER_BUFFER, 4);
        if (i == 1)
            glBufferSubData(GL_ATOMIC_COUNTER_BUFFER, 0, 4, zeros);
    }
    glGetActiveAtomicCounterBufferiv(program, 5, GL_ATOMIC_COUNTER_BUFFER_BINDING, &binding);
    errors("no such buffer");
}

static void images(void)
{
    if (!ready())
        return no_picture();
    GLuint program = compute("layout(rgba8, binding = 1) uniform writeonly image2D to;\nlayout(r32ui, binding = 2) uniform uimageBuffer count;\n"
                             "void main() { ivec2 at = ivec2(gl_GlobalInvocationID.xy);\n"
                             "imageStore(to, at, vec4(at.x / 128.0, at.y / 128.0, float((at.x ^ at.y) & 31) / 31.0, 1.0));\n"
                             "imageAtomicAdd(count, at.x & 7, 1u); if (at == ivec2(0)) imageStore(count, 9, uvec4(77u)); }");
    GLuint texture, numbers, on_buffer, words[16] = {0};
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 128, 128, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    numbers = new_buffer(GL_TEXTURE_BUFFER, sizeof words, words);
    glGetBufferSubData(GL_TEXTURE_BUFFER, 0, sizeof words, words);
    glGenTextures(1, &on_buffer);
    glBindTexture(GL_TEXTURE_BUFFER, on_buffer);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_R32UI, numbers);
    glBindImageTexture(1, texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
    glBindImageTexture(2, on_buffer, 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
    glUseProgram(program);
    glDispatchCompute(16, 128, 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glUseProgram(0);
    note_words("counts", GL_TEXTURE_BUFFER, 16);
    unsigned char pixels[128 * 128 * 4];
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes("image", pixels, sizeof pixels);
    glEnable(GL_TEXTURE_2D);
    square(0.9f);
    GLint values[6] = {0};
    const GLenum names[] = {GL_IMAGE_BINDING_LEVEL, GL_IMAGE_BINDING_LAYERED, GL_IMAGE_BINDING_LAYER, GL_IMAGE_BINDING_ACCESS, GL_IMAGE_BINDING_FORMAT};
    for (int i = 0; i < 5; i++)
        glGetIntegeri_v(names[i], 1, &values[i]);
    note_ints("binding", values, 5);
    GLint bound = -1;
    glGetIntegeri_v(GL_IMAGE_BINDING_NAME, 1, &bound);
    note("bound %d", bound == (GLint)texture);
    errors("end");
    glBindImageTexture(1000, texture, 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
    errors("no such unit");
    glBindImageTexture(0, texture, -1, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
    errors("no such level");
    glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGB8);
    errors("no such format");
    glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_RGBA, GL_RGBA8);
    errors("no such access");
    if (has_extension("GL_ARB_multi_bind")) {
        const GLuint both[] = {texture, on_buffer};
        glBindImageTextures(3, 2, both);
        glGetIntegeri_v(GL_IMAGE_BINDING_NAME, 4, &bound);
        note("bound %d", bound == (GLint)on_buffer);
        glBindImageTextures(3, 2, NULL);
        glGetIntegeri_v(GL_IMAGE_BINDING_NAME, 4, &bound);
        note("bound %d", bound);
        errors("several");
    }
}

static void formats(void)
{
    no_picture();
    if (!ready())
        return;
    static const struct {
        const char *name, *type, *value;
        GLenum format, read, read_type;
        int size;
    } all[] = {{"rgba32f", "image2D", "vec4(at, 0.25, -1.5)", GL_RGBA32F, GL_RGBA, GL_FLOAT, 16},
               {"rgba16f", "image2D", "vec4(at, 0.25, -1.5)", GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 8},
               {"r32f", "image2D", "vec4(at.x * 0.1)", GL_R32F, GL_RED, GL_FLOAT, 4},
               {"rgba8_snorm", "image2D", "vec4(at, 0.25, -0.5) * 0.1", GL_RGBA8_SNORM, GL_RGBA, GL_BYTE, 4},
               {"rgba32i", "iimage2D", "ivec4(at, -7, 8)", GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, 16},
               {"rgba16ui", "uimage2D", "uvec4(at, 7, 8)", GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, 8},
               {"rg8i", "iimage2D", "ivec4(at.x, -at.y, 0, 0)", GL_RG8I, GL_RG_INTEGER, GL_BYTE, 2},
               {"r11f_g11f_b10f", "image2D", "vec4(at, 0.25, 1.0)", GL_R11F_G11F_B10F, GL_RGB, GL_UNSIGNED_INT_10F_11F_11F_REV, 4},
               {"rgb10_a2", "image2D", "vec4(at, 2.0, 1.0) * 0.1", GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4},
               {"r16", "image2D", "vec4(at.x * 0.1)", GL_R16, GL_RED, GL_UNSIGNED_SHORT, 2}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char body[1024];
        snprintf(body, sizeof body,
                 "layout(%s, binding = 0) uniform writeonly %s to;\nvoid main() { ivec2 at = ivec2(gl_GlobalInvocationID.xy); if (at.x < imageSize(to).x) "
                 "imageStore(to, at, %s); }",
                 all[i].name, all[i].type, all[i].value);
        glUseProgram(compute(body));
        GLuint texture;
        glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_2D, texture);
        glTexStorage2D(GL_TEXTURE_2D, 1, all[i].format, 12, 4);
        glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, all[i].format);
        glDispatchCompute(2, 4, 1);
        glMemoryBarrier(GL_TEXTURE_UPDATE_BARRIER_BIT);
        unsigned char pixels[12 * 4 * 16] = {0};
        glPixelStorei(GL_PACK_ALIGNMENT, 1);
        glGetTexImage(GL_TEXTURE_2D, 0, all[i].read, all[i].read_type, pixels);
        note_bytes(all[i].name, pixels, (size_t)(48 * all[i].size));
        errors(all[i].name);
    }
}

CONFORM("shader_writes", COMPAT, {"storage_buffers", storage_buffers}, {"drawn", drawn}, {"counters", counters}, {"images", images}, {"formats", formats})
