//! Encodes records. The fast path of a command is a comparison and a few stores.

use crate::{stream, RECORD_MAX};
use mgn_sys::copy::copy;

/// The length that marks a null array.
pub(crate) const NULL: u32 = 0xffff_ffff;
pub(crate) const OFFSET: u32 = 0xffff_fffe;

/// Writes records to its room, which is the memory from `cur` to `end`. It starts without room;
/// `refill` provides some.
///
/// The memory between `cur` and `end` is writable and belongs to the encoder, or `end` is null.
/// Every function that could break this is unsafe, so commands without arrays are written by safe
/// functions.
#[repr(C)]
pub struct Encoder {
    /// The place of the next record.
    cur: *mut u8,
    /// The end of the room. If it is null, every command goes to `refill`, even if there is room.
    end: *mut u8,
    /// The op number of the last command that may have raised an error; 0 if all commands are known
    /// to have succeeded.
    pub doubt: u16,
    /// Counts commands that may change whether other commands succeed.
    pub changes: u32,
    /// Set if the program must learn of an error before the command that raises it returns.
    pub watched: bool,
    /// Set by commands that use or set scissor boxes.
    pub scissors: bool,
    /// See [`Encoder::new`].
    refill: unsafe fn(*mut Encoder, n: usize) -> *mut u8,
}

impl Encoder {
    /// An encoder without room. It calls `refill` with itself when `n` bytes, at most
    /// [`RECORD_MAX`], do not fit its room.
    ///
    /// # Safety
    /// `refill` returns `n` bytes of writable memory that nothing else uses until the next record
    /// is begun. If it takes the encoder for a part of something larger, the encoder is never moved
    /// out of that.
    pub const unsafe fn new(refill: unsafe fn(*mut Encoder, usize) -> *mut u8) -> Encoder {
        Encoder {
            cur: std::ptr::null_mut(),
            end: std::ptr::null_mut(),
            doubt: 0,
            changes: 0,
            watched: false,
            scissors: false,
            refill,
        }
    }

    /// Sets the room to the memory from `cur` to `end`.
    ///
    /// # Safety
    /// That memory is writable, and nothing else uses it until the encoder has another room; or
    /// `end` is null.
    #[inline(always)]
    pub unsafe fn set_room(&mut self, cur: *mut u8, end: *mut u8) {
        self.cur = cur;
        self.end = end;
    }

    /// The place of the next record; null without room.
    #[inline(always)]
    pub fn cursor(&self) -> *mut u8 {
        self.cur
    }

    /// Continues at another place in its room.
    ///
    /// # Safety
    /// `cur` lies in the room that was set last or at its end, even if the room is on hold.
    #[inline(always)]
    pub unsafe fn set_cursor(&mut self, cur: *mut u8) {
        self.cur = cur;
    }

    /// The end of the room; null if the room is on hold or there is none.
    #[inline(always)]
    pub fn room_end(&self) -> *mut u8 {
        self.end
    }

    /// Puts the room on hold: every command goes to `refill`. Returns the end of the room.
    #[inline(always)]
    pub fn hold(&mut self) -> *mut u8 {
        std::mem::replace(&mut self.end, std::ptr::null_mut())
    }

    /// Ends the hold, or moves the end of the room.
    ///
    /// # Safety
    /// As for `set_room` from the cursor to `end`.
    #[inline(always)]
    pub unsafe fn release(&mut self, end: *mut u8) {
        self.end = end;
    }

    /// Makes sure that a next record of up to `n` bytes, a multiple of 4, fits the room. Returns
    /// false if there is no room then: the hook decides.
    pub fn ensure(&mut self, n: usize) -> bool {
        self.cur = self.room(n);
        !self.end.is_null()
    }

    /// Room for a record of `n` bytes, a multiple of 4 and at most [`RECORD_MAX`].
    #[inline(always)]
    pub fn room(&mut self, n: usize) -> *mut u8 {
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
    #[inline]
    pub fn record(&mut self, op: u16, bytes: usize) -> Record {
        if bytes > RECORD_MAX {
            return self.long_record(op, bytes - 4);
        }
        let at = self.room(bytes);
        // SAFETY: `room` gave `bytes` bytes, and a header takes four.
        unsafe { put(at, 0, u32::from(op) | ((bytes / 4) as u32) << 16) };
        Record {
            at: at.wrapping_add(4),
            long: None,
        }
    }

    /// Starts a command whose body of `bytes` bytes is longer than a record.
    #[cold]
    fn long_record(&mut self, op: u16, bytes: usize) -> Record {
        // SAFETY: a record of 16 bytes, filled to its end.
        unsafe {
            let at = self.room(16);
            put(at, 0, u32::from(stream::LONG) | 4 << 16);
            put(at, 4, u32::from(op));
            put(at, 8, bytes as u64);
        }
        Record {
            at: std::ptr::null_mut(),
            long: Some(Long {
                encoder: self,
                left: bytes,
                part: 0,
            }),
        }
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

/// The padded size of an array, without its length word.
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

/// An argument of type `data`, as the client passes it.
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
            // SAFETY: the code that made it lends the list until the command is written.
            Data::Parts(list, n) => unsafe { parts(list, n) }
                .iter()
                .map(|p| p.1.next_multiple_of(4))
                .sum(),
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
    long: Option<Long>,
}

/// The rest of a command that is written as `LONG_DATA` records.
struct Long {
    /// The encoder of the record. No other code uses it until the record is finished.
    encoder: *mut Encoder,
    /// Bytes of the body that are still missing.
    left: usize,
    /// The number of those bytes that fit the open record.
    part: usize,
}

/// The bytes of the body in one record. Two such records fit a message.
const PART: usize = RECORD_MAX / 2 / 64 * 64 - 64;

impl Record {
    /// # Safety
    /// The record was started with room for all that is put into it.
    #[inline]
    pub unsafe fn put<T: Copy>(&mut self, value: T) {
        if self.long.is_some() {
            // SAFETY: the value's own bytes, and the caller's promise.
            return unsafe { self.write_long((&raw const value).cast(), size_of::<T>()) };
        }
        // SAFETY: the caller's promise.
        unsafe { put(self.at, 0, value) };
        self.at = self.at.wrapping_add(size_of::<T>());
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
        if self.long.is_some() {
            // SAFETY: the source holds `bytes`; padding is at most three bytes.
            return unsafe {
                self.write_long(ptr, bytes);
                self.write_long([0; 4].as_ptr(), padded - bytes);
            };
        }
        // SAFETY: the record has room for the padded bytes and the source holds `bytes`.
        unsafe {
            if padded > bytes {
                put(self.at, padded - 4, 0u32);
            }
            copy(ptr, self.at, bytes);
        }
        self.at = self.at.wrapping_add(padded);
    }

    /// Writes to the open `LONG_DATA` record, and starts further records as it fills up.
    ///
    /// # Safety
    /// `from` holds `bytes` bytes, and at least that many bytes of the body are missing.
    #[cold]
    unsafe fn write_long(&mut self, mut from: *const u8, mut bytes: usize) {
        let Some(long) = &mut self.long else { return };
        while bytes > 0 {
            if long.part == 0 {
                long.part = long.left.min(PART);
                // SAFETY: the encoder lives until the record is finished. The body's length is a
                // multiple of 4, as `PART` is.
                unsafe {
                    let record = 8 + long.part;
                    let at = (*long.encoder).room(record);
                    put(
                        at,
                        0,
                        u32::from(stream::LONG_DATA) | ((record / 4) as u32) << 16,
                    );
                    put(at, 4, long.part as u32);
                    self.at = at.wrapping_add(8);
                }
            }
            let now = bytes.min(long.part);
            // SAFETY: the open record has room for them, and the source holds them.
            unsafe { copy(from, self.at, now) };
            self.at = self.at.wrapping_add(now);
            from = from.wrapping_add(now);
            bytes -= now;
            long.part -= now;
            long.left -= now;
        }
    }

    /// # Safety
    /// Everything that the record was started for has been put into it.
    #[inline]
    pub unsafe fn finish(self, _: &mut Encoder) {
        debug_assert!(self.long.is_none_or(|long| long.left == 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Commands, Decoder, Fault, Reply, Slice, MESSAGE_HEADER, MESSAGE_MAX};

    /// An encoder that keeps its messages.
    #[repr(C)]
    struct Kept {
        enc: Encoder,
        room: Vec<u8>,
        messages: Vec<Vec<u8>>,
    }

    impl Kept {
        fn begin(&mut self) {
            self.room = vec![0; MESSAGE_MAX];
            self.room[0] = 1;
            let room = self.room.as_mut_ptr_range();
            // SAFETY: the vector is not used before the message ends.
            unsafe { self.enc.set_room(room.start.add(MESSAGE_HEADER), room.end) };
        }

        fn end(&mut self) {
            let used = self.enc.cur as usize - self.room.as_ptr() as usize;
            self.room.truncate(used);
            self.messages.push(std::mem::take(&mut self.room));
        }
    }

    unsafe fn next_message(encoder: *mut Encoder, n: usize) -> *mut u8 {
        // SAFETY: only encoders within a `Kept` have this hook.
        let kept = unsafe { &mut *encoder.cast::<Kept>() };
        kept.end();
        kept.begin();
        kept.enc.room(n)
    }

    #[derive(Default)]
    struct Seen {
        sizes: Vec<usize>,
        sums: Vec<u64>,
        swaps: usize,
    }

    impl Commands for Seen {
        fn next(&mut self) -> &mut dyn Commands {
            unreachable!("both commands are taken here")
        }

        fn message(&mut self, _: u32) -> Result<(), Fault> {
            Ok(())
        }

        fn gl_shader_source(&mut self, _: u32, source: Slice<'_, u8>) -> Result<(), Fault> {
            self.sizes.push(source.len());
            self.sums
                .push(source.to_vec().iter().map(|b| u64::from(*b)).sum());
            Ok(())
        }

        fn mgn_swap_buffers(&mut self, _: u32, _: u32, _: u32) -> Result<(), Fault> {
            self.swaps += 1;
            Ok(())
        }
    }

    #[test]
    fn long_commands_arrive_whole() {
        let sizes = [
            10,
            RECORD_MAX - 12,
            RECORD_MAX - 11,
            RECORD_MAX,
            2 * PART,
            2 * PART - 8,
            2 * PART + 1,
            3_000_001,
        ];
        let bytes: Vec<u8> = (0..3_000_001u32).map(|i| (i * 7) as u8).collect();
        let mut kept = Box::new(Kept {
            // SAFETY: it stays in its box.
            enc: unsafe { Encoder::new(next_message) },
            room: Vec::new(),
            messages: Vec::new(),
        });
        kept.begin();
        for size in sizes {
            // SAFETY: the encoder has room, and the vector is as long.
            unsafe {
                kept.enc.gl_shader_source(1, (bytes.as_ptr(), size));
                kept.enc.mgn_swap_buffers(1, 2, 3);
            }
        }
        kept.end();
        let (mut decoder, mut seen, mut reply) =
            (Decoder::default(), Seen::default(), Reply::default());
        for message in &kept.messages {
            let mut aligned = vec![0u32; message.len() / 4];
            // SAFETY: both hold the message, which is a multiple of 4 bytes long.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    message.as_ptr(),
                    aligned.as_mut_ptr().cast(),
                    message.len(),
                );
                let done = decoder.message(
                    aligned.as_ptr().cast(),
                    message.len(),
                    &mut seen,
                    &mut reply,
                    |_, _, _, _| Ok(()),
                );
                assert_eq!(done, Ok(()));
            }
        }
        assert_eq!(seen.sizes, sizes);
        assert_eq!(seen.swaps, sizes.len());
        for (size, sum) in sizes.iter().zip(seen.sums) {
            assert_eq!(
                sum,
                bytes[..*size].iter().map(|b| u64::from(*b)).sum::<u64>()
            );
        }
        // Two parts share a message.
        assert!(kept.messages.len() < 4 * sizes.len());
    }
}
