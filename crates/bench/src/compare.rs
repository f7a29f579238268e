//! The comparison of two runs: changes that are larger than the uncertainty of both.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use comfy_table::{presets, CellAlignment, Table};
use serde::Serialize;

use crate::format::{amount, number};
use crate::record::{Better, Distance, Fold, Head, Plot, Point, Record, State};

/// Medians whose relative difference is smaller than this count as equal, even if their intervals
/// are narrow.
pub const MIN_CHANGE: f64 = 0.05;

/// The schema name in the JSON of a comparison.
pub const SCHEMA: &str = "manganese bench comparison";

pub const VERSION: u32 = 2;

/// The changes from `a` to `b`.
#[derive(Debug, Serialize)]
pub struct Comparison {
    pub schema: &'static str,
    pub version: u32,
    pub a: Head,
    pub b: Head,
    /// Differences of the machine, the versions and the options, in words.
    pub differences: Vec<String>,
    /// Worse results come first. Among results with the same verdict, the largest changes come
    /// first.
    pub changes: Vec<Change>,
    pub unchanged: usize,
    /// The number of points that cannot be judged, because at least one of the two values is
    /// unresolved, noisy, or a count without an interval.
    pub untold: usize,
    pub only_a: usize,
    pub only_b: usize,
}

#[derive(Debug, Serialize)]
pub struct Change {
    pub plot: String,
    pub title: String,
    pub method: String,
    pub x: f64,
    pub x_unit: String,
    #[serde(rename = "place")]
    pub distance: Distance,
    pub verdict: Verdict,
    /// `b` divided by `a`; null if `a` is zero.
    pub ratio: Option<f64>,
    pub a: Interval,
    pub b: Interval,
    pub unit: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Worse,
    Better,
    /// The result changed, and neither more nor less is better.
    Different,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// The plot, the name of the series, the bits of x, and the distance.
type Key<'a> = (&'a str, &'a str, u64, Distance);

pub fn compare(a: &Record, b: &Record) -> Comparison {
    let (mut of_a, mut of_b) = (points(a), points(b));
    let differing = |key: &Key, (plot, _): &(&Plot, &Point)| {
        let other = of_b.get(key);
        other.is_some_and(|(other, _)| !is_same_quantity(plot, other))
    };
    let redefined: Vec<String> = of_a
        .iter()
        .filter(|(key, found)| differing(key, found))
        .map(|(key, _)| key.0.to_string())
        .collect();
    let mut differences = differences(&a.head, &b.head);
    for plot in deduplicated(redefined.clone()) {
        differences.push(format!("{plot} is a different quantity in A and B"));
    }
    let was_redefined = |key: &Key| redefined.iter().any(|plot| plot == key.0);
    let (mut changes, mut unchanged, mut untold) = (Vec::new(), 0, 0);
    let both: Vec<Key> = of_a
        .keys()
        .filter(|key| of_b.contains_key(*key) && !was_redefined(key))
        .copied()
        .collect();
    for key in both {
        let (Some((plot, one)), Some((_, other))) = (of_a.remove(&key), of_b.remove(&key)) else {
            continue;
        };
        match judge(plot, one, other) {
            Judgement::Changed(verdict) => changes.push(change(plot, key, one, other, verdict)),
            Judgement::Unchanged => unchanged += 1,
            Judgement::Undecided => untold += 1,
        }
    }
    changes.sort_by(order);
    Comparison {
        schema: SCHEMA,
        version: VERSION,
        a: a.head.clone(),
        b: b.head.clone(),
        differences,
        changes,
        unchanged,
        untold,
        only_a: of_a.len(),
        only_b: of_b.len(),
    }
}

fn points(record: &Record) -> BTreeMap<Key<'_>, (&Plot, &Point)> {
    let mut found = BTreeMap::new();
    for outcome in &record.outcomes {
        for series in &outcome.series {
            let Some(plot) = outcome.plots.iter().find(|plot| plot.id == series.plot) else {
                continue;
            };
            for point in &series.points {
                let key = (
                    &plot.id[..],
                    &series.name[..],
                    point.x.to_bits(),
                    point.distance,
                );
                found.insert(key, (plot, point));
            }
        }
    }
    found
}

fn is_same_quantity(one: &Plot, other: &Plot) -> bool {
    let of = |plot: &Plot| (plot.x.unit.clone(), plot.y.unit.clone(), plot.fold);
    of(one) == of(other)
}

enum Judgement {
    Changed(Verdict),
    Unchanged,
    Undecided,
}

fn judge(plot: &Plot, a: &Point, b: &Point) -> Judgement {
    let is_sure = a.state == State::Resolved && b.state == State::Resolved;
    if plot.fold != Fold::Median || !is_sure {
        return Judgement::Undecided;
    }
    let overlap = a.low <= b.high && b.low <= a.high;
    if overlap || (b.value - a.value).abs() <= MIN_CHANGE * a.value.abs() {
        return Judgement::Unchanged;
    }
    Judgement::Changed(match (plot.better, b.value > a.value) {
        (Better::Neither, _) => Verdict::Different,
        (Better::More, true) | (Better::Less, false) => Verdict::Better,
        (Better::More, false) | (Better::Less, true) => Verdict::Worse,
    })
}

fn change(plot: &Plot, key: Key, a: &Point, b: &Point, verdict: Verdict) -> Change {
    let interval = |point: &Point| Interval {
        value: point.value,
        low: point.low,
        high: point.high,
    };
    Change {
        plot: plot.id.clone(),
        title: plot.title.clone(),
        method: key.1.to_string(),
        x: a.x,
        x_unit: plot.x.unit.clone(),
        distance: key.3,
        verdict,
        ratio: (a.value != 0.0).then(|| b.value / a.value),
        a: interval(a),
        b: interval(b),
        unit: plot.y.unit.clone(),
    }
}

fn order(one: &Change, other: &Change) -> Ordering {
    // A doubled value and a halved value are equally large changes.
    let size = |change: &Change| {
        let ratio = change.ratio.filter(|ratio| *ratio > 0.0);
        ratio.map_or(f64::INFINITY, |ratio| ratio.ln().abs())
    };
    one.verdict
        .cmp(&other.verdict)
        .then(size(other).total_cmp(&size(one)))
}

/// The differences between the conditions of two runs, in words.
pub fn differences(a: &Head, b: &Head) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |what: &str, one: String, other: String| {
        if one != other {
            let name = |text: String| match text.is_empty() {
                true => "none".to_string(),
                false => text,
            };
            found.push(format!("{what}: {} and {}", name(one), name(other)));
        }
    };
    let (here, there) = (&a.machine, &b.machine);
    add("host", here.host.clone(), there.host.clone());
    add("processor", here.processor.clone(), there.processor.clone());
    add(
        "processors",
        here.processors.to_string(),
        there.processors.to_string(),
    );
    let gib = |gib: f64| format!("{gib} GiB");
    add("memory", gib(here.memory_gib), gib(there.memory_gib));
    add("kernel", here.kernel.clone(), there.kernel.clone());
    add("system", here.system.clone(), there.system.clone());
    let hypervisor = |is: bool| if is { "yes" } else { "no" }.to_string();
    add(
        "hypervisor",
        hypervisor(here.hypervisor),
        hypervisor(there.hypervisor),
    );
    add(
        "congestion control",
        here.congestion_control.clone(),
        there.congestion_control.clone(),
    );
    add("build", here.build.clone(), there.build.clone());
    for (here, there) in [
        (&here.versions, &there.versions),
        (&here.settings, &there.settings),
    ] {
        let names = here.iter().chain(there).map(|(name, _)| name.clone());
        for name in deduplicated(names.collect()) {
            let value = |of: &[(String, String)]| {
                let found = of.iter().find(|(other, _)| *other == name);
                found.map_or(String::new(), |(_, value)| value.clone())
            };
            add(&name, value(here), value(there));
        }
    }
    let extent = |is_quick: bool| if is_quick { "--quick" } else { "full" }.to_string();
    add("extent", extent(a.is_quick), extent(b.is_quick));
    found
}

/// Each name once, in the order of first occurrence.
fn deduplicated(names: Vec<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// A comparison as text for a terminal.
pub fn lines(comparison: &Comparison) -> String {
    let mut text = String::new();
    if !comparison.differences.is_empty() {
        text += "A and B were measured under different conditions:\n";
        for difference in &comparison.differences {
            text += &format!("  {difference}\n");
        }
        text += "\n";
    }
    if comparison.changes.is_empty() {
        text += "Nothing changed beyond noise.\n";
    } else {
        text += &format!("{}\n\n", table(&comparison.changes));
    }
    let counts = [
        (comparison.changes.len(), "changed"),
        (comparison.unchanged, "unchanged"),
        (comparison.untold, "cannot be told"),
        (comparison.only_a, "only in A"),
        (comparison.only_b, "only in B"),
    ];
    let counts = counts.map(|(count, what)| format!("{count} {what}"));
    text + &counts.join(", ") + "\n"
}

fn table(changes: &[Change]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(["", "plot", "method", "at", "A", "B", "unit", "B/A"]);
    for change in changes {
        let distance = match change.distance {
            Distance::Near => ", near",
            Distance::Far => ", far",
            Distance::Any => "",
        };
        let interval = |it: &Interval| {
            let Interval { value, low, high } = it;
            format!("{} ({}-{})", number(*value), number(*low), number(*high))
        };
        table.add_row([
            match change.verdict {
                Verdict::Worse => "worse".to_string(),
                Verdict::Better => "better".to_string(),
                Verdict::Different => "different".to_string(),
            },
            change.plot.clone(),
            change.method.clone(),
            amount(change.x, &change.x_unit) + distance,
            interval(&change.a),
            interval(&change.b),
            change.unit.clone(),
            change.ratio.map_or("-".to_string(), |r| format!("{r:.2}")),
        ]);
    }
    if let Some(ratio) = table.column_mut(7) {
        ratio.set_cell_alignment(CellAlignment::Right);
    }
    table
}
