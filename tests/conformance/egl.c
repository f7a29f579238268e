#include "egl.h"

#include "conform.h"

static EGLDisplay open_platform(EGLenum platform, void *native, const char *extension)
{
    const char *extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    if (!extensions || !strstr(extensions, extension)) {
        skip(extension);
        return EGL_NO_DISPLAY;
    }
    EGLDisplay egl = eglGetPlatformDisplay(platform, native, NULL);
    if (egl == EGL_NO_DISPLAY || !eglInitialize(egl, NULL, NULL)) {
        skip("an EGL display");
        return EGL_NO_DISPLAY;
    }
    return egl;
}

EGLDisplay open_surfaceless(void)
{
    return open_platform(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, "EGL_MESA_platform_surfaceless");
}

EGLDisplay open_egl_on_x11(void)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display '%s'", XDisplayName(NULL));
    return open_platform(EGL_PLATFORM_X11_KHR, display, "EGL_KHR_platform_x11");
}

EGLConfig egl_config(EGLDisplay egl, EGLint surface_bit, EGLint renderable_bit)
{
    const EGLint wanted[] = {EGL_SURFACE_TYPE, surface_bit, EGL_RENDERABLE_TYPE, renderable_bit, EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8,
                             EGL_ALPHA_SIZE, 8, EGL_DEPTH_SIZE, 24, EGL_STENCIL_SIZE, 8, EGL_NONE};
    EGLConfig config = NULL;
    EGLint count = 0;
    if (!eglChooseConfig(egl, wanted, &config, 1, &count) || count == 0) {
        skip("an EGL config with RGBA8, depth and stencil");
        return NULL;
    }
    return config;
}

static const char *egl_error_name(EGLint error)
{
    static const char *const names[] = {"EGL_SUCCESS", "EGL_NOT_INITIALIZED", "EGL_BAD_ACCESS", "EGL_BAD_ALLOC", "EGL_BAD_ATTRIBUTE", "EGL_BAD_CONFIG",
                                        "EGL_BAD_CONTEXT", "EGL_BAD_CURRENT_SURFACE", "EGL_BAD_DISPLAY", "EGL_BAD_MATCH", "EGL_BAD_NATIVE_PIXMAP",
                                        "EGL_BAD_NATIVE_WINDOW", "EGL_BAD_PARAMETER", "EGL_BAD_SURFACE", "EGL_CONTEXT_LOST"};
    int index = error - EGL_SUCCESS;
    return index >= 0 && index < 15 ? names[index] : "an unknown EGL error";
}

void egl_errors(const char *after)
{
    note("%s: %s", after, egl_error_name(eglGetError()));
}
