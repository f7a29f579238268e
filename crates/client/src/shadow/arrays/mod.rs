//! Vertex arrays. The server knows the arrays in buffer objects. Arrays in the program's memory are
//! known here only, and are sent with each draw.

pub mod gets;
pub mod known_bounds;
pub mod saved;
pub mod tree;
pub mod vertex_array;

use known_bounds::Known;
use saved::Stack;
use std::collections::HashMap;
use vertex_array::VertexArray;

/// A context's vertex arrays.
pub struct Arrays {
    /// The bound vertex array object.
    pub bound: Box<VertexArray>,
    name: u32,
    /// The others, by name.
    others: HashMap<u32, Box<VertexArray>>,
    /// The unit that glClientActiveTexture chose.
    pub client_unit: u32,
    pub saved: Stack,
    /// Contents of buffers that glArrayElement may read between glBegin and glEnd, when they cannot
    /// be fetched.
    pub fetched: Vec<(u32, Vec<u8>)>,
    pub known: Known,
    /// Whether draws may bring arrays along. In a core profile, arrays without a buffer are left to
    /// the driver.
    may_bring: bool,
}

impl Arrays {
    /// `may_bring` says whether arrays may lie in the program's memory in this context.
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
            saved: Stack::default(),
            fetched: Vec::new(),
            known: Known::default(),
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

    /// Creates an object, so that it exists before it is bound.
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

    /// Binds the buffer of indices. Names have been released `released` times so far.
    pub fn set_element_buffer(&mut self, name: u32, released: u32) {
        self.bound.element_buffer = name;
        self.bound.elements_since = released;
    }

    /// A buffer object was deleted: the bound vertex array object releases it, others keep it
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

    /// Makes `name` the bound object.
    pub fn bind_vertex_array(&mut self, name: u32) {
        if name == self.name {
            return;
        }
        let mut next = self.others.remove(&name).unwrap_or_default();
        next.exists = true;
        let previous = std::mem::replace(&mut self.bound, next);
        self.others.insert(self.name, previous);
        self.name = name;
    }

    /// Forgets an object. If it is bound, the default one is bound instead.
    pub fn delete_vertex_array(&mut self, name: u32) {
        if name == 0 {
            return;
        }
        if name == self.name {
            self.bind_vertex_array(0);
        }
        self.others.remove(&name);
    }
}
