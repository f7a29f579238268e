//! Genlock of a wall from one place: a process that all tiles' servers talk to.

use crate::{Clock, Fields, Sample, Timing, Vblanks};

/// The time between two questions to a tile, in ns: `ASK_FIRST` until its clock is known, then
/// `ASK_LATER`.
const ASK_FIRST: i64 = 10_000_000;
const ASK_LATER: i64 = 40_000_000;
/// A tile with this many unanswered questions gets no more, so a server that is stopped never holds
/// up the caller.
const UNANSWERED_MAX: u32 = 4;
/// A display whose last vertical blank is older, in ns, has stopped.
const STOPPED_AFTER: i64 = 2_000_000_000;
/// How far in the future a display's last vertical blank may be, in ns: clocks are not known
/// exactly.
const AHEAD_MAX: i64 = 100_000_000;
/// The period of a display is estimated over at least this many vertical blanks.
const PERIODS_MIN: u64 = 20;
/// The bounds of a display's period, in ns. X servers report one vertical blank a second for a
/// screen that is off. A server with a false period must not slow the other tiles down much.
const PERIOD_RANGE: (f64, f64) = (1e6, 5e7);
/// After this many consecutive reports that do not fit its period, a display has another mode.
const ODD_MAX: u32 = 5;
/// A tile shows a frame at the vertical blank after that of the last frame, even if another one is
/// nearer to the planned time. It does not if that vertical blank is later than the planned time by
/// more than this part of a period.
const NEXT_WITHIN: f64 = 0.75;
/// Another display becomes the reference when it has fallen behind the reference by more than this,
/// in ns, and by more than this part of the time. The reports of vertical blanks and the drift of
/// the clocks can be wrong by this much.
const BEHIND: f64 = 5e5;
const SLOWER: f64 = 3e-5;
/// The margin that is added to the time that a frame takes to the tiles, in ns.
const MARGIN: i64 = 2_000_000;
/// No frame is planned further ahead, in ns.
const LEAD_MAX: i64 = 250_000_000;
/// The estimate of the time that a frame takes halves in this time, in ns, unless a frame takes
/// longer.
const HALF_LIFE: f64 = 5e8;

/// Decides at which vertical blank of its own display each tile shows a frame.
///
/// Common time is the time of the caller's clock, in ns. The caller asks each tile's server for its
/// clock and for the last vertical blank of its display, again and again. The displays are not
/// steered. The tile with the slowest display is the reference. It shows a frame at one of its
/// vertical blanks, and each other tile shows the frame at the nearest vertical blank of its own
/// display. Because no display is slower, each has a vertical blank of its own for every frame.
#[derive(Debug)]
pub struct Coordinator {
    tiles: Vec<Tile>,
    /// The tile that was the reference in the last plan.
    reference: Option<usize>,
    asked: i64,
    /// When the last frame is shown, and the period of the reference at that time.
    last: Option<(i64, f64)>,
}

#[derive(Debug, Default)]
struct Tile {
    has_display: bool,
    unanswered: u32,
    /// Gives the time of the tile's server for a common time.
    clock: Clock,
    display: Display,
    late: u32,
    /// When the tile was told to show a frame, if it has not reported the frame yet.
    told: Option<i64>,
    /// How long a slow frame took from `told` until the tile reported it, and when it was reported.
    lead: (f64, i64),
    /// The vertical blank of the last frame.
    last: Option<u64>,
}

/// The vertical blanks of a tile's display, by the clock of its server.
#[derive(Debug, Default)]
struct Display {
    first: Option<(u64, i64)>,
    newest: Option<(u64, i64)>,
    /// Once its period is known.
    vblanks: Option<Vblanks>,
    /// The vertical blank since which all reports have fitted the period.
    since: Option<(u64, i64)>,
    /// Reports in a row that do not fit its period.
    odd: u32,
}

/// What is known of a tile's display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// How much later than the reference the display refreshes, in ns; negative: earlier. None if
    /// it is not known, for example because the display has stopped.
    pub error: Option<i64>,
    /// How many frames have appeared later than planned.
    pub late: u32,
}

impl Coordinator {
    /// `displays` says for each tile whether it is shown on a display.
    pub fn new(displays: impl IntoIterator<Item = bool>) -> Coordinator {
        Coordinator {
            tiles: displays.into_iter().map(Tile::new).collect(),
            reference: None,
            asked: i64::MIN,
            last: None,
        }
    }

    /// Forgets what is known of a tile, because it has another server, or none.
    pub fn forget(&mut self, tile: usize) {
        self.tiles[tile] = Tile::new(self.tiles[tile].has_display);
        self.last = None;
    }

    /// Whether a tile is shown on a display.
    pub fn has_display(&self, tile: usize) -> bool {
        self.tiles[tile].has_display
    }

    /// The tiles that are to be asked now: none before [`Coordinator::ask_at`].
    pub fn ask(&mut self, now: i64) -> Vec<usize> {
        if now < self.ask_at() {
            return Vec::new();
        }
        self.asked = now;
        let mut asked = Vec::new();
        for (n, tile) in self.tiles.iter_mut().enumerate() {
            if tile.has_display && tile.unanswered < UNANSWERED_MAX {
                tile.unanswered += 1;
                asked.push(n);
            }
        }
        asked
    }

    /// When the tiles are to be asked next.
    pub fn ask_at(&self) -> i64 {
        let is_known = |tile: &Tile| tile.clock.is_settled() || tile.unanswered > 1;
        let mut displays = self.tiles.iter().filter(|tile| tile.has_display);
        let interval = match displays.all(is_known) {
            true => ASK_LATER,
            false => ASK_FIRST,
        };
        self.asked.saturating_add(interval)
    }

    /// Takes an answer of a tile's server. Of the exchange's `times`, `sent` and `received` are by
    /// the caller's clock, and the other two by the server's. `vblank` is the last vertical blank
    /// that the server knows: its number, and its time by the server's clock. `late` is the number
    /// of frames that were late. Impossible values are ignored.
    pub fn answer(&mut self, tile: usize, times: Sample, vblank: Option<(u64, i64)>, late: u32) {
        let tile = &mut self.tiles[tile];
        tile.unanswered = tile.unanswered.saturating_sub(1);
        tile.clock.add(times, times.received);
        tile.late = late;
        if let Some((number, time)) = vblank {
            tile.display.observe(number, time);
        }
    }

    /// The moment before which no further frame is to be planned: half a period before the vertical
    /// blank at which the last frame appears.
    pub fn ready_at(&self) -> i64 {
        self.last.map_or(i64::MIN, |(time, period)| {
            time.saturating_sub((period / 2.0) as i64)
        })
    }

    /// Plans a frame that is handed to tiles now. Returns for each tile the vertical blank of its
    /// own display at which it shows the frame; none: it shows the frame as soon as it can.
    pub fn plan(&mut self, tiles: &[usize], now: i64) -> Vec<Option<u64>> {
        let displays = tiles.iter().filter(|tile| self.tiles[**tile].has_display);
        let lead = displays.map(|tile| self.tiles[*tile].lead_at(now));
        let lead = (lead.fold(0.0, f64::max) as i64).min(LEAD_MAX) + MARGIN;
        for tile in tiles {
            self.tiles[*tile].told = Some(now);
        }
        self.reference = self.slowest(now);
        let Some(timing) = self.timing(now) else {
            self.last = None;
            return vec![None; tiles.len()];
        };
        let earliest = self.last.map_or(i64::MIN, |(time, period)| {
            time.saturating_add((period / 2.0) as i64)
        });
        // The last plan may be for another reference. It delays this frame by at most `LEAD_MAX`.
        let latest = now.saturating_add(LEAD_MAX);
        let earliest = earliest.min(latest);
        let ready = now.saturating_add(lead);
        let needed = self.needed(tiles, ready, now).min(latest);
        let number = timing.first_after(earliest.max(ready).max(needed), Fields::Mono);
        let time = timing.time_of(number);
        let bound = latest.saturating_add(2 * timing.period as i64);
        self.last = Some((time.min(bound), timing.period));
        let vblank = |tile: &usize| self.tiles[*tile].nearest(time, now);
        tiles.iter().map(vblank).collect()
    }

    /// The first common time to which no tile's nearest vertical blank is before `ready`. A display
    /// can refresh up to half a period before the reference, and its tile needs the frame by then.
    fn needed(&self, tiles: &[usize], ready: i64, now: i64) -> i64 {
        let known = tiles
            .iter()
            .filter_map(|tile| self.tiles[*tile].timing(now));
        let needed = known.map(|own| {
            let time = own.time_of(own.first_after(ready, Fields::Mono));
            // Times are whole nanoseconds, so one more is needed.
            time.saturating_sub((own.period / 2.0) as i64 - 1)
        });
        needed.fold(i64::MIN, i64::max)
    }

    /// A tile has reported a frame that was planned.
    pub fn shown(&mut self, tile: usize, now: i64) {
        let tile = &mut self.tiles[tile];
        let Some(told) = tile.told.take() else { return };
        let taken = now.saturating_sub(told).clamp(0, LEAD_MAX) as f64;
        if taken >= tile.lead_at(now) {
            tile.lead = (taken, now);
        }
    }

    /// What is known of each tile's display.
    pub fn phases(&self, now: i64) -> Vec<Phase> {
        let timing = self.timing(now);
        let phase = |tile: &Tile| {
            let own = tile.timing(now);
            let error = timing
                .zip(own)
                .map(|(timing, own)| timing.phase_error(own.time));
            let late = tile.late;
            Phase { error, late }
        };
        self.tiles.iter().map(phase).collect()
    }

    /// The tile with the slowest display among those that are known. Of displays that are equally
    /// slow as far as is known, the reference stays the reference, or else the first one is chosen.
    fn slowest(&self, now: i64) -> Option<usize> {
        let is_known = |tile: &usize| self.tiles[*tile].timing(now).is_some();
        let mut known = (0..self.tiles.len()).filter(is_known);
        let reference = self.reference.filter(is_known).or_else(|| known.next())?;
        let behind = |tile: usize| (tile, self.tiles[tile].behind(&self.tiles[reference]));
        let slower = known.map(behind).filter(|(_, behind)| *behind > 0.0);
        let slowest = slower.max_by(|(_, one), (_, other)| one.total_cmp(other));
        Some(slowest.map_or(reference, |(tile, _)| tile))
    }

    /// The vertical blanks of the reference.
    fn timing(&self, now: i64) -> Option<Timing> {
        let reference = self.reference.map(|tile| &self.tiles[tile]);
        let timing = reference.and_then(|tile| tile.timing(now));
        timing.or_else(|| self.tiles.iter().find_map(|tile| tile.timing(now)))
    }
}

impl Tile {
    fn new(has_display: bool) -> Tile {
        Tile {
            has_display,
            ..Tile::default()
        }
    }

    /// The vertical blanks of the tile's display, in common time.
    fn timing(&self, now: i64) -> Option<Timing> {
        if !self.clock.is_settled() {
            return None;
        }
        let (number, time, period) = self.display.last()?;
        let time = self.clock.local(time)?;
        if !(-AHEAD_MAX..=STOPPED_AFTER).contains(&now.saturating_sub(time)) {
            return None;
        }
        let timing = Timing {
            number,
            time,
            period,
        };
        timing.checked()
    }

    /// The mean period of the tile's display by the caller's clock, in ns, and the number of
    /// periods.
    fn mean_period(&self) -> Option<(f64, f64)> {
        let (first, begin) = self.display.since?;
        let (last, end, _) = self.display.last()?;
        let time = self.clock.local_span(end.saturating_sub(begin))?;
        let count = last.checked_sub(first).filter(|count| *count > 0)? as f64;
        Some((time / count, count))
    }

    /// How much later than another display this tile's display is after as many vertical blanks as
    /// both have had, in ns. It is 0 if the difference is not certain.
    fn behind(&self, other: &Tile) -> f64 {
        let Some(((own, count), (other, others))) = self.mean_period().zip(other.mean_period())
        else {
            return 0.0;
        };
        let count = count.min(others);
        let behind = (own - other) * count;
        let is_certain = behind > BEHIND && behind > SLOWER * own * count;
        match is_certain {
            true => behind,
            false => 0.0,
        }
    }

    /// The estimate of the time that a frame takes, in ns.
    fn lead_at(&self, now: i64) -> f64 {
        let (lead, at) = self.lead;
        let age = now.saturating_sub(at).max(0) as f64;
        lead * (-age / HALF_LIFE).exp2()
    }

    /// The vertical blank of the tile's display that is nearest to a common time. If the last frame
    /// has taken it, this frame gets the next one. If the next one is too far away, this frame gets
    /// the same one as the last frame, and replaces it.
    fn nearest(&mut self, time: i64, now: i64) -> Option<u64> {
        let timing = self.timing(now)?;
        let nearest = timing.nearest(time);
        let number = match self.last {
            // If the last number is much larger, the display's numbers began anew.
            Some(last) if last >= nearest && last - nearest <= 2 => {
                let next = last.saturating_add(1);
                let away = timing.time_of(next).saturating_sub(time) as f64;
                match away <= NEXT_WITHIN * timing.period {
                    true => next,
                    false => last,
                }
            }
            _ => nearest,
        };
        self.last = Some(number);
        Some(number)
    }
}

impl Display {
    fn observe(&mut self, number: u64, time: i64) {
        let begin = |display: &mut Display| {
            *display = Display {
                first: Some((number, time)),
                newest: Some((number, time)),
                vblanks: None,
                since: None,
                odd: 0,
            }
        };
        let (Some(first), Some(newest)) = (self.first, self.newest) else {
            return begin(self);
        };
        if (number, time) == newest {
            return;
        }
        if number <= newest.0 || time <= newest.1 {
            return begin(self);
        }
        self.newest = Some((number, time));
        match &mut self.vblanks {
            Some(vblanks) => {
                let expected = (number - newest.0) as f64 * vblanks.period();
                let error = time.saturating_sub(newest.1) as f64 - expected;
                self.odd = match error.abs() > vblanks.period() / 4.0 {
                    true => self.odd + 1,
                    false => 0,
                };
                if self.odd >= ODD_MAX {
                    return begin(self);
                }
                vblanks.observe(time);
                let last = self.last().map(|(number, time, _)| (number, time));
                self.since = self.since.or(last).filter(|_| self.odd == 0);
            }
            None => {
                let count = number - first.0;
                if count < PERIODS_MIN {
                    return;
                }
                let period = time.saturating_sub(first.1) as f64 / count as f64;
                if period < PERIOD_RANGE.0 || period > PERIOD_RANGE.1 {
                    return begin(self);
                }
                let mut vblanks = Vblanks::new(period as i64);
                vblanks.observe(time);
                self.vblanks = Some(vblanks);
            }
        }
    }

    /// The number and the time of a vertical blank, and the period.
    fn last(&self) -> Option<(u64, i64, f64)> {
        let vblanks = self.vblanks.as_ref()?;
        let (number, time) = self.newest?;
        let last = vblanks.last()?;
        // If the estimate has ignored the newest report, its last vertical blank is an earlier one.
        let count = time.saturating_sub(last) as f64 / vblanks.period();
        let number = number.checked_add_signed(-(count.round() as i64))?;
        Some((number, last, vblanks.period()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fuzzing::Random;

    /// A display, and the clock of its server, which is `offset` ahead of ours and `rate` faster.
    struct World {
        offset: i64,
        rate: f64,
        period: i64,
        start: i64,
        runs: bool,
    }

    impl World {
        fn there(&self, now: i64) -> i64 {
            (now as f64 * self.rate) as i64 + self.offset
        }

        /// When a vertical blank of this number is, by our clock.
        fn time_of(&self, number: u64) -> i64 {
            self.start + number as i64 * self.period
        }

        fn before(&self, now: i64) -> u64 {
            ((now - self.start) / self.period) as u64
        }
    }

    struct Wall {
        worlds: Vec<World>,
        coordinator: Coordinator,
        random: Random,
        now: i64,
        /// Each packet takes up to this much longer than the fastest one.
        jitter: i64,
        /// One packet in three waits for up to this time.
        queue: u64,
    }

    impl Wall {
        fn new(periods: &[i64]) -> Wall {
            let world = |(n, period): (usize, &i64)| World {
                offset: [0, -7_000_000_000, 1 << 40, 5][n % 4],
                rate: 1.0 + 2e-5 * n as f64,
                period: *period,
                start: 3_111_111 * n as i64,
                runs: true,
            };
            Wall {
                worlds: periods.iter().enumerate().map(world).collect(),
                coordinator: Coordinator::new(periods.iter().map(|_| true)),
                random: Random::new(5),
                now: 1_000_000_000,
                jitter: 0,
                queue: 3_000_000,
            }
        }

        /// The fastest packets take 0.1 ms.
        fn delay(&mut self) -> i64 {
            let more = match self.random.below(3) {
                0 => self.random.below(self.queue),
                _ => 0,
            };
            let jitter = self.random.below(self.jitter as u64 + 1);
            100_000 + (more + jitter) as i64
        }

        fn pass(&mut self, time: i64) {
            let end = self.now + time;
            while self.now < end {
                for n in self.coordinator.ask(self.now) {
                    self.ask(n);
                }
                self.now += 1_000_000;
            }
        }

        fn ask(&mut self, n: usize) {
            let (out, back) = (self.delay(), self.delay());
            let world = &self.worlds[n];
            let came = self.now + out;
            let number = world.before(came);
            let late = self.random.below(50_000) as i64;
            let seen = world.there(world.time_of(number) + late);
            let times = Sample {
                sent: self.now,
                received_there: world.there(came),
                sent_there: world.there(came + 10_000),
                received: came + 10_000 + back,
            };
            let vblank = world.runs.then_some((number, seen));
            self.coordinator.answer(n, times, vblank, n as u32);
        }

        /// Shows a frame, and returns when each tile shows it.
        fn frame(&mut self) -> Vec<Option<i64>> {
            let wait = self.coordinator.ready_at().saturating_sub(self.now);
            self.pass(wait.max(0));
            let tiles: Vec<usize> = (0..self.worlds.len()).collect();
            let plan = self.coordinator.plan(&tiles, self.now);
            for n in tiles {
                let taken = self.delay();
                self.coordinator.shown(n, self.now + taken);
            }
            let times = plan.iter().zip(&self.worlds);
            times
                .map(|(number, world)| Some(world.time_of((*number)?)))
                .collect()
        }
    }

    /// The slowest display sets the pace, whichever tile it belongs to. So each frame has a
    /// vertical blank of its own on each display, and none is shown on one display and not on
    /// another.
    #[test]
    fn every_frame_is_shown_on_all_displays_at_the_rate_of_the_slowest() {
        for (periods, slowest) in [
            ([16_683_350, 16_666_667, 16_670_000, 8_333_333], 0),
            ([16_666_667, 8_333_333, 16_683_350, 16_670_000], 2),
            ([8_333_333, 16_666_667, 16_666_667, 33_333_333], 3),
            ([16_666_667, 16_666_667, 16_668_334, 16_666_667], 2),
        ] {
            let mut wall = Wall::new(&periods);
            assert_eq!(wall.frame(), [None; 4]);
            // The last displays differ by 100 in a million.
            wall.pass(12_000_000_000);
            let mut last = [0; 4];
            for n in 0..3000 {
                let times: Vec<i64> = wall.frame().into_iter().flatten().collect();
                let reference = times[slowest];
                assert!(reference > wall.now + MARGIN / 2, "{n}: too late");
                for (tile, time) in times.iter().enumerate() {
                    assert!(*time > last[tile], "{n}: tile {tile} skips a frame");
                    let error = (time - reference).abs();
                    assert!(error <= periods[tile] * 3 / 4 + 300_000, "{n}: {error}");
                }
                if n > 0 {
                    assert_eq!(reference - last[slowest], periods[slowest], "frame {n}");
                }
                last.copy_from_slice(&times);
            }
        }
    }

    /// Each change of the reference can repeat or drop a frame. Between displays that are equally
    /// slow, there is none, however long they run and however inexact the reports are.
    #[test]
    fn the_reference_stays_among_equal_displays() {
        for jitter in [0, 30_000, 200_000] {
            let mut wall = Wall::new(&[8_333_333, 16_666_667, 16_666_667, 16_666_700]);
            wall.jitter = jitter;
            wall.pass(2_000_000_000);
            wall.frame();
            let reference = wall.coordinator.reference;
            assert!(reference > Some(0), "{reference:?}");
            for n in 0..18_000 {
                wall.frame();
                assert_eq!(wall.coordinator.reference, reference, "{jitter}: {n}");
            }
        }
    }

    /// A slower display may appear later, for example because its server was replaced.
    #[test]
    fn a_slower_display_that_appears_becomes_the_reference() {
        let mut wall = Wall::new(&[16_666_667, 16_683_350]);
        wall.worlds[1].runs = false;
        wall.pass(3_000_000_000);
        let times = [wall.frame()[0].unwrap(), wall.frame()[0].unwrap()];
        assert_eq!(times[1] - times[0], 16_666_667);
        wall.worlds[1].runs = true;
        wall.pass(3_000_000_000);
        wall.frame();
        let mut last = wall.frame();
        for n in 0..300 {
            let times = wall.frame();
            assert_eq!(times[1].unwrap() - last[1].unwrap(), 16_683_350, "{n}");
            assert!(times[0] > last[0], "{n}");
            last = times;
        }
    }

    #[test]
    fn a_display_may_change_its_mode() {
        let mut wall = Wall::new(&[16_666_667; 2]);
        wall.pass(2_000_000_000);
        // The screen is off: one vertical blank a second.
        wall.worlds[0].period = 1_000_000_000;
        wall.pass(12_000_000_000);
        assert_eq!(wall.frame()[0], None);
        for (period, pace) in [(13_333_333, 16_666_667), (33_333_333, 33_333_333)] {
            wall.worlds[0].period = period;
            wall.pass(3_000_000_000);
            let first = wall.frame();
            let second = wall.frame();
            let slowest = usize::from(period < pace);
            assert_eq!(second[slowest].unwrap() - first[slowest].unwrap(), pace);
            let apart = second[0].unwrap() - second[1].unwrap();
            assert!(apart.abs() <= period * 3 / 4 + 300_000, "{apart}");
        }
    }

    #[test]
    fn phases_are_those_of_the_displays() {
        let mut wall = Wall::new(&[16_666_667; 3]);
        wall.pass(6_000_000_000);
        let phases = wall.coordinator.phases(wall.now);
        for (n, phase) in phases.iter().enumerate() {
            assert_eq!(phase.late, n as u32);
            let error = phase.error.unwrap() - 3_111_111 * n as i64;
            assert!(error.abs() < 200_000, "{n}: {error}");
        }
    }

    /// The clocks are compared over the connections of the program's commands. On a full link of
    /// 100 Mbit/s, a packet waits there for up to 11 ms. `MGN_FRAMES` is the number of frames.
    #[test]
    fn phases_are_known_over_a_full_link() {
        let set = std::env::var("MGN_FRAMES").ok();
        let frames = set.map_or(3000, |set| set.parse().expect("a number"));
        let mut wall = Wall::new(&[16_666_667; 4]);
        (wall.jitter, wall.queue) = (120_000, 11_000_000);
        wall.pass(6_000_000_000);
        let mut last: Vec<i64> = wall.frame().into_iter().flatten().collect();
        assert_eq!(last.len(), 4);
        let mut errors = Vec::new();
        for n in 0..frames {
            let times: Vec<i64> = wall.frame().into_iter().flatten().collect();
            for tile in 0..4 {
                // No display skips a frame, or shows another one beside it.
                assert!(times[tile] > last[tile], "{n}: tile {tile}");
                assert!(
                    (times[tile] - times[0]).abs() <= 8_666_667,
                    "{n}: {times:?}"
                );
            }
            last = times;
            let phases = wall.coordinator.phases(wall.now);
            let is = |tile: usize| wall.worlds[tile].start - wall.worlds[0].start;
            for (tile, phase) in phases.iter().enumerate() {
                let error = phase.error.unwrap() - is(tile);
                // The nearest refreshes count.
                errors.push((error + 8_333_333).rem_euclid(16_666_667) - 8_333_333);
            }
        }
        errors.iter_mut().for_each(|error| *error = error.abs());
        errors.sort_unstable();
        let most = errors[errors.len() * 99 / 100];
        println!("99 %: {most} ns, all: {} ns", errors[errors.len() - 1]);
        assert!(most <= 1_000_000, "{most} ns");
    }

    #[test]
    fn a_display_that_stops_holds_up_nobody() {
        let mut wall = Wall::new(&[16_666_667; 3]);
        wall.pass(3_000_000_000);
        assert!(wall.frame().iter().all(Option::is_some));
        wall.worlds[0].runs = false;
        wall.pass(3_000_000_000);
        // The next one is the reference.
        let times = wall.frame();
        assert_eq!(times[0], None);
        assert!(times[1].is_some() && times[2].is_some());
        assert_eq!(wall.coordinator.phases(wall.now)[0].error, None);
        assert_eq!(wall.coordinator.phases(wall.now)[1].error, Some(0));
        wall.worlds[0].runs = true;
        wall.pass(1_000_000_000);
        assert!(wall.frame().iter().all(Option::is_some));
        // Another server of the tile has another clock and another display.
        wall.coordinator.forget(1);
        wall.worlds[1].offset = 1;
        wall.worlds[1].period = 13_000_000;
        assert_eq!(wall.frame()[1], None);
        wall.pass(3_000_000_000);
        assert!(wall.frame().iter().all(Option::is_some));
        for world in &mut wall.worlds {
            world.runs = false;
        }
        wall.pass(3_000_000_000);
        assert_eq!(wall.frame(), [None; 3]);
        assert_eq!(wall.coordinator.ready_at(), i64::MIN);
    }

    #[test]
    fn slow_tiles_get_more_time() {
        let mut wall = Wall::new(&[16_666_667; 2]);
        wall.pass(2_000_000_000);
        wall.frame();
        wall.coordinator.plan(&[0, 1], wall.now);
        wall.coordinator.shown(1, wall.now + 40_000_000);
        wall.pass(40_000_000);
        let time = wall.frame()[0].unwrap();
        assert!(time > wall.now + 40_000_000, "{}", time - wall.now);
        // A tile that takes very long does not delay the others as long.
        wall.coordinator.plan(&[0, 1], wall.now);
        wall.coordinator.shown(1, wall.now + 60_000_000_000);
        wall.pass(1_000_000_000);
        let time = wall.frame()[0].unwrap();
        assert!(time < wall.now + LEAD_MAX + 20_000_000);
        // A few seconds later, it is as fast as before.
        wall.pass(63_000_000_000);
        let time = wall.frame()[0].unwrap();
        assert!(time < wall.now + 25_000_000, "{}", time - wall.now);
    }

    /// A display refreshes before the reference. At each of its vertical blanks for a frame, the
    /// tile can have the frame ready.
    #[test]
    fn no_tile_gets_a_vertical_blank_before_its_frame_is_ready() {
        const PERIOD: i64 = 16_666_667;
        for early in [7_000_000, 1_000_000, 8_200_000] {
            let mut wall = Wall::new(&[PERIOD; 2]);
            wall.worlds[1].start = PERIOD - early;
            wall.pass(2_000_000_000);
            for n in 0..300 {
                // The programs do not draw at the rate of the displays.
                let pause = wall.random.below(40_000_000) as i64;
                wall.pass(pause);
                let [Some(reference), Some(other)] = wall.frame()[..] else {
                    panic!("{n}: it is not known");
                };
                let error = (reference - early - other).abs();
                assert!(error < 1_000_000, "{n}: {error}");
                let lead = other - wall.now;
                assert!(lead > MARGIN / 2, "{n}: {lead} ns");
            }
        }
    }

    /// A server whose display is in the future cannot stop the others.
    #[test]
    fn a_server_that_lies_holds_up_nobody() {
        for ahead in [3_600_000_000_000, 150_000_000, 90_000_000] {
            let mut coordinator = Coordinator::new([true, true]);
            for n in 0..400_i64 {
                let now = 1_000_000_000_000 + n * 10_000_000;
                for tile in coordinator.ask(now) {
                    let times = Sample {
                        sent: now,
                        received_there: now + 1000,
                        sent_there: now + 2000,
                        received: now + 3000,
                    };
                    let moved = if tile == 0 { ahead } else { 0 };
                    let vblank = Some((n as u64, now + moved));
                    coordinator.answer(tile, times, vblank, 0);
                }
                if n % 2 == 0 {
                    coordinator.plan(&[0, 1], now + 5000);
                    let wait = coordinator.ready_at().saturating_sub(now);
                    assert!(wait <= LEAD_MAX + 40_000_000, "{n}: {wait}");
                }
            }
            coordinator.forget(0);
            assert_eq!(coordinator.ready_at(), i64::MIN);
        }
    }

    #[test]
    fn only_displays_are_asked_and_only_while_they_answer() {
        let mut coordinator = Coordinator::new([true, false]);
        let mut asked = 0;
        for now in 0..2000 {
            for tile in coordinator.ask(now * 1_000_000) {
                assert_eq!(tile, 0);
                asked += 1;
            }
        }
        assert_eq!(asked, UNANSWERED_MAX);
        coordinator.forget(0);
        assert_eq!(coordinator.ask(2_000_000_000), [0]);
    }

    /// Servers are not trusted.
    #[test]
    fn nonsense_does_no_harm() {
        let mut random = Random::new(9);
        let values = [0, 1, -1, 1 << 40, i64::MAX, i64::MIN, 1 << 61, 16_666_667];
        for _ in 0..300 {
            let mut coordinator = Coordinator::new([true, true]);
            for step in 0..200 {
                let mut value = || match random.below(3) {
                    0 => values[random.below(values.len())],
                    _ => 1_000_000 * step + random.below(2_000_000) as i64,
                };
                let times = Sample {
                    sent: value(),
                    received_there: value(),
                    sent_there: value(),
                    received: value(),
                };
                let vblank = Some((value() as u64, value()));
                let now = value();
                coordinator.answer(step as usize % 2, times, vblank, 0);
                coordinator.plan(&[0, 1], now);
                coordinator.shown(0, value());
                coordinator.ask(now);
                let ready = coordinator.ready_at();
                assert!(ready <= now.saturating_add(2 * LEAD_MAX), "{ready} {now}");
                coordinator.phases(now);
            }
        }
    }
}
