/* Immutable storage, and persistent mappings while the server draws from the buffer and writes to
 * it. */
#include "conform.h"
#include <unistd.h>

#define ALL (GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT)

static GLuint new_buffer(GLenum target)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(target, buffer);
    return buffer;
}

static void wait_for_all(void)
{
    GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    GLenum state;
    do
        state = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, 1000000);
    while (state == GL_TIMEOUT_EXPIRED);
    glDeleteSync(fence);
}

static void parameters(GLenum target)
{
    static const struct {
        const char *name;
        GLenum pname;
    } all[] = {{"size", GL_BUFFER_SIZE},       {"usage", GL_BUFFER_USAGE},   {"access", GL_BUFFER_ACCESS},          {"flags", GL_BUFFER_ACCESS_FLAGS},
               {"mapped", GL_BUFFER_MAPPED},   {"from", GL_BUFFER_MAP_OFFSET}, {"length", GL_BUFFER_MAP_LENGTH}, {"immutable", GL_BUFFER_IMMUTABLE_STORAGE},
               {"storage", GL_BUFFER_STORAGE_FLAGS}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        GLint value = -7;
        glGetBufferParameteriv(target, all[i].pname, &value);
        note("  %s %#x", all[i].name, (unsigned)value);
        errors(all[i].name);
    }
}

static void storage(void)
{
    no_picture();
    if (!need_extension("GL_ARB_buffer_storage"))
        return;
    unsigned char bytes[64];
    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)(i * 3);
    glBufferStorage(GL_ARRAY_BUFFER, 64, bytes, 0);
    errors("no buffer bound");
    glBufferStorage(GL_TEXTURE_2D, 64, bytes, 0);
    errors("no target");
    new_buffer(GL_ARRAY_BUFFER);
    parameters(GL_ARRAY_BUFFER);
    glBufferData(GL_ARRAY_BUFFER, 64, bytes, GL_STREAM_DRAW);
    parameters(GL_ARRAY_BUFFER);
    static const struct {
        GLsizeiptr size;
        GLbitfield flags;
    } wrong[] = {{0, 0}, {-1, 0}, {64, 0x8000}, {64, GL_MAP_PERSISTENT_BIT}, {64, GL_MAP_READ_BIT | GL_MAP_COHERENT_BIT}, {64, GL_MAP_INVALIDATE_BUFFER_BIT}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        glBufferStorage(GL_ARRAY_BUFFER, wrong[i].size, bytes, wrong[i].flags);
        errors("wrong storage");
    }
    static const GLbitfield flags[] = {0,
                                       GL_DYNAMIC_STORAGE_BIT,
                                       GL_MAP_READ_BIT,
                                       GL_MAP_WRITE_BIT | GL_CLIENT_STORAGE_BIT,
                                       ALL,
                                       GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_DYNAMIC_STORAGE_BIT};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        note("flags %#x", flags[i]);
        new_buffer(GL_ARRAY_BUFFER);
        glBufferStorage(GL_ARRAY_BUFFER, 64, bytes, flags[i]);
        errors("storage");
        parameters(GL_ARRAY_BUFFER);
        glBufferStorage(GL_ARRAY_BUFFER, 64, bytes, flags[i]);
        errors("again");
        glBufferData(GL_ARRAY_BUFFER, 32, bytes, GL_STATIC_DRAW);
        errors("data");
        glBufferData(GL_ARRAY_BUFFER, -1, bytes, GL_STATIC_DRAW);
        errors("data of a negative size");
        glBufferSubData(GL_ARRAY_BUFFER, 8, 8, bytes);
        errors("part");
        glBufferSubData(GL_ARRAY_BUFFER, 60, 8, bytes);
        errors("part beyond the end");
        static const GLbitfield access[] = {GL_MAP_READ_BIT,
                                            GL_MAP_WRITE_BIT,
                                            GL_MAP_READ_BIT | GL_MAP_WRITE_BIT,
                                            GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT,
                                            GL_MAP_WRITE_BIT | GL_MAP_COHERENT_BIT,
                                            ALL,
                                            GL_MAP_PERSISTENT_BIT,
                                            GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_FLUSH_EXPLICIT_BIT};
        for (size_t j = 0; j < sizeof access / sizeof *access; j++) {
            void *map = glMapBufferRange(GL_ARRAY_BUFFER, 16, 32, access[j]);
            note("  access %#x: %d", access[j], map != NULL);
            errors("map");
            if (map && access[j] & GL_MAP_READ_BIT)
                note_bytes("mapped", map, 32);
            if (map) {
                if (j == 5)
                    parameters(GL_ARRAY_BUFFER);
                glBufferSubData(GL_ARRAY_BUFFER, 16, 4, bytes);
                errors("part while mapped");
                glGetBufferSubData(GL_ARRAY_BUFFER, 0, 16, bytes);
                errors("read while mapped");
                glInvalidateBufferData(0);
                errors("nothing invalidated");
                glUnmapBuffer(GL_ARRAY_BUFFER);
                errors("unmap");
            }
        }
        note("map: %d", glMapBuffer(GL_ARRAY_BUFFER, GL_READ_WRITE) != NULL);
        errors("map all");
        unsigned char now[64];
        glUnmapBuffer(GL_ARRAY_BUFFER);
        errors("unmap all");
        glGetBufferSubData(GL_ARRAY_BUFFER, 0, 64, now);
        note_bytes("contents", now, 64);
    }
}

/* Vertices are rewritten between draws, without a fence if they do not overlap. */
static void draws(GLbitfield access)
{
    if (!need_extension("GL_ARB_buffer_storage"))
        return no_picture();
    enum { ROUNDS = 16, BYTES = 6 * 2 * sizeof(GLfloat) };
    pixel_projection();
    new_buffer(GL_ARRAY_BUFFER);
    GLbitfield flags = access & (GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT);
    glBufferStorage(GL_ARRAY_BUFFER, ROUNDS * BYTES, NULL, flags);
    GLfloat *vertices = glMapBufferRange(GL_ARRAY_BUFFER, 0, ROUNDS * BYTES, access);
    errors("map");
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    glEnableClientState(GL_VERTEX_ARRAY);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < ROUNDS; i++) {
            float x = (float)(i % 4) * 64 + 4 * (float)turn, y = (float)(i / 4) * 64 + 4 * (float)turn, s = 40 - 8 * (float)turn;
            const GLfloat square[12] = {x, y, x + s, y, x, y + s, x + s, y, x + s, y + s, x, y + s};
            memcpy(vertices + i * 12, square, sizeof square);
            if (access & GL_MAP_FLUSH_EXPLICIT_BIT)
                glFlushMappedBufferRange(GL_ARRAY_BUFFER, i * (GLintptr)BYTES, BYTES);
            else if (!(access & GL_MAP_COHERENT_BIT))
                glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
            color_of(i + 16 * turn);
            glDrawArrays(GL_TRIANGLES, i * 6, 6);
        }
        if (turn == 1)
            glFlush();
        wait_for_all();
    }
    errors("draws");
    glFlushMappedBufferRange(GL_ARRAY_BUFFER, 8, 8);
    errors("flush");
    glFlushMappedBufferRange(GL_ARRAY_BUFFER, 8, ROUNDS * BYTES);
    errors("flush beyond the range");
    note("unmap %d", glUnmapBuffer(GL_ARRAY_BUFFER));
    GLfloat last[12];
    glGetBufferSubData(GL_ARRAY_BUFFER, 15 * BYTES, BYTES, last);
    note_floats("last", last, 12);
    errors("end");
}

static void coherent(void)
{
    draws(ALL);
}

static void barriers(void)
{
    draws(GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT);
}

static void explicit_flushes(void)
{
    draws(GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
}

/* Commands write to a buffer during a persistent mapping. The mapping shows the results after the
 * program has waited for them. */
static void written_by_the_server(void)
{
    if (!need_extension("GL_ARB_buffer_storage"))
        return no_picture();
    enum { SIDE = 64, BYTES = SIDE * SIDE * 4 };
    new_buffer(GL_PIXEL_PACK_BUFFER);
    glBufferStorage(GL_PIXEL_PACK_BUFFER, 4 * BYTES, NULL, ALL);
    unsigned char *map = glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, 4 * BYTES, ALL);
    note_bytes("at first", map, 4 * BYTES);
    for (int i = 0; i < 4; i++) {
        glClearColor((float)i / 4, 0.5f, 1 - (float)i / 4, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, (void *)(intptr_t)(i * BYTES));
        if (i == 1)
            glFinish();
        else
            wait_for_all();
        note_bytes("read pixels", map, 4 * BYTES);
        map[i * BYTES + 5] = 7;
    }
    new_buffer(GL_COPY_READ_BUFFER);
    glBufferData(GL_COPY_READ_BUFFER, 16, "abcdefghijklmno", GL_STATIC_DRAW);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_PIXEL_PACK_BUFFER, 0, 100, 16);
    wait_for_all();
    note_bytes("copied", map + 96, 32);
    const GLubyte clear = 99;
    glClearBufferSubData(GL_PIXEL_PACK_BUFFER, GL_R8, 104, 4, GL_RED, GL_UNSIGNED_BYTE, &clear);
    wait_for_all();
    note_bytes("cleared", map + 96, 32);
    map[105] = 'b';
    map[108] = 0;
    glCopyBufferSubData(GL_PIXEL_PACK_BUFFER, GL_COPY_READ_BUFFER, 100, 0, 16);
    char back[16];
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, 16, back);
    note_bytes("back", back, 16);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    errors("end");
    /* A picture is drawn from the mapped buffer. */
    GLint buffer;
    glGetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &buffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, (GLuint)buffer);
    for (int i = 0; i < 4; i++) {
        memset(map + i * BYTES, 40 * i, BYTES / 2);
        glWindowPos2i(i * SIDE, i * SIDE);
        glDrawPixels(SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, (void *)(intptr_t)(i * BYTES));
    }
    errors("pictures");
}

/* The kernel writes to the mapping. */
static void read_into(void)
{
    no_picture();
    if (!need_extension("GL_ARB_buffer_storage"))
        return;
    enum { BYTES = 300000 };
    new_buffer(GL_ARRAY_BUFFER);
    glBufferStorage(GL_ARRAY_BUFFER, BYTES, NULL, ALL);
    unsigned char *map = glMapBufferRange(GL_ARRAY_BUFFER, 0, BYTES, ALL);
    int ends[2];
    if (pipe(ends))
        return note("no pipe");
    for (int at = 0; at < BYTES; at += 50000) {
        unsigned char bytes[50000];
        for (int i = 0; i < 50000; i++)
            bytes[i] = (unsigned char)((at + i) * 7 >> 3);
        note("written %zd", write(ends[1], bytes, sizeof bytes));
        for (ssize_t got = 0, n; got < 50000; got += n)
            if ((n = read(ends[0], map + at + got, (size_t)(50000 - got))) <= 0)
                break;
        unsigned char *copy = malloc(BYTES);
        glGetBufferSubData(GL_ARRAY_BUFFER, 0, BYTES, copy);
        note_bytes("contents", copy, BYTES);
        free(copy);
    }
    close(ends[0]);
    close(ends[1]);
    GLuint name;
    glGetIntegerv(GL_ARRAY_BUFFER_BINDING, (GLint *)&name);
    glDeleteBuffers(1, &name);
    errors("deleted while mapped");
}

/* The program rewrites values that the server has changed. */
static void written_again(void)
{
    no_picture();
    if (!need_extension("GL_ARB_buffer_storage"))
        return;
    new_buffer(GL_COPY_WRITE_BUFFER);
    glBufferStorage(GL_COPY_WRITE_BUFFER, 256, NULL, ALL);
    unsigned char *map = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, 256, ALL);
    for (int i = 0; i < 4; i++) {
        const GLubyte clear = (GLubyte)(20 + i);
        glClearBufferData(GL_COPY_WRITE_BUFFER, GL_R8, GL_RED, GL_UNSIGNED_BYTE, &clear);
        wait_for_all();
        note("seen %d %d", map[0], map[200]);
        map[0] = 0;
        map[200] = (unsigned char)i;
        unsigned char now[256];
        glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, 256, now);
        note_bytes("now", now, 256);
    }
    errors("end");
}

CONFORM("buffer_storage", COMPAT, {"storage", storage}, {"coherent", coherent}, {"barriers", barriers}, {"explicit_flushes", explicit_flushes},
        {"written_by_the_server", written_by_the_server}, {"read_into", read_into}, {"written_again", written_again})
