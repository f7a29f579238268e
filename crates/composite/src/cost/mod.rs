//! The expected time of a composition by messages, and the schedule that takes the least time.
//!
//! The schedules' own state machines run on a simulated clock ([`simulation`]) with costs that were
//! measured. A closed formula for each schedule, as in the LogP model (Culler et al. 1993), would
//! be shorter to evaluate, but it would have to be right for every number of members and every
//! receiver.

mod simulation;

use crate::{Delivery, Format, Operation, Schedule};

/// The costs of messages and merging, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// To merge a byte of one layer, colours and depths alike.
    pub merge: f64,
    /// To copy a byte.
    pub copy: f64,
    /// To send or to receive a message, on the processor.
    pub message: f64,
    /// From the moment when a message has left the sender's link until the receiver has it.
    pub latency: f64,
    /// To send a byte over a link.
    pub byte: f64,
}

impl Costs {
    /// How many numbers [`Costs::to_array`] gives.
    pub(crate) const COUNT: usize = 5;

    pub(crate) fn to_array(self) -> [f64; Costs::COUNT] {
        [self.merge, self.copy, self.message, self.latency, self.byte]
    }

    /// Costs from measurements, each within its bounds.
    pub(crate) fn clamped(mut numbers: [f64; Costs::COUNT]) -> Costs {
        for (number, most) in numbers.iter_mut().zip(COSTS_MAX) {
            // A NaN becomes 0.
            *number = number.max(0.0).min(most);
        }
        Costs::from_array(numbers).unwrap_or_default()
    }

    /// None if a number is not a duration, or too long.
    pub(crate) fn from_array(numbers: [f64; Costs::COUNT]) -> Option<Costs> {
        let [merge, copy, message, latency, byte] = numbers;
        let mut pairs = numbers.iter().zip(COSTS_MAX);
        let are_durations = pairs.all(|(seconds, most)| (0.0..=most).contains(seconds));
        are_durations.then_some(Costs {
            merge,
            copy,
            message,
            latency,
            byte,
        })
    }
}

/// The most that each cost may be: a millisecond for a byte, and a second for a message.
const COSTS_MAX: [f64; Costs::COUNT] = [1e-3, 1e-3, 1.0, 1.0, 1e-3];

/// Direct send is simulated for at most this many members, because the number of its messages grows
/// with the square of theirs.
const DIRECT_MAX: usize = 64;

/// Schedules are simulated for at most this many members.
const SIMULATED_MAX: usize = 512;

/// The properties of a frame's composition on which its time depends. All members draw whole
/// pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    pub members: usize,
    pub pixels: usize,
    pub format: Format,
    pub operation: Operation,
    /// Whether the members' pictures are in the format of intermediate results.
    pub are_partial: bool,
    pub delivery: Delivery,
}

/// The schedules to choose from. Of two with the same time, the first is taken.
const CANDIDATES: [Schedule; 6] = [
    Schedule::DirectSend,
    Schedule::RadixK(8),
    Schedule::RadixK(4),
    Schedule::BinarySwap,
    Schedule::TwoThreeSwap,
    Schedule::Tree(8),
];

impl Load {
    /// The seconds from when all members have drawn until the merged picture has been delivered.
    /// Each member has a processor and a link of its own; a link carries one message at a time in
    /// each direction.
    pub fn seconds(&self, schedule: Schedule, costs: Costs) -> f64 {
        simulation::seconds(self, schedule, costs)
    }

    /// The schedule that takes the least time.
    pub fn fastest(&self, costs: Costs) -> Schedule {
        if self.members > SIMULATED_MAX {
            return Schedule::RadixK(8);
        }
        let is_direct = |schedule: &Schedule| *schedule == Schedule::DirectSend;
        let candidates = CANDIDATES
            .into_iter()
            .filter(|schedule| self.members <= DIRECT_MAX || !is_direct(schedule));
        let fastest = candidates
            .map(|schedule| (schedule, self.seconds(schedule, costs)))
            .min_by(|(_, one), (_, other)| one.total_cmp(other));
        fastest.map_or(Schedule::DirectSend, |(schedule, _)| schedule)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Color;

    fn load(members: usize, pixels: usize) -> Load {
        Load {
            members,
            pixels,
            format: Format {
                color: Color::Rgba8,
                depth: None,
            },
            operation: Operation::Over,
            are_partial: false,
            delivery: Delivery::Member(0),
        }
    }

    /// A link of 10 Gbit/s between hosts, and a processor that merges 10 GB/s.
    pub(crate) const NETWORK: Costs = Costs {
        merge: 1e-10,
        copy: 1e-10,
        message: 2e-6,
        latency: 20e-6,
        byte: 8e-10,
    };

    #[test]
    fn few_members_merge_large_pictures_in_one_round() {
        for members in [2, 4, 8] {
            let fastest = load(members, 1 << 20).fastest(NETWORK);
            assert_eq!(fastest, Schedule::DirectSend, "{members}");
        }
    }

    #[test]
    fn many_members_need_fewer_messages_than_one_to_each() {
        let costs = Costs {
            message: 20e-6,
            ..NETWORK
        };
        assert_ne!(load(128, 1 << 20).fastest(costs), Schedule::DirectSend);
    }

    #[test]
    fn with_few_members_the_receiver_merges_small_pictures_alone() {
        // Every other schedule needs two latencies.
        let fastest = load(4, 256).fastest(NETWORK);
        assert_eq!(fastest, Schedule::Tree(8));
    }

    #[test]
    fn costs_must_be_durations() {
        assert_eq!(Costs::from_array(NETWORK.to_array()), Some(NETWORK));
        for bad in [f64::NAN, f64::INFINITY, -1e-9, 2.0] {
            for at in 0..Costs::COUNT {
                let mut numbers = NETWORK.to_array();
                numbers[at] = bad;
                assert_eq!(Costs::from_array(numbers), None, "{bad}");
                let clamped = Costs::clamped(numbers).to_array();
                assert!((0.0..=1.0).contains(&clamped[at]), "{bad}: {clamped:?}");
            }
        }
    }

    #[test]
    fn a_tree_takes_longer_if_another_member_gets_the_picture() {
        let seconds = |delivery| {
            let load = Load {
                delivery,
                ..load(4, 256)
            };
            load.seconds(Schedule::Tree(8), NETWORK)
        };
        assert!(seconds(Delivery::Member(1)) > seconds(Delivery::Member(0)));
        assert_eq!(seconds(Delivery::Member(1)), seconds(Delivery::Member(3)));
    }

    #[test]
    fn the_highest_costs_and_the_most_members_give_a_schedule() {
        let costs = Costs::from_array(COSTS_MAX).unwrap();
        for members in [2, 16, 65, SIMULATED_MAX + 1, 1 << 20] {
            load(members, 1 << 32).fastest(costs);
        }
    }
}
