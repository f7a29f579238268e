//! Display lists, evaluators, pixel maps.

use crate::handwritten::elements::Elements;
use crate::handwritten::listed_images::Image;
use crate::handwritten::split_lists::{Compiling, Step};
use crate::renderer::{out, Renderer};
use mgn_wire::gl::{GL_COMPILE, GL_COMPILE_AND_EXECUTE, GL_LIST_MODE, GL_MAX_PIXEL_MAP_TABLE};
use mgn_wire::sizes::gets::pixel_map_counted_by;
use mgn_wire::sizes::image::{call_lists_bytes, map_components};
use mgn_wire::{Data, Fault, Plain, Reply, Slice};

/// The most display lists that one command may generate or delete, because each takes memory and
/// time in the driver.
const MOST_LISTS: i32 = 1 << 20;
/// More than the highest order of any driver's evaluators.
const MOST_ORDER: i32 = 64;
/// The longest pixel map of any driver.
const LONGEST_MAP: usize = 1 << 16;

impl Renderer {
    pub(crate) fn handwritten_gl_delete_lists(
        &mut self,
        list: u32,
        range: i32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        // The driver walks the whole range, even if it contains few lists. Deleting in steps shows
        // others that there is progress.
        let mut left = range;
        let mut first = list;
        while left > MOST_LISTS {
            // SAFETY: the context is current.
            unsafe { (self.gl.glDeleteLists)(first, MOST_LISTS) };
            first = first.wrapping_add(MOST_LISTS as u32);
            left -= MOST_LISTS;
            self.beat();
        }
        // SAFETY: the context is current.
        unsafe { (self.gl.glDeleteLists)(first, left) };
        if range > 0 {
            let deleted = |name: u32| name.wrapping_sub(list) < range as u32;
            self.forget_parts(deleted);
            self.names.shared.lists.retain(|name, _| !deleted(*name));
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_new_list(&mut self, list: u32, mode: u32) -> Result<(), Fault> {
        self.needs_context()?;
        // With offset tiling, the list is only compiled now, and called when it is complete.
        let executes = mode == GL_COMPILE_AND_EXECUTE && self.is_offset;
        let mode = match executes {
            true => GL_COMPILE,
            false => mode,
        };
        if mode == GL_COMPILE_AND_EXECUTE {
            self.count_list();
        }
        // SAFETY: the context is current.
        unsafe { (self.gl.glNewList)(list, mode) };
        let mode = self.driver_integer(GL_LIST_MODE) as u32;
        let cx = self.cx()?;
        cx.only_compiles = mode == GL_COMPILE;
        if mode != 0 && cx.compiling.is_none() {
            cx.compiling = Some(Compiling::new(list, mode));
            cx.called_when_ended = executes.then_some(list);
        }
        self.note_compiling();
        Ok(())
    }

    pub(crate) fn handwritten_gl_end_list(&mut self) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current.
        unsafe { (self.gl.glEndList)() };
        // Commands that were executed while the list was compiled may have begun a primitive.
        self.may_have_begun();
        let cx = self.cx()?;
        cx.only_compiles = false;
        let called = cx.called_when_ended.take();
        if let Some(compiling) = cx.compiling.take() {
            self.list_ended(compiling);
        }
        self.note_compiling();
        // A surface may have become current meanwhile.
        self.bind()?;
        match called {
            Some(list) => self.handwritten_gl_call_list(list),
            None => Ok(()),
        }
    }

    /// Completes the current context's list, if it compiles one, so that no other context becomes
    /// current inside it.
    pub(crate) fn close_list(&mut self) {
        let compiling = self.cx.as_ref().filter(|cx| cx.compiling.is_some());
        let Some(id) = compiling.map(|cx| cx.id) else {
            return;
        };
        // Another renderer may have left no context current.
        let is_current = self.enter(id).is_ok();
        let cx = self.cx.as_deref_mut();
        if is_current && cx.is_some_and(|cx| cx.compiling.take().is_some()) {
            // SAFETY: the context is current. If no primitive is open, glEnd is an error in the
            // list.
            unsafe {
                (self.gl.glEnd)();
                (self.gl.glEndList)();
            }
        }
    }

    pub(crate) fn handwritten_gl_call_list(&mut self, list: u32) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_too_deep() {
            return Ok(());
        }
        self.keep_lists_to_tile();
        self.call(Step::Call(list))?;
        self.lists_called()
    }

    /// To be called after commands of a list, which may have begun a primitive. The arrays were not
    /// checked before this primitive, so glArrayElement must not read any element in it.
    fn may_have_begun(&mut self) {
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.may_be_inside = true;
            cx.elements = Elements::default();
        }
    }

    /// To be called after lists, which may have changed the draw and read buffers, and may have
    /// begun a primitive.
    fn lists_called(&mut self) -> Result<(), Fault> {
        self.may_have_begun();
        let divide = self.names.shared.lists_divide;
        if let Some(cx) = self.cx.as_deref_mut().filter(|_| divide) {
            cx.vertex_arrays.buffers_changed();
        }
        if self.names.shared.lists_switch_buffers && self.has_no_primitive() {
            self.draw_buffers_restored()?;
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_call_lists(
        &mut self,
        n: i32,
        type_: u32,
        lists: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_too_deep() {
            return Ok(());
        }
        self.keep_lists_to_tile();
        let lists = lists.to_vec();
        if call_lists_bytes(n, type_).is_some_and(|bytes| bytes > lists.len()) {
            return Err(Fault::ShortArray);
        }
        if self.has_split_lists() && n > 0 && call_lists_bytes(n, type_).is_some() {
            self.call(Step::Calls(type_, lists))?;
        } else {
            self.unpack_lists()?;
            // SAFETY: the array holds `n` names; the driver refuses types without a size.
            unsafe { (self.gl.glCallLists)(n, type_, lists.as_ptr().cast()) };
        }
        self.lists_called()
    }

    /// Calls lists, or has the list that is being compiled call them.
    fn call(&mut self, step: Step) -> Result<(), Fault> {
        match step {
            // The driver has the whole list. It calls it, or compiles the call.
            Step::Call(list) if !self.has_split_lists() => {
                self.unpack_lists()?;
                // SAFETY: the context is current.
                unsafe { (self.gl.glCallList)(list) };
                Ok(())
            }
            step if self.compiles() => self.split(step),
            step => self.take(&step),
        }
    }

    /// The values of a pixel map for the driver; none if nothing remains to be done.
    fn pixel_map<T: Plain>(
        &mut self,
        map: u32,
        size: i32,
        values: Data<'_>,
    ) -> Result<Option<Image>, Fault> {
        self.needs_context()?;
        let is_table =
            |r: &Renderer| (1..=r.driver_integer(GL_MAX_PIXEL_MAP_TABLE)).contains(&size);
        if self.compiles() && !is_table(self) {
            // Mesa's lists copy any number of values to a table of GL_MAX_PIXEL_MAP_TABLE values.
            // An empty map raises the same error when the list is called.
            // SAFETY: no value is read.
            unsafe { (self.gl.glPixelMapfv)(map, 0, [0.0].as_ptr()) };
            return Ok(None);
        }
        let bytes = usize::try_from(size)
            .unwrap_or(0)
            .saturating_mul(size_of::<T>());
        let values = self.listed_image(values, bytes)?;
        // Mesa's lists read from a null pointer, too.
        let is_missing = |values: &Image| self.compiles() && values.cast::<T>().is_null();
        Ok(values.filter(|values| !is_missing(values)))
    }

    pub(crate) fn handwritten_gl_pixel_mapfv(
        &mut self,
        map: u32,
        size: i32,
        values: Data<'_>,
    ) -> Result<(), Fault> {
        if let Some(values) = self.pixel_map::<f32>(map, size, values)? {
            // SAFETY: `values` holds `size` values; or no list is compiled, and it is an offset
            // into the bound buffer, or there are no values.
            unsafe { (self.gl.glPixelMapfv)(map, size, values.cast()) };
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_pixel_mapuiv(
        &mut self,
        map: u32,
        size: i32,
        values: Data<'_>,
    ) -> Result<(), Fault> {
        if let Some(values) = self.pixel_map::<u32>(map, size, values)? {
            // SAFETY: as for floats.
            unsafe { (self.gl.glPixelMapuiv)(map, size, values.cast()) };
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_pixel_mapusv(
        &mut self,
        map: u32,
        size: i32,
        values: Data<'_>,
    ) -> Result<(), Fault> {
        if let Some(values) = self.pixel_map::<u16>(map, size, values)? {
            // SAFETY: as for floats.
            unsafe { (self.gl.glPixelMapusv)(map, size, values.cast()) };
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_pixel_mapfv(
        &mut self,
        map: u32,
        values_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        self.pack(true)?;
        let mut values = out::<f32>(values_count, LONGEST_MAP)?;
        // SAFETY: there is room for the longest map.
        unsafe { (self.gl.glGetPixelMapfv)(map, values.as_mut_ptr()) };
        reply.array(&values, values_count.min(self.pixel_map_size(map)));
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_pixel_mapuiv(
        &mut self,
        map: u32,
        values_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        self.pack(true)?;
        let mut values = out::<u32>(values_count, LONGEST_MAP)?;
        // SAFETY: there is room for the longest map.
        unsafe { (self.gl.glGetPixelMapuiv)(map, values.as_mut_ptr()) };
        reply.array(&values, values_count.min(self.pixel_map_size(map)));
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_pixel_mapusv(
        &mut self,
        map: u32,
        values_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        self.pack(true)?;
        let mut values = out::<u16>(values_count, LONGEST_MAP)?;
        // SAFETY: there is room for the longest map.
        unsafe { (self.gl.glGetPixelMapusv)(map, values.as_mut_ptr()) };
        reply.array(&values, values_count.min(self.pixel_map_size(map)));
        Ok(())
    }

    /// How many values a pixel map has; 0 if there is no such map.
    fn pixel_map_size(&self, map: u32) -> u32 {
        pixel_map_counted_by(map).map_or(0, |pname| self.driver_integer(pname).max(0) as u32)
    }
}

/// Whether the driver may get control points with the stride and the order of each direction. With
/// a negative stride or an order out of range, the driver's lists read and write outside of their
/// memory. Fails if there are fewer points than the driver reads, up to the last component of the
/// last point.
fn are_points<T: Plain>(
    target: u32,
    u: (i32, i32),
    v: (i32, i32),
    points: &[T],
) -> Result<bool, Fault> {
    // For other targets, the driver raises an error and reads nothing.
    let Some(components) = map_components(target) else {
        return Ok(true);
    };
    let reaches = |(stride, order): (i32, i32)| {
        let order = (1..=MOST_ORDER).contains(&order).then_some(order)?;
        Some(usize::try_from(stride).ok()? * (order as usize - 1))
    };
    let (Some(u), Some(v)) = (reaches(u), reaches(v)) else {
        return Ok(false);
    };
    match u + v + components > points.len() {
        true => Err(Fault::ShortArray),
        false => Ok(true),
    }
}

macro_rules! evaluators {
    ($($ty:ty: $one:ident = $gl1:ident, $two:ident = $gl2:ident;)*) => {
        impl Renderer {
            $(pub(crate) fn $one(&mut self, target: u32, u1: $ty, u2: $ty, stride: i32, order: i32, values: Slice<'_, $ty>) -> Result<(), Fault> {
                self.needs_context()?;
                let values = values.to_vec();
                let (order, values) = match are_points(target, (stride, order), (0, 1), &values)? {
                    true => (order, values.as_ptr()),
                    false => (0, std::ptr::null()),
                };
                // SAFETY: all control points are there. None are read if the order is 0, and the
                // driver refuses it.
                unsafe { (self.gl.$gl1)(target, u1, u2, stride, order, values) };
                Ok(())
            }

            #[allow(clippy::too_many_arguments)]
            pub(crate) fn $two(
                &mut self,
                target: u32,
                u1: $ty,
                u2: $ty,
                ustride: i32,
                uorder: i32,
                v1: $ty,
                v2: $ty,
                vstride: i32,
                vorder: i32,
                values: Slice<'_, $ty>,
            ) -> Result<(), Fault> {
                self.needs_context()?;
                let values = values.to_vec();
                let are_points = are_points(target, (ustride, uorder), (vstride, vorder), &values)?;
                let (uorder, vorder, values) = match are_points {
                    true => (uorder, vorder, values.as_ptr()),
                    false => (0, 0, std::ptr::null()),
                };
                // SAFETY: as above.
                unsafe { (self.gl.$gl2)(target, u1, u2, ustride, uorder, v1, v2, vstride, vorder, values) };
                Ok(())
            })*
        }
    };
}

evaluators! {
    f32: handwritten_gl_map1f = glMap1f, handwritten_gl_map2f = glMap2f;
    f64: handwritten_gl_map1d = glMap1d, handwritten_gl_map2d = glMap2d;
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wire::gl::*;

    #[test]
    fn control_points_are_counted() {
        let are_points = |target, u, v| are_points(target, u, v, &[0.0f32; 12]).ok();
        let [line, patch] = [GL_MAP1_VERTEX_3, GL_MAP2_VERTEX_3];
        assert_eq!(are_points(line, (3, 4), (0, 1)), Some(true));
        assert_eq!(are_points(line, (3, 5), (0, 1)), None);
        assert_eq!(are_points(patch, (6, 2), (3, 2)), Some(true));
        assert_eq!(are_points(patch, (7, 2), (3, 2)), None);
        assert_eq!(are_points(patch, (i32::MAX, 64), (i32::MAX, 64)), None);
        for (u, v) in [((-1, 2), (3, 2)), ((3, 0), (3, 2)), ((0, 1), (0, 65))] {
            assert_eq!(are_points(patch, u, v), Some(false));
        }
        let of_any = are_points(GL_TEXTURE_2D, (i32::MAX, i32::MAX), (0, 1));
        assert_eq!(of_any, Some(true));
    }
}
