/* Framebuffer objects: drawing to textures and renderbuffers, drawing to several at once, blits,
 * multisampling, and reading back. */
#include "conform.h"

static GLuint texture_of(GLenum internal, int width, int height)
{
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)internal, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    return texture;
}

static GLuint renderbuffer_of(GLenum internal, int samples, int width, int height)
{
    GLuint renderbuffer;
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    if (samples)
        glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, internal, width, height);
    else
        glRenderbufferStorage(GL_RENDERBUFFER, internal, width, height);
    return renderbuffer;
}

static const char *status_name(GLenum status)
{
    switch (status) {
    case GL_FRAMEBUFFER_COMPLETE: return "complete";
    case GL_FRAMEBUFFER_INCOMPLETE_ATTACHMENT: return "incomplete attachment";
    case GL_FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT: return "missing attachment";
    case GL_FRAMEBUFFER_INCOMPLETE_DRAW_BUFFER: return "incomplete draw buffer";
    case GL_FRAMEBUFFER_INCOMPLETE_READ_BUFFER: return "incomplete read buffer";
    case GL_FRAMEBUFFER_INCOMPLETE_MULTISAMPLE: return "incomplete multisample";
    case GL_FRAMEBUFFER_UNSUPPORTED: return "unsupported";
    case GL_FRAMEBUFFER_UNDEFINED: return "undefined";
    default: return status ? "another" : "error";
    }
}

static void log_status(const char *what)
{
    note("%s: %s", what, status_name(glCheckFramebufferStatus(GL_FRAMEBUFFER)));
}

static GLuint new_framebuffer(void)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    return framebuffer;
}

static void star(void)
{
    for (int i = 0; i < 12; i++) {
        color_of(i);
        glPushMatrix();
        glRotatef(30 * (float)i, 0, 0, 1);
        glRotatef(25, 0, 1, 0);
        glRectf(0.1f, -0.15f, 0.95f, 0.15f);
        glPopMatrix();
    }
}

static void into_texture(void)
{
    if (!need_version(3, 0))
        return;
    GLuint framebuffer = new_framebuffer(), texture = texture_of(GL_RGBA8, 128, 128);
    log_status("empty");
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, renderbuffer_of(GL_DEPTH24_STENCIL8, 0, 128, 128));
    log_status("with attachments");
    BOUND(GL_FRAMEBUFFER_BINDING, framebuffer);
    INTS(GL_DRAW_BUFFER, 1);
    INTS(GL_READ_BUFFER, 1);
    INTS(GL_DEPTH_BITS, 1);
    INTS(GL_STENCIL_BITS, 1);
    glViewport(0, 0, 128, 128);
    glClearColor(0.1f, 0.2f, 0.3f, 0.5f);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_STENCIL_TEST);
    glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
    glStencilFunc(GL_ALWAYS, 0, 255);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    star();
    unsigned char pixels[64 * 64 * 4], stencils[64 * 64];
    glReadPixels(32, 32, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes("pixels", pixels, sizeof pixels);
    glReadPixels(32, 32, 64, 64, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, stencils);
    note_bytes("stencils", stencils, sizeof stencils);
    picture_of("inside", GL_COLOR_ATTACHMENT0, 128, 128);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_STENCIL_TEST);
    glViewport(0, 0, SIZE, SIZE);
    glColor3f(1, 1, 1);
    glEnable(GL_TEXTURE_2D);
    square(0.9f);
    errors("into texture");
    glDeleteFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, 0xABCD);
    errors("a name of the program's own");
    note("is a framebuffer: %d", glIsFramebuffer(framebuffer));
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

static void several_targets(void)
{
    GLuint textures[4];
    if (!need_version(3, 0))
        return;
    INTS(GL_MAX_COLOR_ATTACHMENTS, 1);
    INTS(GL_MAX_DRAW_BUFFERS, 1);
    new_framebuffer();
    static const GLenum formats[] = {GL_RGBA8, GL_RGB8, GL_RGBA16F, GL_R8};
    static const GLenum buffers[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1, GL_COLOR_ATTACHMENT3, GL_COLOR_ATTACHMENT2};
    for (int i = 0; i < 4; i++) {
        textures[i] = texture_of(formats[i], 64, 64);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + (GLenum)i, GL_TEXTURE_2D, textures[i], 0);
    }
    log_status("four");
    glDrawBuffers(4, buffers);
    INTS(GL_DRAW_BUFFER0, 1);
    INTS(GL_DRAW_BUFFER2, 1);
    GLuint program = build_program("#version 130\nout vec2 at; void main() { gl_Position = gl_Vertex; at = gl_Vertex.xy; }",
                                   "#version 130\nin vec2 at; void main() { gl_FragData[0] = vec4(at, 1.0, 1.0); gl_FragData[1] = vec4(1.0 - at, 0.5, 1.0);\n"
                                   "gl_FragData[2] = vec4(abs(at.x)); gl_FragData[3] = vec4(at.y * 2.0, at.x * 3.0, 0.2, 1.0); }");
    glUseProgram(program);
    glViewport(0, 0, 64, 64);
    square(1);
    glEnablei(GL_BLEND, 1);
    glBlendFunc(GL_ONE, GL_ONE);
    glColorMaski(0, 1, 0, 1, 1);
    square(0.5f);
    for (GLuint i = 0; i < 3; i++)
        note("blend %d, mask %d", glIsEnabledi(GL_BLEND, i), glIsEnabledi(GL_BLEND, i));
    glDisable(GL_BLEND);
    glColorMask(1, 1, 1, 1);
    glClearBufferfv(GL_COLOR, 2, (const GLfloat[]){0.3f, 0.3f, 0.3f, 1});
    for (int i = 0; i < 4; i++) {
        GLfloat pixels[64 * 64 * 4];
        glReadBuffer(GL_COLOR_ATTACHMENT0 + (GLenum)i);
        glReadPixels(0, 0, 64, 64, GL_RGBA, GL_FLOAT, pixels);
        note_bytes("attachment", pixels, sizeof pixels);
    }
    glUseProgram(0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glEnable(GL_TEXTURE_2D);
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        glBindTexture(GL_TEXTURE_2D, textures[i]);
        square(0.95f);
    }
    errors("several targets");
}

static void blits(void)
{
    GLuint source;
    if (!need_version(3, 0))
        return;
    source = new_framebuffer();
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_of(GL_RGBA8, 100, 100), 0);
    glViewport(0, 0, 100, 100);
    glClear(GL_COLOR_BUFFER_BIT);
    star();
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    BOUND(GL_READ_FRAMEBUFFER_BINDING, source);
    BOUND(GL_DRAW_FRAMEBUFFER_BINDING, 0);
    glBlitFramebuffer(0, 0, 100, 100, 10, 10, 110, 110, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBlitFramebuffer(0, 0, 100, 100, 120, 10, 250, 60, GL_COLOR_BUFFER_BIT, GL_LINEAR);
    glBlitFramebuffer(20, 20, 80, 80, 250, 70, 120, 130, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBlitFramebuffer(0, 0, 100, 100, 10, 250, 110, 120, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glEnable(GL_SCISSOR_TEST);
    glScissor(130, 140, 60, 200);
    glBlitFramebuffer(-50, -50, 150, 150, 120, 140, 250, 250, GL_COLOR_BUFFER_BIT, GL_LINEAR);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glBlitFramebuffer(10, 10, 60, 60, 200, 200, 250, 250, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    errors("blits");
    glBlitFramebuffer(0, 0, 1, 1, 0, 0, 1, 1, GL_COLOR_BUFFER_BIT, GL_LINEAR_MIPMAP_LINEAR);
    errors("filter");
    glBlitFramebuffer(0, 0, 1, 1, 0, 0, 1, 1, GL_ACCUM_BUFFER_BIT, GL_NEAREST);
    errors("buffer");
    glBlitFramebuffer(0, 0, 1, 1, 0, 0, 1, 1, GL_DEPTH_BUFFER_BIT, GL_LINEAR);
    errors("filtered depth");
}

static void samples(void)
{
    if (!need_version(3, 0))
        return;
    INTS(GL_MAX_SAMPLES, 1);
    new_framebuffer();
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer_of(GL_RGBA8, 4, SIZE, SIZE));
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, renderbuffer_of(GL_DEPTH_COMPONENT24, 4, SIZE, SIZE));
    log_status("samples");
    INTS(GL_SAMPLES, 1);
    INTS(GL_SAMPLE_BUFFERS, 1);
    glEnable(GL_DEPTH_TEST);
    glClearColor(0.2f, 0.2f, 0.2f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_MULTISAMPLE);
    star();
    glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    glColor4f(1, 1, 1, 0.4f);
    glDisable(GL_DEPTH_TEST);
    glRectf(-0.9f, -0.9f, -0.5f, 0.9f);
    glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    glEnable(GL_SAMPLE_COVERAGE);
    glSampleCoverage(0.5f, GL_TRUE);
    glRectf(0.5f, -0.9f, 0.9f, 0.9f);
    glDisable(GL_SAMPLE_COVERAGE);
    unsigned char pixel[4];
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    errors("reading samples");
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    errors("samples");
}

static void layers_and_levels(void)
{
    GLuint cube, volume;
    if (!need_version(3, 0))
        return;
    new_framebuffer();
    glGenTextures(1, &cube);
    glBindTexture(GL_TEXTURE_CUBE_MAP, cube);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAX_LEVEL, 2);
    for (GLenum face = 0; face < 6; face++)
        for (int level = 0; level < 3; level++)
            glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, level, GL_RGBA8, 32 >> level, 32 >> level, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    for (GLenum face = 0; face < 6; face++) {
        for (int level = 0; level < 3; level++) {
            glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, cube, level);
            float rgb[3];
            hue((float)(face * 3 + (unsigned)level) / 18, rgb);
            glClearColor(rgb[0], rgb[1], rgb[2], 1);
            glClear(GL_COLOR_BUFFER_BIT);
        }
    }
    log_status("face");
    glGenTextures(1, &volume);
    glBindTexture(GL_TEXTURE_3D, volume);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 16, 16, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    for (int layer = 0; layer < 4; layer++) {
        glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, volume, 0, layer);
        glClearColor((float)layer / 4, 1, 0, 1);
        glClear(GL_COLOR_BUFFER_BIT);
    }
    GLint values[4] = {-1, -1, -1, -1};
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &values[0]);
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER, &values[1]);
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE, &values[2]);
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &values[3]);
    note_ints("type, layer, red, type of depth", values, 4);
    unsigned char back[32 * 32 * 4];
    for (GLenum face = 0; face < 6; face++) {
        glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 1, GL_RGBA, GL_UNSIGNED_BYTE, back);
        note_bytes("level 1", back, 16 * 16 * 4);
    }
    glGetTexImage(GL_TEXTURE_3D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
    note_bytes("volume", back, sizeof back);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    no_picture();
    errors("layers and levels");
}

static void incomplete(void)
{
    if (!need_version(3, 0))
        return;
    no_picture();
    log_status("window");
    new_framebuffer();
    GLuint small = texture_of(GL_RGBA8, 16, 16), none;
    glGenTextures(1, &none);
    glBindTexture(GL_TEXTURE_2D, none);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, none, 0);
    log_status("a texture without an image");
    glClear(GL_COLOR_BUFFER_BIT);
    errors("clear of an incomplete one");
    glRectf(0, 0, 1, 1);
    errors("drawing into an incomplete one");
    unsigned char pixel[4];
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    errors("reading an incomplete one");
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, small, 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, renderbuffer_of(GL_RGBA8, 0, 16, 16));
    log_status("colours as depth");
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_RENDERBUFFER, renderbuffer_of(GL_RGBA8, 4, 16, 16));
    log_status("different samples");
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_RENDERBUFFER, 0);
    glDrawBuffer(GL_COLOR_ATTACHMENT2);
    log_status("nothing to draw to");
    glDrawBuffer(GL_NONE);
    log_status("no draw buffer");
    errors("incomplete");
    glDrawBuffer(GL_BACK);
    errors("back buffer of an object");
    glReadBuffer(GL_FRONT);
    errors("front buffer of an object");
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_3D, small, 0);
    errors("target");
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + 30, GL_TEXTURE_2D, small, 0);
    errors("attachment 30");
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 1 << 20, 1);
    errors("too wide");
    glRenderbufferStorage(GL_RENDERBUFFER, GL_LUMINANCE_ALPHA, 1, 1);
    errors("format");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, small, 0);
    errors("attached to the window");
}

static void renderbuffers(void)
{
    static const GLenum formats[] = {GL_RGBA8, GL_RGB565, GL_RGBA4, GL_DEPTH_COMPONENT16, GL_DEPTH24_STENCIL8, GL_STENCIL_INDEX8, GL_RGBA16F, GL_R8, GL_SRGB8_ALPHA8};
    static const GLenum names[] = {GL_RENDERBUFFER_WIDTH, GL_RENDERBUFFER_HEIGHT, GL_RENDERBUFFER_INTERNAL_FORMAT, GL_RENDERBUFFER_SAMPLES,
                                   GL_RENDERBUFFER_RED_SIZE, GL_RENDERBUFFER_ALPHA_SIZE, GL_RENDERBUFFER_DEPTH_SIZE, GL_RENDERBUFFER_STENCIL_SIZE};
    if (!need_version(3, 0))
        return;
    no_picture();
    for (int i = 0; i < 9; i++) {
        GLint values[8];
        GLuint name = renderbuffer_of(formats[i], i % 2 ? 0 : 4, 20 + i, 10);
        for (int n = 0; n < 8; n++)
            glGetRenderbufferParameteriv(GL_RENDERBUFFER, names[n], &values[n]);
        note_ints("renderbuffer", values, 8);
        note("is one: %d", glIsRenderbuffer(name));
        glDeleteRenderbuffers(1, &name);
        BOUND(GL_RENDERBUFFER_BINDING, 0);
    }
    errors("renderbuffers");
}

CONFORM("framebuffers", COMPAT, {"into_texture", into_texture}, {"several_targets", several_targets}, {"blits", blits}, {"samples", samples},
        {"layers_and_levels", layers_and_levels}, {"incomplete", incomplete}, {"renderbuffers", renderbuffers})
