//! The sockets that a service manager such as systemd passes to its services, and the place where
//! they report that they are ready.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use rustix::io::FdFlags;

/// The first descriptor that is passed.
const FIRST: i32 = 3;

/// Takes the sockets that were passed to this process, with their names. A second call returns
/// none. Call this while the process has one thread, because it changes the environment.
///
/// # Errors
/// An error if an announced descriptor does not exist.
pub fn take_sockets() -> io::Result<Vec<(OwnedFd, String)>> {
    let read = |name: &str| std::env::var(name).ok();
    let pid = read("LISTEN_PID").and_then(|text| text.parse::<u32>().ok());
    let count = read("LISTEN_FDS").and_then(|text| text.parse::<i32>().ok());
    let names = read("LISTEN_FDNAMES").unwrap_or_default();
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] {
        std::env::remove_var(name);
    }
    if pid != Some(std::process::id()) {
        return Ok(Vec::new());
    }
    let mut names = names.split(':');
    let numbers = FIRST..FIRST.saturating_add(count.unwrap_or(0));
    let take = |number| {
        // SAFETY: the call reads the flags of a descriptor, and changes nothing.
        if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is open, and was passed to this process for it to own. No other
        // code takes it: the variables that announce it are gone.
        let socket = unsafe { OwnedFd::from_raw_fd(number) };
        rustix::io::fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
        Ok((socket, names.next().unwrap_or_default().to_owned()))
    };
    numbers.map(take).collect()
}

/// Reports the state of this process, for example `READY=1`, to the service manager. Returns false
/// if no service manager expects reports.
///
/// # Errors
/// An error if the report cannot be sent.
pub fn notify(state: &str) -> io::Result<bool> {
    let Some(place) = std::env::var_os("NOTIFY_SOCKET") else {
        return Ok(false);
    };
    let address = match place.to_str().and_then(|place| place.strip_prefix('@')) {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(&place)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(true)
}
