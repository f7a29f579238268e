//! Finds the servers that can draw for a client, or the reason why none can.

use std::collections::{BTreeMap, BTreeSet};

use mgn_fabric::{Address, Transport};
use mgn_wall::Wall;

use super::{printable, Client, Core, Expected, Server, Standing};
use crate::config::{is_vague, Stage, WallPlan};
use crate::protocol::{
    End, Matched, Needs, Offer, Profile, Request, ServerLookup, TransportKind, Wanted, Whereabouts,
};

/// The answer to a request in the current state.
#[derive(Debug)]
pub(super) enum Verdict {
    Match(Box<Matched>),
    /// The client has to wait, for this reason.
    Wait(String),
    /// The request can never be met, for this reason.
    Never(String),
}

/// A server that can draw for a client, and how the client reaches it.
struct Reached<'a> {
    server: &'a Server,
    transport: TransportKind,
    address: String,
}

/// The names of servers that may draw the tiles of a client.
pub(super) struct Candidates {
    /// The servers that have the same renderer as the client's other servers, and meet its needs.
    fitting: BTreeSet<String>,
    /// The servers of the configuration, by tile number.
    configured: Vec<String>,
}

/// The largest number of missing extensions that a message names.
const MISSING_NAMED_MAX: usize = 8;

impl Core {
    pub(super) fn judge(&self, request: &Request) -> Verdict {
        let judged = match &request.wanted {
            Wanted::Walls(names) => self.plan(names).map(|plan| self.judge_wall(&plan, request)),
            Wanted::Grids(sizes) => grids(sizes).map(|wall| self.judge_grid(wall, None, request)),
            Wanted::Single(server) => {
                grids(&[(1, 1)]).map(|wall| self.judge_grid(wall, server.as_deref(), request))
            }
        };
        judged.unwrap_or_else(Verdict::Never)
    }

    /// Joins walls that show the same, and their replicas, to one wall. The first wall determines
    /// the stages in programs' own processes.
    fn plan(&self, names: &[String]) -> Result<WallPlan, String> {
        let mut plans: Vec<&WallPlan> = Vec::new();
        let mut add = |name| {
            let plan = self
                .walls
                .get(name)
                .ok_or_else(|| self.no_such_wall(name))?;
            if !plans.iter().any(|known| known.wall.name == *name) {
                plans.push(plan);
            }
            Ok::<_, String>(plan)
        };
        for name in names {
            for replica in &add(name)?.replicas {
                add(replica)?;
            }
        }
        let [first, others @ ..] = &plans[..] else {
            return Err("no wall is asked for".into());
        };
        let client_chain = first.client_chain.clone();
        let others = others.iter().map(|plan| plan.wall.clone());
        let wall = first.wall.clone().with_replicas(others);
        let servers = plans.iter().flat_map(|plan| plan.servers.clone());
        Ok(WallPlan {
            wall: wall.map_err(|error| error.to_string())?,
            servers: servers.collect(),
            replicas: Vec::new(),
            chain: Vec::new(),
            client_chain,
        })
    }

    fn no_such_wall(&self, name: &str) -> String {
        let name = printable(name);
        if self.walls.is_empty() {
            return format!("there is no wall called {name}: the mothership has no configuration with walls; give it one, or ask for a grid, for example 2x2");
        }
        let all: Vec<&str> = self.walls.keys().map(String::as_str).collect();
        let all = all.join(", ");
        format!("there is no wall called {name}; the configuration has {all}")
    }

    /// The servers that may draw a client's tiles. Call this once for all calls of
    /// [`Core::successor`], because the comparison of servers with the client's needs takes time.
    pub(super) fn candidates(&self, client: &Client) -> Candidates {
        let fits = |server: &&Server| {
            let offer = &server.hello.offer;
            client.standing.is_drawn_by(offer) && offer.meets(&client.request.needs).is_ok()
        };
        let fitting = self.servers.values().filter(fits);
        Candidates {
            fitting: fitting.map(|server| server.hello.name.clone()).collect(),
            configured: match &client.request.wanted {
                Wanted::Walls(names) => self.plan(names).map_or(Vec::new(), |plan| plan.servers),
                Wanted::Grids(_) | Wanted::Single(_) => Vec::new(),
            },
        }
    }

    /// The new server for a tile that has no renderer. The first choice is the server with the same
    /// name as the last one; if its address is still the same, the result is `None`. If this server
    /// is not connected or is unfit, the second choice is the server of the configuration. The
    /// third choice is a server that has the same renderer and belongs to no configured wall.
    pub(super) fn successor(
        &self,
        client: &Client,
        tile: u32,
        candidates: &Candidates,
    ) -> Option<End> {
        let number = tile as usize;
        let Standing::Matched(matched) = &client.standing else {
            return None;
        };
        let lost = matched.ends.get(number)?;
        let end = |server: &Server| {
            let (transport, address) = self.route_to(server, &client.request).ok()?;
            Some(end_at(server, transport, address))
        };
        let fits = |server: &&Server| {
            let name = &server.hello.name;
            candidates.fitting.contains(name) && !client.unfit.contains(&(tile, name.clone()))
        };
        if let Some(same) = self.servers.get(&lost.server).filter(fits) {
            return end(same).filter(|end| end != lost);
        }
        let has_room = |server: &&Server| fits(server) && self.free(server) > 0;
        let own = candidates.configured.get(number);
        let own = own.and_then(|name| self.servers.get(name)).filter(has_room);
        if let Some(end) = own.and_then(end) {
            return Some(end);
        }
        let is_configured = |server: &Server| {
            let mut all = self.walls.values().flat_map(|plan| &plan.servers);
            all.any(|name| *name == server.hello.name)
        };
        let is_spare = |server: &&Server| has_room(server) && !is_configured(server);
        let spare = self.servers.values().filter(is_spare);
        let reached = spare.filter_map(|server| Some((self.free(server), end(server)?)));
        let (_, end) = reached.max_by_key(|(free, _)| *free)?;
        Some(end)
    }

    /// Judges a request for a wall of the configuration, which names the server of each tile.
    fn judge_wall(&self, plan: &WallPlan, request: &Request) -> Verdict {
        let mut wait = None;
        let mut ends = Vec::new();
        let mut wanted: BTreeMap<&str, u32> = BTreeMap::new();
        let mut first: Option<&Server> = None;
        for (tile, name) in plan.wall.tiles.iter().zip(&plan.servers) {
            let name = name.as_str();
            let of = format!("the server {name} of the tile {tile}");
            let Some(server) = self.servers.get(name) else {
                match self.expected.get(name).and_then(|e| e.failed.as_ref()) {
                    Some(why) => return Verdict::Never(format!("{of} has failed: {why}")),
                    None => wait = wait.or(Some(format!("{of} has not registered yet"))),
                }
                continue;
            };
            if let Err(lack) = server.hello.offer.meets(&request.needs) {
                return Verdict::Never(format!("{of} has {lack}"));
            }
            let one = *first.get_or_insert(server);
            if !one.hello.offer.is_same(&server.hello.offer) {
                return Verdict::Never(format!(
                    "{of} renders with {}, and {} with {}; a wall needs the same on all",
                    server.hello.offer.driver(),
                    one.hello.name,
                    one.hello.offer.driver()
                ));
            }
            let (transport, address) = match self.route_to(server, request) {
                Ok(found) => found,
                Err(why) => return Verdict::Never(why),
            };
            let count = wanted.entry(name).or_default();
            *count += 1;
            if *count > server.hello.sessions {
                let (most, wall) = (server.hello.sessions, &plan.wall.name);
                return Verdict::Never(format!("{of} accepts at most {most} sessions, and the wall {wall} needs more; start it with a higher --max-sessions"));
            }
            if *count > self.free(server) {
                wait = wait.or(Some(format!("{of} has reached its limit of sessions")));
            }
            ends.push(end_at(server, transport, address));
        }
        match (wait, first) {
            (Some(why), _) => Verdict::Wait(why),
            (None, None) => Verdict::Wait("the wall has no tiles".into()),
            (None, Some(one)) => Verdict::Match(Box::new(Matched {
                wall: plan.wall.clone(),
                ends,
                client_chain: plan.client_chain.iter().map(Stage::to_string).collect(),
                renderer: one.hello.offer.renderer.clone(),
                version: one.hello.offer.version.clone(),
            })),
        }
    }

    /// Looks for a server for each tile of the wall: any server that can render the tile, or the
    /// server `named`.
    fn judge_grid(&self, wall: Wall, named: Option<&str>, request: &Request) -> Verdict {
        let count = wall.tiles.len() as u64;
        let mut lacks = Vec::new();
        // Groups of servers with the same renderer and version, and how to reach each server.
        let mut groups: BTreeMap<(&str, &str), Vec<Reached<'_>>> = BTreeMap::new();
        let is_wanted = |server: &&Server| named.is_none_or(|name| server.hello.name == name);
        for server in self.servers.values().filter(is_wanted) {
            let offer = &server.hello.offer;
            if let Err(lack) = offer.meets(&request.needs) {
                lacks.push(format!("the server {} has {lack}", server.hello.name));
                continue;
            }
            match self.route_to(server, request) {
                Ok((transport, address)) => groups
                    .entry((&offer.renderer, &offer.version))
                    .or_default()
                    .push(Reached {
                        server,
                        transport,
                        address,
                    }),
                Err(why) => lacks.push(why),
            }
        }
        let room = |group: &[Reached<'_>], each: &dyn Fn(&Server) -> u32| -> u64 {
            group.iter().map(|one| u64::from(each(one.server))).sum()
        };
        let free = |server: &Server| self.free(server);
        let fitting = groups.values().filter(|group| room(group, &free) >= count);
        if let Some(group) = fitting.max_by_key(|group| (group.len(), room(group, &free))) {
            return Verdict::Match(Box::new(self.spread(wall, group)));
        }
        if groups
            .values()
            .any(|group| room(group, &|server| server.hello.sessions) >= count)
        {
            return Verdict::Wait("all servers have reached their limit of sessions".into());
        }
        self.judge_absence(count, named, &lacks, groups.len())
    }

    /// The verdict if there are not enough servers.
    fn judge_absence(
        &self,
        count: u64,
        named: Option<&str>,
        lacks: &[String],
        kinds: usize,
    ) -> Verdict {
        let mut absent = self.expected.iter().filter(|(name, _)| {
            named.is_none_or(|named| named == name.as_str()) && !self.servers.contains_key(*name)
        });
        if let Some((name, _)) = absent
            .clone()
            .find(|(_, expected)| expected.failed.is_none())
        {
            return Verdict::Wait(format!("the server {name} has not registered yet"));
        }
        if let Some(name) = named.filter(|name| !self.servers.contains_key(*name)) {
            let failed = absent
                .next()
                .and_then(|(_, expected)| expected.failed.as_ref());
            return match failed {
                Some(why) => Verdict::Never(format!("the server {name} has failed: {why}")),
                None => Verdict::Wait(format!("no server called {name} is registered")),
            };
        }
        if self.servers.is_empty() {
            return match absent.next() {
                Some((
                    name,
                    Expected {
                        failed: Some(why), ..
                    },
                )) => Verdict::Never(format!("the server {name} has failed: {why}")),
                _ => Verdict::Wait("no server is registered".into()),
            };
        }
        if !lacks.is_empty() {
            return Verdict::Never(lacks.join("; "));
        }
        let same = if kinds > 1 {
            " with the same renderer"
        } else {
            ""
        };
        let why = format!("{count} sessions are needed, and the servers{same} accept fewer; start another server, or one with a higher --max-sessions");
        match self.expected.is_empty() {
            // Without a configuration, any server may still register.
            true => Verdict::Wait(why),
            false => Verdict::Never(why),
        }
    }

    /// Gives each tile to the server that has the fewest tiles of this wall so far. Among these, it
    /// prefers the server with the most free sessions, and then the one with the most free memory.
    fn spread(&self, wall: Wall, group: &[Reached<'_>]) -> Matched {
        let mut free: Vec<u32> = group.iter().map(|one| self.free(one.server)).collect();
        let offer = &group[0].server.hello.offer;
        let mut given = vec![0u32; group.len()];
        let end = |_| {
            let open = (0..group.len()).filter(|n| free[*n] > 0);
            let busy = |n: &usize| {
                let memory = std::cmp::Reverse(group[*n].server.hello.offer.memory);
                (given[*n], std::cmp::Reverse(free[*n]), memory)
            };
            let n = open.min_by_key(busy).unwrap_or(0);
            free[n] = free[n].saturating_sub(1);
            given[n] += 1;
            let Reached {
                server,
                transport,
                address,
            } = &group[n];
            end_at(server, *transport, address.clone())
        };
        Matched {
            ends: wall.tiles.iter().map(end).collect(),
            wall,
            client_chain: Vec::new(),
            renderer: offer.renderer.clone(),
            version: offer.version.clone(),
        }
    }

    /// Counts the sessions that clients have with each server. Call this after each change of these
    /// sessions, before [`Core::free`].
    pub(super) fn count_promised(&mut self) {
        for server in self.servers.values_mut() {
            server.promised = 0;
        }
        for client in self.clients.values() {
            let Standing::Matched(matched) = &client.standing else {
                continue;
            };
            for end in &matched.ends {
                if let Some(server) = self.servers.get_mut(&end.server) {
                    server.promised += 1;
                }
            }
        }
    }

    /// The number of sessions that a server can still accept.
    fn free(&self, server: &Server) -> u32 {
        // Clients may also connect without the mothership.
        let busy = server.promised.max(server.sessions.len());
        let busy = u32::try_from(busy).unwrap_or(u32::MAX);
        server.hello.sessions.saturating_sub(busy)
    }

    /// The relay in front of a server's host.
    pub(super) fn relay_of(&self, server: &Server) -> Option<&Address> {
        self.expected.get(&server.hello.name)?.relay.as_ref()
    }

    /// The address through the relay in front of a server's host, for clients that are not behind
    /// the same relay.
    fn relay_to(&self, server: &Server, request: &Request) -> Option<Address> {
        let relay = self.relay_of(server)?;
        let is_inside = self.servers.values().any(|other| {
            other.hello.whereabouts.host == request.whereabouts.host
                && self.relay_of(other) == Some(relay)
        });
        match relay {
            Address::Tcp {
                host, port, tls, ..
            } if !is_inside => Some(Address::Tcp {
                host: host.clone(),
                port: *port,
                tls: *tls,
                server: Some(server.hello.name.clone()),
            }),
            _ => None,
        }
    }

    /// The address at which a relay reaches a server.
    pub(super) fn address_for(&self, asked: &ServerLookup) -> Result<String, String> {
        let name = &asked.server;
        let server = self.servers.get(name);
        let server = server.ok_or_else(|| format!("the server {name} is not registered"))?;
        let together = server.hello.whereabouts.host == asked.whereabouts.host;
        let addresses = server.hello.addresses.iter();
        let mut addresses = addresses.filter_map(|address| address.parse().ok());
        let is_it = |address: &Address| match address {
            // An address through a relay is ignored, because it could be the asking relay's own.
            Address::Tcp {
                host,
                tls,
                server: None,
                ..
            } => *tls == asked.encrypted && (together || !is_loopback(host)),
            _ => false,
        };
        match addresses.find(is_it) {
            Some(address) => Ok(self.called(server, &address, together).to_string()),
            None => {
                let kind = if asked.encrypted { "tls:" } else { "tcp:" };
                Err(format!(
                    "the server {name} listens at no {kind} address that the relay reaches"
                ))
            }
        }
    }

    /// A server's address as other hosts see it.
    fn called(&self, server: &Server, address: &Address, together: bool) -> Address {
        let expected = self.expected.get(&server.hello.name);
        let named = expected.and_then(|expected| expected.address.as_ref());
        let host = named.unwrap_or(&server.hello.whereabouts.host_name);
        reachable(address, host, together)
    }

    /// The transport and the address by which a client reaches a server. The order of preference is
    /// shared memory, a Unix socket, the server's relay, TCP. The first two require the same host
    /// and the same user.
    fn route_to(
        &self,
        server: &Server,
        request: &Request,
    ) -> Result<(TransportKind, String), String> {
        let hello = &server.hello;
        let expected = self.expected.get(&hello.name);
        let allowed = |transport: TransportKind| {
            let transports = expected.map_or(&[][..], |expected| &expected.transports);
            let named = |allowed: &Transport| {
                matches!(
                    (allowed, transport),
                    (Transport::Shm, TransportKind::Shm)
                        | (Transport::Unix, TransportKind::Unix)
                        | (Transport::Tcp, TransportKind::Tcp)
                )
            };
            (transports.is_empty() || transports.iter().any(named))
                && request.transport.is_none_or(|wanted| wanted == transport)
        };
        let near = hello.whereabouts.is_near(&request.whereabouts);
        let together = hello.whereabouts.host == request.whereabouts.host;
        let addresses: Vec<Address> = hello
            .addresses
            .iter()
            .filter_map(|a| a.parse().ok())
            .collect();
        let unix = addresses.iter().find(|a| !a.is_tcp()).filter(|_| near);
        let reached = |address: &&Address| match address {
            Address::Tcp { host, .. } => together || !is_loopback(host),
            _ => false,
        };
        let tcp = addresses.iter().find(reached);
        if let (Some(address), true) = (unix, allowed(TransportKind::Shm)) {
            return Ok((TransportKind::Shm, address.to_string()));
        }
        if let (Some(address), true) = (unix, allowed(TransportKind::Unix)) {
            return Ok((TransportKind::Unix, address.to_string()));
        }
        if let (Some(relay), true) = (self.relay_to(server, request), allowed(TransportKind::Tcp)) {
            return Ok((TransportKind::Tcp, relay.to_string()));
        }
        if let (Some(address), true) = (tcp, allowed(TransportKind::Tcp)) {
            return Ok((
                TransportKind::Tcp,
                self.called(server, address, together).to_string(),
            ));
        }
        let why = match (unix.is_some() || tcp.is_some(), together) {
            (true, _) => "no transport that both ends allow reaches it",
            (false, true) => "it belongs to another user and has no tcp: or tls: address",
            (false, false) => "it is on another host and listens at no tcp: or tls: address there; add one to its --listen",
        };
        Err(format!(
            "the server {} cannot be reached from {}: {why}",
            hello.name, request.whereabouts.host_name
        ))
    }
}

/// Joins grids of these columns and rows, which all show the same, to one wall.
fn grids(sizes: &[(u32, u32)]) -> Result<Wall, String> {
    let mut walls = Vec::new();
    for (columns, rows) in sizes {
        walls.push(Wall::grid(*columns, *rows).map_err(|error| error.to_string())?);
    }
    let mut walls = walls.into_iter();
    let first = walls.next().ok_or("no grid is asked for")?;
    first
        .with_replicas(walls)
        .map_err(|error| error.to_string())
}

fn end_at(server: &Server, transport: TransportKind, address: String) -> End {
    End {
        server: server.hello.name.clone(),
        address,
        transport,
        token: server.hello.token.clone(),
        key: server.hello.key.clone(),
    }
}

impl Standing {
    /// Whether a server has the same renderer and version as the client's servers.
    fn is_drawn_by(&self, offer: &Offer) -> bool {
        match self {
            Standing::Matched(matched) => {
                (&offer.renderer, &offer.version) == (&matched.renderer, &matched.version)
            }
            Standing::Waiting(_) => false,
        }
    }
}

impl Whereabouts {
    /// Whether two processes can share memory and Unix sockets: same host, same user.
    fn is_near(&self, other: &Whereabouts) -> bool {
        self.host == other.host && self.uid == other.uid
    }
}

impl Offer {
    /// Whether two servers have the same renderer and version, and so render identical pixels.
    fn is_same(&self, other: &Offer) -> bool {
        self.renderer == other.renderer && self.version == other.version
    }

    fn driver(&self) -> String {
        format!("{} ({})", self.renderer, self.version)
    }

    /// Checks that the server meets these needs. The error says what it lacks.
    fn meets(&self, needs: &Needs) -> Result<(), String> {
        let wanted = |profile: &&Profile| needs.api.is_none_or(|api| profile.api == api);
        let none = needs
            .api
            .map_or("no driver".into(), |api| format!("no {api}"));
        let wanted = self.profiles.iter().filter(wanted);
        wanted
            .map(|profile| profile.meets(needs))
            .reduce(|one, other| one.or_else(|lack| other.map_err(|_| lack)))
            .unwrap_or(Err(none))?;
        for (name, least) in &needs.limits {
            let has = self.limits.get(name).copied().unwrap_or(0);
            if has < *least {
                return Err(format!("a {name} of {has}, and {least} is needed"));
            }
        }
        Ok(())
    }
}

impl Profile {
    /// Checks that the profile meets these needs. The error says what it lacks. The profile's
    /// extensions must be sorted.
    fn meets(&self, needs: &Needs) -> Result<(), String> {
        if self.version < needs.version {
            let ((major, minor), (least, last)) = (self.version, needs.version);
            let api = self.api;
            return Err(format!(
                "{api} {major}.{minor}, and {least}.{last} is needed"
            ));
        }
        let mut offered = self.extensions.iter().peekable();
        let is_missing = |wanted: &&String| {
            while offered.next_if(|has| has < wanted).is_some() {}
            offered.peek() != Some(wanted)
        };
        let mut missing = needs.extensions.iter().filter(is_missing);
        let named = missing.by_ref().take(MISSING_NAMED_MAX);
        let named: Vec<&str> = named.map(String::as_str).collect();
        match (named.is_empty(), missing.count()) {
            (true, _) => Ok(()),
            (false, 0) => Err(format!("no {}", named.join(", "))),
            (false, more) => Err(format!(
                "no {} and {more} other extensions",
                named.join(", ")
            )),
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

/// The address at which other hosts reach a server that listens on all interfaces of its host.
fn reachable(address: &Address, host_name: &str, together: bool) -> Address {
    match address {
        Address::Tcp { port, tls, .. } if is_vague(address) => Address::Tcp {
            host: if together {
                "localhost".into()
            } else {
                host_name.into()
            },
            port: *port,
            tls: *tls,
            server: None,
        },
        other => other.clone(),
    }
}
