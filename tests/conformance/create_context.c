/* glXCreateContextAttribsARB: versions, profiles, flags, and requests that it refuses. */
#include "conform.h"

static struct window window;

static void start(void)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    window = open_window(default_config(), 0, SIZE, SIZE);
}

static bool has_glx_extension(const char *name)
{
    const char *list = glXQueryExtensionsString(display, DefaultScreen(display));
    size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

/* Draws a triangle with shaders of this version. All profiles from 2.0 on can do this. */
static void triangle(const char *version, const char *in, const char *fragment)
{
    static const GLfloat corners[] = {-0.8f, -0.8f, 0.8f, -0.8f, 0, 0.8f};
    char vertex_source[256], fragment_source[256];
    GLuint buffer, array = 0;
    snprintf(vertex_source, sizeof vertex_source, "%s%s vec2 place; void main() { gl_Position = vec4(place, 0.0, 1.0); }", version, in);
    snprintf(fragment_source, sizeof fragment_source, "%s%s", version, fragment);
    GLuint program = build_program(vertex_source, fragment_source);
    glUseProgram(program);
    if (has_version(3, 0)) {
        glGenVertexArrays(1, &array);
        glBindVertexArray(array);
    }
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    GLuint place = (GLuint)glGetAttribLocation(program, "place");
    glVertexAttribPointer(place, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(place);
    glClearColor(0.1f, 0.1f, 0.2f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

/* Tries to make a context. If this succeeds, draws and takes a picture. */
static void attempt(const char *name, const int *attributes, const char *version, const char *in, const char *fragment)
{
    GLXContext context = create_context(window.config, NULL, attributes);
    if (!context) {
        note("%s: refused", name);
        return;
    }
    glXMakeCurrent(display, window.id, context);
    GLint wanted[2] = {0, 0};
    for (int i = 0; attributes[i]; i += 2)
        if (attributes[i] == GLX_CONTEXT_MAJOR_VERSION_ARB || attributes[i] == GLX_CONTEXT_MINOR_VERSION_ARB)
            wanted[attributes[i] - GLX_CONTEXT_MAJOR_VERSION_ARB] = attributes[i + 1];
    note("%s: at least the version asked for: %d", name, has_version(wanted[0], wanted[1]));
    if (has_version(3, 2)) {
        INTS(GL_CONTEXT_PROFILE_MASK, 1);
        INTS(GL_CONTEXT_FLAGS, 1);
    }
    while (glGetError() != GL_NO_ERROR)
        ;
    triangle(version, in, fragment);
    errors(name);
    picture(name);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
}

static const char old_fragment[] = "void main() { gl_FragColor = vec4(1.0, 0.6, 0.1, 1.0); }";
static const char new_fragment[] = "out vec4 color; void main() { color = vec4(0.2, 0.9, 0.4, 1.0); }";

static void compatibility(void)
{
    start();
    attempt("default", (const int[]){None}, "", "attribute", old_fragment);
    attempt("1.0", (const int[]){GLX_CONTEXT_MAJOR_VERSION_ARB, 1, GLX_CONTEXT_MINOR_VERSION_ARB, 0, None}, "", "attribute", old_fragment);
    attempt("2.1", (const int[]){GLX_CONTEXT_MAJOR_VERSION_ARB, 2, GLX_CONTEXT_MINOR_VERSION_ARB, 1, None}, "#version 120\n", "attribute", old_fragment);
    attempt("3.0", (const int[]){GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 0, None}, "#version 130\n", "in", new_fragment);
    attempt("3.3.compat", (const int[]){GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3, GLX_CONTEXT_PROFILE_MASK_ARB,
                                        GLX_CONTEXT_COMPATIBILITY_PROFILE_BIT_ARB, None},
            "#version 330 compatibility\n", "in", old_fragment);
    close_window(&window);
}

static void core(void)
{
    start();
    for (int version = 31; version <= 45; version++) {
        char name[16], line[32];
        if (version == 34)
            version = 40;
        const int attributes[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, version / 10, GLX_CONTEXT_MINOR_VERSION_ARB, version % 10,
                                  GLX_CONTEXT_PROFILE_MASK_ARB, GLX_CONTEXT_CORE_PROFILE_BIT_ARB, None};
        snprintf(name, sizeof name, "core%d", version);
        snprintf(line, sizeof line, "#version %d\n", version < 32 ? 140 : version < 33 ? 150 : version * 10);
        attempt(name, attributes, line, "in", new_fragment);
    }
    close_window(&window);
}

static void flags(void)
{
    start();
    attempt("forward", (const int[]){GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3, GLX_CONTEXT_FLAGS_ARB,
                                     GLX_CONTEXT_FORWARD_COMPATIBLE_BIT_ARB, GLX_CONTEXT_PROFILE_MASK_ARB, GLX_CONTEXT_CORE_PROFILE_BIT_ARB, None},
            "#version 330\n", "in", new_fragment);
    attempt("debug", (const int[]){GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3, GLX_CONTEXT_FLAGS_ARB,
                                   GLX_CONTEXT_DEBUG_BIT_ARB, GLX_CONTEXT_PROFILE_MASK_ARB, GLX_CONTEXT_CORE_PROFILE_BIT_ARB, None},
            "#version 330\n", "in", new_fragment);
    close_window(&window);
}

static void embedded(void)
{
    start();
    if (!has_glx_extension("GLX_EXT_create_context_es2_profile")) {
        skip("GLX_EXT_create_context_es2_profile");
        close_window(&window);
        return;
    }
    attempt("es2", (const int[]){GLX_CONTEXT_MAJOR_VERSION_ARB, 2, GLX_CONTEXT_MINOR_VERSION_ARB, 0, GLX_CONTEXT_PROFILE_MASK_ARB,
                                 GLX_CONTEXT_ES2_PROFILE_BIT_EXT, None},
            "#version 100\n", "attribute", "precision mediump float; void main() { gl_FragColor = vec4(0.2, 0.4, 1.0, 1.0); }");
    attempt("es3", (const int[]){GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 0, GLX_CONTEXT_PROFILE_MASK_ARB,
                                 GLX_CONTEXT_ES2_PROFILE_BIT_EXT, None},
            "#version 300 es\n", "in", "precision mediump float; out vec4 color; void main() { color = vec4(1.0, 0.2, 0.6, 1.0); }");
    close_window(&window);
}

static void refused(void)
{
    start();
    static const int cases[][7] = {
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 9, GLX_CONTEXT_MINOR_VERSION_ARB, 9, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 2, GLX_CONTEXT_MINOR_VERSION_ARB, 7, None},
        {GLX_CONTEXT_PROFILE_MASK_ARB, 0x800, GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3, None},
        {GLX_CONTEXT_MAJOR_VERSION_ARB, 2, GLX_CONTEXT_MINOR_VERSION_ARB, 1, GLX_CONTEXT_FLAGS_ARB, GLX_CONTEXT_FORWARD_COMPATIBLE_BIT_ARB, None},
        {0x7777, 1, None},
    };
    for (int i = 0; i < 5; i++) {
        GLXContext context = create_context(window.config, NULL, cases[i]);
        note("case %d: %s", i, context ? "a context" : "refused");
        if (context)
            glXDestroyContext(display, context);
    }
    close_window(&window);
}

/* Contexts of different profiles share objects. */
static void sharing(void)
{
    static const int core_attributes[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3, GLX_CONTEXT_PROFILE_MASK_ARB,
                                          GLX_CONTEXT_CORE_PROFILE_BIT_ARB, None};
    unsigned char image[16 * 16 * 4];
    GLuint texture;
    start();
    GLXContext first = create_context(window.config, NULL, (const int[]){None}), second = first ? create_context(window.config, first, core_attributes) : NULL;
    if (!second) {
        skip("a core context that shares with another");
        close_window(&window);
        return;
    }
    glXMakeCurrent(display, window.id, second);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    checkerboard(image, 16, 16, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glFinish();
    glBegin(GL_TRIANGLES);
    errors("glBegin in the core profile");
    glEnable(GL_TEXTURE_2D);
    errors("glEnable(GL_TEXTURE_2D) in the core profile");
    glXMakeCurrent(display, window.id, first);
    note("is a texture: %d", glIsTexture(texture));
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_TEXTURE_2D);
    glBindTexture(GL_TEXTURE_2D, texture);
    square(0.8f);
    errors("sharing");
    picture(NULL);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, first);
    glXDestroyContext(display, second);
    close_window(&window);
}

CONFORM("create_context", NONE, {"compatibility", compatibility}, {"core", core}, {"flags", flags}, {"embedded", embedded}, {"refused", refused},
        {"sharing", sharing})
