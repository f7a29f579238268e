//! Goals in the table, on the page and in the files.

mod sample;

use mgn_bench::record::{Axis, Distance, Outcome};
use mgn_bench::{report, store, table};
use sample::record;

fn with_goals() -> Outcome {
    let mut outcomes = record().outcomes.into_iter();
    outcomes.find(|outcome| !outcome.goals.is_empty()).unwrap()
}

/// The only line of a text that contains all of these words.
#[track_caller]
fn line<'t>(text: &'t str, words: &[&str]) -> &'t str {
    let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
    let found: Vec<&str> = text.lines().filter(has_all).collect();
    assert_eq!(found.len(), 1, "{words:?} in {text}");
    found[0].trim()
}

#[test]
fn the_table_has_each_goal() {
    let text = table::lines(&with_goals());
    let reached = line(&text, &["discard, 1", "times as good as null", ">= 0.400"]);
    assert!(reached.ends_with("yes"), "{reached}");
    let missed = line(&text, &["render, 1", "times as good as null", ">= 0.900"]);
    assert!(missed.ends_with("NO"), "{missed}");
    // A comparison has neither a target nor a verdict.
    let compared = line(&text, &["more than the best of null, discard"]);
    assert!(
        !compared.contains('=') && !compared.contains("NO"),
        "{compared}"
    );
}

#[test]
fn the_page_counts_and_lists_goals() {
    let page = report::page(&record());
    assert!(page.contains("1 of 2 goals are reached"));
    assert!(page.contains("times as good as null") && page.contains("&gt;= 0.900"));
    assert!(page.contains("<td class=\"bad\">NO</td>"));
    assert_eq!(page.matches("<h4>Goals</h4>").count(), 1);
}

#[test]
fn files_keep_goals() {
    let text = store::json(&record()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut outcomes = value["outcomes"].as_array().unwrap().iter();
    let outcome = outcomes.find(|outcome| outcome["goals"] != serde_json::json!([]));
    let goals = outcome.unwrap()["goals"].as_array().unwrap();
    assert_eq!(goals[0]["target"]["at_least"], 0.4);
    assert_eq!(
        (&goals[0]["quantity"], &goals[0]["others"][0]),
        (&"ratio".into(), &"null".into())
    );
    assert_eq!(
        (&goals[0]["is_reached"], &goals[1]["is_reached"]),
        (&true.into(), &false.into())
    );
    assert!(goals[2]["target"].is_null() && goals[2]["is_reached"].is_null());
    let read: Outcome = serde_json::from_value(outcome.unwrap().clone()).unwrap();
    assert_eq!(read.goals.len(), 3);
}

#[test]
fn a_plot_without_a_parameter_shows_none() {
    let mut outcome = with_goals();
    outcome.goals.clear();
    outcome.plots.retain(|plot| plot.id == "servers");
    outcome.series.retain(|line| line.plot == "servers");
    outcome.plots[0].x = Axis::none();
    for line in &mut outcome.series {
        line.points.truncate(1);
        line.points[0].x = 0.0;
        line.points[0].distance = Distance::Any;
    }
    let text = table::lines(&outcome);
    line(&text, &["median", "interval"]);
    assert!(!text.contains(", by") && !text.contains("CPU"), "{text}");
    for line in &mut outcome.series {
        line.points[0].cpu = Some([1.25, 0.5]);
    }
    let text = table::lines(&outcome);
    line(&text, &["median", "interval", "CPU s"]);
    line(&text, &["render", "1.25", "0.500"]);
    // A reason that several methods share is printed once.
    for line in &mut outcome.series[..2] {
        line.note = Some("it is not installed".to_string());
    }
    line(
        &table::lines(&outcome),
        &["null, discard: it is not installed"],
    );
}
