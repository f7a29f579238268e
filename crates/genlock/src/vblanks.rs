//! Estimates when a display refreshes, from times that are measured a little late, and of which
//! some are missing.

/// The gain of an alpha-beta filter: the part of a difference from the prediction by which the
/// phase is corrected at once. With this gain, the filter averages over about ten refreshes.
const ALPHA: f64 = 0.15;

/// The gain of the filter for the period.
const BETA: f64 = ALPHA * ALPHA / 2.0;

/// A time that differs more than this from the prediction, as a part of the period, is ignored.
const FAR: f64 = 0.25;

/// After this many ignored times in a row, the display has been restarted.
const FAR_MAX: u32 = 5;

/// Predicts the vertical blanks of one display.
#[derive(Clone, Debug)]
pub struct Vblanks {
    nominal: f64,
    period: f64,
    /// The last vertical blank.
    last: Option<f64>,
    far: u32,
    seen: u64,
}

impl Vblanks {
    /// `period` is what the display's mode says, in ns.
    pub fn new(period: i64) -> Vblanks {
        let period = (period.max(1)) as f64;
        Vblanks {
            nominal: period,
            period,
            last: None,
            far: 0,
            seen: 0,
        }
    }

    /// A vertical blank was seen at this time. Some may be missed.
    pub fn observe(&mut self, time: i64) {
        let time = time as f64;
        let Some(last) = self.last else {
            self.last = Some(time);
            self.seen = 1;
            return;
        };
        let count = ((time - last) / self.period).round();
        let expected = last + count * self.period;
        let residual = time - expected;
        if count < 1.0 || residual.abs() > FAR * self.period {
            self.far += 1;
            if self.far >= FAR_MAX {
                *self = Vblanks::new(self.nominal as i64);
                self.last = Some(time);
                self.seen = 1;
            }
            return;
        }
        self.far = 0;
        self.seen += 1;
        // The first times have larger gains.
        let gain = (2.0 / self.seen as f64).clamp(ALPHA, 0.7);
        let slower = (1.0 / self.seen as f64).clamp(BETA, 0.5);
        self.last = Some(expected + gain * residual);
        self.period += slower * residual / count;
        self.period = self.period.clamp(0.9 * self.nominal, 1.1 * self.nominal);
    }

    /// The display's period was changed by this factor.
    pub fn scale(&mut self, factor: f64) {
        self.period *= factor;
    }

    /// In ns.
    pub fn period(&self) -> f64 {
        self.period
    }

    /// The last vertical blank. None if none has been seen.
    pub fn last(&self) -> Option<i64> {
        self.last.map(|last| last as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fuzzing::Random;

    #[test]
    fn jitter_and_missed_refreshes_matter_little() {
        let mut random = Random::new(2);
        let true_period = 16_683_350.0;
        let mut vblanks = Vblanks::new(16_666_667);
        for n in 0..2000 {
            let time = 1e12 + f64::from(n) * true_period;
            if random.below(20) == 0 {
                continue;
            }
            // Times are measured late, never early.
            let late = random.below(100_000) as f64;
            vblanks.observe((time + late) as i64);
            if n > 600 {
                let error = vblanks.last().unwrap() as f64 - time - 50_000.0;
                assert!(error.abs() < 60_000.0, "{n}: {error}");
            }
        }
        let error = (vblanks.period() - true_period).abs();
        assert!(error < 3_000.0, "{error}");
    }

    #[test]
    fn a_display_that_starts_anew_is_found_again() {
        let mut vblanks = Vblanks::new(10_000_000);
        for n in 0..100 {
            vblanks.observe(n * 10_000_000);
        }
        for n in 0..40 {
            vblanks.observe(2_004_000_000 + n * 10_000_000);
        }
        let error = vblanks.last().unwrap() - (2_004_000_000 + 39 * 10_000_000);
        assert!(error.abs() < 10_000, "{error}");
        // The same time again, and earlier ones, change nothing.
        let before = format!("{:?}", vblanks.last());
        vblanks.observe(2_004_000_000 + 39 * 10_000_000);
        vblanks.observe(5);
        assert_eq!(format!("{:?}", vblanks.last()), before);
    }
}
