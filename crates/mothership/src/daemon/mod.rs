//! The mothership as a process: it listens, starts the servers of its configuration, and sends the
//! core's messages.

mod connections;
mod starter;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mgn_fabric::{Access, Address, Incoming, Inherited, Listener};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::core::{Conn, Core, Output};
use crate::protocol::{FromMothership, ToMothership};
use crate::report::Status;
use crate::{Config, Error};
use connections::Connections;
use starter::Starter;

/// How long the mothership waits for its servers to end, before it ends itself.
const SERVERS_END_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest number of events that wait to be handled. A thread that sends more events blocks.
const QUEUE: usize = 256;
/// The longest wait for an event. After each wait, the mothership checks which processes have
/// ended.
const POLL_INTERVAL_MAX: Duration = Duration::from_millis(250);

/// How often the mothership looks for revoked tokens.
const REVIEW_EVERY: Duration = Duration::from_secs(1);

/// The settings of a mothership.
#[derive(Debug)]
pub struct Options {
    pub config: Config,
    /// Listening sockets that were passed to this process. With them, it listens at no address of
    /// the configuration.
    pub inherited: Vec<Inherited>,
    /// The `mgn` command that starts servers on this host.
    pub command: PathBuf,
    /// The tokens that are admitted over TCP.
    pub access: Access,
}

enum Event {
    Comes(Conn, Incoming),
    Hears(Conn, ToMothership),
    Leaves(Conn, String),
    /// The connection has sent an invalid message.
    Misbehaves(Conn, String),
    Signal(i32),
    /// The listener has failed, so no more connections can come.
    Fails(Error),
}

/// Runs the mothership until a user or a signal stops it. A user's request and SIGINT also end the
/// servers that it has started. SIGTERM leaves these servers to the next mothership. Prints the
/// addresses at which the mothership listens.
///
/// # Errors
/// An error if the mothership cannot listen or cannot continue.
pub fn run(options: Options) -> Result<(), Error> {
    let (events, inbox) = mpsc::sync_channel(QUEUE);
    let mut daemon = Daemon::new(options, &events)?;
    follow_signals(events.clone())?;
    daemon.announce();
    if let Err(error) = mgn_sys::systemd::notify("READY=1") {
        tracing::warn!("cannot tell the service manager that clients can come: {error}");
    }
    while !daemon.is_over() {
        let wait = daemon.core.poll_timeout().saturating_sub(daemon.now());
        match inbox.recv_timeout(wait.min(POLL_INTERVAL_MAX)) {
            Ok(event) => {
                daemon.take(event, &events)?;
                // Events that have arrived meanwhile are handled together, because a search for
                // servers takes time.
                for event in inbox.try_iter().take(QUEUE) {
                    daemon.take(event, &events)?;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        daemon.look();
        daemon.carry();
    }
    // Without a receiver, no thread that sends an event blocks.
    drop(inbox);
    daemon.hear_no_more();
    Ok(())
}

struct Daemon {
    core: Core,
    connections: Connections,
    starter: Starter,
    start: Instant,
    /// The addresses at which it listens.
    addresses: Vec<Address>,
    shutdown: Shutdown,
    access: Access,
    /// When it last checked for revoked tokens.
    reviewed: Duration,
    /// The threads that listen. They end when `is_over` is set.
    listening: Vec<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
}

#[derive(Clone, Copy, PartialEq)]
enum Shutdown {
    Not,
    /// The mothership ends its servers, and waits for them until this time.
    Stopping(Duration),
    /// The mothership ends at once, without its servers.
    Leaving,
}

impl Daemon {
    fn new(options: Options, events: &SyncSender<Event>) -> Result<Daemon, Error> {
        let Options {
            config,
            inherited,
            command,
            access,
        } = options;
        let is_over = Arc::new(AtomicBool::new(false));
        let next = Arc::new(AtomicU64::new(1));
        let (mut addresses, mut listening) = (Vec::new(), Vec::new());
        let mut listeners = Vec::new();
        for socket in &inherited {
            listeners.push(Listener::adopt(socket, access.clone())?);
        }
        if inherited.is_empty() {
            for address in &config.mothership.listen {
                listeners.push(Listener::bind(address, access.clone())?);
            }
        }
        for listener in listeners {
            addresses.push(listener.address().clone());
            let (next, stop) = (next.clone(), is_over.clone());
            listening.push(connections::listen(listener, next, stop, events.clone())?);
        }
        Ok(Daemon {
            core: Core::new(&config),
            connections: Connections::default(),
            starter: Starter::new(&config, &addresses, &command)?,
            start: Instant::now(),
            addresses,
            shutdown: Shutdown::Not,
            access,
            reviewed: Duration::ZERO,
            listening,
            is_over,
        })
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Ends the threads that listen. Their sockets close with them.
    fn hear_no_more(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.listening.drain(..) {
            let _ = thread.join();
        }
    }

    fn announce(&self) {
        let mut out = std::io::stdout().lock();
        for address in &self.addresses {
            tracing::info!("listening on {address}");
            // Standard output may be a pipe without a reader. This must not end the mothership.
            let _ = writeln!(out, "listening on {address}");
        }
        let _ = out.flush();
    }

    fn take(&mut self, event: Event, events: &SyncSender<Event>) -> Result<(), Error> {
        let now = self.now();
        match event {
            Event::Comes(conn, incoming) => {
                if self.connections.add(conn, incoming, events) {
                    self.core.comes(conn, now);
                }
            }
            // The other end may have sent more messages before it noticed that its connection was
            // closed.
            Event::Hears(conn, _) | Event::Misbehaves(conn, _) if !self.connections.has(conn) => {}
            Event::Hears(conn, message) => match message {
                message if self.is_forbidden(conn, &message) => {}
                ToMothership::Status => {
                    let answer = FromMothership::Status(Box::new(self.status()));
                    self.connections.send(conn, answer);
                }
                ToMothership::Stop => self.stop("a user has stopped it"),
                message => self.core.handle_message(conn, message, now),
            },
            Event::Leaves(conn, why) => {
                self.connections.close(conn);
                self.core.leaves(conn, &why);
            }
            Event::Misbehaves(conn, why) => {
                let answer = FromMothership::Refused(why.clone());
                self.connections.send(conn, answer);
                self.turn_away(conn, &why);
            }
            Event::Signal(SIGINT) => self.stop("it was interrupted"),
            Event::Signal(_) => {
                tracing::info!("the mothership is ending; its servers continue for a while");
                self.shutdown = Shutdown::Leaving;
            }
            Event::Fails(error) => return Err(error),
        }
        Ok(())
    }

    /// Refuses a request that the role of the connection does not permit, and closes the
    /// connection. Returns whether the request was refused.
    fn is_forbidden(&mut self, conn: Conn, message: &ToMothership) -> bool {
        let Err(why) = self.connections.require(conn, message) else {
            return false;
        };
        self.connections
            .send(conn, FromMothership::Forbidden(why.clone()));
        self.turn_away(conn, &why);
        true
    }

    fn turn_away(&mut self, conn: Conn, why: &str) {
        self.connections.turn_away(conn, why);
        self.core.leaves(conn, why);
    }

    /// Closes the connections that use revoked tokens. If such a client connects again, it is told
    /// that its token is unknown.
    fn end_revoked(&mut self, now: Duration) {
        if now < self.reviewed + REVIEW_EVERY {
            return;
        }
        self.reviewed = now;
        for (conn, why) in self.connections.revoked(&self.access) {
            self.turn_away(conn, &why);
        }
    }

    fn status(&mut self) -> Status {
        self.core.serve();
        let mut status = self.core.status(self.now());
        status.listening = self.addresses.iter().map(Address::to_string).collect();
        for server in status.servers.iter_mut().filter(|server| !server.on_line) {
            server.why = server
                .why
                .take()
                .or_else(|| self.starter.says(&server.name));
        }
        status
    }

    fn stop(&mut self, why: &str) {
        if self.shutdown == Shutdown::Not {
            tracing::info!(
                "the mothership is ending, and so are the servers that it has started: {why}"
            );
            self.shutdown = Shutdown::Stopping(self.now() + SERVERS_END_TIMEOUT);
            self.core.stop();
            self.starter.terminate(|name| self.core.is_on_line(name));
        }
    }

    fn is_over(&self) -> bool {
        match self.shutdown {
            Shutdown::Not => false,
            Shutdown::Leaving => true,
            Shutdown::Stopping(deadline) => {
                self.now() > deadline || !self.core.has_ours() && !self.starter.is_busy()
            }
        }
    }

    /// Does the periodic work: revoked tokens, reports, timeouts, and processes to start.
    fn look(&mut self) {
        let now = self.now();
        self.end_revoked(now);
        self.connections.report();
        if now >= self.core.poll_timeout() {
            self.core.handle_timeout(now);
        }
        let core = &self.core;
        let may_start = self.shutdown == Shutdown::Not;
        let failed = self
            .starter
            .look(now, may_start, |name| core.is_on_line(name));
        for (name, why) in failed {
            self.core.expect(&name, Some(why));
        }
    }

    /// Executes the outputs of the core.
    fn carry(&mut self) {
        while let Some(output) = self.core.poll_output() {
            match output {
                Output::Close(conn) => self.connections.close(conn),
                Output::Send(conn, message) => {
                    if !self.connections.send(conn, message) {
                        self.core.leaves(conn, "it does not read its messages");
                    }
                }
            }
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Shutdown::Stopping(_) = self.shutdown {
            self.starter.end();
        }
    }
}

fn follow_signals(events: SyncSender<Event>) -> Result<(), Error> {
    let doing = "cannot listen for signals";
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Error::io(doing))?;
    let follow = move || {
        for signal in signals.forever() {
            if events.send(Event::Signal(signal)).is_err() {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("signals".into()).spawn(follow);
    thread.map(drop).map_err(Error::io(doing))
}
