/* The harness of the conformance programs.
 *
 * A program is one file with a list of scenes. Each scene runs in its own context, draws into the
 * back buffer of a 256x256 window, and logs the results of its OpenGL calls. The picture and the
 * log must not depend on the way to the renderer. So they contain no names of the renderer, no
 * addresses and no times. */
#ifndef CONFORM_H
#define CONFORM_H

#define GL_GLEXT_PROTOTYPES
#define GLX_GLXEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <GL/glx.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 256

enum context_kind {
    COMPAT, /* glXCreateNewContext: everything since GL 1.0 */
    CORE,   /* core profile 3.3 */
    NONE,   /* the scene makes windows and contexts itself */
};

struct scene {
    const char *name;
    void (*draw)(void);
};

struct program {
    const char *name;
    enum context_kind kind;
    const struct scene *scenes;
    int scene_count;
};

int conform_main(const struct program *program, int argc, char **argv);

/* The end of each program: CONFORM("name", COMPAT, {"scene", function}, ...) */
#define CONFORM(title, context, ...)                                                                                                                  \
    int main(int argc, char **argv)                                                                                                                   \
    {                                                                                                                                                 \
        static const struct scene scenes[] = {__VA_ARGS__};                                                                                           \
        static const struct program program = {title, context, scenes, sizeof scenes / sizeof *scenes};                                               \
        return conform_main(&program, argc, argv);                                                                                                    \
    }

/* Writes to the log, one line for each call. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Logs and clears all errors that glGetError() reports. */
void errors(const char *after);
const char *error_name(GLenum error);
/* Logs a checksum and the first bytes. */
void note_bytes(const char *what, const void *data, size_t size);
void note_floats(const char *what, const float *values, int count);
void note_ints(const char *what, const int *values, int count);

/* Log `count` values of a glGet*(). */
void get_integers(const char *name, GLenum pname, int count);
void get_floats(const char *name, GLenum pname, int count);
void get_doubles(const char *name, GLenum pname, int count);
void get_booleans(const char *name, GLenum pname, int count);
#define INTS(pname, count) get_integers(#pname, pname, count)
#define FLOATS(pname, count) get_floats(#pname, pname, count)
#define DOUBLES(pname, count) get_doubles(#pname, pname, count)
#define BOOLS(pname, count) get_booleans(#pname, pname, count)
/* Logs whether this object is bound. The names themselves depend on the implementation. */
void get_bound(const char *name, GLenum pname, GLuint object);
#define BOUND(pname, object) get_bound(#pname, pname, object)
#define ENABLED(cap) note("glIsEnabled(%s) = %d", #cap, glIsEnabled(cap))

/* Whether the current context has the extension or version. If not, the need_*() functions also log
 * "skip", and then the scene should return. Skipped scenes leave no picture. */
bool has_extension(const char *name);
bool has_version(int major, int minor);
bool need_extension(const char *name);
bool need_version(int major, int minor);
void skip(const char *why);

/* The value of a line in /proc/self/status, in kB. */
long status_of(const char *name);

/* Write a picture that is named after the scene and the suffix. The source is the back buffer, or
 * the current read buffer with any size. The end of a scene writes a picture, too. */
void picture(const char *suffix);
void picture_of(const char *suffix, GLenum buffer, int width, int height);
void picture_at(const char *suffix, int x, int y); /* of the back buffer, from there on */
/* For scenes that must not end with a picture. */
void no_picture(void);

/* Helpers for drawing. */
void pixel_projection(void);                        /* one unit a pixel, origin at the lower left */
void cell(int column, int row, int columns, int rows); /* the viewport becomes one cell of a grid */
void square(float half);                            /* a quad around the origin, with texture coordinates 0 to 1 */
void hue(float turn, float rgb[3]);
void color_of(int index); /* glColor: one of many distinct colours */
void random_seed(uint32_t seed);
uint32_t random_bits(void);
float random_float(void); /* in [0, 1) */
/* Compiles and links a program. Logs failures and returns 0 for them. */
GLuint build_program(const char *vertex, const char *fragment);
/* The stages of a program that are not null, and the outputs that transform feedback captures. */
struct stages {
    const char *vertex, *control, *evaluation, *geometry, *fragment, *compute;
    const char *const *captured;
    int captured_count;
    GLenum capture_mode;
    bool separable;
};
/* Compiles and links a program, and logs failures. STAGES(.vertex = "...", .fragment = "...") */
GLuint build_stages(const struct stages *stages);
#define STAGES(...) build_stages(&(struct stages){__VA_ARGS__})
/* Makes a buffer object that is bound to `target`. */
GLuint make_buffer(GLenum target, GLsizeiptr size, const void *data);
/* Log the values at the beginning of the buffer that is bound to `target`, at most 256 of them. */
void note_buffer_ints(const char *what, GLenum target, int count);
void note_buffer_floats(const char *what, GLenum target, int count);
/* A coloured checkerboard as an 8-bit RGBA image, in the format of glTexImage2D. */
void checkerboard(unsigned char *rgba, int width, int height, int square_size);

/* GLX and X for scenes that need more than their window. */
struct window {
    Window id;
    Colormap colormap;
    GLXFBConfig config;
    int width, height;
};
extern Display *display;
extern struct window main_window; /* of kinds COMPAT and CORE */
GLXFBConfig default_config(void);
/* The first config with these attributes, or NULL. */
GLXFBConfig choose_config(const int *attributes);
/* Opens and maps a window, and waits until it is mapped. Windows with different `slot` (0 to 11) do
 * not overlap. */
struct window open_window(GLXFBConfig config, int slot, int width, int height);
void close_window(struct window *window);
/* glXCreateContextAttribsARB. Returns NULL and logs a line on failure. */
GLXContext create_context(GLXFBConfig config, GLXContext share, const int *attributes);
/* Log the X errors between the two calls, with the names of GLX errors. The second function returns
 * their number. */
void begin_x_errors(void);
int end_x_errors(const char *what);
/* Ends the program with a message and status 1. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
