//! What this machine's communication and rendering can do: the measurements of `mgn bench`, and the
//! parts that they share with the two programs of `make bench`, which hold Manganese to what is
//! wanted of it.
//!
//! A [suite](suites::Suite) plans [experiments](plan::Experiment). The [runner] measures them,
//! round by round; what came out is a [record], of which there are a [table], CSV, a
//! [comparison](compare) and a [page](report).
#![deny(unsafe_code)]

pub mod argv;
pub mod child;
pub mod compare;
pub mod composite;
pub mod gl;
pub mod icet;
pub mod machine;
pub mod net;
pub mod plan;
pub mod probe;
pub mod record;
pub mod report;
pub mod runner;
mod simulated;
pub mod statistics;
pub mod store;
pub mod suites;
pub mod table;

/// A process that takes part in a measurement; programs that measure start themselves as such.
#[derive(Debug, clap::Subcommand)]
pub enum Part {
    /// One of two processes that exchange messages
    End(net::pair::End),
    /// One of many processes
    Member(net::member::Member),
    /// One of many processes that composite their pictures
    Compositor(composite::Compositor),
}

/// What a program that measures calls the command by which it starts itself as a [`Part`].
pub const PART: &str = "bench-part";

impl Part {
    pub fn run(&self) -> anyhow::Result<()> {
        match self {
            Part::End(end) => end.run(),
            Part::Member(member) => member.run(),
            Part::Compositor(compositor) => compositor.run(),
        }
    }
}
