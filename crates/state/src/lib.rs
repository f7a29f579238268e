//! The client's shadow of a context's state, from which gets are answered without asking the
//! server.
//!
//! # What the client does
//! - It makes a [`State`] of the [`ContextInfo`] that the server sent. That brings the values of a
//!   new context by name (`mgn_wire::sizes::fresh`), and with them the very names that this
//!   context's gets know: a name the server did not send is never answered here.
//! - It tells of surfaces: [`State::default_framebuffer`] whenever the context is made current with
//!   another one, [`State::first_current`] the first time of all.
//! - Before it sends a command that is tracked (`crates/spec/commands.toml`), it calls the hook of
//!   that name (in snake case) with the command's arguments, arrays as slices. Commands that it
//!   handles itself have hooks as well: `gl_push_client_attrib`, `gl_pop_client_attrib`,
//!   `gl_client_active_texture`, `gl_gen_lists`, and `gl_gen_*` with the names it chose.
//! - `Err` is the error that the driver would raise; nothing has changed, and the client raises it
//!   in the command's place. `Ok` means that the command is sent. [`State::take_doubt`] says
//!   afterwards whether the driver may still refuse it; if not, it certainly succeeds.
//! - A get is answered by [`State::get`], [`State::is_enabled`], [`State::light`] and so on. Where
//!   that says [`Answer::Unknown`], the client asks the driver, and passes the answer to
//!   [`State::learn_integers`] or one of its siblings.
//! - [`State::current`] holds the current vertex attributes, and immediate mode writes them there;
//!   see [`State::set_current`] for display lists.
//!
//! # Never wrong, sometimes ignorant
//! The shadow must not say anything else than the driver. Where the outcome of a command
//! depends on arithmetic (most products of matrices, lights under a transformation), on an
//! extension, or on what drivers are known to do differently (see [`State::gl_pop_attrib`]),
//! the values it touches become unknown, and are asked for when the program wants them.
//! `tests/driver` holds the shadow to this: random commands go to it and to the local driver,
//! and whatever it answers must be the driver's answer.
//!
//! Vertex arrays (pointers, enables, formats) are the client's own; here are only the bindings
//! around them.

#![forbid(unsafe_code)]

/// Records a hook while a display list is compiled, and returns from it unless the list is
/// carried out at the same time.
macro_rules! listed {
    ($state:ident, $hook:ident($($arg:expr),*)) => {
        if $state.compiling.is_some()
            && !$state.record(move |state| {
                if state.$hook($($arg),*).is_err() {
                    state.doubt = true;
                }
            })
        {
            // Some errors are raised when the list is compiled, some when it is called.
            return $state.unsure();
        }
    };
}

/// Like `listed`, for commands that lists of some drivers do not hold, which carry them out at
/// once: while a list is compiled and after it is called, the values are left to the driver.
macro_rules! loosely_listed {
    ($state:ident, $at:expr, $values:expr) => {
        if $state.compiling.is_some() {
            $state.record(move |state| state.forget_at($at, $values));
            return $state.unsure_of_range($at, $values);
        }
    };
}

/// Leaves a command to the driver in contexts whose gets do not know a name: there the command
/// may not exist, and nothing here is ever asked about it.
macro_rules! needs {
    ($state:ident, $pname:expr) => {
        if !$state.has($pname) {
            return $state.unsure();
        }
    };
}

mod answer;
mod attribs;
mod buffers;
mod by_name;
mod capabilities;
pub mod current;
mod error;
mod fixed;
mod fragments;
mod framebuffers;
mod get;
mod index;
mod lighting;
mod limits;
mod lists;
mod matrices;
mod objects;
mod pixel_store;
mod quick;
mod raster;
mod shared;
mod slots;
mod stencil;
mod tex_env;
mod textures;
mod transfer;
mod units;
mod viewports;

use std::collections::HashMap;
use std::sync::Arc;

use mgn_wire::gl::*;
use mgn_wire::hello::ContextInfo;

pub use answer::{fixed_of, Answer, Values};
pub use current::Current;
pub use error::GlError;
pub use pixel_store::PixelStore;
pub use shared::Shared;
pub use slots::Class;

use slots::{at, UNKNOWN};

/// The shadow of one context's state.
pub struct State {
    /// Current vertex attributes. The client may write them itself, and has them up to date
    /// whenever it calls anything here.
    pub current: Current,
    values: Vec<f64>,
    constants: Vec<get::Constant>,
    index: index::Index,
    quick: quick::Quick,
    limits: limits::Limits,
    matrices: matrices::Matrices,
    groups: attribs::Groups,
    saved: Vec<attribs::Saved>,
    /// There may be more attributes pushed than those above, or fewer.
    saved_lost: bool,
    saved_client: Vec<attribs::SavedClient>,
    compiling: Option<Box<lists::Compiling>>,
    /// Display lists being called.
    depth: usize,
    framebuffers: HashMap<u32, framebuffers::Framebuffer>,
    own: objects::OwnObjects,
    indexed: buffers::IndexedBindings,
    /// The driver's values for the default framebuffer.
    derived: HashMap<u32, Vec<i32>>,
    /// The stencil bits of the default framebuffer, once there is one. Only the driver knows what
    /// glGet returns for them: some know no such name in a core profile.
    stencil_bits: Option<u8>,
    double_buffered: bool,
    feedback_active: bool,
    /// glColorMaterial was called while it had an effect.
    color_material_moved: bool,
    /// A material was set that may reach the state later than commands after it.
    material_pending: bool,
    units_used: usize,
    array_switches: Vec<(u32, bool)>,
    /// Textures were bound to several units at once.
    bound_many: bool,
    shared: Arc<Shared>,
    doubt: bool,
}

impl State {
    /// The state of a new context of `api` (see `mgn_wire::hello::api`) that shares its
    /// objects with none.
    pub fn new(info: &ContextInfo, api: u32) -> State {
        State::sharing(info, api, Arc::default())
    }

    /// The state of a new context that shares its objects with the other holders of `shared`.
    pub fn sharing(info: &ContextInfo, api: u32, shared: Arc<Shared>) -> State {
        let limits = limits::Limits::new(info, api);
        let units = limits.texture_units.max(limits.coord_units);
        let mut state = State {
            current: Current::new(),
            values: vec![0.; slots::UNIT_AT + units * units::UNIT_VALUES],
            constants: Vec::new(),
            index: index::Index::new(),
            quick: quick::Quick::default(),
            matrices: matrices::Matrices::new(&limits),
            limits,
            groups: attribs::Groups::new(),
            saved: Vec::new(),
            saved_lost: false,
            saved_client: Vec::new(),
            compiling: None,
            depth: 0,
            framebuffers: HashMap::from([(0, framebuffers::Framebuffer::of(GL_BACK))]),
            own: objects::OwnObjects::default(),
            indexed: buffers::IndexedBindings::default(),
            derived: HashMap::new(),
            stencil_bits: None,
            double_buffered: true,
            feedback_active: false,
            color_material_moved: false,
            material_pending: false,
            units_used: 1,
            array_switches: Vec::new(),
            bound_many: false,
            shared,
            doubt: false,
        };
        state.initialize_lighting();
        state.initialize_units();
        state.initialize_names(info);
        state.initialize_quick(info);
        state
    }

    /// The objects that this context shares, for another context of the group.
    pub fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// The context was made current for the first time, with a default framebuffer of this
    /// size: that becomes the viewport and the scissor.
    pub fn first_current(&mut self, width: i32, height: i32) {
        for i in 0..slots::VIEWPORTS {
            let size = [0, 0, width, height];
            self.set_all(at!(GL_VIEWPORT) + 4 * i, &size);
            self.set_all(at!(GL_SCISSOR_BOX) + 4 * i, &size);
            self.set_all(at!(GL_DEPTH_RANGE) + 2 * i, &[0u8, 1]);
        }
    }

    /// The context has another default framebuffer now. The first time, `first` says whether what
    /// is drawn to and read from is the back buffer or the front buffer.
    pub fn default_framebuffer(
        &mut self,
        double_buffered: bool,
        stencil_bits: u8,
        first: Option<bool>,
    ) {
        self.double_buffered = double_buffered;
        self.derived.clear();
        self.stencil_bits = Some(stencil_bits);
        if let Some(back) = first {
            let buffer = match back || !self.limits.desktop() {
                true => GL_BACK,
                false => GL_FRONT,
            };
            self.framebuffers
                .insert(0, framebuffers::Framebuffer::of(buffer));
        }
    }

    /// Whether the driver may have refused a command whose hook returned `Ok` since this was
    /// last asked: where it says no, all of them succeeded.
    #[inline]
    pub fn take_doubt(&mut self) -> bool {
        std::mem::take(&mut self.doubt)
    }

    /// A command is sent although it was refused here.
    pub fn doubt(&mut self) {
        self.doubt = true;
    }

    /// A display list with unknown contents was called: all state that lists can set is read again.
    pub fn forget_listed(&mut self) {
        self.values[..at!(GL_RENDER_MODE)].fill(UNKNOWN);
        self.values[slots::TABLE_VALUES..].fill(UNKNOWN);
        self.forget_at(at!(GL_CURRENT_PROGRAM), 1);
        self.matrices.forget();
        self.matrices.lost = true;
        self.current.forget_all();
        self.framebuffers
            .values_mut()
            .for_each(framebuffers::Framebuffer::forget);
        self.saved.clear();
        self.saved_lost = true;
        self.doubt = true;
    }

    fn set(&mut self, at: usize, value: impl Into<f64>) {
        self.values[at] = value.into();
    }

    fn set_all<T: Copy + Into<f64>>(&mut self, at: usize, values: &[T]) {
        for (to, &value) in self.values[at..at + values.len()].iter_mut().zip(values) {
            *to = value.into();
        }
    }

    fn forget_at(&mut self, at: usize, values: usize) {
        self.values[at..at + values].fill(UNKNOWN);
    }

    fn known(&self, at: usize) -> Option<f64> {
        let value = self.values[at];
        (!slots::is_unknown(value)).then_some(value)
    }

    /// An enum or name at a place; one that is not known is no enum.
    #[inline]
    fn int(&self, at: usize) -> u32 {
        let value = self.values[at];
        if value >= 0. {
            value as u32
        } else {
            u32::MAX
        }
    }

    /// Whether this context's gets know a name.
    fn has(&self, pname: u32) -> bool {
        self.index.find(pname).is_some()
    }

    /// Whether the command is refused only the driver knows; nothing here depends on it.
    fn unsure(&mut self) -> Result<(), GlError> {
        self.doubt = true;
        Ok(())
    }

    /// Whether a value was changed only the driver knows.
    fn unsure_of(&mut self, at: usize) -> Result<(), GlError> {
        self.unsure_of_range(at, 1)
    }

    fn unsure_of_range(&mut self, at: usize, values: usize) -> Result<(), GlError> {
        self.forget_at(at, values);
        self.unsure()
    }
}
