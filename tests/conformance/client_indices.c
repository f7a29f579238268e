/* Indices from the program's memory, without an element buffer. The specification of the core
 * profile forbids them, but drivers draw. */
#include "conform.h"

static const GLfloat places[][2] = {{-0.9f, -0.9f}, {-0.2f, -0.9f}, {-0.9f, -0.2f}, {-0.2f, -0.2f}, {0.2f, 0.2f}, {0.9f, 0.2f}, {0.2f, 0.9f}, {0.9f, 0.9f}};
static const GLubyte bytes[] = {0, 1, 2, 1, 3, 2};
static const GLushort shorts[] = {4, 5, 6, 0xffff, 5, 7, 6};
static const GLuint words[] = {0, 3, 4, 7};

static void scenery(void)
{
    GLuint array;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glUseProgram(build_program("#version 330\nlayout(location = 0) in vec2 place; flat out vec3 color;\n"
                               "void main() { gl_Position = vec4(place + 0.1 * float(gl_InstanceID), 0.0, 1.0);\n"
                               "color = vec3(float(gl_VertexID & 1), float(gl_VertexID & 2) * 0.5, 0.5 + 0.25 * float(gl_InstanceID)); }",
                               "#version 330\nflat in vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }"));
    make_buffer(GL_ARRAY_BUFFER, sizeof places, places);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
}

static void drawn(void)
{
    scenery();
    cell(0, 0, 3, 2);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, bytes);
    errors("bytes");
    cell(1, 0, 3, 2);
    glEnable(GL_PRIMITIVE_RESTART);
    glPrimitiveRestartIndex(0xffff);
    glDrawElements(GL_TRIANGLE_STRIP, 7, GL_UNSIGNED_SHORT, shorts);
    glDisable(GL_PRIMITIVE_RESTART);
    errors("shorts");
    cell(2, 0, 3, 2);
    glDrawRangeElements(GL_LINE_STRIP, 0, 7, 4, GL_UNSIGNED_INT, words);
    errors("words");
    cell(0, 1, 3, 2);
    glDrawElementsInstanced(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, bytes, 3);
    glDrawElementsInstancedBaseVertex(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, bytes, 2, 4);
    errors("instances");
    cell(1, 1, 3, 2);
    glDrawElementsBaseVertex(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, bytes, 4);
    errors("a base vertex");
    cell(2, 1, 3, 2);
    glMultiDrawElements(GL_TRIANGLES, (const GLsizei[]){3, 0, 3}, GL_UNSIGNED_BYTE, (const void *const[]){bytes, bytes, bytes + 3}, 3);
    glMultiDrawElementsBaseVertex(GL_TRIANGLES, (const GLsizei[]){3, 3}, GL_UNSIGNED_BYTE, (const void *const[]){bytes, bytes + 3}, 2, (const GLint[]){4, 4});
    errors("several");
}

/* Without an element buffer, indices are pointers into memory. With one, they are offsets. */
static void with_and_without(void)
{
    scenery();
    GLuint buffer = make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof bytes, bytes);
    cell(0, 0, 2, 2);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, (void *)3);
    errors("from the buffer");
    glDeleteBuffers(1, &buffer);
    cell(1, 0, 2, 2);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, bytes);
    errors("from memory");
    make_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof bytes, bytes);
    cell(0, 1, 2, 2);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, NULL);
    errors("from another buffer");
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    cell(1, 1, 2, 2);
    glDrawElements(GL_LINE_STRIP, 4, GL_UNSIGNED_INT, words);
    errors("from memory again");
}

static void wrong(void)
{
    scenery();
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawElements(GL_QUADS, 4, GL_UNSIGNED_BYTE, bytes);
    errors("no such mode here");
    glDrawElements(0x1234, 4, GL_UNSIGNED_BYTE, bytes);
    errors("no mode");
    glDrawElements(GL_TRIANGLES, 3, GL_FLOAT, bytes);
    errors("no type");
    glDrawElements(0x1234, 3, GL_FLOAT, bytes);
    errors("no mode and no type");
    glDrawElements(GL_PATCHES, 3, GL_FLOAT, bytes);
    errors("patches of no type");
    glDrawElements(GL_TRIANGLES, -3, GL_FLOAT, bytes);
    errors("negative count");
    glDrawElements(0x1234, 0, GL_UNSIGNED_BYTE, bytes);
    errors("zero indices, invalid mode");
    glDrawElements(GL_TRIANGLES, 0, GL_FLOAT, bytes);
    errors("zero indices, invalid type");
    glDrawElements(0x1234, 0, GL_UNSIGNED_BYTE, NULL);
    errors("no indices in no mode");
    glDrawElementsInstanced(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, bytes, -1);
    errors("negative number of instances");
    glDrawRangeElements(GL_TRIANGLES, 5, 2, 3, GL_UNSIGNED_BYTE, bytes);
    errors("a range that ends before it begins");
    glMultiDrawElements(GL_TRIANGLES, (const GLsizei[]){3, -1}, GL_UNSIGNED_BYTE, (const void *const[]){bytes, bytes}, 2);
    errors("one draw with a negative count");
    glMultiDrawElements(0x1234, (const GLsizei[]){3, -1}, GL_FLOAT, (const void *const[]){bytes, bytes}, 2);
    errors("several in no mode");
    glMultiDrawElements(GL_TRIANGLES, (const GLsizei[]){0, 0}, GL_FLOAT, (const void *const[]){bytes, bytes}, 2);
    errors("several of no type");
    glMultiDrawElements(GL_TRIANGLES, (const GLsizei[]){3, 3}, GL_UNSIGNED_BYTE, (const void *const[]){bytes, NULL}, 2);
    errors("one draw with null indices");
    glMultiDrawElements(0x1234, NULL, GL_UNSIGNED_BYTE, NULL, 0);
    errors("zero draws, invalid mode");
    glMultiDrawElements(GL_TRIANGLES, NULL, GL_UNSIGNED_BYTE, NULL, -1);
    errors("negative number of draws");
    glBindVertexArray(0);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, bytes);
    errors("without a vertex array object");
    glMultiDrawElements(GL_TRIANGLES, (const GLsizei[]){3}, GL_UNSIGNED_BYTE, (const void *const[]){bytes}, 1);
    errors("several without one");
    glDrawArrays(GL_TRIANGLES, 0, 3);
    errors("arrays without one");
}

CONFORM("client_indices", CORE, {"drawn", drawn}, {"with_and_without", with_and_without}, {"wrong", wrong})
