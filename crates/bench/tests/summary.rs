//! A page begins with the most important results.

mod sample;

use mgn_bench::record::{Axis, Better, Kind, Outcome, Plot, Point, Record, Series, State};
use mgn_bench::report;
use mgn_bench::suite::Suite;
use sample::{point, small};

/// A plot with these lines: name, kind, and values at 8 and 64 bytes.
fn outcome(suite: Suite, id: &str, better: Better, lines: &[(&str, Kind, [f64; 2])]) -> Outcome {
    let of = small(better, Vec::new()).outcomes.remove(0);
    let plot = Plot {
        id: id.into(),
        title: id.into(),
        ..of.plots[0].clone()
    };
    let series = lines.iter().map(|(name, kind, values)| Series {
        plot: id.into(),
        name: name.to_string(),
        kind: *kind,
        points: [8.0, 64.0]
            .iter()
            .zip(values)
            .map(|(x, value)| point(*x, *value, 0.01))
            .collect(),
        ..of.series[0].clone()
    });
    Outcome {
        suite,
        series: series.collect(),
        plots: vec![plot],
        ..of
    }
}

fn record(outcomes: Vec<Outcome>) -> Record {
    Record {
        head: sample::head(),
        outcomes,
    }
}

#[test]
fn good_and_bad_results_are_named() {
    use Kind::{Limit, Ours, Peer};
    let all = record(vec![
        outcome(
            Suite::Net,
            "latency",
            Better::Less,
            &[
                ("shm", Ours, [0.18, 0.207]),
                ("tcp", Ours, [9.0, 9.0]),
                ("Open MPI", Peer, [0.36, 0.108]),
                ("MPICH", Peer, [0.40, 0.500]),
                ("Open MPI, tcp", Peer, [9.0, 18.0]),
                ("a cache line", Limit, [0.09, 0.09]),
                ("plain tcp", Limit, [8.1, 8.1]),
            ],
        ),
        outcome(
            Suite::Gl,
            "drawing",
            Better::More,
            &[
                ("null", Ours, [900.0, 900.0]),
                ("render", Ours, [4.0, 4.0]),
                ("virgl", Peer, [4.1, 2.0]),
                ("direct", Limit, [5.0, 5.0]),
            ],
        ),
    ]);
    let lines = report::summary(&all);
    let expected = [
        "Compared with the best other library or program at 6 points: better by more than 10 % at 3, within 10 % at 2, worse by more than 10 % at 1.",
        "Better: latency, 8 B: 0.180 µs by shm, 0.360 by Open MPI (2.0 times as good).",
        "Better: drawing, 64 B: 4 µs by render, 2 by virgl (2.0 times as good).",
        "Worse: latency, 64 B: 0.207 µs by shm, 0.108 by Open MPI (0.52 times as good).",
        "Compared with the limits of the machine at 6 points: 80 % in the median.",
        "Nearest: latency, 8 B: 9 µs by tcp, 8.10 by plain tcp (90 % of it).",
        "Farthest: latency, 64 B: 0.207 µs by shm, 0.0900 by a cache line (43 % of it).",
    ];
    assert_eq!(lines, expected);
    let page = report::page(&all);
    let at = |text: &str| {
        page.find(text)
            .unwrap_or_else(|| panic!("{text} is not there"))
    };
    assert!(
        at("Worse: latency, 64 B") < at("<nav"),
        "the summary is behind the links"
    );

    // The summary of a plot without a parameter names no parameter.
    let mut single = all.clone();
    single.outcomes.remove(0);
    single.outcomes[0].plots[0].x = Axis::none();
    let best = "Better: drawing: 4 µs by render, 2 by virgl (2.0 times as good).";
    assert!(report::summary(&single).iter().any(|line| line == best));

    // Unresolved numbers are left out, and without numbers there is no summary.
    let unsure = |point: &mut Point| point.state = State::Noisy;
    let mut noisy = all.clone();
    let series = noisy
        .outcomes
        .iter_mut()
        .flat_map(|outcome| &mut outcome.series);
    series.flat_map(|line| &mut line.points).for_each(unsure);
    assert!(report::summary(&noisy).is_empty());
    assert!(!report::page(&noisy).contains("What to know first"));
}

#[test]
fn a_summary_is_short() {
    use Kind::{Limit, Ours, Peer};
    let many = (0..20).map(|n| {
        let (id, value) = (format!("plot-{n}"), 1.0 + f64::from(n) / 4.0);
        let lines = [
            ("shm", Ours, [value, 2.0]),
            ("Open MPI", Peer, [2.0, value]),
            ("memcpy", Limit, [0.5, 0.5]),
        ];
        outcome(Suite::Net, &id, Better::Less, &lines)
    });
    let lines = report::summary(&record(many.collect()));
    assert_eq!(lines.len(), 10, "{lines:#?}");
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.starts_with("Worse: "))
            .count(),
        3
    );
    // Each line is about another plot.
    assert!(lines
        .iter()
        .all(|line| lines.iter().filter(|other| *other == line).count() == 1));
}
