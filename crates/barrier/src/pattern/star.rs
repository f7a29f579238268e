//! All members tell the first member, which then tells all members. This takes the fewest packets,
//! in two hops.

use super::{Destination, Pattern, Signal, Unexpected, ARRIVAL, RELEASE};
use crate::{Combine, View};

/// A star around place 0.
#[derive(Clone, Debug, Default)]
pub struct Star {
    place: usize,
    size: usize,
    combine: Option<Combine>,
    /// At the root: the members that have arrived, and the number of other members that have
    /// arrived.
    seen: Vec<bool>,
    others: usize,
    value: Option<u64>,
    has_arrived: bool,
    result: Option<u64>,
}

impl Star {
    fn add(&mut self, value: u64) {
        let combine = self.combine.expect("an epoch has begun");
        self.value = Some(combine.add(self.value, value));
    }

    fn release(&mut self, out: &mut Vec<Signal>) {
        if self.has_arrived && self.others + 1 == self.size {
            self.result = self.value;
            if let (Some(value), true) = (self.value, self.size > 1) {
                out.push(Signal {
                    to: Destination::All,
                    round: RELEASE,
                    value,
                });
            }
        }
    }
}

impl Pattern for Star {
    fn code(&self) -> u32 {
        0
    }

    fn begin(&mut self, place: usize, view: &View, combine: Combine) {
        let size = view.len();
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        seen.resize(if place == 0 { size } else { 0 }, false);
        *self = Star {
            place,
            size,
            combine: Some(combine),
            seen,
            ..Star::default()
        };
    }

    fn arrive(&mut self, value: u64, out: &mut Vec<Signal>) {
        self.has_arrived = true;
        if self.place == 0 {
            self.add(value);
            self.release(out);
        } else {
            out.push(Signal {
                to: Destination::One(0),
                round: ARRIVAL,
                value,
            });
        }
    }

    fn receive(
        &mut self,
        from: usize,
        round: u16,
        value: u64,
        out: &mut Vec<Signal>,
    ) -> Result<(), Unexpected> {
        match (self.place, round) {
            (0, ARRIVAL) if from != 0 && self.seen.get(from) == Some(&false) => {
                self.seen[from] = true;
                self.others += 1;
                self.add(value);
                self.release(out);
                Ok(())
            }
            (1.., RELEASE) if from == 0 && self.has_arrived && self.result.is_none() => {
                self.result = Some(value);
                Ok(())
            }
            _ => Err(Unexpected),
        }
    }

    fn result(&self) -> Option<u64> {
        self.result
    }

    fn waits_for(&self) -> Vec<usize> {
        match (self.place, self.result) {
            (_, Some(_)) => Vec::new(),
            (0, None) => (1..self.size).filter(|at| !self.seen[*at]).collect(),
            (_, None) => vec![0],
        }
    }
}
