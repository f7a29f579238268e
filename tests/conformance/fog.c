/* Fog of all modes, from depth and from coordinates. */
#include "conform.h"

static void corridor(void)
{
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glFrustum(-0.5, 0.5, -0.5, 0.5, 0.5, 20);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    for (int i = 0; i < 20; i++) {
        for (int side = 0; side < 4; side++) {
            color_of(i + side);
            glPushMatrix();
            glRotatef(90 * (float)side, 0, 0, 1);
            glBegin(GL_QUADS);
            glFogCoordf((float)i / 25);
            glVertex3f(-1, -1, -(float)i);
            glVertex3f(1, -1, -(float)i);
            glFogCoordf((float)(i + 1) / 22);
            glVertex3f(1, -1, -(float)i - 1);
            glVertex3f(-1, -1, -(float)i - 1);
            glEnd();
            glPopMatrix();
        }
    }
}

static void modes(void)
{
    static const GLenum modes[] = {GL_LINEAR, GL_EXP, GL_EXP2};
    glEnable(GL_FOG);
    glFogfv(GL_FOG_COLOR, (const float[]){0.6f, 0.6f, 0.7f, 1});
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        glFogi(GL_FOG_MODE, (GLint)modes[i % 3]);
        glFogf(GL_FOG_DENSITY, i / 3 == 1 ? 0.4f : 0.1f);
        glFogf(GL_FOG_START, i / 3 == 1 ? 5 : 1);
        glFogf(GL_FOG_END, i / 3 == 1 ? 8 : 15);
        glHint(GL_FOG_HINT, i / 3 == 2 ? GL_NICEST : GL_FASTEST);
        glFogi(GL_FOG_COORD_SRC, i / 3 == 2 ? GL_FOG_COORD : GL_FRAGMENT_DEPTH);
        corridor();
        INTS(GL_FOG_MODE, 1);
        FLOATS(GL_FOG_DENSITY, 1);
        FLOATS(GL_FOG_START, 1);
        FLOATS(GL_FOG_END, 1);
        INTS(GL_FOG_COORD_SRC, 1);
    }
    ENABLED(GL_FOG);
    FLOATS(GL_FOG_COLOR, 4);
    INTS(GL_FOG_COLOR, 4);
    FLOATS(GL_CURRENT_FOG_COORD, 1);
    errors("modes");
}

static void values(void)
{
    no_picture();
    glFogiv(GL_FOG_COLOR, (const GLint[]){2147483647, 0, 1 << 30, -5});
    FLOATS(GL_FOG_COLOR, 4);
    glFogfv(GL_FOG_MODE, (const float[]){GL_EXP2});
    INTS(GL_FOG_MODE, 1);
    glFogiv(GL_FOG_DENSITY, (const GLint[]){3});
    FLOATS(GL_FOG_DENSITY, 1);
    glFogf(GL_FOG_INDEX, 7);
    FLOATS(GL_FOG_INDEX, 1);
    errors("values");
    glFogf(GL_FOG_DENSITY, -1);
    errors("negative density");
    glFogi(GL_FOG_MODE, GL_NEAREST);
    errors("mode");
    glFogf(GL_FOG_COLOR, 1);
    errors("colour of one value");
    glFogi(GL_AMBIENT, 1);
    errors("parameter");
    INTS(GL_FOG_MODE, 1);
    FLOATS(GL_FOG_DENSITY, 1);
}

CONFORM("fog", COMPAT, {"modes", modes}, {"values", values})
