//! Connections to viewers, which the parent makes for a worker that may make none.

use crate::tile::{Permission, TARGETS_MAX};
use mgn_fabric::{dial, Address};
use mgn_wall::Target;
use mgn_wire::hello::Shown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{channel, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the parent tries to reach a viewer.
const DIAL_TIME: Duration = Duration::from_secs(5);
/// How soon it is tried again. Nothing that a worker does makes the server connect more often.
const DIAL_EVERY: Duration = Duration::from_millis(500);

/// A viewer that a session may show pictures at.
#[derive(Debug)]
pub(in crate::parent) struct Viewer {
    /// Its place among those where the session's tile is shown.
    target: u16,
    address: Address,
    /// When it was last connected to.
    last: Option<Instant>,
}

impl Viewer {
    /// Those at which a client may have its tile shown.
    pub fn all_of(shown: &Shown, permission: &Permission<'_>) -> Vec<Viewer> {
        let [own] = &shown.wall.tiles[..] else {
            return Vec::new();
        };
        let targets = own.present.iter().take(TARGETS_MAX).zip(0..);
        let found = targets.filter_map(|(place, target)| match place {
            Target::Viewer(address) if permission.covers(place) => Some(Viewer {
                target,
                address: address.parse().ok()?,
                last: None,
            }),
            _ => None,
        });
        found.collect()
    }
}

/// The outcome for a session's viewer.
pub(in crate::parent) struct Dialed {
    pub session: u64,
    pub target: u16,
    pub outcome: Result<OwnedFd, String>,
}

/// The connections that are being made for a worker.
#[derive(Debug, Default)]
pub(in crate::parent) struct Dials(Vec<UnderWay>);

#[derive(Debug)]
struct UnderWay {
    session: u64,
    target: u16,
    /// At its end when there is an outcome.
    done: UnixStream,
    outcome: Receiver<Result<OwnedFd, String>>,
}

impl Dials {
    /// Connects to a viewer of the session, on a thread.
    ///
    /// # Errors
    /// If the session has no such viewer, or a connection to it is being made.
    pub fn begin(
        &mut self,
        session: u64,
        target: u16,
        viewers: &mut [Viewer],
    ) -> Result<(), String> {
        let mut viewers = viewers.iter_mut();
        let viewer = viewers.find(|viewer| viewer.target == target);
        let viewer = viewer.ok_or("that it wants to connect to what its session has not")?;
        let mut others = self.0.iter();
        if others.any(|other| (other.session, other.target) == (session, target)) {
            return Err("that it wants two connections to one viewer".into());
        }
        let now = Instant::now();
        let due = viewer.last.map(|last| last + DIAL_EVERY);
        let pause = due.map_or(Duration::ZERO, |due| due.saturating_duration_since(now));
        viewer.last = Some(now + pause);
        let failed = |error: std::io::Error| error.to_string();
        let (done, end) = UnixStream::pair().map_err(failed)?;
        let (say, outcome) = channel();
        let address = viewer.address.clone();
        let spawned = thread::Builder::new().name("dial".into()).spawn(move || {
            thread::sleep(pause);
            let dialed = dial(&address, DIAL_TIME).map_err(|error| error.to_string());
            // The worker may have ended.
            let _ = say.send(dialed);
            drop(end);
        });
        spawned.map_err(failed)?;
        self.0.push(UnderWay {
            session,
            target,
            done,
            outcome,
        });
        Ok(())
    }

    /// Readable when there is an outcome.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0.iter().map(|dial| dial.done.as_fd())
    }

    /// An outcome that there is now.
    pub fn next(&mut self) -> Option<Dialed> {
        let mut under_way = self.0.iter().enumerate();
        let (at, outcome) = under_way.find_map(|(at, dial)| match dial.outcome.try_recv() {
            Ok(outcome) => Some((at, outcome)),
            Err(TryRecvError::Disconnected) => Some((at, Err("its thread has ended".into()))),
            Err(TryRecvError::Empty) => None,
        })?;
        let UnderWay {
            session, target, ..
        } = self.0.swap_remove(at);
        Some(Dialed {
            session,
            target,
            outcome,
        })
    }
}
