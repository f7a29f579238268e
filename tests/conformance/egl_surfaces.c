/* EGL surfaces, contexts and syncs: their attributes, and calls that are refused. */
#include "conform.h"
#include "egl.h"

static EGLDisplay egl;
static EGLConfig config;
static bool is_surfaceless;
static long did; /* what the last call returned */

static bool start(bool on_x11)
{
    is_surfaceless = !on_x11;
    egl = on_x11 ? open_egl_on_x11() : open_surfaceless();
    if (egl == EGL_NO_DISPLAY)
        return false;
    config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_ES2_BIT | EGL_OPENGL_BIT);
    eglBindAPI(EGL_OPENGL_ES_API);
    return config != NULL;
}

static void end(void)
{
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglTerminate(egl);
    eglReleaseThread();
}

static void describe(const char *what, EGLSurface surface)
{
    static const EGLint names[] = {EGL_CONFIG_ID, EGL_WIDTH, EGL_HEIGHT, EGL_LARGEST_PBUFFER, EGL_TEXTURE_FORMAT, EGL_TEXTURE_TARGET, EGL_MIPMAP_TEXTURE,
        EGL_MIPMAP_LEVEL, EGL_RENDER_BUFFER, EGL_SWAP_BEHAVIOR, EGL_MULTISAMPLE_RESOLVE, EGL_HORIZONTAL_RESOLUTION, EGL_VERTICAL_RESOLUTION,
        EGL_PIXEL_ASPECT_RATIO, EGL_VG_COLORSPACE, EGL_VG_ALPHA_FORMAT, EGL_GL_COLORSPACE, 0x7777};
    note("%s: %d", what, surface != EGL_NO_SURFACE);
    egl_errors(what);
    if (surface == EGL_NO_SURFACE)
        return;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        EGLint value = 7777;
        bool had = eglQuerySurface(egl, surface, names[i], &value);
        note("%x: %d %x, error %x", names[i], had, value, eglGetError());
    }
    static const EGLint settings[][2] = {{EGL_MIPMAP_LEVEL, 1}, {EGL_MULTISAMPLE_RESOLVE, EGL_MULTISAMPLE_RESOLVE_DEFAULT},
        {EGL_MULTISAMPLE_RESOLVE, EGL_MULTISAMPLE_RESOLVE_BOX}, {EGL_MULTISAMPLE_RESOLVE, 7}, {EGL_SWAP_BEHAVIOR, EGL_BUFFER_PRESERVED},
        {EGL_SWAP_BEHAVIOR, EGL_BUFFER_DESTROYED}, {EGL_SWAP_BEHAVIOR, 7}, {EGL_RENDER_BUFFER, EGL_SINGLE_BUFFER}, {EGL_WIDTH, 5}, {0x7777, 1}};
    for (int i = 0; i < (int)(sizeof settings / sizeof *settings); i++) {
        bool set = eglSurfaceAttrib(egl, surface, settings[i][0], settings[i][1]);
        EGLint value = 7777;
        note("set %x: %d %x", settings[i][0], set, eglGetError());
        if (set && eglQuerySurface(egl, surface, settings[i][0], &value))
            note("now %x", value);
    }
    EGLint format = 0;
    eglQuerySurface(egl, surface, EGL_TEXTURE_FORMAT, &format);
    /* Mesa 22 crashes if there is no texture to bind the surface to. */
    if (format != EGL_NO_TEXTURE)
        return;
    did = (long)(eglBindTexImage(egl, surface, EGL_BACK_BUFFER));
    note("bound: %d %x", (int)did, eglGetError());
    did = (long)(eglReleaseTexImage(egl, surface, EGL_BACK_BUFFER));
    note("released: %d %x", (int)did, eglGetError());
    did = (long)(eglSwapBuffers(egl, surface));
    note("swapped: %d %x", (int)did, eglGetError());
    if (is_surfaceless) {
        note("copied: %d", eglCopyBuffers(egl, surface, (EGLNativePixmapType)0x12345));
        egl_errors("copying");
    }
}

static void pbuffers(void)
{
    static const EGLint lists[][12] = {
        {EGL_NONE},
        {EGL_WIDTH, 30, EGL_HEIGHT, 20, EGL_NONE},
        {EGL_WIDTH, 30, EGL_NONE},
        {EGL_WIDTH, -1, EGL_HEIGHT, 20, EGL_NONE},
        {EGL_WIDTH, 5000, EGL_HEIGHT, 1, EGL_NONE},
        {EGL_WIDTH, 50000, EGL_HEIGHT, 1, EGL_LARGEST_PBUFFER, EGL_TRUE, EGL_NONE},
        {EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_TEXTURE_FORMAT, EGL_TEXTURE_RGBA, EGL_TEXTURE_TARGET, EGL_TEXTURE_2D, EGL_NONE},
        {EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_TEXTURE_FORMAT, EGL_TEXTURE_RGB, EGL_NONE},
        {EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_TEXTURE_FORMAT, 7, EGL_NONE},
        {EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_TEXTURE_TARGET, 7, EGL_NONE},
        {EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_MIPMAP_TEXTURE, EGL_TRUE, EGL_NONE},
        {EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_GL_COLORSPACE, EGL_GL_COLORSPACE_SRGB, EGL_NONE},
        {EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_GL_COLORSPACE, 7, EGL_NONE},
        {EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_VG_COLORSPACE, EGL_VG_COLORSPACE_sRGB, EGL_NONE},
        {EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_RENDER_BUFFER, EGL_SINGLE_BUFFER, EGL_NONE},
        {EGL_WIDTH, 32, EGL_HEIGHT, 32, 0x7777, 1, EGL_NONE},
    };
    if (!start(false))
        return;
    for (int i = 0; i < (int)(sizeof lists / sizeof *lists); i++) {
        char what[32];
        snprintf(what, sizeof what, "pbuffer %d", i);
        EGLSurface surface = eglCreatePbufferSurface(egl, config, lists[i]);
        if (i < 2 || i == 6 || i == 11) {
            describe(what, surface);
        } else {
            EGLint size[2] = {0, 0};
            note("%s: %d", what, surface != EGL_NO_SURFACE);
            egl_errors(what);
            if (surface != EGL_NO_SURFACE)
                note("size: %d %d", eglQuerySurface(egl, surface, EGL_WIDTH, &size[0]) ? size[0] : -1,
                    eglQuerySurface(egl, surface, EGL_HEIGHT, &size[1]) ? size[1] : -1);
        }
        if (surface != EGL_NO_SURFACE)
            note("destroyed: %d", eglDestroySurface(egl, surface));
        egl_errors("destroying");
    }
    eglCreatePbufferSurface(egl, (EGLConfig)lists, lists[1]);
    egl_errors("no config");
    eglCreatePbufferFromClientBuffer(egl, EGL_OPENVG_IMAGE, NULL, config, NULL);
    egl_errors("of OpenVG");
    note("destroyed: %d", eglDestroySurface(egl, (EGLSurface)lists));
    egl_errors("no surface");
    eglCreateWindowSurface(egl, config, 0, NULL);
    egl_errors("a window without windows");
    eglCreatePixmapSurface(egl, config, 0, NULL);
    egl_errors("a pixmap without pixmaps");
    end();
}

static Window window_of(int slot)
{
    Window root = DefaultRootWindow(display);
    XSetWindowAttributes attributes = {.override_redirect = True};
    Window window = XCreateWindow(display, root, slot * 300, 0, 200, 100, 0, CopyFromParent, InputOutput, CopyFromParent, CWOverrideRedirect, &attributes);
    XMapWindow(display, window);
    XSync(display, False);
    return window;
}

static void windows(void)
{
    static const EGLint lists[][6] = {
        {EGL_NONE}, {EGL_RENDER_BUFFER, EGL_SINGLE_BUFFER, EGL_NONE}, {EGL_RENDER_BUFFER, EGL_BACK_BUFFER, EGL_NONE}, {EGL_RENDER_BUFFER, 7, EGL_NONE},
        {EGL_GL_COLORSPACE, 7, EGL_NONE}, {EGL_VG_ALPHA_FORMAT, EGL_VG_ALPHA_FORMAT_PRE, EGL_NONE}, {EGL_WIDTH, 5, EGL_NONE}, {EGL_POST_SUB_BUFFER_SUPPORTED_NV, EGL_TRUE, EGL_NONE}, {0x7777, 1, EGL_NONE}};
    if (!start(true))
        return;
    for (int i = 0; i < (int)(sizeof lists / sizeof *lists); i++) {
        Window window = window_of(i % 4);
        char what[32];
        snprintf(what, sizeof what, "window %d", i);
        EGLSurface surface = eglCreateWindowSurface(egl, config, window, lists[i]);
        if (i < 1) {
            describe(what, surface);
        } else {
            note("%s: %d", what, surface != EGL_NO_SURFACE);
            egl_errors(what);
            EGLint buffer = 0;
            if (surface != EGL_NO_SURFACE)
                note("buffer: %d", eglQuerySurface(egl, surface, EGL_RENDER_BUFFER, &buffer));
            note("it is %x", buffer);
        }
        if (i == 0) {
            note("a second one: %d", eglCreateWindowSurface(egl, config, window, NULL) != EGL_NO_SURFACE);
            egl_errors("a second one");
        }
        if (surface != EGL_NO_SURFACE)
            eglDestroySurface(egl, surface);
        egl_errors("destroying");
        XDestroyWindow(display, window);
    }
    note("of no window: %d", eglCreateWindowSurface(egl, config, 0, NULL) != EGL_NO_SURFACE);
    egl_errors("of no drawable");
    end();
}

static void srgb_window(void)
{
    if (!start(true))
        return;
    Window window = window_of(0);
    EGLSurface surface = eglCreateWindowSurface(egl, config, window, (const EGLint[]){EGL_GL_COLORSPACE, EGL_GL_COLORSPACE_SRGB, EGL_NONE});
    describe("sRGB", surface);
    if (surface != EGL_NO_SURFACE)
        eglDestroySurface(egl, surface);
    XDestroyWindow(display, window);
    end();
}

/* EGL_EXT_buffer_age for surfaces that are not current. */
static void age(void)
{
    if (!start(true))
        return;
    Window window = window_of(0);
    EGLSurface surface = eglCreateWindowSurface(egl, config, window, NULL);
    EGLint value = 7777;
    note("age: %d %x", eglQuerySurface(egl, surface, EGL_BUFFER_AGE_EXT, &value), value);
    egl_errors("age");
    eglDestroySurface(egl, surface);
    XDestroyWindow(display, window);
    end();
}

/* With Mesa 22, X does not see drawing to a pixmap, so the pixels are not compared. */
static void pixmaps(void)
{
    if (!start(true))
        return;
    Window window = window_of(0);
    Pixmap pixmap = XCreatePixmap(display, window, 60, 40, 24), other = XCreatePixmap(display, window, 60, 40, 24);
    XSync(display, False);
    EGLSurface surface = eglCreatePixmapSurface(egl, config, pixmap, NULL);
    describe("pixmap", surface);
    if (surface == EGL_NO_SURFACE)
        return;
    EGLContext context = eglCreateContext(egl, config, EGL_NO_CONTEXT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE});
    note("current: %d", eglMakeCurrent(egl, surface, surface, context));
    egl_errors("current");
    EGLint buffer = 0;
    eglQueryContext(egl, context, EGL_RENDER_BUFFER, &buffer);
    note("buffer of the context: %x", buffer);
    for (int how = 0; how < 3; how++) {
        glClearColor(how == 0, how == 1, how == 2, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        glEnable(GL_SCISSOR_TEST);
        glScissor(0, 0, 10, 10);
        glClearColor(1, 1, 1, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        glDisable(GL_SCISSOR_TEST);
        if (how == 0)
            glFinish();
        if (how == 1)
            eglWaitClient();
        if (how == 2)
            eglSwapBuffers(egl, surface);
    }
    egl_errors("drawing");
    unsigned char pixel[4] = {0};
    glReadPixels(30, 30, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note_bytes("pixel", pixel, 4);
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroySurface(egl, surface);
    eglDestroyContext(egl, context);
    note("of no pixmap: %d", eglCreatePixmapSurface(egl, config, 0, NULL) != EGL_NO_SURFACE);
    egl_errors("of no drawable");
    XFreePixmap(display, pixmap);
    XFreePixmap(display, other);
    XDestroyWindow(display, window);
    end();
}

static void contexts(void)
{
    static const EGLint lists[][8] = {
        {EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 9, EGL_NONE},
        {EGL_CONTEXT_MAJOR_VERSION, 2, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE},
        {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 9, EGL_NONE},
        {EGL_CONTEXT_MAJOR_VERSION, 0, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_CONTEXT_OPENGL_DEBUG, EGL_TRUE, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 3, EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE, EGL_TRUE, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_CONTEXT_FLAGS_KHR, EGL_CONTEXT_OPENGL_DEBUG_BIT_KHR, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_CONTEXT_FLAGS_KHR, 0x8000, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_CONTEXT_OPENGL_PROFILE_MASK, 1, EGL_NONE},
        {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK, 3, EGL_NONE},
        {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK, 2, EGL_NONE},
        {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE, EGL_TRUE, EGL_NONE},
        {EGL_CONTEXT_MAJOR_VERSION, 2, EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE, EGL_TRUE, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_CONTEXT_RELEASE_BEHAVIOR_KHR, EGL_CONTEXT_RELEASE_BEHAVIOR_NONE_KHR, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_CONTEXT_RELEASE_BEHAVIOR_KHR, EGL_CONTEXT_RELEASE_BEHAVIOR_FLUSH_KHR, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_CONTEXT_RELEASE_BEHAVIOR_KHR, 7, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_CONTEXT_PRIORITY_LEVEL_IMG, EGL_CONTEXT_PRIORITY_LOW_IMG, EGL_NONE},
        {EGL_CONTEXT_CLIENT_VERSION, 2, 0x7777, 1, EGL_NONE},
    };
    static const EGLint names[] = {EGL_CONFIG_ID, EGL_CONTEXT_CLIENT_TYPE, EGL_CONTEXT_CLIENT_VERSION, EGL_RENDER_BUFFER, EGL_CONTEXT_PRIORITY_LEVEL_IMG,
        EGL_PROTECTED_CONTENT_EXT, 0x7777};
    if (!start(false))
        return;
    for (int api = 0; api < 2; api++) {
        eglBindAPI(api ? EGL_OPENGL_API : EGL_OPENGL_ES_API);
        /* OpenGL ES 1 is not tested here. */
        for (int i = api ? 0 : 1; i < (int)(sizeof lists / sizeof *lists); i++) {
            EGLContext context = eglCreateContext(egl, config, EGL_NO_CONTEXT, lists[i]);
            note("API %d, list %d: %d, error %x", api, i, context != EGL_NO_CONTEXT, eglGetError());
            if (context == EGL_NO_CONTEXT)
                continue;
            for (int n = 0; n < (int)(sizeof names / sizeof *names); n++) {
                EGLint value = 7777;
                bool had = eglQueryContext(egl, context, names[n], &value);
                note("  %x: %d %x %x", names[n], had, value, eglGetError());
            }
            eglDestroyContext(egl, context);
        }
    }
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLContext es = eglCreateContext(egl, config, EGL_NO_CONTEXT, lists[1]);
    EGLContext configless = eglCreateContext(egl, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, lists[1]);
    egl_errors("configless");
    EGLint id = 7777;
    note("its config: %d", eglQueryContext(egl, configless, EGL_CONFIG_ID, &id));
    note("it is %d", id);
    eglCreateContext(egl, (EGLConfig)&id, EGL_NO_CONTEXT, lists[1]);
    egl_errors("no such config");
    eglCreateContext(egl, config, (EGLContext)&id, lists[1]);
    egl_errors("no such context to share with");
    eglBindAPI(EGL_OPENGL_API);
    note("shared with another API: %d", eglCreateContext(egl, config, es, (const EGLint[]){EGL_NONE}) != EGL_NO_CONTEXT);
    egl_errors("shared with another API");
    EGLSurface small = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, 8, EGL_HEIGHT, 8, EGL_NONE});
    EGLConfig other = NULL;
    EGLint count = 0;
    eglChooseConfig(egl, (const EGLint[]){EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_BUFFER_SIZE, 16, EGL_NONE}, &other,
        1, &count);
    EGLSurface fitting = eglCreatePbufferSurface(egl, other, (const EGLint[]){EGL_WIDTH, 8, EGL_HEIGHT, 8, EGL_NONE});
    note("current: %d", eglMakeCurrent(egl, small, small, es));
    egl_errors("current");
    note("of another config: %d", eglMakeCurrent(egl, fitting, fitting, es));
    egl_errors("of another config");
    note("without a config: %d", eglMakeCurrent(egl, fitting, fitting, configless));
    egl_errors("without a config");
    note("two surfaces: %d", eglMakeCurrent(egl, small, fitting, configless));
    egl_errors("two surfaces");
    note("only one: %d", eglMakeCurrent(egl, small, EGL_NO_SURFACE, es));
    egl_errors("only one");
    note("no context: %d", eglMakeCurrent(egl, small, small, EGL_NO_CONTEXT));
    egl_errors("no context");
    note("no surface: %d", eglMakeCurrent(egl, (EGLSurface)&id, (EGLSurface)&id, es));
    egl_errors("no surface");
    note("no surfaces: %d", eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, es));
    egl_errors("no surfaces");
    note("interval without a surface: %d", eglSwapInterval(egl, 1));
    egl_errors("interval without a surface");
    note("swapping a surface that is not current: %d", eglSwapBuffers(egl, small));
    egl_errors("swapping a surface that is not current");
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    note("interval without a context: %d", eglSwapInterval(egl, 1));
    egl_errors("interval without a context");
    note("waits: %d %d %d", eglWaitClient(), eglWaitGL(), eglWaitNative(EGL_CORE_NATIVE_ENGINE));
    egl_errors("waits");
    note("another engine: %d", eglWaitNative(7));
    egl_errors("another engine");
    end();
}

static void syncs(void)
{
    static const EGLenum kinds[] = {EGL_SYNC_FENCE, EGL_SYNC_REUSABLE_KHR, EGL_SYNC_CL_EVENT, EGL_SYNC_NATIVE_FENCE_ANDROID, 0x7777};
    if (!start(false))
        return;
    PFNEGLCREATESYNCKHRPROC create_khr = (PFNEGLCREATESYNCKHRPROC)eglGetProcAddress("eglCreateSyncKHR");
    PFNEGLSIGNALSYNCKHRPROC signal = (PFNEGLSIGNALSYNCKHRPROC)eglGetProcAddress("eglSignalSyncKHR");
    PFNEGLWAITSYNCKHRPROC wait_khr = (PFNEGLWAITSYNCKHRPROC)eglGetProcAddress("eglWaitSyncKHR");
    PFNEGLGETSYNCATTRIBKHRPROC attrib_khr = (PFNEGLGETSYNCATTRIBKHRPROC)eglGetProcAddress("eglGetSyncAttribKHR");
    EGLContext context = eglCreateContext(egl, config, EGL_NO_CONTEXT, (const EGLint[]){EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE});
    for (int current = 0; current < 2; current++) {
        for (int i = 0; i < 5; i++) {
            EGLSync sync = current ? eglCreateSync(egl, kinds[i], NULL) : create_khr(egl, kinds[i], NULL);
            note("sync %x: %d, error %x", kinds[i], sync != EGL_NO_SYNC, eglGetError());
            if (sync == EGL_NO_SYNC)
                continue;
            static const EGLint names[] = {EGL_SYNC_TYPE, EGL_SYNC_CONDITION, 0x7777};
            for (int n = 0; n < 3; n++) {
                EGLAttrib value = 7777;
                EGLint small = 7777;
                bool had = eglGetSyncAttrib(egl, sync, names[n], &value);
                note("  %x: %d %lx, error %x", names[n], had, (unsigned long)value, eglGetError());
                had = attrib_khr(egl, sync, names[n], &small);
                note("  %x: %d %x, error %x", names[n], had, small, eglGetError());
            }
            if (kinds[i] == EGL_SYNC_REUSABLE_KHR) {
                EGLAttrib value = 7777;
                eglGetSyncAttrib(egl, sync, EGL_SYNC_STATUS, &value);
                note("  status %lx", (unsigned long)value);
                note("  waited: %x", eglClientWaitSync(egl, sync, 0, 1000));
                did = (long)(signal(egl, sync, EGL_SIGNALED));
                note("  signalled: %d %x", (int)did, eglGetError());
                eglGetSyncAttrib(egl, sync, EGL_SYNC_STATUS, &value);
                note("  status %lx", (unsigned long)value);
                note("  waited: %x", eglClientWaitSync(egl, sync, 0, 1000));
                did = (long)(signal(egl, sync, EGL_UNSIGNALED));
                note("  unsignalled: %d %x", (int)did, eglGetError());
                note("  waited: %x", eglClientWaitSync(egl, sync, 0, 0));
                did = (long)(signal(egl, sync, 7));
                note("  nonsense: %d %x", (int)did, eglGetError());
            } else {
                did = (long)(signal(egl, sync, EGL_SIGNALED));
                note("  signalled: %d %x", (int)did, eglGetError());
                note("  waited: %x", eglClientWaitSync(egl, sync, EGL_SYNC_FLUSH_COMMANDS_BIT, EGL_FOREVER));
                EGLAttrib value = 7777;
                eglGetSyncAttrib(egl, sync, EGL_SYNC_STATUS, &value);
                note("  status %lx", (unsigned long)value);
            }
            did = (long)(eglWaitSync(egl, sync, 0));
            note("  the server waits: %d %x", (int)did, eglGetError());
            did = (long)(wait_khr(egl, sync, 1));
            note("  with flags: %d %x", (int)did, eglGetError());
            did = (long)(eglDestroySync(egl, sync));
            note("  destroyed: %d %x", (int)did, eglGetError());
        }
        did = (long)(eglCreateSync(egl, EGL_SYNC_FENCE, (const EGLAttrib[]){0x7777, 1, EGL_NONE}) != EGL_NO_SYNC);
        note("attributes: %d %x", (int)did, eglGetError());
        did = (long)(eglDestroySync(egl, (EGLSync)kinds));
        note("destroying an invalid sync: %d %x", (int)did, eglGetError());
        did = (long)(eglClientWaitSync(egl, (EGLSync)kinds, 0, 0));
        note("waiting for an invalid sync: %x %x", (int)did, eglGetError());
        eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
    }
    end();
}

static void displays(void)
{
    PFNEGLQUERYDEVICESEXTPROC devices = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    PFNEGLQUERYDEVICESTRINGEXTPROC device_string = (PFNEGLQUERYDEVICESTRINGEXTPROC)eglGetProcAddress("eglQueryDeviceStringEXT");
    PFNEGLQUERYDISPLAYATTRIBEXTPROC attrib = (PFNEGLQUERYDISPLAYATTRIBEXTPROC)eglGetProcAddress("eglQueryDisplayAttribEXT");
    EGLint count = -1;
    EGLDeviceEXT device = NULL;
    if (!start(false))
        return;
    note("functions: %d %d %d", devices != NULL, device_string != NULL, attrib != NULL);
    note("device of the display: %d %d", attrib(egl, EGL_DEVICE_EXT, (EGLAttrib *)&device), device != NULL);
    note("it is software: %d", device && strstr(device_string(device, EGL_EXTENSIONS), "EGL_MESA_device_software") != NULL);
    did = (long)(device && device_string(device, EGL_DRM_DEVICE_FILE_EXT) != NULL);
    note("its node: %d %x", (int)did, eglGetError());
    note("devices: %d", devices(0, NULL, &count) && count > 0);
    EGLDeviceEXT all[8];
    devices(8, all, &count);
    bool found = false;
    for (int i = 0; i < count; i++)
        found |= all[i] == device;
    note("it is one of them: %d", found);
    EGLDisplay by_device = eglGetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, device, NULL);
    egl_errors("a display of the device");
    note("initialised: %d", eglInitialize(by_device, NULL, NULL));
    egl_errors("initialising");
    eglGetConfigs(by_device, NULL, 0, &count);
    note("configs: %d", count);
    note("the same again: %d", eglGetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, device, NULL) == by_device);
    note("attributes: %d", eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, NULL, (const EGLAttrib[]){0x7777, 1, EGL_NONE}) != EGL_NO_DISPLAY);
    egl_errors("attributes");
    note("surfaceless of something: %d", eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, &count, NULL) != EGL_NO_DISPLAY);
    egl_errors("surfaceless of something");
    note("another platform: %d", eglGetPlatformDisplay(0x7777, NULL, NULL) != EGL_NO_DISPLAY);
    egl_errors("another platform");
    eglTerminate(by_device);
    end();
}

/* A colour space for pbuffers with all kinds of configs. Few of them support it. */
static void color_spaces(void)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_DEPTH_SIZE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    static const EGLint spaces[] = {EGL_GL_COLORSPACE_LINEAR, EGL_GL_COLORSPACE_SRGB};
    EGLConfig all[256];
    EGLint count = 0, before[2] = {0, 0};
    if (!start(false))
        return;
    eglBindAPI(EGL_OPENGL_API);
    EGLContext context = eglCreateContext(egl, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, (const EGLint[]){EGL_NONE});
    eglChooseConfig(egl, wanted, all, 256, &count);
    for (int i = 0; i < count; i++) {
        EGLint red = 0, alpha = 0, samples = 0;
        eglGetConfigAttrib(egl, all[i], EGL_RED_SIZE, &red);
        eglGetConfigAttrib(egl, all[i], EGL_ALPHA_SIZE, &alpha);
        eglGetConfigAttrib(egl, all[i], EGL_SAMPLES, &samples);
        /* Only newer releases of Mesa have configs with 16 bits per colour. */
        if (samples > 0 || red > 10 || (red == before[0] && alpha == before[1]))
            continue;
        before[0] = red;
        before[1] = alpha;
        for (int s = 0; s < 2; s++) {
            EGLSurface surface = eglCreatePbufferSurface(egl, all[i], (const EGLint[]){EGL_WIDTH, 16, EGL_HEIGHT, 16, EGL_GL_COLORSPACE, spaces[s], EGL_NONE});
            note("%d bits of red, %d of alpha, space %x: %d", red, alpha, spaces[s], surface != EGL_NO_SURFACE);
            egl_errors("a pbuffer");
            if (surface == EGL_NO_SURFACE)
                continue;
            unsigned char pixel[4] = {0};
            note("current: %d", eglMakeCurrent(egl, surface, surface, context));
            glEnable(GL_FRAMEBUFFER_SRGB);
            glClearColor(0.2f, 0.5f, 0.8f, 0.5f);
            glClear(GL_COLOR_BUFFER_BIT);
            glReadPixels(3, 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
            note_bytes("cleared", pixel, sizeof pixel);
            errors("cleared");
            eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
            eglDestroySurface(egl, surface);
        }
    }
    eglDestroyContext(egl, context);
    end();
}

CONFORM("egl_surfaces", NONE, {"color_spaces", color_spaces}, {"pbuffers", pbuffers}, {"windows", windows}, {"srgb_window", srgb_window}, {"age", age}, {"pixmaps", pixmaps}, {"contexts", contexts}, {"syncs", syncs},
        {"displays", displays})
