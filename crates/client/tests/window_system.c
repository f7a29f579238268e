/* GLX and EGL as a program uses them. Each case is a function; main runs the one that is named and fails if a check does. */
#include <stdbool.h>
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glx.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static Display *display;
static int glx_error;
static int failures;

static int last_error, last_minor, error_count;

static int on_error(Display *d, XErrorEvent *e)
{
    (void)d;
    last_error = e->error_code;
    last_minor = e->minor_code;
    error_count++;
    return 0;
}

#define CHECK(condition)                                                \
    do {                                                                \
        if (!(condition)) {                                             \
            printf("line %d: %s\n", __LINE__, #condition);              \
            failures++;                                                 \
        }                                                               \
    } while (0)

/* Exactly one error, of this code. */
#define CHECK_ERROR(code)                                                                     \
    do {                                                                                      \
        CHECK(error_count == 1 && last_error == (code));                                      \
        if (error_count)                                                                      \
            printf("line %d: error %d minor %d, GLX errors begin at %d\n", __LINE__, last_error, last_minor, glx_error); \
        error_count = 0;                                                                      \
    } while (0)

enum { BAD_CONTEXT = 0, BAD_DRAWABLE = 2, BAD_FBCONFIG = 9, BAD_PBUFFER = 10, BAD_WINDOW = 12, BAD_PROFILE = 13 };

static void connect_x(void)
{
    int event;
    XInitThreads();
    display = XOpenDisplay(NULL);
    if (!display)
        exit(77);
    XSetErrorHandler(on_error);
    CHECK(glXQueryExtension(display, &glx_error, &event));
}

static XVisualInfo *visual(Display *d, int doubled)
{
    int wanted[] = {GLX_RGBA, GLX_DEPTH_SIZE, 1, doubled ? GLX_DOUBLEBUFFER : None, None};
    return glXChooseVisual(d, DefaultScreen(d), wanted);
}

static Window window(Display *d, XVisualInfo *v)
{
    Window root = RootWindow(d, v->screen);
    XSetWindowAttributes a = {0};
    a.colormap = XCreateColormap(d, root, v->visual, AllocNone);
    return XCreateWindow(d, root, 0, 0, 60, 40, 0, v->depth, InputOutput, v->visual, CWColormap | CWBorderPixel, &a);
}

static void frame(Display *d, GLXDrawable drawable)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glXSwapBuffers(d, drawable);
}

static void contexts(void)
{
    connect_x();
    XVisualInfo *v = visual(display, True);
    Window w = window(display, v);
    GLXContext c = glXCreateContext(display, v, NULL, True);
    CHECK(c && glXIsDirect(display, c));
    CHECK(glGetString(GL_VERSION) == NULL);
    CHECK(glXMakeCurrent(display, w, c));
    CHECK(glGetString(GL_VERSION) != NULL && glXGetCurrentContext() == c && glXGetCurrentDrawable() == w);
    frame(display, w);

    /* A context shares with another, and outlives its destruction while it is current. */
    GLXContext other = glXCreateContext(display, v, c, True);
    CHECK(other != NULL);
    glXDestroyContext(display, c);
    frame(display, w);
    CHECK(error_count == 0);
    CHECK(glXMakeCurrent(display, w, other));
    CHECK(!glXMakeCurrent(display, w, c));
    CHECK_ERROR(glx_error + BAD_CONTEXT);
    CHECK(glXGetCurrentContext() == other);

    /* A window that goes away takes nothing with it. */
    XDestroyWindow(display, w);
    XSync(display, False);
    for (int i = 0; i < 5; i++)
        frame(display, w);
    CHECK(error_count == 0);
    CHECK(glXMakeCurrent(display, None, NULL));
    glXDestroyContext(display, other);
    CHECK(error_count == 0);
}

static void errors(void)
{
    connect_x();
    PFNGLXCREATECONTEXTATTRIBSARBPROC create =
        (PFNGLXCREATECONTEXTATTRIBSARBPROC)glXGetProcAddress((const GLubyte *)"glXCreateContextAttribsARB");
    XVisualInfo *v = visual(display, True);
    GLXContext c = glXCreateContext(display, v, NULL, True);
    CHECK(!glXMakeCurrent(display, 0x7654321, c));
    CHECK_ERROR(glx_error + BAD_DRAWABLE);
    int count;
    GLXFBConfig *configs = glXGetFBConfigs(display, 0, &count);
    int no_version[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 9, None};
    CHECK(!create(display, configs[0], NULL, True, no_version));
    CHECK_ERROR(glx_error + BAD_FBCONFIG);
    int too_high[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 4, GLX_CONTEXT_MINOR_VERSION_ARB, 6, None};
    CHECK(!create(display, configs[0], NULL, True, too_high));
    CHECK_ERROR(glx_error + BAD_FBCONFIG);
    CHECK(last_minor == 34);
    int two_profiles[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 2, GLX_CONTEXT_PROFILE_MASK_ARB, 3, None};
    CHECK(!create(display, configs[0], NULL, True, two_profiles));
    CHECK_ERROR(glx_error + BAD_PROFILE);
    int core[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3, None};
    GLXContext made = create(display, configs[0], c, True, core);
    CHECK(made != NULL);
    int id = 0, expected = 1;
    glXQueryContext(display, made, GLX_FBCONFIG_ID, &id);
    glXGetFBConfigAttrib(display, configs[0], GLX_FBCONFIG_ID, &expected);
    CHECK(id == expected);
    glXDestroyContext(display, made);
    glXDestroyPbuffer(display, 0x1234);
    CHECK_ERROR(glx_error + BAD_PBUFFER);
    glXSwapBuffers(display, 0x7777777);
    CHECK_ERROR(glx_error + BAD_DRAWABLE);
    glXCopyContext(display, c, c, GL_ALL_ATTRIB_BITS);
    CHECK_ERROR(BadMatch);
    int value;
    CHECK(glXGetConfig(display, v, 0x9999, &value) == GLX_BAD_ATTRIBUTE);
    glXDestroyContext(display, c);
    XFree(configs);
    XFree(v);
}

static bool says_the_same(XVisualInfo *visual, GLXFBConfig config)
{
    for (int a = GLX_RED_SIZE; a <= GLX_STENCIL_SIZE; a++) {
        int of_visual = -1, of_config = -2;
        glXGetConfig(display, visual, a, &of_visual);
        glXGetFBConfigAttrib(display, config, a, &of_config);
        if (of_visual != of_config)
            return false;
    }
    return true;
}

static void configs(void)
{
    connect_x();
    int count;
    GLXFBConfig *all = glXGetFBConfigs(display, 0, &count);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        int id, type, drawable;
        XVisualInfo *v = glXGetVisualFromFBConfig(display, all[i]);
        CHECK(glXGetFBConfigAttrib(display, all[i], GLX_VISUAL_ID, &id) == 0);
        CHECK(glXGetFBConfigAttrib(display, all[i], GLX_X_VISUAL_TYPE, &type) == 0);
        CHECK(glXGetFBConfigAttrib(display, all[i], GLX_DRAWABLE_TYPE, &drawable) == 0);
        CHECK((v != NULL) == (id != 0) && (drawable & GLX_PBUFFER_BIT));
        if (v) {
            CHECK((int)v->visualid == id && (type == GLX_TRUE_COLOR || type == GLX_DIRECT_COLOR) && (drawable & GLX_WINDOW_BIT));
            /* The visual has the properties of the config, or of another one if an X server has so few visuals that configs share one. */
            bool said = says_the_same(v, all[i]);
            for (int other = 0; other < count && !said; other++) {
                int shared;
                glXGetFBConfigAttrib(display, all[other], GLX_VISUAL_ID, &shared);
                said = shared == id && says_the_same(v, all[other]);
            }
            CHECK(said);
            XFree(v);
        }
    }
    XFree(all);
    int none[] = {GLX_RED_SIZE, 16, None};
    CHECK(glXChooseFBConfig(display, 0, none, &count) == NULL);
    CHECK(strstr(glXQueryExtensionsString(display, 0), "GLX_ARB_create_context") != NULL);
    int major, minor;
    CHECK(glXQueryVersion(display, &major, &minor) && major == 1 && minor == 4);
}

static void drawables(void)
{
    connect_x();
    int wanted[] = {GLX_DRAWABLE_TYPE, GLX_PBUFFER_BIT | GLX_WINDOW_BIT, GLX_DOUBLEBUFFER, True, None};
    int count;
    GLXFBConfig *found = glXChooseFBConfig(display, 0, wanted, &count);
    CHECK(count > 0);
    int size[] = {GLX_PBUFFER_WIDTH, 64, GLX_PBUFFER_HEIGHT, 32, None};
    GLXPbuffer p = glXCreatePbuffer(display, found[0], size);
    unsigned width = 0, height = 0;
    glXQueryDrawable(display, p, GLX_WIDTH, &width);
    glXQueryDrawable(display, p, GLX_HEIGHT, &height);
    CHECK(p && width == 64 && height == 32);
    int negative[] = {GLX_PBUFFER_WIDTH, -1, None};
    CHECK(!glXCreatePbuffer(display, found[0], negative));
    CHECK_ERROR(BadAlloc);
    glXSelectEvent(display, p, GLX_PBUFFER_CLOBBER_MASK);
    unsigned long mask = 0;
    glXGetSelectedEvent(display, p, &mask);
    CHECK(mask == GLX_PBUFFER_CLOBBER_MASK);

    XVisualInfo *v = glXGetVisualFromFBConfig(display, found[0]);
    Window x = window(display, v);
    GLXWindow w = glXCreateWindow(display, found[0], x, NULL);
    GLXContext c = glXCreateNewContext(display, found[0], GLX_RGBA_TYPE, NULL, True);
    CHECK(w && w != x);
    CHECK(glXMakeContextCurrent(display, w, p, c));
    CHECK(glXGetCurrentReadDrawable() == p);
    frame(display, w);

    /* The old way: a pixmap by visual. */
    Pixmap pixmap = XCreatePixmap(display, DefaultRootWindow(display), 8, 8, v->depth);
    GLXPixmap g = glXCreateGLXPixmap(display, v, pixmap);
    CHECK(g && glXMakeCurrent(display, g, c));
    glClear(GL_COLOR_BUFFER_BIT);
    glXWaitGL();
    CHECK(glXMakeCurrent(display, None, NULL));
    glXDestroyGLXPixmap(display, g);
    glXDestroyWindow(display, w);
    CHECK(error_count == 0);
    glXDestroyWindow(display, w);
    CHECK_ERROR(glx_error + BAD_WINDOW);
    glXDestroyPbuffer(display, p);
    glXDestroyContext(display, c);
    CHECK(error_count == 0);
}

static void *own_context(void *unused)
{
    (void)unused;
    Display *d = XOpenDisplay(NULL);
    XVisualInfo *v = visual(d, True);
    Window w = window(d, v);
    GLXContext c = glXCreateContext(d, v, NULL, True);
    CHECK(glXMakeCurrent(d, w, c));
    for (int i = 0; i < 200; i++)
        frame(d, w);
    CHECK(glXMakeCurrent(d, None, NULL));
    glXDestroyContext(d, c);
    XCloseDisplay(d);
    return NULL;
}

static struct {
    GLXContext context;
    Window window;
    int got;
} shared;

static void *take_shared(void *unused)
{
    (void)unused;
    shared.got = glXMakeCurrent(display, shared.window, shared.context);
    return NULL;
}

static void threads(void)
{
    connect_x();
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, own_context, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);

    XVisualInfo *v = visual(display, True);
    shared.window = window(display, v);
    shared.context = glXCreateContext(display, v, NULL, True);
    CHECK(glXMakeCurrent(display, shared.window, shared.context));
    pthread_create(&t[0], NULL, take_shared, NULL);
    pthread_join(t[0], NULL);
    CHECK(!shared.got);
    CHECK_ERROR(BadAccess);
    CHECK(glXMakeCurrent(display, None, NULL));
    pthread_create(&t[0], NULL, take_shared, NULL);
    pthread_join(t[0], NULL);
    /* That thread has ended with the context current. */
    CHECK(shared.got && glXMakeCurrent(display, shared.window, shared.context));
    CHECK(error_count == 0);
}

static int exit_status(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void forks(void)
{
    connect_x();
    XVisualInfo *v = visual(display, True);
    Window w = window(display, v);
    GLXContext c = glXCreateContext(display, v, NULL, True);
    CHECK(glXMakeCurrent(display, w, c));
    frame(display, w);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100000; i++)
            glClear(GL_COLOR_BUFFER_BIT);
        glFinish();
        exit(0);
    }
    CHECK(exit_status(child) == 0);
    child = fork();
    if (child == 0) {
        display = XOpenDisplay(NULL);
        v = visual(display, True);
        w = window(display, v);
        c = glXCreateContext(display, v, NULL, True);
        if (!c || !glXMakeCurrent(display, w, c))
            _exit(1);
        frame(display, w);
        glFinish();
        exit(0);
    }
    CHECK(exit_status(child) == 0);
    CHECK(system("true") == 0);
    frame(display, w);
    CHECK(error_count == 0);
}

static EGLDisplay surfaceless(void)
{
    return eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
}

/* Exactly this error, which is then forgotten. */
#define CHECK_EGL(call, code)                  \
    do {                                       \
        CHECK(!(call));                        \
        CHECK(eglGetError() == (code));        \
        CHECK(eglGetError() == EGL_SUCCESS);   \
    } while (0)

static void egl(void)
{
    EGLDisplay d = surfaceless();
    EGLint major, minor, count;
    CHECK(eglInitialize(d, &major, &minor) && major == 1 && minor == 5);
    CHECK_EGL(eglInitialize((EGLDisplay)&count, NULL, NULL), EGL_BAD_DISPLAY);
    EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config;
    CHECK(eglChooseConfig(d, wanted, &config, 1, &count) && count == 1);
    EGLint windows[] = {EGL_SURFACE_TYPE, EGL_WINDOW_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    CHECK(eglChooseConfig(d, windows, NULL, 0, &count) && count == 0);
    EGLint nonsense[] = {0x1234, 1, EGL_NONE};
    CHECK_EGL(eglChooseConfig(d, nonsense, NULL, 0, &count), EGL_BAD_ATTRIBUTE);
    CHECK(eglBindAPI(EGL_OPENGL_API));
    EGLContext c = eglCreateContext(d, config, EGL_NO_CONTEXT, NULL);
    CHECK(c != EGL_NO_CONTEXT);
    EGLint size[] = {EGL_WIDTH, 32, EGL_HEIGHT, 16, EGL_NONE};
    EGLSurface s = eglCreatePbufferSurface(d, config, size);
    EGLint width = 0;
    CHECK(eglQuerySurface(d, s, EGL_WIDTH, &width) && width == 32);
    CHECK(eglMakeCurrent(d, s, s, c) && glGetString(GL_VERSION));
    CHECK(eglSwapInterval(d, 0) && eglSwapBuffers(d, s));
    EGLSync sync = eglCreateSync(d, EGL_SYNC_FENCE, NULL);
    CHECK(eglClientWaitSync(d, sync, 0, EGL_FOREVER) == EGL_CONDITION_SATISFIED && eglDestroySync(d, sync));
    CHECK_EGL(eglDestroySync(d, sync), EGL_BAD_PARAMETER);
    CHECK(eglMakeCurrent(d, EGL_NO_SURFACE, EGL_NO_SURFACE, c));
    CHECK_EGL(eglSwapBuffers(d, s), EGL_BAD_SURFACE);
    CHECK_EGL(eglMakeCurrent(d, s, EGL_NO_SURFACE, c), EGL_BAD_MATCH);
    CHECK_EGL(eglMakeCurrent(d, s, s, (EGLContext)&count), EGL_BAD_CONTEXT);
    CHECK_EGL(eglCreateContext(d, (EGLConfig)&count, EGL_NO_CONTEXT, NULL), EGL_BAD_CONFIG);
    EGLContext without = eglCreateContext(d, EGL_NO_CONFIG_KHR, c, NULL);
    CHECK(without && eglMakeCurrent(d, s, s, without));
    CHECK(eglReleaseThread() && eglGetCurrentContext() == EGL_NO_CONTEXT);
    CHECK(eglDestroyContext(d, c) && eglDestroySurface(d, s) && eglTerminate(d));
    CHECK_EGL(eglGetConfigs(d, NULL, 0, &count), EGL_NOT_INITIALIZED);
    CHECK(eglInitialize(d, NULL, NULL));

    /* Releasing the thread has set the API back to OpenGL ES. */
    CHECK(eglQueryAPI() == EGL_OPENGL_ES_API && eglBindAPI(EGL_OPENGL_API));
    connect_x();
    EGLDisplay x = eglGetDisplay((EGLNativeDisplayType)display);
    CHECK(eglInitialize(x, NULL, NULL));
    CHECK(eglChooseConfig(x, windows, &config, 1, &count) && count == 1);
    EGLint id;
    eglGetConfigAttrib(x, config, EGL_NATIVE_VISUAL_ID, &id);
    XVisualInfo template = {.visualid = (VisualID)id}, *v = XGetVisualInfo(display, VisualIDMask, &template, &count);
    CHECK(v != NULL);
    Window w = window(display, v);
    EGLSurface on_window = eglCreateWindowSurface(x, config, w, NULL);
    CHECK(on_window != EGL_NO_SURFACE);
    CHECK_EGL(eglCreateWindowSurface(x, config, w, NULL), EGL_BAD_ALLOC);
    CHECK_EGL(eglCreateWindowSurface(x, config, 0x1234567, NULL), EGL_BAD_NATIVE_WINDOW);
    c = eglCreateContext(x, config, EGL_NO_CONTEXT, NULL);
    CHECK(eglMakeCurrent(x, on_window, on_window, c));
    glClear(GL_COLOR_BUFFER_BIT);
    CHECK(eglSwapBuffers(x, on_window) && eglWaitClient());
    CHECK(eglQuerySurface(x, on_window, EGL_HEIGHT, &width) && width == 40);
}

/* Without a server everything fails in its own way, and nothing crashes. */
static void no_server(void)
{
    EGLDisplay d = surfaceless();
    CHECK_EGL(eglInitialize(d, NULL, NULL), EGL_NOT_INITIALIZED);
    CHECK_EGL(eglInitialize(d, NULL, NULL), EGL_NOT_INITIALIZED);
    EGLint count;
    CHECK_EGL(eglGetConfigs(d, NULL, 0, &count), EGL_NOT_INITIALIZED);
}

static void say_so(void)
{
    printf("exit handler\n");
}

static void endless(void)
{
    atexit(say_so);
    EGLDisplay d = surfaceless();
    CHECK(eglInitialize(d, NULL, NULL) && eglBindAPI(EGL_OPENGL_API));
    EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE}, count;
    EGLConfig config;
    CHECK(eglChooseConfig(d, wanted, &config, 1, &count));
    EGLSurface s = eglCreatePbufferSurface(d, config, NULL);
    CHECK(eglMakeCurrent(d, s, s, eglCreateContext(d, config, EGL_NO_CONTEXT, NULL)));
    for (;;) {
        printf("frame\n");
        CHECK(eglSwapBuffers(d, s));
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"contexts", contexts}, {"errors", errors}, {"configs", configs}, {"drawables", drawables}, {"threads", threads},
        {"forks", forks}, {"egl", egl}, {"no-server", no_server}, {"endless", endless},
    };
    for (unsigned i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name)) {
            cases[i].run();
            return failures != 0;
        }
    return 2;
}
