//! A made-up run, with plots of all shapes.
#![allow(dead_code)]

use clap::ValueEnum;
use mgn_bench::goals::{self, Goal};
use mgn_bench::record::{
    Axis, Better, Distance, Fold, Head, Kind, Machine, Outcome, Percentiles, Plot, Point, Record,
    Series, State, SCHEMA, VERSION,
};
use mgn_bench::suite::Suite;

/// A name that contains markup, which must not take effect.
pub const HOSTILE: &str = "<b onload=\"alert(1)\">&amp; 'one' </script><script>alert(2)</script>";

const LONG_NAME: &str = "a way whose name says very much about how its messages are carried, in which order, over what, by whom and at which price";

pub fn head() -> Head {
    Head {
        schema: SCHEMA.to_string(),
        version: VERSION,
        is_quick: false,
        command: format!(
            "mgn bench --dir /a/folder/whose/name/is/long/and/has/no/place/to/break/it {HOSTILE}"
        ),
        began: 1_790_000_000,
        machine: Machine {
            host: "synthetic".to_string(),
            processor: "A Processor of Some Kind @ 2.40GHz".to_string(),
            processors: 2,
            memory_gib: 15.6,
            kernel: "Linux 6.1.0".to_string(),
            system: "Debian GNU/Linux 12 (bookworm)".to_string(),
            hypervisor: true,
            congestion_control: "cubic".to_string(),
            versions: vec![
                ("Manganese".to_string(), "0.1.0".to_string()),
                ("Open MPI".to_string(), "4.1.4".to_string()),
            ],
            build: "release".to_string(),
            settings: vec![("eager_shm".to_string(), "16384".to_string())],
        },
    }
}

/// A record with lines over sizes on two logarithmic axes, near and far, with zeros; linear lines;
/// percentiles; categories; a histogram; single values; a level of a paper; and methods that are
/// missing, failed or noisy.
pub fn record() -> Record {
    let suites = Suite::value_variants();
    let experiments = [
        latency(),
        bandwidth(),
        shares(),
        counted(),
        single(),
        empty(),
    ];
    let outcomes = experiments.into_iter().enumerate();
    Record {
        head: head(),
        outcomes: outcomes
            .map(|(at, outcome)| Outcome {
                suite: suites[at % suites.len()],
                ..outcome
            })
            .collect(),
    }
}

/// A record with one line of one plot, and these points.
pub fn small(better: Better, points: Vec<Point>) -> Record {
    let mut plot = plot(
        "latency",
        "Latency",
        Axis::log("size", "B"),
        Axis::log("latency", "us"),
    );
    plot.better = better;
    let line = line(&plot, "shm", Kind::Ours, points);
    Record {
        head: head(),
        outcomes: vec![outcome("latency", vec![plot], vec![line])],
    }
}

pub fn point(x: f64, value: f64, width: f64) -> Point {
    Point {
        x,
        distance: Distance::Any,
        values: vec![value; 7],
        rounds: (0..7).collect(),
        value,
        low: value * (1.0 - width),
        high: value * (1.0 + width),
        state: State::Resolved,
        percentiles: None,
        cpu: None,
    }
}

fn plot(id: &str, title: &str, x: Axis, y: Axis) -> Plot {
    Plot {
        id: id.to_string(),
        title: title.to_string(),
        x,
        y,
        better: Better::Less,
        fold: Fold::Median,
    }
}

fn line(plot: &Plot, name: &str, kind: Kind, points: Vec<Point>) -> Series {
    Series {
        plot: plot.id.clone(),
        name: name.to_string(),
        kind,
        command: format!("mgn bench net --only '{name}'"),
        points,
        note: None,
    }
}

fn outcome(key: &str, plots: Vec<Plot>, series: Vec<Series>) -> Outcome {
    Outcome {
        suite: Suite::Noise,
        key: key.to_string(),
        plots,
        series,
        notes: vec!["TCP uses cubic".to_string(), HOSTILE.to_string()],
        goals: Vec::new(),
        rounds: 7,
        seconds: 12.5,
    }
}

/// A pseudo-random number from 0 to 1 for this seed.
fn chance(seed: u64) -> f64 {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

const WAYS: [(&str, Kind); 12] = [
    ("shm", Kind::Ours),
    ("shm, reserved", Kind::Ours),
    ("unix", Kind::Ours),
    ("tcp", Kind::Ours),
    ("tls", Kind::Ours),
    ("Open MPI, vader", Kind::Peer),
    ("Open MPI, tcp", Kind::Peer),
    ("MPICH", Kind::Peer),
    ("UCX", Kind::Peer),
    (LONG_NAME, Kind::Peer),
    ("memcpy", Kind::Limit),
    ("a cache line", Kind::Limit),
];

fn latency() -> Outcome {
    let latency = plot(
        "net-latency",
        "Latency of messages",
        Axis::log("message size", "B"),
        Axis::log("one-way latency", "us"),
    );
    let sizes: Vec<f64> = [0.0]
        .into_iter()
        .chain((0..=22).step_by(2).map(|n| 2f64.powi(n)))
        .collect();
    let mut series: Vec<Series> = Vec::new();
    for (at, (name, kind)) in WAYS.into_iter().enumerate() {
        let mut points = Vec::new();
        for (distance, factor) in [(Distance::Near, 1.0), (Distance::Far, 2.7)] {
            for (n, size) in sizes.iter().enumerate() {
                let seed = (at * 100 + n) as u64;
                let value =
                    factor * (0.3 * 1.6f64.powi(at as i32) + size / (3000.0 + 400.0 * at as f64));
                let mut point = Point {
                    distance,
                    cpu: Some([value / 10.0, value / 20.0]),
                    percentiles: Some(Percentiles {
                        p50: Some(value),
                        p90: Some(value * 1.2),
                        p99: Some(value * 2.0),
                        p999: (*size < 1e5).then_some(value * 9.0),
                        max: Some(value * 40.0),
                    }),
                    ..self::point(*size, value, 0.02 + 0.2 * chance(seed))
                };
                match chance(seed + 7000) {
                    chance if chance < 0.03 => {
                        point.state = State::Noisy;
                        point.high = value * 30.0;
                    }
                    chance if chance < 0.06 => point.state = State::Unresolved,
                    _ => {}
                }
                points.push(point);
            }
        }
        series.push(line(&latency, name, kind, points));
    }
    series[6].note = Some(format!("it hung; mpirun said: {HOSTILE}"));
    let mut missing = line(&latency, "Open MPI, UCX", Kind::Peer, Vec::new());
    missing.note = Some("Open MPI is built without UCX".to_string());
    series.push(missing);
    outcome("net latency", vec![latency], series)
}

fn bandwidth() -> Outcome {
    let mut bandwidth = plot(
        "net-bandwidth",
        "Bandwidth of messages",
        Axis::log("message size", "B"),
        Axis::linear("bandwidth", "MB/s"),
    );
    bandwidth.better = Better::More;
    let mut series = Vec::new();
    for (at, (name, kind)) in WAYS.into_iter().take(4).enumerate() {
        let points = (6..=24).map(|power| {
            let size = 2f64.powi(power);
            let value = 9000.0 / (at + 1) as f64 * size / (size + 20_000.0);
            Point {
                distance: Distance::Far,
                ..point(size, value, 0.1 * chance(power as u64))
            }
        });
        series.push(line(&bandwidth, name, kind, points.collect()));
    }
    let mut servers = plot(
        "servers",
        HOSTILE,
        Axis::linear("servers", ""),
        Axis::linear("triangles", "M/s"),
    );
    servers.better = Better::More;
    for (at, name) in ["null", "discard", "render"].into_iter().enumerate() {
        let points = (1..=3).map(|n| {
            point(
                f64::from(n),
                250.0 / (at + 1) as f64 + 10.0 * f64::from(n),
                0.08,
            )
        });
        series.push(line(&servers, name, Kind::Ours, points.collect()));
    }
    let mut outcome = outcome(HOSTILE, vec![bandwidth, servers], series);
    let goal = |method: &str| Goal::of("servers", method, 1.0).ratio_to(["null"]);
    let goals = [
        goal("discard").at_least(0.4),
        goal("render").at_least(0.9),
        goal("render").above(["null", "discard"]),
    ];
    outcome.goals = goals::evaluate(&goals, &outcome);
    outcome
}

fn shares() -> Outcome {
    let percentiles = plot(
        "lost",
        "How much longer a loop of 1 ms takes",
        Axis::linear("percentile", "%"),
        Axis::log("time lost in an iteration", "us"),
    );
    let mut availability = plot(
        "overlap-availability",
        "How much of the processor is left to a program that computes while a message of 32 KB is on its way in both directions",
        Axis::linear("time that the program computes between posting both and waiting for both of them", "us"),
        Axis::linear("share of the time that the program computes, of all the time that passes until both have come", "%"),
    );
    availability.better = Better::More;
    let mut series = Vec::new();
    for (at, name) in ["processor 0", "processor 1"].into_iter().enumerate() {
        let values = [0.0, 0.4, 3.0, 22.0, 950.0, 3_200_000.0];
        let points = [50.0, 90.0, 99.0, 99.9, 99.99, 100.0]
            .into_iter()
            .zip(values);
        let points = points.map(|(x, value)| point(x, value * (1.0 + at as f64 / 3.0), 0.3));
        series.push(line(&percentiles, name, Kind::Limit, points.collect()));
        let points = (0..=20).map(|n| {
            let time = f64::from(n) * 50.0;
            point(
                time,
                94.0 + 5.0 * time / (time + 80.0 + 90.0 * at as f64),
                0.003,
            )
        });
        series.push(line(&availability, name, Kind::Ours, points.collect()));
    }
    outcome("overlap", vec![percentiles, availability], series)
}

fn counted() -> Outcome {
    let mut histogram = plot(
        "histogram",
        "How often a loop takes that much longer",
        Axis::log("time lost in an iteration, up to", "us"),
        Axis::log("iterations", ""),
    );
    histogram.fold = Fold::Sum;
    histogram.better = Better::Neither;
    let classes = [
        1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 1e4, 1e5, 1e6,
    ];
    let counts = [
        998_000.0, 80_000.0, 12_000.0, 900.0, 100.0, 40.0, 21.0, 3.0, 1.0, 0.0, 0.0, 2.0, 1.0,
    ];
    let lines = ["processor 0", "processor 1", "processor 2"].map(|name| {
        let points = classes
            .iter()
            .zip(counts)
            .map(|(x, count)| point(*x, count, 0.0));
        line(&histogram, name, Kind::Limit, points.collect())
    });
    outcome("histogram", vec![histogram], lines.into())
}

fn single() -> Outcome {
    let single = plot(
        "frames",
        "Frames of a program",
        Axis::log("message size", "B"),
        Axis::log("time of a frame", "ms"),
    );
    let lines = WAYS.into_iter().enumerate().map(|(at, (name, kind))| {
        let points = [Distance::Near, Distance::Far].map(|distance| {
            let mut point = point(8.0, 2.5f64.powi(at as i32), 0.3);
            point.distance = distance;
            if at == 4 {
                point.state = State::Noisy;
            }
            point
        });
        line(&single, name, kind, points.into())
    });
    let lines: Vec<Series> = lines.collect();
    outcome("single values", vec![single], lines)
}

fn empty() -> Outcome {
    let nothing = plot(
        "nothing",
        "What nobody could measure",
        Axis::linear("", ""),
        Axis::linear("", ""),
    );
    let mut missing = line(&nothing, LONG_NAME, Kind::Ours, Vec::new());
    missing.note = Some(format!("it ended with 3: {HOSTILE}"));
    // A plot without a title, like that of a suite that cannot be planned.
    let mut unplanned = plot("unplanned", "", Axis::linear("", ""), Axis::linear("", ""));
    unplanned.better = Better::Neither;
    outcome("nothing", vec![nothing, unplanned], vec![missing])
}
