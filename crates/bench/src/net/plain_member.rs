//! One of many processes that exchange messages through rings in shared memory, without any
//! library: the limit for patterns of messages. It executes commands from its input, one per line.

use std::fs::OpenOptions;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{bail, ensure, Context, Result};
use mgn_sys::{Mapping, Protection};

use crate::child::own_cpu;
use crate::machine::processors;
use crate::net::member::{chosen, STEP_TIMEOUT};
use crate::net::ring::{has_reached, Left, Ring, LINE};

#[derive(Debug, clap::Args)]
pub struct PlainMember {
    /// The file of the memory.
    path: PathBuf,
    index: usize,
    count: usize,
}

/// The bytes of all pieces of a ring. A few pieces are enough, and the rings of many processes
/// share the caches.
const RING: usize = 64 << 10;

/// The number of failed polls after which a process yields if each has a processor of its own, and
/// after which it looks at the time.
const POLLS_PER_YIELD: u64 = 100_000;

/// The length of the memory for this number of processes: a ring for each pair and direction, and a
/// line that counts the processes that have met.
pub fn memory_len(count: usize) -> usize {
    count * count * Ring::room(RING) + LINE
}

/// The rings of a process to all others and from them, in the order of the others' indexes.
struct Rings {
    map: Mapping,
    to: Vec<Ring>,
    from: Vec<Ring>,
    /// The messages of the step under way.
    puts: Vec<Left>,
    takes: Vec<Left>,
    /// The number of processes, and how often they have met.
    count: u64,
    meetings: u64,
    polls_per_yield: u64,
}

impl PlainMember {
    pub fn run(&self) -> Result<()> {
        let mut rings = Rings::open(&self.path, self.index, self.count)?;
        let mut out = std::io::stdout();
        writeln!(out, "{}", self.index)?;
        out.flush()?;
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            let words: Vec<&str> = line.split_whitespace().collect();
            let ["steps", count, size, to, from] = words[..] else {
                bail!("told {line:?}");
            };
            let all: Vec<usize> = (0..self.count - 1).collect();
            let (to, from) = (chosen(&all, to)?, chosen(&all, from)?);
            let seconds = rings.steps(&to, &from, count.parse()?, size.parse()?)?;
            writeln!(out, "{:.4} {seconds}", own_cpu())?;
            out.flush()?;
        }
        Ok(())
    }
}

impl Rings {
    fn open(path: &Path, index: usize, count: usize) -> Result<Rings> {
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.with_context(|| format!("cannot open {}", path.display()))?;
        let ring = |from: usize, to: usize| Ring::new((from * count + to) * Ring::room(RING), RING);
        let others = || (0..count).filter(|other| *other != index);
        Ok(Rings {
            map: Mapping::new(&file, memory_len(count), Protection::ReadWrite)?,
            to: others().map(|other| ring(index, other)).collect(),
            from: others().map(|other| ring(other, index)).collect(),
            puts: Vec::new(),
            takes: Vec::new(),
            count: count as u64,
            meetings: 0,
            polls_per_yield: match count > processors() {
                true => 1,
                false => POLLS_PER_YIELD,
            },
        })
    }

    /// Sends a message to each process of `to` and receives one from each process of `from`,
    /// `count` times. Returns the seconds for this. One such step with new memory comes first and
    /// is not measured.
    fn steps(&mut self, to: &[usize], from: &[usize], count: u64, size: usize) -> Result<f64> {
        // The rings are empty, because all processes have answered the last command.
        self.prepare(size);
        let (out, mut into) = (
            vec![vec![1; size]; to.len()],
            vec![vec![1; size]; from.len()],
        );
        self.step(to, from, &out, &mut into)?;
        self.meet()?;
        let start = Instant::now();
        for _ in 0..count {
            self.step(to, from, &out, &mut into)?;
        }
        Ok(start.elapsed().as_secs_f64())
    }

    fn prepare(&mut self, size: usize) {
        let rings = self.to.iter_mut().chain(&mut self.from);
        rings.for_each(|ring| ring.prepare(size));
    }

    fn step(
        &mut self,
        to: &[usize],
        from: &[usize],
        out: &[Vec<u8>],
        into: &mut [Vec<u8>],
    ) -> Result<()> {
        self.puts.clear();
        self.puts.resize(to.len(), Left::new(1));
        self.takes.clear();
        self.takes.resize(from.len(), Left::new(1));
        let mut open = to.len() + from.len();
        let mut waiting = Waiting::default();
        while open > 0 {
            let mut has_moved = false;
            for ((peer, message), left) in from.iter().zip(&mut *into).zip(&mut self.takes) {
                if left.messages == 0 {
                    continue;
                }
                if let Some(len) = self.from[*peer].take(&self.map, message, left.at) {
                    left.moved(len, message.len());
                    has_moved = true;
                    open -= 1 - left.messages;
                }
            }
            for ((peer, message), left) in to.iter().zip(out).zip(&mut self.puts) {
                if left.messages == 0 {
                    continue;
                }
                if let Some(len) = self.to[*peer].put(&self.map, message, left.at) {
                    left.moved(len, message.len());
                    has_moved = true;
                    open -= 1 - left.messages;
                }
            }
            if !has_moved {
                waiting.failed(self.polls_per_yield)?;
            }
        }
        Ok(())
    }

    /// Waits until all processes have called this as often as this one.
    fn meet(&mut self) -> Result<()> {
        self.meetings += 1;
        let at = self.map.len() - LINE;
        self.map.long(at).fetch_add(1, Ordering::AcqRel);
        let mut waiting = Waiting::default();
        while !has_reached(&self.map, at, self.meetings * self.count) {
            waiting.failed(self.polls_per_yield)?;
        }
        Ok(())
    }
}

/// The failed polls of a process that waits.
#[derive(Default)]
struct Waiting {
    polls: u64,
    since: Option<Instant>,
}

impl Waiting {
    /// Counts a failed poll, and yields from time to time.
    fn failed(&mut self, polls_per_yield: u64) -> Result<()> {
        std::hint::spin_loop();
        self.polls += 1;
        if self.polls % polls_per_yield == 0 {
            std::thread::yield_now();
        }
        if self.polls % POLLS_PER_YIELD == 0 {
            let waited = self.since.get_or_insert_with(Instant::now).elapsed();
            ensure!(waited < STEP_TIMEOUT, "the other processes do not continue");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::thread;

    use mgn_sys::memory;

    use super::*;

    /// Three processes, here threads, all to all: each message arrives where it belongs, of any
    /// number of pieces.
    #[test]
    fn messages_arrive_through_rings() {
        const COUNT: usize = 3;
        let fd = memory::create("plain", memory_len(COUNT)).unwrap();
        let path = PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
        let member = |index: usize| {
            let mut rings = Rings::open(&path, index, COUNT).unwrap();
            for size in [1, 56, 57, 64, 65, 32 << 10, (64 << 10) + 1, 1 << 20] {
                rings.prepare(size);
                let others: Vec<usize> = (0..COUNT).filter(|other| *other != index).collect();
                let message = |from: usize, to: usize| -> Vec<u8> {
                    let byte = |at: usize| (at % 251 + 10 * from + 3 * to) as u8;
                    (0..size).map(byte).collect()
                };
                let out: Vec<_> = others.iter().map(|other| message(index, *other)).collect();
                for _ in 0..3 {
                    let mut into = vec![vec![0; size]; 2];
                    rings.step(&[0, 1], &[0, 1], &out, &mut into).unwrap();
                    for (other, came) in others.iter().zip(into) {
                        assert!(came == message(*other, index), "{size} bytes from {other}");
                    }
                }
                rings.meet().unwrap();
            }
            // Around a ring, by the places of the next and the last process among the others.
            let (next, last) = [(0, 1), (1, 0), (0, 1)][index];
            assert!(rings.steps(&[next], &[last], 2, 8).unwrap() > 0.0);
        };
        thread::scope(|scope| {
            (0..COUNT).for_each(|index| drop(scope.spawn(move || member(index))));
        });
    }
}
