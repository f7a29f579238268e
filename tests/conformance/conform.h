/*
 * The harness of the conformance programs.
 *
 * A program is one file with a list of scenes. Each scene runs in a context of its own, draws into the back buffer of a 256x256 window and logs what
 * it asked OpenGL. The picture and the log must be the same however the program reaches its renderer, so nothing that names the renderer, and no
 * address or time, goes into them.
 */
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

/* Ends each program: CONFORM("name", COMPAT, {"scene", function}, ...) */
#define CONFORM(title, context, ...)                                                                                                                  \
    int main(int argc, char **argv)                                                                                                                   \
    {                                                                                                                                                 \
        static const struct scene scenes[] = {__VA_ARGS__};                                                                                           \
        static const struct program program = {title, context, scenes, sizeof scenes / sizeof *scenes};                                               \
        return conform_main(&program, argc, argv);                                                                                                    \
    }

/* The log: one line a call. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Logs and clears all errors that glGetError() has. */
void errors(const char *after);
const char *error_name(GLenum error);
/* A checksum and the first bytes. */
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
/* Whether a binding is this object; names themselves are the implementation's choice. */
void get_bound(const char *name, GLenum pname, GLuint object);
#define BOUND(pname, object) get_bound(#pname, pname, object)
#define ENABLED(cap) note("glIsEnabled(%s) = %d", #cap, glIsEnabled(cap))

/*
 * Whether the current context has it; need_*() also log "skip" if not, and then the scene should return. Skipped scenes leave no picture.
 */
bool has_extension(const char *name);
bool has_version(int major, int minor);
bool need_extension(const char *name);
bool need_version(int major, int minor);
void skip(const char *why);

/* A line of /proc/self/status in kB. */
long status_of(const char *name);

/* Write a picture named after the scene and the suffix: the back buffer, or the current read buffer of any size. The end of a scene does it too. */
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
/* Compiles and links; logs and returns 0 on failure. */
GLuint build_program(const char *vertex, const char *fragment);
/* The stages of a program, those it has not null; and what it captures by transform feedback. */
struct stages {
    const char *vertex, *control, *evaluation, *geometry, *fragment, *compute;
    const char *const *captured;
    int captured_count;
    GLenum capture_mode;
    bool separable;
};
/* Compiles and links; logs failures. STAGES(.vertex = "...", .fragment = "...") */
GLuint build_stages(const struct stages *stages);
#define STAGES(...) build_stages(&(struct stages){__VA_ARGS__})
/* A buffer object bound to `target`. */
GLuint make_buffer(GLenum target, GLsizeiptr size, const void *data);
/* Log what lies at the beginning of the buffer bound to `target`: at most 256 values. */
void note_buffer_ints(const char *what, GLenum target, int count);
void note_buffer_floats(const char *what, GLenum target, int count);
/* An 8-bit RGBA texture image of a coloured checkerboard, as glTexImage2D takes it. */
void checkerboard(unsigned char *rgba, int width, int height, int square_size);

/* GLX and X for scenes that want more than the window they are given. */
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
/* Opens and maps a window and waits until it is there. Windows do not overlap if `slot` (0 to 11) differs. */
struct window open_window(GLXFBConfig config, int slot, int width, int height);
void close_window(struct window *window);
/* glXCreateContextAttribsARB; NULL, and a line in the log, when it fails. */
GLXContext create_context(GLXFBConfig config, GLXContext share, const int *attributes);
/* Logs X errors that arrive until the next call, those of GLX by name, and returns how many there were. */
void begin_x_errors(void);
int end_x_errors(const char *what);
/* Ends the program with a message and status 1. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
