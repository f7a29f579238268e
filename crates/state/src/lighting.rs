//! Lights, materials and fog.

use mgn_wire::gl::*;

use crate::raster::{check, enum_of, floats, ints, is_face};
use crate::slots::{at, LIGHTS, LIGHT_AT, MATERIAL_AT, UNKNOWN};
use crate::{Answer, Class, GlError, State};

/// Values of one light, in the order of [`light_place`].
pub(crate) const LIGHT_VALUES: usize = 24;
/// Values of one face's material, in the order of [`material_place`].
pub(crate) const MATERIAL_VALUES: usize = 20;

/// Offset and number of values of a light's parameter.
fn light_place(pname: u32) -> Option<(usize, usize, Class)> {
    Some(match pname {
        GL_AMBIENT => (0, 4, Class::Unit),
        GL_DIFFUSE => (4, 4, Class::Unit),
        GL_SPECULAR => (8, 4, Class::Unit),
        GL_POSITION => (12, 4, Class::Part),
        GL_SPOT_DIRECTION => (16, 3, Class::Part),
        GL_SPOT_EXPONENT => (19, 1, Class::Part),
        GL_SPOT_CUTOFF => (20, 1, Class::Part),
        GL_CONSTANT_ATTENUATION => (21, 1, Class::Part),
        GL_LINEAR_ATTENUATION => (22, 1, Class::Part),
        GL_QUADRATIC_ATTENUATION => (23, 1, Class::Part),
        _ => return None,
    })
}

/// Offset and number of values of a material's parameter.
fn material_place(pname: u32) -> Option<(usize, usize, Class)> {
    Some(match pname {
        GL_AMBIENT => (0, 4, Class::Unit),
        GL_DIFFUSE => (4, 4, Class::Unit),
        GL_SPECULAR => (8, 4, Class::Unit),
        GL_EMISSION => (12, 4, Class::Unit),
        GL_SHININESS => (16, 1, Class::Float),
        GL_COLOR_INDEXES => (17, 3, Class::Float),
        _ => return None,
    })
}

impl State {
    pub(crate) fn initialize_lighting(&mut self) {
        for i in 0..crate::slots::LIGHTS {
            let bright = if i == 0 { 1. } else { 0. };
            let light = [
                [0., 0., 0., 1.],
                [bright, bright, bright, 1.],
                [bright, bright, bright, 1.],
                [0., 0., 1., 0.],
                // Spot direction and exponent; cutoff and attenuations.
                [0., 0., -1., 0.],
                [180., 1., 0., 0.],
            ];
            self.set_all(LIGHT_AT + i * LIGHT_VALUES, &light.concat());
        }
        self.set(at!(GL_COLOR_MATERIAL_FACE), GL_FRONT_AND_BACK);
        self.set(at!(GL_COLOR_MATERIAL_PARAMETER), GL_AMBIENT_AND_DIFFUSE);
        for face in 0..2 {
            let at = MATERIAL_AT + face * MATERIAL_VALUES;
            self.set_all(at, &[0.2f32, 0.2, 0.2, 1., 0.8, 0.8, 0.8, 1.]);
            self.set_all(at + 8, &[0., 0., 0., 1., 0., 0., 0., 1.]);
            self.set_all(at + 16, &[0., 0., 1., 1.]);
        }
    }

    pub fn gl_lightfv(&mut self, light: u32, pname: u32, params: &[f32]) -> Result<(), GlError> {
        let v = floats::<4>(params);
        listed!(self, gl_lightfv(light, pname, &v));
        let i = light.wrapping_sub(GL_LIGHT0) as usize;
        check(i < self.limits.lights)?;
        let (offset, values, _) = light_place(pname).ok_or(GlError::InvalidEnum)?;
        let valid = match pname {
            // The largest exponent is at least 128.
            GL_SPOT_EXPONENT => v[0] >= 0. && v[0] <= 128.,
            GL_SPOT_CUTOFF => (0. ..=90.).contains(&v[0]) || v[0] == 180.,
            GL_CONSTANT_ATTENUATION | GL_LINEAR_ATTENUATION | GL_QUADRATIC_ATTENUATION => {
                v[0] >= 0.
            }
            _ => true,
        };
        if !valid {
            return Err(GlError::InvalidValue);
        }
        let at = LIGHT_AT + i * LIGHT_VALUES + offset;
        if matches!(pname, GL_POSITION | GL_SPOT_DIRECTION) && !self.modelview_is_identity() {
            // Transformed as the driver does it.
            self.forget_at(at, values);
        } else {
            self.set_all(at, &v[..values]);
        }
        Ok(())
    }

    pub fn gl_lightf(&mut self, light: u32, pname: u32, param: f32) -> Result<(), GlError> {
        match light_place(pname) {
            Some((_, 1, _)) => self.gl_lightfv(light, pname, &[param]),
            // Those with several values take an array, which drivers don't insist on.
            _ => {
                listed!(self, gl_lightf(light, pname, param));
                self.unsure_of_range(LIGHT_AT, LIGHTS * LIGHT_VALUES)
            }
        }
    }

    pub fn gl_lighti(&mut self, light: u32, pname: u32, param: i32) -> Result<(), GlError> {
        self.gl_lightf(light, pname, param as f32)
    }

    pub fn gl_lightiv(&mut self, light: u32, pname: u32, params: &[i32]) -> Result<(), GlError> {
        let v = ints::<4>(params);
        let v = match pname {
            GL_AMBIENT | GL_DIFFUSE | GL_SPECULAR => v.map(normalized),
            _ => v.map(|v| v as f32),
        };
        self.gl_lightfv(light, pname, &v)
    }

    /// `glGetLight*v`.
    pub fn light(&self, light: u32, pname: u32) -> Answer<'_> {
        let i = light.wrapping_sub(GL_LIGHT0) as usize;
        match light_place(pname) {
            Some((offset, values, class))
                if i < self.limits.lights && self.limits.fixed_function() =>
            {
                let at = LIGHT_AT + i * LIGHT_VALUES + offset;
                Answer::of(class, &self.values[at..at + values])
            }
            _ => Answer::Unknown,
        }
    }

    pub fn gl_light_modelfv(&mut self, pname: u32, params: &[f32]) -> Result<(), GlError> {
        let v = floats::<4>(params);
        listed!(self, gl_light_modelfv(pname, &v));
        needs!(self, GL_LIGHTING);
        let on = u8::from(v[0] != 0.);
        match pname {
            GL_LIGHT_MODEL_AMBIENT => self.set_all(at!(GL_LIGHT_MODEL_AMBIENT), &v),
            GL_LIGHT_MODEL_LOCAL_VIEWER if self.limits.compat() => {
                self.set(at!(GL_LIGHT_MODEL_LOCAL_VIEWER), on);
            }
            GL_LIGHT_MODEL_TWO_SIDE => self.set(at!(GL_LIGHT_MODEL_TWO_SIDE), on),
            GL_LIGHT_MODEL_COLOR_CONTROL if self.limits.compat() => {
                // Only for these names is nothing cut off.
                let is_name = |name: &u32| *name as f32 == v[0];
                let control = [GL_SINGLE_COLOR, GL_SEPARATE_SPECULAR_COLOR]
                    .into_iter()
                    .find(is_name)
                    .ok_or(GlError::InvalidEnum)?;
                self.set(at!(GL_LIGHT_MODEL_COLOR_CONTROL), control);
            }
            _ => return Err(GlError::InvalidEnum),
        }
        Ok(())
    }

    pub fn gl_light_modelf(&mut self, pname: u32, param: f32) -> Result<(), GlError> {
        if pname == GL_LIGHT_MODEL_AMBIENT {
            listed!(self, gl_light_modelf(pname, param));
            return self.unsure_of_range(at!(GL_LIGHT_MODEL_AMBIENT), 4);
        }
        self.gl_light_modelfv(pname, &[param])
    }

    pub fn gl_light_modeli(&mut self, pname: u32, param: i32) -> Result<(), GlError> {
        self.gl_light_modelf(pname, param as f32)
    }

    pub fn gl_light_modeliv(&mut self, pname: u32, params: &[i32]) -> Result<(), GlError> {
        let v = ints::<4>(params);
        let v = match pname {
            GL_LIGHT_MODEL_AMBIENT => v.map(normalized),
            _ => v.map(|v| v as f32),
        };
        self.gl_light_modelfv(pname, &v)
    }

    pub fn gl_materialfv(&mut self, face: u32, pname: u32, params: &[f32]) -> Result<(), GlError> {
        let v = floats::<4>(params);
        listed!(self, gl_materialfv(face, pname, &v));
        let indexes = pname == GL_COLOR_INDEXES;
        if !self.limits.compat() && (face != GL_FRONT_AND_BACK || indexes) {
            return self.unsure_of_range(MATERIAL_AT, 2 * MATERIAL_VALUES);
        }
        check(is_face(face))?;
        if pname == GL_SHININESS && !(0. ..=128.).contains(&v[0]) {
            return Err(GlError::InvalidValue);
        }
        let pnames: &[u32] = match pname {
            GL_AMBIENT_AND_DIFFUSE => &[GL_AMBIENT, GL_DIFFUSE],
            _ => &[pname],
        };
        self.material_pending = true;
        for &pname in pnames {
            let (offset, values, _) = material_place(pname).ok_or(GlError::InvalidEnum)?;
            for i in faces(face) {
                let at = MATERIAL_AT + i * MATERIAL_VALUES + offset;
                match self.follows_color(i, pname) {
                    Some(true) => {}
                    Some(false) => self.set_all(at, &v[..values]),
                    None => self.forget_at(at, values),
                }
            }
        }
        Ok(())
    }

    pub fn gl_materialf(&mut self, face: u32, pname: u32, param: f32) -> Result<(), GlError> {
        if pname != GL_SHININESS {
            listed!(self, gl_materialf(face, pname, param));
            return Err(GlError::InvalidEnum);
        }
        self.gl_materialfv(face, pname, &[param])
    }

    pub fn gl_materiali(&mut self, face: u32, pname: u32, param: i32) -> Result<(), GlError> {
        self.gl_materialf(face, pname, param as f32)
    }

    pub fn gl_materialiv(&mut self, face: u32, pname: u32, params: &[i32]) -> Result<(), GlError> {
        let v = ints::<4>(params);
        let v = match pname {
            GL_SHININESS | GL_COLOR_INDEXES => v.map(|v| v as f32),
            _ => v.map(normalized),
        };
        self.gl_materialfv(face, pname, &v)
    }

    /// `glGetMaterial*v`. Where the material follows the current colour, that must be known to
    /// [`State::current`].
    pub fn material(&self, face: u32, pname: u32) -> Answer<'_> {
        let i = match face {
            GL_FRONT => 0,
            GL_BACK => 1,
            _ => return Answer::Unknown,
        };
        let Some((offset, values, class)) = material_place(pname) else {
            return Answer::Unknown;
        };
        let indexes = pname == GL_COLOR_INDEXES && !self.limits.compat();
        if !self.limits.fixed_function() || indexes {
            return Answer::Unknown;
        }
        match self.follows_color(i, pname) {
            Some(true) if !self.color_material_moved => {
                self.current.answer(crate::current::COLOR, class, 4)
            }
            Some(false) => {
                let at = MATERIAL_AT + i * MATERIAL_VALUES + offset;
                Answer::of(class, &self.values[at..at + values])
            }
            _ => Answer::Unknown,
        }
    }

    pub fn gl_color_material(&mut self, face: u32, mode: u32) -> Result<(), GlError> {
        listed!(self, gl_color_material(face, mode));
        if !self.limits.compat() {
            return self.unsure();
        }
        check(is_face(face))?;
        check(matches!(
            mode,
            GL_AMBIENT | GL_DIFFUSE | GL_SPECULAR | GL_EMISSION | GL_AMBIENT_AND_DIFFUSE
        ))?;
        if self.values[at!(GL_COLOR_MATERIAL)] != 0. {
            // Whether what followed so far has taken the latest colour, and what follows now
            // has lost the latest material, only the driver knows.
            self.color_material_moved = true;
            self.color_material_follows();
        }
        self.set(at!(GL_COLOR_MATERIAL_FACE), face);
        self.set(at!(GL_COLOR_MATERIAL_PARAMETER), mode);
        Ok(())
    }

    /// Whether the current colour takes the place of a material's parameter, if that is known.
    fn follows_color(&self, face: usize, pname: u32) -> Option<bool> {
        if self.known(at!(GL_COLOR_MATERIAL))? == 0. {
            return Some(false);
        }
        let mode = self.known(at!(GL_COLOR_MATERIAL_PARAMETER))? as u32;
        let parameter = match pname {
            GL_AMBIENT | GL_DIFFUSE => mode == pname || mode == GL_AMBIENT_AND_DIFFUSE,
            _ => mode == pname,
        };
        let followed = faces(self.known(at!(GL_COLOR_MATERIAL_FACE))? as u32);
        Some(parameter && followed.contains(&face))
    }

    /// Writes the current colour into the material that follows it, before it no longer does.
    pub(crate) fn color_material_follows(&mut self) {
        let color = match self.current.get(crate::current::COLOR) {
            Some(color) if !self.color_material_moved => color.map(f64::from),
            _ => [UNKNOWN; 4],
        };
        for face in 0..2 {
            let colors = [GL_AMBIENT, GL_DIFFUSE, GL_SPECULAR, GL_EMISSION];
            for (i, pname) in colors.into_iter().enumerate() {
                let at = MATERIAL_AT + face * MATERIAL_VALUES + 4 * i;
                match self.follows_color(face, pname) {
                    Some(true) => self.set_all(at, &color),
                    Some(false) => {}
                    None => self.forget_at(at, 4),
                }
            }
        }
    }

    pub fn gl_fogfv(&mut self, pname: u32, params: &[f32]) -> Result<(), GlError> {
        let v = floats::<4>(params);
        listed!(self, gl_fogfv(pname, &v));
        needs!(self, GL_FOG);
        let value = enum_of(v[0]);
        match pname {
            GL_FOG_MODE => {
                check(matches!(value, GL_LINEAR | GL_EXP | GL_EXP2))?;
                self.set(at!(GL_FOG_MODE), value);
            }
            GL_FOG_DENSITY if v[0] < 0. => return Err(GlError::InvalidValue),
            GL_FOG_DENSITY => self.set(at!(GL_FOG_DENSITY), v[0]),
            GL_FOG_START => self.set(at!(GL_FOG_START), v[0]),
            GL_FOG_END => self.set(at!(GL_FOG_END), v[0]),
            GL_FOG_INDEX if self.limits.compat() => self.set(at!(GL_FOG_INDEX), v[0]),
            GL_FOG_COLOR => self.set_all(at!(GL_FOG_COLOR), &v),
            GL_FOG_COORD_SRC if self.has(GL_FOG_COORD_SRC) => {
                check(matches!(value, GL_FOG_COORD | GL_FRAGMENT_DEPTH))?;
                self.set(at!(GL_FOG_COORD_SRC), value);
            }
            GL_FOG_DISTANCE_MODE_NV if self.has(GL_FOG_DISTANCE_MODE_NV) => {
                check(matches!(
                    value,
                    GL_EYE_RADIAL_NV | GL_EYE_PLANE | GL_EYE_PLANE_ABSOLUTE_NV
                ))?;
                self.set(at!(GL_FOG_DISTANCE_MODE_NV), value);
            }
            _ => return self.unsure(),
        }
        Ok(())
    }

    pub fn gl_fogf(&mut self, pname: u32, param: f32) -> Result<(), GlError> {
        if pname == GL_FOG_COLOR {
            listed!(self, gl_fogf(pname, param));
            return self.unsure_of_range(at!(GL_FOG_COLOR), 4);
        }
        self.gl_fogfv(pname, &[param])
    }

    pub fn gl_fogi(&mut self, pname: u32, param: i32) -> Result<(), GlError> {
        self.gl_fogf(pname, param as f32)
    }

    pub fn gl_fogiv(&mut self, pname: u32, params: &[i32]) -> Result<(), GlError> {
        let v = ints::<4>(params);
        let v = match pname {
            GL_FOG_COLOR => v.map(normalized),
            _ => v.map(|v| v as f32),
        };
        self.gl_fogfv(pname, &v)
    }
}

fn faces(face: u32) -> std::ops::Range<usize> {
    match face {
        GL_FRONT => 0..1,
        GL_BACK => 1..2,
        _ => 0..2,
    }
}

/// An integer stretched over -1..1.
pub(crate) fn normalized(value: i32) -> f32 {
    (2. * value as f32 + 1.) * (1. / 4294967294.)
}
