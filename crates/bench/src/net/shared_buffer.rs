//! Shared memory that two processes read and write without any library: lower limits for the cost
//! of messages.

use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;

use anyhow::{bail, Context, Result};
use mgn_sys::{memory, Mapping, Protection};

use crate::net::measure::Test;
use crate::net::pair::{print_address, read_all, End, Pair};
use crate::net::ring::{has_reached, Left, Ring};

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

    /// Waits until the index at `at` has reached `count`.
    fn wait(&self, at: usize, count: u64) {
        let mut polls = Polls::default();
        while !has_reached(&self.map, at, count) {
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

/// The bytes of all pieces of one direction. They fit into the caches.
const RING: usize = 256 << 10;

/// Two processes with a [ring](Ring) in each direction.
pub struct CopyPair {
    test: Test,
    shared: Shared,
    window: usize,
    out: Vec<u8>,
    into: Vec<u8>,
    to: Ring,
    from: Ring,
}

impl CopyPair {
    pub fn new(end: &End, address: &str) -> Result<CopyPair> {
        if !matches!(
            end.test,
            Test::Latency | Test::Exchange | Test::Stream | Test::Both
        ) {
            bail!("{} is not measured with plain copies", end.test.name());
        }
        let ring = |is_second: bool| {
            let offset = MESSAGES + Ring::room(RING) * usize::from(is_second);
            Ring::new(offset, RING)
        };
        Ok(CopyPair {
            test: end.test,
            shared: Shared::new(end, address, MESSAGES + 2 * Ring::room(RING))?,
            window: 0,
            out: Vec::new(),
            into: Vec::new(),
            to: ring(end.rank == 0),
            from: ring(end.rank != 0),
        })
    }

    /// Sends and receives these numbers of messages at the same time.
    fn run(&mut self, sends: usize, receives: usize) {
        let size = self.out.len();
        let map = &self.shared.map;
        let (mut sends, mut receives) = (Left::new(sends), Left::new(receives));
        let mut polls = Polls::default();
        while sends.messages + receives.messages > 0 {
            let put = match sends.messages {
                0 => None,
                _ => self.to.put(map, &self.out, sends.at),
            };
            let taken = match receives.messages {
                0 => None,
                _ => self.from.take(map, &mut self.into, receives.at),
            };
            put.inspect(|len| sends.moved(*len, size));
            taken.inspect(|len| receives.moved(*len, size));
            if put.or(taken).is_none() {
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
        self.to.prepare(size);
        self.from.prepare(size);
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
