"""vispy: markers, a line, an image, a volume and text on a canvas of its own toolkit."""
import sys

import numpy
from vispy import app, scene

app.use_app(sys.argv[2] if len(sys.argv) > 2 else "pyglet")
random = numpy.random.RandomState(1)
canvas = scene.SceneCanvas(size=(400, 300), show=True, vsync=False)
grid = canvas.central_widget.add_grid()
flat = grid.add_view(row=0, col=0)
flat.camera = "panzoom"
flat.camera.set_range((0, 1), (0, 1))
places = random.uniform(0, 1, (200, 2))
markers = scene.visuals.Markers(parent=flat.scene)
markers.set_data(places, face_color=(0.2, 0.6, 1.0, 0.6), size=8)
line = scene.visuals.Line(places[:20], color="yellow", width=2, parent=flat.scene)
scene.visuals.Image(random.uniform(0, 1, (8, 8)).astype("f4"), cmap="viridis", parent=flat.scene)
scene.visuals.Text("text", pos=(0.5, 0.5), color="white", parent=flat.scene)
deep = grid.add_view(row=0, col=1)
deep.camera = scene.TurntableCamera(fov=45, distance=60)
grid3 = numpy.mgrid[-1:1:24j, -1:1:24j, -1:1:24j]
scene.visuals.Volume(numpy.exp(-3 * (grid3 ** 2).sum(0)).astype("f4"), method="mip", parent=deep.scene)
scene.visuals.XYZAxis(parent=deep.scene)


def step(_):
    deep.camera.azimuth += 5
    canvas.update()


timer = app.Timer(interval=0, connect=step, start=True)
app.run()
