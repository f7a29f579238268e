/* Bindings of several objects at once. */
#include "conform.h"

static GLuint bound(GLenum name, GLuint index)
{
    GLint found = -1;
    glGetIntegeri_v(name, index, &found);
    return (GLuint)found;
}

static void buffers(void)
{
    no_picture();
    if (!need_extension("GL_ARB_multi_bind"))
        return;
    GLuint made[3];
    for (int i = 0; i < 3; i++)
        made[i] = make_buffer(GL_ARRAY_BUFFER, 1024, NULL);
    const GLuint mixed[] = {made[0], 0, made[2]}, bad[] = {made[0], 7777, made[1]};
    static const GLintptr offsets[] = {0, 256, 512}, crooked[] = {0, 3, 256};
    static const GLsizeiptr sizes[] = {64, 128, 256}, wrong[] = {64, 0, -8};
    static const GLenum targets[] = {GL_UNIFORM_BUFFER, GL_TRANSFORM_FEEDBACK_BUFFER, GL_SHADER_STORAGE_BUFFER, GL_ATOMIC_COUNTER_BUFFER};
    static const GLenum names[][3] = {
        {GL_UNIFORM_BUFFER_BINDING, GL_UNIFORM_BUFFER_START, GL_UNIFORM_BUFFER_SIZE},
        {GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, GL_TRANSFORM_FEEDBACK_BUFFER_START, GL_TRANSFORM_FEEDBACK_BUFFER_SIZE},
        {GL_SHADER_STORAGE_BUFFER_BINDING, GL_SHADER_STORAGE_BUFFER_START, GL_SHADER_STORAGE_BUFFER_SIZE},
        {GL_ATOMIC_COUNTER_BUFFER_BINDING, GL_ATOMIC_COUNTER_BUFFER_START, GL_ATOMIC_COUNTER_BUFFER_SIZE}};
    for (int t = 0; t < 4; t++) {
        for (int step = 0; step < 7; step++) {
            switch (step) {
            case 0: glBindBuffersBase(targets[t], 0, 3, mixed); break;
            case 1: glBindBuffersRange(targets[t], 0, 3, made, offsets, sizes); break;
            case 2: glBindBuffersBase(targets[t], 1, 3, bad); break;
            case 3: glBindBuffersRange(targets[t], 0, 3, mixed, crooked, sizes); break;
            case 4: glBindBuffersRange(targets[t], 0, 3, made, offsets, wrong); break;
            case 5: glBindBuffersBase(targets[t], 100, 3, made); break;
            default: glBindBuffersRange(targets[t], 0, 3, NULL, NULL, NULL);
            }
            char name[32];
            snprintf(name, sizeof name, "%x step %d", targets[t], step);
            errors(name);
            for (GLuint i = 0; i < 4; i++) {
                GLint64 start = -7, size = -7;
                GLuint at = bound(names[t][0], i);
                glGetInteger64i_v(names[t][1], i, &start);
                glGetInteger64i_v(names[t][2], i, &size);
                note("%s: %d at %d of %d", at == made[0] ? "first" : at == made[1] ? "second" : at == made[2] ? "third" : "other", at != 0, (int)start,
                     (int)size);
            }
            errors("asked");
        }
        /* The general binding is unchanged. */
        GLint general = -1;
        glGetIntegerv(names[t][0], &general);
        note("general %d", general != 0);
        glBindBuffersBase(targets[t], 0, -1, made);
        errors("negative count");
    }
    glBindBuffersBase(GL_ARRAY_BUFFER, 0, 1, made);
    errors("no such target");
}

static void textures(void)
{
    if (!need_extension("GL_ARB_multi_bind"))
        return no_picture();
    static const GLenum targets[] = {GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_2D};
    static const GLenum names[] = {GL_TEXTURE_BINDING_2D, GL_TEXTURE_BINDING_3D, GL_TEXTURE_BINDING_CUBE_MAP, GL_TEXTURE_BINDING_2D};
    unsigned char pixels[8 * 8 * 4];
    checkerboard(pixels, 8, 8, 2);
    GLuint made[5];
    glGenTextures(5, made);
    for (int i = 0; i < 4; i++) {
        glBindTexture(targets[i], made[i]);
        if (targets[i] == GL_TEXTURE_2D) {
            glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8 >> i / 2, 8 >> i / 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels + i);
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        }
    }
    glBindTextures(2, 4, made);
    errors("bound");
    for (GLenum u = 0; u < 4; u++) {
        glActiveTexture(GL_TEXTURE2 + u);
        get_bound("binding", names[u], made[u]);
    }
    glActiveTexture(GL_TEXTURE5);
    glEnable(GL_TEXTURE_2D);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    glBegin(GL_QUADS);
    for (int i = 0; i < 4; i++) {
        glMultiTexCoord2f(GL_TEXTURE5, (float)(i == 1 || i == 2), (float)(i > 1));
        glVertex2f(i == 1 || i == 2 ? 0.9f : -0.9f, i > 1 ? 0.9f : -0.9f);
    }
    glEnd();
    const GLuint bad[] = {made[3], made[4], 7777, 0};
    glBindTextures(2, 4, bad);
    errors("some are wrong");
    for (GLenum u = 0; u < 4; u++) {
        glActiveTexture(GL_TEXTURE2 + u);
        get_bound("2D", GL_TEXTURE_BINDING_2D, made[0]);
        get_bound("3D", GL_TEXTURE_BINDING_3D, made[1]);
    }
    glBindTextures(2, 4, NULL);
    for (GLenum u = 0; u < 4; u++) {
        glActiveTexture(GL_TEXTURE2 + u);
        get_bound("binding", names[u], 0);
    }
    glBindTextures(1000, 4, made);
    errors("too many");
    glBindTextures(0, -1, made);
    errors("negative count");
    if (!has_extension("GL_ARB_shader_image_load_store"))
        return;
    const GLuint images[] = {made[0], 0, made[3]}, unmade[] = {made[0], made[4], 7777};
    glBindImageTextures(1, 3, images);
    note("%d %d %d", bound(GL_IMAGE_BINDING_NAME, 1) == made[0], bound(GL_IMAGE_BINDING_NAME, 2), bound(GL_IMAGE_BINDING_NAME, 3) == made[3]);
    note("%x", bound(GL_IMAGE_BINDING_FORMAT, 1));
    errors("images");
    glBindImageTextures(1, 3, unmade);
    errors("some are wrong");
    glBindImageTextures(1, 3, NULL);
    note("%d", bound(GL_IMAGE_BINDING_NAME, 1));
    glBindImageTextures(1000, 1, images);
    errors("too many");
    if (has_version(4, 5)) {
        glBindTextureUnit(7, made[1]);
        glActiveTexture(GL_TEXTURE7);
        BOUND(GL_TEXTURE_BINDING_3D, made[1]);
        glBindTextureUnit(7, 0);
        BOUND(GL_TEXTURE_BINDING_3D, 0);
        glBindTextureUnit(7, made[4]);
        errors("never bound");
        glBindTextureUnit(1000, made[1]);
        errors("no such unit");
    }
}

static void vertex_buffers(void)
{
    no_picture();
    if (!need_extension("GL_ARB_multi_bind") || !need_extension("GL_ARB_vertex_attrib_binding"))
        return;
    GLuint made[3], array;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    for (int i = 0; i < 3; i++)
        made[i] = make_buffer(GL_ARRAY_BUFFER, 1024, NULL);
    const GLuint mixed[] = {made[0], 0, made[2]}, bad[] = {made[1], 7777, made[1]};
    static const GLintptr offsets[] = {0, 4, 8}, wrong_offsets[] = {0, -4, 8};
    static const GLsizei strides[] = {16, 0, 20}, wrong_strides[] = {16, -1, 5000};
    for (int step = 0; step < 7; step++) {
        switch (step) {
        case 0: glBindVertexBuffers(1, 3, mixed, offsets, strides); break;
        case 1: glBindVertexBuffers(0, 3, bad, offsets, strides); break;
        case 2: glBindVertexBuffers(1, 3, made, wrong_offsets, strides); break;
        case 3: glBindVertexBuffers(2, 3, made, offsets, wrong_strides); break;
        case 4: glBindVertexBuffers(15, 3, made, offsets, strides); break;
        case 5: glBindVertexBuffers(0, -1, made, offsets, strides); break;
        default: glBindVertexBuffers(0, 4, NULL, NULL, NULL);
        }
        char name[32];
        snprintf(name, sizeof name, "step %d", step);
        errors(name);
        for (GLuint i = 0; i < 5; i++) {
            GLuint at = bound(GL_VERTEX_BINDING_BUFFER, i);
            GLint64 offset = -7;
            glGetInteger64i_v(GL_VERTEX_BINDING_OFFSET, i, &offset);
            note("%s at %d, %d apart", at == made[0] ? "first" : at == made[1] ? "second" : at == made[2] ? "third" : at ? "other" : "none", (int)offset,
                 (int)bound(GL_VERTEX_BINDING_STRIDE, i));
        }
        errors("asked");
    }
}

CONFORM("multi_bind", COMPAT, {"buffers", buffers}, {"textures", textures}, {"vertex_buffers", vertex_buffers})
