//! Messages through a byte stream: unix sockets and TCP.
//!
//! ```text
//! frame := length: u32  0: u32  bytes  padding to a multiple of 8
//! ```
//!
//! The flow control relies on the kernel's socket buffers and the receiver's pool. While messages
//! that were not dropped hold the whole pool, the receiver does not read. The socket buffers fill,
//! and the sender has to wait.

pub(crate) mod receive_pool;
mod receiver;
mod sender;

use std::sync::Arc;

use mgn_sys::peer::Credentials;

pub(crate) use receiver::StreamReceiver;

use crate::config::Sizes;
use crate::connection::Connection;
use crate::peer::Peer;
use crate::Error;
use sender::StreamSender;

/// The length of the header of each message.
pub(crate) const HEADER: usize = 8;

pub(crate) fn server(
    peer: Arc<Peer>,
    credentials: Option<Credentials>,
    sizes: &Sizes,
) -> Connection {
    let sender = StreamSender::new(
        peer.clone(),
        sizes.chunk,
        sizes.message_max,
        sizes.large_max,
    );
    let pool = sizes.pool(sizes.to_server);
    let receiver = StreamReceiver::new(peer, sizes.message_max, sizes.message_max, pool);
    Connection::new(sender, receiver, credentials)
}

pub(crate) fn client(
    peer: Arc<Peer>,
    credentials: Option<Credentials>,
    sizes: &Sizes,
) -> Connection {
    let sender = StreamSender::new(
        peer.clone(),
        sizes.chunk,
        sizes.message_max,
        sizes.message_max,
    );
    let pool = sizes.pool(sizes.to_client);
    let receiver = StreamReceiver::new(peer, sizes.message_max, sizes.large_max, pool);
    Connection::new(sender, receiver, credentials)
}

pub(crate) fn header(len: usize) -> [u8; HEADER] {
    ((len as u32) as u64).to_le_bytes()
}

/// The message length in a frame's header.
pub(crate) fn parse_header(bytes: [u8; HEADER], max: usize) -> Result<usize, Error> {
    let header = u64::from_le_bytes(bytes);
    if header >> 32 != 0 {
        return Err(Error::PeerMisbehaved("a frame's header is invalid"));
    }
    if header > max as u64 {
        return Err(Error::PeerMisbehaved("a message is longer than was agreed"));
    }
    Ok(header as usize)
}

/// The number of bytes that a message takes in the stream.
pub(crate) fn frame(len: usize) -> usize {
    HEADER + len.next_multiple_of(HEADER)
}
