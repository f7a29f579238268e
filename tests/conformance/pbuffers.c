/* GLX pbuffers: drawing, reading, sharing with a window, and queries of attributes. */
#include "conform.h"

static GLXFBConfig config;
static GLXContext context;

static bool start(void)
{
    static const int wanted[] = {GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_DRAWABLE_TYPE, GLX_PBUFFER_BIT | GLX_WINDOW_BIT, GLX_X_RENDERABLE, True,
                                 GLX_DOUBLEBUFFER, True, GLX_RED_SIZE, 8, GLX_GREEN_SIZE, 8, GLX_BLUE_SIZE, 8, GLX_ALPHA_SIZE, 8, GLX_DEPTH_SIZE, 24,
                                 GLX_STENCIL_SIZE, 8, None};
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    config = choose_config(wanted);
    if (!config) {
        skip("a config for pbuffers and windows");
        return false;
    }
    context = glXCreateNewContext(display, config, GLX_RGBA_TYPE, NULL, True);
    return true;
}

static void end(void)
{
    errors("end of scene");
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
}

static GLXPbuffer pbuffer_of(int width, int height)
{
    const int attributes[] = {GLX_PBUFFER_WIDTH, width, GLX_PBUFFER_HEIGHT, height, GLX_PRESERVED_CONTENTS, True, None};
    return glXCreatePbuffer(display, config, attributes);
}

static void burst(int rays)
{
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    for (int i = 0; i < rays; i++) {
        color_of(i);
        glPushMatrix();
        glRotatef(360 * (float)i / (float)rays, 0, 0, 1);
        glRectf(0.1f, -0.08f, 0.95f, 0.08f);
        glPopMatrix();
    }
}

static void drawing(void)
{
    if (!start())
        return;
    static const int sizes[][2] = {{256, 256}, {33, 77}, {1000, 600}};
    for (int i = 0; i < 3; i++) {
        GLXPbuffer pbuffer = pbuffer_of(sizes[i][0], sizes[i][1]);
        note("current: %d", glXMakeContextCurrent(display, pbuffer, pbuffer, context));
        INTS(GL_VIEWPORT, 4);
        glViewport(0, 0, sizes[i][0], sizes[i][1]);
        burst(9 + i);
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        picture_of(name, GL_BACK, sizes[i][0], sizes[i][1]);
        unsigned width = 0, height = 0, preserved = 7;
        glXQueryDrawable(display, pbuffer, GLX_WIDTH, &width);
        glXQueryDrawable(display, pbuffer, GLX_HEIGHT, &height);
        glXQueryDrawable(display, pbuffer, GLX_PRESERVED_CONTENTS, &preserved);
        note("%ux%u, preserved %u", width, height, preserved);
        glXMakeContextCurrent(display, None, None, NULL);
        glXDestroyPbuffer(display, pbuffer);
    }
    end();
}

/* Draws to a pbuffer, and copies the result into the window. */
static void into_window(void)
{
    if (!start())
        return;
    struct window window = open_window(config, 0, SIZE, SIZE);
    GLXPbuffer pbuffer = pbuffer_of(128, 128);
    glXMakeContextCurrent(display, window.id, window.id, context);
    glClear(GL_COLOR_BUFFER_BIT);
    glXMakeContextCurrent(display, pbuffer, pbuffer, context);
    glViewport(0, 0, 128, 128);
    burst(7);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 0, 0, 128, 128, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glXMakeContextCurrent(display, window.id, pbuffer, context);
    glViewport(0, 0, SIZE, SIZE);
    glWindowPos2i(5, 5);
    glPixelZoom(0.9f, 0.9f);
    glCopyPixels(0, 0, 128, 128, GL_COLOR);
    glXMakeContextCurrent(display, window.id, window.id, context);
    glEnable(GL_TEXTURE_2D);
    glColor3f(1, 1, 1);
    glViewport(128, 128, 128, 128);
    square(0.9f);
    picture(NULL);
    end();
    glXDestroyPbuffer(display, pbuffer);
    close_window(&window);
}

static void two_contexts(void)
{
    if (!start())
        return;
    GLXContext second = glXCreateNewContext(display, config, GLX_RGBA_TYPE, context, True);
    GLXPbuffer pbuffer = pbuffer_of(SIZE, SIZE);
    glXMakeContextCurrent(display, pbuffer, pbuffer, context);
    burst(5);
    glFinish();
    glXMakeContextCurrent(display, pbuffer, pbuffer, second);
    glColor3f(1, 1, 1);
    glRectf(-0.3f, -0.3f, 0.3f, 0.3f);
    picture(NULL);
    end();
    glXDestroyContext(display, second);
    glXDestroyPbuffer(display, pbuffer);
}

/* There is no swap. A swap of a pbuffer has no effect, but with Mesa's software renderer it ends
 * programs with an X error. */
static void buffers(void)
{
    if (!start())
        return;
    GLXPbuffer pbuffer = pbuffer_of(SIZE, SIZE);
    glXMakeContextCurrent(display, pbuffer, pbuffer, context);
    BOOLS(GL_DOUBLEBUFFER, 1);
    INTS(GL_DRAW_BUFFER, 1);
    INTS(GL_READ_BUFFER, 1);
    burst(11);
    picture(NULL);
    end();
    glXDestroyPbuffer(display, pbuffer);
}

CONFORM("pbuffers", NONE, {"drawing", drawing}, {"into_window", into_window}, {"two_contexts", two_contexts}, {"buffers", buffers})
