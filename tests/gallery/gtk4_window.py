"""GTK 4, which draws all its widgets with OpenGL."""
import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gtk


def start(application):
    bar = Gtk.ProgressBar()
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
    for widget in (Gtk.Label(label="GTK 4"), Gtk.Button(label="button"), Gtk.Entry(text="text"), bar):
        box.append(widget)
    frame = 0

    def step(*_):
        nonlocal frame
        frame += 1
        bar.set_fraction(frame % 50 / 50)
        return True

    bar.add_tick_callback(step)
    window = Gtk.ApplicationWindow(application=application, default_width=320, default_height=200)
    window.set_child(box)
    window.present()


application = Gtk.Application(application_id="org.example.gallery")
application.connect("activate", start)
application.run([])
