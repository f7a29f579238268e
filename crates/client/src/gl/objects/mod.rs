//! Objects: their names, which the client chooses, and what it remembers of those that it is asked
//! about often.

mod assembly;
mod bind;
mod generate;
mod known;
mod limits;
mod named_strings;
mod program_queries;
mod programs;
mod queries;
mod query_results;
mod shaders;
mod syncs;
mod uniforms;
mod use_program;

pub use assembly::*;
pub use bind::*;
pub use generate::*;
pub use named_strings::*;
pub use program_queries::*;
pub use programs::Programs;
pub use queries::*;
pub use query_results::*;
pub use shaders::*;
pub use syncs::*;
pub use uniforms::*;
pub use use_program::*;

use super::buffers::Bindings;
use super::names::Names;
use super::Shared;
use crate::context::Context;
use known::Known;
use limits::Limits;
use mgn_wire::hello::ContextInfo;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;

/// What one context knows of objects.
pub struct ObjectState {
    pub bindings: Bindings,
    pub limits: Limits,
    buffers: Known,
    textures: Known,
    renderbuffers: Known,
    /// Programs that can be used, being linked.
    usable: Known,
    /// Programs that can be used and ask for the number of their vertex or primitive.
    numbering: Known,
    /// `GL_CURRENT_PROGRAM`, if that is known.
    program: Option<u32>,
    /// Whether what is drawn now may depend on the numbers of vertices or primitives.
    uses_ids: bool,
    /// The program pipeline that is bound, which counts where no program is in use.
    pipeline: u32,
    /// Transform feedback has begun, so that programs may not be exchanged.
    feeds_back: bool,
    /// Questions for uniform locations that were not answered.
    questions: u32,
    /// A fragment shader of ATI_fragment_shader was enabled once.
    ati_fragments: bool,
    pub counts: Counts,
    /// Between glBeginFragmentShaderATI and glEndFragmentShaderATI.
    fragment_shader_open: bool,
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

    /// The number of a question for a uniform location that nobody answers.
    fn next_question(&mut self) -> u32 {
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

    fn pipelines_deleted(&mut self, names: &[u32]) {
        if names.contains(&self.pipeline) {
            self.pipeline = 0;
        }
    }

    /// A display list was executed, which may have changed the current program if any list holds
    /// such a command.
    pub fn list_executed(&mut self, shared: &Shared) {
        if !shared.notes.listed_programs.load(Ordering::Acquire) {
            return;
        }
        self.program = None;
        self.uses_ids |= shared.notes.listed_ids.load(Ordering::Relaxed);
    }

    /// Whether this context has bound `name` since names of the group were last released.
    #[inline]
    pub fn known(&self, class: Class, shared: &Shared, name: u32) -> bool {
        let known = match class {
            Class::Buffer => &self.buffers,
            Class::Texture => &self.textures,
            Class::Renderbuffer => &self.renderbuffers,
            _ => return false,
        };
        known.has(shared.notes.released.load(Ordering::Acquire), name)
    }
}

/// What the contexts of a share group tell each other without a lock.
#[derive(Default)]
pub struct Notes {
    /// Counts releases of shared names.
    pub released: AtomicU32,
    /// Counts programs that were linked or deleted.
    pub relinked: AtomicU32,
    /// Counts what contexts have told each other to change that their claims may depend on.
    pub changed: AtomicU32,
    /// Buffers that are mapped.
    pub mapped: AtomicU32,
    /// Mappings that stay while the server works with the buffer.
    pub persistent: AtomicU32,
    /// A display list contains the use of a program.
    pub listed_programs: AtomicBool,
    /// A display list contains the use of a program that reads `gl_VertexID`, `gl_PrimitiveID` or
    /// `gl_DrawID`.
    pub listed_ids: AtomicBool,
}

impl Notes {
    /// How often names have been released.
    pub fn releases(&self) -> u32 {
        self.released.load(Ordering::Acquire)
    }

    /// Whether a buffer is mapped so that draws from it are errors.
    pub fn are_locked(&self) -> bool {
        let load = |count: &AtomicU32| count.load(Ordering::Relaxed);
        load(&self.mapped) != load(&self.persistent)
    }

    /// A mapping begins.
    pub fn mapping_begins(&self, is_persistent: bool) {
        self.mapped.fetch_add(1, Ordering::Relaxed);
        self.persistent
            .fetch_add(is_persistent.into(), Ordering::Relaxed);
    }

    /// A mapping ended.
    pub fn mapping_ended(&self, is_persistent: bool) {
        self.mapped.fetch_sub(1, Ordering::Relaxed);
        self.persistent
            .fetch_sub(is_persistent.into(), Ordering::Relaxed);
    }
}

/// Objects whose names programs have generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Buffer,
    Texture,
    Renderbuffer,
    Sampler,
    Framebuffer,
    VertexArray,
    Query,
    Pipeline,
    TransformFeedback,
    /// Programs in assembly language.
    Assembly,
    /// ATI_fragment_shader
    FragmentShader,
}

impl Class {
    /// Whether contexts of a share group have these objects in common.
    fn is_shared(self) -> bool {
        matches!(
            self,
            Class::Buffer
                | Class::Texture
                | Class::Renderbuffer
                | Class::Sampler
                | Class::Assembly
                | Class::FragmentShader
        )
    }
}

impl Class {
    /// Whether OpenGL ES 1 has these objects. (Mesa lists vertex array objects there, and has
    /// none.)
    fn is_in_es1(self) -> bool {
        matches!(
            self,
            Class::Buffer | Class::Texture | Class::Renderbuffer | Class::Framebuffer
        )
    }
}

/// Has the shadow of the state follow a command, and leaves the entry point with the error if the
/// shadow finds one.
macro_rules! follow {
    ($cx:ident, $hook:ident($($arg:expr),*)) => {
        if let Some(error) = $crate::gl::Tracked::refusal($cx.gl.state.$hook($($arg),*)) {
            return $cx.set_error(error);
        }
    };
}
pub(in crate::gl) use follow;

/// Works on the names of a class.
fn with_names<R>(cx: &mut Context, class: Class, work: impl FnOnce(&mut Names) -> R) -> R {
    let own = &mut cx.gl.own;
    match class {
        Class::Buffer => work(&mut cx.gl.shared.names().buffers),
        Class::Texture => work(&mut cx.gl.shared.names().textures),
        Class::Renderbuffer => work(&mut cx.gl.shared.names().renderbuffers),
        Class::Sampler => work(&mut cx.gl.shared.names().samplers),
        Class::Assembly => work(&mut cx.gl.shared.names().assembly),
        Class::FragmentShader => work(&mut cx.gl.shared.names().fragment_shaders),
        Class::Framebuffer => work(&mut own.framebuffers),
        Class::VertexArray => work(&mut own.vertex_arrays),
        Class::Query => work(&mut own.queries),
        Class::Pipeline => work(&mut own.pipelines),
        Class::TransformFeedback => work(&mut own.transform_feedbacks),
    }
}

/// A nonzero name is bound. Outside the core profile that makes it the program's own if it was
/// never generated; says whether it is a name now.
pub fn adopt(cx: &mut Context, class: Class, name: u32) -> bool {
    let made_by_use = !cx.gl.objects.limits.is_core();
    let epoch = cx.gl.shared.notes.released.load(Ordering::Acquire);
    let taken = with_names(cx, class, |names| {
        if made_by_use {
            names.use_name(name);
        }
        names.is_taken(name)
    });
    let objects = &mut cx.gl.objects;
    match class {
        _ if !taken => {}
        Class::Buffer => objects.buffers.add(epoch, name),
        Class::Texture => objects.textures.add(epoch, name),
        Class::Renderbuffer => objects.renderbuffers.add(epoch, name),
        _ => {}
    }
    taken
}

/// A command makes an object of a name if there is none yet; a texture becomes one of `target`.
pub fn use_name(cx: &mut Context, class: Class, name: u32, target: u32) {
    if name == 0 || cx.gl.objects.known(class, &cx.gl.shared, name) && class != Class::Texture {
        return;
    }
    if adopt(cx, class, name) {
        match class {
            Class::Texture => cx.gl.state.use_texture(name, target),
            Class::Renderbuffer => cx.gl.state.use_renderbuffer(name),
            Class::Framebuffer => cx.gl.state.use_framebuffer(name),
            _ => {}
        }
    }
}

/// Sends what was said about names, if other contexts use the same ones: they may use or choose
/// them at once, and do so in streams of their own.
fn tell_group(cx: &mut Context) {
    if Arc::strong_count(&cx.gl.shared) > 1 {
        cx.flush();
    }
}
