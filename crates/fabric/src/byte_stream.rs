//! A socket, and the encryption of its bytes.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use mgn_sys::passing;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags};

use crate::seal::Seal;
use crate::wait::{ready, Deadline};

#[derive(Debug)]
pub(crate) struct ByteStream {
    socket: OwnedFd,
    /// The encryption. `None` for unencrypted bytes.
    pub(crate) seal: Option<Box<Seal>>,
    /// Set if data was sent that the peer's machine may not have acknowledged. A send sets this
    /// flag afterwards. A thread that clears the flag and then checks for unacknowledged data
    /// therefore misses nothing.
    pub(crate) is_awaiting: AtomicBool,
}

impl ByteStream {
    /// A line without encryption.
    pub(crate) fn clear(socket: OwnedFd) -> ByteStream {
        ByteStream::new(socket, None)
    }

    pub(crate) fn sealed(socket: OwnedFd, seal: Seal) -> ByteStream {
        ByteStream::new(socket, Some(Box::new(seal)))
    }

    fn new(socket: OwnedFd, seal: Option<Box<Seal>>) -> ByteStream {
        ByteStream {
            socket,
            seal,
            is_awaiting: AtomicBool::new(true),
        }
    }

    pub(crate) fn into_parts(self) -> (OwnedFd, Option<Box<Seal>>) {
        (self.socket, self.seal)
    }

    /// Sends without waiting. After [`Errno::AGAIN`], the next call must begin with the same bytes;
    /// see [`Seal::send`].
    pub(crate) fn send(&self, slices: &[IoSlice<'_>]) -> Result<usize, Errno> {
        let sent = self.send_some(slices);
        self.is_awaiting.store(true, Ordering::Relaxed);
        sent
    }

    fn send_some(&self, slices: &[IoSlice<'_>]) -> Result<usize, Errno> {
        if let Some(seal) = &self.seal {
            return seal.send(self.socket.as_fd(), slices);
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        loop {
            let sent = match slices {
                [only] => rustix::net::send(&self.socket, only, flags),
                _ => rustix::net::sendmsg(
                    &self.socket,
                    slices,
                    &mut SendAncillaryBuffer::default(),
                    flags,
                ),
            };
            match sent {
                Err(Errno::INTR) => {}
                other => return other,
            }
        }
    }

    /// Receives without waiting. Returns [`Errno::PIPE`] if the other end has closed the
    /// connection.
    pub(crate) fn recv(&self, slices: &mut [IoSliceMut<'_>]) -> Result<usize, Errno> {
        let flags = RecvFlags::DONTWAIT;
        let got = match (&self.seal, slices) {
            (Some(seal), slices) => seal.recv(self.socket.as_fd(), slices),
            (None, [only]) => {
                rustix::net::recv(&self.socket, &mut only[..], flags).map(|got| got.0)
            }
            (None, slices) => {
                let mut nothing = RecvAncillaryBuffer::default();
                rustix::net::recvmsg(&self.socket, slices, &mut nothing, flags).map(|got| got.bytes)
            }
        };
        match got {
            Ok(0) => Err(Errno::PIPE),
            Err(Errno::INTR) => Err(Errno::AGAIN),
            other => other,
        }
    }

    /// Receives without waiting, with descriptors, which can accompany only unencrypted bytes.
    /// Returns 0 if the other end has closed the connection.
    pub(crate) fn recv_with(&self, into: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<usize> {
        match &self.seal {
            None => passing::recv(&self.socket, into, fds, false),
            Some(seal) => Ok(seal.recv(self.socket.as_fd(), &mut [IoSliceMut::new(into)])?),
        }
    }

    /// Sends everything. On an unencrypted line, descriptors accompany the first byte. Fails with
    /// `TimedOut` if the deadline passes first.
    pub(crate) fn send_all(
        &self,
        mut bytes: &[u8],
        mut fds: &[BorrowedFd<'_>],
        deadline: &Deadline,
    ) -> io::Result<()> {
        while !bytes.is_empty() {
            let sent = match fds {
                [] => self.send(&[IoSlice::new(bytes)]).map_err(io::Error::from),
                _ => passing::send(&self.socket, bytes, fds, false),
            };
            match sent {
                Ok(sent) => {
                    bytes = &bytes[sent..];
                    fds = &[];
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !ready(self.as_fd(), PollFlags::OUT, deadline)? {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether this process holds data that was read from the socket and can be received. The
    /// socket signals no event for such data.
    pub(crate) fn has_unread(&self) -> bool {
        self.seal.as_ref().is_some_and(|seal| seal.has_unread())
    }
}

impl AsFd for ByteStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
