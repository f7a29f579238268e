//! What the kernel knows about a TCP connection's other end.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// How well the peer's machine answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Time since the peer's machine last acknowledged anything.
    pub last_answer: Duration,
    /// Segments sent and not acknowledged.
    pub unacknowledged: u32,
    /// Times in a row that the oldest of them has been sent again.
    pub retransmits: u32,
    /// Unanswered probes (keepalive, or of a closed window).
    pub probes: u32,
}

impl Progress {
    /// Whether something has been sent that the peer's machine has not answered, for at least
    /// `silence`. A machine whose program does not read still answers.
    pub fn unanswered(&self, silence: Duration) -> bool {
        let waiting = (self.unacknowledged > 0 && self.retransmits > 0) || self.probes > 0;
        waiting && self.last_answer >= silence
    }
}

pub fn progress(socket: impl AsFd) -> io::Result<Progress> {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: info and len describe memory that we own for the length of the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &mut len,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed at first, so every field is initialised even where an older kernel writes
    // fewer of them, and all of them are integers.
    let info = unsafe { info.assume_init() };
    Ok(Progress {
        last_answer: Duration::from_millis(info.tcpi_last_ack_recv.into()),
        unacknowledged: info.tcpi_unacked,
        retransmits: info.tcpi_retransmits.into(),
        probes: info.tcpi_probes.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_fresh_connection_is_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let now = progress(&stream).unwrap();
        assert!(!now.unanswered(Duration::from_secs(1)), "{now:?}");
        assert!(progress(std::fs::File::open("/dev/null").unwrap()).is_err());
    }

    #[test]
    fn silence_needs_something_unanswered() {
        let idle = Progress {
            last_answer: Duration::from_secs(60),
            unacknowledged: 0,
            retransmits: 0,
            probes: 0,
        };
        let silence = Duration::from_secs(10);
        assert!(!idle.unanswered(silence));
        assert!(Progress { probes: 1, ..idle }.unanswered(silence));
        assert!(
            !Progress {
                unacknowledged: 3,
                ..idle
            }
            .unanswered(silence),
            "not sent again yet"
        );
        let lost = Progress {
            unacknowledged: 3,
            retransmits: 2,
            ..idle
        };
        assert!(lost.unanswered(silence));
        assert!(!Progress {
            last_answer: Duration::from_secs(9),
            ..lost
        }
        .unanswered(silence));
    }
}
