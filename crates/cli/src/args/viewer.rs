//! The command line of `mgn viewer`.

use clap::Args;
use mgn_fabric::Address;

use super::keys::Keys;
use super::wall_name::WallName;

/// Show a wall live in browsers, in its real arrangement.
///
/// The command prints the address of the page. The address contains a token: anyone who has it can
/// watch.
#[derive(Debug, Args)]
pub struct Viewer {
    /// The wall to show: COLUMNSxROWS tiles, or the wall in FILE.toml
    ///
    /// FILE.toml:NAME selects a wall if the file has several; see manganese-walls(5).
    #[arg(long, value_name = "WALL")]
    pub wall: WallName,

    /// Address of the page, tcp:HOST:PORT; port 0 chooses a free port
    #[arg(long, value_name = "ADDR", default_value = "tcp:127.0.0.1:0")]
    pub listen: Address,

    /// Receive pictures at ADDR: unix:/path, unix:@name, tcp:HOST:PORT or tls:HOST:PORT
    #[arg(long, value_name = "ADDR", default_value = mgn_wall::VIEWER)]
    pub feeds: Address,

    #[command(flatten)]
    pub keys: Keys,

    /// Another name by which browsers address this machine; may be repeated
    #[arg(long, value_name = "HOST")]
    pub name: Vec<String>,
}
