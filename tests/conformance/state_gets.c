/* glGet in all its types, for most of the state: at the start, after many changes, and for
 * limits. */
#include "conform.h"

struct value {
    const char *name;
    GLenum pname;
    int count;
};

#define V(pname, count) {#pname, pname, count}

static const struct value simple[] = {
    V(GL_CURRENT_COLOR, 4), V(GL_CURRENT_NORMAL, 3), V(GL_CURRENT_TEXTURE_COORDS, 4), V(GL_CURRENT_SECONDARY_COLOR, 4), V(GL_CURRENT_FOG_COORD, 1),
    V(GL_CURRENT_INDEX, 1), V(GL_CURRENT_RASTER_POSITION, 4), V(GL_CURRENT_RASTER_COLOR, 4), V(GL_CURRENT_RASTER_SECONDARY_COLOR, 4),
    V(GL_CURRENT_RASTER_DISTANCE, 1), V(GL_CURRENT_RASTER_TEXTURE_COORDS, 4), V(GL_CURRENT_RASTER_POSITION_VALID, 1), V(GL_EDGE_FLAG, 1),
    V(GL_MODELVIEW_MATRIX, 16), V(GL_PROJECTION_MATRIX, 16), V(GL_TEXTURE_MATRIX, 16), V(GL_TRANSPOSE_PROJECTION_MATRIX, 16), V(GL_VIEWPORT, 4),
    V(GL_DEPTH_RANGE, 2), V(GL_MODELVIEW_STACK_DEPTH, 1), V(GL_PROJECTION_STACK_DEPTH, 1), V(GL_TEXTURE_STACK_DEPTH, 1), V(GL_MATRIX_MODE, 1),
    V(GL_FOG_COLOR, 4), V(GL_FOG_INDEX, 1), V(GL_FOG_DENSITY, 1), V(GL_FOG_START, 1), V(GL_FOG_END, 1), V(GL_FOG_MODE, 1), V(GL_FOG_COORD_SRC, 1),
    V(GL_SHADE_MODEL, 1), V(GL_COLOR_MATERIAL_PARAMETER, 1), V(GL_COLOR_MATERIAL_FACE, 1), V(GL_LIGHT_MODEL_AMBIENT, 4),
    V(GL_LIGHT_MODEL_LOCAL_VIEWER, 1), V(GL_LIGHT_MODEL_TWO_SIDE, 1), V(GL_LIGHT_MODEL_COLOR_CONTROL, 1), V(GL_POINT_SIZE, 1),
    V(GL_POINT_SIZE_MIN, 1), V(GL_POINT_SIZE_MAX, 1), V(GL_POINT_FADE_THRESHOLD_SIZE, 1), V(GL_POINT_DISTANCE_ATTENUATION, 3),
    V(GL_POINT_SPRITE_COORD_ORIGIN, 1), V(GL_LINE_WIDTH, 1), V(GL_LINE_STIPPLE_PATTERN, 1), V(GL_LINE_STIPPLE_REPEAT, 1), V(GL_CULL_FACE_MODE, 1),
    V(GL_FRONT_FACE, 1), V(GL_POLYGON_MODE, 2), V(GL_POLYGON_OFFSET_FACTOR, 1), V(GL_POLYGON_OFFSET_UNITS, 1), V(GL_SAMPLE_COVERAGE_VALUE, 1),
    V(GL_SAMPLE_COVERAGE_INVERT, 1), V(GL_TEXTURE_BINDING_1D, 1), V(GL_TEXTURE_BINDING_3D, 1), V(GL_TEXTURE_BINDING_CUBE_MAP, 1),
    V(GL_ACTIVE_TEXTURE, 1), V(GL_CLIENT_ACTIVE_TEXTURE, 1), V(GL_SCISSOR_BOX, 4), V(GL_ALPHA_TEST_FUNC, 1), V(GL_ALPHA_TEST_REF, 1),
    V(GL_STENCIL_FUNC, 1), V(GL_STENCIL_VALUE_MASK, 1), V(GL_STENCIL_REF, 1), V(GL_STENCIL_FAIL, 1), V(GL_STENCIL_PASS_DEPTH_FAIL, 1),
    V(GL_STENCIL_PASS_DEPTH_PASS, 1), V(GL_STENCIL_BACK_FUNC, 1), V(GL_STENCIL_BACK_VALUE_MASK, 1), V(GL_STENCIL_BACK_REF, 1),
    V(GL_STENCIL_BACK_FAIL, 1), V(GL_STENCIL_BACK_PASS_DEPTH_FAIL, 1), V(GL_STENCIL_BACK_PASS_DEPTH_PASS, 1), V(GL_DEPTH_FUNC, 1),
    V(GL_BLEND_SRC, 1), V(GL_BLEND_DST, 1), V(GL_BLEND_SRC_RGB, 1), V(GL_BLEND_SRC_ALPHA, 1), V(GL_BLEND_DST_RGB, 1), V(GL_BLEND_DST_ALPHA, 1),
    V(GL_BLEND_EQUATION_RGB, 1), V(GL_BLEND_EQUATION_ALPHA, 1), V(GL_BLEND_COLOR, 4), V(GL_LOGIC_OP_MODE, 1), V(GL_DRAW_BUFFER, 1),
    V(GL_COLOR_WRITEMASK, 4), V(GL_DEPTH_WRITEMASK, 1), V(GL_STENCIL_WRITEMASK, 1), V(GL_STENCIL_BACK_WRITEMASK, 1), V(GL_INDEX_WRITEMASK, 1),
    V(GL_COLOR_CLEAR_VALUE, 4), V(GL_DEPTH_CLEAR_VALUE, 1), V(GL_STENCIL_CLEAR_VALUE, 1), V(GL_INDEX_CLEAR_VALUE, 1), V(GL_ACCUM_CLEAR_VALUE, 4),
    V(GL_UNPACK_SWAP_BYTES, 1), V(GL_UNPACK_LSB_FIRST, 1), V(GL_UNPACK_IMAGE_HEIGHT, 1), V(GL_UNPACK_SKIP_IMAGES, 1), V(GL_UNPACK_ROW_LENGTH, 1),
    V(GL_UNPACK_SKIP_ROWS, 1), V(GL_UNPACK_SKIP_PIXELS, 1), V(GL_UNPACK_ALIGNMENT, 1), V(GL_PACK_SWAP_BYTES, 1), V(GL_PACK_LSB_FIRST, 1),
    V(GL_PACK_IMAGE_HEIGHT, 1), V(GL_PACK_SKIP_IMAGES, 1), V(GL_PACK_ROW_LENGTH, 1), V(GL_PACK_SKIP_ROWS, 1), V(GL_PACK_SKIP_PIXELS, 1),
    V(GL_PACK_ALIGNMENT, 1), V(GL_MAP_COLOR, 1), V(GL_MAP_STENCIL, 1), V(GL_INDEX_SHIFT, 1), V(GL_INDEX_OFFSET, 1), V(GL_RED_SCALE, 1),
    V(GL_RED_BIAS, 1), V(GL_DEPTH_SCALE, 1), V(GL_DEPTH_BIAS, 1), V(GL_ZOOM_X, 1), V(GL_ZOOM_Y, 1), V(GL_READ_BUFFER, 1), V(GL_MAP1_GRID_DOMAIN, 2),
    V(GL_MAP2_GRID_DOMAIN, 4), V(GL_MAP1_GRID_SEGMENTS, 1), V(GL_MAP2_GRID_SEGMENTS, 2), V(GL_PERSPECTIVE_CORRECTION_HINT, 1),
    V(GL_POINT_SMOOTH_HINT, 1), V(GL_LINE_SMOOTH_HINT, 1), V(GL_POLYGON_SMOOTH_HINT, 1), V(GL_FOG_HINT, 1), V(GL_GENERATE_MIPMAP_HINT, 1),
    V(GL_TEXTURE_COMPRESSION_HINT, 1), V(GL_FRAGMENT_SHADER_DERIVATIVE_HINT, 1), V(GL_LIST_BASE, 1), V(GL_LIST_INDEX, 1), V(GL_LIST_MODE, 1),
    V(GL_ATTRIB_STACK_DEPTH, 1), V(GL_CLIENT_ATTRIB_STACK_DEPTH, 1), V(GL_NAME_STACK_DEPTH, 1), V(GL_RENDER_MODE, 1), V(GL_SELECTION_BUFFER_SIZE, 1),
    V(GL_FEEDBACK_BUFFER_SIZE, 1), V(GL_FEEDBACK_BUFFER_TYPE, 1), V(GL_VERTEX_ARRAY_SIZE, 1), V(GL_VERTEX_ARRAY_TYPE, 1),
    V(GL_VERTEX_ARRAY_STRIDE, 1), V(GL_NORMAL_ARRAY_TYPE, 1), V(GL_NORMAL_ARRAY_STRIDE, 1), V(GL_COLOR_ARRAY_SIZE, 1), V(GL_COLOR_ARRAY_TYPE, 1),
    V(GL_TEXTURE_COORD_ARRAY_SIZE, 1), V(GL_TEXTURE_COORD_ARRAY_TYPE, 1), V(GL_EDGE_FLAG_ARRAY_STRIDE, 1), V(GL_SECONDARY_COLOR_ARRAY_SIZE, 1),
    V(GL_FOG_COORD_ARRAY_TYPE, 1), V(GL_ARRAY_BUFFER_BINDING, 1), V(GL_CURRENT_PROGRAM, 1), V(GL_CLAMP_FRAGMENT_COLOR, 1), V(GL_CLAMP_READ_COLOR, 1),
    V(GL_PROVOKING_VERTEX, 1), V(GL_PRIMITIVE_RESTART_INDEX, 1), V(GL_DOUBLEBUFFER, 1), V(GL_STEREO, 1), V(GL_RGBA_MODE, 1), V(GL_INDEX_MODE, 1),
    V(GL_RED_BITS, 1), V(GL_GREEN_BITS, 1), V(GL_BLUE_BITS, 1), V(GL_ALPHA_BITS, 1), V(GL_DEPTH_BITS, 1), V(GL_STENCIL_BITS, 1),
    V(GL_SAMPLE_BUFFERS, 1), V(GL_SAMPLES, 1), V(GL_AUX_BUFFERS, 1),
};

static const struct value limits[] = {
    V(GL_MAX_LIGHTS, 1), V(GL_MAX_CLIP_PLANES, 1), V(GL_MAX_MODELVIEW_STACK_DEPTH, 1), V(GL_MAX_PROJECTION_STACK_DEPTH, 1),
    V(GL_MAX_TEXTURE_STACK_DEPTH, 1), V(GL_SUBPIXEL_BITS, 1), V(GL_MAX_3D_TEXTURE_SIZE, 1), V(GL_MAX_TEXTURE_SIZE, 1), V(GL_MAX_TEXTURE_LOD_BIAS, 1),
    V(GL_MAX_CUBE_MAP_TEXTURE_SIZE, 1), V(GL_MAX_PIXEL_MAP_TABLE, 1), V(GL_MAX_NAME_STACK_DEPTH, 1), V(GL_MAX_LIST_NESTING, 1),
    V(GL_MAX_EVAL_ORDER, 1), V(GL_MAX_VIEWPORT_DIMS, 2), V(GL_MAX_ATTRIB_STACK_DEPTH, 1), V(GL_MAX_CLIENT_ATTRIB_STACK_DEPTH, 1),
    V(GL_ALIASED_POINT_SIZE_RANGE, 2), V(GL_SMOOTH_POINT_SIZE_RANGE, 2), V(GL_SMOOTH_POINT_SIZE_GRANULARITY, 1), V(GL_ALIASED_LINE_WIDTH_RANGE, 2),
    V(GL_SMOOTH_LINE_WIDTH_RANGE, 2), V(GL_SMOOTH_LINE_WIDTH_GRANULARITY, 1), V(GL_MAX_ELEMENTS_INDICES, 1), V(GL_MAX_ELEMENTS_VERTICES, 1),
    V(GL_MAX_TEXTURE_UNITS, 1), V(GL_MAX_TEXTURE_COORDS, 1), V(GL_MAX_TEXTURE_IMAGE_UNITS, 1), V(GL_MAX_VERTEX_TEXTURE_IMAGE_UNITS, 1),
    V(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, 1), V(GL_MAX_VERTEX_ATTRIBS, 1), V(GL_MAX_VERTEX_UNIFORM_COMPONENTS, 1), V(GL_MAX_VARYING_FLOATS, 1),
    V(GL_MAX_FRAGMENT_UNIFORM_COMPONENTS, 1), V(GL_MAX_DRAW_BUFFERS, 1), V(GL_MAX_COLOR_ATTACHMENTS, 1), V(GL_MAX_RENDERBUFFER_SIZE, 1),
    V(GL_MAX_SAMPLES, 1), V(GL_MAX_ARRAY_TEXTURE_LAYERS, 1), V(GL_MIN_PROGRAM_TEXEL_OFFSET, 1), V(GL_MAX_PROGRAM_TEXEL_OFFSET, 1),
    V(GL_MAX_RECTANGLE_TEXTURE_SIZE, 1), V(GL_MAX_TEXTURE_BUFFER_SIZE, 1), V(GL_MAX_UNIFORM_BUFFER_BINDINGS, 1), V(GL_MAX_UNIFORM_BLOCK_SIZE, 1),
    V(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, 1), V(GL_MAX_VERTEX_UNIFORM_BLOCKS, 1), V(GL_MAX_GEOMETRY_OUTPUT_VERTICES, 1),
    V(GL_MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS, 1), V(GL_MAX_DUAL_SOURCE_DRAW_BUFFERS, 1), V(GL_NUM_COMPRESSED_TEXTURE_FORMATS, 1),
};

static const struct value caps[] = {
    V(GL_FOG, 1), V(GL_LIGHTING, 1), V(GL_COLOR_MATERIAL, 1), V(GL_LIGHT0, 1), V(GL_LIGHT7, 1), V(GL_POINT_SMOOTH, 1), V(GL_LINE_SMOOTH, 1),
    V(GL_LINE_STIPPLE, 1), V(GL_CULL_FACE, 1), V(GL_POLYGON_SMOOTH, 1), V(GL_POLYGON_STIPPLE, 1), V(GL_POLYGON_OFFSET_POINT, 1),
    V(GL_POLYGON_OFFSET_LINE, 1), V(GL_POLYGON_OFFSET_FILL, 1), V(GL_MULTISAMPLE, 1), V(GL_SAMPLE_ALPHA_TO_COVERAGE, 1), V(GL_SAMPLE_ALPHA_TO_ONE, 1),
    V(GL_SAMPLE_COVERAGE, 1), V(GL_TEXTURE_1D, 1), V(GL_TEXTURE_2D, 1), V(GL_TEXTURE_3D, 1), V(GL_TEXTURE_CUBE_MAP, 1), V(GL_TEXTURE_RECTANGLE, 1),
    V(GL_TEXTURE_GEN_S, 1), V(GL_TEXTURE_GEN_Q, 1), V(GL_SCISSOR_TEST, 1), V(GL_ALPHA_TEST, 1), V(GL_STENCIL_TEST, 1), V(GL_DEPTH_TEST, 1),
    V(GL_BLEND, 1), V(GL_DITHER, 1), V(GL_INDEX_LOGIC_OP, 1), V(GL_COLOR_LOGIC_OP, 1), V(GL_COLOR_SUM, 1), V(GL_NORMALIZE, 1),
    V(GL_RESCALE_NORMAL, 1), V(GL_CLIP_PLANE0, 1), V(GL_CLIP_PLANE5, 1), V(GL_MAP1_VERTEX_3, 1), V(GL_MAP2_COLOR_4, 1), V(GL_AUTO_NORMAL, 1),
    V(GL_POINT_SPRITE, 1), V(GL_VERTEX_PROGRAM_POINT_SIZE, 1), V(GL_VERTEX_PROGRAM_TWO_SIDE, 1), V(GL_FRAMEBUFFER_SRGB, 1),
    V(GL_RASTERIZER_DISCARD, 1), V(GL_PRIMITIVE_RESTART, 1), V(GL_DEPTH_CLAMP, 1), V(GL_TEXTURE_CUBE_MAP_SEAMLESS, 1),
};

static const struct value client_caps[] = {V(GL_VERTEX_ARRAY, 1), V(GL_NORMAL_ARRAY, 1), V(GL_COLOR_ARRAY, 1), V(GL_INDEX_ARRAY, 1),
                                           V(GL_TEXTURE_COORD_ARRAY, 1), V(GL_EDGE_FLAG_ARRAY, 1), V(GL_SECONDARY_COLOR_ARRAY, 1),
                                           V(GL_FOG_COORD_ARRAY, 1)};

#define COUNT(list) (int)(sizeof list / sizeof *list)

static void log_all(const struct value *values, int count)
{
    for (int i = 0; i < count; i++) {
        get_integers(values[i].name, values[i].pname, values[i].count);
        get_floats(values[i].name, values[i].pname, values[i].count);
        get_doubles(values[i].name, values[i].pname, values[i].count);
        get_booleans(values[i].name, values[i].pname, values[i].count);
        GLenum error = glGetError();
        if (error != GL_NO_ERROR)
            note("%s: %s", values[i].name, error_name(error));
    }
}

static void start_values(void)
{
    no_picture();
    log_all(simple, COUNT(simple));
}

static void limit_values(void)
{
    no_picture();
    log_all(limits, COUNT(limits));
    if (!has_version(3, 2))
        return;
    for (int i = 0; i < COUNT(limits); i++) {
        GLint64 value[2] = {7777, 7777};
        glGetInteger64v(limits[i].pname, value);
        note("%s as 64 bits: %lld", limits[i].name, (long long)value[0]);
    }
}

static void change_values(void)
{
    glColor4f(0.1f, 0.2f, 0.3f, 0.4f);
    glNormal3f(-0.5f, 0.25f, 2);
    glTexCoord4f(1, 2, 3, 4);
    glSecondaryColor3f(0.5f, 0.6f, 0.7f);
    glFogCoordf(0.75f);
    glIndexi(3);
    glEdgeFlag(0);
    glMatrixMode(GL_PROJECTION);
    glOrtho(-2, 2, -3, 3, -4, 4);
    glPushMatrix();
    glMatrixMode(GL_TEXTURE);
    glTranslatef(1, 2, 3);
    glMatrixMode(GL_MODELVIEW);
    glRotatef(33, 1, 2, 3);
    glPushMatrix();
    glRasterPos3f(0.1f, 0.2f, 0.3f);
    glViewport(5, 6, 70, 80);
    glDepthRange(0.1, 0.9);
    glFogfv(GL_FOG_COLOR, (const float[]){0.9f, 0.8f, 0.7f, 0.6f});
    glFogf(GL_FOG_DENSITY, 0.3f);
    glFogf(GL_FOG_START, -1.5f);
    glFogi(GL_FOG_MODE, GL_EXP2);
    glShadeModel(GL_FLAT);
    glColorMaterial(GL_BACK, GL_SPECULAR);
    glLightModelfv(GL_LIGHT_MODEL_AMBIENT, (const float[]){0.4f, 0.3f, 0.2f, 0.1f});
    glLightModeli(GL_LIGHT_MODEL_LOCAL_VIEWER, 1);
    glPointSize(3.3f);
    glPointParameterfv(GL_POINT_DISTANCE_ATTENUATION, (const float[]){0.5f, 0.25f, 0.125f});
    glLineWidth(2.5f);
    glLineStipple(7, 0xABCD);
    glCullFace(GL_FRONT_AND_BACK);
    glFrontFace(GL_CW);
    glPolygonMode(GL_FRONT, GL_LINE);
    glPolygonMode(GL_BACK, GL_POINT);
    glPolygonOffset(1.25f, -2.5f);
    glSampleCoverage(0.3f, GL_TRUE);
    glClientActiveTexture(GL_TEXTURE2);
    glScissor(-3, 4, 50, 60);
    glAlphaFunc(GL_NOTEQUAL, 0.35f);
    glStencilFunc(GL_GEQUAL, 300, 0xF0F0F0F0);
    glStencilOp(GL_INVERT, GL_INCR_WRAP, GL_DECR_WRAP);
    glStencilMask(0x12345678);
    glDepthFunc(GL_NOTEQUAL);
    glBlendFuncSeparate(GL_DST_COLOR, GL_SRC_COLOR, GL_ONE, GL_CONSTANT_ALPHA);
    glBlendEquationSeparate(GL_MIN, GL_FUNC_SUBTRACT);
    glBlendColor(1.5f, -0.5f, 0.5f, 0.25f);
    glLogicOp(GL_NAND);
    glDrawBuffer(GL_FRONT);
    glReadBuffer(GL_FRONT);
    glColorMask(0, 1, 0, 1);
    glDepthMask(0);
    glClearColor(0.6f, 0.7f, 1.8f, -0.9f);
    glClearDepth(0.3);
    glClearStencil(0x1FF);
    glClearIndex(5);
    glIndexMask(0xFF);
    glClearAccum(0.5f, -0.5f, 2, 0.1f);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 55);
    glPixelStorei(GL_PACK_ALIGNMENT, 8);
    glPixelStorei(GL_PACK_LSB_FIRST, 5);
    glPixelTransferf(GL_RED_SCALE, 2.5f);
    glPixelTransferi(GL_INDEX_SHIFT, -3);
    glPixelTransferf(GL_MAP_COLOR, 1);
    glPixelZoom(-1.5f, 2.25f);
    glMapGrid2f(4, 0.5f, 1.5f, 6, -1, 2);
    glHint(GL_LINE_SMOOTH_HINT, GL_FASTEST);
    glHint(GL_GENERATE_MIPMAP_HINT, GL_NICEST);
    glListBase(1234);
    glPushAttrib(GL_FOG_BIT);
    glPushClientAttrib(GL_CLIENT_PIXEL_STORE_BIT);
    glVertexPointer(3, GL_DOUBLE, 48, NULL);
    glTexCoordPointer(1, GL_SHORT, 6, NULL);
    errors("changes");
}

static void changed_values(void)
{
    no_picture();
    change_values();
    log_all(simple, COUNT(simple));
}

static void capabilities(void)
{
    no_picture();
    for (int i = 0; i < COUNT(caps); i++) {
        GLboolean before = glIsEnabled(caps[i].pname), on, off;
        glEnable(caps[i].pname);
        on = glIsEnabled(caps[i].pname);
        get_integers(caps[i].name, caps[i].pname, 1);
        get_booleans(caps[i].name, caps[i].pname, 1);
        get_floats(caps[i].name, caps[i].pname, 1);
        glDisable(caps[i].pname);
        off = glIsEnabled(caps[i].pname);
        note("%s: %d, %d, %d, %s", caps[i].name, before, on, off, error_name(glGetError()));
        if (before)
            glEnable(caps[i].pname);
    }
    for (int i = 0; i < COUNT(client_caps); i++) {
        GLboolean before = glIsEnabled(client_caps[i].pname), on;
        glEnableClientState(client_caps[i].pname);
        on = glIsEnabled(client_caps[i].pname);
        get_integers(client_caps[i].name, client_caps[i].pname, 1);
        glDisableClientState(client_caps[i].pname);
        note("%s: %d, %d, %d", client_caps[i].name, before, on, glIsEnabled(client_caps[i].pname));
    }
    errors("capabilities");
    glEnable(GL_VERTEX_ARRAY);
    errors("a client capability");
    glEnableClientState(GL_FOG);
    errors("no client capability");
    glIsEnabled(GL_SMOOTH);
    errors("no capability");
}

static void wrong_names(void)
{
    static const GLenum names[] = {0, 1, GL_TEXTURE_ENV_MODE, GL_TRIANGLES, GL_RGBA, 0xFFFFFFFF, GL_COEFF, GL_LINK_STATUS};
    no_picture();
    for (int i = 0; i < COUNT(names); i++) {
        get_integers("wrong", names[i], 2);
        get_floats("wrong", names[i], 2);
        errors("wrong name");
    }
    note("string: %d", glGetString(0x1234) == NULL);
    errors("no string");
    note("extensions: %d", glGetStringi(GL_EXTENSIONS, 100000) == NULL);
    errors("extension 100000");
}

/* The extension string and the indexed strings contain the same extensions. */
static void extension_lists(void)
{
    no_picture();
    const char *all = (const char *)glGetString(GL_EXTENSIONS);
    int words = 0, found = 0;
    GLint count = 0;
    for (const char *at = all; at && *at; at += strspn(at, " ")) {
        words++;
        at += strcspn(at, " ");
    }
    if (!need_version(3, 0))
        return;
    glGetIntegerv(GL_NUM_EXTENSIONS, &count);
    for (GLint i = 0; i < count; i++)
        found += strstr(all, (const char *)glGetStringi(GL_EXTENSIONS, (GLuint)i)) != NULL;
    note("the same number: %d, all found: %d", words == count, found == count);
    note("shading language 1.20 or more: %d", atof((const char *)glGetString(GL_SHADING_LANGUAGE_VERSION)) >= 1.2);
}

/* The state of one context is queried thousands of times between draws. The answers must be right
 * at each moment. */
static void in_the_flow(void)
{
    unsigned sum = 0;
    for (int i = 0; i < 5000; i++) {
        GLint value = 0, box[4];
        GLfloat color[4];
        glLineWidth((float)(i % 7 + 1));
        glDepthFunc(GL_NEVER + (GLenum)(i % 8));
        glViewport(i % 50, i % 30, 100 + i % 100, 120);
        glColor3f((float)(i % 256) / 255, 0.5f, 0);
        glBegin(GL_LINES);
        glVertex2f(-1, -1);
        glVertex2f(1, (float)(i % 100) / 50 - 1);
        glEnd();
        glGetIntegerv(GL_DEPTH_FUNC, &value);
        sum = sum * 31 + (unsigned)value;
        glGetIntegerv(GL_LINE_WIDTH, &value);
        sum = sum * 31 + (unsigned)value;
        glGetIntegerv(GL_VIEWPORT, box);
        sum = sum * 31 + (unsigned)(box[0] + box[2]);
        glGetFloatv(GL_CURRENT_COLOR, color);
        sum = sum * 31 + (unsigned)(color[0] * 255);
    }
    note("sum %08x", sum);
}

CONFORM("state_gets", COMPAT, {"start_values", start_values}, {"limit_values", limit_values}, {"changed_values", changed_values},
        {"capabilities", capabilities}, {"wrong_names", wrong_names}, {"extension_lists", extension_lists}, {"in_the_flow", in_the_flow})
