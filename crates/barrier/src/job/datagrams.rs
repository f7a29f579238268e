//! The socket of a barrier over datagrams.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use mgn_sys::cpu;
use mgn_sys::interfaces::{interfaces, Interface};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use socket2::{Domain, Protocol, Socket, Type};

use super::{Joined, OpenError};
use crate::{Id, View};

/// Expedited forwarding (RFC 3246), so that routers and switches send these packets before others.
const EXPEDITED: u32 = 0xB8;

/// The highest priority that a process without rights may give packets in this machine's own
/// queues.
const PRIORITY: u32 = 6;

/// How long a member looks for packets again and again before it sleeps: alone on its processor,
/// and how long it lets others run in between if there are more members than processors.
const SPIN: Duration = Duration::from_micros(50);
const YIELD: Duration = Duration::from_micros(500);

/// Longer packets are cut off, and then refused. No member sends longer ones.
const PACKET_MAX: usize = 2048;

#[derive(Debug)]
pub(super) struct Datagrams {
    socket: UdpSocket,
    addresses: BTreeMap<Id, SocketAddr>,
    is_crowded: bool,
}

impl Datagrams {
    /// A socket at an address of the named interface, of the job's first one, or of this host alone
    /// if the job is on one host.
    pub fn bind(
        job: &dyn Joined,
        interface: Option<&str>,
        members: usize,
    ) -> Result<Datagrams, OpenError> {
        let address = match interface {
            Some(name) => address_of(name)?,
            None => {
                let first = job.interfaces().first();
                first.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |first| first.address)
            }
        };
        let bound = bind(SocketAddr::new(address, 0));
        Ok(Datagrams {
            socket: bound.map_err(|source| OpenError::System {
                what: format!("no socket for datagrams at {address}"),
                source,
            })?,
            addresses: BTreeMap::new(),
            is_crowded: members > cpu::cores(),
        })
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub fn set_addresses(&mut self, view: &View, addresses: Vec<SocketAddr>) {
        let members = view.members().iter().copied();
        self.addresses = members.zip(addresses).collect();
    }

    /// Whether the packet can have left: one that cannot is lost as any other can be.
    pub fn send(&self, to: Id, packet: &[u8]) {
        if let Some(address) = self.addresses.get(&to) {
            let _ = self.socket.send_to(packet, address);
        }
    }

    /// Waits for a packet, at most this long.
    pub fn receive(&self, most: Duration) -> Option<Vec<u8>> {
        let mut packet = [0; PACKET_MAX];
        let (mut start, mut spent) = (None, Duration::ZERO);
        loop {
            match self.socket.recv_from(&mut packet) {
                Ok((len, _)) => return Some(packet[..len].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Another host has reported that no process listens there.
                Err(_) => {}
            }
            if spent >= most {
                return None;
            }
            let awake = if self.is_crowded { YIELD } else { SPIN };
            if spent < awake {
                if self.is_crowded {
                    std::thread::yield_now();
                }
            } else {
                let left = (most - spent).try_into().unwrap_or(Timespec {
                    tv_sec: 1,
                    tv_nsec: 0,
                });
                let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
                let _ = poll(&mut fds, Some(&left));
            }
            spent = start.get_or_insert_with(Instant::now).elapsed();
        }
    }
}

fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    socket.bind(&address.into())?;
    socket.set_nonblocking(true)?;
    // Where the system allows neither, packets go as all others do.
    let _ = match address {
        SocketAddr::V4(_) => socket.set_tos_v4(EXPEDITED),
        SocketAddr::V6(_) => socket.set_tclass_v6(EXPEDITED),
    };
    let _ = socket.set_priority(PRIORITY);
    Ok(socket.into())
}

fn address_of(name: &str) -> Result<IpAddr, OpenError> {
    let all = interfaces().map_err(|source| OpenError::System {
        what: "cannot list the network interfaces".to_owned(),
        source,
    })?;
    let named = |interface: &&Interface| interface.name == name;
    match all.iter().find(named) {
        Some(interface) => Ok(interface.address),
        None => {
            let mut there: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
            there.sort_unstable();
            there.dedup();
            Err(OpenError::Interface {
                name: name.to_owned(),
                there: there.join(", "),
            })
        }
    }
}
