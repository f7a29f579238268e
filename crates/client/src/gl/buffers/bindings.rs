//! The buffer that is bound to a command's target.

use crate::context::Context;
use crate::shadow::buffers::bindings::BindingLocation;
use mgn_wire::gl::*;

/// The name of the buffer that is bound to `target`, 0 for none.
///
/// # Errors
/// `GL_INVALID_ENUM`: the context has no such target.
#[inline]
pub fn bound(cx: &Context, target: u32) -> Result<u32, u32> {
    match cx.gl.objects.bindings.place(target) {
        Some(BindingLocation::Slot(slot)) => Ok(cx.gl.objects.bindings.name(slot)),
        Some(BindingLocation::Elements) => Ok(cx.gl.arrays.element_buffer()),
        None => Err(GL_INVALID_ENUM),
    }
}

/// The buffer for a command on `target`. Raises the command's error if none is bound.
pub fn required(cx: &mut Context, target: u32) -> Option<u32> {
    match bound(cx, target) {
        Ok(0) => cx.set_error(GL_INVALID_OPERATION),
        Ok(name) => return Some(name),
        Err(error) => cx.set_error(error),
    }
    None
}
