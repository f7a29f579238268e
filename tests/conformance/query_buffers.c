/* Results of queries that are written to buffers. */
#include "conform.h"

static GLuint samples(void)
{
    GLuint query;
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    square(0.5f);
    glEndQuery(GL_SAMPLES_PASSED);
    return query;
}

static void results(void)
{
    if (!need_extension("GL_ARB_query_buffer_object"))
        return no_picture();
    GLuint query = samples(), buffer, words[8];
    GLint signed_value = -1;
    GLuint64 wide = 1;
    memset(words, 0xab, sizeof words);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_QUERY_BUFFER, buffer);
    glBufferData(GL_QUERY_BUFFER, sizeof words, words, GL_DYNAMIC_COPY);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, (GLuint *)0);
    glGetQueryObjectiv(query, GL_QUERY_RESULT_AVAILABLE, (GLint *)4);
    glGetQueryObjectui64v(query, GL_QUERY_RESULT, (GLuint64 *)8);
    glGetQueryObjecti64v(query, GL_QUERY_RESULT_NO_WAIT, (GLint64 *)16);
    glGetQueryObjectiv(query, GL_QUERY_TARGET, (GLint *)24);
    errors("results");
    glGetBufferSubData(GL_QUERY_BUFFER, 0, sizeof words, words);
    note_ints("words", (const int *)words, 8);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, (GLuint *)32);
    errors("beyond the end");
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, (GLuint *)-4);
    errors("a negative offset");
    glGetQueryObjectuiv(query, GL_SAMPLES, (GLuint *)0);
    errors("no such result");
    glGetQueryObjectuiv(query + 100, GL_QUERY_RESULT, (GLuint *)0);
    errors("no such query");
    GLuint *map = glMapBuffer(GL_QUERY_BUFFER, GL_READ_ONLY);
    note("mapped %u", map ? map[0] : 0);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, (GLuint *)0);
    errors("into a mapped buffer");
    glUnmapBuffer(GL_QUERY_BUFFER);
    glBindBuffer(GL_QUERY_BUFFER, 0);
    glGetQueryObjectiv(query, GL_QUERY_RESULT, &signed_value);
    glGetQueryObjectui64v(query, GL_QUERY_RESULT, &wide);
    note("%d %d", signed_value, (int)wide);
    glGetQueryObjectiv(query, GL_QUERY_RESULT_NO_WAIT, &signed_value);
    note("%d", signed_value);
    glGetQueryObjectiv(query, GL_QUERY_TARGET, &signed_value);
    note("%#x", (unsigned)signed_value);
    errors("end");
}

CONFORM("query_buffers", COMPAT, {"results", results})
