//! The page of a run: one file without scripts, which loads no other file.

mod chart;
mod papers;
mod scale;
mod summary;
mod tables;
mod text;

use std::collections::BTreeMap;

use maud::{html, Markup, PreEscaped, DOCTYPE};

use crate::format::{amount, number};
use crate::record::{Distance, Fold, Kind, Outcome, Plot, Point, Record, Series, State};
use crate::suite::Suite;
use chart::{Form, Line, LineStyle, Panel, Shape};
use papers::{Fact, Mark, Parameter, Source, FACTS};
use scale::Scale;

pub use summary::lines as summary;

const STYLE: &str = include_str!("page.css");

/// The form for phones.
const NARROW: Form = Form {
    class: "narrow",
    width: 328.0,
    height: 290.0,
    has_hints: false,
};

/// The form of each of two panels side by side.
const HALF: Form = Form {
    class: "wide",
    width: 546.0,
    height: 380.0,
    has_hints: true,
};

/// The form of a single panel.
const WHOLE: Form = Form {
    width: 760.0,
    height: 400.0,
    ..HALF
};

pub fn page(record: &Record) -> String {
    let suites = suites(record);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content="mgn bench report";
                title { "mgn bench: " (record.head.machine.host) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "What " (record.head.machine.host) " can do" }
                (first(record))
                (head(record))
                (contents(&suites))
                @for (suite, outcomes) in &suites { (section(*suite, outcomes)) }
            }
        }
    };
    page.into_string()
}

/// The experiments of each suite, in the order in which they were measured.
fn suites(record: &Record) -> Vec<(Suite, Vec<&Outcome>)> {
    let mut suites: Vec<(Suite, Vec<&Outcome>)> = Vec::new();
    for outcome in &record.outcomes {
        match suites.iter_mut().find(|(suite, _)| *suite == outcome.suite) {
            Some((_, outcomes)) => outcomes.push(outcome),
            None => suites.push((outcome.suite, vec![outcome])),
        }
    }
    suites
}

/// The summary, with good and bad results.
fn first(record: &Record) -> Markup {
    let lines = summary::lines(record);
    html! {
        @if !lines.is_empty() {
            h2 id="summary" { "What to know first" }
            ul { @for line in &lines { li { (line) } } }
        }
    }
}

fn head(record: &Record) -> Markup {
    let head = &record.head;
    let machine = &head.machine;
    let named = |values: &[(String, String)]| -> Vec<String> {
        let values = values.iter();
        values
            .map(|(name, value)| format!("{name} {value}"))
            .collect()
    };
    let (versions, settings) = (named(&machine.versions), named(&machine.settings));
    let seconds: f64 = record.outcomes.iter().map(|outcome| outcome.seconds).sum();
    let memory = format!("{} GiB of memory", machine.memory_gib);
    html! {
        dl.head {
            dt { "Machine" }
            dd {
                (machine.processor) ", " (text::count(machine.processors, "processor"))
                @if machine.hypervisor { " of a virtual machine" }
                ", " (memory)
            }
            dt { "System" }
            dd { (machine.system) ", " (machine.kernel) ", TCP with " (machine.congestion_control) }
            dt { "Versions" }
            dd { (versions.join(", ")) ", a " (machine.build) " build" }
            dt { "Settings" }
            dd { (settings.join(", ")) }
            dt { "Command" }
            dd { code { (head.command) } }
            dt { "Measured" }
            dd {
                (text::date(head.began)) ", "
                @if head.is_quick { "quick: fewer sizes and rounds than a full run" } @else { "in full" }
                ", " (number(seconds.round())) " s"
            }
            @if let Some(words) = record.precision_summary() {
                dt { "How sure" }
                dd { (words) }
            }
            @if let Some(words) = record.goal_summary() {
                dt { "Goals" }
                dd { (words) }
            }
        }
        p.soft.small {
            "Each number is a median over rounds, with the interval in which it lies in at least 93 % of all cases. "
            em { "unresolved" } ": fewer than five rounds counted. "
            em { "noisy" } ": the rounds disagree too much for any number to mean something. Plots show unresolved numbers faintly, and only the intervals of noisy ones. "
            "Thick lines show Manganese, thin lines other libraries and programs, dashed lines the limits of the machine, and dotted lines and stars "
            "figures from papers. Processors are near when a cache line changes hands between them in less than 150 ns."
        }
    }
}

fn contents(suites: &[(Suite, Vec<&Outcome>)]) -> Markup {
    html! {
        nav aria-label="Contents" {
            ul {
                @for (suite, outcomes) in suites {
                    li {
                        a href=(format!("#{}", suite.name())) { (suite.title()) }
                        ul.small {
                            @for plot in outcomes.iter().flat_map(|outcome| titled(outcome)) {
                                li { a href=(format!("#plot-{}", plot.id)) { (plot.title) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn section(suite: Suite, outcomes: &[&Outcome]) -> Markup {
    let facts: Vec<&Fact> = FACTS
        .iter()
        .filter(|fact| fact.suite == suite.name() || is_of(fact, outcomes))
        .collect();
    let line_styles = line_styles(outcomes);
    html! {
        section {
            h2 id=(suite.name()) { (suite.title()) }
            @for outcome in outcomes { (experiment(outcome, &facts, &line_styles)) }
            @if !facts.is_empty() { (tables::of_papers(&facts, outcomes)) }
        }
    }
}

/// Whether one of the plots in these outcomes shows the quantity.
fn is_of(fact: &Fact, outcomes: &[&Outcome]) -> bool {
    let mut plots = outcomes.iter().flat_map(|outcome| &outcome.plots);
    plots.any(|plot| fact.mark.as_ref().is_some_and(|mark| mark.is_of(plot)))
}

/// The style of each name. A name has the same style in all plots of a suite.
fn line_styles<'a>(outcomes: &[&'a Outcome]) -> BTreeMap<&'a str, LineStyle> {
    let mut line_styles = BTreeMap::new();
    for line in outcomes.iter().flat_map(|outcome| &outcome.series) {
        let next = LineStyle::of(line_styles.len());
        if !line.points.is_empty() {
            line_styles.entry(&line.name[..]).or_insert(next);
        }
    }
    line_styles
}

fn experiment(
    outcome: &Outcome,
    facts: &[&Fact],
    line_styles: &BTreeMap<&str, LineStyle>,
) -> Markup {
    html! {
        h3 { (outcome.key) }
        p.soft.small {
            (text::count(outcome.rounds as usize, "round")) " in " (number(outcome.seconds)) " s."
            @for note in &outcome.notes { " " (sentence(note)) }
        }
        @for plot in titled(outcome) { (figure(outcome, plot, facts, line_styles)) }
        (tables::goals(outcome))
        (tables::methods(outcome))
    }
}

/// The plots that have a title. Experiments that could not be planned have a plot without a title.
fn titled(outcome: &Outcome) -> impl Iterator<Item = &Plot> {
    outcome.plots.iter().filter(|plot| !plot.title.is_empty())
}

fn sentence(note: &str) -> String {
    match note.ends_with(['.', '!', '?']) {
        true => note.to_string(),
        false => format!("{note}."),
    }
}

/// A plot with a panel for each distance that was measured, and its tables.
fn figure(
    outcome: &Outcome,
    plot: &Plot,
    facts: &[&Fact],
    line_styles: &BTreeMap<&str, LineStyle>,
) -> Markup {
    let series: Vec<&Series> = outcome
        .series
        .iter()
        .filter(|line| line.plot == plot.id)
        .collect();
    let distances: Vec<(Distance, Vec<Line>)> = Distance::ALL
        .into_iter()
        .map(|distance| (distance, lines(&series, distance, line_styles)))
        .filter(|(_, lines)| !lines.is_empty())
        .collect();
    let points: Vec<&Point> = series.iter().flat_map(|line| &line.points).collect();
    let facts: Vec<&Fact> = facts
        .iter()
        .filter(|fact| fact.mark.as_ref().is_some_and(|mark| mark.is_of(plot)))
        .copied()
        .collect();
    let marks = facts
        .iter()
        .filter_map(|fact| Some((fact.source, placed(fact, &points)?)));
    let marks: Vec<(Source, Mark)> = marks.collect();
    let shape = shape(plot, &points);
    let (parameters, values) = scales(plot, shape, &points, &marks);
    html! {
        h4 id=(format!("plot-{}", plot.id)) { (plot.title) }
        @if distances.is_empty() { p { "Nothing was measured." } }
        @else {
            (legend(&distances, &facts, shape))
            div.panels {
                @for (distance, lines) in &distances {
                    @let description = description(plot, *distance, lines);
                    @let panel = Panel {
                        plot, shape, lines, marks: &marks, parameters: &parameters, values: &values, description: &description,
                    };
                    div.panel.alone[distances.len() == 1] {
                        @let unknown = (distances.len() > 1).then_some("Distance unknown");
                        @if let Some(name) = text::distance_name(*distance).or(unknown) { h5 { (name) } }
                        (panel.svg(if distances.len() > 1 { HALF } else { WHOLE }))
                        (panel.svg(NARROW))
                    }
                }
                @for (distance, _) in &distances { (tables::of_plot(plot, &series, *distance)) }
            }
            @if shape == Shape::Dots && plot.x.is_parameter() { p.soft.small { "At " (plot.x.name) " " (amount(points[0].x, &plot.x.unit)) "." } }
        }
    }
}

fn lines<'a>(
    series: &[&'a Series],
    distance: Distance,
    line_styles: &BTreeMap<&str, LineStyle>,
) -> Vec<Line<'a>> {
    let of = |line: &&'a Series| Line {
        name: &line.name,
        kind: line.kind,
        line_style: line_styles
            .get(&line.name[..])
            .copied()
            .unwrap_or(LineStyle::of(0)),
        points: line
            .points
            .iter()
            .filter(|p| p.distance == distance)
            .collect(),
    };
    let mut lines: Vec<Line> = series.iter().map(of).collect();
    lines.retain(|line| !line.points.is_empty());
    lines
}

/// The position of a paper's figure among these points. `None` if the figure has no position.
fn placed(fact: &Fact, points: &[&Point]) -> Option<Mark> {
    let mark = fact.mark.as_ref()?;
    let least = points.iter().map(|point| point.x).min_by(f64::total_cmp);
    let at = match mark.at {
        Parameter::Smallest => least.map_or(Parameter::Best, Parameter::Value),
        at => at,
    };
    Some(Mark { at, ..*mark })
}

fn shape(plot: &Plot, points: &[&Point]) -> Shape {
    let is_one = points.iter().all(|point| point.x == points[0].x);
    match plot.fold {
        _ if is_one => Shape::Dots,
        Fold::Sum => Shape::Bars,
        _ => Shape::Lines,
    }
}

/// The scales of the parameters and of the values, for all distances.
fn scales(
    plot: &Plot,
    shape: Shape,
    points: &[&Point],
    marks: &[(Source, Mark)],
) -> (Scale, Scale) {
    let mut parameters: Vec<f64> = points.iter().map(|point| point.x).collect();
    parameters.extend(marks.iter().filter_map(|(_, mark)| match mark.at {
        Parameter::Value(x) => Some(x),
        _ => None,
    }));
    let parameters = match shape {
        Shape::Bars => {
            parameters.sort_by(f64::total_cmp);
            parameters.dedup();
            Scale::Steps(parameters)
        }
        _ => Scale::of_parameters(&plot.x, &parameters),
    };
    // The interval of a noisy point does not affect the scale.
    let ends = |point: &&Point| match point.state {
        State::Noisy => vec![point.value],
        _ => vec![point.value, point.low, point.high],
    };
    let mut values: Vec<f64> = points.iter().flat_map(ends).collect();
    values.extend(
        marks
            .iter()
            .filter_map(|(_, mark)| mark.value_in(&plot.y.unit)),
    );
    // A bar for a count of one must be visible.
    if shape == Shape::Bars && plot.y.is_log {
        values.push(0.5);
        values.retain(|value| *value > 0.0);
    }
    let from_zero = shape != Shape::Lines;
    (parameters, Scale::of_values(&plot.y, &values, from_zero))
}

/// "Latency: one-way latency (µs) by message size (B), processors near, of shm and tcp. The numbers
/// are in the table below."
fn description(plot: &Plot, distance: Distance, lines: &[Line]) -> String {
    let names: Vec<&str> = lines.iter().map(|line| line.name).collect();
    let distance = text::distance_name(distance)
        .map_or(String::new(), |name| format!(", {}", name.to_lowercase()));
    let by = match plot.x.is_parameter() {
        true => format!(" by {}", text::with_unit(&plot.x.name, &plot.x.unit)),
        false => String::new(),
    };
    format!(
        "{}: {}{by}{distance}, of {}. The numbers are in the table below.",
        plot.title,
        text::with_unit(&plot.y.name, &plot.y.unit),
        names.join(", ")
    )
}

/// The lines of all panels, and the papers' figures.
fn legend(distances: &[(Distance, Vec<Line>)], facts: &[&Fact], shape: Shape) -> Markup {
    let mut shown: Vec<&Line> = Vec::new();
    for line in distances.iter().flat_map(|(_, lines)| lines) {
        // Dots need no legend, because the plot contains their names.
        if shape != Shape::Dots && !shown.iter().any(|other| other.name == line.name) {
            shown.push(line);
        }
    }
    html! {
        ul.legend {
            @for line in &shown {
                li { (chart::key(line.kind, line.line_style, shape)) span { (line.name) @if line.kind == Kind::Limit { span.tag { " (limit)" } } } }
            }
            @for (source, is_point, description_of_fact) in of_papers(facts, shape) {
                li { (chart::paper_key(source, is_point)) span.tag { strong { (source.name()) } " " (description_of_fact) } }
            }
        }
    }
}

/// The figures of papers, grouped by appearance: the paper, whether the figures are points, and a
/// description.
fn of_papers(facts: &[&Fact], shape: Shape) -> Vec<(Source, bool, String)> {
    let mut found: Vec<(Source, bool, String)> = Vec::new();
    for fact in facts {
        let at = fact.mark.as_ref().map(|mark| mark.at);
        let has_place = matches!(at, Some(Parameter::Smallest | Parameter::Value(_)));
        let is_point = has_place && shape == Shape::Lines;
        let description_of_fact = format!("{}: {}", fact.quantity, fact.figure);
        match found
            .iter_mut()
            .find(|(source, is, _)| (*source, *is) == (fact.source, is_point))
        {
            Some((.., all)) => *all += &format!("; {description_of_fact}"),
            None => found.push((fact.source, is_point, description_of_fact)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_end_with_a_full_stop() {
        assert_eq!(sentence("reno"), "reno.");
        assert_eq!(sentence("Is it?"), "Is it?");
    }
}
