//! The patterns in which the members of one view tell each other that they have arrived. Each
//! pattern has its own file.

mod dissemination;
mod hierarchical;
mod star;
mod tree;

pub use dissemination::Dissemination;
pub use hierarchical::Hierarchical;
pub use star::Star;
pub use tree::Tree;

use crate::{Combine, View};

/// One member's part of one epoch in one view. Members are identified by their places, which count
/// from 0. Links keep signals in order and lose none of them.
pub trait Pattern: std::fmt::Debug {
    /// The code of the pattern in packets, by which members with different patterns refuse each
    /// other.
    fn code(&self) -> u32;

    /// Forgets the previous epoch, and begins an epoch among the members of a view.
    fn begin(&mut self, place: usize, view: &View, combine: Combine);

    /// Records that this member arrives, which it does once in an epoch. Adds the signals to send
    /// to `out`.
    fn arrive(&mut self, value: u64, out: &mut Vec<Signal>);

    /// # Errors
    /// [`Unexpected`]. The state has then not changed.
    fn receive(
        &mut self,
        from: usize,
        round: u16,
        value: u64,
        out: &mut Vec<Signal>,
    ) -> Result<(), Unexpected>;

    /// The combination of all numbers, when all members have arrived. `None` until then.
    fn result(&self) -> Option<u64>;

    /// The places whose signals are missing.
    fn waits_for(&self) -> Vec<usize>;
}

/// A message from one member to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    pub to: Destination,
    pub round: u16,
    pub value: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    One(usize),
    /// All members except the sender.
    All,
}

/// The error for a signal that the pattern does not expect from this member, or has received
/// before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unexpected;

/// The round of signals towards the root, and the round of signals back from the root.
pub(crate) const ARRIVAL: u16 = 0;
pub(crate) const RELEASE: u16 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use mgn_fuzzing::Random;

    fn view(size: usize) -> View {
        View::new((0..size as u32).map(Id)).unwrap()
    }

    fn each() -> Vec<fn() -> Box<dyn Pattern>> {
        vec![
            || Box::new(Star::default()),
            || Box::new(Tree::new(1)),
            || Box::new(Tree::new(2)),
            || Box::new(Tree::new(5)),
            || Box::new(Dissemination::default()),
            // Hosts of three members that are not neighbours, and members on hosts of their own.
            || {
                Box::new(Hierarchical::new(
                    (0..60).map(|id| (Id(id), id % 20)).collect(),
                ))
            },
            || Box::new(Hierarchical::new((0..99).map(|id| (Id(id), 7)).collect())),
        ]
    }

    /// Delivers signals in a random order, and checks after each step that no member has a result
    /// before all have arrived.
    fn run(make: fn() -> Box<dyn Pattern>, size: usize, combine: Combine, random: &mut Random) {
        let view = view(size);
        let mut members: Vec<_> = (0..size).map(|_| make()).collect();
        for (place, member) in members.iter_mut().enumerate() {
            member.begin(place, &view, combine);
        }
        let values: Vec<u64> = (0..size).map(|_| random.next()).collect();
        let expected = values.iter().copied().reduce(|a, b| combine.of(a, b));
        let mut waiting: Vec<usize> = (0..size).collect();
        let mut flying = Vec::new();
        while !waiting.is_empty() || !flying.is_empty() {
            let at = random.below(waiting.len() + flying.len());
            let (mut out, place) = (Vec::new(), waiting.get(at).copied());
            let place = match place {
                Some(place) => {
                    members[place].arrive(values[place], &mut out);
                    waiting.swap_remove(at);
                    place
                }
                None => {
                    let (from, to, round, value) = flying.swap_remove(at - waiting.len());
                    let member: &mut Box<dyn Pattern> = &mut members[to];
                    member.receive(from, round, value, &mut out).unwrap();
                    // The second copy of a signal is refused.
                    let mut none = Vec::new();
                    let again = member.receive(from, round, !value, &mut none);
                    assert_eq!((again, none), (Err(Unexpected), Vec::new()));
                    to
                }
            };
            for signal in out {
                let to = match signal.to {
                    Destination::One(to) => to..to + 1,
                    Destination::All => 0..size,
                };
                let to = to.filter(|to| *to != place);
                flying.extend(to.map(|to| (place, to, signal.round, signal.value)));
            }
            let early = !waiting.is_empty() && members.iter().any(|m| m.result().is_some());
            assert!(!early, "{:?}", members[place]);
        }
        for member in &members {
            assert_eq!(member.result(), expected, "{member:?}");
            assert!(member.waits_for().is_empty());
        }
    }

    #[test]
    fn all_patterns_pass_when_all_have_arrived_and_not_before() {
        let mut random = Random::new(7);
        for make in each() {
            for size in (1..=17).chain([64, 65, 100]) {
                for combine in Combine::EACH {
                    run(make, size, combine, &mut random);
                }
            }
        }
    }

    #[test]
    fn strange_signals_are_refused() {
        for make in each() {
            let mut member = make();
            member.begin(1, &view(4), Combine::Any);
            let before = format!("{member:?}");
            for (from, round) in [(1, 0), (1, 1), (9, 0), (9, 1), (2, 7), (0, u16::MAX)] {
                let mut out = Vec::new();
                assert_eq!(member.receive(from, round, 0, &mut out), Err(Unexpected));
                assert_eq!((format!("{member:?}"), out), (before.clone(), Vec::new()));
            }
            assert!(!member.waits_for().is_empty());
        }
    }
}
