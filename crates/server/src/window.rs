//! Several sessions that draw into one window, served by one worker.
//!
//! One thread executes the messages of all of them in turns. Each session has a thread that waits
//! for its messages, because a thread can wait for only one connection. A session that waits at a
//! barrier or a semaphore is not executed any further; its messages stay in the connection's
//! memory, which bounds them.

use crate::answers::{gone, Answers};
use crate::control::{notify_server, Cause, FromWorker, Session};
use crate::pictures::{FramesEnd, FramesSlot};
use crate::replay::ShutdownNotice;
use crate::tile::OpenScreens;
use crate::turns::Turns;
use crate::watchdog::Activity;
use crate::worker::open_session;
use mgn_fabric::{Message, Receiver, Sender};
use mgn_render::{perform, Peers, Renderer};
use mgn_spu::StageContext;
use mgn_wire::hello::{ServerInfo, SharedWindow};
use mgn_wire::{Blame, Commands, Decoder, End, Fault, Reply};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// The interval between checks whether sessions are over, or the server ends.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// The places for the frames connections of a worker's sessions.
#[derive(Clone, Default)]
pub(crate) struct Slots(Arc<Mutex<BTreeMap<u64, Arc<FramesSlot>>>>);

impl Slots {
    pub fn add(&self, session: u64, slot: Arc<FramesSlot>) {
        self.lock().insert(session, slot);
    }

    pub fn get(&self, session: u64) -> Option<Arc<FramesSlot>> {
        self.lock().get(&session).cloned()
    }

    fn remove(&self, session: u64) {
        self.lock().remove(&session);
    }

    /// Tells all clients why their sessions end.
    pub fn farewell(&self, end: &End) {
        let all: Vec<_> = self.lock().values().cloned().collect();
        thread::scope(|scope| {
            for slot in &all {
                // In threads, so that a client that does not listen does not hold up the others.
                scope.spawn(|| slot.farewell(end));
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<FramesSlot>>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Events for the thread that executes the messages.
#[derive(Default)]
pub(crate) struct EventQueue {
    events: Mutex<VecDeque<WindowEvent>>,
    came: Condvar,
}

enum WindowEvent {
    /// The parent has another session for the window.
    Seat(Box<Session>, OwnedFd, Arc<FramesSlot>),
    /// A session's connection is open. Its answers go to this sender.
    Open(u64, Sender),
    Message(u64, Message),
    /// A session's connection has ended; it sends no more.
    End(u64, Fault),
}

impl EventQueue {
    /// Adds a session to serve.
    pub fn seat(&self, session: Box<Session>, socket: OwnedFd, slot: Arc<FramesSlot>) {
        self.put(WindowEvent::Seat(session, socket, slot));
    }

    fn put(&self, event: WindowEvent) {
        let mut all = self.lock();
        all.push_back(event);
        drop(all);
        self.came.notify_one();
    }

    fn take(&self) -> VecDeque<WindowEvent> {
        std::mem::take(&mut *self.lock())
    }

    /// Waits until there is an event, or for at most this time.
    fn wait(&self, most: Option<Duration>) {
        let all = self.lock();
        let none = |all: &mut VecDeque<WindowEvent>| all.is_empty();
        // The caller then takes the events.
        match most {
            Some(most) => drop(self.came.wait_timeout_while(all, most, none)),
            None => drop(self.came.wait_while(all, none)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<WindowEvent>> {
        self.events.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The window, and all sessions that draw into it.
pub(crate) struct Table {
    /// Draws nothing itself: the renderers of all sessions are made beside it.
    first: Renderer,
    info: Arc<ServerInfo>,
    screens: Arc<OpenScreens>,
    peers: Rc<RefCell<Peers>>,
    events: Arc<EventQueue>,
    slots: Slots,
    activity: Arc<Activity>,
    turns: Arc<Turns>,
    control: Arc<UnixStream>,
    seats: BTreeMap<u64, Seat>,
    /// The number of the next renderer.
    next: u32,
    /// The session that was served last.
    last: u64,
    patience: Duration,
    /// Since when all sessions have waited for each other.
    stuck: Option<Instant>,
    /// How long a session that compiles a display list may hold up the others, and since when one
    /// does. A list that ends within its message holds up no other session, because sessions take
    /// turns only between messages.
    watchdog: Duration,
    held_up: Option<Instant>,
}

/// A session that is served.
struct Seat {
    number: u32,
    chain: Box<dyn Commands>,
    errors: Rc<mgn_render::Errors>,
    speaks: Rc<std::cell::Cell<bool>>,
    /// Set once its connection is open.
    answers: Option<Answers>,
    decoder: Decoder,
    messages: VecDeque<Message>,
    slot: Arc<FramesSlot>,
    activity: Arc<Activity>,
    /// Set when its messages must not be executed any more.
    ended: Arc<AtomicBool>,
    /// Why no more messages come.
    gone: Option<Fault>,
}

impl Table {
    /// If the thread that watches waits for clients cannot be started.
    /// If no thread can be started that watches how long clients take nothing.
    pub fn new(
        mut renderer: Renderer,
        session: &Session,
        events: Arc<EventQueue>,
        slots: Slots,
        activity: Arc<Activity>,
        control: Arc<UnixStream>,
        screens: Arc<OpenScreens>,
    ) -> std::io::Result<Table> {
        let window = session.window.as_ref();
        let patience = window.map_or(0, |window: &SharedWindow| window.patience);
        Ok(Table {
            turns: Turns::watch(activity.clone(), session.watchdog)?,
            info: Arc::new(renderer.info().clone()),
            screens,
            peers: renderer.share_window(window.and_then(|window| window.clients)),
            first: renderer,
            events,
            slots,
            activity,
            control,
            seats: BTreeMap::new(),
            next: 1,
            last: 0,
            patience: Duration::from_secs(patience.into()),
            stuck: None,
            watchdog: session.watchdog,
            held_up: None,
        })
    }

    /// Serves the first session and all that come later. When the last one has ended, the parent
    /// ends this process. Returns only if the server ends earlier, and stages have to write
    /// something then.
    pub fn serve(
        mut self,
        session: Box<Session>,
        socket: OwnedFd,
        slot: Arc<FramesSlot>,
        ending: Option<&ShutdownNotice>,
    ) {
        self.seat(session, socket, slot);
        let mut reply = Reply::default();
        let mut cared = Instant::now();
        loop {
            if ending.is_some_and(ShutdownNotice::is_announced) {
                return self.end_all();
            }
            for event in self.events.take() {
                self.handle_event(event);
            }
            // At intervals also while clients send without a pause.
            if self.next().is_none() || cared.elapsed() > END_CHECK_INTERVAL {
                self.care();
                cared = Instant::now();
            }
            match self.next() {
                Some(session) => self.execute(session, &mut reply),
                None => self.rest(ending.is_some()),
            }
        }
    }

    /// Begins to serve a session. A separate thread opens its connection, and then waits for its
    /// messages.
    fn seat(&mut self, session: Box<Session>, socket: OwnedFd, slot: Arc<FramesSlot>) {
        let number = self.next;
        self.next += 1;
        let id = session.id;
        let activity = Arc::new(Activity::part_of(&self.activity));
        let pictures = FramesEnd::new(slot.clone(), activity.clone());
        let renderer = self.first.beside(number, Box::new(pictures));
        let (errors, speaks) = (renderer.errors(), renderer.speaks());
        let chain = match session
            .chain
            .build(&StageContext { session: id }, Box::new(renderer))
        {
            Ok(chain) => chain,
            Err(error) => {
                let end = End::new(Blame::Server, error.to_string());
                return self.say_left(id, &slot, &activity, Some(end));
            }
        };
        let ended = Arc::new(AtomicBool::new(false));
        let seat = Seat {
            number,
            chain,
            errors,
            speaks,
            answers: None,
            decoder: Decoder::of_tile(session.tile),
            messages: VecDeque::new(),
            slot: slot.clone(),
            activity: activity.clone(),
            ended: ended.clone(),
            gone: None,
        };
        self.peers
            .borrow_mut()
            .join(number, session.program.clone());
        self.seats.insert(id, seat);
        let (events, info) = (self.events.clone(), self.info.clone());
        let screens = self.screens.clone();
        let follow = move || {
            let opened = open_session(&info, &session, socket, &slot, &activity, &screens);
            let fault = match opened {
                Ok(connection) => {
                    let (sender, receiver) = connection.split();
                    events.put(WindowEvent::Open(id, sender));
                    listen(id, receiver, &events, &activity, &ended)
                }
                Err(error) => gone(&error),
            };
            events.put(WindowEvent::End(id, fault));
        };
        if let Err(error) = thread::Builder::new().name("listen".into()).spawn(follow) {
            let fault = Fault::server(format!("cannot start a thread: {error}"));
            self.leave(id, &fault);
        }
    }

    fn handle_event(&mut self, event: WindowEvent) {
        match event {
            WindowEvent::Seat(session, socket, slot) => self.seat(session, socket, slot),
            WindowEvent::Open(id, sender) => {
                if let Some(seat) = self.seats.get_mut(&id) {
                    let (errors, speaks) = (seat.errors.clone(), seat.speaks.clone());
                    let activity = seat.activity.clone();
                    seat.answers = Some(Answers::new(sender, errors, speaks, activity));
                }
            }
            // No message of a session that has been ended here is executed.
            WindowEvent::Message(id, message) => {
                let seat = self.seats.get_mut(&id);
                if let Some(seat) = seat.filter(|seat| !seat.ended.load(Ordering::Relaxed)) {
                    seat.messages.push_back(message);
                }
            }
            WindowEvent::End(id, fault) => {
                if let Some(seat) = self.seats.get_mut(&id) {
                    seat.gone.get_or_insert(fault);
                }
            }
        }
    }

    /// The next session, of those that have sent something and may be executed.
    fn next(&self) -> Option<u64> {
        let peers = self.peers.borrow();
        let can =
            |(_, seat): &(&u64, &Seat)| !seat.messages.is_empty() && peers.may_run(seat.number);
        let later = self.seats.range(self.last + 1..).find(can);
        let found = later.or_else(|| self.seats.iter().find(can));
        found.map(|(id, _)| *id)
    }

    /// Executes one message of a session.
    fn execute(&mut self, id: u64, reply: &mut Reply) {
        self.last = id;
        let Some(seat) = self.seats.get_mut(&id) else {
            return;
        };
        let (Some(message), Some(answers)) = (seat.messages.pop_front(), &seat.answers) else {
            return;
        };
        answers.begin_message();
        let (slot, activity) = (&seat.slot, &seat.activity);
        let done = self.turns.take(answers.sender(), slot.clone(), || {
            activity.work(|| {
                perform(
                    &mut seat.decoder,
                    &message,
                    &mut *seat.chain,
                    reply,
                    |_, context, op, reply| {
                        activity.wait(|| slot.report_finished())?;
                        answers.send(context, op, reply)
                    },
                )?;
                answers.end_message()
            })
        });
        drop(message);
        if let Err(fault) = done {
            self.leave(id, &fault);
        }
        self.note_list();
    }

    /// Notes since when a display list holds up the others.
    fn note_list(&mut self) {
        self.held_up = match self.peers.borrow().compiling() {
            Some(_) => self.held_up.or_else(|| Some(Instant::now())),
            None => None,
        };
    }

    /// Does what is due regularly: ends sessions that are over, and tells clients which frames are
    /// finished.
    fn care(&mut self) {
        let is_over = |since: Instant| since.elapsed() >= self.watchdog;
        if self.held_up.is_some_and(is_over) {
            self.end_list();
        }
        self.tell_all();
        self.see_off();
    }

    /// Ends the sessions of clients that have gone, even in the middle of a wait, and of clients
    /// that wait for something that can never happen. While a session compiles a display list, the
    /// other sessions stay, because no context may be removed meanwhile.
    fn see_off(&mut self) {
        loop {
            let peers = self.peers.borrow();
            let compiling = peers.compiling();
            let end = self.seats.iter().find_map(|(id, seat)| {
                if compiling.is_some_and(|number| number != seat.number) {
                    return None;
                }
                let is_done = seat.messages.is_empty() || peers.waits(seat.number).is_some();
                let gone = seat.gone.clone().filter(|_| is_done);
                let failed = peers.failure(seat.number).map(Fault::peers);
                Some((*id, gone.or(failed)?))
            });
            drop(peers);
            match end {
                Some((id, fault)) => self.leave(id, &fault),
                None => return,
            }
        }
    }

    /// Ends a session.
    fn leave(&mut self, id: u64, fault: &Fault) {
        let Some(mut seat) = self.seats.remove(&id) else {
            return;
        };
        seat.ended.store(true, Ordering::Relaxed);
        let end = match fault {
            Fault::Gone => None,
            fault => Some(End::from(fault)),
        };
        if let Some(end) = &end {
            tracing::info!("a session of the window ends: {end}");
        }
        seat.chain.end();
        self.say_left(id, &seat.slot, &seat.activity, end);
        self.peers.borrow_mut().leave(seat.number);
        self.note_list();
    }

    /// Tells the client and the server that a session has ended.
    fn say_left(&self, id: u64, slot: &Arc<FramesSlot>, activity: &Activity, end: Option<End>) {
        let left = FromWorker::Left {
            session: id,
            cause: end.clone().map(Cause::from),
            drawn: activity.drawn(),
        };
        let (slots, control) = (self.slots.clone(), self.control.clone());
        let tell_server = Arc::new(move || {
            slots.remove(id);
            notify_server(&control, &left);
        });
        let (slot, then) = (slot.clone(), tell_server.clone());
        let say = move || {
            match &end {
                Some(end) => slot.farewell(end),
                None => slot.settle(),
            }
            slot.leave_screens();
            then();
        };
        // In a thread, so that a client that does not listen does not hold up the others.
        if let Err(error) = thread::Builder::new().name("farewell".into()).spawn(say) {
            tracing::error!("cannot start a thread: {error}");
            tell_server();
        }
    }

    /// Tells all clients which frames are finished. The session of a client that takes nothing ends
    /// as if the client had gone.
    fn tell_all(&mut self) {
        for seat in self.seats.values_mut() {
            let Some(answers) = &seat.answers else {
                continue;
            };
            let told = self.turns.take(answers.sender(), seat.slot.clone(), || {
                // An error is ignored: the next message shows whether the client is still there.
                let _ = seat.activity.wait(|| seat.slot.report_finished());
                Ok(())
            });
            if let Err(fault) = told {
                seat.ended.store(true, Ordering::Relaxed);
                seat.messages.clear();
                seat.gone.get_or_insert(fault);
            }
        }
    }

    /// Waits for events. If all sessions wait for each other, they fail: at once if no other
    /// session can join, otherwise when their patience ends.
    fn rest(&mut self, looks: bool) {
        let (is_stuck, is_awaited) = {
            let peers = self.peers.borrow();
            (peers.all_wait(), peers.is_awaited())
        };
        let now = Instant::now();
        let look = looks.then_some(END_CHECK_INTERVAL);
        let at_most = |left: Duration| look.map_or(left, |look| look.min(left));
        if !is_stuck {
            self.stuck = None;
            let Some(since) = self.held_up else {
                return self.events.wait(look);
            };
            let left = (since + self.watchdog).saturating_duration_since(now);
            return self.events.wait(Some(at_most(left)));
        }
        let since = *self.stuck.get_or_insert(now);
        let left = match is_awaited {
            true => (since + self.patience).saturating_duration_since(now),
            false => Duration::ZERO,
        };
        if left.is_zero() {
            let mut peers = self.peers.borrow_mut();
            let why = why_stuck(&peers, self.patience);
            peers.give_up(&why);
            return;
        }
        self.events.wait(Some(at_most(left)));
    }

    /// Ends the session that compiles a display list.
    fn end_list(&mut self) {
        let compiling = self.peers.borrow().compiling();
        let mut seats = self.seats.iter();
        let found = seats.find(|(_, seat)| Some(seat.number) == compiling);
        if let Some((&id, _)) = found {
            let seconds = self.watchdog.as_secs();
            let why = format!(
                "a program that has compiled a display list for {seconds} s holds up the others of \
                 its window"
            );
            self.leave(id, &Fault::refused(why));
        }
    }

    /// Ends all sessions, because the server ends.
    fn end_all(&mut self) {
        for seat in self.seats.values_mut() {
            seat.chain.end();
        }
        let end = End::from(&Fault::Over);
        self.slots.farewell(&end);
        notify_server(&self.control, &FromWorker::Ended(Cause::from(end)));
    }
}

/// Receives a session's messages until its client leaves, or the session is ended here.
fn listen(
    id: u64,
    mut messages: Receiver,
    events: &EventQueue,
    activity: &Activity,
    ended: &AtomicBool,
) -> Fault {
    // Many of these threads wait at the same time.
    messages.never_spin();
    while !ended.load(Ordering::Relaxed) {
        match messages.recv(Some(END_CHECK_INTERVAL)) {
            Ok(Some(message)) => {
                activity.count_bytes(message.len());
                events.put(WindowEvent::Message(id, message));
            }
            Ok(None) => {}
            Err(error) => return gone(&error),
        }
    }
    Fault::Gone
}

fn why_stuck(peers: &Peers, patience: Duration) -> String {
    let (came, clients) = peers.came();
    let places = peers.describe();
    let seconds = patience.as_secs();
    match clients {
        Some(clients) if came < clients => format!(
            "only {came} of {clients} programs have joined within {seconds} s ({places}); programs \
             with another token or user have windows of their own"
        ),
        Some(_) => format!("all wait for each other: {places}"),
        None => format!(
            "all wait for each other, or for a program that has not joined within {seconds} s: \
             {places}"
        ),
    }
}
