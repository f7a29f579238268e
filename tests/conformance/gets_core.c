/* Every name that glGet* knows in a core profile context: in a new context, and after some changes
 * of state. */
#include "every_name.h"

static void fresh(void)
{
    every_name();
}

static void changed(void)
{
    GLuint array, buffers[4], texture, framebuffer, renderbuffer, sampler;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenBuffers(4, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBindBuffer(GL_COPY_READ_BUFFER, buffers[2]);
    glBindBufferBase(GL_UNIFORM_BUFFER, 2, buffers[3]);
    glGenTextures(1, &texture);
    glActiveTexture(GL_TEXTURE5);
    glBindTexture(GL_TEXTURE_2D_ARRAY, texture);
    glGenSamplers(1, &sampler);
    glBindSampler(5, sampler);
    glGenFramebuffers(1, &framebuffer);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 40, 30);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_RENDERBUFFER, renderbuffer);
    glDrawBuffers(2, (const GLenum[]){GL_NONE, GL_COLOR_ATTACHMENT1});
    glEnablei(GL_BLEND, 1);
    glColorMaski(0, GL_FALSE, GL_TRUE, GL_TRUE, GL_FALSE);
    glClearColor(-1, 2, 0.5f, 1);
    glEnable(GL_PRIMITIVE_RESTART);
    glPrimitiveRestartIndex(0xFFFFFFFF);
    glProvokingVertex(GL_FIRST_VERTEX_CONVENTION);
    glEnable(GL_CLIP_DISTANCE3);
    glEnable(GL_FRAMEBUFFER_SRGB);
    glEnable(GL_DEPTH_CLAMP);
    glEnable(GL_SAMPLE_MASK);
    glSampleMaski(0, 0xF0F0F0F0);
    glPointParameteri(GL_POINT_SPRITE_COORD_ORIGIN, GL_LOWER_LEFT);
    glStencilMask(0x80000001);
    errors("changes");
    every_name();
    no_picture();
}

/* The versions of the shading language by their indices. One of them may be an empty string. */
static void shading_languages(void)
{
    GLint count = -1;
    no_picture();
    if (!need_version(4, 3))
        return;
    glGetIntegerv(GL_NUM_SHADING_LANGUAGE_VERSIONS, &count);
    errors("number");
    note("%d versions", count);
    for (GLint i = 0; i < count; i++) {
        const char *version = (const char *)glGetStringi(GL_SHADING_LANGUAGE_VERSION, (GLuint)i);
        errors("version");
        note("%d: %s", i, version ? version : "nothing");
    }
    const GLuint beyond[] = {(GLuint)count, (GLuint)count + 1, 0x7FFFFFFF, 0xFFFFFFFF};
    for (int i = 0; i < 4; i++) {
        const GLubyte *version = glGetStringi(GL_SHADING_LANGUAGE_VERSION, beyond[i]);
        errors("beyond");
        note("there is something: %d", version != NULL);
    }
    note("of no name: %d", glGetStringi(GL_VERSION, 0) != NULL);
    errors("of no name");
}

CONFORM("gets_core", CORE, {"fresh", fresh}, {"changed", changed}, {"shading_languages", shading_languages})
