/* Functions of GLX extensions: their answers, with and without a context, and the attributes of
 * drawables and contexts. */
#include "conform.h"

#include <X11/Xutil.h>

#ifndef GLX_BACK_BUFFER_AGE_EXT
#define GLX_BACK_BUFFER_AGE_EXT 0x20F4
#endif

#define FUNCTION(type, name) type name = (type)glXGetProcAddress((const GLubyte *)#name)

/* Mesa crashes if it is asked for the swap interval, the age, or (25.0) late-swap tearing of a
 * drawable that is current. */
static const int named[] = {GLX_WIDTH, GLX_HEIGHT, GLX_PRESERVED_CONTENTS, GLX_LARGEST_PBUFFER, GLX_FBCONFIG_ID, GLX_EVENT_MASK,
    GLX_TEXTURE_FORMAT_EXT, GLX_TEXTURE_TARGET_EXT,
    GLX_MIPMAP_TEXTURE_EXT, GLX_Y_INVERTED_EXT, GLX_DRAWABLE_TYPE, GLX_SCREEN, GLX_RED_SIZE, 0x7777};

static void start(void)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
}

static void ask(const char *what, GLXDrawable drawable)
{
    for (int i = 0; i < (int)(sizeof named / sizeof *named); i++) {
        unsigned value = 7777;
        begin_x_errors();
        glXQueryDrawable(display, drawable, named[i], &value);
        note("%s, %x: %x", what, named[i], value);
        end_x_errors("asked");
    }
    unsigned long mask = 7777;
    begin_x_errors();
    glXGetSelectedEvent(display, drawable, &mask);
    note("%s, events: %lx", what, mask);
    end_x_errors("asked for events");
}

static GLXFBConfig config_for(int drawable_type, int double_buffered)
{
    const int wanted[] = {GLX_DRAWABLE_TYPE, drawable_type, GLX_DOUBLEBUFFER, double_buffered, GLX_RED_SIZE, 8, GLX_DEPTH_SIZE, 24, GLX_X_VISUAL_TYPE,
        GLX_TRUE_COLOR, GLX_BUFFER_SIZE, 24, GLX_ALPHA_SIZE, 0, None};
    return choose_config(wanted);
}

static void drawables(void)
{
    start();
    GLXFBConfig config = default_config();
    struct window window = open_window(config, 0, 200, 100);
    ask("a bare window", window.id);
    GLXContext context = glXCreateNewContext(display, config, GLX_RGBA_TYPE, NULL, True);
    glXMakeCurrent(display, window.id, context);
    ask("the same, current", window.id);
    glXMakeCurrent(display, None, NULL);
    ask("the same, no longer current", window.id);
    struct window other = open_window(config, 1, 64, 32);
    GLXWindow drawable = glXCreateWindow(display, config, other.id, NULL);
    ask("a GLX window", drawable);
    glXSelectEvent(display, drawable, GLX_PBUFFER_CLOBBER_MASK);
    ask("with events", drawable);
    GLXPbuffer pbuffer = glXCreatePbuffer(display, config, (const int[]){GLX_PBUFFER_WIDTH, 40, GLX_PBUFFER_HEIGHT, 30, None});
    ask("a pbuffer", pbuffer);
    GLXPbuffer largest = glXCreatePbuffer(display, config, (const int[]){GLX_PBUFFER_WIDTH, 50, GLX_PBUFFER_HEIGHT, 20, GLX_LARGEST_PBUFFER, True, GLX_PRESERVED_CONTENTS, False, None});
    ask("a largest pbuffer", largest);
    Pixmap pixmap = XCreatePixmap(display, window.id, 60, 20, 24);
    GLXPixmap glx_pixmap = glXCreatePixmap(display, config_for(GLX_PIXMAP_BIT, False), pixmap,
        (const int[]){GLX_TEXTURE_FORMAT_EXT, GLX_TEXTURE_FORMAT_RGB_EXT, GLX_TEXTURE_TARGET_EXT, GLX_TEXTURE_2D_EXT, None});
    ask("a pixmap", glx_pixmap);
    ask("an X pixmap", pixmap);
    ask("nothing", 0x12345);
    glXDestroyPixmap(display, glx_pixmap);
    XFreePixmap(display, pixmap);
    glXDestroyPbuffer(display, pbuffer);
    glXDestroyPbuffer(display, largest);
    ask("a destroyed pbuffer", pbuffer);
    glXDestroyWindow(display, drawable);
    glXDestroyContext(display, context);
    close_window(&other);
    close_window(&window);
}

static void contexts(void)
{
    FUNCTION(PFNGLXQUERYCONTEXTINFOEXTPROC, glXQueryContextInfoEXT);
    FUNCTION(PFNGLXGETCONTEXTIDEXTPROC, glXGetContextIDEXT);
    FUNCTION(PFNGLXIMPORTCONTEXTEXTPROC, glXImportContextEXT);
    FUNCTION(PFNGLXFREECONTEXTEXTPROC, glXFreeContextEXT);
    static const int names[] = {GLX_FBCONFIG_ID, GLX_RENDER_TYPE, GLX_SCREEN, GLX_SHARE_CONTEXT_EXT, GLX_VISUAL_ID_EXT, 0x7777};
    start();
    note("functions: %d %d %d %d", glXQueryContextInfoEXT != NULL, glXGetContextIDEXT != NULL, glXImportContextEXT != NULL, glXFreeContextEXT != NULL);
    XVisualInfo *visual = glXGetVisualFromFBConfig(display, default_config());
    GLXContext first = glXCreateContext(display, visual, NULL, True);
    GLXContext second = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, first, True);
    GLXContext all[] = {first, second};
    for (int c = 0; c < 2; c++) {
        for (int i = 0; i < 6; i++) {
            int value = 7777;
            int result = glXQueryContext(display, all[c], names[i], &value);
            bool is_xid = names[i] == GLX_SHARE_CONTEXT_EXT;
            note("context %d, %x: %d %x", c, names[i], result, is_xid ? value != 0 : value);
        }
    }
    begin_x_errors();
    note("direct: %d", glXIsDirect(display, first));
    end_x_errors("direct");
    begin_x_errors();
    note("no context is direct: %d", glXIsDirect(display, NULL));
    end_x_errors("no context is direct");
    begin_x_errors();
    glXCopyContext(display, first, second, GL_ALL_ATTRIB_BITS);
    end_x_errors("copying");
    begin_x_errors();
    glXDestroyContext(display, first);
    glXDestroyContext(display, second);
    end_x_errors("destroying");
    XFree(visual);
}

static void swap_control(void)
{
    FUNCTION(PFNGLXSWAPINTERVALEXTPROC, glXSwapIntervalEXT);
    FUNCTION(PFNGLXSWAPINTERVALMESAPROC, glXSwapIntervalMESA);
    FUNCTION(PFNGLXGETSWAPINTERVALMESAPROC, glXGetSwapIntervalMESA);
    FUNCTION(PFNGLXSWAPINTERVALSGIPROC, glXSwapIntervalSGI);
    FUNCTION(PFNGLXGETVIDEOSYNCSGIPROC, glXGetVideoSyncSGI);
    FUNCTION(PFNGLXWAITVIDEOSYNCSGIPROC, glXWaitVideoSyncSGI);
    FUNCTION(PFNGLXGETSYNCVALUESOMLPROC, glXGetSyncValuesOML);
    FUNCTION(PFNGLXGETMSCRATEOMLPROC, glXGetMscRateOML);
    FUNCTION(PFNGLXWAITFORMSCOMLPROC, glXWaitForMscOML);
    FUNCTION(PFNGLXWAITFORSBCOMLPROC, glXWaitForSbcOML);
    start();
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    GLXContext context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    for (int current = 0; current < 2; current++) {
        unsigned count = 7777;
        int64_t ust = 7777, msc = 7777, sbc = 7777;
        int32_t numerator = 7777, denominator = 7777;
        begin_x_errors();
        note("MESA: %d %d %d", glXSwapIntervalMESA(1), glXSwapIntervalMESA(0x80000000u), glXGetSwapIntervalMESA());
        end_x_errors("MESA");
        begin_x_errors();
        note("SGI: %d %d %d", glXSwapIntervalSGI(0), glXSwapIntervalSGI(-1), current ? 0 : glXSwapIntervalSGI(1));
        end_x_errors("SGI");
        begin_x_errors();
        glXSwapIntervalEXT(display, window.id, 1);
        glXSwapIntervalEXT(display, window.id, -1);
        end_x_errors("EXT");
        begin_x_errors();
        note("video sync: %d %u", glXGetVideoSyncSGI(&count), count);
        note("waiting: %d %d", glXWaitVideoSyncSGI(2, 0, &count), glXWaitVideoSyncSGI(0, 0, &count));
        note("sync values: %d", glXGetSyncValuesOML(display, window.id, &ust, &msc, &sbc));
        note("waiting for counts: %d %d", glXWaitForMscOML(display, window.id, 1, 0, 0, &ust, &msc, &sbc),
            glXWaitForSbcOML(display, window.id, 1, &ust, &msc, &sbc));
        note("rate: %d %d", glXGetMscRateOML(display, window.id, &numerator, &denominator), numerator == 7777);
        end_x_errors("counters");
        glXMakeCurrent(display, window.id, context);
    }
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

static void strings(void)
{
    static const char *const names[] = {"GLX_ARB_context_flush_control", "GLX_ARB_create_context",
        "GLX_ARB_create_context_profile", "GLX_ARB_create_context_robustness", "GLX_ARB_fbconfig_float", "GLX_ARB_framebuffer_sRGB",
        "GLX_ARB_get_proc_address", "GLX_ARB_multisample", "GLX_EXT_buffer_age", "GLX_EXT_create_context_es2_profile",
        "GLX_EXT_create_context_es_profile", "GLX_EXT_fbconfig_packed_float", "GLX_EXT_framebuffer_sRGB", "GLX_EXT_import_context",
        "GLX_EXT_no_config_context", "GLX_EXT_swap_control", "GLX_EXT_swap_control_tear", "GLX_EXT_texture_from_pixmap", "GLX_EXT_visual_info",
        "GLX_EXT_visual_rating", "GLX_INTEL_swap_event", "GLX_MESA_copy_sub_buffer", "GLX_MESA_query_renderer", "GLX_MESA_swap_control",
        "GLX_OML_swap_method", "GLX_OML_sync_control", "GLX_SGIS_multisample", "GLX_SGIX_fbconfig", "GLX_SGIX_pbuffer",
        "GLX_SGIX_visual_select_group", "GLX_SGI_make_current_read", "GLX_SGI_swap_control", "GLX_SGI_video_sync"};
    start();
    char extensions[4096];
    snprintf(extensions, sizeof extensions, " %s ", glXQueryExtensionsString(display, DefaultScreen(display)));
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        char padded[100];
        snprintf(padded, sizeof padded, " %s ", names[i]);
        note("%s: %d", names[i], strstr(extensions, padded) != NULL);
    }
    note("client: %d %s", glXGetClientString(display, GLX_EXTENSIONS) != NULL, glXGetClientString(display, GLX_VERSION));
    note("server: %s", glXQueryServerString(display, DefaultScreen(display), GLX_VERSION));
    note("other strings: %d %d", glXGetClientString(display, 77) != NULL, glXQueryServerString(display, DefaultScreen(display), 77) != NULL);
    note("of no screen: %d %d", glXQueryExtensionsString(display, 7) != NULL, glXQueryServerString(display, 7, GLX_VERSION) != NULL);
}

static void renderer(void)
{
    FUNCTION(PFNGLXQUERYRENDERERINTEGERMESAPROC, glXQueryRendererIntegerMESA);
    FUNCTION(PFNGLXQUERYRENDERERSTRINGMESAPROC, glXQueryRendererStringMESA);
    FUNCTION(PFNGLXQUERYCURRENTRENDERERINTEGERMESAPROC, glXQueryCurrentRendererIntegerMESA);
    FUNCTION(PFNGLXQUERYCURRENTRENDERERSTRINGMESAPROC, glXQueryCurrentRendererStringMESA);
    start();
    note("without a context: %d %d", glXQueryCurrentRendererIntegerMESA(GLX_RENDERER_VENDOR_ID_MESA, (unsigned[4]){0}),
        glXQueryCurrentRendererStringMESA(GLX_RENDERER_VENDOR_ID_MESA) != NULL);
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    GLXContext context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    glXMakeCurrent(display, window.id, context);
    for (int name = GLX_RENDERER_VENDOR_ID_MESA; name <= GLX_RENDERER_OPENGL_ES2_PROFILE_VERSION_MESA + 1; name++) {
        unsigned a[4] = {77, 77, 77, 77}, b[4] = {77, 77, 77, 77};
        int results[] = {glXQueryRendererIntegerMESA(display, DefaultScreen(display), 0, name, a), glXQueryCurrentRendererIntegerMESA(name, b)};
        /* The amount of memory and the release depend on the machine. OpenGL ES 1 is not tested
         * here. */
        bool told = name != GLX_RENDERER_VIDEO_MEMORY_MESA && name != GLX_RENDERER_VERSION_MESA && name != GLX_RENDERER_OPENGL_ES_PROFILE_VERSION_MESA;
        note("%x: %d %d", name, results[0], results[1]);
        for (int i = 0; told && i < 4; i++)
            note("  %u %u", a[i], b[i]);
    }
    note("another renderer: %d", glXQueryRendererIntegerMESA(display, DefaultScreen(display), 1, GLX_RENDERER_VENDOR_ID_MESA, (unsigned[4]){0}));
    note("another screen: %d", glXQueryRendererIntegerMESA(display, 7, 0, GLX_RENDERER_VENDOR_ID_MESA, (unsigned[4]){0}));
    const char *vendor = glXQueryCurrentRendererStringMESA(GLX_RENDERER_VENDOR_ID_MESA);
    const char *device = glXQueryRendererStringMESA(display, DefaultScreen(display), 0, GLX_RENDERER_DEVICE_ID_MESA);
    note("strings: %d %d %d", vendor && !strcmp(vendor, (const char *)glGetString(GL_VENDOR)),
        device && !strcmp(device, (const char *)glGetString(GL_RENDERER)),
        glXQueryCurrentRendererStringMESA(GLX_RENDERER_VERSION_MESA) != NULL);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

CONFORM("glx_extensions", NONE, {"drawables", drawables}, {"contexts", contexts}, {"swap_control", swap_control}, {"strings", strings},
        {"renderer", renderer})
