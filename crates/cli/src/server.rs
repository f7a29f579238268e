//! `mgn server`, and the worker processes that it starts.

use std::time::Duration;

use mgn_fabric::Token;
use mgn_server::{Options, WorkerCommand};

use crate::args::Server;

pub fn serve(args: Server) -> anyhow::Result<()> {
    let token = args.token_file.as_deref().map(Token::read).transpose()?;
    mgn_server::run(Options {
        listen: args.listen,
        token,
        discard: args.discard,
        max_sessions: args.max_sessions as usize,
        memory_limit: args.memory_limit << 20,
        watchdog: Duration::from_secs(args.watchdog),
        end_with_stdin: args.embedded,
        once: false,
        announce: true,
        worker: WorkerCommand::default(),
    })?;
    Ok(())
}

pub fn worker() -> anyhow::Result<()> {
    Ok(mgn_server::worker()?)
}
