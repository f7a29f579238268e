/* The maximum memory of a program after long runs of immediate mode, which would fill any buffer,
 * and after frames that fill a buffer object repeatedly. The figures go to standard error and not
 * into the log, because only a special test compares them. */
#include "conform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void report(const char *what)
{
    glFinish();
    fprintf(stderr, "%s: %ld kB at most, %ld kB now\n", what, status_of("VmHWM"), status_of("VmRSS"));
}

static void vertices(GLenum type, int count)
{
    glBegin(type);
    for (int i = 0; i < count; i++) {
        float angle = (float)(i % 997) * 0.0063f, radius = 0.2f + 0.7f * (float)(i % 13) / 13;
        glColor3f(radius, 0.5f, 1 - radius);
        glVertex2f(radius * cosf(angle), radius * sinf(angle));
    }
    glEnd();
}

/* 150 MB of vertices, between one glBegin and glEnd. */
static void triangles(void)
{
    vertices(GL_TRIANGLES, 7500000);
    report("triangles");
}

static void strip(void)
{
    vertices(GL_TRIANGLE_STRIP, 1500000);
    report("strip");
}

/* An attribute that is first set in the middle of a primitive. */
static void wider(void)
{
    glBegin(GL_QUADS);
    for (int i = 0; i < 1500000; i++) {
        if (i % 500000 == 499999)
            glTexCoord2f(0.5f, 0.5f);
        if (i % 1000000 == 999999)
            glNormal3f(0, 0, 1);
        glVertex2f((float)(i % 101) / 101, (float)(i % 89) / 89);
    }
    glEnd();
    report("wider");
}

/* 300 draws with a megabyte each. */
static void uploads(void)
{
    static float data[1 << 18];
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glEnableClientState(GL_VERTEX_ARRAY);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    for (int frame = 0; frame < 300; frame++) {
        for (int i = 0; i < 6; i++)
            data[i] = sinf((float)(frame + i));
        glBufferData(GL_ARRAY_BUFFER, sizeof data, data, GL_STREAM_DRAW);
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }
    glDeleteBuffers(1, &buffer);
    report("uploads");
}

CONFORM("memory", COMPAT, {"triangles", triangles}, {"strip", strip}, {"wider", wider}, {"uploads", uploads})
