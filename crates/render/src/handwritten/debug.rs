//! Debug output and labels.

use crate::context::{Api, Context};
use crate::debug::Debug;
use crate::names::{Class, UNKNOWN};
use crate::renderer::Renderer;
use mgn_wire::debug::Message;
use mgn_wire::{gl::*, Fault, Reply, Slice};
use std::ffi::c_void;
use std::sync::Arc;

/// Texts of this many bytes don't travel, because every driver refuses them.
const LONGEST_TEXT: usize = 1 << 16;
/// Room for every label that a driver keeps.
const LABEL_ROOM: i32 = 1 << 16;

/// A text of the program's with a NUL behind it, and the length for the driver. A null pointer
/// stays null.
struct Text {
    bytes: Option<Vec<u8>>,
    length: i32,
}

impl Text {
    /// A text of `length` bytes. If `length` is negative, the text ends with NUL.
    fn new(length: i32, text: Slice<'_, u8>) -> Result<Text, Fault> {
        let Some(mut bytes) = text.copied() else {
            return Ok(Text {
                bytes: None,
                length,
            });
        };
        let mut told = length;
        match usize::try_from(length) {
            // Some drivers read a text even if they refuse it.
            Ok(n) if n >= LONGEST_TEXT => {
                bytes.resize(LONGEST_TEXT, 0);
                told = LONGEST_TEXT as i32;
            }
            Ok(n) if n > bytes.len() => return Err(Fault::ShortArray),
            _ => {}
        }
        bytes.push(0);
        Ok(Text {
            bytes: Some(bytes),
            length: told,
        })
    }

    fn as_ptr(&self) -> *const u8 {
        self.bytes.as_ref().map_or(std::ptr::null(), |b| b.as_ptr())
    }
}

/// Whether a capability is an array of the fixed function. Mesa's glEnable switches these, too.
fn is_array(cap: u32) -> bool {
    matches!(
        cap,
        GL_VERTEX_ARRAY
            | GL_NORMAL_ARRAY
            | GL_COLOR_ARRAY
            | GL_INDEX_ARRAY
            | GL_TEXTURE_COORD_ARRAY
            | GL_EDGE_FLAG_ARRAY
            | GL_FOG_COORD_ARRAY
            | GL_SECONDARY_COLOR_ARRAY
            | GL_POINT_SIZE_ARRAY_OES
    )
}

impl Renderer {
    /// Receives messages of a new context, which is current in EGL.
    pub(crate) fn listen(&self, cx: &Context, output: bool) {
        if !cx.has_debug {
            return;
        }
        let most = self.driver_integer(GL_MAX_DEBUG_LOGGED_MESSAGES);
        cx.debug.start(output, most.max(1) as usize);
        let user = Arc::as_ptr(&cx.debug).cast::<c_void>();
        // SAFETY: the context is current; `on_message` has the type that the driver calls, and the
        // context keeps `user`.
        unsafe { (self.gl.glDebugMessageCallback)(Debug::on_message as *mut c_void, user) };
        if Debug::knows_error_id() {
            return;
        }
        // SAFETY: as above; the command is refused.
        unsafe {
            (self.gl.glEnable)(GL_DEBUG_OUTPUT);
            (self.gl.glViewport)(0, 0, -1, -1);
            (self.gl.glGetError)();
            if !output {
                (self.gl.glDisable)(GL_DEBUG_OUTPUT);
            }
        }
        cx.debug.learn_error_id();
    }

    fn debug(&mut self) -> Result<Arc<Debug>, Fault> {
        Ok(self.cx()?.debug.clone())
    }

    /// Does work that the program has not asked for. The driver's messages about it are dropped;
    /// its error is kept.
    pub(crate) fn unheard<R>(&mut self, work: impl FnOnce(&mut Renderer) -> R) -> R {
        let debug = self.cx.as_ref().map(|cx| cx.debug.clone());
        let mute = |muted| {
            if let Some(debug) = &debug {
                debug.mute(muted);
            }
        };
        mute(true);
        let done = work(self);
        mute(false);
        done
    }

    pub(crate) fn handwritten_gl_enable(&mut self, cap: u32) -> Result<(), Fault> {
        self.switch(cap, true)
    }

    pub(crate) fn handwritten_gl_disable(&mut self, cap: u32) -> Result<(), Fault> {
        self.switch(cap, false)
    }

    fn switch(&mut self, cap: u32, on: bool) -> Result<(), Fault> {
        self.needs_context()?;
        if cap == GL_SCISSOR_TEST {
            self.leave_tile();
        }
        if cap == GL_PRIMITIVE_RESTART {
            self.elements_change();
        }
        let has_arrays = matches!(self.cx()?.api, Api::Compat | Api::Es1);
        if has_arrays && is_array(cap) {
            // A list could enable arrays without our notice. The enabled arrays are noted so that
            // no draw reads memory at an address that the client chose.
            if self.cx()?.compiling.is_some() {
                return Err(Fault::refused("an array that a display list switches"));
            }
            self.client_state(cap)?;
        }
        let command = if on {
            self.gl.glEnable
        } else {
            self.gl.glDisable
        };
        // SAFETY: the context is current.
        unsafe { command(cap) };
        if cap == GL_DEBUG_OUTPUT {
            // Not if the command was compiled into a list.
            // SAFETY: as above.
            let output = unsafe { (self.gl.glIsEnabled)(cap) } != 0;
            self.debug()?.set_output(output);
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_debug_message_callback(
        &mut self,
        called: u8,
    ) -> Result<(), Fault> {
        self.debug()?.set_called(called != 0);
        Ok(())
    }

    pub(crate) fn handwritten_mgn_debug_messages(
        &mut self,
        messages_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let messages = self.debug()?.take_messages();
        send(reply, &messages, messages_count)
    }

    pub(crate) fn handwritten_gl_get_debug_message_log(
        &mut self,
        count: u32,
        size: i32,
        texts: u8,
        messages_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let debug = self.debug()?;
        let room = (texts != 0).then(|| usize::try_from(size).unwrap_or(0));
        let messages = debug.take_logged(count as usize, room);
        send(reply, &messages, messages_count)
    }

    pub(crate) fn handwritten_gl_debug_message_control(
        &mut self,
        source: u32,
        type_: u32,
        severity: u32,
        count: i32,
        ids: Slice<'_, u32>,
        enabled: u8,
    ) -> Result<(), Fault> {
        let debug = self.debug()?;
        let ids = ids.to_vec();
        if usize::try_from(count).is_ok_and(|count| count > ids.len()) {
            return Err(Fault::ShortArray);
        }
        self.error();
        // SAFETY: the array holds `count` numbers.
        unsafe {
            (self.gl.glDebugMessageControl)(source, type_, severity, count, ids.as_ptr(), enabled)
        };
        if !self.failed() {
            debug.control(source, type_, severity, &ids, enabled != 0);
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_debug_message_insert(
        &mut self,
        source: u32,
        type_: u32,
        id: u32,
        severity: u32,
        length: i32,
        text: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let text = Text::new(length, text)?;
        if text.bytes.is_some() {
            // SAFETY: the text has `length` bytes, or ends with NUL.
            unsafe {
                (self.gl.glDebugMessageInsert)(
                    source,
                    type_,
                    id,
                    severity,
                    text.length,
                    text.as_ptr(),
                )
            };
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_push_debug_group(
        &mut self,
        source: u32,
        id: u32,
        length: i32,
        text: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let text = Text::new(length, text)?;
        if text.bytes.is_some() {
            // SAFETY: as for an inserted message.
            unsafe { (self.gl.glPushDebugGroup)(source, id, text.length, text.as_ptr()) };
        }
        self.follow_groups()
    }

    pub(crate) fn handwritten_gl_pop_debug_group(&mut self) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current.
        unsafe { (self.gl.glPopDebugGroup)() };
        self.follow_groups()
    }

    fn follow_groups(&mut self) -> Result<(), Fault> {
        let depth = self.driver_integer(GL_DEBUG_GROUP_STACK_DEPTH);
        self.debug()?.set_depth(usize::try_from(depth).unwrap_or(1));
        Ok(())
    }

    /// The driver's name of a labelled object. If there is no such object, a name that no driver
    /// has generated.
    fn labelled(&self, identifier: u32, name: u32) -> u32 {
        let class = match identifier {
            GL_BUFFER | GL_BUFFER_OBJECT_EXT => Class::Buffer,
            GL_SHADER | GL_SHADER_OBJECT_EXT | GL_PROGRAM | GL_PROGRAM_OBJECT_EXT => Class::Program,
            GL_VERTEX_ARRAY | GL_VERTEX_ARRAY_OBJECT_EXT => Class::VertexArray,
            GL_QUERY | GL_QUERY_OBJECT_EXT => Class::Query,
            GL_PROGRAM_PIPELINE | GL_PROGRAM_PIPELINE_OBJECT_EXT => Class::Pipeline,
            GL_TRANSFORM_FEEDBACK => Class::TransformFeedback,
            GL_SAMPLER => Class::Sampler,
            GL_TEXTURE => Class::Texture,
            GL_RENDERBUFFER => Class::Renderbuffer,
            GL_FRAMEBUFFER => Class::Framebuffer,
            // Lists have the same names in the driver, and the driver refuses all other
            // identifiers.
            _ => return name,
        };
        self.names.find(class, name).unwrap_or(UNKNOWN)
    }

    pub(crate) fn handwritten_gl_object_label(
        &mut self,
        identifier: u32,
        name: u32,
        length: i32,
        label: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let (name, label) = (self.labelled(identifier, name), Text::new(length, label)?);
        // SAFETY: the label is null, has `length` bytes, or ends with NUL.
        unsafe { (self.gl.glObjectLabel)(identifier, name, label.length, label.as_ptr()) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_label_object_ext(
        &mut self,
        identifier: u32,
        name: u32,
        length: i32,
        label: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let (name, label) = (self.labelled(identifier, name), Text::new(length, label)?);
        // SAFETY: as above; for this command, length 0 means that the label ends with NUL.
        unsafe { (self.gl.glLabelObjectEXT)(identifier, name, label.length, label.as_ptr()) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_object_ptr_label(
        &mut self,
        ptr: u32,
        length: i32,
        label: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let (sync, label) = (self.sync(ptr), Text::new(length, label)?);
        // SAFETY: as above; a null fence is refused.
        unsafe { (self.gl.glObjectPtrLabel)(sync, label.length, label.as_ptr()) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_object_label(
        &mut self,
        identifier: u32,
        name: u32,
        size: i32,
        length_count: u32,
        label_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let name = self.labelled(identifier, name);
        let get = self.gl.glGetObjectLabel;
        self.label(
            size,
            length_count,
            label_count,
            reply,
            |size, length, label| {
                // SAFETY: there is room for the length and, unless it is null, for the label.
                unsafe { get(identifier, name, size, length, label) }
            },
        )
    }

    pub(crate) fn handwritten_gl_get_object_label_ext(
        &mut self,
        identifier: u32,
        name: u32,
        size: i32,
        length_count: u32,
        label_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let name = self.labelled(identifier, name);
        let get = self.gl.glGetObjectLabelEXT;
        self.label(
            size,
            length_count,
            label_count,
            reply,
            |size, length, label| {
                // SAFETY: as above.
                unsafe { get(identifier, name, size, length, label) }
            },
        )
    }

    pub(crate) fn handwritten_gl_get_object_ptr_label(
        &mut self,
        ptr: u32,
        size: i32,
        length_count: u32,
        label_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let (sync, get) = (self.sync(ptr), self.gl.glGetObjectPtrLabel);
        self.label(
            size,
            length_count,
            label_count,
            reply,
            |size, length, label| {
                // SAFETY: as above; a null fence is refused.
                unsafe { get(sync, size, length, label) }
            },
        )
    }

    /// Answers with a label's length and the label. `label_count` is 0 if the program has no room
    /// for a label.
    fn label(
        &mut self,
        size: i32,
        length_count: u32,
        label_count: u32,
        reply: &mut Reply,
        get: impl FnOnce(i32, *mut i32, *mut u8),
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let size = size.min(LABEL_ROOM);
        let mut length = 0;
        let mut room = vec![0u8; usize::try_from(size).unwrap_or(0) + 1];
        let to = if label_count == 0 {
            std::ptr::null_mut()
        } else {
            room.as_mut_ptr()
        };
        self.error();
        get(size, &mut length, to);
        let failed = self.failed();
        let end = room.iter().position(|b| *b == 0).unwrap_or(0);
        // Without room, not even the NUL is written.
        let bytes = if size > 0 { &room[..=end] } else { &[] };
        reply.array(&[length], if failed { 0 } else { length_count });
        reply.array(bytes, if failed { 0 } else { label_count });
        Ok(())
    }
}

fn send(reply: &mut Reply, messages: &[Message], count: u32) -> Result<(), Fault> {
    let bytes = postcard::to_allocvec(messages)
        .map_err(|_| Fault::server("messages of debug output cannot be sent"))?;
    reply.array(&bytes, count);
    Ok(())
}
