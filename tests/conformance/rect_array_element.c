/* All variants of glRect, and glArrayElement from many kinds of arrays. */
#include "conform.h"

static void rectangles(void)
{
    pixel_projection();
    color_of(1);
    glRectf(10.5f, 10.5f, 60, 40);
    color_of(2);
    glRectd(70.25, 10, 120, 40.75);
    color_of(3);
    glRecti(130, 10, 180, 40);
    color_of(4);
    glRects(190, 10, 240, 40);
    color_of(5);
    glRectfv((const GLfloat[]){10, 60}, (const GLfloat[]){60, 90});
    color_of(6);
    glRectdv((const GLdouble[]){70, 60}, (const GLdouble[]){120, 90});
    color_of(7);
    glRectiv((const GLint[]){130, 60}, (const GLint[]){180, 90});
    color_of(8);
    glRectsv((const GLshort[]){190, 60}, (const GLshort[]){240, 90});
    glEnable(GL_CULL_FACE);
    color_of(9);
    glRecti(10, 110, 60, 140);
    color_of(10);
    glRecti(70, 140, 120, 110); /* clockwise: culled */
    color_of(11);
    glRecti(180, 140, 130, 110);
    glDisable(GL_CULL_FACE);
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    glEdgeFlag(GL_FALSE);
    glRecti(190, 110, 240, 140);
    errors("glRect");
    FLOATS(GL_CURRENT_COLOR, 4);
    BOOLS(GL_EDGE_FLAG, 1);
}

static void rectangle_in_run(void)
{
    no_picture();
    glBegin(GL_TRIANGLES);
    glRectf(0, 0, 1, 1);
    glEnd();
    errors("glRect between glBegin and glEnd");
}

struct element {
    GLfloat position[2];
    GLubyte color[4];
    GLshort normal[3], unused;
    GLdouble texture[2];
    GLboolean edge;
};

static struct element elements[64];

static void fill(void)
{
    for (int i = 0; i < 64; i++) {
        float rgb[3];
        hue((float)i / 64, rgb);
        elements[i] = (struct element){{-0.9f + 0.12f * (float)(i / 4), i % 2 ? 0.7f : -0.7f},
                                       {(GLubyte)(rgb[0] * 255), (GLubyte)(rgb[1] * 255), (GLubyte)(rgb[2] * 255), 255},
                                       {0, (GLshort)(i * 500), 32767},
                                       0,
                                       {i * 0.5, -i},
                                       (GLboolean)(i % 2)};
        elements[i].position[0] += i % 4 == 1 || i % 4 == 2 ? 0.09f : 0;
        elements[i].position[1] = i % 4 < 2 ? -0.7f : 0.7f;
    }
    glVertexPointer(2, GL_FLOAT, sizeof *elements, elements[0].position);
    glColorPointer(4, GL_UNSIGNED_BYTE, sizeof *elements, elements[0].color);
    glNormalPointer(GL_SHORT, sizeof *elements, elements[0].normal);
    glTexCoordPointer(2, GL_DOUBLE, sizeof *elements, elements[0].texture);
    glEdgeFlagPointer(sizeof *elements, &elements[0].edge);
    glEnableClientState(GL_COLOR_ARRAY);
    glEnableClientState(GL_NORMAL_ARRAY);
    glEnableClientState(GL_TEXTURE_COORD_ARRAY);
    glEnableClientState(GL_EDGE_FLAG_ARRAY);
}

static void log_current(void)
{
    FLOATS(GL_CURRENT_COLOR, 4);
    FLOATS(GL_CURRENT_NORMAL, 3);
    FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);
    BOOLS(GL_EDGE_FLAG, 1);
}

static void array_elements(void)
{
    fill();
    glEnableClientState(GL_VERTEX_ARRAY);
    glBegin(GL_QUADS);
    for (int i = 0; i < 64; i++) {
        if (i % 16 == 15)
            glColor3f(1, 1, 1); /* for the elements behind it an array overrides this */
        glArrayElement(i);
    }
    glEnd();
    log_current();
    glArrayElement(5); /* outside of a run it only sets what is current */
    log_current();
    errors("glArrayElement");
}

/* Without a vertex array, elements set attributes, and glVertex makes the vertices. */
static void elements_without_vertices(void)
{
    fill();
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 30; i++) {
        if (i % 2)
            glArrayElement(63 - i * 2);
        glVertex2f(-0.9f + 0.18f * (float)(i / 3) + (i % 3 == 1 ? 0.15f : 0), i % 3 == 2 ? 0.6f : -0.6f);
    }
    glEnd();
    log_current();
}

static void elements_of_buffers(void)
{
    GLuint buffer;
    if (!need_version(1, 5))
        return;
    fill();
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof elements, elements, GL_STATIC_DRAW);
    glVertexPointer(2, GL_FLOAT, sizeof *elements, (void *)offsetof(struct element, position));
    glColorPointer(4, GL_UNSIGNED_BYTE, sizeof *elements, (void *)offsetof(struct element, color));
    glEnableClientState(GL_VERTEX_ARRAY);
    for (int strip = 0; strip < 4; strip++) {
        glBegin(strip % 2 ? GL_QUADS : GL_LINE_LOOP);
        for (int i = strip * 16; i < strip * 16 + 16; i++)
            glArrayElement(i);
        glEnd();
    }
    log_current();
    errors("elements of buffers");
}

/* Arrays may be set only outside of runs, but their contents may change between any two
 * elements. */
static void contents_change(void)
{
    fill();
    glEnableClientState(GL_VERTEX_ARRAY);
    glBegin(GL_QUADS);
    for (int i = 0; i < 64; i++) {
        elements[0] = elements[63 - i];
        elements[0].color[0] = (GLubyte)(i * 4);
        glArrayElement(0);
    }
    glEnd();
    log_current();
}

CONFORM("rect_array_element", COMPAT, {"rectangles", rectangles}, {"rectangle_in_run", rectangle_in_run}, {"array_elements", array_elements},
        {"elements_without_vertices", elements_without_vertices}, {"elements_of_buffers", elements_of_buffers}, {"contents_change", contents_change})
