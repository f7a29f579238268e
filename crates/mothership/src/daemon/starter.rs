//! Starts the servers of the configuration, here and by ssh.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use mgn_fabric::Address;
use rustix::process::{kill_process, Pid, Signal};

use crate::config::{is_vague, Config, Server, Start};
use crate::core::printable;
use crate::Error;

/// How long a server that an earlier mothership has started may take to register again, before this
/// mothership starts it.
const RETURN: Duration = Duration::from_secs(4);

/// The wait before a failed server is started again. The wait doubles with each failure in a row,
/// up to 64 s.
const RESTART_INTERVAL: Duration = Duration::from_secs(2);

pub(super) struct Starter {
    servers: Vec<Planned>,
}

/// A server that the mothership starts.
struct Planned {
    name: String,
    command: Command,
    /// The file with the server's output. The file is removed when the server ends without an
    /// error, or with this mothership. A file that exists at the start may thus belong to a server
    /// that an earlier mothership has left running.
    log: PathBuf,
    due: Duration,
    /// The number of failures in a row.
    failures: u32,
    state: State,
}

enum State {
    Due,
    Running(Child),
    /// The process has ended without an error.
    Ended,
    Failed {
        why: String,
        again: Duration,
    },
    /// The server has registered, and is the child of another process.
    Found,
}

impl Starter {
    /// `addresses` are the mothership's, `mgn` is the command on this host.
    ///
    /// # Errors
    /// An error if the folder for the servers' output cannot be made.
    pub fn new(config: &Config, addresses: &[Address], mgn: &Path) -> Result<Starter, Error> {
        let mut servers = Vec::new();
        for server in &config.servers {
            let Some(command) = command(config, server, addresses, mgn) else {
                continue;
            };
            let folder = folder(&addresses[0])?;
            let log = folder.join(format!("{}.log", server.name));
            servers.push(Planned {
                name: server.name.clone(),
                command,
                due: if log.exists() { RETURN } else { Duration::ZERO },
                log,
                failures: 0,
                state: State::Due,
            });
        }
        Ok(Starter { servers })
    }

    /// Starts the servers that are due. Returns the names of servers that have ended, with the
    /// reasons.
    pub fn look(
        &mut self,
        now: Duration,
        may_start: bool,
        is_on_line: impl Fn(&str) -> bool,
    ) -> Vec<(String, String)> {
        let mut ended = Vec::new();
        for server in &mut self.servers {
            server.look(now, may_start, &is_on_line);
            let why = match &server.state {
                State::Ended => "it has ended",
                State::Failed { why, .. } => why,
                _ => continue,
            };
            if !is_on_line(&server.name) {
                ended.push((server.name.clone(), why.to_owned()));
            }
        }
        ended
    }

    /// The known state of a server that has not connected yet.
    pub fn says(&self, name: &str) -> Option<String> {
        let server = self.servers.iter().find(|server| server.name == name)?;
        match &server.state {
            State::Running(_) => Some(match server.last_line() {
                Some(line) => {
                    format!("it was started but has not registered yet; its last output is: {line}")
                }
                None => "it was started but has not registered yet".into(),
            }),
            State::Due => Some("it will be started soon unless it registers again".into()),
            State::Ended | State::Failed { .. } | State::Found => None,
        }
    }

    /// Whether a process that this mothership has started still runs.
    pub fn is_busy(&self) -> bool {
        let is_running = |server: &Planned| matches!(server.state, State::Running(_));
        self.servers.iter().any(is_running)
    }

    /// Sends SIGTERM to the servers that are not connected, because the mothership cannot send them
    /// a message.
    pub fn terminate(&self, is_on_line: impl Fn(&str) -> bool) {
        for server in &self.servers {
            if let (State::Running(child), false) = (&server.state, is_on_line(&server.name)) {
                // If the child has ended meanwhile, its parent has not yet waited for it, so no
                // other process has its number.
                let _ = kill_process(Pid::from_child(child), Signal::TERM);
            }
        }
    }

    /// Kills the servers that have not ended.
    pub fn end(&mut self) {
        for server in &mut self.servers {
            if let State::Running(child) = &mut server.state {
                tracing::warn!("the server {} does not end and is killed", server.name);
                // If the process has ended meanwhile, the error is harmless.
                let _ = child.kill();
                let _ = child.wait();
            }
            if !matches!(server.state, State::Failed { .. }) {
                let _ = fs::remove_file(&server.log);
            }
        }
    }
}

impl Planned {
    fn look(&mut self, now: Duration, may_start: bool, is_on_line: &impl Fn(&str) -> bool) {
        let is_on_line = is_on_line(&self.name);
        if is_on_line {
            self.failures = 0;
        }
        match &mut self.state {
            State::Due if is_on_line => self.state = State::Found,
            // Only the process's parent learns that it has ended, so this mothership waits for the
            // server to return, as at the start.
            State::Found if !is_on_line => {
                self.due = now + RETURN;
                self.state = State::Due;
            }
            State::Due if may_start && now >= self.due => self.begin(now),
            State::Failed { again, .. } if may_start && !is_on_line && now >= *again => {
                self.begin(now)
            }
            State::Running(child) => {
                if let Ok(Some(status)) = child.try_wait() {
                    self.bury(status, now);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, now: Duration) {
        match self.start() {
            Ok(child) => self.state = State::Running(child),
            Err(error) => self.fail(error.to_string(), now),
        }
    }

    fn bury(&mut self, status: ExitStatus, now: Duration) {
        if status.success() {
            tracing::info!("the server {} has ended", self.name);
            let _ = fs::remove_file(&self.log);
            self.state = State::Ended;
            return;
        }
        let why = match self.last_line() {
            Some(line) => format!("its process ended with {status}: {line}"),
            None => format!("its process ended with {status}"),
        };
        self.fail(why, now);
    }

    /// Plans the next start. The wait doubles with each failure in a row, up to a limit.
    fn fail(&mut self, why: String, now: Duration) {
        let pause = RESTART_INTERVAL.saturating_mul(1 << self.failures.min(5));
        self.failures += 1;
        let seconds = pause.as_secs();
        tracing::error!(
            "the server {} has failed and is started again in {seconds} s: {why}",
            self.name
        );
        let again = now + pause;
        self.state = State::Failed { why, again };
    }

    fn start(&mut self) -> Result<Child, Error> {
        let doing = || Error::io(format!("cannot write {}", self.log.display()));
        let log = File::create(&self.log).map_err(doing())?;
        let errors = log.try_clone().map_err(doing())?;
        tracing::info!(
            "starting the server {}; it writes to {}",
            self.name,
            self.log.display()
        );
        let program = self.command.get_program().to_string_lossy().into_owned();
        self.command
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            // Only the mothership receives an interrupt from the terminal.
            .process_group(0)
            .spawn()
            .map_err(Error::io(format!("cannot start {program}")))
    }

    fn last_line(&self) -> Option<String> {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let last = text
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty());
        last.map(printable)
    }
}

/// The command that starts a server; none if the mothership does not start it.
fn command(config: &Config, server: &Server, addresses: &[Address], mgn: &Path) -> Option<Command> {
    let host = server.host.as_deref().and_then(|name| config.host(name));
    let own_token = config.mothership.token_file.as_deref();
    let token = host
        .and_then(|host| host.token_file.as_deref())
        .or(own_token);
    let own_store = config.mothership.token_store.as_deref();
    let store = host
        .and_then(|host| host.token_store.as_deref())
        .or(own_store);
    let files = Files { token, store };
    match config.start(server) {
        Start::No => None,
        Start::Here => {
            let mut command = Command::new(mgn);
            command.args(arguments(config, server, &near(addresses), &files));
            Some(command)
        }
        Start::Ssh {
            destination,
            command: mgn,
        } => {
            let mut words = vec![mgn];
            words.extend(arguments(
                config,
                server,
                config.mothership.address.as_ref()?,
                &files,
            ));
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            let mut command = Command::new("ssh");
            command.args(["-n", "-o", "BatchMode=yes", &destination, &words.join(" ")]);
            Some(command)
        }
    }
}

/// The token file and the token store of a server, on its own host.
struct Files<'a> {
    token: Option<&'a Path>,
    store: Option<&'a Path>,
}

fn arguments(
    config: &Config,
    server: &Server,
    mothership: &Address,
    files: &Files<'_>,
) -> Vec<String> {
    let mut words = vec!["server".to_owned(), "--started".into()];
    words.extend(["--name".into(), server.name.clone()]);
    words.extend(["--mothership".into(), mothership.to_string()]);
    for address in &server.listen {
        words.extend(["--listen".into(), address.to_string()]);
    }
    // A server with a token of its own admits no other.
    if let (Some(store), None) = (files.store, &server.token_file) {
        words.extend(["--token-store".into(), store.display().to_string()]);
    }
    if let Some(token) = files.token {
        let of_mothership = token.display().to_string();
        words.extend(match &server.token_file {
            Some(own) => vec![
                "--token-file".into(),
                token.with_file_name(own).display().to_string(),
                "--mothership-token-file".into(),
                of_mothership,
            ],
            None => vec!["--token-file".into(), of_mothership],
        });
    }
    for target in config.targets(server) {
        words.extend(["--present".into(), target.to_string()]);
    }
    for stage in &server.chain {
        words.extend(["--spu".into(), stage.to_string()]);
    }
    if server.discard {
        words.push("--discard".into());
    }
    words
}

/// The address at which servers on this host find the mothership.
fn near(addresses: &[Address]) -> Address {
    let best = addresses
        .iter()
        .find(|address| !address.is_tcp())
        .unwrap_or(&addresses[0]);
    match best {
        Address::Tcp { port, tls, .. } if is_vague(best) => Address::Tcp {
            host: "localhost".into(),
            port: *port,
            tls: *tls,
            server: None,
        },
        other => other.clone(),
    }
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:@,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The folder for the output of the servers of the mothership at an address.
fn folder(address: &Address) -> Result<PathBuf, Error> {
    let state = mgn_sys::user::state_folder().ok_or_else(|| {
        Error::Refused("HOME is not set, so there is no default folder for the logs of servers; set XDG_STATE_HOME".into())
    })?;
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = address.to_string().chars().map(plain).collect();
    let folder = state.join(name);
    fs::create_dir_all(&folder).map_err(Error::io(format!("cannot make {}", folder.display())))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Stage;

    /// An earlier mothership has started the server. It is lost later.
    #[test]
    fn a_found_server_is_started_if_it_does_not_return() {
        let log = std::env::temp_dir().join(format!("mgn-starter-{}.log", std::process::id()));
        let mut server = Planned {
            name: "a".into(),
            command: Command::new("true"),
            log,
            due: RETURN,
            failures: 0,
            state: State::Due,
        };
        let second = Duration::from_secs;
        server.look(second(1), true, &|_| true);
        assert!(matches!(server.state, State::Found));
        server.look(second(10), true, &|_| false);
        server.look(second(11), true, &|_| true);
        assert!(matches!(server.state, State::Found), "it has returned");
        for at in [20, 23] {
            server.look(second(at), true, &|_| false);
            assert!(matches!(server.state, State::Due), "at {at} s");
        }
        server.look(second(24), true, &|_| false);
        let State::Running(child) = &mut server.state else {
            panic!("it was not started");
        };
        child.wait().unwrap();
        let _ = fs::remove_file(&server.log);
    }

    #[test]
    fn words_stay_words_in_a_shell() {
        for word in [
            "plain", "/a/b.c", "", "a b", "it's", "$HOME", "*", "a;b", "\\",
        ] {
            let output = Command::new("sh")
                .args(["-c", &format!("printf %s {}", quoted(word))])
                .output();
            assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), word);
        }
    }

    #[test]
    fn servers_are_started_with_their_chains() {
        let stage = |name: &str, parameters: &[(&str, &str)]| Stage {
            name: name.into(),
            parameters: parameters
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect(),
        };
        let server = Server {
            name: "a".into(),
            host: None,
            listen: vec!["unix:@a".parse().unwrap()],
            transports: Vec::new(),
            discard: true,
            token_file: Some("a.token".into()),
            chain: vec![
                stage("print", &[]),
                stage("save", &[("every", "5"), ("dir", "/tmp/a b")]),
            ],
        };
        let mothership = "unix:@m".parse().unwrap();
        let files = Files {
            token: Some(Path::new("/walls/wall.token")),
            store: Some(Path::new("/walls/tokens")),
        };
        let words = arguments(&Config::default(), &server, &mothership, &files).join(" ");
        assert!(!words.contains("--token-store"), "{words}");
        let tokens = "--token-file /walls/a.token --mothership-token-file /walls/wall.token";
        assert!(words.contains(tokens), "{words}");
        let words = arguments(
            &Config::default(),
            &server,
            &mothership,
            &Files {
                token: None,
                store: None,
            },
        );
        assert!(words.ends_with(&[
            "--spu".into(),
            "print".into(),
            "--spu".into(),
            "save:dir=/tmp/a b,every=5".into(),
            "--discard".into()
        ]));
    }

    #[test]
    fn servers_here_find_the_nearest_address() {
        let parse = |text: &str| text.parse::<Address>().unwrap();
        let (unix, tcp) = (parse("unix:@m"), parse("tls:0.0.0.0:7400"));
        assert_eq!(near(&[tcp.clone(), unix.clone()]), unix);
        assert_eq!(near(&[tcp]), parse("tls:localhost:7400"));
    }
}
