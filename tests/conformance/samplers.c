/* Sampler objects: their parameters in all types, the texture parameters that they override,
 * bindings of several at once, and errors. */
#include "conform.h"

static const struct {
    GLenum name;
    GLint value, other;
} parameters[] = {{GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE, GL_MIRRORED_REPEAT}, {GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER, GL_REPEAT},
                  {GL_TEXTURE_WRAP_R, GL_CLAMP_TO_EDGE, GL_MIRRORED_REPEAT}, {GL_TEXTURE_MIN_FILTER, GL_NEAREST, GL_LINEAR_MIPMAP_NEAREST},
                  {GL_TEXTURE_MAG_FILTER, GL_NEAREST, GL_LINEAR},            {GL_TEXTURE_MIN_LOD, -3, 2},
                  {GL_TEXTURE_MAX_LOD, 5, 7},                                {GL_TEXTURE_LOD_BIAS, 1, -1},
                  {GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE, 0},   {GL_TEXTURE_COMPARE_FUNC, GL_GREATER, GL_LEQUAL},
                  {GL_TEXTURE_MAX_ANISOTROPY_EXT, 4, 1},                     {GL_TEXTURE_CUBE_MAP_SEAMLESS, 1, 0},
                  {GL_TEXTURE_SRGB_DECODE_EXT, GL_SKIP_DECODE_EXT, GL_DECODE_EXT}, {GL_TEXTURE_REDUCTION_MODE_ARB, GL_MIN, GL_MAX}};

static bool ready(void)
{
    return need_extension("GL_ARB_sampler_objects");
}

static void note_sampler(GLuint sampler)
{
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        GLint integer = -7, pure = -7;
        GLfloat real = -7;
        GLuint word = 7;
        glGetSamplerParameteriv(sampler, parameters[i].name, &integer);
        glGetSamplerParameterfv(sampler, parameters[i].name, &real);
        glGetSamplerParameterIiv(sampler, parameters[i].name, &pure);
        glGetSamplerParameterIuiv(sampler, parameters[i].name, &word);
        note("%04x: %d %g %d %u", parameters[i].name, integer, (double)real, pure, word);
        errors("parameter");
    }
    GLint border[4] = {-7, -7, -7, -7};
    GLfloat real[4] = {-7, -7, -7, -7};
    GLuint words[4] = {7, 7, 7, 7};
    glGetSamplerParameteriv(sampler, GL_TEXTURE_BORDER_COLOR, border);
    note_ints("border", border, 4);
    glGetSamplerParameterfv(sampler, GL_TEXTURE_BORDER_COLOR, real);
    note_floats("border", real, 4);
    glGetSamplerParameterIiv(sampler, GL_TEXTURE_BORDER_COLOR, border);
    note_ints("border", border, 4);
    glGetSamplerParameterIuiv(sampler, GL_TEXTURE_BORDER_COLOR, words);
    note_ints("border", (const int *)words, 4);
    errors("border");
}

static void state(void)
{
    no_picture();
    if (!ready())
        return;
    GLuint samplers[4];
    glGenSamplers(4, samplers);
    note("is %d", glIsSampler(samplers[0]));
    note_sampler(samplers[0]);
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        const GLfloat real = (GLfloat)parameters[i].other;
        glSamplerParameteri(samplers[0], parameters[i].name, parameters[i].value);
        glSamplerParameterf(samplers[1], parameters[i].name, real);
        glSamplerParameteriv(samplers[2], parameters[i].name, &parameters[i].other);
        glSamplerParameterfv(samplers[3], parameters[i].name, &real);
        errors("set");
    }
    static const GLfloat border[] = {0.25f, -1, 2, 0.5f};
    static const GLint integers[] = {1, -2, 2147483647, 4};
    static const GLuint words[] = {1, 2, 4000000000u, 4};
    glSamplerParameterfv(samplers[0], GL_TEXTURE_BORDER_COLOR, border);
    glSamplerParameteriv(samplers[1], GL_TEXTURE_BORDER_COLOR, integers);
    glSamplerParameterIiv(samplers[2], GL_TEXTURE_BORDER_COLOR, integers);
    glSamplerParameterIuiv(samplers[3], GL_TEXTURE_BORDER_COLOR, words);
    static const GLint pure = GL_CLAMP_TO_EDGE;
    glSamplerParameterIiv(samplers[3], GL_TEXTURE_WRAP_S, &pure);
    glSamplerParameterIuiv(samplers[3], GL_TEXTURE_WRAP_T, (const GLuint *)&pure);
    for (int i = 0; i < 4; i++)
        note_sampler(samplers[i]);
    glBindSampler(3, samplers[2]);
    glActiveTexture(GL_TEXTURE3);
    BOUND(GL_SAMPLER_BINDING, samplers[2]);
    glDeleteSamplers(2, samplers + 1);
    BOUND(GL_SAMPLER_BINDING, 0);
    note("is %d %d", glIsSampler(samplers[2]), glIsSampler(samplers[3]));
    glSamplerParameteri(samplers[1], GL_TEXTURE_WRAP_S, GL_REPEAT);
    errors("deleted");
    glSamplerParameteri(samplers[0], GL_TEXTURE_BORDER_COLOR, 1);
    errors("not one value");
    glSamplerParameteri(samplers[0], GL_TEXTURE_BASE_LEVEL, 1);
    errors("of textures");
    glSamplerParameteri(samplers[0], GL_TEXTURE_WRAP_S, GL_LINEAR);
    errors("not a wrap");
    glSamplerParameteri(samplers[0], GL_TEXTURE_MAG_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    errors("not for magnification");
    glSamplerParameterf(samplers[0], GL_TEXTURE_MAX_ANISOTROPY_EXT, 0.5f);
    errors("too little anisotropy");
    glSamplerParameteri(samplers[0], GL_TEXTURE_CUBE_MAP_SEAMLESS, 7);
    errors("neither true nor false");
    GLint value;
    glGetSamplerParameteriv(samplers[0], GL_TEXTURE_SWIZZLE_R, &value);
    errors("asked of textures");
    glGetSamplerParameteriv(7777, GL_TEXTURE_WRAP_S, &value);
    errors("query of no sampler");
    glBindSampler(0, 7777);
    errors("bind no sampler");
    glBindSampler(10000, samplers[0]);
    errors("no such unit");
    glDeleteSamplers(-1, samplers);
    errors("negative count");
    glGenSamplers(-1, samplers);
    errors("generated with a negative count");
    if (has_extension("GL_ARB_multi_bind")) {
        const GLuint pair[] = {samplers[0], samplers[3]}, bad[] = {samplers[0], 7777, samplers[3]};
        glBindSamplers(4, 2, pair);
        glActiveTexture(GL_TEXTURE5);
        BOUND(GL_SAMPLER_BINDING, samplers[3]);
        glBindSamplers(4, 3, bad);
        errors("one is wrong");
        for (GLenum u = 4; u < 7; u++) {
            glActiveTexture(GL_TEXTURE0 + u);
            BOUND(GL_SAMPLER_BINDING, u == 4 ? samplers[0] : samplers[3]);
        }
        glBindSamplers(4, 2, NULL);
        BOUND(GL_SAMPLER_BINDING, samplers[3]);
        glBindSamplers(1000, 2, NULL);
        errors("too many");
    }
}

static void drawn(void)
{
    if (!ready())
        return no_picture();
    unsigned char pixels[16 * 16 * 4];
    GLuint texture, samplers[2];
    checkerboard(pixels, 16, 16, 4);
    glGenTextures(1, &texture);
    glGenSamplers(2, samplers);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_GENERATE_MIPMAP, GL_TRUE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glEnable(GL_TEXTURE_2D);
    glMatrixMode(GL_TEXTURE);
    glTranslatef(-0.5f, -0.5f, 0);
    glScalef(2, 2, 1);
    static const GLint wraps[] = {GL_REPEAT, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_BORDER, GL_MIRRORED_REPEAT},
                       filters[] = {GL_NEAREST, GL_LINEAR, GL_NEAREST_MIPMAP_NEAREST, GL_LINEAR_MIPMAP_LINEAR};
    static const GLfloat border[] = {1, 0, 1, 1};
    glSamplerParameterfv(samplers[0], GL_TEXTURE_BORDER_COLOR, border);
    for (int w = 0; w < 4; w++) {
        for (int f = 0; f < 4; f++) {
            glBindSampler(0, (w + f) % 5 == 4 ? 0 : samplers[0]);
            glSamplerParameteri(samplers[0], GL_TEXTURE_WRAP_S, wraps[w]);
            glSamplerParameteri(samplers[0], GL_TEXTURE_WRAP_T, wraps[(w + 1) % 4]);
            glSamplerParameteri(samplers[0], GL_TEXTURE_MIN_FILTER, filters[f]);
            glSamplerParameteri(samplers[0], GL_TEXTURE_MAG_FILTER, filters[f % 2]);
            glSamplerParameterf(samplers[0], GL_TEXTURE_LOD_BIAS, (float)f * 0.7f);
            cell(w, f, 4, 4);
            square(0.9f);
        }
    }
    errors("drawn");
}

/* Cube maps with and without seams, set for the whole context and for a sampler. */
static void seams(void)
{
    if (!need_extension("GL_ARB_seamless_cube_map"))
        return no_picture();
    GLuint texture, sampler = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_CUBE_MAP, texture);
    for (int f = 0; f < 6; f++) {
        unsigned char pixels[2 * 2 * 4];
        for (int i = 0; i < 16; i++)
            pixels[i] = (unsigned char)random_bits();
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)f, 0, GL_RGBA8, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    }
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    GLuint program = build_program("#version 130\nin vec2 place; out vec2 at; void main() { gl_Position = vec4(place, 0.0, 1.0); at = place; }",
                                   "#version 130\nuniform samplerCube image; in vec2 at; void main() { gl_FragColor = texture(image, vec3(at * 2.0, 1.0 - at.x)); }");
    glUseProgram(program);
    for (int i = 0; i < 4; i++) {
        ENABLED(GL_TEXTURE_CUBE_MAP_SEAMLESS);
        if (i == 2) {
            if (!has_extension("GL_ARB_seamless_cubemap_per_texture") || !ready())
                break;
            glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_SEAMLESS, GL_TRUE);
        } else if (i == 3) {
            glGenSamplers(1, &sampler);
            glBindSampler(0, sampler);
            glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
        }
        cell(i % 2, i / 2, 2, 2);
        square(1);
        if (i == 0)
            glEnable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
        else
            glDisable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
    }
    errors("drawn");
}

CONFORM("samplers", COMPAT, {"state", state}, {"drawn", drawn}, {"seams", seams})
