//! Plots as SVG. The colours are those of the page (`page.css`), so they follow the reader's colour
//! scheme.

use std::fmt::Write;

use maud::{html, Markup};

use super::papers::{Mark, Parameter, Source};
use super::scale::{Scale, Tick};
use super::text::{self, width};
use crate::format::{amount, number};
use crate::record::{Kind, Plot, Point, State};

/// A colour of the page, and a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineStyle {
    pub colour: usize,
    pub marker: usize,
}

pub const COLOURS: usize = 7;

/// The number of markers. It has no factor in common with [`COLOURS`], so 56 series have different
/// styles.
const MARKERS: usize = 8;

impl LineStyle {
    pub fn of(number: usize) -> LineStyle {
        LineStyle {
            colour: number % COLOURS,
            marker: number % MARKERS,
        }
    }
}

/// A series of a plot at one distance.
pub struct Line<'a> {
    pub name: &'a str,
    pub kind: Kind,
    pub line_style: LineStyle,
    pub points: Vec<&'a Point>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Lines over a parameter.
    Lines,
    /// Bars, for counts.
    Bars,
    /// One value for each series, with the names in the plot.
    Dots,
}

/// The contents of a panel. Panels of the same plot have the same scales.
pub struct Panel<'a> {
    pub plot: &'a Plot,
    pub shape: Shape,
    pub lines: &'a [Line<'a>],
    pub marks: &'a [(Source, Mark)],
    pub parameters: &'a Scale,
    pub values: &'a Scale,
    /// The text for screen readers.
    pub description: &'a str,
}

/// The form of a panel for a kind of screen. `wide` and `narrow` are classes of the page.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub class: &'static str,
    /// In px.
    pub width: f64,
    pub height: f64,
    /// Whether points have tooltips.
    pub has_hints: bool,
}

/// The distance between baselines, in px.
const LEADING: f64 = 16.0;

/// The height of a name and its dot in [`Shape::Dots`].
const ROW: f64 = 36.0;

/// The distance between the axes and the outermost points.
const INSET: f64 = 10.0;

const RIGHT: f64 = 22.0;

/// Radius of a marker.
const MARKER: f64 = 3.6;

/// The area of the points in the picture.
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Panel<'_> {
    pub fn svg(&self, form: Form) -> Markup {
        let form = match self.shape {
            Shape::Dots => Form {
                height: 80.0 + ROW * self.lines.len() as f64,
                ..form
            },
            _ => form,
        };
        let picture = match self.shape {
            Shape::Dots => self.dots(form),
            _ => self.curves(form),
        };
        let Form {
            class,
            width,
            height,
            ..
        } = form;
        html! {
            svg class=(format!("chart {class}")) viewBox=(format!("0 0 {width} {height}"))
                width=(width) height=(height) role="img" aria-label=(self.description) {
                title { (self.description) }
                (picture)
            }
        }
    }

    /// Lines or bars, with the values upwards and the parameters to the right.
    fn curves(&self, form: Form) -> Markup {
        let above = text::wrap(
            &text::with_unit(&self.plot.y.name, &self.plot.y.unit),
            form.width - 8.0,
            2,
        );
        let below = text::wrap(
            &text::with_unit(&self.plot.x.name, &self.plot.x.unit),
            form.width - 60.0,
            2,
        );
        let rows = self.values.ticks((form.height / 45.0) as usize);
        let widest = rows.iter().map(|tick| width(&tick.label));
        let area = Area {
            left: widest.fold(0.0, f64::max) + 12.0,
            right: form.width - RIGHT,
            top: above.len() as f64 * LEADING + 10.0,
            bottom: form.height - below.len() as f64 * LEADING - 26.0,
        };
        let inset = match self.shape {
            Shape::Bars => 0.0,
            _ => INSET,
        };
        let across = |share: f64| {
            let (left, right) = (area.left + inset, area.right - inset);
            left + share * (right - left)
        };
        let upwards = |share: f64| area.bottom - share * (area.bottom - area.top);
        let columns = self.columns(&across);
        let middle = (area.left + area.right) / 2.0;
        html! {
            @for (at, line) in above.iter().enumerate() {
                text.axis x="2" y=(px(12.0 + at as f64 * LEADING)) { (line) }
            }
            @for tick in &rows {
                path.grid d=(format!("M{} {}H{}", px(area.left), px(upwards(tick.at)), px(area.right))) {}
                text.tick.end x=(px(area.left - 6.0)) y=(px(upwards(tick.at) + 4.0)) { (tick.label) }
            }
            @for tick in &columns {
                path.notch d=(format!("M{} {}v5", px(across(tick.at)), px(area.bottom))) {}
                text.tick.middle x=(px(across(tick.at))) y=(px(area.bottom + 18.0)) { (tick.label) }
            }
            path.rule d=(format!("M{} {}V{}H{}", px(area.left), px(area.top), px(area.bottom), px(area.right))) {}
            @for (at, line) in below.iter().enumerate() {
                text.axis.middle x=(px(middle)) y=(px(area.bottom + 38.0 + at as f64 * LEADING)) { (line) }
            }
            @match self.shape {
                Shape::Bars => (self.bars(&area, form)),
                _ => (self.drawn(&area, &across, &upwards, form)),
            }
        }
    }

    /// Labels of the parameters, as many as fit.
    fn columns(&self, across: &dyn Fn(f64) -> f64) -> Vec<Tick> {
        let fits = |ticks: &[Tick]| {
            ticks.windows(2).all(|pair| {
                let between = across(pair[1].at) - across(pair[0].at);
                between > (width(&pair[0].label) + width(&pair[1].label)) / 2.0 + 8.0
            })
        };
        let thinner = (1..=14).rev().map(|count| self.parameters.ticks(count));
        thinner
            .into_iter()
            .find(|ticks| fits(ticks))
            .unwrap_or_default()
    }

    fn drawn(
        &self,
        area: &Area,
        across: &dyn Fn(f64) -> f64,
        upwards: &dyn Fn(f64) -> f64,
        form: Form,
    ) -> Markup {
        let place = |x: f64, value: f64| {
            (
                across(self.parameters.place(x)),
                upwards(self.values.place(value)),
            )
        };
        // Our own series come last, so that they are drawn above the others.
        let order = [Kind::Limit, Kind::Peer, Kind::Ours];
        let lines = order.iter().flat_map(|kind| {
            self.lines
                .iter()
                .enumerate()
                .filter(move |(_, line)| line.kind == *kind)
        });
        let apart = self.apart(area);
        html! {
            @for (source, mark) in self.marks {
                @if let Some(value) = mark.value_in(&self.plot.y.unit) {
                    @match mark.at {
                        Parameter::Value(x) => {
                            @let (x, y) = place(x, value);
                            path.paper d=(rays(*source, x, y)) {}
                        }
                        _ => {
                            @let (_, y) = place(0.0, value);
                            path class=(level(*source)) d=(format!("M{} {}H{}", px(area.left), px(y), px(area.right))) {}
                        }
                    }
                }
            }
            @for (at, line) in lines {
                @let aside = (at as f64 - (self.lines.len() - 1) as f64 / 2.0) * apart;
                @let placed: Vec<(f64, f64, &Point)> = line.points.iter().map(|point| {
                    let (x, y) = place(point.x, point.value);
                    (x + aside, y, *point)
                }).collect();
                g class=(class_of(line.kind, line.line_style)) {
                    path.line d=(through(&placed)) {}
                    (stroked(line, &placed, upwards, self.values, true))
                    (stroked(line, &placed, upwards, self.values, false))
                    @if form.has_hints {
                        @for (x, y, point) in &placed { (self.hint(line, *x, *y, point)) }
                    }
                }
            }
        }
    }

    /// The horizontal distance between the points of different series for the same parameter. It
    /// keeps points from hiding each other, if there is room.
    fn apart(&self, area: &Area) -> f64 {
        match self.parameters {
            Scale::Steps(steps) => {
                let room = (area.right - area.left - 2.0 * INSET) / steps.len().max(1) as f64;
                (0.7 * room / self.lines.len().max(1) as f64).min(3.0 * MARKER)
            }
            _ => 0.0,
        }
    }

    /// A group of bars for each parameter.
    fn bars(&self, area: &Area, form: Form) -> Markup {
        let Scale::Steps(steps) = self.parameters else {
            return html! {};
        };
        let group = (area.right - area.left) / steps.len().max(1) as f64;
        let bar = group * 0.84 / self.lines.len().max(1) as f64;
        let height = |value: f64| self.values.place(value) * (area.bottom - area.top);
        html! {
            @for (at, line) in self.lines.iter().enumerate() {
                g class=(class_of(line.kind, line.line_style)) {
                    @for point in &line.points {
                        @let left = area.left + self.parameters.place(point.x) * (area.right - area.left)
                            - group * 0.42 + at as f64 * bar;
                        @let high = height(point.value);
                        @if point.value > 0.0 {
                            rect.bar x=(px(left)) y=(px(area.bottom - high)) width=(px((bar - 0.6).max(0.6))) height=(px(high)) {
                                @if form.has_hints { title { (self.says(line, point)) } }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Rows with a name and its value below it. The value axis goes to the right.
    fn dots(&self, form: Form) -> Markup {
        let area = Area {
            left: 8.0,
            right: form.width - RIGHT,
            top: 6.0,
            bottom: form.height - 46.0,
        };
        let across =
            |share: f64| area.left + INSET + share * (area.right - area.left - 2.0 * INSET);
        let name = text::wrap(
            &text::with_unit(&self.plot.y.name, &self.plot.y.unit),
            form.width - 20.0,
            1,
        );
        let columns = Panel {
            parameters: self.values,
            ..*self
        }
        .columns(&across);
        let start = across(0.0);
        html! {
            @for tick in &columns {
                path.grid d=(format!("M{} {}V{}", px(across(tick.at)), px(area.top), px(area.bottom))) {}
                text.tick.middle x=(px(across(tick.at))) y=(px(area.bottom + 16.0)) { (tick.label) }
            }
            path.rule d=(format!("M{} {}H{}", px(area.left), px(area.bottom), px(area.right))) {}
            @for line in &name {
                text.axis.middle x=(px((area.left + area.right) / 2.0)) y=(px(area.bottom + 38.0)) { (line) }
            }
            @for (source, mark) in self.marks {
                @if let Some(value) = mark.value_in(&self.plot.y.unit) {
                    path class=(level(*source)) d=(format!("M{} {}V{}", px(across(self.values.place(value))), px(area.top), px(area.bottom))) {}
                }
            }
            @for (at, line) in self.lines.iter().enumerate() {
                @let top = area.top + at as f64 * ROW;
                @let middle = top + 25.0;
                g class=(class_of(line.kind, line.line_style)) {
                    @for point in &line.points {
                        @let place = |value: f64| across(self.values.place(value));
                        @let is_sure = point.state == State::Resolved;
                        path.stem d=(format!("M{} {}H{}", px(start), px(middle), px(place(point.value)))) {}
                        @let (low, high) = (place(point.low), place(point.high));
                        @let whisker = match high - low > 1.0 {
                            true => format!("M{} {}H{}", px(low), px(middle), px(high)),
                            false => String::new(),
                        };
                        @let dot = match point.state {
                            State::Noisy => String::new(),
                            _ => marker(line.line_style.marker, place(point.value), middle),
                        };
                        (strokes(is_sure, &whisker, &dot))
                        @if form.has_hints { (self.hint(line, place(point.value), middle, point)) }
                    }
                }
                @for words in text::wrap(&dot_name(line), area.right - area.left - 8.0, 1) {
                    text.name x=(px(area.left + 4.0)) y=(px(top + 13.0)) { (words) }
                }
            }
        }
    }

    fn hint(&self, line: &Line, x: f64, y: f64, point: &Point) -> Markup {
        html! {
            circle.hint cx=(px(x)) cy=(px(y)) r="7" { title { (self.says(line, point)) } }
        }
    }

    /// "shm, 64 KiB: 5.2 µs (5.1 to 5.3)".
    fn says(&self, line: &Line, point: &Point) -> String {
        let word = match point.state {
            State::Resolved => "",
            State::Unresolved => ", unresolved",
            State::Noisy => ", noisy",
        };
        format!(
            "{}, {}: {} {} ({} to {}){word}",
            line.name,
            amount(point.x, &self.plot.x.unit),
            number(point.value),
            text::unit(&self.plot.y.unit),
            number(point.low),
            number(point.high)
        )
    }
}

fn dot_name(line: &Line) -> String {
    match line.kind {
        Kind::Limit => format!("{} (limit)", line.name),
        _ => line.name.to_string(),
    }
}

/// The key of a series: its line and its marker.
pub fn key(kind: Kind, line_style: LineStyle, shape: Shape) -> Markup {
    html! {
        svg.key viewBox="0 0 34 14" width="34" height="14" aria-hidden="true" {
            g class=(class_of(kind, line_style)) {
                @if shape == Shape::Bars {
                    rect.bar x="11" y="1" width="12" height="12" {}
                } @else {
                    path.line d="M1 7H33" {}
                    path.dot d=(marker(line_style.marker, 17.0, 7.0)) {}
                }
            }
        }
    }
}

/// The key of a paper's figure.
pub fn paper_key(source: Source, is_point: bool) -> Markup {
    html! {
        svg.key viewBox="0 0 34 14" width="34" height="14" aria-hidden="true" {
            @match is_point {
                true => path.paper d=(rays(source, 17.0, 7.0)) {},
                false => path class=(level(source)) d="M1 7H33" {},
            }
        }
    }
}

fn class_of(kind: Kind, line_style: LineStyle) -> String {
    let kind = match kind {
        Kind::Ours => "ours",
        Kind::Peer => "peer",
        Kind::Limit => "limit",
    };
    format!("{kind} c{}", line_style.colour)
}

/// The whiskers and markers of the resolved points if `is_sure`, otherwise those of the other
/// points.
fn stroked(
    line: &Line,
    placed: &[(f64, f64, &Point)],
    upwards: &dyn Fn(f64) -> f64,
    values: &Scale,
    is_sure: bool,
) -> Markup {
    let (mut markers, mut whiskers) = (String::new(), String::new());
    for (x, y, point) in placed {
        if (point.state == State::Resolved) != is_sure {
            continue;
        }
        let ends = [point.low, point.high].map(|value| upwards(values.place(value)));
        if ends[0] - ends[1] > 1.0 {
            let _ = write!(whiskers, "M{} {}V{}", px(*x), px(ends[0]), px(ends[1]));
        }
        if point.state != State::Noisy {
            markers += &marker(line.line_style.marker, *x, *y);
        }
    }
    strokes(is_sure, &whiskers, &markers)
}

fn strokes(is_sure: bool, whiskers: &str, markers: &str) -> Markup {
    let faint = if is_sure { "" } else { " unsure" };
    html! {
        @if !whiskers.is_empty() { path class=(format!("whisker{faint}")) d=(whiskers) {} }
        @if !markers.is_empty() { path class=(format!("dot{faint}")) d=(markers) {} }
    }
}

/// The line through all points that are not noisy.
fn through(placed: &[(f64, f64, &Point)]) -> String {
    let mut path = String::new();
    let kept = placed
        .iter()
        .filter(|(_, _, point)| point.state != State::Noisy);
    for (at, (x, y, _)) in kept.enumerate() {
        let _ = write!(
            path,
            "{}{} {}",
            if at == 0 { "M" } else { "L" },
            px(*x),
            px(*y)
        );
    }
    path
}

/// The path of a marker.
fn marker(form: usize, x: f64, y: f64) -> String {
    let r = MARKER;
    let corners = |corners: &[(f64, f64)]| {
        let mut path = String::new();
        for (at, (dx, dy)) in corners.iter().enumerate() {
            let (x, y) = (px(x + dx * r), px(y + dy * r));
            let _ = write!(path, "{}{x} {y}", if at == 0 { "M" } else { "L" });
        }
        path + "Z"
    };
    match form {
        0 => {
            let left = px(x - r);
            format!(
                "M{left} {}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 {} 0Z",
                px(y),
                2.0 * r,
                -2.0 * r
            )
        }
        1 => corners(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => corners(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => corners(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => corners(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        5 => corners(&[
            (0.0, -1.2),
            (1.15, -0.35),
            (0.7, 1.0),
            (-0.7, 1.0),
            (-1.15, -0.35),
        ]),
        6 => corners(&[(-1.2, 0.0), (0.8, -1.1), (0.8, 1.1)]),
        _ => corners(&[(1.2, 0.0), (-0.8, -1.1), (-0.8, 1.1)]),
    }
}

fn level(source: Source) -> String {
    format!("paper level p{}", source as usize)
}

/// A star. The number of rays distinguishes the papers.
fn rays(source: Source, x: f64, y: f64) -> String {
    let (count, first) = match source {
        Source::QsNet => (8, 0.0),
        Source::Parnass => (4, 0.5),
        Source::Libtcomm => (4, 0.0),
        Source::UdpTcp => (3, 0.75),
        Source::VgCluster => (5, 0.25),
    };
    let mut path = String::new();
    for ray in 0..count {
        let turns = f64::from(ray) / f64::from(count) + first / 4.0;
        let (dy, dx) = (turns * std::f64::consts::TAU).sin_cos();
        let end = (px(x + 6.0 * dx), px(y + 6.0 * dy));
        let _ = write!(path, "M{} {}L{} {}", px(x), px(y), end.0, end.1);
    }
    path
}

/// Rounded to tenths.
fn px(value: f64) -> f64 {
    // Adding zero makes -0 into 0.
    (value * 10.0).round() / 10.0 + 0.0
}
