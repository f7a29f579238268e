/* Labels of objects: GL_KHR_debug and GL_EXT_debug_label. */
#include "conform.h"

static void show(const char *what, GLenum identifier, GLuint name)
{
    char text[300];
    GLsizei length = -1;
    memset(text, '#', sizeof text);
    text[299] = 0;
    glGetObjectLabel(identifier, name, 299, &length, text);
    note("%s: %d \"%s\"", what, length, text);
    errors(what);
}

static void label(const char *what, GLenum identifier, GLuint name)
{
    show(what, identifier, name);
    glObjectLabel(identifier, name, -1, what);
    show(what, identifier, name);
    glObjectLabel(identifier, name, 3, "cut short");
    show(what, identifier, name);
    glObjectLabel(identifier, name + 500, 3, "nobody");
    errors("no such object");
    glObjectLabel(identifier, 0, 3, "zero");
    errors("zero");
    glObjectLabel(identifier, name, 0, NULL);
    show("taken away", identifier, name);
    glObjectLabel(identifier, name, -1, "at last");
}

static void objects(void)
{
    no_picture();
    if (!need_extension("GL_KHR_debug"))
        return;
    GLuint name;
    glGenTextures(1, &name);
    glObjectLabel(GL_TEXTURE, name, -1, "early");
    errors("only generated");
    glBindTexture(GL_TEXTURE_2D, name);
    label("texture", GL_TEXTURE, name);
    glGenBuffers(1, &name);
    glObjectLabel(GL_BUFFER, name, -1, "early");
    errors("only generated");
    glBindBuffer(GL_ARRAY_BUFFER, name);
    label("buffer", GL_BUFFER, name);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_FRAMEBUFFER, name);
    label("framebuffer", GL_FRAMEBUFFER, name);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glGenRenderbuffers(1, &name);
    glBindRenderbuffer(GL_RENDERBUFFER, name);
    label("renderbuffer", GL_RENDERBUFFER, name);
    glGenQueries(1, &name);
    glBeginQuery(GL_SAMPLES_PASSED, name);
    glEndQuery(GL_SAMPLES_PASSED);
    label("query", GL_QUERY, name);
    name = glCreateShader(GL_VERTEX_SHADER);
    label("shader", GL_SHADER, name);
    glObjectLabel(GL_PROGRAM, name, -1, "a shader is no program");
    errors("a shader is no program");
    name = glCreateProgram();
    label("program", GL_PROGRAM, name);
    name = glGenLists(1);
    glNewList(name, GL_COMPILE);
    glEndList();
    label("list", GL_DISPLAY_LIST, name);
    if (has_version(3, 0)) {
        glGenVertexArrays(1, &name);
        glBindVertexArray(name);
        label("vertex array", GL_VERTEX_ARRAY, name);
        glBindVertexArray(0);
    }
    if (has_extension("GL_ARB_sampler_objects")) {
        glGenSamplers(1, &name);
        glBindSampler(0, name);
        label("sampler", GL_SAMPLER, name);
        glBindSampler(0, 0);
    }
    label("no kind of object", 0x1234, 1);
    /* A name that is used again has no label. */
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glObjectLabel(GL_TEXTURE, name, -1, "gone");
    glDeleteTextures(1, &name);
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    show("used again", GL_TEXTURE, name);
}

static void room(void)
{
    no_picture();
    if (!need_extension("GL_KHR_debug"))
        return;
    GLuint name;
    GLint most = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glObjectLabel(GL_TEXTURE, name, -1, "eight of");
    for (int size = -1; size < 12; size++) {
        char text[20];
        GLsizei length = -1;
        memset(text, '#', sizeof text);
        glGetObjectLabel(GL_TEXTURE, name, size, &length, text);
        note("%d: %d %.20s", size, length, text);
        glGetObjectLabel(GL_TEXTURE, name, size, NULL, text);
        length = -1;
        glGetObjectLabel(GL_TEXTURE, name, size, &length, NULL);
        note("only the length: %d", length);
        errors("room");
    }
    glGetIntegerv(GL_MAX_LABEL_LENGTH, &most);
    char *text = calloc((size_t)most + 2, 1), *back = calloc((size_t)most + 2, 1);
    memset(text, 'x', (size_t)most);
    glObjectLabel(GL_TEXTURE, name, -1, text);
    errors("too long");
    glObjectLabel(GL_TEXTURE, name, most, text);
    errors("too long by number");
    text[most - 1] = 0;
    glObjectLabel(GL_TEXTURE, name, -1, text);
    errors("just short enough");
    GLsizei length = 0;
    glGetObjectLabel(GL_TEXTURE, name, most, &length, back);
    note("back: %d %d", length, !strcmp(text, back));
    free(text);
    free(back);
}

static void syncs(void)
{
    no_picture();
    if (!need_extension("GL_KHR_debug") || !need_extension("GL_ARB_sync"))
        return;
    char text[20] = "";
    GLsizei length = -1;
    GLsync sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glGetObjectPtrLabel(sync, 20, &length, text);
    note("at first: %d \"%s\"", length, text);
    glObjectPtrLabel(sync, -1, "a fence");
    glGetObjectPtrLabel(sync, 20, &length, text);
    note("label: %d \"%s\"", length, text);
    glGetObjectPtrLabel(sync, -1, &length, text);
    errors("negative room");
    glDeleteSync(sync);
    glObjectPtrLabel(sync, -1, "gone");
    errors("a deleted sync");
    glGetObjectPtrLabel((void *)12345, 20, &length, text);
    errors("no fence");
    glObjectPtrLabel(NULL, -1, "nothing");
    errors("no sync");
}

static void extension(void)
{
    no_picture();
    if (!need_extension("GL_EXT_debug_label"))
        return;
    static const GLenum kinds[] = {GL_BUFFER_OBJECT_EXT, GL_SHADER_OBJECT_EXT, GL_PROGRAM_OBJECT_EXT, GL_VERTEX_ARRAY_OBJECT_EXT, GL_QUERY_OBJECT_EXT,
                                   GL_TEXTURE, GL_RENDERBUFFER, GL_FRAMEBUFFER, GL_SAMPLER, GL_BUFFER, GL_DISPLAY_LIST, 0x1234};
    GLuint names[12] = {0};
    glGenBuffers(1, names);
    glBindBuffer(GL_ARRAY_BUFFER, names[0]);
    names[1] = glCreateShader(GL_FRAGMENT_SHADER);
    names[2] = glCreateProgram();
    glGenVertexArrays(1, names + 3);
    glBindVertexArray(names[3]);
    glGenQueries(1, names + 4);
    glBeginQuery(GL_SAMPLES_PASSED, names[4]);
    glEndQuery(GL_SAMPLES_PASSED);
    glGenTextures(1, names + 5);
    glBindTexture(GL_TEXTURE_2D, names[5]);
    glGenRenderbuffers(1, names + 6);
    glBindRenderbuffer(GL_RENDERBUFFER, names[6]);
    glGenFramebuffers(1, names + 7);
    glBindFramebuffer(GL_FRAMEBUFFER, names[7]);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glGenSamplers(1, names + 8);
    glBindSampler(0, names[8]);
    names[9] = names[0];
    for (int i = 0; i < 12; i++) {
        char text[20] = "####";
        GLsizei length = -1;
        glLabelObjectEXT(kinds[i], names[i], 0, "all of it");
        glGetObjectLabelEXT(kinds[i], names[i], 20, &length, text);
        note("%d: %d \"%s\"", i, length, text);
        errors("all of it");
        glLabelObjectEXT(kinds[i], names[i], 3, "part");
        glGetObjectLabelEXT(kinds[i], names[i], 20, &length, text);
        note("%d: %d \"%s\"", i, length, text);
        errors("part");
        glLabelObjectEXT(kinds[i], names[i], -1, "negative");
        errors("negative");
    }
}

CONFORM("labels", COMPAT, {"objects", objects}, {"room", room}, {"syncs", syncs}, {"extension", extension})
