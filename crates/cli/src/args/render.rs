//! The flags of `mgn run` and `mgn verify` for the servers and the X server of a program.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use mgn_fabric::{Address, Transport};
use mgn_mothership::protocol::Needs;

use super::choices::{Tiling, Weld};
use super::wall_name::WallName;

/// How a program's OpenGL reaches a server, and its windows an X server.
#[derive(Debug, Args)]
pub struct RenderFlags {
    /// Render on the server at ADDR
    ///
    /// ADDR is unix:/path, unix:@name, tcp:HOST[:PORT] or tls:HOST[:PORT] (encrypted). Append
    /// /NAME for the server NAME behind the relay at HOST. `own` starts a server for this run.
    /// Default: $MGN_SERVER, then `server` in config.toml, then `own`.
    ///
    /// With --wall, give it once for all tiles, or once for each tile of all walls.
    #[arg(id = "server", long = "server", value_name = "ADDR")]
    pub named: Vec<ServerName>,

    /// The servers' addresses, from the flag or the settings; see `defaults::apply_to_program`.
    #[arg(skip)]
    pub server: Vec<Address>,

    /// Start a server on HOST by ssh for this run, and render there
    ///
    /// HOST is what you would give to ssh, HOST or USER@HOST. Nothing else has to be set up.
    #[arg(long, value_name = "HOST", conflicts_with_all = ["server", "mothership", "transport", "needs"])]
    pub ssh: Option<String>,

    /// Path of mgn on the host of --ssh, if it is not in the PATH there
    #[arg(long, value_name = "PATH", requires = "ssh")]
    pub ssh_mgn: Option<String>,

    /// Divide the picture among several renderers, one for each tile of WALL
    ///
    /// WALL is COLUMNSxROWS, the wall in FILE.toml (FILE.toml:NAME if the file has several; see
    /// manganese-walls(5)), or the name of a wall that the mothership knows. May be repeated:
    /// all walls then show the same picture.
    #[arg(long, value_name = "WALL")]
    pub wall: Vec<WallName>,

    /// How much of a window each renderer of a wall holds; see manganese-walls(5)
    #[arg(long, value_enum, default_value_t = Tiling::Auto)]
    pub tiling: Tiling,

    /// Render on servers that the mothership at ADDR chooses
    #[arg(long, value_name = "ADDR", conflicts_with = "server")]
    #[arg(value_parser = Address::of_mothership)]
    pub mothership: Option<Address>,

    /// Versions, extensions and limits that servers chosen by the mothership must have
    ///
    /// NEEDS is a list of gl=4.5 (or core=, es=, es1=), GL_EXTENSION and max_texture_size=N,
    /// separated by commas.
    #[arg(long, value_name = "NEEDS")]
    pub needs: Option<Needs>,

    /// How commands travel: shm (on one host), unix, tcp, null (discarded) or file:PATH (recorded)
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Option<Transport>,

    /// File with the token for a server over TCP; see `mgn token`
    ///
    /// [default: manganese/token in the settings folder]
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,

    /// When to send repeated vertices of immediate mode only once; pixels do not change
    #[arg(long, value_enum, default_value_t = Weld::Auto)]
    pub weld: Weld,

    /// Show the program on a private X server without a screen (Xvfb)
    #[arg(long, conflicts_with = "display")]
    pub headless: bool,

    /// Show the program on this X server instead of $DISPLAY
    #[arg(long, value_name = "DISPLAY")]
    pub display: Option<String>,
}

/// The value of --server.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerName {
    /// A server that is started for this run, even if the settings name another.
    Own,
    At(Address),
}

impl FromStr for ServerName {
    type Err = String;

    fn from_str(text: &str) -> Result<ServerName, String> {
        if text == "own" {
            return Ok(ServerName::Own);
        }
        let has_kind = ["unix:", "tcp:", "tls:"]
            .iter()
            .any(|kind| text.starts_with(kind));
        match Address::of_server(text) {
            Ok(address) => Ok(ServerName::At(address)),
            Err(error) if has_kind => Err(error.to_string()),
            Err(error) => Err(format!("{error}; `own` starts a server for this run")),
        }
    }
}
