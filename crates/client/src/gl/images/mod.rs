//! Images to and from the program's memory, and the pixel store parameters that say how they lie there.
//!
//! On the wire images are tight, so the server's own pixel store parameters matter only where a pixel buffer is bound: then the pointer is an offset into
//! it and the server has to know the program's parameters. They follow the program's no sooner than that, and go back to tight for the next image that
//! travels.

mod clear;
mod compressed;
mod draw;
mod formats;
mod maps;
mod parameters;
mod read;
mod source;
mod split;
mod store;
mod textures;

pub use clear::*;
pub use compressed::*;
pub use draw::*;
pub use maps::*;
pub use parameters::*;
pub use read::*;
pub use store::{glPixelStoref, glPixelStorei, PixelState};
pub use textures::*;
