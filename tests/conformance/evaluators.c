/* Maps, glEvalCoord, glEvalPoint, glEvalMesh, and the results of glGetMap. */
#include "conform.h"

#include <math.h>

static const GLfloat curve[4][3] = {{-0.9f, -0.8f, 0}, {-0.3f, 1.6f, 0}, {0.3f, -1.6f, 0}, {0.9f, 0.8f, 0}};
static const GLfloat curve_colors[2][4] = {{1, 0, 0, 1}, {0, 0.6f, 1, 1}};

static void surface(GLfloat points[4][4][3])
{
    for (int v = 0; v < 4; v++) {
        for (int u = 0; u < 4; u++) {
            points[v][u][0] = -0.8f + 1.6f * (float)u / 3 + (v == 1 ? 0.1f : 0);
            points[v][u][1] = -0.8f + 1.6f * (float)v / 3;
            points[v][u][2] = (u == 1 || u == 2) && (v == 1 || v == 2) ? 0.8f : -0.3f;
        }
    }
}

static void curves(void)
{
    glMap1f(GL_MAP1_VERTEX_3, 0, 1, 3, 4, &curve[0][0]);
    glMap1f(GL_MAP1_COLOR_4, 0, 1, 4, 2, &curve_colors[0][0]);
    glEnable(GL_MAP1_VERTEX_3);
    glEnable(GL_MAP1_COLOR_4);
    glColor3f(0.3f, 0.3f, 0.3f);
    glBegin(GL_LINE_STRIP);
    for (int i = 0; i <= 60; i++)
        glEvalCoord1f((float)i / 60);
    glEnd();
    FLOATS(GL_CURRENT_COLOR, 4); /* evaluation leaves what is current alone */
    glPointSize(5);
    glMapGrid1f(12, 0, 1);
    glEvalMesh1(GL_POINT, 2, 9);
    glTranslatef(0, 0.15f, 0);
    glEvalMesh1(GL_LINE, 0, 12);
    glBegin(GL_POINTS);
    glEvalPoint1(3);
    glEvalCoord1d(0.5);
    glEvalCoord1fv((const GLfloat[]){0.6f});
    glEvalCoord1dv((const GLdouble[]){0.7});
    glEnd();
    errors("curves");
}

static void surfaces(void)
{
    static const GLenum modes[] = {GL_FILL, GL_LINE, GL_POINT, GL_FILL};
    GLfloat points[4][4][3];
    surface(points);
    glMap2f(GL_MAP2_VERTEX_3, 0, 1, 3, 4, 0, 1, 12, 4, &points[0][0][0]);
    glEnable(GL_MAP2_VERTEX_3);
    glEnable(GL_AUTO_NORMAL);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnable(GL_NORMALIZE);
    glEnable(GL_DEPTH_TEST);
    glPointSize(3);
    glMapGrid2f(10, 0, 1, 8, 0, 1);
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        glLoadIdentity();
        glRotatef(30, 1, 0.3f, 0);
        if (i < 3) {
            glEvalMesh2(modes[i], 0, 10, 1, 7);
            continue;
        }
        for (int v = 0; v < 12; v++) {
            glBegin(GL_TRIANGLE_STRIP);
            for (int u = 0; u <= 12; u++) {
                glEvalCoord2f((float)u / 12, (float)v / 12);
                glEvalCoord2d((double)u / 12, (double)(v + 1) / 12);
            }
            glEnd();
        }
    }
    FLOATS(GL_CURRENT_NORMAL, 3);
    errors("surfaces");
}

/* Texture coordinates, colours and normals from separate maps, with strides that exceed the size of
 * the points. */
static void all_maps(void)
{
    GLfloat points[4][4][3];
    GLdouble texture[2][2][5] = {{{0, 0}, {3, 0}}, {{0, 3}, {3, 3}}};
    GLfloat colors[2][2][4] = {{{1, 1, 1, 1}, {1, 0.3f, 0.3f, 1}}, {{0.3f, 1, 0.3f, 1}, {0.3f, 0.3f, 1, 1}}};
    unsigned char image[16 * 16 * 4];
    surface(points);
    checkerboard(image, 16, 16, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glEnable(GL_TEXTURE_2D);
    glMap2f(GL_MAP2_VERTEX_3, -1, 1, 3, 4, -1, 1, 12, 4, &points[0][0][0]);
    glMap2d(GL_MAP2_TEXTURE_COORD_2, -1, 1, 5, 2, -1, 1, 10, 2, &texture[0][0][0]);
    glMap2f(GL_MAP2_COLOR_4, -1, 1, 4, 2, -1, 1, 8, 2, &colors[0][0][0]);
    glEnable(GL_MAP2_VERTEX_3);
    glEnable(GL_MAP2_TEXTURE_COORD_2);
    glEnable(GL_MAP2_COLOR_4);
    glMapGrid2d(9, -1, 1, 7, -1, 1);
    glEvalMesh2(GL_FILL, 0, 9, 0, 7);
    FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);
    FLOATS(GL_CURRENT_COLOR, 4);
}

static void log_map(const char *name, GLenum target, int values)
{
    GLfloat coefficients[64], domain[4] = {7, 7, 7, 7};
    GLint order[2] = {7, 7}, integers[64];
    GLdouble doubles[64];
    glGetMapiv(target, GL_ORDER, order);
    note_ints(name, order, 2);
    glGetMapfv(target, GL_DOMAIN, domain);
    note_floats("domain", domain, 4);
    glGetMapfv(target, GL_COEFF, coefficients);
    note_floats("coefficients", coefficients, values);
    glGetMapiv(target, GL_COEFF, integers);
    note_ints("coefficients", integers, values);
    glGetMapdv(target, GL_COEFF, doubles);
    note("last coefficient %.17g", doubles[values - 1]);
}

static void gets(void)
{
    GLfloat points[4][4][3];
    surface(points);
    no_picture();
    log_map("GL_MAP1_VERTEX_3", GL_MAP1_VERTEX_3, 3);
    log_map("GL_MAP1_COLOR_4", GL_MAP1_COLOR_4, 4);
    log_map("GL_MAP2_NORMAL", GL_MAP2_NORMAL, 3);
    glMap1f(GL_MAP1_VERTEX_3, -2, 3, 3, 4, &curve[0][0]);
    glMap1d(GL_MAP1_INDEX, 0, 1, 1, 3, (const GLdouble[]){1, 2, 3.5});
    glMap2f(GL_MAP2_VERTEX_3, 0, 2, 3, 4, 1, 5, 12, 3, &points[0][0][0]);
    log_map("GL_MAP1_VERTEX_3", GL_MAP1_VERTEX_3, 12);
    log_map("GL_MAP1_INDEX", GL_MAP1_INDEX, 3);
    log_map("GL_MAP2_VERTEX_3", GL_MAP2_VERTEX_3, 36);
    glMapGrid1f(7, 0.5f, 2.5f);
    glMapGrid2f(3, 0, 1, 5, -1, 2);
    INTS(GL_MAP1_GRID_SEGMENTS, 1);
    FLOATS(GL_MAP1_GRID_DOMAIN, 2);
    INTS(GL_MAP2_GRID_SEGMENTS, 2);
    FLOATS(GL_MAP2_GRID_DOMAIN, 4);
    INTS(GL_MAX_EVAL_ORDER, 1);
    ENABLED(GL_MAP1_VERTEX_3);
    errors("gets of maps");
    glMap1f(GL_MAP1_VERTEX_3, 1, 1, 3, 4, &curve[0][0]);
    errors("empty domain");
    glMap1f(GL_MAP1_VERTEX_3, 0, 1, 2, 4, &curve[0][0]);
    errors("stride too small");
    glMap1f(GL_MAP1_VERTEX_3, 0, 1, 3, 0, &curve[0][0]);
    errors("order 0");
    glMap1f(GL_MAP2_VERTEX_3, 0, 1, 3, 4, &curve[0][0]);
    errors("target of two dimensions");
    glEvalMesh1(GL_FILL, 0, 1);
    errors("filled line");
    glMapGrid1f(0, 0, 1);
    errors("grid of no segments");
}

CONFORM("evaluators", COMPAT, {"curves", curves}, {"surfaces", surfaces}, {"all_maps", all_maps}, {"gets", gets})
