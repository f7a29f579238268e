//! OpenGL programs, run in several ways.

pub mod program;
mod relay;
pub mod run;
