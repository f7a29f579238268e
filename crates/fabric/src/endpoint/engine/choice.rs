//! The choice between one copy and two copies for the long messages of a link. The choice is
//! measured while the link is in use.
//!
//! A message can go through shared memory, which takes two copies. Or the receiver can read it from
//! its sender's memory with a system call, which takes one copy. The faster way depends on the
//! length, on the load, and on the machine, so each receiver measures both ways for each class of
//! lengths. In a trial, the receiver receives some megabytes in the current way, then in the other
//! way, then in the current way again. It changes to the other way if that was clearly faster than
//! the current way both times. If the other way turns out to be far slower, the trial ends after a
//! few messages. Trials that change nothing become rarer. The receiver states the way that it wants
//! with each acceptance ([`SHOW`](super::super::head::SHOW)).
//!
//! If long messages go in both directions, a change in one direction alone gains nothing, because
//! one end would then make all the copies. So one end leads, and the other end adopts the leader's
//! choice.
//!
//! A process with many peers on its host shares the processors with them. The rate of one link then
//! depends on the work of all other processes at that time, and the trials of the processes
//! coincide. So in such a process, messages below 1 MiB ([`SHARING_SHORTEST`]) take two copies.

use std::time::Duration;

/// The way in which a message is transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    /// Read from its sender's memory.
    One,
    /// Through shared memory.
    Two,
}

/// Classes of lengths are powers of two, from 16 KiB to 16 MiB and above. Shorter messages are sent
/// eagerly.
const SHORTEST: u32 = 14;
const LONGEST: u32 = 24;
const CLASSES: usize = (LONGEST - SHORTEST + 1) as usize;

/// The shortest class of lengths that is measured by a process that shares processors: 1 MiB.
const SHARING_SHORTEST: u32 = 20;

/// The number of bytes in one part of a trial. The first parts take about 200 us on a fast machine.
/// The number doubles after each trial that changes nothing, up to `PART_MAX`. A part has at least
/// `PART_MESSAGES` messages.
const PART_MIN: u64 = 2 << 20;
const PART_MAX: u64 = 16 << 20;
const PART_MESSAGES: u64 = 4;

/// After a change, messages that were announced before still come the old way. Programs send in
/// bursts, so these messages are about one burst. A part has at least the length of this number of
/// bursts, because the rate differs between the beginning and the end of a burst.
const PART_BURSTS: u64 = 4;

/// The measurement of a part begins after `SETTLING_BURSTS` bursts, or after 1/`SETTLING` of a part
/// if that is longer. Until then, one of the ends may still be busy with messages that came the old
/// way.
const SETTLING_BURSTS: u64 = 2;
const SETTLING: u64 = 4;

/// Up to 1/`STRAY` of the bytes may come the other way while a part is measured, because some
/// messages can only come in two copies.
const STRAY: u64 = 8;

/// If the measurement of a part has not begun after `LATE_MAX` bytes and after `LATE_PARTS` times
/// the length of a part, the trial ends: the other end does not give the addresses of its messages,
/// or most messages cannot come this way.
const LATE_MAX: u64 = 256 << 20;
const LATE_PARTS: u64 = 8;

/// At first, one part lies between two trials. The number doubles each time a trial changes
/// nothing, at most this number of times. So trials cost little in the long run.
const STAYS_MAX: u32 = 6;

/// The factor by which the other way must be faster. Smaller differences are noise.
const CLEARLY: f64 = 1.05;

/// A trial ends early if the other way has less than `FAR_SLOWER` of the first rate. The rate of
/// the other way is measured from its first message on, over at least `FIRST_MESSAGES` messages and
/// `FIRST_BYTES` bytes.
const FAR_SLOWER: f64 = 0.6;
const FIRST_MESSAGES: u64 = 2;
const FIRST_BYTES: u64 = 1 << 20;

/// The leader's choice is in force for this number of messages.
const FOLLOWED: u32 = 64;

/// The measurements of the receiver of a link's messages.
pub(super) struct Choice {
    classes: [Class; CLASSES],
    /// Set if the other end leads.
    follows: bool,
    shares_processors: bool,
}

struct Class {
    /// The current way, apart from trials.
    used: Copies,
    trial: Option<Trial>,
    /// Bytes until the next trial.
    until: u64,
    /// The number of trials that changed nothing, up to [`STAYS_MAX`].
    stays: u32,
    /// Bytes that came the old way after the last change.
    burst: u64,
    /// The bytes of [`PART_MESSAGES`] messages of the class.
    shortest: u64,
    /// The number of messages for which the leader's choice is still in force.
    followed: u32,
}

#[derive(Default)]
struct Trial {
    /// The rates of the completed parts, in bytes per second.
    rates: Vec<f64>,
    /// The time at which the measurement of the current part began.
    since: Option<Duration>,
    /// The bytes that came the wanted way (`wanted`) and the other way (`stray`) since that time.
    /// Before the measurement, both counts begin again at 0 while too many bytes come the other
    /// way.
    wanted: u64,
    stray: u64,
    /// The bytes that came before the measurement, while too many bytes still came the other way.
    late: u64,
    /// In the part that tries the other way: the time since which messages come only in that way,
    /// and the bytes of these messages.
    first: Option<(Duration, u64)>,
}

fn class_of(len: usize) -> Option<usize> {
    let power = len.checked_ilog2()?;
    (power >= SHORTEST).then(|| (power.min(LONGEST) - SHORTEST) as usize)
}

/// The class of a length as a bit, or 0 for a length that is in no class.
pub(super) fn bit_of(len: usize) -> u32 {
    class_of(len).map_or(0, |class| 1 << class)
}

impl Choice {
    pub(super) fn new(follows: bool) -> Box<Choice> {
        let class = |index| Class {
            used: Copies::Two,
            trial: None,
            until: PART_MIN,
            stays: 0,
            burst: 0,
            shortest: PART_MESSAGES << (index as u32 + SHORTEST + 1),
            followed: 0,
        };
        Box::new(Choice {
            classes: std::array::from_fn(class),
            follows,
            shares_processors: false,
        })
    }

    /// Sets whether this process shares the processors with its peers.
    pub(super) fn share_processors(&mut self, shares_processors: bool) {
        self.shares_processors = shares_processors;
    }

    /// The class of a length, unless all its messages take two copies.
    fn choosing(&self, len: usize) -> Option<usize> {
        let least = match self.shares_processors {
            true => (SHARING_SHORTEST - SHORTEST) as usize,
            false => 0,
        };
        class_of(len).filter(|class| *class >= least)
    }

    /// The way that is wanted for messages of this length from now on.
    pub(super) fn wanted(&self, len: usize) -> Copies {
        let class = self.choosing(len);
        class.map_or(Copies::Two, |class| self.classes[class].wanted())
    }

    /// Adopts the leader's choice: the leader wants to receive our messages of this length in this
    /// way.
    pub(super) fn led(&mut self, len: usize, wanted: Copies) {
        if !self.follows {
            return;
        }
        if let Some(class) = self.choosing(len) {
            let class = &mut self.classes[class];
            (class.used, class.trial, class.followed) = (wanted, None, FOLLOWED);
        }
    }

    /// Counts received bytes of a message of this length. `now` is called only in trials.
    pub(super) fn came(
        &mut self,
        len: usize,
        copies: Copies,
        (bytes, is_last): (usize, bool),
        now: impl Fn() -> Duration,
    ) {
        let Some(index) = self.choosing(len) else {
            return;
        };
        let class = &mut self.classes[index];
        if class.followed > 0 {
            class.followed -= u32::from(is_last);
            return;
        }
        let (part, wanted) = (class.part(), class.wanted());
        let Some(trial) = &mut class.trial else {
            class.until = class.until.saturating_sub(bytes as u64);
            if class.until == 0 {
                class.trial = Some(Trial::default());
            }
            return;
        };
        match copies == wanted {
            true => trial.wanted += bytes as u64,
            false => trial.stray += bytes as u64,
        }
        if let (&[before], None) = (&trial.rates[..], trial.since) {
            let least = FIRST_BYTES.max(FIRST_MESSAGES * len as u64);
            if copies == wanted && trial.is_far_slower(bytes as u64, least, before, &now) {
                return class.end_far_slower();
            }
            if copies != wanted {
                trial.first = None;
            }
        }
        let all = trial.wanted + trial.stray;
        let is_pure = trial.stray <= all / STRAY;
        let Some(since) = trial.since else {
            let burst = if trial.late > 0 {
                trial.late
            } else {
                class.burst
            };
            if !is_pure && all >= part / SETTLING {
                trial.late += all;
                (trial.wanted, trial.stray) = (0, 0);
                if trial.late > LATE_MAX.max(LATE_PARTS * part) {
                    class.end(class.used);
                }
            } else if is_pure && all >= (SETTLING_BURSTS * burst).max(part / SETTLING) {
                class.burst = burst;
                trial.since = Some(now());
                (trial.wanted, trial.stray) = (0, 0);
            }
            return;
        };
        if all < part {
            return;
        }
        if !is_pure {
            return class.end(class.used);
        }
        let time = now().saturating_sub(since).as_secs_f64().max(1e-9);
        let mut rates = std::mem::take(&mut trial.rates);
        rates.push(all as f64 / time);
        if let [before, rate, after] = rates[..] {
            let is_quicker = rate > CLEARLY * before.max(after);
            let (used, other) = (class.used, class.used.other());
            return class.end(if is_quicker { other } else { used });
        }
        class.trial = Some(Trial {
            rates,
            ..Trial::default()
        });
    }
}

impl Trial {
    /// Counts bytes that came the other way, from the first on. Returns whether this way is far
    /// slower than the rate `before`, as soon as at least `least` bytes have come.
    fn is_far_slower(
        &mut self,
        bytes: u64,
        least: u64,
        before: f64,
        now: impl Fn() -> Duration,
    ) -> bool {
        let Some((since, count)) = &mut self.first else {
            // The time that these bytes took is unknown.
            self.first = Some((now(), 0));
            return false;
        };
        let was_enough = *count >= least;
        *count += bytes;
        if was_enough || *count < least {
            return false;
        }
        let time = now().saturating_sub(*since).as_secs_f64();
        (*count as f64) < FAR_SLOWER * before * time
    }
}

impl Class {
    /// The way that is wanted for the next messages. In the middle part of a trial, this is the
    /// other way.
    fn wanted(&self) -> Copies {
        match &self.trial {
            Some(trial) if trial.rates.len() == 1 => self.used.other(),
            _ => self.used,
        }
    }

    /// The number of bytes in a part of a trial.
    fn part(&self) -> u64 {
        let least = self.shortest.max(PART_BURSTS * self.burst);
        least.max((PART_MIN << self.stays).min(PART_MAX))
    }

    /// Ends a trial of a way that is far slower. The second trial of a link then comes later than
    /// usual.
    fn end_far_slower(&mut self) {
        self.stays = self.stays.max(1);
        self.end(self.used);
    }

    /// Ends the trial. Messages are to come in this way from now on.
    fn end(&mut self, used: Copies) {
        if self.used == used {
            self.stays = (self.stays + 1).min(STAYS_MAX);
        }
        (self.used, self.trial) = (used, None);
        self.until = self.part() << self.stays;
    }
}

impl Copies {
    fn other(self) -> Copies {
        match self {
            Copies::One => Copies::Two,
            Copies::Two => Copies::One,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1 << 10;

    /// A model of a link, with a given time per message for each way. Messages that were announced
    /// before a change still come the old way.
    struct Model {
        choice: Box<Choice>,
        now: Duration,
        in_flight: std::collections::VecDeque<Copies>,
        window: usize,
        sent: usize,
        received: usize,
        /// One of `unshown` messages can only be sent in two copies.
        unshown: usize,
        /// The program pauses after each burst: of this number of messages, for these nanoseconds.
        pause: Option<(usize, u64)>,
    }

    impl Model {
        fn new(window: usize) -> Model {
            Model {
                choice: Choice::new(false),
                now: Duration::ZERO,
                in_flight: Default::default(),
                window,
                sent: 0,
                received: 0,
                unshown: usize::MAX,
                pause: None,
            }
        }

        /// Sends messages. Returns the share of the messages that came in one copy.
        fn run(&mut self, len: usize, count: usize, [one, two]: [u64; 2]) -> f64 {
            let mut ones = 0;
            for _ in 0..count {
                while self.in_flight.len() < self.window {
                    self.sent += 1;
                    let copies = match self.sent % self.unshown {
                        0 => Copies::Two,
                        _ => self.choice.wanted(len),
                    };
                    self.in_flight.push_back(copies);
                }
                let copies = self.in_flight.pop_front().unwrap();
                ones += usize::from(copies == Copies::One);
                self.now += Duration::from_nanos(match copies {
                    Copies::One => one,
                    Copies::Two => two,
                });
                if let Some((burst, time)) = self.pause {
                    if self.received % burst == 0 {
                        self.now += Duration::from_nanos(time);
                    }
                }
                self.received += 1;
                let now = self.now;
                self.choice.came(len, copies, (len / 2, false), || now);
                self.choice.came(len, copies, (len - len / 2, true), || now);
            }
            ones as f64 / count as f64
        }

        /// Sends 8 GiB twice, or more if much is in flight. Returns the share of one-copy messages
        /// in the second half.
        fn settle(&mut self, len: usize, times: [u64; 2]) -> f64 {
            let count = ((8 << 30) / len).max(6000).max(400 * self.window);
            self.run(len, count, times);
            self.run(len, count, times)
        }
    }

    #[test]
    fn the_quicker_way_is_found_whatever_is_in_flight() {
        for window in [1, 16, 64, 512] {
            for len in [16 * KIB, 100 * KIB, 256 * KIB, 1 << 20, 60 << 20] {
                // With hundreds of megabytes in flight, the trial ends early; see `LATE_MAX`.
                if window > 64 && len >= 1 << 20 {
                    continue;
                }
                let mut model = Model::new(window);
                let one = model.settle(len, [1000, 2000]);
                assert!(one > 0.85, "{len} {window} {one}");
                // The result for one class does not affect the others.
                assert_eq!(model.choice.wanted(8 * KIB), Copies::Two);
                if class_of(len / 2) != class_of(len) {
                    assert_eq!(model.choice.wanted(len / 2), Copies::Two);
                }
                // The program's work changes, and two copies are now faster.
                let one = model.settle(len, [2000, 1000]);
                assert!(one < 0.15, "{len} {window} {one}");
            }
        }
    }

    #[test]
    fn trials_become_rare_where_they_change_nothing() {
        for times in [[1000, 1000], [1000, 1030], [2000, 1000]] {
            let one = Model::new(8).settle(64 * KIB, times);
            assert!(one > 0.0 && one < 0.05, "{times:?} {one}");
        }
    }

    /// Few messages use a way that is far slower, even in a program that sends little.
    #[test]
    fn a_way_that_is_far_slower_is_hardly_used() {
        for len in [16 * KIB, 64 * KIB, 256 * KIB, 1 << 20] {
            let count = (1 << 30) / len;
            let one = Model::new(64).run(len, count, [3000, 1000]);
            assert!(one > 0.0 && one < 0.15, "{len} {one}");
        }
    }

    #[test]
    fn pauses_between_bursts_do_not_count_against_a_way() {
        for (len, burst) in [(64 * KIB, 64), (256 * KIB, 16), (1 << 20, 8)] {
            let mut model = Model::new(burst);
            model.pause = Some((burst, 3000 * burst as u64));
            let one = model.settle(len, [1000, 2000]);
            assert!(one > 0.85, "{len} {one}");
        }
    }

    #[test]
    fn messages_that_cannot_be_fetched_disturb_little() {
        for unshown in [1, 2, 20, 50, 200, 300] {
            let mut model = Model::new(8);
            model.unshown = unshown;
            let one = model.settle(64 * KIB, [2000, 1000]);
            assert!(one < 0.1, "1 in {unshown}: {one}");
            let one = model.settle(64 * KIB, [1000, 2000]);
            assert!(unshown < 8 || one > 0.85, "1 in {unshown}: {one}");
            assert!(unshown > 1 || one == 0.0);
            let one = model.settle(64 * KIB, [2000, 1000]);
            assert!(one < 0.1, "1 in {unshown}, later: {one}");
        }
    }

    #[test]
    fn a_sender_that_shows_nothing_is_asked_less_and_less() {
        let mut model = Model::new(8);
        model.unshown = 1;
        model.settle(64 * KIB, [1000, 2000]);
        let mut asked = 0;
        for _ in 0..100_000 {
            model.run(64 * KIB, 1, [1000, 2000]);
            asked += u32::from(model.choice.wanted(64 * KIB) == Copies::One);
        }
        assert!(asked < 30_000, "{asked}");
    }

    #[test]
    fn among_many_processes_only_long_messages_are_measured() {
        for (len, share) in [(64 * KIB, 0.0..=0.0), (1 << 20, 0.85..=1.0)] {
            let mut model = Model::new(8);
            // One copy may have been chosen before the other processes came.
            model.settle(len, [1000, 2000]);
            model.choice.share_processors(true);
            let one = model.run(len, 6000, [1000, 2000]);
            assert!(share.contains(&(one - one % 0.01)), "{len}: {one}");
        }
    }

    #[test]
    fn the_end_that_follows_takes_over_the_leaders_choice() {
        let len = 64 * KIB;
        let mut choice = Choice::new(true);
        choice.led(len, Copies::One);
        assert_eq!(choice.wanted(len), Copies::One);
        assert_eq!(choice.wanted(4 * len), Copies::Two);
        choice.led(len, Copies::Two);
        assert_eq!(choice.wanted(len), Copies::Two);
        // If the leader receives nothing, the follower measures for itself.
        let mut model = Model::new(8);
        model.choice = choice;
        assert!(model.settle(len, [1000, 2000]) > 0.95);
        // A leader ignores the other end's choice.
        let mut leader = Choice::new(false);
        leader.led(len, Copies::One);
        assert_eq!(leader.wanted(len), Copies::Two);
    }
}
