/* A picture of 40000x300 pixels, of which some pieces are compared. It is drawn to one window if
 * viewports can be so large, and otherwise piece by piece. */
#include "conform.h"

#define WIDTH 40000
#define HEIGHT 300

/* The pieces are at the edges, at positions where the pixel number needs another bit, and at one
 * other position. */
static const int lefts[] = {0, 9792, 16288, 32640, WIDTH - SIZE};
#define PIECES (int)(sizeof lefts / sizeof *lefts)

static bool whole;
/* The column of the picture at which the window begins. */
static int left;

static void view(int x, int y, int width, int height)
{
    glViewport(x - left, y, width, height);
}

/* Sets a projection for the whole picture, with one unit per pixel. */
static void project(void)
{
    int width = whole ? WIDTH : SIZE;
    view(left, 0, width, HEIGHT);
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glOrtho(left, left + width, 0, HEIGHT, -1, 1);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
}

/* Logs the number of bytes that differ between a read of the whole and a read of the piece. */
static void note_read(int x)
{
    int width = whole ? WIDTH : SIZE, wrong = 0;
    GLubyte *all = calloc((size_t)width * HEIGHT, 4), *piece = calloc(SIZE * HEIGHT, 4);
    glReadPixels(0, 0, width, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, all);
    glReadPixels(x - left, 0, SIZE, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, piece);
    for (int y = 0; y < HEIGHT; y++)
        wrong += memcmp(all + (y * width + x - left) * 4, piece + y * SIZE * 4, SIZE * 4) != 0;
    note("%d rows differ", wrong);
    free(all);
    free(piece);
}

/* Draws each piece and saves it. `draw` gets the column at which the piece begins. */
static void pieces(void (*draw)(int x))
{
    static const int attributes[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 2, GLX_CONTEXT_PROFILE_MASK_ARB,
                                     GLX_CONTEXT_COMPATIBILITY_PROFILE_BIT_ARB, None};
    static struct window window;
    if (!display && !(display = XOpenDisplay(NULL)))
        fail("there is no X display");
    GLXContext context = create_context(default_config(), NULL, attributes);
    if (window.id == None) {
        GLint most[2];
        window = open_window(default_config(), 0, SIZE, HEIGHT);
        glXMakeCurrent(display, window.id, context);
        glGetIntegerv(GL_MAX_VIEWPORT_DIMS, most);
        whole = most[0] >= WIDTH;
    }
    if (whole && window.width < WIDTH) {
        glXMakeCurrent(display, None, NULL);
        close_window(&window);
        window = open_window(default_config(), 0, WIDTH, HEIGHT);
    }
    if (!glXMakeCurrent(display, window.id, context))
        fail("cannot make a context current");
    for (int i = 0; i < PIECES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", lefts[i]);
        if (i == 0 || !whole)
            glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        if (!whole)
            left = lefts[i];
        draw(lefts[i]);
        picture_at(name, lefts[i] - left, 0);
    }
    errors("pieces");
    glXSwapBuffers(display, window.id);
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
}

static void draw_shapes(int x)
{
    project();
    glRecti(x + 5, 5, x + 251, 80);
    for (int i = 0; i < 12; i++) {
        color_of(i);
        glRecti(x + 20 * i, 10 + 3 * i, x + 20 * i + 15, 30 + 5 * i);
    }
    glLineWidth(3);
    glPointSize(9);
    for (int i = 0; i < 12; i++) {
        color_of(i + 12);
        glBegin(GL_LINES);
        glVertex2f((float)x + 10.25f, (float)(110 + 8 * i) + 0.25f);
        glVertex2f((float)x + 90.25f + (float)(10 * i), (float)(110 + 8 * i) + 0.25f);
        glEnd();
        glBegin(GL_POINTS);
        glVertex2f((float)(x + 240 - 15 * i) + 0.25f, 220.25f);
        glEnd();
    }
    /* Lines over the whole picture. */
    glColor3f(1, 1, 1);
    glBegin(GL_LINES);
    glVertex2f(0, 240.25f);
    glVertex2f(WIDTH, 240.25f);
    glEnd();
}

static void draw_boxes(int x)
{
    project();
    glEnable(GL_SCISSOR_TEST);
    for (int i = 0; i < 8; i++) {
        float rgb[3];
        hue((float)i / 8, rgb);
        glClearColor(rgb[0], rgb[1], rgb[2], 1);
        glScissor(x - left + 30 * i, 10 + 4 * i, 25, 60);
        glClear(GL_COLOR_BUFFER_BIT);
    }
    glDisable(GL_SCISSOR_TEST);
    glClearColor(0, 0, 0, 0);
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    for (int i = 0; i < 6; i++) {
        view(x + 40 * i, 100, 30, 30);
        color_of(i);
        square(0.8f);
        glPushAttrib(GL_VIEWPORT_BIT);
        view(x + 40 * i, 140, 30, 30);
        square(0.8f);
        view(x + 40 * i + 5, 100, 30, 30);
        glPopAttrib();
        glColor3f(1, 1, 1);
        square(0.3f);
    }
    /* A drawing over the whole picture, of which each piece shows a part. */
    glLoadIdentity();
    glOrtho(left, whole ? WIDTH : left + SIZE, 0, HEIGHT, -1, 1);
    view(left, 0, whole ? WIDTH : SIZE, HEIGHT);
    glPushAttrib(GL_VIEWPORT_BIT);
    view(left, 0, (whole ? WIDTH : SIZE) / 2, HEIGHT);
    glPopAttrib();
    glRecti(x + 10, 200, x + 200, 240);
    GLint viewport[4];
    glGetIntegerv(GL_VIEWPORT, viewport);
    note("%d %d %d", whole ? viewport[2] == WIDTH : viewport[2] == SIZE, viewport[1], viewport[3]);
}

static void draw_images(int x)
{
    GLubyte image[32 * 32 * 4];
    static const GLubyte bits[] = {0xFF, 0x81, 0xA5, 0x81, 0xBD, 0x99, 0x81, 0xFF};
    checkerboard(image, 32, 32, 4);
    project();
    for (int i = 0; i < 6; i++) {
        color_of(i);
        glWindowPos2i(x - left + 40 * i, 10);
        glDrawPixels(32, 32, GL_RGBA, GL_UNSIGNED_BYTE, image);
        glRasterPos2f((float)(x + 40 * i) + 0.25f, 60.25f);
        glDrawPixels(20, 20, GL_RGBA, GL_UNSIGNED_BYTE, image);
        glBitmap(8, 8, 0, 0, 30, 10, bits);
        glBitmap(8, 8, 0, 0, 0, 0, bits);
    }
    glWindowPos2i(x - left + 20, 100);
    glPixelZoom(1, 2);
    glCopyPixels(x - left, 10, 200, 32, GL_COLOR);
    glPixelZoom(1, 1);
    glCopyPixels(x - left, 10, 100, 10, GL_DEPTH);
    /* Pixels that were read are drawn again. */
    GLubyte *read = calloc(200 * 40, 4);
    glReadPixels(x - left, 10, 200, 40, GL_RGBA, GL_UNSIGNED_BYTE, read);
    glWindowPos2i(x - left + 40, 180);
    glDrawPixels(200, 40, GL_RGBA, GL_UNSIGNED_BYTE, read);
    free(read);
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, x - left, 10, 256, 32, 0);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    glEnable(GL_TEXTURE_2D);
    view(x, 230, 256, 32);
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    square(1);
    glDisable(GL_TEXTURE_2D);
    glDeleteTextures(1, &texture);
    glBlitFramebuffer(x - left, 10, x - left + 100, 42, x - left + 150, 265, x - left + 250, 297, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    note_read(x);
}

static void draw_by_shaders(int x)
{
    GLuint program = STAGES(.vertex = "#version 150\nuniform vec2 size, from; in vec2 at; void main() { gl_Position = vec4((at + from) / size * 2.0 - 1.0, 0.0, 1.0); }",
                            .fragment = "#version 150\nuniform float left; out vec4 color; void main() { ivec2 at = ivec2(gl_FragCoord.xy); at.x += int(left);\n"
                                        "color = vec4(at.x % 256, at.x / 256, at.y % 256, 255) / 255.0; }");
    GLfloat corners[] = {4, 4, 250, 4, 250, 100, 4, 100};
    project();
    glUseProgram(program);
    glUniform2f(glGetUniformLocation(program, "size"), (float)(whole ? WIDTH : SIZE), HEIGHT);
    glUniform2f(glGetUniformLocation(program, "from"), (float)(x - left), 0);
    glUniform1f(glGetUniformLocation(program, "left"), (float)left);
    GLint at = glGetAttribLocation(program, "at");
    glEnableVertexAttribArray((GLuint)at);
    glVertexAttribPointer((GLuint)at, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glDrawArrays(GL_QUADS, 0, 4);
    for (int i = 0; i < 4; i++) {
        view(x + 60 * i, 120, 50, 60);
        glUniform2f(glGetUniformLocation(program, "size"), 260, 110);
        glUniform2f(glGetUniformLocation(program, "from"), 3, 2);
        glDrawArrays(GL_QUADS, 0, 4);
    }
    glDisableVertexAttribArray((GLuint)at);
    glUseProgram(0);
    glDeleteProgram(program);
    if (!has_extension("GL_ARB_viewport_array"))
        return;
    GLuint many = STAGES(.vertex = "#version 150\nvoid main() { gl_Position = vec4(0.0); }",
                         .geometry = "#version 150\n#extension GL_ARB_viewport_array : require\nlayout(points) in; layout(triangle_strip, max_vertices = 16) out; out vec3 hue;\n"
                                     "void main() { for (int v = 0; v < 4; v++) { for (int i = 0; i < 4; i++) { gl_ViewportIndex = v;\n"
                                     "gl_Position = vec4(vec2(i % 2, i / 2) * 1.6 - 0.8, 0.0, 1.0); hue = vec3(v % 2, 1.0, v / 2); EmitVertex(); } EndPrimitive(); } }",
                         .fragment = "#version 150\nin vec3 hue; out vec4 color; void main() { color = vec4(hue, 1.0); }");
    glUseProgram(many);
    for (GLuint i = 0; i < 4; i++)
        glViewportIndexedf(i, (float)(x - left + 60 * (int)i), 200, 50, 60);
    glDrawArrays(GL_POINTS, 0, 1);
    glUseProgram(0);
    glDeleteProgram(many);
}

static void draw_patterns(int x)
{
    GLubyte pattern[128];
    for (int i = 0; i < 128; i++)
        pattern[i] = (GLubyte)(i * 37);
    project();
    GLuint list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    glPushAttrib(GL_VIEWPORT_BIT | GL_SCISSOR_BIT | GL_ENABLE_BIT);
    glEnable(GL_SCISSOR_TEST);
    glScissor(x - left + 20, 110, 200, 50);
    view(x + 10, 100, 220, 80);
    glMatrixMode(GL_PROJECTION);
    glPushMatrix();
    glLoadIdentity();
    square(0.9f);
    glPopMatrix();
    glMatrixMode(GL_MODELVIEW);
    glPopAttrib();
    glEndList();
    glEnable(GL_POLYGON_STIPPLE);
    glPolygonStipple(pattern);
    glColor3f(0.5f, 1, 0.25f);
    glRecti(x + 5, 5, x + 251, 80);
    glCallList(list);
    glDisable(GL_POLYGON_STIPPLE);
    /* Stencil, depth and accumulation. */
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_ALWAYS, 1, 1);
    glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
    glColor3f(0.2f, 0.2f, 0.6f);
    glRecti(x + 20, 200, x + 120, 240);
    glStencilFunc(GL_EQUAL, 1, 1);
    glColor3f(1, 0, 0);
    glRecti(x + 60, 190, x + 200, 220);
    glDisable(GL_STENCIL_TEST);
    glDeleteLists(list, 1);
    /* Samples are counted. */
    GLuint query, count = 0;
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    glRecti(x + 10, 250, x + 210, 290);
    glEndQuery(GL_SAMPLES_PASSED);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &count);
    note("%u samples", count);
    glDeleteQueries(1, &query);
}

#define SCENE(name)                                                                                                                                    \
    static void name(void)                                                                                                                             \
    {                                                                                                                                                  \
        pieces(draw_##name);                                                                                                                           \
    }
SCENE(shapes)
SCENE(boxes)
SCENE(images)
SCENE(by_shaders)
SCENE(patterns)

CONFORM("mural", NONE, {"shapes", shapes}, {"boxes", boxes}, {"images", images}, {"by_shaders", by_shaders}, {"patterns", patterns})
