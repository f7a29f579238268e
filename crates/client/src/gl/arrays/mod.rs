//! Vertex arrays and draws from them.

pub mod defaults;
mod draw;
pub mod elements;
pub mod entries;
pub mod fetch;
mod formats;
pub mod gets;
pub mod indirect;
pub mod named;
pub mod objects;
mod pieces;
pub mod push;
mod sort;
mod sure;
