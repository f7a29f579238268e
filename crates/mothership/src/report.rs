//! The mothership's status: the connected servers and clients, the servers of each client, and the
//! clients that wait.

use comfy_table::{presets, Table};
use serde::{Deserialize, Serialize};

use mgn_wire::failover::DisplayPhase;

use crate::protocol::TransportKind;

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
    /// The relay through which programs on other hosts connect.
    pub relay: Option<String>,
    pub renderer: String,
    pub version: String,
    /// Free memory in MiB.
    pub memory: u64,
    /// The largest number of simultaneous sessions.
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
    /// The servers that it has asked for.
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
    pub transport: TransportKind,
    pub address: String,
    /// The phase of the tile's display, if the wall is genlocked and the tile is shown on a
    /// display.
    pub genlock: Option<DisplayPhase>,
}

impl Status {
    /// The status as a text for users: the connected servers and clients, their work, and the
    /// servers that draw for each client.
    pub fn describe(&self) -> String {
        let mut text = format!("mothership: {}\n", self.listening.join(", "));
        text += &table(
            "SERVER|HOST|STATE|RENDERER|VERSION|SESSIONS|FREE|ADDRESS",
            self.servers.iter().map(ServerStatus::row).collect(),
            "no servers",
        );
        let sessions = self.servers.iter().flat_map(ServerStatus::session_rows);
        text += &table(
            "SERVER|SESSION OF|FRAMES/S|MB/S",
            sessions.collect(),
            "no sessions",
        );
        text += &table(
            "CLIENT|PROCESS|HOST|FOR|WANTS|TILE|DRAWN BY|FRAMES/S|MB/S|PHASE|LATE",
            self.clients.iter().flat_map(ClientStatus::rows).collect(),
            "no clients",
        );
        text
    }
}

/// An empty line and then a table, or the text `none` if there are no rows.
fn table(titles: &str, rows: Vec<Vec<String>>, none: &str) -> String {
    if rows.is_empty() {
        return format!("\n{none}\n");
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(titles.split('|'));
    table.add_rows(rows);
    // Each cell begins with a space. The spaces of an empty first column must stay.
    let trimmed = |line: &str| format!("{}\n", line.strip_prefix(' ').unwrap_or(line).trim_end());
    let lines = table.lines().map(|line| trimmed(&line));
    format!("\n{}", lines.collect::<String>())
}

impl ServerStatus {
    fn row(&self) -> Vec<String> {
        if !self.on_line {
            let why = self.why.as_deref().unwrap_or("it has not registered yet");
            let state = format!("absent: {why}");
            return vec![self.name.clone(), String::new(), state];
        }
        let relay = self.relay.as_ref();
        let relay = relay.map_or(String::new(), |relay| format!(", behind the relay {relay}"));
        vec![
            self.name.clone(),
            self.host.clone(),
            format!("registered for {}", time(self.since)),
            self.renderer.clone(),
            self.version.clone(),
            format!("{} of {}", self.sessions.len(), self.sessions_max),
            format!("{} MiB", self.memory),
            format!("{}{relay}", self.addresses.join(", ")),
        ]
    }

    fn session_rows(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        self.sessions.iter().map(|session| {
            let [frames, bytes] = rate(&session.rate);
            vec![self.name.clone(), session.program.clone(), frames, bytes]
        })
    }
}

impl ClientStatus {
    /// One row for the client, and one row for each of its tiles.
    fn rows(&self) -> Vec<Vec<String>> {
        let state = match &self.waits_for {
            Some(why) => format!("waits, {why}"),
            None => String::new(),
        };
        let [frames, bytes] = rate(&self.rate);
        let whole = vec![
            self.program.clone(),
            self.pid.to_string(),
            self.host.clone(),
            time(self.since),
            self.wants.clone(),
            String::new(),
            state,
            frames,
            bytes,
        ];
        let tiles = self.tiles.iter().map(|tile| {
            let mut row = vec![String::new(); 5];
            row.extend([
                tile.tile.clone(),
                tile.describe(),
                String::new(),
                String::new(),
            ]);
            row.extend(tile.genlock.map(phase).into_iter().flatten());
            row
        });
        std::iter::once(whole).chain(tiles).collect()
    }
}

impl TileStatus {
    fn describe(&self) -> String {
        let transport = match self.transport {
            TransportKind::Shm => "shm",
            TransportKind::Unix => "unix",
            TransportKind::Tcp => "tcp",
        };
        let gone = match self.server_on_line {
            true => "",
            false => ", which is no longer registered",
        };
        format!("{} by {transport} at {}{gone}", self.server, self.address)
    }
}

/// The phase error of a display, and how many frames were late.
fn phase(phase: DisplayPhase) -> [String; 2] {
    let error = match phase.error {
        Some(error) => format!("{:+.2} ms", error as f64 / 1e6),
        None => "unknown".into(),
    };
    [error, phase.late.to_string()]
}

/// Frames and megabytes a second.
fn rate(rate: &Option<Rate>) -> [String; 2] {
    let shown = |rate: &Rate| {
        [
            format!("{:.1}", rate.frames_per_second),
            format!("{:.2}", rate.bytes_per_second / 1e6),
        ]
    };
    rate.as_ref().map_or_else(Default::default, shown)
}

fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_a_table() {
        let rate = Some(Rate {
            frames_per_second: 60.04,
            bytes_per_second: 1_234_000.0,
        });
        let session = |tile| SessionStatus {
            program: format!("gears, process 7, tile {tile}"),
            rate,
        };
        let server = ServerStatus {
            name: "left".into(),
            on_line: true,
            host: "wall1".into(),
            addresses: vec!["tcp:wall1:7611".into()],
            renderer: "llvmpipe".into(),
            version: "4.5".into(),
            memory: 900,
            sessions_max: 8,
            sessions: vec![session(0), session(1)],
            since: 65,
            ..ServerStatus::default()
        };
        let absent = ServerStatus {
            name: "right".into(),
            ..ServerStatus::default()
        };
        let tile = TileStatus {
            tile: "0,0".into(),
            server: "left".into(),
            server_on_line: false,
            transport: TransportKind::Tcp,
            address: "tcp:wall1:7611".into(),
            genlock: Some(DisplayPhase {
                error: Some(-1_250_000),
                late: 2,
            }),
        };
        let client = ClientStatus {
            program: "gears".into(),
            pid: 7,
            host: "desk".into(),
            wants: "2x1".into(),
            waits_for: None,
            tiles: vec![tile],
            rate,
            since: 600,
        };
        let status = Status {
            listening: vec!["unix:/run/m".into()],
            servers: vec![server, absent],
            clients: vec![client],
        };
        let text = status.describe();
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let has = |wanted: &str| {
            let wanted: Vec<&str> = wanted.split_whitespace().collect();
            assert!(lines.contains(&wanted), "{wanted:?} in {text}");
        };
        has("left wall1 registered for 65 s llvmpipe 4.5 2 of 8 900 MiB tcp:wall1:7611");
        has("right absent: it has not registered yet");
        has("left gears, process 7, tile 1 60.0 1.23");
        has("gears 7 desk 10 min 2x1 60.0 1.23");
        has("0,0 left by tcp at tcp:wall1:7611, which is no longer registered -1.25 ms 2");
        // The text of each column begins below its title.
        let column = |word: &str| text.lines().find_map(|line| line.find(word)).unwrap();
        assert_eq!(column("SESSION OF"), column("gears, process 7"));
        assert_eq!(column("TILE"), column("0,0"));
        let empty = Status::default().describe();
        assert!(empty.contains("no servers") && empty.contains("no clients"));
    }
}
