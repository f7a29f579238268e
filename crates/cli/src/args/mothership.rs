//! The flags of commands about walls.

use std::path::PathBuf;

use clap::Subcommand;

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
}
