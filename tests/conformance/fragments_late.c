/* Later additions to the end of the pipeline: dual-source blending, advanced equations, stencil
 * textures, framebuffers without attachments, and barriers. */
#include "conform.h"

#include <pthread.h>

#define COVER "#version 330\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 1.8 - 0.9, 0.0, 1.0); }"

static void dual_source(void)
{
    if (!need_extension("GL_ARB_blend_func_extended"))
        return no_picture();
    INTS(GL_MAX_DUAL_SOURCE_DRAW_BUFFERS, 1);
    GLuint program = build_program(COVER, "#version 330\nlayout(location = 0, index = 0) out vec4 a; layout(location = 0, index = 1) out vec4 b; void main() { "
                                          "a = vec4(0.8, 0.3, 0.1, 0.5); b = vec4(fract(gl_FragCoord.x / 40.0), fract(gl_FragCoord.y / 30.0), 0.5, 0.25); }");
    glUseProgram(program);
    glClearColor(0.2f, 0.4f, 0.6f, 0.8f);
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_BLEND);
    static const GLenum factors[] = {GL_SRC1_COLOR, GL_ONE_MINUS_SRC1_COLOR, GL_SRC1_ALPHA, GL_ONE_MINUS_SRC1_ALPHA};
    for (int s = 0; s < 4; s++) {
        for (int d = 0; d < 4; d++) {
            glBlendFunc(factors[s], factors[d]);
            cell(s, d, 4, 4);
            glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        }
    }
    INTS(GL_BLEND_SRC_RGB, 1);
    note("%d %d", glGetFragDataIndex(program, "b"), glGetFragDataLocation(program, "b"));
    GLuint late = glCreateProgram();
    glBindFragDataLocationIndexed(late, 0, 1, "b");
    glBindFragDataLocationIndexed(late, 0, 2, "b");
    errors("no such index");
    glBindFragDataLocationIndexed(late, 100, 0, "b");
    errors("no such location");
    glBindFragDataLocationIndexed(late, 0, 1, "gl_b");
    errors("a reserved name");
    if (has_extension("GL_ARB_draw_buffers_blend")) {
        glBlendFunciARB(0, GL_SRC1_ALPHA, GL_ONE);
        glBlendFuncSeparateiARB(0, GL_ONE, GL_ZERO, GL_DST_ALPHA, GL_ONE);
        glBlendEquationiARB(0, GL_MAX);
        glBlendEquationSeparateiARB(0, GL_MIN, GL_FUNC_ADD);
        GLint value = -7;
        glGetIntegeri_v(GL_BLEND_EQUATION_RGB, 0, &value);
        note("%x", value);
        glBlendFunciARB(100, GL_ONE, GL_ONE);
        errors("no such buffer");
        glBlendEquationiARB(0, GL_ONE);
        errors("no such equation");
    }
}

static void advanced(void)
{
    if (!need_extension("GL_KHR_blend_equation_advanced"))
        return no_picture();
    static const GLenum equations[] = {GL_MULTIPLY_KHR, GL_SCREEN_KHR, GL_OVERLAY_KHR, GL_DARKEN_KHR, GL_LIGHTEN_KHR, GL_COLORDODGE_KHR, GL_COLORBURN_KHR, GL_HARDLIGHT_KHR,
                                       GL_SOFTLIGHT_KHR, GL_DIFFERENCE_KHR, GL_EXCLUSION_KHR, GL_HSL_HUE_KHR, GL_HSL_SATURATION_KHR, GL_HSL_COLOR_KHR, GL_HSL_LUMINOSITY_KHR};
    GLuint program = build_program(COVER, "#version 330\n#extension GL_KHR_blend_equation_advanced : require\nlayout(blend_support_all_equations) out; out vec4 c; "
                                          "void main() { c = vec4(fract(gl_FragCoord.xy / 64.0), 0.4, 0.7); }");
    glUseProgram(program);
    glClearColor(0.7f, 0.4f, 0.2f, 0.9f);
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_BLEND);
    for (int i = 0; i < 15; i++) {
        glBlendEquation(equations[i]);
        cell(i % 4, i / 4, 4, 4);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        glBlendBarrierKHR();
        INTS(GL_BLEND_EQUATION_RGB, 1);
    }
    ENABLED(GL_BLEND_ADVANCED_COHERENT_KHR);
    errors("drawn");
    glUseProgram(build_program(COVER, "#version 330\nout vec4 c; void main() { c = vec4(1.0); }"));
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    errors("a shader without advanced blending");
    glUseProgram(0);
    glBegin(GL_POINTS);
    glEnd();
    errors("no program");
}

static void stencils(void)
{
    if (!need_extension("GL_ARB_stencil_texturing"))
        return no_picture();
    GLuint texture, framebuffer;
    glGenTextures(1, &texture);
    glGenFramebuffers(1, &framebuffer);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_DEPTH24_STENCIL8, 64, 64);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_TEXTURE_2D, texture, 0);
    glDrawBuffer(GL_NONE);
    glReadBuffer(GL_NONE);
    note("status %x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    glViewport(0, 0, 64, 64);
    glClearStencil(7);
    glClear(GL_STENCIL_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_STENCIL_TEST);
    glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
    for (int i = 0; i < 5; i++) {
        glStencilFunc(GL_ALWAYS, 40 * (i + 1), 255);
        glRectf(-0.9f + 0.3f * (float)i, -0.8f, -0.4f + 0.3f * (float)i, 0.8f - 0.2f * (float)i);
    }
    glDisable(GL_STENCIL_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    GLint mode = -7;
    glGetTexParameteriv(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, &mode);
    note("%x", mode);
    for (int i = 0; i < 2; i++) {
        glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, i ? GL_DEPTH_COMPONENT : GL_STENCIL_INDEX);
        glGetTexParameteriv(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, &mode);
        note("%x", mode);
        glUseProgram(build_program(COVER, i ? "#version 330\nuniform sampler2D image; out vec4 c; void main() { c = texture(image, fract(gl_FragCoord.xy / 120.0)); }"
                                            : "#version 330\nuniform usampler2D image; out vec4 c; void main() { c = vec4(texture(image, fract(gl_FragCoord.xy / 120.0)).rrr, 255) / 255.0; }"));
        cell(i, 0, 2, 1);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        errors("drawn");
    }
    glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_RED);
    errors("no such mode");
    if (!has_extension("GL_ARB_texture_stencil8"))
        return;
    glTexImage2D(GL_TEXTURE_2D, 0, GL_STENCIL_INDEX8, 4, 4, 0, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, NULL);
    errors("immutable");
    GLuint plain;
    glGenTextures(1, &plain);
    glBindTexture(GL_TEXTURE_2D, plain);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_STENCIL_INDEX8, 4, 4, 0, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, "abcdefghijklmnop");
    unsigned char bytes[16] = {0};
    glGetTexImage(GL_TEXTURE_2D, 0, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, bytes);
    note_bytes("stencils", bytes, 16);
    errors("stencils");
}

static void no_attachments(void)
{
    no_picture();
    if (!need_extension("GL_ARB_framebuffer_no_attachments") || !need_extension("GL_ARB_shader_image_load_store"))
        return;
    INTS(GL_MAX_FRAMEBUFFER_WIDTH, 1);
    INTS(GL_MAX_FRAMEBUFFER_HEIGHT, 1);
    INTS(GL_MAX_FRAMEBUFFER_LAYERS, 1);
    INTS(GL_MAX_FRAMEBUFFER_SAMPLES, 1);
    GLuint framebuffer, texture;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    note("status %x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    static const GLenum names[] = {GL_FRAMEBUFFER_DEFAULT_WIDTH, GL_FRAMEBUFFER_DEFAULT_HEIGHT, GL_FRAMEBUFFER_DEFAULT_LAYERS, GL_FRAMEBUFFER_DEFAULT_SAMPLES,
                                   GL_FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS};
    static const GLint values[] = {20, 10, 3, 2, 1};
    for (int i = 0; i < 5; i++) {
        GLint value = -7;
        glFramebufferParameteri(GL_FRAMEBUFFER, names[i], values[i]);
        glGetFramebufferParameteriv(GL_FRAMEBUFFER, names[i], &value);
        note("%x: %d", names[i], value);
    }
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_LAYERS, 0);
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_SAMPLES, 0);
    note("status %x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    errors("set");
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 20, 10);
    glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32UI);
    glUseProgram(build_program(COVER, "#version 420\nlayout(r32ui, binding = 0) uniform writeonly uimage2D to; void main() { imageStore(to, ivec2(gl_FragCoord.xy), "
                                      "uvec4(uint(gl_FragCoord.x) * 100u + uint(gl_FragCoord.y))); }"));
    glViewport(0, 0, 20, 10);
    unsigned char bytes[800] = {0};
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 20, 10, GL_RED_INTEGER, GL_UNSIGNED_INT, bytes);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, bytes);
    note_bytes("written", bytes, sizeof bytes);
    errors("drawn");
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, -1);
    errors("a negative width");
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, 1000000);
    errors("too wide");
    glFramebufferParameteri(GL_FRAMEBUFFER, 77, 1);
    errors("no such name");
    glFramebufferParameteri(GL_TEXTURE_2D, GL_FRAMEBUFFER_DEFAULT_WIDTH, 1);
    errors("no such target");
    GLint value = -7;
    glGetFramebufferParameteriv(GL_FRAMEBUFFER, 77, &value);
    errors("asked of no name");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, 1);
    errors("the default framebuffer");
    glGetFramebufferParameteriv(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, &value);
    errors("asked of the default framebuffer");
}

/* A texture that is drawn to and read at the same time. */
static void barriers(void)
{
    if (!need_extension("GL_ARB_texture_barrier"))
        return no_picture();
    GLuint texture, framebuffer;
    unsigned char pixels[64 * 64 * 4];
    checkerboard(pixels, 64, 64, 16);
    glGenTextures(1, &texture);
    glGenFramebuffers(1, &framebuffer);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glUseProgram(build_program("#version 330\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0, 0.0, 1.0); }",
                               "#version 330\nuniform sampler2D image; out vec4 c; void main() { c = texelFetch(image, ivec2(gl_FragCoord.xy), 0) * 0.7 + 0.1; }"));
    glViewport(0, 0, 64, 64);
    for (int i = 0; i < 3; i++) {
        glTextureBarrier();
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, 64, 64, 0, 0, 256, 256, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    errors("drawn");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

/* A thread that waits for commands of another thread. */
struct errand {
    struct window window;
    GLXContext context;
    GLsync sync;
    GLuint buffer, values[4];
    GLenum waited, error;
};

static void *run_errand(void *argument)
{
    struct errand *errand = argument;
    glXMakeCurrent(display, errand->window.id, errand->context);
    glWaitSync(errand->sync, 0, GL_TIMEOUT_IGNORED);
    errand->waited = glClientWaitSync(errand->sync, GL_SYNC_FLUSH_COMMANDS_BIT, 10000000000ULL);
    glBindBuffer(GL_COPY_READ_BUFFER, errand->buffer);
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, sizeof errand->values, errand->values);
    errand->error = glGetError();
    glXMakeCurrent(display, None, NULL);
    return NULL;
}

static void waiting(void)
{
    no_picture();
    if (!need_extension("GL_ARB_sync") || !need_version(3, 2))
        return;
    static const int core[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 2, None};
    struct errand errand = {.window = open_window(default_config(), 1, 64, 64), .context = create_context(default_config(), glXGetCurrentContext(), core)};
    errand.buffer = make_buffer(GL_COPY_WRITE_BUFFER, 16, (GLuint[]){1, 2, 3, 4});
    for (GLuint turn = 0; turn < 3; turn++) {
        GLuint values[] = {turn, 10 * turn, 7, 8};
        glBufferSubData(GL_COPY_WRITE_BUFFER, 0, sizeof values, values);
        errand.sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        glFlush();
        pthread_t thread;
        pthread_create(&thread, NULL, run_errand, &errand);
        pthread_join(thread, NULL);
        note("waited %d, error %s", errand.waited == GL_ALREADY_SIGNALED || errand.waited == GL_CONDITION_SATISFIED, error_name(errand.error));
        note_ints("values", (const int *)errand.values, 4);
        GLint status = -7;
        GLsizei length = -7;
        glGetSynciv(errand.sync, GL_SYNC_STATUS, 1, &length, &status);
        note("status %x, %d", status, length);
        glDeleteSync(errand.sync);
        note("is %d", glIsSync(errand.sync));
        errors("turn");
    }
    glXDestroyContext(display, errand.context);
    close_window(&errand.window);
}

CONFORM("fragments_late", COMPAT, {"dual_source", dual_source}, {"advanced", advanced}, {"stencils", stencils}, {"no_attachments", no_attachments},
        {"barriers", barriers}, {"waiting", waiting})
