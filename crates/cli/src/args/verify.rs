//! The command line of `mgn verify`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use mgn_verify::Input;

use super::render::RenderFlags;

/// Run a program directly and through a server, and compare its frames.
///
/// The clock and random numbers are fixed in both runs, so the content of a frame depends only on
/// its number.
///
/// The exit status is 0 if all frames are bit-identical, 1 if some differ, 2 if they could not be
/// compared, and 125 to 127 if the program could not be started.
#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    pub render: RenderFlags,

    /// End the program after N frames
    #[arg(long, value_name = "N", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: u64,

    /// Compare only every N-th frame
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,

    /// Save frames that differ in DIR
    ///
    /// Each such frame is saved as three pictures: drawn directly, drawn through the server, and
    /// the difference.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Run COMMAND when frame number FRAME has been shown
    ///
    /// Example: --input '5:xdotool key Return'. May be repeated.
    #[arg(long, value_name = "FRAME:COMMAND")]
    pub input: Vec<Input>,

    /// Seed of the program's random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u32,

    /// Milliseconds between frames, as the program sees them
    ///
    /// [default: a sixtieth of a second]
    #[arg(long, value_name = "MS")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub step: Option<u32>,

    /// Time limit for each run
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}
