/* Several connections to one X server in one process. Windows of one connection are used with
 * contexts of another, in turn and in threads, and connections are closed one by one. */
#include "conform.h"

#include <pthread.h>

#define COUNT 3

static Display *displays[COUNT];
static struct window windows[COUNT]; /* each opened by its display */
static GLXContext contexts[COUNT];

/* Configs belong to a connection. This is the same config of another connection, found by its
 * number. */
static GLXFBConfig config_on(Display *on, GLXFBConfig config)
{
    int id = 0, count = 0;
    glXGetFBConfigAttrib(display, config, GLX_FBCONFIG_ID, &id);
    GLXFBConfig *found = glXChooseFBConfig(on, DefaultScreen(on), (const int[]){GLX_FBCONFIG_ID, id, None}, &count);
    GLXFBConfig first = count ? found[0] : NULL;
    if (found)
        XFree(found);
    if (!first)
        fail("another connection has no such config");
    return first;
}

static void start(void)
{
    XInitThreads();
    if (!display)
        display = XOpenDisplay(NULL);
    for (int i = 0; i < COUNT; i++) {
        displays[i] = i ? XOpenDisplay(NULL) : display;
        if (!displays[i])
            fail("cannot open the X display");
        windows[i] = open_window(default_config(), i, SIZE, SIZE);
        contexts[i] = glXCreateNewContext(displays[i], config_on(displays[i], default_config()), GLX_RGBA_TYPE, NULL, True);
        note("display %d: a context %d, the same display %d", i, contexts[i] != NULL, glXGetCurrentDisplay() == displays[i]);
    }
    XSync(display, False);
}

static void end(void)
{
    for (int i = 0; i < COUNT; i++) {
        if (displays[i]) {
            glXDestroyContext(displays[i], contexts[i]);
            if (i)
                XCloseDisplay(displays[i]);
        }
        close_window(&windows[i]);
    }
}

static void draw(int number)
{
    glClearColor(0.1f * (float)(number % 7), 0.2f, 0.3f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glRotatef((float)(10 + number), 0, 0, 1);
    color_of(number);
    square(0.6f);
}

/* Logs X's picture of a window. Any connection can read it by the window's number. */
static void note_window(const char *what, Display *on, Window window)
{
    XSync(on, False);
    XImage *image = XGetImage(on, window, 0, 0, SIZE, SIZE, AllPlanes, ZPixmap);
    if (!image) {
        note("%s: no image", what);
        return;
    }
    static unsigned char pixels[SIZE * SIZE * 3];
    for (int i = 0; i < SIZE * SIZE; i++) {
        unsigned long pixel = XGetPixel(image, i % SIZE, i / SIZE);
        pixels[i * 3] = (unsigned char)(pixel >> 16);
        pixels[i * 3 + 1] = (unsigned char)(pixel >> 8);
        pixels[i * 3 + 2] = (unsigned char)pixel;
    }
    note_bytes(what, pixels, sizeof pixels);
    XDestroyImage(image);
}

static void in_turns(void)
{
    start();
    for (int turn = 0; turn < 2 * COUNT; turn++) {
        int i = turn % COUNT;
        char name[16];
        note("current: %d", glXMakeCurrent(displays[i], windows[i].id, contexts[i]));
        note("the display: %d", glXGetCurrentDisplay() == displays[i]);
        draw(turn);
        snprintf(name, sizeof name, "%d", turn);
        picture(name);
        glXSwapBuffers(displays[i], windows[i].id);
        glXWaitGL();
        note_window("own connection", displays[i], windows[i].id);
        note_window("another", displays[(i + 1) % COUNT], windows[i].id);
        errors("drawn");
    }
    glXMakeCurrent(displays[2], None, NULL);
    end();
}

/* A context draws to windows that another connection made, one after the other. */
static void windows_of_others(void)
{
    start();
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        note("current: %d", glXMakeCurrent(displays[1], windows[i].id, contexts[1]));
        note("current display and window: %d %d", glXGetCurrentDisplay() == displays[1], glXGetCurrentDrawable() == windows[i].id);
        draw(i);
        snprintf(name, sizeof name, "%d", i);
        picture(name);
        glXSwapBuffers(displays[1], windows[i].id);
        glXWaitGL();
        note_window("shown", display, windows[i].id);
    }
    /* Two connections and two contexts share one window. */
    for (int i = 0; i < 2 * COUNT; i++) {
        glXMakeCurrent(displays[i % COUNT], windows[0].id, contexts[i % COUNT]);
        draw(i);
        glXSwapBuffers(displays[i % COUNT], windows[0].id);
        glXWaitGL();
        note_window("common", display, windows[0].id);
        glXMakeCurrent(displays[i % COUNT], None, NULL);
    }
    end();
}

/* Connections are closed and opened while contexts of other connections draw. */
static void closed(void)
{
    start();
    for (int i = 0; i < COUNT; i++) {
        glXMakeCurrent(displays[i], windows[i].id, contexts[i]);
        draw(i);
        glXSwapBuffers(displays[i], windows[i].id);
        glXWaitGL();
        glXMakeCurrent(displays[i], None, NULL);
    }
    for (int round = 0; round < 4; round++) {
        char name[16];
        glXDestroyContext(displays[2], contexts[2]);
        XCloseDisplay(displays[2]);
        glXMakeCurrent(displays[1], windows[1].id, contexts[1]);
        draw(round);
        snprintf(name, sizeof name, "stays%d", round);
        picture(name);
        glXSwapBuffers(displays[1], windows[1].id);
        glXWaitGL();
        note_window("stays", display, windows[1].id);
        glXMakeCurrent(displays[1], None, NULL);
        displays[2] = XOpenDisplay(NULL);
        contexts[2] = glXCreateNewContext(displays[2], config_on(displays[2], default_config()), GLX_RGBA_TYPE, NULL, True);
        glXMakeCurrent(displays[2], windows[2].id, contexts[2]);
        draw(round + 10);
        snprintf(name, sizeof name, "again%d", round);
        picture(name);
        glXSwapBuffers(displays[2], windows[2].id);
        glXWaitGL();
        note_window("again", display, windows[2].id);
        errors("again");
        glXMakeCurrent(displays[2], None, NULL);
    }
    end();
}

struct worker {
    pthread_t thread;
    int index;
    GLXContext contexts[COUNT]; /* on each display */
    Window windows[COUNT];
    unsigned long sums[COUNT];
    GLenum error;
    unsigned char pixels[SIZE * SIZE * 4];
};

/* Every thread uses every connection in turn, with its own contexts and windows. */
static void *use_each(void *argument)
{
    struct worker *worker = argument;
    for (int frame = 0; frame < 12; frame++) {
        int i = (frame + worker->index) % COUNT;
        glXMakeCurrent(displays[i], worker->windows[i], worker->contexts[i]);
        draw(frame + worker->index);
        glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, worker->pixels);
        for (size_t b = 0; b < 64 * 64 * 4; b++)
            worker->sums[i] = worker->sums[i] * 31 + worker->pixels[b];
        glXSwapBuffers(displays[i], worker->windows[i]);
        if (worker->error == GL_NO_ERROR)
            worker->error = glGetError();
        glXMakeCurrent(displays[i], None, NULL);
    }
    return NULL;
}

static void in_threads(void)
{
    static struct worker workers[COUNT];
    struct window made[COUNT][COUNT];
    start();
    for (int w = 0; w < COUNT; w++) {
        workers[w].index = w;
        for (int i = 0; i < COUNT; i++) {
            made[w][i] = open_window(default_config(), 3 + w * COUNT + i, 64, 64);
            workers[w].windows[i] = made[w][i].id;
            workers[w].contexts[i] = glXCreateNewContext(displays[i], config_on(displays[i], default_config()), GLX_RGBA_TYPE, NULL, True);
        }
    }
    XSync(display, False);
    for (int w = 0; w < COUNT; w++)
        if (pthread_create(&workers[w].thread, NULL, use_each, &workers[w]) != 0)
            fail("cannot start a thread");
    for (int w = 0; w < COUNT; w++) {
        pthread_join(workers[w].thread, NULL);
        for (int i = 0; i < COUNT; i++)
            note("thread %d, display %d: %016lx", w, i, workers[w].sums[i]);
        note("thread %d: %s", w, error_name(workers[w].error));
    }
    for (int w = 0; w < COUNT; w++)
        for (int i = 0; i < COUNT; i++) {
            glXDestroyContext(displays[i], workers[w].contexts[i]);
            close_window(&made[w][i]);
        }
    end();
}

CONFORM("displays", NONE, {"in_turns", in_turns}, {"windows_of_others", windows_of_others}, {"closed", closed}, {"in_threads", in_threads})
