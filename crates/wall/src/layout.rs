//! The arrangement of a wall.

use crate::{Rect, Target, Windows};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The maximum number of tiles: a mask has one bit for each.
pub const TILES_MAX: usize = 64;
/// The largest width and height of a mural.
const MURAL_MAX: u32 = 1 << 20;

/// A mural, and the tiles that show parts of it. Pixels between tiles are behind bezels; tiles may
/// overlap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wall {
    pub name: String,
    /// Width and height of the mural.
    pub size: (u32, u32),
    pub fit: Fit,
    #[serde(default)]
    pub tiling: Tiling,
    /// Whether windows on X displays show each frame at the vertical blanks nearest to a common
    /// moment.
    #[serde(default)]
    pub genlock: bool,
    /// Which of a program's windows go to the wall; by default all.
    #[serde(default)]
    pub windows: Windows,
    pub tiles: Vec<Tile>,
}

/// How a program's window maps to the mural.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// The window is stretched over the mural. A tile shows the same fraction of the window as of
    /// the mural.
    #[default]
    Scale,
    /// A pixel of the window is a pixel of the mural, from the upper left corner.
    #[serde(rename = "1:1")]
    OneToOne,
    /// The window is made as large as the mural.
    Window,
}

/// The part of a program's window for which each renderer has pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tiling {
    /// `Offset` where the mural is larger than a renderer's largest framebuffer, otherwise
    /// `Scissor`.
    #[default]
    Auto,
    /// Each renderer has the whole window, but draws only its tile. The result is bit for bit the
    /// same as with one renderer.
    Scissor,
    /// Each renderer has only its tile.
    Offset,
}

/// A part of the mural that one renderer draws.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tile {
    pub name: String,
    pub rect: Rect,
    /// Where its picture goes; by default into the program's own window.
    #[serde(default = "program")]
    pub present: Vec<Target>,
    /// The wall that it belongs to, if that is not the first of several that show the same.
    #[serde(default)]
    pub replica: Option<Replica>,
}

/// A wall that shows what another one does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replica {
    /// The wall's number, from 1; 0 is the wall that is replicated.
    pub number: u32,
    pub wall: String,
    /// Width and height of its mural.
    pub size: (u32, u32),
    pub fit: Fit,
}

fn program() -> Vec<Target> {
    vec![Target::Program]
}

impl Tile {
    /// A tile that is shown in the program's window.
    pub fn new(name: impl Into<String>, rect: Rect) -> Tile {
        Tile {
            name: name.into(),
            rect,
            present: program(),
            replica: None,
        }
    }

    /// Whether the program's own window shows it.
    pub fn is_in_program(&self) -> bool {
        self.present.contains(&Target::Program)
    }

    /// Whether its server shows it, rather than only the program's own window. Also true if
    /// `present` is empty, although nothing shows the tile then.
    pub fn is_shown_there(&self) -> bool {
        self.present != [Target::Program]
    }

    /// In how many windows its server shows it.
    pub fn windows(&self) -> usize {
        let is_window = |target: &&Target| matches!(target, Target::Window { .. });
        self.present.iter().filter(is_window).count()
    }

    /// The number of its wall among several that show the same.
    pub(crate) fn wall_number(&self) -> u32 {
        self.replica.as_ref().map_or(0, |replica| replica.number)
    }
}

/// The tile's name among the tiles of all walls that show the same.
impl fmt::Display for Tile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.replica {
            None => out.write_str(&self.name),
            Some(replica) => write!(out, "{} of {}", self.name, replica.wall),
        }
    }
}

/// An error in a wall.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WallError {
    #[error("the wall {0} has no tiles; it needs one at least")]
    NoTiles(String),
    #[error("the wall {0} has {1} tiles; the limit is {TILES_MAX}")]
    TooMany(String, usize),
    #[error(
        "the mural of the wall {0} is {1} x {2} pixels; both must be between 1 and {MURAL_MAX}"
    )]
    Size(String, u32, u32),
    #[error("the tile {0} has no pixels; its width and height must be above 0")]
    Empty(String),
    #[error("the tile {0} shows nothing of the mural, which is {1} x {2}; move it inside")]
    Outside(String, u32, u32),
    #[error("two tiles are called {0}; give one of them another name")]
    Twice(String),
    #[error(
        "{0:?} is not a wall; write COLUMNSxROWS, for example 2x2, with at most {TILES_MAX} tiles"
    )]
    Grid(String),
    #[error("{0:?} is not a place where pictures can be shown; write window=DISPLAY, files=DIR or viewer=ADDRESS")]
    Target(String),
    #[error("the tile {0} is shown in several windows; with genlock, a tile can have only one")]
    Windows(String),
    #[error("not a wall in JSON: {0}")]
    Json(String),
}

impl Wall {
    /// A wall of `columns` x `rows` equal tiles without bezels, whatever the window's size. Tiles
    /// are called `column,row`, from 0,0 in the upper left.
    ///
    /// # Errors
    /// [`WallError`] for no tiles or too many.
    pub fn grid(columns: u32, rows: u32) -> Result<Wall, WallError> {
        let count = u64::from(columns) * u64::from(rows);
        if count == 0 || count > TILES_MAX as u64 {
            return Err(WallError::Grid(format!("{columns}x{rows}")));
        }
        let tile = |n: u32| {
            let (x, y) = (n % columns, n / columns);
            Tile::new(format!("{x},{y}"), Rect::new(x, y, 1, 1))
        };
        Ok(Wall {
            name: format!("{columns}x{rows}"),
            size: (columns, rows),
            fit: Fit::Scale,
            tiling: Tiling::Auto,
            genlock: false,
            windows: Windows::default(),
            tiles: (0..columns * rows).map(tile).collect(),
        })
    }

    /// Whether renderers with this largest framebuffer have only the pixels of their tiles. A
    /// window that is scaled keeps its own size, so the mural's size does not matter for it.
    pub fn is_offset(&self, largest: (u32, u32)) -> bool {
        let exceeds = |fit: Fit, (width, height): (u32, u32)| {
            fit != Fit::Scale && (width > largest.0 || height > largest.1)
        };
        let murals = self.tiles.iter().map(|tile| self.mural_of(tile));
        match self.tiling {
            Tiling::Auto => murals.into_iter().any(|(size, fit)| exceeds(fit, size)),
            Tiling::Scissor => false,
            Tiling::Offset => true,
        }
    }

    /// Whether the wall can be used.
    ///
    /// # Errors
    /// The first mistake in it.
    pub fn check(&self) -> Result<(), WallError> {
        let name = || self.name.clone();
        match self.tiles.len() {
            0 => return Err(WallError::NoTiles(name())),
            n if n > TILES_MAX => return Err(WallError::TooMany(name(), n)),
            _ => {}
        }
        for (n, tile) in self.tiles.iter().enumerate() {
            let (width, height) = self.mural_of(tile).0;
            if !(1..=MURAL_MAX).contains(&width) || !(1..=MURAL_MAX).contains(&height) {
                return Err(WallError::Size(name(), width, height));
            }
            if tile.rect.is_empty() {
                return Err(WallError::Empty(tile.name.clone()));
            }
            if tile.rect.and(&Rect::new(0, 0, width, height)).is_empty() {
                return Err(WallError::Outside(tile.name.clone(), width, height));
            }
            let is_same =
                |other: &Tile| other.name == tile.name && other.wall_number() == tile.wall_number();
            if self.tiles[..n].iter().any(is_same) {
                return Err(WallError::Twice(tile.name.clone()));
            }
            if self.genlock && tile.windows() > 1 {
                return Err(WallError::Windows(tile.name.clone()));
            }
        }
        Ok(())
    }

    /// The wall as text that [`Wall::from_json`] reads, for another process. People write walls in
    /// TOML.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a wall has a serialised form")
    }

    /// Reads what [`Wall::to_json`] wrote.
    ///
    /// # Errors
    /// [`WallError`], for other text and for a wall that cannot be used.
    pub fn from_json(text: &str) -> Result<Wall, WallError> {
        let wall: Wall = serde_json::from_str(text).map_err(|e| WallError::Json(e.to_string()))?;
        wall.check()?;
        Ok(wall)
    }
}

impl std::str::FromStr for Wall {
    type Err = WallError;

    /// Reads `COLUMNSxROWS`.
    fn from_str(text: &str) -> Result<Wall, WallError> {
        let wrong = || WallError::Grid(text.into());
        let (columns, rows) = text.split_once('x').ok_or_else(wrong)?;
        let number = |text: &str| text.parse().map_err(|_| wrong());
        Wall::grid(number(columns)?, number(rows)?).map_err(|_| wrong())
    }
}
