/* Matrix commands, stacks, and the results of matrix gets. */
#include "conform.h"

static const GLfloat example[16] = {0.8f, 0.1f, 0, 0, -0.2f, 0.7f, 0.3f, 0, 0.1f, 0, 1, 0, 0.05f, -0.1f, 0.2f, 1};

static void log_all(const char *after)
{
    note("-- %s", after);
    INTS(GL_MATRIX_MODE, 1);
    FLOATS(GL_MODELVIEW_MATRIX, 16);
    FLOATS(GL_PROJECTION_MATRIX, 16);
    FLOATS(GL_TEXTURE_MATRIX, 16);
    INTS(GL_MODELVIEW_STACK_DEPTH, 1);
    INTS(GL_PROJECTION_STACK_DEPTH, 1);
    INTS(GL_TEXTURE_STACK_DEPTH, 1);
}

static void operations(void)
{
    GLdouble doubles[16];
    for (int i = 0; i < 16; i++)
        doubles[i] = (double)example[i] * 1.1;
    glMatrixMode(GL_PROJECTION);
    glFrustum(-1, 1.5, -0.5, 1, 2, 20);
    log_all("glFrustum");
    glLoadIdentity();
    glOrtho(-2, 3, -1, 1, -5, 5);
    log_all("glOrtho");
    glMatrixMode(GL_MODELVIEW);
    glRotatef(30, 0, 0, 1);
    glRotated(20, 1, 2, 3);
    glRotatef(0, 0, 0, 0);
    glRotatef(90, 1, 0, 0);
    log_all("glRotate");
    glTranslatef(0.1f, 0.2f, -0.3f);
    glTranslated(0.25, -0.5, 0.125);
    glScalef(1.5f, 0.5f, 2);
    glScaled(0.9, 1.1, 1);
    log_all("glTranslate and glScale");
    glMultMatrixf(example);
    glMultMatrixd(doubles);
    log_all("glMultMatrix");
    glLoadMatrixd(doubles);
    log_all("glLoadMatrixd");
    glLoadTransposeMatrixf(example);
    log_all("glLoadTransposeMatrixf");
    glMultTransposeMatrixd(doubles);
    log_all("glMultTransposeMatrixd");
    FLOATS(GL_TRANSPOSE_MODELVIEW_MATRIX, 16);
    DOUBLES(GL_MODELVIEW_MATRIX, 16);
    INTS(GL_MODELVIEW_MATRIX, 16);
    BOOLS(GL_MODELVIEW_MATRIX, 16);
    glMatrixMode(GL_TEXTURE);
    glLoadMatrixf(example);
    log_all("texture matrix");
    errors("operations");
    glColor3f(0.5f, 1, 0.2f);
    square(0.6f);
}

static void stacks(void)
{
    static const GLenum modes[] = {GL_MODELVIEW, GL_PROJECTION, GL_TEXTURE, GL_COLOR};
    INTS(GL_MAX_MODELVIEW_STACK_DEPTH, 1);
    INTS(GL_MAX_PROJECTION_STACK_DEPTH, 1);
    INTS(GL_MAX_TEXTURE_STACK_DEPTH, 1);
    no_picture();
    for (int mode = 0; mode < 3; mode++) {
        glMatrixMode(modes[mode]);
        glPopMatrix();
        errors("one pop too many");
        int pushes = 0;
        while (pushes < 200) {
            glTranslatef(1, 0, 0);
            glPushMatrix();
            GLenum error = glGetError();
            if (error != GL_NO_ERROR) {
                note("push %d: %s", pushes, error_name(error));
                break;
            }
            pushes++;
        }
        log_all("full");
        for (int i = 0; i < pushes; i++)
            glPopMatrix();
        errors("pops");
        log_all("empty");
        glPopMatrix();
        errors("one pop too many");
    }
    glMatrixMode(GL_COLOR);
    errors("glMatrixMode(GL_COLOR)");
    glMatrixMode(GL_SMOOTH);
    errors("glMatrixMode of no matrix");
    INTS(GL_MATRIX_MODE, 1);
}

static void bad_values(void)
{
    no_picture();
    glFrustum(0, 0, -1, 1, 1, 2);
    errors("glFrustum of no width");
    glFrustum(-1, 1, -1, 1, -1, 2);
    errors("glFrustum with the near plane behind the eye");
    glFrustum(-1, 1, -1, 1, 2, 2);
    errors("glFrustum of no depth");
    glOrtho(-1, 1, 3, 3, 0, 1);
    errors("glOrtho of no height");
    glOrtho(-1, 1, -1, 1, 1, 1);
    errors("glOrtho of no depth");
    log_all("nothing changed");
}

/* A tree of transformations. */
static void branch(int depth)
{
    glColor3f((float)depth / 6, 1 - (float)depth / 8, 0.2f);
    glRectf(-0.03f, 0, 0.03f, 0.5f);
    if (depth == 0)
        return;
    glPushMatrix();
    glTranslatef(0, 0.5f, 0);
    glScalef(0.75f, 0.75f, 1);
    for (int side = -1; side <= 1; side += 2) {
        glPushMatrix();
        glRotatef(28 * (float)side, 0, 0, 1);
        branch(depth - 1);
        glPopMatrix();
    }
    glPopMatrix();
}

static void tree(void)
{
    glTranslatef(0, -0.95f, 0);
    branch(8);
    FLOATS(GL_MODELVIEW_MATRIX, 16);
}

static void texture_units(void)
{
    no_picture();
    glMatrixMode(GL_TEXTURE);
    for (int unit = 0; unit < 8; unit++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        glTranslatef((float)unit, 0, 0);
        for (int i = 0; i < unit % 4; i++) {
            glPushMatrix();
            glScalef(2, 1, 1);
        }
    }
    for (int unit = 0; unit < 8; unit++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        FLOATS(GL_TEXTURE_MATRIX, 16);
        INTS(GL_TEXTURE_STACK_DEPTH, 1);
    }
    glPushMatrix();
    glActiveTexture(GL_TEXTURE2);
    glPopMatrix();
    INTS(GL_TEXTURE_STACK_DEPTH, 1);
    glActiveTexture(GL_TEXTURE7);
    INTS(GL_TEXTURE_STACK_DEPTH, 1);
    errors("texture matrices");
}

static void texture_matrix(void)
{
    unsigned char image[32 * 32 * 4];
    checkerboard(image, 32, 32, 8);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glEnable(GL_TEXTURE_2D);
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        glMatrixMode(GL_TEXTURE);
        glLoadIdentity();
        if (i == 1)
            glRotatef(30, 0, 0, 1);
        if (i == 2)
            glScalef(3, 0.5f, 1);
        if (i == 3)
            glMultMatrixf((const GLfloat[]){1, 0, 0, 0.7f, 0, 1, 0, 0.3f, 0, 0, 1, 0, 0, 0, 0, 1});
        glMatrixMode(GL_MODELVIEW);
        square(0.9f);
    }
}

/* A perspective view with depth, through viewports and depth ranges of several kinds. */
static void viewports(void)
{
    glEnable(GL_DEPTH_TEST);
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        glDepthRange(i == 1 ? 1 : 0, i == 1 ? 0 : i == 2 ? 0.5 : 1);
        glMatrixMode(GL_PROJECTION);
        glLoadIdentity();
        glFrustum(-1, 1, -1, 1, 1, 10);
        glMatrixMode(GL_MODELVIEW);
        glLoadIdentity();
        glTranslatef(0, 0, -2.5f);
        glRotatef(50, 0.3f, 1, 0.1f);
        for (int face = 0; face < 6; face++) {
            color_of(face);
            glPushMatrix();
            glRotatef(90 * (float)(face % 4), 0, face < 4, face >= 4);
            if (face >= 4)
                glRotatef(face == 4 ? 90 : -90, 1, 0, 0);
            glTranslatef(0, 0, 0.7f);
            square(0.7f);
            glPopMatrix();
        }
    }
    FLOATS(GL_DEPTH_RANGE, 2);
    INTS(GL_DEPTH_RANGE, 2);
    INTS(GL_VIEWPORT, 4);
    glViewport(0, 0, 1 << 20, 1 << 20);
    INTS(GL_VIEWPORT, 4);
    INTS(GL_MAX_VIEWPORT_DIMS, 2);
    glViewport(0, 0, -1, 5);
    errors("a negative viewport");
}

CONFORM("matrices", COMPAT, {"operations", operations}, {"stacks", stacks}, {"bad_values", bad_values}, {"tree", tree},
        {"texture_units", texture_units}, {"texture_matrix", texture_matrix}, {"viewports", viewports})
