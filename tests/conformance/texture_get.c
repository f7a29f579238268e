/* glGetTexImage in many formats and with every pack parameter, and queries of texture
 * parameters. */
#include "conform.h"

#define W 9
#define H 7

static unsigned char image[W * H * 4], back[8192];

static void start(void)
{
    no_picture();
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (unsigned char)(i * 77 + i / 9);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, W, H, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
}

/* The memory is filled with a mark, which shows whether the command changed bytes that it must not
 * change. */
static void get(const char *what, GLenum target, GLint level, GLenum format, GLenum type)
{
    memset(back, 0x77, sizeof back);
    glGetTexImage(target, level, format, type, back);
    note_bytes(what, back, sizeof back);
}

static void formats(void)
{
    static const GLenum formats[] = {GL_RED, GL_GREEN, GL_BLUE, GL_ALPHA, GL_RGB, GL_BGR, GL_RGBA, GL_BGRA, GL_LUMINANCE, GL_LUMINANCE_ALPHA};
    static const GLenum types[] = {GL_UNSIGNED_BYTE, GL_BYTE, GL_UNSIGNED_SHORT, GL_SHORT, GL_UNSIGNED_INT, GL_INT, GL_FLOAT};
    static const GLenum packed[][2] = {{GL_RGB, GL_UNSIGNED_SHORT_5_6_5}, {GL_RGB, GL_UNSIGNED_BYTE_3_3_2}, {GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4},
                                       {GL_BGRA, GL_UNSIGNED_SHORT_1_5_5_5_REV}, {GL_RGBA, GL_UNSIGNED_INT_8_8_8_8},
                                       {GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV}, {GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV}};
    start();
    for (int f = 0; f < 10; f++) {
        for (int t = 0; t < 7; t++) {
            char what[40];
            snprintf(what, sizeof what, "format %04x type %04x", formats[f], types[t]);
            get(what, GL_TEXTURE_2D, 0, formats[f], types[t]);
        }
    }
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        get("packed", GL_TEXTURE_2D, 0, packed[i][0], packed[i][1]);
    errors("formats");
}

static void packing(void)
{
    start();
    for (int i = 0; i < 48; i++) {
        glPixelStorei(GL_PACK_ALIGNMENT, 1 << i % 4);
        glPixelStorei(GL_PACK_ROW_LENGTH, i % 3 == 1 ? 14 : 0);
        glPixelStorei(GL_PACK_SKIP_ROWS, i % 5 == 2 ? 3 : 0);
        glPixelStorei(GL_PACK_SKIP_PIXELS, i % 7 == 3 ? 2 : 0);
        glPixelStorei(GL_PACK_SWAP_BYTES, i / 24);
        get("packing", GL_TEXTURE_2D, 0, i % 2 ? GL_RGB : GL_RGBA, i / 12 % 2 ? GL_UNSIGNED_SHORT : GL_UNSIGNED_BYTE);
    }
    errors("packing");
}

static void targets(void)
{
    start();
    glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, 20, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 4, 3, 5, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    for (GLenum face = 0; face < 6; face++)
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, image + 10 * face);
    get("1D", GL_TEXTURE_1D, 0, GL_RGB, GL_UNSIGNED_BYTE);
    for (int i = 0; i < 8; i++) {
        glPixelStorei(GL_PACK_IMAGE_HEIGHT, i % 2 ? 6 : 0);
        glPixelStorei(GL_PACK_SKIP_IMAGES, i / 2 % 2);
        glPixelStorei(GL_PACK_ROW_LENGTH, i / 4 ? 6 : 0);
        get("3D", GL_TEXTURE_3D, 0, GL_RGB, GL_UNSIGNED_BYTE);
    }
    glPixelStorei(GL_PACK_IMAGE_HEIGHT, 0);
    glPixelStorei(GL_PACK_SKIP_IMAGES, 0);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    for (GLenum face = 0; face < 6; face++)
        get("face", GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_BGRA, GL_UNSIGNED_BYTE);
    glTexImage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 3, 0, GL_RGBA, GL_UNSIGNED_BYTE, image + 30);
    get("level 1", GL_TEXTURE_2D, 1, GL_RGBA, GL_UNSIGNED_BYTE);
    errors("targets");
    get("level 5", GL_TEXTURE_2D, 5, GL_RGBA, GL_UNSIGNED_BYTE);
    errors("a level that was never given");
    get("level -1", GL_TEXTURE_2D, -1, GL_RGBA, GL_UNSIGNED_BYTE);
    errors("level -1");
    get("proxy", GL_PROXY_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE);
    errors("a proxy");
    get("depth", GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT, GL_FLOAT);
    errors("depth of colours");
}

static void large(void)
{
    enum { size = 700 };
    size_t bytes = size * size * 4;
    unsigned char *large_image = malloc(bytes);
    no_picture();
    checkerboard(large_image, size, size, 11);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, large_image);
    memset(large_image, 0, bytes);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_BGRA, GL_UNSIGNED_BYTE, large_image);
    note_bytes("large", large_image, bytes);
    free(large_image);
    errors("large");
}

static void log_parameters(GLenum target)
{
    static const GLenum names[] = {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_TEXTURE_WRAP_R,
                                   GL_TEXTURE_MIN_LOD, GL_TEXTURE_MAX_LOD, GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_LOD_BIAS,
                                   GL_TEXTURE_COMPARE_MODE, GL_TEXTURE_COMPARE_FUNC, GL_DEPTH_TEXTURE_MODE, GL_GENERATE_MIPMAP, GL_TEXTURE_PRIORITY,
                                   GL_TEXTURE_RESIDENT};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        GLint integer = 7777;
        GLfloat number = 7777;
        glGetTexParameteriv(target, names[i], &integer);
        glGetTexParameterfv(target, names[i], &number);
        note("%04x: %d, %.9g", names[i], integer, (double)number);
    }
    GLfloat border[4];
    GLint integers[4];
    glGetTexParameterfv(target, GL_TEXTURE_BORDER_COLOR, border);
    glGetTexParameteriv(target, GL_TEXTURE_BORDER_COLOR, integers);
    note_floats("border", border, 4);
    note_ints("border", integers, 4);
    errors("parameters");
}

static void parameters(void)
{
    no_picture();
    log_parameters(GL_TEXTURE_2D);
    log_parameters(GL_TEXTURE_CUBE_MAP);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_NEAREST);
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, (const GLint[]){GL_CLAMP_TO_EDGE});
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, (const GLfloat[]){GL_MIRRORED_REPEAT});
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MIN_LOD, -2.5f);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LOD, 5);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 4);
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_PRIORITY, 0.25f);
    glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, (const GLint[]){2147483647, 0, 1 << 30, -7});
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_R_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_GREATER);
    log_parameters(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_REPEAT);
    errors("filter");
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    errors("magnifying filter");
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_NEAREST);
    errors("wrap");
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, -1);
    errors("base level");
    glTexParameteri(GL_PROXY_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    errors("proxy");
    glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_TEST, 1);
    errors("parameter");
}

static void proxies(void)
{
    no_picture();
    for (int i = 0; i < 4; i++) {
        GLint width = -1, height = -1, format = -1;
        int size = i == 3 ? 32768 : 64 << i;
        glTexImage2D(GL_PROXY_TEXTURE_2D, 0, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        glGetTexLevelParameteriv(GL_PROXY_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
        glGetTexLevelParameteriv(GL_PROXY_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &height);
        glGetTexLevelParameteriv(GL_PROXY_TEXTURE_2D, 0, GL_TEXTURE_INTERNAL_FORMAT, &format);
        note("proxy of %d: %dx%d, %04x", size, width, height, (unsigned)format);
        errors("proxy");
    }
}

CONFORM("texture_get", COMPAT, {"formats", formats}, {"packing", packing}, {"targets", targets}, {"large", large}, {"parameters", parameters},
        {"proxies", proxies})
