//! Texture environments and generated texture coordinates: the fixed functions of texture units.

use mgn_wire::gl::*;

use crate::raster::{check, enum_of, floats, ints};
use crate::units::{COORD_REPLACE, COORD_VALUES, ENV, EYE_PLANE, GEN_MODE, LOD_BIAS, OBJECT_PLANE};
use crate::{Answer, Class, GlError, State};

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
        GL_OPERAND0_ALPHA..=GL_OPERAND2_ALPHA => (
            ENV + 19 + (pname - GL_OPERAND0_ALPHA) as usize,
            1,
            Class::Int,
        ),
        GL_RGB_SCALE => (ENV + 23, 1, Class::Part),
        GL_ALPHA_SCALE => (ENV + 24, 1, Class::Part),
        _ => return None,
    })
}

impl State {
    pub fn gl_tex_envfv(&mut self, target: u32, pname: u32, params: &[f32]) -> Result<(), GlError> {
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
        // Only the driver knows the values that extensions add to each list.
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
                either || pname == GL_COMBINE_RGB && matches!(value, GL_DOT3_RGB | GL_DOT3_RGBA)
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

    pub fn gl_tex_enviv(&mut self, target: u32, pname: u32, params: &[i32]) -> Result<(), GlError> {
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

    pub fn gl_tex_genfv_oes(
        &mut self,
        coord: u32,
        pname: u32,
        _params: &[f32],
    ) -> Result<(), GlError> {
        self.gl_tex_geni_oes(coord, pname, 0)
    }

    pub fn gl_tex_geniv_oes(
        &mut self,
        coord: u32,
        pname: u32,
        _params: &[i32],
    ) -> Result<(), GlError> {
        self.gl_tex_geni_oes(coord, pname, 0)
    }

    pub fn gl_tex_genf_oes(&mut self, coord: u32, pname: u32, _v: f32) -> Result<(), GlError> {
        self.gl_tex_geni_oes(coord, pname, 0)
    }

    pub fn gl_tex_geni_oes(&mut self, _coord: u32, _pname: u32, _v: i32) -> Result<(), GlError> {
        self.unsure_of_gen()
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
