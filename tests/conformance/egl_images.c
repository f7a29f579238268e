/* EGL images: textures and renderbuffers that several contexts share. */
#include "conform.h"
#include "egl.h"

typedef void (*PFNGLEGLIMAGETARGETTEXTURE2DOESPROC)(GLenum target, void *image);
typedef void (*PFNGLEGLIMAGETARGETRENDERBUFFERSTORAGEOESPROC)(GLenum target, void *image);
#define GL_TEXTURE_EXTERNAL_OES 0x8D65
#define GL_TEXTURE_BINDING_EXTERNAL_OES 0x8D67
#define GL_REQUIRED_TEXTURE_IMAGE_UNITS_OES 0x8D68
#define GL_SAMPLER_EXTERNAL_OES 0x8D66

static EGLDisplay egl;
static EGLConfig config;
static EGLContext first, second;
static EGLSurface surface;
static PFNEGLCREATEIMAGEKHRPROC create_khr;
static PFNEGLDESTROYIMAGEKHRPROC destroy_khr;
static PFNGLEGLIMAGETARGETTEXTURE2DOESPROC texture_of;
static PFNGLEGLIMAGETARGETRENDERBUFFERSTORAGEOESPROC renderbuffer_of;

static const EGLint es1[] = {EGL_CONTEXT_CLIENT_VERSION, 1, EGL_NONE};
static const EGLint es2[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
static const EGLint es3[] = {EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE};
static const EGLint core[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5, EGL_NONE};
static const EGLint compat[] = {EGL_NONE};

static bool start_as(EGLenum api, EGLint renderable, const EGLint *attributes)
{
    egl = open_surfaceless();
    if (egl == EGL_NO_DISPLAY)
        return false;
    const char *extensions = eglQueryString(egl, EGL_EXTENSIONS);
    if (!extensions || !strstr(extensions, "EGL_KHR_gl_texture_2D_image")) {
        skip("EGL_KHR_gl_texture_2D_image");
        return false;
    }
    create_khr = (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR");
    destroy_khr = (PFNEGLDESTROYIMAGEKHRPROC)eglGetProcAddress("eglDestroyImageKHR");
    texture_of = (PFNGLEGLIMAGETARGETTEXTURE2DOESPROC)eglGetProcAddress("glEGLImageTargetTexture2DOES");
    renderbuffer_of = (PFNGLEGLIMAGETARGETRENDERBUFFERSTORAGEOESPROC)eglGetProcAddress("glEGLImageTargetRenderbufferStorageOES");
    config = egl_config(egl, EGL_PBUFFER_BIT, renderable);
    eglBindAPI(api);
    surface = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, 64, EGL_HEIGHT, 64, EGL_NONE});
    first = eglCreateContext(egl, config, EGL_NO_CONTEXT, attributes);
    second = eglCreateContext(egl, config, EGL_NO_CONTEXT, attributes);
    note("current: %d", eglMakeCurrent(egl, surface, surface, first));
    note("extension: %d", has_extension("GL_OES_EGL_image"));
    return true;
}

static bool start(void)
{
    return start_as(EGL_OPENGL_ES_API, EGL_OPENGL_ES2_BIT, es2);
}

static void end(void)
{
    errors("end");
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglTerminate(egl);
    eglReleaseThread();
}

static GLuint texture_with(int width, int height, int seed)
{
    static unsigned char pixels[64 * 64 * 4];
    GLuint texture;
    random_seed((uint32_t)seed);
    for (int i = 0; i < width * height * 4; i++)
        pixels[i] = (unsigned char)random_bits();
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    return texture;
}

static const char plain_vertex[] = "attribute vec2 p; varying vec2 t; void main() { gl_Position = vec4(p, 0.0, 1.0); t = p * 0.5 + 0.5; }";

/* Draws a square with a program, and logs the pixels. */
static void show_with(const char *what, const char *vertex, const char *fragment)
{
    static const GLfloat corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    static unsigned char pixels[64 * 64 * 4];
    GLuint program = build_program(vertex, fragment);
    GLuint place = (GLuint)glGetAttribLocation(program, "p");
    glUseProgram(program);
    glVertexAttribPointer(place, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(place);
    glViewport(0, 0, 64, 64);
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes(what, pixels, sizeof pixels);
    glDeleteProgram(program);
    errors(what);
}

/* Draws the bound texture, and logs the pixels. */
static void show(const char *what)
{
    show_with(what, plain_vertex, "precision mediump float; uniform sampler2D s; varying vec2 t; void main() { gl_FragColor = texture2D(s, t); }");
}

static void textures(void)
{
    static unsigned char red[4] = {255, 0, 0, 255};
    if (!start())
        return;
    GLuint source = texture_with(64, 64, 1), other = 0;
    EGLImage image = eglCreateImage(egl, first, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)source, NULL);
    note("image: %d", image != EGL_NO_IMAGE);
    egl_errors("eglCreateImage");
    EGLImageKHR again = create_khr(egl, first, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)source, (const EGLint[]){EGL_IMAGE_PRESERVED_KHR, EGL_TRUE, EGL_NONE});
    note("a second one: %d", again != EGL_NO_IMAGE);
    egl_errors("a second one");
    glGenTextures(1, &other);
    glBindTexture(GL_TEXTURE_2D, other);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    texture_of(GL_TEXTURE_2D, image);
    errors("texture of the image");
    show("the same context");
    eglMakeCurrent(egl, surface, surface, second);
    GLuint shared = texture_with(8, 8, 2);
    show("before");
    texture_of(GL_TEXTURE_2D, image);
    show("another context");
    glTexSubImage2D(GL_TEXTURE_2D, 0, 5, 5, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, red);
    glFinish();
    eglMakeCurrent(egl, surface, surface, first);
    glBindTexture(GL_TEXTURE_2D, source);
    show("changed there");
    note("destroyed: %d", eglDestroyImage(egl, image));
    note("destroyed: %d", destroy_khr(egl, again));
    glBindTexture(GL_TEXTURE_2D, other);
    show("without the image");
    glDeleteTextures(1, &source);
    show("without the source");
    eglMakeCurrent(egl, surface, surface, second);
    glBindTexture(GL_TEXTURE_2D, shared);
    show("and there");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, red);
    show("redefined");
    end();
}

/* Draws to a renderbuffer that is a texture in another context. */
static void renderbuffers(void)
{
    if (!start())
        return;
    GLuint renderbuffer, framebuffer, texture, alias, second_framebuffer;
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 64, 64);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    glClearColor(0.2f, 0.4f, 0.6f, 0.8f);
    glClear(GL_COLOR_BUFFER_BIT);
    EGLImage image = eglCreateImage(egl, first, EGL_GL_RENDERBUFFER, (EGLClientBuffer)(uintptr_t)renderbuffer, NULL);
    note("image: %d", image != EGL_NO_IMAGE);
    egl_errors("eglCreateImage");
    glFinish();
    eglMakeCurrent(egl, surface, surface, second);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    texture_of(GL_TEXTURE_2D, image);
    show("a texture of it");
    glGenRenderbuffers(1, &alias);
    glBindRenderbuffer(GL_RENDERBUFFER, alias);
    renderbuffer_of(GL_RENDERBUFFER, image);
    errors("a renderbuffer of it");
    GLint size[2] = {0, 0};
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_WIDTH, &size[0]);
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_HEIGHT, &size[1]);
    note("size: %d %d", size[0], size[1]);
    glGenFramebuffers(1, &second_framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, second_framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, alias);
    note("status: %x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    glEnable(GL_SCISSOR_TEST);
    glScissor(10, 20, 30, 10);
    glClearColor(1, 0, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
    glFinish();
    eglMakeCurrent(egl, surface, surface, first);
    static unsigned char pixels[64 * 64 * 4];
    glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes("drawn there", pixels, sizeof pixels);
    eglDestroyImage(egl, image);
    end();
}

static void wrong(void)
{
    if (!start())
        return;
    GLuint texture = texture_with(16, 16, 3), empty, renderbuffer;
    glGenTextures(1, &empty);
    glGenRenderbuffers(1, &renderbuffer);
    const struct {
        const char *what;
        EGLenum target;
        GLuint name;
        EGLint list[5];
    } tries[] = {
        {"a texture that is none", EGL_GL_TEXTURE_2D, 0, {EGL_NONE}},
        {"a name that was never given", EGL_GL_TEXTURE_2D, 77777, {EGL_NONE}},
        {"a texture without an image", EGL_GL_TEXTURE_2D, empty, {EGL_NONE}},
        {"a level that is not there", EGL_GL_TEXTURE_2D, texture, {EGL_GL_TEXTURE_LEVEL, 1, EGL_NONE}},
        {"level 0", EGL_GL_TEXTURE_2D, texture, {EGL_GL_TEXTURE_LEVEL, 0, EGL_NONE}},
        {"a texture of another kind", EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_X, texture, {EGL_NONE}},
        {"a renderbuffer that is none", EGL_GL_RENDERBUFFER, 0, {EGL_NONE}},
        {"a renderbuffer without storage", EGL_GL_RENDERBUFFER, renderbuffer, {EGL_NONE}},
        {"an unknown attribute", EGL_GL_TEXTURE_2D, texture, {0x7777, 1, EGL_NONE}},
        {"an unknown target", 0x7777, texture, {EGL_NONE}},
    };
    for (int i = 0; i < (int)(sizeof tries / sizeof *tries); i++) {
        EGLImageKHR image = create_khr(egl, first, tries[i].target, (EGLClientBuffer)(uintptr_t)tries[i].name, tries[i].list);
        note("%s: %d", tries[i].what, image != EGL_NO_IMAGE);
        egl_errors(tries[i].what);
        if (image != EGL_NO_IMAGE)
            destroy_khr(egl, image);
    }
    create_khr(egl, (EGLContext)&texture, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)texture, NULL);
    egl_errors("no such context");
    note("destroying no image: %d", eglDestroyImage(egl, EGL_NO_IMAGE));
    egl_errors("destroying no image");
    note("destroying nonsense: %d", eglDestroyImage(egl, (EGLImage)&texture));
    egl_errors("destroying nonsense");
    glBindTexture(GL_TEXTURE_2D, empty);
    texture_of(GL_TEXTURE_2D, NULL);
    errors("a texture of no image");
    EGLImage image = eglCreateImage(egl, first, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)texture, NULL);
    texture_of(GL_TEXTURE_CUBE_MAP, image);
    errors("a cube of it");
    texture_of(0x7777, image);
    errors("an unknown target");
    renderbuffer_of(GL_TEXTURE_2D, image);
    errors("a renderbuffer of another target");
    renderbuffer_of(GL_RENDERBUFFER, image);
    errors("no renderbuffer is bound");
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    renderbuffer_of(GL_RENDERBUFFER, NULL);
    errors("a renderbuffer of no image");
    eglDestroyImage(egl, image);
    end();
}

static PFNGLEGLIMAGETARGETTEXSTORAGEEXTPROC storage_of;
static PFNGLEGLIMAGETARGETTEXTURESTORAGEEXTPROC storage_by_name;

static void integer_of(const char *what, GLenum target, GLenum pname)
{
    GLint value = -7;
    glGetTexParameteriv(target, pname, &value);
    note("%s: %d", what, value);
    errors(what);
}

/* A texture that uses the image as immutable storage: its properties and restrictions. Writes to
 * either are visible in both. */
static void storage_in(bool reads_textures)
{
    static const GLint no_attributes[] = {GL_NONE}, odd_attributes[] = {0x7777, 1, GL_NONE};
    static unsigned char pixels[16 * 16 * 4], red[4] = {255, 0, 0, 255};
    if (!need_extension("GL_EXT_EGL_image_storage"))
        return end();
    storage_of = (PFNGLEGLIMAGETARGETTEXSTORAGEEXTPROC)eglGetProcAddress("glEGLImageTargetTexStorageEXT");
    storage_by_name = (PFNGLEGLIMAGETARGETTEXTURESTORAGEEXTPROC)eglGetProcAddress("glEGLImageTargetTextureStorageEXT");
    GLuint source = texture_with(16, 16, 4), textures[4];
    EGLImage image = eglCreateImage(egl, first, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)source, NULL);
    note("image: %d", image != EGL_NO_IMAGE);
    eglMakeCurrent(egl, surface, surface, second);
    glGenTextures(4, textures);
    glBindTexture(GL_TEXTURE_2D, textures[0]);
    integer_of("immutable", GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_FORMAT);
    storage_of(GL_TEXTURE_2D, image, NULL);
    errors("storage");
    integer_of("immutable", GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_FORMAT);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 3);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 5);
    integer_of("base level", GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL);
    integer_of("last level", GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("another image");
    storage_of(GL_TEXTURE_2D, image, NULL);
    errors("storage again");
    texture_of(GL_TEXTURE_2D, image);
    errors("an image of EGL");
    glTexSubImage2D(GL_TEXTURE_2D, 0, 3, 4, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, red);
    errors("a texel");
    if (reads_textures) {
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        note_bytes("its texels", pixels, sizeof pixels);
    } else {
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        show("drawn");
    }
    glFinish();
    eglMakeCurrent(egl, surface, surface, first);
    if (reads_textures) {
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        note_bytes("the source's texels", pixels, sizeof pixels);
    } else
        show("the source");
    eglMakeCurrent(egl, surface, surface, second);
    glBindTexture(GL_TEXTURE_2D, textures[1]);
    storage_of(GL_TEXTURE_2D, image, odd_attributes);
    errors("odd attributes");
    storage_of(GL_TEXTURE_2D, NULL, NULL);
    errors("storage of no image");
    storage_of(0x7777, image, NULL);
    errors("an unknown target");
    storage_of(GL_TEXTURE_3D, image, NULL);
    errors("3D");
    storage_of(GL_TEXTURE_CUBE_MAP, image, NULL);
    errors("a cube");
    integer_of("immutable", GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_FORMAT);
    storage_of(GL_TEXTURE_2D, image, no_attributes);
    errors("no attributes");
    integer_of("immutable", GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_FORMAT);
    /* By name. */
    storage_by_name(textures[2], image, NULL);
    errors("no texture yet");
    storage_by_name(77777, image, NULL);
    errors("no name");
    storage_by_name(0, image, NULL);
    errors("the default one");
    glBindTexture(GL_TEXTURE_2D, textures[3]);
    glBindTexture(GL_TEXTURE_2D, 0);
    storage_by_name(textures[3], image, odd_attributes);
    errors("odd attributes");
    storage_by_name(textures[3], image, NULL);
    errors("by name");
    storage_by_name(textures[3], image, NULL);
    errors("again");
    glBindTexture(GL_TEXTURE_2D, textures[3]);
    integer_of("immutable", GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_FORMAT);
    integer_of("last level", GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL);
    eglDestroyImage(egl, image);
    glDeleteTextures(1, &source);
    if (reads_textures) {
        memset(pixels, 0x77, sizeof pixels);
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        note_bytes("what is left", pixels, sizeof pixels);
    }
    end();
}

static void storage_es2(void)
{
    if (start_as(EGL_OPENGL_ES_API, EGL_OPENGL_ES2_BIT, es2))
        storage_in(false);
}

static void storage_es3(void)
{
    if (start_as(EGL_OPENGL_ES_API, EGL_OPENGL_ES3_BIT, es3))
        storage_in(false);
}

static void storage_core(void)
{
    if (start_as(EGL_OPENGL_API, EGL_OPENGL_BIT, core))
        storage_in(true);
}

static void storage_compat(void)
{
    if (start_as(EGL_OPENGL_API, EGL_OPENGL_BIT, compat))
        storage_in(true);
}

/* External textures: all rules of the extension, including drawing. Leaves a texture of `image`
 * bound. */
static EGLImage external(void)
{
    GLint value = -7;
    GLuint source = texture_with(32, 16, 5), texture, second_texture;
    EGLImage image = eglCreateImage(egl, first, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)source, NULL);
    note("image: %d", image != EGL_NO_IMAGE);
    glBindTexture(GL_TEXTURE_2D, 0);
    glGetIntegerv(GL_TEXTURE_BINDING_EXTERNAL_OES, &value);
    note("bound: %d", value);
    glGenTextures(1, &texture);
    glGenTextures(1, &second_texture);
    glBindTexture(GL_TEXTURE_EXTERNAL_OES, texture);
    BOUND(GL_TEXTURE_BINDING_EXTERNAL_OES, texture);
    integer_of("smaller", GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_MIN_FILTER);
    integer_of("larger", GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_MAG_FILTER);
    integer_of("wrap", GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_WRAP_S);
    integer_of("units", GL_TEXTURE_EXTERNAL_OES, GL_REQUIRED_TEXTURE_IMAGE_UNITS_OES);
    texture_of(GL_TEXTURE_EXTERNAL_OES, image);
    errors("the image");
    glTexParameteri(GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_WRAP_S, GL_REPEAT);
    errors("repeating");
    glTexParameteri(GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    errors("mipmaps");
    glTexParameteri(GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    errors("clamping");
    integer_of("smaller", GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_MIN_FILTER);
    integer_of("wrap", GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_WRAP_S);
    glTexImage2D(GL_TEXTURE_EXTERNAL_OES, 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    errors("an image of the program's");
    glTexSubImage2D(GL_TEXTURE_EXTERNAL_OES, 0, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, "abcd");
    errors("a texel of the program's");
    glCopyTexImage2D(GL_TEXTURE_EXTERNAL_OES, 0, GL_RGBA, 0, 0, 4, 4, 0);
    errors("a copy");
    glBindTexture(GL_TEXTURE_2D, texture);
    errors("bound as another");
    glBindTexture(GL_TEXTURE_EXTERNAL_OES, source);
    errors("another bound as it");
    BOUND(GL_TEXTURE_BINDING_EXTERNAL_OES, texture);
    BOUND(GL_TEXTURE_BINDING_2D, 0);
    glBindTexture(GL_TEXTURE_EXTERNAL_OES, second_texture);
    glDeleteTextures(1, &second_texture);
    BOUND(GL_TEXTURE_BINDING_EXTERNAL_OES, 0);
    glBindTexture(GL_TEXTURE_EXTERNAL_OES, texture);
    return image;
}

static void sampler_type(const char *vertex, const char *fragment)
{
    GLuint program = build_program(vertex, fragment);
    GLenum type = 0;
    GLint size = 0;
    char name[16] = "";
    glGetActiveUniform(program, 0, sizeof name, NULL, &size, &type, name);
    note("%s is %s", name, type == GL_SAMPLER_EXTERNAL_OES ? "external" : "something else");
    glDeleteProgram(program);
    errors("sampler");
}

static void external_es2(void)
{
    static const char fragment[] = "#extension GL_OES_EGL_image_external : require\n"
                                   "precision mediump float; uniform samplerExternalOES s; varying vec2 t; void main() { gl_FragColor = texture2D(s, t); }";
    static const char swapping[] = "#extension GL_OES_EGL_image_external : require\n"
                                   "precision mediump float; uniform samplerExternalOES s; varying vec2 t; void main() { gl_FragColor = texture2D(s, t.yx).bgra; }";
    if (!start())
        return;
    if (!need_extension("GL_OES_EGL_image_external"))
        return end();
    EGLImage image = external();
    sampler_type(plain_vertex, fragment);
    show_with("drawn", plain_vertex, fragment);
    show_with("otherwise", plain_vertex, swapping);
    glGenerateMipmap(GL_TEXTURE_EXTERNAL_OES);
    errors("generated mipmaps");
    GLuint framebuffer;
    GLint texture;
    glGetIntegerv(GL_TEXTURE_BINDING_EXTERNAL_OES, &texture);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_EXTERNAL_OES, (GLuint)texture, 0);
    errors("attached");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    note("destroyed: %d", eglDestroyImage(egl, image));
    show_with("without the image", plain_vertex, fragment);
    build_program(plain_vertex, "precision mediump float; uniform samplerExternalOES s; varying vec2 t; void main() { gl_FragColor = texture2D(s, t); }");
    errors("a shader that does not ask for it");
    end();
}

static void external_es3(void)
{
    static const char vertex[] = "#version 300 es\nin vec2 p; out vec2 t; void main() { gl_Position = vec4(p, 0.0, 1.0); t = p * 0.5 + 0.5; }";
    static const char fragment[] = "#version 300 es\n#extension GL_OES_EGL_image_external_essl3 : require\n"
                                   "precision mediump float; uniform samplerExternalOES s; in vec2 t; out vec4 c; void main() {"
                                   " c = texture(s, t) * 0.5 + texelFetch(s, ivec2(3, 4), 0) * 0.25 + vec4(vec2(textureSize(s, 0)) / 64.0, 0.0, 0.0); }";
    if (!start_as(EGL_OPENGL_ES_API, EGL_OPENGL_ES3_BIT, es3))
        return;
    if (!need_extension("GL_OES_EGL_image_external_essl3"))
        return end();
    EGLImage image = external();
    sampler_type(vertex, fragment);
    show_with("drawn", vertex, fragment);
    glTexStorage2D(GL_TEXTURE_EXTERNAL_OES, 1, GL_RGBA8, 4, 4);
    errors("storage of the program's");
    GLuint texture, sampler;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_EXTERNAL_OES, texture);
    ((PFNGLEGLIMAGETARGETTEXSTORAGEEXTPROC)eglGetProcAddress("glEGLImageTargetTexStorageEXT"))(GL_TEXTURE_EXTERNAL_OES, image, NULL);
    errors("storage of the image");
    integer_of("immutable", GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_IMMUTABLE_FORMAT);
    show_with("stored", vertex, fragment);
    glGenSamplers(1, &sampler);
    glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glSamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glBindSampler(0, sampler);
    show_with("with a sampler", vertex, fragment);
    eglDestroyImage(egl, image);
    end();
}

/* Without shaders, the external target behaves like other targets. */
static void external_es1(void)
{
    static const GLfloat corners[] = {-1, -1, 1, -1, -1, 1, 1, 1}, places[] = {0, 0, 1, 0, 0, 1, 1, 1};
    static unsigned char pixels[64 * 64 * 4];
    if (!start_as(EGL_OPENGL_ES_API, EGL_OPENGL_ES_BIT, es1))
        return;
    if (!need_extension("GL_OES_EGL_image_external"))
        return end();
    EGLImage image = external();
    glViewport(0, 0, 64, 64);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_TEXTURE_COORD_ARRAY);
    glVertexPointer(2, GL_FLOAT, 0, corners);
    glTexCoordPointer(2, GL_FLOAT, 0, places);
    for (int on = 0; on < 2; on++) {
        ENABLED(GL_TEXTURE_EXTERNAL_OES);
        glClear(GL_COLOR_BUFFER_BIT);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        note_bytes("drawn", pixels, sizeof pixels);
        errors("drawn");
        glEnable(GL_TEXTURE_EXTERNAL_OES);
    }
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_DECAL);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes("as a decal", pixels, sizeof pixels);
    eglDestroyImage(egl, image);
    end();
}

CONFORM("egl_images", NONE, {"textures", textures}, {"renderbuffers", renderbuffers}, {"wrong", wrong}, {"storage_es2", storage_es2}, {"storage_es3", storage_es3},
        {"storage_core", storage_core}, {"storage_compat", storage_compat}, {"external_es2", external_es2}, {"external_es3", external_es3},
        {"external_es1", external_es1})
