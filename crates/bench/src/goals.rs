//! Goals: the values that a method must reach, alone or compared with other methods. A plan states
//! them with its experiment. This module evaluates them from the outcome.

use serde::{Deserialize, Serialize};

use crate::format::number;
use crate::record::{Better, Distance, Outcome, Plot, Point, Series};
use crate::statistics::{median, MIN_ROUNDS};

/// A quantity of a method at one parameter, and the target value, if there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The [`Plot::id`].
    pub plot: String,
    /// The name of the series.
    pub method: String,
    pub x: f64,
    pub quantity: Quantity,
    /// The series of the plot that the method is compared with. If there are several, the best
    /// series in each round counts.
    pub others: Vec<String>,
    /// Without a target, this is a comparison and not a goal.
    pub target: Option<Target>,
}

/// A function of the values of one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// The value itself, in the unit of the plot.
    Value,
    /// How many times as good the value is as the other value.
    Ratio,
    /// The value divided by the other value.
    Times,
    /// The value minus the other value, in the unit of the plot.
    Difference,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    AtLeast(f64),
    AtMost(f64),
}

/// A goal, as measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GoalResult {
    /// Its `others` contains only the series that were measured.
    #[serde(flatten)]
    pub goal: Goal,
    #[serde(rename = "place")]
    pub distance: Distance,
    /// The quantity in each round that has all the values needed, and the numbers of these rounds.
    pub values: Vec<f64>,
    pub rounds: Vec<u32>,
    /// The median of the values, and their range.
    pub value: f64,
    pub least: f64,
    pub greatest: f64,
    /// Whether the median reaches the target. `None` without a target, or if too few rounds count.
    pub is_reached: Option<bool>,
}

impl Goal {
    /// A goal for the value of a method. The functions below change the quantity and set the
    /// target.
    pub fn of(plot: impl Into<String>, method: impl Into<String>, x: f64) -> Goal {
        Goal {
            plot: plot.into(),
            method: method.into(),
            x,
            quantity: Quantity::Value,
            others: Vec::new(),
            target: None,
        }
    }

    pub fn ratio_to<N: Into<String>>(self, others: impl IntoIterator<Item = N>) -> Goal {
        self.beside(Quantity::Ratio, others)
    }

    pub fn times(self, other: impl Into<String>) -> Goal {
        self.beside(Quantity::Times, [other])
    }

    pub fn above<N: Into<String>>(self, others: impl IntoIterator<Item = N>) -> Goal {
        self.beside(Quantity::Difference, others)
    }

    pub fn at_least(mut self, limit: f64) -> Goal {
        self.target = Some(Target::AtLeast(limit));
        self
    }

    pub fn at_most(mut self, limit: f64) -> Goal {
        self.target = Some(Target::AtMost(limit));
        self
    }

    fn beside<N: Into<String>>(
        mut self,
        quantity: Quantity,
        others: impl IntoIterator<Item = N>,
    ) -> Goal {
        self.quantity = quantity;
        self.others = others.into_iter().map(Into::into).collect();
        self
    }

    /// `None` if the method was not measured, or if none of the others was measured and the
    /// quantity needs one.
    fn evaluate(&self, outcome: &Outcome, distance: Distance) -> Option<GoalResult> {
        let plot = outcome.plots.iter().find(|plot| plot.id == self.plot)?;
        let point = |name: &str| self.point(outcome, name, distance);
        let mine = point(&self.method)?;
        let beside = |name: &String| Some((name.clone(), point(name)?));
        let beside: Vec<(String, &Point)> = self.others.iter().filter_map(beside).collect();
        let of_round = |(round, value): (&u32, &f64)| {
            let others = beside
                .iter()
                .filter_map(|(_, point)| in_round(point, *round));
            let best = others.reduce(|one, other| better(plot.better, one, other));
            let found = self.quantity_of(plot.better, *value, best)?;
            found.is_finite().then_some((*round, found))
        };
        let found = mine.rounds.iter().zip(&mine.values).filter_map(of_round);
        let (rounds, values): (Vec<u32>, Vec<f64>) = found.unzip();
        let least = values.iter().copied().min_by(f64::total_cmp)?;
        let greatest = values.iter().copied().max_by(f64::total_cmp)?;
        let (value, ..) = median(&values);
        let target = self.target.filter(|_| values.len() >= MIN_ROUNDS);
        Some(GoalResult {
            goal: Goal {
                others: beside.into_iter().map(|(name, _)| name).collect(),
                ..self.clone()
            },
            distance,
            values,
            rounds,
            value,
            least,
            greatest,
            is_reached: target.map(|target| target.is_reached(value)),
        })
    }

    fn point<'o>(&self, outcome: &'o Outcome, name: &str, distance: Distance) -> Option<&'o Point> {
        let is_it = |line: &&Series| line.plot == self.plot && line.name == name;
        let mut points = outcome.series.iter().find(is_it)?.points.iter();
        points.find(|point| point.x == self.x && point.distance == distance)
    }

    /// `None` if the quantity needs another value and there is none.
    fn quantity_of(&self, sense: Better, value: f64, other: Option<f64>) -> Option<f64> {
        Some(match self.quantity {
            Quantity::Value => value,
            Quantity::Ratio if sense == Better::Less => other? / value,
            Quantity::Ratio | Quantity::Times => value / other?,
            Quantity::Difference => value - other?,
        })
    }
}

fn in_round(point: &Point, round: u32) -> Option<f64> {
    let at = point.rounds.iter().position(|other| *other == round)?;
    point.values.get(at).copied()
}

fn better(sense: Better, one: f64, other: f64) -> f64 {
    match sense {
        Better::Less => one.min(other),
        Better::More | Better::Neither => one.max(other),
    }
}

impl Target {
    fn is_reached(self, value: f64) -> bool {
        match self {
            Target::AtLeast(limit) => value >= limit,
            Target::AtMost(limit) => value <= limit,
        }
    }

    /// ">= 0.95"
    pub fn words(self) -> String {
        match self {
            Target::AtLeast(limit) => format!(">= {}", number(limit)),
            Target::AtMost(limit) => format!("<= {}", number(limit)),
        }
    }
}

impl GoalResult {
    /// The meaning of the numbers: "as good as direct", "ms more than direct", "GB/s".
    pub fn words(&self, plot: &Plot) -> String {
        let other = match &self.goal.others[..] {
            [one] => one.clone(),
            all => format!("the best of {}", all.join(", ")),
        };
        let words = match self.goal.quantity {
            Quantity::Value => plot.y.unit.clone(),
            Quantity::Ratio => format!("times as good as {other}"),
            Quantity::Times => format!("times {other}"),
            Quantity::Difference => format!("{} more than {other}", plot.y.unit),
        };
        words.trim().to_string()
    }

    /// "yes", "NO", or "unresolved". Empty without a target.
    pub fn verdict(&self) -> &'static str {
        match (self.goal.target, self.is_reached) {
            (None, _) => "",
            (_, Some(true)) => "yes",
            (_, Some(false)) => "NO",
            (_, None) => "unresolved",
        }
    }
}

/// The results of all goals of an experiment, near and far apart, in the order of the plan. Goals
/// without a result are left out.
pub fn evaluate(goals: &[Goal], outcome: &Outcome) -> Vec<GoalResult> {
    let all = Distance::ALL.into_iter();
    let of = |goal| {
        all.clone()
            .filter_map(move |d| Goal::evaluate(goal, outcome, d))
    };
    goals.iter().flat_map(of).collect()
}

/// "12 of 31 goals are reached, and 3 are unresolved". `None` if there are no goals.
pub fn summary<'r>(results: impl IntoIterator<Item = &'r GoalResult>) -> Option<String> {
    let results = results.into_iter().filter(|r| r.goal.target.is_some());
    let reached: Vec<Option<bool>> = results.map(|result| result.is_reached).collect();
    let count = |of| reached.iter().filter(|reached| **reached == of).count();
    let mut words = format!(
        "{} of {} goals are reached",
        count(Some(true)),
        reached.len()
    );
    if count(None) > 0 {
        words += &format!(", and {} are unresolved", count(None));
    }
    (!reached.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Axis, Kind};
    use crate::suite::Suite;

    fn outcome(better: Better, lines: &[(&str, &[(u32, f64)])]) -> Outcome {
        let axis = || Axis::linear("", "ms");
        let line = |(name, values): &(&str, &[(u32, f64)])| Series {
            plot: "plot".to_string(),
            name: name.to_string(),
            kind: Kind::Ours,
            command: String::new(),
            points: vec![Point {
                rounds: values.iter().map(|(round, _)| *round).collect(),
                values: values.iter().map(|(_, value)| *value).collect(),
                ..Point::single(8.0, Distance::Near, 0.0)
            }],
            note: None,
        };
        Outcome {
            suite: Suite::Net,
            key: String::new(),
            plots: vec![Plot::new("plot", "", axis(), axis(), better)],
            series: lines.iter().map(line).collect(),
            notes: Vec::new(),
            goals: Vec::new(),
            rounds: 5,
            seconds: 1.0,
        }
    }

    fn of_rounds(values: [f64; 5]) -> Vec<(u32, f64)> {
        (0..).zip(values).collect()
    }

    fn goal() -> Goal {
        Goal::of("plot", "ours", 8.0)
    }

    /// The result of a single goal: the values, and whether the target is reached.
    fn result(goal: Goal, outcome: &Outcome) -> (Vec<f64>, Option<bool>) {
        let found = evaluate(&[goal], outcome);
        assert_eq!(found.len(), 1);
        (found[0].values.clone(), found[0].is_reached)
    }

    #[test]
    fn quantities_are_those_of_each_round() {
        let ours = of_rounds([1.0, 2.0, 4.0, 5.0, 8.0]);
        let one = of_rounds([2.0, 2.0, 2.0, 2.0, 2.0]);
        let two = of_rounds([1.0, 4.0, 1.0, 4.0, 1.0]);
        let lines: [(&str, &[(u32, f64)]); 3] = [("ours", &ours), ("one", &one), ("two", &two)];
        let (less, more) = (outcome(Better::Less, &lines), outcome(Better::More, &lines));
        let values = |goal, outcome| result(goal, outcome).0;
        assert_eq!(values(goal(), &less), [1.0, 2.0, 4.0, 5.0, 8.0]);
        let ratio = || goal().ratio_to(["one"]);
        assert_eq!(values(ratio(), &less), [2.0, 1.0, 0.5, 0.4, 0.25]);
        assert_eq!(values(ratio(), &more), [0.5, 1.0, 2.0, 2.5, 4.0]);
        assert_eq!(
            values(goal().times("one"), &less),
            [0.5, 1.0, 2.0, 2.5, 4.0]
        );
        // Each round has a different best one.
        let best = || goal().above(["one", "two"]);
        assert_eq!(values(best(), &less), [0.0, 0.0, 3.0, 3.0, 7.0]);
        assert_eq!(values(best(), &more), [-1.0, -2.0, 2.0, 1.0, 6.0]);
    }

    #[test]
    fn the_median_decides() {
        let ours = of_rounds([1.0, 2.0, 4.0, 5.0, 8.0]);
        let outcome = outcome(Better::Less, &[("ours", &ours)]);
        for (goal, expected) in [
            (goal().at_most(4.0), true),
            (goal().at_most(3.9), false),
            (goal().at_least(4.0), true),
            (goal().at_least(4.1), false),
        ] {
            assert_eq!(result(goal, &outcome).1, Some(expected));
        }
        let found = evaluate(&[goal().at_most(3.0)], &outcome).remove(0);
        assert_eq!((found.value, found.least, found.greatest), (4.0, 1.0, 8.0));
        assert_eq!(found.goal.target.unwrap().words(), "<= 3");
        assert_eq!(
            (found.verdict(), found.words(&outcome.plots[0])),
            ("NO", "ms".into())
        );
        // A comparison has no verdict.
        let found = evaluate(&[goal()], &outcome).remove(0);
        assert_eq!((found.is_reached, found.verdict()), (None, ""));
    }

    #[test]
    fn only_rounds_that_have_both_count() {
        let ours = of_rounds([1.0, 2.0, 4.0, 5.0, 8.0]);
        let other = [(1, 4.0), (3, 0.0), (4, 2.0), (7, 1.0)];
        let outcome = outcome(Better::More, &[("ours", &ours), ("other", &other)]);
        let found = evaluate(&[goal().times("other").at_least(0.1)], &outcome).remove(0);
        // There is no ratio to zero.
        assert_eq!(
            (found.rounds.clone(), found.values.clone()),
            (vec![1, 4], vec![0.5, 4.0])
        );
        assert_eq!((found.is_reached, found.verdict()), (None, "unresolved"));
    }

    #[test]
    fn what_was_not_measured_is_left_out() {
        let ours = of_rounds([1.0; 5]);
        let outcome = outcome(Better::More, &[("ours", &ours), ("there", &ours)]);
        let missing = [
            Goal::of("plot", "no", 8.0),
            Goal::of("plot", "ours", 9.0),
            Goal::of("no", "ours", 8.0),
            goal().ratio_to(["no"]),
        ];
        assert!(evaluate(&missing, &outcome).is_empty());
        let found = evaluate(&[goal().ratio_to(["no", "there"])], &outcome).remove(0);
        assert_eq!(found.goal.others, ["there"]);
        assert_eq!(found.words(&outcome.plots[0]), "times as good as there");
    }

    #[test]
    fn goals_are_counted() {
        let ours = of_rounds([1.0; 5]);
        let outcome = outcome(Better::More, &[("ours", &ours), ("few", &ours[..4])]);
        let few = Goal::of("plot", "few", 8.0).at_least(1.0);
        let goals = [goal(), goal().at_least(1.0), goal().at_least(2.0), few];
        let found = evaluate(&goals, &outcome);
        let words = "1 of 3 goals are reached, and 1 are unresolved";
        assert_eq!(summary(&found).as_deref(), Some(words));
        assert_eq!(
            summary(&found[1..3]).as_deref(),
            Some("1 of 2 goals are reached")
        );
        assert_eq!(summary(&found[..1]), None);
    }
}
