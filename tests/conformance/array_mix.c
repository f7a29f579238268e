/* Arrays in memory together with arrays in buffers, current values together with arrays, and state
 * that changes between draws. */
#include "conform.h"

struct point {
    GLfloat x, y;
    GLubyte color[4];
};

static void fill(struct point *points, int count, int seed)
{
    for (int i = 0; i < count; i++) {
        float rgb[3];
        hue((float)((i + seed) % 20) / 20, rgb);
        points[i].x = -0.9f + 0.3f * (float)(i / 4 % 6) + (i % 4 == 1 || i % 4 == 2 ? 0.25f : 0);
        points[i].y = -0.9f + 0.3f * (float)(i / 24) + (i % 4 >= 2 ? 0.25f : 0);
        for (int c = 0; c < 4; c++)
            points[i].color[c] = c == 3 ? 255 : (GLubyte)(rgb[c] * 255);
    }
}

static void use(const struct point *base)
{
    glVertexPointer(2, GL_FLOAT, sizeof *base, (const char *)base + offsetof(struct point, x));
    glColorPointer(4, GL_UNSIGNED_BYTE, sizeof *base, (const char *)base + offsetof(struct point, color));
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
}

/* The memory is read at the draw, so the program may change it right after. */
static void memory_changes(void)
{
    struct point points[24];
    for (int i = 0; i < 6; i++) {
        fill(points, 24, i * 3);
        use(points);
        glPushMatrix();
        glTranslatef(0, 0.3f * (float)i, 0);
        glDrawArrays(GL_QUADS, 0, 24);
        glPopMatrix();
        memset(points, 0, sizeof points);
    }
}

static void half_and_half(void)
{
    struct point points[144];
    GLuint buffer;
    fill(points, 144, 0);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof points, points, GL_DYNAMIC_DRAW);
    use(NULL);
    glDrawArrays(GL_QUADS, 0, 24);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    GLubyte (*colors)[4] = malloc(144 * 4);
    for (int i = 0; i < 144; i++)
        memcpy(colors[i], &(GLubyte[4]){(GLubyte)(i * 2), (GLubyte)(255 - i), 60, 255}, 4);
    glColorPointer(4, GL_UNSIGNED_BYTE, 0, colors);
    glDrawArrays(GL_QUADS, 24, 48); /* positions from the buffer, colours from memory */
    free(colors);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glColorPointer(4, GL_UNSIGNED_BYTE, sizeof *points, (void *)offsetof(struct point, color));
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    for (int i = 0; i < 144; i++)
        points[i].x *= 0.5f;
    glVertexPointer(2, GL_FLOAT, sizeof *points, &points[0].x);
    glDrawArrays(GL_QUADS, 72, 24); /* the other way round */
    glDisableClientState(GL_COLOR_ARRAY);
    glColor3f(1, 1, 1);
    glDrawArrays(GL_QUADS, 96, 24);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glEnableClientState(GL_COLOR_ARRAY);
    glBufferSubData(GL_ARRAY_BUFFER, 120 * (GLintptr)sizeof *points, 24 * (GLsizeiptr)sizeof *points, points);
    glVertexPointer(2, GL_FLOAT, sizeof *points, (void *)0);
    glDrawArrays(GL_QUADS, 120, 24);
    errors("half and half");
}

/* Immediate mode between draws from arrays that stay enabled, and lists that draw arrays. */
static void with_immediate(void)
{
    struct point points[144];
    fill(points, 144, 5);
    use(points);
    for (int i = 0; i < 6; i++) {
        glDrawArrays(GL_QUADS, i * 24, 12);
        FLOATS(GL_CURRENT_COLOR, 4);
        glBegin(GL_QUADS);
        for (int v = 12; v < 24; v++) {
            if (v % 8 == 4)
                glColor3f(1, (float)i / 6, 0);
            glVertex2f(points[i * 24 + v].x, points[i * 24 + v].y);
        }
        glEnd();
        FLOATS(GL_CURRENT_COLOR, 4);
    }
    errors("with immediate mode");
}

static void instanced(void)
{
    static const char vertex[] = "#version 330 compatibility\n"
                                 "layout(location = 0) in vec2 place; layout(location = 1) in vec2 offset; layout(location = 2) in vec4 tint;\n"
                                 "out vec4 color;\n"
                                 "void main() { gl_Position = vec4(place * 0.08 + offset + vec2(0.0, 0.02 * float(gl_InstanceID % 3)), 0.0, 1.0);\n"
                                 "color = tint * (0.5 + 0.1 * float(gl_InstanceID % 6)); }";
    GLfloat places[] = {-1, -1, 1, -1, 1, 1, -1, 1}, offsets[64][2];
    GLubyte tints[64][4];
    GLuint buffers[2];
    if (!need_version(3, 3))
        return;
    for (int i = 0; i < 64; i++) {
        offsets[i][0] = -0.85f + 0.24f * (float)(i % 8);
        offsets[i][1] = -0.85f + 0.24f * (float)(i / 8);
        memcpy(tints[i], &(GLubyte[4]){(GLubyte)(i * 4), (GLubyte)(255 - i * 3), 200, 255}, 4);
    }
    glUseProgram(build_program(vertex, "#version 330 compatibility\nin vec4 color; void main() { gl_FragColor = color; }"));
    for (GLuint i = 0; i < 3; i++)
        glEnableVertexAttribArray(i);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, offsets);
    glVertexAttribPointer(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, tints);
    glVertexAttribDivisor(1, 1);
    glVertexAttribDivisor(2, 3);
    glDrawArraysInstanced(GL_QUADS, 0, 4, 20); /* all from memory */
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof offsets, offsets, GL_STATIC_DRAW);
    glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, (void *)(20 * 8));
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glDrawElementsInstanced(GL_QUADS, 4, GL_UNSIGNED_BYTE, (const GLubyte[]){3, 2, 1, 0}, 15); /* offsets from a buffer */
    glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, offsets[35]);
    glVertexAttribDivisor(1, 2);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, 4, (const GLubyte[]){0, 1, 2, 3}, GL_STATIC_DRAW);
    glDrawElementsInstanced(GL_QUADS, 4, GL_UNSIGNED_BYTE, (void *)0, 24);
    if (has_version(4, 2)) {
        glVertexAttribDivisor(1, 1);
        glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, offsets);
        glDrawArraysInstancedBaseInstance(GL_QUADS, 0, 4, 10, 50);
    }
    GLint divisor = -1;
    glGetVertexAttribiv(2, GL_VERTEX_ATTRIB_ARRAY_DIVISOR, &divisor);
    note("divisor %d", divisor);
    errors("instanced");
    glDrawArraysInstanced(GL_QUADS, 0, 4, -1);
    errors("negative instances");
}

static void attribute_gets(void)
{
    static const GLenum names[] = {GL_VERTEX_ATTRIB_ARRAY_ENABLED, GL_VERTEX_ATTRIB_ARRAY_SIZE, GL_VERTEX_ATTRIB_ARRAY_STRIDE,
                                   GL_VERTEX_ATTRIB_ARRAY_TYPE, GL_VERTEX_ATTRIB_ARRAY_NORMALIZED, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING};
    static const GLfloat data[16];
    no_picture();
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glVertexAttribPointer(3, 3, GL_SHORT, GL_TRUE, 20, data);
    glEnableVertexAttribArray(3);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glVertexAttribPointer(4, 2, GL_UNSIGNED_BYTE, GL_FALSE, 0, (void *)24);
    for (GLuint index = 2; index < 5; index++) {
        for (int n = 0; n < 6; n++) {
            GLint value = 7777;
            glGetVertexAttribiv(index, names[n], &value);
            note("attribute %u, %04x: %d", index, names[n], n == 5 ? value == (index == 4 ? (GLint)buffer : 0) : value);
        }
        void *pointer = NULL;
        glGetVertexAttribPointerv(index, GL_VERTEX_ATTRIB_ARRAY_POINTER, &pointer);
        note("pointer %s", pointer == NULL ? "null" : pointer == data ? "the array" : pointer == (void *)24 ? "24" : "another");
    }
    glGetVertexAttribiv(99, GL_VERTEX_ATTRIB_ARRAY_ENABLED, (GLint[4]){0});
    errors("attribute 99");
    INTS(GL_MAX_VERTEX_ATTRIBS, 1);
}

CONFORM("array_mix", COMPAT, {"memory_changes", memory_changes}, {"half_and_half", half_and_half}, {"with_immediate", with_immediate},
        {"instanced", instanced}, {"attribute_gets", attribute_gets})
