//! `glEnable` and its relatives.

use mgn_wire::gl::*;

use crate::index::ValueLocation;
use crate::limits::Api;
use crate::slots::{at, is_unknown, Row, TABLE};
use crate::units;
use crate::{GlError, State};

/// Booleans of the table that are states of their own, not capabilities.
const NO_CAPABILITIES: &[u32] = &[
    GL_MAP_COLOR,
    GL_MAP_STENCIL,
    GL_LIGHT_MODEL_LOCAL_VIEWER,
    GL_LIGHT_MODEL_TWO_SIDE,
    GL_DEPTH_WRITEMASK,
    GL_COLOR_WRITEMASK,
    GL_UNPACK_SWAP_BYTES,
    GL_UNPACK_LSB_FIRST,
    GL_PACK_SWAP_BYTES,
    GL_PACK_LSB_FIRST,
    GL_PACK_INVERT_MESA,
    GL_PACK_REVERSE_ROW_ORDER_ANGLE,
    // Another name of GL_PRIMITIVE_RESTART for gets, and a client state.
    GL_PRIMITIVE_RESTART_NV,
];

/// Capabilities that gets know in ES 1 and `glEnable` does not.
const NOT_IN_ES1: &[u32] = &[GL_SAMPLE_SHADING, GL_SAMPLE_COVERAGE_INVERT];

/// The same, in later ES.
const NOT_IN_ES: &[u32] = &[GL_SAMPLE_COVERAGE_INVERT];

/// Capabilities, by the first of consecutive names, that gets of drivers know in a core profile
/// and `glEnable` does not.
const NOT_IN_CORE: &[u32] = &[
    GL_POINT_SMOOTH,
    GL_POINT_SPRITE,
    GL_LINE_STIPPLE,
    GL_POLYGON_STIPPLE,
    GL_LIGHTING,
    GL_COLOR_MATERIAL,
    GL_LIGHT0,
    GL_FOG,
    GL_COLOR_SUM,
    GL_STENCIL_TEST_TWO_SIDE_EXT,
    GL_NORMALIZE,
    GL_RESCALE_NORMAL,
    GL_RASTER_POSITION_UNCLIPPED_IBM,
    GL_ALPHA_TEST,
    GL_INDEX_LOGIC_OP,
    GL_AUTO_NORMAL,
    GL_MAP1_COLOR_4,
    GL_MAP2_COLOR_4,
    GL_VERTEX_PROGRAM_TWO_SIDE,
    GL_VERTEX_PROGRAM_ARB,
    GL_FRAGMENT_PROGRAM_ARB,
];

/// The kinds of capabilities, for `glEnable`.
#[derive(Clone, Copy)]
enum Capability {
    /// Values at a place, all of which follow.
    Fixed {
        at: usize,
        elements: usize,
        indexed: bool,
    },
    /// A value of the active texture unit.
    Unit(usize),
}

impl State {
    pub fn gl_enable(&mut self, cap: u32) -> Result<(), GlError> {
        listed!(self, gl_enable(cap));
        self.set_capability(cap, true)
    }

    pub fn gl_disable(&mut self, cap: u32) -> Result<(), GlError> {
        listed!(self, gl_disable(cap));
        self.set_capability(cap, false)
    }

    pub fn gl_enablei(&mut self, cap: u32, index: u32) -> Result<(), GlError> {
        listed!(self, gl_enablei(cap, index));
        needs!(self, GL_MAX_DRAW_BUFFERS);
        self.set_indexed_capability(cap, index, true)
    }

    pub fn gl_disablei(&mut self, cap: u32, index: u32) -> Result<(), GlError> {
        listed!(self, gl_disablei(cap, index));
        needs!(self, GL_MAX_DRAW_BUFFERS);
        self.set_indexed_capability(cap, index, false)
    }

    /// NV_primitive_restart: glEnableClientState and glDisableClientState, which no display list
    /// holds.
    pub fn client_restart(&mut self, on: bool) {
        self.values[at!(GL_PRIMITIVE_RESTART)] = f64::from(u8::from(on));
    }

    /// `glIsEnabled`; `None` if only the driver knows.
    pub fn is_enabled(&self, cap: u32) -> Option<bool> {
        let at = match self.capability(cap)? {
            Capability::Fixed { at, .. } | Capability::Unit(at) => at,
        };
        let value = self.values[at];
        (!is_unknown(value)).then_some(value != 0.)
    }

    /// `glIsEnabledi`; `None` if only the driver knows.
    pub fn is_enabled_indexed(&self, cap: u32, index: u32) -> Option<bool> {
        let at = self.indexed_capability(cap, index)?.ok()?;
        let value = self.values[at];
        (!is_unknown(value)).then_some(value != 0.)
    }

    /// Whether glEnable and glDisable switch a vertex array by this name, as Mesa has it.
    pub fn is_array_switch(&self, cap: u32) -> bool {
        match cap {
            GL_VERTEX_ARRAY | GL_NORMAL_ARRAY | GL_COLOR_ARRAY | GL_TEXTURE_COORD_ARRAY => {
                matches!(self.limits.api, Api::Compat | Api::Es1)
            }
            GL_INDEX_ARRAY | GL_EDGE_FLAG_ARRAY | GL_FOG_COORD_ARRAY | GL_SECONDARY_COLOR_ARRAY => {
                self.limits.api == Api::Compat
            }
            GL_POINT_SIZE_ARRAY_OES => self.limits.api == Api::Es1,
            _ => false,
        }
    }

    /// The arrays that were switched since the last call, in their order. The client keeps arrays;
    /// the shadow only tells it what display lists do to them.
    pub fn take_array_switches(&mut self) -> Vec<(u32, bool)> {
        std::mem::take(&mut self.array_switches)
    }

    fn set_capability(&mut self, cap: u32, on: bool) -> Result<(), GlError> {
        if self.is_array_switch(cap) {
            self.array_switches.push((cap, on));
            return Ok(());
        }
        let Some(capability) = self.capability(cap) else {
            if matches!(self.index.find(cap), Some(ValueLocation::Coord(_))) {
                self.forget_capabilities_of_units();
            }
            return self.unsure();
        };
        if cap == GL_COLOR_MATERIAL {
            self.color_material_follows();
            let was = self.values[at!(GL_COLOR_MATERIAL)] != 0.;
            self.color_material_moved &= on && was;
            self.color_material_moved |= on && self.material_pending;
        }
        match capability {
            Capability::Fixed { at, elements, .. } => {
                self.values[at..at + elements].fill(f64::from(u8::from(on)));
            }
            Capability::Unit(at) => self.values[at] = f64::from(u8::from(on)),
        }
        Ok(())
    }

    fn set_indexed_capability(&mut self, cap: u32, index: u32, on: bool) -> Result<(), GlError> {
        match self.indexed_capability(cap, index) {
            Some(at) => {
                self.values[at?] = f64::from(u8::from(on));
                Ok(())
            }
            None => {
                // A texture target of another unit, or of nothing.
                self.forget_capabilities_of_units();
                self.unsure()
            }
        }
    }

    fn capability(&self, cap: u32) -> Option<Capability> {
        match self.index.find(cap)? {
            ValueLocation::Row { row, at } => {
                let row: &Row = &TABLE[usize::from(row)];
                let missing = match self.limits.api {
                    Api::Core => NOT_IN_CORE,
                    Api::Es1 => NOT_IN_ES1,
                    Api::Es => NOT_IN_ES,
                    Api::Compat => &[],
                };
                let excluded = |cap| NO_CAPABILITIES.contains(cap) || missing.contains(cap);
                let excluded = excluded(&cap) || excluded(&row.pname);
                if row.class != crate::Class::Bool || excluded {
                    return None;
                }
                let elements = if row.named { 1 } else { row.elements };
                Some(Capability::Fixed {
                    at: at.into(),
                    elements: elements.into(),
                    indexed: elements > 1,
                })
            }
            ValueLocation::Coord(offset) if self.limits.fixed_function() => {
                self.coord_at(offset.into()).map(Capability::Unit)
            }
            _ => None,
        }
    }

    /// Where an element of an indexed capability is, or the error that its index raises.
    fn indexed_capability(&self, cap: u32, index: u32) -> Option<Result<usize, GlError>> {
        let limit = match cap {
            _ if self.limits.api == Api::Es1 => return None,
            GL_BLEND => self.limits.draw_buffers,
            GL_SCISSOR_TEST => self.limits.viewports,
            _ => return None,
        };
        let Capability::Fixed {
            at,
            elements,
            indexed: true,
        } = self.capability(cap)?
        else {
            return None;
        };
        let index = index as usize;
        match index < limit.min(elements) {
            true => Some(Ok(at + index)),
            false => Some(Err(GlError::InvalidValue)),
        }
    }

    fn forget_capabilities_of_units(&mut self) {
        for unit in 0..self.limits.coord_units {
            let at = units::coord(unit);
            self.forget_at(at, units::COORD_CAPABILITIES);
        }
    }

    /// Whether primitives restart, for the client's search of index bounds.
    pub fn restart_index(&self, index_type: u32) -> Option<u32> {
        let all_ones = match index_type {
            GL_UNSIGNED_BYTE => 0xff,
            GL_UNSIGNED_SHORT => 0xffff,
            _ => u32::MAX,
        };
        if self.values[at!(GL_PRIMITIVE_RESTART_FIXED_INDEX)] == 1. {
            return Some(all_ones);
        }
        (self.values[at!(GL_PRIMITIVE_RESTART)] == 1.)
            .then(|| self.values[at!(GL_PRIMITIVE_RESTART_INDEX)] as i32 as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;

    #[test]
    fn lists_switch_arrays_when_they_are_called() {
        let info = mgn_wire::hello::ContextInfo::default();
        let mut state = State::new(&info, mgn_wire::hello::api::COMPAT);
        state.gl_enable(GL_VERTEX_ARRAY).unwrap();
        assert_eq!(state.take_array_switches(), [(GL_VERTEX_ARRAY, true)]);
        state.gl_new_list(1, GL_COMPILE).unwrap();
        state.gl_enable(GL_COLOR_ARRAY).unwrap();
        state.gl_disable(GL_VERTEX_ARRAY).unwrap();
        state.gl_end_list().unwrap();
        assert_eq!(state.take_array_switches(), []);
        state.gl_call_list(1).unwrap();
        let switches = [(GL_COLOR_ARRAY, true), (GL_VERTEX_ARRAY, false)];
        assert_eq!(state.take_array_switches(), switches);
        let core = State::new(&info, mgn_wire::hello::api::CORE);
        assert!(!core.is_array_switch(GL_VERTEX_ARRAY));
    }

    #[test]
    fn exceptions_are_booleans_of_the_table() {
        let own = &NO_CAPABILITIES[..NO_CAPABILITIES.len() - 1];
        for pname in own.iter().chain(NOT_IN_ES1).chain(NOT_IN_CORE) {
            let row = TABLE.iter().find(|r| r.pname == *pname);
            assert!(row.is_some_and(|r| r.class == Class::Bool), "{pname:#x}");
        }
    }
}
