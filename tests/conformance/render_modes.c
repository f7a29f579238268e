/* Selection and feedback. */
#include "conform.h"

static void objects(void)
{
    for (int i = 0; i < 12; i++) {
        glLoadName(100 + (GLuint)i);
        if (i % 4 == 2)
            glPushName(7);
        color_of(i);
        glPushMatrix();
        glTranslatef(-1.5f + 0.3f * (float)i, 0, (float)i / 20);
        square(0.1f);
        glPopMatrix();
        if (i % 4 == 2)
            glPopName();
    }
}

static void selection(void)
{
    GLuint hits[256];
    memset(hits, 0x77, sizeof hits);
    glSelectBuffer(256, hits);
    INTS(GL_SELECTION_BUFFER_SIZE, 1);
    note("mode change gives %d", glRenderMode(GL_SELECT));
    INTS(GL_RENDER_MODE, 1);
    glInitNames();
    glPushName(1);
    objects();
    glRasterPos2f(0, 0);
    INTS(GL_NAME_STACK_DEPTH, 1);
    INTS(GL_MAX_NAME_STACK_DEPTH, 1);
    GLint count = glRenderMode(GL_RENDER);
    note("%d hits", count);
    for (int i = 0; i < 80; i++)
        note("%08x", hits[i]);
    glSelectBuffer(6, hits);
    glRenderMode(GL_SELECT);
    glInitNames();
    glPushName(1);
    objects();
    note("too small a buffer gives %d", glRenderMode(GL_RENDER));
    errors("selection");
    glPopName();
    glPushName(3);
    errors("names while rendering");
    objects();
}

static void log_feedback(GLenum type, GLint size)
{
    GLfloat values[2048];
    for (int i = 0; i < 2048; i++)
        values[i] = -7;
    glFeedbackBuffer(size, type, values);
    INTS(GL_FEEDBACK_BUFFER_SIZE, 1);
    INTS(GL_FEEDBACK_BUFFER_TYPE, 1);
    glRenderMode(GL_FEEDBACK);
    glPassThrough(42);
    glBegin(GL_TRIANGLES);
    glColor3f(1, 0.5f, 0.25f);
    glTexCoord2f(3, 4);
    glVertex2f(-0.5f, -0.5f);
    glVertex2f(0.5f, -0.5f);
    glVertex2f(0, 0.5f);
    glEnd();
    glPassThrough(43);
    glBegin(GL_LINE_STRIP);
    for (int i = 0; i < 3; i++)
        glVertex2f(-2 + 2 * (float)i, 0.25f);
    glEnd();
    glBegin(GL_POINTS);
    glVertex3f(0.25f, 0.25f, 0.5f);
    glEnd();
    glRasterPos2f(0.5f, 0);
    glBitmap(1, 1, 0, 0, 0, 0, (const GLubyte[]){0x80});
    GLint count = glRenderMode(GL_RENDER);
    note("%d values", count);
    for (int i = 0; i < (count < 0 ? size : count); i++)
        note("%.9g", (double)values[i]);
    errors("feedback");
}

static void feedback(void)
{
    no_picture();
    log_feedback(GL_2D, 2048);
    log_feedback(GL_3D, 2048);
    log_feedback(GL_3D_COLOR, 2048);
    log_feedback(GL_3D_COLOR_TEXTURE, 2048);
    log_feedback(GL_4D_COLOR_TEXTURE, 2048);
    log_feedback(GL_3D, 10);
}

static void wrong(void)
{
    no_picture();
    GLfloat values[4];
    glRenderMode(5);
    errors("mode");
    glFeedbackBuffer(-1, GL_2D, values);
    errors("negative size");
    glFeedbackBuffer(4, GL_FLOAT, values);
    errors("type");
    glRenderMode(GL_FEEDBACK);
    glFeedbackBuffer(4, GL_2D, values);
    errors("glFeedbackBuffer during feedback");
    glRenderMode(GL_RENDER);
}

CONFORM("render_modes", COMPAT, {"selection", selection}, {"feedback", feedback}, {"wrong", wrong})
