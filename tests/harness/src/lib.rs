//! Runs programs directly and through a server, and compares the files that they leave.
//!
//! The C programs are built when they are first needed. llvmpipe renders everything, on a private X
//! server, so a direct run is the reference for the run through a server.
#![forbid(unsafe_code)]

mod camera;
mod case;
mod expected;
pub mod frames;
mod head;
mod job;
mod outcome;
mod page;
pub mod piglit;
mod processes;
mod stage;
mod wall;

pub use camera::{camera, still, still_gears};
pub use case::{compare_all, Case};
pub use expected::Expected;
pub use head::Head;
pub use job::in_parallel;
pub use outcome::{Outcome, Running};
pub use page::{watch, Live, Watcher};
pub use processes::{children, parent, processes};
pub use stage::{programs, root, target, Stage};
pub use wall::{wall_file, Tile};
