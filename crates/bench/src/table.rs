//! Tables of outcomes for a terminal.

use comfy_table::{presets, CellAlignment, Table};

use crate::format::{amount, bytes, number};
use crate::goals::{GoalResult, Target};
use crate::record::{Distance, Kind, Outcome, Plot, Point, Series, State};

/// The tables of an experiment: one for each plot and distance, with a row for each method and a
/// column for each x.
pub fn lines(outcome: &Outcome) -> String {
    let mut text = String::new();
    for plot in &outcome.plots {
        let of_plot = || outcome.series.iter().filter(|line| line.plot == plot.id);
        for distance in Distance::ALL {
            let lines: Vec<(&Series, Vec<&Point>)> = of_plot()
                .map(|line| (line, line.points.iter()))
                .map(|(line, points)| (line, points.filter(|p| p.distance == distance).collect()))
                .filter(|(_, points): &(_, Vec<_>)| !points.is_empty())
                .collect();
            if !lines.is_empty() {
                text += &format!("\n{}\n{}\n", heading(plot, distance), table(plot, &lines));
            }
        }
    }
    if !outcome.goals.is_empty() {
        text += &format!("\n{}\n", goal_table(outcome));
    }
    for (names, note) in noted(outcome) {
        text += &format!("{}: {note}\n", names.join(", "));
    }
    for note in &outcome.notes {
        text += &format!("{note}\n");
    }
    text
}

/// "One-way latency (us), by message size (B), processors near".
fn heading(plot: &Plot, distance: Distance) -> String {
    let unit = |unit: &str| match unit {
        "" => String::new(),
        unit => format!(" ({unit})"),
    };
    let distance = match distance {
        Distance::Near => ", processors near",
        Distance::Far => ", processors far",
        Distance::Any => "",
    };
    let (x, y) = (&plot.x, &plot.y);
    let by = match x.is_parameter() {
        true => format!(", by {}{}", x.name, unit(&x.unit)),
        false => String::new(),
    };
    format!("{}: {}{}{by}{distance}", plot.title, y.name, unit(&y.unit))
}

/// The notes of series, each with the names of the series that have it.
fn noted(outcome: &Outcome) -> Vec<(Vec<&str>, &str)> {
    let mut all: Vec<(Vec<&str>, &str)> = Vec::new();
    for line in &outcome.series {
        let Some(note) = &line.note else { continue };
        let name = &line.name[..];
        match all.iter_mut().find(|(_, other)| other == note) {
            Some((names, _)) if names.contains(&name) => {}
            Some((names, _)) => names.push(name),
            None => all.push((vec![name], note)),
        }
    }
    all
}

/// The columns of [`goals`].
pub const GOAL_TITLES: [&str; 5] = ["", "by round (range)", "", "target", "reached"];

/// The goals and comparisons of an experiment, each with the cells of its row.
pub fn goals(outcome: &Outcome) -> Vec<(&GoalResult, [String; 5])> {
    let plot = |id: &str| outcome.plots.iter().find(|plot| plot.id == id);
    let mut plots: Vec<&str> = outcome.goals.iter().map(|of| &of.goal.plot[..]).collect();
    plots.dedup();
    let has_titles = plots.len() > 1;
    let row = |result: &GoalResult| {
        let (goal, plot) = (&result.goal, plot(&result.goal.plot)?);
        let mut what = goal.method.clone();
        if plot.x.is_parameter() {
            what += &format!(", {}", amount(goal.x, &plot.x.unit));
        }
        what += match result.distance {
            Distance::Near => ", near",
            Distance::Far => ", far",
            Distance::Any => "",
        };
        if has_titles {
            what += &format!(": {}", plot.title);
        }
        let [value, least, greatest] = [result.value, result.least, result.greatest].map(number);
        Some([
            what,
            format!("{value} ({least} to {greatest})"),
            result.words(plot),
            goal.target.map_or(String::new(), Target::words),
            result.verdict().to_string(),
        ])
    };
    let goals = outcome.goals.iter();
    goals
        .filter_map(|result| Some((result, row(result)?)))
        .collect()
}

fn goal_table(outcome: &Outcome) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(GOAL_TITLES);
    for (_, cells) in goals(outcome) {
        table.add_row(cells);
    }
    table
}

/// The parameters of a plot for which any series has a point, in order.
pub fn parameters(lines: &[(&Series, Vec<&Point>)]) -> Vec<f64> {
    let parameters = lines.iter().flat_map(|(_, points)| points);
    let mut parameters: Vec<f64> = parameters.map(|point| point.x).collect();
    parameters.sort_by(f64::total_cmp);
    parameters.dedup();
    parameters
}

fn table(plot: &Plot, lines: &[(&Series, Vec<&Point>)]) -> Table {
    if !plot.x.is_parameter() {
        return single_table(lines);
    }
    let parameters = parameters(lines);
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let title = |x: &f64| match plot.x.unit.as_str() {
        "B" => bytes(*x),
        _ => format!("{x}"),
    };
    table.set_header(std::iter::once(String::new()).chain(parameters.iter().map(title)));
    for (line, points) in lines {
        let cell = |x: &f64| {
            let point = points.iter().find(|point| point.x == *x);
            point.map_or(String::new(), |point| cell(point))
        };
        table.add_row(std::iter::once(name(line)).chain(parameters.iter().map(cell)));
    }
    align(&mut table);
    table
}

/// The table of a plot without a parameter: the value of each method, its interval, and CPU
/// seconds.
fn single_table(lines: &[(&Series, Vec<&Point>)]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let has_cpu = lines
        .iter()
        .any(|(_, points)| points.iter().any(|p| p.cpu.is_some()));
    let columns = if has_cpu { 5 } else { 3 };
    let titles = ["", "median", "interval", "CPU s", "other side"];
    table.set_header(&titles[..columns]);
    for (line, points) in lines {
        let Some(point) = points.first() else {
            continue;
        };
        let cpu = point
            .cpu
            .map_or([String::new(), String::new()], |cpu| cpu.map(number));
        let [here, there] = cpu;
        let interval = format!("{} to {}", number(point.low), number(point.high));
        let cells = [name(line), cell(point), interval, here, there];
        table.add_row(&cells[..columns]);
    }
    align(&mut table);
    table
}

/// The name of a series. Limits are in parentheses.
fn name(line: &Series) -> String {
    match line.kind {
        Kind::Limit => format!("({})", line.name),
        _ => line.name.clone(),
    }
}

/// Aligns all columns but the first to the right.
fn align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// The value of a point, or the reason why there is none.
pub fn cell(point: &Point) -> String {
    match point.state {
        State::Resolved => number(point.value),
        State::Unresolved => "unresolved".to_string(),
        State::Noisy => "noisy".to_string(),
    }
}
