//! The flags of `mgn run` for several copies of a program.

use std::path::PathBuf;

use clap::Args;
use mgn_barrier::Choice;
use mgn_composite::Recipe;

#[derive(Debug, Args)]
pub struct Ranks {
    /// Start N copies of the program, each with a renderer of its own; -np N is the same
    ///
    /// In the program's arguments, %r stands for the copy's rank (from 0 on), %n for N, and %% for
    /// a percent sign. $MGN_RANK and $MGN_SIZE contain the rank and N. The exit status is that of
    /// the copy that failed first.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub np: Option<u32>,

    /// Merge the pictures of all copies into one, which rank 0 shows
    ///
    /// SPEC is depth (the nearest pixel), over (blended with alpha; rank 0 is in front), max, min
    /// or add. The order of ranks from front to back may follow, as in over:2,0,1, and a
    /// schedule, as in depth/radix-8.
    ///
    /// With --wall, each copy draws in tiles, and the picture appears on the tiles of the wall.
    ///
    /// Without -np, this run is one rank of those that mpirun or srun has started. The exit status
    /// is 75 or 76 if the pictures could not be composited.
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["discard", "shared_window"])]
    pub composite: Option<Recipe>,

    /// How long the copies wait for each other's pictures
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        requires = "composite"
    )]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub composite_timeout: u64,

    /// Let the copies' buffer swaps wait for each other: no frame is shown before all copies have
    /// handed over theirs
    ///
    /// KIND is auto, shm, star, tree, tree-N, dissemination, hierarchical, udp, udp:INTERFACE or
    /// wired:LINES; see share/doc/manganese/barriers.md. Only the swaps of a copy's first window
    /// count. With --composite, the copies wait before each composition instead.
    #[arg(long, value_name = "KIND", conflicts_with = "shared_window")]
    pub swap_barrier: Option<Choice>,

    /// How long the copies' swaps wait for each other
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        requires = "swap_barrier"
    )]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub swap_timeout: u64,

    /// This run is a rank, and ends when no process holds this run directory any more
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "np")]
    pub ranked: Option<PathBuf>,
}
