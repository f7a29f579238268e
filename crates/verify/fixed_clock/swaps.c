/* Swaps: what ends a frame, and what is done there. */
#include "fixed_clock.h"

#include <EGL/egl.h>
#include <GL/glx.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *folder, *input;
static long every = 1, last, warm = 1;
static double last_second;
static bool rate;
static atomic_long frame_number;

/* The start of the rate: a frame, and when it was swapped. */
static struct {
    long frame;
    double started, cpu_started;
    /* The renderer's name for itself. */
    char renderer[256];
} first;

static long positive(const char *name, long otherwise)
{
    const char *text = getenv(name);
    if (!text)
        return otherwise;
    char *end;
    long number = strtol(text, &end, 10);
    if (number < 1 || *end)
        complain(name, text);
    return number;
}

static double seconds(const char *name)
{
    const char *text = getenv(name);
    if (!text)
        return 0;
    char *end;
    double number = strtod(text, &end);
    if (!(number > 0) || *end)
        complain(name, text);
    return number;
}

void read_shot_settings(void)
{
    folder = getenv("MGN_SHOTS_DIR");
    input = getenv("MGN_SHOTS_INPUT");
    every = positive("MGN_SHOTS_EVERY", 1);
    last = positive("MGN_SHOTS_FRAMES", 0);
    warm = positive("MGN_SHOTS_WARM", 1);
    last_second = seconds("MGN_SHOTS_SECONDS");
    rate = getenv("MGN_SHOTS_RATE");
}

/* The number of the frame that ends now. `file` becomes the name of its picture; empty if no picture is taken. */
static long next_frame(char file[PATH_MAX])
{
    long frame = atomic_fetch_add(&frame_number, 1) + 1;
    file[0] = '\0';
    if (folder && frame % every == 0)
        snprintf(file, PATH_MAX, "%s/frame-%06ld.ppm", folder, frame);
    return frame;
}

/* Processes that `command` starts have the true clock. */
static void run(const char *command)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **without = calloc(count + 1, sizeof *without), **to = without;
    if (!without)
        complain("out of memory at", command);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            *to++ = environ[i];
    char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
    pid_t child;
    int status = 0;
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, without) != 0)
        complain("cannot start a shell for", command);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != 0)
        complain("this failed:", command);
    free(without);
}

/* Runs the commands of this frame. True if there were any. */
static bool give_input(long frame)
{
    bool any = false;
    for (const char *line = input; line && *line;) {
        const char *end = strchrnul(line, '\n');
        char *command;
        if (strtol(line, &command, 10) == frame && *command == ':') {
            char *copy = strndup(command + 1, (size_t)(end - command - 1));
            run(copy);
            free(copy);
            any = true;
        }
        line = *end ? end + 1 : end;
    }
    return any;
}

/* A function of X11, if the program uses that. */
static function x11(const char *name)
{
    void *library = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return library ? as_function(true_dlsym()(library, name)) : NULL;
}

static void begin_rate(long frame, function (*lookup)(const char *))
{
    const GLubyte *(*get_string)(GLenum) = (const GLubyte *(*)(GLenum))lookup("glGetString");
    const char *renderer = rate && get_string ? (const char *)get_string(GL_RENDERER) : NULL;
    snprintf(first.renderer, sizeof first.renderer, "%s", renderer ? renderer : "");
    for (char *c = first.renderer; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = ' ';
    first.frame = frame;
    first.cpu_started = true_cpu_seconds();
    first.started = true_seconds();
}

static void say_rate(long frame)
{
    double elapsed = true_seconds() - first.started;
    if (rate && first.frame && frame > first.frame)
        printf("{\"frames_per_second\": %.3f, \"frames\": %ld, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"renderer\": \"%s\"}\n",
               (double)(frame - first.frame) / elapsed, frame - first.frame, elapsed, true_cpu_seconds() - first.cpu_started, first.renderer);
}

/* For a program that ends before it is told to. */
__attribute__((destructor)) static void say_rate_at_exit(void)
{
    say_rate(atomic_load(&frame_number));
}

static bool is_last(long frame)
{
    return (last && frame >= last) || (last_second > 0 && first.frame && frame > first.frame && true_seconds() - first.started >= last_second);
}

/* `display` is the X display, if it is known. */
static void after_swap(long frame, Display *display, function (*lookup)(const char *))
{
    pass_a_frame();
    if (is_last(frame)) {
        say_rate(frame);
        fflush(NULL);
        _exit(0);
    }
    if (give_input(frame)) {
        /* All effects of the input must be in the program's queue before it looks there. */
        wait_milliseconds(100);
        int (*sync)(Display *, int) = (int (*)(Display *, int))x11("XSync");
        if (display && sync)
            sync(display, False);
    } else if (first.frame || frame < warm) {
        return;
    }
    begin_rate(frame, lookup);
}

/* GLX windows and the X windows that they belong to: X knows the size of the latter only. */
static struct {
    GLXWindow glx;
    Window window;
} glx_windows[64];
static atomic_int glx_window_count;

EXPORT GLXWindow glXCreateWindow(Display *display, GLXFBConfig config, Window window, const int *attributes)
{
    GLXWindow (*next)(Display *, GLXFBConfig, Window, const int *) =
        (GLXWindow(*)(Display *, GLXFBConfig, Window, const int *))next_function("glXCreateWindow", "libGL.so.1");
    GLXWindow created = next(display, config, window, attributes);
    int index = atomic_fetch_add(&glx_window_count, 1);
    if (index < 64) {
        glx_windows[index].glx = created;
        glx_windows[index].window = window;
    }
    return created;
}

static void window_size(Display *display, GLXDrawable drawable, int *width, int *height)
{
    typedef Status (*geometry_function)(Display *, Drawable, Window *, int *, int *, unsigned *, unsigned *, unsigned *, unsigned *);
    geometry_function geometry = (geometry_function)x11("XGetGeometry");
    Window root, window = drawable;
    int x, y, known = atomic_load(&glx_window_count);
    unsigned w = 0, h = 0, border, depth;
    for (int i = 0; i < known && i < 64; i++)
        if (glx_windows[i].glx == drawable)
            window = glx_windows[i].window;
    if (geometry)
        geometry(display, window, &root, &x, &y, &w, &h, &border, &depth);
    *width = (int)w;
    *height = (int)h;
}

EXPORT void glXSwapBuffers(Display *display, GLXDrawable drawable)
{
    static void (*next)(Display *, GLXDrawable);
    if (!next)
        next = (void (*)(Display *, GLXDrawable))next_function("glXSwapBuffers", "libGL.so.1");
    char file[PATH_MAX];
    long frame = next_frame(file);
    if (*file) {
        int width, height;
        window_size(display, drawable, &width, &height);
        take_picture(file, width, height, lookup_glx);
    }
    next(display, drawable);
    after_swap(frame, display, lookup_glx);
}

EXPORT EGLBoolean eglSwapBuffers(EGLDisplay display, EGLSurface surface)
{
    typedef EGLBoolean (*query_function)(EGLDisplay, EGLSurface, EGLint, EGLint *);
    static EGLBoolean (*next)(EGLDisplay, EGLSurface);
    if (!next)
        next = (EGLBoolean(*)(EGLDisplay, EGLSurface))next_function("eglSwapBuffers", "libEGL.so.1");
    char file[PATH_MAX];
    long frame = next_frame(file);
    if (*file) {
        query_function query = (query_function)next_function("eglQuerySurface", "libEGL.so.1");
        EGLint width = 0, height = 0;
        query(display, surface, EGL_WIDTH, &width);
        query(display, surface, EGL_HEIGHT, &height);
        take_picture(file, width, height, lookup_egl);
    }
    EGLBoolean result = next(display, surface);
    after_swap(frame, NULL, lookup_egl);
    return result;
}

/* Damage is a hint; swapping everything is always right. */
EXPORT EGLBoolean eglSwapBuffersWithDamageKHR(EGLDisplay display, EGLSurface surface, EGLint *rectangles, EGLint count)
{
    (void)rectangles;
    (void)count;
    return eglSwapBuffers(display, surface);
}

typedef __eglMustCastToProperFunctionPointerType egl_function;
EXPORT __GLXextFuncPtr glXGetProcAddress(const GLubyte *name);
EXPORT __GLXextFuncPtr glXGetProcAddressARB(const GLubyte *name);
EXPORT egl_function eglGetProcAddress(const char *name);

function replacement(const char *name)
{
    static const struct {
        const char *name;
        function function;
    } ours[] = {
        {"glXSwapBuffers", (function)glXSwapBuffers},
        {"glXCreateWindow", (function)glXCreateWindow},
        {"glXGetProcAddress", (function)glXGetProcAddress},
        {"glXGetProcAddressARB", (function)glXGetProcAddressARB},
        {"eglSwapBuffers", (function)eglSwapBuffers},
        {"eglSwapBuffersWithDamageKHR", (function)eglSwapBuffersWithDamageKHR},
        {"eglSwapBuffersWithDamageEXT", (function)eglSwapBuffersWithDamageKHR},
        {"eglGetProcAddress", (function)eglGetProcAddress},
    };
    if (name[0] != 'g' && name[0] != 'e')
        return NULL;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(name, ours[i].name) == 0)
            return ours[i].function;
    return NULL;
}

EXPORT __GLXextFuncPtr glXGetProcAddressARB(const GLubyte *name)
{
    function next = lookup_glx((const char *)name), own = replacement((const char *)name);
    return next && own && !CALLED_FROM_BELOW ? own : next;
}

EXPORT __GLXextFuncPtr glXGetProcAddress(const GLubyte *name)
{
    function next = lookup_glx((const char *)name), own = replacement((const char *)name);
    return next && own && !CALLED_FROM_BELOW ? own : next;
}

EXPORT egl_function eglGetProcAddress(const char *name)
{
    function next = lookup_egl(name), own = replacement(name);
    return next && own && !CALLED_FROM_BELOW ? own : next;
}
