/* Triangles in patches all over the window, from arrays and buffers. Draws that are sorted by
 * position must be drawn at their current position. */
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

/* Each patch is separate from the others and from the middle of the window. */
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

/* A few filled triangles, and wide lines. */
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

/* Draws all over the window with the state that the lists have left. */
static void draw_what_is_current(void)
{
    glBegin(GL_QUADS);
    for (int i = 0; i < 4; i++)
        glVertex3f(i % 3 ? 0.03f : -0.03f, i / 2 ? 0.9f : -0.9f, -0.6f);
    glEnd();
    FLOATS(GL_CURRENT_COLOR, 4);
    FLOATS(GL_CURRENT_NORMAL, 3);
    FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);
    errors("lists");
}

/* Lists of patches. They also set current values, and other state that is needed beyond their
 * tiles. */
static GLuint make_lists(unsigned seed)
{
    static const float red[] = {0.8f, 0.1f, 0.1f, 1}, blue[] = {0.1f, 0.2f, 0.9f, 1};
    make(seed);
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
    return first;
}

static void lists(void)
{
    GLuint first = make_lists(9);
    for (int patch = 0; patch < PATCHES; patch++)
        glCallList(first + (GLuint)patch);
    draw_what_is_current();
}

/* Four lists of one quarter of the window in one call, a list that only sets state, and names that
 * are not lists. */
static void lists_together(void)
{
    GLuint first = make_lists(13), color = glGenLists(1);
    glNewList(color, GL_COMPILE);
    glColor3f(0.9f, 0.9f, 0.1f);
    glEndList();
    glListBase(first - 10);
    for (int patch = 0; patch < PATCHES; patch += 4) {
        GLubyte bytes[6] = {(GLubyte)(color - first + 10), 250};
        GLint ints[6] = {(GLint)(color - first + 10), -7};
        for (int i = 0; i < 4; i++) {
            bytes[2 + i] = (GLubyte)(10 + patch + i);
            ints[2 + i] = 10 + patch + i;
        }
        if (patch / 4 % 2)
            glCallLists(6, GL_UNSIGNED_BYTE, bytes);
        else
            glCallLists(6, GL_INT, ints);
    }
    draw_what_is_current();
    /* A list that moves the next list. */
    glNewList(color, GL_COMPILE);
    glTranslatef(0.1f, 0.05f, -0.2f);
    glEndList();
    glListBase(0);
    glCallLists(3, GL_UNSIGNED_INT, (const GLuint[]){color, first + 9, first + 54});
    errors("moved");
}

/* Lists of draws from memory, with separate attributes. */
static void lists_of_arrays(void)
{
    static float normals[PATCHES * CORNERS][3], places[PATCHES * CORNERS][2];
    static GLubyte colors[PATCHES * CORNERS][4];
    make(14);
    for (int i = 0; i < PATCHES * CORNERS; i++) {
        const float *p = positions[i];
        for (int c = 0; c < 3; c++) {
            normals[i][c] = c < 2 ? p[c] : 1;
            colors[i][c] = (GLubyte)(i * (c + 3) + 50);
        }
        colors[i][3] = 255;
        places[i][0] = p[1];
        places[i][1] = p[0];
    }
    glVertexPointer(3, GL_FLOAT, 0, positions);
    glNormalPointer(GL_FLOAT, 0, normals);
    glColorPointer(4, GL_UNSIGNED_BYTE, 0, colors);
    glTexCoordPointer(2, GL_FLOAT, 0, places);
    GLuint first = glGenLists(PATCHES + 1);
    for (int patch = 0; patch < PATCHES; patch++) {
        (patch % 4 < 2 ? glEnableClientState : glDisableClientState)(GL_NORMAL_ARRAY);
        (patch % 3 ? glEnableClientState : glDisableClientState)(GL_COLOR_ARRAY);
        (patch % 5 ? glEnableClientState : glDisableClientState)(GL_TEXTURE_COORD_ARRAY);
        glNewList(first + (GLuint)patch, GL_COMPILE);
        if (patch % 7 == 0)
            glColor3f(0.2f, 0.9f, (float)patch / PATCHES);
        if (patch % 2)
            glDrawElements(GL_TRIANGLES, INDICES, GL_UNSIGNED_INT, indices + patch * INDICES);
        else
            glDrawArrays(GL_TRIANGLES, patch * CORNERS, CORNERS);
        glEndList();
    }
    /* A list with both. The array state after such a list depends on Mesa, so another list has
     * positions only. */
    glDisableClientState(GL_NORMAL_ARRAY);
    glDisableClientState(GL_COLOR_ARRAY);
    glDisableClientState(GL_TEXTURE_COORD_ARRAY);
    glNewList(first + PATCHES, GL_COMPILE);
    glDrawArrays(GL_TRIANGLES, 9 * CORNERS, 3);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; i++) {
        glColor3f(0.1f * (float)i, 0.4f, 0.7f);
        glVertex3fv(positions[9 * CORNERS + i]);
    }
    glEnd();
    glEndList();
    for (int patch = 0; patch <= PATCHES; patch++)
        glCallList(first + (GLuint)patch);
    draw_what_is_current();
}

/* A small triangle whose centre is at one of several places. */
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

/* The same draw uses the new contents of its buffer, whichever command wrote them. */
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
    /* Pixels are read into the buffer. */
    glBindBuffer(GL_PIXEL_PACK_BUFFER, names[0]);
    glReadPixels(0, 0, 2, 3, GL_RG, GL_FLOAT, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    glPointSize(4);
    glDrawArrays(GL_POINTS, 0, 3);
    errors("rewritten");
}

/* A buffer that is filled again after it was drawn from. */
static void refill(GLenum usage, const void *before, const void *data, size_t size)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)size, before, usage);
    glVertexPointer(3, GL_FLOAT, 0, NULL);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    for (int i = 0; i < 2; i++)
        glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)size, data);
}

static void refilled(void)
{
    make(12);
    refill(GL_STREAM_DRAW, NULL, expanded, sizeof expanded);
    glVertexPointer(3, GL_FLOAT, 0, CLIENT + sizeof expanded / 2);
    glDrawArrays(GL_TRIANGLES, 0, PATCHES / 2 * INDICES);
    glVertexPointer(3, GL_FLOAT, 0, NULL);
    glDrawArrays(GL_TRIANGLES, 0, PATCHES / 2 * INDICES);
}

static void refilled_elements(void)
{
    make(13);
    refill(GL_STREAM_DRAW, NULL, positions, sizeof positions);
    fill(GL_ELEMENT_ARRAY_BUFFER, indices, sizeof indices);
    glDrawElements(GL_TRIANGLES, PATCHES * INDICES, GL_UNSIGNED_INT, NULL);
}

/* Two small triangles, with some room after them. */
struct pair {
    float corners[2][3][2], room[4][2];
};

static struct pair pair_at(int place, int other)
{
    struct pair pair = {0};
    triangle(pair.corners[0], place);
    triangle(pair.corners[1], other);
    for (int i = 0; i < 4; i++)
        memcpy(pair.room[i], pair.corners[0][0], sizeof pair.room[i]);
    return pair;
}

/* A buffer with a pair that was refilled after it had been drawn from. */
static GLuint pair_again(int place, int other)
{
    struct pair pair = pair_at(place, other);
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof pair, NULL, GL_STREAM_DRAW);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    for (int i = 0; i < 2; i++)
        glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof pair, &pair);
    draw(place);
    return buffer;
}

static void draw_second(int place)
{
    color_of(place);
    glDrawArrays(GL_TRIANGLES, 3, 3);
}

/* Such a buffer is written and read in other ways. */
static void refilled_otherwise(void)
{
    struct pair pair, read;
    glEnable(GL_DEPTH_TEST);
    glEnableClientState(GL_VERTEX_ARRAY);
    /* It is written in parts: as whole vertices, and as parts of vertices. */
    pair_again(0, 0);
    pair = pair_at(0, 15);
    glBufferSubData(GL_ARRAY_BUFFER, sizeof pair.corners[0], sizeof pair.corners[1], pair.corners[1]);
    draw_second(15);
    pair = pair_at(0, 3);
    for (size_t i = 3 * 8 + 4; i < 6 * 8; i += 4)
        glBufferSubData(GL_ARRAY_BUFFER, (GLintptr)i, 4, (const char *)&pair + i);
    draw_second(3);
    /* It is written in another layout, in which every second vertex is used. */
    GLuint first = pair_again(1, 14);
    float spaced[3][4] = {{-0.75f, 0.3f}, {-0.6f, 0.3f}, {-0.6f, 0.4f}};
    glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof spaced, spaced);
    glVertexPointer(2, GL_FLOAT, 16, NULL);
    draw(8);
    for (int i = 0; i < 3; i++)
        spaced[i][0] += 1.4f;
    pair = pair_at(1, 14);
    memcpy(&pair, spaced, sizeof spaced);
    glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof pair, &pair);
    draw(9);
    /* It gets new storage, which is filled part by part. */
    pair_again(2, 2);
    pair = pair_at(12, 7);
    glBufferData(GL_ARRAY_BUFFER, sizeof pair, NULL, GL_STREAM_DRAW);
    for (size_t i = 0; i < sizeof pair.corners; i += 24)
        glBufferSubData(GL_ARRAY_BUFFER, (GLintptr)i, 24, (const char *)&pair + i);
    draw(12);
    draw_second(7);
    float larger[40][2] = {{0}};
    triangle(larger, 5);
    triangle(larger + 3, 10);
    glBufferData(GL_ARRAY_BUFFER, sizeof larger, larger, GL_STREAM_DRAW);
    draw(5);
    draw_second(10);
    /* Other data is copied to it, also from a buffer of the same kind. */
    GLuint from = pair_again(4, 8);
    pair_again(6, 6);
    glBindBuffer(GL_COPY_READ_BUFFER, first);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_ARRAY_BUFFER, sizeof pair.corners[0], 0, sizeof pair.corners[1]);
    draw(14);
    glBindBuffer(GL_COPY_READ_BUFFER, from);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_ARRAY_BUFFER, sizeof pair.corners[0], 0, sizeof pair.corners[1]);
    draw(11);
    /* It is mapped and read. */
    pair_again(3, 12);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, sizeof read, &read);
    pair = pair_at(3, 12);
    if (memcmp(&read, &pair, sizeof pair))
        fail("what was written is read");
    struct pair *mapped = glMapBuffer(GL_ARRAY_BUFFER, GL_READ_WRITE);
    if (memcmp(mapped, &pair, sizeof pair))
        fail("what was written is mapped");
    *mapped = pair_at(13, 2);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    draw(13);
    draw_second(2);
    pair_again(0, 1);
    mapped = glMapBufferRange(GL_ARRAY_BUFFER, sizeof pair.corners[0], sizeof pair.corners[1], GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
    triangle(mapped->corners[0], 6);
    glFlushMappedBufferRange(GL_ARRAY_BUFFER, 0, sizeof pair.corners[1]);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    draw_second(6);
    /* Its vertices and indices are in one buffer. */
    GLuint both = pair_again(15, 4);
    static const GLubyte order[] = {5, 4, 3};
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, both);
    for (int i = 0; i < 2; i++) {
        pair = pair_at(i, 4 + i);
        memcpy(pair.room, order, sizeof order);
        glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof pair, &pair);
        color_of(i);
        glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, CLIENT + sizeof pair.corners);
    }
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    errors("refilled_otherwise");
}

/* The server writes to such a buffer. */
static void refilled_by_server(void)
{
    glEnable(GL_DEPTH_TEST);
    glEnableClientState(GL_VERTEX_ARRAY);
    pair_again(0, 0);
    if (need_version(4, 3)) {
        float cleared = 0.5f;
        glClearBufferSubData(GL_ARRAY_BUFFER, GL_R32F, 20, 4, GL_RED, GL_FLOAT, &cleared);
        draw(3);
    }
    glPointSize(6);
    GLuint buffer = pair_again(1, 1);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    glReadPixels(0, 0, 2, 3, GL_RG, GL_FLOAT, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    color_of(4);
    glDrawArrays(GL_POINTS, 0, 3);
    if (need_version(3, 0)) {
        /* After a write by the server, the program refills the buffer and draws from it again. */
        buffer = pair_again(2, 2);
        GLuint program = build_program("#version 130\nout vec2 place; void main() { place = vec2(0.1, -0.6) * float(gl_VertexID + 1); gl_Position = vec4(2.0); }",
                                       "#version 130\nout vec4 tone; void main() { tone = vec4(1.0); }");
        const char *names[] = {"place"};
        glTransformFeedbackVaryings(program, 1, names, GL_INTERLEAVED_ATTRIBS);
        glLinkProgram(program);
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
        glUseProgram(program);
        glEnable(GL_RASTERIZER_DISCARD);
        glBeginTransformFeedback(GL_POINTS);
        glDrawArrays(GL_POINTS, 0, 3);
        glEndTransformFeedback();
        glDisable(GL_RASTERIZER_DISCARD);
        glUseProgram(0);
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
        glBindBuffer(GL_ARRAY_BUFFER, buffer);
        color_of(5);
        glDrawArrays(GL_LINE_STRIP, 0, 3);
        struct pair pair = pair_at(6, 9);
        glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof pair, &pair);
        draw(6);
        draw_second(9);
    }
    errors("refilled_by_server");
}

/* A vertex array object keeps a deleted buffer, while another buffer gets its name. */
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

/* Indices of other types, strips, base vertices, restarts, and many draws in one call. */
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
    /* All of an instance is drawn before the next instance. */
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glColor4f(0.2f, 1, 0.4f, 0.5f);
    glDrawElementsInstanced(GL_TRIANGLES, 9 * INDICES, GL_UNSIGNED_INT, CLIENT + 4 * 36 * INDICES, 2);
    glDrawArraysInstanced(GL_TRIANGLES, 48 * CORNERS, 3 * CORNERS, 2);
    errors("kinds");
}

/* A shader places the vertices, and the program gives their bounds: as a box after the shader's
 * matrix, and as a box before it. */
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
    /* Errors are raised even if the bounds of the draw touch only one tile of a wall. */
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

CONFORM("spread", COMPAT, {"immediate", immediate}, {"wide", wide}, {"arrays", arrays}, {"elements", elements}, {"buffers", buffers},
        {"buffers_of_elements", buffers_of_elements}, {"elements_of_memory", elements_of_memory}, {"instances", instances}, {"lists", lists},
        {"lists_together", lists_together}, {"lists_of_arrays", lists_of_arrays}, {"rewritten", rewritten}, {"reused", reused}, {"refilled", refilled},
        {"refilled_elements", refilled_elements}, {"refilled_otherwise", refilled_otherwise}, {"refilled_by_server", refilled_by_server},
        {"kinds", kinds}, {"bounded", bounded})
