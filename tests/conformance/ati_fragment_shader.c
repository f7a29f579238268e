/* GL_ATI_fragment_shader. */
#include "conform.h"

static void textures(void)
{
    for (int unit = 0; unit < 2; unit++) {
        unsigned char texels[16 * 16 * 4];
        checkerboard(texels, 16, 16, 2 << unit);
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        glEnable(GL_TEXTURE_2D);
    }
    glActiveTexture(GL_TEXTURE0);
}

static void quad(void)
{
    static const GLfloat corners[4][2] = {{-0.9f, -0.9f}, {0.9f, -0.9f}, {0.9f, 0.9f}, {-0.9f, 0.9f}};
    glBegin(GL_QUADS);
    for (int i = 0; i < 4; i++) {
        color_of(i);
        glMultiTexCoord2f(GL_TEXTURE0, corners[i][0], corners[i][1]);
        glMultiTexCoord2f(GL_TEXTURE1, 0.5f + corners[i][1] * 0.5f, corners[i][0]);
        glVertex2fv(corners[i]);
    }
    glEnd();
}

static bool start(void)
{
    glClear(GL_COLOR_BUFFER_BIT);
    return need_extension("GL_ATI_fragment_shader");
}

static void define(int kind)
{
    glBeginFragmentShaderATI();
    glSampleMapATI(GL_REG_0_ATI, GL_TEXTURE0, GL_SWIZZLE_STR_ATI);
    glSampleMapATI(GL_REG_1_ATI, GL_TEXTURE1, GL_SWIZZLE_STR_ATI);
    switch (kind) {
    case 0:
        glColorFragmentOp2ATI(GL_MUL_ATI, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_REG_1_ATI, GL_NONE, GL_NONE);
        break;
    case 1:
        glColorFragmentOp3ATI(GL_LERP_ATI, GL_REG_0_ATI, GL_NONE, GL_SATURATE_BIT_ATI, GL_CON_0_ATI, GL_NONE, GL_NONE, GL_REG_0_ATI, GL_NONE, GL_COMP_BIT_ATI,
                              GL_PRIMARY_COLOR_ARB, GL_NONE, GL_NONE);
        break;
    case 2:
        glColorFragmentOp1ATI(GL_MOV_ATI, GL_REG_2_ATI, GL_RED_BIT_ATI | GL_BLUE_BIT_ATI, GL_HALF_BIT_ATI, GL_REG_0_ATI, GL_GREEN, GL_NONE);
        glColorFragmentOp3ATI(GL_MAD_ATI, GL_REG_0_ATI, GL_GREEN_BIT_ATI, GL_NONE, GL_REG_1_ATI, GL_ALPHA, GL_BIAS_BIT_ATI | GL_2X_BIT_ATI, GL_CON_1_ATI, GL_NONE,
                              GL_NONE, GL_REG_2_ATI, GL_RED, GL_NONE);
        glAlphaFragmentOp2ATI(GL_ADD_ATI, GL_REG_0_ATI, GL_NONE, GL_CON_0_ATI, GL_NONE, GL_NONE, GL_REG_1_ATI, GL_NONE, GL_NEGATE_BIT_ATI);
        break;
    default:
        /* Two passes: the first pass computes the coordinates for the second pass. */
        glColorFragmentOp2ATI(GL_ADD_ATI, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_CON_0_ATI, GL_NONE, GL_NONE);
        glSampleMapATI(GL_REG_1_ATI, GL_REG_0_ATI, GL_SWIZZLE_STR_ATI);
        glPassTexCoordATI(GL_REG_2_ATI, GL_TEXTURE0, GL_SWIZZLE_STR_ATI);
        glColorFragmentOp3ATI(GL_CND_ATI, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_REG_1_ATI, GL_NONE, GL_NONE, GL_REG_2_ATI, GL_NONE, GL_NONE, GL_REG_1_ATI, GL_RED,
                              GL_NONE);
    }
    glEndFragmentShaderATI();
    errors("defined");
}

static void shaders(void)
{
    if (!start())
        return;
    textures();
    GLuint first = glGenFragmentShadersATI(4);
    note("generated: %d", first != 0);
    glEnable(GL_FRAGMENT_SHADER_ATI);
    ENABLED(GL_FRAGMENT_SHADER_ATI);
    glSetFragmentShaderConstantATI(GL_CON_0_ATI, (const GLfloat[]){0.25f, 0.5f, 0.75f, 1});
    glSetFragmentShaderConstantATI(GL_CON_1_ATI, (const GLfloat[]){0.9f, 0.3f, 0.1f, 0.5f});
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        glBindFragmentShaderATI(first + (GLuint)i);
        define(i);
        quad();
    }
    errors("shaders");
}

/* A constant of the shader overrides the constant of the context. */
static void local_constants(void)
{
    if (!start())
        return;
    textures();
    glEnable(GL_FRAGMENT_SHADER_ATI);
    glSetFragmentShaderConstantATI(GL_CON_3_ATI, (const GLfloat[]){1, 0, 0, 1});
    for (int i = 0; i < 2; i++) {
        cell(i, 0, 2, 1);
        glBindFragmentShaderATI(70 + (GLuint)i);
        glBeginFragmentShaderATI();
        if (i == 1)
            glSetFragmentShaderConstantATI(GL_CON_3_ATI, (const GLfloat[]){0, 0.5f, 1, 1});
        glSampleMapATI(GL_REG_0_ATI, GL_TEXTURE0, GL_SWIZZLE_STR_ATI);
        glColorFragmentOp2ATI(GL_SUB_ATI, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_CON_3_ATI, GL_NONE, GL_NONE, GL_REG_0_ATI, GL_NONE, GL_NONE);
        glEndFragmentShaderATI();
        quad();
    }
    errors("local constants");
}

static void names(void)
{
    if (!start())
        return;
    note("zero shaders: %u", glGenFragmentShadersATI(0));
    errors("zero shaders");
    GLuint first = glGenFragmentShadersATI(3);
    glBindFragmentShaderATI(first + 1);
    glBeginFragmentShaderATI();
    note("inside: %u", glGenFragmentShadersATI(1));
    errors("generate inside");
    glBindFragmentShaderATI(first);
    errors("bind inside");
    glDeleteFragmentShaderATI(first);
    errors("delete inside");
    glBeginFragmentShaderATI();
    errors("begin inside");
    glEndFragmentShaderATI();
    errors("an empty shader");
    glEndFragmentShaderATI();
    errors("end outside");
    glPassTexCoordATI(GL_REG_0_ATI, GL_TEXTURE0, GL_SWIZZLE_STR_ATI);
    errors("pass outside");
    glSampleMapATI(GL_REG_0_ATI, GL_TEXTURE0, GL_SWIZZLE_STR_ATI);
    errors("sample outside");
    glColorFragmentOp1ATI(GL_MOV_ATI, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_REG_0_ATI, GL_NONE, GL_NONE);
    errors("operation outside");
    glDeleteFragmentShaderATI(first + 1);
    glDeleteFragmentShaderATI(first + 1);
    glDeleteFragmentShaderATI(12345);
    glDeleteFragmentShaderATI(0);
    errors("delete");
    GLuint next = glGenFragmentShadersATI(2);
    note("others: %d", next != first && next != first + 2 && next != 0);
    errors("names");
    no_picture();
}

static void mistakes(void)
{
    if (!start())
        return;
    glSetFragmentShaderConstantATI(GL_REG_0_ATI, (const GLfloat[]){1, 0, 0, 1});
    errors("constant");
    glBindFragmentShaderATI(glGenFragmentShadersATI(1));
    glBeginFragmentShaderATI();
    glPassTexCoordATI(GL_TEXTURE0, GL_TEXTURE0, GL_SWIZZLE_STR_ATI);
    errors("register");
    glSampleMapATI(GL_REG_0_ATI, GL_REG_1_ATI, GL_SWIZZLE_STR_ATI);
    errors("a register in the first pass");
    glSampleMapATI(GL_REG_0_ATI, GL_TEXTURE0, GL_RGBA);
    errors("swizzle");
    glSampleMapATI(GL_REG_0_ATI, GL_TEXTURE0, GL_SWIZZLE_STR_ATI);
    glSampleMapATI(GL_REG_0_ATI, GL_TEXTURE0, GL_SWIZZLE_STR_ATI);
    errors("twice");
    glColorFragmentOp1ATI(GL_MOV_ATI, GL_CON_0_ATI, GL_NONE, GL_NONE, GL_REG_0_ATI, GL_NONE, GL_NONE);
    errors("destination");
    glColorFragmentOp1ATI(GL_MOV_ATI, GL_REG_0_ATI, GL_NONE, 0x7777, GL_REG_0_ATI, GL_NONE, GL_NONE);
    errors("modifier");
    glAlphaFragmentOp2ATI(GL_DOT3_ATI, GL_REG_0_ATI, GL_NONE, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_REG_0_ATI, GL_NONE, GL_NONE);
    errors("a dot product of alpha");
    glColorFragmentOp1ATI(GL_MOV_ATI, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_SECONDARY_INTERPOLATOR_ATI, GL_ALPHA, GL_NONE);
    errors("secondary alpha");
    for (int i = 0; i < 9; i++)
        glColorFragmentOp1ATI(GL_MOV_ATI, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_REG_0_ATI, GL_NONE, GL_NONE);
    errors("too many");
    glEndFragmentShaderATI();
    errors("end");
    glBegin(GL_POINTS);
    glBindFragmentShaderATI(0);
    glEnd();
    errors("inside");
    no_picture();
}

static void in_lists(void)
{
    if (!start())
        return;
    textures();
    GLuint first = glGenFragmentShadersATI(2);
    glBindFragmentShaderATI(first);
    define(0);
    glBindFragmentShaderATI(first + 1);
    define(1);
    glNewList(5, GL_COMPILE);
    glSetFragmentShaderConstantATI(GL_CON_0_ATI, (const GLfloat[]){0.8f, 0.2f, 0.5f, 1});
    glEnable(GL_FRAGMENT_SHADER_ATI);
    glBindFragmentShaderATI(first + 1);
    quad();
    glEndList();
    cell(0, 0, 2, 1);
    glBindFragmentShaderATI(first);
    quad();
    cell(1, 0, 2, 1);
    glCallList(5);
    ENABLED(GL_FRAGMENT_SHADER_ATI);
    errors("in lists");
}

CONFORM("ati_fragment_shader", COMPAT, {"shaders", shaders}, {"local_constants", local_constants}, {"names", names}, {"mistakes", mistakes},
        {"in_lists", in_lists})
