#include "es1.h"

#define ES1_POINTER(name, ...) void (*es1##name)(__VA_ARGS__);
ES1_COMMANDS(ES1_POINTER)
GLbitfield (*es1QueryMatrixxOES)(GLfixed *, GLint *);

static EGLDisplay egl;
static EGLContext context;
static EGLSurface surface;

static bool begin(EGLenum api, EGLint renderable, const EGLint *attributes)
{
    egl = open_surfaceless();
    if (egl == EGL_NO_DISPLAY)
        return false;
    EGLConfig config = egl_config(egl, EGL_PBUFFER_BIT, renderable);
    if (!config)
        return false;
    eglBindAPI(api);
    context = eglCreateContext(egl, config, EGL_NO_CONTEXT, attributes);
    if (context == EGL_NO_CONTEXT) {
        skip("a context of this API");
        return false;
    }
    surface = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, SIZE, EGL_HEIGHT, SIZE, EGL_NONE});
    eglMakeCurrent(egl, surface, surface, context);
#define ES1_LOOK_UP(name, ...) es1##name = (void (*)(__VA_ARGS__))eglGetProcAddress("gl" #name);
    ES1_COMMANDS(ES1_LOOK_UP)
    es1QueryMatrixxOES = (GLbitfield(*)(GLfixed *, GLint *))eglGetProcAddress("glQueryMatrixxOES");
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    return true;
}

bool begin_es1(void)
{
    return begin(EGL_OPENGL_ES_API, EGL_OPENGL_ES_BIT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 1, EGL_NONE});
}

bool begin_es1_on_desktop(void)
{
    return begin(EGL_OPENGL_API, EGL_OPENGL_BIT, (const EGLint[]){EGL_NONE}) && need_extension("GL_NV_ES1_1_compatibility");
}

void end_es1(void)
{
    errors("the end");
    picture(NULL);
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroySurface(egl, surface);
    eglDestroyContext(egl, context);
    eglTerminate(egl);
    eglReleaseThread();
}

void note_fixed(const char *what, const GLfixed *values, int count)
{
    int plain[16];
    for (int i = 0; i < count && i < 16; i++)
        plain[i] = values[i];
    note_ints(what, plain, count);
}

void get_fixed(const char *name, GLenum pname, int count)
{
    GLfixed values[16] = {7777};
    es1GetFixedv(pname, values);
    note_fixed(name, values, count);
    GLenum error = glGetError();
    if (error)
        note("%s: %s", name, error_name(error));
}
