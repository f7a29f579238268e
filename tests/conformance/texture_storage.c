/* Immutable textures of all targets, views of them, buffer textures with ranges, copies between
 * images, clears, invalidation, and errors. */
#include "conform.h"

static unsigned char bytes[1 << 16];

static void fill_bytes(void)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)random_bits();
}

static GLuint texture_of(GLenum target)
{
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(target, texture);
    return texture;
}

static void note_texture(GLenum target)
{
    static const GLenum names[] = {GL_TEXTURE_IMMUTABLE_FORMAT, GL_TEXTURE_IMMUTABLE_LEVELS, GL_TEXTURE_VIEW_MIN_LEVEL, GL_TEXTURE_VIEW_NUM_LEVELS,
                                   GL_TEXTURE_VIEW_MIN_LAYER, GL_TEXTURE_VIEW_NUM_LAYERS, GL_TEXTURE_MAX_LEVEL, GL_IMAGE_FORMAT_COMPATIBILITY_TYPE};
    GLint values[8];
    for (int i = 0; i < 8; i++) {
        values[i] = -7;
        glGetTexParameteriv(target, names[i], &values[i]);
    }
    note_ints("texture", values, 8);
    GLenum face = target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_NEGATIVE_Y : target;
    for (GLint level = 0; level < 4; level++) {
        GLint size[4] = {-7, -7, -7, -7};
        glGetTexLevelParameteriv(face, level, GL_TEXTURE_WIDTH, &size[0]);
        glGetTexLevelParameteriv(face, level, GL_TEXTURE_HEIGHT, &size[1]);
        glGetTexLevelParameteriv(face, level, GL_TEXTURE_DEPTH, &size[2]);
        glGetTexLevelParameteriv(face, level, GL_TEXTURE_INTERNAL_FORMAT, &size[3]);
        note_ints("level", size, 4);
    }
    errors("texture");
}

static void targets(void)
{
    no_picture();
    if (!need_extension("GL_ARB_texture_storage"))
        return;
    texture_of(GL_TEXTURE_1D);
    glTexStorage1D(GL_TEXTURE_1D, 3, GL_R16F, 20);
    note_texture(GL_TEXTURE_1D);
    texture_of(GL_TEXTURE_1D_ARRAY);
    glTexStorage2D(GL_TEXTURE_1D_ARRAY, 2, GL_RG8, 20, 5);
    note_texture(GL_TEXTURE_1D_ARRAY);
    texture_of(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 4, GL_SRGB8_ALPHA8, 20, 12);
    note_texture(GL_TEXTURE_2D);
    texture_of(GL_TEXTURE_RECTANGLE);
    glTexStorage2D(GL_TEXTURE_RECTANGLE, 1, GL_RGBA8, 20, 12);
    note_texture(GL_TEXTURE_2D);
    texture_of(GL_TEXTURE_CUBE_MAP);
    glTexStorage2D(GL_TEXTURE_CUBE_MAP, 3, GL_RGB10_A2, 16, 16);
    note_texture(GL_TEXTURE_CUBE_MAP);
    texture_of(GL_TEXTURE_3D);
    glTexStorage3D(GL_TEXTURE_3D, 3, GL_RGBA16, 16, 8, 6);
    note_texture(GL_TEXTURE_3D);
    texture_of(GL_TEXTURE_2D_ARRAY);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 3, GL_DEPTH_COMPONENT24, 16, 8, 6);
    note_texture(GL_TEXTURE_2D_ARRAY);
    if (has_extension("GL_ARB_texture_cube_map_array")) {
        texture_of(GL_TEXTURE_CUBE_MAP_ARRAY);
        glTexStorage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 2, GL_RGBA8, 8, 8, 12);
        note_texture(GL_TEXTURE_CUBE_MAP_ARRAY);
        fill_bytes();
        glTexSubImage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 0, 1, 2, 3, 4, 4, 8, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
        memset(bytes, 0, sizeof bytes);
        glGetTexImage(GL_TEXTURE_CUBE_MAP_ARRAY, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
        errors("cube map array");
        glTexStorage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 1, GL_RGBA8, 8, 8, 12);
        errors("twice");
        texture_of(GL_TEXTURE_CUBE_MAP_ARRAY);
        glTexStorage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 1, GL_RGBA8, 8, 8, 7);
        errors("not whole cubes");
        glTexImage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 0, GL_RGBA8, 8, 8, 18, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        note_texture(GL_TEXTURE_CUBE_MAP_ARRAY);
    }
    /* Each level is written and read back. */
    texture_of(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 5, GL_RGBA8, 16, 16);
    random_seed(4);
    fill_bytes();
    for (int l = 0; l < 5; l++)
        glTexSubImage2D(GL_TEXTURE_2D, l, 0, 0, 16 >> l, 16 >> l, GL_RGBA, GL_UNSIGNED_BYTE, bytes + l * 7);
    for (int l = 0; l < 5; l++) {
        glGetTexImage(GL_TEXTURE_2D, l, GL_BGRA, GL_UNSIGNED_BYTE, bytes);
        note_bytes("level", bytes, (size_t)(16 >> l) * (size_t)(16 >> l) * 4);
    }
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    errors("immutable");
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 0, 0, 8, 8, 0);
    errors("copied to an immutable one");
    GLuint texture = texture_of(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 9, GL_RGBA8, 16, 16);
    errors("too many levels");
    glTexStorage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16);
    errors("no levels");
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 0, 16);
    errors("no width");
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA, 16, 16);
    errors("unsized");
    glTexStorage2D(GL_TEXTURE_2D, 1, 77, 16, 16);
    errors("no format");
    glTexStorage2D(GL_TEXTURE_3D, 1, GL_RGBA8, 16, 16);
    errors("no such target");
    glTexStorage1D(GL_PROXY_TEXTURE_1D, 3, GL_RGBA8, 100000);
    errors("proxy");
    glBindTexture(GL_TEXTURE_2D, 0);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 16, 16);
    errors("no texture");
    glDeleteTextures(1, &texture);
}

static void views(void)
{
    if (!need_extension("GL_ARB_texture_view"))
        return no_picture();
    GLuint array = texture_of(GL_TEXTURE_2D_ARRAY), views[6];
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 4, GL_RGBA8, 32, 32, 12);
    for (int l = 0; l < 4; l++) {
        fill_bytes();
        glTexSubImage3D(GL_TEXTURE_2D_ARRAY, l, 0, 0, 0, 32 >> l, 32 >> l, 12, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    }
    glGenTextures(6, views);
    glTextureView(views[0], GL_TEXTURE_2D, array, GL_RGBA8, 0, 1, 3, 1);
    glTextureView(views[1], GL_TEXTURE_CUBE_MAP, array, GL_RGBA8, 1, 3, 2, 6);
    glTextureView(views[2], GL_TEXTURE_2D_ARRAY, array, GL_RGBA8UI, 0, 100, 4, 100);
    glTextureView(views[3], GL_TEXTURE_2D, array, GL_SRGB8_ALPHA8, 2, 2, 5, 1);
    errors("views");
    static const GLenum kinds[] = {GL_TEXTURE_2D, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D};
    for (int i = 0; i < 4; i++) {
        glBindTexture(kinds[i], views[i]);
        note_texture(kinds[i]);
        if (i == 2)
            glGetTexImage(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, bytes);
        else
            glGetTexImage(i == 1 ? GL_TEXTURE_CUBE_MAP_NEGATIVE_X : kinds[i], 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
        note_bytes("view", bytes, 64);
        glTexParameteri(kinds[i], GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(kinds[i], GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        if (kinds[i] == GL_TEXTURE_2D) {
            glEnable(GL_TEXTURE_2D);
            cell(i == 0 ? 0 : 1, 0, 2, 1);
            square(0.9f);
        }
    }
    /* Writes to either texture are visible in the other. */
    glBindTexture(GL_TEXTURE_2D, views[0]);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmn");
    glBindTexture(GL_TEXTURE_2D_ARRAY, array);
    glGetTexImage(GL_TEXTURE_2D_ARRAY, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    note_bytes("seen", bytes + 3 * 32 * 32 * 4, 32);
    errors("seen");
    glTextureView(views[0], GL_TEXTURE_2D, array, GL_RGBA8, 0, 1, 3, 1);
    errors("used before");
    glTextureView(views[4], GL_TEXTURE_2D, array, GL_RGBA16, 0, 1, 0, 1);
    errors("another class");
    glTextureView(views[4], GL_TEXTURE_3D, array, GL_RGBA8, 0, 1, 0, 1);
    errors("another kind");
    glTextureView(views[4], GL_TEXTURE_2D, array, GL_RGBA8, 0, 1, 0, 2);
    errors("two layers");
    glTextureView(views[4], GL_TEXTURE_2D, array, GL_RGBA8, 9, 1, 0, 1);
    errors("no such level");
    glTextureView(views[4], GL_TEXTURE_2D, array, GL_RGBA8, 0, 1, 77, 1);
    errors("no such layer");
    glTextureView(views[4], GL_TEXTURE_CUBE_MAP, array, GL_RGBA8, 0, 1, 0, 5);
    errors("five faces");
    glTextureView(views[4], GL_TEXTURE_2D, views[5], GL_RGBA8, 0, 1, 0, 1);
    errors("of an unused name");
    glTextureView(7777, GL_TEXTURE_2D, array, GL_RGBA8, 0, 1, 0, 1);
    errors("not generated");
    GLuint changeable = texture_of(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTextureView(views[4], GL_TEXTURE_2D, changeable, GL_RGBA8, 0, 1, 0, 1);
    errors("not immutable");
    glBindTexture(GL_TEXTURE_2D, views[0]);
}

static void buffer_ranges(void)
{
    no_picture();
    if (!need_extension("GL_ARB_texture_buffer_range"))
        return;
    INTS(GL_TEXTURE_BUFFER_OFFSET_ALIGNMENT, 1);
    INTS(GL_MAX_TEXTURE_BUFFER_SIZE, 1);
    fill_bytes();
    GLuint buffer = make_buffer(GL_TEXTURE_BUFFER, 1024, bytes);
    texture_of(GL_TEXTURE_BUFFER);
    GLuint program = STAGES(.vertex = "#version 150\nuniform samplerBuffer image; out vec4 seen; out float size; void main() { seen = texelFetch(image, gl_VertexID); "
                                      "size = float(textureSize(image)); gl_Position = vec4(0.0); }",
                            .fragment = "#version 150\nout vec4 c; void main() { c = vec4(1.0); }", .captured = (const char *const[]){"seen", "size"},
                            .captured_count = 2, .capture_mode = GL_INTERLEAVED_ATTRIBS);
    glUseProgram(program);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 256, NULL));
    static const struct {
        GLenum format;
        GLintptr offset;
        GLsizeiptr size;
    } ranges[] = {{GL_RGBA8, 0, 64}, {GL_R16, 64, 100}, {GL_RG32F, 256, 16}, {GL_RGB32F, 128, 120}, {GL_RGBA16F, 960, 64}};
    for (int i = 0; i < 5; i++) {
        glTexBufferRange(GL_TEXTURE_BUFFER, ranges[i].format, buffer, ranges[i].offset, ranges[i].size);
        errors("range");
        glBeginTransformFeedback(GL_POINTS);
        glDrawArrays(GL_POINTS, 0, 4);
        glEndTransformFeedback();
        note_buffer_ints("seen", GL_TRANSFORM_FEEDBACK_BUFFER, 20);
        GLint values[5] = {-7, -7, -7, -7, -7};
        glGetTexLevelParameteriv(GL_TEXTURE_BUFFER, 0, GL_TEXTURE_BUFFER_OFFSET, &values[0]);
        glGetTexLevelParameteriv(GL_TEXTURE_BUFFER, 0, GL_TEXTURE_BUFFER_SIZE, &values[1]);
        glGetTexLevelParameteriv(GL_TEXTURE_BUFFER, 0, GL_TEXTURE_INTERNAL_FORMAT, &values[2]);
        glGetTexLevelParameteriv(GL_TEXTURE_BUFFER, 0, GL_TEXTURE_WIDTH, &values[3]);
        glGetTexLevelParameteriv(GL_TEXTURE_BUFFER, 0, GL_TEXTURE_BUFFER_DATA_STORE_BINDING, &values[4]);
        values[4] = values[4] == (GLint)buffer;
        note_ints("texture", values, 5);
        errors("asked");
    }
    glBufferSubData(GL_TEXTURE_BUFFER, 960, 4, "abcd");
    glTexBufferRange(GL_TEXTURE_BUFFER, GL_RGBA8, buffer, 3, 16);
    errors("a crooked offset");
    glTexBufferRange(GL_TEXTURE_BUFFER, GL_RGBA8, buffer, 0, 0);
    errors("no size");
    glTexBufferRange(GL_TEXTURE_BUFFER, GL_RGBA8, buffer, 960, 128);
    errors("beyond");
    glTexBufferRange(GL_TEXTURE_BUFFER, GL_RGB8, buffer, 0, 64);
    errors("no such format");
    glTexBufferRange(GL_TEXTURE_2D, GL_RGBA8, buffer, 0, 64);
    errors("no such target");
    glTexBufferRange(GL_TEXTURE_BUFFER, GL_RGBA8, 7777, 0, 64);
    errors("no such buffer");
    glTexBufferRange(GL_TEXTURE_BUFFER, GL_RGBA8, 0, 3, -7);
    errors("no buffer");
}

static void copies(void)
{
    no_picture();
    if (!need_extension("GL_ARB_copy_image"))
        return;
    fill_bytes();
    GLuint flat = texture_of(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 3, GL_RGBA8, 16, 16);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    GLuint array = texture_of(GL_TEXTURE_2D_ARRAY);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 2, GL_RGBA8UI, 16, 16, 4);
    GLuint cube = texture_of(GL_TEXTURE_CUBE_MAP);
    glTexStorage2D(GL_TEXTURE_CUBE_MAP, 1, GL_R32F, 16, 16);
    GLuint volume = texture_of(GL_TEXTURE_3D);
    glTexStorage3D(GL_TEXTURE_3D, 1, GL_RG16, 16, 16, 4);
    GLuint packed = texture_of(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 16, 16);
    GLuint wide = texture_of(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA32UI, 16, 16);
    GLuint renderbuffer;
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 16, 16);
    errors("made");
    glCopyImageSubData(flat, GL_TEXTURE_2D, 0, 2, 3, 0, array, GL_TEXTURE_2D_ARRAY, 0, 1, 1, 2, 8, 8, 1);
    glCopyImageSubData(flat, GL_TEXTURE_2D, 0, 0, 0, 0, cube, GL_TEXTURE_CUBE_MAP, 0, 0, 0, 4, 16, 16, 1);
    glCopyImageSubData(array, GL_TEXTURE_2D_ARRAY, 0, 0, 0, 1, volume, GL_TEXTURE_3D, 0, 0, 4, 0, 12, 12, 3);
    glCopyImageSubData(flat, GL_TEXTURE_2D, 0, 4, 4, 0, flat, GL_TEXTURE_2D, 1, 0, 0, 0, 8, 8, 1);
    glCopyImageSubData(flat, GL_TEXTURE_2D, 0, 0, 0, 0, renderbuffer, GL_RENDERBUFFER, 0, 3, 3, 0, 10, 10, 1);
    glCopyImageSubData(renderbuffer, GL_RENDERBUFFER, 0, 3, 3, 0, flat, GL_TEXTURE_2D, 2, 0, 0, 0, 4, 4, 1);
    errors("copied");
    glBindTexture(GL_TEXTURE_2D, wide);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 4, GL_RGBA_INTEGER, GL_UNSIGNED_INT, bytes);
    glCopyImageSubData(wide, GL_TEXTURE_2D, 0, 0, 0, 0, packed, GL_TEXTURE_2D, 0, 4, 8, 0, 2, 2, 1);
    errors("to compressed");
    memset(bytes, 0, sizeof bytes);
    glBindTexture(GL_TEXTURE_2D, flat);
    for (int l = 1; l < 3; l++) {
        glGetTexImage(GL_TEXTURE_2D, l, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
        note_bytes("level", bytes, l == 1 ? 256 : 64);
    }
    memset(bytes, 0, sizeof bytes);
    glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_Z, 0, GL_RED, GL_FLOAT, bytes);
    glGetTexImage(GL_TEXTURE_CUBE_MAP_NEGATIVE_Y + 1, 0, GL_RED, GL_FLOAT, bytes);
    note_bytes("cube", bytes, 1024);
    glGetTexImage(GL_TEXTURE_2D_ARRAY, 0, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, bytes);
    note_bytes("layer", bytes + 2 * 1024 + (16 + 1) * 4, 32);
    glBindTexture(GL_TEXTURE_2D, packed);
    glGetCompressedTexImage(GL_TEXTURE_2D, 0, bytes);
    note_bytes("blocks", bytes + (2 * 4 + 1) * 16, 32);
    errors("read");
    glCopyImageSubData(flat, GL_TEXTURE_2D, 0, 0, 0, 0, wide, GL_TEXTURE_2D, 0, 0, 0, 0, 4, 4, 1);
    errors("another size");
    glCopyImageSubData(flat, GL_TEXTURE_2D, 0, 10, 0, 0, array, GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 8, 8, 1);
    errors("beyond");
    glCopyImageSubData(flat, GL_TEXTURE_2D, 0, 0, 0, 0, array, GL_TEXTURE_2D_ARRAY, 0, 0, 0, 9, 8, 8, 1);
    errors("no such layer");
    glCopyImageSubData(flat, GL_TEXTURE_2D, 9, 0, 0, 0, array, GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 1, 1, 1);
    errors("no such level");
    glCopyImageSubData(7777, GL_TEXTURE_2D, 0, 0, 0, 0, array, GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 1, 1, 1);
    errors("no such texture");
    glCopyImageSubData(flat, GL_TEXTURE_3D, 0, 0, 0, 0, array, GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 1, 1, 1);
    errors("another target");
    glCopyImageSubData(flat, GL_TEXTURE_BUFFER, 0, 0, 0, 0, array, GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 1, 1, 1);
    errors("no such target");
    glCopyImageSubData(flat, GL_TEXTURE_2D, 0, 0, 0, 0, array, GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, -1, 1, 1);
    errors("a negative width");
    glCopyImageSubData(wide, GL_TEXTURE_2D, 0, 0, 0, 0, packed, GL_TEXTURE_2D, 0, 1, 0, 0, 2, 2, 1);
    errors("not a block");
}

static void clears(void)
{
    no_picture();
    if (!need_extension("GL_ARB_clear_texture"))
        return;
    static const GLfloat color[] = {0.25f, 0.5f, 0.75f, 1};
    static const GLubyte small[] = {1, 2, 3, 4};
    GLuint texture = texture_of(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 3, GL_RGBA8, 16, 16);
    glClearTexImage(texture, 0, GL_RGBA, GL_FLOAT, color);
    glClearTexImage(texture, 1, GL_BGRA, GL_UNSIGNED_BYTE, small);
    glClearTexImage(texture, 2, GL_RGBA, GL_FLOAT, NULL);
    glClearTexSubImage(texture, 0, 3, 4, 0, 5, 6, 1, GL_RGBA, GL_UNSIGNED_BYTE, small);
    errors("clear");
    for (int l = 0; l < 3; l++) {
        glGetTexImage(GL_TEXTURE_2D, l, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
        note_bytes("level", bytes, (size_t)(16 >> l) * (size_t)(16 >> l) * 4);
    }
    GLuint array = texture_of(GL_TEXTURE_2D_ARRAY);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RG16I, 8, 8, 4);
    static const GLshort pair[] = {-5, 1000};
    glClearTexImage(array, 0, GL_RG_INTEGER, GL_SHORT, NULL);
    glClearTexSubImage(array, 0, 1, 1, 1, 4, 5, 2, GL_RG_INTEGER, GL_SHORT, pair);
    glGetTexImage(GL_TEXTURE_2D_ARRAY, 0, GL_RG_INTEGER, GL_SHORT, bytes);
    note_bytes("array", bytes, 1024);
    GLuint cube = texture_of(GL_TEXTURE_CUBE_MAP);
    glTexStorage2D(GL_TEXTURE_CUBE_MAP, 1, GL_RGBA8, 8, 8);
    glClearTexImage(cube, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glClearTexSubImage(cube, 0, 0, 0, 2, 8, 4, 3, GL_RGBA, GL_UNSIGNED_BYTE, small);
    for (GLenum f = 0; f < 6; f++) {
        glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + f, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
        note_bytes("face", bytes, 256);
    }
    GLuint depth = texture_of(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_DEPTH24_STENCIL8, 8, 8);
    static const GLuint both = 0x80000042;
    glClearTexImage(depth, 0, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, &both);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, bytes);
    note_bytes("depth", bytes, 256);
    errors("others");
    glClearTexImage(depth, 0, GL_RGBA, GL_FLOAT, color);
    errors("a colour for a depth");
    glClearTexImage(array, 0, GL_RGBA, GL_FLOAT, color);
    errors("floats for integers");
    glClearTexImage(texture, 7, GL_RGBA, GL_FLOAT, color);
    errors("no such level");
    glClearTexImage(texture, 0, GL_RGBA, GL_BITMAP, color);
    errors("no such type");
    glClearTexSubImage(texture, 0, 10, 0, 0, 10, 1, 1, GL_RGBA, GL_FLOAT, color);
    errors("beyond");
    glClearTexSubImage(texture, 0, 0, 0, 0, -1, 1, 1, GL_RGBA, GL_FLOAT, color);
    errors("a negative width");
    glClearTexImage(0, 0, GL_RGBA, GL_FLOAT, color);
    errors("no texture");
    glClearTexImage(7777, 0, GL_RGBA, GL_FLOAT, color);
    errors("not a texture");
    GLuint buffer = texture_of(GL_TEXTURE_BUFFER);
    glClearTexImage(buffer, 0, GL_RGBA, GL_FLOAT, color);
    errors("a buffer texture");
    GLuint packed = texture_of(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 16, 16);
    glClearTexImage(packed, 0, GL_RGBA, GL_FLOAT, color);
    errors("compressed");
    if (!has_extension("GL_ARB_invalidate_subdata"))
        return;
    glInvalidateTexImage(texture, 1);
    glInvalidateTexSubImage(texture, 0, 2, 2, 0, 4, 4, 1);
    errors("invalidated");
    glInvalidateTexImage(texture, 77);
    errors("no such level");
    glInvalidateTexSubImage(texture, 0, 14, 2, 0, 4, 4, 1);
    errors("beyond");
    glInvalidateTexImage(7777, 0);
    errors("no such texture");
    GLuint store = make_buffer(GL_ARRAY_BUFFER, 64, NULL);
    glInvalidateBufferData(store);
    glInvalidateBufferSubData(store, 16, 16);
    errors("buffers");
    glInvalidateBufferSubData(store, 60, 16);
    errors("beyond the buffer");
    glInvalidateBufferData(7777);
    errors("no such buffer");
    static const GLenum attachments[] = {GL_COLOR, GL_DEPTH, GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT31};
    glInvalidateFramebuffer(GL_FRAMEBUFFER, 2, attachments);
    errors("the default framebuffer");
    glInvalidateFramebuffer(GL_FRAMEBUFFER, 1, attachments + 2);
    errors("an attachment that it has not");
    glInvalidateSubFramebuffer(GL_FRAMEBUFFER, 1, attachments, 0, 0, 4, -4);
    errors("a negative height");
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glInvalidateFramebuffer(GL_FRAMEBUFFER, 1, attachments);
    errors("an attachment of the default one");
    glInvalidateFramebuffer(GL_FRAMEBUFFER, 1, attachments + 3);
    errors("too many attachments");
    glInvalidateFramebuffer(GL_TEXTURE_2D, 1, attachments);
    errors("no framebuffer");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

/* Logs GL_TEXTURE_BASE_LEVEL and GL_TEXTURE_MAX_LEVEL, which are clamped to the levels of an
 * immutable texture. */
static void note_levels(GLuint texture, const char *when)
{
    GLint levels[2] = {-7, -7};
    GLfloat floats[2] = {-7, -7};
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, &levels[0]);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, &levels[1]);
    note_ints(when, levels, 2);
    glGetTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, &floats[0]);
    glGetTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, &floats[1]);
    note_floats("floats", floats, 2);
    if (has_extension("GL_ARB_direct_state_access")) {
        levels[0] = levels[1] = -7;
        glGetTextureParameteriv(texture, GL_TEXTURE_BASE_LEVEL, &levels[0]);
        glGetTextureParameteriv(texture, GL_TEXTURE_MAX_LEVEL, &levels[1]);
        note_ints("by name", levels, 2);
    }
    errors(when);
}

enum setter { BOUND_INT, BOUND_FLOAT, BOUND_INTS, BOUND_FLOATS, BOUND_INTEGERS, NAMED_INT, NAMED_FLOAT, NAMED_INTEGERS, EXT_INT, SETTERS };

static void set_level(enum setter setter, GLuint texture, GLenum name, GLint value)
{
    GLfloat real = (GLfloat)value;
    switch (setter) {
    case BOUND_INT: glTexParameteri(GL_TEXTURE_2D, name, value); break;
    case BOUND_FLOAT: glTexParameterf(GL_TEXTURE_2D, name, real); break;
    case BOUND_INTS: glTexParameteriv(GL_TEXTURE_2D, name, &value); break;
    case BOUND_FLOATS: glTexParameterfv(GL_TEXTURE_2D, name, &real); break;
    case BOUND_INTEGERS: glTexParameterIiv(GL_TEXTURE_2D, name, &value); break;
    case NAMED_INT: glTextureParameteri(texture, name, value); break;
    case NAMED_FLOAT: glTextureParameterf(texture, name, real); break;
    case NAMED_INTEGERS: glTextureParameterIiv(texture, name, &value); break;
    default: glTextureParameteriEXT(texture, GL_TEXTURE_2D, name, value); break;
    }
}

/* Parameters that were set before the storage are clamped when the storage is made. Later
 * parameters are clamped immediately. */
static void levels(void)
{
    no_picture();
    if (!need_extension("GL_ARB_texture_storage"))
        return;
    static const GLint values[] = {2, 0, 3, 1000, -1};
    bool named = has_extension("GL_ARB_direct_state_access"), ext = has_extension("GL_EXT_direct_state_access");
    for (int way = 0; way < 3; way++) {
        if ((way == 1 && !named) || (way == 2 && !ext))
            continue;
        for (int before = 0; before < 3; before++) {
            GLuint texture = texture_of(GL_TEXTURE_2D);
            if (before > 0) {
                glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, before == 1 ? 2 : 50);
                glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, before == 1 ? 100.0f : 1.0f);
            }
            note_levels(texture, "before");
            if (way == 0)
                glTexStorage2D(GL_TEXTURE_2D, 4, GL_RGBA8, 16, 16);
            else if (way == 1)
                glTextureStorage2D(texture, 4, GL_RGBA8, 16, 16);
            else
                glTextureStorage2DEXT(texture, GL_TEXTURE_2D, 4, GL_RGBA8, 16, 16);
            note_levels(texture, "made");
            for (enum setter setter = BOUND_INT; setter < SETTERS; setter++) {
                if ((setter >= NAMED_INT && setter <= NAMED_INTEGERS && !named) || (setter == EXT_INT && !ext))
                    continue;
                for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
                    set_level(setter, texture, GL_TEXTURE_BASE_LEVEL, values[i]);
                    note_levels(texture, "base");
                    set_level(setter, texture, GL_TEXTURE_MAX_LEVEL, values[i]);
                    note_levels(texture, "most");
                }
                /* The base level is above the highest level. */
                set_level(setter, texture, GL_TEXTURE_BASE_LEVEL, 3);
                set_level(setter, texture, GL_TEXTURE_MAX_LEVEL, 1);
                note_levels(texture, "crossed");
            }
            glDeleteTextures(1, &texture);
        }
    }
}

CONFORM("texture_storage", COMPAT, {"targets", targets}, {"views", views}, {"buffer_ranges", buffer_ranges}, {"copies", copies}, {"clears", clears},
        {"levels", levels})
