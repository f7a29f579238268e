//! A worker process as the parent sees it.

use crate::control::{self, FromWorker, Inbox, Session, ToWorker};
use crate::error::ServerError;
use crate::options::WorkerCommand;
use crate::probe::Abilities;
use mgn_fabric::{printable, Incoming};
use rustix::process::{pidfd_open, Pid, PidfdFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Characters of what a worker says.
pub(super) const WORDS_MAX: usize = 400;

/// Ends with this: a worker that is dropped is killed.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Readable when the process has ended; without one the control socket's end tells.
    pidfd: Option<OwnedFd>,
    control: Option<UnixStream>,
    inbox: Inbox,
    pub standing: Standing,
    /// Why its session ended, in its own words.
    pub last_words: Option<String>,
    /// Frames, and bytes of commands.
    pub drawn: (u64, u64),
}

#[derive(Debug)]
pub(super) enum Standing {
    Starting,
    /// The driver is open; this is what it can do.
    Ready(Box<Abilities>),
    /// There is no driver, and why.
    Failed(String),
    Serving(Box<Session>),
}

impl Process {
    pub fn start(command: &WorkerCommand) -> Result<Process, ServerError> {
        let (ours, theirs) = UnixStream::pair().map_err(ServerError::Spawn)?;
        let mut builder = Command::new(&command.program);
        builder
            .args(&command.arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null());
        // An interrupt from the terminal is the server's to deal with.
        builder.process_group(0);
        if let Some(name) = std::env::args_os().next() {
            builder.arg0(name);
        }
        let child = builder.spawn().map_err(ServerError::Spawn)?;
        let pid = Pid::from_raw(child.id() as i32);
        let pidfd = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Ok(Process {
            child,
            pidfd,
            control: Some(ours),
            inbox: Inbox::default(),
            standing: Standing::Starting,
            last_words: None,
            drawn: (0, 0),
        })
    }

    /// What becomes readable when there is something to hear.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let control = self.control.iter().map(|c| c.as_fd());
        control.chain(self.pidfd.iter().map(|p| p.as_fd()))
    }

    /// Takes what the worker has said.
    pub fn hear(&mut self) {
        let Some(control) = &self.control else { return };
        let open = self.inbox.fill(control, false);
        while let Ok(Some(message)) = self.inbox.next() {
            match message {
                FromWorker::Ready(abilities) => self.standing = Standing::Ready(abilities),
                FromWorker::Failed(why) => self.standing = Standing::Failed(why),
                FromWorker::Drawn { frames, bytes } => self.drawn = (frames, bytes),
                FromWorker::Ended(end) => {
                    self.last_words = Some(printable(&end.to_string(), WORDS_MAX));
                }
            }
        }
        if !matches!(open, Ok(true)) {
            self.control = None;
        }
    }

    pub fn session(&self) -> Option<&Session> {
        match &self.standing {
            Standing::Serving(session) => Some(session),
            _ => None,
        }
    }

    /// Gives a client to the worker. If that fails, the worker is ending, which is then seen.
    pub fn begin(&mut self, mut session: Box<Session>, incoming: Incoming) {
        let (socket, client) = incoming.into_handoff();
        session.client = client;
        if let Some(control) = &self.control {
            if let Err(error) = control::send(
                control,
                &ToWorker::Session(session.clone()),
                Some(socket.as_fd()),
            ) {
                tracing::debug!("a worker does not take its session: {error}");
            }
        }
        self.standing = Standing::Serving(session);
    }

    /// Gives the worker the frames connection of its session.
    pub fn attach(&mut self, incoming: Incoming) {
        let (socket, client) = incoming.into_handoff();
        if let Some(control) = &self.control {
            if let Err(error) =
                control::send(control, &ToWorker::Frames { client }, Some(socket.as_fd()))
            {
                tracing::debug!("a worker does not take its frames connection: {error}");
            }
        }
    }

    /// Tells the worker to end, by closing its socket. One that has not opened its driver yet would hear it late, and has nothing to put in order.
    pub fn hang_up(&mut self) {
        self.control = None;
        if matches!(self.standing, Standing::Starting) {
            // One that has ended cannot be killed, and that is all right.
            let _ = self.child.kill();
        }
    }

    /// How the process ended, if it has; an empty text if in order.
    pub fn ending(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok()??;
        // Its last words may have come meanwhile.
        self.hear();
        Some(describe(status))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and that is all right.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn describe(status: ExitStatus) -> String {
    if let Some(signal) = status.signal() {
        let name = signal_hook::low_level::signal_name(signal).unwrap_or("an unknown signal");
        return format!("was ended by signal {signal} ({name})");
    }
    match status.code() {
        Some(0) | None => String::new(),
        Some(code) => format!("ended with status {code}"),
    }
}
