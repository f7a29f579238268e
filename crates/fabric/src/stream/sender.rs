//! Writing frames to a socket.

use std::io::IoSlice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::net::Shutdown;

use super::{frame, header, HEADER};
use crate::block::{BlockPool, MemorySource, Room, HEAD};
use crate::connection::SendEnd;
use crate::peer::Peer;
use crate::Error;

pub(crate) struct StreamSender {
    peer: Arc<Peer>,
    pool: BlockPool,
    /// Locked while a frame is written. Holds the error that ended the stream, if any.
    out: Mutex<Option<Error>>,
    waited: AtomicU64,
}

impl StreamSender {
    pub(crate) fn new(peer: Arc<Peer>, chunk: u32, message_max: u32, max: u32) -> StreamSender {
        let chunk = chunk.min(message_max) as usize;
        StreamSender {
            peer,
            pool: BlockPool::new(chunk, max as usize),
            out: Mutex::new(None),
            waited: AtomicU64::new(0),
        }
    }

    fn write(&self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            match self.peer.line().send(&[IoSlice::new(bytes)]) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(rustix::io::Errno::AGAIN) => {
                    let start = Instant::now();
                    let waited = self.wait();
                    let nanoseconds = start.elapsed().as_nanos() as u64;
                    self.waited.fetch_add(nanoseconds, Ordering::Relaxed);
                    waited?;
                }
                Err(error) => return Err(self.peer.failed("sending", error.into())),
            }
        }
        Ok(())
    }

    /// Waits until the socket accepts more bytes or the peer is gone.
    fn wait(&self) -> Result<(), Error> {
        match self.peer.wait(PollFlags::OUT, None) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.peer.closed()),
            Err(error) => Err(self.peer.failed("sending", error)),
        }
    }
}

impl SendEnd for StreamSender {
    fn reserve(&self, len: usize) -> Result<Room, Error> {
        self.pool.reserve(len)
    }

    fn commit(&self, room: &mut Room, used: usize) -> Result<(), Error> {
        let MemorySource::Heap(block) = &mut room.place else {
            return Err(Error::Misuse("nothing is left of this reservation"));
        };
        let bytes = block.bytes_mut(HEAD - HEADER, frame(used));
        bytes[..HEADER].copy_from_slice(&header(used));
        bytes[HEADER + used..].fill(0);
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = &*out {
            return Err(error.again());
        }
        self.write(bytes)
            .inspect_err(|error| *out = Some(error.again()))
    }

    fn cancel(&self, place: MemorySource) {
        self.pool.cancel(place);
    }

    fn close(&self) {
        if self.peer.ours() {
            let _ = rustix::net::shutdown(self.peer.socket(), Shutdown::Write);
        }
    }

    fn max(&self) -> usize {
        self.pool.max()
    }

    fn waited(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }

    fn hang_up(&self) {
        self.peer.hang_up();
    }
}
