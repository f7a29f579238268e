//! The stacks of server and client attributes.

use mgn_wire::gl::*;

use crate::current::ATTRIBUTES;
use crate::fragments::is_advanced;
use crate::slots::{
    at, is_unknown, slot, CLIP_AT, CLIP_PLANES, COORD_UNITS, DRAW_BUFFERS, LIGHT_AT, MATERIAL_AT,
    TABLE, UNKNOWN,
};
use crate::textures::Parameters;
use crate::units::{self, binding, SAVED_TARGETS, TARGETS};
use crate::{Answer, Class, GlError, State};

/// Values that belong to the same groups and lie side by side.
#[derive(Clone, Copy, Debug)]
struct Range {
    groups: u32,
    at: usize,
    values: usize,
    /// Groups of which some drivers do not restore these.
    forgotten: u32,
}

/// Names that are in groups as the specification has it, with those groups of which some
/// drivers leave them out.
const FORGOTTEN: &[(u32, u32)] = &[
    (GL_ACCUM_CLEAR_VALUE, EVERY),
    (GL_FOG_COORD_SRC, EVERY),
    (GL_FOG_DISTANCE_MODE_NV, EVERY),
    (GL_COLOR_SUM, EVERY),
    (GL_LIGHT0, GL_ENABLE_BIT),
    (GL_PROVOKING_VERTEX, EVERY),
    (GL_SAMPLE_SHADING, EVERY),
    (GL_MIN_SAMPLE_SHADING_VALUE, EVERY),
    (GL_SAMPLE_MASK, EVERY),
    (GL_SAMPLE_MASK_VALUE, EVERY),
    (GL_GENERATE_MIPMAP_HINT, EVERY),
    (GL_FRAGMENT_SHADER_DERIVATIVE_HINT, EVERY),
    (GL_RASTER_POSITION_UNCLIPPED_IBM, GL_TRANSFORM_BIT),
    (GL_MAP1_GRID_DOMAIN, EVERY),
    (GL_MAP1_GRID_SEGMENTS, EVERY),
    (GL_MAP2_GRID_DOMAIN, EVERY),
    (GL_MAP2_GRID_SEGMENTS, EVERY),
    (GL_ACTIVE_STENCIL_FACE_EXT, EVERY),
    (GL_INDEX_CLEAR_VALUE, EVERY),
    // Restored, but what follows from it is not.
    (GL_CLAMP_FRAGMENT_COLOR, EVERY),
];
const EVERY: u32 = GL_ALL_ATTRIB_BITS;

/// Names of which some drivers restore the first element to all.
const ALL_FROM_FIRST: &[u32] = &[
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

/// All values that any group saves, except those of texture units without fixed functions.
#[derive(Clone, Debug)]
pub(crate) struct Groups(Vec<Range>);

impl Groups {
    pub fn new() -> Groups {
        let mut ranges: Vec<Range> = Vec::new();
        let mut place = 0;
        for row in TABLE {
            let values = usize::from(row.values) * usize::from(row.elements);
            let forgotten = FORGOTTEN.iter().find(|(pname, _)| *pname == row.pname);
            let range = Range {
                groups: row.groups,
                at: place,
                values,
                forgotten: forgotten.map_or(0, |(_, groups)| *groups),
            };
            place += values;
            match ranges.last_mut() {
                Some(last) if last.continues(&range) => last.values += values,
                _ if row.groups != 0 => ranges.push(range),
                _ => {}
            }
        }
        let mut add = |groups: u32, at: usize, values: usize| {
            ranges.push(Range {
                groups,
                at,
                values,
                // Materials that no draw has used yet.
                forgotten: if at == MATERIAL_AT { EVERY } else { 0 },
            });
        };
        add(GL_LIGHTING_BIT, LIGHT_AT, MATERIAL_AT - LIGHT_AT);
        add(GL_LIGHTING_BIT, MATERIAL_AT, CLIP_AT - MATERIAL_AT);
        add(GL_TRANSFORM_BIT, CLIP_AT, 4 * CLIP_PLANES);
        for unit in 0..COORD_UNITS {
            let at = units::coord(unit);
            let env = units::COORD_REPLACE + 1;
            add(
                GL_TEXTURE_BIT | GL_ENABLE_BIT,
                at,
                units::COORD_CAPABILITIES,
            );
            add(GL_POINT_BIT, at + units::COORD_REPLACE, 1);
            add(GL_TEXTURE_BIT, at + env, units::COORD_VALUES - env);
        }
        Groups(ranges)
    }
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// The state that `glPushAttrib` saved.
#[derive(Clone)]
pub(crate) struct Saved {
    mask: u32,
    /// All values as they were, up to the units used.
    values: Vec<f64>,
    current: Box<[[f32; 4]; ATTRIBUTES]>,
    draw_buffers: crate::framebuffers::DrawBuffers,
    read_buffer: f64,
    /// Parameters of the textures that were bound, if they are saved.
    textures: Vec<(usize, u32, Parameters)>,
    /// Attributes were pushed since. Drivers remember which groups changed and restore only
    /// those, but some forget it between an inner push and pop: what is restored then only
    /// they know.
    nested: bool,
}

/// The part of this crate's state that `glPushClientAttrib` saved.
#[derive(Clone)]
pub(crate) struct SavedClient {
    mask: u32,
    pixel_store: Vec<f64>,
    pixel_buffers: [f64; 2],
    client_active_texture: f64,
    array_buffer: f64,
    vertex_array: f64,
    element_buffer: f64,
    restart: [f64; 3],
}

/// Names of the stacks' depths.
pub(crate) const NAMES: &[u32] = &[GL_ATTRIB_STACK_DEPTH, GL_CLIENT_ATTRIB_STACK_DEPTH];

const PIXEL_STORE: std::ops::Range<usize> =
    slot(GL_UNPACK_SWAP_BYTES)..slot(GL_PACK_REVERSE_ROW_ORDER_ANGLE) + 1;

impl State {
    pub fn gl_push_attrib(&mut self, mask: u32) -> Result<(), GlError> {
        listed!(self, gl_push_attrib(mask));
        if self.saved.len() >= self.limits.attrib_stack {
            match self.saved_lost {
                true => self.forget_listed(),
                false => return Err(GlError::StackOverflow),
            }
        }
        self.doubt |= self.saved_lost;
        if mask & GL_LIGHTING_BIT != 0 {
            self.color_material_follows();
        }
        if let Some(outer) = self.saved.last_mut() {
            outer.nested = true;
        }
        self.saved.push(Saved {
            mask,
            values: self.values[..units::unit(self.units_used)].to_vec(),
            current: Box::new(self.current.values),
            draw_buffers: self.draw_buffers(),
            read_buffer: self.read_buffer(),
            textures: match mask & GL_TEXTURE_BIT {
                0 => Vec::new(),
                _ => self.bound_parameters(),
            },
            nested: false,
        });
        Ok(())
    }

    /// Restores what the specification says, as far as drivers do. Values that differ and that
    /// some driver does not restore (see `FORGOTTEN`, and nested pushes) become unknown.
    pub fn gl_pop_attrib(&mut self) -> Result<(), GlError> {
        listed!(self, gl_pop_attrib());
        let Some(saved) = self.saved.pop() else {
            if self.saved_lost {
                self.forget_listed();
                return Ok(());
            }
            return Err(GlError::StackUnderflow);
        };
        let mask = saved.mask;
        if mask & (GL_LIGHTING_BIT | GL_ENABLE_BIT | GL_CURRENT_BIT) != 0 {
            self.color_material_follows();
            let follows = |values: &[f64]| values[at!(GL_COLOR_MATERIAL)] != 0.;
            if follows(&self.values) || follows(&saved.values) {
                self.color_material_moved = true;
                self.forget_at(MATERIAL_AT, CLIP_AT - MATERIAL_AT);
            }
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
            self.pop_draw_buffers(saved.draw_buffers);
        }
        if mask & GL_PIXEL_MODE_BIT != 0 {
            self.pop_read_buffer(saved.read_buffer);
        }
        if mask & GL_TEXTURE_BIT != 0 {
            self.restore_textures(&saved);
        }
        Ok(())
    }

    fn restore_values(&mut self, saved: &Saved) {
        let (rgb, alpha) = (at!(GL_BLEND_EQUATION_RGB), at!(GL_BLEND_EQUATION_ALPHA));
        let mut mixed = self.mixed_values(&self.values);
        if self.values[rgb] == saved.values[rgb] && self.values[alpha] != saved.values[alpha] {
            // Some drivers look only at the colours' equation for changes.
            mixed.push((alpha, DRAW_BUFFERS));
        }
        mixed.extend(self.mixed_values(&saved.values));
        let stencil = saved.mask & GL_STENCIL_BUFFER_BIT != 0 && self.third_stencil_face();
        for range in self.groups.0.iter().filter(|r| r.groups & saved.mask != 0) {
            let values = range.at..range.at + range.values;
            let (now, then) = (&mut self.values[values.clone()], &saved.values[values]);
            if !saved.nested && range.groups & saved.mask & !range.forgotten != 0 {
                now.copy_from_slice(then);
                continue;
            }
            for (now, then) in now.iter_mut().zip(then) {
                if now.to_bits() != then.to_bits() {
                    *now = UNKNOWN;
                }
            }
        }
        if saved.mask & GL_COLOR_BUFFER_BIT != 0 {
            for (at, values) in mixed {
                self.forget_at(at, values);
                self.doubt = true;
            }
        }
        let fog = at!(GL_FOG_COLOR);
        let beyond = |v: &f64| !(0. ..=1.).contains(v);
        if saved.mask & GL_FOG_BIT != 0 && self.values[fog..fog + 4].iter().any(beyond) {
            // Restored clamped.
            self.forget_at(fog, 4);
        }
        if stencil || saved.mask & GL_STENCIL_BUFFER_BIT != 0 && self.third_stencil_face() {
            // Which of the three sets of values are restored differs.
            let stencil = at!(GL_STENCIL_FUNC)..at!(GL_STENCIL_CLEAR_VALUE);
            self.values[stencil].fill(UNKNOWN);
        }
    }

    /// Values that drivers restore by commands that are not up to it: where draw buffers
    /// differ, those beyond the first, and where there are advanced equations, all of them.
    fn mixed_values(&self, values: &[f64]) -> Vec<(usize, usize)> {
        let mut mixed = Vec::new();
        let equations = [at!(GL_BLEND_EQUATION_RGB), at!(GL_BLEND_EQUATION_ALPHA)];
        let advanced = |at: &usize| {
            let values = &values[*at..at + DRAW_BUFFERS];
            values
                .iter()
                .any(|v| is_unknown(*v) || is_advanced(*v as u32))
        };
        if equations.iter().any(advanced) {
            mixed.extend(equations.map(|at| (at, DRAW_BUFFERS)));
        }
        for pname in ALL_FROM_FIRST {
            let at = slot(*pname);
            let all = &values[at..at + DRAW_BUFFERS];
            if !same(
                &all[1..self.limits.draw_buffers],
                &all[..self.limits.draw_buffers - 1],
            ) {
                mixed.push((at + 1, DRAW_BUFFERS - 1));
            }
        }
        mixed
    }

    fn restore_current(&mut self, saved: &Saved) {
        for (i, then) in saved.current.iter().enumerate() {
            let bits = |v: &[f32; 4]| v.map(f32::to_bits);
            // Drivers do not restore every attribute that changed.
            if bits(&self.current.values[i]) != bits(then) {
                self.current.forget(i);
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
        for unit in 0..self.units_used {
            for offset in 0..units::UNSAVED {
                let at = units::unit(unit) + offset;
                // Units first used since then had nothing bound.
                let then = saved.values.get(at).copied().unwrap_or(0.);
                // Drivers do not see every binding, and mix up the biases.
                let sure = !saved.nested && !self.bound_many;
                match offset != units::LOD_BIAS && (sure || self.values[at] == then) {
                    true => self.values[at] = then,
                    false => self.forget_at(at, 1),
                }
            }
        }
        for (target, name, parameters) in &saved.textures {
            // Which textures' parameters are restored depends on the driver.
            let known = self.shared.with_texture(*target, *name, |texture| {
                if texture.parameters != *parameters {
                    texture.forget();
                }
            });
            if known.is_none() {
                self.shared.revive_texture(*name);
            }
        }
        // Unknown bindings are restored as well.
        for (target, (of, _)) in TARGETS.iter().enumerate() {
            let then = |unit| saved.values.get(units::unit(unit) + binding(target));
            if (0..self.units_used).any(|unit| then(unit).is_some_and(|v| is_unknown(*v))) {
                self.shared.forget_target(*of);
            }
        }
        // The names of textures deleted since then are bound again, as new textures.
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
                self.values[at!(GL_PRIMITIVE_RESTART_FIXED_INDEX)],
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
            self.restore_vertex_array(&saved);
        }
        Ok(())
    }

    /// A vertex array or buffer that was deleted since is not bound again.
    fn restore_vertex_array(&mut self, saved: &SavedClient) {
        if self
            .gl_bind_vertex_array(saved.vertex_array as u32)
            .is_err()
        {
            return;
        }
        self.values[at!(GL_CLIENT_ACTIVE_TEXTURE)] = saved.client_active_texture;
        self.values[at!(GL_PRIMITIVE_RESTART)] = saved.restart[0];
        self.values[at!(GL_PRIMITIVE_RESTART_INDEX)] = saved.restart[1];
        self.values[at!(GL_PRIMITIVE_RESTART_FIXED_INDEX)] = saved.restart[2];
        for (at, buffer) in [
            (at!(GL_ARRAY_BUFFER_BINDING), saved.array_buffer),
            (at!(GL_ELEMENT_ARRAY_BUFFER_BINDING), saved.element_buffer),
        ] {
            let exists = self.shared.lock().buffers.contains(&(buffer as u32));
            if saved.vertex_array == 0. || buffer == 0. || exists {
                self.values[at] = buffer;
            }
        }
    }

    pub(crate) fn attrib_answer(&self, pname: u32) -> Answer<'_> {
        let depth = match pname {
            GL_ATTRIB_STACK_DEPTH if self.saved_lost => return Answer::Unknown,
            GL_ATTRIB_STACK_DEPTH => self.saved.len(),
            _ => self.saved_client.len(),
        };
        Answer::one(Class::Int, depth as f64)
    }
}
