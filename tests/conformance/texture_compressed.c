/* Compressed textures: uploaded, partly uploaded, and read back. */
#include "conform.h"

static unsigned char blocks[64 * 64];

static void fill_blocks(void)
{
    uint32_t state = 7;
    for (size_t i = 0; i < sizeof blocks; i++) {
        state = state * 1664525u + 1013904223u;
        blocks[i] = (unsigned char)(state >> 24);
    }
}

static void log_level(GLint level)
{
    GLint values[4] = {0};
    glGetTexLevelParameteriv(GL_TEXTURE_2D, level, GL_TEXTURE_WIDTH, &values[0]);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, level, GL_TEXTURE_COMPRESSED, &values[1]);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, level, GL_TEXTURE_INTERNAL_FORMAT, &values[2]);
    if (values[1])
        glGetTexLevelParameteriv(GL_TEXTURE_2D, level, GL_TEXTURE_COMPRESSED_IMAGE_SIZE, &values[3]);
    note_ints("level", values, 4);
    if (values[1]) {
        static unsigned char back[64 * 64];
        memset(back, 0x77, sizeof back);
        glGetCompressedTexImage(GL_TEXTURE_2D, level, back);
        note_bytes("blocks", back, (size_t)values[3] + 16);
    }
    static unsigned char colors[64 * 64 * 4];
    memset(colors, 0x77, sizeof colors);
    glGetTexImage(GL_TEXTURE_2D, level, GL_RGBA, GL_UNSIGNED_BYTE, colors);
    note_bytes("colours", colors, 32 * 32 * 4);
}

static void try_format(GLenum format, int block_bytes, int place)
{
    cell(place % 4, place / 4, 4, 4);
    fill_blocks();
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, format, 32, 32, 0, 64 * block_bytes, blocks);
    glCompressedTexSubImage2D(GL_TEXTURE_2D, 0, 8, 4, 12, 8, format, 6 * block_bytes, blocks + 999);
    note("format %04x: %s", format, error_name(glGetError()));
    log_level(0);
    square(0.95f);
    glCompressedTexSubImage2D(GL_TEXTURE_2D, 0, 1, 0, 4, 4, format, block_bytes, blocks);
    errors("not at a block");
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, format, 32, 32, 0, 64 * block_bytes - 1, blocks);
    errors("too few bytes");
}

static void s3tc(void)
{
    if (!need_extension("GL_EXT_texture_compression_s3tc"))
        return;
    glEnable(GL_TEXTURE_2D);
    try_format(GL_COMPRESSED_RGB_S3TC_DXT1_EXT, 8, 0);
    try_format(GL_COMPRESSED_RGBA_S3TC_DXT1_EXT, 8, 1);
    try_format(GL_COMPRESSED_RGBA_S3TC_DXT3_EXT, 16, 2);
    try_format(GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 16, 3);
}

static void rgtc_and_bptc(void)
{
    if (!need_extension("GL_ARB_texture_compression_rgtc"))
        return;
    glEnable(GL_TEXTURE_2D);
    try_format(GL_COMPRESSED_RED_RGTC1, 8, 0);
    try_format(GL_COMPRESSED_SIGNED_RED_RGTC1, 8, 1);
    try_format(GL_COMPRESSED_RG_RGTC2, 16, 2);
    if (has_extension("GL_ARB_texture_compression_bptc")) {
        try_format(GL_COMPRESSED_RGBA_BPTC_UNORM, 16, 3);
        try_format(GL_COMPRESSED_RGB_BPTC_SIGNED_FLOAT, 16, 4);
    }
}

static void etc2(void)
{
    if (!need_extension("GL_ARB_ES3_compatibility"))
        return;
    glEnable(GL_TEXTURE_2D);
    try_format(GL_COMPRESSED_RGB8_ETC2, 8, 0);
    try_format(GL_COMPRESSED_RGBA8_ETC2_EAC, 16, 1);
    try_format(GL_COMPRESSED_R11_EAC, 8, 2);
    try_format(GL_COMPRESSED_RGB8_PUNCHTHROUGH_ALPHA1_ETC2, 8, 3);
}

/* The driver compresses the image, or chooses not to. */
static void by_the_driver(void)
{
    static const GLenum formats[] = {GL_COMPRESSED_RGB, GL_COMPRESSED_RGBA, GL_COMPRESSED_ALPHA, GL_COMPRESSED_LUMINANCE, GL_COMPRESSED_INTENSITY};
    unsigned char image[32 * 32 * 4];
    checkerboard(image, 32, 32, 8);
    glEnable(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    for (int i = 0; i < 5; i++) {
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)formats[i], 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
        cell(i % 3, i / 3, 3, 3);
        square(0.9f);
        log_level(0);
    }
    if (has_extension("GL_EXT_texture_compression_s3tc")) {
        glTexImage2D(GL_TEXTURE_2D, 0, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
        cell(0, 2, 3, 3);
        square(0.9f);
        log_level(0);
    }
    errors("by the driver");
}

static void list_of_formats(void)
{
    GLint formats[256], count = 0;
    no_picture();
    glGetIntegerv(GL_NUM_COMPRESSED_TEXTURE_FORMATS, &count);
    note("%d formats", count);
    if (count > 0 && count <= 256) {
        glGetIntegerv(GL_COMPRESSED_TEXTURE_FORMATS, formats);
        note_ints("formats", formats, count);
    }
}

CONFORM("texture_compressed", COMPAT, {"s3tc", s3tc}, {"rgtc_and_bptc", rgtc_and_bptc}, {"etc2", etc2}, {"by_the_driver", by_the_driver},
        {"list_of_formats", list_of_formats})
