/* Integer state that is set by commands with floats, and the values that commands with integers
 * make of floats. */
#include "conform.h"

static const GLfloat values[] = {0.49f, 0.5f, 1.4f, 1.5f, 2.5f, 2.9f, 1e10f};

static void levels(void)
{
    no_picture();
    static const GLenum names[] = {GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_MAX_LEVEL};
    for (int n = 0; n < 2; n++)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            GLint got[4] = {-7, -7, -7, -7};
            GLuint texture;
            glGenTextures(1, &texture);
            glBindTexture(GL_TEXTURE_2D, texture);
            glTexParameterf(GL_TEXTURE_2D, names[n], values[i]);
            glGetTexParameteriv(GL_TEXTURE_2D, names[n], &got[0]);
            glTexParameteri(GL_TEXTURE_2D, names[n], 0);
            glTexParameterfv(GL_TEXTURE_2D, names[n], &values[i]);
            glGetTexParameteriv(GL_TEXTURE_2D, names[n], &got[1]);
            if (has_extension("GL_ARB_direct_state_access")) {
                glTextureParameteri(texture, names[n], 0);
                glTextureParameterf(texture, names[n], values[i]);
                glGetTextureParameteriv(texture, names[n], &got[2]);
                glTextureParameteri(texture, names[n], 0);
                glTextureParameterfv(texture, names[n], &values[i]);
                glGetTextureParameteriv(texture, names[n], &got[3]);
            }
            note("level %g", values[i]);
            note_ints("as", got, 4);
            errors("level");
        }
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, -0.4f);
    errors("rounds to zero");
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, -0.5f);
    errors("negative");
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, -1e20f);
    errors("very negative");
    glTexParameterf(GL_TEXTURE_RECTANGLE, GL_TEXTURE_BASE_LEVEL, 0.4f);
    errors("the only level of a rectangle");
    glTexParameterf(GL_TEXTURE_RECTANGLE, GL_TEXTURE_BASE_LEVEL, 0.6f);
    errors("another level of a rectangle");
}

/* A value between two names is rounded to one of them. */
static void names(void)
{
    no_picture();
    static const struct {
        const char *what;
        GLenum name;
        GLfloat value;
    } cases[] = {
        {"filter", GL_TEXTURE_MIN_FILTER, (GLfloat)GL_NEAREST + 0.4f},
        {"filter", GL_TEXTURE_MIN_FILTER, (GLfloat)GL_NEAREST + 0.6f},
        {"large filter", GL_TEXTURE_MAG_FILTER, (GLfloat)GL_LINEAR - 0.4f},
        {"wrap", GL_TEXTURE_WRAP_S, (GLfloat)GL_CLAMP_TO_EDGE - 0.4f},
        {"wrap", GL_TEXTURE_WRAP_T, (GLfloat)GL_REPEAT + 0.4f},
        {"wrap", GL_TEXTURE_WRAP_R, (GLfloat)GL_REPEAT + 0.6f},
        {"comparison", GL_TEXTURE_COMPARE_FUNC, (GLfloat)GL_LESS + 0.6f},
        {"depth mode", GL_DEPTH_TEXTURE_MODE, (GLfloat)GL_LUMINANCE - 0.4f},
        {"mipmaps", GL_GENERATE_MIPMAP, 0.4f},
        {"mipmaps", GL_GENERATE_MIPMAP, 0.6f},
        {"swizzle", GL_TEXTURE_SWIZZLE_R, (GLfloat)GL_GREEN - 0.4f},
        {"swizzle", GL_TEXTURE_SWIZZLE_G, 0.6f},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int vector = 0; vector < 2; vector++) {
            GLuint texture;
            GLint got = -7;
            glGenTextures(1, &texture);
            glBindTexture(GL_TEXTURE_2D, texture);
            if (vector)
                glTexParameterfv(GL_TEXTURE_2D, cases[i].name, &cases[i].value);
            else
                glTexParameterf(GL_TEXTURE_2D, cases[i].name, cases[i].value);
            errors(cases[i].what);
            glGetTexParameteriv(GL_TEXTURE_2D, cases[i].name, &got);
            note("%s %g: %x", cases[i].what, cases[i].value, got);
        }
}

static void samplers(void)
{
    no_picture();
    if (!need_extension("GL_ARB_sampler_objects"))
        return;
    static const struct {
        GLenum name;
        GLfloat value;
    } cases[] = {
        {GL_TEXTURE_MIN_FILTER, (GLfloat)GL_NEAREST + 0.6f}, {GL_TEXTURE_MAG_FILTER, (GLfloat)GL_LINEAR - 0.4f},   {GL_TEXTURE_WRAP_S, (GLfloat)GL_CLAMP_TO_EDGE - 0.4f},
        {GL_TEXTURE_WRAP_T, (GLfloat)GL_REPEAT + 0.4f},      {GL_TEXTURE_COMPARE_MODE, (GLfloat)GL_NONE + 0.6f},   {GL_TEXTURE_COMPARE_FUNC, (GLfloat)GL_LESS + 0.6f},
        {GL_TEXTURE_MIN_LOD, 1.5f},                          {GL_TEXTURE_MAX_LOD, 2.5f},                           {GL_TEXTURE_LOD_BIAS, 0.6f},
        {GL_TEXTURE_CUBE_MAP_SEAMLESS, 0.6f},                {GL_TEXTURE_SRGB_DECODE_EXT, (GLfloat)GL_DECODE_EXT + 0.6f},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int vector = 0; vector < 2; vector++) {
            GLuint sampler;
            GLint got = -7;
            glGenSamplers(1, &sampler);
            if (vector)
                glSamplerParameterfv(sampler, cases[i].name, &cases[i].value);
            else
                glSamplerParameterf(sampler, cases[i].name, cases[i].value);
            errors("sampler");
            glGetSamplerParameteriv(sampler, cases[i].name, &got);
            note("%x %g: %x", cases[i].name, cases[i].value, got);
        }
}

#define BOTH(scalar, vector, pname, value)                                                                                                            \
    do {                                                                                                                                              \
        scalar(pname, value);                                                                                                                         \
        errors(#scalar " " #pname " " #value);                                                                                                        \
        INTS(pname, 1);                                                                                                                               \
        vector(pname, (const GLfloat[]){value, 0, 0, 0});                                                                                             \
        errors(#vector " " #pname " " #value);                                                                                                        \
        INTS(pname, 1);                                                                                                                               \
    } while (0)
#define OF(set, get, target, pname, value)                                                                                                            \
    do {                                                                                                                                              \
        GLint got_ = -7;                                                                                                                              \
        set(target, pname, value);                                                                                                                    \
        errors(#set " " #pname " " #value);                                                                                                           \
        get(target, pname, &got_);                                                                                                                    \
        note("%x", got_);                                                                                                                             \
        set##v(target, pname, (const GLfloat[]){value, 0, 0, 0});                                                                                     \
        errors(#set "v " #pname " " #value);                                                                                                          \
        get(target, pname, &got_);                                                                                                                    \
        note("%x", got_);                                                                                                                             \
    } while (0)

static void fixed_function(void)
{
    no_picture();
    BOTH(glFogf, glFogfv, GL_FOG_MODE, (GLfloat)GL_EXP2 - 0.4f);
    BOTH(glFogf, glFogfv, GL_FOG_MODE, (GLfloat)GL_EXP + 0.6f);
    BOTH(glFogf, glFogfv, GL_FOG_COORD_SRC, (GLfloat)GL_FOG_COORD + 0.6f);
    BOTH(glFogf, glFogfv, GL_FOG_INDEX, 1.5f);
    BOTH(glLightModelf, glLightModelfv, GL_LIGHT_MODEL_LOCAL_VIEWER, 0.4f);
    BOTH(glLightModelf, glLightModelfv, GL_LIGHT_MODEL_TWO_SIDE, 0.4f);
    BOTH(glLightModelf, glLightModelfv, GL_LIGHT_MODEL_COLOR_CONTROL, (GLfloat)GL_SEPARATE_SPECULAR_COLOR - 0.4f);
    BOTH(glLightModelf, glLightModelfv, GL_LIGHT_MODEL_COLOR_CONTROL, (GLfloat)GL_SINGLE_COLOR + 0.4f);
    BOTH(glPointParameterf, glPointParameterfv, GL_POINT_SPRITE_COORD_ORIGIN, (GLfloat)GL_LOWER_LEFT + 0.6f);
    BOTH(glPointParameterf, glPointParameterfv, GL_POINT_SPRITE_COORD_ORIGIN, (GLfloat)GL_UPPER_LEFT - 0.4f);
    OF(glTexEnvf, glGetTexEnviv, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, (GLfloat)GL_DECAL + 0.6f);
    OF(glTexEnvf, glGetTexEnviv, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, (GLfloat)GL_MODULATE - 0.4f);
    OF(glTexEnvf, glGetTexEnviv, GL_TEXTURE_ENV, GL_COMBINE_RGB, (GLfloat)GL_ADD + 0.4f);
    OF(glTexEnvf, glGetTexEnviv, GL_TEXTURE_ENV, GL_SRC0_RGB, (GLfloat)GL_PREVIOUS - 0.4f);
    OF(glTexEnvf, glGetTexEnviv, GL_TEXTURE_ENV, GL_OPERAND0_RGB, (GLfloat)GL_SRC_ALPHA - 0.4f);
    OF(glTexEnvf, glGetTexEnviv, GL_TEXTURE_ENV, GL_RGB_SCALE, 1.9f);
    OF(glTexEnvf, glGetTexEnviv, GL_POINT_SPRITE, GL_COORD_REPLACE, 0.6f);
    OF(glTexGenf, glGetTexGeniv, GL_S, GL_TEXTURE_GEN_MODE, (GLfloat)GL_SPHERE_MAP + 0.6f);
    OF(glTexGenf, glGetTexGeniv, GL_S, GL_TEXTURE_GEN_MODE, (GLfloat)GL_OBJECT_LINEAR - 0.4f);
    static const GLfloat stores[] = {0.4f, 0.5f, 1.5f, 2.5f, 3.9f, -0.4f, -0.5f};
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        note("pixels %g", stores[i]);
        glPixelStoref(GL_UNPACK_ROW_LENGTH, stores[i]);
        errors("row length");
        INTS(GL_UNPACK_ROW_LENGTH, 1);
        glPixelStoref(GL_PACK_ALIGNMENT, stores[i]);
        errors("alignment");
        INTS(GL_PACK_ALIGNMENT, 1);
        glPixelStoref(GL_PACK_SWAP_BYTES, stores[i]);
        errors("swapping");
        INTS(GL_PACK_SWAP_BYTES, 1);
        glPixelTransferf(GL_INDEX_SHIFT, stores[i]);
        INTS(GL_INDEX_SHIFT, 1);
        glPixelTransferf(GL_INDEX_OFFSET, stores[i]);
        INTS(GL_INDEX_OFFSET, 1);
        glPixelTransferf(GL_MAP_COLOR, stores[i]);
        INTS(GL_MAP_COLOR, 1);
        errors("transfer");
    }
}

CONFORM("float_parameters", COMPAT, {"levels", levels}, {"names", names}, {"samplers", samplers}, {"fixed_function", fixed_function})
