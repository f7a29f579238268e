//! The handshake of two ends. It comes before all other data of a connection.
//!
//! ```text
//! client: hello     magic, version, transport, nonce, whether it has a token and its identifier, length of opening
//! server: challenge magic, version, nonce, whether it wants a token, proof      or a refusal
//! client: answer    proof, opening
//! server: verdict   sizes and welcome                                           or a refusal
//! ```
//!
//! A proof is a MAC, keyed with the token, over all bytes exchanged so far. So the token itself is
//! never sent, an old answer cannot be replayed, and each end knows that the other end has the
//! token. The identifier tells the server which of its tokens the client has, and thus the client's
//! role. The handshake does not protect the bytes that follow: a token keeps strangers out, but
//! does not encrypt data. If the connection is encrypted ([`crate::tls`]), the handshake takes
//! place inside the encryption, and the key of the MAC is the token bound to the channel.
//!
//! Nothing here does I/O. [`ServerSide`] and [`ClientSide`] get the received bytes, and return the
//! bytes to send and the number of bytes to read next. So the handshake never reads bytes that
//! belong to the connection's messages.

mod client;
mod server;

pub(crate) use client::{Agreed, ClientSide, Step};
pub(crate) use server::{accepted, forbidden, not_permitted, put_off, refused};
pub(crate) use server::{Known, Progress, ServerSide};

use crate::token::{Token, TokenId};
use crate::{Error, Transport};

/// The version of all protocols of this crate between two processes.
pub(crate) const VERSION: u16 = 5;

pub(crate) const MAGIC: [u8; 8] = *b"\x93MGNFAB\n";

/// The longest opening, which the server reads before it has authenticated the client.
pub(crate) const OPENING_MAX: usize = 64 << 10;
/// The longest welcome.
pub(crate) const WELCOME_MAX: usize = 4 << 20;
/// The longest reason for a refusal.
const REASON_MAX: usize = 4 << 10;

const NONCE: usize = 32;
const PROOF: usize = 32;

/// magic, version u16, transport u8, has token u8, opening length u32, nonce, token's identifier
const HELLO: usize = 8 + 2 + 1 + 1 + 4 + NONCE + TokenId::BYTES;
/// The position of the identifier.
const ID: usize = HELLO - TokenId::BYTES;
/// magic, version u16, refusal u8, wants token u8, length of reason u32, nonce, proof
const CHALLENGE: usize = 8 + 2 + 1 + 1 + 4 + NONCE + PROOF;
/// refusal u8, 3 zero bytes, length of reason or of the welcome u32
const VERDICT: usize = 8;

/// The kind of a refusal, from which the client makes its error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Refusal {
    /// The application's own reason.
    Application = 1,
    Auth = 2,
    Protocol = 3,
    /// The application's own reason, which is temporary.
    Later = 4,
    /// The client's token does not permit its request.
    Role = 5,
}

impl Refusal {
    fn error(code: u8, reason: String) -> Error {
        match code {
            2 => Error::Auth(reason),
            4 => Error::NotNow(reason),
            5 => Error::Forbidden(reason),
            _ => Error::Refused(reason),
        }
    }
}

pub(crate) fn code(transport: &Transport) -> u8 {
    match transport {
        Transport::Shm => 1,
        Transport::Unix => 2,
        Transport::Tcp => 3,
        Transport::Null | Transport::File(_) => 0,
    }
}

pub(crate) fn transport(code: u8) -> Option<Transport> {
    match code {
        1 => Some(Transport::Shm),
        2 => Some(Transport::Unix),
        3 => Some(Transport::Tcp),
        _ => None,
    }
}

/// All bytes that both ends have sent when a proof is made.
struct Transcript<'a> {
    hello: &'a [u8; HELLO],
    server_nonce: &'a [u8; NONCE],
    opening: &'a [u8],
}

impl Transcript<'_> {
    /// The server's proof. It comes before the client's proof, so that a client reveals nothing to
    /// an impostor.
    fn server_proof(&self, token: &Token) -> blake3::Hash {
        self.proof(token, b"mgn fabric server")
    }

    fn client_proof(&self, token: &Token) -> blake3::Hash {
        self.proof(token, b"mgn fabric client")
    }

    fn proof(&self, token: &Token, role: &[u8; 17]) -> blake3::Hash {
        let mut mac = blake3::Hasher::new_keyed(token.key());
        mac.update(role)
            .update(self.hello)
            .update(self.server_nonce)
            .update(self.opening);
        mac.finalize()
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

/// A reason as text that a terminal can show. The other end may not be trusted.
fn reason(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

fn truncated(text: &str) -> &[u8] {
    let mut end = text.len().min(REASON_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text.as_bytes()[..end]
}

#[cfg(test)]
mod tests;
