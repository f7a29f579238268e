/* A chain of interlinked rings that turn within each other. It has little geometry and many
 * frames. */
#include "mesh.h"

#include <math.h>

#define RINGS 6
#define AROUND 48 /* quads along a ring */
#define ACROSS 16 /* quads around its tube */
#define PI 3.14159265f

static struct mesh mesh;
static float colors[RINGS][3];
static float phases[RINGS];

static void add(float along, float around)
{
    const float radius = 1.0f, tube = 0.22f;
    struct vertex *vertex = mesh_add(&mesh);
    float outward = cosf(around);
    vertex->normal[0] = outward * cosf(along);
    vertex->normal[1] = outward * sinf(along);
    vertex->normal[2] = sinf(around);
    vertex->position[0] = (radius + tube * outward) * cosf(along);
    vertex->position[1] = (radius + tube * outward) * sinf(along);
    vertex->position[2] = tube * sinf(around);
}

static long setup(const struct options *options)
{
    struct random random;
    random_seed(&random, options->seed);
    mesh.primitive = GL_QUAD_STRIP;
    mesh.runs = ACROSS;
    mesh.run_length = 2 * (AROUND + 1);
    for (int strip = 0; strip < ACROSS; strip++) {
        for (int i = 0; i <= AROUND; i++) {
            float along = 2 * PI * (float)(i % AROUND) / AROUND;
            add(along, 2 * PI * (float)((strip + 1) % ACROSS) / ACROSS);
            add(along, 2 * PI * (float)strip / ACROSS);
        }
    }
    mesh_prepare(&mesh, options->mode);
    for (int i = 0; i < RINGS; i++) {
        for (int c = 0; c < 3; c++)
            colors[i][c] = 0.6f + 0.4f * cosf(2 * PI * ((float)i / RINGS - (float)c / 3));
        phases[i] = 360 * random_float(&random);
    }
    use_lighting();
    glClearColor(0.1f, 0.1f, 0.14f, 1.0f);
    return (long)RINGS * ACROSS * AROUND * 2;
}

/* The rings are side by side along a circle. Each is turned by a quarter from the previous one, and
 * swings about the line through their centres. */
static void draw(const struct options *options, long frame)
{
    float time = (float)(frame % 36000);
    glTranslatef(0, 0, -6.5f);
    glRotatef(50 + 15 * sinf(time * 0.02f), 1, 0, 0);
    glRotatef(time * 0.6f, 0, 0, 1);
    for (int i = 0; i < RINGS; i++) {
        glPushMatrix();
        glRotatef(360.0f * (float)i / RINGS, 0, 0, 1);
        glTranslatef(1.6f, 0, 0);
        glRotatef((i % 2 ? 90.0f : 0.0f) + 12 * sinf(time * 0.05f + phases[i] * PI / 180), 0, 1, 0);
        glRotatef(time * 2 + phases[i], 0, 0, 1);
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
        .name = "rings",
        .about = "A chain of interlinked rings, animated: light geometry.",
        .default_mode = MODE_IMMEDIATE,
        .default_width = 640,
        .default_height = 480,
        .setup = setup,
        .draw = draw,
        .cleanup = cleanup,
    };
    return demo_main(&demo, argc, argv);
}
