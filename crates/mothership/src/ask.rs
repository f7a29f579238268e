//! Asking the mothership for servers that draw for a program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{mpsc, Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::{is_name, Address, PublicKey, Token, Transport};
use mgn_wall::Wall;
use mgn_wire::failover::DisplayPhase;

use crate::core::{HEARTBEAT_INTERVAL, SILENCE_TIMEOUT};
use crate::failover::Failover;
use crate::link::{Link, ANSWER_TIME};
use crate::protocol::{
    has_tile, Drawn, End, FromMothership, Needs, Request, ToMothership, TransportKind, Wanted,
    Whereabouts,
};
use crate::Error;

/// The time between attempts to reconnect to a mothership.
pub(crate) const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The servers that draw for a program. The mothership considers the program running until this is
/// dropped.
#[derive(Debug)]
pub struct Match {
    pub wall: Wall,
    /// One server for each tile of the wall.
    pub tiles: Vec<TileServer>,
    /// Stream processing units that the wall's configuration puts into the program's own process.
    pub client_chain: Vec<String>,
    shared: Arc<Shared>,
    /// Receives the servers that replace lost ones, with the numbers of their tiles. `None` after a
    /// [`Failover`] has taken it.
    successors: Option<mpsc::Receiver<(usize, TileServer)>>,
}

/// A server and how to reach it.
#[derive(Debug, Clone, PartialEq)]
pub struct TileServer {
    pub server: String,
    pub address: Address,
    pub transport: Transport,
    /// The file with the token with which a client authenticates, if the server requires one.
    pub token_file: Option<PathBuf>,
    /// The server's public key, if the connection is encrypted.
    pub key: Option<PublicKey>,
}

#[derive(Debug, Default)]
struct Shared {
    has_left: AtomicBool,
    frames: AtomicU64,
    bytes: AtomicU64,
    reports: TileReports,
}

/// The reports of a program's processes about its tiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct TileReports(Arc<Mutex<Reported>>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Reported {
    /// The tiles without a renderer: bit N stands for tile N.
    pub tiles: u64,
    /// How often programs have reported that the server at an address cannot draw one of these
    /// tiles. Programs repeat the report while the tile has no renderer, because the mothership
    /// forgets the report when the server registers again.
    pub unfit: BTreeMap<(usize, String), u32>,
    /// The phases of the displays of genlocked tiles, by tile number.
    pub phases: BTreeMap<u32, DisplayPhase>,
}

/// The largest number of stored pairs of a tile and a server that cannot draw it.
const UNFIT_MAX: usize = 256;

impl TileReports {
    pub fn set(&self, tiles: u64) {
        let mut reported = self.lock();
        reported.tiles = tiles;
        reported
            .unfit
            .retain(|(tile, _), _| has_tile(tiles, *tile as u32));
    }

    pub fn set_phases(&self, phases: BTreeMap<u32, DisplayPhase>) {
        self.lock().phases = phases;
    }

    /// Stores that the server at this address cannot draw a tile.
    pub fn add_unfit(&self, tile: usize, address: String) {
        let unfit = &mut self.lock().unfit;
        let key = (tile, address);
        if unfit.len() < UNFIT_MAX || unfit.contains_key(&key) {
            let times = unfit.entry(key).or_default();
            *times = times.wrapping_add(1);
        }
    }

    pub fn now(&self) -> Reported {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Reported> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TileServer {
    fn new(end: &End, token_file: Option<&Path>) -> Result<TileServer, Error> {
        Ok(TileServer {
            server: end.server.clone(),
            address: end.address.parse()?,
            transport: match end.transport {
                TransportKind::Shm => Transport::Shm,
                TransportKind::Unix => Transport::Unix,
                TransportKind::Tcp => Transport::Tcp,
            },
            key: end.key.as_deref().map(str::parse).transpose()?,
            token_file: match (&end.token, token_file) {
                (Some(name), Some(file)) => Some(beside(file, name)?),
                (_, file) => file.map(Path::to_owned),
            },
        })
    }
}

/// The path of a token file in the folder of the mothership's token file.
fn beside(file: &Path, name: &str) -> Result<PathBuf, Error> {
    if !is_name(name) {
        return Err(Error::Refused(
            "the mothership names no file for a server's token".into(),
        ));
    }
    let file = std::path::absolute(file).map_err(Error::io("cannot find the token's folder"))?;
    Ok(file.with_file_name(name))
}

impl Request {
    /// A request that this process makes for a program.
    pub fn new(wanted: Wanted, program: &str) -> Request {
        Request {
            wanted,
            needs: Needs::default(),
            whereabouts: Whereabouts::here(),
            transport: None,
            program: program.into(),
            pid: std::process::id(),
            held: None,
        }
    }
}

/// Asks the mothership at `address`, and waits for up to `patience` until servers are available.
/// `on_wait` is called with the reason for the wait, whenever the reason changes. `token_file`
/// holds the token for the mothership and for the servers. If a server has its own token, the file
/// with this token is in the same folder.
///
/// # Errors
/// [`Error::NotThere`]; [`Error::Forbidden`]; [`Error::NoAnswer`]; [`Error::Patience`];
/// [`Error::Refused`] for a request that no server can fulfil, which says what is missing.
pub fn ask(
    address: &Address,
    token_file: Option<&Path>,
    mut request: Request,
    patience: Duration,
    mut on_wait: impl FnMut(&str),
) -> Result<Match, Error> {
    // A program may change its working directory, so the path must be absolute.
    let token_file = token_file.map(std::path::absolute).transpose();
    let token_file = token_file.map_err(Error::io("cannot find the token's folder"))?;
    let token_file = token_file.as_deref();
    let token = token_file.map(Token::read).transpose()?;
    let mut link = Link::open(address, token.as_ref())?;
    link.say(&ToMothership::Client(Box::new(request.clone())))?;
    let start = Instant::now();
    let mut waits_for: Option<String> = None;
    let matched = loop {
        // A working mothership sends its first answer at once.
        let limit = match waits_for {
            Some(_) => patience,
            None => ANSWER_TIME,
        };
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            let seconds = patience.as_secs();
            let why = waits_for.ok_or(Error::NoAnswer)?;
            return Err(Error::Patience { seconds, why });
        }
        match link.recv(left.min(HEARTBEAT_INTERVAL))? {
            Some(FromMothership::Matched(matched)) => break matched,
            Some(FromMothership::Refused(why)) => return Err(Error::Refused(why)),
            Some(FromMothership::Waiting(why)) => {
                on_wait(&why);
                waits_for = Some(why);
            }
            _ => {}
        }
        link.say(&ToMothership::Alive)?;
    };
    let tiles = matched.ends.iter();
    let tiles = tiles.map(|end| TileServer::new(end, token_file));
    let tiles: Vec<TileServer> = tiles.collect::<Result<_, Error>>()?;
    let wall = matched.wall.clone();
    let client_chain = matched.client_chain.clone();
    wall.check()
        .map_err(|error| Error::Refused(error.to_string()))?;
    let shared = Arc::new(Shared::default());
    request.held = Some(matched);
    let (follower, successors) = mpsc::channel();
    let member = Member {
        address: address.clone(),
        token,
        token_file: token_file.map(Path::to_owned),
        request,
        shared: shared.clone(),
        follower,
    };
    thread::Builder::new()
        .name("mothership".into())
        .spawn(move || member.stay(link))
        .map_err(Error::io("cannot start a thread"))?;
    Ok(Match {
        wall,
        tiles,
        client_chain,
        shared,
        successors: Some(successors),
    })
}

impl Match {
    /// Reports the numbers of frames and bytes that the program has drawn and sent so far.
    pub fn report(&self, frames: u64, bytes: u64) {
        self.shared.frames.store(frames, Ordering::Relaxed);
        self.shared.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Lets the programs of the run in `run_dir` report lost renderers, and tells them the
    /// replacement servers that the mothership finds. Call this before the programs start.
    ///
    /// # Errors
    /// An error if programs cannot connect in `run_dir`.
    pub fn failover(&mut self, run_dir: &Path) -> Result<Option<Failover>, Error> {
        let successors = self.successors.take();
        let listen =
            |successors| Failover::listen(run_dir, self.shared.reports.clone(), successors);
        successors.map(listen).transpose()
    }
}

impl Drop for Match {
    fn drop(&mut self) {
        self.shared.has_left.store(true, Ordering::Relaxed);
    }
}

/// Keeps the mothership informed about the program. After the mothership has ended, this informs
/// the next one.
struct Member {
    address: Address,
    token: Option<Token>,
    token_file: Option<PathBuf>,
    request: Request,
    shared: Arc<Shared>,
    follower: mpsc::Sender<(usize, TileServer)>,
}

impl Member {
    fn stay(mut self, link: Link) {
        let mut link = Some(link);
        while !self.shared.has_left.load(Ordering::Relaxed) {
            if let Some(link) = link.take() {
                if let Err(error) = self.attend(link) {
                    tracing::debug!("the mothership cannot be reached: {error}");
                }
            }
            thread::sleep(RETRY_INTERVAL);
            let again = || -> Result<Link, Error> {
                let link = Link::open(&self.address, self.token.as_ref())?;
                link.say(&ToMothership::Client(Box::new(self.request.clone())))?;
                Ok(link)
            };
            link = again().ok();
        }
    }

    /// Exchanges messages with the mothership until the connection or the program ends.
    fn attend(&mut self, mut link: Link) -> Result<(), Error> {
        const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(200);
        let mut heard = Instant::now();
        let mut said = Instant::now();
        let mut told = Reported::default();
        while !self.shared.has_left.load(Ordering::Relaxed) && heard.elapsed() < SILENCE_TIMEOUT {
            let reported = self.shared.reports.now();
            if told.tiles != reported.tiles {
                link.say(&ToMothership::Holes(reported.tiles))?;
            }
            for (key, times) in &reported.unfit {
                if told.unfit.get(key) != Some(times) {
                    let (tile, address) = (key.0 as u32, key.1.clone());
                    link.say(&ToMothership::Unfit { tile, address })?;
                }
            }
            if told.phases != reported.phases {
                let phases = reported.phases.clone().into_iter().collect();
                link.say(&ToMothership::Phases(phases))?;
            }
            told = reported;
            match link.recv(STOP_CHECK_INTERVAL)? {
                Some(FromMothership::Instead { tile, end }) => self.follow(tile as usize, end)?,
                Some(FromMothership::Gone { server, why }) => {
                    tracing::debug!(
                        "the server {server} is no longer registered with the mothership: {why}"
                    )
                }
                Some(_) => {}
                None => {
                    if said.elapsed() >= HEARTBEAT_INTERVAL {
                        said = Instant::now();
                        link.say(&self.drawn())?;
                    }
                    continue;
                }
            }
            heard = Instant::now();
        }
        Ok(())
    }

    /// Assigns another server to a tile. The request to the next mothership contains this server
    /// too.
    fn follow(&mut self, tile: usize, end: End) -> Result<(), Error> {
        let server = TileServer::new(&end, self.token_file.as_deref())?;
        let held = self.request.held.as_mut();
        let Some(known) = held.and_then(|held| held.ends.get_mut(tile)) else {
            return Ok(());
        };
        *known = end;
        // Without a `Failover`, the channel has no receiver, and the error is harmless.
        let _ = self.follower.send((tile, server));
        Ok(())
    }

    fn drawn(&self) -> ToMothership {
        match (
            self.shared.frames.load(Ordering::Relaxed),
            self.shared.bytes.load(Ordering::Relaxed),
        ) {
            (0, 0) => ToMothership::Alive,
            (frames, bytes) => ToMothership::Drawn(Drawn { frames, bytes }),
        }
    }
}
