/* Several programs draw into one window. Barriers and semaphores (GL_CR_synchronization) determine
 * the order.
 *
 * PARALLEL_RANK and PARALLEL_RANKS are the rank of this program and the number of programs. Each
 * program draws every n-th shape, blended and with a depth test, so the picture shows the order.
 * Without these variables, one program draws all shapes. Its picture is the reference. */
#include "conform.h"

#include <pthread.h>
#include <unistd.h>

#define STEPS 60

static void (*barrier_create)(GLuint name, GLuint count), (*barrier_exec)(GLuint name), (*barrier_destroy)(GLuint name);
static void (*semaphore_create)(GLuint name, GLuint initial), (*semaphore_destroy)(GLuint name), (*semaphore_p)(GLuint name), (*semaphore_v)(GLuint name);
static int rank, ranks = 1;

enum { MEET = 1 };

static long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

static void *entry(const char *name)
{
    void *found = (void *)glXGetProcAddressARB((const GLubyte *)name);
    if (!found)
        fail("there is no %s", name);
    return found;
}

static void begin(void)
{
    rank = (int)setting("PARALLEL_RANK", 0);
    ranks = (int)setting("PARALLEL_RANKS", 1);
    if (ranks == 1)
        return;
    if (!has_extension("GL_CR_synchronization"))
        fail("GL_CR_synchronization is not there");
    barrier_create = entry("glBarrierCreateCR");
    barrier_exec = entry("glBarrierExecCR");
    barrier_destroy = entry("glBarrierDestroyCR");
    semaphore_create = entry("glSemaphoreCreateCR");
    semaphore_destroy = entry("glSemaphoreDestroyCR");
    semaphore_p = entry("glSemaphorePCR");
    semaphore_v = entry("glSemaphoreVCR");
    barrier_create(MEET, (GLuint)ranks);
    for (int i = 0; i < ranks; i++)
        semaphore_create((GLuint)i, i == 0);
}

static void meet(void)
{
    if (ranks > 1)
        barrier_exec(MEET);
}

static bool is_mine(int step)
{
    return step % ranks == rank;
}

static void take_turn(int step)
{
    if (ranks > 1)
        semaphore_p((GLuint)(step % ranks));
}

static void pass_turn(int step)
{
    if (ranks > 1)
        semaphore_v((GLuint)((step + 1) % ranks));
}

/* A shape that overlaps others and has its own depth. */
static void shape(int step, int round)
{
    float x, y, size;
    random_seed((uint32_t)(step * 7919 + round * 104729 + 1));
    x = random_float() * 200 - 20;
    y = random_float() * 200 - 20;
    size = 40 + random_float() * 60;
    glColor4f(random_float(), random_float(), random_float(), 0.3f + random_float() / 2);
    glBegin(GL_TRIANGLE_FAN);
    glVertex3f(x, y, random_float() * 2 - 1);
    glVertex3f(x + size, y + size / 3, random_float() * 2 - 1);
    glVertex3f(x + size, y + size, random_float() * 2 - 1);
    glVertex3f(x + size / 3, y + size, random_float() * 2 - 1);
    glEnd();
}

static void clear(void)
{
    glClearColor(0.1f, 0.2f, 0.3f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

static void state(void)
{
    pixel_projection();
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LEQUAL);
}

static void draw_round(int round)
{
    meet();
    if (rank == 0)
        clear();
    meet();
    for (int step = 0; step < STEPS; step++) {
        if (!is_mine(step))
            continue;
        take_turn(step);
        shape(step, round);
        pass_turn(step);
    }
    meet();
}

/* Only rank 0 takes the picture, after all programs have drawn. */
static void end(void)
{
    if (rank != 0)
        no_picture();
    glFinish();
}

static void interleaved(void)
{
    begin();
    state();
    draw_round(0);
    end();
}

/* The programs take turns to read the drawing of the others. They copy the picture so far to
 * another position, and to a texture that is drawn. At first, only rank 0 does this, and the others
 * only draw. */
static void copies(void)
{
    GLuint texture = 0;
    begin();
    state();
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    meet();
    if (rank == 0)
        clear();
    meet();
    for (int step = 0; step < STEPS * 2 / 3; step++) {
        if (!is_mine(step))
            continue;
        take_turn(step);
        shape(step, 2);
        if (step % 6 != 0 && step < STEPS / 2) {
            pass_turn(step);
            continue;
        }
        if (step % 4 == 0) {
            glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, step, SIZE / 2 - 32, 64, 64, 0);
            glEnable(GL_TEXTURE_2D);
            glBegin(GL_QUADS);
            glTexCoord2i(0, 0);
            glVertex2i(2 * step, 3 * step);
            glTexCoord2i(1, 0);
            glVertex2i(2 * step + 64, 3 * step);
            glTexCoord2i(1, 1);
            glVertex2i(2 * step + 64, 3 * step + 64);
            glTexCoord2i(0, 1);
            glVertex2i(2 * step, 3 * step + 64);
            glEnd();
            glDisable(GL_TEXTURE_2D);
        } else {
            glRasterPos2i(step, 2 * step);
            glCopyPixels(SIZE / 2 - 40, SIZE / 2 - 30, 80, 70, GL_COLOR);
        }
        shape(step, 3);
        pass_turn(step);
    }
    meet();
    end();
}

enum { STRIPS = 6, HEIGHT = SIZE / STRIPS };

static void begin_strips(void)
{
    begin();
    state();
    if (ranks > 1)
        barrier_create(50 + (GLuint)rank, 1);
    meet();
    if (rank == 0)
        clear();
    meet();
}

/* Draws in this strip from now on. A barrier for one program alone makes the program read again
 * what others may have drawn. */
static void enter_strip(int strip)
{
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, strip * HEIGHT, SIZE, HEIGHT);
    if (ranks > 1)
        barrier_exec(50 + (GLuint)rank);
}

/* The same without turns. Each program copies and draws in its own strip at the same time as the
 * others. */
static void strips(void)
{
    begin_strips();
    for (int step = 0; step < STEPS; step++) {
        int strip = step % STRIPS;
        if (!is_mine(strip))
            continue;
        enter_strip(strip);
        shape(step, 4);
        glRasterPos2i(SIZE / 4 + step, strip * HEIGHT);
        glCopyPixels(SIZE / 3, strip * HEIGHT, SIZE / 2, HEIGHT, GL_COLOR);
        shape(step, 5);
        glRasterPos2i(step / 2, strip * HEIGHT);
        glCopyPixels(SIZE / 4, strip * HEIGHT, SIZE / 2, HEIGHT, GL_COLOR);
    }
    meet();
    end();
}

/* Rank 0 copies with display lists, whose contents the renderers do not examine. The others only
 * draw. */
static void lists(void)
{
    begin_strips();
    GLuint copy = glGenLists(1);
    glNewList(copy, GL_COMPILE);
    glCopyPixels(SIZE / 4, 0, SIZE / 2, HEIGHT, GL_COLOR);
    glEndList();
    for (int step = 0; step < STEPS; step++) {
        if (!is_mine(step))
            continue;
        take_turn(step);
        shape(step, 5);
        glRasterPos2i(step, step);
        if (step % 6 == 0)
            glCallList(copy);
        pass_turn(step);
    }
    meet();
    /* The same without turns. */
    for (int step = 0; step < STEPS; step++) {
        int strip = step % STRIPS;
        if (!is_mine(strip))
            continue;
        enter_strip(strip);
        shape(step, 6);
        if (strip == 0) {
            glRasterPos2i(step, 0);
            glCallList(copy);
        }
        for (int more = 0; more < 10; more++)
            shape(step, 7 + more);
    }
    meet();
    end();
}

/* Each program draws over the whole window when it gets the single semaphore. The order is not
 * known, but it is the same for all pixels. */
static void exclusive(void)
{
    enum { ONE = 70, TURNS = 30 };
    static unsigned char pixels[SIZE * SIZE * 4];
    int others = 0;
    begin();
    state();
    glDisable(GL_DEPTH_TEST);
    if (ranks > 1)
        semaphore_create(ONE, 1);
    meet();
    if (rank == 0)
        clear();
    meet();
    for (int turn = 0; turn < TURNS; turn++) {
        if (ranks > 1)
            semaphore_p(ONE);
        glColor4f((float)rank / (float)ranks, (float)turn / TURNS, 0.5f, 0.2f);
        glRecti(0, 0, SIZE, SIZE);
        if (ranks > 1)
            semaphore_v(ONE);
    }
    meet();
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (int i = 1; i < SIZE * SIZE; i++)
        others += memcmp(pixels, pixels + 4 * i, 4) != 0;
    note("%d pixels differ from the first", others);
    errors("exclusive");
    meet();
    no_picture();
}

enum { PERMITS = 71, OFTEN = 300 };

struct worker {
    pthread_t thread;
    GLXContext context;
};

/* There is one permit less than there are threads. So while a thread waits, another program can
 * continue. */
static void *take_often(void *argument)
{
    struct worker *worker = argument;
    glXMakeCurrent(display, main_window.id, worker->context);
    for (int i = 0; i < OFTEN; i++) {
        semaphore_p(PERMITS);
        glRecti(i % 7, 0, i % 7 + 1, 1);
        semaphore_v(PERMITS);
    }
    glFinish();
    glXMakeCurrent(display, None, NULL);
    return NULL;
}

/* Threads of one program wait for the same semaphore. */
static void threads(void)
{
    struct worker workers[2];
    begin();
    if (ranks > 1) {
        semaphore_create(PERMITS, 2 * (GLuint)ranks - 1);
        meet();
        glFinish();
        for (int i = 0; i < 2; i++) {
            workers[i].context = glXCreateNewContext(display, main_window.config, GLX_RGBA_TYPE, NULL, True);
            if (pthread_create(&workers[i].thread, NULL, take_often, &workers[i]) != 0)
                fail("cannot start a thread");
        }
        for (int i = 0; i < 2; i++) {
            pthread_join(workers[i].thread, NULL);
            glXDestroyContext(display, workers[i].context);
        }
        meet();
    }
    errors("threads");
    end();
    no_picture();
}

/* Draws the same picture PARALLEL_ROUNDS times. */
static void again(void)
{
    static unsigned char first[SIZE * SIZE * 4], now[SIZE * SIZE * 4];
    long rounds = setting("PARALLEL_ROUNDS", 10), others = 0;
    begin();
    state();
    for (long round = 0; round < rounds; round++) {
        draw_round(1);
        if (rank == 0) {
            glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, round == 0 ? first : now);
            others += round > 0 && memcmp(first, now, sizeof now) != 0;
        }
    }
    note("%ld of %ld rounds have another picture than the first", others, rank == 0 ? rounds : 0);
    end();
}

/* Frames that one program hands over, or each program in turn if PARALLEL_SWAPS is set. The last
 * frame stays for PARALLEL_STAY seconds. */
static void frames(void)
{
    begin();
    state();
    for (int frame = 0; frame < 5; frame++) {
        draw_round(frame);
        if (rank == (getenv("PARALLEL_SWAPS") ? frame % ranks : 0)) {
            glXSwapBuffers(display, main_window.id);
            glFinish();
        }
    }
    meet();
    glFinish();
    sleep((unsigned)setting("PARALLEL_STAY", 0));
    end();
}

/* Each program sees the drawing of the others, and has its own objects and state. */
static void apart(void)
{
    begin();
    state();
    GLuint list = glGenLists(1), texture = 0;
    unsigned char pixel[4] = {0, 0, 0, 0};
    unsigned char color[4] = {(unsigned char)(10 * rank), 200, 100, 255};
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, color);
    glNewList(list, GL_COMPILE);
    glRecti(4 * rank, 0, 4 * rank + 4, 4);
    glEndList();
    glDisable(GL_BLEND);
    meet();
    if (rank == 0)
        clear();
    meet();
    glColor3ub(255, (GLubyte)(20 * rank), 7);
    glCallList(list);
    meet();
    for (int i = 0; i < ranks; i++) {
        glReadPixels(4 * i + 1, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
        if (pixel[0] != 255 || pixel[1] != (GLubyte)(20 * i) || pixel[2] != 7)
            note("program %d drew %d %d %d", i, pixel[0], pixel[1], pixel[2]);
    }
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    if (memcmp(pixel, color, 4) != 0)
        note("the texture is another's");
    meet();
    errors("apart");
    end();
    no_picture();
}

/* PARALLEL_MISTAKE selects the mistake. With a single program, no mistake is made. */
static void mistakes(void)
{
    const char *mistake = getenv("PARALLEL_MISTAKE");
    begin();
    end();
    no_picture();
    if (!mistake || ranks == 1)
        return;
    meet();
    glFinish();
    if (strcmp(mistake, "errors") == 0) {
        barrier_create(9, 0);
        errors("a barrier for zero processes");
        barrier_create(MEET, 77);
        errors("a barrier for another number");
        semaphore_create(0, 77);
        errors("a semaphore of another value");
        barrier_exec(99);
        errors("an unknown barrier");
        semaphore_p(99);
        errors("a semaphore to take from");
        semaphore_v(99);
        errors("a semaphore to give to");
        semaphore_destroy(99);
        errors("a semaphore to destroy");
        barrier_destroy(99);
        errors("a barrier to destroy");
        glBegin(GL_POINTS);
        semaphore_v(0);
        glEnd();
        errors("between glBegin and glEnd");
        meet();
        barrier_create(50 + (GLuint)rank, 1);
        barrier_exec(50 + (GLuint)rank);
        barrier_destroy(50 + (GLuint)rank);
        errors("a barrier of its own");
        return;
    }
    if (strcmp(mistake, "deadlock") == 0) {
        /* No program gives a permit. The thread that then ends the program flushes all streams, and
           waits for this lock. Meanwhile glFinish must not return, because the status would be
           0. */
        flockfile(stdin);
        semaphore_create(70 + (GLuint)rank, 0);
        semaphore_p(70 + (GLuint)rank);
    } else if (rank == 2 && strcmp(mistake, "death inside") == 0) {
        semaphore_p(1);
    } else if (rank != 0) {
        meet();
    } else if (strcmp(mistake, "death") == 0) {
        _exit(3);
    } else if (strcmp(mistake, "death inside") == 0) {
        meet();
        _exit(3);
    } else if (strcmp(mistake, "leave") == 0) {
        exit(0);
    }
    glFinish();
    note("went on");
}

CONFORM("parallel", COMPAT, {"interleaved", interleaved}, {"exclusive", exclusive}, {"copies", copies}, {"strips", strips}, {"lists", lists}, {"threads", threads}, {"again", again}, {"frames", frames}, {"apart", apart}, {"mistakes", mistakes})
