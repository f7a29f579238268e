//! Sort-last compositing, like the VG Cluster's tables: eight renderers, each of which draws its
//! picture anew in each frame, and a display, which gets the merged one. By size of the picture.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use mgn_composite::{merge, Channel, Layer, Operation, Picture, Schedule};

use super::Suite;
use crate::composite::{Route, Work};
use crate::icet;
use crate::plan::{Experiment, Figure, Way, Wishes, ROUNDS};
use crate::record::{Axis, Better, Kind, Outcome, Plot, Series, State};

/// The six sizes of the paper, and two of today.
const SIZES: [(usize, usize); 8] = [
    (256, 256),
    (512, 512),
    (1024, 768),
    (1024, 1024),
    (1280, 1024),
    (1600, 1200),
    (2048, 2048),
    (3840, 2160),
];

const RENDERERS: usize = 8;

/// The library's choice is one of the next two: all members merge a stripe, or the display merges
/// all.
const ROUTES: [Route; 9] = [
    Route::Chosen,
    Route::By(Schedule::DirectSend),
    Route::By(Schedule::Tree(8)),
    Route::ByMessages(Schedule::DirectSend),
    Route::ByMessages(Schedule::BinarySwap),
    Route::ByMessages(Schedule::RadixK(4)),
    Route::ByMessages(Schedule::Tree(8)),
    Route::OnHosts(2),
    Route::OnHosts(4),
];

/// About what a group of processes merges in a second: it decides how many frames are run.
const BYTES_A_SECOND: f64 = 2e9;

/// The same of IceT.
const ICET_BYTES_A_SECOND: f64 = 1e9;

pub fn plan(wishes: &Wishes) -> Result<Vec<Experiment>> {
    let sizes = wishes.either(&SIZES[..], &SIZES[..2]);
    let seconds = wishes.either(0.3, 0.05);
    let routes = wishes.either(&ROUTES[..], &ROUTES[..1]);
    let experiment = |operation: Operation, is_sparse: bool, what: &str| {
        let work = |route| Work {
            renderers: RENDERERS,
            width: 0,
            height: 0,
            operation,
            route,
            is_sparse,
        };
        let mut ways: Vec<Box<dyn Way>> = Vec::new();
        for route in routes {
            ways.push(Box::new(Ours {
                work: work(*route),
                sizes: sizes.to_vec(),
                seconds,
            }));
        }
        // One that leaves out what is not covered would be another library.
        let threads = [1, RENDERERS.min(processors())];
        for threads in threads.into_iter().filter(|_| !is_sparse) {
            ways.push(Box::new(Limit {
                work: work(Route::Chosen),
                sizes: sizes.to_vec(),
                seconds,
                threads,
            }));
        }
        ways.extend(icet::some(
            wishes.either(icet::STRATEGY_COUNT, 1),
            &wishes.peers,
            (operation, is_sparse),
            &plot(operation, is_sparse),
            RENDERERS,
            sizes,
            seconds * ICET_BYTES_A_SECOND,
        ));
        Experiment {
            suite: Suite::Composite,
            key: plot(operation, is_sparse).replace('-', " "),
            plots: vec![Plot::new(
                plot(operation, is_sparse),
                format!("{RENDERERS} pictures become one: {what}"),
                Axis::log("pixels", ""),
                Axis::log("rate", "frames/s"),
                Better::More,
            )],
            ways,
            is_placed: false,
            budget: Duration::from_secs(wishes.either(300, 5)),
            rounds: ROUNDS,
            notes: vec![format!(
                "{} processes on {} processors; every renderer writes all of its picture in each frame",
                RENDERERS + 1,
                processors()
            )],
            conclude: verdicts,
        }
    };
    Ok(vec![
        experiment(
            Operation::Over,
            false,
            "blended in order, all pixels covered",
        ),
        experiment(
            Operation::Nearest,
            false,
            "the nearest depth, all pixels covered",
        ),
        experiment(Operation::Over, true, "blended in order, a quarter covered"),
        experiment(
            Operation::Nearest,
            true,
            "the nearest depth, a quarter covered",
        ),
    ])
}

fn plot(operation: Operation, is_sparse: bool) -> String {
    format!(
        "composite-{operation}{}",
        if is_sparse { "-sparse" } else { "" }
    )
}

/// The library's choice, beside the best of others and beside each limit, by size.
fn verdicts(outcome: &Outcome) -> Vec<String> {
    let chosen = Route::Chosen.to_string();
    let Some(ours) = outcome.series.iter().find(|line| line.name == chosen) else {
        return Vec::new();
    };
    let of_kind = |kind| outcome.series.iter().filter(move |line| line.kind == kind);
    let peers: Vec<&Series> = of_kind(Kind::Peer).collect();
    let beside_peers = compared(ours, &peers, "times as fast as IceT's fastest strategy");
    let beside_limits = of_kind(Kind::Limit).filter_map(|limit| {
        let what = format!("of the rate of {}", limit.name);
        compared(ours, &[limit], &what)
    });
    beside_peers.into_iter().chain(beside_limits).collect()
}

/// By size, the rate of one line divided by the best of others. None if no size has both.
fn compared(ours: &Series, others: &[&Series], what: &str) -> Option<String> {
    let ratios = SIZES.iter().filter_map(|(width, height)| {
        let pixels = (width * height) as f64;
        let ours = rate(ours, pixels)?;
        let best = others.iter().filter_map(|line| rate(line, pixels));
        let best = best.max_by(f64::total_cmp)?;
        Some(format!("{:.2} at {width}x{height}", ours / best))
    });
    let ratios: Vec<String> = ratios.collect();
    let line = || format!("{}, {what}: {}", ours.name, ratios.join(", "));
    (!ratios.is_empty()).then(line)
}

/// A rate that enough rounds agree about.
fn rate(line: &Series, pixels: f64) -> Option<f64> {
    let mut points = line.points.iter();
    let point = points.find(|point| point.x == pixels)?;
    (point.state == State::Resolved).then_some(point.value)
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn at(work: &Work, (width, height): (usize, usize)) -> Work {
    Work {
        width,
        height,
        ..*work
    }
}

struct Ours {
    work: Work,
    sizes: Vec<(usize, usize)>,
    seconds: f64,
}

impl Way for Ours {
    fn name(&self) -> String {
        self.work.route.to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Ours
    }

    fn command(&self) -> String {
        "mgn bench composite".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figure = |size| {
            let work = at(&self.work, size);
            let frames = (self.seconds * BYTES_A_SECOND / work.bytes() as f64).ceil();
            let rate = work.run((frames as usize).max(3))?;
            Ok(Figure::new(
                &plot(work.operation, work.is_sparse),
                work.pixels() as f64,
                rate,
            ))
        };
        self.sizes.iter().copied().map(figure).collect()
    }
}

/// One process that has all pictures, and merges them in one pass: each thread its stripe, for
/// which it also draws all pictures anew.
struct Limit {
    work: Work,
    sizes: Vec<(usize, usize)>,
    seconds: f64,
    threads: usize,
}

impl Way for Limit {
    fn name(&self) -> String {
        match self.threads {
            1 => "one pass in one thread".to_string(),
            threads => format!("one pass in {threads} threads"),
        }
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn command(&self) -> String {
        "mgn bench composite".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figure = |size| {
            let whole = at(&self.work, size);
            // Threads have nothing in common, so that they need not wait for each other.
            let stripe = at(&self.work, (size.0, size.1.div_ceil(self.threads)));
            let rate: Result<f64> = thread::scope(|scope| {
                let threads: Vec<_> = (0..self.threads)
                    .map(|_| scope.spawn(|| self.rate(&stripe)))
                    .collect();
                let rates = threads.into_iter().map(|thread| match thread.join() {
                    Ok(rate) => rate,
                    Err(panic) => std::panic::resume_unwind(panic),
                });
                rates.sum()
            });
            let rate = rate? / self.threads as f64;
            Ok(Figure::new(
                &plot(whole.operation, whole.is_sparse),
                whole.pixels() as f64,
                rate,
            ))
        };
        self.sizes.iter().copied().map(figure).collect()
    }
}

impl Limit {
    /// Frames a second of one thread.
    fn rate(&self, work: &Work) -> Result<f64> {
        let from: Vec<Picture> = (0..work.renderers).map(|rank| work.picture(rank)).collect();
        let (mut pictures, mut merged) = (from.clone(), from[0].clone());
        let mut frame = || -> Result<()> {
            for (picture, from) in pictures.iter_mut().zip(&from) {
                picture.color.copy_from_slice(&from.color);
                picture.depth.copy_from_slice(&from.depth);
            }
            let layers: Vec<Layer<'_>> = pictures
                .iter()
                .map(|picture| picture.layer(Channel::U8))
                .collect();
            let out = merged.layer_mut(Channel::U8);
            Ok(merge(work.operation, work.format(), &layers, out)?)
        };
        frame()?;
        let (start, mut frames) = (Instant::now(), 0);
        while start.elapsed().as_secs_f64() < self.seconds {
            frame()?;
            frames += 1;
        }
        Ok(f64::from(frames) / start.elapsed().as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Place, Point};

    fn line(name: &str, kind: Kind, rates: &[(f64, f64)]) -> Series {
        let point = |(x, value): &(f64, f64)| Point::single(*x, Place::Any, *value);
        Series {
            plot: plot(Operation::Over, false),
            name: name.into(),
            kind,
            command: String::new(),
            points: rates.iter().map(point).collect(),
            note: None,
        }
    }

    #[test]
    fn the_librarys_choice_is_compared_with_the_best_of_others_and_with_each_limit() {
        let (small, large) = (256. * 256., 512. * 512.);
        let mut outcome = Outcome {
            suite: Suite::Composite,
            key: "composite over".into(),
            plots: Vec::new(),
            series: vec![
                line(
                    "the library's choice",
                    Kind::Ours,
                    &[(small, 60.), (large, 30.)],
                ),
                line("direct", Kind::Ours, &[(small, 99.)]),
                line("reduce", Kind::Peer, &[(small, 10.), (large, 2.)]),
                line("tree", Kind::Peer, &[(small, 5.), (large, 3.)]),
                line("one pass", Kind::Limit, &[(small, 80.)]),
            ],
            notes: Vec::new(),
            rounds: 1,
            seconds: 1.,
        };
        let expected = [
            "the library's choice, times as fast as IceT's fastest strategy: 6.00 at 256x256, 10.00 at 512x512",
            "the library's choice, of the rate of one pass: 0.75 at 256x256",
        ];
        assert_eq!(verdicts(&outcome), expected);
        outcome.series[0].points[1].state = State::Unresolved;
        let small =
            "the library's choice, times as fast as IceT's fastest strategy: 6.00 at 256x256";
        assert_eq!(verdicts(&outcome)[0], small);
        outcome.series.truncate(2);
        assert_eq!(verdicts(&outcome), [""; 0]);
    }
}
