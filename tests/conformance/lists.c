/* Display lists: names, nesting, compile and execute, and all ways of calling them. */
#include "conform.h"

static void triangle(float x, float y)
{
    glBegin(GL_TRIANGLES);
    glVertex2f(x, y);
    glVertex2f(x + 0.15f, y);
    glVertex2f(x, y + 0.15f);
    glEnd();
}

/* A list that draws a triangle at its own position. `index` is from 0 to 99. */
static void fill_list(GLuint list, int index)
{
    glNewList(list, GL_COMPILE);
    color_of(index);
    triangle(-0.95f + 0.19f * (float)(index % 10), -0.95f + 0.19f * (float)(index / 10));
    glEndList();
}

static void names(void)
{
    GLuint first = glGenLists(10), second = glGenLists(5);
    note("the same lists: %d", first + 10 > second && second + 5 > first);
    for (GLuint list = first; list < first + 10; list++)
        note("%u is a list: %d", list - first, glIsList(list));
    note("no lists: %u", glGenLists(0));
    note("too few: %u", glGenLists(-1));
    errors("glGenLists");
    for (int i = 0; i < 5; i++)
        fill_list(first + (GLuint)i, i);
    glDeleteLists(first + 1, 2);
    note("after deleting: %d %d %d %d", glIsList(first), glIsList(first + 1), glIsList(first + 2), glIsList(first + 3));
    GLuint third = glGenLists(2);
    note("two more are lists: %d %d", glIsList(third), glIsList(third + 1));
    fill_list(1000, 30);
    note("1000 is a list: %d", glIsList(1000));
    for (GLuint list = first; list < first + 10; list++)
        glCallList(list);
    glCallList(1000);
    glCallList(123456);
    errors("calling lists, some of which do not exist");
    glDeleteLists(5, -1);
    errors("negative range");
    glNewList(0, GL_COMPILE);
    errors("list 0");
    glNewList(2, GL_FILL);
    errors("mode");
    glEndList();
    errors("glEndList without glNewList");
    glNewList(7, GL_COMPILE);
    glNewList(8, GL_COMPILE);
    errors("nested glNewList");
    INTS(GL_LIST_INDEX, 1);
    INTS(GL_LIST_MODE, 1);
    glEndList();
    INTS(GL_LIST_INDEX, 1);
    INTS(GL_LIST_MODE, 1);
    INTS(GL_MAX_LIST_NESTING, 1);
}

static void nested(void)
{
    for (int i = 0; i < 50; i++)
        fill_list(100 + (GLuint)i, i);
    glNewList(1, GL_COMPILE);
    for (GLuint i = 0; i < 20; i++)
        glCallList(100 + i);
    glEndList();
    glNewList(2, GL_COMPILE);
    glPushMatrix();
    glTranslatef(0, 0.95f, 0);
    glCallList(1);
    glPopMatrix();
    glCallList(1);
    glEndList();
    glCallList(2);
    fill_list(105, 77); /* a list that others call may change */
    glDeleteLists(106, 3);
    glPushMatrix();
    glTranslatef(0.05f, 0.4f, 0);
    glCallList(2);
    glPopMatrix();
    errors("nested lists");
}

/* Each list moves and calls the next one. Only the first 64 levels are executed. */
static void deep(void)
{
    for (GLuint list = 1; list <= 80; list++) {
        glNewList(list, GL_COMPILE);
        color_of((int)list);
        triangle(-0.95f + 0.19f * (float)(list % 10), -0.95f + 0.19f * (float)(list / 10));
        if (list < 80)
            glCallList(list + 1);
        glEndList();
    }
    glCallList(1);
    errors("deep nesting");
}

static void call_itself(void)
{
    glNewList(1, GL_COMPILE);
    glTranslatef(0.02f, 0.01f, 0);
    glRotatef(3, 0, 0, 1);
    glCallList(2);
    glCallList(1);
    glEndList();
    fill_list(2, 45);
    glCallList(1);
    FLOATS(GL_MODELVIEW_MATRIX, 16);
    errors("a list that calls itself");
}

static void compile_and_execute(void)
{
    glNewList(1, GL_COMPILE_AND_EXECUTE);
    glColor3f(1, 0, 0);
    triangle(-0.9f, -0.9f);
    FLOATS(GL_CURRENT_COLOR, 4);
    glTranslatef(0.3f, 0, 0);
    glColor3f(0, 1, 0);
    triangle(-0.9f, -0.9f);
    glEnable(GL_LIGHTING);
    ENABLED(GL_LIGHTING);
    glEndList();
    FLOATS(GL_CURRENT_COLOR, 4);
    glDisable(GL_LIGHTING);
    glTranslatef(0.1f, 0.5f, 0);
    glCallList(1);
    ENABLED(GL_LIGHTING);
    FLOATS(GL_MODELVIEW_MATRIX, 16);
    glNewList(2, GL_COMPILE);
    glColor3f(0, 0, 1);
    glDisable(GL_LIGHTING);
    glEndList();
    FLOATS(GL_CURRENT_COLOR, 4);
    ENABLED(GL_LIGHTING);
    glCallList(2);
    FLOATS(GL_CURRENT_COLOR, 4);
    ENABLED(GL_LIGHTING);
}

static void call_lists_types(void)
{
    for (int i = 0; i < 100; i++)
        fill_list(1 + (GLuint)i, i);
    glCallLists(3, GL_BYTE, (const GLbyte[]){1, 2, 3});
    glCallLists(3, GL_UNSIGNED_BYTE, (const GLubyte[]){4, 5, 6});
    glCallLists(3, GL_SHORT, (const GLshort[]){11, 12, 13});
    glCallLists(3, GL_UNSIGNED_SHORT, (const GLushort[]){14, 15, 16});
    glCallLists(3, GL_INT, (const GLint[]){21, 22, 23});
    glCallLists(3, GL_UNSIGNED_INT, (const GLuint[]){24, 25, 26});
    glCallLists(3, GL_FLOAT, (const GLfloat[]){31, 32.7f, 33});
    glCallLists(3, GL_2_BYTES, (const GLubyte[]){0, 34, 0, 35, 1, 36});
    glCallLists(3, GL_3_BYTES, (const GLubyte[]){0, 0, 41, 0, 0, 42, 0, 1, 43});
    glCallLists(3, GL_4_BYTES, (const GLubyte[]){0, 0, 0, 44, 0, 0, 0, 45, 0, 0, 1, 46});
    errors("types");
    glListBase(50);
    INTS(GL_LIST_BASE, 1);
    glCallLists(4, GL_BYTE, (const GLbyte[]){1, -2, 3, 100});
    glListBase(60);
    glCallLists(10, GL_UNSIGNED_BYTE, "\1\2\3\4\5\6\7\10\11\12");
    glListBase((GLuint)-20);
    glCallLists(2, GL_INT, (const GLint[]){101, 102});
    errors("bases");
    glCallLists(-1, GL_INT, NULL);
    errors("a negative number");
    glCallLists(1, GL_DOUBLE, (const GLdouble[]){1});
    errors("type");
    glCallLists(0, GL_INT, NULL);
    errors("zero lists");
}

/* The list base is state that lists may change. The base at the time of a call applies. */
static void base_inside(void)
{
    for (int i = 0; i < 100; i++)
        fill_list(1 + (GLuint)i, i);
    static const GLubyte all[] = {1, 2, 3, 4, 5};
    glNewList(200, GL_COMPILE);
    glCallLists(5, GL_UNSIGNED_BYTE, all);
    glListBase(20);
    glCallLists(5, GL_UNSIGNED_BYTE, all);
    glListBase(40);
    glEndList();
    glListBase(10);
    glCallList(200);
    INTS(GL_LIST_BASE, 1);
    glCallLists(5, GL_UNSIGNED_BYTE, all);
    glPushAttrib(GL_LIST_BIT);
    glListBase(60);
    glPopAttrib();
    INTS(GL_LIST_BASE, 1);
}

/* Errors of compiled commands are raised when the list is called. */
static void errors_in_lists(void)
{
    no_picture();
    glNewList(1, GL_COMPILE);
    errors("within compilation, no error");
    glEnable(0xBAD);
    errors("compiled glEnable of no capability");
    glDepthFunc(5);
    glPopMatrix();
    glEndList();
    errors("end of list");
    glCallList(1);
    errors("call");
    glNewList(2, GL_COMPILE);
    glBegin(GL_TRIANGLES);
    glEndList();
    errors("list with an open run");
    glCallList(2);
    errors("call of an open run");
    glVertex2f(0, 0);
    glEnd();
    errors("its end");
}

/* Commands that are executed immediately, even during the compilation of a list. */
static void not_compiled(void)
{
    GLint value = 0;
    GLuint texture = 0, inner;
    glNewList(1, GL_COMPILE);
    glGetIntegerv(GL_MATRIX_MODE, &value);
    glGenTextures(1, &texture);
    inner = glGenLists(3);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 2);
    glEnableClientState(GL_COLOR_ARRAY);
    glFlush();
    note("texture %d, lists %d, is one: %d, matrix mode %04x", texture != 0, inner != 0, glIsList(inner), (unsigned)value);
    INTS(GL_UNPACK_ALIGNMENT, 1);
    ENABLED(GL_COLOR_ARRAY);
    glDeleteLists(inner, 3);
    note("is one: %d", glIsList(inner));
    glColor3f(0, 1, 0);
    glEndList();
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glDisableClientState(GL_COLOR_ARRAY);
    glCallList(1);
    INTS(GL_UNPACK_ALIGNMENT, 1);
    ENABLED(GL_COLOR_ARRAY);
    FLOATS(GL_CURRENT_COLOR, 4);
    triangle(0, 0);
}

CONFORM("lists", COMPAT, {"names", names}, {"nested", nested}, {"deep", deep}, {"call_itself", call_itself},
        {"compile_and_execute", compile_and_execute}, {"call_lists_types", call_lists_types}, {"base_inside", base_inside},
        {"errors_in_lists", errors_in_lists}, {"not_compiled", not_compiled})
