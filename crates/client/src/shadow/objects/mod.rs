//! One context's knowledge of objects that programs query often.

pub mod class;
pub mod counts;
mod known;
pub mod limits;
pub mod programs;

use super::buffers::bindings::Bindings;
use super::notes::Notes;
use class::Class;
use counts::Counts;
use known::Known;
use limits::Limits;
use mgn_wire::hello::ContextInfo;
use std::sync::atomic::Ordering;

/// One context's knowledge of objects.
pub struct ObjectState {
    pub bindings: Bindings,
    pub limits: Limits,
    pub buffers: Known,
    pub textures: Known,
    pub renderbuffers: Known,
    /// Programs that are linked, so that they can be used.
    pub usable: Known,
    /// Programs that can be used and that read the number of their vertex or primitive.
    pub numbering: Known,
    /// `GL_CURRENT_PROGRAM`, if it is known.
    pub program: Option<u32>,
    /// Whether what is drawn now may depend on the numbers of vertices or primitives.
    pub uses_ids: bool,
    /// The bound program pipeline, which is used if no program is in use.
    pub pipeline: u32,
    /// Transform feedback is active, so programs may not be changed.
    pub feeds_back: bool,
    /// The number of queries of uniform locations that were not answered.
    questions: u32,
    /// ATI_fragment_shader was enabled at least once.
    ati_fragments: bool,
    pub counts: Counts,
    /// Between glBeginFragmentShaderATI and glEndFragmentShaderATI.
    pub fragment_shader_open: bool,
}

impl ObjectState {
    pub fn new(info: &ContextInfo, api: u32) -> ObjectState {
        let limits = Limits::new(info, api);
        ObjectState {
            bindings: Bindings::new(api, limits.version),
            limits,
            buffers: Known::default(),
            textures: Known::default(),
            renderbuffers: Known::default(),
            usable: Known::default(),
            numbering: Known::default(),
            program: Some(0),
            uses_ids: false,
            pipeline: 0,
            feeds_back: false,
            questions: 0,
            ati_fragments: false,
            counts: Counts::default(),
            fragment_shader_open: false,
        }
    }

    /// The number of a query of a uniform location that gets no answer.
    pub fn next_question(&mut self) -> u32 {
        self.questions = self.questions.wrapping_add(1);
        self.questions.wrapping_sub(1)
    }

    /// The program in use, if that is known.
    pub fn program_in_use(&self) -> Option<u32> {
        self.program
    }

    /// Whether transform feedback is active.
    pub fn feeds_back(&self) -> bool {
        self.feeds_back
    }

    /// Whether a pipeline or transform feedback affects draws.
    pub fn draws_specially(&self) -> bool {
        self.program == Some(0) && self.pipeline != 0 || self.feeds_back || self.ati_fragments
    }

    /// ATI_fragment_shader is enabled, or may be enabled later.
    pub fn ati_fragments_enabled(&mut self) {
        self.ati_fragments = true;
    }

    /// Whether no program, no pipeline and no transform feedback is in use.
    pub fn draws_without_programs(&self) -> bool {
        self.program == Some(0) && self.pipeline == 0 && !self.feeds_back && !self.ati_fragments
    }

    /// Whether a shader in use, as far as is known, reads `gl_VertexID`, `gl_PrimitiveID` or
    /// `gl_DrawID`. Then a draw may be neither split nor joined.
    #[inline]
    pub fn uses_ids(&self) -> bool {
        self.uses_ids || self.pipeline != 0
    }

    pub fn pipelines_deleted(&mut self, names: &[u32]) {
        if names.contains(&self.pipeline) {
            self.pipeline = 0;
        }
    }

    /// A display list was executed. It may have changed the current program if any list contains
    /// such a command.
    pub fn list_executed(&mut self, notes: &Notes) {
        if !notes.listed_programs.load(Ordering::Acquire) {
            return;
        }
        self.program = None;
        self.uses_ids |= notes.listed_ids.load(Ordering::Relaxed);
    }

    /// Whether this context has bound `name` since names of the share group were last released.
    #[inline]
    pub fn known(&self, class: Class, notes: &Notes, name: u32) -> bool {
        let known = match class {
            Class::Buffer => &self.buffers,
            Class::Texture => &self.textures,
            Class::Renderbuffer => &self.renderbuffers,
            _ => return false,
        };
        known.has(notes.released.load(Ordering::Acquire), name)
    }
}
