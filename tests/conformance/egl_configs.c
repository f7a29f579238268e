/* Every EGL config with all its attributes, the configs that eglChooseConfig selects, and the
 * properties of displays. */
#include "conform.h"
#include "egl.h"

#ifndef EGL_CONFIG_SELECT_GROUP_EXT
#define EGL_CONFIG_SELECT_GROUP_EXT 0x34C0
#endif

static const EGLint attributes[] = {
    EGL_BUFFER_SIZE, EGL_RED_SIZE, EGL_GREEN_SIZE, EGL_BLUE_SIZE, EGL_LUMINANCE_SIZE, EGL_ALPHA_SIZE, EGL_ALPHA_MASK_SIZE, EGL_BIND_TO_TEXTURE_RGB,
    EGL_BIND_TO_TEXTURE_RGBA, EGL_COLOR_BUFFER_TYPE, EGL_CONFIG_CAVEAT, EGL_CONFIG_ID, EGL_DEPTH_SIZE, EGL_LEVEL, EGL_MAX_PBUFFER_WIDTH,
    EGL_MAX_PBUFFER_HEIGHT, EGL_MAX_PBUFFER_PIXELS, EGL_MAX_SWAP_INTERVAL, EGL_MIN_SWAP_INTERVAL, EGL_NATIVE_RENDERABLE, EGL_NATIVE_VISUAL_ID,
    EGL_NATIVE_VISUAL_TYPE, EGL_SAMPLE_BUFFERS, EGL_SAMPLES, EGL_STENCIL_SIZE, EGL_SURFACE_TYPE, EGL_TRANSPARENT_TYPE, EGL_TRANSPARENT_RED_VALUE,
    EGL_COLOR_COMPONENT_TYPE_EXT, EGL_RECORDABLE_ANDROID, EGL_FRAMEBUFFER_TARGET_ANDROID, EGL_Y_INVERTED_NOK, EGL_CONFIG_SELECT_GROUP_EXT,
    0x7777};
enum { COUNT = sizeof attributes / sizeof *attributes };

static void describe(EGLDisplay egl, EGLConfig config)
{
    char line[1200];
    int used = snprintf(line, sizeof line, "config:");
    for (int i = 0; i < COUNT; i++) {
        EGLint value = -1;
        bool had = eglGetConfigAttrib(egl, config, attributes[i], &value);
        used += snprintf(line + used, sizeof line - (size_t)used, had ? " %x" : " !%x", had ? value : eglGetError());
    }
    EGLint types[2] = {0, 0};
    eglGetConfigAttrib(egl, config, EGL_RENDERABLE_TYPE, &types[0]);
    eglGetConfigAttrib(egl, config, EGL_CONFORMANT, &types[1]);
    note("%s %x %x", line, types[0], types[1]);
}

static void all_of(EGLDisplay egl)
{
    static EGLConfig all[500];
    EGLint count = -1, total = -1;
    bool asked = eglGetConfigs(egl, NULL, 0, &total);
    note("asked: %d, there are %d", asked, total);
    eglGetConfigs(egl, all, 500, &count);
    for (int i = 0; i < count; i++)
        describe(egl, all[i]);
    note("two of them: %d", eglGetConfigs(egl, all, 2, &count) ? count : -1);
    note("no counter: %d", eglGetConfigs(egl, all, 2, NULL));
    egl_errors("no counter");
    note("no value: %d", eglGetConfigAttrib(egl, all[0], EGL_RED_SIZE, NULL));
    egl_errors("no value");
    note("no config: %d", eglGetConfigAttrib(egl, (EGLConfig)&total, EGL_RED_SIZE, &count));
    egl_errors("no config");
}

static void choose(EGLDisplay egl)
{
    static const EGLint requests[][14] = {
        {EGL_NONE},
        {EGL_RED_SIZE, 1, EGL_NONE},
        {EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8, EGL_NONE},
        {EGL_RED_SIZE, 8, EGL_ALPHA_SIZE, 8, EGL_DEPTH_SIZE, 24, EGL_STENCIL_SIZE, 8, EGL_NONE},
        {EGL_RED_SIZE, 10, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE},
        {EGL_BUFFER_SIZE, 16, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE},
        {EGL_DEPTH_SIZE, 1, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE},
        {EGL_ALPHA_SIZE, 1, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE},
        {EGL_ALPHA_SIZE, EGL_DONT_CARE, EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_NONE},
        {EGL_SURFACE_TYPE, EGL_PIXMAP_BIT, EGL_NONE},
        {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT | EGL_WINDOW_BIT, EGL_NONE},
        {EGL_SURFACE_TYPE, EGL_SWAP_BEHAVIOR_PRESERVED_BIT, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_CONFORMANT, EGL_OPENGL_ES2_BIT, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENVG_BIT, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_SAMPLES, 2, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_SAMPLE_BUFFERS, 1, EGL_DEPTH_SIZE, 1, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_COLOR_COMPONENT_TYPE_EXT, EGL_COLOR_COMPONENT_TYPE_FLOAT_EXT, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_COLOR_COMPONENT_TYPE_EXT, EGL_DONT_CARE, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_NATIVE_RENDERABLE, EGL_TRUE, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_NATIVE_VISUAL_TYPE, 5, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_NATIVE_VISUAL_ID, 0x22, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_CONFIG_CAVEAT, EGL_NONE, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_CONFIG_CAVEAT, EGL_SLOW_CONFIG, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_LEVEL, 1, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_LEVEL, EGL_DONT_CARE, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_TRANSPARENT_TYPE, EGL_TRANSPARENT_RGB, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_BIND_TO_TEXTURE_RGB, EGL_TRUE, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_BIND_TO_TEXTURE_RGBA, EGL_TRUE, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_MIN_SWAP_INTERVAL, 0, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_MAX_SWAP_INTERVAL, 1, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_MAX_PBUFFER_WIDTH, 1 << 30, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_COLOR_BUFFER_TYPE, EGL_LUMINANCE_BUFFER, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_MATCH_NATIVE_PIXMAP, EGL_NONE, EGL_NONE},
        {EGL_CONFIG_ID, 7, EGL_DEPTH_SIZE, 99, EGL_NONE},
        {EGL_CONFIG_ID, 0x7777, EGL_NONE},
        {EGL_CONFIG_ID, EGL_DONT_CARE, EGL_NONE},
        {EGL_DEPTH_SIZE, -2, EGL_NONE},
        {EGL_SAMPLE_BUFFERS, 2, EGL_NONE},
        {EGL_NATIVE_RENDERABLE, 2, EGL_NONE},
        {EGL_RENDERABLE_TYPE, 0x4000, EGL_NONE},
        {EGL_SURFACE_TYPE, 0x4000, EGL_NONE},
        {EGL_CONFIG_CAVEAT, 7, EGL_NONE},
        {EGL_COLOR_COMPONENT_TYPE_EXT, 7, EGL_NONE},
        {EGL_Y_INVERTED_NOK, EGL_TRUE, EGL_NONE},
        {EGL_CONFIG_SELECT_GROUP_EXT, 1, EGL_NONE},
        {EGL_CONFIG_SELECT_GROUP_EXT, EGL_DONT_CARE, EGL_ALPHA_SIZE, 8, EGL_NONE},
        {EGL_NATIVE_VISUAL_ID, 0x21, EGL_ALPHA_SIZE, 8, EGL_NONE},
        {EGL_NATIVE_VISUAL_ID, 0x7777, EGL_NONE},
        {0x7777, 1, EGL_NONE},
    };
    for (int i = 0; i < (int)(sizeof requests / sizeof *requests); i++) {
        EGLConfig found[400];
        EGLint count = -1, request[16], length = 0;
        bool says_which = false;
        for (; requests[i][length] != EGL_NONE; length += 2)
            says_which |= requests[i][length] == EGL_RENDERABLE_TYPE;
        memcpy(request, requests[i], sizeof requests[i]);
        /* Without a renderable type, the request would mean OpenGL ES 1, which is not tested
         * here. */
        if (!says_which)
            memcpy(request + length, (const EGLint[]){EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_NONE}, 3 * sizeof *request);
        bool chosen = eglChooseConfig(egl, request, found, 400, &count);
        char line[300];
        int used = snprintf(line, sizeof line, "request %d: %d %d:", i, chosen, count);
        for (int n = 0; chosen && n < count && n < 30; n++) {
            EGLint id = 0;
            eglGetConfigAttrib(egl, found[n], EGL_CONFIG_ID, &id);
            used += snprintf(line + used, sizeof line - (size_t)used, " %x", id);
        }
        note("%s", line);
        egl_errors("choosing");
    }
    note("no counter: %d", eglChooseConfig(egl, NULL, NULL, 0, NULL));
    egl_errors("no counter");
}

static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    return false;
}

static void say(EGLDisplay egl)
{
    static const char *const names[] = {
        "EGL_KHR_config_attribs", "EGL_KHR_context_flush_control", "EGL_KHR_create_context", "EGL_KHR_fence_sync",
        "EGL_KHR_get_all_proc_addresses", "EGL_KHR_gl_colorspace", "EGL_KHR_gl_renderbuffer_image", "EGL_KHR_gl_texture_2D_image",
        "EGL_KHR_gl_texture_cubemap_image", "EGL_KHR_image_base", "EGL_KHR_no_config_context", "EGL_KHR_reusable_sync",
        "EGL_KHR_surfaceless_context", "EGL_EXT_pixel_format_float", "EGL_KHR_wait_sync", "EGL_MESA_configless_context",
        "EGL_KHR_partial_update", "EGL_NOK_texture_from_pixmap",
        "EGL_NOK_swap_region", "EGL_CHROMIUM_sync_control", "EGL_EXT_image_dma_buf_import", "EGL_ANDROID_native_fence_sync", "EGL_KHR_image",
        "EGL_KHR_image_pixmap", "EGL_EXT_surface_SMPTE2086_metadata", "EGL_KHR_lock_surface3", "EGL_EXT_protected_content"};
    const char *extensions = eglQueryString(egl, EGL_EXTENSIONS);
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        note("%s: %d", names[i], listed(extensions, names[i]));
    note("APIs: %s", eglQueryString(egl, EGL_CLIENT_APIS));
    note("version: %.3s", eglQueryString(egl, EGL_VERSION));
    note("an invalid name: %d", eglQueryString(egl, 0x7777) != NULL);
    egl_errors("an invalid name");
}

static void x11(void)
{
    EGLDisplay egl = open_egl_on_x11();
    if (egl == EGL_NO_DISPLAY)
        return;
    all_of(egl);
    choose(egl);
    say(egl);
    eglTerminate(egl);
}

static void surfaceless(void)
{
    EGLDisplay egl = open_surfaceless();
    if (egl == EGL_NO_DISPLAY)
        return;
    all_of(egl);
    choose(egl);
    say(egl);
    eglTerminate(egl);
}

static void client(void)
{
    static const char *const names[] = {"EGL_EXT_client_extensions", "EGL_EXT_device_base", "EGL_EXT_device_enumeration", "EGL_EXT_device_query",
        "EGL_EXT_platform_base", "EGL_EXT_platform_device", "EGL_EXT_platform_x11", "EGL_EXT_platform_xcb", "EGL_KHR_client_get_all_proc_addresses",
        "EGL_KHR_debug", "EGL_KHR_platform_x11", "EGL_MESA_platform_surfaceless"};
    const char *extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        note("%s: %d", names[i], listed(extensions, names[i]));
    egl_errors("client extensions");
}

/* Ways to describe the part of a window that has changed. */
static void damage(void)
{
    static const char *const names[] = {"EGL_EXT_buffer_age", "EGL_EXT_swap_buffers_with_damage", "EGL_KHR_swap_buffers_with_damage"};
    EGLDisplay egl = open_egl_on_x11();
    if (egl == EGL_NO_DISPLAY)
        return;
    for (int i = 0; i < 3; i++)
        note("%s: %d", names[i], listed(eglQueryString(egl, EGL_EXTENSIONS), names[i]));
    eglTerminate(egl);
}

CONFORM("egl_configs", NONE, {"x11", x11}, {"surfaceless", surfaceless}, {"client", client}, {"damage", damage})
