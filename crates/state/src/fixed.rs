//! Commands with fixed-point numbers, of OpenGL ES 1 and NV_ES1_1_compatibility. Drivers turn the
//! numbers into floats and go on with the command of those: at once, even while a display list is
//! compiled. Some look at names first, and know fewer of them.

use mgn_wire::gl::*;

use crate::{current, GlError, State};

/// Fixed-point numbers have 16 bits behind the point.
fn float(x: i32) -> f32 {
    x as f32 / 65536.
}

fn double(x: i32) -> f64 {
    f64::from(x) / 65536.
}

/// The values of an array argument; those that a short one lacks are 0.
fn floats<const N: usize>(params: &[i32]) -> [f32; N] {
    std::array::from_fn(|i| params.get(i).map_or(0., |&x| float(x)))
}

/// A value that stands for an enum or a boolean.
fn plain(params: &[i32]) -> [f32; 1] {
    [params.first().map_or(0., |&x| x as f32)]
}

/// An enum of a texture environment; the others are numbers.
fn is_env_enum(pname: u32) -> bool {
    matches!(
        pname,
        GL_COORD_REPLACE
            | GL_TEXTURE_ENV_MODE
            | GL_COMBINE_RGB
            | GL_COMBINE_ALPHA
            | GL_SRC0_RGB..=GL_SRC2_RGB
            | GL_SRC0_ALPHA..=GL_SRC2_ALPHA
            | GL_OPERAND0_RGB..=GL_OPERAND2_RGB
            | GL_OPERAND0_ALPHA..=GL_OPERAND2_ALPHA
    )
}

impl State {
    /// Carries out a command that display lists do not hold.
    fn at_once(
        &mut self,
        command: impl FnOnce(&mut State) -> Result<(), GlError>,
    ) -> Result<(), GlError> {
        if !self.limits.fixed_point {
            return self.unsure();
        }
        let compiling = self.compiling.take();
        let result = command(self);
        self.compiling = compiling;
        result
    }

    fn set_at_once(&mut self, attribute: usize, value: [f32; 4]) -> Result<(), GlError> {
        self.at_once(|s| {
            s.current.values[attribute] = value;
            Ok(())
        })
    }

    pub fn gl_alpha_funcx(&mut self, func: u32, value: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_alpha_func(func, float(value)))
    }

    pub fn gl_clear_colorx(&mut self, r: i32, g: i32, b: i32, a: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_clear_color(float(r), float(g), float(b), float(a)))
    }

    pub fn gl_clear_depthx(&mut self, depth: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_clear_depthf(float(depth)))
    }

    pub fn gl_clip_planex(&mut self, plane: u32, equation: &[i32]) -> Result<(), GlError> {
        let v: [f64; 4] = std::array::from_fn(|i| equation.get(i).map_or(0., |&x| double(x)));
        self.at_once(|s| s.gl_clip_plane(plane, &v))
    }

    pub fn gl_color4x(&mut self, r: i32, g: i32, b: i32, a: i32) -> Result<(), GlError> {
        self.set_at_once(current::COLOR, [r, g, b, a].map(float))
    }

    pub fn gl_normal3x(&mut self, x: i32, y: i32, z: i32) -> Result<(), GlError> {
        self.set_at_once(current::NORMAL, [float(x), float(y), float(z), 1.])
    }

    pub fn gl_multi_tex_coord4x(
        &mut self,
        texture: u32,
        s: i32,
        t: i32,
        r: i32,
        q: i32,
    ) -> Result<(), GlError> {
        // As with floats, a unit's low bits count.
        let attribute = current::TEXTURE + (texture & 7) as usize;
        self.set_at_once(attribute, [s, t, r, q].map(float))
    }

    pub fn gl_depth_rangex(&mut self, near: i32, far: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_depth_rangef(float(near), float(far)))
    }

    pub fn gl_fogx(&mut self, pname: u32, param: i32) -> Result<(), GlError> {
        self.at_once(|s| match pname {
            GL_FOG_MODE => s.gl_fogf(pname, param as f32),
            _ => s.gl_fogf(pname, float(param)),
        })
    }

    pub fn gl_fogxv(&mut self, pname: u32, params: &[i32]) -> Result<(), GlError> {
        self.at_once(|s| match pname {
            GL_FOG_MODE => s.gl_fogfv(pname, &plain(params)),
            GL_FOG_COLOR => s.gl_fogfv(pname, &floats::<4>(params)),
            GL_FOG_DENSITY | GL_FOG_START | GL_FOG_END => s.gl_fogfv(pname, &floats::<1>(params)),
            _ => Err(GlError::InvalidEnum),
        })
    }

    pub fn gl_frustumx(
        &mut self,
        l: i32,
        r: i32,
        b: i32,
        t: i32,
        n: i32,
        f: i32,
    ) -> Result<(), GlError> {
        let [l, r, b, t, n, f] = [l, r, b, t, n, f].map(double);
        self.at_once(|s| s.gl_frustum(l, r, b, t, n, f))
    }

    pub fn gl_orthox(
        &mut self,
        l: i32,
        r: i32,
        b: i32,
        t: i32,
        n: i32,
        f: i32,
    ) -> Result<(), GlError> {
        let [l, r, b, t, n, f] = [l, r, b, t, n, f].map(double);
        self.at_once(|s| s.gl_ortho(l, r, b, t, n, f))
    }

    pub fn gl_load_matrixx(&mut self, m: &[i32]) -> Result<(), GlError> {
        self.at_once(|s| s.gl_load_matrixf(&floats::<16>(m)))
    }

    pub fn gl_mult_matrixx(&mut self, m: &[i32]) -> Result<(), GlError> {
        self.at_once(|s| s.gl_mult_matrixf(&floats::<16>(m)))
    }

    pub fn gl_rotatex(&mut self, angle: i32, x: i32, y: i32, z: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_rotatef(float(angle), float(x), float(y), float(z)))
    }

    pub fn gl_scalex(&mut self, x: i32, y: i32, z: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_scalef(float(x), float(y), float(z)))
    }

    pub fn gl_translatex(&mut self, x: i32, y: i32, z: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_translatef(float(x), float(y), float(z)))
    }

    pub fn gl_light_modelx(&mut self, pname: u32, param: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_light_modelf(pname, param as f32))
    }

    pub fn gl_light_modelxv(&mut self, pname: u32, params: &[i32]) -> Result<(), GlError> {
        self.at_once(|s| match pname {
            GL_LIGHT_MODEL_AMBIENT => s.gl_light_modelfv(pname, &floats::<4>(params)),
            GL_LIGHT_MODEL_TWO_SIDE => s.gl_light_modelfv(pname, &plain(params)),
            _ => Err(GlError::InvalidEnum),
        })
    }

    pub fn gl_lightx(&mut self, light: u32, pname: u32, param: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_lightf(light, pname, float(param)))
    }

    pub fn gl_lightxv(&mut self, light: u32, pname: u32, params: &[i32]) -> Result<(), GlError> {
        self.at_once(|s| s.gl_lightfv(light, pname, &floats::<4>(params)))
    }

    pub fn gl_materialx(&mut self, face: u32, pname: u32, param: i32) -> Result<(), GlError> {
        self.at_once(|s| match (face, pname) {
            (GL_FRONT_AND_BACK, GL_SHININESS) => s.gl_materialf(face, pname, float(param)),
            _ => Err(GlError::InvalidEnum),
        })
    }

    pub fn gl_materialxv(&mut self, face: u32, pname: u32, params: &[i32]) -> Result<(), GlError> {
        self.at_once(|s| match (face, pname) {
            (
                GL_FRONT_AND_BACK,
                GL_AMBIENT
                | GL_DIFFUSE
                | GL_AMBIENT_AND_DIFFUSE
                | GL_SPECULAR
                | GL_EMISSION
                | GL_SHININESS,
            ) => s.gl_materialfv(face, pname, &floats::<4>(params)),
            _ => Err(GlError::InvalidEnum),
        })
    }

    pub fn gl_line_widthx(&mut self, width: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_line_width(float(width)))
    }

    pub fn gl_point_sizex(&mut self, size: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_point_size(float(size)))
    }

    pub fn gl_point_parameterx(&mut self, pname: u32, param: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_point_parameterf(pname, float(param)))
    }

    pub fn gl_point_parameterxv(&mut self, pname: u32, params: &[i32]) -> Result<(), GlError> {
        self.at_once(|s| match pname {
            GL_POINT_SIZE_MIN
            | GL_POINT_SIZE_MAX
            | GL_POINT_FADE_THRESHOLD_SIZE
            | GL_POINT_DISTANCE_ATTENUATION => s.gl_point_parameterfv(pname, &floats::<3>(params)),
            _ => Err(GlError::InvalidEnum),
        })
    }

    pub fn gl_polygon_offsetx(&mut self, factor: i32, units: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_polygon_offset(float(factor), float(units)))
    }

    pub fn gl_sample_coveragex(&mut self, value: i32, invert: u8) -> Result<(), GlError> {
        self.at_once(|s| s.gl_sample_coverage(float(value), invert))
    }

    pub fn gl_tex_envx(&mut self, target: u32, pname: u32, param: i32) -> Result<(), GlError> {
        self.at_once(|s| match target {
            GL_POINT_SPRITE | GL_TEXTURE_FILTER_CONTROL | GL_TEXTURE_ENV => match pname {
                _ if is_env_enum(pname) => s.gl_tex_envf(target, pname, param as f32),
                GL_TEXTURE_LOD_BIAS | GL_RGB_SCALE | GL_ALPHA_SCALE => {
                    s.gl_tex_envf(target, pname, float(param))
                }
                _ => Err(GlError::InvalidEnum),
            },
            _ => Err(GlError::InvalidEnum),
        })
    }

    pub fn gl_tex_envxv(&mut self, target: u32, pname: u32, params: &[i32]) -> Result<(), GlError> {
        match (target, pname) {
            (
                GL_POINT_SPRITE | GL_TEXTURE_FILTER_CONTROL | GL_TEXTURE_ENV,
                GL_TEXTURE_ENV_COLOR,
            ) => self.at_once(|s| s.gl_tex_envfv(target, pname, &floats::<4>(params))),
            _ => self.gl_tex_envx(target, pname, params.first().copied().unwrap_or(0)),
        }
    }

    pub fn gl_tex_genx_oes(&mut self, coord: u32, pname: u32, v: i32) -> Result<(), GlError> {
        self.at_once(|s| s.gl_tex_geni_oes(coord, pname, v))
    }

    pub fn gl_tex_genxv_oes(
        &mut self,
        coord: u32,
        pname: u32,
        params: &[i32],
    ) -> Result<(), GlError> {
        self.gl_tex_genx_oes(coord, pname, params.first().copied().unwrap_or(0))
    }

    pub fn gl_tex_parameterx(
        &mut self,
        target: u32,
        pname: u32,
        param: i32,
    ) -> Result<(), GlError> {
        self.at_once(|s| match pname {
            GL_TEXTURE_MAX_ANISOTROPY => s.gl_tex_parameterf(target, pname, float(param)),
            _ => s.gl_tex_parameterf(target, pname, param as f32),
        })
    }

    pub fn gl_tex_parameterxv(
        &mut self,
        target: u32,
        pname: u32,
        params: &[i32],
    ) -> Result<(), GlError> {
        self.at_once(|s| match (target, pname) {
            (
                GL_TEXTURE_2D | GL_TEXTURE_CUBE_MAP | GL_TEXTURE_EXTERNAL_OES,
                GL_TEXTURE_WRAP_S
                | GL_TEXTURE_WRAP_T
                | GL_TEXTURE_MIN_FILTER
                | GL_TEXTURE_MAG_FILTER
                | GL_GENERATE_MIPMAP,
            ) => s.gl_tex_parameterfv(target, pname, &plain(params)),
            (
                GL_TEXTURE_2D | GL_TEXTURE_CUBE_MAP | GL_TEXTURE_EXTERNAL_OES,
                GL_TEXTURE_MAX_ANISOTROPY | GL_TEXTURE_CROP_RECT_OES,
            ) => s.gl_tex_parameterfv(target, pname, &floats::<4>(params)),
            _ => Err(GlError::InvalidEnum),
        })
    }
}
