/* Programs in assembly language: ARB_vertex_program, ARB_fragment_program and their relatives. */
#include "conform.h"

static const char *const plain_vertex = "!!ARBvp1.0\n"
                                        "PARAM m[4] = {state.matrix.mvp};\n"
                                        "DP4 result.position.x, m[0], vertex.position;\n"
                                        "DP4 result.position.y, m[1], vertex.position;\n"
                                        "DP4 result.position.z, m[2], vertex.position;\n"
                                        "DP4 result.position.w, m[3], vertex.position;\n"
                                        "MOV result.color, vertex.color;\n"
                                        "MOV result.texcoord[0], vertex.texcoord[0];\n"
                                        "END\n";

static const char *const bending_vertex = "!!ARBvp1.0\n"
                                          "ATTRIB shift = vertex.attrib[5];\n"
                                          "PARAM bend = program.env[3];\n"
                                          "PARAM tint[2] = {program.local[0..1]};\n"
                                          "PARAM half = {0.5, 0.5, 0.5, 1.0};\n"
                                          "TEMP p, c;\n"
                                          "MUL p, vertex.position, bend;\n"
                                          "ADD p.xy, p, shift;\n"
                                          "MOV p.w, half.w;\n"
                                          "MOV result.position, p;\n"
                                          "MUL c, vertex.normal, half.x;\n"
                                          "ADD c, c, half.x;\n"
                                          "MAD result.color, c, tint[0], tint[1];\n"
                                          "END\n";

static const char *const plain_fragment = "!!ARBfp1.0\n"
                                          "MOV result.color, fragment.color;\n"
                                          "END\n";

static const char *const checked_fragment = "!!ARBfp1.0\n"
                                            "TEMP t, f;\n"
                                            "TEX t, fragment.texcoord[0], texture[0], 2D;\n"
                                            "MUL f, fragment.position, program.env[0];\n"
                                            "FRC f, f;\n"
                                            "SUB f.x, f.x, program.local[2].x;\n"
                                            "KIL f.x;\n"
                                            "LRP result.color, program.local[1], t, fragment.color;\n"
                                            "END\n";

static bool string(GLenum target, const char *text)
{
    GLint position = -7;
    glProgramStringARB(target, GL_PROGRAM_FORMAT_ASCII_ARB, (GLsizei)strlen(text), text);
    glGetIntegerv(GL_PROGRAM_ERROR_POSITION_ARB, &position);
    note("error at %d: '%s'", position, (const char *)glGetString(GL_PROGRAM_ERROR_STRING_ARB));
    errors("glProgramStringARB");
    return position == -1;
}

static GLuint program(GLenum target, const char *text)
{
    GLuint name;
    glGenProgramsARB(1, &name);
    glBindProgramARB(target, name);
    string(target, text);
    glEnable(target);
    return name;
}

static bool start(void)
{
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    return need_extension("GL_ARB_vertex_program") && need_extension("GL_ARB_fragment_program");
}

static void texture(void)
{
    unsigned char texels[16 * 16 * 4];
    checkerboard(texels, 16, 16, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

static void both(void)
{
    if (!start())
        return;
    program(GL_VERTEX_PROGRAM_ARB, plain_vertex);
    program(GL_FRAGMENT_PROGRAM_ARB, checked_fragment);
    texture();
    glProgramEnvParameter4fARB(GL_FRAGMENT_PROGRAM_ARB, 0, 1.0f / 32, 1.0f / 16, 1, 1);
    glProgramLocalParameter4fARB(GL_FRAGMENT_PROGRAM_ARB, 2, 0.25f, 0, 0, 0);
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        glProgramLocalParameter4dARB(GL_FRAGMENT_PROGRAM_ARB, 1, i / 3.0, 0.5, 1 - i / 3.0, 1);
        glLoadIdentity();
        glRotatef(20.0f * (float)i, 0, 0, 1);
        color_of(i);
        square(0.8f);
    }
    errors("both");
}

static void attributes(void)
{
    if (!start())
        return;
    static const GLfloat corners[] = {-0.4f, -0.4f, 0, 0.4f, -0.4f, 0, 0.4f, 0.4f, 0, -0.4f, 0.4f, 0};
    static const GLfloat shifts[] = {0.3f, 0.3f, 0.5f, 0.3f, 0.3f, 0.5f, 0.2f, 0.2f};
    program(GL_VERTEX_PROGRAM_ARB, bending_vertex);
    glProgramEnvParameter4fARB(GL_VERTEX_PROGRAM_ARB, 3, 1, 0.75f, 1, 1);
    const GLdouble tint[4] = {0.5, 1, 0.25, 1};
    glProgramLocalParameter4dvARB(GL_VERTEX_PROGRAM_ARB, 0, tint);
    glProgramLocalParameter4fARB(GL_VERTEX_PROGRAM_ARB, 1, 0.25f, 0, 0.5f, 0);
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 4; i++) {
        glNormal3f((float)(i & 1), (float)(i >> 1), 0.5f);
        glVertexAttrib2fARB(5, -0.5f, -0.4f + 0.05f * (float)i);
        glVertexAttrib3fARB(0, (float)(i & 1) * 0.5f, (float)(i >> 1) * 0.5f, 0);
    }
    glEnd();
    glVertexPointer(3, GL_FLOAT, 0, corners);
    glEnableClientState(GL_VERTEX_ARRAY);
    glVertexAttribPointerARB(5, 2, GL_FLOAT, GL_FALSE, 0, shifts);
    glEnableVertexAttribArrayARB(5);
    glDrawArrays(GL_QUADS, 0, 4);
    errors("attributes");
}

static void parameters(void)
{
    if (!start())
        return;
    static const GLenum targets[2] = {GL_VERTEX_PROGRAM_ARB, GL_FRAGMENT_PROGRAM_ARB};
    GLfloat f[4], many[12];
    GLdouble d[4];
    for (int i = 0; i < 12; i++)
        many[i] = (float)i * 1.1f;
    program(GL_VERTEX_PROGRAM_ARB, plain_vertex);
    program(GL_FRAGMENT_PROGRAM_ARB, plain_fragment);
    for (int t = 0; t < 2; t++) {
        GLenum target = targets[t];
        glProgramEnvParameter4dARB(target, 1, 0.1, 0.2, 1e30, -1e-40);
        glProgramEnvParameter4dvARB(target, 2, (const GLdouble[]){1, 2, 3, 1.0 / 3});
        glProgramEnvParameter4fvARB(target, 3, many + 4);
        glProgramLocalParameter4fvARB(target, 0, many);
        glProgramLocalParameter4fARB(target, 95, 9, 8, 7, 6);
        if (has_extension("GL_EXT_gpu_program_parameters")) {
            glProgramEnvParameters4fvEXT(target, 5, 3, many);
            glProgramLocalParameters4fvEXT(target, 6, 2, many);
            errors("several");
            glProgramEnvParameters4fvEXT(target, 255, 3, many);
            errors("several env beyond");
            glProgramLocalParameters4fvEXT(target, 4094, 3, many);
            errors("several local beyond");
            glProgramEnvParameters4fvEXT(target, 5, 0, many);
            errors("no env");
            glProgramLocalParameters4fvEXT(target, 5, 0, many);
            errors("no local");
        }
        for (GLuint i = 0; i < 8; i++) {
            glGetProgramEnvParameterfvARB(target, i, f);
            note_floats("env", f, 4);
            glGetProgramLocalParameterfvARB(target, i, f);
            note_floats("local", f, 4);
            glGetProgramEnvParameterdvARB(target, i, d);
            note("env %.17g %.17g %.17g %.17g", d[0], d[1], d[2], d[3]);
            glGetProgramLocalParameterdvARB(target, i, d);
            note("local %.17g %.17g %.17g %.17g", d[0], d[1], d[2], d[3]);
        }
        errors("gets");
        glProgramEnvParameter4fARB(target, 100000, 1, 2, 3, 4);
        errors("env");
        glProgramLocalParameter4fARB(target, 100000, 1, 2, 3, 4);
        errors("local");
        glGetProgramEnvParameterfvARB(target, 100000, f);
        errors("get env");
        glGetProgramLocalParameterdvARB(target, 100000, d);
        errors("get local");
    }
    f[0] = 7777;
    glProgramEnvParameter4fARB(GL_TEXTURE_2D, 0, 1, 2, 3, 4);
    errors("env of an invalid target");
    glProgramLocalParameter4fvARB(GL_TEXTURE_2D, 0, many);
    errors("local of an invalid target");
    glGetProgramEnvParameterfvARB(GL_TEXTURE_2D, 0, f);
    errors("get env of an invalid target");
    glGetProgramLocalParameterfvARB(GL_TEXTURE_2D, 0, f);
    errors("get local of an invalid target");
    note("untouched: %g", f[0]);
    no_picture();
}

static void mistakes(void)
{
    if (!start())
        return;
    program(GL_VERTEX_PROGRAM_ARB, plain_vertex);
    string(GL_VERTEX_PROGRAM_ARB, "!!ARBvp1.0\nMOV result.position, vertex.position\nEND\n");
    string(GL_VERTEX_PROGRAM_ARB, "!!ARBfp1.0\nEND\n");
    string(GL_VERTEX_PROGRAM_ARB, "");
    string(GL_VERTEX_PROGRAM_ARB, "!!ARBvp1.0\nTEMP a;\nMOV b, a;\nEND\n");
    string(GL_VERTEX_PROGRAM_ARB, "!!ARBvp1.0\nTEMP a, a;\nEND\n");
    string(GL_VERTEX_PROGRAM_ARB, "!!ARBvp1.0\nPARAM p = program.local[5000];\nEND\n");
    string(GL_VERTEX_PROGRAM_ARB, "!!ARBvp1.0\nMOV result.position, vertex.position;\n# no end\n");
    program(GL_FRAGMENT_PROGRAM_ARB, plain_fragment);
    string(GL_FRAGMENT_PROGRAM_ARB, "!!ARBfp1.0\nOPTION no_such_option;\nEND\n");
    string(GL_FRAGMENT_PROGRAM_ARB, "!!ARBfp1.0\nTEMP t;\nTEX t, fragment.texcoord[0], texture[0], 4D;\nEND\n");
    string(GL_FRAGMENT_PROGRAM_ARB, "!!ARBfp1.0\nOPTION ARB_fog_linear;\nMOV result.color, fragment.color;\nEND\n");
    glProgramStringARB(GL_VERTEX_PROGRAM_ARB, GL_RGBA, 4, "abcd");
    errors("format");
    glProgramStringARB(GL_TEXTURE_2D, GL_PROGRAM_FORMAT_ASCII_ARB, 4, "abcd");
    errors("target");
    glBindProgramARB(GL_TEXTURE_2D, 0);
    errors("bind to an invalid target");
    /* A program that did not compile cannot be used for drawing. */
    glBindProgramARB(GL_VERTEX_PROGRAM_ARB, 777);
    string(GL_VERTEX_PROGRAM_ARB, "!!ARBvp1.0\nnonsense;\nEND\n");
    glBegin(GL_TRIANGLES);
    glVertex2f(0, 0);
    glVertex2f(1, 0);
    glVertex2f(0, 1);
    glEnd();
    errors("a triangle without a program");
    glBegin(GL_POINTS);
    glBindProgramARB(GL_VERTEX_PROGRAM_ARB, 1);
    glProgramStringARB(GL_VERTEX_PROGRAM_ARB, GL_PROGRAM_FORMAT_ASCII_ARB, 4, "abcd");
    glEnd();
    errors("inside");
}

static void queries(void)
{
    if (!start())
        return;
    static const GLenum names[] = {
        GL_PROGRAM_LENGTH_ARB,
        GL_PROGRAM_FORMAT_ARB,
        GL_PROGRAM_INSTRUCTIONS_ARB,
        GL_MAX_PROGRAM_INSTRUCTIONS_ARB,
        GL_PROGRAM_NATIVE_INSTRUCTIONS_ARB,
        GL_PROGRAM_TEMPORARIES_ARB,
        GL_MAX_PROGRAM_TEMPORARIES_ARB,
        GL_PROGRAM_PARAMETERS_ARB,
        GL_MAX_PROGRAM_PARAMETERS_ARB,
        GL_PROGRAM_ATTRIBS_ARB,
        GL_MAX_PROGRAM_ATTRIBS_ARB,
        GL_PROGRAM_ADDRESS_REGISTERS_ARB,
        GL_MAX_PROGRAM_ADDRESS_REGISTERS_ARB,
        GL_MAX_PROGRAM_LOCAL_PARAMETERS_ARB,
        GL_MAX_PROGRAM_ENV_PARAMETERS_ARB,
        GL_PROGRAM_UNDER_NATIVE_LIMITS_ARB,
        GL_PROGRAM_ALU_INSTRUCTIONS_ARB,
        GL_PROGRAM_TEX_INSTRUCTIONS_ARB,
        GL_PROGRAM_TEX_INDIRECTIONS_ARB,
        GL_MAX_PROGRAM_TEX_INDIRECTIONS_ARB,
        GL_TEXTURE_2D,
    };
    GLuint vertex = program(GL_VERTEX_PROGRAM_ARB, bending_vertex), fragment = program(GL_FRAGMENT_PROGRAM_ARB, checked_fragment);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        GLint v = -3, f = -3;
        glGetProgramivARB(GL_VERTEX_PROGRAM_ARB, names[i], &v);
        errors("vertex");
        glGetProgramivARB(GL_FRAGMENT_PROGRAM_ARB, names[i], &f);
        errors("fragment");
        note("%04x: %d %d", names[i], v, f);
    }
    GLint bound = -1;
    glGetProgramivARB(GL_VERTEX_PROGRAM_ARB, GL_PROGRAM_BINDING_ARB, &bound);
    note("vertex bound: %d", bound == (GLint)vertex);
    glGetProgramivARB(GL_FRAGMENT_PROGRAM_ARB, GL_PROGRAM_BINDING_ARB, &bound);
    note("fragment bound: %d", bound == (GLint)fragment);
    char text[1024];
    memset(text, '.', sizeof text);
    glGetProgramStringARB(GL_VERTEX_PROGRAM_ARB, GL_PROGRAM_STRING_ARB, text);
    note("as given: %d, untouched behind: %d", !memcmp(text, bending_vertex, strlen(bending_vertex)), text[strlen(bending_vertex)] == '.');
    glGetProgramStringARB(GL_VERTEX_PROGRAM_ARB, GL_PROGRAM_LENGTH_ARB, text);
    errors("string of an invalid name");
    glGetProgramStringARB(GL_TEXTURE_2D, GL_PROGRAM_STRING_ARB, text);
    errors("string of an invalid target");
    glGetProgramivARB(GL_TEXTURE_2D, GL_PROGRAM_LENGTH_ARB, &bound);
    errors("length of an invalid target");
    ENABLED(GL_VERTEX_PROGRAM_ARB);
    ENABLED(GL_FRAGMENT_PROGRAM_ARB);
    BOOLS(GL_VERTEX_PROGRAM_TWO_SIDE_ARB, 1);
    INTS(GL_MAX_PROGRAM_MATRICES_ARB, 1);
    INTS(GL_MAX_PROGRAM_MATRIX_STACK_DEPTH_ARB, 1);
    INTS(GL_MAX_VERTEX_ATTRIBS_ARB, 1);
    INTS(GL_MAX_TEXTURE_COORDS_ARB, 1);
    INTS(GL_MAX_TEXTURE_IMAGE_UNITS_ARB, 1);
    errors("queries");
    no_picture();
}

static void names(void)
{
    if (!start())
        return;
    GLuint names[4] = {0};
    glGenProgramsARB(4, names);
    note("different: %d", names[0] && names[1] && names[0] != names[1] && names[2] != names[3]);
    note("generated: %d", glIsProgramARB(names[0]));
    glBindProgramARB(GL_VERTEX_PROGRAM_ARB, names[0]);
    note("bound: %d", glIsProgramARB(names[0]));
    glBindProgramARB(GL_FRAGMENT_PROGRAM_ARB, names[0]);
    errors("the other target");
    glBindProgramARB(GL_FRAGMENT_PROGRAM_ARB, 4711);
    note("made up: %d, nothing: %d, zero: %d", glIsProgramARB(4711), glIsProgramARB(4712), glIsProgramARB(0));
    glGenProgramsARB(-1, names);
    errors("negative count");
    GLint bound = -1;
    glDeleteProgramsARB(1, names);
    glGetProgramivARB(GL_VERTEX_PROGRAM_ARB, GL_PROGRAM_BINDING_ARB, &bound);
    note("deleted: %d, bound now: %d", glIsProgramARB(names[0]), bound);
    GLuint again = 0;
    glGenProgramsARB(1, &again);
    note("again: %d", again != 0 && !glIsProgramARB(again));
    const GLuint odd[3] = {0, 4711, 99999};
    glDeleteProgramsARB(3, odd);
    glDeleteProgramsARB(-1, odd);
    errors("deleting");
    glGetProgramivARB(GL_FRAGMENT_PROGRAM_ARB, GL_PROGRAM_BINDING_ARB, &bound);
    note("bound now: %d, still a program: %d", bound, glIsProgramARB(4711));
    note("a program of GLSL has another name: %d", glIsProgramARB(glCreateProgram()));
    errors("names");
    no_picture();
}

static void in_lists(void)
{
    if (!start())
        return;
    GLuint vertex = program(GL_VERTEX_PROGRAM_ARB, plain_vertex), fragment = program(GL_FRAGMENT_PROGRAM_ARB, plain_fragment);
    GLuint other = program(GL_FRAGMENT_PROGRAM_ARB, checked_fragment);
    texture();
    glNewList(1, GL_COMPILE);
    glEnable(GL_FRAGMENT_PROGRAM_ARB);
    glBindProgramARB(GL_FRAGMENT_PROGRAM_ARB, other);
    glProgramEnvParameter4fARB(GL_FRAGMENT_PROGRAM_ARB, 0, 1.0f / 32, 1.0f / 16, 1, 1);
    glProgramLocalParameter4fARB(GL_FRAGMENT_PROGRAM_ARB, 1, 0.5f, 0.5f, 0.5f, 0.5f);
    glProgramLocalParameter4fARB(GL_FRAGMENT_PROGRAM_ARB, 2, 0.4f, 0, 0, 0);
    square(0.6f);
    glEndList();
    GLint bound = 0;
    GLfloat f[4];
    glGetProgramivARB(GL_FRAGMENT_PROGRAM_ARB, GL_PROGRAM_BINDING_ARB, &bound);
    glGetProgramLocalParameterfvARB(GL_FRAGMENT_PROGRAM_ARB, 1, f);
    note("not yet: %d %g", bound == (GLint)other, f[0]);
    glBindProgramARB(GL_FRAGMENT_PROGRAM_ARB, fragment);
    glColor3f(1, 0.5f, 0);
    square(0.9f);
    glColor3f(0, 0.5f, 1);
    glCallList(1);
    glGetProgramivARB(GL_FRAGMENT_PROGRAM_ARB, GL_PROGRAM_BINDING_ARB, &bound);
    glGetProgramLocalParameterfvARB(GL_FRAGMENT_PROGRAM_ARB, 1, f);
    note("now: %d %g %d", bound == (GLint)other, f[0], glIsProgramARB(vertex));
    errors("in lists");
}

static void matrices(void)
{
    if (!start())
        return;
    GLfloat m[16];
    GLint value = -1;
    glMatrixMode(GL_MATRIX0_ARB);
    glLoadIdentity();
    glScalef(0.5f, 0.25f, 1);
    glPushMatrix();
    glTranslatef(0.5f, 0, 0);
    glGetIntegerv(GL_CURRENT_MATRIX_STACK_DEPTH_ARB, &value);
    glGetFloatv(GL_CURRENT_MATRIX_ARB, m);
    note_floats("current", m, 16);
    note("depth %d", value);
    glPopMatrix();
    glMatrixMode(GL_MATRIX0_ARB + 3);
    glLoadIdentity();
    glRotatef(30, 0, 0, 1);
    glGetFloatv(GL_MATRIX0_ARB, m);
    note_floats("first", m, 16);
    glGetFloatv(GL_TRANSPOSE_CURRENT_MATRIX_ARB, m);
    note_floats("transposed", m, 16);
    INTS(GL_MATRIX_MODE, 1);
    glMatrixMode(GL_MATRIX0_ARB + 31);
    errors("a matrix that does not exist");
    glMatrixMode(GL_MODELVIEW);
    program(GL_VERTEX_PROGRAM_ARB, "!!ARBvp1.0\n"
                                   "PARAM a[4] = {state.matrix.program[0]};\n"
                                   "PARAM b[4] = {state.matrix.program[3].transpose};\n"
                                   "TEMP p;\n"
                                   "DP4 p.x, a[0], vertex.position; DP4 p.y, a[1], vertex.position;\n"
                                   "DP4 p.z, a[2], vertex.position; DP4 p.w, a[3], vertex.position;\n"
                                   "DP4 result.position.x, b[0], p; DP4 result.position.y, b[1], p;\n"
                                   "DP4 result.position.z, b[2], p; DP4 result.position.w, b[3], p;\n"
                                   "MOV result.color, vertex.color;\n"
                                   "END\n");
    glColor3f(0.9f, 0.7f, 0.1f);
    square(0.9f);
    errors("matrices");
}

static void shadow(void)
{
    if (!start() || !need_extension("GL_ARB_fragment_program_shadow"))
        return;
    GLfloat depths[64];
    for (int i = 0; i < 64; i++)
        depths[i] = (float)i / 63;
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, 8, 8, 0, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_R_TO_TEXTURE);
    program(GL_FRAGMENT_PROGRAM_ARB, "!!ARBfp1.0\n"
                                     "OPTION ARB_fragment_program_shadow;\n"
                                     "TEMP c, t;\n"
                                     "MOV c, fragment.texcoord[0];\n"
                                     "MOV c.z, program.local[0].x;\n"
                                     "TEX t, c, texture[0], SHADOW2D;\n"
                                     "MUL result.color, t, fragment.color;\n"
                                     "MOV result.depth.z, program.local[0].x;\n"
                                     "END\n");
    for (int i = 0; i < 4; i++) {
        cell(i % 2, i / 2, 2, 2);
        glProgramLocalParameter4fARB(GL_FRAGMENT_PROGRAM_ARB, 0, 0.2f + 0.2f * (float)i, 0, 0, 0);
        color_of(i + 3);
        square(0.9f);
    }
    errors("shadow");
}

/* The program is long enough for several messages. */
static void long_program(void)
{
    if (!start())
        return;
    static char text[60000];
    strcpy(text, "!!ARBfp1.0\nTEMP a;\nMOV a, fragment.color;\n");
    for (int i = 0; i < 300; i++)
        sprintf(text + strlen(text), "MAD a, a, {0.999, 0.998, 1.001, 1}, {0.0001, 0.0002, 0, 0}; # step %d of a long program, with a long comment behind it\n",
                i);
    strcat(text, "MOV result.color, a;\nEND\n");
    program(GL_FRAGMENT_PROGRAM_ARB, text);
    GLint length = 0;
    glGetProgramivARB(GL_FRAGMENT_PROGRAM_ARB, GL_PROGRAM_LENGTH_ARB, &length);
    note("length: %d", length == (GLint)strlen(text));
    char *back = calloc(1, (size_t)length + 1);
    glGetProgramStringARB(GL_FRAGMENT_PROGRAM_ARB, GL_PROGRAM_STRING_ARB, back);
    note("the same: %d", !strcmp(back, text));
    free(back);
    glColor3f(0.8f, 0.6f, 0.9f);
    square(0.8f);
    errors("long");
}

CONFORM("assembly_programs", COMPAT, {"both", both}, {"attributes", attributes}, {"parameters", parameters}, {"mistakes", mistakes},
        {"queries", queries}, {"names", names}, {"in_lists", in_lists}, {"matrices", matrices}, {"shadow", shadow}, {"long_program", long_program})
