//! Sort-last compositing: many pictures of one view, each with a share of the data, become one.
//!
//! The crate has two halves that know nothing of each other, and [`Group`], which puts them
//! together. [`merge()`] merges pixels of up to any number of pictures in one pass: an
//! [`Operation`] on pictures of a [`Format`]. A [`Schedule`] says which member of a group sends
//! which pixels to which other member; its [`Plan`] is data, and [`Member`] executes it as a state
//! machine without I/O. A [`Group`] is the processes of a job, which send the pieces to each other.
//!
//! The schedules are those of the field: direct send (Hsu 1993), binary swap (Ma et al. 1994), 2-3
//! swap (Yu et al. 2008), radix-k (Peterka et al. 2009), and trees, of which a cascade of nodes
//! with eight inputs is one (the compositor of the VG Cluster).

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
pub use covered::Rectangle;
pub use format::{Channel, Color, Depth, Format, Operation, UnknownOperation};
pub use group::{release_name, CompositeError, Group, Picture, PictureRef, Terms, Tile, RELEASE};
pub use member::{Event, Member, Misuse, Piece};
pub use merge::{merge, Layer, LayerMut, MergeError};
pub use plan::{Delivery, Inbound, Outbound, Plan, Round, Share};
pub use recipe::{BadRecipe, Recipe};
pub use schedule::{Schedule, UnknownSchedule};
pub use visibility::{front_to_back, Brick, Eye, VisibilityError};

/// The exit status of a program that could not composite its pictures with those of others, and has
/// said why.
pub const TOLD: u8 = 76;
/// The same of one that has lost another without hearing why, and leaves it to the launcher to say.
pub const UNTOLD: u8 = 75;
