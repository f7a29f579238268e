//! Lengths of arrays that depend on parameters, as `overlay.toml` names them.

use crate::{gl, sizes};

/// `count * k`, 0 for a negative count (which the driver refuses).
#[inline(always)]
pub fn times(count: i64, k: usize) -> usize {
    usize::try_from(count).map_or(0, |n| n.saturating_mul(k))
}

pub use sizes::gets::{indexed as indexed_values, parameter as values};
pub use sizes::pname::clear_values;

/// glGetActiveUniformBlockiv: one value but for the list of indices, whose length is bounded by the greatest number of uniforms.
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
