/* Isosurfaces of sampled volumes by marching cubes. */
#ifndef DEMOS_ISOSURFACE_H
#define DEMOS_ISOSURFACE_H

#include "mesh.h"

/* `size` samples along each axis, with x varying fastest, over the cube from -1 to 1. The solid is
 * where samples are negative. */
struct volume {
    int size;
    float *samples;
};

/* The number of independent triangles that isosurface_extract() would add. */
size_t isosurface_count(const struct volume *volume);

/* Adds the surface at which the samples are zero, as independent triangles, anticlockwise as seen
 * from outside. The volume is divided into `parts` shares of slices along its last axis. Only the
 * surface in share `part` is added. */
void isosurface_extract(const struct volume *volume, int part, int parts, struct mesh *mesh);

#endif
