//! The settings that `mgn run` passes to the library through the environment.

use mgn_barrier::Choice;
use mgn_composite::Recipe;
use mgn_fabric::{Address, PublicKey, Transport};
use mgn_spu::Chain;
use mgn_wall::{Tile, Wall};
use mgn_wire::hello::SharedWindow;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// How long programs wait for each other to composite or to swap, by default.
const GROUP_TIMEOUT: Duration = Duration::from_secs(60);

/// The settings, which are read once, when the program first needs a server.
#[derive(Debug)]
pub struct Options {
    /// One server for all tiles of the wall, or one for each tile. A placeholder if commands are
    /// discarded or recorded.
    pub servers: Vec<Server>,
    pub wall: Option<Wall>,
    /// The token file for servers that have no token of their own.
    pub token_file: Option<PathBuf>,
    /// Whether pictures are shown in the program's windows.
    pub present: bool,
    pub save: Option<Save>,
    /// Ends the program after this number of frames.
    pub frames: Option<u64>,
    pub run_dir: Option<PathBuf>,
    /// Whether to count the commands that are sent, which requires examining each of them.
    pub count_commands: bool,
    /// Whether the program continues, without drawing, when the server is lost. Otherwise it ends.
    pub continue_on_loss: bool,
    pub weld: Weld,
    /// The window that this program draws into together with others.
    pub window: Option<SharedWindow>,
    /// The stages in this process: all commands pass through them.
    pub chain: Chain,
    /// Set if the pictures of several programs are composited.
    pub composite: Option<Composite>,
    /// Set if the swaps of several programs wait for each other.
    pub swap_barrier: Option<SwapBarrier>,
}

/// The settings of the swap barrier.
#[derive(Clone, Debug)]
pub struct SwapBarrier {
    pub choice: Choice,
    /// How long the programs wait for each other.
    pub patience: Duration,
}

/// The settings of compositing.
#[derive(Clone, Debug)]
pub struct Composite {
    pub recipe: Recipe,
    /// How long the programs wait for each other.
    pub patience: Duration,
}

/// A render server and the settings of its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub address: Address,
    pub transport: Transport,
    /// The user has not chosen the transport, so another one may be used.
    pub is_any_transport: bool,
    /// The file with its token, if it has a token of its own.
    pub token_file: Option<PathBuf>,
    /// The server's public key, if the mothership has named it.
    pub key: Option<PublicKey>,
}

impl fmt::Display for Server {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.transport {
            // A TCP address names its transport, or says that it is encrypted.
            Transport::Tcp => write!(out, "{}", self.address),
            transport => write!(out, "{} by {transport}", self.address),
        }
    }
}

/// When repeated vertices of a run of immediate mode are sent only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weld {
    /// When the server is behind.
    Auto,
    Always,
    Never,
}

#[derive(Clone, Debug)]
pub struct Save {
    pub dir: PathBuf,
    pub every: u64,
    pub format: String,
}

/// Whether the program continues without its server. Use this if the other options may be invalid.
pub fn continues_on_loss() -> bool {
    std::env::var("MGN_ON_LOSS").is_ok_and(|wish| wish == "continue")
}

impl Options {
    /// Whether anything is shown in the program's own windows.
    pub fn shows_windows(&self) -> bool {
        let wall = self.wall.as_ref();
        self.present && wall.is_none_or(|wall| wall.tiles.iter().any(Tile::is_in_program))
    }

    /// Whether servers show a window of the program.
    pub fn shows_wall(&self) -> bool {
        let mut tiles = self.wall.iter().flat_map(|wall| &wall.tiles);
        tiles.any(Tile::is_shown_there)
    }

    /// Reads the environment through `var`.
    ///
    /// # Errors
    /// One sentence that names the variable and what it should be.
    pub fn read(var: impl Fn(&str) -> Option<String>) -> Result<Options, String> {
        let servers = servers(
            &var("MGN_SERVER").unwrap_or_default(),
            &var("MGN_TRANSPORT").unwrap_or_default(),
            &var("MGN_TOKEN_FILES").unwrap_or_default(),
            &var("MGN_SERVER_KEYS").unwrap_or_default(),
        )?;
        let wall = var("MGN_WALL")
            .filter(|text| !text.is_empty())
            .map(|text| Wall::from_json(&text).map_err(|e| format!("MGN_WALL: {e}")))
            .transpose()?;
        let window = window(&var)?;
        let save = match var("MGN_SAVE_DIR") {
            None => None,
            Some(dir) => Some(Save {
                dir: dir.into(),
                every: number(&var, "MGN_SAVE_EVERY")?.unwrap_or(1),
                format: var("MGN_SAVE_FORMAT").unwrap_or_else(|| "png".into()),
            }),
        };
        Ok(Options {
            servers,
            wall,
            window,
            token_file: var("MGN_TOKEN_FILE").map(PathBuf::from),
            present: match var("MGN_PRESENT").as_deref() {
                None | Some("") | Some("window") => true,
                Some("none") => false,
                Some(other) => {
                    return Err(format!("MGN_PRESENT={other} is neither window nor none"))
                }
            },
            save,
            frames: number(&var, "MGN_FRAMES")?,
            run_dir: var("MGN_RUN_DIR").map(PathBuf::from),
            count_commands: var("MGN_COUNT_COMMANDS").is_some(),
            continue_on_loss: match var("MGN_ON_LOSS").as_deref() {
                None | Some("") | Some("exit") => false,
                Some("continue") => true,
                Some(other) => {
                    return Err(format!("MGN_ON_LOSS={other} is neither exit nor continue"))
                }
            },
            composite: match var("MGN_COMPOSITE").filter(|text| !text.is_empty()) {
                None => None,
                Some(text) => Some(Composite {
                    recipe: text
                        .parse()
                        .map_err(|error| format!("MGN_COMPOSITE={text}: {error}"))?,
                    patience: number(&var, "MGN_COMPOSITE_TIMEOUT")?
                        .map_or(GROUP_TIMEOUT, Duration::from_secs),
                }),
            },
            swap_barrier: match var("MGN_SWAP_BARRIER").filter(|text| !text.is_empty()) {
                None => None,
                Some(text) => Some(SwapBarrier {
                    choice: text
                        .parse()
                        .map_err(|error| format!("MGN_SWAP_BARRIER={text}: {error}"))?,
                    patience: number(&var, "MGN_SWAP_TIMEOUT")?
                        .map_or(GROUP_TIMEOUT, Duration::from_secs),
                }),
            },
            chain: var("MGN_CLIENT_CHAIN").map_or(Ok(Chain::default()), |text| chain(&text))?,
            weld: match var("MGN_WELD").as_deref() {
                None | Some("") | Some("auto") => Weld::Auto,
                Some("always") => Weld::Always,
                Some("never") => Weld::Never,
                Some(other) => {
                    return Err(format!(
                        "MGN_WELD={other} is none of auto, always and never"
                    ))
                }
            },
        })
    }
}

/// The name of a shared window, and the number of its programs.
fn window(var: &impl Fn(&str) -> Option<String>) -> Result<Option<SharedWindow>, String> {
    const NAME: &str = "MGN_SHARED_WINDOW";
    const CLIENTS: &str = "MGN_WINDOW_CLIENTS";
    const WAIT: &str = "MGN_WINDOW_WAIT";
    let Some(name) = var(NAME).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    if name.len() > SharedWindow::NAME_MAX {
        let most = SharedWindow::NAME_MAX;
        return Err(format!("{NAME} is longer than {most} bytes"));
    }
    let at_most = |variable: &str, most: u32| match number(var, variable)? {
        None => Ok(None),
        Some(n) => match u32::try_from(n).ok().filter(|n| *n <= most) {
            Some(n) => Ok(Some(n)),
            None => Err(format!("{variable}={n} is more than {most}")),
        },
    };
    Ok(Some(SharedWindow {
        name,
        clients: at_most(CLIENTS, SharedWindow::CLIENTS_MAX)?,
        patience: at_most(WAIT, SharedWindow::PATIENCE_MAX)?
            .unwrap_or(SharedWindow::PATIENCE_DEFAULT),
    }))
}

/// Parses a chain: one stage per line.
fn chain(text: &str) -> Result<Chain, String> {
    let stages = text.lines().map(str::parse).collect::<Result<_, _>>();
    let chain = stages.and_then(Chain::on_client);
    chain.map_err(|e| format!("MGN_CLIENT_CHAIN: {e}"))
}

/// Parses the servers. `addresses` has one per line. `transports` has none, one for all servers, or
/// one per line. Each line of `tokens` may name a file, and each line of `keys` may have a server's
/// public key.
pub fn servers(
    addresses: &str,
    transports: &str,
    tokens: &str,
    keys: &str,
) -> Result<Vec<Server>, String> {
    let address =
        |text| Address::of_server(text).map_err(|e| format!("MGN_SERVER={addresses}: {e}"));
    let addresses: Vec<Address> = addresses.lines().map(address).collect::<Result<_, _>>()?;
    let transport =
        |text| Transport::from_str(text).map_err(|e| format!("MGN_TRANSPORT={transports}: {e}"));
    let ways: Vec<Transport> = transports
        .lines()
        .map(transport)
        .collect::<Result<_, _>>()?;
    let is_any_transport = ways.is_empty();
    let nobody = |way: &Transport| matches!(way, Transport::Null | Transport::File(_));
    let ways = match &ways[..] {
        [] => addresses.iter().map(Address::transport).collect(),
        [way] if nobody(way) => {
            return Ok(vec![Server {
                address: Address::Abstract("nobody".into()),
                transport: way.clone(),
                is_any_transport: false,
                token_file: None,
                key: None,
            }])
        }
        [way] => vec![way.clone(); addresses.len()],
        ways if ways.len() == addresses.len() && !ways.iter().any(nobody) => ways.to_vec(),
        _ => {
            return Err(format!(
                "MGN_TRANSPORT={transports} should be one transport for all servers, or shm, unix or tcp for each"
            ))
        }
    };
    let named = |file: &str| (!file.is_empty()).then(|| PathBuf::from(file));
    let tokens = tokens.lines().map(named).chain(std::iter::repeat(None));
    let key = |text: &str| match text {
        "" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|e| format!("MGN_SERVER_KEYS: {e}")),
    };
    let keys: Vec<Option<PublicKey>> = keys.lines().map(key).collect::<Result<_, String>>()?;
    let keys = keys.into_iter().chain(std::iter::repeat(None));
    let server = |(((address, transport), token_file), key)| Server {
        address,
        transport,
        is_any_transport,
        token_file,
        key,
    };
    Ok(addresses
        .into_iter()
        .zip(ways)
        .zip(tokens)
        .zip(keys)
        .map(server)
        .collect())
}

fn number(var: &impl Fn(&str) -> Option<String>, name: &str) -> Result<Option<u64>, String> {
    match var(name) {
        None => Ok(None),
        Some(text) => match text.parse() {
            Ok(0) | Err(_) => Err(format!("{name}={text} is not a number above 0")),
            Ok(n) => Ok(Some(n)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Options, String> {
        Options::read(|name| {
            let pair = pairs.iter().find(|(n, _)| *n == name);
            pair.map(|(_, v)| v.to_string())
        })
    }

    #[test]
    fn every_server_has_a_transport() {
        let transports = |servers: &str, transports: &str| -> Vec<String> {
            let read = read(&[("MGN_SERVER", servers), ("MGN_TRANSPORT", transports)]);
            let servers = read.unwrap().servers;
            servers.iter().map(|s| s.transport.to_string()).collect()
        };
        let both = "unix:/tmp/x\ntls:[::1]:7000";
        assert_eq!(transports(both, ""), ["shm", "tcp"]);
        assert_eq!(transports(both, "unix\ntcp"), ["unix", "tcp"]);
        assert_eq!(transports("unix:@a\nunix:@b", "unix"), ["unix", "unix"]);
        let any = |transports: &str| {
            let read = read(&[("MGN_SERVER", "unix:@a"), ("MGN_TRANSPORT", transports)]);
            read.unwrap().servers[0].is_any_transport
        };
        assert!(any("") && !any("shm"));
        assert_eq!(transports("", "file:/tmp/rec"), ["file:/tmp/rec"]);
        assert_eq!(transports(both, "null"), ["null"]);
    }

    #[test]
    fn mistakes_name_the_variable() {
        for (name, value) in [
            ("MGN_SERVER", "nonsense"),
            ("MGN_TRANSPORT", "pigeon"),
            ("MGN_TRANSPORT", "shm\ntcp"),
            ("MGN_TRANSPORT", "null\nnull"),
            ("MGN_WALL", "2x"),
            ("MGN_WALL", "{}"),
            ("MGN_FRAMES", "0"),
            ("MGN_FRAMES", "x"),
            ("MGN_PRESENT", "tv"),
            ("MGN_ON_LOSS", "cry"),
            ("MGN_WELD", "glue"),
            ("MGN_SHARED_WINDOW", &"x".repeat(101)),
            ("MGN_COMPOSITE", "deph"),
            ("MGN_SWAP_BARRIER", "dissemnation"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
        for (name, value) in [
            ("MGN_WINDOW_CLIENTS", "0"),
            ("MGN_WINDOW_CLIENTS", "257"),
            ("MGN_WINDOW_WAIT", "x"),
            ("MGN_WINDOW_WAIT", "4000"),
        ] {
            let error = read(&[("MGN_SHARED_WINDOW", "w"), (name, value)]).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
        let error = read(&[("MGN_SAVE_DIR", "/tmp/s"), ("MGN_SAVE_EVERY", "-1")]).unwrap_err();
        assert!(error.contains("MGN_SAVE_EVERY"));
    }
}
