/* Several windows, windows that change size, and the front buffer. */
#include "conform.h"
#include <X11/Xutil.h>
#include <time.h>

#include <unistd.h>

static GLXContext context;

static void start(void)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
}

static void end(void)
{
    errors("end of scene");
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
}

static void flower(int petals, int shift)
{
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    for (int i = 0; i < petals; i++) {
        color_of(i + shift);
        glPushMatrix();
        glRotatef(360 * (float)i / (float)petals, 0, 0, 1);
        glRectf(0.2f, -0.1f, 0.9f, 0.1f);
        glPopMatrix();
    }
}

/* Other programs can choose a window by its name. */
static void name_window(const struct window *window, const char *title, char *class)
{
    XClassHint hint = {.res_name = "conform", .res_class = class};
    XStoreName(display, window->id, title);
    XSetClassHint(display, window->id, &hint);
    XSync(display, False);
}

static void three_windows(void)
{
    struct window windows[3];
    static const int sizes[3][2] = {{256, 256}, {100, 200}, {280, 150}};
    static const char *const titles[3] = {"first of three", "second of three", "third of three"};
    static char classes[3][8] = {"Large", "Narrow", "Large"};
    start();
    for (int i = 0; i < 3; i++) {
        windows[i] = open_window(default_config(), i, sizes[i][0], sizes[i][1]);
        name_window(&windows[i], titles[i], classes[i]);
    }
    for (int frame = 0; frame < 3; frame++) {
        for (int i = 0; i < 3; i++) {
            glXMakeCurrent(display, windows[i].id, context);
            INTS(GL_VIEWPORT, 4); /* set once, when the context is first made current */
            glViewport(0, 0, sizes[i][0], sizes[i][1]);
            flower(5 + i + frame, i);
            char name[16];
            snprintf(name, sizeof name, "%d.%d", frame, i);
            picture_of(name, GL_BACK, sizes[i][0], sizes[i][1]);
            glXSwapBuffers(display, windows[i].id);
        }
    }
    end();
    for (int i = 0; i < 3; i++)
        close_window(&windows[i]);
}

/* Drawing to one window and reading from another. */
static void draw_and_read(void)
{
    struct window first, second;
    unsigned char pixels[64 * 64 * 4];
    start();
    first = open_window(default_config(), 0, SIZE, SIZE);
    second = open_window(default_config(), 1, SIZE, SIZE);
    glXMakeCurrent(display, first.id, context);
    flower(7, 0);
    glXMakeCurrent(display, second.id, context);
    flower(3, 9);
    note("both: %d", glXMakeContextCurrent(display, second.id, first.id, context));
    note("current: %d %d", glXGetCurrentDrawable() == second.id, glXGetCurrentReadDrawable() == first.id);
    glReadPixels(96, 96, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes("the first", pixels, sizeof pixels);
    glWindowPos2i(0, 0);
    glCopyPixels(0, 0, 128, SIZE, GL_COLOR);
    glXMakeCurrent(display, second.id, context);
    picture(NULL);
    end();
    close_window(&first);
    close_window(&second);
}

static Bool is_resize(Display *from, XEvent *event, XPointer argument)
{
    const struct window *window = (const struct window *)argument;
    (void)from;
    return event->type == ConfigureNotify && event->xconfigure.window == window->id && event->xconfigure.width == window->width &&
           event->xconfigure.height == window->height;
}

static void resize(struct window *window, int width, int height)
{
    XEvent event;
    window->width = width;
    window->height = height;
    XResizeWindow(display, window->id, (unsigned)width, (unsigned)height);
    XIfEvent(display, &event, is_resize, (XPointer)window);
    /* Other programs that watch the window may notice the change shortly before or after this
     * program. */
    XFlush(display);
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
}

static void resized(void)
{
    static const int sizes[][2] = {{256, 256}, {120, 90}, {290, 280}, {64, 200}, {256, 256}, {1, 1}, {200, 3}};
    start();
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    glXMakeCurrent(display, window.id, context);
    for (int i = 0; i < 7; i++) {
        if (i)
            resize(&window, sizes[i][0], sizes[i][1]);
        glXSwapBuffers(display, window.id); /* the buffers have the new size from the next frame on */
        glViewport(0, 0, sizes[i][0], sizes[i][1]);
        flower(6 + i, i);
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        picture_of(name, GL_BACK, sizes[i][0], sizes[i][1]);
        INTS(GL_VIEWPORT, 4);
        INTS(GL_SCISSOR_BOX, 4);
        glXSwapBuffers(display, window.id);
    }
    end();
    close_window(&window);
}

/* A window is resized just before a frame. The whole frame has the new size. */
static void resized_at_once(void)
{
    static const int sizes[][2] = {{120, 90}, {290, 280}, {64, 200}, {65, 200}, {256, 256}};
    start();
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    glXMakeCurrent(display, window.id, context);
    flower(5, 0);
    glXSwapBuffers(display, window.id);
    for (int i = 0; i < 5; i++) {
        XResizeWindow(display, window.id, (unsigned)sizes[i][0], (unsigned)sizes[i][1]);
        if (i % 2)
            glBegin(GL_TRIANGLES), glVertex2f(0, 0), glVertex2f(1, 0), glVertex2f(0, 1), glEnd();
        glClearColor(0.2f, 0.1f * (float)i, 0.3f, 1);
        flower(6 + i, i);
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        picture_of(name, GL_BACK, sizes[i][0], sizes[i][1]);
        INTS(GL_VIEWPORT, 4);
        glXSwapBuffers(display, window.id);
    }
    end();
    close_window(&window);
}

/* Both buffers are drawn and read. The front buffer is cleared first. After a swap it should
 * contain the swapped picture, but Mesa's software renderer reads black there. */
static void drawing_to_front(void)
{
    start();
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    glXMakeCurrent(display, window.id, context);
    glDrawBuffer(GL_FRONT);
    glClearColor(0.3f, 0, 0.3f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glClearColor(0, 0, 0, 0);
    glDrawBuffer(GL_BACK);
    flower(8, 4);
    glDrawBuffer(GL_FRONT);
    INTS(GL_DRAW_BUFFER, 1);
    glColor3f(1, 1, 0);
    glRectf(-0.2f, -0.2f, 0.2f, 0.2f);
    glFlush();
    picture_of("front", GL_FRONT, SIZE, SIZE);
    picture_of("back", GL_BACK, SIZE, SIZE);
    glDrawBuffer(GL_FRONT_AND_BACK);
    glColor3f(0, 1, 1);
    glRectf(-0.9f, -0.9f, -0.6f, -0.6f);
    glFlush();
    picture_of("both.front", GL_FRONT, SIZE, SIZE);
    picture_of("both.back", GL_BACK, SIZE, SIZE);
    glDrawBuffer(GL_NONE);
    glColor3f(1, 1, 1);
    glRectf(-1, -1, 1, 1);
    glDrawBuffer(GL_BACK);
    picture_of("none", GL_BACK, SIZE, SIZE);
    end();
    close_window(&window);
}

static void single_buffered(void)
{
    static const int wanted[] = {GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_X_RENDERABLE, True, GLX_DOUBLEBUFFER, False, GLX_RED_SIZE, 8, GLX_DEPTH_SIZE, 24,
                                 None};
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    GLXFBConfig config = choose_config(wanted);
    if (!config) {
        skip("a single-buffered config");
        return;
    }
    struct window window = open_window(config, 0, SIZE, SIZE);
    context = glXCreateNewContext(display, config, GLX_RGBA_TYPE, NULL, True);
    glXMakeCurrent(display, window.id, context);
    BOOLS(GL_DOUBLEBUFFER, 1);
    INTS(GL_DRAW_BUFFER, 1);
    INTS(GL_READ_BUFFER, 1);
    for (int step = 0; step < 3; step++) {
        if (step == 0)
            glClear(GL_COLOR_BUFFER_BIT);
        color_of(step);
        glRectf(-0.9f + 0.5f * (float)step, -0.5f, -0.5f + 0.5f * (float)step, 0.5f);
        if (step == 0)
            glFlush();
        if (step == 1)
            glFinish();
        if (step == 2)
            glXSwapBuffers(display, window.id); /* does nothing but flush */
        char name[16];
        snprintf(name, sizeof name, "%d", step);
        picture_of(name, GL_FRONT, SIZE, SIZE);
    }
    end();
    close_window(&window);
}

/* Whether, within half a second, the X window shows the pixels that were read from the buffer. */
static bool shows(const struct window *window, const unsigned char *rgba)
{
    for (int attempt = 0; attempt < 50; attempt++) {
        XImage *image = XGetImage(display, window->id, 0, 0, SIZE, SIZE, AllPlanes, ZPixmap);
        bool same = image != NULL;
        for (int y = 0; same && y < SIZE; y++) {
            for (int x = 0; same && x < SIZE; x++) {
                const unsigned char *pixel = rgba + ((SIZE - 1 - y) * SIZE + x) * 4;
                unsigned long shown = XGetPixel(image, x, y);
                same = (shown & 0xFFFFFF) == ((unsigned long)pixel[0] << 16 | (unsigned long)pixel[1] << 8 | pixel[2]);
            }
        }
        if (image)
            XDestroyImage(image);
        if (same)
            return true;
        usleep(10000);
    }
    return false;
}

/* Draws and swaps until the window shows the picture. Just after a change of size, a frame may
 * still have the old size, even with the local driver. */
static bool shows_flower(const struct window *window, int petals, int shift)
{
    static unsigned char pixels[SIZE * SIZE * 4];
    for (int attempt = 0; attempt < 20; attempt++) {
        flower(petals, shift);
        glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        glXSwapBuffers(display, window->id);
        glXWaitGL();
        if (shows(window, pixels))
            return true;
    }
    return false;
}

/* Drawing appears in the X window: after a swap, after a flush of the front buffer, and after a
 * change of size. */
static void shown_on_screen(void)
{
    static unsigned char pixels[SIZE * SIZE * 4];
    start();
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    glXMakeCurrent(display, window.id, context);
    for (int frame = 0; frame < 5; frame++) {
        if (frame == 3) {
            resize(&window, 100, 100);
            flower(3, 0);
            glXSwapBuffers(display, window.id);
            resize(&window, SIZE, SIZE);
            glXSwapBuffers(display, window.id);
        }
        note("frame %d is shown: %d", frame, shows_flower(&window, 4 + frame, frame));
    }
    glDrawBuffer(GL_FRONT);
    glReadBuffer(GL_FRONT);
    glClear(GL_COLOR_BUFFER_BIT);
    glColor3f(1, 1, 1);
    glRectf(-0.3f, -0.3f, 0.3f, 0.3f);
    glFlush();
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note("the front buffer is shown: %d", shows(&window, pixels));
    end();
    close_window(&window);
}

/* A window that is destroyed while it is current is harmless. */
static void destroyed_window(void)
{
    start();
    struct window window = open_window(default_config(), 0, SIZE, SIZE), other = open_window(default_config(), 1, SIZE, SIZE);
    glXMakeCurrent(display, window.id, context);
    flower(5, 0);
    glXSwapBuffers(display, window.id);
    begin_x_errors();
    glXMakeCurrent(display, other.id, context);
    close_window(&window);
    flower(9, 0);
    end_x_errors("destroyed");
    picture(NULL);
    end();
    close_window(&other);
}

CONFORM("windows", NONE, {"three_windows", three_windows}, {"draw_and_read", draw_and_read}, {"resized", resized},
        {"resized_at_once", resized_at_once},
        {"drawing_to_front", drawing_to_front}, {"single_buffered", single_buffered},
        {"shown_on_screen", shown_on_screen}, {"destroyed_window", destroyed_window})
