/* A program forks before it uses OpenGL. The children use OpenGL first, then the parent. */
#include "conform.h"

#include <sys/wait.h>
#include <unistd.h>

static int use_opengl(int slot, unsigned char pixel[4])
{
    display = XOpenDisplay(NULL);
    if (!display)
        return 10;
    struct window window = open_window(default_config(), slot, 64, 64);
    GLXContext context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    if (!context || !glXMakeCurrent(display, window.id, context))
        return 12;
    glClearColor((float)slot / 10, 1, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    for (int i = 0; i < 5; i++)
        glXSwapBuffers(display, window.id);
    glClear(GL_COLOR_BUFFER_BIT);
    glReadPixels(3, 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    int result = glGetError() == GL_NO_ERROR && pixel[1] == 255 ? 0 : 13;
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
    XCloseDisplay(display);
    display = NULL;
    return result;
}

static void children_first(void)
{
    unsigned char pixel[4] = {0};
    pid_t pids[3];
    fflush(NULL);
    for (int i = 0; i < 3; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(use_opengl(i + 1, pixel));
    }
    for (int i = 0; i < 3; i++) {
        int status = 0;
        waitpid(pids[i], &status, 0);
        note("child %d: exit %d", i, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    note("parent: %d", use_opengl(5, pixel));
    note_bytes("pixel", pixel, 4);
}

CONFORM("fork_first", NONE, {"children_first", children_first})
