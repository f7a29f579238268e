/* Wavefront OBJ: points, normals and polygons. All other data in the file is ignored. */
#include "load.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *file;
    long line;
    struct model *model;
};

static void read_floats(const struct reader *reader, const char *text, float out[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        out[i] = strtof(text, &end);
        if (end == text)
            die("%s, line %ld: three numbers expected", reader->file, reader->line);
        text = end;
    }
}

/* OBJ counts from 1. Negative indices count backwards from the latest element. */
static uint32_t resolve(const struct reader *reader, const char *what, long index, size_t count)
{
    long found = index < 0 ? (long)count + index : index - 1;
    if (found < 0 || (size_t)found >= count)
        die("%s, line %ld: there is no %s %ld (%zu read so far)", reader->file, reader->line, what, index, count);
    return (uint32_t)found;
}

/* A corner is POINT, POINT/TEXTURE, POINT//NORMAL or POINT/TEXTURE/NORMAL. Returns the text after
 * it. */
static char *read_corner(const struct reader *reader, char *text, uint32_t corner[2])
{
    char *end;
    long point = strtol(text, &end, 10), normal = 0;
    bool has_normal = false;
    if (end == text)
        die("%s, line %ld: a face needs point numbers", reader->file, reader->line);
    if (*end == '/') {
        end++;
        end += strspn(end, "-0123456789");
        if (*end == '/') {
            end++;
            has_normal = isdigit((unsigned char)*end) || *end == '-';
            if (has_normal)
                normal = strtol(end, &end, 10);
        }
    }
    if (*end && !strchr(" \t\r", *end))
        die("%s, line %ld: '%s' in a face", reader->file, reader->line, text);
    corner[0] = resolve(reader, "point", point, reader->model->point_count);
    corner[1] = has_normal ? resolve(reader, "normal", normal, reader->model->normal_count) : NO_NORMAL;
    return end;
}

static void read_face(const struct reader *reader, char *text)
{
    uint32_t first[2], previous[2], corner[2];
    long corners = 0;
    for (text += strspn(text, " \t\r"); *text; text += strspn(text, " \t\r")) {
        text = read_corner(reader, text, corner);
        if (++corners == 1)
            memcpy(first, corner, sizeof first);
        if (corners >= 3) {
            model_add_corner(reader->model, first[0], first[1]);
            model_add_corner(reader->model, previous[0], previous[1]);
            model_add_corner(reader->model, corner[0], corner[1]);
        }
        memcpy(previous, corner, sizeof previous);
    }
    if (corners < 3)
        die("%s, line %ld: a face of %ld points; it needs three or more", reader->file, reader->line, corners);
}

void load_obj(const char *file, char *text, struct model *model)
{
    struct reader reader = {file, 0, model};
    while (text) {
        char *end = strchr(text, '\n');
        if (end)
            *end++ = 0;
        reader.line++;
        text += strspn(text, " \t");
        float values[3];
        if (strncmp(text, "v ", 2) == 0 || strncmp(text, "v\t", 2) == 0) {
            read_floats(&reader, text + 2, values);
            model_add_point(model, values);
        } else if (strncmp(text, "vn ", 3) == 0 || strncmp(text, "vn\t", 3) == 0) {
            read_floats(&reader, text + 3, values);
            normalize(values);
            model_add_normal(model, values);
        } else if (strncmp(text, "f ", 2) == 0 || strncmp(text, "f\t", 2) == 0) {
            read_face(&reader, text + 2);
        }
        text = end;
    }
}
