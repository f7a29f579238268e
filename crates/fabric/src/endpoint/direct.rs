//! Single copy: reading a message directly from its sender's memory, if the kernel permits it.
//!
//! This takes one copy instead of two, and no work of the sender. Containers and hardened systems
//! may forbid it, and the peer may be in another PID namespace. The first failure disables direct
//! reading for the rest of the link's life. Messages are then sent in the ordinary way.

use std::ptr::NonNull;
use std::sync::Arc;

use mgn_sys::peer::Credentials;
use mgn_sys::process::read_memory;

use super::settings::{AUTO, NEVER};
use super::terms::{proof, Limits, Terms};
use crate::peer::Peer;

/// A peer whose memory we may read.
pub(crate) struct Direct {
    peer: Arc<Peer>,
    pid: u32,
    theirs: Terms,
    /// The length of the shortest message to read.
    from: usize,
    is_proved: bool,
}

/// The length from which messages are read directly; [`NEVER`] if that is not possible.
pub(crate) fn from(way: &Option<Box<Direct>>) -> usize {
    way.as_ref().map_or(NEVER, |direct| direct.from)
}

/// Whether the peer decides for both ends. If both ends measure, one of them decides; the choice is
/// random. Two ends in the same process each decide for themselves.
pub(crate) fn follows(way: &Option<Box<Direct>>) -> bool {
    way.as_ref().is_some_and(|direct| {
        let theirs = &direct.theirs;
        theirs.fetches == AUTO as u64 && theirs.proof > *proof()
    })
}

/// Reads `len` bytes from `address` in the peer's memory. If that fails, returns false and sets
/// `way` to `None`.
///
/// # Safety
/// `into` is valid for `len` bytes, which are not otherwise used during the call.
pub(crate) unsafe fn fetch(
    way: &mut Option<Box<Direct>>,
    address: u64,
    into: NonNull<u8>,
    len: usize,
) -> bool {
    let Some(direct) = way else {
        return false;
    };
    // SAFETY: the caller has promised this.
    let is_read = unsafe { direct.read(address, into, len) };
    if !is_read {
        *way = None;
    }
    is_read
}

impl Direct {
    /// Returns `None` if direct reading is off, if the peer's process is not visible to us, or if
    /// we would not notice its end.
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

    /// Reads in the same way as [`fetch`], and checks the peer's proof first.
    ///
    /// # Safety
    /// As for [`fetch`].
    unsafe fn read(&mut self, address: u64, into: NonNull<u8>, len: usize) -> bool {
        if !self.is_proved {
            let mut found = [0; 16];
            let place = NonNull::from(&mut found).cast();
            // SAFETY: the array has `found.len()` bytes.
            if !unsafe { self.copy(self.theirs.address, place, found.len()) } {
                return false;
            }
            if found != self.theirs.proof {
                tracing::debug!(
                    "process {} is not the peer, so its memory is not read",
                    self.pid
                );
                return false;
            }
            self.is_proved = true;
        }
        // SAFETY: the caller has promised this.
        unsafe { self.copy(address, into, len) }
    }

    unsafe fn copy(&self, address: u64, into: NonNull<u8>, len: usize) -> bool {
        let Ok(address) = usize::try_from(address) else {
            return false;
        };
        // SAFETY: the caller has promised this.
        let why = match unsafe { read_memory(self.pid, address, into.as_ptr(), len) } {
            // The kernel does not reuse a process ID before the end of its first owner is visible.
            // A sender that closes the link ends its connection before its program may use the
            // memory again. So if the peer is not gone after the read, the bytes are valid.
            Ok(got) if got == len && !self.peer.gone() => return true,
            Ok(_) => "only a part of the bytes is mapped, or the peer is gone".to_string(),
            Err(error) => error.to_string(),
        };
        tracing::debug!("cannot read the memory of process {}: {why}", self.pid);
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
        // The peer must stay open.
        std::mem::forget(other);
        let mut who = credentials(&socket).unwrap();
        change(&mut who, &mut limits);
        let peer = Arc::new(Peer::unix(socket.into(), "test".into(), true));
        Direct::new(&peer, Some(who), &limits)
    }

    fn read(direct: &mut Direct, from: &[u8]) -> Option<Vec<u8>> {
        let mut into = vec![0; from.len()];
        let place = NonNull::from(&mut into[..]).cast();
        // SAFETY: the vector has `from.len()` bytes.
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
