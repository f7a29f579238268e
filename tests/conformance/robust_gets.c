/* Gets with a limit for the size of the result: GL_ARB_robustness and the ones of OpenGL 4.5. */
#include "conform.h"

static unsigned char room[1 << 16];

static void clear_room(void)
{
    memset(room, 0x5a, sizeof room);
}

/* Enough room, one byte too little, no room, and a negative size. */
#define TRY(name, size, call)                                                                                                                         \
    do {                                                                                                                                              \
        const int sizes[] = {(size) + 7, (size), (size)-1, 0, -1};                                                                                    \
        for (int s_ = 0; s_ < 5; s_++) {                                                                                                              \
            int n = sizes[s_];                                                                                                                        \
            clear_room();                                                                                                                             \
            call;                                                                                                                                     \
            note_bytes(name, room, (size_t)(size) + 16);                                                                                              \
            errors(name);                                                                                                                             \
        }                                                                                                                                             \
    } while (0)

static void maps(void)
{
    no_picture();
    if (!need_extension("GL_ARB_robustness"))
        return;
    static const GLfloat points[4 * 3 * 3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    glMap1f(GL_MAP1_VERTEX_3, 0, 1, 3, 4, points);
    glMap2f(GL_MAP2_VERTEX_3, 0, 2, 3, 4, 1, 3, 12, 3, points);
    TRY("coefficients", 48, glGetnMapfvARB(GL_MAP1_VERTEX_3, GL_COEFF, n, (GLfloat *)room));
    TRY("coefficients", 96, glGetnMapdvARB(GL_MAP1_VERTEX_3, GL_COEFF, n, (GLdouble *)room));
    TRY("coefficients", 144, glGetnMapivARB(GL_MAP2_VERTEX_3, GL_COEFF, n, (GLint *)room));
    TRY("order", 4, glGetnMapivARB(GL_MAP1_VERTEX_3, GL_ORDER, n, (GLint *)room));
    TRY("order", 16, glGetnMapdvARB(GL_MAP2_VERTEX_3, GL_ORDER, n, (GLdouble *)room));
    TRY("domain", 16, glGetnMapfvARB(GL_MAP2_VERTEX_3, GL_DOMAIN, n, (GLfloat *)room));
    TRY("no name", 16, glGetnMapfvARB(GL_MAP2_VERTEX_3, GL_RED, n, (GLfloat *)room));
    TRY("no map", 16, glGetnMapfvARB(GL_TEXTURE_2D, GL_ORDER, n, (GLfloat *)room));
    static const GLfloat map[5] = {0, 0.25f, 0.5f, 0.75f, 1};
    glPixelMapfv(GL_PIXEL_MAP_R_TO_R, 5, map);
    TRY("floats", 20, glGetnPixelMapfvARB(GL_PIXEL_MAP_R_TO_R, n, (GLfloat *)room));
    TRY("words", 20, glGetnPixelMapuivARB(GL_PIXEL_MAP_R_TO_R, n, (GLuint *)room));
    TRY("shorts", 10, glGetnPixelMapusvARB(GL_PIXEL_MAP_R_TO_R, n, (GLushort *)room));
    TRY("no pixel map", 10, glGetnPixelMapusvARB(GL_RED, n, (GLushort *)room));
    TRY("stipple", 128, glGetnPolygonStippleARB(n, room));
    glPixelStorei(GL_PACK_ROW_LENGTH, 40);
    glPixelStorei(GL_PACK_SKIP_ROWS, 2);
    TRY("stipple", 34 * 8, glGetnPolygonStippleARB(n, room));
}

static void images(void)
{
    no_picture();
    if (!need_extension("GL_ARB_robustness"))
        return;
    GLuint texture;
    unsigned char pixels[16 * 8 * 4];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * 7);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    TRY("rgba", 512, glGetnTexImageARB(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, n, room));
    TRY("rgb", 384, glGetnTexImageARB(GL_TEXTURE_2D, 0, GL_RGB, GL_UNSIGNED_BYTE, n, room));
    TRY("no level", 512, glGetnTexImageARB(GL_TEXTURE_2D, 3, GL_RGBA, GL_UNSIGNED_BYTE, n, room));
    TRY("no target", 512, glGetnTexImageARB(GL_TEXTURE_CUBE_MAP, 0, GL_RGBA, GL_UNSIGNED_BYTE, n, room));
    TRY("no format", 512, glGetnTexImageARB(GL_TEXTURE_2D, 0, GL_RGBA, GL_BITMAP, n, room));
    TRY("null", 512, glGetnTexImageARB(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, n, NULL));
    TRY("read", 16 * 16 * 4, glReadnPixelsARB(0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, n, room));
    TRY("read nothing", 16, glReadnPixelsARB(0, 0, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, n, room));
    TRY("read wrongly", 16, glReadnPixelsARB(0, 0, 4, 1, GL_RGBA, GL_RED, n, room));
    glPixelStorei(GL_PACK_ALIGNMENT, 8);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 3);
    TRY("skipped", 7 * 64 + 3 * 4 + 12 * 4, glGetnTexImageARB(GL_TEXTURE_2D, 0, GL_RGB, GL_UNSIGNED_BYTE, n, room));
    TRY("skipped", 3 * 24 + 21, glReadnPixelsARB(0, 0, 4, 4, GL_RGB, GL_UNSIGNED_BYTE, n, room));
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 16, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    /* Mesa writes a compressed image even if the size is too small. */
    glGetnCompressedTexImageARB(GL_TEXTURE_2D, 0, 128, room);
    note_bytes("compressed", room, 140);
    TRY("no level", 128, glGetnCompressedTexImageARB(GL_TEXTURE_2D, 3, n, room));
    GLuint buffer = make_buffer(GL_PIXEL_PACK_BUFFER, 600, NULL);
    TRY("to a buffer", 512, glGetnTexImageARB(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, n, (void *)64));
    note_buffer_ints("buffer", GL_PIXEL_PACK_BUFFER, 16);
    TRY("beyond the buffer", 512, glGetnTexImageARB(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, n, (void *)100));
    TRY("read to a buffer", 64, glReadnPixelsARB(0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, n, NULL));
    glDeleteBuffers(1, &buffer);
}

static void uniforms(void)
{
    no_picture();
    if (!need_extension("GL_ARB_robustness"))
        return;
    GLuint program = build_program("#version 150\nuniform vec3 v; uniform ivec2 i; uniform uvec4 u; uniform mat3 m; void main() { gl_Position = vec4(m * v, "
                                   "float(i.x + i.y) + float(u.x)); }",
                                   "#version 150\nout vec4 c; void main() { c = vec4(1.0); }");
    glUseProgram(program);
    GLint v = glGetUniformLocation(program, "v"), m = glGetUniformLocation(program, "m");
    glUniform3f(v, 1, 2, 3);
    TRY("vec3", 12, glGetnUniformfvARB(program, v, n, (GLfloat *)room));
    TRY("mat3", 36, glGetnUniformfvARB(program, m, n, (GLfloat *)room));
    TRY("vec3 as ints", 12, glGetnUniformivARB(program, v, n, (GLint *)room));
    TRY("ivec2", 8, glGetnUniformivARB(program, glGetUniformLocation(program, "i"), n, (GLint *)room));
    TRY("uvec4", 16, glGetnUniformuivARB(program, glGetUniformLocation(program, "u"), n, (GLuint *)room));
    TRY("nowhere", 16, glGetnUniformfvARB(program, -1, n, (GLfloat *)room));
    TRY("no program", 16, glGetnUniformfvARB(7777, 0, n, (GLfloat *)room));
    note("%d", (int)glGetGraphicsResetStatusARB());
    INTS(GL_RESET_NOTIFICATION_STRATEGY_ARB, 1);
    errors("reset");
}

/* The names in OpenGL 4.5. In Mesa 22.3, the commands for images, maps and doubles have no
 * effect. */
static void core_names(void)
{
    no_picture();
    if (!need_extension("GL_ARB_robustness") || !has_version(4, 5))
        return;
    GLuint program = build_program("#version 150\nuniform vec3 v; void main() { gl_Position = vec4(v, 1.0); }",
                                   "#version 150\nout vec4 c; void main() { c = vec4(1.0); }");
    TRY("read", 16, glReadnPixels(0, 0, 2, 2, GL_RGBA, GL_UNSIGNED_BYTE, n, room));
    TRY("floats", 12, glGetnUniformfv(program, 0, n, (GLfloat *)room));
    TRY("ints", 12, glGetnUniformiv(program, 0, n, (GLint *)room));
    TRY("words", 12, glGetnUniformuiv(program, 0, n, (GLuint *)room));
    note("%d", (int)glGetGraphicsResetStatus());
    errors("reset");
}

CONFORM("robust_gets", COMPAT, {"maps", maps}, {"images", images}, {"uniforms", uniforms}, {"core_names", core_names})
