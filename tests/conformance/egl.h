/* EGL for the programs that test it. */
#ifndef CONFORM_EGL_H
#define CONFORM_EGL_H

#include <EGL/egl.h>
#include <EGL/eglext.h>

/* Initialises the display. Logs "skip" and returns EGL_NO_DISPLAY if the platform is missing. */
EGLDisplay open_surfaceless(void);
EGLDisplay open_egl_on_x11(void); /* opens `display` of conform.h too */
/* An RGBA8 config with depth and stencil for this kind of surface and API, or NULL. */
EGLConfig egl_config(EGLDisplay egl, EGLint surface_bit, EGLint renderable_bit);
/* Logs the pending EGL error, if there is one. */
void egl_errors(const char *after);

#endif
