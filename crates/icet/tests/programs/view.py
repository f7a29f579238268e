"""A surface or a volume, shared among the processes of pvbatch: view.py surface|volume FILE"""

import sys
from paraview.simple import *

what, file = sys.argv[1:]
paraview.simple._DisableFirstRenderCameraReset()
source = Wavelet(WholeExtent=[-12, 12, -12, 12, -12, 12])
# Each process draws its own share, however small it is.
GetSettingsProxy('RenderViewSettings').RemoteRenderThreshold = 0
view = CreateRenderView(ViewSize=[320, 240])
view.OrientationAxesVisibility = 0
# It makes one step of a colour visible as several.
view.UseFXAA = 0
if what == 'surface':
    contour = Contour(Input=source, ContourBy=['POINTS', 'RTData'], Isosurfaces=[120, 180])
    shown = Show(contour, view)
else:
    shown = Show(source, view)
    shown.SetRepresentationType('Volume')
ColorBy(shown, ('POINTS', 'RTData'))
view.CameraPosition = [38, 25, 47]
view.CameraFocalPoint = [0, 0, 0]
Render(view)
SaveScreenshot(file, view, ImageResolution=[320, 240])
