//! The flags of commands about walls.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::{Args, Subcommand};
use mgn_fabric::Address;
use mgn_mothership::config::{ConfigError, WallPlan};
use mgn_wall::{Wall, WallError};

use super::Keys;

/// The wall that a picture is divided into.
#[derive(Clone, Debug)]
pub enum WallName {
    Tiles(Wall),
    /// A wall of the mothership's configuration.
    Named(String),
    /// A wall of a file, or the reason why there is none, which is reported when the wall is
    /// needed.
    File(Result<Box<WallPlan>, Arc<ConfigError>>),
}

impl WallName {
    /// All walls as one. `None` if there is no wall, or if only the mothership knows one of them.
    pub fn tiles(all: &[WallName]) -> anyhow::Result<Option<Wall>> {
        let mut walls = Vec::new();
        for name in all {
            match name {
                WallName::Tiles(wall) => walls.push(wall.clone()),
                WallName::Named(_) => return Ok(None),
                WallName::File(plan) => walls.push(plan.clone()?.wall),
            }
        }
        let mut walls = walls.into_iter();
        let first = walls.next();
        Ok(first.map(|first| first.with_replicas(walls)).transpose()?)
    }

    /// The walls that are described in files.
    pub fn plans(all: &[WallName]) -> impl Iterator<Item = &WallPlan> {
        all.iter().filter_map(|name| match name {
            WallName::File(Ok(plan)) => Some(&**plan),
            _ => None,
        })
    }

    /// The name of the first wall that is given by name.
    pub fn first_name(all: &[WallName]) -> Option<&str> {
        all.iter().find_map(|name| match name {
            WallName::Named(name) => Some(name.as_str()),
            WallName::Tiles(_) | WallName::File(_) => None,
        })
    }

    /// A wall in a file, named FILE or FILE:WALL, if this is such a name.
    fn in_file(text: &str) -> Option<WallName> {
        let is_file =
            |name: &str| name.contains('/') || name.ends_with(".toml") || name.ends_with(".json");
        let (file, name) = match text.rsplit_once(':') {
            Some((file, name)) if is_file(file) && !is_file(name) => (file, Some(name)),
            _ if is_file(text) => (text, None),
            _ => return None,
        };
        let plan = mgn_mothership::Config::read_wall(Path::new(file), name, crate::config::UNITS);
        Some(WallName::File(plan.map(Box::new).map_err(Arc::new)))
    }
}

impl FromStr for WallName {
    type Err = WallError;

    fn from_str(text: &str) -> Result<WallName, WallError> {
        if text.starts_with('{') {
            let error = ConfigError::json(Path::new("--wall"), text);
            return Ok(WallName::File(Err(Arc::new(error))));
        }
        if let Some(wall) = WallName::in_file(text) {
            return Ok(wall);
        }
        match text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => Ok(WallName::Named(text.into())),
            false => text.parse().map(WallName::Tiles),
        }
    }
}

/// Start a mothership, which matches programs with render servers.
///
/// Servers register with `mgn server --mothership`, or the mothership starts them as its
/// configuration says, here or by ssh. Programs ask for servers with `mgn run --mothership`.
///
/// Commands and pictures do not pass through the mothership. If it ends other than by `mgn stop` or
/// an interrupt, programs and servers continue, and register again with the next mothership.
#[derive(Debug, Args)]
pub struct Mothership {
    /// The configuration of walls, in TOML; see manganese-walls(5)
    pub config: Option<PathBuf>,

    /// Listen on ADDR instead of the addresses in the configuration; may be repeated
    ///
    /// The default port is 7400.
    ///
    /// [default: unix:@manganese-mothership]
    #[arg(long, value_name = "ADDR", value_parser = Address::of_mothership)]
    pub listen: Vec<Address>,

    #[command(flatten)]
    pub keys: Keys,
}

/// How to reach the mothership.
#[derive(Debug, Args)]
pub struct Contact {
    /// The mothership's address
    ///
    /// [default: `mothership` in config.toml, or unix:@manganese-mothership]
    #[arg(long, value_name = "ADDR", env = "MGN_MOTHERSHIP")]
    #[arg(value_parser = Address::of_mothership)]
    pub mothership: Option<Address>,

    /// File with the token for a mothership over TCP; see `mgn token`
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,
}

/// Show the servers and programs that the mothership knows.
///
/// The tables show which servers render for which program, and what each waiting program waits for.
#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    pub contact: Contact,

    /// Print JSON, for programs to read
    #[arg(long)]
    pub json: bool,
}

/// Stop the mothership and the servers that it has started.
#[derive(Debug, Args)]
pub struct Stop {
    #[command(flatten)]
    pub contact: Contact,
}

#[derive(Debug, Subcommand)]
pub enum Config {
    /// Find mistakes in a configuration of walls
    ///
    /// Every mistake is shown with its line and how to correct it. The exit status is 1 if there
    /// are mistakes.
    Check {
        /// The configuration, in TOML
        file: PathBuf,
    },
    /// Draw the walls of a configuration in the terminal
    ///
    /// Every wall is drawn to scale, at most as wide as the terminal, with the names and servers
    /// of its tiles. ░ marks areas behind bezels, and ▒ areas that several tiles show. Below
    /// are lists of hosts and servers.
    Show {
        /// The configuration, in TOML
        file: PathBuf,
    },
    /// Print the JSON Schema of configurations, for editors
    ///
    /// Save the output to a file. An editor that supports TOML schemas checks and completes a
    /// configuration whose first line is `#:schema` and the name of that file.
    Schema,
}
