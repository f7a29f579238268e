//! Written by `cargo xtask generate`.
pub mod commands;
pub mod decode;
mod encode;
pub mod gl;
pub mod ops;
mod pack;
