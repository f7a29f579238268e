//! What is in force where no flag says otherwise: environment variables, then the user's file, then
//! what is always so.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use mgn_fabric::{Access, Address, ServerKey, Store, Token, Transport};
use mgn_sys::user::{settings_folder, state_folder};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::args::{Keys, Server, ServerName, Through, WallName};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Environment(&'static str),
    File {
        path: PathBuf,
        line: usize,
    },
    /// Nobody has said anything.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Environment(name) => out.write_str(name),
            Source::File { path, line } => write!(out, "{}:{line}", path.display()),
            Source::Default => out.write_str("by default"),
        }
    }
}

/// A value that is in force.
#[derive(Clone, Debug)]
pub struct Set<T> {
    pub value: T,
    pub source: Source,
}

/// The user's file, as it was found.
#[derive(Debug, Default)]
pub struct Settings {
    folder: Option<PathBuf>,
    file: Option<File>,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    text: String,
    written: Written,
}

/// The keys of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    server: Option<Spanned<OneOrMore>>,
    mothership: Option<Spanned<String>>,
    token_file: Option<Spanned<PathBuf>>,
    token_store: Option<Spanned<PathBuf>>,
    server_key: Option<Spanned<PathBuf>>,
    ssh: Option<Spanned<String>>,
    ssh_mgn: Option<Spanned<String>>,
    max_sessions_per_client: Option<Spanned<u32>>,
    max_sessions_per_token: Option<Spanned<u32>>,
    memory_total: Option<Spanned<u64>>,
    idle_timeout: Option<Spanned<u64>>,
    audit: Option<Spanned<PathBuf>>,
}

/// What manganese-config(5) says of a key.
pub struct Key {
    pub name: &'static str,
    pub kind: &'static str,
    /// The environment variable that comes before the file.
    pub variable: Option<&'static str>,
    pub meaning: &'static str,
    /// What holds without the key.
    pub default: &'static str,
}

pub const KEYS: [Key; 12] = [
    Key {
        name: "server",
        kind: "address, or a list of addresses",
        variable: Some("MGN_SERVER"),
        meaning: "The server that renders, as --server takes it. A list has one server for each tile of a wall. The variable separates several by spaces.",
        default: "each run starts a server of its own",
    },
    Key {
        name: "mothership",
        kind: "address",
        variable: Some("MGN_MOTHERSHIP"),
        meaning: "The mothership that mgn status and mgn stop ask, and that knows the names of walls.",
        default: "unix:@manganese-mothership",
    },
    Key {
        name: "token_file",
        kind: "path",
        variable: Some("MGN_TOKEN_FILE"),
        meaning: "The file with the token that is proved to servers. A relative path is relative to the folder of config.toml.",
        default: "the file token in the same folder, if there is one; mgn token new makes it",
    },
    Key {
        name: "token_store",
        kind: "path",
        variable: Some("MGN_TOKEN_STORE"),
        meaning: "The file with the tokens that servers admit, and that mgn token changes. Relative as token_file is.",
        default: "the file tokens in the same folder; mgn token new makes it",
    },
    Key {
        name: "server_key",
        kind: "path",
        variable: Some("MGN_SERVER_KEY"),
        meaning: "The file with the private key of servers at tls: addresses. Relative as token_file is.",
        default: "manganese/server.key in $XDG_STATE_HOME or ~/.local/state; it is made when it is needed",
    },
    Key {
        name: "ssh",
        kind: "command",
        variable: Some("MGN_SSH"),
        meaning: "The command that connects to other hosts, with its arguments, separated by spaces.",
        default: "ssh",
    },
    Key {
        name: "ssh_mgn",
        kind: "command",
        variable: None,
        meaning: "The name or path of mgn on other hosts, as --ssh-mgn takes it.",
        default: "mgn",
    },
    Key {
        name: "max_sessions_per_client",
        kind: "number",
        variable: None,
        meaning: "How many sessions of one client mgn server serves at the same time, as --max-sessions-per-client takes it.",
        default: "for addresses a quarter of --max-sessions, but at least 32; for users of the machine no limit of their own",
    },
    Key {
        name: "max_sessions_per_token",
        kind: "number",
        variable: None,
        meaning: "How many sessions of clients with the same token mgn server serves at the same time, as --max-sessions-per-token takes it.",
        default: "no limit",
    },
    Key {
        name: "memory_total",
        kind: "number of MiB",
        variable: None,
        meaning: "How much memory the sessions of mgn server may use together, as --memory-total takes it.",
        default: "three quarters of the memory of the machine, or of the server's control group",
    },
    Key {
        name: "idle_timeout",
        kind: "number of seconds",
        variable: None,
        meaning: "How long programs may send nothing to mgn server before their sessions end, as --idle-timeout takes it.",
        default: "for ever",
    },
    Key {
        name: "audit",
        kind: "path",
        variable: None,
        meaning: "The file to which mgn server appends what --audit writes. A relative path is relative to the folder of config.toml.",
        default: "none",
    },
];

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "an address in quotes, or a list of such")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Settings {
    /// Reads the user's file, if there is one.
    ///
    /// # Errors
    /// One line with file, line, and what to do.
    pub fn read() -> anyhow::Result<Settings> {
        let Some(folder) = settings_folder() else {
            return Ok(Settings::default());
        };
        let path = folder.join("config.toml");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if is_missing(&error) => {
                return Ok(Settings {
                    folder: Some(folder),
                    file: None,
                })
            }
            Err(error) => anyhow::bail!("{} cannot be read: {error}", path.display()),
        };
        Ok(Settings {
            folder: Some(folder),
            file: Some(File::parse(path, text)?),
        })
    }

    /// Where the file is, or would be.
    pub fn path() -> Option<PathBuf> {
        Some(settings_folder()?.join("config.toml"))
    }

    /// Whether there is one.
    pub fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// The servers of programs that are told no other. In a program that `mgn run` has started, the
    /// variable is what the client library was told.
    pub fn servers(&self) -> anyhow::Result<Option<Set<Vec<Address>>>> {
        let is_within_run = std::env::var_os("MGN_RUN_DIR").is_some();
        if let Some(text) = variable("MGN_SERVER").filter(|_| !is_within_run) {
            let all = text.split_whitespace().map(Address::of_server);
            let value = all.collect::<Result<_, _>>().context("MGN_SERVER")?;
            let source = Source::Environment("MGN_SERVER");
            return Ok(Some(Set { value, source }));
        }
        self.written(
            |written| written.server.as_ref(),
            |names| {
                let names = match names {
                    OneOrMore::One(name) => std::slice::from_ref(name),
                    OneOrMore::More(names) => names,
                };
                let read = |name: &String| Address::of_server(name).map_err(|e| e.to_string());
                names.iter().map(read).collect()
            },
        )
    }

    /// Where the mothership is.
    pub fn mothership(&self) -> anyhow::Result<Set<Address>> {
        if let Some(text) = variable("MGN_MOTHERSHIP") {
            return Ok(Set {
                value: Address::of_mothership(&text).context("MGN_MOTHERSHIP")?,
                source: Source::Environment("MGN_MOTHERSHIP"),
            });
        }
        let written = self.written(
            |written| written.mothership.as_ref(),
            |text| Address::of_mothership(text).map_err(|error| error.to_string()),
        )?;
        Ok(written.unwrap_or_else(|| Set {
            value: mgn_mothership::default_address(),
            source: Source::Default,
        }))
    }

    /// The file with the token. By default a file that may be missing.
    pub fn token_file(&self) -> anyhow::Result<Option<Set<PathBuf>>> {
        self.path_in_force(
            "MGN_TOKEN_FILE",
            |written| written.token_file.as_ref(),
            default_token(),
        )
    }

    /// The file with the tokens that are admitted, likewise.
    pub fn token_store(&self) -> anyhow::Result<Option<Set<PathBuf>>> {
        let default = settings_folder().map(|folder| folder.join("tokens"));
        self.path_in_force(
            "MGN_TOKEN_STORE",
            |written| written.token_store.as_ref(),
            default,
        )
    }

    /// The file with the key of servers, likewise.
    pub fn server_key(&self) -> anyhow::Result<Option<Set<PathBuf>>> {
        let default = state_folder().map(|folder| folder.join("server.key"));
        self.path_in_force(
            "MGN_SERVER_KEY",
            |written| written.server_key.as_ref(),
            default,
        )
    }

    fn path_in_force(
        &self,
        variable: &'static str,
        of: for<'a> fn(&'a Written) -> Option<&'a Spanned<PathBuf>>,
        default: Option<PathBuf>,
    ) -> anyhow::Result<Option<Set<PathBuf>>> {
        if let Some(file) = std::env::var_os(variable).filter(|file| !file.is_empty()) {
            return Ok(Some(Set {
                value: file.into(),
                source: Source::Environment(variable),
            }));
        }
        let folder = self.folder.as_deref();
        let written = self.written(of, |file| {
            Ok(
                match (file.strip_prefix("~"), std::env::var_os("HOME"), folder) {
                    (Ok(rest), Some(home), _) => Path::new(&home).join(rest),
                    (_, _, Some(folder)) => folder.join(file),
                    _ => file.clone(),
                },
            )
        })?;
        Ok(written.or_else(|| {
            Some(Set {
                value: default?,
                source: Source::Default,
            })
        }))
    }

    /// The command that connects to other machines, and its own arguments.
    pub fn ssh(&self) -> anyhow::Result<Set<Vec<String>>> {
        let words =
            |text: &str| -> Vec<String> { text.split_whitespace().map(String::from).collect() };
        if let Some(text) = variable("MGN_SSH") {
            return Ok(Set {
                value: words(&text),
                source: Source::Environment("MGN_SSH"),
            });
        }
        let written = self.written(
            |written| written.ssh.as_ref(),
            |text| match words(text) {
                words if words.is_empty() => {
                    Err("the command for ssh is empty; leave the line out".into())
                }
                words => Ok(words),
            },
        )?;
        Ok(written.unwrap_or_else(|| Set {
            value: vec!["ssh".into()],
            source: Source::Default,
        }))
    }

    /// What `mgn` is called on other machines.
    pub fn ssh_mgn(&self) -> anyhow::Result<Set<String>> {
        let written = self.written(|written| written.ssh_mgn.as_ref(), |text| Ok(text.clone()))?;
        Ok(written.unwrap_or_else(|| Set {
            value: "mgn".into(),
            source: Source::Default,
        }))
    }

    pub fn max_sessions_per_client(&self) -> anyhow::Result<Option<Set<u32>>> {
        self.written(
            |written| written.max_sessions_per_client.as_ref(),
            |number| within("max_sessions_per_client", *number, 1..=4096),
        )
    }

    pub fn max_sessions_per_token(&self) -> anyhow::Result<Option<Set<u32>>> {
        self.written(
            |written| written.max_sessions_per_token.as_ref(),
            |number| within("max_sessions_per_token", *number, 1..=4096),
        )
    }

    /// In MiB.
    pub fn memory_total(&self) -> anyhow::Result<Option<Set<u64>>> {
        self.written(
            |written| written.memory_total.as_ref(),
            |mib| within("memory_total", *mib, 64..=(1 << 40) - 1),
        )
    }

    /// In seconds.
    pub fn idle_timeout(&self) -> anyhow::Result<Option<Set<u64>>> {
        self.written(
            |written| written.idle_timeout.as_ref(),
            |seconds| within("idle_timeout", *seconds, 1..=31_536_000),
        )
    }

    pub fn audit(&self) -> anyhow::Result<Option<Set<PathBuf>>> {
        let folder = self.folder.as_deref();
        self.written(
            |written| written.audit.as_ref(),
            |file| Ok(folder.map_or_else(|| file.clone(), |folder| folder.join(file))),
        )
    }

    /// A value of the file, as `read` understands it.
    fn written<W, T>(
        &self,
        of: impl FnOnce(&Written) -> Option<&Spanned<W>>,
        read: impl FnOnce(&W) -> Result<T, String>,
    ) -> anyhow::Result<Option<Set<T>>> {
        let Some(file) = &self.file else {
            return Ok(None);
        };
        let Some(found) = of(&file.written) else {
            return Ok(None);
        };
        let line = line(&file.text, found.span());
        match read(found.get_ref()) {
            Ok(value) => Ok(Some(Set {
                value,
                source: Source::File {
                    path: file.path.clone(),
                    line,
                },
            })),
            Err(why) => anyhow::bail!("{}:{line}: {why}", file.path.display()),
        }
    }
}

impl File {
    fn parse(path: PathBuf, text: String) -> anyhow::Result<File> {
        let error = match toml::from_str(&text) {
            Ok(written) => {
                return Ok(File {
                    path,
                    text,
                    written,
                })
            }
            Err(error) => error,
        };
        let span = error.span().unwrap_or_default();
        let place = format!("{}:{}", path.display(), line(&text, span.clone()));
        let key = text.get(span).unwrap_or_default().trim();
        let is_key = toml::from_str::<toml::map::Map<String, toml::Value>>(&text)
            .is_ok_and(|table| table.contains_key(key));
        if is_key && !KEYS.iter().any(|known| known.name == key) {
            let advice = match closest(key) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("there are {}", KEYS.map(|known| known.name).join(", ")),
            };
            anyhow::bail!("{place}: there is no setting {key:?}; {advice}");
        }
        anyhow::bail!("{place}: {}", error.message().replace('\n', " "))
    }
}

/// The key that was meant, if any is near.
fn closest(key: &str) -> Option<&'static str> {
    let plain = key.replace('-', "_");
    let near = KEYS.map(|known| {
        let distance = strsim::damerau_levenshtein(known.name, &plain);
        (distance, known.name)
    });
    let (distance, known) = near.into_iter().min()?;
    (distance <= 1 + key.len() / 3).then_some(known)
}

fn line(text: &str, span: Range<usize>) -> usize {
    1 + text[..span.start.min(text.len())].matches('\n').count()
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    (!value.trim().is_empty()).then_some(value)
}

/// Where a token lies unless somebody names another place.
pub fn default_token() -> Option<PathBuf> {
    Some(settings_folder()?.join("token"))
}

/// Puts what is in force into what the flags left open. `own` is a flag that is for a server of the
/// run's own.
///
/// # Errors
/// One line on a setting that makes no sense, or contradicts a flag.
pub fn settle(through: &mut Through, own: Option<&str>) -> anyhow::Result<()> {
    let settings = Settings::read()?;
    let named = &through.named;
    if named.contains(&ServerName::Own) && named.len() > 1 {
        anyhow::bail!("--server own is for a server of the run's own; leave out the others");
    }
    let addresses = named.iter().filter_map(|name| match name {
        ServerName::Own => None,
        ServerName::At(address) => Some(address.clone()),
    });
    through.server = addresses.collect();
    let says_who = !named.is_empty()
        || own.is_some()
        || through.ssh.is_some()
        || through.mothership.is_some()
        || through.needs.is_some()
        || WallName::first_name(&through.wall).is_some()
        || matches!(
            through.transport,
            Some(Transport::Null | Transport::File(_))
        );
    if !says_who {
        if let Some(Set { value, source }) = settings.servers()? {
            let far = |server: &Address| matches!(server, Address::Tcp { .. });
            let fits = match through.transport {
                Some(Transport::Shm | Transport::Unix) => !value.iter().any(far),
                Some(Transport::Tcp) => value.iter().all(far),
                _ => true,
            };
            if let (false, Some(transport)) = (fits, &through.transport) {
                let all: Vec<String> = value.iter().map(Address::to_string).collect();
                anyhow::bail!("--transport {transport} does not lead to {} ({source}); leave it out, or give --server own", all.join(" "));
            }
            through.server = value;
        }
    }
    through.token_file = token_file(through.token_file.take(), &settings)?;
    Ok(())
}

/// A number of the file that must be one of `range`.
fn within<T: PartialOrd + fmt::Display>(
    key: &str,
    number: T,
    range: std::ops::RangeInclusive<T>,
) -> Result<T, String> {
    match range.contains(&number) {
        true => Ok(number),
        false => Err(format!(
            "{key} is {number}, and must be from {} to {}",
            range.start(),
            range.end()
        )),
    }
}

/// Puts what is in force into what the flags of a server left open. A server within a run serves
/// nobody else, and only flags are for it.
///
/// # Errors
/// One line on a setting that makes no sense.
pub fn settle_server(server: &mut Server) -> anyhow::Result<()> {
    if server.embedded {
        return Ok(());
    }
    let settings = Settings::read()?;
    fill(
        &mut server.max_sessions_per_client,
        settings.max_sessions_per_client()?,
    );
    fill(
        &mut server.max_sessions_per_token,
        settings.max_sessions_per_token()?,
    );
    fill(&mut server.memory_total, settings.memory_total()?);
    fill(&mut server.idle_timeout, settings.idle_timeout()?);
    fill(&mut server.audit, settings.audit()?);
    Ok(())
}

fn fill<T>(flag: &mut Option<T>, set: Option<Set<T>>) {
    if flag.is_none() {
        *flag = set.map(|set| set.value);
    }
}

/// The file with the token: what the flag or the variable says, or what is in force; none where
/// that is the default place and nothing is there.
pub fn token_file(flag: Option<PathBuf>, settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    if flag.is_some() {
        return Ok(flag);
    }
    Ok(settings.token_file()?.and_then(|set| match set.source {
        Source::Default if !set.value.exists() => None,
        _ => Some(set.value),
    }))
}

/// Where the mothership is, by flag or by what is in force.
pub fn mothership(flag: Option<Address>) -> anyhow::Result<Address> {
    match flag {
        Some(address) => Ok(address),
        None => Ok(Settings::read()?.mothership()?.value),
    }
}

/// The tokens that a listener admits, and the token that the process proves to others.
#[derive(Debug)]
pub struct Serving {
    pub access: Access,
    /// The token to prove, and its file.
    pub token: Option<(PathBuf, Token)>,
}

/// Reads what is needed to listen at `addresses` and to connect to `others`. Files are read only
/// where they are needed, or named by a flag.
///
/// # Errors
/// Where nobody could be admitted, or a file cannot be read.
pub fn to_serve<'a>(
    keys: &Keys,
    addresses: impl IntoIterator<Item = &'a Address>,
    others: impl IntoIterator<Item = &'a Address>,
) -> anyhow::Result<Serving> {
    let settings = Settings::read()?;
    let is_far = |address: &&Address| matches!(address, Address::Tcp { .. });
    let far: Vec<&Address> = addresses.into_iter().filter(is_far).collect();
    let meets_others = others.into_iter().any(|address| is_far(&address));
    let read = |file: PathBuf| -> anyhow::Result<(PathBuf, Token)> {
        let token = Token::read(&file)?;
        Ok((file, token))
    };
    let of_flag = keys.token_file.clone().map(read).transpose()?;
    let in_force = || token_file(None, &settings)?.map(read).transpose();
    let store = match &keys.token_store {
        Some(store) => Some(store.clone()),
        // A token that is named is the only one that is admitted.
        None if of_flag.is_some() || far.is_empty() => None,
        None => settings
            .token_store()?
            .filter(|set| set.source != Source::Default || set.value.exists())
            .map(|set| set.value),
    };
    let token = match of_flag {
        Some(token) => Some(token),
        None if meets_others || (store.is_none() && !far.is_empty()) => in_force()?,
        None => None,
    };
    let access = match (store, &token, far.first()) {
        (Some(store), ..) => Access::from(Arc::new(Store::open(&store)?)),
        (None, None, Some(address)) => anyhow::bail!(
            "serving {address} needs a token; make one with `mgn token new`, or name its file by --token-file"
        ),
        (None, token, _) => Access::from(token.as_ref().map(|(_, token)| token.clone())),
    };
    let is_encrypted = |address: &&Address| matches!(address, Address::Tcp { tls: true, .. });
    let key = match far.iter().any(is_encrypted) {
        true => {
            let file = keys.server_key.clone();
            Some(ServerKey::read_or_create(&server_key(file)?)?)
        }
        false => None,
    };
    let access = access.with_key(key);
    Ok(Serving { access, token })
}

/// The file with the key of servers here, by flag or by what is in force.
pub fn server_key(flag: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let file = match flag {
        Some(file) => Some(file),
        None => Settings::read()?.server_key()?.map(|set| set.value),
    };
    file.context("HOME is not set, so there is no default place for the server's key; give a file with --server-key")
}

/// The store that `mgn token` changes.
pub fn store_to_change() -> anyhow::Result<PathBuf> {
    let store = Settings::read()?.token_store()?;
    let store = store.map(|set| set.value);
    store.context("HOME is not set, so there is no default place for the token store; give a file with --store")
}

/// The token for reaching `address`.
///
/// # Errors
/// Where it is needed and there is none, or it cannot be read.
pub fn token_to_reach(flag: Option<PathBuf>, address: &Address) -> anyhow::Result<Option<Token>> {
    if flag.is_none() && !matches!(address, Address::Tcp { .. }) {
        return Ok(None);
    }
    match token_file(flag, &Settings::read()?)? {
        Some(file) => Ok(Some(Token::read(&file)?)),
        None => anyhow::bail!("{}", lacks_token(&address.to_string())),
    }
}

/// What to do where somebody wants a token and there is none.
pub fn lacks_token(whom: &str) -> String {
    let place = default_token();
    let place = place.map_or_else(String::new, |path| format!("to {}, ", path.display()));
    format!("{whom} wants a token: run `mgn token new` on its host and copy the new file {place}or name it by --token-file")
}

/// What `mgn info` says of settings.
#[derive(Debug, Serialize)]
pub struct InForce {
    /// The user's file: where it is, or would be.
    pub file: Option<PathBuf>,
    pub is_there: bool,
    /// What is wrong with a setting; null where nothing is.
    pub mistake: Option<String>,
    /// Null where each run has a server of its own.
    pub server: Shown,
    pub mothership: Shown,
    /// Null where there is no token.
    pub token_file: Shown,
    /// What the token is, or why it is none; null where there is none.
    pub token: Option<String>,
    /// Null where servers admit no tokens but the one above.
    pub token_store: Shown,
    /// Null where servers have no key yet.
    pub server_key: Shown,
    /// The public key that belongs to it, or what is wrong with it.
    pub public_key: Option<String>,
    pub ssh: Shown,
    pub ssh_mgn: Shown,
    /// The limits and the audit file of servers; null where the default holds.
    pub max_sessions_per_client: Shown,
    pub max_sessions_per_token: Shown,
    pub memory_total: Shown,
    pub idle_timeout: Shown,
    pub audit: Shown,
}

/// A value, and where it comes from.
#[derive(Debug, Default, Serialize)]
pub struct Shown {
    pub value: Option<String>,
    pub source: Option<String>,
}

impl Shown {
    fn of<T>(set: Set<T>, text: impl FnOnce(T) -> String) -> Shown {
        Shown {
            value: Some(text(set.value)),
            source: Some(set.source.to_string()),
        }
    }
}

/// What is in force in this environment, mistakes included.
pub fn in_force() -> InForce {
    let mut mistake = None;
    let settings = Settings::read().unwrap_or_else(|error| {
        mistake = Some(one_line(&error));
        Settings::default()
    });
    let mut shown = |found: anyhow::Result<Option<Shown>>| {
        found.unwrap_or_else(|error| {
            mistake.get_or_insert(one_line(&error));
            None
        })
    };
    let servers = settings.servers().map(|set| {
        set.map(|set| {
            Shown::of(set, |all| {
                let all: Vec<String> = all.iter().map(Address::to_string).collect();
                all.join(" ")
            })
        })
    });
    let mothership = settings
        .mothership()
        .map(|set| Some(Shown::of(set, |address| address.to_string())));
    let there = |set: Option<Set<PathBuf>>| {
        set.filter(|set| set.source != Source::Default || set.value.exists())
    };
    let file = |set: Option<Set<PathBuf>>| {
        set.map(|set| Shown::of(set, |file| file.display().to_string()))
    };
    let (token, store, key) = (
        settings.token_file().map(there),
        settings.token_store().map(there),
        settings.server_key().map(there),
    );
    let path = |set: &anyhow::Result<Option<Set<PathBuf>>>| {
        let set = set.as_ref().ok()?.as_ref()?;
        Some(set.value.clone())
    };
    let described = path(&token).map(|file| describe(Token::read(&file)));
    let public_key = path(&key).map(|file| match ServerKey::read(&file) {
        Ok(key) => key.public().to_string(),
        Err(error) => error.to_string(),
    });
    let [token, store, key] = [token, store, key].map(|set| set.map(file));
    let ssh = settings
        .ssh()
        .map(|set| Some(Shown::of(set, |words| words.join(" "))));
    let ssh_mgn = settings
        .ssh_mgn()
        .map(|set| Some(Shown::of(set, |path| path)));
    let [server, mothership, token_file, token_store, server_key, ssh, ssh_mgn] =
        [servers, mothership, token, store, key, ssh, ssh_mgn]
            .map(|found| shown(found).unwrap_or_default());
    let [per_client, per_token] = [
        settings.max_sessions_per_client(),
        settings.max_sessions_per_token(),
    ]
    .map(|found| found.map(|set| set.map(|set| Shown::of(set, |n| n.to_string()))));
    let total = settings.memory_total();
    let total = total.map(|set| set.map(|set| Shown::of(set, |mib| format!("{mib} MiB"))));
    let idle = settings.idle_timeout();
    let idle = idle.map(|set| set.map(|set| Shown::of(set, |s| format!("{s} s"))));
    let audit = settings.audit();
    let audit = audit.map(|set| set.map(|set| Shown::of(set, |file| file.display().to_string())));
    let [max_sessions_per_client, max_sessions_per_token, memory_total, idle_timeout, audit] =
        [per_client, per_token, total, idle, audit].map(|found| shown(found).unwrap_or_default());
    InForce {
        file: Settings::path(),
        is_there: settings.has_file(),
        mistake,
        server,
        mothership,
        token_file,
        token: described,
        token_store,
        server_key,
        public_key,
        ssh,
        ssh_mgn,
        max_sessions_per_client,
        max_sessions_per_token,
        memory_total,
        idle_timeout,
        audit,
    }
}

/// The role of a token, and the servers that it is valid for.
fn describe(token: Result<Token, mgn_fabric::Error>) -> String {
    let token = match token {
        Ok(token) if token.is_old() => {
            return "in the format of earlier releases, for this host only".into()
        }
        Ok(token) => token,
        Err(error) => return error.to_string(),
    };
    let keys: Vec<String> = token.servers().iter().map(ToString::to_string).collect();
    let servers = match &keys[..] {
        [] => "servers with any key".into(),
        keys => format!("servers with the key {}", keys.join(" or ")),
    };
    format!("{}, for {servers}", token.identity())
}

fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, String> {
        let file = File::parse("/home/me/config.toml".into(), text.into());
        let file = file.map_err(|error| error.to_string())?;
        Ok(Settings {
            folder: Some("/home/me".into()),
            file: Some(file),
        })
    }

    #[test]
    fn all_keys_are_known() {
        for key in KEYS {
            let value = match key.kind.starts_with("number") {
                true => "1",
                false => "\"x\"",
            };
            parse(&format!("{} = {value}", key.name)).unwrap();
        }
    }

    #[test]
    fn mistakes_have_a_place_and_advice() {
        for (text, words) in [
            (
                "\nservr = \"unix:@a\"",
                &["config.toml:2:", "\"servr\"", "mean server?"][..],
            ),
            ("token-file = \"t\"", &[":1:", "mean token_file?"]),
            (
                "colour = 3",
                &[":1:", "\"colour\"", "there are server, mothership"],
            ),
            ("idle-timeout = 3", &[":1:", "mean idle_timeout?"]),
            ("server = 3", &[":1:", "an address in quotes"]),
            ("\n\nserver = ", &[":3:"]),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.lines().count(), 1, "{error}");
            for word in words {
                assert!(error.contains(word), "{word} is not in {error}");
            }
        }
        let settings = parse("# mine\nserver = [\"tls:gpu1\", \"nonsense\"]").unwrap();
        let error = settings.servers().unwrap_err().to_string();
        assert!(error.contains("config.toml:2: \"nonsense\""), "{error}");
    }

    #[test]
    fn limits_are_within_their_ranges() {
        let settings = parse("idle_timeout = 0\nmemory_total = 512\naudit = \"log\"").unwrap();
        let error = settings.idle_timeout().unwrap_err().to_string();
        assert!(
            error.contains("config.toml:1: idle_timeout is 0, and must be from 1"),
            "{error}"
        );
        assert_eq!(settings.memory_total().unwrap().unwrap().value, 512);
        let audit = settings.audit().unwrap().unwrap();
        assert_eq!(audit.value, Path::new("/home/me/log"));
        assert!(settings.max_sessions_per_client().unwrap().is_none());
        let settings = parse("max_sessions_per_token = 3").unwrap();
        let limit = settings.max_sessions_per_token().unwrap().unwrap();
        assert_eq!(limit.value, 3);
    }

    #[test]
    fn values_have_sources() {
        let settings = parse("token_file = \"secret\"\nserver = [\"tls:a\", \"tls:b:1\"]").unwrap();
        let servers = settings.servers().unwrap().unwrap();
        let all: Vec<String> = servers.value.iter().map(Address::to_string).collect();
        assert_eq!(all, ["tls:a:7500", "tls:b:1"]);
        assert_eq!(servers.source.to_string(), "/home/me/config.toml:2");
    }
}
