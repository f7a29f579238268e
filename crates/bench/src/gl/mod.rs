//! OpenGL programs, run in several ways.

pub mod drawing;
pub mod program;
mod relay;
pub mod run;
pub mod virgl;
