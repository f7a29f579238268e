//! The state of the core, for users.

use std::time::Duration;

use super::{printable, Client, Core, Server, Standing};
use crate::protocol::End;
use crate::report::{ClientStatus, ServerStatus, SessionStatus, Status, TileStatus};

impl Core {
    pub fn status(&self, now: Duration) -> Status {
        let here = self.servers.values().map(|server| ServerStatus {
            relay: self.relay_of(server).map(ToString::to_string),
            ..server.status(now)
        });
        let absent = self.expected.iter();
        let absent = absent.filter(|(name, _)| !self.servers.contains_key(*name));
        let absent = absent.map(|(name, expected)| ServerStatus {
            name: name.clone(),
            why: expected.failed.clone(),
            ..ServerStatus::default()
        });
        let mut servers: Vec<ServerStatus> = here.chain(absent).collect();
        servers.sort_by(|a, b| a.name.cmp(&b.name));
        Status {
            listening: Vec::new(),
            servers,
            clients: self
                .clients
                .values()
                .map(|client| self.client_status(client, now))
                .collect(),
        }
    }

    fn client_status(&self, client: &Client, now: Duration) -> ClientStatus {
        let (waits_for, tiles) = match &client.standing {
            // The reason may quote text from the client's request.
            Standing::Waiting(why) => (Some(printable(why)), Vec::new()),
            Standing::Matched(matched) => {
                let pairs = (0..).zip(matched.wall.tiles.iter().zip(&matched.ends));
                let tile = |(number, (tile, end)): (_, (&mgn_wall::Tile, &End))| TileStatus {
                    genlock: client.phases.get(&number).copied(),
                    tile: printable(&tile.to_string()),
                    server: printable(&end.server),
                    server_on_line: self.is_on_line(&end.server),
                    transport: end.transport,
                    address: printable(&end.address),
                };
                (None, pairs.map(tile).collect())
            }
        };
        let request = &client.request;
        ClientStatus {
            program: request.program.clone(),
            pid: request.pid,
            host: request.whereabouts.host_name.clone(),
            wants: printable(&request.wanted.to_string()),
            waits_for,
            tiles,
            rate: client.meter.rate,
            since: now.saturating_sub(client.since).as_secs(),
        }
    }
}

impl Server {
    fn status(&self, now: Duration) -> ServerStatus {
        let session = |(session, meter): &(crate::protocol::Session, super::Meter)| SessionStatus {
            program: session.program.clone(),
            rate: meter.rate,
        };
        let offer = &self.hello.offer;
        ServerStatus {
            name: self.hello.name.clone(),
            on_line: true,
            why: None,
            host: self.hello.whereabouts.host_name.clone(),
            addresses: self.hello.addresses.clone(),
            relay: None,
            renderer: offer.renderer.clone(),
            version: offer.version.clone(),
            memory: offer.memory,
            sessions_max: self.hello.sessions,
            sessions: self.sessions.values().map(session).collect(),
            since: now.saturating_sub(self.since).as_secs(),
        }
    }
}
