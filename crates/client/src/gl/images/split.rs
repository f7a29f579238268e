//! Sends large textures in pieces, so that the server executes one piece while the next is written,
//! and no piece has to be reassembled from several records.

use super::formats::surely_defines;
use super::source;
use super::tex_image::{Piece, TexImage};
use crate::context::Context;
use crate::gl::pixels::Layout;
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::RECORD_MAX;

/// The most bytes of a piece of several rows.
const PIECE: usize = 128 * 1024;
/// A limit for the bytes of a record without its pixels.
const HEADER: usize = 64;

/// Defines the image without contents and fills it piece by piece, if the result is certain to be
/// the same. Returns whether it did.
///
/// # Safety
/// `memory` holds the layout's image.
pub(super) unsafe fn in_pieces(
    cx: &mut Context,
    image: &TexImage,
    layout: &Layout,
    memory: *const u8,
) -> bool {
    if layout.tight_bytes() + HEADER <= RECORD_MAX || !is_certain(cx, image) {
        return false;
    }
    // SAFETY: the context's own encoder, and rows that the image has.
    unsafe {
        image.send(cx, Data::Null);
        for piece in pieces(
            image.height as usize,
            image.depth as usize,
            layout.tight_row_bytes(),
        ) {
            let rows = source::rows(
                cx,
                layout,
                memory,
                piece.layer * image.height as usize + piece.row,
                piece.rows * piece.layers,
            );
            image.send_piece(cx, &piece, rows);
        }
    }
    true
}

fn pieces(height: usize, depth: usize, row_bytes: usize) -> impl Iterator<Item = Piece> {
    let rows = (PIECE / row_bytes.max(1)).max(1);
    let layers = (rows / height.max(1)).max(1);
    let rows = rows.min(height);
    (0..depth).step_by(layers).flat_map(move |layer| {
        (0..height).step_by(rows.max(1)).map(move |row| Piece {
            row,
            rows: rows.min(height - row),
            layer,
            layers: layers.min(depth - layer),
        })
    })
}

/// Whether the driver is certain to accept the image and pieces of it, with the same result for
/// both.
pub(super) fn is_certain(cx: &Context, image: &TexImage) -> bool {
    let TexImage {
        dimensions,
        target,
        level,
        width,
        height,
        depth,
        border,
        ..
    } = *image;
    let target_dimensions = match target {
        GL_TEXTURE_3D | GL_TEXTURE_2D_ARRAY => 3,
        _ => 2,
    };
    // Textures with storage refuse new images but would accept the pieces. Automatic mipmaps would
    // be generated for each piece.
    if !cx.gl.is_desktop()
        || cx.gl.lists.is_open()
        || border != 0
        || dimensions != target_dimensions
        || !cx.gl.shared.state.textures_are_plain()
    {
        return false;
    }
    let most = |pname: u32| cx.gl.pixels.limit(pname);
    let (side, layers, square) = match target {
        GL_TEXTURE_2D => (most(GL_MAX_TEXTURE_SIZE), 1, false),
        GL_TEXTURE_RECTANGLE if level == 0 => (most(GL_MAX_RECTANGLE_TEXTURE_SIZE), 1, false),
        GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z => {
            (most(GL_MAX_CUBE_MAP_TEXTURE_SIZE), 1, true)
        }
        GL_TEXTURE_3D => (
            most(GL_MAX_3D_TEXTURE_SIZE),
            most(GL_MAX_3D_TEXTURE_SIZE) >> level.clamp(0, 31),
            false,
        ),
        GL_TEXTURE_2D_ARRAY => (
            most(GL_MAX_TEXTURE_SIZE),
            most(GL_MAX_ARRAY_TEXTURE_LAYERS),
            false,
        ),
        _ => return false,
    };
    let side = if (0..31).contains(&level) {
        side >> level
    } else {
        0
    };
    let fits = |n: i32, most: i32| n > 0 && n <= most;
    fits(width, side)
        && fits(height, side)
        && fits(depth, layers)
        && (!square || width == height)
        && surely_defines(
            image.internal_format as u32,
            image.format,
            image.type_,
            cx.gl.is_compat(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(height: usize, depth: usize, row_bytes: usize) -> Vec<Piece> {
        pieces(height, depth, row_bytes).collect()
    }

    #[test]
    fn every_row_once_and_in_order() {
        for (height, depth, row_bytes) in [
            (1024, 1, 4096),
            (7, 1, PIECE),
            (100, 5, 4096),
            (64, 64, 256),
            (3, 1000, 4),
            (1, 1, 1),
            (5, 2, 2 * PIECE),
        ] {
            let mut next = 0;
            for p in all(height, depth, row_bytes) {
                assert_eq!(p.layer * height + p.row, next);
                assert!(p.layers == 1 || p.row == 0 && p.rows == height);
                assert!(p.rows * p.layers * row_bytes <= PIECE.max(row_bytes));
                next += p.rows * p.layers;
            }
            assert_eq!(next, height * depth);
        }
    }

    #[test]
    fn pieces_are_as_large_as_they_may_be() {
        assert_eq!(all(1024, 1, 4096).len(), 32);
        assert_eq!(all(64, 64, 256).len(), 8);
    }
}
