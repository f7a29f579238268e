//! The layout of a run's vertices.

use mgn_wire::draws::attr;
use mgn_wire::encoder::put;

/// The number of attributes in the stream's numbering.
pub const ATTRIBUTES: usize = attr::COUNT as usize;

/// Which attributes a vertex has, in the order in which they were first set; the position comes
/// last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    order: Vec<u8>,
    /// Components by attribute, 0 for none. The position has 0 until the first vertex.
    pub components: [u8; ATTRIBUTES],
}

impl Layout {
    /// The attributes without the position, in order.
    pub fn attributes(&self) -> impl Iterator<Item = u8> + '_ {
        self.order.iter().copied()
    }

    pub fn position(&self) -> u8 {
        self.components[usize::from(attr::POSITION)]
    }

    /// Adds an attribute to the layout, or widens it.
    pub fn set(&mut self, attribute: u8, components: u8) {
        if attribute != attr::POSITION && self.components[usize::from(attribute)] == 0 {
            self.order.push(attribute);
        }
        self.components[usize::from(attribute)] = components;
    }

    /// Bytes of a vertex.
    pub fn stride(&self) -> usize {
        4 * self
            .attributes()
            .chain([attr::POSITION])
            .map(|a| usize::from(self.components[usize::from(a)]))
            .sum::<usize>()
    }

    fn pairs(&self) -> usize {
        self.order.len() + 1
    }

    /// Bytes of a run's record before the vertices.
    pub fn header_bytes(&self) -> usize {
        20 + (self.pairs() * 2).next_multiple_of(4)
    }

    /// Writes the record up to the vertices, except for the first word.
    ///
    /// # Safety
    /// `header_bytes` can be written at `at`.
    pub unsafe fn write_header(&self, at: *mut u8, mode: u32, flags: u32, vertex_bytes: usize) {
        let pairs = self.order.iter().chain([&attr::POSITION]);
        // SAFETY: the offsets lie within the header.
        unsafe {
            put(at, 4, mode);
            put(at, 8, flags);
            put(at, 12, (self.pairs() * 2) as u32);
            for (i, &a) in pairs.enumerate() {
                put(at, 16 + i * 2, [a, self.components[usize::from(a)]]);
            }
            put(at, self.header_bytes() - 4, vertex_bytes as u32);
        }
    }
}
