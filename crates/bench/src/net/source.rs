//! Whose messages are measured.

use std::rc::Rc;

use anyhow::Result;

use crate::net::measure::{Sample, Test};
use crate::net::pair;
use crate::net::peers::{is_installed, ucx, Library, Mpi, Settings, MESSAGES};
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
            Source::Ucx(..) => (!is_installed("ucx_perftest"))
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
