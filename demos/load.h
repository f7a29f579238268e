/* Reading models from files. */
#ifndef DEMOS_LOAD_H
#define DEMOS_LOAD_H

#include "mesh.h"

/* A model as in a file: points, and triangles as triples of indices. Corner i of a triangle has the
 * normal normals[normal_indices[i]]. The normal index NO_NORMAL requests the average normal of the
 * faces around the point. */
#define NO_NORMAL 0xFFFFFFFFu

struct model {
    float (*points)[3];
    size_t point_count, point_capacity;
    float (*normals)[3];
    size_t normal_count, normal_capacity;
    uint32_t *indices, *normal_indices;
    size_t index_count, index_capacity;
};

void model_add_point(struct model *model, const float point[3]);
void model_add_normal(struct model *model, const float normal[3]);
void model_add_corner(struct model *model, uint32_t index, uint32_t normal_index);
void model_free(struct model *model);

/* Reads a whole file into memory, with a zero byte after its `size` bytes. Exits with a message if
 * this fails. */
char *read_whole_file(const char *file, size_t *size);

/* Both functions exit with a message if the file is not such a model. The message names the file
 * and the position in it. All indices of the model are in range. */
void load_obj(const char *file, char *text, struct model *model);
void load_ply(const char *file, const char *data, size_t size, struct model *model);

#endif
