//! Whose messages are measured.

use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use crate::net::launch;
use crate::net::measure::{Sample, Test};
use crate::net::peers::{self, task, Library, Peers, Settings, MESSAGES, PATIENCE};
use crate::net::ucx::Ucx;
use crate::record::Kind;

#[derive(Clone)]
pub enum Source {
    /// Endpoints, over a transport; `-placed`: messages are written where they are sent from, and
    /// read where they lie.
    Ours(&'static str),
    Mpi(Rc<Peers>, Library, Settings),
    Ucx(Rc<Peers>, Ucx),
    /// Plain system calls or memory, by two processes of this program: a limit, and nobody's
    /// library.
    Raw(&'static str),
}

impl Source {
    pub fn kind(&self) -> Kind {
        match self {
            Source::Ours(_) => Kind::Ours,
            Source::Mpi(..) | Source::Ucx(..) => Kind::Peer,
            Source::Raw(_) => Kind::Limit,
        }
    }

    /// Why it cannot be measured here.
    pub fn missing(&self) -> Option<String> {
        match self {
            Source::Ours(_) | Source::Raw(_) => None,
            Source::Mpi(peers, library, settings) => peers.missing(*library, settings, MESSAGES),
            Source::Ucx(peers, ucx) => ucx.missing(peers),
        }
    }

    /// What one would type to see the same.
    pub fn command(&self, test: Test, sizes: &[usize], seconds: f64) -> String {
        match self {
            Source::Ours(way) => launch::typed(way, test, sizes, seconds),
            Source::Raw(way) => launch::typed(&format!("raw-{way}"), test, sizes, seconds),
            Source::Mpi(peers, library, settings) => {
                let run = peers.pair(*library, settings, test, sizes, seconds);
                peers.typed(*library, MESSAGES, &[run])
            }
            Source::Ucx(peers, ucx) => ucx.typed(peers, test),
        }
    }

    /// A sample for each size.
    pub fn run(&self, test: Test, sizes: &[usize], seconds: f64) -> Result<Vec<Sample>> {
        match self {
            Source::Ours(way) => launch::run(way, test, sizes, seconds),
            Source::Raw(way) => launch::run(&format!("raw-{way}"), test, sizes, seconds),
            Source::Mpi(peers, library, settings) => {
                let run = peers.pair(*library, settings, test, sizes, seconds);
                let limit = PATIENCE + Duration::from_secs_f64(2.0 * seconds * sizes.len() as f64);
                let done = peers.run(&run, &task(MESSAGES, settings), limit)?;
                peers::samples(&done.stdout, sizes.len())
            }
            Source::Ucx(peers, ucx) => ucx.run(peers, test, sizes, seconds),
        }
    }
}
