//! OpenGL's errors for commands that it refuses.

use mgn_wire::gl::*;

/// The error that a refused command raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlError {
    InvalidEnum,
    InvalidValue,
    InvalidOperation,
    StackOverflow,
    StackUnderflow,
}

impl GlError {
    /// The error as `glGetError` returns it.
    pub fn code(self) -> u32 {
        match self {
            GlError::InvalidEnum => GL_INVALID_ENUM,
            GlError::InvalidValue => GL_INVALID_VALUE,
            GlError::InvalidOperation => GL_INVALID_OPERATION,
            GlError::StackOverflow => GL_STACK_OVERFLOW,
            GlError::StackUnderflow => GL_STACK_UNDERFLOW,
        }
    }
}
