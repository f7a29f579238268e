/* glTexImage and glTexSubImage with every unpack parameter. */
#include "conform.h"

#define W 13
#define H 11

/* Bytes that differ so much that a wrong address shows in the picture. */
static unsigned char memory[1 << 16];

static void fill_memory(void)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < sizeof memory; i++) {
        state = state * 1664525u + 1013904223u;
        memory[i] = (unsigned char)(state >> 24);
    }
}

static void reset_unpack(void)
{
    static const GLenum names[] = {GL_UNPACK_SWAP_BYTES, GL_UNPACK_LSB_FIRST, GL_UNPACK_ROW_LENGTH, GL_UNPACK_IMAGE_HEIGHT, GL_UNPACK_SKIP_ROWS,
                                   GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_IMAGES};
    for (int i = 0; i < 7; i++)
        glPixelStorei(names[i], 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

static void show(int place)
{
    cell(place % 6, place / 6, 6, 6);
    square(0.9f);
}

static void start(void)
{
    fill_memory();
    glEnable(GL_TEXTURE_2D);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

static void upload(GLenum format, GLenum type)
{
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, W, H, 0, format, type, memory + 64);
}

static void alignment(void)
{
    start();
    for (int i = 0; i < 36; i++) {
        static const GLenum formats[] = {GL_RGB, GL_LUMINANCE, GL_RGBA};
        static const GLenum types[] = {GL_UNSIGNED_BYTE, GL_UNSIGNED_SHORT, GL_UNSIGNED_BYTE};
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1 << i % 4);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, i / 4 % 3 == 1 ? 17 : i / 4 % 3 == 2 ? 9 : 0); /* shorter than the image is allowed too */
        upload(formats[i / 12], types[i / 12]);
        show(i);
    }
    errors("alignment");
}

static void skips(void)
{
    start();
    for (int i = 0; i < 36; i++) {
        reset_unpack();
        glPixelStorei(GL_UNPACK_ROW_LENGTH, 20);
        glPixelStorei(GL_UNPACK_SKIP_PIXELS, i % 6);
        glPixelStorei(GL_UNPACK_SKIP_ROWS, i / 6);
        glPixelStorei(GL_UNPACK_ALIGNMENT, i % 2 ? 8 : 1);
        upload(i % 3 ? GL_RGB : GL_RGBA, i % 3 == 2 ? GL_UNSIGNED_SHORT : GL_UNSIGNED_BYTE);
        show(i);
    }
    errors("skips");
}

/* Swapping is not combined with skips, because Mesa then reads outside of the image. */
static void swapped(void)
{
    static const struct {
        GLenum format, type;
    } kinds[] = {{GL_RGBA, GL_UNSIGNED_SHORT}, {GL_RGB, GL_SHORT}, {GL_RGBA, GL_UNSIGNED_INT}, {GL_RGB, GL_INT}, {GL_RGB, GL_UNSIGNED_SHORT_5_6_5},
                 {GL_RGBA, GL_UNSIGNED_INT_8_8_8_8}, {GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV}, {GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4},
                 {GL_BGRA, GL_UNSIGNED_SHORT_1_5_5_5_REV}, {GL_RGBA, GL_UNSIGNED_BYTE}, {GL_RGBA, GL_UNSIGNED_INT_10_10_10_2},
                 {GL_LUMINANCE_ALPHA, GL_UNSIGNED_SHORT}};
    start();
    for (int i = 0; i < 36; i++) {
        reset_unpack();
        glPixelStorei(GL_UNPACK_SWAP_BYTES, i / 12 > 0);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, i / 12 == 2 ? 15 : 0);
        upload(kinds[i % 12].format, kinds[i % 12].type);
        show(i);
    }
    errors("swapped");
}

static void sub_images(void)
{
    start();
    for (int i = 0; i < 36; i++) {
        reset_unpack();
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        static unsigned char zero[16 * 16 * 4];
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, zero);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1 << i % 4);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, i / 4 % 2 ? 19 : 0);
        glPixelStorei(GL_UNPACK_SKIP_ROWS, i / 8);
        glTexSubImage2D(GL_TEXTURE_2D, 0, i % 5, i % 7, 1 + i % 11, 1 + i / 4, i % 2 ? GL_RGB : GL_BGRA, GL_UNSIGNED_BYTE, memory);
        show(i);
    }
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 5, GL_RGBA, GL_UNSIGNED_BYTE, memory);
    errors("no width");
    glTexSubImage2D(GL_TEXTURE_2D, 0, 10, 0, 7, 5, GL_RGBA, GL_UNSIGNED_BYTE, memory);
    errors("outside");
    glTexSubImage2D(GL_TEXTURE_2D, 3, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, memory);
    errors("no such level");
}

static void volumes(void)
{
    start();
    glDisable(GL_TEXTURE_2D);
    glEnable(GL_TEXTURE_3D);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    for (int i = 0; i < 36; i++) {
        reset_unpack();
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1 << i % 4);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, i % 3 == 1 ? 11 : 0);
        glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, i % 5 == 2 ? 10 : 0);
        glPixelStorei(GL_UNPACK_SKIP_IMAGES, i % 4 == 3 ? 2 : 0);
        glPixelStorei(GL_UNPACK_SKIP_ROWS, i % 7 == 6);
        glPixelStorei(GL_UNPACK_SKIP_PIXELS, i % 6 == 1 ? 2 : 0);
        glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 7, 6, 5, 0, GL_RGB, GL_UNSIGNED_BYTE, memory);
        if (i % 2)
            glTexSubImage3D(GL_TEXTURE_3D, 0, 1, 2, 1, 4, 3, 3, GL_RGB, GL_UNSIGNED_BYTE, memory + 1000);
        cell(i % 6, i / 6, 6, 6);
        glBegin(GL_QUADS);
        for (int layer = 0; layer < 5; layer++) {
            float depth = ((float)layer + 0.5f) / 5, left = -0.95f + 0.39f * (float)layer;
            glTexCoord3f(0, 0, depth);
            glVertex2f(left, -0.9f);
            glTexCoord3f(1, 0, depth);
            glVertex2f(left + 0.35f, -0.9f);
            glTexCoord3f(1, 1, depth);
            glVertex2f(left + 0.35f, 0.9f);
            glTexCoord3f(0, 1, depth);
            glVertex2f(left, 0.9f);
        }
        glEnd();
    }
    errors("volumes");
}

static void lines(void)
{
    start();
    glDisable(GL_TEXTURE_2D);
    glEnable(GL_TEXTURE_1D);
    glTexParameteri(GL_TEXTURE_1D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_1D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    for (int i = 0; i < 36; i++) {
        reset_unpack();
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1 << i % 4);
        if (i % 5 == 0) {
            glPixelStorei(GL_UNPACK_SWAP_BYTES, 1);
        } else {
            glPixelStorei(GL_UNPACK_SKIP_PIXELS, i % 7);
            glPixelStorei(GL_UNPACK_SKIP_ROWS, i % 3);
        }
        glPixelStorei(GL_UNPACK_ROW_LENGTH, i % 2 ? 21 : 0);
        glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, 19, 0, GL_RGB, i % 2 ? GL_UNSIGNED_BYTE : GL_UNSIGNED_SHORT, memory);
        if (i % 4 == 2)
            glTexSubImage1D(GL_TEXTURE_1D, 0, 3, 10, GL_RGBA, GL_UNSIGNED_BYTE, memory + 500);
        show(i);
    }
    errors("lines");
}

/* Images that are much larger than any message. */
static void large(void)
{
    enum { size = 1024 };
    unsigned char *image = malloc(size * size * 4);
    start();
    checkerboard(image, size, size, 37);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    memset(image, 128, size * size * 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, size);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 5);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 100, 200, 400, 500, GL_RGBA, GL_UNSIGNED_BYTE, image);
    square(0.95f);
    free(image);
    errors("large");
}

static void parameters(void)
{
    no_picture();
    glPixelStorei(GL_UNPACK_ALIGNMENT, 3);
    errors("alignment 3");
    glPixelStorei(GL_UNPACK_ROW_LENGTH, -1);
    errors("negative length");
    glPixelStorei(GL_UNPACK_SKIP_ROWS, -2);
    errors("negative skip");
    glPixelStorei(GL_TEXTURE_2D, 1);
    errors("parameter");
    glPixelStoref(GL_UNPACK_ROW_LENGTH, 5.4f);
    glPixelStoref(GL_UNPACK_SWAP_BYTES, 0.2f);
    INTS(GL_UNPACK_ROW_LENGTH, 1);
    INTS(GL_UNPACK_SWAP_BYTES, 1);
    INTS(GL_UNPACK_ALIGNMENT, 1);
}

CONFORM("texture_upload", COMPAT, {"alignment", alignment}, {"skips", skips}, {"swapped", swapped}, {"sub_images", sub_images},
        {"volumes", volumes}, {"lines", lines}, {"large", large}, {"parameters", parameters})
