//! Runs a barrier's state machine over the job's links or over datagrams.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mgn_sys::fork;

use super::datagrams::Datagrams;
use super::joining::{self, Open};
use super::links::{Links, Use};
use super::meeting::{random, Group};
use super::numbers::Number;
use super::turn::{Step, Turn};
use super::{Joined, Kind, OpenError, Options, LOSS_CHECK_INTERVAL};
use crate::{
    Barrier, Dissemination, Ended, Event, Hierarchical, Id, Member, Misuse, Recipient, Resending,
    Star, Tree, Udp, View, WaitError,
};

/// The interval at which the thread looks for packets while the program does other work: the first
/// interval, and the longest interval, which applies when no packets have come for some time.
const PACKET_CHECK_INTERVAL: Duration = Duration::from_millis(2);
const PACKET_CHECK_INTERVAL_MAX: Duration = Duration::from_millis(20);

/// The maximum number of members to which links are made at each check only to notice their end.
const AT_ONCE: usize = 4;

/// The pause before the next look if the links have failed.
const FAILED: Duration = Duration::from_millis(1);

/// The time limit for leaving. Leaving takes a few packets to and from each member. Members answer
/// at the latest when their threads look for packets.
const LEAVING: Duration = Duration::from_secs(10);

/// How long a process that could not join still answers members. Members that have learned of it
/// from others may ask it later than it has given up, and would wait for it. A member that a change
/// waits for is noticed as lost within about ten seconds.
const ANSWERING: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Running {
    state: Arc<Mutex<State>>,
    is_closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    kind: Kind,
    /// The process that has opened the barrier. A forked child is not a member, and has no thread.
    owner: u32,
}

#[derive(Debug)]
struct State {
    barrier: Box<dyn Barrier + Send>,
    links: Links,
    datagrams: Option<Datagrams>,
    start: Instant,
    /// The epoch at which the program has arrived, until it gets the outcome.
    arrived: Option<u64>,
    outcome: Option<Result<u64, WaitError>>,
    ended: Option<Ended>,
    has_joined: bool,
    /// The description of the group for processes that want to join.
    open: Open,
    /// The members to which packets could not be sent.
    unreachable: Vec<Id>,
    /// The time of the last check of the links. `None` if they must be checked now.
    watched: Option<Instant>,
}

impl Running {
    pub fn open(
        job: Box<dyn Joined>,
        mut group: Group,
        options: &Options,
    ) -> Result<Running, OpenError> {
        let mut links = Links::new(job, group.number);
        let met = match group.kind {
            Kind::Udp => Some(meet_by_datagrams(&mut group, &mut links, options)?),
            _ => {
                group.meet(&mut links, &[], |_| Ok(Vec::new()))?;
                None
            }
        };
        // The members' meeting has completed the group's name.
        let open = Open {
            name: group.name,
            kind: group.kind,
            combine: group.combine,
        };
        let (barrier, datagrams): (Box<dyn Barrier + Send>, _) = match met {
            Some((udp, datagrams)) => (Box::new(udp), Some(datagrams)),
            None => {
                let first = Start::Open(&group.view);
                (barrier(open, group.me, first, &group.hosts)?, None)
            }
        };
        let mut state = State::new(barrier, links, datagrams, open);
        // The first epoch makes the links that the barrier needs, and shows that datagrams arrive.
        // The program's epochs count from the next epoch.
        let _ = state.arrive(0);
        state.wait(Some(group.patience)).map_err(|error| {
            // Others may pass this epoch, and would wait for this member in the next one.
            state.part();
            let first = |members: &[Id]| members.first().map_or(group.me.0, |id| id.0);
            match error {
                WaitError::TimedOut { missing } => OpenError::Late {
                    rank: first(&missing),
                    number: group.number,
                    waited: group.patience,
                },
                WaitError::Lost(lost) => OpenError::Gone {
                    rank: first(&lost.members),
                },
                _ => OpenError::Gone { rank: group.me.0 },
            }
        })?;
        Running::start(state)
    }

    /// Asks these members for their group, and joins it. Returns the barrier's number as well.
    pub fn join(
        job: Box<dyn Joined>,
        mut number: Number,
        me: Id,
        members: &[Id],
        options: &Options,
    ) -> Result<(Running, Number), OpenError> {
        let since = Instant::now();
        let mut links = Links::new(job, options.number);
        let open = joining::ask(&mut links, options, members)?;
        // Groups that need to know the members' hosts admit no new members, so no hosts are needed
        // here.
        let barrier = barrier(open, me, Start::Join(members), &BTreeMap::new())?;
        let mut state = State::new(barrier, links, None, open);
        // The group may know this process from now on, so it cannot join with this number again.
        number.use_up();
        loop {
            state.transmit();
            if state.has_joined {
                return Ok((Running::start(state)?, number));
            }
            let left = options.patience.saturating_sub(since.elapsed());
            let error = match state.ended {
                Some(_) => OpenError::Gone { rank: members[0].0 },
                None if left.is_zero() => OpenError::NotAdmitted {
                    number: options.number,
                    waited: options.patience,
                },
                None => {
                    state.step(left);
                    continue;
                }
            };
            state.part();
            state.answer_for(ANSWERING, number);
            return Err(error);
        }
    }

    /// Starts the thread.
    fn start(state: State) -> Result<Running, OpenError> {
        let kind = state.open.kind;
        let state = Arc::new(Mutex::new(state));
        let is_closing = Arc::new(AtomicBool::new(false));
        let (theirs, closing) = (state.clone(), is_closing.clone());
        let thread = thread::Builder::new()
            .name("mgn-barrier".to_owned())
            .spawn(move || work(&theirs, &closing))
            .map_err(|source| OpenError::System {
                what: "no thread".to_owned(),
                source,
            })?;
        Ok(Running {
            state,
            is_closing,
            thread: Some(thread),
            kind,
            owner: fork::generation(),
        })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn members(&self) -> Vec<u32> {
        let state = self.state();
        let members = state.barrier.view().members().iter();
        members.map(|id| id.0).collect()
    }

    pub fn arrive(&self, value: u64) -> Result<u64, Misuse> {
        let mut state = self.state();
        let epoch = state.arrive(value)?;
        state.transmit();
        Ok(epoch)
    }

    pub fn wait(&self, timeout: Option<Duration>) -> Result<u64, WaitError> {
        self.state().wait(timeout)
    }

    pub fn pass(&self, value: u64, timeout: Option<Duration>) -> Result<u64, WaitError> {
        let mut state = self.state();
        match state.arrive(value) {
            // The member waits for the epoch at which it has arrived, or learns that its barriers
            // have ended.
            Ok(_) | Err(Misuse::Twice { .. } | Misuse::Ended(_)) => state.wait(timeout),
            Err(_) => Err(Ended::Left.into()),
        }
    }

    pub fn leave(&self, timeout: Option<Duration>) -> Result<(), WaitError> {
        let mut state = self.state();
        if state.arrived.is_some() {
            return Err(WaitError::Arrived);
        }
        let since = Instant::now();
        let timeout = timeout.unwrap_or(LEAVING);
        let now = state.now();
        // The member may already be leaving because of an earlier call.
        let _ = state.barrier.leave(now);
        loop {
            state.transmit();
            match state.ended {
                Some(Ended::Left) if state.barrier.is_settled() => return Ok(()),
                Some(Ended::Left) | None => {}
                Some(ended) => return Err(ended.into()),
            }
            let left = timeout.saturating_sub(since.elapsed());
            if left.is_zero() {
                return Err(WaitError::NotLeft);
            }
            state.step(left);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.owner != fork::generation() {
            // The parent's thread may have locked the state forever.
            std::mem::forget((self.thread.take(), self.state.clone()));
            return;
        }
        self.is_closing.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
        self.state().part();
    }
}

/// The way in which a member begins: with all other members of a view, or admitted by the members
/// of an open group.
#[derive(Clone, Copy)]
enum Start<'m> {
    Open(&'m View),
    Join(&'m [Id]),
}

/// The state machine of a member that sends its packets through links.
fn barrier(
    open: Open,
    me: Id,
    start: Start<'_>,
    hosts: &BTreeMap<Id, u32>,
) -> Result<Box<dyn Barrier + Send>, OpenError> {
    match open.kind {
        Kind::Star => member(open, me, start, Star::default()),
        Kind::Tree(fan_out) => member(open, me, start, Tree::new(fan_out.into())),
        Kind::Hierarchical => member(open, me, start, Hierarchical::new(hosts.clone())),
        _ => member(open, me, start, Dissemination::default()),
    }
}

fn member<P: crate::Pattern + Send + 'static>(
    open: Open,
    me: Id,
    start: Start<'_>,
    pattern: P,
) -> Result<Box<dyn Barrier + Send>, OpenError> {
    let Open { name, combine, .. } = open;
    Ok(Box::new(match start {
        Start::Open(view) => Member::new(name, me, view, pattern, combine)?,
        Start::Join(members) => Member::join(name, me, members, pattern, combine)?,
    }))
}

/// Exchanges the addresses of the members' sockets. The first member chooses a multicast address
/// for all members.
fn meet_by_datagrams(
    group: &mut Group,
    links: &mut Links,
    options: &Options,
) -> Result<(Udp, Datagrams), OpenError> {
    let interface = options.interface.as_deref();
    let mut datagrams = Datagrams::bind(links.job(), interface, group.view.len())?;
    let own = datagrams.address().map_err(|source| OpenError::System {
        what: "cannot find the address for datagrams".to_owned(),
        source,
    })?;
    let secret: [u8; 32] = random()?;
    let words = own.to_string();
    let shared = match group.is_first() {
        true => datagrams.choose_group(group.view.len()),
        false => None,
    };
    let shared = shared.map_or_else(|| "-".to_owned(), |address| address.to_string());
    let answer = group.meet(links, words.as_bytes(), |heard| {
        let addresses = heard.iter().map(|(_, words)| &words[..]);
        let table: Vec<&[u8]> = [shared.as_bytes()].into_iter().chain(addresses).collect();
        Ok([&secret[..], &table.join(&b' ')].concat())
    })?;
    let (first, number) = (group.view.members()[0].0, group.number);
    let nonsense = OpenError::Different {
        rank: first,
        number,
    };
    let Some((secret, table)) = answer.split_at_checked(secret.len()) else {
        return Err(nonsense);
    };
    let table = std::str::from_utf8(table).unwrap_or_default();
    let (shared, table) = table.split_once(' ').unwrap_or_default();
    let addresses: Vec<SocketAddr> = table.split(' ').flat_map(str::parse).collect();
    if addresses.len() != group.view.len() {
        return Err(nonsense);
    }
    of_one_family(&group.view, &addresses)?;
    datagrams.set_addresses(&group.view, addresses);
    match shared.parse::<SocketAddr>() {
        Ok(_) if group.is_first() => {}
        Ok(shared) if shared.ip().is_multicast() => datagrams.join(shared, true),
        _ if shared == "-" => {}
        _ => return Err(nonsense),
    }
    // An attacker may have read the first member's message on the network, but does not know the
    // job's key.
    let mut key = secret.to_vec();
    if let Some(ours) = links.job().key("barrier datagrams") {
        key.extend(*ours);
    }
    let resending = Resending::default();
    let Group { name, me, view, .. } = group;
    let udp = Udp::new(*name, *me, view, group.combine, &key, resending)?;
    Ok((udp, datagrams))
}

/// Checks that all members can send datagrams to each other. All members find the same error.
fn of_one_family(view: &View, addresses: &[SocketAddr]) -> Result<(), OpenError> {
    let mut members = view.members().iter().zip(addresses);
    let first = members.next();
    let other = first.and_then(|(_, at)| members.find(|(_, to)| to.is_ipv4() != at.is_ipv4()));
    match first.zip(other) {
        None => Ok(()),
        Some(((one, at), (other, to))) => Err(OpenError::Families {
            one: one.0,
            at: at.ip(),
            other: other.0,
            to: to.ip(),
        }),
    }
}

/// The main loop of the thread.
fn work(state: &Mutex<State>, is_closing: &AtomicBool) {
    let mut pause = PACKET_CHECK_INTERVAL;
    while !is_closing.load(Ordering::Acquire) {
        thread::park_timeout(pause);
        let mut state = match state.try_lock() {
            Ok(state) => state,
            // The program is in a call, and does the work itself.
            Err(TryLockError::WouldBlock) => {
                pause = PACKET_CHECK_INTERVAL;
                continue;
            }
            Err(TryLockError::Poisoned(_)) => return,
        };
        let has_come = state.turn(|| is_closing.load(Ordering::Acquire));
        pause = match has_come {
            true => PACKET_CHECK_INTERVAL,
            false => (2 * pause).min(PACKET_CHECK_INTERVAL_MAX),
        };
    }
}

impl State {
    fn new(
        barrier: Box<dyn Barrier + Send>,
        links: Links,
        datagrams: Option<Datagrams>,
        open: Open,
    ) -> State {
        let now = Instant::now();
        State {
            barrier,
            links,
            datagrams,
            start: now,
            arrived: None,
            outcome: None,
            ended: None,
            has_joined: false,
            open,
            unreachable: Vec::new(),
            watched: Some(now),
        }
    }

    /// Tells the other members that this member no longer takes part.
    fn part(&mut self) {
        let now = self.now();
        self.barrier.abandon(now);
        // These packets are sent only once, so they go through links, which lose no packets.
        self.datagrams = None;
        self.links.part();
        self.transmit();
    }

    /// Answers packets for this time, in a thread: this process has ended its part, and members
    /// that ask it learn that. The number stays in use meanwhile.
    fn answer_for(mut self, time: Duration, number: Number) {
        let since = Instant::now();
        let thread = thread::Builder::new().name("mgn-barrier".to_owned());
        // Without a thread, the members have been told only once.
        let _ = thread.spawn(move || {
            let _number = number;
            while since.elapsed() < time && !self.links.job().has_left() {
                self.step(LOSS_CHECK_INTERVAL);
            }
        });
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn arrive(&mut self, value: u64) -> Result<u64, Misuse> {
        if let Some(epoch) = self.arrived {
            return Err(Misuse::Twice { epoch });
        }
        let now = self.now();
        let epoch = self.barrier.arrive(now, value)?.saturating_sub(1);
        self.arrived = Some(epoch);
        Ok(epoch)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<u64, WaitError> {
        let (mut since, mut late) = (None, Turn::default());
        loop {
            self.transmit();
            if let Some(outcome) = self.outcome.take() {
                self.arrived = None;
                return outcome;
            }
            if let Some(ended) = self.ended {
                return Err(ended.into());
            }
            if self.arrived.is_none() {
                return Err(WaitError::NotArrived);
            }
            let left = match timeout {
                None => LOSS_CHECK_INTERVAL,
                Some(Duration::ZERO) if since.is_some() => Duration::ZERO,
                Some(timeout) => {
                    let since: &Instant = since.get_or_insert_with(Instant::now);
                    timeout.saturating_sub(since.elapsed())
                }
            };
            let step = self.step(left);
            // Also handle packets that came before the timeout, up to a limit.
            if left.is_zero() && !late.goes_on(step) {
                let missing = self.barrier.waits_for();
                return Err(WaitError::TimedOut { missing });
            }
        }
    }

    /// Sends all packets of the state machine, and handles its events.
    fn transmit(&mut self) {
        self.transmit_once();
        while !self.unreachable.is_empty() {
            for member in std::mem::take(&mut self.unreachable) {
                self.lost(member);
            }
            self.transmit_once();
        }
    }

    /// Reports a lost member to the state machine. The member's last packets are handled first.
    fn lost(&mut self, member: Id) {
        self.drain();
        let now = self.now();
        self.barrier.lost(now, member);
    }

    /// Handles the packets that have come through links.
    fn drain(&mut self) {
        while let Ok(Some((from, packet))) = self.links.take(Use::Packet, Duration::ZERO) {
            let now = self.now();
            let _ = self.barrier.receive(now, from, &packet);
        }
    }

    fn transmit_once(&mut self) {
        while let Some(transmit) = self.barrier.poll_transmit() {
            match transmit.to {
                Recipient::Member(to) => self.send(to, &transmit.packet),
                Recipient::All(view) => {
                    let me = self.barrier.id();
                    match &mut self.datagrams {
                        Some(datagrams) => datagrams.send_to_all(&view, me, &transmit.packet),
                        None => self.send_to_each(&view, &transmit.packet),
                    }
                }
                Recipient::Each(view) => self.send_to_each(&view, &transmit.packet),
            }
        }
        while let Some(event) = self.barrier.poll_event() {
            match event {
                Event::Passed { value, .. } => self.outcome = Some(Ok(value)),
                Event::Failed(mut lost) => {
                    lost.epoch = lost.epoch.saturating_sub(1);
                    self.outcome = Some(Err(lost.into()));
                }
                Event::Ended(ended) => {
                    self.ended = Some(ended);
                    if let Some(datagrams) = &mut self.datagrams {
                        datagrams.leave();
                    }
                }
                Event::Joined { .. } => self.has_joined = true,
                Event::Changed { view } => {
                    let me = self.barrier.id();
                    if let Some(datagrams) = &mut self.datagrams {
                        datagrams.change(&view, me);
                    }
                }
            }
        }
    }

    fn send_to_each(&mut self, view: &View, packet: &[u8]) {
        let me = self.barrier.id();
        for to in view.members().iter().filter(|to| **to != me) {
            self.send(*to, packet);
        }
    }

    fn send(&mut self, to: Id, packet: &[u8]) {
        match &self.datagrams {
            Some(datagrams) => datagrams.send(to, packet),
            None if self.barrier.is_lost(to) && !self.links.has(to) => {}
            None => {
                if self.links.send(to, Use::Packet, packet).is_err() {
                    self.unreachable.push(to);
                }
            }
        }
    }

    /// Handles the packets that wait, up to a limit, after which the program gets in. Returns
    /// whether packets of the group have come.
    fn turn(&mut self, ends: impl Fn() -> bool) -> bool {
        let mut turn = Turn::default();
        while turn.goes_on(self.step(Duration::ZERO)) && !ends() {}
        turn.has_packets()
    }

    /// Waits for a packet for up to `most`, and handles it.
    fn step(&mut self, most: Duration) -> Step {
        self.watch();
        let until = |due: Duration| due.saturating_sub(self.now());
        let due = self.barrier.poll_timeout();
        let most = due
            .map_or(most, |due| most.min(until(due)))
            .min(LOSS_CHECK_INTERVAL);
        let taken = match &self.datagrams {
            None => self.links.take(Use::Packet, most),
            Some(datagrams) => match datagrams.receive(most) {
                // A datagram that names no sender is refused, like one with another secret.
                Some(packet) => Ok(Some((crate::sender_of(&packet).unwrap_or(Id(0)), packet))),
                // The last packets of a member that has closed its barrier come through links.
                None => self.links.take(Use::Packet, Duration::ZERO),
            },
        };
        let step = match taken {
            Ok(Some((from, packet))) => {
                let now = self.now();
                // A packet that is refused does no harm.
                let received = self.barrier.receive(now, from, &packet);
                self.transmit();
                match received {
                    Ok(()) => Step::Packet,
                    Err(_) => Step::Refused,
                }
            }
            Ok(None) => Step::Nothing,
            // All links have ended, or too many messages that the program has not received wait in
            // them.
            Err(_) => {
                self.watched = None;
                thread::sleep(most.min(FAILED));
                Step::Nothing
            }
        };
        // Check the timer only after a packet was handled: the packet may have answered a packet
        // that would be sent again.
        if let Some(due) = self.barrier.poll_timeout() {
            let now = self.now();
            if due <= now {
                self.barrier.timeout(now);
                self.transmit();
            }
        }
        step
    }

    fn watch(&mut self) {
        if self
            .watched
            .is_some_and(|at| at.elapsed() < LOSS_CHECK_INTERVAL)
        {
            return;
        }
        self.watched = Some(Instant::now());
        if self.datagrams.is_some() {
            // If many datagrams come, no other code checks the links.
            self.drain();
        }
        if self.barrier.view().contains(self.barrier.id()) {
            self.open.answer(&mut self.links);
        }
        // A member's end is noticed through its link. The first members for which this member waits
        // may have no link yet, so make one.
        for id in self.barrier.waits_for().into_iter().take(AT_ONCE) {
            if !self.barrier.is_lost(id) && !self.links.reach(id) {
                self.lost(id);
            }
        }
        for id in self.links.open_ones() {
            if !self.links.is_open(id) {
                self.lost(id);
                self.links.forget(id);
            }
        }
        self.transmit();
    }
}

#[cfg(test)]
mod tests;
