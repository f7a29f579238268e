/* Images that are longer than any message: textures of every shape, refused images, images in
 * lists, images with generated mipmaps, and reads. */
#include "conform.h"

#define WIDTH 700
#define HEIGHT 500

static unsigned char *noise(size_t size, uint32_t seed)
{
    unsigned char *bytes = malloc(size);
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(seed >> 24);
    }
    return bytes;
}

static GLuint texture(GLenum target)
{
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(target, name);
    return name;
}

/* Logs the contents of a level. */
static void note_level(const char *what, GLenum target, int level, GLenum format, size_t size)
{
    unsigned char *back = calloc(1, size);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glGetTexImage(target, level, format, GL_UNSIGNED_BYTE, back);
    note_bytes(what, back, size);
    free(back);
    errors(what);
}

static void flat(void)
{
    static const struct {
        GLint internal;
        GLenum format, type;
        int bytes;
    } kinds[] = {{GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
                 {GL_RGB, GL_BGR, GL_UNSIGNED_BYTE, 3},
                 {GL_RGBA, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV, 4},
                 {GL_LUMINANCE, GL_LUMINANCE, GL_UNSIGNED_SHORT, 2},
                 {4, GL_RGBA, GL_SHORT, 8},
                 {GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 8},
                 {GL_R3_G3_B2, GL_RGB, GL_UNSIGNED_BYTE, 3}};
    unsigned char *bytes = noise((WIDTH + 50) * (HEIGHT + 10) * 8, 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        texture(GL_TEXTURE_2D);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
        glTexImage2D(GL_TEXTURE_2D, 0, kinds[i].internal, WIDTH, HEIGHT, 0, kinds[i].format, kinds[i].type, bytes);
        note_level("tight", GL_TEXTURE_2D, 0, GL_RGBA, WIDTH * HEIGHT * 4);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 8);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, WIDTH + 37);
        glPixelStorei(GL_UNPACK_SKIP_ROWS, 5);
        glPixelStorei(GL_UNPACK_SKIP_PIXELS, 9);
        glTexImage2D(GL_TEXTURE_2D, 0, kinds[i].internal, WIDTH, HEIGHT, 0, kinds[i].format, kinds[i].type, bytes);
        note_level("apart", GL_TEXTURE_2D, 0, GL_RGBA, WIDTH * HEIGHT * 4);
        glPixelStorei(GL_UNPACK_SKIP_ROWS, 0);
        glPixelStorei(GL_UNPACK_SKIP_PIXELS, 0);
        /* Swapping is not combined with skips, because Mesa swaps only as many bytes as the image
         * without skips has. */
        glPixelStorei(GL_UNPACK_SWAP_BYTES, 1);
        glTexImage2D(GL_TEXTURE_2D, 0, kinds[i].internal, WIDTH, HEIGHT, 0, kinds[i].format, kinds[i].type, bytes);
        note_level("swapped", GL_TEXTURE_2D, 0, GL_RGBA, WIDTH * HEIGHT * 4);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
        glPixelStorei(GL_UNPACK_SWAP_BYTES, 0);
    }
    free(bytes);
}

static void other_shapes(void)
{
    unsigned char *bytes = noise(80 * 90 * 70 * 4, 2);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    texture(GL_TEXTURE_3D);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 80, 90, 70, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    note_level("volume", GL_TEXTURE_3D, 0, GL_RGBA, 80 * 90 * 70 * 4);
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, 93);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 83);
    glPixelStorei(GL_UNPACK_SKIP_IMAGES, 2);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 80, 90, 40, 0, GL_BGRA, GL_UNSIGNED_BYTE, bytes);
    note_level("volume apart", GL_TEXTURE_3D, 0, GL_RGBA, 80 * 90 * 40 * 4);
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, 0);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glPixelStorei(GL_UNPACK_SKIP_IMAGES, 0);
    texture(GL_TEXTURE_CUBE_MAP);
    for (int face = 0; face < 6; face++)
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, 0, GL_RGB8, 300, 300, 0, GL_RGB, GL_UNSIGNED_BYTE, bytes + 1000 * face);
    for (int face = 0; face < 6; face++)
        note_level("face", GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, 0, GL_RGB, 300 * 300 * 3);
    texture(GL_TEXTURE_RECTANGLE);
    glTexImage2D(GL_TEXTURE_RECTANGLE, 0, GL_RGBA, 333, 444, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    note_level("rectangle", GL_TEXTURE_RECTANGLE, 0, GL_RGBA, 333 * 444 * 4);
    texture(GL_TEXTURE_2D_ARRAY);
    glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_RGBA8, 64, 64, 60, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    note_level("layers", GL_TEXTURE_2D_ARRAY, 0, GL_RGBA, 64 * 64 * 60 * 4);
    texture(GL_TEXTURE_1D_ARRAY);
    glTexImage2D(GL_TEXTURE_1D_ARRAY, 0, GL_RGBA8, 900, 100, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    note_level("lines", GL_TEXTURE_1D_ARRAY, 0, GL_RGBA, 900 * 100 * 4);
    texture(GL_TEXTURE_1D);
    glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA32F, 16384, 0, GL_RGBA, GL_FLOAT, bytes);
    errors("line");
    free(bytes);
}

/* Refused images leave the texture unchanged. */
static void refused(void)
{
    unsigned char *first = noise(WIDTH * HEIGHT * 4, 3), *second = noise(WIDTH * HEIGHT * 4, 4);
    texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, first);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 1, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, second);
    errors("depth as colour");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8UI, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, second);
    errors("colour as integers");
    glTexImage2D(GL_TEXTURE_2D, 0, 5, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, second);
    errors("five components");
    glTexImage2D(GL_TEXTURE_2D, -1, GL_RGBA8, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, second);
    errors("negative level");
    glTexSubImage2D(GL_TEXTURE_2D, 0, 1, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, second);
    errors("one beyond");
    glTexSubImage2D(GL_TEXTURE_2D, 1, 0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, second);
    errors("no such level");
    note_level("as it was", GL_TEXTURE_2D, 0, GL_RGBA, WIDTH * HEIGHT * 4);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 10, 20, WIDTH - 10, HEIGHT - 20, GL_RGBA, GL_UNSIGNED_BYTE, second);
    note_level("replaced", GL_TEXTURE_2D, 0, GL_RGBA, WIDTH * HEIGHT * 4);
    free(first);
    free(second);
}

static void storage(void)
{
    if (!need_extension("GL_ARB_texture_storage"))
        return;
    unsigned char *first = noise(WIDTH * HEIGHT * 4, 5), *second = noise(WIDTH * HEIGHT * 4, 6);
    texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, WIDTH, HEIGHT);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, first);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, second);
    errors("an image for storage");
    note_level("storage", GL_TEXTURE_2D, 0, GL_RGBA, WIDTH * HEIGHT * 4);
    free(first);
    free(second);
}

static void following_mipmaps(void)
{
    unsigned char *bytes = noise(512 * 512 * 4, 7);
    texture(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_GENERATE_MIPMAP, GL_TRUE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 512, 512, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    note_level("level 0", GL_TEXTURE_2D, 0, GL_RGBA, 512 * 512 * 4);
    note_level("level 3", GL_TEXTURE_2D, 3, GL_RGBA, 64 * 64 * 4);
    note_level("level 9", GL_TEXTURE_2D, 9, GL_RGBA, 4);
    free(bytes);
}

static void from_a_list(void)
{
    unsigned char *bytes = noise(WIDTH * HEIGHT * 4, 8);
    texture(GL_TEXTURE_2D);
    glNewList(3, GL_COMPILE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glEndList();
    memset(bytes, 0, WIDTH * HEIGHT * 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    note_level("before", GL_TEXTURE_2D, 0, GL_RGBA, WIDTH * HEIGHT * 4);
    glCallList(3);
    note_level("after", GL_TEXTURE_2D, 0, GL_RGBA, WIDTH * HEIGHT * 4);
    free(bytes);
}

static void proxies(void)
{
    unsigned char *bytes = noise(WIDTH * HEIGHT * 4, 9);
    GLint width;
    glTexImage2D(GL_PROXY_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glGetTexLevelParameteriv(GL_PROXY_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    note("fits: %d", width);
    glTexImage2D(GL_PROXY_TEXTURE_2D, 0, GL_RGBA8, 1 << 20, 1 << 20, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGetTexLevelParameteriv(GL_PROXY_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    note("does not: %d", width);
    errors("proxies");
    free(bytes);
}

/* Reads more pixels than fit into one answer. */
static void read_back(void)
{
    enum { side = 1500 };
    GLuint framebuffer, renderbuffer;
    GLfloat *back = calloc((side + 3) * side, 4 * sizeof *back);
    glGenFramebuffers(1, &framebuffer);
    glGenRenderbuffers(1, &renderbuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, side, side);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    glViewport(0, 0, side, side);
    for (int i = 0; i < 60; i++) {
        color_of(i);
        glRectf(-1 + (float)i / 60, -1 + (float)(i * 7 % 60) / 40, 1, 1 - (float)i / 100);
    }
    glReadPixels(0, 0, side, side, GL_RGBA, GL_FLOAT, back);
    note_bytes("floats", back, side * side * 16);
    glPixelStorei(GL_PACK_ROW_LENGTH, side + 3);
    glPixelStorei(GL_PACK_INVERT_MESA, 1);
    glReadPixels(0, 0, side, side, GL_BGRA, GL_FLOAT, back);
    note_bytes("upside down", back, (side + 3) * side * 16);
    errors("read back");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glPixelStorei(GL_PACK_INVERT_MESA, 0);
    glViewport(0, 0, SIZE, SIZE);
    free(back);
}

CONFORM("large_images", COMPAT, {"flat", flat}, {"other_shapes", other_shapes}, {"refused", refused}, {"storage", storage},
        {"following_mipmaps", following_mipmaps}, {"from_a_list", from_a_list}, {"proxies", proxies}, {"read_back", read_back})
