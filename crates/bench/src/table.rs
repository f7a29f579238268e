//! Tables of outcomes for a terminal.

use comfy_table::{presets, CellAlignment, Table};

use crate::format::{bytes, number};
use crate::record::{Distance, Kind, Outcome, Plot, Point, Series, State};

/// The tables of an experiment: one for each plot and distance, with a row for each method and a
/// column for each x.
pub fn lines(outcome: &Outcome) -> String {
    let mut text = String::new();
    for plot in &outcome.plots {
        let of_plot = || outcome.series.iter().filter(|line| line.plot == plot.id);
        for distance in [Distance::Near, Distance::Far, Distance::Any] {
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
    for line in &outcome.series {
        if let Some(note) = &line.note {
            text += &format!("{}: {note}\n", line.name);
        }
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
    format!(
        "{}: {}{}, by {}{}{distance}",
        plot.title,
        y.name,
        unit(&y.unit),
        x.name,
        unit(&x.unit)
    )
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
    let parameters = parameters(lines);
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let title = |x: &f64| match plot.x.unit.as_str() {
        "B" => bytes(*x),
        _ => format!("{x}"),
    };
    table.set_header(std::iter::once(String::new()).chain(parameters.iter().map(title)));
    for (line, points) in lines {
        let name = match line.kind {
            Kind::Limit => format!("({})", line.name),
            _ => line.name.clone(),
        };
        let cell = |x: &f64| {
            let point = points.iter().find(|point| point.x == *x);
            point.map_or(String::new(), |point| cell(point))
        };
        table.add_row(std::iter::once(name).chain(parameters.iter().map(cell)));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The value of a point, or the reason why it has none.
pub fn cell(point: &Point) -> String {
    match point.state {
        State::Resolved => number(point.value),
        State::Unresolved => "unresolved".to_string(),
        State::Noisy => "noisy".to_string(),
    }
}
