//! The render mode, and where selection and feedback go.

use core::ffi::c_void;
use mgn_wire::gl::*;

/// The mode, and where the program wants what selection and feedback write.
pub struct RenderModes {
    pub mode: u32,
    pub selection: ResultBuffer,
    pub feedback: ResultBuffer,
    pub feedback_type: u32,
}

/// Memory of the program's for `words` words.
#[derive(Clone, Copy)]
pub struct ResultBuffer {
    pub start: *mut u32,
    pub words: i32,
}

impl ResultBuffer {
    const NOWHERE: ResultBuffer = ResultBuffer {
        start: std::ptr::null_mut(),
        words: 0,
    };
}

impl Default for RenderModes {
    fn default() -> RenderModes {
        RenderModes {
            mode: GL_RENDER,
            selection: ResultBuffer::NOWHERE,
            feedback: ResultBuffer::NOWHERE,
            feedback_type: GL_2D,
        }
    }
}

impl RenderModes {
    /// Whether what is drawn is only told of. Then primitives must not be cut: strips tell where
    /// they begin.
    pub fn tells(&self) -> bool {
        self.mode != GL_RENDER
    }

    /// `GL_SELECTION_BUFFER_POINTER` and `GL_FEEDBACK_BUFFER_POINTER`.
    pub fn pointer(&self, pname: u32) -> *mut c_void {
        match pname {
            GL_SELECTION_BUFFER_POINTER => self.selection.start.cast(),
            _ => self.feedback.start.cast(),
        }
    }

    /// Where what the current mode writes belongs.
    pub fn place(&self) -> ResultBuffer {
        match self.mode {
            GL_SELECT => self.selection,
            GL_FEEDBACK => self.feedback,
            _ => ResultBuffer::NOWHERE,
        }
    }
}
