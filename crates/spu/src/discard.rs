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

/// Drops all commands that draw (`ops::draws`). Objects and state go on to the next stage, so that
/// answers stay right. Its methods are generated, and call those below for draws whose memory must
/// be checked.
pub struct Discard {
    pub(crate) next: Box<dyn Commands>,
}

impl Discard {
    pub fn new(next: Box<dyn Commands>) -> Discard {
        Discard { next }
    }
}

#[allow(clippy::too_many_arguments)]
impl Discard {
    pub(crate) fn check_mgn_run(
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

    pub(crate) fn check_mgn_draw_arrays(
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

    pub(crate) fn check_mgn_draw_elements(
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
}
