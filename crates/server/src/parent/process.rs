//! A worker process as the parent sees it.

use super::audit::{Reason, Subject};
use super::viewers::{Connections, Viewer};
use super::worker_log::WorkerLog;
use crate::control::{Cause, FromWorker, Inbox, Outbox, Session, ToWorker};
use crate::error::ServerError;
use crate::memory::Share;
use crate::options::WorkerCommand;
use crate::probe::Abilities;
use crate::sandbox::{Confined, Profile};
use mgn_fabric::{printable, Incoming};
use mgn_sys::process::{memory, pass_only_standard};
use mgn_wire::hello::SharedWindow;
use rustix::event::PollFlags;
use rustix::process::{pidfd_open, Pid, PidfdFlags};
use std::fmt;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a worker may take to open its driver.
const START_TIME: Duration = Duration::from_secs(30);
/// How long a worker may take to end a session when it is told to.
const ORDER_TIME: Duration = Duration::from_secs(2);
/// How long a worker may take to exit after its session. It may still save pictures.
const EXIT_TIME: Duration = Duration::from_secs(30);

/// The maximum number of characters of a text from a worker.
pub(super) const WORDS_MAX: usize = 400;

/// A worker process. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Logs what the worker writes to its standard error.
    log: Option<WorkerLog>,
    /// Becomes readable when the process has ended. Without a pidfd, the end of the control socket
    /// shows this.
    pidfd: Option<OwnedFd>,
    control: Option<UnixStream>,
    inbox: Inbox,
    outbox: Outbox,
    /// The number of the waiting client that the worker was started for; none if it is for any
    /// client.
    pub client: Option<u64>,
    /// The window that its sessions draw into together.
    pub window: Option<Window>,
    pub standing: Standing,
    /// Why its session ends, according to the worker or to the server.
    pub reason: Option<Reason>,
    /// Whether the worker has reported the end of its session.
    has_ended: bool,
    /// When it was told to end its session.
    pub ordered: Option<Instant>,
    /// When it reported the end of its session, or closed its socket.
    ending_since: Option<Instant>,
    /// Bytes of memory that it used at the last measurement.
    pub memory: u64,
    /// Frames, and bytes of commands.
    pub drawn: (u64, u64),
    connections: Connections,
    started: Instant,
}

/// The state of a worker, which changes from top to bottom. A worker serves a client that may be
/// hostile, so each message is accepted only in the states where it belongs.
#[derive(Debug)]
pub(super) enum Standing {
    Starting,
    /// The driver is open; this is what it can do, and how the worker is confined.
    Ready(Box<Abilities>, Confined),
    /// The worker could not start, for this reason.
    Failed(String),
    /// One session, or all sessions of a window. Empty once all sessions of a window have ended.
    Serving(Vec<Served>),
}

/// A session that a worker serves.
#[derive(Debug)]
pub(super) struct Served {
    pub id: u64,
    pub key: [u8; 16],
    pub subject: Subject,
    /// The viewers at which it may show pictures.
    pub viewers: Vec<Viewer>,
}

/// A window that several programs of one client draw into.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// Its client: [`super::identity::Peer::lasting_name`].
    pub owner: String,
    pub terms: SharedWindow,
    /// The number of the wall's renderer that draws the window here.
    pub tile: Option<u32>,
    /// How many programs have joined so far.
    pub came: u32,
}

impl Window {
    /// Whether both are the same window.
    pub fn is(&self, other: &Window) -> bool {
        let whole = |of: &Window| (of.owner.clone(), of.terms.name.clone(), of.tile);
        whole(self) == whole(other)
    }
}

/// How a worker's process has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkerExit {
    Orderly,
    Signal(i32),
    Status(i32),
}

impl Process {
    pub fn start(
        command: &WorkerCommand,
        profile: &Profile,
        client: Option<u64>,
    ) -> Result<Process, ServerError> {
        let (ours, theirs) = UnixStream::pair().map_err(ServerError::Spawn)?;
        let mut builder = Command::new(&command.program);
        builder
            .args(&command.arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        pass_only_standard(&mut builder);
        // An interrupt from the terminal goes to the server's process group only. The server
        // handles it.
        builder.process_group(0);
        if let Some(name) = std::env::args_os().next() {
            builder.arg0(name);
        }
        let mut child = builder.spawn().map_err(ServerError::Spawn)?;
        let (said, pid) = (child.stderr.take(), child.id());
        let mut process = Process::of(child, ours);
        if let Some(said) = said {
            process.log = Some(WorkerLog::begin(said, pid).map_err(ServerError::Spawn)?);
        }
        process.client = client;
        process.queue_message(&ToWorker::Start(profile.clone()), None);
        Ok(process)
    }

    fn of(child: Child, control: UnixStream) -> Process {
        let pid = Pid::from_raw(child.id() as i32);
        let pidfd = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Process {
            child,
            log: None,
            pidfd,
            control: Some(control),
            // Workers send no descriptors.
            inbox: Inbox::new(0),
            outbox: Outbox::default(),
            client: None,
            window: None,
            standing: Standing::Starting,
            reason: None,
            has_ended: false,
            ordered: None,
            ending_since: None,
            memory: 0,
            drawn: (0, 0),
            connections: Connections::default(),
            started: Instant::now(),
        }
    }

    /// The descriptors that become ready when there is something to read, or room for pending
    /// output.
    pub fn descriptors(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let mut events = PollFlags::IN;
        events.set(PollFlags::OUT, !self.outbox.is_empty());
        let control = self.control.iter().map(move |c| (c.as_fd(), events));
        let pidfd = self.pidfd.iter().map(|p| (p.as_fd(), PollFlags::IN));
        let connections = self.connections.descriptors().map(|fd| (fd, PollFlags::IN));
        control.chain(pidfd).chain(connections)
    }

    /// Handles the worker's messages. Sends it the connections that have been made for it, and
    /// pending messages as far as there is room.
    pub fn receive_messages(&mut self) {
        self.hand_over();
        let Some(control) = &self.control else { return };
        let open = self.inbox.fill(control, false);
        loop {
            let taken = match self.inbox.next() {
                Ok(Some(message)) => self.take(message),
                Ok(None) => break,
                Err(error) => Err(error.to_string()),
            };
            if let Err(why) = taken {
                return self.end(&format!("sent an invalid message ({why})"));
            }
        }
        match open {
            Ok(true) => {
                self.hand_over();
                self.send();
            }
            Ok(false) => self.closed(),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                self.end(&format!("sent an invalid message ({error})"));
            }
            // If a worker ends without reading all messages, its socket is reset.
            Err(_) => self.closed(),
        }
    }

    /// The worker has closed its socket, so it ends.
    fn closed(&mut self) {
        self.control = None;
        self.ending_since.get_or_insert_with(Instant::now);
    }

    /// Gives the worker the connections that have been made for it.
    fn hand_over(&mut self) {
        while let Some(connected) = self.connections.next() {
            let (fd, outcome) = match connected.outcome {
                Ok((fd, bytes)) => (Some(fd), Ok(bytes)),
                Err(why) => (None, Err(why)),
            };
            let message = ToWorker::Connected {
                session: connected.session,
                target: connected.target,
                outcome,
            };
            self.queue_message(&message, fd);
        }
    }

    /// Whether the worker has read all messages to it. Descriptors in unread messages count towards
    /// a limit of the server's user.
    fn is_listening(&self) -> bool {
        let unread = |control| mgn_sys::passing::unread(control).unwrap_or(0);
        self.outbox.is_empty() && self.control.as_ref().is_some_and(|c| unread(c) == 0)
    }

    /// Handles one message, if the worker may send it in its current state.
    fn take(&mut self, message: FromWorker) -> Result<(), String> {
        match (&self.standing, message) {
            (Standing::Starting, FromWorker::Ready(abilities, confined)) => {
                self.standing = Standing::Ready(abilities, confined);
            }
            (Standing::Starting, FromWorker::Failed(why)) => {
                self.standing = Standing::Failed(printable(&why, WORDS_MAX));
            }
            (Standing::Serving(..), FromWorker::Connect { session, target }) => {
                self.connect(session, target)?;
            }
            (Standing::Serving(..), FromWorker::Drawn { frames, bytes }) => {
                self.drawn = (frames, bytes);
            }
            (Standing::Serving(..), FromWorker::Ended(cause)) if !self.has_ended => {
                self.has_ended = true;
                self.ending_since.get_or_insert_with(Instant::now);
                self.reason.get_or_insert(told(cause));
            }
            (
                Standing::Serving(_),
                FromWorker::Left {
                    session,
                    cause,
                    drawn,
                },
            ) if self.window.is_some() => self.left(session, cause, drawn)?,
            (_, message) => {
                let said = match message {
                    FromWorker::Ready(..) => "it reported that it is ready",
                    FromWorker::Failed(_) => "it reported that it has no driver",
                    FromWorker::Connect { .. } => "it requested a connection",
                    FromWorker::Drawn { .. } => "it reported what it has drawn",
                    FromWorker::Ended(_) => "it reported the end of its session",
                    FromWorker::Left { .. } => "it reported the end of a session of a window",
                };
                return Err(format!("{said}, out of turn"));
            }
        }
        Ok(())
    }

    /// One of its sessions needs a connection to a viewer.
    fn connect(&mut self, session: u64, target: u16) -> Result<(), String> {
        let is_listening = self.is_listening();
        let Standing::Serving(served) = &mut self.standing else {
            return Ok(());
        };
        let Some(its) = served.iter_mut().find(|served| served.id == session) else {
            // A session of a window may have just ended.
            if self.window.is_none() {
                return Err("a connection request for a session that it does not serve".into());
            }
            let why = "the session has ended";
            self.connections.refuse(session, target, why, true);
            return Ok(());
        };
        if !is_listening {
            let why = "its process has not read all messages from the server";
            self.connections.refuse(session, target, why, false);
            return Ok(());
        }
        let client = its.subject.peer.source();
        self.connections
            .begin(session, target, &mut its.viewers, client)
    }

    /// One of its sessions has ended. With the last one, so does the worker.
    fn left(
        &mut self,
        session: u64,
        cause: Option<Cause>,
        drawn: (u64, u64),
    ) -> Result<(), String> {
        let Standing::Serving(served) = &mut self.standing else {
            return Ok(());
        };
        let place = served.iter().position(|served| served.id == session);
        let place = place.ok_or("the end of a session that it does not serve")?;
        let gone = served.swap_remove(place);
        let is_empty = served.is_empty();
        let reason = cause.map_or(Reason::ClientLeft, told);
        gone.subject.log_end(&reason, drawn, Instant::now());
        if is_empty {
            self.hang_up();
            // A worker without sessions counts towards no limit, so it must end soon.
            self.ordered.get_or_insert_with(Instant::now);
        }
        Ok(())
    }

    /// Kills the worker, and says so in the log.
    fn end(&mut self, why: &str) {
        let pid = self.child.id();
        tracing::error!("the worker process {pid} {why}, and is killed");
        self.control = None;
        // Fails if the worker has already ended, which does no harm.
        let _ = self.child.kill();
        match self.standing {
            Standing::Serving(..) => self.reason = Some(Reason::Killed(why.to_owned())),
            _ => {
                let why = format!("the renderer did not start: its worker {why}");
                self.standing = Standing::Failed(why);
            }
        }
    }

    /// Queues a message for the worker, and sends as much as there is room for.
    fn queue_message(&mut self, message: &ToWorker, fd: Option<OwnedFd>) {
        if self.control.is_none() {
            return;
        }
        match self.outbox.push(message, fd, Instant::now()) {
            Ok(()) => self.send(),
            Err(error) => self.end(&format!("does not listen ({error})")),
        }
    }

    fn send(&mut self) {
        let Some(control) = &self.control else { return };
        match self.outbox.flush(control, Instant::now()) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                self.end(&format!("does not listen ({error})"));
            }
            // The worker is ending. Its end is noticed later, because its last messages must still
            // be read. Pending messages to it are dropped: its socket stays ready for them, so they
            // would keep the server busy.
            Err(error) => {
                tracing::debug!("a worker has closed its socket: {error}");
                self.outbox = Outbox::default();
                self.ending_since.get_or_insert_with(Instant::now);
            }
        }
    }

    pub fn is_serving(&self) -> bool {
        matches!(self.standing, Standing::Serving(_))
    }

    /// The sessions that the worker serves: one, or those of a window.
    pub fn sessions(&self) -> &[Served] {
        match &self.standing {
            Standing::Serving(served) => served,
            _ => &[],
        }
    }

    /// One of its sessions, as the log describes it. All of them have the same client.
    pub fn subject(&self) -> Option<&Subject> {
        Some(&self.sessions().first()?.subject)
    }

    /// Whether another session may draw into its window.
    pub fn is_open(&self) -> bool {
        let goes_on = self.ordered.is_none() && !self.has_ended && self.reason.is_none();
        goes_on && self.control.is_some() && !self.sessions().is_empty()
    }

    /// The memory of its sessions, if it serves any.
    pub fn share(&self) -> Option<Share> {
        Some(self.subject()?.peer.share(self.memory))
    }

    /// Tells the worker to end the session. The client gets `cause`; the log gets `reason`.
    pub fn order_end(&mut self, cause: Cause, reason: Reason, now: Instant) {
        self.reason.get_or_insert(reason);
        self.ordered.get_or_insert(now);
        self.queue_message(&ToWorker::End(cause), None);
    }

    /// Kills a worker that has not ended its session in time after it was told to, or that has not
    /// exited in time after its session.
    pub fn enforce_end(&mut self, now: Instant) {
        let is_late = |since: Option<Instant>, time| {
            since.is_some_and(|since| now.saturating_duration_since(since) > time)
        };
        if is_late(self.ordered, ORDER_TIME) || is_late(self.ending_since, EXIT_TIME) {
            // Fails if the worker has already ended, which does no harm.
            let _ = self.child.kill();
        }
    }

    /// Kills a worker that does not open its driver in time, because clients would wait for it in
    /// vain.
    pub fn enforce_start(&mut self, now: Instant) {
        let is_late = now.saturating_duration_since(self.started) > START_TIME;
        if is_late && matches!(self.standing, Standing::Starting) {
            let seconds = START_TIME.as_secs();
            self.end(&format!("has not opened its driver within {seconds} s"));
        }
    }

    /// Measures how much memory the worker uses.
    pub fn measure(&mut self) {
        self.memory = memory(Some(self.child.id())).unwrap_or(self.memory);
    }

    /// Gives a client to the worker, which serves no client yet, or others of the same window. If
    /// that fails, the worker is ending, which is noticed later.
    pub fn begin(
        &mut self,
        mut session: Box<Session>,
        subject: Subject,
        viewers: Vec<Viewer>,
        incoming: Incoming,
    ) {
        let (socket, client) = incoming.into_handoff();
        session.client = client;
        let served = Served {
            id: session.id,
            key: session.key,
            subject,
            viewers,
        };
        match &mut self.standing {
            Standing::Serving(all) => all.push(served),
            standing => *standing = Standing::Serving(vec![served]),
        }
        if let Some(window) = &mut self.window {
            window.came += 1;
        }
        self.queue_message(&ToWorker::Session(session), Some(socket));
    }

    /// Gives the worker the frames connection of a session.
    pub fn attach(&mut self, session: u64, incoming: Incoming) {
        let (socket, client) = incoming.into_handoff();
        self.queue_message(&ToWorker::Frames { session, client }, Some(socket));
    }

    /// Tells the worker to end, by closing the socket for writing. The worker can still report what
    /// it has drawn. A worker that has not opened its driver yet is killed: it would notice the
    /// closed socket late, and has nothing to clean up.
    pub fn hang_up(&mut self) {
        if let Standing::Serving(..) = self.standing {
            self.reason.get_or_insert(Reason::ServerStop);
        }
        if let Some(control) = &self.control {
            // Fails if the worker has closed its end, which does no harm.
            let _ = control.shutdown(Shutdown::Write);
        }
        if matches!(self.standing, Standing::Starting) {
            // Fails if the worker has already ended, which does no harm.
            let _ = self.child.kill();
        }
    }

    /// How the process ended, if it has.
    pub fn ending(&mut self) -> Option<WorkerExit> {
        let status = self.child.try_wait().ok()??;
        // Its last messages may have arrived meanwhile.
        self.receive_messages();
        Some(status.into())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails if the worker has already ended, which does no harm.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Waits for the worker's last lines, which may say why it has ended.
        self.log = None;
    }
}

/// A worker's reason for the end of a session, for the log.
fn told(mut cause: Cause) -> Reason {
    cause.end.why = printable(&cause.end.why, WORDS_MAX);
    Reason::Told(cause)
}

impl From<ExitStatus> for WorkerExit {
    fn from(status: ExitStatus) -> WorkerExit {
        match (status.signal(), status.code()) {
            (Some(signal), _) => WorkerExit::Signal(signal),
            (None, Some(0) | None) => WorkerExit::Orderly,
            (None, Some(code)) => WorkerExit::Status(code),
        }
    }
}

/// The predicate of a sentence about the process.
impl fmt::Display for WorkerExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkerExit::Orderly => f.write_str("ended"),
            WorkerExit::Signal(signal) => {
                let name = signal_hook::low_level::signal_name(*signal);
                let name = name.unwrap_or("an unknown signal");
                write!(f, "was ended by signal {signal} ({name})")
            }
            WorkerExit::Status(code) => write!(f, "ended with status {code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::identity::{Claim, Peer};
    use super::*;
    use crate::control::{self, Limit};
    use mgn_fabric::admission::Source;
    use mgn_fabric::Caller;

    /// A worker whose messages the test sends.
    fn worker() -> (Process, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        (Process::of(child, ours), theirs)
    }

    fn serving() -> (Process, UnixStream) {
        let (mut process, socket) = worker();
        let subject = Subject {
            session: 1,
            peer: Peer {
                caller: Caller::new(Source::User(0), None),
                user: None,
                address: None,
            },
            claim: Claim {
                program: String::new(),
                pid: 1,
                tile: None,
            },
            began: Instant::now(),
        };
        process.standing = Standing::Serving(vec![Served {
            id: 1,
            key: [0; 16],
            subject,
            viewers: Vec::new(),
        }]);
        (process, socket)
    }

    fn ready() -> FromWorker {
        let abilities = Abilities {
            info: Default::default(),
            contexts: Vec::new(),
            egl: String::new(),
        };
        FromWorker::Ready(Box::new(abilities), Confined::default())
    }

    fn failed() -> FromWorker {
        FromWorker::Failed("no driver".into())
    }

    fn ended() -> FromWorker {
        FromWorker::Ended(Cause::limit(Limit::Idle, "why"))
    }

    fn connect(session: u64) -> FromWorker {
        FromWorker::Connect { session, target: 0 }
    }

    const DRAWN: FromWorker = FromWorker::Drawn {
        frames: 1,
        bytes: 2,
    };

    /// Whether the worker is killed for what it says.
    fn is_killed_for(
        (mut process, socket): (Process, UnixStream),
        says: impl IntoIterator<Item = FromWorker>,
    ) -> bool {
        for message in says {
            control::send(&socket, &message).unwrap();
        }
        process.receive_messages();
        process.control.is_none()
    }

    #[test]
    fn a_worker_says_what_belongs_where_it_is() {
        assert!(!is_killed_for(worker(), [ready()]));
        assert!(!is_killed_for(worker(), [failed()]));
        assert!(!is_killed_for(serving(), [DRAWN, DRAWN, ended(), DRAWN]));
    }

    #[test]
    fn a_worker_that_says_anything_else_is_killed() {
        for early in [DRAWN, ended(), connect(1)] {
            assert!(is_killed_for(worker(), [early]));
        }
        for second in [ready(), failed(), DRAWN, ended()] {
            assert!(is_killed_for(worker(), [ready(), second]));
        }
        assert!(is_killed_for(worker(), [failed(), ready()]));
        for again in [ready(), failed()] {
            assert!(is_killed_for(serving(), [again]));
        }
        assert!(is_killed_for(serving(), [ended(), ended()]));
        // Its session has no viewer.
        for session in [1, 2] {
            assert!(is_killed_for(serving(), [connect(session)]));
        }
    }

    #[test]
    fn a_worker_that_does_not_end_its_session_is_killed() {
        let (mut process, _socket) = serving();
        let now = Instant::now();
        process.enforce_end(now + 2 * ORDER_TIME);
        process.order_end(Cause::limit(Limit::Idle, "why"), Reason::ServerStop, now);
        process.enforce_end(now + ORDER_TIME / 2);
        assert!(process.child.try_wait().unwrap().is_none());
        process.enforce_end(now + 2 * ORDER_TIME);
        let status = process.child.wait().unwrap();
        assert_eq!(status.signal(), Some(9));
    }

    #[test]
    fn a_worker_that_does_not_exit_after_its_session_is_killed() {
        let ends: [fn(UnixStream); 2] = [
            |socket| {
                control::send(&socket, &ended()).unwrap();
                // The socket stays open.
                std::mem::forget(socket);
            },
            drop,
        ];
        for end in ends {
            let (mut process, socket) = serving();
            end(socket);
            // A process that another test starts may hold the socket for a moment.
            while process.ending_since.is_none() {
                process.receive_messages();
                std::thread::sleep(Duration::from_millis(1));
            }
            let now = Instant::now();
            process.enforce_end(now + EXIT_TIME / 2);
            assert!(process.child.try_wait().unwrap().is_none());
            process.enforce_end(now + 2 * EXIT_TIME);
            let status = process.child.wait().unwrap();
            assert_eq!(status.signal(), Some(9));
        }
    }

    /// The worker's socket stays ready for the message, but refuses it.
    #[test]
    fn a_worker_that_takes_nothing_and_says_nothing_does_not_keep_the_server_busy() {
        let (mut process, socket) = serving();
        socket.shutdown(Shutdown::Read).unwrap();
        process.order_end(
            Cause::limit(Limit::Idle, "why"),
            Reason::ServerStop,
            Instant::now(),
        );
        process.receive_messages();
        let waits = |(_, events): (_, PollFlags)| events.contains(PollFlags::OUT);
        assert!(!process.descriptors().any(waits));
    }

    /// The feeds of a window's session may live a moment longer than the session.
    #[test]
    fn a_session_of_a_window_that_has_ended_gets_no_connection_and_ends_no_other() {
        let (mut process, socket) = serving();
        process.window = Some(Window {
            owner: "me".into(),
            terms: SharedWindow {
                name: "window".into(),
                clients: Some(2),
                patience: 1,
            },
            tile: None,
            came: 2,
        });
        control::send(&socket, &connect(2)).unwrap();
        process.receive_messages();
        assert!(process.control.is_some());
        let mut inbox = Inbox::new(1);
        assert!(inbox.fill(&socket, true).unwrap());
        let answer = inbox.next().unwrap();
        let Some(ToWorker::Connected { outcome, .. }) = answer else {
            panic!("{answer:?}");
        };
        assert!(outcome.unwrap_err().is_final);
    }

    #[test]
    fn a_killed_worker_is_not_ready() {
        let (mut process, socket) = worker();
        control::send(&socket, &ready()).unwrap();
        control::send(&socket, &ready()).unwrap();
        process.receive_messages();
        assert!(matches!(&process.standing, Standing::Failed(why) if why.contains("out of turn")));
        let status = process.child.wait().unwrap();
        let ending = WorkerExit::from(status);
        assert_eq!(ending.to_string(), "was ended by signal 9 (SIGKILL)");
    }

    #[test]
    fn a_worker_that_does_not_start_is_killed() {
        let now = Instant::now();
        let (mut process, _socket) = worker();
        process.enforce_start(now + START_TIME / 2);
        assert!(matches!(process.standing, Standing::Starting));
        process.enforce_start(now + START_TIME * 2);
        assert!(matches!(&process.standing, Standing::Failed(why) if why.contains("opened")));
        let (mut process, _socket) = serving();
        process.enforce_start(now + START_TIME * 2);
        assert!(process.is_serving());
    }

    #[test]
    fn a_worker_that_takes_nothing_holds_nobody_up() {
        let (mut process, _socket) = serving();
        let frames = ToWorker::Frames {
            session: 1,
            client: vec![0; 500_000].into(),
        };
        while process.control.is_some() {
            process.queue_message(&frames, None);
        }
        let reason = process.reason.take();
        assert!(
            matches!(&reason, Some(Reason::Killed(why)) if why.contains("does not listen")),
            "{reason:?}"
        );
    }
}
