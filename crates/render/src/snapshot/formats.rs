//! Lossless transfer formats of images.

use super::driver::{query, Driver};
use mgn_wire::gl::*;

/// Format, type and bytes of a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Transfer {
    pub format: u32,
    pub type_: u32,
    pub bytes: usize,
}

/// The format for a level of the texture that is bound to `target`, or of a face of it. For unsized
/// formats, it depends on the sizes of the components, because the driver may choose among several
/// types.
pub(super) fn transfer(driver: &Driver<'_>, target: u32, level: i32) -> Option<Transfer> {
    let of = |pname| {
        query!(driver, glGetTexLevelParameteriv(target, level, pname))
            .map_or(0, |v: [i32; 64]| v[0])
    };
    let sizes = [
        GL_TEXTURE_RED_SIZE,
        GL_TEXTURE_GREEN_SIZE,
        GL_TEXTURE_BLUE_SIZE,
        GL_TEXTURE_ALPHA_SIZE,
        GL_TEXTURE_LUMINANCE_SIZE,
        GL_TEXTURE_INTENSITY_SIZE,
    ]
    .map(of);
    let types = [
        GL_TEXTURE_RED_TYPE,
        GL_TEXTURE_GREEN_TYPE,
        GL_TEXTURE_BLUE_TYPE,
        GL_TEXTURE_ALPHA_TYPE,
        GL_TEXTURE_LUMINANCE_TYPE_ARB,
        GL_TEXTURE_INTENSITY_TYPE_ARB,
    ];
    let colors = types.map(of).into_iter().find(|kind| *kind != 0);
    let depth = (of(GL_TEXTURE_DEPTH_SIZE), of(GL_TEXTURE_DEPTH_TYPE) as u32);
    choose(
        sizes,
        colors.map(|kind| kind as u32),
        depth,
        of(GL_TEXTURE_STENCIL_SIZE),
        of(GL_TEXTURE_SHARED_SIZE) != 0,
    )
}

/// `sizes` are those of red, green, blue, alpha, luminance and intensity; `colors` is the kind of
/// their numbers; `depth` is a size and a kind.
fn choose(
    sizes: [i32; 6],
    colors: Option<u32>,
    depth: (i32, u32),
    stencil: i32,
    shared: bool,
) -> Option<Transfer> {
    let (format, type_, bytes) = match (depth, stencil) {
        ((1.., GL_FLOAT), 1..) => (GL_DEPTH_STENCIL, GL_FLOAT_32_UNSIGNED_INT_24_8_REV, 8),
        ((1.., _), 1..) => (GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, 4),
        ((1.., GL_FLOAT), _) => (GL_DEPTH_COMPONENT, GL_FLOAT, 4),
        ((1..=16, _), _) => (GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT, 2),
        ((1.., _), _) => (GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, 4),
        (_, 1..) => (GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, 1),
        _ => return color(sizes, colors?, shared),
    };
    Some(Transfer {
        format,
        type_,
        bytes,
    })
}

fn color(sizes: [i32; 6], kind: u32, shared: bool) -> Option<Transfer> {
    let widest = sizes.into_iter().max().unwrap_or(0);
    let by_size = |types: [u32; 3]| match widest {
        ..=8 => (types[0], 4),
        9..=16 => (types[1], 8),
        _ => (types[2], 16),
    };
    let rgba = |(type_, bytes)| (GL_RGBA, type_, bytes);
    let integer = |(type_, bytes)| (GL_RGBA_INTEGER, type_, bytes);
    let (format, type_, bytes) = match kind {
        GL_INT => integer(by_size([GL_BYTE, GL_SHORT, GL_INT])),
        GL_UNSIGNED_INT => integer(by_size([
            GL_UNSIGNED_BYTE,
            GL_UNSIGNED_SHORT,
            GL_UNSIGNED_INT,
        ])),
        GL_SIGNED_NORMALIZED => rgba(by_size([GL_BYTE, GL_SHORT, GL_INT])),
        GL_FLOAT if shared => (GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV, 4),
        GL_FLOAT => (GL_RGBA, GL_FLOAT, 16),
        GL_UNSIGNED_NORMALIZED => match sizes[..4] {
            [5, 6, 5, 0] => (GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 2),
            [3, 3, 2, 0] => (GL_RGB, GL_UNSIGNED_BYTE_3_3_2, 1),
            [4, 4, 4, 4] => (GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, 2),
            [5, 5, 5, 1] => (GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, 2),
            [10, 10, 10, 2] => (GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4),
            _ => rgba(by_size([
                GL_UNSIGNED_BYTE,
                GL_UNSIGNED_SHORT,
                GL_UNSIGNED_INT,
            ])),
        },
        _ => return None,
    };
    Some(Transfer {
        format,
        type_,
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_hold_what_is_stored() {
        let of = |sizes, kind| choose(sizes, Some(kind), (0, 0), 0, false).map(|t| t.type_);
        assert_eq!(
            of([8, 8, 8, 8, 0, 0], GL_UNSIGNED_NORMALIZED),
            Some(GL_UNSIGNED_BYTE)
        );
        assert_eq!(
            of([5, 6, 5, 0, 0, 0], GL_UNSIGNED_NORMALIZED),
            Some(GL_UNSIGNED_SHORT_5_6_5)
        );
        assert_eq!(of([32, 0, 0, 0, 0, 0], GL_INT), Some(GL_INT));
        assert_eq!(of([11, 11, 10, 0, 0, 0], GL_FLOAT), Some(GL_FLOAT));
        assert_eq!(choose([0; 6], None, (0, 0), 0, false), None);
        let depth = choose([0; 6], None, (24, GL_UNSIGNED_NORMALIZED), 8, false);
        assert_eq!(depth.map(|t| t.format), Some(GL_DEPTH_STENCIL));
    }
}
