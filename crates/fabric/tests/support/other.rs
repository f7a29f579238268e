//! The other process of a test: this test program again, which runs a test called `child` in a
//! role.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use mgn_fabric::{Address, Listener, Transport};

use super::{Kind, SHM, TCP4, TLS, UNIX};

const ROLE: &str = "MGN_TEST_ROLE";
const ADDRESS: &str = "MGN_TEST_ADDRESS";
const TRANSPORT: &str = "MGN_TEST_TRANSPORT";

/// The task of this process, if it is the other process.
pub struct Part {
    pub role: String,
    pub address: Address,
    pub kind: Kind,
}

impl Part {
    pub fn mine() -> Option<Part> {
        let role = std::env::var(ROLE).ok()?;
        let address: Address = std::env::var(ADDRESS).unwrap().parse().unwrap();
        let transport: Transport = std::env::var(TRANSPORT).unwrap().parse().unwrap();
        let encrypted = matches!(address, Address::Tcp { tls: true, .. });
        let kind = match transport {
            Transport::Shm => SHM,
            Transport::Unix => UNIX,
            _ if encrypted => TLS,
            _ => TCP4,
        };
        Some(Part {
            role,
            address,
            kind,
        })
    }

    /// Listens at the given address.
    pub fn listen(&self) -> Listener {
        Listener::bind(&self.address, self.kind.token()).unwrap()
    }
}

/// Reports to the process that started this process. That process waits for the report.
pub fn ready(news: &str) {
    println!("READY {news}");
}

/// Waits for a line from the process that started this process.
pub fn told() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim_end().into()
}

/// The other process, killed when dropped.
pub struct Other {
    pub child: Child,
    news: Receiver<String>,
}

/// The differences between the other process and this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Apart {
    /// Another user.
    pub user: Option<u32>,
    /// A separate network, which has no devices yet.
    pub network: bool,
}

impl Other {
    /// Starts the process, and waits until it is ready. Returns its report.
    pub fn start(role: &str, kind: &Kind, address: &Address, apart: Apart) -> (Other, String) {
        let other = Other::spawn(role, kind, address, apart);
        let news = other.news().expect("the other process ended early");
        (other, news)
    }

    pub fn spawn(role: &str, kind: &Kind, address: &Address, apart: Apart) -> Other {
        let mut program = std::env::current_exe().unwrap();
        // The program may lie in a folder that other users cannot enter.
        let copy = apart
            .user
            .map(|_| std::env::temp_dir().join(format!("mgn-{}-other", std::process::id())));
        if let Some(copy) = &copy {
            std::fs::copy(&program, copy).unwrap();
            program.clone_from(copy);
        }
        let mut command = Command::new(program);
        command.args(["--exact", "child", "--nocapture", "--test-threads=1"]);
        command.env(ROLE, role).env(ADDRESS, address.to_string());
        command.env(TRANSPORT, kind.transport.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(user) = apart.user {
            command.uid(user);
        }
        if apart.network {
            // SAFETY: a single system call, which is allowed between fork and exec.
            unsafe {
                command.pre_exec(|| match libc::unshare(libc::CLONE_NEWNET) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                })
            };
        }
        // Another test may have forked while the copy was open for writing. Then try again.
        let mut child = command.spawn();
        while matches!(&child, Err(error) if error.kind() == ErrorKind::ExecutableFileBusy) {
            thread::sleep(Duration::from_millis(10));
            child = command.spawn();
        }
        let mut child = child.unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, news) = channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, news)) = line.split_once("READY ") {
                    // If the test no longer listens, read the remaining lines anyway.
                    let _ = sender.send(news.to_string());
                }
            }
        });
        let other = Other { child, news };
        if let Some(copy) = copy {
            std::fs::remove_file(copy).unwrap();
        }
        other
    }

    /// The next report of the process. `None` when the process has ended.
    pub fn news(&self) -> Option<String> {
        match self.news.recv_timeout(Duration::from_secs(60)) {
            Ok(news) => Some(news),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the other process reports nothing"),
        }
    }

    /// Sends a line to the process, for [`told`].
    pub fn tell(&mut self, what: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{what}").unwrap();
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: a signal to a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
