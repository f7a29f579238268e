//! Targets for the pictures of a program that renders itself: a window, image files, or a viewer
//! that shows them in browsers.
//!
//! An [`Outlet`] is one such place. It takes one [`Shot`] after another. [`Attached`] shows each
//! picture in an outlet that a process gets from its compositor. The libraries for C and Python
//! pass their calls on to this crate.
#![forbid(unsafe_code)]

mod attached;
mod canvas;
mod error;
mod outlet;
mod shot;
mod viewing;

pub use attached::Attached;
pub use canvas::Canvas;
pub use error::OutletError;
pub use outlet::Outlet;
pub use shot::{Direction, Shot};
