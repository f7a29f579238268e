//! The `mgn` command: its command line and its output. The libraries do the work.
#![forbid(unsafe_code)]
// eprintln! panics if the reader of standard error has closed it: use `output::tell`.
#![deny(clippy::print_stderr)]

mod args;
mod audit;
mod bench;
mod config;
mod credentials;
mod defaults;
mod generated;
mod gl;
mod info;
mod launch_plan;
mod mothership;
mod mothership_match;
mod output;
mod pages;
mod ranks;
mod relay;
mod replay;
mod report;
mod run;
mod server;
mod settings;
mod settings_summary;
mod ssh;
mod token;
mod tune;
mod verify;
mod viewer;
mod wall_file;

use std::io::IsTerminal;
use std::process::ExitCode;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;

use args::{Cli, Command};
use output::print_error;

fn main() -> ExitCode {
    let mut cli = Cli::read();
    if let Err(error) = prepare(&mut cli.command) {
        print_error(&error);
        return ExitCode::FAILURE;
    }
    let result = match cli.command {
        Command::Run(run) => return run::run(run),
        Command::Verify(verify) => return verify::verify(verify),
        Command::Ssh(args) => return ssh::run_remote(args),
        Command::SshHold(args) => ssh::hold(args),
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
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Prepares logging, and the flags that it depends on.
fn prepare(command: &mut Command) -> anyhow::Result<()> {
    if let Command::Server(server) = command {
        defaults::apply_to_server(server)?;
    }
    log(command)?;
    // Daemons have the tokens of other users in memory.
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

/// Sets up the log on standard error, with the level of `MGN_LOG` (off, error, warn, info, debug or
/// trace). By default, the log contains warnings, and for a daemon also the connections of clients.
/// A server within a run logs nothing: it tells the client why a session ends, and the client
/// reports it.
///
/// The level does not apply to the file of `--audit`.
fn log(command: &Command) -> anyhow::Result<()> {
    let default = match command {
        Command::Server(server) if server.embedded => LevelFilter::OFF,
        // A measurement ends its processes while others still connect to them.
        Command::BenchPart(_) => LevelFilter::ERROR,
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
