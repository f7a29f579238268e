//! Commands that are not passed to the driver unchanged: their arguments are checked or translated,
//! or they affect state that the renderer tracks.

pub(crate) mod accumulation;
pub(crate) mod arrays;
mod assembly;
pub(crate) mod buffer_parts;
pub(crate) mod buffer_textures;
mod buffers;
mod debug;
mod draw_texture;
mod draws;
mod egl_images;
pub(crate) mod elements;
mod framebuffers;
mod generic_zero;
mod gets;
mod images;
mod levels;
pub(crate) mod listed_images;
mod lists;
mod name_gets;
mod named_strings;
mod objects;
pub(crate) mod pixel_store;
mod readback;
pub(crate) mod render_modes;
mod resources;
mod runs;
mod shaders;
pub(crate) mod split_lists;
pub(crate) mod vertex_arrays;
