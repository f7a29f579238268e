/* Deleting an object detaches it from containers that are bound. Containers that are not bound keep
 * it. */
#include "conform.h"

static void note_attachment(GLenum target, GLenum attachment, GLuint name)
{
    GLint type = -7, object = -7;
    glGetFramebufferAttachmentParameteriv(target, attachment, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &type);
    errors("type");
    glGetFramebufferAttachmentParameteriv(target, attachment, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &object);
    errors("name");
    note("attached: %x, %s", type, object == (GLint)name ? "this" : object ? "another" : "none");
}

static void framebuffers(void)
{
    GLuint framebuffer[2], texture, renderbuffer, depth;
    glGenFramebuffers(2, framebuffer);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 16, 16);
    glGenRenderbuffers(1, &depth);
    glBindRenderbuffer(GL_RENDERBUFFER, depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, 16, 16);
    for (int i = 0; i < 2; i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer[i]);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_RENDERBUFFER, renderbuffer);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, depth);
        glDrawBuffers(2, (const GLenum[]){GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1});
        glClearColor(0.25f, 0.5f, (GLfloat)i, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        note("status %x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    }
    errors("attached");
    glDeleteTextures(1, &texture);
    glDeleteRenderbuffers(1, &renderbuffer);
    glDeleteRenderbuffers(1, &depth);
    errors("deleted");
    note("names: %d %d %d", glIsTexture(texture), glIsRenderbuffer(renderbuffer), glIsRenderbuffer(depth));
    for (int i = 1; i >= 0; i--) {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer[i]);
        note("framebuffer %d, status %x", i, glCheckFramebufferStatus(GL_FRAMEBUFFER));
        note_attachment(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture);
        note_attachment(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, renderbuffer);
        note_attachment(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, depth);
        note_attachment(GL_FRAMEBUFFER, GL_STENCIL_ATTACHMENT, depth);
    }
    /* An image that is still attached can still be drawn to and read. */
    GLubyte pixel[4] = {0};
    glReadBuffer(GL_COLOR_ATTACHMENT1);
    glReadPixels(3, 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    errors("read");
    note("pixel %d %d %d %d", pixel[0], pixel[1], pixel[2], pixel[3]);
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glReadPixels(3, 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    errors("cleared");
    note("pixel %d %d %d %d", pixel[0], pixel[1], pixel[2], pixel[3]);
    /* New objects are different objects, even if they get the same names. */
    GLuint again[3];
    glGenTextures(3, again);
    for (int i = 0; i < 3; i++) {
        glBindTexture(GL_TEXTURE_2D, again[i]);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    }
    note("status %x", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    note_attachment(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture);
    glBlitFramebuffer(0, 0, 16, 16, 0, 0, 16, 16, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    errors("blitted to itself");
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer[0]);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    glBlitFramebuffer(0, 0, 16, 16, 0, 0, SIZE, SIZE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    errors("blitted");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

/* The same by name, with framebuffers that are bound to only one of the targets. */
static void framebuffers_by_name(void)
{
    no_picture();
    if (!need_extension("GL_ARB_direct_state_access"))
        return;
    GLuint framebuffer[3], texture[3], renderbuffer[3];
    glCreateFramebuffers(3, framebuffer);
    glCreateTextures(GL_TEXTURE_2D_ARRAY, 3, texture);
    glCreateRenderbuffers(3, renderbuffer);
    for (int i = 0; i < 3; i++) {
        glTextureStorage3D(texture[i], 1, GL_RGBA8, 8, 8, 3);
        glNamedRenderbufferStorage(renderbuffer[i], GL_RGBA8, 8, 8);
        glNamedFramebufferTextureLayer(framebuffer[i], GL_COLOR_ATTACHMENT0, texture[i], 0, 2);
        glNamedFramebufferTexture(framebuffer[i], GL_COLOR_ATTACHMENT2, texture[i], 0);
        glNamedFramebufferRenderbuffer(framebuffer[i], GL_COLOR_ATTACHMENT1, GL_RENDERBUFFER, renderbuffer[i]);
    }
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer[1]);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer[2]);
    glDeleteTextures(3, texture);
    glDeleteRenderbuffers(3, renderbuffer);
    errors("deleted");
    for (int i = 0; i < 3; i++)
        for (GLenum a = GL_COLOR_ATTACHMENT0; a <= GL_COLOR_ATTACHMENT2; a++) {
            GLint type = -7, name = -7, layer = -7, layered = -7, size = -7;
            glGetNamedFramebufferAttachmentParameteriv(framebuffer[i], a, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &type);
            if (type != GL_NONE)
                glGetNamedFramebufferAttachmentParameteriv(framebuffer[i], a, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &name);
            if (type == GL_TEXTURE) {
                glGetNamedFramebufferAttachmentParameteriv(framebuffer[i], a, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER, &layer);
                glGetNamedFramebufferAttachmentParameteriv(framebuffer[i], a, GL_FRAMEBUFFER_ATTACHMENT_LAYERED, &layered);
            }
            if (type != GL_NONE)
                glGetNamedFramebufferAttachmentParameteriv(framebuffer[i], a, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE, &size);
            errors("asked");
            note("%d %x: %x %d, layer %d %d, %d bits", i, a, type, name == (GLint)(type == GL_TEXTURE ? texture : renderbuffer)[i], layer, layered, size);
        }
}

static void note_arrays(GLuint buffer, GLuint other)
{
    for (GLuint a = 0; a < 3; a++) {
        GLint bound = -7, enabled = -7;
        void *pointer = (void *)1;
        glGetVertexAttribiv(a, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, &bound);
        glGetVertexAttribiv(a, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &enabled);
        glGetVertexAttribPointerv(a, GL_VERTEX_ATTRIB_ARRAY_POINTER, &pointer);
        note("attribute %u: %s, %d, at %d", a, bound == (GLint)buffer ? "this" : bound == (GLint)other ? "the other" : bound ? "a third" : "none", enabled, (int)(intptr_t)pointer);
        if (has_extension("GL_ARB_vertex_attrib_binding")) {
            GLint at = -7, offset = -7;
            glGetIntegeri_v(GL_VERTEX_BINDING_BUFFER, a, &at);
            glGetIntegeri_v(GL_VERTEX_BINDING_OFFSET, a, &offset);
            note("binding %u: %s, at %d", a, at == (GLint)buffer ? "this" : at == (GLint)other ? "the other" : at ? "a third" : "none", offset);
        }
    }
    errors("arrays");
}

static void vertex_arrays(void)
{
    static const GLfloat places[][2] = {{-0.8f, -0.8f}, {0.8f, -0.8f}, {0, 0.8f}}, tints[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const GLubyte order[] = {2, 1, 0};
    glUseProgram(build_program("#version 330\nlayout(location = 0) in vec2 place; layout(location = 1) in vec3 tint; out vec3 color;\n"
                               "void main() { gl_Position = vec4(place, 0.0, 1.0); color = tint; }",
                               "#version 330\nin vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }"));
    GLuint arrays[2], buffer, other, elements;
    glGenVertexArrays(2, arrays);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof places, places, GL_STATIC_DRAW);
    other = make_buffer(GL_ARRAY_BUFFER, sizeof tints, tints);
    glGenBuffers(1, &elements);
    for (int i = 0; i < 2; i++) {
        glBindVertexArray(arrays[i]);
        glBindBuffer(GL_ARRAY_BUFFER, buffer);
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
        glVertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, 0, (void *)8);
        glBindBuffer(GL_ARRAY_BUFFER, other);
        glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, NULL);
        glEnableVertexAttribArray(0);
        glEnableVertexAttribArray(1);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, elements);
        if (!i)
            glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order, GL_STATIC_DRAW);
    }
    glDeleteBuffers(1, &buffer);
    glDeleteBuffers(1, &elements);
    errors("deleted");
    note("names: %d %d", glIsBuffer(buffer), glIsBuffer(elements));
    note("the bound one");
    note_arrays(buffer, other);
    BOUND(GL_ELEMENT_ARRAY_BUFFER_BINDING, elements);
    INTS(GL_ELEMENT_ARRAY_BUFFER_BINDING, 1);
    glBindVertexArray(arrays[0]);
    note("the one that was not");
    note_arrays(buffer, other);
    BOUND(GL_ELEMENT_ARRAY_BUFFER_BINDING, elements);
    /* Buffers with the same names are different buffers. */
    GLuint again[2];
    static const GLfloat nowhere[32] = {0};
    glGenBuffers(2, again);
    for (int i = 0; i < 2; i++) {
        glBindBuffer(GL_COPY_WRITE_BUFFER, again[i]);
        glBufferData(GL_COPY_WRITE_BUFFER, sizeof nowhere, nowhere, GL_STATIC_DRAW);
    }
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, NULL);
    errors("drawn");
    if (has_extension("GL_ARB_direct_state_access")) {
        GLint bound = -7, enabled = -7;
        glBindVertexArray(0);
        glGetVertexArrayiv(arrays[0], GL_ELEMENT_ARRAY_BUFFER_BINDING, &bound);
        note("by name: %d", bound == (GLint)elements);
        glGetVertexArrayIndexediv(arrays[0], 1, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &enabled);
        glDeleteBuffers(1, &other);
        glGetVertexArrayiv(arrays[1], GL_ELEMENT_ARRAY_BUFFER_BINDING, &bound);
        note("by name: %d, %d", bound, enabled);
        errors("by name");
    }
}

static void note_feedback(GLuint object, GLuint buffer)
{
    for (GLuint i = 0; i < 2; i++) {
        GLint bound = -7;
        GLint64 start = -7, size = -7;
        glGetIntegeri_v(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, i, &bound);
        glGetInteger64i_v(GL_TRANSFORM_FEEDBACK_BUFFER_START, i, &start);
        glGetInteger64i_v(GL_TRANSFORM_FEEDBACK_BUFFER_SIZE, i, &size);
        note("place %u: %s, %d, %d", i, bound == (GLint)buffer ? "this" : bound ? "another" : "none", (int)start, (int)size);
        if (has_extension("GL_ARB_direct_state_access")) {
            glGetTransformFeedbacki_v(object, GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, i, &bound);
            glGetTransformFeedbacki64_v(object, GL_TRANSFORM_FEEDBACK_BUFFER_START, i, &start);
            glGetTransformFeedbacki64_v(object, GL_TRANSFORM_FEEDBACK_BUFFER_SIZE, i, &size);
            note("by name: %s, %d, %d", bound == (GLint)buffer ? "this" : bound ? "another" : "none", (int)start, (int)size);
        }
    }
    INTS(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 1);
    errors("asked");
}

static void feedback(void)
{
    no_picture();
    if (!need_extension("GL_ARB_transform_feedback2"))
        return;
    GLuint objects[2], buffer;
    glGenTransformFeedbacks(2, objects);
    glGenBuffers(1, &buffer);
    for (int i = 0; i < 2; i++) {
        glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, objects[i]);
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
        glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 256, NULL, GL_STATIC_READ);
        glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 1, buffer, 64, 128);
    }
    errors("bound");
    note_feedback(objects[1], buffer);
    glDeleteBuffers(1, &buffer);
    errors("deleted");
    note("the bound one");
    note_feedback(objects[1], buffer);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, objects[0]);
    note("the one that was not");
    note_feedback(objects[0], buffer);
    /* Captured values go to the deleted buffer. */
    const char *captured[] = {"value"};
    GLuint program = STAGES(.vertex = "#version 330\nout float value; void main() { value = 2.5 + float(gl_VertexID); gl_Position = vec4(0.0, 0.0, 0.0, 1.0); }",
                            .captured = captured, .captured_count = 1, .capture_mode = GL_INTERLEAVED_ATTRIBS);
    glUseProgram(program);
    glEnable(GL_RASTERIZER_DISCARD);
    glBeginTransformFeedback(GL_POINTS);
    errors("begun");
    glDrawArrays(GL_POINTS, 0, 4);
    glEndTransformFeedback();
    errors("captured");
    glDisable(GL_RASTERIZER_DISCARD);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
    note_feedback(0, buffer);
    GLuint again;
    glGenBuffers(1, &again);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, objects[0]);
    note_feedback(objects[0], buffer);
}

/* Shaders that are attached to programs, and programs that are in use. */
static void programs(void)
{
    no_picture();
    GLuint program = glCreateProgram(), shader = glCreateShader(GL_VERTEX_SHADER);
    GLint value = -7;
    const char *source = "#version 330\nvoid main() { gl_Position = vec4(0.0); }";
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
    glGetShaderiv(shader, GL_DELETE_STATUS, &value);
    note("attached: %d %d", glIsShader(shader), value);
    glLinkProgram(program);
    glUseProgram(program);
    glDeleteProgram(program);
    glGetProgramiv(program, GL_DELETE_STATUS, &value);
    note("in use: %d %d", glIsProgram(program), value);
    BOUND(GL_CURRENT_PROGRAM, program);
    glGetProgramiv(program, GL_ATTACHED_SHADERS, &value);
    note("shaders: %d", value);
    errors("in use");
    glUseProgram(0);
    note("not in use: %d %d", glIsProgram(program), glIsShader(shader));
    errors("gone");
}

/* A program stays in a pipeline, whether the pipeline is bound or not. */
static void pipelines(void)
{
    no_picture();
    if (!need_extension("GL_ARB_separate_shader_objects"))
        return;
    const char *source = "#version 330\nout gl_PerVertex { vec4 gl_Position; };\nvoid main() { gl_Position = vec4(0.0); }";
    GLuint pipeline[2], program = glCreateShaderProgramv(GL_VERTEX_SHADER, 1, &source);
    GLint value = -7;
    glGenProgramPipelines(2, pipeline);
    for (int i = 0; i < 2; i++) {
        glUseProgramStages(pipeline[i], GL_VERTEX_SHADER_BIT, program);
        glActiveShaderProgram(pipeline[i], program);
    }
    glBindProgramPipeline(pipeline[0]);
    errors("used");
    glDeleteProgram(program);
    for (int i = 0; i < 2; i++) {
        glGetProgramiv(program, GL_DELETE_STATUS, &value);
        note("deleted: %d %d", glIsProgram(program), value);
        for (int p = 0; p < 2; p++) {
            glGetProgramPipelineiv(pipeline[p], GL_VERTEX_SHADER, &value);
            note("pipeline %d: %s", p, value == (GLint)program ? "this" : value ? "another" : "none");
            glGetProgramPipelineiv(pipeline[p], GL_ACTIVE_PROGRAM, &value);
            note("active: %s", value == (GLint)program ? "this" : value ? "another" : "none");
        }
        errors("pipelines");
        glBindProgramPipeline(0);
    }
    for (int p = 0; p < 2; p++) {
        glUseProgramStages(pipeline[p], GL_VERTEX_SHADER_BIT, 0);
        glActiveShaderProgram(pipeline[p], 0);
        note("taken from %d: %d", p, glIsProgram(program));
    }
    errors("taken");
    glDeleteProgramPipelines(2, pipeline);
}

static void textures_of_units(void)
{
    no_picture();
    GLuint texture[2], sampler = 0;
    glGenTextures(2, texture);
    for (int i = 0; i < 2; i++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glBindTexture(GL_TEXTURE_2D, texture[0]);
        glBindTexture(GL_TEXTURE_3D, texture[1]);
    }
    if (has_extension("GL_ARB_sampler_objects")) {
        glGenSamplers(1, &sampler);
        glBindSampler(0, sampler);
        glBindSampler(1, sampler);
        glDeleteSamplers(1, &sampler);
    }
    glDeleteTextures(1, texture);
    for (int i = 0; i < 2; i++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        INTS(GL_TEXTURE_BINDING_2D, 1);
        BOUND(GL_TEXTURE_BINDING_3D, texture[1]);
        if (sampler)
            INTS(GL_SAMPLER_BINDING, 1);
    }
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_TEXTURE_BUFFER, buffer);
    glBufferData(GL_TEXTURE_BUFFER, 64, NULL, GL_STATIC_DRAW);
    GLuint of_buffer;
    glGenTextures(1, &of_buffer);
    glBindTexture(GL_TEXTURE_BUFFER, of_buffer);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA8, buffer);
    BOUND(GL_TEXTURE_BUFFER_DATA_STORE_BINDING, buffer);
    glDeleteBuffers(1, &buffer);
    GLint bound = -7;
    glGetTexLevelParameteriv(GL_TEXTURE_BUFFER, 0, GL_TEXTURE_BUFFER_DATA_STORE_BINDING, &bound);
    note("a texture's buffer: %s", bound == (GLint)buffer ? "this" : bound ? "another" : "none");
    INTS(GL_TEXTURE_BUFFER_DATA_STORE_BINDING, 1);
    while (glGetError())
        ;
}

CONFORM("kept_when_deleted", COMPAT, {"framebuffers", framebuffers}, {"framebuffers_by_name", framebuffers_by_name}, {"vertex_arrays", vertex_arrays},
        {"feedback", feedback}, {"programs", programs}, {"pipelines", pipelines}, {"textures_of_units", textures_of_units})
