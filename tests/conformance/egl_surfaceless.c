/* EGL without a window system: pbuffers, and contexts without a surface, for OpenGL ES and for
 * desktop OpenGL. */
#include "conform.h"
#include "egl.h"

#include <math.h>

static EGLDisplay egl;
static EGLConfig config;
static EGLContext context;

static bool start(EGLenum api, EGLint renderable, const EGLint *attributes)
{
    egl = open_surfaceless();
    if (egl == EGL_NO_DISPLAY)
        return false;
    config = egl_config(egl, EGL_PBUFFER_BIT, renderable);
    if (!config)
        return false;
    note("api bound: %d", eglBindAPI(api));
    context = eglCreateContext(egl, config, EGL_NO_CONTEXT, attributes);
    egl_errors("eglCreateContext");
    if (context != EGL_NO_CONTEXT)
        return true;
    skip("a context of this API");
    return false;
}

static void end(void)
{
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(egl, context);
    note("terminated: %d", eglTerminate(egl));
    eglReleaseThread();
}

static EGLSurface pbuffer_of(int width, int height)
{
    const EGLint attributes[] = {EGL_WIDTH, width, EGL_HEIGHT, height, EGL_NONE};
    return eglCreatePbufferSurface(egl, config, attributes);
}

static void shader_triangle(const char *version, bool es3)
{
    static const GLfloat corners[] = {-0.8f, -0.8f, 1, 0, 0, 0.8f, -0.8f, 0, 1, 0, 0, 0.8f, 0, 0, 1};
    char vertex[512], fragment[512];
    snprintf(vertex, sizeof vertex, "%s%s vec2 place; %s vec3 tint; %s vec3 color; void main() { gl_Position = vec4(place, 0.0, 1.0); color = tint; }",
             version, es3 ? "in" : "attribute", es3 ? "in" : "attribute", es3 ? "out" : "varying");
    snprintf(fragment, sizeof fragment, "%sprecision mediump float; %s vec3 color; %s void main() { %s = vec4(color, 1.0); }", version,
             es3 ? "in" : "varying", es3 ? "out vec4 result;" : "", es3 ? "result" : "gl_FragColor");
    GLuint program = build_program(vertex, fragment);
    GLuint place = (GLuint)glGetAttribLocation(program, "place"), tint = (GLuint)glGetAttribLocation(program, "tint");
    glUseProgram(program);
    glVertexAttribPointer(place, 2, GL_FLOAT, GL_FALSE, 20, corners);
    glVertexAttribPointer(tint, 3, GL_FLOAT, GL_FALSE, 20, corners + 2);
    glEnableVertexAttribArray(place);
    glEnableVertexAttribArray(tint);
    glClearColor(0.1f, 0.2f, 0.3f, 0.4f);
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void log_surface(EGLSurface surface)
{
    static const EGLint names[] = {EGL_WIDTH, EGL_HEIGHT, EGL_LARGEST_PBUFFER, EGL_TEXTURE_FORMAT, EGL_RENDER_BUFFER, EGL_SWAP_BEHAVIOR};
    for (int i = 0; i < 6; i++) {
        EGLint value = -1;
        EGLBoolean done = eglQuerySurface(egl, surface, names[i], &value);
        note("surface %04x: %d %x", (unsigned)names[i], done, (unsigned)value);
    }
}

static void es2_pbuffer(void)
{
    if (!start(EGL_OPENGL_ES_API, EGL_OPENGL_ES2_BIT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE}))
        return;
    EGLSurface surface = pbuffer_of(SIZE, SIZE);
    note("current: %d", eglMakeCurrent(egl, surface, surface, context));
    note("as asked: %d %d %d", eglGetCurrentContext() == context, eglGetCurrentSurface(EGL_DRAW) == surface, eglGetCurrentDisplay() == egl);
    INTS(GL_VIEWPORT, 4);
    INTS(GL_RED_BITS, 1);
    INTS(GL_DEPTH_BITS, 1);
    shader_triangle("#version 100\n", false);
    errors("es2");
    picture(NULL);
    log_surface(surface);
    note("swap of a pbuffer: %d", eglSwapBuffers(egl, surface));
    picture("swapped");
    GLint value = 7777;
    glGetIntegerv(GL_MATRIX_MODE, &value);
    errors("a name of desktop OpenGL");
    glEnable(GL_LIGHTING);
    errors("a capability of desktop OpenGL");
    eglDestroySurface(egl, surface);
    end();
}

static void es3_pbuffer(void)
{
    if (!start(EGL_OPENGL_ES_API, EGL_OPENGL_ES3_BIT, (const EGLint[]){EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE}))
        return;
    EGLSurface surface = pbuffer_of(SIZE, SIZE);
    eglMakeCurrent(egl, surface, surface, context);
    note("version 3: %d", has_version(3, 0));
    shader_triangle("#version 300 es\n", true);
    GLuint framebuffer, texture;
    glGenFramebuffers(1, &framebuffer);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 64, 64);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    note("complete: %d", glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE);
    glViewport(0, 0, 64, 64);
    glClearColor(1, 0.5f, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, 64, 64, 0, 0, 100, 100, GL_COLOR_BUFFER_BIT, GL_LINEAR);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    errors("es3");
    picture(NULL);
    eglDestroySurface(egl, surface);
    end();
}

static void es1_pbuffer(void)
{
    if (!start(EGL_OPENGL_ES_API, EGL_OPENGL_ES_BIT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 1, EGL_NONE}))
        return;
    static const GLfloat corners[] = {-0.8f, -0.8f, 0.8f, -0.8f, 0, 0.8f}, colors[] = {1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1};
    EGLSurface surface = pbuffer_of(SIZE, SIZE);
    eglMakeCurrent(egl, surface, surface, context);
    glClearColor(0.3f, 0.3f, 0.3f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glMatrixMode(GL_MODELVIEW);
    glRotatef(30, 0, 0, 1);
    glVertexPointer(2, GL_FLOAT, 0, corners);
    glColorPointer(4, GL_FLOAT, 0, colors);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    errors("es1");
    picture(NULL);
    eglDestroySurface(egl, surface);
    end();
}

static void desktop_pbuffer(void)
{
    if (!start(EGL_OPENGL_API, EGL_OPENGL_BIT, (const EGLint[]){EGL_NONE}))
        return;
    EGLSurface surface = pbuffer_of(SIZE, SIZE);
    eglMakeCurrent(egl, surface, surface, context);
    note("api: %d", eglQueryAPI() == EGL_OPENGL_API);
    BOOLS(GL_DOUBLEBUFFER, 1);
    INTS(GL_DRAW_BUFFER, 1);
    glClearColor(0.2f, 0, 0.2f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glBegin(GL_TRIANGLE_FAN);
    for (int i = 0; i <= 20; i++) {
        float angle = 6.2831853f * (float)i / 20;
        glNormal3f(cosf(angle), sinf(angle), 1);
        glVertex2f(0.8f * cosf(angle), 0.8f * sinf(angle));
    }
    glEnd();
    errors("desktop");
    unsigned char pixels[64 * 64 * 4];
    glReadPixels(96, 96, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes("pixels", pixels, sizeof pixels);
    eglDestroySurface(egl, surface);
    end();
}

static void core_profile(void)
{
    if (!start(EGL_OPENGL_API, EGL_OPENGL_BIT,
               (const EGLint[]){EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE}))
        return;
    EGLSurface surface = pbuffer_of(SIZE, SIZE);
    eglMakeCurrent(egl, surface, surface, context);
    INTS(GL_CONTEXT_PROFILE_MASK, 1);
    glBegin(GL_TRIANGLES);
    errors("glBegin in the core profile");
    glClearColor(0.5f, 0.25f, 0.75f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    unsigned char pixel[4];
    glReadPixels(5, 5, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note_bytes("pixel", pixel, 4);
    errors("core");
    eglDestroySurface(egl, surface);
    end();
}

/* Without a surface, only framebuffer objects can be drawn to. */
static void no_surface(void)
{
    if (!start(EGL_OPENGL_ES_API, EGL_OPENGL_ES2_BIT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE}))
        return;
    const char *extensions = eglQueryString(egl, EGL_EXTENSIONS);
    if (!extensions || !strstr(extensions, "EGL_KHR_surfaceless_context")) {
        skip("EGL_KHR_surfaceless_context");
        return;
    }
    note("current: %d", eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, context));
    note("status: %04x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    INTS(GL_VIEWPORT, 4);
    glClear(GL_COLOR_BUFFER_BIT);
    errors("clear without a surface");
    GLuint framebuffer, renderbuffer;
    glGenFramebuffers(1, &framebuffer);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGB565, SIZE, SIZE);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    glViewport(0, 0, SIZE, SIZE);
    shader_triangle("#version 100\n", false);
    static unsigned char pixels[SIZE * SIZE * 4];
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes("pixels", pixels, sizeof pixels);
    errors("no surface");
    end();
}

static void wrong(void)
{
    egl = open_surfaceless();
    if (egl == EGL_NO_DISPLAY)
        return;
    EGLint count = -1, value = -1;
    note("configs: %d", eglGetConfigs(egl, NULL, 0, &count));
    note("some: %d", count > 0);
    eglChooseConfig(egl, (const EGLint[]){EGL_RED_SIZE, 99, EGL_NONE}, &config, 1, &count);
    note("99 bits of red: %d", count);
    eglChooseConfig(egl, (const EGLint[]){0x7777, 1, EGL_NONE}, &config, 1, &count);
    egl_errors("attribute");
    config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_ES2_BIT);
    if (!config)
        return;
    eglGetConfigAttrib(egl, config, 0x7777, &value);
    egl_errors("attribute of a config");
    eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, -5, EGL_NONE});
    egl_errors("negative width");
    eglCreateContext(egl, config, EGL_NO_CONTEXT, (const EGLint[]){0x7777, 1, EGL_NONE});
    egl_errors("attribute of a context");
    eglBindAPI(0x7777);
    egl_errors("api");
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, (EGLContext)0x1234);
    egl_errors("context");
    eglQuerySurface(egl, (EGLSurface)0x1234, EGL_WIDTH, &value);
    egl_errors("surface");
    eglInitialize((EGLDisplay)0x1234, NULL, NULL);
    egl_errors("display");
    eglTerminate(egl);
    eglCreatePbufferSurface(egl, config, NULL);
    egl_errors("terminated");
    egl_errors("no error");
}

static void sharing_and_sync(void)
{
    if (!start(EGL_OPENGL_ES_API, EGL_OPENGL_ES2_BIT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE}))
        return;
    EGLContext second = eglCreateContext(egl, config, context, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE});
    EGLSurface first_surface = pbuffer_of(64, 64), second_surface = pbuffer_of(64, 64);
    GLuint texture;
    eglMakeCurrent(egl, first_surface, first_surface, context);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glFinish();
    eglMakeCurrent(egl, second_surface, second_surface, second);
    note("is a texture: %d", glIsTexture(texture));
    EGLSync sync = eglCreateSync(egl, EGL_SYNC_FENCE, NULL);
    egl_errors("eglCreateSync");
    if (sync != EGL_NO_SYNC) {
        EGLAttrib status = 0;
        note("waited: %d", eglClientWaitSync(egl, sync, EGL_SYNC_FLUSH_COMMANDS_BIT, EGL_FOREVER) == EGL_CONDITION_SATISFIED);
        eglGetSyncAttrib(egl, sync, EGL_SYNC_STATUS, &status);
        note("signalled: %d", status == EGL_SIGNALED);
        eglDestroySync(egl, sync);
    }
    eglDestroySurface(egl, second_surface); /* still current */
    glClearColor(0, 1, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    unsigned char pixel[4];
    glReadPixels(5, 5, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note_bytes("pixel", pixel, 4);
    errors("sharing");
    eglDestroyContext(egl, second);
    eglDestroySurface(egl, first_surface);
    end();
}

CONFORM("egl_surfaceless", NONE, {"es2_pbuffer", es2_pbuffer}, {"es3_pbuffer", es3_pbuffer}, {"es1_pbuffer", es1_pbuffer},
        {"desktop_pbuffer", desktop_pbuffer}, {"core_profile", core_profile}, {"no_surface", no_surface}, {"wrong", wrong},
        {"sharing_and_sync", sharing_and_sync})
