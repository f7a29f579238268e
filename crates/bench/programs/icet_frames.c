/* A library that is loaded before IceT (LD_PRELOAD). It measures the compositing of an unchanged
 * program. Each process writes a line for each frame: the time at which it had drawn its picture,
 * and the time at which `icetDrawFrame` returned. The times are in seconds of a clock that the
 * whole host shares.
 *
 * ICET_FRAMES is the name of the file. A dot and the rank are added to it. ICET_LIBRARY is the name
 * under which the program loads IceT. */

#define _GNU_SOURCE
#include <IceT.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static IceTDrawCallbackType draw;
static double drawn;
static FILE *lines;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void fail(const char *what) {
    fprintf(stderr, "icet_frames: %s\n", what);
    exit(3);
}

/* IceT's own function. The program may have loaded IceT where RTLD_NEXT does not search. */
static void *original(const char *name) {
    void *library = dlopen(getenv("ICET_LIBRARY"), RTLD_LAZY | RTLD_NOLOAD);
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) fail("ICET_LIBRARY does not name IceT");
    return found;
}

static void draw_and_note(const IceTDouble *projection, const IceTDouble *modelview, const IceTFloat *background,
                          const IceTInt *viewport, IceTImage result) {
    draw(projection, modelview, background, viewport, result);
    drawn = now();
}

void icetDrawCallback(IceTDrawCallbackType callback) {
    static void (*set)(IceTDrawCallbackType);
    if (!set) set = original("icetDrawCallback");
    draw = callback;
    set(draw_and_note);
}

IceTImage icetDrawFrame(const IceTDouble *projection, const IceTDouble *modelview, const IceTFloat *background) {
    static IceTImage (*composite)(const IceTDouble *, const IceTDouble *, const IceTFloat *);
    if (!composite) {
        composite = original("icetDrawFrame");
        const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *file = getenv("ICET_FRAMES");
        char path[4096];
        if (!rank || !file) fail("neither ICET_FRAMES nor a rank of Open MPI");
        snprintf(path, sizeof path, "%s.%s", file, rank);
        lines = fopen(path, "w");
        if (!lines) fail("cannot write ICET_FRAMES");
    }
    /* A process that draws nothing counts as having drawn at this point. */
    drawn = now();
    IceTImage image = composite(projection, modelview, background);
    fprintf(lines, "%.9f %.9f\n", drawn, now());
    fflush(lines);
    return image;
}
