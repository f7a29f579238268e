//! The process at the other end of a socket, and whether it still runs.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};

/// The process at the other end of a unix socket, as it was when the connection was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// 0 if the peer is in a pid namespace that this process cannot see.
    pub pid: u32,
    pub uid: u32,
}

/// Asks the kernel for the process at the other end of a unix socket.
pub fn credentials(socket: impl AsFd) -> io::Result<Credentials> {
    let mut found = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    option(&socket, libc::SO_PEERCRED, &mut found)?;
    Ok(Credentials {
        pid: found.pid.max(0) as u32,
        uid: found.uid,
    })
}

pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// A descriptor that becomes readable when the peer process of a unix socket ends, even if others
/// hold copies of the socket (as a forked child does). None if the kernel does not support that.
pub fn pidfd(socket: impl AsFd) -> Option<OwnedFd> {
    const SO_PEERPIDFD: libc::c_int = 77;
    let mut fd: libc::c_int = -1;
    if option(&socket, SO_PEERPIDFD, &mut fd).is_ok() && fd >= 0 {
        // SAFETY: the kernel has just made this descriptor for us and no other code knows it.
        return Some(unsafe { OwnedFd::from_raw_fd(fd) });
    }
    pidfd_of(credentials(&socket).ok()?.pid).ok()?
}

/// A descriptor that becomes readable when the process `pid` ends. `None` if there is no such
/// process.
///
/// # Errors
/// The kernel's error, for example that this process has no descriptors left.
pub fn pidfd_of(pid: u32) -> io::Result<Option<OwnedFd>> {
    let number = i32::try_from(pid).ok();
    let Some(pid) = number.and_then(rustix::process::Pid::from_raw) else {
        return Ok(None);
    };
    match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        Ok(fd) => Ok(Some(fd)),
        Err(rustix::io::Errno::SRCH) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether the other end of a connected socket has closed it. This neither waits nor reads.
pub fn hung_up(socket: impl AsFd) -> bool {
    any_ready(&mut [PollFd::new(&socket, PollFlags::RDHUP)])
}

/// Whether the process behind a pidfd has ended.
pub fn ended(pidfd: impl AsFd) -> bool {
    any_ready(&mut [PollFd::new(&pidfd, PollFlags::IN)])
}

/// Whether the other end has closed the socket or the process has ended. This makes a single system
/// call.
pub fn hung_up_or_ended(socket: impl AsFd, pidfd: impl AsFd) -> bool {
    any_ready(&mut [
        PollFd::new(&socket, PollFlags::RDHUP),
        PollFd::new(&pidfd, PollFlags::IN),
    ])
}

/// Whether one of the descriptors has a requested event or an error.
fn any_ready(fds: &mut [PollFd<'_>]) -> bool {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    matches!(rustix::event::poll(fds, Some(&now)), Ok(1..))
}

fn option<T>(socket: impl AsFd, name: libc::c_int, value: &mut T) -> io::Result<()> {
    let mut len = size_of::<T>() as libc::socklen_t;
    // SAFETY: value and len describe memory that we own for the length of the call, and both types
    // used with this function are plain integers, valid whatever the kernel writes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            name,
            (value as *mut T).cast(),
            &mut len,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_pair_is_oneself() {
        let (left, right) = UnixStream::pair().unwrap();
        let who = credentials(&left).unwrap();
        assert_eq!(
            who,
            Credentials {
                pid: std::process::id(),
                uid: own_uid()
            }
        );
        let pidfd = pidfd(&left).unwrap();
        assert!(!ended(&pidfd));
        assert!(!hung_up(&left));
        drop(right);
        assert!(hung_up(&left));
    }
}
