//! Where the picture of a tile goes.

use crate::WallError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a viewer takes pictures by default.
pub const VIEWER: &str = "unix:@manganese-viewer";

/// One of the places that a tile's picture goes to. The tile's server reaches all but the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// The program's own window.
    Program,
    /// A window of its own on an X display of the server's host.
    Window {
        display: String,
        place: DisplayPosition,
    },
    /// A folder on the server's host. Pictures go to a subfolder with the tile's name.
    Files(PathBuf),
    /// A viewer, at this address of `mgn viewer --feeds`.
    Viewer(String),
}

/// The position on a display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DisplayPosition {
    Fullscreen,
    /// The upper left corner, in pixels from the display's upper left corner.
    At(i32, i32),
}

impl Target {
    /// Whether both are the same display, folder or viewer.
    pub fn is_at(&self, other: &Target) -> bool {
        match (self, other) {
            (Target::Window { display: a, .. }, Target::Window { display: b, .. }) => a == b,
            (a, b) => a == b,
        }
    }
}

/// In the form of a server's `--present`, without the position on a display.
impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Program => out.write_str("program"),
            Target::Window { display, .. } => write!(out, "window={display}"),
            Target::Files(folder) => write!(out, "files={}", folder.display()),
            Target::Viewer(address) => write!(out, "viewer={address}"),
        }
    }
}

impl FromStr for Target {
    type Err = WallError;

    /// Reads `window=DISPLAY`, `files=DIR` or `viewer=ADDR`.
    fn from_str(text: &str) -> Result<Target, WallError> {
        match text.split_once('=') {
            Some((_, "")) => {}
            Some(("window", display)) => {
                return Ok(Target::Window {
                    display: display.into(),
                    place: DisplayPosition::Fullscreen,
                })
            }
            Some(("files", folder)) => return Ok(Target::Files(folder.into())),
            Some(("viewer", address)) => return Ok(Target::Viewer(address.into())),
            _ => {}
        }
        Err(WallError::Target(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_what_is_meant() {
        for text in ["window=:1.0", "files=/tmp/a=b", "viewer=unix:@v"] {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.to_string(), text);
        }
        let at = Target::Window {
            display: ":1".into(),
            place: DisplayPosition::At(3, 4),
        };
        assert!(at.is_at(&"window=:1".parse().unwrap()));
        assert!(!at.is_at(&"window=:2".parse().unwrap()));
        assert!(!at.is_at(&"files=:1".parse().unwrap()));
        for wrong in ["", "window", "window=", "tv=1", "files="] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }
}
