/* Threads with a context each, threads that pass a context on, and threads that share objects. */
#include "conform.h"

#include <pthread.h>

#define THREADS 4

struct worker {
    pthread_t thread;
    Display *display; /* its own connection, or the common one */
    struct window window;
    GLXContext context;
    int index;
    unsigned checksum;
    GLenum error;
    unsigned char pixels[SIZE * SIZE * 4];
};

static struct worker workers[THREADS];
static pthread_barrier_t barrier;

static unsigned checksum_of(const unsigned char *data, size_t size)
{
    unsigned sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + data[i];
    return sum;
}

static void ring(int index, int frame)
{
    float rgb[3];
    glClear(GL_COLOR_BUFFER_BIT);
    glPushMatrix();
    glRotatef((float)(frame * 7 + index * 20), 0, 0, 1);
    for (int i = 0; i < 12; i++) {
        hue((float)((i + index * 3) % 12) / 12, rgb);
        glColor3fv(rgb);
        glRotatef(30, 0, 0, 1);
        glBegin(GL_TRIANGLES);
        glVertex2f(0.3f, -0.1f);
        glVertex2f(0.9f, 0);
        glVertex2f(0.3f, 0.1f);
        glEnd();
    }
    glPopMatrix();
}

static void *draw_frames(void *argument)
{
    struct worker *worker = argument;
    glXMakeCurrent(worker->display, worker->window.id, worker->context);
    for (int frame = 0; frame < 20; frame++) {
        ring(worker->index, frame);
        glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, worker->pixels);
        worker->checksum = worker->checksum * 31 + checksum_of(worker->pixels, sizeof worker->pixels);
        glXSwapBuffers(worker->display, worker->window.id);
    }
    worker->error = glGetError();
    glXMakeCurrent(worker->display, None, NULL);
    return NULL;
}

static void open_workers(bool own_connections)
{
    XInitThreads();
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    for (int i = 0; i < THREADS; i++) {
        struct worker *worker = &workers[i];
        *worker = (struct worker){.index = i, .display = own_connections ? XOpenDisplay(NULL) : display};
        worker->window = open_window(default_config(), i, SIZE, SIZE);
        XSync(display, False);
        GLXFBConfig config = default_config();
        if (own_connections) { /* configs belong to a connection: find the same one by its number */
            int id, count = 0;
            glXGetFBConfigAttrib(display, config, GLX_FBCONFIG_ID, &id);
            GLXFBConfig *found = glXChooseFBConfig(worker->display, DefaultScreen(worker->display), (const int[]){GLX_FBCONFIG_ID, id, None}, &count);
            config = count ? found[0] : NULL;
            if (found)
                XFree(found);
        }
        worker->context = config ? glXCreateNewContext(worker->display, config, GLX_RGBA_TYPE, NULL, True) : NULL;
        if (!worker->context)
            fail("cannot create a context");
    }
}

static void close_workers(void)
{
    for (int i = 0; i < THREADS; i++) {
        glXDestroyContext(workers[i].display, workers[i].context);
        close_window(&workers[i].window);
        if (workers[i].display != display)
            XCloseDisplay(workers[i].display);
    }
}

static void run_workers(void *(*body)(void *))
{
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&workers[i].thread, NULL, body, &workers[i]) != 0)
            fail("cannot start a thread");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        note("thread %d: %08x, %s", i, workers[i].checksum, error_name(workers[i].error));
    }
}

static void one_connection(void)
{
    open_workers(false);
    run_workers(draw_frames);
    close_workers();
}

static void own_connections(void)
{
    open_workers(true);
    run_workers(draw_frames);
    close_workers();
}

/* One context is passed around. Each thread continues where the previous one stopped. */
static void *take_turns(void *argument)
{
    struct worker *worker = argument;
    for (int turn = 0; turn < THREADS * 3; turn++) {
        pthread_barrier_wait(&barrier);
        if (turn % THREADS != worker->index)
            continue;
        glXMakeCurrent(display, workers[0].window.id, workers[0].context);
        glTranslatef(0.12f, 0.1f, 0);
        color_of(turn);
        glRectf(-0.2f, -0.2f, 0, 0);
        if (turn == THREADS * 3 - 1)
            glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, worker->pixels);
        worker->error = glGetError();
        glXMakeCurrent(display, None, NULL);
    }
    worker->checksum = checksum_of(worker->pixels, sizeof worker->pixels);
    return NULL;
}

static void handed_on(void)
{
    open_workers(false);
    pthread_barrier_init(&barrier, NULL, THREADS);
    glXMakeCurrent(display, workers[0].window.id, workers[0].context);
    glClear(GL_COLOR_BUFFER_BIT);
    glTranslatef(-0.8f, -0.7f, 0);
    glXMakeCurrent(display, None, NULL);
    run_workers(take_turns);
    pthread_barrier_destroy(&barrier);
    glXMakeCurrent(display, workers[0].window.id, workers[0].context);
    FLOATS(GL_MODELVIEW_MATRIX, 16);
    picture(NULL);
    glXMakeCurrent(display, None, NULL);
    close_workers();
}

/* One thread makes textures. The other threads wait for the textures and use them. They take turns
 * to draw, because Mesa's software renderer crashes if two contexts draw with one texture at the
 * same time. */
static GLuint shared_texture;
static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER;

static void *use_shared(void *argument)
{
    struct worker *worker = argument;
    glXMakeCurrent(display, worker->window.id, worker->context);
    for (int round = 0; round < 5; round++) {
        if (worker->index == 0) {
            unsigned char image[16 * 16 * 4];
            checkerboard(image, 16, 16, 1 + round);
            if (round == 0)
                glGenTextures(1, &shared_texture);
            glBindTexture(GL_TEXTURE_2D, shared_texture);
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
            glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
            glFinish();
        }
        pthread_barrier_wait(&barrier);
        pthread_mutex_lock(&drawing);
        glBindTexture(GL_TEXTURE_2D, shared_texture);
        glEnable(GL_TEXTURE_2D);
        glClear(GL_COLOR_BUFFER_BIT);
        square(0.5f + 0.1f * (float)worker->index);
        glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, worker->pixels);
        pthread_mutex_unlock(&drawing);
        worker->checksum = worker->checksum * 31 + checksum_of(worker->pixels, sizeof worker->pixels);
        pthread_barrier_wait(&barrier);
    }
    worker->error = glGetError();
    glXMakeCurrent(display, None, NULL);
    return NULL;
}

static void shared_objects(void)
{
    open_workers(false);
    for (int i = 1; i < THREADS; i++) {
        glXDestroyContext(display, workers[i].context);
        workers[i].context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, workers[0].context, True);
    }
    pthread_barrier_init(&barrier, NULL, THREADS);
    run_workers(use_shared);
    pthread_barrier_destroy(&barrier);
    close_workers();
}

/* Threads start and end. Each draws one frame with its own context, and ends while the context is
 * current. */
static void *one_frame(void *argument)
{
    struct worker *worker = argument;
    worker->context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    glXMakeCurrent(display, worker->window.id, worker->context);
    ring(worker->index, worker->index);
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, worker->pixels);
    worker->checksum = worker->checksum * 31 + checksum_of(worker->pixels, sizeof worker->pixels);
    worker->error = glGetError();
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, worker->context);
    return NULL;
}

static void many_short_threads(void)
{
    open_workers(false);
    for (int i = 0; i < THREADS; i++)
        glXDestroyContext(display, workers[i].context);
    for (int round = 0; round < 8; round++)
        run_workers(one_frame);
    for (int i = 0; i < THREADS; i++)
        close_window(&workers[i].window);
}

/* Without a context, GL commands do no harm, even in a thread that never had a context. */
static void *no_context(void *argument)
{
    struct worker *worker = argument;
    glClear(GL_COLOR_BUFFER_BIT);
    glBegin(GL_TRIANGLES);
    glVertex2f(0, 0);
    glEnd();
    worker->error = glGetError();
    worker->checksum = glGetString(GL_VERSION) == NULL;
    return NULL;
}

static void without_context(void)
{
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < THREADS; i++)
        workers[i].index = i;
    run_workers(no_context);
}

CONFORM("threads", NONE, {"one_connection", one_connection}, {"own_connections", own_connections}, {"handed_on", handed_on},
        {"shared_objects", shared_objects}, {"many_short_threads", many_short_threads}, {"without_context", without_context})
