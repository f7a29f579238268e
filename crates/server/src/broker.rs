//! Connections to viewers, which a worker may not make: its server makes them and passes it the
//! sockets.
//!
//! Which viewers these are, the server knows from the client's first message, and whether the
//! client may have pictures shown there. So a client that has taken over a worker cannot have it
//! connect anywhere else.

use crate::control::{tell, FromWorker};
use mgn_fabric::{Address, Error};
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{sync_channel, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A viewer: the session, and the place of the viewer among those where its tile is shown.
type Viewer = (u64, u16);
type Outcome = Result<OwnedFd, String>;

/// The worker's end.
#[derive(Debug)]
pub(crate) struct Broker {
    control: Arc<UnixStream>,
    waiting: Mutex<HashMap<Viewer, SyncSender<Outcome>>>,
}

impl Broker {
    pub fn new(control: Arc<UnixStream>) -> Arc<Broker> {
        Arc::new(Broker {
            control,
            waiting: Mutex::default(),
        })
    }

    /// Asks the server for a socket that is connected to a viewer. The server answers always, or
    /// ends.
    fn dial(&self, viewer: Viewer, address: &Address) -> Result<OwnedFd, Error> {
        let unreachable = |why: &str| Error::Unreachable {
            address: address.to_string(),
            source: io::Error::other(why),
        };
        let (answer, answered) = sync_channel(1);
        self.lock().insert(viewer, answer);
        let (session, target) = viewer;
        tell(&self.control, &FromWorker::Dial { session, target });
        match answered.recv() {
            Ok(outcome) => outcome.map_err(|why| unreachable(&why)),
            Err(_) => Err(unreachable("the server asks for another connection")),
        }
    }

    /// Takes the server's answer.
    pub fn answer(&self, session: u64, target: u16, outcome: Outcome) {
        if let Some(answer) = self.lock().remove(&(session, target)) {
            // Room for one answer is there.
            let _ = answer.try_send(outcome);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Viewer, SyncSender<Outcome>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects to the viewers of one session.
#[derive(Debug, Clone)]
pub(crate) struct Dialer {
    pub broker: Arc<Broker>,
    pub session: u64,
}

impl Dialer {
    /// For the viewer in that place among those where the session's tile is shown.
    pub fn to(&self, target: u16) -> impl Fn(&Address, Duration) -> Result<OwnedFd, Error> + Send {
        let Dialer { broker, session } = self.clone();
        move |address, _| broker.dial((session, target), address)
    }
}
