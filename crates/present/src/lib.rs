//! Where frames go: into the program's window ([`Window`]), into windows of our own ([`Head`],
//! [`GenlockedHead`], [`Pane`]), or into image files ([`Saver`]).
//!
//! All are a [`Target`] that takes [`Picture`]s. A picture is only borrowed: when `show` returns,
//! its memory may be used again.
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
    /// If the target has failed. It stays usable: it reports this once, and drops further pictures
    /// silently.
    fn show(&mut self, picture: &Picture<'_>) -> Result<(), Error>;

    /// As [`Target::show`], at the vertical blank of its display that has this number. A target
    /// without one shows the picture at once.
    ///
    /// # Errors
    /// As [`Target::show`].
    fn show_at(&mut self, picture: &Picture<'_>, vblank: Option<u64>) -> Result<(), Error> {
        let _ = vblank;
        self.show(picture)
    }

    /// The last vertical blank of its display that is known, and how many pictures have appeared
    /// later than at theirs.
    ///
    /// # Errors
    /// If the target has failed.
    fn clock(&mut self) -> Result<(Option<Vblank>, u32), Error> {
        Ok((None, 0))
    }

    /// Whether the last picture has to be shown again, because some of it is not there any more.
    fn is_exposed(&mut self) -> bool {
        false
    }
}
