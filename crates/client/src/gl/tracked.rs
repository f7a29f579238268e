//! Helpers with which generated entry points update the shadow of the state.

use mgn_state::GlError;

/// The result of a hook of the shadow: nothing, or the error that OpenGL raises.
pub trait Tracked {
    /// The error, if the command must be refused.
    fn refusal(self) -> Option<u32>;
}

impl Tracked for () {
    #[inline(always)]
    fn refusal(self) -> Option<u32> {
        None
    }
}

impl Tracked for Result<(), GlError> {
    #[inline(always)]
    fn refusal(self) -> Option<u32> {
        self.err().map(|e| e.code())
    }
}

/// An argument array as a slice; empty for a null pointer.
///
/// # Safety
/// `ptr` is null or holds `n` values that no thread changes meanwhile.
pub unsafe fn values<'a, T>(ptr: *const T, n: usize) -> &'a [T] {
    if ptr.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(ptr, n) }
}

/// Whether memory that the program points to is mapped. This is only checked if the memory is so
/// large that it may have been returned to the system, or the pointer is so low that it is an
/// offset into a buffer object. An invalid command may have an invalid pointer.
pub fn can_be_read(address: usize, len: usize) -> bool {
    /// The allocator hardly ever returns smaller memory to the system.
    const LARGE: usize = 4096;
    /// No program has memory below this address, unless the administrator allows it.
    const LOWEST: usize = 1 << 16;
    (len < LARGE && address >= LOWEST) || mgn_sys::memory::is_mapped(address, len)
}
