//! Valid combinations of formats, types and internal formats, as far as the client must know them.

use mgn_wire::gl::*;
use mgn_wire::sizes::image::{components, Element};

/// Whether any command of any API accepts pixels of `format` and `type`. The driver refuses all
/// other combinations. The client must not read such pixels: the program's memory may be smaller
/// than their size suggests.
pub(super) fn go_together(format: u32, type_: u32) -> bool {
    let Some(element) = Element::of(type_) else {
        return false;
    };
    match element {
        Element::Bit => matches!(format, GL_COLOR_INDEX | GL_STENCIL_INDEX),
        Element::Component(_) => {
            components(format).is_some() && !matches!(format, GL_DEPTH_STENCIL | GL_YCBCR_MESA)
        }
        Element::Packed(_) => match type_ {
            GL_UNSIGNED_BYTE_3_3_2
            | GL_UNSIGNED_BYTE_2_3_3_REV
            | GL_UNSIGNED_SHORT_5_6_5
            | GL_UNSIGNED_SHORT_5_6_5_REV => matches!(format, GL_RGB | GL_RGB_INTEGER),
            GL_UNSIGNED_INT_10F_11F_11F_REV | GL_UNSIGNED_INT_5_9_9_9_REV => format == GL_RGB,
            GL_UNSIGNED_INT_24_8 | GL_FLOAT_32_UNSIGNED_INT_24_8_REV => format == GL_DEPTH_STENCIL,
            GL_UNSIGNED_SHORT_8_8_MESA | GL_UNSIGNED_SHORT_8_8_REV_MESA => format == GL_YCBCR_MESA,
            // OpenGL ES 2 has 2_10_10_10_REV without alpha.
            GL_UNSIGNED_INT_2_10_10_10_REV if format == GL_RGB => true,
            _ => matches!(
                format,
                GL_RGBA | GL_BGRA | GL_ABGR_EXT | GL_RGBA_INTEGER | GL_BGRA_INTEGER
            ),
        },
    }
}

/// Whether a desktop context is certain to accept an image with these parameters, and later
/// replacements of its pixels. True for plain, uncompressed colours; for legacy formats only in the
/// compatibility profile.
pub(super) fn surely_defines(internal_format: u32, format: u32, type_: u32, compat: bool) -> bool {
    let texels = match internal_format {
        GL_RED | GL_RG | GL_RGB | GL_RGBA | GL_R8 | GL_RG8 | GL_RGB8 | GL_RGBA8 | GL_R16
        | GL_RG16 | GL_RGB16 | GL_RGBA16 | GL_R16F | GL_RG16F | GL_RGB16F | GL_RGBA16F
        | GL_R32F | GL_RG32F | GL_RGB32F | GL_RGBA32F | GL_RGB10_A2 | GL_RGB5_A1 | GL_RGBA4
        | GL_SRGB | GL_SRGB8 | GL_SRGB_ALPHA | GL_SRGB8_ALPHA8 => true,
        1..=4
        | GL_ALPHA
        | GL_ALPHA8
        | GL_LUMINANCE
        | GL_LUMINANCE8
        | GL_LUMINANCE_ALPHA
        | GL_LUMINANCE8_ALPHA8
        | GL_INTENSITY
        | GL_INTENSITY8 => compat,
        _ => false,
    };
    let pixels = match format {
        GL_RED | GL_RG | GL_RGB | GL_BGR | GL_RGBA | GL_BGRA => true,
        GL_ALPHA | GL_LUMINANCE | GL_LUMINANCE_ALPHA => compat,
        _ => false,
    };
    let plain = matches!(
        type_,
        GL_UNSIGNED_BYTE
            | GL_BYTE
            | GL_UNSIGNED_SHORT
            | GL_SHORT
            | GL_UNSIGNED_INT
            | GL_INT
            | GL_FLOAT
            | GL_HALF_FLOAT
    );
    let packed = matches!(type_, GL_UNSIGNED_INT_8_8_8_8 | GL_UNSIGNED_INT_8_8_8_8_REV);
    texels && pixels && (plain || packed && go_together(format, type_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels() {
        assert!(go_together(GL_RGBA, GL_UNSIGNED_BYTE));
        assert!(go_together(GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV));
        assert!(!go_together(GL_RGB, GL_UNSIGNED_INT_8_8_8_8_REV));
        assert!(
            go_together(GL_RGB, GL_UNSIGNED_SHORT_5_6_5)
                && !go_together(GL_RGBA, GL_UNSIGNED_SHORT_5_6_5)
        );
        assert!(go_together(GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8));
        assert!(
            !go_together(GL_DEPTH_STENCIL, GL_FLOAT)
                && !go_together(GL_DEPTH_COMPONENT, GL_UNSIGNED_INT_24_8)
        );
        assert!(go_together(GL_COLOR_INDEX, GL_BITMAP) && !go_together(GL_RGBA, GL_BITMAP));
        assert!(!go_together(GL_RGBA, GL_RGBA) && !go_together(GL_FLOAT, GL_FLOAT));
    }

    #[test]
    fn definitions() {
        assert!(surely_defines(
            GL_RGBA8,
            GL_BGRA,
            GL_UNSIGNED_INT_8_8_8_8_REV,
            false
        ));
        assert!(
            surely_defines(3, GL_RGB, GL_UNSIGNED_BYTE, true)
                && !surely_defines(3, GL_RGB, GL_UNSIGNED_BYTE, false)
        );
        assert!(!surely_defines(
            GL_COMPRESSED_RGB,
            GL_RGB,
            GL_UNSIGNED_BYTE,
            true
        ));
        assert!(!surely_defines(GL_RGBA8UI, GL_RGBA, GL_UNSIGNED_BYTE, true));
        assert!(!surely_defines(
            GL_DEPTH_COMPONENT,
            GL_DEPTH_COMPONENT,
            GL_FLOAT,
            true
        ));
        assert!(!surely_defines(
            GL_RGBA,
            GL_RGB,
            GL_UNSIGNED_INT_8_8_8_8,
            true
        ));
    }
}
