//! Written by `cargo xtask generate`.
mod discard;
mod locations;
pub mod names;
mod nop;
mod observe;
#[cfg(test)]
pub mod pace;
