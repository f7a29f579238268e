//! The value of --wall.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use mgn_mothership::config::{ConfigError, WallPlan};
use mgn_wall::{Wall, WallError};

use crate::wall_file::STAGE_CHECKS;

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
        let plan = mgn_mothership::Config::read_wall(Path::new(file), name, STAGE_CHECKS);
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
