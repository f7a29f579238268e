//! The change to a new view, when members are lost, leave or join.
//!
//! If a participant is lost, or wants to join or leave, the view has to change. The most senior
//! participant that is alive (the *coordinator*) then proposes a new view. The others tell the
//! coordinator their knowledge and their requests ([`Wish`]). A proposal has a number, which is
//! also the number of the new view. The proposer asks all participants for a [`Report`]. With its
//! report, a participant promises to accept no proposal with a lower number, and to pass no epoch
//! until it has a new view. When all participants have reported, the proposer decides, and sends
//! the decision ([`Install`]).
//!
//! Two processes may believe that they are the coordinator, or a coordinator may die after its
//! decision. The protocol is still safe, for the same reason as Paxos (Lamport 1998). A participant
//! that has accepted a view names this view in each later report, so later proposers start from it.
//! A participant that has promised to wait for a later proposal refuses the view. So all survivors
//! accept the same views in the same order, and no outcome of an epoch that a survivor knows is
//! lost. A proposer that learns of a later proposal waits for that proposal, and proposes again
//! only if the other proposer is lost.
//!
//! A decision contains the outcomes of epochs. If any survivor has passed an epoch, all members had
//! arrived at it, and all survivors pass it. If members were lost, the epoch after it fails for all
//! survivors. If members only left or joined, that epoch stays open.
//!
//! Processes join and leave in two steps. The first view names them as joining or leaving. This
//! view has no barriers, and another change follows at once. When all participants have reported
//! from this view, the second view admits the joining processes and releases the leaving processes.
//! So a process that has left knows no outcome that the others do not know. Each living participant
//! knows all members that the next view can have. Only a leaving process that has not received the
//! second view may not know members that have joined since. Members ignore its proposals, and it
//! admits no process to a view in which nobody would stay.

use std::collections::{BTreeMap, BTreeSet};

use super::Member;
use crate::packet::{Body, Install, Outcome, Report, Wish};
use crate::view::{Roster, ViewId};
use crate::{Ended, Event, Id, Pattern, Refused, View};

#[derive(Debug, Default)]
pub(super) struct Change {
    /// The latest proposal that this participant has made or answered, or the view that it has.
    /// If it is later than the view, a change is under way.
    pub promised: ViewId,
    /// This participant's own proposal, whose number is `promised`.
    proposal: Option<Proposal>,
    /// This participant's last message to a coordinator in the present view.
    told: Option<(Id, Wish)>,
    /// Processes that have asked to join, and are not in the view.
    joining: BTreeSet<Id>,
    /// Members that have asked to leave.
    leaving: BTreeSet<Id>,
    /// The outcomes of epochs that this member has not passed, as reported by participants that no
    /// longer take part.
    heard: BTreeMap<u64, Outcome>,
    /// Set if a participant cannot get the present view.
    is_stuck: bool,
    /// Set if a participant with a later view treats this participant as the coordinator. In that
    /// later view, this participant is the coordinator.
    is_called: bool,
    /// The members that this process asks to let it join.
    pub contacts: BTreeSet<Id>,
}

#[derive(Debug, Default)]
struct Proposal {
    reports: BTreeMap<Id, Report>,
    /// The views that reports name, except the proposer's own.
    rosters: BTreeMap<ViewId, Roster>,
}

impl<P: Pattern> Member<P> {
    /// Whether this process is a participant of any view.
    fn has_view(&self) -> bool {
        self.view_id != ViewId::NONE
    }

    /// Whether this participant waits for a new view. It passes no epoch until then.
    pub(super) fn is_changing(&self) -> bool {
        self.change.promised > self.view_id || !self.roster.is_settled()
    }

    /// The most senior participant that is alive, as far as this participant knows. Processes that
    /// are joining do not count, because two joining processes may not know each other.
    fn coordinator(&self) -> Option<Id> {
        let roster = &self.roster;
        let mut seniors = roster.members.members().iter().chain(&roster.leaving);
        seniors.find(|id| !self.lost.contains(id)).copied()
    }

    /// Continues a change, begins a change, or asks for one. Call this when this participant has
    /// learned something new.
    pub(super) fn consider(&mut self) {
        if self.ended.is_some() {
            return;
        }
        if !self.has_view() {
            if self.change.contacts.is_subset(&self.lost) {
                self.end(Ended::Alone);
            }
            return;
        }
        if self.change.proposal.is_some() {
            self.go_on_with_proposal();
            return;
        }
        let promised = self.change.promised;
        if promised > self.view_id && !self.lost.contains(&promised.by) {
            // The proposer of a later view is alive, so wait for its decision.
            return;
        }
        match self.coordinator() {
            None => self.end(Ended::Alone),
            Some(_) if self.change.is_called => self.propose(),
            Some(other) if other != self.me => self.wish(other),
            Some(_) if self.needs_change() => self.propose(),
            Some(_) => {}
        }
    }

    fn needs_change(&self) -> bool {
        let change = &self.change;
        let mut participants = self.roster.participants();
        self.is_changing()
            || self.is_leaving
            || change.is_stuck
            || !change.joining.is_empty()
            || !change.leaving.is_empty()
            || participants.any(|id| self.lost.contains(&id))
    }

    fn lost_participants(&self) -> Vec<Id> {
        let participants = self.roster.participants();
        participants.filter(|id| self.lost.contains(id)).collect()
    }

    fn wish(&mut self, coordinator: Id) {
        // If the proposer of a view without barriers is alive, the coordinator gets this view, too.
        let is_unfinished = !self.roster.is_settled() && self.lost.contains(&self.view_id.by);
        let wish = Wish {
            lost: self.lost_participants(),
            joining: self.change.joining.iter().copied().collect(),
            is_leaving: self.is_leaving && self.roster.members.contains(self.me),
            is_stuck: self.change.is_stuck || self.change.promised > self.view_id || is_unfinished,
        };
        let told = Some((coordinator, wish));
        if told == self.change.told {
            return;
        }
        if let Some((_, wish)) = told.clone().filter(|(_, wish)| *wish != Wish::default()) {
            let view = self.view_id;
            self.send(coordinator, Body::Wish { view, wish });
        }
        self.change.told = told;
    }

    /// Adopts the knowledge of another participant about lost participants.
    fn adopt(&mut self, lost: &[Id]) {
        if lost.contains(&self.me) {
            self.end_outside();
            return;
        }
        for member in lost {
            self.lost.insert(*member);
            self.change.joining.remove(member);
            self.change.leaving.remove(member);
            if let Some(proposal) = &mut self.change.proposal {
                proposal.reports.remove(member);
            }
        }
    }

    pub(super) fn on_lost(&mut self, member: Id) {
        if self.ended.is_none() && member != self.me && !self.lost.contains(&member) {
            self.adopt(&[member]);
            self.consider();
        }
    }

    pub(super) fn on_gone(&mut self, from: Id, view: ViewId, mut tail: Vec<(u64, Outcome)>) {
        tail.retain(|(epoch, _)| *epoch >= self.next);
        let excludes = |outcome: &Outcome| match outcome {
            Outcome::Lost(members) => members.contains(&self.me),
            Outcome::Passed(_) => false,
        };
        if self.roster.contains(from) && tail.iter().any(|(_, outcome)| excludes(outcome)) {
            self.end_outside();
            return;
        }
        // If epochs are missing in between, the sender has gone on without this member.
        let mut epochs = (self.next..).zip(&tail);
        let is_whole = epochs.all(|(expected, (epoch, _))| expected == *epoch);
        if is_whole && self.roster.members.contains(from) {
            self.on_outcomes(view, tail);
        }
        self.on_lost(from);
    }

    /// Records the outcomes of epochs, from `next` on.
    fn on_outcomes(&mut self, view: ViewId, tail: Vec<(u64, Outcome)>) {
        let has_arrived = self.value.is_some() && !self.is_changing();
        match tail[..] {
            // All members had arrived. There may be no member left that could send the signals for
            // which this member waits.
            [(_, Outcome::Passed(value))] if has_arrived && view == self.view_id => {
                self.pass(value);
                self.replay();
                self.go_on();
            }
            _ => self.change.heard.extend(tail),
        }
    }

    /// The outcomes of epochs that this member knows.
    fn known(&self) -> BTreeMap<u64, Outcome> {
        let heard = self.change.heard.range(self.next..);
        let heard = heard.map(|(epoch, outcome)| (*epoch, outcome.clone()));
        self.tail.iter().cloned().chain(heard).collect()
    }

    /// Ends this member's barriers, because the other members go on without it.
    fn end_outside(&mut self) {
        self.end(match self.is_leaving {
            true => Ended::Left,
            false => Ended::Excluded,
        });
    }

    pub(super) fn on_excluded(&mut self, from: Id) {
        let is_known = self.roster.contains(from) || self.left.contains(&from);
        if is_known || !self.has_view() {
            self.end_outside();
        }
    }

    pub(super) fn on_wish(&mut self, from: Id, view: ViewId, wish: &Wish) {
        self.adopt(&wish.lost);
        if self.ended.is_some() {
            return;
        }
        for member in &wish.joining {
            self.note_joining(*member);
        }
        // The sender may have joined by a view that no other member has. Then it must be admitted
        // again.
        self.note_joining(from);
        if wish.is_leaving {
            self.change.leaving.insert(from);
        }
        // The sender refuses the present view if it believes that the proposer of this view is
        // lost.
        let is_behind = view < self.view_id && wish.lost.contains(&self.view_id.by);
        self.change.is_stuck |= self.has_view() && (wish.is_stuck || is_behind);
        self.change.is_called |= self.has_view() && view > self.view_id;
        self.consider();
    }

    fn note_joining(&mut self, member: Id) {
        let is_known = self.roster.contains(member) || self.is_gone(member);
        if member != self.me && !is_known {
            self.change.joining.insert(member);
        }
    }

    /// Refuses a process that is in no view of this member. If the process has an older view, it
    /// was in the group before this member joined, and the group has gone on without it.
    pub(super) fn refuse_stranger(&mut self, from: Id, view: ViewId) -> Refused {
        let is_joining = self.change.joining.contains(&from);
        if view < self.view_id && !is_joining {
            self.send(from, Body::Excluded);
        }
        Refused::Stranger { member: from }
    }

    /// The processes that may wait for a message of this process, which has ended: those that want
    /// to join, those that may have promised a proposal of it, and, if it has no view without
    /// itself, all others in its view.
    pub(super) fn left_waiting(&mut self) -> BTreeSet<Id> {
        let mut all = std::mem::take(&mut self.change.joining);
        self.change.proposal = None;
        all.extend(std::mem::take(&mut self.asked).into_keys());
        if self.roster.contains(self.me) {
            all.extend(self.roster.participants());
        }
        all.retain(|id| *id != self.me && !self.lost.contains(id));
        all
    }

    /// All processes that may wait for this process, including members that are wrongly believed
    /// lost.
    pub(super) fn acquaintances(&self) -> BTreeSet<Id> {
        let change = &self.change;
        let others = change.contacts.iter().chain(&change.joining);
        let others = others.chain(&self.left).copied();
        let all = others.chain(self.roster.participants());
        all.filter(|id| *id != self.me).collect()
    }

    pub(super) fn ask_to_join(&mut self) {
        let wish = Wish {
            joining: vec![self.me],
            ..Wish::default()
        };
        for contact in self.change.contacts.clone() {
            let (view, wish) = (ViewId::NONE, wish.clone());
            self.send(contact, Body::Wish { view, wish });
        }
    }

    /// Whether a sender may not know that this process has become a member: it is not in the view.
    /// It was in the group before, or it is in another part of a group that wrong suspicions have
    /// divided.
    fn is_unaware(&self, sender: Id) -> bool {
        self.roster.members.contains(self.me) && !self.roster.contains(sender)
    }

    pub(super) fn on_collect(
        &mut self,
        from: Id,
        view: ViewId,
        proposal: ViewId,
    ) -> Result<(), Refused> {
        if proposal.by != from {
            return Err(Refused::Unexpected { member: from });
        }
        if !self.roster.contains(from) && view <= self.view_id {
            return Err(self.refuse_stranger(from, view));
        }
        if self.is_unaware(from) {
            self.say_gone(from);
            return Err(Refused::Stranger { member: from });
        }
        if proposal > self.change.promised {
            self.change.promised = proposal;
            self.change.proposal = None;
        }
        let report = Report {
            proposal,
            promised: self.change.promised,
            view: self.view_id,
            roster: (view != self.view_id).then(|| self.roster.clone()),
            next: self.next,
            tail: self.known().into_iter().collect(),
            lost: self.lost_participants(),
            joining: self.change.joining.iter().copied().collect(),
            is_leaving: self.is_leaving,
        };
        self.send(from, Body::Report(report));
        Ok(())
    }

    fn propose(&mut self) {
        self.change.promised = ViewId {
            number: self.change.promised.number + 1,
            by: self.me,
        };
        self.change.proposal = Some(Proposal::default());
        self.go_on_with_proposal();
    }

    pub(super) fn on_report(&mut self, from: Id, report: Report) -> Result<(), Refused> {
        if self.change.proposal.is_none() || report.proposal != self.change.promised {
            return Err(Refused::Unexpected { member: from });
        }
        self.adopt(&report.lost);
        let later = report.promised;
        let joining = report.roster.iter().flat_map(|roster| &roster.joining);
        let joining: Vec<Id> = joining.chain(&report.joining).copied().collect();
        for member in joining {
            self.note_joining(member);
        }
        if report.promised > self.change.promised {
            self.change.promised = report.promised;
            self.change.proposal = None;
        }
        if let Some(proposal) = &mut self.change.proposal {
            if let Some(roster) = &report.roster {
                proposal.rosters.insert(report.view, roster.clone());
            }
            proposal.reports.insert(from, report);
        }
        self.consider();
        let is_beaten = later == self.change.promised && later.by != self.me;
        if is_beaten && self.ended.is_none() && !self.lost.contains(&later.by) {
            // The proposer of the later view may count this participant as lost, and then answers
            // that it is excluded.
            self.wish(later.by);
        }
        Ok(())
    }

    /// The latest view of the proposer and of the participants that have reported.
    fn latest(&self, proposal: &Proposal) -> (ViewId, Roster) {
        let views = proposal.reports.values().map(|report| report.view);
        let latest = views.fold(self.view_id, ViewId::max);
        let roster = proposal.rosters.get(&latest);
        // A report without a roster names the proposer's own view, or is invalid.
        match roster.filter(|_| latest != self.view_id) {
            Some(roster) => (latest, roster.clone()),
            None => (self.view_id, self.roster.clone()),
        }
    }

    fn missing(&self, proposal: &Proposal) -> Vec<Id> {
        let (_, roster) = self.latest(proposal);
        let missing = roster.participants().filter(|id| {
            *id != self.me && !self.lost.contains(id) && !proposal.reports.contains_key(id)
        });
        missing.collect()
    }

    fn go_on_with_proposal(&mut self) {
        let Some(proposal) = self.change.proposal.take() else {
            return;
        };
        let missing = self.missing(&proposal);
        if missing.is_empty() {
            self.decide(&proposal);
            return;
        }
        let (view, _) = self.latest(&proposal);
        let number = self.change.promised;
        for member in missing {
            if self.asked.insert(member, number) != Some(number) {
                let proposal = number;
                self.send(member, Body::Collect { view, proposal });
            }
        }
        self.change.proposal = Some(proposal);
    }

    /// The processes for whose packets this process waits during a change.
    pub(super) fn waits_in_change(&self) -> Vec<Id> {
        match &self.change.proposal {
            Some(proposal) => self.missing(proposal),
            None if !self.has_view() => {
                let contacts = self.change.contacts.iter();
                contacts
                    .filter(|id| !self.lost.contains(id))
                    .copied()
                    .collect()
            }
            None if self.change.promised > self.view_id
                && !self.lost.contains(&self.change.promised.by) =>
            {
                vec![self.change.promised.by]
            }
            // If the member with the proposal is lost, the coordinator takes its place.
            None => self.coordinator().into_iter().collect(),
        }
    }

    fn decide(&mut self, proposal: &Proposal) {
        let (latest, roster) = self.latest(proposal);
        let reports = &proposal.reports;
        let (mut next, mut tail) = self.merged(latest, reports);
        let is_lost = |id: &Id| self.lost.contains(id);
        let (lost, mut members): (Vec<Id>, Vec<Id>) =
            roster.members.members().iter().partition(|id| is_lost(id));
        if !lost.is_empty() {
            tail.insert(next, Outcome::Lost(lost));
            next += 1;
        }
        let living = |ids: &[Id]| -> Vec<Id> {
            let living = ids.iter().filter(|id| !is_lost(id));
            living.copied().collect()
        };
        let (mut joining, mut leaving) = (living(&roster.joining), living(&roster.leaving));
        let mut views = reports.values().map(|report| report.view);
        if self.view_id == latest && views.all(|view| view == latest) {
            members.append(&mut joining);
            leaving.clear();
        }
        let wants_to_leave = |id: &Id| match *id == self.me {
            true => self.is_leaving,
            false => reports.get(id).is_some_and(|report| report.is_leaving),
        };
        let (leavers, members): (Vec<Id>, Vec<Id>) = members.into_iter().partition(wants_to_leave);
        leaving.extend(leavers);
        // If nobody stays until the next view, nobody could admit a process in it. Such a process
        // learns from this one's end that it has to ask others.
        if !members.is_empty() || !leaving.is_empty() {
            let asked = self.change.joining.iter();
            joining.extend(asked.filter(|id| !roster.contains(**id)));
        }
        let install = Install {
            view: self.change.promised,
            roster: Roster::new(members, joining, leaving).expect("each is named once"),
            next,
            tail: tail.into_iter().collect(),
        };
        // Processes that are not in the new view learn that they may end.
        let all = install.roster.participants().chain(roster.participants());
        let recipients: BTreeSet<Id> = all.chain(self.roster.participants()).collect();
        for member in recipients {
            if member == self.me {
                continue;
            }
            match self.lost.contains(&member) {
                true => self.send(member, Body::Excluded),
                false => self.send(member, Body::Install(install.clone())),
            }
        }
        self.install(install);
    }

    /// The first epoch without an outcome, and the outcomes of the epochs before it, from the
    /// reports and this participant's own knowledge.
    fn merged(
        &self,
        latest: ViewId,
        reports: &BTreeMap<Id, Report>,
    ) -> (u64, BTreeMap<u64, Outcome>) {
        let own = (self.view_id, self.next, self.known());
        let theirs = reports.values().map(|report| {
            let tail = report.tail.iter().cloned().collect();
            (report.view, report.next, tail)
        });
        let all: Vec<_> = std::iter::once(own).chain(theirs).collect();
        // Participants with the latest view know the outcomes of all epochs before it. Other
        // participants can have heard of a pass that the decision for this view did not know.
        let is_latest = |view: &ViewId| *view == latest;
        let told = all.iter().filter(|(view, ..)| is_latest(view));
        let decided = told.map(|(_, next, _)| *next).max().unwrap_or(0);
        let (mut next, mut merged) = (decided, BTreeMap::new());
        for (view, _, tail) in &all {
            for (epoch, outcome) in tail {
                if is_latest(view) || *epoch >= decided {
                    merged.entry(*epoch).or_insert_with(|| outcome.clone());
                }
            }
        }
        for (view, theirs, _) in &all {
            if is_latest(view) || *theirs > decided {
                next = next.max(*theirs);
            }
        }
        let known = merged.last_key_value().map_or(0, |(epoch, _)| epoch + 1);
        (next.max(known), merged)
    }

    pub(super) fn on_install(&mut self, from: Id, install: Install) -> Result<(), Refused> {
        if install.view <= self.view_id || install.view.by != from {
            return Err(Refused::Unexpected { member: from });
        }
        if self.is_unaware(from) {
            return Err(Refused::Stranger { member: from });
        }
        if install.view < self.change.promised {
            // The sender has this view, and does not know that this participant refuses it.
            self.change.told = None;
            self.consider();
            return Err(Refused::Unexpected { member: from });
        }
        let misses = self.roster.members.contains(self.me) && {
            let epochs = install.tail.iter().map(|(epoch, _)| *epoch);
            let span = self.next..install.next.max(self.next);
            let known: BTreeSet<u64> = epochs.filter(|epoch| span.contains(epoch)).collect();
            install.next.checked_sub(self.next) != Some(known.len() as u64)
        };
        if misses {
            return Err(Refused::Malformed);
        }
        self.install(install);
        Ok(())
    }

    fn install(&mut self, install: Install) {
        let id = install.view;
        let was_member = self.roster.members.contains(self.me);
        if was_member {
            for (epoch, outcome) in &install.tail {
                if (self.next..install.next).contains(epoch) {
                    self.deliver(*epoch, outcome.clone());
                }
            }
        }
        let before = std::mem::replace(&mut self.roster, install.roster);
        for (_, outcome) in &install.tail {
            if let Outcome::Lost(members) = outcome {
                self.lost.extend(members);
            }
        }
        let (roster, lost, me) = (&self.roster, &self.lost, self.me);
        let has_left = |id: &&Id| !roster.contains(**id) && !lost.contains(id) && **id != me;
        let were = before.members.members().iter().chain(&before.leaving);
        self.left.extend(were.filter(has_left));
        // A later view can leave out a process that an earlier view named as joining.
        self.change.joining.extend(&before.joining);
        self.view_id = id;
        self.next = install.next;
        self.tail = install.tail;
        self.change = Change {
            promised: id,
            joining: std::mem::take(&mut self.change.joining),
            leaving: std::mem::take(&mut self.change.leaving),
            heard: self.change.heard.split_off(&self.next),
            ..Change::default()
        };
        if !self.roster.contains(self.me) {
            self.end_outside();
            return;
        }
        let (roster, lost) = (&self.roster, &self.lost);
        let is_new = |id: &Id| !roster.contains(*id) && !lost.contains(id);
        self.change.joining.retain(is_new);
        let members = &self.roster.members;
        self.change.leaving.retain(|id| members.contains(*id));
        if members.contains(self.me) {
            self.announce(before.members);
            self.begin_epoch();
        }
        self.consider();
        if self.view_id == id && self.ended.is_none() && !self.is_changing() {
            if let Some(value) = self.value {
                self.pattern.arrive(value, &mut self.signals);
            }
            self.replay();
            self.go_on();
        }
    }

    /// Tells the program about a view that contains this member.
    fn announce(&mut self, before: View) {
        let view = self.roster.members.clone();
        let epoch = self.next;
        if !self.has_joined {
            self.has_joined = true;
            self.at = epoch;
            self.events.push_back(Event::Joined { epoch, view });
        } else if view != before {
            self.events.push_back(Event::Changed { view });
        }
    }
}
