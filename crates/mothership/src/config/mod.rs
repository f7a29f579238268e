//! The configuration of walls, as a user writes it: hosts, servers, and walls. All code that reads
//! walls from a file uses this one format. [`schema`] and `docs/walls.md` are the reference.

mod drawing;
mod file;
mod mistakes;
mod reading;
mod table;
mod values;
mod walls;
mod writing;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use mgn_fabric::{Address, Transport};
use mgn_wall::{Target, Wall};

pub(crate) use reading::is_vague;

pub use file::schema;
pub use mistakes::{Mistake, Mistakes};

/// The contents of a file. Names are unique, and every name that is referred to exists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    pub mothership: Mothership,
    pub hosts: Vec<Host>,
    pub servers: Vec<Server>,
    pub walls: Vec<WallPlan>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Mothership {
    pub listen: Vec<Address>,
    /// The address at which servers on other hosts find the mothership.
    pub address: Option<Address>,
    /// The file with the token that servers are started with. Without a token store, this is the
    /// only token that the mothership admits.
    pub token_file: Option<PathBuf>,
    /// The file with the tokens that the mothership and its servers admit.
    pub token_store: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    pub name: String,
    /// Its name or IP address in the network.
    pub address: Option<String>,
    /// The relay through which programs on other hosts reach the servers, by the servers' names.
    pub relay: Option<Address>,
    pub start: Start,
    /// The path of the token on this host. Without it, the same path as on the mothership's host.
    pub token_file: Option<PathBuf>,
    /// The path of the token store on this host. Without it, the same path as on the mothership's
    /// host.
    pub token_store: Option<PathBuf>,
}

/// How servers are started on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// As processes on the mothership's host.
    Here,
    /// By `ssh destination command server ...`.
    Ssh {
        destination: String,
        command: String,
    },
    /// Not by the mothership.
    No,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    pub name: String,
    /// The name of its host. Without it, the server runs on the mothership's host.
    pub host: Option<String>,
    /// Empty for servers that the mothership does not start.
    pub listen: Vec<Address>,
    /// The transports that clients may use; empty for all.
    pub transports: Vec<Transport>,
    pub discard: bool,
    /// The name of the file with its own token, in the folder of the mothership's token.
    pub token_file: Option<String>,
    /// The stages of its walls, and then its own stages.
    pub chain: Vec<Stage>,
}

/// A wall, and the servers that render its tiles.
#[derive(Debug, Clone, PartialEq)]
pub struct WallPlan {
    pub wall: Wall,
    /// The name of the server of each tile. All names are empty in a file without servers.
    pub servers: Vec<String>,
    /// The names of walls that show the same.
    pub replicas: Vec<String>,
    /// The stages of its servers. The servers' own chains also contain these stages.
    pub chain: Vec<Stage>,
    /// The stages in the processes of its programs.
    pub client_chain: Vec<Stage>,
}

/// A stage of a chain of stream processing units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    pub name: String,
    pub parameters: BTreeMap<String, String>,
}

/// Writes the stage in the form that `mgn server --spu` accepts.
impl fmt::Display for Stage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        for (n, (name, value)) in self.parameters.iter().enumerate() {
            write!(out, "{}{name}={value}", if n == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

/// The available stream processing units, as far as a configuration needs to know them.
#[derive(Debug, Clone, Copy)]
pub struct Units<'u> {
    pub names: &'u [&'u str],
    /// Whether this parameter of this unit is a path.
    pub is_path: fn(&str, &str) -> bool,
    /// Whether a server can have a stage. The stage must name an available unit.
    pub for_server: fn(&Stage) -> Result<(), StageFault>,
    /// Whether a program can have a stage in its own process. The stage must name an available
    /// unit.
    pub for_client: fn(&Stage) -> Result<(), StageFault>,
}

impl Default for Units<'_> {
    /// No units.
    fn default() -> Self {
        Units {
            names: &[],
            is_path: |_, _| false,
            for_server: |_| Ok(()),
            for_client: |_| Ok(()),
        }
    }
}

/// The reason why a server or a program cannot have a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageFault {
    /// The wrong parameter, if a parameter is the reason.
    pub parameter: Option<String>,
    /// One sentence.
    pub what: String,
}

/// The reason why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}: {source}{}", path.display(), similar_file(path))]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{0}")]
    Mistakes(Mistakes),
    /// A wall in JSON, the format of earlier versions.
    #[error("{}: walls are no longer written in JSON; {}", path.display(), now(instead))]
    Json {
        path: PathBuf,
        /// The same wall in TOML, if the file contains a valid wall.
        instead: Option<String>,
    },
    #[error("{} has no wall{}; {}", path.display(), called(name), known(walls))]
    NoWall {
        path: PathBuf,
        name: Option<String>,
        walls: Vec<String>,
    },
    #[error("{} has several walls; add a colon and the name of one, as in {}:{}", path.display(), path.display(), walls[0])]
    WhichWall { path: PathBuf, walls: Vec<String> },
    #[error("no server is named for the wall {0}; add a [[server]] for a mothership, or use the file with `mgn run --wall FILE`")]
    Undrawn(String),
}

impl ConfigError {
    /// The error for a file that contains JSON, even if this is not a valid wall.
    pub fn json(path: &Path, text: &str) -> ConfigError {
        ConfigError::Json {
            path: path.into(),
            instead: Wall::from_json(text)
                .ok()
                .map(|wall| writing::toml_of(&wall)),
        }
    }
}

fn now(instead: &Option<String>) -> String {
    match instead {
        Some(text) => {
            format!("write this to a file whose name ends with .toml, and use that file:\n\n{text}")
        }
        None => "write a [[wall]] in TOML, see manganese-walls(5)".into(),
    }
}

/// Advice for a missing file: the most similar name in its folder.
fn similar_file(path: &Path) -> String {
    let wanted = path.file_stem().unwrap_or_default().to_string_lossy();
    if path.exists() {
        return String::new();
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let files = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    let names: Vec<String> = files
        .into_iter()
        .flatten()
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
        .collect();
    match table::closest(&wanted, names.iter().map(String::as_str)) {
        Some(name) => {
            let meant = path.with_file_name(format!("{name}.toml"));
            format!("; did you mean {}?", meant.display())
        }
        None => String::new(),
    }
}

fn called(name: &Option<String>) -> String {
    name.as_ref()
        .map_or(String::new(), |name| format!(" called {name}"))
}

fn known(walls: &[String]) -> String {
    match walls {
        [] => "it has none; add a [[wall]]".into(),
        walls => format!("it has {}", walls.join(", ")),
    }
}

impl Default for Mothership {
    /// A mothership for this host only.
    fn default() -> Mothership {
        Mothership {
            listen: vec![crate::default_address()],
            address: None,
            token_file: None,
            token_store: None,
        }
    }
}

impl Config {
    /// Reads a file. Paths in the file are relative to its folder. Chains may name only stages of
    /// `units`.
    ///
    /// # Errors
    /// [`ConfigError`] for a file that cannot be read, and for a file with mistakes. It lists all
    /// mistakes.
    pub fn read(path: &Path, units: Units<'_>) -> Result<Config, ConfigError> {
        let unreadable = |source| ConfigError::Unreadable {
            path: path.into(),
            source,
        };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Config::parse(&text, path, units)
    }

    /// Reads the text of the file `path`.
    pub(crate) fn parse(text: &str, path: &Path, units: Units<'_>) -> Result<Config, ConfigError> {
        if text.trim_start().starts_with('{') {
            return Err(ConfigError::json(path, text));
        }
        let folder = std::path::absolute(path).map_err(|source| ConfigError::Unreadable {
            path: path.into(),
            source,
        })?;
        let folder = folder.parent().unwrap_or(Path::new("/"));
        reading::read(text, folder, units)
            .map_err(|found| Mistakes::new(&path.display().to_string(), text, found))
            .map_err(ConfigError::Mistakes)
    }

    /// Reads a wall of a file, and joins its replicas to it. `name` is needed only if the file has
    /// several walls.
    ///
    /// # Errors
    /// [`ConfigError`] as for [`Config::read`], if the file has no such wall, and if `name` is
    /// missing but needed.
    pub fn read_wall(
        path: &Path,
        name: Option<&str>,
        units: Units<'_>,
    ) -> Result<WallPlan, ConfigError> {
        let config = Config::read(path, units)?;
        let walls = || {
            config
                .walls
                .iter()
                .map(|plan| plan.wall.name.clone())
                .collect()
        };
        let path = || path.to_path_buf();
        let plan = match (name, &config.walls[..]) {
            (Some(name), _) => config.wall(name),
            (None, [plan]) => Some(plan),
            (None, []) => None,
            (None, _) => {
                let (path, walls) = (path(), walls());
                return Err(ConfigError::WhichWall { path, walls });
            }
        };
        let Some(plan) = plan else {
            return Err(ConfigError::NoWall {
                path: path(),
                name: name.map(str::to_owned),
                walls: walls(),
            });
        };
        let mut plan = plan.clone();
        let others = plan.replicas.iter().filter_map(|name| config.wall(name));
        let others = others.map(|other| other.wall.clone());
        // The number of tiles was checked when the file was read.
        if let Ok(wall) = plan.wall.clone().with_replicas(others) {
            plan.wall = wall;
        }
        Ok(plan)
    }

    /// Checks that each tile has a server, as a mothership requires.
    ///
    /// # Errors
    /// [`ConfigError::Undrawn`].
    pub fn check_drawn(&self) -> Result<(), ConfigError> {
        let undrawn = |plan: &&WallPlan| plan.servers.iter().any(String::is_empty);
        match self.walls.iter().find(undrawn) {
            Some(plan) => Err(ConfigError::Undrawn(plan.wall.name.clone())),
            None => Ok(()),
        }
    }

    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == name)
    }

    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    pub fn wall(&self, name: &str) -> Option<&WallPlan> {
        self.walls.iter().find(|plan| plan.wall.name == name)
    }

    /// The targets, other than programs' own windows, to which this server sends pictures of walls.
    pub fn targets(&self, server: &Server) -> Vec<Target> {
        let mut targets: Vec<Target> = Vec::new();
        let tiles = self.walls.iter().flat_map(|plan| {
            let tiles = plan.wall.tiles.iter().zip(&plan.servers);
            tiles.filter(|(_, name)| **name == server.name)
        });
        for target in tiles.flat_map(|(tile, _)| &tile.present) {
            if *target != Target::Program && !targets.iter().any(|known| known.is_at(target)) {
                targets.push(target.clone());
            }
        }
        targets
    }

    /// How this server is started.
    pub fn start(&self, server: &Server) -> Start {
        let host = server.host.as_deref().and_then(|name| self.host(name));
        host.map_or(Start::Here, |host| host.start.clone())
    }
}

#[cfg(test)]
mod tests;
