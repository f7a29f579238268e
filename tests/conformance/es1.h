/* OpenGL ES 1.1 for the programs that test it: a context, and the commands that desktop OpenGL
 * lacks. */
#ifndef CONFORM_ES1_H
#define CONFORM_ES1_H

#include "conform.h"
#include "egl.h"

enum {
    GL_POINT_SIZE_ARRAY_OES = 0x8B9C,
    GL_POINT_SIZE_ARRAY_TYPE_OES = 0x898A,
    GL_POINT_SIZE_ARRAY_STRIDE_OES = 0x898B,
    GL_POINT_SIZE_ARRAY_POINTER_OES = 0x898C,
    GL_POINT_SIZE_ARRAY_BUFFER_BINDING_OES = 0x8B9F,
    GL_TEXTURE_CROP_RECT_OES = 0x8B9D,
    GL_TEXTURE_GEN_STR_OES = 0x8D60,
};

/* Makes an OpenGL ES 1 context current with a pbuffer of SIZE x SIZE; logs "skip" and returns false if there is none. */
bool begin_es1(void);
/* Writes the picture, and destroys the objects that begin_es1() made. */
void end_es1(void);
/* The same, in desktop OpenGL with GL_NV_ES1_1_compatibility. */
bool begin_es1_on_desktop(void);

/* X for each command, with the command's name and the types of its arguments. */
#define ES1_COMMANDS(X)                                                                                                                               \
    X(AlphaFuncx, GLenum, GLfixed)                                                                                                                    \
    X(ClearColorx, GLfixed, GLfixed, GLfixed, GLfixed)                                                                                                \
    X(ClearDepthx, GLfixed)                                                                                                                           \
    X(ClipPlanex, GLenum, const GLfixed *)                                                                                                            \
    X(ClipPlanef, GLenum, const GLfloat *)                                                                                                            \
    X(Color4x, GLfixed, GLfixed, GLfixed, GLfixed)                                                                                                    \
    X(DepthRangex, GLfixed, GLfixed)                                                                                                                  \
    X(Fogx, GLenum, GLfixed)                                                                                                                          \
    X(Fogxv, GLenum, const GLfixed *)                                                                                                                 \
    X(Frustumx, GLfixed, GLfixed, GLfixed, GLfixed, GLfixed, GLfixed)                                                                                 \
    X(Frustumf, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat)                                                                                 \
    X(GetClipPlanex, GLenum, GLfixed *)                                                                                                               \
    X(GetClipPlanef, GLenum, GLfloat *)                                                                                                               \
    X(GetFixedv, GLenum, GLfixed *)                                                                                                                   \
    X(GetLightxv, GLenum, GLenum, GLfixed *)                                                                                                          \
    X(GetMaterialxv, GLenum, GLenum, GLfixed *)                                                                                                       \
    X(GetTexEnvxv, GLenum, GLenum, GLfixed *)                                                                                                         \
    X(GetTexParameterxv, GLenum, GLenum, GLfixed *)                                                                                                   \
    X(LightModelx, GLenum, GLfixed)                                                                                                                   \
    X(LightModelxv, GLenum, const GLfixed *)                                                                                                          \
    X(Lightx, GLenum, GLenum, GLfixed)                                                                                                                \
    X(Lightxv, GLenum, GLenum, const GLfixed *)                                                                                                       \
    X(LineWidthx, GLfixed)                                                                                                                            \
    X(LoadMatrixx, const GLfixed *)                                                                                                                   \
    X(Materialx, GLenum, GLenum, GLfixed)                                                                                                             \
    X(Materialxv, GLenum, GLenum, const GLfixed *)                                                                                                    \
    X(MultMatrixx, const GLfixed *)                                                                                                                   \
    X(MultiTexCoord4x, GLenum, GLfixed, GLfixed, GLfixed, GLfixed)                                                                                    \
    X(Normal3x, GLfixed, GLfixed, GLfixed)                                                                                                            \
    X(Orthox, GLfixed, GLfixed, GLfixed, GLfixed, GLfixed, GLfixed)                                                                                   \
    X(Orthof, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat)                                                                                   \
    X(PointParameterx, GLenum, GLfixed)                                                                                                               \
    X(PointParameterxv, GLenum, const GLfixed *)                                                                                                      \
    X(PointSizex, GLfixed)                                                                                                                            \
    X(PolygonOffsetx, GLfixed, GLfixed)                                                                                                               \
    X(Rotatex, GLfixed, GLfixed, GLfixed, GLfixed)                                                                                                    \
    X(SampleCoveragex, GLfixed, GLboolean)                                                                                                            \
    X(Scalex, GLfixed, GLfixed, GLfixed)                                                                                                              \
    X(TexEnvx, GLenum, GLenum, GLfixed)                                                                                                               \
    X(TexEnvxv, GLenum, GLenum, const GLfixed *)                                                                                                      \
    X(TexParameterx, GLenum, GLenum, GLfixed)                                                                                                         \
    X(TexParameterxv, GLenum, GLenum, const GLfixed *)                                                                                                \
    X(Translatex, GLfixed, GLfixed, GLfixed)                                                                                                          \
    X(TranslatexOES, GLfixed, GLfixed, GLfixed)                                                                                                       \
    X(PointSizePointerOES, GLenum, GLsizei, const void *)                                                                                             \
    X(DrawTexfOES, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat)                                                                                       \
    X(DrawTexfvOES, const GLfloat *)                                                                                                                  \
    X(DrawTexiOES, GLint, GLint, GLint, GLint, GLint)                                                                                                 \
    X(DrawTexivOES, const GLint *)                                                                                                                    \
    X(DrawTexsOES, GLshort, GLshort, GLshort, GLshort, GLshort)                                                                                       \
    X(DrawTexsvOES, const GLshort *)                                                                                                                  \
    X(DrawTexxOES, GLfixed, GLfixed, GLfixed, GLfixed, GLfixed)                                                                                       \
    X(DrawTexxvOES, const GLfixed *)                                                                                                                  \
    X(TexGenfOES, GLenum, GLenum, GLfloat)                                                                                                            \
    X(TexGenxOES, GLenum, GLenum, GLfixed)                                                                                                            \
    X(TexGenivOES, GLenum, GLenum, const GLint *)                                                                                                     \
    X(GetTexGenivOES, GLenum, GLenum, GLint *)                                                                                                        \
    X(GetTexGenxvOES, GLenum, GLenum, GLfixed *)

#define ES1_TYPE(name, ...) extern void (*es1##name)(__VA_ARGS__);
ES1_COMMANDS(ES1_TYPE)
#undef ES1_TYPE
extern GLbitfield (*es1QueryMatrixxOES)(GLfixed *, GLint *);

/* A fixed-point number. */
#define X16(value) ((GLfixed)((value) * 65536.0))
void note_fixed(const char *what, const GLfixed *values, int count);
void get_fixed(const char *name, GLenum pname, int count);
#define FIXED(pname, count) get_fixed(#pname, pname, count)

#endif
