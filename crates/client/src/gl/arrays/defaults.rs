//! Resets client attributes to those of a new context (EXT_direct_state_access). It calls the
//! commands with which the extension defines this.

use super::{client_attrib::*, entries::*};
use crate::current::context;
use crate::generated::entries::glPrimitiveRestartIndex;
use crate::gl::buffers::glBindBuffer;
use crate::gl::debug::glDisable;
use crate::gl::images::glPixelStorei;
use mgn_wire::draws::attr;
use mgn_wire::gl::*;

pub unsafe extern "C" fn glClientAttribDefaultEXT(mask: u32) {
    // SAFETY: nothing refers to the thread's context; the pointers are null.
    unsafe {
        if context().gl.in_begin() {
            return context().illegal_in_begin();
        }
        if mask & GL_CLIENT_PIXEL_STORE_BIT != 0 {
            default_pixel_store();
        }
        if mask & GL_CLIENT_VERTEX_ARRAY_BIT != 0 {
            default_arrays();
        }
    }
}

pub unsafe extern "C" fn glPushClientAttribDefaultEXT(mask: u32) {
    // SAFETY: as above.
    unsafe {
        glPushClientAttrib(mask);
        if !context().gl.in_begin() {
            glClientAttribDefaultEXT(mask);
        }
    }
}

unsafe fn default_pixel_store() {
    // SAFETY: nothing refers to the thread's context.
    unsafe {
        for pname in GL_UNPACK_SWAP_BYTES..GL_UNPACK_ALIGNMENT {
            glPixelStorei(pname, 0);
        }
        for pname in GL_PACK_SWAP_BYTES..GL_PACK_ALIGNMENT {
            glPixelStorei(pname, 0);
        }
        for pname in [
            GL_UNPACK_SKIP_IMAGES,
            GL_UNPACK_IMAGE_HEIGHT,
            GL_PACK_SKIP_IMAGES,
            GL_PACK_IMAGE_HEIGHT,
        ] {
            glPixelStorei(pname, 0);
        }
        glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
        glPixelStorei(GL_PACK_ALIGNMENT, 4);
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
        glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    }
}

unsafe fn default_arrays() {
    let nowhere = std::ptr::null();
    // SAFETY: nothing refers to the thread's context; the pointers are null.
    unsafe {
        glBindBuffer(GL_ARRAY_BUFFER, 0);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
        for array in [
            GL_EDGE_FLAG_ARRAY,
            GL_INDEX_ARRAY,
            GL_SECONDARY_COLOR_ARRAY,
            GL_FOG_COORD_ARRAY,
            GL_COLOR_ARRAY,
            GL_NORMAL_ARRAY,
            GL_VERTEX_ARRAY,
        ] {
            glDisableClientState(array);
        }
        glEdgeFlagPointer(0, nowhere);
        glIndexPointer(GL_FLOAT, 0, nowhere);
        glSecondaryColorPointer(4, GL_FLOAT, 0, nowhere);
        glFogCoordPointer(GL_FLOAT, 0, nowhere);
        for unit in 0..u32::from(attr::GENERIC - attr::TEXCOORD) {
            glClientActiveTexture(GL_TEXTURE0 + unit);
            glDisableClientState(GL_TEXTURE_COORD_ARRAY);
            glTexCoordPointer(4, GL_FLOAT, 0, nowhere);
        }
        glColorPointer(4, GL_FLOAT, 0, nowhere);
        glNormalPointer(GL_FLOAT, 0, nowhere);
        glVertexPointer(4, GL_FLOAT, 0, nowhere);
        for index in 0..u32::from(attr::COUNT - attr::GENERIC) {
            glDisableVertexAttribArray(index);
            glVertexAttribPointer(index, 4, GL_FLOAT, 0, 0, nowhere);
        }
        glClientActiveTexture(GL_TEXTURE0);
        for pname in [GL_PRIMITIVE_RESTART, GL_PRIMITIVE_RESTART_FIXED_INDEX] {
            if context().gl.state.get(pname).values().is_some() {
                glDisable(pname);
            }
        }
        if context()
            .gl
            .state
            .get(GL_PRIMITIVE_RESTART_INDEX)
            .values()
            .is_some()
        {
            glPrimitiveRestartIndex(0);
        }
    }
}
