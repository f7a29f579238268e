#include "conform.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIME_LIMIT 600 /* seconds; a program that takes longer hangs. The harness ends it earlier. */

static const struct program *running;
static const struct scene *current_scene;
static const char *directory = ".";
static FILE *log_file;
static bool skipped, picture_unwanted;
static uint32_t random_state;

static void run_scene(const struct scene *scene);

static int usage(FILE *out, const char *name)
{
    fprintf(out, "usage: %s --out DIR [--scene NAME] [--times N] | --list\n", name);
    return out == stderr ? 2 : 0;
}

int conform_main(const struct program *program, int argc, char **argv)
{
    const char *only = NULL;
    char path[4096];
    long times = 1;
    running = program;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--list") == 0) {
            for (int s = 0; s < program->scene_count; s++)
                puts(program->scenes[s].name);
            return 0;
        } else if (strcmp(argv[i], "--out") == 0 && more) {
            directory = argv[++i];
        } else if (strcmp(argv[i], "--scene") == 0 && more) {
            only = argv[++i];
        } else if (strcmp(argv[i], "--times") == 0 && more) {
            times = strtol(argv[++i], NULL, 10);
        } else {
            return usage(strcmp(argv[i], "--help") == 0 ? stdout : stderr, program->name);
        }
    }
    bool known = !only;
    for (int s = 0; s < program->scene_count && !known; s++)
        known = strcmp(only, program->scenes[s].name) == 0;
    if (!known)
        fail("there is no scene '%s'; --list shows them", only);
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        fail("cannot make %s: %s", directory, strerror(errno));
    snprintf(path, sizeof path, "%s/%s.txt", directory, program->name);
    log_file = fopen(path, "w");
    if (!log_file)
        fail("cannot write %s: %s", path, strerror(errno));
    setvbuf(log_file, NULL, _IOLBF, 0);

    alarm(TIME_LIMIT);
    for (; times > 0; times--)
        for (int s = 0; s < program->scene_count; s++)
            if (!only || strcmp(only, program->scenes[s].name) == 0)
                run_scene(&program->scenes[s]);
    if (fclose(log_file) != 0)
        fail("cannot write %s: %s", path, strerror(errno));
    return 0;
}

static void open_display(void)
{
    if (display)
        return;
    display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display '%s'", XDisplayName(NULL));
}

static void run_scene(const struct scene *scene)
{
    static const int core[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3, GLX_CONTEXT_PROFILE_MASK_ARB,
                               GLX_CONTEXT_CORE_PROFILE_BIT_ARB, None};
    GLXContext context = NULL;
    current_scene = scene;
    skipped = picture_unwanted = false;
    random_seed(1);
    note("== %s", scene->name);
    if (running->kind == NONE) {
        scene->draw();
        return;
    }
    open_display();
    GLXFBConfig config = default_config();
    if (main_window.id == None)
        main_window = open_window(config, 0, SIZE, SIZE);
    if (running->kind == COMPAT)
        context = glXCreateNewContext(display, config, GLX_RGBA_TYPE, NULL, True);
    else
        context = create_context(config, NULL, core);
    if (!context || !glXMakeCurrent(display, main_window.id, context))
        fail("cannot make a context current");
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    scene->draw();
    errors("end of scene");
    if (!skipped && !picture_unwanted)
        picture(NULL);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
}

void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(log_file, format, arguments);
    va_end(arguments);
    fputc('\n', log_file);
}

const char *error_name(GLenum error)
{
    switch (error) {
    case GL_NO_ERROR: return "GL_NO_ERROR";
    case GL_INVALID_ENUM: return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE: return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION: return "GL_INVALID_OPERATION";
    case GL_STACK_OVERFLOW: return "GL_STACK_OVERFLOW";
    case GL_STACK_UNDERFLOW: return "GL_STACK_UNDERFLOW";
    case GL_OUT_OF_MEMORY: return "GL_OUT_OF_MEMORY";
    case GL_INVALID_FRAMEBUFFER_OPERATION: return "GL_INVALID_FRAMEBUFFER_OPERATION";
    default: return "an unknown error";
    }
}

void errors(const char *after)
{
    for (int i = 0; i < 10; i++) {
        GLenum error = glGetError();
        if (error == GL_NO_ERROR) {
            if (i == 0)
                note("%s: no error", after);
            return;
        }
        note("%s: %s", after, error_name(error));
    }
    note("%s: errors do not end", after);
}

static uint64_t checksum(const unsigned char *data, size_t size)
{
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ data[i]) * UINT64_C(0x100000001B3);
    return sum;
}

void note_bytes(const char *what, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    char text[3 * 24 + 1] = "";
    for (size_t i = 0; i < size && i < 24; i++)
        snprintf(text + 3 * i, 4, " %02x", bytes[i]);
    note("%s: %zu bytes, checksum %016llx:%s", what, size, (unsigned long long)checksum(bytes, size), text);
}

void note_floats(const char *what, const float *values, int count)
{
    fprintf(log_file, "%s =", what);
    for (int i = 0; i < count; i++)
        fprintf(log_file, " %.9g", (double)values[i]);
    fputc('\n', log_file);
}

void note_ints(const char *what, const int *values, int count)
{
    fprintf(log_file, "%s =", what);
    for (int i = 0; i < count; i++)
        fprintf(log_file, " %d", values[i]);
    fputc('\n', log_file);
}

/* Marks that are in the values before a command. They show which values the command has not
 * changed. */
#define MARK 77777

void get_integers(const char *name, GLenum pname, int count)
{
    GLint values[64];
    for (int i = 0; i < 64; i++)
        values[i] = MARK;
    glGetIntegerv(pname, values);
    note_ints(name, values, count);
}

void get_floats(const char *name, GLenum pname, int count)
{
    GLfloat values[64];
    for (int i = 0; i < 64; i++)
        values[i] = MARK;
    glGetFloatv(pname, values);
    note_floats(name, values, count);
}

void get_doubles(const char *name, GLenum pname, int count)
{
    GLdouble values[64];
    for (int i = 0; i < 64; i++)
        values[i] = MARK;
    glGetDoublev(pname, values);
    fprintf(log_file, "%s =", name);
    for (int i = 0; i < count; i++)
        fprintf(log_file, " %.17g", values[i]);
    fputc('\n', log_file);
}

void get_booleans(const char *name, GLenum pname, int count)
{
    GLboolean values[64];
    memset(values, 77, sizeof values);
    glGetBooleanv(pname, values);
    fprintf(log_file, "%s =", name);
    for (int i = 0; i < count; i++)
        fprintf(log_file, " %d", values[i]);
    fputc('\n', log_file);
}

void get_bound(const char *name, GLenum pname, GLuint object)
{
    GLint found = -1;
    glGetIntegerv(pname, &found);
    note("%s is %s", name, found == 0 && object == 0 ? "none" : found == (GLint)object ? "the object" : found == 0 ? "none, not the object" : "another");
}

long status_of(const char *name)
{
    char line[128];
    long kilobytes = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtol(line + strlen(name) + 1, NULL, 10);
    }
    if (file)
        fclose(file);
    return kilobytes;
}

bool has_version(int major, int minor)
{
    const char *version = (const char *)glGetString(GL_VERSION);
    int found_major = 0, found_minor = 0;
    if (version && strncmp(version, "OpenGL ES ", 10) == 0)
        version += 10;
    if (!version || sscanf(version, "%d.%d", &found_major, &found_minor) != 2)
        return false;
    return found_major > major || (found_major == major && found_minor >= minor);
}

bool has_extension(const char *name)
{
    if (has_version(3, 0)) {
        GLint count = 0;
        glGetIntegerv(GL_NUM_EXTENSIONS, &count);
        for (int i = 0; i < count; i++)
            if (strcmp((const char *)glGetStringi(GL_EXTENSIONS, (GLuint)i), name) == 0)
                return true;
        return false;
    }
    const char *list = (const char *)glGetString(GL_EXTENSIONS);
    size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

void skip(const char *why)
{
    note("skip: %s", why);
    skipped = true;
}

bool need_extension(const char *name)
{
    if (has_extension(name))
        return true;
    skip(name);
    return false;
}

bool need_version(int major, int minor)
{
    if (has_version(major, minor))
        return true;
    char why[32];
    snprintf(why, sizeof why, "OpenGL %d.%d", major, minor);
    skip(why);
    return false;
}

void no_picture(void)
{
    picture_unwanted = true;
}

static void write_picture(const char *suffix, int width, int height, const unsigned char *rgba)
{
    char path[4096];
    size_t pixels = (size_t)width * (size_t)height;
    unsigned char *rgb = malloc(pixels * 3), *alpha = malloc(pixels);
    snprintf(path, sizeof path, "%s/%s.%s%s%s.ppm", directory, running->name, current_scene->name, suffix ? "." : "", suffix ? suffix : "");
    FILE *out = fopen(path, "wb");
    if (!out || !rgb || !alpha)
        fail("cannot write %s: %s", path, strerror(errno));
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const unsigned char *pixel = rgba + ((size_t)(height - 1 - y) * (size_t)width + (size_t)x) * 4;
            size_t index = (size_t)y * (size_t)width + (size_t)x;
            memcpy(rgb + index * 3, pixel, 3);
            alpha[index] = pixel[3];
        }
    }
    fprintf(out, "P6\n%d %d\n255\n", width, height);
    fwrite(rgb, 3, pixels, out);
    if (fclose(out) != 0)
        fail("cannot write %s: %s", path, strerror(errno));
    note("picture%s%s: %dx%d, alpha %016llx", suffix ? " " : "", suffix ? suffix : "", width, height,
         (unsigned long long)checksum(alpha, pixels));
    free(rgb);
    free(alpha);
}

/* Saves and restores the pack state, pixel transfer and bindings, so that a picture can be taken in
 * the middle of a scene. */
static void part(const char *suffix, GLenum buffer, int x, int y, int width, int height)
{
    static const GLenum pack[] = {GL_PACK_ALIGNMENT, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS, GL_PACK_SWAP_BYTES};
    const char *version = (const char *)glGetString(GL_VERSION);
    bool es = version && strncmp(version, "OpenGL ES", 9) == 0, buffers = has_version(3, 0);
    int packs = !es ? 5 : buffers ? 4 : 1;
    GLint packing[5], pixel_buffer = 0, framebuffer = 0, source = GL_BACK;
    unsigned char *rgba = calloc((size_t)width * (size_t)height, 4);
    if (!rgba)
        fail("out of memory");

    for (int i = 0; i < packs; i++) {
        glGetIntegerv(pack[i], &packing[i]);
        glPixelStorei(pack[i], i == 0);
    }
    if (buffers) {
        glGetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &pixel_buffer);
        glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
        glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &framebuffer);
    }
    if (framebuffer && buffer != GL_COLOR_ATTACHMENT0)
        glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    if (!es) {
        glGetIntegerv(GL_READ_BUFFER, &source);
        glReadBuffer(buffer);
    }
    glFinish();
    glReadPixels(x, y, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
    if (!es)
        glReadBuffer((GLenum)source);
    if (buffers) {
        glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)framebuffer);
        glBindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)pixel_buffer);
    }
    for (int i = 0; i < packs; i++)
        glPixelStorei(pack[i], packing[i]);
    errors("picture");
    write_picture(suffix, width, height, rgba);
    free(rgba);
}

void picture(const char *suffix)
{
    picture_at(suffix, 0, 0);
}

void picture_of(const char *suffix, GLenum buffer, int width, int height)
{
    part(suffix, buffer, 0, 0, width, height);
}

void picture_at(const char *suffix, int x, int y)
{
    part(suffix, GL_BACK, x, y, SIZE, SIZE);
}

void fail(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", running->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void random_seed(uint32_t seed)
{
    random_state = seed * 2654435761u + 12345u;
}

uint32_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

float random_float(void)
{
    return (float)(random_bits() >> 8) * (1.0f / 16777216.0f);
}
