//! Copies the values of an answer to the program's memory.

use mgn_wire::{Answer, Plain};

/// Writes the values of an answer to the program's memory, at most `most`. Returns their number,
/// which is 0 after an error.
///
/// # Safety
/// `data` has room for `most` values.
pub unsafe fn take<T: Plain>(mut answer: Answer, data: *mut T, most: usize) -> usize {
    let bytes = answer.next_array(size_of::<T>());
    let count = most.min(bytes.len() / size_of::<T>());
    // SAFETY: the answer holds as many bytes, and the program's memory has room for them.
    unsafe {
        data.cast::<u8>()
            .copy_from_nonoverlapping(bytes.as_ptr(), count * size_of::<T>())
    };
    count
}
