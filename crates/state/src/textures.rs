//! Texture objects: their names and parameters.

use mgn_wire::gl::*;

use crate::fragments::is_comparison;
use crate::limits::Api;
use crate::raster::{check, enum_of, floats, ints};
use crate::slots::{is_unknown, UNKNOWN};
use crate::units::{binding, target_index, TARGETS};
use crate::{Answer, Class, GlError, State};

/// Values of a texture's parameters, in the order of [`place`].
const VALUES: usize = 28;

pub(crate) type Parameters = [f64; VALUES];

/// A texture, as far as `glGetTexParameter*` shows it.
#[derive(Clone, Debug)]
pub(crate) struct Texture {
    /// 0 while the name was only generated.
    pub target: u32,
    /// An attribute stack bound it after it was deleted: whether it exists, and as what, only
    /// the driver knows.
    pub revived: bool,
    /// Its storage was made once and for all, for all that is known, which limits its levels.
    immutable: bool,
    pub parameters: Parameters,
}

/// Offset, number and class of a parameter's values.
fn place(pname: u32) -> Option<(usize, usize, Class)> {
    Some(match pname {
        GL_TEXTURE_MIN_FILTER => (0, 1, Class::Int),
        GL_TEXTURE_MAG_FILTER => (1, 1, Class::Int),
        GL_TEXTURE_WRAP_S => (2, 1, Class::Int),
        GL_TEXTURE_WRAP_T => (3, 1, Class::Int),
        GL_TEXTURE_WRAP_R => (4, 1, Class::Int),
        GL_TEXTURE_BORDER_COLOR => (5, 4, Class::Clamped),
        GL_TEXTURE_MIN_LOD => (9, 1, Class::Float),
        GL_TEXTURE_MAX_LOD => (10, 1, Class::Float),
        GL_TEXTURE_BASE_LEVEL => (11, 1, Class::Int),
        GL_TEXTURE_MAX_LEVEL => (12, 1, Class::Int),
        GL_TEXTURE_PRIORITY => (13, 1, Class::Unit),
        GL_TEXTURE_COMPARE_MODE => (14, 1, Class::Int),
        GL_TEXTURE_COMPARE_FUNC => (15, 1, Class::Int),
        GL_DEPTH_TEXTURE_MODE => (16, 1, Class::Int),
        GL_GENERATE_MIPMAP => (17, 1, Class::Bool),
        GL_TEXTURE_LOD_BIAS => (18, 1, Class::Float),
        GL_TEXTURE_SWIZZLE_RGBA => (19, 4, Class::Int),
        GL_TEXTURE_SWIZZLE_R..=GL_TEXTURE_SWIZZLE_A => {
            (19 + (pname - GL_TEXTURE_SWIZZLE_R) as usize, 1, Class::Int)
        }
        GL_TEXTURE_MAX_ANISOTROPY => (23, 1, Class::Float),
        GL_TEXTURE_SRGB_DECODE_EXT => (24, 1, Class::Int),
        GL_TEXTURE_CUBE_MAP_SEAMLESS => (25, 1, Class::Bool),
        GL_DEPTH_STENCIL_TEXTURE_MODE => (26, 1, Class::Int),
        GL_TEXTURE_REDUCTION_MODE_ARB => (27, 1, Class::Int),
        _ => return None,
    })
}

impl Texture {
    pub fn new(target: u32) -> Texture {
        match target {
            GL_TEXTURE_RECTANGLE | GL_TEXTURE_EXTERNAL_OES => {
                Texture::sampled(target, GL_LINEAR, GL_LINEAR, GL_CLAMP_TO_EDGE)
            }
            _ => Texture::sampled(target, GL_NEAREST_MIPMAP_LINEAR, GL_LINEAR, GL_REPEAT),
        }
    }

    /// The texture of a name that is bound for the first time: Mesa then has other values for
    /// multisample textures than for those that are made with a target.
    pub fn first_bound(target: u32) -> Texture {
        match target {
            GL_TEXTURE_2D_MULTISAMPLE | GL_TEXTURE_2D_MULTISAMPLE_ARRAY => {
                Texture::sampled(target, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE)
            }
            _ => Texture::new(target),
        }
    }

    fn sampled(target: u32, filter: u32, magnified: u32, wrap: u32) -> Texture {
        let mut parameters = [0.; VALUES];
        for (pname, value) in [
            (GL_TEXTURE_MIN_FILTER, filter),
            (GL_TEXTURE_MAG_FILTER, magnified),
            (GL_TEXTURE_WRAP_S, wrap),
            (GL_TEXTURE_WRAP_T, wrap),
            (GL_TEXTURE_WRAP_R, wrap),
            (GL_TEXTURE_MAX_LEVEL, 1000),
            (GL_TEXTURE_MAX_LOD, 1000),
            (GL_TEXTURE_PRIORITY, 1),
            (GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL),
            (GL_DEPTH_TEXTURE_MODE, GL_LUMINANCE),
            (GL_TEXTURE_SWIZZLE_R, GL_RED),
            (GL_TEXTURE_SWIZZLE_G, GL_GREEN),
            (GL_TEXTURE_SWIZZLE_B, GL_BLUE),
            (GL_TEXTURE_SWIZZLE_A, GL_ALPHA),
            (GL_TEXTURE_MAX_ANISOTROPY, 1),
            (GL_TEXTURE_SRGB_DECODE_EXT, GL_DECODE_EXT),
            (GL_DEPTH_STENCIL_TEXTURE_MODE, GL_DEPTH_COMPONENT),
            (GL_TEXTURE_REDUCTION_MODE_ARB, GL_WEIGHTED_AVERAGE_ARB),
        ] {
            if let Some((offset, ..)) = place(pname) {
                parameters[offset] = value.into();
            }
        }
        parameters[9] = -1000.;
        Texture {
            target,
            revived: false,
            immutable: false,
            parameters,
        }
    }

    /// Leaves all parameters to the driver, and what its levels are limited to.
    pub fn forget(&mut self) {
        self.immutable = true;
        self.parameters = [UNKNOWN; VALUES];
    }

    /// The texture of a name that was only generated.
    pub fn reserved() -> Texture {
        Texture::new(0)
    }

    fn set(&mut self, pname: u32, v: [f64; 4]) -> Result<(), Doubt> {
        let (offset, values, class) = place(pname).ok_or(Doubt::Unknown)?;
        let at = offset..offset + values;
        let v = match class {
            Class::Int | Class::Bool => v.map(f64::trunc),
            _ => v,
        };
        let is_integer = |v: &f64| (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(v);
        let judged = match class {
            // How a driver converts other floats depends on the machine.
            Class::Int | Class::Bool if !v.iter().all(is_integer) => Err(Doubt::Unknown),
            _ => valid(self, pname, v),
        };
        match judged {
            Ok(()) => self.parameters[at].copy_from_slice(&v[..values]),
            Err(Doubt::Error(error)) => return Err(Doubt::Error(error)),
            Err(Doubt::Unknown) => {
                self.parameters[at].fill(UNKNOWN);
                return Err(Doubt::Unknown);
            }
        }
        Ok(())
    }
}

enum Doubt {
    Error(GlError),
    /// Only the driver knows whether it accepts this.
    Unknown,
}

impl From<GlError> for Doubt {
    fn from(error: GlError) -> Doubt {
        Doubt::Error(error)
    }
}

/// Whether a texture takes a value, in the profiles of desktop OpenGL.
fn valid(texture: &Texture, pname: u32, v: [f64; 4]) -> Result<(), Doubt> {
    let value = enum_of(v[0] as f32);
    let one_level = matches!(
        texture.target,
        GL_TEXTURE_RECTANGLE | GL_TEXTURE_EXTERNAL_OES
    );
    match texture.target {
        GL_TEXTURE_2D_MULTISAMPLE | GL_TEXTURE_2D_MULTISAMPLE_ARRAY | GL_TEXTURE_BUFFER => {
            return Err(Doubt::Unknown)
        }
        _ => {}
    }
    let sure = match pname {
        GL_TEXTURE_MIN_FILTER | GL_TEXTURE_MAG_FILTER => match value {
            GL_NEAREST | GL_LINEAR => true,
            GL_NEAREST_MIPMAP_NEAREST..=GL_LINEAR_MIPMAP_LINEAR => {
                check(!one_level && pname == GL_TEXTURE_MIN_FILTER)?;
                true
            }
            _ => return Err(GlError::InvalidEnum.into()),
        },
        GL_TEXTURE_WRAP_S | GL_TEXTURE_WRAP_T | GL_TEXTURE_WRAP_R => match value {
            GL_CLAMP_TO_EDGE => true,
            GL_REPEAT | GL_MIRRORED_REPEAT | GL_CLAMP_TO_BORDER => !one_level,
            _ => false,
        },
        GL_TEXTURE_BORDER_COLOR | GL_TEXTURE_MIN_LOD | GL_TEXTURE_MAX_LOD => true,
        GL_TEXTURE_BASE_LEVEL | GL_TEXTURE_MAX_LEVEL => {
            v[0] >= 0. && !one_level && !texture.immutable
        }
        GL_TEXTURE_PRIORITY => (0. ..=1.).contains(&v[0]),
        GL_TEXTURE_COMPARE_MODE => matches!(value, GL_NONE | GL_COMPARE_REF_TO_TEXTURE),
        GL_TEXTURE_COMPARE_FUNC => is_comparison(value),
        GL_TEXTURE_SWIZZLE_RGBA => v.into_iter().all(is_swizzle),
        GL_TEXTURE_SWIZZLE_R..=GL_TEXTURE_SWIZZLE_A => is_swizzle(v[0]),
        GL_TEXTURE_MAX_ANISOTROPY => v[0] == 1.,
        GL_DEPTH_TEXTURE_MODE => matches!(value, GL_LUMINANCE | GL_INTENSITY | GL_ALPHA),
        GL_GENERATE_MIPMAP => v[0] == 0. || v[0] == 1.,
        GL_TEXTURE_LOD_BIAS => true,
        _ => false,
    };
    match sure {
        true => Ok(()),
        false => Err(Doubt::Unknown),
    }
}

fn is_swizzle(value: f64) -> bool {
    matches!(
        enum_of(value as f32),
        GL_RED | GL_GREEN | GL_BLUE | GL_ALPHA | GL_ZERO | GL_ONE
    )
}

impl State {
    /// Takes names for textures, as `glGenTextures` returned them.
    pub fn gl_gen_textures(&mut self, names: &[u32]) {
        let mut objects = self.shared.lock();
        for &name in names {
            objects.textures.insert(name, Texture::reserved());
        }
    }

    pub fn gl_delete_textures(&mut self, names: &[u32]) {
        let mut objects = self.shared.lock();
        for name in names {
            objects.textures.remove(name);
        }
        drop(objects);
        self.unbind_textures(names);
    }

    pub fn gl_tex_parameterfv(
        &mut self,
        target: u32,
        pname: u32,
        params: &[f32],
    ) -> Result<(), GlError> {
        let v = floats::<4>(params);
        listed!(self, gl_tex_parameterfv(target, pname, &v));
        self.set_tex_parameter(target, pname, v.map(f64::from))
    }

    pub fn gl_tex_parameterf(
        &mut self,
        target: u32,
        pname: u32,
        param: f32,
    ) -> Result<(), GlError> {
        listed!(self, gl_tex_parameterf(target, pname, param));
        match place(pname) {
            Some((_, 1, Class::Int | Class::Bool)) => {
                // Mesa rounds what this command sets, and cuts what the one with an array sets.
                let rounded = f64::from(param).round();
                self.set_tex_parameter(target, pname, [rounded, 0., 0., 0.])
            }
            Some((_, 1, _)) => self.set_tex_parameter(target, pname, [param.into(), 0., 0., 0.]),
            // These take an array.
            Some(_) => Err(GlError::InvalidEnum),
            None => self.unsure(),
        }
    }

    pub fn gl_tex_parameteri(
        &mut self,
        target: u32,
        pname: u32,
        param: i32,
    ) -> Result<(), GlError> {
        listed!(self, gl_tex_parameteri(target, pname, param));
        match place(pname) {
            Some((_, 1, _)) => self.set_tex_parameter(target, pname, [param.into(), 0., 0., 0.]),
            Some(_) => Err(GlError::InvalidEnum),
            None => self.unsure(),
        }
    }

    pub fn gl_tex_parameteriv(
        &mut self,
        target: u32,
        pname: u32,
        params: &[i32],
    ) -> Result<(), GlError> {
        let v = ints::<4>(params);
        listed!(self, gl_tex_parameteriv(target, pname, &v));
        let v = match pname {
            GL_TEXTURE_BORDER_COLOR => v.map(crate::lighting::normalized).map(f64::from),
            _ => v.map(f64::from),
        };
        self.set_tex_parameter(target, pname, v)
    }

    pub fn gl_tex_parameter_iiv(
        &mut self,
        target: u32,
        pname: u32,
        params: &[i32],
    ) -> Result<(), GlError> {
        let v = ints::<4>(params);
        listed!(self, gl_tex_parameter_iiv(target, pname, &v));
        match pname {
            // Kept as integers.
            GL_TEXTURE_BORDER_COLOR => self.forget_tex_parameter(target, pname),
            _ => self.set_tex_parameter(target, pname, v.map(f64::from)),
        }
    }

    pub fn gl_tex_parameter_iuiv(
        &mut self,
        target: u32,
        pname: u32,
        params: &[u32],
    ) -> Result<(), GlError> {
        let v: [u32; 4] = std::array::from_fn(|i| params.get(i).copied().unwrap_or(0));
        self.gl_tex_parameter_iiv(target, pname, &v.map(|v| v as i32))
    }

    fn set_tex_parameter(&mut self, target: u32, pname: u32, v: [f64; 4]) -> Result<(), GlError> {
        if pname == GL_GENERATE_MIPMAP {
            self.shared.texture_is_special();
        }
        let usual = match self.limits.api {
            Api::Compat => true,
            Api::Core => !only_compatible(pname),
            Api::Es if self.limits.es3() => shown_in_es(pname),
            _ => matches!(pname, GL_TEXTURE_MIN_FILTER | GL_TEXTURE_MAG_FILTER),
        };
        if !usual {
            return self.forget_tex_parameter(target, pname);
        }
        let Some((index, name)) = self.bound(target) else {
            self.shared.forget_target(target);
            return self.unsure();
        };
        let shared = self.shared.clone();
        match shared.with_texture(index, name, |texture| texture.set(pname, v)) {
            Some(Err(Doubt::Error(error))) => Err(error),
            Some(Ok(())) => Ok(()),
            Some(Err(Doubt::Unknown)) | None => self.unsure(),
        }
    }

    fn forget_tex_parameter(&mut self, target: u32, pname: u32) -> Result<(), GlError> {
        if let (Some((index, name)), Some((offset, values, _))) = (self.bound(target), place(pname))
        {
            self.shared.with_texture(index, name, |texture| {
                texture.parameters[offset..offset + values].fill(UNKNOWN);
            });
        } else {
            self.shared.forget_target(target);
        }
        self.unsure()
    }

    /// The number of the target and the name of the texture bound to it.
    fn bound(&self, target: u32) -> Option<(usize, u32)> {
        let index = target_index(target).filter(|&i| self.has(TARGETS[i].1))?;
        let name = self.known(self.unit_at(binding(index))?)?;
        Some((index, name as u32))
    }

    /// `glGetTexParameter*v`, as the integers or floats that a texture has; `None` if only the
    /// driver knows.
    pub fn tex_parameter(&self, target: u32, pname: u32) -> Option<Answer<'static>> {
        let (offset, values, class) = place(pname)?;
        let shown = match self.limits.api {
            Api::Compat => true,
            Api::Core => !only_compatible(pname),
            Api::Es if self.limits.es3() => shown_in_es(pname),
            _ => offset < 4,
        };
        let (index, name) = self.bound(target).filter(|_| shown)?;
        let mut out = [0.; 4];
        self.shared.with_texture(index, name, |texture| {
            out[..values].copy_from_slice(&texture.parameters[offset..offset + values]);
        })?;
        if out.iter().any(|&v| is_unknown(v)) {
            return None;
        }
        match class {
            Class::Clamped if !out.iter().all(|v| (0. ..=1.).contains(v)) => None,
            class => Some(Answer::few(class, out, values)),
        }
    }

    pub fn gl_tex_storage1d(&mut self, target: u32, _levels: i32, _format: u32, _width: i32) {
        self.tex_storage(target);
    }

    pub fn gl_tex_storage2d(&mut self, target: u32, levels: i32, format: u32, w: i32, _h: i32) {
        self.gl_tex_storage1d(target, levels, format, w);
    }

    #[allow(clippy::too_many_arguments)]
    pub fn gl_tex_storage3d(
        &mut self,
        target: u32,
        levels: i32,
        format: u32,
        width: i32,
        _height: i32,
        _depth: i32,
    ) {
        self.gl_tex_storage1d(target, levels, format, width);
    }

    pub fn gl_egl_image_target_tex_storage_ext(&mut self, target: u32) {
        self.tex_storage(target);
    }

    /// The texture has got immutable storage, which limits its levels.
    fn tex_storage(&mut self, target: u32) {
        self.shared.texture_is_special();
        self.doubt = true;
        let Some((index, name)) = self.bound(target) else {
            self.shared.forget_target(target);
            return;
        };
        self.shared.with_texture(index, name, |texture| {
            texture.immutable = true;
            texture.parameters[11..13].fill(UNKNOWN);
        });
    }

    /// Whether this context has textures of a target.
    pub fn has_texture_target(&self, target: u32) -> bool {
        target_index(target).is_some_and(|i| self.has(TARGETS[i].1))
    }

    /// A texture was made, and is one of `target` from the beginning.
    pub fn texture_made(&mut self, name: u32, target: u32) {
        let mut objects = self.shared.lock();
        objects.textures.insert(name, Texture::new(target));
    }

    /// The target of a texture; 0 if it has none yet.
    pub fn texture_target(&self, name: u32) -> u32 {
        self.shared.texture_target(name).unwrap_or(0)
    }

    /// A command by name makes a texture of `target`, or of the cube that it is a face of, unless
    /// it is one already.
    pub fn use_texture(&mut self, name: u32, target: u32) {
        let target = match target {
            GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z => GL_TEXTURE_CUBE_MAP,
            target => target,
        };
        if self.has_texture_target(target) {
            let invent = self.limits.api != Api::Core;
            // One of another target is refused by the driver.
            let _ = self.shared.use_texture(name, target, invent);
        }
    }

    /// Only the driver knows a texture's parameters now: a command changed them by name.
    pub fn forget_texture(&mut self, name: u32) {
        let mut objects = self.shared.lock();
        match objects.textures.get_mut(&name) {
            Some(texture) => texture.forget(),
            // EXT_direct_state_access calls the default texture of any target so.
            None if name == 0 => objects.defaults.iter_mut().for_each(Texture::forget),
            None => {}
        }
    }

    pub fn gl_gen_samplers(&mut self, names: &[u32]) {
        self.shared.lock().samplers.extend(names);
    }

    pub fn gl_delete_samplers(&mut self, names: &[u32]) {
        let mut objects = self.shared.lock();
        names.iter().for_each(|name| {
            objects.samplers.remove(name);
        });
        drop(objects);
        self.unbind_samplers(names);
    }
}

fn only_compatible(pname: u32) -> bool {
    matches!(
        pname,
        GL_DEPTH_TEXTURE_MODE | GL_GENERATE_MIPMAP | GL_TEXTURE_PRIORITY
    )
}

/// Parameters that every ES 3 shows.
fn shown_in_es(pname: u32) -> bool {
    matches!(
        pname,
        GL_TEXTURE_MIN_FILTER
            | GL_TEXTURE_MAG_FILTER
            | GL_TEXTURE_WRAP_S
            | GL_TEXTURE_WRAP_T
            | GL_TEXTURE_WRAP_R
            | GL_TEXTURE_MIN_LOD
            | GL_TEXTURE_MAX_LOD
            | GL_TEXTURE_BASE_LEVEL
            | GL_TEXTURE_MAX_LEVEL
            | GL_TEXTURE_COMPARE_MODE
            | GL_TEXTURE_COMPARE_FUNC
            | GL_TEXTURE_SWIZZLE_R..=GL_TEXTURE_SWIZZLE_A
    )
}
