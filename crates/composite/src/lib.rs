//! Sort-last compositing: many pictures of one view, each with a share of the data, become one.
//!
//! The crate has two halves that know nothing of each other, and [`Group`], which combines them.
//! [`merge()`] merges pixels of any number of pictures in one pass: it applies an [`Operation`] to
//! pictures of a [`Format`]. A [`Schedule`] says which member of a group sends which pixels to
//! which other member; its [`Plan`] is data, and [`Member`] executes it as a state machine without
//! I/O. A [`Group`] consists of the processes of a job, which send each other pieces, or read each
//! other's pictures in memory that they share.
//!
//! The schedules are those of the field: direct send (Hsu 1993), binary swap (Ma et al. 1994), 2-3
//! swap (Yu et al. 2008), radix-k (Peterka et al. 2009), and trees. A cascade of nodes with eight
//! inputs, such as the compositor of the VG Cluster, is a tree.

mod active;
mod cost;
mod covered;
mod format;
mod group;
mod member;
mod merge;
mod plan;
mod recipe;
mod schedule;
mod visibility;

pub use cost::{Costs, Load};
pub use covered::{Pixel, Rectangle};
pub use format::{Channel, Color, Depth, Format, Operation, UnknownOperation};
pub use group::{release_name, CompositeError, Group, Picture, PictureRef, Terms, Tile, RELEASE};
pub use member::{Event, Member, Misuse, Piece};
pub use merge::{merge, Layer, LayerMut, MergeError};
pub use plan::{Delivery, Inbound, Outbound, Plan, Round, Share};
pub use recipe::{BadRecipe, Recipe};
pub use schedule::{Schedule, UnknownSchedule};
pub use visibility::{front_to_back, Brick, Eye, VisibilityError};

/// The exit status of a program that could not composite its pictures with those of other ranks,
/// and has printed the reason.
pub const TOLD: u8 = 76;
/// The exit status of a program that has lost another rank without learning why. The launcher
/// reports the reason.
pub const UNTOLD: u8 = 75;
