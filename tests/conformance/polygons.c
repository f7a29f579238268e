/* Polygon offset, stipple, culling and smoothing. */
#include "conform.h"

static void offset(void)
{
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LESS);
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        glLoadIdentity();
        glRotatef(50, 1, 0.3f, 0);
        glDisable(GL_POLYGON_OFFSET_FILL);
        glColor3f(0.2f, 0.4f, 1);
        square(0.6f);
        glPolygonOffset(i % 3 == 2 ? 1 : 0, i % 3 == 0 ? -1 : i % 3 == 1 ? 1 : -2);
        glEnable(i < 3 ? GL_POLYGON_OFFSET_FILL : i < 6 ? GL_POLYGON_OFFSET_LINE : GL_POLYGON_OFFSET_POINT);
        glPolygonMode(GL_FRONT_AND_BACK, i < 3 ? GL_FILL : i < 6 ? GL_LINE : GL_POINT);
        glPointSize(8);
        glColor3f(1, 0.6f, 0);
        square(0.6f);
        glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
        FLOATS(GL_POLYGON_OFFSET_FACTOR, 1);
        FLOATS(GL_POLYGON_OFFSET_UNITS, 1);
    }
    ENABLED(GL_POLYGON_OFFSET_FILL);
    ENABLED(GL_POLYGON_OFFSET_LINE);
    ENABLED(GL_POLYGON_OFFSET_POINT);
}

/* The pattern is fixed to the window. The current unpack state applies to it. */
static void stipple(void)
{
    GLubyte pattern[4096], back[4096];
    for (int i = 0; i < 4096; i++)
        pattern[i] = (GLubyte)(i * 29 + (i >> 3));
    glEnable(GL_POLYGON_STIPPLE);
    for (int i = 0; i < 6; i++) {
        cell(i % 3, i / 3, 3, 2);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1 << i % 4);
        glPixelStorei(GL_UNPACK_LSB_FIRST, i % 2);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, i == 3 ? 47 : i == 4 ? 64 : 0);
        glPixelStorei(GL_UNPACK_SKIP_ROWS, i == 5 ? 3 : 0);
        glPixelStorei(GL_UNPACK_SKIP_PIXELS, i >= 4 ? 5 : 0);
        glPolygonStipple(pattern);
        color_of(i);
        square(0.95f);
        memset(back, 0x77, sizeof back);
        glPixelStorei(GL_PACK_ALIGNMENT, 1 << (i + 1) % 4);
        glPixelStorei(GL_PACK_LSB_FIRST, i / 2 % 2);
        glPixelStorei(GL_PACK_ROW_LENGTH, i == 2 ? 40 : 0);
        glPixelStorei(GL_PACK_SKIP_ROWS, i % 3);
        glGetPolygonStipple(back);
        note_bytes("stipple", back, sizeof back);
    }
    errors("stipple");
}

static void culling(void)
{
    static const GLenum faces[] = {GL_FRONT, GL_BACK, GL_FRONT_AND_BACK};
    glEnable(GL_CULL_FACE);
    for (int i = 0; i < 6; i++) {
        cell(i % 3, i / 3, 3, 2);
        glCullFace(faces[i % 3]);
        glFrontFace(i / 3 ? GL_CW : GL_CCW);
        for (int turn = 0; turn < 2; turn++) {
            color_of(i + turn);
            glPushMatrix();
            glTranslatef(turn ? 0.4f : -0.4f, 0, 0);
            glRotatef(turn ? 180 : 0, 0, 1, 0);
            square(0.3f);
            glPopMatrix();
        }
        glBegin(GL_LINES); /* lines and points have no faces */
        glVertex2f(-0.9f, 0.8f);
        glVertex2f(0.9f, 0.8f);
        glEnd();
        INTS(GL_CULL_FACE_MODE, 1);
        INTS(GL_FRONT_FACE, 1);
    }
    glCullFace(GL_LEFT);
    errors("face");
    glFrontFace(GL_FRONT);
    errors("direction");
    glPolygonMode(GL_FRONT, GL_SMOOTH);
    errors("polygon mode");
}

static void smooth(void)
{
    glEnable(GL_POLYGON_SMOOTH);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA_SATURATE, GL_ONE);
    for (int i = 0; i < 10; i++) {
        color_of(i);
        glRotatef(36, 0, 0, 1);
        glBegin(GL_TRIANGLES);
        glVertex2f(0.1f, 0);
        glVertex2f(0.9f, 0.1f);
        glVertex2f(0.85f, 0.3f);
        glEnd();
    }
    ENABLED(GL_POLYGON_SMOOTH);
}

CONFORM("polygons", COMPAT, {"offset", offset}, {"stipple", stipple}, {"culling", culling}, {"smooth", smooth})
