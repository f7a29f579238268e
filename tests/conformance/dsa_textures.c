/* GL_ARB_direct_state_access and GL_ARB_get_texture_sub_image: textures by name. */
#include "conform.h"

static unsigned char pixels[64 * 64 * 4 * 6];

static bool start(void)
{
    no_picture();
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * 7 + i / 61);
    return need_extension("GL_ARB_direct_state_access");
}

static unsigned char back[1 << 17];

static void whole(const char *what, GLuint texture, GLint level, GLenum format, GLenum type, GLsizei room)
{
    memset(back, 0x77, sizeof back);
    glGetTextureImage(texture, level, format, type, room, back);
    note_bytes(what, back, sizeof back);
    errors(what);
}

static void levels(const char *what, GLuint texture, GLint level)
{
    static const GLenum names[] = {GL_TEXTURE_WIDTH,    GL_TEXTURE_HEIGHT, GL_TEXTURE_DEPTH,      GL_TEXTURE_INTERNAL_FORMAT,
                                   GL_TEXTURE_RED_SIZE, GL_TEXTURE_SAMPLES, GL_TEXTURE_COMPRESSED, GL_TEXTURE_BUFFER_SIZE};
    GLint values[8];
    GLfloat width = -7;
    for (int i = 0; i < 8; i++) {
        values[i] = -7;
        glGetTextureLevelParameteriv(texture, level, names[i], &values[i]);
    }
    glGetTextureLevelParameterfv(texture, level, GL_TEXTURE_WIDTH, &width);
    note("%s level %d, width %.1f", what, level, width);
    note_ints(what, values, 8);
    errors(what);
}

static void images(void)
{
    if (!start())
        return;
    GLuint t[7];
    glCreateTextures(GL_TEXTURE_1D, 1, t);
    glCreateTextures(GL_TEXTURE_2D, 1, t + 1);
    glCreateTextures(GL_TEXTURE_3D, 1, t + 2);
    glCreateTextures(GL_TEXTURE_1D_ARRAY, 1, t + 3);
    glCreateTextures(GL_TEXTURE_2D_ARRAY, 1, t + 4);
    glCreateTextures(GL_TEXTURE_CUBE_MAP, 1, t + 5);
    glCreateTextures(GL_TEXTURE_RECTANGLE, 1, t + 6);
    glTextureStorage1D(t[0], 2, GL_RGBA8, 16);
    glTextureStorage2D(t[1], 3, GL_RGBA8, 16, 8);
    glTextureStorage3D(t[2], 2, GL_RGB8, 7, 5, 4);
    glTextureStorage2D(t[3], 1, GL_R8, 9, 3);
    glTextureStorage3D(t[4], 1, GL_RG8, 6, 5, 3);
    glTextureStorage2D(t[5], 1, GL_RGBA8, 4, 4);
    glTextureStorage2D(t[6], 1, GL_RGBA8, 10, 6);
    for (int i = 0; i < 7; i++)
        levels("storage", t[i], 0);
    levels("storage", t[1], 2);
    levels("storage", t[1], 5);
    glTextureSubImage1D(t[0], 0, 2, 10, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureSubImage2D(t[1], 0, 0, 0, 16, 8, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureSubImage2D(t[1], 1, 1, 1, 5, 2, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV, pixels);
    glTextureSubImage2D(t[3], 0, 0, 0, 9, 3, GL_RED, GL_UNSIGNED_BYTE, pixels);
    glTextureSubImage2D(t[6], 0, 0, 0, 10, 6, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTextureSubImage3D(t[2], 0, 0, 0, 0, 7, 5, 4, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 9);
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, 7);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 1);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 2);
    glPixelStorei(GL_UNPACK_SKIP_IMAGES, 1);
    glTextureSubImage3D(t[4], 0, 0, 0, 0, 6, 5, 3, GL_RG, GL_UNSIGNED_BYTE, pixels);
    glTextureSubImage3D(t[5], 0, 0, 0, 0, 4, 4, 6, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureSubImage3D(t[5], 0, 1, 1, 2, 2, 2, 2, GL_RGBA, GL_UNSIGNED_BYTE, pixels + 5);
    errors("filled");
    for (int i = 0; i < 7; i++)
        whole("image", t[i], 0, GL_RGBA, GL_UNSIGNED_BYTE, sizeof back);
    whole("level", t[1], 1, GL_RGBA, GL_UNSIGNED_BYTE, sizeof back);
    whole("floats", t[1], 0, GL_BGR, GL_FLOAT, sizeof back);
    glPixelStorei(GL_PACK_ROW_LENGTH, 20);
    glPixelStorei(GL_PACK_IMAGE_HEIGHT, 9);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 3);
    glPixelStorei(GL_PACK_SKIP_ROWS, 2);
    glPixelStorei(GL_PACK_SKIP_IMAGES, 1);
    glPixelStorei(GL_PACK_ALIGNMENT, 8);
    for (int i = 0; i < 7; i++)
        whole("laid out", t[i], 0, GL_RGB, GL_UNSIGNED_BYTE, sizeof back);
    /* First a size that is one byte too small, then a size that suffices. */
    glPixelStorei(GL_PACK_IMAGE_HEIGHT, 0);
    static const int rows[] = {2, 9, 0, 4, 0, 0, 7};
    for (int i = 0; i < 7; i++)
        if (rows[i]) {
            int most = 64 * (rows[i]) + 64 * 0 + (i == 0 ? 3 * 3 + 16 * 3 : i == 1 ? 3 * 3 + 16 * 3 : i == 3 ? 3 * 3 + 9 * 3 : 3 * 3 + 10 * 3);
            whole("enough", t[i], 0, GL_RGB, GL_UNSIGNED_BYTE, most);
            whole("too little", t[i], 0, GL_RGB, GL_UNSIGNED_BYTE, most - 1);
        }
    whole("no room", t[2], 0, GL_RGB, GL_UNSIGNED_BYTE, 0);
    whole("no room", t[5], 0, GL_RGB, GL_UNSIGNED_BYTE, 0);
    errors("images");
}

static void part(const char *what, GLuint texture, int x, int y, int z, int w, int h, int d, GLsizei room)
{
    memset(back, 0x77, sizeof back);
    glGetTextureSubImage(texture, 0, x, y, z, w, h, d, GL_RGBA, GL_UNSIGNED_BYTE, room, back);
    note_bytes(what, back, 4096);
    errors(what);
}

static void parts(void)
{
    if (!start() || !need_extension("GL_ARB_get_texture_sub_image"))
        return;
    GLuint t[5];
    glCreateTextures(GL_TEXTURE_2D, 1, t);
    glCreateTextures(GL_TEXTURE_3D, 1, t + 1);
    glCreateTextures(GL_TEXTURE_CUBE_MAP, 1, t + 2);
    glCreateTextures(GL_TEXTURE_1D, 1, t + 3);
    glCreateTextures(GL_TEXTURE_1D_ARRAY, 1, t + 4);
    glTextureStorage2D(t[0], 1, GL_RGBA8, 16, 16);
    glTextureStorage3D(t[1], 1, GL_RGBA8, 8, 8, 8);
    glTextureStorage2D(t[2], 1, GL_RGBA8, 8, 8);
    glTextureStorage1D(t[3], 1, GL_RGBA8, 16);
    glTextureStorage2D(t[4], 1, GL_RGBA8, 16, 4);
    glTextureSubImage2D(t[0], 0, 0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureSubImage3D(t[1], 0, 0, 0, 0, 8, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureSubImage3D(t[2], 0, 0, 0, 0, 8, 8, 6, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureSubImage1D(t[3], 0, 0, 16, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureSubImage2D(t[4], 0, 0, 0, 16, 4, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    part("flat", t[0], 3, 4, 0, 5, 6, 1, sizeof back);
    part("volume", t[1], 1, 2, 3, 4, 3, 2, sizeof back);
    part("faces", t[2], 1, 2, 3, 4, 3, 2, sizeof back);
    part("line", t[3], 4, 0, 0, 5, 1, 1, sizeof back);
    part("lines", t[4], 4, 1, 0, 5, 2, 1, sizeof back);
    glPixelStorei(GL_PACK_ROW_LENGTH, 7);
    glPixelStorei(GL_PACK_IMAGE_HEIGHT, 5);
    glPixelStorei(GL_PACK_SKIP_ROWS, 1);
    glPixelStorei(GL_PACK_SKIP_IMAGES, 1);
    part("volume laid out", t[1], 1, 2, 3, 4, 3, 2, sizeof back);
    part("faces laid out", t[2], 1, 2, 3, 4, 3, 2, sizeof back);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glPixelStorei(GL_PACK_IMAGE_HEIGHT, 0);
    glPixelStorei(GL_PACK_SKIP_ROWS, 0);
    glPixelStorei(GL_PACK_SKIP_IMAGES, 0);
    part("enough", t[0], 0, 0, 0, 4, 4, 1, 64);
    part("too little", t[0], 0, 0, 0, 4, 4, 1, 63);
    part("beyond", t[0], 12, 0, 0, 5, 1, 1, sizeof back);
    part("negative", t[0], -1, 0, 0, 5, 1, 1, sizeof back);
    part("negative size", t[0], 0, 0, 0, -5, 1, 1, sizeof back);
    part("deep", t[0], 0, 0, 0, 1, 1, 2, sizeof back);
    part("seven faces", t[2], 0, 0, 0, 1, 1, 7, sizeof back);
    part("high line", t[3], 0, 0, 0, 1, 2, 1, sizeof back);
    part("empty", t[0], 0, 0, 0, 0, 0, 1, sizeof back);
    part("no texture", 4000, 0, 0, 0, 1, 1, 1, sizeof back);
    glGetTextureSubImage(t[0], 40, 0, 0, 0, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, 64, back);
    errors("level 40");
    glGetTextureSubImage(t[0], 3, 0, 0, 0, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, 64, back);
    errors("level 3");
    glGetTextureSubImage(t[0], 0, 0, 0, 0, 1, 1, 1, GL_RGBA, GL_RGBA, 64, back);
    errors("no type");
    glGetTextureSubImage(t[0], 0, 0, 0, 0, 1, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT, 64, back);
    errors("depth");
    /* Into a buffer. */
    GLuint buffer;
    glCreateBuffers(1, &buffer);
    glNamedBufferData(buffer, 4096, NULL, GL_STATIC_READ);
    glClearNamedBufferData(buffer, GL_R8, GL_RED, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    glPixelStorei(GL_PACK_ROW_LENGTH, 11);
    glGetTextureSubImage(t[0], 0, 2, 2, 0, 6, 6, 1, GL_RGBA, GL_UNSIGNED_BYTE, 0, (void *)16);
    glGetTextureImage(t[3], 0, GL_RGBA, GL_UNSIGNED_BYTE, 0, (void *)1024);
    errors("into a buffer");
    glGetTextureImage(t[1], 0, GL_RGBA, GL_UNSIGNED_BYTE, 1 << 20, (void *)3000);
    errors("beyond the buffer");
    glMapNamedBuffer(buffer, GL_READ_ONLY);
    glGetTextureImage(t[3], 0, GL_RGBA, GL_UNSIGNED_BYTE, 1 << 20, (void *)0);
    errors("into a mapped buffer");
    glUnmapNamedBuffer(buffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glGetNamedBufferSubData(buffer, 0, 4096, back);
    note_bytes("buffer", back, 4096);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
    glTextureSubImage2D(t[0], 0, 0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, (void *)16);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    part("from a buffer", t[0], 0, 0, 0, 6, 6, 1, sizeof back);
}

static void compressed(void)
{
    if (!start() || !need_extension("GL_EXT_texture_compression_s3tc"))
        return;
    GLuint t[3];
    glCreateTextures(GL_TEXTURE_2D, 1, t);
    glCreateTextures(GL_TEXTURE_2D_ARRAY, 1, t + 1);
    glCreateTextures(GL_TEXTURE_CUBE_MAP, 1, t + 2);
    glTextureStorage2D(t[0], 2, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 16, 12);
    glTextureStorage3D(t[1], 1, GL_COMPRESSED_RGB_S3TC_DXT1_EXT, 8, 8, 3);
    glTextureStorage2D(t[2], 1, GL_COMPRESSED_RGB_S3TC_DXT1_EXT, 8, 8);
    glCompressedTextureSubImage2D(t[0], 0, 0, 0, 16, 12, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 192, pixels);
    glCompressedTextureSubImage2D(t[0], 0, 4, 4, 8, 4, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 32, pixels + 99);
    glCompressedTextureSubImage3D(t[1], 0, 0, 0, 0, 8, 8, 3, GL_COMPRESSED_RGB_S3TC_DXT1_EXT, 96, pixels);
    glCompressedTextureSubImage3D(t[2], 0, 0, 0, 0, 8, 8, 6, GL_COMPRESSED_RGB_S3TC_DXT1_EXT, 192, pixels);
    errors("filled");
    for (int i = 0; i < 3; i++) {
        memset(back, 0x77, 512);
        glGetCompressedTextureImage(t[i], 0, sizeof back, back);
        note_bytes("whole", back, 512);
        levels("compressed", t[i], 0);
        memset(back, 0x77, 512);
        glGetCompressedTextureImage(t[i], 0, 95, back);
        note_bytes("too little", back, 512);
        errors("too little");
        memset(back, 0x77, 512);
        glGetCompressedTextureSubImage(t[i], 0, 4, 4, i, 4, 4, i ? 2 : 1, sizeof back, back);
        note_bytes("part", back, 512);
        errors("part");
    }
    glGetCompressedTextureSubImage(t[0], 0, 2, 4, 0, 4, 4, 1, sizeof back, back);
    errors("off the blocks");
    glGetCompressedTextureSubImage(t[0], 0, 0, 0, 0, 4, 4, 1, 15, back);
    errors("too little for a part");
    glGetCompressedTextureSubImage(t[0], 0, 16, 0, 0, 4, 4, 1, 16, back);
    errors("beyond");
    glGetCompressedTextureImage(t[0], 20, sizeof back, back);
    errors("level 20");
    glCompressedTextureSubImage2D(t[0], 0, 0, 0, 16, 12, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 191, pixels);
    errors("one byte less");
    glCompressedTextureSubImage2D(t[1], 0, 0, 0, 8, 8, GL_COMPRESSED_RGB_S3TC_DXT1_EXT, 32, pixels);
    errors("flat for an array");
    GLuint plain;
    glCreateTextures(GL_TEXTURE_2D, 1, &plain);
    glTextureStorage2D(plain, 1, GL_RGBA8, 4, 4);
    glGetCompressedTextureImage(plain, 0, sizeof back, back);
    errors("not compressed");
    glBindTexture(GL_TEXTURE_2D, t[0]);
    memset(back, 0x77, 512);
    glGetnCompressedTexImageARB(GL_TEXTURE_2D, 0, 192, back);
    note_bytes("with room", back, 512);
    errors("with room");
}

static void parameters(void)
{
    if (!start())
        return;
    GLuint texture, array, named;
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glCreateTextures(GL_TEXTURE_RECTANGLE, 1, &array);
    glGenTextures(1, &named);
    glTextureParameteri(texture, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTextureParameterf(texture, GL_TEXTURE_MAX_LOD, 3.5f);
    glTextureParameterfv(texture, GL_TEXTURE_BORDER_COLOR, (const GLfloat[]){0.25f, 0.5f, 0.75f, 1});
    glTextureParameteriv(texture, GL_TEXTURE_SWIZZLE_RGBA, (const GLint[]){GL_BLUE, GL_ONE, GL_ZERO, GL_RED});
    static const GLenum names[] = {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAX_LOD, GL_TEXTURE_SWIZZLE_G, GL_TEXTURE_IMMUTABLE_FORMAT, GL_TEXTURE_TARGET, GL_TEXTURE_WRAP_S};
    for (int i = 0; i < 6; i++) {
        GLint value = -7;
        GLfloat real = -7;
        glGetTextureParameteriv(texture, names[i], &value);
        glGetTextureParameterfv(texture, names[i], &real);
        note("%04x = %d %.3f", names[i], value, real);
    }
    GLfloat border[4] = {0};
    GLint swizzle[4] = {0};
    glGetTextureParameterfv(texture, GL_TEXTURE_BORDER_COLOR, border);
    note_floats("border", border, 4);
    glGetTextureParameteriv(texture, GL_TEXTURE_SWIZZLE_RGBA, swizzle);
    note_ints("swizzle", swizzle, 4);
    glTextureParameterIiv(texture, GL_TEXTURE_BORDER_COLOR, (const GLint[]){1, -2, 3, -4});
    glGetTextureParameterIiv(texture, GL_TEXTURE_BORDER_COLOR, swizzle);
    note_ints("border", swizzle, 4);
    glTextureParameterIuiv(texture, GL_TEXTURE_BORDER_COLOR, (const GLuint[]){1, 2, 3, 4000000000u});
    GLuint wide[4] = {0};
    glGetTextureParameterIuiv(texture, GL_TEXTURE_BORDER_COLOR, wide);
    note("border %u %u", wide[0], wide[3]);
    errors("set");
    /* The same parameters by binding, before and after. */
    glBindTexture(GL_TEXTURE_2D, texture);
    GLint filter = -7;
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, &filter);
    note("bound %04x", filter);
    glTextureParameteri(texture, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, &filter);
    note("bound %04x", filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glGetTextureParameteriv(texture, GL_TEXTURE_MIN_FILTER, &filter);
    note("by name %04x", filter);
    errors("both");
    glTextureParameteri(named, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    errors("only a name");
    glTextureParameteri(4000, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    errors("no name");
    glTextureParameteri(0, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    errors("0");
    glTextureParameteri(texture, GL_TEXTURE_MIN_FILTER, GL_RED);
    errors("red");
    glTextureParameteri(texture, GL_RED, 1);
    errors("no parameter");
    glTextureParameteri(texture, GL_TEXTURE_BORDER_COLOR, 1);
    errors("one of four");
    glTextureParameteri(array, GL_TEXTURE_WRAP_S, GL_REPEAT);
    errors("rectangle");
    glTextureParameteri(array, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    errors("rectangle");
    glGetTextureParameteriv(named, GL_TEXTURE_MIN_FILTER, &filter);
    errors("get of a name");
    glGetTextureParameteriv(texture, GL_RED, &filter);
    errors("get of no parameter");
    glGetTextureLevelParameteriv(texture, -1, GL_TEXTURE_WIDTH, &filter);
    errors("level -1");
    glGetTextureLevelParameteriv(4000, 0, GL_TEXTURE_WIDTH, &filter);
    errors("level of no texture");
    glTextureStorage2D(texture, 1, GL_RGBA8, 8, 8);
    glTextureStorage2D(texture, 1, GL_RGBA8, 8, 8);
    errors("storage twice");
    glTextureStorage3D(array, 1, GL_RGBA8, 8, 8, 1);
    errors("storage of three dimensions");
    glTextureStorage2D(array, 2, GL_RGBA8, 8, 8);
    errors("two levels of a rectangle");
    glTextureStorage2D(array, 1, GL_RGBA, 8, 8);
    errors("unsized");
    glTextureStorage2D(named, 1, GL_RGBA8, 8, 8);
    errors("storage of a name");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("an image of a texture with storage");
    GLint levels_of = -7;
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_LEVELS, &levels_of);
    note("levels %d", levels_of);
    glTextureSubImage2D(texture, 0, 4, 4, 5, 5, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("beyond");
    glTextureSubImage2D(texture, 0, 0, 0, 4, 4, GL_RGBA, GL_RGBA, pixels);
    errors("no type");
    glTextureSubImage1D(texture, 0, 0, 4, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("one dimension");
    glTextureSubImage2D(named, 0, 0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("image of a name");
    glGenerateTextureMipmap(named);
    errors("mipmap of a name");
    glGetTextureImage(named, 0, GL_RGBA, GL_UNSIGNED_BYTE, sizeof back, back);
    errors("get the image of a name");
    glGetTextureImage(texture, 30, GL_RGBA, GL_UNSIGNED_BYTE, sizeof back, back);
    errors("level 30");
    glGetTextureImage(texture, 0, GL_RGBA, GL_RGBA, sizeof back, back);
    errors("no type");
    glGetTextureImage(texture, 0, GL_DEPTH_COMPONENT, GL_FLOAT, sizeof back, back);
    errors("depth");
    glBegin(GL_POINTS);
    glTextureParameteri(texture, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTextureSubImage2D(texture, 0, 0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    memset(back, 0x77, 16);
    glGetTextureImage(texture, 0, GL_RGBA, GL_UNSIGNED_BYTE, sizeof back, back);
    glEnd();
    errors("between glBegin and glEnd");
    note_bytes("untouched", back, 16);
}

static void drawn(void)
{
    if (!start())
        return;
    GLuint texture, buffer, text, copy;
    static unsigned char board[64 * 64 * 4];
    checkerboard(board, 64, 64, 8);
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glTextureStorage2D(texture, 7, GL_RGBA8, 64, 64);
    glTextureSubImage2D(texture, 0, 0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, board);
    glGenerateTextureMipmap(texture);
    glTextureParameteri(texture, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    whole("mipmap", texture, 3, GL_RGBA, GL_UNSIGNED_BYTE, sizeof back);
    glBindTextureUnit(0, texture);
    glEnable(GL_TEXTURE_2D);
    cell(0, 0, 2, 2);
    square(0.9f);
    cell(1, 0, 2, 2);
    square(0.3f);
    glCreateTextures(GL_TEXTURE_2D, 1, &copy);
    glTextureStorage2D(copy, 1, GL_RGBA8, 128, 128);
    glCopyTextureSubImage2D(copy, 0, 0, 0, 0, 0, 128, 128);
    glTextureParameteri(copy, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glBindTextureUnit(0, copy);
    cell(0, 1, 2, 2);
    square(0.8f);
    glFlush();
    glBindTextureUnit(0, 0);
    errors("drawn");
    glCreateTextures(GL_TEXTURE_BUFFER, 1, &text);
    glCreateBuffers(1, &buffer);
    glNamedBufferData(buffer, 256, pixels, GL_STATIC_DRAW);
    glTextureBuffer(text, GL_RGBA8, buffer);
    GLint value = -7;
    glGetTextureLevelParameteriv(text, 0, GL_TEXTURE_WIDTH, &value);
    note("texels %d", value);
    glGetTextureLevelParameteriv(text, 0, GL_TEXTURE_BUFFER_DATA_STORE_BINDING, &value);
    note("its buffer %d", value == (GLint)buffer);
    GLfloat real = -7;
    glGetTextureLevelParameterfv(text, 0, GL_TEXTURE_BUFFER_DATA_STORE_BINDING, &real);
    note("its buffer %d", real == (GLfloat)buffer);
    INTS(GL_TEXTURE_BUFFER_OFFSET_ALIGNMENT, 1);
    glTextureBufferRange(text, GL_R32F, buffer, 64, 128);
    levels("buffer", text, 0);
    glTextureBuffer(texture, GL_RGBA8, buffer);
    errors("a flat texture's buffer");
    glTextureBuffer(text, GL_RGBA8, 4000);
    errors("no buffer");
    glTextureBuffer(text, GL_RGB, buffer);
    errors("no format");
    glTextureBufferRange(text, GL_R32F, buffer, 64, 1000);
    errors("beyond");
    glTextureBufferRange(text, GL_R32F, buffer, 1, 100);
    errors("off the grid");
    glGetTextureImage(text, 0, GL_RGBA, GL_UNSIGNED_BYTE, sizeof back, back);
    errors("image of a buffer");
    GLuint samples;
    glCreateTextures(GL_TEXTURE_2D_MULTISAMPLE, 1, &samples);
    glTextureStorage2DMultisample(samples, 4, GL_RGBA8, 16, 16, GL_TRUE);
    levels("samples", samples, 0);
    errors("end");
    picture("drawn");
}

CONFORM("dsa_textures", COMPAT, {"images", images}, {"parts", parts}, {"compressed", compressed}, {"parameters", parameters}, {"drawn", drawn})
