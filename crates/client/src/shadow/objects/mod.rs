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
    /// Programs that can be used, being linked.
    pub usable: Known,
    /// Programs that can be used and ask for the number of their vertex or primitive.
    pub numbering: Known,
    /// `GL_CURRENT_PROGRAM`, if that is known.
    pub program: Option<u32>,
    /// Whether what is drawn now may depend on the numbers of vertices or primitives.
    pub uses_ids: bool,
    /// The program pipeline that is bound, which counts where no program is in use.
    pub pipeline: u32,
    /// Transform feedback has begun, so that programs may not be exchanged.
    pub feeds_back: bool,
    /// Questions for uniform locations that were not answered.
    questions: u32,
    /// A fragment shader of ATI_fragment_shader was enabled once.
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

    /// The number of a question for a uniform location that gets no answer.
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

    /// Whether a pipeline or transform feedback has a say in what is drawn.
    pub fn draws_specially(&self) -> bool {
        self.program == Some(0) && self.pipeline != 0 || self.feeds_back || self.ati_fragments
    }

    /// An ATI_fragment_shader is enabled, or may come to be.
    pub fn ati_fragments_enabled(&mut self) {
        self.ati_fragments = true;
    }

    /// Whether neither a program nor a pipeline is in use, nor transform feedback.
    pub fn draws_without_programs(&self) -> bool {
        self.program == Some(0) && self.pipeline == 0 && !self.feeds_back && !self.ati_fragments
    }

    /// Whether a shader that is in use, as far as is known, reads `gl_VertexID`, `gl_PrimitiveID`
    /// or `gl_DrawID`, so that a draw may be neither split nor joined.
    #[inline]
    pub fn uses_ids(&self) -> bool {
        self.uses_ids || self.pipeline != 0
    }

    pub fn pipelines_deleted(&mut self, names: &[u32]) {
        if names.contains(&self.pipeline) {
            self.pipeline = 0;
        }
    }

    /// A display list was executed, which may have changed the current program if any list holds
    /// such a command.
    pub fn list_executed(&mut self, notes: &Notes) {
        if !notes.listed_programs.load(Ordering::Acquire) {
            return;
        }
        self.program = None;
        self.uses_ids |= notes.listed_ids.load(Ordering::Relaxed);
    }

    /// Whether this context has bound `name` since names of the group were last released.
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
