//! Vertex arrays and draws from them.

pub mod defaults;
mod draw;
pub mod elements;
pub mod entries;
pub mod fetch;
mod formats;
pub mod gets;
mod indexed;
pub mod indirect;
pub mod named;
pub mod objects;
pub mod push;
mod sort;
mod sure;
