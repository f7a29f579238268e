//! Making listening sockets.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use socket2::{Domain, Protocol, Socket, Type};

use crate::connect::{resolve, unix_address};
use crate::{Address, Error};

/// The length of the kernel's queue of connecting clients, if its own limit is not lower. All
/// processes of a large job may connect at the same time.
const BACKLOG: i32 = 1024;

/// Listening sockets for every address of a host, and their common port.
pub(super) fn tcp(address: &Address, host: &str, port: u16) -> Result<(Vec<Socket>, u16), Error> {
    let failed = || Error::io(format!("cannot listen at {address}"));
    let mut places = resolve(host, port)?;
    places.dedup();
    let (mut sockets, mut port, mut last) = (Vec::new(), port, None);
    for mut place in places {
        place.set_port(port);
        match tcp_socket(place) {
            Ok(socket) => {
                let bound = socket.local_addr().map_err(failed())?.as_socket();
                port = bound.map_or(port, |bound| bound.port());
                sockets.push(socket);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(Error::InUse(address.to_string()))
            }
            // A name may stand for an IPv6 address on a machine without IPv6.
            Err(error) => last = Some(error),
        }
    }
    match (sockets.is_empty(), last) {
        (false, _) => Ok((sockets, port)),
        (true, last) => Err(failed()(last.unwrap_or(io::ErrorKind::NotFound.into()))),
    }
}

fn tcp_socket(place: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(place),
        Type::STREAM.nonblocking(),
        Some(Protocol::TCP),
    )?;
    if place.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&place.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

/// A listening unix socket. For a socket in the file system, also the guard that removes its file.
pub(super) fn unix(address: &Address) -> Result<(Socket, Option<Cleanup>), Error> {
    let failed = || Error::io(format!("cannot listen at {address}"));
    let place = unix_address(address).map_err(failed())?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None).map_err(failed())?;
    // The mode is set before `bind`, so that the file is created with it.
    rustix::fs::fchmod(socket.as_fd(), rustix::fs::Mode::from_raw_mode(0o600))
        .map_err(|error| failed()(error.into()))?;
    match (socket.bind(&place), address) {
        (Ok(()), _) => {}
        (Err(error), Address::Unix(path)) if error.kind() == io::ErrorKind::AddrInUse => {
            remove_stale(path, address)?;
            socket.bind(&place).map_err(failed())?;
        }
        (Err(error), _) if error.kind() == io::ErrorKind::AddrInUse => {
            return Err(Error::InUse(address.to_string()))
        }
        (Err(error), _) => return Err(failed()(error)),
    }
    let cleanup = match address {
        Address::Unix(path) => Some(Cleanup::new(path).map_err(failed())?),
        _ => None,
    };
    socket.listen(BACKLOG).map_err(failed())?;
    Ok((socket, cleanup))
}

/// Removes a socket if no process listens at it any more. Any other file at the path stays.
fn remove_stale(path: &Path, address: &Address) -> Result<(), Error> {
    let doing = format!("cannot listen at {address}");
    let about = fs::symlink_metadata(path).map_err(Error::io(doing.clone()))?;
    if !about.file_type().is_socket() {
        let source = io::Error::other("a file that is not a socket has this name");
        return Err(Error::Io { doing, source });
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)
        .and_then(|socket| socket.connect(&unix_address(address)?));
    match probe {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            tracing::debug!(
                "replacing the socket {} of a server that has ended",
                path.display()
            );
            fs::remove_file(path).map_err(Error::io(doing))
        }
        _ => Err(Error::InUse(address.to_string())),
    }
}

/// Removes the socket's file when its server ends, if the file still belongs to this server.
#[derive(Debug)]
pub(super) struct Cleanup {
    path: PathBuf,
    device: u64,
    inode: u64,
    owner: u32,
}

impl Cleanup {
    fn new(path: &Path) -> io::Result<Cleanup> {
        let about = fs::symlink_metadata(path)?;
        // The working directory may change before the server ends.
        let path = std::path::absolute(path)?;
        let owner = std::process::id();
        Ok(Cleanup {
            path,
            device: about.dev(),
            inode: about.ino(),
            owner,
        })
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|about| (about.dev(), about.ino()) == (self.device, self.inode));
        if ours && self.owner == std::process::id() {
            let _ = fs::remove_file(&self.path);
        }
    }
}
