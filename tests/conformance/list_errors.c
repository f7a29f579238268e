/* Errors of commands in display lists. The list records the commands, and raises the errors when it
 * is called. */
#include "conform.h"

static GLfloat numbers[64] = {1, 1, 1, 1};
static GLubyte bytes[256];

/* Compiles a list, with and without executing it, and then calls it. */
#define LISTED(name, ...)                                                                                                                             \
    do {                                                                                                                                              \
        for (int executed = 0; executed < 2; executed++) {                                                                                            \
            note("%s, %s", name, executed ? "executed" : "compiled");                                                                                 \
            glNewList(1, executed ? GL_COMPILE_AND_EXECUTE : GL_COMPILE);                                                                             \
            __VA_ARGS__;                                                                                                                              \
            errors("inside");                                                                                                                         \
            glEndList();                                                                                                                              \
            errors("compiled");                                                                                                                       \
            glCallList(1);                                                                                                                            \
            errors("called");                                                                                                                         \
        }                                                                                                                                             \
    } while (0)

/* glGetError may not be called between glBegin and glEnd. */
#define INSIDE(name, illegal)                                                                                                                         \
    do {                                                                                                                                              \
        for (int executed = 0; executed < 2; executed++) {                                                                                            \
            note("%s, %s", name, executed ? "executed" : "compiled");                                                                                 \
            glNewList(1, executed ? GL_COMPILE_AND_EXECUTE : GL_COMPILE);                                                                             \
            glBegin(GL_TRIANGLES);                                                                                                                    \
            color_of(drawn);                                                                                                                          \
            glVertex2f(left(), bottom());                                                                                                             \
            glVertex2f(left() + 0.15f, bottom());                                                                                                     \
            illegal;                                                                                                                                  \
            glVertex2f(left(), bottom() + 0.15f);                                                                                                     \
            glEnd();                                                                                                                                  \
            glEndList();                                                                                                                              \
            errors("compiled");                                                                                                                       \
            glCallList(1);                                                                                                                            \
            errors("called");                                                                                                                         \
        }                                                                                                                                             \
        drawn++;                                                                                                                                      \
    } while (0)

static int drawn;

static float left(void)
{
    return -0.95f + 0.19f * (float)(drawn % 10);
}

static float bottom(void)
{
    return -0.95f + 0.19f * (float)(drawn / 10);
}

static void inside(void)
{
    drawn = 0;
    INSIDE("glAlphaFunc", glAlphaFunc(GL_GREATER, 0));
    INSIDE("glBlendFunc", glBlendFunc(GL_ONE, GL_ONE));
    INSIDE("glBitmap", glBitmap(1, 1, 0, 0, 0, 0, bytes));
    INSIDE("glClear", glClear(GL_COLOR_BUFFER_BIT));
    INSIDE("glClearColor", glClearColor(1, 1, 1, 1));
    INSIDE("glClipPlane", glClipPlane(GL_CLIP_PLANE0, (const GLdouble[]){1, 0, 0, 0}));
    INSIDE("glColorMask", glColorMask(0, 0, 0, 0));
    INSIDE("glDepthRange", glDepthRange(0, 0.5));
    INSIDE("glDisable", glDisable(GL_DITHER));
    INSIDE("glEnable", glEnable(GL_BLEND));
    INSIDE("glDrawPixels", glDrawPixels(1, 1, GL_RGBA, GL_FLOAT, numbers));
    INSIDE("glCopyPixels", glCopyPixels(0, 0, 1, 1, GL_COLOR));
    INSIDE("glFogf", glFogf(GL_FOG_DENSITY, 0.5f));
    INSIDE("glFrustum", glFrustum(0, 1, 0, 1, 0.1, 1));
    INSIDE("glHint", glHint(GL_FOG_HINT, GL_NICEST));
    INSIDE("glLightfv", glLightfv(GL_LIGHT0, GL_AMBIENT, numbers));
    INSIDE("glLineWidth", glLineWidth(3));
    INSIDE("glListBase", glListBase(3));
    INSIDE("glLoadMatrixf", glLoadMatrixf(numbers));
    INSIDE("glMatrixMode", glMatrixMode(GL_PROJECTION));
    INSIDE("glPixelMapfv", glPixelMapfv(GL_PIXEL_MAP_R_TO_R, 1, numbers));
    INSIDE("glPixelTransferf", glPixelTransferf(GL_RED_SCALE, 2));
    INSIDE("glPolygonStipple", glPolygonStipple(bytes));
    INSIDE("glPopAttrib", glPopAttrib());
    INSIDE("glPushMatrix", glPushMatrix());
    INSIDE("glRasterPos2f", glRasterPos2f(0, 0));
    INSIDE("glReadBuffer", glReadBuffer(GL_BACK));
    INSIDE("glRectf", glRectf(0, 0, 1, 1));
    INSIDE("glRotatef", glRotatef(10, 0, 0, 1));
    INSIDE("glStencilOp", glStencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE));
    INSIDE("glTexEnvi", glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_ADD));
    INSIDE("glTexGenfv", glTexGenfv(GL_S, GL_OBJECT_PLANE, numbers));
    INSIDE("glTexImage2D", glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 0, GL_RGBA, GL_FLOAT, numbers));
    INSIDE("glTexParameteri", glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT));
    INSIDE("glViewport", glViewport(0, 0, 1, 1));
    INSIDE("glBegin", glBegin(GL_POINTS));
    if (has_version(1, 3))
        INSIDE("glActiveTexture", glActiveTexture(GL_TEXTURE1));
    if (has_version(2, 0)) {
        INSIDE("glUseProgram", glUseProgram(0));
        INSIDE("glUniform1f", glUniform1f(0, 1));
    }
    if (has_extension("GL_NV_primitive_restart"))
        INSIDE("glPrimitiveRestartIndexNV", glPrimitiveRestartIndexNV(1));
    ENABLED(GL_BLEND);
    INTS(GL_MATRIX_MODE, 1);
    FLOATS(GL_LINE_WIDTH, 1);
    INTS(GL_MODELVIEW_STACK_DEPTH, 1);
    INTS(GL_LIST_BASE, 1);
}

/* OpenGL ignores only the draw. Mesa also drops the primitive that was begun, so the pictures
 * differ and are not compared. */
static void draws_inside(void)
{
    no_picture();
    drawn = 0;
    INSIDE("glDrawArrays", glDrawArrays(GL_POINTS, 0, 1));
    INSIDE("glDrawElements", glDrawElements(GL_POINTS, 1, GL_UNSIGNED_BYTE, bytes));
}

/* Commands that display lists never record are executed during compilation. */
static void at_once(void)
{
    no_picture();
    for (int executed = 0; executed < 2; executed++) {
        note("%s", executed ? "executed" : "compiled");
        glNewList(1, executed ? GL_COMPILE_AND_EXECUTE : GL_COMPILE);
        glBegin(GL_TRIANGLES);
        note("error %x", glGetError());
        GLint width = -1, lists = 0;
        glGetIntegerv(GL_PACK_ROW_LENGTH, &width);
        glGetIntegerv(GL_MAX_LIST_NESTING, &lists);
        note("integers %d %d", width, lists);
        GLfloat light[4] = {-1, -1, -1, -1};
        glGetLightfv(GL_LIGHT0, GL_DIFFUSE, light);
        note("light %g %g", light[0], light[3]);
        note("enabled %d", glIsEnabled(GL_DITHER));
        note("lists %d", glGenLists(2) != 0);
        glDeleteLists(7, 2);
        glFlush();
        glFinish();
        glEnd();
        glEndList();
        errors("compiled");
        glCallList(1);
        errors("called");
    }
}

/* The same for commands that set state, with the error of each command. */
#define AT_ONCE(command)                                                                                                                              \
    do {                                                                                                                                              \
        command;                                                                                                                                      \
        GLenum code = glGetError();                                                                                                                   \
        if (code)                                                                                                                                     \
            note("%s: error %x", #command, code);                                                                                                     \
    } while (0)

static void set_at_once(void)
{
    static GLfloat positions[] = {-0.5f, -0.5f, 0.5f, -0.5f, 0, 0.5f};
    GLuint names[4] = {0};
    GLint value = -1;
    no_picture();
    for (int executed = 0; executed < 2; executed++) {
        note("%s", executed ? "executed" : "compiled");
        glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
        glNewList(1, executed ? GL_COMPILE_AND_EXECUTE : GL_COMPILE);
        glBegin(GL_TRIANGLES);
        AT_ONCE(glPixelStorei(GL_UNPACK_ALIGNMENT, 2));
        AT_ONCE(glPixelStoref(GL_PACK_ALIGNMENT, 2));
        AT_ONCE(glVertexPointer(2, GL_FLOAT, 0, positions));
        AT_ONCE(glColorPointer(3, GL_FLOAT, 0, positions));
        AT_ONCE(glNormalPointer(GL_FLOAT, 0, positions));
        AT_ONCE(glTexCoordPointer(2, GL_FLOAT, 0, positions));
        AT_ONCE(glEnableClientState(GL_COLOR_ARRAY));
        AT_ONCE(glDisableClientState(GL_COLOR_ARRAY));
        AT_ONCE(glGenTextures(2, names));
        AT_ONCE(glDeleteTextures(2, names));
        AT_ONCE(glGenBuffers(2, names));
        AT_ONCE(glDeleteBuffers(2, names));
        AT_ONCE(glGenVertexArrays(1, names));
        AT_ONCE(glDeleteVertexArrays(1, names));
        AT_ONCE(glGenQueries(1, names));
        AT_ONCE(glDeleteQueries(1, names));
        AT_ONCE(glGenFramebuffers(1, names));
        AT_ONCE(glDeleteFramebuffers(1, names));
        AT_ONCE(glGenRenderbuffers(1, names));
        AT_ONCE(glDeleteRenderbuffers(1, names));
        AT_ONCE(note("version %d", glGetString(GL_VERSION) != NULL));
        glEnd();
        glEndList();
        errors("compiled");
        glCallList(1);
        errors("called");
        glGetIntegerv(GL_UNPACK_ALIGNMENT, &value);
        note("alignment %d", value);
    }
}

static void no_mode(void)
{
    LISTED("glBegin", glBegin(10000); color_of(3); glVertex2f(-1, -1); glVertex2f(1, -1); glVertex2f(1, 1); glEnd());
    LISTED("a triangle behind it", glBegin(0x7777); glEnd(); glBegin(GL_TRIANGLES); color_of(5); glVertex2f(-0.5f, -0.5f); glVertex2f(0.5f, -0.5f);
           glVertex2f(0, 0.5f); glEnd());
}

static void wrong_arguments(void)
{
    no_picture();
    LISTED("glEnable", glEnable(0x1234));
    LISTED("glDisable", glDisable(0x1234));
    LISTED("glMatrixMode", glMatrixMode(0x1234));
    LISTED("glLineWidth", glLineWidth(-1));
    LISTED("glPointSize", glPointSize(-1));
    LISTED("glDepthFunc", glDepthFunc(0x1234));
    LISTED("glBlendFunc", glBlendFunc(0x1234, 0));
    LISTED("glLightf", glLightf(GL_LIGHT0, GL_SPOT_EXPONENT, 1000));
    LISTED("glFogf", glFogf(GL_FOG_DENSITY, -1));
    LISTED("glMaterialf", glMaterialf(GL_FRONT, GL_SHININESS, 1000));
    LISTED("glMaterialf of no face", glMaterialf(0x1234, GL_SHININESS, 1));
    LISTED("glTexEnvi", glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, 0x1234));
    LISTED("glTexParameteri", glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, 0x1234));
    LISTED("glViewport", glViewport(0, 0, -1, 1));
    LISTED("glScissor", glScissor(0, 0, -1, 1));
    LISTED("glShadeModel", glShadeModel(0x1234));
    LISTED("glStencilFunc", glStencilFunc(0x1234, 0, 0));
    LISTED("glClear", glClear(0x1));
    LISTED("glPopMatrix", glPopMatrix());
    LISTED("glPopAttrib", glPopAttrib());
    LISTED("glFrustum", glFrustum(0, 1, 0, 1, -1, 1));
    LISTED("glHint", glHint(0x1234, GL_NICEST));
    LISTED("glLogicOp", glLogicOp(0x1234));
    LISTED("glPolygonMode", glPolygonMode(GL_FRONT, 0x1234));
    LISTED("glCullFace", glCullFace(0x1234));
    LISTED("glRasterPos2f and a width", glRasterPos2f(0, 0); glLineWidth(-2));
    if (has_version(2, 0)) {
        LISTED("glUniform1f", glUniform1f(1000, 1));
        LISTED("glUseProgram", glUseProgram(1000));
        LISTED("glVertexAttrib1f", glVertexAttrib1f(1000, 1));
    }
    INTS(GL_MATRIX_MODE, 1);
    FLOATS(GL_LINE_WIDTH, 1);
}

/* A list continues after a command with an error. */
static void behind(void)
{
    glNewList(1, GL_COMPILE_AND_EXECUTE);
    glEnable(0x1234);
    glColor3f(0, 1, 0);
    glRectf(-0.8f, -0.8f, 0.8f, 0.8f);
    glEndList();
    errors("executed");
    picture("executed");
    glClear(GL_COLOR_BUFFER_BIT);
    glCallList(1);
    errors("called");
}

CONFORM("list_errors", COMPAT, {"inside", inside}, {"draws_inside", draws_inside}, {"at_once", at_once}, {"set_at_once", set_at_once}, {"no_mode", no_mode}, {"wrong_arguments", wrong_arguments}, {"behind", behind})
