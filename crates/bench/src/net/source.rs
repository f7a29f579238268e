//! Whose messages are measured.

use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use crate::net::measure::{Sample, Test};
use crate::net::pair;
use crate::net::peers::{self, task, Library, Peers, Settings, MESSAGES, PATIENCE};
use crate::net::ucx::Ucx;
use crate::plan::{Figure, Way};
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
            Source::Ours(way) => pair::typed(way, test, sizes, seconds),
            Source::Raw(way) => pair::typed(&format!("raw-{way}"), test, sizes, seconds),
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
            Source::Ours(way) => pair::run(way, test, sizes, seconds),
            Source::Raw(way) => pair::run(&format!("raw-{way}"), test, sizes, seconds),
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

/// The figures of a sample with messages of a size.
pub type Reading = dyn Fn(usize, &Sample) -> Vec<Figure>;

/// A test of a source with messages of each size.
pub struct Messages {
    pub name: &'static str,
    pub source: Source,
    pub test: Test,
    pub sizes: Vec<usize>,
    pub seconds: f64,
    pub figures: Box<Reading>,
}

impl Way for Messages {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn kind(&self) -> Kind {
        self.source.kind()
    }

    fn command(&self) -> String {
        self.source.command(self.test, &self.sizes, self.seconds)
    }

    fn missing(&self) -> Option<String> {
        self.source.missing()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let samples = self.source.run(self.test, &self.sizes, self.seconds)?;
        let sizes = self.sizes.iter().zip(&samples);
        Ok(sizes
            .flat_map(|(size, sample)| (self.figures)(*size, sample))
            .collect())
    }
}
