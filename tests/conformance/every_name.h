/* Queries every name that glGet* and glIsEnabled know, in each type of value. */
#ifndef EVERY_NAME_H
#define EVERY_NAME_H

#include "conform.h"

/* There are no names of state above this. */
#define LAST_NAME 0x9400
/* The longest list of values is that of compressed formats. */
#define MOST_VALUES 1024

/* Whether the value of a name is the same on every way to the renderer. Values of versions and
 * extensions differ, and so do values of memory and time. */
static bool is_comparable(GLenum name)
{
    bool memory = (name >= 0x9047 && name <= 0x904B) || (name >= 0x87FB && name <= 0x87FD);
    return !memory && name != GL_MAJOR_VERSION && name != GL_MINOR_VERSION && name != GL_NUM_EXTENSIONS && name != GL_NUM_SHADING_LANGUAGE_VERSIONS &&
           name != GL_TIMESTAMP;
}

static unsigned char values[MOST_VALUES * 8];

/* Logs the bytes that were written over the fill pattern, and returns the error. */
static GLenum note_value(const char *command, GLenum name)
{
    char title[64];
    size_t used = sizeof values;
    GLenum error = glGetError();
    if (error != GL_NO_ERROR)
        return error;
    while (used > 0 && values[used - 1] == 0xA5)
        used--;
    snprintf(title, sizeof title, "%s(%04x)", command, name);
    note_bytes(title, values, used);
    return GL_NO_ERROR;
}

/* Mesa writes nothing if the stride of an array is queried as a 64-bit integer. */
static bool is_stride(GLenum name)
{
    static const GLenum strides[] = {GL_VERTEX_ARRAY_STRIDE,        GL_NORMAL_ARRAY_STRIDE,    GL_COLOR_ARRAY_STRIDE,
                                     GL_INDEX_ARRAY_STRIDE,         GL_TEXTURE_COORD_ARRAY_STRIDE, GL_EDGE_FLAG_ARRAY_STRIDE,
                                     GL_FOG_COORD_ARRAY_STRIDE,     GL_SECONDARY_COLOR_ARRAY_STRIDE};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        if (strides[i] == name)
            return true;
    return false;
}

static void fill(void)
{
    memset(values, 0xA5, sizeof values);
}

/* A name that the first scene does not know is not queried again. All contexts of a program are of
 * one kind, and each unknown name costs two round trips. */
static void every_name(void)
{
    static bool is_unknown[LAST_NAME];
    bool wide = has_version(3, 2);
    for (GLenum name = 0; name < LAST_NAME; name++) {
        if (is_unknown[name] || !is_comparable(name))
            continue;
        fill();
        glGetIntegerv(name, (GLint *)values);
        GLenum error = note_value("glGetIntegerv", name);
        is_unknown[name] = error == GL_INVALID_ENUM;
        if (error != GL_NO_ERROR)
            continue;
        fill();
        glGetFloatv(name, (GLfloat *)values);
        note_value("glGetFloatv", name);
        fill();
        glGetDoublev(name, (GLdouble *)values);
        note_value("glGetDoublev", name);
        fill();
        glGetBooleanv(name, values);
        note_value("glGetBooleanv", name);
        if (wide && !is_stride(name)) {
            fill();
            glGetInteger64v(name, (GLint64 *)values);
            note_value("glGetInteger64v", name);
        }
        GLboolean enabled = glIsEnabled(name);
        if (glGetError() == GL_NO_ERROR)
            note("glIsEnabled(%04x) = %d", name, enabled);
    }
}

#endif
