/* GLX and EGL in one process: contexts, objects and windows of both, in turn and in separate
 * threads. */
#include "conform.h"
#include "egl.h"

#include <pthread.h>

static EGLDisplay egl;
static EGLConfig config;
static EGLSurface egl_surface, pbuffer;
static EGLContext egl_context, es_context;
static struct window glx_window, egl_window;
static GLXContext glx_context;

/* The first EGL config with the visual of a window. */
static EGLConfig config_of(Window window)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_WINDOW_BIT | EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT | EGL_OPENGL_ES2_BIT,
                                    EGL_DEPTH_SIZE, 24, EGL_NONE};
    XWindowAttributes attributes;
    EGLConfig all[256];
    EGLint count = 0;
    XGetWindowAttributes(display, window, &attributes);
    eglChooseConfig(egl, wanted, all, 256, &count);
    for (int i = 0; i < count; i++) {
        EGLint visual = 0;
        eglGetConfigAttrib(egl, all[i], EGL_NATIVE_VISUAL_ID, &visual);
        if ((VisualID)visual == XVisualIDFromVisual(attributes.visual))
            return all[i];
    }
    return NULL;
}

static bool start(void)
{
    XInitThreads();
    egl = open_egl_on_x11();
    if (egl == EGL_NO_DISPLAY)
        return false;
    glx_window = open_window(default_config(), 0, SIZE, SIZE);
    glx_context = glXCreateNewContext(display, glx_window.config, GLX_RGBA_TYPE, NULL, True);
    egl_window = open_window(default_config(), 1, SIZE, SIZE);
    config = config_of(egl_window.id);
    note("a config: %d", config != NULL);
    if (!config || !glx_context)
        return false;
    egl_surface = eglCreateWindowSurface(egl, config, egl_window.id, NULL);
    pbuffer = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, SIZE, EGL_HEIGHT, SIZE, EGL_NONE});
    egl_errors("surfaces");
    eglBindAPI(EGL_OPENGL_API);
    egl_context = eglCreateContext(egl, config, EGL_NO_CONTEXT, NULL);
    eglBindAPI(EGL_OPENGL_ES_API);
    es_context = eglCreateContext(egl, config, EGL_NO_CONTEXT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE});
    egl_errors("contexts");
    return true;
}

static void end(void)
{
    eglDestroyContext(egl, es_context);
    eglDestroyContext(egl, egl_context);
    eglDestroySurface(egl, pbuffer);
    eglDestroySurface(egl, egl_surface);
    eglTerminate(egl);
    egl_errors("end");
    glXDestroyContext(display, glx_context);
    close_window(&egl_window);
    close_window(&glx_window);
}

static void to_glx(void)
{
    note("from EGL: %d", eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT));
    note("to GLX: %d", glXMakeCurrent(display, glx_window.id, glx_context));
}

static void to_egl(EGLenum api, EGLSurface surface, EGLContext context)
{
    eglBindAPI(api);
    if (glXGetCurrentContext())
        note("from GLX: %d", glXMakeCurrent(display, None, NULL));
    note("to EGL: %d", eglMakeCurrent(egl, surface, surface, context));
    egl_errors("to EGL");
}

/* Makes a texture with this number of squares, and a list that draws with it. The names are the
 * same in each context, but the objects are not. */
static void make_objects(int squares)
{
    static unsigned char board[64 * 64 * 4];
    checkerboard(board, 64, 64, 64 / squares);
    glBindTexture(GL_TEXTURE_2D, 7);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, board);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glNewList(3, GL_COMPILE);
    glEnable(GL_TEXTURE_2D);
    glRotatef((float)squares, 0, 0, 1);
    square(0.7f);
    glDisable(GL_TEXTURE_2D);
    glEndList();
    errors("objects");
}

static void use_objects(const char *suffix)
{
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glCallList(3);
    INTS(GL_TEXTURE_BINDING_2D, 1);
    errors("used");
    picture(suffix);
}

/* Contexts of both APIs, one after the other in one thread. */
static void in_turns(void)
{
    if (!start())
        return;
    to_glx();
    make_objects(4);
    to_egl(EGL_OPENGL_API, egl_surface, egl_context);
    note("a texture: %d, a list: %d", glIsTexture(7), glIsList(3));
    make_objects(8);
    for (int turn = 0; turn < 3; turn++) {
        char name[16];
        to_glx();
        snprintf(name, sizeof name, "glx%d", turn);
        use_objects(name);
        glXSwapBuffers(display, glx_window.id);
        to_egl(EGL_OPENGL_API, egl_surface, egl_context);
        snprintf(name, sizeof name, "egl%d", turn);
        use_objects(name);
        note("swapped: %d", eglSwapBuffers(egl, egl_surface));
        to_egl(EGL_OPENGL_ES_API, pbuffer, es_context);
        note("a texture: %d", glIsTexture(7));
        glClearColor(0.25f * (float)turn, 0.5f, 0.75f, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        snprintf(name, sizeof name, "es%d", turn);
        picture(name);
    }
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    end();
}

/* While a context of one API is current, a context of the other cannot be made current. */
static void one_at_a_time(void)
{
    if (!start())
        return;
    to_glx();
    note("EGL beside GLX: %d", eglMakeCurrent(egl, pbuffer, pbuffer, egl_context));
    egl_errors("EGL beside GLX");
    note("current: GLX %d, EGL %d", glXGetCurrentContext() == glx_context, eglGetCurrentContext() != EGL_NO_CONTEXT);
    glClearColor(0.5f, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    picture("glx");
    to_egl(EGL_OPENGL_API, pbuffer, egl_context);
    begin_x_errors();
    note("GLX beside EGL: %d", glXMakeCurrent(display, glx_window.id, glx_context));
    end_x_errors("GLX beside EGL");
    note("current: GLX %d, EGL %d", glXGetCurrentContext() != NULL, eglGetCurrentContext() == egl_context);
    glClearColor(0, 0.5f, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    picture("egl");
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    end();
}

/* A window is used by GLX and then by EGL. */
static void one_window(void)
{
    if (!start())
        return;
    to_glx();
    glClearColor(0.75f, 0.5f, 0.25f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    picture("glx");
    glXSwapBuffers(display, glx_window.id);
    glXMakeCurrent(display, None, NULL);
    EGLSurface surface = eglCreateWindowSurface(egl, config, glx_window.id, NULL);
    egl_errors("surface");
    to_egl(EGL_OPENGL_API, surface, egl_context);
    INTS(GL_VIEWPORT, 4);
    glClearColor(0.25f, 0.5f, 0.75f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    color_of(3);
    square(0.5f);
    picture("egl");
    note("swapped: %d", eglSwapBuffers(egl, surface));
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroySurface(egl, surface);
    end();
}

#define FRAMES 30

struct worker {
    pthread_t thread;
    bool is_egl;
    unsigned long sum;
    GLenum error;
    unsigned char pixels[SIZE * SIZE * 4];
};

static void *draw_frames(void *argument)
{
    struct worker *worker = argument;
    if (worker->is_egl) {
        eglBindAPI(EGL_OPENGL_API);
        eglMakeCurrent(egl, egl_surface, egl_surface, egl_context);
    } else
        glXMakeCurrent(display, glx_window.id, glx_context);
    for (int frame = 0; frame < FRAMES; frame++) {
        glClear(GL_COLOR_BUFFER_BIT);
        glRotatef(worker->is_egl ? 5 : -7, 0, 0, 1);
        color_of(frame);
        square(0.6f);
        glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, worker->pixels);
        for (size_t i = 0; i < sizeof worker->pixels; i++)
            worker->sum = worker->sum * 31 + worker->pixels[i];
        if (worker->is_egl)
            eglSwapBuffers(egl, egl_surface);
        else
            glXSwapBuffers(display, glx_window.id);
    }
    worker->error = glGetError();
    if (worker->is_egl) {
        eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglReleaseThread();
    } else
        glXMakeCurrent(display, None, NULL);
    return NULL;
}

static void in_threads(void)
{
    static struct worker workers[2];
    if (!start())
        return;
    for (int i = 0; i < 2; i++) {
        workers[i].is_egl = i;
        if (pthread_create(&workers[i].thread, NULL, draw_frames, &workers[i]) != 0)
            fail("cannot start a thread");
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(workers[i].thread, NULL);
        note("%s: %016lx, %s", i ? "EGL" : "GLX", workers[i].sum, error_name(workers[i].error));
        note_bytes("last", workers[i].pixels, sizeof workers[i].pixels);
    }
    end();
}

/* Ending one API does not affect the other. */
static void one_ends(void)
{
    if (!start())
        return;
    to_glx();
    make_objects(2);
    eglDestroyContext(egl, egl_context);
    eglDestroyContext(egl, es_context);
    eglDestroySurface(egl, egl_surface);
    eglDestroySurface(egl, pbuffer);
    note("terminated: %d", eglTerminate(egl));
    use_objects("glx");
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, glx_context);
    note("again: %d", eglInitialize(egl, NULL, NULL));
    config = config_of(egl_window.id);
    eglBindAPI(EGL_OPENGL_API);
    egl_context = eglCreateContext(egl, config, EGL_NO_CONTEXT, NULL);
    egl_errors("another context");
    egl_surface = eglCreateWindowSurface(egl, config, egl_window.id, NULL);
    egl_errors("another surface");
    note("current: %d", eglMakeCurrent(egl, egl_surface, egl_surface, egl_context));
    egl_errors("again");
    make_objects(16);
    use_objects("egl");
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglTerminate(egl);
    close_window(&egl_window);
    close_window(&glx_window);
}

CONFORM("glx_and_egl", NONE, {"in_turns", in_turns}, {"one_at_a_time", one_at_a_time}, {"one_window", one_window}, {"in_threads", in_threads}, {"one_ends", one_ends})
