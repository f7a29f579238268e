//! Comparisons of two runs.

mod sample;

use mgn_bench::compare::{compare, lines, Verdict};
use mgn_bench::record::{Better, Distance, Fold, Point, Record, State};
use sample::{point, record, small};

/// The comparison of one point in each run.
fn of(better: Better, a: Point, b: Point) -> mgn_bench::compare::Comparison {
    compare(&small(better, vec![a]), &small(better, vec![b]))
}

fn verdict(better: Better, a: Point, b: Point) -> Option<Verdict> {
    let found = of(better, a, b);
    found.changes.first().map(|change| change.verdict)
}

#[test]
fn changes_are_better_or_worse() {
    let pair = || (point(8.0, 10.0, 0.02), point(8.0, 12.0, 0.02));
    let (a, b) = pair();
    assert_eq!(verdict(Better::Less, a, b), Some(Verdict::Worse));
    let (a, b) = pair();
    assert_eq!(verdict(Better::Less, b, a), Some(Verdict::Better));
    let (a, b) = pair();
    assert_eq!(verdict(Better::More, a, b), Some(Verdict::Better));
    let (a, b) = pair();
    assert_eq!(verdict(Better::Neither, a, b), Some(Verdict::Different));
    let (a, b) = pair();
    let found = of(Better::Less, a, b);
    assert!((found.changes[0].ratio.unwrap() - 1.2).abs() < 1e-9);
    let text = lines(&found);
    assert!(text.contains("worse") && text.contains("1.20"), "{text}");
    assert!(text.contains("1 changed, 0 unchanged"), "{text}");
}

#[test]
fn noise_is_no_change() {
    // First, the intervals overlap. Then they do not, but the medians are close together. Then one
    // of the intervals is not known.
    let found = of(Better::Less, point(8.0, 10.0, 0.2), point(8.0, 12.0, 0.2));
    assert_eq!((found.changes.len(), found.unchanged), (0, 1));
    let found = of(
        Better::Less,
        point(8.0, 10.0, 0.001),
        point(8.0, 10.4, 0.001),
    );
    assert_eq!((found.changes.len(), found.unchanged), (0, 1));
    for state in [State::Noisy, State::Unresolved] {
        let b = Point {
            state,
            ..point(8.0, 90.0, 0.01)
        };
        let found = of(Better::Less, point(8.0, 10.0, 0.01), b);
        assert_eq!((found.changes.len(), found.untold), (0, 1));
        assert!(lines(&found).contains("Nothing changed"));
    }
}

#[test]
fn only_the_same_is_compared() {
    let at = |x: f64, distance: Distance| Point {
        distance,
        ..point(x, 10.0, 0.01)
    };
    let a = vec![
        at(8.0, Distance::Near),
        at(8.0, Distance::Far),
        at(16.0, Distance::Near),
    ];
    let found = compare(
        &small(Better::Less, a),
        &small(
            Better::Less,
            vec![at(8.0, Distance::Far), at(9.0, Distance::Far)],
        ),
    );
    let counts = (found.unchanged, found.only_a, found.only_b);
    assert_eq!(counts, (1, 2, 1));
    let of_unit = |unit: &str| {
        let mut record = small(Better::Less, vec![point(8.0, 10.0, 0.01)]);
        record.outcomes[0].plots[0].y.unit = unit.to_string();
        record
    };
    let found = compare(&of_unit("us"), &of_unit("ms"));
    assert_eq!((found.unchanged, found.only_a, found.only_b), (0, 1, 1));
    assert_eq!(
        found.differences,
        ["latency is a different quantity in A and B"]
    );
    let counted = || {
        let mut record = small(Better::Less, vec![point(8.0, 10.0, 0.0)]);
        record.outcomes[0].plots[0].fold = Fold::Sum;
        record
    };
    assert_eq!(compare(&counted(), &counted()).untold, 1);
}

#[test]
fn a_run_is_like_itself() {
    let found = compare(&record(), &record());
    assert!(found.changes.is_empty() && found.differences.is_empty());
    assert_eq!(found.only_a + found.only_b, 0);
    assert!(found.unchanged > 100 && found.untold > 0);
}

#[test]
fn other_machines_and_versions_are_named() {
    let mut other: Record = record();
    other.head.machine.host = "elsewhere".to_string();
    other.head.machine.versions[1].1 = "5.0.0".to_string();
    other
        .head
        .machine
        .versions
        .push(("UCX".to_string(), "1.13".to_string()));
    other.head.machine.build = "debug".to_string();
    other.head.machine.settings[0].1 = "32768".to_string();
    other.head.is_quick = true;
    let found = compare(&record(), &other);
    assert_eq!(
        found.differences,
        [
            "host: synthetic and elsewhere",
            "build: release and debug",
            "Open MPI: 4.1.4 and 5.0.0",
            "UCX: none and 1.13",
            "eager_shm: 16384 and 32768",
            "extent: full and --quick",
        ]
    );
    let text = lines(&found);
    assert!(
        text.contains("measured under different conditions") && text.contains("elsewhere"),
        "{text}"
    );
}

#[test]
fn changes_come_with_the_worst_first() {
    let a = [10.0, 10.0, 10.0, 0.0].iter().zip(1..);
    let b = [5.0, 12.0, 40.0, 3.0].iter().zip(1..);
    let points = |of: &mut dyn Iterator<Item = (&f64, i32)>| -> Vec<Point> {
        of.map(|(value, x)| point(f64::from(x), *value, 0.0))
            .collect()
    };
    let a = small(Better::Less, points(&mut a.into_iter()));
    let b = small(Better::Less, points(&mut b.into_iter()));
    let found = compare(&a, &b);
    let order: Vec<f64> = found.changes.iter().map(|change| change.x).collect();
    assert_eq!(order, [4.0, 3.0, 2.0, 1.0]);
    assert_eq!(found.changes[0].ratio, None);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["changes"][1]["verdict"], "worse");
    assert_eq!(json["a"]["machine"]["host"], "synthetic");
}
