//! Endpoints: messages with tags between any number of processes.

mod carrier;
mod engine;
mod head;
mod memory;
mod ops;
mod queue;
#[cfg(test)]
mod simulated;

pub use engine::How;
pub use ops::{Request, Status};
pub use queue::Wanted;

/// One of an endpoint's links. It is not used again for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}
