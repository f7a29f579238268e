//! Manganese's client: a GLVND vendor library that writes a program's OpenGL into a command stream.
//!
//! libGLX and libEGL load this one library under two names, and look up `__glx_Main` and
//! `__egl_Main`, its only exports. `vendor` implements the window systems and `gl` implements
//! OpenGL. Both work on a `context::Context`, which writes to the process's
//! `link::session::Session`. The client's copy of a context's OpenGL state is in `shadow`, which
//! knows neither.

#[cfg(test)]
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "entry points are called as a program calls them"
)]
mod alone_tests;
mod blank;
mod config;
mod context;
mod contexts;
mod current;
mod debug_thread;
mod entry_points;
mod exit;
#[rustfmt::skip]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, reason = "written by a program; what is unsafe is argued where it writes it")]
mod generated;
mod gl;
mod immediate;
mod initial;
mod link;
mod log;
mod memory;
mod native_image;
mod nowhere;
mod options;
mod orphan;
#[forbid(unsafe_code)]
mod shadow;
mod signals;
mod swap;
mod tls;
mod vendor;
mod viewport;
mod x11;
