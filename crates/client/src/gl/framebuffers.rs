//! Commands that define and attach images, as far as the success of other commands depends on it.

use crate::context::Context;
use crate::shadow::framebuffers::Change;
use crate::shadow::known_success::SuccessKey;
use crate::shadow::objects::class::Class;
use mgn_wire::gl::*;

/// A command has defined an image of the texture or renderbuffer that is bound to `target`.
pub fn defined(cx: &mut Context, target: u32) {
    let state = &cx.gl.state;
    let (class, name) = match target {
        GL_RENDERBUFFER => (Class::Renderbuffer, state.renderbuffer_bound()),
        _ => (Class::Texture, state.texture_bound_for(target)),
    };
    cx.image_changes(name.map_or(Change::Any, |name| Change::Defined(class, name)));
}

/// Textures or renderbuffers were deleted.
pub fn images_deleted(cx: &mut Context, class: Class, names: &[u32]) {
    for &name in names {
        cx.image_changes(Change::Deleted(class, name));
    }
}

/// A command has attached an image to the framebuffer bound to `target`.
pub fn attached(
    cx: &mut Context,
    target: u32,
    attachment: u32,
    command: &[u32],
    (class, name): (Class, u32),
) {
    let Some(framebuffer) = bound(cx, target).filter(|name| *name != 0) else {
        return;
    };
    let born = cx.gl.shared.images().born(class, name);
    let since = cx.enc.changes;
    let image = (class, name, born);
    let framebuffers = &mut cx.gl.framebuffers;
    framebuffers.attached(framebuffer, attachment, command, image, since);
}

/// The framebuffer bound to a target.
fn bound(cx: &Context, target: u32) -> Option<u32> {
    let binding = match target {
        GL_FRAMEBUFFER | GL_DRAW_FRAMEBUFFER => GL_DRAW_FRAMEBUFFER_BINDING,
        GL_READ_FRAMEBUFFER => GL_READ_FRAMEBUFFER_BINDING,
        _ => return None,
    };
    cx.gl.state.framebuffer_bound(binding)
}

impl Context {
    /// Adds all known state of the framebuffer bound to a target to a key.
    pub(super) fn put_framebuffer(&self, target: u32, key: &mut SuccessKey) -> Option<()> {
        let name = bound(self, target)?;
        key.push(name);
        key.extend(self.gl.state.buffers_of(name)?);
        if name == 0 {
            let surface = match target {
                GL_READ_FRAMEBUFFER => &self.read,
                _ => &self.draw,
            };
            // Without a surface, draws fail.
            key.push(surface.as_ref()?.id);
            return Some(());
        }
        let images = self.gl.shared.images();
        self.gl.framebuffers.put(name, &images, key);
        Some(())
    }
}
