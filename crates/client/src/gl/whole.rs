//! Makes surfaces whole: each renderer gets the tiles of all others before a command that needs
//! them.

use crate::context::Context;
use crate::link::session::Session;
use crate::link::surface::Surface;
use crate::link::tiles::{asked, hull, parts, Part, WholePurpose};
use crate::log::line;
use crate::shadow::objects::counts::Need;
use mgn_wall::Area;
use mgn_wire::encoder::Data;
use mgn_wire::hello::plane;
use mgn_wire::{gl, ops};
use std::sync::atomic::Ordering;

/// The region that a list reads is not known, so all is assumed.
const ALL: [i32; 4] = [0; 4];

/// Cases in which offset tiling draws something else than one renderer would.
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
            Inexact::Writes => "its shaders write to memory, and each tile's renderer sees only its own writes",
            Inexact::Counts => "it counts samples where tiles overlap, clipped primitives, or fragment shader invocations",
            Inexact::LargeCopy => "it copies more of its window than fits into a framebuffer; each tile's renderer copies only the part that it has",
            Inexact::Assembly => {
                "an assembly program uses fragment.position, or places vertices with its own matrices"
            }
            Inexact::Binaries => "its shaders are binaries, which Manganese cannot translate",
        }
    }
}

impl Context {
    /// Call this before a command that needs a whole surface: makes the surface whole.
    #[inline]
    pub fn make_whole(&mut self, what: WholePurpose) {
        if self.session.is_some_and(|s| s.wall().is_some()) {
            self.need(what);
        }
    }

    /// Call this before display lists are called.
    pub fn make_whole_for_lists(&mut self) {
        let Some(session) = self.session.filter(|s| s.wall().is_some()) else {
            return;
        };
        if session.needs.lists() {
            self.need(WholePurpose::Reading(ALL));
            self.need(WholePurpose::Drawing);
        } else if session.needs.scissors.load(Ordering::Relaxed)
            && self.gl.objects.counts.need(Need::Exact)
        {
            self.need(WholePurpose::Drawing);
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
        self.need(WholePurpose::Drawing);
    }

    /// Call this when the context draws to another surface.
    pub fn follow_wall(&mut self) {
        if self
            .session
            .is_some_and(|s| s.needs.writes.load(Ordering::Relaxed))
        {
            self.need(WholePurpose::Drawing);
        }
        self.follow_counts();
    }

    /// Other programs may have drawn into the shared window. What the renderers got of each other's
    /// tiles is outdated.
    pub fn others_have_drawn(&mut self) {
        let Some(session) = self.session.filter(|s| s.wall().is_some()) else {
            return;
        };
        let Some(window) = session.shared_window() else {
            return;
        };
        if window.wholeness.is_whole.swap(false, Ordering::Relaxed) {
            self.enc.mgn_whole(window.id, 0);
        }
        self.follow_wall();
    }

    /// A query has begun or ended, or continues with another surface or frame. Makes the surface
    /// whole if each of its pixels would not be counted exactly once otherwise.
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
            self.need(WholePurpose::Drawing);
        }
    }

    /// Records in the session whether this context's queries count whole surfaces, because other
    /// contexts may end their frames.
    pub fn count_whole(&mut self, session: &Session, is_whole: bool) {
        let counting = &session.needs.counting;
        match (self.counts_whole, is_whole) {
            (false, true) => counting.fetch_add(1, Ordering::Relaxed),
            (true, false) => counting.fetch_sub(1, Ordering::Relaxed),
            _ => return,
        };
        self.counts_whole = is_whole;
    }

    /// Whether each pixel of the surface is drawn by exactly one renderer.
    fn draws_exactly(&self) -> bool {
        let areas = self.draw.as_ref().and_then(|surface| surface.areas());
        areas.is_none_or(|areas| areas.iter().all(Area::is_exact))
    }

    /// A list with a command that uses scissor boxes was compiled.
    pub fn lists_scissor(&mut self) {
        if let Some(session) = self.session {
            session.needs.scissors.store(true, Ordering::Relaxed);
        }
    }

    /// A program in assembly language is passed to the driver unchanged.
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

    /// Shaders that are not text are passed to the driver unchanged.
    pub fn heed_binaries(&self) {
        if self.session.is_some_and(|session| session.is_offset) {
            self.say_inexact(Inexact::Binaries);
        }
    }

    /// Reports once what offset tiling cannot do for the program.
    fn say_inexact(&self, what: Inexact) {
        let Some(session) = self.session else { return };
        let bit = 1 << what as u32;
        if session.needs.inexact.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            let what = what.what();
            line(format_args!(
                "the wall is drawn with offset tiling, and the picture may be wrong: {what}"
            ));
        }
    }

    #[cold]
    fn need(&mut self, what: WholePurpose) {
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
            WholePurpose::Drawing => self.draw.clone(),
            WholePurpose::Reading(_) => {
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
            if let (WholePurpose::Reading(part), false) = (what, self.gl.lists.is_open()) {
                self.lend(&surface, &areas, part);
            }
            return;
        }
        // The region that lists read is not known.
        if let (WholePurpose::Reading(part), false) = (what, self.gl.lists.is_open()) {
            if surface.is_shared() && part != ALL {
                let parts = parts(&areas, part, surface.size().1);
                return self.exchange_parts(&surface, &parts);
            }
        }
        let frame = surface.handed_over.load(Ordering::Relaxed);
        surface.wholeness.needed.store(frame, Ordering::Relaxed);
        if !surface.wholeness.is_whole.swap(true, Ordering::Relaxed) {
            self.exchange(&surface, &areas);
        }
    }

    /// Sends every renderer the parts of a surface that the others have.
    fn exchange(&mut self, surface: &Surface, areas: &[Area]) {
        let (width, height) = surface.size();
        let all = parts(areas, [0, 0, width as i32, height as i32], height);
        self.exchange_parts(surface, &all);
        self.enc.mgn_whole(surface.id, 1);
    }

    /// Sends every renderer the given parts of a surface only. For a shared window, these are the
    /// parts that are read: other programs may be drawing to the rest, also at renderers of other
    /// tiles.
    fn exchange_parts(&mut self, surface: &Surface, parts: &[Part]) {
        for plane in plane::ALL {
            self.exchange_plane(surface, plane, parts);
        }
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
            // If a renderer is lost, or the window has another size by now, the renderers keep what
            // they have.
            let Some(mut answer) = answer else { continue };
            let part = answer.next_array(1);
            if !part.is_empty() {
                let parts = all.iter().filter(|part| part.tile == tile);
                given.extend(parts.flat_map(|part| part.rect));
                pixels.extend_from_slice(part);
            }
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

    /// With offset tiling: the next command that reads a surface sees the pixels of all renderers
    /// in a part of it.
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
        self.enc.mgn_lend(surface.id, left, low, width, height);
        self.exchange_parts(surface, &all);
    }
}
