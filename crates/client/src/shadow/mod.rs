//! The client's copy of its contexts' OpenGL state: types and their pure methods. Nothing here
//! knows a context or a connection.

pub mod arrays;
pub mod buffers;
pub mod debug;
pub mod errors;
pub mod framebuffers;
pub mod known_success;
pub mod lists;
pub mod names;
pub mod notes;
pub mod objects;
pub mod pixel_store;
pub mod read_ahead;
pub mod render_modes;
pub mod share_group;
pub mod strings;

use crate::config::Format;
use crate::immediate::Immediate;
use arrays::Arrays;
use debug::Debug;
use errors::ErrorState;
use framebuffers::Framebuffers;
use known_success::KnownSuccess;
use lists::Lists;
use mgn_state::State;
use mgn_wire::hello::ContextInfo;
use names::Own;
use objects::ObjectState;
use pixel_store::PixelState;
use render_modes::RenderModes;
use share_group::Shared;
use std::sync::Arc;
use strings::Strings;

/// The client's knowledge of a context's OpenGL state.
pub struct GlState {
    pub immediate: Immediate,
    pub errors: ErrorState,
    pub known_success: KnownSuccess,
    pub framebuffers: Framebuffers,
    pub arrays: Arrays,
    pub objects: ObjectState,
    pub state: State,
    pub strings: Strings,
    pub pixels: PixelState,
    pub lists: Lists,
    pub debug: Debug,
    pub render_modes: RenderModes,
    /// Names of vertex array objects, framebuffers and others that contexts don't share.
    pub own: Own,
    /// Names and contents that the share group has in common.
    pub shared: Arc<Shared>,
    /// Whether the context has ever had a default framebuffer to draw to.
    was_current: bool,
    /// `hello::api`: compatibility, core, ES 1 or ES 2 and up.
    pub api: u32,
}

impl GlState {
    /// The state of a new context, which shares its objects with the other holders of `shared`.
    /// `shares_window` says whether the program draws into a window together with others.
    pub fn new(info: &ContextInfo, api: u32, shared: Arc<Shared>, shares_window: bool) -> GlState {
        let strings = Strings::new(info, api, shares_window);
        let info = &strings.constants(info);
        GlState {
            immediate: Immediate::new(api == mgn_wire::hello::api::COMPAT),
            errors: ErrorState::default(),
            known_success: KnownSuccess::default(),
            framebuffers: Framebuffers::default(),
            arrays: Arrays::new(api != mgn_wire::hello::api::CORE),
            objects: ObjectState::new(info, api),
            state: State::sharing(info, api, shared.state.clone()),
            strings,
            pixels: PixelState::new(info),
            lists: Lists::default(),
            debug: Debug::default(),
            render_modes: RenderModes::default(),
            own: Own::default(),
            shared,
            was_current: false,
            api,
        }
    }

    /// The context draws to a default framebuffer of this format and size from now on. `of` is the
    /// format for which the context was created.
    pub fn drawn_to(&mut self, format: Format, (width, height): (u32, u32), of: Option<Format>) {
        let first = !std::mem::replace(&mut self.was_current, true);
        let back = of.unwrap_or(format).double;
        self.state
            .default_framebuffer(format.double, format.stencil, first.then_some(back));
        if first {
            self.state.first_current(width as i32, height as i32);
        }
    }

    /// Whether the program is between glBegin and glEnd.
    #[inline(always)]
    pub fn in_begin(&self) -> bool {
        self.immediate.is_inside()
    }

    /// Whether this is OpenGL, of either profile, and not OpenGL ES.
    pub fn is_desktop(&self) -> bool {
        matches!(
            self.api,
            mgn_wire::hello::api::COMPAT | mgn_wire::hello::api::CORE
        )
    }

    /// Whether the context has the fixed function: matrices, lights, current colours.
    pub fn has_fixed_function(&self) -> bool {
        matches!(
            self.api,
            mgn_wire::hello::api::COMPAT | mgn_wire::hello::api::ES1
        )
    }

    /// Whether this is OpenGL ES 1.
    pub fn is_es1(&self) -> bool {
        self.api == mgn_wire::hello::api::ES1
    }

    /// Whether vertex arrays and images may lie in the program's memory, and names need not be
    /// generated.
    pub fn is_compat(&self) -> bool {
        self.api == mgn_wire::hello::api::COMPAT
    }
}
