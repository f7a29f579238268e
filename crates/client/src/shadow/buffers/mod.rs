//! Buffer objects and their bindings.

pub mod bindings;
pub mod mappings;
pub mod object;
pub mod outline;
pub mod persistent;
pub mod table;
