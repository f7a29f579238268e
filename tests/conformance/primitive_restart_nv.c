/* NV_primitive_restart, which is switched like an array. */
#include "conform.h"

static bool start(void)
{
    glClear(GL_COLOR_BUFFER_BIT);
    return need_extension("GL_NV_primitive_restart");
}

static void log_restart(void)
{
    note("enabled: %d", glIsEnabled(GL_PRIMITIVE_RESTART_NV));
    BOOLS(GL_PRIMITIVE_RESTART_NV, 1);
    INTS(GL_PRIMITIVE_RESTART_INDEX_NV, 1);
    if (has_version(3, 1))
        ENABLED(GL_PRIMITIVE_RESTART);
    errors("restart");
}

static void immediate(void)
{
    if (!start())
        return;
    static const GLenum modes[6] = {GL_LINE_STRIP, GL_LINE_LOOP, GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN, GL_TRIANGLES, GL_POLYGON};
    for (int m = 0; m < 6; m++) {
        cell(m % 3, m / 3, 3, 2);
        glBegin(modes[m]);
        for (int i = 0; i < 15; i++) {
            if (i % 5 == 0 && i)
                glPrimitiveRestartNV();
            color_of(i);
            glVertex2f(-0.9f + 0.13f * (float)i, i % 2 ? 0.8f - 0.05f * (float)i : -0.8f);
        }
        glEnd();
    }
    glPrimitiveRestartNV();
    errors("outside");
}

/* Loops that are cut because of their length are closed before the next loop begins. */
static void long_loops(void)
{
    if (!start())
        return;
    glBegin(GL_LINE_LOOP);
    for (int loop = 0; loop < 3; loop++) {
        if (loop)
            glPrimitiveRestartNV();
        for (int i = 0; i < 40000; i++) {
            float x = (float)i / 40000;
            glColor3f(x, 1 - x, 0.3f * (float)loop);
            glVertex2f(-0.9f + 1.8f * x, -0.8f + 0.6f * (float)loop + (i % 200 < 100 ? 0 : 0.4f));
        }
    }
    glEnd();
    errors("long loops");
}

static void in_lists(void)
{
    if (!start())
        return;
    glNewList(1, GL_COMPILE);
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 8; i++) {
        if (i == 4)
            glPrimitiveRestartNV();
        color_of(i);
        glVertex2f(-0.9f + 0.2f * (float)i, i % 2 ? 0.5f : -0.5f);
    }
    glEnd();
    glEndList();
    glNewList(2, GL_COMPILE);
    glBegin(GL_LINE_LOOP);
    glEndList();
    glCallList(1);
    glCallList(2);
    glVertex2f(-0.9f, 0.9f);
    glVertex2f(0, 0.6f);
    glVertex2f(0.3f, 0.9f);
    glPrimitiveRestartNV();
    glVertex2f(0.5f, 0.9f);
    glVertex2f(0.7f, 0.6f);
    glVertex2f(0.9f, 0.9f);
    glEnd();
    errors("in lists");
}

static void indices(void)
{
    if (!start())
        return;
    GLfloat places[24][2], colors[24][3];
    GLushort order[26];
    int n = 0;
    for (int i = 0; i < 24; i++) {
        places[i][0] = -0.95f + 0.08f * (float)i;
        places[i][1] = i % 2 ? 0.7f : -0.7f;
        hue((float)i / 24, colors[i]);
        if (i == 7 || i == 15)
            order[n++] = 0xfffe;
        order[n++] = (GLushort)i;
    }
    glVertexPointer(2, GL_FLOAT, 0, places);
    glColorPointer(3, GL_FLOAT, 0, colors);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
    glPrimitiveRestartIndexNV(0xfffe);
    log_restart();
    glEnableClientState(GL_PRIMITIVE_RESTART_NV);
    log_restart();
    glDrawElements(GL_TRIANGLE_STRIP, n, GL_UNSIGNED_SHORT, order);
    glPushClientAttrib(GL_CLIENT_VERTEX_ARRAY_BIT);
    glDisableClientState(GL_PRIMITIVE_RESTART_NV);
    glPrimitiveRestartIndexNV(5);
    log_restart();
    glPopClientAttrib();
    log_restart();
    glNewList(1, GL_COMPILE);
    glDisableClientState(GL_PRIMITIVE_RESTART_NV);
    glEndList();
    log_restart();
    glEnable(GL_PRIMITIVE_RESTART_NV);
    errors("glEnable");
    glBegin(GL_POINTS);
    glEnableClientState(GL_PRIMITIVE_RESTART_NV);
    glEnd();
    errors("inside");
    log_restart();
    glBegin(GL_POINTS);
    glPrimitiveRestartIndexNV(3);
    glEnd();
    errors("index inside");
}

CONFORM("primitive_restart_nv", COMPAT, {"immediate", immediate}, {"long_loops", long_loops}, {"in_lists", in_lists}, {"indices", indices})
