/* GL_ARB_direct_state_access: framebuffers and renderbuffers by name. */
#include "conform.h"

static bool start(void)
{
    return need_extension("GL_ARB_direct_state_access");
}

static void attachment(const char *what, GLuint framebuffer, GLenum attachment, GLuint object)
{
    static const GLenum names[] = {GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE,
                                   GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE,  GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE, GL_FRAMEBUFFER_ATTACHMENT_LAYERED};
    GLint values[6], name = -7;
    for (int i = 0; i < 6; i++) {
        values[i] = -7;
        glGetNamedFramebufferAttachmentParameteriv(framebuffer, attachment, names[i], &values[i]);
    }
    note_ints(what, values, 6);
    errors(what);
    glGetNamedFramebufferAttachmentParameteriv(framebuffer, attachment, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &name);
    note("%s: its object %d", what, name == (GLint)object);
    errors(what);
}

static void drawn(void)
{
    if (!start())
        return;
    GLuint framebuffers[2], textures[2], renderbuffers[2];
    glCreateFramebuffers(2, framebuffers);
    glCreateTextures(GL_TEXTURE_2D, 1, textures);
    glCreateTextures(GL_TEXTURE_2D_ARRAY, 1, textures + 1);
    glCreateRenderbuffers(2, renderbuffers);
    note("status %04x", glCheckNamedFramebufferStatus(framebuffers[0], GL_FRAMEBUFFER));
    glTextureStorage2D(textures[0], 3, GL_RGBA8, 128, 128);
    glTextureStorage3D(textures[1], 1, GL_RGBA8, 64, 64, 4);
    glNamedRenderbufferStorage(renderbuffers[0], GL_DEPTH24_STENCIL8, 128, 128);
    glNamedRenderbufferStorageMultisample(renderbuffers[1], 0, GL_RGBA8, 128, 128);
    static const GLenum names[] = {GL_RENDERBUFFER_WIDTH, GL_RENDERBUFFER_HEIGHT, GL_RENDERBUFFER_INTERNAL_FORMAT, GL_RENDERBUFFER_DEPTH_SIZE, GL_RENDERBUFFER_SAMPLES};
    for (int i = 0; i < 2; i++) {
        GLint values[5];
        for (int n = 0; n < 5; n++)
            glGetNamedRenderbufferParameteriv(renderbuffers[i], names[n], &values[n]);
        note_ints("renderbuffer", values, 5);
    }
    glNamedFramebufferTexture(framebuffers[0], GL_COLOR_ATTACHMENT0, textures[0], 0);
    glNamedFramebufferRenderbuffer(framebuffers[0], GL_COLOR_ATTACHMENT1, GL_RENDERBUFFER, renderbuffers[1]);
    glNamedFramebufferRenderbuffer(framebuffers[0], GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, renderbuffers[0]);
    glNamedFramebufferTextureLayer(framebuffers[1], GL_COLOR_ATTACHMENT0, textures[1], 0, 2);
    note("status %04x %04x", glCheckNamedFramebufferStatus(framebuffers[0], GL_FRAMEBUFFER), glCheckNamedFramebufferStatus(framebuffers[1], GL_READ_FRAMEBUFFER));
    attachment("texture", framebuffers[0], GL_COLOR_ATTACHMENT0, textures[0]);
    attachment("renderbuffer", framebuffers[0], GL_COLOR_ATTACHMENT1, renderbuffers[1]);
    attachment("depth", framebuffers[0], GL_DEPTH_ATTACHMENT, renderbuffers[0]);
    attachment("layer", framebuffers[1], GL_COLOR_ATTACHMENT0, textures[1]);
    attachment("back", 0, GL_BACK_LEFT, 0);
    BOUND(GL_DRAW_FRAMEBUFFER_BINDING, 0);
    BOUND(GL_READ_FRAMEBUFFER_BINDING, 0);
    BOUND(GL_RENDERBUFFER_BINDING, 0);
    errors("made");
    glNamedFramebufferDrawBuffers(framebuffers[0], 2, (const GLenum[]){GL_COLOR_ATTACHMENT1, GL_COLOR_ATTACHMENT0});
    glClearNamedFramebufferfv(framebuffers[0], GL_COLOR, 0, (const GLfloat[]){0.25f, 0.5f, 0.75f, 1});
    glClearNamedFramebufferfv(framebuffers[0], GL_COLOR, 1, (const GLfloat[]){0.75f, 0.5f, 0, 1});
    glClearNamedFramebufferfi(framebuffers[0], GL_DEPTH_STENCIL, 0, 0.5f, 3);
    glClearNamedFramebufferfv(framebuffers[0], GL_DEPTH, 0, (const GLfloat[]){0.25f});
    glClearNamedFramebufferiv(framebuffers[0], GL_STENCIL, 0, (const GLint[]){5});
    glClearNamedFramebufferfv(framebuffers[1], GL_COLOR, 0, (const GLfloat[]){0, 1, 0, 1});
    INTS(GL_DRAW_BUFFER0, 1);
    INTS(GL_DRAW_BUFFER, 1);
    INTS(GL_READ_BUFFER, 1);
    errors("cleared");
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
    INTS(GL_DRAW_BUFFER0, 1);
    INTS(GL_DRAW_BUFFER1, 1);
    INTS(GL_READ_BUFFER, 1);
    GLfloat depth = -1;
    GLubyte stencil = 99;
    glReadPixels(3, 3, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT, &depth);
    glReadPixels(3, 3, 1, 1, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, &stencil);
    note("depth %.4f stencil %d", depth, stencil);
    glNamedFramebufferReadBuffer(framebuffers[0], GL_COLOR_ATTACHMENT1);
    INTS(GL_READ_BUFFER, 1);
    glNamedFramebufferDrawBuffer(framebuffers[0], GL_NONE);
    INTS(GL_DRAW_BUFFER0, 1);
    INTS(GL_DRAW_BUFFER1, 1);
    glNamedFramebufferDrawBuffer(framebuffers[0], GL_COLOR_ATTACHMENT0);
    glViewport(0, 0, 128, 128);
    glDisable(GL_DEPTH_TEST);
    glColor3f(1, 0, 0);
    glRectf(-0.5f, -0.5f, 0.5f, 0.5f);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glClearNamedFramebufferfv(0, GL_COLOR, 0, (const GLfloat[]){0.1f, 0.1f, 0.1f, 1});
    glBlitNamedFramebuffer(framebuffers[0], 0, 0, 0, 128, 128, 0, 0, 128, 128, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glNamedFramebufferReadBuffer(framebuffers[0], GL_COLOR_ATTACHMENT0);
    glBlitNamedFramebuffer(framebuffers[0], 0, 0, 0, 128, 128, 128, 0, 256, 128, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBlitNamedFramebuffer(framebuffers[1], 0, 0, 0, 64, 64, 0, 128, 128, 256, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBlitNamedFramebuffer(0, framebuffers[1], 0, 0, 256, 256, 0, 0, 64, 64, GL_COLOR_BUFFER_BIT, GL_LINEAR);
    glBlitNamedFramebuffer(framebuffers[1], 0, 0, 0, 64, 64, 160, 160, 224, 224, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    errors("drawn");
    glInvalidateNamedFramebufferData(framebuffers[0], 1, (const GLenum[]){GL_DEPTH_ATTACHMENT});
    glInvalidateNamedFramebufferSubData(framebuffers[0], 1, (const GLenum[]){GL_STENCIL_ATTACHMENT}, 0, 0, 8, 8);
    errors("invalidated");
}

/* The name of the default framebuffer is 0, even while another framebuffer is bound. */
static void default_framebuffer(void)
{
    no_picture();
    if (!start())
        return;
    GLuint framebuffer, texture;
    glCreateFramebuffers(1, &framebuffer);
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glTextureStorage2D(texture, 1, GL_RGBA8, 64, 64);
    glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, texture, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    note("status %04x", glCheckNamedFramebufferStatus(0, GL_FRAMEBUFFER));
    glNamedFramebufferDrawBuffer(0, GL_FRONT);
    glNamedFramebufferReadBuffer(0, GL_FRONT);
    INTS(GL_DRAW_BUFFER, 1);
    glClearNamedFramebufferfv(0, GL_COLOR, 0, (const GLfloat[]){1, 0.5f, 0, 1});
    glBlitNamedFramebuffer(0, framebuffer, 0, 0, 256, 256, 0, 0, 64, 64, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    GLubyte pixel[4] = {0};
    glReadPixels(5, 5, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note("from the front %d %d %d %d", pixel[0], pixel[1], pixel[2], pixel[3]);
    glNamedFramebufferDrawBuffers(0, 1, (const GLenum[]){GL_BACK_LEFT});
    glNamedFramebufferReadBuffer(0, GL_BACK);
    errors("chosen");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    INTS(GL_DRAW_BUFFER, 1);
    INTS(GL_READ_BUFFER, 1);
    glClearNamedFramebufferfv(0, GL_COLOR, 0, (const GLfloat[]){0, 0.5f, 1, 1});
    glReadPixels(5, 5, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note("from the back %d %d %d %d", pixel[0], pixel[1], pixel[2], pixel[3]);
    glNamedFramebufferDrawBuffer(0, GL_COLOR_ATTACHMENT0);
    errors("an attachment of the default one");
    glNamedFramebufferReadBuffer(0, GL_COLOR_ATTACHMENT0);
    errors("read of it");
    glNamedFramebufferTexture(0, GL_COLOR_ATTACHMENT0, texture, 0);
    errors("attached to it");
    glNamedFramebufferParameteri(0, GL_FRAMEBUFFER_DEFAULT_WIDTH, 4);
    errors("parameter of it");
    GLint value = -7;
    glGetNamedFramebufferParameteriv(0, GL_DOUBLEBUFFER, &value);
    note("double %d", value);
    errors("double");
    glGetNamedFramebufferParameteriv(0, GL_FRAMEBUFFER_DEFAULT_WIDTH, &value);
    errors("width");
}

static void refused(void)
{
    if (!start())
        return;
    no_picture();
    GLuint framebuffer, named, texture, renderbuffer, only;
    GLint value = -7;
    glCreateFramebuffers(1, &framebuffer);
    glGenFramebuffers(1, &named);
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glCreateRenderbuffers(1, &renderbuffer);
    glGenRenderbuffers(1, &only);
    glTextureStorage2D(texture, 1, GL_RGBA8, 16, 16);
    const GLuint wrong[] = {named, 4000};
    for (int i = 0; i < 2; i++) {
        note("name %d", i);
        note("status %04x", glCheckNamedFramebufferStatus(wrong[i], GL_FRAMEBUFFER));
        errors("status");
        glNamedFramebufferTexture(wrong[i], GL_COLOR_ATTACHMENT0, texture, 0);
        errors("texture");
        glNamedFramebufferTextureLayer(wrong[i], GL_COLOR_ATTACHMENT0, texture, 0, 0);
        errors("layer");
        glNamedFramebufferRenderbuffer(wrong[i], GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
        errors("renderbuffer");
        glNamedFramebufferDrawBuffer(wrong[i], GL_COLOR_ATTACHMENT0);
        errors("draw buffer");
        glNamedFramebufferDrawBuffers(wrong[i], 1, (const GLenum[]){GL_COLOR_ATTACHMENT0});
        errors("draw buffers");
        glNamedFramebufferReadBuffer(wrong[i], GL_COLOR_ATTACHMENT0);
        errors("read buffer");
        glNamedFramebufferParameteri(wrong[i], GL_FRAMEBUFFER_DEFAULT_WIDTH, 4);
        errors("parameter");
        glClearNamedFramebufferfv(wrong[i], GL_COLOR, 0, (const GLfloat[4]){0});
        errors("clear");
        glBlitNamedFramebuffer(wrong[i], 0, 0, 0, 1, 1, 0, 0, 1, 1, GL_COLOR_BUFFER_BIT, GL_NEAREST);
        errors("blit from");
        glBlitNamedFramebuffer(0, wrong[i], 0, 0, 1, 1, 0, 0, 1, 1, GL_COLOR_BUFFER_BIT, GL_NEAREST);
        errors("blit to");
        glInvalidateNamedFramebufferData(wrong[i], 1, (const GLenum[]){GL_COLOR_ATTACHMENT0});
        errors("invalidate");
        glGetNamedFramebufferParameteriv(wrong[i], GL_SAMPLES, &value);
        errors("get");
        glGetNamedFramebufferAttachmentParameteriv(wrong[i], GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &value);
        errors("get of an attachment");
        note("is framebuffer %d", glIsFramebuffer(wrong[i]));
    }
    note("value %d", value);
    const GLuint wrong_renderbuffers[] = {0, only, 4000};
    for (int i = 0; i < 3; i++) {
        glNamedRenderbufferStorage(wrong_renderbuffers[i], GL_RGBA8, 16, 16);
        errors("storage");
        glGetNamedRenderbufferParameteriv(wrong_renderbuffers[i], GL_RENDERBUFFER_WIDTH, &value);
        errors("get");
        glNamedFramebufferRenderbuffer(framebuffer, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, wrong_renderbuffers[i]);
        errors("attach");
    }
    glNamedRenderbufferStorage(renderbuffer, GL_RGBA8, -1, 16);
    errors("negative width");
    glNamedRenderbufferStorage(renderbuffer, GL_RED_BITS, 16, 16);
    errors("no format");
    glNamedRenderbufferStorageMultisample(renderbuffer, -1, GL_RGBA8, 16, 16);
    errors("negative samples");
    glNamedRenderbufferStorageMultisample(renderbuffer, 1000, GL_RGBA8, 16, 16);
    errors("1000 samples");
    glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, 4000, 0);
    errors("no texture");
    glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, texture, 7);
    errors("level 7");
    glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0 + 31, texture, 0);
    errors("attachment 31");
    glNamedFramebufferTexture(framebuffer, GL_RED, texture, 0);
    errors("no attachment");
    glNamedFramebufferTextureLayer(framebuffer, GL_COLOR_ATTACHMENT0, texture, 0, 0);
    errors("a layer of a flat texture");
    glNamedFramebufferDrawBuffer(framebuffer, GL_BACK);
    errors("back");
    glNamedFramebufferDrawBuffers(framebuffer, 2, (const GLenum[]){GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT0});
    errors("twice");
    glNamedFramebufferDrawBuffers(framebuffer, -1, NULL);
    errors("-1 buffers");
    glNamedFramebufferReadBuffer(framebuffer, GL_RED);
    errors("read from red");
    glNamedFramebufferParameteri(framebuffer, GL_FRAMEBUFFER_DEFAULT_WIDTH, 16);
    glNamedFramebufferParameteri(framebuffer, GL_FRAMEBUFFER_DEFAULT_SAMPLES, 0);
    glGetNamedFramebufferParameteriv(framebuffer, GL_FRAMEBUFFER_DEFAULT_WIDTH, &value);
    note("width %d", value);
    errors("parameters");
    glNamedFramebufferParameteri(framebuffer, GL_FRAMEBUFFER_DEFAULT_WIDTH, -1);
    errors("width -1");
    glNamedFramebufferParameteri(framebuffer, GL_RED, 1);
    errors("no parameter");
    glClearNamedFramebufferfv(framebuffer, GL_COLOR, 100, (const GLfloat[4]){0});
    errors("clear buffer 100");
    glClearNamedFramebufferfv(framebuffer, GL_STENCIL, 0, (const GLfloat[4]){0});
    errors("clear stencil to floats");
    glClearNamedFramebufferuiv(framebuffer, GL_DEPTH, 0, (const GLuint[4]){0});
    errors("clear depth to integers");
    glClearNamedFramebufferfi(framebuffer, GL_COLOR, 0, 0, 0);
    errors("clear color to depth");
    glBlitNamedFramebuffer(framebuffer, 0, 0, 0, 1, 1, 0, 0, 1, 1, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    errors("blit without an attachment");
    glBlitNamedFramebuffer(0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, GL_NEAREST);
    errors("blit of no bit");
    note("status %04x", glCheckNamedFramebufferStatus(framebuffer, GL_RED));
    errors("status of red");
    glGetNamedFramebufferAttachmentParameteriv(framebuffer, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &value);
    note("name %d", value);
    errors("name of no attachment");
    value = -7;
    glGetNamedFramebufferAttachmentParameteriv(framebuffer, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL, &value);
    note("level %d", value);
    errors("level of no attachment");
    glGetNamedFramebufferAttachmentParameteriv(framebuffer, GL_BACK, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &value);
    errors("back of an object");
    glBegin(GL_POINTS);
    glNamedFramebufferDrawBuffer(framebuffer, GL_NONE);
    glClearNamedFramebufferfv(0, GL_COLOR, 0, (const GLfloat[4]){1, 1, 1, 1});
    glNamedRenderbufferStorage(renderbuffer, GL_RGBA8, 16, 16);
    GLenum status = glCheckNamedFramebufferStatus(0, GL_FRAMEBUFFER);
    glEnd();
    errors("between glBegin and glEnd");
    note("status %04x", status);
    glGetNamedRenderbufferParameteriv(renderbuffer, GL_RENDERBUFFER_WIDTH, &value);
    note("width %d", value);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    INTS(GL_DRAW_BUFFER0, 1);
}

CONFORM("dsa_framebuffers", COMPAT, {"drawn", drawn}, {"default_framebuffer", default_framebuffer}, {"refused", refused})
