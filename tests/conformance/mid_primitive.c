/* Attributes that are first set in the middle of a run, and the current values after the run. */
#include "conform.h"

static void log_current(void)
{
    FLOATS(GL_CURRENT_COLOR, 4);
    FLOATS(GL_CURRENT_SECONDARY_COLOR, 4);
    FLOATS(GL_CURRENT_NORMAL, 3);
    FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);
    FLOATS(GL_CURRENT_FOG_COORD, 1);
    BOOLS(GL_EDGE_FLAG, 1);
}

static void triangle(float x, float y, float size)
{
    glVertex2f(x - size, y - size);
    glVertex2f(x + size, y - size);
    glVertex2f(x, y + size);
}

static void color_from_the_middle(void)
{
    glColor3f(0.2f, 0.2f, 1);
    glBegin(GL_TRIANGLES);
    triangle(-0.6f, -0.5f, 0.3f);
    glVertex2f(-0.3f, -0.8f);
    glColor3f(1, 0.5f, 0);
    glVertex2f(0.3f, -0.8f);
    glVertex2f(0, -0.2f);
    triangle(0.6f, -0.5f, 0.3f);
    glColor4f(0, 1, 0, 0.5f);
    triangle(-0.6f, 0.5f, 0.3f);
    glColor3ub(255, 0, 255);
    glEnd();
    log_current();
    glBegin(GL_TRIANGLES);
    triangle(0.6f, 0.5f, 0.3f);
    glEnd();
    log_current();
}

/* Attributes are added one after the other, so the layout of a vertex grows five times. */
static void growing_vertices(void)
{
    static const unsigned char texture[] = {255, 255, 255, 90, 90, 90, 90, 90, 90, 255, 255, 255};
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, 2, 2, 0, GL_RGB, GL_UNSIGNED_BYTE, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glEnable(GL_TEXTURE_2D);
    glEnable(GL_COLOR_SUM);
    glEnable(GL_FOG);
    glFogi(GL_FOG_MODE, GL_LINEAR);
    glFogi(GL_FOG_COORD_SRC, GL_FOG_COORD);
    glBegin(GL_QUADS);
    for (int i = 0; i < 64; i++) {
        int column = i / 4 % 4, row = i / 16, corner = i % 4;
        if (i >= 9)
            glTexCoord2f(corner == 1 || corner == 2 ? 2 : 0, corner >= 2 ? 2 : 0);
        if (i >= 18)
            glColor3f(1, (float)column / 3, (float)row / 3);
        if (i >= 27)
            glSecondaryColor3f(0, 0.3f, 0);
        if (i >= 38)
            glFogCoordf((float)corner / 6);
        if (i >= 45)
            glTexCoord4f((float)corner, 1, 0, 2);
        if (i >= 53)
            glNormal3f(0, 1, 0);
        glVertex2f(-0.95f + (float)column * 0.48f + (corner == 1 || corner == 2 ? 0.45f : 0), -0.95f + (float)row * 0.48f + (corner >= 2 ? 0.45f : 0));
    }
    glEnd();
    log_current();
}

/* The run is so long that its beginning has been sent before the colour is first set. */
static void late_in_a_long_run(void)
{
    glColor3f(0, 1, 1);
    glBegin(GL_QUADS);
    for (int i = 0; i < 80000; i++) {
        int index = i / 4, corner = i % 4;
        float x = -1 + (float)(index % 160) / 80, y = -1 + (float)(index / 160) / 62.5f;
        if (i == 50002)
            glColor3f(1, 0, 0);
        if (i == 60001)
            glTexCoord2f(1, 2);
        glVertex2f(x + (corner == 1 || corner == 2 ? 0.012f : 0), y + (corner >= 2 ? 0.015f : 0));
    }
    glEnd();
    log_current();
}

/* Values after the last vertex become current. They apply to the next run and to other drawing. */
static void left_over(void)
{
    glBegin(GL_POINTS);
    glColor3f(1, 0, 0);
    glVertex2f(0, 0);
    glColor3f(0, 0.5f, 1);
    glNormal3f(1, 2, 3);
    glTexCoord3f(4, 5, 6);
    glMultiTexCoord2f(GL_TEXTURE3, 7, 8);
    glFogCoordf(9);
    glSecondaryColor3f(0.1f, 0.2f, 0.3f);
    glEdgeFlag(GL_FALSE);
    glEnd();
    log_current();
    glActiveTexture(GL_TEXTURE3);
    FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);
    glActiveTexture(GL_TEXTURE0);
    glRectf(-0.8f, -0.8f, -0.2f, 0.8f);
    glPushAttrib(GL_CURRENT_BIT);
    glBegin(GL_QUADS);
    glColor3f(1, 1, 0);
    glEnd();
    log_current();
    glPopAttrib();
    log_current();
    glRectf(0.2f, -0.8f, 0.8f, 0.8f);
}

/* Attributes that are set outside of runs apply inside them, and the reverse. */
static void between_runs(void)
{
    for (int i = 0; i < 12; i++) {
        cell(i % 4, i / 4, 4, 3);
        if (i % 2)
            color_of(i);
        glBegin(GL_TRIANGLE_FAN);
        if (i % 3 == 0)
            color_of(i + 40);
        glVertex2f(0, 0);
        for (int corner = 0; corner < 5; corner++) {
            if (i % 4 == 2)
                color_of(corner);
            glVertex2f(corner % 3 ? 0.8f : -0.8f, corner % 4 < 2 ? -0.8f : 0.8f);
        }
        glEnd();
        FLOATS(GL_CURRENT_COLOR, 4);
    }
}

CONFORM("mid_primitive", COMPAT, {"color", color_from_the_middle}, {"growing_vertices", growing_vertices}, {"late_in_a_long_run", late_in_a_long_run},
        {"left_over", left_over}, {"between_runs", between_runs})
