/* Every name that glGet* might know, in each of its types: new contexts, and after every kind of state was changed. */
#include "conform.h"

/* Names of 16 bits; beyond are no names of state. */
#define NAMES 0x9400
/* The longest list of values is that of compressed formats. */
#define ROOM 1024

/* What differs from one machine to the next, or from one way to the renderer to the other. */
static bool is_comparable(GLenum name)
{
    switch (name) {
    case GL_MAJOR_VERSION:
    case GL_MINOR_VERSION:
    case GL_NUM_EXTENSIONS:
    case GL_NUM_SHADING_LANGUAGE_VERSIONS:
    case GL_TIMESTAMP:
    case 0x9047 ... 0x904B: /* GL_GPU_MEMORY_INFO_*_NVX */
    case 0x87FB ... 0x87FD: /* GL_*_FREE_MEMORY_ATI */
        return false;
    default:
        return true;
    }
}

/* Counts values that were written: those behind keep the byte they were filled with. */
static size_t written(const unsigned char *values, size_t size)
{
    size_t used = size;
    while (used > 0 && values[used - 1] == 0xA5)
        used--;
    return used;
}

static void note_value(const char *command, GLenum name, const void *values, size_t size)
{
    GLenum error = glGetError();
    size_t used = written(values, size);
    if (error == GL_INVALID_ENUM && used == 0)
        return;
    note("%s(%04x): %s, %zu bytes, %08x", command, name, error_name(error), used, checksum(values, used));
}

static void every_name(void)
{
    static unsigned char values[ROOM * 8];
    for (GLenum name = 0; name < NAMES; name++) {
        if (!is_comparable(name))
            continue;
        memset(values, 0xA5, sizeof values);
        glGetIntegerv(name, (GLint *)values);
        note_value("glGetIntegerv", name, values, sizeof values);
        memset(values, 0xA5, sizeof values);
        glGetFloatv(name, (GLfloat *)values);
        note_value("glGetFloatv", name, values, sizeof values);
        memset(values, 0xA5, sizeof values);
        glGetDoublev(name, (GLdouble *)values);
        note_value("glGetDoublev", name, values, sizeof values);
        memset(values, 0xA5, sizeof values);
        glGetBooleanv(name, values);
        note_value("glGetBooleanv", name, values, sizeof values);
        memset(values, 0xA5, sizeof values);
        glGetInteger64v(name, (GLint64 *)values);
        note_value("glGetInteger64v", name, values, sizeof values);
        GLboolean enabled = glIsEnabled(name);
        GLenum error = glGetError();
        if (error != GL_INVALID_ENUM)
            note("glIsEnabled(%04x) = %d: %s", name, enabled, error_name(error));
    }
}
