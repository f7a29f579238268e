//! The client's shadow of a context's state.

#![forbid(unsafe_code)]

mod pixel_store;

pub use pixel_store::PixelStore;
