//! Other hosts, by ssh: a server there for a program here, and a program there that is shown here.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use mgn_fabric::{Address, Transport};
use mgn_launch::ssh::{Remote, SshOptions, HOLDS, SERVER, SILENCE};
use mgn_launch::{inspect, Display, Driver, EmbeddedServer, Output, Plan, RunDir, Session};
use mgn_present::XDisplay;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::args::{OnLoss, Ssh, SshHold, Through};
use crate::settings::Settings;
use crate::through::{own_status, FAILED};

/// Pictures cross a network in these cases, and nobody sees that from the sockets.
const COMPRESS: (&str, &str) = ("MGN_COMPRESS", "1");

/// How long a wait may take before it is looked whether something has ended.
const LOOK: Duration = Duration::from_millis(500);

/// Has the server of a run started where `--ssh` says, and leads the run to it.
pub fn serve(through: &mut Through) -> anyhow::Result<Option<Remote>> {
    let Some(host) = &through.ssh else {
        return Ok(None);
    };
    let remote = Remote::begin(options(host, through.ssh_mgn.clone(), true)?)?;
    through.server = vec![Address::Unix(remote.server_from_here()?)];
    through.transport = Some(Transport::Unix);
    Ok(Some(remote))
}

/// `mgn ssh`.
pub fn ssh(args: Ssh) -> ExitCode {
    match show(&args) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            crate::complain(&error);
            ExitCode::from(error.downcast_ref().map_or(FAILED, own_status))
        }
    }
}

/// The program runs there, its OpenGL is rendered here, and its X connection is ssh's.
fn show(args: &Ssh) -> anyhow::Result<u8> {
    if !args.headless {
        XDisplay::connect(None)
            .and_then(|display| display.info())
            .context(
                "the program has no X server to be shown on here; --headless runs it without one",
            )?;
    }
    let run = RunDir::create()?;
    let server = server(&run, &[COMPRESS])?;
    let mut options = options(&args.host, args.ssh_mgn.clone(), false)?;
    // The connection that the others share must want it as well.
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
    // What is typed at a terminal, an interrupt for one, is for the program.
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
    // Dropped before the connection and the server, which were made before it.
    let mut session = Session::start(RunDir::create()?, plan)?;
    let report = loop {
        if let Some(report) = session.wait(LOOK)? {
            break report;
        }
    };
    // ssh ends by itself where it is told to, with a status of its own.
    let status = match report.signal {
        Some(signal) if report.status == 255 => 128 + signal,
        _ => report.status,
    };
    Ok(u8::try_from(status).unwrap_or(u8::MAX))
}

/// `mgn ssh-hold`: what another host's `mgn` wants here, until it goes.
pub fn hold(args: SshHold) -> anyhow::Result<()> {
    let run = RunDir::create()?;
    let server = match args.serve {
        true => Some(server(&run, &[COMPRESS])?),
        false => None,
    };
    crate::say(&format!("{HOLDS}{}\n", run.path().display()))?;
    let silence = Duration::from_secs(args.silence);
    let mut input = std::io::stdin().lock();
    let mut bytes = [0; 256];
    while comes(&input, silence)? && !matches!(input.read(&mut bytes), Ok(0) | Err(_)) {}
    drop(server);
    Ok(())
}

/// Whether anything comes within this time, if only the end.
fn comes(input: &impl std::os::fd::AsFd, time: Duration) -> anyhow::Result<bool> {
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
        Err(_) => SILENCE,
        Ok(text) => match text.parse() {
            Ok(seconds @ 3..=86_400) => Duration::from_secs(seconds),
            _ => anyhow::bail!("MGN_SSH_SILENCE={text} is no number of seconds from 3 to 86400"),
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

/// A program that `mgn ssh` of another host has started needs an X server which that has to bring.
///
/// # Errors
/// Where there is none.
pub fn check_display(lease: Option<&Path>, through: &Through) -> anyhow::Result<()> {
    let is_unset = std::env::var_os("DISPLAY").is_none_or(|display| display.is_empty());
    if lease.is_some() && is_unset && !through.headless {
        anyhow::bail!("sshd does not forward X connections to this host: its sshd_config needs X11Forwarding yes, and xauth must be installed; `mgn ssh --headless` does without");
    }
    Ok(())
}

/// Whether what a run depends on is gone: the one who has had it started, by ssh.
pub fn is_over(lease: Option<&Path>) -> bool {
    lease.is_some_and(|folder| !mgn_launch::ssh::is_held(folder))
}
