/* Lights and light models. */
#include "conform.h"

#include <math.h>

/* Half a sphere of quads that points towards the eye. */
static void ball(int steps)
{
    for (int i = 0; i < steps; i++) {
        glBegin(GL_QUAD_STRIP);
        for (int j = 0; j <= steps * 2; j++) {
            for (int side = 1; side >= 0; side--) {
                float polar = 1.5f * (float)(i + side) / (float)steps, around = 6.2831853f * (float)j / (float)(steps * 2);
                glNormal3f(sinf(polar) * cosf(around), sinf(polar) * sinf(around), cosf(polar));
                glVertex3f(0.9f * sinf(polar) * cosf(around), 0.9f * sinf(polar) * sinf(around), 0.9f * cosf(polar) - 0.2f);
            }
        }
        glEnd();
    }
}

static void log_light(GLenum light)
{
    static const struct {
        const char *name;
        GLenum pname;
        int count;
    } parameters[] = {{"ambient", GL_AMBIENT, 4}, {"diffuse", GL_DIFFUSE, 4}, {"specular", GL_SPECULAR, 4}, {"position", GL_POSITION, 4},
                      {"spot direction", GL_SPOT_DIRECTION, 3}, {"spot exponent", GL_SPOT_EXPONENT, 1}, {"spot cutoff", GL_SPOT_CUTOFF, 1},
                      {"constant", GL_CONSTANT_ATTENUATION, 1}, {"linear", GL_LINEAR_ATTENUATION, 1}, {"quadratic", GL_QUADRATIC_ATTENUATION, 1}};
    for (int i = 0; i < 10; i++) {
        GLfloat floats[4];
        GLint integers[4];
        glGetLightfv(light, parameters[i].pname, floats);
        glGetLightiv(light, parameters[i].pname, integers);
        note_floats(parameters[i].name, floats, parameters[i].count);
        note_ints(parameters[i].name, integers, parameters[i].count);
    }
}

static void start(void)
{
    glEnable(GL_LIGHTING);
    glEnable(GL_NORMALIZE);
    glMaterialfv(GL_FRONT_AND_BACK, GL_SPECULAR, (const float[]){0.7f, 0.7f, 0.7f, 1});
    glMaterialf(GL_FRONT_AND_BACK, GL_SHININESS, 20);
}

static void eight_lights(void)
{
    INTS(GL_MAX_LIGHTS, 1);
    start();
    for (int i = 0; i < 8; i++) {
        GLenum light = GL_LIGHT0 + (GLenum)i;
        float color[4] = {0, 0, 0, 1}, angle = 6.2831853f * (float)i / 8;
        hue((float)i / 8, color);
        glLightfv(light, GL_DIFFUSE, color);
        glLightfv(light, GL_SPECULAR, color);
        glLightfv(light, GL_AMBIENT, (const float[]){0.02f, 0.02f, 0.02f, 1});
        glLightfv(light, GL_POSITION, (const float[]){cosf(angle), sinf(angle), 0.7f, i % 2 ? 1.0f : 0.0f});
        glEnable(light);
        ENABLED(light);
    }
    ball(24);
    log_light(GL_LIGHT0);
    log_light(GL_LIGHT7);
}

static void kinds_of_lights(void)
{
    start();
    glEnable(GL_LIGHT0);
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        glLightfv(GL_LIGHT0, GL_POSITION, (const float[]){0.6f, 0.6f, 1.2f, i == 0 ? 0.0f : 1.0f});
        glLightfv(GL_LIGHT0, GL_SPOT_DIRECTION, (const float[]){-0.4f, -0.5f, -1});
        glLightf(GL_LIGHT0, GL_SPOT_CUTOFF, i == 2 || i == 3 ? 30 : i == 4 ? 90 : 180);
        glLightf(GL_LIGHT0, GL_SPOT_EXPONENT, i == 3 ? 20 : 0);
        glLightf(GL_LIGHT0, GL_CONSTANT_ATTENUATION, i == 5 ? 2 : 1);
        glLightf(GL_LIGHT0, GL_LINEAR_ATTENUATION, i == 6 ? 1 : 0);
        glLighti(GL_LIGHT0, GL_QUADRATIC_ATTENUATION, i == 7);
        glLightModeli(GL_LIGHT_MODEL_LOCAL_VIEWER, i == 8);
        ball(16);
    }
    log_light(GL_LIGHT0);
}

static void models(void)
{
    static const float back[] = {0.9f, 0.2f, 0.2f, 1}, front[] = {0.2f, 0.5f, 0.9f, 1};
    unsigned char image[16 * 16 * 4];
    start();
    checkerboard(image, 16, 16, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexGeni(GL_S, GL_TEXTURE_GEN_MODE, GL_OBJECT_LINEAR);
    glTexGeni(GL_T, GL_TEXTURE_GEN_MODE, GL_OBJECT_LINEAR);
    glEnable(GL_TEXTURE_GEN_S);
    glEnable(GL_TEXTURE_GEN_T);
    glEnable(GL_LIGHT0);
    glMaterialfv(GL_FRONT, GL_DIFFUSE, front);
    glMaterialfv(GL_BACK, GL_DIFFUSE, back);
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, i % 3 == 1);
        glLightModeli(GL_LIGHT_MODEL_COLOR_CONTROL, i / 3 == 1 ? GL_SEPARATE_SPECULAR_COLOR : GL_SINGLE_COLOR);
        glLightModelfv(GL_LIGHT_MODEL_AMBIENT, i == 8 ? (const float[]){0.8f, 0.8f, 0, 1} : (const float[]){0.1f, 0.1f, 0.1f, 1});
        glShadeModel(i == 6 ? GL_FLAT : GL_SMOOTH);
        if (i / 3 == 1 || i == 7)
            glEnable(GL_TEXTURE_2D);
        else
            glDisable(GL_TEXTURE_2D);
        glLoadIdentity();
        glRotatef(i % 3 == 1 ? 150 : 0, 0.2f, 1, 0);
        ball(12);
        INTS(GL_LIGHT_MODEL_TWO_SIDE, 1);
        INTS(GL_LIGHT_MODEL_COLOR_CONTROL, 1);
        BOOLS(GL_LIGHT_MODEL_LOCAL_VIEWER, 1);
        FLOATS(GL_LIGHT_MODEL_AMBIENT, 4);
    }
}

/* Positions and directions are transformed by the current matrix, and normals by its inverse. */
static void transformed(void)
{
    start();
    glEnable(GL_LIGHT0);
    glDisable(GL_NORMALIZE);
    for (int i = 0; i < 6; i++) {
        cell(i % 3, i / 3, 3, 2);
        glLoadIdentity();
        glRotatef(60 * (float)i, 0, 0, 1);
        glTranslatef(0.1f * (float)i, 0, 0);
        glLightfv(GL_LIGHT0, GL_POSITION, (const float[]){1, 0, 1, (float)(i % 2)});
        glLightfv(GL_LIGHT0, GL_SPOT_DIRECTION, (const float[]){1, 0, 0});
        log_light(GL_LIGHT0);
        glLoadIdentity();
        glScalef(0.5f, i < 3 ? 0.5f : 0.9f, 0.5f);
        if (i == 1)
            glEnable(GL_RESCALE_NORMAL);
        if (i == 2) {
            glDisable(GL_RESCALE_NORMAL);
            glEnable(GL_NORMALIZE);
        }
        ball(16);
    }
}

static void errors_of_lights(void)
{
    no_picture();
    glLightf(GL_LIGHT0 + 8, GL_SPOT_CUTOFF, 10);
    errors("light 8");
    glLightf(GL_LIGHT0, GL_SPOT_CUTOFF, 91);
    errors("cutoff of 91");
    glLightf(GL_LIGHT0, GL_SPOT_EXPONENT, 129);
    errors("exponent of 129");
    glLightf(GL_LIGHT0, GL_LINEAR_ATTENUATION, -1);
    errors("negative attenuation");
    glLightf(GL_LIGHT0, GL_POSITION, 1);
    errors("position of one value");
    glLightfv(GL_LIGHT0, GL_SHININESS, (const float[]){1});
    errors("parameter");
    glLightModelf(GL_LIGHT_MODEL_AMBIENT, 1);
    errors("ambient of one value");
    glLightModeli(GL_LIGHT_MODEL_COLOR_CONTROL, 5);
    errors("colour control");
    glLightiv(GL_LIGHT1, GL_DIFFUSE, (const GLint[]){2147483647, 0, 1 << 30, -1});
    glLightiv(GL_LIGHT1, GL_POSITION, (const GLint[]){1, 2, 3, 1});
    glLightModeliv(GL_LIGHT_MODEL_AMBIENT, (const GLint[]){2147483647, 0, 1 << 30, -1});
    log_light(GL_LIGHT1);
    FLOATS(GL_LIGHT_MODEL_AMBIENT, 4);
}

CONFORM("lighting", COMPAT, {"eight_lights", eight_lights}, {"kinds_of_lights", kinds_of_lights}, {"models", models}, {"transformed", transformed},
        {"errors_of_lights", errors_of_lights})
