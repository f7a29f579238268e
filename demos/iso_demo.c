/* Ten instances of an isosurface. They have many independent triangles, as is typical of scientific
 * visualisation. */
#include "isosurface.h"

#include <math.h>
#include <stdlib.h>

#define INSTANCES 10
#define MAX_SIZE 1024

static struct mesh mesh;
static float colors[INSTANCES][3];
static float axes[INSTANCES][3];
static float speeds[INSTANCES];

/* A solid ball like a sponge: a warped periodic surface, cut by a sphere. The seed moves and warps
 * the surface. */
static void fill(struct volume *volume, const float parameters[8])
{
    float *out = volume->samples;
    for (int k = 0; k < volume->size; k++) {
        for (int j = 0; j < volume->size; j++) {
            for (int i = 0; i < volume->size; i++) {
                float scale = 2.0f / (float)(volume->size - 1);
                float x = (float)i * scale - 1, y = (float)j * scale - 1, z = (float)k * scale - 1;
                float u = 6 * x + parameters[0] + 0.8f * parameters[3] * sinf(3 * y + parameters[6]);
                float v = 6 * y + parameters[1] + 0.8f * parameters[4] * sinf(3 * z + parameters[7]);
                float w = 6 * z + parameters[2] + 0.8f * parameters[5] * sinf(3 * x + parameters[6]);
                float sponge = (sinf(u) * cosf(v) + sinf(v) * cosf(w) + sinf(w) * cosf(u)) * 0.15f;
                float ball = sqrtf(x * x + y * y + z * z) - 0.92f;
                *out++ = sponge > ball ? sponge : ball;
            }
        }
    }
}

static size_t count_at(int size, const float parameters[8])
{
    struct volume volume = {size, allocate((size_t)size * (size_t)size * (size_t)size * sizeof(float))};
    fill(&volume, parameters);
    size_t triangles = isosurface_count(&volume);
    free(volume.samples);
    return triangles;
}

/* Finds the size at which the number of triangles is nearest to `wanted`. The surface has about c *
 * size^2 triangles. */
static int choose_size(double wanted, const float parameters[8])
{
    int size = 40;
    for (int step = 0; step < 3; step++) {
        double triangles = (double)count_at(size, parameters);
        double better = 1 + (size - 1) * sqrt(wanted / (triangles > 1 ? triangles : 1));
        if (better > MAX_SIZE)
            die("--triangles %.0f would need a volume of more than %d samples an axis", wanted * INSTANCES, MAX_SIZE);
        size = better < 4 ? 4 : (int)(better + 0.5);
    }
    return size;
}

static long setup(const struct options *options)
{
    struct random random;
    float parameters[8];
    random_seed(&random, options->seed);
    for (int i = 0; i < 8; i++)
        parameters[i] = random_float(&random) * (i >= 3 && i < 6 ? 1.0f : 6.2831853f);

    int size = choose_size((double)options->triangles / INSTANCES, parameters);
    struct volume volume = {size, allocate((size_t)size * (size_t)size * (size_t)size * sizeof(float))};
    fill(&volume, parameters);
    isosurface_extract(&volume, options->part, options->parts, &mesh);
    free(volume.samples);
    mesh_prepare(&mesh, options->mode);

    for (int i = 0; i < INSTANCES; i++) {
        for (int c = 0; c < 3; c++) {
            colors[i][c] = 0.6f + 0.4f * cosf(6.2831853f * ((float)i / INSTANCES - (float)c / 3));
            axes[i][c] = random_float(&random) * 2 - 1;
        }
        normalize(axes[i]);
        speeds[i] = 1 + 2 * random_float(&random);
    }
    use_lighting();
    glClearColor(0.05f, 0.06f, 0.1f, 1.0f);
    return (long)(mesh.count / 3) * INSTANCES;
}

static void draw(const struct options *options, long frame)
{
    float time = (float)(frame % 36000);
    glTranslatef(0, 0, -8);
    glRotatef(25, 1, 0, 0);
    glRotatef(time * 0.5f, 0, 1, 0);
    for (int i = 0; i < INSTANCES; i++) {
        float angle = 6.2831853f * (float)i / INSTANCES;
        glPushMatrix();
        glTranslatef(3.1f * cosf(angle), 0, 3.1f * sinf(angle));
        glRotatef(time * speeds[i], axes[i][0], axes[i][1], axes[i][2]);
        glColor3fv(colors[i]);
        mesh_draw(&mesh, options->mode);
        glPopMatrix();
    }
}

static void cleanup(void)
{
    mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    static const struct demo demo = {
        .name = "iso_demo",
        .about = "Ten instances of an isosurface, found in a generated volume by marching cubes.",
        .default_mode = MODE_IMMEDIATE,
        .default_triangles = 1200000,
        .has_parts = true,
        .default_width = 800,
        .default_height = 600,
        .setup = setup,
        .draw = draw,
        .cleanup = cleanup,
    };
    return demo_main(&demo, argc, argv);
}
