//! Vertex arrays and draws from them.

pub mod client_attrib;
pub mod defaults;
mod draw;
pub mod elements;
pub mod entries;
pub mod fetch;
mod formats;
pub mod gets;
mod indexed;
pub mod indirect;
mod known_success;
pub mod named;
pub mod objects;
mod sort;
