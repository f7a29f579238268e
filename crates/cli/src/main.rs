//! The `mgn` command. What it does is in the libraries; here is what it says.
#![forbid(unsafe_code)]

mod args;
mod audit;
mod bench;
mod config;
mod far;
mod found;
mod generated;
mod gl;
mod info;
mod mothership;
mod pages;
mod ranks;
mod relay;
mod replay;
mod report;
mod run;
mod server;
mod settings;
mod through;
mod token;
mod tune;
mod verify;
mod viewer;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;

use args::{Cli, Command};

fn main() -> ExitCode {
    let mut cli = Cli::read();
    if let Err(error) = prepare(&mut cli.command) {
        complain(&error);
        return ExitCode::FAILURE;
    }
    let done = match cli.command {
        Command::Run(run) => return run::run(run),
        Command::Verify(verify) => return verify::verify(verify),
        Command::Ssh(args) => return far::ssh(args),
        Command::SshHold(args) => far::hold(args),
        Command::Server(server) => server::serve(server),
        Command::Relay(args) => relay::relay(args),
        Command::Replay(replay) => replay::replay(replay),
        Command::Info(info) if info.gl => gl::compare(info.json),
        Command::Info(info) => info::info(info),
        Command::Viewer(viewer) => viewer::serve(viewer),
        Command::Mothership(args) => return mothership::mothership(args),
        Command::Status(status) => mothership::status(status),
        Command::Stop(stop) => mothership::stop(stop),
        Command::Tune(tune) => tune::tune(tune),
        Command::Bench(bench) => bench::bench(bench),
        Command::BenchPart(part) => part.run(),
        Command::GlList => gl::list(),
        Command::Config(command) => return config::config(command),
        Command::Token(command) => token::token(command),
        Command::Pages(pages) => pages::write(&pages),
        Command::TunePartner => mgn_fabric::tune_partner().map_err(Into::into),
        Command::Worker => server::worker(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// Settles what commands need before they can log.
fn prepare(command: &mut Command) -> anyhow::Result<()> {
    if let Command::Server(server) = command {
        settings::settle_server(server)?;
    }
    log(command)?;
    // These know tokens of others.
    if is_daemon(command) {
        if let Err(error) = mgn_sys::process::hide_memory() {
            tracing::warn!("a crash could write tokens to a file: {error}");
        }
    }
    Ok(())
}

fn is_daemon(command: &Command) -> bool {
    matches!(
        command,
        Command::Server(_) | Command::Viewer(_) | Command::Relay(_) | Command::Mothership(_)
    )
}

/// Says on standard error what `MGN_LOG` (off, error, warn, info, debug or trace) asks for: by
/// default what goes wrong, and of a server, viewer or relay also who comes and goes. A server
/// within a run leaves the word to the program's side, which is told why a session ends.
///
/// The file of `--audit` gets its lines whatever is logged.
fn log(command: &Command) -> anyhow::Result<()> {
    let default = match command {
        Command::Server(server) if server.embedded => LevelFilter::OFF,
        command if is_daemon(command) => LevelFilter::INFO,
        _ => LevelFilter::WARN,
    };
    let wanted = std::env::var("MGN_LOG")
        .ok()
        .and_then(|level| level.parse().ok());
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        .with_target(false)
        .with_filter(wanted.unwrap_or(default));
    let audit = match command {
        Command::Server(server) => server.audit.as_deref().map(audit::layer).transpose()?,
        _ => None,
    };
    tracing_subscriber::registry()
        .with(lines)
        .with(audit)
        .init();
    Ok(())
}

/// One line for an error and its causes. Many errors name their cause themselves; it is not said
/// twice.
fn complain(error: &anyhow::Error) {
    if let Some(mistakes) = config::mistakes(error) {
        return eprintln!("{mistakes}");
    }
    let mut line = String::from("mgn");
    for cause in error.chain().map(ToString::to_string) {
        if !line.ends_with(&cause) {
            line = format!("{line}: {cause}");
        }
    }
    eprintln!("{line}");
}

/// Writes to standard output, which may be a pipe that nobody reads to its end.
fn say(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
