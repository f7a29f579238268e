//! Operations in progress, and their results.

use super::link_id::LinkId;
use super::memory::Memory;
use crate::Error;

/// An operation that was begun with `isend`, `irecv`, `iput` or `iget`. The request is valid until
/// the program has fetched the operation's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl Request {
    /// The request as a number, for the C interface. It is never 0.
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | (u64::from(self.index) + 1)
    }

    /// The request with this number. If no request has this number, every use of the result fails
    /// with [`Error::Misuse`].
    pub fn from_bits(bits: u64) -> Request {
        Request {
            index: (bits as u32).wrapping_sub(1),
            generation: (bits >> 32) as u32,
        }
    }
}

/// The result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The link of the message. A receive from any link, too, gets the actual link.
    pub link: LinkId,
    pub tag: u64,
    /// The length of the message in bytes.
    pub len: usize,
}

impl Status {
    /// The result of a receive with `room` bytes of memory.
    #[inline]
    pub(crate) fn fits(self, room: usize) -> Result<Status, Error> {
        match self.len > room {
            true => Err(Error::Truncated {
                len: self.len,
                room,
            }),
            false => Ok(self),
        }
    }
}

/// The states of all operations.
#[derive(Debug, Default)]
pub(crate) struct Ops {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The number of operations that have not ended.
    pub(crate) pending: usize,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    state: State,
    /// Set if the program will not fetch the result.
    is_detached: bool,
}

#[derive(Debug)]
pub(crate) enum State {
    Free,
    /// `number` is the message's index in its link's `outgoing`, once it is queued there.
    Send {
        link: u32,
        number: Option<u32>,
    },
    Receive(Receive),
    Done(Result<Status, Box<Error>>),
}

/// A receive that waits for its message, or for the rest of it.
#[derive(Debug)]
pub(crate) struct Receive {
    pub(crate) memory: Memory,
    /// Set if the receive was matched before the whole message had arrived.
    pub(crate) status: Option<Box<Status>>,
}

impl Ops {
    #[inline]
    pub(crate) fn begin(&mut self, state: State) -> Request {
        self.pending += 1;
        self.insert(state)
    }

    #[inline(always)]
    pub(crate) fn begin_receive(&mut self, memory: Memory) -> Request {
        self.begin(State::Receive(Receive {
            memory,
            status: None,
        }))
    }

    /// An operation that ended as soon as it began.
    pub(crate) fn ended(&mut self, result: Result<Status, Error>) -> Request {
        self.insert(State::Done(result.map_err(Box::new)))
    }

    #[inline(always)]
    fn insert(&mut self, state: State) -> Request {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.state = state;
            slot.is_detached = false;
            return Request {
                index,
                generation: slot.generation,
            };
        }
        let index = self.slots.len() as u32;
        self.slots.push(Slot {
            generation: 0,
            state,
            is_detached: false,
        });
        Request {
            index,
            generation: 0,
        }
    }

    #[inline(always)]
    pub(crate) fn end(&mut self, index: u32, result: Result<Status, Error>) {
        let slot = &mut self.slots[index as usize];
        debug_assert!(!matches!(slot.state, State::Free | State::Done(_)));
        self.pending -= 1;
        slot.state = State::Done(result.map_err(Box::new));
        if slot.is_detached {
            self.release(index);
        }
    }

    /// The status of an operation that has succeeded. The operation is then forgotten. After
    /// `None`, call [`Ops::take`].
    #[inline]
    pub(crate) fn take_well(&mut self, request: Request) -> Option<Status> {
        let slot = self.slots.get_mut(request.index as usize)?;
        let State::Done(Ok(status)) = slot.state else {
            return None;
        };
        if slot.generation != request.generation {
            return None;
        }
        slot.state = State::Free;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(request.index);
        Some(status)
    }

    #[inline]
    fn release(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.state = State::Free;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
    }

    #[inline]
    pub(crate) fn state(&mut self, index: u32) -> &mut State {
        &mut self.slots[index as usize].state
    }

    #[inline]
    fn find(&self, request: Request) -> Result<&Slot, Error> {
        self.slots
            .get(request.index as usize)
            .filter(|slot| {
                slot.generation == request.generation && !matches!(slot.state, State::Free)
            })
            .ok_or(Error::Misuse(
                "no such request: it has been completed before",
            ))
    }

    /// Whether the operation has ended.
    #[inline]
    fn is_done(&self, request: Request) -> Result<bool, Error> {
        Ok(matches!(self.find(request)?.state, State::Done(_)))
    }

    /// The operation's result. The operation is then forgotten. `None` while the operation is in
    /// progress.
    #[inline]
    pub(crate) fn take(
        &mut self,
        request: Request,
    ) -> Result<Option<Result<Status, Error>>, Error> {
        if !self.is_done(request)? {
            return Ok(None);
        }
        match std::mem::replace(self.state(request.index), State::Free) {
            State::Done(result) => {
                self.release(request.index);
                Ok(Some(result.map_err(|error| *error)))
            }
            _ => unreachable!("looked at above"),
        }
    }

    /// Detaches an operation: its result is dropped when the operation ends.
    pub(crate) fn detach(&mut self, request: Request) -> Result<(), Error> {
        if self.is_done(request)? {
            self.release(request.index);
        } else {
            self.slots[request.index as usize].is_detached = true;
        }
        Ok(())
    }

    /// The state of an operation that has not ended.
    pub(crate) fn running(&mut self, request: Request) -> Result<Option<&mut State>, Error> {
        if self.is_done(request)? {
            return Ok(None);
        }
        Ok(Some(self.state(request.index)))
    }
}
