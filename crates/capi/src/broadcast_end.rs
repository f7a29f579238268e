//! One end of a broadcast connection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mgn_fabric::job::{Reader, Writer};
use mgn_fabric::Message;

use crate::fault::{Code, Fault};
use crate::sync::lock;

/// The interval in which a thread that waits for a message checks whether the end was closed.
const CLOSE_CHECK_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) enum BroadcastEnd {
    Writer(Writer),
    Reader {
        reader: Mutex<Reader>,
        is_closed: AtomicBool,
    },
}

impl From<Writer> for BroadcastEnd {
    fn from(writer: Writer) -> BroadcastEnd {
        BroadcastEnd::Writer(writer)
    }
}

impl From<Reader> for BroadcastEnd {
    fn from(reader: Reader) -> BroadcastEnd {
        BroadcastEnd::Reader {
            reader: Mutex::new(reader),
            is_closed: AtomicBool::new(false),
        }
    }
}

impl BroadcastEnd {
    /// Ends all waits. The end itself is dropped with its last reference.
    pub(crate) fn close(&self) {
        match self {
            BroadcastEnd::Writer(writer) => writer.close(),
            BroadcastEnd::Reader { is_closed, .. } => is_closed.store(true, Ordering::Relaxed),
        }
    }

    pub(crate) fn writer(&self) -> Result<&Writer, Fault> {
        match self {
            BroadcastEnd::Writer(writer) => Ok(writer),
            BroadcastEnd::Reader { .. } => Err(Fault::argument("this process reads the broadcast")),
        }
    }

    pub(crate) fn take(&self, timeout: Option<Duration>) -> Result<Message, Fault> {
        let BroadcastEnd::Reader { reader, is_closed } = self else {
            return Err(Fault::argument("this process writes the broadcast"));
        };
        let begin = Instant::now();
        loop {
            let left = timeout.map_or(CLOSE_CHECK_INTERVAL, |all| {
                all.saturating_sub(begin.elapsed())
                    .min(CLOSE_CHECK_INTERVAL)
            });
            // Several threads may wait; each holds the lock for one interval.
            let mut reader = lock(reader);
            if is_closed.load(Ordering::Relaxed) {
                let text = "the broadcast has been closed here";
                return Err(Fault::new(Code::Closed, text));
            }
            if let Some(message) = reader.recv(Some(left))? {
                return Ok(message);
            }
            if timeout.is_some_and(|all| begin.elapsed() >= all) {
                return Err(Fault::timeout("waiting for a message"));
            }
        }
    }
}
