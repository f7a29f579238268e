//! The barrier before swaps: no program shows a frame before all programs have handed over theirs.
//!
//! The programs are the ranks of a job, which they join at their first swap. If a program ends, it
//! leaves the barrier, and the others go on without it. They also go on if a program is lost: its
//! launcher ends them if the loss is a failure. If a program hangs, that becomes an error after a
//! time limit.

use crate::link::job;
use crate::link::surface::Surface;
use crate::log::line;
use crate::options;
use crate::signals::Signals;
use mgn_barrier::{were_lost, Id, JobBarrier, OpenError, Options, WaitError};
use mgn_composite::{TOLD, UNTOLD};
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};
use std::time::Duration;

/// The suffix of the name of this job.
const OF_SWAPS: &str = ".swaps";
const PORTS_APART: u16 = 2048;

/// How much longer than rank 0 the other ranks wait. Rank 0 knows best which rank is missing.
const EXTRA_TIMEOUT: Duration = Duration::from_secs(3);
/// How much longer each rank waits than the rank before it, if another rank should report why the
/// barrier fails. When that rank has reported and ended, the launcher ends the others after ten
/// seconds.
const APART: Duration = Duration::from_secs(15);
/// How long to wait for the others when this program leaves.
const LEAVING: Duration = Duration::from_secs(2);

pub struct SwapBarrier {
    options: options::SwapBarrier,
    /// Whether a launcher says which rank was lost, and ends the others.
    is_supervised: bool,
    /// [`APART`].
    apart: Duration,
    state: Mutex<State>,
}

enum State {
    /// No swap so far.
    Unopened,
    Open(Opened),
    /// There is no other program to wait for, or this program has left.
    Over,
}

struct Opened {
    barrier: JobBarrier,
    rank: u32,
    passed: u64,
    /// The window whose swaps count.
    window: Weak<Surface>,
}

/// The program cannot go on. Holds the message for the user, unless another process prints it, and
/// the exit status.
#[derive(Debug)]
pub struct Failed(pub Option<String>, pub u8);

impl SwapBarrier {
    pub fn new(options: &options::SwapBarrier) -> SwapBarrier {
        SwapBarrier {
            options: options.clone(),
            is_supervised: std::env::var_os("MGN_SUPERVISED").is_some(),
            apart: APART,
            state: Mutex::new(State::Unopened),
        }
    }

    /// Waits until all other programs swap too, if `surface` is the window whose swaps count: the
    /// first window that is swapped, for as long as it exists.
    ///
    /// # Errors
    /// [`Failed`], at most once.
    pub fn pass_for(&self, surface: &Arc<Surface>) -> Result<(), Failed> {
        match surface.is_window() {
            true => self.pass(Some(surface)),
            false => Ok(()),
        }
    }

    /// Waits until all other programs get here too.
    ///
    /// # Errors
    /// [`Failed`], at most once.
    pub fn pass_all(&self) -> Result<(), Failed> {
        self.pass(None)
    }

    fn pass(&self, surface: Option<&Arc<Surface>>) -> Result<(), Failed> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Unopened = *state {
            *state = State::Over;
            *state = self.open()?;
        }
        let State::Open(opened) = &mut *state else {
            return Ok(());
        };
        if let Some(surface) = surface {
            if opened.window.upgrade().is_none_or(|w| !w.is_visible()) {
                opened.window = Arc::downgrade(surface);
            }
            if opened.window.as_ptr() != Arc::as_ptr(surface) {
                return Ok(());
            }
        }
        let passed = self.wait(opened);
        if passed.is_err() {
            *state = State::Over;
        }
        passed
    }

    fn open(&self) -> Result<State, Failed> {
        let told = |why: String| Failed(Some(format!("--swap-barrier: {why}")), TOLD);
        let joined = job::join(OF_SWAPS, PORTS_APART);
        let member = joined.map_err(|error| told(error.to_string()))?;
        let (rank, size) = (member.rank(), member.size());
        if size == 1 {
            return Ok(State::Over);
        }
        // The barrier's thread is ours, so it must not run the program's signal handlers.
        let _signals = Signals::block_all();
        let opened = JobBarrier::open(
            Box::new(member),
            &Options {
                kind: self.options.choice.kind,
                interface: self.options.choice.interface.clone(),
                patience: self.options.patience,
                ..Options::default()
            },
        );
        let barrier = opened.map_err(|error| match error {
            // The first rank has found the same error, and reports it for all.
            OpenError::Gone { .. } | OpenError::TooLate { .. } if self.is_supervised => {
                Failed(None, UNTOLD)
            }
            error @ (OpenError::Late { .. } | OpenError::Unreachable { .. }) => told(format!(
                "rank {rank} cannot begin: {error}: all ranks must swap; --swap-timeout allows them more time"
            )),
            error => told(format!("rank {rank} cannot begin: {error}")),
        })?;
        Ok(State::Open(Opened {
            barrier,
            rank,
            passed: 0,
            window: Weak::new(),
        }))
    }

    fn wait(&self, opened: &mut Opened) -> Result<(), Failed> {
        let Opened {
            barrier,
            rank,
            passed,
            ..
        } = opened;
        let patience = self.options.patience;
        let extra = if *rank == 0 {
            Duration::ZERO
        } else {
            EXTRA_TIMEOUT
        };
        let mut timeout = patience + extra;
        let mut is_last = !self.is_supervised;
        loop {
            match barrier.pass(0, Some(timeout)) {
                Ok(_) => {
                    *passed += 1;
                    return Ok(());
                }
                // All remaining ranks have failed at this epoch, and meet at the next one.
                Err(WaitError::Lost(lost)) => {
                    if !self.is_supervised {
                        line(format_args!(
                            "{} after {passed} swaps, and rank {rank} goes on without",
                            were_lost("rank", &lost.members)
                        ));
                    }
                }
                // One rank reports for all that have found the same: the first one that is not
                // missing. It may hang, too, although this rank does not wait for it.
                Err(WaitError::TimedOut { missing })
                    if !is_last && !reports(*rank, &barrier.members(), &missing) =>
                {
                    is_last = true;
                    timeout = self.apart * *rank;
                }
                Err(WaitError::TimedOut { missing }) => {
                    let why = format!(
                        "rank {rank} has waited {patience:?} at its swap {} for {}: all ranks must swap equally often; --swap-timeout allows them more time",
                        *passed + 1,
                        named(&missing)
                    );
                    return Err(Failed(Some(why), TOLD));
                }
                Err(error) => {
                    let why = format!("--swap-barrier: rank {rank} after {passed} swaps: {error}");
                    return Err(Failed(Some(why), TOLD));
                }
            }
        }
    }

    /// The program has ended or shows no more pictures. The others go on without it.
    pub fn leave(&self) {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            // A thread of the program waits here, and still takes part in this swap. When the
            // process ends, the others find that it is lost.
            Err(TryLockError::WouldBlock) => return,
        };
        if let State::Open(mut opened) = std::mem::replace(&mut *state, State::Over) {
            if let Err(error) = opened.barrier.leave(Some(LEAVING)) {
                tracing::debug!(%error, "the swap barrier was not left");
            }
        }
    }
}

/// Whether this rank is the first member that is not missing.
fn reports(rank: u32, members: &[u32], missing: &[Id]) -> bool {
    let is_there = |member: &&u32| !missing.contains(&Id(**member));
    members.iter().find(is_there) == Some(&rank)
}

/// Names the missing ranks for messages to users.
fn named(ranks: &[Id]) -> String {
    if ranks.is_empty() {
        return "other ranks (a barrier over wires does not know which)".to_owned();
    }
    let names: Vec<String> = ranks.iter().map(Id::to_string).collect();
    format!("rank {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_barrier::Kind;
    use mgn_fabric::job::Job;
    use std::sync::Barrier;
    use std::thread;

    #[test]
    fn missing_ranks_are_named_if_they_are_known() {
        assert_eq!(named(&[Id(1)]), "rank 1");
        assert_eq!(named(&[Id(1), Id(3)]), "rank 1, 3");
        assert!(named(&[]).starts_with("other ranks ("));
    }

    /// Ranks 0 and 1 hang, and no other rank sees both of them missing.
    #[test]
    fn a_rank_says_why_even_if_several_hang() {
        let ends = Barrier::new(4);
        let told: Vec<Option<String>> = thread::scope(|scope| {
            let ranks = [0, 1, 2, 3].map(|rank| {
                let ends = &ends;
                scope.spawn(move || {
                    let name = format!("swaps-{}", std::process::id());
                    let hosts = vec!["localhost".to_owned(); 4];
                    let member = Job::new(&name, rank, hosts).unwrap().join().unwrap();
                    let choice = mgn_barrier::Choice {
                        kind: Kind::Tree(2),
                        interface: None,
                    };
                    let options = Options {
                        kind: choice.kind,
                        ..Options::default()
                    };
                    let barrier = JobBarrier::open(Box::new(member), &options).unwrap();
                    let mut opened = Opened {
                        barrier,
                        rank,
                        passed: 0,
                        window: Weak::new(),
                    };
                    let swaps = SwapBarrier {
                        options: options::SwapBarrier {
                            choice,
                            patience: Duration::from_millis(100),
                        },
                        is_supervised: true,
                        apart: Duration::from_millis(20),
                        state: Mutex::new(State::Over),
                    };
                    let said = match rank {
                        0 | 1 => None,
                        _ => swaps.wait(&mut opened).err(),
                    };
                    ends.wait();
                    said.and_then(|Failed(why, status)| {
                        assert_eq!(status, TOLD);
                        why
                    })
                })
            });
            ranks.map(|rank| rank.join().unwrap()).into()
        });
        let first = told[2].as_deref().unwrap();
        assert!(first.contains("for rank 0: all ranks must"), "{first}");
        let second = told[3].as_deref().unwrap();
        assert!(second.contains("for rank 1: all ranks must"), "{second}");
    }

    #[test]
    fn the_first_rank_that_is_not_missing_reports() {
        let who = |missing: &[Id]| [1, 2, 5].map(|rank| reports(rank, &[1, 2, 5], missing));
        assert_eq!(who(&[Id(5)]), [true, false, false]);
        assert_eq!(who(&[Id(1), Id(5)]), [false, true, false]);
        // A barrier over wires does not know which ranks are missing.
        assert_eq!(who(&[]), [true, false, false]);
    }
}
