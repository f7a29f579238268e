/* glEnable and glDisable of vertex arrays. Mesa treats them like glEnableClientState, and display
 * lists record them. */
#include "conform.h"

static const GLfloat places[4][2] = {{-0.9f, -0.9f}, {0.9f, -0.9f}, {0.9f, 0.9f}, {-0.9f, 0.9f}};
static const GLfloat colors[4][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 1, 0, 1}};
static const GLushort order[4] = {0, 1, 2, 3};

static void log_switches(void)
{
    ENABLED(GL_VERTEX_ARRAY);
    ENABLED(GL_COLOR_ARRAY);
    ENABLED(GL_NORMAL_ARRAY);
    ENABLED(GL_INDEX_ARRAY);
    ENABLED(GL_EDGE_FLAG_ARRAY);
    ENABLED(GL_FOG_COORD_ARRAY);
    ENABLED(GL_SECONDARY_COLOR_ARRAY);
    ENABLED(GL_TEXTURE_COORD_ARRAY);
    BOOLS(GL_VERTEX_ARRAY, 1);
    errors("switches");
}

static void point(void)
{
    glVertexPointer(2, GL_FLOAT, 0, places);
    glColorPointer(4, GL_FLOAT, 0, colors);
}

static void outside_of_lists(void)
{
    static const GLenum all[] = {GL_VERTEX_ARRAY,    GL_COLOR_ARRAY,     GL_NORMAL_ARRAY,          GL_INDEX_ARRAY,
                                 GL_EDGE_FLAG_ARRAY, GL_FOG_COORD_ARRAY, GL_SECONDARY_COLOR_ARRAY, GL_TEXTURE_COORD_ARRAY};
    for (int i = 0; i < 8; i++)
        glEnable(all[i]);
    log_switches();
    for (int i = 2; i < 8; i++)
        glDisable(all[i]);
    log_switches();
    glEnable(0x8B9C /* GL_POINT_SIZE_ARRAY_OES */);
    errors("an array of OpenGL ES 1");
    point();
    cell(0, 0, 2, 2);
    glDrawArrays(GL_TRIANGLE_FAN, 0, 4);
    cell(1, 0, 2, 2);
    glDrawElements(GL_TRIANGLE_FAN, 4, GL_UNSIGNED_SHORT, order);
    glDisable(GL_COLOR_ARRAY);
    glColor3f(1, 0.5f, 0);
    cell(0, 1, 2, 2);
    glDrawArrays(GL_TRIANGLE_FAN, 0, 4);
    cell(1, 1, 2, 2);
    glEnable(GL_COLOR_ARRAY);
    glBegin(GL_TRIANGLE_FAN);
    for (int i = 0; i < 4; i++)
        glArrayElement(i);
    glEnd();
    glBegin(GL_POINTS);
    glDisable(GL_COLOR_ARRAY);
    glEnd();
    errors("inside");
    log_switches();
}

/* The switch applies to the texture coordinates of the client's active unit, not of the
 * server's. */
static void units(void)
{
    if (!need_version(1, 3))
        return;
    no_picture();
    glClientActiveTexture(GL_TEXTURE1);
    glEnable(GL_TEXTURE_COORD_ARRAY);
    log_switches();
    glClientActiveTexture(GL_TEXTURE0);
    log_switches();
    glActiveTexture(GL_TEXTURE1);
    glDisable(GL_TEXTURE_COORD_ARRAY);
    glClientActiveTexture(GL_TEXTURE1);
    log_switches();
}

static void lit(void)
{
    static const GLfloat white[] = {1, 1, 1, 1}, black[] = {0, 0, 0, 0};
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glLightfv(GL_LIGHT0, GL_AMBIENT, white);
    glLightfv(GL_LIGHT0, GL_DIFFUSE, white);
    glLightfv(GL_LIGHT0, GL_SPECULAR, black);
    glLightModelfv(GL_LIGHT_MODEL_AMBIENT, black);
    glColorMaterial(GL_FRONT, GL_AMBIENT_AND_DIFFUSE);
    glEnable(GL_COLOR_MATERIAL);
    glNormal3f(0, 0, 1);
}

/* Materials that follow a colour array. The array is switched by glEnable, as some programs do. */
static void materials(void)
{
    lit();
    point();
    glEnable(GL_VERTEX_ARRAY);
    glEnable(GL_COLOR_ARRAY);
    cell(0, 0, 2, 1);
    glDrawArrays(GL_TRIANGLE_FAN, 0, 4);
    glNewList(1, GL_COMPILE);
    glEnable(GL_COLOR_ARRAY);
    glEnable(GL_VERTEX_ARRAY);
    glDrawArrays(GL_TRIANGLE_FAN, 0, 4);
    glEndList();
    cell(1, 0, 2, 1);
    glCallList(1);
    glCallList(1);
    errors("materials");
}

/* The switches of a list take effect when the list is called, also by other lists. */
static void by_lists(void)
{
    point();
    glNewList(1, GL_COMPILE);
    glEnable(GL_VERTEX_ARRAY);
    glDisable(GL_NORMAL_ARRAY);
    glEndList();
    glNewList(2, GL_COMPILE);
    glCallList(1);
    glEnable(GL_COLOR_ARRAY);
    glEndList();
    log_switches();
    glEnable(GL_NORMAL_ARRAY);
    glCallList(2);
    log_switches();
    cell(0, 0, 3, 1);
    glDrawArrays(GL_TRIANGLE_FAN, 0, 4);
    glNewList(1, GL_COMPILE);
    glDisable(GL_VERTEX_ARRAY);
    glEndList();
    glCallLists(2, GL_UNSIGNED_BYTE, (const GLubyte[]){2, 1});
    log_switches();
    cell(1, 0, 3, 1);
    glDrawArrays(GL_TRIANGLE_FAN, 0, 4);
    glNewList(3, GL_COMPILE_AND_EXECUTE);
    glEnable(GL_VERTEX_ARRAY);
    glEndList();
    log_switches();
    cell(2, 0, 3, 1);
    glDrawArrays(GL_TRIANGLE_FAN, 0, 4);
    errors("lists");
}

CONFORM("array_switches", COMPAT, {"outside_of_lists", outside_of_lists}, {"units", units}, {"materials", materials}, {"by_lists", by_lists})
