/* The lifetimes of GLX names, and GLX attributes of windows by their X names. */
#include "conform.h"

#include <X11/Xutil.h>

static void start(void)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
}

static GLXContext plain_context(void)
{
    return glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
}

/* Logs the result of a query, or its X error. */
static void query(const char *what, GLXDrawable drawable, int attribute)
{
    unsigned value = 7777;
    begin_x_errors();
    glXQueryDrawable(display, drawable, attribute, &value);
    end_x_errors(what);
    note("%s: %u", what, value);
}

static void destroy_window(const char *what, GLXWindow window)
{
    begin_x_errors();
    glXDestroyWindow(display, window);
    end_x_errors(what);
}

static void destroy_context(const char *what, GLXContext context)
{
    begin_x_errors();
    glXDestroyContext(display, context);
    end_x_errors(what);
}

/* A current context keeps its name until it is released, even if it is destroyed several times. */
static void contexts(void)
{
    start();
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    GLXContext context = plain_context();
    note("current: %d", glXMakeCurrent(display, window.id, context));
    destroy_context("destroyed while current", context);
    note("it is direct: %d", glXIsDirect(display, context));
    int screen = -1, type = -1;
    note("asked: %d %d", glXQueryContext(display, context, GLX_SCREEN, &screen), glXQueryContext(display, context, GLX_RENDER_TYPE, &type));
    note("screen %d, type %x", screen == DefaultScreen(display), (unsigned)type);
    GLXContext friend = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, context, True);
    note("another shares with it: %d", friend != NULL);
    note("current again: %d", glXMakeCurrent(display, window.id, context));
    note("it is current: %d", glXGetCurrentContext() == context);
    glClearColor(0, 1, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    unsigned char pixel[4] = {0};
    glReadPixels(1, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note_bytes("it draws", pixel, 4);
    glXSwapBuffers(display, window.id);
    destroy_context("destroyed again", context);
    note("it is still current: %d", glXGetCurrentContext() == context);
    note("released: %d", glXMakeCurrent(display, None, NULL));
    glXDestroyContext(display, friend);
    close_window(&window);
}

/* A GLX window ends with the X window that it was made for. */
static void windows(void)
{
    start();
    struct window window = open_window(default_config(), 0, 60, 40);
    GLXWindow drawable = glXCreateWindow(display, default_config(), window.id, NULL);
    destroy_window("destroyed first", drawable);
    XWindowAttributes attributes;
    note("its window stays: %d", XGetWindowAttributes(display, window.id, &attributes) != 0);
    close_window(&window);

    window = open_window(default_config(), 0, 60, 40);
    drawable = glXCreateWindow(display, default_config(), window.id, NULL);
    close_window(&window);
    destroy_window("destroyed after its window", drawable);
    destroy_window("once more", drawable);

    window = open_window(default_config(), 0, 60, 40);
    drawable = glXCreateWindow(display, default_config(), window.id, NULL);
    query("width", drawable, GLX_WIDTH);
    close_window(&window);
    query("width after the window is destroyed", drawable, GLX_WIDTH);
}

static int id_of(GLXFBConfig config)
{
    int id = 0;
    glXGetFBConfigAttrib(display, config, GLX_FBCONFIG_ID, &id);
    return id;
}

/* Under its X name, a window has a config as soon as GLX knows the window. The config is that of
 * the window's visual, not that of the context. */
static void configs(void)
{
    start();
    GLXFBConfig config = default_config();
    XVisualInfo *visual = glXGetVisualFromFBConfig(display, config);
    struct window window = open_window(config, 0, 60, 40);
    query("a window without any drawing", window.id, GLX_FBCONFIG_ID);
    unsigned value = 7777;
    GLXWindow drawable = glXCreateWindow(display, config, window.id, NULL);
    glXQueryDrawable(display, window.id, GLX_FBCONFIG_ID, &value);
    note("of a window with a GLX window: %d", (int)value == id_of(config));
    query("its type", window.id, GLX_DRAWABLE_TYPE);
    query("its height", window.id, GLX_HEIGHT);
    glXDestroyWindow(display, drawable);
    query("without it", window.id, GLX_FBCONFIG_ID);

    GLXContext context = glXCreateContext(display, visual, NULL, True);
    note("current: %d", glXMakeCurrent(display, window.id, context));
    glXQueryDrawable(display, window.id, GLX_FBCONFIG_ID, &value);
    note("of a context from a visual: %d", (int)value == id_of(config));
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);

    Window simple = XCreateSimpleWindow(display, DefaultRootWindow(display), 0, 0, 9, 9, 0, 0, 0);
    context = plain_context();
    note("current on another visual: %d", glXMakeCurrent(display, simple, context));
    glXQueryDrawable(display, simple, GLX_FBCONFIG_ID, &value);
    int count = 0;
    GLXFBConfig *all = glXGetFBConfigs(display, DefaultScreen(display), &count);
    for (int i = 0; i < count; i++) {
        int its_visual = 0;
        glXGetFBConfigAttrib(display, all[i], GLX_VISUAL_ID, &its_visual);
        if (its_visual != (int)XVisualIDFromVisual(DefaultVisual(display, DefaultScreen(display))))
            continue;
        note("that visual's config: %d", id_of(all[i]) == (int)value);
        break;
    }
    XFree(all);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    XDestroyWindow(display, simple);

    Pixmap pixmap = XCreatePixmap(display, DefaultRootWindow(display), 9, 9, visual->depth);
    GLXPixmap old = glXCreateGLXPixmap(display, visual, pixmap);
    glXQueryDrawable(display, old, GLX_FBCONFIG_ID, &value);
    note("of a pixmap from a visual: %d", (int)value == id_of(config));
    glXDestroyGLXPixmap(display, old);
    XFreePixmap(display, pixmap);
    XFree(visual);
}

/* Names that do not belong to any drawable. */
static void strangers(void)
{
    start();
    Pixmap pixmap = XCreatePixmap(display, DefaultRootWindow(display), 9, 9, 24);
    query("an X pixmap", pixmap, GLX_WIDTH);
    query("a number", 0x12345, GLX_HEIGHT);
    query("no drawable", None, GLX_WIDTH);
    XFreePixmap(display, pixmap);
}

/* Contexts have the render type of their config. Since OpenGL 3.0, there are no colour indices. */
static void render_types(void)
{
    static const int types[] = {GLX_RGBA_TYPE, GLX_COLOR_INDEX_TYPE, GLX_RGBA_FLOAT_TYPE_ARB, GLX_RGBA_UNSIGNED_FLOAT_TYPE_EXT, 0x8016, -1};
    static const int versions[][3] = {{1, 0, 0}, {1, 4, 0}, {1, 5, 0}, {2, 1, 0}, {2, 2, 0}, {3, 0, 0}, {3, 2, 1}, {3, 2, 2}, {3, 2, 8}, {2, 1, 8}, {2, 0, 4}, {3, 0, 4}};
    start();
    default_config();
    for (int v = 0; v < (int)(sizeof versions / sizeof *versions); v++)
        for (int t = 0; t < (int)(sizeof types / sizeof *types); t++)
            for (int forward = 0; forward < 2; forward++) {
                int list[9] = {GLX_CONTEXT_MAJOR_VERSION_ARB, versions[v][0], GLX_CONTEXT_MINOR_VERSION_ARB, versions[v][1], GLX_RENDER_TYPE, types[t]};
                int more = 6;
                if (versions[v][2]) {
                    list[more++] = GLX_CONTEXT_PROFILE_MASK_ARB;
                    list[more++] = versions[v][2];
                }
                int whole[12];
                memcpy(whole, list, sizeof list);
                if (forward) {
                    whole[more++] = GLX_CONTEXT_FLAGS_ARB;
                    whole[more++] = GLX_CONTEXT_FORWARD_COMPATIBLE_BIT_ARB;
                }
                whole[more] = None;
                char what[64];
                snprintf(what, sizeof what, "%d.%d, profile %d, type %x, forward %d", versions[v][0], versions[v][1], versions[v][2], (unsigned)types[t], forward);
                begin_x_errors();
                GLXContext made = glXCreateContextAttribsARB(display, default_config(), NULL, True, whole);
                end_x_errors(what);
                note("%s: %d", what, made != NULL);
                if (made)
                    glXDestroyContext(display, made);
            }
}

CONFORM("glx_lifetimes", NONE, {"contexts", contexts}, {"windows", windows}, {"configs", configs}, {"strangers", strangers}, {"render_types", render_types})
