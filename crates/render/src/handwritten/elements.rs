//! Array elements that drivers read on the CPU: for glArrayElement, for draws that are compiled
//! into display lists, and in selection and feedback. Mesa does not check the end of a buffer, so
//! the renderer does. In selection and feedback Mesa does check the end, but not whether the buffer
//! has any storage.

use super::arrays::{bits, in_unit, Source};
use super::vertex_arrays::has_array;
use crate::context::Context;
use crate::renderer::Renderer;
use mgn_wire::draws::{attr, bytes_taken, Kind};
use mgn_wire::sizes::image::{attrib_bytes, draw_index_bytes};
use mgn_wire::{gl::*, Fault};
use std::ffi::c_void;

/// The elements that the enabled arrays have.
#[derive(Default)]
pub(crate) struct Elements {
    /// The buffers hold all elements below this one.
    end: i64,
    /// The element number at which glArrayElement restarts the primitive.
    restart: Option<i32>,
    /// Where the arrays lie.
    places: Vec<ArrayLayout>,
    /// Whether the program has since used a command that may change the elements. If the driver has
    /// refused the primitive, it accepts such a command.
    may_have_changed: bool,
}

/// Where an array lies in its buffer.
#[derive(Clone)]
struct ArrayLayout {
    /// The driver's name.
    buffer: u32,
    start: i64,
    stride: i64,
    size: i32,
    type_: u32,
}

/// The elements that one draw reads.
#[derive(Clone, Copy)]
pub(super) enum Span {
    /// The first element, and the number of elements.
    Elements(i32, i32),
    /// The first and the last element.
    Between(i64, i64),
    /// The type and offset of the indices, their number, and what is added to each.
    Indices(u32, u64, i32, i32),
}

/// The least and the greatest index, without restart indices. If there are no others, the first
/// number is above the second.
pub(super) fn index_range(type_: u32, indices: &[u8], restart: Option<u32>) -> (i64, i64) {
    let size = draw_index_bytes(type_).unwrap_or(1);
    let numbers = indices.chunks_exact(size).map(|index| {
        let mut number = [0; 4];
        number[..index.len()].copy_from_slice(index);
        u32::from_le_bytes(number)
    });
    numbers
        .filter(|number| restart != Some(*number))
        .map(i64::from)
        .fold((i64::MAX, i64::MIN), |(least, most), number| {
            (least.min(number), most.max(number))
        })
}

impl Elements {
    fn has(&self, first: i64, last: i64) -> bool {
        first >= 0 && last < self.end
    }

    fn lie_in(&self, buffer: u32) -> bool {
        self.places.iter().any(|place| place.buffer == buffer)
    }

    fn may_be_read(&self, element: i32) -> bool {
        self.restart == Some(element) || self.has(element.into(), element.into())
    }
}

impl Renderer {
    /// Whether the buffers hold everything that a draw reads. Checks only what the driver does not
    /// check itself.
    pub(super) fn may_draw(&mut self, spans: &[Span], reads_indices: bool) -> bool {
        if !self.compiles() {
            return self.arrays_have_storage(reads_indices);
        }
        self.confirm_arrays();
        let elements = self.elements();
        let buffer = self.element_buffer();
        spans
            .iter()
            .all(|span| self.is_within(span, &elements, buffer))
    }

    /// The same for a draw from the renderer's own arrays. Some of the arrays lie in buffers.
    pub(super) fn may_draw_own(&mut self, sources: &[Source], span: Span) -> bool {
        let in_buffers = sources.iter().filter(|source| source.buffer != 0);
        if !self.compiles() {
            let mut buffers: Vec<u32> = in_buffers.map(|source| source.buffer).collect();
            if matches!(span, Span::Indices(..)) {
                buffers.push(self.element_buffer());
            }
            return self.renders() || self.have_storage(&buffers);
        }
        // Mesa's lists copy the same number of elements from all arrays, whatever their divisors,
        // and read more bytes of packed elements than these have. Arrays in memory end with the
        // last element that an immediate draw would read.
        let is_short = |source: &Source| {
            let has = attrib_bytes(source.size as u32, source.type_);
            source.divisor != 0 || bytes_taken(source.type_, source.size) > has
        };
        if sources
            .iter()
            .any(|source| source.buffer == 0 && is_short(source))
        {
            return false;
        }
        let places = in_buffers.map(|source| {
            let place = ArrayLayout {
                buffer: source.buffer,
                start: source.pointer as i64,
                stride: source.stride.into(),
                size: source.size,
                type_: source.type_,
            };
            place.tight()
        });
        let places: Vec<ArrayLayout> = places.collect();
        let buffer = self.element_buffer();
        self.unheard(|r| {
            let ends = places.iter().map(|place| r.end_of(place));
            let elements = Elements {
                end: ends.min().unwrap_or(i64::MAX),
                ..Elements::default()
            };
            r.is_within(&span, &elements, buffer)
        })
    }

    fn renders(&self) -> bool {
        self.cx.as_deref().is_none_or(|cx| cx.renders)
    }

    /// Whether the buffers of the bound arrays, and of indices if the draw reads any, have storage.
    /// In selection and feedback, the driver maps all of them.
    fn arrays_have_storage(&mut self, reads_indices: bool) -> bool {
        if self.renders() {
            return true;
        }
        self.confirm_arrays();
        let Some(cx) = self.cx.as_deref() else {
            return true;
        };
        let (arrays, unit) = cx.vertex_arrays.in_buffers();
        let indices = match reads_indices {
            true => self.element_buffer(),
            false => 0,
        };
        let of_arrays = self.unheard(|r| {
            let buffers: Vec<u32> = bits(arrays).map(|a| r.place(a, unit).buffer).collect();
            // A query that the driver lacks raises an error, which is not the program's.
            // SAFETY: takes no arguments.
            unsafe { (r.gl.glGetError)() };
            buffers
        });
        self.have_storage(&of_arrays) && self.have_storage(&[indices])
    }

    /// Whether those of these buffers that exist have storage.
    fn have_storage(&mut self, buffers: &[u32]) -> bool {
        buffers.iter().all(|buffer| {
            let had_storage = self.names.shared.deleted_buffers.get(buffer).copied();
            if *buffer == 0 || had_storage == Some(false) {
                return *buffer == 0;
            }
            // The name of a deleted buffer may now belong to another one, or to none.
            // SAFETY: takes a number.
            let is_named = unsafe { (self.gl.glIsBuffer)(*buffer) } != 0;
            (!is_named && had_storage.is_some()) || self.bytes_of(*buffer) > 0
        })
    }

    fn is_within(&mut self, span: &Span, elements: &Elements, buffer: u32) -> bool {
        match *span {
            // Mesa maps all buffers even for a draw of nothing, and those without storage end it.
            Span::Elements(_, count) if count <= 0 => elements.end > 0,
            Span::Indices(_, _, count, _) if count <= 0 => {
                elements.end > 0 && self.contents(buffer, 0, 1).is_some()
            }
            Span::Elements(first, count) => {
                let first = i64::from(first);
                elements.has(first, first + i64::from(count) - 1)
            }
            Span::Between(least, most) => least > most || elements.has(least, most),
            Span::Indices(type_, offset, count, base) => {
                let Some(size) = draw_index_bytes(type_) else {
                    // The driver refuses the draw.
                    return elements.end > 0 && self.contents(buffer, 0, 1).is_some();
                };
                let bytes = i64::from(count).saturating_mul(size as i64);
                let Some(indices) = self.contents(buffer, offset, bytes) else {
                    return false;
                };
                let restart = self.restart_index(type_);
                let (least, most) = index_range(type_, &indices, restart);
                let base = i64::from(base);
                self.is_within(
                    &Span::Between(least.saturating_add(base), most.saturating_add(base)),
                    elements,
                    buffer,
                )
            }
        }
    }

    /// A copy of a part of a buffer; none if the buffer does not have all of it.
    pub(super) fn contents(&mut self, buffer: u32, offset: u64, bytes: i64) -> Option<Vec<u8>> {
        let all = ArrayLayout {
            buffer,
            start: i64::try_from(offset).ok()?,
            stride: 1,
            size: 1,
            type_: GL_UNSIGNED_BYTE,
        };
        let (start, end) = (all.start, self.end_of(&all));
        if start.checked_add(bytes)? > start.checked_add(end)? {
            return None;
        }
        let mut contents = vec![0u8; usize::try_from(bytes).ok()?];
        let bound = self.driver_integer(GL_COPY_READ_BUFFER_BINDING) as u32;
        // SAFETY: the context is current; the driver checks the range, and there is room.
        unsafe {
            (self.gl.glBindBuffer)(GL_COPY_READ_BUFFER, buffer);
            let to = contents.as_mut_ptr().cast();
            (self.gl.glGetBufferSubData)(GL_COPY_READ_BUFFER, start, bytes, to);
            (self.gl.glBindBuffer)(GL_COPY_READ_BUFFER, bound);
        }
        Some(contents)
    }

    pub(crate) fn handwritten_gl_array_element(&mut self, i: i32) -> Result<(), Fault> {
        self.needs_context()?;
        let (is_asked, is_doubted) = match self.cx.as_deref() {
            Some(cx) => (
                cx.compiling.is_some() || !cx.may_be_inside,
                cx.elements.may_have_changed || cx.vertex_arrays.are_unconfirmed(),
            ),
            None => (true, false),
        };
        if is_asked {
            self.note_elements();
        } else if is_doubted && self.may_be_read(i) {
            // Inside a primitive, the query raises an error, as the change did.
            if !self.has_no_primitive() {
                return Ok(());
            }
            self.note_elements();
        }
        if self.may_be_read(i) {
            // SAFETY: every enabled array has this element in a buffer.
            unsafe { (self.gl.glArrayElement)(i) };
        }
        Ok(())
    }

    fn may_be_read(&self, element: i32) -> bool {
        let cx = self.cx.as_deref();
        cx.is_some_and(|cx| cx.elements.may_be_read(element))
    }

    /// To be called before a command that may change the noted elements. The driver accepts such
    /// commands only outside of primitives.
    pub(crate) fn elements_change(&mut self) {
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.elements.may_have_changed = true;
        }
    }

    /// Whether other contexts that share this one's buffers are in primitives whose elements lie in
    /// buffers.
    pub(super) fn others_read_elements(&self) -> bool {
        let Some(group) = self.cx.as_deref().map(|cx| cx.group) else {
            return false;
        };
        let reads = |cx: &Context| cx.may_be_inside && !cx.elements.places.is_empty();
        let mut others = self.contexts.values();
        others.any(|cx| cx.group == group && reads(cx))
    }

    /// To be called after a buffer has become smaller. Other contexts read no more elements from it
    /// until they begin another primitive.
    pub(super) fn forget_elements_in(&mut self, buffer: u32) {
        let Some(group) = self.cx.as_deref().map(|cx| cx.group) else {
            return;
        };
        for cx in self.contexts.values_mut() {
            if cx.group == group && cx.elements.lie_in(buffer) {
                cx.elements.end = 0;
            }
        }
    }

    /// Compares what is noted about elements with the driver's state: for the current context if
    /// the driver has refused its primitive, and for other contexts that are in one.
    pub(crate) fn compare_elements(&mut self) -> Result<(), String> {
        let Some(cx) = self.cx.as_deref() else {
            return Ok(());
        };
        let Elements { end, restart, .. } = cx.elements;
        let is_doubted = cx.elements.may_have_changed || cx.vertex_arrays.are_unconfirmed();
        let is_trusted = cx.may_be_inside && cx.compiling.is_none() && !is_doubted;
        let mut others = Vec::new();
        for other in self.contexts.values() {
            let elements = &other.elements;
            let is_trusted = other.may_be_inside && !elements.may_have_changed;
            if other.group == cx.group && is_trusted {
                let places = elements.places.iter();
                others.extend(places.map(|place| (elements.end, place.clone())));
            }
        }
        if is_trusted {
            let said = self.elements();
            if end > said.end || restart.is_some() && restart != said.restart {
                return Err(format!(
                    "{end} elements with restart index {restart:?} are noted, and the driver says \
                     {} with {:?}",
                    said.end, said.restart
                ));
            }
        }
        for (end, place) in others {
            let said = self.end_of(&place);
            // A deleted buffer keeps its storage for the arrays of other contexts.
            let deleted = &self.names.shared.deleted_buffers;
            if end > said && !deleted.contains_key(&place.buffer) {
                return Err(format!(
                    "{end} elements of another context are noted, and buffer {} has {said}",
                    place.buffer
                ));
            }
        }
        Ok(())
    }

    /// Notes which elements there are, because the driver does not answer between glBegin and
    /// glEnd.
    pub(crate) fn note_elements(&mut self) {
        self.confirm_arrays();
        let elements = self.elements();
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.elements = elements;
        }
    }

    fn elements(&mut self) -> Elements {
        let Some(cx) = self.cx.as_deref() else {
            return Elements::default();
        };
        let Some((enabled, unit)) = cx.vertex_arrays.backed() else {
            return Elements::default();
        };
        if enabled == 0 {
            return Elements {
                end: i64::from(i32::MAX) + 1,
                ..Elements::default()
            };
        }
        self.unheard(|r| {
            r.error();
            let places: Vec<ArrayLayout> = bits(enabled).map(|a| r.place(a, unit)).collect();
            let ends = places.iter().map(|place| r.end_of(place));
            let end = ends.min().unwrap_or(0);
            let restart = r.restart();
            // A query that the driver lacks raises an error, which is not the program's.
            // SAFETY: takes no arguments.
            unsafe { (r.gl.glGetError)() };
            Elements {
                end,
                restart,
                places,
                may_have_changed: false,
            }
        })
    }

    /// The index that the program has chosen for restarting primitives, if restart is enabled.
    pub(super) fn restart(&self) -> Option<i32> {
        let has_restart = self.cx.as_deref().is_some_and(|cx| cx.has_restart);
        // SAFETY: the context is current and knows the capability.
        let restarts = has_restart && unsafe { (self.gl.glIsEnabled)(GL_PRIMITIVE_RESTART) } != 0;
        restarts.then(|| self.driver_integer(GL_PRIMITIVE_RESTART_INDEX))
    }

    /// The first element of an array that lies beyond the end of its buffer.
    fn end_of(&self, place: &ArrayLayout) -> i64 {
        // The name of a deleted buffer may now belong to another buffer.
        if self
            .names
            .shared
            .deleted_buffers
            .contains_key(&place.buffer)
        {
            return 0;
        }
        let bound = self.driver_integer(GL_COPY_READ_BUFFER_BINDING) as u32;
        let mut bytes = 0;
        // SAFETY: the context is current; one number is written.
        unsafe {
            (self.gl.glBindBuffer)(GL_COPY_READ_BUFFER, place.buffer);
            (self.gl.glGetBufferParameteri64v)(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &mut bytes);
            (self.gl.glBindBuffer)(GL_COPY_READ_BUFFER, bound);
        }
        let Some(taken) = bytes_taken(place.type_, place.size) else {
            return 0;
        };
        let room = bytes - place.start - taken as i64;
        if place.start < 0 || room < 0 {
            return 0;
        }
        match place.stride {
            0 => i64::from(i32::MAX) + 1,
            stride if stride > 0 => room / stride + 1,
            _ => 0,
        }
    }

    /// The program's arrays that `sources` replace, as far as they lie in buffers. For contexts
    /// with one vertex array object.
    pub(super) fn arrays_in_buffers(&mut self, sources: &[Source]) -> Vec<Source> {
        let Some(cx) = self.cx.as_deref() else {
            return Vec::new();
        };
        let (api, unit) = (cx.api, cx.vertex_arrays.unit);
        let attributes = sources.iter().map(|source| source.attribute);
        let arrays = attributes.filter(|&attribute| has_array(api, attribute));
        let arrays: Vec<u8> = arrays.collect();
        // Asking for an array that the driver lacks is an error, which the program must not see.
        self.unheard(|r| {
            r.error();
            let place = |&attribute: &u8| (attribute, r.place(attribute, unit));
            let places: Vec<(u8, ArrayLayout)> = arrays.iter().map(place).collect();
            // SAFETY: takes no arguments.
            unsafe { (r.gl.glGetError)() };
            // The name of a deleted buffer may now belong to another buffer.
            let deleted = &r.names.shared.deleted_buffers;
            let lies_in_one =
                |place: &ArrayLayout| place.buffer != 0 && !deleted.contains_key(&place.buffer);
            let places = places.into_iter().filter(|(_, place)| lies_in_one(place));
            places
                .map(|(attribute, place)| Source {
                    attribute,
                    kind: Kind::Float,
                    size: place.size,
                    type_: place.type_,
                    normalized: false,
                    divisor: 0,
                    stride: place.stride as i32,
                    buffer: place.buffer,
                    pointer: place.start as *const c_void,
                })
                .collect()
        })
    }

    fn place(&self, attribute: u8, unit: u32) -> ArrayLayout {
        if attribute >= attr::GENERIC {
            return self.generic_place(u32::from(attribute - attr::GENERIC));
        }
        // The buffer, the pointer, its stride, the number of components (or the pname to query it
        // by), and the type.
        let (buffer, pointer, stride, size, type_) = match attribute {
            attr::POSITION => (
                GL_VERTEX_ARRAY_BUFFER_BINDING,
                GL_VERTEX_ARRAY_POINTER,
                GL_VERTEX_ARRAY_STRIDE,
                Err(GL_VERTEX_ARRAY_SIZE),
                Err(GL_VERTEX_ARRAY_TYPE),
            ),
            attr::NORMAL => (
                GL_NORMAL_ARRAY_BUFFER_BINDING,
                GL_NORMAL_ARRAY_POINTER,
                GL_NORMAL_ARRAY_STRIDE,
                Ok(3),
                Err(GL_NORMAL_ARRAY_TYPE),
            ),
            attr::COLOR => (
                GL_COLOR_ARRAY_BUFFER_BINDING,
                GL_COLOR_ARRAY_POINTER,
                GL_COLOR_ARRAY_STRIDE,
                Err(GL_COLOR_ARRAY_SIZE),
                Err(GL_COLOR_ARRAY_TYPE),
            ),
            attr::SECONDARY => (
                GL_SECONDARY_COLOR_ARRAY_BUFFER_BINDING,
                GL_SECONDARY_COLOR_ARRAY_POINTER,
                GL_SECONDARY_COLOR_ARRAY_STRIDE,
                Err(GL_SECONDARY_COLOR_ARRAY_SIZE),
                Err(GL_SECONDARY_COLOR_ARRAY_TYPE),
            ),
            attr::FOG => (
                GL_FOG_COORD_ARRAY_BUFFER_BINDING,
                GL_FOG_COORD_ARRAY_POINTER,
                GL_FOG_COORD_ARRAY_STRIDE,
                Ok(1),
                Err(GL_FOG_COORD_ARRAY_TYPE),
            ),
            attr::INDEX => (
                GL_INDEX_ARRAY_BUFFER_BINDING,
                GL_INDEX_ARRAY_POINTER,
                GL_INDEX_ARRAY_STRIDE,
                Ok(1),
                Err(GL_INDEX_ARRAY_TYPE),
            ),
            attr::EDGE_FLAG => (
                GL_EDGE_FLAG_ARRAY_BUFFER_BINDING,
                GL_EDGE_FLAG_ARRAY_POINTER,
                GL_EDGE_FLAG_ARRAY_STRIDE,
                Ok(1),
                Ok(GL_UNSIGNED_BYTE),
            ),
            attr::POINT_SIZE => (
                GL_POINT_SIZE_ARRAY_BUFFER_BINDING_OES,
                GL_POINT_SIZE_ARRAY_POINTER_OES,
                GL_POINT_SIZE_ARRAY_STRIDE_OES,
                Ok(1),
                Err(GL_POINT_SIZE_ARRAY_TYPE_OES),
            ),
            _ => (
                GL_TEXTURE_COORD_ARRAY_BUFFER_BINDING,
                GL_TEXTURE_COORD_ARRAY_POINTER,
                GL_TEXTURE_COORD_ARRAY_STRIDE,
                Err(GL_TEXTURE_COORD_ARRAY_SIZE),
                Err(GL_TEXTURE_COORD_ARRAY_TYPE),
            ),
        };
        let ask = || {
            let mut start: *mut c_void = std::ptr::null_mut();
            // SAFETY: the context is current; one pointer is written.
            unsafe { (self.gl.glGetPointerv)(pointer, &mut start) };
            let size = size.unwrap_or_else(|pname| self.driver_integer(pname));
            let type_ = type_.unwrap_or_else(|pname| self.driver_integer(pname) as u32);
            let place = ArrayLayout {
                buffer: self.driver_integer(buffer) as u32,
                start: start as i64,
                stride: self.driver_integer(stride).into(),
                size,
                type_,
            };
            place.tight()
        };
        match attribute.checked_sub(attr::TEXCOORD) {
            // SAFETY: the context is current.
            Some(of) => unsafe { in_unit(&self.gl, u32::from(of), unit, ask) },
            None => ask(),
        }
    }

    fn generic_place(&self, index: u32) -> ArrayLayout {
        let ask = |pname| {
            let mut values = [0i32; 4];
            // SAFETY: the context is current; at most four numbers are written.
            unsafe { (self.gl.glGetVertexAttribiv)(index, pname, values.as_mut_ptr()) };
            values[0]
        };
        let (buffer, size, type_) = (
            ask(GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING) as u32,
            ask(GL_VERTEX_ATTRIB_ARRAY_SIZE),
            ask(GL_VERTEX_ATTRIB_ARRAY_TYPE) as u32,
        );
        if !self.cx.as_deref().is_some_and(|cx| cx.has_vertex_bindings) {
            let mut start: *mut c_void = std::ptr::null_mut();
            // SAFETY: as above; one pointer is written.
            unsafe {
                (self.gl.glGetVertexAttribPointerv)(
                    index,
                    GL_VERTEX_ATTRIB_ARRAY_POINTER,
                    &mut start,
                );
            }
            let place = ArrayLayout {
                buffer,
                start: start as i64,
                stride: ask(GL_VERTEX_ATTRIB_ARRAY_STRIDE).into(),
                size,
                type_,
            };
            return place.tight();
        }
        let point = ask(GL_VERTEX_ATTRIB_BINDING) as u32;
        let mut offset = [0i64; 1];
        let mut stride = [0i32; 1];
        // SAFETY: as above; one number each is written.
        unsafe {
            (self.gl.glGetInteger64i_v)(GL_VERTEX_BINDING_OFFSET, point, offset.as_mut_ptr());
            (self.gl.glGetIntegeri_v)(GL_VERTEX_BINDING_STRIDE, point, stride.as_mut_ptr());
        }
        let within = i64::from(ask(GL_VERTEX_ATTRIB_RELATIVE_OFFSET));
        ArrayLayout {
            buffer,
            start: offset[0].saturating_add(within),
            // In a binding point, a stride of 0 means 0.
            stride: stride[0].into(),
            size,
            type_,
        }
    }
}

impl ArrayLayout {
    /// In a pointer command, a stride of 0 means that elements follow each other without gaps.
    fn tight(self) -> ArrayLayout {
        let stride = match self.stride {
            0 => self.own_bytes().unwrap_or(-1),
            stride => stride,
        };
        ArrayLayout { stride, ..self }
    }

    fn own_bytes(&self) -> Option<i64> {
        let components = match self.size as u32 {
            GL_BGRA => 4,
            n => i64::from(n),
        };
        Some(match self.type_ {
            GL_BYTE | GL_UNSIGNED_BYTE => components,
            GL_SHORT | GL_UNSIGNED_SHORT | GL_HALF_FLOAT => 2 * components,
            GL_INT | GL_UNSIGNED_INT | GL_FLOAT | GL_FIXED => 4 * components,
            GL_DOUBLE => 8 * components,
            GL_INT_2_10_10_10_REV
            | GL_UNSIGNED_INT_2_10_10_10_REV
            | GL_UNSIGNED_INT_10F_11F_11F_REV => 4,
            _ => return None,
        })
    }
}
