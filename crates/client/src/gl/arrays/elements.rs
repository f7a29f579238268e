//! The entry points of draws.

use super::draw::Reads;
use super::indexed::{bounds, draws, Indexed};
use crate::context::Context;
use crate::current::context;
use crate::gl::buffers;
use crate::gl::tracked::can_be_read;
use crate::shadow::arrays::tree::{touched, Piece};
use core::ffi::c_void;
use mgn_wire::encoder::Data;
use mgn_wire::sizes::image::draw_index_bytes;
use mgn_wire::{gl, ops};

type Pointer = *const c_void;

impl Context {
    /// Whether the draw brings vertices or indices along. If not, its command is sent unchanged.
    fn brings_elements(&self) -> bool {
        let arrays = &self.gl.arrays;
        arrays.needs_client_memory() || arrays.bound.element_buffer == 0
    }

    /// Draws with arrays or indices from the program's memory. Checks the arguments, except for
    /// errors that only the server can find.
    fn draw_inline(&mut self, draw: Indexed) {
        // In the driver's order: first the numbers, then the mode and the state that it needs, then
        // the type.
        if draw.count < 0 || draw.instances < 0 {
            return self.set_error(gl::GL_INVALID_VALUE);
        }
        let Some(size) = draw_index_bytes(draw.type_) else {
            self.check_only(draw.mode);
            return self.set_error(gl::GL_INVALID_ENUM);
        };
        if draw.mode > gl::GL_PATCHES {
            return self.set_error(gl::GL_INVALID_ENUM);
        }
        if draw.count == 0 || draw.instances == 0 {
            return self.check_only(draw.mode);
        }
        let bytes = draw.count as usize * size;
        let buffer = self.gl.arrays.bound.element_buffer;
        let fetched;
        let indices = if buffer == 0 {
            if !can_be_read(draw.indices as usize, bytes) {
                return self.check_only(draw.mode);
            }
            draw.indices.cast::<u8>()
        } else {
            match buffers::element_bytes(self, buffer, draw.indices as i64, bytes) {
                Some(found) => {
                    fetched = found;
                    fetched.as_ptr()
                }
                // The indices lie outside the buffer. The result is undefined, so nothing is drawn.
                None => return,
            }
        };
        let pieces = self.sort_elements(&draw, Some(indices));
        let whole = |tiles| Piece {
            first: 0,
            count: draw.count as usize,
            tiles,
        };
        let pieces = match pieces {
            None => vec![whole(self.hinted(draw.mode))],
            // SAFETY: `bytes` bytes of indices lie there.
            Some(pieces) if unsafe { self.is_worth_cutting(&draw, indices, &pieces) } => pieces,
            Some(pieces) => vec![whole(touched(&pieces))],
        };
        for piece in &pieces {
            let indices = indices.wrapping_add(piece.first * size);
            // SAFETY: as above.
            unsafe { self.send_inline(draw.piece(piece), indices, piece.tiles) };
        }
    }

    /// Whether cutting the draw is worth it. Each piece brings all elements between its least and
    /// greatest index along. The pieces may bring at most half as much again as the whole draw.
    ///
    /// # Safety
    /// The draw's indices lie at `indices`.
    unsafe fn is_worth_cutting(
        &mut self,
        draw: &Indexed,
        indices: *const u8,
        pieces: &[Piece],
    ) -> bool {
        if !self.gl.arrays.needs_client_memory() || pieces.len() < 2 {
            return true;
        }
        let size = draw_index_bytes(draw.type_).unwrap_or(0);
        let reach = |first: usize, count: usize| {
            // SAFETY: the caller's promise.
            let bounds = unsafe { bounds(indices.add(first * size), count, size, None) };
            bounds.map_or(0, |(least, greatest)| u64::from(greatest - least) + 1)
        };
        let all = reach(0, draw.count as usize);
        let parts: u64 = pieces.iter().map(|p| reach(p.first, p.count)).sum();
        2 * parts <= 3 * all
    }

    /// Sends a draw with indices, and maybe arrays, from the program's memory to the renderers of
    /// `tiles`.
    ///
    /// # Safety
    /// The draw's indices lie at `indices`.
    unsafe fn send_inline(&mut self, draw: Indexed, indices: *const u8, tiles: u64) {
        let size = draw_index_bytes(draw.type_).unwrap_or(0);
        let bytes = draw.count as usize * size;
        if !self.gl.arrays.needs_client_memory() {
            let words = (std::ptr::null(), 0);
            let indices = Data::Bytes(indices, bytes);
            // SAFETY: the context's own encoder; the program's indices are there.
            unsafe { self.send_elements(draw, 0, u32::MAX, words, indices, Data::Null, tiles) };
            return;
        }
        let restart = self.restart_index(draw.type_);
        // SAFETY: `bytes` bytes of indices lie there.
        let Some((least, greatest)) =
            (unsafe { bounds(indices, draw.count as usize, size, restart) })
        else {
            return self.check_only(draw.mode);
        };
        let base = i64::from(draw.base_vertex);
        let reads = Reads {
            least: i64::from(least) + base,
            greatest: i64::from(greatest) + base,
            instances: draw.instances as u32,
            base_instance: draw.base_instance,
        };
        let Some(gathered) = self.gl.arrays.gather(reads) else {
            return self.check_only(draw.mode);
        };
        let words = (gathered.words.as_ptr(), gathered.words.len());
        // SAFETY: as above, and the pieces are what the program's arrays hold.
        unsafe {
            self.send_elements(
                draw,
                least,
                greatest,
                words,
                Data::Bytes(indices, bytes),
                gathered.data(),
                tiles,
            )
        };
    }

    unsafe fn send_elements(
        &mut self,
        d: Indexed,
        least: u32,
        greatest: u32,
        words: (*const u32, usize),
        indices: Data,
        vertices: Data,
        tiles: u64,
    ) {
        let bytes = 48 + 4 * words.1 + indices.extra_bytes() + vertices.extra_bytes();
        self.only(tiles, bytes);
        // SAFETY: the caller's promise.
        unsafe {
            self.enc.mgn_draw_elements(
                d.mode,
                d.count,
                d.type_,
                least,
                greatest,
                d.instances,
                d.base_vertex,
                d.base_instance,
                words,
                indices,
                vertices,
            );
        }
    }

    /// Sends a draw with valid arguments to the renderers of `tiles`.
    fn send_arrays(&mut self, mode: u32, first: i32, count: i32, tiles: u64) {
        if self.gl.arrays.needs_client_memory() {
            return self.draw_client_arrays(mode, first, count, 1, 0, tiles);
        }
        self.only(tiles, 16);
        self.enc.gl_draw_arrays(mode, first, count);
    }

    /// Sends a piece of a draw to the renderers of its tiles. It brings nothing along.
    fn send_piece(&mut self, draw: &Indexed, piece: &Piece) {
        let d = draw.piece(piece);
        let offset = d.indices as u64;
        self.only(piece.tiles, 32);
        match d.base_vertex {
            0 => self.enc.gl_draw_elements(d.mode, d.count, d.type_, offset),
            base => {
                let (mode, count) = (d.mode, d.count);
                self.enc
                    .gl_draw_elements_base_vertex(mode, count, d.type_, offset, base);
            }
        }
    }

    /// Draws instances on the renderers whose tiles they touch. The fixed function places all
    /// instances alike, and the program may have given bounds for other draws. `send` sends the
    /// draw if it brings no vertices along.
    fn draw_instances(
        &mut self,
        mode: u32,
        first: i32,
        count: i32,
        instances: i32,
        base_instance: u32,
        send: impl FnOnce(&mut Context),
    ) {
        if !draws(mode, first, count, instances) {
            return send(self);
        }
        let mut tiles = 0;
        if !self.sort_arrays(mode, first, count, |_, piece| tiles |= piece.tiles) {
            tiles = self.hinted(mode);
        }
        if tiles == 0 {
            return;
        }
        if self.gl.arrays.needs_client_memory() {
            return self.draw_client_arrays(mode, first, count, instances, base_instance, tiles);
        }
        self.only(tiles, 24);
        send(self);
    }

    /// Sends a draw of no vertices, for the errors that only the server may find.
    pub(super) fn check_only(&mut self, mode: u32) {
        self.enc.gl_draw_arrays(mode, 0, 0);
    }

    /// The index that restarts primitives, if that is enabled.
    pub(super) fn restart_index(&mut self, type_: u32) -> Option<u32> {
        let on = |cap| self.gl.state.is_enabled(cap);
        if on(gl::GL_PRIMITIVE_RESTART_FIXED_INDEX) == Some(true) {
            return Some(match type_ {
                gl::GL_UNSIGNED_BYTE => 0xff,
                gl::GL_UNSIGNED_SHORT => 0xffff,
                _ => u32::MAX,
            });
        }
        if on(gl::GL_PRIMITIVE_RESTART) == Some(true) {
            return self
                .gl
                .state
                .get(gl::GL_PRIMITIVE_RESTART_INDEX)
                .values()
                .map(|v| v.int64(0) as u32);
        }
        None
    }
}

/// The calling thread's context, unless it is between glBegin and glEnd.
pub(super) fn drawing<'a>() -> Option<&'a mut Context> {
    // SAFETY: the only reference in use.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        cx.illegal_in_begin::<()>();
        return None;
    }
    Some(cx)
}

/// The same for a draw of instances, or with arguments in a buffer object. Display lists do not
/// hold these draws.
pub(super) fn drawing_unlisted<'a>() -> Option<&'a mut Context> {
    let cx = drawing()?;
    if cx.gl.lists.is_open() {
        cx.set_error(gl::GL_INVALID_OPERATION);
        return None;
    }
    Some(cx)
}

pub unsafe extern "C" fn glDrawArrays(mode: u32, first: i32, count: i32) {
    let Some(cx) = drawing() else { return };
    let checked = draws(mode, first, count, 1);
    cx.send_draw([ops::GL_DRAW_ARRAYS.into(), 0], mode, checked, |cx| {
        if !checked {
            return cx.enc.gl_draw_arrays(mode, first, count);
        }
        let is_sorted = cx.sort_arrays(mode, first, count, |cx, piece| {
            let first = first + piece.first as i32;
            cx.send_arrays(mode, first, piece.count as i32, piece.tiles);
        });
        if !is_sorted {
            let tiles = cx.hinted(mode);
            cx.send_arrays(mode, first, count, tiles);
        }
    });
}

pub unsafe extern "C" fn glDrawArraysInstanced(mode: u32, first: i32, count: i32, instances: i32) {
    let Some(cx) = drawing_unlisted() else { return };
    cx.draw_instances(mode, first, count, instances, 0, |cx| {
        cx.enc
            .gl_draw_arrays_instanced(mode, first, count, instances);
    });
}

pub unsafe extern "C" fn glDrawArraysInstancedBaseInstance(
    mode: u32,
    first: i32,
    count: i32,
    instances: i32,
    base: u32,
) {
    let Some(cx) = drawing_unlisted() else { return };
    cx.draw_instances(mode, first, count, instances, base, |cx| {
        cx.enc
            .gl_draw_arrays_instanced_base_instance(mode, first, count, instances, base);
    });
}

/// Indexed draws: how the draw begins, the entry point, the properties of the draw, and the command
/// that is sent if everything is in buffer objects.
macro_rules! indexed {
    ($($begin:ident: $name:ident($($argument:ident: $type:ty),*) {$($field:ident: $value:expr),*} $encode:ident $op:ident($($sent:expr),*);)*) => {
        $(pub unsafe extern "C" fn $name($($argument: $type),*) {
            let Some(cx) = $begin() else { return };
            #[allow(clippy::needless_update, reason = "the longest of them names every field")]
            let draw = Indexed { $($field: $value,)* ..NOTHING };
            cx.send_draw([ops::$op.into(), draw.type_], draw.mode, draw.draws(), |cx| {
                if cx.brings_elements() {
                    return cx.draw_inline(draw);
                }
                match cx.sort_elements(&draw, None) {
                    Some(pieces) if pieces.is_empty() => return,
                    // Draws of several instances are not cut.
                    Some(pieces) if draw.instances > 1 => cx.only(touched(&pieces), 64),
                    Some(pieces) => {
                        return pieces.iter().for_each(|piece| cx.send_piece(&draw, piece));
                    }
                    None if draw.draws() && cx.gl.arrays.bound.element_buffer != 0 => {
                        let tiles = cx.hinted(draw.mode);
                        cx.only(tiles, 64);
                    }
                    None => {}
                }
                cx.enc.$encode($($sent),*);
            });
        })*
    };
}

const NOTHING: Indexed = Indexed {
    mode: 0,
    count: 0,
    type_: 0,
    indices: std::ptr::null(),
    instances: 1,
    base_vertex: 0,
    base_instance: 0,
};

indexed! {
    drawing: glDrawElements(mode: u32, count: i32, type_: u32, indices: Pointer)
        {mode: mode, count: count, type_: type_, indices: indices}
        gl_draw_elements GL_DRAW_ELEMENTS(mode, count, type_, indices as u64);
    drawing: glDrawElementsBaseVertex(mode: u32, count: i32, type_: u32, indices: Pointer, base: i32)
        {mode: mode, count: count, type_: type_, indices: indices, base_vertex: base}
        gl_draw_elements_base_vertex GL_DRAW_ELEMENTS_BASE_VERTEX(mode, count, type_, indices as u64, base);
    drawing_unlisted: glDrawElementsInstanced(mode: u32, count: i32, type_: u32, indices: Pointer, instances: i32)
        {mode: mode, count: count, type_: type_, indices: indices, instances: instances}
        gl_draw_elements_instanced GL_DRAW_ELEMENTS_INSTANCED(mode, count, type_, indices as u64, instances);
    drawing_unlisted: glDrawElementsInstancedBaseInstance(mode: u32, count: i32, type_: u32, indices: Pointer, instances: i32, base: u32)
        {mode: mode, count: count, type_: type_, indices: indices, instances: instances, base_instance: base}
        gl_draw_elements_instanced_base_instance GL_DRAW_ELEMENTS_INSTANCED_BASE_INSTANCE(mode, count, type_, indices as u64, instances, base);
    drawing_unlisted: glDrawElementsInstancedBaseVertex(mode: u32, count: i32, type_: u32, indices: Pointer, instances: i32, base: i32)
        {mode: mode, count: count, type_: type_, indices: indices, instances: instances, base_vertex: base}
        gl_draw_elements_instanced_base_vertex GL_DRAW_ELEMENTS_INSTANCED_BASE_VERTEX(mode, count, type_, indices as u64, instances, base);
    drawing_unlisted: glDrawElementsInstancedBaseVertexBaseInstance(
        mode: u32, count: i32, type_: u32, indices: Pointer, instances: i32, vertex: i32, instance: u32)
        {mode: mode, count: count, type_: type_, indices: indices, instances: instances, base_vertex: vertex, base_instance: instance}
        gl_draw_elements_instanced_base_vertex_base_instance GL_DRAW_ELEMENTS_INSTANCED_BASE_VERTEX_BASE_INSTANCE(mode, count, type_, indices as u64, instances, vertex, instance);
}

pub unsafe extern "C" fn glDrawRangeElements(
    mode: u32,
    start: u32,
    end: u32,
    count: i32,
    type_: u32,
    indices: Pointer,
) {
    // SAFETY: as glDrawElementsBaseVertex.
    unsafe { glDrawRangeElementsBaseVertex(mode, start, end, count, type_, indices, 0) }
}

pub unsafe extern "C" fn glDrawRangeElementsBaseVertex(
    mode: u32,
    start: u32,
    end: u32,
    count: i32,
    type_: u32,
    indices: Pointer,
    base: i32,
) {
    let Some(cx) = drawing() else { return };
    if end < start {
        return cx.set_error(gl::GL_INVALID_VALUE);
    }
    // The range is a hint that is not needed here.
    // SAFETY: the program's own promise.
    unsafe { glDrawElementsBaseVertex(mode, count, type_, indices, base) }
}

pub unsafe extern "C" fn glMultiDrawArrays(
    mode: u32,
    first: *const i32,
    count: *const i32,
    draws: i32,
) {
    let Some(cx) = drawing() else { return };
    let Ok(n) = usize::try_from(draws) else {
        return cx.set_error(gl::GL_INVALID_VALUE);
    };
    // SAFETY: the program gives `draws` values each.
    unsafe {
        let right = (0..n).all(|i| *first.add(i) >= 0 && *count.add(i) >= 0);
        if !(cx.gl.arrays.needs_client_memory() || right && cx.sorts_each(mode)) {
            cx.enc.gl_multi_draw_arrays(mode, (first, n), (count, n));
            return;
        }
        if (0..n).all(|i| *count.add(i) == 0) {
            return cx.check_only(mode);
        }
        if (0..n).any(|i| *count.add(i) < 0) {
            cx.check_only(mode);
            return cx.set_error(gl::GL_INVALID_VALUE);
        }
        for i in 0..n {
            if *count.add(i) > 0 {
                glDrawArrays(mode, *first.add(i), *count.add(i));
            }
        }
    }
}

pub unsafe extern "C" fn glMultiDrawElements(
    mode: u32,
    count: *const i32,
    type_: u32,
    indices: *const Pointer,
    draws: i32,
) {
    // SAFETY: as for `multi_draw`, whose base vertices may be missing.
    unsafe { multi_draw(mode, count, type_, indices, draws, std::ptr::null()) }
}

pub unsafe extern "C" fn glMultiDrawElementsBaseVertex(
    mode: u32,
    count: *const i32,
    type_: u32,
    indices: *const Pointer,
    draws: i32,
    base: *const i32,
) {
    // SAFETY: the program gives `draws` values each.
    unsafe { multi_draw(mode, count, type_, indices, draws, base) }
}

unsafe fn multi_draw(
    mode: u32,
    count: *const i32,
    type_: u32,
    indices: *const Pointer,
    draws: i32,
    base: *const i32,
) {
    let Some(cx) = drawing() else { return };
    let Ok(n) = usize::try_from(draws) else {
        return cx.set_error(gl::GL_INVALID_VALUE);
    };
    // SAFETY: the program gives `draws` values each; `base` may be null.
    unsafe {
        let right = draw_index_bytes(type_).is_some() && (0..n).all(|i| *count.add(i) >= 0);
        if !(cx.brings_elements() || right && cx.sorts_each(mode)) {
            let offsets = (indices.cast::<u64>(), n);
            if base.is_null() {
                cx.enc
                    .gl_multi_draw_elements(mode, (count, n), type_, offsets);
            } else {
                cx.enc.gl_multi_draw_elements_base_vertex(
                    mode,
                    (count, n),
                    type_,
                    offsets,
                    (base, n),
                );
            }
            return;
        }
        let in_memory = cx.gl.arrays.bound.element_buffer == 0;
        let no_indices = in_memory && (0..n).any(|i| (*indices.add(i)).is_null());
        if !right || no_indices || (0..n).all(|i| *count.add(i) == 0) {
            // Nothing is drawn. Checked in the driver's order: the mode and the state that it
            // needs, the type, the numbers.
            cx.check_only(mode);
            return match draw_index_bytes(type_) {
                None => cx.set_error(gl::GL_INVALID_ENUM),
                Some(_) if !right => cx.set_error(gl::GL_INVALID_VALUE),
                Some(_) => {}
            };
        }
        if cx.gl.objects.uses_ids() && !cx.gl.arrays.needs_client_memory() {
            let draw = |i| {
                let base = if base.is_null() { 0 } else { *base.add(i) };
                (*count.add(i), *indices.add(i), base)
            };
            let draws: Vec<_> = (0..n).map(draw).collect();
            return cx.multi_draw_in_one(mode, type_, &draws);
        }
        for i in 0..n {
            if *count.add(i) > 0 {
                let base = if base.is_null() { 0 } else { *base.add(i) };
                glDrawElementsBaseVertex(mode, *count.add(i), type_, *indices.add(i), base);
            }
        }
    }
}

/// The name of the buffer that `multi_draw_in_one` creates. glGenBuffers returns the lowest free
/// names, which never get that high, and no program is known to choose this name itself.
const INDICES_OF_A_DRAW: u32 = u32::MAX - 1;

impl Context {
    /// Several draws with indices from the program's memory as one command, because shaders that
    /// read `gl_DrawID` need that. All indices go into a buffer that exists for this command only.
    /// Each draw is given by its count, its indices and its base vertex.
    ///
    /// # Safety
    /// The program's indices can be read.
    unsafe fn multi_draw_in_one(&mut self, mode: u32, type_: u32, draws: &[(i32, Pointer, i32)]) {
        let Some(size) = draw_index_bytes(type_) else {
            return;
        };
        let (mut all, mut counts, mut offsets, mut bases) = (vec![], vec![], vec![], vec![]);
        for &(count, indices, base) in draws {
            let bytes = count as usize * size;
            if bytes > 0 && !can_be_read(indices as usize, bytes) {
                return self.check_only(mode);
            }
            counts.push(count);
            offsets.push(all.len() as u64);
            bases.push(base);
            if bytes > 0 {
                // SAFETY: the caller's promise.
                all.extend_from_slice(unsafe { std::slice::from_raw_parts(indices.cast(), bytes) });
            }
        }
        let names = [INDICES_OF_A_DRAW];
        let name = (names.as_ptr(), 1);
        let target = gl::GL_ELEMENT_ARRAY_BUFFER;
        let data = Data::Bytes(all.as_ptr(), all.len());
        let n = draws.len();
        let enc = &mut self.enc;
        // SAFETY: the context's own encoder; the arrays live until the calls return.
        unsafe {
            enc.gl_gen_buffers(name);
            enc.gl_bind_buffer(target, INDICES_OF_A_DRAW);
            enc.gl_buffer_data(target, all.len() as i64, data, gl::GL_STREAM_DRAW);
            enc.gl_multi_draw_elements_base_vertex(
                mode,
                (counts.as_ptr(), n),
                type_,
                (offsets.as_ptr(), n),
                (bases.as_ptr(), n),
            );
            enc.gl_bind_buffer(target, 0);
            enc.gl_delete_buffers(name);
        }
    }
}

/// The mode of draw `i`. The modes lie `stride` bytes apart.
///
/// # Safety
/// Mode `i` exists.
unsafe fn mode_of(modes: *const u32, stride: i32, i: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        modes
            .byte_offset(stride as isize * i as isize)
            .read_unaligned()
    }
}

pub unsafe extern "C" fn glMultiModeDrawArraysIBM(
    modes: *const u32,
    first: *const i32,
    count: *const i32,
    draws: i32,
    stride: i32,
) {
    // SAFETY: the program gives `draws` values each.
    unsafe {
        for i in 0..usize::try_from(draws).unwrap_or(0) {
            if *count.add(i) > 0 {
                glDrawArrays(mode_of(modes, stride, i), *first.add(i), *count.add(i));
            }
        }
    }
}

pub unsafe extern "C" fn glMultiModeDrawElementsIBM(
    modes: *const u32,
    count: *const i32,
    type_: u32,
    indices: *const *const c_void,
    draws: i32,
    stride: i32,
) {
    // SAFETY: as above.
    unsafe {
        for i in 0..usize::try_from(draws).unwrap_or(0) {
            if *count.add(i) > 0 {
                glDrawElements(
                    mode_of(modes, stride, i),
                    *count.add(i),
                    type_,
                    *indices.add(i),
                );
            }
        }
    }
}
