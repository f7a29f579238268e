/* GL_ARB_direct_state_access: buffer objects by name. */
#include "conform.h"

static bool start(void)
{
    no_picture();
    return need_extension("GL_ARB_direct_state_access");
}

static void bytes_of(const char *what, GLuint buffer, int size)
{
    unsigned char bytes[256] = {0};
    glGetNamedBufferSubData(buffer, 0, size, bytes);
    note_bytes(what, bytes, (size_t)size);
}

static void parameters(const char *what, GLuint buffer)
{
    static const GLenum names[] = {GL_BUFFER_SIZE,         GL_BUFFER_USAGE,       GL_BUFFER_ACCESS,    GL_BUFFER_ACCESS_FLAGS,
                                   GL_BUFFER_MAPPED,       GL_BUFFER_MAP_OFFSET,  GL_BUFFER_MAP_LENGTH, GL_BUFFER_IMMUTABLE_STORAGE,
                                   GL_BUFFER_STORAGE_FLAGS};
    for (int i = 0; i < 9; i++) {
        GLint value = -7;
        GLint64 wide = -7;
        glGetNamedBufferParameteriv(buffer, names[i], &value);
        glGetNamedBufferParameteri64v(buffer, names[i], &wide);
        note("%s %04x = %d %d", what, names[i], value, (int)wide);
    }
    void *pointer = &pointer;
    glGetNamedBufferPointerv(buffer, GL_BUFFER_MAP_POINTER, &pointer);
    note("%s pointer %d", what, pointer != NULL);
}

static void contents(void)
{
    if (!start())
        return;
    GLuint made[3] = {0}, named;
    const unsigned char data[16] = "0123456789abcdef";
    glCreateBuffers(3, made);
    glGenBuffers(1, &named);
    note("is buffer: %d %d %d, only named: %d", glIsBuffer(made[0]), glIsBuffer(made[1]), glIsBuffer(made[2]), glIsBuffer(named));
    parameters("fresh", made[0]);
    glNamedBufferData(made[0], 16, data, GL_STATIC_DRAW);
    parameters("data", made[0]);
    bytes_of("data", made[0], 16);
    glNamedBufferSubData(made[0], 4, 5, "HELLO");
    bytes_of("sub data", made[0], 16);
    glNamedBufferData(made[1], 64, NULL, GL_DYNAMIC_COPY);
    glClearNamedBufferData(made[1], GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, "x");
    glClearNamedBufferSubData(made[1], GL_RG16UI, 8, 16, GL_RG_INTEGER, GL_UNSIGNED_SHORT, "abcd");
    glClearNamedBufferSubData(made[1], GL_R32F, 32, 8, GL_RED, GL_FLOAT, NULL);
    bytes_of("cleared", made[1], 64);
    glCopyNamedBufferSubData(made[0], made[1], 2, 40, 10);
    glCopyNamedBufferSubData(made[1], made[1], 0, 20, 12);
    bytes_of("copied", made[1], 64);
    glNamedBufferData(made[0], 32, NULL, GL_STREAM_READ);
    glNamedBufferSubData(made[0], 0, 16, data);
    glNamedBufferSubData(made[0], 16, 16, data);
    bytes_of("again", made[0], 32);
    /* The bindings are unchanged, and the bound object is the same. */
    glBindBuffer(GL_COPY_WRITE_BUFFER, made[1]);
    glBindBuffer(GL_ARRAY_BUFFER, made[2]);
    glNamedBufferData(made[2], 8, data, GL_STATIC_DRAW);
    BOUND(GL_ARRAY_BUFFER_BINDING, made[2]);
    BOUND(GL_COPY_WRITE_BUFFER_BINDING, made[1]);
    BOUND(GL_COPY_READ_BUFFER_BINDING, 0);
    GLint size = -1;
    glGetBufferParameteriv(GL_ARRAY_BUFFER, GL_BUFFER_SIZE, &size);
    note("size of the bound %d", size);
    glBufferSubData(GL_COPY_WRITE_BUFFER, 0, 4, "BIND");
    bytes_of("by target", made[1], 64);
    errors("contents");
    glDeleteBuffers(3, made);
    note("is buffer: %d", glIsBuffer(made[0]));
    BOUND(GL_ARRAY_BUFFER_BINDING, 0);
    glNamedBufferSubData(made[0], 0, 4, data);
    errors("deleted");
}

static void mapping(void)
{
    if (!start())
        return;
    GLuint buffer;
    glCreateBuffers(1, &buffer);
    glNamedBufferData(buffer, 64, NULL, GL_STATIC_DRAW);
    unsigned char *bytes = glMapNamedBuffer(buffer, GL_WRITE_ONLY);
    note("mapped %d", bytes != NULL);
    for (int i = 0; bytes && i < 64; i++)
        bytes[i] = (unsigned char)(i * 3);
    parameters("mapped", buffer);
    note("unmapped %d", glUnmapNamedBuffer(buffer));
    bytes_of("written", buffer, 64);
    bytes = glMapNamedBufferRange(buffer, 16, 32, GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
    if (bytes)
        memset(bytes, 0x55, 32);
    glFlushMappedNamedBufferRange(buffer, 8, 8);
    parameters("range", buffer);
    glUnmapNamedBuffer(buffer);
    bytes_of("flushed", buffer, 32);
    bytes = glMapNamedBufferRange(buffer, 8, 24, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
    if (bytes) {
        note_bytes("read", bytes, 24);
        bytes[3] = 'R';
    }
    glUnmapNamedBuffer(buffer);
    bytes_of("read and written", buffer, 64);
    bytes = glMapNamedBuffer(buffer, GL_READ_ONLY);
    if (bytes)
        note_bytes("read only", bytes, 64);
    errors("mapping");
    glNamedBufferSubData(buffer, 0, 4, "abcd");
    errors("sub data while mapped");
    glGetNamedBufferSubData(buffer, 0, 4, bytes);
    errors("get while mapped");
    glClearNamedBufferData(buffer, GL_R8, GL_RED, GL_UNSIGNED_BYTE, NULL);
    errors("clear while mapped");
    glCopyNamedBufferSubData(buffer, buffer, 0, 32, 4);
    errors("copy while mapped");
    note("again: %d", glMapNamedBuffer(buffer, GL_READ_ONLY) != NULL);
    errors("mapped twice");
    glNamedBufferData(buffer, 16, "fedcba9876543210", GL_STATIC_DRAW);
    errors("data ends the mapping");
    parameters("ended", buffer);
    note("unmap: %d", glUnmapNamedBuffer(buffer));
    errors("not mapped");
    glFlushMappedNamedBufferRange(buffer, 0, 1);
    errors("flush an unmapped buffer");
    bytes_of("after all", buffer, 16);
}

static void storage(void)
{
    if (!start() || !need_extension("GL_ARB_buffer_storage"))
        return;
    GLuint buffers[2];
    glCreateBuffers(2, buffers);
    glNamedBufferStorage(buffers[0], 32, "0123456789abcdef0123456789ABCDEF", GL_MAP_READ_BIT);
    parameters("storage", buffers[0]);
    bytes_of("storage", buffers[0], 32);
    errors("storage");
    glNamedBufferSubData(buffers[0], 0, 4, "abcd");
    errors("not dynamic");
    glNamedBufferData(buffers[0], 4, "abcd", GL_STATIC_DRAW);
    errors("data for storage");
    glNamedBufferStorage(buffers[0], 32, NULL, 0);
    errors("storage twice");
    note("map: %d", glMapNamedBufferRange(buffers[0], 0, 8, GL_MAP_WRITE_BIT) != NULL);
    errors("not for writing");
    glNamedBufferStorage(buffers[1], 0, NULL, 0);
    errors("no size");
    glNamedBufferStorage(buffers[1], 16, NULL, 0x10000);
    errors("no such flag");
    glNamedBufferStorage(buffers[1], 64, NULL, GL_MAP_WRITE_BIT | GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT | GL_DYNAMIC_STORAGE_BIT);
    unsigned char *bytes = glMapNamedBufferRange(buffers[1], 0, 64, GL_MAP_WRITE_BIT | GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT);
    if (bytes)
        memset(bytes, 7, 64);
    glNamedBufferSubData(buffers[1], 8, 8, "SUB DATA");
    bytes_of("persistent", buffers[1], 64);
    glCopyNamedBufferSubData(buffers[0], buffers[1], 0, 32, 16);
    glFinish();
    if (bytes)
        note_bytes("mapped", bytes, 64);
    parameters("persistent", buffers[1]);
    note("unmapped %d", glUnmapNamedBuffer(buffers[1]));
    errors("persistent");
}

static void refused(void)
{
    if (!start())
        return;
    GLuint buffer, named, none = 4000;
    unsigned char bytes[16] = {0};
    void *pointer = NULL;
    GLint value = -7;
    glCreateBuffers(1, &buffer);
    glGenBuffers(1, &named);
    glNamedBufferData(buffer, 16, "0123456789abcdef", GL_STATIC_DRAW);
    const GLuint wrong[] = {0, named, none};
    for (int i = 0; i < 3; i++) {
        note("name %d", i);
        glNamedBufferData(wrong[i], 16, NULL, GL_STATIC_DRAW);
        errors("data");
        glNamedBufferData(wrong[i], -1, NULL, 0);
        errors("data that is wrong, too");
        glNamedBufferSubData(wrong[i], 0, 4, bytes);
        errors("sub data");
        glGetNamedBufferSubData(wrong[i], 0, 4, bytes);
        errors("get sub data");
        glCopyNamedBufferSubData(wrong[i], buffer, 0, 0, 1);
        errors("copy from");
        glCopyNamedBufferSubData(buffer, wrong[i], 0, 0, 1);
        errors("copy to");
        glClearNamedBufferData(wrong[i], GL_R8, GL_RED, GL_UNSIGNED_BYTE, NULL);
        errors("clear");
        glClearNamedBufferSubData(wrong[i], GL_R8, 0, 1, GL_RED, GL_UNSIGNED_BYTE, NULL);
        errors("clear a part");
        note("map %d", glMapNamedBuffer(wrong[i], GL_READ_ONLY) != NULL);
        errors("map");
        note("map %d", glMapNamedBuffer(wrong[i], GL_RED) != NULL);
        errors("map with an invalid access");
        note("map %d", glMapNamedBufferRange(wrong[i], 0, 1, GL_MAP_READ_BIT) != NULL);
        errors("map a range");
        note("unmap %d", glUnmapNamedBuffer(wrong[i]));
        errors("unmap");
        glFlushMappedNamedBufferRange(wrong[i], 0, 1);
        errors("flush");
        glGetNamedBufferParameteriv(wrong[i], GL_BUFFER_SIZE, &value);
        errors("get");
        glGetNamedBufferPointerv(wrong[i], GL_BUFFER_MAP_POINTER, &pointer);
        errors("get pointer");
        glGetNamedBufferPointerv(wrong[i], GL_RED, &pointer);
        errors("get no pointer");
        note("is buffer %d", glIsBuffer(wrong[i]));
    }
    glNamedBufferData(buffer, -1, NULL, GL_STATIC_DRAW);
    errors("negative size");
    glNamedBufferData(buffer, 16, NULL, GL_RED);
    errors("no usage");
    glNamedBufferSubData(buffer, 10, 7, bytes);
    errors("beyond");
    glNamedBufferSubData(buffer, -1, 1, bytes);
    errors("negative offset");
    glGetNamedBufferSubData(buffer, 0, 17, bytes);
    errors("get beyond");
    glCopyNamedBufferSubData(buffer, buffer, 0, 2, 4);
    errors("overlap");
    glCopyNamedBufferSubData(buffer, buffer, 0, 14, 4);
    errors("copy beyond");
    glClearNamedBufferData(buffer, GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, NULL);
    errors("clear to a format that buffers have not");
    glClearNamedBufferSubData(buffer, GL_R32F, 2, 4, GL_RED, GL_FLOAT, NULL);
    errors("clear off the grid");
    glClearNamedBufferSubData(buffer, GL_R32F, 12, 8, GL_RED, GL_FLOAT, NULL);
    errors("clear beyond");
    note("map %d", glMapNamedBufferRange(buffer, 8, 9, GL_MAP_READ_BIT) != NULL);
    errors("map beyond");
    note("map %d", glMapNamedBufferRange(buffer, 0, 0, GL_MAP_READ_BIT) != NULL);
    errors("map zero bytes");
    note("map %d", glMapNamedBufferRange(buffer, 0, 4, 0) != NULL);
    errors("map without access");
    glGetNamedBufferParameteriv(buffer, GL_RED, &value);
    errors("no parameter");
    glCreateBuffers(-1, &named);
    errors("create -1");
    bytes_of("unchanged", buffer, 16);
}

static void between(void)
{
    if (!start())
        return;
    GLuint buffer, more = 77;
    unsigned char bytes[16] = {0};
    GLint value = -7;
    glCreateBuffers(1, &buffer);
    glNamedBufferData(buffer, 16, "0123456789abcdef", GL_STATIC_DRAW);
    glBegin(GL_POINTS);
    glNamedBufferSubData(buffer, 0, 4, "abcd");
    glNamedBufferData(buffer, 4, "abcd", GL_STATIC_DRAW);
    glClearNamedBufferData(buffer, GL_R8, GL_RED, GL_UNSIGNED_BYTE, NULL);
    glCopyNamedBufferSubData(buffer, buffer, 0, 8, 4);
    glGetNamedBufferSubData(buffer, 0, 4, bytes);
    glGetNamedBufferParameteriv(buffer, GL_BUFFER_SIZE, &value);
    bool mapped = glMapNamedBuffer(buffer, GL_READ_ONLY) != NULL;
    glCreateBuffers(1, &more);
    glEnd();
    errors("between glBegin and glEnd");
    note("mapped %d, made %d, size %d", mapped, more != 77, value);
    bytes_of("unchanged", buffer, 16);
}

/* Draws use the bytes that were written to buffers by name, even if the client has a copy of the
 * indices. */
static void drawn(void)
{
    if (!need_extension("GL_ARB_direct_state_access"))
        return;
    GLuint buffers[2];
    GLfloat corners[18];
    for (int i = 0; i < 9; i++) {
        corners[i * 2] = -0.9f + 0.9f * (float)(i % 3);
        corners[i * 2 + 1] = -0.9f + 0.9f * (float)(i / 3);
    }
    GLushort indices[12] = {0, 1, 3, 1, 4, 3, 4, 5, 7, 5, 8, 7};
    glCreateBuffers(2, buffers);
    glNamedBufferData(buffers[0], sizeof corners, corners, GL_STATIC_DRAW);
    glNamedBufferData(buffers[1], sizeof indices, indices, GL_STATIC_DRAW);
    glEnableClientState(GL_VERTEX_ARRAY);
    glVertexPointer(2, GL_FLOAT, 0, corners);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glColor3f(0.5f, 0, 0);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, NULL);
    const GLushort other[3] = {4, 2, 1};
    glNamedBufferSubData(buffers[1], 0, sizeof other, other);
    glColor3f(0, 0.5f, 0);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, NULL);
    glCopyNamedBufferSubData(buffers[1], buffers[1], 12, 0, 6);
    glColor3f(0, 0, 0.5f);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, NULL);
    glClearNamedBufferSubData(buffers[1], GL_R16UI, 0, 2, GL_RED_INTEGER, GL_UNSIGNED_SHORT, &(GLushort){6});
    glColor3f(0.5f, 0.5f, 0);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, NULL);
    GLushort *mapped = glMapNamedBuffer(buffers[1], GL_READ_WRITE);
    if (mapped)
        mapped[1] = 7;
    glUnmapNamedBuffer(buffers[1]);
    glColor3f(0, 0.5f, 0.5f);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    glNamedBufferSubData(buffers[0], 0, 8, (const GLfloat[2]){-0.5f, -0.8f});
    glColor3f(1, 1, 1);
    glDrawElements(GL_LINE_LOOP, 12, GL_UNSIGNED_SHORT, NULL);
    glDrawArrays(GL_LINE_STRIP, 0, 9);
    errors("drawn");
}

CONFORM("dsa_buffers", COMPAT, {"contents", contents}, {"mapping", mapping}, {"storage", storage}, {"refused", refused}, {"between", between},
        {"drawn", drawn})
