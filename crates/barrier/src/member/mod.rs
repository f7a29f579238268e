//! A member of a group whose links lose nothing and keep packets in order.
//!
//! This file has the epochs within one view. [`change`] has the change from one view to the next.

mod change;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::packet::{decode, encode, Body, Outcome};
use crate::pattern::{ARRIVAL, RELEASE};
use crate::view::{Roster, ViewId};
use crate::{
    Barrier, Combine, Destination, Ended, Event, Group, Id, Lost, Misuse, Pattern, Recipient,
    Refused, Signal, Transmit, View, ViewError,
};
use change::Change;

/// The maximum number of signals of later epochs and views that a member keeps. A group of up to
/// 4,096 members that follows the protocol never sends more.
const EARLY_MAX: usize = 1 << 16;

/// A member's barriers with pattern `P`.
#[derive(Debug)]
pub struct Member<P> {
    group: Group,
    me: Id,
    combine: Combine,
    pattern: P,
    roster: Roster,
    view_id: ViewId,
    /// The epoch that has no outcome yet.
    next: u64,
    /// The epoch at which the program arrives next.
    at: u64,
    /// The program's value for `next`, if the program has arrived at this epoch.
    value: Option<u64>,
    /// The outcomes of epochs at which the program has not arrived yet.
    unclaimed: VecDeque<(u64, Outcome)>,
    /// The outcomes of epochs, beginning with the last epoch that passed. Earlier outcomes are not
    /// needed: a member that passes an epoch knows that all members have arrived at it, and that
    /// they therefore know the earlier outcomes.
    tail: Vec<(u64, Outcome)>,
    early: Vec<EarlySignal>,
    lost: BTreeSet<Id>,
    /// Members and leaving processes of earlier views that are not in the present view, and were
    /// not lost before.
    left: BTreeSet<Id>,
    /// The last proposal of this process for which each other process was asked for a report.
    asked: BTreeMap<Id, ViewId>,
    change: Change,
    /// Whether this process is a member, or has been one.
    has_joined: bool,
    is_leaving: bool,
    /// Set if links lose packets. A release is then sent again to a member that arrives again.
    answers_again: bool,
    ended: Option<Ended>,
    out: VecDeque<(Recipient, Body)>,
    events: VecDeque<Event>,
    signals: Vec<Signal>,
}

/// A signal of an epoch or a view that this member has not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EarlySignal {
    from: Id,
    view: ViewId,
    epoch: u64,
    round: u16,
    value: u64,
}

impl<P: Pattern> Member<P> {
    /// A member of a new group. All members name the same view, pattern and combination.
    ///
    /// # Errors
    /// [`ViewError::Outside`] if `me` is not in the view.
    pub fn new(
        group: Group,
        me: Id,
        view: &View,
        pattern: P,
        combine: Combine,
    ) -> Result<Member<P>, ViewError> {
        if !view.contains(me) {
            return Err(ViewError::Outside { member: me });
        }
        let mut member = Member::outside(group, me, pattern, combine);
        member.roster = Roster::of_members(view.clone());
        member.view_id = ViewId::FIRST;
        member.change.promised = ViewId::FIRST;
        member.has_joined = true;
        member.begin_epoch();
        Ok(member)
    }

    /// A process that joins a group. It asks these members. At least one of them has to stay alive
    /// until the process has joined. The process needs connections to all members of the group.
    ///
    /// # Errors
    /// [`ViewError`] for an empty list, or for a list that names `me`.
    pub fn join(
        group: Group,
        me: Id,
        contacts: &[Id],
        pattern: P,
        combine: Combine,
    ) -> Result<Member<P>, ViewError> {
        let contacts: BTreeSet<Id> = contacts.iter().copied().collect();
        if contacts.is_empty() {
            return Err(ViewError::Empty);
        }
        if contacts.contains(&me) {
            return Err(ViewError::Twice { member: me });
        }
        let mut member = Member::outside(group, me, pattern, combine);
        member.change.contacts = contacts;
        member.ask_to_join();
        Ok(member)
    }

    fn outside(group: Group, me: Id, pattern: P, combine: Combine) -> Member<P> {
        Member {
            group,
            me,
            combine,
            pattern,
            roster: Roster::of_members(View::none()),
            view_id: ViewId::NONE,
            next: 0,
            at: 0,
            value: None,
            unclaimed: VecDeque::new(),
            tail: Vec::new(),
            early: Vec::new(),
            lost: BTreeSet::new(),
            left: BTreeSet::new(),
            asked: BTreeMap::new(),
            change: Change::default(),
            has_joined: false,
            is_leaving: false,
            answers_again: false,
            ended: None,
            out: VecDeque::new(),
            events: VecDeque::new(),
            signals: Vec::new(),
        }
    }

    fn terms(&self) -> u32 {
        self.pattern.code() << 4 | self.combine as u32
    }

    fn members(&self) -> &View {
        &self.roster.members
    }

    pub(crate) fn is_gone(&self, other: Id) -> bool {
        self.lost.contains(&other) || self.left.contains(&other)
    }

    fn send(&mut self, to: Id, body: Body) {
        self.out.push_back((Recipient::Member(to), body));
    }

    fn begin_epoch(&mut self) {
        let view = &self.roster.members;
        if let Some(place) = view.place(self.me) {
            self.pattern.begin(place, view, self.combine);
        }
    }

    /// Sends the pattern's signals, and passes the epoch if all members have arrived.
    fn go_on(&mut self) {
        loop {
            for signal in std::mem::take(&mut self.signals) {
                let to = match signal.to {
                    Destination::One(place) => Recipient::Member(self.members().members()[place]),
                    Destination::All => Recipient::All(self.members().clone()),
                };
                let body = self.signal(self.next, signal.round, signal.value);
                self.out.push_back((to, body));
            }
            let Some(value) = self.pattern.result() else {
                return;
            };
            self.pass(value);
            self.replay();
        }
    }

    fn signal(&self, epoch: u64, round: u16, value: u64) -> Body {
        Body::Signal {
            view: self.view_id,
            epoch,
            terms: self.terms(),
            round,
            value,
        }
    }

    fn pass(&mut self, value: u64) {
        self.tail.clear();
        self.tail.push((self.next, Outcome::Passed(value)));
        self.deliver(self.next, Outcome::Passed(value));
        self.next += 1;
        self.begin_epoch();
    }

    /// Tells the program the outcome of an epoch, or keeps the outcome until the program has
    /// arrived at the epoch.
    fn deliver(&mut self, epoch: u64, outcome: Outcome) {
        match self.value.take() {
            Some(_) => self.report_outcome(epoch, outcome),
            None => self.unclaimed.push_back((epoch, outcome)),
        }
    }

    fn report_outcome(&mut self, epoch: u64, outcome: Outcome) {
        self.events.push_back(match outcome {
            Outcome::Passed(value) => Event::Passed { epoch, value },
            Outcome::Lost(members) => Event::Failed(Lost { epoch, members }),
        });
    }

    /// Passes early signals to the pattern when their epoch has come.
    fn replay(&mut self) {
        let (view, next) = (self.view_id, self.next);
        let has_come = |early: &EarlySignal| early.view == view && early.epoch == next;
        let early = std::mem::take(&mut self.early);
        let (now, later): (Vec<EarlySignal>, Vec<EarlySignal>) =
            early.into_iter().partition(has_come);
        self.early = later;
        let stays = |early: &EarlySignal| {
            early.view.number > view.number || early.view == view && early.epoch > next
        };
        self.early.retain(stays);
        for early in now {
            if let Some(place) = self.members().place(early.from) {
                // An unexpected signal is ignored, as if it had come in time.
                let (round, value) = (early.round, early.value);
                let _ = self.pattern.receive(place, round, value, &mut self.signals);
            }
        }
    }

    fn on_signal(&mut self, signal: EarlySignal, terms: u32) -> Result<(), Refused> {
        let member = signal.from;
        if terms != self.terms() {
            return Err(Refused::Different { member });
        }
        if signal.view.number > self.view_id.number {
            return self.keep(signal);
        }
        let Some(place) = self.members().place(member) else {
            if self.roster.contains(member) {
                return Err(Refused::Stranger { member });
            }
            return Err(self.refuse_stranger(member, signal.view));
        };
        if signal.view != self.view_id || self.is_changing() {
            return Ok(());
        }
        if signal.epoch < self.next {
            let is_last = signal.epoch + 1 == self.next && self.is_root();
            if let (true, true, [(_, Outcome::Passed(value))]) =
                (is_last, self.answers_again, &self.tail[..])
            {
                let body = self.signal(signal.epoch, RELEASE, *value);
                self.send(member, body);
            }
            return Ok(());
        }
        if signal.epoch == self.next {
            let (round, value) = (signal.round, signal.value);
            let received = self.pattern.receive(place, round, value, &mut self.signals);
            received.map_err(|_| Refused::Unexpected { member })?;
            self.go_on();
            return Ok(());
        }
        // No member can be further ahead, because this member has not arrived at the next epoch.
        if signal.epoch > self.next + 1 {
            return Err(Refused::Epoch {
                member,
                theirs: signal.epoch,
                ours: self.next,
            });
        }
        self.keep(signal)
    }

    fn keep(&mut self, signal: EarlySignal) -> Result<(), Refused> {
        let is_there = |other: &EarlySignal| {
            (EarlySignal { value: 0, ..*other }) == EarlySignal { value: 0, ..signal }
        };
        if self.early.len() >= EARLY_MAX || self.early.iter().any(is_there) {
            return Err(Refused::Unexpected {
                member: signal.from,
            });
        }
        self.early.push(signal);
        Ok(())
    }

    fn end(&mut self, why: Ended) {
        if self.finish(why) {
            for other in self.left_waiting() {
                self.say_gone(other);
            }
        }
    }

    /// Ends without telling other processes. Returns `false` if this process had ended before.
    fn finish(&mut self, why: Ended) -> bool {
        if self.ended.is_some() {
            return false;
        }
        self.ended = Some(why);
        self.value = None;
        self.events.push_back(Event::Ended(why));
        true
    }

    /// The message that this process no longer takes part.
    pub(crate) fn gone(&self) -> Body {
        let (view, tail) = (self.view_id, self.tail.clone());
        Body::Gone { view, tail }
    }

    pub(super) fn say_gone(&mut self, to: Id) {
        let gone = self.gone();
        self.send(to, gone);
    }

    pub(crate) fn on_body(&mut self, from: Id, body: Body) -> Result<(), Refused> {
        if self.ended.is_some() {
            // Processes that wait for this process must learn that it no longer takes part.
            match body {
                Body::Collect { .. } | Body::Wish { .. } | Body::Probe => self.say_gone(from),
                Body::Signal { .. } if self.answers_again => self.say_gone(from),
                Body::Install(install) if install.roster.contains(self.me) => {
                    for other in install.roster.participants() {
                        if other != self.me {
                            self.say_gone(other);
                        }
                    }
                }
                _ => {}
            }
            return Ok(());
        }
        if from == self.me {
            return Err(Refused::Stranger { member: from });
        }
        // A process that has left can have excluded this member with its last decision, and may
        // have closed its links since. This member accepts that only if its own view is without the
        // process. Otherwise, two members that suspect each other would exclude each other.
        let was_lost = self.lost.contains(&from) && !self.left.contains(&from);
        let is_verdict = body == Body::Excluded && !was_lost;
        if self.is_gone(from) && !is_verdict {
            let is_last = matches!(
                body,
                Body::Gone { .. } | Body::Excluded | Body::Received { .. }
            );
            if !is_last {
                self.send(from, Body::Excluded);
            }
            return Err(Refused::Stranger { member: from });
        }
        match body {
            Body::Signal {
                view,
                epoch,
                terms,
                round,
                value,
            } => {
                let signal = EarlySignal {
                    from,
                    view,
                    epoch,
                    round,
                    value,
                };
                return self.on_signal(signal, terms);
            }
            Body::Wish { view, wish } => self.on_wish(from, view, &wish),
            Body::Collect { view, proposal } => return self.on_collect(from, view, proposal),
            Body::Report(report) => return self.on_report(from, report),
            Body::Install(install) => return self.on_install(from, install),
            Body::Gone { view, tail } => self.on_gone(from, view, tail),
            Body::Excluded => self.on_excluded(from),
            Body::Probe => {}
            Body::Part { .. } | Body::Received { .. } => return Err(Refused::Malformed),
        }
        Ok(())
    }

    fn is_root(&self) -> bool {
        self.members().members().first() == Some(&self.me)
    }

    /// Call this if links can lose packets: releases are then sent again to members that arrive
    /// again.
    pub(crate) fn answer_again(&mut self) {
        self.answers_again = true;
    }

    /// In a star, the arrival that is sent again until an answer comes, and the receiver of the
    /// arrival.
    pub(crate) fn unanswered(&self) -> Option<(ViewId, u64, Id, Body)> {
        let value = self.value?;
        let root = *self.members().members().first()?;
        let body = self.signal(self.next, ARRIVAL, value);
        let is_due = root != self.me && !self.is_changing();
        is_due.then_some((self.view_id, self.next, root, body))
    }

    /// Whether [`Barrier::waits_for`] may name members.
    pub(crate) fn is_waiting(&self) -> bool {
        let waits = self.value.is_some() || self.is_changing() || !self.has_joined;
        self.ended.is_none() && waits
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Whether the others believe that this member is lost, and no longer accept its packets.
    pub(crate) fn is_outside(&self) -> bool {
        matches!(self.ended, Some(Ended::Excluded | Ended::Alone))
    }

    pub(crate) fn poll_body(&mut self) -> Option<(Recipient, Body)> {
        self.out.pop_front()
    }
}

impl<P: Pattern> Barrier for Member<P> {
    fn id(&self) -> Id {
        self.me
    }

    fn view(&self) -> &View {
        self.members()
    }

    fn arrive(&mut self, _now: Duration, value: u64) -> Result<u64, Misuse> {
        if let Some(ended) = self.ended {
            return Err(ended.into());
        }
        if !self.has_joined {
            return Err(Misuse::Joining);
        }
        if self.is_leaving {
            return Err(Misuse::Leaving);
        }
        if self.value.is_some() {
            return Err(Misuse::Twice { epoch: self.next });
        }
        let epoch = self.at;
        self.at += 1;
        if let Some((epoch, outcome)) = self.unclaimed.pop_front() {
            self.report_outcome(epoch, outcome);
            return Ok(epoch);
        }
        self.value = Some(value);
        if !self.is_changing() {
            self.pattern.arrive(value, &mut self.signals);
            self.go_on();
        }
        Ok(epoch)
    }

    fn leave(&mut self, _now: Duration) -> Result<(), Misuse> {
        if let Some(ended) = self.ended {
            return Err(ended.into());
        }
        if !self.has_joined {
            return Err(Misuse::Joining);
        }
        if self.value.is_some() {
            return Err(Misuse::Arrived { epoch: self.next });
        }
        if !self.is_leaving {
            self.is_leaving = true;
            self.consider();
        }
        Ok(())
    }

    fn abandon(&mut self, _now: Duration) {
        let mut others = self.acquaintances();
        others.extend(self.left_waiting());
        self.finish(Ended::Excluded);
        // Tell the others even after this member's end, when it no longer answers.
        for other in others {
            self.say_gone(other);
        }
    }

    fn receive(&mut self, _now: Duration, from: Id, packet: &[u8]) -> Result<(), Refused> {
        let (told, body) = decode(packet, self.group, self.me)?;
        if told != from {
            return Err(Refused::Sender { told, from });
        }
        self.on_body(from, body)
    }

    fn lost(&mut self, _now: Duration, member: Id) {
        self.on_lost(member);
    }

    fn timeout(&mut self, _now: Duration) {}

    fn poll_timeout(&self) -> Option<Duration> {
        None
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        let (to, body) = self.poll_body()?;
        let packet = encode(self.group, self.me, to.member(), &body);
        Some(Transmit { to, packet })
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn waits_for(&self) -> Vec<Id> {
        if self.ended.is_some() {
            return Vec::new();
        }
        if self.is_changing() || !self.has_joined {
            return self.waits_in_change();
        }
        let places = match self.value {
            Some(_) => self.pattern.waits_for(),
            None => Vec::new(),
        };
        let members = self.members().members();
        places.iter().map(|at| members[*at]).collect()
    }

    fn is_lost(&self, member: Id) -> bool {
        self.lost.contains(&member)
    }

    fn is_settled(&self) -> bool {
        self.out.is_empty()
    }
}
