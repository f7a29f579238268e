//! The vertical blanks that all tiles swap at: those of the reference's display.

use crate::Vblanks;

/// The fields that must be the same at each swap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fields {
    #[default]
    Mono,
    /// A frame begins at an even vertical blank. If the reference's numbers are even for the left
    /// eye's picture, the frame begins with that picture. Displays that show the other eye at that
    /// moment are not detected.
    Stereo,
}

/// The reference's vertical blanks in common time. The reference announces them again and again,
/// since its display drifts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// A vertical blank, and its time.
    pub number: u64,
    pub time: i64,
    /// In ns; positive.
    pub period: f64,
}

impl Timing {
    /// The reference's announcement. It continues the numbers of an earlier one, if there was one.
    /// None until the display has refreshed.
    pub fn of_reference(vblanks: &Vblanks, before: Option<&Timing>) -> Option<Timing> {
        let time = vblanks.last()?;
        let number = before.map_or(0, |before| before.nearest(time));
        Some(Timing {
            number,
            time,
            period: vblanks.period(),
        })
    }

    /// Checks a timing from another process: none if it is invalid.
    pub fn checked(self) -> Option<Timing> {
        let is_period = self.period.is_finite() && self.period >= 1e5 && self.period <= 1e10;
        let is_far = self.number > 1 << 53 || self.time.unsigned_abs() > 1 << 62;
        (is_period && !is_far).then_some(self)
    }

    /// The vertical blank that is nearest to a time.
    pub fn nearest(&self, time: i64) -> u64 {
        let passed = time.saturating_sub(self.time) as f64 / self.period;
        self.number.saturating_add_signed(passed.round() as i64)
    }

    /// When a vertical blank is, in common time.
    pub fn time_of(&self, number: u64) -> i64 {
        let ahead = number as f64 - self.number as f64;
        self.time.saturating_add((ahead * self.period) as i64)
    }

    /// The first vertical blank at or after a time at which a frame can begin.
    pub fn first_after(&self, time: i64, fields: Fields) -> u64 {
        let mut number = self.nearest(time);
        if self.time_of(number) < time {
            number = number.saturating_add(1);
        }
        match fields {
            Fields::Stereo if number % 2 == 1 => number + 1,
            _ => number,
        }
    }

    /// When to hand a frame to the display so that it appears at this vertical blank, if all
    /// displays refresh in step: half a period before, when all displays have finished the earlier
    /// refresh.
    pub fn hand_over(&self, number: u64) -> i64 {
        self.time_of(number)
            .saturating_sub((self.period / 2.0) as i64)
    }

    /// How much later than the reference a display refreshes, in ns; negative: earlier. `time` is
    /// the common time at which the display refreshes.
    pub fn phase_error(&self, time: i64) -> i64 {
        time.saturating_sub(self.time_of(self.nearest(time)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMING: Timing = Timing {
        number: 1000,
        time: 5_000_000_000,
        period: 16_666_666.7,
    };

    #[test]
    fn vertical_blanks_have_numbers_and_times() {
        for number in [0, 1, 999, 1000, 1001, 50_000] {
            let time = TIMING.time_of(number);
            assert_eq!(TIMING.nearest(time), number);
            assert_eq!(TIMING.nearest(time + 7_000_000), number);
            assert_eq!(TIMING.phase_error(time + 7_000_000), 7_000_000);
            assert_eq!(TIMING.phase_error(time - 3), -3);
            assert_eq!(TIMING.first_after(time + 1, Fields::Mono), number + 1);
            assert!(TIMING.hand_over(number) < time - 8_000_000);
        }
        for time in (4_900_000_000..5_100_000_000).step_by(1_234_567) {
            let left = TIMING.first_after(time, Fields::Stereo);
            assert!(left % 2 == 0 && TIMING.time_of(left) >= time);
            assert!(TIMING.time_of(left) - time < 2 * 16_666_667 + 1);
        }
    }

    #[test]
    fn numbers_go_on_when_the_reference_announces_again() {
        let mut vblanks = Vblanks::new(10_000_000);
        assert_eq!(Timing::of_reference(&vblanks, None), None);
        let mut timing = None;
        for n in 0..500_u64 {
            vblanks.observe(77 + n as i64 * 10_000_000);
            timing = Timing::of_reference(&vblanks, timing.as_ref());
            assert_eq!(timing.unwrap().number, n);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for period in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(Timing { period, ..TIMING }.checked(), None);
        }
        let number = u64::MAX;
        assert_eq!(Timing { number, ..TIMING }.checked(), None);
        let time = i64::MIN;
        assert_eq!(Timing { time, ..TIMING }.checked(), None);
        assert_eq!(TIMING.checked(), Some(TIMING));
    }
}
