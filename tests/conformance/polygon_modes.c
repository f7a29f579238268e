/* Filled, outlined and dotted polygons; edge flags. */
#include "conform.h"

#include <math.h>

static const GLenum types[] = {GL_TRIANGLES, GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN, GL_QUADS, GL_QUAD_STRIP, GL_POLYGON};

static void shape(GLenum type, int count, int hidden_edges)
{
    bool strip = type == GL_TRIANGLE_STRIP || type == GL_QUAD_STRIP;
    glBegin(type);
    for (int i = 0; i < count; i++) {
        float angle = 6.2831853f * (float)(strip ? i / 2 : i) / (float)(strip ? count / 2 : count), radius = strip && i % 2 ? 0.4f : 0.9f;
        if (hidden_edges)
            glEdgeFlag((GLboolean)(hidden_edges >> i % 8 & 1));
        color_of(i);
        glVertex2f(radius * cosf(angle), radius * sinf(angle));
    }
    glEnd();
}

static void modes(void)
{
    static const GLenum modes[] = {GL_FILL, GL_LINE, GL_POINT};
    glPointSize(3);
    for (int row = 0; row < 6; row++) {
        for (int column = 0; column < 6; column++) {
            cell(column, row, 6, 6);
            glPolygonMode(GL_FRONT, modes[column % 3]);
            glPolygonMode(GL_BACK, modes[column / 2]);
            shape(types[row], 12, 0);
        }
    }
    INTS(GL_POLYGON_MODE, 2);
}

static void edge_flags(void)
{
    static const int hidden[] = {0xFF, 0xAA, 0x55, 0xB6, 0x0F, 0x01};
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    for (int row = 0; row < 6; row++) {
        for (int column = 0; column < 6; column++) {
            cell(column, row, 6, 6);
            shape(types[row], 12, hidden[column]);
        }
    }
    BOOLS(GL_EDGE_FLAG, 1);
}

/* An edge flag that is first set in the middle of a run applies only to the vertices after it. */
static void edge_flag_late(void)
{
    static const GLboolean off = GL_FALSE, on = GL_TRUE;
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    glBegin(GL_QUADS);
    for (int i = 0; i < 24; i++) {
        if (i == 6)
            glEdgeFlagv(&off);
        if (i == 15)
            glEdgeFlagv(&on);
        glVertex2f(-0.9f + (float)(i / 4) * 0.3f + (i % 4 == 1 || i % 4 == 2 ? 0.25f : 0), i % 4 < 2 ? -0.5f : 0.5f);
    }
    glEdgeFlag(GL_FALSE);
    glEnd();
    BOOLS(GL_EDGE_FLAG, 1);
}

/* A long polygon is cut into pieces, which must not add edges. With 20 bytes per vertex, these
 * polygons exceed 256 KiB. They stay below the half MiB at which Mesa itself cuts polygons, and
 * draws such edges. */
#define MANY 20000

static void long_shape(GLenum type, GLenum mode, int count)
{
    glPolygonMode(GL_FRONT_AND_BACK, mode);
    glBegin(type);
    for (int i = 0; i < count; i++) {
        float part = (float)i / (float)count, angle = part * 6.2831853f, radius = 0.9f + 0.05f * sinf(angle * 9);
        bool inner = (type == GL_TRIANGLE_STRIP || type == GL_QUAD_STRIP) && i % 2;
        glColor3f(part, 1 - part, 1);
        glVertex2f(radius * (inner ? 0.6f : 1) * cosf(angle), radius * (inner ? 0.6f : 1) * sinf(angle));
    }
    glEnd();
}

static void long_polygon_lines(void)
{
    long_shape(GL_POLYGON, GL_LINE, MANY);
}

static void long_polygon_points(void)
{
    long_shape(GL_POLYGON, GL_POINT, MANY);
}

static void long_fan_lines(void)
{
    long_shape(GL_TRIANGLE_FAN, GL_LINE, MANY);
}

static void long_strip_lines(void)
{
    long_shape(GL_TRIANGLE_STRIP, GL_LINE, MANY + 1);
}

static void long_quad_strip_lines(void)
{
    long_shape(GL_QUAD_STRIP, GL_LINE, MANY + 2);
}

static void long_edge_flags(void)
{
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    glBegin(GL_POLYGON);
    for (int i = 0; i < MANY; i++) {
        float angle = (float)i / MANY * 6.2831853f;
        glEdgeFlag(i / 2000 % 2 == 0);
        glVertex2f(0.9f * cosf(angle), 0.9f * sinf(angle));
    }
    glEnd();
}

CONFORM("polygon_modes", COMPAT, {"modes", modes}, {"edge_flags", edge_flags}, {"edge_flag_late", edge_flag_late},
        {"long_polygon_lines", long_polygon_lines}, {"long_polygon_points", long_polygon_points}, {"long_fan_lines", long_fan_lines},
        {"long_strip_lines", long_strip_lines}, {"long_quad_strip_lines", long_quad_strip_lines}, {"long_edge_flags", long_edge_flags})
