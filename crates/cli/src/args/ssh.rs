//! The flags of `mgn ssh`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::choices::OnLoss;

/// Run a program on another host, render it on this machine, and show it here.
///
/// Manganese must be installed on HOST. ssh's X forwarding shows the program's windows on this
/// display, and its OpenGL comes through ssh to a server that is started here for this run. Nothing
/// has to be set up except ssh. The exit status is the program's, as with `mgn run`.
#[derive(Debug, Args)]
pub struct Ssh {
    /// Host to run the program on: HOST or USER@HOST, as for ssh
    pub host: String,

    /// Path of mgn on HOST, if it is not in the PATH there
    #[arg(long, value_name = "PATH")]
    pub ssh_mgn: Option<String>,

    /// Show the program nowhere: use a private X server without a screen (Xvfb) on HOST
    #[arg(long)]
    pub headless: bool,

    /// Save each frame as a picture in DIR on HOST
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,

    /// End the program after N frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,

    /// What to do with the program when its server is lost
    #[arg(long, value_enum, default_value_t = OnLoss::Exit)]
    pub on_loss: OnLoss,

    /// Show the frame rate, bytes, commands and waits at the end
    #[arg(long)]
    pub stats: bool,

    /// The program on HOST and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct SshHold {
    /// Start a render server
    #[arg(long)]
    pub serve: bool,

    /// End everything when the other end has been silent for SECONDS
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub silence: u64,
}
