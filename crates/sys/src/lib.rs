//! Wrappers that make the system calls of the other crates safe to use: sealed shared memory,
//! futexes, descriptors sent over sockets, the process at the other end of a socket, the clock, and
//! the machine's identity and network interfaces. Also, copies of memory that avoid a slow case of
//! memcpy.
//!
//! This crate is for Linux only. It does not know how the memory and the sockets are used.
//! Functions that can fail return [`std::io::Error`], to which callers add their context.

pub mod clock;
pub mod control_group;
pub mod copy;
pub mod cpu;
pub mod fork;
pub mod futex;
pub mod host;
pub mod interfaces;
pub mod membarrier;
pub mod memory;
pub mod parport;
pub mod passing;
pub mod peer;
pub mod process;
pub mod signals;
pub mod systemd;
pub mod tcp;
pub mod user;
pub mod written;

pub use memory::{Mapping, Protection, Readable, Writable};
pub use written::Watched;
