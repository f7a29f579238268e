//! Walls: how one picture is divided among the tiles of a display wall (sort-first), after
//! Humphreys et al., *WireGL* (2001).
//!
//! A [`Wall`] is a mural of pixels and the tiles that show parts of it. [`Wall::areas`] says for a
//! window what each tile's renderer draws, shows and answers for. No I/O.
#![forbid(unsafe_code)]

mod areas;
mod displays;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod layout;
mod rect;
mod replicas;
mod sorter;
mod target;
mod windows;

pub use areas::Area;
pub use displays::Covered;
pub use layout::{Fit, Replica, Tile, Tiling, Wall, WallError, TILES_MAX};
pub use rect::Rect;
pub use sorter::{Bounds, Boxes, Sorter, TouchedTiles, GROUP};
pub use target::{DisplayPosition, Target, VIEWER};
pub use windows::{Names, Windows};
