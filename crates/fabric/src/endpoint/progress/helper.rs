//! The helper: a thread that makes progress while the program is outside the library.
//!
//! The helper has two modes. When it is *armed*, it sleeps at the sockets, and every link's peer
//! has been asked to ring. A thread of the program arms the links when it leaves with operations in
//! progress. If the program is inside the library all the time, or calls at short intervals, the
//! helper's wake-ups are wasted. The helper then starts *watching*: it checks at intervals whether
//! the program still calls, and arms the links itself when the program has stopped. If there are
//! more processes than processors, the program may have to wait for a processor. So after a recent
//! call, the helper waits longer before it arms the links.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags};

use super::{Shared, State, SLEEP_MAX};
use crate::wait::poll;

/// The interval between two checks while the helper watches: the first interval, and the longest
/// interval.
const WATCH_INTERVAL: Duration = Duration::from_micros(50);
const WATCH_INTERVAL_MAX: Duration = Duration::from_micros(400);

/// With at least as many peers on this host as processors, the intervals are longer by this factor,
/// or by a multiple of it, up to the maximum. A program that waits for a processor has not stopped
/// calling. If the helper assumed that and armed the links, every message would wake the helper,
/// and the wake-ups would take up the processors.
const CROWDED_FACTOR: u32 = 8;
const CROWDED_INTERVAL_MAX: Duration = Duration::from_millis(10);

/// The number of iterations of each check whether the program calls. They take 1 to 2 us.
const CALL_CHECK_POLLS: u32 = 64;

impl Shared {
    pub(super) fn kick_helper(&self) {
        let _ = rustix::io::write(&self.kick, &1u64.to_ne_bytes());
    }

    /// Sets whether the sockets wake the helper. They do not wake it while it watches, or while a
    /// thread of the program sleeps at the sockets.
    pub(super) fn set_helper(&self, state: &mut State) {
        let on = !self.is_watching.load(Ordering::Relaxed) && !state.is_asleep;
        if on != state.is_helper_on {
            state.is_helper_on = on;
            let flags = if on {
                EventFlags::IN
            } else {
                EventFlags::empty()
            };
            let _ = epoll::modify(&self.helper_at, &self.sockets, EventData::new_u64(0), flags);
        }
    }

    /// The helper's main loop.
    pub(super) fn help(&self) {
        self.state.be_guest();
        let (mut first, mut longest) = (WATCH_INTERVAL, WATCH_INTERVAL_MAX);
        let (mut is_watching, mut interval) = (false, first);
        // The program's number of polls when it seemed to have stopped calling.
        let mut doubt = None;
        // The program's number of polls when the helper was last woken.
        let mut last = 0;
        let mut is_fetching = false;
        loop {
            if std::mem::take(&mut is_fetching) {
                self.fetch_all();
            }
            let woken = match (is_watching, doubt) {
                (true, None) => self.nap(&self.kick, interval),
                (true, Some(_)) => self.nap(&self.kick, first),
                (false, _) => self.nap(&self.helper_at, SLEEP_MAX),
            };
            let calls = self.looks.load(Ordering::Relaxed);
            let was_doubted = doubt.take();
            let is_back = was_doubted.is_some_and(|before| before != calls);
            // A thread inside the library does all the work itself, and must not have to wait for
            // the helper.
            let state = match (is_watching, woken) {
                (true, false) | (false, true) if is_back || self.is_called() => None,
                (true, false) if was_doubted.is_none() => {
                    doubt = Some(calls);
                    continue;
                }
                (true, true) => Some(self.state()),
                _ => self.state.try_visit(),
            };
            let Some(mut state) = state else {
                interval = match is_watching {
                    true => (interval * 2).min(longest),
                    false => first,
                };
                is_watching = true;
                self.is_watching.store(true, Ordering::Relaxed);
                continue;
            };
            if state.is_stopping {
                return;
            }
            if std::mem::take(&mut state.is_kicked) {
                let _ = rustix::io::read(&self.kick, &mut [0; 8]);
            }
            self.ask(&mut state);
            (first, longest) = self.watch_intervals(&state);
            if std::mem::take(&mut state.is_often) {
                is_watching = true;
                interval = first;
            } else if is_watching {
                is_watching = false;
            } else if woken && !state.is_asleep {
                let seen = self.looks.load(Ordering::Relaxed);
                let events = self.events(Duration::ZERO);
                self.handle(&mut state, &events);
                self.wake_program(&mut state);
                let has_handled = !state.engine.active.is_empty();
                drop(state);
                self.run_handlers();
                state = self.state();
                let is_calling = self.looks.load(Ordering::Relaxed) != seen;
                let may_call = calls != last && !is_calling;
                last = seen;
                is_watching = (is_calling || may_call) && !has_handled;
                doubt = (is_watching && may_call).then_some(seen);
                interval = first;
            }
            self.is_watching.store(is_watching, Ordering::Relaxed);
            self.set_helper(&mut state);
            is_fetching = state.engine.is_fetching();
            if !is_watching {
                state.engine.return_credits();
                let happened = state.go_on(&self.sockets);
                if !state.is_asleep {
                    self.arm_all(&mut state);
                }
                self.sweep(&mut state);
                if woken || happened {
                    self.wake_program(&mut state);
                }
                is_fetching = state.engine.is_fetching();
                drop(state);
                self.run_handlers();
            }
        }
    }

    /// The first and the longest interval between two checks while the helper watches.
    pub(super) fn watch_intervals(&self, state: &State) -> (Duration, Duration) {
        let factor = match (state.near / self.processors) as u32 {
            0 => 1,
            times => times.saturating_mul(CROWDED_FACTOR),
        };
        let longer = |interval: Duration| interval.saturating_mul(factor).min(CROWDED_INTERVAL_MAX);
        (longer(WATCH_INTERVAL), longer(WATCH_INTERVAL_MAX))
    }

    /// Whether the program is inside the library, or enters it during the check.
    fn is_called(&self) -> bool {
        let seen = self.looks.load(Ordering::Relaxed);
        let waits = self.waiters.load(Ordering::Relaxed) > 0;
        waits
            || (0..CALL_CHECK_POLLS).any(|_| {
                std::hint::spin_loop();
                self.state.is_inside() || self.looks.load(Ordering::Relaxed) != seen
            })
    }

    /// Sleeps until the descriptor is readable. Returns false if the time passes first.
    fn nap(&self, at: &OwnedFd, time: Duration) -> bool {
        matches!(poll(&mut [PollFd::new(at, PollFlags::IN)], time), Ok(1..))
    }

    /// Completes the messages that are being read from their senders' memory. Stops when a thread
    /// of the program waits inside the library, because that thread reads the messages itself.
    fn fetch_all(&self) {
        while self.waiters.load(Ordering::Relaxed) == 0 {
            let mut state = self.state();
            if state.is_stopping || !state.engine.fetch_some() {
                return;
            }
            self.wake_program(&mut state);
            drop(state);
            // Give the program's threads a chance to take the lock.
            std::thread::yield_now();
        }
    }
}
