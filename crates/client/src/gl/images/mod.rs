//! Images to and from the program's memory, and the pixel store parameters, which describe their
//! layout there.
//!
//! On the wire images are tight, whatever the program's parameters are, and the server sets the
//! driver's parameters to match. If a pixel buffer is bound, the pointer is an offset into it, and
//! the driver needs the program's parameters. They are only sent to the server in that case.

mod ahead;
mod clear;
mod draw;
mod egl;
mod formats;
mod maps;
mod named;
mod read;
mod source;
mod split;
mod store;
mod tex_image;
mod textures;

pub use clear::*;
pub use draw::*;
pub use egl::*;
pub use maps::*;
pub use named::*;
pub use read::*;
pub use store::{glPixelStoref, glPixelStorei};
pub use textures::*;
