//! How a tile whose renderer is lost gets another one. This module has no I/O and no clock: the
//! caller passes in the time and the outcome of each attempt.

use crate::options::Server;
use std::time::Duration;

/// The time from a failed attempt to the next one.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// The time before another attempt at a server that has another driver, or other keys.
const UNFIT_RETRY_INTERVAL: Duration = Duration::from_secs(10);
/// How often a server may be unavailable before another one is requested: a server that is started
/// again takes a moment.
const UNAVAILABLE_MAX: u32 = 6;

/// The state of one tile, from the loss of its renderer until another one draws it.
pub struct Failover {
    /// The server to try. None without servers.
    server: Option<Server>,
    /// How often it was unavailable.
    unavailable: u32,
    /// When to try.
    due: Duration,
    /// Why the last attempt failed.
    why: String,
}

/// Why an attempt has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server cannot be reached, or the connection broke.
    Unavailable,
    /// The server would draw something else.
    Unfit,
    /// None of the other renderers can give a snapshot at this time.
    NotNow,
    /// No renderer can ever give one.
    Never,
}

/// What is to be done after a failed attempt.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The user is told of the reason.
    pub is_printed: bool,
    /// The reason is new, so it is logged.
    pub is_logged: bool,
    /// Another server is requested in place of this one.
    pub unfit: Option<Server>,
    /// There is no further attempt.
    pub is_over: bool,
}

impl Failover {
    /// A tile whose renderer was lost at time `now`. `server` drew it.
    pub fn new(server: Option<Server>, now: Duration) -> Failover {
        Failover {
            server,
            unavailable: 0,
            due: now + RETRY_INTERVAL,
            why: String::new(),
        }
    }

    /// The server to try at the next attempt.
    pub fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    /// When the next attempt is due.
    pub fn due(&self) -> Duration {
        self.due
    }

    /// From now on, `server` is to draw the tile. It is tried at once.
    pub fn assign(&mut self, server: Server, now: Duration) {
        self.server = Some(server);
        self.unavailable = 0;
        self.due = now;
    }

    /// An attempt has failed at time `now`.
    pub fn failed(&mut self, failure: Failure, why: &str, now: Duration) -> Outcome {
        let is_new = self.why != why;
        self.why = why.to_string();
        self.due = now + RETRY_INTERVAL;
        let mut outcome = Outcome {
            is_logged: is_new,
            ..Outcome::default()
        };
        match failure {
            Failure::Unavailable => {
                self.unavailable += 1;
                if self.unavailable == UNAVAILABLE_MAX {
                    outcome.unfit = self.server.clone();
                }
            }
            Failure::Unfit => {
                self.due = now + UNFIT_RETRY_INTERVAL;
                outcome.unfit = self.server.clone();
                outcome.is_printed = is_new;
            }
            Failure::NotNow => {}
            Failure::Never => {
                outcome.is_printed = true;
                outcome.is_over = true;
            }
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str) -> Server {
        let address = format!("unix:@{name}");
        let mut servers = crate::options::servers(&address, "unix", "", "").unwrap();
        servers.remove(0)
    }

    /// A tile on the virtual clock.
    struct Tile {
        now: Duration,
        failover: Failover,
        /// The times of requests for another server, and the servers to be replaced.
        requests: Vec<(u64, String)>,
        printed: Vec<(u64, String)>,
    }

    impl Tile {
        fn lost(server: Server) -> Tile {
            Tile {
                now: Duration::ZERO,
                failover: Failover::new(Some(server), Duration::ZERO),
                requests: Vec::new(),
                printed: Vec::new(),
            }
        }

        /// Makes all attempts until `end`, which fail in this way.
        fn fails(&mut self, failure: Failure, why: &str, end: u64) {
            while self.failover.due() < Duration::from_millis(end) {
                self.now = self.now.max(self.failover.due());
                let at = self.now.as_millis() as u64;
                let outcome = self.failover.failed(failure, why, self.now);
                if let Some(server) = outcome.unfit {
                    self.requests.push((at, server.address.to_string()));
                }
                if outcome.is_printed {
                    self.printed.push((at, why.to_string()));
                }
                if outcome.is_over {
                    return;
                }
                assert!(
                    self.failover.due() > self.now,
                    "it never tries without a pause"
                );
            }
            self.now = Duration::from_millis(end);
        }
    }

    #[test]
    fn a_server_has_three_seconds_to_start_again() {
        let mut tile = Tile::lost(server("a"));
        tile.fails(Failure::Unavailable, "refused", 2_900);
        assert_eq!(tile.requests, []);
        // It is tried for ever, and another one is requested once.
        tile.fails(Failure::Unavailable, "refused", 60_000);
        assert_eq!(tile.requests, [(3_000, "unix:@a".to_string())]);
        assert_eq!(tile.printed, []);
    }

    #[test]
    fn another_server_is_tried_at_once_and_has_its_own_time() {
        let mut tile = Tile::lost(server("a"));
        tile.fails(Failure::Unavailable, "refused", 3_100);
        tile.failover.assign(server("b"), tile.now);
        assert_eq!(tile.failover.due(), Duration::from_millis(3_100));
        tile.fails(Failure::Unavailable, "refused", 60_000);
        let requests = [
            (3_000, "unix:@a".to_string()),
            (5_600, "unix:@b".to_string()),
        ];
        assert_eq!(tile.requests, requests);
    }

    #[test]
    fn a_server_with_another_driver_is_reported_at_once_and_tried_rarely() {
        let mut tile = Tile::lost(server("a"));
        tile.fails(Failure::Unfit, "another driver", 30_000);
        let at = |times: [u64; 3]| times.map(|time| (time, "unix:@a".to_string())).to_vec();
        assert_eq!(tile.requests, at([500, 10_500, 20_500]));
        // The user reads it once.
        assert_eq!(tile.printed, [(500, "another driver".to_string())]);
        // Meanwhile another one may be assigned.
        tile.failover.assign(server("b"), tile.now);
        assert_eq!(tile.failover.due(), tile.now);
    }

    #[test]
    fn a_snapshot_that_must_wait_does_not_cost_the_server_its_tile() {
        let mut tile = Tile::lost(server("a"));
        tile.fails(Failure::NotNow, "a query is under way", 60_000);
        assert_eq!((tile.requests.len(), tile.printed.len()), (0, 0));
        tile.fails(Failure::Never, "a fence", 90_000);
        assert_eq!(tile.printed, [(60_000, "a fence".to_string())]);
    }

    #[test]
    fn a_reason_is_logged_once() {
        let mut failover = Failover::new(None, Duration::ZERO);
        let mut is_logged = |why: &str| {
            let outcome = failover.failed(Failure::Unavailable, why, Duration::ZERO);
            assert_eq!(outcome.unfit, None);
            outcome.is_logged
        };
        let reasons = ["refused", "refused", "gone", "refused"];
        assert_eq!(reasons.map(&mut is_logged), [true, false, true, true]);
    }
}
