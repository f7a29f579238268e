//! Texture units: what is bound to them, and their fixed functions.

use mgn_wire::gl::*;

use crate::raster::{check, enum_of, floats, ints};
use crate::slots::{at, COORD_AT, COORD_UNITS, UNIT_AT, UNKNOWN};
use crate::{Answer, Class, GlError, State};

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

/// What every unit has: the bindings, the level-of-detail bias and the sampler.
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
const ENV: usize = COORD_REPLACE + 1;
const GEN_MODE: usize = ENV + 25;
const OBJECT_PLANE: usize = GEN_MODE + 4;
const EYE_PLANE: usize = OBJECT_PLANE + 16;
pub(crate) const COORD_VALUES: usize = EYE_PLANE + 16;

/// Offset, number and class of a texture environment's values.
fn env_place(pname: u32) -> Option<(usize, usize, Class)> {
    Some(match pname {
        GL_TEXTURE_ENV_MODE => (ENV, 1, Class::Int),
        GL_TEXTURE_ENV_COLOR => (ENV + 1, 4, Class::EnvColor),
        GL_COMBINE_RGB => (ENV + 5, 1, Class::Int),
        GL_COMBINE_ALPHA => (ENV + 6, 1, Class::Int),
        GL_SRC0_RGB..=GL_SRC2_RGB => (ENV + 7 + (pname - GL_SRC0_RGB) as usize, 1, Class::Int),
        GL_SRC0_ALPHA..=GL_SRC2_ALPHA => {
            (ENV + 11 + (pname - GL_SRC0_ALPHA) as usize, 1, Class::Int)
        }
        GL_OPERAND0_RGB..=GL_OPERAND2_RGB => {
            (ENV + 15 + (pname - GL_OPERAND0_RGB) as usize, 1, Class::Int)
        }
        GL_OPERAND0_ALPHA..=GL_OPERAND2_ALPHA => {
            (ENV + 19 + (pname - GL_OPERAND0_ALPHA) as usize, 1, Class::Int)
        }
        GL_RGB_SCALE => (ENV + 23, 1, Class::Part),
        GL_ALPHA_SCALE => (ENV + 24, 1, Class::Part),
        _ => return None,
    })
}

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
    fn unsure_of_unit(&mut self) -> Result<(), GlError> {
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
        let owned = textures.to_vec();
        listed!(self, gl_bind_textures(first, count, &owned));
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
        self.gl_bind_textures(unit, 1, &[texture])
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
        let owned = samplers.to_vec();
        listed!(self, gl_bind_samplers(first, count, &owned));
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
        let Ok(count) = usize::try_from(count) else {
            return Err(GlError::InvalidValue);
        };
        if first as usize + count > self.limits.texture_units {
            return Err(GlError::InvalidOperation);
        }
        self.units_used = self.units_used.max(first as usize + count);
        self.bound_many = true;
        (0..count).for_each(|i| each(self, i, first as usize + i));
        Ok(())
    }

    /// What becomes of this context's bindings when textures are deleted.
    pub(crate) fn unbind_textures(&mut self, names: &[u32]) {
        for u in 0..self.units_used {
            for i in 0..TARGETS.len() {
                let at = unit(u) + binding(i);
                if self.known(at).is_some_and(|v| v != 0. && names.contains(&(v as u32))) {
                    self.set(at, 0u8);
                }
            }
        }
    }

    pub(crate) fn unbind_samplers(&mut self, names: &[u32]) {
        for u in 0..self.limits.texture_units {
            let at = unit(u) + SAMPLER;
            if self.known(at).is_some_and(|v| v != 0. && names.contains(&(v as u32))) {
                self.set(at, 0u8);
            }
        }
    }

    pub fn gl_tex_envfv(
        &mut self,
        target: u32,
        pname: u32,
        params: &[f32],
    ) -> Result<(), GlError> {
        let v = floats::<4>(params);
        listed!(self, gl_tex_envfv(target, pname, &v));
        if !self.limits.fixed_function() {
            return self.unsure();
        }
        match target {
            GL_TEXTURE_ENV => self.set_env(pname, v),
            GL_TEXTURE_FILTER_CONTROL => {
                check(pname == GL_TEXTURE_LOD_BIAS)?;
                let Some(at) = self.unit_at(LOD_BIAS) else {
                    return self.unsure_of_unit();
                };
                self.set(at, v[0]);
                Ok(())
            }
            GL_POINT_SPRITE => {
                check(pname == GL_COORD_REPLACE)?;
                let Some(at) = self.coord_at(COORD_REPLACE) else {
                    return self.unsure_of_unit();
                };
                match v[0].trunc() {
                    value if value == 0. || value == 1. => self.set(at, value),
                    _ => return Err(GlError::InvalidValue),
                }
                Ok(())
            }
            _ => self.unsure(),
        }
    }

    fn set_env(&mut self, pname: u32, v: [f32; 4]) -> Result<(), GlError> {
        let Some((offset, values, _)) = env_place(pname) else {
            return self.unsure();
        };
        let Some(at) = self.coord_at(offset) else {
            return self.unsure_of_unit();
        };
        let value = enum_of(v[0]);
        // What extensions add to each list only the driver knows.
        let usual = match pname {
            GL_TEXTURE_ENV_COLOR => true,
            GL_TEXTURE_ENV_MODE => matches!(
                value,
                GL_MODULATE | GL_BLEND | GL_DECAL | GL_REPLACE | GL_ADD | GL_COMBINE
            ),
            GL_COMBINE_RGB | GL_COMBINE_ALPHA => {
                let either = matches!(
                    value,
                    GL_REPLACE
                        | GL_MODULATE
                        | GL_ADD
                        | GL_ADD_SIGNED
                        | GL_INTERPOLATE
                        | GL_SUBTRACT
                );
                either
                    || pname == GL_COMBINE_RGB && matches!(value, GL_DOT3_RGB | GL_DOT3_RGBA)
            }
            GL_SRC0_RGB..=GL_SRC2_RGB | GL_SRC0_ALPHA..=GL_SRC2_ALPHA => {
                matches!(
                    value,
                    GL_TEXTURE | GL_CONSTANT | GL_PRIMARY_COLOR | GL_PREVIOUS
                )
            }
            GL_OPERAND0_RGB..=GL_OPERAND2_RGB => {
                (GL_SRC_COLOR..=GL_ONE_MINUS_SRC_ALPHA).contains(&value)
            }
            GL_OPERAND0_ALPHA..=GL_OPERAND2_ALPHA => {
                matches!(value, GL_SRC_ALPHA | GL_ONE_MINUS_SRC_ALPHA)
            }
            _ if v[0] == 1. || v[0] == 2. || v[0] == 4. => true,
            _ => return Err(GlError::InvalidValue),
        };
        if !usual {
            return self.unsure_of_range(at, values);
        }
        self.set_all(at, &v[..values]);
        Ok(())
    }

    pub fn gl_tex_envf(&mut self, target: u32, pname: u32, param: f32) -> Result<(), GlError> {
        if pname == GL_TEXTURE_ENV_COLOR {
            listed!(self, gl_tex_envf(target, pname, param));
            return self.unsure_of_env_color();
        }
        self.gl_tex_envfv(target, pname, &[param])
    }

    fn unsure_of_env_color(&mut self) -> Result<(), GlError> {
        match self.coord_at(ENV + 1) {
            Some(at) => self.unsure_of_range(at, 4),
            None => self.unsure_of_unit(),
        }
    }

    pub fn gl_tex_envi(&mut self, target: u32, pname: u32, param: i32) -> Result<(), GlError> {
        self.gl_tex_envf(target, pname, param as f32)
    }

    pub fn gl_tex_enviv(
        &mut self,
        target: u32,
        pname: u32,
        params: &[i32],
    ) -> Result<(), GlError> {
        let v = ints::<4>(params);
        let v = match pname {
            GL_TEXTURE_ENV_COLOR => v.map(crate::lighting::normalized),
            _ => v.map(|v| v as f32),
        };
        self.gl_tex_envfv(target, pname, &v)
    }

    /// `glGetTexEnv*v`.
    pub fn tex_env(&self, target: u32, pname: u32) -> Answer<'_> {
        if !self.limits.fixed_function() {
            return Answer::Unknown;
        }
        let (at, values, class) = match (target, pname) {
            (GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS) => {
                (self.unit_at(LOD_BIAS), 1, Class::Part)
            }
            (GL_POINT_SPRITE, GL_COORD_REPLACE) => (self.coord_at(COORD_REPLACE), 1, Class::Int),
            (GL_TEXTURE_ENV, _) => match env_place(pname) {
                Some((offset, values, class)) => (self.coord_at(offset), values, class),
                None => return Answer::Unknown,
            },
            _ => return Answer::Unknown,
        };
        match at {
            Some(at) => self.answer_at(at, values, class),
            None => Answer::Unknown,
        }
    }

    pub fn gl_tex_genfv(&mut self, coord: u32, pname: u32, params: &[f32]) -> Result<(), GlError> {
        let v = floats::<4>(params);
        listed!(self, gl_tex_genfv(coord, pname, &v));
        let i = coord.wrapping_sub(GL_S) as usize;
        if !self.limits.compat() || i >= 4 {
            return self.unsure_of_gen();
        }
        let (Some(mode_at), Some(object_at), Some(eye_at)) = (
            self.coord_at(GEN_MODE + i),
            self.coord_at(OBJECT_PLANE + 4 * i),
            self.coord_at(EYE_PLANE + 4 * i),
        ) else {
            return self.unsure_of_unit();
        };
        match pname {
            GL_TEXTURE_GEN_MODE => {
                let mode = enum_of(v[0]);
                let valid = match mode {
                    GL_OBJECT_LINEAR | GL_EYE_LINEAR => true,
                    GL_SPHERE_MAP => i < 2,
                    GL_REFLECTION_MAP | GL_NORMAL_MAP => i < 3,
                    _ => false,
                };
                check(valid)?;
                self.set(mode_at, mode);
            }
            GL_OBJECT_PLANE => self.set_all(object_at, &v),
            GL_EYE_PLANE if self.modelview_is_identity() => self.set_all(eye_at, &v),
            GL_EYE_PLANE => self.forget_at(eye_at, 4),
            _ => return Err(GlError::InvalidEnum),
        }
        Ok(())
    }

    fn unsure_of_gen(&mut self) -> Result<(), GlError> {
        match self.coord_at(GEN_MODE) {
            Some(at) => self.unsure_of_range(at, COORD_VALUES - GEN_MODE),
            None => self.unsure_of_unit(),
        }
    }

    pub fn gl_tex_gendv(&mut self, coord: u32, pname: u32, params: &[f64]) -> Result<(), GlError> {
        let v: [f32; 4] = std::array::from_fn(|i| params.get(i).map_or(0., |&v| v as f32));
        self.gl_tex_genfv(coord, pname, &v)
    }

    pub fn gl_tex_geniv(&mut self, coord: u32, pname: u32, params: &[i32]) -> Result<(), GlError> {
        self.gl_tex_genfv(coord, pname, &ints::<4>(params).map(|v| v as f32))
    }

    pub fn gl_tex_genf(&mut self, coord: u32, pname: u32, param: f32) -> Result<(), GlError> {
        match pname {
            GL_TEXTURE_GEN_MODE => self.gl_tex_genfv(coord, pname, &[param]),
            _ => {
                listed!(self, gl_tex_genf(coord, pname, param));
                self.unsure_of_gen()
            }
        }
    }

    pub fn gl_tex_gend(&mut self, coord: u32, pname: u32, param: f64) -> Result<(), GlError> {
        self.gl_tex_genf(coord, pname, param as f32)
    }

    pub fn gl_tex_geni(&mut self, coord: u32, pname: u32, param: i32) -> Result<(), GlError> {
        self.gl_tex_genf(coord, pname, param as f32)
    }

    /// `glGetTexGen*v`.
    pub fn tex_gen(&self, coord: u32, pname: u32) -> Answer<'_> {
        let i = coord.wrapping_sub(GL_S) as usize;
        if !self.limits.compat() || i >= 4 {
            return Answer::Unknown;
        }
        let (offset, values, class) = match pname {
            GL_TEXTURE_GEN_MODE => (GEN_MODE + i, 1, Class::Int),
            GL_OBJECT_PLANE => (OBJECT_PLANE + 4 * i, 4, Class::Part),
            GL_EYE_PLANE => (EYE_PLANE + 4 * i, 4, Class::Part),
            _ => return Answer::Unknown,
        };
        match self.coord_at(offset) {
            Some(at) => self.answer_at(at, values, class),
            None => Answer::Unknown,
        }
    }
}
