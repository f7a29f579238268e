"""pyglet 1: shapes, text, sprites, a batch, in a window."""
import pyglet

config = pyglet.gl.Config(double_buffer=True, sample_buffers=1, samples=4)
window = pyglet.window.Window(320, 240, config=config)
batch = pyglet.graphics.Batch()
pattern = pyglet.image.CheckerImagePattern((255, 0, 0, 255), (0, 0, 255, 128))
sprites = [pyglet.sprite.Sprite(pattern.create_image(24, 24), x=40 * n, y=30, batch=batch) for n in range(6)]
circle = pyglet.shapes.Circle(160, 130, 50, color=(80, 200, 120), batch=batch)
star = pyglet.shapes.Star(60, 180, 40, 20, 5, color=(255, 220, 0), batch=batch)
line = pyglet.shapes.Line(200, 200, 310, 90, width=5, color=(255, 255, 255), batch=batch)
label = pyglet.text.Label("Frame", font_size=20, x=200, y=200, batch=batch)
frame = 0


@window.event
def on_draw():
    window.clear()
    batch.draw()


def step(_):
    global frame
    frame += 1
    star.rotation = 6 * frame
    circle.radius = 40 + frame % 20
    label.text = f"Frame {frame}"
    for n, sprite in enumerate(sprites):
        sprite.rotation = 3 * frame + 20 * n


pyglet.clock.schedule(step)
pyglet.app.run()
