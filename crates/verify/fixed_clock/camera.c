/* Pictures of frames. */
#include "fixed_clock.h"

#include <GL/gl.h>
#include <GL/glext.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The GL functions that a picture needs, found by the window system's own lookup. */
struct gl {
    void (*ReadPixels)(GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void *);
    void (*PixelStorei)(GLenum, GLint);
    void (*GetIntegerv)(GLenum, GLint *);
    const GLubyte *(*GetString)(GLenum);
    void (*BindBuffer)(GLenum, GLuint);
    void (*BindFramebuffer)(GLenum, GLuint);
    void (*ReadBuffer)(GLenum);
};

static struct gl find_gl(function (*lookup)(const char *))
{
    struct gl gl;
    gl.ReadPixels = (void (*)(GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void *))lookup("glReadPixels");
    gl.PixelStorei = (void (*)(GLenum, GLint))lookup("glPixelStorei");
    gl.GetIntegerv = (void (*)(GLenum, GLint *))lookup("glGetIntegerv");
    gl.GetString = (const GLubyte *(*)(GLenum))lookup("glGetString");
    gl.BindBuffer = (void (*)(GLenum, GLuint))lookup("glBindBuffer");
    gl.BindFramebuffer = (void (*)(GLenum, GLuint))lookup("glBindFramebuffer");
    gl.ReadBuffer = (void (*)(GLenum))lookup("glReadBuffer");
    return gl;
}

/* The state that glReadPixels depends on; ES 2 has the first entry and the framebuffer only. */
static const GLenum pack_state[] = {GL_PACK_ALIGNMENT, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS, GL_PACK_SWAP_BYTES};
#define PACK_STATES 5

static void read_back(const struct gl *gl, int width, int height, unsigned char *rgba)
{
    const char *version = (const char *)gl->GetString(GL_VERSION);
    bool es2 = version && strncmp(version, "OpenGL ES 2", 11) == 0;
    bool es = version && strncmp(version, "OpenGL ES", 9) == 0;
    bool new_enough = version && (es ? !es2 : atoi(version) >= 3);
    int packs = es2 ? 1 : es ? PACK_STATES - 1 : PACK_STATES;
    GLenum framebuffer_binding = new_enough ? GL_READ_FRAMEBUFFER_BINDING : GL_FRAMEBUFFER_BINDING;
    GLenum framebuffer_target = new_enough ? GL_READ_FRAMEBUFFER : GL_FRAMEBUFFER;
    GLint packing[PACK_STATES], framebuffer = 0, buffer = 0, source = GL_BACK;

    for (int i = 0; i < packs; i++)
        gl->GetIntegerv(pack_state[i], &packing[i]);
    for (int i = 0; i < packs; i++)
        gl->PixelStorei(pack_state[i], i == 0);
    if (new_enough || es2)
        gl->GetIntegerv(framebuffer_binding, &framebuffer);
    if (framebuffer)
        gl->BindFramebuffer(framebuffer_target, 0);
    if (new_enough)
        gl->GetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &buffer);
    if (buffer)
        gl->BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    if (!es) {
        gl->GetIntegerv(GL_READ_BUFFER, &source);
        gl->ReadBuffer(GL_BACK);
    }

    gl->ReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);

    if (!es)
        gl->ReadBuffer((GLenum)source);
    if (buffer)
        gl->BindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)buffer);
    if (framebuffer)
        gl->BindFramebuffer(framebuffer_target, (GLuint)framebuffer);
    for (int i = 0; i < packs; i++)
        gl->PixelStorei(pack_state[i], packing[i]);
}

/* Frames of two processes could be confused, so it is an error if a picture exists already. */
static FILE *create(const char *file)
{
    int descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST)
        complain("two processes of the program draw, and one frame of each would be", file);
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!out)
        complain("cannot write", file);
    return out;
}

static void write_picture(const char *file, int width, int height, const unsigned char *rgba)
{
    FILE *out = create(file);
    fprintf(out, "P6\n%d %d\n255\n", width, height);
    for (int y = height - 1; y >= 0; y--) {
        const unsigned char *pixel = rgba + (size_t)y * (size_t)width * 4;
        for (int x = 0; x < width; x++, pixel += 4)
            fwrite(pixel, 1, 3, out);
    }
    if (fclose(out) != 0)
        complain("cannot write", file);
}

void take_picture(const char *file, int width, int height, function (*lookup)(const char *))
{
    if (width <= 0 || height <= 0)
        complain("cannot tell the size of the window to write", file);
    struct gl gl = find_gl(lookup);
    unsigned char *rgba = calloc((size_t)width * (size_t)height, 4);
    if (!rgba)
        complain("out of memory at", file);
    read_back(&gl, width, height, rgba);
    write_picture(file, width, height, rgba);
    free(rgba);
}
