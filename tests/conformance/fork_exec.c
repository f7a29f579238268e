/* Programs that fork: children that do not use OpenGL, children that use it on their own, children
 * that run another program, and children that die. */
#include "conform.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void shape(int step)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glPushMatrix();
    glRotatef(15 * (float)step, 0, 0, 1);
    for (int i = 0; i < 4; i++) {
        color_of(i + step);
        glRotatef(90, 0, 0, 1);
        glRectf(0.1f, 0.1f, 0.6f, 0.6f);
    }
    glPopMatrix();
}

/* Runs `body` in a child, and logs how the child ended. The child itself logs nothing, because its
 * lines would be written twice. */
static void child(const char *what, void (*body)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        body();
        _exit(3);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        fail("cannot fork");
    note("%s: exit %d, signal %d", what, WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void leave_quietly(void)
{
    _exit(0);
}

static void run_true(void)
{
    execlp("true", "true", (char *)NULL);
}

static void die_by_signal(void)
{
    raise(SIGKILL);
}

/* The child's own connection, window and context. */
static void use_opengl(void)
{
    Display *own = XOpenDisplay(NULL);
    if (!own)
        _exit(10);
    display = own;
    int count = 0;
    GLXFBConfig *configs = glXChooseFBConfig(own, DefaultScreen(own), (const int[]){GLX_DOUBLEBUFFER, True, GLX_RED_SIZE, 8, None}, &count);
    if (!configs || !count)
        _exit(11);
    struct window window = open_window(configs[0], 5, 64, 64);
    GLXContext context = glXCreateNewContext(own, configs[0], GLX_RGBA_TYPE, NULL, True);
    if (!context || !glXMakeCurrent(own, window.id, context))
        _exit(12);
    unsigned char pixel[4] = {0};
    glClearColor(0, 1, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glReadPixels(3, 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    glXSwapBuffers(own, window.id);
    if (pixel[0] != 0 || pixel[1] != 255 || glGetError() != GL_NO_ERROR)
        _exit(13);
    glXMakeCurrent(own, None, NULL);
    glXDestroyContext(own, context);
    close_window(&window);
    XCloseDisplay(own);
    _exit(0);
}

/* The parent uses OpenGL, and its children start and end. */
static void children_of_a_user(void)
{
    shape(0);
    child("quiet", leave_quietly);
    shape(1);
    child("another program", run_true);
    shape(2);
    child("killed", die_by_signal);
    shape(3);
    FLOATS(GL_CURRENT_COLOR, 4);
    errors("after three children");
    for (int i = 0; i < 10; i++) {
        shape(i);
        child("quiet", leave_quietly);
        glXSwapBuffers(display, main_window.id);
    }
    shape(5);
}

/* Children that are forked between glBegin and glEnd of the parent, and their output in the middle
 * of a frame, must not disturb the parent. */
static void in_the_middle(void)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 40; i++) {
        if (i == 20)
            child("in a run", leave_quietly);
        color_of(i);
        glVertex2f(-0.9f + 0.045f * (float)i, i % 2 ? 0.6f : -0.6f);
    }
    glEnd();
    errors("in the middle");
}

/* Children with their own OpenGL, one after the other, while the parent continues to draw. */
static void children_with_opengl(void)
{
    shape(0);
    pid_t pids[3];
    fflush(NULL);
    for (int i = 0; i < 3; i++) {
        pids[i] = fork();
        if (pids[i] == 0) { /* the parent's context is the parent's: the child starts afresh by running the program again */
            char self[4096] = "";
            ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
            char directory[64];
            snprintf(directory, sizeof directory, "/tmp/fork_exec.%d.XXXXXX", i);
            if (length > 0 && mkdtemp(directory)) {
                pid_t pid = fork();
                if (pid == 0) {
                    execl(self, self, "--out", directory, "--scene", "fresh", (char *)NULL);
                    _exit(20);
                }
                int status = 0;
                waitpid(pid, &status, 0);
                char file[128];
                snprintf(file, sizeof file, "%s/fork_exec.txt", directory);
                unlink(file);
                snprintf(file, sizeof file, "%s/fork_exec.fresh.ppm", directory);
                unlink(file);
                rmdir(directory);
                _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 21);
            }
            _exit(22);
        }
        shape(i + 1);
        glXSwapBuffers(display, main_window.id);
    }
    for (int i = 0; i < 3; i++) {
        int status = 0;
        waitpid(pids[i], &status, 0);
        note("child %d: exit %d", i, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    shape(7);
    errors("children with OpenGL");
}

/* A child uses OpenGL without running the program again. The inherited state is useless to the
 * child, but must do no harm. */
static void child_opens_opengl(void)
{
    shape(0);
    child("own OpenGL", use_opengl);
    shape(1);
    child("own OpenGL", use_opengl);
    glXSwapBuffers(display, main_window.id);
    shape(2);
    errors("child opens OpenGL");
}

static void fresh(void)
{
    shape(2);
}

CONFORM("fork_exec", COMPAT, {"children_of_a_user", children_of_a_user}, {"in_the_middle", in_the_middle},
        {"children_with_opengl", children_with_opengl}, {"child_opens_opengl", child_opens_opengl},
        {"fresh", fresh})
