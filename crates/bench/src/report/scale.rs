//! Scales: the positions of values on an axis, and the labels of the axis.

use crate::format;
use crate::record::Axis;

/// An axis with positions from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    Linear {
        low: f64,
        high: f64,
        /// Labels are whole numbers.
        is_whole: bool,
    },
    /// For positive numbers. All other numbers have position 0. If there are such numbers, the
    /// positive ones begin at [`BREAK`].
    Log {
        low: f64,
        high: f64,
        has_zero: bool,
        /// Labels are powers of two.
        is_bytes: bool,
    },
    /// Values at equal distances, independent of the differences between them.
    Steps(Vec<f64>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// From 0 to 1.
    pub at: f64,
    pub label: String,
}

/// The part of a logarithmic axis before the smallest positive value, if there are zeros.
const BREAK: f64 = 0.1;

/// The maximum number of values that are drawn at equal distances.
const STEPS_MAX: usize = 16;

/// If two values are closer together than this share of the axis, all values are drawn at equal
/// distances.
const CROWDED: f64 = 0.05;

impl Scale {
    /// A scale for parameters. It goes exactly from the smallest to the largest value.
    pub fn of_parameters(axis: &Axis, values: &[f64]) -> Scale {
        let values = sorted(values);
        let (Some(low), Some(high)) = (values.first().copied(), values.last().copied()) else {
            return Scale::Linear {
                low: 0.0,
                high: 1.0,
                is_whole: false,
            };
        };
        let least = values.iter().copied().find(|value| *value > 0.0);
        let depth = |value: f64| match least {
            Some(least) if axis.is_log => value.max(least / 2.0).ln(),
            _ => value,
        };
        let gaps = values
            .windows(2)
            .map(|pair| depth(pair[1]) - depth(pair[0]));
        let narrowest = gaps.clone().fold(f64::INFINITY, f64::min);
        let widest = gaps.fold(0.0, f64::max);
        let is_even = widest - narrowest <= 1e-9 * widest;
        let is_crowded = narrowest < CROWDED * (depth(high) - depth(low));
        // Powers of two have evenly spaced labels in any case.
        let is_stepwise = is_crowded || is_even && !axis.is_log;
        if axis.is_log && !(is_stepwise && values.len() <= STEPS_MAX) {
            return Scale::log(axis, &values, |low, high| (low, high));
        }
        match is_stepwise && values.len() <= STEPS_MAX {
            true => Scale::Steps(values),
            false => Scale::Linear {
                low,
                high,
                is_whole: values.iter().all(|value| value.fract() == 0.0),
            },
        }
    }

    /// A scale for values. It begins and ends at round numbers. It begins at zero, unless all
    /// values are close together and far from zero.
    pub fn of_values(axis: &Axis, values: &[f64], from_zero: bool) -> Scale {
        let values = sorted(values);
        if axis.is_log {
            return Scale::log(axis, &values, |low, high| {
                (round(low, f64::floor), round(high, f64::ceil))
            });
        }
        let mut low = values.first().copied().unwrap_or(0.0);
        let mut high = values.last().copied().unwrap_or(1.0);
        let is_far_from_zero = low > 0.7 * high && high > low;
        if low > 0.0 && (from_zero || !is_far_from_zero) {
            low = 0.0;
        }
        high = high.max(if low < 0.0 { 0.0 } else { low });
        if low == high {
            high = low + 1.0;
        }
        let step = step(high - low, 5);
        Scale::Linear {
            low: (low / step).floor() * step,
            high: (high / step).ceil() * step,
            is_whole: false,
        }
    }

    fn log(axis: &Axis, sorted: &[f64], ends: impl Fn(f64, f64) -> (f64, f64)) -> Scale {
        let least = sorted.iter().copied().find(|value| *value > 0.0);
        let most = sorted.last().copied().filter(|value| *value > 0.0);
        let (low, high) = match least.zip(most) {
            Some((least, most)) => ends(least, most),
            None => (1.0, 10.0),
        };
        Scale::Log {
            low,
            high: if high > low { high } else { low * 10.0 },
            has_zero: sorted.first().is_some_and(|value| *value <= 0.0),
            is_bytes: axis.unit == "B",
        }
    }

    /// The position of a value. Values beyond an end have the position of that end.
    pub fn place(&self, value: f64) -> f64 {
        let place = match self {
            Scale::Linear { low, high, .. } if low == high => 0.5,
            Scale::Linear { low, high, .. } => (value - low) / (high - low),
            Scale::Log { .. } if value <= 0.0 => 0.0,
            Scale::Log {
                low,
                high,
                has_zero,
                ..
            } => {
                let share = ((value / low).ln() / (high / low).ln()).clamp(0.0, 1.0);
                match has_zero {
                    true => BREAK + (1.0 - BREAK) * share,
                    false => share,
                }
            }
            Scale::Steps(values) => {
                let before = values.iter().filter(|step| **step < value).count();
                (before as f64 + 0.5) / values.len().max(1) as f64
            }
        };
        place.clamp(0.0, 1.0)
    }

    /// The labels in order, about `count` of them at most.
    pub fn ticks(&self, count: usize) -> Vec<Tick> {
        let count = count.max(1);
        let values: Vec<(f64, String)> = match self {
            Scale::Linear {
                low,
                high,
                is_whole,
            } => linear_ticks(*low, *high, count, if *is_whole { 1.0 } else { 0.0 }),
            Scale::Log {
                low,
                high,
                has_zero,
                is_bytes,
            } => {
                let zero = has_zero.then(|| (0.0, "0".to_string()));
                let left = count.saturating_sub(usize::from(*has_zero)).max(1);
                let others = match is_bytes {
                    true => binary_ticks(*low, *high, left),
                    false => decimal_ticks(*low, *high, left),
                };
                zero.into_iter().chain(others).collect()
            }
            Scale::Steps(values) => {
                let every = values.len().div_ceil(count).max(1);
                let kept = values.iter().step_by(every);
                kept.map(|value| (*value, label(*value))).collect()
            }
        };
        values
            .into_iter()
            .map(|(value, label)| Tick {
                at: self.place(value),
                label,
            })
            .collect()
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// The smallest step that divides a length into at most `count` parts. It is 1, 2 or 5 times a
/// power of ten.
fn step(length: f64, count: usize) -> f64 {
    let least = length / count as f64;
    let power = 10f64.powf(least.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let fits = |factor: &f64| factor * power >= least * (1.0 - 1e-9);
    power * factors.into_iter().find(fits).unwrap_or(10.0)
}

/// The next lower or higher number that is 1, 2 or 5 times a power of ten.
fn round(value: f64, way: fn(f64) -> f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let ratio = value / power;
    let is_down = way(0.5) == 0.0;
    let found = match is_down {
        true => factors.into_iter().rev().find(|f| *f <= ratio + 1e-9),
        false => factors.into_iter().find(|f| *f >= ratio - 1e-9),
    };
    power * found.unwrap_or(1.0)
}

fn linear_ticks(low: f64, high: f64, count: usize, least: f64) -> Vec<(f64, String)> {
    if low == high {
        return vec![(low, label(low))];
    }
    let step = step(high - low, count).max(least);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last)
        .map(|n| {
            let value = n as f64 * step;
            let text = match high.abs().max(low.abs()) {
                size if (1e-3..1e6).contains(&size) => format!("{value:.digits$}"),
                _ => label(value),
            };
            (value, text)
        })
        .collect()
}

fn decimal_ticks(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let near = 1e-9;
    let first = low.log10().floor() as i32;
    let last = (high.log10() + near).floor() as i32;
    let of = |factors: &[f64], every: i32| -> Vec<(f64, String)> {
        (first..=last)
            .filter(|power| power.rem_euclid(every) == 0)
            .flat_map(|power| factors.iter().map(move |factor| factor * ten(power)))
            .filter(|value| *value >= low * (1.0 - near) && *value <= high * (1.0 + near))
            .map(|value| (value, label(value)))
            .collect()
    };
    let all = of(&[1.0, 2.0, 5.0], 1);
    if all.len() <= count {
        return all;
    }
    let every = (1..=20).map(|every| of(&[1.0], every));
    let fitting = every.into_iter().find(|ticks| ticks.len() <= count);
    match fitting {
        Some(ticks) if ticks.len() >= 2 => ticks,
        // In one or two decades there is no other power of ten, so multiples are used.
        _ => {
            let every = all.len().div_ceil(count);
            all.into_iter().step_by(every).collect()
        }
    }
}

/// Ten to this power. `powi` is less exact for negative powers.
fn ten(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(1.0)
}

fn binary_ticks(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let first = (low.log2() - 1e-9).ceil() as i32;
    let last = (high.log2() + 1e-9).floor() as i32;
    let of = |every: i32| -> Vec<(f64, String)> {
        let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
        powers
            .map(|power| 2f64.powi(power))
            .map(|value| (value, format::bytes(value)))
            .collect()
    };
    [1, 2, 4, 5, 10, 20]
        .into_iter()
        .map(of)
        .find(|ticks| ticks.len() <= count)
        .unwrap_or_default()
}

/// The label of a value, such as `0.5`, `200`, `10⁶` or `2·10⁵`.
pub fn label(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-3..1e5).contains(&size) {
        let text = format!("{value:.6}");
        return text.trim_end_matches('0').trim_end_matches('.').to_string();
    }
    let text = format!("{value:e}");
    let (factor, power) = text.split_once('e').unwrap_or((&text, "0"));
    let factor = match factor.parse::<f64>() {
        Ok(1.0) => String::new(),
        Ok(factor) => format!("{}·", (factor * 100.0).round() / 100.0),
        Err(_) => format!("{factor}·"),
    };
    let superscript = |c: char| match c {
        '-' => '⁻',
        c => c.to_digit(10).map_or(c, |digit| {
            ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize]
        }),
    };
    let power: String = power.chars().map(superscript).collect();
    format!("{factor}10{power}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale, count: usize) -> Vec<String> {
        let ticks = scale.ticks(count);
        assert!(ticks.windows(2).all(|pair| pair[0].at < pair[1].at));
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_axes_begin_at_zero_and_end_round() {
        let axis = Axis::linear("bandwidth", "MB/s");
        let scale = Scale::of_values(&axis, &[120.0, 871.0], false);
        assert_eq!(labels(&scale, 5), ["0", "200", "400", "600", "800", "1000"]);
        assert_eq!(scale.place(500.0), 0.5);
        assert_eq!(scale.place(2000.0), 1.0);
        let scale = Scale::of_values(&Axis::linear("", "%"), &[95.9, 99.5], false);
        assert_eq!(labels(&scale, 5), ["95", "96", "97", "98", "99", "100"]);
        let scale = Scale::of_values(&Axis::linear("", "%"), &[95.9, 99.5], true);
        assert_eq!(labels(&scale, 3), ["0", "50", "100"]);
        let scale = Scale::of_values(&axis, &[-0.3, 0.1], false);
        assert_eq!(labels(&scale, 5), ["-0.3", "-0.2", "-0.1", "0.0", "0.1"]);
    }

    #[test]
    fn nothing_and_equal_values_have_an_axis() {
        for values in [&[][..], &[0.0], &[3.0, 3.0]] {
            for axis in [Axis::linear("", ""), Axis::log("", "")] {
                let scale = Scale::of_values(&axis, values, false);
                assert!(!scale.ticks(5).is_empty(), "{scale:?}");
                let scale = Scale::of_parameters(&axis, values);
                assert!(scale.place(3.0).is_finite());
                assert!(!scale.ticks(5).is_empty(), "{scale:?}");
            }
        }
    }

    #[test]
    fn sizes_are_powers_of_two() {
        let sizes: Vec<f64> = (0..=20).map(|power| 2f64.powi(power)).collect();
        let scale = Scale::of_parameters(&Axis::log("message size", "B"), &sizes);
        assert_eq!(
            labels(&scale, 6),
            ["1", "16", "256", "4 Ki", "64 Ki", "1 Mi"]
        );
        assert_eq!(labels(&scale, 3), ["1", "1 Ki", "1 Mi"]);
        assert_eq!(scale.place(1024.0), 0.5);
        let scale = Scale::of_parameters(&Axis::log("message size", "B"), &[0.0, 1.0, 4.0]);
        assert_eq!(labels(&scale, 9), ["0", "1", "2", "4"]);
        assert_eq!(scale.place(0.0), 0.0);
        assert_eq!(scale.place(1.0), BREAK);
    }

    #[test]
    fn decades_are_thinned_out() {
        let axis = Axis::log("time", "us");
        let scale = Scale::of_values(&axis, &[1.58, 3.41], false);
        assert_eq!(labels(&scale, 6), ["1", "2", "5"]);
        let scale = Scale::of_values(&axis, &[0.0002, 7e6], false);
        assert_eq!(labels(&scale, 6), ["0.01", "1", "100", "10000", "10⁶"]);
        let scale = Scale::of_values(&axis, &[0.0, 4.0, 70.0], false);
        assert_eq!(labels(&scale, 9), ["0", "2", "5", "10", "20", "50", "100"]);
    }

    #[test]
    fn crowded_parameters_lie_in_equal_distances() {
        let percentiles = [50.0, 90.0, 99.0, 99.9, 99.99, 100.0];
        let scale = Scale::of_parameters(&Axis::linear("percentile", "%"), &percentiles);
        assert_eq!(scale, Scale::Steps(percentiles.to_vec()));
        assert_eq!(labels(&scale, 3), ["50", "99", "99.99"]);
        assert!((scale.place(90.0) - 0.25).abs() < 1e-9);
        let scale = Scale::of_parameters(&Axis::linear("servers", ""), &[1.0, 2.0, 3.0]);
        assert_eq!(labels(&scale, 3), ["1", "2", "3"]);
        let scale = Scale::of_parameters(&Axis::log("rate", "Mbit/s"), &[10.0, 11.0, 100.0]);
        assert_eq!(labels(&scale, 3), ["10", "11", "100"]);
        let scale = Scale::of_parameters(&Axis::log("rate", "Mbit/s"), &[10.0, 100.0, 1000.0]);
        assert_eq!(labels(&scale, 3), ["10", "100", "1000"]);
        let scale = Scale::of_parameters(&Axis::linear("servers", ""), &[1.0, 2.0, 4.0]);
        assert_eq!(labels(&scale, 9), ["1", "2", "3", "4"]);
    }

    #[test]
    fn labels_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (2048.0, "2048"),
            (1e6, "10⁶"),
            (2e-5, "2·10⁻⁵"),
            (-3e7, "-3·10⁷"),
        ] {
            assert_eq!(label(value), text);
        }
    }
}
