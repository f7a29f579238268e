/* Names without objects, names that were only generated, and names of deleted objects, in commands
 * that attach, bind and read, in each API. */
#include "conform.h"
#include "egl.h"

static EGLDisplay egl;
static EGLConfig config;
static EGLContext context;
static EGLSurface surface;

static bool start(EGLenum api, const EGLint *attributes)
{
    no_picture();
    egl = open_surfaceless();
    if (egl == EGL_NO_DISPLAY)
        return false;
    config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_BIT | EGL_OPENGL_ES3_BIT);
    if (!config)
        return false;
    eglBindAPI(api);
    context = eglCreateContext(egl, config, EGL_NO_CONTEXT, attributes);
    if (context == EGL_NO_CONTEXT) {
        skip("a context of this kind");
        return false;
    }
    surface = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_NONE});
    eglMakeCurrent(egl, surface, surface, context);
    return true;
}

static void end(void)
{
    errors("end");
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(egl, context);
    eglDestroySurface(egl, surface);
    eglTerminate(egl);
    eglReleaseThread();
}

#define TRY(command)                                                                                                                                  \
    do {                                                                                                                                              \
        command;                                                                                                                                      \
        errors(#command);                                                                                                                             \
    } while (0)

/* A texture with storage, and a texture for views. They exist during the whole scene, so that no
 * name is given twice. */
static GLuint there, view;

static void textures(GLuint name, const char *what)
{
    GLuint framebuffer;
    note("-- texture: %s, %d", what, glIsTexture(name));
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    TRY(glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0));
    TRY(glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, name, 0, 0));
    note("status %x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    TRY(glBindImageTexture(0, name, 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8));
    TRY(glBindImageTexture(100, name, 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8));
    TRY(glBindImageTexture(0, name, -1, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8));
    TRY(glBindImageTexture(0, name, 0, GL_FALSE, -1, GL_READ_ONLY, GL_RGBA8));
    TRY(glBindImageTexture(0, name, 0, GL_FALSE, 0, GL_RGBA, GL_RGBA8));
    TRY(glBindImageTexture(0, there, 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGB8));
    TRY(glBindImageTexture(0, there, 0, GL_FALSE, 0, GL_READ_WRITE, GL_RGBA8));
    GLint bound = -7;
    glGetIntegeri_v(GL_IMAGE_BINDING_NAME, 0, &bound);
    note("image %d", bound == (GLint)there);
    TRY(glCopyImageSubData(name, GL_TEXTURE_2D, 0, 0, 0, 0, there, GL_TEXTURE_2D, 0, 0, 0, 0, 4, 4, 1));
    TRY(glCopyImageSubData(there, GL_TEXTURE_2D, 0, 0, 0, 0, name, GL_TEXTURE_2D, 0, 0, 0, 0, 4, 4, 1));
    if (has_extension("GL_ARB_multi_bind")) {
        const GLuint several[] = {there, name, 0};
        TRY(glBindImageTextures(0, 3, several));
        TRY(glBindTextures(0, 3, several));
        for (GLuint i = 0; i < 3; i++) {
            glGetIntegeri_v(GL_IMAGE_BINDING_NAME, i, &bound);
            note("image %u: %d", i, bound == (GLint)there);
        }
    }
    if (has_extension("GL_ARB_direct_state_access")) {
        TRY(glBindTextureUnit(1, name));
        TRY(glTextureParameteri(name, GL_TEXTURE_MAX_LEVEL, 3));
        TRY(glGenerateTextureMipmap(name));
        TRY(glClearTexImage(name, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL));
        TRY(glInvalidateTexImage(name, 0));
        TRY(glTextureView(view, GL_TEXTURE_2D, name, GL_RGBA8, 0, 1, 0, 1));
        glGenFramebuffers(1, &framebuffer);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        TRY(glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, name, 0));
        TRY(glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, name, 0));
        TRY(glNamedFramebufferTextureLayer(framebuffer, GL_COLOR_ATTACHMENT0, name, 0, 0));
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        glDeleteFramebuffers(1, &framebuffer);
    }
    if (has_extension("GL_EXT_direct_state_access")) {
        glGenFramebuffers(1, &framebuffer);
        TRY(glNamedFramebufferTextureEXT(framebuffer, GL_COLOR_ATTACHMENT0, name, 0));
        TRY(glNamedFramebufferTexture2DEXT(framebuffer, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0));
        TRY(glNamedFramebufferTextureLayerEXT(framebuffer, GL_COLOR_ATTACHMENT0, name, 0, 0));
        glDeleteFramebuffers(1, &framebuffer);
    }
    note("afterwards: %d", glIsTexture(name));
}

static void renderbuffers(GLuint name, const char *what)
{
    GLuint framebuffer;
    note("-- renderbuffer: %s, %d", what, glIsRenderbuffer(name));
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    TRY(glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, name));
    TRY(glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, name));
    if (has_extension("GL_ARB_direct_state_access")) {
        TRY(glNamedFramebufferRenderbuffer(framebuffer, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, name));
        TRY(glNamedRenderbufferStorage(name, GL_RGBA8, 4, 4));
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    if (has_extension("GL_EXT_direct_state_access"))
        TRY(glNamedFramebufferRenderbufferEXT(framebuffer, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, name));
    glDeleteFramebuffers(1, &framebuffer);
    TRY(glCopyImageSubData(name, GL_RENDERBUFFER, 0, 0, 0, 0, name, GL_RENDERBUFFER, 0, 0, 0, 0, 4, 4, 1));
    note("afterwards: %d", glIsRenderbuffer(name));
}

static void buffers(GLuint name, const char *what)
{
    GLuint texture;
    note("-- buffer: %s, %d", what, glIsBuffer(name));
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_BUFFER, texture);
    TRY(glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA8, name));
    TRY(glTexBufferRange(GL_TEXTURE_BUFFER, GL_RGBA8, name, 0, 16));
    if (has_extension("GL_ARB_direct_state_access")) {
        TRY(glTextureBuffer(texture, GL_RGBA8, name));
        TRY(glNamedBufferData(name, 16, NULL, GL_STATIC_DRAW));
    }
    if (has_extension("GL_EXT_direct_state_access"))
        TRY(glTextureBufferEXT(texture, GL_TEXTURE_BUFFER, GL_RGBA8, name));
    glDeleteTextures(1, &texture);
    note("afterwards: %d", glIsBuffer(name));
}

static void others(GLuint name, const char *what)
{
    note("-- others: %s", what);
    TRY(glBindSampler(0, name));
    TRY(glSamplerParameteri(name, GL_TEXTURE_MIN_FILTER, GL_LINEAR));
    TRY(glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, name));
    TRY(glBindVertexArray(name));
    TRY(glBindProgramPipeline(name));
    TRY(glUseProgram(name));
    TRY(glBeginQuery(GL_ANY_SAMPLES_PASSED, name));
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    while (glGetError())
        ;
    note("afterwards: %d %d %d %d", glIsSampler(name), glIsTransformFeedback(name), glIsVertexArray(name), glIsQuery(name));
}

static void all(void)
{
    GLuint name;
    note("%s", (const char *)(has_extension("GL_ARB_compatibility") ? "compatibility" : "another"));
    glGenTextures(1, &view);
    glGenTextures(1, &there);
    glBindTexture(GL_TEXTURE_2D, there);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 8, 8);
    errors("one that is there");
    textures(7777, "never generated");
    glGenTextures(1, &name);
    textures(name, "only generated");
    glBindTexture(GL_TEXTURE_2D, name);
    textures(name, "without an image");
    glDeleteTextures(1, &name);
    textures(name, "deleted");
    renderbuffers(7777, "never generated");
    glGenRenderbuffers(1, &name);
    renderbuffers(name, "only generated");
    glBindRenderbuffer(GL_RENDERBUFFER, name);
    glDeleteRenderbuffers(1, &name);
    renderbuffers(name, "deleted");
    buffers(7777, "never generated");
    glGenBuffers(1, &name);
    buffers(name, "only generated");
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glDeleteBuffers(1, &name);
    buffers(name, "deleted");
    others(7777, "never generated");
    end();
}

static void compatibility(void)
{
    if (start(EGL_OPENGL_API, (const EGLint[]){EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5, EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                               EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT, EGL_NONE}))
        all();
}

static void core(void)
{
    if (start(EGL_OPENGL_API, (const EGLint[]){EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5, EGL_NONE}))
        all();
}

static void embedded(void)
{
    if (start(EGL_OPENGL_ES_API, (const EGLint[]){EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE}))
        all();
}

CONFORM("unknown_names", NONE, {"compatibility", compatibility}, {"core", core}, {"embedded", embedded})
