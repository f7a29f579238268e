//! Pairs of our own endpoints. The buffers stay at the same addresses for the whole run.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, Result};
use mgn_fabric::endpoint::{Endpoint, Joined, LinkId, Received, Request, SendOptions, Wanted};
use mgn_fabric::endpoint::{Settings, AUTO, NEVER};
use mgn_fabric::{Listener, Token, Transport};

use crate::format::bytes;
use crate::net::measure::Test;
use crate::net::pair::{print_address, read_all, spin, End, Pair};

const DATA: u64 = 1;
const ACK: u64 = 2;
const CONTROL: u64 = 3;

/// The longest message that is sent eagerly with the setting `eager`.
const EAGER_MAX: usize = 256 << 10;

/// The smallest eager limit that can be set. The settings that send nothing eagerly use it.
const EAGER_MIN: usize = 64;

/// The smallest length for which receivers can read the sender's memory.
const SINGLE_COPY_MIN: usize = 4 << 10;

pub struct EndpointPair {
    test: Test,
    rank: usize,
    /// Whether messages are received in place.
    in_place: bool,
    link: LinkId,
    endpoint: Arc<Endpoint>,
    /// The number of messages in flight. If the test does not use their contents, all messages
    /// share one buffer on each side, as in other benchmarks.
    window: usize,
    buffers: Buffers,
}

/// Buffers for sending and receiving, which stay at the same addresses. The owner waits for every
/// request before it drops them, or ends the process.
pub struct Buffers {
    pub out: Vec<Vec<u8>>,
    pub into: Vec<Vec<u8>>,
    endpoint: Arc<Endpoint>,
}

impl Buffers {
    pub fn new(endpoint: &Arc<Endpoint>, count: usize, size: usize) -> Buffers {
        Buffers {
            out: vec![vec![1; size]; count],
            into: vec![vec![1; size]; count],
            endpoint: endpoint.clone(),
        }
    }

    /// Begins to send a buffer.
    pub fn isend(&mut self, at: usize, to: LinkId, tag: u64) -> Result<Option<Request>> {
        let piece = (self.out[at].as_mut_ptr(), self.out[at].len());
        // SAFETY: all callers wait for the request. So the buffer lives until the request has
        // ended, and is not written before.
        Ok(unsafe {
            self.endpoint
                .isend(to, tag, &[piece], SendOptions::default())
        }?)
    }

    /// Begins to receive into a buffer.
    pub fn irecv(&mut self, at: usize, wanted: Wanted) -> Request {
        let piece = (self.into[at].as_mut_ptr(), self.into[at].len());
        // SAFETY: as above; the buffer is not read before the request has ended.
        unsafe { self.endpoint.irecv(wanted, &[piece]) }
    }
}

/// The token of all measurements. Any process on this machine may take part in one.
pub fn token(transport: &Transport) -> Result<Option<Token>> {
    let token: Token = "5".repeat(64).parse()?;
    Ok(transport.needs_token().then_some(token))
}

/// Listens for links. `name` distinguishes the addresses of one process, and `host` is the address
/// to listen at for TCP.
pub fn listen(transport: &Transport, name: &str, host: IpAddr) -> Result<Listener> {
    let address = match transport {
        Transport::Tcp => format!("tcp:{}", SocketAddr::new(host, 0)),
        _ => format!("unix:@mgn-bench-{}-{name}", std::process::id()),
    };
    Ok(Listener::bind(&address.parse()?, token(transport)?)?)
}

/// Waits for the next link. Returns the link and the name that the other end gave.
pub fn accept(endpoint: &Endpoint, listener: &Listener) -> Result<(LinkId, Vec<u8>)> {
    loop {
        if let Joined::Link(link, name) = endpoint.accept(listener.accept()?)? {
            return Ok((link, name));
        }
    }
}

pub fn connect(
    endpoint: &Endpoint,
    transport: &Transport,
    address: &str,
    name: &str,
) -> Result<LinkId> {
    let (token, timeout) = (token(transport)?, Duration::from_secs(10));
    let (address, name) = (address.parse()?, name.as_bytes());
    Ok(endpoint.connect(&address, transport, token.as_ref(), name, timeout)?)
}

/// The transport with this name: `shm`, `unix`, `tcp`, or `tls`, which is encrypted TCP.
///
/// # Errors
/// For any other name.
pub fn transport(name: &str) -> Result<Transport> {
    Ok(match name {
        "shm" => Transport::Shm,
        "unix" => Transport::Unix,
        "tcp" | "tls" => Transport::Tcp,
        _ => bail!("endpoints have no transport {name}; use shm, unix, tcp or tls"),
    })
}

/// The settings of this machine, changed so that messages of any length are sent in the same way.
/// With `eager`, messages of up to [`EAGER_MAX`] bytes are sent immediately. With `offered`, a
/// message is sent when the receiver has memory for it. With `single`, the receiver in addition
/// reads the message from the sender's memory.
fn settings_of(manner: &str) -> Result<Settings> {
    let mut settings = Settings::load()?;
    let (eager, single) = match manner {
        "eager" => (EAGER_MAX, NEVER),
        "offered" => (EAGER_MIN, NEVER),
        "single" => (EAGER_MIN, SINGLE_COPY_MIN),
        _ => return Ok(settings),
    };
    settings.eager_shm = eager;
    settings.eager_unix = eager;
    settings.eager_tcp = eager;
    settings.single_copy_shm = single;
    settings.single_copy_unix = single;
    Ok(settings)
}

impl EndpointPair {
    pub fn new(end: &End, channel: &str, address: &str) -> Result<EndpointPair> {
        let (name, manner) = channel.split_once('-').unwrap_or((channel, ""));
        let (transport, in_place) = (transport(name)?, manner == "placed");
        let endpoint = Arc::new(Endpoint::with(settings_of(manner)?)?);
        let link = if end.rank == 0 {
            connect(&endpoint, &transport, address, "")?
        } else {
            let listener = match name {
                "tls" => {
                    let address = format!("tls:{}", SocketAddr::new(end.listen, 0));
                    Listener::bind(&address.parse()?, token(&transport)?)?
                }
                _ => listen(&transport, "pair", end.listen)?,
            };
            print_address(&listener.address().to_string())?;
            accept(&endpoint, &listener)?.0
        };
        Ok(EndpointPair {
            test: end.test,
            rank: end.rank,
            in_place,
            link,
            window: 0,
            buffers: Buffers::new(&endpoint, 0, 0),
            endpoint,
        })
    }

    fn isend(&mut self, at: usize) -> Result<Option<Request>> {
        self.buffers.isend(at, self.link, DATA)
    }

    fn irecv(&mut self, at: usize) -> Request {
        self.buffers.irecv(at, Wanted::new(self.link, DATA))
    }

    fn take(&mut self) -> Result<Received> {
        let taken = self.endpoint.take(&Wanted::new(self.link, DATA), None)?;
        Ok(taken.expect("without a timeout it comes"))
    }

    fn send(&self, tag: u64, bytes: &[u8]) -> Result<()> {
        let options = SendOptions::default();
        Ok(self.endpoint.send(self.link, tag, bytes, options)?)
    }

    fn latency(&mut self) -> Result<()> {
        let wanted = Wanted::new(self.link, DATA);
        if self.rank == 0 {
            self.send(DATA, &self.buffers.out[0])?;
            self.endpoint.recv(wanted, &mut self.buffers.into[0])?;
        } else {
            self.endpoint.recv(wanted, &mut self.buffers.into[0])?;
            self.send(DATA, &self.buffers.out[0])?;
        }
        Ok(())
    }

    fn stream(&mut self, turn: u64) -> Result<()> {
        let both = self.test == Test::Both;
        let fresh = self.test == Test::Fresh;
        let window = self.window;
        let place = |at: usize| if fresh { at } else { 0 };
        let mut receives = Vec::with_capacity(window);
        let mut sends = Vec::with_capacity(window);
        if both || self.rank == 1 {
            receives.extend((0..window).map(|at| self.irecv(place(at))));
        }
        if both || self.rank == 0 {
            for at in 0..window {
                if fresh {
                    self.buffers.out[at].fill(turn as u8);
                }
                sends.extend(self.isend(place(at))?);
            }
        }
        for (at, receive) in receives.into_iter().enumerate() {
            self.endpoint.wait(receive, None)?;
            if fresh {
                read_all(&self.buffers.into[at]);
            }
        }
        for send in sends {
            self.endpoint.wait(send, None)?;
        }
        self.acknowledge()
    }

    fn acknowledge(&mut self) -> Result<()> {
        match self.rank {
            0 => drop(self.endpoint.recv(Wanted::new(self.link, ACK), &mut [0])?),
            _ => self.send(ACK, &[0])?,
        }
        Ok(())
    }

    fn place(&mut self, turn: u64) -> Result<()> {
        let (size, mut sends) = (self.buffers.out[0].len(), Vec::new());
        for _ in 0..self.window {
            if self.rank == 0 {
                let mut room = self.endpoint.reserve(self.link, size)?;
                // SAFETY: the reservation has `size` bytes.
                unsafe { room.as_mut_ptr().write_bytes(turn as u8, size) };
                sends.extend(room.commit(size, DATA, SendOptions::default())?);
            } else {
                let taken = self.take()?;
                // SAFETY: the message has this length, and its sender does not change it any more.
                read_all(unsafe { std::slice::from_raw_parts(taken.as_ptr(), taken.len()) });
            }
        }
        for send in sends {
            self.endpoint.wait(send, None)?;
        }
        self.acknowledge()
    }

    /// Returns the seconds that this end waited after it had computed.
    fn overlap(&mut self, compute: f64) -> Result<f64> {
        let receive = (!self.in_place).then(|| self.irecv(0));
        let send = match self.in_place {
            true => {
                // Writing the message in place counts as computing.
                let size = self.buffers.out[0].len();
                let room = self.endpoint.reserve(self.link, size)?;
                room.commit(size, DATA, SendOptions::default())?
            }
            false => self.isend(0)?,
        };
        spin(compute);
        let start = Instant::now();
        match receive {
            Some(receive) => drop(self.endpoint.wait(receive, None)?),
            None => drop(self.take()?),
        }
        if let Some(send) = send {
            self.endpoint.wait(send, None)?;
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

impl Pair for EndpointPair {
    fn agree(&mut self, words: [u64; 2]) -> Result<[u64; 2]> {
        let mut bytes = [words[0].to_le_bytes(), words[1].to_le_bytes()].concat();
        if self.rank == 0 {
            self.send(CONTROL, &bytes)?;
        } else {
            self.endpoint
                .recv(Wanted::new(self.link, CONTROL), &mut bytes)?;
        }
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Ok([word(0), word(8)])
    }

    fn prepare(&mut self, size: usize, window: usize) -> Result<()> {
        // No request is under way, so the old buffers can be dropped.
        let count = if self.test == Test::Fresh { window } else { 1 };
        self.buffers = Buffers::new(&self.endpoint, count, size);
        self.window = window;
        Ok(())
    }

    fn turn(&mut self, turn: u64, compute: f64) -> Result<f64> {
        match self.test {
            Test::Latency => self.latency()?,
            Test::InPlace => self.place(turn)?,
            Test::Overlap | Test::Sweep | Test::Exchange => return self.overlap(compute),
            _ => self.stream(turn)?,
        }
        Ok(0.0)
    }
}

/// The settings of endpoints on this machine, if they can be read.
pub fn settings() -> Option<Settings> {
    Settings::load().ok()
}

/// The settings for shared memory as a sentence.
pub fn settings_in_words() -> Option<String> {
    let settings = settings()?;
    let eager = bytes(settings.eager_shm as f64);
    let copies = match settings.single_copy_shm {
        NEVER => "longer ones are copied twice".to_string(),
        AUTO => {
            "longer ones are copied once or twice, whichever each link finds faster".to_string()
        }
        from => format!("from {}B on they are copied once", bytes(from as f64)),
    };
    Some(format!(
        "Settings of endpoints (mgn tune): messages up to {eager}B are sent at once, {copies}"
    ))
}
