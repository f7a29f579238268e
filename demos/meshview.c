/* Shows a model as independent triangles with normals. The model comes from a file, or is generated
 * with 73,000 triangles. */
#include "load.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ALONG 365 /* steps along the generated knot */
#define AROUND 100 /* steps around its tube */
#define PI 3.14159265f

static struct mesh mesh;

/* A knotted tube with scales. The seed determines the winding of the knot and the scales. */
static void generate(struct model *model, uint32_t seed)
{
    struct random random;
    random_seed(&random, seed);
    int turns = 2 + (int)(random_float(&random) * 2), windings = turns + 1;
    float ripples = 20 + floorf(random_float(&random) * 20), folds = 4 + floorf(random_float(&random) * 6);
    for (int i = 0; i < ALONG; i++) {
        float center[2][3], along[3], up[3] = {0, 0, 1}, side[3];
        for (int step = 0; step < 2; step++) {
            float t = 2 * PI * ((float)i + (float)step * 0.5f) / ALONG;
            float radius = 2 + cosf((float)windings * t);
            center[step][0] = radius * cosf((float)turns * t);
            center[step][1] = radius * sinf((float)turns * t);
            center[step][2] = sinf((float)windings * t) * 1.3f;
        }
        subtract(along, center[1], center[0]);
        normalize(along);
        cross(side, along, up);
        normalize(side);
        cross(up, side, along);
        for (int j = 0; j < AROUND; j++) {
            float t = 2 * PI * (float)i / ALONG, a = 2 * PI * (float)j / AROUND, point[3];
            float tube = 0.42f + 0.04f * sinf(ripples * 4 * t) * cosf(folds * a) + 0.06f * sinf(3 * t);
            for (int c = 0; c < 3; c++)
                point[c] = center[0][c] + tube * (cosf(a) * side[c] + sinf(a) * up[c]);
            model_add_point(model, point);
        }
    }
    for (uint32_t i = 0; i < ALONG; i++) {
        for (uint32_t j = 0; j < AROUND; j++) {
            uint32_t next = (i + 1) % ALONG * AROUND, right = (j + 1) % AROUND;
            const uint32_t corners[6] = {i * AROUND + j, next + j, next + right, i * AROUND + j, next + right, i * AROUND + right};
            for (int c = 0; c < 6; c++)
                model_add_corner(model, corners[c], NO_NORMAL);
        }
    }
}

static void load(const char *file, struct model *model)
{
    size_t size, length = strlen(file);
    char *data = read_whole_file(file, &size);
    char suffix[5] = "";
    if (length >= 4)
        for (int i = 0; i < 4; i++)
            suffix[i] = (char)tolower((unsigned char)file[length - 4 + (size_t)i]);
    if (strcmp(suffix, ".obj") == 0)
        load_obj(file, data, model);
    else if (strcmp(suffix, ".ply") == 0)
        load_ply(file, data, size, model);
    else
        die("%s: the name should end in .obj or .ply", file);
    free(data);
    if (model->index_count == 0)
        die("%s has no faces", file);
    for (size_t i = 0; i < model->point_count; i++)
        for (int c = 0; c < 3; c++)
            if (!isfinite(model->points[i][c]))
                die("%s: vertex %zu is not a finite point", file, i);
}

/* For each point, the sum of the normals of its faces, weighted by their areas. */
static float (*average_normals(const struct model *model))[3]
{
    float(*sums)[3] = allocate(model->point_count * sizeof *sums);
    memset(sums, 0, model->point_count * sizeof *sums);
    for (size_t i = 0; i < model->index_count; i += 3) {
        const uint32_t *corners = &model->indices[i];
        float first[3], second[3], normal[3];
        subtract(first, model->points[corners[1]], model->points[corners[0]]);
        subtract(second, model->points[corners[2]], model->points[corners[0]]);
        cross(normal, first, second);
        for (int corner = 0; corner < 3; corner++)
            for (int c = 0; c < 3; c++)
                sums[corners[corner]][c] += normal[c];
    }
    for (size_t i = 0; i < model->point_count; i++)
        normalize(sums[i]);
    return sums;
}

/* Moves and scales the points into the unit sphere around the origin. */
static void fit(struct model *model)
{
    float low[3], high[3], largest = 0;
    for (int c = 0; c < 3; c++)
        low[c] = high[c] = model->points[0][c];
    for (size_t i = 0; i < model->point_count; i++) {
        for (int c = 0; c < 3; c++) {
            low[c] = fminf(low[c], model->points[i][c]);
            high[c] = fmaxf(high[c], model->points[i][c]);
        }
    }
    for (size_t i = 0; i < model->point_count; i++) {
        for (int c = 0; c < 3; c++)
            model->points[i][c] -= low[c] + (high[c] - low[c]) / 2;
        largest = fmaxf(largest, sqrtf(dot(model->points[i], model->points[i])));
    }
    for (size_t i = 0; i < model->point_count; i++)
        for (int c = 0; c < 3; c++)
            model->points[i][c] /= largest > 0 ? largest : 1;
}

static long setup(const struct options *options)
{
    struct model model = {0};
    if (options->file)
        load(options->file, &model);
    else
        generate(&model, options->seed);
    fit(&model);
    float(*averages)[3] = average_normals(&model);
    mesh.primitive = GL_TRIANGLES;
    for (size_t i = 0; i < model.index_count; i++) {
        struct vertex *vertex = mesh_add(&mesh);
        uint32_t normal = model.normal_indices[i];
        memcpy(vertex->position, model.points[model.indices[i]], sizeof vertex->position);
        memcpy(vertex->normal, normal == NO_NORMAL ? averages[model.indices[i]] : model.normals[normal], sizeof vertex->normal);
    }
    free(averages);
    model_free(&model);
    mesh_prepare(&mesh, options->mode);
    use_lighting();
    glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, options->file != NULL);
    glClearColor(0.12f, 0.13f, 0.15f, 1.0f);
    return (long)(mesh.count / 3);
}

static void draw(const struct options *options, long frame)
{
    float time = (float)(frame % 36000);
    glTranslatef(0, 0, -2.4f);
    glRotatef(time, 0.2f, 1, 0);
    glColor3f(0.35f, 0.7f, 0.4f);
    mesh_draw(&mesh, options->mode);
}

static void cleanup(void)
{
    mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    static const struct demo demo = {
        .name = "meshview",
        .about = "Shows a model as independent triangles with normals. Without a file it generates one of 73,000 triangles.",
        .default_mode = MODE_IMMEDIATE,
        .takes_file = true,
        .default_width = 640,
        .default_height = 640,
        .setup = setup,
        .draw = draw,
        .cleanup = cleanup,
    };
    return demo_main(&demo, argc, argv);
}

char *read_whole_file(const char *file, size_t *size)
{
    struct stat status;
    if (stat(file, &status) == 0 && !S_ISREG(status.st_mode))
        die("%s is not an ordinary file", file);
    FILE *in = fopen(file, "rb");
    if (!in)
        die("cannot open %s: %s", file, strerror(errno));
    size_t capacity = 1 << 16, got = 0;
    char *data = allocate(capacity);
    for (size_t read; (read = fread(data + got, 1, capacity - got - 1, in)) > 0;) {
        got += read;
        if (got + 1 == capacity)
            data = reallocate(data, capacity *= 2);
    }
    if (ferror(in))
        die("cannot read %s: %s", file, strerror(errno));
    fclose(in);
    data[got] = 0;
    *size = got;
    return data;
}

void model_add_point(struct model *model, const float point[3])
{
    if (model->point_count == model->point_capacity) {
        model->point_capacity = model->point_capacity ? model->point_capacity * 2 : 1024;
        model->points = reallocate(model->points, model->point_capacity * sizeof *model->points);
    }
    memcpy(model->points[model->point_count++], point, sizeof *model->points);
}

void model_add_normal(struct model *model, const float normal[3])
{
    if (model->normal_count == model->normal_capacity) {
        model->normal_capacity = model->normal_capacity ? model->normal_capacity * 2 : 1024;
        model->normals = reallocate(model->normals, model->normal_capacity * sizeof *model->normals);
    }
    memcpy(model->normals[model->normal_count++], normal, sizeof *model->normals);
}

void model_add_corner(struct model *model, uint32_t index, uint32_t normal_index)
{
    if (model->index_count == model->index_capacity) {
        model->index_capacity = model->index_capacity ? model->index_capacity * 2 : 4096;
        model->indices = reallocate(model->indices, model->index_capacity * sizeof *model->indices);
        model->normal_indices = reallocate(model->normal_indices, model->index_capacity * sizeof *model->normal_indices);
    }
    model->indices[model->index_count] = index;
    model->normal_indices[model->index_count++] = normal_index;
}

void model_free(struct model *model)
{
    free(model->points);
    free(model->normals);
    free(model->indices);
    free(model->normal_indices);
    *model = (struct model){0};
}
