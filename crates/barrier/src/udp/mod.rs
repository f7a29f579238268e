//! A star over datagrams. Datagrams may be lost, duplicated, delayed or reordered.
//!
//! Arrivals and releases are single datagrams. A member sends its arrival again until it gets the
//! release. If the root gets an arrival at the epoch that it has passed last, it answers with the
//! release of this epoch. Messages for a change of the view go through a [`Channel`] to each
//! member.
//!
//! A release is for all members, so the owner can multicast it. A member that multicast does not
//! reach gets releases only as answers to repeated arrivals, and reports that with its next
//! arrival. After a few such reports, releases are sent to each member separately.
//!
//! Each packet ends with a code that only holders of the group's secret can make. A packet without
//! a valid code changes nothing and is not answered. Other packets are answered with at most one
//! packet of at most 76 bytes, in addition to the messages that each member sends once in a change
//! of the view. Processes that a packet for all members does not concern never answer it, because
//! there may be many of them. A member whose barriers have ended reports that to each other
//! member once or twice, through the channel. After that, it answers a member with no more
//! bytes than have come from there.

mod channel;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use subtle::ConstantTimeEq;

use crate::packet::{decode, encode, is_for_all, Body};
use crate::pattern::{ARRIVAL, RELEASE};
use crate::view::ViewId;
use crate::{
    Barrier, Combine, Event, Group, Id, Member, Misuse, Recipient, Refused, Star, Transmit, View,
    ViewError,
};
use channel::Channel;

/// The length of the code at a packet's end, in bytes.
const CODE: usize = 16;

/// The minimum time before a packet is sent again.
const PAUSE_MIN: Duration = Duration::from_micros(1);

/// The round of an arrival whose sender got the previous release in a separate packet, and not by a
/// packet for all members.
const ARRIVAL_ALONE: u16 = 2;

/// After this number of successive releases that a member got separately, the root assumes that
/// multicast does not reach the member.
const ALONE_MAX: u32 = 8;

/// The time for which the root then sends to each member separately before it tries multicast
/// again. A network may need some time to learn the places of the members.
const MULTICAST_PAUSE: Duration = Duration::from_secs(10);

/// If releases come much sooner than after [`Resending::first`], an arrival is sent again sooner,
/// too: after this multiple of the mean time from an arrival to its release, but not before
/// [`Resending::least`]. As in TCP, arrivals that were sent again do not count for the mean. After
/// each such arrival, the next arrival waits twice as long.
const AGAIN_TIMES: u32 = 4;

/// The weight of the last release in the mean is 1/`MEAN_SHARE`.
const MEAN_SHARE: u32 = 8;

/// The times after which packets are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resending {
    /// The time before a packet is sent again for the first time. It should be longer than the
    /// round-trip time of a packet and its answer. For arrivals, the time is shorter if releases
    /// have come much sooner. A time below a microsecond counts as a microsecond.
    pub first: Duration,
    /// The minimum time before an arrival is sent again. If it is longer than `first`, it counts as
    /// `first`.
    pub least: Duration,
    /// The maximum time before a packet is sent again. The time doubles with each repetition, up to
    /// this maximum. If it is shorter than `first`, it counts as `first`.
    pub most: Duration,
}

impl Default for Resending {
    fn default() -> Resending {
        Resending {
            first: Duration::from_millis(2),
            least: Duration::from_micros(100),
            most: Duration::from_millis(200),
        }
    }
}

/// A member whose packets are datagrams.
#[derive(Debug)]
pub struct Udp {
    member: Member<Star>,
    group: Group,
    key: Key,
    resending: Resending,
    channels: BTreeMap<Id, Channel>,
    timers: BTreeSet<(Duration, Id)>,
    /// The arrival that has not been answered, the time of the arrival, the time at which it is
    /// sent again, and the pause before that.
    arrival: Option<(ViewId, u64)>,
    arrived_at: Duration,
    arrival_at: Duration,
    arrival_pause: Duration,
    is_repeated: bool,
    /// The mean time from an arrival to its release.
    released_after: Option<Duration>,
    /// The number of successive arrivals, up to the last one, that were sent again.
    repeated: u32,
    /// The time at which this member asks the members for which it waits whether they still take
    /// part.
    probe_at: Option<Duration>,
    /// Whether this member got the last release in a separate packet.
    is_alone: bool,
    /// For each member, the last epoch at which it has arrived, and the number of successive
    /// releases before this arrival that the member got separately.
    alone: BTreeMap<Id, (u64, u32)>,
    /// Until this time, each member gets a separate release.
    one_by_one_until: Duration,
    /// The members that get no more messages through a new channel after this member's barriers
    /// have ended: they have got one, or they were lost. With the number of bytes that have come
    /// from each of them and were not answered.
    farewelled: BTreeMap<Id, usize>,
    out: std::collections::VecDeque<(Recipient, Body)>,
}

/// The group's secret. `Debug` does not show it.
struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    fn new(secret: &[u8], group: Group) -> Key {
        let mut hasher = blake3::Hasher::new_derive_key("manganese barrier datagrams 1");
        hasher.update(&group.0.to_le_bytes());
        hasher.update(secret);
        Key(hasher.finalize().into())
    }

    fn code(&self, packet: &[u8]) -> [u8; CODE] {
        let hash = blake3::keyed_hash(&self.0, packet);
        hash.as_bytes()[..CODE]
            .try_into()
            .expect("a hash is longer")
    }

    fn open<'p>(&self, packet: &'p [u8]) -> Option<&'p [u8]> {
        let (packet, code) = packet.split_at_checked(packet.len().checked_sub(CODE)?)?;
        bool::from(self.code(packet).ct_eq(code)).then_some(packet)
    }
}

impl Udp {
    /// A member of a new group. Only processes of the job may know the secret. Each group with the
    /// same secret must have a different name, because an attacker could repeat packets of an
    /// earlier group.
    ///
    /// # Errors
    /// As for [`Member::new`].
    pub fn new(
        group: Group,
        me: Id,
        view: &View,
        combine: Combine,
        secret: &[u8],
        resending: Resending,
    ) -> Result<Udp, ViewError> {
        let member = Member::new(group, me, view, Star::default(), combine)?;
        Ok(Udp::with(member, group, secret, resending))
    }

    /// A member that joins a group; see [`Member::join`].
    ///
    /// # Errors
    /// As for [`Member::join`].
    pub fn join(
        group: Group,
        me: Id,
        contacts: &[Id],
        combine: Combine,
        secret: &[u8],
        resending: Resending,
    ) -> Result<Udp, ViewError> {
        let member = Member::join(group, me, contacts, Star::default(), combine)?;
        let mut udp = Udp::with(member, group, secret, resending);
        udp.after(Duration::ZERO);
        Ok(udp)
    }

    fn with(mut member: Member<Star>, group: Group, secret: &[u8], resending: Resending) -> Udp {
        member.answer_again();
        let first = resending.first.max(PAUSE_MIN);
        let most = resending.most.max(first);
        let least = resending.least.clamp(PAUSE_MIN, first);
        let resending = Resending { first, least, most };
        Udp {
            member,
            group,
            key: Key::new(secret, group),
            resending,
            channels: BTreeMap::new(),
            timers: BTreeSet::new(),
            arrival: None,
            arrived_at: Duration::ZERO,
            arrival_at: Duration::ZERO,
            arrival_pause: Duration::ZERO,
            is_repeated: false,
            released_after: None,
            repeated: 0,
            probe_at: None,
            is_alone: false,
            alone: BTreeMap::new(),
            one_by_one_until: Duration::ZERO,
            farewelled: BTreeMap::new(),
            out: std::collections::VecDeque::new(),
        }
    }

    /// Takes the member's packets, puts each into the right queue, and sets the timers.
    fn after(&mut self, now: Duration) {
        while let Some((to, mut body)) = self.member.poll_body() {
            self.mark(&mut body);
            match (&to, &body) {
                (Recipient::All(view) | Recipient::Each(view), _) => {
                    self.release(now, view, body);
                }
                (_, Body::Signal { .. }) => self.out.push_back((to, body)),
                // The receiver repeats the packet that this packet answers, so a single packet is
                // enough.
                (Recipient::Member(other), Body::Excluded) if self.member.is_gone(*other) => {
                    self.out.push_back((to, body));
                }
                (Recipient::Member(other), _) if self.member.is_lost(*other) => {
                    self.out.push_back((to, body));
                }
                (Recipient::Member(other), _) => {
                    let packet = encode(self.group, self.member.id(), to.member(), &body);
                    self.channels.entry(*other).or_default().push(&packet);
                    self.flush(now, *other);
                }
            }
        }
        let arrival = self
            .member
            .unanswered()
            .map(|(view, epoch, ..)| (view, epoch));
        if arrival != self.arrival {
            self.arrival = arrival;
            self.arrived_at = now;
            self.is_repeated = false;
            self.arrival_pause = self.first_pause();
            self.arrival_at = now + self.arrival_pause;
        }
        // A member with an unanswered arrival need not ask, because the root answers the repeated
        // arrival.
        let waits = self.arrival.is_none() && self.member.is_waiting();
        let next = self.probe_at.unwrap_or(now + self.resending.most);
        self.probe_at = waits.then_some(next);
    }

    /// Records the time from an arrival to its release. `is_repeated` says whether the arrival was
    /// sent again.
    fn released(&mut self, took: Duration, is_repeated: bool) {
        if is_repeated {
            self.repeated = self.repeated.saturating_add(1);
            return;
        }
        self.repeated = 0;
        let mean = self.released_after.unwrap_or(took);
        self.released_after = Some((mean * (MEAN_SHARE - 1) + took) / MEAN_SHARE);
    }

    /// The pause before an arrival is sent again for the first time.
    fn first_pause(&self) -> Duration {
        let first = self.resending.first;
        let Some(mean) = self.released_after else {
            return first;
        };
        let pause = (mean * AGAIN_TIMES).max(self.resending.least);
        pause.saturating_mul(1 << self.repeated.min(16)).min(first)
    }

    /// Handles a member's arrival, with its report whether it got the last release separately.
    fn arrived(&mut self, now: Duration, from: Id, epoch: u64, is_alone: bool) {
        let (last, count) = self.alone.entry(from).or_default();
        // A repeated arrival contains nothing new.
        if epoch <= *last {
            return;
        }
        *last = epoch;
        *count = if is_alone { *count + 1 } else { 0 };
        if *count >= ALONE_MAX && now >= self.one_by_one_until {
            self.alone.values_mut().for_each(|(_, count)| *count = 0);
            self.one_by_one_until = now + MULTICAST_PAUSE;
        }
    }

    /// Marks an arrival of this member. Other packets stay as they are.
    fn mark(&self, body: &mut Body) {
        match body {
            Body::Signal { round, .. } if *round == ARRIVAL && self.is_alone => {
                *round = ARRIVAL_ALONE;
            }
            _ => {}
        }
    }

    /// Sends a release to all members: as one packet, or to each member separately.
    fn release(&mut self, now: Duration, view: &View, body: Body) {
        if self.alone.len() > view.len() {
            self.alone.retain(|id, _| view.contains(*id));
        }
        let to = match now < self.one_by_one_until {
            true => Recipient::Each(view.clone()),
            false => Recipient::All(view.clone()),
        };
        self.out.push_back((to, body));
    }

    fn flush(&mut self, now: Duration, other: Id) {
        let Some(channel) = self.channels.get_mut(&other) else {
            return;
        };
        let before = channel.timer;
        channel.flush(now, self.resending, |body| {
            self.out.push_back((Recipient::Member(other), body));
        });
        let after = channel.timer;
        self.set_timer(other, before, after);
    }

    fn set_timer(&mut self, other: Id, before: Option<Duration>, after: Option<Duration>) {
        if before != after {
            self.timers
                .retain(|(at, id)| Some(*at) != before || *id != other);
            self.timers.extend(after.map(|at| (at, other)));
        }
    }

    fn forget(&mut self, other: Id) {
        self.alone.remove(&other);
        self.farewelled.entry(other).or_default();
        if let Some(channel) = self.channels.remove(&other) {
            self.set_timer(other, channel.timer, None);
        }
    }

    /// Answers a packet that has come from a member after this member's barriers have ended.
    /// Returns whether nothing else has to be done.
    fn has_answered(&mut self, from: Id, len: usize, body: &Body) -> bool {
        if !self.farewelled.contains_key(&from) && !self.member.is_lost(from) {
            let is_answered = matches!(body, Body::Signal { .. } | Body::Probe);
            if is_answered {
                // The answer is sent again until it has arrived, so it is enough.
                self.farewelled.insert(from, 0);
            }
            return false;
        }
        if self.channels.contains_key(&from) {
            if *body == Body::Excluded {
                // The sender no longer accepts packets from this member.
                self.forget(from);
            }
            return !matches!(body, Body::Part { .. } | Body::Received { .. });
        }
        if matches!(
            body,
            Body::Gone { .. } | Body::Excluded | Body::Received { .. }
        ) {
            return true;
        }
        // A member that waits repeats its packets, so a single packet is enough.
        let gone = self.member.gone();
        let answer = encode(self.group, self.member.id(), Some(from), &gone);
        let heard = self.farewelled.entry(from).or_default();
        *heard += len;
        if let Some(left) = heard.checked_sub(answer.len() + CODE) {
            *heard = left;
            self.out.push_back((Recipient::Member(from), gone));
        }
        true
    }

    fn on_part(&mut self, now: Duration, from: Id, body: Body) -> Result<(), Refused> {
        let channel = self.channels.entry(from).or_default();
        let before = channel.timer;
        let mut message = None;
        match body {
            Body::Part {
                number,
                received,
                is_last,
                bytes,
            } => {
                channel.acknowledged(received);
                message = channel.receive(number, is_last, &bytes);
                let received = channel.received();
                self.out
                    .push_back((Recipient::Member(from), Body::Received { received }));
            }
            Body::Received { received } => channel.acknowledged(received),
            _ => {}
        }
        let after = channel.timer;
        self.set_timer(from, before, after);
        self.flush(now, from);
        let Some(message) = message else {
            return Ok(());
        };
        let (told, body) = decode(&message, self.group, self.member.id())?;
        if told != from {
            return Err(Refused::Sender { told, from });
        }
        self.member.on_body(from, body)
    }
}

impl Barrier for Udp {
    fn id(&self) -> Id {
        self.member.id()
    }

    fn view(&self) -> &View {
        self.member.view()
    }

    fn arrive(&mut self, now: Duration, value: u64) -> Result<u64, Misuse> {
        let epoch = self.member.arrive(now, value);
        self.after(now);
        epoch
    }

    fn leave(&mut self, now: Duration) -> Result<(), Misuse> {
        let left = self.member.leave(now);
        self.after(now);
        left
    }

    fn abandon(&mut self, now: Duration) {
        self.member.abandon(now);
        // These are single packets, which are not sent again.
        while let Some((to, body)) = self.member.poll_body() {
            if let Some(other) = to.member() {
                self.farewelled.entry(other).or_default();
            }
            self.out.push_back((to, body));
        }
        self.channels.clear();
        self.timers.clear();
    }

    fn receive(&mut self, now: Duration, from: Id, packet: &[u8]) -> Result<(), Refused> {
        let packet = self.key.open(packet).ok_or(Refused::Forged)?;
        let (told, mut body) = decode(packet, self.group, self.member.id())?;
        if told != from {
            return Err(Refused::Sender { told, from });
        }
        // If processes that are not concerned answered, one packet for all members would cause many
        // answers.
        let is_member = self.view().contains(from) && !self.member.is_gone(from);
        if is_for_all(packet) && (self.member.has_ended() || !is_member) {
            return Err(Refused::Stranger { member: from });
        }
        if self.member.has_ended() && self.has_answered(from, packet.len() + CODE, &body) {
            return Ok(());
        }
        let mut is_release = false;
        let mut arrived = None;
        if let Body::Signal { round, epoch, .. } = &mut body {
            is_release = *round == RELEASE;
            let is_alone = *round == ARRIVAL_ALONE;
            if is_alone || *round == ARRIVAL {
                *round = ARRIVAL;
                arrived = Some((*epoch, is_alone));
            }
        }
        let (before, since, is_repeated) = (self.arrival, self.arrived_at, self.is_repeated);
        let is_verdict = body == Body::Excluded;
        let is_part = matches!(body, Body::Part { .. } | Body::Received { .. });
        let taken = match is_part && !self.member.is_lost(from) {
            true => self.on_part(now, from, body),
            false => self.member.on_body(from, body),
        };
        if let (Ok(()), Some((epoch, is_alone))) = (&taken, arrived) {
            self.arrived(now, from, epoch, is_alone);
        }
        self.after(now);
        if is_verdict && self.member.has_ended() {
            // The sender no longer accepts packets from this member.
            self.forget(from);
        }
        if is_release && self.arrival != before {
            self.is_alone = !is_for_all(packet);
            self.released(now.saturating_sub(since), is_repeated);
        }
        taken
    }

    fn lost(&mut self, now: Duration, member: Id) {
        self.member.lost(now, member);
        self.forget(member);
        self.after(now);
    }

    fn timeout(&mut self, now: Duration) {
        while let Some((_, other)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            if let Some(channel) = self.channels.get_mut(&other) {
                channel.expired(self.resending);
            }
            match self.member.is_lost(other) {
                true => self.forget(other),
                false => self.flush(now, other),
            }
        }
        if self.arrival.is_some() && self.arrival_at <= now {
            self.arrival_pause = (2 * self.arrival_pause).min(self.resending.most);
            self.arrival_at = now + self.arrival_pause;
            self.is_repeated = true;
            if let Some((_, _, root, mut body)) = self.member.unanswered() {
                self.mark(&mut body);
                self.out.push_back((Recipient::Member(root), body));
            }
        }
        if self.probe_at.is_some_and(|at| at <= now) {
            self.probe_at = None;
            for other in self.member.waits_for() {
                self.out.push_back((Recipient::Member(other), Body::Probe));
            }
        }
        self.after(now);
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let channel = self.timers.first().map(|(at, _)| *at);
        let arrival = self.arrival.map(|_| self.arrival_at);
        let all = [channel, arrival, self.probe_at];
        all.into_iter().flatten().min()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        let (to, body) = self.out.pop_front()?;
        let mut packet = encode(self.group, self.member.id(), to.member(), &body);
        packet.extend(self.key.code(&packet));
        Some(Transmit { to, packet })
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.member.poll_event()
    }

    fn waits_for(&self) -> Vec<Id> {
        self.member.waits_for()
    }

    fn is_lost(&self, member: Id) -> bool {
        self.member.is_lost(member)
    }

    fn is_settled(&self) -> bool {
        self.out.is_empty() && (self.timers.is_empty() || self.member.is_outside())
    }
}
