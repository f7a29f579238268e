/* Every variant of glVertexAttrib, one by one and between glBegin and glEnd. */
#include "conform.h"

static const char vertex_shader[] = "#version 130\n"
                                    "in vec4 place; in vec4 tint; out vec4 color;\n"
                                    "void main() { gl_Position = place; color = tint; }\n";
static const char fragment_shader[] = "#version 130\nin vec4 color; void main() { gl_FragColor = color; }\n";

static void log_current(GLuint index)
{
    GLfloat f[4] = {7, 7, 7, 7};
    GLdouble d[4] = {7, 7, 7, 7};
    GLint i[4] = {7, 7, 7, 7};
    glGetVertexAttribfv(index, GL_CURRENT_VERTEX_ATTRIB, f);
    note_floats("float", f, 4);
    glGetVertexAttribdv(index, GL_CURRENT_VERTEX_ATTRIB, d);
    note("double = %.17g %.17g %.17g %.17g", d[0], d[1], d[2], d[3]);
    glGetVertexAttribiv(index, GL_CURRENT_VERTEX_ATTRIB, i);
    note_ints("int", i, 4);
}

/* Starts from 0, 0, 0, 1. OpenGL requires these values for components that a smaller size leaves
 * out, but Mesa keeps the values of an earlier, larger size. */
#define TRY(call)                                                                                                                                     \
    glVertexAttrib4f(3, 0, 0, 0, 1);                                                                                                                  \
    note("%s", #call);                                                                                                                                \
    call;                                                                                                                                             \
    log_current(3)

static void variants(void)
{
    static const GLfloat f[] = {0.1f, 0.2f, 0.3f, 0.4f};
    static const GLdouble d[] = {1.1, 1.2, 1.3, 1.4};
    static const GLshort s[] = {-32768, 2, 32767, 4};
    static const GLbyte b[] = {-128, 2, 127, 4};
    static const GLubyte ub[] = {255, 2, 128, 4};
    static const GLushort us[] = {65535, 2, 32768, 4};
    static const GLint i[] = {-2147483647, 2, 2147483647, 4};
    static const GLuint ui[] = {4294967295u, 2, 2147483648u, 4};
    no_picture();
    TRY(glVertexAttrib1f(3, 5.5f));
    TRY(glVertexAttrib2f(3, 5.5f, 6));
    TRY(glVertexAttrib3f(3, 5.5f, 6, 7));
    TRY(glVertexAttrib4f(3, 5.5f, 6, 7, 8));
    TRY(glVertexAttrib1d(3, 5.25));
    TRY(glVertexAttrib2d(3, 5.25, 6));
    TRY(glVertexAttrib3d(3, 5.25, 6, 7));
    TRY(glVertexAttrib4d(3, 5.25, 6, 7, 8));
    TRY(glVertexAttrib1s(3, -5));
    TRY(glVertexAttrib2s(3, -5, 6));
    TRY(glVertexAttrib3s(3, -5, 6, 7));
    TRY(glVertexAttrib4s(3, -5, 6, 7, 8));
    TRY(glVertexAttrib4Nub(3, 255, 128, 1, 0));
    TRY(glVertexAttrib1fv(3, f));
    TRY(glVertexAttrib2fv(3, f));
    TRY(glVertexAttrib3fv(3, f));
    TRY(glVertexAttrib4fv(3, f));
    TRY(glVertexAttrib1dv(3, d));
    TRY(glVertexAttrib2dv(3, d));
    TRY(glVertexAttrib3dv(3, d));
    TRY(glVertexAttrib4dv(3, d));
    TRY(glVertexAttrib1sv(3, s));
    TRY(glVertexAttrib2sv(3, s));
    TRY(glVertexAttrib3sv(3, s));
    TRY(glVertexAttrib4sv(3, s));
    TRY(glVertexAttrib4bv(3, b));
    TRY(glVertexAttrib4ubv(3, ub));
    TRY(glVertexAttrib4usv(3, us));
    TRY(glVertexAttrib4iv(3, i));
    TRY(glVertexAttrib4uiv(3, ui));
    TRY(glVertexAttrib4Nbv(3, b));
    TRY(glVertexAttrib4Nubv(3, ub));
    TRY(glVertexAttrib4Nsv(3, s));
    TRY(glVertexAttrib4Nusv(3, us));
    TRY(glVertexAttrib4Niv(3, i));
    TRY(glVertexAttrib4Nuiv(3, ui));
    errors("variants");
    glVertexAttrib4f(1000, 0, 0, 0, 0);
    errors("index out of range");
}

static void log_integers(const char *call)
{
    GLint i[4] = {7, 7, 7, 7};
    GLuint u[4] = {7, 7, 7, 7};
    glGetVertexAttribIiv(2, GL_CURRENT_VERTEX_ATTRIB, i);
    glGetVertexAttribIuiv(2, GL_CURRENT_VERTEX_ATTRIB, u);
    note("%s: %d %d %d %d, %u %u %u %u", call, i[0], i[1], i[2], i[3], u[0], u[1], u[2], u[3]);
}

#define TRY_INTEGER(call)                                                                                                                             \
    call;                                                                                                                                             \
    log_integers(#call)

static void integers(void)
{
    static const GLint i[] = {-1, 2, -3, 4};
    static const GLuint u[] = {4000000000u, 2, 3, 4};
    static const GLbyte b[] = {-1, 2, -3, 4};
    static const GLubyte ub[] = {255, 2, 3, 4};
    static const GLshort s[] = {-1, 2, -3, 4};
    static const GLushort us[] = {65535, 2, 3, 4};
    no_picture();
    if (!need_version(3, 0))
        return;
    TRY_INTEGER(glVertexAttribI1i(2, -5));
    TRY_INTEGER(glVertexAttribI2i(2, -5, 6));
    TRY_INTEGER(glVertexAttribI3i(2, -5, 6, 7));
    TRY_INTEGER(glVertexAttribI4i(2, -5, 6, 7, 8));
    TRY_INTEGER(glVertexAttribI1ui(2, 3000000000u));
    TRY_INTEGER(glVertexAttribI2ui(2, 3000000000u, 6));
    TRY_INTEGER(glVertexAttribI3ui(2, 3000000000u, 6, 7));
    TRY_INTEGER(glVertexAttribI4ui(2, 3000000000u, 6, 7, 8));
    TRY_INTEGER(glVertexAttribI1iv(2, i));
    TRY_INTEGER(glVertexAttribI2iv(2, i));
    TRY_INTEGER(glVertexAttribI3iv(2, i));
    TRY_INTEGER(glVertexAttribI4iv(2, i));
    TRY_INTEGER(glVertexAttribI1uiv(2, u));
    TRY_INTEGER(glVertexAttribI2uiv(2, u));
    TRY_INTEGER(glVertexAttribI3uiv(2, u));
    TRY_INTEGER(glVertexAttribI4uiv(2, u));
    TRY_INTEGER(glVertexAttribI4bv(2, b));
    TRY_INTEGER(glVertexAttribI4ubv(2, ub));
    TRY_INTEGER(glVertexAttribI4sv(2, s));
    TRY_INTEGER(glVertexAttribI4usv(2, us));
    errors("integers");
}

static void packed(void)
{
    no_picture();
    if (!need_extension("GL_ARB_vertex_type_2_10_10_10_rev"))
        return;
    static const GLuint value = 3u << 30 | 512u << 20 | 1023u << 10 | 7u;
    TRY(glVertexAttribP1ui(3, GL_UNSIGNED_INT_2_10_10_10_REV, GL_TRUE, value));
    TRY(glVertexAttribP2ui(3, GL_UNSIGNED_INT_2_10_10_10_REV, GL_FALSE, value));
    TRY(glVertexAttribP3ui(3, GL_INT_2_10_10_10_REV, GL_TRUE, value));
    TRY(glVertexAttribP4ui(3, GL_INT_2_10_10_10_REV, GL_FALSE, value));
    TRY(glVertexAttribP4uiv(3, GL_UNSIGNED_INT_2_10_10_10_REV, GL_TRUE, &value));
    glColorP4ui(GL_UNSIGNED_INT_2_10_10_10_REV, value);
    FLOATS(GL_CURRENT_COLOR, 4);
    glColorP3ui(GL_INT_2_10_10_10_REV, value);
    FLOATS(GL_CURRENT_COLOR, 4);
    glNormalP3ui(GL_INT_2_10_10_10_REV, value);
    FLOATS(GL_CURRENT_NORMAL, 3);
    glTexCoordP2ui(GL_UNSIGNED_INT_2_10_10_10_REV, value);
    FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);
    glSecondaryColorP3ui(GL_UNSIGNED_INT_2_10_10_10_REV, value);
    FLOATS(GL_CURRENT_SECONDARY_COLOR, 4);
    errors("packed");
    glVertexAttribP4ui(3, GL_FLOAT, GL_TRUE, value);
    errors("packed of another type");
}

static void use_program(GLuint place, GLuint tint)
{
    GLuint program = glCreateProgram();
    const char *sources[2] = {vertex_shader, fragment_shader};
    for (int i = 0; i < 2; i++) {
        GLuint shader = glCreateShader(i ? GL_FRAGMENT_SHADER : GL_VERTEX_SHADER);
        glShaderSource(shader, 1, &sources[i], NULL);
        glCompileShader(shader);
        glAttachShader(program, shader);
    }
    glBindAttribLocation(program, place, "place");
    glBindAttribLocation(program, tint, "tint");
    glLinkProgram(program);
    glUseProgram(program);
}

/* Generic attribute 0 is the position, so setting it makes the vertex. */
static void zero_provokes(void)
{
    if (!need_version(3, 0))
        return;
    use_program(0, 5);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 90; i++) {
        float x = -0.9f + (float)(i / 3 % 6) * 0.3f + (i % 3 == 1 ? 0.25f : 0), y = -0.9f + (float)(i / 18) * 0.35f + (i % 3 == 2 ? 0.3f : 0);
        if (i % 2)
            glVertexAttrib4Nub(5, (GLubyte)(i * 20), 255, (GLubyte)(i * 3), 255);
        else
            glVertexAttrib3f(5, 1, (float)i / 90, 0.5f);
        if (i % 4 == 0)
            glVertexAttrib2f(0, x, y);
        else if (i % 4 == 1)
            glVertexAttrib3f(0, x, y, 0);
        else if (i % 4 == 2)
            glVertexAttrib4f(0, x * 2, y * 2, 0, 2);
        else
            glVertex2f(x, y);
    }
    glEnd();
    log_current(5);
    errors("attribute 0");
}

/* The position comes from glVertex, with generic attributes beside the fixed-function ones. */
static void beside_classic(void)
{
    if (!need_version(3, 0))
        return;
    use_program(0, 7);
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 40; i++) {
        glColor3f(0, 0, 0);
        glVertexAttrib4f(7, (float)i / 40, 1 - (float)i / 40, i % 2 ? 1 : 0, 1);
        glVertex2f(-0.9f + (float)i * 0.045f, i % 2 ? -0.8f : 0.8f);
    }
    glEnd();
    log_current(7);
    FLOATS(GL_CURRENT_COLOR, 4);
}

CONFORM("generic_attributes", COMPAT, {"variants", variants}, {"integers", integers}, {"packed", packed}, {"zero_provokes", zero_provokes},
        {"beside_classic", beside_classic})
