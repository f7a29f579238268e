//! Benchmarks of this machine's communication and rendering: the measurements of `mgn bench`.
//!
//! [suites] plans each [suite](suite::Suite) as [experiments](plan::Experiment), with the [goals]
//! that its methods must reach. The [runner] measures them, round by round. The result is a
//! [record], which is shown as a [table], as CSV, as a [comparison](compare) and as a
//! [page](report).
#![deny(unsafe_code)]

pub mod argv;
pub mod barrier;
pub mod child;
pub mod compare;
pub mod composite;
mod format;
pub mod gl;
pub mod goals;
pub mod machine;
pub mod net;
pub mod plan;
pub mod probe;
pub mod readback;
pub mod record;
pub mod report;
pub mod runner;
pub mod statistics;
pub mod store;
pub mod suite;
pub mod suites;
pub mod table;

/// A process that takes part in a measurement. The program that measures starts itself again as
/// such a process, with the command [`child::PART`].
#[derive(Debug, clap::Subcommand)]
pub enum Part {
    /// One of two processes that exchange messages
    End(net::pair::End),
    /// One of many processes
    Member(net::member::Member),
    /// One of many processes that exchange messages without a library
    PlainMember(net::plain_member::PlainMember),
    /// One of many processes that composite their pictures
    Compositor(composite::Compositor),
    /// A renderer that reads its pictures back
    Readback(readback::Readback),
    /// One of the processes of a barrier
    Barrier(barrier::Member),
    /// One of two processes that fill a link
    Bulk(barrier::Bulk),
}

impl Part {
    pub fn run(&self) -> anyhow::Result<()> {
        match self {
            Part::End(end) => net::end::run(end),
            Part::Member(member) => member.run(),
            Part::PlainMember(member) => member.run(),
            Part::Compositor(compositor) => compositor.run(),
            Part::Readback(readback) => readback.run(),
            Part::Barrier(member) => member.run(),
            Part::Bulk(bulk) => bulk.run(),
        }
    }
}
