/* Cube maps, rectangles, arrays of textures and buffer textures; texture objects and their binding. */
#include "conform.h"

static void nearest(GLenum target)
{
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
}

static void cube(void)
{
    unsigned char image[16 * 16 * 3];
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (int face = 0; face < 6; face++) {
        float rgb[3];
        hue((float)face / 6, rgb);
        for (int i = 0; i < 16 * 16 * 3; i++)
            image[i] = (unsigned char)(255 * rgb[i % 3] * ((i / 3 % 16 / 4 + i / 48 / 4) % 2 ? 1 : 0.5f));
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, 0, GL_RGB, 16, 16, 0, GL_RGB, GL_UNSIGNED_BYTE, image);
        memset(image, 255, 48);
        glTexSubImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, 0, face, 2, 4, 4, GL_RGB, GL_UNSIGNED_BYTE, image);
    }
    nearest(GL_TEXTURE_CUBE_MAP);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glEnable(GL_TEXTURE_CUBE_MAP);
    for (int i = 0; i < 9; i++) {
        cell(i % 3, i / 3, 3, 3);
        glMatrixMode(GL_TEXTURE);
        glLoadIdentity();
        glRotatef(40 * (float)i, 0.3f, 1, 0.1f);
        glMatrixMode(GL_MODELVIEW);
        glBegin(GL_QUADS);
        for (int corner = 0; corner < 4; corner++) {
            float x = corner == 1 || corner == 2 ? 1 : -1, y = corner >= 2 ? 1 : -1;
            glTexCoord3f(x * 1.5f, y * 1.5f, 1);
            glVertex2f(x * 0.95f, y * 0.95f);
        }
        glEnd();
    }
    errors("cube");
}

static void rectangle(void)
{
    unsigned char image[30 * 20 * 4];
    checkerboard(image, 30, 20, 5);
    glTexImage2D(GL_TEXTURE_RECTANGLE, 0, GL_RGBA, 30, 20, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    nearest(GL_TEXTURE_RECTANGLE);
    glEnable(GL_TEXTURE_RECTANGLE);
    glMatrixMode(GL_TEXTURE);
    glScalef(30, 20, 1);
    glMatrixMode(GL_MODELVIEW);
    square(0.9f);
    errors("rectangle");
    glTexImage2D(GL_TEXTURE_RECTANGLE, 1, GL_RGBA, 15, 10, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    errors("a second level");
    glTexParameteri(GL_TEXTURE_RECTANGLE, GL_TEXTURE_WRAP_S, GL_REPEAT);
    errors("repeating");
    BOUND(GL_TEXTURE_BINDING_RECTANGLE, 0);
    INTS(GL_MAX_RECTANGLE_TEXTURE_SIZE, 1);
}

static void arrays(void)
{
    unsigned char image[8 * 8 * 4 * 6];
    if (!need_version(3, 0))
        return;
    checkerboard(image, 8, 8 * 6, 2);
    glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_RGBA8, 8, 8, 6, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 2, 2, 1, 4, 4, 3, GL_BGRA, GL_UNSIGNED_BYTE, image);
    glTexImage2D(GL_TEXTURE_1D_ARRAY, 0, GL_RGBA8, 16, 6, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
    nearest(GL_TEXTURE_2D_ARRAY);
    nearest(GL_TEXTURE_1D_ARRAY);
    GLuint program = build_program("#version 130\nout vec2 at; void main() { gl_Position = gl_Vertex; at = gl_MultiTexCoord0.st; }",
                                   "#version 130\nuniform sampler2DArray planes; uniform sampler1DArray lines; in vec2 at;\n"
                                   "void main() { float layer = floor(at.x * 6.0);\n"
                                   "gl_FragColor = at.y < 0.5 ? texture(planes, vec3(at * vec2(6.0, 2.0), layer)) : texture(lines, vec2(at.x * 6.0, layer)); }");
    glUseProgram(program);
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_1D_ARRAY, 0);
    glUniform1i(glGetUniformLocation(program, "planes"), 0);
    glUniform1i(glGetUniformLocation(program, "lines"), 1);
    glActiveTexture(GL_TEXTURE1);
    glTexImage2D(GL_TEXTURE_1D_ARRAY, 0, GL_RGBA8, 16, 6, 0, GL_RGBA, GL_UNSIGNED_BYTE, image + 100);
    square(0.95f);
    errors("arrays");
}

static void buffer_texture(void)
{
    GLuint buffer;
    unsigned char data[256 * 4];
    if (!need_version(3, 1))
        return;
    checkerboard(data, 16, 16, 3);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_TEXTURE_BUFFER, buffer);
    glBufferData(GL_TEXTURE_BUFFER, sizeof data, data, GL_STATIC_DRAW);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA8, buffer);
    glUseProgram(build_program("#version 140\nin vec4 at; void main() { gl_Position = at; }",
                               "#version 140\nuniform samplerBuffer values; out vec4 color;\n"
                               "void main() { ivec2 p = ivec2(gl_FragCoord.xy) / 16; color = texelFetch(values, p.y * 16 + p.x); }"));
    glBegin(GL_QUADS);
    for (int corner = 0; corner < 4; corner++)
        glVertexAttrib2f(0, corner == 1 || corner == 2 ? 1 : -1, corner >= 2 ? 1 : -1);
    glEnd();
    memset(data, 200, 100);
    glBufferSubData(GL_TEXTURE_BUFFER, 400, 100, data);
    glViewport(0, 0, SIZE, SIZE / 2);
    glBegin(GL_QUADS);
    for (int corner = 0; corner < 4; corner++)
        glVertexAttrib2f(0, corner == 1 || corner == 2 ? 1 : -1, corner >= 2 ? 1 : -1);
    glEnd();
    errors("buffer texture");
}

static void objects(void)
{
    GLuint names[20];
    GLboolean resident[20];
    GLfloat priorities[20];
    unsigned char image[4 * 4 * 4];
    glGenTextures(20, names);
    note("named: %d, is a texture: %d", names[0] != 0 && names[0] != names[1], glIsTexture(names[0]));
    glEnable(GL_TEXTURE_2D);
    for (int i = 0; i < 20; i++) {
        for (size_t b = 0; b < sizeof image; b++)
            image[b] = (unsigned char)(b * 5 + (size_t)i * 61);
        glBindTexture(GL_TEXTURE_2D, names[i]);
        nearest(GL_TEXTURE_2D);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
        priorities[i] = (float)i / 20;
    }
    glPrioritizeTextures(20, names, priorities);
    note("all resident: %d", glAreTexturesResident(20, names, resident));
    glDeleteTextures(5, names + 5);
    BOUND(GL_TEXTURE_BINDING_2D, names[19]);
    for (int i = 0; i < 20; i++) {
        cell(i % 5, i / 5, 5, 4);
        if (glIsTexture(names[i]))
            glBindTexture(GL_TEXTURE_2D, names[i]);
        square(0.9f);
    }
    glDeleteTextures(1, &names[19]); /* it is bound: the default texture takes its place */
    BOUND(GL_TEXTURE_BINDING_2D, 0);
    glBindTexture(GL_TEXTURE_3D, names[0]);
    errors("a texture of another target");
    glBindTexture(GL_TEXTURE_2D, 4711);
    note("4711 is a texture: %d", glIsTexture(4711));
    errors("a name of the program's own");
    GLuint more[3];
    glGenTextures(3, more);
    for (int i = 0; i < 3; i++)
        note("new name is in use: %d", glIsTexture(more[i]));
    glGenTextures(-1, more);
    errors("a negative number");
    glDeleteTextures(3, (const GLuint[]){0, 99999, more[0]});
    errors("deleting textures that do not exist");
}

CONFORM("texture_targets", COMPAT, {"cube", cube}, {"rectangle", rectangle}, {"arrays", arrays}, {"buffer_texture", buffer_texture},
        {"objects", objects})
