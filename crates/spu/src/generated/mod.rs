//! Written by `cargo xtask generate`.
mod nop;
mod printer;
