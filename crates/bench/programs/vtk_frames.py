"""Draws a scene of VTK's again and again from all sides, and prints frames per second: vtk_frames.py mesh|volume FRAMES."""
import json
import sys
import time

import vtk

WARM_UP = 5


waves = vtk.vtkRTAnalyticSource()
waves.SetWholeExtent(-32, 32, -32, 32, -32, 32)


def mesh():
    """Three shells of a field of 65^3 values, the outermost see-through, with a scale and text."""
    shells = vtk.vtkContourFilter()
    shells.SetInputConnection(waves.GetOutputPort())
    shells.GenerateValues(2, 150, 200)
    outermost = vtk.vtkContourFilter()
    outermost.SetInputConnection(waves.GetOutputPort())
    outermost.SetValue(0, 100)
    renderer = vtk.vtkRenderer()
    renderer.GradientBackgroundOn()
    renderer.SetBackground2(0.5, 0.5, 0.6)
    for source, opacity in ((shells, 1.0), (outermost, 0.4)):
        mapper = vtk.vtkPolyDataMapper()
        mapper.SetInputConnection(source.GetOutputPort())
        mapper.SetScalarRange(100, 200)
        actor = vtk.vtkActor()
        actor.SetMapper(mapper)
        actor.GetProperty().SetOpacity(opacity)
        renderer.AddActor(actor)
    axes = vtk.vtkCubeAxesActor()
    axes.SetBounds(-32, 32, -32, 32, -32, 32)
    axes.SetCamera(renderer.GetActiveCamera())
    renderer.AddActor(axes)
    text = vtk.vtkTextActor()
    text.SetInput("waves")
    renderer.AddActor2D(text)
    return renderer, (640, 480)


def volume():
    mapper = vtk.vtkGPUVolumeRayCastMapper()
    mapper.SetInputConnection(waves.GetOutputPort())
    mapper.AutoAdjustSampleDistancesOff()
    mapper.SetSampleDistance(1.0)
    colors = vtk.vtkColorTransferFunction()
    for value, color in ((60, (0, 0, 1)), (150, (1, 1, 0)), (270, (1, 0, 0))):
        colors.AddRGBPoint(value, *color)
    opacity = vtk.vtkPiecewiseFunction()
    opacity.AddPoint(60, 0.0)
    opacity.AddPoint(270, 0.1)
    actor = vtk.vtkVolume()
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(colors)
    actor.GetProperty().SetScalarOpacity(opacity)
    actor.GetProperty().ShadeOn()
    renderer = vtk.vtkRenderer()
    renderer.AddVolume(actor)
    return renderer, (320, 240)


renderer, size = {"mesh": mesh, "volume": volume}[sys.argv[1]]()
frames = int(sys.argv[2])
window = vtk.vtkRenderWindow()
window.SetSize(*size)
window.SetMultiSamples(0)
window.AddRenderer(renderer)
renderer.ResetCamera()
for frame in range(-WARM_UP, frames):
    if frame == 0:
        window.WaitForCompletion()
        start = time.perf_counter()
    renderer.GetActiveCamera().Azimuth(3)
    renderer.ResetCameraClippingRange()
    window.Render()
window.WaitForCompletion()
print(json.dumps({"frames_per_second": frames / (time.perf_counter() - start)}))
