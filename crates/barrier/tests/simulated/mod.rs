//! A simulation of members in one process on a virtual clock. Links have random delays. Programs
//! arrive, leave and join. Members die, also between two packets of one step. The barrier's
//! guarantees are checked at each event.

#![allow(dead_code, reason = "each test program needs a part of it")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::time::Duration;

use mgn_barrier::{Barrier, Ended, Event, Id, Recipient, View};
use mgn_fuzzing::Random;

/// Makes the barriers of a member: a member of a new group with this view, or a process that asks
/// these contacts to let it join.
pub type Make<'m> = &'m dyn Fn(Id, Start<'_>) -> Box<dyn Barrier>;

pub enum Start<'v> {
    New(&'v View),
    Join(&'v [Id]),
}

/// The parameters of a run. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub seed: u64,
    pub members: u32,
    pub epochs: u64,
    /// The maximum time that most packets take.
    pub delay: u64,
    /// The number of packets in 1000 that take up to 20 times as long.
    pub slow: u32,
    /// The maximum time that a program works between two barriers.
    pub work: u64,
    /// The maximum numbers of members that die, that leave, and that join.
    pub deaths: u32,
    pub leaves: u32,
    pub joins: u32,
    /// Whether one member is wrongly told that another member is lost.
    pub is_suspicious: bool,
    /// Whether a loss can be reported before the packets that the lost member has sent arrive.
    pub tells_early: bool,
    /// Whether packets that a member has sent shortly before its death may never arrive.
    pub cuts: bool,
    /// Whether members that have ended keep their connections.
    pub stays_connected: bool,
    /// Whether a member that closes its barrier keeps its links, too, and answers no more. A
    /// process that wanted to join still answers.
    pub closes_silently: bool,
    /// The numbers of packets in 1000 that are lost, and that arrive twice. If either number is not
    /// 0, links do not keep the order.
    pub loss: u32,
    pub twice: u32,
    pub keeps_order: bool,
    /// The number of members in four that packets for all members do not reach.
    pub deaf: u32,
    /// The maximum time from the last arrival, or the last death, to the outcome.
    pub bound: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed(u64),
    Failed(Vec<Id>),
}

pub struct Node {
    pub barrier: Box<dyn Barrier>,
    pub is_alive: bool,
    /// The member's first epoch, after it has joined.
    pub first: Option<u64>,
    pub has_asked_to_leave: bool,
    pub ended: Option<Ended>,
    /// The epoch at which the member has arrived, and whose outcome it does not know.
    pub pending: Option<u64>,
    pub outcomes: BTreeMap<u64, Outcome>,
    /// The number of further packets after which the member dies.
    doom: Option<u32>,
    timer: Option<u64>,
    /// The members that this process asks to let it join.
    contacts: Vec<Id>,
    /// Set if another member has been told that this member is lost, although it is alive.
    is_suspected: bool,
    /// Set if the member closes its connections as soon as the others have all its packets.
    is_closing: bool,
    is_closed: bool,
}

impl Node {
    /// Whether the others have to wait for this member and agree with it.
    fn counts(&self) -> bool {
        self.is_alive && self.ended.is_none() && !self.has_asked_to_leave && !self.is_suspected
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Packet(Id, Id, Vec<u8>),
    Lost(Id, Id),
    Arrive(Id),
    Timer(Id),
    Kill(Id),
    Join(Id),
    /// The first member is told that the second member is lost.
    Suspect(Id, Id),
}

pub struct World<'m> {
    terms: Terms,
    make: Make<'m>,
    random: Random,
    pub now: u64,
    count: u64,
    queue: BinaryHeap<Reverse<(u64, u64, What)>>,
    pub nodes: BTreeMap<Id, Node>,
    last_due: BTreeMap<(Id, Id), u64>,
    /// The connections whose packets no longer arrive, by sender and receiver.
    cut: BTreeSet<(Id, Id)>,
    /// For each epoch, the members that have arrived, the time of the last arrival, and the bits of
    /// these members.
    arrivals: BTreeMap<u64, (BTreeSet<Id>, u64, u64)>,
    /// The last time at which a member died, left or joined.
    disturbed: u64,
    leaves: u32,
    /// The members of all views with which a process has joined.
    joined_with: BTreeSet<Id>,
    pub packets: u64,
    pub refused: u64,
    pub passed: u64,
    pub failed: u64,
}

/// A bit for each member, so that a number shows which members have arrived.
fn bit(id: Id) -> u64 {
    1 << (id.0 % 64)
}

impl<'m> World<'m> {
    pub fn new(terms: Terms, make: Make<'m>) -> World<'m> {
        let mut world = World {
            terms,
            make,
            random: Random::new(terms.seed),
            now: 0,
            count: 0,
            queue: BinaryHeap::new(),
            nodes: BTreeMap::new(),
            last_due: BTreeMap::new(),
            cut: BTreeSet::new(),
            arrivals: BTreeMap::new(),
            disturbed: 0,
            leaves: terms.leaves,
            joined_with: BTreeSet::new(),
            packets: 0,
            refused: 0,
            passed: 0,
            failed: 0,
        };
        let ids: Vec<Id> = (0..terms.members).map(Id).collect();
        let view = View::new(ids.iter().copied()).unwrap();
        for id in &ids {
            let barrier = (world.make)(*id, Start::New(&view));
            world.add(*id, barrier, Some(0), Vec::new());
            let work = world.below(terms.work);
            world.at(work, What::Arrive(*id));
        }
        let length = terms.epochs * (terms.delay + terms.work / 2);
        // In half of the runs, all these events happen at about the same time.
        let (start, length) = match world.below(2) {
            0 => (0, length),
            _ => (world.below(length), 4 * terms.delay),
        };
        for _ in 0..terms.deaths {
            let id = Id(world.below(u64::from(terms.members + terms.joins)) as u32);
            let time = start + world.below(length);
            world.at(time, What::Kill(id));
        }
        for n in 0..terms.joins {
            let time = start + world.below(length);
            world.at(time, What::Join(Id(terms.members + n)));
        }
        if terms.is_suspicious {
            let [one, other] = [0; 2].map(|_| Id(world.below(terms.members.into()) as u32));
            let time = start + world.below(length);
            world.at(time, What::Suspect(one, other));
        }
        world
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random.next() % end.max(1)
    }

    fn add(&mut self, id: Id, barrier: Box<dyn Barrier>, first: Option<u64>, contacts: Vec<Id>) {
        let node = Node {
            barrier,
            is_alive: true,
            first,
            has_asked_to_leave: false,
            ended: None,
            pending: None,
            outcomes: BTreeMap::new(),
            doom: None,
            timer: None,
            contacts,
            is_suspected: false,
            is_closing: false,
            is_closed: false,
        };
        self.nodes.insert(id, node);
    }

    fn at(&mut self, time: u64, what: What) {
        self.count += 1;
        self.queue.push(Reverse((time, self.count, what)));
    }

    /// Runs to the end, and checks that no member is stuck.
    pub fn run(&mut self) {
        // Timers never end, so stop at this time.
        let terms = self.terms;
        let end = (terms.epochs + 10) * (terms.work + terms.bound);
        while let Some(Reverse((time, _, what))) = self.queue.pop() {
            assert!(time >= self.now);
            self.now = time;
            if self.now > end {
                break;
            }
            self.step(what);
            if self.is_over() {
                break;
            }
            self.check_bound();
        }
        for (id, node) in &self.nodes {
            let is_done = !node.is_alive || node.ended.is_some() || self.has_finished(node);
            // A process that asks only members that have closed their barriers gives up joining.
            let is_done = is_done || self.terms.closes_silently && node.first.is_none();
            assert!(is_done, "{id} is stuck: {:?}\n{:?}", self.terms, self.nodes);
        }
        self.check_uniform();
    }

    fn has_finished(&self, node: &Node) -> bool {
        let last = self.terms.epochs - 1;
        let is_beyond = node.first.is_some_and(|first| first > last);
        is_beyond || node.outcomes.contains_key(&last)
    }

    fn is_over(&self) -> bool {
        let mut nodes = self.nodes.values();
        let all = nodes.all(|n| !n.is_alive || n.ended.is_some() || self.has_finished(n));
        // Pending events must not disturb the end of the run.
        all && !self.nodes.values().any(|n| n.is_alive && n.is_closing)
            && !self.queue.iter().any(|Reverse((_, _, what))| {
                matches!(
                    what,
                    What::Join(_) | What::Kill(_) | What::Lost(..) | What::Suspect(..)
                )
            })
    }

    fn clock(&self) -> Duration {
        Duration::from_nanos(self.now)
    }

    fn step(&mut self, what: What) {
        let clock = self.clock();
        let id = match what {
            What::Packet(from, to, _) if self.cut.contains(&(from, to)) => return,
            What::Packet(from, to, bytes) => {
                let Some(node) = self.nodes.get_mut(&to).filter(|n| n.is_alive) else {
                    return;
                };
                if node.barrier.receive(clock, from, &bytes).is_err() {
                    self.refused += 1;
                }
                to
            }
            What::Lost(at, who) => {
                let Some(node) = self.nodes.get_mut(&at).filter(|n| n.is_alive) else {
                    return;
                };
                node.barrier.lost(clock, who);
                at
            }
            What::Arrive(id) => {
                self.arrive(id);
                id
            }
            What::Timer(id) => {
                let Some(node) = self.nodes.get_mut(&id).filter(|n| n.is_alive) else {
                    return;
                };
                if node.timer != Some(self.now) {
                    return;
                }
                node.timer = None;
                node.barrier.timeout(clock);
                id
            }
            What::Kill(id) => {
                let doom = self.below(12) as u32;
                if self.below(3) == 0 {
                    self.abandon(id);
                    return;
                }
                if let Some(node) = self.nodes.get_mut(&id).filter(|n| n.is_alive) {
                    node.doom.get_or_insert(doom);
                    if doom == 0 {
                        self.kill(id);
                    }
                }
                return;
            }
            What::Join(id) => {
                let mut contacts: Vec<Id> = self.living().collect();
                let count = 1 + self.below(3) as usize;
                while contacts.len() > count {
                    let at = self.below(contacts.len() as u64) as usize;
                    contacts.swap_remove(at);
                }
                if contacts.is_empty() {
                    return;
                }
                self.disturbed = self.now;
                let barrier = (self.make)(id, Start::Join(&contacts));
                self.add(id, barrier, None, contacts);
                id
            }
            What::Suspect(one, other) => {
                let can = |id: &Id| self.living().any(|living| living == *id);
                if one == other || !can(&one) || !can(&other) {
                    return;
                }
                self.disturbed = self.now;
                self.nodes.get_mut(&other).unwrap().is_suspected = true;
                let node = self.nodes.get_mut(&one).unwrap();
                node.barrier.lost(clock, other);
                one
            }
        };
        self.drain(id);
    }

    fn living(&self) -> impl Iterator<Item = Id> + '_ {
        let nodes = self.nodes.iter();
        let living = nodes.filter(|(_, n)| n.is_alive && n.ended.is_none() && n.first.is_some());
        living.map(|(id, _)| *id)
    }

    fn arrive(&mut self, id: Id) {
        let clock = self.clock();
        let chance = self.below(2 * self.terms.epochs);
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        if !node.is_alive || node.ended.is_some() {
            return;
        }
        if self.leaves > 0 && chance == 0 {
            self.leaves -= 1;
            node.has_asked_to_leave = true;
            node.barrier.leave(clock).unwrap();
            self.disturbed = self.now;
            return;
        }
        let epoch = node.barrier.arrive(clock, bit(id)).unwrap();
        node.pending = Some(epoch);
        let arrivals = self.arrivals.entry(epoch).or_default();
        arrivals.0.insert(id);
        arrivals.1 = self.now;
        arrivals.2 |= bit(id);
    }

    /// Takes the packets and events of a member.
    fn drain(&mut self, id: Id) {
        loop {
            let node = self.nodes.get_mut(&id).unwrap();
            let Some(transmit) = node.barrier.poll_transmit() else {
                break;
            };
            let to: Vec<Id> = match transmit.to {
                Recipient::Member(to) => vec![to],
                Recipient::Each(view) => {
                    let members = view.members().iter().copied();
                    members.filter(|to| *to != id).collect()
                }
                // On links that keep no order, this is a multicast, which also reaches former
                // members.
                Recipient::All(view) => {
                    let is_multicast = !self.terms.keeps_order;
                    let hears = |to: &Id, node: &Node| match view.contains(*to) {
                        true => to.0 % 4 >= self.terms.deaf,
                        false => is_multicast && node.is_alive && !node.is_closed,
                    };
                    let nodes = self.nodes.iter().filter(|(to, node)| hears(to, node));
                    nodes.map(|(to, _)| *to).filter(|to| *to != id).collect()
                }
            };
            for to in to {
                match &mut self.nodes.get_mut(&id).unwrap().doom {
                    Some(0) => {
                        self.kill(id);
                        return;
                    }
                    Some(left) => *left -= 1,
                    None => {}
                }
                self.send(id, to, &transmit.packet);
            }
        }
        let node = self.nodes.get_mut(&id).unwrap();
        let mut events = Vec::new();
        while let Some(event) = node.barrier.poll_event() {
            events.push(event);
        }
        let timer = node.barrier.poll_timeout().map(|at| at.as_nanos() as u64);
        let timer = timer.map(|at| at.max(self.now));
        if timer != node.timer {
            node.timer = timer;
            if let Some(at) = timer {
                self.at(at, What::Timer(id));
            }
        }
        for event in events {
            self.on_event(id, event);
        }
        let node = self.nodes.get_mut(&id).unwrap();
        if node.is_closing && node.barrier.is_settled() {
            node.is_closing = false;
            self.disconnect(id);
        }
    }

    fn send(&mut self, from: Id, to: Id, packet: &[u8]) {
        self.packets += 1;
        if self
            .nodes
            .get(&to)
            .is_none_or(|n| !n.is_alive || n.is_closed)
        {
            // The connection no longer exists.
            let due = self.now + 1 + self.below(self.terms.delay);
            self.at(due, What::Lost(from, to));
            return;
        }
        let times = match self.below(1000) as u32 {
            n if n < self.terms.loss => 0,
            n if n < self.terms.loss + self.terms.twice => 2,
            _ => 1,
        };
        for _ in 0..times {
            let is_slow = (self.below(1000) as u32) < self.terms.slow;
            let delay = self.terms.delay * if is_slow { 20 } else { 1 };
            let mut due = self.now + 1 + self.below(delay);
            if self.terms.keeps_order {
                let last = self.last_due.entry((from, to)).or_default();
                due = due.max(*last);
                *last = due;
            }
            self.at(due, What::Packet(from, to, packet.to_vec()));
        }
    }

    /// A program closes its barrier, notifies the others, and ends.
    fn abandon(&mut self, id: Id) {
        let clock = self.clock();
        let node = self.nodes.get_mut(&id);
        let Some(node) = node.filter(|n| n.is_alive && n.ended.is_none()) else {
            return;
        };
        node.is_suspected = true;
        node.barrier.abandon(clock);
        let has_joined = node.first.is_some();
        self.drain(id);
        match self.terms.closes_silently {
            true => {
                self.disturbed = self.now;
                let node = self.nodes.get_mut(&id).unwrap();
                (node.is_alive, node.is_closing) = (!has_joined, false);
            }
            false => self.kill(id),
        }
    }

    fn kill(&mut self, id: Id) {
        self.nodes.get_mut(&id).unwrap().is_alive = false;
        if self.terms.cuts {
            let others: Vec<Id> = self.nodes.keys().copied().collect();
            for other in others {
                if self.below(2) == 0 {
                    self.cut.insert((id, other));
                }
            }
        }
        self.disconnect(id);
    }

    /// Closes the connections of a member. The others are notified.
    fn disconnect(&mut self, id: Id) {
        self.disturbed = self.now;
        self.nodes.get_mut(&id).unwrap().is_closed = true;
        let others: Vec<Id> = self.nodes.keys().copied().collect();
        for other in others.into_iter().filter(|other| *other != id) {
            let sent = match self.terms.tells_early {
                true => 0,
                false => self.last_due.get(&(id, other)).copied().unwrap_or(0),
            };
            let due = (self.now + 1 + self.below(2 * self.terms.delay)).max(sent);
            self.at(due, What::Lost(other, id));
        }
    }

    fn on_event(&mut self, id: Id, event: Event) {
        let terms = self.terms;
        let node = self.nodes.get_mut(&id).unwrap();
        match event {
            Event::Passed { epoch, value } => {
                self.passed += 1;
                self.outcome(id, epoch, Outcome::Passed(value));
                self.check_pass(id, epoch, value);
            }
            Event::Failed(lost) => {
                self.failed += 1;
                assert!(!lost.members.is_empty());
                for member in &lost.members {
                    let there = &self.nodes[member];
                    let lives = there.is_alive && there.ended.is_none();
                    assert!(!lives || there.is_suspected, "{member} lives: {terms:?}");
                }
                self.outcome(id, lost.epoch, Outcome::Failed(lost.members));
            }
            Event::Joined { epoch, view } => {
                assert!(node.first.is_none() && view.contains(id));
                node.first = Some(epoch);
                self.disturbed = self.now;
                self.joined_with.extend(view.members());
                if epoch < terms.epochs {
                    let due = self.now + self.below(terms.work);
                    self.at(due, What::Arrive(id));
                }
            }
            Event::Changed { view } => {
                assert!(view.contains(id));
                self.disturbed = self.now;
            }
            Event::Ended(why) => {
                match why {
                    Ended::Left => assert!(node.has_asked_to_leave),
                    Ended::Alone => {
                        assert!(node.first.is_none());
                        let contacts = node.contacts.clone();
                        let mut contacts = contacts.iter().map(|id| &self.nodes[id]);
                        // After a wrong suspicion, a process can join through a member that the
                        // others have excluded. If that member ends, the process is alone.
                        assert!(
                            terms.is_suspicious || contacts.all(|n| !n.counts()),
                            "{id} was not alone: {terms:?}"
                        );
                    }
                    Ended::Excluded => {
                        assert!(node.is_suspected, "{id} was excluded, but lives: {terms:?}");
                    }
                }
                let node = self.nodes.get_mut(&id).unwrap();
                node.ended = Some(why);
                node.pending = None;
                node.is_closing = !terms.stays_connected;
            }
        }
    }

    fn outcome(&mut self, id: Id, epoch: u64, outcome: Outcome) {
        let node = self.nodes.get_mut(&id).unwrap();
        assert_eq!(node.pending.take(), Some(epoch), "{id}: {:?}", self.terms);
        assert!(node.outcomes.insert(epoch, outcome).is_none());
        // No outcome may be late. A virtual clock makes it possible to check each outcome.
        let since = self.arrivals[&epoch].1.max(self.disturbed);
        assert!(self.now - since <= self.terms.bound, "{id} {epoch} is late");
        if epoch + 1 < self.terms.epochs {
            let due = self.now + self.below(self.terms.work);
            self.at(due, What::Arrive(id));
        }
    }

    /// Checks that no member passes early.
    fn check_pass(&self, id: Id, epoch: u64, value: u64) {
        let (arrived, _, bits) = &self.arrivals[&epoch];
        assert!(value & !bits == 0, "an unknown member in {value:x}");
        for (other, node) in &self.nodes {
            let is_in = node.first.is_some_and(|first| first <= epoch);
            if is_in && node.counts() && !self.nodes[&id].is_suspected {
                let is_there = arrived.contains(other);
                let terms = self.terms;
                assert!(is_there, "{id} passed {epoch} before {other}: {terms:?}");
                assert!(value & bit(*other) != 0, "{other} is not in {value:x}");
            }
        }
    }

    /// Checks that no member waits longer than the bound after all members have arrived.
    fn check_bound(&self) {
        if self.count % 64 != 0 {
            return;
        }
        let living = self.nodes.values().filter(|n| n.is_alive);
        let Some(epoch) = living.filter_map(|n| n.pending).min() else {
            return;
        };
        let (arrived, last, _) = &self.arrivals[&epoch];
        let mut nodes = self.nodes.iter();
        let all = nodes.all(|(id, node)| !node.counts() || arrived.contains(id));
        let since = (*last).max(self.disturbed);
        let is_late = all && self.now - since > self.terms.bound;
        assert!(!is_late, "epoch {epoch} has no outcome: {:?}", self.terms);
    }

    /// Checks that all members that were neither killed nor suspected agree about each epoch.
    fn check_uniform(&self) {
        // A suspected member that could not be informed goes on with the members that have joined
        // through it, which go on even after its death.
        let is_split = |(id, n): (&Id, &Node)| {
            let goes_on = n.is_alive || self.joined_with.contains(id);
            n.is_suspected && goes_on && n.ended != Some(Ended::Excluded)
        };
        if self.nodes.iter().any(is_split) {
            return;
        }
        let mut agreed: BTreeMap<u64, (Id, &Outcome)> = BTreeMap::new();
        let nodes = self.nodes.iter();
        for (id, node) in nodes.filter(|(_, node)| node.is_alive && !node.is_suspected) {
            for (epoch, outcome) in &node.outcomes {
                let (other, there) = agreed.entry(*epoch).or_insert((*id, outcome));
                let terms = self.terms;
                assert_eq!(
                    *there, outcome,
                    "epoch {epoch} of {other} and {id}: {terms:?}"
                );
            }
        }
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("\nNode")
            .field("is_alive", &self.is_alive)
            .field("ended", &self.ended)
            .field("first", &self.first)
            .field("leaves", &self.has_asked_to_leave)
            .field("pending", &self.pending)
            .field("barrier", &self.barrier)
            .finish_non_exhaustive()
    }
}
