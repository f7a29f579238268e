//! Compares the renderer's notes about a context with the driver's state.
//!
//! Wrong notes are dangerous: the driver would take an offset for an address, or read or write an
//! image with an unchecked layout. Tests that send random commands compare the notes after each
//! command.

use crate::context::Api;
use crate::handwritten::buffer_parts::{self, State};
use crate::handwritten::split_lists::Compiling;
use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::gl::*;

impl Renderer {
    /// Compares all notes of the current context with the driver's state. The program's state stays
    /// as it is. For tests.
    ///
    /// # Errors
    /// The first note that is wrong.
    pub fn compare_notes(&mut self) -> Result<(), String> {
        // Unlike `has_no_primitive`, this query changes no note.
        if self.cx.is_none() || self.asked(GL_MAX_TEXTURE_SIZE).is_none() {
            return Ok(());
        }
        self.unheard(|r| {
            r.error();
            let compared = r.compare();
            // SAFETY: a context is current. The queries above may include ones that the API lacks.
            unsafe { (r.gl.glGetError)() };
            compared
        })
    }

    fn compare(&mut self) -> Result<(), String> {
        let Some(cx) = self.cx.as_deref() else {
            return Ok(());
        };
        let same = |what: &str, noted: i64, pname: u32| match self.asked(pname) {
            Some(said) if i64::from(said) != noted => Err(format!(
                "{what} is noted as {noted}, and the driver says {said}"
            )),
            _ => Ok(()),
        };
        for (pname, noted) in cx.pixel_store.noted() {
            same(
                &format!("pixel store parameter {pname:#x}"),
                noted.into(),
                pname,
            )?;
        }
        if let Some(buffer) = cx.array_buffer {
            same("the array buffer", buffer.into(), GL_ARRAY_BUFFER_BINDING)?;
        }
        if let Some(buffer) = cx.vertex_arrays.noted_element_buffer() {
            same(
                "the buffer of indices",
                buffer.into(),
                GL_ELEMENT_ARRAY_BUFFER_BINDING,
            )?;
        }
        if cx.api == Api::Compat {
            let unit = i64::from(GL_TEXTURE0 + cx.vertex_arrays.unit);
            same("the client's texture unit", unit, GL_CLIENT_ACTIVE_TEXTURE)?;
            let compiled = cx.compiling.as_ref().map(Compiling::in_driver);
            let (list, mode) = compiled.unwrap_or_default();
            same("the list under compilation", list.into(), GL_LIST_INDEX)?;
            same("the mode of its compilation", mode.into(), GL_LIST_MODE)?;
            let mode = self.asked(GL_RENDER_MODE);
            if mode.is_some_and(|mode| (mode as u32 == GL_RENDER) != cx.renders) {
                return Err(format!(
                    "whether this draws is noted as {}, and the driver's mode is {mode:?}",
                    cx.renders
                ));
            }
        }
        let program = self.program_vertex_array();
        if program != 0 {
            let what = "the vertex array object";
            same(what, program.into(), GL_VERTEX_ARRAY_BINDING)?;
        }
        for (what, noted, pname) in [
            ("drawn to", cx.draw_framebuffer, GL_DRAW_FRAMEBUFFER_BINDING),
            ("read", cx.read_framebuffer, GL_READ_FRAMEBUFFER_BINDING),
        ] {
            let Some(driver) = self.asked(pname) else {
                continue;
            };
            let said = match driver {
                0 => Some(0),
                _ => self.names.table(Class::Framebuffer).shown(driver as u32),
            };
            if said != Some(noted) {
                return Err(format!(
                    "the framebuffer that is {what} is noted as {noted}, and the driver says {said:?}"
                ));
            }
        }
        if cx.api.is_desktop() && cx.was_current {
            // The driver may not have been told yet from which buffer of a new surface it is to
            // read.
            let is_told = cx.reads.is_some();
            for (is_bound, noted, pname) in [
                (cx.draw_framebuffer == 0, cx.draw_buffer, GL_DRAW_BUFFER),
                (
                    cx.read_framebuffer == 0 && is_told,
                    cx.read_buffer,
                    GL_READ_BUFFER,
                ),
            ] {
                if is_bound {
                    let what = format!("the default framebuffer's {pname:#x}");
                    same(&what, noted.into(), pname)?;
                }
            }
        }
        self.compare_elements()?;
        self.compare_parts()?;
        self.compare_buffer_textures()?;
        self.compare_arrays()
    }

    /// Compares the parts of buffers that textures show. No part may begin behind its buffer's end.
    fn compare_buffer_textures(&mut self) -> Result<(), String> {
        let bound = self.driver_integer(GL_TEXTURE_BINDING_BUFFER) as u32;
        let level = |r: &Renderer, pname| {
            let mut value = [0; 16];
            // SAFETY: the context is current; one number is written.
            unsafe {
                (r.gl.glGetTexLevelParameteriv)(GL_TEXTURE_BUFFER, 0, pname, value.as_mut_ptr());
            }
            value[0]
        };
        // Only images could be accessed behind the end of a buffer, and unnamed textures have no
        // images.
        if bound == 0 {
            return Ok(());
        }
        let from = level(self, GL_TEXTURE_BUFFER_OFFSET);
        let buffer = level(self, GL_TEXTURE_BUFFER_DATA_STORE_BINDING) as u32;
        let noted = self.part_shown_by(bound);
        let part = (buffer, i64::from(from));
        if from > 0 && buffer != 0 && noted != Some(part) {
            return Err(format!(
                "what the buffer texture {bound} shows is noted as {noted:?}, and the driver says \
                 {part:?}"
            ));
        }
        if from > 0 && buffer != 0 && self.bytes_of(buffer) <= i64::from(from) {
            return Err(format!(
                "a texture shows buffer {buffer} from {from}, where it has no more bytes"
            ));
        }
        Ok(())
    }

    /// Compares the parts of buffers that shaders see. No part may begin behind its buffer's end.
    fn compare_parts(&mut self) -> Result<(), String> {
        for target in [
            GL_UNIFORM_BUFFER,
            GL_SHADER_STORAGE_BUFFER,
            GL_ATOMIC_COUNTER_BUFFER,
        ] {
            let Some([binding, start, most]) = buffer_parts::pnames(target) else {
                continue;
            };
            // Tests bind only to the first points; checking the others would take more time than
            // everything else.
            let most = self.asked(most).unwrap_or(0).clamp(0, 256) as u32;
            let cx = self.cx.as_deref();
            let points = cx.into_iter().flat_map(|cx| cx.parts.at.keys());
            let noted = points
                .filter(|(at, _)| *at == target)
                .map(|(_, index)| *index);
            let indices: Vec<u32> = noted.chain(0..most.min(4)).collect();
            for index in indices {
                let (buffer, from) = self.bound_at(binding, start, index);
                let part = self
                    .cx
                    .as_deref()
                    .and_then(|cx| cx.parts.at.get(&(target, index)));
                let noted = match part {
                    Some(part) if part.state != State::Stray => (part.buffer, part.offset),
                    _ if from <= 0 => continue,
                    _ => (0, 0),
                };
                if part.is_some_and(|part| matches!(part.state, State::Changed(_))) {
                    return Err(format!("a part of buffer {buffer} is as it should not be"));
                }
                if noted != (buffer, from) {
                    return Err(format!(
                        "the part at point {index} of {target:#x} is noted as {noted:?}, and the \
                         driver says {:?}",
                        (buffer, from)
                    ));
                }
                if part.is_some_and(|part| part.state == State::Bound) {
                    let bytes = self.bytes_of(buffer);
                    if from >= bytes {
                        return Err(format!("a part at {from} of a buffer of {bytes} is bound"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares the arrays of the bound object, and those of the renderer's own object.
    fn compare_arrays(&mut self) -> Result<(), String> {
        let Some(cx) = self.cx.as_deref() else {
            return Ok(());
        };
        let (unit, api) = (cx.vertex_arrays.unit, cx.api);
        let own = (cx.default_vertex_array != 0).then_some(cx.arrays.enabled());
        for (attribute, noted) in cx.vertex_arrays.noted(api) {
            let (enabled, backed) = self.array(attribute, unit);
            if noted != (enabled, enabled && !backed) {
                return Err(format!(
                    "array {attribute} is noted as {noted:?} (enabled, without a buffer), and the \
                     driver says {:?}",
                    (enabled, enabled && !backed)
                ));
            }
        }
        let Some(noted) = own else { return Ok(()) };
        // SAFETY: the context is current.
        unsafe { (self.gl.glBindVertexArray)(0) };
        let wrong = (0..32)
            .filter(|a| super::handwritten::vertex_arrays::has_array(api, *a))
            .find(|a| {
                let (enabled, _) = self.array(*a, unit);
                enabled != (noted & 1 << a != 0)
            });
        self.end_own();
        match wrong {
            Some(attribute) => Err(format!(
                "the renderer's own array {attribute} is not as noted"
            )),
            None => Ok(()),
        }
    }
}
