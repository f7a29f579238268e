//! Queries of vertex arrays.

use super::Arrays;
use core::ffi::c_void;
use mgn_wire::draws::attr;
use mgn_wire::gl;

/// The queried property of an array.
enum Of {
    Enabled,
    Size,
    Type,
    Stride,
    Buffer,
}

impl Arrays {
    /// The value of a glGetIntegerv name about vertex arrays, in OpenGL or in OpenGL ES 1.
    pub fn get(&self, pname: u32, es1: bool) -> Option<i64> {
        use gl::*;
        let texture = attr::TEXCOORD + (self.client_unit & 7) as u8;
        let (slot, of) = match pname {
            GL_VERTEX_ARRAY_BINDING => return Some(self.name().into()),
            GL_ELEMENT_ARRAY_BUFFER_BINDING => return Some(self.element_buffer().into()),
            GL_CLIENT_ACTIVE_TEXTURE => return Some((GL_TEXTURE0 + self.client_unit).into()),
            GL_VERTEX_ARRAY => (attr::POSITION, Of::Enabled),
            GL_VERTEX_ARRAY_SIZE => (attr::POSITION, Of::Size),
            GL_VERTEX_ARRAY_TYPE => (attr::POSITION, Of::Type),
            GL_VERTEX_ARRAY_STRIDE => (attr::POSITION, Of::Stride),
            GL_VERTEX_ARRAY_BUFFER_BINDING => (attr::POSITION, Of::Buffer),
            GL_NORMAL_ARRAY => (attr::NORMAL, Of::Enabled),
            GL_NORMAL_ARRAY_TYPE => (attr::NORMAL, Of::Type),
            GL_NORMAL_ARRAY_STRIDE => (attr::NORMAL, Of::Stride),
            GL_NORMAL_ARRAY_BUFFER_BINDING => (attr::NORMAL, Of::Buffer),
            GL_COLOR_ARRAY => (attr::COLOR, Of::Enabled),
            GL_COLOR_ARRAY_SIZE => (attr::COLOR, Of::Size),
            GL_COLOR_ARRAY_TYPE => (attr::COLOR, Of::Type),
            GL_COLOR_ARRAY_STRIDE => (attr::COLOR, Of::Stride),
            GL_COLOR_ARRAY_BUFFER_BINDING => (attr::COLOR, Of::Buffer),
            GL_SECONDARY_COLOR_ARRAY => (attr::SECONDARY, Of::Enabled),
            GL_SECONDARY_COLOR_ARRAY_SIZE => (attr::SECONDARY, Of::Size),
            GL_SECONDARY_COLOR_ARRAY_TYPE => (attr::SECONDARY, Of::Type),
            GL_SECONDARY_COLOR_ARRAY_STRIDE => (attr::SECONDARY, Of::Stride),
            GL_SECONDARY_COLOR_ARRAY_BUFFER_BINDING => (attr::SECONDARY, Of::Buffer),
            GL_FOG_COORD_ARRAY => (attr::FOG, Of::Enabled),
            GL_FOG_COORD_ARRAY_TYPE => (attr::FOG, Of::Type),
            GL_FOG_COORD_ARRAY_STRIDE => (attr::FOG, Of::Stride),
            GL_FOG_COORD_ARRAY_BUFFER_BINDING => (attr::FOG, Of::Buffer),
            GL_INDEX_ARRAY => (attr::INDEX, Of::Enabled),
            GL_INDEX_ARRAY_TYPE => (attr::INDEX, Of::Type),
            GL_INDEX_ARRAY_STRIDE => (attr::INDEX, Of::Stride),
            GL_INDEX_ARRAY_BUFFER_BINDING => (attr::INDEX, Of::Buffer),
            GL_EDGE_FLAG_ARRAY => (attr::EDGE_FLAG, Of::Enabled),
            GL_EDGE_FLAG_ARRAY_STRIDE => (attr::EDGE_FLAG, Of::Stride),
            GL_EDGE_FLAG_ARRAY_BUFFER_BINDING => (attr::EDGE_FLAG, Of::Buffer),
            GL_POINT_SIZE_ARRAY_OES => (attr::POINT_SIZE, Of::Enabled),
            GL_POINT_SIZE_ARRAY_TYPE_OES => (attr::POINT_SIZE, Of::Type),
            GL_POINT_SIZE_ARRAY_STRIDE_OES => (attr::POINT_SIZE, Of::Stride),
            GL_POINT_SIZE_ARRAY_BUFFER_BINDING_OES => (attr::POINT_SIZE, Of::Buffer),
            GL_TEXTURE_COORD_ARRAY => (texture, Of::Enabled),
            GL_TEXTURE_COORD_ARRAY_SIZE => (texture, Of::Size),
            GL_TEXTURE_COORD_ARRAY_TYPE => (texture, Of::Type),
            GL_TEXTURE_COORD_ARRAY_STRIDE => (texture, Of::Stride),
            GL_TEXTURE_COORD_ARRAY_BUFFER_BINDING => (texture, Of::Buffer),
            _ => return None,
        };
        exists(slot, es1).then(|| self.of(usize::from(slot), of))
    }

    fn of(&self, slot: usize, of: Of) -> i64 {
        let format = &self.bound.formats[slot];
        match of {
            Of::Enabled => i64::from(self.bound.enabled >> slot & 1),
            Of::Size => format.size.into(),
            Of::Type => format.type_.into(),
            Of::Stride => format.given_stride.into(),
            Of::Buffer => self.bound.binding(slot).buffer.into(),
        }
    }

    /// The pointer of the last pointer command.
    pub fn pointer(&self, slot: u8) -> *mut c_void {
        self.bound.formats[usize::from(slot)].pointer as *mut c_void
    }
}

/// Whether there is such an array of the fixed functions in OpenGL, or in OpenGL ES 1.
pub fn exists(slot: u8, es1: bool) -> bool {
    match slot {
        attr::POINT_SIZE => es1,
        attr::SECONDARY | attr::FOG | attr::INDEX | attr::EDGE_FLAG => !es1,
        _ => true,
    }
}
