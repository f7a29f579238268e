//! The render server that a run starts for itself when none is named.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::helper::Helper;
use crate::Error;

/// The beginning of the server's line on standard output. The address at which it listens follows.
pub const READY: &str = "listening on ";

/// Starting a driver on a loaded machine takes a while.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A render server that ends when this is dropped, or when this process dies: its standard input
/// closes.
#[derive(Debug)]
pub struct EmbeddedServer {
    helper: Helper,
    address: String,
}

impl EmbeddedServer {
    /// Runs `executable` with `arguments`, which must make it a server that prints a line of
    /// [`READY`] and its address once it takes clients, and that ends when its standard input does.
    ///
    /// # Errors
    /// [`Error::ServerFailed`] if it ends, prints another line, or prints none.
    pub fn start(executable: &Path, arguments: &[OsString]) -> Result<EmbeddedServer, Error> {
        StartingServer::spawn(executable, arguments, &[])?.ready()
    }

    /// As [`EmbeddedServer::start`], with variables added to its environment.
    ///
    /// # Errors
    /// The same.
    pub fn start_with(
        executable: &Path,
        arguments: &[OsString],
        variables: &[(&str, &str)],
    ) -> Result<EmbeddedServer, Error> {
        StartingServer::spawn(executable, arguments, variables)?.ready()
    }

    /// The address it listens on.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn pid(&self) -> u32 {
        self.helper.pid()
    }
}

/// A server that has been started and need not be there yet: a driver takes a while to open, in
/// which others can be started. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct StartingServer(Helper);

impl StartingServer {
    /// As [`EmbeddedServer::start_with`], without waiting for the server.
    pub fn spawn(
        executable: &Path,
        arguments: &[OsString],
        variables: &[(&str, &str)],
    ) -> Result<StartingServer, Error> {
        // A process group of its own: an interrupt from the terminal is for the program, which may
        // want its server a little longer.
        let mut command = Command::new(executable);
        command
            .args(arguments)
            .envs(variables.iter().copied())
            // Where it has a secret, that is among the arguments.
            .env_remove("MGN_TOKEN_FILE")
            .env_remove("MGN_TOKEN_STORE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        Ok(StartingServer(Helper::start(&mut command)?))
    }

    /// Waits until it takes clients.
    pub fn ready(self) -> Result<EmbeddedServer, Error> {
        let StartingServer(mut helper) = self;
        let line = helper
            .first_line(START_TIMEOUT)
            .map_err(|why| Error::ServerFailed {
                why: why.to_string(),
            })?;
        match line.strip_prefix(READY) {
            Some(address) => {
                let address = address.trim().to_owned();
                Ok(EmbeddedServer { helper, address })
            }
            None => Err(Error::ServerFailed {
                why: format!("it said {line:?}"),
            }),
        }
    }
}
