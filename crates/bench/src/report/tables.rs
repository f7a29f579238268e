//! The tables and lists of a page.

use maud::{html, Markup};

use super::papers::{Fact, Source};
use super::text;
use crate::format::{amount, number};
use crate::record::{Distance, Kind, Outcome, Plot, Point, Series, State};
use crate::table;

/// A series, and its points at one distance.
type Row<'a> = (&'a Series, Vec<&'a Point>);

/// The tables of a plot at one distance: values, then percentiles and CPU seconds if there are any.
pub fn of_plot(plot: &Plot, series: &[&Series], distance: Distance) -> Markup {
    let rows: Vec<Row> = series
        .iter()
        .map(|line| {
            let points = line
                .points
                .iter()
                .filter(|point| point.distance == distance);
            (*line, points.collect())
        })
        .filter(|(_, points): &Row| !points.is_empty())
        .collect();
    let name = text::with_unit(&plot.y.name, &plot.y.unit);
    let suffix = text::distance_name(distance)
        .map_or(String::new(), |name| format!(", {}", name.to_lowercase()));
    let label = |what: &str| format!("{what}{suffix}");
    let has = |of: fn(&Point) -> bool| rows.iter().any(|(_, points)| points.iter().any(|p| of(p)));
    html! {
        div.panel {
            h5 { (label(&name)) }
            (grid(plot, &rows, &label(&name), &|point| value(plot, point)))
            @if has(|point| point.percentiles.is_some()) {
                details {
                    summary { "Percentiles of single values" }
                    (percentiles(plot, &rows, &label(&format!("Percentiles of {name}"))))
                }
            }
            @if has(|point| point.cpu.is_some()) {
                details {
                    summary { "CPU seconds, of this side and of the other" }
                    (grid(plot, &rows, &label("CPU seconds"), &cpu))
                }
            }
        }
    }
}

/// A table that is as narrow as possible: methods are rows if there are more methods than
/// parameters, and columns otherwise.
fn grid(plot: &Plot, rows: &[Row], name: &str, cell: &dyn Fn(&Point) -> Markup) -> Markup {
    let parameters = table::parameters(rows);
    let find = |row: &Row, x: f64| {
        let point = row.1.iter().find(|point| point.x == x);
        html! { td { @if let Some(point) = point { (cell(point)) } } }
    };
    let title = text::with_unit(&plot.x.name, &plot.x.unit);
    let shown = |x: f64| match plot.x.is_parameter() {
        true => amount(x, &plot.x.unit),
        false => String::new(),
    };
    html! {
        (scroll(name, "", html! {
            @if rows.len() > parameters.len() {
                thead { tr { th scope="col" { (title) } @for x in &parameters { th.at scope="col" { (shown(*x)) } } } }
                tbody {
                    @for row in rows {
                        tr { th scope="row" { (method(row.0)) } @for x in &parameters { (find(row, *x)) } }
                    }
                }
            } @else {
                thead { tr { th scope="col" { (title) } @for (line, _) in rows { th scope="col" { (method(line)) } } } }
                tbody {
                    @for x in &parameters {
                        tr { th.at scope="row" { (shown(*x)) } @for row in rows { (find(row, *x)) } }
                    }
                }
            }
        }))
    }
}

fn method(line: &Series) -> Markup {
    html! { (line.name) @if line.kind == Kind::Limit { span.tag { " (limit)" } } }
}

/// A median and its interval, or the reason why there is none.
fn value(plot: &Plot, point: &Point) -> Markup {
    let has_interval = plot.fold == crate::record::Fold::Median;
    html! {
        @match point.state {
            State::Resolved => (number(point.value)),
            State::Unresolved => span.soft { "unresolved" },
            State::Noisy => span.soft { "noisy" },
        }
        @if has_interval { small { (number(point.low)) " – " (number(point.high)) } }
    }
}

fn cpu(point: &Point) -> Markup {
    html! { @if let Some([here, there]) = point.cpu { (number(here)) small { (number(there)) } } }
}

fn percentiles(plot: &Plot, rows: &[Row], name: &str) -> Markup {
    scroll(
        name,
        "",
        html! {
            thead { tr {
                th scope="col" { "method" }
                th scope="col" { (text::with_unit(&plot.x.name, &plot.x.unit)) }
                @for title in ["50 %", "90 %", "99 %", "99.9 %", "most"] { th scope="col" { (title) } }
            } }
            tbody {
                @for (line, points) in rows {
                    @for point in points {
                        @if let Some(found) = &point.percentiles {
                            tr {
                                th scope="row" { (method(line)) }
                                td { (amount(point.x, &plot.x.unit)) }
                                @for value in found.all() { td { @if let Some(value) = value { (number(value)) } } }
                            }
                        }
                    }
                }
            }
        },
    )
}

/// The goals and comparisons of an experiment. A missed goal stands out.
pub fn goals(outcome: &Outcome) -> Markup {
    let has_targets = outcome.goals.iter().any(|of| of.goal.target.is_some());
    let rows = table::goals(outcome);
    html! {
        @if !rows.is_empty() {
            h4 { @if has_targets { "Goals" } @else { "Comparisons" } }
            (scroll("Goals", "words", html! {
                thead { tr { @for title in table::GOAL_TITLES { th scope="col" { (title) } } } }
                tbody {
                    @for (result, cells) in &rows {
                        tr {
                            @for (at, cell) in cells.iter().enumerate() {
                                @if at == 0 { th scope="row" { (cell) } }
                                @else { td.bad[at + 1 == cells.len() && result.is_reached == Some(false)] { (cell) } }
                            }
                        }
                    }
                }
            }))
        }
    }
}

/// The methods of an experiment, the commands for their measurements, and errors.
pub fn methods(outcome: &Outcome) -> Markup {
    let mut shown: Vec<&Series> = Vec::new();
    for line in &outcome.series {
        let is_known = |other: &&Series| other.command == line.command && other.note == line.note;
        let is_of_one_kind =
            |other: &&Series| is_known(other) && other.points.is_empty() == line.points.is_empty();
        let is_same = |other: &&Series| {
            is_of_one_kind(other) && (!line.command.is_empty() || other.name == line.name)
        };
        if !shown.iter().any(is_same) {
            shown.push(line);
        }
    }
    let (measured, missing): (Vec<&Series>, Vec<&Series>) =
        shown.into_iter().partition(|line| !line.points.is_empty());
    html! {
        @if !missing.is_empty() {
            h4 { "Not measured" }
            ul.methods.small { @for line in &missing { (described(line)) } }
        }
        @if !measured.is_empty() {
            details {
                summary { "How to measure the same" }
                ul.methods.small { @for line in &measured { (described(line)) } }
            }
        }
        @let failed: Vec<&&Series> = measured.iter().filter(|line| line.note.is_some()).collect();
        @if !failed.is_empty() {
            h4 { "Failed at times" }
            ul.methods.small {
                @for line in &failed { li { strong { (line.name) } ": " span.bad { (line.note.as_deref().unwrap_or_default()) } } }
            }
        }
    }
}

fn described(line: &Series) -> Markup {
    let kind = match line.kind {
        Kind::Ours => "Manganese",
        Kind::Peer => "for comparison",
        Kind::Limit => "limit of the machine",
    };
    html! {
        li {
            strong { (line.name) } span.tag { " (" (kind) ")" }
            @if let Some(note) = &line.note { ": " span.bad { (note) } }
            @if !line.command.is_empty() { br; code { (line.command) } }
        }
    }
}

/// The figures of the papers, next to our figures for the same quantity.
pub fn of_papers(facts: &[&Fact], outcomes: &[&Outcome]) -> Markup {
    let mut sources: Vec<Source> = Vec::new();
    for fact in facts {
        if !sources.contains(&fact.source) {
            sources.push(fact.source);
        }
    }
    html! {
        h3 { "In the papers" }
        @for source in &sources { p.soft.small { (source.name()) ": " (source.about()) "." } }
        (scroll("Figures of papers", "words", html! {
            thead { tr { th scope="col" { "quantity" } th scope="col" { "system" } th scope="col" { "figure" } th scope="col" { "here" } } }
            tbody {
                @for fact in facts {
                    @let here = fact.here(outcomes);
                    tr {
                        th scope="row" { (fact.quantity) }
                        td { (fact.source.name()) }
                        td { (fact.figure) }
                        td {
                            @if here.is_empty() { "–" }
                            @for (plot, name, point) in &here {
                                (table::cell(point))
                                @if point.state == State::Resolved { " " (text::unit(&plot.y.unit)) }
                                small {
                                    (name) ", " (plot.x.name) " " (amount(point.x, &plot.x.unit))
                                    @if let Some(distance) = text::distance_name(point.distance) { ", " (distance.to_lowercase()) }
                                }
                            }
                        }
                    }
                }
            }
        }))
    }
}

/// A table that scrolls in its own box if it is too wide.
fn scroll(name: &str, class: &str, rows: Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) { table class=(class) aria-label=(name) { (rows) } }
    }
}
