/* Windows, configs, contexts and X errors. */
#include "conform.h"

#include <X11/Xutil.h>

Display *display;
struct window main_window;

static int (*previous_handler)(Display *, XErrorEvent *);
static int x_errors, glx_error_base;
static char x_error_text[16][96];

GLXFBConfig choose_config(const int *attributes)
{
    int count = 0;
    GLXFBConfig *found = glXChooseFBConfig(display, DefaultScreen(display), attributes, &count), first = NULL;
    if (found && count)
        first = found[0];
    if (found)
        XFree(found);
    return first;
}

GLXFBConfig default_config(void)
{
    static const int wanted[] = {GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_DRAWABLE_TYPE, GLX_WINDOW_BIT, GLX_X_RENDERABLE, True, GLX_DOUBLEBUFFER, True,
                                 GLX_RED_SIZE, 8, GLX_GREEN_SIZE, 8, GLX_BLUE_SIZE, 8, GLX_ALPHA_SIZE, 8, GLX_DEPTH_SIZE, 24, GLX_STENCIL_SIZE, 8,
                                 None};
    static GLXFBConfig config;
    if (!config)
        config = choose_config(wanted);
    if (!config)
        fail("there is no double-buffered RGBA config with depth and stencil");
    return config;
}

static Bool is_map_of(Display *from, XEvent *event, XPointer window)
{
    (void)from;
    return event->type == MapNotify && event->xmap.window == *(Window *)window;
}

struct window open_window(GLXFBConfig config, int slot, int width, int height)
{
    struct window window = {.config = config, .width = width, .height = height};
    XVisualInfo *visual = glXGetVisualFromFBConfig(display, config);
    if (!visual)
        fail("the config has no X visual");
    Window root = RootWindow(display, visual->screen);
    window.colormap = XCreateColormap(display, root, visual->visual, AllocNone);
    XSetWindowAttributes attributes = {.colormap = window.colormap, .event_mask = StructureNotifyMask, .override_redirect = True};
    window.id = XCreateWindow(display, root, slot % 4 * 300, slot / 4 * 300, (unsigned)width, (unsigned)height, 0, visual->depth, InputOutput,
                              visual->visual, CWColormap | CWBorderPixel | CWEventMask | CWOverrideRedirect, &attributes);
    XFree(visual);
    XMapWindow(display, window.id);
    XEvent event;
    XIfEvent(display, &event, is_map_of, (XPointer)&window.id);
    return window;
}

void close_window(struct window *window)
{
    XDestroyWindow(display, window->id);
    XFreeColormap(display, window->colormap);
    window->id = None;
}

GLXContext create_context(GLXFBConfig config, GLXContext share, const int *attributes)
{
    begin_x_errors();
    GLXContext context = glXCreateContextAttribsARB(display, config, share, True, attributes);
    if (end_x_errors("glXCreateContextAttribsARB") || !context) {
        if (context)
            glXDestroyContext(display, context);
        return NULL;
    }
    return context;
}

static int remember_error(Display *from, XErrorEvent *event)
{
    static const char *const glx_names[] = {"GLXBadContext", "GLXBadContextState", "GLXBadDrawable", "GLXBadPixmap", "GLXBadContextTag",
                                            "GLXBadCurrentWindow", "GLXBadRenderRequest", "GLXBadLargeRequest", "GLXUnsupportedPrivateRequest",
                                            "GLXBadFBConfig", "GLXBadPbuffer", "GLXBadCurrentDrawable", "GLXBadWindow", "GLXBadProfileARB"};
    int index = event->error_code - glx_error_base;
    (void)from;
    if (x_errors < 16) {
        if (index >= 0 && index < 14)
            snprintf(x_error_text[x_errors], sizeof *x_error_text, "%s", glx_names[index]);
        else
            snprintf(x_error_text[x_errors], sizeof *x_error_text, "X error %d", event->error_code);
    }
    x_errors++;
    return 0;
}

void begin_x_errors(void)
{
    int event_base;
    XSync(display, False);
    glXQueryExtension(display, &glx_error_base, &event_base);
    x_errors = 0;
    previous_handler = XSetErrorHandler(remember_error);
}

int end_x_errors(const char *what)
{
    XSync(display, False);
    XSetErrorHandler(previous_handler);
    for (int i = 0; i < x_errors && i < 16; i++)
        note("%s: %s", what, x_error_text[i]);
    return x_errors;
}
