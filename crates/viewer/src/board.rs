//! The viewer's state: feeds on one side, watchers on the other, and the pictures between them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mgn_wall::Wall;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::message::{
    Counters, Figures, Form, Head, MalformedMessage, Opening, REDUCE_MAX, SIDE_MAX,
};
use crate::outbox::Outbox;
use crate::rounds::{Health, Rounds};

/// The maximum number of messages with pictures that a watcher has not drawn: one travels while the
/// page draws another.
const PICTURES_UNDER_WAY_MAX: u32 = 2;
/// The form requested of a tile whose size is not known yet.
const FIRST: Form = Form {
    reduce: 4,
    quality: 60,
};

pub struct Board {
    pub wall: Wall,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

struct State {
    rounds: Rounds,
    feeds: Vec<Option<Fed>>,
    watchers: BTreeMap<u64, Watcher>,
    next: u64,
}

/// A feed, at the other end of its tile's thread.
struct Fed {
    number: u64,
    name: String,
    outbox: Arc<Outbox>,
    /// How many requests it has not answered.
    asked: u64,
    figures: Figures,
    rates: Option<Rates>,
}

/// A server's work per second.
#[derive(Debug, Clone, Copy, Serialize)]
struct Rates {
    frames: f64,
    bytes: f64,
    /// Shares of the time, which together are at most 1.
    rendering: f64,
    waiting: f64,
}

struct Watcher {
    view: View,
    /// `offered` is the newest version that it was offered. `given` is the version of each tile
    /// that it was given.
    offered: u64,
    given: Vec<u64>,
    under_way: u32,
}

/// The part of the wall that a page shows.
#[derive(Debug, Default, Deserialize)]
pub struct View {
    /// The width of each tile in device pixels; 0 for tiles out of sight.
    pub widths: Vec<u32>,
    /// The JPEG quality, from 1 to 100.
    pub quality: u32,
}

/// The report to the page about a tile.
#[derive(Debug, Serialize)]
pub struct Report {
    health: Health,
    server: Option<String>,
    rates: Option<Rates>,
}

impl Report {
    /// The fields whose changes are reported at once.
    pub fn news(&self) -> (Health, Option<&str>) {
        (self.health, self.server.as_deref())
    }
}

impl Board {
    pub fn new(mut wall: Wall, patience: Duration) -> Board {
        // Pages need not know where else tiles are shown.
        for tile in &mut wall.tiles {
            tile.present.clear();
        }
        let tiles = wall.tiles.len();
        Board {
            wall,
            state: Mutex::new(State {
                rounds: Rounds::new(tiles, patience),
                feeds: (0..tiles).map(|_| None).collect(),
                watchers: BTreeMap::new(),
                next: 1,
            }),
            changed: watch::Sender::new(()),
        }
    }

    /// Adds a feed, which replaces an earlier one of its tile. Returns its number.
    pub fn join(&self, opening: &Opening, outbox: Arc<Outbox>) -> Result<u64, String> {
        let mut state = self.lock();
        let tile = usize::from(opening.tile);
        if tile >= state.feeds.len() {
            return Err(format!(
                "there is no tile {tile}: the wall {} has {}, counted from 0",
                self.wall.name,
                state.feeds.len()
            ));
        }
        let number = state.number();
        let earlier = state.feeds[tile].replace(Fed {
            number,
            name: opening.name.clone(),
            outbox,
            asked: 0,
            figures: Figures::default(),
            rates: None,
        });
        if let Some(earlier) = earlier {
            earlier.outbox.close();
        }
        state.rounds.join(tile);
        self.advance(state);
        self.changed.send_replace(());
        Ok(number)
    }

    /// Removes a feed.
    pub fn leave(&self, tile: usize, number: u64) {
        let mut state = self.lock();
        if state.feeds[tile]
            .take_if(|fed| fed.number == number)
            .is_some()
        {
            state.rounds.leave(tile);
            self.advance(state);
            self.changed.send_replace(());
        }
    }

    /// Takes a picture that a feed has sent.
    ///
    /// # Errors
    /// If the picture was not requested.
    pub fn picture(
        &self,
        tile: usize,
        number: u64,
        head: Head,
        jpeg: &[u8],
    ) -> Result<(), MalformedMessage> {
        let jpeg = Arc::from(jpeg);
        let mut state = self.lock();
        let Some(fed) = state.fed(tile, number) else {
            return Ok(());
        };
        let unasked = MalformedMessage("it sent a picture that was not requested");
        fed.asked = fed.asked.checked_sub(1).ok_or(unasked)?;
        state.rounds.picture(tile, head, jpeg);
        self.advance(state);
        Ok(())
    }

    /// Takes a feed's figures.
    pub fn figures(&self, tile: usize, number: u64, figures: Figures) {
        let mut state = self.lock();
        if let Some(fed) = state.fed(tile, number) {
            fed.rates = rates(&fed.figures, &figures);
            fed.figures = figures;
            state.rounds.seen(tile, figures.newest);
            self.advance(state);
        }
    }

    /// Adds a watcher. Returns its number, and a receiver that signals that there may be something
    /// for it.
    pub fn watch(&self) -> (u64, watch::Receiver<()>) {
        let mut state = self.lock();
        let number = state.number();
        let watcher = Watcher {
            view: View::default(),
            offered: 0,
            given: vec![0; state.feeds.len()],
            under_way: 0,
        };
        state.watchers.insert(number, watcher);
        (number, self.changed.subscribe())
    }

    pub fn unwatch(&self, watcher: u64) {
        let mut state = self.lock();
        state.watchers.remove(&watcher);
        self.advance(state);
    }

    /// Changes what a watcher looks at.
    ///
    /// # Errors
    /// If the view does not fit this wall.
    pub fn look(&self, watcher: u64, view: View) -> Result<(), MalformedMessage> {
        let mut state = self.lock();
        let sound = view.widths.len() == state.feeds.len()
            && view.widths.iter().all(|width| *width <= SIDE_MAX)
            && (1..=100).contains(&view.quality);
        if !sound {
            return Err(MalformedMessage("a view of another wall"));
        }
        if let Some(watcher) = state.watchers.get_mut(&watcher) {
            watcher.view = view;
            // Tiles that come into sight may have old pictures.
            watcher.offered = 0;
        }
        self.advance(state);
        self.changed.send_replace(());
        Ok(())
    }

    /// Notes that a watcher has drawn a message with pictures.
    pub fn taken(&self, watcher: u64) {
        let mut state = self.lock();
        if let Some(watcher) = state.watchers.get_mut(&watcher) {
            watcher.under_way = watcher.under_way.saturating_sub(1);
        }
        self.advance(state);
    }

    /// Whether a watcher has pictures that it has not drawn.
    pub fn owes(&self, watcher: u64) -> bool {
        let state = self.lock();
        state
            .watchers
            .get(&watcher)
            .is_some_and(|watcher| watcher.under_way > 0)
    }

    /// The pictures that are new to a watcher, if it has room for them:
    ///
    /// ```text
    /// pictures:u32  (tile:u32  x:u32  y:u32  width:u32  height:u32  frame:u64  bytes:u32  jpeg)*
    /// ```
    pub fn next(&self, watcher: u64) -> Option<Vec<u8>> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let watcher = state.watchers.get_mut(&watcher)?;
        if watcher.under_way >= PICTURES_UNDER_WAY_MAX {
            return None;
        }
        watcher.offered = state.rounds.version();
        let mut bytes = vec![0; 4];
        let mut pictures = 0u32;
        for (tile, given) in watcher.given.iter_mut().enumerate() {
            let shown = state
                .rounds
                .shown(tile)
                .filter(|shown| shown.version > *given);
            let seen = watcher
                .view
                .widths
                .get(tile)
                .is_some_and(|width| *width > 0);
            let Some(shown) = shown.filter(|_| seen) else {
                continue;
            };
            let head = &shown.head;
            for word in [tile as u32, head.x, head.y, head.width, head.height] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(head.frame.to_le_bytes());
            bytes.extend((shown.jpeg.len() as u32).to_le_bytes());
            bytes.extend(&*shown.jpeg);
            *given = shown.version;
            pictures += 1;
        }
        bytes[..4].copy_from_slice(&pictures.to_le_bytes());
        watcher.under_way += u32::from(pictures > 0);
        self.advance(guard);
        (pictures > 0).then_some(bytes)
    }

    pub fn report(&self) -> Vec<Report> {
        let state = self.lock();
        let feeds = state.feeds.iter().enumerate();
        let report = |(tile, fed): (usize, &Option<Fed>)| Report {
            health: state.rounds.health(tile),
            server: fed.as_ref().map(|fed| fed.name.clone()),
            rates: fed.as_ref().and_then(|fed| fed.rates),
        };
        feeds.map(report).collect()
    }

    /// Continues after some time has passed.
    pub fn tick(&self) {
        self.advance(self.lock());
    }

    /// Ends the waiting of all feeds' threads.
    pub fn close(&self) {
        for fed in self.lock().feeds.iter().flatten() {
            fed.outbox.close();
        }
    }

    /// Requests the pictures that are wanted, and notifies watchers of new ones.
    fn advance(&self, mut guard: MutexGuard<'_, State>) {
        let state = &mut *guard;
        let before = state.rounds.version();
        loop {
            let version = state.rounds.version();
            for tile in 0..state.feeds.len() {
                let form = state.form(tile);
                state.rounds.want(tile, form);
            }
            let mut watchers = state.watchers.values();
            let ready = watchers.any(|watcher| watcher.takes(version));
            for (tile, ask) in state.rounds.advance(Instant::now(), ready) {
                if let Some(fed) = &mut state.feeds[tile] {
                    fed.asked += 1;
                    fed.outbox.put(ask);
                }
            }
            if state.rounds.version() == version {
                break;
            }
        }
        if state.rounds.version() != before {
            self.changed.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher {
    /// Whether it looks at tiles, has been offered what is shown, and has room for more.
    fn takes(&self, version: u64) -> bool {
        let looks = self.view.widths.iter().any(|width| *width > 0);
        looks && self.offered >= version && self.under_way < PICTURES_UNDER_WAY_MAX
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn fed(&mut self, tile: usize, number: u64) -> Option<&mut Fed> {
        self.feeds[tile].as_mut().filter(|fed| fed.number == number)
    }

    /// The smallest picture of a tile that is large enough for all watchers that see it.
    fn form(&self, tile: usize) -> Option<Form> {
        let views = self.watchers.values().map(|watcher| &watcher.view);
        let seen = views.filter(|view| view.widths.get(tile).is_some_and(|width| *width > 0));
        let (width, quality) = seen
            .map(|view| (view.widths[tile], view.quality))
            .reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))?;
        Some(match self.rounds.shown(tile) {
            Some(shown) => Form {
                reduce: (shown.head.width / width).clamp(shown.head.least_reduce(), REDUCE_MAX),
                quality,
            },
            None => FIRST,
        })
    }
}

/// A server's work per second between two of its reports. None if it has been restarted in between.
fn rates(before: &Figures, after: &Figures) -> Option<Rates> {
    let elapsed = after.elapsed.checked_sub(before.elapsed)?.as_secs_f64();
    if before.elapsed.is_zero() || elapsed <= 0.0 {
        return None;
    }
    let Counters {
        frames,
        bytes,
        rendering,
        waiting,
    } = after.counters;
    let before = &before.counters;
    let rendering = rendering.checked_sub(before.rendering)?.as_secs_f64() / elapsed;
    let waiting = waiting.checked_sub(before.waiting)?.as_secs_f64() / elapsed;
    let rendering = rendering.min(1.0);
    Some(Rates {
        frames: frames.checked_sub(before.frames)? as f64 / elapsed,
        bytes: bytes.checked_sub(before.bytes)? as f64 / elapsed,
        rendering,
        waiting: waiting.min(1.0 - rendering),
    })
}
