//! Other hosts, by ssh: a server on another host for a program here, and a program on another host
//! that is rendered and shown here.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use mgn_fabric::{Address, Transport};
use mgn_launch::ssh::{Remote, SshOptions, HOLDS, SERVER, SILENCE_TIMEOUT};
use mgn_launch::{inspect, Display, Driver, EmbeddedServer, Output, Plan, RunDir, Session};
use mgn_present::XDisplay;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::args::{OnLoss, RenderFlags, Ssh, SshHold};
use crate::launch_plan::{exit_status_of, FAILED};
use crate::output::{print, print_error};
use crate::settings::Settings;

/// Turns on the compression of pictures. Pictures cross a network here, which the unix sockets do
/// not show.
const COMPRESS: (&str, &str) = ("MGN_COMPRESS", "1");

/// The time after which a wait for the end of the program is interrupted and repeated.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Starts the server of a run on the host of `--ssh`, and sets its address in the flags.
pub fn start_server(flags: &mut RenderFlags) -> anyhow::Result<Option<Remote>> {
    let Some(host) = &flags.ssh else {
        return Ok(None);
    };
    let remote = Remote::begin(options(host, flags.ssh_mgn.clone(), true)?)?;
    flags.server = vec![Address::Unix(remote.server_from_here()?)];
    flags.transport = Some(Transport::Unix);
    Ok(Some(remote))
}

/// `mgn ssh`.
pub fn run_remote(args: Ssh) -> ExitCode {
    match run(&args) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            print_error(&error);
            ExitCode::from(error.downcast_ref().map_or(FAILED, exit_status_of))
        }
    }
}

/// Runs the program on the other host. Its OpenGL is rendered here, and ssh forwards its X
/// connection. Returns the exit status.
fn run(args: &Ssh) -> anyhow::Result<u8> {
    if !args.headless {
        XDisplay::connect(None)
            .and_then(|display| display.info())
            .context(
                "there is no X server here to show the program on; --headless runs it without one",
            )?;
    }
    let run = RunDir::create()?;
    let server = server(&run, &[COMPRESS])?;
    let mut options = options(&args.host, args.ssh_mgn.clone(), false)?;
    // ssh's X forwarding must also be requested for the connection that the others share.
    options
        .command
        .extend((!args.headless).then(|| "-Y".into()));
    let remote = Remote::begin(options)?;
    let renderer = Address::Unix(remote.server_from_there(&run.join(SERVER))?);
    let mut words: Vec<OsString> = ["run", "--lease", remote.folder(), "--transport", "unix"]
        .map(OsString::from)
        .into();
    words.extend(["--server".into(), renderer.to_string().into()]);
    words.extend(args.headless.then(|| "--headless".into()));
    words.extend(args.stats.then(|| "--stats".into()));
    if let Some(frames) = args.frames {
        words.extend(["--frames".into(), frames.to_string().into()]);
    }
    if let Some(folder) = &args.save {
        words.extend(["--save".into(), folder.into()]);
    }
    if let OnLoss::Continue = args.on_loss {
        words.extend(["--on-loss".into(), "continue".into()]);
    }
    words.push("--".into());
    words.extend(args.program.iter().cloned());
    let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    let mut flags = Vec::new();
    // A program at a terminal gets the keys that are typed, such as an interrupt.
    flags.push(
        match std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
            true => "-t",
            false => "-T",
        },
    );
    flags.push(if args.headless { "-x" } else { "-Y" });
    let command = remote.command(&flags, &words);
    let plan = Plan {
        program: inspect::inspect(command.get_program())?,
        name: command.get_program().to_owned(),
        arguments: command.get_args().map(OsStr::to_owned).collect(),
        display: Display::Inherited,
        driver: Driver::Local,
        environment: Vec::new(),
        output: Output::Inherited,
        beside: [Some(server.pid()), remote.pid()]
            .into_iter()
            .flatten()
            .collect(),
    };
    // The session is dropped before the connection and the server, because they were made first.
    let mut session = Session::start(RunDir::create()?, plan)?;
    let report = loop {
        if let Some(report) = session.wait(POLL_INTERVAL)? {
            break report;
        }
    };
    // ssh exits with 255 if it gets a signal.
    let status = match report.signal {
        Some(signal) if report.status == 255 => 128 + signal,
        _ => report.status,
    };
    Ok(u8::try_from(status).unwrap_or(u8::MAX))
}

/// `mgn ssh-hold`: keeps a run directory, and a server if one is wanted, until the `mgn` on the
/// other host ends.
pub fn hold(args: SshHold) -> anyhow::Result<()> {
    let run = RunDir::create()?;
    let server = match args.serve {
        true => Some(server(&run, &[COMPRESS])?),
        false => None,
    };
    print(&format!("{HOLDS}{}\n", run.path().display()))?;
    let silence = Duration::from_secs(args.silence);
    let mut input = std::io::stdin().lock();
    let mut bytes = [0; 256];
    while has_input(&input, silence)? && !matches!(input.read(&mut bytes), Ok(0) | Err(_)) {}
    drop(server);
    Ok(())
}

/// Whether input, or the end of the input, arrives within this time.
fn has_input(input: &impl std::os::fd::AsFd, time: Duration) -> anyhow::Result<bool> {
    let time = Timespec {
        tv_sec: time.as_secs().try_into()?,
        tv_nsec: 0,
    };
    loop {
        match poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&time)) {
            Err(Errno::INTR) => {}
            found => return Ok(found? > 0),
        }
    }
}

fn server(run: &RunDir, variables: &[(&str, &str)]) -> anyhow::Result<EmbeddedServer> {
    let executable = std::env::current_exe().context("finding the mgn executable")?;
    let address = Address::Unix(run.join(SERVER)).to_string();
    let arguments = ["server", "--embedded", "--listen", &address].map(OsString::from);
    Ok(EmbeddedServer::start_with(
        &executable,
        &arguments,
        variables,
    )?)
}

fn options(host: &str, mgn: Option<String>, serves: bool) -> anyhow::Result<SshOptions> {
    let settings = Settings::read()?;
    let silence = match std::env::var("MGN_SSH_SILENCE") {
        Err(_) => SILENCE_TIMEOUT,
        Ok(text) => match text.parse() {
            Ok(seconds @ 3..=86_400) => Duration::from_secs(seconds),
            _ => anyhow::bail!("MGN_SSH_SILENCE={text} is not a number of seconds from 3 to 86400"),
        },
    };
    Ok(SshOptions {
        command: settings.ssh()?.value,
        host: host.into(),
        mgn: match mgn {
            Some(mgn) => mgn,
            None => settings.ssh_mgn()?.value,
        },
        serves,
        silence,
    })
}

/// Checks that ssh forwards X connections for a program that `mgn ssh` of another host has started.
///
/// # Errors
/// If there is no X server for the program.
pub fn check_display(lease: Option<&Path>, flags: &RenderFlags) -> anyhow::Result<()> {
    let is_unset = std::env::var_os("DISPLAY").is_none_or(|display| display.is_empty());
    if lease.is_some() && is_unset && !flags.headless {
        anyhow::bail!("sshd does not forward X connections to this host: its sshd_config needs X11Forwarding yes, and xauth must be installed; `mgn ssh --headless` needs neither");
    }
    Ok(())
}

/// Whether the process that holds the lease of a run has ended. Without a lease, it has not.
pub fn is_lease_over(lease: Option<&Path>) -> bool {
    lease.is_some_and(|folder| !mgn_launch::ssh::is_held(folder))
}
