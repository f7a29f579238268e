//! Names of objects. The client chooses the lowest free names, as Mesa does.

use std::collections::BTreeSet;

/// Names of one class. Every name below `next` is taken unless it is in `free`. The names in
/// `chosen`, which the program made up, are taken, too.
#[derive(Debug)]
pub struct Names {
    next: u32,
    free: BTreeSet<u32>,
    chosen: BTreeSet<u32>,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            next: 1,
            free: BTreeSet::new(),
            chosen: BTreeSet::new(),
        }
    }
}

impl Names {
    /// Takes the lowest free name.
    pub fn take(&mut self) -> u32 {
        if let Some(name) = self.free.pop_first() {
            return name;
        }
        while self.chosen.remove(&self.next) {
            self.next += 1;
        }
        self.next += 1;
        self.next - 1
    }

    /// Takes `count` names in a row and gives the first.
    pub fn take_range(&mut self, count: u32) -> u32 {
        let mut first = self.next;
        while let Some(&taken) = self
            .chosen
            .range(first..first.saturating_add(count))
            .next_back()
        {
            first = taken + 1;
        }
        self.free.extend(self.next..first);
        for name in self.next..first {
            if self.chosen.remove(&name) {
                self.free.remove(&name);
            }
        }
        self.next = first + count;
        first
    }

    /// The program uses a name that it may have made up. Returns whether the name was new.
    pub fn use_name(&mut self, name: u32) -> bool {
        if name == 0 {
            return false;
        }
        if name < self.next {
            return self.free.remove(&name);
        }
        self.chosen.insert(name)
    }

    pub fn is_taken(&self, name: u32) -> bool {
        name != 0 && (name < self.next && !self.free.contains(&name) || self.chosen.contains(&name))
    }

    pub fn release(&mut self, name: u32) {
        if !self.chosen.remove(&name) && name != 0 && name < self.next {
            self.free.insert(name);
        }
    }
}

impl Names {
    /// Releases `count` names from `first` on, as far as they are taken.
    pub fn release_range(&mut self, first: u32, count: u32) {
        let end = first.saturating_add(count);
        let made_up: Vec<u32> = self.chosen.range(first..end).copied().collect();
        for name in made_up {
            self.chosen.remove(&name);
        }
        for name in first.max(1)..end.min(self.next) {
            self.free.insert(name);
        }
    }
}

/// Names that belong to a share group.
#[derive(Default)]
pub struct SharedNames {
    pub buffers: Names,
    pub textures: Names,
    pub renderbuffers: Names,
    pub samplers: Names,
    pub programs: Names,
    pub assembly: Names,
    pub fragment_shaders: Names,
    pub lists: Names,
    pub syncs: Names,
}

/// Names that belong to one context.
#[derive(Default)]
pub struct Own {
    pub framebuffers: Names,
    pub vertex_arrays: Names,
    pub queries: Names,
    pub pipelines: Names,
    pub transform_feedbacks: Names,
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn lowest_free_first() {
        let mut names = Names::default();
        assert_eq!((names.take(), names.take(), names.take()), (1, 2, 3));
        names.release(2);
        assert!(!names.is_taken(2) && names.is_taken(3));
        assert_eq!((names.take(), names.take()), (2, 4));
    }

    #[test]
    fn made_up_names_are_not_given_out() {
        let mut names = Names::default();
        assert!(names.use_name(2) && !names.use_name(2));
        assert_eq!((names.take(), names.take()), (1, 3));
        assert!(names.use_name(12));
        assert_eq!(names.take_range(10), 13);
        assert_eq!(names.take(), 4);
        assert!(names.is_taken(12));
    }
}
