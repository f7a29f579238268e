//! The state of the mothership: the connected servers and clients, and the servers of each client.
//! This module does no I/O. The caller passes in the messages that arrive and the time since some
//! start, and takes out the messages to send.

mod matching;
mod summary;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::time::Duration;

use mgn_fabric::{is_name, PublicKey};
use mgn_wire::failover::DisplayPhase;

use crate::config::{Config, WallPlan};
use crate::protocol::{
    has_tile, Drawn, End, FromMothership, Hello, Matched, Request, Session, ToMothership,
};
use crate::report::Rate;
use matching::Verdict;

/// The longest time between two messages of each end.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);
/// A connection that is silent for this long counts as lost.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conn(pub u64);

/// What the caller must do with a connection.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    Send(Conn, FromMothership),
    /// Close the connection after all earlier messages have been sent.
    Close(Conn),
}

#[derive(Debug)]
pub struct Core {
    walls: BTreeMap<String, WallPlan>,
    /// Servers of the configuration.
    expected: BTreeMap<String, Expected>,
    servers: BTreeMap<String, Server>,
    /// In the order of their requests.
    clients: BTreeMap<u64, Client>,
    requests: u64,
    /// The time of the last message of each connection.
    heard: BTreeMap<Conn, Duration>,
    next_beat: Duration,
    /// Whether something has changed since clients were last matched with servers.
    is_due: bool,
    output: VecDeque<Output>,
}

#[derive(Debug, Default)]
struct Expected {
    /// The name or IP address of its host, for other hosts.
    address: Option<String>,
    /// The relay in front of its host.
    relay: Option<mgn_fabric::Address>,
    /// The transports that clients may use; empty for all.
    transports: Vec<mgn_fabric::Transport>,
    /// The reason why the server will not register, if it will not.
    failed: Option<String>,
}

#[derive(Debug)]
struct Server {
    conn: Conn,
    hello: Hello,
    since: Duration,
    sessions: BTreeMap<u64, (Session, Meter)>,
    /// The number of sessions that clients have with it, as far as the mothership knows.
    promised: usize,
}

#[derive(Debug)]
struct Client {
    conn: Conn,
    request: Request,
    since: Duration,
    standing: Standing,
    /// The tiles that have no renderer: bit N stands for tile N.
    holes: u64,
    /// Pairs of a tile and a server that cannot draw it. When the server registers again, its pairs
    /// are removed.
    unfit: BTreeSet<(u32, String)>,
    /// The phases of the displays of its genlocked tiles, by tile number.
    phases: BTreeMap<u32, DisplayPhase>,
    meter: Meter,
}

#[derive(Debug)]
enum Standing {
    /// The client waits, and was told this reason.
    Waiting(String),
    Matched(Box<Matched>),
}

/// Computes rates from totals.
#[derive(Debug, Default)]
struct Meter {
    last: Option<(Duration, Drawn)>,
    rate: Option<Rate>,
}

impl Core {
    pub fn new(config: &Config) -> Core {
        let walls = config.walls.iter();
        let expected = config.servers.iter().map(|server| {
            let host = server.host.as_deref();
            let host = host.and_then(|name| config.host(name));
            let expected = Expected {
                address: host.and_then(|host| host.address.clone()),
                relay: host.and_then(|host| host.relay.clone()),
                transports: server.transports.clone(),
                failed: None,
            };
            (server.name.clone(), expected)
        });
        Core {
            walls: walls
                .map(|plan| (plan.wall.name.clone(), plan.clone()))
                .collect(),
            expected: expected.collect(),
            servers: BTreeMap::new(),
            clients: BTreeMap::new(),
            requests: 0,
            heard: BTreeMap::new(),
            next_beat: HEARTBEAT_INTERVAL,
            is_due: false,
            output: VecDeque::new(),
        }
    }

    /// Adds a new connection.
    pub fn comes(&mut self, conn: Conn, now: Duration) {
        self.heard.insert(conn, now);
    }

    /// Handles a message from a connection. The caller itself answers questions about the status
    /// and requests to stop.
    pub fn handle_message(&mut self, conn: Conn, message: ToMothership, now: Duration) {
        match self.heard.get_mut(&conn) {
            Some(heard) => *heard = now,
            None => return,
        }
        let is_new = self.server(conn).is_none() && self.client(conn).is_none();
        match message {
            ToMothership::Server(hello) if is_new => self.server_comes(conn, *hello, now),
            ToMothership::Client(request) if is_new => self.client_comes(conn, *request, now),
            ToMothership::Sessions(sessions) => self.sessions(conn, sessions, now),
            ToMothership::Drawn(drawn) => {
                if let Some(client) = self.clients.values_mut().find(|c| c.conn == conn) {
                    client.meter.count(drawn, now);
                }
            }
            ToMothership::Holes(holes) => {
                let client = self.clients.values_mut().find(|c| c.conn == conn);
                if let Some(client) = client.filter(|client| client.holes != holes) {
                    // A server that draws a tile again is fit for it.
                    let settled = client.holes & !holes;
                    client.holes = holes;
                    client.unfit.retain(|(tile, _)| !has_tile(settled, *tile));
                    self.is_due = true;
                }
            }
            ToMothership::Phases(phases) => {
                if let Some(client) = self.clients.values_mut().find(|c| c.conn == conn) {
                    let phases = phases.into_iter();
                    client.phases = phases.filter(|(tile, _)| *tile < u64::BITS).collect();
                }
            }
            ToMothership::Unfit { tile, address } => self.is_unfit(conn, tile, &address),
            ToMothership::Where(asked) => {
                let answer = match self.address_for(&asked) {
                    Ok(address) => FromMothership::At(address),
                    Err(why) => FromMothership::Refused(why),
                };
                self.output.push_back(Output::Send(conn, answer));
            }
            ToMothership::Alive | ToMothership::Status | ToMothership::Stop => {}
            ToMothership::Server(_) | ToMothership::Client(_) => {
                self.leaves(conn, "it has introduced itself twice");
                self.output.push_back(Output::Close(conn));
            }
        }
    }

    /// Removes a connection that has ended.
    pub fn leaves(&mut self, conn: Conn, why: &str) {
        self.heard.remove(&conn);
        self.clients.retain(|_, client| client.conn != conn);
        if let Some(name) = self.server(conn).map(|server| server.hello.name.clone()) {
            tracing::info!("the server {name} is no longer registered: {why}");
            self.servers.remove(&name);
            self.tell_clients_of(
                &name,
                &FromMothership::Gone {
                    server: name.clone(),
                    why: why.into(),
                },
            );
        }
        self.is_due = true;
    }

    /// Stores the reason why a server of the configuration will not register. `None` means that it
    /// may register.
    pub fn expect(&mut self, name: &str, failed: Option<String>) {
        if let Some(expected) = self.expected.get_mut(name) {
            if expected.failed != failed {
                expected.failed = failed;
                self.is_due = true;
            }
        }
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.serve();
        self.output.pop_front()
    }

    /// The time at which [`Core::handle_timeout`] must be called.
    pub fn poll_timeout(&self) -> Duration {
        let silent = self.heard.values().map(|heard| *heard + SILENCE_TIMEOUT);
        silent.min().unwrap_or(Duration::MAX).min(self.next_beat)
    }

    pub fn handle_timeout(&mut self, now: Duration) {
        let silent = self
            .heard
            .iter()
            .filter(|(_, heard)| now >= **heard + SILENCE_TIMEOUT);
        let silent: Vec<Conn> = silent.map(|(conn, _)| *conn).collect();
        for conn in silent {
            self.leaves(conn, "it has sent nothing for too long");
            self.output.push_back(Output::Close(conn));
        }
        if now >= self.next_beat {
            self.next_beat = now + HEARTBEAT_INTERVAL;
            for conn in self.heard.keys() {
                self.output
                    .push_back(Output::Send(*conn, FromMothership::Alive));
            }
        }
    }

    /// Sends an order to end to each server that the mothership has started, and tells all
    /// connections that the mothership is ending.
    pub fn stop(&mut self) {
        for server in self.servers.values().filter(|server| server.hello.is_ours) {
            self.output
                .push_back(Output::Send(server.conn, FromMothership::End));
        }
        for conn in self.heard.keys() {
            self.output
                .push_back(Output::Send(*conn, FromMothership::Stopping));
        }
    }

    pub fn is_on_line(&self, server: &str) -> bool {
        self.servers.contains_key(server)
    }

    /// Whether a server that the mothership has started is still connected.
    pub fn has_ours(&self) -> bool {
        self.servers.values().any(|server| server.hello.is_ours)
    }

    fn server_comes(&mut self, conn: Conn, mut hello: Hello, now: Duration) {
        if !is_name(&hello.name) {
            let why = "a server's name has 1 to 64 letters, digits and . _ - , and begins with neither - nor .";
            return self.refuse(conn, why.into());
        }
        if hello.token.as_deref().is_some_and(|token| !is_name(token)) {
            let why = "the name of a token's file has 1 to 64 letters, digits and . _ - , and begins with neither - nor .";
            return self.refuse(conn, why.into());
        }
        let key = hello.key.as_deref().map(str::parse::<PublicKey>);
        if let Some(Err(error)) = key {
            return self.refuse(conn, error.to_string());
        }
        clean(&mut hello);
        let name = hello.name.clone();
        if let Some(other) = self.servers.get(&name) {
            if other.hello.instance != hello.instance {
                let host = &other.hello.whereabouts.host_name;
                let why = format!("another server called {name} is already registered, on {host}; give this one another --name");
                tracing::warn!("a second server called {name} was refused");
                return self.refuse(conn, why);
            }
            // The same server has connected again before the loss of its old connection was
            // noticed.
            let old = other.conn;
            self.heard.remove(&old);
            self.output.push_back(Output::Close(old));
        }
        let who = format!(
            "{} on {}",
            hello.offer.renderer, hello.whereabouts.host_name
        );
        tracing::info!("the server {name} has registered: {who}");
        if let Some(expected) = self.expected.get_mut(&name) {
            expected.failed = None;
        }
        for client in self.clients.values_mut() {
            client.unfit.retain(|(_, server)| *server != name);
        }
        let server = Server {
            conn,
            hello,
            since: now,
            sessions: BTreeMap::new(),
            promised: 0,
        };
        self.servers.insert(name.clone(), server);
        self.output
            .push_back(Output::Send(conn, FromMothership::Registered));
        self.tell_clients_of(
            &name,
            &FromMothership::Back {
                server: name.clone(),
            },
        );
        self.is_due = true;
    }

    fn client_comes(&mut self, conn: Conn, mut request: Request, now: Duration) {
        request.program = printable(&request.program);
        request.whereabouts.host_name = printable(&request.whereabouts.host_name);
        let standing = match request.held.take() {
            Some(held) if held.wall.check().is_ok() && held.ends.len() == held.wall.tiles.len() => {
                tracing::info!(
                    "{} is back on {}",
                    request.program,
                    printable(&held.wall.name)
                );
                Standing::Matched(held)
            }
            _ => Standing::Waiting(String::new()),
        };
        let client = Client {
            conn,
            request,
            since: now,
            standing,
            holes: 0,
            unfit: BTreeSet::new(),
            phases: BTreeMap::new(),
            meter: Meter::default(),
        };
        self.requests += 1;
        self.clients.insert(self.requests, client);
        self.is_due = true;
    }

    fn sessions(&mut self, conn: Conn, sessions: Vec<Session>, now: Duration) {
        let Some(server) = self.servers.values_mut().find(|s| s.conn == conn) else {
            return;
        };
        let mut before = mem::take(&mut server.sessions);
        for mut session in sessions {
            session.program = printable(&session.program);
            let (_, mut meter) = before.remove(&session.id).unwrap_or_default();
            if let Some(drawn) = session.drawn {
                meter.count(drawn, now);
            }
            server.sessions.insert(session.id, (session, meter));
        }
        self.is_due = true;
    }

    /// Handles a client's message that it cannot use the server of a tile. A message about an
    /// earlier server of the tile is late and has no effect.
    fn is_unfit(&mut self, conn: Conn, tile: u32, address: &str) {
        let Some(client) = self.clients.values_mut().find(|c| c.conn == conn) else {
            return;
        };
        let Standing::Matched(matched) = &client.standing else {
            return;
        };
        let end = matched.ends.get(tile as usize);
        if let Some(end) = end.filter(|end| end.address == address) {
            if client.unfit.insert((tile, end.server.clone())) {
                self.is_due = true;
            }
        }
    }

    /// Answers all clients that can be answered, in the order of their requests. Each answer may
    /// change the reason why the others wait. The messages since the last call are answered
    /// together, so that their number does not multiply the searches for servers.
    /// [`Core::poll_output`] also calls this.
    pub fn serve(&mut self) {
        if mem::take(&mut self.is_due) {
            self.count_promised();
            while self.serve_once() || self.fill() {}
        }
    }

    /// Judges all waiting clients once. Returns whether a client was matched.
    fn serve_once(&mut self) -> bool {
        let mut is_matched = false;
        let waiting: Vec<u64> = self
            .clients
            .iter()
            .filter(|(_, client)| matches!(client.standing, Standing::Waiting(_)))
            .map(|(n, _)| *n)
            .collect();
        for n in waiting {
            let verdict = self.judge(&self.clients[&n].request);
            let Some(client) = self.clients.get_mut(&n) else {
                continue;
            };
            let conn = client.conn;
            match verdict {
                Verdict::Match(matched) => {
                    tracing::info!("{} draws on {}", client.request.program, matched.wall.name);
                    is_matched = true;
                    client.standing = Standing::Matched(matched.clone());
                    let message = FromMothership::Matched(matched);
                    self.output.push_back(Output::Send(conn, message));
                    self.count_promised();
                }
                Verdict::Wait(why) => match &mut client.standing {
                    Standing::Waiting(told) if *told != why => {
                        *told = why.clone();
                        let message = FromMothership::Waiting(why);
                        self.output.push_back(Output::Send(conn, message));
                    }
                    _ => {}
                },
                Verdict::Never(why) => {
                    tracing::info!(
                        "{} was refused: {}",
                        client.request.program,
                        printable(&why)
                    );
                    self.clients.remove(&n);
                    self.refuse(conn, why);
                }
            }
        }
        is_matched
    }

    /// Finds servers for tiles that have no renderer. Returns whether a server was found.
    fn fill(&mut self) -> bool {
        let mut is_filled = false;
        let holes = self.clients.iter().filter(|(_, client)| client.holes != 0);
        let holes: Vec<(u64, u64)> = holes.map(|(n, client)| (*n, client.holes)).collect();
        for (n, holes) in holes {
            let candidates = self.candidates(&self.clients[&n]);
            for tile in (0..u64::BITS).filter(|tile| has_tile(holes, *tile)) {
                let end = self.successor(&self.clients[&n], tile, &candidates);
                if let Some(end) = end {
                    self.replace(n, tile, end);
                    is_filled = true;
                }
            }
        }
        is_filled
    }

    /// Assigns another server to a client's tile.
    fn replace(&mut self, client: u64, tile: u32, end: End) {
        let Some(client) = self.clients.get_mut(&client) else {
            return;
        };
        let Standing::Matched(matched) = &mut client.standing else {
            return;
        };
        tracing::info!(
            "a tile of {} is drawn by the server {} from now on",
            client.request.program,
            end.server
        );
        matched.ends[tile as usize] = end.clone();
        let message = FromMothership::Instead { tile, end };
        self.output.push_back(Output::Send(client.conn, message));
        self.count_promised();
    }

    fn refuse(&mut self, conn: Conn, why: String) {
        self.heard.remove(&conn);
        self.output
            .push_back(Output::Send(conn, FromMothership::Refused(why)));
        self.output.push_back(Output::Close(conn));
    }

    fn tell_clients_of(&mut self, server: &str, what: &FromMothership) {
        for client in self.clients.values() {
            let Standing::Matched(matched) = &client.standing else {
                continue;
            };
            if matched.ends.iter().any(|end| end.server == server) {
                self.output
                    .push_back(Output::Send(client.conn, what.clone()));
            }
        }
    }

    fn server(&self, conn: Conn) -> Option<&Server> {
        self.servers.values().find(|server| server.conn == conn)
    }

    fn client(&self, conn: Conn) -> Option<&Client> {
        self.clients.values().find(|client| client.conn == conn)
    }
}

impl Meter {
    /// Takes new totals, and computes the rates since the last ones. A total that has become
    /// smaller gives the rate 0.
    fn count(&mut self, drawn: Drawn, now: Duration) {
        if let Some((before, last)) = self.last {
            let seconds = now.saturating_sub(before).as_secs_f64();
            if seconds < 0.1 {
                return;
            }
            let per_second = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
            self.rate = Some(Rate {
                frames_per_second: per_second(drawn.frames, last.frames),
                bytes_per_second: per_second(drawn.bytes, last.bytes),
            });
        }
        self.last = Some((now, drawn));
    }
}

/// Removes from a server's text about itself all characters to which terminals could react, and
/// sorts its extensions.
fn clean(hello: &mut Hello) {
    let Hello {
        whereabouts,
        addresses,
        offer,
        ..
    } = hello;
    for text in addresses.iter_mut().chain([
        &mut whereabouts.host_name,
        &mut offer.renderer,
        &mut offer.version,
    ]) {
        *text = printable(text);
    }
    for profile in &mut offer.profiles {
        profile.extensions.sort_unstable();
    }
}

/// Text from another process, shortened so that it can be quoted.
pub(crate) fn printable(text: &str) -> String {
    mgn_fabric::printable(text, 200)
}

#[cfg(test)]
mod tests;
