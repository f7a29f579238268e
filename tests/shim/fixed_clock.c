/*
 * An LD_PRELOAD library that makes OpenGL programs repeatable and photographs their frames.
 *
 * Clocks as the program sees them stand still while it draws and go on by a fixed step at each swap, sleeps return at once and move the clock on, and
 * random number generators start from one seed. So an animation depends on the number of the frame alone.
 *
 *   SHOT=FRAME:FILE[,FRAME:FILE...]  writes these frames, read back before they are swapped, as binary PPM pictures. Frames count from 1 over all
 *                                    windows. The program ends, with status 0, when the last of them has been swapped.
 *   FIXED_STEP_NS=N                  nanoseconds from frame to frame; 16666667 unless given
 *   FIXED_SEED=N                     what every srand() and the like are given instead of the program's seed; 1 unless given
 *
 * Preload it into the program alone (`env LD_PRELOAD=... PROGRAM`), not into what starts the program: its clock would stand still too.
 *
 * The libraries below the program (OpenGL, X) keep the true time: their timeouts are real. Which library a call comes from is told by its return
 * address. Programs that look functions up (dlsym, glXGetProcAddress, eglGetProcAddress) get the versions of this file as well.
 */
#define _GNU_SOURCE
#include <EGL/egl.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <GL/glx.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define MAX_SHOTS 256
#define SECOND 1000000000LL
/* In the past, so that a deadline computed from it has always passed already. */
#define EPOCH (1000000000LL * SECOND)
/* So many looks at the clock within one frame mean that the program waits for it. */
#define PATIENCE 20000
#define EXPORT __attribute__((visibility("default")))

struct shot {
    long frame;
    char *file;
};

static struct shot shots[MAX_SHOTS];
static int shot_count;
static long last_shot;
static long long step = SECOND / 60;
static unsigned seed = 1;
static atomic_llong elapsed;
static atomic_long frame_number, looks;

typedef void (*function)(void);
typedef void *(*dlsym_function)(void *, const char *);

static dlsym_function true_dlsym(void)
{
    static _Atomic(dlsym_function) found;
    dlsym_function known = atomic_load(&found);
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27"};
    for (size_t i = 0; !known && i < sizeof versions / sizeof *versions; i++)
        known = (dlsym_function)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    atomic_store(&found, known);
    return known;
}

/* ISO C has no conversion from object to function pointers. */
static function as_function(void *pointer)
{
    function result;
    memcpy(&result, &pointer, sizeof result);
    return result;
}

static void *as_pointer(function f)
{
    void *result;
    memcpy(&result, &f, sizeof result);
    return result;
}

static void complain(const char *what, const char *which)
{
    fprintf(stderr, "fixed_clock: %s '%s'\n", what, which);
    _exit(2);
}

__attribute__((constructor)) static void read_settings(void)
{
    const char *text = getenv("FIXED_STEP_NS");
    if (text)
        step = atoll(text);
    text = getenv("FIXED_SEED");
    if (text)
        seed = (unsigned)strtoul(text, NULL, 10);
    srand(1);
    srandom(1);
    srand48(1);

    text = getenv("SHOT");
    char *list = text ? strdup(text) : NULL, *rest = NULL;
    for (char *item = list ? strtok_r(list, ",", &rest) : NULL; item; item = strtok_r(NULL, ",", &rest)) {
        char *end;
        long frame = strtol(item, &end, 10);
        if (frame < 1 || *end != ':' || !end[1] || shot_count == MAX_SHOTS)
            complain("SHOT wants FRAME:FILE,FRAME:FILE,... but has", item);
        shots[shot_count++] = (struct shot){frame, strdup(end + 1)};
        if (frame > last_shot)
            last_shot = frame;
    }
    free(list);
}

/* Whether the code at this address belongs to the libraries below the program. */
static bool is_below(const void *address)
{
    static _Thread_local const void *last_address;
    static _Thread_local bool last_answer;
    static const char *const prefixes[] = {"libGL.", "libGLX", "libEGL", "libGLdispatch", "libOpenGL", "libGLES", "libgallium", "libLLVM", "libglapi",
                                           "libX", "libxcb", "libxshm", "libdrm", "swrast", "kms_swrast", "zink"};
    if (address == last_address)
        return last_answer;
    Dl_info info;
    bool answer = false;
    if (dladdr(address, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        const char *name = slash ? slash + 1 : info.dli_fname;
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            answer |= strncmp(name, prefixes[i], strlen(prefixes[i])) == 0;
    }
    last_address = address;
    last_answer = answer;
    return answer;
}

#define CALLED_FROM_BELOW is_below(__builtin_return_address(0))

static long long now(void)
{
    if (atomic_fetch_add(&looks, 1) > PATIENCE)
        atomic_fetch_add(&elapsed, SECOND / 1000);
    return atomic_load(&elapsed);
}

static void pass(long long nanoseconds)
{
    if (nanoseconds > 0)
        atomic_fetch_add(&elapsed, nanoseconds);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *out)
{
    if (CALLED_FROM_BELOW)
        return (int)syscall(SYS_clock_gettime, clock, out);
    long long time = now() + (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? EPOCH : SECOND);
    out->tv_sec = time / SECOND;
    out->tv_nsec = time % SECOND;
    return 0;
}

EXPORT int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    (void)zone;
    struct timespec time;
    if (CALLED_FROM_BELOW) {
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &time);
    } else {
        long long at = now() + EPOCH;
        time = (struct timespec){at / SECOND, at % SECOND};
    }
    *out = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    return 0;
}

EXPORT time_t time(time_t *out)
{
    struct timespec time;
    if (CALLED_FROM_BELOW)
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &time);
    else
        time.tv_sec = (now() + EPOCH) / SECOND;
    if (out)
        *out = time.tv_sec;
    return time.tv_sec;
}

EXPORT clock_t clock(void)
{
    return (clock_t)(now() / (SECOND / CLOCKS_PER_SEC));
}

EXPORT clock_t times(struct tms *out)
{
    clock_t ticks = (clock_t)(now() / (SECOND / sysconf(_SC_CLK_TCK)));
    if (out)
        *out = (struct tms){.tms_utime = ticks};
    return ticks;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *want, struct timespec *left)
{
    if (CALLED_FROM_BELOW)
        return syscall(SYS_clock_nanosleep, clock, flags, want, left) ? errno : 0;
    long long length = want->tv_sec * SECOND + want->tv_nsec;
    if (flags & TIMER_ABSTIME)
        length -= atomic_load(&elapsed) + (clock == CLOCK_REALTIME ? EPOCH : SECOND);
    pass(length);
    return 0;
}

EXPORT int nanosleep(const struct timespec *want, struct timespec *left)
{
    if (CALLED_FROM_BELOW)
        return (int)syscall(SYS_nanosleep, want, left);
    pass(want->tv_sec * SECOND + want->tv_nsec);
    return 0;
}

EXPORT int usleep(useconds_t microseconds)
{
    if (CALLED_FROM_BELOW) {
        struct timespec want = {microseconds / 1000000, microseconds % 1000000 * 1000};
        return (int)syscall(SYS_nanosleep, &want, NULL);
    }
    pass(microseconds * 1000LL);
    return 0;
}

EXPORT unsigned sleep(unsigned seconds)
{
    pass(seconds * SECOND);
    return 0;
}

/* select() and poll() are left alone unless they serve as a sleep. */
EXPORT int select(int count, fd_set *restrict read, fd_set *restrict write, fd_set *restrict except, struct timeval *restrict timeout)
{
    if (!read && !write && !except && timeout && !CALLED_FROM_BELOW) {
        pass(timeout->tv_sec * SECOND + timeout->tv_usec * 1000LL);
        return 0;
    }
    struct timespec converted;
    if (timeout)
        converted = (struct timespec){timeout->tv_sec, timeout->tv_usec * 1000};
    return (int)syscall(SYS_pselect6, count, read, write, except, timeout ? &converted : NULL, NULL);
}

EXPORT int poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
    if (count == 0 && timeout >= 0 && !CALLED_FROM_BELOW) {
        pass(timeout * (SECOND / 1000));
        return 0;
    }
    struct timespec converted = {timeout / 1000, timeout % 1000 * 1000000L};
    return (int)syscall(SYS_ppoll, descriptors, count, timeout < 0 ? NULL : &converted, NULL, 0);
}

#define SEED_FUNCTION(name, type)                                                                                                                     \
    EXPORT void name(type given)                                                                                                                      \
    {                                                                                                                                                 \
        (void)given;                                                                                                                                  \
        static void (*next)(type);                                                                                                                    \
        if (!next)                                                                                                                                    \
            next = (void (*)(type))as_function(true_dlsym()(RTLD_NEXT, #name));                                                                       \
        next((type)seed);                                                                                                                             \
    }
SEED_FUNCTION(srand, unsigned)
SEED_FUNCTION(srandom, unsigned)
SEED_FUNCTION(srand48, long)

/* The GL functions that a picture needs, found by the window system's own lookup. */
struct gl {
    void (*ReadPixels)(GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void *);
    void (*PixelStorei)(GLenum, GLint);
    void (*GetIntegerv)(GLenum, GLint *);
    const GLubyte *(*GetString)(GLenum);
    void (*BindBuffer)(GLenum, GLuint);
    void (*BindFramebuffer)(GLenum, GLuint);
    void (*ReadBuffer)(GLenum);
};

static struct gl find_gl(function (*lookup)(const char *))
{
    struct gl gl;
    gl.ReadPixels = (void (*)(GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void *))lookup("glReadPixels");
    gl.PixelStorei = (void (*)(GLenum, GLint))lookup("glPixelStorei");
    gl.GetIntegerv = (void (*)(GLenum, GLint *))lookup("glGetIntegerv");
    gl.GetString = (const GLubyte *(*)(GLenum))lookup("glGetString");
    gl.BindBuffer = (void (*)(GLenum, GLuint))lookup("glBindBuffer");
    gl.BindFramebuffer = (void (*)(GLenum, GLuint))lookup("glBindFramebuffer");
    gl.ReadBuffer = (void (*)(GLenum))lookup("glReadBuffer");
    return gl;
}

/* The state that glReadPixels depends on; ES 2 has the first entry and the framebuffer only. */
static const GLenum pack_state[] = {GL_PACK_ALIGNMENT, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS, GL_PACK_SWAP_BYTES};
#define PACK_STATES 5

static void read_back(const struct gl *gl, int width, int height, unsigned char *rgba)
{
    const char *version = (const char *)gl->GetString(GL_VERSION);
    bool es2 = version && strncmp(version, "OpenGL ES 2", 11) == 0;
    bool es = version && strncmp(version, "OpenGL ES", 9) == 0;
    bool new_enough = version && (es ? !es2 : atoi(version) >= 3);
    int packs = es2 ? 1 : es ? PACK_STATES - 1 : PACK_STATES;
    GLenum framebuffer_binding = new_enough ? GL_READ_FRAMEBUFFER_BINDING : GL_FRAMEBUFFER_BINDING;
    GLenum framebuffer_target = new_enough ? GL_READ_FRAMEBUFFER : GL_FRAMEBUFFER;
    GLint packing[PACK_STATES], framebuffer = 0, buffer = 0, source = GL_BACK;

    for (int i = 0; i < packs; i++)
        gl->GetIntegerv(pack_state[i], &packing[i]);
    for (int i = 0; i < packs; i++)
        gl->PixelStorei(pack_state[i], i == 0);
    if (new_enough || es2)
        gl->GetIntegerv(framebuffer_binding, &framebuffer);
    if (framebuffer)
        gl->BindFramebuffer(framebuffer_target, 0);
    if (new_enough)
        gl->GetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &buffer);
    if (buffer)
        gl->BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    if (!es) {
        gl->GetIntegerv(GL_READ_BUFFER, &source);
        gl->ReadBuffer(GL_BACK);
    }

    gl->ReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);

    if (!es)
        gl->ReadBuffer((GLenum)source);
    if (buffer)
        gl->BindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)buffer);
    if (framebuffer)
        gl->BindFramebuffer(framebuffer_target, (GLuint)framebuffer);
    for (int i = 0; i < packs; i++)
        gl->PixelStorei(pack_state[i], packing[i]);
}

static void write_picture(const char *file, int width, int height, const unsigned char *rgba)
{
    FILE *out = fopen(file, "wb");
    if (!out)
        complain("cannot write", file);
    fprintf(out, "P6\n%d %d\n255\n", width, height);
    for (int y = height - 1; y >= 0; y--) {
        const unsigned char *pixel = rgba + (size_t)y * (size_t)width * 4;
        for (int x = 0; x < width; x++, pixel += 4)
            fwrite(pixel, 1, 3, out);
    }
    if (fclose(out) != 0)
        complain("cannot write", file);
}

static bool wanted(long frame)
{
    for (int i = 0; i < shot_count; i++)
        if (shots[i].frame == frame)
            return true;
    return false;
}

static void take_shots(const struct gl *gl, long frame, int width, int height)
{
    if (width <= 0 || height <= 0)
        complain("cannot tell the size of the window to write", shots[0].file);
    unsigned char *rgba = calloc((size_t)width * (size_t)height, 4);
    if (!rgba)
        complain("out of memory at", shots[0].file);
    read_back(gl, width, height, rgba);
    for (int i = 0; i < shot_count; i++)
        if (shots[i].frame == frame)
            write_picture(shots[i].file, width, height, rgba);
    free(rgba);
}

static void after_swap(long frame)
{
    atomic_store(&looks, 0);
    pass(step);
    if (last_shot && frame >= last_shot) {
        fflush(NULL);
        _exit(0);
    }
}

/* The next definition of a GLX or EGL function: behind this library, or in the library when the program opened that itself. */
static function next_function(const char *name, const char *library)
{
    void *found = true_dlsym()(RTLD_NEXT, name);
    if (!found) {
        void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        found = handle ? true_dlsym()(handle, name) : NULL;
    }
    if (!found)
        complain("there is no", name);
    return as_function(found);
}

typedef function (*glx_lookup_function)(const GLubyte *);
typedef function (*egl_lookup_function)(const char *);

static function lookup_glx(const char *name)
{
    return ((glx_lookup_function)next_function("glXGetProcAddressARB", "libGL.so.1"))((const GLubyte *)name);
}

static function lookup_egl(const char *name)
{
    return ((egl_lookup_function)next_function("eglGetProcAddress", "libEGL.so.1"))(name);
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
    void *x11 = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
    geometry_function geometry = x11 ? (geometry_function)as_function(true_dlsym()(x11, "XGetGeometry")) : NULL;
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
    long frame = atomic_fetch_add(&frame_number, 1) + 1;
    if (wanted(frame)) {
        struct gl gl = find_gl(lookup_glx);
        int width, height;
        window_size(display, drawable, &width, &height);
        take_shots(&gl, frame, width, height);
    }
    next(display, drawable);
    after_swap(frame);
}

static long before_egl_swap(EGLDisplay display, EGLSurface surface)
{
    typedef EGLBoolean (*query_function)(EGLDisplay, EGLSurface, EGLint, EGLint *);
    long frame = atomic_fetch_add(&frame_number, 1) + 1;
    if (wanted(frame)) {
        struct gl gl = find_gl(lookup_egl);
        query_function query = (query_function)next_function("eglQuerySurface", "libEGL.so.1");
        EGLint width = 0, height = 0;
        query(display, surface, EGL_WIDTH, &width);
        query(display, surface, EGL_HEIGHT, &height);
        take_shots(&gl, frame, width, height);
    }
    return frame;
}

EXPORT EGLBoolean eglSwapBuffers(EGLDisplay display, EGLSurface surface)
{
    static EGLBoolean (*next)(EGLDisplay, EGLSurface);
    if (!next)
        next = (EGLBoolean(*)(EGLDisplay, EGLSurface))next_function("eglSwapBuffers", "libEGL.so.1");
    long frame = before_egl_swap(display, surface);
    EGLBoolean result = next(display, surface);
    after_swap(frame);
    return result;
}

/* Damage is a hint; swapping everything is always right. */
static EGLBoolean swap_with_damage(EGLDisplay display, EGLSurface surface, const EGLint *rectangles, EGLint count)
{
    (void)rectangles;
    (void)count;
    return eglSwapBuffers(display, surface);
}

EXPORT __GLXextFuncPtr glXGetProcAddress(const GLubyte *name);
EXPORT __GLXextFuncPtr glXGetProcAddressARB(const GLubyte *name);
EXPORT __eglMustCastToProperFunctionPointerType eglGetProcAddress(const char *name);

/* Our version of what somebody looks up, or NULL. */
static function replacement(const char *name)
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
        {"eglSwapBuffersWithDamageKHR", (function)swap_with_damage},
        {"eglSwapBuffersWithDamageEXT", (function)swap_with_damage},
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

EXPORT __eglMustCastToProperFunctionPointerType eglGetProcAddress(const char *name)
{
    function next = lookup_egl(name), own = replacement(name);
    return next && own && !CALLED_FROM_BELOW ? own : next;
}

/* The call at the end must stay a jump: the true dlsym() looks at its return address to see who asks. */
__attribute__((optimize("O2"))) EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    dlsym_function next = true_dlsym();
    function own = replacement(name);
    if (own && !CALLED_FROM_BELOW && next(handle, name))
        return as_pointer(own);
    return next(handle, name);
}
