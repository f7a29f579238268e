//! The flags of commands about walls.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::{Args, Subcommand};
use mgn_fabric::Address;
use mgn_mothership::config::{ConfigError, WallPlan};
use mgn_wall::{Wall, WallError};

/// What a picture is divided among.
#[derive(Clone, Debug)]
pub enum WallName {
    Tiles(Wall),
    /// A wall of the mothership's configuration.
    Named(String),
    /// A wall of a file, or why there is none, which is said when it is needed.
    File(Result<Box<WallPlan>, Arc<ConfigError>>),
}

impl WallName {
    /// The walls as one, where none of them is the mothership's to know; none where there is no wall.
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

    /// What files say of walls.
    pub fn plans(all: &[WallName]) -> impl Iterator<Item = &WallPlan> {
        all.iter().filter_map(|name| match name {
            WallName::File(Ok(plan)) => Some(&**plan),
            _ => None,
        })
    }

    /// The name of the first that has one.
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

/// Bring programs and render servers together.
///
/// Servers come on line with `mgn server --mothership`, or are started as the configuration says, here or by ssh. Programs
/// ask with `mgn run --mothership`. What they draw does not go through the mothership: one that ends, other than by `mgn stop` or
/// an interrupt, disturbs nobody, and the next one finds everything as it was.
#[derive(Debug, Args)]
pub struct Mothership {
    /// What the walls are made of, in TOML; see manganese-walls(5)
    pub config: Option<PathBuf>,

    /// Address to listen on, instead of the configuration's, at port 7400 where it names none; may be repeated [default: unix:@manganese-mothership]
    #[arg(long, value_name = "ADDR", value_parser = Address::of_mothership)]
    pub listen: Vec<Address>,

    /// File with the token that everybody over TCP must prove to know; see `mgn token`
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,
}

/// Where the mothership is.
#[derive(Debug, Args)]
pub struct Contact {
    /// The mothership's address [default: what config.toml says, or unix:@manganese-mothership]
    #[arg(long, value_name = "ADDR", env = "MGN_MOTHERSHIP")]
    #[arg(value_parser = Address::of_mothership)]
    pub mothership: Option<Address>,

    /// File with the token for a mothership over TCP; see `mgn token`
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,
}

/// Show which servers and programs the mothership knows, and who draws for whom or waits for what.
#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    pub contact: Contact,

    /// For programs to read
    #[arg(long)]
    pub json: bool,
}

/// End the mothership and the servers that it has started.
#[derive(Debug, Args)]
pub struct Stop {
    #[command(flatten)]
    pub contact: Contact,
}

#[derive(Debug, Subcommand)]
pub enum Config {
    /// Look for mistakes in a wall's configuration
    ///
    /// Every mistake is shown with its line and what to do about it; the exit status is then 1.
    Check {
        /// The configuration, in TOML
        file: PathBuf,
    },
    /// Draw a wall's configuration
    ///
    /// Every wall is drawn to scale, as wide as the terminal at most, with the tiles' names and
    /// servers; ░ is behind bezels, and ▒ is shown by several tiles. Hosts and servers are listed.
    Show {
        /// The configuration, in TOML
        file: PathBuf,
    },
    /// Print the JSON Schema of configurations, for editors
    ///
    /// An editor that knows TOML checks and completes a file whose first line is `#:schema` and the name of a file with this.
    Schema,
}
