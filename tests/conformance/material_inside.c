/* glMaterial between glBegin and glEnd, colour material, and both at once. */
#include "conform.h"

static void light(void)
{
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnable(GL_NORMALIZE);
    glShadeModel(GL_SMOOTH);
}

static void log_material(GLenum face)
{
    GLfloat value[4];
    static const GLenum names[] = {GL_AMBIENT, GL_DIFFUSE, GL_SPECULAR, GL_EMISSION};
    for (int i = 0; i < 4; i++) {
        glGetMaterialfv(face, names[i], value);
        note_floats("material", value, 4);
    }
    glGetMaterialfv(face, GL_SHININESS, value);
    note_floats("shininess", value, 1);
}

static void vertex(int index)
{
    float x = -0.9f + (float)(index / 2) * 0.09f;
    glNormal3f(x, index % 2 ? 0.5f : -0.5f, 1);
    glVertex2f(x, index % 2 ? 0.8f : -0.8f);
}

static void between_vertices(void)
{
    light();
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 40; i++) {
        float diffuse[4] = {0, 0, 0, 1};
        hue((float)i / 40, diffuse);
        if (i % 4 == 0)
            glMaterialfv(GL_FRONT_AND_BACK, GL_AMBIENT_AND_DIFFUSE, diffuse);
        if (i == 20)
            glMaterialf(GL_FRONT_AND_BACK, GL_SHININESS, 12);
        if (i >= 20)
            glMaterialfv(GL_FRONT_AND_BACK, GL_SPECULAR, (const float[]){0.6f, 0.6f, (float)i / 80, 1});
        vertex(i);
    }
    glMaterialfv(GL_BACK, GL_EMISSION, (const float[]){0.1f, 0.2f, 0.3f, 0.4f});
    glEnd();
    log_material(GL_FRONT);
    log_material(GL_BACK);
}

/* Each of the parameters, including the integer variants, once per triangle. */
static void every_parameter(void)
{
    static const GLenum names[] = {GL_AMBIENT, GL_DIFFUSE, GL_SPECULAR, GL_EMISSION, GL_AMBIENT_AND_DIFFUSE};
    light();
    glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 1);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 60; i++) {
        int triangle = i / 3, corner = i % 3;
        float x = -0.85f + 0.35f * (float)(triangle % 5), y = -0.8f + 0.45f * (float)(triangle / 5);
        if (corner == triangle % 3) {
            float value[4] = {0, 0, 0, 1};
            hue((float)triangle / 20, value);
            GLint integers[4] = {2147483647, (int)(value[1] * 2000000000), 0, 2147483647};
            GLenum face = triangle % 3 == 0 ? GL_FRONT : triangle % 3 == 1 ? GL_BACK : GL_FRONT_AND_BACK;
            if (triangle % 4 == 3)
                glMaterialiv(face, names[triangle % 5], integers);
            else
                glMaterialfv(face, names[triangle % 5], value);
            glMateriali(face, GL_SHININESS, triangle);
        }
        bool clockwise = triangle % 2;
        glNormal3f(corner == 1 ? 0.4f : -0.2f, corner == 2 ? 0.5f : 0, 1);
        glVertex2f(x + (corner == (clockwise ? 2 : 1) ? 0.3f : 0), y + (corner == (clockwise ? 1 : 2) ? 0.4f : 0));
    }
    glEnd();
    log_material(GL_FRONT);
    log_material(GL_BACK);
}

static void color_material(void)
{
    static const GLenum modes[] = {GL_AMBIENT, GL_DIFFUSE, GL_SPECULAR, GL_EMISSION, GL_AMBIENT_AND_DIFFUSE};
    light();
    for (int i = 0; i < 10; i++) {
        cell(i % 4, i / 4, 4, 3);
        glColorMaterial(i >= 5 ? GL_FRONT : GL_FRONT_AND_BACK, modes[i % 5]);
        glEnable(GL_COLOR_MATERIAL);
        glBegin(GL_TRIANGLE_STRIP);
        for (int v = 0; v < 40; v++) {
            color_of(v / 3);
            vertex(v);
        }
        glEnd();
        log_material(GL_FRONT);
        INTS(GL_COLOR_MATERIAL_FACE, 1);
        INTS(GL_COLOR_MATERIAL_PARAMETER, 1);
        glDisable(GL_COLOR_MATERIAL);
    }
    glColor3f(0, 1, 0);
    log_material(GL_FRONT);
}

/* Both the colour and glMaterial set the diffuse material. Then the mode changes and changes
 * back. */
static void color_and_material(void)
{
    light();
    glColorMaterial(GL_FRONT_AND_BACK, GL_DIFFUSE);
    glEnable(GL_COLOR_MATERIAL);
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 40; i++) {
        if (i == 10)
            glColor3f(1, 0.2f, 0.2f);
        if (i == 18)
            glMaterialfv(GL_FRONT_AND_BACK, GL_DIFFUSE, (const float[]){0.2f, 1, 0.2f, 1});
        if (i == 24)
            glMaterialfv(GL_FRONT_AND_BACK, GL_EMISSION, (const float[]){0, 0, 0.5f, 1});
        if (i == 30)
            glColor3f(1, 1, 0);
        vertex(i);
    }
    glEnd();
    log_material(GL_FRONT);
    glColorMaterial(GL_FRONT_AND_BACK, GL_AMBIENT);
    log_material(GL_FRONT);
    glColor3f(0.1f, 0.2f, 0.3f);
    log_material(GL_FRONT);
    glDisable(GL_COLOR_MATERIAL);
    glColor3f(1, 1, 1);
    log_material(GL_FRONT);
    glEnable(GL_COLOR_MATERIAL);
    log_material(GL_FRONT);
}

static void illegal_materials(void)
{
    no_picture();
    glMaterialf(GL_FRONT, GL_SHININESS, 129);
    errors("shininess of 129");
    glMaterialf(GL_FRONT, GL_SHININESS, -1);
    errors("shininess of -1");
    glMaterialf(GL_FRONT, GL_DIFFUSE, 1);
    errors("diffuse of one value");
    glMaterialfv(GL_LEFT, GL_DIFFUSE, (const float[]){1, 1, 1, 1});
    errors("face");
    glMaterialfv(GL_FRONT, GL_POSITION, (const float[]){1, 1, 1, 1});
    errors("parameter");
    glColorMaterial(GL_FRONT, GL_SHININESS);
    errors("colour material of shininess");
    GLint indexes[3] = {7, 7, 7};
    glMaterialiv(GL_FRONT, GL_COLOR_INDEXES, (const GLint[]){1, 2, 3});
    glGetMaterialiv(GL_FRONT, GL_COLOR_INDEXES, indexes);
    note_ints("color indexes", indexes, 3);
    GLint integers[4];
    glGetMaterialiv(GL_FRONT, GL_AMBIENT, integers);
    note_ints("ambient", integers, 4);
    errors("indexes");
}

CONFORM("material_inside", COMPAT, {"between_vertices", between_vertices}, {"every_parameter", every_parameter}, {"color_material", color_material},
        {"color_and_material", color_and_material}, {"illegal_materials", illegal_materials})
