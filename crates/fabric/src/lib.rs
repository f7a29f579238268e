//! Connections between processes: ordered messages with flow control by credit, over shared memory,
//! unix sockets or TCP. Messages can also be recorded to a file, or discarded.
//!
//! A message is written once, into memory that the transport owns ([`Sender::reserve`],
//! [`Sender::commit`]), and is read in place ([`Receiver::recv`]). Messages that the receiver holds
//! use up the credit: when they take all the memory, the sender waits. This crate does not
//! interpret the bytes.
//!
//! Servers call [`Listener::bind`], and accept or refuse each [`Incoming`] client. Clients call
//! [`connect()`]. The server chooses the sizes ([`Config`]). Over shared memory, the server creates
//! and seals the memory, except the memory that a client shares with several servers
//! ([`Multicast`]). Each end treats all data that it reads there as hostile.

// In shared memory, heads and descriptors have the machine's byte order. All data that is sent
// through sockets is little-endian.
#[cfg(target_endian = "big")]
compile_error!("Manganese runs on little-endian machines only");

mod address;
pub mod admission;
mod block;
mod broadcast;
mod byte_stream;
mod caller;
mod config;
mod connect;
mod connection;
pub mod endpoint;
mod error;
pub mod file;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod handshake;
pub mod job;
mod key;
mod listener;
mod message;
mod null;
mod peer;
mod printable;
mod relay;
mod seal;
pub mod secret_file;
mod shm;
mod store;
mod stream;
#[cfg(test)]
mod testing;
mod tls;
mod token;
mod tune;
mod wait;

pub use address::{is_name, Address, Transport, MOTHERSHIP_PORT, RELAY_PORT, SERVER_PORT};
pub use broadcast::Broadcast;
pub use caller::Caller;
pub use config::Config;
pub use connect::{connect, connect_for_another, take_over};
pub use connection::{Connection, Receiver, Reservation, Sender};
pub use error::Error;
pub use key::{PublicKey, ServerKey};
pub use listener::{Incoming, Inherited, Listener};
pub use message::{Message, Segment};
pub use mgn_sys::peer::Credentials;
pub use printable::printable;
pub use relay::{Directory, Relay, Targets};
pub use shm::{Member, Multicast};
pub use store::{Access, Store};
pub use token::{Identity, Role, Token, TokenId};
pub use tune::{tune, tune_partner, Tuned};
pub use wait::Spinner;

/// The data that a process needs to take over a connection that another process has made or
/// accepted. It may contain the connection's keys, so it is wiped from memory.
pub type Handover = zeroize::Zeroizing<Vec<u8>>;
