/* EGL on X11: windows with OpenGL ES 2 and desktop OpenGL, swaps, sizes, and pbuffers beside them. */
#include "conform.h"
#include "egl.h"

#include <X11/Xutil.h>

static EGLDisplay egl;
static EGLConfig config;
static EGLContext context;
static EGLSurface surface;
static Window window;
static Colormap colormap;

static Bool is_map(Display *from, XEvent *event, XPointer argument)
{
    (void)from;
    (void)argument;
    return event->type == MapNotify && event->xmap.window == window;
}

static bool start(EGLenum api, EGLint renderable, const EGLint *attributes)
{
    egl = open_egl_on_x11();
    if (egl == EGL_NO_DISPLAY)
        return false;
    config = egl_config(egl, EGL_WINDOW_BIT, renderable);
    if (!config)
        return false;
    EGLint visual_id = 0, count = 0;
    eglGetConfigAttrib(egl, config, EGL_NATIVE_VISUAL_ID, &visual_id);
    XVisualInfo wanted = {.visualid = (VisualID)visual_id}, *visual = XGetVisualInfo(display, VisualIDMask, &wanted, &count);
    note("a visual: %d", visual != NULL);
    if (!visual)
        return false;
    Window root = RootWindow(display, visual->screen);
    colormap = XCreateColormap(display, root, visual->visual, AllocNone);
    XSetWindowAttributes window_attributes = {.colormap = colormap, .event_mask = StructureNotifyMask, .override_redirect = True};
    window = XCreateWindow(display, root, 0, 0, SIZE, SIZE, 0, visual->depth, InputOutput, visual->visual,
                           CWColormap | CWBorderPixel | CWEventMask | CWOverrideRedirect, &window_attributes);
    XFree(visual);
    XMapWindow(display, window);
    XEvent event;
    XIfEvent(display, &event, is_map, NULL);
    eglBindAPI(api);
    context = eglCreateContext(egl, config, EGL_NO_CONTEXT, attributes);
    surface = eglCreateWindowSurface(egl, config, window, NULL);
    egl_errors("surface");
    note("current: %d", eglMakeCurrent(egl, surface, surface, context));
    return true;
}

static void end(void)
{
    errors("end of scene");
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroySurface(egl, surface);
    eglDestroyContext(egl, context);
    eglTerminate(egl);
    XDestroyWindow(display, window);
    XFreeColormap(display, colormap);
}

static GLuint program;

static void es_frame(int frame)
{
    static const GLfloat corners[] = {0.2f, -0.1f, 0.9f, 0, 0.2f, 0.1f};
    if (!program) {
        program = build_program("attribute vec2 place; uniform mat2 turn; void main() { gl_Position = vec4(turn * place, 0.0, 1.0); }",
                                "precision mediump float; uniform vec3 tint; void main() { gl_FragColor = vec4(tint, 1.0); }");
        glUseProgram(program);
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
        glEnableVertexAttribArray(0);
    }
    glClearColor(0.1f, 0.1f, 0.1f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    for (int i = 0; i < 8; i++) {
        static const GLfloat turns[8][2] = {{1, 0}, {0.7071f, 0.7071f}, {0, 1}, {-0.7071f, 0.7071f}, {-1, 0}, {-0.7071f, -0.7071f}, {0, -1}, {0.7071f, -0.7071f}};
        const GLfloat *t = turns[(i + frame) % 8], matrix[4] = {t[0], t[1], -t[1], t[0]};
        GLfloat rgb[3];
        hue((float)i / 8, rgb);
        glUniformMatrix2fv(glGetUniformLocation(program, "turn"), 1, GL_FALSE, matrix);
        glUniform3fv(glGetUniformLocation(program, "tint"), 1, rgb);
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }
}

static void es2(void)
{
    program = 0;
    if (!start(EGL_OPENGL_ES_API, EGL_OPENGL_ES2_BIT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE}))
        return;
    INTS(GL_VIEWPORT, 4);
    for (int frame = 0; frame < 3; frame++) {
        char name[8];
        es_frame(frame);
        snprintf(name, sizeof name, "%d", frame);
        picture(name);
        note("swapped: %d", eglSwapBuffers(egl, surface));
    }
    EGLint width = 0, height = 0, buffer = 0;
    eglQuerySurface(egl, surface, EGL_WIDTH, &width);
    eglQuerySurface(egl, surface, EGL_HEIGHT, &height);
    eglQuerySurface(egl, surface, EGL_RENDER_BUFFER, &buffer);
    note("%dx%d, render buffer %x", width, height, (unsigned)buffer);
    note("interval: %d", eglSwapInterval(egl, 0));
    end();
}

static Bool is_resize(Display *from, XEvent *event, XPointer argument)
{
    const int *size = (const int *)argument;
    (void)from;
    return event->type == ConfigureNotify && event->xconfigure.width == size[0] && event->xconfigure.height == size[1];
}

static void resized(void)
{
    static int sizes[][2] = {{100, 150}, {280, 200}, {256, 256}};
    program = 0;
    if (!start(EGL_OPENGL_ES_API, EGL_OPENGL_ES2_BIT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE}))
        return;
    for (int i = 0; i < 3; i++) {
        XEvent event;
        char name[8];
        XResizeWindow(display, window, (unsigned)sizes[i][0], (unsigned)sizes[i][1]);
        XIfEvent(display, &event, is_resize, (XPointer)sizes[i]);
        es_frame(i);
        eglSwapBuffers(egl, surface);
        glViewport(0, 0, sizes[i][0], sizes[i][1]);
        es_frame(i);
        snprintf(name, sizeof name, "%d", i);
        picture_of(name, GL_BACK, sizes[i][0], sizes[i][1]);
        EGLint width = 0, height = 0;
        eglQuerySurface(egl, surface, EGL_WIDTH, &width);
        eglQuerySurface(egl, surface, EGL_HEIGHT, &height);
        note("%dx%d", width, height);
        eglSwapBuffers(egl, surface);
    }
    end();
}

static void desktop(void)
{
    if (!start(EGL_OPENGL_API, EGL_OPENGL_BIT, (const EGLint[]){EGL_NONE}))
        return;
    BOOLS(GL_DOUBLEBUFFER, 1);
    for (int frame = 0; frame < 2; frame++) {
        char name[8];
        glClear(GL_COLOR_BUFFER_BIT);
        glRotatef(20, 0, 0, 1);
        color_of(frame + 3);
        square(0.6f);
        snprintf(name, sizeof name, "%d", frame);
        picture(name);
        eglSwapBuffers(egl, surface);
    }
    end();
}

/* A window may get a new surface after its surface was destroyed. */
static void surface_again(void)
{
    program = 0;
    if (!start(EGL_OPENGL_ES_API, EGL_OPENGL_ES2_BIT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE}))
        return;
    es_frame(0);
    eglSwapBuffers(egl, surface);
    eglCreateWindowSurface(egl, config, window, NULL);
    egl_errors("a second surface of one window");
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroySurface(egl, surface);
    surface = eglCreateWindowSurface(egl, config, window, NULL);
    egl_errors("a surface again");
    note("current: %d", eglMakeCurrent(egl, surface, surface, context));
    es_frame(1);
    picture(NULL);
    end();
}

CONFORM("egl_window", NONE, {"es2", es2}, {"resized", resized}, {"desktop", desktop}, {"surface_again", surface_again})
