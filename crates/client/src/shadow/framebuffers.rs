//! The attachments of framebuffers, as far as they decide whether commands that draw to or read
//! from framebuffers succeed.

use super::objects::class::Class;
use mgn_wire::gl::*;
use std::collections::{BTreeMap, HashMap};

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
    /// `Encoder::changes` at the last of these commands. Other changes of attachments came before.
    since: u32,
    /// The number of deletions when a framebuffer of this name was last deleted.
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

    /// A command has attached an image. `born` tells the object apart from earlier ones of its
    /// name. `since` is `Encoder::changes`.
    pub fn attached(
        &mut self,
        framebuffer: u32,
        attachment: u32,
        command: &[u32],
        (class, name, born): (Class, u32, u32),
        since: u32,
    ) {
        let framebuffer = self.table.entry(framebuffer).or_default();
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

    /// Adds all known state of a framebuffer and its images to a key.
    pub fn put(&self, name: u32, images: &Images, key: &mut Vec<u32>) {
        key.push(images.all);
        let Some(framebuffer) = self.table.get(&name) else {
            return;
        };
        key.extend([framebuffer.since, framebuffer.born]);
        for (place, attached) in &framebuffer.attachments {
            let now = images.image(attached.class, attached.name);
            key.extend([*place, attached.born, now.changes]);
            key.push(attached.command.len() as u32);
            key.extend(&attached.command);
        }
    }
}

/// The known images of a share group's textures and renderbuffers.
#[derive(Default)]
pub struct Images {
    textures: HashMap<u32, Image>,
    renderbuffers: HashMap<u32, Image>,
    /// Counts changes of an unknown image.
    all: u32,
}

/// A change of an image.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Defined(Class, u32),
    Deleted(Class, u32),
    /// Any image may have changed.
    Any,
}

#[derive(Clone, Copy, Default)]
struct Image {
    /// Counts definitions and deletions.
    changes: u32,
    /// The value of `changes` at the last deletion: it tells the object apart from earlier ones of
    /// its name.
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

    /// The number of changes when the object was created.
    pub fn born(&self, class: Class, name: u32) -> u32 {
        self.image(class, name).born
    }

    fn image(&self, class: Class, name: u32) -> Image {
        match class {
            Class::Renderbuffer => of(&self.renderbuffers, name),
            _ => of(&self.textures, name),
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
