/* The program's own clip planes, and clipping by the view volume. */
#include "conform.h"

#include <math.h>

static void picket(void)
{
    for (int i = 0; i < 12; i++) {
        color_of(i);
        glBegin(GL_TRIANGLES);
        glVertex3f(-0.95f + 0.16f * (float)i, -0.8f, -1.5f);
        glVertex3f(-0.80f + 0.16f * (float)i, -0.8f, 0);
        glVertex3f(-0.87f + 0.16f * (float)i, 0.9f, 1.5f);
        glEnd();
    }
    glBegin(GL_LINE_LOOP);
    for (int i = 0; i < 30; i++) {
        color_of(i);
        glVertex2f(0.95f * cosf((float)i * 0.2094f), 0.95f * sinf((float)i * 0.2094f));
    }
    glEnd();
}

static void planes(void)
{
    INTS(GL_MAX_CLIP_PLANES, 1);
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        glLoadIdentity();
        for (int plane = 0; plane < 6; plane++) {
            GLdouble equation[4] = {cos(plane), sin(plane), 0, 0.2 + 0.1 * plane};
            glClipPlane(GL_CLIP_PLANE0 + (GLenum)plane, equation);
            if (plane < i && i < 7)
                glEnable(GL_CLIP_PLANE0 + (GLenum)plane);
            else
                glDisable(GL_CLIP_PLANE0 + (GLenum)plane);
        }
        if (i >= 7) { /* planes are transformed when they are given */
            glRotatef(40, 0, 0, 1);
            glScalef(1, 2, 1);
            glClipPlane(GL_CLIP_PLANE1, (const GLdouble[]){0, 1, 0, 0.1});
            glEnable(GL_CLIP_PLANE1);
            if (i == 7)
                glLoadIdentity();
        }
        picket();
        GLdouble back[4];
        glGetClipPlane(GL_CLIP_PLANE1, back);
        note("plane %.17g %.17g %.17g %.17g", back[0], back[1], back[2], back[3]);
    }
    ENABLED(GL_CLIP_PLANE5);
    glClipPlane(GL_CLIP_PLANE0 + 20, (const GLdouble[]){0, 1, 0, 0.1});
    errors("plane 20");
}

static void view_volume(void)
{
    glMatrixMode(GL_PROJECTION);
    glFrustum(-1, 1, -1, 1, 1, 4);
    glMatrixMode(GL_MODELVIEW);
    random_seed(4);
    for (int i = 0; i < 60; i++) {
        glBegin(i % 3 ? GL_POLYGON : GL_LINE_STRIP);
        for (int v = 0; v < 5; v++) {
            color_of(i + v);
            float x = random_float() * 6 - 3, y = random_float() * 6 - 3;
            glVertex3f(x, y, random_float() * -6 + 1);
        }
        glEnd();
    }
}

static void distances_from_shaders(void)
{
    if (!need_version(3, 0))
        return;
    glUseProgram(build_program("#version 130\nout float gl_ClipDistance[2];\n"
                               "void main() { gl_Position = gl_Vertex; gl_FrontColor = gl_Color; gl_ClipDistance[0] = gl_Vertex.x + 0.5;\n"
                               "gl_ClipDistance[1] = 0.5 - gl_Vertex.y * gl_Vertex.x; }",
                               "#version 130\nvoid main() { gl_FragColor = gl_Color; }"));
    glEnable(GL_CLIP_DISTANCE0);
    glEnable(GL_CLIP_DISTANCE1);
    glScalef(1, 1, 0.5f);
    picket();
    errors("clip distances");
}

CONFORM("clip_planes", COMPAT, {"planes", planes}, {"view_volume", view_volume}, {"distances_from_shaders", distances_from_shaders})
