"""Draws a surface and then a volume in the processes of pvbatch, from another side in each frame.

paraview_frames.py WIDTH HEIGHT FRAMES
"""

import sys
from paraview.simple import *

width, height, frames = map(int, sys.argv[1:])
paraview.simple._DisableFirstRenderCameraReset()
# Each process draws its own share, however small it is.
GetSettingsProxy('RenderViewSettings').RemoteRenderThreshold = 0
view = CreateRenderView(ViewSize=[width, height])
view.OrientationAxesVisibility = 0
view.UseFXAA = 0
view.CameraViewUp = [0, 1, 0]
camera = view.GetActiveCamera()


def draw(source, half, kind):
    """Frames of a source that reaches from -half to half in each direction."""
    shown = Show(source, view)
    shown.SetRepresentationType(kind)
    ColorBy(shown, ('POINTS', 'RTData'))
    view.CameraFocalPoint = [0, 0, 0]
    view.CameraPosition = [2.5 * half, 1.6 * half, 3 * half]
    for frame in range(frames):
        camera.Azimuth(3)
        Render(view)
    Hide(source, view)


# About three million triangles. With more, ParaView takes minutes to make them.
wavelet = Wavelet(WholeExtent=[-64, 64] * 3)
draw(Contour(Input=wavelet, ContourBy=['POINTS', 'RTData'], Isosurfaces=range(60, 260, 10)), 64, 'Surface')
draw(Wavelet(WholeExtent=[-32, 32] * 3), 32, 'Volume')
