//! Frames in flight: their number is limited when a frame is handed over, and the program waits for
//! them at its end.

use crate::link::surface::{Kind, Surface, UNSEEN};
use crate::x11::watch::{Followed, Watch};
use mgn_wall::{Fit, Wall, Windows};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

/// The number of frames of one surface that may be handed over and not yet finished.
pub const IN_FLIGHT: u32 = 2;

/// If the first of several invisible frames was handed over less than this number of nanoseconds
/// ago, [`UNSEEN`] of them may be in flight.
const UNSEEN_WITHIN_NS: u64 = 1_000_000;

/// Tracks which frames of all surfaces are finished. A frame is finished when it has been executed,
/// and also shown or saved if that was wanted.
#[derive(Default)]
pub struct Frames {
    surfaces: Mutex<HashMap<u32, Weak<Surface>>>,
    finished: Condvar,
    open: AtomicBool,
    /// The number of threads that wait for `finished`. Accessed only under the lock of `surfaces`.
    waiting: AtomicU32,
    on_wall: Mutex<OnWall>,
}

#[derive(Default)]
struct OnWall {
    shown: Weak<Surface>,
    /// The number of windows so far that match the wall's choice.
    fitting: u32,
}

impl Frames {
    pub fn register(&self, surface: &Arc<Surface>) {
        let mut surfaces = self.surfaces();
        surfaces.retain(|_, s| s.strong_count() > 0);
        surfaces.insert(surface.id, Arc::downgrade(surface));
    }

    pub fn surface(&self, id: u32) -> Option<Arc<Surface>> {
        self.surfaces().get(&id)?.upgrade()
    }

    /// Whether the surface is the window that the wall shows: the first window with a frame that
    /// matches the wall's choice, as long as it exists. With [`Fit::Window`], this window is
    /// resized to the size of the mural.
    pub fn is_on_wall(&self, surface: &Arc<Surface>, wall: &Wall) -> bool {
        let Kind::Window { watch, window } = &surface.kind else {
            return false;
        };
        if window.is_gone() {
            return false;
        }
        let mut on_wall = self.on_wall.lock().unwrap_or_else(|e| e.into_inner());
        let is_free = |shown: &Weak<Surface>| shown.upgrade().is_none_or(|s| !s.is_visible());
        if is_free(&on_wall.shown) && on_wall.takes(&wall.windows, watch, window) {
            on_wall.shown = Arc::downgrade(surface);
            if wall.fit == Fit::Window && window.size() != wall.size {
                watch.resize(window.xid, wall.size);
            }
        }
        on_wall.shown.as_ptr() == Arc::as_ptr(surface)
    }

    /// `frame` of `surface` is finished, and all frames before it.
    pub fn finish(&self, surface: u32, frame: u32) {
        let surfaces = self.surfaces();
        let surface = surfaces.get(&surface).and_then(Weak::upgrade);
        if let Some(surface) = &surface {
            surface.finished.store(frame, Ordering::Release);
        }
        let is_waited_for = self.waiting.load(Ordering::Relaxed) > 0;
        // Unlocked before `surface` is dropped, which may be the last reference to it.
        drop(surfaces);
        if is_waited_for {
            self.finished.notify_all();
        }
    }

    /// The last frame of each surface that was handed over.
    pub fn handed_over(&self) -> HashMap<u32, u32> {
        let live: Vec<_> = self.surfaces().values().filter_map(Weak::upgrade).collect();
        let last = |s: &Arc<Surface>| (s.id, s.handed_over.load(Ordering::Acquire));
        live.iter().map(last).collect()
    }

    /// Waits until at most `allowed` frames of `surface` are in flight.
    pub fn wait(&self, surface: &Surface, allowed: u32) {
        if self.under_way(surface) <= allowed {
            return;
        }
        let mut surfaces = self.surfaces();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        while self.under_way(surface) > allowed {
            surfaces = self
                .finished
                .wait(surfaces)
                .unwrap_or_else(|e| e.into_inner());
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Waits until another frame may follow `frame`, which is invisible and was handed over at
    /// `now`.
    pub fn wait_unseen(&self, surface: &Surface, frame: u32, now: u64) {
        let at = |frame: u32| &surface.unseen[(frame % UNSEEN) as usize];
        let first = frame.wrapping_sub(self.under_way(surface).min(UNSEEN)) + 1;
        at(frame).store(now, Ordering::Relaxed);
        let is_moment = now.wrapping_sub(at(first).load(Ordering::Relaxed)) < UNSEEN_WITHIN_NS;
        self.wait(surface, if is_moment { UNSEEN } else { IN_FLIGHT });
    }

    /// Waits until no frame is in flight, at most for `limit`.
    pub fn wait_all(&self, limit: Duration) {
        let end = Instant::now() + limit;
        // Held until the lock is released: dropping the last reference to a surface does more than
        // free memory.
        let live: Vec<_> = self.surfaces().values().filter_map(Weak::upgrade).collect();
        let mut surfaces = self.surfaces();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        while live.iter().any(|s| self.under_way(s) > 0) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.finished.wait_timeout(surfaces, left);
            surfaces = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// No frame will be finished any more: waiting threads go on.
    pub fn open_gates(&self) {
        self.open.store(true, Ordering::Release);
        // Locked so that no thread is between its check and its wait.
        drop(self.surfaces());
        self.finished.notify_all();
    }

    fn under_way(&self, surface: &Surface) -> u32 {
        if self.open.load(Ordering::Acquire) {
            return 0;
        }
        let handed_over = surface.handed_over.load(Ordering::Acquire);
        handed_over.wrapping_sub(surface.finished.load(Ordering::Acquire))
    }

    fn surfaces(&self) -> MutexGuard<'_, HashMap<u32, Weak<Surface>>> {
        self.surfaces.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl OnWall {
    /// Counts a window when it first matches, and returns whether the wall shows it. Until it
    /// matches, the X server is asked for its names.
    fn takes(&mut self, windows: &Windows, watch: &Watch, window: &Followed) -> bool {
        let mut nth = window.fitting.load(Ordering::Relaxed);
        if nth == 0 && windows.fits(window.size(), || watch.names(window.xid)) {
            self.fitting += 1;
            nth = self.fitting;
            window.fitting.store(nth, Ordering::Relaxed);
        }
        nth != 0 && windows.takes(nth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_with_the_frame() {
        let frames = Arc::new(Frames::default());
        let surface = Surface::for_test(7);
        frames.register(&surface);
        surface.handed_over.store(3, Ordering::Release);
        let other = frames.clone();
        let thread = std::thread::spawn(move || other.finish(7, 1));
        frames.wait(&surface, 2);
        thread.join().unwrap();
        assert_eq!(surface.finished.load(Ordering::Acquire), 1);
        frames.wait_all(Duration::from_millis(1));
        frames.finish(99, 1);
        let other = frames.clone();
        let thread = std::thread::spawn(move || other.open_gates());
        frames.wait(&surface, 0);
        thread.join().unwrap();
    }

    #[test]
    fn more_are_under_way_that_nobody_sees_for_a_moment() {
        let frames = Arc::new(Frames::default());
        let surface = Surface::for_test(7);
        frames.register(&surface);
        let hand_over = |frame: u32, now: u64| {
            surface.handed_over.store(frame, Ordering::Release);
            frames.wait_unseen(&surface, frame, now);
        };
        let finish_while = |last: u32, work: &dyn Fn()| {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(20));
                    frames.finish(7, last);
                });
                work();
            });
            assert_eq!(surface.finished.load(Ordering::Acquire), last);
        };
        let start = 5 * UNSEEN_WITHIN_NS;
        (1..=UNSEEN).for_each(|frame| hand_over(frame, start + u64::from(frame)));
        finish_while(1, &|| hand_over(UNSEEN + 1, start + 100));
        // Now the first frame in flight is older.
        let late = start + UNSEEN_WITHIN_NS + 3;
        finish_while(UNSEEN, &|| hand_over(UNSEEN + 2, late));
        let later = late + UNSEEN_WITHIN_NS - 1;
        finish_while(UNSEEN + 1, &|| hand_over(UNSEEN + 3, later));
        hand_over(UNSEEN + 4, later);
    }
}
