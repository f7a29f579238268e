/* Windows and pixmaps of every depth and kind of visual of the X server. The scenes check what
 * OpenGL reads, and what X reads afterwards. */
#include "conform.h"
#include "egl.h"

#include <X11/Xutil.h>

static void start(void)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
}

static int value_of(GLXFBConfig config, int attribute)
{
    int value = -7;
    glXGetFBConfigAttrib(display, config, attribute, &value);
    return value;
}

/* Draws a picture, half of which is transparent. */
static void draw(int number)
{
    glClearColor(0.2f, 0.4f, 0.6f, 0.25f);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    for (int i = 0; i < 6; i++) {
        float rgb[3];
        hue((float)(i + number % 6) / 6, rgb);
        glColor4f(rgb[0], rgb[1], rgb[2], (float)i / 5);
        glRotatef(60, 0, 0, 1);
        glRectf(0.2f, -0.15f, 0.9f, 0.15f);
    }
}

static void note_read(int width, int height)
{
    static unsigned char pixels[SIZE * SIZE * 4];
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes("read", pixels, (size_t)(width * height * 4));
    errors("read");
}

/* Logs X's pixels with all their bits, including those that are not colour. */
static void note_drawable(const char *what, Drawable drawable, int width, int height)
{
    static uint32_t pixels[SIZE * SIZE];
    XSync(display, False);
    XImage *image = XGetImage(display, drawable, 0, 0, (unsigned)width, (unsigned)height, AllPlanes, ZPixmap);
    if (!image) {
        note("%s: no image", what);
        return;
    }
    for (int i = 0; i < width * height; i++)
        pixels[i] = (uint32_t)XGetPixel(image, i % width, i / width);
    note("%s: depth %d, %d bits a pixel", what, image->depth, image->bits_per_pixel);
    note_bytes(what, pixels, (size_t)(width * height) * sizeof *pixels);
    XDestroyImage(image);
}

/* The properties by which the windows of configs differ. */
struct look {
    int depth, class, red, alpha, depth_bits, double_buffered;
};

static struct look look_of(GLXFBConfig config)
{
    XVisualInfo *visual = glXGetVisualFromFBConfig(display, config);
    struct look look = {.depth = visual ? visual->depth : 0,
                        .class = visual ? visual->class : -1,
                        .red = value_of(config, GLX_RED_SIZE),
                        .alpha = value_of(config, GLX_ALPHA_SIZE),
                        .depth_bits = value_of(config, GLX_DEPTH_SIZE),
                        .double_buffered = value_of(config, GLX_DOUBLEBUFFER)};
    if (visual)
        XFree(visual);
    return look;
}

/* The first config of each look without samples, `most` of them at most. Configs of 16 bits with
 * alpha are left out (see glx_configs). */
static int each_look(int drawable_bit, GLXFBConfig *found, int most)
{
    int count = 0, kept = 0;
    GLXFBConfig *all = glXGetFBConfigs(display, DefaultScreen(display), &count);
    for (int i = 0; i < count && kept < most; i++) {
        bool is_small = value_of(all[i], GLX_BUFFER_SIZE) == 16 && value_of(all[i], GLX_ALPHA_SIZE) > 0;
        if (!(value_of(all[i], GLX_DRAWABLE_TYPE) & drawable_bit) || value_of(all[i], GLX_SAMPLES) > 0 || is_small)
            continue;
        struct look look = look_of(all[i]);
        bool is_new = look.depth || drawable_bit != GLX_WINDOW_BIT;
        for (int k = 0; k < kept && is_new; k++) {
            struct look other = look_of(found[k]);
            is_new = memcmp(&look, &other, sizeof look) != 0;
        }
        if (is_new)
            found[kept++] = all[i];
    }
    if (all)
        XFree(all);
    note("looks: %d", kept);
    return kept;
}

static void note_look(GLXFBConfig config)
{
    struct look look = look_of(config);
    note("depth %d, class %d, %d bits of red, %d of alpha, %d of depth, %s", look.depth, look.class, look.red, look.alpha, look.depth_bits,
         look.double_buffered ? "double" : "single");
}

static void windows(void)
{
    GLXFBConfig configs[64];
    start();
    int count = each_look(GLX_WINDOW_BIT, configs, 64);
    for (int i = 0; i < count; i++) {
        note_look(configs[i]);
        struct window window = open_window(configs[i], 0, 120, 90);
        GLXContext context = glXCreateNewContext(display, configs[i], GLX_RGBA_TYPE, NULL, True);
        note("current: %d", glXMakeCurrent(display, window.id, context));
        INTS(GL_RED_BITS, 1);
        INTS(GL_ALPHA_BITS, 1);
        INTS(GL_DEPTH_BITS, 1);
        INTS(GL_DRAW_BUFFER, 1);
        draw(i);
        note_read(120, 90);
        if (value_of(configs[i], GLX_DOUBLEBUFFER)) {
            glXSwapBuffers(display, window.id);
            glXWaitGL();
        } else
            glFinish();
        note_drawable("shown", window.id, 120, 90);
        /* X draws beside the drawing of GL. */
        GC gc = XCreateGC(display, window.id, 0, NULL);
        XSetForeground(display, gc, 0x40123456);
        XFillRectangle(display, window.id, gc, 0, 0, 30, 20);
        XFreeGC(display, gc);
        note_drawable("drawn by X", window.id, 120, 90);
        draw(i + 1);
        if (value_of(configs[i], GLX_DOUBLEBUFFER)) {
            glXSwapBuffers(display, window.id);
            glXWaitGL();
        } else
            glFinish();
        note_drawable("again", window.id, 120, 90);
        glXMakeCurrent(display, None, NULL);
        glXDestroyContext(display, context);
        close_window(&window);
    }
}

/* A window of 32 bits inside a window of 24 bits, and the reverse. */
static void nested(void)
{
    GLXFBConfig configs[64], of[2] = {NULL, NULL};
    start();
    int count = each_look(GLX_WINDOW_BIT, configs, 64);
    for (int i = 0; i < count; i++) {
        struct look look = look_of(configs[i]);
        GLXFBConfig *one = look.depth == 32 ? &of[1] : &of[0];
        if (!*one && look.double_buffered)
            *one = configs[i];
    }
    if (!of[0] || !of[1]) {
        skip("windows of 24 and of 32 bits");
        return;
    }
    for (int inner = 0; inner < 2; inner++) {
        struct window outside = open_window(of[!inner], 0, 200, 150), inside = open_window(of[inner], 1, 80, 60);
        XReparentWindow(display, inside.id, outside.id, 30, 40);
        XSync(display, False);
        GLXContext contexts[2] = {glXCreateNewContext(display, of[!inner], GLX_RGBA_TYPE, NULL, True), glXCreateNewContext(display, of[inner], GLX_RGBA_TYPE, NULL, True)};
        glXMakeCurrent(display, outside.id, contexts[0]);
        draw(3);
        glXSwapBuffers(display, outside.id);
        glXWaitGL();
        glXMakeCurrent(display, inside.id, contexts[1]);
        draw(4);
        glXSwapBuffers(display, inside.id);
        glXWaitGL();
        note_drawable("inside", inside.id, 80, 60);
        note_drawable("above it", outside.id, 200, 40);
        glXMakeCurrent(display, None, NULL);
        for (int i = 0; i < 2; i++)
            glXDestroyContext(display, contexts[i]);
        close_window(&inside);
        close_window(&outside);
    }
}

/* Every context with every window, with the same look or another. */
static void mixed(void)
{
    GLXFBConfig configs[64];
    struct window made[8];
    GLXContext contexts[8];
    start();
    int count = each_look(GLX_WINDOW_BIT, configs, 8);
    for (int i = 0; i < count; i++) {
        note_look(configs[i]);
        made[i] = open_window(configs[i], i, 64, 64);
        contexts[i] = glXCreateNewContext(display, configs[i], GLX_RGBA_TYPE, NULL, True);
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            begin_x_errors();
            bool current = glXMakeCurrent(display, made[k].id, contexts[i]);
            int failed = end_x_errors("current");
            note("context %d, window %d: %d", i, k, current);
            if (current && !failed) {
                draw(i + k);
                note_read(64, 64);
            }
            glXMakeCurrent(display, None, NULL);
        }
    for (int i = 0; i < count; i++) {
        glXDestroyContext(display, contexts[i]);
        close_window(&made[i]);
    }
}

/* Pixmaps of every depth are made with every config. The config draws to pixmaps of its own
 * depth. */
static void pixmaps(void)
{
    static const int depths[] = {24, 32, 16, 8, 1};
    GLXFBConfig configs[64];
    start();
    int count = each_look(GLX_PIXMAP_BIT, configs, 64);
    for (int i = 0; i < count; i++) {
        note_look(configs[i]);
        for (int d = 0; d < 5; d++) {
            Pixmap pixmap = XCreatePixmap(display, DefaultRootWindow(display), 70, 50, (unsigned)depths[d]);
            GC gc = XCreateGC(display, pixmap, 0, NULL);
            XSetForeground(display, gc, 0x80123456);
            XFillRectangle(display, pixmap, gc, 0, 0, 70, 50);
            XFreeGC(display, gc);
            begin_x_errors();
            GLXPixmap drawable = glXCreatePixmap(display, configs[i], pixmap, NULL);
            int failed = end_x_errors("pixmap");
            note("depth %d: %d", depths[d], !failed && drawable != None);
            if (!failed && drawable && depths[d] == look_of(configs[i]).depth) {
                GLXContext context = glXCreateNewContext(display, configs[i], GLX_RGBA_TYPE, NULL, True);
                begin_x_errors();
                bool current = glXMakeContextCurrent(display, drawable, drawable, context);
                failed = end_x_errors("current");
                note("current: %d", current);
                if (current && !failed) {
                    glDrawBuffer(GL_FRONT);
                    glReadBuffer(GL_FRONT);
                    draw(i + d);
                    glFinish();
                    note_read(70, 50);
                    glXWaitGL();
                    note_drawable("what X has", pixmap, 70, 50);
                }
                glXMakeContextCurrent(display, None, None, NULL);
                glXDestroyContext(display, context);
            }
            if (!failed && drawable)
                glXDestroyPixmap(display, drawable);
            XFreePixmap(display, pixmap);
        }
    }
}

/* EGL windows with the visuals of the EGL configs. */
static void egl_windows(void)
{
    VisualID seen[64];
    int kept = 0;
    EGLConfig all[256];
    EGLint count = 0;
    EGLDisplay egl = open_egl_on_x11();
    if (egl == EGL_NO_DISPLAY)
        return;
    eglBindAPI(EGL_OPENGL_API);
    eglChooseConfig(egl, (const EGLint[]){EGL_SURFACE_TYPE, EGL_WINDOW_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SAMPLES, 0, EGL_NONE}, all, 256, &count);
    for (int i = 0; i < count; i++) {
        EGLint id = 0, alpha = -7, number = 0;
        eglGetConfigAttrib(egl, all[i], EGL_NATIVE_VISUAL_ID, &id);
        eglGetConfigAttrib(egl, all[i], EGL_ALPHA_SIZE, &alpha);
        bool is_new = kept < 64;
        for (int k = 0; k < kept && is_new; k++)
            is_new = seen[k] != (VisualID)id;
        if (!is_new)
            continue;
        seen[kept++] = (VisualID)id;
        XVisualInfo wanted = {.visualid = (VisualID)id}, *visual = XGetVisualInfo(display, VisualIDMask, &wanted, &number);
        if (!visual) {
            note("no visual");
            continue;
        }
        note("depth %d, class %d, %d bits of alpha", visual->depth, visual->class, alpha);
        Window root = RootWindow(display, visual->screen);
        XSetWindowAttributes attributes = {.colormap = XCreateColormap(display, root, visual->visual, AllocNone), .override_redirect = True};
        Window window = XCreateWindow(display, root, 0, 0, 110, 70, 0, visual->depth, InputOutput, visual->visual, CWColormap | CWBorderPixel | CWOverrideRedirect, &attributes);
        XMapWindow(display, window);
        XSync(display, False);
        XFree(visual);
        EGLSurface surface = eglCreateWindowSurface(egl, all[i], window, NULL);
        egl_errors("surface");
        EGLContext context = eglCreateContext(egl, all[i], EGL_NO_CONTEXT, NULL);
        note("current: %d", eglMakeCurrent(egl, surface, surface, context));
        draw(i);
        note_read(110, 70);
        eglSwapBuffers(egl, surface);
        eglWaitClient();
        note_drawable("shown", window, 110, 70);
        eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(egl, context);
        eglDestroySurface(egl, surface);
        XDestroyWindow(display, window);
        XFreeColormap(display, attributes.colormap);
    }
    note("visuals: %d", kept);
    eglTerminate(egl);
}

CONFORM("depths", NONE, {"windows", windows}, {"nested", nested}, {"mixed", mixed}, {"pixmaps", pixmaps}, {"egl_windows", egl_windows})
