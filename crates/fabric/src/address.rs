//! Addresses of servers, and transports.

use std::ffi::OsStr;
use std::fmt;
use std::net::Ipv6Addr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::Error;

/// `unix:/path`, `unix:@name` (Linux's abstract names), `tcp:HOST:PORT`, or `tls:HOST:PORT`, where
/// an IPv6 host is written in brackets. `tls:HOST:PORT/NAME` is a server behind the relay that
/// listens there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    Unix(PathBuf),
    Abstract(String),
    Tcp {
        host: String,
        port: u16,
        /// Whether the connection is encrypted. Both ends must have the same setting.
        tls: bool,
        /// The name of a server behind the relay that listens at this host and port.
        server: Option<String>,
    },
}

/// The port of a render server if its address has none.
pub const SERVER_PORT: u16 = 7500;
/// The port of a mothership if its address has none.
pub const MOTHERSHIP_PORT: u16 = 7400;
/// The port of a relay if its address has none. It is also the port in addresses of servers behind
/// a relay.
pub const RELAY_PORT: u16 = 7600;

impl Address {
    /// Parses a render server's address. The port may be missing.
    ///
    /// # Errors
    /// [`Error::Address`].
    pub fn of_server(text: &str) -> Result<Address, Error> {
        Address::read(text, Some(SERVER_PORT))
    }

    /// Parses a mothership's address. The port may be missing.
    ///
    /// # Errors
    /// [`Error::Address`].
    pub fn of_mothership(text: &str) -> Result<Address, Error> {
        Address::read(text, Some(MOTHERSHIP_PORT))
    }

    /// Parses a relay's address. The port may be missing.
    ///
    /// # Errors
    /// [`Error::Address`].
    pub fn of_relay(text: &str) -> Result<Address, Error> {
        Address::read(text, Some(RELAY_PORT))
    }

    /// Whether the address is a host and a port, which other hosts can reach.
    pub fn is_tcp(&self) -> bool {
        matches!(self, Address::Tcp { .. })
    }

    /// Whether both ends must prove that they have a token; see [`Transport::needs_token`].
    pub fn needs_token(&self) -> bool {
        self.transport().needs_token()
    }

    /// The best transport to this address.
    pub fn transport(&self) -> Transport {
        match self {
            Address::Tcp { .. } => Transport::Tcp,
            _ => Transport::Shm,
        }
    }

    /// The transport over the address's socket alone, for clients that send little.
    pub fn socket_transport(&self) -> Transport {
        match self {
            Address::Tcp { .. } => Transport::Tcp,
            _ => Transport::Unix,
        }
    }
}

/// The longest name that fits `sockaddr_un`, including its zero byte.
const UNIX_MAX: usize = 108;

impl FromStr for Address {
    type Err = Error;

    /// Parses an address. It must have a port.
    fn from_str(text: &str) -> Result<Address, Error> {
        Address::read(text, None)
    }
}

impl Address {
    fn read(text: &str, port: Option<u16>) -> Result<Address, Error> {
        let wrong = |why| Error::Address {
            text: text.into(),
            why,
        };
        if let Some(name) = text.strip_prefix("unix:") {
            if name.len() >= UNIX_MAX {
                return Err(wrong("the name of a unix socket has at most 107 bytes"));
            }
            if name.contains('\0') {
                return Err(wrong("a name cannot contain a zero byte"));
            }
            return match name.strip_prefix('@') {
                Some("") => Err(wrong("a name is missing after unix:@")),
                Some(name) => Ok(Address::Abstract(name.into())),
                None if name.is_empty() => Err(wrong("a path is missing after unix:")),
                None => Ok(Address::Unix(PathBuf::from(OsStr::from_bytes(
                    name.as_bytes(),
                )))),
            };
        }
        let (rest, tls) = match (text.strip_prefix("tcp:"), text.strip_prefix("tls:")) {
            (Some(rest), _) => (rest, false),
            (_, Some(rest)) => (rest, true),
            _ => {
                return Err(wrong(
                    "it should be unix:/path, unix:@name, tcp:HOST:PORT or tls:HOST:PORT",
                ))
            }
        };
        let (rest, server) = match rest.split_once('/') {
            Some((rest, name)) if is_name(name) => (rest, Some(name.to_owned())),
            Some(_) => return Err(wrong(
                "the part after the / must be a server's name: 1 to 64 letters, digits and . _ - ,",
            )),
            None => (rest, None),
        };
        let has_port = rest.contains(':') && !rest.ends_with(']');
        let (host, port) = match (port, rest.rsplit_once(':').filter(|_| has_port)) {
            (_, Some((host, port))) => {
                let port = port
                    .parse()
                    .map_err(|_| wrong("the port is not a number up to 65535"))?;
                (host, port)
            }
            (Some(_), None) if server.is_some() => (rest, RELAY_PORT),
            (Some(port), None) => (rest, port),
            (None, None) => return Err(wrong("the port is missing; write tcp:HOST:PORT")),
        };
        let host = match host.strip_prefix('[') {
            Some(inner) => {
                let inner = inner.strip_suffix(']').ok_or(wrong("the ] is missing"))?;
                let bare = inner.split_once('%').map_or(inner, |(bare, _zone)| bare);
                bare.parse::<Ipv6Addr>()
                    .map_err(|_| wrong("the text in brackets is not an IPv6 address"))?;
                inner
            }
            None if host.contains(':') => {
                return Err(wrong(
                    "write an IPv6 address in brackets, as in tcp:[::1]:7000",
                ))
            }
            None if host.is_empty() => {
                return Err(wrong("the host is missing; write tcp:HOST:PORT"))
            }
            None => host,
        };
        Ok(Address::Tcp {
            host: host.into(),
            port,
            tls,
            server,
        })
    }
}

/// Whether `name` is valid: it has 1 to 64 letters, digits and `. _ - ,`, and begins with neither
/// `-` nor `.`.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-,".contains(c);
    (1..=64).contains(&name.len()) && name.chars().all(plain) && !name.starts_with(['-', '.'])
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(out, "unix:{}", path.display()),
            Address::Abstract(name) => write!(out, "unix:@{name}"),
            Address::Tcp {
                host,
                port,
                tls,
                server,
            } => {
                let scheme = if *tls { "tls" } else { "tcp" };
                match host.contains(':') {
                    true => write!(out, "{scheme}:[{host}]:{port}")?,
                    false => write!(out, "{scheme}:{host}:{port}")?,
                }
                match server {
                    Some(name) => write!(out, "/{name}"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// The medium that carries a connection's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Shared memory. A unix socket carries the handshake and shows whether the peer is alive.
    Shm,
    Unix,
    Tcp,
    /// Fills chunks and discards them.
    Null,
    /// Records the messages in this file.
    File(PathBuf),
}

impl Transport {
    /// Whether both ends must prove that they have a token. A unix socket needs none: the kernel
    /// says which user the other process runs as.
    pub fn needs_token(&self) -> bool {
        *self == Transport::Tcp
    }
}

impl FromStr for Transport {
    type Err = Error;

    /// Parses `shm`, `unix`, `tcp`, `null` or `file:PATH`.
    fn from_str(text: &str) -> Result<Transport, Error> {
        Ok(match text {
            "shm" => Transport::Shm,
            "unix" => Transport::Unix,
            "tcp" => Transport::Tcp,
            "null" => Transport::Null,
            _ => match text.strip_prefix("file:") {
                Some(path) if !path.is_empty() => Transport::File(path.into()),
                _ => {
                    return Err(Error::Address {
                        text: text.into(),
                        why: "a transport is shm, unix, tcp, null or file:PATH",
                    })
                }
            },
        })
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transport::Shm => out.write_str("shm"),
            Transport::Unix => out.write_str("unix"),
            Transport::Tcp => out.write_str("tcp"),
            Transport::Null => out.write_str("null"),
            Transport::File(path) => write!(out, "file:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back_as_written() {
        for text in [
            "unix:/run/mgn.sock",
            "unix:relative",
            "unix:@mgn",
            "tcp:localhost:7000",
            "tcp:127.0.0.1:0",
            "tcp:[::1]:65535",
            "tcp:[fe80::1%eth0]:1",
            "tls:localhost:7000",
            "tls:[::1]:0",
            "tls:[::1]:7600/gpu-1",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for text in ["shm", "unix", "tcp", "null", "file:/tmp/a b"] {
            assert_eq!(text.parse::<Transport>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_missing_port_is_that_of_the_role() {
        type Read = fn(&str) -> Result<Address, Error>;
        let cases: [(Read, &str, &str); 9] = [
            (Address::of_server, "tls:gpu", "tls:gpu:7500"),
            (Address::of_server, "tcp:gpu:7000", "tcp:gpu:7000"),
            (Address::of_server, "tls:[::1]", "tls:[::1]:7500"),
            (Address::of_server, "tls:[::1]:0", "tls:[::1]:0"),
            (Address::of_server, "tls:head/gpu-1", "tls:head:7600/gpu-1"),
            (Address::of_server, "unix:@m", "unix:@m"),
            (Address::of_mothership, "tls:head", "tls:head:7400"),
            (
                Address::of_mothership,
                "tls:head/home",
                "tls:head:7600/home",
            ),
            (Address::of_relay, "tls:head", "tls:head:7600"),
        ];
        for (read, text, whole) in cases {
            assert_eq!(read(text).unwrap().to_string(), whole);
        }
        for (text, hint) in [
            ("tls:", "host"),
            ("tls:/gpu", "host"),
            ("tls:gpu:", "65535"),
            ("tls:::1", "brackets"),
            ("tls:[::1", "]"),
            ("tls:[gpu]", "IPv6"),
        ] {
            let message = Address::of_server(text).unwrap_err().to_string();
            assert!(message.contains(hint), "{text}: {message}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (text, hint) in [
            ("", "tcp:HOST:PORT"),
            ("http:localhost:1", "tcp:HOST:PORT"),
            ("unix:", "path is missing"),
            ("unix:@", "name is missing"),
            ("tcp:localhost", "port"),
            ("tcp::7", "host"),
            ("tcp:a:70000", "65535"),
            ("tcp:a:-1", "65535"),
            ("tls:localhost", "port"),
            ("tcp:::1:7000", "brackets"),
            ("tcp:[::1:7000", "]"),
            ("tcp:[localhost]:1", "IPv6"),
            ("tls:head:7600/", "name"),
            ("tls:head:7600/a/b", "name"),
            ("tls:head/a", "port"),
        ] {
            let message = text.parse::<Address>().unwrap_err().to_string();
            assert!(message.contains(hint), "{text}: {message}");
        }
        assert!(format!("unix:/{}", "x".repeat(107))
            .parse::<Address>()
            .is_err());
        assert!("file:".parse::<Transport>().is_err());
        assert!("udp".parse::<Transport>().is_err());
    }
}
