//! A private X server without a screen.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::helper::Helper;
use crate::{inspect, Error, RunDir};

const START_TIMEOUT: Duration = Duration::from_secs(30);
/// The first and the longest pause between checks whether the server is ready.
const STEPS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(10)];

/// Display numbers are tried from here on. X servers without a given number take the lowest ones.
/// Servers in other network namespaces can take these from each other: they see only the sockets in
/// the file system, and replace them.
const FIRST: u32 = 100;
/// Processes begin at different numbers within this range.
const SPREAD: u32 = 1000;
const TRIES: u32 = 10;

/// Larger than the windows that programs open by default. It costs 16 MB.
const SCREEN: &str = "2560x1600x24";

const COOKIE_NAME: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// An Xvfb with a display number of its own. Only holders of its cookie can use it. It ends when
/// this is dropped, or when this process and all its clients are gone.
#[derive(Debug)]
pub struct Xvfb {
    helper: Helper,
    display: String,
    authority: PathBuf,
    /// Our own connection. The server ends when its last client leaves, so there must always be
    /// one.
    _client: UnixStream,
}

/// Where Xvfb is, if it is installed.
pub fn find_xvfb() -> Option<PathBuf> {
    inspect::in_path(OsStr::new("Xvfb"))
}

impl Xvfb {
    /// Starts an X server that keeps its files in `run`.
    ///
    /// # Errors
    /// [`Error::NoXvfb`] if it is not installed, [`Error::XvfbFailed`] with its own last message if
    /// it does not start.
    pub fn start(run: &RunDir) -> Result<Xvfb, Error> {
        Xvfb::start_with(run, &[])
    }

    /// Like [`Xvfb::start`], with more arguments.
    ///
    /// # Errors
    /// The same.
    pub fn start_with(run: &RunDir, arguments: &[&str]) -> Result<Xvfb, Error> {
        let executable = find_xvfb().ok_or(Error::NoXvfb)?;
        let cookie = cookie()?;
        let authority = run.join("xauthority");
        write_authority(&authority, &cookie)
            .map_err(Error::file(&authority, "writing the X server's cookie"))?;
        let log = run.join("xvfb.log");
        let deadline = Instant::now() + START_TIMEOUT;
        let mut tries = 1..TRIES;
        let mut number = FIRST + std::process::id() % SPREAD;
        loop {
            number = free(number);
            match serve(
                &executable,
                number,
                &authority,
                &cookie,
                arguments,
                &log,
                deadline,
            ) {
                Ok((helper, client)) => {
                    return Ok(Xvfb {
                        helper,
                        display: format!(":{number}"),
                        authority,
                        _client: client,
                    })
                }
                Err(error) if tries.next().is_none() || Instant::now() > deadline => {
                    return Err(error)
                }
                // Another process may have taken the number first.
                Err(_) => number += 1,
            }
        }
    }

    /// The value for `DISPLAY`.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// The value for `XAUTHORITY`.
    pub fn authority(&self) -> &Path {
        &self.authority
    }

    pub fn pid(&self) -> u32 {
        self.helper.pid()
    }
}

/// The first display number from `number` on that is not used by an X server that shares /tmp with
/// us.
fn free(number: u32) -> u32 {
    let is_free = |number: &u32| {
        let lock = PathBuf::from(format!("/tmp/.X{number}-lock"));
        !lock.exists() && !socket(*number).exists()
    };
    (number..).find(is_free).unwrap_or(number)
}

fn socket(number: u32) -> PathBuf {
    format!("/tmp/.X11-unix/X{number}").into()
}

/// Starts an X server, and waits until we are its client. The server locks its number for all
/// processes that share /tmp.
fn serve(
    executable: &Path,
    number: u32,
    authority: &Path,
    cookie: &[u8],
    arguments: &[&str],
    log: &Path,
    deadline: Instant,
) -> Result<(Helper, UnixStream), Error> {
    let log_file = File::create(log).map_err(Error::file(log, "making it"))?;
    let mut command = Command::new(executable);
    command
        .arg(format!(":{number}"))
        .args(["-screen", "0", SCREEN, "-nolisten", "tcp", "-terminate"])
        .args(arguments)
        .arg("-auth")
        .arg(authority)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log_file)
        .process_group(0);
    let mut helper = Helper::start(&mut command)?;
    let [mut step, longest] = STEPS;
    loop {
        let is_there = helper.alive();
        // A server that accepts the cookie is ours.
        let why = match connect(number, cookie) {
            Ok(client) => return Ok((helper, client)),
            Err(_) if is_there && Instant::now() < deadline => {
                thread::sleep(step);
                step = (step * 2).min(longest);
                continue;
            }
            Err(_) if !is_there => last_words(log).unwrap_or_else(|| "it ended at once".into()),
            Err(error) => error.to_string(),
        };
        return Err(Error::XvfbFailed { why });
    }
}

fn cookie() -> Result<[u8; 16], Error> {
    let mut cookie = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut cookie))
        .map_err(Error::file("/dev/urandom", "reading a cookie"))?;
    Ok(cookie)
}

/// One entry for any host and display, in the format of Xau: big-endian counted strings.
fn write_authority(path: &Path, cookie: &[u8]) -> io::Result<()> {
    const FAMILY_WILD: u16 = 0xffff;
    let mut entry = FAMILY_WILD.to_be_bytes().to_vec();
    for field in [b"".as_slice(), b"", COOKIE_NAME, cookie] {
        entry.extend_from_slice(&(field.len() as u16).to_be_bytes());
        entry.extend_from_slice(field);
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(&entry)
}

/// Opens a client connection by hand (X11 protocol, section 8), and never sends a request on it.
fn connect(number: u32, cookie: &[u8]) -> io::Result<UnixStream> {
    let mut stream = UnixStream::connect(socket(number))?;
    stream.set_read_timeout(Some(START_TIMEOUT))?;
    let mut setup = vec![b'l', 0];
    let lengths = [11, 0, COOKIE_NAME.len() as u16, cookie.len() as u16, 0];
    setup.extend(lengths.iter().flat_map(|n| n.to_le_bytes()));
    setup.extend_from_slice(COOKIE_NAME);
    setup.resize(setup.len().next_multiple_of(4), 0);
    setup.extend_from_slice(cookie);
    stream.write_all(&setup)?;
    let mut head = [0; 8];
    stream.read_exact(&mut head)?;
    let rest = u64::from(u16::from_le_bytes([head[6], head[7]])) * 4;
    io::copy(&mut (&stream).take(rest), &mut io::sink())?;
    match head[0] {
        1 => Ok(stream),
        _ => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it refused its own cookie",
        )),
    }
}

fn last_words(log: &Path) -> Option<String> {
    let text = fs::read_to_string(log).ok()?;
    text.lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{test_kill_process, Pid};

    #[test]
    fn starts_serves_and_ends() {
        if find_xvfb().is_none() {
            eprintln!("SKIPPED: Xvfb is not installed");
            return;
        }
        let run = RunDir::create().unwrap();
        let server = Xvfb::start(&run).unwrap();
        let number: u32 = server.display()[1..].parse().unwrap();
        assert!(
            connect(number, b"0123456789abcdef").is_err(),
            "a wrong cookie gets in"
        );
        // The server's number is in use for all processes that share /tmp, so a later server does
        // not get it.
        assert!(free(number) > number);
        let (executable, authority) = (find_xvfb().unwrap(), server.authority());
        let (log, now) = (run.join("other.log"), Instant::now());
        assert!(serve(
            &executable,
            number,
            authority,
            &[0; 16],
            &[],
            &log,
            now + STEPS[1]
        )
        .is_err());
        let pid = Pid::from_raw(server.pid() as i32).unwrap();
        drop(server);
        assert!(test_kill_process(pid).is_err());
        assert_eq!(free(number), number);
    }
}
