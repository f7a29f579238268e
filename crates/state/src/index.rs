//! Finds the place of a name's values.

/// Where a name's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueLocation {
    /// Row `row` of the table, at a fixed place.
    Row {
        row: u16,
        at: u16,
    },
    /// A constant, by its number.
    Constant(u16),
    /// A value of the active texture unit's fixed functions.
    Coord(u16),
    /// A value of the active texture unit.
    Unit(u16),
    Matrix,
    /// A current vertex attribute.
    Current,
    /// The display list being compiled.
    List,
    /// The depth of an attribute stack.
    Attrib,
    /// A draw or read buffer of a bound framebuffer.
    Framebuffer,
    /// Something that follows from what a bound framebuffer has attached.
    Derived,
}

/// A hash table of names with open addressing, at most half full.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    entries: Box<[(u32, ValueLocation)]>,
    used: usize,
}

const EMPTY: u32 = u32::MAX;

impl Index {
    pub fn new() -> Index {
        Index {
            entries: vec![(EMPTY, ValueLocation::List); 2048].into(),
            used: 0,
        }
    }

    fn start(&self, pname: u32) -> usize {
        (pname.wrapping_mul(0x9e37_79b1) >> 16) as usize & (self.entries.len() - 1)
    }

    #[inline]
    pub fn find(&self, pname: u32) -> Option<ValueLocation> {
        let mut i = self.start(pname);
        loop {
            match self.entries[i] {
                (name, place) if name == pname && pname != EMPTY => return Some(place),
                (EMPTY, _) => return None,
                _ => i = (i + 1) & (self.entries.len() - 1),
            }
        }
    }

    /// Adds a name, unless it has a place already.
    pub fn add(&mut self, pname: u32, place: ValueLocation) {
        if pname == EMPTY || self.find(pname).is_some() {
            return;
        }
        if self.used * 2 >= self.entries.len() {
            let double = vec![(EMPTY, ValueLocation::List); self.entries.len() * 2];
            let old = std::mem::replace(&mut self.entries, double.into());
            self.used = 0;
            for (name, place) in old.into_vec() {
                self.add(name, place);
            }
        }
        let mut i = self.start(pname);
        while self.entries[i].0 != EMPTY {
            i = (i + 1) & (self.entries.len() - 1);
        }
        self.entries[i] = (pname, place);
        self.used += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_added() {
        let mut index = Index::new();
        for i in 0..5000u32 {
            index.add(i * 7, ValueLocation::Constant(i as u16));
        }
        for i in 0..5000u32 {
            assert_eq!(index.find(i * 7), Some(ValueLocation::Constant(i as u16)));
            assert_eq!(index.find(i * 7 + 3), None);
        }
        assert_eq!(index.find(u32::MAX), None);
        index.add(7, ValueLocation::List);
        assert_eq!(index.find(7), Some(ValueLocation::Constant(1)));
    }
}
