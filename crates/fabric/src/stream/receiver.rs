//! Reading frames from a socket into buffers, in which the messages stay.

use std::io::IoSliceMut;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::Shutdown;

use super::receive_pool::{Filled, ReceivePool};
use super::{frame, parse_header, HEADER};
use crate::block::{Block, ALIGN};
use crate::connection::ReceiveEnd;
use crate::message::Owner;
use crate::peer::{Peer, SILENCE_TIME};
use crate::wait::{Deadline, Spinner, PULSE};
use crate::{Error, Message};

/// If at least this number of bytes of a frame is missing, only these bytes are read, so that no
/// part of the next frame has to be moved later.
const EXACT: usize = 16 << 10;

pub(crate) struct StreamReceiver {
    peer: Arc<Peer>,
    max: usize,
    receive_pool: Arc<ReceivePool>,
    /// The buffer that is being filled. The bytes before `end` have been received, and the bytes
    /// before `start` have been handed out.
    current: Option<Arc<Filled>>,
    start: usize,
    end: usize,
    /// A message longer than a buffer, which is being received.
    large: Option<Large>,
    spinner: Spinner,
    last_look: Instant,
    broken: Option<Error>,
}

struct Large {
    block: Block,
    len: usize,
    got: usize,
}

/// The next message, or the step that is needed to get it.
enum Next {
    Message(Message),
    /// More bytes of a frame with this total length are needed.
    Bytes(usize),
    /// The beginning of a message of this length, which is too long for a buffer.
    Large(usize),
}

impl StreamReceiver {
    /// Makes a receiver. Messages of up to `usual` bytes share buffers. Longer messages, up to
    /// `max`, get their own blocks.
    pub(crate) fn new(peer: Arc<Peer>, usual: u32, max: u32, pool: usize) -> StreamReceiver {
        // Two messages of the usual maximum length fit exactly, so the messages of such a stream
        // are never moved.
        let buffer = (2 * frame(usual as usize))
            .max(64 << 10)
            .next_multiple_of(ALIGN);
        let large_most = 2 * frame(max as usize);
        StreamReceiver {
            peer,
            max: max as usize,
            receive_pool: Arc::new(ReceivePool::new(buffer, pool, large_most)),
            current: None,
            start: 0,
            end: 0,
            large: None,
            spinner: Spinner::for_calls(),
            last_look: Instant::now(),
            broken: None,
        }
    }

    fn next(&mut self) -> Result<Next, Error> {
        let have = self.end - self.start;
        let Some(current) = self.current.as_ref().filter(|_| have >= HEADER) else {
            return Ok(Next::Bytes(HEADER));
        };
        let mut bytes = [0; HEADER];
        current.block().read(self.start, &mut bytes);
        let len = parse_header(bytes, self.max)?;
        let frame = frame(len);
        if frame > self.receive_pool.buffer() {
            return Ok(Next::Large(len));
        }
        if have < frame {
            return Ok(Next::Bytes(frame));
        }
        let pointer = current.block().range(self.start + HEADER, len);
        let owner = Owner::Heap {
            _filled: current.clone(),
        };
        self.start += frame;
        Ok(Next::Message(Message::new(pointer, len, owner)))
    }

    /// Makes sure that a frame of `frame` bytes fits between `start` and the buffer's end. Returns
    /// false if no buffer became free in time.
    fn make_room(&mut self, frame: usize, deadline: &Deadline) -> Result<bool, Error> {
        let have = self.end - self.start;
        let size = self.receive_pool.buffer();
        if let Some(current) = &mut self.current {
            let alone = Arc::get_mut(current).is_some();
            if alone && (have == 0 || size - self.start < frame) {
                current
                    .block()
                    .copy_to(self.start, current.block(), 0, have);
                (self.start, self.end) = (0, have);
                return Ok(true);
            }
            // If the rest of the buffer is short, a system call to fill it is not worth its cost.
            let enough = if have == 0 {
                frame.max(size / 8)
            } else {
                frame
            };
            if size - self.start >= enough {
                return Ok(true);
            }
        }
        if have == 0 {
            self.current = None;
        }
        let receive_pool = self.receive_pool.clone();
        let Some(block) = self.patiently(deadline, |slice| receive_pool.take(slice))? else {
            return Ok(false);
        };
        if let Some(old) = &self.current {
            old.block().copy_to(self.start, &block, 0, have);
        }
        self.current = Some(Arc::new(Filled::new(block, Some((receive_pool, false)))));
        (self.start, self.end) = (0, have);
        Ok(true)
    }

    /// Moves the buffered beginning of a long message to its own block.
    fn begin_large(&mut self, len: usize, deadline: &Deadline) -> Result<bool, Error> {
        let receive_pool = self.receive_pool.clone();
        let whole = frame(len) - HEADER;
        let Some(block) =
            self.patiently(deadline, |slice| receive_pool.take_large(whole, slice))?
        else {
            return Ok(false);
        };
        // The frame is incomplete, so all buffered bytes belong to it.
        let got = self.end - self.start - HEADER;
        let mut large = Large { block, len, got: 0 };
        while large.block.size() < got {
            receive_pool.grow(&mut large.block, 0, whole)?;
        }
        if let Some(current) = &self.current {
            current
                .block()
                .copy_to(self.start + HEADER, &large.block, 0, got);
        }
        large.got = got;
        self.start = self.end;
        self.large = Some(large);
        Ok(true)
    }

    /// Reads the available bytes of the long message. Returns the message when it is complete.
    fn go_on_large(&mut self) -> Result<Option<Message>, Errno> {
        let Some(mut large) = self.large.take() else {
            return Ok(None);
        };
        let whole = frame(large.len) - HEADER;
        while large.got < whole {
            let is_full = large.got == large.block.size();
            if is_full
                && self
                    .receive_pool
                    .grow(&mut large.block, large.got, whole)
                    .is_err()
            {
                self.large = Some(large);
                return Err(Errno::NOMEM);
            }
            let room = large.block.size().min(whole) - large.got;
            match read(&self.peer, large.block.bytes_mut(large.got, room)) {
                Ok(got) => large.got += got,
                Err(error) => {
                    self.large = Some(large);
                    return Err(error);
                }
            }
        }
        let Large { block, len, .. } = large;
        let pointer = block.range(0, len);
        let filled = Filled::new(block, Some((self.receive_pool.clone(), true)));
        Ok(Some(Message::new(
            pointer,
            len,
            Owner::Heap {
                _filled: Arc::new(filled),
            },
        )))
    }

    /// Waits for the application to drop messages. If the peer has ended, this still waits at
    /// first, because the peer's messages can still be received.
    fn patiently(
        &self,
        deadline: &Deadline,
        mut take: impl FnMut(Duration) -> Option<Result<Block, Error>>,
    ) -> Result<Option<Block>, Error> {
        let start = Instant::now();
        loop {
            if let Some(block) = take(deadline.left(PULSE)) {
                return block.map(Some);
            }
            if deadline.passed() {
                return Ok(None);
            }
            if start.elapsed() > SILENCE_TIME && self.peer.gone() {
                return Err(self.peer.closed());
            }
        }
    }

    /// Whether the peer is dead. Checks at most once per [`PULSE`], also if the caller never waits.
    fn has_died(&mut self) -> bool {
        if self.last_look.elapsed() < PULSE {
            return false;
        }
        self.last_look = Instant::now();
        self.peer.ended() || self.peer.silent()
    }

    fn step(&mut self, deadline: &Deadline) -> Result<Step, Error> {
        let read = if self.large.is_some() {
            match self.go_on_large() {
                Ok(Some(message)) => return Ok(Step::Done(Some(message))),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            }
        } else {
            let frame = match self.next()? {
                Next::Message(message) => return Ok(Step::Done(Some(message))),
                Next::Large(len) => {
                    return Ok(match self.begin_large(len, deadline)? {
                        true => Step::Again,
                        false => Step::Done(None),
                    })
                }
                Next::Bytes(frame) => frame,
            };
            if !self.make_room(frame, deadline)? {
                return Ok(Step::Done(None));
            }
            self.fill(frame)
        };
        match read {
            Ok(()) => Ok(Step::Again),
            Err(Errno::AGAIN) => Ok(Step::Wait),
            Err(Errno::PIPE) => Err(self.peer.closed()),
            Err(error) => Err(self.peer.failed("receiving", error.into())),
        }
    }

    /// Reads once into the current buffer, which has space for the current frame.
    fn fill(&mut self, frame: usize) -> Result<(), Errno> {
        let missing = frame - (self.end - self.start);
        let room = self.receive_pool.buffer() - self.end;
        let want = if missing >= EXACT { missing } else { room };
        if let Some(current) = &self.current {
            // SAFETY: the range from `end` on is inside the block and initialised, because blocks
            // are zeroed. All messages end before `end`. Only this receiver fills the block, and it
            // is borrowed exclusively.
            let into = unsafe {
                std::slice::from_raw_parts_mut(current.block().range(self.end, want), want)
            };
            self.end += read(&self.peer, into)?;
        }
        Ok(())
    }
}

enum Step {
    /// A message, or `None` after the timeout.
    Done(Option<Message>),
    Again,
    /// The socket has no data.
    Wait,
}

/// Reads once without waiting. Fails with EPIPE if the other end has closed the stream.
fn read(peer: &Peer, into: &mut [u8]) -> Result<usize, Errno> {
    peer.line().recv(&mut [IoSliceMut::new(into)])
}

impl ReceiveEnd for StreamReceiver {
    fn recv(
        &mut self,
        timeout: Option<Duration>,
        idle: &mut dyn FnMut(),
    ) -> Result<Option<Message>, Error> {
        if let Some(error) = &self.broken {
            return Err(error.again());
        }
        let deadline = Deadline::after(timeout);
        let mut spinner = std::mem::take(&mut self.spinner);
        let result = loop {
            let mut step = self.step(&deadline);
            if matches!(step, Ok(Step::Wait)) && !deadline.passed() {
                spinner.spin(|| {
                    step = self.step(&deadline);
                    !matches!(step, Ok(Step::Wait))
                });
            }
            match step {
                Ok(Step::Done(message)) => break Ok(message),
                Ok(Step::Again) => {}
                Err(error) => break Err(error),
                Ok(Step::Wait) if deadline.passed() => match self.has_died() {
                    true => break Err(self.peer.closed()),
                    false => break Ok(None),
                },
                Ok(Step::Wait) => {
                    idle();
                    spinner.sleeping();
                    let waited = self.peer.wait(PollFlags::IN, Some(&deadline));
                    spinner.woke();
                    match waited {
                        Ok(true) => {}
                        Ok(false) => break Err(self.peer.closed()),
                        Err(error) => break Err(self.peer.failed("receiving", error)),
                    }
                }
            }
        };
        self.spinner = spinner;
        if let Err(error) = &result {
            self.broken = Some(error.again());
        }
        result
    }

    fn never_spin(&mut self) {
        self.spinner = Spinner::lasting(Duration::ZERO);
    }

    fn close(&mut self) {
        if self.peer.ours() {
            let _ = rustix::net::shutdown(self.peer.socket(), Shutdown::Read);
        }
    }
}
