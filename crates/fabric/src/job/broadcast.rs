//! Broadcast connections of a job: one process writes, and others read.
//!
//! A reader connects to the writer's listener with its own kind of opening:
//!
//! ```text
//! opening := "MgnB" version: u8  number: u32  rank: u32  name of the job
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use super::lock;
use super::member::Shared;
use crate::broadcast::Stop;
use crate::wait::Deadline;
use crate::{Broadcast, Config, Connection, Error, Incoming, Message, Receiver, Sender};

const MAGIC: [u8; 4] = *b"MgnB";
const VERSION: u8 = 1;

/// The writer's memory holds `MESSAGES` messages of the longest length, and at least `POOL_MIN`
/// bytes.
const MESSAGES: usize = 8;
const POOL_MIN: usize = 2 << 20;
const LONGEST_MIN: usize = 4096;

/// The broadcast connections that a process writes to, by their numbers.
#[derive(Default)]
pub(super) struct Broadcasts {
    open: Mutex<HashMap<u32, Arc<Open>>>,
}

struct Open {
    broadcast: Mutex<Broadcast>,
    stop: Arc<Stop>,
    queue: Mutex<Queue>,
    /// Notified when the queue has changed.
    news: Condvar,
}

/// Lock this after `broadcast`, never before it.
#[derive(Default)]
struct Queue {
    /// Readers that connected while a thread was sending.
    waiting: Vec<Incoming>,
    /// The number of times that waiting readers were accepted.
    admitted: u64,
}

/// The writing end of a broadcast connection. Dropping it ends the connection: readers get all sent
/// messages, and then [`Error::Closed`].
pub struct Writer {
    shared: Arc<Shared>,
    number: u32,
    open: Arc<Open>,
}

/// The reading end of a broadcast connection. Dropping it ends the connection for this process.
#[derive(Debug)]
pub struct Reader {
    receiver: Receiver,
    /// The sending half, which is kept because dropping it would end the connection.
    _sender: Sender,
}

impl Broadcasts {
    pub(super) fn open(
        &self,
        shared: &Arc<Shared>,
        number: u32,
        longest: usize,
    ) -> Result<Writer, Error> {
        let longest = longest.max(LONGEST_MIN);
        let broadcast = Broadcast::new(&Config {
            message_max: longest,
            send_pool_bytes: longest.saturating_mul(MESSAGES).max(POOL_MIN),
            silence: shared.endpoint.silence(),
            ..Config::default()
        })?;
        let open = Arc::new(Open {
            stop: broadcast.stop().clone(),
            broadcast: Mutex::new(broadcast),
            queue: Mutex::default(),
            news: Condvar::new(),
        });
        let mut all = lock(&self.open);
        if all.contains_key(&number) {
            return Err(Error::Job(format!("broadcast {number} is open already")));
        }
        all.insert(number, open.clone());
        Ok(Writer {
            shared: shared.clone(),
            number,
            open,
        })
    }

    /// Accepts a reader. Returns the reader if the connection is not open.
    pub(super) fn let_in(&self, number: u32, incoming: Incoming) -> Option<Incoming> {
        let Some(open) = lock(&self.open).get(&number).cloned() else {
            return Some(incoming);
        };
        let mut queue = lock(&open.queue);
        // Readers whose timeout has passed connect again.
        queue.waiting.retain(|waiting| !waiting.is_gone());
        queue.waiting.push(incoming);
        drop(queue);
        open.news.notify_all();
        // If a thread holds the broadcast's lock, it accepts the reader after releasing it.
        open.look();
        None
    }
}

impl Open {
    /// Accepts waiting readers, unless another thread is sending. That thread accepts them after it
    /// has sent.
    fn look(&self) {
        while !lock(&self.queue).waiting.is_empty() {
            let mut broadcast = match self.broadcast.try_lock() {
                Ok(broadcast) => broadcast,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            self.admit(&mut broadcast);
        }
    }

    /// Accepts waiting readers. Returns the number of times that this has happened.
    fn admit(&self, broadcast: &mut Broadcast) -> u64 {
        let waiting = std::mem::take(&mut lock(&self.queue).waiting);
        let is_any = !waiting.is_empty();
        for incoming in waiting {
            if let Err(error) = broadcast.accept(incoming, b"") {
                tracing::warn!("cannot accept a reader: {error}");
            }
        }
        let mut queue = lock(&self.queue);
        queue.admitted += u64::from(is_any);
        self.news.notify_all();
        queue.admitted
    }

    fn broadcast(&self) -> MutexGuard<'_, Broadcast> {
        lock(&self.broadcast)
    }
}

impl Writer {
    /// Waits until `count` readers have joined.
    ///
    /// # Errors
    /// [`Error::TimedOut`]; [`Error::Closed`] after [`Writer::close`].
    pub fn wait_for_readers(&self, count: u32, timeout: Option<Duration>) -> Result<(), Error> {
        let deadline = Deadline::after(timeout);
        loop {
            let mut broadcast = self.open.broadcast();
            let admitted = self.open.admit(&mut broadcast);
            let readers = broadcast.readers();
            drop(broadcast);
            if readers >= count as usize {
                return Ok(());
            }
            if deadline.passed() {
                return Err(Error::TimedOut(format!(
                    "waiting for {count} readers of broadcast {}, of which {readers} have joined",
                    self.number
                )));
            }
            let queue = lock(&self.open.queue);
            self.open.stop.check()?;
            if queue.waiting.is_empty() && queue.admitted == admitted {
                let time = deadline.left(Duration::from_secs(60));
                // After a spurious wake-up, the loop checks again.
                let _ = self.open.news.wait_timeout(queue, time);
            }
        }
    }

    /// Sends a message to all current readers. Waits while a reader has too many unread messages.
    /// Drops readers that have closed their connections or died. Threads take turns.
    ///
    /// # Errors
    /// [`Error::TooLong`]; [`Error::Closed`] after [`Writer::close`]. In this case, some readers
    /// may still get the message.
    pub fn send(&self, bytes: &[u8]) -> Result<(), Error> {
        let sent = self.open.broadcast().send(bytes);
        self.open.look();
        sent
    }

    /// The number of readers that are not known to be gone.
    pub fn readers(&self) -> usize {
        self.open.broadcast().readers()
    }

    /// Ends waiting calls in other threads, and all later sends, with an error. Readers see the end
    /// when the writer is dropped.
    pub fn close(&self) {
        self.open.stop.set();
        // A thread that is about to wait checks `stop` under this lock. So after this lock was
        // taken, the thread either waits already or sees the stop.
        drop(lock(&self.open.queue));
        self.open.news.notify_all();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        lock(&self.shared.broadcasts.open).remove(&self.number);
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Writer")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Reader {
    pub(super) fn new(connection: Connection) -> Reader {
        let (sender, receiver) = connection.split();
        Reader {
            receiver,
            _sender: sender,
        }
    }

    /// Receives the next message without copying it: on one host, the readers share its memory.
    /// Returns `None` if `timeout` passes first.
    ///
    /// # Errors
    /// [`Error::Closed`] if the writer is gone and all messages were received.
    pub fn recv(&mut self, timeout: Option<Duration>) -> Result<Option<Message>, Error> {
        self.receiver.recv(timeout)
    }
}

/// The opening of a reader. `who` is its opening for links.
pub(super) fn opening(number: u32, who: &[u8]) -> Vec<u8> {
    [&MAGIC[..], &[VERSION], &number.to_le_bytes(), who].concat()
}

/// Decodes a reader's opening: the number of the connection, and the reader's opening for links.
/// Returns `None` for other openings.
pub(super) fn parse(opening: &[u8]) -> Option<(u32, &[u8])> {
    let (version, rest) = opening.strip_prefix(&MAGIC)?.split_first()?;
    let (number, who) = rest.split_first_chunk()?;
    (*version == VERSION).then_some((u32::from_le_bytes(*number), who))
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    vec![opening(7, b"me")]
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn feed(bytes: &[u8]) {
    if let Some((number, who)) = parse(bytes) {
        assert_eq!(opening(number, who), bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_read_and_others_are_not() {
        let bytes = opening(7, b"me");
        assert_eq!(parse(&bytes), Some((7, &b"me"[..])));
        for end in 0..bytes.len() - 2 {
            assert_eq!(parse(&bytes[..end]), None);
        }
        let mut other = bytes;
        other[4] = 9;
        assert_eq!(parse(&other), None);
        assert_eq!(parse(b"MgnE and so on"), None);
    }
}
