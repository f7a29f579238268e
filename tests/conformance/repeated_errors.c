/* Commands that succeed, and later fail without a change of their own, because other state has
 * changed. glGetError reports each failure. */
#include "conform.h"

#define VERTEX "#version 150\nin vec4 place; void main() { gl_Position = place; gl_PointSize = 1.0; }"
#define FRAGMENT "#version 150\nout vec4 c; void main() { c = vec4(0.2, 0.5, 0.8, 1.0); }"

static const GLfloat corners[6][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, -1}, {1, 1}, {-1, 1}};

static void places(void)
{
    make_buffer(GL_ARRAY_BUFFER, sizeof corners, corners);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
}

static void draw(const char *when)
{
    /* Earlier errors are cleared, and the draw is repeated three times, because the client learns
     * from the first success. */
    errors("before");
    for (int i = 0; i < 3; i++) {
        glDrawArrays(GL_TRIANGLES, 0, 6);
        errors(when);
        glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, (const GLubyte[]){0, 1, 2});
        errors(when);
        glBegin(GL_TRIANGLES);
        glVertex2f(0, 0);
        glEnd();
        errors(when);
    }
}

static GLuint sampling(void)
{
    return build_program(VERTEX, "#version 150\nuniform sampler2D a; uniform sampler3D b; uniform int n; uniform sampler2D more[2]; out vec4 c;\n"
                                 "void main() { c = texture(a, vec2(0)) + texture(b, vec3(0)) + float(n) + texture(more[0], vec2(0)) + texture(more[1], vec2(0)); }");
}

/* Two samplers of different types on one unit. */
static void samplers(void)
{
    GLuint program = sampling();
    GLint a = glGetUniformLocation(program, "a"), b = glGetUniformLocation(program, "b"), n = glGetUniformLocation(program, "n");
    GLint more = glGetUniformLocation(program, "more");
    places();
    glUseProgram(program);
    draw("all on unit 0");
    for (int i = 0; i < 2; i++) {
        glUniform1i(a, 0);
        glUniform1i(b, 1);
        errors("b");
        draw("apart");
        glUniform1i(n, i);
        errors("n");
        draw("another number");
        glUniform1i(a, 1);
        errors("a");
        draw("together");
        glUniform1i(a, 0);
        errors("a");
        draw("apart again");
        glUniform1iv(more, 2, (const GLint[]){0, 1});
        errors("more");
        draw("one of an array");
        glUniform1iv(more, 2, (const GLint[]){0, 2});
        draw("no more");
        glProgramUniform1i(program, a, 1);
        draw("by the program's name");
        glProgramUniform1i(program, a, 0);
        draw("back by the program's name");
        glUniform1i(a, 4096);
        errors("no unit");
        glUniform1i(a, 0);
        errors("a");
        draw("after an error");
    }
    glLinkProgram(program);
    draw("linked again");
    glUniform1i(b, 1);
    draw("linked again, apart");
    glUniform1i(a, 1);
    draw("linked again, together");
}

/* A display list sets state that the client does not see. Setting the former value is then a
 * change. */
static void listed_samplers(void)
{
    GLuint program = sampling(), list = glGenLists(1);
    GLint a = glGetUniformLocation(program, "a"), b = glGetUniformLocation(program, "b"), more = glGetUniformLocation(program, "more");
    places();
    glUseProgram(program);
    glUniform1iv(more, 2, (const GLint[]){3, 4});
    glUniform1i(a, 0);
    glUniform1i(b, 1);
    glNewList(list, GL_COMPILE);
    glUniform1i(a, 2);
    glUniform1i(b, 0);
    glEndList();
    for (int i = 0; i < 2; i++) {
        draw("before the list");
        glCallList(list);
        glUseProgram(program);
        draw("after the list");
        glUniform1i(a, 0);
        draw("a as before");
        glUniform1i(b, 1);
        draw("b as before");
    }
}

/* The elements of an array of samplers, set together and one by one. */
static void sampler_arrays(void)
{
    GLuint program = sampling();
    GLint b = glGetUniformLocation(program, "b"), more = glGetUniformLocation(program, "more"), second = glGetUniformLocation(program, "more[1]");
    places();
    glUseProgram(program);
    glUniform1i(b, 2);
    for (int i = 0; i < 2; i++) {
        glUniform1iv(more, 2, (const GLint[]){0, 2});
        glUniform1i(second, 3);
        draw("the second by itself");
        glUniform1iv(more, 2, (const GLint[]){0, 3});
        draw("both");
        glUniform1iv(more, 2, (const GLint[]){0, 2});
        draw("both, on the other's unit");
        glUniform1iv(more, 1, (const GLint[]){1});
        draw("the first of them");
    }
}

static void uniforms(void)
{
    GLuint one = build_program(VERTEX, "#version 150\nuniform float f; uniform vec2 v[2]; uniform mat4 m; uniform int n; out vec4 c;\n"
                                       "void main() { c = m[0] + vec4(f, v[0], n) + vec4(v[1], 0, 0); }");
    GLuint two = build_program(VERTEX, "#version 150\nuniform vec2 f; out vec4 c; void main() { c = vec4(f, 0, 1); }");
    const GLfloat values[32] = {0};
    const GLint numbers[4] = {0};
    GLint f = glGetUniformLocation(one, "f"), v = glGetUniformLocation(one, "v"), m = glGetUniformLocation(one, "m"), n = glGetUniformLocation(one, "n");
    for (int i = 0; i < 12; i++) {
        glUseProgram(i % 4 == 1 ? two : i % 4 == 3 ? 0 : one);
        note("round %d", i);
        glUniform1f(f, 1);
        errors("1f");
        glUniform1fv(f, 1, values);
        errors("1fv");
        glUniform1fv(f, i == 4 ? 2 : 1, values);
        errors("1fv, more");
        glUniform2fv(v, i == 8 ? -1 : 2, values);
        errors("2fv");
        glUniform2i(v, 1, 1);
        errors("2i");
        glUniformMatrix4fv(m, 1, i & 1, values);
        errors("4fv");
        glUniformMatrix4fv(i == 9 ? f : m, 1, GL_FALSE, values);
        errors("4fv at another location");
        glUniform1i(n, 3);
        errors("1i");
        glUniform1iv(n, i == 8 ? 2 : 1, numbers);
        errors("1iv");
        glUniform1ui(n, 3);
        errors("1ui");
        glUniform1f(i == 10 ? 999 : -1, 0);
        errors("an invalid location");
    }
    glDeleteProgram(one);
    glUniform1f(f, 1);
    errors("of a program that is deleted later");
}

/* The draw framebuffer loses an image, gets an unsuitable image, or is replaced by another
 * framebuffer. */
static void attachments(void)
{
    GLuint framebuffers[2], textures[2], renderbuffers[2];
    glGenFramebuffers(2, framebuffers);
    glGenTextures(2, textures);
    glGenRenderbuffers(2, renderbuffers);
    GLuint program = build_program(VERTEX, FRAGMENT);
    places();
    for (int i = 0; i < 2; i++) {
        glBindTexture(GL_TEXTURE_2D, textures[i]);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[i]);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, 32, 32);
    }
#define LOOK(when)                                                                                                                                    \
    for (int twice = 0; twice < 2; twice++) {                                                                                                         \
        GLint type = -1, size = -1;                                                                                                                   \
        note("%s: status %04x", when, glCheckFramebufferStatus(GL_FRAMEBUFFER));                                                                      \
        errors(when);                                                                                                                                 \
        glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &type);                    \
        errors(when);                                                                                                                                 \
        glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_WIDTH, &size);                                                                  \
        errors(when);                                                                                                                                 \
        note("type %04x, width %d", type, size);                                                                                                      \
        glClear(GL_COLOR_BUFFER_BIT);                                                                                                                 \
        errors("clear");                                                                                                                              \
    }                                                                                                                                                 \
    draw(when)
    glUseProgram(program);
    for (int round = 0; round < 2; round++) {
        note("round %d", round);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
        LOOK("as it was");
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[0], 0);
        errors("attach");
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[0], 0);
        errors("attach again");
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, renderbuffers[0]);
        errors("attach depth");
        LOOK("whole");
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[0], 1);
        errors("another level");
        LOOK("another level");
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[0], 0);
        LOOK("whole again");
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_3D, textures[0], 0);
        errors("not of that target");
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[0], 0);
        errors("attach after an error");
        glBindTexture(GL_TEXTURE_2D, textures[0]);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB9_E5, 32, 32, 0, GL_RGB, GL_FLOAT, NULL);
        LOOK("not to be drawn to");
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        LOOK("to be drawn to again");
        glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[0]);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 16, 16);
        errors("storage");
        LOOK("no depth");
        glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, 32, 32);
        LOOK("depth again");
        glNamedFramebufferTexture(framebuffers[0], GL_COLOR_ATTACHMENT0, textures[0], 1);
        errors("by name");
        LOOK("by name");
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[0], 0);
        LOOK("as before it was done by name");
        /* Another image is attached by name, while the previous image becomes unsuitable. */
        glNamedFramebufferTexture(framebuffers[0], GL_COLOR_ATTACHMENT0, textures[1], 0);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB9_E5, 32, 32, 0, GL_RGB, GL_FLOAT, NULL);
        draw("another by name");
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[0], 0);
        draw("what is unfit by now");
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        LOOK("fit again");
        glDrawBuffer(GL_COLOR_ATTACHMENT1);
        LOOK("draw buffer");
        glDrawBuffer(GL_NONE);
        LOOK("no draw buffer");
        glDrawBuffer(GL_COLOR_ATTACHMENT0);
        LOOK("draw buffer again");
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[1]);
        LOOK("another one");
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
        LOOK("the first one");
        /* A deleted texture is detached from the bound framebuffer only. Its name may be used
         * again. */
        glDeleteTextures(1, textures);
        LOOK("deleted");
        glGenTextures(1, textures);
        glBindTexture(GL_TEXTURE_2D, textures[0]);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[0], 0);
        errors("without an image");
        LOOK("without an image");
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        LOOK("with an image");
        glDeleteRenderbuffers(1, renderbuffers);
        LOOK("without depth");
        glGenRenderbuffers(1, renderbuffers);
        glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[0]);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, 32, 32);
        glDeleteFramebuffers(1, framebuffers);
        LOOK("the window's");
        glGenFramebuffers(1, framebuffers);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

/* A framebuffer that needs no image, and another framebuffer with the same name that does. */
static void no_attachments(void)
{
    GLuint framebuffer;
    if (!need_version(4, 3))
        return;
    glUseProgram(build_program(VERTEX, FRAGMENT));
    places();
    glGenFramebuffers(1, &framebuffer);
    for (int i = 0; i < 2; i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, 16);
        glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_HEIGHT, 16);
        draw("with a size");
        glDeleteFramebuffers(1, &framebuffer);
        glGenFramebuffers(1, &framebuffer);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        draw("without");
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

/* Another context of the share group changes objects that this context uses. */
static void company(void)
{
    GLXContext mine = glXGetCurrentContext(), other = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, mine, True);
    GLXDrawable drawable = glXGetCurrentDrawable();
    struct window window = open_window(default_config(), 0, SIZE, SIZE);
    GLuint framebuffer, texture, depth, program = sampling();
    GLint a = glGetUniformLocation(program, "a"), b = glGetUniformLocation(program, "b"), more = glGetUniformLocation(program, "more");
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glGenRenderbuffers(1, &depth);
    glBindRenderbuffer(GL_RENDERBUFFER, depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, 32, 32);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth);
    places();
    glUseProgram(program);
    glUniform1iv(more, 2, (const GLint[]){3, 4});
    glUniform1i(a, 0);
    glUniform1i(b, 1);
    for (int i = 0; i < 2; i++) {
        draw("alone");
        glXMakeCurrent(display, window.id, other);
        glBindTexture(GL_TEXTURE_2D, texture);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB9_E5, 32, 32, 0, GL_RGB, GL_FLOAT, NULL);
        glXMakeCurrent(display, drawable, mine);
        draw("not to be drawn to");
        glXMakeCurrent(display, window.id, other);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        glXMakeCurrent(display, drawable, mine);
        draw("to be drawn to again");
        if (has_version(4, 5)) {
            glXMakeCurrent(display, window.id, other);
            glNamedRenderbufferStorage(depth, GL_RGBA8, 32, 32);
            glXMakeCurrent(display, drawable, mine);
            draw("no depth");
            glXMakeCurrent(display, window.id, other);
            glNamedRenderbufferStorage(depth, GL_DEPTH_COMPONENT24, 32, 32);
            glXMakeCurrent(display, drawable, mine);
            draw("depth again");
        }
        glXMakeCurrent(display, window.id, other);
        glUseProgram(program);
        glUniform1i(b, 0);
        glXMakeCurrent(display, drawable, mine);
        draw("samplers together");
        glUniform1i(b, 1);
        draw("samplers apart");
        glXMakeCurrent(display, window.id, other);
        glLinkProgram(program);
        errors("linked by the other");
        glXMakeCurrent(display, drawable, mine);
        glUseProgram(program);
        draw("linked anew");
        glUniform1iv(more, 2, (const GLint[]){3, 4});
        glUniform1i(b, 1);
        draw("linked anew, apart");
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glXDestroyContext(display, other);
    close_window(&window);
}

static void blits(void)
{
    GLuint framebuffers[2], renderbuffers[2];
    glGenFramebuffers(2, framebuffers);
    glGenRenderbuffers(2, renderbuffers);
    for (int i = 0; i < 2; i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[i]);
        glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[i]);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 16, 16);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffers[i]);
        glClearColor(0.3f * (float)i, 0.5f, 0.2f, 1);
        glClear(GL_COLOR_BUFFER_BIT);
    }
#define BLIT(when)                                                                                                                                    \
    errors("before");                                                                                                                                 \
    for (int twice = 0; twice < 2; twice++) {                                                                                                         \
        glBlitFramebuffer(0, 0, 16, 16, 0, 0, 16, 16, GL_COLOR_BUFFER_BIT, GL_NEAREST);                                                               \
        errors(when);                                                                                                                                 \
    }
    for (int i = 0; i < 2; i++) {
        glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[0]);
        glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffers[1]);
        BLIT("from one to the other");
        glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[0]);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8UI, 16, 16);
        BLIT("from integers");
        glRenderbufferStorageMultisample(GL_RENDERBUFFER, 4, GL_RGBA8, 16, 16);
        BLIT("from samples");
        glBlitFramebuffer(0, 0, 16, 16, 0, 0, 8, 16, GL_COLOR_BUFFER_BIT, GL_NEAREST);
        errors("from samples, stretched");
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 16, 16);
        BLIT("as before");
        glFramebufferRenderbuffer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, 0);
        BLIT("from nothing");
        glFramebufferRenderbuffer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffers[0]);
        BLIT("from something");
        glReadBuffer(GL_NONE);
        BLIT("read buffer");
        glReadBuffer(GL_COLOR_ATTACHMENT0);
        glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
        BLIT("to the window");
        glBlitFramebuffer(0, 0, 16, 16, 0, 0, 16, 16, GL_COLOR_BUFFER_BIT, GL_RGBA);
        errors("filter");
        glBlitFramebuffer(0, 0, 16, 16, 0, 0, 16, 16, 0x80, GL_NEAREST);
        errors("mask");
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

/* Two sources for more than one buffer. */
static void two_sources(void)
{
    places();
    glUseProgram(build_program(VERTEX, FRAGMENT));
    for (int i = 0; i < 2; i++) {
        glBlendFunc(GL_SRC1_COLOR, GL_ONE);
        glDrawBuffer(GL_FRONT_AND_BACK);
        draw("two sources");
        glDrawBuffer(GL_BACK);
        draw("two sources for one buffer");
        glBlendFunc(GL_ONE, GL_ZERO);
    }
}

static void circumstances(void)
{
    places();
    GLuint plain = build_program(VERTEX, FRAGMENT);
    GLuint points = STAGES(.vertex = VERTEX,
                           .geometry = "#version 150\nlayout(points) in; layout(points, max_vertices = 1) out;\n"
                                       "void main() { gl_Position = gl_in[0].gl_Position; gl_PointSize = 1.0; EmitVertex(); }",
                           .fragment = FRAGMENT);
    static const char *const captured[] = {"gl_Position"};
    GLuint captures = STAGES(.vertex = VERTEX, .fragment = FRAGMENT, .captured = captured, .captured_count = 1, .capture_mode = GL_INTERLEAVED_ATTRIBS);
    for (int i = 0; i < 2; i++) {
        glUseProgram(plain);
        draw("a program");
        glUseProgram(points);
        draw("that takes points");
        glDrawArrays(GL_POINTS, 0, 6);
        errors("points");
        glUseProgram(0);
        draw("no program");
        glUseProgram(captures);
        draw("a program that could capture");
        GLuint results = make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 4096, NULL);
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, results);
        glBeginTransformFeedback(GL_LINES);
        errors("feedback begins");
        draw("while lines are captured");
        glPauseTransformFeedback();
        draw("paused");
        glResumeTransformFeedback();
        draw("resumed");
        glEndTransformFeedback();
        draw("captured");
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
        /* Assembly programs are enabled, but none is bound. */
        glUseProgram(0);
        glEnable(GL_VERTEX_PROGRAM_ARB);
        draw("no vertex program");
        glDisable(GL_VERTEX_PROGRAM_ARB);
        draw("needs none");
        glEnable(GL_FRAGMENT_PROGRAM_ARB);
        draw("no fragment program");
        glPushAttrib(GL_ENABLE_BIT);
        glDisable(GL_FRAGMENT_PROGRAM_ARB);
        draw("disabled");
        glPopAttrib();
        draw("enabled by glPopAttrib");
        glDisable(GL_FRAGMENT_PROGRAM_ARB);
        if (has_extension("GL_ATI_fragment_shader")) {
            glEnable(GL_FRAGMENT_SHADER_ATI);
            draw("no fragment shader");
            glDisable(GL_FRAGMENT_SHADER_ATI);
        }
        glUseProgram(plain);
        glBlendFunc(GL_SRC1_COLOR, GL_ONE);
        draw("two sources for one buffer");
        glBlendFunc(GL_ONE, GL_ZERO);
        if (has_extension("GL_KHR_blend_equation_advanced")) {
            glEnable(GL_BLEND);
            glBlendEquation(GL_MULTIPLY_KHR);
            draw("an equation that the shader does not name");
            glBlendEquation(GL_FUNC_ADD);
            draw("a plain equation");
            glDisable(GL_BLEND);
        }
        /* The buffer is mapped. */
        glMapBuffer(GL_ARRAY_BUFFER, GL_READ_WRITE);
        draw("mapped");
        glUnmapBuffer(GL_ARRAY_BUFFER);
        draw("not mapped");
        glDrawArrays(GL_TRIANGLES, 0, -1);
        errors("count");
        glDrawArrays(GL_TRIANGLES, -1, 3);
        errors("first");
        glDrawElements(GL_TRIANGLES, 3, GL_FLOAT, corners);
        errors("type");
        glDrawRangeElements(GL_TRIANGLES, 2, 1, 3, GL_UNSIGNED_BYTE, (const GLubyte[]){0, 1, 2});
        errors("range");
        glDrawArrays(GL_PATCHES, 0, 3);
        errors("patches");
        glDrawArrays(99, 0, 3);
        errors("mode");
        glClear(GL_COLOR_BUFFER_BIT);
        errors("clear");
        glClear(1);
        errors("clear an undefined bit");
        draw("after errors");
    }
}

/* Draws from the program's memory fail in the same way. */
static void memory(void)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glEnableClientState(GL_VERTEX_ARRAY);
    glVertexPointer(2, GL_FLOAT, 0, corners);
    for (int i = 0; i < 3; i++) {
        draw("to the window");
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        draw("to nothing");
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
    }
}

static void images(void)
{
    unsigned char texels[64 * 4] = {0};
    GLuint textures[2], buffer;
    glGenTextures(2, textures);
#define FILL(when)                                                                                                                                    \
    errors("before");                                                                                                                                 \
    for (int twice = 0; twice < 3; twice++) {                                                                                                         \
        glTexSubImage2D(GL_TEXTURE_2D, 0, 2, 2, 6, 6, GL_RGBA, GL_UNSIGNED_BYTE, texels);                                                             \
        errors(when);                                                                                                                                 \
        glTexSubImage2D(GL_TEXTURE_2D, 1, 0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, texels);                                                             \
        errors(when);                                                                                                                                 \
    }
    for (int i = 0; i < 2; i++) {
        glBindTexture(GL_TEXTURE_2D, textures[0]);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        errors("image");
        FILL("eight by eight");
        glTexImage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        FILL("two levels");
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        FILL("four by four");
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8UI, 8, 8, 0, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, NULL);
        FILL("integers");
        glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT, 8, 8, 0, GL_DEPTH_COMPONENT, GL_FLOAT, NULL);
        FILL("depth");
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        FILL("as before");
        glBindTexture(GL_TEXTURE_2D, textures[1]);
        FILL("another texture");
        glBindTexture(GL_TEXTURE_2D, textures[0]);
        FILL("the first one");
        glActiveTexture(GL_TEXTURE1);
        FILL("another unit");
        glActiveTexture(GL_TEXTURE0);
        buffer = make_buffer(GL_PIXEL_UNPACK_BUFFER, 16, NULL);
        for (int twice = 0; twice < 2; twice++) {
            glTexSubImage2D(GL_TEXTURE_2D, 0, 2, 2, 6, 6, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
            errors("from a buffer that is too short");
        }
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
        FILL("from memory");
        glDeleteBuffers(1, &buffer);
        glDeleteTextures(1, textures);
        FILL("deleted");
        glGenTextures(1, textures);
    }
}

CONFORM("repeated_errors", COMPAT, {"samplers", samplers}, {"listed_samplers", listed_samplers}, {"sampler_arrays", sampler_arrays}, {"uniforms", uniforms}, {"attachments", attachments}, {"no_attachments", no_attachments}, {"company", company}, {"blits", blits}, {"circumstances", circumstances}, {"two_sources", two_sources},
        {"memory", memory}, {"images", images})
