//! The renderer: EGL contexts and off-screen surfaces, and the execution of commands on the local
//! OpenGL driver.
//!
//! [`Renderer`] is the last stage of the stream: it implements [`mgn_wire::Commands`]. Client ids
//! and names are mapped to the driver's, everything the driver would trust is checked first, and an
//! EGL pbuffer serves as a window's default framebuffer, in a way that programs cannot distinguish.
//! The implementation of [`Pictures`] decides where finished pictures go.

mod binaries;
mod bounds;
mod configs;
mod constants;
mod context;
mod counts;
mod debug;
mod egl;
mod errors;
#[rustfmt::skip]
mod generated {
    #[allow(dead_code)]
    pub mod driver;
    mod execute;
}
mod glsl;
mod handwritten;
mod info;
mod multisampling;
mod names;
mod notes;
mod offset;
mod peers;
mod present;
mod renderer;
mod seats;
mod session;
mod snapshot;
mod srgb;
mod storage;
mod surface;
mod tile;
mod whole;

pub use binaries::BinaryKey;
pub use egl::EglError;
pub use errors::Errors;
pub use peers::Peers;
pub use present::{Pictures, Room};
pub use renderer::{perform, RenderError, Renderer};
