//! The command line of `mgn replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mgn_spu::Stage;

use super::choices::ImageFormat;

/// Replay a stream that was recorded with `mgn run --transport file:PATH`.
#[derive(Debug, Args)]
pub struct Replay {
    /// The recorded stream
    pub file: PathBuf,

    /// Add a stage that commands pass before the renderer
    ///
    /// STAGE is NAME[:key=value[,key=value]]. May be repeated; commands pass the stages in the
    /// order of the flags. See share/doc/manganese/spu.md for a list of stages.
    #[arg(long, value_name = "STAGE")]
    pub spu: Vec<Stage>,

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

    /// Take a snapshot before this message
    #[arg(
        long,
        value_name = "N",
        hide = true,
        requires = "middle",
        conflicts_with = "spu"
    )]
    pub from: Option<u64>,

    /// What to do with the session at this message
    #[arg(long, value_enum, hide = true, requires = "from")]
    pub middle: Option<Middle>,
}

/// See `mgn_server::Middle`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Middle {
    Skip,
    Take,
    Succeed,
}
