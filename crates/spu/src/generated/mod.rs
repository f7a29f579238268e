//! Written by `cargo xtask generate`.
mod printer;
