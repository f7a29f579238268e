//! Lengths of arrays that depend on parameters, as `commands.toml` names them.

use crate::{gl, sizes};

/// `count * k`, 0 for a negative count (which the driver refuses).
#[inline(always)]
pub fn times(count: i64, k: usize) -> usize {
    usize::try_from(count).map_or(0, |n| n.saturating_mul(k))
}

pub use sizes::gets::{indexed as indexed_values, parameter as values, program as program_values};
pub use sizes::pname::clear_values;

/// glGetActiveUniformBlockiv: one value except for the list of indices, whose length is bounded by
/// the greatest number of uniforms.
pub fn uniform_block_values(_program: u32, _block: u32, pname: u32) -> usize {
    if pname == gl::GL_UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES {
        16_384
    } else {
        1
    }
}

/// glGetMap: the coefficients are bounded by the greatest order.
pub fn map_values(_target: u32, query: u32) -> usize {
    match query {
        gl::GL_COEFF => 4 * 64 * 64,
        gl::GL_DOMAIN => 4,
        _ => 2,
    }
}

/// glMap1: the values from the first control point to the last, `stride` apart; 0 for arguments
/// that the driver refuses.
pub fn map1_points(target: u32, stride: i32, order: i32) -> usize {
    map2_points(target, stride, order, 0, 1)
}

/// The same for glMap2.
pub fn map2_points(target: u32, ustride: i32, uorder: i32, vstride: i32, vorder: i32) -> usize {
    let Some(components) = sizes::image::map_components(target) else {
        return 0;
    };
    let span =
        |stride: i32, order: i32| times(i64::from(order) - 1, usize::try_from(stride).unwrap_or(0));
    if uorder < 1 || vorder < 1 || uorder > 64 || vorder > 64 {
        return 0;
    }
    span(ustride, uorder) + span(vstride, vorder) + components
}
