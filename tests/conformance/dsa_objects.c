/* GL_ARB_direct_state_access: objects that exist as soon as they have names; feedback, queries,
 * samplers and units. */
#include "conform.h"

static bool start(void)
{
    no_picture();
    return need_extension("GL_ARB_direct_state_access");
}

static void created(void)
{
    if (!start())
        return;
    GLuint n[2] = {0};
    glCreateBuffers(2, n);
    note("buffers %d %d", glIsBuffer(n[0]), glIsBuffer(n[1]));
    glCreateTextures(GL_TEXTURE_3D, 2, n);
    note("textures %d %d", glIsTexture(n[0]), glIsTexture(n[1]));
    glCreateFramebuffers(2, n);
    note("framebuffers %d %d", glIsFramebuffer(n[0]), glIsFramebuffer(n[1]));
    glCreateRenderbuffers(2, n);
    note("renderbuffers %d %d", glIsRenderbuffer(n[0]), glIsRenderbuffer(n[1]));
    glCreateVertexArrays(2, n);
    note("vertex arrays %d %d", glIsVertexArray(n[0]), glIsVertexArray(n[1]));
    glCreateSamplers(2, n);
    note("samplers %d %d", glIsSampler(n[0]), glIsSampler(n[1]));
    glCreateQueries(GL_SAMPLES_PASSED, 2, n);
    note("queries %d %d", glIsQuery(n[0]), glIsQuery(n[1]));
    glCreateProgramPipelines(2, n);
    note("pipelines %d %d", glIsProgramPipeline(n[0]), glIsProgramPipeline(n[1]));
    glCreateTransformFeedbacks(2, n);
    note("feedbacks %d %d", glIsTransformFeedback(n[0]), glIsTransformFeedback(n[1]));
    errors("created");
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, n[1]);
    BOUND(GL_TRANSFORM_FEEDBACK_BINDING, n[1]);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
    glCreateSamplers(1, n);
    glBindSampler(0, n[0]);
    BOUND(GL_SAMPLER_BINDING, n[0]);
    glCreateProgramPipelines(1, n);
    glBindProgramPipeline(n[0]);
    BOUND(GL_PROGRAM_PIPELINE_BINDING, n[0]);
    glBindProgramPipeline(0);
    errors("bound");
    /* Objects that are created do not get names that were generated before. */
    GLuint generated[2], made[2];
    glGenTextures(2, generated);
    glCreateTextures(GL_TEXTURE_2D, 2, made);
    note("apart %d", generated[0] != made[0] && generated[1] != made[0] && generated[1] != made[1]);
}

static void refused(void)
{
    if (!start())
        return;
    GLuint n = 77;
    glCreateBuffers(-1, &n);
    errors("-1 buffers");
    glCreateTextures(GL_TEXTURE_2D, -1, &n);
    errors("-1 textures");
    glCreateTextures(GL_TEXTURE_CUBE_MAP_POSITIVE_X, 1, &n);
    errors("a face");
    glCreateTextures(GL_PROXY_TEXTURE_2D, -1, &n);
    errors("-1 proxies");
    glCreateTextures(GL_RED, 1, &n);
    errors("red");
    glCreateFramebuffers(-1, &n);
    errors("-1 framebuffers");
    glCreateRenderbuffers(-1, &n);
    errors("-1 renderbuffers");
    glCreateSamplers(-1, &n);
    errors("-1 samplers");
    glCreateProgramPipelines(-1, &n);
    errors("-1 pipelines");
    glCreateTransformFeedbacks(-1, &n);
    errors("-1 feedbacks");
    glCreateQueries(GL_SAMPLES_PASSED, -1, &n);
    errors("-1 queries");
    glCreateQueries(GL_RED, 1, &n);
    errors("red queries");
    static const GLenum targets[] = {GL_ANY_SAMPLES_PASSED,
                                     GL_ANY_SAMPLES_PASSED_CONSERVATIVE,
                                     GL_TIME_ELAPSED,
                                     GL_TIMESTAMP,
                                     GL_PRIMITIVES_GENERATED,
                                     GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
                                     GL_TRANSFORM_FEEDBACK_OVERFLOW_ARB,
                                     GL_TRANSFORM_FEEDBACK_STREAM_OVERFLOW_ARB,
                                     GL_VERTICES_SUBMITTED_ARB};
    for (int i = 0; i < 9; i++) {
        GLuint query = 0;
        glCreateQueries(targets[i], 1, &query);
        note("query %04x: %d", targets[i], query != 0 && glIsQuery(query));
        errors("query");
        glCreateQueries(targets[i], 0, &n);
        errors("no query");
        glCreateQueries(targets[i], -1, &n);
        errors("-1 queries");
    }
    static const GLenum textures[] = {GL_TEXTURE_1D,       GL_TEXTURE_2D,       GL_TEXTURE_3D,     GL_TEXTURE_CUBE_MAP,       GL_TEXTURE_RECTANGLE,
                                      GL_TEXTURE_1D_ARRAY, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BUFFER, GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_2D_MULTISAMPLE,
                                      GL_TEXTURE_2D_MULTISAMPLE_ARRAY, 0x8D65 /* GL_TEXTURE_EXTERNAL_OES */};
    for (int i = 0; i < 12; i++) {
        GLuint texture = 0;
        glCreateTextures(textures[i], 1, &texture);
        note("texture %04x: %d", textures[i], texture && glIsTexture(texture));
        glBindTexture(textures[i], texture);
        errors("texture");
    }
    glBegin(GL_POINTS);
    glCreateTextures(GL_TEXTURE_2D, 1, &n);
    glCreateQueries(GL_RED, 1, &n);
    glCreateSamplers(1, &n);
    glEnd();
    errors("between glBegin and glEnd");
    note("untouched %d", n == 77);
}

static void units(void)
{
    if (!start())
        return;
    GLuint made[3], named;
    glCreateTextures(GL_TEXTURE_2D, 2, made);
    glCreateTextures(GL_TEXTURE_3D, 1, made + 2);
    glGenTextures(1, &named);
    glBindTextureUnit(3, made[0]);
    glBindTextureUnit(3, made[2]);
    glBindTextureUnit(0, made[1]);
    BOUND(GL_TEXTURE_BINDING_2D, made[1]);
    glActiveTexture(GL_TEXTURE3);
    BOUND(GL_TEXTURE_BINDING_2D, made[0]);
    BOUND(GL_TEXTURE_BINDING_3D, made[2]);
    errors("bound");
    glBindTextureUnit(3, named);
    errors("only a name");
    glBindTextureUnit(3, 4000);
    errors("no name");
    glBindTextureUnit(100000, made[0]);
    errors("unit 100000");
    BOUND(GL_TEXTURE_BINDING_2D, made[0]);
    glBindTextureUnit(3, 0);
    BOUND(GL_TEXTURE_BINDING_2D, 0);
    BOUND(GL_TEXTURE_BINDING_3D, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindTextureUnit(3, made[0]);
    GLint filter = -1;
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, &filter);
    note("filter %04x", filter);
    glTextureParameteri(made[0], GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, &filter);
    note("filter %04x", filter);
    errors("units");
    GLuint list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    glBindTextureUnit(3, 0);
    glEndList();
    BOUND(GL_TEXTURE_BINDING_2D, made[0]);
    glCallList(list);
    BOUND(GL_TEXTURE_BINDING_2D, made[0]);
    glNewList(list, GL_COMPILE);
    glBindTextures(3, 1, made);
    glEndList();
    BOUND(GL_TEXTURE_BINDING_2D, made[0]);
    glCallList(list);
    BOUND(GL_TEXTURE_BINDING_2D, made[0]);
    errors("in a list");
}

static void feedbacks(void)
{
    if (!start())
        return;
    GLuint feedback, buffers[2], only;
    GLint value = -7;
    GLint64 wide = -7;
    glCreateTransformFeedbacks(1, &feedback);
    glCreateBuffers(2, buffers);
    glGenBuffers(1, &only);
    glNamedBufferData(buffers[0], 256, NULL, GL_STATIC_DRAW);
    glNamedBufferData(buffers[1], 256, NULL, GL_STATIC_DRAW);
    glTransformFeedbackBufferBase(feedback, 0, buffers[0]);
    glTransformFeedbackBufferRange(feedback, 1, buffers[1], 16, 64);
    for (GLuint i = 0; i < 2; i++) {
        glGetTransformFeedbacki_v(feedback, GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, i, &value);
        note("buffer %u: %d", i, value == (GLint)buffers[i]);
        glGetTransformFeedbacki64_v(feedback, GL_TRANSFORM_FEEDBACK_BUFFER_START, i, &wide);
        note("start %u: %d", i, (int)wide);
        glGetTransformFeedbacki64_v(feedback, GL_TRANSFORM_FEEDBACK_BUFFER_SIZE, i, &wide);
        note("size %u: %d", i, (int)wide);
    }
    glGetTransformFeedbackiv(feedback, GL_TRANSFORM_FEEDBACK_ACTIVE, &value);
    note("active %d", value);
    glGetTransformFeedbackiv(feedback, GL_TRANSFORM_FEEDBACK_PAUSED, &value);
    note("paused %d", value);
    BOUND(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 0);
    errors("feedbacks");
    glTransformFeedbackBufferBase(4000, 0, buffers[0]);
    errors("no feedback");
    glTransformFeedbackBufferBase(feedback, 1000, buffers[0]);
    errors("index 1000");
    glTransformFeedbackBufferBase(feedback, 0, only);
    errors("a buffer that is only a name");
    glTransformFeedbackBufferRange(feedback, 0, buffers[0], 2, 64);
    errors("offset 2");
    glTransformFeedbackBufferRange(feedback, 0, buffers[0], 0, 0);
    errors("empty");
    glGetTransformFeedbacki_v(feedback, GL_TRANSFORM_FEEDBACK_BUFFER_START, 0, &value);
    errors("a start of 32 bits");
    glGetTransformFeedbackiv(feedback, GL_RED, &value);
    errors("no parameter");
    glTransformFeedbackBufferBase(feedback, 0, 0);
    glGetTransformFeedbacki_v(feedback, GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 0, &value);
    note("none: %d", value);
    errors("none");
}

static const char feed_vertex[] = "#version 330\nout vec4 fed; void main() { fed = vec4(gl_VertexID, 2, 3, 4); gl_Position = vec4(0.0, 0.0, 0.0, 1.0); }";

/* The server writes to buffers that the program has never bound to a target. */
static void written(void)
{
    if (!start())
        return;
    GLuint feedback, buffers[2], query;
    GLfloat fed[16] = {0};
    GLuint shader = glCreateShader(GL_VERTEX_SHADER), program = glCreateProgram();
    const char *source = feed_vertex, *varying = "fed";
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glTransformFeedbackVaryings(program, 1, &varying, GL_INTERLEAVED_ATTRIBS);
    glLinkProgram(program);
    glCreateTransformFeedbacks(1, &feedback);
    glCreateBuffers(2, buffers);
    glCreateQueries(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, 1, &query);
    glNamedBufferData(buffers[0], 64, fed, GL_STATIC_DRAW);
    glNamedBufferData(buffers[1], 64, fed, GL_STATIC_DRAW);
    /* The client may still have the bytes that it wrote. */
    GLfloat *mapped = glMapNamedBuffer(buffers[0], GL_READ_WRITE);
    if (mapped)
        mapped[0] = 9;
    glUnmapNamedBuffer(buffers[0]);
    glTransformFeedbackBufferBase(feedback, 0, buffers[0]);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback);
    glUseProgram(program);
    glEnable(GL_RASTERIZER_DISCARD);
    glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, 3);
    glEndTransformFeedback();
    glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    glDisable(GL_RASTERIZER_DISCARD);
    glGetNamedBufferSubData(buffers[0], 0, sizeof fed, fed);
    note_floats("fed", fed, 16);
    errors("fed");
    if (!need_extension("GL_ARB_query_buffer_object"))
        return;
    mapped = glMapNamedBuffer(buffers[1], GL_READ_WRITE);
    if (mapped)
        mapped[0] = 9;
    glUnmapNamedBuffer(buffers[1]);
    glGetQueryBufferObjectuiv(query, buffers[1], GL_QUERY_RESULT, 4);
    glGetQueryBufferObjectui64v(query, buffers[1], GL_QUERY_RESULT, 16);
    glGetQueryBufferObjectiv(query, buffers[1], GL_QUERY_RESULT_AVAILABLE, 32);
    glGetQueryBufferObjecti64v(query, buffers[1], GL_QUERY_TARGET, 40);
    GLint results[16] = {0};
    glGetNamedBufferSubData(buffers[1], 4, 60, results);
    note_ints("results", results, 15);
    errors("results");
    glGetQueryBufferObjectuiv(query, 4000, GL_QUERY_RESULT, 0);
    errors("no buffer");
    glGetQueryBufferObjectuiv(4000, buffers[1], GL_QUERY_RESULT, 0);
    errors("no query");
    glGetQueryBufferObjectuiv(query, buffers[1], GL_RED, 0);
    errors("no result");
    glGetQueryBufferObjectuiv(query, buffers[1], GL_QUERY_RESULT, -4);
    errors("negative offset");
    glGetQueryBufferObjectuiv(query, buffers[1], GL_QUERY_RESULT, 62);
    errors("beyond");
    BOUND(GL_QUERY_BUFFER_BINDING, 0);
}

CONFORM("dsa_objects", COMPAT, {"created", created}, {"refused", refused}, {"units", units}, {"feedbacks", feedbacks}, {"written", written})
