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
    /// Whether executing what is compiled so far leaves the program between glBegin and glEnd;
    /// none if it leaves that as it was.
    leaves_inside: Option<bool>,
    /// Whether it ends a primitive that it did not begin.
    ends_another: bool,
    watched: Option<Watched>,
}

impl Lists {
    pub fn is_open(&self) -> bool {
        self.open != 0
    }

    /// glBegin (`inside`) or glEnd was compiled, or a list that leaves the program so.
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

    /// The list `name` is begun.
    pub fn new(name: u32, mode: u32) -> Lists {
        Lists {
            open: name,
            mode,
            ..Lists::default()
        }
    }

    /// The list that was begun just now is watched: its records are written from `at` on. `sorts`
    /// if it helps to know that it is plain.
    pub fn watch(&mut self, sorts: bool, at: *const u8) {
        self.watched = Some(Watched {
            plain: sorts.then(Plain::new),
            judged: Some(PredictableBuilder::default()),
            from: at as usize,
        });
    }

    /// Another message begins, with records from there on.
    pub fn begin_message(&mut self, at: *const u8) {
        if let Some(watched) = &mut self.watched {
            watched.from = at as usize;
        }
    }

    /// Records have been written up to `to`. Returns where the unread ones begin, which must be
    /// followed now; none if there are none, or the list is not watched.
    pub fn written(&mut self, to: usize) -> Option<usize> {
        let watched = self.watched.as_mut()?;
        if to <= watched.from {
            return None;
        }
        Some(std::mem::replace(&mut watched.from, to))
    }

    /// Looks at records of the list.
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

/// The commands seen so far of the list under compilation.
struct Watched {
    /// As long as it is plain, and that matters.
    plain: Option<Plain>,
    /// As long as it can be judged.
    judged: Option<PredictableBuilder>,
    /// Where in the message those of its records begin that have not been looked at.
    from: usize,
}

/// The knowledge about lists.
#[derive(Default)]
pub struct Known {
    /// Lists that begin a primitive without ending it, or end one that they did not begin; few
    /// programs have any.
    unbalanced: HashMap<u32, bool>,
    /// Those that are defined, and what they do if they are plain.
    plain: HashMap<u32, Option<Arc<Plain>>>,
    /// The same, and what is known of them if they can be judged.
    predictable: HashMap<u32, Option<Arc<PredictableList>>>,
    /// How many have been defined.
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

    /// Whether every list leaves the program where it was, between glBegin and glEnd or not.
    pub fn are_balanced(&self) -> bool {
        self.unbalanced.is_empty()
    }

    /// Whether a list leaves the program between glBegin and glEnd; none if it leaves that as it
    /// was.
    pub fn leaves_inside(&self, list: u32) -> Option<bool> {
        self.unbalanced.get(&list).copied()
    }

    /// These lists, if they are known; none if any of them is not plain.
    pub fn plain(&self, names: impl Iterator<Item = u32>) -> Option<Vec<Arc<Plain>>> {
        // One that was not defined does nothing.
        names
            .filter_map(|name| self.plain.get(&name).cloned())
            .collect()
    }

    /// All that is called, directly or not; none if any of it cannot be judged.
    pub fn predictable_lists(
        &self,
        names: impl Iterator<Item = u32>,
    ) -> Option<Vec<Arc<PredictableList>>> {
        let mut left: Vec<u32> = names.collect();
        let mut seen: BTreeSet<u32> = left.iter().copied().collect();
        let mut lists = Vec::new();
        while let Some(name) = left.pop() {
            // One that was not defined does nothing.
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
