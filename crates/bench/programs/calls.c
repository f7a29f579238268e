/* Measures single OpenGL calls, as a program sees them: nanoseconds per call, or calls per second
 * for calls that wait for the renderer. Also measures frames of one triangle. Prints one JSON
 * object. This is an ordinary GLX program. */
#define _GNU_SOURCE
#include <GL/gl.h>
#include <GL/glx.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The nanoseconds of one call. The call is measured in blocks of `n` calls for about `seconds`.
 * `before` and `after` run around each block. */
#define MEASURE(result, seconds, n, before, call, after)                                                                                       \
    do {                                                                                                                                        \
        double best = 1e30, end = now() + (seconds);                                                                                            \
        do {                                                                                                                                    \
            before;                                                                                                                             \
            double start = now();                                                                                                               \
            for (int i = 0; i < (n); i++) {                                                                                                     \
                call;                                                                                                                           \
            }                                                                                                                                   \
            double each = (now() - start) / (n);                                                                                                \
            after;                                                                                                                              \
            if (each < best)                                                                                                                    \
                best = each;                                                                                                                    \
        } while (now() < end);                                                                                                                  \
        (result) = best * 1e9;                                                                                                                  \
    } while (0)

enum { FRAMES = 200 };

/* The side of the rectangles that are read. */
enum { SIDE = 16 };

/* Draws FRAMES frames of one triangle, and waits until the last one is finished. */
static void draw_frames(Display *display, Window window)
{
    for (int i = 0; i < FRAMES; i++) {
        glBegin(GL_TRIANGLES);
        glVertex2f(0, 0);
        glVertex2f(1, 0);
        glVertex2f(0, 1);
        glEnd();
        glXSwapBuffers(display, window);
    }
    glFinish();
}

int main(void)
{
    Display *display = XOpenDisplay(NULL);
    if (!display) {
        fprintf(stderr, "calls: no X server: set DISPLAY\n");
        return 1;
    }
    int wanted[] = {GLX_RGBA, GLX_DOUBLEBUFFER, GLX_RED_SIZE, 8, GLX_DEPTH_SIZE, 16, None};
    XVisualInfo *visual = glXChooseVisual(display, DefaultScreen(display), wanted);
    if (!visual) {
        fprintf(stderr, "calls: no visual\n");
        return 1;
    }
    Window root = RootWindow(display, visual->screen);
    XSetWindowAttributes attributes = {.colormap = XCreateColormap(display, root, visual->visual, AllocNone)};
    Window window = XCreateWindow(display, root, 0, 0, 64, 64, 0, visual->depth, InputOutput, visual->visual, CWColormap, &attributes);
    XMapWindow(display, window);
    GLXContext context = glXCreateContext(display, visual, NULL, True);
    if (!context || !glXMakeCurrent(display, window, context)) {
        fprintf(stderr, "calls: no context\n");
        return 1;
    }
    glEnable(GL_CULL_FACE);
    glCullFace(GL_FRONT_AND_BACK);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glFinish();

    double identity, translate, color, vertex, get, error, read, small, skipped, swapped, frame;
    GLint value;
    GLubyte pixels[SIDE * SIDE * 8 * 4];
    MEASURE(identity, 0.3, 20000, , glLoadIdentity(), glFinish());
    MEASURE(translate, 0.3, 20000, , glTranslatef(0.0f, 0.0f, 0.0f), glFinish());
    MEASURE(color, 0.3, 20000, , glColor4f(1.0f, 0.5f, 0.25f, 1.0f), glFinish());
    MEASURE(vertex, 0.5, 60000, glBegin(GL_TRIANGLES), (glNormal3f(0.0f, 0.0f, 1.0f), glVertex3f((float)i, 0.0f, 0.0f)), (glEnd(), glFinish()));
    MEASURE(get, 0.3, 20000, , glGetIntegerv(GL_MATRIX_MODE, &value), );
    MEASURE(error, 0.3, 20000, , glGetError(), );
    MEASURE(read, 1.0, 2000, , glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixels), );
    /* Because of the clears, the client cannot answer with a picture that it already has. */
    MEASURE(small, 0.5, 1000, , (glClear(GL_COLOR_BUFFER_BIT), glReadPixels(5, 5, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels)), );
    glPixelStorei(GL_PACK_ROW_LENGTH, SIDE + 7);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 3);
    glPixelStorei(GL_PACK_SKIP_ROWS, 2);
    MEASURE(skipped, 0.5, 1000, , (glClear(GL_COLOR_BUFFER_BIT), glReadPixels(5, 5, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels)), );
    glPixelStorei(GL_PACK_SWAP_BYTES, GL_TRUE);
    MEASURE(swapped, 0.5, 1000, , (glClear(GL_COLOR_BUFFER_BIT), glReadPixels(5, 5, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_SHORT, pixels)), );
    MEASURE(frame, 1.0, 1, , draw_frames(display, window), );
    printf("{\"load_identity_ns\": %.2f, \"translate_ns\": %.2f, \"color_ns\": %.2f, \"normal_vertex_ns\": %.2f, \"get_integer_ns\": %.2f, "
           "\"get_error_ns\": %.2f, \"read_pixels_per_second\": %.0f, \"small_reads_per_second\": %.0f, \"skipped_reads_per_second\": %.0f, "
           "\"swapped_reads_per_second\": %.0f, \"frame_ns\": %.0f}\n",
           identity, translate, color, vertex, get, error, 1e9 / read, 1e9 / small, 1e9 / skipped, 1e9 / swapped, frame / FRAMES);
    return 0;
}
