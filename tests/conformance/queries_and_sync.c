/* Occlusion and primitive queries, conditional rendering, transform feedback and fences. */
#include "conform.h"

static void rectangle(float left, float bottom, float size, float depth)
{
    glBegin(GL_QUADS);
    glVertex3f(left, bottom, depth);
    glVertex3f(left + size, bottom, depth);
    glVertex3f(left + size, bottom + size, depth);
    glVertex3f(left, bottom + size, depth);
    glEnd();
}

static GLuint result_of(GLuint query)
{
    GLuint result = 7777;
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &result);
    return result;
}

static void occlusion(void)
{
    GLuint queries[12];
    GLint bits = -1, current = -1;
    glGetQueryiv(GL_SAMPLES_PASSED, GL_QUERY_COUNTER_BITS, &bits);
    note("counts bits: %d", bits > 0);
    glGenQueries(12, queries);
    note("is a query: %d", glIsQuery(queries[0]));
    glEnable(GL_DEPTH_TEST);
    color_of(1);
    rectangle(-0.5f, -0.5f, 1, 0);
    for (int i = 0; i < 12; i++) {
        color_of(i + 2);
        glBeginQuery(GL_SAMPLES_PASSED, queries[i]);
        glGetQueryiv(GL_SAMPLES_PASSED, GL_CURRENT_QUERY, &current);
        rectangle(-1 + 0.15f * (float)i, -0.8f + 0.1f * (float)i, 0.3f, i % 2 ? 0.5f : -0.5f);
        glEndQuery(GL_SAMPLES_PASSED);
        note("the current one is it: %d", current == (GLint)queries[i]);
    }
    for (int i = 0; i < 12; i++)
        note("query %d: %u samples", i, result_of(queries[11 - i]));
    GLint available = 0;
    glGetQueryObjectiv(queries[3], GL_QUERY_RESULT_AVAILABLE, &available);
    note("available: %d", available);
    errors("occlusion");
    glBeginQuery(GL_SAMPLES_PASSED, queries[0]);
    glBeginQuery(GL_SAMPLES_PASSED, queries[1]);
    errors("two at once");
    result_of(queries[0]);
    errors("result of an active one");
    glEndQuery(GL_SAMPLES_PASSED);
    glEndQuery(GL_SAMPLES_PASSED);
    errors("ended twice");
    glBeginQuery(GL_SAMPLES_PASSED, 0);
    errors("query 0");
    glDeleteQueries(12, queries);
    note("is a query: %d", glIsQuery(queries[0]));
    if (has_version(3, 3)) {
        glGenQueries(1, queries);
        glBeginQuery(GL_ANY_SAMPLES_PASSED, queries[0]);
        rectangle(0.7f, 0.7f, 0.2f, 0);
        glEndQuery(GL_ANY_SAMPLES_PASSED);
        note("any: %u", result_of(queries[0]));
        errors("any samples");
    }
}

/* A program that polls for the result must get it at some time. */
static void polling(void)
{
    GLuint query, available = 0;
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    rectangle(-0.5f, -0.5f, 1, 0);
    glEndQuery(GL_SAMPLES_PASSED);
    while (!available)
        glGetQueryObjectuiv(query, GL_QUERY_RESULT_AVAILABLE, &available);
    note("%u samples", result_of(query));
}

static void conditional(void)
{
    GLuint queries[2];
    if (!need_version(3, 0))
        return;
    glGenQueries(2, queries);
    glColorMask(0, 0, 0, 0);
    for (int i = 0; i < 2; i++) {
        glBeginQuery(GL_SAMPLES_PASSED, queries[i]);
        rectangle(i ? 2 : -0.5f, 0, 0.5f, 0);
        glEndQuery(GL_SAMPLES_PASSED);
    }
    glColorMask(1, 1, 1, 1);
    for (int i = 0; i < 2; i++) {
        glBeginConditionalRender(queries[i], GL_QUERY_WAIT);
        color_of(i);
        rectangle(-0.9f + (float)i, -0.5f, 0.8f, 0);
        glEndConditionalRender();
    }
    errors("conditional");
    glEndConditionalRender();
    errors("ended twice");
}

static void primitives(void)
{
    GLuint queries[2], buffer;
    const char *varying = "gl_Position", *source = "#version 130\nvoid main() { gl_Position = gl_Vertex * vec4(0.5, 0.5, 1.0, 1.0) + vec4(0.1, 0.2, 0.0, 0.0); }";
    if (!need_version(3, 0))
        return;
    GLuint program = glCreateProgram(), shader = glCreateShader(GL_VERTEX_SHADER);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glTransformFeedbackVaryings(program, 1, &varying, GL_INTERLEAVED_ATTRIBS);
    glLinkProgram(program);
    glUseProgram(program);
    glGenBuffers(1, &buffer);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
    glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 1024, NULL, GL_STATIC_READ);
    glGenQueries(2, queries);
    glBeginQuery(GL_PRIMITIVES_GENERATED, queries[0]);
    glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, queries[1]);
    glBeginTransformFeedback(GL_TRIANGLES);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 30; i++)
        glVertex2f(-0.9f + 0.06f * (float)i, i % 3 == 2 ? 0.5f : -0.5f);
    glEnd();
    glEndTransformFeedback();
    glEndQuery(GL_PRIMITIVES_GENERATED);
    glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    note("generated %u, written %u", result_of(queries[0]), result_of(queries[1]));
    GLfloat back[30 * 4];
    glGetBufferSubData(GL_TRANSFORM_FEEDBACK_BUFFER, 0, sizeof back, back);
    note_bytes("written", back, sizeof back);
    errors("primitives");
}

static void timers(void)
{
    GLuint queries[2];
    no_picture();
    if (!need_extension("GL_ARB_timer_query"))
        return;
    glGenQueries(2, queries);
    glBeginQuery(GL_TIME_ELAPSED, queries[0]);
    rectangle(-1, -1, 2, 0);
    glEndQuery(GL_TIME_ELAPSED);
    glQueryCounter(queries[1], GL_TIMESTAMP);
    GLuint64 elapsed = 0, stamp = 0;
    glGetQueryObjectui64v(queries[0], GL_QUERY_RESULT, &elapsed);
    glGetQueryObjectui64v(queries[1], GL_QUERY_RESULT, &stamp);
    note("less than an hour: %d, a stamp: %d", elapsed < 3600000000000u, stamp > 0);
    errors("timers");
}

static void fences(void)
{
    if (!need_version(3, 2))
        return;
    GLsync syncs[5];
    GLint value = -1;
    for (int i = 0; i < 5; i++) {
        color_of(i);
        rectangle(-0.9f + 0.3f * (float)i, -0.5f, 0.25f, 0);
        syncs[i] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    }
    for (int i = 4; i >= 0; i--) {
        GLenum result = glClientWaitSync(syncs[i], GL_SYNC_FLUSH_COMMANDS_BIT, 10000000000u);
        note("waited: %d", result == GL_ALREADY_SIGNALED || result == GL_CONDITION_SATISFIED);
        glGetSynciv(syncs[i], GL_SYNC_STATUS, 1, NULL, &value);
        note("signalled: %d", value == GL_SIGNALED);
    }
    glGetSynciv(syncs[0], GL_OBJECT_TYPE, 1, NULL, &value);
    note("type %04x", (unsigned)value);
    glGetSynciv(syncs[0], GL_SYNC_CONDITION, 1, NULL, &value);
    note("condition %04x", (unsigned)value);
    glWaitSync(syncs[1], 0, GL_TIMEOUT_IGNORED);
    note("is a sync: %d", glIsSync(syncs[0]));
    for (int i = 0; i < 5; i++)
        glDeleteSync(syncs[i]);
    note("is a sync: %d", glIsSync(syncs[0]));
    glDeleteSync(NULL);
    errors("fences");
    note("no fence: %d", glFenceSync(GL_TRIANGLES, 0) == NULL);
    errors("condition");
    note("no fence: %d", glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 1) == NULL);
    errors("flags");
    glClientWaitSync(NULL, 0, 0);
    errors("no sync");
}

CONFORM("queries_and_sync", COMPAT, {"occlusion", occlusion}, {"polling", polling}, {"conditional", conditional}, {"primitives", primitives},
        {"timers", timers}, {"fences", fences})
