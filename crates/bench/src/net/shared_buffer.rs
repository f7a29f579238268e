//! A shared buffer that one process writes and the other reads, handed over by an index: the lower
//! limit of the cost of messages in place.

use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{bail, Context, Result};
use mgn_sys::{memory, Mapping, Protection};

use crate::net::measure::Test;
use crate::net::pair::{print_address, read_all, End, Pair};

/// The offset of the messages. Before them are the two indexes, and the two words of `agree`.
const PLACES: usize = 4096;
const WRITTEN: usize = 0;
const READ: usize = 256;
const WORDS: usize = 512;

pub struct BufferPair {
    test: Test,
    rank: usize,
    size: usize,
    window: usize,
    map: Mapping,
    /// The number of hand-overs so far, in each direction.
    written: u64,
    read: u64,
    /// Keeps the memory at its path until the first process has opened it.
    _memory: OwnedFd,
}

/// The number of failed polls after which the thread yields.
const POLLS_PER_YIELD: u32 = 100_000;

impl BufferPair {
    pub fn new(end: &End, address: &str) -> Result<BufferPair> {
        if end.test != Test::InPlace {
            bail!("{} is not measured with a plain buffer", end.test.name());
        }
        let room = end.sizes.iter().map(|size| size * end.test.window(*size));
        let len = PLACES + room.max().unwrap_or(0);
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
        Ok(BufferPair {
            test: end.test,
            rank: end.rank,
            size: 0,
            window: 0,
            map: Mapping::new(&fd, len, Protection::ReadWrite)?,
            written: 0,
            read: 0,
            _memory: fd,
        })
    }

    /// Waits until the index at `at` has reached `count`.
    fn wait(&self, at: usize, count: u64) {
        let index: &AtomicU64 = self.map.long(at);
        let mut polls = 0;
        while index.load(Ordering::Acquire) < count {
            std::hint::spin_loop();
            polls += 1;
            if polls % POLLS_PER_YIELD == 0 {
                std::thread::yield_now();
            }
        }
    }

    /// The reader acknowledges all messages, and the writer waits for that.
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
}

impl Pair for BufferPair {
    fn agree(&mut self, words: [u64; 2]) -> Result<[u64; 2]> {
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
        Ok(agreed)
    }

    fn prepare(&mut self, size: usize, window: usize) -> Result<()> {
        (self.size, self.window) = (size, window);
        Ok(())
    }

    fn turn(&mut self, turn: u64, _compute: f64) -> Result<f64> {
        debug_assert_eq!(self.test, Test::InPlace);
        for at in 0..self.window {
            let place = self.map.range(PLACES + at * self.size, self.size);
            self.written += 1;
            if self.rank == 0 {
                // SAFETY: the range has `size` bytes, and the other process reads them only after
                // the hand-over.
                unsafe { place.write_bytes(turn as u8, self.size) };
                self.hand_over();
            } else {
                self.wait(WRITTEN, self.written);
                // SAFETY: the range has `size` bytes, and the other process writes them again only
                // after the acknowledgement.
                read_all(unsafe { std::slice::from_raw_parts(place, self.size) });
            }
        }
        self.acknowledge();
        Ok(0.0)
    }
}
