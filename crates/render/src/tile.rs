//! Walls: each renderer draws its tile of a surface that several have (sort-first).
//!
//! Every renderer has the whole surface, so that all coordinates are those of the window and a
//! pixel is the same on every renderer. Scissor boxes keep a renderer from drawing the pixels of
//! other tiles. That only saves work, because pixels outside of the tile are never read. So before
//! a command whose effect on the boxes would be hard to predict, the program's own boxes are
//! restored.

use crate::context::Context;
use crate::generated::driver::Gl;
use crate::offset::{pixels_of, Moved};
use crate::renderer::Renderer;
use mgn_wire::{gl::*, Fault, Reply, Slice};
use std::cell::Cell;
use std::rc::Rc;

/// A part of a surface: x, y, width and height, counted from the lower left corner.
pub(crate) type Rect = [i32; 4];

/// The rectangle that the driver's scissor boxes are cut to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cut {
    tile: Rect,
    /// Whether this is for a clear, which is only limited to the pixels that the buffers hold.
    clears: bool,
    /// The part of the window that the buffers hold, and the window's height, with offset tiling.
    offset: Option<(Rect, i32)>,
}

/// The program's scissor boxes, while the driver has other boxes.
#[derive(Debug)]
pub(crate) struct Kept {
    cut: Cut,
    boxes: Vec<Rect>,
    enabled: Vec<bool>,
    pub moved: Option<Moved>,
}

/// OpenGL 4.1 and OpenGL ES 3.2 have commands for indexed scissor boxes, with as many boxes as
/// viewports.
fn boxes_of(cx: &Context, gl: &Gl) -> usize {
    if !cx.has_viewports {
        return 1;
    }
    let mut count = 0;
    // SAFETY: one integer is written.
    unsafe { (gl.glGetIntegerv)(GL_MAX_VIEWPORTS, &mut count) };
    count.clamp(1, 64) as usize
}

impl Renderer {
    /// Makes this the renderer of one tile of a wall.
    pub fn be_tile(&mut self, tile: u32) {
        self.tile = Some(tile);
        self.speaks.set(tile == 0);
    }

    /// Whether this renderer answers the queries that all renderers of a wall would answer alike. A
    /// renderer that is alone does.
    pub fn speaks(&self) -> Rc<Cell<bool>> {
        self.speaks.clone()
    }

    pub(crate) fn handwritten_mgn_speaker(&mut self, tile: u32) -> Result<(), Fault> {
        self.beat();
        self.speaks.set(self.tile == Some(tile));
        Ok(())
    }

    /// The number of the tile; 0 for a renderer that is alone.
    pub(crate) fn tile_number(&self) -> i32 {
        self.tile.unwrap_or(0) as i32
    }

    pub(crate) fn handwritten_mgn_tiles(
        &mut self,
        surface: u32,
        tiles: Slice<'_, i32>,
    ) -> Result<(), Fault> {
        self.beat();
        let mine = self.tile_number() as usize;
        let tiles = tiles.to_vec();
        let tile = tiles.chunks_exact(4).nth(mine);
        let tile = tile.ok_or_else(|| Fault::refused("a wall has fewer tiles than renderers"))?;
        let tile: Option<Rect> = tile.try_into().ok();
        let surface = self.known_surface(surface)?;
        let all = {
            let mut surface = surface.borrow_mut();
            // Another program of the window has set the tiles before, and they must be the same.
            if self.is_shared() && !surface.tiles.is_empty() && surface.tiles != tiles {
                return Err(Fault::peers(
                    "its wall has different tiles from that of the other programs; all of them must name the same wall",
                ));
            }
            surface.tile = tile;
            surface.tiles = tiles;
            surface.all()
        };
        let Some(tile) = tile.filter(|_| self.is_offset) else {
            return Ok(());
        };
        self.restore_boxes();
        self.renew(&surface, pixels_of(common(tile, all), all[3]))?;
        self.bind()
    }

    pub(crate) fn handwritten_mgn_read_tiles(
        &mut self,
        format: u32,
        type_: u32,
        parts: Slice<'_, i32>,
        _pixels_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let parts = parts.to_vec();
        let tile = self.tile_number();
        let mine = parts.chunks_exact(5).filter(|part| part[0] == tile);
        self.read_parts(format, type_, mine, reply)
    }

    /// To be called before a command that draws: cuts the scissor boxes to the tile.
    #[inline]
    pub(crate) fn keep_to_tile(&mut self) {
        if self.tile.is_some() {
            self.cut_boxes(false);
            self.count_what_is_drawn();
        }
    }

    /// To be called before a command that clears.
    pub(crate) fn clear_in_tile(&mut self) {
        self.leave_tile();
        if self.is_offset {
            self.cut_boxes(true);
        }
    }

    /// To be called before lists are called, because lists may draw. If lists may set scissor
    /// boxes, the program's own boxes are restored first. To be called before primitives are begun,
    /// too: inside a primitive lists can be called, but boxes cannot be set, and the driver does
    /// not even say whether a primitive is open.
    pub(crate) fn keep_lists_to_tile(&mut self) {
        if self.is_offset {
            // Lists that set scissor boxes are executed command by command.
            self.keep_to_tile();
            self.offset_raster();
        } else if !self.names.shared.lists_scissor {
            self.keep_to_tile();
        } else if self.tile.is_some() {
            self.restore_boxes();
            self.count_what_is_drawn();
        }
    }

    /// To be called before a command that sets or reads scissor boxes: restores the program's boxes
    /// in the driver.
    #[inline]
    pub(crate) fn leave_tile(&mut self) {
        if self.tile.is_some() {
            let cx = self.cx.as_deref_mut();
            if let Some(compiling) = cx.and_then(|cx| cx.compiling.as_mut()) {
                compiling.scissors = true;
            }
            self.restore_boxes();
        }
    }

    /// The rectangle that boxes must be cut to now; none if they must not be cut.
    fn cut(&self, clears: bool) -> Option<Cut> {
        let cx = self.cx.as_deref()?;
        // While a list is compiled, its draws must not be cut, because the commands that set the
        // boxes would go into the list.
        let surface = cx.draw.as_ref()?.borrow();
        if cx.draw_framebuffer != 0
            || cx.compiling.is_some()
            || surface.wholes.contains(&self.seat)
            || !cx.renders
        {
            return None;
        }
        let held = (surface.pixels, surface.height as i32);
        Some(Cut {
            tile: surface.tile?,
            clears,
            offset: self.is_offset.then_some(held),
        })
    }

    #[cold]
    fn cut_boxes(&mut self, clears: bool) {
        let cut = self.cut(clears);
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        if cut == cx.boxes.as_ref().map(|kept| kept.cut) {
            return;
        }
        self.restore_boxes();
        let (Some(cut), Some(cx)) = (cut, self.cx.as_deref_mut()) else {
            return;
        };
        let gl = &self.gl;
        let count = boxes_of(cx, gl);
        let mut boxes: Vec<Rect> = vec![[0; 4]; count];
        let mut enabled = vec![false; count];
        // SAFETY: the context is current; each query writes four integers or none.
        unsafe {
            if count == 1 {
                (gl.glGetIntegerv)(GL_SCISSOR_BOX, boxes[0].as_mut_ptr());
                enabled[0] = (gl.glIsEnabled)(GL_SCISSOR_TEST) != 0;
            } else {
                for (n, (its, on)) in boxes.iter_mut().zip(&mut enabled).enumerate() {
                    (gl.glGetIntegeri_v)(GL_SCISSOR_BOX, n as u32, its.as_mut_ptr());
                    *on = (gl.glIsEnabledi)(GL_SCISSOR_TEST, n as u32) != 0;
                }
            }
        }
        let [left, low, ..] = cut.offset.map_or([0; 4], |(pixels, _)| pixels);
        let its = |(its, on): (&Rect, &bool)| {
            let [x, y, width, height] = match (cut.clears, *on) {
                (true, _) => *its,
                (_, true) => common(*its, cut.tile),
                _ => cut.tile,
            };
            [x.saturating_sub(left), y.saturating_sub(low), width, height]
        };
        let its: Vec<Rect> = boxes.iter().zip(&enabled).map(its).collect();
        set_boxes(gl, &its);
        if !cut.clears {
            // SAFETY: the context is current.
            unsafe { (gl.glEnable)(GL_SCISSOR_TEST) };
        }
        let offset = cut.offset.filter(|_| !cut.clears);
        let moved = offset.map(|(pixels, height)| self.offset(pixels, height, count));
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.boxes = Some(Kept {
                cut,
                boxes,
                enabled,
                moved,
            });
        }
    }

    /// Restores the program's scissor boxes in the driver, if it has others.
    #[cold]
    pub(crate) fn restore_boxes(&mut self) {
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        let Some(mut kept) = cx.boxes.take() else {
            return;
        };
        if let Some(moved) = kept.moved.take() {
            self.put_back(moved);
        }
        let gl = &self.gl;
        set_boxes(gl, &kept.boxes);
        // SAFETY: the context is current, and has as many boxes.
        unsafe {
            if kept.enabled.iter().all(|on| !on) {
                (gl.glDisable)(GL_SCISSOR_TEST);
            } else if kept.enabled.iter().any(|on| !on) {
                for (n, _) in kept.enabled.iter().enumerate().filter(|(_, on)| !**on) {
                    (gl.glDisablei)(GL_SCISSOR_TEST, n as u32);
                }
            }
        }
    }
}

fn set_boxes(gl: &Gl, boxes: &[Rect]) {
    // SAFETY: the context is current; the array holds four integers a box.
    unsafe {
        match boxes {
            [[x, y, width, height]] => (gl.glScissor)(*x, *y, *width, *height),
            boxes => (gl.glScissorArrayv)(0, boxes.len() as i32, boxes.as_ptr().cast()),
        }
    }
}

/// The intersection of two rectangles; zeros if there is none.
pub(crate) fn common(a: Rect, b: Rect) -> Rect {
    let along = |n: usize| {
        let start = a[n].max(b[n]);
        let end = i64::from(a[n]) + i64::from(a[n + 2]);
        let end = end.min(i64::from(b[n]) + i64::from(b[n + 2]));
        (start, (end - i64::from(start)).max(0) as i32)
    };
    let ((x, width), (y, height)) = (along(0), along(1));
    match width == 0 || height == 0 {
        true => [0; 4],
        false => [x, y, width, height],
    }
}

/// The parts of `a` that are not in `b`.
pub(crate) fn minus(a: Rect, b: Rect) -> Vec<Rect> {
    let [x, y, width, height] = a;
    let [left, low, w, h] = common(a, b);
    if w == 0 || h == 0 {
        return vec![a];
    }
    let (right, high) = (left + w, low + h);
    let parts = [
        [x, y, width, low - y],
        [x, high, width, y + height - high],
        [x, low, left - x, h],
        [right, low, x + width - right, h],
    ];
    let is_there = |part: &Rect| part[2] > 0 && part[3] > 0;
    parts.into_iter().filter(is_there).collect()
}

#[cfg(test)]
mod tests {
    use super::common;

    #[test]
    fn boxes_are_cut() {
        assert_eq!(common([0, 0, 10, 10], [5, 5, 10, 2]), [5, 5, 5, 2]);
        assert_eq!(common([-5, 0, i32::MAX, 3], [0, 1, 4, 4]), [0, 1, 4, 2]);
        assert_eq!(common([0, 0, 2, 2], [5, 0, 1, 1])[2], 0);
    }
}
