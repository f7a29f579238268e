//! The command line of `mgn run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use mgn_fabric::Address;
use mgn_spu::Stage;

use super::choices::{ImageFormat, OnLoss, Present};
use super::ranks::Ranks;
use super::render::RenderFlags;
use super::window::Window;

/// Run a program and execute its OpenGL on a render server.
///
/// The program needs no changes. Without --server, a server is started for this run, unless the
/// settings name one.
///
/// The exit status is the program's. It is 128 plus the signal's number if a signal ended the
/// program, 125 if the server could not be reached, and 126 or 127 if the program could not be
/// started.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub render: RenderFlags,

    #[command(flatten)]
    pub ranks: Ranks,

    /// Where to show pictures
    #[arg(long, value_enum, default_value_t = Present::Window)]
    pub present: Present,

    /// Show the program live in browsers too, on a page at ADDR
    ///
    /// ADDR is tcp:HOST:PORT, or a port of this machine. May be repeated, for example to give each
    /// --wall a page.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "tcp:127.0.0.1:0", value_parser = page_address)]
    #[arg(conflicts_with = "ssh")]
    pub viewer: Vec<Address>,

    /// Save each frame as a picture in DIR
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,

    /// Save only every N-th frame
    #[arg(long, value_name = "N", default_value_t = 1, requires = "save")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,

    /// Format of saved frames
    #[arg(long, value_enum, default_value_t = ImageFormat::Png, requires = "save")]
    pub image_format: ImageFormat,

    /// End the program after N frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,

    /// Let the server receive and check every command, but render nothing
    #[arg(long, conflicts_with_all = ["server", "ssh"])]
    pub discard: bool,

    /// Add a stage that commands pass before the server's renderer
    ///
    /// STAGE is NAME[:key=value[,key=value]]. May be repeated; commands pass the stages in the
    /// order of the flags. See share/doc/manganese/spu.md for a list of stages.
    #[arg(long, value_name = "STAGE", conflicts_with_all = ["server", "ssh"])]
    pub spu: Vec<Stage>,

    /// Add a stage that commands pass in the program's own process, before they are sent
    ///
    /// STAGE is written as for --spu. Stages that need answers from the server are refused. May be
    /// repeated.
    #[arg(long, value_name = "STAGE")]
    pub client_spu: Vec<Stage>,

    #[command(flatten)]
    pub window: Window,

    /// What to do with the program when its server is lost
    #[arg(long, value_enum, default_value_t = OnLoss::Exit)]
    pub on_loss: OnLoss,

    /// Let the program composite pictures through Manganese instead of IceT
    ///
    /// For programs of several processes that use IceT, for example `mpirun -np 8 pvbatch`. NAME is
    /// the file name of the program's IceT library; leave it out for IceT's own name and for
    /// ParaView 5.9 to 5.13. See share/doc/manganese/icet.md.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "")]
    pub icet: Option<String>,

    /// Show the frame rate, bytes, commands and waits, live and at the end
    #[arg(long)]
    pub stats: bool,

    /// Write the statistics to FILE as JSON at the end
    #[arg(long, value_name = "FILE")]
    pub stats_json: Option<PathBuf>,

    /// End the program when no process holds this run directory any more
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "np")]
    pub lease: Option<PathBuf>,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// The address of the page of a run. A number alone is a port of this machine.
fn page_address(text: &str) -> Result<Address, String> {
    let address = match text.parse::<u16>() {
        Ok(port) => format!("tcp:127.0.0.1:{port}").parse(),
        Err(_) => text.parse(),
    };
    address.map_err(|error: mgn_fabric::Error| error.to_string())
}
