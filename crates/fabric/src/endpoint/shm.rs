//! A link through shared memory.
//!
//! Heads and payloads of up to [`INLINE`] bytes travel in the slots of a lane, and longer payloads
//! in its chunks. The first chunks take eager messages, packed one behind the other. The other
//! chunks take parts of offered messages, so that unexpected messages cannot block these parts.
//! Behind the chunks is memory for reserved messages. The reader returns slots, chunks and
//! envelopes through its own counters, which data cannot delay.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use mgn_sys::peer::Credentials;

use super::carrier::{Body, Carrier, Placer, Sent};
use super::direct::{self, Direct};
use super::head::{Head, Kind};
use super::memory::{self, Memory, Payload, Words};
use super::terms::Limits;
use crate::block::{Block, ALIGN};
use crate::config::Sizes;
use crate::message::Message;
use crate::peer::Peer;
use crate::shm::{
    more_slots, Arena, Descriptor, Extent, Lane, Pool, Reuse, Sleep, Span, INLINE, IN_SLOT,
    LINK_SLOTS, SHORT,
};
use crate::Error;

/// The share of chunks for eager messages: one of this number, but at least two chunks.
const EAGER_SHARE: u32 = 8;

/// The preferred number of bytes of parts in progress. These parts, the resting chunks and the
/// copied data together fit in the caches of both ends.
const PARTS_IN_CACHE: usize = 192 << 10;

/// The longest message whose parts go through all chunks in turn. Longer messages use few chunks,
/// because the memory of the sending and receiving programs needs the whole last-level cache.
/// Shorter messages are faster with all chunks. Both were measured with 32 MiB of cache
/// (docs/benchmarks.md).
const ALL_CHUNKS_MAX: usize = 4 << 20;

/// Polls of the reader before it counts as slow: a few microseconds, enough to copy a part.
const SLOW_READER_POLLS: u32 = 300;

/// The number of slots that are read before they are returned to the writer.
const CREDIT_BATCH: u64 = 16;

pub(crate) struct ShmLink {
    pub(crate) peer: Arc<Peer>,
    out: Arc<Lane>,
    back: Arc<Lane>,
    chunk: u32,
    /// The longest message that is sent eagerly.
    eager_max: usize,
    /// The longest message that `send_short` takes: it fits in slots, and the peer accepts it as
    /// eager. A message that fits in one slot is always sent eagerly, because an offer of it would
    /// take as much space.
    short_max: usize,
    /// The number of messages that may wait here, and at the peer.
    envelopes: u32,
    their_envelopes: u32,
    /// The peer reads messages of at least this length from our memory.
    fetched_from: usize,
    direct: Option<Box<Direct>>,
    /// The number of slots filled, and the number that the reader had read at the last check.
    put: u64,
    read: u64,
    eager: Pool,
    parts: Pool,
    /// Whether this process has at least as many peers on this host as there are processors.
    shares_processors: bool,
    /// Whether the reader returned no part in time at the last check, and the number of parts in
    /// progress at that time.
    is_reader_slow: bool,
    flown: usize,
    arena: Arc<Arena>,
    /// The first chunk of the peer's arena.
    arena_back: u32,
    /// The number of messages started, and the number that had left the peer's queue at the last
    /// check. The difference is the number of envelopes in use.
    started: u32,
    left: u32,
    /// The number of slots read, and the number returned to the writer.
    next: u64,
    told: u64,
    /// The number of the peer's messages that have left the queue.
    matched: u32,
    /// Set if slots or envelopes have been returned since the peer was last woken.
    is_untold: bool,
    /// The kind of sleep that we have announced to the peer, if any. It determines for which frames
    /// the peer rings.
    watched: Option<Sleep>,
}

impl ShmLink {
    pub(crate) fn new(
        peer: Arc<Peer>,
        sizes: &Sizes,
        limits: &Limits,
        credentials: Option<Credentials>,
        (out, back): (Arc<Lane>, Arc<Lane>),
    ) -> ShmLink {
        let arena = sizes.arena(out.chunks());
        let pooled = out.chunks() - arena;
        let eager = (pooled / EAGER_SHARE).max(2).min(pooled - 1);
        let eager_max = limits.eager.min(sizes.chunk as usize);
        ShmLink {
            chunk: sizes.chunk,
            eager_max,
            short_max: INLINE.min(eager_max.max(SHORT)),
            envelopes: limits.ours.envelopes,
            their_envelopes: limits.theirs.envelopes,
            fetched_from: limits.fetched_from(),
            direct: Direct::new(&peer, credentials, limits),
            put: 0,
            read: 0,
            eager: Pool::new(sizes.chunk, eager),
            parts: Pool::new(sizes.chunk, pooled - eager),
            shares_processors: false,
            is_reader_slow: false,
            flown: 0,
            arena: Arc::new(Arena::new(&out, arena)),
            arena_back: back.chunks() - sizes.arena(back.chunks()),
            started: 0,
            left: 0,
            next: 0,
            told: 0,
            matched: 0,
            is_untold: false,
            watched: None,
            peer,
            out,
            back,
        }
    }

    /// Sets whether this process has at least as many peers on this host as there are processors.
    pub(crate) fn share_processors(&mut self, shares_processors: bool) {
        self.shares_processors = shares_processors;
    }

    /// Whether a frame waits to be read.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.back.is_there(self.next)
    }

    /// Asks the peer to ring when it sends. If `sending` is set, also asks the peer to ring when it
    /// frees space. Returns true if a frame has arrived already. The caller must not sleep then.
    pub(crate) fn watch(&mut self, how: Sleep, sending: bool) -> bool {
        if self.watched != Some(how) {
            self.watched = Some(how);
            self.back.watch_reader(self.watched);
        }
        if sending {
            self.out.watch_writer();
        }
        self.is_ready()
    }

    /// Records that the peer has rung. The peer rings once for each request.
    pub(crate) fn rang(&mut self) {
        self.peer.drain_doorbell();
        self.watched = None;
    }

    /// Tells the peer that it need not ring, because we are polling.
    pub(crate) fn unwatch(&mut self) {
        if self.watched.take().is_some() {
            self.back.watch_reader(None);
        }
    }

    /// Tells the peer that we close the link.
    pub(crate) fn close(&self) {
        if self.peer.ours() {
            self.out.close_writer();
            self.back.close_reader();
            self.out.wake_reader();
        }
    }

    /// Returns unused memory to the system. Call it at intervals.
    pub(crate) fn tidy(&self) {
        self.arena.tidy();
    }

    fn extent<'a>(&self, memory: &'a Memory) -> Option<&'a Extent> {
        memory.written()?.extent_in(&self.arena)
    }

    /// Whether the slots that were free at the last check are enough for a frame with `len` bytes
    /// of payload in slots.
    #[inline]
    fn fits(&self, len: usize) -> bool {
        self.put + more_slots(len) - self.read < LINK_SLOTS
    }

    /// Whether enough slots are free now.
    #[inline]
    fn has_slots(&mut self, len: usize) -> Result<bool, Error> {
        if self.fits(len) {
            return Ok(true);
        }
        self.read = self.out.taken(self.put)?;
        Ok(self.fits(len))
    }

    #[inline]
    fn has_envelope(&mut self) -> bool {
        if self.started.wrapping_sub(self.left) < self.their_envelopes {
            return true;
        }
        self.left = self.out.matched();
        self.started.wrapping_sub(self.left) < self.their_envelopes
    }

    /// Whether to send a part now. While the reader keeps up, waits until few parts are in
    /// progress. Both ends then reuse few chunks, which stay in their caches. All chunks together
    /// do not fit there. Does not wait if the reader may need this processor to run. Returns false
    /// if a frame has arrived that should be read first.
    fn keeps_pace(&mut self) -> bool {
        if self.shares_processors {
            return true;
        }
        let first = self.eager.len() as u32;
        let near = PARTS_IN_CACHE / self.chunk as usize;
        let (parts, out) = (&mut self.parts, &self.out);
        let mut count = || parts.flying(|chunk, sent| out.released(first + chunk) == sent);
        let mut flying = count();
        // The reader was slow at the last check, and has returned nothing since.
        let is_slow = self.is_reader_slow && flying > self.flown;
        let wanted = near.max(flying.saturating_sub(2));
        let mut looks = 0;
        while flying > wanted && !is_slow && looks < SLOW_READER_POLLS {
            if self.back.is_there(self.next) {
                return false;
            }
            std::hint::spin_loop();
            looks += 1;
            let now = count();
            if now < flying {
                (flying, looks) = (now, 0);
            }
        }
        self.is_reader_slow = flying > wanted;
        self.flown = flying;
        true
    }

    /// Whether the reader has read all slots. The reader then holds all chunks that it has not
    /// returned.
    fn is_all_read(&mut self) -> Result<bool, Error> {
        self.read = self.out.taken(self.put)?;
        Ok(self.put == self.read)
    }

    /// Wakes the reader, because there is no space until it reads.
    #[cold]
    fn busy(&self) -> Sent {
        self.out.wake_reader();
        Sent::Busy
    }

    /// Moves on to the next frame, after a frame with `len` bytes of payload in slots.
    #[inline]
    fn step(&mut self, len: usize) {
        self.next += 1 + more_slots(len);
        if self.next - self.told >= CREDIT_BATCH {
            self.return_slots();
        }
        self.unwatch();
    }

    /// Returns the slots that have been read.
    #[inline]
    fn return_slots(&mut self) {
        self.told = self.next;
        self.back.publish_head_quietly(self.next);
        self.is_untold = true;
    }

    /// Copies a payload that spans several slots to private memory.
    fn inline_body(&self, short: &Words, len: usize) -> Result<Body, Error> {
        let block = Block::new(len)?;
        let start = block.range(0, len);
        // SAFETY: the block has `len` bytes, which are more than the words have.
        unsafe {
            short
                .as_ptr()
                .cast::<u8>()
                .copy_to_nonoverlapping(start, SHORT);
            self.back
                .look_at_more(self.next, start.add(SHORT), len - SHORT);
        }
        Ok(Body::Held(Message::of_block(block, len)))
    }

    /// Sends a frame with a payload of at most [`INLINE`] bytes. Enough slots must be free.
    ///
    /// # Safety
    /// `from` is valid for `len` bytes.
    #[inline]
    unsafe fn put_inline(&mut self, head: &Head, from: *const u8, len: usize) {
        let place = Descriptor {
            place: IN_SLOT,
            offset: 0,
            len: len as u32,
        };
        // SAFETY: the caller has promised this.
        let words = unsafe {
            if len > SHORT {
                self.out.put_more(self.put, from.add(SHORT), len - SHORT);
            }
            memory::words(from, len.min(SHORT))
        };
        self.put(place, head, words);
        self.put += more_slots(len);
    }

    #[inline]
    fn put(&mut self, place: Descriptor, head: &Head, short: Words) {
        let words = head.encode();
        self.out
            .put_frame(self.put, place, words, short, head.can_wait());
        self.put += 1;
    }
}

impl Carrier for ShmLink {
    #[inline]
    fn send(&mut self, head: &Head, payload: Payload<'_>) -> Result<Sent, Error> {
        let in_slots = if payload.len <= INLINE {
            payload.len
        } else {
            0
        };
        if !self.has_slots(in_slots)? {
            return Ok(match self.out.reader_closed() {
                true => return Err(self.peer.closed()),
                false => self.busy(),
            });
        }
        let starts = matches!(head.kind, Kind::Eager | Kind::Offer);
        if starts && !self.has_envelope() {
            return Ok(match self.is_all_read()? {
                true => Sent::NoCredit,
                false => self.busy(),
            });
        }
        if payload.len <= INLINE {
            let mut bytes = [const { MaybeUninit::<u8>::uninit() }; INLINE];
            // SAFETY: the memory has `payload.len` bytes from the offset on, and the array has room
            // for them.
            unsafe {
                let from = match payload.memory.contiguous() {
                    Some(start) => start.add(payload.offset),
                    None => {
                        let into = bytes.as_mut_ptr().cast();
                        payload.memory.gather(payload.offset, into, payload.len);
                        into
                    }
                };
                self.put_inline(head, from, payload.len);
            }
            self.started = self.started.wrapping_add(starts.into());
            return Ok(Sent::Done);
        }
        if !starts && !self.keeps_pace() {
            return Ok(Sent::Busy);
        }
        if let Some(extent) = self.extent(payload.memory).filter(|_| starts) {
            let place = Descriptor {
                place: extent.send(payload.len),
                offset: 0,
                len: payload.len as u32,
            };
            self.put(place, head, Words::default());
            self.started = self.started.wrapping_add(1);
            return Ok(Sent::Done);
        }
        let first = self.eager.len() as u32;
        let (pool, base) = match starts {
            true => (&mut self.eager, 0),
            false => (&mut self.parts, first),
        };
        let out = &self.out;
        let is_released = |chunk: u32, sent| out.released(base + chunk) == sent;
        let reuse = if self.shares_processors {
            Reuse::AtOnce
        } else if payload.memory.len() <= ALL_CHUNKS_MAX {
            Reuse::Oldest
        } else {
            Reuse::Latest
        };
        let taken = pool.take_by(reuse, payload.len as u32, is_released);
        let Some(Span { chunk, offset }) = taken else {
            return Ok(match starts && self.is_all_read()? {
                true => Sent::NoCredit,
                false => self.busy(),
            });
        };
        let start = (base + chunk) as usize * self.chunk as usize + offset as usize;
        let room = out.pool().map.range(start, payload.len);
        // SAFETY: the rest of the chunk has `payload.len` bytes, and this process does not use it
        // otherwise.
        unsafe { payload.memory.gather(payload.offset, room, payload.len) };
        pool.commit(chunk);
        let end = (offset + payload.len as u32).next_multiple_of(ALIGN as u32);
        let rest = Span {
            chunk,
            offset: end.min(self.chunk),
        };
        pool.give(rest, is_released);
        let place = Descriptor {
            place: base + chunk,
            offset,
            len: payload.len as u32,
        };
        self.put(place, head, Words::default());
        self.started = self.started.wrapping_add(starts.into());
        Ok(Sent::Done)
    }

    #[inline]
    fn send_short(&mut self, head: &Head, memory: &Memory) -> bool {
        let Memory::One(start, len) = *memory else {
            return false;
        };
        let has_room = len <= self.short_max && self.fits(len) && self.has_envelope();
        if has_room {
            // SAFETY: the memory is valid for `len` bytes, as its maker has promised.
            unsafe { self.put_inline(head, start, len) };
            self.started = self.started.wrapping_add(1);
        }
        has_room
    }

    fn answer(&mut self, head: &Head) -> Result<Sent, Error> {
        if !self.has_slots(0)? {
            return Ok(self.busy());
        }
        // SAFETY: a payload of 0 bytes is never read.
        unsafe { self.put_inline(head, NonNull::dangling().as_ptr(), 0) };
        Ok(Sent::Done)
    }

    #[inline]
    fn recv(&mut self, _placer: Placer<'_>) -> Result<Option<(Head, Body)>, Error> {
        let Some((found, head, short)) = self.back.look(self.next) else {
            if self.told != self.next {
                self.return_slots();
            }
            return Ok(None);
        };
        let head = Head::decode(head)?;
        if found.place == IN_SLOT {
            let len = found.len as usize;
            if len > INLINE {
                return Err(Error::PeerMisbehaved("a short frame is too long"));
            }
            let body = match len <= SHORT {
                true => Body::Short(short, len as u8),
                false => self.inline_body(&short, len)?,
            };
            self.step(len);
            return Ok(Some((head, body)));
        }
        self.step(0);
        let message = match found.place < self.arena_back {
            true => self.back.message(found, self.chunk as usize)?,
            false => self.back.long_message(found, self.arena_back)?,
        };
        Ok(Some((head, Body::Held(message))))
    }

    #[inline]
    fn recv_short<'a>(
        &mut self,
        wanted: impl FnOnce([u64; 2]) -> Option<&'a Memory>,
    ) -> Option<(u64, usize)> {
        let (place, head, words) = self.back.look(self.next)?;
        let len = place.len as usize;
        if place.place != IN_SLOT || len > INLINE {
            return None;
        }
        let memory = wanted(head)?;
        memory.put_short(&words, len.min(SHORT));
        if len > SHORT {
            let rest = len - SHORT;
            match memory {
                // SAFETY: the memory is valid for `room` bytes, as its maker has promised.
                Memory::One(start, room) if len <= *room => unsafe {
                    self.back.look_at_more(self.next, start.add(SHORT), rest);
                },
                _ => {
                    let mut bytes = [const { MaybeUninit::<u8>::uninit() }; INLINE];
                    let start = bytes.as_mut_ptr().cast();
                    // SAFETY: the array has room for `rest` bytes.
                    unsafe {
                        self.back.look_at_more(self.next, start, rest);
                        memory.scatter(SHORT, start, rest);
                    }
                }
            }
        }
        self.step(len);
        Some((head[1], len))
    }

    #[inline]
    fn matched(&mut self, _eager_bytes: usize) {
        self.matched = self.matched.wrapping_add(1);
        self.back.publish_matched(self.matched);
        self.is_untold = true;
    }

    fn envelopes(&self) -> u32 {
        self.envelopes
    }

    fn eager_max(&self) -> usize {
        self.eager_max
    }

    fn roomless_max(&self) -> usize {
        INLINE
    }

    fn part_max(&self) -> usize {
        self.chunk as usize
    }

    fn early_max(&self) -> usize {
        // Leave a quarter of the chunks for the parts of accepted messages.
        self.parts.len() * 3 / 4 * self.chunk as usize
    }

    fn early_room(&self, len: usize) -> usize {
        // Even a short part occupies its chunk until the receiver returns the part.
        len.next_multiple_of(self.chunk as usize)
    }

    #[inline]
    fn has_news(&self) -> bool {
        self.is_ready()
    }

    #[inline]
    fn may_have_come(&self) -> bool {
        self.is_ready()
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.told == self.next && !self.is_untold && !self.is_ready()
    }

    fn reserve(&mut self, len: usize) -> Option<Extent> {
        match len > INLINE {
            true => self.arena.take(len),
            // A message this short travels in slots.
            false => None,
        }
    }

    fn hands_over(&self, memory: &Memory) -> bool {
        self.extent(memory).is_some()
    }

    fn fetches_from(&self) -> usize {
        direct::from(&self.direct)
    }

    fn follows(&self) -> bool {
        direct::follows(&self.direct)
    }

    fn now(&self) -> Duration {
        // The clock starts with the first call.
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }

    fn fetched_from(&self) -> usize {
        self.fetched_from
    }

    unsafe fn fetch(&mut self, address: u64, into: NonNull<u8>, len: usize) -> bool {
        // SAFETY: the caller has promised this.
        unsafe { direct::fetch(&mut self.direct, address, into, len) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.told != self.next {
            self.return_slots();
        }
        if std::mem::take(&mut self.is_untold) {
            self.back.wake_writer();
        }
        Ok(())
    }
}
