//! `tilesort`: finds the tiles of a wall that each part of a run touches, so that a renderer need
//! not draw what lies outside of its tile.
//!
//! The place of vertices is known as long as the fixed function transforms them. In all other
//! cases, and for surfaces that are drawn whole, every renderer draws the run.

use crate::context::Context;
use crate::immediate::sort::{drawn, Key};
use crate::link::session::Session;
use crate::shadow::objects::counts::Need;
use mgn_wall::{Area, Sorter};
use mgn_wire::draws::{attr, run_overlap};
use mgn_wire::gl::*;
use std::sync::Arc;

impl Context {
    /// Whether any draw can be sorted now.
    #[inline]
    pub fn may_sort(&self) -> bool {
        self.session.is_some_and(Session::sorts)
    }

    /// Prepares for sorting the open run, drawn with `mode`. False if every renderer has to draw
    /// it.
    #[inline]
    pub(super) fn prepare_sort(&mut self, mode: u32) -> bool {
        let layout = &self.gl.immediate.layout;
        let places = layout.position() < 4 && layout.components[usize::from(attr::GENERIC)] == 0;
        places && self.may_sort() && self.sorter(mode).is_some()
    }

    /// The sorter for vertices that the fixed function transforms and draws with `mode`; none if
    /// every renderer must draw them.
    pub fn sorter(&mut self, mode: u32) -> Option<&Sorter> {
        // A fragment program does not place vertices, but a draw fails if the enabled one is
        // missing.
        let places = self.gl.objects.draws_without_programs()
            && [GL_VERTEX_PROGRAM_ARB, GL_FRAGMENT_PROGRAM_ARB]
                .iter()
                .all(|cap| self.gl.state.is_enabled(*cap) == Some(false));
        if !places {
            return None;
        }
        let (viewport, areas, height) = self.in_tiles()?;
        let margin = self.margin(mode)?;
        let key = Key {
            transform: self.gl.state.transform_changes(),
            viewport,
            margin,
            areas,
            height,
        };
        let sort = &mut self.gl.immediate.sort;
        if sort.sorter.as_ref().is_none_or(|(known, _)| *known != key) {
            let transform = self.gl.state.transform()?;
            let tiles = drawn(&key.areas, key.height);
            let sorter = Sorter::new(&transform, viewport, &tiles, margin);
            sort.sorter = Some((key, sorter));
        }
        sort.sorter.as_ref().map(|(_, sorter)| sorter)
    }

    /// The viewport, the areas of the tiles and the height of the draw surface; none if it is not
    /// drawn in tiles.
    pub fn in_tiles(&self) -> Option<([f32; 4], Arc<[Area]>, u32)> {
        let surface = self.draw.as_ref().filter(|surface| !surface.is_whole())?;
        let draws = self.gl.state.draws_to_default()
            && !self.gl.render_modes.tells()
            && !self.gl.lists.is_open()
            && !self.gl.objects.counts.need(Need::Everything);
        let origin = self.gl.state.get(GL_CLIP_ORIGIN).values()?;
        if !draws || origin.int64(0) != i64::from(GL_LOWER_LEFT) {
            return None;
        }
        Some((
            self.gl.state.viewport()?,
            surface.areas()?,
            surface.size().1,
        ))
    }

    /// How many pixels a primitive may extend beyond its vertices; none if that is unknown.
    fn margin(&self, mode: u32) -> Option<f32> {
        let number = |pname| {
            let values = self.gl.state.get(pname).values()?;
            Some(values.float(0))
        };
        let outlined = mode > GL_LINE_STRIP && self.outlined();
        let mut width: f32 = 0.;
        // Stages on the way to the renderer may make it draw polygons as lines.
        if mode != GL_POINTS {
            width = number(GL_LINE_WIDTH)?;
        }
        if outlined || mode == GL_POINTS {
            let attenuation = self.gl.state.get(GL_POINT_DISTANCE_ATTENUATION).values()?;
            if (
                attenuation.float(0),
                attenuation.float(1),
                attenuation.float(2),
            ) != (1., 0., 0.)
            {
                return None;
            }
            width = width.max(number(GL_POINT_SIZE)?);
            width = width.max(number(GL_POINT_SIZE_MIN)?);
        }
        // Two more pixels for rounding errors.
        Some(width / 2. + 2.)
    }

    /// How many vertices the blocks of a run share if the primitive may be split into blocks; none
    /// if a split would be visible.
    pub fn sort_overlap(&self, mode: u32) -> Option<usize> {
        let overlap = run_overlap(mode)?;
        let shows = mode == GL_LINE_STRIP && self.stippled();
        (!shows && self.draws_with_depth()).then_some(overlap)
    }
}
