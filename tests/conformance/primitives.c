/* Each primitive type of glBegin: complete, with extra vertices, with too few vertices, and
 * empty. */
#include "conform.h"

#include <math.h>

static const GLenum types[] = {GL_POINTS, GL_LINES, GL_LINE_STRIP, GL_LINE_LOOP, GL_TRIANGLES, GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN, GL_QUADS, GL_QUAD_STRIP,
                               GL_POLYGON};

/* Vertex `index` of `count` on a circle. In strips, the vertices alternate between an inner and an
 * outer circle. */
static void vertex(GLenum type, int index, int count)
{
    bool strip = type == GL_TRIANGLE_STRIP || type == GL_QUAD_STRIP;
    float angle = 6.2831853f * (float)(strip ? index / 2 : index) / (float)(strip ? (count + 1) / 2 : count ? count : 1);
    float radius = strip && index % 2 ? 0.4f : 0.9f;
    color_of(index);
    glVertex2f(radius * cosf(angle), radius * sinf(angle));
}

static void grid(int base)
{
    glPointSize(5);
    for (int row = 0; row < 10; row++) {
        for (int column = 0; column < 8; column++) {
            int count = base + column;
            cell(column, row, 8, 10);
            glBegin(types[row]);
            for (int i = 0; i < count; i++)
                vertex(types[row], i, count);
            glEnd();
        }
    }
}

static void short_ones(void)
{
    grid(0);
}

static void whole(void)
{
    grid(6);
}

static void clockwise_and_culled(void)
{
    glEnable(GL_CULL_FACE);
    glFrontFace(GL_CW);
    grid(4);
    errors("culling");
}

static void two_sides(void)
{
    static const float front[] = {0.2f, 0.8f, 0.2f, 1}, back[] = {0.8f, 0.2f, 0.2f, 1};
    glEnable(GL_LIGHTING);
    glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 1);
    glMaterialfv(GL_FRONT, GL_EMISSION, front);
    glMaterialfv(GL_BACK, GL_EMISSION, back);
    grid(3);
}

static void invalid_types(void)
{
    glBegin(GL_POLYGON + 100);
    glVertex2f(0, 0);
    errors("glBegin of no primitive");
    glBegin((GLenum)-1);
    errors("glBegin of -1");
    glEnd();
    errors("glEnd without glBegin");
    glBegin(GL_TRIANGLES);
    glEnd();
    errors("empty triangles");
}

CONFORM("primitives", COMPAT, {"short", short_ones}, {"whole", whole}, {"culled", clockwise_and_culled}, {"two_sides", two_sides},
        {"invalid_types", invalid_types})
