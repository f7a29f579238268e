//! Why a member has stopped compositing. All members that wait for it then report the same rank as
//! the cause.

use super::links::Links;
use super::CompositeError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Left,
    Lost { rank: usize },
    Late { rank: usize },
    Different { rank: usize },
}

impl Ended {
    pub fn because(error: &CompositeError, own: usize) -> Ended {
        match error {
            CompositeError::Late { rank, .. } | CompositeError::Stuck { rank, .. } => {
                Ended::Late { rank: *rank }
            }
            CompositeError::Different { rank, .. } => Ended::Different { rank: *rank },
            CompositeError::Lost { rank, .. } => Ended::Lost { rank: *rank },
            _ => Ended::Lost { rank: own },
        }
    }

    /// Never 0, which stands for a member that still composites.
    pub fn code(self) -> u32 {
        let (kind, rank) = match self {
            Ended::Left => (1, 0),
            Ended::Lost { rank } => (2, rank),
            Ended::Late { rank } => (3, rank),
            Ended::Different { rank } => (4, rank),
        };
        kind | (rank as u32) << 8
    }

    pub fn from_code(code: u32) -> Ended {
        let rank = (code >> 8) as usize;
        match code & 0xFF {
            2 => Ended::Lost { rank },
            3 => Ended::Late { rank },
            4 => Ended::Different { rank },
            _ => Ended::Left,
        }
    }

    /// The error of a member that waits for `teller`.
    pub fn error(self, teller: usize, links: &Links<'_>) -> CompositeError {
        match self {
            Ended::Left => CompositeError::closed(teller),
            Ended::Lost { rank } => CompositeError::closed(rank),
            Ended::Late { rank } if rank == links.rank => CompositeError::Lost {
                rank: teller,
                source: mgn_fabric::Error::TimedOut(format!("it waited for rank {rank}")),
            },
            Ended::Late { rank } => CompositeError::Late {
                rank,
                waited: links.patience,
            },
            Ended::Different { rank } => CompositeError::Different {
                rank,
                what: format!("something else, as rank {teller} says"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_read_as_they_are_written() {
        let (rank, other) = (511, 0);
        for ended in [
            Ended::Left,
            Ended::Lost { rank },
            Ended::Late { rank },
            Ended::Different { rank: other },
        ] {
            assert_ne!(ended.code(), 0);
            assert_eq!(Ended::from_code(ended.code()), ended);
        }
    }
}
