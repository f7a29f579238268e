/* Mipmap levels: uploaded one by one, generated, limited, biased, and incomplete; filters, wrapping
 * and borders. */
#include "conform.h"

static void floor_plane(void)
{
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glFrustum(-0.5, 0.5, -0.5, 0.5, 0.5, 50);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    glBegin(GL_QUADS);
    for (int side = -1; side <= 1; side += 2) {
        glTexCoord2f(0, 0);
        glVertex3f(-5, 0.9f * (float)side, -1);
        glTexCoord2f(8, 0);
        glVertex3f(5, 0.9f * (float)side, -1);
        glTexCoord2f(8, 30);
        glVertex3f(5, 0.9f * (float)side, -40);
        glTexCoord2f(0, 30);
        glVertex3f(-5, 0.9f * (float)side, -40);
    }
    glEnd();
}

/* Each level has a different colour. */
static void colored_levels(int size, int levels)
{
    unsigned char *image = malloc((size_t)(size * size) * 3);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (int level = 0; level < levels; level++) {
        float rgb[3];
        int side = size >> level > 1 ? size >> level : 1;
        hue((float)level / 8, rgb);
        for (int i = 0; i < side * side * 3; i++)
            image[i] = (unsigned char)(255 * rgb[i % 3] * ((i / 3 % side / 2 + i / 3 / side / 2) % 2 ? 1 : 0.6f));
        glTexImage2D(GL_TEXTURE_2D, level, GL_RGB, side, side, 0, GL_RGB, GL_UNSIGNED_BYTE, image);
    }
    free(image);
}

static const GLenum min_filters[] = {GL_NEAREST, GL_LINEAR, GL_NEAREST_MIPMAP_NEAREST, GL_LINEAR_MIPMAP_NEAREST, GL_NEAREST_MIPMAP_LINEAR,
                                     GL_LINEAR_MIPMAP_LINEAR};

static void filters(void)
{
    colored_levels(64, 7);
    glEnable(GL_TEXTURE_2D);
    for (int i = 0; i < 6; i++) {
        cell(i % 3, i / 3, 3, 2);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, (GLint)min_filters[i]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, i % 2 ? GL_LINEAR : GL_NEAREST);
        floor_plane();
    }
    errors("filters");
}

static void limits(void)
{
    colored_levels(64, 7);
    glEnable(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    for (int i = 0; i < 9; i++) {
        GLfloat value;
        cell(i % 3, i / 3, 3, 3);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, i == 1 ? 2 : 0);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, i == 2 ? 3 : 1000);
        glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MIN_LOD, i == 3 ? 2.5f : -1000);
        glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAX_LOD, i == 4 ? 1.5f : 1000);
        glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_LOD_BIAS, i == 5 ? 1.5f : 0);
        glTexEnvf(GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS, i == 6 ? -1.25f : 0);
        glGetTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_MIN_LOD, &value);
        note("least level of detail %.9g", (double)value);
        if (i == 7 && has_extension("GL_EXT_texture_filter_anisotropic"))
            glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAX_ANISOTROPY_EXT, 1);
        floor_plane();
    }
    errors("limits");
}

static void generated(void)
{
    unsigned char image[64 * 64 * 4];
    checkerboard(image, 64, 64, 3);
    glEnable(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        if (i == 0)
            glTexParameteri(GL_TEXTURE_2D, GL_GENERATE_MIPMAP, GL_TRUE);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 64, i == 3 ? 37 : 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
        if (i == 1)
            glTexSubImage2D(GL_TEXTURE_2D, 0, 8, 8, 32, 32, GL_BGRA, GL_UNSIGNED_BYTE, image);
        if (i == 1)
            glTexParameteri(GL_TEXTURE_2D, GL_GENERATE_MIPMAP, GL_FALSE);
        if (i >= 2 && has_version(3, 0))
            glGenerateMipmap(GL_TEXTURE_2D);
        floor_plane();
        for (int level = 0; level < 8; level++) {
            GLint size[2] = {-1, -1};
            glGetTexLevelParameteriv(GL_TEXTURE_2D, level, GL_TEXTURE_WIDTH, &size[0]);
            glGetTexLevelParameteriv(GL_TEXTURE_2D, level, GL_TEXTURE_HEIGHT, &size[1]);
            note("level %d is %dx%d", level, size[0], size[1]);
        }
        memset(image, 0x77, sizeof image);
        glGetTexImage(GL_TEXTURE_2D, 2, GL_RGBA, GL_UNSIGNED_BYTE, image);
        note_bytes("level 2", image, 16 * 16 * 4);
        checkerboard(image, 64, 64, 3);
    }
    errors("generated");
}

/* Drawing with an incomplete texture is the same as without a texture. */
static void incomplete(void)
{
    colored_levels(64, 4);
    glEnable(GL_TEXTURE_2D);
    glColor3f(0.3f, 0.5f, 1);
    glViewport(0, 0, SIZE / 2, SIZE);
    square(0.8f);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 3);
    glViewport(SIZE / 2, 0, SIZE / 2, SIZE);
    square(0.8f);
    errors("incomplete");
}

static void wraps(void)
{
    static const GLenum wraps[] = {GL_REPEAT, GL_CLAMP, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_BORDER, GL_MIRRORED_REPEAT};
    unsigned char image[16 * 16 * 4];
    checkerboard(image, 16, 16, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, (const float[]){1, 0.5f, 0, 1});
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    glEnable(GL_TEXTURE_2D);
    glMatrixMode(GL_TEXTURE);
    glScalef(3, 3, 1);
    glTranslatef(-0.4f, -0.4f, 0);
    glMatrixMode(GL_MODELVIEW);
    for (int i = 0; i < 25; i++) {
        GLint value;
        cell(i % 5, i / 5, 5, 5);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, (GLint)wraps[i % 5]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, (GLint)wraps[i / 5]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, i % 2 ? GL_LINEAR : GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, i % 2 ? GL_LINEAR : GL_NEAREST);
        glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, &value);
        square(0.95f);
    }
    errors("wraps");
}

static void borders(void)
{
    unsigned char image[18 * 18 * 4];
    GLint border = -1;
    checkerboard(image, 18, 18, 1);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 18, 18, 1, GL_RGBA, GL_UNSIGNED_BYTE, image);
    errors("border");
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_BORDER, &border);
    note("border %d", border);
    glTexSubImage2D(GL_TEXTURE_2D, 0, -1, -1, 3, 3, GL_RGBA, GL_UNSIGNED_BYTE, image);
    errors("part of the border");
    glEnable(GL_TEXTURE_2D);
    square(0.9f);
}

CONFORM("texture_mipmaps", COMPAT, {"filters", filters}, {"limits", limits}, {"generated", generated}, {"incomplete", incomplete},
        {"wraps", wraps}, {"borders", borders})
