//! The command lines of `mgn info`, `mgn tune` and `mgn pages`, which have few flags.

use std::path::PathBuf;

use clap::Args;

/// Show what this machine can and cannot do, and why.
#[derive(Debug, Args)]
pub struct Info {
    /// Compare the OpenGL versions and extensions that programs get with those of the local driver
    #[arg(long)]
    pub gl: bool,
    /// Print JSON, for programs to read
    #[arg(long)]
    pub json: bool,
}

/// Measure which message settings suit this machine, and write them to a file.
///
/// Two processes send messages to each other for 15 seconds. Nothing else should run during that
/// time. The command shows the results, and the file gives the reason for each setting.
///
/// Endpoints of the message layer read the file when they are created. `MGN_TUNE` names another
/// file to read, and a variable such as `MGN_EAGER_SHM=16K` changes one setting.
#[derive(Debug, Args)]
pub struct Tune {
    /// Show the settings, but do not write them
    #[arg(long)]
    pub dry_run: bool,

    /// Write the settings to FILE
    ///
    /// [default: manganese/tune.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub output: Option<PathBuf>,

    /// Seconds to measure, from 1 to 300; use more on a busy machine
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=300))]
    pub seconds: u64,
}

#[derive(Debug, Args)]
pub struct Pages {
    /// Directory for mgn.1 and the pages of its commands
    #[arg(long, value_name = "DIR")]
    pub man: PathBuf,
    /// Directory for the completions of bash, zsh and fish
    #[arg(long, value_name = "DIR")]
    pub completions: PathBuf,
}
