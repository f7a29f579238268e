/* Runs of many thousand vertices between one glBegin and glEnd. No buffer of ordinary size holds
 * such a run. */
#include "conform.h"

#include <math.h>

#define MANY 60000

/* Points along a spiral that fills the window. Every vertex has its own position and colour. */
static void spiral(int index, int count, float inner)
{
    float part = (float)index / (float)count, angle = part * 6.2831853f * 40, radius = (0.05f + 0.9f * part) * inner;
    glColor3f(part, 0.5f + 0.5f * sinf(angle), 1 - part);
    glVertex2f(radius * cosf(angle), radius * sinf(angle));
}

static void run(GLenum type, int count)
{
    glBegin(type);
    for (int i = 0; i < count; i++)
        spiral(i, count, 1);
    glEnd();
}

static void points(void)
{
    run(GL_POINTS, MANY + 1);
}

static void lines(void)
{
    run(GL_LINES, MANY + 1);
}

static void line_strip(void)
{
    run(GL_LINE_STRIP, MANY + 1);
}

static void line_loop(void)
{
    run(GL_LINE_LOOP, MANY + 3);
}

static void line_loop_flat(void)
{
    glShadeModel(GL_FLAT);
    run(GL_LINE_LOOP, MANY + 7);
}

static void triangles(void)
{
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < MANY + 2; i++)
        spiral(i * 5 / 3, MANY * 5 / 3 + 4, 1 - (float)(i % 3) * 0.04f);
    glEnd();
}

/* A ribbon along the spiral, with alternating inner and outer vertices. */
static void ribbon(GLenum type, int count)
{
    glBegin(type);
    for (int i = 0; i < count; i++)
        spiral(i / 2, count / 2 + 1, i % 2 ? 0.99f : 1);
    glEnd();
}

static void triangle_strip(void)
{
    ribbon(GL_TRIANGLE_STRIP, MANY + 1);
}

/* Facing, culling and provoking vertices depend on whether the number of a triangle in its strip is
 * even or odd. */
static void triangle_strip_flat_culled(void)
{
    glShadeModel(GL_FLAT);
    glEnable(GL_CULL_FACE);
    glCullFace(GL_FRONT);
    ribbon(GL_TRIANGLE_STRIP, MANY + 1);
}

static void two_sided_strip(void)
{
    static const float front[] = {0.2f, 0.8f, 0.2f, 1}, back[] = {0.8f, 0.2f, 0.2f, 1};
    glEnable(GL_LIGHTING);
    glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 1);
    glMaterialfv(GL_FRONT, GL_EMISSION, front);
    glMaterialfv(GL_BACK, GL_EMISSION, back);
    glTranslatef(-0.5f, 0, 0);
    glScalef(0.5f, 1, 1);
    ribbon(GL_TRIANGLE_STRIP, MANY + 1);
    glTranslatef(2, 0, 0);
    glScalef(-1, 1, 1);
    ribbon(GL_TRIANGLE_STRIP, MANY + 1);
}

static void quads(void)
{
    glBegin(GL_QUADS);
    for (int i = 0; i < MANY + 3; i++)
        spiral(i / 4 * 4 + (i % 4 == 1 || i % 4 == 2) * 3, MANY + 8, i % 4 >= 2 ? 0.98f : 1);
    glEnd();
}

static void quad_strip(void)
{
    ribbon(GL_QUAD_STRIP, MANY + 1);
}

static void quad_strip_flat(void)
{
    glShadeModel(GL_FLAT);
    ribbon(GL_QUAD_STRIP, MANY + 3);
}

static void round_shape(GLenum type)
{
    glBegin(type);
    for (int i = 0; i < MANY; i++) {
        float part = (float)i / MANY, angle = part * 6.2831853f, radius = 0.9f + 0.03f * sinf(angle * 60);
        glColor3f(part, 1 - part, 0.5f + 0.5f * cosf(angle * 7));
        glVertex2f(radius * cosf(angle), radius * sinf(angle));
    }
    glEnd();
}

static void triangle_fan(void)
{
    round_shape(GL_TRIANGLE_FAN);
}

static void triangle_fan_flat(void)
{
    glShadeModel(GL_FLAT);
    round_shape(GL_TRIANGLE_FAN);
}

static void polygon(void)
{
    round_shape(GL_POLYGON);
}

static void polygon_flat(void)
{
    glShadeModel(GL_FLAT);
    round_shape(GL_POLYGON);
}

/* Large vertices, with all attributes that fixed function can use. */
static void many_attributes(void)
{
    glEnable(GL_COLOR_SUM);
    glEnable(GL_FOG);
    glFogi(GL_FOG_MODE, GL_LINEAR);
    glFogi(GL_FOG_COORD_SRC, GL_FOG_COORD);
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 30001; i++) {
        glNormal3f(0, 0, 1);
        for (GLenum unit = 0; unit < 8; unit++)
            glMultiTexCoord4f(GL_TEXTURE0 + unit, (float)i, (float)unit, 0, 1);
        glSecondaryColor3f(0, (float)(i % 1000) / 1000, 0);
        glFogCoordf((float)(i % 3000) / 3000);
        spiral(i / 2, 15001, i % 2 ? 0.97f : 1);
    }
    glEnd();
    FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);
    FLOATS(GL_CURRENT_COLOR, 4);
    FLOATS(GL_CURRENT_SECONDARY_COLOR, 4);
    FLOATS(GL_CURRENT_FOG_COORD, 1);
}

/* A run of two million vertices. It does not fit into any buffer, and the colour must still be
 * right at its end. */
static void very_long(void)
{
    run(GL_LINE_STRIP, 2000000);
    FLOATS(GL_CURRENT_COLOR, 4);
}

CONFORM("long_runs", COMPAT, {"points", points}, {"lines", lines}, {"line_strip", line_strip}, {"line_loop", line_loop},
        {"line_loop_flat", line_loop_flat}, {"triangles", triangles}, {"triangle_strip", triangle_strip},
        {"triangle_strip_flat_culled", triangle_strip_flat_culled}, {"two_sided_strip", two_sided_strip}, {"quads", quads},
        {"quad_strip", quad_strip}, {"quad_strip_flat", quad_strip_flat}, {"triangle_fan", triangle_fan}, {"triangle_fan_flat", triangle_fan_flat},
        {"polygon", polygon}, {"polygon_flat", polygon_flat}, {"many_attributes", many_attributes}, {"very_long", very_long})
