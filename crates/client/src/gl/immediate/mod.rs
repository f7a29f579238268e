//! Immediate mode is turned into arrays. Between glBegin and glEnd, attributes go to a template,
//! and each glVertex appends one interleaved vertex of floats to the open chunk. A run ends at
//! glEnd, or when the chunk is full: then it is cut where the primitive may be cut.
//!
//! A run's layout holds the attributes that were set since glBegin. If an attribute is first set in
//! mid-primitive, or with more components, the run ends and another one starts with a wider layout.
//! Some things cannot be expressed by arrays (evaluators, materials, integer attributes, stippled
//! strips longer than a chunk). They make the run *open*: the server begins the primitive and feeds
//! it the vertices, and each later call of the primitive is sent as a command.

mod attributes;
mod cut;
pub mod entries;
pub mod fixed;
pub mod half;
mod sort;

use crate::context::Context;
use crate::immediate::layout::{Layout, ATTRIBUTES};
use crate::immediate::sort::{room, Positions};
use crate::immediate::{Phase, Vertex, OF_A_LIST};
use crate::options::Weld;
use mgn_wire::draws::{attr, RUN_OPEN, RUN_TRAILING};
use mgn_wire::encoder::put;
use mgn_wire::{gl, ops};

/// The room that a run needs at its start: for its header and a few of the longest vertices.
const RUN_MIN: usize = 16 * ATTRIBUTES * 16;
/// Runs of fewer vertices are not worth welding, and the next run may be appended to them.
const WELD_MIN: usize = 1024;

impl Context {
    fn begin(&mut self, mode: u32) {
        if self.gl.in_begin() || !self.gl.is_compat() {
            return self.illegal_in_begin();
        }
        if mode > gl::GL_PATCHES {
            if self.gl.immediate.compiling {
                // The list records the error, and nothing is begun.
                self.enc.gl_begin(mode);
                return self.after_command();
            }
            return self.set_error(gl::GL_INVALID_ENUM);
        }
        if self.gl.arrays.needs_client_memory() {
            self.fetch_mixed_arrays();
        }
        if self.enc.watched {
            self.watched_begin();
        }
        // Drawing may raise errors.
        self.drawing_begins(mode, ops::GL_BEGIN);
        let im = &mut self.gl.immediate;
        let again = im.reopen_at == self.enc.cursor()
            && !im.reopen_at.is_null()
            && im.mode == mode
            && !im.compiling;
        im.mode = mode;
        if im.compiling {
            im.phase = Phase::Verbatim;
            self.gl.lists.leaves(true);
            self.enc.gl_begin(mode);
            return;
        }
        im.was_cut = false;
        im.loop_first = None;
        if again {
            im.phase = Phase::Run;
            im.chunk_end = self.enc.hold();
            im.components = im.layout.components;
            im.components[usize::from(attr::POSITION)] = 0;
            im.set_limits();
            return;
        }
        im.layout = Layout::default();
        self.start_run();
        if self.gl.render_modes.tells() {
            self.go_verbatim();
        }
    }

    /// Opens a run at the encoder's place, or in a new chunk if little is left of this one.
    fn start_run(&mut self) {
        // Until the run exists, the encoder keeps its room. If it has none, it drops each later
        // call.
        self.gl.immediate.phase = Phase::Verbatim;
        if !self.enc.ensure(RUN_MIN) {
            return;
        }
        let sorts = self.may_sort();
        let im = &mut self.gl.immediate;
        im.phase = Phase::Run;
        im.chunk_end = self.enc.hold();
        im.record = self.enc.cursor();
        im.sort_room = match sorts {
            true => room(im.chunk_end as usize - im.record as usize),
            false => 0,
        };
        im.sort.begin();
        im.lay_out(&self.gl.state.current);
    }

    /// Ends the run after its first `count` vertices, not counting a trailing one, and returns the
    /// room to the encoder. Returns whether the run was welded.
    fn close_run(&mut self, count: usize, flags: u32) -> bool {
        let mode = self.gl.immediate.drawn_mode();
        let sorts = flags & RUN_OPEN == 0 && self.prepare_sort(mode);
        let overlap = match sorts {
            true => self.sort_overlap(mode),
            false => None,
        };
        let wants = flags == 0 && !sorts && self.wants_welding(count);
        let im = &mut self.gl.immediate;
        let welded = match wants {
            // SAFETY: the run's vertices, which are all of the layout's stride, lie there.
            true => unsafe { im.welder.weld(im.start.cast(), im.stride / 4, count) },
            false => None,
        };
        let trailing = usize::from(flags & RUN_TRAILING != 0);
        let bytes = (welded.unwrap_or(count) + trailing) * im.stride;
        let indices = welded.map_or(&[][..], |_| im.welder.indices());
        let at = im.start.wrapping_add(bytes);
        let tiles = at.wrapping_add(4 + size_of_val(indices).next_multiple_of(4));
        let tile_bytes = match sorts {
            // SAFETY: the run's vertices lie there, each with its position last, and `set_limits`
            // has left the room.
            true => unsafe {
                let position = im.layout.position();
                let offset = im.stride - 4 * usize::from(position);
                let at = Positions {
                    first: im.start.wrapping_add(offset),
                    stride: im.stride,
                    components: position,
                };
                im.sort.write(at, count, overlap, tiles.wrapping_add(4))
            },
            false => 0,
        };
        let end = tiles.wrapping_add(4 + tile_bytes);
        let words = (end as usize - im.record as usize) / 4;
        // SAFETY: `lay_out` left room for the header between `record` and `start`, `set_limits` for
        // the lengths of indices and tiles; welding made room for the indices themselves
        // and their padding.
        unsafe {
            im.layout
                .write_header(im.record, im.drawn_mode(), flags, bytes);
            put(im.record, 0, u32::from(ops::MGN_RUN) | (words as u32) << 16);
            put(at, 0, size_of_val(indices) as u32);
            put(tiles, 0, tile_bytes as u32);
            if !indices.is_empty() {
                tiles.wrapping_sub(4).cast::<u32>().write_unaligned(0);
                at.add(4)
                    .copy_from_nonoverlapping(indices.as_ptr().cast(), size_of_val(indices));
            }
        }
        // SAFETY: the run was written to the encoder's room, which was on hold meanwhile.
        unsafe { self.enc.set_room(end, im.chunk_end) };
        if tile_bytes > 0 {
            self.message_is_sorted();
        }
        welded.is_some()
    }

    /// Whether to look for repeated vertices in the run that is about to be closed: if the
    /// connection made us wait since the last run.
    fn wants_welding(&mut self, count: usize) -> bool {
        let Some(session) = self.session else {
            return false;
        };
        let before = std::mem::replace(&mut self.gl.immediate.waited, session.send_wait());
        let wanted = match session.options.weld {
            Weld::Auto => count >= WELD_MIN && self.gl.immediate.waited > before,
            Weld::Always => true,
            Weld::Never => false,
        };
        let off = |what| self.gl.state.is_enabled(what) == Some(false);
        wanted
            && matches!(
                self.gl.immediate.drawn_mode(),
                gl::GL_LINES | gl::GL_TRIANGLES | gl::GL_QUADS
            )
            && !self.gl.objects.uses_ids()
            && off(gl::GL_PRIMITIVE_RESTART)
            && off(gl::GL_PRIMITIVE_RESTART_FIXED_INDEX)
            && self.draws_with_depth()
    }

    /// Whether drawing is tested against a depth buffer. Without a depth test, llvmpipe looks for
    /// pairs of triangles that form rectangles, and interpolates differently over those. The pairs
    /// that it finds depend on how vertices reach it, and so does the last bit of a colour.
    fn draws_with_depth(&self) -> bool {
        self.gl.state.is_enabled(gl::GL_DEPTH_TEST) == Some(true)
            && self.gl.state.draws_to_default()
            && self.draw.as_ref().is_some_and(|s| s.format.depth > 0)
    }

    /// glEnd.
    pub fn end(&mut self) {
        let compiling = self.gl.immediate.compiling;
        if compiling {
            self.gl.lists.leaves(false);
        }
        match self.gl.immediate.phase {
            // The end of a primitive that another list begins.
            Phase::Outside if compiling => self.enc.gl_end(),
            Phase::Outside => return self.set_error(gl::GL_INVALID_OPERATION),
            Phase::Run => self.end_run(),
            Phase::Verbatim => {
                self.close_loop_verbatim();
                self.enc.gl_end();
            }
        }
        let im = &mut self.gl.immediate;
        im.phase = Phase::Outside;
        im.limit = [std::ptr::null_mut(); 5];
        im.components = [0; ATTRIBUTES];
        im.loop_first = None;
        if let Some(error) = im.pending_error.take() {
            self.set_error(error);
        }
        if self.enc.watched {
            self.watched_end();
        }
    }

    /// A rectangle was compiled between glBegin and glEnd, where it is not allowed. It is drawn
    /// when the list is called, and ends the primitive.
    pub fn rectangle_begins(&mut self) {
        if self.gl.in_begin() {
            self.gl.lists.leaves(false);
            self.gl.immediate.phase = Phase::Outside;
        }
    }

    /// Ends the primitive and begins another of its kind.
    fn restart(&mut self) {
        match self.gl.immediate.mode {
            mode if self.gl.in_begin() && mode != OF_A_LIST => {
                self.end();
                self.begin(mode);
            }
            // The server knows which primitive it has begun, if any.
            _ => self.enc.gl_primitive_restart_nv(),
        }
    }

    /// Asks the server whether the last glBegin has failed, if no vertex has followed it. A program
    /// may ask for errors then: if glBegin has failed, no primitive is open, and glGetError is
    /// legal. Returns the error; none if the primitive is open, as the client assumes.
    #[cold]
    pub fn error_of_begin(&mut self) -> Option<u32> {
        let im = &self.gl.immediate;
        let has_vertices = im.phase != Phase::Run || im.was_cut || im.count() > 0;
        if has_vertices || self.enc.doubt == 0 || self.session.is_none() || self.is_lost() {
            return None;
        }
        let mode = im.mode;
        self.leave_empty_run();
        self.send_layout_values();
        let earlier = self.ask_error();
        self.enc.gl_draw_arrays(mode, 0, 0);
        let own = self.ask_error();
        if own != 0 {
            return Some(if earlier != 0 { earlier } else { own });
        }
        if earlier != 0 {
            self.set_error(earlier);
        }
        self.begin(mode);
        None
    }

    /// Ends a run that has no vertices, without a command.
    fn leave_empty_run(&mut self) {
        self.gl.immediate.keep_values(&mut self.gl.state.current);
        let im = &mut self.gl.immediate;
        im.reopen_at = std::ptr::null_mut();
        im.phase = Phase::Outside;
        // SAFETY: the end of the encoder's room, which was on hold.
        unsafe { self.enc.release(im.chunk_end) };
    }

    fn end_run(&mut self) {
        if self.gl.immediate.count() == 0 {
            self.leave_empty_run();
            let mode = self.gl.immediate.mode;
            // Nothing is drawn, but glBegin itself may raise an error.
            self.enc.gl_draw_arrays(mode, 0, 0);
            return self.send_layout_values();
        }
        self.gl.immediate.keep_values(&mut self.gl.state.current);
        let im = &mut self.gl.immediate;
        im.reopen_at = std::ptr::null_mut();
        if let Some(first) = im.loop_first.take() {
            im.append_vertex(&first);
            im.loop_first = Some(first);
        }
        let count = im.count();
        let trailing = im.append_trailing();
        let welded = self.close_run(count, if trailing { RUN_TRAILING } else { 0 });
        let whole = self.gl.objects.uses_ids();
        let im = &mut self.gl.immediate;
        if !trailing && !welded && !im.was_cut && !whole && cut::joins(im.mode, count) {
            im.reopen_at = self.enc.cursor();
        }
    }

    /// Sends the attributes that were set after glBegin if no vertex followed.
    fn send_layout_values(&mut self) {
        let im = &self.gl.immediate;
        let layout: Vec<u8> = im
            .layout
            .attributes()
            .flat_map(|a| [a, im.layout.components[usize::from(a)]])
            .collect();
        if layout.is_empty() {
            return;
        }
        let values: Vec<f32> = im
            .layout
            .attributes()
            .flat_map(|a| self.gl.state.current.values[usize::from(a)])
            .collect();
        // SAFETY: the context's own encoder; the arrays live until the call returns.
        unsafe {
            self.enc.mgn_current(
                (layout.as_ptr(), layout.len()),
                (values.as_ptr(), values.len()),
            )
        };
    }

    /// Ends the run where the primitive may be cut, and continues with another one. `change` sets
    /// the components of an attribute in its layout; without a change, the next run is in a new
    /// chunk. Returns false if that is not possible.
    fn restart_run(&mut self, change: Option<(u8, u8)>) -> bool {
        self.gl.immediate.keep_values(&mut self.gl.state.current);
        let Some(plan) = self.plan_cut(change) else {
            return false;
        };
        let (im, current) = (&mut self.gl.immediate, &self.gl.state.current);
        let carried: Vec<Vertex> = plan.carry.iter().map(|&i| im.vertex(i, current)).collect();
        if plan.emit > 0 {
            im.was_cut = true;
            if im.mode == gl::GL_LINE_LOOP && im.loop_first.is_none() {
                im.loop_first = Some(Box::new(im.vertex(0, current)));
            }
            self.close_run(plan.emit, 0);
        } else {
            // SAFETY: the end of the encoder's room, which was on hold.
            unsafe { self.enc.release(im.chunk_end) };
        }
        if let Some((attribute, components)) = change {
            self.gl.immediate.layout.set(attribute, components);
        }
        self.start_run();
        let im = &mut self.gl.immediate;
        if im.phase == Phase::Run {
            for vertex in &carried {
                im.append_vertex(vertex);
            }
        }
        true
    }

    /// How the run may be cut here; none if the cut would be visible. Vertices that are carried
    /// over need a value for an attribute that joins the layout.
    fn plan_cut(&self, change: Option<(u8, u8)>) -> Option<cut::Cut> {
        let im = &self.gl.immediate;
        let count = im.count();
        if count == 0 {
            return Some(cut::Cut::default());
        }
        let shows = match im.mode {
            gl::GL_LINE_STRIP | gl::GL_LINE_LOOP => self.stippled(),
            gl::GL_POLYGON => self.outlined(),
            _ => false,
        };
        if self.gl.objects.uses_ids() || shows {
            return None;
        }
        let cut = cut::cut(im.mode, count)?;
        let known = change.is_none_or(|(a, _)| {
            a == attr::POSITION || self.gl.state.current.get(usize::from(a)).is_some()
        });
        (known || cut.carry.is_empty()).then_some(cut)
    }

    /// Leaves the run for the rest of the primitive: the server begins it and feeds it the vertices
    /// so far. Each later call is sent as a command.
    pub fn go_verbatim(&mut self) {
        if self.gl.immediate.phase != Phase::Run {
            return;
        }
        self.gl.immediate.keep_values(&mut self.gl.state.current);
        let im = &mut self.gl.immediate;
        im.reopen_at = std::ptr::null_mut();
        let count = im.count();
        im.phase = Phase::Verbatim;
        if count > 0 {
            let trailing = im.append_trailing();
            self.close_run(count, RUN_OPEN | if trailing { RUN_TRAILING } else { 0 });
        } else {
            // SAFETY: the end of the encoder's room, which was on hold.
            unsafe { self.enc.release(im.chunk_end) };
            let mode = im.drawn_mode();
            self.enc.gl_begin(mode);
            self.send_layout_values();
        }
        let im = &mut self.gl.immediate;
        im.limit = [std::ptr::null_mut(); 5];
        im.components = [0; ATTRIBUTES];
    }

    /// Closes a loop that continues as a strip. The closing vertex changes current values, so these
    /// are set again.
    fn close_loop_verbatim(&mut self) {
        let Some(first) = self.gl.immediate.loop_first.take() else {
            return;
        };
        let attributes: Vec<(u8, u8)> = {
            let layout = &self.gl.immediate.layout;
            layout
                .attributes()
                .map(|a| (a, layout.components[usize::from(a)]))
                .collect()
        };
        let values = self.gl.state.current.values;
        for &(a, n) in &attributes {
            self.send_attribute(a, n, first[usize::from(a)]);
        }
        self.send_vertex(4, first[usize::from(attr::POSITION)]);
        for &(a, n) in &attributes {
            self.send_attribute(a, n, values[usize::from(a)]);
        }
    }

    /// Whether lines are stippled, or may be as far as the client knows.
    pub fn stippled(&self) -> bool {
        self.gl.state.is_enabled(gl::GL_LINE_STIPPLE) != Some(false)
    }

    /// Whether polygons are drawn as lines or points, or may be as far as the client knows.
    fn outlined(&self) -> bool {
        self.gl
            .state
            .get(gl::GL_POLYGON_MODE)
            .values()
            .is_none_or(|modes| (0..2).any(|i| modes.int64(i) != i64::from(gl::GL_FILL)))
    }
}
