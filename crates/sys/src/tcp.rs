//! The kernel's information about the other end of a TCP connection.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// The progress of data to the peer's machine, and its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Time since the last acknowledgement from the peer's machine, including one that only reports
    /// a full window.
    pub last_answer: Duration,
    /// Time since data were last sent, or sent again.
    pub last_sent: Duration,
    /// Segments sent and not acknowledged.
    pub unacknowledged: u32,
    /// Bytes that wait to be sent for the first time.
    pub unsent: u32,
    /// Unanswered probes (keepalive, or for a closed window).
    pub probes: u32,
}

impl Progress {
    /// Whether the peer's machine has acknowledged all data, and no more data wait to be sent.
    pub fn is_done(&self) -> bool {
        self.unacknowledged == 0 && self.unsent == 0 && self.probes == 0
    }

    /// Whether the last data sent are still unanswered. A machine also answers if its program does
    /// not read.
    pub fn unanswered(&self) -> bool {
        (self.unacknowledged > 0 && self.last_sent < self.last_answer) || self.probes > 0
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
        last_sent: Duration::from_millis(info.tcpi_last_data_sent.into()),
        unacknowledged: info.tcpi_unacked,
        unsent: info.tcpi_notsent_bytes,
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
        assert!(!now.unanswered(), "{now:?}");
        assert!(progress(std::fs::File::open("/dev/null").unwrap()).is_err());
    }

    #[test]
    fn an_answer_after_the_last_byte_is_one() {
        let second = Duration::from_secs(1);
        let idle = Progress {
            last_answer: 60 * second,
            last_sent: 61 * second,
            unacknowledged: 0,
            unsent: 0,
            probes: 0,
        };
        assert!(!idle.unanswered() && idle.is_done());
        assert!(Progress { probes: 1, ..idle }.unanswered());
        // The peer has reported a full window, and will be probed again.
        let full = Progress {
            unacknowledged: 3,
            ..idle
        };
        assert!(!full.unanswered());
        assert!(Progress {
            last_sent: second,
            ..full
        }
        .unanswered());
    }
}
