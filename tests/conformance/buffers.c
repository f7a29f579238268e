/* Buffer objects: filling, reading back, mapping and copying. */
#include "conform.h"

static unsigned char bytes[4096];

static void start(void)
{
    no_picture();
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 13 + i / 256);
}

static void note_contents(const char *what, GLenum target, size_t size)
{
    unsigned char *back = malloc(size);
    memset(back, 0x77, size);
    glGetBufferSubData(target, 0, (GLsizeiptr)size, back);
    note_bytes(what, back, size);
    free(back);
}

static void log_parameters(GLenum target)
{
    static const GLenum names[] = {GL_BUFFER_SIZE, GL_BUFFER_USAGE, GL_BUFFER_ACCESS, GL_BUFFER_MAPPED};
    GLint values[4];
    for (int i = 0; i < 4; i++) {
        values[i] = 7777;
        glGetBufferParameteriv(target, names[i], &values[i]);
    }
    note_ints("size, usage, access, mapped", values, 4);
}

static void data(void)
{
    GLuint names[3];
    start();
    glGenBuffers(3, names);
    note("is a buffer: %d", glIsBuffer(names[0]));
    glBindBuffer(GL_ARRAY_BUFFER, names[0]);
    note("is a buffer: %d", glIsBuffer(names[0]));
    log_parameters(GL_ARRAY_BUFFER);
    glBufferData(GL_ARRAY_BUFFER, 1000, bytes, GL_STATIC_DRAW);
    note_contents("first", GL_ARRAY_BUFFER, 1000);
    glBufferSubData(GL_ARRAY_BUFFER, 100, 50, bytes + 2000);
    glBufferSubData(GL_ARRAY_BUFFER, 999, 1, bytes);
    glBufferSubData(GL_ARRAY_BUFFER, 1000, 0, bytes);
    note_contents("changed", GL_ARRAY_BUFFER, 1000);
    log_parameters(GL_ARRAY_BUFFER);
    glBufferData(GL_ARRAY_BUFFER, 300, bytes + 7, GL_DYNAMIC_READ);
    note_contents("second", GL_ARRAY_BUFFER, 300);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, names[0]);
    glBufferSubData(GL_ELEMENT_ARRAY_BUFFER, 0, 10, bytes + 555);
    note_contents("through another target", GL_ARRAY_BUFFER, 300);
    log_parameters(GL_ELEMENT_ARRAY_BUFFER);
    glBufferData(GL_ARRAY_BUFFER, 0, NULL, GL_STREAM_DRAW);
    log_parameters(GL_ARRAY_BUFFER);
    errors("data");
    glBufferSubData(GL_ARRAY_BUFFER, 0, 1, bytes);
    errors("beyond the end");
    glBufferSubData(GL_ARRAY_BUFFER, -1, 1, bytes);
    errors("negative offset");
    glBufferData(GL_ARRAY_BUFFER, -1, bytes, GL_STATIC_DRAW);
    errors("negative size");
    glBufferData(GL_ARRAY_BUFFER, 10, bytes, GL_TRIANGLES);
    errors("usage");
    glBufferData(GL_TEXTURE_2D, 10, bytes, GL_STATIC_DRAW);
    errors("target");
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glBufferData(GL_ARRAY_BUFFER, 10, bytes, GL_STATIC_DRAW);
    errors("no buffer");
    glDeleteBuffers(3, names);
    note("is a buffer: %d", glIsBuffer(names[0]));
    BOUND(GL_ELEMENT_ARRAY_BUFFER_BINDING, 0);
    glBindBuffer(GL_ARRAY_BUFFER, 4711);
    errors("a name of the program's own");
}

static void mapping(void)
{
    GLuint name;
    void *pointer = NULL;
    start();
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, 1000, bytes, GL_STATIC_DRAW);
    unsigned char *map = glMapBuffer(GL_ARRAY_BUFFER, GL_READ_ONLY);
    note_bytes("mapped for reading", map, 1000);
    log_parameters(GL_ARRAY_BUFFER);
    glGetBufferPointerv(GL_ARRAY_BUFFER, GL_BUFFER_MAP_POINTER, &pointer);
    note("pointer is the same: %d", pointer == map);
    note("mapped again: %s", glMapBuffer(GL_ARRAY_BUFFER, GL_READ_ONLY) ? "pointer" : "null");
    errors("mapped again");
    glBufferSubData(GL_ARRAY_BUFFER, 0, 1, bytes);
    errors("changed while mapped");
    note("unmapped: %d", glUnmapBuffer(GL_ARRAY_BUFFER));
    note("unmapped again: %d", glUnmapBuffer(GL_ARRAY_BUFFER));
    errors("unmapped again");
    map = glMapBuffer(GL_ARRAY_BUFFER, GL_READ_WRITE);
    for (int i = 0; i < 1000; i += 3)
        map[i] = (unsigned char)(map[i] ^ 0xFF);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    note_contents("after writing", GL_ARRAY_BUFFER, 1000);
    map = glMapBuffer(GL_ARRAY_BUFFER, GL_WRITE_ONLY);
    memset(map, 5, 1000);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    note_contents("after writing all", GL_ARRAY_BUFFER, 1000);
    map = glMapBuffer(GL_ARRAY_BUFFER, GL_READ_WRITE);
    glBufferData(GL_ARRAY_BUFFER, 20, bytes, GL_STATIC_DRAW); /* ends the mapping */
    log_parameters(GL_ARRAY_BUFFER);
    note("unmapped: %d", glUnmapBuffer(GL_ARRAY_BUFFER));
    errors("ended by new data");
    glMapBuffer(GL_ARRAY_BUFFER, GL_READ_WRITE);
    glDeleteBuffers(1, &name);
    glMapBuffer(GL_ARRAY_BUFFER, GL_READ_ONLY);
    errors("no buffer");
}

static void ranges(void)
{
    GLuint name;
    start();
    if (!need_version(3, 0))
        return;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, 1000, bytes, GL_STATIC_DRAW);
    unsigned char *map = glMapBufferRange(GL_ARRAY_BUFFER, 100, 50, GL_MAP_READ_BIT);
    note_bytes("range", map, 50);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    map = glMapBufferRange(GL_ARRAY_BUFFER, 200, 100, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT);
    memset(map, 0xAB, 100);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    note_contents("range written", GL_ARRAY_BUFFER, 1000);
    map = glMapBufferRange(GL_ARRAY_BUFFER, 400, 200, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
    if (!map) /* reading and explicit flushes exclude each other in some versions */
        map = glMapBufferRange(GL_ARRAY_BUFFER, 400, 200, GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
    note("explicit: %s", map ? "mapped" : "null");
    if (map) {
        memset(map + 20, 1, 10);
        glFlushMappedBufferRange(GL_ARRAY_BUFFER, 20, 10);
        memset(map + 190, 2, 10);
        glFlushMappedBufferRange(GL_ARRAY_BUFFER, 190, 10);
        errors("flushes");
        glFlushMappedBufferRange(GL_ARRAY_BUFFER, 190, 11);
        errors("flush beyond the range");
        glUnmapBuffer(GL_ARRAY_BUFFER);
    }
    note_contents("flushed", GL_ARRAY_BUFFER, 1000);
    map = glMapBufferRange(GL_ARRAY_BUFFER, 0, 1000, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT | GL_MAP_UNSYNCHRONIZED_BIT);
    memcpy(map, bytes + 77, 1000);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    note_contents("all new", GL_ARRAY_BUFFER, 1000);
    GLint64 values[3] = {0};
    glMapBufferRange(GL_ARRAY_BUFFER, 24, 36, GL_MAP_WRITE_BIT);
    glGetBufferParameteri64v(GL_ARRAY_BUFFER, GL_BUFFER_MAP_OFFSET, &values[0]);
    glGetBufferParameteri64v(GL_ARRAY_BUFFER, GL_BUFFER_MAP_LENGTH, &values[1]);
    glGetBufferParameteri64v(GL_ARRAY_BUFFER, GL_BUFFER_ACCESS_FLAGS, &values[2]);
    note("offset %d, length %d, flags %x", (int)values[0], (int)values[1], (unsigned)values[2]);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    errors("ranges");
    glMapBufferRange(GL_ARRAY_BUFFER, 990, 11, GL_MAP_READ_BIT);
    errors("beyond the end");
    glMapBufferRange(GL_ARRAY_BUFFER, 0, 11, 0);
    errors("neither reading nor writing");
    glMapBufferRange(GL_ARRAY_BUFFER, 0, 11, GL_MAP_READ_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    errors("reading an invalidated range");
    glMapBufferRange(GL_ARRAY_BUFFER, 0, 0, GL_MAP_READ_BIT);
    errors("no length");
}

static void copying(void)
{
    GLuint names[2];
    start();
    if (!need_version(3, 1))
        return;
    glGenBuffers(2, names);
    glBindBuffer(GL_COPY_READ_BUFFER, names[0]);
    glBindBuffer(GL_COPY_WRITE_BUFFER, names[1]);
    glBufferData(GL_COPY_READ_BUFFER, 1000, bytes, GL_STATIC_COPY);
    glBufferData(GL_COPY_WRITE_BUFFER, 800, bytes + 1000, GL_STATIC_COPY);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 33, 44, 555);
    note_contents("copied", GL_COPY_WRITE_BUFFER, 800);
    glCopyBufferSubData(GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER, 0, 400, 300);
    note_contents("copied within", GL_COPY_WRITE_BUFFER, 800);
    errors("copies");
    glCopyBufferSubData(GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER, 0, 100, 300);
    errors("overlapping");
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 700, 300);
    errors("beyond the end");
    if (has_version(4, 3)) {
        glClearBufferSubData(GL_COPY_WRITE_BUFFER, GL_R8UI, 100, 50, GL_RED_INTEGER, GL_UNSIGNED_BYTE, (const GLubyte[]){0x42});
        glClearBufferData(GL_COPY_READ_BUFFER, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        note_contents("partly cleared", GL_COPY_WRITE_BUFFER, 800);
        note_contents("cleared", GL_COPY_READ_BUFFER, 1000);
        glInvalidateBufferData(names[0]);
        errors("clears");
    }
}

/* A buffer that is larger than any message is filled, changed, mapped and read back. */
static void large(void)
{
    enum { size = 3 << 20 };
    unsigned char *memory = malloc(size);
    GLuint name;
    start();
    for (int i = 0; i < size; i++)
        memory[i] = (unsigned char)(i * 7 + (i >> 9));
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, size, memory, GL_STATIC_DRAW);
    glBufferSubData(GL_ARRAY_BUFFER, 12345, 2 << 20, memory + 999);
    note_contents("large", GL_ARRAY_BUFFER, size);
    unsigned char *map = glMapBuffer(GL_ARRAY_BUFFER, GL_READ_WRITE);
    map[0] = 1;
    map[size - 1] = 2;
    memset(map + 1000000, 3, 500000);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    note_contents("large, changed", GL_ARRAY_BUFFER, size);
    free(memory);
    errors("large");
}

/* Draws that were issued before a buffer changed show its old contents. */
static void order(void)
{
    GLfloat points[8];
    GLuint name;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, sizeof points, NULL, GL_STREAM_DRAW);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    glEnableClientState(GL_VERTEX_ARRAY);
    for (int i = 0; i < 100; i++) {
        float x = -0.95f + 0.19f * (float)(i % 10), y = -0.95f + 0.19f * (float)(i / 10);
        const GLfloat corners[8] = {x, y, x + 0.15f, y, x + 0.15f, y + 0.15f, x, y + 0.15f};
        if (i % 3 == 0) {
            glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof corners, corners);
        } else if (i % 3 == 1) {
            glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STREAM_DRAW);
        } else {
            memcpy(glMapBuffer(GL_ARRAY_BUFFER, GL_WRITE_ONLY), corners, sizeof corners);
            glUnmapBuffer(GL_ARRAY_BUFFER);
        }
        color_of(i);
        glDrawArrays(GL_QUADS, 0, 4);
    }
    errors("order");
}

CONFORM("buffers", COMPAT, {"data", data}, {"mapping", mapping}, {"ranges", ranges}, {"copying", copying}, {"large", large}, {"order", order})
