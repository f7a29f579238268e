/* Textures in the core profile: sampler objects, swizzles, sRGB, immutable storage, shadow and multisample textures, seamless cubes. */
#include "conform.h"

static GLuint program, array;

/* A square over the whole viewport, drawn without any attribute. */
static void start(const char *fragment)
{
    program = build_program("#version 330\nout vec2 at; void main() { vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1); at = p;\n"
                            "gl_Position = vec4(p * 1.9 - 0.95, 0.0, 1.0); }",
                            fragment);
    glUseProgram(program);
    if (!array)
        glGenVertexArrays(1, &array);
    glBindVertexArray(array);
}

static void draw(void)
{
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static GLuint texture_of(GLenum target, GLenum internal, int size, int squares)
{
    unsigned char *image = malloc((size_t)(size * size) * 4);
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(target, texture);
    checkerboard(image, size, size, squares);
    for (GLenum face = 0; face < (target == GL_TEXTURE_CUBE_MAP ? 6u : 1u); face++)
        glTexImage2D(target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + face : target, 0, (GLint)internal, size, size, 0, GL_RGBA,
                     GL_UNSIGNED_BYTE, image);
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    free(image);
    return texture;
}

static const char plain[] = "#version 330\nuniform sampler2D image; in vec2 at; out vec4 color; void main() { color = texture(image, at * 3.0 - 1.0); }";

static void samplers(void)
{
    static const GLenum wraps[] = {GL_REPEAT, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_BORDER, GL_MIRRORED_REPEAT};
    GLuint names[4];
    array = 0;
    start(plain);
    texture_of(GL_TEXTURE_2D, GL_RGBA8, 16, 4);
    glGenSamplers(4, names);
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        if (i < 8) {
            glSamplerParameteri(names[i % 4], GL_TEXTURE_WRAP_S, (GLint)wraps[i % 4]);
            glSamplerParameteri(names[i % 4], GL_TEXTURE_WRAP_T, (GLint)wraps[(i + 1) % 4]);
            glSamplerParameteri(names[i % 4], GL_TEXTURE_MIN_FILTER, i < 4 ? GL_LINEAR : GL_NEAREST);
            glSamplerParameteri(names[i % 4], GL_TEXTURE_MAG_FILTER, i < 4 ? GL_LINEAR : GL_NEAREST);
            glSamplerParameterfv(names[i % 4], GL_TEXTURE_BORDER_COLOR, (const GLfloat[]){1, 0.2f, 0.1f * (float)i, 1});
            glBindSampler(0, names[i % 4]);
        } else {
            glBindSampler(0, 0); /* the texture's own parameters again */
        }
        BOUND(GL_SAMPLER_BINDING, i < 8 ? names[i % 4] : 0);
        draw();
    }
    GLint value = -1;
    GLfloat border[4];
    glGetSamplerParameteriv(names[2], GL_TEXTURE_WRAP_S, &value);
    glGetSamplerParameterfv(names[2], GL_TEXTURE_BORDER_COLOR, border);
    note("wrap %04x", (unsigned)value);
    note_floats("border", border, 4);
    note("is a sampler: %d", glIsSampler(names[1]));
    glDeleteSamplers(4, names);
    note("is a sampler: %d", glIsSampler(names[1]));
    errors("samplers");
    glBindSampler(0, 7777);
    errors("a name of the program's own");
    glSamplerParameteri(7777, GL_TEXTURE_WRAP_S, GL_REPEAT);
    errors("parameter of no sampler");
}

static void swizzles(void)
{
    static const GLint masks[][4] = {{GL_RED, GL_GREEN, GL_BLUE, GL_ALPHA}, {GL_BLUE, GL_RED, GL_GREEN, GL_ONE}, {GL_ALPHA, GL_ALPHA, GL_ALPHA, GL_ONE},
                                     {GL_ZERO, GL_ONE, GL_RED, GL_ONE}};
    array = 0;
    start(plain);
    texture_of(GL_TEXTURE_2D, GL_RGBA8, 16, 4);
    for (int i = 0; i < 4; i++) {
        GLint back[4];
        cell(i % 2, i / 2, 2, 2);
        glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_RGBA, masks[i]);
        glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_RGBA, back);
        note_ints("swizzle", back, 4);
        draw();
    }
    errors("swizzles");
}

static void srgb(void)
{
    GLuint framebuffer, target;
    array = 0;
    start(plain);
    glGenFramebuffers(1, &framebuffer);
    target = texture_of(GL_TEXTURE_2D, GL_SRGB8_ALPHA8, 64, 64);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
    texture_of(GL_TEXTURE_2D, GL_SRGB8_ALPHA8, 16, 4);
    for (int i = 0; i < 2; i++) {
        unsigned char pixels[64 * 64 * 4];
        if (i)
            glEnable(GL_FRAMEBUFFER_SRGB);
        glViewport(0, 0, 64, 64);
        draw();
        glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        note_bytes("sRGB", pixels, sizeof pixels);
    }
    glDisable(GL_FRAMEBUFFER_SRGB);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, SIZE, SIZE);
    draw();
    errors("sRGB");
}

static void storage(void)
{
    GLuint texture;
    GLint immutable = -1;
    unsigned char image[32 * 32 * 4];
    array = 0;
    if (!need_extension("GL_ARB_texture_storage"))
        return;
    start(plain);
    checkerboard(image, 32, 32, 8);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 4, GL_RGBA8, 32, 32);
    for (int level = 0; level < 4; level++)
        glTexSubImage2D(GL_TEXTURE_2D, level, 0, 0, 32 >> level, 32 >> level, level % 2 ? GL_BGRA : GL_RGBA, GL_UNSIGNED_BYTE, image);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_FORMAT, &immutable);
    note("immutable: %d", immutable);
    for (int i = 0; i < 4; i++) {
        glViewport(0, i * 64, SIZE >> i, 64 >> i);
        draw();
    }
    errors("storage");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    errors("new image of immutable storage");
    glTexStorage2D(GL_TEXTURE_2D, 4, GL_RGBA8, 32, 32);
    errors("storage twice");
    glTexSubImage2D(GL_TEXTURE_2D, 4, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, image);
    errors("level 4 of 4");
}

static void shadow(void)
{
    static const GLenum functions[] = {GL_LEQUAL, GL_GEQUAL, GL_LESS, GL_GREATER, GL_EQUAL, GL_NOTEQUAL, GL_ALWAYS, GL_NEVER};
    GLfloat depths[16 * 16];
    GLuint texture;
    array = 0;
    start("#version 330\nuniform sampler2DShadow image; in vec2 at; out vec4 color;\n"
          "void main() { color = vec4(texture(image, vec3(at, 0.5)), textureProj(image, vec4(at, 0.25, 1.0)), at.x * 0.5, 1.0); }");
    for (int i = 0; i < 256; i++)
        depths[i] = (float)(i % 16 + i / 16) / 30;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, 16, 16, 0, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    for (int i = 0; i < 8; i++) {
        cell(i % 4, i / 4, 4, 2);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, i % 2 ? GL_LINEAR : GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, i % 2 ? GL_LINEAR : GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, (GLint)functions[i]);
        draw();
    }
    errors("shadow");
}

static void multisample(void)
{
    GLuint framebuffer, texture;
    array = 0;
    start("#version 330\nin vec2 at; out vec4 color; void main() { color = vec4(at.x + at.y > 1.0 ? 1.0 : 0.2, at, 1.0); }");
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, texture);
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 32, 32, GL_TRUE);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D_MULTISAMPLE, texture, 0);
    note("complete: %d", glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE);
    glViewport(0, 0, 32, 32);
    glClear(GL_COLOR_BUFFER_BIT);
    draw();
    GLfloat place[2] = {-1, -1};
    glGetMultisamplefv(GL_SAMPLE_POSITION, 0, place);
    note_floats("sample 0", place, 2);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    start("#version 330\nuniform sampler2DMS image; in vec2 at; out vec4 color;\n"
          "void main() { color = texelFetch(image, ivec2(at * 32.0), int(gl_FragCoord.x) / 64); }");
    glViewport(0, 0, SIZE, SIZE);
    draw();
    errors("multisample");
}

static void seamless(void)
{
    array = 0;
    start("#version 330\nuniform samplerCube image; in vec2 at; out vec4 color; void main() { color = texture(image, vec3(at * 3.0 - 1.5, 1.0)); }");
    texture_of(GL_TEXTURE_CUBE_MAP, GL_RGBA8, 4, 1);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    for (int i = 0; i < 2; i++) {
        cell(i, 0, 2, 1);
        if (i)
            glEnable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
        draw();
    }
    errors("seamless");
}

CONFORM("core_textures", CORE, {"samplers", samplers}, {"swizzles", swizzles}, {"srgb", srgb}, {"storage", storage}, {"shadow", shadow},
        {"multisample", multisample}, {"seamless", seamless})
