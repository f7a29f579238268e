/* glReadBuffer and related commands: the buffers that each framebuffer can be read from and drawn
 * to, in each API, and their errors. */
#include "conform.h"
#include "egl.h"

static const GLenum names[] = {GL_NONE, GL_FRONT_LEFT, GL_FRONT_RIGHT, GL_BACK_LEFT, GL_BACK_RIGHT, GL_FRONT, GL_BACK, GL_LEFT, GL_RIGHT, GL_FRONT_AND_BACK,
                               GL_AUX0, GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT0 + 1, GL_COLOR_ATTACHMENT0 + 7, GL_COLOR_ATTACHMENT0 + 8, GL_COLOR_ATTACHMENT0 + 31,
                               GL_COLOR_ATTACHMENT0 + 32, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, 0x7777};

static void try_all(const char *where, bool is_gl, GLuint framebuffer)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        GLint read = -7, draw = -7;
        note("%s, %x", where, names[i]);
        glReadBuffer(names[i]);
        errors("read");
        glGetIntegerv(GL_READ_BUFFER, &read);
        glDrawBuffers(1, &names[i]);
        errors("draw");
        if (is_gl) {
            glDrawBuffer(names[i]);
            errors("draw one");
        }
        glGetIntegerv(GL_DRAW_BUFFER0, &draw);
        note("%x %x", read, draw);
        if (is_gl && has_extension("GL_ARB_direct_state_access")) {
            glNamedFramebufferReadBuffer(framebuffer, names[i]);
            errors("read by name");
            glNamedFramebufferDrawBuffer(framebuffer, names[i]);
            errors("draw by name");
        }
        if (is_gl && has_extension("GL_EXT_direct_state_access")) {
            glFramebufferReadBufferEXT(framebuffer, names[i]);
            errors("read by name");
            glFramebufferDrawBufferEXT(framebuffer, names[i]);
            errors("draw by name");
        }
        glGetIntegerv(GL_READ_BUFFER, &read);
        glGetIntegerv(GL_DRAW_BUFFER0, &draw);
        note("%x %x", read, draw);
        errors("asked");
    }
    /* In OpenGL ES, Mesa crashes in the next part. */
    if (!is_gl)
        return;
    GLubyte pixel[4] = {0};
    glReadBuffer(GL_NONE);
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    errors("read without a buffer");
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 1, 1);
    errors("copy without a buffer");
}

static void framebuffers(bool is_gl)
{
    try_all("default", is_gl, 0);
    GLuint framebuffer, renderbuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    try_all("empty", is_gl, framebuffer);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 16, 16);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    try_all("with an image", is_gl, framebuffer);
    glReadBuffer(GL_COLOR_ATTACHMENT0 + 1);
    GLubyte pixel[4] = {0};
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    errors("no image read");
    /* The read buffer belongs to the framebuffer that is bound for reading. */
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    errors("an attachment of the default one");
    glReadBuffer(GL_BACK);
    errors("its back");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteRenderbuffers(1, &renderbuffer);
}

static void in_egl(EGLenum api, const EGLint *attributes, bool with_surface)
{
    EGLDisplay egl = open_surfaceless();
    no_picture();
    if (egl == EGL_NO_DISPLAY)
        return;
    EGLConfig config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_BIT | EGL_OPENGL_ES3_BIT);
    if (!config)
        return;
    eglBindAPI(api);
    EGLContext context = eglCreateContext(egl, config, EGL_NO_CONTEXT, attributes);
    EGLSurface surface = with_surface ? eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, 16, EGL_HEIGHT, 16, EGL_NONE}) : EGL_NO_SURFACE;
    if (context == EGL_NO_CONTEXT || !eglMakeCurrent(egl, surface, surface, context)) {
        skip("a context of this kind");
        return;
    }
    framebuffers(api == EGL_OPENGL_API);
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(egl, context);
    if (surface)
        eglDestroySurface(egl, surface);
    eglTerminate(egl);
    eglReleaseThread();
}

static void es3(void)
{
    in_egl(EGL_OPENGL_ES_API, (const EGLint[]){EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE}, true);
}

static void es3_without_surface(void)
{
    in_egl(EGL_OPENGL_ES_API, (const EGLint[]){EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE}, false);
}

static void core_pbuffer(void)
{
    in_egl(EGL_OPENGL_API, (const EGLint[]){EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5, EGL_NONE}, true);
}

static void in_window(bool is_double)
{
    no_picture();
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    GLXFBConfig config = choose_config((const int[]){GLX_RED_SIZE, 8, GLX_DOUBLEBUFFER, is_double, GLX_DEPTH_SIZE, 16, None});
    if (!config) {
        skip("such a config");
        return;
    }
    struct window window = open_window(config, 0, 64, 64);
    GLXContext context = create_context(config, NULL, (const int[]){None});
    glXMakeCurrent(display, window.id, context);
    framebuffers(true);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

static void double_window(void)
{
    in_window(true);
}

static void single_window(void)
{
    in_window(false);
}

CONFORM("read_buffers", NONE, {"es3", es3}, {"es3_without_surface", es3_without_surface}, {"core_pbuffer", core_pbuffer}, {"double_window", double_window},
        {"single_window", single_window})
