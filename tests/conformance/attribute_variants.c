/* Every type and size of the commands for positions, colours, normals and the other fixed-function
 * attributes. */
#include "conform.h"

/* A diamond of four vertices around (x, y) in pixels. Each vertex uses another variant of
 * glVertex. */
static int place;

static void next_place(float *x, float *y)
{
    *x = 8 + (float)(place % 16) * 16;
    *y = 8 + (float)(place / 16) * 16;
    place++;
}

#define DIAMOND(VERTEX, TYPE, ...)                                                                                                                    \
    do {                                                                                                                                              \
        float x, y;                                                                                                                                   \
        next_place(&x, &y);                                                                                                                           \
        color_of(place);                                                                                                                              \
        glBegin(GL_QUADS);                                                                                                                            \
        for (int corner = 0; corner < 4; corner++) {                                                                                                  \
            TYPE a = (TYPE)(x + (float)(corner == 0 ? -6 : corner == 2 ? 6 : 0)), b = (TYPE)(y + (float)(corner == 1 ? -6 : corner == 3 ? 6 : 0));    \
            VERTEX(__VA_ARGS__);                                                                                                                      \
        }                                                                                                                                             \
        glEnd();                                                                                                                                      \
    } while (0)

#define VECTOR2(type) ((const type[]){a, b})
#define VECTOR3(type) ((const type[]){a, b, 0})
#define VECTOR4(type) ((const type[]){(type)(2 * a), (type)(2 * b), 0, 2})

static void vertices(void)
{
    place = 0;
    pixel_projection();
    DIAMOND(glVertex2s, GLshort, a, b);
    DIAMOND(glVertex2i, GLint, a, b);
    DIAMOND(glVertex2f, GLfloat, a, b);
    DIAMOND(glVertex2d, GLdouble, a, b);
    DIAMOND(glVertex3s, GLshort, a, b, 0);
    DIAMOND(glVertex3i, GLint, a, b, 0);
    DIAMOND(glVertex3f, GLfloat, a, b, 0.5f);
    DIAMOND(glVertex3d, GLdouble, a, b, 0.5);
    DIAMOND(glVertex4s, GLshort, (GLshort)(a * 2), (GLshort)(b * 2), 0, 2);
    DIAMOND(glVertex4i, GLint, a * 3, b * 3, 0, 3);
    DIAMOND(glVertex4f, GLfloat, a * 0.5f, b * 0.5f, 0, 0.5f);
    DIAMOND(glVertex4d, GLdouble, a * 0.25, b * 0.25, 0, 0.25);
    DIAMOND(glVertex2sv, GLshort, VECTOR2(GLshort));
    DIAMOND(glVertex2iv, GLint, VECTOR2(GLint));
    DIAMOND(glVertex2fv, GLfloat, VECTOR2(GLfloat));
    DIAMOND(glVertex2dv, GLdouble, VECTOR2(GLdouble));
    DIAMOND(glVertex3sv, GLshort, VECTOR3(GLshort));
    DIAMOND(glVertex3iv, GLint, VECTOR3(GLint));
    DIAMOND(glVertex3fv, GLfloat, VECTOR3(GLfloat));
    DIAMOND(glVertex3dv, GLdouble, VECTOR3(GLdouble));
    DIAMOND(glVertex4sv, GLshort, VECTOR4(GLshort));
    DIAMOND(glVertex4iv, GLint, VECTOR4(GLint));
    DIAMOND(glVertex4fv, GLfloat, VECTOR4(GLfloat));
    DIAMOND(glVertex4dv, GLdouble, VECTOR4(GLdouble));
}

/* Sizes change within one run. The missing coordinates are 0, 0 and 1. */
static void mixed_sizes(void)
{
    glPointSize(4);
    glBegin(GL_POINTS);
    for (int i = 0; i < 200; i++) {
        float x = -0.95f + 0.19f * (float)(i % 10), y = -0.95f + 0.095f * (float)(i / 10);
        color_of(i);
        if (i % 4 == 0)
            glVertex2f(x, y);
        else if (i % 4 == 1)
            glVertex3f(x, y, 0.1f);
        else if (i % 4 == 2)
            glVertex4f(x * 2, y * 2, 0, 2);
        else
            glVertex2d((double)x, (double)y);
    }
    glEnd();
}

static void dot(void)
{
    float x, y;
    next_place(&x, &y);
    glBegin(GL_POINTS);
    glVertex2f(x, y);
    glEnd();
}

/* Draws a dot in the colour just set and logs the colour. */
static void show_color(void)
{
    dot();
    FLOATS(GL_CURRENT_COLOR, 4);
    INTS(GL_CURRENT_COLOR, 4);
    BOOLS(GL_CURRENT_COLOR, 4);
}

#define COLOR3(suffix, type, r, g, b)                                                                                                                 \
    glColor3##suffix(r, g, b);                                                                                                                        \
    show_color();                                                                                                                                     \
    glColor3##suffix##v((const type[]){b, r, g});                                                                                                     \
    show_color()
#define COLOR4(suffix, type, r, g, b, a)                                                                                                              \
    glColor4##suffix(r, g, b, a);                                                                                                                     \
    show_color();                                                                                                                                     \
    glColor4##suffix##v((const type[]){b, r, g, a});                                                                                                  \
    show_color()

static void colors(void)
{
    place = 0;
    pixel_projection();
    glPointSize(14);
    COLOR3(b, GLbyte, 127, 50, -20);
    COLOR3(ub, GLubyte, 200, 100, 3);
    COLOR3(s, GLshort, 32767, 12345, -1);
    COLOR3(us, GLushort, 65535, 32768, 1234);
    COLOR3(i, GLint, 2147483647, 1073741824, -5);
    COLOR3(ui, GLuint, 4294967295u, 2147483648u, 77);
    COLOR3(f, GLfloat, 1.0f, 0.3f, 0.7f);
    COLOR3(d, GLdouble, 0.9, 0.1, 0.55);
    COLOR4(b, GLbyte, -128, 127, 64, 100);
    COLOR4(ub, GLubyte, 255, 128, 1, 254);
    COLOR4(s, GLshort, -32768, 32767, 16384, 1);
    COLOR4(us, GLushort, 0, 65535, 256, 257);
    COLOR4(i, GLint, -2147483647 - 1, 2147483647, 1 << 24, 1 << 20);
    COLOR4(ui, GLuint, 1u << 31, 1u << 30, 1u << 8, 4294967295u);
    COLOR4(f, GLfloat, 1.5f, -0.5f, 0.25f, 2.0f);
    COLOR4(d, GLdouble, 0.125, 0.875, 1e-3, 0.5);
    errors("colours");
}

static void show_secondary(void)
{
    dot();
    FLOATS(GL_CURRENT_SECONDARY_COLOR, 4);
}

#define SECONDARY(suffix, type, r, g, b)                                                                                                              \
    glSecondaryColor3##suffix(r, g, b);                                                                                                               \
    show_secondary();                                                                                                                                 \
    glSecondaryColor3##suffix##v((const type[]){b, r, g});                                                                                            \
    show_secondary()

static void secondary_colors(void)
{
    place = 0;
    pixel_projection();
    glPointSize(14);
    glEnable(GL_COLOR_SUM);
    glColor3f(0.1f, 0, 0.1f);
    SECONDARY(b, GLbyte, 127, 50, -20);
    SECONDARY(ub, GLubyte, 200, 100, 3);
    SECONDARY(s, GLshort, 32767, 12345, -1);
    SECONDARY(us, GLushort, 65535, 32768, 1234);
    SECONDARY(i, GLint, 2147483647, 1073741824, -5);
    SECONDARY(ui, GLuint, 4294967295u, 2147483648u, 77);
    SECONDARY(f, GLfloat, 1.0f, 0.3f, 0.7f);
    SECONDARY(d, GLdouble, 0.9, 0.1, 0.55);
}

#define NORMAL(suffix, type, x, y, z)                                                                                                                 \
    glNormal3##suffix(x, y, z);                                                                                                                       \
    dot();                                                                                                                                            \
    FLOATS(GL_CURRENT_NORMAL, 3);                                                                                                                     \
    glNormal3##suffix##v((const type[]){y, z, x});                                                                                                    \
    dot();                                                                                                                                            \
    FLOATS(GL_CURRENT_NORMAL, 3)

static void normals(void)
{
    place = 0;
    pixel_projection();
    glPointSize(14);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnable(GL_NORMALIZE);
    NORMAL(b, GLbyte, 20, 50, 100);
    NORMAL(s, GLshort, 3000, -400, 20000);
    NORMAL(i, GLint, 1 << 28, 1 << 29, 1 << 30);
    NORMAL(f, GLfloat, 0.3f, 0.4f, 0.8f);
    NORMAL(d, GLdouble, 0.6, 0.1, 3.0);
    INTS(GL_CURRENT_NORMAL, 3);
}

#define TEXCOORD(suffix, type, s, t)                                                                                                                  \
    do {                                                                                                                                              \
        glTexCoord1##suffix(s);                                                                                                                       \
        FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);                                                                                                         \
        glTexCoord2##suffix(s, t);                                                                                                                    \
        FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);                                                                                                         \
        glTexCoord3##suffix(s, t, 5);                                                                                                                 \
        FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);                                                                                                         \
        glTexCoord4##suffix(s, t, 6, 7);                                                                                                              \
        FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);                                                                                                         \
        const type v[] = {t, s, 8, 9};                                                                                                                \
        glTexCoord1##suffix##v(v);                                                                                                                    \
        FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);                                                                                                         \
        glTexCoord2##suffix##v(v);                                                                                                                    \
        FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);                                                                                                         \
        glTexCoord3##suffix##v(v);                                                                                                                    \
        FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);                                                                                                         \
        glTexCoord4##suffix##v(v);                                                                                                                    \
        FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);                                                                                                         \
        for (GLenum unit = 0; unit < 8; unit++)                                                                                                       \
            glMultiTexCoord4f(GL_TEXTURE0 + unit, 0, 0, 0, 1);                                                                                        \
        glMultiTexCoord1##suffix(GL_TEXTURE0, s);                                                                                                     \
        glMultiTexCoord2##suffix(GL_TEXTURE1, s, t);                                                                                                  \
        glMultiTexCoord3##suffix(GL_TEXTURE2, s, t, 5);                                                                                               \
        glMultiTexCoord4##suffix(GL_TEXTURE3, s, t, 6, 7);                                                                                            \
        glMultiTexCoord1##suffix##v(GL_TEXTURE4, v);                                                                                                  \
        glMultiTexCoord2##suffix##v(GL_TEXTURE5, v);                                                                                                  \
        glMultiTexCoord3##suffix##v(GL_TEXTURE6, v);                                                                                                  \
        glMultiTexCoord4##suffix##v(GL_TEXTURE7, v);                                                                                                  \
        for (GLenum unit = GL_TEXTURE0; unit < GL_TEXTURE0 + 8; unit++) {                                                                             \
            glActiveTexture(unit);                                                                                                                    \
            FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);                                                                                                     \
        }                                                                                                                                             \
        glActiveTexture(GL_TEXTURE0);                                                                                                                 \
    } while (0)

static void texture_coordinates(void)
{
    no_picture();
    TEXCOORD(s, GLshort, 3, -4);
    TEXCOORD(i, GLint, 300000, -400000);
    TEXCOORD(f, GLfloat, 0.25f, 1e10f);
    TEXCOORD(d, GLdouble, 0.1, 1e-5);
    errors("texture coordinates");
    glMultiTexCoord2f(GL_TEXTURE0 + 200, 1, 1);
    errors("glMultiTexCoord of no unit");
}

static void fog_coordinates(void)
{
    static const GLfloat f = 0.25f;
    static const GLdouble d = 0.75;
    place = 0;
    pixel_projection();
    glPointSize(14);
    glEnable(GL_FOG);
    glFogi(GL_FOG_MODE, GL_LINEAR);
    glFogi(GL_FOG_COORD_SRC, GL_FOG_COORD);
    glFogCoordf(0.1f);
    dot();
    FLOATS(GL_CURRENT_FOG_COORD, 1);
    glFogCoordd(0.5);
    dot();
    FLOATS(GL_CURRENT_FOG_COORD, 1);
    glFogCoordfv(&f);
    dot();
    FLOATS(GL_CURRENT_FOG_COORD, 1);
    glFogCoorddv(&d);
    dot();
    FLOATS(GL_CURRENT_FOG_COORD, 1);
}

static void indices(void)
{
    no_picture();
    glIndexub(200);
    FLOATS(GL_CURRENT_INDEX, 1);
    glIndexs(-3);
    FLOATS(GL_CURRENT_INDEX, 1);
    glIndexi(70000);
    FLOATS(GL_CURRENT_INDEX, 1);
    glIndexf(1.5f);
    FLOATS(GL_CURRENT_INDEX, 1);
    glIndexd(2.25);
    FLOATS(GL_CURRENT_INDEX, 1);
    glIndexiv((const GLint[]){9});
    FLOATS(GL_CURRENT_INDEX, 1);
    glEdgeFlagv((const GLboolean[]){0});
    BOOLS(GL_EDGE_FLAG, 1);
    glEdgeFlag(5);
    BOOLS(GL_EDGE_FLAG, 1);
}

#define WINDOW_POSITION(suffix, type)                                                                                                                 \
    glWindowPos2##suffix(10, 20);                                                                                                                     \
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);                                                                                                            \
    glWindowPos3##suffix(11, 21, 1);                                                                                                                  \
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);                                                                                                            \
    glWindowPos2##suffix##v((const type[]){12, 22});                                                                                                  \
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);                                                                                                            \
    glWindowPos3##suffix##v((const type[]){13, 23, 0});                                                                                               \
    FLOATS(GL_CURRENT_RASTER_POSITION, 4)
#define RASTER_POSITION(suffix, type)                                                                                                                 \
    glRasterPos2##suffix(10, 20);                                                                                                                     \
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);                                                                                                            \
    glRasterPos3##suffix(11, 21, 0);                                                                                                                  \
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);                                                                                                            \
    glRasterPos4##suffix(22, 42, 0, 2);                                                                                                               \
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);                                                                                                            \
    glRasterPos2##suffix##v((const type[]){12, 22});                                                                                                  \
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);                                                                                                            \
    glRasterPos3##suffix##v((const type[]){13, 23, 0});                                                                                               \
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);                                                                                                            \
    glRasterPos4##suffix##v((const type[]){14, 24, 0, 1});                                                                                            \
    FLOATS(GL_CURRENT_RASTER_POSITION, 4)

static void raster_positions(void)
{
    no_picture();
    pixel_projection();
    RASTER_POSITION(s, GLshort);
    RASTER_POSITION(i, GLint);
    RASTER_POSITION(f, GLfloat);
    RASTER_POSITION(d, GLdouble);
    WINDOW_POSITION(s, GLshort);
    WINDOW_POSITION(i, GLint);
    WINDOW_POSITION(f, GLfloat);
    WINDOW_POSITION(d, GLdouble);
    glRasterPos2f(-5, 0);
    BOOLS(GL_CURRENT_RASTER_POSITION_VALID, 1);
    FLOATS(GL_CURRENT_RASTER_COLOR, 4);
    FLOATS(GL_CURRENT_RASTER_DISTANCE, 1);
    FLOATS(GL_CURRENT_RASTER_TEXTURE_COORDS, 4);
}

CONFORM("attribute_variants", COMPAT, {"vertices", vertices}, {"mixed_sizes", mixed_sizes}, {"colors", colors},
        {"secondary_colors", secondary_colors}, {"normals", normals}, {"texture_coordinates", texture_coordinates},
        {"fog_coordinates", fog_coordinates}, {"indices", indices}, {"raster_positions", raster_positions})
