//! A wall in a browser: as it is arranged, live, from the whole mural down to one tile.
//!
//! A [`Feed`] takes the pictures of one tile where they are made, and sends those that the viewer
//! asks for as JPEG. The [`Viewer`] serves the page. It asks only for what somebody looks at, no
//! larger than it is shown, no faster than it is drawn, and for the same frame of every tile; what
//! of a frame has arrived is shown when all of it has. The page has a WebSocket, which it must show
//! the token for, and says on it what is in view.
#![forbid(unsafe_code)]

mod board;
mod door;
mod encode;
mod feed;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod message;
mod outbox;
mod rounds;
mod secret;
mod viewer;
mod visitors;
mod watcher;
mod web;

pub use feed::{Feed, FeedOptions, NoViewer};
pub use message::Counters;
pub use viewer::{Viewer, ViewerError, ViewerOptions};
