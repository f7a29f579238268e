//! Display lists, evaluators, pixel maps.

use crate::hand::elements::Elements;
use crate::hand::split_lists::{Compiling, Step};
use crate::renderer::{out, Renderer};
use mgn_wire::gl::{GL_COMPILE, GL_COMPILE_AND_EXECUTE, GL_LIST_MODE};
use mgn_wire::sizes::gets::pixel_map_counted_by;
use mgn_wire::sizes::image::{call_lists_bytes, map_components};
use mgn_wire::{Data, Fault, Plain, Reply, Slice};

/// The most display lists that one command may generate or delete: each takes memory and time in
/// the driver.
const MOST_LISTS: i32 = 1 << 20;
/// The longest pixel map of any driver.
const LONGEST_MAP: usize = 1 << 16;

impl Renderer {
    pub(crate) fn hand_gl_delete_lists(&mut self, list: u32, range: i32) -> Result<(), Fault> {
        self.needs_context()?;
        // The driver walks the whole range, however few lists there are; deleting in steps lets
        // others see that there is progress.
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

    pub(crate) fn hand_gl_new_list(&mut self, list: u32, mode: u32) -> Result<(), Fault> {
        self.needs_context()?;
        // With offsets it is called when it is complete.
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
        Ok(())
    }

    pub(crate) fn hand_gl_end_list(&mut self) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current.
        unsafe { (self.gl.glEndList)() };
        let cx = self.cx()?;
        cx.only_compiles = false;
        // What was executed while it was compiled may have begun a primitive.
        cx.may_be_inside = true;
        let called = cx.called_when_ended.take();
        if let Some(compiling) = cx.compiling.take() {
            self.list_ended(compiling);
        }
        match called {
            Some(list) => self.hand_gl_call_list(list),
            None => Ok(()),
        }
    }

    pub(crate) fn hand_gl_call_list(&mut self, list: u32) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_too_deep() {
            return Ok(());
        }
        self.keep_lists_to_tile();
        self.call(Step::Call(list))?;
        self.lists_called()
    }

    /// Lists may have changed what is drawn to and read, and may have begun a primitive.
    fn lists_called(&mut self) -> Result<(), Fault> {
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.may_be_inside = true;
            // Nobody has looked at the arrays before a primitive that a list begins.
            cx.elements = Elements::default();
        }
        if self.names.shared.lists_switch_buffers && self.has_no_primitive() {
            self.draw_buffers_restored()?;
        }
        Ok(())
    }

    pub(crate) fn hand_gl_call_lists(
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
            // SAFETY: the array holds `n` names; the driver refuses types without a size.
            unsafe { (self.gl.glCallLists)(n, type_, lists.as_ptr().cast()) };
        }
        self.lists_called()
    }

    /// Calls lists, or has the list that is being compiled call them.
    fn call(&mut self, step: Step) -> Result<(), Fault> {
        match step {
            // The driver calls a list that it has whole, or compiles the call of it.
            Step::Call(list) if !self.has_split_lists() => {
                // SAFETY: the context is current.
                unsafe { (self.gl.glCallList)(list) };
                Ok(())
            }
            step if self.compiles() => self.split(step),
            step => self.take(&step),
        }
    }

    /// The length of a pixel map's values, checked, and prepared for the driver.
    fn pixel_map<T: Plain>(&mut self, size: i32, values: Data<'_>) -> Result<*const T, Fault> {
        self.needs_context()?;
        let bytes = usize::try_from(size)
            .unwrap_or(0)
            .saturating_mul(size_of::<T>());
        Ok(self.image(values, Some(bytes))?.cast())
    }

    pub(crate) fn hand_gl_pixel_mapfv(
        &mut self,
        map: u32,
        size: i32,
        values: Data<'_>,
    ) -> Result<(), Fault> {
        let values = self.pixel_map(size, values)?;
        // SAFETY: `values` is an offset into the bound buffer, or holds `size` values, or there are
        // none.
        unsafe { (self.gl.glPixelMapfv)(map, size, values) };
        Ok(())
    }

    pub(crate) fn hand_gl_pixel_mapuiv(
        &mut self,
        map: u32,
        size: i32,
        values: Data<'_>,
    ) -> Result<(), Fault> {
        let values = self.pixel_map(size, values)?;
        // SAFETY: as for floats.
        unsafe { (self.gl.glPixelMapuiv)(map, size, values) };
        Ok(())
    }

    pub(crate) fn hand_gl_pixel_mapusv(
        &mut self,
        map: u32,
        size: i32,
        values: Data<'_>,
    ) -> Result<(), Fault> {
        let values = self.pixel_map(size, values)?;
        // SAFETY: as for floats.
        unsafe { (self.gl.glPixelMapusv)(map, size, values) };
        Ok(())
    }

    pub(crate) fn hand_gl_get_pixel_mapfv(
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

    pub(crate) fn hand_gl_get_pixel_mapuiv(
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

    pub(crate) fn hand_gl_get_pixel_mapusv(
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

    /// How many values a pixel map has; 0 if there is none of that name.
    fn pixel_map_size(&self, map: u32) -> u32 {
        pixel_map_counted_by(map).map_or(0, |pname| self.driver_integer(pname).max(0) as u32)
    }
}

/// Fails if the control points are fewer than the driver reads: it reads up to the last component
/// of the last point.
fn points<T: Plain>(target: u32, u: (i32, i32), v: (i32, i32), points: &[T]) -> Result<(), Fault> {
    // The driver refuses what is no evaluator, orders below 1 and strides below the number of
    // components.
    let Some(components) = map_components(target) else {
        return Ok(());
    };
    let reaches = |(stride, order): (i32, i32)| {
        i64::from(order.max(1) - 1).saturating_mul(i64::from(stride.max(0)))
    };
    let end = reaches(u)
        .saturating_add(reaches(v))
        .saturating_add(components as i64);
    if end > points.len() as i64 && u.1 >= 1 && v.1 >= 1 {
        return Err(Fault::ShortArray);
    }
    Ok(())
}

macro_rules! evaluators {
    ($($ty:ty: $one:ident = $gl1:ident, $two:ident = $gl2:ident;)*) => {
        impl Renderer {
            $(pub(crate) fn $one(&mut self, target: u32, u1: $ty, u2: $ty, stride: i32, order: i32, values: Slice<'_, $ty>) -> Result<(), Fault> {
                self.needs_context()?;
                let values = values.to_vec();
                points(target, (stride, order), (0, 1), &values)?;
                // SAFETY: all control points are there.
                unsafe { (self.gl.$gl1)(target, u1, u2, stride, order, values.as_ptr()) };
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
                points(target, (ustride, uorder), (vstride, vorder), &values)?;
                // SAFETY: all control points are there.
                unsafe { (self.gl.$gl2)(target, u1, u2, ustride, uorder, v1, v2, vstride, vorder, values.as_ptr()) };
                Ok(())
            })*
        }
    };
}

evaluators! {
    f32: hand_gl_map1f = glMap1f, hand_gl_map2f = glMap2f;
    f64: hand_gl_map1d = glMap1d, hand_gl_map2d = glMap2d;
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wire::gl::*;

    #[test]
    fn control_points_are_counted() {
        let values = [0.0f32; 12];
        assert!(points(GL_MAP1_VERTEX_3, (3, 4), (0, 1), &values).is_ok());
        assert!(points(GL_MAP1_VERTEX_3, (3, 5), (0, 1), &values).is_err());
        assert!(points(GL_MAP2_VERTEX_3, (6, 2), (3, 2), &values).is_ok());
        assert!(points(GL_MAP2_VERTEX_3, (7, 2), (3, 2), &values).is_err());
        assert!(points(
            GL_MAP2_VERTEX_3,
            (i32::MAX, i32::MAX),
            (i32::MAX, i32::MAX),
            &values
        )
        .is_err());
        assert!(points(GL_TEXTURE_2D, (i32::MAX, i32::MAX), (0, 1), &values).is_ok());
    }
}
