//! The libraries and mechanisms whose messages are measured.

use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use crate::net::launch;
use crate::net::measure::{Sample, Test};
use crate::net::peers::{
    self, task, MpiLibrary, MpiSettings, PeerPrograms, MESSAGES, PAIR_TIMEOUT,
};
use crate::net::ucx::Ucx;
use crate::record::Kind;

#[derive(Clone)]
pub enum MessageLayer {
    /// Endpoints over a transport. With `-placed`, messages are written and read in place.
    Ours(&'static str),
    Mpi(Rc<PeerPrograms>, MpiLibrary, MpiSettings),
    Ucx(Rc<PeerPrograms>, Ucx),
    /// System calls or memory alone, between two processes of this program. This is a limit,
    /// without any library.
    Raw(&'static str),
}

impl MessageLayer {
    pub fn kind(&self) -> Kind {
        match self {
            MessageLayer::Ours(_) => Kind::Ours,
            MessageLayer::Mpi(..) | MessageLayer::Ucx(..) => Kind::Peer,
            MessageLayer::Raw(_) => Kind::Limit,
        }
    }

    /// The reason why the layer cannot be measured on this machine, or `None` if it can.
    pub fn missing(&self) -> Option<String> {
        match self {
            MessageLayer::Ours(_) | MessageLayer::Raw(_) => None,
            MessageLayer::Mpi(peers, library, settings) => {
                peers.missing(*library, settings, MESSAGES)
            }
            MessageLayer::Ucx(peers, ucx) => ucx.missing(peers),
        }
    }

    /// The command for the same measurement.
    pub fn command(&self, test: Test, sizes: &[usize], seconds: f64) -> String {
        match self {
            MessageLayer::Ours(channel) => launch::shell_command(channel, test, sizes, seconds),
            MessageLayer::Raw(channel) => {
                launch::shell_command(&format!("raw-{channel}"), test, sizes, seconds)
            }
            MessageLayer::Mpi(peers, library, settings) => {
                let run = peers.pair(*library, settings, test, sizes, seconds);
                peers.shell_command(*library, MESSAGES, &[run])
            }
            MessageLayer::Ucx(peers, ucx) => ucx.shell_command(peers, test),
        }
    }

    /// Runs a test. Returns a sample for each size.
    pub fn run(&self, test: Test, sizes: &[usize], seconds: f64) -> Result<Vec<Sample>> {
        match self {
            MessageLayer::Ours(channel) => launch::run(channel, test, sizes, seconds),
            MessageLayer::Raw(channel) => {
                launch::run(&format!("raw-{channel}"), test, sizes, seconds)
            }
            MessageLayer::Mpi(peers, library, settings) => {
                let run = peers.pair(*library, settings, test, sizes, seconds);
                let limit =
                    PAIR_TIMEOUT + Duration::from_secs_f64(2.0 * seconds * sizes.len() as f64);
                let finished = peers.run(&run, &task(MESSAGES, settings), limit)?;
                peers::samples(&finished.stdout, sizes.len())
            }
            MessageLayer::Ucx(peers, ucx) => ucx.run(peers, test, sizes, seconds),
        }
    }
}
