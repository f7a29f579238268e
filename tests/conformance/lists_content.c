/* Lists keep a copy of the client's memory at the time of compilation, for each kind of data. */
#include "conform.h"

static void arrays(void)
{
    GLfloat positions[24][2], colors[24][3];
    GLushort indices[] = {0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7};
    for (int i = 0; i < 24; i++) {
        int corner = i % 4;
        positions[i][0] = -0.9f + 0.3f * (float)(i / 4) + (corner == 1 || corner == 2 ? 0.25f : 0);
        positions[i][1] = corner >= 2 ? 0.2f : -0.8f;
        hue((float)i / 24, colors[i]);
    }
    glVertexPointer(2, GL_FLOAT, 0, positions);
    glColorPointer(3, GL_FLOAT, 0, colors);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
    glNewList(1, GL_COMPILE);
    glDrawArrays(GL_QUADS, 8, 16);
    glDrawElements(GL_TRIANGLES, 12, GL_UNSIGNED_SHORT, indices);
    glEndList();
    memset(positions, 0, sizeof positions);
    memset(colors, 0, sizeof colors);
    memset(indices, 0, sizeof indices);
    glDisableClientState(GL_COLOR_ARRAY);
    glDisableClientState(GL_VERTEX_ARRAY);
    glCallList(1);
    glTranslatef(0.2f, 0.7f, 0);
    glScalef(0.5f, 0.5f, 1);
    glCallList(1);
    errors("arrays in lists");
}

static void array_elements(void)
{
    GLfloat data[3][2] = {{-0.5f, -0.5f}, {0.5f, -0.5f}, {0, 0.5f}};
    glVertexPointer(2, GL_FLOAT, 0, data);
    glEnableClientState(GL_VERTEX_ARRAY);
    glNewList(1, GL_COMPILE);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; i++) {
        color_of(i);
        glArrayElement(i);
    }
    glEnd();
    glEndList();
    memset(data, 0, sizeof data);
    glCallList(1);
    errors("elements in lists");
}

static void pixels(void)
{
    unsigned char image[32 * 32 * 4], bitmap[32];
    pixel_projection();
    checkerboard(image, 32, 32, 8);
    for (int i = 0; i < 32; i++)
        bitmap[i] = (unsigned char)(i * 37);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 32);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 4);
    glNewList(1, GL_COMPILE);
    glRasterPos2i(20, 20);
    glDrawPixels(24, 32, GL_RGBA, GL_UNSIGNED_BYTE, image);
    glEndList();
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 0);
    glPixelStorei(GL_UNPACK_LSB_FIRST, 1);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glNewList(2, GL_COMPILE);
    glColor3f(1, 1, 0);
    glRasterPos2i(100, 30);
    glBitmap(16, 16, 0, 0, 20, 3, bitmap);
    glBitmap(16, 16, 2, 2, 20, 3, bitmap);
    glEndList();
    memset(image, 0, sizeof image);
    memset(bitmap, 0, sizeof bitmap);
    glPixelStorei(GL_UNPACK_LSB_FIRST, 0);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 9);
    glCallList(1);
    glCallList(2);
    glTranslatef(60, 100, 0);
    glPixelZoom(2, 1.5f);
    glCallList(1);
    glCallList(2);
    FLOATS(GL_CURRENT_RASTER_POSITION, 4);
    errors("pixels in lists");
}

static void textures(void)
{
    unsigned char image[32 * 32 * 4], patch[8 * 8 * 4];
    GLuint names[2];
    checkerboard(image, 32, 32, 8);
    memset(patch, 200, sizeof patch);
    glGenTextures(2, names);
    glNewList(1, GL_COMPILE);
    for (int i = 0; i < 2; i++) {
        glBindTexture(GL_TEXTURE_2D, names[i]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, (const float[]){1, 0, 0, 1});
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 32, 32, 0, i ? GL_BGRA : GL_RGBA, GL_UNSIGNED_BYTE, image);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 4 + i * 10, 6, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, patch);
    }
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    glEnable(GL_TEXTURE_2D);
    glEndList();
    memset(image, 0, sizeof image);
    memset(patch, 0, sizeof patch);
    BOUND(GL_TEXTURE_BINDING_2D, 0);
    ENABLED(GL_TEXTURE_2D);
    glCallList(1);
    BOUND(GL_TEXTURE_BINDING_2D, names[1]);
    ENABLED(GL_TEXTURE_2D);
    for (int i = 0; i < 2; i++) {
        glViewport(i * SIZE / 2, 0, SIZE / 2, SIZE);
        glBindTexture(GL_TEXTURE_2D, names[i]);
        square(0.8f);
    }
    GLfloat border[4];
    glGetTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, border);
    note_floats("border", border, 4);
    errors("textures in lists");
}

static void matrices_and_lights(void)
{
    GLfloat matrix[16] = {0.5f, 0.1f, 0, 0, -0.1f, 0.5f, 0, 0, 0, 0, 1, 0, 0.2f, 0.1f, 0, 1}, position[4] = {0.5f, 0.5f, 1, 0}, color[4] = {1, 0.5f, 0.2f, 1};
    GLdouble plane[4] = {1, 0, 0, 0.4};
    glNewList(1, GL_COMPILE);
    glMatrixMode(GL_MODELVIEW);
    glLoadMatrixf(matrix);
    glMultMatrixf(matrix);
    glPushMatrix();
    glLightfv(GL_LIGHT0, GL_POSITION, position);
    glLightfv(GL_LIGHT0, GL_DIFFUSE, color);
    glMaterialfv(GL_FRONT_AND_BACK, GL_DIFFUSE, color);
    glClipPlane(GL_CLIP_PLANE0, plane);
    glFogfv(GL_FOG_COLOR, color);
    glEnable(GL_CLIP_PLANE0);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glPopMatrix();
    glScalef(3, 3, 1);
    glEndList();
    memset(matrix, 0, sizeof matrix);
    memset(position, 0, sizeof position);
    memset(color, 0, sizeof color);
    memset(plane, 0, sizeof plane);
    glCallList(1);
    FLOATS(GL_MODELVIEW_MATRIX, 16);
    GLfloat value[4];
    glGetLightfv(GL_LIGHT0, GL_POSITION, value);
    note_floats("position", value, 4);
    FLOATS(GL_FOG_COLOR, 4);
    glNormal3f(0, 0, 1);
    square(0.8f);
    errors("matrices and lights in lists");
}

/* A list with so much geometry that it is longer than any message. */
static void large(void)
{
    glNewList(1, GL_COMPILE);
    for (int run = 0; run < 20; run++) {
        color_of(run);
        glBegin(run % 2 ? GL_TRIANGLE_STRIP : GL_LINE_LOOP);
        for (int i = 0; i < 5000; i++) {
            float x = -0.95f + 1.9f * (float)i / 5000, y = -0.95f + 0.095f * (float)run;
            if (i % 100 == 0)
                color_of(i / 100 + run);
            glVertex2f(x, y + (i % 2 ? 0.06f : 0));
        }
        glEnd();
    }
    glEndList();
    glCallList(1);
    FLOATS(GL_CURRENT_COLOR, 4);
    errors("a large list");
}

static void programs(void)
{
    if (!need_version(2, 0))
        return;
    GLuint program = build_program("uniform vec4 shift; void main() { gl_Position = gl_Vertex + shift; gl_FrontColor = gl_Color; }",
                                   "uniform vec3 tint[2]; void main() { gl_FragColor = vec4(gl_Color.rgb * tint[0] + tint[1], 1.0); }");
    GLint shift = glGetUniformLocation(program, "shift"), tint = glGetUniformLocation(program, "tint");
    GLfloat tints[6] = {1, 0.5f, 0, 0, 0, 0.5f};
    glNewList(1, GL_COMPILE);
    glUseProgram(program);
    glUniform4f(shift, 0.3f, 0.2f, 0, 0);
    glUniform3fv(tint, 2, tints);
    glColor3f(1, 1, 1);
    square(0.5f);
    glUseProgram(0);
    square(0.2f);
    glEndList();
    memset(tints, 0, sizeof tints);
    glCallList(1);
    GLfloat back[4];
    glGetUniformfv(program, shift, back);
    note_floats("shift", back, 4);
    errors("programs in lists");
}

/* Lists that copy from the window. The copies contain drawing from before, between and within the
 * lists. */
static void window(void)
{
    GLuint texture;
    if (!need_version(3, 0))
        return;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glNewList(1, GL_COMPILE);
    glColor3f(0.9f, 0.5f, 0.1f);
    square(0.3f);
    glRasterPos2f(0.1f, 0.2f);
    glCopyPixels(90, 90, 70, 60, GL_COLOR);
    glEndList();
    glNewList(2, GL_COMPILE);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 64, 64, 128, 128, 0);
    glEnable(GL_TEXTURE_2D);
    glBegin(GL_QUADS);
    for (int i = 0; i < 4; i++) {
        float x = (float)(i % 3 != 0), y = (float)(i / 2);
        glTexCoord2f(x, y);
        glVertex2f(x * 0.6f - 0.95f, y * 0.5f - 0.9f);
    }
    glEnd();
    glDisable(GL_TEXTURE_2D);
    glCallList(1);
    glEndList();
    glColor3f(0.2f, 0.4f, 0.9f);
    square(0.8f);
    glCallList(1);
    glColor3f(0.3f, 0.9f, 0.4f);
    square(0.1f);
    glCallList(2);
    glNewList(3, GL_COMPILE);
    glBlitFramebuffer(100, 100, 180, 160, 10, 170, 120, 250, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glEndList();
    glCallList(3);
    errors("lists that read the window");
}

CONFORM("lists_content", COMPAT, {"arrays", arrays}, {"array_elements", array_elements}, {"pixels", pixels}, {"textures", textures},
        {"matrices_and_lights", matrices_and_lights}, {"large", large}, {"programs", programs}, {"window", window})
