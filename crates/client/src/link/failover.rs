//! Decides how a lost renderer of a tile is replaced. This module has no I/O and no clock: the
//! caller passes in the time, each loss and the outcome of each attempt.

use crate::options::Server;
use std::time::Duration;

/// The time from a failed attempt to the next one.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// The time before another attempt at a server that has another driver or other keys.
const UNFIT_RETRY_INTERVAL: Duration = Duration::from_secs(10);
/// How long a server may be unavailable before another one is requested: a restart takes a moment.
/// The request is repeated after the same time, because the mothership may have forgotten it.
const UNAVAILABLE_TIME: Duration = Duration::from_secs(3);
/// A renderer has failed early if it is lost before it has drawn for this time.
const STABLE_TIME: Duration = Duration::from_secs(10);
/// The number of early failures in a row after which another server is requested.
const EARLY_FAILURES_MAX: u32 = 3;

/// The renderer of one tile: how often it is lost, and how it is replaced.
pub struct Failover {
    /// The server that draws the tile, or will be tried. None without servers.
    server: Option<Server>,
    /// When the server began to draw.
    started: Duration,
    /// The number of early failures in a row.
    early_failures: u32,
    /// When the server became unavailable, or when that was last reported.
    unavailable_since: Duration,
    /// The time of the next attempt.
    due: Duration,
    /// Why the last attempt failed.
    why: String,
}

/// Why an attempt has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server cannot be reached, or the connection broke.
    Unavailable,
    /// The server would draw a different picture.
    Unfit,
    /// The cause is not the server: for example, none of the other renderers can give a snapshot
    /// at this time.
    NotNow,
    /// No renderer can ever give a snapshot.
    Never,
}

/// What is to be done after a loss or a failed attempt.
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
    /// A tile that `server` draws from time `now` on.
    pub fn new(server: Option<Server>, now: Duration) -> Failover {
        Failover {
            server,
            started: now,
            early_failures: 0,
            unavailable_since: now,
            due: now,
            why: String::new(),
        }
    }

    /// The renderer is lost at time `now`. If it fails early again and again, attempts become
    /// rarer, and another server is requested.
    pub fn lost(&mut self, now: Duration) -> Outcome {
        let is_early = now.saturating_sub(self.started) < STABLE_TIME;
        self.early_failures = if is_early { self.early_failures + 1 } else { 0 };
        let doublings = self.early_failures.saturating_sub(1).min(5);
        self.due = now + (RETRY_INTERVAL * (1 << doublings)).min(UNFIT_RETRY_INTERVAL);
        self.unavailable_since = now;
        self.why = String::new();
        let costs_tile = self.early_failures >= EARLY_FAILURES_MAX;
        Outcome {
            unfit: self.server.clone().filter(|_| costs_tile),
            ..Outcome::default()
        }
    }

    /// The server draws the tile from time `now` on.
    pub fn succeeded(&mut self, now: Duration) {
        self.started = now;
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
        self.early_failures = 0;
        self.unavailable_since = now;
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
                if now.saturating_sub(self.unavailable_since) >= UNAVAILABLE_TIME {
                    self.unavailable_since = now;
                    outcome.unfit = self.server.clone();
                }
            }
            Failure::Unfit => {
                self.due = now + UNFIT_RETRY_INTERVAL;
                outcome.unfit = self.server.clone();
                outcome.is_printed = is_new;
            }
            Failure::NotNow => self.unavailable_since = now,
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
        /// A tile that was drawn for a minute, before time 0.
        fn lost(server: Server) -> Tile {
            let minute = Duration::from_secs(60);
            let mut failover = Failover::new(Some(server), Duration::ZERO);
            failover.lost(minute);
            failover.due -= minute;
            failover.unavailable_since -= minute;
            Tile {
                now: Duration::ZERO,
                failover,
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
        // It is tried for ever. The mothership may forget requests, for example when the server
        // registers again, so they are repeated.
        tile.fails(Failure::Unavailable, "refused", 9_900);
        let at = |times: [u64; 3]| times.map(|time| (time, "unix:@a".to_string())).to_vec();
        assert_eq!(tile.requests, at([3_000, 6_000, 9_000]));
        assert_eq!(tile.printed, []);
    }

    #[test]
    fn another_server_is_tried_at_once_and_has_its_own_time() {
        let mut tile = Tile::lost(server("a"));
        tile.fails(Failure::Unavailable, "refused", 3_100);
        tile.failover.assign(server("b"), tile.now);
        assert_eq!(tile.failover.due(), Duration::from_millis(3_100));
        tile.fails(Failure::Unavailable, "refused", 6_200);
        let requests = [
            (3_000, "unix:@a".to_string()),
            (6_100, "unix:@b".to_string()),
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
    fn a_host_that_is_off_is_reported_after_one_long_attempt() {
        let mut tile = Tile::lost(server("a"));
        let failed = |tile: &mut Tile, at: u64| {
            let at = Duration::from_secs(at);
            tile.failover.failed(Failure::Unavailable, "no route", at)
        };
        assert!(failed(&mut tile, 10).unfit.is_some());
        // A renderer that cannot give a snapshot is not the fault of the server.
        let now = Duration::from_secs(20);
        tile.failover.failed(Failure::NotNow, "a query", now);
        assert_eq!(failed(&mut tile, 21).unfit, None);
    }

    #[test]
    fn a_server_that_fails_soon_after_each_snapshot_loses_its_tile() {
        let second = Duration::from_secs(1);
        let mut failover = Failover::new(Some(server("a")), Duration::ZERO);
        let mut now = 60 * second;
        let mut losses = |failover: &mut Failover, drew: Duration| {
            failover.succeeded(now);
            now += drew;
            let unfit = failover.lost(now).unfit.is_some();
            ((failover.due() - now).as_millis(), unfit)
        };
        let seen: Vec<_> = (0..7).map(|_| losses(&mut failover, second)).collect();
        let pauses = [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000];
        let wanted = pauses.into_iter().enumerate();
        assert!(seen
            .into_iter()
            .eq(wanted.map(|(n, pause)| (pause, n >= 2))));
        // A renderer that draws for a while resets the count, and so does another server.
        assert_eq!(losses(&mut failover, 10 * second), (500, false));
        assert_eq!(losses(&mut failover, second), (500, false));
        assert_eq!(losses(&mut failover, second), (1_000, false));
        failover.assign(server("b"), Duration::ZERO);
        assert_eq!(losses(&mut failover, second), (500, false));
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
