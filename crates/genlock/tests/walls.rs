//! Walls of emulated displays on a virtual clock: their refreshes drift and jitter, some reports of
//! refreshes are lost, and their clocks differ. All frames must appear at the same vertical blank
//! on all tiles. The tiles agree on these with a barrier, and some tests let tiles die.

mod members;

use std::collections::{BTreeMap, BTreeSet};

use members::Members;
use mgn_fuzzing::Random;
use mgn_genlock::{Clock, Fields, PhaseLock, Sample, Timing, Vblanks};

/// The properties of a network, in ns.
#[derive(Clone, Copy)]
struct Network {
    least: f64,
    /// Packets take up to this much longer.
    jitter: f64,
    /// Of 100 packets, those which wait in a queue, and for how long at most.
    queued: u64,
    queue: f64,
    /// The time between the moment when a tile has drawn a frame and the earliest hand-over.
    lead: f64,
}

/// Loopback on one host.
const HOST: Network = Network {
    least: 15_000.0,
    jitter: 15_000.0,
    queued: 2,
    queue: 3e6,
    lead: 7e6,
};

/// A link of 100 Mbit/s that other traffic fills: a packet with priority waits for one that is
/// being sent (120 us), and some wait in queues that know no priority.
const FULL: Network = Network {
    least: 150_000.0,
    jitter: 120_000.0,
    queued: 30,
    queue: 8e6,
    lead: 18e6,
};

/// How often a tile asks the reference for the time, and the reference announces its timing.
const ASK: f64 = 25e6;
const ANNOUNCE: f64 = 100e6;

struct Tile {
    /// The own clock: true time times `rate` plus `offset`.
    rate: f64,
    offset: f64,
    clock: Option<Clock>,
    /// The display: its period in true ns if it is not steered, and the next refresh.
    period: f64,
    factor: f64,
    next: f64,
    refreshes: u64,
    /// Whether the last refresh was left out.
    has_left_out: bool,
    vblanks: Vblanks,
    lock: PhaseLock,
    steered: i64,
    timing: Option<Timing>,
    /// The frame that was handed over for the next refresh.
    handed: Option<u64>,
    /// When each frame appeared, in true time, and the number of the display's refresh.
    shown: BTreeMap<u64, f64>,
    shown_at: Vec<u64>,
}

impl Tile {
    fn local(&self, now: f64) -> i64 {
        (now * self.rate + self.offset) as i64
    }

    fn common(&self, now: f64) -> Option<i64> {
        let local = self.local(now);
        match &self.clock {
            Some(clock) => clock.common(local),
            None => Some(local),
        }
    }

    /// The true time of a common time.
    fn true_time(&self, common: i64) -> Option<f64> {
        let local = match &self.clock {
            Some(clock) => clock.local(common)?,
            None => common,
        };
        Some((local as f64 - self.offset) / self.rate)
    }
}

/// A message that arrives at a tile.
enum Arrival {
    Answer(Sample),
    Timing(Timing),
}

impl Network {
    fn delay(&self, random: &mut Random) -> f64 {
        let mut delay = self.least + below(random, self.jitter);
        if (random.below(100) as u64) < self.queued {
            delay += below(random, self.queue);
        }
        delay
    }
}

fn below(random: &mut Random, end: f64) -> f64 {
    random.below(1_000_001) as f64 / 1e6 * end
}

struct Wall {
    random: Random,
    network: Network,
    fields: Fields,
    tiles: Vec<Tile>,
    members: Members,
    arrivals: Vec<(f64, usize, Arrival)>,
    now: f64,
    ask: f64,
    announce: f64,
    /// One of this number of refreshes is left out, but never two in a row; 0 means none.
    left_out: usize,
    /// The frames that had been handed over for such a refresh, and those that a tile was told of
    /// too late because another one died.
    late: BTreeSet<u64>,
}

impl Wall {
    /// The reference's display has 59.94 Hz, the others up to 60 Hz.
    fn new(count: usize, network: Network, fields: Fields, reach: f64, seed: u64) -> Wall {
        let mut random = Random::new(seed);
        let tiles = (0..count).map(|tile| {
            let mut part = || random.below(1_000_001) as f64 / 1e6;
            let period = 1e9 / (59.94 + 0.06 * if tile == 0 { 0.0 } else { part() });
            Tile {
                rate: 1.0 + 1e-4 * (part() - 0.5),
                offset: 1e10 * part(),
                clock: (tile > 0).then(Clock::default),
                period,
                factor: 1.0,
                next: period * part(),
                refreshes: 0,
                has_left_out: false,
                vblanks: Vblanks::new(16_666_667),
                lock: PhaseLock::new(reach),
                steered: 0,
                timing: None,
                handed: None,
                shown: BTreeMap::new(),
                shown_at: Vec::new(),
            }
        });
        let tiles = tiles.collect();
        Wall {
            random,
            network,
            fields,
            tiles,
            members: Members::new(count),
            arrivals: Vec::new(),
            now: 0.0,
            ask: 0.0,
            announce: 0.0,
            left_out: 0,
            late: BTreeSet::new(),
        }
    }

    fn below(&mut self, end: f64) -> f64 {
        below(&mut self.random, end)
    }

    fn delay(&mut self) -> f64 {
        self.network.delay(&mut self.random)
    }

    /// The first tile that lives.
    fn reference(&self) -> usize {
        self.members.living().next().unwrap()
    }

    /// The other tiles that live.
    fn followers(&self) -> Vec<usize> {
        self.members.living().skip(1).collect()
    }

    fn exchange(&mut self, tile: usize) {
        let (out, back) = (self.delay(), self.delay());
        let (there, now) = (&self.tiles[self.reference()], self.now);
        let (Some(received_there), Some(sent_there)) =
            (there.common(now + out), there.common(now + out + 5e3))
        else {
            return;
        };
        let received = now + out + 5e3 + back;
        let sample = Sample {
            sent: self.tiles[tile].local(now),
            received_there,
            sent_there,
            received: self.tiles[tile].local(received),
        };
        self.arrivals
            .push((received, tile, Arrival::Answer(sample)));
    }

    fn announce(&mut self) {
        let reference = self.reference();
        let reference = &mut self.tiles[reference];
        let timing = Timing::of_reference(&reference.vblanks, reference.timing.as_ref());
        reference.timing = timing;
        let Some(timing) = timing.and_then(Timing::checked) else {
            return;
        };
        for tile in self.followers() {
            // Some are lost.
            if self.random.below(50) > 0 {
                let due = self.now + self.delay();
                self.arrivals.push((due, tile, Arrival::Timing(timing)));
            }
        }
    }

    fn arrive(&mut self, at: usize) {
        let (_, tile, arrival) = self.arrivals.swap_remove(at);
        let is_follower = tile > self.reference();
        let at = &mut self.tiles[tile];
        let now = at.local(self.now);
        match arrival {
            Arrival::Answer(sample) if is_follower => {
                if let Some(clock) = &mut at.clock {
                    clock.add(sample, now);
                }
            }
            // An older one can come after a newer one.
            Arrival::Timing(timing)
                if is_follower && at.timing.is_none_or(|known| known.time < timing.time) =>
            {
                at.timing = Some(timing);
            }
            _ => {}
        }
    }

    /// A display refreshes: shows the frame that it has got, and the tile steers it.
    fn refresh(&mut self, tile: usize) {
        let (late, is_missed) = (self.below(60e3), self.random.below(200) == 0);
        let jitter = self.below(4e3) - 2e3;
        let is_due = self.left_out > 0 && self.random.below(self.left_out) == 0;
        let reference = self.reference();
        let at = &mut self.tiles[tile];
        let now = at.next;
        at.next += at.period * at.factor + jitter;
        at.refreshes += 1;
        at.has_left_out = is_due && !at.has_left_out;
        if at.has_left_out {
            self.late.extend(at.handed);
            return;
        }
        if let Some(frame) = at.handed.take() {
            at.shown.insert(frame, now);
            at.shown_at.push(at.refreshes);
        }
        // The time is taken a little late, and not of every refresh.
        let Some(common) = at.common(now + late) else {
            return;
        };
        if is_missed {
            return;
        }
        at.vblanks.observe(common);
        let last = at.vblanks.last();
        if let (Some(timing), Some(last), true) = (at.timing, last, tile > reference) {
            if at.clock.as_ref().is_some_and(Clock::is_settled) {
                let before = at.factor;
                let error = timing.phase_error(last);
                at.factor = at.lock.steer(error, common - at.steered);
                at.steered = common;
                at.vblanks.scale(at.factor / before);
            }
        }
    }

    /// All that happens until then, except frames.
    fn run(&mut self, until: f64) {
        loop {
            let living = self.members.living();
            let displays = living.map(|tile| (tile, self.tiles[tile].next));
            let (tile, next) = displays.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            let arrivals = self.arrivals.iter().map(|(due, ..)| *due).enumerate();
            let arrival = arrivals.min_by(|a, b| a.1.total_cmp(&b.1));
            let due = arrival.map_or(f64::MAX, |(_, due)| due);
            let now = next.min(due).min(self.ask).min(self.announce);
            if now >= until {
                self.now = until;
                return;
            }
            self.now = now;
            if now == due {
                self.arrive(arrival.unwrap().0);
            } else if now == next {
                self.refresh(tile);
            } else if now == self.ask {
                (self.followers().into_iter()).for_each(|tile| self.exchange(tile));
                self.ask += ASK;
            } else {
                self.announce();
                self.announce += ANNOUNCE;
            }
        }
    }

    /// Shows a frame, which the tiles have drawn at different times. Returns the number of its
    /// vertical blank, or nothing if the frame is dropped.
    fn show(&mut self, frame: u64) -> Option<u64> {
        let start = self.now;
        let living: Vec<usize> = self.members.living().collect();
        let mut arrivals = Vec::new();
        for tile in living.iter().copied() {
            let drawn = start + self.below(12e6);
            let at = &self.tiles[tile];
            let (timing, common) = (at.timing.unwrap(), at.common(drawn).unwrap());
            let lead = common + (self.network.lead + timing.period / 2.0) as i64;
            arrivals.push((tile, drawn, timing.first_after(lead, self.fields)));
        }
        let mut delay = || self.network.delay(&mut self.random);
        let outcomes = self.members.agree(&arrivals, &mut delay);
        let has_lost_tiles = outcomes.len() < living.len();

        // The frame passes on all survivors, or fails on all of them.
        let numbers: BTreeSet<Option<u64>> = outcomes.values().map(|o| o.number).collect();
        assert_eq!(numbers.len(), 1, "frame {frame}: {outcomes:?}");
        let known = outcomes.values().map(|o| o.time).fold(0.0, f64::max);
        let Some(number) = numbers.into_iter().next().unwrap() else {
            self.run(known);
            return None;
        };

        // Each tile waits until it is time to hand the frame over.
        let mut times: Vec<(f64, usize)> = Vec::new();
        for (tile, outcome) in outcomes {
            let at = &self.tiles[tile];
            let time = at.true_time(at.timing.unwrap().hand_over(number)).unwrap();
            if time <= outcome.time {
                assert!(has_lost_tiles, "frame {frame} was agreed on too late");
                self.late.insert(frame);
            }
            times.push((time.max(outcome.time), tile));
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (time, tile) in times {
            self.run(time.max(self.now));
            let replaced = self.tiles[tile].handed.replace(frame);
            assert_eq!(replaced, None, "tile {tile} left a frame out");
        }
        let reference = &self.tiles[self.reference()];
        let last = reference.timing.unwrap().time_of(number);
        let last = reference.true_time(last).unwrap();
        self.run((last + 3e6).max(self.now));
        Some(number)
    }

    /// How far apart the tiles have shown a frame, in ns.
    fn spread(&self, frame: u64) -> f64 {
        let living = self.members.living();
        let times = living.map(|tile| self.tiles[tile].shown[&frame]);
        let (first, last) = times.fold((f64::MAX, 0.0), |(first, last), time| {
            (f64::min(first, time), f64::max(last, time))
        });
        last - first
    }

    /// How far apart the tiles have shown each frame, in ns, sorted.
    fn spreads(&self, from: u64) -> Vec<f64> {
        let frames = self.tiles[self.reference()].shown.range(from..);
        let mut spreads: Vec<f64> = frames.map(|(frame, _)| self.spread(*frame)).collect();
        spreads.sort_by(f64::total_cmp);
        spreads
    }
}

fn frames() -> u64 {
    let set = std::env::var("MGN_FRAMES").ok();
    set.map_or(3000, |set| set.parse().expect("MGN_FRAMES is a number"))
}

/// Lets the displays come into step, shows frames, and gives the 99th percentile of the spread
/// and the largest.
fn show_frames(mut wall: Wall) -> (f64, f64) {
    wall.run(60e9);
    let count = frames();
    for frame in 0..count {
        wall.show(frame).unwrap();
    }
    for (number, tile) in wall.tiles.iter().enumerate() {
        assert_eq!(
            tile.shown.len() as u64,
            count,
            "tile {number} has not shown all frames"
        );
    }
    let spreads = wall.spreads(0);
    (
        spreads[spreads.len() * 99 / 100],
        spreads[spreads.len() - 1],
    )
}

#[test]
fn tiles_of_one_host_swap_together() {
    for seed in 0..3 {
        let (most, all) = show_frames(Wall::new(4, HOST, Fields::Mono, 0.003, seed));
        println!(
            "one host: 99 % within {:.0} us, all within {:.0} us",
            most / 1e3,
            all / 1e3
        );
        assert!(most <= 200e3, "{most}");
        // No frame a refresh later on one tile than on another.
        assert!(all < 8e6, "{all}");
    }
}

#[test]
fn tiles_behind_a_full_link_swap_together() {
    for seed in 0..3 {
        let (most, all) = show_frames(Wall::new(4, FULL, Fields::Mono, 0.003, seed));
        println!(
            "full link: 99 % within {:.0} us, all within {:.0} us",
            most / 1e3,
            all / 1e3
        );
        assert!(most <= 1e6, "{most}");
        assert!(all < 8e6, "{all}");
    }
}

/// When the reference dies, the next tile takes its place. The common time and the numbers of
/// vertical blanks go on.
#[test]
fn another_tile_becomes_the_reference() {
    let mut wall = Wall::new(4, HOST, Fields::Mono, 0.003, 5);
    wall.run(60e9);
    for frame in 0..300 {
        wall.show(frame);
    }
    let before = wall.tiles[1].timing.unwrap().number;
    let network = wall.network;
    let mut delay = || network.delay(&mut wall.random);
    wall.members.kill(0, &mut delay);
    for frame in 300..1500 {
        wall.show(frame);
    }
    let after = wall.tiles[3].timing.unwrap().number;
    assert!(
        (before + 1200..before + 6000).contains(&after),
        "{before} {after}"
    );
    let spreads = wall.spreads(300);
    assert!(
        spreads[spreads.len() - 1] < 1e6,
        "{}",
        spreads[spreads.len() - 1]
    );
}

/// A display that leaves out a refresh shows the frame for it one period later. No other frame is
/// late, and the display stays in step.
#[test]
fn displays_that_leave_out_refreshes_stay_in_step() {
    let mut wall = Wall::new(4, HOST, Fields::Mono, 0.003, 7);
    wall.left_out = 300;
    wall.run(60e9);
    for frame in 0..frames() {
        wall.show(frame);
    }
    // The last frame may be late, too.
    wall.run(wall.now + 40e6);
    assert!(!wall.late.is_empty());
    for frame in 0..frames() {
        let spread = wall.spread(frame);
        match wall.late.contains(&frame) {
            true => assert!(spread < 17e6, "late frame {frame}: {spread}"),
            false => assert!(spread < 1e6, "frame {frame}: {spread}"),
        }
    }
}

/// Shows frames at irregular times. Returns whether all of them begin at even vertical blanks of
/// the reference, and at refreshes of the displays that are an even number apart.
fn are_in_step(fields: Fields) -> bool {
    let mut wall = Wall::new(3, HOST, fields, 0.003, 9);
    wall.run(60e9);
    let mut numbers = Vec::new();
    for frame in 0..300 {
        let pause = wall.below(40e6);
        wall.run(wall.now + pause);
        let number = wall.show(frame).unwrap();
        for (at, tile) in wall.tiles.iter().enumerate() {
            let shown = tile.common(tile.shown[&frame]).unwrap();
            let nearest = tile.timing.unwrap().nearest(shown);
            assert_eq!(nearest, number, "tile {at}, frame {frame}");
        }
        numbers.push(number);
    }
    let steps = |numbers: &[u64]| -> Vec<u64> {
        let pairs = numbers.windows(2);
        pairs.map(|pair| pair[1] - pair[0]).collect()
    };
    let expected = steps(&numbers);
    for tile in &wall.tiles {
        assert_eq!(steps(&tile.shown_at), expected);
    }
    let spreads = wall.spreads(0);
    assert!(spreads[spreads.len() - 1] < 1e6);
    numbers.iter().all(|number| number % 2 == 0)
}

/// In stereo, frames begin at even vertical blanks of the reference. Without stereo, the same
/// frames do not.
#[test]
fn left_and_right_stay_in_step() {
    assert!(are_in_step(Fields::Stereo));
    assert!(!are_in_step(Fields::Mono));
}

/// Tiles die one after another, before or after they arrive at the barrier, or while the first one
/// releases the others. The survivors show the same frames, and drop the same. A frame is late on
/// some of them only if a tile died when the frame was agreed on.
#[test]
fn a_frame_is_dropped_on_all_tiles_or_on_none() {
    let (mut dropped, mut late) = (0, 0);
    for seed in 0..40 {
        let mut wall = Wall::new(6, HOST, Fields::Mono, 0.003, seed);
        wall.run(60e9);
        let mut expected = BTreeSet::new();
        for frame in 0..40 {
            if [5, 15, 25].contains(&frame) {
                let living: Vec<usize> = wall.members.living().collect();
                // Half of them die as the first member, which sends a packet to each other one.
                let at = wall.random.below(2) * wall.random.below(living.len());
                wall.members.dies = Some((living[at], wall.random.below(living.len())));
            }
            match wall.show(frame) {
                Some(_) => drop(expected.insert(frame)),
                None => dropped += 1,
            }
        }
        wall.run(wall.now + 40e6);
        for (number, tile) in wall.tiles.iter().enumerate() {
            let mut expected = expected.clone();
            if !wall.members.living().any(|living| living == number) {
                expected.retain(|frame| Some(frame) <= tile.shown.keys().next_back());
            }
            let shown = tile.shown.keys().copied();
            assert_eq!(shown.collect::<BTreeSet<u64>>(), expected, "tile {number}");
        }
        for frame in expected.difference(&wall.late) {
            let spread = wall.spread(*frame);
            assert!(spread < 1e6, "seed {seed}, frame {frame}: {spread}");
        }
        late += wall.late.len();
    }
    println!("{dropped} frames dropped, {late} late");
    assert!(dropped > 0 && late > 0);
}
