/* Drawing functions for the scenes of many programs. */
#include "conform.h"

#include <math.h>

void pixel_projection(void)
{
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glOrtho(0, SIZE, 0, SIZE, -1, 1);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
}

void cell(int column, int row, int columns, int rows)
{
    int left = column * SIZE / columns, bottom = row * SIZE / rows;
    glViewport(left, bottom, (column + 1) * SIZE / columns - left, (row + 1) * SIZE / rows - bottom);
}

void square(float half)
{
    glBegin(GL_QUADS);
    glTexCoord2f(0, 0);
    glVertex2f(-half, -half);
    glTexCoord2f(1, 0);
    glVertex2f(half, -half);
    glTexCoord2f(1, 1);
    glVertex2f(half, half);
    glTexCoord2f(0, 1);
    glVertex2f(-half, half);
    glEnd();
}

void hue(float turn, float rgb[3])
{
    for (int c = 0; c < 3; c++) {
        float distance = fabsf(fmodf(turn + (float)c / 3, 1) * 6 - 3) - 1;
        rgb[c] = distance < 0 ? 0 : distance > 1 ? 1 : distance;
    }
}

void color_of(int index)
{
    float rgb[3];
    hue((float)(index * 7 % 31) / 31, rgb);
    for (int c = 0; c < 3; c++)
        rgb[c] = index % 3 == 2 ? 0.5f + rgb[c] / 2 : rgb[c] * (index % 3 ? 0.7f : 1);
    glColor3fv(rgb);
}

static GLuint compile(GLenum type, const char *source)
{
    GLuint shader = glCreateShader(type);
    GLint done = 0;
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    if (!done) {
        char text[1024];
        glGetShaderInfoLog(shader, sizeof text, NULL, text);
        note("shader does not compile: %s", text);
    }
    return shader;
}

GLuint build_program(const char *vertex, const char *fragment)
{
    GLuint program = glCreateProgram(), shaders[2] = {compile(GL_VERTEX_SHADER, vertex), compile(GL_FRAGMENT_SHADER, fragment)};
    GLint done = 0;
    for (int i = 0; i < 2; i++)
        glAttachShader(program, shaders[i]);
    glLinkProgram(program);
    for (int i = 0; i < 2; i++)
        glDeleteShader(shaders[i]);
    glGetProgramiv(program, GL_LINK_STATUS, &done);
    if (done)
        return program;
    char text[1024];
    glGetProgramInfoLog(program, sizeof text, NULL, text);
    note("program does not link: %s", text);
    return 0;
}

GLuint build_stages(const struct stages *stages)
{
    static const GLenum types[] = {GL_VERTEX_SHADER,   GL_TESS_CONTROL_SHADER, GL_TESS_EVALUATION_SHADER,
                                   GL_GEOMETRY_SHADER, GL_FRAGMENT_SHADER,     GL_COMPUTE_SHADER};
    const char *sources[] = {stages->vertex, stages->control, stages->evaluation, stages->geometry, stages->fragment, stages->compute};
    GLuint program = glCreateProgram();
    GLint done = 0;
    for (int i = 0; i < 6; i++) {
        if (!sources[i])
            continue;
        GLuint shader = compile(types[i], sources[i]);
        glAttachShader(program, shader);
        glDeleteShader(shader);
    }
    if (stages->captured)
        glTransformFeedbackVaryings(program, stages->captured_count, stages->captured, stages->capture_mode);
    if (stages->separable)
        glProgramParameteri(program, GL_PROGRAM_SEPARABLE, GL_TRUE);
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &done);
    if (!done) {
        char text[1024] = "";
        glGetProgramInfoLog(program, sizeof text, NULL, text);
        note("program does not link: %s", text);
    }
    return program;
}

GLuint make_buffer(GLenum target, GLsizeiptr size, const void *data)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(target, buffer);
    glBufferData(target, size, data, GL_DYNAMIC_COPY);
    return buffer;
}

/* Reads through a mapping, because OpenGL ES also has mappings. */
static void read_buffer(GLenum target, void *to, int words)
{
    GLsizeiptr size = (GLsizeiptr)words * 4;
    const void *from = glMapBufferRange(target, 0, size, GL_MAP_READ_BIT);
    if (from)
        memcpy(to, from, (size_t)size);
    else
        note("not mapped");
    glUnmapBuffer(target);
}

void note_buffer_ints(const char *what, GLenum target, int count)
{
    int values[256] = {0};
    read_buffer(target, values, count);
    note_ints(what, values, count);
}

void note_buffer_floats(const char *what, GLenum target, int count)
{
    float values[256] = {0};
    read_buffer(target, values, count);
    note_floats(what, values, count);
}

void checkerboard(unsigned char *rgba, int width, int height, int square_size)
{
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++, rgba += 4) {
            bool bright = (x / square_size + y / square_size) % 2;
            rgba[0] = (unsigned char)(bright ? 255 : x * 255 / width);
            rgba[1] = (unsigned char)(bright ? 255 - y * 128 / height : 40);
            rgba[2] = (unsigned char)(bright ? 60 : y * 255 / height);
            rgba[3] = (unsigned char)(bright ? 255 : 128);
        }
    }
}
