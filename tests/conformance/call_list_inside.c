/* Display lists called between glBegin and glEnd, and runs that begin or end inside lists. */
#include "conform.h"

static GLuint compile(void (*what)(void))
{
    GLuint list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    what();
    glEndList();
    return list;
}

static void two_vertices(void)
{
    glColor3f(1, 0.3f, 0);
    glVertex2f(0.3f, -0.6f);
    glColor3f(0, 1, 0.3f);
    glVertex2f(0, 0.6f);
}

static void color_only(void)
{
    glColor3f(0.2f, 0.4f, 1);
    glNormal3f(1, 0, 0);
    glTexCoord2f(3, 4);
}

static void material_only(void)
{
    glMaterialfv(GL_FRONT_AND_BACK, GL_EMISSION, (const float[]){0.6f, 0.1f, 0.5f, 1});
}

static void begin_strip(void)
{
    glBegin(GL_TRIANGLE_STRIP);
    glVertex2f(-0.8f, -0.8f);
    glVertex2f(-0.8f, 0.8f);
}

static void middle_of_strip(void)
{
    glColor3f(1, 1, 0);
    glVertex2f(0, -0.7f);
    glVertex2f(0, 0.7f);
}

static void end_strip(void)
{
    glColor3f(1, 0, 1);
    glVertex2f(0.8f, -0.8f);
    glVertex2f(0.8f, 0.8f);
    glEnd();
}

static void whole_triangle(void)
{
    glBegin(GL_TRIANGLES);
    glVertex2f(-0.5f, -0.5f);
    glVertex2f(0.5f, -0.5f);
    glVertex2f(0, 0.5f);
    glEnd();
}

static void vertices_from_lists(void)
{
    GLuint list = compile(two_vertices);
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        glColor3f(1, 1, 1);
        glBegin(GL_TRIANGLES);
        glVertex2f(-0.3f - 0.05f * (float)i, -0.6f);
        glCallList(list);
        glEnd();
    }
    FLOATS(GL_CURRENT_COLOR, 4);
    errors("vertices from lists");
}

static void attributes_from_lists(void)
{
    GLuint color = compile(color_only), material = compile(material_only), names[3];
    glBegin(GL_QUADS);
    glVertex2f(-0.9f, -0.9f);
    glVertex2f(-0.1f, -0.9f);
    glCallList(color);
    glVertex2f(-0.1f, 0.9f);
    glVertex2f(-0.9f, 0.9f);
    glEnd();
    FLOATS(GL_CURRENT_COLOR, 4);
    FLOATS(GL_CURRENT_NORMAL, 3);
    FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);
    glEnable(GL_LIGHTING);
    names[0] = names[2] = color;
    names[1] = material;
    glBegin(GL_QUADS);
    glVertex2f(0.1f, -0.9f);
    glVertex2f(0.9f, -0.9f);
    glCallLists(3, GL_UNSIGNED_INT, names);
    glVertex2f(0.9f, 0.9f);
    glVertex2f(0.1f, 0.9f);
    glEnd();
    GLfloat emission[4];
    glGetMaterialfv(GL_FRONT, GL_EMISSION, emission);
    note_floats("emission", emission, 4);
    errors("attributes from lists");
}

static void run_across_lists(void)
{
    GLuint begin = compile(begin_strip), middle = compile(middle_of_strip), end = compile(end_strip);
    glCallList(begin);
    glCallList(middle);
    glCallList(end);
    errors("begin, middle and end");
    glViewport(0, 0, SIZE / 2, SIZE / 2);
    glCallList(begin);
    glColor3f(0, 1, 1);
    glVertex2f(-0.2f, -0.8f);
    glVertex2f(-0.2f, 0.5f);
    glEnd();
    errors("begin of a list, end outside");
    glViewport(SIZE / 2, 0, SIZE / 2, SIZE / 2);
    glBegin(GL_TRIANGLE_FAN);
    glColor3f(1, 0, 0);
    glVertex2f(-0.9f, 0);
    glVertex2f(-0.7f, -0.6f);
    glCallList(middle);
    glCallList(end);
    errors("begin outside, end of a list");
}

static void illegal_inside(void)
{
    GLuint triangle = compile(whole_triangle);
    glBegin(GL_TRIANGLES);
    glCallList(triangle);
    glEnd();
    errors("a run within a run");
    glBegin(GL_TRIANGLES);
    glVertex2f(-0.9f, -0.9f);
    glVertex2f(-0.6f, -0.9f);
    glVertex2f(-0.9f, -0.6f);
    glCallList(999); /* there is none */
    glEnd();
    errors("a list that does not exist");
    glBegin(GL_TRIANGLES);
    GLuint made = glGenLists(1);
    glEnd();
    errors("glGenLists inside");
    note("list made inside: %u", made);
    glBegin(GL_TRIANGLES);
    glNewList(1, GL_COMPILE);
    glEnd();
    errors("glNewList inside");
    glCallList(triangle);
}

CONFORM("call_list_inside", COMPAT, {"vertices_from_lists", vertices_from_lists}, {"attributes_from_lists", attributes_from_lists},
        {"run_across_lists", run_across_lists}, {"illegal_inside", illegal_inside})
