//! The formats that each array accepts, and the errors for others.

use mgn_wire::draws::attr;
use mgn_wire::gl::*;

/// Mesa's GL_MAX_VERTEX_ATTRIB_STRIDE.
pub(super) const STRIDE_MAX: i32 = 2048;

const PACKED: [u32; 2] = [GL_INT_2_10_10_10_REV, GL_UNSIGNED_INT_2_10_10_10_REV];
const ALL: &[u32] = &[
    GL_BYTE,
    GL_UNSIGNED_BYTE,
    GL_SHORT,
    GL_UNSIGNED_SHORT,
    GL_INT,
    GL_UNSIGNED_INT,
    GL_FLOAT,
    GL_DOUBLE,
    GL_HALF_FLOAT,
    PACKED[0],
    PACKED[1],
];
const GENERIC: &[u32] = &[
    GL_BYTE,
    GL_UNSIGNED_BYTE,
    GL_SHORT,
    GL_UNSIGNED_SHORT,
    GL_INT,
    GL_UNSIGNED_INT,
    GL_FLOAT,
    GL_DOUBLE,
    GL_HALF_FLOAT,
    GL_FIXED,
    PACKED[0],
    PACKED[1],
    GL_UNSIGNED_INT_10F_11F_11F_REV,
    GL_HALF_FLOAT_OES,
];
const ES1: &[u32] = &[GL_BYTE, GL_SHORT, GL_FLOAT, GL_FIXED];
const INTEGERS: &[u32] = &[
    GL_BYTE,
    GL_UNSIGNED_BYTE,
    GL_SHORT,
    GL_UNSIGNED_SHORT,
    GL_INT,
    GL_UNSIGNED_INT,
];

/// The arguments of a gl*Pointer command.
pub struct Asked {
    pub slot: u8,
    pub size: i32,
    pub type_: u32,
    pub stride: i32,
    pub integer: bool,
    pub long: bool,
    pub normalized: bool,
}

impl Asked {
    /// The error that OpenGL, or OpenGL ES 1, raises for this format, if any.
    pub fn error(&self, es1: bool) -> Option<u32> {
        let (types, sizes, bgra): (&[u32], _, bool) = match self.slot {
            attr::POINT_SIZE if es1 => (&[GL_FLOAT, GL_FIXED], 1..=1, false),
            // OpenGL has no such array, only OpenGL ES 1.
            attr::POINT_SIZE => return Some(GL_INVALID_ENUM),
            attr::POSITION if es1 => (ES1, 2..=4, false),
            attr::NORMAL if es1 => (ES1, 3..=3, false),
            attr::COLOR if es1 => (&[GL_UNSIGNED_BYTE, GL_FLOAT, GL_FIXED], 4..=4, false),
            slot if es1 && slot < attr::GENERIC => (ES1, 2..=4, false),
            attr::POSITION => (
                &[
                    GL_SHORT,
                    GL_INT,
                    GL_FLOAT,
                    GL_DOUBLE,
                    GL_HALF_FLOAT,
                    PACKED[0],
                    PACKED[1],
                ],
                2..=4,
                false,
            ),
            attr::NORMAL => (
                &[
                    GL_BYTE,
                    GL_SHORT,
                    GL_INT,
                    GL_FLOAT,
                    GL_DOUBLE,
                    GL_HALF_FLOAT,
                    PACKED[0],
                    PACKED[1],
                ],
                3..=3,
                false,
            ),
            attr::COLOR => (ALL, 3..=4, true),
            attr::SECONDARY => (ALL, 3..=4, true),
            attr::FOG => (&[GL_FLOAT, GL_DOUBLE, GL_HALF_FLOAT], 1..=1, false),
            attr::INDEX => (
                &[GL_UNSIGNED_BYTE, GL_SHORT, GL_INT, GL_FLOAT, GL_DOUBLE],
                1..=1,
                false,
            ),
            attr::EDGE_FLAG => (&[GL_UNSIGNED_BYTE], 1..=1, false),
            slot if slot < attr::GENERIC => (
                &[
                    GL_SHORT,
                    GL_INT,
                    GL_FLOAT,
                    GL_DOUBLE,
                    GL_HALF_FLOAT,
                    PACKED[0],
                    PACKED[1],
                ],
                1..=4,
                false,
            ),
            _ if self.integer => (INTEGERS, 1..=4, false),
            _ if self.long => (&[GL_DOUBLE], 1..=4, false),
            _ => (GENERIC, 1..=4, true),
        };
        if self.stride < 0 || self.stride > STRIDE_MAX && !es1 {
            return Some(GL_INVALID_VALUE);
        }
        if !types.contains(&self.type_) {
            return Some(GL_INVALID_ENUM);
        }
        let is_packed = PACKED.contains(&self.type_);
        if bgra && self.size == GL_BGRA as i32 {
            let fits = self.type_ == GL_UNSIGNED_BYTE || is_packed;
            let normalized = self.slot < attr::GENERIC || self.normalized;
            return (!fits || !normalized).then_some(GL_INVALID_OPERATION);
        }
        if !sizes.contains(&self.size) {
            return Some(GL_INVALID_VALUE);
        }
        let three = matches!(self.slot, attr::NORMAL | attr::SECONDARY);
        if is_packed
            && self.size != 4
            && !three
            && !(attr::TEXCOORD..attr::GENERIC).contains(&self.slot)
            && self.slot != attr::POSITION
            || self.type_ == GL_UNSIGNED_INT_10F_11F_11F_REV && self.size != 3
        {
            return Some(GL_INVALID_OPERATION);
        }
        None
    }
}

/// A format of glInterleavedArrays: texture, colour and normal with their sizes (0 for none),
/// offsets in bytes, the position's size, and the stride.
pub struct Interleaved {
    pub texture: i32,
    pub color: i32,
    pub color_type: u32,
    pub normal: bool,
    pub position: i32,
    pub color_offset: usize,
    pub normal_offset: usize,
    pub position_offset: usize,
    pub stride: i32,
}

/// OpenGL 2.1, table 2.5.
pub fn interleaved(format: u32) -> Option<Interleaved> {
    let (texture, color, color_type, normal, position) = match format {
        GL_V2F => (0, 0, 0, false, 2),
        GL_V3F => (0, 0, 0, false, 3),
        GL_C4UB_V2F => (0, 4, GL_UNSIGNED_BYTE, false, 2),
        GL_C4UB_V3F => (0, 4, GL_UNSIGNED_BYTE, false, 3),
        GL_C3F_V3F => (0, 3, GL_FLOAT, false, 3),
        GL_N3F_V3F => (0, 0, 0, true, 3),
        GL_C4F_N3F_V3F => (0, 4, GL_FLOAT, true, 3),
        GL_T2F_V3F => (2, 0, 0, false, 3),
        GL_T4F_V4F => (4, 0, 0, false, 4),
        GL_T2F_C4UB_V3F => (2, 4, GL_UNSIGNED_BYTE, false, 3),
        GL_T2F_C3F_V3F => (2, 3, GL_FLOAT, false, 3),
        GL_T2F_N3F_V3F => (2, 0, 0, true, 3),
        GL_T2F_C4F_N3F_V3F => (2, 4, GL_FLOAT, true, 3),
        GL_T4F_C4F_N3F_V4F => (4, 4, GL_FLOAT, true, 4),
        _ => return None,
    };
    let color_bytes = if color_type == GL_UNSIGNED_BYTE {
        4
    } else {
        color as usize * 4
    };
    let color_offset = texture as usize * 4;
    let normal_offset = color_offset + color_bytes;
    let position_offset = normal_offset + if normal { 12 } else { 0 };
    let stride = position_offset as i32 + position * 4;
    Some(Interleaved {
        texture,
        color,
        color_type,
        normal,
        position,
        color_offset,
        normal_offset,
        position_offset,
        stride,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_strides() {
        let strides = [
            (GL_V2F, 8),
            (GL_C4UB_V2F, 12),
            (GL_N3F_V3F, 24),
            (GL_T2F_C4F_N3F_V3F, 48),
            (GL_T4F_C4F_N3F_V4F, 60),
        ];
        for (format, stride) in strides {
            assert_eq!(interleaved(format).unwrap().stride, stride);
        }
        assert!(interleaved(0).is_none());
    }

    #[test]
    fn errors() {
        let asked = |slot, size, type_, stride| {
            Asked {
                slot,
                size,
                type_,
                stride,
                integer: false,
                long: false,
                normalized: false,
            }
            .error(false)
        };
        assert_eq!(asked(attr::POSITION, 3, GL_FLOAT, 0), None);
        assert_eq!(
            asked(attr::POSITION, 1, GL_FLOAT, 0),
            Some(GL_INVALID_VALUE)
        );
        assert_eq!(
            asked(attr::POSITION, 3, GL_UNSIGNED_BYTE, 0),
            Some(GL_INVALID_ENUM)
        );
        assert_eq!(
            asked(attr::COLOR, GL_BGRA as i32, GL_FLOAT, 0),
            Some(GL_INVALID_OPERATION)
        );
        assert_eq!(
            asked(attr::GENERIC, 4, GL_FLOAT, -1),
            Some(GL_INVALID_VALUE)
        );
    }
}
