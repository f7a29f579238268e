/* Old and new GLX queries of configs, contexts and drawables. */
#include "conform.h"

#include <X11/Xutil.h>

static bool start(void)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    int major = 0, minor = 0;
    note("GLX: %d", glXQueryExtension(display, NULL, NULL));
    note("version asked: %d", glXQueryVersion(display, &major, &minor));
    if (major == 1 && minor >= 3)
        return true;
    skip("GLX 1.3");
    return false;
}

/* Every config has the properties that it reports. */
static void configs(void)
{
    int count = 0, wrong = 0;
    if (!start())
        return;
    GLXFBConfig *all = glXGetFBConfigs(display, DefaultScreen(display), &count);
    note("there are configs: %d", count > 0);
    for (int i = 0; i < count; i++) {
        int id = 0, red = -1, size = -1, depth = -1, type = 0;
        glXGetFBConfigAttrib(display, all[i], GLX_FBCONFIG_ID, &id);
        glXGetFBConfigAttrib(display, all[i], GLX_RED_SIZE, &red);
        glXGetFBConfigAttrib(display, all[i], GLX_BUFFER_SIZE, &size);
        glXGetFBConfigAttrib(display, all[i], GLX_DEPTH_SIZE, &depth);
        glXGetFBConfigAttrib(display, all[i], GLX_RENDER_TYPE, &type);
        wrong += id == 0 || red < 0 || size < red || depth < 0 || !(type & GLX_RGBA_BIT);
        XVisualInfo *visual = glXGetVisualFromFBConfig(display, all[i]);
        int drawable = 0, visual_id = 0;
        glXGetFBConfigAttrib(display, all[i], GLX_DRAWABLE_TYPE, &drawable);
        glXGetFBConfigAttrib(display, all[i], GLX_VISUAL_ID, &visual_id);
        wrong += (drawable & GLX_WINDOW_BIT) && (!visual || (int)visual->visualid != visual_id);
        if (visual)
            XFree(visual);
    }
    note("wrong: %d", wrong);
    if (all)
        XFree(all);
    int value = 7, id = 0, again = 0;
    glXGetFBConfigAttrib(display, default_config(), GLX_FBCONFIG_ID, &id);
    GLXFBConfig *found = glXChooseFBConfig(display, DefaultScreen(display), (const int[]){GLX_FBCONFIG_ID, id, None}, &count);
    if (found)
        glXGetFBConfigAttrib(display, found[0], GLX_FBCONFIG_ID, &again);
    note("found by its number: %d", found && count == 1 && again == id);
    if (found)
        XFree(found);
    note("an unknown attribute: %d", glXGetFBConfigAttrib(display, default_config(), 0x7777, &value));
    GLXFBConfig *none = glXChooseFBConfig(display, DefaultScreen(display), (const int[]){GLX_RED_SIZE, 99, None}, &count);
    note("99 bits of red: %d", none != NULL && count > 0);
}

static void choices(void)
{
    static const int asked[][10] = {
        {GLX_RED_SIZE, 8, GLX_DEPTH_SIZE, 24, GLX_DOUBLEBUFFER, True, None},
        {GLX_DEPTH_SIZE, 16, GLX_STENCIL_SIZE, 8, GLX_DOUBLEBUFFER, True, None},
        {GLX_DOUBLEBUFFER, False, GLX_RED_SIZE, 1, None},
        {GLX_ALPHA_SIZE, 8, GLX_DOUBLEBUFFER, True, None},
        {GLX_DRAWABLE_TYPE, GLX_PBUFFER_BIT, GLX_RED_SIZE, 8, None},
        {GLX_CONFIG_CAVEAT, GLX_NONE, GLX_DEPTH_SIZE, 1, None},
    };
    static const int attributes[] = {GLX_DOUBLEBUFFER, GLX_RED_SIZE, GLX_GREEN_SIZE, GLX_BLUE_SIZE, GLX_STEREO, GLX_LEVEL};
    if (!start())
        return;
    for (int i = 0; i < 6; i++) {
        GLXFBConfig config = choose_config(asked[i]);
        if (!config) {
            note("choice %d: none", i);
            continue;
        }
        for (int a = 0; a < 6; a++) {
            int value = -1, result = glXGetFBConfigAttrib(display, config, attributes[a], &value);
            note("choice %d, attribute %x: %d %d", i, (unsigned)attributes[a], result, value);
        }
        for (int a = 0; asked[i][a]; a += 2) {
            int value = -1;
            glXGetFBConfigAttrib(display, config, asked[i][a], &value);
            if (asked[i][a] == GLX_DRAWABLE_TYPE)
                note("as asked: %d", (value & asked[i][a + 1]) == asked[i][a + 1]);
            else
                note("as asked: %d", asked[i][a] == GLX_DOUBLEBUFFER || asked[i][a] == GLX_CONFIG_CAVEAT ? value == asked[i][a + 1] : value >= asked[i][a + 1]);
        }
    }
}

static void visuals(void)
{
    int attributes[] = {GLX_RGBA, GLX_DOUBLEBUFFER, GLX_RED_SIZE, 8, GLX_DEPTH_SIZE, 24, None}, value = -1;
    if (!start())
        return;
    XVisualInfo *visual = glXChooseVisual(display, DefaultScreen(display), attributes);
    note("a visual: %d", visual != NULL);
    if (!visual)
        return;
    static const int names[] = {GLX_USE_GL, GLX_RGBA, GLX_DOUBLEBUFFER, GLX_RED_SIZE, GLX_STEREO};
    for (int i = 0; i < 5; i++) {
        int result = glXGetConfig(display, visual, names[i], &value);
        note("attribute %d: %d %d", names[i], result, value);
    }
    glXGetConfig(display, visual, GLX_DEPTH_SIZE, &value);
    note("depth enough: %d", value >= 24);
    note("unknown: %d", glXGetConfig(display, visual, 0x7777, &value));
    GLXContext context = glXCreateContext(display, visual, NULL, True);
    Window root = RootWindow(display, visual->screen);
    XSetWindowAttributes window_attributes = {.colormap = XCreateColormap(display, root, visual->visual, AllocNone), .override_redirect = True};
    Window window = XCreateWindow(display, root, 0, 0, SIZE, SIZE, 0, visual->depth, InputOutput, visual->visual,
                                  CWColormap | CWBorderPixel | CWOverrideRedirect, &window_attributes);
    XMapWindow(display, window);
    note("current: %d", glXMakeCurrent(display, window, context));
    note("direct: %d", glXIsDirect(display, context));
    glClear(GL_COLOR_BUFFER_BIT);
    color_of(4);
    square(0.6f);
    glXWaitGL();
    glXWaitX();
    errors("visual");
    picture(NULL);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    XDestroyWindow(display, window);
    XFreeColormap(display, window_attributes.colormap);
    XFree(visual);
    int impossible[] = {GLX_RGBA, GLX_RED_SIZE, 99, None};
    note("99 bits of red: %d", glXChooseVisual(display, DefaultScreen(display), impossible) != NULL);
}

static void drawables(void)
{
    unsigned value = 7777;
    int integer = 7777, id = 0;
    if (!start())
        return;
    struct window window = open_window(default_config(), 0, 200, 100);
    GLXWindow drawable = glXCreateWindow(display, default_config(), window.id, NULL);
    GLXContext context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    note("current: %d", glXMakeContextCurrent(display, drawable, drawable, context));
    glXQueryDrawable(display, drawable, GLX_WIDTH, &value);
    note("width %u", value);
    glXQueryDrawable(display, drawable, GLX_HEIGHT, &value);
    note("height %u", value);
    glXGetFBConfigAttrib(display, default_config(), GLX_FBCONFIG_ID, &id);
    glXQueryDrawable(display, drawable, GLX_FBCONFIG_ID, &value);
    note("its config: %d", (int)value == id);
    glXQueryContext(display, context, GLX_FBCONFIG_ID, &integer);
    note("the context's config: %d", integer == id);
    glXQueryContext(display, context, GLX_RENDER_TYPE, &integer);
    note("render type %x", (unsigned)integer);
    glXQueryContext(display, context, GLX_SCREEN, &integer);
    note("screen %d", integer == DefaultScreen(display));
    note("drawable is current: %d", glXGetCurrentDrawable() == drawable);
    INTS(GL_VIEWPORT, 4);
    glViewport(0, 0, 200, 100);
    glClear(GL_COLOR_BUFFER_BIT);
    color_of(6);
    square(0.5f);
    picture_of("window", GL_BACK, 200, 100);
    glXSwapBuffers(display, drawable);
    glXMakeContextCurrent(display, None, None, NULL);
    glXDestroyContext(display, context);
    glXDestroyWindow(display, drawable);
    close_window(&window);
}

static void strings(void)
{
    if (!start())
        return;
    const char *extensions = glXQueryExtensionsString(display, DefaultScreen(display));
    note("extensions: %d", extensions != NULL);
    note("server: %d %d", glXQueryServerString(display, DefaultScreen(display), GLX_VENDOR) != NULL,
         glXQueryServerString(display, DefaultScreen(display), GLX_VERSION) != NULL);
    note("client: %d %d", glXGetClientString(display, GLX_VENDOR) != NULL, glXGetClientString(display, GLX_EXTENSIONS) != NULL);
    static const char *const names[] = {"GLX_ARB_create_context", "GLX_ARB_create_context_profile", "GLX_ARB_get_proc_address"};
    for (int i = 0; i < 3; i++)
        note("%s: %d", names[i], extensions && strstr(extensions, names[i]) != NULL);
    static const char *const functions[] = {"glXCreateContextAttribsARB", "glBegin", "glCreateShader", "glDrawArraysInstanced", "glXSwapBuffers"};
    for (int i = 0; i < 5; i++)
        note("%s: %d", functions[i], glXGetProcAddress((const GLubyte *)functions[i]) != NULL);
    note("the same by both names: %d", glXGetProcAddress((const GLubyte *)"glClear") == glXGetProcAddressARB((const GLubyte *)"glClear"));
}

static void swap_interval(void)
{
    if (!start())
        return;
    const char *extensions = glXQueryExtensionsString(display, DefaultScreen(display));
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    GLXContext context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    glXMakeCurrent(display, window.id, context);
    if (extensions && strstr(extensions, "GLX_EXT_swap_control")) {
        PFNGLXSWAPINTERVALEXTPROC set = (PFNGLXSWAPINTERVALEXTPROC)glXGetProcAddress((const GLubyte *)"glXSwapIntervalEXT");
        unsigned interval = 7777;
        set(display, window.id, 0);
        glXQueryDrawable(display, window.id, GLX_SWAP_INTERVAL_EXT, &interval);
        note("interval %u", interval);
    } else if (extensions && strstr(extensions, "GLX_MESA_swap_control")) {
        PFNGLXSWAPINTERVALMESAPROC set = (PFNGLXSWAPINTERVALMESAPROC)glXGetProcAddress((const GLubyte *)"glXSwapIntervalMESA");
        PFNGLXGETSWAPINTERVALMESAPROC get = (PFNGLXGETSWAPINTERVALMESAPROC)glXGetProcAddress((const GLubyte *)"glXGetSwapIntervalMESA");
        int result = set(0);
        note("set: %d, interval %d", result, get());
    } else {
        skip("swap control");
    }
    for (int i = 0; i < 100; i++) {
        glClear(GL_COLOR_BUFFER_BIT);
        glXSwapBuffers(display, window.id);
    }
    errors("a hundred swaps");
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

static void wrong(void)
{
    if (!start())
        return;
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    GLXContext context = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    begin_x_errors();
    note("window but no context: %d", glXMakeCurrent(display, window.id, NULL));
    end_x_errors("window but no context");
    note("no context is current: %d", glXGetCurrentContext() == NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

CONFORM("glx_queries", NONE, {"configs", configs}, {"choices", choices}, {"visuals", visuals}, {"drawables", drawables}, {"strings", strings},
        {"swap_interval", swap_interval}, {"wrong", wrong})
