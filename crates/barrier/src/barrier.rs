//! The interface of all barriers.

use std::time::Duration;

use crate::{Ended, Id, Lost, Misuse, Refused, View};

/// One member's barriers, as a state machine without I/O. Times are measured from a moment that the
/// owner chooses.
///
/// Epochs count from 0, and each either passes for all survivors or fails for all survivors that
/// have not passed it. Each arrival gets one [`Event::Passed`] or [`Event::Failed`], unless the
/// member's barriers end before. Between its arrival and the event, a member can do other work (a
/// *fuzzy* barrier).
///
/// After each call, the owner must call [`Barrier::poll_transmit`] and [`Barrier::poll_event`]
/// until they return `None`. It must call [`Barrier::timeout`] at the time that
/// [`Barrier::poll_timeout`] returns.
pub trait Barrier: std::fmt::Debug {
    /// This member.
    fn id(&self) -> Id;

    /// The members, as far as this member knows. There are none before this member has joined.
    fn view(&self) -> &View;

    /// Arrives at the next epoch, and contributes `value`. Returns the epoch.
    ///
    /// # Errors
    /// [`Misuse`]
    fn arrive(&mut self, now: Duration, value: u64) -> Result<u64, Misuse>;

    /// Leaves the group. [`Event::Ended`] follows. A member whose connections close before this
    /// event counts as lost.
    ///
    /// # Errors
    /// [`Misuse`]
    fn leave(&mut self, now: Duration) -> Result<(), Misuse>;

    /// Ends this member's barriers without the others' consent. The others are notified, and go on
    /// as if this member were lost.
    fn abandon(&mut self, now: Duration);

    /// Handles a packet that has come on the connection to `from`.
    ///
    /// # Errors
    /// [`Refused`], for the log. A refused packet does no harm.
    fn receive(&mut self, now: Duration, from: Id, packet: &[u8]) -> Result<(), Refused>;

    /// Records that a member is lost: its connection has ended, its owner has given it up, or a
    /// packet from [`Barrier::poll_transmit`] cannot be sent to it. All survivors that have a
    /// connection to the member must be told, even if it has left. The order and the time do not
    /// matter.
    fn lost(&mut self, now: Duration, member: Id);

    fn timeout(&mut self, now: Duration);

    fn poll_timeout(&self) -> Option<Duration>;

    fn poll_transmit(&mut self) -> Option<Transmit>;

    fn poll_event(&mut self) -> Option<Event>;

    /// The members that must send something before this member can pass, as far as it knows.
    /// Programs show them to their users.
    fn waits_for(&self) -> Vec<Id>;

    /// Whether this member believes that another member is lost. If there is no connection to a
    /// lost member, the owner need not make one to send a packet.
    fn is_lost(&self, member: Id) -> bool;

    /// Whether the others have received all packets that this member had to send. The owner must
    /// keep a member that has left running until then.
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
    /// All members of this view except the sender, by multicast if it is available.
    All(View),
    /// All members of this view except the sender, each by a separate packet, because multicast
    /// does not reach all of them.
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
    /// The member has joined. `epoch` is the first epoch at which it arrives.
    Joined {
        epoch: u64,
        view: View,
    },
    /// Other members were lost, have left or joined.
    Changed {
        view: View,
    },
    /// This member has no barriers any more.
    Ended(Ended),
}
