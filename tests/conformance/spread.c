/* Triangles in patches all over the window, from arrays and buffers: what is sorted by where it lies must be drawn where it lies now. */
#include "conform.h"

#define PATCHES 64
#define CORNERS 300
#define INDICES 1200
#define CLIENT ((const GLubyte *)NULL)

static float positions[PATCHES * CORNERS][3];
static float expanded[PATCHES * INDICES][3];
static GLuint indices[PATCHES * INDICES];

static float number(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(*seed >> 8) / (float)(1u << 24);
}

/* Each patch keeps clear of the others, and of the middle of the window. */
static void make(unsigned seed)
{
    for (int patch = 0; patch < PATCHES; patch++) {
        for (int i = 0; i < CORNERS; i++) {
            float *p = positions[patch * CORNERS + i];
            p[0] = ((float)(patch % 8) + 0.2f + 0.6f * number(&seed)) / 4 - 1;
            p[1] = ((float)(patch / 8) + 0.2f + 0.6f * number(&seed)) / 4 - 1;
            p[2] = number(&seed) - 0.5f;
        }
        for (int i = 0; i < INDICES; i++) {
            int from = i / 3 % (CORNERS - 20);
            GLuint index = (GLuint)(patch * CORNERS + from + (int)(number(&seed) * 20));
            indices[patch * INDICES + i] = index;
            memcpy(expanded[patch * INDICES + i], positions[index], sizeof positions[index]);
        }
    }
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnable(GL_NORMALIZE);
    glEnable(GL_COLOR_MATERIAL);
    glColor3f(0.3f, 0.7f, 0.9f);
    glNormal3f(0.2f, 0.3f, 1);
    glEnableClientState(GL_VERTEX_ARRAY);
}

static void arrays(void)
{
    make(1);
    glVertexPointer(3, GL_FLOAT, 0, expanded);
    glDrawArrays(GL_TRIANGLES, 0, PATCHES * INDICES);
}

static void elements(void)
{
    make(2);
    glVertexPointer(3, GL_FLOAT, 0, positions);
    glDrawElements(GL_TRIANGLES, PATCHES * INDICES, GL_UNSIGNED_INT, indices);
}

static void immediate(void)
{
    make(10);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < PATCHES * INDICES; i++)
        glVertex3fv(expanded[i]);
    glEnd();
}

/* Few filled ones, with lines that would be wide. */
static void wide(void)
{
    make(11);
    glLineWidth(30);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < PATCHES * INDICES; i++)
        if (i % INDICES < 3)
            glVertex3fv(expanded[i]);
    glEnd();
}

static void fill(GLenum target, const void *data, size_t size)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(target, buffer);
    glBufferData(target, (GLsizeiptr)size, data, GL_STATIC_DRAW);
}

static void buffers(void)
{
    make(3);
    fill(GL_ARRAY_BUFFER, expanded, sizeof expanded);
    glVertexPointer(3, GL_FLOAT, 0, NULL);
    glDrawArrays(GL_TRIANGLES, 0, PATCHES * INDICES);
    glDisableClientState(GL_VERTEX_ARRAY);
}

static void buffers_of_elements(void)
{
    make(4);
    fill(GL_ARRAY_BUFFER, positions, sizeof positions);
    fill(GL_ELEMENT_ARRAY_BUFFER, indices, sizeof indices);
    glVertexPointer(3, GL_FLOAT, 0, NULL);
    glDrawElements(GL_TRIANGLES, PATCHES * INDICES, GL_UNSIGNED_INT, NULL);
}

static void elements_of_memory(void)
{
    make(5);
    fill(GL_ARRAY_BUFFER, positions, sizeof positions);
    glVertexPointer(3, GL_FLOAT, 0, NULL);
    glDrawElements(GL_TRIANGLES, PATCHES * INDICES, GL_UNSIGNED_INT, indices);
}

/* Two instances of each patch, from memory and from buffers. */
static void instances(void)
{
    static const int half = INDICES / 2;
    GLuint arrays[2];
    if (!need_version(3, 2))
        return;
    make(8);
    glGenVertexArrays(2, arrays);
    for (int i = 0; i < 2; i++) {
        glBindVertexArray(arrays[i]);
        fill(GL_ARRAY_BUFFER, i ? positions[0] : expanded[0], i ? sizeof positions : sizeof expanded);
        glVertexPointer(3, GL_FLOAT, 0, NULL);
        glEnableClientState(GL_VERTEX_ARRAY);
    }
    fill(GL_ELEMENT_ARRAY_BUFFER, indices, sizeof indices);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    for (int patch = 0; patch < PATCHES; patch++) {
        int first = patch * INDICES;
        const GLubyte *offset = CLIENT + 4 * first;
        glBindVertexArray(patch / 4 % 2 ? arrays[patch / 2 % 2] : 0);
        if (patch / 4 % 2 == 0)
            glVertexPointer(3, GL_FLOAT, 0, patch / 2 % 2 ? positions : expanded);
        if (patch / 2 % 2 == 0)
            glDrawArraysInstanced(GL_TRIANGLES, first, half, 2);
        else if (patch / 4 % 2 == 0)
            glDrawElementsInstanced(GL_TRIANGLES, half, GL_UNSIGNED_INT, indices + first, 2);
        else
            glDrawElementsInstancedBaseVertex(GL_TRIANGLES, half, GL_UNSIGNED_INT, offset, 2, 0);
    }
    errors("instances");
}

/* Lists of patches, which set what is current, and more that is not for their tiles only. */
static void lists(void)
{
    static const float red[] = {0.8f, 0.1f, 0.1f, 1}, blue[] = {0.1f, 0.2f, 0.9f, 1};
    make(9);
    GLuint first = glGenLists(PATCHES);
    for (int patch = 0; patch < PATCHES; patch++) {
        glNewList(first + (GLuint)patch, GL_COMPILE);
        glShadeModel(patch % 3 ? GL_FLAT : GL_SMOOTH);
        glMaterialfv(GL_FRONT_AND_BACK, GL_EMISSION, patch % 5 ? blue : red);
        glBegin(GL_TRIANGLES);
        for (int i = 0; i < INDICES; i++) {
            const float *p = positions[indices[patch * INDICES + i]];
            glNormal3f(p[0], p[1], 1);
            if (i % 7 == 0)
                glColor3f(p[1], 0.5f, p[0]);
            glVertex3fv(p);
        }
        glEnd();
        glEndList();
    }
    for (int patch = 0; patch < PATCHES; patch++)
        glCallList(first + (GLuint)patch);
    /* What the lists have left behind, everywhere. */
    glBegin(GL_QUADS);
    for (int i = 0; i < 4; i++)
        glVertex3f(i % 3 ? 0.03f : -0.03f, i / 2 ? 0.9f : -0.9f, -0.6f);
    glEnd();
    FLOATS(GL_CURRENT_COLOR, 4);
    errors("lists");
}

/* A small triangle whose middle lies at a number of places. */
static void triangle(float out[3][2], int place)
{
    float x = (float)(place % 4) / 2 - 0.75f, y = (float)(place / 4) / 2 - 0.75f;
    for (int i = 0; i < 3; i++) {
        out[i][0] = x + 0.2f * (float)(i % 2);
        out[i][1] = y + 0.2f * (float)(i / 2);
    }
}

static void draw(int place)
{
    color_of(place);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

/* The same draw follows what was written to its buffer, in all ways. */
static void rewritten(void)
{
    float corners[3][2];
    GLuint names[2];
    glEnable(GL_DEPTH_TEST);
    glEnableClientState(GL_VERTEX_ARRAY);
    glGenBuffers(2, names);
    glBindBuffer(GL_ARRAY_BUFFER, names[0]);
    triangle(corners, 0);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_DYNAMIC_DRAW);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    draw(0);
    triangle(corners, 3);
    glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof corners, corners);
    draw(3);
    triangle(corners, 12);
    memcpy(glMapBuffer(GL_ARRAY_BUFFER, GL_WRITE_ONLY), corners, sizeof corners);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    draw(12);
    triangle(corners, 15);
    memcpy(glMapBufferRange(GL_ARRAY_BUFFER, 0, sizeof corners, GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT), corners, sizeof corners);
    glFlushMappedBufferRange(GL_ARRAY_BUFFER, 0, sizeof corners);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    draw(15);
    triangle(corners, 1);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, names[1]);
    glBufferData(GL_PIXEL_UNPACK_BUFFER, sizeof corners, corners, GL_DYNAMIC_DRAW);
    glCopyBufferSubData(GL_PIXEL_UNPACK_BUFFER, GL_ARRAY_BUFFER, 0, 0, sizeof corners);
    draw(1);
    triangle(corners, 2);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_DYNAMIC_DRAW);
    draw(2);
    if (need_version(4, 3)) {
        float cleared = -0.5f;
        glClearBufferSubData(GL_ARRAY_BUFFER, GL_R32F, 4, 4, GL_RED, GL_FLOAT, &cleared);
        draw(8);
    }
    /* Pixels that are read into the buffer. */
    glBindBuffer(GL_PIXEL_PACK_BUFFER, names[0]);
    glReadPixels(0, 0, 2, 3, GL_RG, GL_FLOAT, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    glPointSize(4);
    glDrawArrays(GL_POINTS, 0, 3);
    errors("rewritten");
}

/* A vertex array object keeps a deleted buffer, while another one gets its name. */
static void reused(void)
{
    float corners[3][2];
    GLuint object, old, new;
    glEnable(GL_DEPTH_TEST);
    glGenVertexArrays(1, &object);
    glBindVertexArray(object);
    glGenBuffers(1, &old);
    glBindBuffer(GL_ARRAY_BUFFER, old);
    triangle(corners, 5);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    glEnableClientState(GL_VERTEX_ARRAY);
    glBindVertexArray(0);
    glDeleteBuffers(1, &old);
    glGenBuffers(1, &new);
    glBindBuffer(GL_ARRAY_BUFFER, new);
    triangle(corners, 15);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    glBindVertexArray(object);
    draw(5);
    errors("reused");
}

/* Numbers of other types, strips, base vertices, restarts, and many draws in one. */
static void kinds(void)
{
    make(6);
    glPushMatrix();
    glScalef(0.01f, 0.01f, 1);
    static GLshort shorts[600][2];
    static GLdouble doubles[600][2];
    for (int i = 0; i < 600; i++) {
        shorts[i][0] = (GLshort)(i / 3 - 100);
        shorts[i][1] = (GLshort)(i % 2 * 10 + 20);
        doubles[i][0] = i / 3.0 - 100;
        doubles[i][1] = i % 2 * 10 - 20.5;
    }
    glVertexPointer(2, GL_SHORT, 0, shorts);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 600);
    glVertexPointer(2, GL_DOUBLE, 0, doubles);
    glDrawArrays(GL_LINE_STRIP, 3, 500);
    glPopMatrix();
    glVertexPointer(3, GL_FLOAT, 0, positions);
    static const GLint firsts[] = {0, 9000, 18000}, counts[] = {30, 300, 600};
    glMultiDrawArrays(GL_TRIANGLES, firsts, counts, 3);
    if (!need_version(3, 2))
        return;
    fill(GL_ARRAY_BUFFER, positions, sizeof positions);
    fill(GL_ELEMENT_ARRAY_BUFFER, indices, sizeof indices);
    glVertexPointer(3, GL_FLOAT, 0, NULL);
    glColor3f(1, 0.5f, 0);
    glDrawElementsBaseVertex(GL_TRIANGLES, 900, GL_UNSIGNED_INT, NULL, 63 * CORNERS);
    const void *starts[] = {CLIENT + 4 * 30 * INDICES, CLIENT + 4 * 50 * INDICES};
    static const GLint bases[] = {CORNERS, -CORNERS};
    glMultiDrawElementsBaseVertex(GL_TRIANGLES, counts + 1, GL_UNSIGNED_INT, starts, 2, bases);
    glEnable(GL_PRIMITIVE_RESTART);
    glPrimitiveRestartIndex(indices[20 * INDICES + 4]);
    glDrawElements(GL_TRIANGLES, 2 * INDICES, GL_UNSIGNED_INT, CLIENT + 4 * 20 * INDICES);
    glDisable(GL_PRIMITIVE_RESTART);
    /* All of an instance is drawn before the next. */
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glColor4f(0.2f, 1, 0.4f, 0.5f);
    glDrawElementsInstanced(GL_TRIANGLES, 9 * INDICES, GL_UNSIGNED_INT, CLIENT + 4 * 36 * INDICES, 2);
    glDrawArraysInstanced(GL_TRIANGLES, 48 * CORNERS, 3 * CORNERS, 2);
    errors("kinds");
}

/* What a shader places, and the program says where: as a box after the shader's matrix, and as one before it. */
static void bounded(void)
{
    if (!need_version(4, 3))
        return;
    make(7);
    static const float matrix[] = {0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    GLuint program = build_program("#version 120\nuniform mat4 matrix; attribute vec3 place; varying vec3 tone;\n"
                                   "void main() { tone = place * 0.5 + 0.5; gl_Position = matrix * vec4(place, 1.0); }",
                                   "#version 120\nvarying vec3 tone; void main() { gl_FragColor = vec4(tone, 1.0); }");
    glUseProgram(program);
    glUniformMatrix4fv(glGetUniformLocation(program, "matrix"), 1, GL_FALSE, matrix);
    GLuint place = (GLuint)glGetAttribLocation(program, "place");
    fill(GL_ARRAY_BUFFER, positions, sizeof positions);
    fill(GL_ELEMENT_ARRAY_BUFFER, indices, sizeof indices);
    glDisableClientState(GL_VERTEX_ARRAY);
    glVertexAttribPointer(place, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(place);
    for (int patch = 0; patch < PATCHES; patch++) {
        char text[200];
        double x = patch % 8 / 4.0 - 1, y = patch / 8 / 4.0 - 1;
        if (patch % 2)
            snprintf(text, sizeof text, "mgn bounds %f %f -1 %f %f 1", -y - 0.21, x + 0.04, -y - 0.04, x + 0.21);
        else
            snprintf(text, sizeof text, "mgn bounds %f %f -1 %f %f 1 0 1 0 0 -1 0 0 0 0 0 1 0 0 0 0 1", x + 0.04, y + 0.04, x + 0.21, y + 0.21);
        glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 0, -1, text);
        glDrawElements(GL_TRIANGLES, INDICES, GL_UNSIGNED_INT, CLIENT + 4 * patch * INDICES);
        glPopDebugGroup();
    }
    /* An error is raised wherever the draw would be. */
    glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 0, -1, "mgn bounds 0.5 -0.5 0 0.6 -0.4 0");
    glUseProgram(0);
    glDisableVertexAttribArray(place);
    glBegin(GL_POINTS);
    glEnd();
    glDrawElements(GL_TRIANGLES, 3, GL_FLOAT, NULL);
    errors("a type");
    glBeginTransformFeedback(GL_POINTS);
    errors("no feedback");
    glDrawArrays(GL_LINES_ADJACENCY + 20, 0, 3);
    errors("a mode");
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    errors("an empty framebuffer");
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glDrawArrays(GL_PATCHES, 0, 3);
    errors("patches");
    glPopDebugGroup();
    glPopDebugGroup();
    errors("no group");
}

CONFORM("spread", COMPAT, {"immediate", immediate}, {"wide", wide}, {"arrays", arrays}, {"elements", elements}, {"buffers", buffers}, {"buffers_of_elements", buffers_of_elements},
        {"elements_of_memory", elements_of_memory}, {"instances", instances}, {"lists", lists}, {"rewritten", rewritten}, {"reused", reused}, {"kinds", kinds}, {"bounded", bounded})
