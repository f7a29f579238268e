//! Surfaces on a wall: which renderer draws, shows and answers for what.
//!
//! A surface is drawn in tiles until something needs all of it. Then it is made *whole*: every
//! renderer is given the tiles of all others, and draws all of it from there on, up to the end of
//! the first frame in which nothing has needed that.

use crate::context::Context;
use crate::gl::Need;
use crate::log::line;
use crate::session::Session;
use crate::surface::Surface;
use mgn_wall::{Area, Rect, Wall};
use mgn_wire::encoder::Data;
use mgn_wire::hello::plane;
use mgn_wire::{gl, ops, Encoder};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a surface is made whole for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// A command reads this rectangle of the framebuffer that is bound for reading: x, y, width,
    /// height.
    Reading([i32; 4]),
    /// A command needs all of what is drawn to.
    Drawing,
}

/// Where what offset tiling draws is not what one renderer would.
#[derive(Clone, Copy)]
enum Inexact {
    Writes,
    Counts,
    LargeCopy,
    Assembly,
    Binaries,
}

impl Inexact {
    fn what(self) -> &'static str {
        match self {
            Inexact::Writes => "its shaders write to memory, where each tile's renderer sees only what it has written itself",
            Inexact::Counts => "it counts what is drawn where tiles overlap, or clipped primitives, or runs of fragment shaders",
            Inexact::LargeCopy => "it copies more of its window than fits into a framebuffer; each tile's renderer copies what it has",
            Inexact::Assembly => {
                "a program in assembly language asks where its fragments are, or places vertices by matrices of its own"
            }
            Inexact::Binaries => "its shaders come as binaries, which nothing is added to",
        }
    }
}

/// What the wall needs to know of the whole session.
#[derive(Default)]
pub struct Needs {
    /// What was said that offset tiling cannot do, a bit each.
    inexact: AtomicU32,
    /// A display list has been compiled with a command that needs whole surfaces.
    lists: AtomicBool,
    /// One has been compiled that draws on condition of a query.
    conditions: AtomicBool,
    /// One has been compiled with a command that knows of scissor boxes: what lists draw is not
    /// cut to tiles any more.
    scissors: AtomicBool,
    /// How many contexts have queries that count whole surfaces, be they current or not.
    counting: AtomicU32,
    /// Shaders may write to memory, where everyone sees how often a fragment was drawn.
    writes: AtomicBool,
}

impl Needs {
    /// Whether display lists need whole surfaces.
    pub fn lists(&self) -> bool {
        self.lists.load(Ordering::Relaxed)
    }

    /// A display list is compiled that draws on condition of a query.
    pub fn conditions(&self) {
        self.conditions.store(true, Ordering::Relaxed);
    }
}

/// Whether a surface is drawn as a whole, and in which frame that was last needed.
#[derive(Default)]
pub struct Wholeness {
    is_whole: AtomicBool,
    needed: AtomicU32,
}

/// The areas of a surface's tiles, for the size that it had when they were last asked for.
#[derive(Default)]
pub struct Areas(Mutex<Option<Divided>>);

type Divided = ((u32, u32), Arc<[Area]>);

impl Areas {
    /// The areas at `size`.
    pub fn at(&self, wall: &Wall, size: (u32, u32)) -> Arc<[Area]> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((then, areas)) if *then == size => areas.clone(),
            _ => {
                let areas: Arc<[Area]> = wall.areas(size.0, size.1).into();
                *known = Some((size, areas.clone()));
                areas
            }
        }
    }
}

/// Tells the renderers of a wall what each of them draws of a surface that is `height` high.
///
/// # Safety
/// The encoder can be written to.
pub unsafe fn tell(encoder: &mut Encoder, surface: u32, areas: &[Area], height: u32) {
    let drawn = areas.iter().flat_map(|area| area.drawn.upwards(height));
    let tiles: Vec<i32> = drawn.collect();
    // SAFETY: the caller's promise; the array is ours.
    unsafe { encoder.mgn_tiles(surface, (tiles.as_ptr(), tiles.len())) };
}

/// Bytes of what `tell` writes.
pub fn told_bytes(areas: &[Area]) -> usize {
    16 * areas.len() + 16
}

/// A part of an image that one renderer has.
pub struct Part {
    pub tile: usize,
    /// Counted from the lower left corner of the framebuffer: x, y, width, height.
    pub rect: [i32; 4],
}

/// The rectangle that both corners of a blit span: x, y, width, height.
pub fn between(one: [i32; 2], other: [i32; 2]) -> [i32; 4] {
    let along = |n: usize| {
        let (from, to) = (one[n].min(other[n]), one[n].max(other[n]));
        (from, to.saturating_sub(from))
    };
    let ((x, width), (y, height)) = (along(0), along(1));
    [x, y, width, height]
}

/// The sides of a rectangle around two, each given by its sides.
fn hull(a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
    [
        a[0].min(b[0]),
        a[1].min(b[1]),
        a[2].max(b[2]),
        a[3].max(b[3]),
    ]
}

impl Part {
    /// Left, lower, right and upper side.
    fn sides(&self) -> [i32; 4] {
        let [x, y, width, height] = self.rect;
        [x, y, x + width, y + height]
    }

    /// As renderers are asked for it.
    fn numbers(&self) -> [i32; 5] {
        let [x, y, width, height] = self.rect;
        [self.tile as i32, x, y, width, height]
    }
}

/// What renderers are asked for that are to answer with parts.
pub fn asked(parts: &[Part]) -> Vec<i32> {
    parts.iter().flat_map(Part::numbers).collect()
}

/// What each renderer has of the rectangle `[x, y, width, height]` of a surface that is `height`
/// high, in the order of their tiles.
pub fn parts(areas: &[Area], [x, y, width, height]: [i32; 4], total: u32) -> Vec<Part> {
    let end = |from: i32, length: i32| {
        (i64::from(from) + i64::from(length)).clamp(0, i64::from(u32::MAX)) as u32
    };
    let (left, right) = (x.max(0) as u32, end(x, width));
    let (bottom, top) = (y.max(0) as u32, end(y, height).min(total));
    let wanted = Rect::between(left, total - top, right, total.saturating_sub(bottom));
    let mut parts = Vec::new();
    for (tile, area) in areas.iter().enumerate() {
        for owned in &area.owned {
            let common = owned.and(&wanted);
            if !common.is_empty() {
                let rect = common.upwards(total);
                parts.push(Part { tile, rect });
            }
        }
    }
    parts
}

impl Surface {
    /// Whether every renderer draws all of it.
    pub fn is_whole(&self) -> bool {
        self.wholeness.is_whole.load(Ordering::Relaxed)
    }
}

impl Context {
    /// Before a command that needs a surface whole: makes it so.
    #[inline]
    pub fn make_whole(&mut self, what: Whole) {
        if self.session.is_some_and(|s| s.wall().is_some()) {
            self.need(what);
        }
    }

    /// Before display lists are called.
    pub fn make_whole_for_lists(&mut self) {
        let Some(session) = self.session.filter(|s| s.wall().is_some()) else {
            return;
        };
        if session.needs.lists() {
            self.need(Whole::Reading([0; 4]));
            self.need(Whole::Drawing);
        } else if session.needs.scissors.load(Ordering::Relaxed)
            && self.gl.objects.counts.need(Need::Exact)
        {
            self.need(Whole::Drawing);
        }
        let only_compiles = self.gl.lists.is_open() && self.gl.lists.only_compiles();
        if session.needs.conditions.load(Ordering::Relaxed) && !only_compiles {
            self.tell_sums();
        }
    }

    /// Shaders may write to memory from now on.
    pub fn shaders_write(&mut self) {
        let Some(session) = self.session.filter(|s| s.wall().is_some()) else {
            return;
        };
        session.needs.writes.store(true, Ordering::Relaxed);
        if session.is_offset {
            self.say_inexact(Inexact::Writes);
        }
        self.need(Whole::Drawing);
    }

    /// The context draws to another surface.
    pub fn follow_wall(&mut self) {
        if self
            .session
            .is_some_and(|s| s.needs.writes.load(Ordering::Relaxed))
        {
            self.need(Whole::Drawing);
        }
        self.follow_counts();
    }

    /// A query has begun or ended, or goes on with another surface or frame: makes the surface
    /// whole if that is needed to count each of its pixels once.
    pub fn follow_counts(&mut self) {
        let Some(session) = self.session.filter(|s| s.wall().is_some()) else {
            return;
        };
        let counts = &self.gl.objects.counts;
        let is_whole =
            counts.need(Need::Whole) || counts.need(Need::Exact) && !self.draws_exactly();
        self.count_whole(session, is_whole);
        if is_whole && session.is_offset {
            self.say_inexact(Inexact::Counts);
        }
        if is_whole && !self.gl.lists.is_open() {
            self.need(Whole::Drawing);
        }
    }

    /// Notes for the session whether this context's queries count whole surfaces: other contexts
    /// may end their frames.
    pub fn count_whole(&mut self, session: &Session, is_whole: bool) {
        let counting = &session.needs.counting;
        match (self.counts_whole, is_whole) {
            (false, true) => counting.fetch_add(1, Ordering::Relaxed),
            (true, false) => counting.fetch_sub(1, Ordering::Relaxed),
            _ => return,
        };
        self.counts_whole = is_whole;
    }

    /// Whether each pixel of the surface is drawn by one renderer.
    fn draws_exactly(&self) -> bool {
        let areas = self.draw.as_ref().and_then(|surface| surface.areas());
        areas.is_none_or(|areas| areas.iter().all(Area::is_exact))
    }

    /// A list was compiled that knows of scissor boxes.
    pub fn lists_scissor(&mut self) {
        if let Some(session) = self.session {
            session.needs.scissors.store(true, Ordering::Relaxed);
        }
    }

    /// A program in assembly language is given to the driver as it is.
    pub fn heed_assembly(&self, target: u32, text: &[u8]) {
        let Some(session) = self.session.filter(|session| session.is_offset) else {
            return;
        };
        let says = |what: &str| text.windows(what.len()).any(|part| part == what.as_bytes());
        let by_projection = ["position_invariant", "matrix.mvp", "matrix.projection"];
        let (most, size) = (
            session.info.largest,
            session.wall().map_or((0, 0), |w| w.size),
        );
        let is_right = match target {
            gl::GL_VERTEX_PROGRAM_ARB => {
                size.0 <= most.0 && size.1 <= most.1 || by_projection.into_iter().any(says)
            }
            _ => !says("fragment.position"),
        };
        if !is_right {
            self.say_inexact(Inexact::Assembly);
        }
    }

    /// Shaders that are not text are given to the driver as they are.
    pub fn heed_binaries(&self) {
        if self.session.is_some_and(|session| session.is_offset) {
            self.say_inexact(Inexact::Binaries);
        }
    }

    /// Says once what offset tiling cannot do for the program.
    fn say_inexact(&self, what: Inexact) {
        let Some(session) = self.session else { return };
        let bit = 1 << what as u32;
        if session.needs.inexact.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            let what = what.what();
            line(format_args!(
                "the wall is drawn in offset tiles, and the picture may not be right: {what}"
            ));
        }
    }

    #[cold]
    fn need(&mut self, what: Whole) {
        if self.gl.in_begin() {
            return;
        }
        if let Some(session) = self.session.filter(|_| self.gl.lists.is_open()) {
            session.needs.lists.store(true, Ordering::Relaxed);
            if self.gl.lists.only_compiles() {
                return;
            }
        }
        let surface = match what {
            Whole::Drawing => self.draw.clone(),
            Whole::Reading(_) => {
                let bound = self
                    .gl
                    .state
                    .framebuffer_bound(gl::GL_READ_FRAMEBUFFER_BINDING);
                self.read
                    .clone()
                    .filter(|_| bound.is_none_or(|name| name == 0))
            }
        };
        let Some((surface, areas)) = surface.and_then(|s| s.areas().map(|areas| (s, areas))) else {
            return;
        };
        if self.session.is_some_and(|session| session.is_offset) {
            if let (Whole::Reading(part), false) = (what, self.gl.lists.is_open()) {
                self.lend(&surface, &areas, part);
            }
            return;
        }
        let frame = surface.handed_over.load(Ordering::Relaxed);
        surface.wholeness.needed.store(frame, Ordering::Relaxed);
        if !surface.wholeness.is_whole.swap(true, Ordering::Relaxed) {
            self.exchange(&surface, &areas);
        }
    }

    /// Gives every renderer what all of them have of a surface.
    fn exchange(&mut self, surface: &Surface, areas: &[Area]) {
        let (width, height) = surface.size();
        let all = parts(areas, [0, 0, width as i32, height as i32], height);
        for plane in plane::ALL {
            self.exchange_plane(surface, plane, &all);
        }
        // SAFETY: the context's own encoder.
        unsafe { self.enc.mgn_whole(surface.id, 1) };
    }

    fn exchange_plane(&mut self, surface: &Surface, plane: u32, all: &[Part]) {
        let asked = asked(all);
        // SAFETY: the context's own encoder, and arrays of ours.
        unsafe {
            let asked = (asked.as_ptr(), asked.len());
            self.enc.mgn_take_tiles(surface.id, plane, asked, 0);
        }
        let mut pixels = Vec::new();
        let mut given: Vec<i32> = Vec::new();
        for (tile, answer) in self.answers(ops::MGN_TAKE_TILES).into_iter().enumerate() {
            // Where one is lost, everybody keeps what he has.
            let Some(mut answer) = answer else { continue };
            let parts = all.iter().filter(|part| part.tile == tile);
            given.extend(parts.flat_map(|part| part.rect));
            pixels.extend_from_slice(answer.next_array(1));
        }
        if pixels.is_empty() {
            return;
        }
        // SAFETY: as above.
        unsafe {
            let given = (given.as_ptr(), given.len());
            let pixels = Data::Bytes(pixels.as_ptr(), pixels.len());
            self.enc.mgn_fill(surface.id, plane, given, pixels);
        }
    }

    /// With offset tiling: has the next command that reads a surface find what all renderers have
    /// of a part of it.
    fn lend(&mut self, surface: &Surface, areas: &[Area], part: [i32; 4]) {
        let (width, height) = surface.size();
        let all = parts(areas, part, height);
        let Some([left, low, right, top]) = all.iter().map(Part::sides).reduce(hull) else {
            return;
        };
        let (most, _) = self.session.map_or((0, 0), |session| session.info.largest);
        let (width, height) = ((right - left).min(width as i32), top - low);
        if width.max(height) > most as i32 {
            return self.say_inexact(Inexact::LargeCopy);
        }
        // SAFETY: the context's own encoder.
        unsafe {
            self.enc.mgn_lend(surface.id, left, low, width, height);
        }
        for plane in plane::ALL {
            self.exchange_plane(surface, plane, &all);
        }
    }
}

/// Tells the renderers that a surface is drawn in tiles again, if nothing has needed it whole in
/// frame `frame`, which ends.
///
/// # Safety
/// The encoder can be written to.
pub unsafe fn end_frame(session: &Session, encoder: &mut Encoder, surface: &Surface, frame: u32) {
    let whole = &surface.wholeness;
    let needed = session.needs.writes.load(Ordering::Relaxed)
        || session.needs.counting.load(Ordering::Relaxed) > 0
        || whole.needed.load(Ordering::Relaxed) == frame.wrapping_sub(1);
    if whole.is_whole.load(Ordering::Relaxed) && !needed {
        whole.is_whole.store(false, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { encoder.mgn_whole(surface.id, 0) };
    }
}

impl Session {
    /// The wall that pictures are divided for: one of several tiles.
    pub fn wall(&self) -> Option<&Wall> {
        let is_divided = |wall: &&Wall| wall.tiles.len() > 1 && self.is_answered();
        self.options.wall.as_ref().filter(is_divided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rectangle_is_read_where_its_pixels_are() {
        let wall = Wall::grid(2, 2).unwrap();
        let areas = wall.areas(10, 10);
        let all = parts(&areas, [0, 0, 10, 10], 10);
        let rects: Vec<_> = all.iter().map(|part| (part.tile, part.rect)).collect();
        // Tiles are counted from above, pixels from below.
        assert_eq!(
            rects,
            [
                (0, [0, 5, 5, 5]),
                (1, [5, 5, 5, 5]),
                (2, [0, 0, 5, 5]),
                (3, [5, 0, 5, 5])
            ]
        );
        let one = parts(&areas, [-3, 9, 4, 100], 10);
        assert_eq!(one.len(), 1);
        assert_eq!((one[0].tile, one[0].rect), (0, [0, 9, 1, 1]));
        assert!(parts(&areas, [20, 20, 5, 5], 10).is_empty());
        assert!(parts(&areas, [0, 0, 0, 0], 10).is_empty());
    }
}
