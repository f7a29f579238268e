/* Which corner gives a flat primitive its colour, for all primitives and both conventions. */
#include "conform.h"

#include <math.h>

static const GLenum types[] = {GL_LINES, GL_LINE_STRIP, GL_LINE_LOOP, GL_TRIANGLES, GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN, GL_QUADS, GL_QUAD_STRIP, GL_POLYGON};

static void grid(void)
{
    glShadeModel(GL_FLAT);
    for (int row = 0; row < 9; row++) {
        for (int column = 0; column < 6; column++) {
            int count = 4 + column;
            bool strip = types[row] == GL_TRIANGLE_STRIP || types[row] == GL_QUAD_STRIP;
            cell(column, row, 6, 9);
            glBegin(types[row]);
            for (int i = 0; i < count; i++) {
                float angle = 6.2831853f * (float)(strip ? i / 2 : i) / (float)(strip ? count / 2 + 1 : count), radius = strip && i % 2 ? 0.3f : 0.9f;
                color_of(i);
                glVertex2f(radius * cosf(angle), radius * sinf(angle));
            }
            glEnd();
        }
    }
}

static void last_vertex(void)
{
    grid();
    INTS(GL_SHADE_MODEL, 1);
}

static void first_vertex(void)
{
    if (!need_version(3, 2))
        return;
    glProvokingVertex(GL_FIRST_VERTEX_CONVENTION);
    INTS(GL_PROVOKING_VERTEX, 1);
    BOOLS(GL_QUADS_FOLLOW_PROVOKING_VERTEX_CONVENTION, 1);
    grid();
    errors("glProvokingVertex");
}

static void long_first_vertex(void)
{
    if (!need_version(3, 2))
        return;
    glProvokingVertex(GL_FIRST_VERTEX_CONVENTION);
    glShadeModel(GL_FLAT);
    static const GLenum longs[] = {GL_TRIANGLE_STRIP, GL_QUAD_STRIP, GL_TRIANGLE_FAN, GL_POLYGON};
    for (int shape = 0; shape < 4; shape++) {
        cell(shape % 2, shape / 2, 2, 2);
        glBegin(longs[shape]);
        for (int i = 0; i < 20001; i++) {
            float angle = (float)i / 20001 * 6.2831853f, radius = shape < 2 && i % 2 ? 0.4f : 0.9f;
            color_of(i / 50);
            glVertex2f(radius * cosf(angle), radius * sinf(angle));
        }
        glEnd();
    }
}

CONFORM("flat_shading", COMPAT, {"last_vertex", last_vertex}, {"first_vertex", first_vertex}, {"long_first_vertex", long_first_vertex})
