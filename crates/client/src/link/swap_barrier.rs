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
/// How long to wait for the others when this program leaves.
const LEAVING: Duration = Duration::from_secs(2);

pub struct SwapBarrier {
    options: options::SwapBarrier,
    /// Whether a launcher says which rank was lost, and ends the others.
    is_supervised: bool,
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
    size: u32,
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
            size,
            passed: 0,
            window: Weak::new(),
        }))
    }

    fn wait(&self, opened: &mut Opened) -> Result<(), Failed> {
        let Opened {
            barrier,
            rank,
            size,
            passed,
            ..
        } = opened;
        let patience = self.options.patience;
        let timeout = patience
            + if *rank == 0 {
                Duration::ZERO
            } else {
                EXTRA_TIMEOUT
            };
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
                Err(WaitError::TimedOut { missing }) => {
                    let why = format!(
                        "rank {rank} has waited {patience:?} at its swap {} for rank {}: all ranks must swap equally often; --swap-timeout allows them more time",
                        *passed + 1,
                        named(&missing)
                    );
                    let first = (0..*size).find(|other| !missing.contains(&Id(*other)));
                    // One rank reports for all that have found the same.
                    let speaks = !self.is_supervised || first == Some(*rank);
                    return Err(Failed(
                        speaks.then_some(why),
                        if speaks { TOLD } else { UNTOLD },
                    ));
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

/// Formats ranks for messages to users.
fn named(ranks: &[Id]) -> String {
    let names: Vec<String> = ranks.iter().map(Id::to_string).collect();
    names.join(", ")
}
