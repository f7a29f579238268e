/* Rendering that depends on the result of a query, in all modes, and errors. */
#include "conform.h"

static GLuint queries[6];

/* A query of samples with or without visible samples. */
static void ask(GLuint query, GLenum target, bool visible)
{
    glBeginQuery(target, query);
    if (!visible)
        glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 0, 0);
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    glRectf(-0.5f, -0.5f, 0.5f, 0.5f);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glDisable(GL_SCISSOR_TEST);
    glEndQuery(target);
}

static void modes(void)
{
    if (!need_version(3, 0))
        return no_picture();
    static const GLenum all[] = {GL_QUERY_WAIT,          GL_QUERY_NO_WAIT,          GL_QUERY_BY_REGION_WAIT,          GL_QUERY_BY_REGION_NO_WAIT,
                                 GL_QUERY_WAIT_INVERTED, GL_QUERY_NO_WAIT_INVERTED, GL_QUERY_BY_REGION_WAIT_INVERTED, GL_QUERY_BY_REGION_NO_WAIT_INVERTED};
    bool inverted = has_extension("GL_ARB_conditional_render_inverted");
    /* If possible, these names differ from the names of the driver. */
    glGenQueries(6, queries);
    glDeleteQueries(2, queries);
    glBeginQuery(GL_SAMPLES_PASSED, 700);
    glEndQuery(GL_SAMPLES_PASSED);
    ask(queries[3], GL_SAMPLES_PASSED, false);
    ask(queries[2], GL_SAMPLES_PASSED, true);
    ask(queries[4], GL_ANY_SAMPLES_PASSED, true);
    ask(queries[5], GL_ANY_SAMPLES_PASSED, false);
    for (int q = 2; q < 6; q++) {
        GLuint result = 77;
        glGetQueryObjectuiv(queries[q], GL_QUERY_RESULT, &result);
        note("result %d", result != 0);
    }
    for (int m = 0; m < (inverted ? 8 : 4); m++) {
        for (int q = 2; q < 6; q++) {
            color_of(m * 4 + q);
            cell(m, q - 2, 8, 4);
            glBeginConditionalRender(queries[q], all[m]);
            glRectf(-0.9f, -0.9f, 0.9f, 0.9f);
            glEndConditionalRender();
        }
        errors("mode");
    }
    /* Conditional rendering applies to clears and blits, but not to uploads. */
    cell(0, 0, 1, 1);
    glBeginConditionalRender(queries[3], GL_QUERY_WAIT);
    glClearColor(1, 1, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glRasterPos2f(-0.5f, -0.5f);
    static const GLubyte pixel[16] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    glPixelZoom(20, 20);
    glDrawPixels(2, 2, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    glEndConditionalRender();
    errors("left out");
}

static void wrong(void)
{
    no_picture();
    if (!need_version(3, 0))
        return;
    glGenQueries(6, queries);
    ask(queries[0], GL_SAMPLES_PASSED, true);
    glBeginConditionalRender(queries[0], GL_LINEAR);
    errors("no such mode");
    glBeginConditionalRender(7777, GL_QUERY_WAIT);
    errors("no such query");
    glBeginConditionalRender(0, GL_QUERY_WAIT);
    errors("no query");
    glBeginConditionalRender(queries[1], GL_QUERY_WAIT);
    errors("never used");
    glEndConditionalRender();
    errors("not begun");
    glBeginConditionalRender(queries[0], GL_QUERY_WAIT);
    glBeginConditionalRender(queries[0], GL_QUERY_WAIT);
    errors("twice");
    glEndConditionalRender();
    glBeginQuery(GL_SAMPLES_PASSED, queries[2]);
    glBeginConditionalRender(queries[2], GL_QUERY_WAIT);
    errors("at work");
    glEndQuery(GL_SAMPLES_PASSED);
    if (has_extension("GL_ARB_timer_query")) {
        glQueryCounter(queries[3], GL_TIMESTAMP);
        glBeginConditionalRender(queries[3], GL_QUERY_WAIT);
        errors("a time");
        glEndConditionalRender();
        errors("ended");
    }
    glBegin(GL_POINTS);
    glBeginConditionalRender(queries[0], GL_QUERY_WAIT);
    glEnd();
    errors("inside");
}

CONFORM("conditional_rendering", COMPAT, {"modes", modes}, {"wrong", wrong})
