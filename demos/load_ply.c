/* PLY, as text and in both binary byte orders: vertices with optional normals, and faces with any
 * number of corners. Other data is ignored. */
#include "load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMENTS 16
#define MAX_PROPERTIES 64

enum encoding { ENCODING_TEXT, ENCODING_LITTLE, ENCODING_BIG };
enum type { TYPE_NONE, TYPE_I8, TYPE_U8, TYPE_I16, TYPE_U16, TYPE_I32, TYPE_U32, TYPE_F32, TYPE_F64 };
enum role { ROLE_OTHER, ROLE_X, ROLE_Y, ROLE_Z, ROLE_NX, ROLE_NY, ROLE_NZ, ROLE_INDICES };

struct property {
    enum type type, count_type; /* count_type is TYPE_NONE unless it is a list */
    enum role role;
};

struct element {
    char name[32];
    unsigned long long count;
    struct property properties[MAX_PROPERTIES];
    int property_count;
};

struct reader {
    const char *file;
    const char *at, *end;
    enum encoding encoding;
    struct element elements[MAX_ELEMENTS];
    int element_count;
    long line;
};

static enum type type_named(const struct reader *reader, const char *name)
{
    static const char *const names[][2] = {{"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"}, {"ushort", "uint16"},
                                           {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};
    for (int i = 0; i < 8; i++)
        if (strcmp(name, names[i][0]) == 0 || strcmp(name, names[i][1]) == 0)
            return (enum type)(TYPE_I8 + i);
    die("%s, line %ld: unknown type '%s'", reader->file, reader->line, name);
}

static enum role role_named(const char *element, const char *name, bool list)
{
    static const char *const names[] = {"x", "y", "z", "nx", "ny", "nz"};
    if (list)
        return strcmp(element, "face") == 0 && (strcmp(name, "vertex_indices") == 0 || strcmp(name, "vertex_index") == 0) ? ROLE_INDICES : ROLE_OTHER;
    if (strcmp(element, "vertex") == 0)
        for (int i = 0; i < 6; i++)
            if (strcmp(name, names[i]) == 0)
                return (enum role)(ROLE_X + i);
    return ROLE_OTHER;
}

static void header_line(struct reader *reader, char line[256])
{
    const char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    if (!newline || newline - reader->at > 255)
        die("%s, line %ld: the header does not end, or has a line of more than 255 bytes", reader->file, reader->line + 1);
    size_t length = (size_t)(newline - reader->at);
    memcpy(line, reader->at, length);
    line[length] = 0;
    if (length && line[length - 1] == '\r')
        line[length - 1] = 0;
    reader->at = newline + 1;
    reader->line++;
}

static void read_property(struct reader *reader, const char *line)
{
    char first[32], second[32], third[32], name[64];
    struct element *element = &reader->elements[reader->element_count - 1];
    if (reader->element_count == 0 || element->property_count == MAX_PROPERTIES)
        die("%s, line %ld: a property before any element, or more than %d of them", reader->file, reader->line, MAX_PROPERTIES);
    struct property *property = &element->properties[element->property_count++];
    bool list = sscanf(line, "property %31s %31s %31s %63s", first, second, third, name) == 4 && strcmp(first, "list") == 0;
    if (list) {
        property->count_type = type_named(reader, second);
        property->type = type_named(reader, third);
    } else if (sscanf(line, "property %31s %63s", first, name) == 2) {
        property->type = type_named(reader, first);
    } else {
        die("%s, line %ld: '%s' is not a property", reader->file, reader->line, line);
    }
    property->role = role_named(element->name, name, list);
}

static void read_header(struct reader *reader)
{
    char line[256], word[32];
    bool has_format = false;
    header_line(reader, line);
    if (strcmp(line, "ply") != 0)
        die("%s is not a PLY file: its first line is not 'ply'", reader->file);
    for (header_line(reader, line); strcmp(line, "end_header") != 0; header_line(reader, line)) {
        if (sscanf(line, "format %31s", word) == 1) {
            has_format = true;
            if (strcmp(word, "ascii") == 0)
                reader->encoding = ENCODING_TEXT;
            else if (strcmp(word, "binary_little_endian") == 0)
                reader->encoding = ENCODING_LITTLE;
            else if (strcmp(word, "binary_big_endian") == 0)
                reader->encoding = ENCODING_BIG;
            else
                die("%s, line %ld: unknown format '%s'", reader->file, reader->line, word);
        } else if (strncmp(line, "element ", 8) == 0) {
            if (reader->element_count == MAX_ELEMENTS)
                die("%s, line %ld: more than %d elements", reader->file, reader->line, MAX_ELEMENTS);
            struct element *element = &reader->elements[reader->element_count++];
            if (sscanf(line, "element %31s %llu", element->name, &element->count) != 2)
                die("%s, line %ld: '%s' is not an element", reader->file, reader->line, line);
        } else if (strncmp(line, "property ", 9) == 0) {
            read_property(reader, line);
        } else if (*line && strncmp(line, "comment", 7) != 0 && strncmp(line, "obj_info", 8) != 0) {
            die("%s, line %ld: '%s' is not understood", reader->file, reader->line, line);
        }
    }
    if (!has_format)
        die("%s: the header names no format", reader->file);
}

static double read_text(struct reader *reader)
{
    char *end;
    double value = strtod(reader->at, &end);
    if (end == reader->at)
        die("%s: a number is missing %zu bytes before the end", reader->file, (size_t)(reader->end - reader->at));
    reader->at = end;
    return value;
}

static double read_binary(struct reader *reader, enum type type)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};
    size_t size = sizes[type];
    if ((size_t)(reader->end - reader->at) < size)
        die("%s is cut short: its header promises more data", reader->file);
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)(unsigned char)reader->at[reader->encoding == ENCODING_BIG ? size - 1 - i : i] << 8 * i;
    reader->at += size;
    float single;
    double twice;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case TYPE_I8: return (int8_t)bits;
    case TYPE_I16: return (int16_t)bits;
    case TYPE_I32: return (int32_t)bits;
    case TYPE_F32: memcpy(&single, &low, 4); return (double)single;
    case TYPE_F64: memcpy(&twice, &bits, 8); return twice;
    default: return (double)bits;
    }
}

static double read_value(struct reader *reader, enum type type)
{
    return reader->encoding == ENCODING_TEXT ? read_text(reader) : read_binary(reader, type);
}

static void read_list(struct reader *reader, const struct property *property, struct model *model, size_t normal_count)
{
    double corners = read_value(reader, property->count_type);
    uint32_t first = 0, previous = 0;
    if (!(corners >= 0 && corners <= 4294967295.0))
        die("%s: a list of %g values", reader->file, corners);
    for (uint32_t i = 0; i < (uint32_t)corners; i++) {
        double value = read_value(reader, property->type);
        if (property->role != ROLE_INDICES)
            continue;
        if (!(value >= 0 && value < (double)model->point_count))
            die("%s: a face names vertex %g, but there are %zu", reader->file, value, model->point_count);
        uint32_t index = (uint32_t)value;
        if (i == 0)
            first = index;
        if (i >= 2) {
            const uint32_t triangle[3] = {first, previous, index};
            for (int c = 0; c < 3; c++)
                model_add_corner(model, triangle[c], triangle[c] < normal_count ? triangle[c] : NO_NORMAL);
        }
        previous = index;
    }
}

static void read_element(struct reader *reader, const struct element *element, struct model *model)
{
    unsigned roles = 0;
    bool vertices = strcmp(element->name, "vertex") == 0;
    for (int i = 0; i < element->property_count; i++)
        roles |= 1u << element->properties[i].role;
    if (vertices && (~roles & (1u << ROLE_X | 1u << ROLE_Y | 1u << ROLE_Z)))
        die("%s: its vertices have no x, y and z", reader->file);
    bool normals = !(~roles & (1u << ROLE_NX | 1u << ROLE_NY | 1u << ROLE_NZ));
    if (element->property_count == 0)
        return;
    for (unsigned long long row = 0; row < element->count; row++) {
        float values[ROLE_INDICES] = {0};
        for (int i = 0; i < element->property_count; i++) {
            const struct property *property = &element->properties[i];
            if (property->count_type != TYPE_NONE)
                read_list(reader, property, model, model->normal_count);
            else if (property->role == ROLE_OTHER)
                read_value(reader, property->type);
            else
                values[property->role] = (float)read_value(reader, property->type);
        }
        if (vertices)
            model_add_point(model, &values[ROLE_X]);
        if (vertices && normals) {
            normalize(&values[ROLE_NX]);
            model_add_normal(model, &values[ROLE_NX]);
        }
    }
}

void load_ply(const char *file, const char *data, size_t size, struct model *model)
{
    struct reader reader = {.file = file, .at = data, .end = data + size};
    read_header(&reader);
    for (int i = 0; i < reader.element_count; i++)
        read_element(&reader, &reader.elements[i], model);
}
