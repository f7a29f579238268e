//! The choice of the messages that a receive takes.

use super::link_id::LinkId;

/// The messages that a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The link, or `None` for any link. A receive from any link ends with [`crate::Error::Closed`]
    /// when the last peer is gone. A receive that begins later ends at once. If this endpoint has
    /// accepted peers, such a receive waits, because more peers may come.
    pub from: Option<LinkId>,
    pub tag: u64,
    /// The bits of the tag that are not compared.
    pub ignore: u64,
}

impl Wanted {
    /// Messages with this tag from this link.
    pub fn new(from: LinkId, tag: u64) -> Wanted {
        Wanted {
            from: Some(from),
            tag,
            ignore: 0,
        }
    }

    /// Any message.
    pub fn any() -> Wanted {
        Wanted {
            from: None,
            tag: 0,
            ignore: u64::MAX,
        }
    }

    #[inline]
    pub(crate) fn takes(&self, from: LinkId, tag: u64) -> bool {
        (self.tag ^ tag) & !self.ignore == 0 && self.from.is_none_or(|wanted| wanted == from)
    }
}
