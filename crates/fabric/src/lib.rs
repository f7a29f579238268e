//! Connections between processes: ordered messages with credits, over shared memory, unix sockets
//! or TCP, or into a file or nowhere.
//!
//! A message is written once, into memory that the transport owns ([`Sender::reserve`],
//! [`Sender::commit`]), and read where it lies ([`Receiver::recv`]). What the receiver holds it
//! has not yet paid for: when it holds everything, the sender waits. Nothing here knows what the
//! bytes mean.
//!
//! Servers [`Listener::bind`] and give each [`Incoming`] client an answer; clients [`connect`]. The
//! server decides about sizes ([`Config`]). Over shared memory the server creates and seals the
//! memory, but for that which a client shares with several servers ([`Multicast`]), and each end
//! treats whatever it reads there as hostile.

// Heads and descriptors lie in shared memory as this machine writes its numbers, and everything
// that travels is little-endian.
#[cfg(target_endian = "big")]
compile_error!("Manganese runs on little-endian machines only");

mod address;
pub mod admission;
mod block;
mod broadcast;
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
mod line;
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

/// What a process needs to know to take over a connection that another one has made or accepted. It
/// may contain the keys of the connection, so it is wiped.
pub type Handover = zeroize::Zeroizing<Vec<u8>>;
