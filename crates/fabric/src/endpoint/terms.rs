//! The terms that each end of a link states when the link is made, and the limits that follow from
//! them.
//!
//! ```text
//! terms := eager: u32  envelopes: u32  held: u64  fetches: u64  address: u64  proof: 16 bytes        little-endian
//! ```

use mgn_sys::fork::PerProcess;

use super::settings::{Settings, NEVER, PART_MAX};
use crate::token::random;
use crate::{Error, Transport};

/// The limits that an end sets for its peer, and other data that the peer needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The longest eager message that the end accepts.
    pub(crate) eager: u32,
    /// The number of messages that may wait at the end.
    pub(crate) envelopes: u32,
    /// The bytes of such messages, over sockets.
    pub(crate) held: u64,
    /// The end reads messages of at least this length from their sender's memory.
    pub(crate) fetches: u64,
    /// The address of `proof` in the end's memory. A peer that reads `proof` at this address knows
    /// that it reads the right process. 0 if no peer may read the end's memory.
    pub(crate) address: u64,
    pub(crate) proof: [u8; 16],
}

/// Random bytes in our memory. A peer that finds them knows that it reads the right process. A
/// forked child has other bytes.
static PROOF: PerProcess<Proof> = PerProcess::new();

#[derive(Debug)]
struct Proof([u8; 16]);

impl Default for Proof {
    fn default() -> Proof {
        let mut proof = [0; 16];
        random(&mut proof);
        Proof(proof)
    }
}

/// The bytes that prove to peers that they read our memory.
pub(crate) fn proof() -> &'static [u8; 16] {
    &PROOF.get().0
}

/// Puts the proof and its address in our memory into the terms.
fn show(terms: &mut Terms) {
    let proof = proof();
    terms.address = proof.as_ptr() as u64;
    terms.proof = *proof;
}

impl Terms {
    pub(crate) const BYTES: usize = 48;

    pub(crate) fn new(settings: &Settings, transport: &Transport) -> Terms {
        let single_copy = match transport {
            Transport::Shm => settings.single_copy_shm,
            Transport::Unix => settings.single_copy_unix,
            _ => NEVER,
        };
        let mut terms = Terms {
            eager: match transport {
                Transport::Shm => settings.chunk as u32,
                _ => (settings.held / 4) as u32,
            },
            envelopes: settings.envelopes as u32,
            held: settings.held as u64,
            fetches: single_copy as u64,
            address: 0,
            proof: [0; 16],
        };
        if is_local(transport) {
            show(&mut terms);
        }
        terms
    }

    pub(crate) fn encode(&self) -> [u8; Terms::BYTES] {
        let mut bytes = [0; Terms::BYTES];
        bytes[..4].copy_from_slice(&self.eager.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.envelopes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.held.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.fetches.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.address.to_le_bytes());
        bytes[32..].copy_from_slice(&self.proof);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; Terms::BYTES]) -> Result<Terms, Error> {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let terms = Terms {
            eager: word(0),
            envelopes: word(4),
            held: long(8),
            fetches: long(16),
            address: long(24),
            proof: std::array::from_fn(|i| bytes[32 + i]),
        };
        // Without buffer space for one message of each kind, no message could ever be sent.
        match terms.eager > 0 && terms.envelopes > 0 && terms.held >= u64::from(terms.eager) {
            true => Ok(terms),
            false => Err(Error::PeerMisbehaved("its terms are invalid")),
        }
    }
}

fn is_local(transport: &Transport) -> bool {
    matches!(transport, Transport::Shm | Transport::Unix)
}

/// The limits that one end of a link observes.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// The longest message that the end sends eagerly.
    pub(crate) eager: usize,
    /// The longest part that the end sends.
    pub(crate) part: usize,
    pub(crate) ours: Terms,
    pub(crate) theirs: Terms,
}

impl Limits {
    pub(crate) fn new(
        settings: &Settings,
        transport: &Transport,
        ours: Terms,
        theirs: Terms,
    ) -> Limits {
        let (eager, part) = match transport {
            Transport::Shm => (settings.eager_shm, settings.chunk),
            Transport::Unix => (settings.eager_unix, settings.part_unix),
            _ => (settings.eager_tcp, settings.part_tcp),
        };
        let mut limits = Limits {
            eager: eager.min(theirs.eager as usize),
            part: part.min(PART_MAX),
            ours,
            theirs,
        };
        // A peer on another host cannot read our memory, even if its terms claim so. It must get no
        // addresses.
        if !is_local(transport) {
            limits.theirs.fetches = NEVER as u64;
        }
        limits
    }

    /// The limits between two ends with default settings.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn usual(transport: &Transport) -> Limits {
        let settings = Settings::default();
        let terms = Terms::new(&settings, transport);
        Limits::new(&settings, transport, terms, terms)
    }

    /// The peer reads messages of at least this length from our memory.
    pub(crate) fn fetched_from(&self) -> usize {
        usize::try_from(self.theirs.fetches).unwrap_or(NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_travel() {
        for transport in [Transport::Shm, Transport::Unix, Transport::Tcp] {
            let terms = Terms {
                address: 0x1234_5678_9abc,
                proof: [7; 16],
                ..Terms::new(&Settings::default(), &transport)
            };
            assert_eq!(Terms::decode(&terms.encode()).unwrap(), terms);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let good = Terms::new(&Settings::default(), &Transport::Tcp);
        for wrong in [
            Terms { eager: 0, ..good },
            Terms {
                envelopes: 0,
                ..good
            },
            Terms {
                held: u64::from(good.eager) - 1,
                ..good
            },
        ] {
            assert!(Terms::decode(&wrong.encode()).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn peers_elsewhere_are_shown_nothing() {
        let theirs = Terms {
            fetches: 1,
            ..Terms::new(&Settings::default(), &Transport::Tcp)
        };
        let limits = |transport: Transport| {
            let settings = Settings::default();
            let ours = Terms::new(&settings, &transport);
            Limits::new(&settings, &transport, ours, theirs)
        };
        assert_eq!(limits(Transport::Tcp).fetched_from(), NEVER);
        assert_eq!(limits(Transport::Unix).fetched_from(), 1);
    }

    #[test]
    fn the_receiver_bounds_what_is_sent_at_once() {
        let theirs = Terms {
            eager: 5000,
            ..Terms::new(&Settings::default(), &Transport::Tcp)
        };
        let ours = theirs;
        let limits = |eager_tcp| {
            let settings = Settings {
                eager_tcp,
                ..Settings::default()
            };
            Limits::new(&settings, &Transport::Tcp, ours, theirs)
        };
        assert_eq!(limits(4000).eager, 4000);
        assert_eq!(limits(64 << 10).eager, 5000);
    }
}
