//! Another way of executing OpenGL in a different process: Mesa's driver `virpipe` with the test
//! server of virglrenderer.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, Result};
use rustix::process::{kill_process_group, Pid, Signal};

use crate::child;

pub const PROGRAM: &str = "virgl_test_server";

/// The environment that makes a program use the test server.
pub const CLIENT: [(&str, &str); 1] = [("GALLIUM_DRIVER", "virpipe")];

/// The path of the test server's socket. Some versions of Mesa cannot use another path.
const SOCKET: &str = "/tmp/.virgl_test";

const START_TIMEOUT: Duration = Duration::from_secs(20);

/// The test server. It ends when this is dropped, or with the thread that started it.
pub struct Vtest(Child);

impl Vtest {
    pub fn start() -> Result<Vtest> {
        let socket = Path::new(SOCKET);
        if UnixStream::connect(socket).is_ok() {
            bail!("another {PROGRAM} is at {SOCKET}");
        }
        let _ = std::fs::remove_file(socket);
        let mut command = Command::new(PROGRAM);
        command
            .arg("--use-egl-surfaceless")
            // With fork, the server would never wait for its child processes, and their CPU time
            // would be lost.
            .arg("--no-fork")
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut server = Vtest(child::start(&mut command)?);
        let deadline = Instant::now() + START_TIMEOUT;
        while !socket.exists() {
            if let Some(status) = server.0.try_wait()? {
                bail!("{PROGRAM} ended with {status}");
            }
            if Instant::now() >= deadline || child::is_interrupted() {
                bail!("{PROGRAM} did not come up");
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(server)
    }

    /// CPU seconds that the server has used so far.
    pub fn cpu(&self) -> f64 {
        child::cpu(self.0.id())
    }
}

impl Drop for Vtest {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
        let _ = std::fs::remove_file(SOCKET);
    }
}
