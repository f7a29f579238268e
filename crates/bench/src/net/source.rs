//! Whose messages are measured.

use std::rc::Rc;

use anyhow::Result;
use mgn_launch::inspect::in_path;

use crate::net::measure::{Sample, Test};
use crate::net::pair;
use crate::net::peers::{ucx, Library, Mpi, Settings, MESSAGES};
use crate::plan::{Figure, Way};
use crate::record::Kind;

#[derive(Clone)]
pub enum Source {
    /// Endpoints, over a transport; `-placed`: messages are written where they are sent from, and read where they lie.
    Ours(&'static str),
    Mpi(Rc<Mpi>, Library, Settings),
    /// What `UCX_TLS` is, and which of its two ways.
    Ucx(&'static str, &'static str),
    /// Plain system calls or memory, by two processes of this program: a limit, and nobody's library.
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
            Source::Mpi(mpi, library, _) => mpi.program(*library, MESSAGES).err(),
            Source::Ucx(..) => in_path("ucx_perftest".as_ref())
                .is_none()
                .then(|| "UCX is not installed: there is no ucx_perftest".to_string()),
        }
    }

    /// What one would type to see the same.
    pub fn command(&self, test: Test, sizes: &[usize], seconds: f64) -> String {
        let names: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let names = names.join(",");
        let test = test.name();
        match self {
            Source::Ours(way) => {
                format!(
                    "mgn {} end 0|1 {way} ADDRESS {test} {names} --seconds {seconds}",
                    crate::PART
                )
            }
            Source::Raw(way) => {
                format!(
                    "mgn {} end 0|1 raw-{way} ADDRESS {test} {names} --seconds {seconds}",
                    crate::PART
                )
            }
            Source::Mpi(_, library, settings) => {
                let start = settings.typed(&library.start(2));
                format!("{start} {MESSAGES} {test} {names} {seconds}")
            }
            Source::Ucx(with, kind) => {
                format!("UCX_TLS={with} ucx_perftest -t {kind} of {test}, -s {names}, for {seconds} s each")
            }
        }
    }

    /// A sample for each size.
    pub fn run(&self, test: Test, sizes: &[usize], seconds: f64) -> Result<Vec<Sample>> {
        match self {
            Source::Ours(way) => pair::run(way, test, sizes, seconds),
            Source::Raw(way) => pair::run(&format!("raw-{way}"), test, sizes, seconds),
            Source::Mpi(mpi, library, settings) => {
                mpi.pair(*library, settings, test, sizes, seconds)
            }
            Source::Ucx(with, kind) => ucx(with, kind, test, sizes, seconds),
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
