//! The handshake that makes a link between two endpoints.
//!
//! One endpoint connects to the other endpoint as to any server. Its opening asks for a link:
//!
//! ```text
//! opening := "MgnE" version: u8  channel: u8  key: 16 bytes  terms  name
//! welcome := "MgnE" key: 16 bytes  terms
//! ```
//!
//! Over sockets, a second connection follows, which carries answers and credit. Its opening has the
//! key from the first connection's welcome. Each end states its [`Terms`] on the first connection.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::link::AnyLink;
use super::settings::Settings;
use super::shm::ShmLink;
use super::silent::{PlayedLink, SilentLink};
use super::stream::StreamLink;
use super::terms::{Limits, Terms};
use super::{Endpoint, LinkId};
use crate::config::{CHUNKS_MAX, PAGE, POOL_MAX};
use crate::connect;
use crate::listener::{Incoming, ServerWay};
use crate::shm::{client_lanes, server_lanes, LINK_SLOTS};
use crate::token::random;
use crate::{Address, Config, Error, Token, Transport};

const MAGIC: [u8; 4] = *b"MgnE";
const VERSION: u8 = 5;
/// The version of recordings, whose frames do not depend on the transport.
const RECORDING: u8 = 4;
const KEY: usize = 16;
const HEAD: usize = MAGIC.len() + 2 + KEY + Terms::BYTES;

const DATA: u8 = 1;
const CONTROL: u8 = 2;
const RECORDED: u8 = 3;

/// The time limit for the second connection.
const SECOND_TIME: Duration = Duration::from_secs(10);

/// The maximum number of first connections that wait for their second connection.
const HALF_MAX: usize = 256;

/// The sizes of a link's memory. Each direction has the pool of chunks, and memory for reserved
/// messages. The size of this memory is `large_max` minus `message_max`.
/// [`crate::config::Sizes::arena`] computes the size from these two numbers.
fn config(settings: &Settings) -> Config {
    let chunk = settings.chunk.next_multiple_of(PAGE as usize);
    let pool = (settings.chunks * settings.chunk).next_multiple_of(chunk);
    let most = (POOL_MAX as usize).min(CHUNKS_MAX as usize * chunk);
    let arena = settings.reserved.min(most.saturating_sub(pool)) / chunk * chunk;
    Config {
        silence: settings.silence(),
        message_max: settings.chunk,
        send_pool_bytes: pool + arena,
        recv_pool_bytes: pool + arena,
        large_max: settings.chunk + arena,
    }
}

/// A first connection.
struct Half {
    since: Instant,
    way: ServerWay,
    limits: Limits,
    name: Vec<u8>,
}

/// First connections that wait for their second connection.
#[derive(Default)]
pub(crate) struct HalfLinks {
    waiting: Mutex<HashMap<[u8; KEY], Half>>,
}

/// The result of accepting a connection.
#[derive(Debug)]
pub enum Joined {
    /// The link is made. The bytes are the name that the peer gave.
    Link(LinkId, Vec<u8>),
    /// The link still needs its second connection.
    Half,
}

impl Endpoint {
    /// Makes a link to the endpoint that listens at `address`. The accepting application receives
    /// `name`.
    ///
    /// For [`Transport::Null`] and [`Transport::File`], there is no other endpoint, and the address
    /// is ignored. Such a link accepts every message at once, also a synchronous message, and drops
    /// it or records it for [`Endpoint::play`]. No message ever comes from such a link: a receive
    /// from it ends with [`Error::NoPeer`].
    ///
    /// # Errors
    /// As for [`crate::connect()`].
    pub fn connect(
        &self,
        address: &Address,
        transport: &Transport,
        token: Option<&Token>,
        name: &[u8],
        timeout: Duration,
    ) -> Result<LinkId, Error> {
        match transport {
            Transport::Null => return self.shared.add(AnyLink::Silent(SilentLink::null())),
            Transport::File(path) => {
                let link = SilentLink::recording(path, name)?;
                return self.shared.add(AnyLink::Silent(link));
            }
            _ => {}
        }
        let settings = &self.settings();
        let terms = Terms::new(settings, transport);
        let first = opening(DATA, &[0; KEY], &terms, name);
        let way = connect::open(address, transport, token, &first, true, timeout)?;
        let Some((key, theirs)) = parse_welcome(&way.welcome)? else {
            return Err(Error::Refused(format!("{address} serves no endpoint")));
        };
        let limits = Limits::new(settings, transport, terms, theirs);
        if *transport == Transport::Shm {
            let lanes = client_lanes(&way.sizes, way.fds, LINK_SLOTS, Some(way.peer.clone()))?;
            return self.shared.add(AnyLink::Shm(Box::new(ShmLink::new(
                way.peer,
                &way.sizes,
                &limits,
                way.credentials,
                lanes,
            ))));
        }
        let second = opening(CONTROL, key, &terms, b"");
        let control = connect::open(address, transport, token, &second, true, timeout)?;
        self.shared.add(AnyLink::Stream(Box::new(StreamLink::new(
            way.peer,
            control.peer,
            limits,
            way.credentials,
        )?)))
    }

    /// Makes a link that plays a recording: it delivers the recorded messages, in their order and
    /// with their tags, and then ends with [`Error::Closed`]. Returns the link and the recorded
    /// name. Messages that are sent to the link are dropped.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::BadRecording`]. If a recording is truncated, the link ends with this
    /// error.
    pub fn play(&self, path: &Path) -> Result<(LinkId, Vec<u8>), Error> {
        let (link, name) = PlayedLink::open(path, &self.shared.settings)?;
        let link = self.shared.add(AnyLink::Played(Box::new(link)))?;
        Ok((link, name))
    }

    /// The settings for a link that is made now.
    fn settings(&self) -> Settings {
        let links = self.shared.state().links();
        self.shared.settings.for_link(links)
    }

    /// Accepts a peer that has connected to a listener of this process.
    ///
    /// # Errors
    /// As for [`Incoming::accept`]. A peer that is refused has been told the reason.
    pub fn accept(&self, incoming: Incoming) -> Result<Joined, Error> {
        self.shared.state().engine.is_open = true;
        let opening = incoming.opening().to_vec();
        let Opening {
            channel,
            key,
            terms: theirs,
            name,
        } = match parse(&opening) {
            Ok(found) => found,
            Err(why) => {
                incoming.refuse(why);
                return Err(Error::PeerMisbehaved(
                    "its opening asks for no known kind of link",
                ));
            }
        };
        let settings = &self.settings();
        let transport = incoming.transport().clone();
        let ours = Terms::new(settings, &transport);
        let limits = match Terms::decode(theirs) {
            Ok(theirs) => Limits::new(settings, &transport, ours, theirs),
            Err(error) => {
                incoming.refuse(&error.to_string());
                return Err(error);
            }
        };
        let config = config(settings);
        if channel == DATA && transport == Transport::Shm {
            let mut way = incoming.open(&welcome(&[0; KEY], &ours), &config, LINK_SLOTS)?;
            let memory = way.memory.take().expect("shared memory was made for shm");
            let lanes = server_lanes(&way.sizes, memory, LINK_SLOTS, Some(way.peer.clone()))?;
            let link = ShmLink::new(way.peer, &way.sizes, &limits, way.credentials, lanes);
            return Ok(Joined::Link(
                self.shared.add(AnyLink::Shm(Box::new(link)))?,
                name.to_vec(),
            ));
        }
        let mut waiting = self
            .shared
            .halves
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, half| half.since.elapsed() < SECOND_TIME);
        if channel == DATA {
            if waiting.len() >= HALF_MAX {
                incoming.refuse("too many endpoints are connecting at once; try again");
                return Err(Error::TimedOut("waiting for second connections".into()));
            }
            let mut key = [0; KEY];
            random(&mut key);
            let way = incoming.open(&welcome(&key, &ours), &config, LINK_SLOTS)?;
            let half = Half {
                since: Instant::now(),
                way,
                limits,
                name: name.to_vec(),
            };
            waiting.insert(key, half);
            return Ok(Joined::Half);
        }
        let Some(first) = waiting.remove(key) else {
            incoming.refuse("the first connection of this link no longer exists");
            return Err(Error::PeerMisbehaved(
                "a second connection has no first connection",
            ));
        };
        drop(waiting);
        let control = incoming.open(&welcome(&[0; KEY], &ours), &config, LINK_SLOTS)?;
        let link = StreamLink::new(
            first.way.peer,
            control.peer,
            first.limits,
            first.way.credentials,
        )?;
        Ok(Joined::Link(
            self.shared.add(AnyLink::Stream(Box::new(link)))?,
            first.name,
        ))
    }
}

/// The name of a peer that asks for a link. `None` for a second connection, and for other openings.
pub(crate) fn name_of(incoming: &Incoming) -> Option<&[u8]> {
    let Opening { channel, name, .. } = parse(incoming.opening()).ok()?;
    (channel == DATA).then_some(name)
}

/// The opening of a link's recording.
pub(crate) fn recorded(name: &[u8]) -> Vec<u8> {
    [&MAGIC[..], &[RECORDING, RECORDED], name].concat()
}

/// The name in the opening of a link's recording. `None` for other recordings.
pub(crate) fn name_recorded(opening: &[u8]) -> Option<&[u8]> {
    let rest = opening.strip_prefix(&MAGIC)?;
    rest.strip_prefix(&[RECORDING, RECORDED])
}

fn opening(channel: u8, key: &[u8; KEY], terms: &Terms, name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + name.len());
    bytes.extend(MAGIC);
    bytes.extend([VERSION, channel]);
    bytes.extend(key);
    bytes.extend(terms.encode());
    bytes.extend(name);
    bytes
}

fn welcome(key: &[u8; KEY], terms: &Terms) -> Vec<u8> {
    [&MAGIC[..], key, &terms.encode()].concat()
}

/// Decodes a welcome. Returns `None` if it is not the welcome of an endpoint.
fn parse_welcome(welcome: &[u8]) -> Result<Option<(&[u8; KEY], Terms)>, Error> {
    let Some(rest) = welcome.strip_prefix(&MAGIC) else {
        return Ok(None);
    };
    let wrong = || Error::PeerMisbehaved("its welcome is too short");
    let (key, rest) = rest.split_first_chunk().ok_or_else(wrong)?;
    let theirs = rest.first_chunk().ok_or_else(wrong)?;
    Ok(Some((key, Terms::decode(theirs)?)))
}

/// A decoded opening.
struct Opening<'a> {
    channel: u8,
    key: &'a [u8; KEY],
    terms: &'a [u8; Terms::BYTES],
    name: &'a [u8],
}

/// Decodes an opening, or returns the reason for a refusal.
fn parse(opening: &[u8]) -> Result<Opening<'_>, &'static str> {
    const VAGUE: &str = "its request for a link is invalid";
    let rest = opening
        .strip_prefix(&MAGIC)
        .ok_or("an endpoint is served here, which makes links and no connections")?;
    let (version, rest) = rest.split_first().ok_or(VAGUE)?;
    if *version != VERSION {
        return Err("endpoints of another version are served here; use the same release of Manganese on both");
    }
    let (channel, rest) = rest.split_first().ok_or(VAGUE)?;
    let (key, rest) = rest.split_first_chunk().ok_or(VAGUE)?;
    let (terms, name) = rest.split_first_chunk().ok_or(VAGUE)?;
    match *channel {
        DATA | CONTROL => Ok(Opening {
            channel: *channel,
            key,
            terms,
            name,
        }),
        _ => Err(VAGUE),
    }
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let terms = Terms::new(&Settings::default(), &Transport::Tcp);
    vec![
        opening(DATA, &[0; KEY], &terms, b"me"),
        opening(CONTROL, &[7; KEY], &terms, b""),
        welcome(&[7; KEY], &terms),
    ]
}

/// Reads arbitrary bytes as an opening and as a welcome.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn feed(bytes: &[u8]) {
    if let Ok(found) = parse(bytes) {
        if let Ok(terms) = Terms::decode(found.terms) {
            assert_eq!(opening(found.channel, found.key, &terms, found.name), bytes);
        }
    }
    if let Ok(Some((key, terms))) = parse_welcome(bytes) {
        assert!(bytes.starts_with(&welcome(key, &terms)));
    }
}
