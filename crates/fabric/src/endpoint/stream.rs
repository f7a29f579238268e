//! A link over two sockets. One carries data, and the other carries answers and credit, so that
//! data cannot delay these.
//!
//! ```text
//! data socket:    frame := head: 16 bytes  length: u64  payload
//! control socket: head: 16 bytes
//! ```
//!
//! The receiver reads all data that arrives. It always has space for the data, because the sender
//! sends eager messages only within the buffer space and envelopes that the receiver has granted,
//! and sends parts only of messages that the receiver has accepted.

use std::collections::VecDeque;
use std::io::{IoSlice, IoSliceMut};
use std::ptr::NonNull;
use std::sync::Arc;

use mgn_sys::peer::Credentials;
use rustix::io::Errno;

use super::carrier::{Body, Carrier, Placer, Sent};
use super::direct::{self, Direct};
use super::head::{Head, Kind, FOLLOWS, HEAD, PUT, REMOTE, SYNC};
use super::memory::{Memory, Payload};
use super::settings::PART_MAX;
use super::terms::{Limits, Terms};
use crate::block::Block;
use crate::peer::Peer;
use crate::shm::SHORT;
use crate::{Error, Message};

/// The length of the header of each payload.
const FRAME: usize = HEAD + 8;

/// The limits of the size of the read buffer: at most `BUFFER`, and at most 1/`BUFFER_OF_HELD` of
/// the bytes that may wait.
const BUFFER: usize = 64 << 10;
const BUFFER_OF_HELD: u64 = 8;

/// After a payload of this length, another long payload is likely. A long payload should be read
/// directly to its destination, so only its beginning (`AHEAD` bytes) is read into the buffer.
const LONG_PAYLOAD: usize = 16 << 10;
const AHEAD: usize = FRAME + SHORT;

/// Frames of up to this length are copied and written in one piece.
const SMALL: usize = 512;

/// The maximum number of bytes of answers that wait for space in the control socket.
const ANSWERS: usize = 64 << 10;

/// While no answer is expected, the control socket is polled once per this number of polls of the
/// data socket.
const CONTROL_CHECK_POLLS: u32 = 16;

/// Indices of [`StreamLink::ended`].
const DATA: usize = 0;
const CONTROL: usize = 1;

pub(crate) struct StreamLink {
    pub(crate) data: Arc<Peer>,
    pub(crate) control: Arc<Peer>,
    limits: Limits,
    direct: Option<Box<Direct>>,
    /// `start..end` holds bytes that have been read and not handled.
    buffer: Block,
    start: usize,
    end: usize,
    /// Set if the last received payload had at least [`LONG_PAYLOAD`] bytes.
    was_long: bool,
    /// Set if the last read did not fill the buffer. The socket is then empty.
    is_empty: bool,
    incoming: Option<Incoming>,
    /// A frame that has been written in part.
    outgoing: Option<Outgoing>,
    /// Heads that wait for space in the control socket.
    answers: Vec<u8>,
    /// Whether data and answers waited for space in their sockets at the last call of
    /// `full_changes`.
    full: [bool; 2],
    /// Received answers (`heard`), and the beginning of the next answer (`cut`).
    heard: VecDeque<Head>,
    cut: Vec<u8>,
    polls: u32,
    /// The number of answers that the peer still has to send.
    expected: usize,
    /// Set for each socket, data and control, that the peer has closed. The link ends only when
    /// both are closed, because the data socket may end before the last answer has arrived.
    ended: [bool; 2],
    /// Credit that we have used and the peer has not returned.
    used: Credit,
    /// Credit that the peer has used and we have not returned (`lent`), and the part of it that we
    /// may return (`due`).
    lent: Credit,
    due: Credit,
    /// The terms of both ends, with the buffer space that each end granted last.
    ours: Terms,
    theirs: Terms,
}

#[derive(Clone, Copy, Debug, Default)]
struct Credit {
    envelopes: u32,
    bytes: usize,
}

impl Credit {
    /// Whether a message of this length may be sent now to an end with these terms.
    fn allows(&self, bytes: usize, terms: &Terms) -> bool {
        self.envelopes < terms.envelopes && (self.bytes + bytes) as u64 <= terms.held
    }

    /// Whether at least half of the credit is used. The sender then soon needs more credit.
    fn is_short(&self, terms: &Terms) -> bool {
        self.envelopes >= terms.envelopes / 2 || self.bytes as u64 >= terms.held / 2
    }
}

/// A payload that is being received.
struct Incoming {
    head: Head,
    len: usize,
    got: usize,
    into: MemorySource,
}

enum MemorySource {
    Direct(NonNull<u8>),
    Block(Block),
}

// SAFETY: the place belongs to a receive in progress, whose memory belongs to no thread.
unsafe impl Send for MemorySource {}

struct Outgoing {
    head: Head,
    sent: usize,
    rest: Rest,
}

/// The rest of a frame that has been written in part.
enum Rest {
    /// The rest is still in the caller's memory. The caller sends the same frame again.
    Same,
    /// A copy of the unwritten bytes. The original memory may be used again.
    Copied(Vec<u8>),
    /// The whole frame. Its memory is kept until the frame is written.
    Kept { header: [u8; FRAME], memory: Memory },
}

impl StreamLink {
    pub(crate) fn new(
        data: Arc<Peer>,
        control: Arc<Peer>,
        limits: Limits,
        credentials: Option<Credentials>,
    ) -> Result<StreamLink, Error> {
        Ok(StreamLink {
            ours: limits.ours,
            theirs: limits.theirs,
            control,
            direct: Direct::new(&data, credentials, &limits),
            buffer: Block::new(buffer_size(&limits.ours))?,
            limits,
            data,
            start: 0,
            end: 0,
            was_long: false,
            is_empty: false,
            incoming: None,
            outgoing: None,
            answers: Vec::new(),
            full: [false; 2],
            heard: VecDeque::new(),
            cut: Vec::new(),
            polls: 0,
            expected: 0,
            ended: [false; 2],
            used: Credit::default(),
            lent: Credit::default(),
            due: Credit::default(),
        })
    }

    /// Whether received bytes have not been handled yet.
    pub(crate) fn is_ready(&self) -> bool {
        let has_unread = |peer: &Peer| peer.line().has_unread();
        !self.heard.is_empty()
            || self.end > self.start
            || has_unread(&self.data)
            || has_unread(&self.control)
    }

    /// The sockets that have begun or stopped waiting for space since the last call, and whether
    /// they wait now.
    pub(crate) fn full_changes(&mut self) -> impl Iterator<Item = (&Arc<Peer>, bool)> {
        let full = [self.outgoing.is_some(), !self.answers.is_empty()];
        let before = std::mem::replace(&mut self.full, full);
        let sockets = [&self.data, &self.control].into_iter().zip(full);
        let changes = sockets
            .zip(before)
            .filter(|((_, now), before)| now != before);
        changes.map(|(change, _)| change)
    }

    /// Continues to write a frame that was copied or kept. Returns false while a frame is not
    /// completely written.
    fn finish_rest(&mut self) -> Result<bool, Error> {
        let Some(outgoing) = &mut self.outgoing else {
            return Ok(true);
        };
        let whole = match &outgoing.rest {
            Rest::Same => return Ok(false),
            Rest::Copied(rest) => {
                while outgoing.sent < rest.len() {
                    match write(&self.data, &[IoSlice::new(&rest[outgoing.sent..])])? {
                        0 => break,
                        sent => outgoing.sent += sent,
                    }
                }
                rest.len()
            }
            Rest::Kept { header, memory } => {
                outgoing.sent = write_frame(&self.data, header, memory.payload(), outgoing.sent)?;
                FRAME + memory.len()
            }
        };
        if outgoing.sent < whole {
            return Ok(false);
        }
        self.outgoing = None;
        Ok(true)
    }

    /// Reads all heads from the control socket. Credit takes effect at once.
    fn listen(&mut self) -> Result<(), Error> {
        loop {
            let mut bytes = [0; 64 * HEAD];
            match read(&self.control, &mut [IoSliceMut::new(&mut bytes)])? {
                Read::Bytes(got) => self.cut.extend_from_slice(&bytes[..got]),
                Read::Nothing => return Ok(()),
                Read::End => {
                    self.ended[CONTROL] = true;
                    return Ok(());
                }
            }
            let whole = self.cut.len() - self.cut.len() % HEAD;
            for bytes in self.cut[..whole].chunks_exact(HEAD) {
                let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
                let head = Head::decode([word(0), word(8)])?;
                match head.kind {
                    Kind::Credit => credited(&mut self.used, &head)?,
                    Kind::Window => granted(&mut self.theirs, &self.limits.theirs, &head)?,
                    Kind::Accept | Kind::Withdrawn | Kind::Taken if self.expected > 0 => {
                        self.expected -= 1;
                        self.heard.push_back(head);
                    }
                    _ => {
                        return Err(Error::PeerMisbehaved(
                            "it answers a message that was not sent",
                        ))
                    }
                }
            }
            self.cut.drain(..whole);
        }
    }

    /// The next head in the buffer, and the length of its payload.
    fn parse(&self) -> Result<Option<(Head, usize)>, Error> {
        if self.end - self.start < FRAME {
            return Ok(None);
        }
        let mut bytes = [0; FRAME];
        self.buffer.read(self.start, &mut bytes);
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let head = Head::decode([word(0), word(8)])?;
        let max = match head.kind {
            Kind::Eager => self.limits.ours.eager as usize,
            Kind::Part => PART_MAX,
            Kind::Remote => REMOTE,
            Kind::Offer | Kind::Withdraw => SHORT,
            _ => {
                return Err(Error::PeerMisbehaved(
                    "it sends an answer on the data socket",
                ))
            }
        };
        let len = usize::try_from(word(16)).ok().filter(|len| *len <= max);
        let len = len.ok_or(Error::PeerMisbehaved("a frame is longer than was agreed"))?;
        Ok(Some((head, len)))
    }

    /// Counts the credit of a new message.
    fn count(&mut self, head: &Head, len: usize) -> Result<(), Error> {
        if matches!(head.kind, Kind::Eager | Kind::Offer) {
            self.lent.envelopes += 1;
            self.lent.bytes += held(head.kind, len);
            if self.lent.envelopes > self.limits.ours.envelopes
                || self.lent.bytes as u64 > self.limits.ours.held
            {
                return Err(Error::PeerMisbehaved("it sends without credit"));
            }
        }
        Ok(())
    }

    /// Takes a payload out of the buffer, or begins to read it to its destination.
    fn begin(
        &mut self,
        head: Head,
        len: usize,
        placer: Placer<'_>,
    ) -> Result<Option<(Head, Body)>, Error> {
        self.count(&head, len)?;
        self.start += FRAME;
        self.was_long = len >= LONG_PAYLOAD;
        let here = (self.end - self.start).min(len);
        if len <= SHORT && here == len {
            let mut short = [0; SHORT];
            self.buffer.read(self.start, &mut short[..len]);
            self.start += len;
            return Ok(Some((head, Body::short(&short[..len]))));
        }
        let into = match placer(&head, len) {
            Some(place) => MemorySource::Direct(place),
            None => MemorySource::Block(Block::new(len)?),
        };
        let start = self.buffer.range(self.start, here);
        // SAFETY: both have at least `here` bytes.
        unsafe { into.at(0).copy_from(start, here) };
        self.start += here;
        self.incoming = Some(Incoming {
            head,
            len,
            got: here,
            into,
        });
        self.go_on()
    }

    /// Continues to read the current payload. Returns the frame when it is complete.
    fn go_on(&mut self) -> Result<Option<(Head, Body)>, Error> {
        let ahead = self.ahead();
        let Some(incoming) = &mut self.incoming else {
            return Ok(None);
        };
        while incoming.got < incoming.len {
            let rest = incoming.len - incoming.got;
            // SAFETY: the place has `rest` bytes there, which are not otherwise used now.
            let place =
                unsafe { std::slice::from_raw_parts_mut(incoming.into.at(incoming.got), rest) };
            // Also read the bytes that follow, which usually begin with the next head.
            let after = self.buffer.bytes_mut(0, ahead);
            match read(
                &self.data,
                &mut [IoSliceMut::new(place), IoSliceMut::new(after)],
            )? {
                Read::Nothing => return Ok(None),
                Read::End => return self.at_end(),
                Read::Bytes(got) => {
                    self.is_empty = got < rest + ahead;
                    incoming.got += got.min(rest);
                    (self.start, self.end) = (0, got.saturating_sub(rest));
                }
            }
        }
        let Some(Incoming {
            head, len, into, ..
        }) = self.incoming.take()
        else {
            return Ok(None);
        };
        let body = match into {
            MemorySource::Direct(_) => Body::Placed(len),
            MemorySource::Block(block) if len <= SHORT => {
                let mut short = [0; SHORT];
                block.read(0, &mut short[..len]);
                Body::short(&short[..len])
            }
            MemorySource::Block(block) => Body::Held(Message::of_block(block, len)),
        };
        Ok(Some((head, body)))
    }

    /// Handles the end of the data socket. The link ends when the control socket has ended, too.
    fn at_end(&mut self) -> Result<Option<(Head, Body)>, Error> {
        self.ended[DATA] = true;
        match self.ended[CONTROL] {
            true => Err(self.data.closed()),
            false => Ok(None),
        }
    }

    /// The sockets that the peer has closed.
    pub(crate) fn ended(&self) -> impl Iterator<Item = &Arc<Peer>> {
        let sockets = [&self.data, &self.control].into_iter().zip(self.ended);
        sockets.filter_map(|(socket, has_ended)| has_ended.then_some(socket))
    }

    /// The number of bytes to read into the buffer.
    fn ahead(&self) -> usize {
        match self.was_long {
            true => AHEAD.min(self.buffer.size()),
            false => self.buffer.size(),
        }
    }

    /// Tells the peer the number of bytes of its messages that may wait here, limited to the agreed
    /// number.
    pub(crate) fn set_window(&mut self, bytes: u64) -> Result<(), Error> {
        let window = self.limits.ours.held.min(bytes);
        if std::mem::replace(&mut self.ours.held, window) != window {
            let told = Head::new(Kind::Window, 0, window);
            self.answers.extend(self::bytes(&told));
            self.write_answers()?;
        }
        Ok(())
    }

    fn return_credit(&mut self) -> Result<(), Error> {
        let (lent, due) = (&self.lent, &self.due);
        if due.envelopes == 0 {
            return Ok(());
        }
        let terms = &self.ours;
        // Return all credit at once to a sender that has little left.
        let is_short = lent.is_short(terms);
        if is_short || due.envelopes >= terms.envelopes / 4 || due.bytes as u64 >= terms.held / 4 {
            let head = Head::new(Kind::Credit, due.envelopes, due.bytes as u64);
            self.lent.envelopes -= self.due.envelopes;
            self.lent.bytes -= self.due.bytes;
            self.due = Credit::default();
            self.answers.extend(bytes(&head));
            self.write_answers()?;
        }
        Ok(())
    }

    fn write_answers(&mut self) -> Result<(), Error> {
        while !self.answers.is_empty() {
            match write(&self.control, &[IoSlice::new(&self.answers)])? {
                0 => break,
                sent => drop(self.answers.drain(..sent)),
            }
        }
        Ok(())
    }
}

impl MemorySource {
    fn at(&self, offset: usize) -> *mut u8 {
        match self {
            // SAFETY: the place has more than `offset` bytes.
            MemorySource::Direct(start) => unsafe { start.as_ptr().add(offset) },
            MemorySource::Block(block) => block.range(offset, 0),
        }
    }
}

/// Writes a frame from byte `from` on. Returns the number of bytes written so far.
fn write_frame(
    data: &Peer,
    header: &[u8; FRAME],
    payload: Payload<'_>,
    mut from: usize,
) -> Result<usize, Error> {
    let whole = FRAME + payload.len;
    if whole <= SMALL {
        let mut frame = [0; SMALL];
        frame[..FRAME].copy_from_slice(header);
        let into = frame[FRAME..].as_mut_ptr();
        // SAFETY: the array has `SMALL` bytes, and the sender has promised not to change the memory
        // meanwhile.
        unsafe { payload.memory.gather(payload.offset, into, payload.len) };
        return Ok(from + write(data, &[IoSlice::new(&frame[from..whole])])?);
    }
    while from < whole {
        let mut slices = [IoSlice::new(&[]); 16];
        let mut count = 0;
        if from < FRAME {
            slices[0] = IoSlice::new(&header[from..]);
            count = 1;
        }
        let skip = from.saturating_sub(FRAME);
        payload
            .memory
            .pieces(payload.offset + skip, payload.len - skip, |piece, len| {
                if count < slices.len() {
                    // SAFETY: the sender has promised not to change the memory meanwhile.
                    slices[count] = IoSlice::new(unsafe { std::slice::from_raw_parts(piece, len) });
                    count += 1;
                }
            });
        match write(data, &slices[..count])? {
            0 => break,
            sent => from += sent,
        }
    }
    Ok(from)
}

fn buffer_size(ours: &Terms) -> usize {
    (ours.held / BUFFER_OF_HELD).min(BUFFER as u64) as usize
}

fn credited(used: &mut Credit, head: &Head) -> Result<(), Error> {
    let bytes = usize::try_from(head.value).unwrap_or(usize::MAX);
    if head.id > used.envelopes || bytes > used.bytes {
        return Err(Error::PeerMisbehaved(
            "it returns more credit than was used",
        ));
    }
    used.envelopes -= head.id;
    used.bytes -= bytes;
    Ok(())
}

/// Sets the buffer space that the peer grants. The peer may grant less than was agreed, and later
/// more again.
fn granted(theirs: &mut Terms, agreed: &Terms, head: &Head) -> Result<(), Error> {
    if head.value > agreed.held {
        return Err(Error::PeerMisbehaved(
            "it grants more buffer space than was agreed",
        ));
    }
    theirs.held = head.value;
    Ok(())
}

/// The receiver's buffer space that a message takes, in bytes.
fn held(kind: Kind, len: usize) -> usize {
    match kind {
        Kind::Eager if len > SHORT => len,
        _ => 0,
    }
}

fn bytes(head: &Head) -> [u8; HEAD] {
    let [first, value] = head.encode();
    let mut bytes = [0; HEAD];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&value.to_le_bytes());
    bytes
}

impl Carrier for StreamLink {
    fn send(&mut self, head: &Head, payload: Payload<'_>) -> Result<Sent, Error> {
        let len = payload.len;
        let mut header = [0; FRAME];
        header[..HEAD].copy_from_slice(&bytes(head));
        header[HEAD..].copy_from_slice(&(len as u64).to_le_bytes());
        let mut from = 0;
        if !self.finish_rest()? {
            match &self.outgoing {
                Some(outgoing) if matches!(outgoing.rest, Rest::Same) && outgoing.head == *head => {
                    from = outgoing.sent
                }
                _ => return Ok(Sent::Busy),
            }
        } else if matches!(head.kind, Kind::Eager | Kind::Offer) {
            let bytes = held(head.kind, len);
            if !self.used.allows(bytes, &self.theirs) {
                self.listen()?;
                if !self.used.allows(bytes, &self.theirs) {
                    return Ok(Sent::NoCredit);
                }
            }
            self.used.envelopes += 1;
            self.used.bytes += bytes;
        }
        let sent = write_frame(&self.data, &header, payload, from)?;
        if sent < FRAME + len && head.kind == Kind::Part {
            // A part's memory stays unchanged until it is sent, so the caller sends the same frame
            // again, from `sent` on.
            self.outgoing = Some(Outgoing {
                head: *head,
                sent,
                rest: Rest::Same,
            });
            return Ok(Sent::Busy);
        }
        self.outgoing = None;
        if sent < FRAME + len && payload.memory.written().is_some() {
            self.outgoing = Some(Outgoing {
                head: *head,
                sent,
                rest: Rest::Kept {
                    header,
                    memory: payload.memory.clone(),
                },
            });
        } else if sent < FRAME + len {
            let mut rest = header[sent.min(FRAME)..].to_vec();
            let skip = sent.saturating_sub(FRAME);
            let start = rest.len();
            rest.resize(start + len - skip, 0);
            // SAFETY: the vector has just been resized to hold these bytes.
            unsafe {
                let into = rest.as_mut_ptr().add(start);
                payload
                    .memory
                    .gather(payload.offset + skip, into, len - skip)
            };
            self.outgoing = Some(Outgoing {
                head: *head,
                sent: 0,
                rest: Rest::Copied(rest),
            });
        }
        let is_sync = head.has(SYNC) && head.kind != Kind::Part;
        let is_offer = match head.kind {
            Kind::Remote => head.has(PUT) && !head.has(FOLLOWS),
            kind => kind == Kind::Offer,
        };
        self.expected += usize::from(is_sync) + usize::from(is_offer);
        Ok(Sent::Done)
    }

    fn answer(&mut self, head: &Head) -> Result<Sent, Error> {
        if self.answers.len() >= ANSWERS {
            self.write_answers()?;
            if self.answers.len() >= ANSWERS {
                return Ok(Sent::Busy);
            }
        }
        self.answers.extend(bytes(head));
        self.write_answers()?;
        Ok(Sent::Done)
    }

    fn recv(&mut self, placer: Placer<'_>) -> Result<Option<(Head, Body)>, Error> {
        self.polls = self.polls.wrapping_add(1);
        let is_short = self.used.is_short(&self.theirs);
        let is_time = self.expected > 0 || is_short || self.polls % CONTROL_CHECK_POLLS == 0;
        if (is_time || self.ended[DATA]) && !self.ended[CONTROL] {
            self.listen()?;
        }
        if let Some(head) = self.heard.pop_front() {
            return Ok(Some((head, Body::short(&[]))));
        }
        if self.incoming.is_some() {
            return self.go_on();
        }
        if let Some((head, len)) = self.parse()? {
            return self.begin(head, len, placer);
        }
        let have = self.end - self.start;
        if self.start > 0 {
            self.buffer.copy_to(self.start, &self.buffer, 0, have);
            (self.start, self.end) = (0, have);
        }
        let room = self.ahead() - have;
        let into = self.buffer.bytes_mut(have, room);
        match read(&self.data, &mut [IoSliceMut::new(into)])? {
            Read::Nothing => return Ok(None),
            Read::End => return self.at_end(),
            Read::Bytes(got) => {
                self.is_empty = got < room;
                self.end += got;
            }
        }
        match self.parse()? {
            Some((head, len)) => self.begin(head, len, placer),
            None => Ok(None),
        }
    }

    fn matched(&mut self, eager_bytes: usize) {
        self.due.envelopes += 1;
        self.due.bytes += held(Kind::Eager, eager_bytes);
    }

    fn envelopes(&self) -> u32 {
        self.limits.ours.envelopes
    }

    fn eager_max(&self) -> usize {
        self.limits.eager.min(self.theirs.held as usize / 4)
    }

    fn part_max(&self) -> usize {
        self.limits.part
    }

    fn fetches_from(&self) -> usize {
        direct::from(&self.direct)
    }

    fn fetched_from(&self) -> usize {
        self.limits.fetched_from()
    }

    unsafe fn fetch(&mut self, address: u64, into: NonNull<u8>, len: usize) -> bool {
        // SAFETY: the caller has promised this.
        unsafe { direct::fetch(&mut self.direct, address, into, len) }
    }

    /// 0, because a frame that is written in part cannot be withdrawn.
    fn early_max(&self) -> usize {
        0
    }

    fn is_drained(&self) -> bool {
        self.is_empty && !self.is_ready() && self.incoming.is_none()
    }

    fn is_blocked(&self) -> bool {
        self.outgoing.is_some() || !self.answers.is_empty()
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.finish_rest()?;
        self.return_credit()?;
        self.write_answers()
    }
}

/// Writes without waiting. Returns 0 if there is no space; the next call must then pass the same
/// bytes.
fn write(peer: &Peer, slices: &[IoSlice<'_>]) -> Result<usize, Error> {
    match peer.line().send(slices) {
        Ok(sent) => Ok(sent),
        Err(Errno::AGAIN) => Ok(0),
        Err(error) => Err(peer.failed("sending", error.into())),
    }
}

/// The result of a read that does not wait.
enum Read {
    Bytes(usize),
    Nothing,
    End,
}

fn read(peer: &Peer, slices: &mut [IoSliceMut<'_>]) -> Result<Read, Error> {
    match peer.line().recv(slices) {
        Ok(got) => Ok(Read::Bytes(got)),
        Err(Errno::AGAIN) => Ok(Read::Nothing),
        Err(Errno::PIPE) => Ok(Read::End),
        Err(error) => Err(peer.failed("receiving", error.into())),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::os::unix::net::UnixStream;

    use super::super::engine::{Engine, SendOptions};
    use super::super::memory::Memory;
    use super::super::settings::Settings;
    use super::super::wanted::Wanted;
    use super::super::{LinkId, Request};
    use super::*;
    use crate::testing::Random;
    use crate::Transport;

    /// A channel from one link to another that carries as many bytes as the test permits.
    struct Wire {
        from: UnixStream,
        to: UnixStream,
        /// Bytes that have been read and not written yet.
        rest: Vec<u8>,
    }

    impl Wire {
        fn carry(&mut self, max: usize) {
            let mut bytes = vec![0; max];
            if self.rest.is_empty() {
                match self.from.read(&mut bytes) {
                    Ok(0) => return drop(self.to.shutdown(std::net::Shutdown::Write)),
                    Ok(got) => self.rest.extend(&bytes[..got]),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                }
            }
            match self.to.write(&self.rest) {
                Ok(sent) => drop(self.rest.drain(..sent)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }

    type Ends = ([Engine<StreamLink>; 2], [LinkId; 2], Vec<Wire>);

    fn ends() -> Ends {
        let mut wires = Vec::new();
        // The links' ends of one channel.
        let mut channel = || {
            let [near, far] = [(); 2].map(|()| UnixStream::pair().unwrap());
            for (from, to) in [(&near.1, &far.1), (&far.1, &near.1)] {
                from.set_nonblocking(true).unwrap();
                wires.push(Wire {
                    from: from.try_clone().unwrap(),
                    to: to.try_clone().unwrap(),
                    rest: Vec::new(),
                });
            }
            [near.0, far.0].map(|end| Arc::new(Peer::unix(end.into(), "it".into(), false)))
        };
        let ([data, far_data], [control, far_control]) = (channel(), channel());
        let mut engines = [Engine::new(), Engine::new()];
        let limits = || Limits::usual(&crate::Transport::Unix);
        let near = StreamLink::new(data, control, limits(), None).unwrap();
        let far = StreamLink::new(far_data, far_control, limits(), None).unwrap();
        let links = [engines[0].add_link(near), engines[1].add_link(far)];
        (engines, links, wires)
    }

    fn bytes_of(seed: usize, len: usize) -> Vec<u8> {
        (0..len)
            .map(|at| (at * 7 + at / 253 + seed) as u8)
            .collect()
    }

    const LENGTHS: [usize; 10] = [0, 1, 24, 25, 3000, 65_536, 65_537, 300_000, 20, 700_000];

    /// Sends messages of all lengths both ways, some synchronously, over wires that carry a limited
    /// number of bytes at a time, until all operations have ended or `lost` bytes have been
    /// carried.
    fn exchange(seed: u64, lost: Option<usize>) {
        let mut random = Random::new(seed);
        let (mut engines, links, mut wires) = ends();
        let mut out: Vec<_> = LENGTHS.iter().map(|len| bytes_of(*len, *len)).collect();
        let mut into = [(); 2].map(|()| LENGTHS.map(|len| vec![0; len]));
        let mut pending: Vec<(usize, Request)> = Vec::new();
        for node in 0..2 {
            for (at, bytes) in out.iter_mut().enumerate() {
                let place = &mut into[node][at];
                let place = Memory::one(place.as_mut_ptr(), place.len());
                let receive = engines[node].receive(Wanted::new(links[node], at as u64), place);
                pending.push((node, receive));
                let how = SendOptions {
                    sync: at % 2 == 0,
                    unordered: false,
                };
                let head = Head::new(Kind::Eager, 0, at as u64);
                let memory = Memory::one(bytes.as_mut_ptr(), bytes.len());
                let send = engines[node].send(links[node], head, memory, how).unwrap();
                pending.extend(send.map(|send| (node, send)));
            }
        }
        let mut allowed = 0;
        for _ in 0..2_000_000 {
            if let Some(wire) = random
                .below(6usize)
                .checked_sub(2)
                .and_then(|at| wires.get_mut(at))
            {
                let max = [1, 7, 40, 5000, 60_000][random.below(5)];
                wire.carry(max);
                allowed += max;
            } else {
                let node = random.below(2);
                engines[node].progress(links[node]);
            }
            if lost.is_some_and(|lost| allowed > lost) {
                wires.clear();
            }
            pending.retain(|(node, request)| {
                let Some(end) = engines[*node].ops.take(*request).unwrap() else {
                    return true;
                };
                let is_fair = matches!(end, Ok(_) | Err(Error::Closed(_)));
                assert!(is_fair && (end.is_ok() || lost.is_some()), "{end:?}");
                false
            });
            if pending.is_empty() {
                break;
            }
        }
        assert!(
            pending.is_empty(),
            "seed {seed}: {} never end",
            pending.len()
        );
        if lost.is_none() {
            assert!(into.iter().all(|into| into[..] == out[..]), "seed {seed}");
        }
    }

    /// Each link gets less buffer space while there are many links, and more again when other links
    /// have ended.
    #[test]
    fn windows_get_smaller_and_larger() {
        let (mut engines, links, mut wires) = ends();
        let mut rounds = |engines: &mut [Engine<StreamLink>; 2]| {
            for _ in 0..50 {
                wires.iter_mut().for_each(|wire| wire.carry(60_000));
                for (engine, link) in engines.iter_mut().zip(links) {
                    while engine.progress(link) {}
                }
            }
        };
        let mut grant = |engines: &mut [Engine<StreamLink>; 2], window| {
            let link = engines[1].carrier(links[1]).unwrap();
            link.set_window(window).unwrap();
            rounds(engines);
        };
        grant(&mut engines, 450);
        let mut bytes = [100; 12].map(|len| vec![1; len]);
        let mut pending = Vec::new();
        for bytes in &mut bytes {
            let memory = Memory::one(bytes.as_mut_ptr(), bytes.len());
            let head = Head::new(Kind::Eager, 0, 1);
            let sent = engines[0].send(links[0], head, memory, SendOptions::default());
            pending.extend(sent.unwrap());
        }
        assert_eq!(
            pending.len(),
            8,
            "messages that exceed the buffer space are offered"
        );
        grant(&mut engines, 1050);
        let memory = Memory::one(bytes[0].as_mut_ptr(), bytes[0].len());
        for at in 0..8 {
            let sent = engines[0].send(
                links[0],
                Head::new(Kind::Eager, 0, 1),
                memory.clone(),
                SendOptions::default(),
            );
            assert_eq!(sent.unwrap().is_some(), at >= 6);
        }
    }

    #[test]
    fn buffers_of_many_links_take_little_room() {
        let settings = Settings::default();
        let size = |links| buffer_size(&Terms::new(&settings.for_link(links), &Transport::Unix));
        assert!((0..16).all(|links| size(links) == BUFFER));
        let all: usize = (0..1000).map(size).sum();
        assert!(all < 16 << 20, "{all}");
    }

    #[test]
    fn frames_may_come_in_pieces() {
        for seed in 1..20 {
            exchange(seed, None);
        }
    }

    /// Tests the steps by which an endpoint ends its links: it stops sending, and waits until the
    /// peer has read everything. Over TCP, the end of the data may arrive before the last answer.
    #[test]
    fn an_answer_may_come_after_the_end_of_the_data() {
        let (mut engines, links, mut wires) = ends();
        let carry = |wire: &mut Wire| (0..3).for_each(|_| wire.carry(60_000));
        let mut bytes = bytes_of(1, 20);
        let how = SendOptions {
            sync: true,
            ..SendOptions::default()
        };
        let memory = Memory::one(bytes.as_mut_ptr(), bytes.len());
        let head = Head::new(Kind::Eager, 0, 1);
        let sent = engines[0].send(links[0], head, memory, how);
        let sent = sent.unwrap().unwrap();
        carry(&mut wires[0]);
        let mut into = [0; 20];
        let memory = Memory::one(into.as_mut_ptr(), into.len());
        let received = engines[1].receive(Wanted::new(links[1], 1), memory);
        while engines[1].progress(links[1]) {}
        assert!(matches!(engines[1].ops.take(received), Ok(Some(Ok(_)))));
        let far = engines[1].carrier(links[1]).unwrap();
        for peer in [&far.data, &far.control] {
            rustix::net::shutdown(peer.socket(), rustix::net::Shutdown::Write).unwrap();
        }
        carry(&mut wires[1]);
        for _ in 0..2 * CONTROL_CHECK_POLLS {
            engines[0].progress(links[0]);
        }
        assert!(matches!(engines[0].ops.take(sent), Ok(None)));
        carry(&mut wires[3]);
        for _ in 0..2 * CONTROL_CHECK_POLLS {
            engines[0].progress(links[0]);
        }
        assert!(matches!(engines[0].ops.take(sent), Ok(Some(Ok(_)))));
        assert!(engines[0].carrier(links[0]).is_none(), "both have ended");
    }

    #[test]
    fn a_connection_lost_at_any_byte_ends_everything() {
        for seed in 1..60 {
            exchange(seed, Some(seed as usize * seed as usize * 700));
        }
    }
}
