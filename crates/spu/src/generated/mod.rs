//! Written by `cargo xtask generate`.
mod locations;
mod nop;
mod printer;
