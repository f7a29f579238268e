/* glPushAttrib and glPopAttrib for each group; the stack of client attributes. */
#include "conform.h"

static void change_everything(void)
{
    glColor3f(0.1f, 0.2f, 0.3f);
    glNormal3f(1, 0, 0);
    glTexCoord2f(5, 6);
    glEdgeFlag(GL_FALSE);
    glRasterPos2f(0.25f, 0.5f);
    glPointSize(7);
    glEnable(GL_POINT_SMOOTH);
    glLineWidth(3);
    glLineStipple(4, 0x1234);
    glEnable(GL_LINE_STIPPLE);
    glCullFace(GL_FRONT);
    glEnable(GL_CULL_FACE);
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    glPolygonOffset(2, 3);
    glPixelTransferf(GL_RED_SCALE, 0.5f);
    glPixelZoom(2, 3);
    glReadBuffer(GL_FRONT);
    glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 1);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT3);
    glLightfv(GL_LIGHT3, GL_DIFFUSE, (const float[]){0.3f, 0.4f, 0.5f, 1});
    glMaterialfv(GL_FRONT, GL_DIFFUSE, (const float[]){0.6f, 0.7f, 0.8f, 1});
    glShadeModel(GL_FLAT);
    glEnable(GL_FOG);
    glFogf(GL_FOG_DENSITY, 0.25f);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_GREATER);
    glClearDepth(0.5);
    glDepthMask(GL_FALSE);
    glClearAccum(0.1f, 0.2f, 0.3f, 0.4f);
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_EQUAL, 5, 6);
    glStencilOp(GL_ZERO, GL_INCR, GL_DECR);
    glStencilMask(0x3C);
    glViewport(1, 2, 100, 50);
    glDepthRange(0.25, 0.75);
    glMatrixMode(GL_PROJECTION);
    glEnable(GL_NORMALIZE);
    glEnable(GL_CLIP_PLANE2);
    glClipPlane(GL_CLIP_PLANE2, (const GLdouble[]){1, 2, 3, 4});
    glEnable(GL_ALPHA_TEST);
    glAlphaFunc(GL_LESS, 0.5f);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_DST_COLOR);
    glBlendColor(0.2f, 0.4f, 0.6f, 0.8f);
    glBlendEquation(GL_FUNC_SUBTRACT);
    glDisable(GL_DITHER);
    glEnable(GL_COLOR_LOGIC_OP);
    glLogicOp(GL_XOR);
    glClearColor(0.5f, 0.6f, 0.7f, 0.8f);
    glColorMask(1, 0, 1, 0);
    glDrawBuffer(GL_FRONT);
    glHint(GL_FOG_HINT, GL_NICEST);
    glHint(GL_PERSPECTIVE_CORRECTION_HINT, GL_FASTEST);
    glMapGrid1f(9, 1, 2);
    glEnable(GL_MAP1_VERTEX_3);
    glEnable(GL_AUTO_NORMAL);
    glListBase(42);
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D, 5);
    glEnable(GL_TEXTURE_2D);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_ADD);
    glTexGeni(GL_S, GL_TEXTURE_GEN_MODE, GL_SPHERE_MAP);
    glEnable(GL_TEXTURE_GEN_S);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glActiveTexture(GL_TEXTURE2);
    glScissor(3, 4, 5, 6);
    glEnable(GL_SCISSOR_TEST);
    glEnable(GL_MULTISAMPLE);
    glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    glSampleCoverage(0.5f, GL_TRUE);
    glPolygonStipple((const GLubyte[128]){1, 2, 3, 4, 5});
    glEnable(GL_POLYGON_STIPPLE);
}

static void log_everything(void)
{
    FLOATS(GL_CURRENT_COLOR, 4);
    FLOATS(GL_CURRENT_NORMAL, 3);
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);
    BOOLS(GL_EDGE_FLAG, 1);
    FLOATS(GL_POINT_SIZE, 1);
    ENABLED(GL_POINT_SMOOTH);
    FLOATS(GL_LINE_WIDTH, 1);
    INTS(GL_LINE_STIPPLE_PATTERN, 1);
    ENABLED(GL_LINE_STIPPLE);
    INTS(GL_CULL_FACE_MODE, 1);
    ENABLED(GL_CULL_FACE);
    INTS(GL_POLYGON_MODE, 2);
    FLOATS(GL_POLYGON_OFFSET_FACTOR, 1);
    FLOATS(GL_RED_SCALE, 1);
    FLOATS(GL_ZOOM_X, 1);
    INTS(GL_READ_BUFFER, 1);
    INTS(GL_LIGHT_MODEL_TWO_SIDE, 1);
    ENABLED(GL_LIGHTING);
    ENABLED(GL_LIGHT3);
    INTS(GL_SHADE_MODEL, 1);
    ENABLED(GL_FOG);
    FLOATS(GL_FOG_DENSITY, 1);
    ENABLED(GL_DEPTH_TEST);
    INTS(GL_DEPTH_FUNC, 1);
    FLOATS(GL_DEPTH_CLEAR_VALUE, 1);
    BOOLS(GL_DEPTH_WRITEMASK, 1);
    FLOATS(GL_ACCUM_CLEAR_VALUE, 4);
    ENABLED(GL_STENCIL_TEST);
    INTS(GL_STENCIL_REF, 1);
    INTS(GL_STENCIL_FAIL, 1);
    INTS(GL_STENCIL_WRITEMASK, 1);
    INTS(GL_VIEWPORT, 4);
    FLOATS(GL_DEPTH_RANGE, 2);
    INTS(GL_MATRIX_MODE, 1);
    ENABLED(GL_NORMALIZE);
    ENABLED(GL_CLIP_PLANE2);
    ENABLED(GL_ALPHA_TEST);
    INTS(GL_ALPHA_TEST_FUNC, 1);
    ENABLED(GL_BLEND);
    INTS(GL_BLEND_SRC, 1);
    FLOATS(GL_BLEND_COLOR, 4);
    INTS(GL_BLEND_EQUATION, 1);
    ENABLED(GL_DITHER);
    ENABLED(GL_COLOR_LOGIC_OP);
    INTS(GL_LOGIC_OP_MODE, 1);
    FLOATS(GL_COLOR_CLEAR_VALUE, 4);
    BOOLS(GL_COLOR_WRITEMASK, 4);
    INTS(GL_DRAW_BUFFER, 1);
    INTS(GL_FOG_HINT, 1);
    INTS(GL_PERSPECTIVE_CORRECTION_HINT, 1);
    INTS(GL_MAP1_GRID_SEGMENTS, 1);
    ENABLED(GL_MAP1_VERTEX_3);
    ENABLED(GL_AUTO_NORMAL);
    INTS(GL_LIST_BASE, 1);
    INTS(GL_ACTIVE_TEXTURE, 1);
    INTS(GL_SCISSOR_BOX, 4);
    ENABLED(GL_SCISSOR_TEST);
    ENABLED(GL_SAMPLE_ALPHA_TO_COVERAGE);
    FLOATS(GL_SAMPLE_COVERAGE_VALUE, 1);
    ENABLED(GL_POLYGON_STIPPLE);
    GLfloat value[4];
    GLdouble plane[4];
    GLint mode;
    glGetLightfv(GL_LIGHT3, GL_DIFFUSE, value);
    note_floats("light", value, 4);
    glGetMaterialfv(GL_FRONT, GL_DIFFUSE, value);
    note_floats("material", value, 4);
    glGetClipPlane(GL_CLIP_PLANE2, plane);
    note("plane %g %g %g %g", plane[0], plane[1], plane[2], plane[3]);
    glActiveTexture(GL_TEXTURE1);
    INTS(GL_TEXTURE_BINDING_2D, 1);
    ENABLED(GL_TEXTURE_2D);
    ENABLED(GL_TEXTURE_GEN_S);
    glGetTexEnviv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, &mode);
    note("environment %04x", (unsigned)mode);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, &mode);
    note("filter %04x", (unsigned)mode);
    GLubyte stipple[128];
    glGetPolygonStipple(stipple);
    note_bytes("stipple", stipple, sizeof stipple);
}

static void group(GLbitfield bits)
{
    glPushAttrib(bits);
    INTS(GL_ATTRIB_STACK_DEPTH, 1);
    change_everything();
    glPopAttrib();
    INTS(GL_ATTRIB_STACK_DEPTH, 1);
    log_everything();
    no_picture();
    errors("group");
}

#define GROUP(name, bits)                                                                                                                             \
    static void name(void)                                                                                                                            \
    {                                                                                                                                                 \
        group(bits);                                                                                                                                  \
    }
GROUP(none, 0)
GROUP(current, GL_CURRENT_BIT)
GROUP(point_line_polygon, GL_POINT_BIT | GL_LINE_BIT | GL_POLYGON_BIT | GL_POLYGON_STIPPLE_BIT)
GROUP(pixel_mode, GL_PIXEL_MODE_BIT)
GROUP(lighting, GL_LIGHTING_BIT)
GROUP(fog_depth_accum, GL_FOG_BIT | GL_DEPTH_BUFFER_BIT | GL_ACCUM_BUFFER_BIT)
GROUP(stencil_viewport, GL_STENCIL_BUFFER_BIT | GL_VIEWPORT_BIT)
GROUP(transform_enable, GL_TRANSFORM_BIT | GL_ENABLE_BIT)
GROUP(color_hint, GL_COLOR_BUFFER_BIT | GL_HINT_BIT)
GROUP(eval_list, GL_EVAL_BIT | GL_LIST_BIT)
GROUP(texture, GL_TEXTURE_BIT)
GROUP(scissor_multisample, GL_SCISSOR_BIT | GL_MULTISAMPLE_BIT)
GROUP(all, GL_ALL_ATTRIB_BITS)

static void nesting(void)
{
    int depth = 0;
    no_picture();
    INTS(GL_MAX_ATTRIB_STACK_DEPTH, 1);
    INTS(GL_MAX_CLIENT_ATTRIB_STACK_DEPTH, 1);
    while (depth < 100) {
        glLineWidth((float)depth + 1);
        glPushAttrib(depth % 2 ? GL_LINE_BIT : GL_ALL_ATTRIB_BITS);
        GLenum error = glGetError();
        if (error != GL_NO_ERROR) {
            note("push %d: %s", depth, error_name(error));
            break;
        }
        depth++;
    }
    for (int i = 0; i < depth; i++) {
        glPopAttrib();
        FLOATS(GL_LINE_WIDTH, 1);
    }
    glPopAttrib();
    errors("one pop too many");
    for (depth = 0; depth < 100; depth++) {
        glPushClientAttrib(GL_CLIENT_ALL_ATTRIB_BITS);
        GLenum error = glGetError();
        if (error != GL_NO_ERROR) {
            note("client push %d: %s", depth, error_name(error));
            break;
        }
    }
    for (int i = 0; i <= depth; i++)
        glPopClientAttrib();
    errors("one client pop too many");
}

static GLuint client_buffer;

static void log_client(void)
{
    INTS(GL_UNPACK_ALIGNMENT, 1);
    INTS(GL_UNPACK_ROW_LENGTH, 1);
    INTS(GL_PACK_SKIP_ROWS, 1);
    BOOLS(GL_UNPACK_SWAP_BYTES, 1);
    ENABLED(GL_VERTEX_ARRAY);
    ENABLED(GL_COLOR_ARRAY);
    INTS(GL_VERTEX_ARRAY_SIZE, 1);
    INTS(GL_VERTEX_ARRAY_STRIDE, 1);
    INTS(GL_CLIENT_ACTIVE_TEXTURE, 1);
    BOUND(GL_ARRAY_BUFFER_BINDING, client_buffer);
    INTS(GL_CLIENT_ATTRIB_STACK_DEPTH, 1);
}

static void client(void)
{
    static const GLfloat data[64];
    static const GLbitfield groups[] = {GL_CLIENT_PIXEL_STORE_BIT, GL_CLIENT_VERTEX_ARRAY_BIT, GL_CLIENT_ALL_ATTRIB_BITS};
    no_picture();
    glGenBuffers(1, &client_buffer);
    for (int i = 0; i < 3; i++) {
        glPushClientAttrib(groups[i]);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1 << i);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, 10 + i);
        glPixelStorei(GL_PACK_SKIP_ROWS, 20 + i);
        glPixelStorei(GL_UNPACK_SWAP_BYTES, i % 2);
        glVertexPointer(2 + i % 3, GL_FLOAT, 40 + 4 * i, data);
        glEnableClientState(GL_VERTEX_ARRAY);
        glEnableClientState(i % 2 ? GL_COLOR_ARRAY : GL_NORMAL_ARRAY);
        glClientActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glBindBuffer(GL_ARRAY_BUFFER, client_buffer);
        log_client();
        glPopClientAttrib();
        log_client();
    }
    errors("client attributes");
}

/* The window's read buffer is restored, even while a framebuffer object is bound for drawing. */
static void read_while_drawing_elsewhere(void)
{
    static const float red[] = {1, 0, 0, 1}, green[] = {0, 1, 0, 1};
    GLuint framebuffer;
    unsigned char pixel[4] = {0};

    glDrawBuffer(GL_FRONT);
    glClearColor(red[0], red[1], red[2], red[3]);
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawBuffer(GL_BACK);
    glClearColor(green[0], green[1], green[2], green[3]);
    glClear(GL_COLOR_BUFFER_BIT);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
    glReadBuffer(GL_FRONT);
    glPushAttrib(GL_PIXEL_MODE_BIT);
    glReadBuffer(GL_BACK);
    glPopAttrib();
    glReadPixels(8, 8, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note_bytes("front", pixel, sizeof pixel);
    INTS(GL_READ_BUFFER, 1);
    glReadBuffer(GL_BACK);
    glReadPixels(8, 8, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    note_bytes("back", pixel, sizeof pixel);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    errors("reads");
}

CONFORM("attrib_stack", COMPAT, {"none", none}, {"current", current}, {"point_line_polygon", point_line_polygon}, {"pixel_mode", pixel_mode},
        {"lighting", lighting}, {"fog_depth_accum", fog_depth_accum}, {"stencil_viewport", stencil_viewport}, {"transform_enable", transform_enable},
        {"color_hint", color_hint}, {"eval_list", eval_list}, {"texture", texture}, {"scissor_multisample", scissor_multisample}, {"all", all},
        {"nesting", nesting}, {"client", client},
        {"read_while_drawing_elsewhere", read_while_drawing_elsewhere})
