/* Alpha, stencil and depth tests, the scissor, masks and logic operations. */
#include "conform.h"

static const GLenum functions[] = {GL_NEVER, GL_LESS, GL_EQUAL, GL_LEQUAL, GL_GREATER, GL_NOTEQUAL, GL_GEQUAL, GL_ALWAYS};

static void alpha(void)
{
    glEnable(GL_ALPHA_TEST);
    for (int i = 0; i < 8; i++) {
        cell(i % 4, i / 4, 4, 2);
        glAlphaFunc(functions[i], i == 2 || i == 5 ? 0 : 0.4f);
        glBegin(GL_QUADS);
        glColor4f(1, 0.5f, 0, 0);
        glVertex2f(-0.9f, -0.9f);
        glVertex2f(0, -0.9f);
        glColor4f(0, 0.5f, 1, i == 2 || i == 5 ? 0 : 1);
        glVertex2f(0.9f, 0.9f);
        glVertex2f(-0.9f, 0.9f);
        glEnd();
        INTS(GL_ALPHA_TEST_FUNC, 1);
        FLOATS(GL_ALPHA_TEST_REF, 1);
    }
    glAlphaFunc(GL_ONE, 0);
    errors("function");
    glAlphaFunc(GL_LESS, 5);
    FLOATS(GL_ALPHA_TEST_REF, 1);
}

static void slope(float left, float right)
{
    glBegin(GL_QUADS);
    glVertex3f(-0.9f, -0.6f, left);
    glVertex3f(0.9f, -0.6f, right);
    glVertex3f(0.9f, 0.6f, right);
    glVertex3f(-0.9f, 0.6f, left);
    glEnd();
}

static void depth(void)
{
    glEnable(GL_DEPTH_TEST);
    for (int i = 0; i < 12; i++) {
        cell(i % 4, i / 4, 4, 3);
        glDepthFunc(GL_ALWAYS);
        glDepthMask(i != 9);
        glColor3f(0.2f, 0.4f, 1);
        slope(-0.8f, 0.8f);
        glDepthMask(GL_TRUE);
        glDepthFunc(i < 8 ? functions[i] : GL_LESS);
        if (i == 10)
            glDepthRange(0.2, 0.6);
        if (i == 11)
            glDisable(GL_DEPTH_TEST);
        glColor3f(1, 0.6f, 0.1f);
        slope(i % 2 ? 0.8f : -0.8f, i % 2 ? -0.8f : 0.8f);
        glDepthRange(0, 1);
        INTS(GL_DEPTH_FUNC, 1);
        BOOLS(GL_DEPTH_WRITEMASK, 1);
    }
    GLfloat value = 0;
    glReadPixels(32, 40, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT, &value);
    note("depth %.9g", (double)value);
    glDepthFunc(GL_ZERO);
    errors("function");
}

static void clears(void)
{
    for (int i = 0; i < 16; i++) {
        glEnable(GL_SCISSOR_TEST);
        glScissor(i % 4 * 64, i / 4 * 64, 60, 60);
        glClearColor((float)i / 16, 1 - (float)i / 16, i % 2 ? 1 : 0, (float)i / 15);
        glClearDepth((double)i / 15);
        glClearStencil(i * 15);
        glColorMask(i % 3 != 0, i % 4 != 0, i % 5 != 0, 1);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    }
    glDisable(GL_SCISSOR_TEST);
    GLfloat depths[16];
    GLubyte stencils[16];
    for (int i = 0; i < 16; i++) {
        glReadPixels(i % 4 * 64 + 5, i / 4 * 64 + 5, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT, &depths[i]);
        glReadPixels(i % 4 * 64 + 5, i / 4 * 64 + 5, 1, 1, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, &stencils[i]);
    }
    note_floats("depths", depths, 16);
    note_bytes("stencils", stencils, 16);
    FLOATS(GL_COLOR_CLEAR_VALUE, 4);
    INTS(GL_COLOR_CLEAR_VALUE, 4);
    FLOATS(GL_DEPTH_CLEAR_VALUE, 1);
    INTS(GL_STENCIL_CLEAR_VALUE, 1);
    BOOLS(GL_COLOR_WRITEMASK, 4);
    INTS(GL_SCISSOR_BOX, 4);
    glClear(0xFFFFFFFF);
    errors("glClear of unknown bits");
    glScissor(0, 0, -1, 0);
    errors("negative scissor");
    glClearDepth(5);
    FLOATS(GL_DEPTH_CLEAR_VALUE, 1);
}

static void stencil_operations(void)
{
    static const GLenum operations[] = {GL_KEEP, GL_ZERO, GL_REPLACE, GL_INCR, GL_DECR, GL_INVERT, GL_INCR_WRAP, GL_DECR_WRAP};
    GLubyte values[64 * 64];
    glEnable(GL_STENCIL_TEST);
    glEnable(GL_DEPTH_TEST);
    for (int i = 0; i < 64; i++) {
        glViewport(i % 8 * 8, i / 8 * 8, 8, 8);
        glStencilFunc(GL_ALWAYS, i * 4, 0xFF);
        glStencilOp(GL_KEEP, GL_REPLACE, GL_REPLACE);
        square(1);
        glStencilFunc(functions[i / 8], 100, i % 2 ? 0xFF : 0x7C);
        glStencilOp(operations[i % 8], operations[(i + 3) % 8], operations[(i + 5) % 8]);
        glColor3f(1, 1, 0);
        slope(-1, 1);
    }
    glReadPixels(0, 0, 64, 64, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, values);
    note_bytes("stencil values", values, sizeof values);
    INTS(GL_STENCIL_FUNC, 1);
    INTS(GL_STENCIL_REF, 1);
    INTS(GL_STENCIL_VALUE_MASK, 1);
    INTS(GL_STENCIL_FAIL, 1);
    INTS(GL_STENCIL_PASS_DEPTH_FAIL, 1);
    INTS(GL_STENCIL_PASS_DEPTH_PASS, 1);
    glDisable(GL_STENCIL_TEST);
    glDisable(GL_DEPTH_TEST);
    glRasterPos2f(-1, 0);
    glViewport(0, 0, SIZE, SIZE);
    glRasterPos2f(-1, 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glDrawPixels(64, 64, GL_LUMINANCE, GL_UNSIGNED_BYTE, values);
}

static void stencil_mirror(void)
{
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_ALWAYS, 1, 1);
    glStencilOp(GL_KEEP, GL_KEEP, GL_INVERT);
    glColorMask(0, 0, 0, 0);
    glBegin(GL_TRIANGLE_FAN); /* a self-crossing star, filled by the even-odd rule */
    static const float star[][2] = {{0, 0.9f}, {-0.55f, -0.8f}, {0.88f, 0.27f}, {-0.88f, 0.27f}, {0.55f, -0.8f}};
    for (int i = 0; i < 5; i++)
        glVertex2fv(star[i]);
    glEnd();
    glColorMask(1, 1, 1, 1);
    glStencilFunc(GL_EQUAL, 1, 1);
    glStencilMask(0);
    for (int i = 0; i < 10; i++) {
        color_of(i);
        glRectf(-1 + 0.2f * (float)i, -1, -0.8f + 0.2f * (float)i, 1);
    }
    INTS(GL_STENCIL_WRITEMASK, 1);
}

static void stencil_sides(void)
{
    if (!need_version(2, 0))
        return;
    GLubyte values[32 * 32];
    glEnable(GL_STENCIL_TEST);
    glStencilFuncSeparate(GL_FRONT, GL_ALWAYS, 3, 0xFF);
    glStencilFuncSeparate(GL_BACK, GL_ALWAYS, 9, 0xFF);
    glStencilOpSeparate(GL_FRONT, GL_KEEP, GL_KEEP, GL_REPLACE);
    glStencilOpSeparate(GL_BACK, GL_KEEP, GL_KEEP, GL_INCR_WRAP);
    glStencilMaskSeparate(GL_FRONT, 0x0F);
    glStencilMaskSeparate(GL_BACK, 0xFD);
    for (int i = 0; i < 5; i++) {
        color_of(i);
        glPushMatrix();
        glRotatef(180, 0, i % 2 ? 1 : 0, 1);
        square(0.9f - 0.1f * (float)i);
        glPopMatrix();
    }
    glReadPixels(0, 0, 32, 32, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, values);
    note_bytes("stencil values", values, sizeof values);
    INTS(GL_STENCIL_BACK_FUNC, 1);
    INTS(GL_STENCIL_BACK_REF, 1);
    INTS(GL_STENCIL_BACK_WRITEMASK, 1);
    INTS(GL_STENCIL_BACK_PASS_DEPTH_PASS, 1);
    INTS(GL_STENCIL_WRITEMASK, 1);
    errors("sides");
}

static void logic_operations(void)
{
    glEnable(GL_COLOR_LOGIC_OP);
    for (int i = 0; i < 16; i++) {
        cell(i % 4, i / 4, 4, 4);
        glLogicOp(GL_COPY);
        glColor4ub(0x33, 0x5A, 0xF0, 0x0F);
        glRectf(-0.9f, -0.9f, 0.3f, 0.3f);
        glLogicOp(GL_CLEAR + (GLenum)i);
        glColor4ub(0x55, 0xC3, 0x3C, 0xAA);
        glRectf(-0.3f, -0.3f, 0.9f, 0.9f);
        INTS(GL_LOGIC_OP_MODE, 1);
    }
    ENABLED(GL_COLOR_LOGIC_OP);
    ENABLED(GL_INDEX_LOGIC_OP);
    glLogicOp(GL_ADD);
    errors("operation");
}

static void color_masks(void)
{
    for (int i = 0; i < 16; i++) {
        cell(i % 4, i / 4, 4, 4);
        glColorMask(i & 1, i & 2, i & 4, i & 8);
        glColor4f(0.9f, 0.8f, 0.7f, 0.6f);
        square(0.8f);
        BOOLS(GL_COLOR_WRITEMASK, 4);
    }
    INTS(GL_COLOR_WRITEMASK, 4);
    glColorMask(1, 1, 1, 1);
}

static void scissors(void)
{
    glEnable(GL_SCISSOR_TEST);
    INTS(GL_SCISSOR_BOX, 4);
    for (int i = 0; i < 20; i++) {
        glScissor(i * 12 - 10, i * 10 - 20, 40 + i, 60 - 2 * i);
        color_of(i);
        square(1);
    }
    INTS(GL_SCISSOR_BOX, 4);
    glScissor(100, 100, 0, 0);
    glColor3f(1, 1, 1);
    square(1);
    glScissor(-50, 200, 5000, 5);
    square(1);
}

CONFORM("fragment_tests", COMPAT, {"alpha", alpha}, {"depth", depth}, {"clears", clears}, {"stencil_operations", stencil_operations},
        {"stencil_mirror", stencil_mirror}, {"stencil_sides", stencil_sides}, {"logic_operations", logic_operations}, {"color_masks", color_masks},
        {"scissors", scissors})
