//! The writing end of a lane.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::lane::{Descriptor, Lane, IN_REGION, SLOTS};
use super::pool::{Pool, Span};
use super::region::Regions;
use crate::block::{MemorySource, Room, ALIGN};
use crate::connection::SendEnd;
use crate::peer::Peer;
use crate::wait::{Spinner, PULSE};
use crate::Error;

/// If reservations of this process hold all chunks for this time, a reservation that waits fails.
pub(super) const HELD_TOO_LONG: Duration = Duration::from_secs(10);

pub(crate) struct ShmSender {
    lane: Arc<Lane>,
    peer: Arc<Peer>,
    chunk: u32,
    /// The longest message in a chunk (`message_max`), and the longest message at all (`max`).
    message_max: usize,
    max: usize,
    book: Mutex<Book>,
    held_too_long: Duration,
    /// The longest sleep before the next check of the peer.
    pulse: Duration,
    /// The lock of the thread that waits on the shared word. Other waiting threads wait for this
    /// lock.
    turn: Mutex<Spinner>,
    waited: AtomicU64,
}

/// The writer's private state. It is never read from shared memory, except `taken`, which is
/// checked.
struct Book {
    /// The number of messages put so far.
    put: u64,
    /// The number of messages that the reader had taken at the last check.
    taken: u64,
    pool: Pool,
    regions: Option<Regions>,
}

impl Book {
    /// Puts a message. The ring must have a free slot.
    fn put(&mut self, lane: &Lane, message: Descriptor) {
        lane.put(self.put, message);
        self.put += 1;
    }

    fn put_quietly(&mut self, lane: &Lane, message: Descriptor) {
        lane.put_quietly(self.put, message);
        self.put += 1;
    }
}

impl ShmSender {
    /// `large_max` is set on the end that may make memory for longer messages.
    pub(crate) fn new(
        lane: Arc<Lane>,
        peer: Arc<Peer>,
        chunk: u32,
        message_max: u32,
        large_max: Option<u32>,
    ) -> ShmSender {
        ShmSender {
            chunk,
            message_max: message_max as usize,
            max: large_max.unwrap_or(message_max) as usize,
            book: Mutex::new(Book {
                put: 0,
                taken: 0,
                pool: Pool::new(chunk, lane.chunks()),
                regions: large_max.map(Regions::new),
            }),
            held_too_long: HELD_TOO_LONG,
            pulse: PULSE,
            turn: Mutex::new(Spinner::default()),
            waited: AtomicU64::new(0),
            lane,
            peer,
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // If a thread panicked with the lock, an assertion failed before it changed anything.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_reserve(&self, len: usize) -> Result<Option<Room>, Error> {
        let mut book = self.book();
        if len > self.message_max {
            let regions = book
                .regions
                .as_mut()
                .ok_or(Error::TooLong { len, max: self.max })?;
            let found = regions.take(len, &self.lane, &self.peer)?;
            return Ok(found.map(|(slot, ptr, size)| Room {
                ptr,
                capacity: size.min(self.max),
                place: MemorySource::Region { slot },
            }));
        }
        let span = book
            .pool
            .take(len as u32, |chunk, sent| self.lane.released(chunk) == sent);
        Ok(span.map(|span| self.room(span)))
    }

    fn room(&self, span: Span) -> Room {
        let capacity = (self.chunk - span.offset) as usize;
        let start = span.chunk as usize * self.chunk as usize + span.offset as usize;
        Room {
            ptr: self.lane.pool().map.range(start, capacity),
            capacity: capacity.min(self.message_max),
            place: MemorySource::Chunk {
                chunk: span.chunk,
                offset: span.offset,
            },
        }
    }

    /// Sends a message in memory that another sender manages. Does not wake a sleeping reader; call
    /// [`Lane::wake_reader`] later.
    pub(super) fn put_quietly(&self, message: Descriptor) -> Result<(), Error> {
        self.check_open()?;
        let attempt = || {
            Ok(self
                .free_slot()?
                .map(|mut book| book.put_quietly(&self.lane, message)))
        };
        if attempt()?.is_some() {
            return Ok(());
        }
        self.lane.wake_reader();
        self.wait(attempt)
    }

    fn check_open(&self) -> Result<(), Error> {
        match self.lane.reader_closed() {
            true => Err(self.peer.closed()),
            false => Ok(()),
        }
    }

    pub(super) fn lane(&self) -> &Arc<Lane> {
        &self.lane
    }

    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// The locked book, if the ring has a slot for one more message.
    fn free_slot(&self) -> Result<Option<MutexGuard<'_, Book>>, Error> {
        let mut book = self.book();
        if book.put - book.taken >= SLOTS {
            book.taken = self.lane.taken(book.put)?;
        }
        let is_free = book.put - book.taken < SLOTS;
        Ok(is_free.then_some(book))
    }

    /// Sends a message if the ring has a slot for it.
    fn try_put(&self, room: &mut Room, used: usize) -> Result<Option<()>, Error> {
        let Some(mut book) = self.free_slot()? else {
            return Ok(None);
        };
        let message = match room.place {
            MemorySource::Chunk { chunk, offset } => {
                book.pool.commit(chunk);
                Descriptor {
                    place: chunk,
                    offset,
                    len: used as u32,
                }
            }
            MemorySource::Region { slot } => {
                let regions = book.regions.as_mut().ok_or(SPENT)?;
                let id = regions.commit(slot);
                Descriptor {
                    place: IN_REGION | slot as u32,
                    offset: id,
                    len: used as u32,
                }
            }
            MemorySource::Heap(_) | MemorySource::Spent => return Err(SPENT),
        };
        book.put(&self.lane, message);
        drop(book);
        match room.place {
            MemorySource::Chunk { chunk, offset } => {
                let end = (offset as usize + used)
                    .next_multiple_of(ALIGN)
                    .min(self.chunk as usize);
                *room = self.room(Span {
                    chunk,
                    offset: end as u32,
                });
            }
            _ => {
                room.place = MemorySource::Spent;
                room.capacity = 0;
            }
        }
        Ok(Some(()))
    }

    /// Repeats `attempt` until it returns something, the peer is gone, or this process has held all
    /// chunks for too long.
    fn wait<T>(&self, mut attempt: impl FnMut() -> Result<Option<T>, Error>) -> Result<T, Error> {
        let start = Instant::now();
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last_look = start;
        let mut held_since = None;
        let result = loop {
            let mut found = None;
            let mut ready = || match attempt() {
                Ok(None) => false,
                other => {
                    found = Some(other);
                    true
                }
            };
            if !turn.spin(&mut ready) && !self.lane.reader_closed() {
                turn.sleeping();
                self.lane.writer_sleep(self.pulse, ready);
                turn.woke();
            }
            if let Some(found) = found {
                break found.map(|found| found.expect("attempts that give nothing go on"));
            }
            if self.lane.reader_closed() {
                break Err(self.peer.closed());
            }
            if last_look.elapsed() >= self.pulse {
                last_look = Instant::now();
                if self.peer.gone() {
                    break Err(self.peer.closed());
                }
                let all_held = self.book().pool.all_held();
                let since = *held_since.get_or_insert(last_look);
                if !all_held {
                    held_since = None;
                } else if since.elapsed() >= self.held_too_long {
                    break Err(Error::NoSpace(self.book().pool.len()));
                }
            }
        };
        drop(turn);
        self.waited
            .fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }
}

pub(super) const SPENT: Error = Error::Misuse("nothing is left of this reservation");

impl SendEnd for ShmSender {
    fn reserve(&self, len: usize) -> Result<Room, Error> {
        self.check_open()?;
        match self.try_reserve(len)? {
            Some(room) => Ok(room),
            None => self.wait(|| self.try_reserve(len)),
        }
    }

    fn commit(&self, room: &mut Room, used: usize) -> Result<(), Error> {
        self.check_open()?;
        match self.try_put(room, used)? {
            Some(()) => Ok(()),
            None => self.wait(|| self.try_put(room, used)),
        }
    }

    fn cancel(&self, place: MemorySource) {
        if !self.peer.ours() {
            return;
        }
        match place {
            MemorySource::Chunk { chunk, offset } => {
                let is_released = |chunk, sent| self.lane.released(chunk) == sent;
                self.book().pool.give(Span { chunk, offset }, is_released);
            }
            MemorySource::Region { slot } => {
                if let Some(regions) = &mut self.book().regions {
                    regions.cancel(slot);
                }
            }
            MemorySource::Heap(_) | MemorySource::Spent => return,
        }
        // Another thread of this process may wait for this space.
        self.lane.wake_writer();
    }

    fn close(&self) {
        if self.peer.ours() {
            self.lane.close_writer();
        }
    }

    fn max(&self) -> usize {
        self.max
    }

    fn waited(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }

    fn hang_up(&self) {
        self.peer.hang_up();
    }

    fn into_any(self: Arc<Self>) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lane::tests::lane;
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::thread;

    fn sender() -> (ShmSender, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        let peer = Arc::new(Peer::unix(near.into(), "it".into(), false));
        let sender = ShmSender::new(Arc::new(lane(2, 4096)), peer, 4096, 4096, None);
        (
            ShmSender {
                held_too_long: Duration::from_millis(150),
                ..sender
            },
            far,
        )
    }

    #[test]
    fn reservations_that_hold_everything_are_an_error_in_the_end() {
        let (sender, _far) = sender();
        let rooms = [sender.reserve(4096).unwrap(), sender.reserve(1).unwrap()];
        let start = Instant::now();
        assert!(matches!(sender.reserve(1), Err(Error::NoSpace(2))));
        assert!(start.elapsed() >= Duration::from_millis(150));
        rooms.into_iter().for_each(|room| sender.cancel(room.place));
        sender.reserve(4096).unwrap();
    }

    #[test]
    fn a_cancelled_reservation_serves_a_thread_that_waits() {
        let (sender, _far) = sender();
        let sender = ShmSender {
            pulse: Duration::from_secs(60),
            ..sender
        };
        let first = sender.reserve(4096).unwrap();
        let _second = sender.reserve(4096).unwrap();
        thread::scope(|scope| {
            let third = scope.spawn(|| {
                let room = sender.reserve(4096).unwrap();
                (Instant::now(), room.capacity)
            });
            thread::sleep(Duration::from_millis(30));
            let start = Instant::now();
            sender.cancel(first.place);
            let (end, capacity) = third.join().unwrap();
            assert_eq!(capacity, 4096);
            // After a lost wake-up, the wait would last until the next check of the peer.
            let took = end - start;
            assert!(took < Duration::from_secs(30), "{took:?}");
        });
    }
}
