//! The connection to the `mgn run` that started the program. Over it, this process reports lost
//! renderers and learns which servers replace them.

use crate::options::{servers, Server};
use crate::signals::Signals;
use mgn_fabric::{Address, Receiver, Sender, Transport};
use mgn_genlock::Phase;
use mgn_wire::failover::{decode, encode, Assignment, DisplayPhase, FromProgram, OPENING, SOCKET};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait for `mgn run` to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The servers that replace those that the program began with.
#[derive(Default)]
pub struct Assignments {
    to_run: Option<Sender>,
    from_run: Mutex<Option<Receiver>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// By tile.
    servers: BTreeMap<usize, Server>,
    is_over: bool,
}

/// The result of a wait.
#[derive(Debug, PartialEq, Eq)]
pub enum Wait {
    /// Another server is to draw the tile.
    Assigned(Server),
    TimeOver,
    /// The session is over.
    End,
}

impl Assignments {
    /// Connects to `mgn run`, if it can replace servers. Without the connection, the program only
    /// retries the servers that it began with.
    pub fn connect(run_dir: Option<&Path>) -> Assignments {
        let mut assignments = Assignments::default();
        let Some(socket) = run_dir.map(|folder| folder.join(SOCKET)) else {
            return assignments;
        };
        if !socket.exists() {
            return assignments;
        }
        let address = Address::Unix(socket);
        let connected =
            mgn_fabric::connect(&address, Transport::Unix, None, OPENING, CONNECT_TIMEOUT);
        let (connection, known) = match connected {
            Ok(connected) => connected,
            Err(error) => {
                tracing::warn!(%error, "lost servers cannot be replaced");
                return assignments;
            }
        };
        match decode::<Vec<Assignment>>(&known) {
            Some(known) => known.iter().for_each(|known| assignments.take(known)),
            None => tracing::warn!("mgn run has sent assignments of servers in an unknown format"),
        }
        let (sender, receiver) = connection.split();
        assignments.to_run = Some(sender);
        assignments.from_run = Mutex::new(Some(receiver));
        assignments
    }

    /// Starts the thread that receives further assignments, if there is a connection.
    ///
    /// # Errors
    /// One sentence, if the thread cannot be started.
    pub fn follow(&'static self) -> Result<(), String> {
        let from_run = self.from_run.lock();
        let receiver = from_run.unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut receiver) = receiver else {
            return Ok(());
        };
        let _signals = Signals::block_all();
        let thread = std::thread::Builder::new().name("mgn-assignments".into());
        let started = thread.spawn(move || {
            receiver.never_spin();
            loop {
                match receiver.recv(None) {
                    Ok(Some(message)) => match decode(&message.to_vec()) {
                        Some(assignment) => self.take(&assignment),
                        None => tracing::warn!(
                            "mgn run has sent an assignment of a server in an unknown format"
                        ),
                    },
                    Ok(None) => {}
                    Err(_) => return,
                }
            }
        });
        let failed = |e| format!("cannot start the thread that follows assignments: {e}");
        started.map(drop).map_err(failed)
    }

    fn take(&self, assignment: &Assignment) {
        let Assignment {
            tile,
            address,
            transport,
            token_file,
            key,
        } = assignment;
        let token_file = token_file.as_ref().map(|file| file.display().to_string());
        let [token_file, key] = [&token_file, key].map(|text| text.as_deref().unwrap_or_default());
        let server = servers(address, transport, token_file, key);
        match server.map(|mut servers| servers.pop()) {
            Ok(Some(server)) => {
                self.state().servers.insert(*tile as usize, server);
                self.changed.notify_all();
            }
            Ok(None) => tracing::warn!("the assignment of tile {tile} names no server"),
            Err(why) => {
                tracing::warn!("the assignment of tile {tile} names an invalid server: {why}")
            }
        }
    }

    /// The server that is to draw a tile, if it was reassigned since the program began.
    pub fn server(&self, tile: usize) -> Option<Server> {
        self.state().servers.get(&tile).cloned()
    }

    /// Waits until a server other than `known` is assigned to the tile, but not beyond `until` or
    /// the end of the session.
    pub fn wait(&self, tile: usize, known: Option<&Server>, until: Instant) -> Wait {
        let mut state = self.state();
        loop {
            if state.is_over {
                return Wait::End;
            }
            let server = state.servers.get(&tile);
            if let Some(server) = server.filter(|server| Some(*server) != known) {
                return Wait::Assigned(server.clone());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Wait::TimeOver;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the session: all waits end.
    pub fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// Reports that a tile has no renderer.
    pub fn say_lost(&self, tile: usize) {
        self.say(&FromProgram::Lost { tile: tile as u32 });
    }

    /// Reports that a tile needs no replacement any longer.
    pub fn say_settled(&self, tile: usize) {
        self.say(&FromProgram::Settled { tile: tile as u32 });
    }

    /// Reports that a server cannot draw a tile.
    pub fn say_unfit(&self, tile: usize, server: &Server) {
        self.say(&FromProgram::Unfit {
            tile: tile as u32,
            address: server.address.to_string(),
        });
    }

    /// Reports the phase of the display of a genlocked tile.
    pub fn say_phase(&self, tile: usize, Phase { error, late }: Phase) {
        self.say(&FromProgram::Phase {
            tile: tile as u32,
            phase: DisplayPhase { error, late },
        });
    }

    fn say(&self, message: &FromProgram) {
        if let Some(Err(error)) = self.to_run.as_ref().map(|run| run.send(&encode(message))) {
            tracing::debug!(%error, "the mothership cannot be told of a tile");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(tile: u32, address: &str) -> Assignment {
        Assignment {
            tile,
            address: address.into(),
            transport: "tcp".into(),
            token_file: Some("/a/token".into()),
            key: None,
        }
    }

    #[test]
    fn a_tile_may_have_another_server_than_at_first() {
        let assignments = Assignments::default();
        assert_eq!(assignments.server(3), None);
        assignments.take(&assignment(3, "tls:h:7000"));
        assignments.take(&assignment(4, "tls:"));
        let found = assignments.server(3).unwrap();
        assert_eq!(found.to_string(), "tls:h:7000");
        assert_eq!(found.token_file, Some("/a/token".into()));
        assert_eq!(assignments.server(4), None);
    }

    #[test]
    fn a_wait_ends_with_another_server_with_the_time_or_with_the_session() {
        let assignments = Assignments::default();
        let late = Instant::now() + Duration::from_secs(60);
        let soon = Instant::now();
        assert_eq!(assignments.wait(0, None, soon), Wait::TimeOver);
        assignments.take(&assignment(0, "tls:h:7000"));
        let Wait::Assigned(first) = assignments.wait(0, None, late) else {
            panic!("there is a server");
        };
        assert_eq!(assignments.wait(0, Some(&first), soon), Wait::TimeOver);
        std::thread::scope(|scope| {
            let assignments = &assignments;
            let wait = |known| scope.spawn(move || assignments.wait(0, Some(&known), late));
            let waiting = wait(first);
            assignments.take(&assignment(1, "tls:h:7001"));
            assignments.take(&assignment(0, "tls:h:7002"));
            let Wait::Assigned(second) = waiting.join().unwrap() else {
                panic!("there is another server");
            };
            assert_eq!(second.to_string(), "tls:h:7002");
            let waiting = wait(second);
            assignments.end();
            assert_eq!(waiting.join().unwrap(), Wait::End);
        });
    }
}
