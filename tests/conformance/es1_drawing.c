/* Drawing with OpenGL ES 1.1: arrays of its own types, point sizes, lights, textures, and
 * rectangles from textures. */
#include "es1.h"

static void texture(int size)
{
    unsigned char texels[32 * 32 * 4];
    checkerboard(texels, size, size, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glEnable(GL_TEXTURE_2D);
}

static void arrays(void)
{
    if (!begin_es1())
        return;
    static const GLbyte bytes[] = {-1, -1, 1, -1, 1, 1, -1, 1};
    static const GLshort shorts[] = {-9, -9, 0, 9, -9, 0, 9, 9, 0, -9, 9, 0};
    static const GLubyte colors[] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 0, 255};
    static const GLubyte order[] = {0, 1, 2, 0, 2, 3};
    GLfixed fixed[12], tints[16];
    for (int i = 0; i < 12; i++)
        fixed[i] = shorts[i] * 0x1800;
    for (int i = 0; i < 16; i++)
        tints[i] = colors[i] * 257;
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
    glMatrixMode(GL_MODELVIEW);
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        glLoadIdentity();
        if (i == 0) {
            es1Scalex(X16(0.8), X16(0.8), X16(1));
            glVertexPointer(2, GL_BYTE, 0, bytes);
            glColorPointer(4, GL_UNSIGNED_BYTE, 0, colors);
        } else if (i == 1) {
            glScalef(0.09f, 0.07f, 1);
            glVertexPointer(3, GL_SHORT, 6, shorts);
            glColorPointer(4, GL_FIXED, 0, tints);
        } else {
            es1Rotatex(X16(20), 0, 0, X16(1));
            glVertexPointer(3, GL_FIXED, 0, fixed);
        }
        if (i == 3)
            glDrawArrays(GL_LINE_LOOP, 0, 4);
        else
            glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, order);
        errors("array");
    }
    GLuint buffers[2];
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof fixed, fixed, GL_STATIC_DRAW);
    glVertexPointer(3, GL_FIXED, 0, NULL);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order, GL_DYNAMIC_DRAW);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    cell(1, 1, 2, 2);
    glLoadIdentity();
    glScalef(0.3f, 0.3f, 1);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, (void *)0);
    BOUND(GL_VERTEX_ARRAY_BUFFER_BINDING, buffers[0]);
    BOUND(GL_ELEMENT_ARRAY_BUFFER_BINDING, buffers[1]);
    errors("buffers");
    end_es1();
}

static void formats(void)
{
    if (!begin_es1())
        return;
    static const GLenum types[] = {GL_BYTE, GL_UNSIGNED_BYTE, GL_SHORT, GL_INT, GL_FLOAT, GL_FIXED, GL_DOUBLE, GL_HALF_FLOAT, GL_INT_2_10_10_10_REV};
    static const GLfloat data[16] = {0};
    for (int t = 0; t < 9; t++) {
        for (int size = 0; size <= 5; size++) {
            glVertexPointer(size, types[t], 0, data);
            GLenum vertex = glGetError();
            glColorPointer(size, types[t], 0, data);
            GLenum color = glGetError();
            glTexCoordPointer(size, types[t], 0, data);
            note("%04x %d: %s %s %s", types[t], size, error_name(vertex), error_name(color), error_name(glGetError()));
        }
        glNormalPointer(types[t], 0, data);
        GLenum normal = glGetError();
        es1PointSizePointerOES(types[t], 0, data);
        note("%04x: %s %s", types[t], error_name(normal), error_name(glGetError()));
    }
    glVertexPointer(GL_BGRA, GL_UNSIGNED_BYTE, 0, data);
    errors("blue first");
    glNormalPointer(GL_FLOAT, -1, data);
    errors("stride");
    glNormalPointer(GL_FLOAT, 4000, data);
    errors("long stride");
    static const GLenum states[] = {GL_VERTEX_ARRAY, GL_NORMAL_ARRAY, GL_COLOR_ARRAY, GL_TEXTURE_COORD_ARRAY, GL_POINT_SIZE_ARRAY_OES, GL_INDEX_ARRAY, GL_EDGE_FLAG_ARRAY,
                                    GL_FOG_COORD_ARRAY, GL_SECONDARY_COLOR_ARRAY, GL_PRIMITIVE_RESTART_NV};
    static const GLenum pointers[] = {GL_VERTEX_ARRAY_POINTER, GL_NORMAL_ARRAY_POINTER, GL_COLOR_ARRAY_POINTER, GL_TEXTURE_COORD_ARRAY_POINTER, GL_POINT_SIZE_ARRAY_POINTER_OES,
                                      GL_INDEX_ARRAY_POINTER, GL_EDGE_FLAG_ARRAY_POINTER, GL_FOG_COORD_ARRAY_POINTER, GL_SECONDARY_COLOR_ARRAY_POINTER,
                                      GL_FEEDBACK_BUFFER_POINTER};
    for (int i = 0; i < 10; i++) {
        glEnableClientState(states[i]);
        errors("enable");
        note("%04x: %d", states[i], glIsEnabled(states[i]));
        errors("enabled");
        INTS(states[i], 1);
        glDisableClientState(states[i]);
        errors("disable");
        void *pointer = NULL;
        glGetPointerv(pointers[i], &pointer);
        note("there: %d", pointer == data);
        errors("pointer");
    }
    INTS(GL_VERTEX_ARRAY_SIZE, 1);
    INTS(GL_VERTEX_ARRAY_TYPE, 1);
    INTS(GL_COLOR_ARRAY_TYPE, 1);
    INTS(GL_NORMAL_ARRAY_STRIDE, 1);
    INTS(GL_TEXTURE_COORD_ARRAY_SIZE, 1);
    INTS(GL_POINT_SIZE_ARRAY_TYPE_OES, 1);
    INTS(GL_POINT_SIZE_ARRAY_STRIDE_OES, 1);
    INTS(GL_POINT_SIZE_ARRAY_BUFFER_BINDING_OES, 1);
    INTS(GL_SECONDARY_COLOR_ARRAY_SIZE, 1);
    INTS(GL_CLIENT_ACTIVE_TEXTURE, 1);
    glClientActiveTexture(GL_TEXTURE0 + 7);
    errors("unit 7");
    glClientActiveTexture(GL_TEXTURE0 + 8);
    errors("unit 8");
    end_es1();
}

static void point_sizes(void)
{
    if (!begin_es1())
        return;
    GLfloat places[16][2], sizes[16];
    GLfixed fixed[16];
    for (int i = 0; i < 16; i++) {
        places[i][0] = -0.8f + 0.5f * (float)(i % 4);
        places[i][1] = -0.8f + 0.5f * (float)(i / 4);
        sizes[i] = 1.5f + (float)i * 1.25f;
        fixed[i] = X16(24 - i);
    }
    glEnableClientState(GL_VERTEX_ARRAY);
    glVertexPointer(2, GL_FLOAT, 0, places);
    glEnableClientState(GL_POINT_SIZE_ARRAY_OES);
    es1PointSizePointerOES(GL_FLOAT, 0, sizes);
    glColor4f(1, 0.5f, 0, 1);
    glDrawArrays(GL_POINTS, 0, 16);
    es1PointSizePointerOES(GL_FIXED, 0, fixed);
    texture(16);
    glEnable(GL_POINT_SPRITE);
    glTexEnvi(GL_POINT_SPRITE, GL_COORD_REPLACE, GL_TRUE);
    glLoadIdentity();
    glTranslatef(0.2f, 0.2f, 0);
    glDrawArrays(GL_POINTS, 0, 16);
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof sizes, sizes, GL_STATIC_DRAW);
    es1PointSizePointerOES(GL_FLOAT, 0, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    BOUND(GL_POINT_SIZE_ARRAY_BUFFER_BINDING_OES, buffer);
    glTranslatef(0, -0.25f, 0);
    glDrawArrays(GL_POINTS, 0, 16);
    glDisableClientState(GL_POINT_SIZE_ARRAY_OES);
    glPointSize(5);
    glTranslatef(-0.4f, 0.2f, 0);
    glDrawArrays(GL_POINTS, 0, 16);
    errors("point sizes");
    end_es1();
}

static void lit(void)
{
    if (!begin_es1())
        return;
    static const GLfixed corners[] = {-0xc000, -0xc000, 0, 0xc000, -0xc000, 0, -0xc000, 0xc000, 0, 0xc000, 0xc000, 0};
    static const GLbyte normals[] = {-80, -80, 90, 0, 80, -80, 90, 0, -80, 80, 90, 0, 80, 80, 90, 0};
    static const GLfixed coordinates[] = {0, 0, 0x20000, 0, 0, 0x20000, 0x20000, 0x20000};
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnable(GL_LIGHT1);
    glEnable(GL_NORMALIZE);
    glEnable(GL_COLOR_MATERIAL);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_NORMAL_ARRAY);
    glVertexPointer(3, GL_FIXED, 0, corners);
    glNormalPointer(GL_BYTE, 4, normals);
    es1Lightxv(GL_LIGHT0, GL_POSITION, (const GLfixed[]){X16(1), X16(2), X16(3), 0});
    es1Lightxv(GL_LIGHT1, GL_DIFFUSE, (const GLfixed[]){X16(0.5), 0, 0, X16(1)});
    es1Lightxv(GL_LIGHT1, GL_POSITION, (const GLfixed[]){X16(-1), X16(-2), X16(1), X16(1)});
    es1Materialxv(GL_FRONT_AND_BACK, GL_SPECULAR, (const GLfixed[]){X16(0.7), X16(0.7), X16(0.7), X16(1)});
    es1Materialx(GL_FRONT_AND_BACK, GL_SHININESS, X16(20));
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        es1Color4x(X16(0.25 * i), X16(0.5), X16(1 - 0.25 * i), X16(1));
        if (i == 1) {
            texture(32);
            glClientActiveTexture(GL_TEXTURE0);
            glEnableClientState(GL_TEXTURE_COORD_ARRAY);
            glTexCoordPointer(2, GL_FIXED, 0, coordinates);
        } else if (i == 2) {
            glEnable(GL_FOG);
            es1Fogx(GL_FOG_MODE, GL_LINEAR);
            es1Fogxv(GL_FOG_COLOR, (const GLfixed[]){X16(1), X16(1), 0, X16(1)});
            es1Fogx(GL_FOG_END, X16(2));
            es1Translatex(0, 0, X16(-0.5));
        } else if (i == 3) {
            glDisableClientState(GL_TEXTURE_COORD_ARRAY);
            es1MultiTexCoord4x(GL_TEXTURE0, X16(0.3), X16(0.1), 0, X16(1));
            glMultiTexCoord4f(GL_TEXTURE0, 0.4f, 0.1f, 0, 1);
            glDisableClientState(GL_NORMAL_ARRAY);
            es1Normal3x(0, X16(0.5), X16(1));
            glEnable(GL_ALPHA_TEST);
            es1AlphaFuncx(GL_GREATER, X16(0.25));
        }
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        errors("lit");
    }
    FLOATS(GL_CURRENT_TEXTURE_COORDS, 4);
    FLOATS(GL_CURRENT_COLOR, 4);
    glColor4ub(10, 20, 30, 40);
    FLOATS(GL_CURRENT_COLOR, 4);
    end_es1();
}

static void draw_texture(bool es1)
{
    if (!need_extension("GL_OES_draw_texture")) {
        end_es1();
        return;
    }
    texture(32);
    static const GLint whole[4] = {0, 0, 32, 32}, part[4] = {4, 4, 20, 12}, flipped[4] = {0, 32, 32, -32};
    GLint back[4] = {0};
    glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_CROP_RECT_OES, whole);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_CROP_RECT_OES, back);
    note_ints("crop", back, 4);
    glClearDepth(1);
    glEnable(GL_DEPTH_TEST);
    es1DrawTexiOES(5, 5, 0, 60, 60);
    es1DrawTexivOES((const GLint[]){70, 5, 0, 60, 60});
    glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_CROP_RECT_OES, part);
    es1DrawTexfOES(5.5f, 70.25f, 0.5f, 60, 50.5f);
    es1DrawTexfvOES((const GLfloat[]){70, 70, 0.25f, 60, 60});
    glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_CROP_RECT_OES, flipped);
    glColor4f(1, 0.5f, 0.5f, 1);
    es1DrawTexsOES(5, 135, 0, 60, 60);
    es1DrawTexsvOES((const GLshort[]){70, 135, 0, 60, 60});
    glLoadIdentity();
    glRotatef(45, 0, 0, 1);
    es1DrawTexxOES(X16(140.5), X16(5), 0, X16(60), X16(100.25));
    es1DrawTexxvOES((const GLfixed[]){X16(140), X16(120), X16(0.75), X16(100), X16(100)});
    errors("drawn");
    es1DrawTexiOES(5, 5, 0, 0, 60);
    errors("zero width");
    es1DrawTexfOES(5, 5, 0, 10, -60);
    errors("negative height");
    note("ES 1: %d", es1);
    end_es1();
}

static void rectangles(void)
{
    if (begin_es1())
        draw_texture(true);
}

static void rectangles_on_desktop(void)
{
    if (begin_es1_on_desktop())
        draw_texture(false);
}

static void mapped_coordinates(void)
{
    if (!begin_es1())
        return;
    if (!need_extension("GL_OES_texture_cube_map")) {
        end_es1();
        return;
    }
    GLubyte texels[8 * 8 * 4];
    GLint mode = 0;
    for (int face = 0; face < 6; face++) {
        for (int i = 0; i < 64; i++) {
            GLubyte color[4] = {(GLubyte)(face * 40), (GLubyte)(255 - i * 3), (GLubyte)((face & 1) * 200), 255};
            memcpy(texels + i * 4, color, 4);
        }
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, 0, GL_RGBA, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    }
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glEnable(GL_TEXTURE_CUBE_MAP);
    es1TexGenxOES(GL_TEXTURE_GEN_STR_OES, GL_TEXTURE_GEN_MODE, GL_NORMAL_MAP);
    glEnable(GL_TEXTURE_GEN_STR_OES);
    note("enabled: %d", glIsEnabled(GL_TEXTURE_GEN_STR_OES));
    es1GetTexGenivOES(GL_TEXTURE_GEN_STR_OES, GL_TEXTURE_GEN_MODE, &mode);
    note("mode: %04x", mode);
    GLfloat corners[16][3], normals[16][3];
    for (int i = 0; i < 16; i++) {
        corners[i][0] = -0.9f + 0.6f * (float)(i % 4), corners[i][1] = -0.9f + 0.6f * (float)(i / 4), corners[i][2] = 0;
        for (int k = 0; k < 3; k++)
            normals[i][k] = (float)((i * (k + 3)) % 7) - 3;
    }
    GLushort order[54];
    for (int i = 0, n = 0; i < 9; i++)
        for (int k = 0; k < 6; k++) {
            static const int corner[6] = {0, 1, 4, 1, 5, 4};
            order[n++] = (GLushort)(i / 3 * 4 + i % 3 + corner[k]);
        }
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_NORMAL_ARRAY);
    glVertexPointer(3, GL_FLOAT, 0, corners);
    glNormalPointer(GL_FLOAT, 0, normals);
    glDrawElements(GL_TRIANGLES, 54, GL_UNSIGNED_SHORT, order);
    errors("mapped");
    end_es1();
}

/* Features that OpenGL has and OpenGL ES 1 lacks. */
static void absent(void)
{
    if (!begin_es1())
        return;
    glBegin(GL_TRIANGLES);
    errors("glBegin");
    glVertex2f(0, 0);
    errors("glVertex2f");
    glColor3f(0, 0, 0);
    errors("glColor3f");
    glTexCoord2f(0, 0);
    errors("glTexCoord2f");
    glEnd();
    errors("glEnd");
    glPushAttrib(GL_ALL_ATTRIB_BITS);
    errors("glPushAttrib");
    glNewList(1, GL_COMPILE);
    errors("glNewList");
    glCallList(1);
    errors("glCallList");
    note("list: %u", glGenLists(1));
    errors("glGenLists");
    glRectf(0, 0, 1, 1);
    errors("glRectf");
    note("shader: %u", glCreateShader(GL_VERTEX_SHADER));
    errors("glCreateShader");
    glUseProgram(0);
    errors("glUseProgram");
    glVertexAttrib1f(1, 1);
    errors("glVertexAttrib1f");
    glPolygonMode(GL_FRONT, GL_LINE);
    errors("glPolygonMode");
    glDrawArrays(GL_QUADS, 0, 4);
    errors("quads");
    glDrawArrays(GL_TRIANGLES, 0, -4);
    errors("negative count");
    glEnable(GL_TEXTURE_1D);
    errors("texture 1D");
    glMatrixMode(GL_COLOR);
    errors("colour matrix");
    GLuint name = 99;
    glGenVertexArrays(1, &name);
    note("vertex array: %u", name);
    errors("glGenVertexArrays");
    glBindVertexArray(0);
    errors("glBindVertexArray");
    note("strings: %d %d", glGetString(GL_SHADING_LANGUAGE_VERSION) == NULL, glGetString(GL_EXTENSIONS) != NULL);
    errors("strings");
    note("indexed: %d", glGetStringi(GL_EXTENSIONS, 0) == NULL);
    errors("indexed");
    INTS(GL_MAJOR_VERSION, 1);
    INTS(GL_MAX_TEXTURE_UNITS, 1);
    INTS(GL_MAX_CLIP_PLANES, 1);
    INTS(GL_IMPLEMENTATION_COLOR_READ_FORMAT, 1);
    end_es1();
}

CONFORM("es1_drawing", NONE, {"arrays", arrays}, {"formats", formats}, {"point_sizes", point_sizes}, {"lit", lit}, {"rectangles", rectangles},
        {"rectangles_on_desktop", rectangles_on_desktop}, {"mapped_coordinates", mapped_coordinates}, {"absent", absent})
