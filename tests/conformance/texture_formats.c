/* Combinations of internal format, format and type: the resulting contents, and the sizes of
 * components that the driver reports. */
#include "conform.h"

#define SIDE 8

struct kind {
    GLenum internal, format, type;
};

static unsigned char memory[SIDE * SIDE * 16];

static void fill_memory(bool floats)
{
    uint32_t state = 99;
    for (size_t i = 0; i < sizeof memory; i++) {
        state = state * 1664525u + 1013904223u;
        memory[i] = (unsigned char)(state >> 24);
    }
    for (size_t i = 0; floats && i < sizeof memory / 4; i++) {
        state = state * 1664525u + 1013904223u;
        float value = (float)(state >> 16) / 65536 * 1.5f - 0.25f;
        memcpy(memory + 4 * i, &value, 4);
    }
}

static void try_all(const struct kind *kinds, int count)
{
    static const GLenum names[] = {GL_TEXTURE_INTERNAL_FORMAT, GL_TEXTURE_RED_SIZE, GL_TEXTURE_GREEN_SIZE, GL_TEXTURE_BLUE_SIZE, GL_TEXTURE_ALPHA_SIZE,
                                   GL_TEXTURE_LUMINANCE_SIZE, GL_TEXTURE_INTENSITY_SIZE, GL_TEXTURE_DEPTH_SIZE};
    glEnable(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glColor3f(0.9f, 0.9f, 0.7f);
    for (int i = 0; i < count; i++) {
        GLint values[8] = {0};
        fill_memory(kinds[i].type == GL_FLOAT);
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)kinds[i].internal, SIDE, SIDE, 0, kinds[i].format, kinds[i].type, memory);
        note("internal %04x format %04x type %04x: %s", kinds[i].internal, kinds[i].format, kinds[i].type, error_name(glGetError()));
        for (int n = 0; n < 8; n++)
            glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, names[n], &values[n]);
        note_ints("  level", values, 8);
        cell(i % 8, i / 8, 8, 8);
        square(0.9f);
    }
    errors("formats");
}

static void plain(void)
{
    static const GLenum formats[] = {GL_RED, GL_GREEN, GL_BLUE, GL_ALPHA, GL_RGB, GL_BGR, GL_RGBA, GL_BGRA, GL_LUMINANCE, GL_LUMINANCE_ALPHA};
    static const GLenum types[] = {GL_UNSIGNED_BYTE, GL_BYTE, GL_UNSIGNED_SHORT, GL_SHORT, GL_UNSIGNED_INT, GL_INT, GL_FLOAT};
    struct kind kinds[64];
    int count = 0;
    for (int f = 0; f < 10; f++)
        for (int t = 0; t < 7 && count < 64; t++)
            if ((f + t) % 10 != 9)
                kinds[count++] = (struct kind){GL_RGBA8, formats[f], types[t]};
    try_all(kinds, count);
}

static void packed(void)
{
    static const struct kind kinds[] = {{GL_RGB, GL_RGB, GL_UNSIGNED_BYTE_3_3_2},        {GL_RGB, GL_RGB, GL_UNSIGNED_BYTE_2_3_3_REV},
                                        {GL_RGB, GL_RGB, GL_UNSIGNED_SHORT_5_6_5},       {GL_RGB, GL_RGB, GL_UNSIGNED_SHORT_5_6_5_REV},
                                        {GL_RGBA, GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4},   {GL_RGBA, GL_BGRA, GL_UNSIGNED_SHORT_4_4_4_4},
                                        {GL_RGBA, GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4_REV}, {GL_RGBA, GL_BGRA, GL_UNSIGNED_SHORT_4_4_4_4_REV},
                                        {GL_RGBA, GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1},   {GL_RGBA, GL_BGRA, GL_UNSIGNED_SHORT_1_5_5_5_REV},
                                        {GL_RGBA, GL_RGBA, GL_UNSIGNED_INT_8_8_8_8},     {GL_RGBA, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8},
                                        {GL_RGBA, GL_RGBA, GL_UNSIGNED_INT_8_8_8_8_REV}, {GL_RGBA, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV},
                                        {GL_RGBA, GL_RGBA, GL_UNSIGNED_INT_10_10_10_2},  {GL_RGBA, GL_BGRA, GL_UNSIGNED_INT_2_10_10_10_REV},
                                        {GL_RGB, GL_RGBA, GL_UNSIGNED_SHORT_5_6_5},      {GL_RGBA, GL_RGB, GL_UNSIGNED_INT_8_8_8_8}};
    try_all(kinds, sizeof kinds / sizeof *kinds);
}

static void internal_formats(void)
{
    static const GLenum internals[] = {1, 2, 3, 4, GL_ALPHA, GL_ALPHA4, GL_ALPHA8, GL_ALPHA12, GL_ALPHA16, GL_LUMINANCE, GL_LUMINANCE4, GL_LUMINANCE8,
                                       GL_LUMINANCE12, GL_LUMINANCE16, GL_LUMINANCE_ALPHA, GL_LUMINANCE4_ALPHA4, GL_LUMINANCE6_ALPHA2,
                                       GL_LUMINANCE8_ALPHA8, GL_LUMINANCE16_ALPHA16, GL_INTENSITY, GL_INTENSITY4, GL_INTENSITY8, GL_INTENSITY16, GL_RGB,
                                       GL_R3_G3_B2, GL_RGB4, GL_RGB5, GL_RGB8, GL_RGB10, GL_RGB12, GL_RGB16, GL_RGBA, GL_RGBA2, GL_RGBA4, GL_RGB5_A1,
                                       GL_RGBA8, GL_RGB10_A2, GL_RGBA12, GL_RGBA16, GL_SRGB8, GL_SRGB8_ALPHA8, GL_SLUMINANCE8, GL_R8, GL_R16, GL_RG8,
                                       GL_RG16, GL_R8_SNORM, GL_RGBA8_SNORM, GL_RGB5 + 100, GL_BGRA};
    struct kind kinds[64];
    int count = sizeof internals / sizeof *internals;
    for (int i = 0; i < count; i++)
        kinds[i] = (struct kind){internals[i], GL_RGBA, GL_UNSIGNED_BYTE};
    try_all(kinds, count);
}

static void floats_and_depth(void)
{
    static const struct kind kinds[] = {{GL_RGBA16F, GL_RGBA, GL_FLOAT},
                                        {GL_RGBA32F, GL_RGBA, GL_FLOAT},
                                        {GL_RGB16F, GL_RGB, GL_HALF_FLOAT},
                                        {GL_R32F, GL_RED, GL_FLOAT},
                                        {GL_RG16F, GL_RG, GL_HALF_FLOAT},
                                        {GL_R11F_G11F_B10F, GL_RGB, GL_UNSIGNED_INT_10F_11F_11F_REV},
                                        {GL_RGB9_E5, GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV},
                                        {GL_DEPTH_COMPONENT, GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT},
                                        {GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT},
                                        {GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_FLOAT},
                                        {GL_DEPTH_COMPONENT32F, GL_DEPTH_COMPONENT, GL_FLOAT},
                                        {GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8},
                                        {GL_RGBA, GL_RED, GL_BITMAP},
                                        {GL_RGBA, GL_DEPTH_COMPONENT, GL_FLOAT},
                                        {GL_DEPTH_COMPONENT, GL_RGBA, GL_FLOAT},
                                        {GL_RGBA, GL_RGBA, GL_DOUBLE},
                                        {GL_RGBA, GL_RGBA8, GL_UNSIGNED_BYTE}};
    if (need_version(3, 0))
        try_all(kinds, sizeof kinds / sizeof *kinds);
}

/* Integer textures are visible only with a shader. */
static void integers(void)
{
    static const struct kind kinds[] = {{GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE}, {GL_RGBA8UI, GL_BGRA_INTEGER, GL_UNSIGNED_BYTE},
                                        {GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT}, {GL_RGBA32UI, GL_RGB_INTEGER, GL_UNSIGNED_INT},
                                        {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE},     {GL_RG16UI, GL_RG_INTEGER, GL_UNSIGNED_SHORT},
                                        {GL_RGB32UI, GL_RGB_INTEGER, GL_UNSIGNED_INT}};
    if (!need_version(3, 0))
        return;
    glUseProgram(build_program("#version 130\nout vec2 at; void main() { gl_Position = gl_Vertex; at = gl_MultiTexCoord0.st; }",
                               "#version 130\nuniform usampler2D image; in vec2 at;\n"
                               "void main() { uvec4 v = texture(image, at); gl_FragColor = vec4(v & 255u) / 255.0; }"));
    try_all(kinds, sizeof kinds / sizeof *kinds);
}

CONFORM("texture_formats", COMPAT, {"plain", plain}, {"packed", packed}, {"internal_formats", internal_formats},
        {"floats_and_depth", floats_and_depth}, {"integers", integers})
