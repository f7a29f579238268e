//! What `mgn run` tells the library through the environment.

use mgn_fabric::{Address, Transport};
use mgn_wall::Wall;
use std::path::PathBuf;
use std::str::FromStr;

/// Read once, when the program first needs a server.
#[derive(Debug)]
pub struct Options {
    /// One for all tiles of the wall, or one for each.
    pub servers: Vec<Address>,
    pub wall: Option<Wall>,
    pub transport: Transport,
    pub token_file: Option<PathBuf>,
    /// Whether pictures go into the program's windows.
    pub present: bool,
    pub save: Option<Save>,
    /// Ends the program after so many frames.
    pub frames: Option<u64>,
    pub run_dir: Option<PathBuf>,
    /// Whether somebody wants to know how many commands are sent, which costs a look at each.
    pub count_commands: bool,
    /// What happens when the server is lost: the program goes on blank, or ends.
    pub continue_on_loss: bool,
    pub weld: Weld,
}

/// When vertices that a run of immediate mode repeats are sent only once.
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

impl Options {
    /// Reads the environment through `var`.
    ///
    /// # Errors
    /// One sentence that names the variable and what it should be.
    pub fn read(var: impl Fn(&str) -> Option<String>) -> Result<Options, String> {
        let servers = var("MGN_SERVER").unwrap_or_default();
        let address =
            |text| Address::from_str(text).map_err(|e| format!("MGN_SERVER={servers}: {e}"));
        let servers: Vec<Address> = servers.lines().map(address).collect::<Result<_, _>>()?;
        let wall = var("MGN_WALL")
            .filter(|text| !text.is_empty())
            .map(|text| Wall::from_str(&text).map_err(|e| format!("MGN_WALL: {e}")))
            .transpose()?;
        let transport = match var("MGN_TRANSPORT").as_deref() {
            None | Some("") => servers.first().map_or(Transport::Shm, default_transport),
            Some("shm") => Transport::Shm,
            Some("unix") => Transport::Unix,
            Some("tcp") => Transport::Tcp,
            Some("null") => Transport::Null,
            Some(other) => match other.strip_prefix("file:") {
                Some(path) if !path.is_empty() => Transport::File(path.into()),
                _ => {
                    return Err(format!(
                        "MGN_TRANSPORT={other} is none of shm, unix, tcp, null and file:PATH"
                    ))
                }
            },
        };
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
            transport,
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

fn default_transport(address: &Address) -> Transport {
    match address {
        Address::Tcp { .. } => Transport::Tcp,
        _ => Transport::Shm,
    }
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
    fn the_transport_follows_the_address() {
        let tcp = read(&[("MGN_SERVER", "tcp:127.0.0.1:7000")]).unwrap();
        assert!(matches!(tcp.transport, Transport::Tcp));
        let shm = read(&[("MGN_SERVER", "unix:/tmp/x")]).unwrap();
        assert!(matches!(shm.transport, Transport::Shm));
        let file = read(&[("MGN_TRANSPORT", "file:/tmp/rec")]).unwrap();
        assert!(matches!(file.transport, Transport::File(_)));
    }

    #[test]
    fn mistakes_name_the_variable() {
        for (name, value) in [
            ("MGN_SERVER", "nonsense"),
            ("MGN_TRANSPORT", "pigeon"),
            ("MGN_WALL", "2x"),
            ("MGN_WALL", "{}"),
            ("MGN_FRAMES", "0"),
            ("MGN_FRAMES", "x"),
            ("MGN_PRESENT", "tv"),
            ("MGN_ON_LOSS", "cry"),
            ("MGN_WELD", "glue"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
        let error = read(&[("MGN_SAVE_DIR", "/tmp/s"), ("MGN_SAVE_EVERY", "-1")]).unwrap_err();
        assert!(error.contains("MGN_SAVE_EVERY"));
    }
}
