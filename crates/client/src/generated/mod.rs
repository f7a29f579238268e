//! Written by `cargo xtask generate`.
pub mod advertised;
pub mod entries;
pub mod lookup;
pub mod watched;

/// The address of an entry point, whose type depends on its name.
pub struct Entry(pub *const ());
// SAFETY: an address of code.
unsafe impl Sync for Entry {}
