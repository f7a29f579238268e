/* Transform feedback: layouts, objects, pauses, streams, draws from captured vertices, counts of
 * queries, and errors. */
#include "conform.h"

#define VERTEX                                                                                                                                        \
    "#version 150\nin vec4 place; out vec3 first; out vec2 second; flat out ivec2 third; out mat2 fourth;\n"                                           \
    "void main() { gl_Position = place; first = place.xyz * 2.0; second = place.yx + 1.0; third = ivec2(place.x * 10.0, gl_VertexID); "               \
    "fourth = mat2(place.xyxy); }"
#define FRAGMENT "#version 150\nout vec4 result; void main() { result = vec4(0.3, 0.8, 0.5, 1.0); }"

static GLuint capture(GLenum mode, int count, const char *const *names)
{
    GLuint program = STAGES(.vertex = VERTEX, .fragment = FRAGMENT, .captured = names, .captured_count = count, .capture_mode = mode);
    glUseProgram(program);
    return program;
}

static void places(void)
{
    static GLfloat all[16][2];
    for (int i = 0; i < 16; i++) {
        all[i][0] = -0.8f + 0.1f * (float)i;
        all[i][1] = (float)(i * 5 % 7) / 7 - 0.4f;
    }
    make_buffer(GL_ARRAY_BUFFER, sizeof all, all);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
}

static void layouts(void)
{
    if (!need_version(3, 0))
        return no_picture();
    places();
    static const char *const names[] = {"first", "gl_Position", "third", "fourth"};
    GLuint program = capture(GL_INTERLEAVED_ATTRIBS, 4, names);
    GLuint buffer = make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 1024, NULL);
    glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 1024, (char[1024]){0}, GL_STATIC_READ);
    note_buffer_floats("before", GL_TRANSFORM_FEEDBACK_BUFFER, 4);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
    glBeginTransformFeedback(GL_TRIANGLES);
    BOOLS(GL_TRANSFORM_FEEDBACK_ACTIVE, 1);
    glDrawArrays(GL_TRIANGLE_STRIP, 2, 5);
    glEndTransformFeedback();
    BOOLS(GL_TRANSFORM_FEEDBACK_ACTIVE, 1);
    note_buffer_floats("interleaved", GL_TRANSFORM_FEEDBACK_BUFFER, 128);
    for (GLuint i = 0; i < 5; i++) {
        char name[32] = "untouched";
        GLsizei length = -1, size = -1;
        GLenum type = 77;
        glGetTransformFeedbackVarying(program, i, sizeof name, &length, &size, &type, name);
        note("varying %u: %s, %d long, %d of %x", i, name, length, size, type);
        glGetTransformFeedbackVarying(program, i, 3, &length, NULL, NULL, name);
        note("cut: %s %d", i < 4 ? name : "", i < 4 ? length : 0);
        errors("varying");
    }
    static const GLenum asked[] = {GL_TRANSFORM_FEEDBACK_VARYINGS, GL_TRANSFORM_FEEDBACK_BUFFER_MODE, GL_TRANSFORM_FEEDBACK_VARYING_MAX_LENGTH};
    GLint values[3];
    for (int i = 0; i < 3; i++)
        glGetProgramiv(program, asked[i], &values[i]);
    note_ints("program", values, 3);

    static const char *const apart[] = {"second", "fourth", "gl_Position"};
    program = capture(GL_SEPARATE_ATTRIBS, 3, apart);
    GLuint buffers[3];
    for (GLuint i = 0; i < 3; i++) {
        buffers[i] = make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 512, (char[512]){1});
        if (i == 1)
            glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, i, buffers[i], 16, 200);
        else
            glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, i, buffers[i]);
    }
    glEnable(GL_RASTERIZER_DISCARD);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, 4);
    glDrawArrays(GL_POINTS, 8, 3);
    glEndTransformFeedback();
    glDisable(GL_RASTERIZER_DISCARD);
    for (GLuint i = 0; i < 3; i++) {
        GLint64 start = -1, size = -1;
        GLint bound = -1;
        glGetIntegeri_v(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, i, &bound);
        glGetInteger64i_v(GL_TRANSFORM_FEEDBACK_BUFFER_START, i, &start);
        glGetInteger64i_v(GL_TRANSFORM_FEEDBACK_BUFFER_SIZE, i, &size);
        note("binding %d at %d of %d", bound == (GLint)buffers[i], (int)start, (int)size);
        glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffers[i]);
        note_buffer_floats("separate", GL_TRANSFORM_FEEDBACK_BUFFER, 40);
    }
    errors("separate");
    /* The next draw uses the captured values as an array. */
    glBindBuffer(GL_ARRAY_BUFFER, buffers[2]);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
    glUseProgram(build_program("#version 150\nin vec4 place; void main() { gl_Position = place; }", FRAGMENT));
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 7);
    INTS(GL_MAX_TRANSFORM_FEEDBACK_BUFFERS, 1);
    INTS(GL_MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS, 1);
    INTS(GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS, 1);
    INTS(GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_COMPONENTS, 1);
    errors("drawn");
}

static void skips(void)
{
    no_picture();
    if (!need_extension("GL_ARB_transform_feedback3"))
        return;
    places();
    static const char *const names[] = {"second", "gl_SkipComponents2", "third", "gl_NextBuffer", "gl_SkipComponents1", "first"};
    GLuint program = capture(GL_INTERLEAVED_ATTRIBS, 6, names);
    for (GLuint i = 0; i < 2; i++) {
        int marks[64];
        for (int m = 0; m < 64; m++)
            marks[m] = 1000 + m;
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, i, make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, sizeof marks, marks));
    }
    glBeginTransformFeedback(GL_LINES);
    glDrawArrays(GL_LINE_STRIP, 0, 4);
    glEndTransformFeedback();
    for (GLuint i = 0; i < 2; i++) {
        GLint bound = -1;
        glGetIntegeri_v(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, i, &bound);
        glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, (GLuint)bound);
        note_buffer_ints("skipped", GL_TRANSFORM_FEEDBACK_BUFFER, 50);
    }
    GLint values[2];
    glGetProgramiv(program, GL_TRANSFORM_FEEDBACK_VARYINGS, values);
    glGetProgramiv(program, GL_TRANSFORM_FEEDBACK_VARYING_MAX_LENGTH, values + 1);
    note_ints("varyings", values, 2);
    errors("skips");
    /* The shader declares the layout. */
    if (!has_extension("GL_ARB_enhanced_layouts"))
        return;
    program = STAGES(.vertex = "#version 440\nin vec4 place; layout(xfb_buffer = 1, xfb_offset = 4, xfb_stride = 32) out vec3 a; "
                               "layout(xfb_buffer = 1, xfb_offset = 20) out float b; layout(xfb_buffer = 0, xfb_offset = 0) out vec2 c;\n"
                               "void main() { a = place.xyx; b = place.y; c = place.xy * 3.0; gl_Position = place; }",
                     .fragment = FRAGMENT);
    glUseProgram(program);
    glEnable(GL_RASTERIZER_DISCARD);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 3, 5);
    glEndTransformFeedback();
    for (GLuint i = 0; i < 2; i++) {
        GLint bound = -1;
        glGetIntegeri_v(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, i, &bound);
        glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, (GLuint)bound);
        note_buffer_floats("laid out", GL_TRANSFORM_FEEDBACK_BUFFER, 48);
    }
    errors("laid out");
}

static void objects(void)
{
    if (!need_extension("GL_ARB_transform_feedback2"))
        return no_picture();
    places();
    static const char *const names[] = {"gl_Position"};
    GLuint capturing = capture(GL_INTERLEAVED_ATTRIBS, 1, names), feedback[3], query;
    GLuint drawing = build_program("#version 150\nin vec4 place; void main() { gl_Position = place * vec4(1.0, -1.0, 1.0, 1.0); }",
                                   "#version 150\nout vec4 result; void main() { result = vec4(1.0, 0.7, 0.1, 1.0); }");
    glGenTransformFeedbacks(3, feedback);
    glGenQueries(1, &query);
    note("is %d", glIsTransformFeedback(feedback[0]));
    BOUND(GL_TRANSFORM_FEEDBACK_BINDING, 0);
    GLuint buffers[2];
    for (int i = 0; i < 2; i++) {
        glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback[i]);
        BOUND(GL_TRANSFORM_FEEDBACK_BINDING, feedback[i]);
        buffers[i] = make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 512, NULL);
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffers[i]);
    }
    note("is %d", glIsTransformFeedback(feedback[0]));
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback[0]);
    glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query);
    glBeginTransformFeedback(GL_TRIANGLES);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glPauseTransformFeedback();
    BOOLS(GL_TRANSFORM_FEEDBACK_PAUSED, 1);
    BOOLS(GL_TRANSFORM_FEEDBACK_ACTIVE, 1);
    /* While it is paused, other programs draw, and another object captures. */
    glUseProgram(drawing);
    glDrawArrays(GL_TRIANGLES, 3, 3);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback[1]);
    glUseProgram(capturing);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 4, 7);
    glEndTransformFeedback();
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback[0]);
    glResumeTransformFeedback();
    BOOLS(GL_TRANSFORM_FEEDBACK_PAUSED, 1);
    glDrawArrays(GL_TRIANGLES, 6, 6);
    glEndTransformFeedback();
    glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    GLuint written = 99;
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &written);
    note("written %u", written);
    errors("objects");
    for (int i = 0; i < 2; i++) {
        glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
        note_buffer_floats("captured", GL_ARRAY_BUFFER, 36);
    }
    glUseProgram(drawing);
    for (int i = 0; i < 2; i++) {
        glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
        glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
        glDrawTransformFeedback(i ? GL_LINE_LOOP : GL_TRIANGLES, feedback[i]);
        errors("drawn");
    }
    if (has_extension("GL_ARB_transform_feedback_instanced")) {
        glDrawTransformFeedbackInstanced(GL_LINES, feedback[1], 2);
        glDrawTransformFeedbackStreamInstanced(GL_POINTS, feedback[1], 0, 2);
        glDrawTransformFeedbackStream(GL_POINTS, feedback[1], 0);
        errors("instances");
        glDrawTransformFeedbackInstanced(GL_LINES, feedback[1], -1);
        errors("fewer than no instances");
        glDrawTransformFeedbackStreamInstanced(GL_LINES, feedback[1], 9, 1);
        errors("no such stream");
    }
    glDrawTransformFeedback(GL_LINES, feedback[2]);
    errors("never bound");
    glDrawTransformFeedback(77, feedback[1]);
    errors("no such mode");
    glDrawTransformFeedback(GL_LINES, 7777);
    errors("no such object");
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback[2]);
    glDrawTransformFeedback(GL_LINES, feedback[2]);
    errors("never ended");
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 7777);
    errors("bound, no such object");
    glBindTransformFeedback(GL_FRAMEBUFFER, feedback[0]);
    errors("no such target");
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback[0]);
    glUseProgram(capturing);
    glBeginTransformFeedback(GL_POINTS);
    glDeleteTransformFeedbacks(1, feedback);
    errors("deleted at work");
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback[1]);
    errors("exchanged at work");
    glEndTransformFeedback();
    glDeleteTransformFeedbacks(3, feedback);
    BOUND(GL_TRANSFORM_FEEDBACK_BINDING, 0);
    note("is %d", glIsTransformFeedback(feedback[0]));
    glDeleteTransformFeedbacks(-1, feedback);
    errors("negative count");
}

static void streams(void)
{
    if (!need_extension("GL_ARB_transform_feedback3") || !need_extension("GL_ARB_gpu_shader5"))
        return no_picture();
    places();
    static const char *const names[] = {"one", "gl_NextBuffer", "two"};
    GLuint program = STAGES(.vertex = "#version 400\nin vec4 place; void main() { gl_Position = place; }",
                            .geometry = "#version 400\nlayout(points) in; layout(points, max_vertices = 6) out; layout(stream = 0) out vec2 one; "
                                        "layout(stream = 1) out vec4 two;\nvoid main() { gl_Position = gl_in[0].gl_Position; one = gl_Position.xy; "
                                        "EmitStreamVertex(0); EndStreamPrimitive(0); for (int i = 0; i < gl_PrimitiveIDIn; i++) { two = vec4(i, "
                                        "gl_PrimitiveIDIn, gl_in[0].gl_Position.xy); EmitStreamVertex(1); EndStreamPrimitive(1); } }",
                            .fragment = FRAGMENT, .captured = names, .captured_count = 3, .capture_mode = GL_INTERLEAVED_ATTRIBS);
    glUseProgram(program);
    GLuint buffers[2], queries[4], feedback;
    glGenQueries(4, queries);
    glGenTransformFeedbacks(1, &feedback);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback);
    for (GLuint i = 0; i < 2; i++) {
        buffers[i] = make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 160, (char[160]){0});
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, i, buffers[i]);
        glBeginQueryIndexed(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, i, queries[i]);
        glBeginQueryIndexed(GL_PRIMITIVES_GENERATED, i, queries[2 + i]);
    }
    GLint current = -1;
    glGetQueryIndexediv(GL_PRIMITIVES_GENERATED, 1, GL_CURRENT_QUERY, &current);
    note("current %d", current == (GLint)queries[3]);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, 6);
    glEndTransformFeedback();
    for (GLuint i = 0; i < 2; i++) {
        glEndQueryIndexed(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, i);
        glEndQueryIndexed(GL_PRIMITIVES_GENERATED, i);
        glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
        note_buffer_floats("stream", GL_ARRAY_BUFFER, 40);
    }
    for (int i = 0; i < 4; i++) {
        GLuint value = 99;
        glGetQueryObjectuiv(queries[i], GL_QUERY_RESULT, &value);
        note("query %d: %u", i, value);
    }
    errors("streams");
    glBeginQueryIndexed(GL_PRIMITIVES_GENERATED, 4, queries[0]);
    errors("no such stream");
    glBeginQueryIndexed(GL_SAMPLES_PASSED, 1, queries[0]);
    errors("not by stream");
    glEndQueryIndexed(GL_PRIMITIVES_GENERATED, 1);
    errors("not begun");
    glGetQueryIndexediv(GL_SAMPLES_PASSED, 1, GL_CURRENT_QUERY, &current);
    errors("asked of a stream it has not");
    glUseProgram(build_program("#version 150\nin vec4 place; void main() { gl_Position = vec4(place.zw * 0.2, 0.0, 1.0); gl_PointSize = 4.0; }", FRAGMENT));
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnable(GL_PROGRAM_POINT_SIZE);
    glDrawTransformFeedbackStream(GL_POINTS, feedback, 1);
    errors("drawn");
    if (has_extension("GL_ARB_transform_feedback_overflow_query")) {
        glUseProgram(program);
        glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
        glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 1, buffers[1], 0, 32);
        glBeginQuery(GL_TRANSFORM_FEEDBACK_OVERFLOW, queries[0]);
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 256, NULL));
        glBeginTransformFeedback(GL_POINTS);
        glDrawArrays(GL_POINTS, 0, 6);
        glEndTransformFeedback();
        glEndQuery(GL_TRANSFORM_FEEDBACK_OVERFLOW);
        GLuint value = 99;
        glGetQueryObjectuiv(queries[0], GL_QUERY_RESULT, &value);
        note("overflow %u", value);
        errors("overflow");
    }
}

static void wrong(void)
{
    no_picture();
    if (!need_version(3, 0))
        return;
    places();
    static const char *const names[] = {"first", "second"}, *const twice[] = {"first", "first"}, *const unknown[] = {"nothing"};
    glBeginTransformFeedback(GL_POINTS);
    errors("no program");
    GLuint program = capture(GL_SEPARATE_ATTRIBS, 2, names);
    glBeginTransformFeedback(GL_POINTS);
    errors("no buffers");
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 64, NULL));
    glBeginTransformFeedback(GL_POINTS);
    errors("one buffer");
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 1, make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 64, NULL));
    glBeginTransformFeedback(GL_LINE_STRIP);
    errors("no such mode");
    glEndTransformFeedback();
    errors("not begun");
    glPauseTransformFeedback();
    errors("paused, not begun");
    glResumeTransformFeedback();
    errors("resumed, not begun");
    glBeginTransformFeedback(GL_POINTS);
    glBeginTransformFeedback(GL_POINTS);
    errors("begun twice");
    glUseProgram(0);
    errors("another program");
    glLinkProgram(program);
    errors("linked");
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
    errors("another buffer");
    glDrawArrays(GL_LINES, 0, 2);
    errors("lines for points");
    glResumeTransformFeedback();
    errors("not paused");
    glBegin(GL_TRIANGLES);
    glEnd();
    errors("triangles for points");
    glPauseTransformFeedback();
    glPauseTransformFeedback();
    errors("paused twice");
    glEndTransformFeedback();
    errors("ended");
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 77, 0);
    errors("no such index");
    glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, make_buffer(GL_ARRAY_BUFFER, 64, NULL), 2, 8);
    errors("a crooked offset");
    glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, make_buffer(GL_ARRAY_BUFFER, 64, NULL), 4, 7);
    errors("a crooked size");
    glTransformFeedbackVaryings(program, 2, names, 77);
    errors("no such layout");
    glTransformFeedbackVaryings(program, -1, names, GL_SEPARATE_ATTRIBS);
    errors("negative count");
    glTransformFeedbackVaryings(program, 77, names, GL_SEPARATE_ATTRIBS);
    errors("too many");
    glTransformFeedbackVaryings(7777, 2, names, GL_SEPARATE_ATTRIBS);
    errors("no such program");
    capture(GL_INTERLEAVED_ATTRIBS, 2, twice);
    errors("twice the same");
    capture(GL_INTERLEAVED_ATTRIBS, 1, unknown);
    errors("an unknown varying");
    GLint value = -1;
    glGetIntegeri_v(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 77, &value);
    errors("asked of no index");
    /* The buffer is full. */
    static const char *const one[] = {"gl_Position"};
    capture(GL_INTERLEAVED_ATTRIBS, 1, one);
    GLuint query[2], written[2];
    glGenQueries(2, query);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 100, NULL));
    glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query[0]);
    glBeginQuery(GL_PRIMITIVES_GENERATED, query[1]);
    glBeginTransformFeedback(GL_TRIANGLES);
    glDrawArrays(GL_TRIANGLES, 0, 12);
    glEndTransformFeedback();
    glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    glEndQuery(GL_PRIMITIVES_GENERATED);
    for (int i = 0; i < 2; i++)
        glGetQueryObjectuiv(query[i], GL_QUERY_RESULT, &written[i]);
    note("%u of %u", written[0], written[1]);
    note_buffer_floats("full", GL_TRANSFORM_FEEDBACK_BUFFER, 12);
    errors("full");
}

/* Draws of captured vertices with invalid modes, objects, streams and instances. */
static void wrong_draws(void)
{
    no_picture();
    if (!need_extension("GL_ARB_transform_feedback3") || !need_extension("GL_ARB_transform_feedback_instanced"))
        return;
    places();
    static const char *const one[] = {"first"};
    GLuint objects[3];
    glGenTransformFeedbacks(3, objects);
    capture(GL_INTERLEAVED_ATTRIBS, 1, one);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, objects[1]);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, objects[0]);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 256, NULL));
    glBeginTransformFeedback(GL_POINTS);
    glDrawTransformFeedback(GL_POINTS, objects[0]);
    errors("not ended");
    glDrawArrays(GL_POINTS, 0, 3);
    glEndTransformFeedback();
    errors("captured");
    static const GLenum modes[] = {GL_POINTS, GL_QUADS, GL_POLYGON, GL_PATCHES, GL_PATCHES + 1, 0x1234, 0xffffffff};
    const GLuint ids[] = {objects[0], 0, objects[1], objects[2], 7777};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
        for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
            note("mode %x, object %zu", modes[m], i);
            glDrawTransformFeedback(modes[m], ids[i]);
            errors("plain");
            glDrawTransformFeedbackInstanced(modes[m], ids[i], 2);
            errors("instances");
            glDrawTransformFeedbackInstanced(modes[m], ids[i], 0);
            errors("no instances");
            glDrawTransformFeedbackInstanced(modes[m], ids[i], -1);
            errors("negative number of instances");
            glDrawTransformFeedbackStream(modes[m], ids[i], 0);
            errors("a stream");
            glDrawTransformFeedbackStream(modes[m], ids[i], 99);
            errors("no stream");
            glDrawTransformFeedbackStreamInstanced(modes[m], ids[i], 0, 2);
            errors("instances of a stream");
            glDrawTransformFeedbackStreamInstanced(modes[m], ids[i], 99, 2);
            errors("instances of no stream");
            glDrawTransformFeedbackStreamInstanced(modes[m], ids[i], 0, -1);
            errors("negative number of instances of a stream");
        }
}

CONFORM("transform_feedback", COMPAT, {"wrong_draws", wrong_draws}, {"layouts", layouts}, {"skips", skips}, {"objects", objects}, {"streams", streams}, {"wrong", wrong})
