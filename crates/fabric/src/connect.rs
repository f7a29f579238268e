//! Connecting to a server.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use std::{io, path::Path};

use mgn_sys::peer::{self, Credentials};
use rustix::event::PollFlags;
use rustix::io::Errno;
use socket2::{Domain, SockAddr, SockRef, Socket, Type};

use crate::byte_stream::ByteStream;
use crate::config::Sizes;
use crate::handshake::{Agreed, ClientSide, Step};
use crate::peer::Peer;
use crate::seal::{Seal, BROKEN, RECORD_MAX};
use crate::tls::{self, Disagreed, Negotiation};
use crate::wait::{ready, Deadline};
use crate::{
    file, null, relay, shm, stream, Address, Connection, Error, Handover, Token, Transport,
};

/// Connects to the server at `address`. Returns the connection and the server's welcome.
///
/// `opening` is for the server's application (at most 64 KiB). If there is a token, the opening is
/// sent after the server has proved that it knows the token. TCP always needs a token. `timeout`
/// covers everything until the welcome. For [`Transport::Null`] and [`Transport::File`], there is
/// no server: the address is ignored, and the welcome is empty.
///
/// # Errors
/// [`Error::Unreachable`], [`Error::TimedOut`], [`Error::Auth`], [`Error::OtherKey`],
/// [`Error::Forbidden`], [`Error::OldToken`], [`Error::Refused`] with the server's reason,
/// [`Error::Version`], [`Error::NotManganese`], and similar errors.
pub fn connect(
    address: &Address,
    transport: Transport,
    token: Option<&Token>,
    opening: &[u8],
    timeout: Duration,
) -> Result<(Connection, Vec<u8>), Error> {
    match &transport {
        Transport::Null => return Ok((null::connection()?, Vec::new())),
        Transport::File(path) => return Ok((file::connection(path, opening)?, Vec::new())),
        _ => {}
    }
    // A server may hand its clients to workers, so the process that accepted the socket need not be
    // the peer. Do not watch it.
    let way = open(address, &transport, token, opening, false, timeout)?;
    let connection = match transport {
        // A program that forwards a socket, such as ssh, passes only bytes, and no descriptors.
        Transport::Shm if way.fds.is_empty() => return Err(Error::Forwarded(name_of(address))),
        Transport::Shm => shm::client(way.peer, way.credentials, &way.sizes, way.fds)?,
        _ => stream::client(way.peer, way.credentials, &way.sizes),
    };
    Ok((connection, way.welcome))
}

/// The version of the bytes that accompany a connection to another process.
const HANDOVER: u8 = 1;

/// Connects like [`connect`], with the address's [`Address::socket_transport`], on behalf of
/// another process that may not connect to anything or know the token. That process makes a
/// connection from the returned socket and bytes with [`take_over`].
///
/// # Errors
/// Those of [`connect`].
pub fn connect_for_another(
    address: &Address,
    token: Option<&Token>,
    opening: &[u8],
    timeout: Duration,
) -> Result<(OwnedFd, Handover), Error> {
    let transport = address.socket_transport();
    let met = meet(address, &transport, token, opening, timeout)?;
    let (socket, seal) = met.line.into_parts();
    let head = [HANDOVER, seal.is_some().into()];
    let sizes = met.sizes.encode();
    let keys = seal.as_ref().map(|seal| seal.hand_over());
    let keys = keys.as_deref().map_or(&[][..], Vec::as_slice);
    let unread = seal.map(|seal| seal.unread()).unwrap_or_default();
    let bytes = [&head[..], &sizes[..], keys, &unread].concat();
    Ok((socket, bytes.into()))
}

/// Takes over a connection to this address that another process has made with
/// [`connect_for_another`].
///
/// # Errors
/// [`Error::Misuse`] if the bytes are not valid bytes from [`connect_for_another`].
pub fn take_over(socket: OwnedFd, bytes: &[u8], address: &Address) -> Result<Connection, Error> {
    let wrong = || Error::Misuse("the bytes of a handed-over connection are invalid");
    let ([HANDOVER, sealed], rest) = bytes.split_first_chunk().ok_or_else(wrong)? else {
        return Err(wrong());
    };
    let (sizes, rest) = rest.split_first_chunk().ok_or_else(wrong)?;
    let sizes = Sizes::decode(sizes)?;
    let line = match (sealed, rest) {
        (0, []) => ByteStream::clear(socket),
        (1, rest) => {
            let (seal, unread) = rest.split_first_chunk().ok_or_else(wrong)?;
            let seal = Seal::handed_over(seal).with_unread(unread);
            ByteStream::sealed(socket, seal.ok_or_else(wrong)?)
        }
        _ => return Err(wrong()),
    };
    let credentials = match address {
        Address::Tcp { .. } => None,
        _ => peer::credentials(&line).ok(),
    };
    let peer = peer_at(address, line, &sizes, false);
    Ok(stream::client(peer, credentials, &sizes))
}

/// A client's resources after a server has accepted it.
pub(crate) struct Opened {
    pub(crate) peer: Arc<Peer>,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) sizes: Sizes,
    pub(crate) welcome: Vec<u8>,
    /// The descriptors that came with the welcome.
    pub(crate) fds: Vec<OwnedFd>,
}

/// Connects to a server, by shm, unix or tcp. Set `watch` if the process that listens stays at the
/// other end.
pub(crate) fn open(
    address: &Address,
    transport: &Transport,
    token: Option<&Token>,
    opening: &[u8],
    watch: bool,
    timeout: Duration,
) -> Result<Opened, Error> {
    let met = meet(address, transport, token, opening, timeout)?;
    Ok(Opened {
        peer: peer_at(address, met.line, &met.sizes, watch),
        credentials: met.credentials,
        sizes: met.sizes,
        welcome: met.welcome,
        fds: met.fds,
    })
}

/// A server's name, for messages to the user.
fn name_of(address: &Address) -> String {
    format!("the server at {address}")
}

fn peer_at(address: &Address, line: ByteStream, sizes: &Sizes, watch: bool) -> Arc<Peer> {
    let server = name_of(address);
    Arc::new(match address {
        Address::Tcp { .. } => Peer::tcp(line, server, sizes.silence()),
        _ => Peer::unix(line.into_parts().0, server, watch),
    })
}

/// A server that has accepted us.
struct Met {
    line: ByteStream,
    credentials: Option<Credentials>,
    sizes: Sizes,
    welcome: Vec<u8>,
    fds: Vec<OwnedFd>,
}

fn meet(
    address: &Address,
    transport: &Transport,
    token: Option<&Token>,
    opening: &[u8],
    timeout: Duration,
) -> Result<Met, Error> {
    let (tcp, encrypted) = match address {
        Address::Tcp { tls, .. } => (true, *tls),
        _ => (false, false),
    };
    match transport {
        Transport::Null | Transport::File(_) => {
            return Err(mismatch(address, "this transport has no server"))
        }
        Transport::Tcp if !tcp => return Err(mismatch(address, "tcp needs a tcp: address")),
        Transport::Shm | Transport::Unix if tcp => {
            return Err(mismatch(address, "shm and unix need a unix: address"))
        }
        _ if transport.needs_token() && token.is_none() => {
            return Err(Error::Auth(format!(
                "a connection to {address} needs a token (--token-file)"
            )))
        }
        _ => {}
    }
    let deadline = Deadline::after(Some(timeout));
    let socket = reach(address, token, &deadline)?;
    let server = name_of(address);
    let credentials = match tcp {
        true => None,
        false => Some(check_owner(&socket, &server)?),
    };

    let mut fds = Vec::new();
    let (line, token) = secure(socket, encrypted, token, &server, true, &deadline)?;
    let side = ClientSide::new(transport, token.as_ref(), opening, &server)?;
    let Agreed { sizes, welcome } =
        talk(side, &line, &mut fds, &server, &deadline).map_err(|(error, heard)| match error {
            Error::Closed(server) if !tcp && !heard => Error::Mute(server),
            error => error,
        })?;
    Ok(Met {
        line,
        credentials,
        sizes,
        welcome,
        fds,
    })
}

/// A connected non-blocking socket to the server itself, directly or through a relay.
pub(crate) fn reach(
    address: &Address,
    token: Option<&Token>,
    deadline: &Deadline,
) -> Result<OwnedFd, Error> {
    let socket = dial(address, deadline)?;
    let Address::Tcp {
        tls,
        server: Some(server),
        ..
    } = address
    else {
        return Ok(socket);
    };
    let relay = format!("the relay to {address}");
    let (line, token) = secure(socket, *tls, token, &relay, false, deadline)?;
    let opening = relay::opening(server);
    let side = ClientSide::new(&Transport::Tcp, token.as_ref(), &opening, &relay)?;
    talk(side, &line, &mut Vec::new(), &relay, deadline).map_err(|(error, _)| error)?;
    Ok(line.into_parts().0)
}

/// The line for a handshake, and the token for the handshake. If the line is encrypted, the token
/// is bound to the line. `is_last` is false for a relay. If the server shows a key that the token
/// does not name, this function fails before the handshake, so the server gets neither a proof of
/// the token nor the opening.
fn secure(
    socket: OwnedFd,
    encrypted: bool,
    token: Option<&Token>,
    server: &str,
    is_last: bool,
    deadline: &Deadline,
) -> Result<(ByteStream, Option<Token>), Error> {
    let place = SockRef::from(&socket).peer_addr();
    if let (Some(token), Some(place)) = (token, place.ok().and_then(|place| place.as_socket())) {
        token.check_place(place.ip())?;
    }
    if !encrypted {
        return Ok((ByteStream::clear(socket), token.cloned()));
    }
    let agreed = encrypt(&socket, server, deadline)?;
    if let Some(token) = token {
        token.check_key(server, agreed.shown, is_last)?;
    }
    let token = token.map(|token| agreed.bind(token));
    Ok((ByteStream::sealed(socket, agreed.seal), token))
}

/// A connected non-blocking socket.
fn dial(address: &Address, deadline: &Deadline) -> Result<OwnedFd, Error> {
    let unreachable = |source| Error::Unreachable {
        address: address.to_string(),
        source,
    };
    let Address::Tcp { host, port, .. } = address else {
        return dial_unix(address, deadline).map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => timed_out(address),
            _ => unreachable(error),
        });
    };
    let mut last = io::ErrorKind::NotFound.into();
    for place in resolve(host, *port)? {
        let left = deadline.left(Duration::MAX).max(Duration::from_millis(1));
        match TcpStream::connect_timeout(&place, left) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(unreachable)?;
                stream.set_nonblocking(true).map_err(unreachable)?;
                return Ok(stream.into());
            }
            Err(error) => last = error,
        }
        if deadline.passed() {
            return Err(timed_out(address));
        }
    }
    Err(unreachable(last))
}

/// The addresses of a host, at least one.
pub(crate) fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, Error> {
    let unknown = |source| Error::UnknownHost {
        host: host.into(),
        source,
    };
    let places: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(unknown)?.collect();
    match places.is_empty() {
        true => Err(unknown(io::ErrorKind::NotFound.into())),
        false => Ok(places),
    }
}

fn dial_unix(address: &Address, deadline: &Deadline) -> io::Result<OwnedFd> {
    let place = unix_address(address)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
    loop {
        match socket.connect(&place) {
            Ok(()) => return Ok(socket.into()),
            // The server's queue is full.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if deadline.passed() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                thread::sleep(deadline.left(Duration::from_millis(5)));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The user whose process listens at a unix address. `None` if no process listens there, or if its
/// queue is full.
pub(crate) fn sits_at(address: &Address) -> Option<u32> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None).ok()?;
    socket.connect(&unix_address(address).ok()?).ok()?;
    Some(peer::credentials(&socket).ok()?.uid)
}

/// The socket address of a unix address, in the file system or abstract.
pub(crate) fn unix_address(address: &Address) -> io::Result<SockAddr> {
    match address {
        Address::Unix(path) => SockAddr::unix(path),
        Address::Abstract(name) => SockAddr::unix(Path::new(&format!("\0{name}"))),
        Address::Tcp { .. } => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Whether a server of this user is trusted. A server of another user could see everything that is
/// drawn.
pub(crate) fn is_trusted(uid: u32) -> bool {
    uid == peer::own_uid() || uid == 0
}

fn check_owner(socket: &OwnedFd, server: &str) -> Result<Credentials, Error> {
    let found = peer::credentials(socket).map_err(Error::io(format!(
        "cannot find the user that runs {server}"
    )))?;
    match is_trusted(found.uid) {
        true => Ok(found),
        false => Err(Error::Auth(format!(
            "{server} belongs to another user (uid {})",
            found.uid
        ))),
    }
}

/// Agrees with the server on keys for the rest of the connection.
fn encrypt(socket: &OwnedFd, server: &str, deadline: &Deadline) -> Result<tls::Agreed, Error> {
    let disagreed = |error| {
        Error::Auth(format!(
            "cannot agree on an encryption with {server}: {error}"
        ))
    };
    let failed = || Error::io(format!("agreeing on keys with {server}"));
    let mut negotiation = Negotiation::client().map_err(disagreed)?;
    let mut buffer = vec![0; RECORD_MAX];
    let clear = ByteStream::clear(socket.try_clone().map_err(failed())?);
    loop {
        let bytes = negotiation.take_output();
        match clear.send_all(&bytes, &[], deadline) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                return Err(Error::TimedOut(format!("connecting to {server}")))
            }
            // A server that refuses at once may have closed already. Its reason can still be read.
            _ => {}
        }
        if negotiation.is_over() {
            return negotiation.finish().map_err(disagreed);
        }
        let want = negotiation.wants();
        let got = match clear.recv_with(&mut buffer[..want], &mut Vec::new()) {
            Ok(0) => return Err(Error::Closed(server.into())),
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if !ready(clear.as_fd(), PollFlags::IN, deadline).map_err(failed())? {
                    return Err(Error::TimedOut(format!("connecting to {server}")));
                }
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Err(Error::Closed(server.into()))
            }
            Err(error) => return Err(failed()(error)),
        };
        match negotiation.receive(&buffer[..got]) {
            Ok(()) => {}
            Err(Disagreed::Clear) => {
                return Err(Error::Refused(format!(
                    "{server} does not encrypt: write tcp: in place of tls:, or serve it at tls:"
                )))
            }
            Err(Disagreed::Stranger) => return Err(Error::NotManganese(server.into())),
            Err(Disagreed::Tls(error)) => return Err(disagreed(error)),
        }
    }
}

/// Exchanges the handshake's bytes. Received descriptors are added to `fds`. The flag beside an
/// error says whether the other end has sent anything.
fn talk(
    side: ClientSide<'_>,
    line: &ByteStream,
    fds: &mut Vec<OwnedFd>,
    server: &str,
    deadline: &Deadline,
) -> Result<Agreed, (Error, bool)> {
    let mut heard = false;
    let agreed = talk_on(side, line, fds, server, deadline, &mut heard);
    agreed.map_err(|error| (error, heard))
}

fn talk_on(
    mut side: ClientSide<'_>,
    line: &ByteStream,
    fds: &mut Vec<OwnedFd>,
    server: &str,
    deadline: &Deadline,
    heard: &mut bool,
) -> Result<Agreed, Error> {
    let failed = || Error::io(format!("talking to {server}"));
    // A server that refuses at once may have closed already. Its reason can still be read.
    let send = |bytes: &[u8]| match line.send_all(bytes, &[], deadline) {
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            Err(Error::TimedOut(format!("connecting to {server}")))
        }
        _ => Ok(()),
    };
    send(&side.start())?;
    let mut buffer = vec![0; 16 << 10];
    loop {
        let want = side.wants().min(buffer.len());
        let got = match line.recv_with(&mut buffer[..want], fds) {
            Ok(0) => return Err(Error::Closed(server.into())),
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if !ready(line.as_fd(), PollFlags::IN, deadline).map_err(failed())? {
                    return Err(Error::TimedOut(format!("connecting to {server}")));
                }
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Err(Error::Closed(server.into()))
            }
            Err(error) if Errno::from_io_error(&error) == Some(Errno::BADMSG) => {
                return Err(Error::PeerMisbehaved(BROKEN))
            }
            Err(error) => return Err(failed()(error)),
        };
        if fds.len() > shm::DESCRIPTORS {
            return Err(Error::PeerMisbehaved(
                "it sends more descriptors than it may",
            ));
        }
        *heard = true;
        match side.receive(&buffer[..got])? {
            Step::More => {}
            Step::Send(bytes) => send(&bytes)?,
            Step::Done(agreed) => return Ok(agreed),
        }
    }
}

fn mismatch(address: &Address, why: &'static str) -> Error {
    Error::Address {
        text: address.to_string(),
        why,
    }
}

fn timed_out(address: &Address) -> Error {
    Error::TimedOut(format!("connecting to {address}"))
}
