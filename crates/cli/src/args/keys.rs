//! Flags for the files with tokens and keys.

use std::path::PathBuf;

use clap::Args;

/// The tokens that a listener admits over TCP, and the key by which clients recognise it.
#[derive(Debug, Args)]
pub struct Keys {
    /// File with the tokens that are admitted over TCP; see `mgn token`
    ///
    /// [default: the token in --token-file, if that is given; otherwise $MGN_TOKEN_STORE, then
    /// token_store in config.toml, then ~/.config/manganese/tokens]
    #[arg(long, value_name = "FILE")]
    pub token_store: Option<PathBuf>,

    /// File with the token that this process uses to connect to a mothership, a viewer or another
    /// relay
    ///
    /// If you give this flag without --token-store, this is also the only token that is admitted.
    /// [default: token_file in config.toml, then ~/.config/manganese/token]
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,

    /// File with the private key for tls: addresses; it is created if it does not exist
    ///
    /// [default: $MGN_SERVER_KEY, then server_key in config.toml, then
    /// ~/.local/state/manganese/server.key]
    #[arg(long, value_name = "FILE")]
    pub server_key: Option<PathBuf>,
}

/// The tokens that servers admit.
#[derive(Debug, Args)]
pub struct StoreFile {
    /// File with the tokens that servers admit
    ///
    /// [default: $MGN_TOKEN_STORE, then token_store in config.toml, then
    /// ~/.config/manganese/tokens]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}
