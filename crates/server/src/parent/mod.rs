//! The parent process: it admits clients, gives each session to a worker, and makes sure that
//! workers end.

mod audit;
mod first;
mod identity;
mod process;
mod viewers;
mod worker_log;

use crate::binary_key;
use crate::control::{Cause, Limit, Session};
use crate::error::ServerError;
use crate::memory::{self, too_much, Share, RESERVE};
use crate::options::{Options, Sandbox, SessionReport};
use crate::probe::Abilities;
use crate::sandbox::{Level, Profile};
use crate::tile::{self, Permission};
use crate::worker::ip_of;
use audit::{Reason, Refusal, RefusalLog, Subject};
use identity::{Claim, Peer};
use mgn_fabric::admission::Source;
use mgn_fabric::{printable, Incoming, Listener};
use mgn_render::BinaryKey;
use mgn_wire::hello::{self, Hello, Role, SharedWindow, Shown};
use mgn_wire::{Blame, End};
use process::{Process, Served, Standing, Window, WorkerExit, WORDS_MAX};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use viewers::{Viewer, ViewerTokens};

pub use first::try_worker;

/// How long clients may wait for a worker.
const WORKER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a client waits for its window, if programs of an earlier run still have a window of
/// this name.
const OLD_WINDOW_TIMEOUT: Duration = Duration::from_secs(2);
/// How long workers may take to end when the server does, before they are killed.
const WORKERS_END_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the server waits after the beginning of a session before it starts the next spare
/// worker, if no client waits for one. A session that begins needs the processors.
const QUIET_AFTER_BEGIN: Duration = Duration::from_secs(1);
/// How often the server checks what sessions use, and which tokens have been revoked.
const REVIEW_EVERY: Duration = Duration::from_secs(1);
/// How many clients of one listener are handled before the workers' messages are.
const CLIENTS_AT_ONCE: usize = 64;
/// The longest sleep. After each sleep, the listeners drop clients that are too slow in their
/// handshake.
const POLL_INTERVAL_MAX: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// Serves until SIGTERM or SIGINT comes or, if the options say so, until the standard input or the
/// last session ends, or the follower ends the server. Prints where it listens.
///
/// # Errors
/// One sentence if it cannot start: an address in use, no driver, no worker.
pub fn run(options: Options) -> Result<(), ServerError> {
    if options.listen.is_empty() && options.inherited.is_empty() {
        return Err(ServerError::NoAddress);
    }
    let binary_key = binary_key::lasting()?;
    let signals = signals()?;
    let mut profile = Profile {
        level: match options.sandbox {
            Sandbox::Off => Level::Open,
            _ => Level::Full,
        },
        is_required: options.sandbox == Sandbox::Required,
        stages: options.chain.folders(),
        ..Profile::default()
    };
    // The server listens only after the driver has been tried, so that clients do not find a server
    // without a driver.
    let end = options.end_with_stdin;
    let (spare, abilities, confined) = first::start(&options.worker, &mut profile, &signals, end)?;
    let mut listeners = Vec::new();
    for address in &options.listen {
        listeners.push(Listener::bind(address, options.access.clone())?);
    }
    for socket in &options.inherited {
        listeners.push(Listener::adopt(socket, options.access.clone())?);
    }
    match profile.level {
        Level::Open if options.sandbox != Sandbox::Off => tracing::warn!(
            "the driver opens only outside the sandbox, so sessions are not confined: \
             a client that finds a flaw in the driver can do what this user can"
        ),
        Level::SystemCalls => tracing::warn!(
            "the driver opens only if its files are not confined, so a client that finds a flaw \
             in it can read and change all files that this user can; sessions are confined by \
             {confined}"
        ),
        Level::Open => tracing::info!("sessions are not confined"),
        _ => tracing::info!("sessions are confined by {confined}"),
    }
    let mut server = Server {
        options,
        profile,
        listeners,
        processes: vec![spare],
        queue: VecDeque::new(),
        came: 0,
        sessions: 0,
        begun: None,
        failure: None,
        binary_key,
        refusals: RefusalLog::default(),
        reviewed: None,
    };
    server.announce(&abilities);
    let result = server.serve(&signals);
    server.stop();
    result
}

struct Server {
    options: Options,
    /// The sandbox profile of workers that serve any client.
    profile: Profile,
    listeners: Vec<Listener>,
    processes: Vec<Process>,
    /// Clients that wait for a worker.
    queue: VecDeque<Waiting>,
    /// How many clients have waited so far, which is also the number of the last one.
    came: u64,
    /// How many sessions have begun so far, which is also the number of the last one.
    sessions: u64,
    /// When the last session began.
    begun: Option<Instant>,
    /// Why the last worker that failed to start did so.
    failure: Option<String>,
    /// Clients' keys are derived from this key. Workers learn only the derived keys.
    binary_key: BinaryKey,
    refusals: RefusalLog,
    /// When the sessions were last checked.
    reviewed: Option<Instant>,
}

struct Waiting {
    number: u64,
    /// The profile of the worker that is started for this client only. None if a worker for any
    /// client can serve it.
    profile: Option<Profile>,
    incoming: Incoming,
    peer: Peer,
    claim: Claim,
    shown: Option<Shown>,
    /// The window that the client draws into together with others.
    window: Option<Window>,
    since: Instant,
}

impl Waiting {
    /// The client's number, if it waits for a worker of its own; see [`Process::client`].
    fn worker(&self) -> Option<u64> {
        self.profile.as_ref().map(|_| self.number)
    }
}

impl Server {
    fn announce(&self, abilities: &Abilities) {
        let renderer = printable(&abilities.info.renderer, WORDS_MAX);
        let mut out = std::io::stdout().lock();
        for listener in &self.listeners {
            tracing::info!(
                "rendering by {renderer}, listening on {}",
                listener.address()
            );
            if self.options.announce {
                // The pipe may have no reader. The server serves all the same.
                let _ = writeln!(out, "listening on {}", listener.address());
            }
        }
        if let Some(follower) = &self.options.follower {
            let addresses = self.listeners.iter().map(|l| l.address().clone());
            follower.listening(abilities, &addresses.collect::<Vec<_>>());
        }
        let _ = out.flush();
        // A service manager waits for a server that it has started, not for the server of a run.
        if !self.options.end_with_stdin {
            if let Err(error) = mgn_sys::systemd::notify("READY=1") {
                tracing::warn!("cannot tell the service manager that clients can come: {error}");
            }
        }
    }

    fn serve(&mut self, signals: &UnixStream) -> Result<(), ServerError> {
        let mut patience = POLL_INTERVAL_MAX;
        loop {
            if self.wait(signals, &patience)? {
                return Ok(());
            }
            self.hear_workers();
            patience = match self.let_clients_in()? {
                true => Timespec::default(),
                false => POLL_INTERVAL_MAX,
            };
            self.serve_queue();
            let now = Instant::now();
            self.review(now);
            self.refusals.report(now);
            self.tell_follower();
            let over =
                self.options.once && self.sessions > 0 && self.queue.is_empty() && self.busy() == 0;
            if over {
                tracing::info!("the last client has gone");
                return Ok(());
            }
        }
    }

    /// Sleeps until something happens. True if the server is to end.
    fn wait(&self, signals: &UnixStream, patience: &Timespec) -> Result<bool, ServerError> {
        let stdin = std::io::stdin();
        let mut fds = vec![PollFd::new(signals, PollFlags::IN)];
        if self.options.end_with_stdin {
            fds.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN));
        }
        let own = fds.len();
        fds.extend(
            self.listeners
                .iter()
                .map(|l| PollFd::from_borrowed_fd(l.as_fd(), PollFlags::IN)),
        );
        for process in &self.processes {
            fds.extend(
                process
                    .descriptors()
                    .map(|(fd, events)| PollFd::from_borrowed_fd(fd, events)),
            );
        }
        let follower = self.options.follower.as_ref();
        let end = follower.and_then(|follower| follower.end());
        let end = end.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let is_followed = end.is_some();
        fds.extend(end);
        match poll(&mut fds, Some(patience)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(ServerError::io("cannot wait for clients")(error)),
        }
        let is_ended = is_followed && fds.last().is_some_and(|fd| !fd.revents().is_empty());
        let ready: Vec<bool> = fds[..own]
            .iter()
            .map(|fd| !fd.revents().is_empty())
            .collect();
        Ok(is_ended || ready[0] || (ready.get(1) == Some(&true) && has_ended(&stdin)))
    }

    /// Handles clients that have connected. Returns whether there may be more. The number per call
    /// is limited, because a steady stream of clients must not keep the server from its workers,
    /// its limits and its signals.
    fn let_clients_in(&mut self) -> Result<bool, ServerError> {
        let mut has_more = false;
        for listener in 0..self.listeners.len() {
            let mut left = CLIENTS_AT_ONCE;
            while left > 0 {
                let Some(incoming) = self.listeners[listener].accept_timeout(Duration::ZERO)?
                else {
                    break;
                };
                self.let_in(incoming);
                left -= 1;
            }
            has_more |= left == 0;
        }
        Ok(has_more)
    }

    /// Handles messages from workers, and removes the workers that have ended.
    fn hear_workers(&mut self) {
        let mut at = 0;
        while at < self.processes.len() {
            let process = &mut self.processes[at];
            process.receive_messages();
            if let (Standing::Failed(why), None) = (&process.standing, process.client) {
                self.failure = Some(why.clone());
            }
            match process.ending() {
                None => at += 1,
                Some(ending) => {
                    let process = self.processes.swap_remove(at);
                    self.bury(process, ending);
                }
            }
        }
    }

    fn bury(&mut self, mut process: Process, ending: WorkerExit) {
        match &process.standing {
            Standing::Serving(served) => {
                let reason = process.reason.take().unwrap_or(match ending {
                    WorkerExit::Orderly => Reason::ClientLeft,
                    ending => Reason::Crashed(ending),
                });
                let now = Instant::now();
                for Served { subject, .. } in served {
                    subject.log_end(&reason, process.drawn, now);
                }
            }
            Standing::Failed(why) => self.despair(process.client, why.clone()),
            Standing::Starting | Standing::Ready(..) => {
                let why = format!("the renderer did not start: its process {ending}");
                self.despair(process.client, why);
            }
        }
    }

    /// Handles a worker that has failed to start. The client that it was started for gets an error.
    /// If it was for any client, the waiting clients get the error when no other worker can come.
    fn despair(&mut self, client: Option<u64>, why: String) {
        let Some(number) = client else {
            self.failure = Some(why);
            return;
        };
        let place = self.queue.iter().position(|w| w.number == number);
        if let Some(waiting) = place.and_then(|at| self.queue.remove(at)) {
            tracing::error!("{} ({}): {why}", waiting.peer, waiting.claim);
            self.send_away(waiting, Refusal::NoRenderer(why));
        }
    }

    /// Decides about a client that has connected.
    fn let_in(&mut self, incoming: Incoming) {
        let peer = Peer::of(&incoming);
        let incoming = match incoming.require(mgn_fabric::Role::Client, "have sessions") {
            Ok(incoming) => incoming,
            Err(why) => {
                let why = Refusal::NotPermitted(why);
                return self.refusals.note(&peer, None, &why, Instant::now());
            }
        };
        let hello: Hello = match postcard::take_from_bytes(incoming.opening()) {
            Ok((hello, [])) => hello,
            _ => return self.refuse(incoming, &peer, None, Refusal::NotUnderstood),
        };
        if hello.version != hello::VERSION || hello.table_hash != mgn_wire::ops::TABLE_HASH {
            return self.refuse(incoming, &peer, None, Refusal::OtherRelease);
        }
        match hello.role {
            Role::Session {
                program,
                pid,
                tile,
                shown,
                window,
            } => {
                let program = match program.as_str() {
                    "" => "a program without a name".into(),
                    name => printable(name, 100),
                };
                let claim = Claim { program, pid, tile };
                if !window.as_ref().is_none_or(SharedWindow::is_sound) {
                    return self.refuse(incoming, &peer, Some(&claim), Refusal::NotUnderstood);
                }
                self.begin(incoming, peer, claim, shown, window);
            }
            Role::Frames { session, key } => self.attach(incoming, &peer, session, &key),
        }
    }

    fn begin(
        &mut self,
        incoming: Incoming,
        peer: Peer,
        claim: Claim,
        shown: Option<Shown>,
        window: Option<SharedWindow>,
    ) {
        if let Err(why) = self.has_room_for(&peer) {
            return self.refuse(incoming, &peer, Some(&claim), why);
        }
        // A small opening can name many places, and each of them would enlarge the worker's
        // profile.
        let tile = shown.as_ref().map(|shown| tile::own_tile(&shown.wall));
        if let Some(Err(why)) = tile {
            return self.refuse(incoming, &peer, Some(&claim), Refusal::NotPermitted(why));
        }
        self.came += 1;
        let profile = shown
            .as_ref()
            .map(|shown| self.profile_of(shown, &incoming, &peer));
        self.queue.push_back(Waiting {
            number: self.came,
            profile: profile.filter(|profile| *profile != self.profile),
            incoming,
            window: window.map(|terms| Window {
                owner: peer.lasting_name(),
                terms,
                tile: claim.tile,
                came: 0,
            }),
            peer,
            claim,
            shown,
            since: Instant::now(),
        });
    }

    /// Whether this client may have another session.
    fn has_room_for(&self, peer: &Peer) -> Result<(), Refusal> {
        let options = &self.options;
        let most = options.max_sessions;
        if self.busy() + self.queue.len() >= most {
            return Err(Refusal::Sessions(most));
        }
        let of_client = match (options.max_sessions_per_client, peer.source()) {
            (Some(most), _) => Some(most),
            // Only the server's own user and root can connect to its unix sockets.
            (None, Source::User(_)) => None,
            (None, _) => Some(Options::max_sessions_of_address(most)),
        };
        let peers = || {
            let served = self.processes.iter().flat_map(Process::sessions);
            let peers = served.map(|served| &served.subject.peer);
            peers.chain(self.queue.iter().map(|waiting| &waiting.peer))
        };
        if let Some(most) = of_client {
            let its = peers().filter(|other| other.source() == peer.source());
            if its.count() >= most {
                return Err(Refusal::SessionsOfClient(most));
            }
        }
        if let (Some(most), Some(token)) = (options.max_sessions_per_token, peer.token()) {
            let its = peers().filter(|other| other.token() == Some(token));
            if its.count() >= most {
                return Err(Refusal::SessionsOfToken(most));
            }
        }
        // If no memory is left, a client is refused if one of its own sessions would have to end
        // for the new one. Other clients are admitted: the memory that they lack is in use by
        // others.
        let serving = self.processes.iter().filter_map(Process::share);
        let mut shares: Vec<Share> = serving
            .map(|share| Share {
                memory: memory::counted(share.memory),
                ..share
            })
            .collect();
        let waiting = self.queue.iter().map(|waiting| &waiting.peer);
        let new = peer.share(RESERVE);
        shares.extend(waiting.map(|peer| peer.share(RESERVE)));
        shares.push(new.clone());
        let total = options.memory_total;
        let used: u64 = shares.iter().map(|share| share.memory).sum();
        let is_its = |at| {
            let share: &Share = &shares[at];
            (&share.client, share.source) == (&new.client, new.source)
        };
        // A single session is always admitted.
        let is_refused = used > total && shares.len() > 1 && too_much(&shares).is_some_and(is_its);
        match is_refused {
            true => Err(Refusal::Memory {
                used: used - RESERVE,
                total,
            }),
            false => Ok(()),
        }
    }

    /// Enforces the time limits of workers. At intervals, also checks tokens and memory.
    fn review(&mut self, now: Instant) {
        for process in &mut self.processes {
            process.enforce_start(now);
            process.enforce_end(now);
        }
        if self.reviewed.is_some_and(|then| now - then < REVIEW_EVERY) {
            return;
        }
        self.reviewed = Some(now);
        self.end_revoked(now);
        self.watch_memory(now);
    }

    /// Ends the sessions of clients whose tokens have been revoked.
    fn end_revoked(&mut self, now: Instant) {
        let access = &self.options.access;
        for process in &mut self.processes {
            if process.ordered.is_some() {
                continue;
            }
            // Sessions that share a window may have different tokens of one name.
            let mut sessions = process.sessions().iter();
            let revoked = sessions.find_map(|served| access.revoked(&served.subject.peer.caller));
            if let Some(why) = revoked {
                let cause = Cause::from(End::new(Blame::Nobody, why.clone()));
                process.order_end(cause, Reason::Revoked(why), now);
            }
        }
        let mut at = 0;
        while let Some(waiting) = self.queue.get(at) {
            match self.options.access.revoked(&waiting.peer.caller) {
                None => at += 1,
                Some(why) => {
                    if let Some(waiting) = self.queue.remove(at) {
                        self.send_away(waiting, Refusal::Revoked(why));
                    }
                }
            }
        }
    }

    /// If sessions use more memory than all may use together, one of them has to end.
    fn watch_memory(&mut self, now: Instant) {
        for process in &mut self.processes {
            process.measure();
        }
        let all = self.processes.iter().enumerate();
        let (places, shares): (Vec<_>, Vec<_>) = all
            .filter_map(|(at, process)| Some((at, process.share()?)))
            .unzip();
        let used: u64 = shares.iter().map(|share| share.memory).sum();
        let total = self.options.memory_total;
        let is_ending = places
            .iter()
            .any(|at| self.processes[*at].ordered.is_some());
        if used <= total || is_ending {
            return;
        }
        let Some(most) = too_much(&shares) else {
            return;
        };
        let mib = |bytes: u64| bytes >> 20;
        let of_client = shares.iter().filter(|s| s.client == shares[most].client);
        let why = format!(
            "the sessions of the server use {} MiB of memory, of {} allowed (--memory-total); \
             those of this client use the most, {} MiB, and this one {} MiB",
            mib(used),
            mib(total),
            mib(of_client.map(|share| share.memory).sum()),
            mib(shares[most].memory)
        );
        let cause = Cause::limit(Limit::MemoryTotal, why);
        self.processes[places[most]].order_end(cause.clone(), Reason::Told(cause), now);
    }

    /// Refuses a client that waits for a worker.
    fn send_away(&mut self, waiting: Waiting, why: Refusal) {
        self.refuse(waiting.incoming, &waiting.peer, Some(&waiting.claim), why);
    }

    fn refuse(&mut self, incoming: Incoming, peer: &Peer, claim: Option<&Claim>, why: Refusal) {
        self.refusals.note(peer, claim, &why, Instant::now());
        incoming.refuse(&why.to_string());
    }

    /// The sandbox profile for a client, which depends on where its tile is shown. The worker
    /// checks the permission again before it serves the client.
    fn profile_of(&self, shown: &Shown, incoming: &Incoming, peer: &Peer) -> Profile {
        let permission = self.permission(incoming, peer);
        let targets = shown.wall.tiles.iter().flat_map(|tile| &tile.present);
        let allowed = targets.filter(|target| permission.covers(target));
        self.profile.showing(shown, allowed)
    }

    /// The viewers at which a client may show its tile.
    fn viewers_of(&self, client: &Waiting) -> Vec<Viewer> {
        let Some(shown) = &client.shown else {
            return Vec::new();
        };
        let permission = self.permission(&client.incoming, &client.peer);
        let tokens = ViewerTokens {
            own: self.options.token.as_ref(),
            callback: client.incoming.callback(),
        };
        Viewer::all_of(shown, &permission, &tokens)
    }

    /// Where a client may have pictures shown.
    fn permission(&self, incoming: &Incoming, peer: &Peer) -> Permission<'_> {
        Permission {
            from: match incoming.peer() {
                Some(_) => None,
                None => Some(ip_of(peer.address)),
            },
            allowed: &self.options.present,
        }
    }

    fn attach(&mut self, incoming: Incoming, peer: &Peer, session: u64, key: &[u8; 16]) {
        let serving = self
            .processes
            .iter_mut()
            .find_map(|p| Some((p.sessions().iter().find(|s| s.id == session)?.key, p)));
        let Some((right, process)) = serving else {
            return self.refuse(incoming, peer, None, Refusal::NoSession);
        };
        if !bool::from(right.ct_eq(key)) {
            return self.refuse(incoming, peer, None, Refusal::WrongKey);
        }
        process.attach(session, incoming);
    }

    /// Gives waiting clients to workers that are ready, and starts the workers that are needed
    /// next.
    fn serve_queue(&mut self) {
        let now = Instant::now();
        self.queue.retain(|waiting| !waiting.incoming.is_gone());
        while self
            .queue
            .front()
            .is_some_and(|w| now.duration_since(w.since) > WORKER_TIMEOUT)
        {
            if let Some(late) = self.queue.pop_front() {
                let why = "the server's renderer does not start";
                self.send_away(late, Refusal::NoRenderer(why.into()));
            }
        }
        let mut at = 0;
        while let Some(waiting) = self.queue.get(at) {
            let ready = match self.place_of(waiting, at) {
                WorkerAssignment::At(process) => process,
                // The programs of the existing window may be about to end.
                WorkerAssignment::Never(_) if now - waiting.since < OLD_WINDOW_TIMEOUT => {
                    at += 1;
                    continue;
                }
                WorkerAssignment::None => {
                    at += 1;
                    continue;
                }
                WorkerAssignment::Never(why) => {
                    if let Some(waiting) = self.queue.remove(at) {
                        self.send_away(waiting, why);
                    }
                    continue;
                }
            };
            let Some(client) = self.queue.remove(at) else {
                break;
            };
            self.sessions += 1;
            self.begun = Some(now);
            let viewers = self.viewers_of(&client);
            let session = Box::new(Session {
                id: self.sessions,
                key: random_key(),
                program: client.claim.to_string(),
                window: client.window.as_ref().map(|window| window.terms.clone()),
                tile: client.claim.tile,
                present: match client.shown {
                    Some(_) => self.options.present.clone(),
                    None => Vec::new(),
                },
                shown: client.shown,
                client: Default::default(),
                chain: self.options.chain.clone(),
                memory_limit: self.options.memory_limit.min(self.options.memory_total),
                watchdog: self.options.watchdog,
                binary_key: self.binary_key.of_client(&client.peer.lasting_name()),
                spirv: self.options.spirv || client.incoming.peer().is_some(),
                idle_timeout: self.options.idle_timeout,
            });
            let subject = Subject {
                session: session.id,
                peer: client.peer,
                claim: client.claim,
                began: now,
            };
            subject.log_begin();
            let process = &mut self.processes[ready];
            if !process.is_serving() {
                process.window = client.window;
            }
            process.begin(session, subject, viewers, client.incoming);
        }
        self.keep_spares();
    }

    /// The worker that can serve the client in place `at` of the queue now.
    fn place_of(&self, waiting: &Waiting, at: usize) -> WorkerAssignment {
        if let Some(window) = &waiting.window {
            let is_of = |other: Option<&Window>| other.is_some_and(|other| other.is(window));
            let has_it = |p: &Process| p.is_open() && is_of(p.window.as_ref());
            if let Some(there) = self.processes.iter().position(has_it) {
                return match why_not(&self.processes[there], window) {
                    Some(why) => WorkerAssignment::Never(why),
                    None => WorkerAssignment::At(there),
                };
            }
            // The worker that the window's first client waits for serves all its clients.
            let mut before = self.queue.iter().take(at);
            if before.any(|other| is_of(other.window.as_ref())) {
                return WorkerAssignment::None;
            }
        }
        let worker = waiting.worker();
        let is_its = |p: &Process| p.client == worker && matches!(p.standing, Standing::Ready(..));
        let ready = self.processes.iter().position(is_its);
        ready.map_or(WorkerAssignment::None, WorkerAssignment::At)
    }

    /// Starts workers: one for the next client, and as many as clients wait for, but not more at
    /// once than there are processors. After a worker has failed to start, the next one is started
    /// only for a client that waits.
    fn keep_spares(&mut self) {
        // A worker that was started for one client cannot serve another, so it ends if its client
        // has gone.
        let queue = &self.queue;
        let is_wanted = |client| queue.iter().any(|waiting| waiting.worker() == Some(client));
        self.processes
            .retain(|p| p.is_serving() || p.client.is_none_or(is_wanted));
        let is_spare =
            |p: &&Process| matches!(p.standing, Standing::Ready(..) | Standing::Starting);
        let any = |p: &&Process| p.client.is_none() && is_spare(p);
        let spares = self.processes.iter().filter(any).count();
        let failure = match spares {
            0 => self.failure.take(),
            _ => None,
        };
        if let Some(why) = failure {
            if self.queue.is_empty() {
                self.failure = Some(why);
                return;
            }
            tracing::error!("{why}");
            for waiting in std::mem::take(&mut self.queue) {
                self.send_away(waiting, Refusal::NoRenderer(why.clone()));
            }
            self.failure = Some(why);
            self.start_spare();
            return;
        }
        let is_quiet = self
            .begun
            .is_none_or(|begun| begun.elapsed() >= QUIET_AFTER_BEGIN);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let for_any = self.queue.iter().filter(|w| w.profile.is_none()).count();
        for _ in spares..for_any.min(processors).max(is_quiet.into()) {
            self.start_spare();
        }
        self.start_own(processors);
    }

    /// Starts workers for clients that need one of their own, unless too many are starting.
    fn start_own(&mut self, processors: usize) {
        let is_starting = |p: &&Process| matches!(p.standing, Standing::Starting);
        let starting = self.processes.iter().filter(is_starting).count();
        let processes = &self.processes;
        let has_none = |w: &&Waiting| !processes.iter().any(|p| p.client == w.worker());
        let all = self.queue.iter().filter(|w| w.profile.is_some());
        let next: Vec<_> = all
            .filter(has_none)
            .filter_map(|w| Some((w.number, w.profile.clone()?)))
            .take(
                processors
                    .saturating_sub(starting)
                    .max(usize::from(starting == 0)),
            )
            .collect();
        for (number, profile) in next {
            match Process::start(&self.options.worker, &profile, Some(number)) {
                Ok(process) => self.processes.push(process),
                Err(error) => self.despair(Some(number), error.to_string()),
            }
        }
    }

    fn start_spare(&mut self) {
        match Process::start(&self.options.worker, &self.profile, None) {
            Ok(process) => {
                self.failure = None;
                self.processes.push(process);
            }
            Err(error) => self.failure = Some(error.to_string()),
        }
    }

    fn tell_follower(&self) {
        let Some(follower) = &self.options.follower else {
            return;
        };
        // The sessions of a window are counted together.
        let report = |(process, served): (&Process, &Served)| SessionReport {
            id: served.id,
            program: served.subject.claim.to_string(),
            frames: process.drawn.0,
            bytes: process.drawn.1,
        };
        let all = self.processes.iter();
        let all = all.flat_map(|process| process.sessions().iter().map(move |s| (process, s)));
        follower.sessions(all.map(report).collect());
    }

    /// The number of current sessions.
    fn busy(&self) -> usize {
        self.processes.iter().map(|p| p.sessions().len()).sum()
    }

    /// Ends all workers. None is left when this returns.
    fn stop(mut self) {
        self.listeners.clear();
        let sessions = self.busy();
        if sessions > 0 {
            tracing::info!("the server is shutting down and ends {sessions} sessions");
        }
        for waiting in std::mem::take(&mut self.queue) {
            self.send_away(waiting, Refusal::ServerStop);
        }
        for process in &mut self.processes {
            process.hang_up();
        }
        let deadline = Instant::now() + WORKERS_END_TIMEOUT;
        while Instant::now() < deadline {
            self.hear_workers();
            if self.processes.is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // The remaining workers are killed when they are dropped.
        let now = Instant::now();
        for process in &self.processes {
            for Served { subject, .. } in process.sessions() {
                subject.log_end(&Reason::ServerStop, process.drawn, now);
            }
        }
    }
}

/// Which worker can serve a waiting client.
enum WorkerAssignment {
    /// The worker with this index.
    At(usize),
    /// None yet.
    None,
    Never(Refusal),
}

/// Why a client cannot join an existing window of the same name, if it cannot.
fn why_not(process: &Process, window: &Window) -> Option<Refusal> {
    let there = process.window.as_ref()?;
    let words = |clients: Option<u32>| match clients {
        Some(clients) => clients.to_string(),
        None => "any number of".into(),
    };
    let (said, others) = (window.terms.clients, there.terms.clients);
    if said != others {
        let (said, others) = (words(said), words(others));
        return Some(Refusal::WindowOther { said, others });
    }
    let most = others.unwrap_or(SharedWindow::CLIENTS_MAX);
    let is_full = match others {
        Some(_) => there.came >= most,
        None => process.sessions().len() >= most as usize,
    };
    is_full.then_some(Refusal::WindowFull(most))
}

/// A descriptor that becomes readable when the process is asked to end.
fn signals() -> Result<UnixStream, ServerError> {
    let doing = "cannot listen for signals";
    let (read, write) = UnixStream::pair().map_err(ServerError::io(doing))?;
    for signal in [SIGTERM, SIGINT] {
        let write = write.try_clone().map_err(ServerError::io(doing))?;
        signal_hook::low_level::pipe::register(signal, write).map_err(ServerError::io(doing))?;
    }
    Ok(read)
}

/// Whether the standard input is at its end. Reads what has arrived there, and ignores it.
fn has_ended(mut stdin: &std::io::Stdin) -> bool {
    let mut bytes = [0; 256];
    matches!(stdin.read(&mut bytes), Ok(0) | Err(_))
}

fn random_key() -> [u8; 16] {
    let mut key = [0; 16];
    getrandom::fill(&mut key).expect("the kernel gives random bytes");
    key
}
