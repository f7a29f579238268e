//! Indexed draws.

use crate::shadow::arrays::tree::Piece;
use core::ffi::c_void;
use mgn_wire::gl;
use mgn_wire::sizes::image::draw_index_bytes;

type Pointer = *const c_void;

/// An indexed draw.
#[derive(Clone, Copy)]
pub(super) struct Indexed {
    pub mode: u32,
    pub count: i32,
    pub type_: u32,
    pub indices: Pointer,
    pub instances: i32,
    pub base_vertex: i32,
    pub base_instance: u32,
}

impl Indexed {
    /// A piece of the draw.
    pub fn piece(&self, piece: &Piece) -> Indexed {
        let size = draw_index_bytes(self.type_).unwrap_or(0);
        Indexed {
            count: piece.count as i32,
            indices: self.indices.wrapping_byte_add(piece.first * size),
            ..*self
        }
    }

    /// Whether the arguments are valid.
    pub fn draws(&self) -> bool {
        draw_index_bytes(self.type_).is_some() && draws(self.mode, 0, self.count, self.instances)
    }
}

/// The least and greatest index, not counting `restart`; none if there is no other index.
///
/// # Safety
/// `count` indices of `size` bytes lie at `indices`.
pub(super) unsafe fn bounds(
    indices: *const u8,
    count: usize,
    size: usize,
    restart: Option<u32>,
) -> Option<(u32, u32)> {
    fn fold(values: impl Iterator<Item = u32>, restart: Option<u32>) -> Option<(u32, u32)> {
        let (least, greatest) = match restart {
            None => values.fold((u32::MAX, 0), |(l, g), i| (l.min(i), g.max(i))),
            Some(r) => values
                .filter(|i| *i != r)
                .fold((u32::MAX, 0), |(l, g), i| (l.min(i), g.max(i))),
        };
        (least <= greatest).then_some((least, greatest))
    }
    // SAFETY: the caller's promise; a program's indices may be unaligned.
    unsafe {
        let at = |i: usize| indices.add(i * size);
        match size {
            1 => fold((0..count).map(|i| u32::from(at(i).read())), restart),
            2 => fold(
                (0..count).map(|i| u32::from(at(i).cast::<u16>().read_unaligned())),
                restart,
            ),
            _ => fold(
                (0..count).map(|i| at(i).cast::<u32>().read_unaligned()),
                restart,
            ),
        }
    }
}

/// Whether the arguments of an array draw are valid and there is something to draw. Otherwise the
/// command is sent, and the server raises its error.
pub(super) fn draws(mode: u32, first: i32, count: i32, instances: i32) -> bool {
    mode <= gl::GL_PATCHES && first >= 0 && count > 0 && instances > 0
}
