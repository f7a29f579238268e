/* Copying from the framebuffer into textures. Some copies leave parts of the texture unchanged. */
#include "conform.h"

static void background(void)
{
    glBegin(GL_TRIANGLE_FAN);
    for (int i = 0; i < 8; i++) {
        color_of(i);
        glVertex2f((i & 3) % 3 ? 1 : -1, i & 2 ? 1 : -1);
    }
    glEnd();
    for (int i = 0; i < 16; i++) {
        color_of(i);
        glRectf(-0.9f + 0.11f * (float)i, -0.9f, -0.84f + 0.11f * (float)i, 0.9f - 0.1f * (float)i);
    }
}

static void nearest(GLenum target)
{
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
}

static void images(void)
{
    static const GLenum formats[] = {GL_RGBA, GL_RGB, GL_LUMINANCE, GL_ALPHA, GL_INTENSITY, GL_LUMINANCE_ALPHA, GL_RGB5, GL_RGBA4, GL_RGB8};
    GLuint names[9];
    background();
    glGenTextures(9, names);
    for (int i = 0; i < 9; i++) {
        glBindTexture(GL_TEXTURE_2D, names[i]);
        nearest(GL_TEXTURE_2D);
        glCopyTexImage2D(GL_TEXTURE_2D, 0, formats[i], 16 * i, 10 * i, 64, 48, 0);
    }
    errors("glCopyTexImage2D");
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_TEXTURE_2D);
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        glBindTexture(GL_TEXTURE_2D, names[i]);
        square(0.9f);
    }
}

static void parts(void)
{
    unsigned char image[64 * 64 * 4];
    background();
    memset(image, 100, sizeof image);
    nearest(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 5, 6, 40, 50, 30, 20);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 20, 40, 240, 200, 16, 20);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 45, 30, 0, 0, 10, 10);
    errors("glCopyTexSubImage2D");
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_TEXTURE_2D);
    square(0.9f);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 60, 0, 0, 0, 10, 10);
    errors("outside the texture");
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 0, 0, -1, 10, 0);
    errors("negative size");
}

static void other_dimensions(void)
{
    GLuint names[2];
    unsigned char image[16 * 16 * 8 * 4];
    background();
    memset(image, 60, sizeof image);
    glGenTextures(2, names);
    glBindTexture(GL_TEXTURE_1D, names[0]);
    nearest(GL_TEXTURE_1D);
    glCopyTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA, 3, 100, 128, 0);
    glCopyTexSubImage1D(GL_TEXTURE_1D, 0, 30, 20, 30, 40);
    glBindTexture(GL_TEXTURE_3D, names[1]);
    nearest(GL_TEXTURE_3D);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA, 16, 16, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    for (int layer = 0; layer < 8; layer += 2)
        glCopyTexSubImage3D(GL_TEXTURE_3D, 0, layer, 2, layer, 20 * layer, 60, 8, 12);
    errors("copies");
    glClear(GL_COLOR_BUFFER_BIT);
    glViewport(0, 0, SIZE, SIZE / 2);
    glEnable(GL_TEXTURE_1D);
    square(0.9f);
    glDisable(GL_TEXTURE_1D);
    glEnable(GL_TEXTURE_3D);
    for (int layer = 0; layer < 8; layer++) {
        glViewport(layer * 32, SIZE / 2, 30, SIZE / 2);
        glMatrixMode(GL_TEXTURE);
        glLoadIdentity();
        glTranslatef(0, 0, ((float)layer + 0.5f) / 8);
        glMatrixMode(GL_MODELVIEW);
        square(0.9f);
    }
}

static void depth_while_reading(GLenum buffer)
{
    glEnable(GL_DEPTH_TEST);
    for (int i = 0; i < 8; i++) {
        glPushMatrix();
        glTranslatef(-0.8f + 0.2f * (float)i, 0, 0.9f - 0.2f * (float)i);
        square(0.3f);
        glPopMatrix();
    }
    nearest(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_TEXTURE_MODE, GL_LUMINANCE);
    glReadBuffer(buffer);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, 0, 0, 256, 256, 0);
    errors("depth");
    glReadBuffer(GL_BACK);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_TEXTURE_2D);
    square(0.95f);
    glViewport(0, 0, 64, 64);
    glDisable(GL_DEPTH_TEST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_R_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_GEQUAL);
    glMatrixMode(GL_TEXTURE);
    glTranslatef(0, 0, 0.5f);
    square(0.95f);
}

static void depth(void)
{
    depth_while_reading(GL_BACK);
}

/* Depth is copied independently of the read buffer for colours. */
static void depth_alone(void)
{
    depth_while_reading(GL_NONE);
}

/* Draw, copy, draw with the copy, copy the result: this tests the order of commands in the
 * stream. */
static void feedback(void)
{
    background();
    nearest(GL_TEXTURE_2D);
    glEnable(GL_TEXTURE_2D);
    for (int i = 0; i < 12; i++) {
        glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, i * 3, i * 2, 200, 180, 0);
        glPushMatrix();
        glRotatef(15 * (float)i, 0, 0, 1);
        square(0.6f);
        glPopMatrix();
    }
}

CONFORM("texture_copy", COMPAT, {"images", images}, {"parts", parts}, {"other_dimensions", other_dimensions}, {"depth", depth},
        {"depth_alone", depth_alone}, {"feedback", feedback})
