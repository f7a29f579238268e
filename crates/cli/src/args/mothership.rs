//! The command lines of `mgn mothership`, `mgn status`, `mgn stop` and `mgn config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use mgn_fabric::Address;

use super::keys::Keys;

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
