"""GTK 3: a GLArea beside ordinary widgets, drawn with PyOpenGL in a core profile."""
import ctypes

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
from OpenGL import GL


class Area(Gtk.GLArea):
    frame = 0

    def __init__(self):
        super().__init__()
        self.set_has_depth_buffer(True)
        self.connect("realize", self.start)
        self.connect("render", self.draw)

    def start(self, _):
        self.make_current()
        self.program = GL.glCreateProgram()
        for kind, source in (
            (GL.GL_VERTEX_SHADER, "#version 330\nlayout(location=0) in vec2 p; uniform float t; out vec2 at;"
             "void main() { at = p; gl_Position = vec4(mat2(cos(t), sin(t), -sin(t), cos(t)) * p, 0, 1); }"),
            (GL.GL_FRAGMENT_SHADER, "#version 330\nin vec2 at; out vec4 c; void main() { c = vec4(at * 0.5 + 0.5, 0.5, 1); }"),
        ):
            shader = GL.glCreateShader(kind)
            GL.glShaderSource(shader, source)
            GL.glCompileShader(shader)
            assert GL.glGetShaderiv(shader, GL.GL_COMPILE_STATUS), GL.glGetShaderInfoLog(shader)
            GL.glAttachShader(self.program, shader)
        GL.glLinkProgram(self.program)
        self.array = GL.glGenVertexArrays(1)
        GL.glBindVertexArray(self.array)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, GL.glGenBuffers(1))
        corners = (ctypes.c_float * 6)(-0.7, -0.6, 0.7, -0.6, 0.0, 0.8)
        GL.glBufferData(GL.GL_ARRAY_BUFFER, ctypes.sizeof(corners), corners, GL.GL_STATIC_DRAW)
        GL.glVertexAttribPointer(0, 2, GL.GL_FLOAT, False, 0, None)
        GL.glEnableVertexAttribArray(0)

    def draw(self, *_):
        GL.glClearColor(0.2, 0.2, 0.3, 1)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT | GL.GL_DEPTH_BUFFER_BIT)
        GL.glUseProgram(self.program)
        GL.glUniform1f(GL.glGetUniformLocation(self.program, "t"), self.frame * 0.1)
        GL.glBindVertexArray(self.array)
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        self.frame += 1
        return True


window = Gtk.Window(default_width=360, default_height=240)
box = Gtk.Box(spacing=6)
box.add(Gtk.Label(label="A label"))
area = Area()
box.pack_start(area, True, True, 0)
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
area.add_tick_callback(lambda *_: area.queue_render() or True)
Gtk.main()
