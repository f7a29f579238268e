/* Frames that check for errors after every command, as debug builds of many engines do.
 * tests/harness counts the waits. */
#include "conform.h"

#include <stdlib.h>
#include <unistd.h>

#define CHECKED(call)                                                                                                                                 \
    call;                                                                                                                                             \
    if (glGetError() != GL_NO_ERROR)                                                                                                                  \
    note("%s failed", #call)

static const GLfloat corners[4][2] = {{-0.8f, -0.8f}, {0.8f, -0.8f}, {0.8f, 0.8f}, {-0.8f, 0.8f}};

/* A program draws a picture into a texture, another program draws the texture into the window, and
 * fixed function draws over it. */
static void frames(int count)
{
    static const char vertex[] = "#version 150\nin vec2 place; uniform float turn; out vec2 at;\n"
                                 "void main() { at = place * 0.5 + 0.5; gl_Position = vec4(place * cos(turn), 0, 1); }";
    GLuint inner = build_program(vertex, "#version 150\nin vec2 at; uniform vec4 tint; out vec4 c; void main() { c = tint * vec4(at, 1, 1); }");
    GLuint outer = build_program(vertex, "#version 150\nin vec2 at; uniform sampler2D image; uniform sampler2D mask; out vec4 c;\n"
                                         "void main() { c = texture(image, at) * texture(mask, at); }");
    GLint turn[] = {glGetUniformLocation(inner, "turn"), glGetUniformLocation(outer, "turn")}, tint = glGetUniformLocation(inner, "tint");
    GLint image = glGetUniformLocation(outer, "image"), mask = glGetUniformLocation(outer, "mask");
    GLuint textures[2], framebuffer, depth, buffer;
    unsigned char squares[32 * 32 * 4];
    checkerboard(squares, 32, 32, 4);
    glGenTextures(2, textures);
    for (int i = 0; i < 2; i++) {
        glBindTexture(GL_TEXTURE_2D, textures[i]);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, squares);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    }
    glGenRenderbuffers(1, &depth);
    glBindRenderbuffer(GL_RENDERBUFFER, depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, 32, 32);
    glGenFramebuffers(1, &framebuffer);
    buffer = make_buffer(GL_ARRAY_BUFFER, sizeof corners, corners);
    for (int frame = 0; frame < count; frame++) {
        GLint width = 0;
        CHECKED(glBindFramebuffer(GL_FRAMEBUFFER, framebuffer));
        CHECKED(glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[0], 0));
        CHECKED(glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth));
        CHECKED(GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER));
        CHECKED(glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_WIDTH, &width));
        if (status != GL_FRAMEBUFFER_COMPLETE || width != 32)
            note("status %04x, width %d", status, width);
        CHECKED(glViewport(0, 0, 32, 32));
        CHECKED(glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT));
        CHECKED(glUseProgram(inner));
        CHECKED(glUniform1f(turn[0], 0.1f * (float)frame));
        CHECKED(glUniform4f(tint, 1, (float)(frame % 4) / 4, 0.5f, 1));
        CHECKED(glBindBuffer(GL_ARRAY_BUFFER, buffer));
        CHECKED(glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof corners, corners));
        CHECKED(glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL));
        CHECKED(glEnableVertexAttribArray(0));
        CHECKED(glDrawArrays(GL_TRIANGLE_FAN, 0, 4));
        CHECKED(glBindFramebuffer(GL_FRAMEBUFFER, 0));
        CHECKED(glViewport(0, 0, SIZE, SIZE));
        CHECKED(glClear(GL_COLOR_BUFFER_BIT));
        CHECKED(glUseProgram(outer));
        CHECKED(glActiveTexture(GL_TEXTURE1));
        CHECKED(glBindTexture(GL_TEXTURE_2D, textures[1]));
        CHECKED(glTexSubImage2D(GL_TEXTURE_2D, 0, 4, 4, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, squares));
        CHECKED(glActiveTexture(GL_TEXTURE0));
        CHECKED(glBindTexture(GL_TEXTURE_2D, textures[0]));
        CHECKED(glUniform1i(image, 0));
        CHECKED(glUniform1i(mask, 1));
        CHECKED(glUniform1f(turn[1], 0.05f * (float)frame));
        CHECKED(glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, (const GLubyte[]){0, 1, 2, 0, 2, 3}));
        CHECKED(glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer));
        CHECKED(glBlitFramebuffer(0, 0, 32, 32, 0, 0, 32, 32, GL_COLOR_BUFFER_BIT, GL_NEAREST));
        CHECKED(glBindFramebuffer(GL_FRAMEBUFFER, 0));
        CHECKED(glUseProgram(0));
        CHECKED(glDisableVertexAttribArray(0));
        CHECKED(glPushAttrib(GL_ENABLE_BIT));
        CHECKED(glEnable(GL_BLEND));
        CHECKED(glBlendFunc(GL_ONE, GL_ONE));
        glBegin(GL_TRIANGLES);
        glColor3f(0.2f, 0.1f, 0);
        for (int i = 0; i < 3; i++)
            glVertex2fv(corners[i]);
        CHECKED(glEnd());
        CHECKED(glPopAttrib());
        CHECKED(glFlush());
    }
}

static void few(void)
{
    frames(5);
}

static void many(void)
{
    frames(50);
}

/* Commands whose errors are all known before they are sent: new objects in each frame, and current
 * attributes. */
static void changes(int count)
{
    unsigned char squares[32 * 32 * 4];
    checkerboard(squares, 32, 32, 4);
    for (int frame = 0; frame < count; frame++) {
        GLuint texture, others[4];
        CHECKED(glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT));
        CHECKED(glGenTextures(1, &texture));
        CHECKED(glBindTexture(GL_TEXTURE_2D, texture));
        CHECKED(glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 1 + frame % 32, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, squares));
        CHECKED(glTexImage2D(GL_TEXTURE_2D, 1, GL_RGB, 8, 1 + frame % 8, 0, GL_RGB, GL_UNSIGNED_BYTE, NULL));
        CHECKED(glVertexAttrib4f(1 + (GLuint)frame % 15, 1, 0.5f, 0, 1));
        CHECKED(glVertexAttrib2f(2, (GLfloat)frame, 1));
        CHECKED(glVertexAttrib3f(3, 1, 2, (GLfloat)frame));
        CHECKED(glVertexAttrib4Nub(4, 1, 2, 3, (GLubyte)frame));
        CHECKED(glVertexAttribI4i(5, 1, 2, 3, frame));
        CHECKED(glVertexAttribI2ui(6, 1, (GLuint)frame));
        CHECKED(glMultiTexCoord2f(GL_TEXTURE1, 1, (GLfloat)frame));
        CHECKED(glColor4ub(255, 255, (GLubyte)frame, 255));
        CHECKED(glGenFramebuffers(1, &others[0]));
        CHECKED(glGenRenderbuffers(1, &others[1]));
        CHECKED(glGenVertexArrays(1, &others[2]));
        CHECKED(glGenQueries(1, &others[3]));
        CHECKED(glClear(GL_DEPTH_BUFFER_BIT));
        CHECKED(glDeleteFramebuffers(1, &others[0]));
        CHECKED(glDeleteRenderbuffers(1, &others[1]));
        CHECKED(glDeleteVertexArrays(1, &others[2]));
        CHECKED(glDeleteQueries(1, &others[3]));
        CHECKED(glDeleteTextures(1, &texture));
    }
}

static void few_changes(void)
{
    changes(5);
}

static void many_changes(void)
{
    changes(50);
}

/* Lists of state and draws. Old games call hundreds of them. */
static void listed(int count)
{
    GLuint list = glGenLists(2);
    glNewList(list, GL_COMPILE);
    glPushMatrix();
    glTranslatef(0.1f, 0, 0);
    glColor3f(1, 0.5f, 0);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; i++)
        glVertex2fv(corners[i]);
    glEnd();
    glPopMatrix();
    glEndList();
    glNewList(list + 1, GL_COMPILE);
    glEnable(GL_BLEND);
    glCallList(list);
    glDisable(GL_BLEND);
    glEndList();
    for (int frame = 0; frame < count; frame++) {
        CHECKED(glClear(GL_COLOR_BUFFER_BIT));
        CHECKED(glCallList(list));
        CHECKED(glCallList(list + 1));
        CHECKED(glCallLists(2, GL_UNSIGNED_BYTE, (const GLubyte[]){(GLubyte)list, (GLubyte)(list + 1)}));
    }
    glDeleteLists(list, 2);
}

static void few_lists(void)
{
    listed(5);
}

static void many_lists(void)
{
    listed(50);
}

/* Commands that succeed again if they have succeeded in the same circumstances, and commands that
 * fail only for reasons that the client can see. */
static void repeats(int count)
{
    static const char vertex[] = "#version 150\nin vec2 place; void main() { gl_Position = vec4(place, 0, 1); }";
    GLuint program = build_program(vertex, "#version 150\nuniform vec4 tint; out vec4 c; void main() { c = tint; }");
    GLint tint = glGetUniformLocation(program, "tint");
    GLuint textures[3], sampler, selected[8];
    GLubyte squares[16 * 16 * 4];
    checkerboard(squares, 16, 16, 4);
    glGenTextures(3, textures);
    glBindTexture(GL_TEXTURE_1D, textures[0]);
    glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, squares);
    glBindTexture(GL_TEXTURE_2D, textures[1]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, squares);
    glBindTexture(GL_TEXTURE_3D, textures[2]);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 8, 8, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, squares);
    glGenSamplers(1, &sampler);
    glBindSampler(0, sampler);
    glSelectBuffer(8, selected);
    for (int frame = 0; frame < count; frame++) {
        CHECKED(glClear(GL_COLOR_BUFFER_BIT));
        CHECKED(glMaterialf(GL_FRONT, GL_SHININESS, (GLfloat)(frame % 128)));
        CHECKED(glMaterialfv(GL_BACK, GL_DIFFUSE, (const GLfloat[]){1, (GLfloat)frame, 0, 1}));
        CHECKED(glRectf(-0.5f, -0.5f, 0.5f, 0.1f));
        CHECKED(glRecti(0, 0, 1, 1));
        CHECKED(glRasterPos2f(0, 0));
        CHECKED(glBitmap(8, 8, 0, 0, 1, 1, squares));
        CHECKED(glDrawPixels(16, 16, GL_RGBA, GL_UNSIGNED_BYTE, squares));
        CHECKED(glClearBufferfv(GL_COLOR, 0, (const GLfloat[]){0, 0, (GLfloat)frame, 1}));
        CHECKED(glClearBufferfi(GL_DEPTH_STENCIL, 0, 1, 0));
        CHECKED(glTexSubImage1D(GL_TEXTURE_1D, 0, frame % 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, squares));
        CHECKED(glTexSubImage2D(GL_TEXTURE_2D, 0, frame % 4, 4, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, squares));
        CHECKED(glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, frame % 4, 8, 8, 1, GL_RGBA, GL_UNSIGNED_BYTE, squares));
        CHECKED(glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, frame % 4, 0, 8, 8));
        CHECKED(glProgramUniform4f(program, tint, 1, 0, (GLfloat)frame, 1));
        CHECKED(glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, frame % 2 ? GL_NEAREST : GL_LINEAR));
        CHECKED(glMemoryBarrier(GL_ALL_BARRIER_BITS));
        CHECKED(glInvalidateFramebuffer(GL_FRAMEBUFFER, 1, (const GLenum[]){GL_DEPTH}));
        CHECKED(GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0));
        CHECKED(glDeleteSync(fence));
        CHECKED(glInitNames());
        CHECKED(glPushName((GLuint)frame));
        CHECKED(glLoadName((GLuint)frame + 1));
        CHECKED(glPopName());
    }
    glDeleteSamplers(1, &sampler);
}

static void few_repeats(void)
{
    repeats(5);
}

static void many_repeats(void)
{
    repeats(50);
}

/* Reads small regions one after the other, like programs that find out what is drawn at a
 * position. */
static void reads(int count)
{
    GLubyte pixels[64 * 64 * 4];
    glClearColor(0.2f, 0.4f, 0.6f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glRectf(-0.9f, -0.9f, -0.8f, -0.7f);
    for (int i = 0; i < count; i++) {
        glPixelStorei(GL_PACK_ROW_LENGTH, 10 + i % 7);
        glPixelStorei(GL_PACK_SKIP_PIXELS, i % 5);
        glReadPixels(i % 50, i * 7 % 50, 1 + i % 9, 1 + i % 3, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    }
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 0);
}

static void few_reads(void)
{
    reads(5);
}

static void many_reads(void)
{
    reads(500);
}

/* While the query is open, no server takes a lost renderer's place. The query is open as long as
 * the file exists that the environment names. */
static void counted(void)
{
    const char *file = getenv("CONFORM_COUNTS_WHILE");
    GLuint query, passed = 0;
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    do
        frames(5);
    while (file && access(file, F_OK) == 0);
    glEndQuery(GL_SAMPLES_PASSED);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &passed);
    note("something was drawn: %d", passed > 0);
    glDeleteQueries(1, &query);
}

/* Polls for a result as long as the file exists that the environment names. */
static void polled(void)
{
    const char *file = getenv("CONFORM_COUNTS_WHILE");
    GLuint query, is_available;
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    frames(1);
    glEndQuery(GL_SAMPLES_PASSED);
    note("asks");
    do
        glGetQueryObjectuiv(query, GL_QUERY_RESULT_AVAILABLE, &is_available);
    while (!is_available || (file && access(file, F_OK) == 0));
    glDeleteQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    glRectf(-0.5f, -0.5f, 0.5f, 0.5f);
    glEndQuery(GL_SAMPLES_PASSED);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &is_available);
    note("then %u", is_available);
    glDeleteQueries(1, &query);
}

CONFORM("checked_frames", COMPAT, {"few", few}, {"many", many}, {"few_changes", few_changes}, {"many_changes", many_changes}, {"few_lists", few_lists}, {"many_lists", many_lists}, {"few_repeats", few_repeats},
        {"many_repeats", many_repeats}, {"few_reads", few_reads},
        {"many_reads", many_reads}, {"counted", counted}, {"polled", polled})
