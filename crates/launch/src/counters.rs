//! The client library's counters in the programs of a run.
//!
//! Each process that uses the library keeps a file `stats-<pid>` in the run's directory: 64-bit
//! words in the machine's own order, changed in place while the program runs. The first word names
//! the layout; a file with another layout, or one that is not complete yet, is ignored.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// "MGNSTAT" and the layout's version.
const MAGIC: u64 = u64::from_le_bytes(*b"MGNSTAT\x02");

/// Indices of the words that are read here.
const START: usize = 2;
const NOW: usize = 3;
const FRAMES: usize = 4;
const BYTES: usize = 5;
const COMMANDS: usize = 6;
const MESSAGES: usize = 7;
const SEND_WAIT: usize = 8;
const ROUND_TRIPS: usize = 9;
const ANSWER_BYTES: usize = 10;
const SHOWN: usize = 11;
const FIRST_FRAME: usize = 12;
const LAST_FRAME: usize = 13;
const BY_OP: usize = 32;
/// How many op numbers have a count, from `BY_OP` on and from `DOUBTS` on.
const OPS: usize = 4096;
const DOUBTS: usize = BY_OP + OPS;
const WORDS: usize = DOUBTS + OPS;

/// The counters of a run, summed over its processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Processes that drew.
    pub processes: usize,
    /// Frames that the programs handed over, and frames whose picture was shown or saved.
    pub frames: u64,
    pub shown: u64,
    /// Bytes of the command stream.
    pub bytes: u64,
    pub commands: u64,
    pub messages: u64,
    pub answer_bytes: u64,
    pub round_trips: u64,
    /// Round trips by the op number of the command that needed them.
    pub round_trips_by_op: BTreeMap<u16, u64>,
    /// Round trips of glGetError, by the command whose success was not known.
    pub doubts_by_op: BTreeMap<u16, u64>,
    /// Time that threads spent waiting to send.
    pub send_wait: Duration,
    /// From the beginning of the first session to the last change of a counter.
    pub elapsed: Duration,
    /// From the first frame to the last one; zero for less than two.
    pub between_frames: Duration,
    /// The same spans for merging: first and last moment, in nanoseconds of the monotonic clock.
    span: Option<(u64, u64)>,
    frame_span: Option<(u64, u64)>,
}

impl Counters {
    /// Reads the counters of all processes of the run in `run_dir`, living and dead.
    pub fn read(run_dir: &Path) -> Counters {
        let mut total = Counters::default();
        for entry in fs::read_dir(run_dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with("stats-") {
                continue;
            }
            if let Ok(bytes) = fs::read(entry.path()) {
                total.add(&bytes);
            }
        }
        let length = |span: Option<(u64, u64)>| {
            Duration::from_nanos(span.map_or(0, |(from, to)| to.saturating_sub(from)))
        };
        total.elapsed = length(total.span);
        total.between_frames = length(total.frame_span);
        total
    }

    fn add(&mut self, file: &[u8]) {
        let words: Vec<u64> = file
            .chunks_exact(8)
            .map(|w| u64::from_ne_bytes(w.try_into().expect("chunks of eight")))
            .collect();
        if words.first() != Some(&MAGIC) || words.len() < WORDS {
            return;
        }
        self.processes += 1;
        for (sum, place) in [
            (&mut self.frames, FRAMES),
            (&mut self.shown, SHOWN),
            (&mut self.bytes, BYTES),
            (&mut self.commands, COMMANDS),
            (&mut self.messages, MESSAGES),
            (&mut self.answer_bytes, ANSWER_BYTES),
            (&mut self.round_trips, ROUND_TRIPS),
        ] {
            *sum = sum.saturating_add(words[place]);
        }
        self.send_wait += Duration::from_nanos(words[SEND_WAIT]);
        widen(&mut self.span, words[START], words[NOW]);
        if words[FRAMES] > 0 {
            widen(&mut self.frame_span, words[FIRST_FRAME], words[LAST_FRAME]);
        }
        for (counts, from) in [
            (&mut self.round_trips_by_op, BY_OP),
            (&mut self.doubts_by_op, DOUBTS),
        ] {
            for (op, &count) in (0..).zip(&words[from..from + OPS]) {
                if count > 0 {
                    *counts.entry(op).or_default() += count;
                }
            }
        }
    }

    /// Frames a second between the first and the last, or since the start for a single one.
    pub fn frames_per_second(&self) -> f64 {
        match self.frames {
            0 => 0.0,
            n if !self.between_frames.is_zero() && n > 1 => {
                (n - 1) as f64 / self.between_frames.as_secs_f64()
            }
            n if !self.elapsed.is_zero() => n as f64 / self.elapsed.as_secs_f64(),
            _ => 0.0,
        }
    }

    /// `n` divided by the number of frames, or `n` before the first frame.
    pub fn per_frame(&self, n: u64) -> f64 {
        n as f64 / self.frames.max(1) as f64
    }

    /// The share of the run that was spent waiting to send, from 0 to 1.
    pub fn send_wait_share(&self) -> f64 {
        match self.elapsed.as_secs_f64() {
            0.0 => 0.0,
            elapsed => (self.send_wait.as_secs_f64() / elapsed).min(1.0),
        }
    }
}

fn widen(span: &mut Option<(u64, u64)>, from: u64, to: u64) {
    *span = Some(span.map_or((from, to), |(f, t)| (f.min(from), t.max(to))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunDir;

    fn file(words: &[(usize, u64)]) -> Vec<u8> {
        let mut file = vec![0u64; WORDS];
        file[0] = MAGIC;
        for &(place, value) in words {
            file[place] = value;
        }
        file.iter().flat_map(|w| w.to_ne_bytes()).collect()
    }

    #[test]
    fn processes_are_summed() {
        let run = RunDir::create().unwrap();
        let second = 1_000_000_000;
        let gears = [
            (START, second),
            (NOW, 5 * second),
            (FRAMES, 21),
            (BYTES, 2100),
            (SEND_WAIT, second),
            (ROUND_TRIPS, 3),
            (BY_OP + 7, 3),
            (DOUBTS + 8, 2),
            (FIRST_FRAME, 2 * second),
            (LAST_FRAME, 4 * second),
        ];
        fs::write(run.join("stats-1"), file(&gears)).unwrap();
        let helper = [
            (START, 2 * second),
            (NOW, 6 * second),
            (BYTES, 900),
            (BY_OP + 7, 1),
        ];
        fs::write(run.join("stats-2"), file(&helper)).unwrap();
        let counters = Counters::read(run.path());
        assert_eq!(counters.processes, 2);
        assert_eq!(counters.frames, 21);
        assert_eq!(counters.bytes, 3000);
        assert_eq!(counters.round_trips_by_op, BTreeMap::from([(7, 4)]));
        assert_eq!(counters.doubts_by_op, BTreeMap::from([(8, 2)]));
        assert_eq!(counters.elapsed, Duration::from_secs(5));
        assert_eq!(counters.frames_per_second(), 10.0);
        assert_eq!(counters.send_wait_share(), 0.2);
    }

    #[test]
    fn what_is_no_such_file_is_passed_over() {
        let run = RunDir::create().unwrap();
        fs::write(run.join("stats-1"), b"").unwrap();
        fs::write(run.join("stats-2"), MAGIC.to_ne_bytes()).unwrap();
        fs::write(run.join("stats-3"), vec![0; 8 * WORDS]).unwrap();
        fs::create_dir(run.join("stats-4")).unwrap();
        let counters = Counters::read(run.path());
        assert_eq!(counters, Counters::default());
        assert_eq!(counters.frames_per_second(), 0.0);
        assert_eq!(counters.send_wait_share(), 0.0);
        assert_eq!(counters.per_frame(10), 10.0);
    }
}
