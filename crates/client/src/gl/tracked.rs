//! Helpers by which generated entry points keep the shadow of the state.

use mgn_state::GlError;

/// The result of a hook of the shadow: nothing, or the error that OpenGL would raise.
pub trait Tracked {
    /// The error, if the command is to be refused.
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

/// Whether memory that the program points to is there, as far as that is worth a question: where it
/// is large enough to have been given back to the system, or where the pointer is so low that it
/// is an offset into a buffer object. A command that is in error may have a pointer to nowhere.
pub fn can_be_read(address: usize, len: usize) -> bool {
    /// The allocator hardly ever gives smaller memory back to the system.
    const LARGE: usize = 4096;
    /// No program has memory below this, unless the system's owner has allowed it.
    const LOWEST: usize = 1 << 16;
    (len < LARGE && address >= LOWEST) || mgn_sys::memory::is_mapped(address, len)
}
