//! The thread that lets messages go on while the program is elsewhere.
//!
//! It has two modes. *Armed*, it sleeps at the sockets, and every link was asked to ring. Whoever
//! leaves while something is under way sees to that. When it is woken though the program is in here
//! all the time, or is asked to because the program comes again and again, ringing is a waste: then
//! it goes *watching*, which means that it looks every now and then whether the program still
//! calls, and arms the links itself when it doesn't. Where processes are more than processors, the
//! program may have to wait for one: so a program that called not long ago is given some time
//! before it is taken for gone.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags};

use super::{Shared, State, NAP};
use crate::wait::poll;

/// How often it looks while it watches, at first and at last.
const WATCH: Duration = Duration::from_micros(50);
const WATCH_MAX: Duration = Duration::from_micros(400);

/// How long it looks then whether the program calls: a microsecond or two.
const GLANCE: u32 = 64;

impl Shared {
    pub(super) fn kick_helper(&self) {
        let _ = rustix::io::write(&self.kick, &1u64.to_ne_bytes());
    }

    /// Whether the sockets wake the helper: not while it watches, or a thread of the program sleeps
    /// there.
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

    /// The helper's life.
    pub(super) fn help(&self) {
        self.state.be_guest();
        let (mut is_watching, mut interval) = (false, WATCH);
        // When it may have gone: how often the program had called by then.
        let mut doubt = None;
        // How often it had called when this was last woken.
        let mut last = 0;
        let mut is_fetching = false;
        loop {
            if std::mem::take(&mut is_fetching) {
                self.fetch_all();
            }
            let woken = match (is_watching, doubt) {
                (true, None) => self.nap(&self.kick, interval),
                (true, Some(_)) => self.nap(&self.kick, WATCH),
                (false, _) => self.nap(&self.helper_at, NAP),
            };
            let calls = self.looks.load(Ordering::Relaxed);
            let was_doubted = doubt.take();
            let is_back = was_doubted.is_some_and(|before| before != calls);
            // Whoever is in here sees to everything, and must not be made to wait.
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
                    true => (interval * 2).min(WATCH_MAX),
                    false => WATCH,
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
            if std::mem::take(&mut state.is_often) {
                is_watching = true;
                interval = WATCH;
            } else if is_watching {
                is_watching = false;
            } else if woken && !state.is_asleep {
                let seen = self.looks.load(Ordering::Relaxed);
                let events = self.events(Duration::ZERO);
                self.handle(&mut state, &events);
                self.tell(&mut state);
                let has_handled = !state.engine.active.is_empty();
                drop(state);
                self.run_handlers();
                state = self.state();
                let is_calling = self.looks.load(Ordering::Relaxed) != seen;
                let may_call = calls != last && !is_calling;
                last = seen;
                is_watching = (is_calling || may_call) && !has_handled;
                doubt = (is_watching && may_call).then_some(seen);
                interval = WATCH;
            }
            self.is_watching.store(is_watching, Ordering::Relaxed);
            self.set_helper(&mut state);
            is_fetching = state.engine.is_fetching();
            if !is_watching {
                state.engine.tell_all();
                let happened = state.go_on(&self.sockets);
                if !state.is_asleep {
                    self.arm_all(&mut state);
                }
                self.sweep(&mut state);
                if woken || happened {
                    self.tell(&mut state);
                }
                is_fetching = state.engine.is_fetching();
                drop(state);
                self.run_handlers();
            }
        }
    }

    /// Whether the program is in here, or comes.
    fn is_called(&self) -> bool {
        let seen = self.looks.load(Ordering::Relaxed);
        let waits = self.waiters.load(Ordering::Relaxed) > 0;
        waits
            || (0..GLANCE).any(|_| {
                std::hint::spin_loop();
                self.state.is_inside() || self.looks.load(Ordering::Relaxed) != seen
            })
    }

    /// Sleeps until the descriptor is readable. False when that was not so in time.
    fn nap(&self, at: &OwnedFd, time: Duration) -> bool {
        matches!(poll(&mut [PollFd::new(at, PollFlags::IN)], time), Ok(1..))
    }

    /// Reads to their ends the messages that are being read from their senders' memory, unless the
    /// program waits in here: then it does that itself.
    fn fetch_all(&self) {
        while self.waiters.load(Ordering::Relaxed) == 0 {
            let mut state = self.state();
            if state.is_stopping || !state.engine.fetch_some() {
                return;
            }
            self.tell(&mut state);
            drop(state);
            // The program's threads want to look, too.
            std::thread::yield_now();
        }
    }
}
