//! Buffers: what is bound where.

use std::collections::HashMap;

use mgn_wire::gl::*;

use crate::limits::Api;
use crate::slots::at;
use crate::{GlError, State};

/// Bindings with an index.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexedBindings {
    /// By target and index: the buffer, its offset and its size (0 and 0: all of it).
    bindings: HashMap<(u32, u32), (u32, i64, i64)>,
}

/// The name that shows what is bound to a target, and where it is.
fn binding_at(target: u32) -> Option<(u32, usize)> {
    Some(match target {
        GL_ARRAY_BUFFER => (GL_ARRAY_BUFFER_BINDING, at!(GL_ARRAY_BUFFER_BINDING)),
        GL_ELEMENT_ARRAY_BUFFER => (
            GL_ELEMENT_ARRAY_BUFFER_BINDING,
            at!(GL_ELEMENT_ARRAY_BUFFER_BINDING),
        ),
        GL_PIXEL_PACK_BUFFER => (
            GL_PIXEL_PACK_BUFFER_BINDING,
            at!(GL_PIXEL_PACK_BUFFER_BINDING),
        ),
        GL_PIXEL_UNPACK_BUFFER => (
            GL_PIXEL_UNPACK_BUFFER_BINDING,
            at!(GL_PIXEL_UNPACK_BUFFER_BINDING),
        ),
        GL_COPY_READ_BUFFER => (
            GL_COPY_READ_BUFFER_BINDING,
            at!(GL_COPY_READ_BUFFER_BINDING),
        ),
        GL_COPY_WRITE_BUFFER => (
            GL_COPY_WRITE_BUFFER_BINDING,
            at!(GL_COPY_WRITE_BUFFER_BINDING),
        ),
        GL_DRAW_INDIRECT_BUFFER => (
            GL_DRAW_INDIRECT_BUFFER_BINDING,
            at!(GL_DRAW_INDIRECT_BUFFER_BINDING),
        ),
        GL_DISPATCH_INDIRECT_BUFFER => (
            GL_DISPATCH_INDIRECT_BUFFER_BINDING,
            at!(GL_DISPATCH_INDIRECT_BUFFER_BINDING),
        ),
        GL_PARAMETER_BUFFER => (
            GL_PARAMETER_BUFFER_BINDING,
            at!(GL_PARAMETER_BUFFER_BINDING),
        ),
        GL_QUERY_BUFFER => (GL_QUERY_BUFFER_BINDING, at!(GL_QUERY_BUFFER_BINDING)),
        GL_UNIFORM_BUFFER => (GL_UNIFORM_BUFFER_BINDING, at!(GL_UNIFORM_BUFFER_BINDING)),
        GL_SHADER_STORAGE_BUFFER => (
            GL_SHADER_STORAGE_BUFFER_BINDING,
            at!(GL_SHADER_STORAGE_BUFFER_BINDING),
        ),
        GL_ATOMIC_COUNTER_BUFFER => (
            GL_ATOMIC_COUNTER_BUFFER_BINDING,
            at!(GL_ATOMIC_COUNTER_BUFFER_BINDING),
        ),
        GL_TRANSFORM_FEEDBACK_BUFFER => (
            GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
            at!(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING),
        ),
        GL_TEXTURE_BUFFER => (GL_TEXTURE_BUFFER_BINDING, at!(GL_TEXTURE_BUFFER_BINDING)),
        _ => return None,
    })
}

/// Names that show the indexed bindings of a target: the buffer, its start and its size.
fn indexed_target(pname: u32) -> Option<(u32, usize)> {
    Some(match pname {
        GL_UNIFORM_BUFFER_BINDING => (GL_UNIFORM_BUFFER, 0),
        GL_UNIFORM_BUFFER_START => (GL_UNIFORM_BUFFER, 1),
        GL_UNIFORM_BUFFER_SIZE => (GL_UNIFORM_BUFFER, 2),
        GL_SHADER_STORAGE_BUFFER_BINDING => (GL_SHADER_STORAGE_BUFFER, 0),
        GL_SHADER_STORAGE_BUFFER_START => (GL_SHADER_STORAGE_BUFFER, 1),
        GL_SHADER_STORAGE_BUFFER_SIZE => (GL_SHADER_STORAGE_BUFFER, 2),
        GL_ATOMIC_COUNTER_BUFFER_BINDING => (GL_ATOMIC_COUNTER_BUFFER, 0),
        GL_ATOMIC_COUNTER_BUFFER_START => (GL_ATOMIC_COUNTER_BUFFER, 1),
        GL_ATOMIC_COUNTER_BUFFER_SIZE => (GL_ATOMIC_COUNTER_BUFFER, 2),
        _ => return None,
    })
}

impl State {
    pub fn gl_gen_buffers(&mut self, names: &[u32]) {
        self.shared.lock().buffers.extend(names);
    }

    pub fn gl_delete_buffers(&mut self, names: &[u32]) {
        let mut objects = self.shared.lock();
        names.iter().for_each(|name| {
            objects.buffers.remove(name);
        });
        drop(objects);
        for target in [
            GL_ARRAY_BUFFER,
            GL_ELEMENT_ARRAY_BUFFER,
            GL_PIXEL_PACK_BUFFER,
            GL_PIXEL_UNPACK_BUFFER,
            GL_COPY_READ_BUFFER,
            GL_COPY_WRITE_BUFFER,
            GL_DRAW_INDIRECT_BUFFER,
            GL_DISPATCH_INDIRECT_BUFFER,
            GL_PARAMETER_BUFFER,
            GL_QUERY_BUFFER,
            GL_UNIFORM_BUFFER,
            GL_SHADER_STORAGE_BUFFER,
            GL_ATOMIC_COUNTER_BUFFER,
            GL_TRANSFORM_FEEDBACK_BUFFER,
            GL_TEXTURE_BUFFER,
        ] {
            let Some((_, at)) = binding_at(target) else {
                continue;
            };
            if self
                .known(at)
                .is_some_and(|v| v != 0. && names.contains(&(v as u32)))
            {
                self.set(at, 0u8);
            }
        }
        // Vertex arrays that aren't bound keep the buffer, whose name may soon be another's.
        for elements in self.own.vertex_arrays.values_mut() {
            if *elements != 0. && names.contains(&(*elements as u32)) {
                *elements = crate::slots::UNKNOWN;
            }
        }
        for target in [
            GL_UNIFORM_BUFFER,
            GL_SHADER_STORAGE_BUFFER,
            GL_ATOMIC_COUNTER_BUFFER,
        ] {
            let bindings = &mut self.indexed.bindings;
            let before = bindings.len();
            bindings.retain(|(of, _), (buffer, ..)| *of != target || !names.contains(buffer));
            let unbound = bindings.len() < before;
            if let (true, Some((_, at))) = (unbound, binding_at(target)) {
                // Some drivers unbind them as a program would, and the target's own as well.
                self.forget_at(at, 1);
            }
        }
    }

    /// Whether a buffer may be bound; makes a name the program invented one where it may.
    fn use_buffer(&mut self, buffer: u32) -> Result<(), GlError> {
        if buffer == 0 {
            return Ok(());
        }
        let mut objects = self.shared.lock();
        if objects.buffers.contains(&buffer) {
            return Ok(());
        }
        if self.limits.api == Api::Core {
            return Err(GlError::InvalidOperation);
        }
        objects.buffers.insert(buffer);
        Ok(())
    }

    pub fn gl_bind_buffer(&mut self, target: u32, buffer: u32) -> Result<(), GlError> {
        let Some((pname, at)) = binding_at(target) else {
            return self.unsure();
        };
        needs!(self, pname);
        let arrays = matches!(target, GL_ARRAY_BUFFER | GL_ELEMENT_ARRAY_BUFFER);
        if self.limits.api == Api::Es1 && !arrays {
            return self.unsure();
        }
        self.use_buffer(buffer)?;
        self.set(at, buffer);
        Ok(())
    }

    /// [`State::gl_bind_buffer`] of no buffer, or of one that this context has bound before, to a
    /// target that it has.
    #[inline]
    pub fn bind_known_buffer(&mut self, target: u32, buffer: u32) {
        if let Some((_, at)) = binding_at(target) {
            self.set(at, buffer);
        }
    }

    pub fn gl_bind_buffer_base(
        &mut self,
        target: u32,
        index: u32,
        buffer: u32,
    ) -> Result<(), GlError> {
        self.bind_indexed(target, index, (buffer, 0, 0))
    }

    pub fn gl_bind_buffer_range(
        &mut self,
        target: u32,
        index: u32,
        buffer: u32,
        offset: i64,
        size: i64,
    ) -> Result<(), GlError> {
        if self.indexed_limit(target).is_none() {
            return self.bind_indexed(target, index, (buffer, 0, 0));
        }
        self.use_buffer(buffer)?;
        if buffer != 0 && size <= 0 {
            return Err(GlError::InvalidValue);
        }
        let range = if buffer == 0 { (0, 0) } else { (offset, size) };
        // Offsets must be aligned as the target wants it.
        if range.0 % 256 != 0 || range.0 < 0 || range.1 % 4 != 0 {
            self.forget_indexed(target);
            return self.unsure();
        }
        self.bind_indexed(target, index, (buffer, range.0, range.1))
    }

    pub fn gl_bind_buffer_offset_ext(
        &mut self,
        target: u32,
        _index: u32,
        _buffer: u32,
        _offset: i64,
    ) -> Result<(), GlError> {
        self.forget_indexed(target);
        self.unsure()
    }

    pub fn gl_bind_buffers_base(
        &mut self,
        target: u32,
        first: u32,
        count: i32,
        buffers: &[u32],
    ) -> Result<(), GlError> {
        self.bind_many(target, first, count, |i| {
            (buffers.get(i).copied().unwrap_or(0), 0, 0)
        })
    }

    pub fn gl_bind_buffers_range(
        &mut self,
        target: u32,
        _first: u32,
        _count: i32,
        _buffers: &[u32],
        _offsets: &[i64],
        _sizes: &[i64],
    ) -> Result<(), GlError> {
        self.forget_indexed(target);
        self.unsure()
    }

    fn bind_many(
        &mut self,
        target: u32,
        first: u32,
        count: i32,
        which: impl Fn(usize) -> (u32, i64, i64),
    ) -> Result<(), GlError> {
        let limit = self.indexed_limit(target);
        let (Some(limit), Ok(count)) = (limit, u32::try_from(count)) else {
            return self.unsure();
        };
        if first.saturating_add(count) > limit {
            return self.unsure();
        }
        for i in 0..count {
            let binding = which(i as usize);
            if binding.0 != 0 && !self.shared.lock().buffers.contains(&binding.0) {
                self.forget_indexed(target);
                self.doubt = true;
                continue;
            }
            self.indexed.bindings.insert((target, first + i), binding);
        }
        Ok(())
    }

    fn indexed_limit(&self, target: u32) -> Option<u32> {
        match target {
            GL_UNIFORM_BUFFER => Some(self.limits.uniform_buffers),
            GL_SHADER_STORAGE_BUFFER => Some(self.limits.storage_buffers),
            GL_ATOMIC_COUNTER_BUFFER => Some(self.limits.atomic_buffers),
            _ => None,
        }
    }

    fn bind_indexed(
        &mut self,
        target: u32,
        index: u32,
        binding: (u32, i64, i64),
    ) -> Result<(), GlError> {
        if target == GL_TRANSFORM_FEEDBACK_BUFFER {
            // Its indexed bindings belong to transform feedback objects, and active ones
            // refuse it.
            return self.unsure_of(at!(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING));
        }
        let (Some((_, at)), Some(limit)) = (binding_at(target), self.indexed_limit(target)) else {
            return self.unsure();
        };
        if index >= limit {
            return Err(GlError::InvalidValue);
        }
        self.use_buffer(binding.0)?;
        self.set(at, binding.0);
        self.indexed.bindings.insert((target, index), binding);
        Ok(())
    }

    fn forget_indexed(&mut self, target: u32) {
        if let Some((_, at)) = binding_at(target) {
            self.forget_at(at, 1);
        }
        // An unknown binding has a negative offset, which no command accepts.
        for index in 0..self.indexed_limit(target).unwrap_or(0) {
            self.indexed.bindings.insert((target, index), (0, -1, 0));
        }
    }

    /// An indexed binding's buffer, start or size.
    pub(crate) fn indexed_binding(&self, pname: u32, index: u32) -> Option<f64> {
        let (target, which) = indexed_target(pname)?;
        if index >= self.indexed_limit(target)? {
            return None;
        }
        let binding = self.indexed.bindings.get(&(target, index));
        let &(buffer, start, size) = binding.unwrap_or(&(0, 0, 0));
        (start >= 0).then_some(match which {
            0 => f64::from(buffer),
            1 => start as f64,
            _ => size as f64,
        })
    }
}
