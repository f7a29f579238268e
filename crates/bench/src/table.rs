//! What a terminal shows of what was measured.

use comfy_table::{presets, CellAlignment, Table};

use crate::record::{Kind, Outcome, Place, Plot, Point, Series, State};

/// The tables of an experiment: one for each plot and place, a row for each way, a column for each
/// x.
pub fn lines(outcome: &Outcome) -> String {
    let mut text = String::new();
    for plot in &outcome.plots {
        let of_plot = || outcome.series.iter().filter(|line| line.plot == plot.id);
        for place in [Place::Near, Place::Far, Place::Any] {
            let lines: Vec<(&Series, Vec<&Point>)> = of_plot()
                .map(|line| (line, line.points.iter()))
                .map(|(line, points)| (line, points.filter(|p| p.place == place).collect()))
                .filter(|(_, points): &(_, Vec<_>)| !points.is_empty())
                .collect();
            if !lines.is_empty() {
                text += &format!("\n{}\n{}\n", heading(plot, place), table(plot, &lines));
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
fn heading(plot: &Plot, place: Place) -> String {
    let unit = |unit: &str| match unit {
        "" => String::new(),
        unit => format!(" ({unit})"),
    };
    let place = match place {
        Place::Near => ", processors near",
        Place::Far => ", processors far",
        Place::Any => "",
    };
    let (x, y) = (&plot.x, &plot.y);
    format!(
        "{}: {}{}, by {}{}{place}",
        plot.title,
        y.name,
        unit(&y.unit),
        x.name,
        unit(&x.unit)
    )
}

/// The places in a plot of which any line says something, in order.
pub fn parameters(lines: &[(&Series, Vec<&Point>)]) -> Vec<f64> {
    let places = lines.iter().flat_map(|(_, points)| points);
    let mut places: Vec<f64> = places.map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

fn table(plot: &Plot, lines: &[(&Series, Vec<&Point>)]) -> Table {
    let places = parameters(lines);
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let title = |x: &f64| match plot.x.unit.as_str() {
        "B" => bytes(*x),
        _ => format!("{x}"),
    };
    table.set_header(std::iter::once(String::new()).chain(places.iter().map(title)));
    for (line, points) in lines {
        let name = match line.kind {
            Kind::Limit => format!("({})", line.name),
            _ => line.name.clone(),
        };
        let cell = |x: &f64| {
            let point = points.iter().find(|point| point.x == *x);
            point.map_or(String::new(), |point| cell(point))
        };
        table.add_row(std::iter::once(name).chain(places.iter().map(cell)));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A value, if it means something.
pub fn cell(point: &Point) -> String {
    match point.state {
        State::Resolved => number(point.value),
        State::Unresolved => "unresolved".to_string(),
        State::Noisy => "noisy".to_string(),
    }
}

/// Three digits, more before the point.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_string(),
        size if !(1e-3..1e6).contains(&size) => format!("{value:.2e}"),
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size => {
            let digits = 2 - size.log10().floor() as i32;
            format!("{value:.*}", digits.clamp(0, 5) as usize)
        }
    }
}

/// A parameter with its unit: "64 KiB", "8 B", "99.9 %", "3".
pub fn amount(value: f64, unit: &str) -> String {
    match unit {
        "" => format!("{value}"),
        "B" if bytes(value).ends_with('i') => format!("{}B", bytes(value)),
        "us" => format!("{value} µs"),
        unit => format!("{value} {unit}"),
    }
}

/// "64 Ki".
pub fn bytes(value: f64) -> String {
    for (name, size) in [("Gi", 1u64 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)] {
        if value >= size as f64 && value % size as f64 == 0.0 {
            return format!("{} {name}", value / size as f64);
        }
    }
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.1294, "0.129"),
            (1.0, "1"),
            (5.906, "5.91"),
            (18.34, "18.3"),
            (875.4, "875"),
            (12345.6, "12346"),
            (0.000123, "1.23e-4"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(bytes(8.0), "8");
        assert_eq!(bytes(65536.0), "64 Ki");
        assert_eq!(bytes(1048576.0), "1 Mi");
    }
}
