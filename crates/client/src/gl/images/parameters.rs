//! What textures can be that decides how their images may be sent: with storage, whose images cannot be defined anew, or with mipmaps that follow every
//! change of the image.

use crate::context::Context;
use crate::gl::{context, values, Tracked};
use mgn_wire::gl::GL_GENERATE_MIPMAP;
use mgn_wire::sizes::pname::params;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is known of a share group's textures.
#[derive(Default)]
pub struct SharedTextures {
    /// A texture has been given storage, or automatic mipmaps.
    special: AtomicBool,
}

impl SharedTextures {
    /// Whether every texture is one that glTexImage can define and glTexSubImage fill in steps.
    pub fn are_plain(&self) -> bool {
        !self.special.load(Ordering::Relaxed)
    }

    fn are_special(&self) {
        self.special.store(true, Ordering::Relaxed);
    }
}

/// The texture that is bound to `target` gets its storage for good.
fn stored(cx: &mut Context, target: u32) {
    cx.gl.shared.textures.are_special();
    cx.gl.state.tex_storage(target);
}

pub unsafe extern "C" fn glTexStorage1D(
    target: u32,
    levels: i32,
    internal_format: u32,
    width: i32,
) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        stored(cx, target);
        cx.enc
            .gl_tex_storage1d(target, levels, internal_format, width);
    }
}

pub unsafe extern "C" fn glTexStorage2D(
    target: u32,
    levels: i32,
    internal_format: u32,
    width: i32,
    height: i32,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        stored(cx, target);
        cx.enc
            .gl_tex_storage2d(target, levels, internal_format, width, height);
    }
}

pub unsafe extern "C" fn glTexStorage3D(
    target: u32,
    levels: i32,
    internal_format: u32,
    width: i32,
    height: i32,
    depth: i32,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        stored(cx, target);
        cx.enc
            .gl_tex_storage3d(target, levels, internal_format, width, height, depth);
    }
}

/// glTexParameter of one value.
macro_rules! parameter {
    ($($name:ident: $type:ty, $send:ident;)*) => {$(
        pub unsafe extern "C" fn $name(target: u32, pname: u32, param: $type) {
            // SAFETY: as above.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                if let Some(error) = cx.gl.state.$send(target, pname, param).refusal() {
                    return cx.set_error(error);
                }
                if pname == GL_GENERATE_MIPMAP {
                    cx.gl.shared.textures.are_special();
                }
                cx.enc.$send(target, pname, param);
            }
        }
    )*};
}

parameter! {
    glTexParameteri: i32, gl_tex_parameteri;
    glTexParameterf: f32, gl_tex_parameterf;
}

/// glTexParameter of an array.
macro_rules! parameters {
    ($($name:ident: $type:ty, $send:ident;)*) => {$(
        pub unsafe extern "C" fn $name(target: u32, pname: u32, list: *const $type) {
            // SAFETY: as above, and the program's values.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                let count = params(pname);
                if let Some(error) = cx.gl.state.$send(target, pname, values(list, count)).refusal() {
                    return cx.set_error(error);
                }
                if pname == GL_GENERATE_MIPMAP {
                    cx.gl.shared.textures.are_special();
                }
                cx.enc.$send(target, pname, (list, count));
            }
        }
    )*};
}

parameters! {
    glTexParameteriv: i32, gl_tex_parameteriv;
    glTexParameterfv: f32, gl_tex_parameterfv;
}
