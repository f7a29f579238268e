//! One run of a program, from its private directory to its report.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{pidfd_open, set_child_subreaper, Pid, PidfdFlags};

use crate::embedded::StartingServer;
use crate::environment::{environment, x11_toolkits, Change};
use crate::helper::{readable, Helper};
use crate::signals::Signals;
use crate::watch::{helper_time, judge, processor_time, Alive, Seen, Verdict, Watch};
use crate::{ClientSettings, EmbeddedServer, Error, RunDir, Xvfb};

/// How long a process that outlives the program has to load our library. Then it counts as a
/// process that does not use it.
const LIBRARY_LOAD_TIMEOUT: Duration = Duration::from_secs(1);

/// What to run, and with which settings.
#[derive(Debug)]
pub struct Plan {
    /// The file, as [`crate::inspect::inspect`] found it.
    pub program: PathBuf,
    /// The name by which it was called, and its arguments.
    pub name: OsString,
    pub arguments: Vec<OsString>,
    pub display: Display,
    pub driver: Driver,
    /// Further variables of the program's environment.
    pub environment: Vec<(OsString, OsString)>,
    pub output: Output,
    /// Children of this process that do not belong to the program.
    pub beside: Vec<u32>,
}

/// The driver that executes the program's OpenGL.
#[derive(Debug)]
pub enum Driver {
    /// The system's own, as without Manganese.
    Local,
    Ours {
        /// The client library.
        library: PathBuf,
        server: Server,
        /// The server's address is filled in for [`Server::Embedded`].
        settings: Box<ClientSettings>,
    },
}

/// Where the program's standard output goes. Its standard error is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Inherited,
    /// To standard error, because our standard output has another use.
    Error,
}

/// Where the program finds its X server.
#[derive(Clone, Debug)]
pub enum Display {
    /// The X server that the environment names.
    Inherited,
    Named(OsString),
    /// An Xvfb that the run starts.
    Headless,
}

/// The server that renders.
#[derive(Clone, Debug)]
pub enum Server {
    /// None, or the one that the settings name.
    Elsewhere,
    /// One that this run starts; see [`EmbeddedServer::start`].
    Embedded {
        executable: PathBuf,
        arguments: Vec<OsString>,
    },
}

/// A running program. Dropping this ends the program, if it still runs, and then what was started
/// for it.
#[derive(Debug)]
pub struct Session {
    program: Helper,
    pidfd: std::os::fd::OwnedFd,
    status: Option<(ExitStatus, Instant)>,
    program_time: Duration,
    watch: Watch,
    signals: Signals,
    // Dropped in this order: the server before its clients' X server, both before their files.
    server: Option<EmbeddedServer>,
    xvfb: Option<Xvfb>,
    run: RunDir,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Report {
    /// The program's exit status, or 128 plus the signal's number if a signal killed it.
    pub status: i32,
    /// The last signal that came to us during the run, and was passed on to the program.
    pub signal: Option<i32>,
    pub verdict: Verdict,
    /// Processor time of the program and of its children that it waited for.
    pub program_time: Duration,
    /// Processor time of the embedded server and its workers.
    pub server_time: Duration,
    /// Every process that was seen, with its OpenGL libraries.
    pub processes: Vec<Seen>,
}

impl Session {
    /// Starts what `plan` asks for and then the program.
    ///
    /// # Errors
    /// If something could not be started. Then no process or file stays behind.
    pub fn start(run: RunDir, plan: Plan) -> Result<Session, Error> {
        let signals = Signals::new()?;
        // Processes that the program leaves behind become our children, so that they can be
        // watched.
        set_child_subreaper(Pid::from_raw(1)).map_err(Error::system("becoming a subreaper"))?;
        // Both take a while, and neither depends on the other.
        let starting = match &plan.driver {
            Driver::Ours {
                server:
                    Server::Embedded {
                        executable,
                        arguments,
                    },
                ..
            } => Some(StartingServer::spawn(executable, arguments, &[])?),
            _ => None,
        };
        let xvfb = match plan.display {
            Display::Headless => Some(Xvfb::start(&run)?),
            _ => None,
        };
        let server = starting.map(StartingServer::ready).transpose()?;
        let changes = changes(&run, plan.driver, server.as_ref())?;
        if let Some(signal) = signals.last() {
            return Err(Error::Interrupted(signal));
        }
        let mut command = Command::new(&plan.program);
        command.arg0(&plan.name).args(&plan.arguments);
        for (name, value) in changes {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.envs(plan.environment);
        if plan.output == Output::Error {
            let error = std::io::stderr().as_fd().try_clone_to_owned();
            command.stdout(error.map_err(Error::system("sharing standard error"))?);
        }
        match (&plan.display, &xvfb) {
            (_, Some(xvfb)) => {
                command
                    .env("DISPLAY", xvfb.display())
                    .env("XAUTHORITY", xvfb.authority());
            }
            (Display::Named(display), None) => {
                command.env("DISPLAY", display);
            }
            _ => {}
        }
        let helpers = server
            .iter()
            .map(EmbeddedServer::pid)
            .chain(xvfb.iter().map(Xvfb::pid))
            .chain(plan.beside)
            .collect();
        let program = Helper::start(&mut command)?;
        let pidfd = open_pidfd(program.pid())?;
        signals.send_to(open_pidfd(program.pid())?);
        Ok(Session {
            program,
            pidfd,
            status: None,
            program_time: Duration::ZERO,
            watch: Watch::new(helpers),
            signals,
            server,
            xvfb,
            run,
        })
    }

    /// The run's directory, where the client library keeps its counters.
    pub fn run_dir(&self) -> &Path {
        self.run.path()
    }

    /// The last signal that came to us, and was passed on to the program.
    pub fn signal(&self) -> Option<i32> {
        self.signals.last()
    }

    /// Kills the program.
    pub fn kill(&mut self) {
        self.program.kill();
    }

    /// The display and the authority file of the run's own X server.
    pub fn headless_display(&self) -> Option<(&str, &Path)> {
        self.xvfb.as_ref().map(|x| (x.display(), x.authority()))
    }

    /// Waits until the program has ended, and also every process that it left behind and that still
    /// draws through us. Returns `None` after `timeout`.
    ///
    /// # Errors
    /// If the system does not let us wait.
    pub fn wait(&mut self, timeout: Duration) -> Result<Option<Report>, Error> {
        let deadline = Instant::now() + timeout;
        loop {
            let now = Instant::now();
            let program = self.program.pid();
            if now >= self.watch.next() {
                let alive = self.watch.look(now, program);
                if self.over(now, alive) {
                    return Ok(Some(self.report()));
                }
            }
            if now >= deadline {
                return Ok(None);
            }
            let pause = deadline
                .min(self.watch.next())
                .saturating_duration_since(now);
            self.rest(pause)?;
        }
    }

    /// Sleeps for `pause`, or until the program ends, and then notes its end.
    fn rest(&mut self, pause: Duration) -> Result<(), Error> {
        if self.status.is_some() {
            std::thread::sleep(pause);
            return Ok(());
        }
        if readable(&self.pidfd, pause).map_err(Error::system("waiting for the program"))? {
            // The processor time cannot be read after the program has been waited for.
            self.program_time = processor_time(self.program.pid());
            let status = self
                .program
                .status()
                .map_err(Error::system("waiting for the program"))?;
            self.status = status.map(|status| (status, Instant::now()));
            // Look at once for processes that the program leaves behind.
            self.watch.look_now();
        }
        Ok(())
    }

    fn over(&self, now: Instant, alive: Alive) -> bool {
        match self.status {
            None => false,
            Some(_) if !alive.any || self.signals.last().is_some() => true,
            Some((_, ended)) => !alive.ours && now - ended >= LIBRARY_LOAD_TIMEOUT,
        }
    }

    fn report(&self) -> Report {
        let processes: Vec<Seen> = self.watch.seen().cloned().collect();
        Report {
            status: self.status.map_or(0, |(status, _)| exit_code(status)),
            signal: self.signals.last(),
            verdict: judge(&processes),
            program_time: self.program_time,
            server_time: self
                .server
                .as_ref()
                .map_or(Duration::ZERO, |s| helper_time(s.pid())),
            processes,
        }
    }
}

/// The changes to the program's environment that direct its OpenGL to the right library.
fn changes(
    run: &RunDir,
    driver: Driver,
    server: Option<&EmbeddedServer>,
) -> Result<Vec<Change>, Error> {
    let (library, mut settings) = match driver {
        Driver::Local => return Ok(x11_toolkits()),
        Driver::Ours {
            library, settings, ..
        } => (library, settings),
    };
    if let Some(server) = server {
        settings.servers = vec![server.address().to_owned()];
    }
    environment(run, &library, &settings)
}

pub(crate) fn open_pidfd(pid: u32) -> Result<std::os::fd::OwnedFd, Error> {
    let none = || io::Error::from(io::ErrorKind::NotFound);
    let doing = "opening a descriptor of the program";
    let pid = Pid::from_raw(pid as i32)
        .ok_or_else(none)
        .map_err(Error::system(doing))?;
    pidfd_open(pid, PidfdFlags::empty()).map_err(Error::system(doing))
}

/// An exit status as shells count it.
pub fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
