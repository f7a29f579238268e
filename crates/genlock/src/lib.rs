//! Software genlock: several tiles show each frame at nearly the same moment.
//!
//! [`Coordinator`] is for tiles whose displays are not steered. One process asks all servers for
//! their clocks and vertical blanks, and tells each tile at which of its own vertical blanks to
//! show a frame.
//!
//! The other parts are for displays that can be steered; no program uses them yet. One tile is the
//! *reference*. The others compare their clocks with its clock ([`Clock`]), so that
//! all have a common time. Each tile estimates when its own display refreshes ([`Vblanks`]). The
//! reference announces its display's vertical blanks in common time ([`Timing`]), and the others
//! steer their displays until these refresh at the same moments ([`PhaseLock`]). A display that
//! cannot be steered only reports its phase error.
//!
//! For each frame, every tile passes to a barrier the number of the first vertical blank at which
//! it can show the frame ([`Timing::first_after`]). All tiles swap at the largest of these numbers.
//! If the barrier fails, it fails on all tiles, and none of them shows the frame. If a tile dies
//! while it releases the others, some of them can learn the number too late, and show the frame at
//! a later vertical blank.
//!
//! If the reference is lost, the next tile becomes the reference. It keeps its [`Clock`], to which
//! it adds no more exchanges, and the last [`Timing`] that it knows. So the common time and the
//! numbers of the vertical blanks continue.
//!
//! Nothing here does I/O. Times are in nanoseconds, counted from an arbitrary moment. They are
//! exact for 104 days after that moment (2^53 ns), and then lose precision.
#![forbid(unsafe_code)]

mod clock;
mod coordinator;
mod lock;
mod timing;
mod vblanks;

pub use clock::{Clock, Sample};
pub use coordinator::{Coordinator, Phase};
pub use lock::PhaseLock;
pub use timing::{Fields, Timing};
pub use vblanks::Vblanks;
