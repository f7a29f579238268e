//! Who is there, who is matched and who waits.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::protocol::Way;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Where the mothership listens.
    pub listening: Vec<String>,
    pub servers: Vec<ServerStatus>,
    pub clients: Vec<ClientStatus>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerStatus {
    pub name: String,
    pub on_line: bool,
    /// Why it is not on line.
    pub why: Option<String>,
    pub host: String,
    pub addresses: Vec<String>,
    /// Through which programs on other hosts come.
    pub relay: Option<String>,
    pub renderer: String,
    pub version: String,
    /// Free memory in MiB.
    pub memory: u64,
    /// How many it takes at once.
    pub sessions_max: u32,
    pub sessions: Vec<SessionStatus>,
    /// Seconds on line.
    pub since: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionStatus {
    pub program: String,
    pub rate: Option<Rate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    pub frames_per_second: f64,
    pub bytes_per_second: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientStatus {
    pub program: String,
    pub pid: u32,
    pub host: String,
    /// What it has asked for.
    pub wants: String,
    /// Why it waits; none if it is matched.
    pub waits_for: Option<String>,
    pub tiles: Vec<TileStatus>,
    pub rate: Option<Rate>,
    /// Seconds since it asked.
    pub since: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TileStatus {
    pub tile: String,
    pub server: String,
    pub server_on_line: bool,
    pub way: Way,
    pub address: String,
}

impl Status {
    /// For people.
    pub fn describe(&self) -> String {
        let mut text = format!("mothership: {}\n", self.listening.join(", "));
        for server in &self.servers {
            server.describe(&mut text);
        }
        for client in &self.clients {
            client.describe(&mut text);
        }
        if self.clients.is_empty() {
            text += "no clients\n";
        }
        text
    }
}

impl ServerStatus {
    fn describe(&self, text: &mut String) {
        if !self.on_line {
            let why = self.why.as_deref().unwrap_or("it has not come yet");
            let _ = writeln!(text, "server {}: not there, {why}", self.name);
            return;
        }
        let _ = writeln!(
            text,
            "server {} on {} for {}: {} ({}), {} of {} sessions, {} MiB free, {}",
            self.name,
            self.host,
            time(self.since),
            self.renderer,
            self.version,
            self.sessions.len(),
            self.sessions_max,
            self.memory,
            self.addresses.join(", ")
        );
        if let Some(relay) = &self.relay {
            let _ = writeln!(text, "  behind the relay {relay}");
        }
        for session in &self.sessions {
            let _ = writeln!(text, "  {}{}", session.program, rate(&session.rate));
        }
    }
}

impl ClientStatus {
    fn describe(&self, text: &mut String) {
        let _ = write!(
            text,
            "client {} (process {} on {}) for {}, wants {}: ",
            self.program,
            self.pid,
            self.host,
            time(self.since),
            self.wants
        );
        if let Some(why) = &self.waits_for {
            let _ = writeln!(text, "waits, {why}");
            return;
        }
        let _ = writeln!(text, "matched{}", rate(&self.rate));
        for tile in &self.tiles {
            let way = match tile.way {
                Way::Shm => "shm",
                Way::Unix => "unix",
                Way::Tcp => "tcp",
            };
            let gone = if tile.server_on_line {
                ""
            } else {
                ", which has gone"
            };
            let TileStatus {
                tile,
                server,
                address,
                ..
            } = tile;
            let _ = writeln!(text, "  tile {tile}: {server} by {way} at {address}{gone}");
        }
    }
}

fn rate(rate: &Option<Rate>) -> String {
    let Some(rate) = rate else {
        return String::new();
    };
    let (frames, bytes) = (rate.frames_per_second, rate.bytes_per_second / 1e6);
    format!(", {frames:.1} frames/s, {bytes:.2} MB/s")
}

fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}
