#include "common.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/keysym.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_DUMPS 64

struct dump {
    long frame;
    const char *file;
};

struct settings {
    struct options demo;
    long frames, warmup;
    int width, height;
    bool json;
    struct dump dumps[MAX_DUMPS];
    int dump_count;
};

struct window {
    Display *display;
    Window id;
    GLXContext context;
    Colormap colormap;
    Atom delete_message;
    int width, height;
};

static const char *program = "demo";
static const char *const mode_names[] = {"immediate", "arrays", "vbo", "static"};
static volatile sig_atomic_t interrupted;

static void parse(struct settings *settings, const struct demo *demo, int argc, char **argv);
static void open_window(struct window *window, const struct settings *settings, const struct demo *demo);
static void close_window(struct window *window);
static bool handle_events(struct window *window);
static void begin_frame(const struct window *window);
static void write_dumps(const struct settings *settings, const struct window *window, long frame);
static void report(const struct settings *settings, long frames, double seconds, double cpu_seconds, long triangles);
static double seconds_of(clockid_t clock);

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

int demo_main(const struct demo *demo, int argc, char **argv)
{
    struct settings settings;
    struct window window;

    program = demo->name;
    parse(&settings, demo, argc, argv);
    open_window(&window, &settings, demo);
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);

    if (settings.demo.cull) {
        glEnable(GL_CULL_FACE);
        glCullFace(GL_FRONT_AND_BACK);
    }
    glEnable(GL_DEPTH_TEST);
    long triangles = demo->setup(&settings.demo);
    glFinish();

    double start = seconds_of(CLOCK_MONOTONIC), cpu_start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    long frame = 0, measured_from = 0;
    while ((settings.frames == 0 || frame < settings.frames) && !interrupted) {
        if (!handle_events(&window))
            break;
        if (frame == settings.warmup && frame > 0) {
            glFinish();
            start = seconds_of(CLOCK_MONOTONIC);
            cpu_start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
            measured_from = frame;
        }
        frame++;
        begin_frame(&window);
        demo->draw(&settings.demo, frame);
        write_dumps(&settings, &window, frame);
        glXSwapBuffers(window.display, window.id);
    }
    glFinish();
    double seconds = seconds_of(CLOCK_MONOTONIC) - start;
    double cpu_seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;

    GLenum error = glGetError();
    demo->cleanup();
    close_window(&window);
    report(&settings, frame - measured_from, seconds, cpu_seconds, triangles);
    if (error != GL_NO_ERROR)
        die("OpenGL reported error 0x%04x", error);
    return 0;
}

static void usage(const struct demo *demo)
{
    printf("usage: %s [options]%s\n\n%s\n\n", demo->name, demo->takes_file ? " [FILE.obj|FILE.ply]" : "", demo->about);
    if (!demo->has_one_mode)
        printf("  --mode MODE         how vertices reach OpenGL: immediate, arrays, vbo (filled for every draw)\n"
               "                      or static (a buffer filled once); default %s\n",
               mode_names[demo->default_mode]);
    printf("  --frames N          stop after N frames; 0, the default, goes on until the window is closed\n"
           "  --warmup N          frames drawn before measuring begins; default 1\n"
           "  --size WxH          size of the window; default %dx%d\n"
           "  --seed N            seed of everything random; default 1\n",
           demo->default_width, demo->default_height);
    if (demo->default_triangles)
        printf("  --triangles N       triangles in a frame, about; default %ld\n", demo->default_triangles);
    if (demo->has_parts)
        printf("  --part R/N          draw only share R of N of the data, counted from 0; default 0/1, all of it\n");
    printf("  --cull              cull front and back faces, so that nothing is rasterised\n"
           "  --dump FRAME:FILE   write that frame as a PPM picture; may be repeated\n"
           "  --json              print the measurements as JSON\n");
}

static void bad_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void bad_usage(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", program);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (see %s --help)\n", program);
    exit(2);
}

static long number(const char *option, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < low || value > high)
        bad_usage("%s wants a number from %ld to %ld, not '%s'", option, low, high, text);
    return value;
}

static void parse_size(struct settings *settings, const char *text)
{
    char *end, *end2;
    long width = strtol(text, &end, 10);
    long height = *end == 'x' ? strtol(end + 1, &end2, 10) : 0;
    if (end == text || *end != 'x' || end2 == end + 1 || *end2 || width < 1 || height < 1 || width > 16384 || height > 16384)
        bad_usage("--size wants WIDTHxHEIGHT, each from 1 to 16384, not '%s'", text);
    settings->width = (int)width;
    settings->height = (int)height;
}

static void parse_part(struct settings *settings, const char *text)
{
    char *end, *end2;
    long part = strtol(text, &end, 10);
    long parts = *end == '/' ? strtol(end + 1, &end2, 10) : 0;
    if (end == text || *end != '/' || end2 == end + 1 || *end2 || part < 0 || part >= parts || parts > 4096)
        bad_usage("--part wants R/N, with R from 0 to N-1, not '%s'", text);
    settings->demo.part = (int)part;
    settings->demo.parts = (int)parts;
}

static void parse_dump(struct settings *settings, const char *text)
{
    char *end;
    errno = 0;
    long frame = strtol(text, &end, 10);
    if (end == text || *end != ':' || !end[1] || errno || frame < 1)
        bad_usage("--dump wants FRAME:FILE with frames numbered from 1, not '%s'", text);
    if (settings->dump_count == MAX_DUMPS)
        bad_usage("--dump may be given %d times at most", MAX_DUMPS);
    settings->dumps[settings->dump_count++] = (struct dump){frame, end + 1};
}

static enum mode parse_mode(const char *text)
{
    for (int mode = MODE_IMMEDIATE; mode <= MODE_STATIC; mode++)
        if (strcmp(text, mode_names[mode]) == 0)
            return (enum mode)mode;
    bad_usage("--mode is immediate, arrays, vbo or static, not '%s'", text);
}

static void parse(struct settings *settings, const struct demo *demo, int argc, char **argv)
{
    *settings = (struct settings){
        .demo = {.mode = demo->default_mode, .seed = 1, .triangles = demo->default_triangles, .parts = 1},
        .warmup = 1,
        .width = demo->default_width,
        .height = demo->default_height,
    };
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (option[0] != '-') {
            if (!demo->takes_file)
                bad_usage("takes no file, but '%s' was given", option);
            if (settings->demo.file)
                bad_usage("takes one file, but '%s' and '%s' were given", settings->demo.file, option);
            settings->demo.file = option;
            continue;
        }
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            usage(demo);
            exit(0);
        } else if (strcmp(option, "--cull") == 0) {
            settings->demo.cull = true;
            continue;
        } else if (strcmp(option, "--json") == 0) {
            settings->json = true;
            continue;
        }
        static const char *const with_value[] = {"--mode", "--frames", "--warmup", "--size", "--seed", "--dump", "--triangles", "--part"};
        size_t known = 0;
        while (known < sizeof with_value / sizeof *with_value && strcmp(option, with_value[known]) != 0)
            known++;
        if (known == sizeof with_value / sizeof *with_value || (known == 6 && !demo->default_triangles) || (known == 7 && !demo->has_parts)
            || (known == 0 && demo->has_one_mode))
            bad_usage("unknown option '%s'", option);
        const char *value = argv[++i];
        if (!value)
            bad_usage("%s wants a value", option);
        switch (known) {
        case 0: settings->demo.mode = parse_mode(value); break;
        case 1: settings->frames = number(option, value, 0, 1000000000L); break;
        case 2: settings->warmup = number(option, value, 0, 1000000000L); break;
        case 3: parse_size(settings, value); break;
        case 4: settings->demo.seed = (uint32_t)number(option, value, 0, 4294967295L); break;
        case 5: parse_dump(settings, value); break;
        case 7: parse_part(settings, value); break;
        default: settings->demo.triangles = number(option, value, 100, 100000000L); break;
        }
    }
    for (int i = 0; i < settings->dump_count; i++)
        if (settings->frames && settings->dumps[i].frame > settings->frames)
            bad_usage("--dump of frame %ld, but --frames stops at %ld", settings->dumps[i].frame, settings->frames);
}

/* Frames are drawn as fast as possible, not at the rate of a monitor. */
static void disable_vsync(struct window *window)
{
    const char *extensions = glXQueryExtensionsString(window->display, DefaultScreen(window->display));
    if (extensions && strstr(extensions, "GLX_EXT_swap_control")) {
        PFNGLXSWAPINTERVALEXTPROC interval = (PFNGLXSWAPINTERVALEXTPROC)glXGetProcAddress((const GLubyte *)"glXSwapIntervalEXT");
        interval(window->display, window->id, 0);
    } else if (extensions && strstr(extensions, "GLX_MESA_swap_control")) {
        PFNGLXSWAPINTERVALMESAPROC interval = (PFNGLXSWAPINTERVALMESAPROC)glXGetProcAddress((const GLubyte *)"glXSwapIntervalMESA");
        interval(0);
    }
}

static void open_window(struct window *window, const struct settings *settings, const struct demo *demo)
{
    const int wanted[] = {GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_DRAWABLE_TYPE, GLX_WINDOW_BIT, GLX_DOUBLEBUFFER, True, GLX_X_RENDERABLE, True,
                          GLX_RED_SIZE, 8, GLX_GREEN_SIZE, 8, GLX_BLUE_SIZE, 8, GLX_DEPTH_SIZE, 16,
                          GLX_ALPHA_SIZE, demo->wants_alpha ? 8 : 0, None};
    *window = (struct window){.width = settings->width, .height = settings->height};
    window->display = XOpenDisplay(NULL);
    if (!window->display)
        die("cannot open the X display '%s'; is DISPLAY set and the X server running?", XDisplayName(NULL));
    if (!glXQueryExtension(window->display, NULL, NULL))
        die("the X server of display '%s' has no GLX", XDisplayName(NULL));

    int screen = DefaultScreen(window->display), count = 0;
    GLXFBConfig *configs = glXChooseFBConfig(window->display, screen, wanted, &count);
    XVisualInfo *visual = configs && count ? glXGetVisualFromFBConfig(window->display, configs[0]) : NULL;
    if (!visual)
        die("the X server offers no double-buffered RGB visual with a depth buffer");
    Window root = RootWindow(window->display, screen);
    window->colormap = XCreateColormap(window->display, root, visual->visual, AllocNone);
    XSetWindowAttributes attributes = {.colormap = window->colormap, .event_mask = StructureNotifyMask | KeyPressMask};
    window->id = XCreateWindow(window->display, root, 0, 0, (unsigned)window->width, (unsigned)window->height, 0, visual->depth, InputOutput,
                               visual->visual, CWColormap | CWEventMask | CWBorderPixel, &attributes);
    XStoreName(window->display, window->id, demo->name);
    window->delete_message = XInternAtom(window->display, "WM_DELETE_WINDOW", False);
    XSetWMProtocols(window->display, window->id, &window->delete_message, 1);
    XMapWindow(window->display, window->id);

    window->context = glXCreateNewContext(window->display, configs[0], GLX_RGBA_TYPE, NULL, True);
    XFree(visual);
    XFree(configs);
    if (!window->context || !glXMakeCurrent(window->display, window->id, window->context))
        die("cannot create an OpenGL context");
    disable_vsync(window);
}

static void close_window(struct window *window)
{
    glXMakeCurrent(window->display, None, NULL);
    glXDestroyContext(window->display, window->context);
    XDestroyWindow(window->display, window->id);
    XFreeColormap(window->display, window->colormap);
    XCloseDisplay(window->display);
}

/* Returns false when the user wants to quit. */
static bool handle_events(struct window *window)
{
    while (XPending(window->display)) {
        XEvent event;
        XNextEvent(window->display, &event);
        if (event.type == ConfigureNotify) {
            window->width = event.xconfigure.width;
            window->height = event.xconfigure.height;
        } else if (event.type == KeyPress) {
            KeySym key = XLookupKeysym(&event.xkey, 0);
            if (key == XK_Escape || key == XK_q)
                return false;
        } else if (event.type == ClientMessage && (Atom)event.xclient.data.l[0] == window->delete_message) {
            return false;
        }
    }
    return true;
}

static void begin_frame(const struct window *window)
{
    double half_height = 0.5, half_width = half_height * window->width / window->height;
    glViewport(0, 0, window->width, window->height);
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glFrustum(-half_width, half_width, -half_height, half_height, 1.0, 100.0);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

static void write_picture(const char *file, int width, int height)
{
    size_t row = (size_t)width * 3;
    unsigned char *pixels = allocate(row * (size_t)height);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadBuffer(GL_BACK);
    glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    FILE *out = fopen(file, "wb");
    if (!out)
        die("cannot write %s: %s", file, strerror(errno));
    fprintf(out, "P6\n%d %d\n255\n", width, height);
    for (int y = height - 1; y >= 0; y--)
        fwrite(pixels + row * (size_t)y, 1, row, out);
    int failed = ferror(out);
    if (fclose(out) != 0 || failed)
        die("cannot write %s: %s", file, strerror(errno));
    free(pixels);
}

static void write_dumps(const struct settings *settings, const struct window *window, long frame)
{
    for (int i = 0; i < settings->dump_count; i++)
        if (settings->dumps[i].frame == frame)
            write_picture(settings->dumps[i].file, window->width, window->height);
}

static void report(const struct settings *settings, long frames, double seconds, double cpu_seconds, long triangles)
{
    double rate = seconds > 0 ? (double)frames / seconds : 0;
    const char *mode = mode_names[settings->demo.mode];
    if (settings->json)
        printf("{\"program\": \"%s\", \"mode\": \"%s\", \"cull\": %s, \"frames\": %ld, \"seconds\": %.6f, \"cpu_seconds\": %.6f, "
               "\"triangles_per_frame\": %ld, \"frames_per_second\": %.3f, \"triangles_per_second\": %.0f}\n",
               program, mode, settings->demo.cull ? "true" : "false", frames, seconds, cpu_seconds, triangles, rate, rate * (double)triangles);
    else
        printf("%s (%s): %ld frames in %.3f s, %.2f frames/s, %ld triangles a frame, %.3f million triangles/s\n", program, mode, frames, seconds,
               rate, triangles, rate * (double)triangles / 1e6);
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void die(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", program);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void *allocate(size_t bytes)
{
    return reallocate(NULL, bytes);
}

void *reallocate(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes ? bytes : 1);
    if (!memory)
        die("out of memory (%zu bytes wanted)", bytes);
    return memory;
}

void random_seed(struct random *random, uint32_t seed)
{
    random->state = seed + UINT64_C(0x5851F42D4C957F2D);
    for (int i = 0; i < 4; i++)
        random_float(random);
}

float random_float(struct random *random)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)(random->state >> 40) * (1.0f / 16777216.0f);
}
