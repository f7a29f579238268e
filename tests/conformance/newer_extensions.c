/* Extensions that Mesa has listed since 22.3: views of layers, images without a format, storage
 * under its older name, and the amount of free memory. */
#include "conform.h"
#include "egl.h"

#ifndef GL_OVR_multiview
#define GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_NUM_VIEWS_OVR 0x9630
#define GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_BASE_VIEW_INDEX_OVR 0x9632
#define GL_MAX_VIEWS_OVR 0x9631
#endif
#ifndef GL_ALPHA_TO_COVERAGE_DITHER_MODE_NV
#define GL_ALPHA_TO_COVERAGE_DITHER_DEFAULT_NV 0x934D
#define GL_ALPHA_TO_COVERAGE_DITHER_DISABLE_NV 0x934F
#define GL_ALPHA_TO_COVERAGE_DITHER_MODE_NV 0x92BF
#endif

#define FUNCTION(type, name) type name = (type)glXGetProcAddress((const GLubyte *)#name)
typedef void (*MULTIVIEW)(GLenum target, GLenum attachment, GLuint texture, GLint level, GLint base, GLsizei views);
typedef void (*STORAGE)(GLenum target, GLsizei levels, GLenum format, GLsizei width, GLsizei height);
typedef void (*DITHER)(GLenum mode);

static void note_attached(GLenum target)
{
    static const GLenum names[] = {GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_NUM_VIEWS_OVR,
        GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_BASE_VIEW_INDEX_OVR, GL_FRAMEBUFFER_ATTACHMENT_LAYERED};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        GLint value = -7;
        glGetFramebufferAttachmentParameteriv(target, GL_COLOR_ATTACHMENT0, names[i], &value);
        note("%x: %d", names[i], value);
        errors("attached");
    }
    note("status: %x", glCheckFramebufferStatus(target));
}

static void multiview(void)
{
    enum { SIDE = 32, LAYERS = 4 };
    if (!need_extension("GL_OVR_multiview") || !need_extension("GL_OVR_multiview2"))
        return no_picture();
    FUNCTION(MULTIVIEW, glFramebufferTextureMultiviewOVR);
    static const GLfloat corners[] = {-0.8f, -0.6f, 0.8f, -0.6f, 0, 0.7f};
    static unsigned char pixels[SIDE * SIDE * 4];
    GLuint program = build_program("#version 330\n#extension GL_OVR_multiview2 : require\nlayout(num_views = 2) in; layout(location = 0) in vec2 place; out vec3 color;\n"
                                   "void main() { gl_Position = vec4(place.x + 0.3 * float(gl_ViewID_OVR), place.y, 0.0, 1.0); color = vec3(1.0, float(gl_ViewID_OVR), 0.25); }",
                                   "#version 330\nin vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }");
    GLuint texture, framebuffer, buffer = make_buffer(GL_ARRAY_BUFFER, sizeof corners, corners);
    INTS(GL_MAX_VIEWS_OVR, 1);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D_ARRAY, texture);
    glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_RGBA8, SIDE, SIDE, LAYERS, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    BOUND(GL_ARRAY_BUFFER_BINDING, buffer);
    glUseProgram(program);
    glViewport(0, 0, SIDE, SIDE);
    glClearColor(0, 0, 0.5f, 1);
    for (int base = 0; base < 3; base++) {
        glFramebufferTextureMultiviewOVR(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0, base, 2);
        errors("attaching");
        note_attached(GL_FRAMEBUFFER);
        glClear(GL_COLOR_BUFFER_BIT);
        glDrawArrays(GL_TRIANGLES, 0, 3);
        errors("drawn");
    }
    glFramebufferTextureMultiviewOVR(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0, 3, 2);
    errors("beyond the layers");
    glFramebufferTextureMultiviewOVR(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0, 0, 0);
    errors("no views");
    glFramebufferTextureMultiviewOVR(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0, -1, 1);
    errors("before the layers");
    glFramebufferTextureMultiviewOVR(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, 12345, 0, 0, 2);
    errors("no texture");
    for (int layer = 0; layer < LAYERS; layer++) {
        glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0, layer);
        glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        note_bytes("layer", pixels, sizeof pixels);
        errors("read");
    }
    glFramebufferTextureMultiviewOVR(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, 0, 0, 0, 0);
    note_attached(GL_FRAMEBUFFER);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    /* Shows the layers side by side. */
    GLuint shower = build_program("#version 330\nout vec3 at; uniform int layer; void main() { vec2 c = vec2(gl_VertexID & 1, gl_VertexID >> 1); at = vec3(c, float(layer)); gl_Position = vec4(c * 2.0 - 1.0, 0.0, 1.0); }",
                               "#version 330\nin vec3 at; uniform sampler2DArray image; out vec4 result; void main() { result = texture(image, at); }");
    glUseProgram(shower);
    GLint layer = glGetUniformLocation(shower, "layer");
    glDisableVertexAttribArray(0);
    for (int i = 0; i < LAYERS; i++) {
        glUniform1i(layer, i);
        cell(i % 2, i / 2, 2, 2);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }
    errors("shown");
}

static void formatless_images(void)
{
    if (!need_extension("GL_EXT_shader_image_load_formatted") || !need_extension("GL_ARB_shader_image_load_store"))
        return no_picture();
    static const GLenum formats[] = {GL_RGBA8, GL_R32F, GL_RGBA16F, GL_RGB10_A2};
    GLuint program = build_program("#version 420\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0, 0.0, 1.0); }",
                                   "#version 420\n#extension GL_EXT_shader_image_load_formatted : require\nlayout(binding = 2) uniform image2D from; uniform vec2 corner;\n"
                                   "out vec4 result; void main() { result = imageLoad(from, ivec2(gl_FragCoord.xy - corner) / 8); }");
    unsigned char pixels[16 * 16 * 4];
    checkerboard(pixels, 16, 16, 3);
    glUseProgram(program);
    for (int i = 0; i < 4; i++) {
        GLuint texture;
        glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_2D, texture);
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)formats[i], 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glBindImageTexture(2, texture, 0, GL_FALSE, 0, GL_READ_ONLY, formats[i]);
        cell(i % 2, i / 2, 2, 2);
        glUniform2f(glGetUniformLocation(program, "corner"), (float)(i % 2 * SIZE / 2), (float)(i / 2 * SIZE / 2));
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        errors("drawn");
    }
}

static void storage(void)
{
    if (!need_extension("GL_EXT_texture_storage"))
        return no_picture();
    FUNCTION(STORAGE, glTexStorage2DEXT);
    GLuint texture;
    GLint value = -7;
    unsigned char pixels[32 * 32 * 4];
    checkerboard(pixels, 32, 32, 5);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2DEXT(GL_TEXTURE_2D, 3, GL_RGBA8, 32, 32);
    errors("stored");
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_FORMAT, &value);
    note("immutable: %d", value);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_LEVELS, &value);
    note("levels: %d", value);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 32, 32, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glGenerateMipmap(GL_TEXTURE_2D);
    glTexStorage2DEXT(GL_TEXTURE_2D, 3, GL_RGBA8, 32, 32);
    errors("stored again");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    errors("another image");
    for (int level = 0; level < 4; level++) {
        glGetTexLevelParameteriv(GL_TEXTURE_2D, level, GL_TEXTURE_WIDTH, &value);
        note("level %d: %d wide", level, value);
    }
    glEnable(GL_TEXTURE_2D);
    glColor3f(1, 1, 1);
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        glViewport(i % 2 * 128, i / 2 * 128, 128 >> i, 128 >> i);
        square(1);
    }
    errors("drawn");
}

/* The amount of free memory depends on the machine, and may be zero. */
static void memory(void)
{
    GLint values[8];
    no_picture();
    if (need_extension("GL_ATI_meminfo"))
        for (GLenum name = 0x87FB; name <= 0x87FD; name++) {
            for (int i = 0; i < 8; i++)
                values[i] = -7;
            glGetIntegerv(name, values);
            note("%x: written %d %d %d %d %d", name, values[0] != -7, values[1] != -7, values[2] != -7, values[3] != -7, values[4] != -7);
            errors("asked");
        }
    if (need_extension("GL_NVX_gpu_memory_info"))
        for (GLenum name = 0x9047; name <= 0x904B; name++) {
            values[0] = values[1] = -7;
            glGetIntegerv(name, values);
            note("%x: written %d %d", name, values[0] != -7, values[1] != -7);
            errors("asked");
        }
}

static void dithered_coverage(void)
{
    if (!need_extension("GL_NV_alpha_to_coverage_dither_control"))
        return no_picture();
    FUNCTION(DITHER, glAlphaToCoverageDitherControlNV);
    for (GLenum mode = GL_ALPHA_TO_COVERAGE_DITHER_DEFAULT_NV - 1; mode <= GL_ALPHA_TO_COVERAGE_DITHER_DISABLE_NV + 1; mode++) {
        glAlphaToCoverageDitherControlNV(mode);
        errors("set");
        INTS(GL_ALPHA_TO_COVERAGE_DITHER_MODE_NV, 1);
        glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
        glColor4f(1, 0.5f, 0.25f, 0.5f);
        square(0.5f);
        errors("drawn");
    }
}

/* Older names of commands in OpenGL ES 2. */
static void embedded(void)
{
    EGLDisplay egl = open_surfaceless();
    if (egl == EGL_NO_DISPLAY)
        return;
    EGLConfig config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_ES2_BIT);
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLContext context = eglCreateContext(egl, config, EGL_NO_CONTEXT, (const EGLint[]){EGL_CONTEXT_MAJOR_VERSION, 2, EGL_NONE});
    EGLSurface surface = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, SIZE, EGL_HEIGHT, SIZE, EGL_NONE});
    note("current: %d", eglMakeCurrent(egl, surface, surface, context));
    static const GLfloat corners[] = {-0.9f, -0.9f, -0.5f, -0.9f, -0.7f, -0.4f}, shifts[] = {0, 0, 0.5f, 0.2f, 1, 0.7f, 1.3f, 1.1f};
    static const struct {
        GLuint count, instances, first, base;
    } commands[] = {{3, 2, 0, 0}, {3, 1, 0, 0}};
    GLuint program = build_program("#version 100\nattribute vec2 place, shift; varying vec2 color; void main() { gl_Position = vec4(place + shift, 0.0, 1.0); color = place + shift; }",
                                   "#version 100\nprecision mediump float; varying vec2 color; void main() { gl_FragColor = vec4(abs(color), 0.5, 1.0); }");
    GLint place = glGetAttribLocation(program, "place"), shift = glGetAttribLocation(program, "shift");
    glUseProgram(program);
    make_buffer(GL_ARRAY_BUFFER, sizeof corners, corners);
    glVertexAttribPointer((GLuint)place, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray((GLuint)place);
    make_buffer(GL_ARRAY_BUFFER, sizeof shifts, shifts);
    glVertexAttribPointer((GLuint)shift, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray((GLuint)shift);
    if (need_extension("GL_EXT_instanced_arrays")) {
        PFNGLVERTEXATTRIBDIVISORPROC divisor = (PFNGLVERTEXATTRIBDIVISORPROC)eglGetProcAddress("glVertexAttribDivisorEXT");
        PFNGLDRAWARRAYSINSTANCEDPROC draw = (PFNGLDRAWARRAYSINSTANCEDPROC)eglGetProcAddress("glDrawArraysInstancedEXT");
        divisor((GLuint)shift, 1);
        draw(GL_TRIANGLES, 0, 3, 4);
        errors("instances");
    }
    if (need_extension("GL_EXT_multi_draw_indirect")) {
        PFNGLMULTIDRAWARRAYSINDIRECTPROC draw = (PFNGLMULTIDRAWARRAYSINDIRECTPROC)eglGetProcAddress("glMultiDrawArraysIndirectEXT");
        PFNGLGENVERTEXARRAYSPROC generate = (PFNGLGENVERTEXARRAYSPROC)eglGetProcAddress("glGenVertexArraysOES");
        PFNGLBINDVERTEXARRAYPROC bind = (PFNGLBINDVERTEXARRAYPROC)eglGetProcAddress("glBindVertexArrayOES");
        GLuint array = 0;
        generate(1, &array);
        bind(array);
        make_buffer(GL_ARRAY_BUFFER, sizeof corners, corners);
        glVertexAttribPointer((GLuint)place, 2, GL_FLOAT, GL_FALSE, 0, NULL);
        glEnableVertexAttribArray((GLuint)place);
        glVertexAttrib2f((GLuint)shift, 0.25f, 0.75f);
        make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof commands, commands);
        draw(GL_TRIANGLES, NULL, 2, 0);
        errors("indirect draws");
        bind(0);
    }
    if (need_extension("GL_APPLE_sync")) {
        PFNGLFENCESYNCPROC fence = (PFNGLFENCESYNCPROC)eglGetProcAddress("glFenceSyncAPPLE");
        PFNGLCLIENTWAITSYNCPROC wait = (PFNGLCLIENTWAITSYNCPROC)eglGetProcAddress("glClientWaitSyncAPPLE");
        PFNGLDELETESYNCPROC end = (PFNGLDELETESYNCPROC)eglGetProcAddress("glDeleteSyncAPPLE");
        GLsync sync = fence(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        GLenum waited = wait(sync, GL_SYNC_FLUSH_COMMANDS_BIT, 1000000000);
        note("waited: %d", waited == GL_ALREADY_SIGNALED || waited == GL_CONDITION_SATISFIED);
        end(sync);
        errors("fence");
    }
    if (need_extension("GL_MESA_sampler_objects")) {
        PFNGLGENSAMPLERSPROC generate = (PFNGLGENSAMPLERSPROC)eglGetProcAddress("glGenSamplers");
        PFNGLSAMPLERPARAMETERIPROC set = (PFNGLSAMPLERPARAMETERIPROC)eglGetProcAddress("glSamplerParameteri");
        PFNGLGETSAMPLERPARAMETERIVPROC get = (PFNGLGETSAMPLERPARAMETERIVPROC)eglGetProcAddress("glGetSamplerParameteriv");
        GLuint sampler = 0;
        GLint filter = 0;
        generate(1, &sampler);
        set(sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        get(sampler, GL_TEXTURE_MIN_FILTER, &filter);
        note("filter: %x", filter);
        errors("sampler");
    }
    picture(NULL);
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(egl, context);
    eglDestroySurface(egl, surface);
    eglTerminate(egl);
    eglReleaseThread();
}

/* A scene of OpenGL ES makes its own context, which becomes current in the thread. */
static void embedded_alone(void)
{
    glXMakeCurrent(display, None, NULL);
    embedded();
    no_picture();
}

CONFORM("newer_extensions", COMPAT, {"multiview", multiview}, {"formatless_images", formatless_images}, {"storage", storage}, {"memory", memory},
        {"dithered_coverage", dithered_coverage}, {"embedded", embedded_alone})
