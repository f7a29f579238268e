//! Reading a message straight from its sender's memory, where the kernel lets us.
//!
//! One copy instead of two, and no work for the sender. Containers and hardened systems forbid it,
//! and a peer may be in another namespace of processes: the first failure ends it for the link's
//! life, and messages go the other way.

use std::ptr::NonNull;
use std::sync::Arc;

use mgn_sys::fork::PerProcess;
use mgn_sys::peer::Credentials;
use mgn_sys::process::read_memory;

use super::settings::{AUTO, NEVER};
use super::terms::{Limits, Terms};
use crate::peer::Peer;
use crate::token::random;

/// Bytes that a peer finds in our memory, if it is ours that it reads. A forked child has others.
static PROOF: PerProcess<Proof> = PerProcess::new();

#[derive(Debug)]
struct Proof([u8; 16]);

impl Default for Proof {
    fn default() -> Proof {
        let mut proof = [0; 16];
        random(&mut proof);
        Proof(proof)
    }
}

fn proof() -> &'static [u8; 16] {
    &PROOF.get().0
}

/// Says in the terms where our memory can be known by.
pub(crate) fn show(terms: &mut Terms) {
    let proof = proof();
    terms.address = proof.as_ptr() as u64;
    terms.proof = *proof;
}

/// A peer whose memory may be read.
pub(crate) struct Direct {
    peer: Arc<Peer>,
    pid: u32,
    theirs: Terms,
    /// Messages at least this long.
    from: usize,
    is_proved: bool,
}

/// From which length on messages are read so; never where there is no way.
pub(crate) fn from(way: &Option<Box<Direct>>) -> usize {
    way.as_ref().map_or(NEVER, |direct| direct.from)
}

/// Whether the peer is the one of the two that decides for both: if it measures at all, a random
/// one. Two ends in one process decide each for itself.
pub(crate) fn follows(way: &Option<Box<Direct>>) -> bool {
    way.as_ref().is_some_and(|direct| {
        let theirs = &direct.theirs;
        theirs.fetches == AUTO as u64 && theirs.proof > *proof()
    })
}

/// Reads `len` bytes from `address` in the peer's memory. False when that fails: then there is no
/// way any more.
///
/// # Safety
/// `into` is valid for so many bytes, which nobody else uses meanwhile.
pub(crate) unsafe fn fetch(
    way: &mut Option<Box<Direct>>,
    address: u64,
    into: NonNull<u8>,
    len: usize,
) -> bool {
    let Some(direct) = way else {
        return false;
    };
    // SAFETY: as promised to this function.
    let is_read = unsafe { direct.read(address, into, len) };
    if !is_read {
        *way = None;
    }
    is_read
}

impl Direct {
    /// None where nothing is to be read, or the peer is a process that we cannot see, or whose end
    /// we would not notice.
    pub(crate) fn new(
        peer: &Arc<Peer>,
        credentials: Option<Credentials>,
        limits: &Limits,
    ) -> Option<Box<Direct>> {
        let from = usize::try_from(limits.ours.fetches).unwrap_or(NEVER);
        let wanted = from != NEVER && limits.theirs.address != 0;
        let pid = credentials?.pid;
        (wanted && pid != 0 && peer.is_watched()).then(|| {
            Box::new(Direct {
                peer: peer.clone(),
                pid,
                theirs: limits.theirs,
                from,
                is_proved: false,
            })
        })
    }

    /// As [`fetch`].
    ///
    /// # Safety
    /// As for [`fetch`].
    unsafe fn read(&mut self, address: u64, into: NonNull<u8>, len: usize) -> bool {
        if !self.is_proved {
            let mut found = [0; 16];
            let place = NonNull::from(&mut found).cast();
            // SAFETY: the array has so many bytes.
            if !unsafe { self.copy(self.theirs.address, place, found.len()) } {
                return false;
            }
            if found != self.theirs.proof {
                tracing::debug!(
                    "process {} is not the peer: its memory is not read",
                    self.pid
                );
                return false;
            }
            self.is_proved = true;
        }
        // SAFETY: as promised to this function.
        unsafe { self.copy(address, into, len) }
    }

    unsafe fn copy(&self, address: u64, into: NonNull<u8>, len: usize) -> bool {
        let Ok(address) = usize::try_from(address) else {
            return false;
        };
        // SAFETY: as promised to the caller.
        let why = match unsafe { read_memory(self.pid, address, into.as_ptr(), len) } {
            // A number is not given to another process before its first owner's end can be seen,
            // and a sender that closes the link does so before its program has the memory back.
            Ok(got) if got == len && !self.peer.gone() => return true,
            Ok(_) => "it is not all there".to_string(),
            Err(error) => error.to_string(),
        };
        tracing::debug!("the memory of process {} is not read: {why}", self.pid);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Settings;
    use crate::Transport;
    use mgn_sys::peer::credentials;
    use std::os::unix::net::UnixStream;

    fn direct(change: impl Fn(&mut Credentials, &mut Limits)) -> Option<Box<Direct>> {
        let settings = Settings {
            single_copy_shm: 4096,
            ..Settings::default()
        };
        let terms = Terms::new(&settings, &Transport::Shm);
        let mut limits = Limits::new(&settings, &Transport::Shm, terms, terms);
        let (socket, other) = UnixStream::pair().unwrap();
        // The peer stays.
        std::mem::forget(other);
        let mut who = credentials(&socket).unwrap();
        change(&mut who, &mut limits);
        let peer = Arc::new(Peer::unix(socket.into(), "test".into(), true));
        Direct::new(&peer, Some(who), &limits)
    }

    fn read(direct: &mut Direct, from: &[u8]) -> Option<Vec<u8>> {
        let mut into = vec![0; from.len()];
        let place = NonNull::from(&mut into[..]).cast();
        // SAFETY: the vector has so many bytes.
        let is_read = unsafe { direct.read(from.as_ptr() as u64, place, from.len()) };
        is_read.then_some(into)
    }

    #[test]
    fn only_the_peer_is_read() {
        let mut fine = direct(|_, _| {}).unwrap();
        assert_eq!(read(&mut fine, b"some bytes").unwrap(), b"some bytes");
        let mut other = direct(|_, limits| limits.theirs.proof[3] ^= 1).unwrap();
        assert_eq!(read(&mut other, b"some bytes"), None);
        let mut nowhere = direct(|_, limits| limits.theirs.address = 16).unwrap();
        assert_eq!(read(&mut nowhere, b"some bytes"), None);
    }

    #[test]
    fn one_of_two_processes_follows_the_other_one() {
        let follows = |first, fetches| {
            follows(&direct(|_, limits| {
                limits.theirs.proof[0] = first;
                limits.theirs.fetches = fetches;
            }))
        };
        let ours = proof()[0];
        assert!(ours == 255 || follows(255, AUTO as u64));
        assert!(ours == 0 || !follows(0, AUTO as u64));
        assert!(!follows(255, NEVER as u64) && !follows(255, 65536));
        assert!(!super::follows(&direct(|_, _| {})), "it is this process");
    }

    #[test]
    fn nothing_is_read_of_whom_we_cannot_see() {
        assert!(direct(|who, _| who.pid = 0).is_none(), "another namespace");
        assert!(direct(|_, limits| limits.theirs.address = 0).is_none());
        assert!(direct(|_, limits| limits.ours.fetches = u64::MAX).is_none());
    }
}
