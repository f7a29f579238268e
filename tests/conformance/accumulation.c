/* The accumulation buffer, where there is a config that has one. */
#include "conform.h"

static void scene(int index)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glPushMatrix();
    glRotatef(4 * (float)index, 0, 0, 1);
    for (int i = 0; i < 5; i++) {
        color_of(i);
        square(0.7f - 0.13f * (float)i);
    }
    glPopMatrix();
}

static void in_window(const int *wanted, void (*draw)(void))
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    GLXFBConfig config = choose_config(wanted);
    if (!config) {
        skip("a config with an accumulation buffer");
        return;
    }
    struct window window = open_window(config, 0, SIZE, SIZE);
    GLXContext context = glXCreateNewContext(display, config, GLX_RGBA_TYPE, NULL, True);
    glXMakeCurrent(display, window.id, context);
    glClear(GL_COLOR_BUFFER_BIT | GL_ACCUM_BUFFER_BIT);
    draw();
    errors("accumulation");
    picture(NULL);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

static void with_accumulation(void (*draw)(void))
{
    static const int wanted[] = {GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_X_RENDERABLE, True, GLX_DOUBLEBUFFER, True, GLX_RED_SIZE, 8, GLX_ALPHA_SIZE, 8,
                                 GLX_ACCUM_RED_SIZE, 16, GLX_ACCUM_GREEN_SIZE, 16, GLX_ACCUM_BLUE_SIZE, 16, GLX_ACCUM_ALPHA_SIZE, 16, None};
    in_window(wanted, draw);
}

static void draw_blur(void)
{
    INTS(GL_ACCUM_RED_BITS, 1);
    INTS(GL_ACCUM_ALPHA_BITS, 1);
    for (int i = 0; i < 8; i++) {
        scene(i);
        glAccum(i ? GL_ACCUM : GL_LOAD, 0.125f);
    }
    glAccum(GL_RETURN, 1);
}

static void draw_operations(void)
{
    glClearAccum(0.2f, 0.1f, 0.4f, 0.5f);
    glClear(GL_ACCUM_BUFFER_BIT);
    FLOATS(GL_ACCUM_CLEAR_VALUE, 4);
    scene(0);
    glAccum(GL_ACCUM, 0.5f);
    scene(5);
    glAccum(GL_MULT, 0.75f);
    glAccum(GL_ADD, 0.1f);
    glEnable(GL_SCISSOR_TEST);
    glScissor(20, 20, 100, 200);
    glAccum(GL_LOAD, 0.7f);
    glAccum(GL_RETURN, 1);
    glScissor(130, 20, 100, 200);
    glAccum(GL_RETURN, 2);
    glDisable(GL_SCISSOR_TEST);
    glAccum(GL_ZERO, 1);
    errors("operation");
}

static void blur(void)
{
    with_accumulation(draw_blur);
}

static void operations(void)
{
    with_accumulation(draw_operations);
}

static void draw_without(void)
{
    scene(0);
    glAccum(GL_LOAD, 1);
    errors("without an accumulation buffer");
    glAccum(GL_COLOR, 1);
    errors("no operation");
}

static void without(void)
{
    static const int wanted[] = {GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_X_RENDERABLE, True, GLX_DOUBLEBUFFER, True, GLX_RED_SIZE, 8, GLX_ALPHA_SIZE, 8,
                                 GLX_ACCUM_RED_SIZE, 0, None};
    in_window(wanted, draw_without);
}

CONFORM("accumulation", NONE, {"blur", blur}, {"operations", operations}, {"without", without})
