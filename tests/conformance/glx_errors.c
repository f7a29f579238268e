/* Calls that GLX refuses, and their X errors. Two GLX windows or pixmaps for one X drawable are
 * left out, because current X servers crash later. */
#include "conform.h"

#include <X11/Xutil.h>

static struct window window;
static GLXContext context;

static void start(void)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    window = open_window(default_config(), 0, SIZE, SIZE);
    context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
}

static void end(void)
{
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

static int first_code, first_request, error_base;

static int remember_first(Display *from, XErrorEvent *event)
{
    (void)from;
    if (!first_code) {
        first_code = event->error_code;
        first_request = event->minor_code;
    }
    return 0;
}

static void listen(void)
{
    int event_base;
    glXQueryExtension(display, &error_base, &event_base);
    XSync(display, False);
    first_code = 0;
    XSetErrorHandler(remember_first);
}

/* Logs the first error of a call, or its result if there was none. */
static void tell(const char *what, bool result)
{
    XSync(display, False);
    XSetErrorHandler(NULL);
    if (!first_code)
        note("%s: %d", what, result);
    else if (first_code >= error_base && first_code < error_base + 14)
        note("%s: GLX error %d", what, first_code - error_base);
    else
        note("%s: X error %d", what, first_code);
}

#define CHECK(what, call)                                                                                                                             \
    do {                                                                                                                                              \
        listen();                                                                                                                                     \
        bool result = (call);                                                                                                                         \
        tell(what, result);                                                                                                                           \
    } while (0)
#define REFUSE(what, call) CHECK(what, ((void)(call), true))

static void windows(void)
{
    start();
    GLXWindow first = None;
    CHECK("a window", (first = glXCreateWindow(display, default_config(), window.id, NULL)) != None);
    CHECK("current", glXMakeContextCurrent(display, first, first, context));
    glXMakeContextCurrent(display, None, None, NULL);
    REFUSE("of nothing", glXCreateWindow(display, default_config(), 0x12345, NULL));
    REFUSE("of a pixmap", glXCreateWindow(display, default_config(), XCreatePixmap(display, window.id, 9, 9, 24), NULL));
    REFUSE("destroying the X window's name", glXDestroyWindow(display, window.id));
    REFUSE("destroying", (glXDestroyWindow(display, first), 0));
    REFUSE("destroying twice", (glXDestroyWindow(display, first), 0));
    REFUSE("swapping nothing", (glXSwapBuffers(display, 0x12345), 0));
    end();
}

static void pixmaps(void)
{
    start();
    GLXFBConfig config = default_config();
    XVisualInfo *visual = glXGetVisualFromFBConfig(display, config);
    Pixmap deep = XCreatePixmap(display, window.id, 30, 20, 24), shallow = XCreatePixmap(display, window.id, 30, 20, 1);
    GLXPixmap pixmap = None;
    CHECK("a pixmap", (pixmap = glXCreatePixmap(display, config, deep, NULL)) != None);
    CHECK("the old way", glXCreateGLXPixmap(display, visual, XCreatePixmap(display, window.id, 30, 20, 24)) != None);
    REFUSE("of nothing", glXCreatePixmap(display, config, 0x12345, NULL));
    REFUSE("of nothing, the old way", glXCreateGLXPixmap(display, visual, 0x12345));
    REFUSE("of a window", glXCreatePixmap(display, config, window.id, NULL));
    REFUSE("of another depth", glXCreatePixmap(display, config, shallow, NULL));
    REFUSE("destroying the X pixmap's name", (glXDestroyPixmap(display, deep), 0));
    REFUSE("destroying", (glXDestroyPixmap(display, pixmap), 0));
    REFUSE("destroying twice", (glXDestroyGLXPixmap(display, pixmap), 0));
    XFree(visual);
    end();
}

static void pbuffers(void)
{
    start();
    GLXFBConfig config = default_config();
    GLXPbuffer pbuffer = None;
    CHECK("a pbuffer", (pbuffer = glXCreatePbuffer(display, config, (const int[]){GLX_PBUFFER_WIDTH, 9, GLX_PBUFFER_HEIGHT, 9, None})) != None);
    REFUSE("a negative width", glXCreatePbuffer(display, config, (const int[]){GLX_PBUFFER_WIDTH, -1, GLX_PBUFFER_HEIGHT, 9, None}));
    REFUSE("too wide", glXCreatePbuffer(display, config, (const int[]){GLX_PBUFFER_WIDTH, 100000, GLX_PBUFFER_HEIGHT, 9, None}));
    REFUSE("5000 wide", glXCreatePbuffer(display, config, (const int[]){GLX_PBUFFER_WIDTH, 5000, GLX_PBUFFER_HEIGHT, 9, None}));
    REFUSE("an unknown attribute", glXCreatePbuffer(display, config, (const int[]){GLX_PBUFFER_WIDTH, 9, GLX_PBUFFER_HEIGHT, 9, 0x7777, 1, None}));
    REFUSE("events of nothing", (glXSelectEvent(display, 0x12345, GLX_PBUFFER_CLOBBER_MASK), 0));
    REFUSE("events of an X window", (glXSelectEvent(display, window.id, GLX_PBUFFER_CLOBBER_MASK), 0));
    CHECK("current", glXMakeContextCurrent(display, pbuffer, pbuffer, context));
    REFUSE("destroying while current", (glXDestroyPbuffer(display, pbuffer), 0));
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    unsigned char pixel[4] = {0};
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note_bytes("still there", pixel, 4);
    glXMakeContextCurrent(display, None, None, NULL);
    REFUSE("destroying twice", (glXDestroyPbuffer(display, pbuffer), 0));
    end();
}

static void current(void)
{
    start();
    GLXContext second = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    CHECK("nothing of nothing", glXMakeCurrent(display, None, NULL));
    CHECK("read from nothing", glXMakeContextCurrent(display, window.id, None, context));
    CHECK("draw to nothing", glXMakeContextCurrent(display, None, window.id, context));
    CHECK("a window", glXMakeCurrent(display, window.id, context));
    CHECK("the same again", glXMakeCurrent(display, window.id, context));
    CHECK("another context", glXMakeCurrent(display, window.id, second));
    CHECK("destroyed while current", (glXDestroyContext(display, second), true));
    glClearColor(0, 0, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    unsigned char pixel[4] = {0};
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note_bytes("it draws still", pixel, 4);
    CHECK("released", glXMakeCurrent(display, None, NULL));
    end();
}

static void creating(void)
{
    start();
    XVisualInfo *visual = glXGetVisualFromFBConfig(display, default_config()), wrong = *visual;
    REFUSE("color index", glXCreateNewContext(display, default_config(), GLX_COLOR_INDEX_TYPE, NULL, True));
    REFUSE("floats", glXCreateNewContext(display, default_config(), GLX_RGBA_FLOAT_TYPE_ARB, NULL, True));
    REFUSE("an unknown type", glXCreateNewContext(display, default_config(), 0x7777, NULL, True));
    wrong.visualid = 0x7777;
    REFUSE("an unknown visual", glXCreateContext(display, &wrong, NULL, True));
    XFree(visual);
    end();
}

static void attributes(void)
{
    static const int lists[][10] = {
        {None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 2, GLX_CONTEXT_MINOR_VERSION_ARB, 1, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 1, GLX_CONTEXT_MINOR_VERSION_ARB, 6, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 2, GLX_CONTEXT_MINOR_VERSION_ARB, 2, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 4, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 0, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, -1, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 7, None},
        {GLX_CONTEXT_FLAGS_ARB, GLX_CONTEXT_DEBUG_BIT_ARB, None},
        {GLX_CONTEXT_FLAGS_ARB, GLX_CONTEXT_FORWARD_COMPATIBLE_BIT_ARB, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_FLAGS_ARB, GLX_CONTEXT_FORWARD_COMPATIBLE_BIT_ARB, None},
        {GLX_CONTEXT_FLAGS_ARB, 0x8000, None},
        {GLX_CONTEXT_FLAGS_ARB, GLX_CONTEXT_ROBUST_ACCESS_BIT_ARB, None},
        {GLX_CONTEXT_PROFILE_MASK_ARB, 0, None},
        {GLX_CONTEXT_PROFILE_MASK_ARB, 3, None},
        {GLX_CONTEXT_PROFILE_MASK_ARB, 8, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 2, GLX_CONTEXT_PROFILE_MASK_ARB, 0, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 2, GLX_CONTEXT_PROFILE_MASK_ARB, 8, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 2, GLX_CONTEXT_PROFILE_MASK_ARB, GLX_CONTEXT_ES2_PROFILE_BIT_EXT, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 2, GLX_CONTEXT_MINOR_VERSION_ARB, 1, GLX_CONTEXT_PROFILE_MASK_ARB, GLX_CONTEXT_ES2_PROFILE_BIT_EXT, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3, GLX_CONTEXT_PROFILE_MASK_ARB, GLX_CONTEXT_ES2_PROFILE_BIT_EXT, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 2, GLX_CONTEXT_PROFILE_MASK_ARB, GLX_CONTEXT_ES2_PROFILE_BIT_EXT, GLX_CONTEXT_FLAGS_ARB, GLX_CONTEXT_FORWARD_COMPATIBLE_BIT_ARB, None},
        {GLX_CONTEXT_RELEASE_BEHAVIOR_ARB, GLX_CONTEXT_RELEASE_BEHAVIOR_NONE_ARB, None},
        {GLX_CONTEXT_RELEASE_BEHAVIOR_ARB, GLX_CONTEXT_RELEASE_BEHAVIOR_FLUSH_ARB, None},
        {GLX_CONTEXT_RELEASE_BEHAVIOR_ARB, 7, None},
        {GLX_RENDER_TYPE, GLX_RGBA_TYPE, None},
        {GLX_RENDER_TYPE, GLX_COLOR_INDEX_TYPE, None},
        {GLX_RENDER_TYPE, 0x7777, None},
        {GLX_SCREEN, 0, None},
        {GLX_SCREEN, 7, None},
        {0x7777, 1, None},
    };
    start();
    for (int i = 0; i < (int)(sizeof lists / sizeof *lists); i++) {
        GLXContext made = NULL;
        char what[32];
        snprintf(what, sizeof what, "list %d", i);
        CHECK(what, (made = glXCreateContextAttribsARB(display, default_config(), NULL, True, lists[i])) != NULL);
        if (made)
            glXDestroyContext(display, made);
    }
    end();
}

CONFORM("glx_errors", NONE, {"windows", windows}, {"pixmaps", pixmaps}, {"pbuffers", pbuffers}, {"current", current}, {"creating", creating},
        {"attributes", attributes})
