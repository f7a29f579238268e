//! The objects that the contexts of a share group share: names, textures and display lists.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::lists::List;
use crate::textures::{Parameters, Texture};
use crate::units::TARGETS;
use crate::GlError;

/// The shared objects of a group of contexts, as far as gets depend on them.
#[derive(Default)]
pub struct Shared {
    objects: Mutex<Objects>,
    /// A texture has been given storage, or automatic mipmaps.
    special_textures: AtomicBool,
}

pub(crate) struct Objects {
    pub textures: HashMap<u32, Texture>,
    /// The textures that are bound where none is, by the number of the target.
    pub defaults: [Texture; TARGETS.len()],
    pub samplers: HashSet<u32>,
    pub buffers: HashSet<u32>,
    pub renderbuffers: HashSet<u32>,
    pub lists: HashMap<u32, Arc<List>>,
}

impl Default for Objects {
    fn default() -> Objects {
        Objects {
            textures: HashMap::new(),
            defaults: TARGETS.map(|(target, _)| Texture::new(target)),
            samplers: HashSet::new(),
            buffers: HashSet::new(),
            renderbuffers: HashSet::new(),
            lists: HashMap::new(),
        }
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Objects> {
        // The contents are as valid after a panic as before.
        self.objects.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Whether every texture is one that glTexImage can redefine and glTexSubImage can fill in
    /// steps: with storage the one is refused and the other not, with automatic mipmaps each step
    /// costs as much as all.
    pub fn textures_are_plain(&self) -> bool {
        !self.special_textures.load(Ordering::Relaxed)
    }

    pub(crate) fn texture_is_special(&self) {
        self.special_textures.store(true, Ordering::Relaxed);
    }

    /// Binding a texture makes it one of the target; one of another target is refused, and so
    /// is a name that was not generated where the program may not `invent` any. False if only
    /// the driver knows.
    pub(crate) fn use_texture(
        &self,
        name: u32,
        target: u32,
        invent: bool,
    ) -> Result<bool, GlError> {
        if name == 0 {
            return Ok(true);
        }
        let mut objects = self.lock();
        match objects.textures.get_mut(&name) {
            Some(texture) if texture.revived => Ok(false),
            Some(texture) if texture.target == target => Ok(true),
            Some(texture) if texture.target == 0 => {
                *texture = Texture::first_bound(target);
                Ok(true)
            }
            Some(_) => Err(GlError::InvalidOperation),
            None if invent => {
                objects.textures.insert(name, Texture::first_bound(target));
                Ok(true)
            }
            None => Err(GlError::InvalidOperation),
        }
    }

    /// An attribute stack bound a texture that had been deleted. Only the driver knows its state
    /// now.
    pub(crate) fn revive_texture(&self, name: u32) {
        let mut texture = Texture::reserved();
        texture.revived = true;
        self.lock().textures.insert(name, texture);
    }

    /// Only the driver knows which texture of a target a command changed.
    pub(crate) fn forget_target(&self, target: u32) {
        let mut objects = self.lock();
        let Objects {
            textures, defaults, ..
        } = &mut *objects;
        let all = textures.values_mut().chain(defaults);
        all.filter(|texture| texture.target == target)
            .for_each(Texture::forget);
    }

    /// A texture's target, if it has one yet.
    pub(crate) fn texture_target(&self, name: u32) -> Option<u32> {
        let objects = self.lock();
        objects
            .textures
            .get(&name)
            .map(|t| t.target)
            .filter(|&t| t != 0)
    }

    /// The parameters of a texture, or of the default one of a target.
    pub(crate) fn with_texture<T>(
        &self,
        target: usize,
        name: u32,
        how: impl FnOnce(&mut Texture) -> T,
    ) -> Option<T> {
        let mut objects = self.lock();
        match name {
            0 => Some(how(&mut objects.defaults[target])),
            name => objects.textures.get_mut(&name).map(how),
        }
    }

    /// The parameters of the textures named, for an attribute stack.
    pub(crate) fn saved_parameters(
        &self,
        textures: impl Iterator<Item = (usize, u32)>,
    ) -> Vec<(usize, u32, Parameters)> {
        let objects = self.lock();
        let parameters = |target: usize, name: u32| match name {
            0 => Some(objects.defaults[target].parameters),
            name => objects.textures.get(&name).map(|t| t.parameters),
        };
        textures
            .filter_map(|(target, name)| Some((target, name, parameters(target, name)?)))
            .collect()
    }

    pub(crate) fn is_sampler(&self, name: u32) -> bool {
        self.lock().samplers.contains(&name)
    }
}
