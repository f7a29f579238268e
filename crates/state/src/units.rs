//! Texture units: what is bound to them, and their fixed functions.

use mgn_wire::gl::*;

use crate::raster::check;
use crate::slots::{at, COORD_AT, COORD_UNITS, UNIT_AT, UNKNOWN};
use crate::{GlError, State};

/// Targets of textures, with the names that show what is bound to them.
pub(crate) const TARGETS: [(u32, u32); 12] = [
    (GL_TEXTURE_1D, GL_TEXTURE_BINDING_1D),
    (GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D),
    (GL_TEXTURE_3D, GL_TEXTURE_BINDING_3D),
    (GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP),
    (GL_TEXTURE_RECTANGLE, GL_TEXTURE_BINDING_RECTANGLE),
    (GL_TEXTURE_1D_ARRAY, GL_TEXTURE_BINDING_1D_ARRAY),
    (GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY),
    (GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY),
    (GL_TEXTURE_BUFFER, GL_TEXTURE_BINDING_BUFFER),
    (GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_BINDING_EXTERNAL_OES),
    // These two are in no attribute group.
    (GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_BINDING_2D_MULTISAMPLE),
    (
        GL_TEXTURE_2D_MULTISAMPLE_ARRAY,
        GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY,
    ),
];

/// Targets that `GL_TEXTURE_BIT` saves, the first of the above.
pub(crate) const SAVED_TARGETS: usize = 10;

/// The state of every unit: the bindings, the level-of-detail bias and the sampler.
pub(crate) const LOD_BIAS: usize = SAVED_TARGETS;
pub(crate) const UNSAVED: usize = LOD_BIAS + 1;
const SAMPLER: usize = UNSAVED + TARGETS.len() - SAVED_TARGETS;
pub(crate) const UNIT_VALUES: usize = SAMPLER + 1;

/// Capabilities of a unit with fixed functions, which come first.
pub(crate) const CAPABILITIES: [u32; 9] = [
    GL_TEXTURE_1D,
    GL_TEXTURE_2D,
    GL_TEXTURE_3D,
    GL_TEXTURE_CUBE_MAP,
    GL_TEXTURE_RECTANGLE,
    GL_TEXTURE_GEN_S,
    GL_TEXTURE_GEN_T,
    GL_TEXTURE_GEN_R,
    GL_TEXTURE_GEN_Q,
];
pub(crate) const COORD_CAPABILITIES: usize = CAPABILITIES.len();
/// Belongs to the group of points.
pub(crate) const COORD_REPLACE: usize = COORD_CAPABILITIES;
pub(crate) const ENV: usize = COORD_REPLACE + 1;
pub(crate) const GEN_MODE: usize = ENV + 25;
pub(crate) const OBJECT_PLANE: usize = GEN_MODE + 4;
pub(crate) const EYE_PLANE: usize = OBJECT_PLANE + 16;
pub(crate) const COORD_VALUES: usize = EYE_PLANE + 16;

/// Where a unit's fixed functions are.
pub(crate) fn coord(unit: usize) -> usize {
    COORD_AT + unit * COORD_VALUES
}

/// Where what every unit has is.
pub(crate) fn unit(unit: usize) -> usize {
    UNIT_AT + unit * UNIT_VALUES
}

/// Offset of the binding of target number `i`.
pub(crate) fn binding(i: usize) -> usize {
    if i < SAVED_TARGETS {
        i
    } else {
        UNSAVED + i - SAVED_TARGETS
    }
}

/// Names of values that every unit has, with their offsets.
pub(crate) fn unit_names() -> impl Iterator<Item = (u32, usize)> {
    let bindings = TARGETS.iter().enumerate().map(|(i, t)| (t.1, binding(i)));
    bindings.chain([(GL_SAMPLER_BINDING, SAMPLER)])
}

pub(crate) fn target_index(target: u32) -> Option<usize> {
    TARGETS.iter().position(|t| t.0 == target)
}

impl State {
    pub(crate) fn initialize_units(&mut self) {
        let replace = f64::from(GL_SRC_COLOR);
        for i in 0..COORD_UNITS {
            let at = coord(i) + ENV;
            self.set(at, GL_MODULATE);
            self.set_all(at + 5, &[GL_MODULATE, GL_MODULATE]);
            let sources = [GL_TEXTURE, GL_PREVIOUS, GL_CONSTANT, GL_ZERO].map(f64::from);
            let alphas = [f64::from(GL_SRC_ALPHA); 4];
            self.set_all(at + 7, &sources);
            self.set_all(at + 11, &sources);
            self.set_all(at + 15, &[replace, replace, alphas[0], alphas[0]]);
            self.set_all(at + 19, &alphas);
            self.set_all(at + 23, &[1u8, 1]);
            let planes = [[1u8, 0, 0, 0], [0, 1, 0, 0], [0; 4], [0; 4]].concat();
            self.set_all(coord(i) + GEN_MODE, &[GL_EYE_LINEAR; 4]);
            self.set_all(coord(i) + OBJECT_PLANE, &planes);
            self.set_all(coord(i) + EYE_PLANE, &planes);
        }
    }

    /// Number of the active texture unit.
    #[inline]
    pub fn active_unit(&self) -> usize {
        self.int(at!(GL_ACTIVE_TEXTURE)).wrapping_sub(GL_TEXTURE0) as usize
    }

    /// Where the active unit has a value of its fixed functions, if it has any.
    pub(crate) fn coord_at(&self, offset: usize) -> Option<usize> {
        let unit = self.active_unit();
        (unit < self.limits.coord_units).then(|| coord(unit) + offset)
    }

    fn units(&self) -> usize {
        self.limits.texture_units.max(self.limits.coord_units)
    }

    /// Where the active unit has a value, if it is known which that is.
    pub(crate) fn unit_at(&self, offset: usize) -> Option<usize> {
        let active = self.active_unit();
        (active < self.units()).then(|| unit(active) + offset)
    }

    /// A command set a value of the active unit that has no place: it has no such value and
    /// the driver refuses the command, or which unit it is only the driver knows.
    pub(crate) fn unsure_of_unit(&mut self) -> Result<(), GlError> {
        if self.active_unit() >= self.units() {
            self.values[COORD_AT..].fill(UNKNOWN);
        }
        self.unsure()
    }

    pub fn gl_active_texture(&mut self, texture: u32) -> Result<(), GlError> {
        listed!(self, gl_active_texture(texture));
        let unit = texture.wrapping_sub(GL_TEXTURE0) as usize;
        if unit >= self.units() {
            return match self.has(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS) {
                true => Err(GlError::InvalidEnum),
                false => self.unsure_of(at!(GL_ACTIVE_TEXTURE)),
            };
        }
        self.units_used = self.units_used.max(unit + 1);
        self.set(at!(GL_ACTIVE_TEXTURE), texture);
        Ok(())
    }

    pub fn gl_client_active_texture(&mut self, texture: u32) -> Result<(), GlError> {
        needs!(self, GL_CLIENT_ACTIVE_TEXTURE);
        let unit = texture.wrapping_sub(GL_TEXTURE0) as usize;
        check(unit < self.limits.coord_units)?;
        self.set(at!(GL_CLIENT_ACTIVE_TEXTURE), texture);
        Ok(())
    }

    /// The texture bound to a target of the active unit; `None` for what is no target here or
    /// is not known.
    pub fn bound_texture(&self, target: u32) -> Option<u32> {
        let i = target_index(target)?;
        self.known(self.unit_at(binding(i))?).map(|v| v as u32)
    }

    /// The same for the target of an image, which may be a face of a cube.
    pub fn texture_bound_for(&self, target: u32) -> Option<u32> {
        self.bound_texture(match target {
            GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z => GL_TEXTURE_CUBE_MAP,
            target => target,
        })
    }

    pub fn gl_bind_texture(&mut self, target: u32, texture: u32) -> Result<(), GlError> {
        listed!(self, gl_bind_texture(target, texture));
        let Some(i) = target_index(target).filter(|&i| self.has(TARGETS[i].1)) else {
            return self.unsure();
        };
        let invent = !matches!(self.limits.api, crate::limits::Api::Core);
        let sure = self.shared.use_texture(texture, target, invent)?;
        let Some(at) = self.unit_at(binding(i)) else {
            return self.unsure_of_unit();
        };
        if !sure {
            return self.unsure_of(at);
        }
        self.set(at, texture);
        Ok(())
    }

    pub fn gl_bind_textures(
        &mut self,
        first: u32,
        count: i32,
        textures: &[u32],
    ) -> Result<(), GlError> {
        // No list holds commands that bind many.
        self.for_units(first, count, |state, i, unit| {
            let texture = textures.get(i).copied().unwrap_or(0);
            let target = match texture {
                0 => None,
                texture => state.shared.texture_target(texture).and_then(target_index),
            };
            for i in 0..TARGETS.len() {
                let at = crate::units::unit(unit) + binding(i);
                match (texture, target) {
                    (0, _) => state.set(at, 0u8),
                    (_, Some(target)) if target == i => state.set(at, texture),
                    (_, Some(_)) => {}
                    // A texture that has no target yet is refused.
                    (_, None) => state.doubt = true,
                }
            }
        })
    }

    pub fn gl_bind_texture_unit(&mut self, unit: u32, texture: u32) -> Result<(), GlError> {
        if unit as usize >= self.limits.texture_units {
            return Err(GlError::InvalidValue);
        }
        self.gl_bind_textures(unit, 1, &[texture])
    }

    pub fn gl_bind_multi_texture_ext(
        &mut self,
        texunit: u32,
        target: u32,
        texture: u32,
    ) -> Result<(), GlError> {
        listed!(self, gl_bind_multi_texture_ext(texunit, target, texture));
        let unit = texunit.wrapping_sub(GL_TEXTURE0) as usize;
        let i = target_index(target).filter(|&i| self.has(TARGETS[i].1));
        let (Some(i), true) = (i, unit < self.units()) else {
            return self.unsure();
        };
        let sure = self.shared.use_texture(texture, target, true)?;
        self.units_used = self.units_used.max(unit + 1);
        self.bound_many = true;
        let at = crate::units::unit(unit) + binding(i);
        if !sure {
            return self.unsure_of(at);
        }
        self.set(at, texture);
        Ok(())
    }

    /// Only the driver knows a unit's state, except its bindings.
    pub(crate) fn forget_unit(&mut self, texunit: u32) {
        let i = texunit.wrapping_sub(GL_TEXTURE0) as usize;
        if i < self.limits.coord_units {
            self.forget_at(coord(i), COORD_VALUES);
        }
        if i < self.units() {
            self.forget_at(unit(i) + LOD_BIAS, 1);
        }
    }

    pub fn gl_bind_sampler(&mut self, unit: u32, sampler: u32) -> Result<(), GlError> {
        listed!(self, gl_bind_sampler(unit, sampler));
        if unit as usize >= self.limits.texture_units {
            return Err(GlError::InvalidValue);
        }
        if sampler != 0 && !self.shared.is_sampler(sampler) {
            return Err(GlError::InvalidOperation);
        }
        self.set(crate::units::unit(unit as usize) + SAMPLER, sampler);
        Ok(())
    }

    pub fn gl_bind_samplers(
        &mut self,
        first: u32,
        count: i32,
        samplers: &[u32],
    ) -> Result<(), GlError> {
        self.for_units(first, count, |state, i, unit| {
            let sampler = samplers.get(i).copied().unwrap_or(0);
            match sampler == 0 || state.shared.is_sampler(sampler) {
                true => state.set(crate::units::unit(unit) + SAMPLER, sampler),
                false => state.doubt = true,
            }
        })
    }

    fn for_units(
        &mut self,
        first: u32,
        count: i32,
        mut each: impl FnMut(&mut State, usize, usize),
    ) -> Result<(), GlError> {
        // Drivers take fewer than none for very many.
        if first.wrapping_add(count as u32) as usize > self.limits.texture_units {
            return Err(GlError::InvalidOperation);
        }
        let Ok(count) = usize::try_from(count) else {
            return Ok(());
        };
        self.units_used = self.units_used.max(first as usize + count);
        self.bound_many = true;
        (0..count).for_each(|i| each(self, i, first as usize + i));
        Ok(())
    }

    /// Updates this context's bindings when textures are deleted.
    pub(crate) fn unbind_textures(&mut self, names: &[u32]) {
        for u in 0..self.units_used {
            for i in 0..TARGETS.len() {
                let at = unit(u) + binding(i);
                if self
                    .known(at)
                    .is_some_and(|v| v != 0. && names.contains(&(v as u32)))
                {
                    self.set(at, 0u8);
                }
            }
        }
    }

    pub(crate) fn unbind_samplers(&mut self, names: &[u32]) {
        for u in 0..self.limits.texture_units {
            let at = unit(u) + SAMPLER;
            if self
                .known(at)
                .is_some_and(|v| v != 0. && names.contains(&(v as u32)))
            {
                self.set(at, 0u8);
            }
        }
    }
}
