/* Messages of GL_KHR_debug: a callback and the log, filters, and the errors of commands. The texts
 * and numbers of messages depend on the implementation. */
#include "conform.h"
#include <time.h>

static GLXContext start(int flags)
{
    if (!display)
        display = XOpenDisplay(NULL);
    if (!display)
        fail("cannot open the X display");
    static struct window window;
    if (!window.id)
        window = open_window(default_config(), 0, 64, 64);
    const int attributes[] = {GLX_CONTEXT_FLAGS_ARB, flags, None};
    GLXContext context = create_context(window.config, NULL, attributes);
    if (!context)
        fail("no context");
    glXMakeCurrent(display, window.id, context);
    no_picture();
    return context;
}

static void stop(GLXContext context)
{
    errors("end");
    glXMakeCurrent(display, None, NULL);
    glXDestroyContext(display, context);
}

static const char *name_of(GLenum value)
{
    switch (value) {
    case GL_DEBUG_SOURCE_API: return "API";
    case GL_DEBUG_SOURCE_WINDOW_SYSTEM: return "window system";
    case GL_DEBUG_SOURCE_SHADER_COMPILER: return "shader compiler";
    case GL_DEBUG_SOURCE_THIRD_PARTY: return "third party";
    case GL_DEBUG_SOURCE_APPLICATION: return "application";
    case GL_DEBUG_SOURCE_OTHER: return "other";
    case GL_DEBUG_TYPE_ERROR: return "error";
    case GL_DEBUG_TYPE_DEPRECATED_BEHAVIOR: return "deprecated";
    case GL_DEBUG_TYPE_UNDEFINED_BEHAVIOR: return "undefined";
    case GL_DEBUG_TYPE_PORTABILITY: return "portability";
    case GL_DEBUG_TYPE_PERFORMANCE: return "performance";
    case GL_DEBUG_TYPE_OTHER: return "other";
    case GL_DEBUG_TYPE_MARKER: return "marker";
    case GL_DEBUG_TYPE_PUSH_GROUP: return "push";
    case GL_DEBUG_TYPE_POP_GROUP: return "pop";
    case GL_DEBUG_SEVERITY_HIGH: return "high";
    case GL_DEBUG_SEVERITY_MEDIUM: return "medium";
    case GL_DEBUG_SEVERITY_LOW: return "low";
    case GL_DEBUG_SEVERITY_NOTIFICATION: return "notification";
    }
    return "?";
}

static bool in_call;
static GLuint error_id;
static int told;

static void log_message(const char *how, GLenum source, GLenum type, GLuint id, GLenum severity, GLsizei length, const char *text)
{
    bool own = source == GL_DEBUG_SOURCE_APPLICATION || source == GL_DEBUG_SOURCE_THIRD_PARTY;
    if (!own && type != GL_DEBUG_TYPE_ERROR)
        return;
    if (own)
        note("%s %s, %s, %s: %u, \"%.*s\"", how, name_of(source), name_of(type), name_of(severity), id, length, text);
    else
        note("%s %s, %s, %s: first word %.*s", how, name_of(source), name_of(type), name_of(severity), (int)strcspn(text, " "), text);
    if (source == GL_DEBUG_SOURCE_API && type == GL_DEBUG_TYPE_ERROR) {
        if (error_id && error_id != id)
            note("another number for errors");
        error_id = id;
    }
    /* After this, the waiting thread may write to the log. */
    __atomic_fetch_add(&told, 1, __ATOMIC_SEQ_CST);
}

static void callback(GLenum source, GLenum type, GLuint id, GLenum severity, GLsizei length, const GLchar *text, const void *user)
{
    log_message(in_call ? "at once" : "later", source, type, id, severity, length, text);
    if (*(const int *)user != 42)
        note("another user pointer");
}

/* The messages of a command arrive before the command returns. */
#define CALL(call)                                                                                                                                    \
    do {                                                                                                                                              \
        told = 0;                                                                                                                                     \
        in_call = true;                                                                                                                               \
        call;                                                                                                                                         \
        in_call = false;                                                                                                                              \
        note("%s: %d", #call, told);                                                                                                                  \
    } while (0)

static const int user = 42;

static void wrong_commands(void)
{
    GLint value;
    GLuint name = 0;
    CALL(glEnable(0x1234));
    CALL(glEnable(GL_DEPTH_TEST));
    CALL(glBindTexture(0x1234, 0));
    CALL(glBindBuffer(0x1234, 0));
    CALL(glViewport(0, 0, -1, 0));
    CALL(glGetIntegerv(0x1234, &value));
    CALL(glDrawArrays(0x1234, 0, 3));
    CALL(glDrawArrays(GL_POINTS, 0, -3));
    CALL(glUseProgram(77777));
    CALL(glGenTextures(-1, &name));
    CALL(glMatrixMode(0x1234));
    CALL(glPopMatrix());
    CALL(glPopAttrib());
    CALL(glLightfv(GL_LIGHT0, 0x1234, (const GLfloat[]){0, 0, 0, 0}));
    CALL(glTexImage2D(GL_TEXTURE_2D, -1, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL));
    CALL(glBegin(0x1234));
    CALL(glEnd());
    glBegin(GL_POINTS);
    glVertex2f(0, 0);
    CALL(glEnd());
    CALL(glGetString(0x1234));
    CALL(glCallList(12345));
    CALL(glNewList(0, GL_COMPILE));
    CALL(glPixelStorei(0x1234, 1));
    CALL(glReadPixels(0, 0, 1, 1, 0x1234, GL_UNSIGNED_BYTE, &value));
    CALL(glShaderSource(88888, 0, NULL, NULL));
    CALL(glMapBuffer(GL_ARRAY_BUFFER, GL_READ_ONLY));
    CALL(glVertexPointer(7, GL_FLOAT, 0, NULL));
    CALL(glVertexAttrib4f(99, 0, 0, 0, 0));
    CALL(glDeleteSync((GLsync)99));
    CALL(glClear(0x10000000));
    CALL(glFinish());
    errors("wrong commands");
}

static void in_step(void)
{
    GLXContext context = start(GLX_CONTEXT_DEBUG_BIT_ARB);
    if (!need_extension("GL_KHR_debug"))
        return stop(context);
    ENABLED(GL_DEBUG_OUTPUT);
    ENABLED(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    GLint flags = 0;
    glGetIntegerv(GL_CONTEXT_FLAGS, &flags);
    note("debug flag: %d", flags & GL_CONTEXT_FLAG_DEBUG_BIT);
    void *pointer = (void *)1;
    glGetPointerv(GL_DEBUG_CALLBACK_FUNCTION, &pointer);
    note("callback at first: %d", pointer != NULL);
    glDebugMessageCallback(callback, &user);
    glGetPointerv(GL_DEBUG_CALLBACK_FUNCTION, &pointer);
    note("callback: %d", pointer == (void *)callback);
    glGetPointerv(GL_DEBUG_CALLBACK_USER_PARAM, &pointer);
    note("user: %d", pointer == (void *)&user);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    ENABLED(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    wrong_commands();
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_MARKER, 7, GL_DEBUG_SEVERITY_NOTIFICATION, -1, "a marker"));
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_THIRD_PARTY, GL_DEBUG_TYPE_OTHER, 8, GL_DEBUG_SEVERITY_HIGH, 5, "cut short"));
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_THIRD_PARTY, GL_DEBUG_TYPE_OTHER, 9, GL_DEBUG_SEVERITY_LOW, 3, "low"));
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 9, GL_DEBUG_SEVERITY_HIGH, 0, "empty"));
    errors("inserted");
    CALL(glDisable(GL_DEBUG_OUTPUT));
    CALL(glEnable(0x4321));
    errors("while it is off");
    CALL(glEnable(GL_DEBUG_OUTPUT));
    CALL(glEnable(0x4321));
    errors("on again");
    glDebugMessageCallback(NULL, NULL);
    CALL(glEnable(0x4321));
    INTS(GL_DEBUG_LOGGED_MESSAGES, 1);
    stop(context);
}

static void without_debug_context(void)
{
    GLXContext context = start(0);
    if (!need_extension("GL_KHR_debug"))
        return stop(context);
    ENABLED(GL_DEBUG_OUTPUT);
    ENABLED(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    glDebugMessageCallback(callback, &user);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    CALL(glEnable(0x4321));
    errors("off");
    CALL(glEnable(GL_DEBUG_OUTPUT));
    wrong_commands();
    glXMakeCurrent(display, None, NULL);
    stop(context);
}

/* Without synchronous output, messages may arrive later, but they arrive in order. */
static void out_of_step(void)
{
    GLXContext context = start(GLX_CONTEXT_DEBUG_BIT_ARB);
    if (!need_extension("GL_KHR_debug"))
        return stop(context);
    in_call = true;
    glDebugMessageCallback(callback, &user);
    told = 0;
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 1, GL_DEBUG_SEVERITY_HIGH, -1, "first");
    glEnable(0x1234);
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 2, GL_DEBUG_SEVERITY_HIGH, -1, "second");
    glVertexPointer(7, GL_FLOAT, 0, NULL);
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 3, GL_DEBUG_SEVERITY_HIGH, -1, "third");
    glFinish();
    note("messages at glFinish: %d", told);
    glBlendFunc(0x1234, 0);
    glFlush();
    note("messages at glFlush: %d", told);
    errors("commands");
    note("messages at glGetError: %d", told);
    glMatrixMode(0x1234);
    glDebugMessageCallback(NULL, NULL);
    note("messages to the old callback: %d", told);
    stop(context);
}

/* Waits until `count` messages have come, without calling OpenGL; at most five seconds. */
static void wait_for(int count)
{
    for (int i = 0; i < 5000 && __atomic_load_n(&told, __ATOMIC_SEQ_CST) < count; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    note("messages while the program waited: %d of %d", told, count);
}

/* A program may wait for messages without any call of OpenGL. */
static void while_waiting(void)
{
    GLXContext context = start(GLX_CONTEXT_DEBUG_BIT_ARB);
    if (!need_extension("GL_KHR_debug"))
        return stop(context);
    in_call = true;
    glDebugMessageCallback(callback, &user);
    told = 0;
    glEnable(0x1234);
    wait_for(1);
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 1, GL_DEBUG_SEVERITY_HIGH, -1, "first");
    glVertexPointer(7, GL_FLOAT, 0, NULL);
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 2, GL_DEBUG_SEVERITY_HIGH, -1, "second");
    /* A later command that succeeds does not hide the error of an earlier one. */
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glColor3f(1, 0, 0);
    wait_for(4);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; i++)
        glVertex2f((GLfloat)i, 0);
    glEnable(GL_BLEND);
    glEnd();
    wait_for(5);
    /* Most of a primitive has been sent, but its end has not. */
    glEnable(0x1234);
    glBegin(GL_LINE_STRIP);
    for (int i = 0; i < 100000; i++)
        glVertex2f((GLfloat)i, 0);
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    glEnd();
    wait_for(6);
    errors("waited");
    /* A list begins a primitive and does not end it. */
    GLuint list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    glBegin(GL_POINTS);
    glEndList();
    glEnable(0x1234);
    glCallList(list);
    glVertex2f(0, 0);
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    glEnd();
    wait_for(7);
    errors("a list");
    /* The callback has been removed. */
    glDebugMessageCallback(NULL, NULL);
    glEnable(0x1234);
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    note("messages without a callback: %d", told);
    glDebugMessageCallback(callback, &user);
    glDisable(GL_DEBUG_OUTPUT);
    glEnable(0x1234);
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    note("messages while output is off: %d", told);
    glEnable(GL_DEBUG_OUTPUT);
    glEnable(0x1234);
    wait_for(8);
    stop(context);
}

static void show_log(GLuint count, GLsizei size)
{
    GLenum sources[16], types[16], severities[16];
    GLuint ids[16];
    GLsizei lengths[16];
    static char texts[100000];
    GLint first = 0;
    INTS(GL_DEBUG_LOGGED_MESSAGES, 1);
    glGetIntegerv(GL_DEBUG_NEXT_LOGGED_MESSAGE_LENGTH, &first);
    memset(texts, '#', sizeof texts);
    GLuint got = glGetDebugMessageLog(count, size, sources, types, ids, severities, lengths, texts);
    note("%u messages", got);
    if (got)
        note("the first has the queried length: %d", lengths[0] == first);
    const char *text = texts;
    for (GLuint i = 0; i < got; i++) {
        log_message("logged", sources[i], types[i], ids[i], severities[i], lengths[i] - 1, text);
        text += lengths[i];
    }
    note("no text after them: %d", *text == '#');
    errors("log");
}

static void log_of_messages(void)
{
    GLXContext context = start(GLX_CONTEXT_DEBUG_BIT_ARB);
    if (!need_extension("GL_KHR_debug"))
        return stop(context);
    INTS(GL_DEBUG_NEXT_LOGGED_MESSAGE_LENGTH, 1);
    show_log(16, 100000);
    glEnable(0x1234);
    for (int i = 0; i < 4; i++) {
        char text[40];
        sprintf(text, "message %d", i);
        glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_PERFORMANCE, (GLuint)i, GL_DEBUG_SEVERITY_MEDIUM, -1, text);
    }
    glVertexPointer(7, GL_FLOAT, 0, NULL);
    errors("commands");
    show_log(2, 100000);
    show_log(16, 5);
    show_log(16, 11);
    show_log(16, 100000);
    for (int i = 0; i < 20; i++)
        glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, (GLuint)i, GL_DEBUG_SEVERITY_HIGH, -1, "many");
    INTS(GL_DEBUG_LOGGED_MESSAGES, 1);
    GLuint ids[32];
    note("only numbers: %u", glGetDebugMessageLog(3, 0, NULL, NULL, ids, NULL, NULL, NULL));
    note("%u %u %u", ids[0], ids[1], ids[2]);
    note("no arrays: %u", glGetDebugMessageLog(2, -7, NULL, NULL, NULL, NULL, NULL, NULL));
    errors("no arrays");
    char text[4];
    note("negative room: %u", glGetDebugMessageLog(2, -7, NULL, NULL, NULL, NULL, NULL, text));
    errors("negative room");
    show_log(32 > 16 ? 16 : 32, 100000);
    /* Messages in the log stay there when a callback is set. */
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 5, GL_DEBUG_SEVERITY_HIGH, -1, "stays");
    glDebugMessageCallback(callback, &user);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 6, GL_DEBUG_SEVERITY_HIGH, -1, "is told"));
    show_log(16, 100000);
    stop(context);
}

static void insert(GLuint id, GLenum severity)
{
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, id, severity, -1, "application, other");
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_ERROR, id, severity, -1, "application, error");
    glDebugMessageInsert(GL_DEBUG_SOURCE_THIRD_PARTY, GL_DEBUG_TYPE_OTHER, id, severity, -1, "third party, other");
}

static void all_severities(const char *what)
{
    note("-- %s", what);
    in_call = true;
    insert(1, GL_DEBUG_SEVERITY_HIGH);
    insert(2, GL_DEBUG_SEVERITY_LOW);
    insert(3, GL_DEBUG_SEVERITY_NOTIFICATION);
    glEnable(0x1234);
    glVertexPointer(7, GL_FLOAT, 0, NULL);
    in_call = false;
    while (glGetError())
        ;
}

static void filters(void)
{
    GLXContext context = start(GLX_CONTEXT_DEBUG_BIT_ARB);
    if (!need_extension("GL_KHR_debug"))
        return stop(context);
    glDebugMessageCallback(callback, &user);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    all_severities("at first");
    glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, GL_TRUE);
    all_severities("everything");
    glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DEBUG_SEVERITY_HIGH, 0, NULL, GL_FALSE);
    all_severities("no high severity");
    glDebugMessageControl(GL_DEBUG_SOURCE_API, GL_DEBUG_TYPE_ERROR, GL_DONT_CARE, 0, NULL, GL_TRUE);
    all_severities("but errors");
    glDebugMessageControl(GL_DEBUG_SOURCE_API, GL_DEBUG_TYPE_ERROR, GL_DONT_CARE, 1, &error_id, GL_FALSE);
    all_severities("not those of this number");
    glDebugMessageControl(GL_DEBUG_SOURCE_API, GL_DEBUG_TYPE_ERROR, GL_DONT_CARE, 1, &error_id, GL_TRUE);
    glDebugMessageControl(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, GL_DONT_CARE, 2, (const GLuint[]){1, 3}, GL_FALSE);
    all_severities("only these, without two others");
    CALL(glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, -1, NULL, GL_TRUE));
    CALL(glDebugMessageControl(0x1234, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, GL_TRUE));
    CALL(glDebugMessageControl(GL_DONT_CARE, 0x1234, GL_DONT_CARE, 0, NULL, GL_TRUE));
    CALL(glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, 0x1234, 0, NULL, GL_TRUE));
    CALL(glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 1, &error_id, GL_TRUE));
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_API, GL_DEBUG_TYPE_OTHER, 1, GL_DEBUG_SEVERITY_HIGH, -1, "x"));
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, 0x1234, 1, GL_DEBUG_SEVERITY_HIGH, -1, "x"));
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 1, GL_DONT_CARE, -1, "x"));
    errors("enums");
    static char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 1, GL_DEBUG_SEVERITY_HIGH, -1, longest));
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 1, GL_DEBUG_SEVERITY_HIGH, 1 << 30, longest));
    errors("too long");
    glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, GL_TRUE);
    longest[4095] = 0;
    CALL(glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 1, GL_DEBUG_SEVERITY_HIGH, -1, longest));
    errors("just short enough");
    stop(context);
}

static void groups(void)
{
    GLXContext context = start(GLX_CONTEXT_DEBUG_BIT_ARB);
    if (!need_extension("GL_KHR_debug"))
        return stop(context);
    glDebugMessageCallback(callback, &user);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    INTS(GL_DEBUG_GROUP_STACK_DEPTH, 1);
    CALL(glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 11, -1, "outer"));
    INTS(GL_DEBUG_GROUP_STACK_DEPTH, 1);
    glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DEBUG_SEVERITY_HIGH, 0, NULL, GL_FALSE);
    all_severities("no high severity");
    CALL(glPushDebugGroup(GL_DEBUG_SOURCE_THIRD_PARTY, 12, 3, "inner"));
    all_severities("as outside");
    glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, GL_TRUE);
    all_severities("everything");
    CALL(glPopDebugGroup());
    all_severities("no high severity again");
    CALL(glPopDebugGroup());
    all_severities("as at first");
    CALL(glPopDebugGroup());
    errors("too few");
    INTS(GL_DEBUG_GROUP_STACK_DEPTH, 1);
    CALL(glPushDebugGroup(GL_DEBUG_SOURCE_API, 12, 3, "inner"));
    errors("no source for a group");
    CALL(glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 12, 1 << 20, "inner"));
    errors("too long");
    GLint most = 0;
    glGetIntegerv(GL_MAX_DEBUG_GROUP_STACK_DEPTH, &most);
    for (int i = 1; i < most; i++)
        glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, (GLuint)i, -1, "deep");
    errors("deep");
    CALL(glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 99, -1, "too deep"));
    errors("too deep");
    note("all depths: %d", most > 1);
    stop(context);
}

static void old_names(void)
{
    GLXContext context = start(GLX_CONTEXT_DEBUG_BIT_ARB);
    if (!need_extension("GL_ARB_debug_output"))
        return stop(context);
    glDebugMessageCallbackARB(callback, &user);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS_ARB);
    glDebugMessageControlARB(GL_DONT_CARE, GL_DONT_CARE, GL_DEBUG_SEVERITY_LOW_ARB, 0, NULL, GL_TRUE);
    CALL(glDebugMessageInsertARB(GL_DEBUG_SOURCE_APPLICATION_ARB, GL_DEBUG_TYPE_OTHER_ARB, 3, GL_DEBUG_SEVERITY_LOW_ARB, -1, "low"));
    CALL(glEnable(0x1234));
    glDebugMessageCallbackARB(NULL, NULL);
    glEnable(0x1234);
    GLuint id;
    note("log: %u", glGetDebugMessageLogARB(4, 0, NULL, NULL, &id, NULL, NULL, NULL));
    errors("old names");
    stop(context);
}

CONFORM("debug_output", NONE, {"in_step", in_step}, {"without_debug_context", without_debug_context}, {"out_of_step", out_of_step},
        {"while_waiting", while_waiting},
        {"log_of_messages", log_of_messages}, {"filters", filters}, {"groups", groups}, {"old_names", old_names})
