//! The arguments of glTexImage, and how they are sent.

use crate::context::Context;
use crate::gl::framebuffers::defined;
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;

/// The arguments of glTexImage1D, 2D or 3D.
pub(super) struct TexImage {
    pub dimensions: u32,
    pub target: u32,
    pub level: i32,
    pub internal_format: i32,
    pub width: i32,
    pub height: i32,
    pub depth: i32,
    pub border: i32,
    pub format: u32,
    pub type_: u32,
}

/// Some rows of one layer, or some complete layers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub row: usize,
    pub rows: usize,
    pub layer: usize,
    pub layers: usize,
}

impl TexImage {
    /// # Safety
    /// `data` can be read.
    pub unsafe fn send(&self, cx: &mut Context, data: Data) {
        let TexImage {
            target,
            level,
            internal_format,
            width,
            height,
            depth,
            border,
            format,
            type_,
            ..
        } = *self;
        if !is_proxy(target) {
            defined(cx, target);
        }
        let enc = &mut cx.enc;
        // SAFETY: the context's own encoder, and the caller's promise.
        unsafe {
            match self.dimensions {
                1 => enc.gl_tex_image1d(
                    target,
                    level,
                    internal_format,
                    width,
                    border,
                    format,
                    type_,
                    data,
                ),
                2 => enc.gl_tex_image2d(
                    target,
                    level,
                    internal_format,
                    width,
                    height,
                    border,
                    format,
                    type_,
                    data,
                ),
                _ => enc.gl_tex_image3d(
                    target,
                    level,
                    internal_format,
                    width,
                    height,
                    depth,
                    border,
                    format,
                    type_,
                    data,
                ),
            }
        }
    }

    /// Replaces a piece of the image that these arguments have defined.
    ///
    /// # Safety
    /// As `send`.
    pub unsafe fn send_piece(&self, cx: &mut Context, piece: &Piece, data: Data) {
        let TexImage {
            target,
            level,
            width,
            format,
            type_,
            ..
        } = *self;
        let (row, rows, layer, layers) = (
            piece.row as i32,
            piece.rows as i32,
            piece.layer as i32,
            piece.layers as i32,
        );
        let enc = &mut cx.enc;
        // SAFETY: as the caller's.
        unsafe {
            match self.dimensions {
                2 => {
                    enc.gl_tex_sub_image2d(target, level, 0, row, width, rows, format, type_, data)
                }
                _ => enc.gl_tex_sub_image3d(
                    target, level, 0, row, layer, width, rows, layers, format, type_, data,
                ),
            }
        }
    }
}

pub(super) fn is_proxy(target: u32) -> bool {
    matches!(
        target,
        GL_PROXY_TEXTURE_1D
            | GL_PROXY_TEXTURE_2D
            | GL_PROXY_TEXTURE_3D
            | GL_PROXY_TEXTURE_RECTANGLE
            | GL_PROXY_TEXTURE_CUBE_MAP
            | GL_PROXY_TEXTURE_1D_ARRAY
            | GL_PROXY_TEXTURE_2D_ARRAY
            | GL_PROXY_TEXTURE_CUBE_MAP_ARRAY
    )
}
