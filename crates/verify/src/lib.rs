//! Whether a program draws through us what it draws directly: repeatable runs of it, and the
//! comparison of what two runs leave.
#![forbid(unsafe_code)]

mod camera;
mod difference;
mod picture;
mod runs;

pub use camera::{Camera, Input};
pub use difference::{compare_folders, Difference, DifferenceKind};
pub use picture::{Picture, PixelDifference};
pub use runs::{verify, Compared, Error, Run, RunKind};
