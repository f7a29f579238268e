//! Buffer objects and their bindings.

pub mod bindings;
