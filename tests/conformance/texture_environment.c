/* Texture functions, combiners, several units at once, and generated coordinates. */
#include "conform.h"

#include <math.h>

static GLuint make_texture(GLenum format, int squares, int seed)
{
    unsigned char image[32 * 32 * 4];
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    checkerboard(image, 32, 32, squares);
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (unsigned char)(image[i] * (seed + 1) + seed * 40);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    return name;
}

static void shaded_square(void)
{
    static const float colors[4][4] = {{1, 0.3f, 0.3f, 1}, {0.3f, 1, 0.3f, 0.7f}, {0.3f, 0.3f, 1, 0.4f}, {1, 1, 1, 0.1f}};
    glBegin(GL_QUADS);
    for (int corner = 0; corner < 4; corner++) {
        bool right = corner == 1 || corner == 2, top = corner >= 2;
        glColor4fv(colors[corner]);
        for (GLenum unit = 0; unit < 4; unit++)
            glMultiTexCoord2f(GL_TEXTURE0 + unit, right ? 1 + (float)unit * 0.5f : 0, top ? 1 : (float)unit * 0.25f);
        glVertex2f(right ? 0.9f : -0.9f, top ? 0.9f : -0.9f);
    }
    glEnd();
}

static void functions(void)
{
    static const GLenum formats[] = {GL_ALPHA, GL_LUMINANCE, GL_LUMINANCE_ALPHA, GL_INTENSITY, GL_RGB, GL_RGBA};
    static const GLenum modes[] = {GL_MODULATE, GL_DECAL, GL_BLEND, GL_REPLACE, GL_ADD};
    glEnable(GL_TEXTURE_2D);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glClearColor(0.3f, 0.3f, 0.3f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glTexEnvfv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR, (const float[]){0.9f, 0.2f, 0.6f, 0.7f});
    for (int format = 0; format < 6; format++) {
        make_texture(formats[format], 8, 0);
        for (int mode = 0; mode < 5; mode++) {
            cell(format, mode, 6, 5);
            glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, (GLint)modes[mode]);
            shaded_square();
        }
    }
    GLfloat color[4];
    GLint mode;
    glGetTexEnvfv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR, color);
    note_floats("environment colour", color, 4);
    glGetTexEnviv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, &mode);
    note("mode %04x", (unsigned)mode);
    errors("functions");
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_ONE);
    errors("mode");
    glTexEnvi(GL_TEXTURE_2D, GL_TEXTURE_ENV_MODE, GL_ADD);
    errors("target");
}

static void combiners(void)
{
    static const GLenum operations[] = {GL_REPLACE, GL_MODULATE, GL_ADD, GL_ADD_SIGNED, GL_INTERPOLATE, GL_SUBTRACT, GL_DOT3_RGB, GL_DOT3_RGBA};
    static const GLenum sources[] = {GL_TEXTURE, GL_CONSTANT, GL_PRIMARY_COLOR, GL_PREVIOUS};
    static const GLenum operands[] = {GL_SRC_COLOR, GL_ONE_MINUS_SRC_COLOR, GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA};
    glEnable(GL_TEXTURE_2D);
    make_texture(GL_RGBA, 8, 0);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_COMBINE);
    glTexEnvfv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR, (const float[]){0.9f, 0.5f, 0.2f, 0.6f});
    for (int i = 0; i < 64; i++) {
        cell(i % 8, i / 8, 8, 8);
        glTexEnvi(GL_TEXTURE_ENV, GL_COMBINE_RGB, (GLint)operations[i % 8]);
        glTexEnvi(GL_TEXTURE_ENV, GL_COMBINE_ALPHA, (GLint)operations[i / 8 % 6]);
        for (int source = 0; source < 3; source++) {
            glTexEnvi(GL_TEXTURE_ENV, GL_SOURCE0_RGB + (GLenum)source, (GLint)sources[(i / 8 + source) % 4]);
            glTexEnvi(GL_TEXTURE_ENV, GL_SOURCE0_ALPHA + (GLenum)source, (GLint)sources[(i / 16 + source) % 4]);
            glTexEnvi(GL_TEXTURE_ENV, GL_OPERAND0_RGB + (GLenum)source, (GLint)operands[(i / 4 + source) % 4]);
            glTexEnvi(GL_TEXTURE_ENV, GL_OPERAND0_ALPHA + (GLenum)source, (GLint)operands[2 + (i + source) % 2]);
        }
        glTexEnvf(GL_TEXTURE_ENV, GL_RGB_SCALE, i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 4);
        glTexEnvf(GL_TEXTURE_ENV, GL_ALPHA_SCALE, 1 << i % 3);
        shaded_square();
    }
    GLint value;
    GLfloat scale;
    glGetTexEnviv(GL_TEXTURE_ENV, GL_COMBINE_RGB, &value);
    glGetTexEnvfv(GL_TEXTURE_ENV, GL_RGB_SCALE, &scale);
    note("combine %04x, scale %g", (unsigned)value, (double)scale);
    errors("combiners");
    glTexEnvf(GL_TEXTURE_ENV, GL_RGB_SCALE, 3);
    errors("scale of 3");
}

static void units(void)
{
    static const GLenum modes[] = {GL_REPLACE, GL_MODULATE, GL_ADD, GL_DECAL};
    INTS(GL_MAX_TEXTURE_UNITS, 1);
    for (int unit = 0; unit < 4; unit++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        make_texture(unit == 3 ? GL_RGBA : GL_RGB, 4 << unit % 3, unit);
        glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, (GLint)modes[unit]);
    }
    for (int i = 0; i < 16; i++) {
        cell(i % 4, i / 4, 4, 4);
        for (int unit = 0; unit < 4; unit++) {
            glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
            if (i >> unit & 1)
                glEnable(GL_TEXTURE_2D);
            else
                glDisable(GL_TEXTURE_2D);
        }
        shaded_square();
    }
    INTS(GL_ACTIVE_TEXTURE, 1);
    glActiveTexture(GL_TEXTURE0 + 1000);
    errors("unit 1000");
}

static void crossbar(void)
{
    for (int unit = 0; unit < 3; unit++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        make_texture(GL_RGB, 4 << unit, unit);
        glEnable(GL_TEXTURE_2D);
        glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_COMBINE);
        glTexEnvi(GL_TEXTURE_ENV, GL_COMBINE_RGB, unit == 2 ? GL_INTERPOLATE : GL_MODULATE);
        glTexEnvi(GL_TEXTURE_ENV, GL_SOURCE0_RGB, GL_TEXTURE0 + (2 - unit));
        glTexEnvi(GL_TEXTURE_ENV, GL_SOURCE1_RGB, GL_PREVIOUS);
        glTexEnvi(GL_TEXTURE_ENV, GL_SOURCE2_RGB, GL_TEXTURE1);
    }
    shaded_square();
    errors("crossbar");
}

static void bowl(void)
{
    for (int ring = 0; ring < 10; ring++) {
        glBegin(GL_QUAD_STRIP);
        for (int i = 0; i <= 20; i++) {
            for (int side = 1; side >= 0; side--) {
                float polar = 1.5f * (float)(ring + side) / 10, around = 6.2831853f * (float)i / 20;
                glNormal3f(sinf(polar) * cosf(around), sinf(polar) * sinf(around), cosf(polar));
                glVertex3f(0.9f * sinf(polar) * cosf(around), 0.9f * sinf(polar) * sinf(around), 0.9f * cosf(polar) - 0.2f);
            }
        }
        glEnd();
    }
}

static void generated(void)
{
    static const GLenum modes[] = {GL_OBJECT_LINEAR, GL_EYE_LINEAR, GL_SPHERE_MAP, GL_NORMAL_MAP, GL_REFLECTION_MAP};
    make_texture(GL_RGBA, 4, 0);
    glEnable(GL_TEXTURE_2D);
    for (int i = 0; i < 10; i++) {
        cell(i % 4, i / 4, 4, 3);
        glLoadIdentity();
        if (i >= 5)
            glRotatef(40, 0.3f, 1, 0.2f);
        glTexGenfv(GL_S, GL_OBJECT_PLANE, (const float[]){2, 0, 0.5f, 0});
        glTexGenfv(GL_T, GL_EYE_PLANE, (const float[]){0, 3, 0, 0.2f});
        if (i >= 5)
            glLoadIdentity();
        glTexGeniv(GL_S, GL_EYE_PLANE, (const GLint[]){3, 1, 0, 0});
        glTexGendv(GL_T, GL_OBJECT_PLANE, (const GLdouble[]){1, 2, 0, 0});
        for (GLenum coordinate = GL_S; coordinate <= GL_R; coordinate++) {
            if (coordinate == GL_R && i % 5 < 3)
                continue;
            glTexGeni(coordinate, GL_TEXTURE_GEN_MODE, (GLint)modes[i % 5]);
            glEnable(GL_TEXTURE_GEN_S + coordinate - GL_S);
        }
        glRotatef(20 * (float)i, 1, 0.5f, 0);
        bowl();
        GLfloat plane[4];
        GLint mode;
        glGetTexGenfv(GL_S, GL_OBJECT_PLANE, plane);
        note_floats("object plane", plane, 4);
        glGetTexGenfv(GL_T, GL_EYE_PLANE, plane);
        note_floats("eye plane", plane, 4);
        glGetTexGeniv(GL_T, GL_TEXTURE_GEN_MODE, &mode);
        note("mode %04x", (unsigned)mode);
    }
    errors("generated");
    glTexGeni(GL_R, GL_TEXTURE_GEN_MODE, GL_SPHERE_MAP);
    errors("sphere map of r");
    glTexGeni(GL_Q, GL_TEXTURE_GEN_MODE, GL_REFLECTION_MAP);
    errors("reflection map of q");
}

CONFORM("texture_environment", COMPAT, {"functions", functions}, {"combiners", combiners}, {"units", units}, {"crossbar", crossbar},
        {"generated", generated})
