//! The number of a link.

/// The identifier of a link of an endpoint. It is never reused for another link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl LinkId {
    /// The link as a number, for the C interface. It is never 0.
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// The link with this number. If no link ever had this number, every operation on the result
    /// fails with [`Error::Misuse`](crate::Error::Misuse).
    pub fn from_bits(bits: u64) -> LinkId {
        LinkId {
            index: bits as u32,
            generation: (bits >> 32) as u32,
        }
    }
}
