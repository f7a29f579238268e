//! Sort-last compositing, as in the tables of the VG Cluster. Eight renderers draw their pictures
//! again in each frame, and a display gets the merged picture. The results are by the size of the
//! picture and by the number of renderers.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use mgn_barrier::Kind as Barrier;
use mgn_composite::{merge, Channel, Costs, Delivery, Layer, Load, Operation, Picture, Schedule};

use super::{composite_loop, icet, paraview, readback};
use crate::composite::{per_call, Case, Route, Work, SIZES};
use crate::goals::Goal;
use crate::machine::processors;
use crate::plan::{no_conclusions, BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Outcome, Plot, Series, State};
use crate::suite::Suite;

const RENDERERS: usize = 8;

/// The methods by which the library composites. With `Chosen`, it uses one of the next two: members
/// claim stripes and merge them, or the display merges everything. On a crowded host, it may let
/// only the members that draw last merge.
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

/// The numbers of renderers that are measured with processes.
const NUMBERS: [usize; 4] = [2, 4, 8, 16];

/// The routes that are compared for these numbers.
const ROUTES_BY_NUMBER: [Route; 4] = [
    Route::Chosen,
    Route::ByMessages(Schedule::DirectSend),
    Route::ByMessages(Schedule::RadixK(4)),
    Route::OnHosts(2),
];

/// The number of IceT's strategies that are compared for these numbers: those for one picture.
const ICET_BY_NUMBER: usize = 3;

/// The numbers of renderers on the simulated clock.
const SIMULATED: [usize; 9] = [2, 4, 8, 16, 32, 64, 128, 256, 512];

/// The schedules on the simulated clock.
const SCHEDULES: [Schedule; 5] = [
    Schedule::DirectSend,
    Schedule::BinarySwap,
    Schedule::TwoThreeSwap,
    Schedule::RadixK(8),
    Schedule::Tree(8),
];

/// The barriers before each composition. The display also takes part in them. On one host,
/// hierarchical barriers are stars.
const BARRIERS: [Option<Barrier>; 6] = [
    None,
    Some(Barrier::Shared),
    Some(Barrier::Star),
    Some(Barrier::Tree(8)),
    Some(Barrier::Dissemination),
    Some(Barrier::Udp),
];

/// The approximate bytes that a group of processes merges per second. It determines the number of
/// frames.
const BYTES_A_SECOND: f64 = 2e9;

/// The same for IceT.
const ICET_BYTES_A_SECOND: f64 = 1e9;

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    let sizes = options.full_or_quick(&SIZES[..], &SIZES[..2]);
    let seconds = options.full_or_quick(0.3, 0.05);
    let routes = options.full_or_quick(&ROUTES[..], &ROUTES[..1]);
    let experiment = |operation: Operation, is_sparse: bool, what: &str| {
        let cases = |route| -> Vec<Case> {
            let case = |(width, height): &(usize, usize)| Case {
                plot: plot(operation, is_sparse),
                x: (width * height) as f64,
                work: Work {
                    renderers: RENDERERS,
                    width: *width,
                    height: *height,
                    operation,
                    route,
                    is_sparse,
                    barrier: None,
                },
            };
            sizes.iter().map(case).collect()
        };
        let mut methods = ours(routes, &cases, seconds);
        // Sparse pictures have no limit here: it would have to leave out uncovered pixels, as a
        // library does.
        if !is_sparse {
            methods.extend(limits(&cases(Route::Chosen), seconds));
        }
        methods.extend(icet::methods(
            options.full_or_quick(icet::STRATEGY_COUNT, 1),
            &options.peers,
            &cases(Route::Chosen),
            seconds * ICET_BYTES_A_SECOND,
        ));
        let goals = match is_sparse {
            true => Vec::new(),
            false => goals(&plot(operation, is_sparse), operation, sizes, &methods),
        };
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
            methods,
            by_distance: ByDistance::No,
            budget: Duration::from_secs(options.full_or_quick(300, 5)),
            rounds: ROUNDS,
            notes: vec![about(&(RENDERERS + 1).to_string(), is_sparse)],
            goals,
            conclude: verdicts,
        }
    };
    let mut experiments = vec![
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
        by_number(options, Operation::Over, "blended in order"),
        by_number(options, Operation::Nearest, "the nearest depth"),
        by_barrier(options),
        simulated(options),
        readback::plan(options),
    ];
    experiments.extend(composite_loop::plan(options));
    // Starting ParaView takes longer than a quick run.
    experiments.extend((!options.is_quick).then(|| paraview::plan(options)));
    Ok(experiments)
}

/// The goals for whole pictures: a share of the rate of one pass over them, and a multiple of the
/// rate of IceT's fastest strategy.
fn goals(
    plot: &str,
    operation: Operation,
    sizes: &[(usize, usize)],
    methods: &[Box<dyn Method>],
) -> Vec<Goal> {
    let names = |kind: Kind| {
        let of_kind = methods.iter().filter(move |method| method.kind() == kind);
        of_kind.map(|method| method.name())
    };
    let icet: Vec<String> = names(Kind::Peer).collect();
    let passes = |name: &String| name.starts_with("one pass");
    let limits: Vec<String> = names(Kind::Limit).filter(passes).collect();
    let goals = sizes.iter().flat_map(|(width, height)| {
        let pixels = (width * height) as f64;
        let rate = move || Goal::of(plot, Route::Chosen.to_string(), pixels);
        // The limits are one pass in one thread, and one in all threads if there are several.
        let (limit, share) = match (operation, *width) {
            (_, ..512) => (0, 0.6),
            (_, ..1024) => (0, 0.8),
            (Operation::Over, _) => (1, 0.5),
            _ => (0, 0.8),
        };
        let beside_limit = limits.get(limit).map(|limit| (vec![limit.clone()], share));
        let times = if *width < 512 { 6.0 } else { 8.0 };
        let beside_icet = (!icet.is_empty()).then(|| (icet.clone(), times));
        let goal = move |(others, least)| rate().ratio_to(others).at_least(least);
        beside_limit.into_iter().chain(beside_icet).map(goal)
    });
    goals.collect()
}

/// The library, by several routes.
fn ours(
    routes: &[Route],
    cases: &dyn Fn(Route) -> Vec<Case>,
    seconds: f64,
) -> Vec<Box<dyn Method>> {
    let method = |route: &Route| -> Box<dyn Method> {
        Box::new(OurCompositor {
            name: route.to_string(),
            cases: cases(*route),
            seconds,
        })
    };
    routes.iter().map(method).collect()
}

/// The limits: the rate of one process that has all pictures, with one thread and with one thread
/// for each processor; and the rate at which all processors only write the pictures. No compositor
/// can exceed the last rate.
fn limits(cases: &[Case], seconds: f64) -> Vec<Box<dyn Method>> {
    let method = |(threads, merges)| -> Box<dyn Method> {
        Box::new(MergeLimit {
            cases: cases.to_vec(),
            seconds,
            threads,
            merges,
        })
    };
    let most = RENDERERS.min(processors());
    let several = (most > 1).then_some((most, true));
    let all = [(1, true)].into_iter().chain(several);
    all.chain([(most, false)]).map(method).collect()
}

fn about(processes: &str, is_sparse: bool) -> String {
    let part = if is_sparse { "a quarter" } else { "all" };
    let processors = processors();
    format!("{processes} processes on {processors} processors; every renderer writes {part} of its picture in each frame")
}

/// One size of the picture, with several numbers of renderers.
fn by_number(options: &BenchOptions, operation: Operation, what: &str) -> Experiment {
    let numbers = options.full_or_quick(&NUMBERS[..], &NUMBERS[..2]);
    let seconds = options.full_or_quick(0.3, 0.05);
    let plot = format!("composite-renderers-{operation}");
    let cases = |route| -> Vec<Case> {
        let case = |renderers: &usize| Case {
            plot: plot.clone(),
            x: *renderers as f64,
            work: Work {
                renderers: *renderers,
                width: 1024,
                height: 768,
                operation,
                route,
                is_sparse: false,
                barrier: None,
            },
        };
        numbers.iter().map(case).collect()
    };
    let routes = options.full_or_quick(&ROUTES_BY_NUMBER[..], &ROUTES_BY_NUMBER[..1]);
    let mut methods = ours(routes, &cases, seconds);
    methods.extend(limits(&cases(Route::Chosen), seconds));
    methods.extend(icet::methods(
        options.full_or_quick(ICET_BY_NUMBER, 1),
        &options.peers,
        &cases(Route::Chosen),
        seconds * ICET_BYTES_A_SECOND,
    ));
    Experiment {
        suite: Suite::Composite,
        key: plot.replace('-', " "),
        plots: vec![Plot::new(
            plot.clone(),
            format!("2 to 16 pictures of 1024x768 become one: {what}"),
            Axis::log("renderers", ""),
            Axis::log("rate", "frames/s"),
            Better::More,
        )],
        methods,
        by_distance: ByDistance::No,
        budget: Duration::from_secs(options.full_or_quick(300, 5)),
        rounds: ROUNDS,
        notes: vec![about("3 to 17", false)],
        goals: Vec::new(),
        conclude: no_conclusions,
    }
}

/// With a barrier before each composition, as in the main table of the VG Cluster paper.
fn by_barrier(options: &BenchOptions) -> Experiment {
    let sizes = options.full_or_quick(&SIZES[..6], &SIZES[..2]);
    let kinds = options.full_or_quick(&BARRIERS[..], &BARRIERS[..2]);
    let method = |barrier: &Option<Barrier>| -> Box<dyn Method> {
        let case = |(width, height): &(usize, usize)| Case {
            plot: BARRIER_PLOT.to_string(),
            x: (width * height) as f64,
            work: Work {
                barrier: *barrier,
                ..blending(RENDERERS, *width, *height)
            },
        };
        Box::new(OurCompositor {
            name: match barrier {
                Some(kind) => format!("barrier {kind}"),
                None => "no barrier".to_string(),
            },
            cases: sizes.iter().map(case).collect(),
            seconds: options.full_or_quick(0.3, 0.05),
        })
    };
    Experiment {
        suite: Suite::Composite,
        key: BARRIER_PLOT.replace('-', " "),
        plots: vec![Plot::new(
            BARRIER_PLOT.to_string(),
            format!("{RENDERERS} pictures become one, after a barrier: blended in order"),
            Axis::log("pixels", ""),
            Axis::log("rate", "frames/s"),
            Better::More,
        )],
        methods: kinds.iter().map(method).collect(),
        by_distance: ByDistance::No,
        budget: Duration::from_secs(options.full_or_quick(120, 5)),
        rounds: ROUNDS,
        notes: vec![about(&(RENDERERS + 1).to_string(), false)],
        goals: Vec::new(),
        conclude: beside_no_barrier,
    }
}

/// For each size, the rate with each barrier, relative to the rate without a barrier.
fn beside_no_barrier(outcome: &Outcome) -> Vec<String> {
    let Some((without, with)) = outcome.series.split_first() else {
        return Vec::new();
    };
    let line = |with: &Series| compared(with, &[without], "of the rate without a barrier");
    with.iter().filter_map(line).collect()
}

fn simulated(options: &BenchOptions) -> Experiment {
    Experiment {
        suite: Suite::Composite,
        key: SIMULATION.replace('-', " "),
        plots: vec![Plot::new(
            SIMULATION.to_string(),
            "Up to 512 pictures of 1024x768 become one, blended in order, on a simulated clock"
                .to_string(),
            Axis::log("renderers", ""),
            Axis::log("rate", "frames/s"),
            Better::More,
        )],
        methods: vec![Box::new(Simulated {
            renderers: options
                .full_or_quick(&SIMULATED[..], &SIMULATED[..3])
                .to_vec(),
            seconds: options.full_or_quick(0.3, 0.05),
        })],
        by_distance: ByDistance::No,
        budget: Duration::from_secs(options.full_or_quick(60, 5)),
        rounds: ROUNDS,
        notes: vec![
            "each renderer has a processor and a link of its own; the costs of merging, and of \
             messages and bytes through shared memory, are measured in each round"
                .to_string(),
        ],
        goals: Vec::new(),
        conclude: no_conclusions,
    }
}

const SIMULATION: &str = "composite-simulated";
const BARRIER_PLOT: &str = "composite-barrier";

fn plot(operation: Operation, is_sparse: bool) -> String {
    format!(
        "composite-{operation}{}",
        if is_sparse { "-sparse" } else { "" }
    )
}

/// For each size, the library's choice relative to the best other library, and relative to each
/// limit.
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

/// For each size, the rate of a series divided by the best rate of the others. `None` if no size
/// has both.
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

/// A resolved rate.
fn rate(line: &Series, pixels: f64) -> Option<f64> {
    let mut points = line.points.iter();
    let point = points.find(|point| point.x == pixels)?;
    (point.state == State::Resolved).then_some(point.value)
}

struct OurCompositor {
    name: String,
    cases: Vec<Case>,
    seconds: f64,
}

impl Method for OurCompositor {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn kind(&self) -> Kind {
        Kind::Ours
    }

    fn command(&self) -> String {
        "mgn bench composite".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figure = |Case { plot, x, work }: &Case| {
            let frames = (self.seconds * BYTES_A_SECOND / work.bytes() as f64).ceil();
            let rate = work.run((frames as usize).max(3))?;
            Ok(Figure::new(plot, *x, rate))
        };
        self.cases.iter().map(figure).collect()
    }
}

/// One process that has all pictures and merges them in one pass. Each thread draws and merges the
/// same stripe of all pictures.
struct MergeLimit {
    cases: Vec<Case>,
    seconds: f64,
    threads: usize,
    /// Whether the pictures are merged. Otherwise they are only written.
    merges: bool,
}

impl Method for MergeLimit {
    fn name(&self) -> String {
        match (self.threads, self.merges) {
            (1, true) => "one pass in one thread".to_string(),
            (threads, true) => format!("one pass in {threads} threads"),
            (threads, false) => format!("only written, in {threads} threads"),
        }
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn command(&self) -> String {
        "mgn bench composite".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figure = |Case { plot, x, work }: &Case| {
            // Threads share no data, so they do not wait for each other.
            let stripe = Work {
                height: work.height.div_ceil(self.threads),
                ..*work
            };
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
            Ok(Figure::new(plot, *x, rate))
        };
        self.cases.iter().map(figure).collect()
    }
}

impl MergeLimit {
    /// The frames per second of one thread.
    fn rate(&self, work: &Work) -> Result<f64> {
        let from: Vec<Picture> = (0..work.renderers).map(|rank| work.picture(rank)).collect();
        let (mut pictures, mut merged) = (from.clone(), from[0].clone());
        let frame = || {
            for (picture, from) in pictures.iter_mut().zip(&from) {
                picture.color.copy_from_slice(&from.color);
                picture.depth.copy_from_slice(&from.depth);
            }
            if !self.merges {
                std::hint::black_box(&mut pictures);
                return Ok(());
            }
            let layers: Vec<Layer<'_>> = pictures
                .iter()
                .map(|picture| picture.layer(Channel::U8))
                .collect();
            let out = merged.layer_mut(Channel::U8);
            Ok(merge(work.operation, work.format(), &layers, out)?)
        };
        Ok(1.0 / per_call(self.seconds, frame)?)
    }
}

/// The schedules on the simulated clock.
struct Simulated {
    renderers: Vec<usize>,
    seconds: f64,
}

impl Method for Simulated {
    fn name(&self) -> String {
        "simulated".to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Ours
    }

    fn command(&self) -> String {
        "mgn bench composite".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let costs = self.costs()?;
        let mut figures = Vec::new();
        for schedule in SCHEDULES {
            for renderers in &self.renderers {
                let work = blending(*renderers, 1024, 768);
                let load = Load {
                    members: *renderers,
                    pixels: work.pixels(),
                    format: work.format(),
                    operation: work.operation,
                    are_partial: false,
                    delivery: Delivery::Watcher,
                };
                let rate = 1.0 / load.seconds(schedule, costs);
                let figure = Figure::new(SIMULATION, *renderers as f64, rate);
                figures.push(figure.of(schedule.to_string()));
            }
        }
        Ok(figures)
    }
}

impl Simulated {
    /// Measures the costs of merging and of messages on this machine.
    fn costs(&self) -> Result<Costs> {
        let work = blending(RENDERERS, 1024, 768);
        let pixels = work.pixels();
        let bytes = vec![0x55_u8; 4 * pixels];
        let layer = Layer {
            channel: Channel::U8,
            color: &bytes,
            depth: &[],
        };
        let layers = vec![layer; RENDERERS];
        let mut merged = Picture {
            color: vec![0; 4 * pixels],
            depth: Vec::new(),
        };
        let merging = per_call(self.seconds / 2.0, || {
            let out = merged.layer_mut(Channel::U8);
            Ok(merge(work.operation, work.format(), &layers, out)?)
        })?;
        let (from, mut to) = (vec![1_u8; 4 * pixels], vec![0_u8; 4 * pixels]);
        let copy = per_call(self.seconds / 4.0, || {
            to.copy_from_slice(std::hint::black_box(&from));
            Ok(())
        })?;
        // One renderer sends its picture to the display. This takes one message and the picture's
        // bytes.
        let by_message = |width: usize, height: usize| {
            let work = Work {
                route: Route::ByMessages(Schedule::DirectSend),
                ..blending(1, width, height)
            };
            let frames = (self.seconds * BYTES_A_SECOND / work.bytes() as f64).clamp(3.0, 2000.0);
            Ok::<_, anyhow::Error>(1.0 / work.run(frames as usize)?)
        };
        let [short, long] = [by_message(16, 16)?, by_message(1024, 768)?];
        Ok(Costs {
            merge: merging / work.bytes() as f64,
            message: short / 2.0,
            // The latency is included in the time of a short message.
            latency: 0.0,
            byte: (long - short).max(0.0) / blending(1, 1024, 768).bytes() as f64,
            copy: copy / bytes.len() as f64,
        })
    }
}

fn blending(renderers: usize, width: usize, height: usize) -> Work {
    Work {
        renderers,
        width,
        height,
        operation: Operation::Over,
        route: Route::Chosen,
        is_sparse: false,
        barrier: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Distance, Point};

    fn line(name: &str, kind: Kind, rates: &[(f64, f64)]) -> Series {
        let point = |(x, value): &(f64, f64)| Point::single(*x, Distance::Any, *value);
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
            goals: Vec::new(),
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
