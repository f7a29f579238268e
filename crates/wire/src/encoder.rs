//! Writing records. The fast path of a command is a comparison and a few stores.

use crate::{stream, RECORD_MAX};

/// Null arrays have this length; offsets this one.
pub(crate) const NULL: u32 = 0xffff_ffff;
pub(crate) const OFFSET: u32 = 0xffff_fffe;

/// Where records are written. It starts without room; `refill` gives it some.
#[repr(C)]
pub struct Encoder {
    /// The next record goes here.
    pub cur: *mut u8,
    /// The end of the room. Null sends every command to `refill`, whatever there is room for.
    pub end: *mut u8,
    /// Set by every command that may raise an error.
    pub fallible: bool,
    /// Called when `n` bytes do not fit before `end`; gives `n` bytes to write a record to. `n` is at most `RECORD_MAX`.
    pub refill: unsafe fn(*mut Encoder, n: usize) -> *mut u8,
}

impl Encoder {
    pub const fn new(refill: unsafe fn(*mut Encoder, usize) -> *mut u8) -> Encoder {
        Encoder { cur: std::ptr::null_mut(), end: std::ptr::null_mut(), fallible: false, refill }
    }

    /// Room for a record of `n` bytes, a multiple of 4.
    ///
    /// # Safety
    /// `cur..end` is writable memory of the encoder's own, or `end` is null.
    #[inline(always)]
    pub unsafe fn room(&mut self, n: usize) -> *mut u8 {
        let at = self.cur;
        let next = at.wrapping_add(n);
        if next > self.end {
            return self.more(n);
        }
        self.cur = next;
        at
    }

    #[cold]
    #[inline(never)]
    fn more(&mut self, n: usize) -> *mut u8 {
        let refill = self.refill;
        // SAFETY: the encoder is exclusively borrowed, and `n` is a record's size.
        unsafe { refill(self, n) }
    }

    /// Starts a record of a length that depends on its arrays. `bytes` counts the header.
    ///
    /// # Safety
    /// As `room`.
    #[inline]
    pub unsafe fn record(&mut self, op: u16, bytes: usize) -> Record {
        if bytes > RECORD_MAX {
            return Record { at: std::ptr::null_mut(), long: Some((op, Vec::with_capacity(bytes))) };
        }
        // SAFETY: as our own.
        let at = unsafe { self.room(bytes) };
        // SAFETY: `room` gave `bytes` bytes, and a header takes four.
        unsafe { put(at, 0, u32::from(op) | ((bytes / 4) as u32) << 16) };
        Record { at: at.wrapping_add(4), long: None }
    }
}

/// Writes `value` at `at + offset`.
///
/// # Safety
/// There is room for it.
#[inline(always)]
pub unsafe fn put<T: Copy>(at: *mut u8, offset: usize, value: T) {
    // SAFETY: the caller's promise.
    unsafe { at.add(offset).cast::<T>().write_unaligned(value) }
}

/// Bytes that an array takes beyond its length.
#[inline]
pub fn padded(ptr: usize, bytes: usize) -> usize {
    if ptr == 0 {
        0
    } else {
        bytes.next_multiple_of(4)
    }
}

/// The bytes of a C string with their number; none for a null pointer.
///
/// # Safety
/// `text` is null or ends with NUL.
pub unsafe fn c_string(text: *const u8) -> (*const u8, usize) {
    if text.is_null() {
        return (text, 0);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { std::ffi::CStr::from_ptr(text.cast()) };
    (text.as_ptr().cast(), text.to_bytes().len())
}

/// An argument of type `data` as the client gives it.
#[derive(Clone, Copy, Debug)]
pub enum Data {
    Null,
    /// Bytes to copy.
    Bytes(*const u8, usize),
    /// An offset into the bound buffer object.
    Offset(u64),
    /// Pieces to copy one after the other, each padded to 4 bytes.
    Parts(*const (*const u8, usize), usize),
}

impl Data {
    pub fn extra_bytes(&self) -> usize {
        match *self {
            Data::Null => 0,
            Data::Bytes(_, n) => n.next_multiple_of(4),
            // SAFETY: whoever made it lends the list until the command is written.
            Data::Parts(list, n) => unsafe { parts(list, n) }.iter().map(|p| p.1.next_multiple_of(4)).sum(),
            Data::Offset(_) => 8,
        }
    }
}

unsafe fn parts<'a>(list: *const (*const u8, usize), n: usize) -> &'a [(*const u8, usize)] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(list, n) }
}

/// A record being written.
pub struct Record {
    at: *mut u8,
    long: Option<(u16, Vec<u8>)>,
}

impl Record {
    /// # Safety
    /// The record was started with room for all that is put into it.
    #[inline]
    pub unsafe fn put<T: Copy>(&mut self, value: T) {
        match &mut self.long {
            None => {
                // SAFETY: the caller's promise.
                unsafe { put(self.at, 0, value) };
                self.at = self.at.wrapping_add(size_of::<T>());
            }
            Some((_, bytes)) => {
                // SAFETY: the value's own bytes.
                bytes.extend(unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) });
            }
        }
    }

    /// # Safety
    /// As `put`; `ptr` is null or holds `bytes` bytes.
    #[inline]
    pub unsafe fn array(&mut self, ptr: *const u8, bytes: usize) {
        // SAFETY: the caller's promises, passed on.
        unsafe {
            if ptr.is_null() {
                return self.put(NULL);
            }
            self.put(bytes as u32);
            self.copy(ptr, bytes);
        }
    }

    /// # Safety
    /// As `array`.
    #[inline]
    pub unsafe fn data(&mut self, data: Data) {
        // SAFETY: the caller's promises, passed on.
        unsafe {
            match data {
                Data::Null => self.put(NULL),
                Data::Bytes(ptr, bytes) => self.array(ptr, bytes),
                Data::Offset(offset) => {
                    self.put(OFFSET);
                    self.put(offset);
                }
                Data::Parts(list, n) => {
                    self.put(data.extra_bytes() as u32);
                    for &(ptr, bytes) in parts(list, n) {
                        self.copy(ptr, bytes);
                    }
                }
            }
        }
    }

    unsafe fn copy(&mut self, ptr: *const u8, bytes: usize) {
        let padded = bytes.next_multiple_of(4);
        match &mut self.long {
            None => {
                // SAFETY: the record has room for the padded bytes and the source holds `bytes`.
                unsafe { std::ptr::copy_nonoverlapping(ptr, self.at, bytes) };
                self.at = self.at.wrapping_add(padded);
            }
            Some((_, vec)) => {
                // SAFETY: the source holds `bytes`.
                vec.extend_from_slice(unsafe { std::slice::from_raw_parts(ptr, bytes) });
                vec.resize(vec.len() + padded - bytes, 0);
            }
        }
    }

    /// # Safety
    /// `encoder` is the one that the record was started on.
    #[inline]
    pub unsafe fn finish(self, encoder: &mut Encoder) {
        if let Some((op, body)) = self.long {
            // SAFETY: the same encoder.
            unsafe { send_long(encoder, op, &body) };
        }
    }
}

/// Sends a command whose body is longer than a record.
#[cold]
unsafe fn send_long(encoder: &mut Encoder, op: u16, body: &[u8]) {
    // SAFETY: each record is given the room that it is filled to.
    unsafe {
        let at = encoder.room(16);
        put(at, 0, u32::from(stream::LONG) | 4 << 16);
        put(at, 4, u32::from(op));
        put(at, 8, body.len() as u64);
        for part in body.chunks(RECORD_MAX / 2) {
            let mut r = encoder.record(stream::LONG_DATA, 8 + part.len().next_multiple_of(4));
            r.array(part.as_ptr(), part.len());
            r.finish(encoder);
        }
    }
}
