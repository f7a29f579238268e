//! Shared memory that two processes read and write without any library: lower limits for the cost
//! of messages.

use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{bail, Context, Result};
use mgn_sys::{memory, Mapping, Protection};

use crate::net::measure::Test;
use crate::net::pair::{print_address, read_all, End, Pair};

/// The offset of the messages. The two indexes and the two words of `agree` are before it.
const MESSAGES: usize = 4096;
const WRITTEN: usize = 0;
const READ: usize = 256;
const WORDS: usize = 512;

/// Memory that both processes have mapped.
struct Shared {
    rank: usize,
    map: Mapping,
    /// The hand-overs and acknowledgements so far.
    written: u64,
    read: u64,
    /// Keeps the memory open, so that the first process can open it through /proc.
    _memory: OwnedFd,
}

/// The number of failed polls after which the thread yields.
const POLLS_PER_YIELD: u32 = 100_000;

impl Shared {
    /// The second process makes memory of `len` bytes, and the first process opens it.
    fn new(end: &End, address: &str, len: usize) -> Result<Shared> {
        let fd = if end.rank == 0 {
            let file = OpenOptions::new().read(true).write(true).open(address);
            file.with_context(|| format!("cannot open {address}"))?
                .into()
        } else {
            let fd = memory::create("mgn-bench", len)?;
            print_address(&format!(
                "/proc/{}/fd/{}",
                std::process::id(),
                fd.as_raw_fd()
            ))?;
            fd
        };
        Ok(Shared {
            rank: end.rank,
            map: Mapping::new(&fd, len, Protection::ReadWrite)?,
            written: 0,
            read: 0,
            _memory: fd,
        })
    }

    fn has_reached(&self, at: usize, count: u64) -> bool {
        let index: &AtomicU64 = self.map.long(at);
        index.load(Ordering::Acquire) >= count
    }

    /// Waits until the index at `at` has reached `count`.
    fn wait(&self, at: usize, count: u64) {
        let mut polls = Polls::default();
        while !self.has_reached(at, count) {
            polls.failed();
        }
    }

    /// The reader acknowledges all messages, and the writer waits for the acknowledgement.
    fn acknowledge(&mut self) {
        self.read += 1;
        match self.rank {
            0 => self.wait(READ, self.read),
            _ => self.map.long(READ).store(self.read, Ordering::Release),
        }
    }

    fn hand_over(&mut self) {
        self.map
            .long(WRITTEN)
            .store(self.written, Ordering::Release);
    }

    fn agree(&mut self, words: [u64; 2]) -> [u64; 2] {
        self.written += 1;
        let places = [WORDS, WORDS + 8];
        let agreed = if self.rank == 0 {
            for (at, word) in places.into_iter().zip(words) {
                self.map.long(at).store(word, Ordering::Relaxed);
            }
            self.hand_over();
            words
        } else {
            self.wait(WRITTEN, self.written);
            places.map(|at| self.map.long(at).load(Ordering::Relaxed))
        };
        self.acknowledge();
        agreed
    }
}

/// Failed polls of a thread that waits.
#[derive(Default)]
struct Polls(u32);

impl Polls {
    fn failed(&mut self) {
        std::hint::spin_loop();
        self.0 += 1;
        if self.0 % POLLS_PER_YIELD == 0 {
            std::thread::yield_now();
        }
    }
}

/// One process writes a buffer, and the other reads it. An index hands the buffer over. This is the
/// limit for messages in place.
pub struct BufferPair {
    shared: Shared,
    size: usize,
    window: usize,
}

impl BufferPair {
    pub fn new(end: &End, address: &str) -> Result<BufferPair> {
        if end.test != Test::InPlace {
            bail!("{} is not measured with a plain buffer", end.test.name());
        }
        let room = end.sizes.iter().map(|size| size * end.test.window(*size));
        let len = MESSAGES + room.max().unwrap_or(0);
        Ok(BufferPair {
            shared: Shared::new(end, address, len)?,
            size: 0,
            window: 0,
        })
    }
}

impl Pair for BufferPair {
    fn agree(&mut self, words: [u64; 2]) -> Result<[u64; 2]> {
        Ok(self.shared.agree(words))
    }

    fn prepare(&mut self, size: usize, window: usize) -> Result<()> {
        (self.size, self.window) = (size, window);
        Ok(())
    }

    fn turn(&mut self, turn: u64, _compute: f64) -> Result<f64> {
        let (size, shared) = (self.size, &mut self.shared);
        for at in 0..self.window {
            let place = shared.map.range(MESSAGES + at * size, size);
            shared.written += 1;
            if shared.rank == 0 {
                // SAFETY: the range has `size` bytes, and the other process reads them only after
                // the hand-over.
                unsafe { place.write_bytes(turn as u8, size) };
                shared.hand_over();
            } else {
                shared.wait(WRITTEN, shared.written);
                // SAFETY: the range has `size` bytes, and the other process writes them again only
                // after the acknowledgement.
                read_all(unsafe { std::slice::from_raw_parts(place, size) });
            }
        }
        shared.acknowledge();
        Ok(0.0)
    }
}

/// The maximum length of a piece, and the bytes of all pieces of one direction. Both fit into the
/// caches, so a message is in memory only at its two ends.
const PIECE_MAX: usize = 32 << 10;
const RING: usize = 256 << 10;

/// The maximum number of pieces in one direction.
const PIECES_MAX: usize = 64;

/// The area of one direction begins with the number of pieces that were taken out. Then it has a
/// line for each place in the ring, with the number of the piece in that place.
const LINE: usize = 64;
const HEADER: usize = (1 + PIECES_MAX) * LINE;
const DIRECTION: usize = HEADER + RING;

/// One process copies messages into a ring of pieces, and the other process copies them out of it.
/// Both use the `memcpy` of the C library. This is the limit for messages that are copied twice.
pub struct CopyPair {
    test: Test,
    shared: Shared,
    window: usize,
    out: Vec<u8>,
    into: Vec<u8>,
    piece: usize,
    /// The numbers of pieces that were put into a ring and taken out of one so far.
    put: u64,
    taken: u64,
}

impl CopyPair {
    pub fn new(end: &End, address: &str) -> Result<CopyPair> {
        if !matches!(
            end.test,
            Test::Latency | Test::Exchange | Test::Stream | Test::Both
        ) {
            bail!("{} is not measured with plain copies", end.test.name());
        }
        Ok(CopyPair {
            test: end.test,
            shared: Shared::new(end, address, MESSAGES + 2 * DIRECTION)?,
            window: 0,
            out: Vec::new(),
            into: Vec::new(),
            piece: 1,
            put: 0,
            taken: 0,
        })
    }

    /// The offset of one direction: the one from this process if `is_ours`, otherwise the one to
    /// it.
    fn direction(&self, is_ours: bool) -> usize {
        MESSAGES + DIRECTION * usize::from((self.shared.rank == 0) != is_ours)
    }

    /// The maximum number of pieces in the ring.
    fn pieces(&self) -> u64 {
        (RING / self.piece).min(PIECES_MAX) as u64
    }

    /// The offset of a piece's line, and the offset of its bytes.
    fn lies(&self, direction: usize, number: u64) -> (usize, usize) {
        let index = (number % self.pieces()) as usize;
        (
            direction + LINE * (1 + index),
            direction + HEADER + index * self.piece,
        )
    }

    /// Puts the next piece of the message, which begins at `at`, into the ring. Returns its length,
    /// or `None` if there is no room.
    fn put(&mut self, at: usize) -> Option<usize> {
        let direction = self.direction(true);
        let taken = (self.put + 1).saturating_sub(self.pieces());
        if !self.shared.has_reached(direction, taken) {
            return None;
        }
        let (line, bytes) = self.lies(direction, self.put);
        let len = self.piece.min(self.out.len() - at);
        let piece = self.shared.map.range(bytes, len);
        // SAFETY: the range has `len` bytes. The other process has already copied the piece that
        // was there before, and reads the new piece only after its number is stored.
        unsafe { piece.copy_from_nonoverlapping(self.out[at..].as_ptr(), len) };
        self.put += 1;
        let number: &AtomicU64 = self.shared.map.long(line);
        number.store(self.put, Ordering::Release);
        Some(len)
    }

    /// Takes the next piece out of the ring and copies it to `at`. Returns its length, or `None` if
    /// no piece has come.
    fn take(&mut self, at: usize) -> Option<usize> {
        let direction = self.direction(false);
        let (line, bytes) = self.lies(direction, self.taken);
        if !self.shared.has_reached(line, self.taken + 1) {
            return None;
        }
        let len = self.piece.min(self.into.len() - at);
        let piece = self.shared.map.range(bytes, len);
        // SAFETY: the range has `len` bytes. The other process writes them again only after the
        // number is stored.
        unsafe { piece.copy_to_nonoverlapping(self.into[at..].as_mut_ptr(), len) };
        self.taken += 1;
        let number: &AtomicU64 = self.shared.map.long(direction);
        number.store(self.taken, Ordering::Release);
        Some(len)
    }

    /// Sends and receives these numbers of messages at the same time.
    fn run(&mut self, sends: usize, receives: usize) {
        let size = self.out.len();
        let (mut sent, mut received) = ((sends, 0), (receives, 0));
        let mut polls = Polls::default();
        while sent.0 + received.0 > 0 {
            let mut has_moved = false;
            for (left, is_send) in [(&mut sent, true), (&mut received, false)] {
                if left.0 == 0 {
                    continue;
                }
                let moved = if is_send {
                    self.put(left.1)
                } else {
                    self.take(left.1)
                };
                let Some(len) = moved else { continue };
                has_moved = true;
                left.1 += len;
                if left.1 == size {
                    *left = (left.0 - 1, 0);
                }
            }
            if !has_moved {
                polls.failed();
            }
        }
    }
}

impl Pair for CopyPair {
    fn agree(&mut self, words: [u64; 2]) -> Result<[u64; 2]> {
        Ok(self.shared.agree(words))
    }

    fn prepare(&mut self, size: usize, window: usize) -> Result<()> {
        // The rings are empty, because each test ends with an acknowledgement.
        (self.out, self.into) = (vec![1; size], vec![1; size]);
        self.piece = size.next_multiple_of(LINE).clamp(LINE, PIECE_MAX);
        self.window = window;
        Ok(())
    }

    fn turn(&mut self, _turn: u64, _compute: f64) -> Result<f64> {
        let (window, is_first) = (self.window, self.shared.rank == 0);
        match self.test {
            Test::Latency if is_first => {
                self.run(1, 0);
                self.run(0, 1);
            }
            Test::Latency => {
                self.run(0, 1);
                self.run(1, 0);
            }
            Test::Exchange => self.run(1, 1),
            test => {
                let both = test == Test::Both;
                let messages = |is_so: bool| if is_so { window } else { 0 };
                self.run(messages(both || is_first), messages(both || !is_first));
                self.shared.acknowledge();
            }
        }
        Ok(0.0)
    }
}
