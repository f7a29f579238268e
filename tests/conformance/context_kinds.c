/* Contexts without errors, contexts without a flush on release, robust contexts, and contexts that
 * can be lost; and commands for which there is not enough memory. */
#include "conform.h"
#include "egl.h"
#include <time.h>

static struct window window;

static GLXContext start(const int *attributes, const char *what)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    if (!window.id)
        window = open_window(default_config(), 0, 64, 64);
    no_picture();
    begin_x_errors();
    GLXContext context = create_context(window.config, NULL, attributes);
    end_x_errors(what);
    note("%s: %s", what, context ? "made" : "refused");
    if (context)
        glXMakeCurrent(display, window.id, context);
    return context;
}

static void stop(GLXContext context)
{
    glXMakeCurrent(display, None, NULL);
    if (context)
        glXDestroyContext(display, context);
}

static void show_kind(void)
{
    GLint flags = 0, release = 0, strategy = 0;
    glGetIntegerv(GL_CONTEXT_FLAGS, &flags);
    note("flags: %d", flags);
    if (has_extension("GL_KHR_context_flush_control")) {
        glGetIntegerv(GL_CONTEXT_RELEASE_BEHAVIOR, &release);
        note("release behaviour: %x", release);
    }
    if (has_extension("GL_KHR_robustness")) {
        glGetIntegerv(GL_RESET_NOTIFICATION_STRATEGY, &strategy);
        note("reset strategy: %x", strategy);
        note("reset status: %x", glGetGraphicsResetStatus());
    }
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glClear(GL_COLOR_BUFFER_BIT);
    note("error: %s", error_name(glGetError()));
}

static void glx(void)
{
    static const struct {
        const char *name;
        int list[9];
    } kinds[] = {
        {"plain", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3, None}},
        {"debug", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_FLAGS_ARB, GLX_CONTEXT_DEBUG_BIT_ARB, None}},
        {"no errors", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, 0x31B3, True, None}},
        {"errors", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, 0x31B3, False, None}},
        {"no errors and debug", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, 0x31B3, True, GLX_CONTEXT_FLAGS_ARB, GLX_CONTEXT_DEBUG_BIT_ARB, None}},
        {"no flush", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, 0x2097, 0, None}},
        {"a flush", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, 0x2097, 0x2098, None}},
        {"something else", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, 0x2097, 0x1234, None}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        GLXContext context = start(kinds[i].list, kinds[i].name);
        if (context)
            show_kind();
        stop(context);
    }
    /* A frame that was drawn in a context without a flush is complete when the context is current
     * again. */
    GLXContext context = start((const int[]){0x2097, 0, None}, "no flush");
    if (context) {
        glClearColor(0, 0, 1, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        glXMakeCurrent(display, None, NULL);
        glXMakeCurrent(display, window.id, context);
        GLubyte pixel[4];
        glReadPixels(3, 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
        note("pixel: %d %d %d", pixel[0], pixel[1], pixel[2]);
    }
    stop(context);
}

static void egl_kind(EGLDisplay egl, EGLConfig config, EGLSurface surface, EGLenum api, const char *name, const EGLint *list)
{
    eglBindAPI(api);
    EGLContext context = eglCreateContext(egl, config, EGL_NO_CONTEXT, list);
    note("%s: %s", name, context ? "made" : "refused");
    egl_errors(name);
    if (!context)
        return;
    eglMakeCurrent(egl, surface, surface, context);
    show_kind();
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(egl, context);
}

static void egl(void)
{
    static const struct {
        const char *name;
        EGLint list[9];
    } kinds[] = {
        {"plain", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE}},
        {"debug", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_DEBUG, EGL_TRUE, EGL_NONE}},
        {"no errors", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE, EGL_NONE}},
        {"errors", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_FALSE, EGL_NONE}},
        {"no errors before 2.0", {EGL_CONTEXT_MAJOR_VERSION, 1, EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE, EGL_NONE}},
        {"no errors and debug", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE, EGL_CONTEXT_OPENGL_DEBUG, EGL_TRUE, EGL_NONE}},
        {"no flush", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_RELEASE_BEHAVIOR_KHR, EGL_CONTEXT_RELEASE_BEHAVIOR_NONE_KHR, EGL_NONE}},
        {"a flush", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_RELEASE_BEHAVIOR_KHR, EGL_CONTEXT_RELEASE_BEHAVIOR_FLUSH_KHR, EGL_NONE}},
        {"something else", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_RELEASE_BEHAVIOR_KHR, 0x1234, EGL_NONE}},
        {"robust", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE, EGL_NONE}},
        {"robust by a flag", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_FLAGS_KHR, EGL_CONTEXT_OPENGL_ROBUST_ACCESS_BIT_KHR, EGL_NONE}},
        {"robust by extension", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT, EGL_TRUE, EGL_NONE}},
        {"can be lost", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET, EGL_NONE}},
        {"cannot be lost", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_NO_RESET_NOTIFICATION, EGL_NONE}},
        {"can be lost, by extension", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT, EGL_LOSE_CONTEXT_ON_RESET, EGL_NONE}},
        {"something else about loss", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, 0x1234, EGL_NONE}},
        {"robust and can be lost", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE,
                                    EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET, EGL_NONE}},
        {"robust without errors", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE, EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE, EGL_NONE}},
    };
    no_picture();
    EGLDisplay egl = open_egl_on_x11();
    if (egl == EGL_NO_DISPLAY)
        return;
    EGLConfig config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_BIT | EGL_OPENGL_ES2_BIT);
    EGLSurface surface = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_NONE});
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        note("-- OpenGL");
        egl_kind(egl, config, surface, EGL_OPENGL_API, kinds[i].name, kinds[i].list);
        note("-- OpenGL ES");
        egl_kind(egl, config, surface, EGL_OPENGL_ES_API, kinds[i].name, kinds[i].list);
    }
    eglDestroySurface(egl, surface);
}

static void too_large(void)
{
    GLXContext context = start((const int[]){None}, "plain");
    if (!context)
        return;
    GLuint buffer, texture;
    GLint size = 0;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)1 << 46, NULL, GL_STATIC_DRAW);
    errors("a buffer");
    glGetBufferParameteriv(GL_ARRAY_BUFFER, GL_BUFFER_SIZE, &size);
    note("its size: %d", size);
    glBufferSubData(GL_ARRAY_BUFFER, 0, 4, "abc");
    errors("contents of a buffer");
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_3D, texture);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA32F, 2048, 2048, 2048, 0, GL_RGBA, GL_FLOAT, NULL);
    errors("a texture");
    glGetTexLevelParameteriv(GL_TEXTURE_3D, 0, GL_TEXTURE_WIDTH, &size);
    note("its width: %d", size);
    glClear(GL_COLOR_BUFFER_BIT);
    errors("and on");
    stop(context);
}

/* Makes textures until there is an error. Returns the number of textures without an error. */
static int textures_until_full(int most)
{
    for (int i = 0; i < most; i++) {
        GLuint texture;
        glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_2D, texture);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 2048, 2048, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        GLenum error = glGetError();
        if (error) {
            note("a texture: %s", error_name(error));
            glDeleteTextures(1, &texture);
            return i;
        }
    }
    return most;
}

static int buffers_until_full(GLuint *buffers, int most)
{
    for (int i = 0; i < most; i++) {
        buffers[i] = make_buffer(GL_ARRAY_BUFFER, 40 << 20, NULL);
        GLenum error = glGetError();
        if (error) {
            note("a buffer: %s", error_name(error));
            glDeleteBuffers(1, &buffers[i]);
            return i;
        }
    }
    return most;
}

/* A test that sets CONFORM_FULL gives the renderer less memory than the 3 GB that this scene
 * requests. */
static void full(void)
{
    if (!getenv("CONFORM_FULL")) {
        no_picture();
        skip("a renderer with little memory");
        return;
    }
    GLXContext context = start((const int[]){None}, "plain");
    if (!context)
        return;
    GLuint buffers[75];
    int count = buffers_until_full(buffers, 75);
    note("some buffers: %d", count > 2 && count < 75);
    int textures = textures_until_full(190);
    note("all textures: %d", textures == 190);
    glDeleteBuffers(count, buffers);
    errors("deleting");
    textures = textures_until_full(190);
    note("some textures: %d", textures > 2 && textures < 190);
    glClearColor(0, 1, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    GLubyte pixel[4];
    glReadPixels(3, 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note("pixel: %d %d %d", pixel[0], pixel[1], pixel[2]);
    errors("and on");
    stop(context);
}

/* A shader with an endless loop. Some renderers end long loops, so there are more of them than can
 * be counted. */
static void loop_for_ever(void)
{
    GLuint program = STAGES(.compute = "#version 430\n"
                                       "layout(local_size_x = 64) in;\n"
                                       "layout(std430, binding = 0) buffer B { uint sum; };\n"
                                       "uniform uint step;\n"
                                       "void main() { for (uint i = 1u; i != 0u; i += step) atomicAdd(sum, i); }\n");
    glUseProgram(program);
    /* The counter has only odd values, so it is never 0. */
    glUniform1ui(glGetUniformLocation(program, "step"), 2);
    GLuint buffer = make_buffer(GL_SHADER_STORAGE_BUFFER, 4, NULL);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
    glDispatchCompute(65535, 65535, 1);
}

/* A context whose renderer is lost: no call blocks, and waits end at once. */
static void after_loss(GLuint query, GLsync sync, GLuint buffer)
{
    glClear(GL_COLOR_BUFFER_BIT);
    GLenum first = glGetError(), second = glGetError();
    note("a command: %x, then %x", first, second);
    GLuint available = 0;
    GLuint64 available64 = 0;
    glGetQueryObjectuiv(query, GL_QUERY_RESULT_AVAILABLE, &available);
    glGetQueryObjectui64v(query, GL_QUERY_RESULT_AVAILABLE, &available64);
    note("result available: %u %u", available, (GLuint)available64);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &available);
    GLint signaled = 0;
    glGetSynciv(sync, GL_SYNC_STATUS, 1, NULL, &signaled);
    note("signaled: %x", signaled);
    note("waited: %x", glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, GL_TIMEOUT_IGNORED));
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    GLubyte *mapped = glMapBufferRange(GL_ARRAY_BUFFER, 0, 4096, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
    note("mapped: %d", mapped != NULL);
    if (mapped)
        memset(mapped, 1, 4096);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    GLubyte pixel[4];
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    glFinish();
    eglSwapBuffers(eglGetCurrentDisplay(), eglGetCurrentSurface(EGL_DRAW));
    note("a new object: %d", glCreateShader(GL_VERTEX_SHADER) != 0);
}

/* A test that sets CONFORM_LOST ends the renderer while this scene waits: by force, or because of
 * the scene's drawing ("loops"). The context is notified of the loss unless it is "ordinary". */
static void lost(void)
{
    no_picture();
    const char *how = getenv("CONFORM_LOST");
    if (!how) {
        skip("a renderer that goes away");
        return;
    }
    EGLDisplay egl = open_egl_on_x11();
    if (egl == EGL_NO_DISPLAY)
        return;
    EGLConfig config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_BIT);
    EGLSurface surface = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_NONE});
    eglBindAPI(EGL_OPENGL_API);
    static const EGLint list[] = {EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET, EGL_NONE};
    EGLContext context = eglCreateContext(egl, config, EGL_NO_CONTEXT, strstr(how, "ordinary") ? NULL : list);
    eglMakeCurrent(egl, surface, surface, context);
    GLuint query;
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    glEndQuery(GL_SAMPLES_PASSED);
    GLsync sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    GLuint buffer = make_buffer(GL_ARRAY_BUFFER, 4096, NULL);
    if (strstr(how, "loops"))
        loop_for_ever();
    note("waiting");
    fflush(NULL);
    GLenum status = GL_NO_ERROR;
    for (int i = 0; i < 2000 && status == GL_NO_ERROR; i++) {
        glClear(GL_COLOR_BUFFER_BIT);
        status = glGetGraphicsResetStatus();
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
    note("status: %x", status);
    after_loss(query, sync, buffer);
}

/* Versions without profiles, and the versions that programs get if they request no profile. */
static void egl_versions(void)
{
    static const EGLint versions[][2] = {{1, 0}, {1, 5}, {2, 1}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {4, 5}};
    no_picture();
    EGLDisplay egl = open_egl_on_x11();
    if (egl == EGL_NO_DISPLAY)
        return;
    EGLConfig config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_BIT);
    EGLSurface surface = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_NONE});
    eglBindAPI(EGL_OPENGL_API);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        for (EGLint profile = 0; profile < 4; profile++)
            for (EGLint forward = 0; forward < 2; forward++) {
                EGLint list[] = {EGL_CONTEXT_MAJOR_VERSION, versions[i][0], EGL_CONTEXT_MINOR_VERSION, versions[i][1], EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE, forward,
                                 profile ? EGL_CONTEXT_OPENGL_PROFILE_MASK : EGL_NONE, profile, EGL_NONE};
                EGLContext context = eglCreateContext(egl, config, EGL_NO_CONTEXT, list);
                note("%d.%d, profile %d, forward %d: %s", versions[i][0], versions[i][1], profile, forward, context ? "made" : "refused");
                egl_errors("made");
                if (!context)
                    continue;
                eglMakeCurrent(egl, surface, surface, context);
                GLuint name = 77;
                GLint value = 0;
                glBegin(GL_POINTS);
                glEnd();
                errors("old commands");
                glBindTexture(GL_TEXTURE_2D, name);
                errors("names of one's own");
                note("extensions in one: %d", glGetString(GL_EXTENSIONS) != NULL);
                errors("extensions");
                note("compatibility: %d", has_extension("GL_ARB_compatibility"));
                if (has_version(3, 2)) {
                    glGetIntegerv(GL_CONTEXT_PROFILE_MASK, &value);
                    note("profile %d", value);
                }
                if (has_version(3, 0)) {
                    glGetIntegerv(GL_CONTEXT_FLAGS, &value);
                    note("flags %d", value);
                }
                errors("asked");
                eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
                eglDestroyContext(egl, context);
            }
    eglDestroySurface(egl, surface);
}

/* Whether contexts of one kind share objects with contexts of another kind. */
static void sharing(void)
{
    static const struct {
        const char *name;
        EGLint list[5];
    } kinds[] = {
        {"plain", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE}},
        {"can be lost", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET, EGL_NONE}},
        {"no errors", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE, EGL_NONE}},
        {"robust", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE, EGL_NONE}},
        {"debug", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_DEBUG, EGL_TRUE, EGL_NONE}},
        {"no flush", {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_RELEASE_BEHAVIOR_KHR, EGL_CONTEXT_RELEASE_BEHAVIOR_NONE_KHR, EGL_NONE}},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static const EGLenum apis[] = {EGL_OPENGL_API, EGL_OPENGL_ES_API};
    no_picture();
    EGLDisplay egl = open_egl_on_x11();
    if (egl == EGL_NO_DISPLAY)
        return;
    EGLConfig config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_BIT | EGL_OPENGL_ES3_BIT);
    for (int first = 0; first < 2 * KINDS; first++) {
        eglBindAPI(apis[first / KINDS]);
        EGLContext with = eglCreateContext(egl, config, EGL_NO_CONTEXT, kinds[first % KINDS].list);
        for (int second = 0; second < 2 * KINDS && with; second++) {
            eglBindAPI(apis[second / KINDS]);
            EGLContext context = eglCreateContext(egl, config, with, kinds[second % KINDS].list);
            note("%d %s with %d %s: %s", second / KINDS, kinds[second % KINDS].name, first / KINDS, kinds[first % KINDS].name, context ? "made" : "refused");
            egl_errors("made");
            if (context)
                eglDestroyContext(egl, context);
        }
        if (with)
            eglDestroyContext(egl, with);
    }
    /* GLX has its own errors. */
    static const struct {
        const char *name;
        int list[7];
    } glx_kinds[] = {
        {"plain", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, None}},
        {"no errors", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, 0x31B3, True, None}},
        {"robust", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_FLAGS_ARB, GLX_CONTEXT_ROBUST_ACCESS_BIT_ARB, None}},
        {"can be lost", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB, GLX_LOSE_CONTEXT_ON_RESET_ARB, None}},
        {"cannot be lost", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB, GLX_NO_RESET_NOTIFICATION_ARB, None}},
        {"no flush", {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, 0x2097, 0, None}},
    };
    enum { GLX_KINDS = sizeof glx_kinds / sizeof *glx_kinds };
    for (int first = 0; first < GLX_KINDS; first++) {
        begin_x_errors();
        GLXContext with = create_context(default_config(), NULL, glx_kinds[first].list);
        end_x_errors(glx_kinds[first].name);
        for (int second = 0; second < GLX_KINDS && with; second++) {
            note("GLX: %s with %s", glx_kinds[second].name, glx_kinds[first].name);
            begin_x_errors();
            GLXContext context = create_context(default_config(), with, glx_kinds[second].list);
            end_x_errors("made");
            note("%s", context ? "made" : "refused");
            if (context)
                glXDestroyContext(display, context);
        }
        if (with)
            glXDestroyContext(display, with);
    }
}

CONFORM("context_kinds", NONE, {"egl_versions", egl_versions}, {"sharing", sharing}, {"glx", glx}, {"egl", egl}, {"too_large", too_large}, {"lost", lost}, {"full", full})
