/* EGL images: textures and renderbuffers that several contexts have in common. */
#include "conform.h"
#include "egl.h"

typedef void (*PFNGLEGLIMAGETARGETTEXTURE2DOESPROC)(GLenum target, void *image);
typedef void (*PFNGLEGLIMAGETARGETRENDERBUFFERSTORAGEOESPROC)(GLenum target, void *image);

static EGLDisplay egl;
static EGLConfig config;
static EGLContext first, second;
static EGLSurface surface;
static PFNEGLCREATEIMAGEKHRPROC create_khr;
static PFNEGLDESTROYIMAGEKHRPROC destroy_khr;
static PFNGLEGLIMAGETARGETTEXTURE2DOESPROC texture_of;
static PFNGLEGLIMAGETARGETRENDERBUFFERSTORAGEOESPROC renderbuffer_of;

static bool start(void)
{
    static const EGLint es2[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
    egl = open_surfaceless();
    if (egl == EGL_NO_DISPLAY)
        return false;
    const char *extensions = eglQueryString(egl, EGL_EXTENSIONS);
    if (!extensions || !strstr(extensions, "EGL_KHR_gl_texture_2D_image")) {
        skip("EGL_KHR_gl_texture_2D_image");
        return false;
    }
    create_khr = (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR");
    destroy_khr = (PFNEGLDESTROYIMAGEKHRPROC)eglGetProcAddress("eglDestroyImageKHR");
    texture_of = (PFNGLEGLIMAGETARGETTEXTURE2DOESPROC)eglGetProcAddress("glEGLImageTargetTexture2DOES");
    renderbuffer_of = (PFNGLEGLIMAGETARGETRENDERBUFFERSTORAGEOESPROC)eglGetProcAddress("glEGLImageTargetRenderbufferStorageOES");
    config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_ES2_BIT);
    eglBindAPI(EGL_OPENGL_ES_API);
    surface = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, 64, EGL_HEIGHT, 64, EGL_NONE});
    first = eglCreateContext(egl, config, EGL_NO_CONTEXT, es2);
    second = eglCreateContext(egl, config, EGL_NO_CONTEXT, es2);
    note("current: %d", eglMakeCurrent(egl, surface, surface, first));
    note("extension: %d", strstr((const char *)glGetString(GL_EXTENSIONS), "GL_OES_EGL_image ") != NULL);
    return true;
}

static void end(void)
{
    errors("end");
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglTerminate(egl);
    eglReleaseThread();
}

static GLuint texture_with(int width, int height, int seed)
{
    static unsigned char pixels[64 * 64 * 4];
    GLuint texture;
    random_seed((uint32_t)seed);
    for (int i = 0; i < width * height * 4; i++)
        pixels[i] = (unsigned char)random_bits();
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    return texture;
}

/* The bound texture, as drawn and read. */
static void show(const char *what)
{
    static const GLfloat corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    static unsigned char pixels[64 * 64 * 4];
    GLuint program = build_program("attribute vec2 p; varying vec2 t; void main() { gl_Position = vec4(p, 0.0, 1.0); t = p * 0.5 + 0.5; }",
        "precision mediump float; uniform sampler2D s; varying vec2 t; void main() { gl_FragColor = texture2D(s, t); }");
    GLuint place = (GLuint)glGetAttribLocation(program, "p");
    glUseProgram(program);
    glVertexAttribPointer(place, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(place);
    glViewport(0, 0, 64, 64);
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes(what, pixels, sizeof pixels);
    glDeleteProgram(program);
    errors(what);
}

static void textures(void)
{
    static unsigned char red[4] = {255, 0, 0, 255};
    if (!start())
        return;
    GLuint source = texture_with(64, 64, 1), other = 0;
    EGLImage image = eglCreateImage(egl, first, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)source, NULL);
    note("image: %d", image != EGL_NO_IMAGE);
    egl_errors("eglCreateImage");
    EGLImageKHR again = create_khr(egl, first, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)source, (const EGLint[]){EGL_IMAGE_PRESERVED_KHR, EGL_TRUE, EGL_NONE});
    note("a second one: %d", again != EGL_NO_IMAGE);
    egl_errors("a second one");
    glGenTextures(1, &other);
    glBindTexture(GL_TEXTURE_2D, other);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    texture_of(GL_TEXTURE_2D, image);
    errors("texture of the image");
    show("the same context");
    eglMakeCurrent(egl, surface, surface, second);
    GLuint shared = texture_with(8, 8, 2);
    show("before");
    texture_of(GL_TEXTURE_2D, image);
    show("another context");
    glTexSubImage2D(GL_TEXTURE_2D, 0, 5, 5, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, red);
    glFinish();
    eglMakeCurrent(egl, surface, surface, first);
    glBindTexture(GL_TEXTURE_2D, source);
    show("changed there");
    note("destroyed: %d", eglDestroyImage(egl, image));
    note("destroyed: %d", destroy_khr(egl, again));
    glBindTexture(GL_TEXTURE_2D, other);
    show("without the image");
    glDeleteTextures(1, &source);
    show("without the source");
    eglMakeCurrent(egl, surface, surface, second);
    glBindTexture(GL_TEXTURE_2D, shared);
    show("and there");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, red);
    show("redefined");
    end();
}

/* Drawing to a renderbuffer that is a texture elsewhere. */
static void renderbuffers(void)
{
    if (!start())
        return;
    GLuint renderbuffer, framebuffer, texture, alias, second_framebuffer;
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 64, 64);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    glClearColor(0.2f, 0.4f, 0.6f, 0.8f);
    glClear(GL_COLOR_BUFFER_BIT);
    EGLImage image = eglCreateImage(egl, first, EGL_GL_RENDERBUFFER, (EGLClientBuffer)(uintptr_t)renderbuffer, NULL);
    note("image: %d", image != EGL_NO_IMAGE);
    egl_errors("eglCreateImage");
    glFinish();
    eglMakeCurrent(egl, surface, surface, second);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    texture_of(GL_TEXTURE_2D, image);
    show("a texture of it");
    glGenRenderbuffers(1, &alias);
    glBindRenderbuffer(GL_RENDERBUFFER, alias);
    renderbuffer_of(GL_RENDERBUFFER, image);
    errors("a renderbuffer of it");
    GLint size[2] = {0, 0};
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_WIDTH, &size[0]);
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_HEIGHT, &size[1]);
    note("size: %d %d", size[0], size[1]);
    glGenFramebuffers(1, &second_framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, second_framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, alias);
    note("status: %x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    glEnable(GL_SCISSOR_TEST);
    glScissor(10, 20, 30, 10);
    glClearColor(1, 0, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
    glFinish();
    eglMakeCurrent(egl, surface, surface, first);
    static unsigned char pixels[64 * 64 * 4];
    glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes("drawn there", pixels, sizeof pixels);
    eglDestroyImage(egl, image);
    end();
}

static void wrong(void)
{
    if (!start())
        return;
    GLuint texture = texture_with(16, 16, 3), empty, renderbuffer;
    glGenTextures(1, &empty);
    glGenRenderbuffers(1, &renderbuffer);
    const struct {
        const char *what;
        EGLenum target;
        GLuint name;
        EGLint list[5];
    } tries[] = {
        {"a texture that is none", EGL_GL_TEXTURE_2D, 0, {EGL_NONE}},
        {"a name that was never given", EGL_GL_TEXTURE_2D, 77777, {EGL_NONE}},
        {"a texture without an image", EGL_GL_TEXTURE_2D, empty, {EGL_NONE}},
        {"a level that is not there", EGL_GL_TEXTURE_2D, texture, {EGL_GL_TEXTURE_LEVEL, 1, EGL_NONE}},
        {"level 0", EGL_GL_TEXTURE_2D, texture, {EGL_GL_TEXTURE_LEVEL, 0, EGL_NONE}},
        {"a texture of another kind", EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_X, texture, {EGL_NONE}},
        {"a renderbuffer that is none", EGL_GL_RENDERBUFFER, 0, {EGL_NONE}},
        {"a renderbuffer without storage", EGL_GL_RENDERBUFFER, renderbuffer, {EGL_NONE}},
        {"an unknown attribute", EGL_GL_TEXTURE_2D, texture, {0x7777, 1, EGL_NONE}},
        {"an unknown target", 0x7777, texture, {EGL_NONE}},
    };
    for (int i = 0; i < (int)(sizeof tries / sizeof *tries); i++) {
        EGLImageKHR image = create_khr(egl, first, tries[i].target, (EGLClientBuffer)(uintptr_t)tries[i].name, tries[i].list);
        note("%s: %d", tries[i].what, image != EGL_NO_IMAGE);
        egl_errors(tries[i].what);
        if (image != EGL_NO_IMAGE)
            destroy_khr(egl, image);
    }
    create_khr(egl, (EGLContext)&texture, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)texture, NULL);
    egl_errors("no such context");
    note("destroying none: %d", eglDestroyImage(egl, EGL_NO_IMAGE));
    egl_errors("destroying none");
    note("destroying nonsense: %d", eglDestroyImage(egl, (EGLImage)&texture));
    egl_errors("destroying nonsense");
    glBindTexture(GL_TEXTURE_2D, empty);
    texture_of(GL_TEXTURE_2D, NULL);
    errors("a texture of nothing");
    EGLImage image = eglCreateImage(egl, first, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)texture, NULL);
    texture_of(GL_TEXTURE_CUBE_MAP, image);
    errors("a cube of it");
    texture_of(0x7777, image);
    errors("an unknown target");
    renderbuffer_of(GL_TEXTURE_2D, image);
    errors("a renderbuffer of another target");
    renderbuffer_of(GL_RENDERBUFFER, image);
    errors("no renderbuffer is bound");
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    renderbuffer_of(GL_RENDERBUFFER, NULL);
    errors("a renderbuffer of nothing");
    eglDestroyImage(egl, image);
    end();
}

CONFORM("egl_images", NONE, {"textures", textures}, {"renderbuffers", renderbuffers}, {"wrong", wrong})
