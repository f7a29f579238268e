//! The sizes of a connection, which the server chooses and sends to the client.

use std::time::Duration;

use crate::block::ALIGN;
use crate::peer::SILENCE_TIME;
use crate::Error;

/// The server's limits for a connection. The names of directions are those of the server: it sends
/// to the client, and receives from the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The longest message that the client may send. Chunks of both directions have this size,
    /// rounded up to whole pages. At most 16 MiB.
    pub message_max: usize,
    /// Memory for messages to the client, rounded up to at least two chunks. At most 1 GiB.
    pub send_pool_bytes: usize,
    /// Memory for messages from the client, with the same rounding and limit. Small pools stay in
    /// the processor's cache.
    pub recv_pool_bytes: usize,
    /// The longest message that the server may send. Messages longer than a chunk get separate
    /// memory.
    pub large_max: usize,
    /// A TCP peer whose machine has not answered for this time counts as lost.
    pub silence: Duration,
}

impl Default for Config {
    /// Chunks of 256 KiB: 32 for commands, 8 for answers, and pictures of up to 256 MiB.
    fn default() -> Config {
        Config {
            message_max: 256 << 10,
            send_pool_bytes: 8 * (256 << 10),
            recv_pool_bytes: 32 * (256 << 10),
            large_max: 256 << 20,
            silence: SILENCE_TIME,
        }
    }
}

/// A [`Config`] in the form that is sent and that both ends use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) message_max: u32,
    /// At least `message_max`, whole pages.
    pub(crate) chunk: u32,
    /// The number of chunks from client to server.
    pub(crate) to_server: u32,
    pub(crate) to_client: u32,
    /// At least `message_max`.
    pub(crate) large_max: u32,
    pub(crate) silence_ms: u32,
}

pub(crate) const PAGE: u32 = 4096;
const CHUNK_MAX: u32 = 16 << 20;
pub(crate) const POOL_MAX: u64 = 1 << 30;
pub(crate) const CHUNKS_MAX: u32 = 4096;
const LARGE_MAX: u32 = 1 << 30;

impl Sizes {
    pub(crate) const BYTES: usize = 24;

    pub(crate) fn new(config: &Config) -> Result<Sizes, Error> {
        let message_max = u32::try_from(config.message_max)
            .ok()
            .filter(|max| (1..=CHUNK_MAX).contains(max))
            .ok_or(Error::Misuse(
                "message_max must be between 1 byte and 16 MiB",
            ))?;
        let chunk = message_max.next_multiple_of(PAGE);
        let chunks = |bytes: usize| -> Result<u32, Error> {
            if bytes as u64 > POOL_MAX {
                return Err(Error::Misuse("a pool must not exceed 1 GiB"));
            }
            Ok((bytes.div_ceil(chunk as usize) as u32).clamp(2, CHUNKS_MAX))
        };
        let large_max = u32::try_from(config.large_max)
            .ok()
            .filter(|max| *max <= LARGE_MAX)
            .ok_or(Error::Misuse("large_max must not exceed 1 GiB"))?;
        Ok(Sizes {
            message_max,
            chunk,
            to_server: chunks(config.recv_pool_bytes)?,
            to_client: chunks(config.send_pool_bytes)?,
            large_max: large_max.max(message_max),
            silence_ms: config.silence.as_millis().clamp(100, 3_600_000) as u32,
        })
    }

    pub(crate) fn encode(&self) -> [u8; Sizes::BYTES] {
        let mut bytes = [0; Sizes::BYTES];
        for (field, place) in self.fields().into_iter().zip(bytes.chunks_exact_mut(4)) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// Decodes the sizes that a server has sent, and refuses sizes that [`Sizes::new`] would never
    /// make.
    pub(crate) fn decode(bytes: &[u8; Sizes::BYTES]) -> Result<Sizes, Error> {
        let field = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let sizes = Sizes {
            message_max: field(0),
            chunk: field(4),
            to_server: field(8),
            to_client: field(12),
            large_max: field(16),
            silence_ms: field(20),
        };
        let pools = 2..=CHUNKS_MAX;
        let sound = (1..=CHUNK_MAX).contains(&sizes.message_max)
            && sizes.chunk == sizes.message_max.next_multiple_of(PAGE)
            && pools.contains(&sizes.to_server)
            && pools.contains(&sizes.to_client)
            && sizes.pool(sizes.to_server) as u64 <= POOL_MAX + u64::from(CHUNK_MAX) * 2
            && sizes.pool(sizes.to_client) as u64 <= POOL_MAX + u64::from(CHUNK_MAX) * 2
            && (sizes.message_max..=LARGE_MAX).contains(&sizes.large_max)
            && (100..=3_600_000).contains(&sizes.silence_ms);
        match sound {
            true => Ok(sizes),
            false => Err(Error::PeerMisbehaved("the connection's sizes are invalid")),
        }
    }

    /// The size in bytes of a pool with this number of chunks.
    pub(crate) fn pool(&self, chunks: u32) -> usize {
        chunks as usize * self.chunk as usize
    }

    /// The number of a link's chunks, at the end of its memory, that are for reserved messages. At
    /// least three chunks remain for other messages, even if a server sends strange sizes.
    pub(crate) fn arena(&self, chunks: u32) -> u32 {
        let wanted = (self.large_max - self.message_max) / self.chunk;
        wanted.min(chunks.saturating_sub(3))
    }

    pub(crate) fn silence(&self) -> Duration {
        Duration::from_millis(self.silence_ms.into())
    }

    fn fields(&self) -> [u32; 6] {
        [
            self.message_max,
            self.chunk,
            self.to_server,
            self.to_client,
            self.large_max,
            self.silence_ms,
        ]
    }
}

const _: () = assert!(PAGE as usize % ALIGN == 0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_travel() {
        let sizes = Sizes::new(&Config {
            message_max: (256 << 10) - 4,
            ..Config::default()
        })
        .unwrap();
        assert_eq!(sizes.chunk, 256 << 10);
        assert_eq!((sizes.to_server, sizes.to_client), (32, 8));
        assert_eq!(Sizes::decode(&sizes.encode()).unwrap(), sizes);
    }

    #[test]
    fn nonsense_is_refused() {
        let good = Sizes::new(&Config::default()).unwrap();
        for (field, value) in [
            (0, 0),
            (0, u32::MAX),
            (1, 64),
            (2, 0),
            (2, 1),
            (3, 5000),
            (4, 1),
            (4, u32::MAX),
            (5, 0),
        ] {
            let mut bytes = good.encode();
            bytes[field * 4..field * 4 + 4].copy_from_slice(&u32::to_le_bytes(value));
            assert!(Sizes::decode(&bytes).is_err(), "field {field} = {value}");
        }
        for config in [
            Config {
                message_max: 0,
                ..Config::default()
            },
            Config {
                message_max: usize::MAX,
                ..Config::default()
            },
            Config {
                send_pool_bytes: usize::MAX,
                ..Config::default()
            },
            Config {
                large_max: usize::MAX,
                ..Config::default()
            },
        ] {
            assert!(Sizes::new(&config).is_err());
        }
    }
}
