//! The sockets of a member of a barrier over datagrams: one for packets to and from this member,
//! and one for packets that the first member multicasts to all others.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::time::{Duration, Instant};

use mgn_sys::cpu;
use mgn_sys::interfaces::{interfaces, Interface};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::net::netdevice::name_to_index;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::{Joined, OpenError};
use crate::{Id, View};

/// Expedited forwarding (RFC 3246), so that routers and switches send these packets before others.
const EXPEDITED: u32 = 0xB8;

/// The highest priority in this machine's own queues that a process without special rights may give
/// to packets.
const PRIORITY: u32 = 6;

/// The time for which a member polls for packets before it sleeps. If there are more members than
/// processors, it polls for `YIELD` in place of `SPIN`, and yields between polls.
const SPIN: Duration = Duration::from_micros(50);
const YIELD: Duration = Duration::from_micros(500);

/// The smallest group that uses multicast. With a single other member, multicast is no better than
/// an ordinary packet.
const MULTICAST_MEMBERS_MIN: usize = 3;

/// After this number of multicast packets in a row, a member looks for packets to itself, so that a
/// flood of packets to the multicast address cannot keep it from them.
const HEARD_MAX: u32 = 8;

/// The maximum length of a packet. Longer packets are cut off, and then refused. No member sends
/// longer packets.
const PACKET_MAX: usize = 2048;

#[derive(Debug)]
pub(super) struct Datagrams {
    socket: UdpSocket,
    addresses: BTreeMap<Id, SocketAddr>,
    /// The multicast address of all members, if there is one.
    group: Option<SocketAddr>,
    /// Receives the packets to the multicast address. The first member, which sends these packets,
    /// has no such socket.
    heard: Option<UdpSocket>,
    /// The number of packets in a row that were taken from `heard`.
    heard_in_a_row: Cell<u32>,
    is_crowded: bool,
}

impl Datagrams {
    /// Makes a socket at an address of the named interface. Without one, it is an address of the
    /// job's first interface, or, if there is none, 127.0.0.1, which only this host can reach.
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
            group: None,
            heard: None,
            heard_in_a_row: Cell::default(),
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

    /// Chooses a multicast address for all members, and sends to it from now on. Returns `None` if
    /// multicast has no advantage, or is not possible. Packets to the address do not leave the
    /// local network (a TTL of 1 is the system's default) and are authenticated, so two groups may
    /// choose the same address without harm.
    pub fn choose_group(&mut self, members: usize) -> Option<SocketAddr> {
        if members < MULTICAST_MEMBERS_MIN {
            return None;
        }
        let own = self.address().ok()?;
        let mut random = [0; 4];
        getrandom::fill(&mut random).ok()?;
        let [a, b, c, d] = random;
        let address = match own.ip() {
            // The local scope (RFC 2365), without its last 256 addresses, which have fixed uses.
            IpAddr::V4(_) => Ipv4Addr::new(239, 255, a % 255, b).into(),
            // A transient address with link-local scope (RFC 4291). Hosts may choose group numbers
            // in this range (RFC 3307).
            IpAddr::V6(_) => {
                let (high, low) = (
                    u16::from_be_bytes([a | 0x80, b]),
                    u16::from_be_bytes([c, d]),
                );
                Ipv6Addr::new(0xff12, 0, 0, 0, 0, 0, high, low).into()
            }
        };
        self.join(SocketAddr::new(address, own.port()), false);
        self.group
    }

    /// Sends packets for all members to this address. If `listens` is set, also receives packets to
    /// this address. A member that multicast does not reach gets separate packets; see
    /// [`crate::Udp`].
    pub fn join(&mut self, group: SocketAddr, listens: bool) {
        let joined = self.try_join(group, listens);
        (self.group, self.heard) = joined.map_or((None, None), |heard| (Some(group), heard));
    }

    fn try_join(&self, group: SocketAddr, listens: bool) -> io::Result<Option<UdpSocket>> {
        let socket = SockRef::from(&self.socket);
        let own = self.address()?;
        let at = match (own, group) {
            (SocketAddr::V4(own), SocketAddr::V4(_)) => {
                socket.set_multicast_if_v4(own.ip())?;
                group
            }
            (SocketAddr::V6(_), SocketAddr::V6(group)) => {
                let index = self.interface_index(own.ip())?;
                socket.set_multicast_if_v6(index)?;
                SocketAddrV6::new(*group.ip(), group.port(), 0, index).into()
            }
            _ => return Err(io::ErrorKind::AddrNotAvailable.into()),
        };
        if !listens {
            return Ok(None);
        }
        let heard = Socket::new(Domain::for_address(at), Type::DGRAM, Some(Protocol::UDP))?;
        // Members on the same host use the same address and port.
        heard.set_reuse_address(true)?;
        // A socket that is bound to the group's address receives only packets to this address.
        heard.bind(&at.into())?;
        match (at, own) {
            (SocketAddr::V4(at), SocketAddr::V4(own)) => {
                heard.join_multicast_v4(at.ip(), own.ip())?;
            }
            (SocketAddr::V6(at), _) => heard.join_multicast_v6(at.ip(), at.scope_id())?,
            _ => {}
        }
        heard.set_nonblocking(true)?;
        Ok(Some(heard.into()))
    }

    /// The index of the interface that has this address.
    fn interface_index(&self, address: IpAddr) -> io::Result<u32> {
        let all = interfaces()?;
        let own = all.iter().find(|interface| interface.address == address);
        let own = own.ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(name_to_index(&self.socket, &own.name)?)
    }

    /// Ends this member's use of multicast.
    pub fn leave(&mut self) {
        (self.group, self.heard) = (None, None);
    }

    /// Adapts the sockets to a new view.
    pub fn change(&mut self, view: &View, me: Id) {
        if view.len() < MULTICAST_MEMBERS_MIN {
            self.leave();
        } else if view.place(me) == Some(0) {
            // This member is now first, and would receive its own packets.
            self.heard = None;
        }
    }

    /// Sends a packet to a member. A packet that cannot be sent is lost, like any datagram.
    pub fn send(&self, to: Id, packet: &[u8]) {
        if let Some(address) = self.addresses.get(&to) {
            let _ = self.socket.send_to(packet, address);
        }
    }

    /// Sends a packet to all members of a view except this member, by multicast if possible.
    pub fn send_to_all(&mut self, view: &View, me: Id, packet: &[u8]) {
        let is_small = view.len() < MULTICAST_MEMBERS_MIN;
        let group = self.group.filter(|_| !is_small);
        match group.map(|group| self.socket.send_to(packet, group)) {
            Some(Ok(_)) => {}
            Some(Err(error)) if error.kind() != io::ErrorKind::WouldBlock => {
                // This happens, for example, if there is no route.
                self.group = None;
                self.send_to_each(view, me, packet);
            }
            _ => self.send_to_each(view, me, packet),
        }
    }

    fn send_to_each(&self, view: &View, me: Id, packet: &[u8]) {
        for to in view.members().iter().filter(|to| **to != me) {
            self.send(*to, packet);
        }
    }

    fn take(&self, packet: &mut [u8]) -> Option<usize> {
        // An error means that no packet has come, or that another host has reported that no process
        // listens there.
        let take = |socket: &UdpSocket, packet: &mut [u8]| Some(socket.recv_from(packet).ok()?.0);
        let in_a_row = self.heard_in_a_row.take();
        if let Some(heard) = self.heard.as_ref().filter(|_| in_a_row < HEARD_MAX) {
            if let Some(len) = take(heard, packet) {
                self.heard_in_a_row.set(in_a_row + 1);
                return Some(len);
            }
        }
        take(&self.socket, packet)
    }

    /// Waits for a packet for up to `most`.
    pub fn receive(&self, most: Duration) -> Option<Vec<u8>> {
        let mut packet = [0; PACKET_MAX];
        let (mut start, mut spent) = (None, Duration::ZERO);
        loop {
            if let Some(len) = self.take(&mut packet) {
                return Some(packet[..len].to_vec());
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
                let sockets = [self.heard.as_ref().unwrap_or(&self.socket), &self.socket];
                let mut fds = sockets.map(|socket| PollFd::new(socket, PollFlags::IN));
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
    // If the system permits neither option, the packets have the usual priority.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn member(address: IpAddr) -> Datagrams {
        Datagrams {
            socket: bind(SocketAddr::new(address, 0)).unwrap(),
            addresses: BTreeMap::new(),
            group: None,
            heard: None,
            heard_in_a_row: Cell::default(),
            is_crowded: true,
        }
    }

    #[test]
    fn packets_have_priority() {
        for host in [
            IpAddr::from(Ipv4Addr::LOCALHOST),
            Ipv6Addr::LOCALHOST.into(),
        ] {
            let one = member(host);
            let socket = SockRef::from(&one.socket);
            let class = match host {
                IpAddr::V4(_) => socket.tos_v4(),
                IpAddr::V6(_) => socket.tclass_v6(),
            };
            assert_eq!(class.unwrap(), EXPEDITED, "{host}");
            assert_eq!(socket.priority().unwrap(), PRIORITY, "{host}");
        }
    }

    /// Sends to all members, and to one member, from the first of three members on the same host.
    /// These use the same multicast address.
    fn multicast(host: IpAddr) -> [Datagrams; 3] {
        let view = View::new([0, 1, 2].map(Id)).unwrap();
        let mut members = [0, 1, 2].map(|_| member(host));
        assert_eq!(members[0].choose_group(2), None);
        let group = members[0].choose_group(3).unwrap();
        assert!(group.ip().is_multicast(), "{group}");
        for one in &mut members[1..] {
            one.join(group, true);
            assert_eq!(one.group, Some(group));
        }
        members[0].send_to_all(&view, Id(0), b"to all");
        let addresses: Vec<_> = members.iter().map(|one| one.address().unwrap()).collect();
        members[0].set_addresses(&view, addresses);
        let [root, others @ ..] = &members;
        root.send(Id(1), b"to one");
        let second = Duration::from_secs(1);
        for other in others {
            assert_eq!(other.receive(second).as_deref(), Some(&b"to all"[..]));
        }
        assert_eq!(others[0].receive(second).as_deref(), Some(&b"to one"[..]));
        for one in &members {
            assert_eq!(one.receive(Duration::ZERO), None);
        }
        members
    }

    #[test]
    fn loopback_carries_multicast() {
        let mut members = multicast(Ipv4Addr::LOCALHOST.into());
        let view = View::new([0, 1, 2].map(Id)).unwrap();
        let second = Duration::from_secs(1);
        // A group of two members does not use multicast, and a member that has left receives
        // nothing.
        let pair = View::new([0, 1].map(Id)).unwrap();
        members[0].send_to_all(&pair, Id(0), b"to the other");
        let packet = members[1].receive(second);
        assert_eq!(packet.as_deref(), Some(&b"to the other"[..]));
        members[1].leave();
        members[0].send_to_all(&view, Id(0), b"again");
        assert_eq!(members[2].receive(second).as_deref(), Some(&b"again"[..]));
        assert_eq!(members[1].receive(Duration::ZERO), None);
    }

    /// The loopback interface does not carry IPv6 multicast, so the test runs again in a network
    /// that does.
    #[test]
    fn ipv6_carries_multicast() {
        const NETWORK: &str = "ip link add lan type veth peer name peer \
            && ip address add fd00::1/64 dev lan nodad \
            && ip link set peer up && ip link set lan up && ip link set lo up";
        const IS_INSIDE: &str = "MGN_TEST_INSIDE";
        if std::env::var_os(IS_INSIDE).is_some() {
            multicast("fd00::1".parse().unwrap());
            return;
        }
        let in_network = |then: &str| {
            let mut command = std::process::Command::new("unshare");
            let script = format!("{NETWORK} && {then}");
            command.args(["--map-root-user", "--net", "sh", "-c", &script]);
            command.env(IS_INSIDE, "1");
            command
        };
        if !in_network("true")
            .output()
            .is_ok_and(|tried| tried.status.success())
        {
            eprintln!("SKIPPED: network namespaces require unshare, ip, and permission");
            return;
        }
        let name = std::thread::current().name().unwrap().to_owned();
        let mut again = in_network("exec \"$0\" --exact \"$1\"");
        again.arg(std::env::current_exe().unwrap()).arg(name);
        let output = again.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("1 passed"), "{said}");
    }

    /// Packets for all members are taken first, but do not keep out packets to one member.
    #[test]
    fn a_flood_of_multicasts_lets_others_through() {
        let view = View::new([0, 1, 2].map(Id)).unwrap();
        let mut members = [0, 1, 2].map(|_| member(Ipv4Addr::LOCALHOST.into()));
        let addresses: Vec<_> = members.iter().map(|one| one.address().unwrap()).collect();
        let group = members[0].choose_group(3).unwrap();
        let [root, other, _] = &mut members;
        root.set_addresses(&view, addresses);
        other.join(group, true);
        root.send(Id(1), b"to one");
        for _ in 0..100 {
            root.send_to_all(&view, Id(0), b"to all");
        }
        let taken: Vec<_> = (0..=HEARD_MAX)
            .map(|_| other.receive(Duration::ZERO))
            .collect();
        let at = taken
            .iter()
            .position(|packet| packet.as_deref() == Some(b"to one"));
        assert_eq!(at, Some(HEARD_MAX as usize));
        // The first member does not receive its own packets, and a pair needs no multicast.
        other.change(&view, Id(1));
        assert!(other.heard.is_some());
        other.change(&View::new([1, 0, 2].map(Id)).unwrap(), Id(1));
        assert!(other.heard.is_none() && other.group.is_some());
        other.change(&View::new([1, 0].map(Id)).unwrap(), Id(1));
        assert_eq!(other.group, None);
    }

    /// The loopback interface has no route for IPv6 multicast. The first packet shows that.
    #[test]
    fn without_a_route_each_member_gets_a_packet() {
        let view = View::new([0, 1, 2].map(Id)).unwrap();
        let mut members = [0, 1, 2].map(|_| member(Ipv6Addr::LOCALHOST.into()));
        let addresses: Vec<_> = members.iter().map(|one| one.address().unwrap()).collect();
        let group = members[0].choose_group(3);
        for (one, listens) in members.iter_mut().zip([false, true, true]) {
            one.set_addresses(&view, addresses.clone());
            group.into_iter().for_each(|group| one.join(group, listens));
        }
        members[0].send_to_all(&view, Id(0), b"x");
        for other in &members[1..] {
            let packet = other.receive(Duration::from_secs(1));
            assert_eq!(packet.as_deref(), Some(&b"x"[..]));
        }
    }

    /// A member that cannot use the multicast address sends a packet to each member.
    #[test]
    fn without_multicast_each_member_gets_a_packet() {
        let view = View::new([0, 1, 2].map(Id)).unwrap();
        let mut members = [0, 1, 2].map(|_| member(Ipv4Addr::LOCALHOST.into()));
        let addresses: Vec<_> = members.iter().map(|one| one.address().unwrap()).collect();
        let group = SocketAddr::new(Ipv6Addr::new(0xff12, 0, 0, 0, 0, 0, 0x8000, 1).into(), 9);
        for one in &mut members {
            one.set_addresses(&view, addresses.clone());
            one.join(group, true);
            assert_eq!((one.group, one.heard.is_some()), (None, false));
        }
        members[0].send_to_all(&view, Id(0), b"x");
        for other in &members[1..] {
            let packet = other.receive(Duration::from_secs(1));
            assert_eq!(packet.as_deref(), Some(&b"x"[..]));
        }
    }
}
