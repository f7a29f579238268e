//! The stacks of server and client attributes.

use mgn_wire::gl::*;

use crate::current::ATTRIBUTES;
use crate::fragments::is_advanced;
use crate::slots::{at, slot, DRAW_BUFFERS, CLIP_AT, CLIP_PLANES, COORD_UNITS, LIGHT_AT, TABLE, UNIT_AT, UNKNOWN};
use crate::textures::Parameters;
use crate::units::{self, binding, SAVED_TARGETS, TARGETS};
use crate::{Answer, Class, GlError, State};

/// Values that belong to the same groups and lie side by side.
#[derive(Clone, Copy, Debug)]
struct Range {
    groups: u32,
    at: usize,
    values: usize,
    /// Some drivers do not restore these.
    forgotten: bool,
}

/// Names that are in a group as the specification has it, and that some drivers leave out.
const FORGOTTEN: &[u32] = &[
    GL_ACCUM_CLEAR_VALUE,
    GL_FOG_COORD_SRC,
    GL_FOG_DISTANCE_MODE_NV,
    GL_COLOR_SUM,
    GL_PROVOKING_VERTEX,
    GL_SAMPLE_SHADING,
    GL_MIN_SAMPLE_SHADING_VALUE,
    GL_SAMPLE_MASK,
    GL_SAMPLE_MASK_VALUE,
    GL_GENERATE_MIPMAP_HINT,
    GL_FRAGMENT_SHADER_DERIVATIVE_HINT,
    GL_RASTER_POSITION_UNCLIPPED_IBM,
    GL_MAP1_GRID_DOMAIN,
    GL_MAP1_GRID_SEGMENTS,
    GL_MAP2_GRID_DOMAIN,
    GL_MAP2_GRID_SEGMENTS,
];

/// Names of which some drivers restore the first element to all, depending on history.
const FORGOTTEN_BUT_FIRST: &[u32] = &[
    GL_BLEND_SRC_RGB,
    GL_BLEND_DST_RGB,
    GL_BLEND_SRC_ALPHA,
    GL_BLEND_DST_ALPHA,
    GL_BLEND_EQUATION_RGB,
    GL_BLEND_EQUATION_ALPHA,
];

impl Range {
    fn continues(&self, next: &Range) -> bool {
        let alike = self.groups == next.groups && self.forgotten == next.forgotten;
        alike && self.at + self.values == next.at
    }
}

/// All values that any group saves, but for those of texture units without fixed functions.
#[derive(Clone, Debug)]
pub(crate) struct Groups(Vec<Range>);

impl Groups {
    pub fn new() -> Groups {
        let mut ranges: Vec<Range> = Vec::new();
        let mut place = 0;
        for row in TABLE {
            let values = usize::from(row.values) * usize::from(row.elements);
            let first = usize::from(row.values);
            let forgotten = FORGOTTEN.contains(&row.pname);
            let others = forgotten || FORGOTTEN_BUT_FIRST.contains(&row.pname);
            for (at, values, forgotten) in
                [(place, first, forgotten), (place + first, values - first, others)]
            {
                let range = Range {
                    groups: row.groups,
                    at,
                    values,
                    forgotten,
                };
                match ranges.last_mut() {
                    Some(last) if last.continues(&range) => last.values += values,
                    _ if row.groups != 0 && values != 0 => ranges.push(range),
                    _ => {}
                }
            }
            place += values;
        }
        let mut add = |groups: u32, at: usize, values: usize| {
            ranges.push(Range {
                groups,
                at,
                values,
                forgotten: false,
            });
        };
        add(GL_LIGHTING_BIT, LIGHT_AT, CLIP_AT - LIGHT_AT);
        add(GL_TRANSFORM_BIT, CLIP_AT, 4 * CLIP_PLANES);
        for unit in 0..COORD_UNITS {
            let at = units::coord(unit);
            let env = units::COORD_REPLACE + 1;
            add(GL_TEXTURE_BIT | GL_ENABLE_BIT, at, units::COORD_CAPABILITIES);
            add(GL_POINT_BIT, at + units::COORD_REPLACE, 1);
            add(GL_TEXTURE_BIT, at + env, units::COORD_VALUES - env);
        }
        Groups(ranges)
    }

    /// The groups in which two snapshots differ.
    fn changed(&self, a: &[f64], b: &[f64]) -> u32 {
        let differ = |r: &&Range| {
            let range = r.at..r.at + r.values;
            !same(&a[range.clone()], &b[range])
        };
        let changed = self.0.iter().filter(differ);
        let groups = changed.fold(0, |groups, r| groups | r.groups);
        let units = !same(&a[UNIT_AT..], &b[UNIT_AT..]);
        groups | if units { GL_TEXTURE_BIT } else { 0 }
    }
}

fn same(a: &[f64], b: &[f64]) -> bool {
    let equal = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
    a.len() == b.len() && a.iter().zip(b).all(equal)
}

/// What `glPushAttrib` saved.
#[derive(Clone)]
pub(crate) struct Saved {
    mask: u32,
    /// All values as they were.
    values: Vec<f64>,
    current: Box<[[f32; 4]; ATTRIBUTES]>,
    draw_buffers: crate::framebuffers::DrawBuffers,
    read_buffer: f64,
    /// Parameters of the textures that were bound, if they are saved.
    textures: Vec<(usize, u32, Parameters)>,
    /// All values when the last attributes pushed since were popped again.
    inner: Option<Vec<f64>>,
    /// Groups that changed outside of attributes pushed since.
    changed: u32,
}

/// What `glPushClientAttrib` saved of this crate's state.
#[derive(Clone)]
pub(crate) struct SavedClient {
    mask: u32,
    pixel_store: Vec<f64>,
    pixel_buffers: [f64; 2],
    client_active_texture: f64,
    array_buffer: f64,
    vertex_array: f64,
    element_buffer: f64,
    restart: [f64; 2],
}

/// Names of the stacks' depths.
pub(crate) const NAMES: &[u32] = &[GL_ATTRIB_STACK_DEPTH, GL_CLIENT_ATTRIB_STACK_DEPTH];

const PIXEL_STORE: std::ops::Range<usize> =
    slot(GL_UNPACK_SWAP_BYTES)..slot(GL_PACK_REVERSE_ROW_ORDER_ANGLE) + 1;

impl State {
    pub fn gl_push_attrib(&mut self, mask: u32) -> Result<(), GlError> {
        listed!(self, gl_push_attrib(mask));
        if self.saved.len() >= self.limits.attrib_stack {
            return Err(GlError::StackOverflow);
        }
        if mask & GL_LIGHTING_BIT != 0 {
            self.color_material_follows();
        }
        if let Some(outer) = self.saved.last_mut() {
            let since = outer.inner.as_ref().unwrap_or(&outer.values);
            outer.changed |= self.groups.changed(since, &self.values);
        }
        self.saved.push(Saved {
            mask,
            values: self.values.clone(),
            current: Box::new(self.current.values),
            draw_buffers: self.draw_buffers(),
            read_buffer: self.read_buffer(),
            textures: match mask & GL_TEXTURE_BIT {
                0 => Vec::new(),
                _ => self.bound_parameters(),
            },
            inner: None,
            changed: 0,
        });
        Ok(())
    }

    pub fn gl_pop_attrib(&mut self) -> Result<(), GlError> {
        listed!(self, gl_pop_attrib());
        let Some(mut saved) = self.saved.pop() else {
            return Err(GlError::StackUnderflow);
        };
        let mask = saved.mask;
        if mask & (GL_LIGHTING_BIT | GL_ENABLE_BIT | GL_CURRENT_BIT) != 0 {
            self.color_material_follows();
        }
        // Drivers remember which groups changed and restore only those, but some forget what
        // changed between an inner push and pop. Whether that is restored only they know.
        match &saved.inner {
            Some(inner) => saved.changed |= self.groups.changed(inner, &self.values),
            None => saved.changed = u32::MAX,
        }
        self.restore_values(&saved);
        let mixed = mask & (GL_TEXTURE_BIT | GL_TRANSFORM_BIT) != 0;
        if mixed && self.int(at!(GL_MATRIX_MODE)) == GL_TEXTURE {
            // Which unit's matrix is current now, drivers mix up until the mode is set again.
            self.forget_at(at!(GL_MATRIX_MODE), 1);
        }
        if mask & GL_CURRENT_BIT != 0 {
            self.restore_current(&saved);
        }
        if mask & GL_COLOR_BUFFER_BIT != 0 {
            self.restore_draw_buffers(saved.draw_buffers);
        }
        if mask & GL_PIXEL_MODE_BIT != 0 {
            self.restore_read_buffer(saved.read_buffer);
        }
        if mask & GL_TEXTURE_BIT != 0 {
            self.restore_textures(&saved);
        }
        if let Some(outer) = self.saved.last_mut() {
            outer.inner = Some(self.values.clone());
        }
        Ok(())
    }

    fn restore_values(&mut self, saved: &Saved) {
        if saved.mask & GL_COLOR_BUFFER_BIT != 0 {
            let equations = at!(GL_BLEND_EQUATION_RGB)..at!(GL_BLEND_EQUATION_ALPHA) + DRAW_BUFFERS;
            let advanced = |v: &f64| is_advanced(*v as u32);
            let then = &saved.values[equations.clone()];
            if then.iter().chain(&self.values[equations.clone()]).any(advanced) {
                // Drivers restore these by a command that does not take them.
                self.values[equations].fill(UNKNOWN);
                self.doubt = true;
            }
        }
        for range in self.groups.0.iter().filter(|r| r.groups & saved.mask != 0) {
            let values = range.at..range.at + range.values;
            let (now, then) = (&mut self.values[values.clone()], &saved.values[values]);
            if range.groups & saved.mask & saved.changed != 0 && !range.forgotten {
                now.copy_from_slice(then);
                continue;
            }
            for (now, then) in now.iter_mut().zip(then) {
                if now.to_bits() != then.to_bits() {
                    *now = UNKNOWN;
                }
            }
        }
    }

    fn restore_current(&mut self, saved: &Saved) {
        for (i, then) in saved.current.iter().enumerate() {
            let bits = |v: &[f32; 4]| v.map(f32::to_bits);
            if bits(&self.current.values[i]) == bits(then) {
                continue;
            }
            match saved.inner {
                None => self.current.values[i] = *then,
                Some(_) => self.current.forget(i),
            }
        }
    }

    /// The parameters of default textures and of all that are bound.
    fn bound_parameters(&self) -> Vec<(usize, u32, Parameters)> {
        let defaults = (0..TARGETS.len()).map(|target| (target, 0));
        let places = (0..self.units_used).flat_map(|unit| {
            (0..TARGETS.len()).map(move |target| (target, units::unit(unit) + binding(target)))
        });
        let bound = places.filter_map(|(target, at)| {
            let name = self.known(at)?;
            (name != 0.).then_some((target, name as u32))
        });
        self.shared.saved_parameters(defaults.chain(bound))
    }

    fn restore_textures(&mut self, saved: &Saved) {
        let sure = saved.changed & GL_TEXTURE_BIT != 0;
        for unit in 0..self.units_used {
            for offset in 0..units::UNSAVED {
                let at = units::unit(unit) + offset;
                let then = saved.values[at];
                match sure || self.values[at] == then {
                    true => self.values[at] = then,
                    false => self.forget_at(at, 1),
                }
            }
        }
        for (target, name, parameters) in &saved.textures {
            self.shared.with_texture(*target, *name, |texture| match saved.inner {
                None => texture.parameters = *parameters,
                Some(_) if texture.parameters != *parameters => texture.forget(),
                Some(_) => {}
            });
        }
        // Textures deleted since then are bound anew, as other ones.
        for unit in 0..self.units_used {
            for (target, (of, _)) in TARGETS.iter().enumerate().take(SAVED_TARGETS) {
                let at = units::unit(unit) + binding(target);
                if let Some(name) = self.known(at).filter(|&name| name != 0.) {
                    if self.shared.texture_target(name as u32) != Some(*of) {
                        self.forget_at(at, 1);
                    }
                }
            }
        }
    }

    /// `glPushClientAttrib`. The client saves its vertex arrays at the same time; this saves
    /// pixel store parameters and bindings.
    pub fn gl_push_client_attrib(&mut self, mask: u32) -> Result<(), GlError> {
        if self.saved_client.len() >= self.limits.client_attrib_stack {
            return Err(GlError::StackOverflow);
        }
        self.saved_client.push(SavedClient {
            mask,
            pixel_store: match mask & GL_CLIENT_PIXEL_STORE_BIT {
                0 => Vec::new(),
                _ => self.values[PIXEL_STORE].to_vec(),
            },
            pixel_buffers: [
                self.values[at!(GL_PIXEL_PACK_BUFFER_BINDING)],
                self.values[at!(GL_PIXEL_UNPACK_BUFFER_BINDING)],
            ],
            client_active_texture: self.values[at!(GL_CLIENT_ACTIVE_TEXTURE)],
            array_buffer: self.values[at!(GL_ARRAY_BUFFER_BINDING)],
            vertex_array: self.values[at!(GL_VERTEX_ARRAY_BINDING)],
            element_buffer: self.values[at!(GL_ELEMENT_ARRAY_BUFFER_BINDING)],
            restart: [
                self.values[at!(GL_PRIMITIVE_RESTART)],
                self.values[at!(GL_PRIMITIVE_RESTART_INDEX)],
            ],
        });
        Ok(())
    }

    pub fn gl_pop_client_attrib(&mut self) -> Result<(), GlError> {
        let Some(saved) = self.saved_client.pop() else {
            return Err(GlError::StackUnderflow);
        };
        if saved.mask & GL_CLIENT_PIXEL_STORE_BIT != 0 {
            self.values[PIXEL_STORE].copy_from_slice(&saved.pixel_store);
            self.values[at!(GL_PIXEL_PACK_BUFFER_BINDING)] = saved.pixel_buffers[0];
            self.values[at!(GL_PIXEL_UNPACK_BUFFER_BINDING)] = saved.pixel_buffers[1];
        }
        if saved.mask & GL_CLIENT_VERTEX_ARRAY_BIT != 0 {
            self.values[at!(GL_CLIENT_ACTIVE_TEXTURE)] = saved.client_active_texture;
            self.values[at!(GL_ARRAY_BUFFER_BINDING)] = saved.array_buffer;
            self.values[at!(GL_PRIMITIVE_RESTART)] = saved.restart[0];
            self.values[at!(GL_PRIMITIVE_RESTART_INDEX)] = saved.restart[1];
            self.restore_vertex_array(saved.vertex_array, saved.element_buffer);
        }
        Ok(())
    }

    pub(crate) fn attrib_answer(&self, pname: u32) -> Answer<'_> {
        let depth = match pname {
            GL_ATTRIB_STACK_DEPTH => self.saved.len(),
            _ => self.saved_client.len(),
        };
        Answer::one(Class::Int, depth as f64)
    }
}
