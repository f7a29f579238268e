//! A page of memory that the processes of a barrier share. It contains the length of the next
//! batch, which the first process writes, and the raw barriers.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::AtomicU64;

use anyhow::{Context, Result};
use mgn_sys::{memory, Mapping, Protection};

/// The distance between words that different processes write, so that no two words share a cache
/// line.
const LINE: usize = 128;

const NEXT: usize = 0;
const ARRIVED: usize = LINE;
const PASSED: usize = 2 * LINE;
/// The two flags of the barrier `flags`, [`LINE`] bytes apart.
const FLAGS: usize = 3 * LINE;
/// The ports of all processes. Each is written once, before anything is measured.
const PORTS: usize = 2048;

const SIZE: usize = 4096;

#[derive(Debug)]
pub struct Page {
    map: Mapping,
    fd: OwnedFd,
}

impl Page {
    pub fn create() -> Result<Page> {
        Page::new(memory::create("mgn-bench-barrier", SIZE).context("no memory for a barrier")?)
    }

    /// The page of another process.
    pub fn of(pid: u32, fd: u32) -> Result<Page> {
        let fd = memory::of_process(pid, fd, Protection::ReadWrite);
        Page::new(fd.with_context(|| format!("cannot open the memory of process {pid}"))?)
    }

    fn new(fd: OwnedFd) -> Result<Page> {
        let map = Mapping::new(&fd, SIZE, Protection::ReadWrite).context("cannot map memory")?;
        Ok(Page { map, fd })
    }

    pub fn descriptor(&self) -> u32 {
        self.fd.as_raw_fd() as u32
    }

    /// The number of barriers in the next batch. 0 ends the measurement.
    pub fn next(&self) -> &AtomicU64 {
        self.map.long(NEXT)
    }

    pub fn arrived(&self) -> &AtomicU64 {
        self.map.long(ARRIVED)
    }

    pub fn passed(&self) -> &AtomicU64 {
        self.map.long(PASSED)
    }

    pub fn flag(&self, rank: usize) -> &AtomicU64 {
        self.map.long(FLAGS + rank * LINE)
    }

    /// The UDP port of a process, or 0 before it has one.
    pub fn port(&self, rank: usize) -> &AtomicU64 {
        self.map.long(PORTS + 8 * rank)
    }
}
