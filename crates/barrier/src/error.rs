//! Errors, grouped by the side that caused them.

use crate::{Group, Id};

/// The error for an impossible group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    #[error("a group without members has no barriers: name at least one")]
    Empty,
    #[error("member {member} is named twice in a group: name each once")]
    Twice { member: Id },
    #[error("member {member} is not in its own list of members: only members can open a barrier")]
    Outside { member: Id },
}

/// A list of members, for messages to users.
pub(crate) fn list(members: &[Id]) -> String {
    if members.is_empty() {
        return "others".to_owned();
    }
    let names: Vec<String> = members.iter().map(Id::to_string).collect();
    names.join(", ")
}

/// `rank 2 was lost`, or `ranks 2, 3 were lost`.
pub fn were_lost(what: &str, lost: &[Id]) -> String {
    match lost {
        [one] => format!("{what} {one} was lost"),
        _ => format!("{what}s {} were lost", list(lost)),
    }
}

/// The epoch failed for all members that have not passed it. The group goes on without the lost
/// members, and the next epoch can pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "epoch {epoch} of the barrier failed, because {}; the next epoch is without {}",
    were_lost("member", &self.members),
    if self.members.len() == 1 { "it" } else { "them" }
)]
pub struct Lost {
    pub epoch: u64,
    pub members: Vec<Id>,
}

/// The reason why a member has no barriers any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    #[error("this member has left its group")]
    Left,
    #[error("the others believe that this member is lost, and go on without it: join again")]
    Excluded,
    #[error("all members that could have admitted this one are lost")]
    Alone,
}

/// A mistake of the program. The call has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misuse {
    #[error("this member has arrived at epoch {epoch} already: wait for it to pass or fail")]
    Twice { epoch: u64 },
    #[error("this member has arrived at epoch {epoch}, and can leave once that passes or fails")]
    Arrived { epoch: u64 },
    #[error("this member is leaving, so it cannot arrive any more")]
    Leaving,
    #[error("this member has not joined yet: wait for the event")]
    Joining,
    #[error(transparent)]
    Ended(#[from] Ended),
}

/// A packet that was ignored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("this is not a packet of a barrier, or it is damaged")]
    Malformed,
    #[error("a packet of release {theirs} of the protocol; this is release {ours}")]
    Release { theirs: u16, ours: u16 },
    #[error("a packet of group {theirs:?}; this is {ours:?}")]
    Group { theirs: Group, ours: Group },
    #[error("a packet that names member {told} as its sender came from member {from}")]
    Sender { told: Id, from: Id },
    #[error("a packet for member {told} came to member {me}")]
    Receiver { told: Id, me: Id },
    #[error("a packet of member {member}, which is not in this group or was lost")]
    Stranger { member: Id },
    #[error("member {member} uses another pattern, or combines numbers in another way")]
    Different { member: Id },
    #[error("member {member} sent a packet of epoch {theirs}; this member is at {ours}")]
    Epoch { member: Id, theirs: u64, ours: u64 },
    #[error(
        "member {member} sent a packet that is not expected of it, or that it had sent before"
    )]
    Unexpected { member: Id },
    #[error("a packet whose authentication code does not match the secret of this group")]
    Forged,
}

/// The reason why a wait ended before all members had arrived.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    #[error(transparent)]
    Lost(#[from] Lost),
    #[error(transparent)]
    Ended(#[from] Ended),
    /// The epoch is still open, and the program can wait again.
    #[error(
        "not all members have arrived in time: this one waits for {}",
        list(missing)
    )]
    TimedOut { missing: Vec<Id> },
    #[error("this member has not arrived: call `arrive` before `wait`")]
    NotArrived,
    #[error("this member has arrived at an epoch: wait for it before you leave")]
    Arrived,
    #[error("the others have not answered in time: try again to leave")]
    NotLeft,
    #[error("the lines of the barrier cannot be used: {0}")]
    Lines(String),
}
