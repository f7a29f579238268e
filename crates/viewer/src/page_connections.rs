//! Connections for the page and its parts, which anyone can open. Connections of pages that have
//! shown the token do not count here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mgn_fabric::admission::{Admission, Refusals, Source};
use tokio::task::AbortHandle;

/// The maximum number of connections at one time.
const CONNECTIONS_MAX: usize = 128;
/// How long a connection may last. A page loads in less time, even over slow lines, and nothing
/// waits for a visitor that reads nothing.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Default)]
pub struct PageConnections {
    state: Mutex<State>,
}

struct State {
    admission: Admission,
    refusals: Refusals,
    connections: HashMap<u64, (Source, AbortHandle)>,
}

/// The place of one connection. It is freed when this is dropped.
pub struct PageConnection {
    page_connections: Arc<PageConnections>,
    number: u64,
}

impl PageConnections {
    /// Gives a connection a place, for which another connection may be closed. `serve` starts its
    /// task.
    pub fn admit(
        self: &Arc<Self>,
        source: Source,
        serve: impl FnOnce(PageConnection) -> AbortHandle,
    ) {
        let now = Instant::now();
        let mut state = self.lock();
        let (number, lost) = state.admission.admit(source, now);
        state.end(lost, "too many connections at once", now);
        drop(state);
        let page_connections = self.clone();
        let task = serve(PageConnection {
            page_connections,
            number,
        });
        self.lock().connections.insert(number, (source, task));
    }

    /// Closes another connection, because the system has no room for one that could not be
    /// accepted.
    pub fn make_room(&self, error: &std::io::Error) {
        let now = Instant::now();
        let mut state = self.lock();
        let why = format!("the system has no room: {error}");
        let lost = state.admission.evict(now);
        state.end(lost, &why, now);
        state.refuse(Source::Unknown, &why, now);
    }

    /// Logs that a connection was refused, unless many are.
    pub fn refuse(&self, source: Source, why: &str) {
        self.lock().refuse(source, why, Instant::now());
    }

    /// Ends connections whose time is over, and writes pending log lines.
    pub fn tick(&self) {
        let now = Instant::now();
        let mut state = self.lock();
        let late = state.admission.expire(now);
        state.end(late, "it took too long", now);
        if let Some(report) = state.refusals.report(now) {
            tracing::warn!("the viewer's page: {report}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for State {
    fn default() -> State {
        State {
            admission: Admission::new(CONNECTIONS_MAX, CONNECTION_TIMEOUT),
            refusals: Refusals::default(),
            connections: HashMap::new(),
        }
    }
}

impl State {
    fn end(&mut self, lost: impl IntoIterator<Item = u64>, why: &str, now: Instant) {
        for number in lost {
            if let Some((source, task)) = self.connections.remove(&number) {
                task.abort();
                self.refuse(source, why, now);
            }
        }
    }

    fn refuse(&mut self, source: Source, why: &str, now: Instant) {
        if self.refusals.note(source, why, now) {
            tracing::warn!("a connection to the viewer's page from {source} was closed: {why}");
        }
    }
}

impl Drop for PageConnection {
    fn drop(&mut self) {
        let mut state = self.page_connections.lock();
        state.admission.leave(self.number);
        state.connections.remove(&self.number);
    }
}
