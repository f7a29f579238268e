//! The names of groups and members, and a view: the members at one time.

use std::sync::Arc;

use crate::ViewError;

/// A member's name within its group. A name is used only once: a process that comes back after it
/// has left or was lost takes another name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u32);

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of a group. Packets of other groups are refused, so two groups that exist at the same
/// time, or one after the other on the same links, have different names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(pub u64);

/// The operation that combines the numbers of the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// The bits that any member has set.
    Any = 0,
    /// The bits that all members have set.
    All = 1,
    Min = 2,
    Max = 3,
}

impl Combine {
    pub const EACH: [Combine; 4] = [Combine::Any, Combine::All, Combine::Min, Combine::Max];

    /// The combination of `sum` with one more number. Without a sum, this is the number.
    pub(crate) fn add(self, sum: Option<u64>, value: u64) -> u64 {
        sum.map_or(value, |sum| self.of(sum, value))
    }

    #[inline]
    pub fn of(self, one: u64, other: u64) -> u64 {
        match self {
            Combine::Any => one | other,
            Combine::All => one & other,
            Combine::Min => one.min(other),
            Combine::Max => one.max(other),
        }
    }
}

/// The identifier of a view, and of the proposal that led to it. Later proposals have larger
/// numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ViewId {
    pub number: u64,
    /// The proposer. It distinguishes and orders proposals with the same number.
    pub by: Id,
}

impl ViewId {
    /// The identifier of a process that has not been admitted yet. It is earlier than all views.
    pub const NONE: ViewId = ViewId {
        number: 0,
        by: Id(0),
    };
    pub const FIRST: ViewId = ViewId {
        number: 1,
        by: Id(0),
    };
}

/// The members of a group at one time, by seniority: new members are last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    members: Arc<[Id]>,
    /// The members in the order of their names, with their places in `members`.
    sorted: Arc<[(Id, u32)]>,
}

impl View {
    /// # Errors
    /// [`ViewError`] for a view without members, or with one member twice.
    pub fn new(members: impl IntoIterator<Item = Id>) -> Result<View, ViewError> {
        let members: Arc<[Id]> = members.into_iter().collect();
        if members.is_empty() {
            return Err(ViewError::Empty);
        }
        let places = members.iter().zip(0..).map(|(id, place)| (*id, place));
        let mut sorted: Vec<(Id, u32)> = places.collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(ViewError::Twice { member: pair[0].0 }),
            None => Ok(View {
                members,
                sorted: sorted.into(),
            }),
        }
    }

    pub(crate) fn none() -> View {
        View {
            members: Arc::new([]),
            sorted: Arc::new([]),
        }
    }

    pub fn members(&self) -> &[Id] {
        &self.members
    }

    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether `other` is a copy of this view. This is faster than a comparison of the members.
    pub(crate) fn is_same(&self, other: &View) -> bool {
        Arc::ptr_eq(&self.members, &other.members)
    }

    /// The place of a member in [`View::members`].
    pub fn place(&self, member: Id) -> Option<usize> {
        // The members of most groups are the ranks of a job, in order.
        if self.members.get(member.0 as usize) == Some(&member) {
            return Some(member.0 as usize);
        }
        let at = self.sorted.binary_search_by_key(&member, |(id, _)| *id);
        at.ok().map(|at| self.sorted[at].1 as usize)
    }

    pub fn contains(&self, member: Id) -> bool {
        self.place(member).is_some()
    }
}

/// All processes that take part in the changes of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roster {
    /// The members, which take part in barriers.
    pub members: View,
    /// The processes that become members with the next view.
    pub joining: Vec<Id>,
    /// The processes that were members, and may end with the next view.
    pub leaving: Vec<Id>,
}

impl Roster {
    pub fn of_members(members: View) -> Roster {
        Roster {
            members,
            joining: Vec::new(),
            leaving: Vec::new(),
        }
    }

    /// Returns `None` if a process is named twice.
    pub fn new(members: Vec<Id>, joining: Vec<Id>, leaving: Vec<Id>) -> Option<Roster> {
        let all = members.iter().chain(&joining).chain(&leaving);
        match View::new(all.copied()) {
            Ok(_) | Err(ViewError::Empty) => Some(Roster {
                // The view has no members if the last member is leaving.
                members: View::new(members).unwrap_or_else(|_| View::none()),
                joining,
                leaving,
            }),
            Err(_) => None,
        }
    }

    pub fn participants(&self) -> impl Iterator<Item = Id> + '_ {
        let members = self.members.members().iter();
        members.chain(&self.leaving).chain(&self.joining).copied()
    }

    pub fn contains(&self, id: Id) -> bool {
        self.members.contains(id) || self.joining.contains(&id) || self.leaving.contains(&id)
    }

    /// Whether the view has barriers. In a view without barriers, processes join or leave.
    pub fn is_settled(&self) -> bool {
        self.joining.is_empty() && self.leaving.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_know_places() {
        let view = View::new([5, 1, 9].map(Id)).unwrap();
        assert_eq!([5, 9, 1].map(|id| view.place(Id(id)).unwrap()), [0, 2, 1]);
        assert_eq!(view.place(Id(0)), None);
        assert_eq!(View::new([]), Err(ViewError::Empty));
        let twice = View::new([3, 4, 3].map(Id));
        assert_eq!(twice, Err(ViewError::Twice { member: Id(3) }));
    }

    #[test]
    fn numbers_are_combined() {
        let all = Combine::EACH.map(|combine| combine.of(0b0110, 0b0011));
        assert_eq!(all, [0b0111, 0b0010, 0b0011, 0b0110]);
    }
}
