//! The window systems, for which GLVND's libGLX and libEGL load this library.

pub mod egl;
pub mod glx;
