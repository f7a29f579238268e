//! Names of objects. The client chooses its names, the driver has others, and these tables map
//! between them.
//!
//! A context sees two sets of tables: those of its share group, and its own. Both are moved in when
//! the context becomes current, and moved out when it stops being current. So a look-up is an index
//! into a vector.

use crate::handwritten::buffer_textures::Shown;
use crate::handwritten::split_lists::SplitLists;
use crate::snapshot::lists::Lists;
use std::collections::{HashMap, HashSet};
use std::ffi::c_void;

/// A name space of objects. The contexts of a share group have the first `SHARED` of these in
/// common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Buffer,
    Texture,
    Renderbuffer,
    Sampler,
    /// Programs and shaders share one name space. Their names outlive deletion, because an object
    /// that is in use does too. A name is forgotten only when the client gives it to another
    /// object.
    Program,
    /// Programs in assembly language.
    Assembly,
    /// ATI_fragment_shader
    FragmentShader,
    Framebuffer,
    VertexArray,
    Query,
    Pipeline,
    TransformFeedback,
}

const SHARED: usize = 7;
const OWN: usize = 5;

/// A name that the driver has never generated, and refuses.
pub const UNKNOWN: u32 = u32::MAX;

/// The most objects of one class that a program may name. No program needs that many, and the
/// tables alone do not fill memory.
pub const OBJECTS_MAX: usize = 1 << 24;

/// The most deleted objects whose names are remembered. Drivers reuse names, so the table seldom
/// has more entries than the number of objects that ever existed at one time.
const MOST_DELETED: usize = 1 << 13;

/// Names below this are kept in a vector that grows to the highest of them.
const DENSE_NAMES_MAX: usize = 1 << 20;

/// One class's names.
#[derive(Debug, Default)]
pub struct Table {
    /// Driver names by client name; 0 is absent.
    dense: Vec<u32>,
    sparse: HashMap<u32, u32>,
    count: usize,
    /// The client's names of deleted objects, by the driver's names. A deleted object lives on
    /// while it is attached, and queries of the attachment return its old name.
    deleted: HashMap<u32, u32>,
}

impl Table {
    #[inline]
    pub fn get(&self, name: u32) -> Option<u32> {
        match self.dense.get(name as usize) {
            Some(&driver) if driver != 0 => Some(driver),
            _ if self.sparse.is_empty() => None,
            _ => self.sparse.get(&name).copied(),
        }
    }

    /// Maps `name` to `driver`, both nonzero. Returns whether there was room.
    pub fn set(&mut self, name: u32, driver: u32) -> bool {
        debug_assert!(name != 0 && driver != 0);
        if self.count >= OBJECTS_MAX {
            return false;
        }
        self.remove(name);
        // The driver reuses the names of deleted objects.
        self.deleted.remove(&driver);
        self.count += 1;
        let index = name as usize;
        // The vector grows by a bounded factor only, so that a few high names do not make it long.
        if index < DENSE_NAMES_MAX && index < self.dense.len() * 2 + 1024 {
            if index >= self.dense.len() {
                self.dense.resize(index + 1, 0);
            }
            self.dense[index] = driver;
        } else {
            self.sparse.insert(name, driver);
        }
        true
    }

    pub fn remove(&mut self, name: u32) -> Option<u32> {
        let driver = match self.dense.get_mut(name as usize) {
            Some(slot) if *slot != 0 => std::mem::take(slot),
            _ => self.sparse.remove(&name)?,
        };
        self.count -= 1;
        if self.deleted.len() >= MOST_DELETED {
            self.deleted.clear();
        }
        self.deleted.insert(driver, name);
        Some(driver)
    }

    /// All of the client's names with the driver's, in order.
    pub fn all(&self) -> Vec<(u32, u32)> {
        let dense = self
            .dense
            .iter()
            .zip(0..)
            .filter(|(&driver, _)| driver != 0);
        let mut all: Vec<(u32, u32)> = dense.map(|(&driver, name)| (name, driver)).collect();
        all.extend(self.sparse.iter().map(|(&name, &driver)| (name, driver)));
        all.sort_unstable();
        all
    }

    /// The client's name of a driver's object. Walks the table, so it is only for queries that the
    /// client cannot answer.
    pub fn client(&self, driver: u32) -> Option<u32> {
        let dense = self
            .dense
            .iter()
            .position(|&d| d == driver)
            .map(|i| i as u32);
        dense.or_else(|| {
            self.sparse
                .iter()
                .find(|(_, &d)| d == driver)
                .map(|(&name, _)| name)
        })
    }

    /// The client's name for a driver's name, for queries by the program. The object may be deleted
    /// and still attached to another.
    pub fn shown(&self, driver: u32) -> Option<u32> {
        let deleted = || self.deleted.get(&driver).copied();
        self.client(driver).or_else(deleted)
    }
}

/// The tables of a share group.
#[derive(Debug, Default)]
pub struct Shared {
    tables: [Table; SHARED],
    /// Whether a display list was compiled that changes the draw or read buffers.
    pub lists_switch_buffers: bool,
    /// Whether a display list was compiled that sets the divisor of an attribute, which also moves
    /// the attribute to another binding point.
    pub lists_divide: bool,
    /// Whether a display list was compiled that may set scissor boxes.
    pub lists_scissor: bool,
    pub split_lists: SplitLists,
    /// The commands of display lists, on a wall.
    pub lists: Lists,
    /// Texture views, with the driver's names of the textures that they were made from.
    pub views: HashMap<u32, u32>,
    /// The driver's names of deleted buffers that may still be attached somewhere, and whether they
    /// had storage.
    pub deleted_buffers: HashMap<u32, bool>,
    /// Textures that show a part of a buffer, by the driver's names of the textures.
    pub shown: HashMap<u32, Shown>,
    /// The driver's names of deleted textures that may still be bound somewhere.
    pub deleted_textures: HashSet<u32>,
    /// Whether a part of a buffer was ever bound, or attached to a texture.
    pub has_parts: bool,
    /// Fences by the client's name of them.
    pub syncs: HashMap<u32, Sync>,
}

impl Shared {
    /// The names of a class that the contexts of a share group have in common.
    pub fn table(&self, class: Class) -> &Table {
        &self.tables[class as usize]
    }
}

/// A driver's fence. Owned by the share group, which deletes it.
#[derive(Debug, Clone, Copy)]
pub struct Sync(pub *const c_void);

/// The tables of one context.
#[derive(Debug, Default)]
pub struct Own {
    tables: [Table; OWN],
}

/// The tables that the current context sees.
#[derive(Debug, Default)]
pub struct Names {
    pub shared: Box<Shared>,
    pub own: Box<Own>,
}

impl Names {
    #[inline]
    pub fn table(&self, class: Class) -> &Table {
        let index = class as usize;
        if index < SHARED {
            &self.shared.tables[index]
        } else {
            &self.own.tables[index - SHARED]
        }
    }

    #[inline]
    pub fn table_mut(&mut self, class: Class) -> &mut Table {
        let index = class as usize;
        if index < SHARED {
            &mut self.shared.tables[index]
        } else {
            &mut self.own.tables[index - SHARED]
        }
    }

    /// The driver's name, if the client has named such an object. 0 is mapped to 0.
    #[inline]
    pub fn find(&self, class: Class, name: u32) -> Option<u32> {
        if name == 0 {
            Some(0)
        } else {
            self.table(class).get(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_they_lie() {
        let mut table = Table::default();
        for name in [1, 5, 1000, 5000, 1 << 19, u32::MAX, 70_000] {
            assert!(table.set(name, name ^ 0x55));
        }
        for name in [1, 5, 1000, 5000, 1 << 19, u32::MAX, 70_000] {
            assert_eq!(table.get(name), Some(name ^ 0x55));
            assert_eq!(table.client(name ^ 0x55), Some(name));
        }
        assert_eq!(table.get(2), None);
        assert_eq!(table.count, 7);
        assert_eq!(table.remove(5000), Some(5000 ^ 0x55));
        assert_eq!(table.remove(5000), None);
        assert_eq!(table.get(5000), None);
    }

    #[test]
    fn a_name_moves_from_sparse_to_dense_without_a_double() {
        let mut table = Table::default();
        table.set(3000, 7);
        for name in 1..3000 {
            table.set(name, name);
        }
        assert_eq!(table.get(3000), Some(7));
        table.set(3000, 8);
        assert_eq!(table.get(3000), Some(8));
        assert_eq!(table.remove(3000), Some(8));
        assert_eq!(table.get(3000), None);
        assert_eq!(table.count, 2999);
    }

    #[test]
    fn deleted_objects_keep_their_names_until_the_driver_gives_them_again() {
        let mut table = Table::default();
        table.set(5, 70);
        assert_eq!(table.remove(5), Some(70));
        assert_eq!((table.client(70), table.shown(70)), (None, Some(5)));
        table.set(9, 70);
        assert_eq!((table.client(70), table.shown(70)), (Some(9), Some(9)));
        assert_eq!(table.remove(9), Some(70));
        assert_eq!(table.shown(70), Some(9));
        assert_eq!(table.shown(71), None);
        for name in 1..=2 * MOST_DELETED as u32 {
            table.set(name, name + 1000);
            table.remove(name);
        }
        assert!(table.deleted.len() <= MOST_DELETED);
    }

    #[test]
    fn high_names_cost_no_long_vector() {
        let mut table = Table::default();
        for i in 0..1000u32 {
            table.set(u32::MAX - i * 4_000_000, 1 + i);
        }
        assert!(table.dense.len() < 4096);
    }
}
