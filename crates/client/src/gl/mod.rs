//! OpenGL's entry points: what each does before its command travels, or instead.
//!
//! Most entry points are generated (`generated/entries.rs`); the rest are written by hand in the
//! modules below, one a subject. All of them work on the calling thread's context, which is never
//! null: without a context they work on one that has no room and answers nothing.

// Entry points have C's names and C's arguments: as there, pointers must hold what the command
// reads or writes.
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

pub mod arrays;
pub mod buffers;
mod claims;
pub mod debug;
mod errors;
mod evaluators;
mod framebuffers;
mod gets;
mod images;
pub mod immediate;
pub mod kinds;
mod lists;
mod objects;
mod order;
pub mod pixels;
pub mod refused;
mod render_modes;
mod robust;
mod share_group;
mod strings;
mod tracked;
mod whole;

use crate::config::Format;
use crate::shadow::arrays::Arrays;
use crate::shadow::claims::Claims;
use crate::shadow::debug::Debug;
use crate::shadow::errors::ErrorState;
use crate::shadow::framebuffers::Framebuffers;
use crate::shadow::immediate::Immediate;
use crate::shadow::lists::Lists;
use crate::shadow::names::Own;
use crate::shadow::objects::ObjectState;
use crate::shadow::pixel_store::PixelState;
use crate::shadow::render_modes::RenderModes;
use crate::shadow::strings::Strings;
use mgn_state::State;
use mgn_wire::hello::ContextInfo;
use std::sync::Arc;

pub use crate::shadow::objects::class::Class;
pub use claims::On;
pub use framebuffers::{attached, defined};
pub use images::{blocks, image};
pub use objects::{elements_there, sync_name, use_name};
pub use share_group::Shared;
pub use tracked::{can_be_read, values, Tracked};

/// Entry points written by hand, for the look-up table.
pub mod hand {
    pub use super::arrays::defaults::*;
    pub use super::arrays::elements::*;
    pub use super::arrays::entries::*;
    pub use super::arrays::fetch::*;
    pub use super::arrays::gets::*;
    pub use super::arrays::indirect::*;
    pub use super::arrays::named::*;
    pub use super::arrays::objects::*;
    pub use super::arrays::push::*;
    pub use super::buffers::*;
    pub use super::debug::labels::*;
    pub use super::debug::*;
    pub use super::errors::{glFinish, glFlush, glGetError};
    pub use super::evaluators::*;
    pub use super::gets::*;
    pub use super::images::*;
    pub use super::immediate::entries::*;
    pub use super::immediate::fixed::*;
    pub use super::immediate::half::*;
    pub use super::kinds::{
        glClientWaitSync, glGetGraphicsResetStatus, glGetGraphicsResetStatusARB, glGetSynciv,
    };
    pub use super::lists::*;
    pub use super::objects::*;
    pub use super::order::*;
    pub use super::render_modes::{glFeedbackBuffer, glRenderMode, glSelectBuffer};
    pub use super::robust::*;
    pub use super::strings::*;
}

/// What the client knows of a context's OpenGL.
pub struct GlState {
    pub immediate: Immediate,
    pub errors: ErrorState,
    pub claims: Claims,
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
    /// Whether it has ever had a default framebuffer to draw to.
    was_current: bool,
    /// `hello::api`: compatibility, core, ES 1 or ES 2 and up.
    pub api: u32,
}

impl GlState {
    /// The state of a new context that shares its objects with whoever else holds `shared`.
    pub fn new(info: &ContextInfo, api: u32, shared: Arc<Shared>) -> GlState {
        let strings = Strings::new(info, api, shares_window());
        let info = &strings.constants(info);
        GlState {
            immediate: Immediate::new(api == mgn_wire::hello::api::COMPAT),
            errors: ErrorState::default(),
            claims: Claims::default(),
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

    /// The context draws to a default framebuffer of this format and size from now on.
    /// `of` is the format that the context was made for.
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

    /// Whether there is fixed function: matrices, lights, current colours.
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

/// Whether the program draws into a window together with others.
fn shares_window() -> bool {
    let session = crate::session::existing_session();
    session.is_some_and(|session| session.options.window.is_some())
}
