/* Blend factors, equations, the constant colour, and blending of separate alpha and buffers. */
#include "conform.h"

static void two_squares(void)
{
    glDisable(GL_BLEND);
    glColor4f(0.2f, 0.5f, 0.9f, 0.6f);
    glRectf(-0.9f, -0.9f, 0.4f, 0.4f);
    glEnable(GL_BLEND);
    glBegin(GL_QUADS);
    glColor4f(0.9f, 0.4f, 0.1f, 0.2f);
    glVertex2f(-0.4f, -0.4f);
    glVertex2f(0.9f, -0.4f);
    glColor4f(0.1f, 0.8f, 0.3f, 0.9f);
    glVertex2f(0.9f, 0.9f);
    glVertex2f(-0.4f, 0.9f);
    glEnd();
}

static void factors(void)
{
    static const GLenum factors[] = {GL_ZERO, GL_ONE, GL_SRC_COLOR, GL_ONE_MINUS_SRC_COLOR, GL_DST_COLOR, GL_ONE_MINUS_DST_COLOR, GL_SRC_ALPHA,
                                     GL_ONE_MINUS_SRC_ALPHA, GL_DST_ALPHA, GL_ONE_MINUS_DST_ALPHA, GL_CONSTANT_COLOR, GL_ONE_MINUS_CONSTANT_COLOR,
                                     GL_CONSTANT_ALPHA, GL_ONE_MINUS_CONSTANT_ALPHA, GL_SRC_ALPHA_SATURATE};
    glBlendColor(0.3f, 0.6f, 0.8f, 0.5f);
    for (int source = 0; source < 15; source++) {
        for (int target = 0; target < 15; target++) {
            cell(source, target, 15, 15);
            glBlendFunc(factors[source], factors[target]);
            two_squares();
        }
    }
    FLOATS(GL_BLEND_COLOR, 4);
    INTS(GL_BLEND_SRC, 1);
    INTS(GL_BLEND_DST, 1);
    errors("factors");
}

static void equations(void)
{
    static const GLenum equations[] = {GL_FUNC_ADD, GL_FUNC_SUBTRACT, GL_FUNC_REVERSE_SUBTRACT, GL_MIN, GL_MAX};
    for (int rgb = 0; rgb < 5; rgb++) {
        for (int alpha = 0; alpha < 5; alpha++) {
            cell(rgb, alpha, 5, 5);
            if (rgb == alpha)
                glBlendEquation(equations[rgb]);
            else
                glBlendEquationSeparate(equations[rgb], equations[alpha]);
            glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE, alpha % 2 ? GL_ONE : GL_DST_ALPHA, GL_ZERO);
            two_squares();
            INTS(GL_BLEND_EQUATION_RGB, 1);
            INTS(GL_BLEND_EQUATION_ALPHA, 1);
        }
    }
    INTS(GL_BLEND_SRC_RGB, 1);
    INTS(GL_BLEND_DST_RGB, 1);
    INTS(GL_BLEND_SRC_ALPHA, 1);
    INTS(GL_BLEND_DST_ALPHA, 1);
}

static void layers(void)
{
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    random_seed(3);
    for (int i = 0; i < 400; i++) {
        float x = random_float() * 2 - 1, y = random_float() * 2 - 1;
        glColor4f(random_float(), random_float(), random_float(), 0.2f + 0.3f * random_float());
        glRectf(x, y, x + 0.5f * random_float(), y + 0.5f * random_float());
    }
}

static void wrong(void)
{
    no_picture();
    glBlendFunc(GL_ADD, GL_ONE);
    errors("source factor");
    glBlendFunc(GL_ONE, GL_NEVER);
    errors("target factor");
    glBlendEquation(GL_ONE);
    errors("equation");
    glBlendColor(2, -1, 0.5f, 3);
    FLOATS(GL_BLEND_COLOR, 4);
    INTS(GL_BLEND_SRC, 1);
    INTS(GL_BLEND_EQUATION, 1);
}

CONFORM("blending", COMPAT, {"factors", factors}, {"equations", equations}, {"layers", layers}, {"wrong", wrong})
