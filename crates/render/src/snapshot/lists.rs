//! Display lists. No driver returns their contents, so on a wall the commands are recorded as they
//! come.

use super::script::{say, Script};
use super::{refusal, Objects};
use crate::handwritten::split_lists::Compiling;
use crate::renderer::Renderer;
use mgn_wire::draws::Draws;
use mgn_wire::{gl::*, ops, Fault, Slice};
use std::collections::BTreeMap;

/// The lists of a share group, by their names.
pub(crate) type Lists = BTreeMap<u32, Kept>;

/// Opcodes and bodies.
pub(crate) type Records = Vec<(u16, Box<[u8]>)>;

/// The contents of a list, or why they cannot be used.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    Records(Records),
    Lost(&'static str),
}

impl Default for Kept {
    fn default() -> Kept {
        Kept::Records(Vec::new())
    }
}

/// Prefixes of commands that are executed immediately while a list is compiled.
const AT_ONCE: &[&str] = &[
    "glGen",
    "glDelete",
    "glCreate",
    "glGet",
    "glIs",
    "glRead",
    "glFinish",
    "glFlush",
    "glFeedback",
    "glSelect",
    "glRenderMode",
    "glPixelStore",
    "glBufferData",
    "glBufferSub",
    "glBufferStorage",
    "glCopyBuffer",
    "glEnableClient",
    "glDisableClient",
    "glClientActive",
    "glEnableVertexA",
    "glDisableVertexA",
    "glBindVertex",
    "glVertexAttribBinding",
    "glVertexAttribFormat",
    "glVertexAttribDivisor",
    "glVertexBinding",
    "glBindBuffer",
    "glShaderSource",
    "glCompileShader",
    "glLinkProgram",
    "glAttach",
    "glDetach",
    "glBindAttrib",
    "glBindFrag",
    "glValidate",
    "glFence",
    "glClientWait",
    "glCheck",
    "glBindFramebuffer",
    "glBindRenderbuffer",
    "glFramebuffer",
    "glRenderbuffer",
    "glGenerate",
    "glNamed",
    "glDebug",
    "glObject",
    "glPushClient",
    "glPopClient",
    "glNewList",
    "glEndList",
    "glProgramBinary",
    "glProgramParameteri",
    "glTexStorage",
    "glTextureStorage",
    "glTextureView",
    "glTexImage3DMulti",
    "glTexImage2DMulti",
    "glInvalidate",
    "glBindSampler",
    "glSamplerParam",
];

/// Commands of our own that are compiled into lists.
const OURS: [u16; 4] = [
    ops::MGN_RUN,
    ops::MGN_DRAW_ARRAYS,
    ops::MGN_DRAW_ELEMENTS,
    ops::MGN_CURRENT,
];

fn is_compiled(op: u16) -> bool {
    let name = mgn_wire::name(op);
    if name.starts_with("mgn") {
        return OURS.contains(&op);
    }
    !name.ends_with("Pointer") && AT_ONCE.iter().all(|start| !name.starts_with(start))
}

impl Renderer {
    /// Notes a record that will be executed next, while a list may be open.
    pub(crate) fn note(&mut self, op: u16, body: Slice<'_, u8>) {
        if self.tile.is_none() || self.cx.as_ref().is_none_or(|cx| cx.compiling.is_none()) {
            return;
        }
        if !is_compiled(op) {
            return;
        }
        let lost = self.depends_on_buffers(op);
        let Some(compiling) = self.cx.as_deref_mut().and_then(|cx| cx.compiling.as_mut()) else {
            return;
        };
        match (lost, &mut compiling.kept) {
            (Some(why), kept) => *kept = Kept::Lost(why),
            (None, Kept::Records(records)) => records.push((op, body.to_vec().into())),
            (None, Kept::Lost(_)) => {}
        }
    }

    /// Why a command cannot be compiled again from its record: its data lies in buffers, whose
    /// contents may change.
    fn depends_on_buffers(&mut self, op: u16) -> Option<&'static str> {
        let name = mgn_wire::name(op);
        let draws = ops::draws(op) == Some(Draws::Arrays);
        if draws && self.draws_read_buffers() {
            return Some("a display list has drawn from a buffer");
        }
        let pixels = [
            "glTex",
            "glDrawPixels",
            "glBitmap",
            "glCompressedTex",
            "glPixelMap",
            "glPolygonStipple",
        ];
        let pixels = pixels.iter().any(|start| name.starts_with(start));
        (pixels && self.pixel_buffer(GL_PIXEL_UNPACK_BUFFER_BINDING))
            .then_some("a display list has an image from a buffer")
    }

    /// To be called when a list is complete.
    pub(crate) fn keep_list(&mut self, compiling: &mut Compiling) {
        if self.tile.is_some() {
            let kept = std::mem::take(&mut compiling.kept);
            self.names.shared.lists.insert(compiling.name(), kept);
        }
    }
}

/// All lists of the group, compiled in a context of the snapshot's own.
pub(super) fn write(objects: &Objects<'_>, script: &mut Script<'_>) -> Result<(), Fault> {
    for (&name, kept) in &objects.shared.lists {
        let records = match kept {
            Kept::Records(records) => records,
            Kept::Lost(why) => return Err(refusal(why)),
        };
        say!(script, gl_new_list(name, GL_COMPILE));
        for (op, body) in records {
            script.again(*op, body);
        }
        say!(script, gl_end_list());
    }
    Ok(())
}
