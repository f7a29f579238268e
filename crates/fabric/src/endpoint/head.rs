//! The head of every frame of a link.
//!
//! ```text
//! head := kind: u8  flags: u8  handler: u16  id: u32  value: u64        little-endian
//! ```
//!
//! | kind | id | value | payload |
//! |---|---|---|---|
//! | Eager | the sender's number, if it wants a confirmation | tag | the whole message |
//! | Offer | the sender's number | tag | length u64, address u64 if the peer may read there, or 0 |
//! | Part | the sender's number | offset | the bytes from this offset on |
//! | Accept | the number from the offer | 0, or the code of a refusal | |
//! | Taken | the number from the offer or the message | 0, or the code of a refusal | |
//! | Withdraw | the number of an offer | | |
//! | Withdrawn | the number of an offer | | |
//! | Remote | the requester's number | address to read at | key 16 bytes, offset u64, length u64, address u64; none with an answer |
//! | Credit | number of messages taken out of the queue | number of bytes returned | |
//! | Window | | number of bytes that may wait from now on | |

use crate::Error;

/// The length of a head in bytes.
pub(crate) const HEAD: usize = 16;

/// The length of an offer's payload in bytes.
pub(crate) const OFFER: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole message.
    Eager = 1,
    /// An offer of a long message.
    Offer = 2,
    /// Some bytes of an offered message, in order.
    Part = 3,
    /// The receiver accepts an offered message.
    Accept = 4,
    /// The receiver has the message, or has matched a synchronous message.
    Taken = 5,
    /// The sender withdraws an offer.
    Withdraw = 6,
    /// The receiver has dropped a withdrawn offer.
    Withdrawn = 7,
    /// Returns credit, on transports that do not count it in shared memory.
    Credit = 8,
    /// A request to write to or read from offered memory, or an answer to such a request.
    Remote = 9,
    /// The part of the agreed buffer space that the peer may use from now on. It changes with the
    /// number of the receiver's links.
    Window = 10,
}

/// The receiver must confirm that it has matched the message.
pub(crate) const SYNC: u8 = 1;

/// In an acceptance: the receiver has fetched the message already.
pub(crate) const FETCHED: u8 = 4;

/// The request asks to write.
pub(crate) const PUT: u8 = 8;

/// The request asks to read. With [`FETCHED`], the requester wants to read the memory itself.
pub(crate) const GET: u8 = 16;

/// The head answers a request of the receiver, and has the request's number.
pub(crate) const ANSWER: u8 = 32;

/// The bytes to be written follow without an acceptance.
pub(crate) const FOLLOWS: u8 = 64;

/// In an acceptance: from now on, the sender must give the addresses of messages of this length
/// class, so that the receiver can fetch them.
pub(crate) const SHOW: u8 = 128;

/// The length of a request's payload in bytes.
pub(crate) const REMOTE: usize = 40;

/// The message is for the handler with the number in the head, and not for a receive.
pub(crate) const ACTIVE: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    pub(crate) handler: u16,
    pub(crate) id: u32,
    pub(crate) value: u64,
}

impl Head {
    pub(crate) fn new(kind: Kind, id: u32, value: u64) -> Head {
        Head {
            kind,
            flags: 0,
            handler: 0,
            id,
            value,
        }
    }

    #[inline]
    pub(crate) fn encode(&self) -> [u64; 2] {
        let first = self.kind as u64
            | u64::from(self.flags) << 8
            | u64::from(self.handler) << 16
            | u64::from(self.id) << 32;
        [first, self.value]
    }

    #[inline]
    pub(crate) fn decode([first, value]: [u64; 2]) -> Result<Head, Error> {
        let kind = match first as u8 {
            1 => Kind::Eager,
            2 => Kind::Offer,
            3 => Kind::Part,
            4 => Kind::Accept,
            5 => Kind::Taken,
            6 => Kind::Withdraw,
            7 => Kind::Withdrawn,
            8 => Kind::Credit,
            9 => Kind::Remote,
            10 => Kind::Window,
            _ => return Err(Error::PeerMisbehaved("a frame is of no known kind")),
        };
        Ok(Head {
            kind,
            flags: (first >> 8) as u8,
            handler: (first >> 16) as u16,
            id: (first >> 32) as u32,
            value,
        })
    }

    /// Whether the words are the head of a whole message for a receive that needs no confirmation.
    #[inline]
    pub(crate) fn is_plain([first, _]: [u64; 2]) -> bool {
        first as u16 == Kind::Eager as u16
    }

    /// Whether the sender does not wait for the receiver's reaction. The receiver may then handle
    /// the frame when its program next calls.
    #[inline]
    pub(crate) fn can_wait(&self) -> bool {
        match self.kind {
            Kind::Eager => self.flags & (SYNC | ACTIVE) == 0,
            Kind::Accept => self.has(FETCHED),
            Kind::Taken => true,
            _ => false,
        }
    }

    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_back() {
        for kind in 1..=10 {
            let head = Head::decode([kind | 0x0123_4567_89ab_cd00, u64::MAX]).unwrap();
            assert_eq!(head.encode(), [kind | 0x0123_4567_89ab_cd00, u64::MAX]);
            assert_eq!(
                (head.flags, head.handler, head.id),
                (0xcd, 0x89ab, 0x0123_4567)
            );
        }
        assert!(Head::decode([0, 0]).is_err());
        assert!(Head::decode([11, 0]).is_err());
    }
}
