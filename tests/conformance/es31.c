/* OpenGL ES 3.1 and 3.2 by EGL: compute, images, indirect draws, separate programs, vertex
 * bindings, tessellation, geometry, blending, and errors. */
#include "conform.h"
#include "egl.h"
#include <GL/glext.h>

static EGLDisplay egl;
static EGLContext context;
static EGLSurface surface;

static bool start(int minor)
{
    egl = open_surfaceless();
    if (egl == EGL_NO_DISPLAY)
        return false;
    EGLConfig config = egl_config(egl, EGL_PBUFFER_BIT, EGL_OPENGL_ES3_BIT);
    if (!config)
        return false;
    eglBindAPI(EGL_OPENGL_ES_API);
    context = eglCreateContext(egl, config, EGL_NO_CONTEXT, (const EGLint[]){EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, minor, EGL_NONE});
    if (context == EGL_NO_CONTEXT) {
        skip("a context of this version");
        return false;
    }
    surface = eglCreatePbufferSurface(egl, config, (const EGLint[]){EGL_WIDTH, SIZE, EGL_HEIGHT, SIZE, EGL_NONE});
    eglMakeCurrent(egl, surface, surface, context);
    if (!has_version(3, minor)) {
        skip("this version");
        return false;
    }
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    return true;
}

static void end(bool with_picture)
{
    errors("end");
    if (with_picture)
        picture(NULL);
    eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(egl, context);
    eglDestroySurface(egl, surface);
    eglTerminate(egl);
    eglReleaseThread();
}

#define VERTEX31 "#version 310 es\nlayout(location = 0) in vec2 place; layout(location = 1) in vec3 tint; out vec3 color; void main() { gl_Position = vec4(place, 0.0, 1.0); color = tint; }"
#define FRAGMENT31 "#version 310 es\nprecision mediump float; in vec3 color; layout(location = 0) out vec4 result; void main() { result = vec4(color, 1.0); }"

static void compute(void)
{
    if (!start(1))
        return;
    GLuint program = STAGES(.compute = "#version 310 es\nlayout(local_size_x = 4, local_size_y = 2) in; layout(std430, binding = 1) buffer Out { uint n[]; };\n"
                                       "layout(rgba8, binding = 0) writeonly uniform highp image2D to; layout(binding = 0, offset = 0) uniform atomic_uint hits; shared uint sum;\n"
                                       "void main() { uint i = gl_GlobalInvocationID.y * 8u + gl_GlobalInvocationID.x; if (gl_LocalInvocationIndex == 0u) sum = 0u; barrier();\n"
                                       "atomicAdd(sum, i); barrier(); n[i] = sum + gl_WorkGroupID.x; atomicCounterIncrement(hits);\n"
                                       "imageStore(to, ivec2(gl_GlobalInvocationID.xy), vec4(float(i) / 32.0, 0.5, 1.0 - float(i) / 32.0, 1.0)); }");
    GLuint numbers = make_buffer(GL_SHADER_STORAGE_BUFFER, 128, NULL), counter = make_buffer(GL_ATOMIC_COUNTER_BUFFER, 4, (GLuint[]){5}), texture;
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, numbers);
    glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, counter);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 8, 4);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
    glUseProgram(program);
    glDispatchCompute(2, 2, 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    note_buffer_ints("numbers", GL_SHADER_STORAGE_BUFFER, 32);
    note_buffer_ints("counter", GL_ATOMIC_COUNTER_BUFFER, 1);
    make_buffer(GL_DISPATCH_INDIRECT_BUFFER, 16, (GLuint[]){7, 1, 1, 1});
    glDispatchComputeIndirect(4);
    glMemoryBarrierByRegion(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT);
    note_buffer_ints("counter", GL_ATOMIC_COUNTER_BUFFER, 1);
    errors("dispatched");
    glMemoryBarrierByRegion(GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT);
    errors("not by region");
    GLuint draw = build_program("#version 310 es\nout vec2 at; void main() { at = vec2(gl_VertexID & 1, gl_VertexID >> 1); gl_Position = vec4(at * 1.6 - 0.8, 0.0, 1.0); }",
                                "#version 310 es\nprecision mediump float; in vec2 at; uniform sampler2D image; out vec4 c; void main() { c = texture(image, at); }");
    glUseProgram(draw);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    GLint values[3] = {-7, -7, -7};
    for (GLuint i = 0; i < 3; i++)
        glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, i, &values[i]);
    note_ints("groups", values, 3);
    INTS(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE, 1);
    INTS(GL_MAX_FRAMEBUFFER_WIDTH, 1);
    INTS(GL_MAX_VERTEX_ATTRIB_BINDINGS, 1);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, values);
    note("width %d", values[0]);
    glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RG8);
    errors("no such format");
    GLint mutable_texture = 0;
    glGenTextures(1, (GLuint *)&mutable_texture);
    glBindTexture(GL_TEXTURE_2D, (GLuint)mutable_texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindImageTexture(0, (GLuint)mutable_texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
    errors("a mutable texture");
    end(true);
}

static void draws(void)
{
    if (!start(1))
        return;
    static const GLfloat vertices[][5] = {{-0.9f, -0.9f, 1, 0, 0}, {0.1f, -0.9f, 0, 1, 0}, {-0.4f, 0, 0, 0, 1}, {0.5f, 0.2f, 1, 1, 0}, {0.9f, 0.9f, 0, 1, 1}, {0, 0.8f, 1, 0, 1}};
    static const GLushort order[] = {3, 4, 5};
    static const GLuint commands[] = {3, 1, 0, 0, 3, 1, 0, 0, 0};
    GLuint vertex = glCreateShaderProgramv(GL_VERTEX_SHADER, 1, (const char *const[]){VERTEX31}), pipeline, array;
    GLuint fragment = glCreateShaderProgramv(GL_FRAGMENT_SHADER, 1, (const char *const[]){FRAGMENT31});
    glGenProgramPipelines(1, &pipeline);
    glUseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, vertex);
    glUseProgramStages(pipeline, GL_FRAGMENT_SHADER_BIT, fragment);
    glBindProgramPipeline(pipeline);
    glValidateProgramPipeline(pipeline);
    GLint valid = -1;
    glGetProgramPipelineiv(pipeline, GL_VALIDATE_STATUS, &valid);
    note("valid %d", valid);
    glGetProgramPipelineiv(pipeline, GL_VERTEX_SHADER, &valid);
    note("vertex %d", valid == (GLint)vertex);
    errors("pipeline");
    /* The default vertex array object does not allow indirect draws. */
    make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof commands, commands);
    glDrawArraysIndirect(GL_TRIANGLES, NULL);
    errors("the default vertex array object");
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, (void *)16);
    errors("no indices");
    GLuint buffer = make_buffer(GL_ARRAY_BUFFER, sizeof vertices, vertices);
    glBindVertexBuffer(3, buffer, 0, 20);
    for (GLuint a = 0; a < 2; a++) {
        glVertexAttribFormat(a, a ? 3 : 2, GL_FLOAT, GL_FALSE, a * 8);
        glVertexAttribBinding(a, 3);
        glEnableVertexAttribArray(a);
    }
    make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order);
    glDrawArraysIndirect(GL_TRIANGLES, NULL);
    glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, (void *)16);
    errors("drawn");
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, 0);
    glDrawArraysIndirect(GL_TRIANGLES, NULL);
    errors("no commands");
    glDrawArraysIndirect(77, NULL);
    errors("no mode");
    glDrawElementsIndirect(GL_TRIANGLES, GL_FLOAT, NULL);
    errors("no type");
    glDrawArraysIndirect(GL_TRIANGLES, (void *)2);
    errors("a crooked offset");
    GLint value = -7;
    glGetVertexAttribiv(1, GL_VERTEX_ATTRIB_RELATIVE_OFFSET, &value);
    note("relative offset %d", value);
    glGetIntegeri_v(GL_VERTEX_BINDING_STRIDE, 3, &value);
    note("stride %d", value);
    glVertexBindingDivisor(3, 2);
    glGetIntegeri_v(GL_VERTEX_BINDING_DIVISOR, 3, &value);
    note("divisor %d", value);
    glBindVertexBuffer(100, buffer, 0, 20);
    errors("no such binding");
    glVertexAttribFormat(0, 5, GL_FLOAT, GL_FALSE, 0);
    errors("five components");
    glVertexAttribFormat(0, 2, GL_DOUBLE, GL_FALSE, 0);
    errors("doubles");
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, 64);
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_HEIGHT, 32);
    note("status %x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    glGetFramebufferParameteriv(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, &value);
    note("width %d", value);
    glGetFramebufferParameteriv(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_LAYERS, &value);
    errors("layers");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    end(true);
}

static void stages(void)
{
    if (!start(2))
        return;
    GLuint program = STAGES(
        .vertex = "#version 320 es\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 1.6 - 0.8, 0.0, 1.0); }",
        .control = "#version 320 es\nlayout(vertices = 4) out; void main() { gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position; "
                   "for (int i = 0; i < 4; i++) gl_TessLevelOuter[i] = 5.0; gl_TessLevelInner[0] = 4.0; gl_TessLevelInner[1] = 3.0; }",
        .evaluation = "#version 320 es\nlayout(quads, equal_spacing) in; out vec3 tone; void main() { gl_Position = mix(mix(gl_in[0].gl_Position, gl_in[1].gl_Position, "
                      "gl_TessCoord.x), mix(gl_in[2].gl_Position, gl_in[3].gl_Position, gl_TessCoord.x), gl_TessCoord.y); tone = gl_TessCoord; }",
        .geometry = "#version 320 es\nlayout(triangles) in; layout(line_strip, max_vertices = 4) out; in vec3 tone[]; out vec3 color; void main() { "
                    "for (int i = 0; i < 4; i++) { gl_Position = gl_in[i % 3].gl_Position; color = tone[i % 3] + 0.3; EmitVertex(); } EndPrimitive(); }",
        .fragment = "#version 320 es\nprecision mediump float; in vec3 color; out vec4 c; void main() { c = vec4(color, 1.0); }");
    glUseProgram(program);
    glPatchParameteri(GL_PATCH_VERTICES, 4);
    /* libGL does not export these functions. */
    void (*bounding_box)(GLfloat, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat) =
        (void (*)(GLfloat, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat, GLfloat))eglGetProcAddress("glPrimitiveBoundingBox");
    void (*blend_barrier)(void) = (void (*)(void))eglGetProcAddress("glBlendBarrier");
    bounding_box(-1, -1, -1, 1, 1, 1, 1, 1);
    FLOATS(GL_PRIMITIVE_BOUNDING_BOX_ARB, 8);
    glDrawArrays(GL_PATCHES, 0, 4);
    errors("drawn");
    /* Several blend equations, including the advanced ones. */
    static const GLenum equations[] = {GL_MULTIPLY_KHR, GL_SCREEN_KHR, GL_OVERLAY_KHR, GL_DARKEN_KHR, GL_LIGHTEN_KHR, GL_COLORDODGE_KHR, GL_COLORBURN_KHR, GL_HARDLIGHT_KHR,
                                       GL_SOFTLIGHT_KHR, GL_DIFFERENCE_KHR, GL_EXCLUSION_KHR, GL_HSL_HUE_KHR, GL_HSL_SATURATION_KHR, GL_HSL_COLOR_KHR, GL_HSL_LUMINOSITY_KHR};
    GLuint blend = build_program("#version 320 es\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0, 0.0, 1.0); }",
                                 "#version 320 es\nprecision mediump float; layout(blend_support_all_equations) out; layout(location = 0) out vec4 c; uniform vec4 tint; "
                                 "void main() { c = tint; }");
    glUseProgram(blend);
    glEnable(GL_BLEND);
    for (int i = 0; i < 15; i++) {
        glViewport(i % 4 * 64, i / 4 * 64, 60, 40);
        glBlendEquation(equations[i]);
        glUniform4f(glGetUniformLocation(blend, "tint"), 0.5f, 0.2f * (float)(i % 4), 0.7f, 0.8f);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        blend_barrier();
        INTS(GL_BLEND_EQUATION_RGB, 1);
    }
    errors("blended");
    glBlendEquationSeparate(GL_MULTIPLY_KHR, GL_FUNC_ADD);
    errors("advanced and separate");
    glDisable(GL_BLEND);
    glEnablei(GL_BLEND, 0);
    glBlendFuncSeparatei(0, GL_ONE, GL_ONE_MINUS_SRC_ALPHA, GL_ZERO, GL_ONE);
    glBlendEquationi(0, GL_FUNC_SUBTRACT);
    glColorMaski(0, GL_TRUE, GL_FALSE, GL_TRUE, GL_TRUE);
    note("blend %d", glIsEnabledi(GL_BLEND, 0));
    glViewport(192, 192, 64, 64);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    GLint value = -7;
    glGetIntegeri_v(GL_BLEND_SRC_RGB, 0, &value);
    note("%x", value);
    glEnablei(GL_BLEND, 100);
    errors("no such buffer");
    /* Borders, copies, samples, robust gets. */
    GLuint textures[2];
    glGenTextures(2, textures);
    glBindTexture(GL_TEXTURE_2D, textures[0]);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 8, 8);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, (const GLfloat[]){0.1f, 0.2f, 0.3f, 0.4f});
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    glBindTexture(GL_TEXTURE_2D_ARRAY, textures[1]);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA8UI, 8, 8, 2);
    glCopyImageSubData(textures[0], GL_TEXTURE_2D, 0, 0, 0, 0, textures[1], GL_TEXTURE_2D_ARRAY, 0, 2, 2, 1, 4, 4, 1);
    glMinSampleShading(0.5f);
    FLOATS(GL_MIN_SAMPLE_SHADING_VALUE, 1);
    GLfloat color[4] = {-7, -7, -7, -7};
    glGetnUniformfv(blend, glGetUniformLocation(blend, "tint"), 16, color);
    note_floats("tint", color, 4);
    unsigned char pixels[64];
    glReadnPixels(0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, 64, pixels);
    note_bytes("pixels", pixels, 64);
    glReadnPixels(0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, 63, pixels);
    errors("too little room");
    note("reset %x", glGetGraphicsResetStatus());
    glTexStorage3DMultisample(GL_TEXTURE_2D_MULTISAMPLE_ARRAY, 2, GL_RGBA8, 4, 4, 2, GL_TRUE);
    errors("no texture");
    glTexBufferRange(GL_TEXTURE_BUFFER, GL_RGBA8, 0, 0, 16);
    errors("no buffer texture");
    end(true);
}

/* The requirements of GL_ANDROID_extension_pack_es31a: its extensions, its single name for all of
 * them in shaders, and larger limits in fragment shaders than ES 3.1 requires. */
static void extension_pack(void)
{
    static const char *const promised[] = {
        "GL_KHR_debug", "GL_KHR_texture_compression_astc_ldr", "GL_KHR_blend_equation_advanced", "GL_OES_sample_shading", "GL_OES_sample_variables",
        "GL_OES_shader_image_atomic", "GL_OES_shader_multisample_interpolation", "GL_OES_texture_stencil8", "GL_OES_texture_storage_multisample_2d_array",
        "GL_EXT_copy_image", "GL_EXT_draw_buffers_indexed", "GL_EXT_geometry_shader", "GL_EXT_gpu_shader5", "GL_EXT_primitive_bounding_box",
        "GL_EXT_shader_io_blocks", "GL_EXT_tessellation_shader", "GL_EXT_texture_border_clamp", "GL_EXT_texture_buffer", "GL_EXT_texture_cube_map_array",
        "GL_EXT_texture_sRGB_decode",
    };
#define PACK "#version 310 es\n#extension GL_ANDROID_extension_pack_es31a : require\n"
    static const char vertex[] = PACK "layout(location = 0) in vec2 p; out Corner { vec2 place; } corner;\n"
                                      "void main() { gl_Position = vec4(p, 0.0, 1.0); corner.place = p; }";
    static const char geometry[] = PACK "layout(triangles) in; layout(triangle_strip, max_vertices = 6) out;\n"
                                        "in Corner { vec2 place; } corners[]; layout(location = 0) out vec2 place; layout(location = 1) out vec4 tint;\n"
                                        "void main() { for (int n = 0; n < 2; n++) { for (int i = 0; i < 3; i++) {\n"
                                        "gl_Position = vec4(gl_in[i].gl_Position.xy * 0.45 + vec2(float(n) - 0.5, 0.0), 0.0, 1.0);\n"
                                        "place = corners[i].place; tint = vec4(float(n), 0.5, 1.0 - float(n), 0.75); EmitVertex(); } EndPrimitive(); } }";
    static const char fragment[] = PACK "precision highp float; precision highp int; precision highp uimage2D; precision highp samplerCubeArray; precision highp samplerBuffer;\n"
                                        "layout(blend_support_multiply) out; layout(location = 0) in vec2 place; layout(location = 1) in vec4 tint;\n"
                                        "layout(binding = 0, r32ui) uniform uimage2D counts; layout(binding = 0, offset = 0) uniform atomic_uint all;\n"
                                        "layout(std430, binding = 0) buffer Sums { uint sums[4]; };\n"
                                        "layout(binding = 0) uniform samplerCubeArray cubes; layout(binding = 1) uniform samplerBuffer texels;\n"
                                        "layout(location = 0) out vec4 color;\n"
                                        "void main() { atomicCounterIncrement(all); imageAtomicAdd(counts, ivec2(gl_FragCoord.xy) / 64, 1u);\n"
                                        "atomicAdd(sums[gl_SampleID], 1u);\n"
                                        "vec4 c = texture(cubes, vec4(1.0, place, 1.0)) + texelFetch(texels, int(gl_FragCoord.x) & 3);\n"
                                        "color = fma(c, vec4(0.5), tint * 0.5) * interpolateAtOffset(tint, vec2(0.25)); }";
    if (!start(1))
        return;
    if (!need_extension("GL_ANDROID_extension_pack_es31a"))
        return end(false);
    for (size_t i = 0; i < sizeof promised / sizeof *promised; i++)
        note("%s: %d", promised[i], has_extension(promised[i]));
    INTS(GL_MAX_FRAGMENT_ATOMIC_COUNTER_BUFFERS, 1);
    INTS(GL_MAX_FRAGMENT_ATOMIC_COUNTERS, 1);
    INTS(GL_MAX_FRAGMENT_IMAGE_UNIFORMS, 1);
    INTS(GL_MAX_FRAGMENT_SHADER_STORAGE_BLOCKS, 1);
    static const GLfloat corners[] = {-1, -1, 1, -1, 0, 1};
    static unsigned char faces[12 * 4 * 4 * 4];
    GLuint program = STAGES(.vertex = vertex, .geometry = geometry, .fragment = fragment), textures[3], zeros[16] = {0};
    for (size_t i = 0; i < sizeof faces; i++)
        faces[i] = (unsigned char)(i * 37 + i / 64);
    make_buffer(GL_ARRAY_BUFFER, sizeof corners, corners);
    GLuint texels = make_buffer(GL_TEXTURE_BUFFER, 16, faces), counters = make_buffer(GL_ATOMIC_COUNTER_BUFFER, 4, zeros);
    GLuint sums = make_buffer(GL_SHADER_STORAGE_BUFFER, 16, zeros);
    glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, counters);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, sums);
    glGenTextures(3, textures);
    glBindTexture(GL_TEXTURE_CUBE_MAP_ARRAY, textures[0]);
    glTexStorage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 1, GL_RGBA8, 4, 4, 12);
    glTexSubImage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 0, 0, 0, 0, 4, 4, 12, GL_RGBA, GL_UNSIGNED_BYTE, faces);
    glTexParameteri(GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_BUFFER, textures[1]);
    glTexBufferEXT(GL_TEXTURE_BUFFER, GL_RGBA8, texels);
    glBindTexture(GL_TEXTURE_2D, textures[2]);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 4, 4);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 4, GL_RED_INTEGER, GL_UNSIGNED_INT, zeros);
    glBindImageTexture(0, textures[2], 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
    errors("prepared");
    glClearColor(0.75f, 0.5f, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glUseProgram(program);
    glEnable(GL_BLEND);
    glBlendEquation(GL_MULTIPLY_KHR);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    glViewport(0, 0, SIZE, SIZE);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    errors("drawn");
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    note_buffer_ints("counter", GL_ATOMIC_COUNTER_BUFFER, 1);
    note_buffer_ints("sums", GL_SHADER_STORAGE_BUFFER, 4);
    GLuint framebuffer, counts[16 * 4] = {0};
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[2], 0);
    glReadPixels(0, 0, 4, 4, GL_RGBA_INTEGER, GL_UNSIGNED_INT, counts);
    note_ints("counts", (const int *)counts, 16 * 4);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    end(true);
}

/* The default vertex array object has no separate formats, and indirect draws do not read the
 * program's memory. */
static void default_array(void)
{
    static const GLfloat corners[] = {-1, -1, 1, -1, 0, 1};
    static const GLuint command[] = {3, 1, 0, 0, 0};
    static const GLubyte order[] = {0, 1, 2};
    if (!start(1))
        return;
    glUseProgram(build_program(VERTEX31, FRAGMENT31));
    GLuint buffer = make_buffer(GL_ARRAY_BUFFER, sizeof corners, corners), array;
    make_buffer(GL_DRAW_INDIRECT_BUFFER, sizeof command, command);
    glVertexAttribFormat(0, 2, GL_FLOAT, GL_FALSE, 0);
    errors("a format");
    glVertexAttribIFormat(0, 2, GL_INT, 0);
    errors("an integer format");
    glVertexAttribFormat(99, 2, GL_FLOAT, GL_FALSE, 0);
    errors("a format of no attribute");
    glVertexAttribFormat(0, 7, 0x1234, GL_FALSE, 9999);
    errors("no format");
    glVertexAttribBinding(0, 1);
    errors("a binding");
    glVertexBindingDivisor(0, 1);
    errors("a divisor of a binding");
    glBindVertexBuffer(0, buffer, 0, 8);
    errors("a buffer");
    glBindVertexBuffer(0, 7777, -1, -1);
    errors("no buffer");
    glVertexAttribDivisor(0, 1);
    errors("a divisor of an attribute");
    glVertexAttribDivisor(0, 0);
    glDrawArraysIndirect(0x1234, (void *)2);
    errors("no mode");
    glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_BYTE, NULL);
    errors("no indices");
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArraysIndirect(GL_TRIANGLES, NULL);
    errors("an array in memory");
    make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order);
    glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_BYTE, NULL);
    errors("an array in memory, with indices");
    glDrawElementsIndirect(0x1234, GL_FLOAT, (void *)2);
    errors("no type");
    glDrawArrays(GL_TRIANGLES, 0, 3);
    errors("drawn directly");
    /* An array without a buffer. */
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glEnableVertexAttribArray(0);
    glDrawArraysIndirect(GL_TRIANGLES, NULL);
    errors("an array without a buffer");
    glDrawArraysIndirect(0x1234, (void *)2);
    errors("and without a mode");
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(1);
    glDrawArraysIndirect(GL_TRIANGLES, NULL);
    errors("one of two without a buffer");
    glDisableVertexAttribArray(1);
    glDrawArraysIndirect(GL_TRIANGLES, (void *)2);
    errors("a crooked offset");
    glDrawArraysIndirect(GL_TRIANGLES, (void *)8);
    errors("beyond the commands");
    glVertexAttrib3f(1, 1, 0.5f, 0);
    glDrawArraysIndirect(GL_TRIANGLES, NULL);
    errors("drawn");
    glDeleteBuffers(1, &buffer);
    glDrawArraysIndirect(GL_TRIANGLES, NULL);
    errors("its buffer deleted");
    end(true);
}

CONFORM("es31", NONE, {"default_array", default_array}, {"compute", compute}, {"draws", draws}, {"stages", stages}, {"extension_pack", extension_pack})
