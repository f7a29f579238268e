/* A cloud of translucent slices, as in a volume renderer. The picture is blended from back to
 * front. */
#include "common.h"

#include <math.h>
#include <stdlib.h>

#define SIZE 96 /* samples an axis, and slices */

static GLuint textures[SIZE];
static int first, last;

static float wrapped(float x)
{
    return 0.5f + 0.5f * sinf(x);
}

/* The density from 0 to 1 in the cube from -1 to 1. It describes a ball of smoke with a denser
 * ring. */
static float density(float x, float y, float z, const float parameters[6])
{
    float radius = sqrtf(x * x + y * y + z * z);
    float smoke = wrapped(7 * x + parameters[0] + 2 * sinf(4 * y + parameters[3])) * wrapped(7 * y + parameters[1] + 2 * sinf(4 * z + parameters[4]))
                  * wrapped(7 * z + parameters[2] + 2 * sinf(4 * x + parameters[5]));
    float from_ring = hypotf(hypotf(x, z) - 0.65f, y);
    float ball = radius < 0.95f ? smoke * (0.95f - radius) * 3 : 0;
    float ring = from_ring < 0.12f ? 1 - from_ring / 0.12f : 0;
    float sum = ball + ring;
    return sum < 1 ? sum : 1;
}

/* Slice 0 is the nearest one. Colours are premultiplied with alpha. So slices and pictures of
 * several slices blend in the same way. */
static void fill(int slice, const float parameters[6])
{
    static unsigned char pixels[SIZE][SIZE][4];
    float scale = 2.0f / (SIZE - 1);
    for (int j = 0; j < SIZE; j++) {
        for (int i = 0; i < SIZE; i++) {
            float x = (float)i * scale - 1, y = (float)j * scale - 1, z = 1 - (float)slice * scale;
            float d = density(x, y, z, parameters), alpha = 0.3f * d * d;
            float color[3] = {wrapped(3 * x + 4 * d), wrapped(3 * y + 4 * d + 2), wrapped(3 * z + 4 * d + 4)};
            for (int c = 0; c < 3; c++)
                pixels[j][i][c] = (unsigned char)(255 * alpha * color[c] + 0.5f);
            pixels[j][i][3] = (unsigned char)(255 * alpha + 0.5f);
        }
    }
    glBindTexture(GL_TEXTURE_2D, textures[slice]);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIZE, SIZE, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

static long setup(const struct options *options)
{
    struct random random;
    float parameters[6];
    random_seed(&random, options->seed);
    for (int i = 0; i < 6; i++)
        parameters[i] = random_float(&random) * 6.2831853f;
    first = SIZE * options->part / options->parts;
    last = SIZE * (options->part + 1) / options->parts;
    glGenTextures(SIZE, textures);
    for (int slice = first; slice < last; slice++)
        fill(slice, parameters);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    glEnable(GL_TEXTURE_2D);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glDisable(GL_DEPTH_TEST);
    /* The background is transparent, as the pictures of other parts expect. */
    glClearColor(0, 0, 0, 0);
    return 2L * (last - first);
}

/* The camera swings, but slice 0 stays in front. So part 0 also stays in front. */
static void draw(const struct options *options, long frame)
{
    (void)options;
    glTranslatef(0, 0, -2.8f);
    glRotatef(20, 1, 0, 0);
    glRotatef(40 * sinf(0.03f * (float)(frame % 36000)), 0, 1, 0);
    for (int slice = last - 1; slice >= first; slice--) {
        float z = 1 - 2.0f * (float)slice / (SIZE - 1);
        glBindTexture(GL_TEXTURE_2D, textures[slice]);
        glBegin(GL_QUADS);
        glTexCoord2f(0, 0);
        glVertex3f(-1, -1, z);
        glTexCoord2f(1, 0);
        glVertex3f(1, -1, z);
        glTexCoord2f(1, 1);
        glVertex3f(1, 1, z);
        glTexCoord2f(0, 1);
        glVertex3f(-1, 1, z);
        glEnd();
    }
}

static void cleanup(void)
{
    glDeleteTextures(SIZE, textures);
}

int main(int argc, char **argv)
{
    static const struct demo demo = {
        .name = "volume",
        .about = "A cloud of translucent slices, blended from back to front.",
        .default_mode = MODE_IMMEDIATE,
        .has_one_mode = true,
        .has_parts = true,
        .wants_alpha = true,
        .default_width = 800,
        .default_height = 600,
        .setup = setup,
        .draw = draw,
        .cleanup = cleanup,
    };
    return demo_main(&demo, argc, argv);
}
