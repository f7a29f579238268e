//! Listening sockets that a service manager has opened.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use mgn_sys::systemd;
use socket2::{SockRef, Socket, Type};

use crate::{Address, Error};

/// A listening socket that was passed to this process when it was started (socket activation).
#[derive(Clone, Debug)]
pub struct Inherited {
    socket: Arc<OwnedFd>,
    address: Address,
}

impl Inherited {
    /// Takes all sockets that were passed to this process. Connections to TCP sockets are encrypted
    /// unless the socket's name (`FileDescriptorName=` of a systemd unit) is `tcp`. Call it while
    /// the process has only one thread.
    ///
    /// # Errors
    /// [`Error::Address`] for a socket that clients cannot connect to, [`Error::Io`].
    pub fn take_all() -> Result<Vec<Inherited>, Error> {
        let sockets = systemd::take_sockets()
            .map_err(Error::io("cannot take the sockets that were passed"))?;
        let take = |(socket, name): (OwnedFd, String)| {
            let address = address_of(&socket, &name)?;
            let socket = Arc::new(socket);
            Ok(Inherited { socket, address })
        };
        sockets.into_iter().map(take).collect()
    }

    /// The address at which clients can connect.
    pub fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn socket(&self) -> io::Result<Socket> {
        let socket = Socket::from(self.socket.try_clone()?);
        socket.set_nonblocking(true)?;
        Ok(socket)
    }
}

fn address_of(socket: &impl AsFd, name: &str) -> Result<Address, Error> {
    let wrong = |why| Error::Address {
        text: name.to_owned(),
        why,
    };
    let socket = SockRef::from(socket);
    let is_fit = socket.r#type().is_ok_and(|kind| kind == Type::STREAM)
        && socket.is_listener().unwrap_or(false);
    if !is_fit {
        return Err(wrong(
            "the passed socket of this name is not a listening stream socket; use ListenStream= and Accept=no in its unit",
        ));
    }
    let place = socket.local_addr();
    let place = place.map_err(Error::io("cannot find the address of a passed socket"))?;
    if let Some(place) = place.as_socket() {
        return Ok(Address::Tcp {
            host: place.ip().to_string(),
            port: place.port(),
            tls: name != "tcp",
            server: None,
        });
    }
    if let Some(path) = place.as_pathname() {
        return Ok(Address::Unix(path.to_owned()));
    }
    let text = place.as_abstract_namespace().map(<[u8]>::to_vec);
    match text.map(String::from_utf8) {
        Some(Ok(text)) => Ok(Address::Abstract(text)),
        _ => Err(wrong(
            "the passed socket of this name has no address that clients can use",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, UdpSocket};
    use std::os::unix::net::UnixListener;

    #[test]
    fn sockets_have_the_addresses_that_clients_use() {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let address = |name| address_of(&tcp, name).unwrap().to_string();
        assert_eq!(address("tcp"), format!("tcp:127.0.0.1:{port}"));
        assert_eq!(
            address("mgn-server.socket"),
            format!("tls:127.0.0.1:{port}")
        );
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("socket");
        let unix = UnixListener::bind(&path).unwrap();
        assert_eq!(address_of(&unix, "").unwrap(), Address::Unix(path));
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let error = address_of(&udp, "mine").unwrap_err().to_string();
        assert!(
            error.contains("\"mine\"") && error.contains("ListenStream"),
            "{error}"
        );
    }
}
