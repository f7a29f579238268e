/* Multisampled textures and renderbuffers: storage, masks, sample shading, positions, resolving,
 * and errors. */
#include "conform.h"

static const char vertex[] = "#version 150\nuniform float turn; void main() { float a = turn + float(gl_VertexID) * 2.1; gl_Position = vec4(0.9 * cos(a), 0.9 * sin(a), 0.0, 1.0); }";

static void triangle(float turn)
{
    GLint program;
    glGetIntegerv(GL_CURRENT_PROGRAM, &program);
    glUniform1f(glGetUniformLocation((GLuint)program, "turn"), turn);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void resolve(int x, int y, GLuint from)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, 64, 64, x, y, x + 64, y + 64, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    errors("resolve");
    glBindFramebuffer(GL_FRAMEBUFFER, from);
}

static void drawn(void)
{
    if (!need_version(3, 2))
        return no_picture();
    INTS(GL_MAX_SAMPLES, 1);
    INTS(GL_MAX_COLOR_TEXTURE_SAMPLES, 1);
    INTS(GL_MAX_DEPTH_TEXTURE_SAMPLES, 1);
    INTS(GL_MAX_INTEGER_SAMPLES, 1);
    INTS(GL_MAX_SAMPLE_MASK_WORDS, 1);
    GLuint plain = build_program(vertex, "#version 150\nout vec4 c; void main() { c = vec4(1.0, 0.7, 0.2, 1.0); }");
    GLuint textures[2], framebuffers[3], renderbuffers[2];
    glGenTextures(2, textures);
    glGenFramebuffers(3, framebuffers);
    glGenRenderbuffers(2, renderbuffers);
    for (int i = 0; i < 3; i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[i]);
        if (i == 0) {
            glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, textures[0]);
            glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 64, 64, GL_TRUE);
            glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D_MULTISAMPLE, textures[0], 0);
        } else if (i == 1) {
            glBindTexture(GL_TEXTURE_2D_MULTISAMPLE_ARRAY, textures[1]);
            glTexImage3DMultisample(GL_TEXTURE_2D_MULTISAMPLE_ARRAY, 3, GL_RGBA16F, 64, 64, 3, GL_FALSE);
            glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, textures[1], 0, 2);
        } else {
            glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[0]);
            glRenderbufferStorageMultisample(GL_RENDERBUFFER, 2, GL_RGB8, 64, 64);
            glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffers[0]);
            glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[1]);
            glRenderbufferStorageMultisample(GL_RENDERBUFFER, 2, GL_DEPTH24_STENCIL8, 64, 64);
            glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, renderbuffers[1]);
            GLint samples = -1;
            glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_SAMPLES, &samples);
            note("renderbuffer of %d", samples);
        }
        note("status %04x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
        INTS(GL_SAMPLES, 1);
        INTS(GL_SAMPLE_BUFFERS, 1);
        for (GLuint s = 0; s < 4; s++) {
            GLfloat position[2] = {-1, -1};
            glGetMultisamplefv(GL_SAMPLE_POSITION, s, position);
            note_floats("position", position, 2);
        }
        errors("positions");
        glViewport(0, 0, 64, 64);
        glClearColor(0, 0, 0.3f, 1);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        glUseProgram(plain);
        triangle(0.3f);
        resolve(0, i * 64, framebuffers[i]);
        glEnable(GL_SAMPLE_MASK);
        glSampleMaski(0, 5);
        triangle(1.2f);
        INTS(GL_SAMPLE_MASK_VALUE, 1);
        GLint word = -1;
        glGetIntegeri_v(GL_SAMPLE_MASK_VALUE, 0, &word);
        note("mask %d", word);
        glDisable(GL_SAMPLE_MASK);
        resolve(64, i * 64, framebuffers[i]);
        glEnable(GL_SAMPLE_COVERAGE);
        glSampleCoverage(0.5f, GL_TRUE);
        triangle(2.0f);
        glDisable(GL_SAMPLE_COVERAGE);
        glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
        triangle(2.5f);
        glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
        resolve(128, i * 64, framebuffers[i]);
        glDisable(GL_MULTISAMPLE);
        triangle(2.8f);
        glEnable(GL_MULTISAMPLE);
        errors("drawn");
    }
    glSampleMaski(1, 5);
    errors("no such word");
    /* A shader reads each sample. */
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(192, 0, 64, 64);
    GLuint fetch = build_program("#version 150\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0, 0.0, 1.0); }",
                                 "#version 150\nuniform sampler2DMS image; out vec4 c; void main() { ivec2 at = ivec2(gl_FragCoord.xy) - ivec2(192, 0); "
                                 "c = texelFetch(image, at, at.x % 4); }");
    glUseProgram(fetch);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    errors("fetched");
    GLint values[3] = {-1, -1, -1};
    glGetTexLevelParameteriv(GL_TEXTURE_2D_MULTISAMPLE_ARRAY, 0, GL_TEXTURE_SAMPLES, &values[0]);
    glGetTexLevelParameteriv(GL_TEXTURE_2D_MULTISAMPLE_ARRAY, 0, GL_TEXTURE_FIXED_SAMPLE_LOCATIONS, &values[1]);
    glGetTexLevelParameteriv(GL_TEXTURE_2D_MULTISAMPLE_ARRAY, 0, GL_TEXTURE_DEPTH, &values[2]);
    note_ints("array", values, 3);
}

static void sample_shading(void)
{
    if (!need_extension("GL_ARB_sample_shading") || !need_extension("GL_ARB_gpu_shader5"))
        return no_picture();
    GLuint texture, framebuffer;
    glGenTextures(1, &texture);
    glGenFramebuffers(1, &framebuffer);
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, texture);
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 64, 64, GL_TRUE);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D_MULTISAMPLE, texture, 0);
    glViewport(0, 0, 64, 64);
    static const char *const fragments[] = {
        "#version 400\nout vec4 c; void main() { c = vec4(float(gl_SampleID) / 4.0, gl_SamplePosition, 1.0); }",
        "#version 400\nout vec4 c; void main() { gl_SampleMask[0] = int(gl_FragCoord.x) & 15; c = vec4(1.0, float(gl_SampleMaskIn[0]) / 15.0, 0.0, 1.0); }",
        "#version 400\nout vec4 c; void main() { c = vec4(fract(gl_FragCoord.xy), float(gl_NumSamples) / 8.0, 1.0); }"};
    for (int i = 0; i < 3; i++) {
        glUseProgram(build_program(vertex, fragments[i]));
        for (int m = 0; m < 2; m++) {
            glClear(GL_COLOR_BUFFER_BIT);
            if (m)
                glEnable(GL_SAMPLE_SHADING);
            glMinSampleShading(m ? 0.6f : 1.5f);
            FLOATS(GL_MIN_SAMPLE_SHADING_VALUE, 1);
            ENABLED(GL_SAMPLE_SHADING);
            triangle(0.2f);
            glDisable(GL_SAMPLE_SHADING);
            resolve(i * 64, m * 64, framebuffer);
        }
    }
    glMinSampleShading(-3);
    FLOATS(GL_MIN_SAMPLE_SHADING_VALUE, 1);
    errors("end");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

static void wrong(void)
{
    no_picture();
    if (!need_version(3, 2))
        return;
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, texture);
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 0, GL_RGBA8, 64, 64, GL_TRUE);
    errors("no samples");
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, -1, GL_RGBA8, 64, 64, GL_TRUE);
    errors("negative number of samples");
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 77, GL_RGBA8, 64, 64, GL_TRUE);
    errors("too many");
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_COMPRESSED_RGBA, 64, 64, GL_TRUE);
    errors("compressed");
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_LUMINANCE8, 64, 64, GL_TRUE);
    errors("not renderable");
    glTexImage2DMultisample(GL_TEXTURE_2D, 4, GL_RGBA8, 64, 64, GL_TRUE);
    errors("no such target");
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 100000, 64, GL_TRUE);
    errors("too wide");
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, -1, 64, GL_TRUE);
    errors("a negative width");
    glTexImage2DMultisample(GL_PROXY_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 64, 32, GL_TRUE);
    GLint value = -1;
    glGetTexLevelParameteriv(GL_PROXY_TEXTURE_2D_MULTISAMPLE, 0, GL_TEXTURE_HEIGHT, &value);
    note("proxy %d", value);
    glTexParameteri(GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    errors("a filter");
    glTexParameteri(GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_BASE_LEVEL, 1);
    errors("a level");
    glTexStorage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA, 64, 64, GL_TRUE);
    errors("unsized");
    glTexStorage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 2, GL_RGBA8, 16, 16, GL_TRUE);
    errors("storage");
    glTexStorage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 2, GL_RGBA8, 16, 16, GL_TRUE);
    errors("twice");
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 64, 64, GL_TRUE);
    errors("immutable");
    GLfloat position[2] = {-1, -1};
    glGetMultisamplefv(GL_SAMPLE_POSITION, 100, position);
    errors("no such sample");
    glGetMultisamplefv(GL_SAMPLES, 0, position);
    errors("no such name");
    GLuint renderbuffer;
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, 100, GL_RGBA8, 8, 8);
    errors("too many for a renderbuffer");
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, 2, GL_RGBA8, 8, -8);
    errors("a negative height");
    if (has_extension("GL_ARB_internalformat_query")) {
        GLint counts[4] = {-1, -1, -1, -1}, number = -1;
        glGetInternalformativ(GL_TEXTURE_2D_MULTISAMPLE, GL_RGBA8, GL_NUM_SAMPLE_COUNTS, 1, &number);
        glGetInternalformativ(GL_TEXTURE_2D_MULTISAMPLE, GL_RGBA8, GL_SAMPLES, 4, counts);
        note("%d counts", number);
        note_ints("counts", counts, 4);
        glGetInternalformativ(GL_RENDERBUFFER, GL_RGBA8, GL_SAMPLES, 0, counts);
        errors("no room");
        glGetInternalformativ(GL_RENDERBUFFER, GL_RGBA8, GL_SAMPLES, -1, counts);
        errors("less than no room");
        glGetInternalformativ(GL_RENDERBUFFER, GL_RGBA8, 77, 1, counts);
        errors("no such question");
        GLint64 wide = -1;
        if (has_extension("GL_ARB_internalformat_query2")) {
            glGetInternalformati64v(GL_TEXTURE_2D, GL_RGBA8, GL_MAX_COMBINED_DIMENSIONS, 1, &wide);
            note("%lld", (long long)wide);
            static const GLenum asked[] = {GL_INTERNALFORMAT_SUPPORTED, GL_INTERNALFORMAT_PREFERRED, GL_INTERNALFORMAT_RED_SIZE, GL_MAX_WIDTH,
                                           GL_COLOR_RENDERABLE, GL_FRAMEBUFFER_BLEND, GL_READ_PIXELS_FORMAT, GL_TEXTURE_IMAGE_TYPE, GL_MIPMAP,
                                           GL_TEXTURE_SHADOW, GL_SHADER_IMAGE_LOAD, GL_IMAGE_TEXEL_SIZE, GL_CLEAR_BUFFER, GL_VIEW_COMPATIBILITY_CLASS};
            for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
                value = -1;
                glGetInternalformativ(GL_TEXTURE_2D, GL_RGB10_A2, asked[i], 1, &value);
                note("%x: %d", asked[i], value);
            }
        }
        errors("formats");
    }
}

/* The initial filters of textures depend on the kind of texture. */
static void initial(void)
{
    static const GLenum targets[] = {GL_TEXTURE_2D, GL_TEXTURE_RECTANGLE, GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY};
    static const GLenum asked[] = {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_TEXTURE_WRAP_R,
                                   GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_COMPARE_MODE, GL_TEXTURE_SWIZZLE_A};
    no_picture();
    if (!need_extension("GL_ARB_texture_multisample") || !need_extension("GL_ARB_direct_state_access"))
        return;
    for (int t = 0; t < (int)(sizeof targets / sizeof *targets); t++) {
        GLuint made = 0, bound = 0;
        glCreateTextures(targets[t], 1, &made);
        glGenTextures(1, &bound);
        glBindTexture(targets[t], bound);
        for (int a = 0; a < (int)(sizeof asked / sizeof *asked); a++) {
            GLint value[3] = {-1, -1, -1};
            glGetTextureParameteriv(made, asked[a], &value[0]);
            glGetTexParameteriv(targets[t], asked[a], &value[1]);
            glBindTexture(targets[t], 0);
            glGetTexParameteriv(targets[t], asked[a], &value[2]);
            glBindTexture(targets[t], bound);
            note("%x, %x: %x %x %x", targets[t], asked[a], (unsigned)value[0], (unsigned)value[1], (unsigned)value[2]);
            errors("asked");
        }
        glDeleteTextures(1, &made);
        glDeleteTextures(1, &bound);
    }
}

CONFORM("multisample", COMPAT, {"initial", initial}, {"drawn", drawn}, {"sample_shading", sample_shading}, {"wrong", wrong})
