//! Vertex arrays as the client shadows them. Arrays in buffer objects are the server's; those in
//! the program's memory are known here only, and travel with each draw.

pub mod defaults;
mod draw;
pub mod elements;
pub mod entries;
pub mod fetch;
mod formats;
pub mod gets;
mod hulls;
pub mod indirect;
pub mod named;
pub mod objects;
mod pieces;
pub mod push;
mod sort;
mod sure;
mod tree;

pub use hulls::{Indices, Positions};
use mgn_wire::draws::{attr, Kind};
use mgn_wire::gl;
use mgn_wire::sizes::image::attrib_bytes;
pub use pieces::EVERYONE;
use std::collections::HashMap;

const SLOTS: usize = attr::COUNT as usize;

/// How an array's elements are read. `binding` says where from.
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
    /// What a pointer command gave last, which is what the program is told of it, whatever is
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
    /// Bits of the enabled slots, and of those whose elements aren't in a buffer object.
    pub enabled: u32,
    pub client: u32,
    pub element_buffer: u32,
    /// How often names had been released when each binding got its buffer, and when indices did: a
    /// buffer's name may be another's by now.
    pub since: [u32; SLOTS],
    pub elements_since: u32,
    /// Whether it was ever bound; before that it does not exist for glIsVertexArray.
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

    fn find_client_slots(&mut self) {
        self.client = (0..SLOTS)
            .filter(|&slot| self.binding(slot).buffer == 0)
            .fold(0, |bits, slot| bits | 1 << slot);
    }
}

/// A context's vertex arrays.
pub struct Arrays {
    /// The one that is bound.
    pub bound: Box<VertexArray>,
    name: u32,
    /// The others, by name.
    others: HashMap<u32, Box<VertexArray>>,
    /// What glClientActiveTexture chose.
    pub client_unit: u32,
    pushed: push::Stack,
    /// Contents of buffers that glArrayElement may read between glBegin and glEnd, where nobody
    /// can be asked for them.
    fetched: Vec<(u32, Vec<u8>)>,
    known: sort::Known,
    /// Whether draws may bring arrays along. In a core profile an array without a buffer is the
    /// driver's affair.
    may_bring: bool,
}

impl Arrays {
    /// For a context in which arrays may lie in the program's memory, or for one in which they may
    /// not.
    pub fn new(may_bring: bool) -> Arrays {
        let bound = Box::new(VertexArray {
            exists: true,
            ..VertexArray::default()
        });
        Arrays {
            bound,
            name: 0,
            others: HashMap::new(),
            client_unit: 0,
            pushed: push::Stack::default(),
            fetched: Vec::new(),
            known: sort::Known::default(),
            may_bring,
        }
    }

    /// Whether a draw has to bring vertices along.
    #[inline(always)]
    pub fn needs_client_memory(&self) -> bool {
        self.may_bring && self.bound.enabled & self.bound.client != 0
    }

    /// The name of the vertex array object that is bound.
    pub fn name(&self) -> u32 {
        self.name
    }

    /// Whether an object of this name was ever bound, or created.
    pub fn exists(&self, name: u32) -> bool {
        name == self.name || self.others.get(&name).is_some_and(|array| array.exists)
    }

    /// Makes an object, which exists before it is bound.
    pub fn create_vertex_array(&mut self, name: u32) {
        let array = VertexArray {
            exists: true,
            ..VertexArray::default()
        };
        self.others.insert(name, Box::new(array));
    }

    pub fn element_buffer(&self) -> u32 {
        self.bound.element_buffer
    }

    /// Binds the buffer of indices, when names have been released `released` times.
    pub fn set_element_buffer(&mut self, name: u32, released: u32) {
        self.bound.element_buffer = name;
        self.bound.elements_since = released;
    }

    /// A buffer object was deleted: the bound vertex array object lets go of it, others keep it
    /// (OpenGL 4.6, section 5.1.2).
    pub fn buffer_deleted(&mut self, name: u32) {
        if self.bound.element_buffer == name {
            self.bound.element_buffer = 0;
        }
        let mut found = false;
        for binding in &mut self.bound.bindings {
            if binding.buffer == name {
                binding.buffer = 0;
                binding.offset = 0;
                found = true;
            }
        }
        if found {
            self.bound.find_client_slots();
        }
    }
}
