//! The state that glPushClientAttrib saves.

use super::vertex_array::VertexArray;
use mgn_state::PixelStore;

#[derive(Default)]
pub struct Stack(pub Vec<Saved>);

pub struct Saved {
    pub pixels: Option<SavedPixels>,
    pub arrays: Option<SavedArrays>,
}

/// Vertex arrays.
pub struct SavedArrays {
    pub name: u32,
    pub array: VertexArray,
    pub client_unit: u32,
    pub array_buffer: u32,
}

/// Pixel store parameters and pixel buffers, as glPushClientAttrib saves them.
#[derive(Clone, Copy)]
pub struct SavedPixels {
    pub pack: PixelStore,
    pub unpack: PixelStore,
    pub pack_buffer: u32,
    pub unpack_buffer: u32,
}
