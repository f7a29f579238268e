/* The accumulation buffer, if there is a config that has one. */
#include "conform.h"

static void scene(int index)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glPushMatrix();
    glRotatef(4 * (float)index, 0, 0, 1);
    for (int i = 0; i < 5; i++) {
        color_of(i);
        square(0.7f - 0.13f * (float)i);
    }
    glPopMatrix();
}

static void in_window(const int *wanted, void (*draw)(void))
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    GLXFBConfig config = choose_config(wanted);
    if (!config) {
        skip("a config with an accumulation buffer");
        return;
    }
    struct window window = open_window(config, 0, SIZE, SIZE);
    GLXContext context = glXCreateNewContext(display, config, GLX_RGBA_TYPE, NULL, True);
    glXMakeCurrent(display, window.id, context);
    glClear(GL_COLOR_BUFFER_BIT | GL_ACCUM_BUFFER_BIT);
    draw();
    errors("accumulation");
    picture(NULL);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
    close_window(&window);
}

static void with_accumulation(void (*draw)(void))
{
    static const int wanted[] = {GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_X_RENDERABLE, True, GLX_DOUBLEBUFFER, True, GLX_RED_SIZE, 8, GLX_ALPHA_SIZE, 8,
                                 GLX_ACCUM_RED_SIZE, 16, GLX_ACCUM_GREEN_SIZE, 16, GLX_ACCUM_BLUE_SIZE, 16, GLX_ACCUM_ALPHA_SIZE, 16, None};
    in_window(wanted, draw);
}

static void draw_blur(void)
{
    INTS(GL_ACCUM_RED_BITS, 1);
    INTS(GL_ACCUM_ALPHA_BITS, 1);
    for (int i = 0; i < 8; i++) {
        scene(i);
        glAccum(i ? GL_ACCUM : GL_LOAD, 0.125f);
    }
    glAccum(GL_RETURN, 1);
}

static void draw_operations(void)
{
    glClearAccum(0.2f, 0.1f, 0.4f, 0.5f);
    glClear(GL_ACCUM_BUFFER_BIT);
    FLOATS(GL_ACCUM_CLEAR_VALUE, 4);
    scene(0);
    glAccum(GL_ACCUM, 0.5f);
    scene(5);
    glAccum(GL_MULT, 0.75f);
    glAccum(GL_ADD, 0.1f);
    glEnable(GL_SCISSOR_TEST);
    glScissor(20, 20, 100, 200);
    glAccum(GL_LOAD, 0.7f);
    glAccum(GL_RETURN, 1);
    glScissor(130, 20, 100, 200);
    glAccum(GL_RETURN, 2);
    glDisable(GL_SCISSOR_TEST);
    glAccum(GL_ZERO, 1);
    errors("operation");
}

/* A ramp of every byte in every channel, through every operation, with values that overflow, and
 * with masks and several buffers. */
static void ramp(void)
{
    static GLubyte row[256 * 4];
    for (int i = 0; i < 256; i++)
        for (int c = 0; c < 4; c++)
            row[i * 4 + c] = (GLubyte)(i + 64 * c);
    for (int y = 0; y < 16; y++) {
        glWindowPos2i(0, y);
        glDrawPixels(256, 1, GL_RGBA, GL_UNSIGNED_BYTE, row);
    }
}

static void draw_values(void)
{
    static const GLfloat values[] = {1, 0.5f, 0.3f, -0.7f, 1.7f, 2.9f, -3.3f, 0.01f, 300};
    static GLubyte bytes[256 * 256 * 4];
    glEnable(GL_SCISSOR_TEST);
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) {
            glDisable(GL_SCISSOR_TEST);
            ramp();
            glAccum(GL_LOAD, values[i]);
            glAccum(GL_ACCUM, values[j]);
            glAccum(GL_MULT, values[(i + j) % 9]);
            glAccum(GL_ADD, values[(i * j) % 9]);
            glAccum(GL_RETURN, values[j]);
            glReadPixels(0, 0, 256, 16, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
            note_bytes("ramp", bytes, 256 * 16 * 4);
            glAccum(GL_RETURN, 1);
            glReadPixels(0, 0, 256, 16, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
            note_bytes("again", bytes, 256 * 16 * 4);
        }
    }
    glClear(GL_COLOR_BUFFER_BIT | GL_ACCUM_BUFFER_BIT);
    scene(1);
    glAccum(GL_LOAD, 1);
    scene(2);
    glEnable(GL_SCISSOR_TEST);
    glScissor(-20, -30, 100, 300);
    glColorMask(1, 0, 0, 1);
    glAccum(GL_RETURN, 0.9f);
    glScissor(120, 30, 1000, 50);
    glColorMask(0, 1, 1, 0);
    glAccum(GL_RETURN, 0.8f);
    glScissor(300, 30, 10, 50);
    glAccum(GL_RETURN, 1);
    glScissor(120, 100, 40, 50);
    glClearAccum(-2, 0.5f, 3, 0.25f);
    FLOATS(GL_ACCUM_CLEAR_VALUE, 4);
    glClear(GL_ACCUM_BUFFER_BIT);
    glColorMask(1, 1, 1, 1);
    glScissor(100, 90, 100, 100);
    glAccum(GL_ADD, 0.25f);
    glAccum(GL_RETURN, 1);
    glDisable(GL_SCISSOR_TEST);
}

static void values(void)
{
    with_accumulation(draw_values);
}

static void without_alpha(void)
{
    static const int wanted[] = {GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_X_RENDERABLE, True, GLX_DOUBLEBUFFER, True, GLX_RED_SIZE, 8, GLX_BUFFER_SIZE, 24,
                                 GLX_ALPHA_SIZE, 0, GLX_ACCUM_RED_SIZE, 16, None};
    in_window(wanted, draw_values);
}

static void draw_nowhere(void)
{
    GLuint hits[16];
    GLint bits = -1;
    scene(0);
    glBegin(GL_POINTS);
    glAccum(GL_LOAD, 1);
    glClear(GL_ACCUM_BUFFER_BIT);
    glEnd();
    errors("inside");
    glAccum(GL_LOAD, 1);
    scene(3);
    glSelectBuffer(16, hits);
    glRenderMode(GL_SELECT);
    glAccum(GL_RETURN, 1);
    glClear(GL_ACCUM_BUFFER_BIT);
    glRenderMode(GL_RENDER);
    errors("selection");
    glReadBuffer(GL_NONE);
    glAccum(GL_LOAD, 0.5f);
    glReadBuffer(GL_BACK);
    glDrawBuffer(GL_NONE);
    glAccum(GL_RETURN, 1);
    glDrawBuffer(GL_BACK);
    errors("no buffers");
    glClear(GL_ACCUM_BUFFER_BIT | 0x10);
    errors("an undefined bit");
    if (has_version(3, 0)) {
        GLuint names[2];
        glEnable(GL_RASTERIZER_DISCARD);
        glAccum(GL_RETURN, 1);
        glClear(GL_ACCUM_BUFFER_BIT);
        glDisable(GL_RASTERIZER_DISCARD);
        glGenFramebuffers(1, names);
        glGenRenderbuffers(1, names + 1);
        glBindFramebuffer(GL_FRAMEBUFFER, names[0]);
        glBindRenderbuffer(GL_RENDERBUFFER, names[1]);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 64, 64);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, names[1]);
        glGetIntegerv(GL_ACCUM_RED_BITS, &bits);
        note("bits of a framebuffer object: %d", bits);
        glAccum(GL_RETURN, 1);
        errors("framebuffer object");
        glClear(GL_ACCUM_BUFFER_BIT);
        errors("clear in it");
        glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
        glAccum(GL_RETURN, 1);
        errors("reading it");
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        glDeleteFramebuffers(1, names);
        glDeleteRenderbuffers(1, names + 1);
    }
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 128, 256);
    glAccum(GL_RETURN, 1);
    glDisable(GL_SCISSOR_TEST);
}

static void nowhere(void)
{
    with_accumulation(draw_nowhere);
}

/* Operations in display lists that call each other, are recompiled, and are executed during
 * compilation. */
static void draw_lists(void)
{
    GLuint lists = glGenLists(6);
    scene(0);
    glNewList(lists, GL_COMPILE);
    glColor3f(1, 0, 0);
    square(0.3f);
    glAccum(GL_LOAD, 0.5f);
    glColor3f(0, 1, 0);
    square(0.2f);
    glAccum(GL_ACCUM, 0.5f);
    glEndList();
    glNewList(lists + 1, GL_COMPILE);
    glPushMatrix();
    glTranslatef(0.2f, 0, 0);
    glCallList(lists);
    glPopMatrix();
    glEndList();
    glNewList(lists + 2, GL_COMPILE_AND_EXECUTE);
    glCallList(lists + 1);
    glAccum(GL_RETURN, 1);
    glColor3f(0, 0, 1);
    square(0.1f);
    glEndList();
    picture("executed");
    glClearAccum(0.5f, 0.25f, 0.125f, 1);
    glNewList(lists + 3, GL_COMPILE);
    glScissor(0, 0, 128, 128);
    glEnable(GL_SCISSOR_TEST);
    glClear(GL_ACCUM_BUFFER_BIT);
    glAccum(GL_RETURN, 1);
    glDisable(GL_SCISSOR_TEST);
    glAccum(GL_COLOR, 1);
    glEndList();
    errors("compiled");
    glCallList(lists + 3);
    errors("called");
    picture("cleared");
    glListBase(lists);
    glCallLists(3, GL_UNSIGNED_BYTE, (const GLubyte[]){1, 3, 2});
    errors("called together");
    picture("together");
    glNewList(lists + 4, GL_COMPILE);
    glCallLists(2, GL_UNSIGNED_SHORT, (const GLushort[]){0, 2});
    glEndList();
    glCallList(lists + 4);
    picture("from_list");
    /* Another list with the same name. */
    glNewList(lists, GL_COMPILE);
    glColor3f(1, 1, 0);
    square(0.6f);
    glEndList();
    glCallList(lists + 1);
    picture("anew");
    glDeleteLists(lists + 1, 1);
    glCallList(lists + 4);
    INTS(GL_LIST_INDEX, 1);
    errors("lists");
    glDeleteLists(lists, 6);
    glCallList(lists + 3);
}

static void lists(void)
{
    with_accumulation(draw_lists);
}

static void blur(void)
{
    with_accumulation(draw_blur);
}

static void operations(void)
{
    with_accumulation(draw_operations);
}

static void draw_without(void)
{
    scene(0);
    glAccum(GL_LOAD, 1);
    errors("without an accumulation buffer");
    glAccum(GL_COLOR, 1);
    errors("no operation");
}

static void without(void)
{
    static const int wanted[] = {GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_X_RENDERABLE, True, GLX_DOUBLEBUFFER, True, GLX_RED_SIZE, 8, GLX_ALPHA_SIZE, 8,
                                 GLX_ACCUM_RED_SIZE, 0, None};
    in_window(wanted, draw_without);
}

CONFORM("accumulation", NONE, {"blur", blur}, {"operations", operations}, {"without", without}, {"values", values}, {"without_alpha", without_alpha},
        {"nowhere", nowhere}, {"lists", lists})
