//! What a wall is made of, as a person writes it down: hosts, servers, walls. `docs/walls.md` is the reference.

mod drawing;
mod mistakes;
mod reading;
mod section;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mgn_fabric::{Address, Transport};
use mgn_wall::{Target, Wall};
use serde::{Deserialize, Serialize};

pub(crate) use reading::is_vague;

pub use mistakes::{Mistake, Mistakes};

/// Everything that a file says. Names are unique, and those that are mentioned exist.
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
    /// Where servers on other hosts find it.
    pub address: Option<Address>,
    pub token_file: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    pub name: String,
    /// Its name or number in the network.
    pub address: Option<String>,
    /// Carries programs on other hosts to the servers, each by its name.
    pub relay: Option<Address>,
    pub start: Start,
    /// Where the token is on this host, if not where it is on the mothership's.
    pub token_file: Option<PathBuf>,
}

/// How servers are started on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// As processes beside the mothership.
    Here,
    /// By `ssh destination command server ...`.
    Ssh {
        destination: String,
        command: String,
    },
    /// By somebody else.
    No,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    pub name: String,
    /// Without one, where the mothership is.
    pub host: Option<String>,
    /// Empty for servers that somebody else starts.
    pub listen: Vec<Address>,
    /// How clients may reach it; empty for any way.
    pub transports: Vec<Transport>,
    pub discard: bool,
    pub chain: Vec<Stage>,
}

/// A wall, and who renders its tiles.
#[derive(Debug, Clone, PartialEq)]
pub struct WallPlan {
    pub wall: Wall,
    /// The names of one for each of the wall's tiles.
    pub servers: Vec<String>,
    pub windows: Windows,
    /// What commands pass through before they leave the program's process.
    pub chain: Vec<Stage>,
}

/// A stage of a chain of stream processing units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    pub name: String,
    pub parameters: BTreeMap<String, String>,
}

/// Which of a program's windows go to the wall: those that all of this holds for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// With `*` for any letters.
    pub title: Option<String>,
    /// The window's class or instance, likewise.
    pub class: Option<String>,
    /// Width and height that it has at least.
    pub min_size: (u32, u32),
    /// The how-manyth window it is of those that the rest holds for, from 1.
    pub nth: Option<u32>,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{0}")]
    Mistakes(Mistakes),
}

impl Default for Mothership {
    /// For this host alone.
    fn default() -> Mothership {
        Mothership {
            listen: vec![crate::default_address()],
            address: None,
            token_file: None,
        }
    }
}

impl Config {
    /// Reads a file. Paths in it are relative to its folder. `stages` are the stream processing units that there are.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn read(path: &Path, stages: &[&str]) -> Result<Config, ConfigError> {
        let unreadable = |source| ConfigError::Unreadable {
            path: path.into(),
            source,
        };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let folder = std::path::absolute(path).map_err(unreadable)?;
        let folder = folder.parent().unwrap_or(Path::new("/"));
        reading::read(&text, folder, stages)
            .map_err(|found| Mistakes::new(&path.display().to_string(), &text, found))
            .map_err(ConfigError::Mistakes)
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

    /// Where walls want to have pictures shown by a server, beside programs' own windows.
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

impl Windows {
    /// Whether a window goes to the wall that is the `nth` (from 1) of those for which [`Windows::fits`] holds.
    pub fn takes(&self, nth: u32) -> bool {
        self.nth.is_none_or(|wanted| wanted == nth)
    }

    /// Whether title, class or instance, and size are as they should be.
    pub fn fits(&self, title: &str, class: &[&str], size: (u32, u32)) -> bool {
        let is = |pattern: &Option<String>, texts: &[&str]| {
            let one = |pattern: &String| texts.iter().any(|text| like(pattern, text));
            pattern.as_ref().is_none_or(one)
        };
        is(&self.title, &[title])
            && is(&self.class, class)
            && size.0 >= self.min_size.0
            && size.1 >= self.min_size.1
    }
}

/// Whether a text is as a pattern says, in which `*` stands for any letters.
fn like(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests;
