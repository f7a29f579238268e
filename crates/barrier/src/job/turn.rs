//! The limit on the packets that a member handles before it does something else.

/// The maximum number of packets in a turn.
const PACKETS_MAX: u32 = 64;

/// The maximum number of refused packets in a turn. A stranger can send many, and each of them
/// takes a place in the socket's queue. A queue of the usual size holds fewer packets than this, so
/// none of the group's packets in it has to wait for the next turn.
const REFUSED_MAX: u32 = 1024;

/// What has come in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// No packet waits.
    Nothing,
    /// A packet that was refused, for example because no member of this group has sent it.
    Refused,
    Packet,
}

/// The packets of one turn. Refused packets count separately, so that a stranger who sends some
/// does not keep the group's packets out of the turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    packets: u32,
    refused: u32,
}

impl Turn {
    /// Counts a step. Returns whether the turn goes on.
    pub fn goes_on(&mut self, step: Step) -> bool {
        match step {
            Step::Nothing => return false,
            Step::Refused => self.refused += 1,
            Step::Packet => self.packets += 1,
        }
        self.packets < PACKETS_MAX && self.refused < REFUSED_MAX
    }

    /// Whether a packet that was not refused has come.
    pub fn has_packets(&self) -> bool {
        self.packets > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_after_many_packets_of_either_sort() {
        for (step, most) in [(Step::Packet, PACKETS_MAX), (Step::Refused, REFUSED_MAX)] {
            let mut turn = Turn::default();
            assert!((1..most).all(|_| turn.goes_on(step)));
            assert!(!turn.goes_on(step));
            assert_eq!(turn.has_packets(), step == Step::Packet);
        }
        assert!(!Turn::default().goes_on(Step::Nothing));
    }
}
