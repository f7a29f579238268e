//! A relay that holds back what it passes on: a network that is farther away than loopback.

use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

/// What is read at once.
const PIECE: usize = 256 << 10;
/// Pieces under way: more than `PIECE` times this in `delay` is held back longer.
const UNDER_WAY: usize = 256;

/// Passes connections to `port` on to `to`, each byte `delay` later in either direction, until the
/// process ends.
pub fn start(port: u16, to: SocketAddr, delay: Duration) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))
        .with_context(|| format!("cannot listen on port {port}"))?;
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            if let Ok(far) = TcpStream::connect(to) {
                // A connection that cannot be passed on is closed, which its two ends notice.
                let _ = pass(&near, &far, delay).and_then(|()| pass(&far, &near, delay));
            }
        }
    });
    Ok(())
}

fn pass(from: &TcpStream, to: &TcpStream, delay: Duration) -> std::io::Result<()> {
    to.set_nodelay(true)?;
    let (from, to) = (from.try_clone()?, to.try_clone()?);
    let (sender, receiver) = sync_channel(UNDER_WAY);
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
    // The other end closed, or is closed for.
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives_later_and_whole() {
        let echo = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = echo.local_addr().unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let delay = Duration::from_millis(20);
        start(port, address, delay).unwrap();
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
