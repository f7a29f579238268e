//! Parts of buffers that shaders see: as uniforms, storage or atomic counters.
//!
//! A part may be bound before the buffer is large enough, and the buffer may become smaller
//! afterwards. Mesa does not check this when it draws: it subtracts the offset from the size
//! without a sign, and shaders then read and write any memory behind the buffer. So the driver
//! never has a *stray* part bound: one that begins at or behind the end of its buffer. The driver
//! gets such a part as soon as the buffer is large enough.

use crate::renderer::Renderer;
use mgn_wire::{gl::*, Fault};
use std::collections::BTreeMap;

/// A binding point: a target and an index.
pub(crate) type Point = (u32, u32);

/// A part that does not begin at the start of its buffer. Other parts can never be stray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    /// The driver's name.
    pub buffer: u32,
    pub offset: i64,
    pub size: i64,
    pub state: State,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum State {
    Bound,
    /// The driver has no buffer there, because the part lies beyond the end of the buffer.
    Stray,
    /// The driver has the part, but another context has deleted the buffer's name.
    Nameless,
    /// Another context has made the part stray, or has made the buffer large enough for it. The
    /// driver is updated before the context's next command.
    Changed(Change),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Change {
    Lost,
    Nameless,
    Found,
}

/// The parts that a context has bound.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub at: BTreeMap<Point, Part>,
    /// Whether some of them have changed.
    pub changed: bool,
}

/// The pnames that query the buffer at an indexed point (without an index, at the target), the
/// start of its part, and the number of points; none for targets without indexed points.
pub(crate) fn pnames(target: u32) -> Option<[u32; 3]> {
    Some(match target {
        GL_UNIFORM_BUFFER => [
            GL_UNIFORM_BUFFER_BINDING,
            GL_UNIFORM_BUFFER_START,
            GL_MAX_UNIFORM_BUFFER_BINDINGS,
        ],
        GL_SHADER_STORAGE_BUFFER => [
            GL_SHADER_STORAGE_BUFFER_BINDING,
            GL_SHADER_STORAGE_BUFFER_START,
            GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS,
        ],
        GL_ATOMIC_COUNTER_BUFFER => [
            GL_ATOMIC_COUNTER_BUFFER_BINDING,
            GL_ATOMIC_COUNTER_BUFFER_START,
            GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS,
        ],
        _ => return None,
    })
}

/// The pname that queries the buffer bound to a target.
fn binding(target: u32) -> Option<u32> {
    Some(match target {
        GL_ARRAY_BUFFER => GL_ARRAY_BUFFER_BINDING,
        GL_ELEMENT_ARRAY_BUFFER => GL_ELEMENT_ARRAY_BUFFER_BINDING,
        GL_PIXEL_PACK_BUFFER => GL_PIXEL_PACK_BUFFER_BINDING,
        GL_PIXEL_UNPACK_BUFFER => GL_PIXEL_UNPACK_BUFFER_BINDING,
        GL_COPY_READ_BUFFER => GL_COPY_READ_BUFFER_BINDING,
        GL_COPY_WRITE_BUFFER => GL_COPY_WRITE_BUFFER_BINDING,
        GL_DRAW_INDIRECT_BUFFER => GL_DRAW_INDIRECT_BUFFER_BINDING,
        GL_DISPATCH_INDIRECT_BUFFER => GL_DISPATCH_INDIRECT_BUFFER_BINDING,
        GL_PARAMETER_BUFFER => GL_PARAMETER_BUFFER_BINDING,
        GL_QUERY_BUFFER => GL_QUERY_BUFFER_BINDING,
        GL_TEXTURE_BUFFER => GL_TEXTURE_BUFFER_BINDING,
        GL_TRANSFORM_FEEDBACK_BUFFER => GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
        _ => return pnames(target).map(|[binding, ..]| binding),
    })
}

impl Part {
    /// Whether the driver has no buffer at the part's binding point.
    pub fn is_stray(&self) -> bool {
        matches!(self.state, State::Stray | State::Changed(Change::Found))
    }

    /// Whether another context has deleted the name of the part's buffer.
    fn is_nameless(&self) -> bool {
        matches!(
            self.state,
            State::Nameless | State::Changed(Change::Nameless)
        )
    }

    /// Updates the state after the buffer has got the size `bytes`.
    fn sized(&mut self, bytes: i64) {
        let has = self.offset < bytes;
        self.state = match self.state {
            State::Bound if !has => State::Changed(Change::Lost),
            State::Nameless if !has => State::Changed(Change::Nameless),
            State::Stray if has => State::Changed(Change::Found),
            // The driver still has the part, because the change was not handled yet.
            State::Changed(Change::Lost) if has => State::Bound,
            State::Changed(Change::Found) if !has => State::Stray,
            state => state,
        };
    }
}

impl Parts {
    /// The buffers that have or had this name have new sizes in bytes. `named` is the size of the
    /// buffer that has the name now; `nameless` is the smallest possible size of a buffer that has
    /// lost the name. The driver does not distinguish the two.
    fn sized(&mut self, buffer: u32, named: i64, nameless: i64) {
        for part in self.at.values_mut().filter(|part| part.buffer == buffer) {
            part.sized(match part.state {
                State::Nameless => nameless,
                _ => named,
            });
            self.changed |= matches!(part.state, State::Changed(_));
        }
    }

    /// The current context has deleted the buffers, so the driver has unbound them here.
    fn deleted(&mut self, buffers: &[u32]) {
        self.at
            .retain(|_, part| part.is_nameless() || !buffers.contains(&part.buffer));
    }

    /// Another context has deleted the buffers, which stay bound in this one.
    fn deleted_elsewhere(&mut self, buffers: &[u32]) {
        self.at.retain(|_, part| {
            if !buffers.contains(&part.buffer) {
                return true;
            }
            part.state = match part.state {
                State::Bound => State::Nameless,
                State::Changed(Change::Lost) => State::Changed(Change::Nameless),
                State::Stray | State::Changed(Change::Found) => return false,
                state => state,
            };
            true
        });
    }
}

impl Renderer {
    /// Calls `bind` to bind a part, or a whole buffer with offset 0, and notes it.
    pub(super) fn bind_part(
        &mut self,
        (target, index): Point,
        (buffer, offset, size): (u32, i64, i64),
        bind: impl FnOnce(&Renderer),
    ) -> Result<(), Fault> {
        let has_none = self.cx.as_deref().is_some_and(|cx| cx.parts.at.is_empty());
        if pnames(target).is_none() || offset <= 0 && has_none {
            bind(self);
            return Ok(());
        }
        if self.is_in_primitive() {
            return Ok(());
        }
        self.error();
        bind(self);
        if self.failed() {
            return Ok(());
        }
        // The command also binds the buffer to the target itself.
        let bytes = self.bytes_at(target).unwrap_or(0);
        self.note_part((target, index), (buffer, offset, size), bytes)
    }

    /// The same for several parts. The driver may refuse some of them and bind the others.
    pub(super) fn bind_parts(
        &mut self,
        target: u32,
        first: u32,
        parts: &[(u32, i64, i64)],
        bind: impl FnOnce(&Renderer),
    ) -> Result<(), Fault> {
        let has_none = self.cx.as_deref().is_some_and(|cx| cx.parts.at.is_empty());
        let are_whole = parts.iter().all(|(_, offset, _)| *offset <= 0);
        let Some([binding, start, most]) = pnames(target).filter(|_| !(are_whole && has_none))
        else {
            bind(self);
            return Ok(());
        };
        if self.is_in_primitive() {
            return Ok(());
        }
        self.error();
        bind(self);
        let failed = self.failed();
        let most = self.driver_integer(most) as u32;
        for (index, &part) in (first..most).zip(parts) {
            let (buffer, offset, _) = part;
            let (is, from) = self.bound_at(binding, start, index);
            let point = (target, index);
            // Mesa reports and uses only the lower 32 bits of an offset.
            let is_bound = is == buffer && [offset, i64::from(offset as i32)].contains(&from);
            // Two buffers may have had this name, and either may be bound now; or the bound part is
            // unknown.
            let is_unknown = match failed {
                true => self.is_nameless(point),
                false => !is_bound,
            };
            if is == 0 && (buffer == 0 || !failed) {
                self.forget_part(point);
            } else if is_unknown {
                self.unbind(point)?;
                self.forget_part(point);
            } else if is_bound {
                let bytes = self.bytes_of(buffer);
                self.note_part(point, part, bytes)?;
            }
        }
        Ok(())
    }

    fn is_nameless(&self, point: Point) -> bool {
        let part = self.cx.as_deref().and_then(|cx| cx.parts.at.get(&point));
        part.is_some_and(Part::is_nameless)
    }

    fn forget_part(&mut self, point: Point) {
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.parts.at.remove(&point);
        }
    }

    /// Notes the part that the driver has bound, and unbinds it if it is stray.
    fn note_part(
        &mut self,
        point: Point,
        (buffer, offset, size): (u32, i64, i64),
        bytes: i64,
    ) -> Result<(), Fault> {
        if buffer == 0 || offset <= 0 {
            self.forget_part(point);
            return Ok(());
        }
        let state = match offset < bytes {
            true => State::Bound,
            false => {
                self.unbind(point)?;
                State::Stray
            }
        };
        self.names.shared.has_parts = true;
        let part = Part {
            buffer,
            offset,
            size,
            state,
        };
        self.cx()?.parts.at.insert(point, part);
        Ok(())
    }

    /// Unbinds the buffer at a point in the driver.
    fn unbind(&mut self, point: Point) -> Result<(), Fault> {
        self.rebind(point, (0, 0, 0))
    }

    /// Binds at an indexed point, and keeps the binding of the target itself.
    fn rebind(
        &mut self,
        (target, index): Point,
        (buffer, offset, size): (u32, i64, i64),
    ) -> Result<(), Fault> {
        let is_desktop = self.cx()?.api.is_desktop();
        let is_done = self.unheard(|r| {
            r.error();
            let Some([binding, ..]) = pnames(target) else {
                return true;
            };
            if is_desktop {
                // SAFETY: the context is current; there is one of each.
                unsafe {
                    (r.gl.glBindBuffersRange)(target, index, 1, &buffer, &offset, &size);
                    if (r.gl.glGetError)() == GL_NO_ERROR {
                        return true;
                    }
                }
            }
            let bound = r.driver_integer(binding) as u32;
            // SAFETY: the context is current.
            unsafe {
                match buffer {
                    0 => (r.gl.glBindBufferBase)(target, index, 0),
                    _ => (r.gl.glBindBufferRange)(target, index, buffer, offset, size),
                }
                let is_done = (r.gl.glGetError)() == GL_NO_ERROR;
                // A buffer without a name cannot be bound again.
                let bound = match (r.gl.glIsBuffer)(bound) {
                    0 => 0,
                    _ => bound,
                };
                (r.gl.glBindBuffer)(target, bound);
                is_done
            }
        });
        match is_done {
            true => Ok(()),
            // The driver would go on using the stray part.
            false => Err(Fault::refused(
                "a buffer without the part of it that is bound",
            )),
        }
    }

    /// The program's offset or size (`pname`) at a point where the driver has no buffer.
    pub(super) fn stray(&self, pname: u32, index: u32) -> Option<i64> {
        let of = |target: u32, which: fn(&Part) -> i64| {
            let part = self.cx.as_deref()?.parts.at.get(&(target, index))?;
            part.is_stray().then(|| which(part))
        };
        let buffer = |part: &Part| part.buffer.into();
        match pname {
            GL_UNIFORM_BUFFER_BINDING => of(GL_UNIFORM_BUFFER, buffer),
            GL_UNIFORM_BUFFER_START => of(GL_UNIFORM_BUFFER, |part| part.offset),
            GL_UNIFORM_BUFFER_SIZE => of(GL_UNIFORM_BUFFER, |part| part.size),
            GL_SHADER_STORAGE_BUFFER_BINDING => of(GL_SHADER_STORAGE_BUFFER, buffer),
            GL_SHADER_STORAGE_BUFFER_START => of(GL_SHADER_STORAGE_BUFFER, |part| part.offset),
            GL_SHADER_STORAGE_BUFFER_SIZE => of(GL_SHADER_STORAGE_BUFFER, |part| part.size),
            GL_ATOMIC_COUNTER_BUFFER_BINDING => of(GL_ATOMIC_COUNTER_BUFFER, buffer),
            GL_ATOMIC_COUNTER_BUFFER_START => of(GL_ATOMIC_COUNTER_BUFFER, |part| part.offset),
            GL_ATOMIC_COUNTER_BUFFER_SIZE => of(GL_ATOMIC_COUNTER_BUFFER, |part| part.size),
            _ => None,
        }
    }

    /// The buffer and the offset that the driver has at a point.
    pub(crate) fn bound_at(&self, binding: u32, start: u32, index: u32) -> (u32, i64) {
        let (mut buffer, mut from) = ([0i32; 16], [0i64; 16]);
        // SAFETY: the context is current; one number each is written.
        unsafe {
            (self.gl.glGetIntegeri_v)(binding, index, buffer.as_mut_ptr());
            (self.gl.glGetInteger64i_v)(start, index, from.as_mut_ptr());
        }
        (buffer[0] as u32, from[0])
    }

    /// The size of the buffer bound to a target; none if there is none, or no such target.
    pub(super) fn bytes_at(&mut self, target: u32) -> Option<i64> {
        const UNTOUCHED: i64 = -0x5a17;
        let mut bytes = UNTOUCHED;
        self.unheard(|r| {
            r.error();
            // SAFETY: one number is written; the error is no program's.
            unsafe {
                (r.gl.glGetBufferParameteri64v)(target, GL_BUFFER_SIZE, &mut bytes);
                (r.gl.glGetError)();
            }
        });
        (bytes != UNTOUCHED).then_some(bytes)
    }

    /// The size of a named buffer.
    pub(crate) fn bytes_of(&mut self, buffer: u32) -> i64 {
        let bound = self.driver_integer(GL_COPY_READ_BUFFER_BINDING) as u32;
        // SAFETY: the context is current.
        unsafe { (self.gl.glBindBuffer)(GL_COPY_READ_BUFFER, buffer) };
        let bytes = self.bytes_at(GL_COPY_READ_BUFFER).unwrap_or(0);
        // SAFETY: as above.
        unsafe { (self.gl.glBindBuffer)(GL_COPY_READ_BUFFER, bound) };
        bytes
    }

    /// Runs a command that may give the buffer bound to a target other storage.
    pub(super) fn storing(
        &mut self,
        target: u32,
        store: impl FnOnce(&mut Renderer),
    ) -> Result<(), Fault> {
        self.elements_change();
        let has_parts = self.names.shared.has_parts;
        if !has_parts && !self.others_read_elements() {
            store(self);
            return Ok(());
        }
        let before = self.bytes_at(target);
        store(self);
        let after = self.bytes_at(target);
        if before == after {
            return Ok(());
        }
        let Some(buffer) = binding(target).and_then(|pname| self.asked(pname)) else {
            return Err(Fault::refused("storage for an unknown buffer"));
        };
        if after < before {
            self.forget_elements_in(buffer as u32);
        }
        match has_parts {
            true => self.buffer_sized(buffer as u32, after.unwrap_or(0)),
            false => Ok(()),
        }
    }

    /// Some buffer of this name, which may be deleted, now has `bytes` bytes.
    fn buffer_sized(&mut self, buffer: u32, bytes: i64) -> Result<(), Fault> {
        let Some(group) = self.cx.as_deref().map(|cx| cx.group) else {
            return Ok(());
        };
        // SAFETY: the context is current.
        let is_named = unsafe { (self.gl.glIsBuffer)(buffer) } != 0;
        let named = if is_named { self.bytes_of(buffer) } else { 0 };
        let others = self.contexts.values_mut().filter(|cx| cx.group == group);
        for cx in others.chain(&mut self.cx) {
            cx.parts.sized(buffer, named, bytes);
        }
        self.shown_sized(buffer, named, bytes)?;
        self.settle_parts()
    }

    /// Binds parts in the driver that are no longer stray, and unbinds those that have become
    /// stray.
    pub(crate) fn settle_parts(&mut self) -> Result<(), Fault> {
        let Some(cx) = self.cx.as_deref_mut().filter(|cx| cx.parts.changed) else {
            return Ok(());
        };
        let changed = cx.parts.at.iter();
        let changed: Vec<(Point, Part, Change)> = changed
            .filter_map(|(point, part)| match part.state {
                State::Changed(change) => Some((*point, *part, change)),
                _ => None,
            })
            .collect();
        cx.parts.changed = false;
        if changed.is_empty() {
            return Ok(());
        }
        if !self.has_no_primitive() {
            if changed.iter().all(|(.., change)| *change == Change::Found) {
                self.cx()?.parts.changed = true;
                return Ok(());
            }
            // The storage with which the primitive was begun cannot be unbound inside it.
            return Err(Fault::refused(
                "a buffer that gets other storage while a primitive is drawn from it",
            ));
        }
        for (point, part, change) in changed {
            match change {
                Change::Lost | Change::Nameless => self.unbind(point)?,
                Change::Found => self.rebind(point, (part.buffer, part.offset, part.size))?,
            }
            let parts = &mut self.cx()?.parts;
            match (change, parts.at.get_mut(&point)) {
                (Change::Lost, Some(part)) => part.state = State::Stray,
                (Change::Found, Some(part)) => part.state = State::Bound,
                _ => drop(parts.at.remove(&point)),
            }
        }
        Ok(())
    }

    /// Buffers were deleted, which unbinds them in the current context only.
    pub(super) fn parts_deleted(&mut self, buffers: &[u32]) {
        if !self.names.shared.has_parts {
            return;
        }
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        cx.parts.deleted(buffers);
        let group = cx.group;
        for cx in self.contexts.values_mut().filter(|cx| cx.group == group) {
            cx.parts.deleted_elsewhere(buffers);
        }
        self.shown_deleted(buffers);
    }
}
