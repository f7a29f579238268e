//! Barriers among the processes of a job.
//!
//! A barrier is a state machine without I/O ([`Barrier`]): its owner passes in arrivals, packets,
//! losses and the time, and takes out the packets to send. The owner has the connections.
//!
//! A [`Pattern`] is the way in which the members of one view tell each other that they have
//! arrived: [`Star`], [`Tree`], [`Dissemination`] or [`Hierarchical`]. A [`Member`] runs a pattern
//! over reliable links that keep packets in order, and changes the view when members are lost,
//! leave or join. [`Udp`] does the same over datagrams. [`Shared`] is different: it is a barrier in
//! memory that the processes of a host share, and it waits by itself.
//!
//! [`JobBarrier`] runs all these barriers among the processes of a job, over the job's links,
//! datagrams, shared memory or wires.
#![forbid(unsafe_code)]

mod barrier;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod job;
mod member;
mod packet;
mod pattern;
mod shared;
mod udp;
mod view;
mod wired;

pub use barrier::{Barrier, Event, Recipient, Transmit};
pub use error::{were_lost, Ended, Lost, Misuse, Refused, ViewError, WaitError};
pub use job::{Choice, JobBarrier, Kind, OpenError, Options, UnknownChoice, UnknownKind};
pub use member::Member;
pub use packet::sender_of;
pub use pattern::{
    Destination, Dissemination, Hierarchical, Pattern, Signal, Star, Tree, Unexpected,
};
pub use shared::page::MEMBERS_MAX as SHARED_MAX;
pub use shared::{Reporter, Shared, SharedError};
pub use udp::{Resending, Udp};
pub use view::{Combine, Group, Id, View};
pub use wired::{Device, Lines, UnknownLines, Wired, LINES};
