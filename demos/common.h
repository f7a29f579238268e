/* Code that all demos share: options, a window with a GL context, the frame loop and its
 * measurements.
 *
 * A demo fills in a `struct demo` and calls demo_main(). Frames are numbered from 1. Animation
 * depends only on the number of the frame, so frame 100 is the same picture in every run. */
#ifndef DEMOS_COMMON_H
#define DEMOS_COMMON_H

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glx.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How vertices reach OpenGL. */
enum mode {
    MODE_IMMEDIATE, /* glNormal and glVertex for each */
    MODE_ARRAYS,    /* client vertex arrays */
    MODE_VBO,       /* a buffer object, filled anew for every draw */
    MODE_STATIC,    /* a buffer object, filled once */
};

struct options {
    enum mode mode;
    uint32_t seed;
    bool cull;
    long triangles;   /* wanted each frame; only demos with `default_triangles` offer it */
    int part, parts;  /* which share of the data is drawn, from 0 on; all of it is part 0 of 1 */
    const char *file; /* the argument that is no option, or NULL; only demos with `takes_file` have one */
};

struct demo {
    const char *name;
    const char *about;
    enum mode default_mode;
    long default_triangles; /* 0: the demo has no --triangles */
    bool takes_file;
    bool has_one_mode; /* it has no --mode */
    bool has_parts;    /* it can draw a share of its data */
    bool wants_alpha;  /* the window is to have alpha, for pictures that are blended with others */
    int default_width, default_height;
    /* Called once with the context current. Returns the number of triangles that each frame draws. */
    long (*setup)(const struct options *options);
    /* Draws frame number `frame`. The buffers are already cleared, and the projection is set. */
    void (*draw)(const struct options *options, long frame);
    void (*cleanup)(void);
};

int demo_main(const struct demo *demo, int argc, char **argv);

/* Prints "NAME: message" on stderr and exits with status 1. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* malloc and realloc that never return NULL. */
void *allocate(size_t bytes);
void *reallocate(void *old, size_t bytes);

/* A small repeatable random number generator. Its numbers are uniform in [0, 1). */
struct random {
    uint64_t state;
};
void random_seed(struct random *random, uint32_t seed);
float random_float(struct random *random);

#endif
