/* Several processes render one scene with OpenGL, each on its own, and the library makes one
 * picture of theirs. Each process has a slab of the data.
 *
 * isosurface: triangles, found in the process's slab. They are merged by their depths, so the
 * picture is the same for any number of processes.
 * volume: a translucent cloud. The slabs are blended in the order in which they are seen, which
 * changes as the camera turns.
 *
 * Rank 0 has the library write the frames as PNG files into a folder.
 *
 * usage: opengl isosurface|volume FOLDER [FRAMES] */
#define EGL_EGLEXT_PROTOTYPES
#include "check.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <math.h>
#include <string.h>

#define WIDTH 640
#define HEIGHT 480
#define CELLS 64 /* along each axis of the cube from -1 to 1 */

static const float DISTANCE = 3.5f; /* of the camera */

/* Where the process's slab begins and ends, in cells along the x axis. */
static int first, last;

/* EGL without a display: pictures are drawn into memory. */
static void create_context(void)
{
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (display == EGL_NO_DISPLAY)
        display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                             EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8, EGL_ALPHA_SIZE, 8,
                             EGL_DEPTH_SIZE, 24, EGL_SAMPLES, 0, EGL_NONE};
    const EGLint size[] = {EGL_WIDTH, WIDTH, EGL_HEIGHT, HEIGHT, EGL_NONE};
    EGLConfig config;
    EGLint found = 0;
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API)
        || !eglChooseConfig(display, wanted, &config, 1, &found) || !found) {
        fprintf(stderr, "EGL has no OpenGL here: error 0x%x\n", eglGetError());
        exit(1);
    }
    EGLSurface surface = eglCreatePbufferSurface(display, config, size);
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, NULL);
    if (surface == EGL_NO_SURFACE || context == EGL_NO_CONTEXT
        || !eglMakeCurrent(display, surface, surface, context)) {
        fprintf(stderr, "no OpenGL context: error 0x%x\n", eglGetError());
        exit(1);
    }
    glViewport(0, 0, WIDTH, HEIGHT);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
}

/* Turns about the y axis by this angle, in degrees. */
static float angle(int frame)
{
    return 35 * sinf(0.3f * (float)frame - 1);
}

/* Clears the picture, and places the camera. */
static void begin_frame(int frame)
{
    const double near = 1, width = 0.45, height = width * HEIGHT / WIDTH;
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glFrustum(-width, width, -height, height, near, 10);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    glTranslatef(0, 0, -DISTANCE);
    glRotatef(angle(frame), 0, 1, 0);
}

/* The coordinate of a grid point. */
static float at(int cell)
{
    return 2.0f * (float)cell / CELLS - 1;
}

/* A gyroid within a ball: negative inside of the solid. */
static float sample(float x, float y, float z)
{
    float gyroid = sinf(7 * x) * cosf(7 * y) + sinf(7 * y) * cosf(7 * z) + sinf(7 * z) * cosf(7 * x);
    float ball = 5 * (sqrtf(x * x + y * y + z * z) - 0.9f);
    return gyroid > ball ? gyroid : ball;
}

/* The isosurface ------------------------------------------------------------------------------ */

struct vertex {
    float position[3], value;
};

/* Where the surface meets the edge between two grid points. */
static void emit(const struct vertex *a, const struct vertex *b)
{
    /* Neighbouring cells compute the same point, although they see the edge from other ends. */
    if (memcmp(a->position, b->position, sizeof a->position) > 0) {
        const struct vertex *other = a;
        a = b, b = other;
    }
    float share = a->value / (a->value - b->value), point[3], normal[3], length = 0;
    for (int axis = 0; axis < 3; axis++)
        point[axis] = a->position[axis] + share * (b->position[axis] - a->position[axis]);
    for (int axis = 0; axis < 3; axis++) {
        float ahead[3], behind[3];
        memcpy(ahead, point, sizeof point), memcpy(behind, point, sizeof point);
        ahead[axis] += 0.01f, behind[axis] -= 0.01f;
        normal[axis] = sample(ahead[0], ahead[1], ahead[2]) - sample(behind[0], behind[1], behind[2]);
        length += normal[axis] * normal[axis];
    }
    length = sqrtf(length) + 1e-9f;
    glNormal3f(normal[0] / length, normal[1] / length, normal[2] / length);
    glVertex3fv(point);
}

/* The part of the surface within a tetrahedron: nothing, a triangle or a quadrangle. */
static void emit_tetrahedron(const struct vertex *corners[4])
{
    const struct vertex *inside[4], *outside[4];
    int ins = 0, outs = 0;
    for (int corner = 0; corner < 4; corner++) {
        if (corners[corner]->value < 0)
            inside[ins++] = corners[corner];
        else
            outside[outs++] = corners[corner];
    }
    if (ins == 1 || ins == 3) {
        const struct vertex *alone = ins == 1 ? inside[0] : outside[0];
        const struct vertex **others = ins == 1 ? outside : inside;
        for (int other = 0; other < 3; other++)
            emit(alone, others[other]);
    } else if (ins == 2) {
        const int pairs[6][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 1}, {1, 0}, {0, 0}};
        for (int pair = 0; pair < 6; pair++)
            emit(inside[pairs[pair][0]], outside[pairs[pair][1]]);
    }
}

/* Marching tetrahedra: each cell of the slab is six of them, around its diagonal. */
static void compile_isosurface(GLuint list)
{
    static const int PATHS[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    const float light[4] = {0.3f, 0.5f, 1, 0};
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 0);
    glLightfv(GL_LIGHT0, GL_POSITION, light);
    glClearColor(0.1f, 0.1f, 0.15f, 1);
    glNewList(list, GL_COMPILE);
    glBegin(GL_TRIANGLES);
    for (int i = first; i < last; i++) {
        for (int j = 0; j < CELLS; j++) {
            for (int k = 0; k < CELLS; k++) {
                struct vertex corners[8];
                for (int corner = 0; corner < 8; corner++) {
                    struct vertex *vertex = &corners[corner];
                    vertex->position[0] = at(i + (corner & 1));
                    vertex->position[1] = at(j + (corner >> 1 & 1));
                    vertex->position[2] = at(k + (corner >> 2));
                    vertex->value = sample(vertex->position[0], vertex->position[1], vertex->position[2]);
                }
                for (int path = 0; path < 6; path++) {
                    const int *by = PATHS[path];
                    emit_tetrahedron((const struct vertex *[4]){&corners[0], &corners[by[0]], &corners[by[1]], &corners[7]});
                }
            }
        }
    }
    glEnd();
    glEndList();
}

/* The volume ---------------------------------------------------------------------------------- */

/* Slices across the z axis, which the camera sees from the front. Colours are premultiplied with
 * alpha, so that slices and slabs blend alike. */
static void compile_volume(GLuint list)
{
    static unsigned char texels[CELLS][CELLS][4];
    GLuint textures[CELLS];
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glEnable(GL_TEXTURE_2D);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    glClearColor(0, 0, 0, 0);
    glGenTextures(CELLS, textures);
    int width = last - first;
    glPixelStorei(GL_UNPACK_ROW_LENGTH, CELLS);
    for (int k = 0; k < CELLS; k++) {
        for (int j = 0; j < CELLS; j++) {
            for (int i = first; i < last; i++) {
                float x = at(i) + 1.0f / CELLS, y = at(j) + 1.0f / CELLS, z = at(k) + 1.0f / CELLS;
                float depth = -sample(x, y, z), alpha = depth > 0 ? fminf(0.15f * depth, 0.2f) : 0;
                unsigned char *texel = texels[j][i - first];
                texel[0] = (unsigned char)(255 * alpha * (0.5f + 0.5f * x));
                texel[1] = (unsigned char)(255 * alpha * (0.5f + 0.5f * y));
                texel[2] = (unsigned char)(255 * alpha * (0.5f - 0.5f * x));
                texel[3] = (unsigned char)(255 * alpha);
            }
        }
        glBindTexture(GL_TEXTURE_2D, textures[k]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, CELLS, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    }
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glNewList(list, GL_COMPILE);
    for (int k = 0; k < CELLS; k++) {
        float z = at(k) + 1.0f / CELLS;
        glBindTexture(GL_TEXTURE_2D, textures[k]);
        glBegin(GL_QUADS);
        glTexCoord2f(0, 0), glVertex3f(at(first), -1, z);
        glTexCoord2f(1, 0), glVertex3f(at(last), -1, z);
        glTexCoord2f(1, 1), glVertex3f(at(last), 1, z);
        glTexCoord2f(0, 1), glVertex3f(at(first), 1, z);
        glEnd();
    }
    glEndList();
}

/* The ranks from front to back, as the camera sees their slabs. */
static void order_slabs(int size, int frame, mgn_brick *bricks, uint32_t *order, uint32_t *length)
{
    double radians = angle(frame) * 3.14159265358979 / 180;
    const double eye[3] = {-sin(radians) * DISTANCE, 0, cos(radians) * DISTANCE};
    for (int rank = 0; rank < size; rank++) {
        bricks[rank] = (mgn_brick){
            .rank = (uint32_t)rank,
            .min = {at(CELLS * rank / size), -1, -1},
            .max = {at(CELLS * (rank + 1) / size), 1, 1},
        };
    }
    CHECK(mgn_front_to_back(eye, 0, bricks, (size_t)size, order, length));
}

/* ---------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    int is_volume = argc > 1 && !strcmp(argv[1], "volume");
    int frames = argc > 3 ? atoi(argv[3]) : 1;
    if (argc < 3 || frames < 1 || (!is_volume && strcmp(argv[1], "isosurface"))) {
        fprintf(stderr, "usage: opengl isosurface|volume FOLDER [FRAMES]\n");
        return 1;
    }
    CHECK(mgn_init());
    int rank = CHECK(mgn_rank()), size = CHECK(mgn_size());
    if (size > CELLS) {
        fprintf(stderr, "opengl: at most %d processes, because each needs a slab of a cell\n", CELLS);
        return 1;
    }
    first = CELLS * rank / size, last = CELLS * (rank + 1) / size;
    mgn_compositor compositor;
    CHECK(mgn_compositor_open(10000, &compositor));
    mgn_outlet outlet = 0;
    if (rank == 0)
        CHECK(mgn_outlet_files(argv[2], "png", 1, &outlet));
    CHECK(mgn_compositor_attach(compositor, outlet, MGN_BOTTOM_UP));

    create_context();
    GLuint list = glGenLists(1);
    if (is_volume)
        compile_volume(list);
    else
        compile_isosurface(list);
    mgn_composition composition = {
        .width = WIDTH,
        .height = HEIGHT,
        .color = MGN_RGBA8,
        .depth = is_volume ? MGN_DEPTH_NONE : MGN_DEPTH_FLOAT,
        .operation = is_volume ? MGN_OVER : MGN_NEAREST,
        .to = 0,
    };
    mgn_brick bricks[CELLS];
    uint32_t order[CELLS];
    for (int frame = 0; frame < frames; frame++) {
        begin_frame(frame);
        glCallList(list);
        if (is_volume) {
            order_slabs(size, frame, bricks, order, &composition.order_length);
            composition.order = order;
        }
        /* The picture is read back into memory that the other processes of the host read. */
        void *color, *depth;
        CHECK(mgn_composite_draw(compositor, &composition, &color, &depth));
        glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, color);
        if (!is_volume)
            glReadPixels(0, 0, WIDTH, HEIGHT, GL_DEPTH_COMPONENT, GL_FLOAT, depth);
        mgn_merged merged;
        CHECK(mgn_composite_drawn(compositor, &composition, NULL, &merged));
    }
    if (outlet)
        CHECK(mgn_outlet_close(outlet));
    CHECK(mgn_compositor_close(compositor));
    CHECK(mgn_finalize());
    return 0;
}
