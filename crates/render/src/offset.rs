//! Offset tiling: a surface whose buffers hold the pixels of one tile of a wall.
//!
//! The program's window coordinates refer to the whole window. Before the driver draws to such a
//! surface, it gets scissor boxes and viewports that are moved to the tile's coordinates. If a
//! viewport is larger than the driver's largest, the driver gets a part of the viewport, and clip
//! coordinates are stretched to match, by the projection or by code that is added to shaders
//! (`glsl`). Before a command that sets or reads any of this state, the program's own state is
//! restored.
//!
//! A driver would clamp viewports that are too large for it. So the driver gets another viewport in
//! place of such a one, and that viewport identifies the program's.

use crate::context::{Api, Context};
use crate::glsl;
use crate::renderer::Renderer;
use crate::surface::Surface;
use crate::tile::Rect;
use mgn_wire::{gl::*, Fault, Slice};
use std::collections::HashMap;
use std::ffi::CStr;

/// Buffers begin and end at multiples of this many pixels of the window, counted from all its
/// sides. This preserves everything that depends on a pixel's position: stipple patterns,
/// dithering, and the 2x2 quads that derivatives are computed from.
const GRAIN: i32 = 64;

/// The border around a tile, in pixels, from which wide points and lines may reach into it.
const MARGIN: f64 = 512.0;

/// The most viewports that are remembered; more than any program uses.
const MOST_LARGE: usize = 4096;

/// The program's viewports that are too large for the driver, by the ones that the driver has in
/// their place.
#[derive(Default)]
pub(crate) struct Large(HashMap<[u32; 4], [f32; 4]>);

impl Large {
    /// The viewport that the program has set, if the driver's is `own`.
    pub(crate) fn asked(&self, own: [f32; 4]) -> [f32; 4] {
        self.0.get(&own.map(f32::to_bits)).copied().unwrap_or(own)
    }

    fn has_another(&self, own: [f32; 4], asked: [f32; 4]) -> bool {
        let known = self.0.get(&own.map(f32::to_bits));
        known.is_some_and(|known| *known != asked)
    }
}

/// The state that the driver has in place of the program's own.
#[derive(Debug)]
pub(crate) struct Moved {
    origin: [i32; 2],
    viewports: Vec<[f32; 4]>,
    /// The matrix mode, and the program's projection, if the driver has another projection.
    projection: Option<(u32, [f32; 16])>,
    shaders: bool,
    raster: bool,
}

/// The change of clip coordinates: x, y = x, y * scale + w * shift.
#[derive(Clone, Copy, PartialEq)]
struct Stretch {
    scale: [f64; 2],
    shift: [f64; 2],
}

const NONE: Stretch = Stretch {
    scale: [1.0; 2],
    shift: [0.0; 2],
};

/// The pixels of a window `height` high that a surface's buffers hold for a tile.
pub(crate) fn pixels_of([x, y, width, height]: Rect, window_height: i32) -> Rect {
    let down = |n: i32| n - n.rem_euclid(GRAIN);
    let (left, low) = (down(x), down(y));
    let right = -down(-(x + width));
    let top = window_height - down(window_height - (y + height));
    [left, low, (right - left).max(1), (top - low).max(1)]
}

/// The driver's viewport along one axis, with scale and shift of clip coordinates. `from` and
/// `length` are the program's viewport; the buffers hold `pixels` pixels from `origin` on.
fn along(
    (from, length): (f32, f32),
    (origin, pixels): (i32, i32),
    most: i32,
) -> (f32, f32, f64, f64) {
    let start = from - origin as f32;
    if length <= most as f32 {
        return (start, length, 1.0, 0.0);
    }
    // The part is a half, a quarter and so on, so that the scale is exact. If that would leave too
    // little room beside the tile for wide points and lines, the part is as large as possible.
    let mut part = f64::from(length);
    while part > f64::from(most) {
        part = (part / 2.0).ceil();
    }
    if part < f64::from(pixels) + MARGIN {
        part = f64::from(most);
    }
    let (from, length) = (f64::from(from), f64::from(length));
    // The tile is in the middle of the part, unless the program's viewport ends before: whatever
    // the program's viewport clips must be clipped there.
    let wanted = f64::from(origin) - ((part - f64::from(pixels)) / 2.0).floor();
    let first = wanted.clamp(from, from + length - part);
    let scale = length / part;
    let shift = 2.0 * (from - first) / part + scale - 1.0;
    (
        (first - f64::from(origin)) as f32,
        part as f32,
        scale,
        shift,
    )
}

impl Surface {
    /// The window coordinates of the first pixel that the buffers hold.
    pub(crate) fn origin(&self) -> [i32; 2] {
        [self.pixels[0], self.pixels[1]]
    }

    /// A rectangle of the window in the coordinates of a buffer.
    pub(crate) fn inside(&self, [x, y, width, height]: Rect) -> Rect {
        let [left, low] = self.origin();
        [x.wrapping_sub(left), y.wrapping_sub(low), width, height]
    }
}

impl Renderer {
    /// From now on a surface's buffers hold only the pixels of this renderer's tile.
    pub(crate) fn handwritten_mgn_offset(&mut self) -> Result<(), Fault> {
        self.beat();
        if !self.surfaces.is_empty() {
            return Err(Fault::refused("another tiling after surfaces were made"));
        }
        self.is_offset = true;
        Ok(())
    }

    /// Treats viewports of more than `most` pixels as too large, whatever the driver can do. For
    /// tests.
    pub fn limit_viewports(&mut self, most: i32) {
        self.largest = self.largest.map(|side| side.min(most));
    }

    /// To be called before a command that sets or reads state whose value in the driver differs
    /// from the program's.
    #[inline]
    pub(crate) fn leave_offset(&mut self) {
        if self.is_offset {
            self.goes_into_list();
            self.restore_boxes();
        }
    }

    /// To be called before a primitive is begun whose vertices follow one by one.
    #[inline]
    pub(crate) fn begins(&mut self) {
        self.keep_lists_to_tile();
        self.note_elements();
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.may_be_inside = true;
        }
    }

    /// To be called before a primitive is ended. Afterwards no primitive is open, even if none was
    /// before.
    #[inline]
    pub(crate) fn ends(&mut self) {
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.may_be_inside = false;
        }
    }

    /// To be called before a command that changes the current matrix.
    #[inline]
    pub(crate) fn leave_projection(&mut self) {
        if self.is_offset {
            self.goes_into_list();
            let kept = self.cx.as_deref().and_then(|cx| cx.boxes.as_ref());
            let moved = kept.and_then(|kept| kept.moved.as_ref());
            let projection = moved.and_then(|moved| moved.projection);
            if projection.is_some_and(|(mode, _)| mode == GL_PROJECTION) {
                self.restore_boxes();
            }
        }
    }

    /// Marks the list that is being compiled: a list with such a command is executed command by
    /// command.
    fn goes_into_list(&mut self) {
        let cx = self.cx.as_deref_mut();
        if let Some(compiling) = cx.and_then(|cx| cx.compiling.as_mut()) {
            compiling.by_command = true;
        }
    }

    /// Makes the driver draw to the pixels of a tile. The buffers hold the part `pixels` of the
    /// window.
    pub(crate) fn offset(&self, pixels: Rect, window_height: i32, count: usize) -> Moved {
        let viewports = self.viewports(count);
        let mut stretch = NONE;
        let moved: Vec<[f32; 4]> = viewports
            .iter()
            .enumerate()
            .map(|(n, viewport)| {
                let [x, y, w, h] = self.large.asked(*viewport);
                let (x, w, sx, tx) = along((x, w), (pixels[0], pixels[2]), self.largest[0]);
                let (y, h, sy, ty) = along((y, h), (pixels[1], pixels[3]), self.largest[1]);
                if n == 0 {
                    stretch = Stretch {
                        scale: [sx, sy],
                        shift: [tx, ty],
                    };
                }
                [x, y, w, h]
            })
            .collect();
        self.set_viewports(&moved);
        let origin = [pixels[0], pixels[1]];
        // The distance from the upper edge of the window.
        let above = window_height - pixels[1] - pixels[3];
        let shaders = self.offset_shaders(stretch, [origin[0], origin[1], above]);
        let projection = match shaders || stretch == NONE {
            true => None,
            false => self.stretch_projection(stretch),
        };
        Moved {
            origin,
            viewports,
            projection,
            shaders,
            raster: false,
        }
    }

    /// Gives the driver the program's own state again.
    pub(crate) fn put_back(&mut self, moved: Moved) {
        self.set_viewports(&moved.viewports);
        if moved.shaders {
            self.offset_shaders(NONE, [0; 3]);
        }
        if let Some((mode, matrix)) = moved.projection {
            self.load_projection(mode, &matrix);
        }
        if moved.raster {
            self.move_raster(moved.origin.map(|n| n as f32));
        }
    }

    /// The driver's viewports.
    fn viewports(&self, count: usize) -> Vec<[f32; 4]> {
        let mut viewports = vec![[0.0; 4]; count];
        // SAFETY: the context is current; each query writes four numbers.
        unsafe {
            match &mut viewports[..] {
                [one] => (self.gl.glGetFloatv)(GL_VIEWPORT, one.as_mut_ptr()),
                many => {
                    for (n, its) in (0..).zip(many) {
                        (self.gl.glGetFloati_v)(GL_VIEWPORT, n, its.as_mut_ptr());
                    }
                }
            }
        }
        viewports
    }

    fn set_viewports(&self, viewports: &[[f32; 4]]) {
        // SAFETY: the context is current; the array holds four numbers a viewport. The driver may
        // write clamped values to the array, so it gets a copy.
        unsafe {
            match viewports {
                [one] => {
                    let [x, y, w, h] = one.map(|n| n as i32);
                    (self.gl.glViewport)(x, y, w, h);
                }
                many => {
                    let mut copy = many.to_vec();
                    (self.gl.glViewportArrayv)(0, many.len() as i32, copy.as_mut_ptr().cast());
                }
            }
        }
    }

    pub(crate) fn handwritten_gl_viewport(
        &mut self,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        self.view([x, y, width, height]);
        Ok(())
    }

    /// Sets the program's viewport.
    pub(crate) fn view(&mut self, asked: Rect) {
        let [x, y, w, h] = match self.is_offset {
            true => self.in_place_of(asked.map(|n| n as f32)).map(|n| n as i32),
            false => asked,
        };
        // SAFETY: the context is current.
        unsafe { (self.gl.glViewport)(x, y, w, h) };
    }

    pub(crate) fn handwritten_gl_viewport_indexedf(
        &mut self,
        index: u32,
        x: f32,
        y: f32,
        w: f32,
        h: f32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let [x, y, w, h] = self.in_place_of([x, y, w, h]);
        // SAFETY: the context is current.
        unsafe { (self.gl.glViewportIndexedf)(index, x, y, w, h) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_viewport_indexedfv(
        &mut self,
        index: u32,
        v: Slice<'_, f32>,
    ) -> Result<(), Fault> {
        match v.to_vec()[..] {
            [x, y, w, h] => self.handwritten_gl_viewport_indexedf(index, x, y, w, h),
            _ => self.needs_context(),
        }
    }

    /// The driver gets a copy of the array, because it writes clamped values to it.
    pub(crate) fn handwritten_gl_viewport_arrayv(
        &mut self,
        first: u32,
        count: i32,
        v: Slice<'_, f32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let asked = v.to_vec();
        let asked = asked.chunks_exact(4).filter_map(|v| v.try_into().ok());
        let mut values: Vec<f32> = asked.flat_map(|asked| self.in_place_of(asked)).collect();
        // Display lists multiply the count, and the product of a negative count may be positive.
        let count = count.max(-1);
        // SAFETY: `count` times four values, as decoded.
        unsafe { (self.gl.glViewportArrayv)(first, count, values.as_mut_ptr()) };
        Ok(())
    }

    /// The driver's viewport for one of the program's. It is a different one if the driver would
    /// clamp the program's.
    fn in_place_of(&mut self, asked: [f32; 4]) -> [f32; 4] {
        /// All drivers that bound viewport positions allow at least this range.
        const FARTHEST: f32 = 32768.0;
        let is_wrong = asked.iter().any(|n| n.is_nan()) || asked[2].min(asked[3]) < 0.0;
        if !self.is_offset || is_wrong {
            return asked;
        }
        let most = self.largest.map(|side| side as f32);
        let mut own = asked;
        for n in 0..2 {
            own[n] = asked[n].clamp(-FARTHEST, FARTHEST - 1.0);
            own[n + 2] = asked[n + 2].min(most[n]);
        }
        let Some(cut) = (0..4).find(|&n| own[n] != asked[n]) else {
            self.large.0.remove(&own.map(f32::to_bits));
            return own;
        };
        if self.large.0.len() >= MOST_LARGE {
            self.large.0.clear();
        }
        // Each of the program's viewports gets a different one, so that the right one is found
        // again after glPopAttrib.
        while self.large.has_another(own, asked) {
            own[cut] -= (asked[cut] - own[cut]).signum();
        }
        self.large.0.insert(own.map(f32::to_bits), asked);
        own
    }

    fn stretch_projection(&self, stretch: Stretch) -> Option<(u32, [f32; 16])> {
        let api = self.cx.as_deref()?.api;
        if !matches!(api, Api::Compat | Api::Es1) {
            return None;
        }
        let mut own = [0.0f32; 16];
        // SAFETY: the context is current; sixteen numbers are written.
        unsafe { (self.gl.glGetFloatv)(GL_PROJECTION_MATRIX, own.as_mut_ptr()) };
        let mut matrix = own;
        for column in matrix.chunks_exact_mut(4) {
            for n in 0..2 {
                let stretched = f64::from(column[n]) * stretch.scale[n]
                    + f64::from(column[3]) * stretch.shift[n];
                column[n] = stretched as f32;
            }
        }
        let mode = self.driver_integer(GL_MATRIX_MODE) as u32;
        self.load_projection(mode, &matrix);
        Some((mode, own))
    }

    fn load_projection(&self, mode: u32, matrix: &[f32; 16]) {
        // SAFETY: the context is current, and has the fixed function; the matrix has sixteen
        // numbers.
        unsafe {
            (self.gl.glMatrixMode)(GL_PROJECTION);
            (self.gl.glLoadMatrixf)(matrix.as_ptr());
            (self.gl.glMatrixMode)(mode);
        }
    }

    /// Tells the shaders in use how to stretch clip coordinates and where pixels begin. Returns
    /// whether these shaders place vertices.
    fn offset_shaders(&self, stretch: Stretch, origin: [i32; 3]) -> bool {
        let Some(cx) = self.cx.as_deref().filter(|cx| cx.api != Api::Es1) else {
            return false;
        };
        let gl = &self.gl;
        let place = [
            (stretch.scale[0] - 1.0) as f32,
            (stretch.scale[1] - 1.0) as f32,
            stretch.shift[0] as f32,
            stretch.shift[1] as f32,
        ];
        let origin = [origin[0] as f32, origin[1] as f32, origin[2] as f32, 0.0];
        // SAFETY: the context is current; names end with NUL. A program that is not linked has no
        // uniforms; this error is not reported.
        let set = |program: u32, name: &CStr, value: [f32; 4], is_current: bool| unsafe {
            let location = (gl.glGetUniformLocation)(program, name.as_ptr().cast());
            if location < 0 {
                return false;
            }
            let [x, y, z, w] = value;
            match is_current {
                true => (gl.glUniform4f)(location, x, y, z, w),
                false => (gl.glProgramUniform4f)(program, location, x, y, z, w),
            }
            true
        };
        let current = self.driver_integer(GL_CURRENT_PROGRAM) as u32;
        let place_in = |program: u32, is_current: bool| {
            let mut last = glsl::PLACES.iter();
            last.any(|name| set(program, name, place, is_current))
        };
        if current != 0 {
            set(current, glsl::ORIGIN, origin, true);
            return place_in(current, true);
        }
        let pipeline = match cx.has_pipelines {
            true => self.driver_integer(GL_PROGRAM_PIPELINE_BINDING) as u32,
            false => 0,
        };
        if pipeline == 0 {
            return false;
        }
        let of = |stage: u32| {
            let mut program = 0;
            // SAFETY: as above; one integer is written.
            unsafe { (gl.glGetProgramPipelineiv)(pipeline, stage, &mut program) };
            program as u32
        };
        match of(GL_FRAGMENT_SHADER) {
            0 => {}
            program => {
                set(program, glsl::ORIGIN, origin, false);
            }
        }
        let stages = [
            GL_GEOMETRY_SHADER,
            GL_TESS_EVALUATION_SHADER,
            GL_VERTEX_SHADER,
        ];
        let mut programs = stages.into_iter().map(of).filter(|program| *program != 0);
        programs.any(|program| place_in(program, false))
    }

    /// To be called before something is drawn at the raster position.
    pub(crate) fn offset_raster(&mut self) {
        let moves = |cx: &&Context| {
            let moved = cx.boxes.as_ref().and_then(|kept| kept.moved.as_ref());
            cx.api == Api::Compat && moved.is_some_and(|moved| !moved.raster)
        };
        // Inside a primitive, the query would be an error.
        if self.cx.as_deref().filter(moves).is_none() || self.has_primitive() {
            return;
        }
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        let Some(moved) = cx.boxes.as_mut().and_then(|kept| kept.moved.as_mut()) else {
            return;
        };
        if !std::mem::replace(&mut moved.raster, true) {
            let by = moved.origin.map(|n| -n as f32);
            self.move_raster(by);
        }
    }

    /// To be called after the raster position was set from a vertex. The driver computed it with
    /// its own viewport, which may be smaller than the program's.
    pub(crate) fn positioned(&mut self) {
        let compiles = self.cx.as_deref().is_none_or(|cx| cx.compiling.is_some());
        if self.large.0.is_empty() || compiles {
            return;
        }
        let Some(&[own]) = self.viewports(1).first_chunk() else {
            return;
        };
        let asked = self.large.asked(own);
        let mut at = [0.0f32; 4];
        // SAFETY: the context is current; four numbers are written.
        unsafe { (self.gl.glGetFloatv)(GL_CURRENT_RASTER_POSITION, at.as_mut_ptr()) };
        let by = [0, 1].map(|n| {
            let from = f64::from(at[n]);
            let share = (from - f64::from(own[n])) / f64::from(own[n + 2].max(1.0));
            (f64::from(asked[n]) + share * f64::from(asked[n + 2]) - from) as f32
        });
        if by != [0.0; 2] {
            self.move_raster(by);
        }
    }

    /// Moves the raster position, if it is valid. Changes nothing else.
    fn move_raster(&self, [x, y]: [f32; 2]) {
        // SAFETY: the context is current, and has the fixed function; a bitmap without pixels is
        // read from nowhere.
        unsafe { (self.gl.glBitmap)(0, 0, 0.0, 0.0, x, y, std::ptr::null()) };
    }

    /// Converts the window coordinates of a pixel that a command reads to those of the read buffer.
    pub(crate) fn where_read(&mut self, x: i32, y: i32) -> (i32, i32) {
        self.where_is(x, y, false)
    }

    /// The same for the draw buffer.
    pub(crate) fn where_drawn(&mut self, x: i32, y: i32) -> (i32, i32) {
        self.where_is(x, y, true)
    }

    #[inline]
    fn where_is(&mut self, x: i32, y: i32, drawn: bool) -> (i32, i32) {
        if !self.is_offset {
            return (x, y);
        }
        self.goes_into_list();
        let Some(cx) = self.cx.as_deref().filter(|cx| cx.compiling.is_none()) else {
            return (x, y);
        };
        let (surface, object) = match drawn {
            true => (&cx.draw, cx.draw_framebuffer),
            false => (&cx.read, cx.read_framebuffer),
        };
        match surface {
            Some(surface) if object == 0 => {
                let [left, low] = surface.borrow().origin();
                (x.wrapping_sub(left), y.wrapping_sub(low))
            }
            _ => (x, y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_and_end_at_grains_of_the_window() {
        assert_eq!(pixels_of([0, 0, 150, 300], 300), [0, 0, 192, 300]);
        let [x, y, w, h] = pixels_of([150, 130, 150, 100], 301);
        assert_eq!((x, y), (128, 128));
        assert_eq!((x + w) % GRAIN, 0);
        assert_eq!((301 - (y + h)) % GRAIN, 0);
        assert!(y + h >= 230);
    }

    #[test]
    fn a_part_of_a_large_viewport_stands_for_it() {
        let check = |(from, length): (f32, f32), origin: i32, pixels: i32| {
            let (start, part, scale, shift) = along((from, length), (origin, pixels), 1000);
            assert!(part <= 1000.0);
            for at in [-1.0, -0.3, 0.0, 0.8, 1.0] {
                let window = f64::from(from) + (at + 1.0) / 2.0 * f64::from(length);
                let clip = at * scale + shift;
                let there = f64::from(start) + (clip + 1.0) / 2.0 * f64::from(part);
                let error = window - f64::from(origin) - there;
                assert!(error.abs() < 1e-3, "{error}");
            }
            (start, part)
        };
        assert_eq!(check((0.0, 800.0), 200, 200), (-200.0, 800.0));
        assert_eq!(check((0.0, 4000.0), 0, 200), (0.0, 1000.0));
        assert_eq!(check((0.0, 1800.0), 800, 600), (-200.0, 1000.0));
        assert_eq!(check((0.0, 4000.0), 3800, 200), (-800.0, 1000.0));
        assert_eq!(check((-50.0, 1900.0), 900, 200), (-375.0, 950.0));
        // It is elsewhere.
        assert!(check((5000.0, 4000.0), 0, 200).0 >= 5000.0);
    }
}
