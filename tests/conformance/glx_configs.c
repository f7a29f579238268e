/* Every config and every visual with all its GLX attributes, and the configs that glXChooseFBConfig
 * selects. Configs with an accumulation buffer are left out. Configs of 16 bits with alpha have a
 * separate scene. */
#include "conform.h"

#include <X11/Xutil.h>

#ifndef GLX_BIND_TO_MIPMAP_TEXTURE_EXT
#define GLX_BIND_TO_MIPMAP_TEXTURE_EXT 0x20D2
#endif

static const int attributes[] = {
    GLX_USE_GL, GLX_BUFFER_SIZE, GLX_LEVEL, GLX_RGBA, GLX_DOUBLEBUFFER, GLX_STEREO, GLX_AUX_BUFFERS, GLX_RED_SIZE, GLX_GREEN_SIZE, GLX_BLUE_SIZE,
    GLX_ALPHA_SIZE, GLX_DEPTH_SIZE, GLX_STENCIL_SIZE, GLX_ACCUM_RED_SIZE, GLX_ACCUM_GREEN_SIZE, GLX_ACCUM_BLUE_SIZE, GLX_ACCUM_ALPHA_SIZE,
    GLX_CONFIG_CAVEAT, GLX_X_VISUAL_TYPE, GLX_TRANSPARENT_TYPE, GLX_TRANSPARENT_INDEX_VALUE, GLX_TRANSPARENT_RED_VALUE, GLX_TRANSPARENT_GREEN_VALUE,
    GLX_TRANSPARENT_BLUE_VALUE, GLX_TRANSPARENT_ALPHA_VALUE, GLX_VISUAL_ID, GLX_SCREEN, GLX_DRAWABLE_TYPE, GLX_RENDER_TYPE, GLX_X_RENDERABLE,
    GLX_FBCONFIG_ID, GLX_MAX_PBUFFER_WIDTH, GLX_MAX_PBUFFER_HEIGHT, GLX_MAX_PBUFFER_PIXELS, GLX_OPTIMAL_PBUFFER_WIDTH_SGIX,
    GLX_OPTIMAL_PBUFFER_HEIGHT_SGIX, GLX_VISUAL_SELECT_GROUP_SGIX, GLX_SWAP_METHOD_OML, GLX_SAMPLE_BUFFERS, GLX_SAMPLES,
    GLX_BIND_TO_TEXTURE_RGB_EXT, GLX_BIND_TO_TEXTURE_RGBA_EXT, GLX_BIND_TO_MIPMAP_TEXTURE_EXT, GLX_BIND_TO_TEXTURE_TARGETS_EXT, GLX_Y_INVERTED_EXT,
    GLX_FRAMEBUFFER_SRGB_CAPABLE_EXT, GLX_PRESERVED_CONTENTS, GLX_WIDTH, GLX_EVENT_MASK, GLX_FLOAT_COMPONENTS_NV, GLX_COLOR_SAMPLES_NV, 0x7777};
enum { COUNT = sizeof attributes / sizeof *attributes };

static void start(void)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
}

static int bits_of(GLXFBConfig config, int channel)
{
    int bits = 0;
    glXGetFBConfigAttrib(display, config, channel, &bits);
    return bits;
}

/* RGB5A1 and RGBA4. EGL does not offer them. */
static bool is_small(GLXFBConfig config)
{
    return bits_of(config, GLX_BUFFER_SIZE) == 16 && bits_of(config, GLX_ALPHA_SIZE) > 0;
}

static bool is_left_out(GLXFBConfig config)
{
    return bits_of(config, GLX_ACCUM_RED_SIZE) > 0 || is_small(config);
}

/* Writes one line with the values of attributes, or with the error codes of attributes that have no
 * value. */
static void describe(const char *what, int number, int (*ask)(void *, int, int *), void *of)
{
    char line[1200];
    int used = snprintf(line, sizeof line, "%s %d:", what, number);
    for (int i = 0; i < COUNT; i++) {
        int value = -1, result = ask(of, attributes[i], &value);
        used += snprintf(line + used, sizeof line - (size_t)used, result ? " !%d" : " %x", result ? result : value);
    }
    note("%s", line);
}

static int ask_config(void *of, int attribute, int *value)
{
    return glXGetFBConfigAttrib(display, (GLXFBConfig)of, attribute, value);
}

static int ask_visual(void *of, int attribute, int *value)
{
    return glXGetConfig(display, (XVisualInfo *)of, attribute, value);
}

static void configs(void)
{
    int count = 0, number = 0;
    start();
    GLXFBConfig *all = glXGetFBConfigs(display, DefaultScreen(display), &count);
    for (int i = 0; i < count; i++) {
        if (is_left_out(all[i]))
            continue;
        describe("config", number++, ask_config, all[i]);
        XVisualInfo *visual = glXGetVisualFromFBConfig(display, all[i]);
        int id = 0;
        glXGetFBConfigAttrib(display, all[i], GLX_VISUAL_ID, &id);
        if ((visual != NULL) != (id != 0) || (visual && (int)visual->visualid != id))
            note("its visual: %lx", visual ? visual->visualid : 0);
        if (visual)
            XFree(visual);
    }
    if (all)
        XFree(all);
}

static void visuals(void)
{
    XVisualInfo template = {0};
    int count = 0;
    start();
    template.screen = DefaultScreen(display);
    XVisualInfo *all = XGetVisualInfo(display, VisualScreenMask, &template, &count);
    for (int i = 0; i < count; i++) {
        int bits = 0, usable = 0;
        glXGetConfig(display, &all[i], GLX_USE_GL, &usable);
        glXGetConfig(display, &all[i], GLX_ACCUM_RED_SIZE, &bits);
        if (usable && bits == 0)
            describe("visual", i, ask_visual, &all[i]);
    }
    XFree(all);
}

static void note_chosen(int number, const int *request)
{
    int count = -1, logged = 0;
    GLXFBConfig *found = glXChooseFBConfig(display, DefaultScreen(display), request, &count);
    note("request %d: %d", number, found != NULL);
    for (int i = 0; found && i < count && logged < 12; i++) {
        int id = 0;
        if (is_left_out(found[i]))
            continue;
        glXGetFBConfigAttrib(display, found[i], GLX_FBCONFIG_ID, &id);
        note("  %x", id);
        logged++;
    }
    if (found)
        XFree(found);
}

static void choices(void)
{
    static const int requests[][12] = {
        {None},
        {GLX_RED_SIZE, 1, None},
        {GLX_RED_SIZE, 8, GLX_GREEN_SIZE, 8, GLX_BLUE_SIZE, 8, GLX_ALPHA_SIZE, 8, None},
        {GLX_RED_SIZE, 10, GLX_ALPHA_SIZE, 2, None},
        {GLX_RED_SIZE, 5, GLX_BUFFER_SIZE, 16, GLX_DOUBLEBUFFER, True, None},
        {GLX_DEPTH_SIZE, 1, GLX_DOUBLEBUFFER, True, None},
        {GLX_DEPTH_SIZE, 32, GLX_STENCIL_SIZE, 1, None},
        {GLX_STENCIL_SIZE, 8, GLX_DOUBLEBUFFER, GLX_DONT_CARE, None},
        {GLX_X_RENDERABLE, True, None},
        {GLX_X_RENDERABLE, False, None},
        {GLX_X_VISUAL_TYPE, GLX_TRUE_COLOR, GLX_DRAWABLE_TYPE, GLX_WINDOW_BIT, None},
        {GLX_X_VISUAL_TYPE, GLX_DIRECT_COLOR, None},
        {GLX_X_VISUAL_TYPE, GLX_PSEUDO_COLOR, None},
        {GLX_DRAWABLE_TYPE, GLX_PBUFFER_BIT, GLX_RENDER_TYPE, GLX_RGBA_BIT, None},
        {GLX_DRAWABLE_TYPE, GLX_PIXMAP_BIT | GLX_PBUFFER_BIT, GLX_ALPHA_SIZE, 1, None},
        {GLX_DRAWABLE_TYPE, GLX_DONT_CARE, GLX_RENDER_TYPE, GLX_DONT_CARE, None},
        {GLX_RENDER_TYPE, GLX_COLOR_INDEX_BIT, None},
        {GLX_RENDER_TYPE, GLX_RGBA_FLOAT_BIT_ARB, None},
        {GLX_SAMPLE_BUFFERS, 1, GLX_SAMPLES, 2, None},
        {GLX_SAMPLES, 4, GLX_DEPTH_SIZE, 24, GLX_DOUBLEBUFFER, True, None},
        {GLX_SAMPLES, 8, None},
        {GLX_SWAP_METHOD_OML, GLX_SWAP_COPY_OML, None},
        {GLX_SWAP_METHOD_OML, GLX_SWAP_EXCHANGE_OML, None},
        {GLX_CONFIG_CAVEAT, GLX_NONE, None},
        {GLX_CONFIG_CAVEAT, GLX_NON_CONFORMANT_CONFIG, None},
        {GLX_FRAMEBUFFER_SRGB_CAPABLE_EXT, True, None},
        {GLX_BIND_TO_TEXTURE_RGB_EXT, True, GLX_BIND_TO_TEXTURE_TARGETS_EXT, GLX_TEXTURE_2D_BIT_EXT, GLX_DRAWABLE_TYPE, GLX_PIXMAP_BIT, None},
        {GLX_STEREO, True, None},
        {GLX_STEREO, GLX_DONT_CARE, None},
        {GLX_LEVEL, 1, None},
        {GLX_TRANSPARENT_TYPE, GLX_TRANSPARENT_RGB, None},
        {GLX_AUX_BUFFERS, 1, None},
        {GLX_MAX_PBUFFER_WIDTH, 1, None},
        {GLX_FBCONFIG_ID, 0x7777, None},
        {GLX_DEPTH_SIZE, -2, None},
        {0x7777, 1, None},
        {0x7777, 1, GLX_RED_SIZE, 8, None},
    };
    start();
    for (int i = 0; i < (int)(sizeof requests / sizeof *requests); i++)
        note_chosen(i, requests[i]);
}

/* The number of configs of 16 bits with alpha. */
static void small_configs(void)
{
    int count = 0, small = 0;
    start();
    GLXFBConfig *all = glXGetFBConfigs(display, DefaultScreen(display), &count);
    for (int i = 0; i < count; i++)
        small += is_small(all[i]);
    note("configs: %d", small);
    if (all)
        XFree(all);
}

static void best_visuals(void)
{
    static int requests[][14] = {
        {GLX_RGBA, None},
        {GLX_RGBA, GLX_DOUBLEBUFFER, None},
        {GLX_RGBA, GLX_DOUBLEBUFFER, GLX_DEPTH_SIZE, 1, None},
        {GLX_RGBA, GLX_RED_SIZE, 1, GLX_GREEN_SIZE, 1, GLX_BLUE_SIZE, 1, GLX_DEPTH_SIZE, 1, GLX_DOUBLEBUFFER, None},
        {GLX_RGBA, GLX_RED_SIZE, 8, GLX_ALPHA_SIZE, 8, GLX_STENCIL_SIZE, 8, GLX_DOUBLEBUFFER, None},
        {GLX_RGBA, GLX_DEPTH_SIZE, 16, None},
        {GLX_RGBA, GLX_DEPTH_SIZE, 32, GLX_DOUBLEBUFFER, None},
        {GLX_RGBA, GLX_SAMPLE_BUFFERS, 1, GLX_SAMPLES, 4, GLX_DOUBLEBUFFER, None},
        {GLX_RGBA, GLX_STEREO, None},
        {GLX_RGBA, GLX_RED_SIZE, 10, None},
        {GLX_RGBA, GLX_X_VISUAL_TYPE, GLX_DIRECT_COLOR, None},
        {GLX_RGBA, GLX_AUX_BUFFERS, 1, None},
        {GLX_RGBA, GLX_USE_GL, GLX_LEVEL, 1, None},
        {GLX_DOUBLEBUFFER, None},
        {GLX_BUFFER_SIZE, 8, None},
        {GLX_RGBA, 0x7777, None},
        {None},
    };
    start();
    for (int i = 0; i < (int)(sizeof requests / sizeof *requests); i++) {
        XVisualInfo *visual = glXChooseVisual(display, DefaultScreen(display), requests[i]);
        note("visual for %d: %lx, depth %d, class %d", i, visual ? visual->visualid : 0, visual ? visual->depth : 0, visual ? visual->class : 0);
        if (visual)
            XFree(visual);
    }
    note("of no screen: %d", glXChooseVisual(display, 7, requests[0]) != NULL);
}

CONFORM("glx_configs", NONE, {"configs", configs}, {"visuals", visuals}, {"choices", choices}, {"small_configs", small_configs},
        {"best_visuals", best_visuals})
