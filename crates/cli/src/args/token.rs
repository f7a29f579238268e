//! The command line of `mgn token`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use mgn_fabric::{PublicKey, Role};

use super::keys::StoreFile;

#[derive(Debug, Subcommand)]
pub enum Token {
    /// Create a token file for a machine where programs run, and add the token to this machine's
    /// store
    ///
    /// Run this on the server's machine. The token contains the public key of this machine's
    /// servers. At tls: addresses, programs with this token connect to no other server.
    New(NewToken),

    /// Add the token in FILE to this machine's store
    Add {
        /// The token, as `mgn token new` has written it elsewhere
        file: PathBuf,

        #[command(flatten)]
        store: StoreFile,
    },

    /// Show the names and roles of the tokens that servers on this machine admit
    List {
        #[command(flatten)]
        store: StoreFile,
    },

    /// Remove a token from the store; running servers that read this file refuse it from then on
    ///
    /// They end the sessions that have begun with it within a few seconds.
    Revoke {
        /// The token's name, as `mgn token list` shows it
        name: String,

        #[command(flatten)]
        store: StoreFile,
    },

    /// Show the public key of servers on this machine
    Key {
        /// File with the private key; it is created if it does not exist
        ///
        /// [default: $MGN_SERVER_KEY, then server_key in config.toml, then
        /// ~/.local/state/manganese/server.key]
        #[arg(long, value_name = "FILE")]
        server_key: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct NewToken {
    /// File to create, which must not exist yet
    ///
    /// [default: manganese/token in $XDG_CONFIG_HOME or ~/.config, where all commands look for it]
    pub file: Option<PathBuf>,

    /// Name of the token, for lists and logs [default: the file's name without its ending]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// What the token allows: client (have programs rendered), server (register with a mothership,
    /// send pictures to a viewer) or admin (everything, including mgn status and mgn stop over
    /// the network)
    #[arg(long, value_name = "ROLE", default_value = "client")]
    pub role: Role,

    #[command(flatten)]
    pub store: StoreFile,

    /// Public key of a server that the token is valid for, instead of this machine's; may be
    /// repeated
    ///
    /// `mgn token key` on a server's machine shows its key.
    #[arg(long, value_name = "KEY")]
    pub key: Vec<PublicKey>,

    /// File with the private key of servers on this machine; it is created if it does not exist
    ///
    /// [default: $MGN_SERVER_KEY, then server_key in config.toml, then
    /// ~/.local/state/manganese/server.key]
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    pub server_key: Option<PathBuf>,
}
