//! Buffer objects and their bindings.

#[forbid(unsafe_code)]
pub mod bindings;
pub mod mappings;
pub mod memory;
pub mod object;
pub mod outline;
pub mod persistent;
pub mod table;
