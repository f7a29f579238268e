//! Shared memory: the sender fills chunks, and the receiver reads them in place.
//!
//! The server makes three sealed pieces of memory and passes them to the client: control words for
//! both directions, and a pool of chunks for each. [`lane`] is the protocol between the two ends of
//! one direction, [`pool`] is the writer's private bookkeeping, [`region`] is memory for long
//! messages, and [`multicast`] is memory that several servers read. The reserved messages of
//! endpoints lie in an [`arena`].

mod arena;
#[cfg(test)]
mod hostile;
mod inline;
pub(crate) mod lane;
mod multicast;
mod notify;
mod pool;
mod reading;
mod receiver;
mod region;
mod sender;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use mgn_sys::peer::Credentials;
use mgn_sys::{memory, Mapping, Protection};

pub(crate) use arena::{Arena, Extent};
pub(crate) use inline::{more_slots, INLINE};
pub(crate) use lane::{Descriptor, Lane, Memory, IN_SLOT, LINK_SLOTS, SHORT, SLOTS};
pub use multicast::{Member, Multicast};
#[cfg(test)]
pub(crate) use notify::checked::Checked;
pub(crate) use notify::{Atomic, Atomics, Real, Sleep};
pub(crate) use pool::{Pool, Reuse, Span};

use crate::config::Sizes;
use crate::connection::Connection;
use crate::peer::Peer;
use crate::Error;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use region::feed as feed_announcement;

use receiver::ShmReceiver;
pub(crate) use sender::ShmSender;

/// The number of descriptors that a client gets with the welcome: the control words, the pool for
/// messages to the server, and the pool for messages to the client.
pub(crate) const DESCRIPTORS: usize = 3;

/// Makes the memory, with `slots` slots per lane. Servers call this.
pub(crate) fn create(sizes: &Sizes, slots: u64) -> Result<[OwnedFd; DESCRIPTORS], Error> {
    let make = |name: &str, bytes: usize| {
        memory::create(name, bytes).map_err(Error::io(format!(
            "cannot make {bytes} bytes of shared memory"
        )))
    };
    Ok([
        make("mgn-control", control_bytes(sizes, slots))?,
        make("mgn-to-server", sizes.pool(sizes.to_server))?,
        make("mgn-to-client", sizes.pool(sizes.to_client))?,
    ])
}

/// Makes the memory of a client whose incoming chunks are shared with other clients.
pub(crate) fn create_with(
    sizes: &Sizes,
    slots: u64,
    shared: &Memory,
) -> Result<[OwnedFd; DESCRIPTORS], Error> {
    let [control, to_server, _] = create(sizes, slots)?;
    let to_client = shared.fd.try_clone();
    let to_client = to_client.map_err(Error::io("cannot share memory with one more client"))?;
    Ok([control, to_server, to_client])
}

/// Makes chunks for several clients. Only this process can ever write to them.
pub(crate) fn create_shared(sizes: &Sizes) -> Result<Arc<Memory>, Error> {
    let bytes = sizes.pool(sizes.to_client);
    let made = memory::create_read_only("mgn-broadcast", bytes);
    let (fd, map) = made.map_err(Error::io(format!(
        "cannot make {bytes} bytes of shared memory"
    )))?;
    Ok(Arc::new(Memory { map, fd, id: 2 }))
}

/// Makes the lane to one of the clients that share chunks.
pub(crate) fn reader_lane(
    sizes: &Sizes,
    control: &OwnedFd,
    slots: u64,
    shared: Arc<Memory>,
) -> Result<Arc<Lane>, Error> {
    let bytes = control_bytes(sizes, slots);
    let map = Mapping::new(control, bytes, Protection::ReadWrite);
    let map = map.map_err(Error::io("cannot map a lane"))?;
    let base = Lane::bytes(sizes.to_server, slots);
    let chunks = sizes.to_client;
    Ok(Arc::new(Lane::new(
        Arc::new(map),
        base,
        chunks,
        slots,
        shared,
        None,
    )))
}

pub(crate) fn server(
    peer: Arc<Peer>,
    credentials: Option<Credentials>,
    sizes: &Sizes,
    fds: [OwnedFd; DESCRIPTORS],
) -> Result<Connection, Error> {
    let (out, back) = server_lanes(sizes, fds, SLOTS, None)?;
    let large = Some(sizes.large_max);
    let sender = ShmSender::new(out, peer.clone(), sizes.chunk, sizes.message_max, large);
    let receiver = ShmReceiver::new(back, peer, sizes.message_max, None);
    Ok(Connection::new(sender, receiver, credentials))
}

pub(crate) fn client(
    peer: Arc<Peer>,
    credentials: Option<Credentials>,
    sizes: &Sizes,
    fds: Vec<OwnedFd>,
) -> Result<Connection, Error> {
    let (out, back) = client_lanes(sizes, fds, SLOTS, None)?;
    let sender = ShmSender::new(out, peer.clone(), sizes.chunk, sizes.message_max, None);
    let large = Some(sizes.large_max);
    let receiver = ShmReceiver::new(back, peer, sizes.message_max, large);
    Ok(Connection::new(sender, receiver, credentials))
}

/// The lanes for the server: the lane that it writes to, and the lane that it reads. If there is a
/// bell, the ends wake each other through the bell's socket.
pub(crate) fn server_lanes(
    sizes: &Sizes,
    fds: [OwnedFd; DESCRIPTORS],
    slots: u64,
    bell: Option<Arc<Peer>>,
) -> Result<(Arc<Lane>, Arc<Lane>), Error> {
    let modes = (Protection::Read, Protection::ReadWrite);
    let (to_server, to_client) = lanes(sizes, fds, modes, slots, bell)?;
    Ok((to_client, to_server))
}

/// The lanes for the client, made from the descriptors that came with the welcome.
pub(crate) fn client_lanes(
    sizes: &Sizes,
    fds: Vec<OwnedFd>,
    slots: u64,
    bell: Option<Arc<Peer>>,
) -> Result<(Arc<Lane>, Arc<Lane>), Error> {
    let fds = <[OwnedFd; DESCRIPTORS]>::try_from(fds)
        .map_err(|_| Error::PeerMisbehaved("the welcome came without the shared memory"))?;
    let expected = [
        control_bytes(sizes, slots),
        sizes.pool(sizes.to_server),
        sizes.pool(sizes.to_client),
    ];
    for (fd, expected) in fds.iter().zip(expected) {
        if !memory::sealed_size(fd.as_fd()).is_ok_and(|size| size == expected) {
            return Err(Error::PeerMisbehaved(
                "the shared memory is unsealed or of the wrong size",
            ));
        }
    }
    let modes = (Protection::ReadWrite, Protection::Read);
    lanes(sizes, fds, modes, slots, bell)
}

fn control_bytes(sizes: &Sizes, slots: u64) -> usize {
    Lane::bytes(sizes.to_server, slots) + Lane::bytes(sizes.to_client, slots)
}

/// The lanes of both directions. Each pool is mapped with the access that this end needs.
fn lanes(
    sizes: &Sizes,
    [control, to_server, to_client]: [OwnedFd; DESCRIPTORS],
    (server_pool, client_pool): (Protection, Protection),
    slots: u64,
    bell: Option<Arc<Peer>>,
) -> Result<(Arc<Lane>, Arc<Lane>), Error> {
    let map = |fd: &OwnedFd, bytes: usize, protection| {
        Mapping::new(fd, bytes, protection).map_err(Error::io(format!(
            "cannot map {bytes} bytes of shared memory"
        )))
    };
    let control = Arc::new(map(
        &control,
        control_bytes(sizes, slots),
        Protection::ReadWrite,
    )?);
    let pool = |fd: OwnedFd, chunks: u32, protection, id| {
        Ok::<_, Error>(Memory {
            map: map(&fd, sizes.pool(chunks), protection)?,
            fd,
            id,
        })
    };
    let to_server = pool(to_server, sizes.to_server, server_pool, 1)?;
    let to_client = pool(to_client, sizes.to_client, client_pool, 2)?;
    let second = Lane::bytes(sizes.to_server, slots);
    let lane = |base, chunks, pool, control: &Arc<Mapping>| {
        Arc::new(Lane::new(
            control.clone(),
            base,
            chunks,
            slots,
            pool,
            bell.clone(),
        ))
    };
    Ok((
        lane(0, sizes.to_server, to_server, &control),
        lane(second, sizes.to_client, to_client, &control),
    ))
}
