/* Errors of commands for which the client can predict whether they fail. Each command succeeds,
 * fails for one reason after the other, and succeeds again. So the client must know the reasons. In
 * each round, it knows what it has learned in the previous round. */
#include "conform.h"

#define ROUNDS 3
#define VERTEX "#version 150\nin vec4 place; void main() { gl_Position = place; }"
#define FRAGMENT "#version 150\nuniform float f; uniform vec2 v[2]; uniform mat4 m; uniform int n; out vec4 c;\nvoid main() { c = m[0] + vec4(f, v[0], n) + vec4(v[1], 0, 0); }"
#define TRY(call)                                                                                                                                     \
    call;                                                                                                                                             \
    errors(#call)

static GLfloat numbers[64] = {1, 1, 1, 1};
static GLubyte bytes[4096];

/* Makes a separate list for each set of commands. */
static GLuint listed(void (*commands)(void))
{
    GLuint list = glGenLists(1);
    glNewList(list, GL_COMPILE);
    commands();
    glEndList();
    errors("compiled");
    return list;
}

static void call(GLuint list, const char *what)
{
    errors("before");
    glCallList(list);
    errors(what);
    glCallLists(1, GL_UNSIGNED_INT, &list);
    errors(what);
}

static void draws(void)
{
    glBegin(GL_TRIANGLES);
    glColor3f(0.2f, 0.4f, 0.8f);
    glVertex2f(-0.5f, -0.5f);
    glVertex2f(0.5f, -0.5f);
    glVertex2f(0, 0.5f);
    glEnd();
}

static void transforms(void)
{
    glPushMatrix();
    glTranslatef(0.1f, 0, 0);
    draws();
    glPopMatrix();
}

static void pops(void) { glPopMatrix(); }
static void pushes(void) { glPushMatrix(); }
static void pops_attributes(void) { glPopAttrib(); }

static void keeps_attributes(void)
{
    glPushAttrib(GL_ENABLE_BIT | GL_COLOR_BUFFER_BIT);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    draws();
    glPopAttrib();
}

static void mistakes(void) { glEnable(GL_LINES); }
static void mistaken_primitive(void) { glBegin(GL_RGBA); glEnd(); }
static void ends_only(void) { glEnd(); }
static void shininess(void) { glMaterialf(GL_FRONT, GL_SHININESS, 400); }
static void material(void) { glMaterialfv(GL_FRONT, GL_DIFFUSE, numbers); }
static void rectangle(void) { glRectf(-0.9f, -0.9f, -0.7f, -0.7f); }
static void bitmap(void) { glRasterPos2f(0.6f, 0.6f); glBitmap(8, 8, 0, 0, 4, 0, bytes); }
static void no_bitmap(void) { glBitmap(-1, 8, 0, 0, 4, 0, bytes); }
static void enables_program(void) { glEnable(GL_VERTEX_PROGRAM_ARB); draws(); }
static void disables_program(void) { glDisable(GL_VERTEX_PROGRAM_ARB); }
static void unit(void) { glActiveTexture(GL_TEXTURE0 + 4096); }
static void no_target(void) { glBindTexture(GL_RGBA, 0); }
static void two_sources(void) { glBlendFunc(GL_SRC1_COLOR, GL_ONE); draws(); glBlendFunc(GL_ONE, GL_ZERO); }
static void parameter(void) { glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST); }
static void no_parameter(void) { glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_RGBA); }
static void illegal_inside(void) { glBegin(GL_POINTS); glVertex2f(0, 0); glMatrixMode(GL_PROJECTION); glEnd(); }
static void pops_name(void) { glPopName(); }

static GLuint inner;
static void nests(void) { glColor3f(0, 1, 0); glCallList(inner); }
static void calls_none(void) { glCallList(0); }

static void lists(void)
{
    void (*const all[])(void) = {draws, transforms, pops, pushes, pops_attributes, keeps_attributes, mistakes, mistaken_primitive, ends_only, shininess, material, rectangle, bitmap, no_bitmap, enables_program, disables_program, unit, no_target, two_sources, parameter, no_parameter, illegal_inside, pops_name, calls_none};
    const char *const names[] = {"draws", "transforms", "pops", "pushes", "pops_attributes", "keeps_attributes", "mistakes", "mistaken_primitive", "ends_only", "shininess", "material", "rectangle", "bitmap", "no_bitmap", "enables_program", "disables_program", "unit", "no_target", "two_sources", "parameter", "no_parameter", "illegal_inside", "pops_name", "calls_none"};
    enum { COUNT = sizeof all / sizeof *all };
    GLuint made[COUNT];
    for (int i = 0; i < COUNT; i++)
        made[i] = listed(all[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT; i++) {
            call(made[i], names[i]);
            /* After a list that has changed state, a list that draws. */
            call(made[0], "draws");
        }
    glDisable(GL_VERTEX_PROGRAM_ARB);
    for (int round = 0; round < ROUNDS; round++) {
        note("the stack is full, then empty");
        for (int i = 0; i < 40; i++)
            call(made[3], "pushes");
        for (int i = 0; i < 90; i++)
            call(made[2], "pops");
        for (int i = 0; i < 20; i++) {
            glPushAttrib(GL_ALL_ATTRIB_BITS);
            errors("glPushAttrib");
            call(made[5], "keeps_attributes");
        }
        for (int i = 0; i < 20; i++)
            call(made[4], "pops_attributes");
    }
}

/* Draws in lists, in states in which drawing fails. */
static void lists_that_draw(void)
{
    GLuint draw = listed(draws), transform = listed(transforms), attributes = listed(keeps_attributes), rectangles = listed(rectangle), bitmaps = listed(bitmap);
    GLuint all[] = {draw, transform, attributes, rectangles, bitmaps};
    GLuint framebuffer, texture, program = build_program(VERTEX, FRAGMENT);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &framebuffer);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 5; i++) {
            note("round %d, list %d", round, i);
            call(all[i], "in the window");
            glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
            call(all[i], "with nothing attached");
            glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
            call(all[i], "with a texture");
            call(all[i], "with a texture");
            TRY(glRectf(0, 0, 1, 1));
            TRY(glRectf(0, 0, 1, 1));
            glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 0, 0);
            call(all[i], "without");
            TRY(glRectf(0, 0, 1, 1));
            glBindFramebuffer(GL_FRAMEBUFFER, 0);
            glUseProgram(program);
            call(all[i], "by a program");
            call(all[i], "by a program");
            glUseProgram(0);
            glEnable(GL_FRAGMENT_PROGRAM_ARB);
            call(all[i], "by no assembly program");
            TRY(glRectf(0, 0, 1, 1));
            TRY(glBitmap(8, 8, 0, 0, 4, 0, bytes));
            glDisable(GL_FRAGMENT_PROGRAM_ARB);
            TRY(glRectf(0, 0, 0.1f, 0.1f));
            TRY(glRectf(0, 0, 0.1f, 0.1f));
        }
    /* Several lists in one call, one of which fails. */
    GLuint wrong = listed(mistakes), many[] = {draw, transform, wrong, rectangles};
    for (int round = 0; round < ROUNDS; round++) {
        TRY(glCallLists(2, GL_UNSIGNED_INT, many));
        TRY(glCallLists(4, GL_UNSIGNED_INT, many));
        TRY(glCallLists(-1, GL_UNSIGNED_INT, many));
        TRY(glCallLists(1, GL_RGBA, many));
        TRY(glListBase(1000));
        TRY(glCallLists(4, GL_UNSIGNED_INT, many));
        TRY(glListBase(0));
    }
}

/* Lists call lists that are later replaced. */
static void lists_that_change(void)
{
    inner = glGenLists(1);
    GLuint outer = listed(nests), twice;
    call(outer, "nothing inside");
    void (*const contents[])(void) = {draws, mistakes, rectangle, pops, material, shininess};
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 6; i++) {
            note("round %d, contents %d", round, i);
            glNewList(inner, GL_COMPILE);
            contents[i]();
            glEndList();
            errors("again");
            call(outer, "outer");
            call(outer, "outer");
        }
    glDeleteLists(inner, 1);
    call(outer, "deleted");
    twice = inner;
    inner = outer;
    GLuint outermost = listed(nests);
    call(outermost, "outermost");
    glNewList(twice, GL_COMPILE);
    mistakes();
    glEndList();
    call(outermost, "wrong deep inside");
    /* Inside a primitive, lists may contain only commands that are allowed there. */
    GLuint color = glGenLists(1), matrix = listed(transforms);
    glNewList(color, GL_COMPILE);
    glColor3f(1, 0, 0);
    glEndList();
    call(matrix, "a matrix outside");
    for (int round = 0; round < ROUNDS; round++) {
        glBegin(GL_TRIANGLES);
        glCallList(color);
        glVertex2f(0, 0);
        glEnd();
        errors("a colour inside");
        glBegin(GL_TRIANGLES);
        glCallList(matrix);
        glVertex2f(0, 0);
        glEnd();
        errors("a matrix inside");
    }
    /* Lists are called during the compilation of another list. */
    GLuint other = glGenLists(1);
    for (int i = 0; i < 2; i++) {
        glNewList(other, i ? GL_COMPILE_AND_EXECUTE : GL_COMPILE);
        glCallList(matrix);
        errors("compiled into another");
        glCallList(outermost);
        errors("wrong, compiled into another");
        glEndList();
        errors("end");
        call(other, "called from another");
    }
}

/* A list selects a program, and other lists draw with it. */
static void lists_of_programs(void)
{
    GLuint program = build_program(VERTEX, FRAGMENT), draw = listed(draws), use = glGenLists(1), none = glGenLists(1), bad = glGenLists(1);
    GLuint unlinked = glCreateProgram();
    GLint f = glGetUniformLocation(program, "f");
    glNewList(use, GL_COMPILE);
    glUseProgram(program);
    glEndList();
    glNewList(none, GL_COMPILE);
    glUseProgram(0);
    glEndList();
    glNewList(bad, GL_COMPILE);
    glUseProgram(unlinked);
    glEndList();
    errors("compiled");
    for (int round = 0; round < ROUNDS; round++) {
        TRY(glUniform1f(f, 1));
        call(use, "use");
        TRY(glUniform1f(f, 1));
        call(draw, "draw");
        TRY(glUniform1f(f, 1));
        call(bad, "bad");
        TRY(glUniform1f(f, 1));
        call(none, "none");
        TRY(glUniform1f(f, 1));
        call(draw, "draw");
        INTS(GL_CURRENT_PROGRAM, 1);
    }
}

static void names(void)
{
    GLuint room[64], list = listed(pops_name);
    glSelectBuffer(64, room);
    for (int round = 0; round < ROUNDS; round++) {
        for (int selects = 0; selects < 2; selects++) {
            glRenderMode(selects ? GL_SELECT : GL_RENDER);
            errors("glRenderMode");
            TRY(glInitNames());
            TRY(glLoadName(1));
            TRY(glPopName());
            call(list, "pops_name");
            TRY(glPushName(1));
            TRY(glLoadName(2));
            for (int i = 0; i < 130; i++)
                glPushName(3);
            errors("many");
            TRY(glPopName());
        }
        glRenderMode(GL_RENDER);
        glBegin(GL_POINTS);
        glLoadName(1);
        glEnd();
        errors("glLoadName inside");
        glBegin(GL_POINTS);
        glPushName(1);
        glEnd();
        errors("glPushName inside");
    }
}

static void materials(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        TRY(glMaterialfv(GL_FRONT, GL_AMBIENT, numbers));
        TRY(glMaterialfv(GL_FRONT_AND_BACK, GL_AMBIENT_AND_DIFFUSE, numbers));
        TRY(glMaterialf(GL_FRONT, GL_SHININESS, 20));
        TRY(glMaterialf(GL_FRONT, GL_SHININESS, 128.5f));
        TRY(glMaterialf(GL_FRONT, GL_AMBIENT, 1));
        TRY(glMateriali(GL_BACK, GL_SHININESS, 129));
        TRY(glMaterialiv(GL_BACK, GL_SPECULAR, (const GLint[]){1, 2, 3, 4}));
        TRY(glMaterialfv(GL_LEFT, GL_AMBIENT, numbers));
        TRY(glMaterialfv(GL_FRONT, GL_POSITION, numbers));
        glBegin(GL_TRIANGLES);
        glMaterialfv(GL_FRONT, GL_DIFFUSE, numbers);
        glVertex2f(0, 0);
        glMaterialf(GL_FRONT, GL_SHININESS, 300);
        glEnd();
        errors("too shiny inside");
        glBegin(GL_TRIANGLES);
        glMaterialfv(GL_FRONT, GL_DIFFUSE, numbers);
        glVertex2f(0, 0);
        glEnd();
        errors("inside");
        glBegin(GL_RGBA);
        errors("no primitive");
        glMaterialfv(GL_FRONT, GL_DIFFUSE, numbers);
        errors("after a failed begin");
    }
}

static void pixels(void)
{
    GLuint framebuffer, texture, buffer;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &framebuffer);
    buffer = make_buffer(GL_PIXEL_UNPACK_BUFFER, 64, NULL);
    for (int round = 0; round < ROUNDS; round++)
        for (int valid = 0; valid < 2; valid++) {
            glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
            glBindFramebuffer(GL_FRAMEBUFFER, 0);
            glRasterPos2f(valid ? -0.5f : -5, 0);
            errors("glRasterPos2f");
            TRY(glDrawPixels(4, 4, GL_RGBA, GL_UNSIGNED_BYTE, bytes));
            TRY(glDrawPixels(4, 4, GL_RGBA, GL_UNSIGNED_BYTE, bytes));
            TRY(glDrawPixels(-4, 4, GL_RGBA, GL_UNSIGNED_BYTE, bytes));
            TRY(glDrawPixels(4, 4, GL_RGBA, GL_UNSIGNED_SHORT_5_6_5, bytes));
            TRY(glDrawPixels(4, 4, GL_RGBA_INTEGER, GL_INT, bytes));
            TRY(glDrawPixels(4, 4, GL_DEPTH_COMPONENT, GL_FLOAT, bytes));
            TRY(glDrawPixels(4, 4, GL_DEPTH_COMPONENT, GL_FLOAT, bytes));
            TRY(glBitmap(8, 8, 0, 0, 1, 0, bytes));
            TRY(glBitmap(8, -8, 0, 0, 1, 0, bytes));
            glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
            TRY(glDrawPixels(4, 4, GL_RGBA, GL_UNSIGNED_BYTE, bytes));
            TRY(glBitmap(8, 8, 0, 0, 1, 0, bytes));
            glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
            TRY(glDrawPixels(4, 4, GL_RGBA, GL_UNSIGNED_BYTE, bytes));
            TRY(glDrawPixels(4, 4, GL_DEPTH_COMPONENT, GL_FLOAT, bytes));
            TRY(glDrawPixels(4, 4, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, bytes));
            TRY(glBitmap(8, 8, 0, 0, 1, 0, bytes));
            glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 0, 0);
            glBindFramebuffer(GL_FRAMEBUFFER, 0);
            glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
            TRY(glDrawPixels(2, 2, GL_RGBA, GL_UNSIGNED_BYTE, NULL));
            TRY(glDrawPixels(8, 8, GL_RGBA, GL_UNSIGNED_BYTE, NULL));
            TRY(glBitmap(8, 8, 0, 0, 1, 0, NULL));
            TRY(glBitmap(32, 32, 0, 0, 1, 0, NULL));
        }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glBegin(GL_POINTS);
    glDrawPixels(4, 4, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glEnd();
    errors("glDrawPixels inside");
    glBegin(GL_POINTS);
    glRectf(0, 0, 1, 1);
    glEnd();
    errors("glRectf inside");
}

/* Images of one, two and three dimensions, for all targets. */
static void targets(void)
{
    static const GLenum all[] = {
        GL_TEXTURE_1D, GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_NEGATIVE_Y,
        GL_TEXTURE_1D_ARRAY, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_BUFFER, GL_PROXY_TEXTURE_2D,
    };
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            note("target %zu", i);
            TRY(glTexImage1D(all[i], 0, GL_RGBA, 4, 0, GL_RGBA, GL_FLOAT, NULL));
            TRY(glTexImage2D(all[i], 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_FLOAT, NULL));
            TRY(glTexImage3D(all[i], 0, GL_RGBA, 4, 4, 6, 0, GL_RGBA, GL_FLOAT, NULL));
        }
}

/* Errors of glBegin. The program may call glGetError right after them, because no primitive is open
 * then. */
static void begins(void)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    for (int round = 0; round < ROUNDS; round++) {
        note("round %d", round);
        glBegin(GL_TRIANGLES);
        errors("begun");
        glColor3f(1, 1, 0);
        errors("begun and coloured");
        glVertex2f(0, 0);
        errors("with a vertex");
        glVertex2f(1, 0);
        glVertex2f(0, 1);
        glEnd();
        errors("ended");
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        glBegin(GL_TRIANGLES);
        glColor3f(0, 1, 1);
        errors("begun with an incomplete framebuffer");
        float color[4];
        glGetFloatv(GL_CURRENT_COLOR, color);
        note_floats("color", color, 4);
        glEnable(GL_DITHER);
        errors("glEnable");
        glEnd();
        errors("glEnd");
        glEnable(GL_RGBA);
        glBegin(GL_TRIANGLES);
        errors("begun after another mistake");
        glEnd();
        errors("glEnd");
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        glEnable(GL_RGBA);
        glBegin(GL_TRIANGLES);
        errors("begun after a mistake");
        glEnd();
        errors("glEnd");
    }
}

static void sub_images(void)
{
    GLuint textures[3];
    const GLubyte blocks[64] = {0};
    glGenTextures(3, textures);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            int side = i ? 8 : 32;
            glBindTexture(GL_TEXTURE_2D, textures[0]);
            glTexImage2D(GL_TEXTURE_2D, 0, i ? GL_DEPTH_COMPONENT24 : GL_RGBA8, side, side, 0, i ? GL_DEPTH_COMPONENT : GL_RGBA, GL_FLOAT, NULL);
            glBindTexture(GL_TEXTURE_3D, textures[1]);
            glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, side, side, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
            glBindTexture(GL_TEXTURE_1D, textures[2]);
            glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, side, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
            errors("images");
            for (int again = 0; again < 2; again++) {
                TRY(glTexSubImage3D(GL_TEXTURE_3D, 0, 4, 4, 1, 8, 8, 2, GL_RGBA, GL_UNSIGNED_BYTE, bytes));
                TRY(glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 3, 8, 8, 2, GL_RGBA, GL_UNSIGNED_BYTE, bytes));
                TRY(glTexSubImage1D(GL_TEXTURE_1D, 0, 4, 8, GL_RGBA, GL_UNSIGNED_BYTE, bytes));
                TRY(glTexSubImage1D(GL_TEXTURE_1D, 0, 4, 8, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, bytes));
                TRY(glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 4, 4, 0, 0, 8, 8));
                TRY(glCopyTexSubImage1D(GL_TEXTURE_1D, 0, 4, 0, 0, 8));
                TRY(glCopyTexSubImage3D(GL_TEXTURE_3D, 0, 4, 4, 1, 0, 0, 8, 8));
                TRY(glCopyTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 4, 0, 0, 8, 8));
                TRY(glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 8, 8, 1, GL_RGBA, GL_UNSIGNED_BYTE, bytes));
            }
        }
        glBindTexture(GL_TEXTURE_2D, textures[0]);
        for (int i = 0; i < 2; i++) {
            if (i)
                glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_COMPRESSED_RED_RGTC1, 8, 8, 0, 32, blocks);
            else
                glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
            errors("image");
            for (int again = 0; again < 2; again++) {
                TRY(glCompressedTexSubImage2D(GL_TEXTURE_2D, 0, 4, 4, 4, 4, GL_COMPRESSED_RED_RGTC1, 8, blocks));
                TRY(glCompressedTexSubImage2D(GL_TEXTURE_2D, 0, 4, 4, 4, 4, GL_COMPRESSED_RED_RGTC1, 16, blocks));
                TRY(glCompressedTexSubImage2D(GL_TEXTURE_2D, 0, 2, 4, 4, 4, GL_COMPRESSED_RED_RGTC1, 8, blocks));
                TRY(glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 4, 4));
            }
        }
    }
    glBegin(GL_POINTS);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 4, 4);
    glEnd();
    errors("glCopyTexSubImage2D inside");
}

/* The read buffer may be missing. */
static void copies(void)
{
    GLuint framebuffers[2], texture, image;
    glGenFramebuffers(2, framebuffers);
    glGenTextures(1, &texture);
    glGenTextures(1, &image);
    glBindTexture(GL_TEXTURE_2D, image);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        TRY(glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 16, 16));
        glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[0]);
        TRY(glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 16, 16));
        glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, image, 0);
        TRY(glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 16, 16));
        TRY(glReadBuffer(GL_NONE));
        TRY(glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 16, 16));
        TRY(glReadBuffer(GL_COLOR_ATTACHMENT0));
        TRY(glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 16, 16));
        glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 0, 0);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    }
}

static void clears(void)
{
    GLuint framebuffer, texture;
    const GLfloat color[4] = {0.1f, 0.2f, 0.3f, 1};
    const GLint integers[4] = {1, 2, 3, 4};
    const GLuint naturals[4] = {1, 2, 3, 4};
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    for (int round = 0; round < ROUNDS; round++)
        for (int attached = 0; attached < 3; attached++) {
            glBindFramebuffer(GL_FRAMEBUFFER, attached == 2 ? 0 : framebuffer);
            if (attached < 2)
                glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, attached ? texture : 0, 0);
            errors("attached");
            note("round %d, attached %d", round, attached);
            for (int again = 0; again < 2; again++) {
                TRY(glClearBufferfv(GL_COLOR, 0, color));
                TRY(glClearBufferfv(GL_COLOR, 99, color));
                TRY(glClearBufferfv(GL_DEPTH, 0, color));
                TRY(glClearBufferfv(GL_STENCIL, 0, color));
                TRY(glClearBufferiv(GL_STENCIL, 0, integers));
                TRY(glClearBufferiv(GL_DEPTH, 0, integers));
                TRY(glClearBufferuiv(GL_DEPTH, 0, naturals));
                TRY(glClearBufferfi(GL_DEPTH_STENCIL, 0, 1, 0));
                TRY(glClearBufferfi(GL_DEPTH_STENCIL, 1, 1, 0));
                TRY(glAccum(GL_ACCUM, 0.5f));
                TRY(glAccum(GL_RGBA, 0.5f));
            }
        }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glBegin(GL_POINTS);
    glClearBufferfv(GL_COLOR, 0, color);
    glEnd();
    errors("glClearBufferfv inside");
}

static void invalidations(void)
{
    GLuint framebuffer;
    const GLenum attached[] = {GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT}, own[] = {GL_COLOR, GL_DEPTH}, wrong[] = {GL_COLOR_ATTACHMENT0, GL_RGBA};
    if (!need_version(4, 3))
        return;
    glGenFramebuffers(1, &framebuffer);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++) {
            glBindFramebuffer(GL_FRAMEBUFFER, i ? framebuffer : 0);
            for (int again = 0; again < 2; again++) {
                TRY(glInvalidateFramebuffer(GL_FRAMEBUFFER, 2, attached));
                TRY(glInvalidateFramebuffer(GL_FRAMEBUFFER, 2, wrong));
                TRY(glInvalidateFramebuffer(GL_FRAMEBUFFER, -1, attached));
                TRY(glInvalidateFramebuffer(GL_RGBA, 1, attached));
                TRY(glInvalidateFramebuffer(GL_READ_FRAMEBUFFER, 1, own + 1));
                TRY(glInvalidateSubFramebuffer(GL_FRAMEBUFFER, 1, attached, 0, 0, 4, 4));
                TRY(glInvalidateSubFramebuffer(GL_FRAMEBUFFER, 1, attached, 0, 0, -4, 4));
                TRY(glMemoryBarrier(GL_ALL_BARRIER_BITS));
                TRY(glMemoryBarrierByRegion(GL_UNIFORM_BARRIER_BIT));
                TRY(glMemoryBarrierByRegion(GL_COMMAND_BARRIER_BIT));
                TRY(glTextureBarrier());
            }
        }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glBegin(GL_POINTS);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glEnd();
    errors("glMemoryBarrier inside");
}

/* Programs and sampler objects by name. They are deleted and made again. */
static void named(void)
{
    if (!need_version(4, 3))
        return;
    for (int round = 0; round < ROUNDS; round++) {
        GLuint program = build_program(VERTEX, FRAGMENT), sampler;
        GLint f = glGetUniformLocation(program, "f"), v = glGetUniformLocation(program, "v"), n = glGetUniformLocation(program, "n");
        errors("built");
        glGenSamplers(1, &sampler);
        for (int state = 0; state < 5; state++) {
            note("round %d, state %d", round, state);
            switch (state) {
            case 1:
                glUseProgram(program);
                break;
            case 2:
                glDeleteProgram(program);
                glDeleteSamplers(1, &sampler);
                break;
            case 3:
                glUseProgram(0);
                break;
            case 4:
                program = glCreateProgram();
                glGenSamplers(1, &sampler);
            }
            errors("state");
            for (int again = 0; again < 2; again++) {
                TRY(glProgramUniform1f(program, f, 1));
                TRY(glProgramUniform2fv(program, v, 2, numbers));
                TRY(glProgramUniform2fv(program, v, 3, numbers));
                TRY(glProgramUniform2fv(program, v, -1, numbers));
                TRY(glProgramUniform2f(program, f, 1, 1));
                TRY(glProgramUniform1ui(program, n, 1));
                TRY(glProgramUniform1f(program, 4000, 1));
                TRY(glUniformBlockBinding(program, 0, 0));
                TRY(glSamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_REPEAT));
                TRY(glSamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_RGBA));
                TRY(glSamplerParameterf(sampler, GL_TEXTURE_MAX_ANISOTROPY, 2));
                TRY(glSamplerParameterf(sampler, GL_TEXTURE_MAX_ANISOTROPY, 0.5f));
                TRY(glSamplerParameteri(sampler, GL_RGBA, GL_REPEAT));
            }
        }
    }
}

static void assembly(void)
{
    GLint most = 0;
    if (!need_extension("GL_ARB_vertex_program"))
        return;
    glGetProgramivARB(GL_VERTEX_PROGRAM_ARB, GL_MAX_PROGRAM_ENV_PARAMETERS_ARB, &most);
    for (int round = 0; round < ROUNDS; round++) {
        TRY(glProgramEnvParameter4fARB(GL_VERTEX_PROGRAM_ARB, 3, 1, 2, 3, 4));
        TRY(glProgramEnvParameter4fvARB(GL_VERTEX_PROGRAM_ARB, 3, numbers));
        TRY(glProgramEnvParameter4fARB(GL_VERTEX_PROGRAM_ARB, most, 1, 2, 3, 4));
        TRY(glProgramEnvParameter4fARB(GL_RGBA, 3, 1, 2, 3, 4));
        TRY(glProgramLocalParameter4fARB(GL_VERTEX_PROGRAM_ARB, 3, 1, 2, 3, 4));
        TRY(glProgramLocalParameter4fARB(GL_VERTEX_PROGRAM_ARB, 1 << 20, 1, 2, 3, 4));
        glBegin(GL_POINTS);
        glProgramEnvParameter4fARB(GL_VERTEX_PROGRAM_ARB, 3, 1, 2, 3, 4);
        glEnd();
        errors("inside");
    }
}

static void computes(void)
{
    const char *source = "#version 430\nlayout(local_size_x = 4) in; layout(std430, binding = 0) buffer Out { uint n[]; };\nvoid main() { n[gl_GlobalInvocationID.x] = 1u; }";
    if (!need_version(4, 3))
        return;
    GLuint shader = glCreateShader(GL_COMPUTE_SHADER), program = glCreateProgram(), other = build_program(VERTEX, FRAGMENT), buffer = make_buffer(GL_SHADER_STORAGE_BUFFER, 256, NULL);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glLinkProgram(program);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
    errors("linked");
    for (int round = 0; round < ROUNDS; round++) {
        GLuint used[] = {program, other, 0};
        for (int i = 0; i < 3; i++) {
            glUseProgram(used[i]);
            errors("used");
            for (int again = 0; again < 2; again++) {
                TRY(glDispatchCompute(4, 1, 1));
                TRY(glDispatchCompute(0, 1, 1));
                TRY(glDispatchCompute(0xffffffff, 1, 1));
                TRY(glShaderStorageBlockBinding(program, 0, 0));
                TRY(glShaderStorageBlockBinding(program, 9, 0));
            }
        }
    }
    glUseProgram(0);
}

/* A program is made while the client has predictions about another program. */
static void made_meanwhile(void)
{
    GLuint program = build_program(VERTEX, FRAGMENT);
    GLint f = glGetUniformLocation(program, "f");
    glUseProgram(program);
    for (int round = 0; round < ROUNDS; round++) {
        TRY(glUniform1f(f, 1));
        TRY(glUniform2f(f, 1, 1));
        GLuint shader = glCreateShader(GL_VERTEX_SHADER);
        const char *source = round ? VERTEX : "wrong";
        glShaderSource(shader, 1, &source, NULL);
        glCompileShader(shader);
        errors("compiled");
        TRY(glAttachShader(program, shader));
        TRY(glAttachShader(program, shader));
        TRY(glUniform1f(f, 1));
        TRY(glDetachShader(program, shader));
        TRY(glDeleteShader(shader));
        TRY(glUniform1f(f, 1));
        TRY(glValidateProgram(program));
        TRY(glLinkProgram(program));
        TRY(glUniform1f(f, 1));
        GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        TRY(glDeleteSync(fence));
        TRY(glDeleteSync(fence));
    }
    glUseProgram(0);
}

CONFORM("sure_errors", COMPAT, {"lists", lists}, {"lists_that_draw", lists_that_draw}, {"lists_that_change", lists_that_change}, {"lists_of_programs", lists_of_programs}, {"names", names}, {"materials", materials}, {"pixels", pixels}, {"targets", targets}, {"begins", begins}, {"sub_images", sub_images}, {"copies", copies}, {"clears", clears},
        {"invalidations", invalidations}, {"named", named}, {"assembly", assembly}, {"computes", computes}, {"made_meanwhile", made_meanwhile})
