//! Gets of parameters: of lights, materials and textures, and of indexed state.

use super::answer::take;
use crate::current::context;
use mgn_state::{Answer, State, Values};
use mgn_wire::gl::{GL_TEXTURE_MATRIX, GL_TRANSPOSE_TEXTURE_MATRIX};
use mgn_wire::ops;
use mgn_wire::sizes::gets;

/// Writes the value if the shadow knows it, and returns whether it does.
///
/// # Safety
/// `data` has room for the values.
unsafe fn write<T>(
    answer: Answer<'_>,
    data: *mut T,
    value: impl Fn(&Values<'_>, usize) -> T,
) -> bool {
    let Answer::Values(known) = answer else {
        return false;
    };
    for i in 0..known.len() {
        // SAFETY: the caller's promise.
        unsafe { data.add(i).write(value(&known, i)) };
    }
    true
}

/// A parameter of a bound texture.
fn tex_parameter(state: &State, target: u32, pname: u32) -> Answer<'_> {
    state
        .tex_parameter(target, pname)
        .unwrap_or(Answer::Unknown)
}

/// Parameters by two enums, such as a light and the name of one of its parameters.
macro_rules! parameters {
    ($($name:ident: $type:ty, $value:ident, $shadow:path, $ask:ident, $op:ident;)*) => {$(
        pub unsafe extern "C" fn $name(of: u32, pname: u32, data: *mut $type) {
            // SAFETY: the only reference in use, to the thread's own context; the program has room
            // for the values of `pname`.
            unsafe {
                let cx = context();
                if cx.is_illegal_now() {
                    return cx.illegal_in_begin();
                }
                if write($shadow(&cx.gl.state, of, pname), data, |known, i| known.$value(i)) {
                    return;
                }
                let most = gets::parameter(pname);
                cx.enc.$ask(of, pname, most as u32);
                take(cx.answer(ops::$op), data, most);
            }
        }
    )*};
}

parameters! {
    glGetLightfv: f32, float, State::light, gl_get_lightfv, GL_GET_LIGHTFV;
    glGetLightiv: i32, int, State::light, gl_get_lightiv, GL_GET_LIGHTIV;
    glGetMaterialfv: f32, float, State::material, gl_get_materialfv, GL_GET_MATERIALFV;
    glGetMaterialiv: i32, int, State::material, gl_get_materialiv, GL_GET_MATERIALIV;
    glGetTexEnvfv: f32, float, State::tex_env, gl_get_tex_envfv, GL_GET_TEX_ENVFV;
    glGetTexEnviv: i32, int, State::tex_env, gl_get_tex_enviv, GL_GET_TEX_ENVIV;
    glGetTexGenfv: f32, float, State::tex_gen, gl_get_tex_genfv, GL_GET_TEX_GENFV;
    glGetTexGeniv: i32, int, State::tex_gen, gl_get_tex_geniv, GL_GET_TEX_GENIV;
    glGetTexGendv: f64, double, State::tex_gen, gl_get_tex_gendv, GL_GET_TEX_GENDV;
    glGetTexParameterfv: f32, float, tex_parameter, gl_get_tex_parameterfv, GL_GET_TEX_PARAMETERFV;
    glGetTexParameteriv: i32, int, tex_parameter, gl_get_tex_parameteriv, GL_GET_TEX_PARAMETERIV;
}

pub unsafe extern "C" fn glGetClipPlane(plane: u32, equation: *mut f64) {
    // SAFETY: as above; the program has room for the equation.
    unsafe {
        let cx = context();
        if cx.is_illegal_now() {
            return cx.illegal_in_begin();
        }
        if write(cx.gl.state.clip_plane(plane), equation, |known, i| {
            known.double(i)
        }) {
            return;
        }
        cx.enc.gl_get_clip_plane(plane, gets::CLIP_PLANE as u32);
        take(
            cx.answer(ops::GL_GET_CLIP_PLANE),
            equation,
            gets::CLIP_PLANE,
        );
    }
}

/// Matrices of a texture unit can only be read as floats or doubles. For other types Mesa writes
/// nothing.
fn without_matrices(pname: u32) -> usize {
    match pname {
        GL_TEXTURE_MATRIX | GL_TRANSPOSE_TEXTURE_MATRIX => 0,
        _ => gets::indexed(pname),
    }
}

/// Indexed state.
macro_rules! indexed {
    ($($name:ident: $type:ty, $value:ident, $ask:ident, $op:ident, $most:path;)*) => {$(
        pub unsafe extern "C" fn $name(pname: u32, index: u32, data: *mut $type) {
            // SAFETY: as above.
            unsafe {
                let cx = context();
                if cx.is_illegal_now() {
                    return cx.illegal_in_begin();
                }
                if write(cx.gl.state.get_indexed(pname, index), data, |known, i| known.$value(i)) {
                    return;
                }
                let most = $most(pname);
                cx.enc.$ask(pname, index, most as u32);
                take(cx.answer(ops::$op), data, most);
            }
        }
    )*};
}

indexed! {
    glGetIntegeri_v: i32, int, gl_get_integeri_v, GL_GET_INTEGERI_V, without_matrices;
    glGetInteger64i_v: i64, int64, gl_get_integer64i_v, GL_GET_INTEGER64I_V, without_matrices;
    glGetBooleani_v: u8, boolean, gl_get_booleani_v, GL_GET_BOOLEANI_V, without_matrices;
    glGetFloati_v: f32, float, gl_get_floati_v, GL_GET_FLOATI_V, gets::indexed;
    glGetDoublei_v: f64, double, gl_get_doublei_v, GL_GET_DOUBLEI_V, gets::indexed;
}

pub unsafe extern "C" fn glIsEnabledi(cap: u32, index: u32) -> u8 {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.is_illegal_now() {
            return cx.illegal_in_begin();
        }
        if let Some(on) = cx.gl.state.is_enabled_indexed(cap, index) {
            return on.into();
        }
        cx.enc.gl_is_enabledi(cap, index);
        cx.answer(ops::GL_IS_ENABLEDI).value()
    }
}
