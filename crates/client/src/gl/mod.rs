//! OpenGL's entry points: the work of each one before its command is sent, or in place of it.
//!
//! Most entry points are generated (`generated/entries.rs`). The others are written by hand in the
//! modules below, one for each subject. All of them work on the calling thread's context, which is
//! never null: without a context, they work on one that has no room and answers nothing.

// Entry points have the names and the arguments of C. As in C, pointers must hold what the command
// reads or writes.
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

pub mod arrays;
pub mod buffers;
pub mod debug;
mod errors;
mod evaluators;
mod framebuffers;
mod gets;
mod images;
pub mod immediate;
pub mod kinds;
mod known_success;
mod lists;
mod objects;
mod order;
pub mod pixels;
pub mod refused;
mod render_modes;
mod robust;
mod room;
mod strings;
mod tracked;
mod whole;

pub use crate::shadow::objects::class::Class;
pub use framebuffers::{attached, defined};
pub use images::{blocks, image};
pub use known_success::Dependency;
pub use objects::{elements_there, sync_name, use_name};
pub use tracked::{values, Tracked};

/// Entry points written by hand, for the look-up table.
pub mod handwritten {
    pub use super::arrays::client_attrib::*;
    pub use super::arrays::defaults::*;
    pub use super::arrays::elements::*;
    pub use super::arrays::entries::*;
    pub use super::arrays::fetch::*;
    pub use super::arrays::gets::*;
    pub use super::arrays::indirect::*;
    pub use super::arrays::named::*;
    pub use super::arrays::objects::*;
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
