/* Points: sizes, smoothing, attenuation and sprites. Lines: widths and smoothing. */
#include "conform.h"

#include <math.h>

static void row_of_points(float y)
{
    glBegin(GL_POINTS);
    for (int i = 0; i < 10; i++) {
        color_of(i);
        glVertex3f(-0.9f + 0.2f * (float)i, y, -(float)i / 11);
    }
    glEnd();
}

static void sizes(void)
{
    for (int i = 0; i < 16; i++) {
        glPointSize(0.5f + (float)i * 1.3f);
        row_of_points(-0.95f + 0.125f * (float)i);
        FLOATS(GL_POINT_SIZE, 1);
    }
    INTS(GL_POINT_SIZE, 1);
    glPointSize(0);
    errors("size 0");
    glPointSize(-1);
    errors("negative size");
}

static void smooth(void)
{
    glEnable(GL_POINT_SMOOTH);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    sizes();
    ENABLED(GL_POINT_SMOOTH);
}

static void attenuation(void)
{
    glMatrixMode(GL_PROJECTION);
    glOrtho(-1, 1, -1, 1, -1, 5);
    glMatrixMode(GL_MODELVIEW);
    glScalef(1, 1, 3.6f);
    glPointSize(12);
    for (int i = 0; i < 6; i++) {
        glPointParameterfv(GL_POINT_DISTANCE_ATTENUATION, (const float[]){i == 0, i % 2 ? 0.7f : 0, i >= 2 ? 0.5f : 0.1f});
        glPointParameterf(GL_POINT_SIZE_MIN, i == 4 ? 5 : 1);
        glPointParameterf(GL_POINT_SIZE_MAX, i == 5 ? 8 : 64);
        row_of_points(-0.8f + 0.3f * (float)i);
    }
    FLOATS(GL_POINT_DISTANCE_ATTENUATION, 3);
    FLOATS(GL_POINT_SIZE_MIN, 1);
    FLOATS(GL_POINT_SIZE_MAX, 1);
    glPointParameteri(GL_POINT_FADE_THRESHOLD_SIZE, 3);
    FLOATS(GL_POINT_FADE_THRESHOLD_SIZE, 1);
    glPointParameterf(GL_POINT_SIZE_MIN, -1);
    errors("negative minimum");
    glPointParameteri(GL_POINT_SIZE, 1);
    errors("parameter");
}

static void sprites(void)
{
    unsigned char image[16 * 16 * 4];
    if (!need_version(2, 0))
        return;
    checkerboard(image, 16, 16, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glEnable(GL_TEXTURE_2D);
    glEnable(GL_POINT_SPRITE);
    for (int i = 0; i < 4; i++) {
        GLint replaced = 7;
        glPointSize(16 + 4 * (float)i);
        glTexEnvi(GL_POINT_SPRITE, GL_COORD_REPLACE, i != 2);
        glGetTexEnviv(GL_POINT_SPRITE, GL_COORD_REPLACE, &replaced);
        glPointParameteri(GL_POINT_SPRITE_COORD_ORIGIN, i % 2 ? GL_LOWER_LEFT : GL_UPPER_LEFT);
        row_of_points(-0.8f + 0.5f * (float)i);
        note("replaced: %d", replaced);
        INTS(GL_POINT_SPRITE_COORD_ORIGIN, 1);
    }
    ENABLED(GL_POINT_SPRITE);
}

static void sizes_from_shaders(void)
{
    if (!need_version(2, 1))
        return;
    glUseProgram(build_program("void main() { gl_Position = gl_Vertex; gl_FrontColor = gl_Color; gl_PointSize = 3.0 + 20.0 * abs(gl_Vertex.x); }",
                               "#version 120\nvoid main() { gl_FragColor = gl_Color * vec4(gl_PointCoord, 1.0, 1.0); }"));
    glEnable(GL_VERTEX_PROGRAM_POINT_SIZE);
    glEnable(GL_POINT_SPRITE);
    glScalef(1, 1, 0.1f);
    for (int i = 0; i < 5; i++)
        row_of_points(-0.8f + 0.4f * (float)i);
    ENABLED(GL_VERTEX_PROGRAM_POINT_SIZE);
}

static void star(void)
{
    glBegin(GL_LINES);
    for (int i = 0; i < 24; i++) {
        float angle = (float)i * 0.2618f;
        color_of(i);
        glVertex2f(0.15f * cosf(angle), 0.15f * sinf(angle));
        glVertex2f(0.9f * cosf(angle), 0.9f * sinf(angle));
    }
    glEnd();
}

static void widths(void)
{
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        glLineWidth(0.3f + (float)i * 0.8f);
        star();
        FLOATS(GL_LINE_WIDTH, 1);
    }
    glLineWidth(0);
    errors("width 0");
}

static void smooth_lines(void)
{
    glEnable(GL_LINE_SMOOTH);
    glHint(GL_LINE_SMOOTH_HINT, GL_NICEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    widths();
    ENABLED(GL_LINE_SMOOTH);
    INTS(GL_LINE_SMOOTH_HINT, 1);
}

static void smooth_stippled(void)
{
    glEnable(GL_LINE_STIPPLE);
    glLineStipple(2, 0x3F07);
    smooth_lines();
}

CONFORM("points_and_lines", COMPAT, {"sizes", sizes}, {"smooth", smooth}, {"attenuation", attenuation}, {"sprites", sprites},
        {"sizes_from_shaders", sizes_from_shaders}, {"widths", widths}, {"smooth_lines", smooth_lines}, {"smooth_stippled", smooth_stippled})
