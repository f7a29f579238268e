/* A large number of short runs, with and without changes of state between them. The order of all
 * commands must be kept. */
#include "conform.h"

static void tiny_quad(int index, float size)
{
    float x = -1 + 2 * (float)(index % 64) / 64, y = -1 + 2 * (float)(index / 64 % 64) / 64;
    glBegin(GL_QUADS);
    glVertex2f(x, y);
    glVertex2f(x + size, y);
    glVertex2f(x + size, y + size);
    glVertex2f(x, y + size);
    glEnd();
}

static void no_changes(void)
{
    for (int i = 0; i < 4096; i++) {
        color_of(i);
        tiny_quad(i, 0.03f);
    }
}

static void state_changes(void)
{
    static const GLenum factors[] = {GL_ONE, GL_ZERO, GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_DST_COLOR};
    for (int i = 0; i < 8192; i++) {
        if (i % 3 == 0)
            glEnable(GL_BLEND);
        if (i % 3 == 2)
            glDisable(GL_BLEND);
        glBlendFunc(factors[i % 5], factors[i / 5 % 5]);
        if (i % 7 == 0)
            glShadeModel(i % 2 ? GL_FLAT : GL_SMOOTH);
        if (i % 11 == 0)
            glColorMask(i % 2 == 0, i % 3 != 0, 1, 1);
        glColor4f((float)(i % 97) / 97, (float)(i % 89) / 89, (float)(i % 83) / 83, (float)(i % 10) / 10);
        tiny_quad(i, 0.06f);
    }
    glColorMask(1, 1, 1, 1);
}

static void matrix_changes(void)
{
    for (int i = 0; i < 4096; i++) {
        glPushMatrix();
        glTranslatef(-1 + 2 * (float)(i % 64) / 64, -1 + 2 * (float)(i / 64) / 64, 0);
        glRotatef((float)i, 0, 0, 1);
        glScalef(0.02f, 0.01f, 1);
        color_of(i);
        glBegin(GL_TRIANGLES);
        glVertex2i(-1, -1);
        glVertex2i(1, -1);
        glVertex2i(0, 1);
        glEnd();
        glPopMatrix();
    }
}

static void mixed_primitives(void)
{
    static const GLenum types[] = {GL_POINTS, GL_LINES, GL_LINE_STRIP, GL_LINE_LOOP, GL_TRIANGLES, GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN, GL_QUADS,
                                   GL_QUAD_STRIP, GL_POLYGON};
    random_seed(5);
    for (int i = 0; i < 3000; i++) {
        int count = (int)(random_bits() % 9);
        float x = random_float() * 2 - 1, y = random_float() * 2 - 1;
        glBegin(types[i % 10]);
        for (int v = 0; v < count; v++) {
            if (random_bits() % 3 == 0)
                color_of((int)(random_bits() % 64));
            glVertex2f(x + random_float() * 0.2f, y + random_float() * 0.2f);
        }
        glEnd();
    }
    FLOATS(GL_CURRENT_COLOR, 4);
}

/* Each run has other attributes than the previous one. */
static void changing_attributes(void)
{
    glEnable(GL_COLOR_SUM);
    for (int i = 0; i < 4096; i++) {
        float x = -1 + 2 * (float)(i % 64) / 64, y = -1 + 2 * (float)(i / 64) / 64;
        glBegin(GL_TRIANGLES);
        for (int v = 0; v < 3; v++) {
            if (i & 1)
                color_of(i + v);
            if (i & 2)
                glNormal3f(0, 0, 1);
            if (i & 4)
                glTexCoord2f(x, y);
            if (i & 8)
                glSecondaryColor3f(0.5f, (float)v / 3, 0);
            if (i & 16)
                glFogCoordf(1);
            if (i & 32)
                glMultiTexCoord4f(GL_TEXTURE2, 1, 2, 3, 4);
            if (i & 64)
                glEdgeFlag(GL_TRUE);
            glVertex3f(x + (v == 1 ? 0.03f : 0), y + (v == 2 ? 0.03f : 0), 0);
        }
        glEnd();
    }
    FLOATS(GL_CURRENT_COLOR, 4);
    FLOATS(GL_CURRENT_SECONDARY_COLOR, 4);
}

/* Reads back after each small run, so the stream is cut and flushed at every position. */
static void read_between(void)
{
    unsigned char pixel[4];
    unsigned sum = 0;
    for (int i = 0; i < 300; i++) {
        int index = i * 13 % 4096;
        color_of(i);
        tiny_quad(index, 0.03f);
        glReadPixels(index % 64 * 4 + 1, index / 64 * 4 + 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
        sum = sum * 31 + pixel[0] + 256u * pixel[1] + 65536u * pixel[2];
    }
    note("sum of pixels %08x", sum);
}

CONFORM("tiny_runs", COMPAT, {"no_changes", no_changes}, {"state_changes", state_changes}, {"matrix_changes", matrix_changes},
        {"mixed_primitives", mixed_primitives}, {"changing_attributes", changing_attributes}, {"read_between", read_between})
