//! The results as a table and as JSON.

use serde_json::{json, Value};

use mgn_bench::probe::NEAR_NS;

use crate::rows::{Claim, Figure, Goal, Method, Row};

pub const HEADINGS: &str =
    "row                                way                 median unit     CPU s, both sides  line ns  measured (range), wanted";

/// The results of one run, and the time in which a cache line passed between the processors.
#[derive(Clone, Debug)]
pub struct Run {
    pub values: Vec<f64>,
    pub cpu: [f64; 2],
    pub line: f64,
}

/// The methods of a row that could be measured, and the rounds that count, all near or all far,
/// with one run of each method.
pub struct Measured<'a> {
    pub row: &'a Row,
    pub methods: Vec<(&'static str, Method)>,
    pub rounds: Vec<Vec<Run>>,
}

/// The values of a claim in all rounds, and whether it holds.
struct Verdict {
    what: String,
    measured: Vec<f64>,
    wanted: String,
    is_met: bool,
}

impl Measured<'_> {
    fn is_near(&self) -> bool {
        self.rounds[0][0].line < NEAR_NS
    }

    fn place(&self, method: &str) -> Option<usize> {
        self.methods.iter().position(|(name, _)| *name == method)
    }

    /// The best value of another library in a round.
    fn best(&self, figure: &Figure, round: &[Run]) -> Option<f64> {
        let peers = self
            .methods
            .iter()
            .zip(round)
            .filter(|((_, method), _)| matches!(method, Method::OpenMpi(_) | Method::Ucx(..)));
        peers
            .map(|(_, run)| run.values[figure.at])
            .reduce(|one, other| figure.unit.better(one, other))
    }

    /// `None` if the other side of the comparison was not measured.
    fn verdict(&self, figure: &Figure, claim: &Claim) -> Option<Verdict> {
        let at = self.place(claim.method)?;
        let unit = figure.unit;
        let one = |round: &[Run]| -> Option<f64> {
            let value = round[at].values[figure.at];
            Some(match claim.what {
                Goal::OfBest(_) => unit.ratio(value, self.best(figure, round)?),
                Goal::Of(other, _) => {
                    unit.ratio(value, round[self.place(other)?].values[figure.at])
                }
                // The figure is in microseconds.
                Goal::Lines(_) => value * 1e3 / round[at].line,
                Goal::AtLeast(_) | Goal::AtMost(_) => value,
                Goal::BestPlus(_) => value - self.best(figure, round)?,
            })
        };
        let measured: Option<Vec<f64>> = self.rounds.iter().map(|round| one(round)).collect();
        let measured = sorted(measured?);
        let (what, sign, limit) = match claim.what {
            Goal::OfBest(limit) => ("of the best peer".to_string(), ">=", limit),
            Goal::Of(other, limit) => (format!("of {other}"), ">=", limit),
            Goal::Lines(limit) => ("lines".to_string(), "<=", limit),
            Goal::AtLeast(limit) => (String::new(), ">=", limit),
            Goal::AtMost(limit) => (String::new(), "<=", limit),
            Goal::BestPlus(limit) => ("more than the best peer".to_string(), ">=", limit),
        };
        let middle = middle(&measured);
        Some(Verdict {
            what,
            measured,
            wanted: format!("{sign} {limit:.2}"),
            is_met: match sign {
                ">=" => middle >= limit,
                _ => middle <= limit,
            },
        })
    }

    fn verdicts<'a>(
        &'a self,
        figure: &'a Figure,
        method: &'a str,
    ) -> impl Iterator<Item = Verdict> + 'a {
        let claims = figure
            .claims
            .iter()
            .filter(move |claim| claim.method == method);
        claims.filter_map(|claim| self.verdict(figure, claim))
    }

    fn values(&self, figure: &Figure, at: usize) -> Vec<f64> {
        sorted(
            self.rounds
                .iter()
                .map(|round| round[at].values[figure.at])
                .collect(),
        )
    }

    pub fn lines(&self) -> String {
        let mut text = String::new();
        let far = if self.is_near() { "" } else { " (far)" };
        for figure in &self.row.figures {
            for (at, (method, _)) in self.methods.iter().enumerate() {
                let title = match at {
                    0 => format!("{}{far}", figure.name),
                    _ => String::new(),
                };
                let value = middle(&self.values(figure, at));
                let of = |of: fn(&Run) -> f64| {
                    middle(&sorted(self.rounds.iter().map(|r| of(&r[at])).collect()))
                };
                let (first, second) = (of(|run| run.cpu[0]), of(|run| run.cpu[1]));
                let line = of(|run| run.line);
                let head = format!(
                    "{title:<34} {method:<17} {value:>8.3} {:<8} {first:>8.2} + {second:<5.2} {line:>9.0}",
                    figure.unit.name()
                );
                let verdicts: Vec<String> = self
                    .verdicts(figure, method)
                    .map(|verdict| verdict.text())
                    .collect();
                let indent = format!("\n{:head$}  ", "", head = head.chars().count());
                let line = format!("{head}  {}", verdicts.join(&indent));
                text += &format!("{}\n", line.trim_end());
            }
        }
        text
    }

    pub fn json(&self) -> Value {
        let figures = self.row.figures.iter().map(|figure| {
            let methods = self.methods.iter().enumerate().map(|(at, (method, _))| {
                let claims = self.verdicts(figure, method).map(|verdict| {
                    json!({
                        "of": verdict.what,
                        "measured": verdict.measured,
                        "wanted": verdict.wanted,
                        "met": verdict.is_met,
                    })
                });
                let runs = self.rounds.iter().map(|round| &round[at]);
                json!({
                    "way": method,
                    "values": runs.clone().map(|run| run.values[figure.at]).collect::<Vec<_>>(),
                    "cpu_seconds": runs.clone().map(|run| run.cpu).collect::<Vec<_>>(),
                    "line_ns": runs.map(|run| run.line).collect::<Vec<_>>(),
                    "claims": claims.collect::<Vec<_>>(),
                })
            });
            json!({
                "row": figure.name,
                "unit": figure.unit.name(),
                "near": self.is_near(),
                "ways": methods.collect::<Vec<_>>(),
            })
        });
        Value::Array(figures.collect())
    }
}

impl Verdict {
    fn text(&self) -> String {
        let (least, most) = (self.measured[0], self.measured[self.measured.len() - 1]);
        let space = if self.what.is_empty() { "" } else { " " };
        let verdict = if self.is_met { "yes" } else { "NO" };
        format!(
            "{:.3}{space}{} ({least:.3}-{most:.3}), {}: {verdict}",
            middle(&self.measured),
            self.what,
            self.wanted
        )
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn middle(values: &[f64]) -> f64 {
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
