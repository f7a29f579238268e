//! Runs programs directly and through a server, and compares what they leave.
//!
//! The programs' own C sources are built when first needed. Everything is rendered by llvmpipe, on
//! a private X server, so that the picture without us is the yardstick for the picture with us.
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
