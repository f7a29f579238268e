//! A relay that delays bytes. It emulates a network with a longer round trip than loopback.

use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum number of bytes in one read.
const PIECE: usize = 256 << 10;
/// The maximum number of pieces in the queue. If more than `PIECE` times this number of bytes
/// arrive within `delay`, the surplus is delayed longer.
const PIECES_MAX: usize = 256;

/// Relays connections to `to`, with a delay in each direction, until the process ends. Returns the
/// port at which the relay listens.
pub fn start(to: SocketAddr, delay: Duration) -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("a relay cannot listen")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            if let Ok(far) = TcpStream::connect(to) {
                // If a connection cannot be passed on, it is closed, and both ends get an error.
                let _ = pass(&near, &far, delay).and_then(|()| pass(&far, &near, delay));
            }
        }
    });
    Ok(port)
}

fn pass(from: &TcpStream, to: &TcpStream, delay: Duration) -> std::io::Result<()> {
    to.set_nodelay(true)?;
    let (from, to) = (from.try_clone()?, to.try_clone()?);
    let (sender, receiver) = sync_channel(PIECES_MAX);
    thread::spawn(move || read(from, &sender, delay));
    thread::spawn(move || write(to, &receiver));
    Ok(())
}

fn read(mut from: TcpStream, sender: &SyncSender<(Instant, Vec<u8>)>, delay: Duration) {
    let mut piece = vec![0; PIECE];
    while let Ok(n @ 1..) = from.read(&mut piece) {
        if sender
            .send((Instant::now() + delay, piece[..n].to_vec()))
            .is_err()
        {
            break;
        }
    }
}

fn write(mut to: TcpStream, receiver: &Receiver<(Instant, Vec<u8>)>) {
    for (due, piece) in receiver {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if to.write_all(&piece).is_err() {
            break;
        }
    }
    // The other end has closed the connection, so this end is shut down too.
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_later_and_complete() {
        let echo = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = echo.local_addr().unwrap();
        let delay = Duration::from_millis(20);
        let port = start(address, delay).unwrap();
        let begun = Instant::now();
        let mut near = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut far, _) = echo.accept().unwrap();
        near.write_all(b"there").unwrap();
        let mut bytes = [0; 5];
        far.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"there");
        far.write_all(b" back").unwrap();
        near.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b" back");
        assert!(begun.elapsed() >= 2 * delay);
        drop(far);
        assert_eq!(near.read(&mut bytes).unwrap(), 0);
    }
}
