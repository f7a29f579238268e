//! Arguments that are used in place, in the message.

use mgn_sys::copy::copy;
use std::marker::PhantomData;

/// Types for which every bit pattern is a valid value.
pub trait Plain: Copy + Default + 'static {}
impl Plain for u8 {}
impl Plain for i8 {}
impl Plain for u16 {}
impl Plain for i16 {}
impl Plain for u32 {}
impl Plain for i32 {}
impl Plain for f32 {}
impl Plain for f64 {}
impl Plain for u64 {}
impl Plain for i64 {}

/// An array in a message, or a null pointer. The memory may be shared with a client that writes to
/// it at any time, so it is never lent as `&[T]`: use it in place by `as_ptr` if any value will do,
/// or copy it and then check the copy. It is aligned to 4 bytes.
#[derive(Clone, Copy)]
pub struct Slice<'a, T> {
    ptr: *const T,
    len: usize,
    message: PhantomData<&'a T>,
}

impl<'a, T: Plain> Slice<'a, T> {
    /// # Safety
    /// `len` elements lie at `ptr` for as long as `'a`; a null `ptr` has `len` 0.
    pub unsafe fn new(ptr: *const T, len: usize) -> Slice<'a, T> {
        Slice {
            ptr,
            len,
            message: PhantomData,
        }
    }

    pub fn null() -> Slice<'a, T> {
        Slice {
            ptr: std::ptr::null(),
            len: 0,
            message: PhantomData,
        }
    }

    pub fn as_ptr(&self) -> *const T {
        self.ptr
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn is_null(&self) -> bool {
        self.ptr.is_null()
    }

    /// A private copy; none for a null pointer.
    pub fn copied(&self) -> Option<Vec<T>> {
        (!self.is_null()).then(|| self.to_vec())
    }

    /// A private copy; empty for a null pointer.
    pub fn to_vec(&self) -> Vec<T> {
        let mut list = vec![T::default(); self.len];
        if self.len > 0 {
            // SAFETY: `new` promises that the elements lie there; T is plain, so whatever is read
            // is a value.
            unsafe {
                copy(
                    self.ptr.cast(),
                    list.as_mut_ptr().cast(),
                    self.len * size_of::<T>(),
                )
            };
        }
        list
    }

    /// Adds a private copy to the end of `list`.
    pub fn append_to(&self, list: &mut Vec<T>) {
        list.reserve(self.len);
        if self.len > 0 {
            // SAFETY: as in `to_vec`; the vector has room for the elements behind its own.
            unsafe {
                let end = list.as_mut_ptr().add(list.len());
                copy(self.ptr.cast(), end.cast(), self.len * size_of::<T>());
                list.set_len(list.len() + self.len);
            }
        }
    }

    /// The array's elements `from..from + len`, if it has them.
    pub fn part(&self, from: usize, len: usize) -> Option<Slice<'a, T>> {
        let end = from.checked_add(len)?;
        // SAFETY: the part lies within the array.
        (end <= self.len).then(|| unsafe { Slice::new(self.ptr.wrapping_add(from), len) })
    }

    /// Fails unless there are `expected` elements or none at all (a null pointer).
    pub fn holds(&self, expected: usize) -> Result<(), crate::Fault> {
        if self.is_null() || self.len >= expected {
            Ok(())
        } else {
            Err(crate::Fault::ShortArray)
        }
    }
}

/// An array of this process's own.
impl<'a, T: Plain> From<&'a [T]> for Slice<'a, T> {
    fn from(elements: &'a [T]) -> Slice<'a, T> {
        // SAFETY: the elements lie there for as long as they are borrowed.
        unsafe { Slice::new(elements.as_ptr(), elements.len()) }
    }
}

impl Slice<'_, u8> {
    /// A private copy with a NUL behind it. A NUL within is a fault.
    pub fn to_c_string(&self) -> Result<std::ffi::CString, crate::Fault> {
        std::ffi::CString::new(self.to_vec()).map_err(|_| crate::Fault::BadString)
    }
}

impl<T> std::fmt::Debug for Slice<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}]", self.len)
    }
}

/// An argument that OpenGL declares as a pointer to data: null, bytes, or an offset into the bound
/// buffer object.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    Null,
    Inline(Slice<'a, u8>),
    Offset(u64),
}
