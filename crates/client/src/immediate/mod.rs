//! The run of vertices that is being collected between glBegin and glEnd.
//!
//! A run's layout holds the attributes that were set since glBegin. They go to a template, and each
//! glVertex appends one interleaved vertex of floats.

pub mod block;
pub mod layout;
pub mod sort;
pub mod weld;

use block::Block;
use layout::{Layout, ATTRIBUTES};
use mgn_state::Current;
use mgn_wire::draws::attr;
use mgn_wire::gl;
use sort::Sort;
use weld::Welder;

/// Whether the program is between glBegin and glEnd, and how the vertices are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Outside,
    /// Between glBegin and glEnd; the vertices are collected in a run.
    Run,
    /// Between glBegin and glEnd; each call is sent as a command.
    Verbatim,
}

/// The mode of a primitive that was begun by a display list.
pub const OF_A_LIST: u32 = u32::MAX;

/// Values of every attribute of one vertex.
pub type Vertex = [[f32; 4]; ATTRIBUTES];

/// The fields that a vertex with a normal uses come first.
#[repr(C)]
pub struct Immediate {
    /// Where the next vertex goes; never null.
    pub at: *mut u8,
    /// `limit[n]`: the last place where a vertex with n position components may start. Null if such
    /// a vertex takes the slow path.
    pub limit: [*mut u8; 5],
    /// Bytes of a vertex.
    pub stride: usize,
    /// The number of attributes before the position.
    pub slots: usize,
    /// The components of each attribute in the layout; 0 for none, and for all attributes outside
    /// glBegin/glEnd.
    pub components: [u8; ATTRIBUTES],
    /// The slot of each attribute in the template.
    pub slot: [u8; ATTRIBUTES],
    /// Bytes of the attribute in each slot.
    pub slot_bytes: [u8; ATTRIBUTES],
    /// The attributes of the next vertex, without the position, in the order of the layout.
    pub template: [Block; ATTRIBUTES],
    pub phase: Phase,
    pub mode: u32,
    pub layout: Layout,
    /// The run's record, and its first vertex behind the record's header.
    pub record: *mut u8,
    pub start: *mut u8,
    /// The end of the chunk. It is hidden from the encoder between glBegin and glEnd, so that the
    /// encoder refuses other commands.
    pub chunk_end: *mut u8,
    /// A part of this primitive has been sent.
    pub was_cut: bool,
    /// The first vertex of a line loop that was cut. It is repeated at the end to close the loop.
    pub loop_first: Option<Box<Vertex>>,
    /// The encoder's place at which the last run may be continued, because nothing follows it.
    pub reopen_at: *mut u8,
    pub welder: Welder,
    pub sort: Sort,
    /// Room after the vertices for the result of sorting.
    pub sort_room: usize,
    /// How long the connection had made us wait in total when the last run was closed.
    pub waited: u64,
    pub pending_error: Option<u32>,
    /// A display list is being compiled: each call is sent as a command.
    pub compiling: bool,
    /// Whether the context has immediate mode.
    pub is_there: bool,
}

impl Immediate {
    /// The state of a new context. `is_there` says whether the context has immediate mode.
    pub fn new(is_there: bool) -> Immediate {
        let null = std::ptr::null_mut();
        Immediate {
            at: std::ptr::dangling_mut(),
            limit: [null; 5],
            stride: 0,
            slots: 0,
            components: [0; ATTRIBUTES],
            slot: [0; ATTRIBUTES],
            slot_bytes: [0; ATTRIBUTES],
            template: [Block::new([0.0; 4]); ATTRIBUTES],
            phase: Phase::Outside,
            mode: 0,
            layout: Layout::default(),
            record: null,
            start: null,
            chunk_end: null,
            was_cut: false,
            loop_first: None,
            reopen_at: null,
            welder: Welder::new(),
            sort: Sort::default(),
            sort_room: 0,
            waited: 0,
            pending_error: None,
            compiling: false,
            is_there,
        }
    }

    /// Whether the program is between glBegin and glEnd.
    #[inline(always)]
    pub fn is_inside(&self) -> bool {
        self.phase != Phase::Outside
    }

    /// The written commands have been sent: the last run cannot be continued, even if later
    /// commands are written at the same place.
    #[inline]
    pub fn sent(&mut self) {
        self.reopen_at = std::ptr::null_mut();
    }

    /// Whether the program may call glBegin now: it is not between glBegin and glEnd, and compiles
    /// no list.
    #[inline(always)]
    pub fn is_plainly_outside(&self) -> bool {
        self.phase == Phase::Outside && !self.compiling && self.is_there
    }

    /// Executing a display list has begun a primitive (`inside`) or ended one.
    pub fn be(&mut self, inside: bool) {
        self.mode = OF_A_LIST;
        self.phase = if inside {
            Phase::Verbatim
        } else {
            Phase::Outside
        };
        self.limit = [std::ptr::null_mut(); 5];
        self.components = [0; ATTRIBUTES];
    }

    /// Whether the encoder's room is hidden because a run is being written.
    #[inline]
    pub fn hides_room(&self) -> bool {
        self.phase == Phase::Run
    }

    /// The number of vertices in the run.
    #[inline]
    pub fn count(&self) -> usize {
        match self.stride {
            0 => 0,
            stride => (self.at as usize - self.start as usize) / stride,
        }
    }

    /// The mode in which the run is drawn: a line loop that was cut continues as a strip.
    #[inline]
    pub fn drawn_mode(&self) -> u32 {
        if self.loop_first.is_some() {
            gl::GL_LINE_STRIP
        } else {
            self.mode
        }
    }

    /// Sets the empty run up again, after `record`.
    #[inline]
    pub fn lay_out(&mut self, current: &Current) {
        (self.slots, self.slot_bytes[0]) = (0, 0);
        for (slot, a) in self.layout.attributes().enumerate() {
            let a = usize::from(a);
            self.slot[a] = slot as u8;
            self.slot_bytes[slot] = 4 * self.layout.components[a];
            self.template[slot] = Block::new(current.values[a]);
            self.slots = slot + 1;
        }
        self.components = self.layout.components;
        self.components[usize::from(attr::POSITION)] = 0;
        self.stride = self.layout.stride();
        self.start = self.record.wrapping_add(self.layout.header_bytes());
        self.at = self.start;
        self.set_limits();
    }

    #[inline]
    pub fn set_limits(&mut self) {
        self.limit = [std::ptr::null_mut(); 5];
        let position = usize::from(self.layout.position());
        if position > 0 {
            // Room after the last vertex: for a vertex that closes a loop, a trailing one, the
            // lengths of indices and tiles, and the tiles.
            let behind = 3 * self.stride + Block::BYTES + 8 + self.sort_room;
            self.limit[position] = self.chunk_end.wrapping_sub(behind);
        }
    }

    /// Makes the template's values the current ones.
    #[inline]
    pub fn keep_values(&self, current: &mut Current) {
        for (slot, a) in self.layout.attributes().enumerate() {
            let n = usize::from(self.components[usize::from(a)]);
            let mut value = [0.0, 0.0, 0.0, 1.0];
            value[..n].copy_from_slice(&self.template[slot].values()[..n]);
            current.values[usize::from(a)] = value;
        }
    }

    /// The run's vertex `index` with all attributes. Those that are not in the layout have their
    /// current values.
    #[inline]
    pub fn vertex(&self, index: usize, current: &Current) -> Vertex {
        let mut vertex = current.values;
        let mut at = self.start.wrapping_add(index * self.stride).cast::<f32>();
        for a in self.layout.attributes().chain([attr::POSITION]) {
            let mut value = [0.0, 0.0, 0.0, 1.0];
            for v in value
                .iter_mut()
                .take(usize::from(self.layout.components[usize::from(a)]))
            {
                // SAFETY: the vertex was written there.
                *v = unsafe { at.read_unaligned() };
                at = at.wrapping_add(1);
            }
            vertex[usize::from(a)] = value;
        }
        vertex
    }

    /// Appends a vertex with values for all attributes.
    #[inline]
    pub fn append_vertex(&mut self, vertex: &Vertex) {
        let mut at = self.at.cast::<f32>();
        for a in self.layout.attributes().chain([attr::POSITION]) {
            for v in vertex[usize::from(a)]
                .iter()
                .take(usize::from(self.layout.components[usize::from(a)]))
            {
                // SAFETY: the limits leave room for this vertex.
                unsafe { at.write_unaligned(*v) };
                at = at.wrapping_add(1);
            }
        }
        self.at = at.cast();
    }

    /// Appends a vertex with the template's attributes.
    #[inline(always)]
    pub fn append(&mut self, at: *mut u8, position: &[f32]) {
        // SAFETY: `at` is within the limit, behind which there is room for a vertex and a block.
        // There are as many slots as the layout has attributes.
        unsafe {
            let mut to = at;
            let mut copy = |slot: usize| {
                // A block may be wider than its attribute. The next write overwrites the rest.
                to.cast::<Block>()
                    .write_unaligned(*self.template.get_unchecked(slot));
                to = to.add(usize::from(*self.slot_bytes.get_unchecked(slot)));
            };
            // Without attributes, the first slot has zero bytes. Vertices with one attribute, which
            // are common, skip the loop.
            copy(0);
            if self.slots > 1 {
                (1..self.slots).for_each(copy);
            }
            let to = to.cast::<f32>();
            for (i, v) in position.iter().enumerate() {
                to.add(i).write_unaligned(*v);
            }
        }
        self.at = at.wrapping_add(self.stride);
    }

    /// Appends a trailing vertex, which is not drawn, if attributes changed after the last vertex.
    #[inline]
    pub fn append_trailing(&mut self) -> bool {
        let mut last = self.at.wrapping_sub(self.stride);
        let same = (0..self.slots).all(|slot| {
            let bytes = usize::from(self.slot_bytes[slot]);
            // SAFETY: the last vertex lies there with all of its attributes, and a block has at
            // least an attribute's bytes.
            let (was, is) = unsafe {
                let template = std::ptr::from_ref(&self.template[slot]).cast::<u8>();
                (
                    std::slice::from_raw_parts(last, bytes),
                    std::slice::from_raw_parts(template, bytes),
                )
            };
            last = last.wrapping_add(bytes);
            was == is
        });
        if !same {
            self.append(self.at, &[0.0; 4][..usize::from(self.layout.position())]);
        }
        !same
    }
}
