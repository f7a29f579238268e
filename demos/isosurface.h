/* Isosurfaces of sampled volumes by marching cubes. */
#ifndef DEMOS_ISOSURFACE_H
#define DEMOS_ISOSURFACE_H

#include "mesh.h"

/* `size` samples along each axis, x fastest, over the cube from -1 to 1. The solid is where samples are negative. */
struct volume {
    int size;
    float *samples;
};

/* The number of independent triangles that isosurface_extract() would add. */
size_t isosurface_count(const struct volume *volume);

/*
 * Adds the surface where the volume passes through zero, as independent triangles, anticlockwise seen from outside: that of share `part` of `parts`
 * of the volume, which are slices across its last axis.
 */
void isosurface_extract(const struct volume *volume, int part, int parts, struct mesh *mesh);

#endif
