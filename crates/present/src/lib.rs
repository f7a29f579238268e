//! Destinations of frames: the program's window ([`Window`]), windows of our own ([`Head`],
//! [`GenlockedHead`], [`Pane`]), or image files ([`Saver`]).
//!
//! All of these are a [`Target`] that takes [`Picture`]s. A picture is only borrowed: when `show`
//! returns, its memory may be used again.
#![forbid(unsafe_code)]

mod canvas;
mod display;
pub mod encoding;
mod error;
mod files;
mod genlocked;
mod head;
mod jpeg;
mod pane;
#[cfg(test)]
mod pane_tests;
mod picture;
mod scale;
mod window;
#[cfg(test)]
mod window_tests;

pub use display::{DisplayInfo, XDisplay};
pub use error::Error;
pub use files::{FileFormat, Saver};
pub use genlocked::GenlockedHead;
pub use head::Head;
pub use jpeg::jpeg;
pub use pane::Pane;
pub use picture::{Picture, Rows, PIXEL};
pub use scale::scale;
pub use window::Window;

use mgn_wire::frames::Vblank;

/// Something that takes pictures.
pub trait Target: Send {
    /// Shows or keeps `picture` and returns when its memory is no longer needed.
    ///
    /// # Errors
    /// If the target has failed. The target stays usable: it reports a failure once, and then drops
    /// pictures silently.
    fn show(&mut self, picture: &Picture<'_>) -> Result<(), Error>;

    /// The same as [`Target::show`], at the vertical blank with this number. A target without
    /// vertical blanks shows the picture at once.
    ///
    /// # Errors
    /// As [`Target::show`].
    fn show_at(&mut self, picture: &Picture<'_>, vblank: Option<u64>) -> Result<(), Error> {
        let _ = vblank;
        self.show(picture)
    }

    /// The last known vertical blank of the target's display, and how many pictures have appeared
    /// after their own.
    ///
    /// # Errors
    /// If the target has failed.
    fn clock(&mut self) -> Result<(Option<Vblank>, u32), Error> {
        Ok((None, 0))
    }

    /// Whether the last picture must be shown again, because parts of it were lost.
    fn is_exposed(&mut self) -> bool {
        false
    }
}
