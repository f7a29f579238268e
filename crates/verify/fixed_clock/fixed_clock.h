/*
 * An LD_PRELOAD library that makes OpenGL programs repeatable and photographs their frames.
 *
 * The program's clocks stop while it draws, and advance by a fixed step at each swap. Waits return
 * at once and move the clock on, and random numbers start from one seed. So an animation depends on
 * the number of the frame alone. Frames count from 1 over all windows.
 *
 *   MGN_SHOTS_DIR=DIR       writes frames, read back before they are swapped, as DIR/frame-000001.ppm and so on: binary PPM pictures
 *   MGN_SHOTS_EVERY=N       every N-th frame only
 *   MGN_SHOTS_FRAMES=N      ends the program, with status 0, after N frames
 *   MGN_SHOTS_SECONDS=N     the same, at the first swap N true seconds after the one from which the rate counts
 *   MGN_SHOTS_RATE=1        prints how fast it drew in the end, as a line of JSON: frames_per_second, frames, seconds and cpu_seconds (of the process),
 *                           in true time, since the last input, or the first frame; and the renderer's name
 *   MGN_SHOTS_WARM=N        the N-th frame stands for the first one there
 *   MGN_SHOTS_INPUT=LINES   of the form FRAME:COMMAND; the shell runs COMMAND when that frame has been swapped, and the program goes on after it
 *   MGN_CLOCK_STEP_NS=N     nanoseconds from frame to frame; 16666667 unless given
 *   MGN_CLOCK_SEED=N        the seed of random numbers; 1 unless given
 *
 * Preload it into the program alone (`env LD_PRELOAD=... PROGRAM`), not into what starts the
 * program: its clock would be stopped too.
 *
 * The libraries below the program (OpenGL, X) keep the true time: their timeouts are real. Which library a call comes from is told by its return
 * address. Programs that look functions up (dlsym, glXGetProcAddress, eglGetProcAddress) get the versions of this library as well.
 */
#ifndef FIXED_CLOCK_H
#define FIXED_CLOCK_H

#define _GNU_SOURCE
#include <stdbool.h>

#define SECOND 1000000000LL
#define EXPORT __attribute__((visibility("default")))

typedef void (*function)(void);
typedef void *(*dlsym_function)(void *, const char *);

/* lookup.c: the caller's library, and the functions behind this library. */
bool is_below(const void *address);
#define CALLED_FROM_BELOW is_below(__builtin_return_address(0))
dlsym_function true_dlsym(void);
/* ISO C has no conversion between pointers to objects and to functions. */
function as_function(void *pointer);
void *as_pointer(function f);
/* The next definition of a GLX or EGL function: behind this library, or in `library` when the program opened that itself. */
function next_function(const char *name, const char *library);
function lookup_glx(const char *name);
function lookup_egl(const char *name);
/* Our version of a function that the program looks up, or NULL. */
function replacement(const char *name);
_Noreturn void complain(const char *what, const char *which);

/* clock.c */
void read_clock_settings(void);
/* Time as the program sees it goes on by so much. */
void pass(long long nanoseconds);
/* As at a swap. */
void pass_a_frame(void);
/* In true time. */
void wait_milliseconds(int milliseconds);
double true_seconds(void);
double true_cpu_seconds(void);

/* random.c */
void read_seed(void);

/* camera.c: `lookup` finds GL functions of the window system that swaps this frame. */
void take_picture(const char *file, int width, int height, function (*lookup)(const char *));

/* swaps.c */
void read_shot_settings(void);

#endif
