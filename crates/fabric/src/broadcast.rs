//! Broadcast: one writer and many readers. Each reader gets every message that is sent after it has
//! joined.
//!
//! On one host, the readers share one copy of a message: the writer puts the message into a chunk,
//! and the message's descriptor into each reader's lane. The chunk is free again when the last
//! reader has released it. Readers cannot write to the chunks. Over sockets, each reader gets its
//! own copy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::block::ALIGN;
use crate::config::Sizes;
use crate::peer::Peer;
use crate::shm::{self, Descriptor, Lane, Memory, Pool, Span, SLOTS};
use crate::wait::Spinner;
use crate::{stream, Config, Error, Incoming, Sender};

/// The interval at which the writer checks all readers, while it sleeps on one that lags.
const READER_CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// The number of failed attempts to get space between two checks whether the readers are alive.
const LIFE_CHECK_POLLS: u32 = 32;

/// The writing end. Readers connect by [`crate::connect()`], as to any server.
#[derive(Debug)]
pub struct Broadcast {
    config: Config,
    sizes: Sizes,
    shared: Option<Shared>,
    copies: Vec<Sender>,
    stop: Arc<Stop>,
}

/// Stops the sends of a [`Broadcast`], from any thread.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    is_set: AtomicBool,
    /// The peers at whose sockets a send may wait.
    peers: Mutex<Vec<Weak<Peer>>>,
}

/// The memory that the readers on this host share.
#[derive(Debug)]
struct Shared {
    memory: Arc<Memory>,
    pool: Pool,
    /// The total number of messages put.
    number: u64,
    readers: Vec<Reader>,
}

#[derive(Debug)]
struct Reader {
    peer: Arc<Peer>,
    lane: Arc<Lane>,
    /// The number of its first message.
    first: u64,
    /// For each chunk, the number of messages sent in it before the reader joined.
    before: Vec<u32>,
}

impl Broadcast {
    /// Creates a writer without readers. Of the sizes in `config`, it uses those for messages to
    /// the client, and `message_max` as the longest message.
    ///
    /// # Errors
    /// [`Error::Misuse`] for impossible sizes.
    pub fn new(config: &Config) -> Result<Broadcast, Error> {
        let config = Config {
            recv_pool_bytes: 0,
            large_max: config.message_max,
            ..config.clone()
        };
        Ok(Broadcast {
            sizes: Sizes::new(&config)?,
            config,
            shared: None,
            copies: Vec::new(),
            stop: Arc::default(),
        })
    }

    /// Accepts a reader, which gets all messages from now on.
    ///
    /// # Errors
    /// As for [`Incoming::accept`].
    pub fn accept(&mut self, incoming: Incoming, welcome: &[u8]) -> Result<(), Error> {
        if *incoming.transport() != crate::Transport::Shm {
            let way = incoming.open(welcome, &self.config, SLOTS)?;
            self.stop.add(&way.peer);
            let connection = stream::server(way.peer, way.credentials, &way.sizes);
            self.copies.push(connection.split().0);
            return Ok(());
        }
        let sizes = self.sizes;
        let shared = match &mut self.shared {
            Some(shared) => shared,
            none => none.insert(Shared::new(&sizes)?),
        };
        let memory = shared.memory.clone();
        let make = |sizes: &Sizes| shm::create_with(sizes, SLOTS, &memory);
        let way = incoming.open_with(welcome, &self.config, make)?;
        let control = way.memory.expect("made above");
        shared.readers.push(Reader {
            lane: shm::reader_lane(&sizes, &control[0], SLOTS, memory)?,
            peer: way.peer,
            first: shared.number,
            before: shared.pool.sent().to_vec(),
        });
        Ok(())
    }

    /// Sends a message to all readers. Waits while a reader has too many unread messages. Drops
    /// readers that have closed their connections or died.
    ///
    /// # Errors
    /// [`Error::TooLong`]; [`Error::Closed`] when the broadcast is stopped. In this case, some
    /// readers may still get the message.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let max = self.config.message_max;
        if bytes.len() > max {
            let len = bytes.len();
            return Err(Error::TooLong { len, max });
        }
        self.stop.check()?;
        if let Some(shared) = &mut self.shared {
            shared.send(bytes, &self.stop)?;
        }
        self.copies.retain(|reader| match reader.send(bytes) {
            Ok(()) => true,
            Err(error) => {
                tracing::debug!("dropping a reader: {error}");
                false
            }
        });
        self.stop.check()
    }

    /// The handle that ends a waiting send and all later ones.
    pub(crate) fn stop(&self) -> &Arc<Stop> {
        &self.stop
    }

    /// The number of readers that are not known to be gone.
    pub fn readers(&self) -> usize {
        self.shared
            .as_ref()
            .map_or(0, |shared| shared.readers.len())
            + self.copies.len()
    }
}

impl Stop {
    pub(crate) fn set(&self) {
        self.is_set.store(true, Ordering::Release);
        for peer in self.peers().iter().filter_map(Weak::upgrade) {
            peer.hang_up();
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.is_set.load(Ordering::Acquire) {
            true => Err(Error::Closed("this end".into())),
            false => Ok(()),
        }
    }

    fn add(&self, peer: &Arc<Peer>) {
        let mut peers = self.peers();
        peers.retain(|peer| peer.strong_count() > 0);
        peers.push(Arc::downgrade(peer));
    }

    fn peers(&self) -> MutexGuard<'_, Vec<Weak<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn new(sizes: &Sizes) -> Result<Shared, Error> {
        Ok(Shared {
            memory: shm::create_shared(sizes)?,
            pool: Pool::new(sizes.chunk, sizes.to_client),
            number: 0,
            readers: Vec::new(),
        })
    }

    fn send(&mut self, bytes: &[u8], stop: &Stop) -> Result<(), Error> {
        let mut spinner = Spinner::default();
        let mut looks = 0u32;
        let span = loop {
            stop.check()?;
            self.readers.retain(|reader| !reader.lane.reader_closed());
            let mut found = None;
            spinner.spin(|| {
                found = self.take(bytes.len() as u32);
                found.is_some()
            });
            if let Some(span) = found {
                break span;
            }
            looks += 1;
            if looks % LIFE_CHECK_POLLS == 1 {
                self.readers.retain(|reader| !reader.peer.gone());
            }
            let slowest = self
                .readers
                .iter()
                .find(|reader| reader.lags(self.number, self.pool.sent()));
            if let Some(reader) = slowest {
                spinner.sleeping();
                reader.lane.writer_sleep(READER_CHECK_INTERVAL, || false);
                spinner.woke();
            }
        };
        let chunk = self.memory.map.len() / self.pool.len();
        let start = span.chunk as usize * chunk + span.offset as usize;
        let room = self.memory.map.range(start, bytes.len());
        // SAFETY: `range` has checked that the space is inside the mapping, and the pool has given
        // it to no other message.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), room, bytes.len()) };
        self.pool.commit(span.chunk);
        for reader in &self.readers {
            let place = Descriptor {
                place: span.chunk,
                offset: span.offset,
                len: bytes.len() as u32,
            };
            reader.lane.put(self.number - reader.first, place);
        }
        self.number += 1;
        let end = span.offset as usize + bytes.len().max(1).next_multiple_of(ALIGN);
        let offset = end.min(chunk) as u32;
        let readers = &self.readers;
        let is_released = |chunk, sent| is_released(readers, chunk, sent);
        self.pool.give(Span { offset, ..span }, is_released);
        Ok(())
    }

    /// Takes space for a message, if every reader also has a free slot for it.
    fn take(&mut self, len: u32) -> Option<Span> {
        let number = self.number;
        // Drop readers with impossible counters.
        self.readers
            .retain(|reader| reader.lane.taken(number - reader.first).is_ok());
        if self.readers.iter().any(|reader| reader.is_full(number)) {
            return None;
        }
        let readers = &self.readers;
        self.pool
            .take(len, |chunk, sent| is_released(readers, chunk, sent))
    }
}

/// Whether all readers have released the messages of a chunk.
fn is_released(readers: &[Reader], chunk: u32, sent: u32) -> bool {
    let mut readers = readers.iter();
    readers.all(|reader| reader.released(chunk) == sent)
}

impl Reader {
    fn released(&self, chunk: u32) -> u32 {
        self.before[chunk as usize].wrapping_add(self.lane.released(chunk))
    }

    fn is_full(&self, number: u64) -> bool {
        let put = number - self.first;
        self.lane
            .taken(put)
            .map_or(true, |taken| put - taken >= SLOTS)
    }

    /// Whether the writer may be waiting for this reader.
    fn lags(&self, number: u64, sent: &[u32]) -> bool {
        let mut chunks = sent.iter().enumerate();
        self.is_full(number) || chunks.any(|(chunk, sent)| self.released(chunk as u32) != *sent)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.peer.ours() {
            self.lane.close_writer();
        }
    }
}
