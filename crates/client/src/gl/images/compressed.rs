//! glCompressedTexImage and glCompressedTexSubImage.

use super::source::Pixels;
use super::textures::is_proxy;
use crate::context::Context;
use crate::gl::context;
use crate::gl::pixels::Extent;
use core::ffi::c_void;
use mgn_wire::encoder::Data;

/// The bytes of a compressed image; none if the command has been refused.
///
/// # Safety
/// Without a pixel unpack buffer, `data` is null or holds `size` bytes, laid out as the program's block parameters say.
unsafe fn blocks<'a>(
    target: u32,
    extent: Extent,
    size: i32,
    data: *const c_void,
) -> Option<(&'a mut Context, Data)> {
    // SAFETY: the only reference in use, to the thread's own context; the rest is the caller's promise.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            cx.illegal_in_begin::<()>();
            return None;
        }
        if is_proxy(target) {
            return Some((cx, Data::Null));
        }
        let data = Pixels::of_blocks(cx, extent, size, data)?.data(cx)?;
        Some((cx, data))
    }
}

pub unsafe extern "C" fn glCompressedTexImage1D(
    target: u32,
    level: i32,
    internal_format: u32,
    width: i32,
    border: i32,
    size: i32,
    data: *const c_void,
) {
    // SAFETY: the program's image.
    unsafe {
        if let Some((cx, data)) = blocks(target, Extent::flat(width, 1), size, data) {
            cx.enc.gl_compressed_tex_image1d(
                target,
                level,
                internal_format,
                width,
                border,
                size,
                data,
            );
        }
    }
}

pub unsafe extern "C" fn glCompressedTexImage2D(
    target: u32,
    level: i32,
    internal_format: u32,
    width: i32,
    height: i32,
    border: i32,
    size: i32,
    data: *const c_void,
) {
    // SAFETY: the program's image.
    unsafe {
        if let Some((cx, data)) = blocks(target, Extent::flat(width, height), size, data) {
            cx.enc.gl_compressed_tex_image2d(
                target,
                level,
                internal_format,
                width,
                height,
                border,
                size,
                data,
            );
        }
    }
}

pub unsafe extern "C" fn glCompressedTexImage3D(
    target: u32,
    level: i32,
    internal_format: u32,
    width: i32,
    height: i32,
    depth: i32,
    border: i32,
    size: i32,
    data: *const c_void,
) {
    // SAFETY: the program's image.
    unsafe {
        if let Some((cx, data)) = blocks(target, Extent::volume(width, height, depth), size, data) {
            cx.enc.gl_compressed_tex_image3d(
                target,
                level,
                internal_format,
                width,
                height,
                depth,
                border,
                size,
                data,
            );
        }
    }
}

pub unsafe extern "C" fn glCompressedTexImage3DOES(
    target: u32,
    level: i32,
    internal_format: u32,
    width: i32,
    height: i32,
    depth: i32,
    border: i32,
    size: i32,
    data: *const c_void,
) {
    // SAFETY: the same arguments.
    unsafe {
        glCompressedTexImage3D(
            target,
            level,
            internal_format,
            width,
            height,
            depth,
            border,
            size,
            data,
        )
    }
}

pub unsafe extern "C" fn glCompressedTexSubImage1D(
    target: u32,
    level: i32,
    x: i32,
    width: i32,
    format: u32,
    size: i32,
    data: *const c_void,
) {
    // SAFETY: the program's image.
    unsafe {
        if let Some((cx, data)) = blocks(target, Extent::flat(width, 1), size, data) {
            cx.enc
                .gl_compressed_tex_sub_image1d(target, level, x, width, format, size, data);
        }
    }
}

pub unsafe extern "C" fn glCompressedTexSubImage2D(
    target: u32,
    level: i32,
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    format: u32,
    size: i32,
    data: *const c_void,
) {
    // SAFETY: the program's image.
    unsafe {
        if let Some((cx, data)) = blocks(target, Extent::flat(width, height), size, data) {
            cx.enc.gl_compressed_tex_sub_image2d(
                target, level, x, y, width, height, format, size, data,
            );
        }
    }
}

pub unsafe extern "C" fn glCompressedTexSubImage3D(
    target: u32,
    level: i32,
    x: i32,
    y: i32,
    z: i32,
    width: i32,
    height: i32,
    depth: i32,
    format: u32,
    size: i32,
    data: *const c_void,
) {
    // SAFETY: the program's image.
    unsafe {
        if let Some((cx, data)) = blocks(target, Extent::volume(width, height, depth), size, data) {
            cx.enc.gl_compressed_tex_sub_image3d(
                target, level, x, y, z, width, height, depth, format, size, data,
            );
        }
    }
}

pub unsafe extern "C" fn glCompressedTexSubImage3DOES(
    target: u32,
    level: i32,
    x: i32,
    y: i32,
    z: i32,
    width: i32,
    height: i32,
    depth: i32,
    format: u32,
    size: i32,
    data: *const c_void,
) {
    // SAFETY: the same arguments.
    unsafe {
        glCompressedTexSubImage3D(
            target, level, x, y, z, width, height, depth, format, size, data,
        )
    }
}
