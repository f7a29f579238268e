//! What is attached to framebuffers, as far as it decides whether commands succeed that draw to or
//! read from them.

use super::claims::Claim;
use super::Class;
use crate::context::Context;
use mgn_wire::gl::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::MutexGuard;

/// A context's framebuffers by name.
#[derive(Default)]
pub struct Framebuffers {
    table: HashMap<u32, Framebuffer>,
    deletions: u32,
}

#[derive(Default)]
struct Framebuffer {
    /// The last command for each attachment, with its arguments.
    attachments: BTreeMap<u32, Attached>,
    /// `Encoder::changes` at the last of them: what changed attachments otherwise came before.
    since: u32,
    /// How many were deleted when the last of this name was.
    born: u32,
}

struct Attached {
    command: Vec<u32>,
    class: Class,
    name: u32,
    /// See `Image`.
    born: u32,
}

impl Framebuffers {
    pub fn deleted(&mut self, names: &[u32]) {
        for name in names {
            self.deletions = self.deletions.wrapping_add(1);
            let next = Framebuffer {
                born: self.deletions,
                ..Framebuffer::default()
            };
            self.table.insert(*name, next);
        }
    }
}

/// What is known of the images of a share group's textures and renderbuffers.
#[derive(Default)]
pub struct Images {
    textures: HashMap<u32, Image>,
    renderbuffers: HashMap<u32, Image>,
    /// Counts changes of it is not known which.
    all: u32,
}

/// What happens to an image.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Defined(Class, u32),
    Deleted(Class, u32),
    /// Something, to it is not known which.
    Any,
}

#[derive(Clone, Copy, Default)]
struct Image {
    /// Counts definitions and deletions.
    changes: u32,
    /// The same at the last deletion: an object of before is another one.
    born: u32,
}

impl Images {
    pub fn texture(&self, name: u32) -> [u32; 2] {
        [self.all, of(&self.textures, name).changes]
    }

    pub fn renderbuffer(&self, name: u32) -> [u32; 2] {
        [self.all, of(&self.renderbuffers, name).changes]
    }

    pub fn apply(&mut self, change: Change) {
        let (class, name, deleted) = match change {
            Change::Defined(class, name) => (class, name, false),
            Change::Deleted(class, name) => (class, name, true),
            Change::Any => {
                self.all = self.all.wrapping_add(1);
                return;
            }
        };
        let image = self.table(class).entry(name).or_default();
        image.changes = image.changes.wrapping_add(1);
        if deleted {
            image.born = image.changes;
        }
    }

    fn table(&mut self, class: Class) -> &mut HashMap<u32, Image> {
        match class {
            Class::Renderbuffer => &mut self.renderbuffers,
            _ => &mut self.textures,
        }
    }
}

fn of(table: &HashMap<u32, Image>, name: u32) -> Image {
    table.get(&name).copied().unwrap_or_default()
}

impl super::Shared {
    /// What is known of the group's images, locked.
    pub fn images(&self) -> MutexGuard<'_, Images> {
        self.images.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// A command has defined an image of what is bound to `target`.
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

/// A command has attached an image to the framebuffer that is bound to `target`.
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
    let born = of(cx.gl.shared.images().table(class), name).born;
    let since = cx.enc.changes;
    let framebuffer = cx.gl.framebuffers.table.entry(framebuffer).or_default();
    framebuffer.since = since;
    let both = [GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT];
    let places = match attachment {
        GL_DEPTH_STENCIL_ATTACHMENT => &both[..],
        _ => std::slice::from_ref(&attachment),
    };
    for place in places {
        let attached = Attached {
            command: command.to_vec(),
            class,
            name,
            born,
        };
        framebuffer.attachments.insert(*place, attached);
    }
}

/// The framebuffer that is bound to a target.
fn bound(cx: &Context, target: u32) -> Option<u32> {
    let binding = match target {
        GL_FRAMEBUFFER | GL_DRAW_FRAMEBUFFER => GL_DRAW_FRAMEBUFFER_BINDING,
        GL_READ_FRAMEBUFFER => GL_READ_FRAMEBUFFER_BINDING,
        _ => return None,
    };
    cx.gl.state.framebuffer_bound(binding)
}

impl Context {
    /// Adds to a claim all that is known of the framebuffer bound to a target.
    pub(super) fn put_framebuffer(&self, target: u32, claim: &mut Claim) -> Option<()> {
        let name = bound(self, target)?;
        claim.push(name);
        claim.extend(self.gl.state.buffers_of(name)?);
        if name == 0 {
            let surface = match target {
                GL_READ_FRAMEBUFFER => &self.read,
                _ => &self.draw,
            };
            // Without any, what is drawn to nothing fails.
            claim.push(surface.as_ref()?.id);
            return Some(());
        }
        let images = self.gl.shared.images();
        claim.push(images.all);
        let Some(framebuffer) = self.gl.framebuffers.table.get(&name) else {
            return Some(());
        };
        claim.extend([framebuffer.since, framebuffer.born]);
        for (place, attached) in &framebuffer.attachments {
            let now = match attached.class {
                Class::Renderbuffer => of(&images.renderbuffers, attached.name),
                _ => of(&images.textures, attached.name),
            };
            claim.extend([*place, attached.born, now.changes]);
            claim.push(attached.command.len() as u32);
            claim.extend(&attached.command);
        }
        Some(())
    }
}
