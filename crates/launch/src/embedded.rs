//! The render server that a run starts for itself when none is named.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::helper::Helper;
use crate::Error;

/// The beginning of the line that the server prints when clients can connect. Its address follows.
pub const READY: &str = "listening on ";

/// Starting a driver on a loaded machine takes a while.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A render server that ends when this is dropped. It also ends when this process dies, because its
/// standard input closes.
#[derive(Debug)]
pub struct EmbeddedServer {
    helper: Helper,
    address: String,
}

impl EmbeddedServer {
    /// Runs `executable` with `arguments`, which must make it a server. The server must print
    /// [`READY`] and its address on a line when clients can connect, and end when its standard
    /// input closes.
    ///
    /// # Errors
    /// [`Error::ServerFailed`] if the server ends, prints another line, or prints none.
    pub fn start(executable: &Path, arguments: &[OsString]) -> Result<EmbeddedServer, Error> {
        StartingServer::spawn(executable, arguments, &[])?.ready()
    }

    /// Like [`EmbeddedServer::start`], with variables added to the server's environment.
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

    /// The address at which it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn pid(&self) -> u32 {
        self.helper.pid()
    }
}

/// A server that has been started and may not be ready yet. A driver takes a while to open, and
/// other processes can be started meanwhile. The server ends when this is dropped.
#[derive(Debug)]
pub(crate) struct StartingServer(Helper);

impl StartingServer {
    /// Like [`EmbeddedServer::start_with`], without waiting for the server.
    pub fn spawn(
        executable: &Path,
        arguments: &[OsString],
        variables: &[(&str, &str)],
    ) -> Result<StartingServer, Error> {
        // A process group of its own, because an interrupt from the terminal is for the program.
        // The program may need its server a little longer.
        let mut command = Command::new(executable);
        command
            .args(arguments)
            .envs(variables.iter().copied())
            // The arguments name the server's own secret, if it has one.
            .env_remove("MGN_TOKEN_FILE")
            .env_remove("MGN_TOKEN_STORE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        Ok(StartingServer(Helper::start(&mut command)?))
    }

    /// Waits until the server accepts clients.
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
