//! What follows from the OpenGL registry: see `cargo xtask generate`.

pub mod withheld;
