"""VTK: meshes, text, a volume, picking, several windows; pictures go into the folder that is given."""
import os
import sys

import vtk
from vtk.util import numpy_support

out = sys.argv[1]
log = open(os.path.join(out, "vtk.txt"), "w")


def save(window, name):
    window.Render()
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    writer = vtk.vtkPNMWriter()
    writer.SetFileName(os.path.join(out, name + ".ppm"))
    writer.SetInputConnection(grab.GetOutputPort())
    writer.Write()


def window_with(renderer, size=(320, 240)):
    window = vtk.vtkRenderWindow()
    window.SetSize(*size)
    window.AddRenderer(renderer)
    return window


def actor_of(source, color=None, opacity=1.0):
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputConnection(source.GetOutputPort())
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    if color:
        actor.GetProperty().SetColor(*color)
    actor.GetProperty().SetOpacity(opacity)
    return actor


def mesh():
    sphere = vtk.vtkSphereSource()
    sphere.SetThetaResolution(24)
    sphere.SetPhiResolution(24)
    cone = vtk.vtkConeSource()
    cone.SetResolution(32)
    cone.SetCenter(0.8, 0.2, 0)
    renderer = vtk.vtkRenderer()
    renderer.GradientBackgroundOn()
    renderer.SetBackground(0.1, 0.1, 0.3)
    renderer.SetBackground2(0.5, 0.5, 0.6)
    edges = actor_of(sphere, (0.9, 0.5, 0.1))
    edges.GetProperty().EdgeVisibilityOn()
    renderer.AddActor(edges)
    renderer.AddActor(actor_of(cone, (0.2, 0.7, 1.0), 0.5))
    text = vtk.vtkTextActor()
    text.SetInput("Text 123")
    text.GetTextProperty().SetFontSize(28)
    renderer.AddActor2D(text)
    axes = vtk.vtkCubeAxesActor()
    axes.SetBounds(-0.5, 1.3, -0.5, 0.7, -0.5, 0.5)
    axes.SetCamera(renderer.GetActiveCamera())
    renderer.AddActor(axes)
    window = window_with(renderer)
    window.SetMultiSamples(4)
    renderer.ResetCamera()
    for frame in range(5):
        renderer.GetActiveCamera().Azimuth(12)
        renderer.ResetCameraClippingRange()
        save(window, f"mesh-{frame}")
    return renderer, window


def peeled():
    renderer = vtk.vtkRenderer()
    renderer.SetUseDepthPeeling(True)
    renderer.SetMaximumNumberOfPeels(4)
    for n in range(4):
        sphere = vtk.vtkSphereSource()
        sphere.SetCenter(n * 0.3, n * 0.1, n * 0.2)
        renderer.AddActor(actor_of(sphere, (n / 3, 1 - n / 3, 0.5), 0.4))
    window = window_with(renderer)
    window.SetAlphaBitPlanes(1)
    window.SetMultiSamples(0)
    renderer.ResetCamera()
    save(window, "peeled")


def volume():
    wavelet = vtk.vtkRTAnalyticSource()
    wavelet.SetWholeExtent(-16, 16, -16, 16, -16, 16)
    mapper = vtk.vtkGPUVolumeRayCastMapper()
    mapper.SetInputConnection(wavelet.GetOutputPort())
    mapper.AutoAdjustSampleDistancesOff()
    mapper.SetSampleDistance(1.0)
    colors = vtk.vtkColorTransferFunction()
    colors.AddRGBPoint(60, 0, 0, 1)
    colors.AddRGBPoint(150, 1, 1, 0)
    colors.AddRGBPoint(270, 1, 0, 0)
    opacity = vtk.vtkPiecewiseFunction()
    opacity.AddPoint(60, 0.0)
    opacity.AddPoint(270, 0.1)
    properties = vtk.vtkVolumeProperty()
    properties.SetColor(colors)
    properties.SetScalarOpacity(opacity)
    properties.ShadeOn()
    volume = vtk.vtkVolume()
    volume.SetMapper(mapper)
    volume.SetProperty(properties)
    renderer = vtk.vtkRenderer()
    renderer.AddVolume(volume)
    renderer.ResetCamera()
    save(window_with(renderer, (160, 120)), "volume")


def pick(renderer, window):
    picker = vtk.vtkPropPicker()
    print("prop", picker.Pick(160, 120, 0, renderer), file=log)
    print("at", ["%.6f" % x for x in picker.GetPickPosition()], file=log)
    selector = vtk.vtkHardwareSelector()
    selector.SetRenderer(renderer)
    selector.SetArea(100, 80, 220, 160)
    selector.SetFieldAssociation(vtk.vtkDataObject.FIELD_ASSOCIATION_CELLS)
    selection = selector.Select()
    for n in range(selection.GetNumberOfNodes()):
        cells = selection.GetNode(n).GetSelectionList()
        print("cells", sorted(numpy_support.vtk_to_numpy(cells).tolist()), file=log)
    print("z", "%.6f" % renderer.GetZ(160, 120), file=log)


def several():
    windows = []
    for n in range(3):
        cube = vtk.vtkCubeSource()
        renderer = vtk.vtkRenderer()
        renderer.SetBackground(n / 4, 0.2, 0.3)
        renderer.AddActor(actor_of(cube, (1, n / 3, 0.2)))
        window = window_with(renderer, (120 + 20 * n, 100))
        windows.append((renderer, window))
    for turn in range(2):
        for n, (renderer, window) in enumerate(windows):
            renderer.GetActiveCamera().Elevation(15)
            save(window, f"several-{n}-{turn}")


pick(*mesh())
peeled()
volume()
several()
log.close()
