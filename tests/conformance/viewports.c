/* Many viewports, scissors and depth ranges; the selection of one of them for a primitive;
 * distances for clipping and culling; and conventions of the clip volume. */
#include "conform.h"

#define FRAGMENT "#version 150\nin vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }"

static void note_state(GLuint first, GLuint count)
{
    for (GLuint i = first; i < first + count; i++) {
        GLfloat box[4] = {-7, -7, -7, -7};
        GLdouble range[2] = {-7, -7};
        GLint scissor[4] = {-7, -7, -7, -7};
        glGetFloati_v(GL_VIEWPORT, i, box);
        note_floats("viewport", box, 4);
        glGetDoublei_v(GL_DEPTH_RANGE, i, range);
        note("range %.17g %.17g", range[0], range[1]);
        glGetIntegeri_v(GL_SCISSOR_BOX, i, scissor);
        note_ints("scissor", scissor, 4);
        note("scissor test %d", glIsEnabledi(GL_SCISSOR_TEST, i));
    }
    errors("state");
}

static void state(void)
{
    no_picture();
    if (!need_extension("GL_ARB_viewport_array"))
        return;
    INTS(GL_MAX_VIEWPORTS, 1);
    FLOATS(GL_VIEWPORT_BOUNDS_RANGE, 2);
    INTS(GL_VIEWPORT_SUBPIXEL_BITS, 1);
    INTS(GL_LAYER_PROVOKING_VERTEX, 1);
    INTS(GL_VIEWPORT_INDEX_PROVOKING_VERTEX, 1);
    note_state(0, 3);
    /* The array is not constant, because Mesa clamps its values in place. */
    static GLfloat boxes[] = {1, 2, 30, 40, 0.5f, 0.25f, 10.75f, 20.5f, -5, -6, 7, 100000};
    static const GLdouble ranges[] = {0.1, 0.9, 1, 0, -1, 2};
    static const GLint scissors[] = {1, 2, 3, 4, -5, -6, 7, 8, 0, 0, 0, 0};
    glViewportArrayv(1, 3, boxes);
    glDepthRangeArrayv(2, 3, ranges);
    glScissorArrayv(0, 3, scissors);
    glViewportIndexedf(5, 1.5f, 2.5f, 3.5f, 4.5f);
    glViewportIndexedfv(6, boxes + 4);
    glDepthRangeIndexed(6, 0.25, 0.75);
    glScissorIndexed(6, 9, 8, 7, 6);
    glScissorIndexedv(5, scissors + 4);
    glEnablei(GL_SCISSOR_TEST, 3);
    errors("set");
    note_state(0, 8);
    INTS(GL_VIEWPORT, 4);
    FLOATS(GL_DEPTH_RANGE, 2);
    glPushAttrib(GL_VIEWPORT_BIT | GL_SCISSOR_BIT);
    glViewport(10, 20, 30, 40);
    glDepthRange(0.5, 0.25);
    glScissor(11, 12, 13, 14);
    glEnable(GL_SCISSOR_TEST);
    note_state(0, 4);
    glPopAttrib();
    note_state(0, 8);
    glDisable(GL_SCISSOR_TEST);
    note_state(2, 2);
    GLint ints[4] = {-7, -7, -7, -7};
    GLint64 longs[4] = {-7, -7, -7, -7};
    GLboolean truths[4] = {7, 7, 7, 7};
    glGetIntegeri_v(GL_VIEWPORT, 2, ints);
    note_ints("as integers", ints, 4);
    /* Mesa does not convert floats to other integer types or booleans. */
    glGetInteger64i_v(GL_SCISSOR_BOX, 1, longs);
    note("as long integers %d %d %d %d", (int)longs[0], (int)longs[1], (int)longs[2], (int)longs[3]);
    glGetBooleani_v(GL_SCISSOR_BOX, 0, truths);
    note("as truths %d %d %d %d", truths[0], truths[1], truths[2], truths[3]);
    errors("other types");
    glViewportArrayv(15, 2, boxes);
    errors("too many viewports");
    glViewportArrayv(0, -1, boxes);
    errors("negative count");
    glViewportIndexedf(16, 0, 0, 1, 1);
    errors("no such viewport");
    glViewportIndexedf(2, 0, 0, -1, 1);
    errors("a negative width");
    static GLfloat bad[] = {0, 0, 1, 1, 0, 0, 1, -1};
    glViewportArrayv(3, 2, bad);
    errors("the second is wrong");
    static const GLint bad_scissor[] = {5, 5, 5, 5, 0, 0, -1, 1};
    glScissorArrayv(3, 2, bad_scissor);
    errors("the second scissor is wrong");
    note_state(3, 2);
    glScissorIndexed(16, 0, 0, 1, 1);
    errors("no such scissor");
    glScissorIndexed(0, 0, 0, 1, -1);
    errors("a negative height");
    glDepthRangeArrayv(10, 7, ranges);
    errors("too many ranges");
    glDepthRangeIndexed(16, 0, 1);
    errors("no such range");
    glEnablei(GL_SCISSOR_TEST, 16);
    errors("no such test");
    note("%d", glIsEnabledi(GL_SCISSOR_TEST, 16));
    errors("asked of no test");
    GLfloat box[4];
    glGetFloati_v(GL_VIEWPORT, 16, box);
    errors("asked of no viewport");
    glGetFloati_v(77, 0, box);
    errors("no name");
}

static void drawn(void)
{
    if (!need_extension("GL_ARB_viewport_array") || !need_version(3, 2))
        return no_picture();
    GLuint program = STAGES(
        .vertex = "#version 150\nvoid main() { gl_Position = vec4(vec2(gl_VertexID % 2, gl_VertexID / 2 % 2) * 1.8 - 0.9, float(gl_VertexID % 3) * 0.4 - 0.4, 1.0); }",
        .geometry = "#version 150\n#extension GL_ARB_viewport_array : require\nlayout(triangles) in; layout(triangle_strip, max_vertices = 48) out; out vec3 color;\n"
                    "void main() { for (int v = 0; v < 16; v++) { for (int i = 0; i < 3; i++) { gl_ViewportIndex = v; gl_Position = gl_in[i].gl_Position; color = "
                    "fract(vec3(float(v) * 0.17, float(v) * 0.31 + float(i) * 0.3, float(gl_PrimitiveIDIn) * 0.5 + 0.2)); EmitVertex(); } EndPrimitive(); } }",
        .fragment = FRAGMENT);
    glUseProgram(program);
    for (GLuint i = 0; i < 16; i++) {
        glViewportIndexedf(i, (float)(i % 4) * 64 + 0.5f, (float)(i / 4) * 64, 62.5f, 60 + (float)i * 0.3f);
        glScissorIndexed(i, (GLint)(i % 4) * 64 + 6, (GLint)(i / 4) * 64 + (GLint)i, 50, 40);
        glDepthRangeIndexed(i, (double)i / 16, 1);
        if (i % 3 == 1)
            glEnablei(GL_SCISSOR_TEST, i);
    }
    glEnable(GL_DEPTH_TEST);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    GLfloat depths[16];
    for (int i = 0; i < 16; i++)
        glReadPixels(i % 4 * 64 + 31, i / 4 * 64 + 31, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT, &depths[i]);
    note_floats("depths", depths, 16);
    errors("drawn");
    glViewport(0, 0, 20, 20);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    errors("all the same");
}

static void vertex_shader_chooses(void)
{
    if (!need_extension("GL_ARB_shader_viewport_layer_array"))
        return no_picture();
    GLuint program = STAGES(.vertex = "#version 410\n#extension GL_ARB_shader_viewport_layer_array : require\nout vec3 color;\n"
                                      "void main() { int i = gl_VertexID / 3; gl_ViewportIndex = i; gl_Position = vec4(vec2(gl_VertexID % 3 % 2, gl_VertexID % 3 / 2)"
                                      " * 1.8 - 0.9, 0.0, 1.0); color = fract(vec3(i) * vec3(0.3, 0.5, 0.7)); }",
                            .fragment = "#version 430\nin vec3 color; out vec4 result; void main() { result = vec4(color, 1.0) + 0.1 * float(gl_ViewportIndex); }");
    glUseProgram(program);
    for (GLuint i = 0; i < 4; i++)
        glViewportIndexedf(i, (float)(i % 2) * 128, (float)(i / 2) * 128, 120, 110);
    glDrawArrays(GL_TRIANGLES, 0, 12);
    errors("drawn");
}

static void clip_control(void)
{
    if (!need_extension("GL_ARB_clip_control"))
        return no_picture();
    static const GLenum origins[] = {GL_LOWER_LEFT, GL_UPPER_LEFT}, depths[] = {GL_NEGATIVE_ONE_TO_ONE, GL_ZERO_TO_ONE};
    INTS(GL_CLIP_ORIGIN, 1);
    INTS(GL_CLIP_DEPTH_MODE, 1);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    for (int o = 0; o < 2; o++) {
        for (int d = 0; d < 2; d++) {
            glClipControl(origins[o], depths[d]);
            INTS(GL_CLIP_ORIGIN, 1);
            INTS(GL_CLIP_DEPTH_MODE, 1);
            cell(o, d, 2, 2);
            glBegin(GL_TRIANGLES);
            for (int i = 0; i < 3; i++) {
                color_of(i + o);
                glVertex3f(i == 1 ? 0.9f : -0.8f, i == 2 ? 0.9f : -0.7f, -1.2f + 0.9f * (float)i);
            }
            glEnd();
            glEnable(GL_CULL_FACE);
            glFrontFace(GL_CW);
            glRectf(0.2f, 0.2f, 0.8f, 0.8f);
            glDisable(GL_CULL_FACE);
            GLfloat depth = -1;
            glReadPixels(o * 128 + 60, d * 128 + 60, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT, &depth);
            note_floats("depth", &depth, 1);
            /* Window positions and copies do not follow the convention. */
            glRasterPos2f(-0.5f, 0.5f);
            FLOATS(GL_CURRENT_RASTER_POSITION, 4);
            errors("drawn");
        }
    }
    glPushAttrib(GL_TRANSFORM_BIT);
    glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
    glPopAttrib();
    INTS(GL_CLIP_ORIGIN, 1);
    INTS(GL_CLIP_DEPTH_MODE, 1);
    glClipControl(GL_LEFT, GL_ZERO_TO_ONE);
    errors("no such origin");
    glClipControl(GL_LOWER_LEFT, GL_LINEAR);
    errors("no such depth");
    glBegin(GL_POINTS);
    glClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
    glEnd();
    errors("inside");
}

static void cull_distance(void)
{
    if (!need_extension("GL_ARB_cull_distance"))
        return no_picture();
    INTS(GL_MAX_CULL_DISTANCES, 1);
    INTS(GL_MAX_COMBINED_CLIP_AND_CULL_DISTANCES, 1);
    GLuint program = build_program("#version 130\n#extension GL_ARB_cull_distance : require\nin vec2 place; out vec3 color; out float gl_ClipDistance[2]; out float "
                                   "gl_CullDistance[2]; uniform vec4 limits;\n"
                                   "void main() { gl_Position = vec4(place, 0.0, 1.0); color = fract(place.xyx * 1.7 + 0.4); gl_ClipDistance[0] = place.x - limits.x; "
                                   "gl_ClipDistance[1] = 0.8 - place.y; gl_CullDistance[0] = place.y - limits.y; gl_CullDistance[1] = limits.z - place.x; }",
                                   "#version 130\nin vec3 color; void main() { gl_FragColor = vec4(color, 1.0); }");
    glUseProgram(program);
    glEnable(GL_CLIP_DISTANCE0);
    glEnable(GL_CLIP_DISTANCE1);
    static const GLfloat limits[][4] = {{-2, -2, 2, 0}, {-0.5f, -0.3f, 2, 0}, {-0.3f, -2, 0.1f, 0}, {0, 0.2f, 0.4f, 0}};
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        glUniform4fv(glGetUniformLocation(program, "limits"), 1, limits[i]);
        random_seed(3);
        glBegin(GL_TRIANGLES);
        for (int v = 0; v < 60; v++) {
            static GLfloat x, y;
            if (v % 3 == 0) {
                x = random_float() * 1.6f - 0.9f;
                y = random_float() * 1.6f - 0.9f;
            }
            glVertex2f(x + (v % 3 == 1 ? 0.2f : 0), y + (v % 3 == 2 ? 0.3f : 0));
        }
        glEnd();
    }
    errors("drawn");
}

static void offset_clamp(void)
{
    no_picture();
    if (!need_extension("GL_ARB_polygon_offset_clamp"))
        return;
    glEnable(GL_POLYGON_OFFSET_FILL);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    static const GLfloat all[][3] = {{0, 0, 0}, {3, 2, 0}, {3, 1000000, 0.01f}, {-3, -1000000, -0.02f}, {0.5f, 100, 0.5f}};
    for (int i = 0; i < 5; i++) {
        glPolygonOffsetClampEXT(all[i][0], all[i][1], all[i][2]);
        FLOATS(GL_POLYGON_OFFSET_FACTOR, 1);
        FLOATS(GL_POLYGON_OFFSET_UNITS, 1);
        FLOATS(GL_POLYGON_OFFSET_CLAMP_EXT, 1);
        glBegin(GL_TRIANGLES);
        glVertex3f(-1, -1, -0.5f);
        glVertex3f(1, -1, 0.5f);
        glVertex3f(0, 1, 0);
        glEnd();
        GLfloat depth[2];
        glReadPixels(100, 50, 2, 1, GL_DEPTH_COMPONENT, GL_FLOAT, depth);
        note_floats("depth", depth, 2);
    }
    glPushAttrib(GL_POLYGON_BIT);
    glPolygonOffset(7, 8);
    FLOATS(GL_POLYGON_OFFSET_CLAMP_EXT, 1);
    glPopAttrib();
    FLOATS(GL_POLYGON_OFFSET_CLAMP_EXT, 1);
    FLOATS(GL_POLYGON_OFFSET_UNITS, 1);
    GLuint list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    glPolygonOffsetClampEXT(1, 2, 3);
    glEndList();
    FLOATS(GL_POLYGON_OFFSET_CLAMP_EXT, 1);
    glCallList(list);
    FLOATS(GL_POLYGON_OFFSET_CLAMP_EXT, 1);
    errors("end");
}

CONFORM("viewports", COMPAT, {"state", state}, {"drawn", drawn}, {"vertex_shader_chooses", vertex_shader_chooses}, {"clip_control", clip_control},
        {"cull_distance", cull_distance}, {"offset_clamp", offset_clamp})
