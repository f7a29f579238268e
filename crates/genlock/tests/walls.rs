//! Walls of emulated displays on a virtual clock: their refreshes drift and jitter, some reports of
//! refreshes are lost, and their clocks differ. All frames must appear at the same vertical blank
//! on all tiles.

use std::collections::BTreeSet;

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
    vblanks: Vblanks,
    lock: PhaseLock,
    steered: i64,
    timing: Option<Timing>,
    /// The frame that was handed over for the next refresh.
    handed: Option<u64>,
    /// When each frame appeared, in true time, and the number of the display's refresh.
    shown: Vec<f64>,
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

struct Wall {
    random: Random,
    network: Network,
    fields: Fields,
    tiles: Vec<Tile>,
    /// Those before it have died.
    reference: usize,
    arrivals: Vec<(f64, usize, Arrival)>,
    now: f64,
    ask: f64,
    announce: f64,
    /// One of this number of refreshes is left out; 0 means none.
    left_out: usize,
    /// The frames that had been handed over for such a refresh.
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
                vblanks: Vblanks::new(16_666_667),
                lock: PhaseLock::new(reach),
                steered: 0,
                timing: None,
                handed: None,
                shown: Vec::new(),
                shown_at: Vec::new(),
            }
        });
        let tiles = tiles.collect();
        Wall {
            random,
            network,
            fields,
            tiles,
            reference: 0,
            arrivals: Vec::new(),
            now: 0.0,
            ask: 0.0,
            announce: 0.0,
            left_out: 0,
            late: BTreeSet::new(),
        }
    }

    fn below(&mut self, end: f64) -> f64 {
        self.random.below(1_000_001) as f64 / 1e6 * end
    }

    fn delay(&mut self) -> f64 {
        let mut delay = self.network.least + self.below(self.network.jitter);
        if (self.random.below(100) as u64) < self.network.queued {
            delay += self.below(self.network.queue);
        }
        delay
    }

    fn exchange(&mut self, tile: usize) {
        let (out, back) = (self.delay(), self.delay());
        let (there, now) = (&self.tiles[self.reference], self.now);
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
        let reference = &mut self.tiles[self.reference];
        let timing = Timing::of_reference(&reference.vblanks, reference.timing.as_ref());
        reference.timing = timing;
        let Some(timing) = timing.and_then(Timing::checked) else {
            return;
        };
        for tile in self.reference + 1..self.tiles.len() {
            // Some are lost.
            if self.random.below(50) > 0 {
                let due = self.now + self.delay();
                self.arrivals.push((due, tile, Arrival::Timing(timing)));
            }
        }
    }

    fn arrive(&mut self, at: usize) {
        let (_, tile, arrival) = self.arrivals.swap_remove(at);
        let is_follower = tile > self.reference;
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
        let is_left_out = self.left_out > 0 && self.random.below(self.left_out) == 0;
        let reference = self.reference;
        let at = &mut self.tiles[tile];
        let now = at.next;
        at.next += at.period * at.factor + jitter;
        at.refreshes += 1;
        if is_left_out {
            self.late.extend(at.handed);
            return;
        }
        if let Some(frame) = at.handed.take() {
            assert_eq!(
                frame as usize,
                at.shown.len(),
                "tile {tile} left frames out"
            );
            at.shown.push(now);
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
            let living = self.tiles.iter().enumerate().skip(self.reference);
            let displays = living.map(|(tile, at)| (tile, at.next));
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
                (self.reference + 1..self.tiles.len()).for_each(|tile| self.exchange(tile));
                self.ask += ASK;
            } else {
                self.announce();
                self.announce += ANNOUNCE;
            }
        }
    }

    /// Shows a frame, which the tiles have drawn at different times. Returns the number of its
    /// vertical blank.
    fn show(&mut self, frame: u64) -> u64 {
        let start = self.now;
        let mut number = 0;
        let mut gathered = start;
        for tile in self.reference..self.tiles.len() {
            let drawn = start + self.below(12e6);
            let at = &self.tiles[tile];
            let (timing, common) = (at.timing.unwrap(), at.common(drawn).unwrap());
            let lead = common + (self.network.lead + timing.period / 2.0) as i64;
            number = number.max(timing.first_after(lead, self.fields));
            gathered = f64::max(gathered, drawn + self.delay());
        }
        // Each tile learns the number, and waits until it is time to hand the frame over.
        let mut times: Vec<(f64, usize)> = Vec::new();
        for tile in self.reference..self.tiles.len() {
            let released = gathered + self.delay();
            let at = &self.tiles[tile];
            let time = at.true_time(at.timing.unwrap().hand_over(number)).unwrap();
            assert!(time > released, "frame {frame} was agreed on too late");
            times.push((time, tile));
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (time, tile) in times {
            self.run(time.max(self.now));
            self.tiles[tile].handed = Some(frame);
        }
        let reference = &self.tiles[self.reference];
        let last = reference.timing.unwrap().time_of(number);
        let last = reference.true_time(last).unwrap();
        self.run(last + 3e6);
        number
    }

    /// How far apart the tiles have shown a frame, in ns.
    fn spread(&self, frame: usize) -> f64 {
        let times = self.tiles[self.reference..]
            .iter()
            .map(|tile| tile.shown[frame]);
        let (first, last) = times.fold((f64::MAX, 0.0), |(first, last), time| {
            (f64::min(first, time), f64::max(last, time))
        });
        last - first
    }

    /// How far apart the tiles have shown each frame, in ns, sorted.
    fn spreads(&self, from: usize) -> Vec<f64> {
        let frames = self.tiles[self.reference].shown.len();
        let mut spreads: Vec<f64> = (from..frames).map(|frame| self.spread(frame)).collect();
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
        wall.show(frame);
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
    wall.reference = 1;
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
        let spread = wall.spread(frame as usize);
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
        let number = wall.show(frame);
        for (at, tile) in wall.tiles.iter().enumerate() {
            let shown = tile.common(tile.shown[frame as usize]).unwrap();
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
