//! The messages that handlers get.

use super::link_id::LinkId;

/// A message for a handler.
#[derive(Clone, Copy, Debug)]
pub struct Active<'a> {
    pub from: LinkId,
    pub tag: u64,
    pub(super) start: *const u8,
    pub(super) len: usize,
    pub(super) life: std::marker::PhantomData<&'a u8>,
}

impl Active<'_> {
    /// The first byte, valid during the call. Over shared memory, the sender can still change the
    /// bytes.
    pub fn as_ptr(&self) -> *const u8 {
        self.start
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A private copy.
    pub fn to_vec(&self) -> Vec<u8> {
        copy_of(self.start, self.len)
    }
}

pub(super) fn copy_of(start: *const u8, len: usize) -> Vec<u8> {
    let mut copy = vec![0; len];
    // SAFETY: the caller has `len` valid bytes at `start`.
    unsafe { std::ptr::copy_nonoverlapping(start, copy.as_mut_ptr(), len) };
    copy
}
