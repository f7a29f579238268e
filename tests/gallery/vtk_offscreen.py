"""VTK off screen: nothing is shown, and the pictures go into the folder that is given. By EGL where VTK can, else by GLX."""
import os
import sys

import vtk

out = sys.argv[1]
window = getattr(vtk, "vtkEGLRenderWindow", vtk.vtkRenderWindow)()
window.SetOffScreenRendering(1)
window.SetSize(320, 240)
renderer = vtk.vtkRenderer()
window.AddRenderer(renderer)
source = vtk.vtkSuperquadricSource()
source.SetThetaResolution(48)
source.SetPhiResolution(48)
source.ToroidalOn()
mapper = vtk.vtkPolyDataMapper()
mapper.SetInputConnection(source.GetOutputPort())
actor = vtk.vtkActor()
actor.SetMapper(mapper)
renderer.AddActor(actor)
renderer.ResetCamera()
renderer.GetActiveCamera().Elevation(30)
for frame in range(4):
    renderer.GetActiveCamera().Azimuth(20)
    window.Render()
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    writer = vtk.vtkPNMWriter()
    writer.SetFileName(os.path.join(out, f"superquadric-{frame}.ppm"))
    writer.SetInputConnection(grab.GetOutputPort())
    writer.Write()
