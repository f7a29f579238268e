//! The run of vertices that is being collected between glBegin and glEnd.
//!
//! A run's layout holds the attributes that were set inside. Between glBegin and glEnd, attributes
//! go to a template, and each glVertex appends one interleaved vertex of floats.

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

/// Whether the program is between glBegin and glEnd, and how its vertices travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Outside,
    /// Inside, collecting a run.
    Run,
    /// Inside, call by call.
    Verbatim,
}

/// The mode of a primitive that a display list began.
pub const OF_A_LIST: u32 = u32::MAX;

/// Values of every attribute of one vertex.
pub type Vertex = [[f32; 4]; ATTRIBUTES];

/// Fields that a vertex with a normal touches come first.
#[repr(C)]
pub struct Immediate {
    /// Where the next vertex goes; never null.
    pub at: *mut u8,
    /// `limit[n]`: the last place where a vertex with n position components may start; null if
    /// such a one takes the slow path.
    pub limit: [*mut u8; 5],
    /// Bytes of a vertex.
    pub stride: usize,
    /// Attributes before the position.
    pub slots: usize,
    /// Components of each attribute in the layout; 0 for none, and for all outside Begin/End.
    pub components: [u8; ATTRIBUTES],
    /// Where in the template each attribute lies.
    pub slot: [u8; ATTRIBUTES],
    /// Bytes of the attribute in each slot.
    pub slot_bytes: [u8; ATTRIBUTES],
    /// The attributes before the position as the next vertex will have them, in the order of the
    /// layout.
    pub template: [Block; ATTRIBUTES],
    pub phase: Phase,
    pub mode: u32,
    pub layout: Layout,
    /// The run's record, and its first vertex behind the record's header.
    pub record: *mut u8,
    pub start: *mut u8,
    /// The end of the chunk. The encoder doesn't see it inside Begin/End, so that it refuses other
    /// commands.
    pub chunk_end: *mut u8,
    /// A part of this primitive has been sent.
    pub was_cut: bool,
    /// The first vertex of a loop that was cut, which closes it in the end.
    pub loop_first: Option<Box<Vertex>>,
    /// The encoder's place if the last run may be taken up again, because nothing follows it.
    pub reopen_at: *mut u8,
    pub welder: Welder,
    pub sort: Sort,
    /// Room behind the vertices for what sorting finds out.
    pub sort_room: usize,
    /// How long the connection had made us wait when the last run was closed.
    pub waited: u64,
    pub pending_error: Option<u32>,
    /// A display list is being compiled: everything travels call by call.
    pub compiling: bool,
    /// The context has immediate mode.
    pub is_there: bool,
}

impl Immediate {
    /// For a context that has immediate mode, or for one that has not.
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

    /// The written commands have been sent: the last run cannot be continued, even if other
    /// commands come to lie at the same place.
    #[inline]
    pub fn sent(&mut self) {
        self.reopen_at = std::ptr::null_mut();
    }

    /// Whether the program may be between glBegin and glEnd and is not, and no list is being
    /// compiled.
    #[inline(always)]
    pub fn is_plainly_outside(&self) -> bool {
        self.phase == Phase::Outside && !self.compiling && self.is_there
    }

    /// A display list left the program between glBegin and glEnd, or took it out.
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

    /// Vertices in the run.
    #[inline]
    pub fn count(&self) -> usize {
        match self.stride {
            0 => 0,
            stride => (self.at as usize - self.start as usize) / stride,
        }
    }

    /// The mode in which the run is drawn: a loop that was cut goes on as a strip.
    #[inline]
    pub fn drawn_mode(&self) -> u32 {
        if self.loop_first.is_some() {
            gl::GL_LINE_STRIP
        } else {
            self.mode
        }
    }

    /// Lays the empty run out again behind `record`.
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
            // Behind the last vertex there is room for one that closes a loop and one that trails,
            // for the lengths of indices and tiles, and for tiles.
            let behind = 3 * self.stride + Block::BYTES + 8 + self.sort_room;
            self.limit[position] = self.chunk_end.wrapping_sub(behind);
        }
    }

    /// Takes the template's values over as current ones.
    #[inline]
    pub fn keep_values(&self, current: &mut Current) {
        for (slot, a) in self.layout.attributes().enumerate() {
            let n = usize::from(self.components[usize::from(a)]);
            let mut value = [0.0, 0.0, 0.0, 1.0];
            value[..n].copy_from_slice(&self.template[slot].values()[..n]);
            current.values[usize::from(a)] = value;
        }
    }

    /// The run's vertex `index` with every attribute: those that it lacks had their current values.
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

    /// Appends a vertex with every attribute given.
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
                // A block may be wider than its attribute; what follows overwrites the rest.
                to.cast::<Block>()
                    .write_unaligned(*self.template.get_unchecked(slot));
                to = to.add(usize::from(*self.slot_bytes.get_unchecked(slot)));
            };
            // Without attributes, the first slot has no bytes. Vertices with one, as many have, are
            // spared the loop.
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

    /// Appends a vertex that isn't drawn if attributes changed after the last one.
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
