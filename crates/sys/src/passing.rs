//! Sends and receives bytes together with open descriptors over a unix stream socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// The largest number of descriptors that one call sends or receives.
pub const DESCRIPTORS_MAX: usize = 8;

/// Sends `bytes` and, with the first byte, `fds`. Returns the number of bytes sent, which is at
/// least one. All descriptors have then been sent. If the socket is full, the call blocks, provided
/// that the socket is blocking and `wait` is set. Otherwise, it fails with
/// [`io::ErrorKind::WouldBlock`].
pub fn send(
    socket: impl AsFd,
    bytes: &[u8],
    fds: &[BorrowedFd<'_>],
    wait: bool,
) -> io::Result<usize> {
    if bytes.is_empty() || fds.len() > DESCRIPTORS_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        let fits = control.push(SendAncillaryMessage::ScmRights(fds));
        debug_assert!(fits);
    }
    let mut flags = SendFlags::NOSIGNAL;
    flags.set(SendFlags::DONTWAIT, !wait);
    loop {
        match rustix::net::sendmsg(&socket, &[IoSlice::new(bytes)], &mut control, flags) {
            Err(rustix::io::Errno::INTR) => continue,
            other => return Ok(other?),
        }
    }
}

/// The number of bytes that the other end of a unix socket has not received yet, including the
/// kernel's overhead.
pub fn unread(socket: impl AsFd) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open, and one number is written.
    let done = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    match done {
        0 => Ok(bytes.max(0) as usize),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Receives up to `into.len()` bytes, and appends the descriptors that arrive with them to `fds`.
/// These are closed on exec. 0 means that the other end has closed. `wait` is as for [`send`]. More
/// descriptors than [`DESCRIPTORS_MAX`] at once are an error, and all of them are closed.
pub fn recv(
    socket: impl AsFd,
    into: &mut [u8],
    fds: &mut Vec<OwnedFd>,
    wait: bool,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut flags = RecvFlags::CMSG_CLOEXEC;
    flags.set(RecvFlags::DONTWAIT, !wait);
    loop {
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(into)];
        let got = match rustix::net::recvmsg(&socket, &mut parts, &mut control, flags) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let before = fds.len();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                fds.extend(received);
            }
        }
        if got.flags.contains(ReturnFlags::CTRUNC) {
            fds.truncate(before);
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "too many descriptors",
            ));
        }
        return Ok(got.bytes);
    }
}

/// A copy of a descriptor that the parent of this process left open, and whose number the parent
/// passed.
pub fn inherited(fd: i32) -> io::Result<OwnedFd> {
    // SAFETY: the call touches no memory, and a number that is no open descriptor is refused.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_descriptor_arrives_and_works() {
        let (left, right) = UnixStream::pair().unwrap();
        let (mut near, far) = UnixStream::pair().unwrap();
        assert_eq!(send(&left, b"hello", &[far.as_fd()], true).unwrap(), 5);
        drop(far);
        let (mut bytes, mut fds) = ([0; 16], Vec::new());
        assert_eq!(recv(&right, &mut bytes, &mut fds, true).unwrap(), 5);
        assert_eq!(&bytes[..5], b"hello");
        let mut far = UnixStream::from(fds.pop().unwrap());
        near.write_all(b"x").unwrap();
        let mut one = [0];
        far.read_exact(&mut one).unwrap();
        assert_eq!(&one, b"x");
    }

    #[test]
    fn nothing_there_would_block_and_closed_is_zero() {
        let (left, right) = UnixStream::pair().unwrap();
        let (mut bytes, mut fds) = ([0; 16], Vec::new());
        let error = recv(&right, &mut bytes, &mut fds, false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        drop(left);
        assert_eq!(recv(&right, &mut bytes, &mut fds, true).unwrap(), 0);
        assert!(send(&right, b"x", &[], true).is_err());
    }
}
