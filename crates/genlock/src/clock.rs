//! A clock that agrees with the reference's.
//!
//! As in NTP (RFC 5905), the reference's clock is read by exchanges of packets. Of every few
//! exchanges, only the one with the shortest round trip counts, because its packets have waited
//! least in queues. A line through the last of these points gives offset and drift. The common time
//! follows the line by running a little faster or slower for a while. Once the clock is settled, it
//! never goes backwards.
//!
//! A tile that becomes the reference keeps its clock and adds no more exchanges: its common time
//! goes on, and the others follow it.

use std::collections::VecDeque;

/// Exchanges in a batch. Only the best one counts.
const BATCH: usize = 8;

/// How many of these best exchanges are kept.
const POINTS: usize = 32;

/// The points that are needed to estimate the drift, and for the clock to count as settled.
const DRIFT_POINTS_MIN: usize = 4;

/// The largest error with which the clock counts as settled, in ns.
const SETTLED: f64 = 1e6;

/// The time in which an error is corrected, in ns.
const HORIZON: f64 = 0.5e9;

/// The most by which the clock runs faster or slower to correct a small error.
const SLEW: f64 = 500e-6;

/// A larger error than this, in ns, comes from a clock that has jumped: the common time jumps
/// forwards with it, or runs at half speed until it is right.
const JUMP: f64 = 20e6;

/// No two clocks drift apart faster.
const DRIFT_MAX: f64 = 1e-3;

/// Round trips that differ by less than this, in ns, are equally good.
const EVEN: f64 = 5_000.0;

/// Exchanges with times further from zero than this are ignored.
const TIME_MAX: u64 = 1 << 61;

/// An exchange with the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// By the local clock: when the question was sent.
    pub sent: i64,
    /// By the reference's clock: when the question came, and when the answer was sent.
    pub received_there: i64,
    pub sent_there: i64,
    /// By the local clock: when the answer came.
    pub received: i64,
}

/// The offset of the reference's clock at one moment of the local clock.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: f64,
    offset: f64,
    round_trip: f64,
}

/// How the common time goes on from the moment `local`: at the rate `corrected` until the moment
/// `until`, and then at `rate`, like the reference's clock.
#[derive(Clone, Copy, Debug)]
struct Course {
    local: i64,
    common: i64,
    corrected: f64,
    until: i64,
    rate: f64,
}

impl Course {
    fn common(&self, local: i64) -> i64 {
        let corrected = local.min(self.until).saturating_sub(self.local) as f64 * self.corrected;
        let after = local.saturating_sub(self.until).max(0) as f64 * self.rate;
        self.common.saturating_add((corrected + after) as i64)
    }

    fn local(&self, common: i64) -> i64 {
        let at_end = self.common(self.until);
        let (from, start, rate) = match common < at_end {
            true => (self.common, self.local, self.corrected),
            false => (at_end, self.until, self.rate),
        };
        start.saturating_add((common.saturating_sub(from) as f64 / rate) as i64)
    }
}

/// The common time of a tile that is not the reference.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    batch: Vec<Point>,
    points: VecDeque<Point>,
    course: Option<Course>,
    is_settled: bool,
    /// The latest moment for which the common time was computed.
    now: i64,
}

impl Sample {
    /// None for impossible times.
    fn point(&self) -> Option<Point> {
        let there = self.sent_there.checked_sub(self.received_there)?;
        let here = self.received.checked_sub(self.sent)?;
        let round_trip = here.checked_sub(there)?;
        let times = [self.sent, self.received_there];
        if times.iter().any(|time| time.unsigned_abs() > TIME_MAX) {
            return None;
        }
        let out = self.received_there.checked_sub(self.sent)?;
        let back = self.sent_there.checked_sub(self.received)?;
        if there < 0 || round_trip < 0 {
            return None;
        }
        Some(Point {
            at: self.sent as f64 + here as f64 / 2.0,
            offset: out as f64 / 2.0 + back as f64 / 2.0,
            round_trip: round_trip as f64,
        })
    }
}

impl Clock {
    /// The common time at a moment of the local clock. None before the first exchange. It can jump
    /// until the clock is settled.
    pub fn common(&self, local: i64) -> Option<i64> {
        self.course.map(|course| course.common(local))
    }

    /// The moment of the local clock that has this common time.
    pub fn local(&self, common: i64) -> Option<i64> {
        self.course.map(|course| course.local(common))
    }

    /// How long a span of common time is by the local clock, in ns, from the drift alone.
    pub fn local_span(&self, common: i64) -> Option<f64> {
        self.course.map(|course| common as f64 / course.rate)
    }

    /// Whether offset and drift are known well, and the common time agrees with them.
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// The most by which the common time can be wrong because the paths to and from the reference
    /// differ: half of the shortest round trip, in ns.
    pub fn uncertainty(&self) -> Option<i64> {
        let points = self.points.iter().chain(&self.batch);
        let shortest = points.map(|point| point.round_trip).reduce(f64::min);
        shortest.map(|shortest| (shortest / 2.0) as i64)
    }

    /// Takes an exchange into account. `now` is the moment by the local clock; it must not be
    /// before a moment for which the common time was requested. Exchanges with impossible times are
    /// ignored.
    pub fn add(&mut self, sample: Sample, now: i64) {
        let Some(point) = sample.point() else {
            return;
        };
        self.now = now.max(sample.received).max(self.now);
        self.batch.push(point);
        if self.course.is_none() {
            self.steer();
        }
        if self.batch.len() < BATCH {
            return;
        }
        let shorter = |a: &&Point, b: &&Point| a.round_trip.total_cmp(&b.round_trip);
        if let Some(best) = self.batch.iter().min_by(shorter).copied() {
            self.keep(best);
        }
        self.batch.clear();
        self.steer();
    }

    fn keep(&mut self, point: Point) {
        // After a jump of a clock, earlier samples are useless.
        let jumped = self.line().is_some_and(|(offset, drift, at)| {
            let expected = offset + drift * (point.at - at);
            let reach = JUMP / 4.0 + point.round_trip;
            (point.offset - expected).abs() > reach
        });
        if jumped {
            self.points.clear();
        }
        if self.points.len() == POINTS {
            self.points.pop_front();
        }
        self.points.push_back(point);
    }

    /// The offset at a moment, the drift, and that moment, by weighted least squares: points with
    /// longer round trips count less.
    fn line(&self) -> Option<(f64, f64, f64)> {
        let points: Vec<Point> = match self.points.is_empty() {
            true => self.batch.clone(),
            false => self.points.iter().copied().collect(),
        };
        let shortest = points.iter().map(|point| point.round_trip);
        let shortest = shortest.reduce(f64::min)?;
        let weight = |point: &Point| {
            let excess = (point.round_trip - shortest) / (EVEN + shortest / 8.0);
            1.0 / (1.0 + excess * excess)
        };
        let total: f64 = points.iter().map(weight).sum();
        let mean = |value: fn(&Point) -> f64| -> f64 {
            let sum: f64 = points
                .iter()
                .map(|point| weight(point) * value(point))
                .sum();
            sum / total
        };
        let (at, offset) = (mean(|point| point.at), mean(|point| point.offset));
        let (mut above, mut below) = (0.0, 0.0);
        for point in &points {
            let distance = point.at - at;
            above += weight(point) * distance * (point.offset - offset);
            below += weight(point) * distance * distance;
        }
        let drift = match points.len() >= DRIFT_POINTS_MIN && below > 0.0 {
            true => (above / below).clamp(-DRIFT_MAX, DRIFT_MAX),
            false => 0.0,
        };
        Some((offset, drift, at))
    }

    /// From now on the common time approaches the line.
    fn steer(&mut self) {
        let Some((offset, drift, at)) = self.line() else {
            return;
        };
        let now = self.now;
        let target = now as f64 + offset + drift * (now as f64 - at);
        let before = self.common(now).filter(|_| self.is_settled);
        let (common, correction, span) = match before {
            // The clock is not in use yet.
            None => (target as i64, 0.0, 0.0),
            Some(before) => {
                let error = target - before as f64;
                match error {
                    error if error > JUMP => (target as i64, 0.0, 0.0),
                    error if error < -JUMP => (before, -0.5, error / -0.5),
                    error => {
                        let correction = (error / HORIZON).clamp(-SLEW, SLEW);
                        let span = if correction == 0.0 {
                            0.0
                        } else {
                            error / correction
                        };
                        (before, correction, span)
                    }
                }
            }
        };
        let rate = 1.0 + drift;
        self.course = Some(Course {
            local: now,
            common,
            corrected: rate + correction,
            until: now.saturating_add(span as i64),
            rate,
        });
        let few = self.points.len() < DRIFT_POINTS_MIN;
        self.is_settled |= !few && (target - common as f64).abs() < SETTLED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fuzzing::Random;

    /// Exchanges every 10 ms with a reference whose clock is `offset` ahead and `drift` faster.
    struct World {
        random: Random,
        now: i64,
        offset: f64,
        drift: f64,
        clock: Clock,
    }

    impl World {
        fn new(offset: f64, drift: f64) -> World {
            World {
                random: Random::new(11),
                now: 5_000_000_000,
                offset,
                drift,
                clock: Clock::default(),
            }
        }

        fn there(&self, local: i64) -> i64 {
            (local as f64 * (1.0 + self.drift) + self.offset) as i64
        }

        /// Packets take at least `least`, and one in three takes up to `most` longer.
        fn run(&mut self, exchanges: usize, least: i64, most: i64) {
            let mut last = self.clock.common(self.now);
            for _ in 0..exchanges {
                let mut delay = || {
                    let is_long = self.random.below(3) == 0;
                    let more = if is_long {
                        self.random.below(most as usize)
                    } else {
                        0
                    };
                    least + self.random.below(2000) as i64 + more as i64
                };
                let (out, back) = (delay(), delay());
                let sent = self.now;
                let received_there = self.there(sent + out);
                let sent_there = self.there(sent + out + 3000);
                let received = sent + out + 3000 + back;
                // The clock is read in between, and the answer is processed a little late.
                let late = received + self.random.below(1_000_000) as i64;
                let was_settled = self.clock.is_settled();
                for now in [sent, received, late] {
                    let common = self.clock.common(now);
                    assert!(
                        !was_settled || common >= last,
                        "backwards from {last:?} to {common:?}"
                    );
                    last = common;
                }
                let sample = Sample {
                    sent,
                    received_there,
                    sent_there,
                    received,
                };
                self.clock.add(sample, late);
                self.now = late.max(sent + 10_000_000);
                let common = self.clock.common(self.now);
                assert!(
                    !was_settled || common >= last,
                    "backwards from {last:?} to {common:?}"
                );
                last = common;
            }
        }

        fn error(&self) -> i64 {
            self.clock.common(self.now).unwrap() - self.there(self.now)
        }
    }

    #[test]
    fn offset_and_drift_are_found() {
        for (offset, drift) in [(0.0, 0.0), (-3e9, 80e-6), (7e15, -200e-6)] {
            let mut world = World::new(offset, drift);
            assert_eq!(world.clock.common(world.now), None);
            world.run(2000, 20_000, 40_000);
            assert!(world.clock.is_settled());
            assert!(
                world.error().abs() < 5_000,
                "{offset} {drift}: {}",
                world.error()
            );
            // The common time stays right for a second without any packets.
            world.now += 1_000_000_000;
            assert!(
                world.error().abs() < 20_000,
                "{offset} {drift}: {}",
                world.error()
            );
        }
    }

    #[test]
    fn full_queues_matter_little() {
        let mut world = World::new(1e9, 50e-6);
        world.run(2000, 100_000, 8_000_000);
        assert!(world.error().abs() < 60_000, "{}", world.error());
    }

    #[test]
    fn jumps_are_followed_and_never_backwards() {
        for jump in [3e9, -3e9] {
            let mut world = World::new(0.0, 30e-6);
            world.run(1000, 20_000, 40_000);
            world.offset += jump;
            world.run(2000, 20_000, 40_000);
            assert!(world.error().abs() < 20_000, "{jump}: {}", world.error());
        }
    }

    /// If the reference is silent, a correction ends when the error is corrected.
    #[test]
    fn corrections_end() {
        for jump in [-4e6, 4e6, -3e8] {
            let mut world = World::new(0.0, 30e-6);
            world.run(400, 20_000, 40_000);
            world.offset += jump;
            // The points from before the jump count for a while. Then a correction is under way.
            world.run(280, 20_000, 40_000);
            for _ in 0..60 {
                world.now += 1_000_000_000;
                let bound = if jump < -JUMP { 2_000_000 } else { 500_000 };
                assert!(world.error() < bound, "{jump}: {}", world.error());
            }
            assert!(world.error().abs() < 500_000, "{jump}: {}", world.error());
        }
    }

    #[test]
    fn impossible_exchanges_are_ignored() {
        let mut world = World::new(1e6, 0.0);
        world.run(100, 20_000, 40_000);
        let before = format!("{:?}", world.clock);
        let times = [i64::MIN, -1, 0, 1, i64::MAX];
        for sent in times {
            for received_there in times {
                let sample = Sample {
                    sent,
                    received_there,
                    sent_there: received_there.saturating_sub(1),
                    received: sent,
                };
                world.clock.add(sample, world.now);
            }
        }
        let sample = Sample {
            sent: 10,
            received_there: 0,
            sent_there: i64::MAX,
            received: 20,
        };
        world.clock.add(sample, world.now);
        assert_eq!(format!("{:?}", world.clock), before);
    }

    #[test]
    fn common_times_have_local_ones() {
        let mut world = World::new(5e9, 100e-6);
        world.run(500, 20_000, 40_000);
        let common = world.clock.common(world.now + 777_777).unwrap();
        let local = world.clock.local(common).unwrap();
        assert!((local - world.now - 777_777).abs() <= 2);
        assert!(world.clock.uncertainty().unwrap() >= 20_000);
    }
}
