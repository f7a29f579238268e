//! Compares every get of the shadow with the driver's.

use mgn_state::{Answer, Values};
use mgn_wire::gl::*;

use crate::gl::{names, Pair, ROOM};

fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

impl Pair {
    /// Compares all gets in one type each, and with `thorough` in every type. Sometimes the shadow
    /// learns values that it does not know.
    pub fn compare(&mut self, thorough: bool) {
        for (pname, n) in names() {
            let Answer::Values(values) = self.state.get(pname) else {
                self.teach(pname, n);
                continue;
            };
            if self.is_buffer_of_default_framebuffer(pname) {
                continue;
            }
            assert_eq!(values.len(), n, "{pname:#x}");
            self.compare_floats(pname, n, values);
            self.compare_integers(pname, n, values);
            if thorough {
                self.compare_other_types(pname, n, values);
            }
        }
        self.compare_enabled();
        self.compare_indexed();
        self.compare_parameters();
    }

    /// A pbuffer of EGL has a back buffer that it draws to and a front buffer that it reads
    /// from, which are the same. Default framebuffers that programs see make sense.
    fn is_buffer_of_default_framebuffer(&self, pname: u32) -> bool {
        let binding = match pname {
            GL_READ_BUFFER => GL_READ_FRAMEBUFFER_BINDING,
            GL_DRAW_BUFFER | GL_DRAW_BUFFER0..=GL_DRAW_BUFFER7 => GL_DRAW_FRAMEBUFFER_BINDING,
            _ => return false,
        };
        self.state
            .get(binding)
            .values()
            .is_none_or(|v| v.int(0) == 0)
    }

    fn compare_floats(&self, pname: u32, n: usize, values: Values<'_>) {
        let theirs = self.floats(pname);
        let ours: Vec<f32> = (0..n).map(|i| values.float(i)).collect();
        let equal = theirs.is_some_and(|theirs| {
            ours.iter()
                .zip(theirs)
                .all(|(a, b)| same((*a).into(), b.into()))
        });
        let theirs = theirs.map(|v| v[..n].to_vec());
        assert!(
            equal,
            "{pname:#x}: {ours:?}, driver {theirs:?}{}",
            self.tail()
        );
    }

    fn compare_integers(&self, pname: u32, n: usize, values: Values<'_>) {
        let theirs = self.integers(pname).map(|v| v[..n].to_vec());
        let ours: Vec<i32> = (0..n).map(|i| values.int(i)).collect();
        let why = "as integers";
        assert_eq!(
            Some(&ours),
            theirs.as_ref(),
            "{pname:#x} {why}: {values:?}{}",
            self.tail()
        );
    }

    fn compare_other_types(&self, pname: u32, n: usize, values: Values<'_>) {
        let es = matches!(self.api, crate::egl::Api::Es1 | crate::egl::Api::Es3);
        let theirs: Option<[u8; ROOM]> = self.read("glGetBooleanv", pname);
        let ours: Vec<u8> = (0..n).map(|i| values.boolean(i)).collect();
        assert_eq!(
            Some(&ours[..]),
            theirs.as_ref().map(|v| &v[..n]),
            "{pname:#x} as booleans"
        );
        if self.api == crate::egl::Api::Es1 {
            let theirs: Option<[i32; ROOM]> = self.read("glGetFixedv", pname);
            let ours: Vec<i32> = (0..n).map(|i| values.fixed(i)).collect();
            let theirs = theirs.as_ref().map(|v| &v[..n]);
            assert_eq!(
                Some(&ours[..]),
                theirs,
                "{pname:#x} as fixed-point: {values:?}"
            );
        }
        // As wide integers, the driver's matrices overflow.
        if self.api != crate::egl::Api::Es1 && n != 16 {
            let theirs: Option<[i64; ROOM]> = self.read("glGetInteger64v", pname);
            let ours: Vec<i64> = (0..n).map(|i| values.int64(i)).collect();
            let theirs = theirs.as_ref().map(|v| &v[..n]);
            assert_eq!(Some(&ours[..]), theirs, "{pname:#x} as int64: {values:?}");
        }
        if !es {
            let theirs: Option<[f64; ROOM]> = self.read("glGetDoublev", pname);
            let ours: Vec<f64> = (0..n).map(|i| values.double(i)).collect();
            let equal =
                theirs.is_some_and(|theirs| ours.iter().zip(theirs).all(|(a, b)| same(*a, b)));
            assert!(
                equal,
                "{pname:#x} as doubles: {ours:?}, {:?}",
                theirs.map(|v| v[0])
            );
        }
    }

    fn teach(&mut self, pname: u32, n: usize) {
        if !self.random.one_in(4) {
            return;
        }
        if let Some(values) = self.integers(pname) {
            self.state.learn_integers(pname, &values[..n]);
        }
        if let Some(values) = self.floats(pname) {
            self.state.learn_floats(pname, &values[..n]);
        }
    }

    fn compare_enabled(&self) {
        for (cap, _) in names() {
            let Some(ours) = self.state.is_enabled(cap) else {
                continue;
            };
            // SAFETY: the command takes an enum and returns a boolean.
            let theirs = unsafe {
                let f: unsafe extern "C" fn(u32) -> u8 =
                    std::mem::transmute(self.context.proc("glIsEnabled"));
                f(cap)
            };
            assert_eq!(self.error(), 0, "glIsEnabled {cap:#x}");
            assert_eq!(ours, theirs != 0, "glIsEnabled {cap:#x}{}", self.tail());
        }
    }

    fn compare_indexed(&mut self) {
        let pname = INDEXED[self.random.below(INDEXED.len() as u32) as usize];
        for index in 0..18 {
            if let Answer::Values(values) = self.state.get_indexed(pname, index) {
                let theirs = self.read2::<i32>("glGetIntegeri_v", pname, index);
                let ours: Vec<i32> = (0..values.len()).map(|i| values.int(i)).collect();
                let theirs = theirs.map(|v| v[..ours.len()].to_vec());
                assert_eq!(Some(ours), theirs, "{pname:#x} [{index}]{}", self.tail());
            }
            if let Some(ours) = self.state.is_enabled_indexed(pname, index) {
                // SAFETY: the command takes an enum and a number and returns a boolean.
                let theirs = unsafe {
                    let f: unsafe extern "C" fn(u32, u32) -> u8 =
                        std::mem::transmute(self.context.proc("glIsEnabledi"));
                    f(pname, index)
                };
                assert_eq!(
                    (ours, 0),
                    (theirs != 0, self.error()),
                    "{pname:#x} [{index}]"
                );
            }
        }
    }

    /// Gets with an object or a unit in front.
    fn compare_parameters(&mut self) {
        for light in 0..8 {
            for pname in LIGHT {
                let ours = self.state.light(GL_LIGHT0 + light, *pname);
                self.compare_pair("glGetLight", GL_LIGHT0 + light, *pname, ours);
            }
        }
        for face in [GL_FRONT, GL_BACK] {
            for pname in MATERIAL {
                self.compare_pair(
                    "glGetMaterial",
                    face,
                    *pname,
                    self.state.material(face, *pname),
                );
            }
        }
        for &(target, pname) in ENV {
            self.compare_pair(
                "glGetTexEnv",
                target,
                pname,
                self.state.tex_env(target, pname),
            );
        }
        for coord in GL_S..=GL_Q {
            for pname in [GL_TEXTURE_GEN_MODE, GL_OBJECT_PLANE, GL_EYE_PLANE] {
                self.compare_pair(
                    "glGetTexGen",
                    coord,
                    pname,
                    self.state.tex_gen(coord, pname),
                );
            }
        }
        for target in TARGETS {
            for pname in TEXTURE {
                if let Some(ours) = self.state.tex_parameter(*target, *pname) {
                    self.compare_pair("glGetTexParameter", *target, *pname, ours);
                }
            }
        }
        for plane in 0..8 {
            if let Answer::Values(values) = self.state.clip_plane(GL_CLIP_PLANE0 + plane) {
                if self.api == crate::egl::Api::Compat {
                    let theirs = self.read::<f64>("glGetClipPlane", GL_CLIP_PLANE0 + plane);
                    let ours: Vec<f64> = (0..4).map(|i| values.double(i)).collect();
                    let theirs = theirs.map(|v| v[..4].to_vec());
                    assert_eq!(Some(ours), theirs, "clip plane {plane}{}", self.tail());
                }
            }
        }
    }

    fn compare_pair(&self, command: &str, a: u32, b: u32, ours: Answer<'_>) {
        let Answer::Values(values) = ours else {
            return;
        };
        let n = values.len();
        let theirs = self.read2::<f32>(&format!("{command}fv"), a, b);
        let ours: Vec<f32> = (0..n).map(|i| values.float(i)).collect();
        let theirs = theirs.map(|v| v[..n].to_vec());
        let why = format!("{command}fv {a:#x} {b:#x}");
        assert_eq!(Some(ours), theirs, "{why} {:?}{}", self.api, self.tail());
        if self.api == crate::egl::Api::Es1 && command != "glGetTexParameter" {
            return;
        }
        let theirs = self.read2::<i32>(&format!("{command}iv"), a, b);
        let ours: Vec<i32> = (0..n).map(|i| values.int(i)).collect();
        let theirs = theirs.map(|v| v[..n].to_vec());
        assert_eq!(
            Some(ours),
            theirs,
            "{command}iv {a:#x} {b:#x} {values:?}{}",
            self.tail()
        );
    }
}

const INDEXED: &[u32] = &[
    GL_VIEWPORT,
    GL_SCISSOR_BOX,
    GL_DEPTH_RANGE,
    GL_SCISSOR_TEST,
    GL_BLEND,
    GL_BLEND_SRC_RGB,
    GL_BLEND_DST_RGB,
    GL_BLEND_SRC_ALPHA,
    GL_BLEND_DST_ALPHA,
    GL_BLEND_EQUATION_RGB,
    GL_BLEND_EQUATION_ALPHA,
    GL_COLOR_WRITEMASK,
    GL_SAMPLE_MASK_VALUE,
    GL_UNIFORM_BUFFER_BINDING,
    GL_UNIFORM_BUFFER_START,
    GL_UNIFORM_BUFFER_SIZE,
    GL_SHADER_STORAGE_BUFFER_BINDING,
    GL_ATOMIC_COUNTER_BUFFER_BINDING,
];

const LIGHT: &[u32] = &[
    GL_AMBIENT,
    GL_DIFFUSE,
    GL_SPECULAR,
    GL_POSITION,
    GL_SPOT_DIRECTION,
    GL_SPOT_EXPONENT,
    GL_SPOT_CUTOFF,
    GL_CONSTANT_ATTENUATION,
    GL_LINEAR_ATTENUATION,
    GL_QUADRATIC_ATTENUATION,
];

const MATERIAL: &[u32] = &[
    GL_AMBIENT,
    GL_DIFFUSE,
    GL_SPECULAR,
    GL_EMISSION,
    GL_SHININESS,
    GL_COLOR_INDEXES,
];

pub const ENV: &[(u32, u32)] = &[
    (GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE),
    (GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR),
    (GL_TEXTURE_ENV, GL_COMBINE_RGB),
    (GL_TEXTURE_ENV, GL_COMBINE_ALPHA),
    (GL_TEXTURE_ENV, GL_SRC0_RGB),
    (GL_TEXTURE_ENV, GL_SRC1_RGB),
    (GL_TEXTURE_ENV, GL_SRC2_RGB),
    (GL_TEXTURE_ENV, GL_SRC0_ALPHA),
    (GL_TEXTURE_ENV, GL_SRC1_ALPHA),
    (GL_TEXTURE_ENV, GL_SRC2_ALPHA),
    (GL_TEXTURE_ENV, GL_OPERAND0_RGB),
    (GL_TEXTURE_ENV, GL_OPERAND1_RGB),
    (GL_TEXTURE_ENV, GL_OPERAND2_RGB),
    (GL_TEXTURE_ENV, GL_OPERAND0_ALPHA),
    (GL_TEXTURE_ENV, GL_OPERAND1_ALPHA),
    (GL_TEXTURE_ENV, GL_OPERAND2_ALPHA),
    (GL_TEXTURE_ENV, GL_RGB_SCALE),
    (GL_TEXTURE_ENV, GL_ALPHA_SCALE),
    (GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS),
    (GL_POINT_SPRITE, GL_COORD_REPLACE),
];

pub const TARGETS: &[u32] = &[
    GL_TEXTURE_1D,
    GL_TEXTURE_2D,
    GL_TEXTURE_3D,
    GL_TEXTURE_CUBE_MAP,
    GL_TEXTURE_RECTANGLE,
    GL_TEXTURE_1D_ARRAY,
    GL_TEXTURE_2D_ARRAY,
    GL_TEXTURE_CUBE_MAP_ARRAY,
];

pub const TEXTURE: &[u32] = &[
    GL_TEXTURE_MIN_FILTER,
    GL_TEXTURE_MAG_FILTER,
    GL_TEXTURE_WRAP_S,
    GL_TEXTURE_WRAP_T,
    GL_TEXTURE_WRAP_R,
    GL_TEXTURE_BORDER_COLOR,
    GL_TEXTURE_MIN_LOD,
    GL_TEXTURE_MAX_LOD,
    GL_TEXTURE_BASE_LEVEL,
    GL_TEXTURE_MAX_LEVEL,
    GL_TEXTURE_PRIORITY,
    GL_TEXTURE_COMPARE_MODE,
    GL_TEXTURE_COMPARE_FUNC,
    GL_DEPTH_TEXTURE_MODE,
    GL_GENERATE_MIPMAP,
    GL_TEXTURE_LOD_BIAS,
    GL_TEXTURE_SWIZZLE_R,
    GL_TEXTURE_SWIZZLE_A,
    GL_TEXTURE_SWIZZLE_RGBA,
    GL_TEXTURE_MAX_ANISOTROPY,
    GL_TEXTURE_SRGB_DECODE_EXT,
    GL_TEXTURE_CUBE_MAP_SEAMLESS,
    GL_DEPTH_STENCIL_TEXTURE_MODE,
    GL_TEXTURE_REDUCTION_MODE_ARB,
];
