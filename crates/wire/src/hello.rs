//! The messages that both ends exchange before the stream begins, encoded as postcard.

use mgn_wall::Wall;
use serde::{Deserialize, Serialize};

/// Changes whenever these types, the stream's layout or the messages of the frames connection do.
pub const VERSION: u32 = 11;

/// The client's first message on a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub version: u32,
    pub table_hash: u64,
    pub role: Role,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Role {
    /// The command connection of a new session. The program's name and process id are for people to
    /// read. `tile` is the number of the tile that the renderer draws, if several renderers draw
    /// one picture. `shown` is set if the server is to show the tile.
    Session {
        program: String,
        pid: u32,
        tile: Option<u32>,
        shown: Option<Shown>,
        /// Set if the program draws into a window together with other programs.
        window: Option<SharedWindow>,
    },
    /// The frames connection of a session.
    Frames { session: u64, key: [u8; 16] },
}

/// A window that several programs draw into. The same name means another window for another client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedWindow {
    /// At most [`SharedWindow::NAME_MAX`] bytes.
    pub name: String,
    /// The number of programs that will take part, if known.
    pub clients: Option<u32>,
    /// How long the programs wait for missing ones, in seconds.
    pub patience: u32,
}

impl SharedWindow {
    pub const NAME_MAX: usize = 100;
    /// The most programs of a window.
    pub const CLIENTS_MAX: u32 = 256;
    /// The default patience.
    pub const PATIENCE_DEFAULT: u32 = 60;
    /// The longest patience: an hour.
    pub const PATIENCE_MAX: u32 = 3600;

    /// Whether all values are within the limits.
    pub fn is_sound(&self) -> bool {
        let counts = 1..=SharedWindow::CLIENTS_MAX;
        !self.name.is_empty()
            && self.name.len() <= SharedWindow::NAME_MAX
            && self.clients.is_none_or(|clients| counts.contains(&clients))
            && self.patience <= SharedWindow::PATIENCE_MAX
    }
}

/// The tile that a server shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// The wall, with this tile only.
    pub wall: Wall,
    /// The number of the tile in the whole wall.
    pub tile: u32,
}

/// The answer to `Role::Session`; `Role::Frames` is answered with nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    pub session: u64,
    pub key: [u8; 16],
    /// Identifies the key for program binaries: servers with the same value accept each other's
    /// binaries.
    pub binary_key: [u8; 16],
    /// Whether shaders may be made of SPIR-V.
    pub spirv: bool,
    pub info: ServerInfo,
}

/// The abilities of the server's driver.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerInfo {
    pub vendor: String,
    pub renderer: String,
    /// The highest version of each API, as (major, minor); (0, 0) if the driver lacks the API.
    pub compat: (u8, u8),
    pub core: (u8, u8),
    pub es1: (u8, u8),
    pub es: (u8, u8),
    /// Mesa's release, as major, minor and patch; zeros for other drivers.
    pub release: [u32; 3],
    pub is_software: bool,
    /// Whether EGL images can be made of textures and renderbuffers.
    pub has_images: bool,
    /// `EGL_RENDERABLE_TYPE` of the driver's configurations. It may name an API for which the
    /// driver cannot create contexts.
    pub renderable: u32,
    /// The extensions of the driver's EGL display.
    pub egl_extensions: Vec<String>,
    /// Width and height of the largest viewport.
    pub largest: (u32, u32),
    /// The memory that pictures and objects may take, in MiB.
    pub memory: u32,
    pub configs: Vec<Config>,
}

/// The format of the red, green and blue of a default framebuffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Color {
    #[default]
    Rgb8,
    Rgb10,
    Rgb565,
    /// 16-bit floating point.
    Rgb16F,
}

impl Color {
    pub const ALL: [Color; 4] = [Color::Rgb8, Color::Rgb10, Color::Rgb565, Color::Rgb16F];

    /// Bits of red, green and blue.
    pub const fn bits(self) -> [u8; 3] {
        match self {
            Color::Rgb8 => [8; 3],
            Color::Rgb10 => [10; 3],
            Color::Rgb565 => [5, 6, 5],
            Color::Rgb16F => [16; 3],
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Color::Rgb16F)
    }

    /// Bytes of a stored pixel, including alpha if the format has room for it.
    pub const fn stored_bytes(self) -> usize {
        match self {
            Color::Rgb8 | Color::Rgb10 => 4,
            Color::Rgb565 => 2,
            Color::Rgb16F => 8,
        }
    }
}

/// The `kind` argument of `mgnCreateSurface`: what the surface is for, and bits for a surface
/// without a back buffer or with an accumulation buffer.
pub mod surface {
    pub const WINDOW: u32 = 0;
    pub const PBUFFER: u32 = 1;
    pub const SINGLE_BUFFERED: u32 = 2;
    pub const ACCUMULATES: u32 = 4;
    /// The window that the session shares with others.
    pub const SHARED: u32 = 8;
}

/// The `plane` argument of `mgnTakeTiles` and `mgnFill`.
pub mod plane {
    pub const BACK: u32 = 0;
    pub const FRONT: u32 = 1;
    pub const DEPTH_STENCIL: u32 = 2;
    pub const ALL: [u32; 3] = [BACK, FRONT, DEPTH_STENCIL];
}

/// A kind of default framebuffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Its number in commands. The number is computed from the other fields, so it means the same
    /// to every server and in a recording.
    pub id: u32,
    pub color: Color,
    pub alpha: u8,
    pub depth: u8,
    pub stencil: u8,
    pub samples: u8,
    /// Whether this format has a variant on which GL_FRAMEBUFFER_SRGB has an effect. Not part of
    /// the id.
    pub has_srgb: bool,
}

impl Config {
    /// This bit of an id selects the variant on which GL_FRAMEBUFFER_SRGB has an effect.
    pub const SRGB: u32 = 0x80 << 16;
    /// This bit of an id says that a context's initial draw and read buffers are GL_FRONT.
    pub const SINGLE: u32 = 0x40 << 16;

    /// The colours of the configuration `id`, in which the two bits above may be set.
    pub fn color_of(id: u32) -> Color {
        Color::ALL[(id >> 20 & 3) as usize]
    }

    pub const fn new(color: Color, alpha: u8, depth: u8, stencil: u8, samples: u8) -> Config {
        Config {
            // Never 0, which stands for no configuration.
            id: u32::from_be_bytes([0x80 | samples, (color as u8) << 4 | stencil, depth, alpha]),
            color,
            alpha,
            depth,
            stencil,
            samples,
            has_srgb: false,
        }
    }
}

/// APIs, as `mgnCreateContext` numbers them.
pub mod api {
    pub const COMPAT: u32 = 0;
    pub const CORE: u32 = 1;
    pub const ES1: u32 = 2;
    pub const ES: u32 = 3;
}

/// The answer to `mgnCreateContext`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Created {
    Context(Box<ContextInfo>),
    /// The reason for the failure, for the log.
    Failed(String),
}

/// A context's constants.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextInfo {
    pub version: String,
    pub glsl: String,
    pub vendor: String,
    pub renderer: String,
    pub extensions: Vec<String>,
    /// Values of `glGetIntegerv` (64 bits) that never change, and the initial values of the names
    /// in `sizes::fresh`, by pname.
    pub integers: Vec<(u32, Vec<i64>)>,
    /// The same for values of `glGetFloatv` that aren't integers.
    pub floats: Vec<(u32, Vec<f32>)>,
}
