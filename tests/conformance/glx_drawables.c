/* Drawing to drawables that are not plain windows: pixmaps, pbuffers with all kinds of colours, and
 * parts of windows; and X pixmaps as textures. */
#include "conform.h"

#include <X11/Xutil.h>

static void start(void)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
}

static void flower(int petals)
{
    glClearColor(0.1f, 0.2f, 0.3f, 0.4f);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    for (int i = 0; i < petals; i++) {
        color_of(i);
        glRotatef(360.0f / (float)petals, 0, 0, 1);
        glBegin(GL_TRIANGLES);
        glVertex2f(0.1f, -0.2f);
        glVertex2f(0.9f, 0);
        glVertex2f(0.1f, 0.2f);
        glEnd();
    }
}

static void note_drawable(const char *what, Drawable drawable, int width, int height)
{
    XSync(display, False);
    XImage *image = XGetImage(display, drawable, 0, 0, (unsigned)width, (unsigned)height, AllPlanes, ZPixmap);
    if (!image) {
        note("%s: no image", what);
        return;
    }
    static unsigned char pixels[512 * 512 * 3];
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            unsigned long pixel = XGetPixel(image, x, y);
            unsigned char *to = pixels + (y * width + x) * 3;
            to[0] = (unsigned char)(pixel >> 16);
            to[1] = (unsigned char)(pixel >> 8);
            to[2] = (unsigned char)pixel;
        }
    }
    note_bytes(what, pixels, (size_t)(width * height * 3));
    XDestroyImage(image);
}

static GLXFBConfig config_of(int drawable, int red, int alpha, int depth, int double_buffered, int srgb)
{
    const int wanted[] = {GLX_DRAWABLE_TYPE, drawable, GLX_DOUBLEBUFFER, double_buffered, GLX_RED_SIZE, red, GLX_ALPHA_SIZE, alpha, GLX_DEPTH_SIZE,
        depth, GLX_FRAMEBUFFER_SRGB_CAPABLE_EXT, srgb, GLX_SAMPLES, 0, None};
    int count = 0;
    GLXFBConfig found = NULL, *all = glXChooseFBConfig(display, DefaultScreen(display), wanted, &count);
    for (int i = 0; i < count && !found; i++) {
        int red_bits = 0;
        glXGetFBConfigAttrib(display, all[i], GLX_RED_SIZE, &red_bits);
        if (red_bits == red)
            found = all[i];
    }
    if (all)
        XFree(all);
    return found;
}

/* X sees the drawing of GL in a pixmap after a flush, a wait, a swap or a release. */
static void pixmaps(void)
{
    start();
    for (int double_buffered = 0; double_buffered < 2; double_buffered++) {
        GLXFBConfig config = config_of(GLX_PIXMAP_BIT | GLX_WINDOW_BIT, 8, 0, 24, double_buffered, False);
        if (!config) {
            skip("a config for pixmaps");
            return;
        }
        Pixmap pixmap = XCreatePixmap(display, DefaultRootWindow(display), 100, 60, 24);
        GC gc = XCreateGC(display, pixmap, 0, NULL);
        XSetForeground(display, gc, 0x123456);
        XFillRectangle(display, pixmap, gc, 0, 0, 100, 60);
        GLXPixmap drawable = glXCreatePixmap(display, config, pixmap, NULL);
        GLXContext context = glXCreateNewContext(display, config, GLX_RGBA_TYPE, NULL, True);
        note("current: %d", glXMakeContextCurrent(display, drawable, drawable, context));
        BOOLS(GL_DOUBLEBUFFER, 1);
        INTS(GL_DRAW_BUFFER, 1);
        INTS(GL_VIEWPORT, 4);
        note_drawable("before", pixmap, 100, 60);
        glDrawBuffer(GL_FRONT);
        flower(5);
        glFlush();
        note_drawable("flushed", pixmap, 100, 60);
        flower(6);
        glFinish();
        note_drawable("finished", pixmap, 100, 60);
        flower(7);
        glXWaitGL();
        note_drawable("waited", pixmap, 100, 60);
        if (double_buffered) {
            glDrawBuffer(GL_BACK);
            flower(8);
            glXSwapBuffers(display, drawable);
            glXWaitGL();
            note_drawable("swapped", pixmap, 100, 60);
        }
        errors("pixmap");
        glXMakeContextCurrent(display, None, None, NULL);
        note_drawable("released", pixmap, 100, 60);
        glXDestroyPixmap(display, drawable);
        glXDestroyContext(display, context);
        XFreeGC(display, gc);
        XFreePixmap(display, pixmap);
    }
}

/* Colours with more or fewer bits than usual, and floating-point colours. */
static void colors(void)
{
    static const int kinds[][3] = {{5, 0, 0}, {8, 0, 0}, {8, 8, 0}, {10, 0, 0}, {10, 2, 0}, {8, 8, 1}, {8, 0, 1}};
    start();
    for (int i = 0; i < 7; i++) {
        GLXFBConfig config = config_of(GLX_PBUFFER_BIT, kinds[i][0], kinds[i][1], 16, True, kinds[i][2]);
        note("kind %d: %d", i, config != NULL);
        if (!config)
            continue;
        GLXPbuffer pbuffer = glXCreatePbuffer(display, config, (const int[]){GLX_PBUFFER_WIDTH, 64, GLX_PBUFFER_HEIGHT, 64, None});
        GLXContext context = glXCreateNewContext(display, config, GLX_RGBA_TYPE, NULL, True);
        glXMakeContextCurrent(display, pbuffer, pbuffer, context);
        INTS(GL_RED_BITS, 1);
        INTS(GL_GREEN_BITS, 1);
        INTS(GL_ALPHA_BITS, 1);
        INTS(GL_DEPTH_BITS, 1);
        BOOLS(0x8DBA /* GL_FRAMEBUFFER_SRGB_CAPABLE_EXT */, 1);
        for (int srgb = 0; srgb < 2; srgb++) {
            static unsigned char pixels[64 * 64 * 4];
            static float floats[64 * 64 * 4];
            if (srgb)
                glEnable(GL_FRAMEBUFFER_SRGB);
            flower(9);
            glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
            note_bytes("bytes", pixels, sizeof pixels);
            glReadPixels(0, 0, 64, 64, GL_RGBA, GL_FLOAT, floats);
            note_bytes("floats", floats, sizeof floats);
            errors("reading");
        }
        glXMakeContextCurrent(display, None, None, NULL);
        glXDestroyPbuffer(display, pbuffer);
        glXDestroyContext(display, context);
    }
}

/* A context without a config accepts any drawable. */
static void any_config(void)
{
    start();
    begin_x_errors();
    GLXContext context = glXCreateContextAttribsARB(display, NULL, NULL, True, (const int[]){GLX_SCREEN, DefaultScreen(display), None});
    int count = end_x_errors("no config");
    note("a context: %d", context != NULL);
    if (!context || count)
        return;
    int value = 7;
    note("asked for its config: %d", glXQueryContext(display, context, GLX_FBCONFIG_ID, &value));
    note("it is %d", value);
    GLXFBConfig shallow = config_of(GLX_PBUFFER_BIT, 8, 8, 0, True, False);
    GLXFBConfig all[] = {shallow, default_config()};
    for (int i = 0; i < 2; i++) {
        GLXPbuffer pbuffer = glXCreatePbuffer(display, all[i], (const int[]){GLX_PBUFFER_WIDTH, 64, GLX_PBUFFER_HEIGHT, 64, None});
        note("current: %d", glXMakeContextCurrent(display, pbuffer, pbuffer, context));
        BOOLS(GL_DOUBLEBUFFER, 1);
        INTS(GL_DRAW_BUFFER, 1);
        INTS(GL_RED_BITS, 1);
        flower(5);
        unsigned char pixels[64 * 4];
        glReadPixels(0, 32, 64, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        note_bytes("pixels", pixels, sizeof pixels);
        errors("drawing");
        glXMakeContextCurrent(display, None, None, NULL);
        glXDestroyPbuffer(display, pbuffer);
    }
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    note("a window: %d", glXMakeCurrent(display, window.id, context));
    INTS(GL_DEPTH_BITS, 1);
    flower(7);
    picture_of("window", GL_BACK, SIZE, SIZE);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

/* Parts of the back buffer are shown, and nothing else changes. Mesa 22 raises X errors for parts
 * that extend beyond the window. */
static void parts(void)
{
    static const int shown[][4] = {{0, 0, 50, 30}, {100, 200, 40, 40}, {200, 200, 56, 56}, {0, 100, SIZE, 10}, {17, 3, 1, 5}, {0, 0, SIZE, SIZE}};
    start();
    PFNGLXCOPYSUBBUFFERMESAPROC copy = (PFNGLXCOPYSUBBUFFERMESAPROC)glXGetProcAddress((const GLubyte *)"glXCopySubBufferMESA");
    if (!strstr(glXQueryExtensionsString(display, DefaultScreen(display)), "GLX_MESA_copy_sub_buffer") || !copy) {
        skip("GLX_MESA_copy_sub_buffer");
        return;
    }
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    GLXContext context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    glXMakeCurrent(display, window.id, context);
    flower(5);
    glXSwapBuffers(display, window.id);
    glXWaitGL();
    note_drawable("whole", window.id, SIZE, SIZE);
    flower(8);
    for (int i = 0; i < 6; i++) {
        char what[16];
        snprintf(what, sizeof what, "part %d", i);
        copy(display, window.id, shown[i][0], shown[i][1], shown[i][2], shown[i][3]);
        glXWaitGL();
        note_drawable(what, window.id, SIZE, SIZE);
    }
    errors("parts");
    picture(NULL);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

/* X's drawing is used as a texture. */
static void texture_from_pixmap(void)
{
    start();
    PFNGLXBINDTEXIMAGEEXTPROC bind = (PFNGLXBINDTEXIMAGEEXTPROC)glXGetProcAddress((const GLubyte *)"glXBindTexImageEXT");
    PFNGLXRELEASETEXIMAGEEXTPROC release = (PFNGLXRELEASETEXIMAGEEXTPROC)glXGetProcAddress((const GLubyte *)"glXReleaseTexImageEXT");
    if (!strstr(glXQueryExtensionsString(display, DefaultScreen(display)), "GLX_EXT_texture_from_pixmap") || !bind || !release) {
        skip("GLX_EXT_texture_from_pixmap");
        return;
    }
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    GLXContext context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    glXMakeCurrent(display, window.id, context);
    glMatrixMode(GL_PROJECTION);
    glOrtho(-1, 1, -1, 1, -1, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 77);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 3);
    for (int kind = 0; kind < 2; kind++) {
        const int wanted[] = {GLX_DRAWABLE_TYPE, GLX_PIXMAP_BIT | GLX_WINDOW_BIT, kind ? GLX_BIND_TO_TEXTURE_RGBA_EXT : GLX_BIND_TO_TEXTURE_RGB_EXT, True,
            GLX_RED_SIZE, 8, GLX_ALPHA_SIZE, kind ? 8 : 0, GLX_DOUBLEBUFFER, False, GLX_BUFFER_SIZE, kind ? 32 : 24, None};
        GLXFBConfig config = choose_config(wanted);
        if (!config) {
            note("kind %d: no config", kind);
            continue;
        }
        Pixmap pixmap = XCreatePixmap(display, DefaultRootWindow(display), 64, 32, kind ? 32 : 24);
        GC gc = XCreateGC(display, pixmap, 0, NULL);
        XSetForeground(display, gc, 0x80336699);
        XFillRectangle(display, pixmap, gc, 0, 0, 64, 32);
        XSetForeground(display, gc, 0xC0FF8000);
        XFillRectangle(display, pixmap, gc, 5, 3, 20, 10);
        GLXPixmap drawable = glXCreatePixmap(display, config, pixmap, (const int[]){GLX_TEXTURE_TARGET_EXT, GLX_TEXTURE_2D_EXT, GLX_TEXTURE_FORMAT_EXT,
            kind ? GLX_TEXTURE_FORMAT_RGBA_EXT : GLX_TEXTURE_FORMAT_RGB_EXT, None});
        GLuint texture;
        glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_2D, texture);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        for (int round = 0; round < 2; round++) {
            bind(display, drawable, GLX_FRONT_LEFT_EXT, NULL);
            errors("bound");
            glClearColor(0, 0, 0, 0);
            glClear(GL_COLOR_BUFFER_BIT);
            glEnable(GL_TEXTURE_2D);
            glMatrixMode(GL_MODELVIEW);
            glLoadIdentity();
            glColor3f(1, 1, 1);
            square(0.9f);
            glDisable(GL_TEXTURE_2D);
            char what[16];
            snprintf(what, sizeof what, "%d.%d", kind, round);
            picture_of(what, GL_BACK, SIZE, SIZE);
            GLint size[2] = {0, 0};
            glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &size[0]);
            glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &size[1]);
            note("size %d %d", size[0], size[1]);
            release(display, drawable, GLX_FRONT_LEFT_EXT);
            XSetForeground(display, gc, 0x4000FF40);
            XFillRectangle(display, pixmap, gc, 30, 20, 30, 10);
        }
        errors("texture");
        glDeleteTextures(1, &texture);
        glXDestroyPixmap(display, drawable);
        XFreeGC(display, gc);
        XFreePixmap(display, pixmap);
    }
    INTS(GL_UNPACK_ROW_LENGTH, 1);
    INTS(GL_UNPACK_SKIP_PIXELS, 1);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

CONFORM("glx_drawables", NONE, {"pixmaps", pixmaps}, {"colors", colors}, {"any_config", any_config}, {"parts", parts},
        {"texture_from_pixmap", texture_from_pixmap})
