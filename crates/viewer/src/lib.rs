//! A wall in a browser: live, in its arrangement, from the whole mural down to one tile.
//!
//! A [`Feed`] takes the pictures of one tile where they are made, and sends those that the viewer
//! asks for as JPEG. The [`Viewer`] serves the page. It asks only for tiles in view, no larger than
//! they are shown, no faster than they are drawn, and for the same frame of every tile. A frame is
//! shown when all of its parts have arrived. The page reports what is in view over a WebSocket, for
//! which it needs the token.
//!
//! Without the feature `page` there are only feeds.
#![forbid(unsafe_code)]

#[cfg(feature = "page")]
mod board;
mod encode;
mod feed;
#[cfg(feature = "page")]
mod feed_listener;
#[cfg(any(all(test, feature = "page"), feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg_attr(not(feature = "page"), allow(dead_code, reason = "the viewer's half"))]
mod message;
#[cfg(feature = "page")]
mod outbox;
#[cfg(feature = "page")]
mod page_connections;
#[cfg(feature = "page")]
mod rounds;
#[cfg(feature = "page")]
mod secret;
#[cfg(feature = "page")]
mod viewer;
#[cfg(feature = "page")]
mod watcher;
#[cfg(feature = "page")]
mod web;

pub use feed::{Feed, FeedOptions, NoViewer};
pub use message::Counters;
#[cfg(feature = "page")]
pub use viewer::{Viewer, ViewerError, ViewerOptions};
