//! Multicast: one writer sends messages to several servers on this host, which all read the same
//! copy.
//!
//! The writer makes the memory, and no other process can write to it. Each server gets the memory's
//! file descriptor over the socket of its connection. The lane to a server carries the descriptors
//! of multicast messages and of other messages, and the lane's counters count their release. A
//! chunk is free again when all servers have released the messages in it.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_sys::{fork, memory};

use super::lane::{Descriptor, Memory, GROUP_CHUNKS, IN_GROUP};
use super::pool::{Pool, Span};
use super::region::{announce, Known, FIRST_ID};
use super::sender::{ShmSender, HELD_TOO_LONG, SPENT};
use crate::block::{MemorySource, Room, ALIGN};
use crate::config::PAGE;
use crate::connection::SendEnd;
use crate::peer::Peer;
use crate::wait::{Spinner, PULSE};
use crate::{Error, Reservation, Sender};

/// The slot of the group's memory. A server knows the memory of only one group.
const SLOT: usize = 0;

/// The interval at which the writer checks all servers, while it sleeps on one that lags.
const READER_CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// While further messages follow, the writer wakes sleeping servers once for this number of
/// messages.
const AT_ONCE: u32 = 4;

/// Sends the same messages to several servers. Each message is written once, and servers on the
/// writer's host read it in place.
pub struct Multicast {
    writer: Sender,
    end: Arc<End>,
    /// The number of messages since servers were last woken.
    quiet: AtomicU32,
}

/// A server's membership in the group. The server leaves the group when this is dropped.
pub struct Member {
    end: Arc<End>,
    reader: Arc<Reader>,
}

struct Reader {
    sender: Arc<ShmSender>,
    /// For each chunk, the number of messages sent to this server in it so far, modulo 2^32.
    sent: Vec<AtomicU32>,
}

/// The sending end, which makes reservations.
struct End {
    memory: Arc<Memory>,
    chunk: u32,
    message_max: usize,
    book: Mutex<Book>,
    /// The lock of the thread that waits for servers. Other waiting threads wait for this lock.
    turn: Mutex<Spinner>,
    waited: AtomicU64,
    /// The generation of processes that made this end. A forked child frees nothing.
    owner: u32,
}

struct Book {
    pool: Pool,
    readers: Vec<Arc<Reader>>,
}

impl Multicast {
    /// Creates a writer of messages of at most `message_max` bytes. It has no members yet.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no memory.
    pub fn new(message_max: usize) -> Result<Multicast, Error> {
        let chunk = chunk(message_max);
        let bytes = chunk * GROUP_CHUNKS as usize;
        let made = memory::create_read_only("mgn-multicast", bytes);
        let (fd, map) = made.map_err(Error::io(format!(
            "cannot make {bytes} bytes of shared memory"
        )))?;
        let id = FIRST_ID;
        let end = Arc::new(End {
            memory: Arc::new(Memory { map, fd, id }),
            chunk: chunk as u32,
            message_max,
            book: Mutex::new(Book {
                pool: Pool::new(chunk as u32, GROUP_CHUNKS),
                readers: Vec::new(),
            }),
            turn: Mutex::new(Spinner::default()),
            waited: AtomicU64::new(0),
            owner: fork::generation(),
        });
        let writer = Sender::new(end.clone());
        let quiet = AtomicU32::new(0);
        Ok(Multicast { writer, end, quiet })
    }

    /// The sender with which messages are reserved. A message that is committed with
    /// [`Sender::commit`] instead of [`Multicast::commit`] goes to no member.
    pub fn writer(&self) -> &Sender {
        &self.writer
    }

    /// Adds the server to which `sender` sends. Returns `None` if the server cannot be a member,
    /// because it uses no shared memory or does not accept messages of this length.
    ///
    /// # Errors
    /// [`Error::Closed`] if it is gone.
    pub fn join(&self, sender: &Sender) -> Result<Option<Member>, Error> {
        let end = sender.end().clone().into_any();
        let Some(Ok(sender)) = end.map(|end| end.downcast::<ShmSender>()) else {
            return Ok(None);
        };
        if sender.max() < self.end.message_max {
            return Ok(None);
        }
        announce(&self.end.memory, SLOT, sender.peer())?;
        let reader = Arc::new(Reader {
            sender,
            sent: (0..GROUP_CHUNKS).map(|_| AtomicU32::new(0)).collect(),
        });
        self.end.book().readers.push(reader.clone());
        let end = self.end.clone();
        Ok(Some(Member { end, reader }))
    }

    /// Sends the first `used` bytes of a reservation to `members`, as [`Sender::commit`] does to
    /// one server. For each member to which the message cannot be sent, calls `failed` with the
    /// member's index and the error. Set `follows` if another message follows soon: sleeping
    /// members are then woken once for `AT_ONCE` messages, or when there is no space for more.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a reservation of another writer, or for more bytes than were reserved.
    pub fn commit(
        &self,
        reservation: &mut Reservation,
        used: usize,
        members: &[&Member],
        follows: bool,
        mut failed: impl FnMut(usize, Error),
    ) -> Result<(), Error> {
        let MemorySource::Chunk { chunk, offset } = *self.writer.place(reservation, used)? else {
            return Err(SPENT);
        };
        let message = Descriptor {
            place: IN_GROUP | chunk,
            offset,
            len: used as u32,
        };
        let quiet = match follows {
            true => self.quiet.fetch_add(1, Ordering::Relaxed) + 1,
            false => AT_ONCE,
        };
        let wakes = quiet >= AT_ONCE;
        if wakes {
            self.quiet.store(0, Ordering::Relaxed);
        }
        for (at, member) in members.iter().enumerate() {
            let Reader { sender, sent } = &*member.reader;
            match sender.put_quietly(message) {
                // No thread compares `sent` with the release counters before the reservation has
                // ended.
                Ok(()) => drop(sent[chunk as usize].fetch_add(1, Ordering::Relaxed)),
                Err(error) => failed(at, error),
            }
            if wakes {
                sender.lane().wake_reader();
            }
        }
        self.writer.commit(reservation, used)
    }
}

/// The size of a chunk for messages of at most `message_max` bytes.
fn chunk(message_max: usize) -> usize {
    message_max.max(1).next_multiple_of(PAGE as usize)
}

/// The list of announced memory at a server that accepts messages of `message_max` bytes. It is
/// empty at first.
pub(super) fn known(message_max: u32) -> Known {
    Known::up_to(chunk(message_max as usize) * GROUP_CHUNKS as usize)
}

/// The memory of the group in which a server's client writes.
pub(super) fn find<'a>(known: &'a mut Known, peer: &Peer) -> Result<&'a Arc<Memory>, Error> {
    let memory = known.find(SLOT as u32, FIRST_ID as u32, peer)?;
    match memory.map.len() % (GROUP_CHUNKS * PAGE) as usize {
        0 => Ok(memory),
        _ => Err(Error::PeerMisbehaved(
            "a group's memory has an impossible size",
        )),
    }
}

impl Reader {
    fn has_released(&self, chunk: u32) -> bool {
        let lane = self.sender.lane();
        lane.released(lane.group_counter(chunk))
            == self.sent[chunk as usize].load(Ordering::Relaxed)
    }
}

impl End {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_reserve(&self, len: usize) -> Option<Room> {
        let Book { pool, readers } = &mut *self.book();
        let span = pool.take(len as u32, |chunk, _| is_released(readers, chunk));
        span.map(|span| self.room(span))
    }

    fn room(&self, span: Span) -> Room {
        let Span { chunk, offset } = span;
        let capacity = (self.chunk - offset) as usize;
        let start = chunk as usize * self.chunk as usize + offset as usize;
        Room {
            ptr: self.memory.map.range(start, capacity),
            capacity: capacity.min(self.message_max),
            place: MemorySource::Chunk { chunk, offset },
        }
    }

    /// Waits until the servers have released enough. Servers that are gone are removed.
    fn wait(&self, len: usize) -> Result<Room, Error> {
        let start = Instant::now();
        self.book().wake();
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last_look = start;
        let mut held_since = None;
        let result = loop {
            let mut found = None;
            let ready = || {
                found = self.try_reserve(len);
                found.is_some()
            };
            if !turn.spin(ready) {
                let slowest = self.book().slowest();
                turn.sleeping();
                match slowest {
                    // Another thread may be waiting on the same word for a slot in that lane, so
                    // the word stays set.
                    Some(reader) => reader
                        .sender
                        .lane()
                        .writer_sleep(READER_CHECK_INTERVAL, || false),
                    None => thread::sleep(READER_CHECK_INTERVAL),
                }
                turn.woke();
            }
            if let Some(room) = found {
                break Ok(room);
            }
            if last_look.elapsed() < PULSE {
                continue;
            }
            last_look = Instant::now();
            let mut book = self.book();
            book.readers.retain(|reader| !reader.sender.peer().gone());
            let since = *held_since.get_or_insert(last_look);
            if !book.pool.all_held() {
                held_since = None;
            } else if since.elapsed() >= HELD_TOO_LONG {
                break Err(Error::NoSpace(book.pool.len()));
            }
        };
        drop(turn);
        let waited = start.elapsed().as_nanos() as u64;
        self.waited.fetch_add(waited, Ordering::Relaxed);
        result
    }
}

fn is_released(readers: &[Arc<Reader>], chunk: u32) -> bool {
    readers.iter().all(|reader| reader.has_released(chunk))
}

impl Book {
    fn wake(&self) {
        self.readers
            .iter()
            .for_each(|reader| reader.sender.lane().wake_reader());
    }

    /// The server that has held a chunk longest. Servers that have closed are removed.
    fn slowest(&mut self) -> Option<Arc<Reader>> {
        self.readers
            .retain(|reader| !reader.sender.lane().reader_closed());
        let oldest = self.pool.oldest()?;
        let mut readers = self.readers.iter();
        readers.find(|reader| !reader.has_released(oldest)).cloned()
    }
}

impl SendEnd for End {
    fn reserve(&self, len: usize) -> Result<Room, Error> {
        match self.try_reserve(len) {
            Some(room) => Ok(room),
            None => self.wait(len),
        }
    }

    fn commit(&self, room: &mut Room, used: usize) -> Result<(), Error> {
        let MemorySource::Chunk { chunk, offset } = room.place else {
            return Err(SPENT);
        };
        self.book().pool.commit(chunk);
        let end = (offset as usize + used).next_multiple_of(ALIGN);
        let offset = end.min(self.chunk as usize) as u32;
        *room = self.room(Span { chunk, offset });
        Ok(())
    }

    fn cancel(&self, place: MemorySource) {
        let MemorySource::Chunk { chunk, offset } = place else {
            return;
        };
        if self.owner == fork::generation() {
            let Book { pool, readers } = &mut *self.book();
            let rest = Span { chunk, offset };
            pool.give(rest, |chunk, _| is_released(readers, chunk));
        }
    }

    fn close(&self) {}

    fn max(&self) -> usize {
        self.message_max
    }

    fn waited(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let readers = &mut self.end.book().readers;
        readers.retain(|reader| !Arc::ptr_eq(reader, &self.reader));
    }
}

impl fmt::Debug for Multicast {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Multicast")
            .field("readers", &self.end.book().readers.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Member").finish_non_exhaustive()
    }
}
