//! The window systems: what GLVND's libGLX and libEGL load this library for.

pub mod egl;
pub mod glx;
