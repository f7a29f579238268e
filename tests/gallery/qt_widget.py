"""Qt 5: a QOpenGLWidget with a shader, beside ordinary widgets, and QPainter drawing over it."""
import sys

from PyQt5.QtCore import QTimer
from PyQt5.QtGui import QColor, QFont, QOpenGLShader, QOpenGLShaderProgram, QOpenGLVersionProfile, QPainter, QPolygonF, QSurfaceFormat
from PyQt5.QtWidgets import QApplication, QHBoxLayout, QLabel, QOpenGLWidget, QPushButton, QVBoxLayout, QWidget


class Picture(QOpenGLWidget):
    frame = 0

    def initializeGL(self):
        profile = QOpenGLVersionProfile()
        profile.setVersion(2, 0)
        self.gl = self.context().versionFunctions(profile)
        self.program = QOpenGLShaderProgram(self)
        self.program.addShaderFromSourceCode(
            QOpenGLShader.Vertex,
            "attribute highp vec2 place; uniform highp float turn; varying mediump vec2 at;"
            "void main() { at = place; mat2 m = mat2(cos(turn), sin(turn), -sin(turn), cos(turn)); gl_Position = vec4(m * place, 0.0, 1.0); }",
        )
        self.program.addShaderFromSourceCode(
            QOpenGLShader.Fragment, "varying mediump vec2 at; void main() { gl_FragColor = vec4(at * 0.5 + 0.5, 0.3, 1.0); }"
        )
        self.program.link()

    def paintGL(self):
        painter = QPainter(self)
        painter.beginNativePainting()
        self.gl.glClearColor(0.1, 0.1, 0.2, 1.0)
        self.gl.glClear(self.gl.GL_COLOR_BUFFER_BIT)
        self.program.bind()
        self.program.setUniformValue("turn", self.frame * 0.1)
        corners = [(-0.7, -0.7), (0.7, -0.7), (0.0, 0.8)]
        self.program.enableAttributeArray("place")
        self.program.setAttributeArray("place", corners)
        self.gl.glDrawArrays(self.gl.GL_TRIANGLES, 0, 3)
        self.program.disableAttributeArray("place")
        self.program.release()
        painter.endNativePainting()
        painter.setRenderHint(QPainter.Antialiasing)
        painter.setPen(QColor(255, 255, 255))
        painter.setFont(QFont("DejaVu Sans", 14))
        painter.drawText(10, 30, f"frame {self.frame}")
        painter.setBrush(QColor(255, 200, 0, 128))
        painter.drawEllipse(100 + self.frame, 100, 60, 40)
        painter.end()


format = QSurfaceFormat()
format.setSamples(4)
format.setSwapInterval(0)
QSurfaceFormat.setDefaultFormat(format)
application = QApplication(sys.argv)
window = QWidget()
row = QHBoxLayout(window)
column = QVBoxLayout()
column.addWidget(QPushButton("button"))
column.addWidget(QLabel("label"))
row.addLayout(column)
picture = Picture()
row.addWidget(picture, 1)
window.resize(400, 300)
window.show()


def step():
    picture.frame += 1
    picture.update()


picture.frameSwapped.connect(step)
application.exec_()
