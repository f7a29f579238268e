/* Commands with errors and invalid pointers. OpenGL must not read the memory of commands that it
 * refuses. */
#include "conform.h"
#include <sys/mman.h>

#define BYTES (1 << 20)

/* Memory that was returned to the system. */
static void *nowhere(void)
{
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("no memory");
    munmap(memory, BYTES);
    return memory;
}

static const void *gone, *low = (const void *)4;

static void images_of(const void *pixels, const char *what)
{
    GLuint texture;
    note("%s", what);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 256, 256, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    errors("an image");
    glTexImage2D(GL_TEXTURE_2D, 0, 0x1234, 256, 256, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("no format");
    glTexImage2D(GL_TEXTURE_2D, -1, GL_RGBA, 256, 256, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("no level");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 256, 256, 5, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("a wide border");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT, 256, 256, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("colours for depths");
    glTexImage2D(GL_RENDERBUFFER, 0, GL_RGBA, 256, 256, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("no target");
    glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X, 0, GL_RGBA, 256, 255, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("a crooked cube");
    glTexSubImage2D(GL_TEXTURE_2D, 0, 10, 0, 256, 256, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("beyond");
    glTexSubImage2D(GL_TEXTURE_2D, 3, 0, 0, 256, 256, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("a level that does not exist");
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 300);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, -1, 256, 256, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("before, with gaps");
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    if (has_version(1, 3)) {
        glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 256, 256, 0, 65536, pixels);
        errors("not compressed");
        glCompressedTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 256, 256, GL_RGBA, 65536, pixels);
        errors("a part of an uncompressed texture");
    }
    glDrawPixels(256, 256, GL_STENCIL_INDEX, GL_BITMAP + 1000, pixels);
    errors("no type");
    if (has_extension("GL_EXT_direct_state_access")) {
        glTextureImage2DEXT(texture, GL_TEXTURE_CUBE_MAP_POSITIVE_X, 0, GL_RGBA, 256, 256, 0, GL_RGBA, GL_FLOAT, pixels);
        errors("a texture of another target");
        glTextureSubImage2DEXT(texture, GL_TEXTURE_CUBE_MAP_POSITIVE_X, 0, 0, 0, 256, 256, GL_RGBA, GL_FLOAT, pixels);
        errors("a part of a texture of another target");
    }
    if (has_extension("GL_ARB_direct_state_access")) {
        glTextureSubImage2D(777, 0, 0, 0, 256, 256, GL_RGBA, GL_FLOAT, pixels);
        errors("no texture");
        glTextureSubImage2D(texture, 5, 0, 0, 256, 256, GL_RGBA, GL_FLOAT, pixels);
        errors("no level of a texture");
    }
    glBegin(GL_POINTS);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 256, 256, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glEnd();
    errors("inside");
    glDeleteTextures(1, &texture);
}

static void images(void)
{
    no_picture();
    gone = nowhere();
    images_of(gone, "given back");
    images_of(low, "an offset");
}

static void buffers(void)
{
    no_picture();
    if (!need_version(1, 5))
        return;
    gone = nowhere();
    glBufferData(GL_ARRAY_BUFFER, BYTES, gone, GL_STATIC_DRAW);
    errors("no buffer");
    make_buffer(GL_ARRAY_BUFFER, 1000, NULL);
    glBufferData(GL_ARRAY_BUFFER, BYTES, gone, GL_RGBA);
    errors("no usage");
    glBufferSubData(GL_ARRAY_BUFFER, 0, BYTES, gone);
    errors("beyond");
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, BYTES, (void *)gone);
    errors("beyond, read");
}

/* Draws that are refused do not read their arrays. */
static void draws(void)
{
    no_picture();
    if (!need_version(3, 0))
        return;
    GLuint framebuffer;
    gone = nowhere();
    glVertexPointer(4, GL_FLOAT, 0, gone);
    glEnableClientState(GL_VERTEX_ARRAY);
    glDrawArrays(77, 0, 65536);
    errors("no mode");
    glDrawArrays(GL_POINTS, -1, 65536);
    errors("before the first");
    glDrawArrays(GL_POINTS, 0, 0);
    errors("zero vertices");
    glDrawElements(GL_POINTS, 65536, GL_FLOAT, gone);
    errors("no type");
    glDrawElements(GL_POINTS, -5, GL_UNSIGNED_INT, gone);
    errors("negative count");
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glDrawArrays(GL_POINTS, 0, 65536);
    errors("an incomplete framebuffer");
    glDrawElements(GL_POINTS, 65536, GL_UNSIGNED_INT, gone);
    errors("elements to an incomplete framebuffer");
    glDrawElements(GL_POINTS, 3, GL_UNSIGNED_INT, low);
    errors("low elements to an incomplete framebuffer");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDisableClientState(GL_VERTEX_ARRAY);
}

CONFORM("unread_memory", COMPAT, {"images", images}, {"buffers", buffers}, {"draws", draws})
