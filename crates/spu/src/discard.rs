//! `discard`: everything is received and checked, but nothing is drawn.

use crate::chain::{Does, Spu};
use mgn_wire::draws::{self, Extent, Run};
use mgn_wire::{Commands, Data, Fault, Slice};

pub const SPU: Spu = Spu {
    name: "discard",
    about: "everything is received and checked, but nothing is drawn",
    does: Does::Change,
    parameters: &[],
    build: |_, _, next| Ok(Box::new(Discard::new(next))),
};

/// Drops drawing, clears and pixel copies between framebuffers. Objects and state go on to the next stage, so that answers stay right.
pub struct Discard {
    next: Box<dyn Commands>,
}

impl Discard {
    pub fn new(next: Box<dyn Commands>) -> Discard {
        Discard { next }
    }
}

/// Methods that do nothing.
macro_rules! drop {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $name(&mut self, $($argument: $type),*) -> Result<(), Fault> {
            let _ = ($($argument,)*);
            Ok(())
        })*
    };
}

#[allow(clippy::too_many_arguments)]
impl Commands for Discard {
    fn next(&mut self) -> &mut dyn Commands {
        &mut *self.next
    }

    fn mgn_run(
        &mut self,
        mode: u32,
        flags: u32,
        layout: Slice<'_, u8>,
        vertices: Data<'_>,
        indices: Slice<'_, u16>,
        tiles: Slice<'_, u32>,
    ) -> Result<(), Fault> {
        let run = Run::parse(mode, flags, layout, vertices, indices, tiles)?;
        if run.open {
            // The commands that follow belong to this primitive, so the renderer has to begin it.
            return self
                .next
                .mgn_run(mode, flags, layout, vertices, indices, tiles);
        }
        Ok(())
    }

    fn mgn_draw_arrays(
        &mut self,
        _mode: u32,
        first: i32,
        count: i32,
        instances: i32,
        base_instance: u32,
        arrays: Slice<'_, u32>,
        vertices: Data<'_>,
    ) -> Result<(), Fault> {
        let last = i64::from(first) + i64::from(count) - 1;
        let elements = (count > 0 && first >= 0).then_some((first as u32, last as u32));
        let extent = Extent {
            elements,
            instances: instances.max(0) as u32,
            base_instance,
        };
        draws::arrays(arrays, vertices, extent).map(|_| ())
    }

    fn mgn_draw_elements(
        &mut self,
        _mode: u32,
        count: i32,
        _type: u32,
        min: u32,
        max: u32,
        instances: i32,
        _base_vertex: i32,
        base_instance: u32,
        arrays: Slice<'_, u32>,
        _indices: Data<'_>,
        vertices: Data<'_>,
    ) -> Result<(), Fault> {
        let elements = (count > 0).then_some((min, max));
        let extent = Extent {
            elements,
            instances: instances.max(0) as u32,
            base_instance,
        };
        draws::arrays(arrays, vertices, extent).map(|_| ())
    }

    fn mgn_swap_buffers(&mut self, surface: u32, frame: u32, _want: u32) -> Result<(), Fault> {
        self.next.mgn_swap_buffers(surface, frame, 0)
    }

    fn mgn_present_front(&mut self, surface: u32, frame: u32, _want: u32) -> Result<(), Fault> {
        self.next.mgn_present_front(surface, frame, 0)
    }

    drop! {
        gl_clear(mask: u32);
        gl_clear_bufferfi(buffer: u32, drawbuffer: i32, depth: f32, stencil: i32);
        gl_clear_bufferfv(buffer: u32, drawbuffer: i32, value: Slice<'_, f32>);
        gl_clear_bufferiv(buffer: u32, drawbuffer: i32, value: Slice<'_, i32>);
        gl_clear_bufferuiv(buffer: u32, drawbuffer: i32, value: Slice<'_, u32>);
        gl_accum(op: u32, value: f32);
        gl_bitmap(width: i32, height: i32, xorig: f32, yorig: f32, xmove: f32, ymove: f32, bitmap: Data<'_>);
        gl_draw_pixels(width: i32, height: i32, format: u32, type_: u32, pixels: Data<'_>);
        gl_copy_pixels(x: i32, y: i32, width: i32, height: i32, type_: u32);
        gl_draw_arrays(mode: u32, first: i32, count: i32);
        gl_draw_arrays_indirect(mode: u32, indirect: u64);
        gl_draw_arrays_instanced(mode: u32, first: i32, count: i32, instancecount: i32);
        gl_draw_arrays_instanced_base_instance(mode: u32, first: i32, count: i32, instancecount: i32, baseinstance: u32);
        gl_draw_elements(mode: u32, count: i32, type_: u32, indices: u64);
        gl_draw_elements_base_vertex(mode: u32, count: i32, type_: u32, indices: u64, basevertex: i32);
        gl_draw_elements_indirect(mode: u32, type_: u32, indirect: u64);
        gl_draw_elements_instanced(mode: u32, count: i32, type_: u32, indices: u64, instancecount: i32);
        gl_draw_elements_instanced_base_instance(mode: u32, count: i32, type_: u32, indices: u64, instancecount: i32, baseinstance: u32);
        gl_draw_elements_instanced_base_vertex(mode: u32, count: i32, type_: u32, indices: u64, instancecount: i32, basevertex: i32);
        gl_draw_elements_instanced_base_vertex_base_instance(
            mode: u32, count: i32, type_: u32, indices: u64, instancecount: i32, basevertex: i32, baseinstance: u32);
        gl_draw_range_elements(mode: u32, start: u32, end: u32, count: i32, type_: u32, indices: u64);
        gl_draw_range_elements_base_vertex(mode: u32, start: u32, end: u32, count: i32, type_: u32, indices: u64, basevertex: i32);
        gl_draw_transform_feedback(mode: u32, id: u32);
        gl_draw_transform_feedback_instanced(mode: u32, id: u32, instancecount: i32);
        gl_draw_transform_feedback_stream(mode: u32, id: u32, stream: u32);
        gl_draw_transform_feedback_stream_instanced(mode: u32, id: u32, stream: u32, instancecount: i32);
        gl_multi_draw_arrays(mode: u32, first: Slice<'_, i32>, count: Slice<'_, i32>);
        gl_multi_draw_arrays_indirect(mode: u32, indirect: u64, drawcount: i32, stride: i32);
        gl_multi_draw_elements(mode: u32, count: Slice<'_, i32>, type_: u32, offsets: Slice<'_, u64>);
        gl_multi_draw_elements_base_vertex(mode: u32, count: Slice<'_, i32>, type_: u32, offsets: Slice<'_, u64>, base: Slice<'_, i32>);
        gl_multi_draw_elements_indirect(mode: u32, type_: u32, indirect: u64, drawcount: i32, stride: i32);
        gl_dispatch_compute(num_groups_x: u32, num_groups_y: u32, num_groups_z: u32);
        gl_dispatch_compute_indirect(indirect: i64);
        gl_call_list(list: u32);
        gl_call_lists(n: i32, type_: u32, lists: Slice<'_, u8>);
        gl_eval_mesh1(mode: u32, i1: i32, i2: i32);
        gl_eval_mesh2(mode: u32, i1: i32, i2: i32, j1: i32, j2: i32);
        gl_rectd(x1: f64, y1: f64, x2: f64, y2: f64);
        gl_rectf(x1: f32, y1: f32, x2: f32, y2: f32);
        gl_recti(x1: i32, y1: i32, x2: i32, y2: i32);
        gl_rects(x1: i16, y1: i16, x2: i16, y2: i16);
    }
}
