/* GL_EXT_direct_state_access: the older commands in the compatibility profile. */
#include "conform.h"

static unsigned char pixels[64 * 64 * 4 * 6], back[1 << 15];

static bool start(void)
{
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * 7 + i / 61);
    return need_extension("GL_EXT_direct_state_access");
}

static void image_of(const char *what, GLuint texture, GLenum target, GLint level)
{
    memset(back, 0x77, sizeof back);
    glGetTextureImageEXT(texture, target, level, GL_RGBA, GL_UNSIGNED_BYTE, back);
    note_bytes(what, back, 8192);
    errors(what);
}

static void level_of(const char *what, GLuint texture, GLenum target, GLint level)
{
    GLint values[4] = {-7, -7, -7, -7};
    GLfloat width = -7;
    glGetTextureLevelParameterivEXT(texture, target, level, GL_TEXTURE_WIDTH, &values[0]);
    glGetTextureLevelParameterivEXT(texture, target, level, GL_TEXTURE_HEIGHT, &values[1]);
    glGetTextureLevelParameterivEXT(texture, target, level, GL_TEXTURE_DEPTH, &values[2]);
    glGetTextureLevelParameterivEXT(texture, target, level, GL_TEXTURE_INTERNAL_FORMAT, &values[3]);
    glGetTextureLevelParameterfvEXT(texture, target, level, GL_TEXTURE_WIDTH, &width);
    note("%s width %.1f", what, width);
    note_ints(what, values, 4);
    errors(what);
}

static void textures(void)
{
    no_picture();
    if (!start())
        return;
    GLuint t[5];
    glGenTextures(4, t);
    t[4] = 5000;
    note("is texture %d", glIsTexture(t[0]));
    glTextureImage1DEXT(t[0], GL_TEXTURE_1D, 0, GL_RGBA8, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note("is texture %d", glIsTexture(t[0]));
    glTextureImage2DEXT(t[1], GL_TEXTURE_2D, 0, GL_RGBA8, 16, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureImage3DEXT(t[2], GL_TEXTURE_3D, 0, GL_RGBA8, 4, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (GLenum face = GL_TEXTURE_CUBE_MAP_POSITIVE_X; face <= GL_TEXTURE_CUBE_MAP_NEGATIVE_Z; face++)
        glTextureImage2DEXT(t[3], face, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels + face);
    glTextureImage2DEXT(t[4], GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    note("is texture %d", glIsTexture(t[4]));
    errors("images");
    glTextureSubImage1DEXT(t[0], GL_TEXTURE_1D, 0, 3, 5, GL_RGBA, GL_UNSIGNED_BYTE, pixels + 100);
    glTextureSubImage2DEXT(t[1], GL_TEXTURE_2D, 0, 3, 2, 5, 4, GL_BGRA, GL_UNSIGNED_BYTE, pixels + 100);
    glTextureSubImage3DEXT(t[2], GL_TEXTURE_3D, 0, 1, 1, 1, 2, 2, 2, GL_RGBA, GL_UNSIGNED_BYTE, pixels + 100);
    glTextureSubImage2DEXT(t[3], GL_TEXTURE_CUBE_MAP_NEGATIVE_Y, 0, 1, 1, 2, 2, GL_RGBA, GL_UNSIGNED_BYTE, pixels + 100);
    glGenerateTextureMipmapEXT(t[1], GL_TEXTURE_2D);
    errors("parts");
    image_of("1D", t[0], GL_TEXTURE_1D, 0);
    image_of("2D", t[1], GL_TEXTURE_2D, 0);
    image_of("2D", t[1], GL_TEXTURE_2D, 2);
    image_of("3D", t[2], GL_TEXTURE_3D, 0);
    image_of("face", t[3], GL_TEXTURE_CUBE_MAP_NEGATIVE_Y, 0);
    level_of("1D", t[0], GL_TEXTURE_1D, 0);
    level_of("2D", t[1], GL_TEXTURE_2D, 1);
    level_of("3D", t[2], GL_TEXTURE_3D, 0);
    level_of("face", t[3], GL_TEXTURE_CUBE_MAP_NEGATIVE_Y, 0);
    glTextureParameteriEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTextureParameterfEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_MAX_LOD, 2.5f);
    glTextureParameterfvEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, (const GLfloat[]){0.25f, 0.5f, 0.75f, 1});
    glTextureParameterivEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_RGBA, (const GLint[]){GL_RED, GL_ONE, GL_ZERO, GL_BLUE});
    GLint value[4] = {0};
    GLfloat real[4] = {0};
    glGetTextureParameterivEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, value);
    note("filter %04x", value[0]);
    glGetTextureParameterfvEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, real);
    note_floats("border", real, 4);
    glGetTextureParameterivEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_RGBA, value);
    note_ints("swizzle", value, 4);
    glTextureParameterIivEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, (const GLint[]){1, -2, 3, -4});
    glGetTextureParameterIivEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, value);
    note_ints("border", value, 4);
    glBindTexture(GL_TEXTURE_2D, t[1]);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, value);
    note("bound filter %04x", value[0]);
    errors("parameters");
    /* Here, 0 is the name of the default texture. */
    glTextureImage2DEXT(0, GL_TEXTURE_2D, 0, GL_RGBA8, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureParameteriEXT(0, GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    image_of("default", 0, GL_TEXTURE_2D, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, value);
    note("default filter %04x", value[0]);
    /* Storage, and the calls that it forbids. */
    GLuint stored;
    glGenTextures(1, &stored);
    glTextureStorage2DEXT(stored, GL_TEXTURE_2D, 2, GL_RGBA8, 8, 8);
    glTextureImage2DEXT(stored, GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("an image of a texture with storage");
    /* Errors. */
    glTextureImage2DEXT(t[0], GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("another target");
    glTextureImage2DEXT(t[1], GL_RED, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("no target");
    glTextureImage2DEXT(t[1], GL_TEXTURE_2D, 0, GL_RGBA8, -4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("negative width");
    glTextureImage2DEXT(t[1], GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_RGBA, pixels);
    errors("no type");
    glTextureSubImage2DEXT(t[1], GL_TEXTURE_2D, 0, 14, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("beyond");
    glTextureParameteriEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_RED);
    errors("red");
    glTextureParameteriEXT(t[1], GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    errors("parameter of another target");
    glGetTextureParameterivEXT(t[1], GL_TEXTURE_2D, GL_RED, value);
    errors("get of red");
    glGetTextureLevelParameterivEXT(t[1], GL_TEXTURE_2D, -1, GL_TEXTURE_WIDTH, value);
    errors("level -1");
    glGetTextureImageEXT(t[1], GL_TEXTURE_2D, 30, GL_RGBA, GL_UNSIGNED_BYTE, back);
    errors("level 30");
    glGetTextureImageEXT(t[1], GL_TEXTURE_2D, 0, GL_RGBA, GL_RGBA, back);
    errors("image of no type");
    glGetTextureImageEXT(t[1], GL_TEXTURE_3D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
    errors("image of another target");
    glBegin(GL_POINTS);
    glTextureImage2DEXT(t[1], GL_TEXTURE_2D, 0, GL_RGBA8, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureParameteriEXT(t[1], GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glEnd();
    errors("between glBegin and glEnd");
    level_of("unchanged", t[1], GL_TEXTURE_2D, 0);
    /* Names that were used are not generated again, and keep their target. */
    GLuint next[2];
    glGenTextures(2, next);
    note("others %d", next[0] != t[4] && next[1] != t[4]);
    glBindTexture(GL_TEXTURE_3D, t[4]);
    errors("bound to another target");
    BOUND(GL_TEXTURE_BINDING_3D, 0);
}

static void compressed(void)
{
    no_picture();
    if (!start() || !need_extension("GL_EXT_texture_compression_s3tc"))
        return;
    GLuint t;
    glGenTextures(1, &t);
    glCompressedTextureImage2DEXT(t, GL_TEXTURE_2D, 0, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 16, 8, 0, 128, pixels);
    glCompressedTextureSubImage2DEXT(t, GL_TEXTURE_2D, 0, 4, 4, 8, 4, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 32, pixels + 200);
    memset(back, 0x77, 256);
    glGetCompressedTextureImageEXT(t, GL_TEXTURE_2D, 0, back);
    note_bytes("by name", back, 256);
    errors("by name");
    glActiveTexture(GL_TEXTURE2);
    glBindTexture(GL_TEXTURE_2D, t);
    glActiveTexture(GL_TEXTURE0);
    glCompressedMultiTexSubImage2DEXT(GL_TEXTURE2, GL_TEXTURE_2D, 0, 0, 0, 4, 4, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 16, pixels + 50);
    memset(back, 0x77, 256);
    glGetCompressedMultiTexImageEXT(GL_TEXTURE2, GL_TEXTURE_2D, 0, back);
    note_bytes("by unit", back, 256);
    errors("by unit");
    glCompressedMultiTexImage2DEXT(GL_TEXTURE2, GL_TEXTURE_2D, 1, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 8, 4, 0, 31, pixels);
    errors("one byte less");
    glGetCompressedTextureImageEXT(t, GL_TEXTURE_2D, 3, back);
    errors("no such level");
}

static void units(void)
{
    if (!start())
        return;
    GLuint t[3];
    GLint value = -7;
    GLfloat real[4] = {0};
    GLdouble wide[4] = {0};
    static unsigned char board[64 * 64 * 4];
    checkerboard(board, 64, 64, 8);
    glGenTextures(3, t);
    glBindMultiTextureEXT(GL_TEXTURE1, GL_TEXTURE_2D, t[0]);
    glBindMultiTextureEXT(GL_TEXTURE0, GL_TEXTURE_2D, t[1]);
    BOUND(GL_TEXTURE_BINDING_2D, t[1]);
    INTS(GL_ACTIVE_TEXTURE, 1);
    glMultiTexImage2DEXT(GL_TEXTURE1, GL_TEXTURE_2D, 0, GL_RGBA8, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, board);
    glMultiTexImage2DEXT(GL_TEXTURE0, GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glMultiTexSubImage2DEXT(GL_TEXTURE1, GL_TEXTURE_2D, 0, 8, 8, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glMultiTexParameteriEXT(GL_TEXTURE1, GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glMultiTexParameterfEXT(GL_TEXTURE0, GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glMultiTexParameterivEXT(GL_TEXTURE1, GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, (const GLint[]){GL_CLAMP_TO_EDGE});
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, &value);
    note("filter of 0 %04x", value);
    glGetMultiTexParameterivEXT(GL_TEXTURE1, GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, &value);
    note("wrap of 1 %04x", value);
    glGetMultiTexLevelParameterivEXT(GL_TEXTURE1, GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &value);
    note("width of 1 %d", value);
    memset(back, 0x77, sizeof back);
    glGetMultiTexImageEXT(GL_TEXTURE1, GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
    note_bytes("image of 1", back, sizeof back);
    errors("units");
    glMultiTexEnviEXT(GL_TEXTURE1, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_DECAL);
    glMultiTexEnvfEXT(GL_TEXTURE0, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_BLEND);
    glMultiTexEnvfvEXT(GL_TEXTURE0, GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR, (const GLfloat[]){0.5f, 0.25f, 0, 1});
    glGetTexEnviv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, &value);
    note("mode of 0 %04x", value);
    glGetMultiTexEnvivEXT(GL_TEXTURE1, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, &value);
    note("mode of 1 %04x", value);
    glGetMultiTexEnvfvEXT(GL_TEXTURE0, GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR, real);
    note_floats("color of 0", real, 4);
    glMultiTexGeniEXT(GL_TEXTURE1, GL_S, GL_TEXTURE_GEN_MODE, GL_OBJECT_LINEAR);
    glMultiTexGeniEXT(GL_TEXTURE1, GL_T, GL_TEXTURE_GEN_MODE, GL_OBJECT_LINEAR);
    glMultiTexGenfvEXT(GL_TEXTURE1, GL_S, GL_OBJECT_PLANE, (const GLfloat[]){0.5f, 0.25f, 0, 0.5f});
    glMultiTexGendvEXT(GL_TEXTURE1, GL_T, GL_OBJECT_PLANE, (const GLdouble[]){-0.25, 0.5, 0, 0.5});
    glGetMultiTexGenivEXT(GL_TEXTURE1, GL_S, GL_TEXTURE_GEN_MODE, &value);
    glGetMultiTexGenfvEXT(GL_TEXTURE1, GL_S, GL_OBJECT_PLANE, real);
    glGetMultiTexGendvEXT(GL_TEXTURE1, GL_T, GL_OBJECT_PLANE, wide);
    note("gen %04x, %.2f %.2f", value, real[1], wide[0]);
    errors("environment");
    glActiveTexture(GL_TEXTURE1);
    glGetTexEnviv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, &value);
    note("mode of 1 %04x", value);
    glGetTexGeniv(GL_S, GL_TEXTURE_GEN_MODE, &value);
    note("gen of 1 %04x", value);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, &value);
    note("filter of 1 %04x", value);
    BOUND(GL_TEXTURE_BINDING_2D, t[0]);
    glActiveTexture(GL_TEXTURE0);
    glEnableIndexedEXT(GL_TEXTURE_2D, 1);
    glEnableIndexedEXT(GL_TEXTURE_GEN_S, 1);
    glEnableIndexedEXT(GL_TEXTURE_GEN_T, 1);
    note("enabled %d %d, 0: %d", glIsEnabledIndexedEXT(GL_TEXTURE_2D, 1), glIsEnabledIndexedEXT(GL_TEXTURE_GEN_S, 1), glIsEnabled(GL_TEXTURE_2D));
    glGetIntegerIndexedvEXT(GL_TEXTURE_BINDING_2D, 1, &value);
    note("bound to 1: %d", value == (GLint)t[0]);
    errors("indexed");
    cell(0, 0, 2, 1);
    square(0.9f);
    glEnable(GL_TEXTURE_2D);
    cell(1, 0, 2, 1);
    square(0.9f);
    errors("drawn");
    glCopyMultiTexImage2DEXT(GL_TEXTURE1, GL_TEXTURE_2D, 0, GL_RGBA8, 0, 0, 32, 32, 0);
    glCopyMultiTexSubImage2DEXT(GL_TEXTURE1, GL_TEXTURE_2D, 0, 0, 0, 100, 100, 8, 8);
    glCopyTextureImage2DEXT(t[2], GL_TEXTURE_2D, 0, GL_RGBA8, 0, 0, 16, 16, 0);
    glCopyTextureSubImage2DEXT(t[2], GL_TEXTURE_2D, 0, 0, 0, 90, 90, 8, 8);
    glGenerateMultiTexMipmapEXT(GL_TEXTURE1, GL_TEXTURE_2D);
    image_of("copied to 1", t[0], GL_TEXTURE_2D, 1);
    image_of("copied by name", t[2], GL_TEXTURE_2D, 0);
    errors("copied");
    glMultiTexEnviEXT(GL_TEXTURE0 + 1000, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_DECAL);
    errors("environment of 1000");
    glMultiTexParameteriEXT(GL_TEXTURE0 + 1000, GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    errors("parameter of 1000");
    glBindMultiTextureEXT(GL_TEXTURE0 + 1000, GL_TEXTURE_2D, t[0]);
    errors("bound to 1000");
    glBindMultiTextureEXT(GL_TEXTURE0, GL_TEXTURE_3D, t[0]);
    errors("bound to another target");
    glMultiTexImage2DEXT(GL_TEXTURE0, GL_TEXTURE_3D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("an image of another target");
    glGetMultiTexImageEXT(GL_TEXTURE1, GL_TEXTURE_2D, -1, GL_RGBA, GL_UNSIGNED_BYTE, back);
    errors("level -1");
    /* In a list, the commands keep their unit. */
    GLuint list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    glMultiTexEnviEXT(GL_TEXTURE1, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_ADD);
    glBindMultiTextureEXT(GL_TEXTURE1, GL_TEXTURE_2D, t[2]);
    glMultiTexParameteriEXT(GL_TEXTURE1, GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glMatrixTranslatefEXT(GL_TEXTURE, 1, 2, 3);
    glTextureParameteriEXT(t[0], GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glEndList();
    glGetMultiTexEnvivEXT(GL_TEXTURE1, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, &value);
    note("mode of 1 %04x", value);
    glCallList(list);
    glGetMultiTexEnvivEXT(GL_TEXTURE1, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, &value);
    note("mode of 1 %04x", value);
    glActiveTexture(GL_TEXTURE1);
    glGetTexEnviv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, &value);
    note("mode of 1 %04x", value);
    BOUND(GL_TEXTURE_BINDING_2D, t[2]);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, &value);
    note("filter of 1 %04x", value);
    FLOATS(GL_TEXTURE_MATRIX, 16);
    glBindTexture(GL_TEXTURE_2D, t[0]);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, &value);
    note("filter by name %04x", value);
    errors("list");
}

static void indexed(void)
{
    static const GLenum names[] = {GL_TEXTURE_MATRIX, GL_TRANSPOSE_TEXTURE_MATRIX, GL_TEXTURE_STACK_DEPTH, GL_CURRENT_TEXTURE_COORDS, GL_TEXTURE_GEN_S,
                                   GL_TEXTURE_2D,     GL_TEXTURE_COORD_ARRAY,      GL_TEXTURE_LOD_BIAS,    GL_TEXTURE_BINDING_3D};
    static const GLenum bindings[] = {GL_TEXTURE_BINDING_1D, GL_TEXTURE_BINDING_2D, GL_TEXTURE_BINDING_RECTANGLE, GL_SAMPLER_BINDING};
    no_picture();
    if (!start())
        return;
    GLuint t[4];
    glGenTextures(3, t);
    glGenSamplers(1, t + 3);
    glBindMultiTextureEXT(GL_TEXTURE1, GL_TEXTURE_1D, t[0]);
    glBindMultiTextureEXT(GL_TEXTURE1, GL_TEXTURE_2D, t[1]);
    glBindMultiTextureEXT(GL_TEXTURE1, GL_TEXTURE_RECTANGLE, t[2]);
    glBindSampler(1, t[3]);
    for (int i = 0; i < 4; i++) {
        GLint whole = -7;
        GLfloat real = -7;
        GLdouble wide = -7;
        GLboolean some = 77;
        glGetIntegerIndexedvEXT(bindings[i], 1, &whole);
        glGetFloatIndexedvEXT(bindings[i], 1, &real);
        glGetDoubleIndexedvEXT(bindings[i], 1, &wide);
        glGetBooleanIndexedvEXT(bindings[i], 1, &some);
        note("%04x: %d %d %d %d", bindings[i], whole == (GLint)t[i], real == (GLfloat)t[i], wide == (GLdouble)t[i], some);
    }
    errors("bindings");
    glMatrixTranslatefEXT(GL_TEXTURE1, 1, 2, 3);
    glEnableIndexedEXT(GL_TEXTURE_GEN_S, 1);
    glEnableClientStateiEXT(GL_TEXTURE_COORD_ARRAY, 1);
    for (int i = 0; i < 9; i++) {
        GLint whole[17];
        GLfloat real[17];
        for (int n = 0; n < 17; n++) {
            whole[n] = -7;
            real[n] = -7;
        }
        note("%04x", names[i]);
        glGetIntegerIndexedvEXT(names[i], 1, whole);
        note_ints("whole", whole, 17);
        errors("whole");
        glGetFloatIndexedvEXT(names[i], 1, real);
        note_floats("real", real, 17);
        errors("real");
        note("enabled %d", glIsEnabledIndexedEXT(names[i], 1));
        errors("enabled");
    }
    glDisableIndexedEXT(GL_TEXTURE_GEN_S, 1);
    note("enabled %d", glIsEnabledIndexedEXT(GL_TEXTURE_GEN_S, 1));
    glEnableIndexedEXT(GL_TEXTURE_2D, 1000);
    errors("unit 1000");
    glEnableIndexedEXT(GL_LIGHTING, 0);
    errors("lighting");
}

static void matrices(void)
{
    no_picture();
    if (!start())
        return;
    const GLfloat m[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const GLdouble d[16] = {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 3, 0, 0, 1};
    glMatrixLoadfEXT(GL_PROJECTION, m);
    FLOATS(GL_PROJECTION_MATRIX, 16);
    glMatrixMultdEXT(GL_PROJECTION, d);
    FLOATS(GL_PROJECTION_MATRIX, 16);
    glMatrixPushEXT(GL_MODELVIEW);
    glMatrixTranslatefEXT(GL_MODELVIEW, 1, 2, 3);
    glMatrixScaledEXT(GL_MODELVIEW, 2, 2, 2);
    glMatrixRotatefEXT(GL_MODELVIEW, 90, 0, 0, 1);
    FLOATS(GL_MODELVIEW_MATRIX, 16);
    INTS(GL_MODELVIEW_STACK_DEPTH, 1);
    glMatrixPopEXT(GL_MODELVIEW);
    FLOATS(GL_MODELVIEW_MATRIX, 16);
    glMatrixLoadTransposefEXT(GL_TEXTURE1, m);
    glMatrixMultTransposedEXT(GL_TEXTURE1, d);
    glActiveTexture(GL_TEXTURE1);
    FLOATS(GL_TEXTURE_MATRIX, 16);
    glActiveTexture(GL_TEXTURE0);
    FLOATS(GL_TEXTURE_MATRIX, 16);
    glMatrixOrthoEXT(GL_PROJECTION, 0, 2, 0, 4, -1, 1);
    glMatrixLoadIdentityEXT(GL_MODELVIEW);
    glMatrixFrustumEXT(GL_MODELVIEW, -1, 1, -1, 1, 1, 10);
    FLOATS(GL_PROJECTION_MATRIX, 16);
    FLOATS(GL_MODELVIEW_MATRIX, 16);
    INTS(GL_MATRIX_MODE, 1);
    errors("matrices");
    glMatrixPopEXT(GL_PROJECTION);
    errors("too many pops");
    glMatrixLoadIdentityEXT(GL_RED);
    errors("no mode");
    glMatrixFrustumEXT(GL_MODELVIEW, -1, 1, -1, 1, 0, 10);
    errors("near 0");
    glMatrixLoadIdentityEXT(GL_TEXTURE0 + 200);
    errors("unit 200");
}

static void buffers(void)
{
    no_picture();
    if (!start())
        return;
    GLuint b[3];
    unsigned char bytes[64] = {0};
    GLint value = -7;
    glGenBuffers(2, b);
    b[2] = 6000;
    note("is buffer %d", glIsBuffer(b[0]));
    glNamedBufferDataEXT(b[0], 32, "0123456789abcdef0123456789ABCDEF", GL_STATIC_DRAW);
    note("is buffer %d", glIsBuffer(b[0]));
    glNamedBufferDataEXT(b[2], 32, NULL, GL_STATIC_DRAW);
    glNamedBufferSubDataEXT(b[0], 4, 4, "HERE");
    glNamedCopyBufferSubDataEXT(b[0], b[2], 0, 8, 16);
    glClearNamedBufferSubDataEXT(b[2], GL_R8, 0, 8, GL_RED, GL_UNSIGNED_BYTE, "z");
    glGetNamedBufferSubDataEXT(b[0], 0, 32, bytes);
    note_bytes("first", bytes, 32);
    glGetNamedBufferSubDataEXT(b[2], 0, 24, bytes);
    note_bytes("third", bytes, 24);
    glGetNamedBufferParameterivEXT(b[2], GL_BUFFER_SIZE, &value);
    note("size %d", value);
    unsigned char *mapped = glMapNamedBufferEXT(b[0], GL_READ_WRITE);
    if (mapped)
        mapped[0] = '!';
    void *pointer = NULL;
    glGetNamedBufferPointervEXT(b[0], GL_BUFFER_MAP_POINTER, &pointer);
    note("pointer %d", pointer == mapped);
    note("unmapped %d", glUnmapNamedBufferEXT(b[0]));
    mapped = glMapNamedBufferRangeEXT(b[0], 8, 8, GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
    if (mapped)
        memset(mapped, 'M', 8);
    glFlushMappedNamedBufferRangeEXT(b[0], 2, 3);
    glUnmapNamedBufferEXT(b[0]);
    glGetNamedBufferSubDataEXT(b[0], 0, 13, bytes);
    note_bytes("first", bytes, 13);
    errors("buffers");
    glGetNamedBufferParameterivEXT(b[1], GL_BUFFER_SIZE, &value);
    note("size %d, is buffer %d", value, glIsBuffer(b[1]));
    errors("made by a get");
    glNamedBufferDataEXT(0, 4, bytes, GL_STATIC_DRAW);
    errors("0");
    glNamedBufferSubDataEXT(0, 0, 4, bytes);
    errors("0");
    note("mapped %d", glMapNamedBufferEXT(0, GL_READ_ONLY) != NULL);
    errors("0");
    note("unmapped %d", glUnmapNamedBufferEXT(7000));
    errors("no name");
    glNamedBufferSubDataEXT(b[0], 30, 4, bytes);
    errors("beyond");
    GLuint text;
    glGenTextures(1, &text);
    glTextureBufferEXT(text, GL_TEXTURE_BUFFER, GL_RGBA8, b[0]);
    glGetTextureLevelParameterivEXT(text, GL_TEXTURE_BUFFER, 0, GL_TEXTURE_BUFFER_DATA_STORE_BINDING, &value);
    note("its buffer %d", value == (GLint)b[0]);
    glBindMultiTextureEXT(GL_TEXTURE3, GL_TEXTURE_BUFFER, text);
    glMultiTexBufferEXT(GL_TEXTURE3, GL_TEXTURE_BUFFER, GL_R32F, b[2]);
    glGetTextureLevelParameterivEXT(text, GL_TEXTURE_BUFFER, 0, GL_TEXTURE_BUFFER_DATA_STORE_BINDING, &value);
    note("its buffer %d", value == (GLint)b[2]);
    errors("textures on buffers");
}

static void framebuffers(void)
{
    no_picture();
    if (!start())
        return;
    GLuint f[2], r, t[3];
    GLint value = -7;
    glGenFramebuffers(1, f);
    f[1] = 8000;
    glGenRenderbuffers(1, &r);
    glGenTextures(3, t);
    glTextureImage2DEXT(t[0], GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTextureImage3DEXT(t[1], GL_TEXTURE_3D, 0, GL_RGBA8, 16, 16, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTextureImage1DEXT(t[2], GL_TEXTURE_1D, 0, GL_RGBA8, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glNamedRenderbufferStorageEXT(r, GL_DEPTH_COMPONENT24, 16, 16);
    glGetNamedRenderbufferParameterivEXT(r, GL_RENDERBUFFER_WIDTH, &value);
    note("is renderbuffer %d, width %d", glIsRenderbuffer(r), value);
    glNamedFramebufferTexture2DEXT(f[0], GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t[0], 0);
    glNamedFramebufferRenderbufferEXT(f[0], GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, r);
    note("is framebuffer %d, status %04x", glIsFramebuffer(f[0]), glCheckNamedFramebufferStatusEXT(f[0], GL_FRAMEBUFFER));
    glNamedFramebufferTexture3DEXT(f[1], GL_COLOR_ATTACHMENT0, GL_TEXTURE_3D, t[1], 0, 2);
    glNamedFramebufferTexture1DEXT(f[1], GL_COLOR_ATTACHMENT1, GL_TEXTURE_1D, t[2], 0);
    note("is framebuffer %d", glIsFramebuffer(f[1]));
    glGetNamedFramebufferAttachmentParameterivEXT(f[0], GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &value);
    note("its texture %d", value == (GLint)t[0]);
    glGetNamedFramebufferAttachmentParameterivEXT(f[1], GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_3D_ZOFFSET_EXT, &value);
    note("its layer %d", value);
    errors("attached");
    glFramebufferDrawBufferEXT(f[0], GL_NONE);
    glFramebufferReadBufferEXT(f[0], GL_COLOR_ATTACHMENT1);
    glFramebufferDrawBuffersEXT(f[1], 2, (const GLenum[]){GL_COLOR_ATTACHMENT1, GL_COLOR_ATTACHMENT0});
    glGetFramebufferParameterivEXT(f[0], GL_DRAW_BUFFER, &value);
    note("draw buffer %04x", value);
    glGetFramebufferParameterivEXT(f[1], GL_DRAW_BUFFER1, &value);
    note("draw buffer %04x", value);
    glGetFramebufferParameterivEXT(f[0], GL_READ_BUFFER, &value);
    note("read buffer %04x", value);
    glBindFramebuffer(GL_FRAMEBUFFER, f[1]);
    INTS(GL_DRAW_BUFFER0, 1);
    INTS(GL_DRAW_BUFFER1, 1);
    glBindFramebuffer(GL_FRAMEBUFFER, f[0]);
    INTS(GL_DRAW_BUFFER0, 1);
    INTS(GL_READ_BUFFER, 1);
    glNamedFramebufferParameteriEXT(f[0], GL_FRAMEBUFFER_DEFAULT_WIDTH, 20);
    glGetNamedFramebufferParameterivEXT(f[0], GL_FRAMEBUFFER_DEFAULT_WIDTH, &value);
    note("width %d", value);
    errors("parameters");
    note("default status %04x", glCheckNamedFramebufferStatusEXT(0, GL_FRAMEBUFFER));
    errors("default");
    glNamedFramebufferTexture2DEXT(0, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t[0], 0);
    errors("attached to the default one");
    glNamedFramebufferTexture2DEXT(f[0], GL_COLOR_ATTACHMENT0, GL_TEXTURE_3D, t[0], 0);
    errors("another target");
    glNamedFramebufferTexture2DEXT(f[0], GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 9000, 0);
    errors("no texture");
    glNamedFramebufferRenderbufferEXT(f[0], GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, 9000);
    errors("no renderbuffer");
    glNamedRenderbufferStorageEXT(r, GL_RED, 16, 16);
    errors("no format");
    glFramebufferDrawBufferEXT(f[0], GL_BACK);
    errors("back");
}

static void arrays_of(const char *what, GLuint array)
{
    static const GLenum names[] = {GL_VERTEX_ARRAY,      GL_VERTEX_ARRAY_SIZE,     GL_VERTEX_ARRAY_TYPE, GL_VERTEX_ARRAY_STRIDE, GL_COLOR_ARRAY,
                                   GL_COLOR_ARRAY_SIZE,  GL_TEXTURE_COORD_ARRAY,   GL_NORMAL_ARRAY_TYPE, GL_FOG_COORD_ARRAY,     GL_EDGE_FLAG_ARRAY_STRIDE,
                                   GL_CLIENT_ACTIVE_TEXTURE, GL_SECONDARY_COLOR_ARRAY_SIZE};
    GLint values[12];
    for (int i = 0; i < 12; i++) {
        values[i] = -7;
        glGetVertexArrayIntegervEXT(array, names[i], &values[i]);
    }
    note_ints(what, values, 12);
    errors(what);
}

static void vertex_arrays(void)
{
    if (!start())
        return;
    GLuint array, other, buffer;
    GLint value = -7;
    void *pointer = NULL;
    struct {
        GLfloat place[2];
        GLubyte color[4];
    } corners[4] = {{{-0.8f, -0.8f}, {255, 0, 0, 255}}, {{0.8f, -0.8f}, {0, 255, 0, 255}}, {{-0.8f, 0.8f}, {0, 0, 255, 255}}, {{0.8f, 0.8f}, {255, 255, 0, 255}}};
    glGenVertexArrays(1, &array);
    glGenVertexArrays(1, &other);
    glGenBuffers(1, &buffer);
    glNamedBufferDataEXT(buffer, sizeof corners, corners, GL_STATIC_DRAW);
    glVertexArrayVertexOffsetEXT(array, buffer, 2, GL_FLOAT, sizeof corners[0], 0);
    note("is array %d", glIsVertexArray(array));
    glVertexArrayColorOffsetEXT(array, buffer, 4, GL_UNSIGNED_BYTE, sizeof corners[0], 8);
    glVertexArrayNormalOffsetEXT(array, buffer, GL_BYTE, 12, 8);
    glVertexArraySecondaryColorOffsetEXT(array, buffer, 3, GL_UNSIGNED_BYTE, 12, 8);
    glVertexArrayFogCoordOffsetEXT(array, buffer, GL_FLOAT, 12, 0);
    glVertexArrayEdgeFlagOffsetEXT(array, buffer, 12, 8);
    glVertexArrayIndexOffsetEXT(array, buffer, GL_FLOAT, 12, 0);
    glVertexArrayTexCoordOffsetEXT(array, buffer, 2, GL_FLOAT, 12, 0);
    glVertexArrayMultiTexCoordOffsetEXT(array, buffer, GL_TEXTURE2, 2, GL_FLOAT, 12, 4);
    glVertexArrayVertexAttribOffsetEXT(array, buffer, 5, 2, GL_FLOAT, GL_FALSE, 12, 4);
    glVertexArrayVertexAttribIOffsetEXT(array, buffer, 6, 4, GL_UNSIGNED_BYTE, 12, 8);
    glEnableVertexArrayEXT(array, GL_VERTEX_ARRAY);
    glEnableVertexArrayEXT(array, GL_COLOR_ARRAY);
    glEnableVertexArrayEXT(array, GL_TEXTURE2);
    glEnableVertexArrayAttribEXT(array, 5);
    glVertexArrayVertexAttribDivisorEXT(array, 5, 2);
    arrays_of("set", array);
    arrays_of("other", other);
    glGetVertexArrayIntegeri_vEXT(array, 2, GL_TEXTURE_COORD_ARRAY, &value);
    note("unit 2 %d", value);
    glGetVertexArrayIntegeri_vEXT(array, 2, GL_TEXTURE_COORD_ARRAY_BUFFER_BINDING, &value);
    note("its buffer %d", value == (GLint)buffer);
    glGetVertexArrayIntegeri_vEXT(array, 5, GL_VERTEX_ATTRIB_ARRAY_DIVISOR, &value);
    note("divisor %d", value);
    glGetVertexArrayIntegeri_vEXT(array, 6, GL_VERTEX_ATTRIB_ARRAY_INTEGER, &value);
    note("integer %d", value);
    glGetVertexArrayPointervEXT(array, GL_COLOR_ARRAY_POINTER, &pointer);
    note("offset %d", (int)(uintptr_t)pointer);
    glGetVertexArrayPointeri_vEXT(array, 5, GL_VERTEX_ATTRIB_ARRAY_POINTER, &pointer);
    note("offset %d", (int)(uintptr_t)pointer);
    glGetVertexArrayPointeri_vEXT(array, 2, GL_TEXTURE_COORD_ARRAY_POINTER, &pointer);
    note("offset %d", (int)(uintptr_t)pointer);
    BOUND(GL_VERTEX_ARRAY_BINDING, 0);
    BOUND(GL_ARRAY_BUFFER_BINDING, 0);
    INTS(GL_CLIENT_ACTIVE_TEXTURE, 1);
    errors("gets");
    glDisableVertexArrayAttribEXT(array, 5);
    glDisableVertexArrayEXT(array, GL_TEXTURE2);
    glBindVertexArray(array);
    cell(0, 0, 2, 1);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(0);
    errors("drawn");
    glVertexArrayBindVertexBufferEXT(array, 3, buffer, 0, 12);
    glVertexArrayVertexAttribFormatEXT(array, 0, 2, GL_FLOAT, GL_FALSE, 0);
    glVertexArrayVertexAttribBindingEXT(array, 0, 3);
    glVertexArrayVertexAttribIFormatEXT(array, 1, 4, GL_UNSIGNED_BYTE, 8);
    glVertexArrayVertexAttribLFormatEXT(array, 2, 1, GL_DOUBLE, 0);
    glVertexArrayVertexBindingDivisorEXT(array, 3, 0);
    glDisableVertexArrayEXT(array, GL_VERTEX_ARRAY);
    glEnableVertexArrayAttribEXT(array, 0);
    glBindVertexArray(array);
    cell(1, 0, 2, 1);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glBindVertexArray(0);
    errors("drawn with formats");
    glEnableVertexArrayEXT(0, GL_VERTEX_ARRAY);
    errors("0");
    glVertexArrayVertexOffsetEXT(4000, buffer, 2, GL_FLOAT, 0, 0);
    errors("no name");
    glVertexArrayVertexOffsetEXT(array, buffer, 2, GL_FLOAT, 0, -1);
    errors("negative offset");
    glVertexArrayVertexOffsetEXT(array, buffer, 5, GL_FLOAT, 0, 0);
    errors("five components");
    glVertexArrayVertexOffsetEXT(array, buffer, 2, GL_UNSIGNED_BYTE, 0, 0);
    errors("bytes");
    glVertexArrayVertexOffsetEXT(array, 0, 2, GL_FLOAT, 0, 8);
    errors("memory");
    glEnableVertexArrayEXT(array, GL_RED);
    errors("red");
    glEnableVertexArrayAttribEXT(array, 16);
    errors("attribute 16");
    glGetVertexArrayIntegervEXT(array, GL_RED, &value);
    errors("get of red");
    glGetVertexArrayPointervEXT(array, GL_RED, &pointer);
    errors("pointer of red");
}

static void client_state(void)
{
    no_picture();
    if (!start())
        return;
    GLuint buffer;
    void *pointer = NULL;
    static GLfloat memory[16];
    glGenBuffers(1, &buffer);
    glEnableClientStateiEXT(GL_TEXTURE_COORD_ARRAY, 2);
    glMultiTexCoordPointerEXT(GL_TEXTURE2, 3, GL_FLOAT, 16, memory);
    glClientActiveTexture(GL_TEXTURE2);
    ENABLED(GL_TEXTURE_COORD_ARRAY);
    INTS(GL_TEXTURE_COORD_ARRAY_SIZE, 1);
    INTS(GL_TEXTURE_COORD_ARRAY_STRIDE, 1);
    glGetPointerIndexedvEXT(GL_TEXTURE_COORD_ARRAY_POINTER, 2, &pointer);
    note("pointer %d", pointer == memory);
    glClientActiveTexture(GL_TEXTURE1);
    ENABLED(GL_TEXTURE_COORD_ARRAY);
    glDisableClientStateIndexedEXT(GL_TEXTURE_COORD_ARRAY, 2);
    glEnableClientStateIndexedEXT(GL_TEXTURE_COORD_ARRAY, 1);
    ENABLED(GL_TEXTURE_COORD_ARRAY);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glVertexPointer(2, GL_SHORT, 8, NULL);
    glEnableClientState(GL_VERTEX_ARRAY);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 7);
    errors("set");
    glPushClientAttribDefaultEXT(GL_CLIENT_VERTEX_ARRAY_BIT | GL_CLIENT_PIXEL_STORE_BIT);
    errors("pushed");
    ENABLED(GL_VERTEX_ARRAY);
    INTS(GL_VERTEX_ARRAY_SIZE, 1);
    INTS(GL_VERTEX_ARRAY_TYPE, 1);
    INTS(GL_VERTEX_ARRAY_STRIDE, 1);
    INTS(GL_SECONDARY_COLOR_ARRAY_SIZE, 1);
    INTS(GL_CLIENT_ACTIVE_TEXTURE, 1);
    INTS(GL_PACK_ALIGNMENT, 1);
    INTS(GL_UNPACK_ROW_LENGTH, 1);
    BOUND(GL_ARRAY_BUFFER_BINDING, 0);
    glPopClientAttrib();
    ENABLED(GL_VERTEX_ARRAY);
    INTS(GL_VERTEX_ARRAY_TYPE, 1);
    INTS(GL_CLIENT_ACTIVE_TEXTURE, 1);
    INTS(GL_PACK_ALIGNMENT, 1);
    INTS(GL_UNPACK_ROW_LENGTH, 1);
    BOUND(GL_ARRAY_BUFFER_BINDING, buffer);
    errors("popped");
    glClientAttribDefaultEXT(GL_CLIENT_PIXEL_STORE_BIT);
    INTS(GL_UNPACK_ROW_LENGTH, 1);
    ENABLED(GL_VERTEX_ARRAY);
    glClientAttribDefaultEXT(GL_CLIENT_VERTEX_ARRAY_BIT);
    ENABLED(GL_VERTEX_ARRAY);
    errors("defaults");
    glEnableClientStateiEXT(GL_VERTEX_ARRAY, 0);
    errors("another array");
    glEnableClientStateiEXT(GL_TEXTURE_COORD_ARRAY, 8);
    errors("unit 8");
    glGetPointerIndexedvEXT(GL_VERTEX_ARRAY_POINTER, 0, &pointer);
    errors("pointer of another array");
}

static const char vertex_text[] = "!!ARBvp1.0\n"
                                  "ADD result.position, vertex.position, program.local[3];\n"
                                  "MOV result.color, program.local[4];\n"
                                  "END\n";
static const char fragment_text[] = "!!ARBfp1.0\n"
                                    "MUL result.color, fragment.color, program.local[0];\n"
                                    "END\n";

static void name_string(GLuint program, GLenum target, const char *text)
{
    GLint position = -7;
    glNamedProgramStringEXT(program, target, GL_PROGRAM_FORMAT_ASCII_ARB, (GLsizei)strlen(text), text);
    glGetIntegerv(GL_PROGRAM_ERROR_POSITION_ARB, &position);
    note("error at %d: '%s'", position, (const char *)glGetString(GL_PROGRAM_ERROR_STRING_ARB));
    errors("string");
}

static void parameter_of(const char *what, GLuint program, GLenum target, GLuint index)
{
    GLfloat values[4] = {-7, -7, -7, -7};
    GLdouble wide[4] = {-7, -7, -7, -7};
    glGetNamedProgramLocalParameterfvEXT(program, target, index, values);
    glGetNamedProgramLocalParameterdvEXT(program, target, index, wide);
    note_floats(what, values, 4);
    note("%.17g %.17g %.17g %.17g", wide[0], wide[1], wide[2], wide[3]);
    errors(what);
}

static void programs(void)
{
    static const GLfloat many[8] = {0.25f, 0.5f, 0.75f, 1, 1, 0.5f, 0.25f, 1};
    static const GLenum values[] = {GL_PROGRAM_LENGTH_ARB, GL_PROGRAM_FORMAT_ARB, GL_PROGRAM_INSTRUCTIONS_ARB, GL_PROGRAM_PARAMETERS_ARB,
                                    GL_MAX_PROGRAM_LOCAL_PARAMETERS_ARB, GL_PROGRAM_UNDER_NATIVE_LIMITS_ARB};
    const GLenum v = GL_VERTEX_PROGRAM_ARB, f = GL_FRAGMENT_PROGRAM_ARB;
    if (!start())
        return;
    GLuint p[4];
    GLint value = -7;
    glGenProgramsARB(4, p);
    note("is program %d", glIsProgramARB(p[0]));
    name_string(p[0], v, vertex_text);
    note("is program %d", glIsProgramARB(p[0]));
    name_string(5000, f, fragment_text);
    note("is program %d", glIsProgramARB(5000));
    glGetProgramivARB(v, GL_PROGRAM_BINDING_ARB, &value);
    note("bound %d", value);
    /* The commands use the named program, whichever program is bound. */
    glBindProgramARB(v, p[1]);
    glNamedProgramLocalParameter4fEXT(p[0], v, 3, 0.25f, -0.125f, 0, 0);
    glNamedProgramLocalParameter4dvEXT(p[0], v, 4, (const GLdouble[]){1, 0.75, 0.5, 1});
    glNamedProgramLocalParameter4dEXT(p[0], v, 5, 1.0 / 3, 2, 1e30, -4);
    glNamedProgramLocalParameter4fvEXT(p[0], v, 6, many);
    glNamedProgramLocalParameters4fvEXT(5000, f, 0, 2, many);
    for (GLuint i = 2; i < 8; i++)
        parameter_of("vertex", p[0], v, i);
    parameter_of("fragment", 5000, f, 0);
    parameter_of("fragment", 5000, f, 1);
    parameter_of("the bound one", p[1], v, 3);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        GLint of[2] = {-7, -7};
        glGetNamedProgramivEXT(p[0], v, values[i], &of[0]);
        glGetNamedProgramivEXT(5000, f, values[i], &of[1]);
        note("%04x", values[i]);
        note_ints("is", of, 2);
    }
    /* The binding belongs to the context. */
    glGetNamedProgramivEXT(p[0], v, GL_PROGRAM_BINDING_ARB, &value);
    note("binding %d", value == (GLint)p[1]);
    memset(back, '.', 256);
    glGetNamedProgramStringEXT(p[0], v, GL_PROGRAM_STRING_ARB, back);
    note_bytes("text", back, 256);
    errors("gets");
    glBindProgramARB(v, p[0]);
    glBindProgramARB(f, 5000);
    glEnable(v);
    glEnable(f);
    square(0.5f);
    glNamedProgramLocalParameter4fEXT(p[0], v, 3, -0.25f, 0.25f, 0, 0);
    glNamedProgramLocalParameter4fEXT(5000, f, 0, 0.5f, 0.5f, 1, 1);
    square(0.5f);
    glGetProgramLocalParameterfvARB(v, 3, (GLfloat *)back);
    note_floats("bound", (GLfloat *)back, 4);
    errors("drawn");
    /* Gets and parameters also create programs, and 0 is the default program. */
    parameter_of("made", p[2], f, 0);
    note("is program %d", glIsProgramARB(p[2]));
    glGetNamedProgramivEXT(5001, v, GL_PROGRAM_LENGTH_ARB, &value);
    note("length %d, is program %d", value, glIsProgramARB(5001));
    back[0] = '!';
    glGetNamedProgramStringEXT(5002, f, GL_PROGRAM_STRING_ARB, back);
    note("is program %d", glIsProgramARB(5002));
    glNamedProgramLocalParameter4fEXT(0, f, 2, 1, 2, 3, 4);
    name_string(0, f, fragment_text);
    glBindProgramARB(f, 0);
    glGetProgramivARB(f, GL_PROGRAM_LENGTH_ARB, &value);
    note("length of the default one %d", value);
    parameter_of("the default one", 0, f, 2);
    errors("made");
    GLuint next[3];
    glGenProgramsARB(3, next);
    for (int i = 0; i < 3; i++)
        note("another %d", next[i] != 5000 && next[i] != 5001 && next[i] != 5002 && !glIsProgramARB(next[i]));
    /* In a list, most commands wait for the call. */
    GLuint list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    glNamedProgramLocalParameter4fEXT(next[0], v, 1, 1, 2, 3, 4);
    glNamedProgramLocalParameter4dvEXT(6000, v, 1, (const GLdouble[]){5, 6, 7, 8});
    glNamedProgramLocalParameters4fvEXT(6001, v, 1, 2, many);
    glNamedProgramStringEXT(next[1], v, GL_PROGRAM_FORMAT_ASCII_ARB, (GLsizei)strlen(vertex_text), vertex_text);
    glEndList();
    errors("compiled");
    note("are programs %d %d %d %d", glIsProgramARB(next[0]), glIsProgramARB(6000), glIsProgramARB(6001), glIsProgramARB(next[1]));
    glCallList(list);
    note("are programs %d %d %d %d", glIsProgramARB(next[0]), glIsProgramARB(6000), glIsProgramARB(6001), glIsProgramARB(next[1]));
    parameter_of("listed", next[0], v, 1);
    parameter_of("listed", 6000, v, 1);
    parameter_of("listed", 6001, v, 2);
    glGetNamedProgramivEXT(next[1], v, GL_PROGRAM_LENGTH_ARB, &value);
    note("length %d", value);
    errors("list");
    /* Errors. */
    name_string(p[0], v, "!!ARBvp1.0\nnonsense;\nEND\n");
    glNamedProgramStringEXT(p[3], v, GL_RGBA, 4, "abcd");
    errors("format");
    note("is program %d", glIsProgramARB(p[3]));
    name_string(p[0], f, fragment_text);
    glNamedProgramLocalParameter4fEXT(p[0], f, 0, 1, 2, 3, 4);
    errors("another target");
    parameter_of("another target", p[0], f, 0);
    glGetNamedProgramivEXT(p[0], f, GL_PROGRAM_LENGTH_ARB, &value);
    errors("length of another target");
    glGetNamedProgramStringEXT(p[0], f, GL_PROGRAM_STRING_ARB, back);
    errors("string of another target");
    glGetNamedProgramStringEXT(p[0], v, GL_PROGRAM_LENGTH_ARB, back);
    errors("string of an invalid name");
    glGetNamedProgramivEXT(p[0], v, GL_TEXTURE_2D, &value);
    errors("an invalid value");
    glNamedProgramLocalParameter4fEXT(p[0], v, 100000, 1, 2, 3, 4);
    errors("beyond");
    glNamedProgramLocalParameters4fvEXT(p[0], v, 4095, 2, many);
    errors("one beyond");
    parameter_of("beyond", p[0], v, 100000);
    glNamedProgramLocalParameters4fvEXT(p[0], v, 3, 0, many);
    errors("zero parameters");
    glBegin(GL_POINTS);
    glNamedProgramLocalParameter4fEXT(p[0], v, 3, 1, 2, 3, 4);
    glNamedProgramStringEXT(6002, v, GL_PROGRAM_FORMAT_ASCII_ARB, 4, "abcd");
    glEnd();
    errors("between glBegin and glEnd");
    note("is program %d", glIsProgramARB(6002));
    parameter_of("unchanged", p[0], v, 3);
    glDeleteProgramsARB(1, p);
    note("is program %d", glIsProgramARB(p[0]));
    name_string(p[0], f, fragment_text);
    note("is program %d", glIsProgramARB(p[0]));
}

CONFORM("ext_dsa", COMPAT, {"textures", textures}, {"compressed", compressed}, {"units", units}, {"indexed", indexed}, {"matrices", matrices}, {"buffers", buffers},
        {"framebuffers", framebuffers}, {"vertex_arrays", vertex_arrays}, {"client_state", client_state}, {"programs", programs})
