//! What the client remembers of its contexts' OpenGL: types and their pure methods. Nothing here
//! knows a context or a connection.

pub mod arrays;
pub mod buffers;
#[forbid(unsafe_code)]
pub mod claims;
#[forbid(unsafe_code)]
pub mod debug;
#[forbid(unsafe_code)]
pub mod errors;
#[forbid(unsafe_code)]
pub mod framebuffers;
pub mod immediate;
pub mod lists;
#[forbid(unsafe_code)]
pub mod names;
#[forbid(unsafe_code)]
pub mod notes;
#[forbid(unsafe_code)]
pub mod objects;
#[forbid(unsafe_code)]
pub mod pixel_store;
#[forbid(unsafe_code)]
pub mod read_ahead;
#[forbid(unsafe_code)]
pub mod render_modes;
#[forbid(unsafe_code)]
pub mod strings;
