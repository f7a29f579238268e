//! Commands with fixed-point numbers.

use mgn_wire::gl::*;

use crate::gl::{both, Pair};

pub fn step(p: &mut Pair) {
    // Some beyond 1, some within.
    let shift = p.random.below(20);
    let v: [i32; 4] = std::array::from_fn(|_| p.random.next() as i32 >> shift);
    let m: [i32; 16] = std::array::from_fn(|_| p.random.next() as i32 >> shift);
    let [a, b, c, d] = v;
    match p.random.below(9) {
        0 => values(p, v),
        1 => matrices(p, v, m),
        2 => parameters(p, v),
        3 => lights(p, v),
        4 => environment(p, v),
        5 => both!(p, "glColor4x", gl_color4x, (a: i32, b: i32, c: i32, d: i32)),
        6 => both!(p, "glNormal3x", gl_normal3x, (a: i32, b: i32, c: i32)),
        7 => {
            let unit = GL_TEXTURE0 + p.random.below(8);
            both!(p, "glMultiTexCoord4x", gl_multi_tex_coord4x, (unit: u32, a: i32, b: i32, c: i32, d: i32))
        }
        _ => {
            let plane = GL_CLIP_PLANE0 + p.random.below(9);
            both!(p, "glClipPlanex", gl_clip_planex, (plane: u32), [v: i32])
        }
    }
}

fn values(p: &mut Pair, [a, b, c, d]: [i32; 4]) {
    match p.random.below(8) {
        0 => {
            let func = p.random.of(&[GL_LESS, GL_ALWAYS, GL_NEVER, GL_ADD]);
            both!(p, "glAlphaFuncx", gl_alpha_funcx, (func: u32, a: i32))
        }
        1 => both!(p, "glClearColorx", gl_clear_colorx, (a: i32, b: i32, c: i32, d: i32)),
        2 => both!(p, "glClearDepthx", gl_clear_depthx, (a: i32)),
        3 => both!(p, "glDepthRangex", gl_depth_rangex, (a: i32, b: i32)),
        4 => both!(p, "glLineWidthx", gl_line_widthx, (a: i32)),
        5 => both!(p, "glPointSizex", gl_point_sizex, (a: i32)),
        6 => both!(p, "glPolygonOffsetx", gl_polygon_offsetx, (a: i32, b: i32)),
        _ => {
            let invert = (b & 1) as u8;
            both!(p, "glSampleCoveragex", gl_sample_coveragex, (a: i32, invert: u8))
        }
    }
}

fn matrices(p: &mut Pair, [a, b, c, d]: [i32; 4], m: [i32; 16]) {
    match p.random.below(7) {
        0 => both!(p, "glLoadMatrixx", gl_load_matrixx, (), [m: i32]),
        1 => both!(p, "glMultMatrixx", gl_mult_matrixx, (), [m: i32]),
        2 => both!(p, "glRotatex", gl_rotatex, (a: i32, b: i32, c: i32, d: i32)),
        3 => both!(p, "glScalex", gl_scalex, (a: i32, b: i32, c: i32)),
        4 => both!(p, "glTranslatex", gl_translatex, (a: i32, b: i32, c: i32)),
        5 => both!(p, "glFrustumx", gl_frustumx, (a: i32, b: i32, c: i32, d: i32, b: i32, a: i32)),
        _ => both!(p, "glOrthox", gl_orthox, (a: i32, b: i32, c: i32, c: i32, d: i32, a: i32)),
    }
}

fn parameters(p: &mut Pair, v: [i32; 4]) {
    let a = v[0];
    let fog = p.random.of(&[
        GL_FOG_DENSITY,
        GL_FOG_START,
        GL_FOG_END,
        GL_FOG_COLOR,
        GL_FOG_MODE,
        GL_FOG_INDEX,
        GL_FOG_COORD_SRC,
    ]);
    let point = p.random.of(&[
        GL_POINT_SIZE_MIN,
        GL_POINT_SIZE_MAX,
        GL_POINT_FADE_THRESHOLD_SIZE,
        GL_POINT_DISTANCE_ATTENUATION,
        GL_POINT_SPRITE_COORD_ORIGIN,
    ]);
    match p.random.below(5) {
        0 => both!(p, "glFogx", gl_fogx, (fog: u32, a: i32)),
        1 => both!(p, "glFogxv", gl_fogxv, (fog: u32), [v: i32]),
        2 => {
            let modes = [GL_LINEAR, GL_EXP, GL_EXP2, GL_ADD].map(|mode| mode as i32);
            let (pname, mode) = (GL_FOG_MODE, modes[p.random.below(4) as usize]);
            both!(p, "glFogx", gl_fogx, (pname: u32, mode: i32))
        }
        3 => both!(p, "glPointParameterx", gl_point_parameterx, (point: u32, a: i32)),
        _ => both!(p, "glPointParameterxv", gl_point_parameterxv, (point: u32), [v: i32]),
    }
}

fn lights(p: &mut Pair, v: [i32; 4]) {
    let a = v[0];
    let light = GL_LIGHT0 + p.random.below(9);
    let pname = p.random.of(&[
        GL_AMBIENT,
        GL_DIFFUSE,
        GL_SPECULAR,
        GL_POSITION,
        GL_SPOT_DIRECTION,
        GL_SPOT_EXPONENT,
        GL_SPOT_CUTOFF,
        GL_LINEAR_ATTENUATION,
        GL_SHININESS,
        GL_AMBIENT_AND_DIFFUSE,
    ]);
    let face = p
        .random
        .of(&[GL_FRONT, GL_FRONT_AND_BACK, GL_FRONT_AND_BACK]);
    let model = p.random.of(&[
        GL_LIGHT_MODEL_AMBIENT,
        GL_LIGHT_MODEL_TWO_SIDE,
        GL_LIGHT_MODEL_LOCAL_VIEWER,
    ]);
    match p.random.below(6) {
        0 => both!(p, "glLightx", gl_lightx, (light: u32, pname: u32, a: i32)),
        1 => both!(p, "glLightxv", gl_lightxv, (light: u32, pname: u32), [v: i32]),
        2 => both!(p, "glMaterialx", gl_materialx, (face: u32, pname: u32, a: i32)),
        3 => both!(p, "glMaterialxv", gl_materialxv, (face: u32, pname: u32), [v: i32]),
        4 => both!(p, "glLightModelx", gl_light_modelx, (model: u32, a: i32)),
        _ => both!(p, "glLightModelxv", gl_light_modelxv, (model: u32), [v: i32]),
    }
}

fn environment(p: &mut Pair, v: [i32; 4]) {
    let target = p.random.of(&[
        GL_TEXTURE_ENV,
        GL_POINT_SPRITE,
        GL_TEXTURE_FILTER_CONTROL,
        GL_TEXTURE_2D,
    ]);
    let pname = p.random.of(&[
        GL_TEXTURE_ENV_MODE,
        GL_TEXTURE_ENV_COLOR,
        GL_COMBINE_RGB,
        GL_RGB_SCALE,
        GL_COORD_REPLACE,
        GL_TEXTURE_LOD_BIAS,
    ]);
    let value = [GL_MODULATE as i32, GL_ADD as i32, 0x20000, 1, v[0]][p.random.below(5) as usize];
    let parameter = p.random.of(&[
        GL_TEXTURE_WRAP_S,
        GL_TEXTURE_MIN_FILTER,
        GL_GENERATE_MIPMAP,
        GL_TEXTURE_MAX_ANISOTROPY,
    ]);
    let setting = [GL_REPEAT as i32, GL_NEAREST as i32, 0x20000, 1][p.random.below(4) as usize];
    let settings = [setting; 4];
    match p.random.below(4) {
        0 => both!(p, "glTexEnvx", gl_tex_envx, (target: u32, pname: u32, value: i32)),
        1 => both!(p, "glTexEnvxv", gl_tex_envxv, (target: u32, pname: u32), [v: i32]),
        2 => {
            let target = GL_TEXTURE_2D;
            both!(p, "glTexParameterx", gl_tex_parameterx, (target: u32, parameter: u32, setting: i32))
        }
        _ => {
            let target = p.random.of(&[GL_TEXTURE_2D, GL_TEXTURE_1D]);
            both!(p, "glTexParameterxv", gl_tex_parameterxv, (target: u32, parameter: u32), [settings: i32])
        }
    }
}
