#include "mesh.h"

#include <math.h>
#include <stdlib.h>

struct vertex *mesh_add(struct mesh *mesh)
{
    if (mesh->count == mesh->capacity) {
        mesh->capacity = mesh->capacity ? mesh->capacity * 2 : 1024;
        mesh->vertices = reallocate(mesh->vertices, mesh->capacity * sizeof *mesh->vertices);
    }
    return &mesh->vertices[mesh->count++];
}

void mesh_prepare(struct mesh *mesh, enum mode mode)
{
    if (mesh->runs == 0) {
        mesh->runs = 1;
        mesh->run_length = mesh->count;
    }
    if (mode == MODE_IMMEDIATE)
        return;

    const struct vertex *base = mesh->vertices;
    if (mode == MODE_VBO || mode == MODE_STATIC) {
        glGenBuffers(1, &mesh->buffer);
        glBindBuffer(GL_ARRAY_BUFFER, mesh->buffer);
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(mesh->count * sizeof *base), mode == MODE_STATIC ? base : NULL,
                     mode == MODE_STATIC ? GL_STATIC_DRAW : GL_STREAM_DRAW);
        base = NULL;
    }
    glNormalPointer(GL_FLOAT, sizeof *base, (const char *)base + offsetof(struct vertex, normal));
    glVertexPointer(3, GL_FLOAT, sizeof *base, (const char *)base + offsetof(struct vertex, position));
    glEnableClientState(GL_NORMAL_ARRAY);
    glEnableClientState(GL_VERTEX_ARRAY);
}

void mesh_draw(const struct mesh *mesh, enum mode mode)
{
    if (mode == MODE_VBO)
        glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)(mesh->count * sizeof *mesh->vertices), mesh->vertices);

    for (size_t run = 0; run < mesh->runs; run++) {
        size_t first = run * mesh->run_length;
        if (mode != MODE_IMMEDIATE) {
            glDrawArrays(mesh->primitive, (GLint)first, (GLsizei)mesh->run_length);
            continue;
        }
        const struct vertex *vertex = mesh->vertices + first, *end = vertex + mesh->run_length;
        glBegin(mesh->primitive);
        for (; vertex < end; vertex++) {
            glNormal3fv(vertex->normal);
            glVertex3fv(vertex->position);
        }
        glEnd();
    }
}

void mesh_free(struct mesh *mesh)
{
    if (mesh->buffer)
        glDeleteBuffers(1, &mesh->buffer);
    free(mesh->vertices);
    *mesh = (struct mesh){0};
}

void use_lighting(void)
{
    static const float position[] = {0.3f, 0.6f, 1.0f, 0.0f}, ambient[] = {0.15f, 0.15f, 0.2f, 1.0f}, specular[] = {0.5f, 0.5f, 0.5f, 1.0f};
    glLightfv(GL_LIGHT0, GL_POSITION, position);
    glLightModelfv(GL_LIGHT_MODEL_AMBIENT, ambient);
    glMaterialfv(GL_FRONT_AND_BACK, GL_SPECULAR, specular);
    glMaterialf(GL_FRONT_AND_BACK, GL_SHININESS, 40.0f);
    glColorMaterial(GL_FRONT_AND_BACK, GL_AMBIENT_AND_DIFFUSE);
    glEnable(GL_COLOR_MATERIAL);
    glEnable(GL_LIGHT0);
    glEnable(GL_LIGHTING);
}

void subtract(float out[3], const float a[3], const float b[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

void cross(float out[3], const float a[3], const float b[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void normalize(float v[3])
{
    float length = sqrtf(dot(v, v));
    if (!(length > 1e-30f)) {
        v[0] = v[1] = 0;
        v[2] = 1;
        return;
    }
    for (int i = 0; i < 3; i++)
        v[i] /= length;
}
