//! Commands of the fixed functions, attribute stacks and display lists.

use mgn_wire::gl::*;

use crate::compare::{ENV, TARGETS, TEXTURE};
use crate::egl::Api;
use crate::gl::{both, Pair};

const FACES: &[u32] = &[GL_FRONT, GL_BACK, GL_FRONT_AND_BACK];

pub fn step(p: &mut Pair) {
    match p.random.below(9) {
        0 | 1 => lights(p),
        2 => materials(p),
        3 => fog(p),
        4 => matrices(p),
        5 => units(p),
        6 => current(p),
        7 => tests(p),
        _ => transfer(p),
    }
}

fn lights(p: &mut Pair) {
    let light = GL_LIGHT0 + p.random.below(9);
    let vector = p.random.of(&[
        GL_AMBIENT,
        GL_DIFFUSE,
        GL_SPECULAR,
        GL_POSITION,
        GL_SPOT_DIRECTION,
    ]);
    let scalar = p.random.of(&[
        GL_SPOT_EXPONENT,
        GL_SPOT_CUTOFF,
        GL_CONSTANT_ATTENUATION,
        GL_LINEAR_ATTENUATION,
        GL_QUADRATIC_ATTENUATION,
        GL_AMBIENT,
    ]);
    let v: [f32; 4] = p.random.floats();
    let n: [i32; 4] = std::array::from_fn(|_| p.random.next() as i32);
    let [value] = p.random.floats();
    match p.random.below(8) {
        0 | 1 => both!(p, "glLightfv", gl_lightfv, (light: u32, vector: u32), [v: f32]),
        2 if p.api == Api::Compat => {
            both!(p, "glLightiv", gl_lightiv, (light: u32, vector: u32), [n: i32])
        }
        2 | 3 => both!(p, "glLightf", gl_lightf, (light: u32, scalar: u32, value: f32)),
        4 => {
            let pname = p.random.of(&[
                GL_LIGHT_MODEL_AMBIENT,
                GL_LIGHT_MODEL_TWO_SIDE,
                GL_LIGHT_MODEL_LOCAL_VIEWER,
            ]);
            both!(p, "glLightModelfv", gl_light_modelfv, (pname: u32), [v: f32])
        }
        5 => {
            let pname = p.random.of(&[
                GL_LIGHT_MODEL_COLOR_CONTROL,
                GL_LIGHT_MODEL_TWO_SIDE,
                GL_LIGHT_MODEL_LOCAL_VIEWER,
            ]);
            let value =
                p.random
                    .of(&[GL_SINGLE_COLOR, GL_SEPARATE_SPECULAR_COLOR, 0]) as f32;
            both!(p, "glLightModelf", gl_light_modelf, (pname: u32, value: f32))
        }
        6 => {
            let mode = p.random.of(&[GL_FLAT, GL_SMOOTH]);
            both!(p, "glShadeModel", gl_shade_model, (mode: u32))
        }
        _ if p.api == Api::Compat => {
            let pname = p
                .random
                .of(&[GL_LIGHT_MODEL_AMBIENT, GL_LIGHT_MODEL_TWO_SIDE]);
            both!(p, "glLightModeliv", gl_light_modeliv, (pname: u32), [n: i32])
        }
        _ => {}
    }
}

fn materials(p: &mut Pair) {
    let face = p.random.of(FACES);
    let pname = p.random.of(&[
        GL_AMBIENT,
        GL_DIFFUSE,
        GL_SPECULAR,
        GL_EMISSION,
        GL_SHININESS,
        GL_COLOR_INDEXES,
        GL_AMBIENT_AND_DIFFUSE,
    ]);
    let v: [f32; 4] = p.random.floats();
    let n: [i32; 4] = std::array::from_fn(|_| p.random.next() as i32 >> 3);
    let value = v[0];
    match p.random.below(7) {
        0 | 1 => both!(p, "glMaterialfv", gl_materialfv, (face: u32, pname: u32), [v: f32]),
        2 if p.api == Api::Compat => {
            both!(p, "glMaterialiv", gl_materialiv, (face: u32, pname: u32), [n: i32])
        }
        3 => {
            let pname = p.random.of(&[GL_SHININESS]);
            both!(p, "glMaterialf", gl_materialf, (face: u32, pname: u32, value: f32))
        }
        4 => {
            let mode = p.random.of(&[
                GL_AMBIENT,
                GL_DIFFUSE,
                GL_SPECULAR,
                GL_EMISSION,
                GL_AMBIENT_AND_DIFFUSE,
            ]);
            both!(p, "glColorMaterial", gl_color_material, (face: u32, mode: u32))
        }
        5 => {
            let cap = GL_COLOR_MATERIAL;
            both!(p, "glEnable", gl_enable, (cap: u32))
        }
        _ => {
            let cap = GL_COLOR_MATERIAL;
            both!(p, "glDisable", gl_disable, (cap: u32))
        }
    }
}

fn fog(p: &mut Pair) {
    let v: [f32; 4] = p.random.floats();
    let n: [i32; 4] = std::array::from_fn(|_| p.random.next() as i32);
    let scalar = p
        .random
        .of(&[GL_FOG_DENSITY, GL_FOG_START, GL_FOG_END, GL_FOG_INDEX]);
    let value = v[0];
    match p.random.below(6) {
        0 => {
            let pname = p.random.of(&[GL_FOG_COLOR]);
            both!(p, "glFogfv", gl_fogfv, (pname: u32), [v: f32])
        }
        1 => both!(p, "glFogf", gl_fogf, (scalar: u32, value: f32)),
        2 => {
            let (pname, mode) = (
                GL_FOG_MODE,
                p.random.of(&[GL_LINEAR, GL_EXP, GL_EXP2]) as f32,
            );
            both!(p, "glFogf", gl_fogf, (pname: u32, mode: f32))
        }
        3 => {
            let pname = GL_FOG_COORD_SRC;
            let value = p.random.of(&[GL_FOG_COORD, GL_FRAGMENT_DEPTH]) as f32;
            both!(p, "glFogf", gl_fogf, (pname: u32, value: f32))
        }
        4 => {
            let pname = GL_FOG_DISTANCE_MODE_NV;
            let value = p.random.of(&[GL_EYE_RADIAL_NV, GL_EYE_PLANE]) as f32;
            both!(p, "glFogf", gl_fogf, (pname: u32, value: f32))
        }
        _ if p.api == Api::Compat => {
            let pname = GL_FOG_COLOR;
            both!(p, "glFogiv", gl_fogiv, (pname: u32), [n: i32])
        }
        _ => {}
    }
}

fn matrices(p: &mut Pair) {
    let [x, y, z, angle] = p.random.floats();
    let mut m: [f32; 16] = p.random.floats();
    if p.random.one_in(2) {
        m = std::array::from_fn(|i| if i % 5 == 0 { 1. } else { 0. });
    }
    match p.random.below(14) {
        0 | 1 => both!(p, "glLoadIdentity", gl_load_identity, ()),
        2 => {
            let mode = p.random.of(&[GL_MODELVIEW, GL_PROJECTION, GL_TEXTURE]);
            if mode == GL_TEXTURE && p.state.active_unit() >= 8 {
                return;
            }
            both!(p, "glMatrixMode", gl_matrix_mode, (mode: u32))
        }
        3 | 4 => both!(p, "glPushMatrix", gl_push_matrix, ()),
        5 => both!(p, "glPopMatrix", gl_pop_matrix, ()),
        6 => both!(p, "glLoadMatrixf", gl_load_matrixf, (), [m: f32]),
        7 => both!(p, "glMultMatrixf", gl_mult_matrixf, (), [m: f32]),
        8 | 9 => both!(p, "glTranslatef", gl_translatef, (x: f32, y: f32, z: f32)),
        10 => both!(p, "glScalef", gl_scalef, (x: f32, y: f32, z: f32)),
        11 => both!(p, "glRotatef", gl_rotatef, (angle: f32, x: f32, y: f32, z: f32)),
        _ if p.api != Api::Compat => {}
        12 => {
            let [l, r, b, t, n, f]: [f64; 6] = std::array::from_fn(|_| p.random.float().into());
            if p.random.one_in(2) {
                both!(p, "glOrtho", gl_ortho, (l: f64, r: f64, b: f64, t: f64, n: f64, f: f64));
            } else {
                both!(
                    p,
                    "glFrustum",
                    gl_frustum,
                    (l: f64, r: f64, b: f64, t: f64, n: f64, f: f64)
                );
            }
        }
        _ => {
            let m = m.map(f64::from);
            if p.random.one_in(2) {
                both!(p, "glLoadTransposeMatrixd", gl_load_transpose_matrixd, (), [m: f64]);
            } else {
                both!(p, "glMultMatrixd", gl_mult_matrixd, (), [m: f64]);
            }
        }
    }
}

/// Makes one of the first units active. The driver has no matrices for units beyond the eighth,
/// and crashes where the matrix mode asks for one.
pub fn active_texture(p: &mut Pair, units: u32) {
    let mode = p
        .state
        .get(GL_MATRIX_MODE)
        .values()
        .map(|v| v.int(0) as u32);
    let of_textures = mode.is_none_or(|mode| mode == GL_TEXTURE);
    let texture = GL_TEXTURE0
        + p.random
            .below(if of_textures { 8 } else { units.min(p.units) });
    both!(p, "glActiveTexture", gl_active_texture, (texture: u32));
}

fn units(p: &mut Pair) {
    let v: [f32; 4] = p.random.floats();
    let n: [i32; 4] = std::array::from_fn(|_| p.random.next() as i32);
    let coord = GL_S + p.random.below(4);
    match p.random.below(9) {
        0 => {
            let units = if p.random.one_in(4) { 200 } else { 9 };
            active_texture(p, units);
        }
        1 => {
            let (target, pname) = (GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR);
            both!(p, "glTexEnvfv", gl_tex_envfv, (target: u32, pname: u32), [v: f32])
        }
        2 => {
            let (target, pname) = (GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR);
            both!(p, "glTexEnviv", gl_tex_enviv, (target: u32, pname: u32), [n: i32])
        }
        3 => {
            let (target, pname) = ENV[p.random.below(ENV.len() as u32) as usize];
            let value = p.random.float();
            both!(p, "glTexEnvf", gl_tex_envf, (target: u32, pname: u32, value: f32))
        }
        4 | 5 => {
            let (target, pname) = ENV[p.random.below(ENV.len() as u32) as usize];
            let value = p.random.of(&[
                GL_MODULATE,
                GL_REPLACE,
                GL_ADD,
                GL_COMBINE,
                GL_DECAL,
                GL_SUBTRACT,
                GL_DOT3_RGB,
                GL_PREVIOUS,
                GL_CONSTANT,
                GL_TEXTURE1,
                GL_SRC_ALPHA,
                GL_ONE_MINUS_SRC_COLOR,
                1,
                2,
                4,
            ]) as i32;
            both!(p, "glTexEnvi", gl_tex_envi, (target: u32, pname: u32, value: i32))
        }
        _ if p.api != Api::Compat => {}
        6 => {
            let pname = p.random.of(&[GL_OBJECT_PLANE, GL_EYE_PLANE]);
            both!(p, "glTexGenfv", gl_tex_genfv, (coord: u32, pname: u32), [v: f32])
        }
        7 => {
            let pname = p.random.of(&[GL_TEXTURE_GEN_MODE, GL_OBJECT_PLANE]);
            let mode = p.random.of(&[
                GL_OBJECT_LINEAR,
                GL_EYE_LINEAR,
                GL_SPHERE_MAP,
                GL_REFLECTION_MAP,
                GL_NORMAL_MAP,
            ]) as i32;
            both!(p, "glTexGeni", gl_tex_geni, (coord: u32, pname: u32, mode: i32))
        }
        _ => {
            let texture = GL_TEXTURE0 + p.random.below(9);
            both!(p, "glClientActiveTexture", gl_client_active_texture, (texture: u32))
        }
    }
}

fn current(p: &mut Pair) {
    use mgn_state::current;
    let v: [f32; 4] = p.random.floats();
    let [x, y, z, w] = v;
    let three = [x, y, z, 1.];
    let unit = p.random.below(8);
    let (attribute, value) = match p.random.below(5) {
        0 => (current::COLOR, v),
        1 => (current::NORMAL, three),
        2 => (current::SECONDARY_COLOR, three),
        3 => (current::FOG_COORD, [x, 0., 0., 1.]),
        _ => (current::TEXTURE + unit as usize, v),
    };
    if p.api == Api::Es1 && matches!(attribute, current::SECONDARY_COLOR | current::FOG_COORD) {
        return;
    }
    // SAFETY: these are the commands' types.
    unsafe {
        let four = |name: &str| -> unsafe extern "C" fn(f32, f32, f32, f32) {
            std::mem::transmute(p.context.proc(name))
        };
        let three = |name: &str| -> unsafe extern "C" fn(f32, f32, f32) {
            std::mem::transmute(p.context.proc(name))
        };
        match attribute {
            current::COLOR => four("glColor4f")(x, y, z, w),
            current::NORMAL => three("glNormal3f")(x, y, z),
            current::SECONDARY_COLOR => three("glSecondaryColor3f")(x, y, z),
            current::FOG_COORD => {
                let f: unsafe extern "C" fn(f32) =
                    std::mem::transmute(p.context.proc("glFogCoordf"));
                f(x)
            }
            _ => {
                let f: unsafe extern "C" fn(u32, f32, f32, f32, f32) =
                    std::mem::transmute(p.context.proc("glMultiTexCoord4f"));
                f(GL_TEXTURE0 + unit, x, y, z, w)
            }
        }
    }
    p.state.set_current(attribute, value);
    p.agree(format!("attribute {attribute} {value:?}"), Ok(()));
}

fn tests(p: &mut Pair) {
    let [value] = p.random.floats();
    match p.random.below(7) {
        0 => {
            let func = p.random.of(&[GL_LESS, GL_ALWAYS, GL_GEQUAL]);
            both!(p, "glAlphaFunc", gl_alpha_func, (func: u32, value: f32))
        }
        _ if p.api != Api::Compat => {}
        1 => {
            let (factor, pattern) = (p.random.int(-2, 300), p.random.next() as u16);
            both!(p, "glLineStipple", gl_line_stipple, (factor: i32, pattern: u16))
        }
        2 => {
            let [r, g, b, a] = p.random.floats();
            both!(p, "glClearAccum", gl_clear_accum, (r: f32, g: f32, b: f32, a: f32))
        }
        3 => both!(p, "glClearIndex", gl_clear_index, (value: f32)),
        4 => {
            let mask = p.random.next();
            both!(p, "glIndexMask", gl_index_mask, (mask: u32))
        }
        5 => {
            let plane = GL_CLIP_PLANE0 + p.random.below(9);
            let v: [f64; 4] = p.random.floats::<4>().map(f64::from);
            both!(p, "glClipPlane", gl_clip_plane, (plane: u32), [v: f64])
        }
        _ => {
            let (front, back) = (p.random.of(&[GL_LESS, GL_ALWAYS]), GL_GREATER);
            let (value, mask) = (p.random.int(-2, 300), p.random.next());
            both!(
                p,
                "glStencilFuncSeparateATI",
                gl_stencil_func_separate_ati,
                (front: u32, back: u32, value: i32, mask: u32)
            )
        }
    }
}

fn transfer(p: &mut Pair) {
    if p.api != Api::Compat {
        return;
    }
    let pname = p.random.of(&[
        GL_MAP_COLOR,
        GL_MAP_STENCIL,
        GL_INDEX_SHIFT,
        GL_INDEX_OFFSET,
        GL_RED_SCALE,
        GL_RED_BIAS,
        GL_GREEN_SCALE,
        GL_BLUE_BIAS,
        GL_ALPHA_SCALE,
        GL_ALPHA_BIAS,
        GL_DEPTH_SCALE,
        GL_DEPTH_BIAS,
    ]);
    let [x, y] = p.random.floats();
    let (un, vn) = (p.random.int(-1, 9), p.random.int(0, 9));
    match p.random.below(5) {
        0 | 1 => both!(p, "glPixelTransferf", gl_pixel_transferf, (pname: u32, x: f32)),
        2 => both!(p, "glPixelZoom", gl_pixel_zoom, (x: f32, y: f32)),
        3 => both!(p, "glMapGrid1f", gl_map_grid1f, (un: i32, x: f32, y: f32)),
        _ => both!(
            p,
            "glMapGrid2f",
            gl_map_grid2f,
            (un: i32, x: f32, y: f32, vn: i32, y: f32, x: f32)
        ),
    }
}

/// Pushes and pops attributes.
pub fn stacks(p: &mut Pair) {
    let mask = match p.random.below(4) {
        0 => GL_ALL_ATTRIB_BITS,
        1 => 1 << p.random.below(20),
        2 => GL_ENABLE_BIT | GL_TEXTURE_BIT,
        _ => p.random.next() & p.random.next(),
    };
    match p.random.below(7) {
        0 | 1 => both!(p, "glPushAttrib", gl_push_attrib, (mask: u32)),
        2..=4 => both!(p, "glPopAttrib", gl_pop_attrib, ()),
        5 => both!(p, "glPushClientAttrib", gl_push_client_attrib, (mask: u32)),
        _ => both!(p, "glPopClientAttrib", gl_pop_client_attrib, ()),
    }
}

/// Compiles a few commands into a list, or calls one.
pub fn lists(p: &mut Pair) {
    let name = 1 + p.random.below(6);
    match p.random.below(4) {
        0 => {
            let mode = p.random.of(&[GL_COMPILE, GL_COMPILE_AND_EXECUTE]);
            both!(p, "glNewList", gl_new_list, (name: u32, mode: u32));
            if p.state
                .get(GL_LIST_INDEX)
                .values()
                .is_none_or(|v| v.int(0) == 0)
            {
                return;
            }
            for _ in 0..p.random.below(6) {
                match p.random.below(10) {
                    0 => {
                        // Lists that call themselves take forever.
                        let name = p.random.below(name);
                        both!(p, "glCallList", gl_call_list, (name: u32))
                    }
                    1..=4 => step(p),
                    _ => crate::commands::step(p),
                }
            }
            p.compare(false);
            both!(p, "glEndList", gl_end_list, ());
        }
        1 => {
            let lists: [u8; 3] = std::array::from_fn(|_| p.random.below(7) as u8);
            let (n, type_) = (3i32, GL_UNSIGNED_BYTE);
            both!(p, "glCallLists", gl_call_lists, (n: i32, type_: u32), [lists: u8])
        }
        2 => {
            let base = p.random.below(3);
            both!(p, "glListBase", gl_list_base, (base: u32))
        }
        _ => both!(p, "glCallList", gl_call_list, (name: u32)),
    }
}

/// Parameters of the textures that are bound.
pub fn tex_parameters(p: &mut Pair) {
    let target = p.random.of(TARGETS);
    let pname = p.random.of(TEXTURE);
    let value = p.random.of(&[
        GL_NEAREST,
        GL_LINEAR,
        GL_NEAREST_MIPMAP_LINEAR,
        GL_REPEAT,
        GL_CLAMP,
        GL_CLAMP_TO_EDGE,
        GL_CLAMP_TO_BORDER,
        GL_MIRRORED_REPEAT,
        GL_LESS,
        GL_COMPARE_REF_TO_TEXTURE,
        GL_RED,
        GL_ALPHA,
        GL_LUMINANCE,
        0,
        1,
        3,
    ]) as i32;
    let float = value as f32;
    let v: [f32; 4] = p.random.floats();
    let n: [i32; 4] = [value, p.random.next() as i32, 7, 9];
    match p.random.below(6) {
        0..=2 => both!(
            p,
            "glTexParameteri",
            gl_tex_parameteri,
            (target: u32, pname: u32, value: i32)
        ),
        3 => both!(
            p,
            "glTexParameterf",
            gl_tex_parameterf,
            (target: u32, pname: u32, float: f32)
        ),
        4 => both!(p, "glTexParameterfv", gl_tex_parameterfv, (target: u32, pname: u32), [v: f32]),
        _ => both!(p, "glTexParameteriv", gl_tex_parameteriv, (target: u32, pname: u32), [n: i32]),
    }
}
