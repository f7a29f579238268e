/* Every name that glGet* knows in a compatibility context: in a new context, and after changes of
 * all kinds of state. */
#include "every_name.h"

static void fresh(void)
{
    every_name();
}

static void raster_state(void)
{
    glViewport(3, 4, 100, 90);
    glDepthRange(0.25, 0.75);
    glScissor(5, 6, 70, 60);
    glEnable(GL_SCISSOR_TEST);
    glPointSize(3.5f);
    glPointParameterf(GL_POINT_SIZE_MIN, 2);
    glPointParameterfv(GL_POINT_DISTANCE_ATTENUATION, (const GLfloat[]){1, 0.5f, 0.25f});
    glLineWidth(2.5f);
    glLineStipple(3, 0x0F0F);
    glEnable(GL_LINE_STIPPLE);
    glCullFace(GL_FRONT);
    glEnable(GL_CULL_FACE);
    glFrontFace(GL_CW);
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    glPolygonOffset(1.5f, -2);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glShadeModel(GL_FLAT);
    glHint(GL_FOG_HINT, GL_NICEST);
    glSampleCoverage(0.5f, GL_TRUE);
    glDisable(GL_MULTISAMPLE);
}

static void fragment_state(void)
{
    glEnable(GL_ALPHA_TEST);
    glAlphaFunc(GL_GEQUAL, 0.3f);
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ZERO);
    glBlendEquationSeparate(GL_FUNC_SUBTRACT, GL_MAX);
    glBlendColor(0.1f, 0.2f, 0.3f, 0.4f);
    glEnable(GL_STENCIL_TEST);
    glStencilFuncSeparate(GL_FRONT, GL_LEQUAL, 7, 0x3F);
    glStencilFuncSeparate(GL_BACK, GL_GREATER, 300, 0xFFFFFFFF);
    glStencilOpSeparate(GL_BACK, GL_INCR, GL_DECR_WRAP, GL_INVERT);
    glStencilMaskSeparate(GL_FRONT, 0x12);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_NOTEQUAL);
    glDepthMask(GL_FALSE);
    glColorMask(GL_TRUE, GL_FALSE, GL_TRUE, GL_FALSE);
    glIndexMask(0xF0);
    glEnable(GL_COLOR_LOGIC_OP);
    glLogicOp(GL_XOR);
    glClearColor(0.2f, 0.4f, 0.6f, 0.8f);
    glClearDepth(0.125);
    glClearStencil(200);
    glClearAccum(-0.5f, 0.5f, 0.75f, 1);
    glDisable(GL_DITHER);
}

static void fixed_function(void)
{
    glMatrixMode(GL_PROJECTION);
    glFrustum(-1, 1, -0.75, 0.75, 1, 10);
    glPushMatrix();
    glMatrixMode(GL_TEXTURE);
    glScalef(2, 3, 4);
    glMatrixMode(GL_MODELVIEW);
    glTranslatef(1, 2, 3);
    glPushMatrix();
    glRotatef(30, 1, 1, 0);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnable(GL_LIGHT5);
    glLightModelfv(GL_LIGHT_MODEL_AMBIENT, (const GLfloat[]){0.5f, 0.4f, 1.5f, 1});
    glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 1);
    glLightModeli(GL_LIGHT_MODEL_COLOR_CONTROL, GL_SEPARATE_SPECULAR_COLOR);
    glColorMaterial(GL_BACK, GL_EMISSION);
    glEnable(GL_COLOR_MATERIAL);
    glEnable(GL_FOG);
    glFogi(GL_FOG_MODE, GL_LINEAR);
    glFogf(GL_FOG_START, 0.5f);
    glFogf(GL_FOG_END, 7.5f);
    glFogfv(GL_FOG_COLOR, (const GLfloat[]){0.25f, 0.5f, 2, 1});
    glFogi(GL_FOG_COORD_SRC, GL_FOG_COORD);
    glEnable(GL_NORMALIZE);
    glEnable(GL_CLIP_PLANE2);
    glEnable(GL_COLOR_SUM);
    glEnable(GL_MAP1_VERTEX_3);
    glMapGrid1f(5, -1, 2);
    glMapGrid2f(3, 0, 0.5f, 4, -1, 1);
    glEnable(GL_AUTO_NORMAL);
    glListBase(77);
}

static void current_values(void)
{
    glColor4f(0.1f, 0.2f, 0.3f, 0.4f);
    glSecondaryColor3ub(255, 128, 0);
    glNormal3b(127, -128, 0);
    glFogCoordf(2.5f);
    glIndexi(42);
    glEdgeFlag(GL_FALSE);
    glTexCoord3f(1.5f, -2.5f, 0.5f);
    glMultiTexCoord2f(GL_TEXTURE2, 7, 8);
    glRasterPos3f(0.1f, 0.2f, -3);
}

static void pixels(void)
{
    glPixelStorei(GL_UNPACK_ALIGNMENT, 2);
    glPixelStoref(GL_UNPACK_ROW_LENGTH, 17.4f);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 3);
    glPixelStorei(GL_UNPACK_SWAP_BYTES, 5);
    glPixelStorei(GL_PACK_LSB_FIRST, 1);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 9);
    glPixelStorei(GL_PACK_IMAGE_HEIGHT, 33);
    glPixelTransferf(GL_RED_SCALE, 0.5f);
    glPixelTransferf(GL_DEPTH_BIAS, -0.25f);
    glPixelTransferi(GL_INDEX_SHIFT, -3);
    glPixelTransferi(GL_MAP_COLOR, 1);
    glPixelZoom(-2, 0.5f);
    glPixelMapfv(GL_PIXEL_MAP_R_TO_R, 4, (const GLfloat[]){0, 0.5f, 0.25f, 1});
    glReadBuffer(GL_FRONT);
    glDrawBuffer(GL_NONE);
}

static void textures(void)
{
    GLuint names[3];
    glGenTextures(3, names);
    glBindTexture(GL_TEXTURE_2D, names[0]);
    glEnable(GL_TEXTURE_2D);
    glActiveTexture(GL_TEXTURE3);
    glClientActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_3D, names[1]);
    glBindTexture(GL_TEXTURE_CUBE_MAP, names[2]);
    glEnable(GL_TEXTURE_CUBE_MAP);
    glTexGeni(GL_S, GL_TEXTURE_GEN_MODE, GL_OBJECT_LINEAR);
    glEnable(GL_TEXTURE_GEN_S);
    glMatrixMode(GL_TEXTURE);
    glTranslatef(0.5f, 0, 0);
    glMatrixMode(GL_MODELVIEW);
}

static void arrays_and_buffers(void)
{
    static const GLfloat data[64];
    GLuint buffers[4];
    glGenBuffers(4, buffers);
    glVertexPointer(3, GL_FLOAT, 12, data);
    glEnableClientState(GL_VERTEX_ARRAY);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glColorPointer(4, GL_UNSIGNED_BYTE, 8, (const void *)16);
    glEnableClientState(GL_COLOR_ARRAY);
    glNormalPointer(GL_SHORT, 0, NULL);
    glTexCoordPointer(2, GL_DOUBLE, 24, NULL);
    glFogCoordPointer(GL_FLOAT, 4, NULL);
    glSecondaryColorPointer(3, GL_FLOAT, 0, NULL);
    glIndexPointer(GL_UNSIGNED_BYTE, 3, NULL);
    glEdgeFlagPointer(5, NULL);
    glEnableClientState(GL_EDGE_FLAG_ARRAY);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers[2]);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffers[3]);
    glPushClientAttrib(GL_CLIENT_ALL_ATTRIB_BITS);
    glPushAttrib(GL_ALL_ATTRIB_BITS);
    glPushAttrib(GL_CURRENT_BIT);
}

static void changed(void)
{
    raster_state();
    fragment_state();
    fixed_function();
    current_values();
    pixels();
    textures();
    arrays_and_buffers();
    errors("changes");
    every_name();
    no_picture();
}

/* The same state, set by a display list and restored by the attribute stack. */
static void from_a_list(void)
{
    glPushAttrib(GL_ALL_ATTRIB_BITS);
    glNewList(5, GL_COMPILE);
    INTS(GL_LIST_INDEX, 1);
    INTS(GL_LIST_MODE, 1);
    raster_state();
    fragment_state();
    fixed_function();
    current_values();
    glEndList();
    glCallList(5);
    errors("list");
    every_name();
    glPopAttrib();
    errors("back");
    every_name();
    no_picture();
}

CONFORM("gets", COMPAT, {"fresh", fresh}, {"changed", changed}, {"from_a_list", from_a_list})
