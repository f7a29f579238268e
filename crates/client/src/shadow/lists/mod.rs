//! Display lists: the one under compilation, and what is known of the others.

mod current;
mod drawn;
pub mod plain;
pub mod predictable;

use mgn_wire::gl;
use plain::Plain;
use predictable::{PredictableBuilder, PredictableList};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The list under compilation.
#[derive(Default)]
pub struct Lists {
    /// Its name, 0 for none.
    open: u32,
    mode: u32,
    /// Whether executing the commands compiled so far leaves the program between glBegin and glEnd;
    /// none if they do not change that.
    leaves_inside: Option<bool>,
    /// Whether the list ends a primitive that it did not begin.
    ends_another: bool,
    watched: Option<Watched>,
}

impl Lists {
    pub fn is_open(&self) -> bool {
        self.open != 0
    }

    /// Called when glBegin (`inside`) or glEnd was compiled, or a list that has the same effect.
    pub fn leaves(&mut self, inside: bool) {
        if inside {
            self.leaves_inside = Some(true);
            return;
        }
        self.ends_another |= self.leaves_inside != Some(true);
        self.leaves_inside = self.ends_another.then_some(false);
    }

    /// Whether commands are compiled without being executed, so that they change no state now.
    pub fn only_compiles(&self) -> bool {
        self.mode == gl::GL_COMPILE
    }

    /// Begins the list `name`.
    pub fn new(name: u32, mode: u32) -> Lists {
        Lists {
            open: name,
            mode,
            ..Lists::default()
        }
    }

    /// Watches the list that was just begun: its records are written from `at` on. `sorts` says
    /// whether it matters that the list is plain.
    pub fn watch(&mut self, sorts: bool, at: *const u8) {
        self.watched = Some(Watched {
            plain: sorts.then(Plain::new),
            judged: Some(PredictableBuilder::default()),
            from: at as usize,
        });
    }

    /// Another message begins. Its records are written from `at` on.
    pub fn begin_message(&mut self, at: *const u8) {
        if let Some(watched) = &mut self.watched {
            watched.from = at as usize;
        }
    }

    /// Records have been written up to `to`. Returns the start of the unread ones, which must be
    /// followed now; none if there are none, or the list is not watched.
    pub fn written(&mut self, to: usize) -> Option<usize> {
        let watched = self.watched.as_mut()?;
        if to <= watched.from {
            return None;
        }
        Some(std::mem::replace(&mut watched.from, to))
    }

    /// Follows records of the list.
    pub fn follow(&mut self, records: &[u8]) {
        let Some(Watched { plain, judged, .. }) = &mut self.watched else {
            return;
        };
        if plain
            .as_mut()
            .is_some_and(|it| it.follow(records).is_none())
        {
            *plain = None;
        }
        if judged
            .as_mut()
            .is_some_and(|it| it.follow(records).is_none())
        {
            *judged = None;
        }
        if plain.is_none() && judged.is_none() {
            self.watched = None;
        }
    }
}

/// What is known so far of the list under compilation.
struct Watched {
    /// None if the list is not plain, or if that does not matter.
    plain: Option<Plain>,
    /// None if the list cannot be judged.
    judged: Option<PredictableBuilder>,
    /// The start of the unread records in the message.
    from: usize,
}

/// The knowledge about lists.
#[derive(Default)]
pub struct Known {
    /// Lists that begin a primitive without ending it, or end one that they did not begin. The
    /// value says whether the program is between glBegin and glEnd afterwards. Few programs have
    /// such lists.
    unbalanced: HashMap<u32, bool>,
    /// The defined lists, with their effect if they are plain.
    plain: HashMap<u32, Option<Arc<Plain>>>,
    /// The defined lists, with the known facts if they can be judged.
    predictable: HashMap<u32, Option<Arc<PredictableList>>>,
    /// The number of definitions so far.
    defined: u32,
}

impl Known {
    /// The list under compilation has ended.
    pub fn define(&mut self, list: Lists) {
        let name = list.open;
        match list.leaves_inside {
            Some(inside) => self.unbalanced.insert(name, inside),
            None => self.unbalanced.remove(&name),
        };
        let (plain, judged) = match list.watched {
            Some(Watched { plain, judged, .. }) => (plain, judged),
            None => (None, None),
        };
        let plain = plain.and_then(Plain::end);
        self.plain.insert(name, plain.map(Arc::new));
        self.defined = self.defined.wrapping_add(1);
        let predictable = judged.and_then(|judged| judged.end(self.defined));
        self.predictable.insert(name, predictable.map(Arc::new));
    }

    /// Forgets `count` lists from `first` on.
    pub fn delete(&mut self, first: u32, count: u32) {
        let stays = |list: u32| list.wrapping_sub(first) >= count;
        self.unbalanced.retain(|list, _| stays(*list));
        self.plain.retain(|list, _| stays(*list));
        self.predictable.retain(|list, _| stays(*list));
    }

    /// Whether no list changes whether the program is between glBegin and glEnd.
    pub fn are_balanced(&self) -> bool {
        self.unbalanced.is_empty()
    }

    /// Whether a list leaves the program between glBegin and glEnd; none if the list does not
    /// change that.
    pub fn leaves_inside(&self, list: u32) -> Option<bool> {
        self.unbalanced.get(&list).copied()
    }

    /// These lists, if all are known and plain; otherwise none.
    pub fn plain(&self, names: impl Iterator<Item = u32>) -> Option<Vec<Arc<Plain>>> {
        // A list that was not defined does nothing.
        names
            .filter_map(|name| self.plain.get(&name).cloned())
            .collect()
    }

    /// All lists that are called, directly or not; none if any of them cannot be judged.
    pub fn predictable_lists(
        &self,
        names: impl Iterator<Item = u32>,
    ) -> Option<Vec<Arc<PredictableList>>> {
        let mut left: Vec<u32> = names.collect();
        let mut seen: BTreeSet<u32> = left.iter().copied().collect();
        let mut lists = Vec::new();
        while let Some(name) = left.pop() {
            // A list that was not defined does nothing.
            let Some(list) = self.predictable.get(&name) else {
                continue;
            };
            let list = list.as_ref()?;
            left.extend(list.calls.iter().filter(|name| seen.insert(**name)));
            lists.push(list.clone());
        }
        Some(lists)
    }
}
