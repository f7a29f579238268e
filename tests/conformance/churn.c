/* Makes and deletes objects of every kind repeatedly. Memory must not grow. CHURN is the number of
 * creations and deletions. After the first tenth and at the end, the program prints the size of its
 * process on standard error. Then it waits for a line on standard input, so that a test can look at
 * the server, too. */
#include "conform.h"

#define FEW 2000

static long operations;

static void halt(void)
{
    char line[16];
    glFinish();
    fprintf(stderr, "churned %ld kB now\n", status_of("VmRSS"));
    if (getenv("CHURN") && !fgets(line, sizeof line, stdin))
        exit(1);
}

static void textures_and_framebuffers(int i)
{
    static const unsigned char pixels[16 * 16 * 4] = {9};
    GLuint texture, framebuffer, renderbuffer, sampler;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glGenFramebuffers(1, &framebuffer);
    glGenRenderbuffers(1, &renderbuffer);
    if (i % 4 == 0) {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
        glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, 16, 16);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, renderbuffer);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
    }
    glGenSamplers(1, &sampler);
    glBindSampler(0, sampler);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_REPEAT);
    glDeleteSamplers(1, &sampler);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteRenderbuffers(1, &renderbuffer);
    glDeleteTextures(1, &texture);
    operations += 8;
}

static void buffers(int i)
{
    static const float data[64] = {1, 2, 3};
    GLuint two[2], array;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenBuffers(2, two);
    glBindBuffer(GL_ARRAY_BUFFER, two[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof data, data, GL_STATIC_DRAW);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    glEnableClientState(GL_VERTEX_ARRAY);
    glBindBuffer(GL_ARRAY_BUFFER, two[1]);
    if (i % 8 == 0 && has_extension("GL_ARB_buffer_storage")) {
        const GLbitfield access = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
        glBufferStorage(GL_ARRAY_BUFFER, sizeof data, NULL, access);
        float *map = glMapBufferRange(GL_ARRAY_BUFFER, 0, sizeof data, access);
        map[5] = 3;
        glDrawArrays(GL_TRIANGLES, 0, 3);
    } else {
        glBufferData(GL_ARRAY_BUFFER, sizeof data, NULL, GL_STREAM_DRAW);
        float *map = glMapBuffer(GL_ARRAY_BUFFER, GL_WRITE_ONLY);
        map[5] = 3;
        if (i % 3)
            glUnmapBuffer(GL_ARRAY_BUFFER);
    }
    glDeleteBuffers(2, two);
    glDeleteVertexArrays(1, &array);
    operations += 6;
}

static void queries_lists_and_fences(int i)
{
    GLuint query, list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    glColor3f(1, 0, 0);
    glRectf(0, 0, 0.1f, 0.1f);
    glEndList();
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    if (i % 16 == 0)
        glCallList(list);
    glEndQuery(GL_SAMPLES_PASSED);
    GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (i % 64 == 0)
        glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, 1000000000);
    glDeleteSync(fence);
    glDeleteQueries(1, &query);
    glDeleteLists(list, 1);
    operations += 6;
}

static void programs(void)
{
    GLuint program = build_program("#version 130\nin vec4 place; uniform vec4 shift; void main() { gl_Position = place + shift; }",
                                   "#version 130\nuniform vec4 tint; out vec4 color; void main() { color = tint; }");
    glUseProgram(program);
    glUniform4f(glGetUniformLocation(program, "tint"), 1, 1, 0, 1);
    glBindAttribLocation(program, 3, "place");
    glUseProgram(0);
    glDeleteProgram(program);
    operations += 6;
}

static void contexts(int i)
{
    GLXContext own = glXGetCurrentContext(), other = glXCreateNewContext(display, main_window.config, GLX_RGBA_TYPE, i % 2 ? own : NULL, True);
    glXMakeContextCurrent(display, main_window.id, main_window.id, other);
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glClear(GL_COLOR_BUFFER_BIT);
    glXMakeContextCurrent(display, main_window.id, main_window.id, own);
    glXDestroyContext(display, other);
    operations += 3;
}

static void windows(void)
{
    GLXContext own = glXGetCurrentContext();
    struct window window = open_window(main_window.config, 1, 40, 30);
    const int attributes[] = {GLX_PBUFFER_WIDTH, 20, GLX_PBUFFER_HEIGHT, 20, None};
    GLXPbuffer pbuffer = glXCreatePbuffer(display, main_window.config, attributes);
    glXMakeContextCurrent(display, window.id, window.id, own);
    glClear(GL_COLOR_BUFFER_BIT);
    glXSwapBuffers(display, window.id);
    glXMakeContextCurrent(display, pbuffer, pbuffer, own);
    glClear(GL_COLOR_BUFFER_BIT);
    glXMakeContextCurrent(display, main_window.id, main_window.id, own);
    glXDestroyPbuffer(display, pbuffer);
    close_window(&window);
    operations += 4;
}

static void churn(void)
{
    no_picture();
    const char *many = getenv("CHURN");
    long all = many ? strtol(many, NULL, 10) : FEW, first = all / 10;
    bool told = false;
    for (int i = 0; operations < all; i++) {
        textures_and_framebuffers(i);
        buffers(i);
        queries_lists_and_fences(i);
        if (i % 64 == 0)
            glXSwapBuffers(display, main_window.id);
        if (i % 20 == 0)
            programs();
        if (i % 50 == 0)
            contexts(i / 50);
        if (i % 100 == 0)
            windows();
        if (!told && operations >= first) {
            told = true;
            halt();
        }
    }
    halt();
    errors("churn");
}

CONFORM("churn", COMPAT, {"churn", churn})
