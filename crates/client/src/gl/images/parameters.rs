//! What textures can be that decides how their images may be sent: with storage, whose images cannot be defined anew, or with mipmaps that follow every
//! change of the image.

use crate::gl::context;
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

pub unsafe extern "C" fn glTexStorage1D(target: u32, levels: i32, internal_format: u32, width: i32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        cx.gl.shared.textures.are_special();
        cx.enc.gl_tex_storage1d(target, levels, internal_format, width);
    }
}

pub unsafe extern "C" fn glTexStorage2D(target: u32, levels: i32, internal_format: u32, width: i32, height: i32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        cx.gl.shared.textures.are_special();
        cx.enc.gl_tex_storage2d(target, levels, internal_format, width, height);
    }
}

pub unsafe extern "C" fn glTexStorage3D(target: u32, levels: i32, internal_format: u32, width: i32, height: i32, depth: i32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        cx.gl.shared.textures.are_special();
        cx.enc.gl_tex_storage3d(target, levels, internal_format, width, height, depth);
    }
}

pub unsafe extern "C" fn glTexParameteri(target: u32, pname: u32, param: i32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if pname == GL_GENERATE_MIPMAP {
            cx.gl.shared.textures.are_special();
        }
        cx.enc.gl_tex_parameteri(target, pname, param);
    }
}

pub unsafe extern "C" fn glTexParameterf(target: u32, pname: u32, param: f32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if pname == GL_GENERATE_MIPMAP {
            cx.gl.shared.textures.are_special();
        }
        cx.enc.gl_tex_parameterf(target, pname, param);
    }
}

pub unsafe extern "C" fn glTexParameteriv(target: u32, pname: u32, values: *const i32) {
    // SAFETY: as above, and the program's values.
    unsafe {
        let cx = context();
        if pname == GL_GENERATE_MIPMAP {
            cx.gl.shared.textures.are_special();
        }
        cx.enc.gl_tex_parameteriv(target, pname, (values, params(pname)));
    }
}

pub unsafe extern "C" fn glTexParameterfv(target: u32, pname: u32, values: *const f32) {
    // SAFETY: as above, and the program's values.
    unsafe {
        let cx = context();
        if pname == GL_GENERATE_MIPMAP {
            cx.gl.shared.textures.are_special();
        }
        cx.enc.gl_tex_parameterfv(target, pname, (values, params(pname)));
    }
}
