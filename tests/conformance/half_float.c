/* NV_half_float: immediate mode with half floats. */
#include "conform.h"

/* Converts to the nearest half float. Only for finite values in its range. */
static GLhalfNV half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude < 0x38800000) {
        float scaled = (value < 0 ? -value : value) * 16777216.0f + 0.5f;
        return (GLhalfNV)(sign | (uint32_t)scaled);
    }
    return (GLhalfNV)(sign | ((magnitude + 0x1000 - 0x38000000) >> 13));
}

static bool start(void)
{
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    return need_extension("GL_NV_half_float");
}

static void vertices(void)
{
    if (!start())
        return;
    glEnable(GL_TEXTURE_2D);
    unsigned char texels[16 * 16 * 4];
    checkerboard(texels, 16, 16, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    for (int form = 0; form < 6; form++) {
        cell(form % 3, form / 3, 3, 2);
        glBegin(GL_QUADS);
        for (int i = 0; i < 4; i++) {
            float x = i == 1 || i == 2 ? 0.85f : -0.85f, y = i > 1 ? 0.8f : -0.8f;
            GLhalfNV v[4] = {half(x), half(y), half(0.25f), half(1.25f)}, t[4] = {half(x), half(y), half(0), half(0.5f)};
            GLhalfNV c[4] = {half(0.3f * (float)i), half(1 - 0.2f * (float)i), half(0.5f), half(0.75f)};
            if (form % 2) {
                glColor4hvNV(c);
                glNormal3hvNV(v);
                glTexCoord4hvNV(t);
            } else {
                glColor3hNV(c[0], c[1], c[2]);
                glNormal3hNV(v[0], v[1], v[2]);
                glTexCoord2hNV(t[0], t[1]);
            }
            switch (form) {
            case 0: glVertex2hNV(v[0], v[1]); break;
            case 1: glVertex2hvNV(v); break;
            case 2: glVertex3hNV(v[0], v[1], v[2]); break;
            case 3: glVertex3hvNV(v); break;
            case 4: glVertex4hNV(v[0], v[1], v[2], v[3]); break;
            default: glVertex4hvNV(v);
            }
        }
        glEnd();
    }
    errors("vertices");
}

static void log_current(void)
{
    GLfloat v[4];
    FLOATS(GL_CURRENT_COLOR, 4);
    FLOATS(GL_CURRENT_SECONDARY_COLOR, 4);
    FLOATS(GL_CURRENT_NORMAL, 3);
    FLOATS(GL_CURRENT_FOG_COORD, 1);
    FLOATS(GL_CURRENT_INDEX, 1);
    for (GLenum unit = 0; unit < 8; unit++) {
        glActiveTexture(GL_TEXTURE0 + unit);
        FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);
    }
    for (GLuint i = 1; i < 16; i++) {
        glGetVertexAttribfv(i, GL_CURRENT_VERTEX_ATTRIB, v);
        note_floats("generic", v, 4);
    }
    glGetMaterialfv(GL_FRONT, GL_DIFFUSE, v);
    note_floats("diffuse", v, 4);
    errors("current");
}

static void current(void)
{
    if (!start())
        return;
    const GLhalfNV v[4] = {0x3c00, 0x3555, 0x0001, 0x7bff};
    glColor4hNV(v[0], v[1], v[2], v[3]);
    glColor3hvNV(v);
    glSecondaryColor3hNV(v[1], v[2], v[3]);
    glSecondaryColor3hvNV(v);
    glNormal3hNV(v[3], v[2], v[1]);
    glFogCoordhNV(0xc4d2);
    glFogCoordhvNV(v + 1);
    glTexCoord1hNV(v[1]);
    glTexCoord3hNV(v[1], v[2], v[3]);
    glTexCoord1hvNV(v);
    glMultiTexCoord1hNV(GL_TEXTURE1, v[1]);
    glMultiTexCoord2hNV(GL_TEXTURE2, v[1], v[2]);
    glMultiTexCoord3hNV(GL_TEXTURE3, v[1], v[2], v[3]);
    glMultiTexCoord4hNV(GL_TEXTURE4, v[1], v[2], v[3], v[0]);
    glMultiTexCoord1hvNV(GL_TEXTURE5, v);
    glMultiTexCoord2hvNV(GL_TEXTURE6, v);
    glMultiTexCoord4hvNV(GL_TEXTURE7, v);
    log_current();
    no_picture();
}

static void every_half(void)
{
    if (!start())
        return;
    /* NaN and infinities are logged only by their kind. */
    uint32_t sum = 0;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        if ((bits & 0x7c00) == 0x7c00 && bits & 0x3ff)
            continue;
        GLfloat v[4];
        uint32_t word;
        glTexCoord1hNV((GLhalfNV)bits);
        glGetFloatv(GL_CURRENT_TEXTURE_COORDS, v);
        memcpy(&word, v, 4);
        sum = sum * 31 + word;
    }
    note("sum: %08x", sum);
    errors("every half");
    no_picture();
}

/* Numbered attributes include the fixed-function attributes. */
static void numbered(void)
{
    if (!start())
        return;
    const GLhalfNV v[12] = {0x3c00, 0x3555, 0x3800, 0x3bff, 0x3400, 0x3a00, 0x3100, 0x3c00, 0x2e66, 0x3266, 0x34cd, 0x3c00};
    for (GLuint i = 1; i < 31; i++) {
        glVertexAttrib1hNV(i, v[i % 12]);
        glVertexAttrib2hvNV((i * 7) % 30 + 1, v + i % 8);
        glVertexAttrib3hNV((i * 3) % 30 + 1, v[i % 12], v[(i + 1) % 12], v[(i + 2) % 12]);
        glVertexAttrib4hvNV((i * 11) % 30 + 1, v + i % 8);
    }
    log_current();
    glVertexAttribs3hvNV(1, 3, v);
    glVertexAttribs1hvNV(4, 2, v);
    glVertexAttribs4hvNV(16, 3, v);
    glVertexAttribs2hvNV(6, 3, v);
    glVertexAttribs4hvNV(28, 3, v);
    glVertexAttrib4hNV(45, v[0], v[1], v[2], v[3]);
    glVertexAttrib4hNV(1000, v[0], v[1], v[2], v[3]);
    glVertexAttribs4hvNV(3, 0, v);
    log_current();
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; i++) {
        /* The position is set last. */
        GLhalfNV three[9] = {half(i == 1 ? 0.9f : -0.9f), half(i == 2 ? 0.9f : -0.9f), 0, 0, 0, 0x3c00, half(0.4f * (float)i), half(0.7f), half(0.2f)};
        glVertexAttribs3hvNV(0, 3, three);
    }
    glEnd();
    errors("numbered");
}

static void in_lists(void)
{
    if (!start())
        return;
    glNewList(1, GL_COMPILE);
    glBegin(GL_TRIANGLE_FAN);
    for (int i = 0; i < 5; i++) {
        glColor3hNV(half(0.2f * (float)i), half(0.5f), half(1 - 0.2f * (float)i));
        glVertex2hNV(half(i == 0 || i == 4 ? -0.8f : 0.3f * (float)(i - 1)), half(i < 2 ? -0.8f : 0.6f));
    }
    glEnd();
    glVertexAttrib4hNV(20, 0x3c00, 0x3555, 0x3800, 0x3bff);
    glEndList();
    log_current();
    glCallList(1);
    log_current();
    errors("in lists");
}

CONFORM("half_float", COMPAT, {"vertices", vertices}, {"current", current}, {"every_half", every_half}, {"numbered", numbered}, {"in_lists", in_lists})
