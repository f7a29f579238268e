//! What generated entry points need to keep the shadow of the state.

use mgn_state::GlError;

/// What a hook of the shadow returns: nothing, or the error that OpenGL would raise.
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
/// `ptr` is null or holds `n` values that nobody changes meanwhile.
pub unsafe fn values<'a, T>(ptr: *const T, n: usize) -> &'a [T] {
    if ptr.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(ptr, n) }
}
