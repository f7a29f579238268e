//! Barriers over emulated lines, in random orders of events. No member passes early, and no member
//! is stuck.
//!
//! `MGN_BARRIERS` is the minimum number of barriers that are passed.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use mgn_barrier::{Lines, Wired, LINES};
use mgn_fuzzing::Random;

/// A member's access to the lines.
#[derive(Debug)]
struct Emulated {
    /// The number of members that hold each line.
    held: Arc<[AtomicUsize; LINES]>,
    own: [bool; LINES],
    random: Random,
    /// Whether the last look at a line saw a spike.
    was_spike: bool,
}

impl Lines for Emulated {
    fn hold(&mut self, line: usize, is_held: bool) -> io::Result<()> {
        if std::mem::replace(&mut self.own[line], is_held) != is_held {
            match is_held {
                true => self.held[line].fetch_add(1, Ordering::SeqCst),
                false => self.held[line].fetch_sub(1, Ordering::SeqCst),
            };
        }
        Ok(())
    }

    /// A held line is sometimes high for the duration of one look.
    fn is_high(&mut self, line: usize) -> io::Result<bool> {
        let is_high = self.held[line].load(Ordering::SeqCst) == 0;
        self.was_spike = !is_high && !self.was_spike && self.random.below(20) == 0;
        Ok(is_high || self.was_spike)
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        (0..LINES).for_each(|line| self.hold(line, false).unwrap());
    }
}

/// One member: it arrives, looks until it passes, and at last leaves, or its process ends.
struct Worker {
    wired: Wired<Emulated>,
    /// The number of epochs at which it arrives.
    lifetime: u64,
    arrived: u64,
}

/// Members pass epochs in a random order of events until all have left. Returns the number of
/// epochs that were passed.
fn pass(seed: u64) -> u64 {
    const EPOCHS: u64 = 200;
    let mut random = Random::new(seed);
    let count = 1 + random.below(9);
    let held: Arc<[AtomicUsize; LINES]> = Arc::default();
    let mut workers: Vec<Worker> = (0..count)
        .map(|me| {
            let lines = Emulated {
                held: held.clone(),
                own: [false; LINES],
                random: Random::new(seed << 8 | me as u64),
                was_spike: false,
            };
            Worker {
                wired: Wired::new(lines, Duration::ZERO).unwrap(),
                lifetime: match random.below(3) {
                    0 => random.below(EPOCHS as usize) as u64,
                    _ => EPOCHS,
                },
                arrived: 0,
            }
        })
        .collect();
    // Some members are often slower than others.
    let slow = random.below(count);
    let mut passed = 0;
    // A member passes within a few looks after the last arrival.
    let mut steps_left = 2000 * EPOCHS * count as u64;
    while !workers.is_empty() {
        steps_left -= 1;
        assert!(steps_left > 0, "seed {seed}: stuck at epoch {passed}");
        let at = random.below(workers.len());
        if at == slow && random.below(4) > 0 {
            continue;
        }
        let worker = &mut workers[at];
        let epoch = worker.wired.epoch();
        if worker.wired.has_arrived() {
            if worker.wired.has_passed().unwrap() {
                let early = workers.iter().find(|other| other.arrived <= epoch);
                let early = early.map(|other| other.arrived);
                assert_eq!(early, None, "seed {seed}: epoch {epoch} is passed early");
                passed = passed.max(epoch + 1);
            }
        } else if worker.arrived == worker.lifetime {
            let mut worker = workers.swap_remove(at);
            match random.below(2) {
                0 => worker.wired.leave().unwrap(),
                // The kernel releases the lines of a process that has ended.
                _ => drop(worker),
            }
        } else {
            worker.wired.arrive().unwrap();
            worker.arrived += 1;
        }
    }
    assert!(held.iter().all(|held| held.load(Ordering::SeqCst) == 0));
    passed
}

#[test]
fn members_pass_and_end_in_random_orders() {
    let set = std::env::var("MGN_BARRIERS").ok();
    let wanted: u64 = set.map_or(20_000, |set| set.parse().expect("a number"));
    let mut passed = 0;
    let mut seed = 0;
    while passed < wanted {
        passed += pass(seed);
        seed += 1;
    }
}
