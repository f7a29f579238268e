//! A connection to the mothership, for servers, processes that start programs, and users' commands.

use std::time::{Duration, Instant};

use mgn_fabric::{Address, Config, Receiver, Sender, Token};

use crate::protocol::{self, FromMothership, Opening, ServerLookup, ToMothership, Whereabouts};
use crate::report::Status;
use crate::Error;

/// How long the mothership may take to admit a connection, and to answer a question.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(10);

pub(crate) struct Link {
    sender: Sender,
    receiver: Receiver,
}

impl Link {
    pub fn open(address: &Address, token: Option<&Token>) -> Result<Link, Error> {
        let transport = address.socket_transport();
        let opening = protocol::encode(&Opening {
            version: protocol::VERSION,
        });
        let opened = mgn_fabric::connect(address, transport, token, &opening, ANSWER_TIME);
        let (connection, _) = opened.map_err(|error| match error {
            error @ mgn_fabric::Error::Unreachable { .. } => Error::NotThere(error),
            other => other.into(),
        })?;
        let (sender, receiver) = connection.split();
        Ok(Link { sender, receiver })
    }

    pub fn say(&self, message: &ToMothership) -> Result<(), Error> {
        Ok(self.sender.send(&protocol::encode(message))?)
    }

    /// The next message; `None` if none arrives in time.
    ///
    /// # Errors
    /// [`Error::Forbidden`], [`Error::Release`], and the connection's errors.
    pub fn recv(&mut self, timeout: Duration) -> Result<Option<FromMothership>, Error> {
        let Some(message) = self.receiver.recv(Some(timeout))? else {
            return Ok(None);
        };
        let message = protocol::decode(&message.to_vec());
        match message {
            Some(FromMothership::Forbidden(why)) => Err(Error::Forbidden(why)),
            Some(message) => Ok(Some(message)),
            None => Err(Error::Release),
        }
    }
}

/// The sizes of a connection to the mothership. The other end sends messages of up to `message_max`
/// bytes.
pub(crate) fn sizes(message_max: usize) -> Config {
    Config {
        message_max,
        send_pool_bytes: 0,
        recv_pool_bytes: 0,
        large_max: protocol::MESSAGE_MAX,
        ..Config::default()
    }
}

/// The address at which this process reaches the server of this name.
///
/// # Errors
/// [`Error::NotThere`]; [`Error::NoAnswer`]; [`Error::Refused`] if there is no such server, or if
/// it cannot be reached; and the connection's errors.
pub fn find(
    address: &Address,
    token: Option<&Token>,
    server: &str,
    encrypted: bool,
) -> Result<Address, Error> {
    let mut link = Link::open(address, token)?;
    link.say(&ToMothership::Where(Box::new(ServerLookup {
        server: server.into(),
        encrypted,
        whereabouts: Whereabouts::here(),
    })))?;
    let deadline = Instant::now() + ANSWER_TIME;
    while Instant::now() < deadline {
        match link.recv(ANSWER_TIME)? {
            Some(FromMothership::At(address)) => return Ok(address.parse()?),
            Some(FromMothership::Refused(why)) => return Err(Error::Refused(why)),
            _ => {}
        }
    }
    Err(Error::NoAnswer)
}

/// The servers and clients that are connected.
///
/// # Errors
/// [`Error::NotThere`], and the connection's errors.
pub fn status(address: &Address, token: Option<&Token>) -> Result<Status, Error> {
    let mut link = Link::open(address, token)?;
    link.say(&ToMothership::Status)?;
    let deadline = Instant::now() + ANSWER_TIME;
    while Instant::now() < deadline {
        if let Some(FromMothership::Status(status)) = link.recv(ANSWER_TIME)? {
            return Ok(*status);
        }
    }
    Err(Error::NoAnswer)
}

/// Ends the mothership and the servers that it has started, and waits until they have ended.
///
/// # Errors
/// [`Error::NotThere`], [`Error::StillThere`], and the connection's errors.
pub fn stop(address: &Address, token: Option<&Token>) -> Result<(), Error> {
    const STOPPING_TIME: Duration = Duration::from_secs(30);
    let mut link = Link::open(address, token)?;
    link.say(&ToMothership::Stop)?;
    let deadline = Instant::now() + STOPPING_TIME;
    while Instant::now() < deadline {
        match link.recv(ANSWER_TIME) {
            Ok(_) => {}
            Err(Error::Fabric(mgn_fabric::Error::Closed(_))) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Err(Error::StillThere(address.clone()))
}
