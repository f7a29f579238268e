//! The passage to another view, when members are lost, leave or join.
//!
//! The most senior survivor coordinates it. It collects a [`Report`] of each survivor, which passes
//! nothing from then on, so that the reports stay true. If any survivor has passed an epoch, all
//! had arrived there, and all pass it. The epoch after it fails for all, if members were lost; it
//! is as open as before, if members only left or joined. The new view begins with the epoch after
//! that, in each member when the decision ([`Install`]) reaches it.
//!
//! Survivors refuse the decision of a coordinator that they believe lost, and report to the next
//! one. If only some members have heard a decision, the next coordinator learns it from their
//! reports, and includes it in its own. A member that believes another lost names it in each report
//! and question, and the receivers then believe it, too. A coordinator admits only members that
//! every report names, so that the next coordinator asks them, too. `docs/barriers.md` lists the
//! cases in which two coordinators can still decide differently.

use std::collections::{BTreeMap, BTreeSet};

use super::Member;
use crate::packet::{Body, Install, Outcome, Report};
use crate::view::ViewId;
use crate::{Ended, Event, Id, Pattern, Refused, View};

#[derive(Debug, Default)]
pub(super) struct Change {
    /// Nothing passes until the new view is there.
    pub is_going_on: bool,
    /// What the coordinator has been told.
    reports: BTreeMap<Id, Report>,
    /// The members that it has asked, and the number of lost members at that time.
    asked: BTreeMap<Id, usize>,
    /// The coordinator that this member has reported to, and how many were lost then.
    told: Option<(Id, usize)>,
    /// A view that this member has not heard of, and that is to be changed already.
    ahead: Option<ViewId>,
    /// How epochs ended that this member has not passed, by the word of those who have left.
    heard: BTreeMap<u64, Outcome>,
    /// Those who have asked to join.
    joining: BTreeSet<Id>,
    /// Those who have asked to leave.
    leaving: BTreeSet<Id>,
    /// Before this member has joined: how many were lost when it asked last.
    seen: usize,
    /// The members that this one asks to let it join.
    pub contacts: BTreeSet<Id>,
}

impl Change {
    /// Whether one that is no member has to do with this change.
    pub fn involves(&self, other: Id) -> bool {
        self.joining.contains(&other) || self.contacts.contains(&other)
    }
}

impl<P: Pattern> Member<P> {
    /// The most senior member that lives as far as this one knows.
    fn coordinator(&self) -> Option<Id> {
        let mut members = self.view.members().iter();
        members.find(|id| !self.lost.contains(id)).copied()
    }

    fn begin_change(&mut self) {
        self.change.is_going_on = true;
        self.consider();
    }

    /// After more has become known: begins a change, or goes on with one.
    fn consider(&mut self) {
        if self.ended.is_some() {
            return;
        }
        if !self.has_joined() {
            let mut members = self.latest().1.iter();
            let first = members.find(|id| !self.lost.contains(id));
            if first == Some(&self.me) {
                // It has been admitted by one that was lost since, and so were all before it.
                self.coordinate();
            } else if self.change.contacts.is_subset(&self.lost) {
                self.end(Ended::Alone);
            } else if std::mem::replace(&mut self.change.seen, self.lost.len()) < self.lost.len() {
                // It may be in a view already of which only the others have heard.
                self.ask_to_join(true);
            }
            return;
        }
        let is_lost = |id: &Id| self.lost.contains(id);
        self.change.is_going_on |= self.view.members().iter().any(is_lost);
        if !self.change.is_going_on {
            return;
        }
        let Some(coordinator) = self.coordinator() else {
            return;
        };
        if coordinator == self.me {
            self.coordinate();
        } else if self.change.told != Some((coordinator, self.lost.len())) {
            self.report_to(coordinator);
        }
    }

    fn report_to(&mut self, coordinator: Id) {
        self.change.told = Some((coordinator, self.lost.len()));
        let report = Report {
            view: self.view_id,
            members: self.view.members().to_vec(),
            next: self.next,
            tail: self.known(),
            lost: self.lost.iter().copied().collect(),
            joining: self.change.joining.iter().copied().collect(),
            is_leaving: self.is_leaving,
        };
        self.send(coordinator, Body::Report(report));
    }

    /// How epochs ended, as far as this member knows.
    fn known(&self) -> Vec<(u64, Outcome)> {
        let heard = self.change.heard.iter();
        let heard = heard.map(|(epoch, outcome)| (*epoch, outcome.clone()));
        self.tail.iter().cloned().chain(heard).collect()
    }

    /// If the coordinator that has let this member go dies, nobody else may know how epochs ended.
    /// All hear that from this member before they hear, from it or from others, that it is gone.
    pub(super) fn say_farewell(&mut self) {
        let tail = self.tail.clone();
        for member in self.view.clone().members() {
            if *member != self.me && !self.lost.contains(member) {
                let tail = tail.clone();
                self.send(*member, Body::Gone { tail });
            }
        }
    }

    /// Takes others' word for who is lost.
    fn adopt(&mut self, lost: &[Id]) {
        if lost.contains(&self.me) {
            self.end(Ended::Excluded);
            return;
        }
        for member in lost {
            if self.lost.insert(*member) {
                self.change.reports.remove(member);
                self.change.joining.remove(member);
            }
        }
    }

    pub(super) fn on_lost(&mut self, member: Id) {
        if self.ended.is_none() && member != self.me && !self.lost.contains(&member) {
            self.adopt(&[member]);
            self.consider();
        }
    }

    pub(super) fn on_gone(&mut self, from: Id, tail: Vec<(u64, Outcome)>) {
        let counts = self.view.contains(from) || self.change.joining.contains(&from);
        if self.view.contains(from) {
            let news = tail.into_iter().filter(|(epoch, _)| *epoch >= self.next);
            self.change.heard.extend(news);
        }
        if counts || self.change.contacts.contains(&from) {
            self.on_lost(from);
        }
    }

    pub(super) fn on_excluded(&mut self, from: Id) {
        if self.view.contains(from) || !self.has_joined() {
            self.end(Ended::Excluded);
        }
    }

    pub(super) fn on_collect(&mut self, from: Id, view: ViewId, lost: &[Id], joining: &[Id]) {
        self.adopt(lost);
        if self.ended.is_some() {
            return;
        }
        for member in joining {
            self.note_joining(*member);
        }
        let is_missed = view.number > self.view_id.number && !self.lost.contains(&view.by);
        if is_missed {
            // That view is still to come, if it is one with this member. When its maker is lost,
            // this member refuses it and reports.
            self.change.ahead = self.change.ahead.max(Some(view));
            if self.has_joined() {
                self.consider();
                return;
            }
        }
        // One that has left by a view which it has not heard of may ask too. It learns that from
        // the report, and decides nothing.
        let is_asked = view == self.view_id || self.view.contains(from);
        self.change.is_going_on |= self.has_joined() && is_asked;
        self.report_to(from);
        self.consider();
    }

    pub(super) fn on_report(&mut self, from: Id, report: Report) -> Result<(), Refused> {
        let stranger = Err(Refused::Stranger { member: from });
        if !self.has_joined() && !report.members.contains(&self.me) {
            return stranger;
        }
        let (theirs, ours) = (report.view, self.view_id);
        let is_later = theirs.number > ours.number;
        if is_later && !report.members.contains(&self.me) {
            // The decision that this member missed is one without it.
            self.end(match self.is_leaving {
                true => Ended::Left,
                false => Ended::Excluded,
            });
            return Ok(());
        }
        let is_known = self.view.contains(from) || self.change.joining.contains(&from);
        let is_true = match theirs == ours || is_later {
            true => true,
            // It has not heard of this view, and never will if it takes the view's maker for lost.
            // If not, it reports once more when it has.
            false => theirs.number < ours.number && is_known && report.lost.contains(&ours.by),
        };
        let is_joining = theirs == ViewId::NONE && self.change.joining.contains(&from);
        if !is_true && !is_joining {
            if !is_known {
                match theirs.number < ours.number {
                    true => self.report_to(from),
                    false => self.send(from, Body::Excluded),
                }
                return stranger;
            }
            return Ok(());
        }
        self.adopt(&report.lost);
        if self.ended.is_some() {
            return Ok(());
        }
        for member in &report.joining {
            self.note_joining(*member);
        }
        self.change.is_going_on |= self.has_joined();
        self.change.reports.insert(from, report);
        self.consider();
        Ok(())
    }

    /// Those whose reports this coordinator misses, or the coordinator.
    pub(super) fn unreported(&self) -> Vec<Id> {
        if !self.has_joined() {
            let contacts = self.change.contacts.iter();
            return contacts
                .filter(|id| !self.lost.contains(id))
                .copied()
                .collect();
        }
        match self.coordinator() {
            Some(other) if other != self.me => vec![other],
            _ => self.missing(self.latest().1),
        }
    }

    /// The latest view that anybody knows.
    fn latest(&self) -> (ViewId, &[Id]) {
        let reports = self.change.reports.values();
        let views = reports.map(|report| (report.view, &report.members[..]));
        let own = (self.view_id, self.view.members());
        views.fold(own, |one, other| match other.0 > one.0 {
            true => other,
            false => one,
        })
    }

    fn missing(&self, members: &[Id]) -> Vec<Id> {
        let joining = self.change.joining.iter();
        let others = members.iter().chain(joining).filter(|id| {
            let is_there = **id == self.me || self.lost.contains(id);
            !is_there && !self.change.reports.contains_key(id)
        });
        others.copied().collect()
    }

    fn coordinate(&mut self) {
        let (view, members) = self.latest();
        if !members.contains(&self.me) {
            self.end(match self.is_leaving {
                true => Ended::Left,
                false => Ended::Excluded,
            });
            return;
        }
        let missing = self.missing(members);
        if missing.is_empty() {
            let (view, members) = (view, members.to_vec());
            self.decide(view, &members);
            return;
        }
        let lost: Vec<Id> = self.lost.iter().copied().collect();
        for member in missing {
            if self.change.asked.insert(member, lost.len()) != Some(lost.len()) {
                let body = Body::Collect {
                    view: self.view_id,
                    lost: lost.clone(),
                    joining: self.change.joining.iter().copied().collect(),
                };
                self.send(member, body);
            }
        }
    }

    fn decide(&mut self, latest: ViewId, members: &[Id]) {
        let reports = &self.change.reports;
        let mut tail: BTreeMap<u64, Outcome> = self.known().into_iter().collect();
        let mut next = self.next;
        for report in reports.values() {
            next = next.max(report.next);
            for (epoch, outcome) in &report.tail {
                let there = tail.entry(*epoch).or_insert_with(|| outcome.clone());
                debug_assert_eq!(there, outcome, "epoch {epoch}");
            }
        }
        let known = tail.last_key_value().map_or(0, |(epoch, _)| epoch + 1);
        next = next.max(known);
        let (lost, alive): (Vec<Id>, Vec<Id>) =
            members.iter().partition(|id| self.lost.contains(id));
        if !lost.is_empty() {
            tail.insert(next, Outcome::Lost(lost));
            next += 1;
        }
        let is_leaving = |id: &Id| match *id == self.me {
            true => self.is_leaving,
            false => reports.get(id).is_some_and(|report| report.is_leaving),
        };
        let joining = self.change.joining.iter().copied();
        // If this member dies, the next coordinator must know its new members. Others wait
        // for the next change, which follows at once.
        let is_known = |id: &Id| {
            let mut reports = reports.values().filter(|r| r.view != ViewId::NONE);
            reports.all(|report| report.joining.contains(id) || report.members.contains(id))
        };
        let joining = joining.filter(|id| !members.contains(id) && is_known(id));
        let joining: Vec<Id> = joining.collect();
        let stay = alive.iter().filter(|id| !is_leaving(id));
        let install = Install {
            view: ViewId {
                number: latest.number + 1,
                by: self.me,
            },
            members: stay.chain(&joining).copied().collect(),
            next,
            tail: tail.into_iter().collect(),
        };
        // Also those who have left by a view that they have not heard of.
        let mut recipients: BTreeSet<Id> = alive.into_iter().chain(joining).collect();
        recipients.extend(self.view.members());
        for member in recipients {
            if member != self.me && !self.lost.contains(&member) {
                self.send(member, Body::Install(install.clone()));
            }
        }
        self.install(install);
    }

    pub(super) fn on_install(&mut self, from: Id, install: Install) -> Result<(), Refused> {
        let is_late = install.view.number <= self.view_id.number;
        if is_late || self.has_joined() && !self.change.is_going_on || install.view.by != from {
            return Err(Refused::Unexpected { member: from });
        }
        let epochs: BTreeSet<u64> = install.tail.iter().map(|(epoch, _)| *epoch).collect();
        let misses = self.has_joined() && {
            let span = install.next.checked_sub(self.next);
            let known = epochs.range(self.next..install.next.max(self.next)).count();
            span != Some(known as u64)
        };
        if misses || !install.members.is_empty() && View::new(install.members.clone()).is_err() {
            return Err(Refused::Malformed);
        }
        self.install(install);
        Ok(())
    }

    fn install(&mut self, install: Install) {
        let has_joined = self.has_joined();
        if has_joined {
            for (epoch, outcome) in &install.tail {
                if (self.next..install.next).contains(epoch) {
                    self.deliver(*epoch, outcome.clone());
                }
            }
        }
        if !install.members.contains(&self.me) {
            self.tail = install.tail;
            self.end(match self.is_leaving {
                true => Ended::Left,
                false => Ended::Excluded,
            });
            return;
        }
        for (_, outcome) in &install.tail {
            if let Outcome::Lost(members) = outcome {
                self.lost.extend(members);
            }
        }
        self.view = View::new(install.members).expect("it was looked at");
        let id = install.view;
        self.view_id = id;
        self.next = install.next;
        self.tail = install.tail;
        let view = self.view.clone();
        self.events.push_back(match has_joined {
            true => Event::Changed { view },
            false => {
                self.at = self.next;
                let epoch = self.next;
                Event::Joined { epoch, view }
            }
        });
        let change = &mut self.change;
        let ahead = change.ahead.take_if(|view| view.number <= id.number);
        change.heard = change.heard.split_off(&self.next);
        change.told = None;
        change.asked.clear();
        change.contacts.clear();
        // Some may know of a loss in this view already, and report it once.
        let view = &self.view;
        let lost = &self.lost;
        change.reports.retain(|from, report| {
            let is_of_it = report.view == id || report.view.number > id.number;
            is_of_it && !lost.contains(from)
        });
        change.is_going_on = ahead == Some(id) || !change.reports.is_empty();
        change
            .joining
            .retain(|member| !view.contains(*member) && !lost.contains(member));
        change.leaving.retain(|member| view.contains(*member));
        self.begin_epoch();
        self.consider();
        if self.view_id != id {
            // The only member left has made another view already.
            return;
        }
        if !self.change.is_going_on {
            if let Some(value) = self.value {
                self.pattern.arrive(value, &mut self.signals);
            }
            self.replay();
            self.go_on();
        }
        self.hand_on();
        if self.is_leaving {
            self.ask_to_leave();
        }
    }

    pub(super) fn ask_to_leave(&mut self) {
        if self.change.is_going_on || self.ended.is_some() {
            // The report says so, or it is asked again in the next view.
            return;
        }
        match self.coordinator() {
            Some(other) if other != self.me => self.send(other, Body::Leave),
            _ => self.begin_change(),
        }
    }

    pub(super) fn on_leave(&mut self, from: Id) {
        // It may know of a view already that this member coordinates.
        self.change.leaving.insert(from);
        let is_mine = self.coordinator() == Some(self.me) && self.view.contains(from);
        if is_mine && !self.change.is_going_on {
            self.begin_change();
        }
    }

    fn note_joining(&mut self, member: Id) -> bool {
        let is_new = member != self.me && !self.lost.contains(&member);
        is_new && !self.view.contains(member) && self.change.joining.insert(member)
    }

    pub(super) fn ask_to_join(&mut self, is_again: bool) {
        for contact in self.unreported() {
            let member = self.me;
            self.send(contact, Body::Join { member, is_again });
        }
    }

    pub(super) fn on_join(&mut self, member: Id, is_again: bool) {
        let is_unaware = is_again && self.view.contains(member) && member != self.me;
        if !self.note_joining(member) && !is_unaware || !self.has_joined() {
            return;
        }
        match self.coordinator() {
            Some(other) if other != self.me => self.send(other, Body::Join { member, is_again }),
            _ => {
                self.change.asked.remove(&member);
                self.begin_change();
            }
        }
    }

    /// The coordinator may have changed since others have asked to join or leave.
    fn hand_on(&mut self) {
        let change = &self.change;
        let is_idle = change.joining.is_empty() && change.leaving.is_empty();
        if is_idle || change.is_going_on || self.ended.is_some() {
            return;
        }
        match self.coordinator() {
            Some(other) if other != self.me => {
                for member in self.change.joining.clone() {
                    let is_again = false;
                    self.send(other, Body::Join { member, is_again });
                }
            }
            _ => self.begin_change(),
        }
    }
}
