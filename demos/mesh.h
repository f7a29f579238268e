/* Vertices with normals, and functions that draw them in each mode. */
#ifndef DEMOS_MESH_H
#define DEMOS_MESH_H

#include "common.h"

/* The layout of glInterleavedArrays(GL_N3F_V3F). */
struct vertex {
    float normal[3];
    float position[3];
};

/* `runs` primitives of `run_length` vertices each, one after the other. Independent triangles are a
 * single run. */
struct mesh {
    GLenum primitive;
    struct vertex *vertices;
    size_t count, capacity;
    size_t runs, run_length;
    GLuint buffer; /* the buffer object of modes vbo and static */
};

/* Makes room for one more vertex, and returns the vertex. */
struct vertex *mesh_add(struct mesh *mesh);

/* Prepares a finished mesh for mesh_draw() in this mode. */
void mesh_prepare(struct mesh *mesh, enum mode mode);
void mesh_draw(const struct mesh *mesh, enum mode mode);
void mesh_free(struct mesh *mesh);

/* The lighting of all demos: one white light from above the eye, with glColor as the material. */
void use_lighting(void);

void subtract(float out[3], const float a[3], const float b[3]);
void cross(float out[3], const float a[3], const float b[3]);
float dot(const float a[3], const float b[3]);
/* A zero vector becomes a vector along z. */
void normalize(float v[3]);

#endif
