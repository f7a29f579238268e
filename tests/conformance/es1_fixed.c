/* Fixed-point commands, in OpenGL ES 1.1 and in desktop OpenGL if it has them. */
#include "es1.h"

static GLfixed odd(int i)
{
    static const GLfixed values[] = {0, 1, -1, 0x8000, 0x10000, -0x10000, 0x7fffffff, -0x7fffffff - 1, 0x12345678, 0x5555, 0x18000, 0x00ffffff, -0x2aaaab};
    return values[i % 13];
}

static void log_state(void)
{
    FIXED(GL_ALPHA_TEST_REF, 1);
    FIXED(GL_ALPHA_TEST_FUNC, 1);
    FIXED(GL_COLOR_CLEAR_VALUE, 4);
    FIXED(GL_DEPTH_CLEAR_VALUE, 1);
    FIXED(GL_DEPTH_RANGE, 2);
    FIXED(GL_CURRENT_COLOR, 4);
    FIXED(GL_CURRENT_NORMAL, 3);
    FIXED(GL_CURRENT_TEXTURE_COORDS, 4);
    FIXED(GL_FOG_MODE, 1);
    FIXED(GL_FOG_DENSITY, 1);
    FIXED(GL_FOG_START, 1);
    FIXED(GL_FOG_END, 1);
    FIXED(GL_FOG_COLOR, 4);
    FIXED(GL_LIGHT_MODEL_AMBIENT, 4);
    FIXED(GL_LIGHT_MODEL_TWO_SIDE, 1);
    FIXED(GL_LINE_WIDTH, 1);
    FIXED(GL_POINT_SIZE, 1);
    FIXED(GL_POINT_SIZE_MIN, 1);
    FIXED(GL_POINT_SIZE_MAX, 1);
    FIXED(GL_POINT_FADE_THRESHOLD_SIZE, 1);
    FIXED(GL_POINT_DISTANCE_ATTENUATION, 3);
    FIXED(GL_POLYGON_OFFSET_FACTOR, 1);
    FIXED(GL_POLYGON_OFFSET_UNITS, 1);
    FIXED(GL_SAMPLE_COVERAGE_VALUE, 1);
    FIXED(GL_SAMPLE_COVERAGE_INVERT, 1);
    FIXED(GL_MODELVIEW_MATRIX, 16);
    FIXED(GL_PROJECTION_MATRIX, 16);
    FIXED(GL_VIEWPORT, 4);
    FIXED(GL_MAX_TEXTURE_SIZE, 1);
    FIXED(GL_MAX_LIGHTS, 1);
    FIXED(GL_LIGHTING, 1);
    FIXED(GL_BLEND_SRC, 1);
    FIXED(GL_ALIASED_POINT_SIZE_RANGE, 2);
    FIXED(GL_STENCIL_WRITEMASK, 1);
    FIXED(GL_COLOR_WRITEMASK, 4);
    FIXED(GL_ARRAY_BUFFER_BINDING, 1);
    FIXED(GL_VERTEX_ARRAY_SIZE, 1);
    FIXED(GL_TEXTURE_BINDING_2D, 1);
    FIXED(GL_MATRIX_MODE, 1);
    FIXED(0x7777, 1);
    FLOATS(GL_FOG_COLOR, 4);
    FLOATS(GL_MODELVIEW_MATRIX, 16);
    FLOATS(GL_PROJECTION_MATRIX, 16);
    FLOATS(GL_CURRENT_COLOR, 4);
    FLOATS(GL_DEPTH_RANGE, 2);
    FLOATS(GL_POINT_SIZE, 1);
    FLOATS(GL_ALPHA_TEST_REF, 1);
    INTS(GL_FOG_END, 1);
}

static void scalars(void)
{
    for (int i = 0; i < 13; i++) {
        GLfixed a = odd(i), b = odd(i + 1), c = odd(i + 4), d = odd(i + 7);
        es1AlphaFuncx(GL_LEQUAL, a);
        es1ClearColorx(a, b, c, d);
        es1ClearDepthx(a);
        es1DepthRangex(a, b);
        es1Color4x(a, b, c, d);
        es1Normal3x(b, c, d);
        es1MultiTexCoord4x(GL_TEXTURE0, c, d, a, b);
        errors("colours and the like");
        es1LineWidthx(a);
        errors("line width");
        es1PointSizex(b);
        errors("point size");
        es1PolygonOffsetx(a, b);
        es1SampleCoveragex(c, GL_TRUE);
        es1Fogx(GL_FOG_DENSITY, a);
        errors("density");
        es1Fogx(GL_FOG_END, b);
        es1Fogxv(GL_FOG_START, (const GLfixed[]){c});
        es1Fogxv(GL_FOG_COLOR, (const GLfixed[]){a, b, c, d});
        es1LightModelxv(GL_LIGHT_MODEL_AMBIENT, (const GLfixed[]){d, c, b, a});
        es1PointParameterx(GL_POINT_SIZE_MIN, a);
        errors("least size");
        es1PointParameterxv(GL_POINT_SIZE_MAX, (const GLfixed[]){b});
        errors("greatest size");
        es1PointParameterxv(GL_POINT_DISTANCE_ATTENUATION, (const GLfixed[]){a, b, c});
        errors("the others");
        log_state();
    }
    es1Fogx(GL_FOG_MODE, GL_LINEAR);
    es1Fogxv(GL_FOG_MODE, (const GLfixed[]){GL_EXP2});
    es1LightModelx(GL_LIGHT_MODEL_TWO_SIDE, 1);
    errors("enums");
    log_state();
}

static void matrices(void)
{
    GLfixed m[16];
    for (int i = 0; i < 16; i++)
        m[i] = X16(0.1 * i) - 0x9999 + i * i;
    es1LoadMatrixx(m);
    log_state();
    es1MultMatrixx(m);
    log_state();
    glLoadIdentity();
    es1Translatex(X16(1.5), -1, X16(0.1));
    es1Scalex(X16(2), X16(0.3), -X16(1));
    log_state();
    es1TranslatexOES(X16(0.25), X16(3), X16(-5));
    es1Rotatex(X16(30), X16(1), X16(0.5), 0);
    glMatrixMode(GL_PROJECTION);
    es1Frustumx(X16(-1), X16(1), X16(-0.75), X16(0.75), X16(1), X16(100));
    log_state();
    glLoadIdentity();
    es1Orthox(X16(-2), X16(2), X16(-1.5), X16(1.5), X16(-1), X16(1));
    log_state();
    es1Orthox(0, 0, 0, 1, 2, 3);
    errors("zero width");
    es1Frustumx(0, 1, 0, 1, -1, 3);
    errors("negative near");
    es1Frustumf(0, 1, 0, 1, 1, 1);
    errors("no depth");
}

static void lights(void)
{
    static const GLenum vectors[] = {GL_AMBIENT, GL_DIFFUSE, GL_SPECULAR, GL_POSITION, GL_SPOT_DIRECTION};
    static const GLenum scalars[] = {GL_SPOT_EXPONENT, GL_SPOT_CUTOFF, GL_CONSTANT_ATTENUATION, GL_LINEAR_ATTENUATION, GL_QUADRATIC_ATTENUATION, GL_SHININESS};
    GLfixed x[4] = {7777, 7777, 7777, 7777};
    for (int i = 0; i < 8; i++) {
        for (int v = 0; v < 5; v++) {
            GLfixed value[4] = {odd(i + v), odd(i + v + 3), odd(i + 5), odd(2 * i + v)};
            es1Lightxv(GL_LIGHT1, vectors[v], value);
            errors("light");
            es1GetLightxv(GL_LIGHT1, vectors[v], x);
            note_fixed("light", x, 4);
            es1Materialxv(GL_FRONT_AND_BACK, vectors[v], value);
            errors("material");
            es1GetMaterialxv(GL_FRONT, vectors[v], x);
            errors("get material");
            note_fixed("material", x, 4);
        }
        for (int s = 0; s < 6; s++) {
            es1Lightx(GL_LIGHT2, scalars[s], odd(i + s));
            errors("light");
            es1Lightxv(GL_LIGHT0, scalars[s], (const GLfixed[]){odd(i + s + 4) & 0xffffff});
            errors("light");
            es1GetLightxv(GL_LIGHT2, scalars[s], x);
            errors("get light");
            note_fixed("light", x, 1);
            es1GetLightxv(GL_LIGHT0, scalars[s], x);
            note_fixed("light", x, 1);
        }
        es1Materialx(GL_FRONT_AND_BACK, GL_SHININESS, odd(i) & 0x7fffff);
        errors("shininess");
        es1GetMaterialxv(GL_BACK, GL_SHININESS, x);
        note_fixed("shininess", x, 1);
    }
    es1Lightx(GL_LIGHT0 + 8, GL_SPOT_CUTOFF, 0);
    errors("no such light");
    es1Lightxv(GL_LIGHT0 + 8, GL_SPOT_CUTOFF, x);
    errors("no such light");
    es1GetLightxv(GL_LIGHT0 + 8, GL_SPOT_CUTOFF, x);
    errors("no such light");
    es1Lightx(GL_LIGHT0, GL_SPOT_CUTOFF, X16(100));
    errors("too wide");
    es1Materialx(GL_FRONT, GL_SHININESS, 0);
    errors("one face");
    es1Materialx(GL_FRONT_AND_BACK, GL_AMBIENT, 0);
    errors("an array");
    es1Materialxv(GL_BACK, GL_AMBIENT, x);
    errors("one face");
    es1Materialxv(GL_FRONT_AND_BACK, GL_COLOR_INDEXES, x);
    errors("indices");
    es1GetMaterialxv(GL_FRONT_AND_BACK, GL_AMBIENT, x);
    errors("both faces");
    es1GetMaterialxv(GL_FRONT, GL_AMBIENT_AND_DIFFUSE, x);
    errors("both colours");
    es1LightModelx(GL_LIGHT_MODEL_AMBIENT, 0);
    errors("an array");
    es1LightModelxv(GL_LIGHT_MODEL_LOCAL_VIEWER, x);
    errors("viewer");
    es1Fogxv(GL_FOG_COORD_SRC, x);
    errors("fog coordinates");
    es1Fogx(GL_FOG_COLOR, 0);
    errors("an array");
    es1Fogx(GL_FOG_MODE, 7);
    errors("mode");
    es1PointParameterxv(GL_POINT_SPRITE_COORD_ORIGIN, x);
    errors("origin");
    es1PointParameterx(GL_POINT_SIZE_MIN, -1);
    errors("negative");
    es1AlphaFuncx(7, 0);
    errors("function");
}

static void planes(void)
{
    GLfixed x[4];
    GLfloat f[4];
    glLoadIdentity();
    for (int i = 0; i < 8; i++) {
        es1ClipPlanex(GL_CLIP_PLANE0 + (GLenum)i, (const GLfixed[]){odd(i), odd(i + 2), odd(i + 5), odd(i + 9)});
        errors("plane");
        x[0] = 7777, f[0] = 7777;
        es1GetClipPlanex(GL_CLIP_PLANE0 + (GLenum)i, x);
        errors("get plane");
        if (i < 6)
            note_fixed("plane", x, 4);
        es1GetClipPlanef(GL_CLIP_PLANE0 + (GLenum)i, f);
        errors("get plane");
        if (i < 6)
            note_floats("plane", f, 4);
    }
}

static void textures(void)
{
    static const GLenum enums[] = {GL_TEXTURE_ENV_MODE, GL_COMBINE_RGB, GL_SRC0_RGB, GL_SRC2_ALPHA, GL_OPERAND1_RGB, GL_RGB_SCALE, GL_ALPHA_SCALE, GL_TEXTURE_ENV_COLOR, GL_TEXTURE_2D};
    static const GLfixed values[] = {GL_MODULATE, GL_ADD, GL_TEXTURE, GL_CONSTANT, GL_SRC_ALPHA, X16(2), X16(4), X16(0.5), 0};
    static const GLenum parameters[] = {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_GENERATE_MIPMAP, GL_TEXTURE_CROP_RECT_OES, GL_TEXTURE_MAX_ANISOTROPY_EXT, GL_TEXTURE_PRIORITY};
    static const GLfixed settings[] = {GL_NEAREST, GL_LINEAR, GL_CLAMP_TO_EDGE, GL_REPEAT, GL_TRUE, X16(3), X16(1.5), 0};
    GLfixed x[4];
    for (int i = 0; i < 9; i++) {
        es1TexEnvx(GL_TEXTURE_ENV, enums[i], values[i]);
        errors("environment");
        es1TexEnvxv(GL_TEXTURE_ENV, enums[i], (const GLfixed[]){values[i], X16(0.25), odd(i), X16(1)});
        errors("environment");
        memset(x, 0x55, sizeof x);
        es1GetTexEnvxv(GL_TEXTURE_ENV, enums[i], x);
        errors("get environment");
        note_fixed("environment", x, enums[i] == GL_TEXTURE_ENV_COLOR ? 4 : 1);
    }
    for (int i = 0; i < 8; i++) {
        es1TexParameterx(GL_TEXTURE_2D, parameters[i], settings[i]);
        errors("parameter");
        es1TexParameterxv(GL_TEXTURE_2D, parameters[i], (const GLfixed[]){settings[i], X16(2), X16(5), X16(-7)});
        errors("parameters");
        memset(x, 0x55, sizeof x);
        es1GetTexParameterxv(GL_TEXTURE_2D, parameters[i], x);
        GLenum error = glGetError();
        note("get parameter: %s", error_name(error));
        if (!error)
            note_fixed("parameter", x, parameters[i] == GL_TEXTURE_CROP_RECT_OES ? 4 : 1);
    }
    es1TexEnvx(GL_POINT_SPRITE, GL_COORD_REPLACE, GL_TRUE);
    es1GetTexEnvxv(GL_POINT_SPRITE, GL_COORD_REPLACE, x);
    errors("sprites");
    note_fixed("sprites", x, 1);
    es1TexEnvx(GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS, X16(-1.25));
    es1GetTexEnvxv(GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS, x);
    errors("bias");
    note_fixed("bias", x, 1);
    es1TexEnvx(GL_TEXTURE_2D, GL_TEXTURE_ENV_MODE, GL_ADD);
    errors("environment of an invalid target");
    es1GetTexEnvxv(GL_TEXTURE_2D, GL_TEXTURE_ENV_MODE, x);
    errors("get environment of an invalid target");
    es1TexEnvx(GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR, 0);
    errors("an array");
    es1TexEnvx(GL_TEXTURE_ENV, GL_RGB_SCALE, X16(3));
    errors("scale");
    es1TexParameterx(GL_TEXTURE_1D, GL_TEXTURE_WRAP_S, GL_REPEAT);
    errors("parameter of an invalid target");
    es1TexParameterxv(GL_TEXTURE_1D, GL_TEXTURE_WRAP_S, settings + 3);
    errors("parameters of an invalid target");
    es1GetTexParameterxv(GL_TEXTURE_3D, GL_TEXTURE_WRAP_S, x);
    errors("get parameter of an invalid target");
    es1TexGenxOES(GL_TEXTURE_GEN_STR_OES, GL_TEXTURE_GEN_MODE, GL_REFLECTION_MAP);
    errors("coordinates");
    es1GetTexGenxvOES(GL_TEXTURE_GEN_STR_OES, GL_TEXTURE_GEN_MODE, x);
    errors("get coordinates");
    note_fixed("coordinates", x, 1);
    es1TexGenxOES(GL_S, GL_TEXTURE_GEN_MODE, GL_REFLECTION_MAP);
    errors("an invalid coordinate");
}

static void queried_matrix(void)
{
    GLfixed mantissa[16];
    GLint exponent[16];
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    es1Translatex(X16(1.5), 1, X16(1000));
    memset(mantissa, 0, sizeof mantissa);
    memset(exponent, 0, sizeof exponent);
    note("status: %x", es1QueryMatrixxOES(mantissa, exponent));
    note_fixed("mantissas", mantissa, 16);
    note_ints("exponents", exponent, 16);
    errors("matrix");
}

static void everything(void)
{
    log_state();
    scalars();
    matrices();
    lights();
    planes();
    textures();
    queried_matrix();
}

static void es1(void)
{
    if (!begin_es1())
        return;
    everything();
    end_es1();
}

static void desktop(void)
{
    if (!begin_es1_on_desktop())
        return;
    everything();
    end_es1();
}

/* Display lists do not record these commands, and they are not allowed between glBegin and
 * glEnd. */
static void in_lists(void)
{
    if (!begin_es1_on_desktop())
        return;
    glNewList(1, GL_COMPILE);
    es1Color4x(X16(0.25), X16(0.5), X16(0.75), X16(1));
    es1Translatex(X16(0.5), 0, 0);
    es1LineWidthx(X16(3));
    es1Fogx(GL_FOG_DENSITY, X16(7));
    es1Fogx(GL_FOG_MODE, 7);
    es1Lightx(GL_LIGHT0, GL_SPOT_EXPONENT, X16(5));
    es1Materialx(GL_FRONT_AND_BACK, GL_SHININESS, X16(9));
    es1TexParameterx(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    es1DepthRangex(X16(0.25), X16(0.5));
    es1ClipPlanex(GL_CLIP_PLANE0, (const GLfixed[]){1, 2, 3, 4});
    errors("while compiling");
    log_state();
    glEndList();
    log_state();
    glLoadIdentity();
    es1LineWidthx(X16(1));
    glCallList(1);
    log_state();
    glBegin(GL_TRIANGLES);
    es1Color4x(0, 0, 0, 0);
    es1Normal3x(0, 0, 0);
    es1MultiTexCoord4x(GL_TEXTURE0, 0, 0, 0, 0);
    es1Translatex(0, X16(1), 0);
    es1Materialx(GL_FRONT_AND_BACK, GL_SHININESS, X16(3));
    glEnd();
    errors("inside");
    log_state();
    end_es1();
}

CONFORM("es1_fixed", NONE, {"es1", es1}, {"desktop", desktop}, {"in_lists", in_lists})
