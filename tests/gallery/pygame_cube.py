"""pygame (SDL 2) with PyOpenGL: the fixed function, in a window; the arrow keys turn it."""
import os

os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
import pygame
from OpenGL.GL import *
from OpenGL.GLU import gluLookAt, gluPerspective, gluNewQuadric, gluSphere

pygame.display.init()
pygame.font.init()
pygame.display.set_mode((320, 240), pygame.OPENGL | pygame.DOUBLEBUF)
glEnable(GL_DEPTH_TEST)
glEnable(GL_LIGHTING)
glEnable(GL_LIGHT0)
glEnable(GL_COLOR_MATERIAL)
surface = pygame.Surface((64, 64))
surface.fill((200, 120, 40))
surface.blit(pygame.font.Font(None, 40).render("GL", True, (255, 255, 255)), (12, 18))
texture = glGenTextures(1)
glBindTexture(GL_TEXTURE_2D, texture)
glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR)
glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, pygame.image.tostring(surface, "RGBA", True))
quadric = gluNewQuadric()
turn, tilt = 0, 20
while True:
    for event in pygame.event.get():
        if event.type == pygame.KEYDOWN:
            tilt += {pygame.K_UP: 30, pygame.K_DOWN: -30}.get(event.key, 0)
    turn += 3
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT)
    glMatrixMode(GL_PROJECTION)
    glLoadIdentity()
    gluPerspective(45, 4 / 3, 0.1, 50)
    glMatrixMode(GL_MODELVIEW)
    glLoadIdentity()
    gluLookAt(0, 0, 6, 0, 0, 0, 0, 1, 0)
    glRotatef(tilt, 1, 0, 0)
    glRotatef(turn, 0, 1, 0)
    glEnable(GL_TEXTURE_2D)
    glColor3f(1, 1, 1)
    glBegin(GL_QUADS)
    for axis in range(3):
        for side in (-1, 1):
            normal = [0, 0, 0]
            normal[axis] = side
            glNormal3f(*normal)
            for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner = [u, v]
                corner.insert(axis, side)
                glTexCoord2f((u + 1) / 2, (v + 1) / 2)
                glVertex3f(*corner)
    glEnd()
    glDisable(GL_TEXTURE_2D)
    glColor3f(0.3, 0.8, 0.4)
    glTranslatef(0, 1.6, 0)
    gluSphere(quadric, 0.5, 24, 16)
    pygame.display.flip()
    pygame.time.wait(10)
