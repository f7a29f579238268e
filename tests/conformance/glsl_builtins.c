/* Built-in variables of shaders, with immediate mode, arrays, elements and instances; and state
 * that only shaders can see. */
#include "conform.h"

static GLuint use(const char *vertex, const char *fragment)
{
    GLuint program = build_program(vertex, fragment);
    glUseProgram(program);
    return program;
}

static const char color_fragment[] = "#version 130\nin vec4 color; void main() { gl_FragColor = color; }";

static void grid_arrays(GLfloat (*places)[2], int count)
{
    for (int i = 0; i < count; i++) {
        places[i][0] = -0.9f + 0.2f * (float)(i / 3 % 9) + (i % 3 == 1 ? 0.15f : 0);
        places[i][1] = -0.9f + 0.2f * (float)(i / 27) + (i % 3 == 2 ? 0.15f : 0);
    }
}

static void vertex_id(void)
{
    GLfloat places[243][2];
    GLushort order[60];
    if (!need_version(3, 0))
        return;
    use("#version 130\nin vec4 place; out vec4 color;\n"
        "void main() { gl_Position = gl_Vertex; int i = gl_VertexID; color = vec4(float(i % 7) / 6.0, float(i % 11) / 10.0, float(i) / 250.0, 1.0); }",
        color_fragment);
    grid_arrays(places, 243);
    glVertexPointer(2, GL_FLOAT, 0, places);
    glEnableClientState(GL_VERTEX_ARRAY);
    glDrawArrays(GL_TRIANGLES, 0, 81);
    glDrawArrays(GL_TRIANGLES, 90, 60);
    for (int i = 0; i < 60; i++)
        order[i] = (GLushort)(209 - i);
    glDrawElements(GL_TRIANGLES, 60, GL_UNSIGNED_SHORT, order);
    if (has_version(3, 2))
        glDrawElementsBaseVertex(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, (void *)(const GLushort[]){0, 1, 2}, 216);
    errors("vertex id");
}

static void instance_id(void)
{
    GLfloat places[3][2] = {{0, 0}, {0.15f, 0}, {0, 0.15f}};
    if (!need_version(3, 1))
        return;
    use("#version 140\nin vec4 place; out vec4 color;\n"
        "void main() { int i = gl_InstanceID; gl_Position = place + vec4(-0.9 + 0.18 * float(i % 10), -0.9 + 0.18 * float(i / 10), 0.0, 0.0);\n"
        "color = vec4(float(i % 4) / 3.0, float(i % 6) / 5.0, float(gl_VertexID) / 2.0, 1.0); }",
        "#version 140\nin vec4 color; out vec4 result; void main() { result = color; }");
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glDrawArraysInstanced(GL_TRIANGLES, 0, 3, 70);
    glViewport(0, 180, SIZE, 60);
    glDrawElementsInstanced(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, (const GLubyte[]){2, 1, 0}, 30);
    errors("instance id");
}

static void primitive_id(void)
{
    GLfloat places[243][2];
    if (!need_version(3, 2))
        return;
    use("#version 150 compatibility\nvoid main() { gl_Position = gl_Vertex; }",
        "#version 150 compatibility\nvoid main() { int i = gl_PrimitiveID; gl_FragColor = vec4(float(i % 5) / 4.0, float(i % 3) / 2.0, float(i) / 80.0, 1.0); }");
    grid_arrays(places, 243);
    glVertexPointer(2, GL_FLOAT, 0, places);
    glEnableClientState(GL_VERTEX_ARRAY);
    glDrawArrays(GL_TRIANGLES, 0, 120);
    glBegin(GL_TRIANGLES);
    for (int i = 120; i < 243; i++)
        glVertex2fv(places[i]);
    glEnd();
    errors("primitive id");
}

static void fragment_variables(void)
{
    if (!need_version(2, 0))
        return;
    use("void main() { gl_Position = gl_ModelViewProjectionMatrix * gl_Vertex; gl_FrontColor = vec4(0.2, 0.8, 0.2, 1.0); gl_BackColor = vec4(0.8, 0.2, 0.2, 1.0); }",
        "void main() { vec2 p = mod(gl_FragCoord.xy, 32.0) / 32.0; gl_FragColor = gl_FrontFacing ? vec4(p, gl_FragCoord.z, 1.0) : vec4(gl_FragCoord.z, p, 1.0);\n"
        "if (gl_FragCoord.x > 200.0) gl_FragColor = gl_Color; if (p.x < 0.1) discard; gl_FragDepth = p.y; }");
    glEnable(GL_VERTEX_PROGRAM_TWO_SIDE);
    glEnable(GL_DEPTH_TEST);
    glRotatef(40, 1, 1, 0);
    square(0.6f);
    glRotatef(180, 0, 1, 0);
    glTranslatef(0.4f, 0.3f, 0);
    square(0.6f);
    errors("fragment variables");
}

/* Fixed-function state as shaders read it. */
static void fixed_function_state(void)
{
    if (!need_version(2, 0))
        return;
    use("varying vec4 color; void main() { gl_Position = ftransform(); vec3 n = normalize(gl_NormalMatrix * gl_Normal);\n"
        "color = gl_FrontMaterial.diffuse * gl_LightSource[1].diffuse * max(dot(n, normalize(gl_LightSource[1].position.xyz)), 0.0)\n"
        "+ gl_LightModel.ambient + gl_TextureMatrix[1] * gl_MultiTexCoord1 * 0.1 + gl_Fog.color * 0.2 + vec4(gl_DepthRange.far * 0.1);\n"
        "gl_ClipVertex = gl_ModelViewMatrix * gl_Vertex; gl_TexCoord[0] = gl_MultiTexCoord0; gl_FogFragCoord = gl_FogCoord; gl_FrontSecondaryColor = gl_SecondaryColor; }",
        "varying vec4 color; void main() { gl_FragColor = color + vec4(gl_TexCoord[0].st * 0.3, gl_FogFragCoord, 0.0) + gl_SecondaryColor * 0.5; }");
    glMaterialfv(GL_FRONT, GL_DIFFUSE, (const float[]){0.9f, 0.4f, 0.2f, 1});
    glLightfv(GL_LIGHT1, GL_DIFFUSE, (const float[]){0.5f, 0.9f, 0.9f, 1});
    glLightfv(GL_LIGHT1, GL_POSITION, (const float[]){0.4f, 0.3f, 1, 0});
    glFogfv(GL_FOG_COLOR, (const float[]){0.1f, 0.2f, 0.9f, 1});
    glActiveTexture(GL_TEXTURE1);
    glMatrixMode(GL_TEXTURE);
    glRotatef(30, 0, 0, 1);
    glMatrixMode(GL_MODELVIEW);
    glClipPlane(GL_CLIP_PLANE0, (const GLdouble[]){1, 1, 0, 0.8});
    glEnable(GL_CLIP_PLANE0);
    glBegin(GL_QUADS);
    for (int corner = 0; corner < 4; corner++) {
        float x = corner == 1 || corner == 2 ? 1 : -1, y = corner >= 2 ? 1 : -1;
        glNormal3f(x * 0.5f, y * 0.5f, 1);
        glTexCoord2f(x, y);
        glMultiTexCoord2f(GL_TEXTURE1, y, x);
        glFogCoordf(x * 0.2f);
        glSecondaryColor3f(0, y, 0);
        glVertex2f(x * 0.9f, y * 0.9f);
    }
    glEnd();
    errors("fixed function state");
}

static void geometry_shader(void)
{
    static const char *const sources[] = {
        "#version 150 compatibility\nout vec4 tint; void main() { gl_Position = gl_Vertex; tint = gl_Color; }",
        "#version 150 compatibility\nlayout(points) in; layout(triangle_strip, max_vertices = 4) out; in vec4 tint[]; out vec4 color;\n"
        "void main() { for (int i = 0; i < 4; i++) { color = tint[0] * (0.4 + 0.2 * float(i));\n"
        "gl_Position = gl_in[0].gl_Position + vec4(float(i % 2) * 0.1, float(i / 2) * 0.1, 0.0, 0.0); EmitVertex(); } EndPrimitive(); }",
        "#version 150 compatibility\nin vec4 color; void main() { gl_FragColor = color; }"};
    static const GLenum types[] = {GL_VERTEX_SHADER, GL_GEOMETRY_SHADER, GL_FRAGMENT_SHADER};
    if (!need_version(3, 2))
        return;
    GLuint program = glCreateProgram();
    for (int i = 0; i < 3; i++) {
        GLuint shader = glCreateShader(types[i]);
        glShaderSource(shader, 1, &sources[i], NULL);
        glCompileShader(shader);
        glAttachShader(program, shader);
    }
    glLinkProgram(program);
    glUseProgram(program);
    static const GLenum names[] = {GL_GEOMETRY_VERTICES_OUT, GL_GEOMETRY_INPUT_TYPE, GL_GEOMETRY_OUTPUT_TYPE};
    for (int i = 0; i < 3; i++) {
        GLint value = -1;
        glGetProgramiv(program, names[i], &value);
        note("%04x: %d", names[i], value);
    }
    glBegin(GL_POINTS);
    for (int i = 0; i < 100; i++) {
        color_of(i);
        glVertex2f(-0.95f + 0.19f * (float)(i % 10), -0.95f + 0.19f * (float)(i / 10));
    }
    glEnd();
    errors("geometry shader");
    glBegin(GL_TRIANGLES);
    glEnd();
    errors("another primitive than it takes");
}

CONFORM("glsl_builtins", COMPAT, {"vertex_id", vertex_id}, {"instance_id", instance_id}, {"primitive_id", primitive_id},
        {"fragment_variables", fragment_variables}, {"fixed_function_state", fixed_function_state}, {"geometry_shader", geometry_shader})
