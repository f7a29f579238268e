//! Raw barriers, without anything that a real barrier needs besides: they show the limits of the
//! machine.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use mgn_sys::cpu::cores;
use socket2::SockRef;

use super::page::Page;

/// How long a process waits for the others' sockets, and for a datagram.
const PEER_TIMEOUT: Duration = Duration::from_secs(30);
const DATAGRAM_TIMEOUT: Duration = Duration::from_secs(5);

const LOST: &str = "a datagram was lost";

/// The service class and the priority that `mgn-barrier` gives its datagrams. With the same values,
/// these datagrams use the same queue of a congested link.
const EXPEDITED: u32 = 0xB8;
const PRIORITY: u32 = 6;

pub fn flags(mine: &AtomicU64, other: &AtomicU64, epoch: u64) {
    mine.store(epoch, Ordering::Release);
    while other.load(Ordering::Acquire) < epoch {
        std::hint::spin_loop();
    }
}

pub fn counter(arrived: &AtomicU64, passed: &AtomicU64, count: u64, epoch: u64) {
    if arrived.fetch_add(1, Ordering::AcqRel) + 1 == count * epoch {
        passed.store(epoch, Ordering::Release);
    }
    while passed.load(Ordering::Acquire) < epoch {
        std::thread::yield_now();
    }
}

/// Sockets without a protocol: each process sends a datagram to the first process, which then sends
/// one to each of the others.
#[derive(Debug)]
pub struct Datagrams {
    socket: UdpSocket,
    rank: usize,
    addresses: Vec<SocketAddr>,
    is_polled: bool,
}

impl Datagrams {
    /// Makes a socket, and waits until the other processes have theirs.
    pub fn meet(page: &Page, rank: usize, hosts: &[IpAddr]) -> Result<Datagrams> {
        let address = hosts[rank];
        let socket = UdpSocket::bind((address, 0));
        let socket = socket.with_context(|| format!("no socket at {address}"))?;
        socket.set_read_timeout(Some(DATAGRAM_TIMEOUT))?;
        let options = SockRef::from(&socket);
        if address.is_ipv4() {
            options.set_tos_v4(EXPEDITED)?;
        }
        options.set_priority(PRIORITY)?;
        let own = u64::from(socket.local_addr()?.port());
        page.port(rank).store(own, Ordering::Release);
        let since = Instant::now();
        let mut addresses = Vec::new();
        for (other, host) in hosts.iter().enumerate() {
            let port = loop {
                match page.port(other).load(Ordering::Acquire) {
                    0 if since.elapsed() > PEER_TIMEOUT => bail!("process {other} has no socket"),
                    0 => std::thread::sleep(Duration::from_millis(1)),
                    port => break port as u16,
                }
            };
            addresses.push(SocketAddr::new(*host, port));
        }
        Ok(Datagrams {
            socket,
            rank,
            addresses,
            is_polled: false,
        })
    }

    /// From now on, the process polls instead of sleeping while it waits. It yields if there are
    /// more processes than processors.
    pub fn poll(&mut self) -> Result<()> {
        self.is_polled = true;
        self.socket.set_nonblocking(true)?;
        Ok(())
    }

    pub fn pass(&self, epoch: u64) -> Result<()> {
        let packet = epoch.to_le_bytes();
        if self.rank == 0 {
            for _ in 1..self.addresses.len() {
                self.receive()?;
            }
            for other in &self.addresses[1..] {
                self.socket.send_to(&packet, other)?;
            }
            Ok(())
        } else {
            self.socket.send_to(&packet, self.addresses[0])?;
            self.receive()
        }
    }

    fn receive(&self) -> Result<()> {
        let mut packet = [0; 8];
        let is_crowded = self.addresses.len() > cores();
        let mut since = None;
        loop {
            match self.socket.recv(&mut packet) {
                Ok(_) => return Ok(()),
                Err(error) if self.is_polled && error.kind() == ErrorKind::WouldBlock => {
                    let since: &Instant = since.get_or_insert_with(Instant::now);
                    if since.elapsed() > DATAGRAM_TIMEOUT {
                        return Err(error).context(LOST);
                    }
                }
                Err(error) => return Err(error).context(LOST),
            }
            if is_crowded {
                std::thread::yield_now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `pass` for each epoch in `count` threads. Checks that all threads have arrived before
    /// one passes.
    fn check(count: usize, pass: impl Fn(usize, u64) + Sync) {
        let arrivals = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for rank in 0..count {
                let (arrivals, pass) = (&arrivals, &pass);
                scope.spawn(move || {
                    for epoch in 1..=100 {
                        arrivals.fetch_add(1, Ordering::Relaxed);
                        pass(rank, epoch);
                        let all = arrivals.load(Ordering::Relaxed);
                        assert!(all >= epoch * count as u64);
                    }
                });
            }
        });
    }

    #[test]
    fn raw_barriers_are_barriers() {
        let page = Page::create().unwrap();
        check(2, |rank, epoch| {
            flags(page.flag(rank), page.flag(1 - rank), epoch);
        });
        check(5, |_, epoch| {
            counter(page.arrived(), page.passed(), 5, epoch);
        });
        let hosts = [IpAddr::from([127, 0, 0, 1]); 4];
        let mut all: Vec<Datagrams> = std::thread::scope(|scope| {
            let meet = |rank| {
                let (page, hosts) = (&page, &hosts);
                scope.spawn(move || Datagrams::meet(page, rank, hosts).unwrap())
            };
            let all: Vec<_> = (0..4).map(meet).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        check(4, |rank, epoch| all[rank].pass(epoch).unwrap());
        all.iter_mut().for_each(|one| one.poll().unwrap());
        check(4, |rank, epoch| all[rank].pass(epoch).unwrap());
    }
}
