"""moderngl without a window: instances, a geometry shader, textures, blending, transform feedback, a uniform block."""
import os
import struct
import sys

import moderngl
import numpy

out = sys.argv[1]
backend = sys.argv[2] if len(sys.argv) > 2 else None
context = moderngl.create_standalone_context(**({"backend": backend} if backend else {}))
log = open(os.path.join(out, "moderngl.txt"), "w")


def save(framebuffer, name):
    width, height = framebuffer.size
    rows = numpy.frombuffer(framebuffer.read(components=3), "u1").reshape(height, width, 3)
    with open(os.path.join(out, name + ".ppm"), "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (width, height) + rows[::-1].tobytes())


program = context.program(
    vertex_shader="""
    #version 330
    layout(std140) uniform Turn { mat2 turn; };
    in vec2 place; in vec2 offset; in vec3 color;
    out vec3 tint; out vec2 where;
    void main() { where = place; tint = color; gl_Position = vec4(turn * place * 0.2 + offset, 0, 1); }
    """,
    fragment_shader="""
    #version 330
    uniform sampler2D image;
    in vec3 tint; in vec2 where; out vec4 color;
    void main() { color = vec4(tint * texture(image, where * 0.5 + 0.5).rgb, 0.7); }
    """,
)
size = (320, 240)
target = context.framebuffer([context.texture(size, 4)], context.depth_renderbuffer(size))
triangle = context.buffer(numpy.array([-1, -1, 1, -1, 0, 1], "f4").tobytes())
random = numpy.random.RandomState(1)
instances = context.buffer(numpy.hstack([random.uniform(-0.9, 0.9, (64, 2)), random.uniform(0, 1, (64, 3))]).astype("f4").tobytes())
image = context.texture((16, 16), 3, random.randint(0, 255, (16, 16, 3)).astype("u1").tobytes())
image.build_mipmaps()
turn = context.buffer(reserve=32)
turn.bind_to_uniform_block(0)
program["Turn"].binding = 0
array = context.vertex_array(program, [(triangle, "2f", "place"), (instances, "2f 3f/i", "offset", "color")])
query = context.query(samples=True, primitives=True)
for frame in range(10):
    angle = frame * 0.3
    c, s = numpy.cos(angle), numpy.sin(angle)
    turn.write(struct.pack("8f", c, s, 0, 0, -s, c, 0, 0))
    target.use()
    target.clear(0.1, 0.1, 0.2, 1.0)
    context.enable(moderngl.BLEND)
    context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
    image.use(0)
    with query:
        array.render(moderngl.TRIANGLES, instances=64)
    print(frame, query.samples, query.primitives, context.error, file=log)
    if frame % 3 == 0:
        save(target, f"instances-{frame}")

doubled = context.program(
    vertex_shader="#version 330\nin float x; out float twice; void main() { twice = 2 * x; }",
    varyings=["twice"],
)
given = context.buffer(numpy.arange(16, dtype="f4").tobytes())
taken = context.buffer(reserve=64)
context.vertex_array(doubled, [(given, "f", "x")]).transform(taken, moderngl.POINTS)
print(numpy.frombuffer(taken.read(), "f4").tolist(), file=log)

stars = context.program(
    vertex_shader="#version 330\nin vec2 place; void main() { gl_Position = vec4(place, 0, 1); }",
    geometry_shader="""
    #version 330
    layout(points) in; layout(triangle_strip, max_vertices=4) out; out vec2 where;
    void main() {
        for (int i = 0; i < 4; i++) {
            where = vec2(i % 2, i / 2) * 2 - 1;
            gl_Position = gl_in[0].gl_Position + vec4(where * 0.08, 0, 0);
            EmitVertex();
        }
        EndPrimitive();
    }
    """,
    fragment_shader="""
    #version 330
    in vec2 where; out vec4 color;
    void main() { if (length(where) > 1) discard; color = vec4(where * 0.5 + 0.5, 0.5, 1); }
    """,
)
target.clear(0.0, 0.0, 0.0, 1.0)
context.vertex_array(stars, [(instances, "2f 3x4", "place")]).render(moderngl.POINTS)
save(target, "stars")

smooth = context.simple_framebuffer(size, 4, samples=4)
smooth.use()
smooth.clear(0.3, 0.1, 0.1, 1.0)
array.render(moderngl.TRIANGLES, instances=64)
context.copy_framebuffer(target, smooth)
save(target, "multisampled")
log.close()
