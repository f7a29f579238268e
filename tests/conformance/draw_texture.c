/* GL_OES_draw_texture in cases where window coordinates matter: rectangles in several tiles of a
 * wall, and framebuffer objects, which are in no tile. */
#include "es1.h"

#include <EGL/egl.h>

static const GLint whole[4] = {0, 0, 32, 32}, part[4] = {8, 0, 16, 16};

static bool begin(void)
{
    if (!begin_es1())
        return false;
    if (!need_extension("GL_OES_draw_texture")) {
        end_es1();
        return false;
    }
    unsigned char texels[32 * 32 * 4];
    checkerboard(texels, 32, 32, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_CROP_RECT_OES, whole);
    glEnable(GL_TEXTURE_2D);
    return true;
}

static void every_type(void)
{
    for (int i = 0; i < 4; i++) {
        const GLshort at = (GLshort)(16 + i * 56);
        const GLfloat floats[5] = {200, at, 0, 32, 32};
        const GLint ints[5] = {200, at, 0, 32, 32};
        const GLshort shorts[5] = {200, at, 0, 32, 32};
        const GLfixed fixed[5] = {X16(200), X16(at), 0, X16(32), X16(32)};
        switch (i) {
        case 0:
            es1DrawTexfOES(96, at, 0, 64, 32);
            es1DrawTexfvOES(floats);
            break;
        case 1:
            es1DrawTexiOES(96, at, 0, 64, 32);
            es1DrawTexivOES(ints);
            break;
        case 2:
            es1DrawTexsOES(96, at, 0, 64, 32);
            es1DrawTexsvOES(shorts);
            break;
        default:
            es1DrawTexxOES(X16(96), X16(at), 0, X16(64), X16(32));
            es1DrawTexxvOES(fixed);
        }
        errors("drawn");
    }
}

static void across_tiles(void)
{
    if (!begin())
        return;
    every_type();
    glColor4f(1, 0.5f, 0, 1);
    es1DrawTexiOES(-16, 64, 0, 64, 128);
    glScissor(30, 100, 150, 100);
    glEnable(GL_SCISSOR_TEST);
    glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_CROP_RECT_OES, part);
    glColor4f(0, 1, 0.5f, 1);
    es1DrawTexiOES(64, 64, 0, 128, 128);
    /* The viewport and the matrices do not move it. */
    glViewport(130, 130, 20, 20);
    glTranslatef(0.5f, 0.5f, 0);
    es1DrawTexiOES(128, 120, 0, 32, 16);
    errors("not moved");
    end_es1();
}

static void far_away(void)
{
    if (!begin())
        return;
    es1DrawTexsOES(-32768, -32768, 0, 32767, 32767);
    es1DrawTexiOES(1 << 20, 0, 0, 32, 32);
    es1DrawTexxOES(X16(-32768), 0, 0, X16(32767), X16(64));
    errors("outside");
    es1DrawTexiOES(8, 8, 0, -32, 32);
    errors("negative width");
    es1DrawTexfOES(8, 8, 0, 32, 0);
    errors("zero height");
    es1DrawTexiOES(112, 112, 0, 32, 32);
    errors("inside");
    end_es1();
}

static void in_a_framebuffer(void)
{
    if (!begin())
        return;
    void (*gen)(GLsizei, GLuint *) = (void (*)(GLsizei, GLuint *))eglGetProcAddress("glGenFramebuffersOES");
    void (*bind)(GLenum, GLuint) = (void (*)(GLenum, GLuint))eglGetProcAddress("glBindFramebufferOES");
    void (*attach)(GLenum, GLenum, GLenum, GLuint, GLint) = (void (*)(GLenum, GLenum, GLenum, GLuint, GLint))eglGetProcAddress("glFramebufferTexture2DOES");
    if (!need_extension("GL_OES_framebuffer_object") || !gen || !bind || !attach) {
        end_es1();
        return;
    }
    GLuint framebuffer, texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 256, 256, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    gen(1, &framebuffer);
    bind(GL_FRAMEBUFFER, framebuffer);
    attach(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    every_type();
    picture("in");
    bind(GL_FRAMEBUFFER, 0);
    es1DrawTexiOES(112, 112, 0, 32, 32);
    errors("window");
    end_es1();
}

CONFORM("draw_texture", NONE, {"across_tiles", across_tiles}, {"far_away", far_away}, {"in_a_framebuffer", in_a_framebuffer})
