//! Regions: separate memory for messages that are longer than a chunk.
//!
//! Only messages to the client can be longer than a chunk. Before the first message in a region,
//! the server announces the region over the socket, and passes its descriptor. Later messages reuse
//! the region. When a message names a region that the client does not know, the client reads
//! announcements. A client announces the memory of a group in the same way ([`crate::Multicast`]).

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use mgn_sys::{memory, passing, Mapping, Protection};

use super::lane::{Lane, Memory, REGIONS};
use crate::peer::Peer;
use crate::Error;

/// IDs below this number identify pools.
pub(super) const FIRST_ID: u64 = 16;

const MAGIC: u32 = u32::from_le_bytes(*b"MgnR");

/// An announcement: magic u32, slot u32, id u64, bytes u64.
const ANNOUNCEMENT: usize = 24;

/// The size of a region for a message of `len` bytes. The region is up to a quarter larger than the
/// message (or up to 64 KiB larger, if that is more), so that a window that the user enlarges does
/// not need a new region at every step.
fn size_for(len: usize) -> usize {
    let step = (len.next_power_of_two() / 8).max(64 << 10);
    len.next_multiple_of(step)
}

/// The server's regions.
#[derive(Debug)]
pub(crate) struct Regions {
    slots: [Option<Region>; REGIONS],
    next_id: u64,
    /// The maximum number of bytes of all regions. A region that replaces another region may exceed
    /// it.
    budget: usize,
}

#[derive(Debug)]
struct Region {
    memory: Memory,
    sent: u32,
    held: bool,
}

impl Regions {
    pub(crate) fn new(large_max: u32) -> Regions {
        Regions {
            slots: Default::default(),
            next_id: FIRST_ID,
            budget: 2 * size_for(large_max as usize),
        }
    }

    /// Takes a region for `len` bytes. Returns its slot, address and size, or `None` while all
    /// regions are in use.
    pub(crate) fn take(
        &mut self,
        len: usize,
        lane: &Lane,
        peer: &Peer,
    ) -> Result<Option<(usize, *mut u8, usize)>, Error> {
        let size = |slot: usize| {
            self.slots[slot]
                .as_ref()
                .map(|region| region.memory.map.len())
        };
        let idle: Vec<usize> = (0..REGIONS)
            .filter(|slot| self.is_idle(*slot, lane))
            .collect();
        let fits = |most: usize| {
            let ready = idle
                .iter()
                .copied()
                .filter_map(|slot| Some((size(slot)?, slot)));
            ready
                .filter(|(size, _)| (len..=most).contains(size))
                .min()
                .map(|(_, slot)| slot)
        };
        let slot = match fits(4 * size_for(len)) {
            Some(slot) => slot,
            None => {
                let total: usize = (0..REGIONS).filter_map(size).sum();
                let empty = (0..REGIONS).find(|slot| size(*slot).is_none());
                let empty = empty.filter(|_| total + size_for(len) <= self.budget);
                // If the budget permits no further region, an idle region of the wrong size is
                // replaced.
                let Some(slot) = empty.or_else(|| idle.iter().copied().max_by_key(|s| size(*s)))
                else {
                    return Ok(None);
                };
                self.make(slot, len, lane, peer)?;
                slot
            }
        };
        let region = self.slots[slot]
            .as_mut()
            .expect("chosen because it is there");
        region.held = true;
        Ok(Some((
            slot,
            region.memory.map.as_ptr(),
            region.memory.map.len(),
        )))
    }

    /// Counts a message that is committed in a region, and ends its reservation. Returns the ID for
    /// the message's descriptor.
    pub(crate) fn commit(&mut self, slot: usize) -> u32 {
        let region = self.slots[slot].as_mut().expect("held, so it is there");
        region.sent = region.sent.wrapping_add(1);
        region.held = false;
        region.memory.id as u32
    }

    pub(crate) fn cancel(&mut self, slot: usize) {
        if let Some(region) = &mut self.slots[slot] {
            region.held = false;
        }
    }

    fn is_idle(&self, slot: usize, lane: &Lane) -> bool {
        self.slots[slot].as_ref().is_some_and(|region| {
            !region.held && lane.released(lane.region_counter(slot)) == region.sent
        })
    }

    fn make(&mut self, slot: usize, len: usize, lane: &Lane, peer: &Peer) -> Result<(), Error> {
        // Free the replaced memory first, so that the old and the new memory do not exist at the
        // same time.
        self.slots[slot] = None;
        let size = size_for(len);
        let failed = format!("cannot make {size} bytes of shared memory");
        let fd = memory::create("mgn-region", size).map_err(Error::io(failed.clone()))?;
        let map = Mapping::new(&fd, size, Protection::ReadWrite).map_err(Error::io(failed))?;
        let id = self.next_id;
        self.next_id += 1;

        let memory = Memory { map, fd, id };
        announce(&memory, slot, peer)?;
        let sent = lane.released(lane.region_counter(slot));
        self.slots[slot] = Some(Region {
            memory,
            sent,
            held: false,
        });
        Ok(())
    }
}

/// Announces memory to the other end, and passes its descriptor.
pub(super) fn announce(memory: &Memory, slot: usize, peer: &Peer) -> Result<(), Error> {
    let mut announcement = [0; ANNOUNCEMENT];
    announcement[..4].copy_from_slice(&MAGIC.to_le_bytes());
    announcement[4..8].copy_from_slice(&(slot as u32).to_le_bytes());
    announcement[8..16].copy_from_slice(&memory.id.to_le_bytes());
    announcement[16..].copy_from_slice(&(memory.map.len() as u64).to_le_bytes());
    match passing::send(peer.socket(), &announcement, &[memory.fd.as_fd()], false) {
        Ok(ANNOUNCEMENT) => Ok(()),
        Ok(_) => Err(Error::PeerMisbehaved(
            "it does not read announcements of memory",
        )),
        Err(_) if peer.gone() => Err(peer.closed()),
        Err(source) => Err(Error::Io {
            doing: "cannot pass shared memory to the other end".into(),
            source,
        }),
    }
}

/// The memories that the other end has announced.
#[derive(Debug)]
pub(crate) struct Known {
    slots: [Option<Arc<Memory>>; REGIONS],
    largest: usize,
}

impl Known {
    /// The regions of a server.
    pub(crate) fn new(large_max: u32) -> Known {
        Known::up_to(size_for(large_max as usize))
    }

    /// Announced memory of at most `largest` bytes each.
    pub(super) fn up_to(largest: usize) -> Known {
        Known {
            slots: Default::default(),
            largest,
        }
    }

    /// The region that a message names. Reads announcements until it finds the region.
    pub(crate) fn find(&mut self, slot: u32, id: u32, peer: &Peer) -> Result<&Arc<Memory>, Error> {
        let slot = slot as usize;
        if slot >= REGIONS {
            return Err(Error::PeerMisbehaved(
                "a message lies in a region with an invalid number",
            ));
        }
        // The limit exceeds the number of regions that can be announced before a message is sent in
        // one.
        for _ in 0..=8 * REGIONS {
            if self.slots[slot]
                .as_ref()
                .is_some_and(|found| found.id as u32 == id)
            {
                break;
            }
            self.read_announcement(peer)?;
        }
        match &self.slots[slot] {
            Some(found) if found.id as u32 == id => Ok(found),
            _ => Err(Error::PeerMisbehaved("it announces too much memory")),
        }
    }

    fn read_announcement(&mut self, peer: &Peer) -> Result<(), Error> {
        let (mut bytes, mut fds) = ([0; ANNOUNCEMENT], Vec::new());
        match passing::recv(peer.socket(), &mut bytes, &mut fds, false) {
            Ok(0) => return Err(peer.closed()),
            Ok(ANNOUNCEMENT) => {}
            Ok(_) => {
                return Err(Error::PeerMisbehaved(
                    "an announcement of memory is truncated",
                ))
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                return Err(Error::PeerMisbehaved(
                    "a message lies in memory that was never announced",
                ))
            }
            Err(source) => {
                return Err(Error::Io {
                    doing: "cannot receive shared memory".into(),
                    source,
                })
            }
        }
        let (slot, memory) = parse(&bytes, fds, self.largest)?;
        self.slots[slot] = Some(Arc::new(memory));
        Ok(())
    }
}

fn parse(
    bytes: &[u8; ANNOUNCEMENT],
    mut fds: Vec<OwnedFd>,
    largest: usize,
) -> Result<(usize, Memory), Error> {
    let wrong = || Error::PeerMisbehaved("an announcement of memory is invalid");
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let (slot, id, size) = (word(4) as usize, long(8), long(16));
    if word(0) != MAGIC || slot >= REGIONS || id < FIRST_ID || size > largest as u64 {
        return Err(wrong());
    }
    let fd = fds.pop().filter(|_| fds.is_empty()).ok_or_else(wrong)?;
    let map = Mapping::new(&fd, size as usize, Protection::Read).map_err(|_| wrong())?;
    Ok((slot, Memory { map, fd, id }))
}

/// Parses arbitrary bytes as an announcement that came with some memory.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn feed(bytes: &[u8]) {
    if let Some(bytes) = bytes.first_chunk() {
        let fd = memory::create("fuzz", 4096).unwrap();
        if let Ok((slot, memory)) = parse(bytes, vec![fd], 1 << 20) {
            assert!(slot < REGIONS && memory.map.len() <= 4096);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shm::lane::tests::lane;
    use std::os::unix::net::UnixStream;

    fn pair() -> (Peer, Peer) {
        let (left, right) = UnixStream::pair().unwrap();
        let peer = |socket: UnixStream| Peer::unix(socket.into(), "test".into(), false);
        (peer(left), peer(right))
    }

    #[test]
    fn regions_are_announced_once_and_reused() {
        let ((near, far), lane) = (pair(), lane(2, 4096));
        let (mut regions, mut known) = (Regions::new(1 << 20), Known::new(1 << 20));
        let (slot, start, size) = regions.take(500_000, &lane, &near).unwrap().unwrap();
        assert!(size >= 500_000);
        // SAFETY: the region has just been taken and is larger than one byte.
        unsafe { start.write(42) };
        let id = regions.commit(slot);
        let memory = known.find(slot as u32, id, &far).unwrap();
        // SAFETY: mapped, and written above.
        assert_eq!(unsafe { memory.map.as_ptr().read() }, 42);
        assert!(
            known.find(slot as u32, id + 1, &far).is_err(),
            "never announced"
        );

        lane.release(lane.region_counter(slot));
        let (again, same, _) = regions.take(499_999, &lane, &near).unwrap().unwrap();
        assert_eq!((again, same), (slot, start));
        assert_eq!(regions.commit(again), id);
        // The first region is not released, so another one is made.
        let (other, _, _) = regions.take(500_000, &lane, &near).unwrap().unwrap();
        assert_ne!(other, slot);
        regions.cancel(other);
    }

    #[test]
    fn memory_is_bounded() {
        let ((near, _far), lane) = (pair(), lane(2, 4096));
        let mut regions = Regions::new(1 << 20);
        let mut taken = Vec::new();
        while let Some((slot, _, _)) = regions.take(1 << 20, &lane, &near).unwrap() {
            taken.push(slot);
        }
        assert_eq!(taken.len(), 2);
        regions.cancel(taken[0]);
        let (slot, _, size) = regions.take(100_000, &lane, &near).unwrap().unwrap();
        assert_eq!(slot, taken[0], "a region that is far too large is replaced");
        assert!(size < 1 << 20);
    }

    #[test]
    fn memory_that_could_shrink_is_refused() {
        let (near, far) = pair();
        let unsealed = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::ALLOW_SEALING);
        let unsealed = unsealed.unwrap();
        rustix::fs::ftruncate(&unsealed, 4096).unwrap();
        let fd = memory::create("test", 4096).unwrap();
        let map = Mapping::new(&fd, 4096, Protection::Read).unwrap();
        let (fd, id) = (unsealed, FIRST_ID);
        announce(&Memory { map, fd, id }, 0, &near).unwrap();
        assert!(Known::up_to(4096).find(0, id as u32, &far).is_err());
    }

    #[test]
    fn announcements_are_checked() {
        let good = || memory::create("test", 4096).unwrap();
        let announce = |magic: u32, slot: u32, id: u64, size: u64| {
            let mut bytes = [0; ANNOUNCEMENT];
            bytes[..4].copy_from_slice(&magic.to_le_bytes());
            bytes[4..8].copy_from_slice(&slot.to_le_bytes());
            bytes[8..16].copy_from_slice(&id.to_le_bytes());
            bytes[16..].copy_from_slice(&size.to_le_bytes());
            bytes
        };
        let fine = announce(MAGIC, 0, FIRST_ID, 4096);
        assert!(parse(&fine, vec![good()], 4096).is_ok());
        assert!(parse(&fine, vec![], 4096).is_err());
        assert!(parse(&fine, vec![good(), good()], 4096).is_err());
        assert!(parse(&fine, vec![good()], 4095).is_err());
        for bytes in [
            announce(1, 0, FIRST_ID, 4096),
            announce(MAGIC, 8, FIRST_ID, 4096),
            announce(MAGIC, 0, 1, 4096),
            announce(MAGIC, 0, FIRST_ID, 8192),
            announce(MAGIC, 0, FIRST_ID, 0),
            announce(MAGIC, 0, FIRST_ID, u64::MAX),
        ] {
            assert!(parse(&bytes, vec![good()], 1 << 20).is_err());
        }
    }
}
