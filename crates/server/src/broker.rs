//! Connections to viewers. A worker may not make them, so its server makes them and hands them
//! over.
//!
//! The client's first message tells the server which viewers these are, and the server knows
//! whether the client may show pictures there. So a client that has taken over a worker can reach
//! no other address through the server, and finds no token in the worker.

use crate::control::{notify_server, FromWorker};
use mgn_fabric::{take_over, Address, Connection, Handover};
use mgn_viewer::NoViewer;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{sync_channel, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A viewer: its session, and its index among the places where the session's tile is shown.
type Key = (u64, u16);
/// The parts from which [`take_over`] makes a connection, or why there is none.
pub(crate) type Outcome = Result<(OwnedFd, Handover), NoViewer>;

/// The worker's side of these requests.
#[derive(Debug)]
pub(crate) struct Broker {
    control: Arc<UnixStream>,
    waiting: Mutex<HashMap<Key, SyncSender<Outcome>>>,
}

impl Broker {
    pub fn new(control: Arc<UnixStream>) -> Arc<Broker> {
        Arc::new(Broker {
            control,
            waiting: Mutex::default(),
        })
    }

    /// Asks the server for a connection to a viewer. The server always answers, unless it ends.
    fn connect(&self, viewer: Key, address: &Address) -> Result<Connection, NoViewer> {
        let (answer, answered) = sync_channel(1);
        self.lock().insert(viewer, answer);
        let (session, target) = viewer;
        notify_server(&self.control, &FromWorker::Connect { session, target });
        let outcome = answered.recv().map_err(|_| NoViewer {
            why: "the session asks for another connection".into(),
            is_final: true,
        });
        let (socket, bytes) = outcome??;
        Ok(take_over(socket, &bytes, address)?)
    }

    /// Passes the server's answer to the thread that waits for it.
    pub fn answer(&self, session: u64, target: u16, outcome: Outcome) {
        if let Some(answer) = self.lock().remove(&(session, target)) {
            // The channel has room for this one answer.
            let _ = answer.try_send(outcome);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, SyncSender<Outcome>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects to the viewers that several sessions share, on behalf of one of the sessions.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    pub broker: Arc<Broker>,
    /// The sessions that have not ended.
    pub sessions: Arc<Mutex<Vec<u64>>>,
}

impl Connector {
    /// Returns a function that connects to the viewer with this index among the places where the
    /// sessions' tile is shown.
    pub fn to(
        &self,
        target: u16,
        address: Address,
    ) -> impl Fn() -> Result<Connection, NoViewer> + Send {
        let Connector { broker, sessions } = self.clone();
        move || {
            let session = {
                let sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
                sessions.last().copied()
            };
            let session = session.ok_or_else(|| NoViewer {
                why: "all sessions have ended".into(),
                is_final: true,
            })?;
            broker.connect((session, target), &address)
        }
    }
}
