//! Medians and their uncertainty.

use hdrhistogram::Histogram;

/// The minimum number of rounds for a median.
pub const MIN_ROUNDS: usize = 5;

/// A number is precise if the half-width of its interval is at most this share of the median.
pub const PRECISE: f64 = 0.15;

/// A number is noisy if the half-width of its interval is more than this share of the median.
pub const NOISY: f64 = 0.5;

/// The median, and an interval that contains the true median with a probability of at least 93 %,
/// for any distribution. The interval goes from the k-th smallest to the k-th largest value. The
/// binomial distribution gives the largest k with this probability. For 5 values, the interval goes
/// from the least to the greatest (93.75 %). See H. A. David and H. N. Nagaraja, Order Statistics,
/// 7.1.
pub fn median(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    if n == 0 {
        return (f64::NAN, f64::NAN, f64::NAN);
    }
    let middle = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    let (mut inside, mut term, mut below) = (0, 0.5f64.powi(n as i32), 0.0);
    for k in 0..(n - 1) / 2 {
        // `below` is the probability that at most k of n values are below the true median.
        below += term;
        if 2.0 * below > 0.07 {
            break;
        }
        inside = k;
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    (middle, sorted[inside], sorted[n - 1 - inside])
}

/// Half the width of an interval, as a share of the median.
pub fn half_width((middle, low, high): (f64, f64, f64)) -> f64 {
    match high - low {
        0.0 => 0.0,
        width => width / 2.0 / middle.abs(),
    }
}

/// A histogram for times in ns, with a resolution of one in ten thousand.
pub fn histogram() -> Histogram<u64> {
    Histogram::new(4).expect("a histogram can have four digits")
}

/// The value that this percentage of the values do not exceed. `None` if there are so few values
/// that none is expected beyond it. For 100 %, the greatest value.
pub fn percentile(values: &Histogram<u64>, percent: f64) -> Option<f64> {
    let beyond = values.len() as f64 * (100.0 - percent) / 100.0;
    // Tolerates percentages that binary numbers cannot represent exactly.
    let is_told = beyond > 1.0 - 1e-9 || percent == 100.0 && !values.is_empty();
    is_told.then(|| values.value_at_percentile(percent * (1.0 - 1e-12)) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_binomial_distribution() {
        let of = |n: u32| median(&(1..=n).map(f64::from).collect::<Vec<_>>());
        assert_eq!(of(1), (1.0, 1.0, 1.0));
        assert_eq!(of(4), (2.5, 1.0, 4.0));
        assert_eq!(of(5), (3.0, 1.0, 5.0));
        // 2 * (1 + 7) / 2^7 = .125, and 2 * (1 + 8) / 2^8 = .07.
        assert_eq!(of(7), (4.0, 1.0, 7.0));
        assert_eq!(of(9), (5.0, 2.0, 8.0));
        // 2 * (1 + 20 + 190 + 1140 + 4845) / 2^20 = .012, and with the 15504 next ones .041.
        assert_eq!(of(20), (10.5, 6.0, 15.0));
    }

    #[test]
    fn nothing_and_equal_values() {
        assert!(median(&[]).0.is_nan());
        assert_eq!(half_width(median(&[0.0; 6])), 0.0);
        assert_eq!(half_width((2.0, 1.0, 4.0)), 0.75);
    }

    #[test]
    fn percentiles_need_values_beyond_them() {
        let of = |count: u64, percent| {
            let mut values = histogram();
            (1..=count).for_each(|value| values += value);
            percentile(&values, percent)
        };
        assert_eq!(of(1000, 50.0), Some(500.0));
        assert_eq!(of(1000, 99.9), Some(999.0));
        assert_eq!(of(999, 99.9), None);
        assert_eq!((of(100, 99.0), of(99, 99.0)), (Some(99.0), None));
        assert_eq!((of(3, 100.0), of(1, 100.0)), (Some(3.0), Some(1.0)));
        assert_eq!((of(0, 100.0), of(0, 50.0), of(1, 50.0)), (None, None, None));
    }
}
