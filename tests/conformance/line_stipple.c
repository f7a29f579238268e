/* The stipple pattern continues along strips and loops. It restarts with each independent line. */
#include "conform.h"

#include <math.h>

static void wave(GLenum type, int count, float y)
{
    glBegin(type);
    for (int i = 0; i < count; i++) {
        float part = (float)i / (float)(count - 1);
        color_of(i / 3);
        glVertex2f(-0.95f + 1.9f * part, y + 0.08f * sinf(part * 30));
    }
    glEnd();
}

static void patterns(void)
{
    static const GLushort patterns[] = {0xFFFF, 0xAAAA, 0x00FF, 0x0101, 0x1C47, 0xF0F0, 0, 0x8001};
    glEnable(GL_LINE_STIPPLE);
    for (int i = 0; i < 8; i++) {
        glLineStipple(1 + i % 4, patterns[i]);
        wave(i % 2 ? GL_LINE_STRIP : GL_LINES, 64, -0.85f + 0.24f * (float)i);
        INTS(GL_LINE_STIPPLE_PATTERN, 1);
        INTS(GL_LINE_STIPPLE_REPEAT, 1);
    }
    glLineStipple(0, 0x1111);
    INTS(GL_LINE_STIPPLE_REPEAT, 1);
    glLineStipple(1000, 0x1111);
    INTS(GL_LINE_STIPPLE_REPEAT, 1);
}

/* The pictures show whether a pattern restarts. With 20 bytes per vertex, the long paths exceed 256
 * KiB. They stay below the half MiB at which Mesa itself cuts a run and restarts the pattern. */
#define MANY 20000

static void long_path(GLenum type, int count)
{
    glEnable(GL_LINE_STIPPLE);
    glLineStipple(3, 0x1C47);
    glBegin(type);
    for (int i = 0; i < count; i++) {
        float part = (float)i / (float)count, angle = part * 6.2831853f * 14, radius = 0.1f + 0.85f * part;
        glColor3f(1 - part, part, 1);
        glVertex2f(radius * cosf(angle), radius * sinf(angle));
    }
    glEnd();
}

static void long_strip(void)
{
    long_path(GL_LINE_STRIP, MANY);
}

static void long_loop(void)
{
    long_path(GL_LINE_LOOP, MANY);
}

static void medium_loop(void)
{
    long_path(GL_LINE_LOOP, 700);
}

static void long_lines(void)
{
    long_path(GL_LINES, MANY);
}

static void polygons_as_lines(void)
{
    glEnable(GL_LINE_STIPPLE);
    glLineStipple(2, 0x0FF5);
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        glBegin(i % 2 ? GL_POLYGON : GL_TRIANGLE_STRIP);
        for (int corner = 0; corner < 4 + i; corner++) {
            float angle = 6.2831853f * (float)corner / (float)(4 + i);
            color_of(corner);
            glVertex2f(0.9f * cosf(angle), 0.9f * sinf(angle));
        }
        glEnd();
    }
}

CONFORM("line_stipple", COMPAT, {"patterns", patterns}, {"long_strip", long_strip}, {"long_loop", long_loop}, {"medium_loop", medium_loop},
        {"long_lines", long_lines}, {"polygons_as_lines", polygons_as_lines})
