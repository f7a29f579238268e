/* glGetError: each kind of error from several commands. The first error stays, and commands with
 * errors have no other effect. */
#include "conform.h"

static void kinds(void)
{
    GLuint name = 0;
    GLfloat f[16] = {0};
    GLint i[16];
    no_picture();
#define TRY(call)                                                                                                                                     \
    call;                                                                                                                                             \
    errors(#call)
    TRY(glEnable(GL_LINES));
    TRY(glBlendFunc(GL_RGBA, GL_ONE));
    TRY(glDepthFunc(GL_LINES));
    TRY(glCullFace(GL_LINES));
    TRY(glDrawArrays(GL_RGBA, 0, 3));
    TRY(glBindTexture(GL_RGBA, 0));
    TRY(glTexParameteri(GL_TEXTURE_2D, GL_RGBA, 0));
    TRY(glGetIntegerv(GL_LINES, i));
    TRY(glHint(GL_FOG_HINT, GL_LINES));
    TRY(glMatrixMode(GL_LINES));
    TRY(glPolygonMode(GL_FRONT, GL_RGBA));
    TRY(glStencilOp(GL_LINES, GL_KEEP, GL_KEEP));
    TRY(glLightfv(GL_LIGHT0, GL_RGBA, f));
    TRY(glPixelStorei(GL_RGBA, 1));
    TRY(glBindBuffer(GL_RGBA, 0));
    TRY(glBufferData(GL_ARRAY_BUFFER, 4, f, GL_RGBA));
    TRY(glGetTexLevelParameteriv(GL_RGBA, 0, GL_TEXTURE_WIDTH, i));
    TRY(glActiveTexture(GL_RGBA));
    TRY(glClear(0x1));
    TRY(glLineWidth(-1));
    TRY(glPointSize(0));
    TRY(glViewport(0, 0, -1, 1));
    TRY(glScissor(0, 0, 1, -1));
    TRY(glLineStipple(3, 0));
    TRY(glGenTextures(-1, &name));
    TRY(glDrawArrays(GL_TRIANGLES, 0, -1));
    TRY(glTexImage2D(GL_TEXTURE_2D, -1, GL_RGBA, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, f));
    TRY(glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, -1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, f));
    TRY(glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 2, GL_RGBA, GL_UNSIGNED_BYTE, f));
    TRY(glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 0, GL_LINES, GL_UNSIGNED_BYTE, f));
    TRY(glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 0, GL_RGB, GL_UNSIGNED_SHORT_4_4_4_4, f));
    TRY(glLightf(GL_LIGHT0, GL_SPOT_EXPONENT, 200));
    TRY(glFogf(GL_FOG_DENSITY, -1));
    TRY(glMaterialf(GL_FRONT, GL_SHININESS, 500));
    TRY(glVertexPointer(7, GL_FLOAT, 0, f));
    TRY(glDeleteLists(1, -5));
    TRY(glNewList(0, GL_COMPILE));
    TRY(glPixelMapfv(GL_PIXEL_MAP_R_TO_R, -1, f));
    TRY(glEnd());
    TRY(glEndList());
    TRY(glPopMatrix());
    TRY(glPopAttrib());
    TRY(glPopClientAttrib());
    TRY(glPopName());
    TRY(glUnmapBuffer(GL_ARRAY_BUFFER));
    TRY(glBufferSubData(GL_ARRAY_BUFFER, 0, 4, f));
    TRY(glEndQuery(GL_SAMPLES_PASSED));
    TRY(glUniform1f(0, 0));
    TRY(glUseProgram(77));
    TRY(glGetShaderiv(77, GL_SHADER_TYPE, i));
    TRY(glAttachShader(77, 78));
    TRY(glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, f));
    TRY(glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 1, 1));
    TRY(glDrawBuffer(GL_AUX2));
    TRY(glReadPixels(0, 0, -1, 1, GL_RGBA, GL_UNSIGNED_BYTE, f));
    TRY(glReadPixels(0, 0, 1, 1, GL_RGBA, GL_LINES, f));
    TRY(glAccum(GL_LINES, 1));
    TRY(glRenderMode(GL_LINES));
}

/* Only the first error since the last glGetError stays, whether the client or the server found it. */
static void first_stays(void)
{
    no_picture();
    glEnable(GL_LINES);
    glLineWidth(-1);
    glPopMatrix();
    errors("enum, value, underflow");
    glPopMatrix();
    glEnable(GL_LINES);
    glLineWidth(-1);
    errors("underflow, enum, value");
    glUseProgram(77);
    glEnable(GL_LINES);
    errors("value by the renderer, enum");
    glEnable(GL_LINES);
    glUseProgram(77);
    errors("enum, value by the renderer");
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, (const GLubyte[4]){0});
    glPixelStorei(GL_UNPACK_ALIGNMENT, 3);
    errors("operation by the renderer, value");
    glPixelStorei(GL_UNPACK_ALIGNMENT, 3);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, (const GLubyte[4]){0});
    errors("value, operation by the renderer");
    glEnable(GL_LINES);
    errors("enum");
    glLineWidth(-1);
    errors("value");
}

/* Errors remain until glGetError, across all other commands. */
static void errors_wait(void)
{
    GLint value;
    unsigned char pixel[4];
    glEnable(GL_LINES);
    glFlush();
    errors("flush");
    glEnable(GL_LINES);
    glFinish();
    errors("finish");
    glUseProgram(77);
    glGetIntegerv(GL_DEPTH_FUNC, &value);
    errors("get");
    glUseProgram(77);
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    errors("read");
    glUseProgram(77);
    glXSwapBuffers(display, main_window.id);
    errors("swap");
    GLXContext context = glXGetCurrentContext();
    glUseProgram(77);
    glXMakeCurrent(display, None, NULL);
    glXMakeCurrent(display, main_window.id, context);
    errors("make current");
    for (int i = 0; i < 100000; i++)
        glColor3f(1, 0, 0);
    glUseProgram(77);
    for (int i = 0; i < 100000; i++)
        glColor3f(0, 1, 0);
    errors("many commands");
    no_picture();
}

/* Errors belong to the context in which they were raised. */
static void contexts(void)
{
    GLXContext first = glXGetCurrentContext(), second = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, NULL, True);
    no_picture();
    glEnable(GL_LINES);
    glXMakeCurrent(display, main_window.id, second);
    errors("second, no error yet");
    glLineWidth(-1);
    glXMakeCurrent(display, main_window.id, first);
    errors("first");
    glUseProgram(77);
    glXMakeCurrent(display, main_window.id, second);
    errors("second");
    glXMakeCurrent(display, main_window.id, first);
    errors("first again");
    glXDestroyContext(display, second);
}

/* A command with an error changes no state. */
static void no_effect(void)
{
    glDepthFunc(GL_GREATER);
    glDepthFunc(GL_LINES);
    INTS(GL_DEPTH_FUNC, 1);
    glLineWidth(3);
    glLineWidth(-3);
    FLOATS(GL_LINE_WIDTH, 1);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE);
    glBlendFunc(GL_ZERO, GL_RGBA);
    INTS(GL_BLEND_SRC, 1);
    glViewport(1, 2, 3, 4);
    glViewport(9, 9, -9, 9);
    INTS(GL_VIEWPORT, 4);
    glFogf(GL_FOG_DENSITY, -1);
    FLOATS(GL_FOG_DENSITY, 1);
    glPixelStorei(GL_PACK_ALIGNMENT, 5);
    INTS(GL_PACK_ALIGNMENT, 1);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_LINES);
    glActiveTexture(GL_TEXTURE0 + 500);
    INTS(GL_ACTIVE_TEXTURE, 1);
    glMatrixMode(GL_LINES);
    INTS(GL_MATRIX_MODE, 1);
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINES);
    INTS(GL_POLYGON_MODE, 2);
    glStencilOp(GL_INCR, GL_INCR, GL_LINES);
    INTS(GL_STENCIL_FAIL, 1);
    glViewport(0, 0, SIZE, SIZE);
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT | 0x1);
    glBegin(GL_LINES);
    glColor3f(0, 1, 0);
    glEnable(GL_TEXTURE_2D);
    glVertex2f(-0.9f, -0.9f);
    glVertex2f(0.9f, 0.9f);
    glEnd();
    errors("all of this");
}

/* Checks for errors after each command, thousands of times, like careful programs. */
static void often(void)
{
    int wrong = 0;
    for (int i = 0; i < 5000; i++) {
        if (i % 100 == 99)
            glEnable(GL_LINES);
        color_of(i);
        glRectf(-1 + (float)(i % 70) / 35, -1 + (float)(i / 70) / 35, -0.98f + (float)(i % 70) / 35, -0.98f + (float)(i / 70) / 35);
        wrong += glGetError() != GL_NO_ERROR;
    }
    note("%d errors", wrong);
}

CONFORM("errors", COMPAT, {"kinds", kinds}, {"first_stays", first_stays}, {"errors_wait", errors_wait}, {"contexts", contexts},
        {"no_effect", no_effect}, {"often", often})
