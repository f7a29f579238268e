//! Counters of this process, in a file that `mgn run --stats` maps and reads while the program
//! runs.
//!
//! The file `stats-<pid>` in `MGN_RUN_DIR` is [`FILE_BYTES`] long and holds native 64-bit words,
//! each written atomically. Word 0 is [`MAGIC`], whose last byte is the version of this layout.
//! [`Word`] names the other words. From [`ROUND_TRIPS_BY_OP`] on there is one count of round trips
//! for each op number of the command stream. From [`DOUBTS_BY_OP`] on, there is one count of the
//! round trips for glGetError, by the command whose success was not known. Times are nanoseconds of
//! `CLOCK_MONOTONIC`. If a program replaces itself by exec, its successor overwrites the words.

use mgn_sys::clock::monotonic;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// "MGNSTAT" and the layout's version, 2.
pub const MAGIC: u64 = u64::from_le_bytes(*b"MGNSTAT\x02");
/// The first word of the counts of round trips by op number.
pub const ROUND_TRIPS_BY_OP: usize = 32;
/// The number of op numbers that are counted.
pub const OPS: usize = 4096;
/// The first word of the counts of doubts by op number.
pub const DOUBTS_BY_OP: usize = ROUND_TRIPS_BY_OP + OPS;
pub const WORDS: usize = DOUBTS_BY_OP + OPS;
pub const FILE_BYTES: usize = WORDS * 8;

/// The indices of the single words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Word {
    Magic = 0,
    Pid = 1,
    /// When the session began.
    Start = 2,
    /// When a word last changed.
    Now = 3,
    /// Frames handed over by the program.
    Frames = 4,
    /// Bytes of the command stream.
    Bytes = 5,
    /// Records of the command stream; counted if `MGN_COUNT_COMMANDS` is set.
    Commands = 6,
    /// Messages that carried the bytes.
    Messages = 7,
    /// Time the program's threads spent waiting to send.
    SendWait = 8,
    RoundTrips = 9,
    AnswerBytes = 10,
    /// Frames whose picture was shown or saved.
    Shown = 11,
    /// When the first and the last frame were handed over.
    FirstFrame = 12,
    LastFrame = 13,
}

/// The counters. Without a run directory they are in private memory.
pub struct Stats {
    words: *const AtomicU64,
}

// SAFETY: points at WORDS atomics that are never unmapped.
unsafe impl Send for Stats {}
// SAFETY: as above; all access is atomic.
unsafe impl Sync for Stats {}

impl Stats {
    /// Creates the file in `run_dir`. Statistics are never a reason to fail: without the file, the
    /// counters are in private memory.
    pub fn create(run_dir: Option<&Path>) -> Stats {
        let words = run_dir.and_then(map_file).unwrap_or_else(|| {
            let private: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
            private.leak().as_ptr()
        });
        let stats = Stats { words };
        for word in 0..WORDS {
            stats.at(word).store(0, Ordering::Relaxed);
        }
        stats.set(Word::Pid, std::process::id().into());
        let now = monotonic() as u64;
        stats.set(Word::Start, now);
        stats.set(Word::Now, now);
        stats
            .at(Word::Magic as usize)
            .store(MAGIC, Ordering::Release);
        stats
    }

    pub fn add(&self, word: Word, n: u64) {
        self.at(word as usize).fetch_add(n, Ordering::Relaxed);
    }

    pub fn set(&self, word: Word, value: u64) {
        self.at(word as usize).store(value, Ordering::Relaxed);
    }

    pub fn value(&self, word: Word) -> u64 {
        self.at(word as usize).load(Ordering::Relaxed)
    }

    /// Counts a round trip for `op`, answered with `bytes`.
    pub fn round_trip(&self, op: u16, bytes: usize) {
        self.add(Word::RoundTrips, 1);
        self.add(Word::AnswerBytes, bytes as u64);
        self.count(ROUND_TRIPS_BY_OP, op);
    }

    /// Counts a round trip that was needed only because `op` may have failed.
    pub fn doubted(&self, op: u16) {
        self.count(DOUBTS_BY_OP, op);
    }

    fn count(&self, table: usize, op: u16) {
        let op = usize::from(op).min(OPS - 1);
        self.at(table + op).fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a frame that was handed over.
    pub fn frame(&self, send_wait_ns: u64) -> u64 {
        let now = monotonic() as u64;
        if self.value(Word::Frames) == 0 {
            self.set(Word::FirstFrame, now);
        }
        self.add(Word::Frames, 1);
        self.set(Word::LastFrame, now);
        self.set(Word::SendWait, send_wait_ns);
        self.set(Word::Now, now);
        now
    }

    fn at(&self, word: usize) -> &AtomicU64 {
        assert!(word < WORDS);
        // SAFETY: `words` points at WORDS atomics, which live until the process ends.
        unsafe { &*self.words.add(word) }
    }
}

fn map_file(run_dir: &Path) -> Option<*const AtomicU64> {
    let path = run_dir.join(format!("stats-{}", std::process::id()));
    let name = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: a NUL-terminated path; the descriptor is closed below.
    let fd = unsafe {
        libc::open(
            name.as_ptr(),
            libc::O_RDWR | libc::O_CREAT | libc::O_CLOEXEC | libc::O_NOFOLLOW,
            0o600,
        )
    };
    if fd < 0 {
        return None;
    }
    // The room is reserved now: a hole in the file would be a bus error on a full disk.
    // SAFETY: `fd` is an open file of ours.
    let reserved = unsafe { libc::posix_fallocate(fd, 0, FILE_BYTES as libc::off_t) } == 0;
    let base = if reserved {
        // SAFETY: a new shared mapping, placed by the kernel, of a file that is FILE_BYTES long.
        unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                FILE_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                fd,
                0,
            )
        }
    } else {
        libc::MAP_FAILED
    };
    // SAFETY: `fd` is ours and not used again; the mapping does not need it.
    unsafe { libc::close(fd) };
    (base != libc::MAP_FAILED).then_some(base.cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "starts a process")]
    fn another_process_reads_what_is_counted() {
        let dir = std::env::temp_dir().join(format!("mgn-stats-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let stats = Stats::create(Some(&dir));
        stats.add(Word::Bytes, 77);
        stats.round_trip(5, 4);
        stats.doubted(6);
        stats.frame(9);
        let path = dir.join(format!("stats-{}", std::process::id()));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), FILE_BYTES);
        let word = |n: usize| u64::from_le_bytes(bytes[n * 8..n * 8 + 8].try_into().unwrap());
        assert_eq!(word(0), MAGIC);
        assert_eq!(word(Word::Bytes as usize), 77);
        assert_eq!(word(Word::Frames as usize), 1);
        assert_eq!(word(Word::SendWait as usize), 9);
        assert_eq!(word(ROUND_TRIPS_BY_OP + 5), 1);
        assert_eq!(word(DOUBTS_BY_OP + 6), 1);
        assert!(word(Word::LastFrame as usize) >= word(Word::Start as usize));
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn without_a_directory_counting_still_works() {
        let stats = Stats::create(Some(Path::new("/nonexistent")));
        stats.round_trip(u16::MAX, 0);
        assert_eq!(stats.value(Word::RoundTrips), 1);
    }
}
