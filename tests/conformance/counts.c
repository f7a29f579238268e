/* Queries count each pixel once if several renderers draw, wherever the pixel is, and whatever is
 * drawn to. */
#include "conform.h"

static GLuint query;

static GLuint result_of(GLuint name)
{
    GLuint result = 7777;
    glGetQueryObjectuiv(name, GL_QUERY_RESULT, &result);
    return result;
}

/* Sets up one unit per pixel, and ends frames until earlier commands that needed the whole window
 * are no longer relevant. */
static void afresh(void)
{
    pixel_projection();
    for (int i = 0; i < 2; i++)
        glXSwapBuffers(display, glXGetCurrentDrawable());
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

/* Draws a rectangle. The coordinates are pixels from the lower left corner. */
static void box(int left, int bottom, int right, int top)
{
    glRecti(left, bottom, right, top);
}

static void begin(GLenum target)
{
    glGenQueries(1, &query);
    glBeginQuery(target, query);
}

static void end(GLenum target, const char *what)
{
    glEndQuery(target);
    note("%s: %u", what, result_of(query));
    glDeleteQueries(1, &query);
}

static void samples(void)
{
    static const GLenum targets[] = {GL_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED_CONSERVATIVE};
    static const int boxes[][4] = {{0, 0, SIZE, SIZE}, {100, 100, 150, 150}, {0, 0, 1, 1},      {255, 255, 256, 256}, {127, 127, 128, 128},
                                   {128, 128, 129, 129}, {-50, -50, 0, 0},    {60, 180, 200, 220}, {0, 0, 0, 0}};
    afresh();
    for (int t = 0; t < (has_version(4, 3) ? 3 : has_version(3, 3) ? 2 : 1); t++) {
        for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
            color_of((int)b);
            begin(targets[t]);
            box(boxes[b][0], boxes[b][1], boxes[b][2], boxes[b][3]);
            end(targets[t], "box");
        }
    }
    errors("boxes");
    /* Depth and scissor boxes hide some pixels, and some pixels are drawn twice. */
    glClear(GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LEQUAL);
    box(0, 0, 90, 200);
    begin(GL_SAMPLES_PASSED);
    glTranslatef(0, 0, -0.5f);
    box(40, 40, 200, 150);
    box(50, 50, 130, 140);
    glEnable(GL_SCISSOR_TEST);
    glScissor(110, 30, 70, 140);
    box(0, 0, SIZE, SIZE);
    glDisable(GL_SCISSOR_TEST);
    end(GL_SAMPLES_PASSED, "hidden");
    glDisable(GL_DEPTH_TEST);
    begin(GL_SAMPLES_PASSED);
    glPointSize(9);
    glLineWidth(3);
    for (int i = 0; i < 20; i++) {
        color_of(i);
        glBegin(i % 2 ? GL_POINTS : GL_LINES);
        glVertex2f(8.0f + 12.5f * (float)i, 128.0f + (float)i);
        glVertex2f(128.0f, 8.0f + 12.5f * (float)i);
        glEnd();
    }
    static const GLubyte bits[32] = {0xff, 0x81, 0xa5, 0x3c}, pixels[400];
    glRasterPos2i(120, 125);
    glBitmap(32, 8, 0, 0, 0, 0, bits);
    glDrawPixels(10, 10, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    end(GL_SAMPLES_PASSED, "points and lines");
    errors("samples");
}

/* A framebuffer object with an image of half the window's size. */
static GLuint other(void)
{
    GLuint framebuffer, texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIZE / 2, SIZE / 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    return framebuffer;
}

static void framebuffers(void)
{
    GLint current;
    if (!need_version(3, 0))
        return;
    afresh();
    GLuint framebuffer = other();
    begin(GL_SAMPLES_PASSED);
    box(0, 0, 100, 100);
    end(GL_SAMPLES_PASSED, "an object");
    /* One query counts in both framebuffers, in many pieces. */
    for (int pieces = 1; pieces <= 200; pieces *= 14) {
        begin(GL_SAMPLES_PASSED);
        for (int i = 0; i < pieces; i++) {
            glBindFramebuffer(GL_FRAMEBUFFER, i % 2 ? 0 : framebuffer);
            color_of(i);
            box(i, i, 60 + i, 70 + i);
            glGetQueryiv(GL_SAMPLES_PASSED, GL_CURRENT_QUERY, &current);
            if (current != (GLint)query)
                note("%d is the current query after %d pieces", current, i);
        }
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        box(120, 120, 140, 140);
        result_of(query);
        errors("result of one that counts");
        if (has_version(4, 4)) {
            glBeginConditionalRender(query, GL_QUERY_WAIT);
            errors("condition of one that counts");
        }
        end(GL_SAMPLES_PASSED, "both");
    }
    begin(GL_ANY_SAMPLES_PASSED);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    box(0, 0, 10, 10);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    box(300, 300, 310, 310);
    end(GL_ANY_SAMPLES_PASSED, "any of both");
    /* The query is begun again, and deleted while it counts. */
    begin(GL_SAMPLES_PASSED);
    box(120, 0, 130, 10);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    box(0, 0, 10, 10);
    glEndQuery(GL_SAMPLES_PASSED);
    note("first: %u", result_of(query));
    glBeginQuery(GL_SAMPLES_PASSED, query);
    box(0, 0, 5, 5);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glEndQuery(GL_SAMPLES_PASSED);
    note("again: %u", result_of(query));
    glBeginQuery(GL_SAMPLES_PASSED, query);
    box(0, 0, 5, 5);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    box(0, 0, 5, 5);
    glDeleteQueries(1, &query);
    box(0, 0, 5, 5);
    errors("deleted");
    glEndQuery(GL_SAMPLES_PASSED);
    errors("ended");
    begin(GL_SAMPLES_PASSED);
    box(10, 10, 15, 15);
    end(GL_SAMPLES_PASSED, "another");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    errors("framebuffers");
}

/* The query finds samples in one corner only, but all renderers must draw. */
static void conditions(void)
{
    static const int corners[][2] = {{0, 0}, {250, 0}, {0, 250}, {250, 250}, {300, 300}};
    static const GLenum modes[] = {GL_QUERY_WAIT, GL_QUERY_NO_WAIT, GL_QUERY_BY_REGION_WAIT, GL_QUERY_WAIT_INVERTED, GL_QUERY_BY_REGION_WAIT_INVERTED};
    GLuint texture, queries[5];
    if (!need_version(3, 0))
        return;
    int count = has_extension("GL_ARB_conditional_render_inverted") ? 5 : 3;
    afresh();
    glGenQueries(5, queries);
    for (int c = 0; c < 5; c++) {
        glBeginQuery(c % 2 ? GL_SAMPLES_PASSED : GL_ANY_SAMPLES_PASSED, queries[c]);
        box(corners[c][0], corners[c][1], corners[c][0] + 5, corners[c][1] + 5);
        glEndQuery(c % 2 ? GL_SAMPLES_PASSED : GL_ANY_SAMPLES_PASSED);
    }
    for (int m = 0; m < count; m++) {
        for (int c = 0; c < 5; c++) {
            color_of(5 * m + c);
            if (modes[m] == GL_QUERY_NO_WAIT)
                glFinish();
            glBeginConditionalRender(queries[c], modes[m]);
            box(8 + 2 * c, 10 + 48 * m + 8 * c, 248 - 2 * c, 16 + 48 * m + 8 * c);
            errors("conditional");
            glEndConditionalRender();
        }
    }
    /* Conditional rendering may skip the draw, but not the copy of the window. Then a query counts
     * pixels that depth hides. */
    glClear(GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    box(100, 0, 160, 8);
    glBeginConditionalRender(queries[4], GL_QUERY_WAIT);
    glClearColor(1, 0, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    box(0, 0, SIZE, SIZE);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 64, 0, 128, 128, 0);
    glEndConditionalRender();
    glBeginQuery(GL_SAMPLES_PASSED, queries[1]);
    glTranslatef(0, 0, -0.5f);
    box(0, 0, SIZE, 8);
    glEndQuery(GL_SAMPLES_PASSED);
    note("deeper: %u", result_of(queries[1]));
    unsigned char copy[128 * 128 * 3];
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGB, GL_UNSIGNED_BYTE, copy);
    note_bytes("copied", copy, sizeof copy);
    glBeginConditionalRender(queries[0], GL_QUERY_WAIT);
    glBeginConditionalRender(queries[0], GL_QUERY_WAIT);
    errors("twice");
    glEndConditionalRender();
    glEndConditionalRender();
    errors("ended twice");
    glBeginConditionalRender(queries[0], GL_LINEAR);
    errors("no mode");
}

/* The buffer of each renderer contains the sum. All renderers draw pixels from it. */
static void buffers(void)
{
    GLuint buffer, words[12];
    if (!need_extension("GL_ARB_query_buffer_object"))
        return;
    afresh();
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    box(77, 66, 203, 217);
    glEndQuery(GL_SAMPLES_PASSED);
    glFinish();
    memset(words, 0x55, sizeof words);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_QUERY_BUFFER, buffer);
    glBufferData(GL_QUERY_BUFFER, sizeof words, words, GL_DYNAMIC_COPY);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, (GLuint *)0);
    glGetQueryObjectiv(query, GL_QUERY_RESULT_AVAILABLE, (GLint *)4);
    glGetQueryObjectui64v(query, GL_QUERY_RESULT_NO_WAIT, (GLuint64 *)8);
    glGetQueryObjecti64v(query, GL_QUERY_RESULT, (GLint64 *)16);
    glGetQueryObjectiv(query, GL_QUERY_RESULT, (GLint *)46);
    errors("beyond the end");
    /* The count of a separate query, and the count so far. */
    GLuint alone;
    glGenQueries(1, &alone);
    glBeginQuery(GL_PRIMITIVES_GENERATED, alone);
    box(200, 0, 220, 20);
    glEndQuery(GL_PRIMITIVES_GENERATED);
    glFinish();
    glGetQueryObjectuiv(alone, GL_QUERY_RESULT_NO_WAIT, (GLuint *)40);
    glGetQueryObjectuiv(alone, GL_QUERY_RESULT_AVAILABLE, (GLuint *)44);
    glGetQueryObjectuiv(alone, GL_QUERY_RESULT_NO_WAIT, (GLuint *)46);
    errors("no wait beyond the end");
    if (has_version(4, 5)) {
        glGetQueryBufferObjectuiv(query, buffer, GL_QUERY_RESULT, 24);
        glGetQueryBufferObjectiv(query, buffer, GL_QUERY_RESULT_AVAILABLE, 28);
        glGetQueryBufferObjectui64v(query, buffer, GL_QUERY_RESULT, 32);
        errors("by name");
        glGetQueryBufferObjecti64v(query, buffer, GL_QUERY_RESULT, 44);
        errors("beyond the end");
        glGetQueryBufferObjectuiv(alone, buffer, GL_QUERY_RESULT_NO_WAIT, 40);
        glGetQueryBufferObjectiv(query, 0, GL_QUERY_RESULT, 0);
        errors("no buffer");
        glGetQueryBufferObjectiv(query, buffer, GL_SAMPLES, 0);
        errors("no result");
        /* The program may not write to this storage. */
        GLuint fixed;
        glCreateBuffers(1, &fixed);
        glNamedBufferStorage(fixed, 8, NULL, 0);
        glGetQueryBufferObjectui64v(query, fixed, GL_QUERY_RESULT, 0);
        glGetNamedBufferSubData(fixed, 0, 8, words);
        note_ints("fixed", (const int *)words, 2);
    }
    glGetBufferSubData(GL_QUERY_BUFFER, 0, sizeof words, words);
    note_ints("words", (const int *)words, 12);
    glBindBuffer(GL_QUERY_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
    glRasterPos2i(0, 0);
    glPixelZoom(SIZE / 4.0f, SIZE / 3.0f);
    glDrawPixels(4, 3, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    errors("buffers");
}

/* Each renderer counts all primitives, even if few of them touch its tile. */
static void primitives(void)
{
    static const GLenum targets[] = {GL_PRIMITIVES_GENERATED, GL_VERTICES_SUBMITTED, GL_PRIMITIVES_SUBMITTED, GL_FRAGMENT_SHADER_INVOCATIONS};
    static GLfloat vertices[3000][2];
    if (!need_version(3, 0))
        return;
    afresh();
    for (int i = 0; i < 3000; i++) {
        vertices[i][0] = (float)(i / 3 % 32 * 8 + (i % 3 == 1) * 7);
        vertices[i][1] = (float)(i / 96 * 8 + (i % 3 == 2) * 7);
    }
    int count = has_extension("GL_ARB_pipeline_statistics_query") ? 4 : 1;
    for (int t = 0; t < count; t++) {
        begin(targets[t]);
        GLuint other_query;
        glGenQueries(1, &other_query);
        glBeginQuery(GL_SAMPLES_PASSED, other_query);
        color_of(t);
        glBegin(GL_TRIANGLES);
        for (int i = 0; i < 1500; i++)
            glVertex2fv(vertices[i]);
        glEnd();
        glEnableClientState(GL_VERTEX_ARRAY);
        glVertexPointer(2, GL_FLOAT, 0, vertices);
        glDrawArrays(GL_TRIANGLES, 1500, 1500);
        glDisableClientState(GL_VERTEX_ARRAY);
        glEndQuery(GL_SAMPLES_PASSED);
        end(targets[t], "counted");
        note("samples: %u", result_of(other_query));
        glDeleteQueries(1, &other_query);
    }
    errors("primitives");
}

/* While a query counts, some commands need the whole window, and frames end. */
static void between(void)
{
    GLuint texture;
    afresh();
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    begin(GL_SAMPLES_PASSED);
    box(10, 10, 200, 100);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 0, 0, 64, 64, 0);
    box(50, 50, 210, 190);
    for (int frame = 0; frame < 4; frame++) {
        glXSwapBuffers(display, glXGetCurrentDrawable());
        color_of(frame);
        box(0, 0, SIZE, SIZE);
        box(100, 0, 140 + frame, SIZE);
    }
    end(GL_SAMPLES_PASSED, "frames");
    errors("between");
}

/* Lists begin and end conditional rendering by queries that were counted in tiles. */
static void listed_conditions(void)
{
    static const int corners[][2] = {{0, 0}, {250, 0}, {0, 250}, {250, 250}, {300, 300}};
    GLuint queries[5], lists = glGenLists(20);
    if (!need_version(3, 0))
        return;
    afresh();
    glGenQueries(5, queries);
    for (int c = 0; c < 5; c++) {
        glBeginQuery(GL_SAMPLES_PASSED, queries[c]);
        box(corners[c][0], corners[c][1], corners[c][0] + 5, corners[c][1] + 5);
        glEndQuery(GL_SAMPLES_PASSED);
    }
    glNewList(lists, GL_COMPILE);
    glEndConditionalRender();
    glEndList();
    for (int c = 0; c < 5; c++) {
        /* Conditional rendering is ended by a list, begun by a list, both, by lists that a list
         * calls, and during compilation. */
        color_of(c);
        glBeginConditionalRender(queries[c], GL_QUERY_WAIT);
        box(8, 10 + 8 * c, 120, 16 + 8 * c);
        glCallList(lists);
        errors("ended by a list");
        box(121, 10 + 8 * c, 125, 16 + 8 * c);
        glNewList(lists + 1, GL_COMPILE);
        glBeginConditionalRender(queries[c], GL_QUERY_NO_WAIT);
        glEndList();
        glFinish();
        glCallList(lists + 1);
        box(130, 10 + 8 * c, 250, 16 + 8 * c);
        glEndConditionalRender();
        errors("begun by a list");
        glNewList(lists + 2, GL_COMPILE);
        glCallList(lists + 1);
        box(8, 60 + 8 * c, 120, 66 + 8 * c);
        glCallList(lists);
        box(121, 60 + 8 * c, 125, 66 + 8 * c);
        glEndList();
        glCallList(lists + 2);
        errors("lists of a list");
        glNewList(lists + 3, GL_COMPILE_AND_EXECUTE);
        glTranslatef(0, 50, 0);
        glBeginConditionalRender(queries[c], GL_QUERY_WAIT);
        box(130, 10 + 8 * c, 250, 16 + 8 * c);
        glEndConditionalRender();
        box(251, 10 + 8 * c, 254, 16 + 8 * c);
        glEndList();
        glCallList(lists + 3);
        errors("while it is compiled");
        glLoadIdentity();
        glCallList(lists + 1);
        glCallList(lists + 1);
        errors("begun twice");
        glCallList(lists);
        glCallList(lists);
        errors("ended twice");
    }
    /* The query is begun again, now without any samples. */
    glBeginQuery(GL_SAMPLES_PASSED, queries[0]);
    glEndQuery(GL_SAMPLES_PASSED);
    glNewList(lists + 4, GL_COMPILE);
    glBeginConditionalRender(queries[0], GL_QUERY_WAIT);
    box(0, 200, SIZE, 220);
    glEndConditionalRender();
    glEndList();
    glCallList(lists + 4);
    note("%u, then %u", result_of(queries[0]), result_of(queries[1]));
    errors("listed conditions");
}

/* Lists end or begin queries while other queries count. */
static void listed_queries(void)
{
    GLuint lists = glGenLists(4), inner;
    if (!need_version(3, 3))
        return;
    afresh();
    glGenQueries(1, &inner);
    begin(GL_SAMPLES_PASSED);
    box(30, 30, 180, 150);
    glNewList(lists, GL_COMPILE);
    glEndQuery(GL_SAMPLES_PASSED);
    glEndList();
    box(100, 100, 140, 160);
    glCallList(lists);
    box(0, 0, SIZE, SIZE);
    note("ended by a list: %u", result_of(query));
    begin(GL_SAMPLES_PASSED);
    box(60, 60, 180, 150);
    end(GL_SAMPLES_PASSED, "and then");
    glNewList(lists + 1, GL_COMPILE);
    glBeginQuery(GL_SAMPLES_PASSED, inner);
    box(120, 0, 140, 10);
    glEndList();
    glCallList(lists + 1);
    box(120, 120, 130, 140);
    glEndQuery(GL_SAMPLES_PASSED);
    note("begun by a list: %u", result_of(inner));
    begin(GL_PRIMITIVES_GENERATED);
    glCallList(lists + 1);
    end(GL_PRIMITIVES_GENERATED, "around its beginning");
    box(0, 0, 129, 129);
    glCallList(lists);
    note("beyond: %u", result_of(inner));
    glCallList(lists + 1);
    begin(GL_PRIMITIVES_GENERATED);
    box(0, 0, 129, 129);
    glCallList(lists);
    note("within: %u", result_of(inner));
    end(GL_PRIMITIVES_GENERATED, "after its end");
    errors("nested");
    glNewList(lists + 2, GL_COMPILE_AND_EXECUTE);
    glBeginQuery(GL_SAMPLES_PASSED, inner);
    box(20, 20, 150, 150);
    glEndQuery(GL_SAMPLES_PASSED);
    glEndList();
    note("while it is compiled: %u", result_of(inner));
    glCallList(lists);
    errors("ended twice");
    glCallList(lists + 1);
    glCallList(lists + 1);
    errors("begun twice");
    glCallList(lists);
    errors("listed queries");
}

/* A query in one context continues to count while another context draws to the same window,
 * compiles lists and ends frames. */
static void contexts(void)
{
    GLXContext own = glXGetCurrentContext(), others = glXCreateNewContext(display, default_config(), GLX_RGBA_TYPE, own, True);
    GLXDrawable window = glXGetCurrentDrawable();
    static const GLenum targets[] = {GL_SAMPLES_PASSED, GL_FRAGMENT_SHADER_INVOCATIONS};
    int count = has_extension("GL_ARB_pipeline_statistics_query") ? 2 : 1;
    for (int t = 0; t < count; t++) {
        afresh();
        glEnable(GL_DEPTH_TEST);
        glDepthFunc(GL_LEQUAL);
        begin(targets[t]);
        color_of(t);
        box(20, 20, 150, 150);
        glXMakeCurrent(display, window, others);
        pixel_projection();
        GLuint list = glGenLists(1);
        glNewList(list, GL_COMPILE);
        glScissor(100, 100, 80, 80);
        glEndList();
        for (int frame = 0; frame < 3 * t; frame++)
            glXSwapBuffers(display, window);
        glXMakeCurrent(display, window, own);
        glTranslatef(0, 0, -0.5f);
        box(10, 10, 200, 140);
        glEnable(GL_SCISSOR_TEST);
        glCallList(list);
        box(0, 0, SIZE, SIZE);
        glDisable(GL_SCISSOR_TEST);
        glDisable(GL_DEPTH_TEST);
        end(targets[t], "in one of two contexts");
    }
    glXDestroyContext(display, others);
    errors("contexts");
}

static void lists(void)
{
    GLuint all = glGenLists(4), listed;
    afresh();
    glNewList(all, GL_COMPILE);
    box(30, 30, 180, 150);
    glEndList();
    begin(GL_SAMPLES_PASSED);
    glCallList(all);
    end(GL_SAMPLES_PASSED, "a list");
    begin(GL_SAMPLES_PASSED);
    glNewList(all + 1, GL_COMPILE_AND_EXECUTE);
    box(40, 60, 150, 170);
    glEndList();
    box(0, 0, 150, 150);
    end(GL_SAMPLES_PASSED, "compiled at the same time");
    begin(GL_SAMPLES_PASSED);
    box(100, 0, 150, 150);
    glNewList(all + 2, GL_COMPILE);
    glPushAttrib(GL_SCISSOR_BIT);
    glEnable(GL_SCISSOR_TEST);
    glScissor(100, 100, 50, 70);
    box(0, 0, SIZE, SIZE);
    glPopAttrib();
    glEndList();
    glCallList(all + 2);
    box(0, 0, 200, 150);
    end(GL_SAMPLES_PASSED, "scissor boxes");
    glGenQueries(1, &listed);
    glNewList(all + 3, GL_COMPILE);
    glBeginQuery(GL_SAMPLES_PASSED, listed);
    box(110, 110, 180, 150);
    glEndQuery(GL_SAMPLES_PASSED);
    if (has_version(3, 0)) {
        color_of(3);
        glBeginConditionalRender(listed, GL_QUERY_WAIT);
        box(0, 200, SIZE, 220);
        glEndConditionalRender();
    }
    glEndList();
    glCallList(all + 3);
    note("listed: %u", result_of(listed));
    begin(GL_SAMPLES_PASSED);
    box(0, 0, 140, 140);
    end(GL_SAMPLES_PASSED, "after it");
    errors("lists");
}

CONFORM("counts", COMPAT, {"samples", samples}, {"framebuffers", framebuffers}, {"conditions", conditions}, {"buffers", buffers},
        {"primitives", primitives}, {"between", between}, {"contexts", contexts}, {"listed_conditions", listed_conditions},
        {"listed_queries", listed_queries}, {"lists", lists})
