//! Admission of connections that have not authenticated yet: the choice of the connections that are
//! dropped when there are too many, and the log of refused connections.
//!
//! Anyone can open connections and send nothing. Each such connection takes a place until the time
//! limit for authentication. While places are free, every connection gets one. When no place is
//! free, the source that holds the most places loses one. So one source cannot keep others out,
//! even if it opens very many connections. Within that source, connections that have made no
//! progress for a while are dropped first, chosen at random. If the oldest were always dropped, an
//! attacker that opens connections faster than an honest client can answer would always win.
//!
//! Nothing here does I/O, and only the logging functions read the clock.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use crate::Address;

/// A connection that has made no progress for this long is dropped before others. A step between
/// any two places on Earth takes less time.
const IDLE: Duration = Duration::from_secs(1);

/// The interval at which refused connections are logged.
const REPORT_EVERY: Duration = Duration::from_secs(10);
/// The maximum number of kinds of refusals that are counted separately.
const KINDS_MAX: usize = 16;
/// The number of kinds that a report names.
const KINDS_NAMED: usize = 3;

/// The source of connections. Addresses that one party can choose freely count as the same source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    V4(Ipv4Addr),
    /// The first half of an IPv6 address. A machine can choose the second half itself.
    V6([u16; 4]),
    /// A user of this machine.
    User(u32),
    Unknown,
}

impl Source {
    /// The user's ID, if the source is a user.
    pub fn uid(&self) -> Option<u32> {
        match self {
            Source::User(uid) => Some(*uid),
            _ => None,
        }
    }

    /// Whether the source is a network address.
    fn is_far(&self) -> bool {
        matches!(self, Source::V4(_) | Source::V6(_))
    }
}

impl From<IpAddr> for Source {
    fn from(ip: IpAddr) -> Source {
        match ip.to_canonical() {
            IpAddr::V4(ip) => Source::V4(ip),
            IpAddr::V6(ip) => {
                let [a, b, c, d, ..] = ip.segments();
                Source::V6([a, b, c, d])
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::V4(ip) => ip.fmt(out),
            Source::V6([a, b, c, d]) => {
                write!(out, "{}/64", Ipv6Addr::new(*a, *b, *c, *d, 0, 0, 0, 0))
            }
            Source::User(uid) => write!(out, "uid {uid}"),
            Source::Unknown => out.write_str("an unknown place"),
        }
    }
}

/// The places for connections that have not authenticated yet.
#[derive(Debug)]
pub struct Admission {
    places: usize,
    patience: Duration,
    /// Pending connections, in the order in which they came.
    pending: BTreeMap<u64, Pending>,
    /// The number of places that each source holds. Sources with 0 places are removed.
    sources: HashMap<Source, usize>,
    taken: usize,
    next: u64,
    /// The random source. Its keys are random, so an attacker cannot predict which connection is
    /// dropped.
    random: RandomState,
    draws: u64,
}

#[derive(Debug)]
struct Pending {
    source: Source,
    since: Instant,
    /// The time of the connection's last progress.
    stepped: Instant,
    places: usize,
}

impl Admission {
    /// Makes `places` places. A connection may hold a place for at most `patience`.
    pub fn new(places: usize, patience: Duration) -> Admission {
        Admission {
            places: places.max(1),
            patience,
            pending: BTreeMap::new(),
            sources: HashMap::new(),
            taken: 0,
            next: 0,
            random: RandomState::new(),
            draws: 0,
        }
    }

    /// Gives a new connection a place. Returns the number of the new connection, and the number of
    /// the connection that was dropped for it, if any.
    pub fn admit(&mut self, source: Source, now: Instant) -> (u64, Option<u64>) {
        let lost = match self.taken < self.places {
            true => None,
            false => self.drop_one(Some(source), now),
        };
        let number = self.next;
        self.next += 1;
        let pending = Pending {
            source,
            since: now,
            stepped: now,
            places: 1,
        };
        self.take(source, 1);
        self.pending.insert(number, pending);
        (number, lost)
    }

    /// Records progress of a connection: it has sent everything that was required so far.
    pub fn step(&mut self, number: u64, now: Instant) {
        if let Some(pending) = self.pending.get_mut(&number) {
            pending.stepped = now;
        }
    }

    /// Sets the number of places that a connection takes for its memory; the number never
    /// decreases. Returns the connections that were dropped to make room. This connection may be
    /// among them.
    pub fn resize(&mut self, number: u64, places: usize, now: Instant) -> Vec<u64> {
        if let Some(pending) = self.pending.get_mut(&number) {
            let more = places.saturating_sub(pending.places);
            pending.places += more;
            let source = pending.source;
            self.take(source, more);
        }
        let mut lost = Vec::new();
        while self.taken > self.places {
            lost.extend(self.drop_one(None, now));
        }
        lost
    }

    /// Removes a connection that has authenticated or gone.
    pub fn leave(&mut self, number: u64) {
        let Some(pending) = self.pending.remove(&number) else {
            return;
        };
        self.taken -= pending.places;
        if let Some(held) = self.sources.get_mut(&pending.source) {
            *held -= pending.places;
            if *held == 0 {
                self.sources.remove(&pending.source);
            }
        }
    }

    /// Drops a connection although places may be free. Returns `None` if no connection is pending.
    pub fn evict(&mut self, now: Instant) -> Option<u64> {
        self.drop_one(None, now)
    }

    /// Removes and returns the connections whose time limit has passed.
    pub fn expire(&mut self, now: Instant) -> Vec<u64> {
        let mut late = Vec::new();
        while self.poll_timeout().is_some_and(|end| end <= now) {
            if let Some(number) = self.pending.keys().next().copied() {
                self.leave(number);
                late.push(number);
            }
        }
        late
    }

    /// The time at which the time limit of the oldest connection ends.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let (_, oldest) = self.pending.first_key_value()?;
        Some(oldest.since + self.patience)
    }

    fn take(&mut self, source: Source, places: usize) {
        self.taken += places;
        *self.sources.entry(source).or_default() += places;
    }

    /// Drops a connection of the source that holds the most places, including the place that
    /// `newcomer` wants.
    fn drop_one(&mut self, newcomer: Option<Source>, now: Instant) -> Option<u64> {
        let load = |source: &Source, held: &usize| held + usize::from(newcomer == Some(*source));
        let sources = self.sources.iter();
        let most = sources.map(|(source, held)| load(source, held)).max()?;
        let of_most = |pending: &Pending| {
            let held = self.sources.get(&pending.source);
            held.is_some_and(|held| load(&pending.source, held) == most)
        };
        let (mut all, mut idle) = (Vec::new(), Vec::new());
        for (number, pending) in &self.pending {
            if of_most(pending) {
                all.push(*number);
                if now.saturating_duration_since(pending.stepped) >= IDLE {
                    idle.push(*number);
                }
            }
        }
        let candidates = if idle.is_empty() { all } else { idle };
        let number = candidates[self.below(candidates.len())];
        self.leave(number);
        Some(number)
    }

    fn below(&mut self, end: usize) -> usize {
        self.draws += 1;
        (self.random.hash_one(self.draws) % end as u64) as usize
    }
}

/// Counts refused connections. The log names the first refusal after a quiet period, and summarises
/// the others.
#[derive(Debug)]
pub struct Refusals {
    /// The beginning of the report: a description of the connections.
    what: &'static str,
    /// The time of the last line, if it was less than [`REPORT_EVERY`] ago.
    since: Option<Instant>,
    counts: HashMap<(Source, String), u64>,
    others: u64,
}

impl Default for Refusals {
    fn default() -> Refusals {
        Refusals::of("connections that were closed before they had authenticated")
    }
}

impl Refusals {
    /// Counts the connections that `what` describes, as the subject of a sentence.
    pub fn of(what: &'static str) -> Refusals {
        Refusals {
            what,
            since: None,
            counts: HashMap::new(),
            others: 0,
        }
    }

    /// Records a refused connection. Returns whether to log it individually.
    #[must_use]
    pub fn note(&mut self, source: Source, why: &str, now: Instant) -> bool {
        if self.since.is_none() {
            self.since = Some(now);
            return true;
        }
        let key = (source, why.to_owned());
        if self.counts.len() < KINDS_MAX || self.counts.contains_key(&key) {
            *self.counts.entry(key).or_default() += 1;
        } else {
            self.others += 1;
        }
        false
    }

    /// Logs a refused connection, or counts it for the next report. `who` names the connection in
    /// the log.
    pub fn log(&mut self, source: Source, who: &str, listener: Option<&Address>, why: &str) {
        if self.note(source, why, Instant::now()) {
            tracing::warn!(
                target: "audit",
                event = "refused",
                uid = source.uid(),
                address = source.is_far().then(|| tracing::field::display(source)),
                listener = listener.map(tracing::field::display),
                "{who} was turned away: {why}"
            );
        }
    }

    /// Logs the report about counted connections, when it is due.
    pub fn log_report(&mut self) {
        if let Some(report) = self.report(Instant::now()) {
            tracing::warn!(target: "audit", event = "refusals", "{report}");
        }
    }

    /// The report about the connections since the last line, when it is due.
    pub fn report(&mut self, now: Instant) -> Option<String> {
        self.poll_timeout().filter(|due| *due <= now)?;
        if self.counts.is_empty() {
            self.since = None;
            return None;
        }
        self.since = Some(now);
        let mut counts: Vec<_> = std::mem::take(&mut self.counts).into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let unnamed = counts.iter().skip(KINDS_NAMED).map(|(_, count)| count);
        let others = unnamed.sum::<u64>() + std::mem::take(&mut self.others);
        let named = counts.iter().take(KINDS_NAMED);
        let mut parts: Vec<String> = named
            .map(|((source, why), count)| format!("{count} from {source} ({why})"))
            .collect();
        if others > 0 {
            parts.push(format!("{others} others"));
        }
        Some(format!(
            "{} in the last {} s: {}",
            self.what,
            REPORT_EVERY.as_secs(),
            parts.join(", ")
        ))
    }

    /// The time at which [`Refusals::report`] is due next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        Some(self.since? + REPORT_EVERY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(5);
    const MS: Duration = Duration::from_millis(1);

    fn v4(last: u8) -> Source {
        Source::V4(Ipv4Addr::new(10, 0, 0, last))
    }

    #[test]
    fn addresses_that_one_party_can_choose_are_one_source() {
        let source = |text: &str| Source::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(source("2001:db8::1"), source("2001:db8::ffff:1:2:3"));
        assert_ne!(source("2001:db8::1"), source("2001:db8:0:1::1"));
        assert_eq!(source("::ffff:10.0.0.1"), v4(1));
        assert_eq!(source("2001:db8:0:1::1").to_string(), "2001:db8:0:1::/64");
    }

    #[test]
    fn nobody_is_dropped_while_there_are_places() {
        let mut places = Admission::new(1000, TIMEOUT);
        let now = Instant::now();
        for _ in 0..10 {
            let all: Vec<_> = (0..1000).map(|_| places.admit(v4(1), now)).collect();
            for (number, lost) in all {
                assert_eq!(lost, None);
                places.leave(number);
            }
        }
        assert_eq!(places.poll_timeout(), None);
        assert!(places.sources.is_empty() && places.taken == 0);
    }

    #[test]
    fn the_source_that_holds_the_most_gives_up_a_place() {
        let mut places = Admission::new(64, TIMEOUT);
        let now = Instant::now();
        // One source cannot push out connections from other sources.
        let (honest, _) = places.admit(v4(1), now);
        let mut lost = Vec::new();
        for step in 0..10_000 {
            lost.extend(places.admit(v4(2), now + step * MS / 10).1);
        }
        let (late, pushed) = places.admit(v4(3), now + MS);
        assert!(!lost.contains(&honest) && pushed.is_some_and(|out| out != honest));
        assert!(places.pending.contains_key(&honest) && places.pending.contains_key(&late));
        assert_eq!(places.taken, 64);
        // Two sources that want all places get half each.
        for _ in 0..1000 {
            places.admit(v4(4), now + MS);
        }
        let held = |source| places.sources[&source];
        assert!(held(v4(2)).abs_diff(held(v4(4))) <= 1, "{places:?}");
    }

    #[test]
    fn chance_decides_within_a_source_and_those_who_proceed_come_first() {
        let mut places = Admission::new(64, TIMEOUT);
        let mut now = Instant::now();
        // An honest connection takes 300 ms, while its source opens 300 others per second. If the
        // oldest connections were dropped, the honest one would always be pushed out.
        let mut stayed = 0;
        for _ in 0..400 {
            let (honest, _) = places.admit(v4(1), now);
            let mut is_there = true;
            for _ in 0..90 {
                now += MS * 10 / 3;
                is_there &= places.admit(v4(1), now).1 != Some(honest);
            }
            stayed += i32::from(is_there);
            places.leave(honest);
        }
        // With random choice, (63/64)^90 = 24 % of the honest connections stay.
        assert!((50..200).contains(&stayed), "{stayed} of 400");
        // If some connections have been idle for long, only those are dropped.
        let mut places = Admission::new(64, TIMEOUT);
        for _ in 0..64 {
            places.admit(v4(1), now);
        }
        now += IDLE;
        let (honest, _) = places.admit(v4(1), now);
        for _ in 0..60 {
            now += 5 * MS;
            assert_ne!(places.admit(v4(1), now).1, Some(honest));
        }
        now += IDLE;
        places.step(honest, now);
        for _ in 0..60 {
            assert_ne!(places.admit(v4(1), now).1, Some(honest));
        }
    }

    #[test]
    fn memory_takes_places() {
        let mut places = Admission::new(64, TIMEOUT);
        let now = Instant::now();
        let (honest, _) = places.admit(v4(1), now);
        for _ in 0..1000 {
            let (number, _) = places.admit(v4(2), now);
            assert!(!places.resize(number, 5, now).contains(&honest));
            assert!(places.taken <= 64);
        }
        assert!(places.pending.len() < 16);
        assert!(places.evict(now).is_some_and(|out| out != honest));
        // A connection that alone exceeds the limit is dropped.
        let mut places = Admission::new(4, TIMEOUT);
        let (number, _) = places.admit(v4(1), now);
        assert_eq!(places.resize(number, 5, now), [number]);
        assert_eq!(places.evict(now), None);
    }

    #[test]
    fn time_runs_from_the_beginning_whatever_is_said() {
        let mut places = Admission::new(64, TIMEOUT);
        let start = Instant::now();
        let (first, _) = places.admit(v4(1), start);
        let (second, _) = places.admit(v4(1), start + MS);
        places.step(first, start + 4999 * MS);
        assert!(places.expire(start + 4999 * MS).is_empty());
        assert_eq!(places.poll_timeout(), Some(start + TIMEOUT));
        assert_eq!(places.expire(start + TIMEOUT), [first]);
        assert_eq!(places.expire(start + 2 * TIMEOUT), [second]);
        assert_eq!(places.poll_timeout(), None);
    }

    #[test]
    fn refusals_are_logged_now_and_then() {
        let mut refusals = Refusals::default();
        let start = Instant::now();
        assert_eq!(refusals.poll_timeout(), None);
        assert!(refusals.note(v4(7), "it sent nothing", start));
        for ms in 0..312 {
            assert!(!refusals.note(v4(7), "it sent nothing", start + ms * MS));
        }
        assert!(!refusals.note(v4(8), "it closed the connection", start + MS));
        assert_eq!(refusals.report(start + REPORT_EVERY - MS), None);
        let due = refusals.poll_timeout().unwrap();
        let line = refusals.report(due).unwrap();
        assert!(
            line.ends_with(
                ": 312 from 10.0.0.7 (it sent nothing), 1 from 10.0.0.8 (it closed the connection)"
            ),
            "{line}"
        );
        // An unlimited number of reasons takes only limited memory.
        for number in 0..10_000 {
            assert!(!refusals.note(v4(7), &format!("its version is {number}"), due));
        }
        assert_eq!(refusals.counts.len(), KINDS_MAX);
        let line = refusals.report(due + REPORT_EVERY).unwrap();
        assert!(line.ends_with(", 9997 others"), "{line}");
        // After a quiet period, the next refusal is logged individually again.
        assert_eq!(refusals.report(due + 2 * REPORT_EVERY), None);
        assert!(refusals.note(v4(7), "it closed the connection", due + 2 * REPORT_EVERY));
    }
}
