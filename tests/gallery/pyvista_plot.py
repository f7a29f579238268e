"""PyVista with the VTK that PyPI has, off screen; the pictures go into the folder that is given."""
import os
import sys

import pyvista

plotter = pyvista.Plotter(off_screen=True, window_size=(320, 240))
plotter.add_mesh(pyvista.Sphere(), color="orange", show_edges=True)
plotter.add_mesh(pyvista.Cone(center=(1, 0, 0)), opacity=0.5)
plotter.add_text("PyVista", font_size=12)
for frame in range(4):
    plotter.camera.azimuth += 15
    plotter.render()
    image = plotter.screenshot(None, return_img=True)
    height, width, _ = image.shape
    with open(os.path.join(sys.argv[1], f"plot-{frame}.ppm"), "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (width, height) + image[:, :, :3].tobytes())
