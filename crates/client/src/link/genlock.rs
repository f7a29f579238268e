//! Genlock of a wall: asks the tiles' servers for their clocks, and decides at which vertical blanks
//! they show frames.

use crate::link::session::Session;
use crate::log::line;
use mgn_genlock::{Coordinator, Phase, Sample};
use mgn_sys::clock::monotonic;
use mgn_wall::{Tile, Wall};
use mgn_wire::frames::Clocks;
use std::thread::{self, Thread};
use std::time::Duration;

/// How often the mothership is told of the displays' phases, in ns.
const REPORT_INTERVAL: i64 = 1_000_000_000;
/// When a display without known vertical blanks is reported to the user, in ns.
const UNKNOWN_AFTER: i64 = 5_000_000_000;
/// How long the thread sleeps at most.
const SLEEP_MAX: Duration = Duration::from_secs(1);

pub struct Genlock {
    pub coordinator: Coordinator,
    /// Wakes when a frame is to be shown later.
    thread: Option<Thread>,
}

impl Genlock {
    pub fn new(wall: &Wall) -> Genlock {
        let has_display = |tile: &Tile| tile.windows() > 0;
        Genlock {
            coordinator: Coordinator::new(wall.tiles.iter().map(has_display)),
            thread: None,
        }
    }

    /// The calling thread is the one to wake.
    pub fn wake_this_thread(&mut self) {
        self.thread.get_or_insert_with(thread::current);
    }

    /// The server of a tile has answered. Returns false if it sent something else.
    pub fn answer(&mut self, tile: usize, payload: &[u8]) -> bool {
        let Some(clocks) = Clocks::decode(payload) else {
            return false;
        };
        let times = Sample {
            sent: clocks.asked,
            received_there: clocks.received,
            sent_there: clocks.answered,
            received: monotonic(),
        };
        let vblank = clocks.vblank.map(|vblank| (vblank.number, vblank.time));
        self.coordinator.answer(tile, times, vblank, clocks.late);
        true
    }

    /// Whether the next frame may be shown now. Otherwise the thread will do it in time.
    pub fn is_ready(&self) -> bool {
        let is_ready = monotonic() >= self.coordinator.ready_at();
        // The thread itself goes by the time.
        let thread = self.thread.as_ref();
        let thread = thread.filter(|thread| thread.id() != thread::current().id());
        if let (false, Some(thread)) = (is_ready, thread) {
            thread.unpark();
        }
        is_ready
    }
}

/// What is due next, and the phases of the displays where they were wanted.
pub struct Turn {
    pub wake: i64,
    pub phases: Option<Vec<(Phase, bool)>>,
}

/// Starts the thread that calls `turn` whenever something is due: servers are to be asked, or a
/// frame that had to wait is to be shown. It is told whether it is to return phases, and returns
/// none when no renderer is left.
///
/// # Errors
/// One sentence, if there can be no thread.
pub fn start(
    session: &'static Session,
    turn: impl Fn(bool) -> Option<Turn> + Send + 'static,
) -> Result<(), String> {
    let thread = thread::Builder::new().name("mgn-genlock".into());
    let started = thread.spawn(move || follow(session, turn));
    let failed = |e| format!("cannot start the thread that synchronizes displays: {e}");
    started.map(drop).map_err(failed)
}

fn follow(session: &Session, turn: impl Fn(bool) -> Option<Turn>) {
    let started = monotonic();
    let mut reports = Reports {
        due: started.saturating_add(REPORT_INTERVAL),
        told: Vec::new(),
        unknown: Vec::new(),
    };
    while let Some(Turn { wake, phases }) = turn(reports.are_due()) {
        if let Some(phases) = phases {
            reports.send(session, phases, monotonic().saturating_sub(started));
        }
        let left = wake.saturating_sub(monotonic()).max(0);
        thread::park_timeout(Duration::from_nanos(left as u64).min(SLEEP_MAX));
    }
}

/// What the mothership and the user are told.
struct Reports {
    due: i64,
    told: Vec<(Phase, bool)>,
    /// Tiles whose vertical blanks are not known, as the user was told.
    unknown: Vec<usize>,
}

impl Reports {
    fn are_due(&mut self) -> bool {
        let now = monotonic();
        let is_due = now >= self.due;
        if is_due {
            self.due = now.saturating_add(REPORT_INTERVAL);
        }
        is_due
    }

    /// `phases` are the phases of all tiles, and whether these are shown on displays.
    fn send(&mut self, session: &Session, phases: Vec<(Phase, bool)>, age: i64) {
        let displays = phases.iter().enumerate().filter(|(_, (_, shown))| *shown);
        for (tile, (phase, _)) in displays {
            if self.told.get(tile).is_none_or(|(told, _)| told != phase) {
                session.assignments.say_phase(tile, *phase);
            }
            if phase.error.is_some() {
                self.unknown.retain(|unknown| *unknown != tile);
            } else if age > UNKNOWN_AFTER && !self.unknown.contains(&tile) {
                self.unknown.push(tile);
                let name = session.tile_name(tile);
                line(format!(
                    "the tile {name} is not genlocked: its server reports no vertical blanks of its display"
                ));
            }
        }
        self.told = phases;
    }
}
