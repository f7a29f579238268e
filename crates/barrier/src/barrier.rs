//! The interface of all barriers.

use std::time::Duration;

use crate::{Ended, Id, Lost, Misuse, Refused, View};

/// One member's barriers, as a state machine without I/O. Times are counted from any moment that
/// the owner chooses.
///
/// Epochs count from 0, and each either passes for all survivors or fails for all survivors that
/// have not passed it. Each arrival gets one [`Event::Passed`] or [`Event::Failed`], unless the
/// member's barriers end before. Between arrival and event a member can work (a *fuzzy* barrier).
///
/// After each call the owner takes all that [`Barrier::poll_transmit`] and
/// [`Barrier::poll_event`] have, and calls [`Barrier::timeout`] when the time of
/// [`Barrier::poll_timeout`] comes.
pub trait Barrier: std::fmt::Debug {
    /// This member.
    fn id(&self) -> Id;

    /// The members as this one knows them; none before it has joined.
    fn view(&self) -> &View;

    /// Arrives at the next epoch, and brings `value` along. Gives the epoch.
    ///
    /// # Errors
    /// [`Misuse`]
    fn arrive(&mut self, now: Duration, value: u64) -> Result<u64, Misuse>;

    /// Leaves the group. [`Event::Ended`] follows; a member whose connections close before that is
    /// a lost one.
    ///
    /// # Errors
    /// [`Misuse`]
    fn leave(&mut self, now: Duration) -> Result<(), Misuse>;

    /// Ends this member's barriers without the others' consent. They are notified, and go on
    /// without it as without a lost one.
    fn abandon(&mut self, now: Duration);

    /// A packet has come on the connection to `from`.
    ///
    /// # Errors
    /// [`Refused`], for the log: the packet did no harm.
    fn receive(&mut self, now: Duration, from: Id, packet: &[u8]) -> Result<(), Refused>;

    /// A member is lost: its connection has ended, its owner has given it up, or a packet that
    /// [`Barrier::poll_transmit`] gave cannot be sent to it. All survivors that have a connection
    /// to it must be told, in any order and at any time, also if it has left.
    fn lost(&mut self, now: Duration, member: Id);

    fn timeout(&mut self, now: Duration);

    fn poll_timeout(&self) -> Option<Duration>;

    fn poll_transmit(&mut self) -> Option<Transmit>;

    fn poll_event(&mut self) -> Option<Event>;

    /// This member waits for these members, as far as it knows. Programs show them to their users.
    fn waits_for(&self) -> Vec<Id>;

    /// Whether this member believes that another one is lost. A packet to a lost member is worth
    /// sending only if there is a connection already.
    fn is_lost(&self, member: Id) -> bool;

    /// Whether the others have received everything that this member had to tell them. A member that
    /// has left runs until then.
    fn is_settled(&self) -> bool;
}

/// A packet to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    pub to: Recipient,
    pub packet: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipient {
    Member(Id),
    /// All members of this view but the sender: by multicast where there is one.
    All(View),
    /// The same, but each by a packet to it: multicast does not reach all of them.
    Each(View),
}

impl Recipient {
    pub(crate) fn member(&self) -> Option<Id> {
        match self {
            Recipient::Member(id) => Some(*id),
            Recipient::All(_) | Recipient::Each(_) => None,
        }
    }
}

/// An event in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// All members have arrived. `value` is the combination of their numbers.
    Passed {
        epoch: u64,
        value: u64,
    },
    Failed(Lost),
    /// The member has joined; `epoch` is the first at which it arrives.
    Joined {
        epoch: u64,
        view: View,
    },
    /// Others were lost, have left or joined.
    Changed {
        view: View,
    },
    /// There are no barriers for this member any more.
    Ended(Ended),
}
