//! Passes messages about tiles and lost servers between the mothership and the programs of a run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use mgn_fabric::{Address, Config, Incoming, Listener, Receiver, Sender, Transport};
use mgn_wire::failover::{decode, encode, Assignment, DisplayPhase, FromProgram, OPENING, SOCKET};

use crate::ask::{TileReports, TileServer};
use crate::Error;

/// How often the listening thread checks whether the run has ended.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// The largest number of tiles. Each tile has a bit in a `u64`.
const TILES_MAX: u32 = u64::BITS;
/// The largest number of connected processes of a run.
const PROGRAMS_MAX: usize = 256;
/// The largest number of assignments that wait for a program to read them.
const OUTBOX_MAX: usize = 2 * TILES_MAX as usize;
/// The longest message of a program. Its only text is an address.
const MESSAGE_MAX: usize = 4 << 10;
/// The longest list of assignments, and the longest assignment.
const ANSWER_MAX: usize = 1 << 20;

/// Connects the programs of a run with the mothership, until dropped.
#[derive(Debug)]
pub struct Failover {
    is_over: Arc<AtomicBool>,
}

struct Shared {
    reports: TileReports,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The servers that replace the first ones, by tile number.
    assignments: BTreeMap<u32, Assignment>,
    programs: BTreeMap<u64, Program>,
    next_program: u64,
}

/// A process of the run that draws.
struct Program {
    /// The assignments that its thread must send. Nothing is sent while the state is locked,
    /// because a stopped program must not delay the others.
    outbox: mpsc::SyncSender<Assignment>,
    /// The sender of its connection, once the connection is accepted.
    sender: Option<Arc<Sender>>,
    /// Its tiles without a renderer: bit N stands for tile N.
    lost: u64,
    /// The phases of the displays of its genlocked tiles, by tile number.
    phases: BTreeMap<u32, DisplayPhase>,
}

impl Failover {
    /// Lets programs connect by a socket in the directory of their run. `reports` takes their
    /// messages for the mothership. `successors` yields the replacement servers that the mothership
    /// names.
    ///
    /// # Errors
    /// An error if the socket or a thread cannot be made.
    pub(crate) fn listen(
        run_dir: &Path,
        reports: TileReports,
        successors: mpsc::Receiver<(usize, TileServer)>,
    ) -> Result<Failover, Error> {
        let listener = Listener::bind(&Address::Unix(run_dir.join(SOCKET)), None)?;
        let shared = Arc::new(Shared {
            reports,
            state: Mutex::default(),
        });
        let follower = shared.clone();
        // This thread ends when the thread that talks to the mothership ends.
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
                        tracing::debug!(%error, "programs cannot be told of replacement servers");
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
        // The listening thread ends by itself, so that the end of a run does not wait for it.
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

    /// Tells all programs, including those that connect later, which server draws a tile. A program
    /// that does not read its messages is disconnected.
    fn assign(&self, assignment: Assignment) {
        let mut state = self.state();
        state.programs.retain(|_, program| {
            let is_reading = program.outbox.try_send(assignment.clone()).is_ok();
            if let (false, Some(sender)) = (is_reading, &program.sender) {
                sender.hang_up();
            }
            is_reading
        });
        state.assignments.insert(assignment.tile, assignment);
        self.report(&state);
    }

    /// Serves a program that connects, with threads of its own.
    fn admit(self: Arc<Self>, incoming: Incoming) {
        if incoming.opening() != OPENING {
            incoming.refuse("it belongs to another release");
            return;
        }
        if incoming.transport() != &Transport::Unix {
            incoming.refuse("messages about lost servers travel through the socket");
            return;
        }
        let mut state = self.state();
        if state.programs.len() >= PROGRAMS_MAX {
            drop(state);
            incoming.refuse("too many processes of this run are connected");
            return;
        }
        // The known assignments are read and the outbox is added under one lock, so that no
        // assignment is lost in between.
        let known: Vec<_> = state.assignments.values().cloned().collect();
        let (outbox, inbox) = mpsc::sync_channel(OUTBOX_MAX);
        let number = state.next_program;
        state.next_program += 1;
        let program = Program {
            outbox,
            sender: None,
            lost: 0,
            phases: BTreeMap::new(),
        };
        state.programs.insert(number, program);
        drop(state);
        let shared = self.clone();
        let serve = move || {
            if let Err(error) = shared.serve(number, incoming, &known, inbox) {
                tracing::debug!(%error, "a program can no longer be told of replacement servers");
            }
            shared.forget(number);
        };
        if let Err(error) = spawn("failover-program", serve) {
            tracing::debug!(%error, "cannot start a thread to tell a program of replacement servers");
            self.forget(number);
        }
    }

    /// Accepts the connection of a program, and serves it until it ends.
    fn serve(
        &self,
        number: u64,
        incoming: Incoming,
        known: &[Assignment],
        inbox: mpsc::Receiver<Assignment>,
    ) -> Result<(), Error> {
        let sizes = Config {
            message_max: MESSAGE_MAX,
            send_pool_bytes: 0,
            recv_pool_bytes: 0,
            large_max: ANSWER_MAX,
            ..Config::default()
        };
        let (sender, receiver) = incoming.accept(&encode(&known), &sizes)?.split();
        let sender = Arc::new(sender);
        match self.state().programs.get_mut(&number) {
            Some(program) => program.sender = Some(sender.clone()),
            None => return Ok(()),
        }
        let telling = sender.clone();
        spawn("failover-tell", move || {
            for assignment in inbox {
                if telling.send(&encode(&assignment)).is_err() {
                    return;
                }
            }
        })?;
        self.follow(number, receiver);
        sender.hang_up();
        Ok(())
    }

    /// Handles the messages of a program until it ends or sends an invalid message.
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
                FromProgram::Phase { tile, phase } => {
                    program.phases.insert(tile, phase);
                }
                FromProgram::Unfit { tile, address } => {
                    self.reports.add_unfit(tile as usize, address);
                }
            }
            self.report(&state);
        }
    }

    /// Removes a program that has ended. Its tiles no longer need a renderer.
    fn forget(&self, number: u64) {
        let mut state = self.state();
        state.programs.remove(&number);
        self.report(&state);
    }

    fn report(&self, state: &State) {
        let lost = state.programs.values().map(|program| program.lost);
        self.reports.set(lost.fold(0, |all, tiles| all | tiles));
        let phases = state.programs.values().flat_map(|program| &program.phases);
        self.reports
            .set_phases(phases.map(|(tile, phase)| (*tile, *phase)).collect());
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
        reports: TileReports,
        mothership: mpsc::Sender<(usize, TileServer)>,
        failover: Failover,
    }

    impl Run {
        fn new() -> Run {
            let folder = tempfile::tempdir().unwrap();
            let reports = TileReports::default();
            let (mothership, successors) = mpsc::channel();
            let failover = Failover::listen(folder.path(), reports.clone(), successors).unwrap();
            Run {
                folder,
                reports,
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
            while self.reports.now().tiles != wanted {
                assert!(Instant::now() < limit, "{:#x}", self.reports.now().tiles);
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
        // A process that connects later also gets the assignment.
        let (second, from_second, welcome) = run.program();
        assert_eq!(welcome, [wanted]);
        let address = "unix:@b".to_string();
        say(&second, FromProgram::Unfit { tile: 3, address });
        say(&second, FromProgram::Lost { tile: 0 });
        run.awaits_lost(0b1001);
        let unfit = run.reports.now().unfit;
        assert_eq!(unfit, [((3, "unix:@b".to_string()), 1)].into());
        say(&first, FromProgram::Settled { tile: 3 });
        run.awaits_lost(0b1);
        assert_eq!(run.reports.now().unfit, [].into());
        let phase = DisplayPhase {
            error: Some(-5),
            late: 1,
        };
        say(&second, FromProgram::Phase { tile: 4, phase });
        say(&second, FromProgram::Lost { tile: 1 });
        run.awaits_lost(0b11);
        assert_eq!(run.reports.now().phases, [(4, phase)].into());
        drop((second, from_second));
        run.awaits_lost(0);
        assert_eq!(run.reports.now().phases, [].into());
    }

    #[test]
    fn a_program_that_does_not_read_holds_up_nobody() {
        let run = Run::new();
        let (stopped, mut from_stopped, _) = run.program();
        stopped
            .send(&encode(&FromProgram::Lost { tile: 5 }))
            .unwrap();
        run.awaits_lost(0b100000);
        let (_good, mut from_good, _) = run.program();
        // More messages than the socket and the outbox can hold.
        for n in 0..20_000 {
            let name = format!("{}-{n}", "b".repeat(80));
            run.mothership.send((5, server(&name))).unwrap();
            from_good.recv(Some(TIMEOUT)).unwrap().unwrap();
        }
        // The stopped program is removed. It can still read the messages that were sent before.
        run.awaits_lost(0);
        while from_stopped.recv(Some(TIMEOUT)).is_ok_and(|m| m.is_some()) {}
        let (_late, _from_late, welcome) = run.program();
        assert_eq!(welcome.len(), 1);
    }

    #[test]
    fn connections_have_limits() {
        let run = Run::new();
        let address = Address::Unix(run.folder.path().join(SOCKET));
        let shm = mgn_fabric::connect(&address, Transport::Shm, None, OPENING, TIMEOUT);
        assert!(shm.is_err());
        let (sender, receiver, _) = run.program();
        let address = "b".repeat(MESSAGE_MAX);
        let long = encode(&FromProgram::Unfit { tile: 0, address });
        assert!(sender.send(&long).is_err());
        drop((sender, receiver));
        let all: Vec<_> = (0..PROGRAMS_MAX).map(|_| run.program()).collect();
        let limit = Instant::now() + TIMEOUT;
        // The connection above may still count.
        while run.connect(OPENING).is_ok() {
            assert!(Instant::now() < limit, "there is no limit");
        }
        drop(all);
        while run.connect(OPENING).is_err() {
            assert!(Instant::now() < limit, "places are not free again");
        }
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
        // The socket closes when its thread ends.
        drop(run.failover);
        let limit = Instant::now() + TIMEOUT;
        while std::os::unix::net::UnixStream::connect(run.folder.path().join(SOCKET)).is_ok() {
            assert!(Instant::now() < limit, "it listens for ever");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
