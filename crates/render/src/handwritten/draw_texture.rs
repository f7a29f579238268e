//! GL_OES_draw_texture: rectangles whose corners are window coordinates.
//!
//! No viewport and no matrix affects these corners, so with offset tiling the corners themselves
//! are moved. All commands are replaced by the one for floats, which defines the others, because a
//! moved corner may not fit into 16 bits.

use crate::renderer::Renderer;
use mgn_wire::{Fault, Slice};

/// The fixed-point representation of 1.
const ONE: f32 = 65536.0;

macro_rules! draws {
    ($($scalars:ident $array:ident $own:ident $type:ty, $one:expr;)*) => {
        impl Renderer {
            $(
                pub(crate) fn $scalars(
                    &mut self,
                    x: $type,
                    y: $type,
                    z: $type,
                    width: $type,
                    height: $type,
                ) -> Result<(), Fault> {
                    self.needs_context()?;
                    if self.is_offset {
                        let all = [x, y, z, width, height];
                        self.draw_texture_in_tile(all.map(|n| n as f32 / $one));
                    } else {
                        // SAFETY: the context is current.
                        unsafe { (self.gl.$own)(x, y, z, width, height) };
                    }
                    Ok(())
                }

                pub(crate) fn $array(&mut self, coords: Slice<'_, $type>) -> Result<(), Fault> {
                    // The driver would read five numbers, even if there are fewer.
                    match coords.to_vec()[..] {
                        [x, y, z, width, height] => self.$scalars(x, y, z, width, height),
                        _ => self.needs_context(),
                    }
                }
            )*
        }
    };
}

draws! {
    handwritten_gl_draw_texf_oes handwritten_gl_draw_texfv_oes glDrawTexfOES f32, 1.0;
    handwritten_gl_draw_texi_oes handwritten_gl_draw_texiv_oes glDrawTexiOES i32, 1.0;
    handwritten_gl_draw_texs_oes handwritten_gl_draw_texsv_oes glDrawTexsOES i16, 1.0;
    handwritten_gl_draw_texx_oes handwritten_gl_draw_texxv_oes glDrawTexxOES i32, ONE;
}

impl Renderer {
    fn draw_texture_in_tile(&mut self, [x, y, z, width, height]: [f32; 5]) {
        let (right, up) = self.where_drawn(0, 0);
        // SAFETY: the context is current.
        unsafe { (self.gl.glDrawTexfOES)(x + right as f32, y + up as f32, z, width, height) };
    }
}
