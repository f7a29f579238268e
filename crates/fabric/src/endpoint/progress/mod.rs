//! The progress engine, which moves an endpoint's messages along. The program's threads do this
//! work while they are inside a call. A helper thread does it at other times.
//!
//! A waiting thread first polls the *hot* links, which were used recently, for a short time. Then
//! it sleeps until a socket wakes it. A peer that shares memory with us rings a doorbell on its
//! socket if we have asked the peer to do so. Only one of the program's threads sleeps at the
//! sockets, and this thread notifies the others.

mod handlers;
mod helper;
mod parting;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec};

use super::engine::{alone, Caught, Engine, SendOptions};
use super::handled::Active;
use super::head::Head;
use super::joining::HalfLinks;
use super::link::AnyLink;
use super::link_id::LinkId;
use super::lock::{Guard, Lock};
use super::memory::Memory;
use super::ops::{Request, Status};
use super::own::OwnLink;
use super::remote_key::Key;
use super::settings::Settings;
use super::stream::StreamLink;
use super::wanted::Wanted;
use crate::peer::Peer;
use crate::shm::Sleep;
use crate::wait::{Deadline, Spinner};
use crate::Error;

/// The maximum number of hot links, which are polled in turn. The peers of other links have to ring
/// the doorbell.
const HOT_MAX: usize = 32;

/// The maximum number of due links that one poll serves.
const DUE_LINKS_PER_LOOK: usize = 16;

/// Polls of the hot links between two polls of the sockets.
const SOCKET_CHECK_POLLS: u32 = 256;

/// The same number while there are cold links, which may ring at any time.
const COLD_POLLS: u32 = 64;

/// The same number while there are cold links and the hot links have traffic.
const BUSY_POLLS: u32 = 8;

/// Polls of the hot links before a wait counts as a long one, if there are at most as many links.
const WAIT_POLLS: u32 = 32;
const FEW_HOT: usize = 4;

/// Polls of the one link that a receive names, before the receive is posted: about a microsecond.
/// Among at least as many peers as processors, there is only one poll, because the sender probably
/// waits for a processor.
const RECEIVE_POLLS: u32 = 64;

/// The longest sleep of a thread. After this time, the thread checks for machines that have stopped
/// answering.
const SLEEP_MAX: Duration = Duration::from_millis(500);

/// If the program's calls return `OFTEN` times within `SHORTLY`, the helper watches the program,
/// and the calls no longer arm the links.
const OFTEN: u32 = 64;
const SHORTLY: Duration = Duration::from_micros(500);

/// The shortest time between two checks for machines that have stopped answering.
const ASK: Duration = Duration::from_millis(500);

type Handler = Box<dyn FnMut(Active<'_>) + Send>;

pub(crate) struct Shared {
    state: Lock<State>,
    /// Counts the program's polls. Only the thread that holds the state lock writes it.
    looks: AtomicU64,
    /// Counts the program's threads that wait inside the library and are awake. Only the thread
    /// that holds the state lock writes it.
    waiters: AtomicU32,
    /// Wakes the program's threads that wait while another thread sleeps at the sockets.
    news: Condvar,
    /// A thread that is about to wait for news takes this mutex before it releases the state lock.
    waiting: Mutex<()>,
    /// All links' sockets.
    sockets: OwnedFd,
    /// The epoll set on which the helper sleeps. It contains `kick`, and also `sockets` while the
    /// helper is armed.
    helper_at: OwnedFd,
    kick: OwnedFd,
    /// Wakes the thread that sleeps at the sockets after another thread has made progress.
    bell: OwnedFd,
    pub(crate) helper: Mutex<Option<JoinHandle<()>>>,
    /// Set while the helper checks at intervals, so that no link has to ring.
    is_watching: AtomicBool,
    pub(crate) own: LinkId,
    pub(crate) halves: HalfLinks,
    pub(crate) settings: Settings,
    /// The number of the machine's processors when the endpoint was created.
    processors: usize,
    /// The process that created the endpoint. A forked child has none of the threads.
    owner: u32,
}

pub(crate) struct State {
    pub(crate) engine: Engine<AnyLink>,
    hot: Vec<LinkId>,
    /// Cold links that have pending work for which no wake-up will come. They are served in turn.
    due: VecDeque<LinkId>,
    /// Set if the last poll of the sockets found events of cold links. Cold links then get as many
    /// turns as hot links.
    are_cold_busy: bool,
    /// The number of due links that have a turn before the hot links have their next turn.
    round: usize,
    /// Links within this process. Their messages cause no socket events.
    within: Vec<LinkId>,
    /// The sockets and processes that are watched for each link.
    peers: HashMap<LinkId, Vec<Arc<Peer>>>,
    /// The number of links whose peers run on this host.
    near: usize,
    handlers: HashMap<u16, Arc<Mutex<Handler>>>,
    is_handling: bool,
    /// Set if some link may still have data to send, although the operation has ended.
    is_sending: bool,
    polls: u32,
    /// The time of the last check for machines that have stopped answering.
    asked: Instant,
    /// Set while a thread of the program sleeps at the sockets.
    is_asleep: bool,
    /// Set if `bell` has been rung to wake this thread.
    is_rung: bool,
    /// Whether the sockets wake the helper.
    is_helper_on: bool,
    waiting: usize,
    spinner: Spinner,
    is_stopping: bool,
    /// Set if the helper was woken for work that causes no socket event.
    is_kicked: bool,
    /// Set if the helper has to watch, because the program calls too often to arm the links at the
    /// end of each call.
    is_often: bool,
    /// The number of calls since `counted` that would have armed the links.
    armed: u32,
    counted: Instant,
}

impl Shared {
    pub(crate) fn start(settings: Settings) -> Result<Arc<Shared>, Error> {
        let make = || -> std::io::Result<_> {
            let sockets = epoll::create(CreateFlags::CLOEXEC)?;
            let helper_at = epoll::create(CreateFlags::CLOEXEC)?;
            let eventfd =
                || rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
            let (kick, bell) = (eventfd()?, eventfd()?);
            epoll::add(&helper_at, &sockets, EventData::new_u64(0), EventFlags::IN)?;
            epoll::add(&helper_at, &kick, EventData::new_u64(1), EventFlags::IN)?;
            Ok((sockets, helper_at, kick, bell))
        };
        let (sockets, helper_at, kick, bell) =
            make().map_err(Error::io("cannot make an endpoint"))?;
        let mut engine = Engine::new();
        let own = engine.add_link(AnyLink::Own(OwnLink::new(settings.envelopes as u32)));
        epoll::add(&sockets, &bell, event_data(own, false), EventFlags::IN)
            .map_err(|error| Error::io("cannot make an endpoint")(error.into()))?;
        let state = State {
            engine,
            hot: Vec::new(),
            due: VecDeque::new(),
            are_cold_busy: false,
            round: 0,
            within: vec![own],
            peers: HashMap::new(),
            near: 0,
            handlers: HashMap::new(),
            is_handling: false,
            is_sending: false,
            polls: 0,
            asked: Instant::now(),
            is_asleep: false,
            is_rung: false,
            is_helper_on: true,
            waiting: 0,
            spinner: Spinner::yielding(settings.spin()),
            is_stopping: false,
            is_kicked: false,
            is_often: false,
            armed: 0,
            counted: Instant::now(),
        };
        let shared = Arc::new(Shared {
            state: Lock::new(state),
            looks: AtomicU64::new(0),
            waiters: AtomicU32::new(0),
            news: Condvar::new(),
            waiting: Mutex::new(()),
            sockets,
            helper_at,
            kick,
            bell,
            helper: Mutex::new(None),
            is_watching: AtomicBool::new(false),
            own,
            halves: HalfLinks::default(),
            settings,
            processors: mgn_sys::cpu::cores(),
            owner: std::process::id(),
        });
        let helping = shared.clone();
        let helper = std::thread::Builder::new()
            .name("mgn-progress".into())
            .spawn(move || helping.help())
            .map_err(Error::io("cannot start a thread"))?;
        *shared.helper.lock().unwrap_or_else(PoisonError::into_inner) = Some(helper);
        Ok(shared)
    }

    pub(crate) fn stop(&self) {
        if self.owner != std::process::id() {
            return;
        }
        self.state().is_stopping = true;
        self.kick_helper();
        let helper = self
            .helper
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // A handler that drops the endpoint runs in the helper itself.
        if let Some(helper) =
            helper.filter(|helper| helper.thread().id() != std::thread::current().id())
        {
            let _ = helper.join();
        }
        let mut state = self.state();
        let links: Vec<LinkId> = state.engine.links().map(|(id, _)| id).collect();
        for link in links {
            self.end(&mut state, link);
        }
    }

    #[inline]
    pub(crate) fn state(&self) -> Guard<'_, State> {
        self.state.lock()
    }

    /// Records that the program has polled. The caller holds the state lock, so no other thread
    /// writes the counter.
    #[inline]
    fn looked(&self) {
        let looks = self.looks.load(Ordering::Relaxed);
        self.looks.store(looks.wrapping_add(1), Ordering::Relaxed);
    }

    /// Changes the number of waiting threads. The caller must hold the state lock.
    fn count_waiters(&self, change: i32) {
        let waiters = self.waiters.load(Ordering::Relaxed);
        let changed = waiters.wrapping_add_signed(change);
        self.waiters.store(changed, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, carrier: AnyLink) -> Result<LinkId, Error> {
        let peers: Vec<Arc<Peer>> = match &carrier {
            AnyLink::Shm(link) => vec![link.peer.clone()],
            AnyLink::Stream(link) => vec![link.data.clone(), link.control.clone()],
            AnyLink::Own(_) | AnyLink::Silent(_) | AnyLink::Played(_) => Vec::new(),
        };
        let mut state = self.state();
        let id = state.engine.add_link(carrier);
        for peer in &peers {
            let added = peer.fds().enumerate().try_for_each(|(at, fd)| {
                let flags = EventFlags::IN | EventFlags::RDHUP;
                epoll::add(&self.sockets, fd, event_data(id, at > 0), flags)
            });
            if let Err(error) = added {
                let error = Error::io("cannot watch a link")(error.into());
                state.engine.fail(id, error.again());
                return Err(error);
            }
        }
        match peers.is_empty() {
            true => state.within.push(id),
            false => drop(state.peers.insert(id, peers)),
        }
        self.share_out(&mut state);
        state.heat(&self.sockets, id);
        self.leave(&mut state);
        Ok(id)
    }

    /// Gives each link over sockets an equal share of the buffer space for unexpected messages, and
    /// tells all links whether there are at least as many peers on this host as processors.
    fn share_out(&self, state: &mut State) {
        let is_here = |peers: &&Vec<Arc<Peer>>| peers.iter().any(|peer| peer.is_on_this_host());
        state.near = state.peers.values().filter(is_here).count();
        let shares_processors = self.is_crowded(state);
        state.engine.share_processors(shares_processors);
        let window = self.settings.window(state.peers.len());
        for (_, link) in state.engine.links() {
            match link {
                AnyLink::Shm(link) => link.share_processors(shares_processors),
                // An error means that the peer is gone. Another call detects that.
                AnyLink::Stream(link) => drop(link.set_window(window)),
                _ => {}
            }
        }
    }

    #[inline]
    pub(crate) fn send(
        &self,
        to: LinkId,
        head: Head,
        memory: Memory,
        how: SendOptions,
    ) -> Result<Option<Request>, Error> {
        let mut state = self.state();
        if !how.sync && state.engine.send_short(to, &head, &memory) {
            self.leave(&mut state);
            return Ok(None);
        }
        let request = state
            .engine
            .send(to, head, memory, how)
            .inspect_err(|_| self.sweep(&mut state))?;
        if to == self.own {
            self.wake_program(&mut state);
        }
        if request.is_some() || state.engine.is_sending(to) {
            state.heat(&self.sockets, to);
            state.is_sending = true;
        }
        self.leave(&mut state);
        Ok(request)
    }

    #[inline]
    pub(crate) fn receive(&self, wanted: Wanted, memory: Memory) -> Request {
        let mut state = self.state();
        let request = state.engine.receive(wanted, memory);
        state.engine.fetch_short();
        self.leave(&mut state);
        request
    }

    /// Receives a message that is here or arrives at once. Otherwise posts the receive and returns
    /// its request as the error, so that the caller can wait for it.
    #[inline]
    pub(crate) fn receive_now(
        &self,
        wanted: Wanted,
        memory: Memory,
    ) -> Result<Result<Status, Error>, Request> {
        let mut state = self.state();
        if let Some(from) = wanted.from {
            let polls = match self.is_crowded(&state) {
                true => 1,
                false => RECEIVE_POLLS,
            };
            for _ in 0..polls {
                match state.engine.catch(from, &wanted, &memory) {
                    Caught::Nothing => std::hint::spin_loop(),
                    Caught::Other => break,
                    Caught::It(result) => {
                        self.leave(&mut state);
                        return Ok(result);
                    }
                }
            }
        }
        let request = state.engine.receive(wanted, memory);
        if let Ok(Some(result)) = state.engine.ops.take(request) {
            // This call does not count as a poll, because it makes no progress on other messages. A
            // program that makes only such calls leaves the progress to the helper.
            state.engine.return_credits();
            return Ok(result);
        }
        self.look(&mut state);
        match state.engine.ops.take(request) {
            Ok(Some(result)) => {
                self.leave_and_handle(state);
                Ok(result)
            }
            _ => Err(request),
        }
    }

    pub(crate) fn put(
        &self,
        to: LinkId,
        key: Key,
        offset: u64,
        memory: Memory,
    ) -> Result<Request, Error> {
        self.request(to, |engine| engine.put(to, key, offset, memory))
    }

    pub(crate) fn get(
        &self,
        from: LinkId,
        key: Key,
        offset: u64,
        memory: Memory,
    ) -> Result<Request, Error> {
        self.request(from, |engine| engine.get(from, key, offset, memory))
    }

    fn request(
        &self,
        link: LinkId,
        ask: impl FnOnce(&mut Engine<AnyLink>) -> Result<Request, Error>,
    ) -> Result<Request, Error> {
        let mut state = self.state();
        let request = ask(&mut state.engine)?;
        state.heat(&self.sockets, link);
        state.is_sending = true;
        self.leave(&mut state);
        Ok(request)
    }

    pub(crate) fn expose(&self, key: Key, memory: Memory) {
        let mut state = self.state();
        state.engine.expose(key, memory);
        self.leave(&mut state);
    }

    /// Withdraws exposed memory, and waits until the accesses in progress have ended.
    pub(crate) fn withdraw(&self, key: &Key) {
        if self.owner != std::process::id() {
            return;
        }
        self.state().engine.withdraw_exposed(key);
        let unused = |state: &mut State| (!state.engine.is_used(key)).then_some(());
        // Without a deadline, `wait` returns only when the memory is unused.
        let _ = self.wait(&Deadline::after(None), unused);
    }

    pub(crate) fn cancel(&self, request: Request) -> Result<bool, Error> {
        let mut state = self.state();
        let result = state.engine.cancel(request);
        self.wake_program(&mut state);
        self.leave(&mut state);
        result
    }

    pub(crate) fn close(&self, link: LinkId) {
        // A forked child shares the epoll set with its parent, and would remove the parent's
        // sockets from it.
        if link != self.own && self.owner == std::process::id() {
            self.end(&mut self.state(), link);
        }
    }

    pub(crate) fn set_handler(&self, handler: u16, call: Handler) {
        let mut state = self.state();
        state.handlers.insert(handler, Arc::new(Mutex::new(call)));
        self.leave(&mut state);
    }

    /// Waits until an operation has ended, and forgets the operation. Returns `None` if `timeout`
    /// passes first.
    #[inline]
    pub(crate) fn wait_for(
        &self,
        request: Request,
        timeout: Option<Duration>,
    ) -> Result<Option<Status>, Error> {
        let deadline = {
            let mut state = self.state();
            // Most operations have succeeded already, or succeed after a few polls.
            let mut found = state.engine.ops.take_well(request);
            if found.is_none() {
                for _ in 0..self.polls(&mut state, timeout) {
                    self.look(&mut state);
                    found = state.engine.ops.take_well(request);
                    if found.is_some() {
                        break;
                    }
                    std::hint::spin_loop();
                }
            }
            if found.is_some() {
                self.leave_and_handle(state);
                return Ok(found);
            }
            let (ended, deadline) = (state.ended(request), Deadline::after(timeout));
            if ended.is_some() || deadline.passed() {
                self.leave_and_handle(state);
                return ended.transpose();
            }
            deadline
        };
        self.wait_long(&deadline, |state| state.ended(request))?
            .transpose()
    }

    /// The number of polls at the beginning of a wait, before it counts as a long wait. These polls
    /// take about a microsecond, and no other thread can enter in this time. The number is one if
    /// polls take longer, or if the peers may not be running.
    #[inline]
    fn polls(&self, state: &mut State, timeout: Option<Duration>) -> u32 {
        if timeout == Some(Duration::ZERO)
            || self.is_crowded(state)
            || state.are_cold_busy
            || !(1..=FEW_HOT).contains(&state.hot.len())
        {
            return 1;
        }
        let mut hot = state.hot.iter();
        match hot.all(|id| matches!(state.engine.carrier(*id), Some(AnyLink::Shm(_)))) {
            true => WAIT_POLLS,
            false => 1,
        }
    }

    /// Waits until `done` returns a value. Returns `None` if the deadline passes first.
    #[inline]
    pub(crate) fn wait<T>(
        &self,
        deadline: &Deadline,
        mut done: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        {
            let mut state = self.state();
            let mut found = done(&mut state);
            if found.is_none() {
                self.look(&mut state);
                found = done(&mut state);
            }
            if found.is_some() || deadline.passed() {
                self.leave_and_handle(state);
                return Ok(found);
            }
        }
        self.wait_long(deadline, done)
    }

    /// Does the same as `wait`, for a condition that is known not to hold yet.
    pub(crate) fn wait_long<T>(
        &self,
        deadline: &Deadline,
        mut done: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let mut spinner = {
            let mut state = self.state();
            let crowded = self.is_crowded(&state);
            let other = Spinner::yielding(self.settings.spin());
            let mut spinner = std::mem::replace(&mut state.spinner, other);
            spinner.set_crowded(crowded);
            self.count_waiters(1);
            spinner
        };
        let (mut found, mut is_woken) = (None, true);
        loop {
            let mut happened = false;
            // After a sleep that timed out, a message is unlikely to come soon, so do not spin.
            if std::mem::replace(&mut is_woken, true) {
                spinner.spin(|| {
                    let mut state = self.state();
                    // An earlier call may have received messages for handlers.
                    happened = self.look(&mut state) | state.has_active();
                    found = done(&mut state);
                    happened || found.is_some()
                });
            }
            if happened {
                self.run_handlers();
            }
            if found.is_some() || deadline.passed() {
                break;
            }
            if happened {
                continue;
            }
            let mut state = self.state();
            found = done(&mut state);
            if found.is_some() {
                break;
            }
            state.engine.return_credits();
            if state.is_asleep {
                state.waiting += 1;
                self.count_waiters(-1);
                let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                drop(state);
                drop(self.news.wait_timeout(waiting, deadline.left(SLEEP_MAX)));
                let mut state = self.state();
                state.waiting -= 1;
                self.count_waiters(1);
                continue;
            }
            state.is_asleep = true;
            if self.arm(&mut state) || state.engine.is_fetching() {
                state.is_asleep = false;
                continue;
            }
            self.count_waiters(-1);
            self.set_helper(&mut state);
            drop(state);
            spinner.sleeping();
            let events = self.events(deadline.left(SLEEP_MAX));
            spinner.woke();
            let mut state = self.state();
            state.is_asleep = false;
            self.count_waiters(1);
            is_woken = !events.is_empty();
            if std::mem::take(&mut state.is_rung) {
                is_woken = true;
                let _ = rustix::io::read(&self.bell, &mut [0; 8]);
            }
            self.handle(&mut state, &events);
            self.set_helper(&mut state);
            self.wake_program(&mut state);
        }
        let mut state = self.state();
        state.spinner = spinner;
        self.count_waiters(-1);
        self.leave(&mut state);
        // Wake the other waiting threads: one of them has to sleep at the sockets now.
        self.wake_program(&mut state);
        Ok(found)
    }

    /// Does the same as `wait`, for a message. Also returns an error if no link can deliver the
    /// message any more.
    pub(crate) fn wait_for_message<T>(
        &self,
        wanted: &Wanted,
        deadline: &Deadline,
        mut done: impl FnMut(&mut State) -> Option<Result<T, Error>>,
    ) -> Result<Option<Result<T, Error>>, Error> {
        let mut before = None;
        self.wait(deadline, |state| {
            state.engine.settle(wanted);
            let engine = &state.engine;
            let before = *before.get_or_insert(engine.partings);
            let was_left = wanted.from.is_none() && engine.partings > before && engine.is_alone();
            done(state)
                .or_else(|| state.engine.hopeless(wanted).map(Err))
                .or_else(|| was_left.then(|| Err(alone())))
        })
    }

    /// Makes progress on the hot links, and at intervals polls the sockets for the other links.
    /// Returns whether anything happened.
    #[inline]
    fn look(&self, state: &mut State) -> bool {
        self.looked();
        let mut happened = state.go_on(&self.sockets);
        self.sweep(state);
        // Cold links must not wait for long while hot links have traffic.
        state.polls += match (state.hot.len() < state.peers.len(), happened) {
            (false, _) => 1,
            (true, false) => SOCKET_CHECK_POLLS / COLD_POLLS,
            (true, true) => SOCKET_CHECK_POLLS / BUSY_POLLS,
        };
        if state.polls >= SOCKET_CHECK_POLLS || state.hot.is_empty() || state.are_cold_busy {
            state.polls = 0;
            let events = self.events(Duration::ZERO);
            happened |= !events.is_empty();
            state.are_cold_busy = state.are_cold(&events);
            self.handle(state, &events);
        }
        match happened {
            true => self.wake_program(state),
            // There is time to tell the peers of cold links about their credit, too.
            false => state.engine.return_credits(),
        }
        happened
    }

    /// Makes sure that operations in progress wake the helper. Each thread must call this before it
    /// leaves.
    #[inline]
    fn leave(&self, state: &mut State) {
        self.looked();
        if state.engine.is_fetching() || state.has_active() {
            self.ask_helper(state);
        }
        self.sweep(state);
        if self.is_watching.load(Ordering::Relaxed) {
            return;
        }
        state.engine.return_credits();
        if state.engine.ops.pending > 0
            || state.is_sending
            || !state.handlers.is_empty()
            || state.engine.is_exposing()
        {
            // With many peers, polling by the helper costs less than a wake-up from each peer.
            if self.is_crowded(state) {
                state.is_often = true;
                return self.ask_helper(state);
            }
            if state.calls_often() {
                state.is_often = true;
                self.ask_helper(state);
            }
            self.arm_all(state);
        }
    }

    /// Whether there are at least as many peers on this host as processors. In this case, not all
    /// processes run at the same time, and most waiting processes wait for a processor.
    fn is_crowded(&self, state: &State) -> bool {
        state.near >= self.processors
    }

    /// Asks the peers of all hot links to ring. Leaves links that are due to the helper, so that
    /// the call returns soon. If a thread is about to sleep at the sockets, it serves the due links
    /// itself, because the helper leaves all work to that thread.
    fn arm_all(&self, state: &mut State) {
        while self.arm(state) {
            if !state.due.is_empty() && !state.is_asleep {
                self.ask_helper(state);
                return;
            }
        }
    }

    /// Wakes the helper although no socket has an event.
    fn ask_helper(&self, state: &mut State) {
        if !std::mem::replace(&mut state.is_kicked, true) {
            self.kick_helper();
        }
    }

    /// Asks the peers of all hot links to ring. Returns true if links have made progress, or are
    /// due. The caller must not sleep then.
    fn arm(&self, state: &mut State) -> bool {
        let mut look_again = false;
        // With `Light`, messages that can wait do not wake the helper. The helper would copy them
        // no sooner than the program itself.
        let how = match state.is_asleep {
            true => Sleep::Deep,
            false => Sleep::Light,
        };
        state.is_sending = false;
        for at in 0..state.hot.len() {
            let id = state.hot[at];
            let sending = state.engine.is_sending(id);
            state.is_sending |= sending;
            match state.engine.carrier(id) {
                // The peer does not ring for space that it freed before we asked it to ring.
                Some(AnyLink::Shm(link)) => look_again |= link.watch(how, sending) || sending,
                Some(AnyLink::Stream(link)) => {
                    // The socket causes no event for bytes that have already been read from it.
                    look_again |= link.is_ready();
                    watch_room(&self.sockets, id, link);
                }
                _ => {}
            }
        }
        look_again |= (0..state.within.len()).any(|at| state.has_own_news(at));
        look_again |= !state.due.is_empty();
        look_again && (state.go_on(&self.sockets) || !state.due.is_empty())
    }

    fn events(&self, timeout: Duration) -> Vec<Event> {
        let mut events = Vec::with_capacity(64);
        let timeout = Timespec {
            tv_sec: timeout.as_secs() as i64,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        // If the call fails, the list of events stays empty.
        let _ = epoll::wait(
            &self.sockets,
            rustix::buffer::spare_capacity(&mut events),
            Some(&timeout),
        );
        events
    }

    /// Ends the links to machines that have stopped answering. Such machines cause no event. Also
    /// frees memory that is no longer used.
    fn ask(&self, state: &mut State) {
        if state.asked.elapsed() < ASK {
            return;
        }
        state.asked = Instant::now();
        let silent: Vec<LinkId> = state
            .peers
            .iter()
            .filter(|(_, peers)| peers.iter().any(|peer| peer.silent()))
            .map(|(id, _)| *id)
            .collect();
        for id in silent {
            self.has_gone(state, id);
        }
        for (_, link) in state.engine.links() {
            if let AnyLink::Shm(link) = link {
                link.tidy();
            }
        }
    }

    /// Handles events of the links' sockets.
    fn handle(&self, state: &mut State, events: &[Event]) {
        self.ask(state);
        let is_crowded = events.len() > HOT_MAX;
        if is_crowded {
            // If some links stayed hot, they would get more turns than the other links.
            let cold = std::mem::take(&mut state.hot);
            cold.into_iter()
                .for_each(|id| state.cool(&self.sockets, id));
        }
        state
            .engine
            .set_crowded(is_crowded || !state.due.is_empty());
        for event in events {
            let data = { event.data }.u64();
            let flags = { event.flags };
            let id = LinkId::from_bits(data & !OF_PROCESS);
            if let Some(AnyLink::Shm(link)) = state.engine.carrier(id) {
                link.rang();
            }
            if is_crowded {
                state.engine.progress(id);
                state.cool(&self.sockets, id);
            } else {
                state.heat(&self.sockets, id);
                state.engine.progress(id);
                if let Some(AnyLink::Stream(link)) = state.engine.carrier(id) {
                    watch_room(&self.sockets, id, link);
                }
            }
            let has_closed = flags.intersects(EventFlags::HUP | EventFlags::ERR);
            if has_closed || data & OF_PROCESS != 0 {
                self.has_gone(state, id);
            } else if flags.contains(EventFlags::RDHUP) {
                self.sends_no_more(state, id);
            }
            self.sweep(state);
        }
    }

    /// Closes the sockets of failed links, so that their peers notice, too.
    #[inline]
    fn sweep(&self, state: &mut State) {
        while let Some(id) = state.engine.ended.pop() {
            self.forget(state, id);
        }
    }

    /// The peer has closed its end of one socket of the link. If the link's other socket may still
    /// deliver data, stops watching only this socket.
    fn sends_no_more(&self, state: &mut State, id: LinkId) {
        while state.engine.progress(id) {}
        match state.engine.carrier(id) {
            Some(AnyLink::Stream(link)) => {
                for peer in link.ended() {
                    let _ = epoll::delete(&self.sockets, peer.socket());
                }
            }
            _ => self.has_gone(state, id),
        }
    }

    /// The peer has closed the link or died. Messages that it sent before are still received.
    fn has_gone(&self, state: &mut State, id: LinkId) {
        while state.engine.progress(id) && state.engine.carrier(id).is_some() {}
        let error = state
            .peers
            .get(&id)
            .and_then(|peers| peers.first())
            .map(|peer| peer.closed());
        state.engine.fail(
            id,
            error.unwrap_or(Error::Misuse("the link has been closed")),
        );
        self.sweep(state);
    }

    /// Closes a link from our side.
    fn end(&self, state: &mut State, id: LinkId) {
        if let Some(AnyLink::Shm(link)) = state.engine.carrier(id) {
            link.close();
        }
        state.engine.cut(id, Error::Closed("this end".into()));
        self.sweep(state);
    }

    fn forget(&self, state: &mut State, id: LinkId) {
        for peer in state.peers.remove(&id).into_iter().flatten() {
            for fd in peer.fds() {
                let _ = epoll::delete(&self.sockets, fd);
            }
            peer.hang_up();
        }
        state.hot.retain(|hot| *hot != id);
        state.within.retain(|within| *within != id);
        self.share_out(state);
        self.wake_program(state);
    }

    /// Wakes the program's waiting threads, because their conditions may hold now.
    #[inline]
    fn wake_program(&self, state: &mut State) {
        if state.is_asleep && !state.is_rung {
            state.is_rung = true;
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
        if state.waiting > 0 {
            // A thread that has counted itself in `waiting` holds this mutex until it waits, so it
            // cannot miss the notification.
            let _waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            self.news.notify_all();
        }
    }
}

/// Asks for events about free space in a link's sockets, as long as the link waits for space.
fn watch_room(sockets: &OwnedFd, id: LinkId, link: &mut StreamLink) {
    for (peer, is_full) in link.full_changes() {
        let mut flags = EventFlags::IN | EventFlags::RDHUP;
        flags.set(EventFlags::OUT, is_full);
        let _ = epoll::modify(sockets, peer.socket(), event_data(id, false), flags);
    }
}

/// A flag in an event's data. It is set if the event is about the peer's process, and not about the
/// link's socket.
const OF_PROCESS: u64 = 1 << 31;

fn event_data(id: LinkId, is_of_process: bool) -> EventData {
    let about = if is_of_process { OF_PROCESS } else { 0 };
    EventData::new_u64(id.to_bits() | about)
}

impl State {
    /// Whether the program has left [`OFTEN`] times within [`SHORTLY`]. Reads the clock only once
    /// in `OFTEN` calls.
    fn calls_often(&mut self) -> bool {
        self.armed += 1;
        if self.armed < OFTEN {
            return false;
        }
        self.armed = 0;
        let now = Instant::now();
        now - std::mem::replace(&mut self.counted, now) < SHORTLY
    }

    /// The number of links to peers.
    pub(crate) fn links(&self) -> usize {
        self.peers.len()
    }

    /// The result of an operation, or an error if there is no such operation. The operation is then
    /// forgotten. `None` while the operation is in progress.
    #[inline]
    pub(crate) fn ended(&mut self, request: Request) -> Option<Result<Status, Error>> {
        let ended = self.engine.ops.take(request).transpose()?;
        Some(ended.and_then(|result| result))
    }
}
