//! Sizes of pixels, images, indices, evaluator points and vertex attributes.
//!
//! On the wire an image is *tight*: rows, images and pixels follow each other without gaps,
//! elements are in native byte order, and the bits of a bitmap start at the most significant
//! one, each row on a byte of its own. That is what pixel store parameters with an alignment
//! of 1 and no skips describe.

use crate::gl::*;

/// Number of components of a pixel of `format`, or `None` if it is no external format.
pub fn components(format: u32) -> Option<usize> {
    Some(match format {
        GL_COLOR_INDEX
        | GL_STENCIL_INDEX
        | GL_DEPTH_COMPONENT
        | GL_RED
        | GL_GREEN
        | GL_BLUE
        | GL_ALPHA
        | GL_LUMINANCE
        | GL_INTENSITY
        | GL_RED_INTEGER
        | GL_GREEN_INTEGER
        | GL_BLUE_INTEGER
        | GL_ALPHA_INTEGER
        | GL_LUMINANCE_INTEGER_EXT => 1,
        GL_RG
        | GL_RG_INTEGER
        | GL_LUMINANCE_ALPHA
        | GL_LUMINANCE_ALPHA_INTEGER_EXT
        | GL_DEPTH_STENCIL
        | GL_YCBCR_MESA => 2,
        GL_RGB | GL_BGR | GL_RGB_INTEGER | GL_BGR_INTEGER | GL_SRGB => 3,
        GL_RGBA | GL_BGRA | GL_RGBA_INTEGER | GL_BGRA_INTEGER | GL_ABGR_EXT | GL_SRGB_ALPHA => 4,
        _ => return None,
    })
}

/// The type of one element of a pixel's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// One component of this many bytes.
    Component(usize),
    /// A whole pixel in one element of this many bytes.
    Packed(usize),
    /// One bit, which is a whole pixel.
    Bit,
}

impl Element {
    /// The element that a pixel data `type` describes, or `None` if it is no such type.
    pub fn of(type_: u32) -> Option<Element> {
        Some(match type_ {
            GL_BITMAP => Element::Bit,
            GL_BYTE | GL_UNSIGNED_BYTE => Element::Component(1),
            GL_SHORT | GL_UNSIGNED_SHORT | GL_HALF_FLOAT | GL_HALF_FLOAT_OES => {
                Element::Component(2)
            }
            GL_INT | GL_UNSIGNED_INT | GL_FLOAT | GL_FIXED => Element::Component(4),
            GL_UNSIGNED_BYTE_3_3_2 | GL_UNSIGNED_BYTE_2_3_3_REV => Element::Packed(1),
            GL_UNSIGNED_SHORT_5_6_5
            | GL_UNSIGNED_SHORT_5_6_5_REV
            | GL_UNSIGNED_SHORT_4_4_4_4
            | GL_UNSIGNED_SHORT_4_4_4_4_REV
            | GL_UNSIGNED_SHORT_5_5_5_1
            | GL_UNSIGNED_SHORT_1_5_5_5_REV
            | GL_UNSIGNED_SHORT_8_8_MESA
            | GL_UNSIGNED_SHORT_8_8_REV_MESA => Element::Packed(2),
            GL_UNSIGNED_INT_8_8_8_8
            | GL_UNSIGNED_INT_8_8_8_8_REV
            | GL_UNSIGNED_INT_10_10_10_2
            | GL_UNSIGNED_INT_2_10_10_10_REV
            | GL_UNSIGNED_INT_24_8
            | GL_UNSIGNED_INT_10F_11F_11F_REV
            | GL_UNSIGNED_INT_5_9_9_9_REV => Element::Packed(4),
            GL_FLOAT_32_UNSIGNED_INT_24_8_REV => Element::Packed(8),
            _ => return None,
        })
    }
}

/// Bytes of one element of `type`; `None` for a bitmap, whose element is a bit.
pub fn bytes_per_element(type_: u32) -> Option<usize> {
    match Element::of(type_)? {
        Element::Component(bytes) | Element::Packed(bytes) => Some(bytes),
        Element::Bit => None,
    }
}

/// Bytes of one pixel; `None` for bitmaps and for enums that no command accepts. A packed type has
/// its own size, whatever the format: drivers refuse invalid combinations.
pub fn pixel_bytes(format: u32, type_: u32) -> Option<usize> {
    let components = components(format)?;
    match Element::of(type_)? {
        Element::Component(bytes) => Some(components * bytes),
        Element::Packed(bytes) => Some(bytes),
        Element::Bit => None,
    }
}

/// Bytes of one tight row of `width` pixels.
pub fn tight_row_bytes(width: usize, format: u32, type_: u32) -> Option<usize> {
    match Element::of(type_)? {
        Element::Bit => width
            .checked_mul(components(format)?)
            .map(|bits| bits.div_ceil(8)),
        _ => width.checked_mul(pixel_bytes(format, type_)?),
    }
}

/// Bytes of a tight image. Negative extents, which every command refuses, give an empty image, so
/// that the command can still be sent and the driver refuses it.
pub fn tight_image_bytes(
    width: i32,
    height: i32,
    depth: i32,
    format: u32,
    type_: u32,
) -> Option<usize> {
    let extent = |n: i32| usize::try_from(n).unwrap_or(0);
    tight_row_bytes(extent(width), format, type_)?
        .checked_mul(extent(height))?
        .checked_mul(extent(depth))
}

/// Bytes of a tight bitmap, as `glBitmap` and `glPolygonStipple` take it.
pub fn tight_bitmap_bytes(width: i32, height: i32) -> Option<usize> {
    tight_image_bytes(width, height, 1, GL_COLOR_INDEX, GL_BITMAP)
}

/// Bytes of one index of `glDrawElements`, or `None` if `type` is no index type.
pub fn draw_index_bytes(type_: u32) -> Option<usize> {
    match type_ {
        GL_UNSIGNED_BYTE => Some(1),
        GL_UNSIGNED_SHORT => Some(2),
        GL_UNSIGNED_INT => Some(4),
        _ => None,
    }
}

/// Bytes of `n` indices of `glDrawElements`; 0 for a negative `n`.
pub fn draw_indices_bytes(n: i32, type_: u32) -> Option<usize> {
    usize::try_from(n)
        .unwrap_or(0)
        .checked_mul(draw_index_bytes(type_)?)
}

/// The names of glCallLists, from their bytes, before the list base is added.
pub fn list_offsets(kind: u32, names: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let size = call_lists_bytes(1, kind).unwrap_or(1).max(1);
    names.chunks_exact(size).map(move |name| {
        let word = || [name[0], name[1], name[2], name[3]];
        match kind {
            GL_BYTE => i32::from(name[0] as i8) as u32,
            GL_SHORT => i32::from(i16::from_ne_bytes([name[0], name[1]])) as u32,
            GL_UNSIGNED_SHORT => u16::from_ne_bytes([name[0], name[1]]).into(),
            GL_INT | GL_UNSIGNED_INT => u32::from_ne_bytes(word()),
            GL_FLOAT => f32::from_ne_bytes(word()) as i32 as u32,
            // Bytes, most significant first.
            _ => name.iter().fold(0, |all, byte| all << 8 | u32::from(*byte)),
        }
    })
}

/// Bytes that `glCallLists` reads for `n` names; 0 for a negative `n`.
pub fn call_lists_bytes(n: i32, type_: u32) -> Option<usize> {
    let each = match type_ {
        GL_BYTE | GL_UNSIGNED_BYTE => 1,
        GL_SHORT | GL_UNSIGNED_SHORT | GL_2_BYTES => 2,
        GL_3_BYTES => 3,
        GL_INT | GL_UNSIGNED_INT | GL_FLOAT | GL_4_BYTES => 4,
        _ => return None,
    };
    usize::try_from(n).unwrap_or(0).checked_mul(each)
}

/// Number of values of one control point of an evaluator, or `None` if `target` is no evaluator.
pub fn map_components(target: u32) -> Option<usize> {
    Some(match target {
        GL_MAP1_INDEX | GL_MAP2_INDEX | GL_MAP1_TEXTURE_COORD_1 | GL_MAP2_TEXTURE_COORD_1 => 1,
        GL_MAP1_TEXTURE_COORD_2 | GL_MAP2_TEXTURE_COORD_2 => 2,
        GL_MAP1_VERTEX_3
        | GL_MAP2_VERTEX_3
        | GL_MAP1_NORMAL
        | GL_MAP2_NORMAL
        | GL_MAP1_TEXTURE_COORD_3
        | GL_MAP2_TEXTURE_COORD_3 => 3,
        GL_MAP1_VERTEX_4
        | GL_MAP2_VERTEX_4
        | GL_MAP1_COLOR_4
        | GL_MAP2_COLOR_4
        | GL_MAP1_TEXTURE_COORD_4
        | GL_MAP2_TEXTURE_COORD_4 => 4,
        _ => return None,
    })
}

/// Number of values of a tightly packed evaluator of the given orders (a one-dimensional one has a
/// `vorder` of 1). The result is 0 for orders below 1, which drivers refuse.
pub fn map_values(target: u32, uorder: i32, vorder: i32) -> Option<usize> {
    let order = |n: i32| usize::try_from(n).unwrap_or(0);
    map_components(target)?
        .checked_mul(order(uorder))?
        .checked_mul(order(vorder))
}

/// Bytes of one component of a vertex attribute, or, for the packed types, of the whole
/// attribute; `None` if `type` is no such type.
pub fn attrib_element(type_: u32) -> Option<Element> {
    Some(match type_ {
        GL_BYTE | GL_UNSIGNED_BYTE => Element::Component(1),
        GL_SHORT | GL_UNSIGNED_SHORT | GL_HALF_FLOAT | GL_HALF_FLOAT_OES => Element::Component(2),
        GL_INT | GL_UNSIGNED_INT | GL_FLOAT | GL_FIXED => Element::Component(4),
        GL_DOUBLE | GL_UNSIGNED_INT64_ARB | GL_INT64_ARB => Element::Component(8),
        GL_INT_2_10_10_10_REV
        | GL_UNSIGNED_INT_2_10_10_10_REV
        | GL_UNSIGNED_INT_10F_11F_11F_REV => Element::Packed(4),
        _ => return None,
    })
}

/// Bytes of one vertex attribute of `size` components; `GL_BGRA` is a size of 4. `None` for a
/// size or type that no command accepts.
pub fn attrib_bytes(size: u32, type_: u32) -> Option<usize> {
    let components = match size {
        1..=4 => size as usize,
        GL_BGRA => 4,
        _ => return None,
    };
    match attrib_element(type_)? {
        Element::Component(bytes) => Some(components * bytes),
        Element::Packed(bytes) => Some(bytes),
        Element::Bit => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels() {
        assert_eq!(pixel_bytes(GL_RGBA, GL_UNSIGNED_BYTE), Some(4));
        assert_eq!(pixel_bytes(GL_RGB, GL_FLOAT), Some(12));
        assert_eq!(pixel_bytes(GL_BGR, GL_HALF_FLOAT), Some(6));
        assert_eq!(pixel_bytes(GL_RG, GL_SHORT), Some(4));
        assert_eq!(pixel_bytes(GL_RGBA_INTEGER, GL_INT), Some(16));
        assert_eq!(pixel_bytes(GL_RGB, GL_UNSIGNED_BYTE_3_3_2), Some(1));
        assert_eq!(pixel_bytes(GL_RGB, GL_UNSIGNED_SHORT_5_6_5), Some(2));
        assert_eq!(pixel_bytes(GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV), Some(4));
        assert_eq!(pixel_bytes(GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8), Some(4));
        assert_eq!(
            pixel_bytes(GL_DEPTH_STENCIL, GL_FLOAT_32_UNSIGNED_INT_24_8_REV),
            Some(8)
        );
        assert_eq!(
            pixel_bytes(GL_YCBCR_MESA, GL_UNSIGNED_SHORT_8_8_MESA),
            Some(2)
        );
        assert_eq!(pixel_bytes(GL_COLOR_INDEX, GL_BITMAP), None);
        assert_eq!(pixel_bytes(GL_TEXTURE_2D, GL_FLOAT), None);
        assert_eq!(pixel_bytes(GL_RGBA, GL_TEXTURE_2D), None);
    }

    #[test]
    fn images() {
        assert_eq!(
            tight_image_bytes(5, 3, 1, GL_RGB, GL_UNSIGNED_BYTE),
            Some(45)
        );
        assert_eq!(tight_image_bytes(2, 2, 2, GL_RGBA, GL_FLOAT), Some(128));
        assert_eq!(
            tight_image_bytes(0, 3, 1, GL_RGB, GL_UNSIGNED_BYTE),
            Some(0)
        );
        assert_eq!(
            tight_image_bytes(-1, 3, 1, GL_RGB, GL_UNSIGNED_BYTE),
            Some(0)
        );
        assert_eq!(tight_bitmap_bytes(9, 2), Some(4));
        assert_eq!(tight_bitmap_bytes(8, 2), Some(2));
        assert_eq!(tight_bitmap_bytes(0, 0), Some(0));
        assert_eq!(tight_bitmap_bytes(32, 32), Some(128));
    }

    #[test]
    fn overflow_is_no_size() {
        let m = i32::MAX;
        assert_eq!(tight_image_bytes(m, m, m, GL_RGBA, GL_FLOAT), None);
        assert_eq!(
            tight_bitmap_bytes(m, m),
            Some((m as usize).div_ceil(8) * m as usize)
        );
        assert_eq!(
            map_values(GL_MAP2_VERTEX_4, m, m),
            Some(m as usize * m as usize * 4)
        );
    }

    #[test]
    fn indices_and_lists() {
        assert_eq!(draw_indices_bytes(7, GL_UNSIGNED_SHORT), Some(14));
        assert_eq!(draw_indices_bytes(-7, GL_UNSIGNED_SHORT), Some(0));
        assert_eq!(draw_indices_bytes(7, GL_SHORT), None);
        assert_eq!(call_lists_bytes(5, GL_3_BYTES), Some(15));
        assert_eq!(call_lists_bytes(5, GL_FLOAT), Some(20));
        assert_eq!(call_lists_bytes(5, GL_DOUBLE), None);
        assert_eq!(call_lists_bytes(-5, GL_BYTE), Some(0));
    }

    #[test]
    fn evaluators_and_attributes() {
        assert_eq!(map_values(GL_MAP1_VERTEX_3, 4, 1), Some(12));
        assert_eq!(map_values(GL_MAP2_COLOR_4, 2, 3), Some(24));
        assert_eq!(map_values(GL_MAP1_INDEX, -1, 1), Some(0));
        assert_eq!(map_values(GL_FOG, 4, 1), None);
        assert_eq!(attrib_bytes(3, GL_FLOAT), Some(12));
        assert_eq!(attrib_bytes(4, GL_DOUBLE), Some(32));
        assert_eq!(attrib_bytes(GL_BGRA, GL_UNSIGNED_BYTE), Some(4));
        assert_eq!(attrib_bytes(4, GL_INT_2_10_10_10_REV), Some(4));
        assert_eq!(attrib_bytes(5, GL_FLOAT), None);
        assert_eq!(attrib_bytes(0, GL_FLOAT), None);
        assert_eq!(attrib_bytes(2, GL_BITMAP), None);
    }

    #[test]
    fn every_type_has_one_size() {
        for type_ in 0..0x1_0000 {
            if let Some(bytes) = bytes_per_element(type_) {
                assert!([1, 2, 4, 8].contains(&bytes), "{type_:#x}");
            }
        }
        for format in 0..0x1_0000 {
            assert!(
                components(format).is_none_or(|n| (1..=4).contains(&n)),
                "{format:#x}"
            );
        }
    }
}
