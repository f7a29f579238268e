//! Genlock of a wall: asks the tiles' servers for their clocks, and decides at which vertical
//! blanks they show frames.

use crate::link::session::Session;
use crate::log::line;
use mgn_genlock::{Coordinator, Phase, Sample};
use mgn_sys::clock::monotonic;
use mgn_wall::{Tile, Wall};
use mgn_wire::frames::Clocks;
use std::collections::BTreeMap;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, Thread};
use std::time::Duration;

/// How often the phases of the displays are reported to the mothership, in ns.
const REPORT_INTERVAL: i64 = 1_000_000_000;
/// How long the vertical blanks of a display may stay unknown before this is reported to the user,
/// in ns.
const UNKNOWN_AFTER: i64 = 5_000_000_000;
/// The longest sleep of the thread.
const SLEEP_MAX: Duration = Duration::from_secs(1);

pub struct Genlock {
    pub coordinator: Coordinator,
    /// The thread that shows delayed frames. It is woken when there is one.
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

    /// Makes the calling thread the one that is woken.
    pub fn wake_this_thread(&mut self) {
        self.thread.get_or_insert_with(thread::current);
    }

    /// The server of a tile has answered. `received` is when the answer came. Returns false if the
    /// payload is something else.
    pub fn answer(&mut self, tile: usize, payload: &[u8], received: i64) -> bool {
        let Some(clocks) = Clocks::decode(payload) else {
            return false;
        };
        let times = Sample {
            sent: clocks.asked,
            received_there: clocks.received,
            sent_there: clocks.answered,
            received,
        };
        let vblank = clocks.vblank.map(|vblank| (vblank.number, vblank.time));
        self.coordinator.answer(tile, times, vblank, clocks.late);
        true
    }

    /// Whether the next frame may be shown now. Otherwise the genlock thread shows it in time.
    pub fn is_ready(&self) -> bool {
        let is_ready = monotonic() >= self.coordinator.ready_at();
        // The genlock thread itself needs no waking.
        let thread = self.thread.as_ref();
        let thread = thread.filter(|thread| thread.id() != thread::current().id());
        if let (false, Some(thread)) = (is_ready, thread) {
            thread.unpark();
        }
        is_ready
    }
}

/// When the next step is due, and the displays if they were asked for.
pub struct Turn {
    pub wake: i64,
    pub displays: Option<Vec<OfDisplay>>,
}

/// A tile that is shown on a display.
pub struct OfDisplay {
    pub tile: usize,
    pub phase: Phase,
    /// Whether the tile has a renderer.
    pub is_drawn: bool,
}

/// Starts the thread that calls `turn` whenever servers are to be asked or a delayed frame is to be
/// shown. The argument of `turn` says whether it is to return the displays. `turn` returns none
/// when no renderer is left.
///
/// # Errors
/// One sentence, if a thread cannot be started.
pub fn start(
    session: &'static Session,
    turn: impl Fn(bool) -> Option<Turn> + Send + 'static,
) -> Result<(), String> {
    let failed = |e| format!("cannot start the thread that synchronizes displays: {e}");
    let (told, displays) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name("mgn-genlock".into());
    thread.spawn(move || follow(&told, turn)).map_err(failed)?;
    // A separate thread, because reports can take any time.
    let thread = thread::Builder::new().name("mgn-genlock-say".into());
    let said = move || {
        let mut reports = Reports::default();
        for displays in displays {
            reports.send(session, displays);
        }
    };
    thread.spawn(said).map(drop).map_err(failed)
}

/// Runs until no renderer is left.
fn follow(tell: &SyncSender<Vec<OfDisplay>>, turn: impl Fn(bool) -> Option<Turn>) {
    let mut due = monotonic().saturating_add(REPORT_INTERVAL);
    loop {
        let is_due = monotonic() >= due;
        if is_due {
            due = monotonic().saturating_add(REPORT_INTERVAL);
        }
        let Some(Turn { wake, displays }) = turn(is_due) else {
            return;
        };
        if let Some(displays) = displays {
            // If the last report is still waiting, this one is dropped: the next one is newer.
            let _ = tell.try_send(displays);
        }
        let left = wake.saturating_sub(monotonic()).max(0);
        thread::park_timeout(Duration::from_nanos(left as u64).min(SLEEP_MAX));
    }
}

/// Reports about each display, to the mothership and the user.
#[derive(Default)]
struct Reports(BTreeMap<usize, Report>);

#[derive(Default)]
struct Report {
    told: Option<Phase>,
    /// Since when the vertical blanks are unknown, in ns.
    unknown_since: Option<i64>,
    has_complained: bool,
}

impl Reports {
    fn send(&mut self, session: &Session, displays: Vec<OfDisplay>) {
        let now = monotonic();
        for OfDisplay {
            tile,
            phase,
            is_drawn,
        } in displays
        {
            let report = self.0.entry(tile).or_default();
            if report.told != Some(phase) {
                session.assignments.say_phase(tile, phase);
                report.told = Some(phase);
            }
            if phase.error.is_some() || !is_drawn {
                report.unknown_since = None;
                continue;
            }
            let since = *report.unknown_since.get_or_insert(now);
            if now.saturating_sub(since) >= UNKNOWN_AFTER && !report.has_complained {
                report.has_complained = true;
                let name = session.tile_name(tile);
                line(format!(
                    "the tile {name} is not genlocked: its server reports no vertical blanks of its display"
                ));
            }
        }
    }
}
