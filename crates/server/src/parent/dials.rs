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

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{poll, PollFd, PollFlags};
    use std::net::{TcpListener, TcpStream};

    fn viewer(target: u16, port: u16) -> Viewer {
        Viewer {
            target,
            address: format!("tcp:127.0.0.1:{port}").parse().unwrap(),
            last: None,
        }
    }

    fn wait(dials: &mut Dials) -> Dialed {
        loop {
            let mut fds: Vec<PollFd<'_>> = dials
                .descriptors()
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            assert!(!fds.is_empty());
            poll(&mut fds, None).unwrap();
            if let Some(dialed) = dials.next() {
                return dialed;
            }
        }
    }

    #[test]
    fn a_session_has_its_viewers_connected_to_and_nothing_else() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap();
        let mut viewers = [viewer(2, place.port())];
        let mut dials = Dials::default();
        assert!(dials.begin(7, 0, &mut viewers).is_err());
        assert_eq!(dials.descriptors().count(), 0);
        dials.begin(7, 2, &mut viewers).unwrap();
        // Only one at a time.
        assert!(dials.begin(7, 2, &mut viewers).is_err());
        let dialed = wait(&mut dials);
        assert_eq!((dialed.session, dialed.target), (7, 2));
        let socket = TcpStream::from(dialed.outcome.unwrap());
        assert_eq!(socket.peer_addr().unwrap(), place);
        assert_eq!(dials.descriptors().count(), 0);
    }

    #[test]
    fn a_viewer_that_is_not_there_is_tried_again_after_a_pause() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut viewers = [viewer(0, listener.local_addr().unwrap().port())];
        drop(listener);
        let mut dials = Dials::default();
        let began = Instant::now();
        for _ in 0..2 {
            dials.begin(7, 0, &mut viewers).unwrap();
            let why = wait(&mut dials).outcome.unwrap_err();
            assert!(why.contains("127.0.0.1"), "{why}");
        }
        assert!(began.elapsed() >= DIAL_EVERY);
    }
}
