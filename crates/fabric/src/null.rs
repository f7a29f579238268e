//! The null transport: chunks are filled like any others and discarded.

use std::thread;
use std::time::Duration;

use crate::block::{BlockPool, MemorySource, Room};
use crate::config::{Config, Sizes};
use crate::connection::{Connection, ReceiveEnd, SendEnd};
use crate::{Error, Message};

pub(crate) fn connection() -> Result<Connection, Error> {
    let sizes = Sizes::new(&Config::default())?;
    let stock = BlockPool::new(sizes.chunk as usize, sizes.message_max as usize);
    Ok(Connection::new(NullSender { stock }, Silence, None))
}

struct NullSender {
    stock: BlockPool,
}

impl SendEnd for NullSender {
    fn reserve(&self, len: usize) -> Result<Room, Error> {
        self.stock.reserve(len)
    }

    fn commit(&self, _room: &mut Room, _used: usize) -> Result<(), Error> {
        Ok(())
    }

    fn cancel(&self, place: MemorySource) {
        self.stock.cancel(place);
    }

    fn close(&self) {}

    fn max(&self) -> usize {
        self.stock.max()
    }

    fn waited(&self) -> u64 {
        0
    }
}

/// The receiving end of a transport without a peer.
pub(crate) struct Silence;

impl ReceiveEnd for Silence {
    fn recv(
        &mut self,
        timeout: Option<Duration>,
        idle: &mut dyn FnMut(),
    ) -> Result<Option<Message>, Error> {
        idle();
        thread::sleep(timeout.ok_or(Error::NoPeer)?);
        Ok(None)
    }

    fn never_spin(&mut self) {}

    fn close(&mut self) {}
}
