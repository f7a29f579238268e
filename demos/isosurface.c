/* Marching cubes. A cell has 256 cases, because each of its eight corners is inside or outside. The
 * triangles of each case are computed here, not read from a table.
 *
 * Corner c of a cell is at x = c & 1, y = c >> 1 & 1, z = c >> 2 & 1. The corners of each face are
 * visited anticlockwise, as seen from outside the cell. A line cuts off every sequence of inside
 * corners. The line goes from the edge at which the sequence ends to the edge at which it begins.
 * Two faces share an edge and visit it in opposite directions, so each crossed edge begins one line
 * and ends another. Therefore the lines form loops, and a loop is a polygon of the surface. The
 * rule for a face uses that face only. So neighbouring cells agree, and the surface has no
 * holes. */
#include "isosurface.h"

#define MAX_TRIANGLES 8

struct cell_case {
    int triangles;
    unsigned char edges[MAX_TRIANGLES * 3];
};

static struct cell_case cases[256];

/* Edges along axis a are numbered a * 4 + the other two coordinates. The two corners of an edge
 * differ in one bit. */
static int edge_between(int corner, int other)
{
    int low = corner & other, difference = corner ^ other;
    int axis = difference == 1 ? 0 : difference == 2 ? 1 : 2;
    return axis * 4 + ((low >> (axis + 1) << axis) | (low & (difference - 1)));
}

static void corners_of_edge(int edge, int corners[2])
{
    int axis = edge / 4, rest = edge % 4, below = rest & ((1 << axis) - 1);
    corners[0] = (rest >> axis << (axis + 1)) | below;
    corners[1] = corners[0] | 1 << axis;
}

static void face_corners(int axis, int side, int corners[4])
{
    int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, base = side << axis;
    int around[4] = {base, base | u, base | u | v, base | v};
    for (int i = 0; i < 4; i++)
        corners[i] = around[side ? i : 3 - i];
}

static void derive_case(int inside, struct cell_case *result)
{
    int next[12];
    for (int edge = 0; edge < 12; edge++)
        next[edge] = -1;
    for (int face = 0; face < 6; face++) {
        int corners[4];
        face_corners(face / 2, face % 2, corners);
        for (int i = 0; i < 4; i++) {
            if (!(inside >> corners[i] & 1) || inside >> corners[(i + 1) % 4] & 1)
                continue;
            int first = i; /* The walk leaves the inside after corner i; find where it entered. */
            while (inside >> corners[(first + 3) % 4] & 1)
                first = (first + 3) % 4;
            next[edge_between(corners[i], corners[(i + 1) % 4])] = edge_between(corners[(first + 3) % 4], corners[first]);
        }
    }
    for (int start = 0; start < 12; start++) {
        int previous = -1;
        for (int edge = next[start], following; edge >= 0; edge = following) {
            following = next[edge];
            next[edge] = -1;
            if (edge == start)
                break;
            if (previous >= 0) {
                unsigned char *triangle = &result->edges[result->triangles++ * 3];
                triangle[0] = (unsigned char)start;
                triangle[1] = (unsigned char)edge;
                triangle[2] = (unsigned char)previous;
            }
            previous = edge;
        }
    }
}

static void derive_cases(void)
{
    if (cases[1].triangles)
        return;
    for (int inside = 0; inside < 256; inside++)
        derive_case(inside, &cases[inside]);
}

static float sample(const struct volume *volume, int x, int y, int z)
{
    return volume->samples[((size_t)z * (size_t)volume->size + (size_t)y) * (size_t)volume->size + (size_t)x];
}

static int inside_of(const struct volume *volume, int x, int y, int z)
{
    int inside = 0;
    for (int corner = 0; corner < 8; corner++)
        if (sample(volume, x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2)) < 0)
            inside |= 1 << corner;
    return inside;
}

/* The direction in which the samples increase, from the differences between neighbours (one-sided
 * at the border). */
static void gradient(const struct volume *volume, const int at[3], float out[3])
{
    for (int axis = 0; axis < 3; axis++) {
        int low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
        low[axis] -= at[axis] > 0;
        high[axis] += at[axis] < volume->size - 1;
        out[axis] = (sample(volume, high[0], high[1], high[2]) - sample(volume, low[0], low[1], low[2])) / (float)(high[axis] - low[axis]);
    }
}

static struct vertex crossing(const struct volume *volume, const int cell[3], int edge)
{
    int corners[2], at[2][3];
    float gradients[2][3];
    corners_of_edge(edge, corners);
    for (int end = 0; end < 2; end++) {
        for (int axis = 0; axis < 3; axis++)
            at[end][axis] = cell[axis] + (corners[end] >> axis & 1);
        gradient(volume, at[end], gradients[end]);
    }
    float low = sample(volume, at[0][0], at[0][1], at[0][2]), high = sample(volume, at[1][0], at[1][1], at[1][2]);
    float fraction = low / (low - high);
    struct vertex vertex;
    for (int axis = 0; axis < 3; axis++) {
        float coordinate = (float)at[0][axis] + fraction * (float)(at[1][axis] - at[0][axis]);
        vertex.position[axis] = coordinate * 2 / (float)(volume->size - 1) - 1;
        vertex.normal[axis] = gradients[0][axis] + fraction * (gradients[1][axis] - gradients[0][axis]);
    }
    normalize(vertex.normal);
    return vertex;
}

size_t isosurface_count(const struct volume *volume)
{
    size_t triangles = 0;
    derive_cases();
    for (int z = 0; z < volume->size - 1; z++)
        for (int y = 0; y < volume->size - 1; y++)
            for (int x = 0; x < volume->size - 1; x++)
                triangles += (size_t)cases[inside_of(volume, x, y, z)].triangles;
    return triangles;
}

void isosurface_extract(const struct volume *volume, int part, int parts, struct mesh *mesh)
{
    int cells = volume->size - 1;
    derive_cases();
    mesh->primitive = GL_TRIANGLES;
    for (int z = cells * part / parts; z < cells * (part + 1) / parts; z++) {
        for (int y = 0; y < volume->size - 1; y++) {
            for (int x = 0; x < volume->size - 1; x++) {
                const struct cell_case *found = &cases[inside_of(volume, x, y, z)];
                int cell[3] = {x, y, z};
                for (int i = 0; i < found->triangles * 3; i++)
                    *mesh_add(mesh) = crossing(volume, cell, found->edges[i]);
            }
        }
    }
}
