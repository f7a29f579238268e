//! System calls that the other crates build on, wrapped so that their use is safe: sealed shared
//! memory, futexes, descriptors sent over sockets, the process at the other end and whether it
//! lives, the clock, and the machine: its identity and network interfaces. And copies of memory
//! that avoid a slow case of memcpy.
//!
//! Linux only. Nothing here knows what the memory or the sockets are used for. Every function
//! gives [`std::io::Error`]; callers say what they were doing.

pub mod clock;
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
