//! Networks that stand for machines, with a mothership.
#![allow(dead_code)]

#[path = "../../../../crates/fabric/tests/support/networks.rs"]
pub mod networks;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mgn_tests::{camera, Outcome, Running, Stage};
use networks::Network;
use serde_json::Value;

pub const RUN_TIMEOUT: Duration = Duration::from_secs(180);

/// A mothership and its servers. Dropping this ends the processes, and removes the networks and
/// files.
pub struct Site {
    pub running: Vec<Running>,
    pub stage: Stage,
    pub folder: PathBuf,
    pub home: String,
}

impl Site {
    /// `None`, with a message, if networks cannot be made here.
    pub fn new() -> Option<Site> {
        if !networks::are_there() {
            return None;
        }
        camera();
        let stage = Stage::new();
        let folder = stage.folder();
        let site = Site {
            running: Vec::new(),
            home: format!("unix:@mgn-{}-{}", std::process::id(), folder.display()),
            folder,
            stage,
        };
        let made = Outcome::of(
            site.stage
                .mgn()
                .args(["token", "new", "--role", "admin"])
                .arg(site.token())
                .env("XDG_STATE_HOME", &site.folder),
            RUN_TIMEOUT,
        );
        assert_eq!(made.status, Some(0), "{}", made.describe());
        Some(site)
    }

    pub fn token(&self) -> PathBuf {
        self.folder.join("token")
    }

    /// A command that runs `mgn` in a network, on the stage's X server. It is killed when this
    /// thread ends.
    pub fn mgn(&self, network: &Network, arguments: &[&str]) -> Command {
        let mgn = self.stage.mgn();
        let mut command = self.stage.direct("setpriv");
        command.args(["--pdeathsig", "KILL", "nsenter", "-n", "-t"]);
        command
            .arg(network.pid().to_string())
            .arg(mgn.get_program());
        command
            .args(arguments)
            .env("MGN_TOKEN_FILE", self.token())
            .env("MGN_MOTHERSHIP", &self.home)
            .env("XDG_STATE_HOME", &self.folder);
        command
    }

    pub fn start(&mut self, network: &Network, arguments: &[&str]) {
        let mut command = self.mgn(network, arguments);
        self.running.push(Running::start(&mut command));
    }

    /// Starts the mothership with this configuration.
    pub fn mothership(&mut self, network: &Network, config: &str) {
        let file = self.folder.join("wall.toml");
        fs::write(&file, config).unwrap();
        self.start(network, &["mothership", file.to_str().unwrap()]);
    }

    pub fn status(&self, network: &Network) -> Option<Value> {
        let mut command = self.mgn(network, &["status", "--json"]);
        serde_json::from_str(&Outcome::of(&mut command, RUN_TIMEOUT).stdout).ok()
    }

    /// Waits for the first status for which `holds` is true.
    pub fn until(&self, network: &Network, holds: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let status = self.status(network);
            if let Some(status) = status.as_ref().filter(|status| holds(status)) {
                return status.clone();
            }
            assert!(start.elapsed() < RUN_TIMEOUT, "it stays so: {status:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Checks that a program on a wall is drawn the same as without Manganese.
    pub fn verify(&self, network: &Network, wall: &[&str]) {
        let flags = [&["verify", "--frames", "5"], wall].concat();
        let arguments = [&flags[..], &["--", "glxgears"]].concat();
        let outcome = Outcome::of(&mut self.mgn(network, &arguments), RUN_TIMEOUT);
        let said = outcome.describe();
        assert!(outcome.stdout.contains("bit-identical"), "{wall:?}: {said}");
    }

    /// Starts a program that draws. Returns it with the transport and the address of each tile, if
    /// the mothership was asked.
    pub fn draw(&self, network: &Network, flags: [&str; 2]) -> (Running, Vec<(String, String)>) {
        let arguments = [&["run"], &flags[..], &["--", "glxgears"]].concat();
        let running = Running::start(&mut self.mgn(network, &arguments));
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let tiles = |status: &Value| list(&status["clients"][0]["tiles"]);
        // A session of an earlier run may still be listed.
        let has_come = |status: &Value| flags[0] != "--wall" || !tiles(status).is_empty();
        let draws = |status: &Value| {
            let servers = list(&status["servers"]);
            let mut sessions = servers.iter().flat_map(|server| list(&server["sessions"]));
            sessions.any(|s| s["rate"]["frames_per_second"].as_f64() > Some(0.0))
                && has_come(status)
        };
        let status = self.until(network, draws);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let tiles = tiles(&status);
        let ways = tiles
            .iter()
            .map(|t| (text(&t["transport"]), text(&t["address"])));
        (running, ways.collect())
    }
}

pub fn all_are_there(status: &Value) -> bool {
    let servers = status["servers"].as_array().unwrap();
    servers.iter().all(|server| server["on_line"] == true)
}

pub fn config(path: &Path, listen: &[&str], rest: &str) -> String {
    format!("[mothership]\nlisten = {listen:?}\ntoken_file = {path:?}\n{rest}")
}
