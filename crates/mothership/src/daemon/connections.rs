//! Threads that hear and tell those who are connected.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mgn_fabric::{Identity, Incoming, Listener};

use super::Event;
use crate::core::Conn;
use crate::link;
use crate::protocol::{self, FromMothership, Opening, ToMothership};
use crate::Error;

/// Connections at once.
const MOST: usize = 1000;
/// Messages that wait for somebody to take them.
const QUEUE: usize = 256;
/// How soon threads see that they are to end.
const LOOK: Duration = Duration::from_millis(500);

/// Those who are connected, by their numbers.
#[derive(Default)]
pub(super) struct Connections {
    all: BTreeMap<Conn, Connection>,
}

struct Connection {
    outbox: SyncSender<FromMothership>,
    is_closed: Arc<AtomicBool>,
    /// Whose token was proved. None at unix sockets, where the kernel says that it is our own user.
    identity: Option<Identity>,
}

impl Connections {
    /// Lets somebody in, whose messages come as events.
    pub fn add(&mut self, conn: Conn, incoming: Incoming, events: &SyncSender<Event>) -> bool {
        let opening: Option<Opening> = protocol::decode(incoming.opening());
        if opening.is_none_or(|opening| opening.version != protocol::VERSION) {
            tracing::warn!("somebody of another release was turned away");
            incoming.refuse("the mothership is of another release; use the same on both ends");
            return false;
        }
        if self.all.len() >= MOST {
            tracing::warn!("somebody was turned away: {MOST} connections are the limit");
            incoming.refuse("the mothership has its limit of connections");
            return false;
        }
        let identity = incoming.identity().cloned();
        let (outbox, inbox) = std::sync::mpsc::sync_channel(QUEUE);
        let is_closed = Arc::new(AtomicBool::new(false));
        let (closed, events) = (is_closed.clone(), events.clone());
        let spawned = thread::Builder::new()
            .name("connection".into())
            .spawn(move || {
                let why = serve(conn, incoming, inbox, &closed, &events);
                // Nobody listens any more if the mothership has ended.
                let _ = events.send(Event::Leaves(conn, why));
            });
        if let Err(error) = spawned {
            tracing::warn!("somebody was turned away: no thread: {error}");
            return false;
        }
        let connection = Connection {
            outbox,
            is_closed,
            identity,
        };
        self.all.insert(conn, connection);
        true
    }

    /// Whether the connection is open.
    pub fn has(&self, conn: Conn) -> bool {
        self.all.contains_key(&conn)
    }

    /// Why a connection may not send this message; None if it is permitted. Unix sockets have no
    /// identity: the kernel admits only the mothership's own user and root there.
    pub fn lacks(&self, conn: Conn, message: &ToMothership) -> Option<String> {
        let Some(connection) = self.all.get(&conn) else {
            return Some("the connection is closed".into());
        };
        let identity = connection.identity.as_ref()?;
        let (needed, doing) = message.needs()?;
        (!identity.role.permits(needed)).then(|| identity.lacks(needed, doing))
    }

    /// False where somebody does not take what is sent, and has been given up.
    pub fn send(&mut self, conn: Conn, message: FromMothership) -> bool {
        match self.all.get(&conn).map(|to| to.outbox.try_send(message)) {
            None | Some(Ok(())) => true,
            Some(Err(_)) => {
                self.close(conn);
                false
            }
        }
    }

    /// Closes a connection when all has gone that was sent.
    pub fn close(&mut self, conn: Conn) {
        if let Some(connection) = self.all.remove(&conn) {
            connection.is_closed.store(true, Ordering::Relaxed);
        }
    }
}

/// Hears one connection until it ends, and says why it did.
fn serve(
    conn: Conn,
    incoming: Incoming,
    inbox: Receiver<FromMothership>,
    is_closed: &AtomicBool,
    events: &SyncSender<Event>,
) -> String {
    let connection = match incoming.accept(&[], &link::sizes()) {
        Ok(connection) => connection,
        Err(error) => return error.to_string(),
    };
    let (sender, mut receiver) = connection.split();
    let tell = move || {
        // Dropping the sender closes the connection, which the other end takes for a farewell.
        while let Ok(message) = inbox.recv() {
            if sender.send(&protocol::encode(&message)).is_err() {
                return;
            }
        }
    };
    if let Err(error) = thread::Builder::new().name("telling".into()).spawn(tell) {
        return error.to_string();
    }
    loop {
        match receiver.recv(Some(LOOK)) {
            Ok(None) if is_closed.load(Ordering::Relaxed) => return "it was closed".into(),
            Ok(None) => {}
            Ok(Some(message)) => match protocol::decode::<ToMothership>(&message.to_vec()) {
                Some(message) => {
                    if events.send(Event::Hears(conn, message)).is_err() {
                        return "the mothership ends".into();
                    }
                }
                None => {
                    tracing::warn!("somebody sent what makes no sense, and was turned away");
                    return "it sent what makes no sense".into();
                }
            },
            Err(mgn_fabric::Error::Closed(_)) => return "its connection has ended".into(),
            Err(error) => return error.to_string(),
        }
    }
}

/// Takes whoever comes to a listener, until `stop`.
pub(super) fn listen(
    listener: Listener,
    next: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    events: SyncSender<Event>,
) -> Result<JoinHandle<()>, Error> {
    let take = move || {
        while !stop.load(Ordering::Relaxed) {
            match listener.accept_timeout(LOOK) {
                Ok(None) => {}
                Ok(Some(incoming)) => {
                    let conn = Conn(next.fetch_add(1, Ordering::Relaxed));
                    if events.send(Event::Comes(conn, incoming)).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    let _ = events.send(Event::Fails(error.into()));
                    return;
                }
            }
        }
    };
    let thread = thread::Builder::new().name("listener".into()).spawn(take);
    thread.map_err(Error::io("cannot start a thread"))
}
