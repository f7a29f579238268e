//! Decodes messages. Each word is read once, into a private copy, and the copy is checked.

use crate::encoder::{NULL, OFFSET};
use crate::ending::{Blame, End, NoSnapshot};
use crate::generated::decode::record;
use crate::{ops, sift, stream, Commands, Data, Plain, Reply, Slice, LONG_MAX, MESSAGE_HEADER};
use std::collections::HashMap;
use std::marker::PhantomData;

/// Why a session ends. The client is at fault, unless a variant says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("a message of {0} bytes is too short or not a multiple of 4")]
    BadMessage(usize),
    #[error("opcode {0} does not exist")]
    UnknownOpcode(u16),
    #[error("a record is longer than its message, or shorter than its arguments")]
    BadLength,
    #[error("an array is shorter than the command reads")]
    ShortArray,
    #[error("a string contains NUL or is not text")]
    BadString,
    #[error("a count of {0} is beyond every limit")]
    HugeCount(u64),
    #[error("a long command was continued without a beginning, or is longer than announced")]
    BadLong,
    #[error("a command that needs a context came without one")]
    NoContext,
    #[error("{0}")]
    Refused(String),
    /// The driver failed at an operation that must succeed whatever the client sends.
    #[error("{0}")]
    Driver(String),
    /// This end has failed.
    #[error("{0}")]
    Server(String),
    /// The connection to the client broke.
    #[error("{0}")]
    Network(String),
    /// The client has left, which is no fault.
    #[error("the client has gone")]
    Gone,
    /// The server was told to end, which is no fault either.
    #[error("the server is shutting down")]
    Over,
    /// Another program that shares the window has died, or all of its programs wait.
    #[error("{0}")]
    Peers(String),
    /// The renderer gives no snapshot. The session goes on.
    #[error(transparent)]
    NoSnapshot(#[from] NoSnapshot),
}

impl Fault {
    /// The client is to blame.
    pub fn refused(why: impl Into<String>) -> Fault {
        Fault::Refused(why.into())
    }

    /// The driver is to blame.
    pub fn driver(why: impl Into<String>) -> Fault {
        Fault::Driver(why.into())
    }

    /// The server is to blame.
    pub fn server(why: impl Into<String>) -> Fault {
        Fault::Server(why.into())
    }

    /// The programs that share a window are to blame together.
    pub fn peers(why: impl Into<String>) -> Fault {
        Fault::Peers(why.into())
    }

    pub fn blame(&self) -> Blame {
        match self {
            Fault::BadMessage(_)
            | Fault::UnknownOpcode(_)
            | Fault::BadLength
            | Fault::ShortArray
            | Fault::BadString
            | Fault::HugeCount(_)
            | Fault::BadLong
            | Fault::NoContext
            | Fault::Refused(_) => Blame::Client,
            Fault::Driver(_) => Blame::Driver,
            Fault::Server(_) | Fault::NoSnapshot(_) => Blame::Server,
            Fault::Network(_) => Blame::Network,
            Fault::Peers(_) => Blame::Peers,
            Fault::Gone | Fault::Over => Blame::Nobody,
        }
    }
}

impl From<&Fault> for End {
    fn from(fault: &Fault) -> End {
        End::new(fault.blame(), fault.to_string())
    }
}

/// A command under assembly from `LONG` records.
struct Long {
    op: u16,
    total: usize,
    bytes: Vec<u8>,
}

/// Performs a command that was kept as its op and its body.
///
/// # Errors
/// As when it came in a message.
pub fn again<C: Commands + ?Sized>(op: u16, body: &[u8], to: &mut C) -> Result<(), Fault> {
    // SAFETY: the slice is as long as it says, and is there until the command is done.
    let mut body = unsafe { Body::new(body.as_ptr(), body.len()) };
    record(op, &mut body, to, &mut Reply::default())
}

/// Splits messages into records and performs them. Keeps incomplete long commands, by context.
#[derive(Default)]
pub struct Decoder {
    long: HashMap<u32, Long>,
    /// Contexts that have sent glNewList and no glEndList since. The driver may have refused the
    /// list.
    in_lists: Vec<u32>,
    /// The tile that is drawn, if it is one of several.
    tile: Option<u32>,
}

impl Decoder {
    /// For the renderer of a tile: it skips draws that are only for other tiles ([`crate::sift`]).
    pub fn of_tile(tile: Option<u32>) -> Decoder {
        let (long, in_lists) = Default::default();
        Decoder {
            long,
            in_lists,
            tile,
        }
    }

    /// Performs every record of a message; `answer(context, op, reply)` is called for each that has
    /// an answer.
    ///
    /// # Safety
    /// `len` bytes can be read at `ptr`, which is aligned to 4. They may change at any time.
    pub unsafe fn message<C: Commands + ?Sized>(
        &mut self,
        ptr: *const u8,
        len: usize,
        to: &mut C,
        reply: &mut Reply,
        mut answer: impl FnMut(&mut C, u32, u16, &Reply) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if len < MESSAGE_HEADER || len % 4 != 0 {
            return Err(Fault::BadMessage(len));
        }
        // SAFETY: the caller's promise.
        let mut body = unsafe { Body::new(ptr, len) };
        let context = body.u32()?;
        body.u32()?;
        to.message(context)?;
        while body.left() > 0 {
            let (op, mut one) = body.record()?;
            reply.clear();
            let op = match op {
                stream::LONG => {
                    self.begin_long(context, &mut one)?;
                    continue;
                }
                stream::LONG_DATA => match self.go_on(context, &mut one)? {
                    None => continue,
                    Some(long) => {
                        // SAFETY: the vector holds the body, which no other code can change.
                        let mut whole = unsafe { Body::new(long.bytes.as_ptr(), long.bytes.len()) };
                        self.announce(context, long.op, &whole, to);
                        record(long.op, &mut whole, to, reply)?;
                        long.op
                    }
                },
                ops::MGN_ONLY if self.tile.is_some() => {
                    let tiles = one.u64()?;
                    one.end()?;
                    let is_needed = self.tile.is_none_or(|tile| sift::is_for(tiles, tile));
                    let mut rest = body.clone();
                    if !is_needed && rest.left() > 0 && sift::is_marked(rest.record()?.0) {
                        body = rest;
                    }
                    continue;
                }
                op => {
                    self.announce(context, op, &one, to);
                    record(op, &mut one, to, reply)?;
                    op
                }
            };
            if reply.is_asked() {
                answer(to, context, op, reply)?;
            }
        }
        Ok(())
    }

    /// Tells `to` of the records of display lists.
    #[inline]
    fn announce<C: Commands + ?Sized>(
        &mut self,
        context: u32,
        op: u16,
        body: &Body<'_>,
        to: &mut C,
    ) {
        if op == ops::GL_NEW_LIST && !self.in_lists.contains(&context) {
            self.in_lists.push(context);
        } else if !self.in_lists.is_empty() && self.in_lists.contains(&context) {
            // SAFETY: the body lies there while the record is executed.
            to.compiled(op, unsafe { Slice::new(body.at, body.left) });
            if op == ops::GL_END_LIST {
                self.in_lists.retain(|other| *other != context);
            }
        }
    }

    fn begin_long(&mut self, context: u32, body: &mut Body<'_>) -> Result<(), Fault> {
        let op = u16::try_from(body.u32()?).map_err(|_| Fault::BadLong)?;
        let total = body.u64()?;
        body.end()?;
        if total > LONG_MAX as u64 || total % 4 != 0 {
            return Err(Fault::HugeCount(total));
        }
        // Few contexts have a long command open at a time. A client that opens too many is refused.
        if self.long.len() > 256
            || self
                .long
                .insert(
                    context,
                    Long {
                        op,
                        total: total as usize,
                        bytes: Vec::new(),
                    },
                )
                .is_some()
        {
            return Err(Fault::BadLong);
        }
        Ok(())
    }

    fn go_on(&mut self, context: u32, body: &mut Body<'_>) -> Result<Option<Long>, Fault> {
        let part = body.array::<u8>()?;
        body.end()?;
        let long = self.long.get_mut(&context).ok_or(Fault::BadLong)?;
        if long.bytes.len() + part.len() > long.total || part.is_empty() {
            return Err(Fault::BadLong);
        }
        part.append_to(&mut long.bytes);
        if long.bytes.len() == long.total {
            return Ok(self.long.remove(&context));
        }
        Ok(None)
    }
}

/// The unread part of a record.
#[derive(Clone)]
pub struct Body<'a> {
    at: *const u8,
    left: usize,
    message: PhantomData<&'a u8>,
}

impl<'a> Body<'a> {
    /// # Safety
    /// `len` bytes can be read at `ptr`, which is aligned to 4, for as long as `'a`. They may
    /// change at any time.
    pub unsafe fn new(ptr: *const u8, len: usize) -> Body<'a> {
        Body {
            at: ptr,
            left: len,
            message: PhantomData,
        }
    }

    pub fn left(&self) -> usize {
        self.left
    }

    /// The next record of a message: its op and its body.
    fn record(&mut self) -> Result<(u16, Body<'a>), Fault> {
        let header = self.u32()?;
        let words = (header >> 16) as usize;
        let body = self.take(words.checked_sub(1).ok_or(Fault::BadLength)? * 4)?;
        Ok((header as u16, body))
    }

    fn take(&mut self, bytes: usize) -> Result<Body<'a>, Fault> {
        let at = self.skip(bytes)?;
        Ok(Body {
            at,
            left: bytes,
            message: PhantomData,
        })
    }

    /// Skips `bytes` bytes and returns their address.
    fn skip(&mut self, bytes: usize) -> Result<*const u8, Fault> {
        if bytes > self.left {
            return Err(Fault::BadLength);
        }
        let at = self.at;
        self.at = at.wrapping_add(bytes);
        self.left -= bytes;
        Ok(at)
    }

    #[inline(always)]
    pub fn u32(&mut self) -> Result<u32, Fault> {
        let at = self.skip(4)?;
        // SAFETY: four bytes lie there, aligned; volatile because they may change, and what was
        // checked must be what is used.
        Ok(unsafe { at.cast::<u32>().read_volatile() })
    }

    pub fn i32(&mut self) -> Result<i32, Fault> {
        Ok(self.u32()? as i32)
    }

    pub fn f32(&mut self) -> Result<f32, Fault> {
        Ok(f32::from_bits(self.u32()?))
    }

    pub fn u64(&mut self) -> Result<u64, Fault> {
        Ok(u64::from(self.u32()?) | u64::from(self.u32()?) << 32)
    }

    pub fn i64(&mut self) -> Result<i64, Fault> {
        Ok(self.u64()? as i64)
    }

    pub fn f64(&mut self) -> Result<f64, Fault> {
        Ok(f64::from_bits(self.u64()?))
    }

    /// How many elements the client wants back.
    pub fn count(&mut self) -> Result<u32, Fault> {
        let count = self.u32()?;
        if count as usize > LONG_MAX / 8 {
            return Err(Fault::HugeCount(count.into()));
        }
        Ok(count)
    }

    pub fn array<T: Plain>(&mut self) -> Result<Slice<'a, T>, Fault> {
        match self.u32()? {
            NULL => Ok(Slice::null()),
            bytes => self.elements(bytes as usize),
        }
    }

    pub fn data(&mut self) -> Result<Data<'a>, Fault> {
        match self.u32()? {
            NULL => Ok(Data::Null),
            OFFSET => Ok(Data::Offset(self.u64()?)),
            bytes => Ok(Data::Inline(self.elements(bytes as usize)?)),
        }
    }

    fn elements<T: Plain>(&mut self, bytes: usize) -> Result<Slice<'a, T>, Fault> {
        if bytes > LONG_MAX || bytes % size_of::<T>() != 0 {
            return Err(Fault::BadLength);
        }
        let at = self.skip(bytes.next_multiple_of(4))?;
        // SAFETY: the bytes lie in the message, which lives as long as 'a.
        Ok(unsafe { Slice::new(at.cast(), bytes / size_of::<T>()) })
    }

    /// Fails if the record is longer than its arguments.
    pub fn end(&self) -> Result<(), Fault> {
        if self.left == 0 {
            Ok(())
        } else {
            Err(Fault::BadLength)
        }
    }
}
