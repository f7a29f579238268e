//! The render mode, and the buffers of selection and feedback.

use core::ffi::c_void;
use mgn_wire::gl::*;

/// The render mode, and the program's buffers for selection and feedback.
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
    /// Whether primitives are reported instead of drawn. Then they must not be cut, because the
    /// report shows where strips begin.
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

    /// The buffer for the results of the current mode.
    pub fn place(&self) -> ResultBuffer {
        match self.mode {
            GL_SELECT => self.selection,
            GL_FEEDBACK => self.feedback,
            _ => ResultBuffer::NOWHERE,
        }
    }
}
