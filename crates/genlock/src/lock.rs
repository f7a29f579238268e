//! Steers a display until it refreshes in step with the reference's.

/// The time in which most of a phase error is corrected, in ns.
const TIME: f64 = 1e9;

/// The integral's gain for critical damping.
const INTEGRAL: f64 = 1.0 / (4.0 * TIME * TIME);

/// A controller (proportional and integral) of a display's period.
#[derive(Clone, Debug)]
pub struct PhaseLock {
    /// The most by which the period can be changed, as a part of it.
    reach: f64,
    /// The sum of errors over time, in ns^2.
    sum: f64,
    factor: f64,
    /// How many consecutive errors were small.
    small: u32,
}

/// An error below this, in ns, is small. After `LOCKED_AFTER` small ones in a row the display is in
/// step.
const SMALL_ERROR: i64 = 500_000;
const LOCKED_AFTER: u32 = 60;

impl PhaseLock {
    /// `reach` is the most by which the display's period can be made longer or shorter, as a part
    /// of it: 0.002 for displays whose mode can be changed a little while they run.
    pub fn new(reach: f64) -> PhaseLock {
        PhaseLock {
            reach: if reach.is_finite() {
                reach.clamp(0.0, 0.1)
            } else {
                0.0
            },
            sum: 0.0,
            factor: 1.0,
            small: 0,
        }
    }

    /// The display refreshes `error` ns later than the reference, as seen `passed` ns after the
    /// last call. Returns the factor for the period of the display's mode.
    pub fn steer(&mut self, error: i64, passed: i64) -> f64 {
        self.small = match error.unsigned_abs() < SMALL_ERROR.unsigned_abs() {
            true => self.small.saturating_add(1),
            false => 0,
        };
        let (error, passed) = (error as f64, passed.max(0) as f64);
        let sum = self.sum + error * passed;
        let wanted = error / TIME + INTEGRAL * sum;
        let change = wanted.clamp(-self.reach, self.reach);
        // While the change is at its limit, the sum must not grow any more.
        if change == wanted {
            self.sum = sum;
        }
        // A display that is late needs shorter periods.
        self.factor = 1.0 - change;
        self.factor
    }

    /// Whether the display has refreshed in step for some time. Until then it can show frames a
    /// refresh earlier or later than others.
    pub fn is_in_step(&self) -> bool {
        self.small >= LOCKED_AFTER
    }

    /// The factor at present.
    pub fn factor(&self) -> f64 {
        self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Displays that begin at any phase, and are up to 0.1 % faster or slower, come into step.
    #[test]
    fn displays_come_into_step() {
        let period = 16_666_667.0;
        for mismatch in [-1e-3, 0.0, 1e-3] {
            for start in [-8e6, -1e5, 0.0, 8e6] {
                let mut lock = PhaseLock::new(0.002);
                let mut error: f64 = start;
                let mut factor = 1.0;
                for refresh in 0..3000 {
                    error += period * (factor * (1.0 + mismatch) - 1.0);
                    factor = lock.steer(error as i64, period as i64);
                    assert!((factor - 1.0).abs() < 0.002 + 1e-9);
                    if refresh > 1500 {
                        assert!(lock.is_in_step());
                        assert!(error.abs() < 1_000.0, "{mismatch} {start}: {error}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_display_that_cannot_be_steered_is_left_alone() {
        let mut lock = PhaseLock::new(0.0);
        assert_eq!(lock.steer(5_000_000, 16_000_000), 1.0);
        assert_eq!(lock.factor(), 1.0);
    }
}
