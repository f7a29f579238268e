//! Manganese's client: a GLVND vendor library that writes a program's OpenGL into a command stream.
//!
//! libGLX and libEGL load this one library under two names and find
//! [`__glx_Main`](vendor::glx::__glx_Main) and [`__egl_Main`](vendor::egl::__egl_Main), which is
//! all it exports. From there on `vendor` is the window system, `gl` is OpenGL, and both work on
//! [`context::Context`], which writes to the process's [`session::Session`]. The client's copy of a
//! context's OpenGL state is in `shadow`, which knows neither.

#[cfg(test)]
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "entry points are called as a program calls them"
)]
mod alone_tests;
mod assignments;
mod barrier;
mod begin;
mod blank;
mod compositing;
mod config;
mod context;
mod contexts;
mod current;
mod debug_thread;
mod ending;
mod entry_points;
mod exit;
mod failover;
mod frames;
#[rustfmt::skip]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, reason = "written by a program; what is unsafe is argued where it writes it")]
mod generated;
mod gl;
mod heads;
mod holes;
mod initial;
mod job;
mod log;
mod native_image;
mod nowhere;
mod options;
mod orphan;
mod pixmap;
mod presenter;
mod renderers;
mod replies;
mod session;
mod shadow;
mod signals;
mod stages;
mod stats;
mod surface;
mod surfaces;
mod swap;
mod swap_barrier;
mod tiles;
mod tls;
mod vendor;
mod viewport;
mod x11;
