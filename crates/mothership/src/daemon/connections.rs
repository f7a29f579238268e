//! Threads that receive from and send to each connection.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mgn_fabric::admission::Refusals;
use mgn_fabric::{Access, Caller, Incoming, Listener, Role};

use super::Event;
use crate::core::Conn;
use crate::link;
use crate::protocol::{self, FromMothership, Opening, ToMothership};
use crate::Error;

/// The largest number of simultaneous connections.
const CONNECTIONS_MAX: usize = 1000;
/// The largest number of messages that wait to be sent on a connection.
const QUEUE: usize = 256;
/// How often threads check whether they must end.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// How long the other end of a closed connection may take to read the last messages.
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(2);
const FAREWELL_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// The open connections, by their numbers.
pub(super) struct Connections {
    all: BTreeMap<Conn, Connection>,
    slots: Slots,
    refusals: Refusals,
}

/// The connections that have a thread and a socket, including those that are being closed.
#[derive(Clone, Default)]
struct Slots(Arc<Mutex<BTreeMap<Conn, Caller>>>);

impl Slots {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Conn, Caller>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one connection.
struct ConnectionSlot {
    slots: Slots,
    conn: Conn,
}

impl ConnectionSlot {
    /// A place for a caller's connection, or the reason why there is none.
    fn take(slots: &Slots, conn: Conn, caller: Caller) -> Result<ConnectionSlot, String> {
        let mut taken = slots.lock();
        caller.may_enter("the mothership", CONNECTIONS_MAX, taken.values())?;
        taken.insert(conn, caller);
        let slots = slots.clone();
        Ok(ConnectionSlot { slots, conn })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.slots.lock().remove(&self.conn);
    }
}

struct Connection {
    outbox: SyncSender<FromMothership>,
    is_closed: Arc<AtomicBool>,
    caller: Caller,
}

impl Default for Connections {
    fn default() -> Connections {
        Connections {
            all: BTreeMap::new(),
            slots: Slots::default(),
            refusals: Refusals::of("connections that were refused"),
        }
    }
}

impl Connections {
    /// Admits a connection. Its messages arrive as events. Returns false if the connection is
    /// refused.
    pub fn add(&mut self, conn: Conn, incoming: Incoming, events: &SyncSender<Event>) -> bool {
        let caller = incoming.caller();
        let opening: Option<Opening> = protocol::decode(incoming.opening());
        if opening.is_none_or(|opening| opening.version != protocol::VERSION) {
            let why = "this is a mothership, and it does not understand this client. If you meant the mothership, name it by --mothership, and use the same release on both ends";
            self.refuse(&caller, why);
            incoming.refuse(why);
            return false;
        }
        let slot = match ConnectionSlot::take(&self.slots, conn, caller.clone()) {
            Ok(slot) => slot,
            Err(why) => {
                self.refuse(&caller, &why);
                incoming.refuse(&why);
                return false;
            }
        };
        let (outbox, inbox) = std::sync::mpsc::sync_channel(QUEUE);
        let is_closed = Arc::new(AtomicBool::new(false));
        let (closed, events) = (is_closed.clone(), events.clone());
        let spawned = thread::Builder::new()
            .name("connection".into())
            .spawn(move || {
                let why = serve(conn, incoming, inbox, &closed, &events);
                // If the mothership has ended, the events have no receiver.
                let _ = events.send(Event::Leaves(conn, why));
                drop(slot);
            });
        if let Err(error) = spawned {
            let why = format!("cannot start a thread for it: {error}");
            self.refuse(&caller, &why);
            return false;
        }
        let connection = Connection {
            outbox,
            is_closed,
            caller,
        };
        self.all.insert(conn, connection);
        true
    }

    /// Whether the connection is open.
    pub fn has(&self, conn: Conn) -> bool {
        self.all.contains_key(&conn)
    }

    /// Whether a connection may send this message.
    ///
    /// # Errors
    /// One sentence for the other end.
    pub fn require(&self, conn: Conn, message: &ToMothership) -> Result<(), String> {
        let Some(connection) = self.all.get(&conn) else {
            return Err("the connection is closed".into());
        };
        match message.needs() {
            Some((needed, doing)) => connection.caller.require(needed, doing),
            None => Ok(()),
        }
    }

    /// Closes a connection whose other end has done something that is not permitted, and logs that.
    pub fn turn_away(&mut self, conn: Conn, why: &str) {
        if let Some(connection) = self.all.get(&conn) {
            self.refuse(&connection.caller.clone(), why);
        }
        self.close(conn);
    }

    fn refuse(&mut self, caller: &Caller, why: &str) {
        let who = format!("a connection from {}", caller.source());
        self.refusals.log(caller.source(), &who, None, why);
    }

    /// Logs how many connections were turned away, when that is due.
    pub fn report(&mut self) {
        self.refusals.log_report();
    }

    /// Connections whose tokens have been revoked, and why they cannot stay.
    pub fn revoked(&self, access: &Access) -> Vec<(Conn, String)> {
        let all = self.all.iter();
        all.filter_map(|(conn, connection)| Some((*conn, access.revoked(&connection.caller)?)))
            .collect()
    }

    /// Sends a message. If the other end does not read its messages, this closes the connection and
    /// returns false.
    pub fn send(&mut self, conn: Conn, message: FromMothership) -> bool {
        match self.all.get(&conn).map(|to| to.outbox.try_send(message)) {
            None | Some(Ok(())) => true,
            Some(Err(_)) => {
                self.close(conn);
                false
            }
        }
    }

    /// Closes a connection after the messages to it have been sent.
    pub fn close(&mut self, conn: Conn) {
        if let Some(connection) = self.all.remove(&conn) {
            connection.is_closed.store(true, Ordering::Relaxed);
        }
    }
}

/// Serves one connection until it ends, and returns the reason for the end.
fn serve(
    conn: Conn,
    incoming: Incoming,
    inbox: Receiver<FromMothership>,
    is_closed: &AtomicBool,
    events: &SyncSender<Event>,
) -> String {
    let may_serve = incoming.caller().require(Role::Server, "register a server");
    let message_max = match may_serve {
        Ok(()) => protocol::MESSAGE_MAX,
        Err(_) => protocol::CLIENT_MESSAGE_MAX,
    };
    let connection = match incoming.accept(&[], &link::sizes(message_max)) {
        Ok(connection) => connection,
        Err(error) => return error.to_string(),
    };
    let (sender, mut receiver) = connection.split();
    let sender = Arc::new(sender);
    let telling = Arc::downgrade(&sender);
    let tell = move || {
        // Dropping the sender closes the connection, so that the other end sees an orderly end.
        while let Ok(message) = inbox.recv() {
            if sender.send(&protocol::encode(&message)).is_err() {
                return;
            }
        }
    };
    if let Err(error) = thread::Builder::new().name("telling".into()).spawn(tell) {
        return error.to_string();
    }
    let why = receive(conn, &mut receiver, is_closed, events);
    // The last messages should arrive. But an end that does not read them must not keep a thread
    // and a socket.
    let limit = Instant::now() + FAREWELL_TIMEOUT;
    let is_telling = || telling.strong_count() > 0;
    while is_closed.load(Ordering::Relaxed) && is_telling() && Instant::now() < limit {
        thread::sleep(FAREWELL_CHECK_INTERVAL);
    }
    if let Some(sender) = telling.upgrade() {
        sender.hang_up();
    }
    why
}

/// Receives messages until the connection ends, and returns the reason for the end.
fn receive(
    conn: Conn,
    receiver: &mut mgn_fabric::Receiver,
    is_closed: &AtomicBool,
    events: &SyncSender<Event>,
) -> String {
    // A closed connection ends even if the other end continues to send.
    while !is_closed.load(Ordering::Relaxed) {
        let message = match receiver.recv(Some(STOP_CHECK_INTERVAL)) {
            Ok(None) => continue,
            Ok(Some(message)) => message.to_vec(),
            Err(mgn_fabric::Error::Closed(_)) => return "its connection has ended".into(),
            Err(error) => return error.to_string(),
        };
        let event = match ToMothership::decode(&message) {
            Ok(message) => Event::Hears(conn, message),
            Err(why) => Event::Misbehaves(conn, why.to_string()),
        };
        if events.send(event).is_err() {
            return "the mothership ends".into();
        }
    }
    "it was closed".into()
}

/// Accepts all connections of a listener, until `stop`.
pub(super) fn listen(
    listener: Listener,
    next: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    events: SyncSender<Event>,
) -> Result<JoinHandle<()>, Error> {
    let take = move || {
        while !stop.load(Ordering::Relaxed) {
            match listener.accept_timeout(STOP_CHECK_INTERVAL) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fabric::{Address, Transport};

    const TIMEOUT: Duration = Duration::from_secs(30);
    const MESSAGES: usize = 8;

    /// Sends [`MESSAGES`] long messages on a connection and closes it. Returns the number of
    /// messages that arrive. The other end begins to read at once, or, with `reads_late`, after the
    /// mothership has given the connection up.
    fn received(name: &str, reads_late: bool) -> usize {
        let address = Address::Unix(
            std::env::temp_dir().join(format!("mgn-connections-{name}-{}", std::process::id())),
        );
        let listener = Listener::bind(&address, None).unwrap();
        let (events, seen) = std::sync::mpsc::sync_channel(1);
        let mut connections = Connections::default();
        let conn = Conn(1);
        let opening = protocol::encode(&Opening {
            version: protocol::VERSION,
        });
        let client = thread::spawn(move || {
            mgn_fabric::connect(&address, Transport::Unix, None, &opening, TIMEOUT).unwrap()
        });
        assert!(connections.add(conn, listener.accept().unwrap(), &events));
        let (_sender, mut receiver) = client.join().unwrap().0.split();
        for _ in 0..MESSAGES {
            let long = "x".repeat(900 << 10);
            assert!(connections.send(conn, FromMothership::Refused(long)));
        }
        connections.close(conn);
        let ends = || {
            let event = seen.recv_timeout(TIMEOUT).unwrap();
            assert!(matches!(event, Event::Leaves(Conn(1), _)));
        };
        if reads_late {
            ends();
        }
        let messages = std::iter::from_fn(|| receiver.recv(Some(TIMEOUT)).ok().flatten());
        let count = messages.count();
        if !reads_late {
            ends();
        }
        count
    }

    /// A closed connection counts until its thread has ended. The thread ends after the last event.
    #[test]
    fn a_closed_connection_counts_until_its_thread_has_ended() {
        let address = Address::Unix(
            std::env::temp_dir().join(format!("mgn-connections-slot-{}", std::process::id())),
        );
        let listener = Listener::bind(&address, None).unwrap();
        let (events, seen) = std::sync::mpsc::sync_channel(0);
        let mut connections = Connections::default();
        let opening = protocol::encode(&Opening {
            version: protocol::VERSION,
        });
        let client = thread::spawn(move || {
            mgn_fabric::connect(&address, Transport::Unix, None, &opening, TIMEOUT).unwrap()
        });
        assert!(connections.add(Conn(1), listener.accept().unwrap(), &events));
        let (_sender, mut receiver) = client.join().unwrap().0.split();
        connections.close(Conn(1));
        assert!(receiver.recv(Some(TIMEOUT)).is_err(), "it is closed");
        assert_eq!(connections.slots.lock().len(), 1);
        seen.recv_timeout(TIMEOUT).unwrap();
        let limit = Instant::now() + TIMEOUT;
        while !connections.slots.lock().is_empty() {
            assert!(Instant::now() < limit, "it counts forever");
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn the_last_messages_of_a_closed_connection_arrive() {
        assert_eq!(received("read", false), MESSAGES);
    }

    #[test]
    fn a_closed_connection_is_given_up_if_nobody_reads_it() {
        assert!(received("unread", true) < MESSAGES);
    }
}
