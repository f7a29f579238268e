//! A vertex array object.

use mgn_wire::draws::{attr, Kind};
use mgn_wire::gl;
use mgn_wire::sizes::image::attrib_bytes;

/// Slots of a vertex array object.
pub const SLOTS: usize = attr::COUNT as usize;

/// How an array's elements are read. `binding` selects where they lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Format {
    pub size: u32,
    pub type_: u32,
    pub normalized: bool,
    pub kind: Kind,
    /// The stride as the program gave it; 0 if tight.
    pub given_stride: i32,
    pub relative_offset: u32,
    pub binding: u8,
    /// The pointer of the last pointer command. Queries return it, even if another buffer has been
    /// bound since.
    pub pointer: usize,
}

impl Format {
    pub fn element_bytes(&self) -> usize {
        attrib_bytes(self.size, self.type_).unwrap_or(0)
    }
}

/// Where elements lie: in a buffer object, or in the program's memory if `buffer` is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Binding {
    pub buffer: u32,
    pub offset: usize,
    pub stride: usize,
    pub divisor: u32,
}

/// A vertex array object. Slots are numbered as the stream numbers attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexArray {
    pub formats: [Format; SLOTS],
    pub bindings: [Binding; SLOTS],
    /// Bit masks of the enabled slots, and of the slots whose elements are not in a buffer object.
    pub enabled: u32,
    pub client: u32,
    pub element_buffer: u32,
    /// How often names had been released when each binding got its buffer, and when the indices
    /// did. A buffer's name may belong to another buffer by now.
    pub since: [u32; SLOTS],
    pub elements_since: u32,
    /// Whether it was ever bound. Before that, glIsVertexArray returns false.
    pub exists: bool,
}

impl Default for VertexArray {
    fn default() -> VertexArray {
        let formats = std::array::from_fn(|slot| {
            let size = match slot as u8 {
                attr::NORMAL | attr::SECONDARY => 3,
                attr::FOG | attr::INDEX | attr::EDGE_FLAG | attr::POINT_SIZE => 1,
                _ => 4,
            };
            let type_ = if slot as u8 == attr::EDGE_FLAG {
                gl::GL_UNSIGNED_BYTE
            } else {
                gl::GL_FLOAT
            };
            Format {
                size,
                type_,
                normalized: false,
                kind: Kind::Float,
                given_stride: 0,
                relative_offset: 0,
                binding: slot as u8,
                pointer: 0,
            }
        });
        let bindings = [Binding {
            buffer: 0,
            offset: 0,
            stride: 16,
            divisor: 0,
        }; SLOTS];
        VertexArray {
            formats,
            bindings,
            enabled: 0,
            client: u32::MAX,
            element_buffer: 0,
            since: [0; SLOTS],
            elements_since: 0,
            exists: false,
        }
    }
}

impl VertexArray {
    pub fn binding(&self, slot: usize) -> &Binding {
        &self.bindings[usize::from(self.formats[slot].binding)]
    }

    /// Enabled slots, lowest first.
    pub fn enabled_slots(&self) -> impl Iterator<Item = usize> {
        let enabled = self.enabled;
        (0..SLOTS).filter(move |slot| enabled & 1 << slot != 0)
    }

    /// Updates which slots have their elements in the program's memory.
    pub fn find_client_slots(&mut self) {
        self.client = (0..SLOTS)
            .filter(|&slot| self.binding(slot).buffer == 0)
            .fold(0, |bits, slot| bits | 1 << slot);
    }
}
