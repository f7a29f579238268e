//! Settings that apply where no flag is given: environment variables, then the user's file, then
//! defaults.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Context;
use mgn_fabric::Address;
use mgn_sys::user::{settings_folder, state_folder};
use serde::Deserialize;
use toml::Spanned;

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Environment(&'static str),
    File {
        path: PathBuf,
        line: usize,
    },
    /// Neither a variable nor the file sets it.
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

/// A value that applies, and its source.
#[derive(Clone, Debug)]
pub struct Set<T> {
    pub value: T,
    pub source: Source,
}

/// The user's file, if there is one.
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

/// The description of a key in manganese-config(5).
pub struct Key {
    pub name: &'static str,
    pub kind: &'static str,
    /// The environment variable that overrides the key.
    pub variable: Option<&'static str>,
    pub meaning: &'static str,
    /// The value without the key.
    pub default: &'static str,
}

pub const KEYS: [Key; 12] = [
    Key {
        name: "server",
        kind: "address, or a list of addresses",
        variable: Some("MGN_SERVER"),
        meaning: "The server that renders, in the form of --server. A list has one server for each tile of a wall. The variable separates several by spaces.",
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
        meaning: "The file with the token that is used to connect to servers. A relative path is relative to the folder of config.toml.",
        default: "the file token in the same folder, if there is one; mgn token new makes it",
    },
    Key {
        name: "token_store",
        kind: "path",
        variable: Some("MGN_TOKEN_STORE"),
        meaning: "The file with the tokens that servers admit. mgn token adds and removes tokens in it. A relative path is relative to the folder of config.toml.",
        default: "the file tokens in the same folder; mgn token new makes it",
    },
    Key {
        name: "server_key",
        kind: "path",
        variable: Some("MGN_SERVER_KEY"),
        meaning: "The file with the private key of servers at tls: addresses. A relative path is relative to the folder of config.toml.",
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
        meaning: "The name or path of mgn on other hosts, as for --ssh-mgn.",
        default: "mgn",
    },
    Key {
        name: "max_sessions_per_client",
        kind: "number",
        variable: None,
        meaning: "How many sessions of one client mgn server serves at the same time, as for --max-sessions-per-client.",
        default: "for addresses a quarter of --max-sessions, but at least 32; for users of the machine no limit of their own",
    },
    Key {
        name: "max_sessions_per_token",
        kind: "number",
        variable: None,
        meaning: "How many sessions of clients with the same token mgn server serves at the same time, as for --max-sessions-per-token.",
        default: "no limit",
    },
    Key {
        name: "memory_total",
        kind: "number of MiB",
        variable: None,
        meaning: "How much memory the sessions of mgn server may use together, as for --memory-total.",
        default: "three quarters of the memory of the machine, or of the server's control group",
    },
    Key {
        name: "idle_timeout",
        kind: "number of seconds",
        variable: None,
        meaning: "How long programs may send nothing to mgn server before their sessions end, as for --idle-timeout.",
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
    /// If the file cannot be read or parsed. The text is one line with the file, the line, and
    /// advice.
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

    /// The path of the file, which may not exist.
    pub fn path() -> Option<PathBuf> {
        Some(settings_folder()?.join("config.toml"))
    }

    /// The default path of the token.
    pub fn default_token() -> Option<PathBuf> {
        Some(settings_folder()?.join("token"))
    }

    /// Whether the file exists.
    pub fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// The servers of programs for which no flag names one. In a program that `mgn run` has
    /// started, the variable is for the client library, and is ignored here.
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

    /// The address of the mothership.
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

    /// The file with the token. The default file may not exist.
    pub fn token_file(&self) -> anyhow::Result<Option<Set<PathBuf>>> {
        self.path_of(
            "MGN_TOKEN_FILE",
            |written| written.token_file.as_ref(),
            Settings::default_token(),
        )
    }

    /// The file with the tokens that are admitted. The default file may not exist.
    pub fn token_store(&self) -> anyhow::Result<Option<Set<PathBuf>>> {
        let default = settings_folder().map(|folder| folder.join("tokens"));
        self.path_of(
            "MGN_TOKEN_STORE",
            |written| written.token_store.as_ref(),
            default,
        )
    }

    /// The file with the key of servers. The default file may not exist.
    pub fn server_key(&self) -> anyhow::Result<Option<Set<PathBuf>>> {
        let default = state_folder().map(|folder| folder.join("server.key"));
        self.path_of(
            "MGN_SERVER_KEY",
            |written| written.server_key.as_ref(),
            default,
        )
    }

    fn path_of(
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

    /// The name or path of `mgn` on other machines.
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

    /// A value of the file, parsed by `read`.
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
                None => format!("use one of {}", KEYS.map(|known| known.name).join(", ")),
            };
            anyhow::bail!("{place}: there is no setting {key:?}; {advice}");
        }
        anyhow::bail!("{place}: {}", error.message().replace('\n', " "))
    }
}

/// The key whose name is most similar, if any is similar.
fn closest(key: &str) -> Option<&'static str> {
    let plain = key.replace('-', "_");
    let distances = KEYS.map(|known| {
        let distance = strsim::damerau_levenshtein(known.name, &plain);
        (distance, known.name)
    });
    let (distance, known) = distances.into_iter().min()?;
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

/// Checks that a number of the file is in `range`.
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
                &[":1:", "\"colour\"", "use one of server, mothership"],
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
