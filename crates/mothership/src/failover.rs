//! Passes on between the mothership and the programs of a run what they say about lost servers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use mgn_fabric::{Address, Incoming, Listener, Receiver, Sender};
use mgn_wire::failover::{decode, encode, Assignment, FromProgram, OPENING, SOCKET};

use crate::ask::{LostTiles, TileServer};
use crate::link;
use crate::Error;

/// How long the thread that listens may stay after the end of the run.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// Tiles have a bit each.
const TILES_MAX: u32 = u64::BITS;

/// Connects the programs of a run with the mothership, until dropped.
#[derive(Debug)]
pub struct Failover {
    is_over: Arc<AtomicBool>,
}

struct Shared {
    lost: LostTiles,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By tile, the servers that replace those of the beginning.
    assignments: BTreeMap<u32, Assignment>,
    programs: BTreeMap<u64, Program>,
    next_program: u64,
}

/// A process of the run that draws.
struct Program {
    sender: Sender,
    /// Its tiles without a renderer, a bit each.
    lost: u64,
}

impl Failover {
    /// Lets programs connect in the directory of their run. What they say becomes known to the
    /// mothership through `lost`; `successors` are the servers that it names.
    ///
    /// # Errors
    /// Where no socket can be made there, or no thread.
    pub(crate) fn listen(
        run_dir: &Path,
        lost: LostTiles,
        successors: mpsc::Receiver<(usize, TileServer)>,
    ) -> Result<Failover, Error> {
        let listener = Listener::bind(&Address::Unix(run_dir.join(SOCKET)), None)?;
        let shared = Arc::new(Shared {
            lost,
            state: Mutex::default(),
        });
        let follower = shared.clone();
        // It ends when nothing stays in contact with the mothership any longer.
        spawn("failover", move || {
            for (tile, server) in successors {
                follower.assign(assignment(tile as u32, &server));
            }
        })?;
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = is_over.clone();
        spawn("failover-listen", move || {
            while !stop.load(Ordering::Relaxed) {
                match listener.accept_timeout(STOP_CHECK_INTERVAL) {
                    Ok(Some(incoming)) => shared.clone().admit(incoming),
                    Ok(None) => {}
                    Err(error) => {
                        tracing::debug!(%error, "programs are not told of other servers");
                        return;
                    }
                }
            }
        })?;
        Ok(Failover { is_over })
    }
}

impl Drop for Failover {
    fn drop(&mut self) {
        // Its thread ends by itself, so that the end of a run waits for nothing.
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let thread = thread::Builder::new().name(name.into()).spawn(work);
    thread.map(drop).map_err(Error::io("cannot start a thread"))
}

fn assignment(tile: u32, server: &TileServer) -> Assignment {
    Assignment {
        tile,
        address: server.address.to_string(),
        transport: server.transport.to_string(),
        token_file: server.token_file.clone(),
        key: server.key.map(|key| key.to_string()),
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells all programs, also later ones, which server draws a tile.
    fn assign(&self, assignment: Assignment) {
        let mut state = self.state();
        for program in state.programs.values() {
            // One that has ended is found to be so by its thread.
            let _ = program.sender.send(&encode(&assignment));
        }
        state.assignments.insert(assignment.tile, assignment);
    }

    /// Answers a program that connects, and follows it with a thread of its own.
    fn admit(self: Arc<Self>, incoming: Incoming) {
        if incoming.opening() != OPENING {
            incoming.refuse("it belongs to another release");
            return;
        }
        // Held meanwhile, so that no assignment is made between the answer and the entry.
        let mut state = self.state();
        let known: Vec<_> = state.assignments.values().collect();
        let connection = match incoming.accept(&encode(&known), &link::sizes()) {
            Ok(connection) => connection,
            Err(error) => {
                tracing::debug!(%error, "a program has not connected");
                return;
            }
        };
        let (sender, receiver) = connection.split();
        let number = state.next_program;
        state.next_program += 1;
        state.programs.insert(number, Program { sender, lost: 0 });
        drop(state);
        let shared = self.clone();
        if let Err(error) = spawn("failover-program", move || shared.follow(number, receiver)) {
            tracing::debug!(%error, "a program is not followed");
            self.forget(number);
        }
    }

    /// Until the program ends, or sends an invalid message.
    fn follow(&self, number: u64, mut receiver: Receiver) {
        receiver.never_spin();
        loop {
            let message = match receiver.recv(None) {
                Ok(Some(message)) => decode(&message.to_vec()),
                Ok(None) => continue,
                Err(_) => break,
            };
            let in_range = |message: &FromProgram| message.tile() < TILES_MAX;
            let Some(message) = message.filter(in_range) else {
                break;
            };
            let mut state = self.state();
            let Some(program) = state.programs.get_mut(&number) else {
                break;
            };
            match message {
                FromProgram::Lost { tile } => program.lost |= 1 << tile,
                FromProgram::Settled { tile } => program.lost &= !(1 << tile),
                FromProgram::Unfit { tile, address } => {
                    self.lost.set_unfit(tile as usize, address);
                }
            }
            self.report(&state);
        }
        self.forget(number);
    }

    /// A program that has ended needs no renderers.
    fn forget(&self, number: u64) {
        let mut state = self.state();
        state.programs.remove(&number);
        self.report(&state);
    }

    fn report(&self, state: &State) {
        let lost = state.programs.values().map(|program| program.lost);
        self.lost.set(lost.fold(0, |all, tiles| all | tiles));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fabric::{Connection, Transport};
    use std::time::Instant;

    const TIMEOUT: Duration = Duration::from_secs(30);

    struct Run {
        folder: tempfile::TempDir,
        lost: LostTiles,
        mothership: mpsc::Sender<(usize, TileServer)>,
        failover: Failover,
    }

    impl Run {
        fn new() -> Run {
            let folder = tempfile::tempdir().unwrap();
            let lost = LostTiles::default();
            let (mothership, successors) = mpsc::channel();
            let failover = Failover::listen(folder.path(), lost.clone(), successors).unwrap();
            Run {
                folder,
                lost,
                mothership,
                failover,
            }
        }

        fn connect(&self, opening: &[u8]) -> Result<(Connection, Vec<u8>), mgn_fabric::Error> {
            let address = Address::Unix(self.folder.path().join(SOCKET));
            mgn_fabric::connect(&address, Transport::Unix, None, opening, TIMEOUT)
        }

        fn program(&self) -> (Sender, Receiver, Vec<Assignment>) {
            let (connection, welcome) = self.connect(OPENING).unwrap();
            let (sender, receiver) = connection.split();
            (sender, receiver, decode(&welcome).unwrap())
        }

        fn awaits_lost(&self, wanted: u64) {
            let limit = Instant::now() + TIMEOUT;
            while self.lost.now().tiles != wanted {
                assert!(Instant::now() < limit, "{:#x}", self.lost.now().tiles);
                thread::sleep(Duration::from_millis(2));
            }
        }
    }

    fn server(name: &str) -> TileServer {
        TileServer {
            server: name.into(),
            address: format!("unix:@{name}").parse().unwrap(),
            transport: Transport::Unix,
            token_file: Some("/a/token".into()),
            key: None,
        }
    }

    #[test]
    fn programs_are_told_of_servers_and_the_mothership_of_holes() {
        let run = Run::new();
        let (first, mut from_first, welcome) = run.program();
        assert_eq!(welcome, []);
        let say = |sender: &Sender, message| sender.send(&encode(&message)).unwrap();
        say(&first, FromProgram::Lost { tile: 3 });
        run.awaits_lost(0b1000);
        run.mothership.send((3, server("b"))).unwrap();
        let wanted = assignment(3, &server("b"));
        let message = from_first.recv(Some(TIMEOUT)).unwrap().unwrap();
        assert_eq!(decode(&message.to_vec()), Some(wanted.clone()));
        // A process that begins later knows as well.
        let (second, from_second, welcome) = run.program();
        assert_eq!(welcome, [wanted]);
        let address = "unix:@b".to_string();
        say(&second, FromProgram::Unfit { tile: 3, address });
        say(&second, FromProgram::Lost { tile: 0 });
        run.awaits_lost(0b1001);
        let unfit = run.lost.now().unfit;
        assert_eq!(unfit, [(3, "unix:@b".to_string())].into());
        say(&first, FromProgram::Settled { tile: 3 });
        run.awaits_lost(0b1);
        drop((second, from_second));
        run.awaits_lost(0);
    }

    #[test]
    fn nonsense_ends_the_connection_of_its_sender() {
        let run = Run::new();
        let (good, _from_good, _) = run.program();
        good.send(&encode(&FromProgram::Lost { tile: 1 })).unwrap();
        run.awaits_lost(0b10);
        for bad in [&b"nonsense"[..], &encode(&FromProgram::Lost { tile: 64 })] {
            let (sender, mut receiver, _) = run.program();
            sender
                .send(&encode(&FromProgram::Lost { tile: 0 }))
                .unwrap();
            run.awaits_lost(0b11);
            sender.send(bad).unwrap();
            run.awaits_lost(0b10);
            assert!(receiver.recv(Some(TIMEOUT)).is_err());
        }
        assert!(run.connect(b"mgn failover 0").is_err());
        // The socket goes with its thread.
        drop(run.failover);
        let limit = Instant::now() + TIMEOUT;
        while std::os::unix::net::UnixStream::connect(run.folder.path().join(SOCKET)).is_ok() {
            assert!(Instant::now() < limit, "it listens for ever");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
