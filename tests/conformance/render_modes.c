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

/* Arrays, lists, rasters, clipping and long strips, and a buffer that is reused. */
static void more_hits(void)
{
    no_picture();
    static const GLfloat triangle[] = {-0.5f, -0.5f, 0, 0.5f, -0.5f, 0.5f, 0, 0.5f, -0.5f};
    GLuint hits[64];
    GLuint list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    glPushName(50);
    square(0.25f);
    glPopName();
    glEndList();
    for (int round = 0; round < 3; round++) {
        memset(hits, 0x55, sizeof hits);
        glSelectBuffer(64 >> round, hits);
        glRenderMode(GL_SELECT);
        glInitNames();
        glPushName(1);
        glVertexPointer(3, GL_FLOAT, 0, triangle);
        glEnableClientState(GL_VERTEX_ARRAY);
        glDrawArrays(GL_TRIANGLES, 0, 3);
        glDisableClientState(GL_VERTEX_ARRAY);
        glLoadName(2);
        glCallList(list);
        glLoadName(3);
        glRasterPos3f(0, 0, 0.25f);
        glLoadName(4);
        glRasterPos3f(5, 0, 0);
        glLoadName(5);
        glEnable(GL_CULL_FACE);
        glCullFace(GL_FRONT_AND_BACK);
        square(0.5f);
        glDisable(GL_CULL_FACE);
        glLoadName(6);
        glBegin(GL_LINE_STRIP);
        for (int i = 0; i < 20000; i++)
            glVertex3f(5 - (float)i / 2000, 0.1f, (float)i / 20000);
        glEnd();
        note("hits: %d", glRenderMode(GL_RENDER));
        for (int i = 0; i < 64; i++)
            note("%08x", hits[i]);
        errors("round");
    }
    /* Switches from one mode to the other and back. */
    GLfloat values[64];
    memset(values, 0, sizeof values);
    memset(hits, 0, sizeof hits);
    glSelectBuffer(64, hits);
    glFeedbackBuffer(64, GL_3D, values);
    glRenderMode(GL_SELECT);
    glPushName(9);
    square(0.5f);
    note("select to feedback: %d", glRenderMode(GL_FEEDBACK));
    INTS(GL_NAME_STACK_DEPTH, 1);
    square(0.5f);
    note("feedback to feedback: %d", glRenderMode(GL_FEEDBACK));
    note_bytes("values", values, sizeof values);
    square(0.25f);
    note("feedback to select: %d", glRenderMode(GL_SELECT));
    note_bytes("values", values, sizeof values);
    note("select to render: %d", glRenderMode(GL_RENDER));
    note_bytes("hits", hits, sizeof hits);
    note("render to render: %d", glRenderMode(GL_RENDER));
    glDeleteLists(list, 1);
    errors("modes");
}

static void long_feedback(void)
{
    no_picture();
    static GLfloat values[400000];
    memset(values, 0, sizeof values);
    glFeedbackBuffer(400000, GL_4D_COLOR_TEXTURE, values);
    glRenderMode(GL_FEEDBACK);
    static const GLenum modes[] = {GL_POINTS, GL_LINES, GL_LINE_STRIP, GL_LINE_LOOP, GL_TRIANGLES, GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN, GL_QUADS, GL_QUAD_STRIP, GL_POLYGON};
    for (int m = 0; m < 10; m++) {
        glPassThrough((GLfloat)m);
        glBegin(modes[m]);
        for (int i = 0; i < 300; i++) {
            color_of(i);
            glTexCoord2f((GLfloat)i, 0);
            glVertex3f((GLfloat)(i % 17) / 9 - 1, (GLfloat)(i % 13) / 7 - 1, (GLfloat)i / 300);
        }
        glEnd();
    }
    glEnable(GL_LIGHTING);
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    square(0.5f);
    glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
    glDisable(GL_LIGHTING);
    glRasterPos2f(0, 0);
    glDrawPixels(1, 1, GL_RGBA, GL_UNSIGNED_BYTE, (const GLubyte[]){1, 2, 3, 4});
    glCopyPixels(0, 0, 1, 1, GL_COLOR);
    glPassThrough(-1);
    GLint count = glRenderMode(GL_RENDER);
    note("%d values", count);
    note_bytes("all", values, sizeof values);
    errors("feedback");
}

static void pointers(void)
{
    no_picture();
    GLuint hits[8];
    GLfloat values[8];
    GLvoid *pointer = hits;
    glGetPointerv(GL_SELECTION_BUFFER_POINTER, &pointer);
    note("selection buffer at first: %d", pointer != NULL);
    glGetPointerv(GL_FEEDBACK_BUFFER_POINTER, &pointer);
    note("feedback buffer at first: %d", pointer != NULL);
    INTS(GL_SELECTION_BUFFER_SIZE, 1);
    INTS(GL_FEEDBACK_BUFFER_SIZE, 1);
    glRenderMode(GL_SELECT);
    errors("no selection buffer");
    glRenderMode(GL_RENDER);
    glRenderMode(GL_FEEDBACK);
    errors("no feedback buffer");
    glRenderMode(GL_RENDER);
    glSelectBuffer(-1, hits);
    errors("negative size");
    glSelectBuffer(8, hits);
    glFeedbackBuffer(8, GL_3D_COLOR, values);
    glGetPointerv(GL_SELECTION_BUFFER_POINTER, &pointer);
    note("selection buffer: %d", pointer == hits);
    glGetPointerv(GL_FEEDBACK_BUFFER_POINTER, &pointer);
    note("feedback buffer: %d", pointer == values);
    glRenderMode(GL_SELECT);
    INTS(GL_RENDER_MODE, 1);
    glSelectBuffer(4, NULL);
    errors("selection buffer during selection");
    glGetPointerv(GL_SELECTION_BUFFER_POINTER, &pointer);
    note("selection buffer: %d", pointer == hits);
    glFeedbackBuffer(8, GL_2D, NULL);
    errors("no buffer");
    INTS(GL_FEEDBACK_BUFFER_SIZE, 1);
    INTS(GL_FEEDBACK_BUFFER_TYPE, 1);
    INTS(GL_RENDER_MODE, 1);
    glPopName();
    errors("no name");
    glLoadName(1);
    errors("no name to replace");
    for (int i = 0; i < 64; i++)
        glPushName((GLuint)i);
    errors("as many names as there can be");
    glPushName(64);
    errors("one more");
    glBegin(GL_POINTS);
    glRenderMode(GL_RENDER);
    glSelectBuffer(8, hits);
    glFeedbackBuffer(8, GL_2D, values);
    glPushName(1);
    glEnd();
    errors("inside");
    INTS(GL_RENDER_MODE, 1);
    note("result: %d", glRenderMode(GL_RENDER));
    errors("end");
}

CONFORM("render_modes", COMPAT, {"more_hits", more_hits}, {"long_feedback", long_feedback}, {"pointers", pointers}, {"selection", selection}, {"feedback", feedback}, {"wrong", wrong})
