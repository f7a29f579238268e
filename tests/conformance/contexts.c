/* Several contexts in one program: shared objects, separate state, and contexts that are
 * destroyed. */
#include "conform.h"

static struct window window;
static GLXContext contexts[3];

/* Opens a window, and makes `count` contexts. If `sharing`, they share objects with the first
 * one. */
static void start(int count, bool sharing)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    window = open_window(default_config(), 0, SIZE, SIZE);
    for (int i = 0; i < count; i++)
        contexts[i] = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, sharing && i ? contexts[0] : NULL, True);
}

static void use(int index)
{
    if (!glXMakeCurrent(display, index < 0 ? None : window.id, index < 0 ? NULL : contexts[index]))
        note("glXMakeCurrent failed");
}

static void end(int count)
{
    picture(NULL);
    errors("end of scene");
    use(-1);
    for (int i = 0; i < count; i++)
        glXDestroyContext(display, contexts[i]);
    close_window(&window);
}

static void texture(GLuint name, int squares)
{
    unsigned char image[16 * 16 * 4];
    checkerboard(image, 16, 16, squares);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
}

static void sharing(void)
{
    GLuint textures[2], buffer;
    static const GLfloat corners[] = {-0.9f, -0.9f, -0.1f, -0.9f, -0.1f, -0.1f, -0.9f, -0.1f};
    start(3, true);
    use(0);
    glClear(GL_COLOR_BUFFER_BIT);
    glGenTextures(2, textures);
    texture(textures[0], 4);
    GLuint list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    glRectf(0.1f, 0.1f, 0.9f, 0.9f);
    glEndList();
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    GLuint program = build_program("void main() { gl_Position = gl_Vertex; }", "void main() { gl_FragColor = vec4(0.2, 0.4, 1.0, 1.0); }");
    glFinish();
    use(1);
    note("seen from the second: texture %d, list %d, buffer %d, program %d", glIsTexture(textures[0]), glIsList(list), glIsBuffer(buffer),
         glIsProgram(program));
    BOUND(GL_TEXTURE_BINDING_2D, 0);
    BOUND(GL_ARRAY_BUFFER_BINDING, 0);
    glColor3f(1, 0.6f, 0);
    glCallList(list);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    glEnableClientState(GL_VERTEX_ARRAY);
    glUseProgram(program);
    glDrawArrays(GL_QUADS, 0, 4);
    glUseProgram(0);
    glBindTexture(GL_TEXTURE_2D, textures[0]);
    glEnable(GL_TEXTURE_2D);
    glColor3f(1, 1, 1);
    glViewport(0, 128, 128, 128);
    square(0.9f);
    texture(textures[1], 2);
    glFinish();
    use(2);
    ENABLED(GL_TEXTURE_2D);
    glEnable(GL_TEXTURE_2D);
    glBindTexture(GL_TEXTURE_2D, textures[1]);
    glViewport(128, 0, 128, 128);
    square(0.9f);
    errors("sharing");
    GLuint more;
    glGenTextures(1, &more);
    note("a new name is none of the old: %d", more != textures[0] && more != textures[1]);
    end(3);
}

static void no_sharing(void)
{
    GLuint name;
    start(2, false);
    use(0);
    glClear(GL_COLOR_BUFFER_BIT);
    glGenTextures(1, &name);
    texture(name, 4);
    glNewList(5, GL_COMPILE);
    glRectf(-0.9f, -0.9f, 0, 0);
    glEndList();
    use(1);
    note("seen from the second: texture %d, list %d", glIsTexture(name), glIsList(5));
    glCallList(5);
    errors("a list of another context");
    glNewList(5, GL_COMPILE);
    glRectf(0, 0, 0.9f, 0.9f);
    glEndList();
    color_of(3);
    glCallList(5);
    use(0);
    color_of(7);
    glCallList(5);
    end(2);
}

/* An object that is deleted in one context remains where another context has bound it. */
static void deleting(void)
{
    GLuint name;
    start(2, true);
    use(0);
    glClear(GL_COLOR_BUFFER_BIT);
    glGenTextures(1, &name);
    texture(name, 4);
    glEnable(GL_TEXTURE_2D);
    glFinish();
    use(1);
    glDeleteTextures(1, &name);
    note("in the second: %d", glIsTexture(name));
    glFinish();
    use(0);
    note("in the first: %d", glIsTexture(name));
    BOUND(GL_TEXTURE_BINDING_2D, name);
    square(0.8f);
    end(2);
}

/* The objects outlive the context that made them. */
static void creator_goes(void)
{
    GLuint name;
    start(2, true);
    use(0);
    glClear(GL_COLOR_BUFFER_BIT);
    glGenTextures(1, &name);
    texture(name, 4);
    glFinish();
    use(1);
    glXDestroyContext(display, contexts[0]);
    glEnable(GL_TEXTURE_2D);
    glBindTexture(GL_TEXTURE_2D, name);
    square(0.8f);
    contexts[0] = contexts[1];
    end(1);
}

static void own_state(void)
{
    start(3, true);
    for (int i = 0; i < 3; i++) {
        use(i);
        if (i == 0)
            glClear(GL_COLOR_BUFFER_BIT);
        color_of(i);
        glTranslatef(-0.5f + 0.5f * (float)i, 0, 0);
        glLineWidth((float)i + 2);
        glShadeModel(i ? GL_FLAT : GL_SMOOTH);
        glViewport(0, i * 80, SIZE, 80);
    }
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 3; i++) {
            use((i + round) % 3);
            glTranslatef(0.1f, 0, 0);
            glBegin(GL_LINE_LOOP);
            for (int corner = 0; corner < 4; corner++)
                glVertex2f(corner == 1 || corner == 2 ? 0.2f : -0.2f, corner >= 2 ? 0.5f : -0.5f);
            glEnd();
            FLOATS(GL_CURRENT_COLOR, 4);
            FLOATS(GL_LINE_WIDTH, 1);
            INTS(GL_SHADE_MODEL, 1);
            INTS(GL_VIEWPORT, 4);
        }
    }
    end(3);
}

/* A context that is destroyed while it is current lives on until it no longer is. */
static void destroyed_while_current(void)
{
    start(2, false);
    use(0);
    glClear(GL_COLOR_BUFFER_BIT);
    glXDestroyContext(display, contexts[0]);
    color_of(2);
    square(0.7f);
    note("current: %d", glXGetCurrentContext() == contexts[0]);
    errors("destroyed while current");
    picture("current");
    use(1);
    glClear(GL_COLOR_BUFFER_BIT);
    color_of(5);
    square(0.4f);
    contexts[0] = contexts[1];
    end(1);
}

static void nothing_current(void)
{
    start(1, false);
    use(0);
    use(-1);
    note("current: %d, drawable: %d, display: %d", glXGetCurrentContext() != NULL, glXGetCurrentDrawable() != None, glXGetCurrentDisplay() != NULL);
    use(0);
    note("current: %d, drawable: %d, display: %d", glXGetCurrentContext() == contexts[0], glXGetCurrentDrawable() == window.id,
         glXGetCurrentDisplay() == display);
    note("reading from: %d", glXGetCurrentReadDrawable() == window.id);
    glClear(GL_COLOR_BUFFER_BIT);
    color_of(1);
    for (int i = 0; i < 200; i++) {
        use(-1);
        use(0);
        glRectf(-0.9f + (float)i / 120, -0.5f, -0.895f + (float)i / 120, 0.5f);
    }
    end(1);
}

CONFORM("contexts", NONE, {"sharing", sharing}, {"no_sharing", no_sharing}, {"deleting", deleting}, {"creator_goes", creator_goes},
        {"own_state", own_state}, {"destroyed_while_current", destroyed_while_current}, {"nothing_current", nothing_current})
