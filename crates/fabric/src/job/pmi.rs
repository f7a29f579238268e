//! The process management interface PMI-1, through which launchers such as MPICH's `mpiexec` let
//! processes exchange data.
//!
//! Both sides send lines of `key=value` words over a socket. The launcher has opened the socket
//! (`PMI_FD`), or the process connects to the launcher (`PMI_PORT`).

use std::io::{self, Read};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::Env;
use crate::wait::{poll, Deadline};
use crate::Error;

/// The time limit for an answer of the launcher. The launcher answers a barrier only when all
/// processes have reached the barrier.
const LAUNCHER_TIMEOUT: Duration = Duration::from_secs(300);

/// The longest line that is accepted.
const LINE_MAX: usize = 64 << 10;

/// A connection to the launcher.
#[derive(Debug)]
pub(super) struct Pmi {
    stream: std::fs::File,
    read: Vec<u8>,
    space: String,
    pub(super) rank: u32,
    pub(super) size: u32,
    key_max: usize,
    value_max: usize,
}

impl Pmi {
    /// Connects to the launcher, if there is one.
    ///
    /// # Errors
    /// [`Error::Job`] if the launcher's variables or answers are invalid.
    pub(super) fn find(env: Env<'_>) -> Result<Option<Pmi>, Error> {
        if let Some(fd) = super::number::<i32>(env, "PMI_FD")? {
            let (Some(rank), Some(size)) = (
                super::number(env, "PMI_RANK")?,
                super::number(env, "PMI_SIZE")?,
            ) else {
                return Err(Error::Job(
                    "PMI_FD is set without PMI_RANK and PMI_SIZE".into(),
                ));
            };
            return Pmi::begin(inherited(fd)?, rank, size, None).map(Some);
        }
        let Some(port) = env("PMI_PORT") else {
            return Ok(None);
        };
        let stream = TcpStream::connect(&port).map_err(Error::io(format!(
            "cannot reach the launcher at {port} (PMI_PORT)"
        )))?;
        let id = env("PMI_ID")
            .or_else(|| env("PMI_RANK"))
            .unwrap_or_else(|| "0".into());
        Pmi::begin(OwnedFd::from(stream), 0, 0, Some(&id)).map(Some)
    }

    /// Begins the protocol on a connected socket. With `id`, asks the launcher for our rank and
    /// size.
    pub(super) fn begin(
        socket: OwnedFd,
        rank: u32,
        size: u32,
        id: Option<&str>,
    ) -> Result<Pmi, Error> {
        let mut pmi = Pmi {
            stream: socket.into(),
            read: Vec::new(),
            space: String::new(),
            rank,
            size,
            key_max: 0,
            value_max: 0,
        };
        if let Some(id) = id {
            pmi.ask(&format!("cmd=initack pmiid={id}"), "initack")?;
            while !pmi.is_told()? {}
        }
        pmi.ask(
            "cmd=init pmi_version=1 pmi_subversion=1",
            "response_to_init",
        )?;
        let maxes = pmi.ask("cmd=get_maxes", "maxes")?;
        pmi.key_max = maxes.number("keylen_max")?;
        pmi.value_max = maxes.number("vallen_max")?;
        pmi.space = pmi
            .ask("cmd=get_my_kvsname", "my_kvsname")?
            .text("kvsname")?
            .into();
        Ok(pmi)
    }

    /// Reads one of the lines `cmd=set size=`, `rank=` and `debug=` that follow an initack. Returns
    /// true after the last one.
    fn is_told(&mut self) -> Result<bool, Error> {
        let line = self.line(&Deadline::after(Some(LAUNCHER_TIMEOUT)))?;
        let answer = Answer(line);
        if answer.text("cmd")? != "set" {
            return Err(unexpected(&answer.0));
        }
        if answer.text("size").is_ok() {
            self.size = answer.number("size")? as u32;
        }
        if answer.text("rank").is_ok() {
            self.rank = answer.number("rank")? as u32;
        }
        Ok(answer.text("debug").is_ok())
    }

    /// The name of the job's key-value space, which is unique among jobs.
    pub(super) fn space(&self) -> &str {
        &self.space
    }

    /// Publishes a value. Other processes can get it after the next barrier.
    pub(super) fn put(&mut self, key: &str, value: &str) -> Result<(), Error> {
        if key.len() >= self.key_max || value.len() >= self.value_max {
            return Err(Error::Job(format!(
                "the launcher's limits do not permit {} bytes under the key {key}",
                value.len()
            )));
        }
        debug_assert!(!value.contains([' ', '\n', '=']), "{value}");
        let line = format!("cmd=put kvsname={} key={key} value={value}", self.space);
        self.ask(&line, "put_result").map(drop)
    }

    pub(super) fn get(&mut self, key: &str) -> Result<String, Error> {
        let line = format!("cmd=get kvsname={} key={key}", self.space);
        Ok(self.ask(&line, "get_result")?.text("value")?.into())
    }

    /// Waits for all other processes.
    pub(super) fn barrier(&mut self) -> Result<(), Error> {
        self.ask("cmd=barrier_in", "barrier_out").map(drop)
    }

    /// Ends the protocol. If a process ends without this call, the launcher assumes that the
    /// process has crashed.
    pub(super) fn finalize(&mut self) -> Result<(), Error> {
        self.ask("cmd=finalize", "finalize_ack").map(drop)
    }

    fn ask(&mut self, question: &str, wanted: &str) -> Result<Answer, Error> {
        self.say(format!("{question}\n").as_bytes())
            .map_err(Error::io("cannot talk to the launcher"))?;
        let answer = Answer(self.line(&Deadline::after(Some(LAUNCHER_TIMEOUT)))?);
        if answer.text("cmd")? != wanted {
            return Err(unexpected(&answer.0));
        }
        match answer.text("rc") {
            Ok("0") | Err(_) => Ok(answer),
            Ok(_) => Err(Error::Job(format!(
                "the launcher refused {:?}: {}",
                question.split(" value=").next().unwrap_or_default(),
                answer.0
            ))),
        }
    }

    /// Sends bytes. If the launcher is gone, this returns an error. No signal ends the program.
    fn say(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::net::send(&self.stream, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn line(&mut self, deadline: &Deadline) -> Result<String, Error> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return String::from_utf8(line)
                    .map(|line| line.trim_end().into())
                    .map_err(|_| unexpected("bytes that are not UTF-8"));
            }
            if self.read.len() > LINE_MAX {
                return Err(unexpected("a line that is too long"));
            }
            let failed = || Error::io("cannot receive from the launcher");
            let mut fds = [PollFd::new(&self.stream, PollFlags::IN)];
            if poll(&mut fds, deadline.left(LAUNCHER_TIMEOUT)).map_err(failed())? == 0 {
                if deadline.passed() {
                    return Err(Error::TimedOut(
                        "waiting for the launcher and the job's other processes".into(),
                    ));
                }
                continue;
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(Error::Closed("the launcher".into())),
                Ok(got) => self.read.extend(&buffer[..got]),
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(failed()(error)),
            }
        }
    }
}

/// A line from the launcher.
struct Answer(String);

impl Answer {
    fn text(&self, key: &str) -> Result<&str, Error> {
        let value = |word: &'_ str| {
            word.split_once('=')
                .filter(|(name, _)| *name == key)
                .map(|(_, value)| value.len())
        };
        for word in self.0.split(' ') {
            if let Some(len) = value(word) {
                return Ok(&word[word.len() - len..]);
            }
        }
        Err(unexpected(&self.0))
    }

    fn number(&self, key: &str) -> Result<usize, Error> {
        self.text(key)?.parse().map_err(|_| unexpected(&self.0))
    }
}

fn unexpected(line: &str) -> Error {
    let line: String = line.chars().take(200).collect();
    Error::Job(format!(
        "the launcher does not speak PMI-1: it sent {line:?}"
    ))
}

/// A copy of the socket that the launcher has left open for this process. Another library in this
/// process may still use the original.
fn inherited(fd: i32) -> Result<OwnedFd, Error> {
    mgn_sys::passing::inherited(fd).map_err(Error::io(format!("PMI_FD={fd}")))
}

/// Talks to a launcher that sends `bytes` and then closes the socket.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn feed(bytes: &[u8]) {
    use super::sealed::{seal, Opener};
    use crate::Token;
    use std::io::Write;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;

    // More bytes do not fit in the socket's buffer.
    let bytes = &bytes[..bytes.len().min(100_000)];
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(bytes).unwrap();
    ours.shutdown(Shutdown::Write).unwrap();
    let talk = || -> Result<usize, Error> {
        let mut pmi = Pmi::begin(theirs.into(), 0, 0, Some("1"))?;
        pmi.put("key", "value")?;
        pmi.barrier()?;
        let got = pmi.get("key")?;
        // The value may be another process's public key, or a secret that is encrypted for this
        // process.
        let _ = seal(&Token::generate(), &got);
        let _ = Opener::new()?.open(&got);
        pmi.finalize()?;
        Ok(got.len())
    };
    assert!(talk().map_or(true, |got| got < bytes.len()));
}
