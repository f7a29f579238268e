/* Commands that are not allowed between glBegin and glEnd. They raise errors and have no effect,
 * and the run continues. */
#include "conform.h"

/* Draws a triangle with `illegal` called after its second vertex, and logs the error. */
#define INSIDE(name, illegal)                                                                                                                         \
    do {                                                                                                                                              \
        glBegin(GL_TRIANGLES);                                                                                                                        \
        color_of(drawn);                                                                                                                              \
        glVertex2f(left(), bottom());                                                                                                                 \
        glVertex2f(left() + 0.15f, bottom());                                                                                                         \
        illegal;                                                                                                                                      \
        glVertex2f(left(), bottom() + 0.15f);                                                                                                         \
        glEnd();                                                                                                                                      \
        drawn++;                                                                                                                                      \
        errors(name);                                                                                                                                 \
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

static void state_commands(void)
{
    drawn = 0;
    INSIDE("glEnable", glEnable(GL_BLEND));
    INSIDE("glDisable", glDisable(GL_DITHER));
    INSIDE("glClear", glClear(GL_COLOR_BUFFER_BIT));
    INSIDE("glClearColor", glClearColor(1, 0, 0, 1));
    INSIDE("glViewport", glViewport(0, 0, 10, 10));
    INSIDE("glMatrixMode", glMatrixMode(GL_PROJECTION));
    INSIDE("glLoadIdentity", glLoadIdentity());
    INSIDE("glTranslatef", glTranslatef(5, 5, 5));
    INSIDE("glPushMatrix", glPushMatrix());
    INSIDE("glPopMatrix", glPopMatrix());
    INSIDE("glPushAttrib", glPushAttrib(GL_ALL_ATTRIB_BITS));
    INSIDE("glPopAttrib", glPopAttrib());
    INSIDE("glLightf", glLightf(GL_LIGHT0, GL_SPOT_CUTOFF, 10));
    INSIDE("glFogf", glFogf(GL_FOG_DENSITY, 0.5f));
    INSIDE("glBlendFunc", glBlendFunc(GL_ONE, GL_ONE));
    INSIDE("glDepthFunc", glDepthFunc(GL_NEVER));
    INSIDE("glScissor", glScissor(0, 0, 1, 1));
    INSIDE("glLineWidth", glLineWidth(3));
    INSIDE("glPointSize", glPointSize(3));
    INSIDE("glPolygonMode", glPolygonMode(GL_FRONT, GL_LINE));
    INSIDE("glShadeModel", glShadeModel(GL_FLAT));
    INSIDE("glColorMask", glColorMask(0, 0, 0, 0));
    INSIDE("glStencilFunc", glStencilFunc(GL_NEVER, 1, 1));
    INSIDE("glPixelStorei", glPixelStorei(GL_UNPACK_ALIGNMENT, 1));
    INSIDE("glHint", glHint(GL_FOG_HINT, GL_NICEST));
    INSIDE("glClipPlane", glClipPlane(GL_CLIP_PLANE0, (const GLdouble[]){1, 0, 0, 0}));
    INSIDE("glColorMaterial", glColorMaterial(GL_FRONT, GL_DIFFUSE));
    INSIDE("glDrawBuffer", glDrawBuffer(GL_BACK));
    INSIDE("glReadBuffer", glReadBuffer(GL_BACK));
    INSIDE("glRasterPos2f", glRasterPos2f(0, 0));
    INSIDE("glBegin", glBegin(GL_TRIANGLES));
    ENABLED(GL_BLEND);
    INTS(GL_VIEWPORT, 4);
    INTS(GL_MATRIX_MODE, 1);
    INTS(GL_DEPTH_FUNC, 1);
    INTS(GL_POLYGON_MODE, 2);
    INTS(GL_MODELVIEW_STACK_DEPTH, 1);
    FLOATS(GL_LINE_WIDTH, 1);
    INTS(GL_UNPACK_ALIGNMENT, 1);
}

static void object_commands(void)
{
    GLuint name = 77;
    unsigned char pixels[64] = {0};
    drawn = 0;
    INSIDE("glGenTextures", glGenTextures(1, &name));
    INSIDE("glBindTexture", glBindTexture(GL_TEXTURE_2D, 1));
    INSIDE("glTexImage2D", glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels));
    INSIDE("glTexParameteri", glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT));
    INSIDE("glTexEnvi", glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_ADD));
    INSIDE("glDeleteTextures", glDeleteTextures(1, &name));
    INSIDE("glDrawPixels", glDrawPixels(1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixels));
    INSIDE("glReadPixels", glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixels));
    INSIDE("glBitmap", glBitmap(8, 1, 0, 0, 0, 0, pixels));
    INSIDE("glDrawArrays", glDrawArrays(GL_TRIANGLES, 0, 3));
    INSIDE("glDrawElements", glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, pixels));
    INSIDE("glGenBuffers", glGenBuffers(1, &name));
    INSIDE("glBindBuffer", glBindBuffer(GL_ARRAY_BUFFER, 0));
    INSIDE("glUseProgram", glUseProgram(0));
    INSIDE("glCreateShader", name = glCreateShader(GL_VERTEX_SHADER));
    INSIDE("glUniform1f", glUniform1f(0, 1));
    INSIDE("glActiveTexture", glActiveTexture(GL_TEXTURE1));
    INSIDE("glFlush", glFlush());
    INSIDE("glFinish", glFinish());
    note("names: %u", name);
    INTS(GL_TEXTURE_BINDING_2D, 1);
    INTS(GL_ACTIVE_TEXTURE, 1);
}

/* Inside a run, gets return nothing and leave the program's memory unchanged. */
static void get_commands(void)
{
    GLint value = 77;
    GLboolean enabled = 7;
    const GLubyte *text = (const GLubyte *)"";
    drawn = 0;
    INSIDE("glGetIntegerv", glGetIntegerv(GL_DEPTH_FUNC, &value));
    note("value %d", value);
    INSIDE("glIsEnabled", enabled = glIsEnabled(GL_DITHER));
    note("enabled %d", enabled);
    INSIDE("glGetString", text = glGetString(GL_VENDOR));
    note("string is null: %d", text == NULL);
    INSIDE("glGetTexParameteriv", glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, &value));
    note("value %d", value);
    INSIDE("glIsTexture", enabled = glIsTexture(1));
    note("is texture %d", enabled);
}

/* Inside a run, glGetError returns 0, and is an error itself. */
static void error_inside(void)
{
    GLenum error;
    drawn = 0;
    glEnable(0xBAD);
    INSIDE("glGetError after an older error", error = glGetError());
    note("inside: %s", error_name(error));
    INSIDE("glGetError", error = glGetError());
    note("inside: %s", error_name(error));
}

/* Two illegal commands in one run: only the first error remains. */
static void first_error_wins(void)
{
    drawn = 0;
    INSIDE("two", (glEnable(GL_BLEND), glBegin(99), glMatrixMode(5)));
    glBegin(GL_LINES);
    glColor3f(1, 1, 1);
    glVertex2f(-0.9f, 0.9f);
    glMaterialf(GL_FRONT, GL_SHININESS, 1000);
    glVertex2f(0.9f, -0.9f);
    glFogCoordf(1);
    glMultiTexCoord2f(GL_TEXTURE0 + 500, 0, 0);
    glEnd();
    errors("bad values of allowed commands");
}

CONFORM("begin_end_errors", COMPAT, {"state_commands", state_commands}, {"object_commands", object_commands}, {"get_commands", get_commands},
        {"error_inside", error_inside}, {"first_error_wins", first_error_wins})
