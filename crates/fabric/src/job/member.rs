//! A process that has joined a job. It accepts links from the other processes, and opens links to
//! them.
//!
//! There is at most one link between two processes. If both try to connect at the same time, the
//! lower rank refuses the higher rank's attempt, and the higher rank accepts the lower one's. A
//! process that has a link to a peer refuses another link from the peer until it knows that the old
//! link has ended. A process whose attempt is refused tries again until its timeout.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mgn_sys::interfaces::{self, Interface};
use rustix::event::{EventfdFlags, PollFd, PollFlags};
use zeroize::Zeroizing;

use super::broadcast::{self, Broadcasts, Reader, Writer};
use super::interfaces::Choice;
use super::pmi::Pmi;
use super::sealed::{seal, Opener};
use super::{digest, local, lock, own_host, Job, Places};
use crate::endpoint::{name_of, Endpoint, Joined, LinkId};
use crate::wait::{poll, Deadline};
use crate::{connect, Address, Error, Incoming, Listener, Token, Transport};

/// The time limit of one attempt to connect.
const ATTEMPT: Duration = Duration::from_secs(5);

/// The first and the longest pause after a failed attempt. The peer may not have started yet.
const PAUSE: Duration = Duration::from_millis(2);
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// The time limit of an incoming connection. The second connection of a link over sockets has a
/// time limit of 10 s.
const COMING: Duration = Duration::from_secs(12);

/// The time for which a process that leaves waits until its messages are sent.
const LEAVING: Duration = Duration::from_secs(10);

/// A process of a job. Its [`Endpoint`] has the links that the process has opened and accepted.
pub struct Member {
    shared: Arc<Shared>,
    door: Mutex<Option<(JoinHandle<()>, OwnedFd)>>,
    launcher: Mutex<Option<Pmi>>,
    hosts: Hosts,
    token: Option<Token>,
    /// Whether traffic between hosts is encrypted.
    tls: bool,
    port: u16,
    interfaces: Vec<Interface>,
    owner: u32,
}

pub(super) struct Shared {
    pub(super) endpoint: Endpoint,
    pub(super) broadcasts: Broadcasts,
    name: String,
    /// The source of the job's description.
    source: &'static str,
    rank: u32,
    size: u32,
    peers: Mutex<Vec<Peer>>,
    news: Condvar,
    has_left: AtomicBool,
}

/// The state of the connection to one rank.
#[derive(Clone, Debug, Default)]
struct Peer {
    link: Option<LinkId>,
    /// Set while a thread of this process is connecting to the peer.
    is_opening: bool,
    /// The time at which the peer began to connect to this process.
    coming: Option<Instant>,
}

/// The hosts of the ranks.
#[derive(Debug)]
enum Hosts {
    Known(Vec<String>),
    /// Only the launcher knows the hosts. Holds this machine's key.
    Asked(String),
}

/// The host of one rank, and the ways to reach it.
#[derive(Debug)]
struct RankAddresses {
    host: String,
    ways: Vec<(Address, Transport)>,
}

impl Job {
    /// Starts an endpoint, listens at this rank's addresses, and accepts other processes of the job
    /// from now on. With a launcher that speaks PMI, this waits until all processes have called it.
    ///
    /// # Errors
    /// [`Error::InUse`] if another job of this user has the same name or the same ports;
    /// [`Error::Job`]; [`Error::Io`].
    pub fn join(self) -> Result<Member, Error> {
        let endpoint = Endpoint::new()?;
        let size = self.size();
        let Job {
            name,
            rank,
            places,
            choice,
            port,
            mut token,
            tls,
            source,
        } = self;
        let shared = Arc::new(Shared {
            endpoint,
            broadcasts: Broadcasts::default(),
            name,
            source,
            rank,
            size,
            peers: Mutex::new(vec![Peer::default(); size as usize]),
            news: Condvar::new(),
            has_left: AtomicBool::new(false),
        });
        let mut listeners = Vec::new();
        let mut chosen = Vec::new();
        let (hosts, launcher) = match places {
            Places::Hosts(hosts) => {
                let here = &hosts[rank as usize];
                if hosts.iter().filter(|host| *host == here).count() > 1 {
                    listeners.push(shared.listen_here()?);
                }
                if hosts.iter().any(|host| host != here) {
                    let token = token.as_ref().ok_or_else(|| {
                        Error::Job(format!("job {} is on several hosts and needs a secret: run mgn token new FILE, copy the file to all hosts, and set MGN_TOKEN_FILE to it", shared.name))
                    })?;
                    let port = port_of(port, rank)?;
                    chosen = usable(choice.as_ref(), Some(here))?;
                    listeners.extend(listen_everywhere(&chosen, port, token, tls)?);
                }
                (Hosts::Known(hosts), None)
            }
            Places::Launcher(mut pmi) => {
                let machine = machine();
                if size > 1 {
                    listeners.push(shared.listen_here()?);
                    let is_spread = exchange(&mut pmi, &machine, &mut token)?;
                    let mut place = own_host();
                    if let (true, Some(token)) = (is_spread, &token) {
                        chosen = usable(choice.as_ref(), None)?;
                        for listener in listen_everywhere(&chosen, 0, token, tls)? {
                            place.push_str(&format!(";{}", listener.address()));
                            listeners.push(listener);
                        }
                    }
                    pmi.put(&place_key(rank), &place)?;
                    pmi.barrier()?;
                }
                (Hosts::Asked(machine), Some(pmi))
            }
        };
        shared.expect(&shared.peers());
        tracing::info!(
            "rank {rank} of {size} of job {} (from {source}), listening at {}",
            shared.name,
            shown(&listeners, &chosen)
        );
        let door = match listeners.is_empty() {
            true => None,
            false => Some(open_door(&shared, listeners)?),
        };
        Ok(Member {
            shared,
            door: Mutex::new(door),
            launcher: Mutex::new(launcher),
            hosts,
            token,
            tls,
            port,
            interfaces: chosen,
            owner: std::process::id(),
        })
    }
}

impl Member {
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    pub fn rank(&self) -> u32 {
        self.shared.rank
    }

    pub fn size(&self) -> u32 {
        self.shared.size
    }

    /// The endpoint, which carries the messages.
    pub fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }

    /// The interfaces at which processes on other hosts are accepted. Empty if the job is on one
    /// host.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// A key that only the processes of the job can derive. `None` in a job on one host without a
    /// token.
    pub fn key(&self, purpose: &str) -> Option<Zeroizing<[u8; 32]>> {
        self.token.as_ref().map(|token| token.derive(purpose))
    }

    /// The host of a rank.
    ///
    /// # Errors
    /// [`Error::Job`] for a rank that the job does not have; errors of the launcher.
    pub fn host(&self, rank: u32) -> Result<String, Error> {
        Ok(self.place(rank)?.host)
    }

    /// The rank at a link's other end. `None` for links that this job did not make, and for links
    /// that were replaced.
    pub fn rank_of(&self, link: LinkId) -> Option<u32> {
        if link == self.shared.endpoint.own() {
            return Some(self.shared.rank);
        }
        let peers = self.shared.peers();
        let at = peers.iter().position(|peer| peer.link == Some(link))?;
        Some(at as u32)
    }

    /// The open link to a rank, if there is one.
    pub fn link(&self, rank: u32) -> Option<LinkId> {
        let peers = self.shared.peers();
        self.shared.come(peers.get(rank as usize)?)
    }

    /// The link to a rank. If there is no link, waits until the process has started and either end
    /// has made the link. The link to the own rank always exists.
    ///
    /// # Errors
    /// [`Error::TimedOut`] names the rank that did not answer, and the last error;
    /// [`Error::Closed`] when this process has left; [`Error::Job`] for a rank that the job does
    /// not have; [`Error::Auth`] and similar errors if the process on another host does not belong
    /// to the job.
    pub fn open(&self, rank: u32, timeout: Duration) -> Result<LinkId, Error> {
        self.open_to(rank, timeout, false)
    }

    /// Does the same as [`Member::open`] for a process that is known to have joined. If no process
    /// listens at its address any more, it has ended, and this returns at once.
    ///
    /// # Errors
    /// As for [`Member::open`], and [`Error::Closed`].
    pub fn open_joined(&self, rank: u32, timeout: Duration) -> Result<LinkId, Error> {
        self.open_to(rank, timeout, true)
    }

    fn open_to(&self, rank: u32, timeout: Duration, has_joined: bool) -> Result<LinkId, Error> {
        let shared = &*self.shared;
        self.check(rank)?;
        if rank == shared.rank {
            return Ok(shared.endpoint.own());
        }
        let deadline = Deadline::after(Some(timeout));
        let mut peers = shared.peers();
        loop {
            let peer = &peers[rank as usize];
            if let Some(link) = peer.link.filter(|link| shared.endpoint.is_open(*link)) {
                return Ok(link);
            }
            let is_coming = peer.coming.is_some_and(|since| since.elapsed() < COMING);
            if !peer.is_opening && !is_coming {
                break;
            }
            if deadline.passed() {
                drop(peers);
                return Err(self.absent(rank, None));
            }
            peers = shared.wait(peers, deadline.left(PAUSE_MAX));
        }
        peers[rank as usize].is_opening = true;
        drop(peers);
        let result = self.connect(rank, &deadline, has_joined);
        let mut peers = shared.peers();
        let peer = &mut peers[rank as usize];
        peer.is_opening = false;
        if let Ok(link) = result {
            // This process's attempt has succeeded although the peer also made a link. The peer has
            // then given up its own link.
            if let Some(old) = peer.link.replace(link).filter(|old| *old != link) {
                shared.endpoint.close(old);
            }
            shared.expect(&peers);
        }
        shared.news.notify_all();
        result
    }

    /// Tries to connect until that succeeds, or until the peer has connected to us.
    fn connect(&self, rank: u32, deadline: &Deadline, has_joined: bool) -> Result<LinkId, Error> {
        let shared = &*self.shared;
        let place = self.place(rank)?;
        let opening = shared.opening();
        let mut pause = PAUSE;
        loop {
            let mut last = None;
            let made = self.attempt(
                &place,
                deadline,
                &mut last,
                |address, transport, token, time| {
                    shared
                        .endpoint
                        .connect(address, transport, token, &opening, time)
                },
            )?;
            if let Some(link) = made {
                return Ok(link);
            }
            let peers = shared.peers();
            if let Some(link) = shared.come(&peers[rank as usize]) {
                return Ok(link);
            }
            if let (true, Some(Error::Unreachable { source, .. })) = (has_joined, &last) {
                let kind = source.kind();
                if [io::ErrorKind::ConnectionRefused, io::ErrorKind::NotFound].contains(&kind) {
                    return Err(Error::Closed(format!("rank {rank}")));
                }
            }
            let peers = shared.wait(peers, deadline.left(pause));
            if let Some(link) = shared.come(&peers[rank as usize]) {
                return Ok(link);
            }
            if deadline.passed() {
                drop(peers);
                return Err(self.absent(rank, last));
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Opens broadcast connection `number`. This process writes to it, and the others can read it
    /// from now on. `longest` is the length of the longest message, at most 16 MiB.
    ///
    /// # Errors
    /// [`Error::Job`] if the number is open already; [`Error::Misuse`] for an impossible length.
    pub fn broadcast(&self, number: u32, longest: usize) -> Result<Writer, Error> {
        self.shared.broadcasts.open(&self.shared, number, longest)
    }

    /// Joins broadcast connection `number` of rank `writer`. Waits until the rank has opened it.
    ///
    /// # Errors
    /// As for [`Member::open`]; [`Error::Job`] for the own rank, which cannot read its own
    /// broadcast.
    pub fn read_broadcast(
        &self,
        writer: u32,
        number: u32,
        timeout: Duration,
    ) -> Result<Reader, Error> {
        let place = self.place(writer)?;
        if writer == self.shared.rank {
            return Err(Error::Job(format!(
                "rank {writer} writes broadcast {number} and cannot read it as well"
            )));
        }
        let deadline = Deadline::after(Some(timeout));
        let opening = broadcast::opening(number, &self.shared.opening());
        let mut pause = PAUSE;
        loop {
            let mut last = None;
            let made =
                self.attempt(&place, &deadline, &mut last, |address, way, token, time| {
                    connect(address, way.clone(), token, &opening, time)
                })?;
            if let Some((connection, _)) = made {
                return Ok(Reader::new(connection));
            }
            if deadline.passed() {
                return Err(self.absent(writer, last));
            }
            std::thread::sleep(deadline.left(pause));
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Tries each way to a place once. Returns `None` if no way has worked, but a later attempt may
    /// work. `last` is then the reason.
    fn attempt<T>(
        &self,
        place: &RankAddresses,
        deadline: &Deadline,
        last: &mut Option<Error>,
        connect: impl Fn(&Address, &Transport, Option<&Token>, Duration) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        if self.shared.has_left.load(Ordering::Acquire) {
            return Err(Error::Closed("this end".into()));
        }
        let others = place.ways.iter().flat_map(|(address, transport)| {
            let others = local::elsewhere(address).into_iter();
            others.map(|other| (other, transport.clone()))
        });
        for (address, transport) in place.ways.iter().cloned().chain(others) {
            let token = self.token.as_ref().filter(|_| transport.needs_token());
            let time = deadline.left(ATTEMPT).max(Duration::from_millis(1));
            match connect(&address, &transport, token, time) {
                Ok(made) => return Ok(Some(made)),
                Err(error @ Error::NotNow(_)) => {
                    *last = Some(error);
                    break;
                }
                Err(Error::Refused(why)) => return Err(Error::Refused(why)),
                // Another user has taken the name. The wanted rank may listen at another name.
                Err(error @ Error::Auth(_)) if transport == Transport::Shm => *last = Some(error),
                Err(
                    error @ (Error::Auth(_)
                    | Error::Version { .. }
                    | Error::NotManganese(_)
                    | Error::PeerMisbehaved(_)),
                ) => return Err(error),
                Err(error) => *last = Some(error),
            }
        }
        Ok(None)
    }

    fn absent(&self, rank: u32, last: Option<Error>) -> Error {
        let host = self
            .place(rank)
            .map_or_else(|_| "?".into(), |place| place.host);
        let last = last.map_or_else(String::new, |error| format!(" (last: {error})"));
        Error::TimedOut(format!(
            "waiting for rank {rank} of job {} on {host}{last}",
            self.shared.name
        ))
    }

    fn check(&self, rank: u32) -> Result<(), Error> {
        match rank < self.shared.size {
            true => Ok(()),
            false => Err(Error::Job(format!(
                "there is no rank {rank} in job {} of {} (from {})",
                self.shared.name, self.shared.size, self.shared.source
            ))),
        }
    }

    fn place(&self, rank: u32) -> Result<RankAddresses, Error> {
        self.check(rank)?;
        let here = || vec![(self.shared.address(rank), Transport::Shm)];
        match &self.hosts {
            Hosts::Known(hosts) => {
                let host = hosts[rank as usize].clone();
                let ways = match host == hosts[self.shared.rank as usize] {
                    true => here(),
                    false => vec![(
                        Address::Tcp {
                            host: host.clone(),
                            port: port_of(self.port, rank)?,
                            tls: self.tls,
                            server: None,
                        },
                        Transport::Tcp,
                    )],
                };
                Ok(RankAddresses { host, ways })
            }
            Hosts::Asked(machine) => {
                let mut launcher = lock(&self.launcher);
                let pmi = launcher
                    .as_mut()
                    .ok_or(Error::Misuse("the job has been left"))?;
                if self.shared.size == 1 {
                    return Ok(RankAddresses {
                        host: own_host(),
                        ways: Vec::new(),
                    });
                }
                let is_here = pmi.get(&machine_key(rank))? == *machine;
                let value = pmi.get(&place_key(rank))?;
                let mut parts = value.split(';');
                let host = parts.next().unwrap_or_default().into();
                let ways = match is_here {
                    true => here(),
                    false => parts
                        .map(|text| match text.parse()? {
                            Address::Tcp { tls, .. } if tls != self.tls => Err(self.mixed(rank)),
                            address => Ok((address, Transport::Tcp)),
                        })
                        .collect::<Result<_, Error>>()?,
                };
                Ok(RankAddresses { host, ways })
            }
        }
    }

    fn mixed(&self, rank: u32) -> Error {
        let (here, there) = match self.tls {
            true => ("encrypts", "does not"),
            false => ("does not encrypt", "does"),
        };
        Error::Job(format!(
            "rank {} of job {} {here} and rank {rank} {there}: set the same MGN_TLS for all processes",
            self.shared.rank, self.shared.name
        ))
    }

    /// Whether this process has left the job.
    pub fn has_left(&self) -> bool {
        self.shared.has_left.load(Ordering::Acquire)
    }

    /// Leaves the job: sends remaining messages, and closes all links. Waiting operations end with
    /// [`Error::Closed`]. Dropping the value does the same.
    pub fn leave(&self) {
        // A forked child has none of the threads, and must not talk to the launcher.
        if self.owner != std::process::id() {
            return;
        }
        self.shared.has_left.store(true, Ordering::Release);
        if !self.shared.endpoint.flush(Some(LEAVING)) {
            tracing::warn!(
                "rank {} leaves job {} before all its messages have been sent",
                self.shared.rank,
                self.shared.name
            );
        }
        if let Some((thread, wake)) = lock(&self.door).take() {
            let _ = rustix::io::write(&wake, &1u64.to_ne_bytes());
            let _ = thread.join();
        }
        self.shared.endpoint.stop();
        if let Some(mut pmi) = lock(&self.launcher).take() {
            if let Err(error) = pmi.finalize() {
                tracing::warn!("{error}");
            }
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.leave();
    }
}

impl std::fmt::Debug for Member {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shared = &self.shared;
        out.debug_struct("Member")
            .field("name", &shared.name)
            .field("rank", &shared.rank)
            .field("size", &shared.size)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn peers(&self) -> MutexGuard<'_, Vec<Peer>> {
        lock(&self.peers)
    }

    fn wait<'a>(
        &self,
        peers: MutexGuard<'a, Vec<Peer>>,
        time: Duration,
    ) -> MutexGuard<'a, Vec<Peer>> {
        self.news
            .wait_timeout(peers, time)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }

    /// Tells the endpoint how many ranks have not connected yet.
    fn expect(&self, peers: &[Peer]) {
        let known = peers.iter().filter(|peer| peer.link.is_some()).count();
        self.endpoint.expect(self.size as usize - 1 - known);
    }

    /// The open link to a peer, if there is one.
    fn come(&self, peer: &Peer) -> Option<LinkId> {
        peer.link.filter(|link| self.endpoint.is_open(*link))
    }

    /// The address of a rank for processes of the same host and user.
    fn address(&self, rank: u32) -> Address {
        local::address(&self.name, rank)
    }

    fn listen_here(&self) -> Result<Listener, Error> {
        local::listen(&self.address(self.rank)).map_err(|error| match error {
            Error::InUse(_) => Error::InUse(format!(
                "rank {} of job {} (set a different MGN_JOB for each job)",
                self.rank, self.name
            )),
            other => other,
        })
    }

    /// The opening that identifies this process to the peer: its rank and the job's name.
    fn opening(&self) -> Vec<u8> {
        let mut bytes = self.rank.to_le_bytes().to_vec();
        bytes.extend(self.name.as_bytes());
        bytes
    }

    /// The rank in a peer's opening, if it is the rank of another process of this job.
    fn rank_in(&self, opening: &[u8]) -> Option<u32> {
        let (rank, name) = opening.split_first_chunk()?;
        let rank = u32::from_le_bytes(*rank);
        (name == self.name.as_bytes() && rank < self.size && rank != self.rank).then_some(rank)
    }

    /// Refuses a process that belongs to another job, or that looks for another rank.
    fn refuse_stranger(&self, incoming: Incoming) {
        incoming.refuse(&format!("this is rank {} of job {}", self.rank, self.name));
    }

    /// Handles an incoming connection.
    fn let_in(&self, incoming: Incoming) {
        if let Some((number, who)) = broadcast::parse(incoming.opening()) {
            if self.rank_in(who).is_none() {
                return self.refuse_stranger(incoming);
            }
            if let Some(incoming) = self.broadcasts.let_in(number, incoming) {
                incoming.put_off(&format!("broadcast {number} is not open"));
            }
            return;
        }
        let mut coming = None;
        if let Some(name) = name_of(&incoming) {
            let Some(rank) = self.rank_in(name) else {
                return self.refuse_stranger(incoming);
            };
            let mut peers = self.peers();
            let peer = &mut peers[rank as usize];
            let is_ours = peer.is_opening && self.rank < rank;
            if is_ours || self.come(peer).is_some() {
                drop(peers);
                return incoming.put_off("a link exists already, or one is being made");
            }
            peer.coming = Some(Instant::now());
            coming = Some(rank);
        }
        match self.endpoint.accept(incoming) {
            Ok(Joined::Half) => {}
            Ok(Joined::Link(link, name)) => {
                let rank = self
                    .rank_in(&name)
                    .expect("its rank was checked when it connected");
                let mut peers = self.peers();
                let peer = &mut peers[rank as usize];
                peer.coming = None;
                peer.link = Some(link);
                self.expect(&peers);
                self.news.notify_all();
            }
            Err(error) => {
                tracing::warn!("a connecting process was refused: {error}");
                if let Some(rank) = coming {
                    self.peers()[rank as usize].coming = None;
                    self.news.notify_all();
                }
            }
        }
    }
}

/// Starts the thread that accepts connections. A write to the returned descriptor ends it.
fn open_door(
    shared: &Arc<Shared>,
    listeners: Vec<Listener>,
) -> Result<(JoinHandle<()>, OwnedFd), Error> {
    let failed = || Error::io("cannot listen for the job's other processes");
    let wake = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
        .map_err(|error| failed()(error.into()))?;
    let woken = wake.try_clone().map_err(failed())?;
    let shared = shared.clone();
    let run = move || loop {
        let mut fds: Vec<PollFd<'_>> = listeners
            .iter()
            .map(|one| PollFd::from_borrowed_fd(one.as_fd(), PollFlags::IN))
            .collect();
        fds.push(PollFd::new(&woken, PollFlags::IN));
        if poll(&mut fds, Duration::from_secs(60)).is_err()
            || !fds[listeners.len()].revents().is_empty()
        {
            return;
        }
        for listener in &listeners {
            loop {
                match listener.accept_timeout(Duration::ZERO) {
                    Ok(Some(incoming)) => shared.let_in(incoming),
                    Ok(None) => break,
                    Err(error) => {
                        tracing::warn!("{error}");
                        std::thread::sleep(PAUSE_MAX);
                        break;
                    }
                }
            }
        }
    };
    let thread = std::thread::Builder::new()
        .name("mgn-door".into())
        .spawn(run)
        .map_err(failed())?;
    Ok((thread, wake))
}

/// Gives the launcher this machine's key, and shares a token. Returns whether the job is on several
/// machines.
fn exchange(pmi: &mut Pmi, machine: &str, token: &mut Option<Token>) -> Result<bool, Error> {
    pmi.put(&machine_key(pmi.rank), machine)?;
    let opener = (pmi.rank != 0).then(Opener::new).transpose()?;
    if let Some(opener) = &opener {
        pmi.put(&public_key(pmi.rank), &opener.public()?)?;
    }
    pmi.barrier()?;
    if pmi.rank == 0 {
        // Rank 0 reads the machine keys of all processes. If every process read every key, large
        // jobs would start too slowly.
        let mut is_spread = false;
        for rank in 1..pmi.size {
            is_spread |= pmi.get(&machine_key(rank))? != machine;
        }
        if is_spread {
            let shared = token.get_or_insert_with(Token::generate);
            for rank in 1..pmi.size {
                let public = pmi.get(&public_key(rank))?;
                pmi.put(&sealed_key(rank), &seal(shared, &public)?)?;
            }
            // The other processes get only the secret, without the file name, role and servers of
            // this token.
            *token = Some(shared.to_hex().parse()?);
        }
        pmi.put("mgn-spread", if is_spread { "yes" } else { "no" })?;
    }
    pmi.barrier()?;
    let is_spread = pmi.get("mgn-spread")? == "yes";
    if let (true, Some(opener)) = (is_spread, opener) {
        *token = Some(opener.open(&pmi.get(&sealed_key(pmi.rank))?)?);
    }
    Ok(is_spread)
}

fn machine_key(rank: u32) -> String {
    format!("mgn-machine-{rank}")
}

/// The store's key for the public key of a process, with which rank 0 encrypts the secret.
fn public_key(rank: u32) -> String {
    format!("mgn-public-{rank}")
}

/// The store's key for the job's secret, encrypted for a process.
fn sealed_key(rank: u32) -> String {
    format!("mgn-sealed-{rank}")
}

fn place_key(rank: u32) -> String {
    format!("mgn-place-{rank}")
}

/// A key that is equal for processes that can reach each other's abstract sockets: the same kernel,
/// network namespace and user.
fn machine() -> String {
    digest(&format!(
        "{} {} {}",
        mgn_sys::host::identity().unwrap_or_default(),
        own_host(),
        mgn_sys::peer::own_uid()
    ))
}

fn port_of(first: u16, rank: u32) -> Result<u16, Error> {
    u32::from(first)
        .checked_add(rank)
        .and_then(|port| u16::try_from(port).ok())
        .ok_or_else(|| Error::Job(format!("rank {rank} has no port above {first} (MGN_PORT)")))
}

/// The interfaces to listen at. If the user has chosen none, they include the addresses of this
/// host's name in the list of hosts.
fn usable(choice: Option<&Choice>, own: Option<&str>) -> Result<Vec<Interface>, Error> {
    let all = interfaces::interfaces().map_err(Error::io("cannot list the network interfaces"))?;
    let mut chosen = choice.unwrap_or(&Choice::usual()).among(&all)?;
    if let (None, Some(own)) = (choice, own) {
        // A host need not be able to resolve its own name.
        for place in (own, 0).to_socket_addrs().into_iter().flatten() {
            let known = all
                .iter()
                .find(|one| one.address == place.ip())
                .map(|one| one.name.clone());
            let name = known.or_else(|| place.ip().is_loopback().then(|| "lo".into()));
            chosen.extend(name.map(|name| Interface {
                name,
                address: place.ip(),
            }));
        }
    }
    let mut seen: Vec<IpAddr> = Vec::new();
    chosen.retain(|one| {
        !seen.contains(&one.address) && {
            seen.push(one.address);
            true
        }
    });
    match chosen.is_empty() {
        true => Err(Error::Job(
            "there is no suitable network interface to listen at; choose one with MGN_INTERFACES"
                .into(),
        )),
        false => Ok(chosen),
    }
}

/// Makes listeners at all these addresses.
fn listen_everywhere(
    interfaces: &[Interface],
    port: u16,
    token: &Token,
    tls: bool,
) -> Result<Vec<Listener>, Error> {
    let bind = |one: &Interface| {
        let host = one.address.to_string();
        let address = Address::Tcp {
            host,
            port,
            tls,
            server: None,
        };
        Listener::bind(&address, Some(token.clone()))
    };
    interfaces.iter().map(bind).collect()
}

fn shown(listeners: &[Listener], interfaces: &[Interface]) -> String {
    let at = listeners.iter().map(|one| match interfaces.iter().find(|face| matches!(one.address(), Address::Tcp { host, .. } if *host == face.address.to_string())) {
        Some(face) => format!("{} ({})", one.address(), face.name),
        None => one.address().to_string(),
    });
    let at: Vec<String> = at.collect();
    match at.is_empty() {
        true => "nothing".into(),
        false => at.join(", "),
    }
}
