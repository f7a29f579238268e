//! In round r, each member sends everything that it has heard so far to the member that is 2^r
//! places further. There is no root, and with n members, no member waits for more than log2 n
//! signals, rounded up (Hensgen, Finkel and Manber 1988).

use super::{Destination, Pattern, Signal, Unexpected};
use crate::{Combine, View};

/// Rounds of signals around a ring. Some numbers are counted twice. This does not change the result
/// of any [`Combine`].
#[derive(Clone, Debug, Default)]
pub struct Dissemination {
    place: usize,
    size: usize,
    combine: Option<Combine>,
    /// The value received in each round.
    heard: Vec<Option<u64>>,
    /// The value that this member sends in its current round. `None` before it arrives.
    value: Option<u64>,
    round: usize,
}

impl Dissemination {
    fn before(&self, round: usize) -> usize {
        (self.place + self.size - (1 << round)) % self.size
    }

    fn send_signal(&self, value: u64, out: &mut Vec<Signal>) {
        if self.round < self.heard.len() {
            out.push(Signal {
                to: Destination::One((self.place + (1 << self.round)) % self.size),
                round: self.round as u16,
                value,
            });
        }
    }

    fn go_on(&mut self, out: &mut Vec<Signal>) {
        let combine = self.combine.expect("an epoch has begun");
        while let (Some(value), Some(Some(heard))) = (self.value, self.heard.get(self.round)) {
            let value = combine.of(value, *heard);
            self.value = Some(value);
            self.round += 1;
            self.send_signal(value, out);
        }
    }
}

impl Pattern for Dissemination {
    fn code(&self) -> u32 {
        2 << 16
    }

    fn begin(&mut self, place: usize, view: &View, combine: Combine) {
        let size = view.len();
        let rounds = size.next_power_of_two().trailing_zeros() as usize;
        (self.place, self.size, self.combine) = (place, size, Some(combine));
        (self.value, self.round) = (None, 0);
        self.heard.clear();
        self.heard.resize(rounds, None);
    }

    fn arrive(&mut self, value: u64, out: &mut Vec<Signal>) {
        self.value = Some(value);
        self.send_signal(value, out);
        self.go_on(out);
    }

    fn receive(
        &mut self,
        from: usize,
        round: u16,
        value: u64,
        out: &mut Vec<Signal>,
    ) -> Result<(), Unexpected> {
        let round = usize::from(round);
        if self.heard.get(round) != Some(&None) || from != self.before(round) {
            return Err(Unexpected);
        }
        self.heard[round] = Some(value);
        self.go_on(out);
        Ok(())
    }

    fn result(&self) -> Option<u64> {
        self.value.filter(|_| self.round == self.heard.len())
    }

    fn waits_for(&self) -> Vec<usize> {
        let rounds = self.round..self.heard.len();
        let missing = rounds.filter(|round| self.heard[*round].is_none());
        missing.take(1).map(|round| self.before(round)).collect()
    }
}
